//! Explains why a hunk has no place: finds the nearest region, and tells places apart.
//!
//! Only here does likeness count, and nothing is placed here.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use patch_grammar::{Hunk, Line, LineKind};

use super::applied;
use super::draft::{Draft, Node};
use super::find::Blocks;
use super::hunk_lines::is_context;
use super::interner::{FOREIGN, Interner};
use super::mangled::{
    Mangled, leaves_lines_out, without_entities, without_escaped_tabs, without_numbers,
};
use super::names;
use super::needle::{Fixed, Needle, marks_end};
use super::pass::{Pass, indentation, trim};
use super::reject::{
    Advice, Candidate, Difference, Edge, EndMark, HunkReject, NamedLine, Nearest, RejectReason,
    Room, Shown,
};
use super::rules::{Order, Rules};
use super::scope::ScopeEnds;
use super::search::SATURATION;
use super::unseen::{self, Unseen, UnseenKind};
use super::written::Written;
use crate::text::lines::Lines;

/// How many context lines an advice has at most; more would not be pasted.
const ADVICE_LINES: usize = 20;

/// How many lines of the nearest place are shown.
const SHOWN_LINES: usize = 12;

/// How long a hunk may be to be given anew.
const PASTED_LINES: usize = 40;

/// How many characters of a line are shown, and the most bytes of a line to be pasted.
const SHOWN_WIDTH: usize = 200;

/// How many places get an advice.
const ADVISED: usize = 8;

/// The least likeness of near lines, when no line of the hunk is in the file: the share of letter
/// pairs in common.
const LIKENESS: f64 = 0.6;

/// How many lines of a file are compared by likeness.
const COMPARED_LINES: usize = 20_000;

/// How many hunks of a section are compared with the whole file at least, however long the file is.
const EXPLAINED: usize = 20;

/// How many lines are looked at at least, in however many hunks.
const LOOKED_AT: usize = 2_000_000;

/// The same in bytes, since a line may be long.
const LOOKED_AT_BYTES: usize = 64 << 20;

/// The budget for explanations. Each costs a walk over the file; without a bound a patch of nothing
/// but bad hunks would cost as many walks as hunks, and keep as many lists of places.
#[derive(Debug)]
pub(crate) struct Effort {
    walks: Cell<usize>,
    room: Room,
}

impl Effort {
    pub(crate) fn new(lines: &Lines<'_>) -> Self {
        let walks =
            (LOOKED_AT / lines.len().max(1)).min(LOOKED_AT_BYTES / lines.bytes().len().max(1));
        Self { walks: Cell::new(EXPLAINED.max(walks)), room: Room::default() }
    }

    /// Makes the reject of a hunk.
    pub(crate) fn reject(&self, needle: &Needle<'_>, reason: RejectReason) -> HunkReject {
        needle.reject(self.room.fit(reason))
    }

    /// Returns how many places of a hunk are worth looking for.
    pub(crate) fn places(&self) -> usize {
        self.room.places()
    }

    /// Takes one walk, if there is one left.
    fn spend(&self) -> bool {
        let left = self.walks.get();
        self.walks.set(left.saturating_sub(1));
        left > 0
    }
}

/// The reason for a hunk whose old lines are nowhere.
pub(crate) fn not_found(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    rules: &Rules,
    effort: &Effort,
) -> RejectReason {
    if !effort.spend() {
        return RejectReason::ContextNotFound { nearest: None, named: Vec::new() };
    }
    if let Some(lines) = applied::place(lines, needle) {
        return RejectReason::AlreadyApplied { lines };
    }
    let ways: [&dyn Fn() -> Option<Nearest>; 5] = [
        &|| carriage_returns(lines, needle),
        &|| near_mangled(lines, needle, rules),
        &|| near_by_pass(lines, needle, rules),
        &|| near_by_votes(lines, needle),
        &|| near_by_likeness(lines, needle),
    ];
    let mut nearest = ways.iter().find_map(|way| if lines.is_cancelled() { None } else { way() });
    if let Some(nearest) = &mut nearest {
        name_dots(lines, needle, nearest);
    }
    match nearest {
        None => RejectReason::ContextNotFound { nearest: None, named: named(lines, needle) },
        nearest => {
            RejectReason::ContextNotFound { nearest: nearest.map(Box::new), named: Vec::new() }
        }
    }
}

