//! How much a patch changes, in the forms of git.

use clap::Args;

/// The counts that are printed of each file.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = None)]
pub(crate) struct Statistics {
    /// Print how many lines change in each file. With `-n` or `--check`, this and the next two need
    /// no files for a diff: they read its text, and do not tell whether it applies
    #[arg(long, conflicts_with_all = ["events", "call_id"])]
    pub(crate) stat: bool,
    /// Print the same for programs: lines inserted, lines deleted and the path, with tabs between
    #[arg(long, conflicts_with_all = ["events", "call_id"])]
    pub(crate) numstat: bool,
    /// Print which files are created, deleted, moved and copied, and which modes change
    #[arg(long, conflicts_with_all = ["events", "call_id"])]
    pub(crate) summary: bool,
    /// With `--numstat`: paths as they are, each line ended by NUL
    #[arg(short = 'z', requires = "numstat", conflicts_with_all = ["events", "call_id"])]
    pub(crate) nul: bool,
}

impl Statistics {
    /// Returns whether any of them is wanted.
    pub(crate) fn are_wanted(&self) -> bool {
        self.stat || self.numstat || self.summary
    }
}
