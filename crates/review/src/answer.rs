//! A review as data.

use std::ops::Range;

use patch_session::NetChanges;
use patch_text::carry::{Conflict, Excerpt};
use serde::Serialize;

use crate::file::ReviewFile;
use crate::hunk::{HunkKind, HunkState, ReviewHunk};
use crate::kept::{Decision, Kept};
use crate::review::Review;

/// A review, to be written as JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewData<'r> {
    #[serde(flatten)]
    net: &'r NetChanges,
    files: Vec<FileData<'r>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileData<'r> {
    path: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_path: Option<&'r str>,
    operation: &'static str,
    hunks: Vec<HunkData<'r>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HunkData<'r> {
    id: &'r str,
    kind: HunkKind,
    state: HunkState,
    /// `keep`, `revert` or `replace`, if it is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<&'r str>,
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict: Option<ConflictData>,
}

/// The three texts of changed lines.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ConflictData {
    /// As the transactions left them.
    left: ExcerptData,
    /// As they are now.
    current: ExcerptData,
    /// As they were before the transactions.
    before: ExcerptData,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExcerptData {
    /// The 1-based first line, and the one after the last.
    lines: Range<usize>,
    text: String,
}

impl Review {
    /// Returns the review with the decisions and notes that are kept, to be written as JSON.
    #[must_use]
    pub fn data<'r>(&'r self, kept: &'r Kept) -> ReviewData<'r> {
        let files = self.files.iter().map(|file| FileData::of(file, kept)).collect();
        ReviewData { net: &self.net, files }
    }
}

impl<'r> FileData<'r> {
    fn of(file: &'r ReviewFile, kept: &'r Kept) -> Self {
        Self {
            path: &file.path,
            to_path: file.to_path.as_deref(),
            operation: file.operation.as_str(),
            hunks: file.hunks.iter().map(|hunk| HunkData::of(hunk, kept)).collect(),
        }
    }
}

impl<'r> HunkData<'r> {
    fn of(hunk: &'r ReviewHunk, kept: &'r Kept) -> Self {
        let notes = kept.notes.iter().filter(|note| note.hunk == hunk.id);
        Self {
            id: &hunk.id,
            kind: hunk.kind,
            state: hunk.state,
            decision: kept.decisions.get(&hunk.id).map(Decision::as_str),
            notes: notes.map(|note| &*note.words).collect(),
            diff: String::from_utf8_lossy(&hunk.diff).into_owned(),
            conflict: hunk.conflict.as_ref().map(ConflictData::of),
        }
    }
}

impl ConflictData {
    fn of(conflict: &Conflict) -> Self {
        Self {
            left: ExcerptData::of(&conflict.base),
            current: ExcerptData::of(&conflict.current),
            before: ExcerptData::of(&conflict.wanted),
        }
    }
}

impl ExcerptData {
    fn of(excerpt: &Excerpt) -> Self {
        Self {
            lines: excerpt.lines.clone(),
            text: String::from_utf8_lossy(&excerpt.text).into_owned(),
        }
    }
}
