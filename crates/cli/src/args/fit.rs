//! Which files a grammar is made for.

use std::path::PathBuf;

use apply_patch_api::engine::Profile;
use clap::Args;

use super::choice;

/// The files that a grammar is made for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Grammars that fit the files")]
pub(crate) struct Fit {
    /// Make the grammar for these files as they are, so that it is always tight: every patch of it
    /// applies to them, unless it has a hunk that is applied already
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "dialect")]
    pub(crate) fit: Vec<String>,
    /// Lines of a file that hunks may show, those that the model saw [default: all]
    #[arg(long, value_name = "FILE:A-B", value_parser = lines, requires = "fit", conflicts_with = "dialect")]
    pub(crate) lines: Vec<FileLines>,
    /// A list of further paths that exist, one a line: they can be deleted
    #[arg(long, value_name = "LIST|-", requires = "fit", conflicts_with = "dialect")]
    pub(crate) paths_from: Option<PathBuf>,
    /// What sections may do: update, add, delete, move [default: update]
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "fit",
        conflicts_with = "dialect"
    )]
    pub(crate) operations: Vec<String>,
    /// Profile that the patch will be applied by [default: standard]
    #[arg(long, value_name = "PROFILE", value_parser = choice::<Profile>(), requires = "fit", conflicts_with = "dialect")]
    pub(crate) profile: Option<Profile>,
}

/// Some lines of a file.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "constrain"), expect(dead_code, reason = "no grammar is made of them"))]
pub(crate) struct FileLines {
    pub(crate) file: String,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl FileLines {
    fn read(text: &str) -> Option<Self> {
        let (file, range) = text.rsplit_once(':')?;
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(Self { file: file.to_owned(), first: first.parse().ok()?, last: last.parse().ok()? })
    }
}

fn lines(text: &str) -> Result<FileLines, String> {
    FileLines::read(text)
        .ok_or_else(|| "a file, a colon and its lines, as in `src/a.rs:10-80`".to_owned())
}
