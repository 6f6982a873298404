//! The options of directories and repositories.

use fs_guard::Policy;
use patch_engine::Profile;
use patch_engine::commit::StatePlace;
use patch_engine::commit::approval::ApprovalPolicy;
use patch_session::changes::DiffDetail;
use patch_session::settings::{Layer, Layers, Scope};
use patch_session::{SessionSettings, ToolError};
use serde::Deserialize;

use crate::commands::session_settings;
use crate::error::argument;
use crate::options::ReadOptions;

/// How a workspace, or a git repository, is used.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WorkspaceOptions {
    /// The settings: options too, each by its own name. They hold for what a patch leaves open.
    /// Unless `approve` is set, the `approve` of a call is asked about every change.
    #[serde(skip)]
    pub settings: Layer,
    /// The session to go on with; what it reads and writes is remembered in the workspace. Unless
    /// set: a new one, that ends with the value.
    pub session: Option<String>,
    /// The name of the agent in the log.
    pub agent: Option<String>,
    /// About how many bytes of JSON the answer of a tool may have.
    #[serde(alias = "max_output")]
    pub max_output: Option<usize>,
    /// Whether the tool `undo_turn` can be called.
    #[serde(alias = "undo_turn")]
    pub undo_turn: bool,
}

impl ReadOptions for WorkspaceOptions {
    const SETTINGS: &'static [Scope] = &[Scope::Patch, Scope::Workspace];

    fn layer(&mut self) -> Option<&mut Layer> {
        Some(&mut self.settings)
    }
}

impl WorkspaceOptions {
    pub(crate) fn layers(&self) -> Layers {
        Layers { given: self.settings.clone(), bounds: Layer::default() }
    }

    /// How a session works.
    pub(crate) fn session_settings(&self) -> SessionSettings {
        SessionSettings {
            max_output: self.max_output,
            traceless: true,
            undo_turn: self.undo_turn,
            ..session_settings(&self.layers(), None)
        }
    }

    /// What the guard allows.
    pub(crate) fn policy(&self) -> Result<Policy, ToolError> {
        let (settings, _) = self.layers().resolve(Profile::default(), ApprovalPolicy::default());
        settings.policy().map_err(|error| argument("the options", error.to_string(), "globs"))
    }

    pub(crate) fn state(&self) -> StatePlace {
        self.settings.state.unwrap_or_default()
    }
}

/// What is undone.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UndoRequest {
    /// The transaction; unless set, the last one that is not undone, with all of its turn.
    pub id: Option<String>,
    /// Only these files of it.
    pub paths: Vec<String>,
    /// All that this session did, as one, in place of a transaction.
    pub session: Option<String>,
    /// A transaction and all that followed it, or all since a time (`2h`, `2026-11-26`), as one, in
    /// place of a transaction.
    pub since: Option<String>,
    /// All of this turn, as one, in place of a transaction: its name, or `SESSION/NAME`.
    pub turn: Option<String>,
    /// Carry what is undone to files that changed since, where that is certain.
    pub carry: bool,
    /// What the answer shows of the changes.
    pub diff: DiffDetail,
}

impl ReadOptions for UndoRequest {}

/// What is redone.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RedoRequest {
    /// The undo that is reversed; the last one, unless set.
    pub id: Option<String>,
    /// What the answer shows of the changes.
    pub diff: DiffDetail,
}

impl ReadOptions for RedoRequest {}

/// What becomes of a patch in a git repository.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct GitOptions {
    /// The branch to move; it is made if there is none. Unless set: the branch that the revision
    /// names, if it names one.
    pub branch: Option<String>,
    /// The message; otherwise it names the files.
    pub message: Option<String>,
    /// The author, as `Name <address>`; otherwise the one that git would take.
    pub author: Option<String>,
    /// When the branch has moved on: carry the hunks to its newest commit, where it is certain
    /// where they belong.
    pub carry: bool,
    /// Move the branch even if it is checked out; the files stay as they are.
    #[serde(alias = "allow_checked_out")]
    pub allow_checked_out: bool,
}

impl ReadOptions for GitOptions {}
