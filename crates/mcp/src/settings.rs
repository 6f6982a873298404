//! The tools that a server offers, and the questions that it asks.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use apply_patch_api::engine::commit::{KeyPlace, StatePlace};
use apply_patch_api::files::Policy;
use apply_patch_api::tools::{SessionSettings, Tool, ToolError};

/// The most bytes of an answer, about: clients pass some ten thousand tokens on to a model without
/// a warning.
pub const MAX_OUTPUT: usize = 20_000;

/// The longest message of a client, in bytes: a patch of the largest size, with room for what JSON
/// adds.
pub const MAX_MESSAGE: usize = 128 << 20;

/// When a person is asked before files change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Approval {
    /// Never.
    Never,
    /// For every change. The plan shown is the plan committed. A client that cannot ask gets an
    /// error.
    Ask,
    /// For every change, later: it is kept as a proposal, and the answer says that nothing is
    /// changed yet.
    Later,
    /// The client asks by its own rules, as most do; the server asks about what `undo` cannot undo.
    #[default]
    Auto,
}

/// Who chooses the directory of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// The server's configuration, for good.
    #[default]
    Named,
    /// The client: the directory in which the server was started, or its one root in there.
    Client,
    /// The client, which started the server outside of a project, as in the home directory: the
    /// client has to name a root.
    Roots,
}

/// The rules of a directory.
#[derive(Debug, Clone)]
pub struct ServerRules {
    /// The files that may be touched.
    pub policy: Policy,
    /// When a person is asked.
    pub approval: Approval,
    /// How the tools work.
    pub tool_settings: SessionSettings,
}

/// Finds the rules of a directory that a client names, which may have a configuration of its own.
#[derive(Clone)]
pub struct FindRules(Arc<Find>);

type Find = dyn Fn(&Path) -> Result<ServerRules, ToolError> + Send + Sync;

impl FindRules {
    /// Takes the function that finds the rules.
    #[must_use]
    pub fn by(
        find: impl Fn(&Path) -> Result<ServerRules, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(find))
    }

    pub(crate) fn of(&self, dir: &Path) -> Result<ServerRules, ToolError> {
        (self.0)(dir)
    }
}

impl fmt::Debug for FindRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FindRules")
    }
}

/// The offer of a server.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// The workspace, or where to look for one.
    pub root: PathBuf,
    /// Who chose the workspace.
    pub origin: Origin,
    /// The rules of the root.
    pub rules: ServerRules,
    /// The rules of a client's root in the workspace. Without this, the rules above.
    pub find_rules: Option<FindRules>,
    /// Where the state directory is.
    pub state: StatePlace,
    /// Where the key of the journals is kept.
    pub key_place: KeyPlace,
    /// The tools that are offered.
    pub tools: Vec<Tool>,
    /// Whether tools are listed in a third of the size: with what they do, and their arguments by
    /// name.
    pub brief: bool,
    /// Whether results link what they changed. Not every client takes a result with links.
    pub links: bool,
    /// The longest message of a client, in bytes; a longer one is answered with an error.
    pub max_message: usize,
}

impl ServerSettings {
    /// Makes settings with the usual tools for this directory.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            origin: Origin::default(),
            rules: ServerRules {
                policy: apply_patch_api::engine::policy(),
                approval: Approval::default(),
                tool_settings: SessionSettings {
                    max_output: Some(MAX_OUTPUT),
                    ..SessionSettings::default()
                },
            },
            find_rules: None,
            state: StatePlace::default(),
            key_place: apply_patch_api::engine::key_place(),
            tools: Tool::served().collect(),
            brief: false,
            links: false,
            max_message: MAX_MESSAGE,
        }
    }

    /// Leaves only the tools that read.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.tools.retain(|tool| tool.is_read_only());
        self
    }
}

/// There is no tool with this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool {name:?}; there are {}", Tool::ALL.map(Tool::legal_name).join(", "))]
pub struct BadTool {
    /// The given name.
    pub name: String,
}

/// Finds the tools with these names, and returns them in the order of the list of all tools.
///
/// # Errors
///
/// Names the first unknown one.
pub fn tools_named<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<Tool>, BadTool> {
    let wanted = names
        .into_iter()
        .map(|text| Tool::named(text.trim()).ok_or_else(|| BadTool { name: text.to_owned() }));
    let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
    Ok(Tool::ALL.into_iter().filter(|tool| wanted.contains(tool)).collect())
}
