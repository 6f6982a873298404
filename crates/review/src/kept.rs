//! Decisions and notes, kept until a review is done.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use fs_guard::Error;
use patch_engine::commit::Workspace;
use patch_session::{DECISIONS, REVIEWS};
use serde::{Deserialize, Serialize};

use crate::choices::{Choice, Choices};
use crate::review::Review;

/// The longest file of decisions, in bytes.
const MAX_SIZE: u64 = 8 << 20;

/// The most notes to keep, the newest ones.
const MAX_NOTES: usize = 1000;

/// A person's decision about a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// The hunk stays.
    Keep,
    /// The hunk is reverted.
    Revert,
    /// The shown lines of the file become these bytes.
    Replace(Vec<u8>),
}

impl Decision {
    /// Returns its name.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Revert => "revert",
            Self::Replace(_) => "replace",
        }
    }
}

/// A remark about a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The hunk.
    pub hunk: String,
    /// The path, after the transactions.
    pub path: String,
    /// The first line that the hunk changes, in the file as it was when the note was written; 0 for
    /// a change of the file as a whole.
    pub line: usize,
    /// The hunk in the form of a diff.
    pub diff: String,
    /// The person's words.
    pub words: String,
    /// The time of writing, in seconds since 1970.
    pub at: u64,
}

/// The decisions and notes of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Kept {
    /// The decisions, by the id of the hunk.
    pub decisions: BTreeMap<String, Decision>,
    /// The notes, the oldest first.
    pub notes: Vec<Note>,
}

impl Kept {
    /// Reads what is kept. What cannot be read as such counts as nothing.
    ///
    /// # Errors
    ///
    /// When the state directory cannot be read, or is not trusted.
    pub fn read(workspace: &Workspace) -> Result<Self, Error> {
        let Some(state) = workspace.state_dir()? else { return Ok(Self::default()) };
        let Some(folder) = state.open_dir(REVIEWS)? else { return Ok(Self::default()) };
        match folder.spot(DECISIONS).read(MAX_SIZE) {
            Ok((bytes, _)) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(Error::NotFound { .. } | Error::NotAFile { .. } | Error::TooLarge { .. }) => {
                Ok(Self::default())
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the decisions down.
    ///
    /// # Errors
    ///
    /// When the state directory cannot be written.
    pub fn write(&mut self, workspace: &Workspace) -> Result<(), Error> {
        let surplus = self.notes.len().saturating_sub(MAX_NOTES);
        self.notes.drain(..surplus);
        let text = serde_json::to_vec(self).expect("plain data is JSON");
        let folder = workspace.create_state_dir()?.open_or_create_dir(REVIEWS)?;
        folder.spot(DECISIONS).write(&text, false)
    }

    /// Returns the decisions about hunks still standing.
    #[must_use]
    pub fn choices(&self, review: &Review) -> Choices {
        let mut choices = Choices::default();
        for hunk in review.standing() {
            match self.decisions.get(&hunk.id) {
                None | Some(Decision::Keep) => {}
                Some(Decision::Revert) => choices.set(&hunk.id, Choice::Revert),
                Some(Decision::Replace(text)) => {
                    choices.set(&hunk.id, Choice::Replace(text.clone()));
                }
            }
        }
        choices
    }

    /// Forgets the decisions about the hunks of a review, when done or begun again.
    pub fn forget(&mut self, review: &Review) {
        for hunk in review.hunks() {
            self.decisions.remove(&hunk.id);
        }
    }

    /// Removes the notes on a hunk, and returns how many there were.
    pub fn remove_notes(&mut self, hunk: &str) -> usize {
        let before = self.notes.len();
        self.notes.retain(|note| note.hunk != hunk);
        before - self.notes.len()
    }

    /// Adds a note.
    pub fn note(&mut self, hunk: &str, path: &str, diff: &[u8], words: &str) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.notes.push(Note {
            hunk: hunk.to_owned(),
            path: path.to_owned(),
            line: first_changed_line(diff),
            diff: String::from_utf8_lossy(diff).into_owned(),
            words: words.to_owned(),
            at: since.as_secs(),
        });
    }
}

/// Returns the first changed line of a hunk, by the numbers of the file after the change.
fn first_changed_line(diff: &[u8]) -> usize {
    let mut lines = diff.split(|&byte| byte == b'\n');
    let header = String::from_utf8_lossy(lines.next().unwrap_or_default());
    let new = header.split(" +").nth(1).and_then(|rest| rest.split([',', ' ']).next());
    let first: usize = new.and_then(|number| number.parse().ok()).unwrap_or(0);
    first + lines.take_while(|line| line.starts_with(b" ")).count()
}
