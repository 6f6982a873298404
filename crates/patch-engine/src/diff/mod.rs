//! Unified diffs in git's form, of one change or a whole plan.

mod hunks;

use fs_guard::Sha256;
use workspace_trash::FileState;

use crate::options::MAX_FILE_SIZE;
use crate::plan::{Change, Operation, Plan};
use crate::transaction::{self, LogEntry, Workspace};
use crate::transition::{Content, Splice};
use crate::turn_diff::LINK;

use hunks::write_spliced;
pub(crate) use hunks::{spliced, whole};

/// Whether a file is no text: a NUL byte in its first 8 KiB, as for git.
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(8 << 10)]).is_some()
}

/// One side of a diff of one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) path: &'a str,
    /// Permission bits, and the type bits of a symbolic link.
    pub(crate) mode: u32,
}

/// The mode of a file as git has it: of the permissions only whether the owner may run it.
pub(crate) fn git_mode(mode: u32) -> &'static str {
    match mode {
        _ if mode & LINK == LINK => "120000",
        _ if mode & 0o100 == 0 => "100644",
        _ => "100755",
    }
}

/// What stands before the paths: of the old side, of the new side, and where a rename is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prefixes<'a> {
    old: &'a str,
    new: &'a str,
    rename: &'a str,
}

/// As git has it.
pub(crate) const GIT: Prefixes<'static> = Prefixes { old: "a/", new: "b/", rename: "" };

/// Writes the lines of git's form that stand before the hunks.
pub(crate) fn header(
    out: &mut Vec<u8>,
    prefixes: Prefixes<'_>,
    old: Option<Side<'_>>,
    new: Option<Side<'_>>,
    same_bytes: bool,
) {
    let mode = |side: Side<'_>| git_mode(side.mode);
    let (Some(left), Some(right)) = (old.or(new), new.or(old)) else { return };
    out.extend_from_slice(b"diff --git ");
    push_quoted(out, prefixes.old, left.path);
    out.push(b' ');
    push_quoted(out, prefixes.new, right.path);
    out.push(b'\n');
    match (old, new) {
        (None, Some(new)) => push_line(out, "new file mode ", mode(new)),
        (Some(old), None) => push_line(out, "deleted file mode ", mode(old)),
        (Some(old), Some(new)) => {
            if mode(old) != mode(new) {
                push_line(out, "old mode ", mode(old));
                push_line(out, "new mode ", mode(new));
            }
            if old.path != new.path {
                if same_bytes {
                    push_line(out, "similarity index ", "100%");
                }
                for (word, side) in [("rename from ", old), ("rename to ", new)] {
                    out.extend_from_slice(word.as_bytes());
                    push_quoted(out, prefixes.rename, side.path);
                    out.push(b'\n');
                }
            }
        }
        (None, None) => {}
    }
}

/// Writes the names of one file, and its hunks, which `hunks` writes if they can be shown.
pub(crate) fn body(
    out: &mut Vec<u8>,
    prefixes: Prefixes<'_>,
    old: Option<Side<'_>>,
    new: Option<Side<'_>>,
    hunks: impl FnOnce(&mut Vec<u8>) -> Option<()>,
) {
    let name = |out: &mut Vec<u8>, prefix: &str, side: Option<Side<'_>>| match side {
        Some(side) => push_quoted(out, prefix, side.path),
        None => out.extend_from_slice(b"/dev/null"),
    };
    let from = out.len();
    out.extend_from_slice(b"--- ");
    name(out, prefixes.old, old);
    out.extend_from_slice(b"\n+++ ");
    name(out, prefixes.new, new);
    out.push(b'\n');
    let named = out.len();
    match hunks(out) {
        Some(()) if out.len() > named => {}
        Some(()) => out.truncate(from),
        None => {
            out.truncate(from);
            out.extend_from_slice(b"Binary files ");
            name(out, prefixes.old, old);
            out.extend_from_slice(b" and ");
            name(out, prefixes.new, new);
            out.extend_from_slice(b" differ\n");
        }
    }
}

/// What the hunks of a change are made of.
enum Hunks<'p> {
    Spliced(&'p [u8], &'p [Splice]),
    /// Made while planning; `None` for a file that is not text.
    Made(Option<&'p [u8]>),
    /// Of all bytes before and after.
    Whole(&'p [u8], &'p [u8]),
}

impl Hunks<'_> {
    /// Writes them; `None` when they cannot be shown.
    fn write(&self, out: &mut Vec<u8>) -> Option<()> {
        match *self {
            Hunks::Spliced(source, splices) => write_spliced(out, source, splices),
            Hunks::Made(hunks) => {
                out.extend_from_slice(hunks?);
                Some(())
            }
            Hunks::Whole(before, after) => whole(out, before, after),
        }
    }
}

