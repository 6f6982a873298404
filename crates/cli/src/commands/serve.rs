//! `apply-patch serve`.

use std::path::{Path, PathBuf};

use apply_patch_mcp::{Approval, Origin, ServeError, ServerSettings};
use clap::Args;
use file_tools::SessionSettings;

use super::workspace;
use crate::args::{self, Approve};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "`apply-patch mcp-config --client NAME` prints the configuration for a client.\n\n\
    Examples:\n  \
    apply-patch serve --mcp -C ../repo --read-only\n  \
    apply-patch serve --mcp -C ../repo --approve ask --tools read_file,edit_file,undo")]
pub(crate) struct ServeArgs {
    /// Speak the Model Context Protocol (2026-07-28, and the versions with `initialize`)
    #[arg(long, required = true)]
    pub(crate) mcp: bool,
    /// Offer only these tools
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// List the tools with what they do and their arguments by name, in a third of the size
    #[arg(long)]
    pub(crate) brief: bool,
    /// Offer only the tools that read
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Who approves a change: a person who sees the plan (`ask`), the client, with a person for what cannot be undone (`auto`),
    /// or no one (`never`) [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) approve: Option<args::Approve>,
    /// Allow changes to guarded files that match; guarded are files that make other tools run code
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow: Vec<String>,
    /// Longest message that is taken, in bytes; a longer one is answered with an error
    #[arg(long, value_name = "BYTES", default_value_t = apply_patch_mcp::MAX_MESSAGE)]
    pub(crate) max_message: usize,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

impl From<Approve> for Approval {
    fn from(approve: Approve) -> Self {
        match approve {
            Approve::Never => Self::Never,
            Approve::Ask => Self::Ask,
            Approve::Auto => Self::Auto,
        }
    }
}

pub(crate) fn serve(global: &Global, args: &ServeArgs) -> Result<Exit, Failure> {
    let settings = settings(global, args)?;
    // Clients show or keep what a server prints there. What cannot be used at all is an error of the first call.
    let writes = settings.tools.iter().any(|tool| !tool.is_read_only());
    if writes && matches!(settings.key_place.find(), Ok(None)) {
        render::unsigned();
    }
    Ok(match apply_patch_mcp::serve(settings, std::io::stdin(), std::io::stdout()) {
        Ok(()) => Exit::Done,
        // Standard output is the client's.
        Err(error) => {
            render::message(&error.to_string());
            match error {
                ServeError::Workspace(error) => file_tools::ToolError::workspace(&error).class.into(),
                _ => Exit::Failed,
            }
        }
    })
}

fn settings(global: &Global, args: &ServeArgs) -> Result<ServerSettings, Failure> {
    let (root, origin) = root(&global.root);
    let mut settings = ServerSettings { origin, ..ServerSettings::new(root) };
    if !args.tools.is_empty() {
        let names = args.tools.iter().map(String::as_str);
        settings.tools = apply_patch_mcp::tools_named(names).map_err(|error| Failure::Usage(error.to_string()))?;
    }
    if args.read_only {
        settings = settings.read_only();
    }
    settings.policy = global.settings.policy()?;
    settings.state = global.settings.state.into();
    settings.approval = global.settings.approve.into();
    settings.max_message = args.max_message;
    settings.brief = args.brief;
    let max_output = settings.tool_settings.max_output;
    settings.tool_settings = SessionSettings { max_output, ..workspace::tool_settings(&global.settings) };
    Ok(settings)
}

/// The directory to serve, and who says so.
///
/// A client that does not know a variable of another, such as `${workspaceFolder}`, passes it on as it stands: then it is the
/// client that knows the project, as where there is no argument.
fn root(given: &Path) -> (PathBuf, Origin) {
    let text = given.to_string_lossy();
    let unknown = text.starts_with("${") && text.ends_with('}');
    if given != Path::new(".") && !unknown || unknown && fs_guard::real_path(given).is_ok() {
        return (given.to_owned(), Origin::Named);
    }
    let started = PathBuf::from(".");
    let Ok(here) = fs_guard::real_path(&started) else { return (started, Origin::Client) };
    let home = std::env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
        .and_then(|home| fs_guard::real_path(Path::new(&home)).ok());
    // Editors are started there, and so are the servers of those that do not say where.
    let no_project = here.parent().is_none() || home.is_some_and(|home| home == here);
    (started, if no_project { Origin::Roots } else { Origin::Client })
}