/// Says of a place that is not the hunk's that dots in the hunk stand for lines left out.
fn name_dots(lines: &Lines<'_>, needle: &Needle<'_>, nearest: &mut Nearest) {
    if leaves_lines_out(needle.hunk)
        && nearest.pass.is_none()
        && nearest.mangled.is_none()
        && !is_in_file(lines, b"...")
    {
        nearest.mangled = Some(Mangled::LeftOut);
        // Lines of the file in place of the dots are not the ones that are left out.
        nearest.paste = Vec::new();
    }
}

/// Returns whether the place from `start` on tells where the hunk was meant to go: one line of
/// several may stand anywhere.
fn is_telling(lines: &Lines<'_>, needle: &Needle<'_>, start: isize) -> bool {
    // A brace, or an empty line, is in every file.
    let places = needle.old.iter().zip(start..).filter(|(line, _)| has_letters(line));
    let mut of = 0;
    let mut alike = Vec::new();
    for (wanted, index) in places {
        of += 1;
        let index = usize::try_from(index).ok().filter(|&index| index < lines.len());
        let found = index.map(|index| trim(lines.content(index)));
        alike.extend(found.filter(|found| is_like(found, trim(wanted))));
    }
    match (&alike[..], of) {
        (_, 0) | ([_], 1) | ([_, _, ..], _) => true,
        ([one], 2) => lines.iter().filter(|line| trim(line) == *one).count() == 1,
        _ => false,
    }
}

/// Returns whether the lines from `start` on differ from those of the hunk only by what cannot be
/// seen.
fn looks_alike(lines: &Lines<'_>, needle: &Needle<'_>, start: isize) -> bool {
    needle.old.iter().zip(start..).all(|(wanted, index)| {
        let index = usize::try_from(index).ok().filter(|&index| index < lines.len());
        index
            .map(|index| lines.content(index))
            .is_some_and(|found| found == *wanted || unseen::unseen(0, wanted, found).is_some())
    })
}

/// Returns whether a line of the file is a line of the hunk, or like it.
fn is_like(found: &[u8], wanted: &[u8]) -> bool {
    found == wanted
        || std::str::from_utf8(wanted).is_ok_and(|wanted| likeness(found, wanted) >= LIKENESS)
}

