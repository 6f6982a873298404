//! Carries an edit from the base, the file that the author of the edit saw, to the current file.
//!
//! The edit is a list of replacements in the base. Each change has a *footprint*: the removed
//! lines, or the gap of an insertion, and one more line on either side; at an end of the file, the
//! end itself. A change is carried only when every minimal alignment of base and current file keeps
//! the lines of the footprint side by side, and at the same place. There the change removes the
//! same bytes as in the base, and has the same neighbours.
//!
//! Minimal alignments may disagree about the footprint and still turn the current file into the
//! same text. If all do, and one of them keeps the footprint, the change is carried too
//! (`agreed.rs`).
//!
//! Otherwise, one more answer is certain. Take the nearest lines above and below that the edit
//! keeps and that all minimal alignments keep at one place. They enclose a stretch of the base and
//! a stretch of the current file. When the edit turns the first into the second, the change is
//! there already. Everything else is a conflict, and then nothing is carried.
//!
//! # Why it cannot misplace
//!
//! No record says which lines a file kept; an alignment is one possible history. Often there is
//! more than one minimal alignment: of two equal lines, either may be the new one. A tool that
//! picks one alignment guesses. Here a change needs all alignments to agree about its lines and
//! their neighbours. Then, whatever happened, these lines are the ones that the author saw, with
//! nothing inserted between them or taken away; or else the result is the same in every case. Line
//! numbers, similarity and the other context lines of a hunk decide nothing.
//!
//! One assumption remains: the file did not lose a block and get an equal block elsewhere. The
//! texts alone cannot show such a move, and every three-way merge makes the same assumption.
//!
//! # Lines
//!
//! Lines are compared as bytes, with their terminators. A line with CRLF in place of LF has
//! changed, and so has a last line with or without its line feed: a change beside such a line is a
//! conflict, and nothing is carried into a file whose line ends were all converted. Anything else
//! would have to choose the terminators of the new lines, and the base does not tell. A byte-order
//! mark belongs to the first line.
//!
//! # Limits
//!
//! When more than 8192 lines of both files together have no match in the first good alignment, the
//! files count as different, and nothing is certain about their lines. The same goes for files of 4
//! GiB, and for files so repetitive that the search would compare them many times over.

mod agreed;
mod alignment;
#[cfg(test)]
mod slowly;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use crate::locate::edit::Edit;
use crate::text::splices::Splices;
use agreed::{Replacement, agreed};
use alignment::{Run, certain};

/// An edit, carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The replacements in the current file, without the changes already there.
    pub splices: Splices,
    /// Where the hunks went, ascending, without hunks that change nothing.
    pub hunks: Vec<CarriedHunk>,
}

/// Where one hunk went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedHunk {
    /// The 0-based hunk.
    pub hunk: usize,
    /// The 1-based lines of the base that the hunk changes, with their neighbours.
    pub from: RangeInclusive<usize>,
    /// The 1-based lines of the current file where the hunk goes, or is already, with their
    /// neighbours.
    pub to: RangeInclusive<usize>,
    /// Whether the current file already has all changes of the hunk.
    pub already_there: bool,
}

/// A stretch of the base that may have been changed on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The 0-based hunks that change the stretch.
    pub hunks: Vec<usize>,
    /// The lines that the author of the edit saw.
    pub base: Excerpt,
    /// The current lines.
    pub current: Excerpt,
    /// The base after the edit.
    pub wanted: Excerpt,
}

/// Lines of one of the three files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The 1-based lines; an empty range stands before its first line.
    pub lines: Range<usize>,
    /// Their bytes.
    pub text: Vec<u8>,
}

/// Carries an edit of `base` to `current`.
///
/// No file is touched. The edit is one that [`edit`](fn@crate::locate::edit::edit) returned for `base`.
///
/// # Errors
///
/// Every stretch that cannot be carried.
///
/// # Panics
///
/// When the edit reaches beyond the end of `base`, and so was not made for it.
pub fn carry(base: &[u8], current: &[u8], edit: &Edit) -> Result<Carried, Vec<Conflict>> {
    let changes = changes(base, edit);
    if changes.is_empty() {
        return Ok(Carried { splices: Splices::new(), hunks: Vec::new() });
    }
    let mut carrier = Carrier {
        base,
        current,
        edit,
        runs: certain(base, current).unwrap_or_default(),
        splices: Splices::new(),
        hunks: BTreeMap::new(),
        conflicts: Vec::new(),
        grown: 0,
        points: agreed::MAX_POINTS,
    };
    let mut rest = &changes[..];
    while let Some(change) = rest.first() {
        let together = if carrier.place(change) { 1 } else { carrier.enclose(rest) };
        rest = &rest[together..];
    }
    carrier.done()
}

