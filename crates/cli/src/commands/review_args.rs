//! The arguments of `apply-patch review`.

use clap::Args;

use super::history::{SpanArgs, is_proposal};
use crate::args::{self, DiffFormat};
use crate::failure::Failure;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch review                       go through the last change, with its turn\n  \
    apply-patch review --since 9am           go through all that was changed since then\n  \
    apply-patch review --session refactor --json\n  \
    apply-patch review --revert h-1f00d2c9ab   revert one hunk\n  \
    apply-patch review --notes               print the comments, for the agent\n  \
    apply-patch review --format html > review.html")]
pub(crate) struct ReviewArgs {
    /// Transaction: its id, or four characters or more of its beginning or end; `last`, or `@N` for
    /// the N-th newest; a turn; or the first and the last of several, `ID..ID`. Unless given: the
    /// newest change that is not undone, with all of its turn. Or a proposal, `p-ID`: the hunks that
    /// you do not take stay proposed
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Only files at these paths, or beneath them
    #[arg(value_name = "PATH", last = true)]
    pub(crate) paths: Vec<String>,
    #[command(flatten)]
    pub(crate) span: SpanArgs,
    /// Revert these hunks without asking: the ids that the list, `--json` and the page show, or
    /// `all` (repeatable, or with commas)
    #[arg(long, value_name = "HUNK", value_delimiter = ',')]
    pub(crate) revert: Vec<String>,
    /// Comment on a hunk without asking, as in `h-1f00d2c9ab=why twice?`; `h-1f00d2c9ab=` removes
    /// what was said (repeatable)
    #[arg(long, value_name = "HUNK=TEXT", conflicts_with_all = ["revert", "notes"])]
    pub(crate) note: Vec<String>,
    /// Print the comments on these hunks, or on all, as a text for the agent
    #[arg(long, conflicts_with_all = ["revert", "restart"])]
    pub(crate) notes: bool,
    /// Forget what is decided, and ask about every hunk
    #[arg(long)]
    pub(crate) restart: bool,
    /// Print the hunks, or the diff of `--revert`; nothing is asked and nothing is written
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// The hunks as text, or as one self-contained HTML page where they can be chosen
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with_all = ["json", "revert"])]
    pub(crate) format: DiffFormat,
    #[command(flatten)]
    pub(crate) detail: args::Detail,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

impl ReviewArgs {
    /// The proposal that is to be reviewed.
    pub(super) fn proposal(&self) -> Result<Option<&str>, Failure> {
        let Some(id) = self.id.as_deref().filter(|id| is_proposal(id)) else { return Ok(None) };
        let is_more = self.notes || self.restart || self.dry_run || !self.paths.is_empty();
        if is_more || !self.revert.is_empty() || !self.note.is_empty() {
            let message =
                format!("{id} is a proposal: `apply-patch review {id}` alone asks about it");
            return Err(Failure::Usage(message));
        }
        Ok(Some(id))
    }
}
