//! The hunks of unified diffs.

mod functions;

use std::io::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use patch_grammar::binary::is_binary;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_deadline, group_diff_ops};

use crate::text::lines::split;
use crate::text::splices::Splice;
use functions::Functions;

/// How many lines of context a diff shows.
const CONTEXT: usize = 3;

/// How long lines are compared for the smallest diff.
const DIFF_TIME: Duration = Duration::from_secs(1);

/// Fewer lines are compared quickly, however they differ.
const LINES_WORTH_A_CLOCK: usize = 1000;

/// Writes the hunks between two files; `None` when one is binary.
pub fn whole(out: &mut Vec<u8>, before: &[u8], after: &[u8]) -> Option<()> {
    if is_binary(before) || is_binary(after) {
        return None;
    }
    match (before, after) {
        (b"", b"") => {}
        (b"", added) => one_sided(out, b'+', added),
        (gone, b"") => one_sided(out, b'-', gone),
        _ => {
            write_hunks(
                out,
                &mut Functions::new(before),
                &HunkSide { lines: &lines(before), from: 0 },
                &HunkSide { lines: &lines(after), from: 0 },
                0,
                0,
            );
        }
    }
    Some(())
}

/// Writes one hunk: a stretch of lines of a file before and after a change. `file` is the file
/// after the change, `at` the place of the stretch in it, `old` what the stretch was, and `old_line`
/// how many lines of the file before stand above it.
pub fn stretch(out: &mut Vec<u8>, file: &[u8], at: Range<usize>, old: &[u8], old_line: usize) {
    let new_line = memchr::memchr_iter(b'\n', &file[..at.start]).count();
    let mut functions = Functions::new(file);
    functions.seek(at.start);
    let old_lines = lines(old);
    let new_lines = lines(&file[at]);
    let ops = compared(&old_lines, 0..old_lines.len(), &new_lines, 0..new_lines.len());
    let old_range = HunkRange { before: old_line, count: old_lines.len() };
    let new_range = HunkRange { before: new_line, count: new_lines.len() };
    hunk_header(out, old_range, new_range, functions.above());
    write_ops(out, &ops, &old_lines, &new_lines);
}

/// Returns the lines in which two files differ, as replacements in the first.
#[must_use]
pub fn splices(before: &[u8], after: &[u8]) -> Vec<Splice> {
    let old = lines(before);
    let new = lines(after);
    let mut splices: Vec<Splice> = Vec::new();
    let mut old_at = 0;
    let mut new_at = 0;
    let ops = compared(&old, 0..old.len(), &new, 0..new.len());
    for op in ops {
        let old_end = old_at + byte_count(&old[op.old_range()]);
        let new_end = new_at + byte_count(&new[op.new_range()]);
        let text = &after[new_at..new_end];
        match splices.last_mut().filter(|last| last.end == old_at) {
            _ if matches!(op, DiffOp::Equal { .. }) => {}
            Some(last) => {
                last.end = old_end;
                last.text.extend_from_slice(text);
            }
            None => splices.push(Splice { start: old_at, end: old_end, text: text.to_vec() }),
        }
        old_at = old_end;
        new_at = new_end;
    }
    splices
}

fn byte_count(lines: &[&[u8]]) -> usize {
    lines.iter().map(|line| line.len()).sum()
}

/// Returns the ranges that differ between two texts, given as their lines or words: old ranges, and
/// the new ones in their place. For large texts with nothing in common, the ranges may be larger
/// than needed.
#[must_use]
pub fn changed_ranges(old: &[&[u8]], new: &[&[u8]]) -> Vec<(Range<usize>, Range<usize>)> {
    let ops = compared(old, 0..old.len(), new, 0..new.len()).into_iter();
    let ops = ops.map(|op| op.as_tag_tuple()).filter(|(tag, ..)| *tag != DiffTag::Equal);
    ops.map(|(_, old, new)| (old, new)).collect()
}