fn has_letters(line: &[u8]) -> bool {
    line.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

/// Returns the lines of the file that a hunk without a place names: its one line that is there, or
/// what it defines.
fn named(lines: &Lines<'_>, needle: &Needle<'_>) -> Vec<NamedLine> {
    let named = names::named(lines, needle);
    if !named.is_empty() {
        return named;
    }
    let old = needle.old.iter().filter(|line| has_letters(line));
    old.filter_map(|line| names::only(lines, trim(line))).take(1).collect()
}

/// The place that the lines have without line numbers or entities.
fn near_mangled(lines: &Lines<'_>, needle: &Needle<'_>, rules: &Rules) -> Option<Nearest> {
    near_numbered(lines, needle, rules)
        .or_else(|| near_encoded(lines, needle, rules))
        .or_else(|| near_escaped(lines, needle, rules))
        .or_else(|| near_shorter(lines, needle, rules))
}

/// The one place of the hunk without the empty context lines at its end.
fn near_shorter(lines: &Lines<'_>, needle: &Needle<'_>, rules: &Rules) -> Option<Nearest> {
    let is_empty = |line: &&Line<'_>| is_context(line) && trim(line.text).is_empty();
    let surplus = needle.hunk.lines.iter().rev().take_while(is_empty).count();
    let kept = &needle.hunk.lines[..needle.hunk.lines.len() - surplus];
    if surplus == 0 || needle.hunk.end_of_file || kept.is_empty() {
        return None;
    }
    let hunk = Hunk { lines: kept.to_vec(), separators: 0, ..needle.hunk.clone() };
    let shorter = Needle::new(needle.index, &hunk, lines, rules);
    let blocks = Blocks::new(lines, vec![shorter.old_without(0)], &[Pass::Exact]);
    let places = blocks.first(Pass::Exact, 0, 2).len();
    (places == 1 && !shorter.old.is_empty())
        .then(|| near_restored(lines, needle, &hunk, Mangled::EmptyLine, rules))?
}

/// The place that the lines have with tabs in place of `\t`.
fn near_escaped(lines: &Lines<'_>, needle: &Needle<'_>, rules: &Rules) -> Option<Nearest> {
    without_escaped_tabs(needle.hunk).into_iter().find_map(|texts| {
        let lines_of = texts.iter().zip(&needle.hunk.lines);
        let hunk = Hunk {
            lines: lines_of.map(|(text, line)| Line { text, ..*line }).collect(),
            ..needle.hunk.clone()
        };
        let restored = Needle::new(needle.index, &hunk, lines, rules);
        find_block(lines, restored.old_without(0), Pass::Exact)?;
        near_restored(lines, needle, &hunk, Mangled::Tabs, rules)
    })
}

/// The one line of a file whose lines end in carriage returns alone.
fn carriage_returns(lines: &Lines<'_>, needle: &Needle<'_>) -> Option<Nearest> {
    let text = lines.iter().next().filter(|_| lines.len() == 1)?;
    let ends: Vec<&[u8]> = text.split(|byte| *byte == b'\r').collect();
    let line = needle.old.iter().zip(needle.hunk.old_lines()).find(|(line, _)| has_letters(line));
    let (wanted, line) = line.filter(|_| ends.len() > 1)?;
    ends.contains(wanted).then(|| Nearest {
        region: Vec::new(),
        unseen: Some(Unseen {
            kind: UnseenKind::CarriageReturns,
            patch_line: line.line,
            column: 1,
            wanted: "U+000A".into(),
            found: "U+000D".into(),
        }),
        ..region(lines, needle, 0, 0)
    })
}

/// The place that the lines have without line numbers.
fn near_numbered(lines: &Lines<'_>, needle: &Needle<'_>, rules: &Rules) -> Option<Nearest> {
    let ways = without_numbers(needle.hunk);
    let first = needle.old.first().filter(|_| !ways.is_empty())?;
    if is_in_file(lines, first) {
        return None;
    }
    ways.iter()
        .find_map(|(_, hunk)| near_restored(lines, needle, hunk, Mangled::LineNumbers, rules))
}

/// The place that the lines have with characters in place of HTML entities.
fn near_encoded(lines: &Lines<'_>, needle: &Needle<'_>, rules: &Rules) -> Option<Nearest> {
    let texts = without_entities(needle.hunk)?;
    let (_, first) = texts
        .iter()
        .zip(&needle.hunk.lines)
        .find(|(text, line)| line.kind != LineKind::Insert && ***text != *line.text)?;
    if is_in_file(lines, first.text) {
        return None;
    }
    let decoded = texts.iter().zip(&needle.hunk.lines).map(|(text, line)| Line { text, ..*line });
    let hunk = Hunk { lines: decoded.collect(), ..needle.hunk.clone() };
    near_restored(lines, needle, &hunk, Mangled::Entities, rules)
}

/// Whether a line is in the file verbatim, and so was not mangled.
fn is_in_file(lines: &Lines<'_>, text: &[u8]) -> bool {
    lines.iter().any(|line| line == text)
}

/// The place of a hunk with restored lines.
fn near_restored(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    hunk: &Hunk<'_>,
    mangled: Mangled,
    rules: &Rules,
) -> Option<Nearest> {
    let needle = Needle::new(needle.index, hunk, lines, rules);
    let mut nearest = match find_block(lines, needle.old_without(0), Pass::Exact) {
        Some(start) => {
            let found = region(lines, &needle, start as isize, 0);
            let paste = paste(lines, &needle, start, 0, &needle.indented_at(lines, start, 0));
            Nearest { paste, ..found }
        }
        None => near_by_votes(lines, &needle).filter(|found| found.agreeing > 0)?,
    };
    nearest.mangled = Some(mangled);
    Some(nearest)
}

/// The first place of a block of lines.
fn find_block(lines: &Lines<'_>, block: &[&[u8]], pass: Pass) -> Option<usize> {
    Blocks::new(lines, vec![block], &[pass]).next(pass, 0, 0)
}

impl<'p> Needle<'p> {
    /// The lines that the hunk would insert if its old lines were the ones of the file from `start`
    /// on.
    fn indented_at(
        &self,
        lines: &Lines<'_>,
        start: usize,
        dropped: usize,
    ) -> Result<Written<'p>, RejectReason> {
        let end = (start + self.old_without(dropped).len()).min(lines.len());
        let matched: Vec<Node> = (start..end).map(Node).collect();
        self.indented(&matched, dropped, &Draft::new(lines))
    }
}

