//! Changes as the events report them.

use patch_engine::{Change, ChangeKind, Images, line_counts};
use serde::Serialize;

/// Texts of a file that are longer than this many bytes (1 MiB) are left out of events; the diff
/// stands for them.
pub const MAX_TEXT: usize = 1 << 20;

/// One change of a plan, kept beyond the plan; serialised in the form `jsonl`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    #[serde(serialize_with = "operation_name")]
    pub(super) operation: ChangeKind,
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_sha256: Option<String>,
    /// How many lines are inserted.
    inserted: usize,
    /// How many lines are deleted.
    deleted: usize,
    /// The diff in git's form.
    #[serde(skip)]
    diff: String,
    /// The same with absolute paths.
    #[serde(skip)]
    pub(super) absolute_diff: String,
    #[serde(skip)]
    pub(super) old: SideText,
    #[serde(skip)]
    pub(super) new: SideText,
}

fn operation_name<S: serde::Serializer>(
    operation: &ChangeKind,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    operation.as_str().serialize(serializer)
}

/// One side of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SideText {
    /// There is no file.
    Absent,
    /// The text of the file.
    Here(String),
    /// The file is not text, too long, or not in memory.
    LeftOut,
}

impl SideText {
    fn of(exists: bool, bytes: Option<&[u8]>) -> Self {
        match bytes.map(std::str::from_utf8) {
            _ if !exists => Self::Absent,
            Some(Ok(text)) if text.len() <= MAX_TEXT && !text.contains('\0') => {
                Self::Here(text.to_owned())
            }
            _ => Self::LeftOut,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Here(text) => Some(text),
            Self::Absent | Self::LeftOut => None,
        }
    }
}

impl Item {
    pub(super) fn new(images: Images<'_>, change: &Change, root: &str) -> Self {
        let diff = diff_text(images.diff(change));
        let (inserted, deleted) = line_counts(diff.as_bytes());
        Self {
            operation: change.operation,
            path: change.path.to_string(),
            to_path: change.to_path.as_ref().map(ToString::to_string),
            before_sha256: change.before.map(|hash| hash.to_string()),
            after_sha256: change.after.map(|hash| hash.to_string()),
            inserted,
            deleted,
            diff,
            absolute_diff: diff_text(images.diff_beneath(change, root)),
            old: SideText::of(
                change.before.is_some(),
                images.old_bytes(change).ok().as_ref().map(|bytes| &bytes[..]),
            ),
            new: SideText::of(
                change.after.is_some(),
                images.new_bytes(change).ok().as_ref().map(|bytes| &bytes[..]),
            ),
        }
    }

    /// Returns the path of the file after the change; of a deleted file, the old path.
    pub(super) fn last_path(&self) -> &str {
        self.to_path.as_deref().unwrap_or(&self.path)
    }

    /// Returns the hunks of the diff without the headers above them; empty if there are none. The
    /// hunks of a file that this one replaces are left out.
    pub(super) fn hunks(&self) -> &str {
        let own = self.diff.rfind("\ndiff --git ").unwrap_or_default();
        match self.diff[own..].find("\n@@ ") {
            Some(at) => &self.diff[own + at + 1..],
            None => "",
        }
    }

    /// Returns the line of the new file, from 1, at which the first hunk begins.
    pub(super) fn first_line(&self) -> Option<u32> {
        let hunks = self.hunks();
        let range = hunks[hunks.find('+')? + 1..].split([',', ' ']).next()?;
        range.parse().ok().filter(|&line| line > 0)
    }
}

/// Returns a diff as text, or no text if the file has changed since it was planned: then the commit
/// will fail.
fn diff_text(diff: Result<Vec<u8>, fs_guard::Error>) -> String {
    diff.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
