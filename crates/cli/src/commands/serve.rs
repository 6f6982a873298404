//! The arguments of `apply-patch serve`.

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::tools::settings::{Layer, glob};
use clap::{Args, ValueEnum};

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
    /// Who approves a change: a person who sees the plan (`ask`), a person in a terminal, later, as
    /// each change is kept as a proposal (`later`), the client, with a person for what cannot be
    /// undone (`auto`), or no one (`never`) [default: auto]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub(crate) approve: Option<Approver>,
    /// Let tools be told of proposals that other sessions have made
    #[arg(long)]
    pub(crate) all_proposals: bool,
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

/// Who approves the changes of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approver {
    Ask,
    Later,
    Auto,
    Never,
}

impl ServeArgs {
    /// Whether each change is kept as a proposal.
    #[cfg(feature = "mcp")]
    pub(super) fn is_later(&self) -> bool {
        self.approve == Some(Approver::Later)
    }

    /// The settings from its flags.
    pub(super) fn layer(&self) -> Layer {
        let layer = self.checks.over(self.writing.over(args::allowing(&self.allow)));
        let approve = self.approve.map(|approve| match approve {
            Approver::Ask | Approver::Later => ApprovalPolicy::Always,
            Approver::Auto => ApprovalPolicy::OnRequest,
            Approver::Never => ApprovalPolicy::Never,
        });
        Layer { approve, ..layer }
    }
}