/// The place that an untried pass would have found.
fn near_by_pass(lines: &Lines<'_>, needle: &Needle<'_>, rules: &Rules) -> Option<Nearest> {
    if needle.fixed.is_some() {
        return near_fixed(lines, needle, rules);
    }
    for pass in Pass::ALL.into_iter().filter(|pass| !rules.passes.contains(pass)) {
        for dropped in needle.variants() {
            if let Some(start) = find_block(lines, needle.old_without(dropped), pass) {
                return Some(by_pass(lines, needle, start, dropped, pass));
            }
        }
    }
    None
}

/// How many lines of context a hunk without context is offered: as many as in a diff.
const CONTEXT: usize = 3;

/// The same for a hunk that names its place: at this place with an untried pass, or elsewhere with
/// the tried ones.
fn near_fixed(lines: &Lines<'_>, needle: &Needle<'_>, rules: &Rules) -> Option<Nearest> {
    for pass in Pass::ALL.into_iter().filter(|pass| !rules.passes.contains(pass)) {
        for dropped in needle.variants() {
            let Some(mark) = needle.fixed_mark(lines, dropped) else { continue };
            if needle.fits(lines, mark, dropped, pass) {
                return Some(by_pass(lines, needle, mark.line as usize, dropped, pass));
            }
        }
    }
    let start = rules.passes.iter().find_map(|&pass| nearest_to_stated(lines, needle, pass))?;
    let not_at = missed_edge(lines, needle, start);
    Some(Nearest { not_at, ..region(lines, needle, start as isize, 0) })
}

/// Of several places, the one nearest to the line that the diff states.
fn nearest_to_stated(lines: &Lines<'_>, needle: &Needle<'_>, pass: Pass) -> Option<usize> {
    let blocks = Blocks::new(lines, vec![needle.old_without(0)], &[pass]);
    let places = blocks.first(pass, 0, SATURATION).into_iter().map(|place| place as usize);
    places.min_by_key(|place| needle.stated.map_or(0, |stated| stated.abs_diff(*place)))
}

/// The end of the file that a hunk names, with the lines between this end and the hunk at `start`.
fn missed_edge(lines: &Lines<'_>, needle: &Needle<'_>, start: usize) -> Option<Edge> {
    let end = start + needle.old.len();
    let above = start.saturating_sub(CONTEXT)..start;
    let below = end..lines.len().min(end + CONTEXT);
    let is_bare = !needle.hunk.lines.iter().any(is_context);
    match needle.fixed {
        _ if needle.hunk.end_of_file => Some(Edge::Marked(EndMark::EndOfFile)),
        _ if marks_end(needle.hunk) => Some(Edge::Marked(EndMark::NoNewline)),
        Some(Fixed::Whole) if is_bare => {
            Some(Edge::Bare { above: texts(lines, above)?, below: texts(lines, below)? })
        }
        Some(Fixed::End) => Some(Edge::End { below: texts(lines, below)? }),
        Some(Fixed::Start) if needle.stated.is_some() => {
            Some(Edge::Start { above: texts(lines, above)? })
        }
        Some(Fixed::Start | Fixed::Whole) | None => None,
    }
}

