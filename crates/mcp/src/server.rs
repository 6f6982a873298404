//! The server: which tools there are, and how a call runs.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apply_patch_api::engine::commit::Workspace;
use apply_patch_api::engine::commit::approval::{ApprovalPolicy, Approvals};
use apply_patch_api::tools::audit::Audit;
use apply_patch_api::tools::{Session, SessionName, Tool, ToolError};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Icon, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool as Listed, ToolAnnotations,
    UnsubscribeRequestParams,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleServer, ServerInitializeError, ServiceExt as _,
    SubscriptionContext,
};
use serde_json::Value;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, watch};

use crate::ask::Seals;
use crate::backlog::Backlog;
use crate::call::CallOf;
use crate::error::ServeError;
use crate::message::ArgumentsText;
use crate::resources::Proposals;
use crate::settings::{Approval, Origin, ServerRules, ServerSettings};
use crate::subscriptions::Subscriptions;
use crate::wire::Wire;
use crate::work::Workers;
use crate::{answer, prompts, resources, roots};

/// How long to wait for the roots of a client.
const ROOTS_TIME: Duration = Duration::from_secs(5);

/// The longest name of a client in the audit log.
const MAX_AGENT: usize = 64;

const INSTRUCTIONS: &str = "File tools for one workspace; paths are relative to it. Read a file before you change it and \
pass its sha256, so that nothing is overwritten unseen. Prefer edit_file for small changes and apply_patch for several \
files. Every change answers with a transactionId for undo.";

/// A sheet with a line that goes and one that comes.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
    viewBox='0 0 16 16' fill='none' stroke-width='2'%3E\
    %3Cpath d='M3 1h10v14H3z' stroke='%23777'/%3E%3Cpath d='M5 6h6' stroke='%23c33'/%3E\
    %3Cpath d='M5 10h6M8 7.5v5' stroke='%23393'/%3E%3C/svg%3E";

/// The server of one client.
pub(crate) struct Server {
    pub(crate) settings: ServerSettings,
    pub(crate) seals: Seals,
    pub(crate) proposals: Proposals,
    pub(crate) subscriptions: Subscriptions,
    session: SessionName,
    pub(crate) root: String,
    /// The session and its rules, from the first call on.
    pub(crate) tools: Arc<tokio::sync::Mutex<Option<OpenedProject>>>,
    /// Whether the client has changed its roots since the session was opened.
    new_roots: AtomicBool,
    /// Becomes true when the client has gone; set when the server runs.
    closed: Option<watch::Receiver<bool>>,
    pub(crate) workers: Workers,
    pub(crate) backlog: Backlog,
    /// The order in which calls take effect: calls that change files run one after the other as
    /// they came, and a read between them sees the changes before it. So the session always knows
    /// the latest state of its files.
    order: Arc<RwLock<()>>,
}

/// A session, and the rules of its directory.
#[derive(Clone)]
pub(crate) struct OpenedProject {
    pub(crate) session: Arc<Session>,
    pub(crate) rules: Arc<ServerRules>,
    /// What a person approved for the turn, and why files are guarded.
    pub(crate) approvals: Arc<Mutex<Approvals>>,
}

/// A call's place in the order.
#[expect(dead_code, reason = "they are held")]
pub(crate) enum PlaceInOrder {
    Changes(OwnedRwLockWriteGuard<()>),
    Reads(OwnedRwLockReadGuard<()>),
    /// A call whose reads are not remembered.
    Looks,
}

impl Server {
    pub(crate) fn new(settings: ServerSettings) -> Result<Self, ServeError> {
        // Fail now if there is no workspace, before a client relies on it.
        let workspace = Workspace::open(&settings.root, settings.rules.policy.clone())?;
        let root =
            std::path::absolute(workspace.root().path()).unwrap_or_else(|_| settings.root.clone());
        Ok(Self {
            settings,
            seals: Seals::new()?,
            proposals: Proposals::default(),
            subscriptions: Subscriptions::default(),
            session: SessionName::random().map_err(ServeError::system)?,
            root: root.to_string_lossy().into_owned(),
            tools: Arc::default(),
            new_roots: AtomicBool::default(),
            closed: None,
            workers: Workers::new(),
            backlog: Backlog::default(),
            order: Arc::default(),
        })
    }

    pub(crate) async fn run(
        self,
        wire: Wire,
        closed: watch::Receiver<bool>,
    ) -> Result<(), ServeError> {
        match (Self { closed: Some(closed), ..self }).serve(wire).await {
            Ok(running) => running.waiting().await.map(drop).map_err(ServeError::system),
            // It is not a failure if the client leaves before it asks for anything.
            Err(
                ServerInitializeError::ConnectionClosed(_)
                | ServerInitializeError::TransportError { .. },
            ) => Ok(()),
            Err(error) => Err(ServeError::Protocol(error.to_string())),
        }
    }