/// Returns the edit that turns `base` into `wanted`. To prefer no alignment, the edit replaces
/// every line that is missing from some minimal alignment; each replaced stretch counts as a hunk.
#[must_use]
pub fn difference(base: &[u8], wanted: &[u8]) -> Edit {
    let mut splices = Splices::new();
    let mut at = 0;
    let mut wanted_at = 0;
    for run in certain(base, wanted).unwrap_or_default() {
        push_replacement(&mut splices, at..run.bytes.start, &wanted[wanted_at..run.current_byte]);
        at = run.bytes.end;
        wanted_at = run.current(run.bytes.end);
    }
    push_replacement(&mut splices, at..base.len(), &wanted[wanted_at..]);
    let sources = (0..splices.as_slice().len()).map(|hunk| vec![hunk]).collect();
    Edit { splices, sources, ..Edit::default() }
}

/// Adds a replacement, unless it replaces nothing by nothing.
fn push_replacement(splices: &mut Splices, bytes: Range<usize>, text: &[u8]) {
    if !bytes.is_empty() || !text.is_empty() {
        splices.push(bytes, text.to_vec());
    }
}

/// Splices of the base that touch, or share a line.
#[derive(Debug)]
struct SpliceGroup {
    /// Which splices.
    splices: Range<usize>,
    /// The replaced lines, as bytes; empty for the gap of an insertion.
    bytes: Range<usize>,
    /// The same as 0-based lines.
    lines: Range<usize>,
}

/// Returns the changes of an edit, in file order. Between two of them there is at least one line.
fn changes(base: &[u8], edit: &Edit) -> Vec<SpliceGroup> {
    let mut changes: Vec<SpliceGroup> = Vec::new();
    let mut counter = LineCounter { file: base, byte: 0, line: 0 };
    for (index, splice) in edit.splices.as_slice().iter().enumerate() {
        let start = line_start(base, splice.start);
        let ends_line = splice.end == 0 || base[splice.end - 1] == b'\n';
        let end = if ends_line { splice.end } else { line_end(base, splice.end) };
        match changes.last_mut().filter(|last| start <= last.bytes.end) {
            Some(last) => {
                last.splices.end = index + 1;
                last.bytes.end = last.bytes.end.max(end);
                last.lines.end = counter.line_at(last.bytes.end);
            }
            None => {
                let first = counter.line_at(start);
                changes.push(SpliceGroup {
                    splices: index..index + 1,
                    bytes: start..end,
                    lines: first..counter.line_at(end),
                });
            }
        }
    }
    changes
}

/// Counts the lines of a file up to ascending bytes.
struct LineCounter<'f> {
    file: &'f [u8],
    byte: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn line_at(&mut self, byte: usize) -> usize {
        self.line += line_count(&self.file[self.byte..byte]);
        self.byte = byte;
        self.line
    }
}

/// Returns the beginning of the line at byte `at`.
fn line_start(file: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &file[..at]).map_or(0, |feed| feed + 1)
}

/// Returns the end of the line at byte `at`.
fn line_end(file: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &file[at..]).map_or(file.len(), |feed| at + feed + 1)
}

/// Counts whole lines.
fn line_count(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
        + usize::from(!text.is_empty() && !text.ends_with(b"\n"))
}

/// A place between two lines that every minimal alignment matches, in both files.
#[derive(Debug, Clone, Copy)]
struct AlignedPoint {
    line: usize,
    byte: usize,
    current_line: usize,
    current_byte: usize,
}

impl AlignedPoint {
    /// Returns the byte of the current file for one of the base from this point on.
    fn current_byte_of(&self, byte: usize) -> usize {
        byte - self.byte + self.current_byte
    }
}

/// Sorts the changes: some are carried, some are there already, the others conflict.
struct Carrier<'c> {
    base: &'c [u8],
    current: &'c [u8],
    edit: &'c Edit,
    runs: Vec<Run>,
    splices: Splices,
    hunks: BTreeMap<usize, CarriedHunk>,
    conflicts: Vec<Conflict>,
    /// How many lines the edit adds to the base before the current change.
    grown: isize,
    /// How many points of the grid may still be looked at.
    points: usize,
}