/// Lines of the file, if all are UTF-8.
fn texts(lines: &Lines<'_>, range: Range<usize>) -> Option<Vec<String>> {
    range.map(|index| str::from_utf8(lines.content(index)).ok().map(str::to_owned)).collect()
}

/// The place where most lines of the hunk agree, lines compared as leniently as can be.
fn near_by_votes(lines: &Lines<'_>, needle: &Needle<'_>) -> Option<Nearest> {
    /// How many places in the hunk one line votes for.
    const VOTES_PER_LINE: usize = 8;
    let mut interner = Interner::new(Pass::Unicode);
    let mut offsets: HashMap<u32, Vec<usize>> = HashMap::new();
    for (offset, line) in needle.old.iter().enumerate() {
        if !trim(line).is_empty() {
            offsets.entry(interner.insert(line)).or_default().push(offset);
        }
    }
    let mut seen: HashMap<u32, usize> = HashMap::new();
    // One entry for each place where the hunk could begin; the first ones are before the file.
    let before = needle.old.len();
    let mut votes: Vec<(u32, u32)> = vec![(0, 0); before + lines.len()];
    for (index, line) in lines.iter().enumerate() {
        let id = interner.get(line);
        if id == FOREIGN {
            continue;
        }
        *seen.entry(id).or_default() += 1;
        for &offset in offsets[&id].iter().take(VOTES_PER_LINE) {
            let vote = &mut votes[before + index - offset];
            *vote = (vote.0 + 1, vote.1.saturating_add(line.len() as u32));
        }
    }
    // Among equals the one with the longer lines in common, then the first.
    let (start, vote) = votes.iter().enumerate().rev().max_by_key(|&(_, &vote)| vote)?;
    if vote.0 == 0 {
        return None;
    }
    let start = start as isize - before as isize;
    // But for blanks, all of them may be here.
    let scattered = offsets.len() > 1
        && (vote.0 as usize) < offsets.values().map(Vec::len).sum()
        && offsets.iter().all(|(id, offsets)| seen.get(id).is_some_and(|&n| n >= offsets.len()));
    if !scattered && !is_telling(lines, needle, start) {
        return None;
    }
    let found = region(lines, needle, start, 0);
    let is_near = found.agreeing + 1 >= found.of || looks_alike(lines, needle, start);
    let paste = match usize::try_from(start) {
        Ok(start) if !scattered && is_near => {
            paste(lines, needle, start, 0, &needle.indented_at(lines, start, 0))
        }
        _ => Vec::new(),
    };
    Some(Nearest { scattered, paste, ..found })
}

/// The place of the line that is most like the longest line of the hunk.
fn near_by_likeness(lines: &Lines<'_>, needle: &Needle<'_>) -> Option<Nearest> {
    let (offset, wanted) = needle.old.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let wanted = std::str::from_utf8(trim(wanted)).ok().filter(|line| line.len() >= 4)?;
    let (index, likeness) = lines
        .iter()
        .take(COMPARED_LINES)
        .enumerate()
        .filter(|(_, line)| line.len() < 4 * wanted.len() + 80)
        .map(|(index, line)| (index, likeness(line, wanted)))
        .max_by(|left, right| left.1.total_cmp(&right.1).then(right.0.cmp(&left.0)))?;
    let start = index as isize - offset as isize;
    if likeness < LIKENESS || !is_telling(lines, needle, start) {
        return None;
    }
    let paste = match usize::try_from(start) {
        Ok(start) if looks_alike(lines, needle, start as isize) => {
            paste(lines, needle, start, 0, &needle.indented_at(lines, start, 0))
        }
        _ => Vec::new(),
    };
    Some(Nearest { paste, ..region(lines, needle, start, 0) })
}