impl Plan {
    /// The unified diff of one change, in git's form, so that `git apply` takes it.
    ///
    /// A file that is not text, or was not kept in memory, is named as binary.
    #[must_use]
    pub fn diff(&self, change: &Change) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_diff(change, &mut out);
        out
    }

    /// Appends the same diff to `out`.
    pub fn write_diff(&self, change: &Change, out: &mut Vec<u8>) {
        self.write_named(change, GIT, out);
    }

    /// The same diff with `prefix`, a directory and its `/`, before all paths and nothing else.
    #[must_use]
    pub fn diff_beneath(&self, change: &Change, prefix: &str) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_named(change, Prefixes { old: prefix, new: prefix, rename: prefix }, &mut out);
        out
    }

    fn write_named(&self, change: &Change, prefixes: Prefixes<'_>, out: &mut Vec<u8>) {
        let transition = &self.transitions[change.transition];
        let new_path = change.to_path.as_ref().unwrap_or(&change.path);
        let old_mode = match change.operation {
            Operation::Move => transition.after.as_ref().and_then(|after| after.mode),
            _ => transition.before.as_ref().map(|before| before.metadata.mode),
        };
        let old = Side { path: change.path.as_str(), mode: old_mode.unwrap_or(0o644) };
        let new_mode = transition.after.as_ref().and_then(|after| after.mode);
        let new = Side { path: new_path.as_str(), mode: new_mode.unwrap_or(0o644) };
        let old = (change.operation != Operation::Create).then_some(old);
        let new = (change.operation != Operation::Delete).then_some(new);
        header(out, prefixes, old, new, change.before == change.after);
        if change.before != change.after {
            body(out, prefixes, old, new, |out| self.hunks(change)?.write(out));
        }
    }

    /// A length that the diff of a change has at least, as far as it is told without making it.
    #[must_use]
    pub fn least_diff(&self, change: &Change) -> usize {
        match self.hunks(change) {
            _ if change.before == change.after => 0,
            Some(Hunks::Whole(b"", bytes) | Hunks::Whole(bytes, b"")) if !is_binary(bytes) => bytes.len(),
            _ => 0,
        }
    }

    /// What the hunks of a change are made of; `None` when the bytes are not in memory.
    fn hunks(&self, change: &Change) -> Option<Hunks<'_>> {
        let transition = &self.transitions[change.transition];
        let before = || self.pre_images.get(&change.path).map(|bytes| &bytes[..]);
        match &transition.after {
            Some(after) => match &after.content {
                Content::Spliced { source, splices } => Some(Hunks::Spliced(source, splices)),
                Content::SplicedFrom { hunks, .. } => Some(Hunks::Made(hunks.as_deref())),
                Content::Bytes(after) => Some(Hunks::Whole(before().unwrap_or_default(), after)),
                Content::Stored { .. } => {
                    let before = if transition.before.is_some() { before()? } else { b"" };
                    let new_path = change.to_path.as_ref().unwrap_or(&change.path);
                    Some(Hunks::Whole(before, self.stored.get(new_path)?))
                }
                Content::CopyOf(_) => None,
            },
            None => Some(Hunks::Whole(before()?, b"")),
        }
    }

    /// The unified diffs of all changes.
    #[must_use]
    pub fn diffs(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.changes.iter().for_each(|change| self.write_diff(change, &mut out));
        out
    }

    /// How many lines a change inserts and deletes.
    #[must_use]
    pub fn line_counts(&self, change: &Change) -> (usize, usize) {
        let diff = self.diff(change);
        let body = diff.split(|&byte| byte == b'\n').skip_while(|line| !line.starts_with(b"@@"));
        let (mut inserted, mut deleted) = (0, 0);
        for line in body {
            match line.first() {
                Some(b'+') => inserted += 1,
                Some(b'-') => deleted += 1,
                _ => {}
            }
        }
        (inserted, deleted)
    }
}

impl Workspace {
    /// The unified diff of what a finished transaction did, as far as its bytes are still known: what
    /// was there before is in the store, what came after is in the file itself or was displaced by a
    /// later transaction.
    ///
    /// # Errors
    ///
    /// When the store or a file cannot be read.
    pub fn transaction_diff(&self, entry: &LogEntry) -> Result<Vec<u8>, transaction::Error> {
        let Some(store) = self.store()? else { return Ok(Vec::new()) };
        let (kept, _) = store.entries()?;
        let id = entry.journal.header.id;
        let mut out = Vec::new();
        for record in &entry.journal.records {
            let state =
                |state: &Option<FileState>| state.as_ref().map(|state| Side { path: &record.path, mode: state.mode });
            let (old, new) = (state(&record.before), state(&record.after));
            let before = match &record.before {
                Some(state) if state.size <= MAX_FILE_SIZE => {
                    store.slot(id, record.slot)?.read(MAX_FILE_SIZE).ok().map(|(bytes, _)| bytes)
                }
                _ => None,
            };
            let after = match &record.after {
                Some(state) => {
                    let own = || {
                        let path = self.root().check_recorded(&record.path, true).ok()?;
                        self.root().read(&path, MAX_FILE_SIZE).ok().map(|(bytes, _)| bytes)
                    };
                    let displaced = || {
                        let entry = kept.iter().find(|entry| entry.sha256 == state.sha256)?;
                        let spot = store.slot(entry.id, entry.slot).ok()?;
                        spot.read(MAX_FILE_SIZE).ok().map(|(bytes, _)| bytes)
                    };
                    own().filter(|bytes| Sha256::of(bytes) == state.sha256).or_else(displaced)
                }
                None => Some(Vec::new()),
            };
            let same =
                record.before.as_ref().map(|state| state.sha256) == record.after.as_ref().map(|state| state.sha256);
            header(&mut out, GIT, old, new, same);
            if !same {
                let before = if record.before.is_some() { before } else { Some(Vec::new()) };
                body(&mut out, GIT, old, new, |out| whole(out, &before?, &after?));
            }
        }
        Ok(out)
    }
}

fn push_line(out: &mut Vec<u8>, words: &str, value: &str) {
    out.extend_from_slice(words.as_bytes());
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}

/// Writes a path as git does: in quotes, with escapes, when it has characters that would confuse.
fn push_quoted(out: &mut Vec<u8>, prefix: &str, path: &str) {
    let plain = |byte: &u8| (0x20..0x7f).contains(byte) && !matches!(byte, b'"' | b'\\');
    if prefix.as_bytes().iter().all(plain) && path.as_bytes().iter().all(plain) {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(path.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in prefix.bytes().chain(path.bytes()) {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            0x20..0x7f => out.push(byte),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'"');
}
