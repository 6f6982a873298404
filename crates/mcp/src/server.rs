//! The server: which tools there are, and how a call runs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use apply_patch_api::engine::Remedy;
use apply_patch_api::engine::commit::Workspace;
use apply_patch_api::engine::commit::approval::{ApprovalPolicy, Approvals};
use apply_patch_api::engine::remedy::ForPerson;
use apply_patch_api::tools::audit::Audit;
use apply_patch_api::tools::{
    Arguments, ErrorKind, FailureClass, Reason, Session, SessionName, Tool, ToolError,
};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ElicitationAction, ErrorData,
    Implementation, InputResponses, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool as Listed, ToolAnnotations,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleServer, ServerInitializeError, ServiceExt as _,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, mpsc, watch};

use crate::ask::{OpenQuestion, Response, Seals};
use crate::backlog::Backlog;
use crate::error::ServeError;
use crate::host::{CallHost, CallProgress, ToolAnswer, Unapproved};
use crate::message::ArgumentsText;
use crate::settings::{Approval, Origin, ServerRules, ServerSettings};
use crate::wire::Wire;
use crate::work::Workers;
use crate::{answer, roots};

/// How long to wait for the roots of a client.
const ROOTS_TIME: Duration = Duration::from_secs(5);

/// How often a plan is shown again because files changed while a person looked at it.
const MAX_QUESTIONS: usize = 3;

/// The longest name of a client in the audit log.
const MAX_AGENT: usize = 64;

const INSTRUCTIONS: &str = "File tools for one workspace; paths are relative to it. Read a file before you change it and \
pass its sha256, so that nothing is overwritten unseen. Prefer edit_file for small changes and apply_patch for several \
files. Every change answers with a transactionId for undo.";

/// The server of one client.
pub(crate) struct Server {
    pub(crate) settings: ServerSettings,
    seals: Seals,
    session: SessionName,
    root: String,
    /// The session and its rules, from the first call on.
    tools: tokio::sync::Mutex<Option<OpenedProject>>,
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
struct OpenedProject {
    session: Arc<Session>,
    rules: Arc<ServerRules>,
}

/// A call's place in the order.
#[expect(dead_code, reason = "they are held")]
enum Turn {
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
            session: SessionName::random().map_err(ServeError::system)?,
            root: root.to_string_lossy().into_owned(),
            tools: tokio::sync::Mutex::default(),
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
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("apply-patch", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
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
        let call = CallOf { server: self, tools, tool, args, context: &context };
        let response = if call.asks() {
            call.ask(request.request_state.as_deref(), request.input_responses.as_ref()).await?
        } else {
            call.run(ToolAnswer::Commit).await?.0.into()
        };
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
            _ => {
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
        Ok(tools.insert(OpenedProject { session, rules: Arc::new(rules) }).clone())
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
    async fn turn(&self, tool: Tool) -> Turn {
        let order = self.order.clone();
        match tool {
            Tool::ReadFile => Turn::Reads(order.read_owned().await),
            _ if tool.is_read_only() => Turn::Looks,
            _ => Turn::Changes(order.write_owned().await),
        }
    }

    /// Ends when the client has gone.
    async fn gone(&self) {
        if let Some(mut closed) = self.closed.clone() {
            let _ = closed.wait_for(|&closed| closed).await;
        }
    }
}

/// Returns whether the client's protocol has data in the results of tools.
fn has_data(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.as_str() >= "2025-06-18")
}

/// Returns whether the client speaks the protocol with sessions.
fn has_session(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.has_initialize())
}

/// Returns whether the client has announced roots: the directories that may be touched.
fn names_roots(context: &RequestContext<RoleServer>) -> bool {
    has_session(context)
        && context.client_capabilities().is_some_and(|client| client.roots.is_some())
}

/// Makes the approvals of one call.
fn approvals(rules: &ServerRules) -> Approvals {
    Approvals::new(match rules.approval {
        Approval::Ask => ApprovalPolicy::Always,
        // Whether a person is asked is decided before the call runs.
        Approval::Auto | Approval::Never => ApprovalPolicy::Never,
    })
}

/// One call.
struct CallOf<'c> {
    server: &'c Server,
    tools: OpenedProject,
    tool: Tool,
    args: Arc<RawValue>,
    context: &'c RequestContext<RoleServer>,
}