/// The share of letter pairs that a line of the file has in common with a text.
fn likeness(line: &[u8], wanted: &str) -> f64 {
    std::str::from_utf8(line).map_or(0.0, |line| strsim::sorensen_dice(line.trim(), wanted))
}

/// The same for a place that `pass` finds.
fn by_pass(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    start: usize,
    dropped: usize,
    pass: Pass,
) -> Nearest {
    let written = needle.indented_at(lines, start, dropped);
    let untold = match &written {
        Err(RejectReason::Indentation { patch_line, .. }) => Some(*patch_line),
        _ => None,
    };
    let paste = paste(lines, needle, start, dropped, &written);
    Nearest { pass: Some(pass), untold, paste, ..region(lines, needle, start as isize, dropped) }
}

/// Compares the lines from `start` on with those of the hunk.
fn region(lines: &Lines<'_>, needle: &Needle<'_>, start: isize, dropped: usize) -> Nearest {
    let old = needle.old_without(dropped);
    let mut agreeing = 0;
    let mut difference = None;
    let mut unseen = None;
    for (offset, (wanted, line)) in old.iter().zip(needle.hunk.old_lines()).enumerate() {
        let index = usize::try_from(start + offset as isize).ok();
        let found = index.filter(|&index| index < lines.len()).map(|index| lines.content(index));
        let ends_alike = found.is_none()
            || needle
                .ends_like(offset, Pass::Exact, || lines.terminator(index.unwrap_or_default()));
        if found == Some(wanted) && ends_alike {
            agreeing += 1;
            continue;
        }
        unseen = unseen.or_else(|| unseen::unseen(line.line, wanted, found?));
        if difference.is_none() {
            difference = Some(differing(lines, line, wanted, index, ends_alike));
        }
    }
    let first = start.max(0) as usize;
    // Some line of the hunk stands here, so the place has a line of the file.
    let last = (start + old.len() as isize).min(lines.len() as isize) as usize;
    let region = (first..last).take(SHOWN_LINES).map(|index| {
        let wanted =
            usize::try_from(index as isize - start).ok().and_then(|offset| old.get(offset));
        shown(index, lines.content(index), wanted.copied())
    });
    Nearest {
        lines: first + 1..=last,
        agreeing,
        of: old.len(),
        difference,
        pass: None,
        mangled: None,
        untold: None,
        scattered: false,
        not_at: None,
        unseen,
        region: region.collect(),
        paste: Vec::new(),
    }
}

/// Describes how a line of the hunk differs from the line of the file at `index`. Where only the
/// terminators differ, both are shown with them.
fn differing(
    lines: &Lines<'_>,
    line: &Line<'_>,
    wanted: &[u8],
    index: Option<usize>,
    ends_alike: bool,
) -> Difference {
    let wanted = with_carriage(wanted, line.crlf && !ends_alike);
    let found = index.filter(|&index| index < lines.len()).map(|index| {
        let is_crlf = !ends_alike && lines.terminator(index) == b"\r\n";
        with_carriage(lines.content(index), is_crlf)
    });
    let same = found.as_ref().map_or(0, |found| {
        wanted.chars().zip(found.chars()).take_while(|(one, other)| one == other).count()
    });
    let file_line = index.map_or(1, |index| index.min(lines.len()) + 1);
    Difference { patch_line: line.line, file_line, wanted, found, column: same + 1 }
}

/// A text, with a carriage return if it ends in CRLF.
fn with_carriage(text: &[u8], crlf: bool) -> String {
    String::from_utf8_lossy(text).into_owned() + if crlf { "\r" } else { "" }
}