impl Carrier<'_> {
    /// Carries one change, if that is possible.
    fn place(&mut self, change: &SpliceGroup) -> bool {
        let Range { start, end } = change.bytes;
        let before = start.checked_sub(1).map_or(0, |feed| line_start(self.base, feed));
        let after = if end < self.base.len() { line_end(self.base, end) } else { end };
        let run = match self.runs.get(self.runs.partition_point(|run| run.bytes.end < after)) {
            Some(run) if run.bytes.start <= before => run,
            None if self.base.is_empty() => &EMPTY,
            _ => return false,
        };
        let at_start = start > 0 || run.current(start) == 0;
        let at_end = end < self.base.len() || run.current(end) == self.current.len();
        if !at_start || !at_end {
            return false;
        }
        let at = point(run, change.lines.start, start);
        self.put(change, at);
        self.grown += line_count(&self.wanted(start..end, change.splices.clone())) as isize
            - change.lines.len() as isize;
        true
    }

    /// Decides about the first of some changes, which has no certain place, together with all
    /// changes up to the next certain place. Returns how many changes these are.
    fn enclose(&mut self, changes: &[SpliceGroup]) -> usize {
        let first = &changes[0];
        let from = self.point_above(first);
        let mut last = first;
        let mut count = 1;
        let to = loop {
            let to = self.point_below(last, from);
            match changes.get(count) {
                Some(next) if next.bytes.start <= to.byte => last = next,
                _ => break to,
            }
            count += 1;
        };
        let changes = &changes[..count];
        let wanted = self.wanted(from.byte..to.byte, first.splices.start..last.splices.end);
        let grown = line_count(&wanted) as isize - (to.line - from.line) as isize;
        if self.current[from.current_byte..to.current_byte] == wanted {
            self.note(changes, from, to, true);
        } else if !self.agree(changes, from, to) {
            self.conflict(changes, from, to, &wanted);
        }
        self.grown += grown;
        count
    }

    /// Returns the nearest certain place above a change.
    fn point_above(&self, change: &SpliceGroup) -> AlignedPoint {
        let start = change.bytes.start;
        let below = self.runs.partition_point(|run| run.bytes.start < start);
        match below.checked_sub(1).map(|nth| &self.runs[nth]) {
            Some(run) if run.bytes.end <= start => point(run, run.lines.end, run.bytes.end),
            Some(run) => point(run, change.lines.start, start),
            None => AlignedPoint { line: 0, byte: 0, current_line: 0, current_byte: 0 },
        }
    }

    /// Returns the nearest certain place below a change; lines are counted from `from` on.
    fn point_below(&self, change: &SpliceGroup, from: AlignedPoint) -> AlignedPoint {
        let end = change.bytes.end;
        match self.runs.get(self.runs.partition_point(|run| run.bytes.end <= end)) {
            Some(run) if run.bytes.start >= end => point(run, run.lines.start, run.bytes.start),
            Some(run) => point(run, change.lines.end, end),
            None => AlignedPoint {
                line: from.line + line_count(&self.base[from.byte..]),
                byte: self.base.len(),
                current_line: from.current_line + line_count(&self.current[from.current_byte..]),
                current_byte: self.current.len(),
            },
        }
    }

    /// Carries changes between two places if all minimal alignments lead to one text.
    fn agree(&mut self, changes: &[SpliceGroup], from: AlignedPoint, to: AlignedPoint) -> bool {
        let replacements: Vec<Replacement> = changes
            .iter()
            .map(|change| Replacement {
                lines: change.lines.start - from.line..change.lines.end - from.line,
                text: self.wanted(change.bytes.clone(), change.splices.clone()),
            })
            .collect();
        let base = &self.base[from.byte..to.byte];
        let current = &self.current[from.current_byte..to.current_byte];
        let Some(places) = agreed(base, current, &replacements, &mut self.points) else {
            return false;
        };
        let mut current_byte = from.current_byte;
        let mut current_line = from.current_line;
        for (change, place) in changes.iter().zip(places) {
            while current_line < from.current_line + place {
                current_byte = line_end(self.current, current_byte);
                current_line += 1;
            }
            let at = AlignedPoint {
                line: change.lines.start,
                byte: change.bytes.start,
                current_line,
                current_byte,
            };
            self.put(change, at);
        }
        true
    }

    /// Carries a change to a place where the current file has the replaced lines.
    fn put(&mut self, change: &SpliceGroup, at: AlignedPoint) {
        for splice in &self.edit.splices.as_slice()[change.splices.clone()] {
            let bytes = at.current_byte_of(splice.start)..at.current_byte_of(splice.end);
            self.splices.push(bytes, splice.text.clone());
        }
        let end = AlignedPoint {
            line: change.lines.end,
            byte: change.bytes.end,
            current_line: at.current_line + change.lines.len(),
            current_byte: at.current_byte_of(change.bytes.end),
        };
        self.note(std::slice::from_ref(change), at, end, false);
    }

    /// Returns some bytes of the base after the edit.
    fn wanted(&self, bytes: Range<usize>, splices: Range<usize>) -> Vec<u8> {
        let mut wanted = Vec::new();
        let mut at = bytes.start;
        for splice in &self.edit.splices.as_slice()[splices] {
            wanted.extend_from_slice(&self.base[at..splice.start]);
            wanted.extend_from_slice(&splice.text);
            at = splice.end;
        }
        wanted.extend_from_slice(&self.base[at..bytes.end]);
        wanted
    }

    /// Returns the hunks that some changes come from.
    fn hunks_of(&self, changes: &[SpliceGroup]) -> Vec<usize> {
        let splices = changes.iter().flat_map(|change| change.splices.clone());
        let mut hunks: Vec<usize> =
            splices.flat_map(|splice| self.edit.sources[splice].iter().copied()).collect();
        hunks.sort_unstable();
        hunks.dedup();
        hunks
    }

    /// Records that changes go between two places, or are already there.
    fn note(
        &mut self,
        changes: &[SpliceGroup],
        from: AlignedPoint,
        to: AlignedPoint,
        already_there: bool,
    ) {
        let above = usize::from(from.byte > 0);
        let below = usize::from(to.byte < self.base.len());
        let lines = from.line + 1 - above..=to.line + below;
        let above = usize::from(from.current_byte > 0);
        let below = usize::from(to.current_byte < self.current.len());
        let current = from.current_line + 1 - above..=to.current_line + below;
        for hunk in self.hunks_of(changes) {
            let noted = self.hunks.entry(hunk).or_insert(CarriedHunk {
                hunk,
                from: lines.clone(),
                to: current.clone(),
                already_there,
            });
            noted.from = *noted.from.start()..=*lines.end();
            noted.to = *noted.to.start()..=*current.end();
            noted.already_there &= already_there;
        }
    }

    /// Records a conflict of changes with the current lines between two places, without the lines
    /// at both ends that all three texts share.
    fn conflict(
        &mut self,
        changes: &[SpliceGroup],
        from: AlignedPoint,
        to: AlignedPoint,
        wanted: &[u8],
    ) {
        let base = &self.base[from.byte..to.byte];
        let current = &self.current[from.current_byte..to.current_byte];
        let (above, below) = common_lines([base, current, wanted]);
        let wanted_line = (from.line as isize + self.grown) as usize;
        self.conflicts.push(Conflict {
            hunks: self.hunks_of(changes),
            base: excerpt(base, from.line, above, below),
            current: excerpt(current, from.current_line, above, below),
            wanted: excerpt(wanted, wanted_line, above, below),
        });
    }

    fn done(self) -> Result<Carried, Vec<Conflict>> {
        if !self.conflicts.is_empty() {
            return Err(self.conflicts);
        }
        Ok(Carried { splices: self.splices, hunks: self.hunks.into_values().collect() })
    }
}

