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
#[command(
    after_help = "It speaks on standard input and output. `apply-patch mcp-config --client NAME` prints the block that starts it from a client.\n\n\
    Examples:\n  \
    apply-patch serve --mcp -C ../repo --read-only\n  \
    apply-patch serve --mcp -C ../repo --approve ask --tools read_file,edit_file,undo"
)]
pub(crate) struct ServeArgs {
    /// Speak the Model Context Protocol, of 2026-07-28 or with `initialize`
    #[arg(long, required = true)]
    pub(crate) mcp: bool,
    /// Offer these tools only, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Offer only the tools that read
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Whom a change waits for: nobody (never), a person who sees the plan (ask), or the client, and a person for what
    /// cannot be undone (auto, default)
    #[arg(long, value_name = "never|ask|auto", hide_possible_values = true)]
    pub(crate) approve: Option<args::Approve>,
    /// Approve guarded files (those that make tools run code) that match
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch mcp-config --client codex -C ../repo")]
pub(crate) struct McpConfigArgs {
    /// codex, claude, cursor or vscode
    #[arg(long, value_name = "NAME", value_parser = client)]
    pub(crate) client: apply_patch_mcp::Client,
    /// As for `serve`
    #[arg(long, value_name = "never|ask|auto", default_value = "auto", hide_possible_values = true)]
    pub(crate) approve: args::Approve,
}

fn client(text: &str) -> Result<apply_patch_mcp::Client, String> {
    named(text, &apply_patch_mcp::Client::ALL, |client| client.as_str())
}

/// The one of `all` that goes by `text`.
fn named<T: Copy>(text: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    let names: Vec<_> = all.iter().map(|&one| name(one)).collect();
    all.iter().copied().find(|&one| name(one) == text).ok_or_else(|| format!("there is {}", names.join(", ")))
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

pub(crate) fn serve(global: &Global, args: &ServeArgs) -> Exit {
    let settings = match settings(global, args) {
        Ok(settings) => settings,
        Err(failure) => return failure.report(global, None),
    };
    match apply_patch_mcp::serve(settings, std::io::stdin(), std::io::stdout()) {
        Ok(()) => Exit::Done,
        // Standard output is the client's.
        Err(error) => {
            render::message(&error.to_string());
            match error {
                ServeError::Workspace(error) => file_tools::ToolError::workspace(&error).class.into(),
                _ => Exit::Failed,
            }
        }
    }
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
    settings.policy = global.config.policy(&args::Guard::default(), &args.allow)?;
    let approve = global.config.settle("approve", args.approve, Some(Approve::Auto));
    settings.approval = approve.map_or(Approval::Auto, Into::into);
    settings.tool_settings.durability = workspace::commit_options(global, "serve", &args.writing).durability;
    settings.tool_settings.lock_timeout = global.config.lock_timeout(args.writing.lock_timeout);
    Ok(settings)
}

pub(crate) fn config(global: &Global, args: &McpConfigArgs) -> Exit {
    let absolute = || -> Result<(String, String), Failure> {
        let program = std::env::current_exe().map_err(|error| Failure::Input(error.to_string()))?;
        let root = fs_guard::real_path(&global.root)?;
        let text = |path: &std::path::Path| match path.to_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(Failure::Input(format!("{} is not UTF-8, which configuration files are", path.display()))),
        };
        Ok((text(&program)?, text(&root)?))
    };
    let (program, root) = match absolute() {
        Ok(paths) => paths,
        Err(failure) => return failure.report(global, None),
    };
    let approval = args.approve.into();
    render::raw(apply_patch_mcp::client_config(args.client, &program, &root, approval).as_bytes());
    if !global.quiet {
        render::message(&format!("for {}; {}", args.client.file(), args.client.advice(approval)));
    }
    Exit::Done
}