/// A line of the file, compared with the hunk's.
fn shown(index: usize, found: &[u8], wanted: Option<&[u8]>) -> Shown {
    let text = String::from_utf8_lossy(found);
    let columns = wanted.filter(|wanted| *wanted != found).map(|wanted| {
        let wanted = String::from_utf8_lossy(wanted);
        let before =
            text.chars().zip(wanted.chars()).take_while(|(one, other)| one == other).count();
        let len = text.chars().count();
        let other = wanted.chars().count();
        let alike = text
            .chars()
            .rev()
            .zip(wanted.chars().rev())
            .take_while(|(one, other)| one == other)
            .count();
        let after = alike.min(len.min(other) - before);
        (before + 1, (len - after).max(before + 1))
    });
    Shown { line: index + 1, text: text.chars().take(SHOWN_WIDTH).collect(), columns }
}

/// The hunk with the lines of the file from `start` on as its old lines, and with its insertions as
/// they would be written there; empty if these lines do not tell how.
fn paste(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    start: usize,
    dropped: usize,
    written: &Result<Written<'_>, RejectReason>,
) -> Vec<String> {
    let hunk = needle.lines(dropped);
    let mut places = start..start + needle.old_without(dropped).len();
    let Ok(written) = written else { return Vec::new() };
    if hunk.len() > PASTED_LINES || places.end > lines.len() {
        return Vec::new();
    }
    let whole = with_context(lines, needle, places.clone(), hunk);
    if whole.clone().any(|index| lines.content(index).len() > SHOWN_WIDTH) {
        return Vec::new();
    }
    let above = as_context(lines, whole.start..places.start);
    let below = as_context(lines, places.end..whole.end);
    let mut inserted = written.lines.iter();
    let pasted = hunk.iter().map(|line| {
        let text = match line.kind {
            LineKind::Insert => &inserted.next()?[..],
            LineKind::Context | LineKind::Delete => lines.content(places.next()?),
        };
        let carriage = if line.kind == LineKind::Insert && line.crlf { "\r" } else { "" };
        Some(format!("{}{}{carriage}", line.kind.sign(), std::str::from_utf8(text).ok()?))
    });
    above.chain(pasted).chain(below).collect::<Option<_>>().unwrap_or_default()
}

/// Lines of the file, as context of a hunk.
fn as_context(lines: &Lines<'_>, places: Range<usize>) -> impl Iterator<Item = Option<String>> {
    places.map(|index| Some(format!(" {}", str::from_utf8(lines.content(index)).ok()?)))
}

