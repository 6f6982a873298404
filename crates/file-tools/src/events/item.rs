//! A change as the events tell it.

use patch_engine::{Change, ChangeKind, Images, line_counts};

/// Texts of a file that are longer than this many bytes (1 MiB) are left out of events; the diff stands for
/// them.
pub const MAX_TEXT: usize = 1 << 20;

/// One change of a plan, kept beyond the plan.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) operation: ChangeKind,
    pub(super) path: String,
    pub(super) to_path: Option<String>,
    pub(super) before_sha256: Option<String>,
    pub(super) after_sha256: Option<String>,
    /// The diff in git's form.
    pub(super) diff: String,
    /// The same with absolute paths.
    pub(super) absolute_diff: String,
    pub(super) old: Text,
    pub(super) new: Text,
}

/// One side of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// There is no file.
    Absent,
    /// This is in it.
    Here(String),
    /// It is no text, too long, or not in memory.
    LeftOut,
}

impl Text {
    fn of(exists: bool, bytes: Option<&[u8]>) -> Self {
        match bytes.map(std::str::from_utf8) {
            _ if !exists => Self::Absent,
            Some(Ok(text)) if text.len() <= MAX_TEXT && !text.contains('\0') => Self::Here(text.to_owned()),
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
        // A file that is no longer what the plan was made for is told without its text: the commit will say so.
        let text = |bytes: Result<Vec<u8>, _>| {
            bytes.map_or_else(|_: fs_guard::Error| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        Self {
            operation: change.operation,
            path: change.path.to_string(),
            to_path: change.to_path.as_ref().map(ToString::to_string),
            before_sha256: change.before.map(|hash| hash.to_string()),
            after_sha256: change.after.map(|hash| hash.to_string()),
            diff: text(images.diff(change)),
            absolute_diff: text(images.diff_beneath(change, root)),
            old: Text::of(change.before.is_some(), images.old_bytes(change).ok().as_ref().map(|bytes| &bytes[..])),
            new: Text::of(change.after.is_some(), images.new_bytes(change).ok().as_ref().map(|bytes| &bytes[..])),
        }
    }

    /// The path that the file has in the end; of a deleted one, that it had.
    pub(super) fn last_path(&self) -> &str {
        self.to_path.as_deref().unwrap_or(&self.path)
    }

    /// The hunks of the diff, without what stands before them; empty where there are none. Those of a file that goes, as
    /// this one takes its place, are left out.
    pub(super) fn hunks(&self) -> &str {
        let own = self.diff.rfind("\ndiff --git ").unwrap_or_default();
        match self.diff[own..].find("\n@@ ") {
            Some(at) => &self.diff[own + at + 1..],
            None => "",
        }
    }

    /// The 1-based line of the new file in which the first hunk begins.
    pub(super) fn first_line(&self) -> Option<u32> {
        let hunks = self.hunks();
        let range = hunks[hunks.find('+')? + 1..].split([',', ' ']).next()?;
        range.parse().ok().filter(|&line| line > 0)
    }

    /// How many lines are inserted, and how many deleted.
    pub(super) fn line_counts(&self) -> (usize, usize) {
        line_counts(self.diff.as_bytes())
    }
}
