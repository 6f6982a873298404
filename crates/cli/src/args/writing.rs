//! How changes are made: how durable, after which wait, with whose approval.

use std::time::Duration;

use apply_patch_api::engine::commit::Durability;
use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::tools::settings::{self, Layer, seconds};
use clap::Args;

use super::choice::choice;

/// The flags of every command that writes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct Writing {
    /// What a change survives: power loss (`full`), a kill of this process (`process`), or neither
    /// for sure (`none`) [default: full]
    #[arg(long, value_name = "LEVEL", value_parser = choice::<Durability>())]
    pub(crate) durability: Option<Durability>,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

impl Writing {
    /// Returns the settings from the flags, over others.
    pub(crate) fn over(&self, others: Layer) -> Layer {
        Layer { durability: self.durability, lock_timeout: self.waiting.lock_timeout, ..others }
    }
}

/// The flags of every command that takes the lock.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct Waiting {
    /// How long to wait for another process that changes the workspace [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) lock_timeout: Option<Duration>,
}

/// The commands that format files, and those that have to accept a change.
#[derive(Debug, Args)]
pub(crate) struct Checks {
    /// Run this command of the shell in the root after the files are changed: unless it succeeds,
    /// all is as before. Others that want to change files wait meanwhile
    #[arg(long, value_name = "CMD")]
    pub(crate) verify: Option<String>,
    #[command(flatten)]
    pub(crate) formatting: Formatting,
}

/// The commands that format files.
#[derive(Debug, Args)]
pub(crate) struct Formatting {
    /// Format new files with this command of the shell before the plan is shown. It reads a file
    /// from its input and prints it; its path is in `APPLY_PATCH_FILE`
    #[arg(long, value_name = "CMD")]
    pub(crate) format_with: Option<String>,
    /// How long each command may take [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) verify_timeout: Option<Duration>,
}

impl Checks {
    /// Returns the settings from the flags, over others.
    pub(crate) fn over(&self, others: Layer) -> Layer {
        Layer {
            verify: self.verify.as_deref().map(settings::Checks::of),
            ..self.formatting.over(others)
        }
    }
}

impl Formatting {
    /// Returns the settings from the flags, over others.
    pub(crate) fn over(&self, others: Layer) -> Layer {
        Layer {
            format_with: self.format_with.as_deref().map(settings::Checks::of),
            verify_timeout: self.verify_timeout,
            ..others
        }
    }
}

/// Which parts of a patch are applied, where not all are, or not all are in it.
#[derive(Debug, Args)]
pub(crate) struct Parts {
    /// Apply file by file and stop at the first failure; what was applied stays
    #[arg(long)]
    pub(crate) no_atomic: bool,
    /// Apply the sections that fit, as one transaction, and keep the others to be amended: of a
    /// section all hunks are applied, or none
    #[arg(long, conflicts_with_all = ["no_atomic", "reverse"])]
    pub(crate) partial: bool,
    /// Take the sections of other files from this patch, which was refused: the error named it.
    /// Those of the same files are replaced, and the whole is applied as one
    #[arg(long, value_name = "ID", conflicts_with = "reverse")]
    pub(crate) amend: Option<String>,
}

/// Who approves what a program asks for, and what this process may reach meanwhile.
#[derive(Debug, Args)]
#[command(next_help_heading = None)]
pub(crate) struct Caution {
    /// When to ask at the terminal before anything is changed: always (`ask`), or when a file is
    /// deleted, replaced whole or guarded (`auto`) [default: never]
    #[arg(long, value_name = "WHEN", value_parser = choice::<ApprovalPolicy>())]
    pub(crate) approve: Option<ApprovalPolicy>,
    /// Confine this process to the workspace and its state before the input is read (Linux with
    /// Landlock; an error elsewhere)
    #[arg(long)]
    pub(crate) sandbox: bool,
}