impl CallOf<'_> {
    fn asked(&self) -> OpenQuestion<'_> {
        OpenQuestion { tool: self.tool, args: &self.args, root: &self.server.root }
    }

    /// Returns a flag of the arguments, as the tool takes it.
    fn flag(&self, name: &str) -> Option<bool> {
        Arguments::from(&*self.args).flag(self.tool, name)
    }

    /// Returns whether a person has to be asked.
    fn asks(&self) -> bool {
        match self.tools.rules.approval {
            Approval::Never => false,
            Approval::Auto => self.tool == Tool::DeleteFile && self.flag("permanent") == Some(true),
            Approval::Ask => !self.tool.is_read_only(),
        }
    }

    /// Returns whether the client can show a question.
    fn can_ask(&self) -> bool {
        let client = self.context.client_capabilities().and_then(|client| client.elicitation);
        client.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
    }

    /// Runs the call, and asks before anything changes. No lock is held while a person thinks:
    /// after the answer the call is planned again, and goes on only if the plan is still the one
    /// that was shown.
    async fn ask(
        &self,
        state: Option<&str>,
        responses: Option<&InputResponses>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.tool == Tool::ApplyPatch && self.flag("atomic") == Some(false) {
            let message = "a patch that has to be approved is applied as a whole";
            let error = ToolError::arguments(Reason::BadArguments, message)
                .remedies([Remedy::omit("atomic")]);
            return Ok(answer::failed(self.tool, error).into());
        }
        if !self.can_ask() {
            return self.cannot_ask().await;
        }
        let sessions = has_session(self.context);
        let mut approved = None;
        if !sessions {
            match self.server.seals.response(self.asked(), state, responses) {
                Response::Nothing => {}
                Response::Yes(digest) => approved = Some(digest),
                Response::No => return Ok(self.run(ToolAnswer::Declined).await?.0.into()),
            }
        }
        for _ in 0..MAX_QUESTIONS {
            let preview = match self.run(ToolAnswer::Ask(approved)).await? {
                (_, Some(Unapproved::ToShow(preview))) => preview,
                (_, Some(Unapproved::TooMany(files))) => {
                    let message = format!(
                        "the names of its {files} files are more than a person can be shown and \
                         asked about"
                    );
                    let error =
                        ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
                            .reason(Reason::TooManyToShow)
                            .details(json!({ "files": files }))
                            .remedies([
                                Remedy::Split,
                                Remedy::Ask(ForPerson::Own("apply the patch in a terminal".into())),
                            ]);
                    return Ok(
                        answer::failed(self.tool, ToolError { recoverable: true, ..error }).into()
                    );
                }
                (result, _) => return Ok(result.into()),
            };
            if !sessions {
                let asked = self.server.seals.ask(self.asked(), &preview);
                return asked
                    .map(Into::into)
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None));
            }
            let _open = self.server.backlog.question();
            let question = self.context.peer.create_elicitation(self.asked().question(&preview));
            let answered = tokio::select! {
                answered = question => answered,
                () = self.context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
                () = self.server.gone() => return Err(ErrorData::internal_error("the client has gone", None)),
            };
            match answered {
                Ok(answer) if answer.action == ElicitationAction::Accept => {
                    approved = Some(preview.digest)
                }
                Ok(_) => return Ok(self.run(ToolAnswer::Declined).await?.0.into()),
                Err(_) => return self.cannot_ask().await,
            }
        }
        let message =
            "the files changed each time while the plan was looked at; nothing was changed";
        let error = ToolError::new(FailureClass::Stale, ErrorKind::StaleFile, message)
            .reason(Reason::Changed)
            .remedies([Remedy::TryAgain]);
        Ok(answer::failed(self.tool, error).into())
    }

    /// Answers a client that cannot ask; a call that fails for another reason gives that reason.
    async fn cannot_ask(&self) -> Result<CallToolResponse, ErrorData> {
        let (result, unapproved) = self.run(ToolAnswer::CannotAsk).await?;
        if unapproved.is_none() {
            return Ok(result.into());
        }
        let message =
            "a person has to approve this, and the client cannot ask one; nothing was changed";
        let what = "start the server with --approve auto and let the client ask, or use a client \
                    that can (elicitation)";
        let error = ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
            .reason(Reason::ApprovalRequired)
            .remedies([Remedy::Ask(ForPerson::Own(what.into()))]);
        Ok(answer::failed(self.tool, error).into())
    }

    /// Runs the tool on a thread that may wait for disks, and reports its progress to the client.
    async fn run(
        &self,
        answer: ToolAnswer,
    ) -> Result<(CallToolResult, Option<Unapproved>), ErrorData> {
        let (OpenedProject { session, rules }, tool, args) =
            (self.tools.clone(), self.tool, self.args.clone());
        let (cancelled, peer) = (self.context.ct.clone(), self.context.peer.clone());
        let (progress, reporting) = match self.context.meta.get_progress_token() {
            Some(token) => {
                let (progress, mut steps) = mpsc::unbounded_channel::<CallProgress>();
                let reporting = async move {
                    while let Some(CallProgress { steps, message }) = steps.recv().await {
                        let progress = ProgressNotificationParam::new(token.clone(), steps)
                            .with_message(message);
                        if peer.notify_progress(progress).await.is_err() {
                            break;
                        }
                    }
                };
                (Some(progress), Some(tokio::spawn(reporting)))
            }
            None => (None, None),
        };
        let turn = self.server.turn(tool).await;
        let mut approvals = approvals(&rules);
        // For the preview, which shows why a file is guarded.
        let _ = approvals.take_guarded(rules.policy.clone());
        let asks = rules.approval == Approval::Ask;
        let ran = self.server.workers.run(move || {
            // Held to the end, even if the client no longer waits for the answer.
            let _turn = turn;
            let mut host = CallHost::new(answer, move || cancelled.is_cancelled(), progress);
            let reply = if asks {
                session.call_tool(tool, &*args, &mut approvals.ask(&mut host))
            } else {
                session.call_tool(tool, &*args, &mut host)
            };
            (answer::result(&reply), host.unapproved)
        });
        let ran = ran.await;
        if let Some(reporting) = reporting {
            // Progress is reported before the answer, or not at all.
            let _ = reporting.await;
        }
        ran.ok_or_else(|| ErrorData::internal_error("the call ended in a defect", None))
    }
}
