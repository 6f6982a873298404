//! The hunks of one file.

use std::collections::HashSet;

use fs_guard::{Access, FileKind, Root, Sha256};
use patch_engine::{ChangeKind, FileVersion, MAX_FILE_SIZE, is_binary};

use crate::found;
use crate::hunk::{HunkKind, HunkState, ReviewHunk};

/// The changes of one file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReviewFile {
    /// The kind of the change as a whole.
    pub operation: ChangeKind,
    /// Its path before the transactions; for a created file, the path after.
    pub path: String,
    /// The new path of a move.
    pub to_path: Option<String>,
    /// Its hunks, in the order of the display.
    pub hunks: Vec<ReviewHunk>,
    /// The file before the transactions and after.
    pub(crate) versions: (Option<FileVersion>, Option<FileVersion>),
    /// The file at the time of the review.
    pub(crate) now: Option<NowFile>,
}

/// A file at present.
#[derive(Debug, Clone)]
pub(crate) struct NowFile {
    pub(crate) path: String,
    pub(crate) sha256: Sha256,
    pub(crate) bytes: Vec<u8>,
    pub(crate) executable: bool,
    pub(crate) link: bool,
}

impl NowFile {
    /// Looks at the file at a path; `None` where there is none.
    fn at(root: &Root, path: &str) -> Result<Option<Self>, fs_guard::Error> {
        let checked = root.check(path, Access::Read)?;
        let found = root.inspect_and_read(&checked, Access::Read, |_| true, MAX_FILE_SIZE);
        let (seen, bytes) = match found {
            Ok(Some(found)) => found,
            Ok(None) | Err(fs_guard::Error::NotFound { .. }) => return Ok(None),
            Err(fs_guard::Error::Symlink { .. }) => return Self::link(root, path),
            Err(error) => return Err(error),
        };
        if seen.kind == FileKind::Symlink {
            return Self::link(root, path);
        }
        let Some(bytes) = bytes else {
            return Err(fs_guard::Error::NotAFile { path: path.to_owned(), kind: seen.kind });
        };
        let executable = seen.kept_mode() & 0o100 != 0;
        let sha256 = Sha256::of(&bytes);
        Ok(Some(Self { path: path.to_owned(), sha256, bytes, executable, link: false }))
    }

    fn link(root: &Root, path: &str) -> Result<Option<Self>, fs_guard::Error> {
        let bytes = root.read_link(&root.check(path, Access::Read)?)?;
        let sha256 = Sha256::of(&bytes);
        Ok(Some(Self { path: path.to_owned(), sha256, bytes, executable: false, link: true }))
    }

    fn is(&self, version: &FileVersion) -> bool {
        self.link == version.link && self.sha256 == version.sha256
    }
}

impl ReviewFile {
    /// Looks for the changes of a file, from before the transactions to after them, in the file as
    /// it is now. One of the two is a file. `left` are the paths where the transactions left files.
    pub(crate) fn new(
        root: &Root,
        (before, after): (Option<FileVersion>, Option<FileVersion>),
        left: &HashSet<String>,
    ) -> Self {
        let (operation, path, to_path) = match (&before, &after) {
            (None, after) => (ChangeKind::Create, path_of(after.as_ref()), None),
            (Some(before), None) => (ChangeKind::Delete, before.path.clone(), None),
            (Some(before), Some(after)) if before.path != after.path => {
                (ChangeKind::Move, before.path.clone(), Some(after.path.clone()))
            }
            (Some(before), Some(_)) => (ChangeKind::Update, before.path.clone(), None),
        };
        let versions = (before, after);
        let mut file = Self { operation, path, to_path, hunks: Vec::new(), versions, now: None };
        let now = match file.look(root, left) {
            Ok(now) => now,
            Err(_) => {
                file.hunks.push(file.whole(HunkState::Unknown));
                return file;
            }
        };
        file.hunks = file.found(now.as_ref());
        file.now = now;
        file
    }

    /// Reads the file as it is now: a moved one where it went; or where it was, if no other one
    /// took its place.
    fn look(
        &self,
        root: &Root,
        left: &HashSet<String>,
    ) -> Result<Option<NowFile>, fs_guard::Error> {
        let Some(to) = &self.to_path else { return NowFile::at(root, &self.path) };
        match NowFile::at(root, to)? {
            None if !left.contains(&self.path) => NowFile::at(root, &self.path),
            moved => Ok(moved),
        }
    }

