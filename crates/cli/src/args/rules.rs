//! The rules of planning and of the guard.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The rules of planning: a profile, and every rule on its own.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Rules")]
pub(crate) struct Rules {
    /// A preset of the rules: `strict` (default, but for `ops`), or `codex` as the OpenAI models were
    /// trained with
    #[arg(long, value_name = "PROFILE", hide_possible_values = true)]
    pub(crate) profile: Option<Profile>,
    /// Expect a file to have this SHA-256; nothing after `=` expects no file
    #[arg(long, value_name = "PATH=SHA256")]
    pub(crate) expect: Vec<String>,
    /// Read expectations from a JSON object of paths and SHA-256
    #[arg(long, value_name = "FILE.json")]
    pub(crate) expect_from: Option<PathBuf>,
    /// Approve guarded files (those that make tools run code) that match
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow: Vec<String>,
    /// Whether the patch may delete files; true unless given
    #[arg(long, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) allow_delete: Option<bool>,
    /// Whether the patch may move files; true unless given
    #[arg(long, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) allow_move: Option<bool>,
    /// Create missing parent directories
    #[arg(long)]
    pub(crate) create_parents: bool,
    /// Let Add and moves replace existing files
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// What to do with a hunk that fits in several places
    #[arg(long, value_name = "reject|first", hide_possible_values = true)]
    pub(crate) ambiguous: Option<Ambiguous>,
    /// The most lenient matching pass: none, trailing, blanks or unicode
    #[arg(long, value_name = "PASS", hide_possible_values = true)]
    pub(crate) fuzz: Option<Fuzz>,
    #[command(flatten)]
    pub(crate) guard: Guard,
}

/// What the guard can be told, beside patterns.
#[derive(Debug, Default, Args)]
pub(crate) struct Guard {
    /// Which file names may be created: those that every system takes (portable, default), or all of this one
    #[arg(long, value_name = "portable|native", hide_possible_values = true)]
    pub(crate) names: Option<Names>,
    /// What to do with a file that has several hard links: refuse it (default), or break the patched name off
    #[arg(long, value_name = "refuse|break", hide_possible_values = true)]
    pub(crate) hard_links: Option<HardLinks>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    Strict,
    Codex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ambiguous {
    Reject,
    First,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fuzz {
    None,
    Trailing,
    Blanks,
    Unicode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Names {
    Portable,
    Native,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HardLinks {
    Refuse,
    Break,
}
