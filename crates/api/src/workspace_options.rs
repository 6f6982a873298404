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

/// Options of a workspace, or of a git repository.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WorkspaceOptions {
    /// The settings, each an option by its own name. They hold where the options of a patch set
    /// nothing. Unless `approve` is set, the `approve` of a call is asked about every change.
    #[serde(skip)]
    pub settings: Layer,
    /// The session to resume; the workspace keeps a record of its reads and writes. By default a
    /// new session, which ends with the value.
    pub session: Option<String>,
    /// The name of the agent in the log.
    pub agent: Option<String>,
    /// The most bytes of JSON in the answer of a tool, roughly.
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

    pub(crate) fn session_settings(&self) -> SessionSettings {
        SessionSettings {
            max_output: self.max_output,
            traceless: true,
            undo_turn: self.undo_turn,
            ..session_settings(&self.layers(), None)
        }
    }

    pub(crate) fn policy(&self) -> Result<Policy, ToolError> {
        let (settings, _) = self.layers().resolve(Profile::default(), ApprovalPolicy::default());
        settings.policy().map_err(|error| argument("the options", error.to_string(), "globs"))
    }

    pub(crate) fn state(&self) -> StatePlace {
        self.settings.state.unwrap_or_default()
    }
}

/// Options of an undo.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UndoRequest {
    /// The id of the transaction. By default the last one that is not undone, with all of its turn.
    pub id: Option<String>,
    /// The files of the transaction to undo; all if empty.
    pub paths: Vec<String>,
    /// Undoes all changes of this session as one, in place of a transaction.
    pub session: Option<String>,
    /// Undoes this transaction and all later ones as one, or all changes since a time (`2h`,
    /// `2026-11-26`), in place of a transaction.
    pub since: Option<String>,
    /// Undoes all changes of this turn as one, in place of a transaction: its name, or
    /// `SESSION/NAME`.
    pub turn: Option<String>,
    /// Whether changes are undone in files that changed since, where their place is certain.
    pub carry: bool,
    /// The part of the changes that the answer shows.
    pub diff: DiffDetail,
}

impl ReadOptions for UndoRequest {}

/// Options of a redo.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RedoRequest {
    /// The id of the undo to reverse. By default the last one.
    pub id: Option<String>,
    /// Whether changes come back in files that changed since, where their place is certain.
    pub carry: bool,
    /// The part of the changes that the answer shows.
    pub diff: DiffDetail,
}

impl ReadOptions for RedoRequest {}

/// Transactions to show as one: exactly one of the names.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NetRequest {
    /// A session: its name, or the beginning of it.
    pub session: Option<String>,
    /// A transaction and all later ones, or all since a time (`2h`, `2026-11-26`).
    pub since: Option<String>,
    /// A turn: its name, or `SESSION/NAME`.
    pub turn: Option<String>,
    /// The first and the last transaction: `ID..ID`.
    pub range: Option<String>,
}

impl ReadOptions for NetRequest {}

/// Options of the commit that a patch makes in a git repository.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct GitOptions {
    /// The branch to move; a missing branch is made. By default the branch that the revision names,
    /// if it names one.
    pub branch: Option<String>,
    /// The message of the commit. By default it names the files.
    pub message: Option<String>,
    /// The author, as `Name <address>`. By default the author that git would take.
    pub author: Option<String>,
    /// Whether the hunks are carried to the newest commit if the branch has moved on, where their
    /// place is certain.
    pub carry: bool,
    /// Whether the branch is moved even if it is checked out. The files of the work tree stay.
    #[serde(alias = "allow_checked_out")]
    pub allow_checked_out: bool,
}

impl ReadOptions for GitOptions {}
