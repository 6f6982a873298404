//! `apply-patch serve` and `apply-patch mcp-config`.

use apply_patch_mcp::{Approval, ServeError, ServerSettings};
use clap::Args;

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
    /// Who approves a change: a person who sees the plan (`ask`), the client, with a person for what cannot be undone (`auto`,
    /// unless set), or no one (`never`)
    #[arg(long, value_name = "WHEN")]
    pub(crate) approve: Option<args::Approve>,
    /// Allow changes to guarded files that match; guarded are files that make other tools run code
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow: Vec<String>,
    /// Longest message that is taken, in bytes; a longer one is answered with an error
    #[arg(long, value_name = "BYTES", default_value_t = apply_patch_mcp::MAX_MESSAGE, hide_default_value = true)]
    pub(crate) max_message: usize,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch mcp-config --client codex -C ../repo")]
pub(crate) struct McpConfigArgs {
    /// Client to configure
    #[arg(long, value_name = "NAME", value_parser = args::one_of(apply_patch_mcp::Client::ALL, apply_patch_mcp::Client::as_str))]
    pub(crate) client: apply_patch_mcp::Client,
    /// Who approves a change, as for `serve`
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) approve: args::Approve,
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
    let mut settings = ServerSettings::new(&global.root);
    if !args.tools.is_empty() {
        let names = args.tools.iter().map(String::as_str);
        settings.tools = apply_patch_mcp::tools_named(names).map_err(|error| Failure::Usage(error.to_string()))?;
    }
    if args.read_only {
        settings = settings.read_only();
    }
    settings.policy = global.settings.policy()?;
    settings.approval = global.settings.approve.into();
    settings.max_message = args.max_message;
    settings.brief = args.brief;
    settings.tool_settings.durability = workspace::durability(&global.settings);
    settings.tool_settings.lock_timeout = global.settings.lock_timeout;
    settings.tool_settings.max_snapshots = global.settings.max_snapshots.bytes();
    settings.tool_settings.profile = global.settings.profile.into();
    settings.tool_settings.encodings = global.settings.encoding.encodings();
    Ok(settings)
}

pub(crate) fn config(global: &Global, args: &McpConfigArgs) -> Result<Exit, Failure> {
    let text = |path: &std::path::Path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::Input(format!("{} is not UTF-8, which configuration files are", path.display()))),
    };
    let program = std::env::current_exe().map_err(|error| Failure::Input(error.to_string()))?;
    let root = fs_guard::real_path(&global.root)?;
    let (program, root) = (text(&program)?, text(&root)?);
    let approval = args.approve.into();
    render::raw(apply_patch_mcp::client_config(args.client, &program, &root, approval).as_bytes());
    if !global.quiet {
        render::message(&format!("for {}; {}", args.client.file(), args.client.advice(approval)));
    }
    Ok(Exit::Done)
}
