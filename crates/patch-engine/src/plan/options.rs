//! The options of the engine, and their profiles.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use fs_guard::{RelPath, Sha256};
use patch_grammar::ParseOptions;
use patch_text::cancel::Cancel;
use patch_text::locate::Rules;
use patch_text::locate::edit_rules::{EditRules, FileWhitespace, FinalNewline};
use patch_text::text::whitespace::{Whitespace, WhitespaceRules};

use crate::files::Files;
use crate::files::encodings::Encodings;
use crate::plan::formatter::Formatter;
use crate::plan::syntax::{Formats, Syntax};

patch_grammar::named! {
    /// A named preset of [`Options`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub enum Profile {
        /// Exact matches, one place for each hunk, nothing replaced, and nothing taken but what was
        /// asked for: one patch in the envelope, as it is written, in directories that are there.
        Strict = "strict",
        /// The same matches and places, read as people and models send patches, and missing
        /// directories made: the default.
        #[default]
        Standard = "standard",
        /// The rules that the models were trained with: anchors, whitespace-tolerant matching,
        /// replacing files.
        Codex = "codex",
    }
}

/// How the lines of a new file are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddNewline {
    /// Line feeds between the lines, and one more unless the last line is empty.
    Joined,
    /// A line feed after every line.
    EveryLine,
}

/// The required state of a file before the patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expected {
    /// Nothing is there.
    Absent,
    /// A file with this SHA-256.
    Hash(Sha256),
}

impl From<Option<Sha256>> for Expected {
    fn from(hash: Option<Sha256>) -> Self {
        hash.map_or(Self::Absent, Self::Hash)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no file"),
            Self::Hash(hash) => write!(f, "SHA-256 {hash}"),
        }
    }
}

impl FromStr for Expected {
    type Err = fs_guard::ParseSha256Error;

    /// Reads 64 hexadecimal digits, or nothing for [`Expected::Absent`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() { Ok(Self::Absent) } else { text.parse().map(Self::Hash) }
    }
}

/// Finds earlier versions of files by hash.
pub trait Snapshots: fmt::Debug + Send + Sync {
    /// Returns the bytes with this hash; `None` when they are not at hand. They are not checked
    /// again: the implementation has to compare them with the hash. `path` is the file that is
    /// expected to have the hash, and a hint where to look first; the bytes of another file are as
    /// good.
    fn bytes(&self, path: &RelPath, sha256: Sha256) -> Option<Arc<Vec<u8>>>;
}

/// All rules of planning.
#[derive(Debug, Clone)]
pub struct Options {
    /// The profile that the options were made from. It is logged, and decides nothing.
    pub profile: Profile,
    /// Tolerance for oddities around and in the patch text.
    pub parse: ParseOptions,
    /// Where hunks go.
    pub placement: Rules,
    /// How the lines of a new file are joined.
    pub add_newline: AddNewline,
    /// Whether an updated file gets a final line feed.
    pub final_newline: FinalNewline,
    /// Whether Add and moves replace an existing file.
    pub overwrite: bool,
    /// Whether missing parent directories are created.
    pub create_parents: bool,
    /// Whether files may be deleted.
    pub allow_delete: bool,
    /// Whether files may be moved.
    pub allow_move: bool,
    /// The largest file to read or write, in bytes.
    pub max_file_size: u64,
    /// How many bytes of files a plan keeps in memory. Files beyond that are read again when they
    /// are needed, and must not have changed.
    pub max_memory: u64,
    /// Whether lines may be written that stand for lines that are left out, as `# ... existing code
    /// ...`.
    pub allow_placeholders: bool,
    /// The treatment of whitespace errors in inserted lines.
    pub whitespace: Whitespace,
    /// The whitespace errors where the attribute `whitespace` says nothing.
    pub whitespace_rules: WhitespaceRules,
    /// The treatment of files that no longer parse.
    pub syntax: Syntax,
    /// Parses files. `None`: they are not parsed, whatever `syntax` says.
    pub formats: Option<Arc<dyn Formats>>,
    /// Formats the files that are written in a directory. What is undone or restored stays as it
    /// was, and so does a file whose contents do not change.
    pub formatter: Option<Arc<dyn Formatter>>,
    /// The declared charsets of files; UTF-16 is known by its byte-order mark.
    pub encodings: Encodings,
    /// The files that the author of the patch saw, where they are known. A hunk of a file that has
    /// changed since is located there, and [carried](crate::carry) to the current file. `None`:
    /// hunks are located in the current files.
    pub base: Option<Files>,
    /// Finds the bytes that an expected hash stands for. With these, a file may have changed since
    /// it had that hash, if the patch only updates it: its hunks are located in those bytes, and
    /// [carried](crate::carry). Files that the patch deletes, only moves or does not touch have to
    /// be as expected.
    pub snapshots: Option<Arc<dyn Snapshots>>,
    /// The state of files before the patch, by path; files that are not named are not checked. With
    /// a base, a file may also have changed since it had that hash there.
    pub expected: BTreeMap<String, Expected>,
}

/// The largest patch text for callers to read: 64 MiB.
pub const MAX_PATCH_SIZE: u64 = 64 << 20;

/// The largest file by default: 256 MiB.
pub const MAX_FILE_SIZE: u64 = 256 << 20;

/// The most memory of a plan by default: 64 MiB, as much as the longest patch.
pub const MAX_MEMORY: u64 = 64 << 20;

impl Options {
    /// Returns the rules by which the hunks of a file are placed, and their lines written.
    pub(crate) fn edit_rules<'a>(
        &'a self,
        whitespace: Option<FileWhitespace>,
        cancel: &'a dyn Cancel,
    ) -> EditRules<'a> {
        let Self { placement, final_newline, .. } = self;
        EditRules { placement, final_newline: *final_newline, whitespace, cancel }
    }

    /// Returns the options of a profile.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        let codex = profile == Profile::Codex;
        let strict = profile == Profile::Strict;
        Self {
            profile,
            parse: ParseOptions {
                strip_wrappers: codex,
                bare_first_hunk: codex,
                to_the_letter: strict,
                ..ParseOptions::default()
            },
            placement: if codex { Rules::by_headers() } else { Rules::default() },
            add_newline: if codex { AddNewline::EveryLine } else { AddNewline::Joined },
            final_newline: if codex { FinalNewline::Add } else { FinalNewline::Keep },
            overwrite: codex,
            create_parents: !strict,
            allow_delete: true,
            allow_move: true,
            allow_placeholders: false,
            max_file_size: MAX_FILE_SIZE,
            max_memory: MAX_MEMORY,
            whitespace: Whitespace::default(),
            whitespace_rules: WhitespaceRules::default(),
            syntax: Syntax::default(),
            formats: None,
            formatter: None,
            encodings: Encodings::default(),
            base: None,
            snapshots: None,
            expected: BTreeMap::new(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new(Profile::default())
    }
}
