//! Unified diffs in git's form, of one change or a whole plan.

use std::ops::Range;
use std::time::{Duration, Instant};

use fs_guard::Sha256;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};
use workspace_trash::FileState;

use crate::edit;
use crate::options::MAX_FILE_SIZE;
use crate::plan::{Change, Operation, Plan};
use crate::transaction::{self, LogEntry, Workspace};
use crate::transition::{Content, PostImage, Splice};
use crate::turn_diff::LINK;

/// How many lines of context a diff shows.
const CONTEXT: usize = 3;

/// How long lines are compared for the smallest diff.
const DIFF_TIME: Duration = Duration::from_secs(1);

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

/// The lines of git's form that stand before the hunks.
pub(crate) fn header(
    prefixes: Prefixes<'_>,
    old: Option<Side<'_>>,
    new: Option<Side<'_>>,
    same_bytes: bool,
) -> Vec<u8> {
    let mode = |side: Side<'_>| git_mode(side.mode);
    let (Some(left), Some(right)) = (old.or(new), new.or(old)) else { return Vec::new() };
    let mut out = format!("diff --git {} {}\n", quoted(prefixes.old, left.path), quoted(prefixes.new, right.path));
    match (old, new) {
        (None, Some(new)) => out += &format!("new file mode {}\n", mode(new)),
        (Some(old), None) => out += &format!("deleted file mode {}\n", mode(old)),
        (Some(old), Some(new)) => {
            if mode(old) != mode(new) {
                out += &format!("old mode {}\nnew mode {}\n", mode(old), mode(new));
            }
            if old.path != new.path {
                if same_bytes {
                    out += "similarity index 100%\n";
                }
                let (from, to) = (quoted(prefixes.rename, old.path), quoted(prefixes.rename, new.path));
                out += &format!("rename from {from}\nrename to {to}\n");
            }
        }
        (None, None) => {}
    }
    out.into_bytes()
}

/// The names and hunks of one file; `None` for hunks that cannot be shown.
pub(crate) fn body(
    prefixes: Prefixes<'_>,
    out: &mut Vec<u8>,
    old: Option<Side<'_>>,
    new: Option<Side<'_>>,
    hunks: Option<Vec<u8>>,
) {
    let name =
        |prefix: &str, side: Option<Side<'_>>| side.map_or("/dev/null".to_owned(), |side| quoted(prefix, side.path));
    let (old, new) = (name(prefixes.old, old), name(prefixes.new, new));
    match hunks {
        Some(hunks) if hunks.is_empty() => {}
        Some(hunks) => {
            out.extend_from_slice(format!("--- {old}\n+++ {new}\n").as_bytes());
            out.extend_from_slice(&hunks);
        }
        None => out.extend_from_slice(format!("Binary files {old} and {new} differ\n").as_bytes()),
    }
}

impl Plan {
    /// The unified diff of one change, in git's form, so that `git apply` takes it.
    ///
    /// A file that is not text, or was not kept in memory, is named as binary.
    #[must_use]
    pub fn diff(&self, change: &Change) -> Vec<u8> {
        self.diff_named(change, GIT)
    }

    /// The same diff with `prefix`, a directory and its `/`, before all paths and nothing else.
    #[must_use]
    pub fn diff_beneath(&self, change: &Change, prefix: &str) -> Vec<u8> {
        self.diff_named(change, Prefixes { old: prefix, new: prefix, rename: prefix })
    }

    fn diff_named(&self, change: &Change, prefixes: Prefixes<'_>) -> Vec<u8> {
        let transition = &self.transitions[change.transition];
        let before = self.pre_images.get(&change.path).map(|bytes| &bytes[..]);
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
        let mut out = header(prefixes, old, new, change.before == change.after);
        if change.before == change.after {
            return out;
        }
        let hunks = match (&transition.after, before) {
            (Some(PostImage { content: Content::Spliced { source, splices }, .. }), _) => spliced(source, splices),
            (Some(PostImage { content: Content::SplicedFrom { hunks, .. }, .. }), _) => hunks.clone(),
            (Some(PostImage { content: Content::Bytes(after), .. }), before) => {
                whole(before.unwrap_or_default(), after)
            }
            (Some(PostImage { content: Content::Stored { .. }, .. }), before) => {
                let before = if transition.before.is_some() { before } else { Some(&b""[..]) };
                before.zip(self.stored.get(new_path)).and_then(|(before, after)| whole(before, after))
            }
            (None, Some(before)) => whole(before, b""),
            _ => None,
        };
        body(prefixes, &mut out, old, new, hunks);
        out
    }

    /// The unified diffs of all changes.
    #[must_use]
    pub fn diffs(&self) -> Vec<u8> {
        self.changes.iter().flat_map(|change| self.diff(change)).collect()
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
            out.extend(header(GIT, old, new, same));
            if !same {
                let before = if record.before.is_some() { before } else { Some(Vec::new()) };
                let hunks = before.zip(after).and_then(|(before, after)| whole(&before, &after));
                body(GIT, &mut out, old, new, hunks);
            }
        }
        Ok(out)
    }
}

/// A path as git writes it: in quotes, with escapes, when it has characters that would confuse.
fn quoted(prefix: &str, path: &str) -> String {
    if prefix.bytes().chain(path.bytes()).all(|byte| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\') {
        return format!("{prefix}{path}");
    }
    let mut out = String::from("\"");
    for byte in prefix.bytes().chain(path.bytes()) {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            0x20..0x7f => out.push(char::from(byte)),
            _ => out += &format!("\\{byte:03o}"),
        }
    }
    out + "\""
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8 << 10)].contains(&0)
}

