//! A review: the net changes of several transactions, in the files as they are now.

use std::collections::HashSet;
use std::path::Path;

use patch_engine::commit::{self, LogEntry};
use patch_engine::{ErrorKind, TurnDiff};
use patch_session::{FailureClass, NetChanges, Session, ToolError};

use crate::file::ReviewFile;
use crate::hunk::{HunkState, ReviewHunk};

/// The net changes of several transactions, hunk by hunk, in the files as they are now.
#[derive(Debug)]
#[non_exhaustive]
pub struct Review {
    /// The net changes.
    pub net: NetChanges,
    /// The changed files with their hunks.
    pub files: Vec<ReviewFile>,
    /// The files before and after.
    pub(crate) turn: TurnDiff,
}

impl Review {
    /// Makes a review of transactions, the newest first. Those whose changes do not stand any more
    /// are left out.
    ///
    /// The bytes of every changed file are held in memory: before, after and now.
    ///
    /// # Errors
    ///
    /// When the history cannot be read. A file that cannot be read makes its hunks
    /// [unknown](HunkState::Unknown).
    pub fn new(session: &Session, newest_first: &[LogEntry]) -> Result<Self, commit::Error> {
        let found = session.net_changes(newest_first)?;
        let root = session.workspace().root();
        let pairs = found.turn.files();
        let left: HashSet<String> =
            pairs.iter().filter_map(|(_, after)| Some(after.as_ref()?.path.clone())).collect();
        let files = pairs.into_iter().map(|pair| ReviewFile::new(root, pair, &left)).collect();
        Ok(Self { net: found.data, files, turn: found.turn })
    }

    /// Leaves only the files at these paths, or beneath them.
    pub fn only(&mut self, paths: &[String]) {
        let is_beneath = |path: &str| paths.iter().any(|one| Path::new(path).starts_with(one));
        let is_wanted =
            |path: &str, to_path: Option<&str>| is_beneath(path) || to_path.is_some_and(is_beneath);
        self.files.retain(|file| is_wanted(&file.path, file.to_path.as_deref()));
        self.net.changed_files.retain(|file| is_wanted(&file.path, file.to_path.as_deref()));
        self.net.changed_between.retain(|change| is_beneath(&change.path));
        self.turn.only(&is_beneath);
        self.net.diff = String::from_utf8_lossy(&self.turn.diff()).into_owned();
    }

    /// Returns all hunks.
    pub fn hunks(&self) -> impl Iterator<Item = &ReviewHunk> {
        self.files.iter().flat_map(|file| &file.hunks)
    }

    /// Returns the hunks standing in the current files, which can be reverted.
    pub fn standing(&self) -> impl Iterator<Item = &ReviewHunk> {
        self.hunks().filter(|hunk| hunk.state == HunkState::Standing)
    }

    /// Finds a hunk by its id, or the beginning of the id.
    ///
    /// # Errors
    ///
    /// When there is no such hunk, or there are several.
    pub fn named(&self, id: &str) -> Result<&ReviewHunk, ToolError> {
        let found = self.hunks().filter(|hunk| id.len() > 2 && hunk.id.starts_with(id));
        let found: Vec<_> = found.collect();
        match &found[..] {
            [hunk] => Ok(hunk),
            [] => Err(ToolError::new(
                FailureClass::DoesNotApply,
                ErrorKind::NotFound,
                format!(
                    "there is no hunk {id:?} in this review; `apply-patch review -n` lists them"
                ),
            )),
            several => {
                let ids: Vec<_> = several.iter().map(|hunk| &*hunk.id).collect();
                let message = format!("{id:?} is the beginning of several: {}", ids.join(", "));
                Err(ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message))
            }
        }
    }

    /// Finds a hunk to revert.
    ///
    /// # Errors
    ///
    /// Those of [`named`](Self::named), and when the hunk does not stand in the current file.
    pub fn find(&self, id: &str) -> Result<&ReviewHunk, ToolError> {
        let hunk = self.named(id)?;
        let (class, kind, why) = match hunk.state {
            HunkState::Standing => return Ok(hunk),
            HunkState::Reverted => {
                (FailureClass::DoesNotApply, ErrorKind::NotFound, "is reverted already")
            }
            HunkState::Changed => (
                FailureClass::Stale,
                ErrorKind::StaleFile,
                "was changed since; edit the file by hand",
            ),
            HunkState::Unknown => (
                FailureClass::DoesNotApply,
                ErrorKind::NotFound,
                "cannot be reverted: its bytes are not kept any more, or the file cannot be read",
            ),
        };
        Err(ToolError::new(class, kind, format!("hunk {} {why}", hunk.id)))
    }
}
