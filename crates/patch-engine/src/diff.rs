//! Unified diffs in git's form, of one change or a whole plan.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::edit;
use crate::plan::{Change, Operation, Plan};
use crate::transition::{Content, PostImage, Splice};

/// How many lines of context a diff shows.
const CONTEXT: usize = 3;

impl Plan {
    /// The unified diff of one change, in git's form, so that `git apply` takes it.
    ///
    /// A file that is not text, or was not kept in memory, is named as binary.
    #[must_use]
    pub fn diff(&self, change: &Change) -> Vec<u8> {
        let transition = &self.transitions[change.transition];
        let before = self.pre_images.get(&change.path).map(|bytes| &bytes[..]);
        let after_path = change.to_path.as_ref().unwrap_or(&change.path);
        let mode = |mode: Option<u32>| if mode.unwrap_or(0o644) & 0o100 == 0 { "100644" } else { "100755" };
        let mut out =
            format!("diff --git {} {}\n", quoted("a/", change.path.as_str()), quoted("b/", after_path.as_str()));
        match change.operation {
            Operation::Create => {
                out += &format!("new file mode {}\n", mode(transition.after.as_ref().and_then(|after| after.mode)));
            }
            Operation::Delete => {
                out += &format!(
                    "deleted file mode {}\n",
                    mode(transition.before.as_ref().map(|before| before.metadata.mode))
                );
            }
            Operation::Move => {
                out += &format!(
                    "rename from {}\nrename to {}\n",
                    quoted("", change.path.as_str()),
                    quoted("", after_path.as_str())
                );
            }
            Operation::Update => {}
        }
        let mut out = out.into_bytes();
        if change.before == change.after {
            return out;
        }
        let name =
            |side: &str, path: &str, present: bool| if present { quoted(side, path) } else { "/dev/null".into() };
        let old_name = name("a/", change.path.as_str(), change.operation != Operation::Create);
        let new_name = name("b/", after_path.as_str(), change.operation != Operation::Delete);
        let body = match (&transition.after, before) {
            (Some(PostImage { content: Content::Spliced { source, splices }, .. }), _) => spliced(source, splices),
            (Some(PostImage { content: Content::Bytes(after), .. }), before) => {
                whole(before.unwrap_or_default(), after)
            }
            (None, Some(before)) => whole(before, b""),
            _ => None,
        };
        match body {
            Some(body) if !body.is_empty() => {
                out.extend_from_slice(format!("--- {old_name}\n+++ {new_name}\n").as_bytes());
                out.extend_from_slice(&body);
            }
            Some(_) => {}
            None => out.extend_from_slice(format!("Binary files {old_name} and {new_name} differ\n").as_bytes()),
        }
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

/// A path as git writes it: in quotes, with escapes, when it has characters that would confuse.
fn quoted(side: &str, path: &str) -> String {
    if path.bytes().all(|byte| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\') {
        return format!("{side}{path}");
    }
    let mut out = format!("\"{side}");
    for byte in path.bytes() {
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
    let (old, new) = (lines(before), lines(after));
    let mut out = Vec::new();
    write_hunks(&mut out, &old, &new, 0, 0);
    Some(out)
}

/// The hunks of an edit: each stretch of neighbouring splices is compared on its own, so that the
/// rest of a large file is only counted.
fn spliced(source: &[u8], splices: &[Splice]) -> Option<Vec<u8>> {
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

/// Writes hunks with line numbers that count on from `old_from` and `new_from`.
fn write_hunks(out: &mut Vec<u8>, old: &[&[u8]], new: &[&[u8]], old_from: usize, new_from: usize) {
    let ops = capture_diff_slices(Algorithm::Myers, old, new);
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