/// Compares lines. After a deadline the result is still right, but coarser: a large file that has
/// nothing in common with its old version would take minutes otherwise.
fn compared(
    old: &[&[u8]],
    old_range: Range<usize>,
    new: &[&[u8]],
    new_range: Range<usize>,
) -> Vec<DiffOp> {
    // There is no clock in a browser.
    let large = old.len() + new.len() > LINES_WORTH_A_CLOCK && !cfg!(target_family = "wasm");
    let deadline = large.then(|| Instant::now() + DIFF_TIME);
    capture_diff_deadline(Algorithm::Myers, old, old_range, new, new_range, deadline)
}

/// Writes the hunks of an edit: each stretch of neighbouring splices is compared on its own, so
/// that the rest of a large file is only counted.
///
/// The lines around a stretch are always its context. A comparison could take them for inserted
/// lines, and the hunk would have no context below, as if the file ended there.
pub fn write_spliced(out: &mut Vec<u8>, source: &[u8], splices: &[Splice]) -> Option<()> {
    if is_binary(source) {
        return None;
    }
    let mut stretches: Vec<(Range<usize>, Range<usize>)> = Vec::with_capacity(splices.len());
    for (index, splice) in splices.iter().enumerate() {
        let around = back(source, splice.start, CONTEXT)..forth(source, splice.end, CONTEXT);
        match stretches.last_mut() {
            Some((bytes, indices)) if around.start <= bytes.end => {
                bytes.end = around.end.max(bytes.end);
                indices.end = index + 1;
            }
            _ => stretches.push((around, index..index + 1)),
        }
    }
    let mut counted = 0;
    let mut line = 0;
    let mut shift = 0;
    let mut functions = Functions::new(source);
    let mut after = Vec::new();
    for (bytes, indices) in stretches {
        line += memchr::memchr_iter(b'\n', &source[counted..bytes.start]).count();
        counted = bytes.start;
        after.clear();
        let first = splices[indices.start].start;
        let mut from = bytes.start;
        for splice in &splices[indices] {
            after.extend_from_slice(&source[from..splice.start]);
            after.extend_from_slice(&splice.text);
            from = splice.end;
        }
        after.extend_from_slice(&source[from..bytes.end]);
        let above = lines(&source[bytes.start..back(source, first, 0)]).len();
        let below = lines(&source[forth(source, from, 0)..bytes.end]).len();
        let old = lines(&source[bytes]);
        let new = lines(&after);
        let new_from = (line as isize + shift) as usize;
        functions.seek(counted);
        write_hunks(
            out,
            &mut functions,
            &HunkSide { lines: &old, from: line },
            &HunkSide { lines: &new, from: new_from },
            above,
            below,
        );
        shift += new.len() as isize - old.len() as isize;
    }
    Some(())
}

/// Returns the beginning of the line `count` lines above the one at `at`.
fn back(source: &[u8], at: usize, count: usize) -> usize {
    let mut ends = memchr::memrchr_iter(b'\n', &source[..at]);
    // The first line feed ends the line before, unless `at` is in the middle of a line.
    ends.nth(count).map_or(0, |end| end + 1)
}

/// Returns the end of the line `count` lines below the one that ends at `at`.
fn forth(source: &[u8], at: usize, count: usize) -> usize {
    memchr::memchr_iter(b'\n', &source[at..]).nth(count).map_or(source.len(), |end| at + end + 1)
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::with_capacity(16);
    lines.extend(split(bytes));
    lines
}