/// The hunks between two files; `None` when one is binary.
pub(crate) fn whole(before: &[u8], after: &[u8]) -> Option<Vec<u8>> {
    if is_binary(before) || is_binary(after) {
        return None;
    }
    let mut out = Vec::new();
    match (before, after) {
        (b"", b"") => {}
        (b"", added) => one_sided(&mut out, b'+', added),
        (gone, b"") => one_sided(&mut out, b'-', gone),
        _ => write_hunks(&mut out, &lines(before), &lines(after), 0, 0),
    }
    Some(out)
}

/// The hunks of an edit: each stretch of neighbouring splices is compared on its own, so that the
/// rest of a large file is only counted.
pub(crate) fn spliced(source: &[u8], splices: &[Splice]) -> Option<Vec<u8>> {
    if is_binary(source) {
        return None;
    }
    let mut out = Vec::new();
    let mut stretches: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for (index, splice) in splices.iter().enumerate() {
        let around = back(source, splice.start, CONTEXT)..forth(source, splice.end, CONTEXT);
        match stretches.last_mut() {
            Some((bytes, indices)) if around.start <= bytes.end => {
                (bytes.end, indices.end) = (around.end.max(bytes.end), index + 1)
            }
            _ => stretches.push((around, index..index + 1)),
        }
    }
    let (mut counted, mut line, mut shift) = (0, 0, 0);
    for (bytes, indices) in stretches {
        line += memchr::memchr_iter(b'\n', &source[counted..bytes.start]).count();
        counted = bytes.start;
        let moved: Vec<Splice> = splices[indices]
            .iter()
            .map(|splice| Splice {
                start: splice.start - bytes.start,
                end: splice.end - bytes.start,
                text: splice.text.clone(),
            })
            .collect();
        let after = edit::splice(&source[bytes.clone()], &moved);
        let (old, new) = (lines(&source[bytes]), lines(&after));
        write_hunks(&mut out, &old, &new, line, (line as isize + shift) as usize);
        shift += new.len() as isize - old.len() as isize;
    }
    Some(out)
}

/// The beginning of the line that stands `count` lines before the one at `at`.
fn back(source: &[u8], at: usize, count: usize) -> usize {
    let mut ends = memchr::memrchr_iter(b'\n', &source[..at]);
    // The first line feed ends the line before, unless `at` is in the middle of a line.
    ends.nth(count).map_or(0, |end| end + 1)
}

/// The end of the line that stands `count` lines after the one that ends at `at`.
fn forth(source: &[u8], at: usize, count: usize) -> usize {
    memchr::memchr_iter(b'\n', &source[at..]).nth(count).map_or(source.len(), |end| at + end + 1)
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Writes the one hunk of a file that appears or goes away.
fn one_sided(out: &mut Vec<u8>, sign: u8, bytes: &[u8]) {
    let ends = memchr::memchr_iter(b'\n', bytes);
    let open = bytes.last() != Some(&b'\n');
    let count = ends.clone().count() + usize::from(open);
    let range = if count == 1 { "1".to_owned() } else { format!("1,{count}") };
    out.reserve(bytes.len() + count + 64);
    let header = if sign == b'+' { format!("@@ -0,0 +{range} @@\n") } else { format!("@@ -{range} +0,0 @@\n") };
    out.extend_from_slice(header.as_bytes());
    let mut from = 0;
    for end in ends.chain(open.then(|| bytes.len() - 1)) {
        out.push(sign);
        out.extend_from_slice(&bytes[from..=end]);
        from = end + 1;
    }
    if open {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// Writes hunks with line numbers that count on from `old_from` and `new_from`.
fn write_hunks(out: &mut Vec<u8>, old: &[&[u8]], new: &[&[u8]], old_from: usize, new_from: usize) {
    // Past the deadline the diff is right still, but coarser: a large file that has nothing in common
    // with its old version would take minutes otherwise.
    let deadline = Some(Instant::now() + DIFF_TIME);
    let ops = capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline);
    for group in group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let range = |from: usize, start: usize, end: usize| match end - start {
            0 => format!("{},0", from + start),
            1 => format!("{}", from + start + 1),
            len => format!("{},{len}", from + start + 1),
        };
        let old_range = range(old_from, first.old_range().start, last.old_range().end);
        let new_range = range(new_from, first.new_range().start, last.new_range().end);
        out.extend_from_slice(format!("@@ -{old_range} +{new_range} @@\n").as_bytes());
        for op in &group {
            let mut write = |sign: u8, lines: &[&[u8]]| {
                for line in lines {
                    out.push(sign);
                    out.extend_from_slice(line);
                    if !line.ends_with(b"\n") {
                        out.extend_from_slice(b"\n\\ No newline at end of file\n");
                    }
                }
            };
            match *op {
                DiffOp::Equal { old_index, len, .. } => write(b' ', &old[old_index..old_index + len]),
                DiffOp::Delete { old_index, old_len, .. } => write(b'-', &old[old_index..old_index + old_len]),
                DiffOp::Insert { new_index, new_len, .. } => write(b'+', &new[new_index..new_index + new_len]),
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    write(b'-', &old[old_index..old_index + old_len]);
                    write(b'+', &new[new_index..new_index + new_len]);
                }
            }
        }
    }
}