    /// Returns the path where the file is, or was left.
    pub(crate) fn place(&self) -> &str {
        let left = self.to_path.as_deref().unwrap_or(&self.path);
        self.now.as_ref().map_or(left, |now| &now.path)
    }

    fn found(&self, now: Option<&NowFile>) -> Vec<ReviewHunk> {
        match (&self.versions, now) {
            ((None, Some(after)), now) => {
                let state = match now {
                    None => HunkState::Reverted,
                    Some(now) if now.is(after) => HunkState::Standing,
                    Some(_) => HunkState::Changed,
                };
                vec![self.whole(state)]
            }
            ((Some(before), None), now) => {
                let state = match now {
                    None if before.bytes.is_none() => HunkState::Unknown,
                    None => HunkState::Standing,
                    Some(now) if now.is(before) => HunkState::Reverted,
                    Some(_) => HunkState::Changed,
                };
                vec![self.whole(state)]
            }
            ((Some(before), Some(after)), now) => self.parts(before, after, now),
            ((None, None), _) => Vec::new(),
        }
    }

    /// Returns the hunks of a file present before and after.
    fn parts(
        &self,
        before: &FileVersion,
        after: &FileVersion,
        now: Option<&NowFile>,
    ) -> Vec<ReviewHunk> {
        let mut hunks = Vec::new();
        if let Some(to) = &self.to_path {
            let state = match now {
                None => HunkState::Changed,
                Some(now) if now.path == *to => HunkState::Standing,
                Some(_) => HunkState::Reverted,
            };
            hunks.push(ReviewHunk::of_file(&self.path, HunkKind::Move, state, &[to.as_bytes()]));
        }
        let [was, is] = [before, after].map(|version| version.mode & 0o100 != 0);
        if was != is && !after.link {
            let state = match now {
                None => HunkState::Changed,
                Some(now) if now.executable == is => HunkState::Standing,
                Some(_) => HunkState::Reverted,
            };
            let mode: &[u8] = if is { b"+x" } else { b"-x" };
            hunks.push(ReviewHunk::of_file(&self.path, HunkKind::Mode, state, &[mode]));
        }
        if before.sha256 != after.sha256 {
            hunks.extend(self.of_bytes(before, after, now));
        }
        hunks
    }

    /// Returns the hunks of changed bytes.
    fn of_bytes(
        &self,
        before: &FileVersion,
        after: &FileVersion,
        now: Option<&NowFile>,
    ) -> Vec<ReviewHunk> {
        let (Some(old), Some(new)) = (&before.bytes, &after.bytes) else {
            return vec![self.whole(HunkState::Unknown)];
        };
        let Some(now) = now else { return vec![self.whole(HunkState::Changed)] };
        let is_text = !before.link && !after.link && !now.link;
        if is_text && ![&old[..], &new[..], &now.bytes].into_iter().any(is_binary) {
            return found::hunks(&self.path, old, new, &now.bytes);
        }
        let state = match now {
            now if now.is(after) => HunkState::Standing,
            now if now.is(before) => HunkState::Reverted,
            _ => HunkState::Changed,
        };
        vec![self.whole(state)]
    }

    /// Returns the one hunk of a file kept or reverted whole.
    fn whole(&self, state: HunkState) -> ReviewHunk {
        let kind = match self.operation {
            ChangeKind::Create => HunkKind::Create,
            ChangeKind::Delete => HunkKind::Delete,
            _ => HunkKind::Bytes,
        };
        let (before, after) = &self.versions;
        let hash =
            |version: &Option<FileVersion>| version.as_ref().map(|one| one.sha256.0.to_vec());
        let [old, new] = [before, after].map(hash).map(Option::unwrap_or_default);
        let mut hunk = ReviewHunk::of_file(&self.path, kind, state, &[&old, &new]);
        let text = match kind {
            HunkKind::Create => after.as_ref(),
            HunkKind::Delete => before.as_ref(),
            _ => None,
        };
        if let Some(bytes) = text.and_then(|version| version.bytes.as_ref()) {
            let none: &[u8] = b"";
            let (old, new) =
                if kind == HunkKind::Create { (none, &bytes[..]) } else { (&bytes[..], none) };
            // Of a binary file nothing is shown.
            let _ = patch_text::diff::whole(&mut hunk.diff, old, new);
        }
        hunk
    }
}

fn path_of(version: Option<&FileVersion>) -> String {
    version.map(|version| version.path.clone()).unwrap_or_default()
}