/// The run of an empty base.
const EMPTY: Run = Run { lines: 0..0, bytes: 0..0, current_line: 0, current_byte: 0 };

/// Returns a place in a run.
fn point(run: &Run, line: usize, byte: usize) -> AlignedPoint {
    AlignedPoint {
        line,
        byte,
        current_line: run.current_line + (line - run.lines.start),
        current_byte: run.current(byte),
    }
}

/// Returns the lines of a text without the bytes `above` and `below` them. The text begins below
/// `line` lines of its file.
fn excerpt(text: &[u8], line: usize, above: usize, below: usize) -> Excerpt {
    let start = line + 1 + line_count(&text[..above]);
    let text = &text[above..text.len() - below];
    Excerpt { lines: start..start + line_count(text), text: text.to_vec() }
}

/// Counts the bytes of the lines that three texts share at their beginnings, and then at their
/// ends.
fn common_lines(texts: [&[u8]; 3]) -> (usize, usize) {
    let above = common_bytes(texts.map(lines));
    (above, common_bytes(texts.map(|text| lines(&text[above..]).rev())))
}

fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
}

/// Counts the bytes of the leading lines that all three texts share.
fn common_bytes<'t>(mut texts: [impl Iterator<Item = &'t [u8]>; 3]) -> usize {
    let mut len = 0;
    loop {
        let [one, two, three] = texts.each_mut().map(Iterator::next);
        match one {
            Some(line) if one == two && two == three => len += line.len(),
            _ => return len,
        }
    }
}
