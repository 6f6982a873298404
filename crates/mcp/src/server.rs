//! The state of a server with its one client: the session and its rules, and the order of calls.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apply_patch_api::engine::commit::Workspace;
use apply_patch_api::engine::commit::approval::{ApprovalPolicy, Approvals};
use apply_patch_api::tools::audit::Audit;
use apply_patch_api::tools::{Session, SessionName, Tool, ToolError};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, watch};

use crate::ask::Seals;
use crate::backlog::Backlog;
use crate::error::ServeError;
use crate::resources::Proposals;
use crate::roots;
use crate::settings::{Approval, Origin, ServerRules, ServerSettings};
use crate::subscriptions::Subscriptions;
use crate::work::Workers;

/// How long to wait for the roots of a client.
const ROOTS_TIME: Duration = Duration::from_secs(5);

/// The longest name of a client in the audit log.
const MAX_AGENT: usize = 64;

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
    pub(crate) new_roots: AtomicBool,
    /// Becomes true when the client has gone; set when the server runs.
    pub(crate) closed: Option<watch::Receiver<bool>>,
    pub(crate) workers: Workers,
    pub(crate) backlog: Backlog,
    /// The order in which calls take effect: calls with changes run one after the other as they
    /// came, and a read between them sees the changes before. So the session always knows the
    /// latest state of its files.
    order: Arc<RwLock<()>>,
}

/// A session, and the rules of its directory.
#[derive(Clone)]
pub(crate) struct OpenedProject {
    pub(crate) session: Arc<Session>,
    pub(crate) rules: Arc<ServerRules>,
    /// The approvals of a person for the turn, and the rules for guarded files.
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
        // Fail now without a workspace, before a client relies on one.
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
}

impl Server {
    /// Returns the session, opened for the current roots of the client.
    pub(crate) async fn tools(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<OpenedProject, ToolError> {
        let mut tools = self.tools.lock().await;
        let outdated = self.new_roots.swap(false, Ordering::SeqCst);
        if let Some(tools) = tools.as_ref().filter(|_| !outdated) {
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
                // This is the project open in the client: its history belongs there, not in the
                // place where the client was started.
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
            // Files read in another directory do not count here.
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

    /// Asks a client for its roots, if announced.
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
        // The turn has ended even without a log; `status` then lists it.
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
        Approval::Ask | Approval::Later => ApprovalPolicy::Always,
        // Whether a person is asked is decided before the call runs.
        Approval::Auto | Approval::Never => ApprovalPolicy::Never,
    })
}
