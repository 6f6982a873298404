//! The arguments of `apply-patch serve`.

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::tools::settings::{Layer, glob};
use clap::Args;

use crate::args;

/// Who approves where neither flag nor configuration says.
pub(super) const APPROVE: ApprovalPolicy = ApprovalPolicy::OnRequest;

#[derive(Debug, Args)]
#[command(
    after_help = "`apply-patch mcp-config --client NAME` prints the configuration for a client.\n\n\
    Examples:\n  \
    apply-patch serve --mcp -C ../repo --read-only\n  \
    apply-patch serve --mcp -C ../repo --approve ask --tools read_file,edit_file,undo"
)]
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
    /// Link the files that a call changed, and its transaction, for clients that show links
    #[arg(long)]
    pub(crate) links: bool,
    /// Offer only the tools that read
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Who approves a change: a person who sees the plan (`ask`), the client, with a person for
    /// what cannot be undone (`auto`), or no one (`never`) [default: auto]
    #[arg(long, value_name = "WHEN", value_parser = args::choice::<ApprovalPolicy>())]
    pub(crate) approve: Option<ApprovalPolicy>,
    /// Allow changes to guarded files that match; guarded are files that make other tools run code
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    pub(crate) allow: Vec<String>,
    /// Longest message that is taken, in bytes; a longer one is answered with an error [default:
    /// 134217728]
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_message: Option<usize>,
    #[command(flatten)]
    pub(crate) checks: args::Checks,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

impl ServeArgs {
    /// The settings from its flags.
    pub(super) fn layer(&self) -> Layer {
        let layer = self.checks.over(self.writing.over(args::allowing(&self.allow)));
        Layer { approve: self.approve, ..layer }
    }
}