/// Returns the lines of the file that a hunk has to show to stand at `places` only and, in a diff,
/// not to be taken for a hunk at an end of the file.
fn with_context(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    places: Range<usize>,
    hunk: &[Line<'_>],
) -> Range<usize> {
    if marks_end(needle.hunk) || places.is_empty() {
        return places;
    }
    let Range { mut start, mut end } = places;
    if let Some(first_line) = needle.hunk.old_start.filter(|_| needle.hunk.endings.is_of_diff()) {
        let above = hunk.first().is_some_and(is_context);
        let below = hunk.last().is_some_and(is_context);
        if !above && (!below || first_line <= 1) {
            start = start.saturating_sub(1);
        }
        if !below {
            end = lines.len().min(end + 1);
        }
    }
    let block: Vec<&[u8]> = (start..end).map(|index| lines.content(index)).collect();
    let starts = Blocks::new(lines, vec![&block], &[Pass::Exact]).first(Pass::Exact, 0, SATURATION);
    let places = SamePlaces { lines, starts: &starts, len: block.len() };
    match places.advice(start, None) {
        Some(Advice::Before(more)) => start - more.len()..end,
        Some(Advice::After(more)) => start..end + more.len(),
        Some(Advice::Header(_) | Advice::Text { .. }) | None => start..end,
    }
}

/// The places `starts`, each with the advice that would select it, unless there are `more` places.
pub(crate) fn candidates(
    lines: &Lines<'_>,
    starts: &[u32],
    more: bool,
    len: usize,
    order: Order,
    effort: &Effort,
) -> Vec<Candidate> {
    let starts = &starts[..starts.len().min(SATURATION)];
    let advise = starts.len() > 1 && !more && effort.spend();
    let ends = (advise && order == Order::File).then(|| ScopeEnds::new(lines));
    let places = SamePlaces { lines, starts, len };
    starts
        .iter()
        .map(|&start| start as usize)
        .enumerate()
        .map(|(nth, start)| {
            let is_advised = advise && nth < ADVISED;
            let advice = if is_advised { places.advice(start, ends.as_ref()) } else { None };
            Candidate { lines: start + 1..=start + len.max(1), advice }
        })
        .collect()
}

/// Places in the file that have the same lines.
#[derive(Clone, Copy)]
struct SamePlaces<'s, 'f> {
    lines: &'s Lines<'f>,
    /// Their first lines, ascending.
    starts: &'s [u32],
    /// How many lines each has.
    len: usize,
}

/// The lines beside a place.
#[derive(Debug, Clone, Copy)]
enum Side {
    Above,
    Below,
}

impl SamePlaces<'_, '_> {
    /// The fewest lines that tell the place at `start` from all others.
    fn advice(self, start: usize, ends: Option<&ScopeEnds>) -> Option<Advice> {
        let before = self.needed(start, Side::Above);
        let after = if self.len > 0 { self.needed(start, Side::Below) } else { None };
        let fewest = before.into_iter().chain(after).min();
        if fewest != Some(1)
            && let Some(ends) = ends
            && let Some(header) = header_of(self.lines, self.starts, start, ends)
        {
            return Some(Advice::Header(self.text(header).trim().to_owned()));
        }
        match (before, after) {
            (Some(before), after) if after.is_none_or(|after| before <= after) => {
                Some(Advice::Before((start - before..start).map(|at| self.text(at)).collect()))
            }
            (_, Some(after)) => {
                let end = start + self.len;
                Some(Advice::After((end..end + after).map(|at| self.text(at)).collect()))
            }
            _ => None,
        }
    }

    /// How many lines on one side tell the place at `start` from all others.
    fn needed(self, start: usize, side: Side) -> Option<usize> {
        let mut most = 0;
        for other in self.starts.iter().map(|&other| other as usize) {
            if other != start {
                let differs = (1..=ADVICE_LINES).find(|&distance| {
                    self.beside(start, side, distance) != self.beside(other, side, distance)
                });
                most = most.max(differs?);
            }
        }
        self.beside(start, side, most).map(|_| most)
    }

    /// The line at a distance from the place that begins at `start`.
    fn beside(&self, start: usize, side: Side, distance: usize) -> Option<&[u8]> {
        let index = match side {
            Side::Above => start.checked_sub(distance)?,
            Side::Below => start + self.len - 1 + distance,
        };
        (index < self.lines.len()).then(|| self.lines.content(index))
    }

    fn text(self, index: usize) -> String {
        String::from_utf8_lossy(self.lines.content(index)).into_owned()
    }
}

/// The nearest line above that opens a block, is the only one of its text, and has no other place
/// in its scope.
fn header_of(lines: &Lines<'_>, starts: &[u32], start: usize, ends: &ScopeEnds) -> Option<usize> {
    let depth = indentation(lines.content(start.min(lines.len().checked_sub(1)?)));
    let header = (start.saturating_sub(500)..start)
        .rev()
        .find(|&index| opens_block(lines.content(index), depth))?;
    let name = trim(lines.content(header));
    let unique = lines.iter().filter(|line| trim(line) == name).count() == 1;
    let scope = ends.of(header as u32);
    let inside = starts.iter().filter(|&other| scope.contains(other)).count();
    (unique && inside == 1).then_some(header)
}

/// Whether a line may open the block of lines that are indented by `depth`.
fn opens_block(line: &[u8], depth: usize) -> bool {
    let opener = line
        .get(indentation(line))
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'@'));
    indentation(line) < depth && opener
}