    /// Returns whether there is a tool that takes patches.
    fn takes_patches(&self) -> bool {
        self.settings.tools.iter().any(|tool| matches!(tool, Tool::ApplyPatch | Tool::EditPatch))
    }

    fn offered(&self, text: &str) -> Result<Tool, ErrorData> {
        let offered = &self.settings.tools;
        Tool::named(text).filter(|tool| offered.contains(tool)).ok_or_else(|| {
            let names: Vec<_> = offered.iter().map(|tool| tool.legal_name()).collect();
            ErrorData::invalid_params(
                format!(
                    "there is no tool {:?} here; there are {}",
                    apply_patch_api::files::shortened(text),
                    names.join(", ")
                ),
                None,
            )
        })
    }
}

/// Describes a tool as the protocol lists it.
fn listed(tool: Tool, brief: bool) -> Listed {
    let info = if brief { tool.brief_info() } else { tool.info() };
    let object = |schema: Value| match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    };
    let hints = info.annotations;
    let mut listed = Listed::new(tool.legal_name(), info.description, object(info.input_schema));
    listed.title = Some(info.title.to_owned());
    listed.output_schema = (!info.output_schema.is_null()).then(|| object(info.output_schema));
    listed.annotations = Some(
        ToolAnnotations::new()
            .read_only(hints.read_only_hint)
            .destructive(hints.destructive_hint)
            .idempotent(hints.idempotent_hint)
            .open_world(hints.open_world_hint),
    );
    listed
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe();
        let icon = Icon::new(ICON).with_mime_type("image/svg+xml").with_sizes(vec!["any".into()]);
        let server = Implementation::new("apply-patch", env!("CARGO_PKG_VERSION"))
            .with_title("Files and patches")
            .with_icons(vec![icon]);
        ServerConfig::new(capabilities.build())
            .with_server_info(server)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        context.peer.set_peer_info(request);
        if result.protocol_version.as_str() < "2025-11-25" {
            result.server_info.icons = None;
        }
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            self.settings.tools.iter().map(|&tool| listed(tool, self.settings.brief)).collect(),
        ))
    }

    fn get_tool(&self, text: &str) -> Option<Listed> {
        self.offered(text).ok().map(|tool| listed(tool, self.settings.brief))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::listed(&self.proposals)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(contents) = self.proposals.read(&request.uri) {
            return Ok(ReadResourceResult::new(vec![contents]).into());
        }
        let refused = |error: ToolError| ErrorData::resource_not_found(error.message, None);
        let OpenedProject { session, rules, .. } = self.tools(&context).await.map_err(refused)?;
        let max = rules.tool_settings.max_output.unwrap_or(usize::MAX);
        let place = self.in_order(Tool::ReadFile).await;
        let ran = self.workers.run(move || {
            let _place = place;
            resources::read(&session, &request.uri, max)
        });
        match ran
            .await
            .ok_or_else(|| ErrorData::internal_error("reading ended in a defect", None))?
        {
            Ok(Some(contents)) => Ok(ReadResourceResult::new(vec![contents]).into()),
            Ok(None) => Err(ErrorData::resource_not_found("there is no such resource", None)),
            Err(error) => Err(refused(error)),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.add(request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| resources::can_change(uri)).cloned();
        Some(SubscriptionFilter::builder().resource_subscriptions(known).build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.subscriptions.listen(&context, self.gone()).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = if self.takes_patches() { prompts::listed() } else { Vec::new() };
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if !self.takes_patches() {
            return Err(ErrorData::invalid_params("there are no prompts here", None));
        }
        prompts::text(&request).map(Into::into)
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.new_roots.store(true, Ordering::SeqCst);
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.offered(&request.name)?;
        let tools = match self.tools(&context).await {
            Ok(tools) => tools,
            Err(error) => return Ok(answer::failed(tool, error).into()),
        };
        let Some(ArgumentsText(args)) = context.extensions.get::<ArgumentsText>().cloned() else {
            return Err(ErrorData::internal_error("the call has lost its arguments", None));
        };
        let call = CallOf::new(self, tools, tool, args, &context);
        let (state, responses) = (request.request_state.as_deref(), &request.input_responses);
        let response = call.answer(state, responses.as_ref()).await?;
        Ok(match response {
            CallToolResponse::Complete(result) if !has_data(&context) => {
                answer::with_data_as_text(result).into()
            }
            response => response,
        })
    }
}

impl Server {
    /// Returns the session, opened for the current roots of the client.
    async fn tools(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<OpenedProject, ToolError> {
        let mut tools = self.tools.lock().await;
        let outdated = self.new_roots.swap(false, Ordering::SeqCst);
        if let (Some(tools), false) = (&*tools, outdated) {
            return Ok(tools.clone());
        }
        let settings = &self.settings;
        let mut rules = settings.rules.clone();
        // Where a person sees every plan, guarded files are asked about like all others.
        let policy_of = |rules: &ServerRules| approvals(rules).take_guarded(rules.policy.clone());
        let policy = policy_of(&rules);
        let open = |root: &Path, policy| {
            Ok::<_, ToolError>(Workspace::open_keyed(
                root,
                policy,
                settings.state,
                settings.key_place.clone(),
            )?)
        };
        let mut workspace = open(&settings.root, policy.clone())?;
        if names_roots(context) {
            let uris = self.client_roots(context).await;
            let within = uris.and_then(|uris| {
                roots::narrowed(workspace.root(), uris.iter().map(String::as_str))
            });
            let within = within.inspect_err(|_| {
                // The next call tries again.
                self.new_roots.store(true, Ordering::SeqCst);
            })?;
            match &within[..] {
                [] => {}
                // This is the project that is open in the client: its history belongs there, not
                // where the client was started.
                [project] if settings.origin != Origin::Named => {
                    let project =
                        apply_patch_api::files::real_path(&settings.root)?.join(project.as_str());
                    if let Some(find) = &settings.find_rules {
                        rules = find.of(&project)?;
                    }
                    workspace = open(&project, policy_of(&rules))?;
                }
                _ => {
                    workspace =
                        open(&settings.root, apply_patch_api::files::Policy { within, ..policy })?
                }
            }
        } else if settings.origin == Origin::Roots {
            return Err(roots::no_project(&self.root));
        }
        let agent =
            context.client_info().map(|client| client.name.chars().take(MAX_AGENT).collect());
        let session = Arc::new(match tools.as_ref().map(|opened| &opened.session) {
            // What was read in another directory does not count here.
            Some(before) if before.workspace().root().path() == workspace.root().path() => {
                before.reopened(workspace)
            }
            before => {
                if let Some(before) = before {
                    end_turn(before);
                }
                let audit = Audit::new(self.session.clone(), agent);
                let mut tool_settings = rules.tool_settings.clone();
                tool_settings.undo_turn = settings.tools.contains(&Tool::UndoTurn);
                // Without edits, no snapshots are needed.
                if settings.tools.iter().all(|tool| tool.is_read_only()) {
                    tool_settings.max_snapshots = 0;
                }
                Session::new(workspace, audit, tool_settings)
            }
        });
        let mut approvals = approvals(&rules);
        // For the preview, which shows why a file is guarded.
        let _ = approvals.take_guarded(rules.policy.clone());
        let approvals = Arc::new(Mutex::new(approvals));
        Ok(tools.insert(OpenedProject { session, rules: Arc::new(rules), approvals }).clone())
    }

    /// Asks a client that has announced roots for them.
    #[expect(
        deprecated,
        reason = "clients of the older protocol still name roots, and they may narrow what we touch"
    )]
    async fn client_roots(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<String>, ToolError> {
        let _open = self.backlog.question();
        match tokio::time::timeout(ROOTS_TIME, context.peer.list_roots()).await {
            Ok(Ok(listed)) => Ok(listed.roots.into_iter().map(|root| root.uri).collect()),
            Ok(Err(_)) => Err(roots::refused("the client could not say what its roots are")),
            Err(_) => Err(roots::refused("the client did not say what its roots are")),
        }
    }

    /// Waits for earlier calls, as far as this one depends on them.
    pub(crate) async fn in_order(&self, tool: Tool) -> PlaceInOrder {
        let order = self.order.clone();
        match tool {
            Tool::ReadFile => PlaceInOrder::Reads(order.read_owned().await),
            _ if tool.is_read_only() => PlaceInOrder::Looks,
            _ => PlaceInOrder::Changes(order.write_owned().await),
        }
    }

    /// Ends when the client has gone.
    pub(crate) async fn gone(&self) {
        if let Some(mut closed) = self.closed.clone() {
            let _ = closed.wait_for(|&closed| closed).await;
        }
    }
}

/// Ends the turn of a session, if one is open.
pub(crate) fn end_turn(session: &Session) {
    if session.turn().is_some() {
        // It has ended also if the log could not be written; `status` then lists it.
        let _ = session.end_turn();
    }
}

/// Returns whether the client's protocol has data in the results of tools.
pub(crate) fn has_data(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.as_str() >= "2025-06-18")
}

/// Returns whether the client speaks the protocol with sessions.
pub(crate) fn has_session(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.has_initialize())
}

/// Returns whether the client has announced roots: the directories that may be touched.
fn names_roots(context: &RequestContext<RoleServer>) -> bool {
    has_session(context)
        && context.client_capabilities().is_some_and(|client| client.roots.is_some())
}

/// Makes the approvals of a directory.
fn approvals(rules: &ServerRules) -> Approvals {
    Approvals::new(match rules.approval {
        Approval::Ask => ApprovalPolicy::Always,
        // Whether a person is asked is decided before the call runs.
        Approval::Auto | Approval::Never => ApprovalPolicy::Never,
    })
}