/// Writes the one hunk of a created or deleted file.
fn one_sided(out: &mut Vec<u8>, sign: u8, bytes: &[u8]) {
    let ends = memchr::memchr_iter(b'\n', bytes);
    let open = bytes.last() != Some(&b'\n');
    let count = ends.clone().count() + usize::from(open);
    out.reserve(bytes.len() + count + 64);
    let all = HunkRange { before: 0, count };
    let none = HunkRange { before: 0, count: 0 };
    let (old, new) = if sign == b'+' { (none, all) } else { (all, none) };
    hunk_header(out, old, new, b"");
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

/// The lines of one file that a hunk has.
#[derive(Clone, Copy)]
struct HunkRange {
    /// How many lines of the file are above the hunk.
    before: usize,
    count: usize,
}

/// Writes the header of a hunk: its range in both files, and the function that it is in.
fn hunk_header(out: &mut Vec<u8>, old: HunkRange, new: HunkRange, function: &[u8]) {
    out.extend_from_slice(b"@@ -");
    write_range(out, old);
    out.extend_from_slice(b" +");
    write_range(out, new);
    out.extend_from_slice(b" @@");
    if !function.is_empty() {
        out.push(b' ');
        out.extend_from_slice(function);
    }
    out.push(b'\n');
}

fn write_range(out: &mut Vec<u8>, HunkRange { before, count }: HunkRange) {
    let first = if count == 0 { before } else { before + 1 };
    match count {
        1 => write!(out, "{first}"),
        _ => write!(out, "{first},{count}"),
    }
    .expect("a vector takes all writes");
}

/// Lines of a file, and how many stand before them.
struct HunkSide<'s> {
    lines: &'s [&'s [u8]],
    from: usize,
}

/// Writes hunks. The first `above` and the last `below` lines are the same on both sides.
/// `functions` are at the first old line.
fn write_hunks(
    out: &mut Vec<u8>,
    functions: &mut Functions<'_>,
    old: &HunkSide<'_>,
    new: &HunkSide<'_>,
    above: usize,
    below: usize,
) {
    let HunkSide { lines: old, from: old_from } = old;
    let HunkSide { lines: new, from: new_from } = new;
    let old_end = old.len() - below;
    let new_end = new.len() - below;
    let mut ops = compared(old, above..old_end, new, above..new_end);
    widen(&mut ops, above, below, old_end, new_end);
    let mut passed = 0;
    for group in group_diff_ops(ops, CONTEXT) {
        let Some(first) = group.first() else { continue };
        let Some(last) = group.last() else { continue };
        let old_range = hunk_range(*old_from, first.old_range(), last.old_range());
        let new_range = hunk_range(*new_from, first.new_range(), last.new_range());
        let line = first.old_range().start;
        functions.pass(&old[std::mem::replace(&mut passed, line)..line]);
        hunk_header(out, old_range, new_range, functions.above());
        write_ops(out, &group, old, new);
    }
}

/// Writes the lines of a hunk.
fn write_ops(out: &mut Vec<u8>, ops: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) {
    for op in ops {
        let (tag, old_lines, new_lines) = op.as_tag_tuple();
        match tag {
            DiffTag::Equal => write_lines(out, b' ', &old[old_lines]),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                write_lines(out, b'-', &old[old_lines]);
                write_lines(out, b'+', &new[new_lines]);
            }
        }
    }
}

/// Returns the range of a hunk by its first and its last operation, with `from` lines above all.
fn hunk_range(from: usize, first: Range<usize>, last: Range<usize>) -> HunkRange {
    HunkRange { before: from + first.start, count: last.end - first.start }
}

/// Writes lines of a hunk, each with its sign.
fn write_lines(out: &mut Vec<u8>, sign: u8, lines: &[&[u8]]) {
    for line in lines {
        out.push(sign);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// Adds the lines above and below the compared ones, which end at `old_end` and `new_end`.
fn widen(ops: &mut Vec<DiffOp>, above: usize, below: usize, old_end: usize, new_end: usize) {
    match ops.first_mut() {
        Some(DiffOp::Equal { old_index, new_index, len }) => {
            *old_index = 0;
            *new_index = 0;
            *len += above;
        }
        _ => ops.insert(0, DiffOp::Equal { old_index: 0, new_index: 0, len: above }),
    }
    match ops.last_mut() {
        Some(DiffOp::Equal { len, .. }) => *len += below,
        _ => ops.push(DiffOp::Equal { old_index: old_end, new_index: new_end, len: below }),
    }
}
