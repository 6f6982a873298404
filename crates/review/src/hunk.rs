//! A hunk of a review: a change to keep or revert by itself.

use std::ops::Range;

use fs_guard::Sha256;
use patch_text::carry::Conflict;
use patch_text::text::splices::Splices;
use serde::Serialize;

/// The digits of an id.
const DIGITS: usize = 10;

/// The kind of a hunk's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HunkKind {
    /// Some lines of a text.
    Lines,
    /// A file is created.
    Create,
    /// A file is deleted.
    Delete,
    /// A file is moved.
    Move,
    /// A file becomes executable, or is no longer.
    Mode,
    /// All bytes of a binary file, or the target of a symbolic link.
    Bytes,
}

/// How much of a hunk is left in the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HunkState {
    /// Standing as made: the hunk can be reverted.
    Standing,
    /// Reverted already.
    Reverted,
    /// Something else changed the same lines or the same file since: nothing about it is certain.
    Changed,
    /// The bytes before or after it are not kept any more, or may not be read.
    Unknown,
}

/// A change to keep or revert by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReviewHunk {
    /// Its name: `h-` and digits that come from the path and the changed lines, so that it stays
    /// the same while other things change.
    pub id: String,
    /// The kind of its change.
    pub kind: HunkKind,
    /// How much of the hunk is left.
    pub state: HunkState,
    /// The hunk in the form of a diff: as it stands in the current file, or, where it does not, as
    /// it was made. Empty for a kind without lines.
    pub diff: Vec<u8>,
    /// The three texts of lines that were changed since: what the transactions left, what is there
    /// now, and what was there before the transactions.
    pub conflict: Option<Conflict>,
    /// The bytes of the current file that the diff shows. Those of two hunks do not overlap.
    pub at: Range<usize>,
    /// The reverting edit of the current file.
    pub(crate) back: Splices,
}

impl ReviewHunk {
    /// Makes the hunk of a whole file.
    pub(crate) fn of_file(
        path: &str,
        kind: HunkKind,
        state: HunkState,
        identity: &[&[u8]],
    ) -> Self {
        Self {
            id: id_of(path, kind, identity, 0),
            kind,
            state,
            diff: Vec::new(),
            conflict: None,
            at: 0..0,
            back: Splices::new(),
        }
    }
}

/// Returns the id of a hunk: of its path and its kind, of what it removes and adds, and of its
/// place among those that do the same.
pub(crate) fn id_of(path: &str, kind: HunkKind, identity: &[&[u8]], nth: usize) -> String {
    let mut text = format!("{path}\0{kind:?}\0{nth}\0").into_bytes();
    for part in identity {
        text.extend_from_slice(format!("{}\0", part.len()).as_bytes());
        text.extend_from_slice(part);
    }
    format!("h-{}", &Sha256::of(&text).to_string()[..DIGITS])
}
