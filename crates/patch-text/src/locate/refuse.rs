//! What to say about a hunk that has no place: the nearest region, and how to tell places apart.
//!
//! This is the only module where likeness counts, and it places nothing.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use patch_grammar::{Hunk, Line, LineKind};

use super::applied;
use super::draft::{Draft, Node};
use super::find::Blocks;
use super::interner::{FOREIGN, Interner};
use super::mangled::{Mangled, without_entities, without_numbers};
use super::needle::{Fixed, Needle, marks_end};
use super::pass::{Pass, indentation, trim};
use super::reject::{
    Advice, Candidate, Difference, Edge, EndMark, HunkReject, Nearest, RejectReason, Room, Shown,
};
use super::rules::{Order, Rules};
use super::scope::ScopeEnds;
use super::search::SATURATION;
use super::written::Written;
use crate::text::lines::Lines;

/// How many context lines an advice has at most; more would not be pasted.
const ADVICE_LINES: usize = 20;

/// How many lines of the nearest place are shown.
const SHOWN_LINES: usize = 12;

/// How long a hunk may be to be given anew.
const PASTED_LINES: usize = 40;

/// How many characters of a line are shown, and how many bytes one may have that is to be pasted.
const SHOWN_WIDTH: usize = 200;

/// How many places get an advice.
const ADVISED: usize = 8;

/// How like two lines must be to be called near, when no line of the hunk is in the file: the share
/// of letter pairs that they have in common.
const LIKENESS: f64 = 0.6;

/// How many lines of a file are compared by likeness.
const COMPARED_LINES: usize = 20_000;

/// How many hunks of a section are held against the whole file at least, however long it is.
const EXPLAINED: usize = 20;

/// How many lines are looked at at least, however many hunks that is.
const LOOKED_AT: usize = 2_000_000;

/// The same in bytes, of which a line may have many.
const LOOKED_AT_BYTES: usize = 64 << 20;

/// What may still be spent on explanations. Each costs a walk over the file; without a bound a
/// patch of nothing but bad hunks would cost as many walks as it has hunks, and keep as many lists
/// of places.
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

/// What to say of a hunk whose old lines are nowhere.
pub(crate) fn not_found(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    rules: &Rules,
    effort: &Effort,
) -> RejectReason {
    if !effort.spend() {
        return RejectReason::ContextNotFound { nearest: None };
    }
    if let Some(lines) = applied::place(lines, needle) {
        return RejectReason::AlreadyApplied { lines };
    }
    let ways: [&dyn Fn() -> Option<Nearest>; 4] = [
        &|| near_mangled(lines, needle, rules),
        &|| near_by_pass(lines, needle, rules),
        &|| near_by_votes(lines, needle),
        &|| near_by_likeness(lines, needle),
    ];
    let nearest = ways.iter().find_map(|way| if lines.is_cancelled() { None } else { way() });
    RejectReason::ContextNotFound { nearest: nearest.map(Box::new) }
}

/// The place that the lines have without line numbers or entities.
fn near_mangled(lines: &Lines<'_>, needle: &Needle<'_>, rules: &Rules) -> Option<Nearest> {
    let nearest = |hunk: &Hunk<'_>, mangled: Mangled| {
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
    };
    // A line that is in the file as it stands was not mangled.
    let is_in_file = |text: &[u8]| lines.iter().any(|line| line == text);
    let numbered = || {
        let ways = without_numbers(needle.hunk);
        let first = needle.old.first().filter(|_| !ways.is_empty())?;
        if is_in_file(first) {
            return None;
        }
        ways.iter().find_map(|(_, hunk)| nearest(hunk, Mangled::LineNumbers))
    };
    let entities = || {
        let texts = without_entities(needle.hunk)?;
        let decoded = |(text, line): &(&Cow<'_, [u8]>, &Line<'_>)| {
            line.kind != LineKind::Insert && ***text != *line.text
        };
        let (_, first) = texts.iter().zip(&needle.hunk.lines).find(decoded)?;
        if is_in_file(first.text) {
            return None;
        }
        let decoded =
            texts.iter().zip(&needle.hunk.lines).map(|(text, line)| Line { text, ..*line });
        let hunk = Hunk { lines: decoded.collect(), ..needle.hunk.clone() };
        nearest(&hunk, Mangled::Entities)
    };
    numbered().or_else(entities)
}

/// The first place of a block of lines.
fn find_block(lines: &Lines<'_>, block: &[&[u8]], pass: Pass) -> Option<usize> {
    Blocks::new(lines, vec![block], &[pass]).next(pass, 0, 0)
}

impl<'p> Needle<'p> {
    /// What the hunk would insert if its old lines were those of the file from `start` on.
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

/// The place that a pass which was not tried would have found.
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

/// How many lines of context a hunk is offered that lacks them: as many as a diff has.
const CONTEXT: usize = 3;

/// The same for a hunk that names its place: there with a pass that was not tried, or elsewhere as
/// it is.
fn near_fixed(lines: &Lines<'_>, needle: &Needle<'_>, rules: &Rules) -> Option<Nearest> {
    for pass in Pass::ALL.into_iter().filter(|pass| !rules.passes.contains(pass)) {
        for dropped in needle.variants() {
            let Some(mark) = needle.fixed_mark(lines, dropped) else { continue };
            if needle.fits(lines, mark, dropped, pass) {
                return Some(by_pass(lines, needle, mark.line as usize, dropped, pass));
            }
        }
    }
    // Of several places, the one that its diff states, or the nearest to that.
    let elsewhere = |&pass: &Pass| {
        let blocks = Blocks::new(lines, vec![needle.old_without(0)], &[pass]);
        let places = blocks.first(pass, 0, SATURATION).into_iter().map(|place| place as usize);
        places.min_by_key(|place| needle.stated.map_or(0, |stated| stated.abs_diff(*place)))
    };
    let start = rules.passes.iter().find_map(elsewhere)?;
    let end = start + needle.old.len();
    let texts = |range: Range<usize>| {
        let lines = range.map(|index| str::from_utf8(lines.content(index)).map(str::to_owned));
        lines.collect::<Result<Vec<_>, _>>().ok()
    };
    let above = || texts(start.saturating_sub(CONTEXT)..start);
    let below = || texts(end..lines.len().min(end + CONTEXT));
    let is_bare = needle.hunk.lines.iter().all(|line| line.kind != LineKind::Context);
    let not_at = match needle.fixed {
        _ if needle.hunk.end_of_file => Some(Edge::Marked(EndMark::EndOfFile)),
        _ if marks_end(needle.hunk) => Some(Edge::Marked(EndMark::NoNewline)),
        Some(Fixed::Whole) if is_bare => {
            above().zip(below()).map(|(above, below)| Edge::Bare { above, below })
        }
        Some(Fixed::End) => below().map(|below| Edge::End { below }),
        Some(Fixed::Start) if needle.stated.is_some() => above().map(|above| Edge::Start { above }),
        Some(Fixed::Start | Fixed::Whole) | None => None,
    };
    Some(Nearest { not_at, ..region(lines, needle, start as isize, 0) })
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
    let found = region(lines, needle, start, 0);
    let paste = match usize::try_from(start) {
        Ok(start) if !scattered && found.agreeing + 1 >= found.of => {
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
    let like = |line: &[u8]| {
        std::str::from_utf8(line).map_or(0.0, |line| strsim::sorensen_dice(line.trim(), wanted))
    };
    let (index, likeness) = lines
        .iter()
        .take(COMPARED_LINES)
        .enumerate()
        .filter(|(_, line)| line.len() < 4 * wanted.len() + 80)
        .map(|(index, line)| (index, like(line)))
        .max_by(|left, right| left.1.total_cmp(&right.1).then(right.0.cmp(&left.0)))?;
    (likeness >= LIKENESS).then(|| region(lines, needle, index as isize - offset as isize, 0))
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

/// What there is to say about the lines from `start` on, held against the hunk.
fn region(lines: &Lines<'_>, needle: &Needle<'_>, start: isize, dropped: usize) -> Nearest {
    let old = needle.old_without(dropped);
    let mut agreeing = 0;
    let mut difference = None;
    for (offset, (wanted, line)) in old.iter().zip(needle.hunk.old_lines()).enumerate() {
        let index = usize::try_from(start + offset as isize).ok();
        let found = index.filter(|&index| index < lines.len()).map(|index| lines.content(index));
        let ends_alike = found.is_none()
            || needle
                .ends_like(offset, Pass::Exact, || lines.terminator(index.unwrap_or_default()));
        if found == Some(wanted) && ends_alike {
            agreeing += 1;
        } else if difference.is_none() {
            // Where only the terminators differ they have to be seen.
            let text = |text: &[u8], crlf: bool| {
                String::from_utf8_lossy(text).into_owned()
                    + if crlf && !ends_alike { "\r" } else { "" }
            };
            let found_crlf = index
                .filter(|_| !ends_alike)
                .is_some_and(|index| lines.terminator(index) == b"\r\n");
            let (wanted, found) =
                (text(wanted, line.crlf), found.map(|found| text(found, found_crlf)));
            let same = |found: &String| {
                wanted.chars().zip(found.chars()).take_while(|(a, b)| a == b).count()
            };
            let column = found.as_ref().map_or(0, same) + 1;
            let file_line = index.map_or(1, |index| index.min(lines.len()) + 1);
            difference =
                Some(Difference { patch_line: line.line, file_line, wanted, found, column });
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
        region: region.collect(),
        paste: Vec::new(),
    }
}

/// A line of the file, held against the hunk's.
fn shown(index: usize, found: &[u8], wanted: Option<&[u8]>) -> Shown {
    let text = String::from_utf8_lossy(found);
    let columns = wanted.filter(|wanted| *wanted != found).map(|wanted| {
        let wanted = String::from_utf8_lossy(wanted);
        let before =
            text.chars().zip(wanted.chars()).take_while(|(one, other)| one == other).count();
        let (len, other) = (text.chars().count(), wanted.chars().count());
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

/// The hunk as it would be with the lines of the file from `start` on, and with what it inserts as
/// it would be written there. Nothing if these lines do not tell how.
fn paste(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    start: usize,
    dropped: usize,
    written: &Result<Written<'_>, RejectReason>,
) -> Vec<String> {
    let hunk = needle.lines(dropped);
    let mut places = start..start + needle.old_without(dropped).len();
    let long = |index: usize| lines.content(index).len() > SHOWN_WIDTH;
    let Ok(written) = written else { return Vec::new() };
    if hunk.len() > PASTED_LINES || places.end > lines.len() {
        return Vec::new();
    }
    let whole = with_context(lines, needle, places.clone(), hunk);
    if whole.clone().any(long) {
        return Vec::new();
    }
    let context = |places: Range<usize>| {
        places.map(|index| Some(format!(" {}", str::from_utf8(lines.content(index)).ok()?)))
    };
    let (above, below) = (context(whole.start..places.start), context(places.end..whole.end));
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

/// Returns the lines of the file that a hunk has to show, so that it stands at `places` only and,
/// if it is of a diff, is not taken for one at an end of the file.
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
        let shows = |line: Option<&Line<'_>>| line.is_some_and(|of| of.kind == LineKind::Context);
        let (above, below) = (shows(hunk.first()), shows(hunk.last()));
        if !above && (!below || first_line <= 1) {
            start = start.saturating_sub(1);
        }
        if !below {
            end = lines.len().min(end + 1);
        }
    }
    let block: Vec<&[u8]> = (start..end).map(|index| lines.content(index)).collect();
    let starts = Blocks::new(lines, vec![&block], &[Pass::Exact]).first(Pass::Exact, 0, SATURATION);
    match advice(lines, &starts, start, block.len(), None) {
        Some(Advice::Before(more)) => start - more.len()..end,
        Some(Advice::After(more)) => start..end + more.len(),
        Some(Advice::Header(_)) | None => start..end,
    }
}

/// The places `starts`, each with what would make a hunk mean it, unless there are `more` places to
/// tell it from.
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
    let candidate = |(nth, &start): (usize, &u32)| {
        let start = start as usize;
        let advice = (advise && nth < ADVISED)
            .then(|| advice(lines, starts, start, len, ends.as_ref()))
            .flatten();
        Candidate { lines: start + 1..=start + len.max(1), advice }
    };
    starts.iter().enumerate().map(candidate).collect()
}

/// The fewest lines that tell the place at `start` from all others.
fn advice<'f>(
    lines: &Lines<'f>,
    starts: &[u32],
    start: usize,
    len: usize,
    ends: Option<&ScopeEnds>,
) -> Option<Advice> {
    let text = |index: usize| String::from_utf8_lossy(lines.content(index)).into_owned();
    let line = |index: Option<usize>| {
        index.filter(|&index| index < lines.len()).map(|index| lines.content(index))
    };
    let others = || starts.iter().map(|&other| other as usize).filter(|&other| other != start);
    let above = |at: usize, distance: usize| line(at.checked_sub(distance));
    let below = |at: usize, distance: usize| line(Some(at + len - 1 + distance));
    // The distance of the first line that differs, for the other place that differs last.
    let needed = |side: &dyn Fn(usize, usize) -> Option<&'f [u8]>| {
        let differs = |other: usize| {
            (1..=ADVICE_LINES).find(|&distance| side(start, distance) != side(other, distance))
        };
        let distance =
            others().map(differs).try_fold(0, |most, distance| Some(most.max(distance?)))?;
        side(start, distance).map(|_| distance)
    };
    let before = needed(&above);
    let after = if len > 0 { needed(&below) } else { None };
    let fewest = before.into_iter().chain(after).min();
    if fewest != Some(1)
        && let Some(ends) = ends
        && let Some(header) = header_of(lines, starts, start, ends)
    {
        return Some(Advice::Header(text(header).trim().to_owned()));
    }
    match (before, after) {
        (Some(before), after) if after.is_none_or(|after| before <= after) => {
            Some(Advice::Before((start - before..start).map(text).collect()))
        }
        (_, Some(after)) => {
            Some(Advice::After((start + len..start + len + after).map(text).collect()))
        }
        _ => None,
    }
}

/// The nearest line above that opens a block, is the only one of its text, and has no other place
/// in its scope.
fn header_of(lines: &Lines<'_>, starts: &[u32], start: usize, ends: &ScopeEnds) -> Option<usize> {
    let depth = indentation(lines.content(start.min(lines.len().checked_sub(1)?)));
    let opens = |&index: &usize| {
        let line = lines.content(index);
        let opener = line
            .get(indentation(line))
            .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'@'));
        indentation(line) < depth && opener
    };
    let header = (start.saturating_sub(500)..start).rev().find(opens)?;
    let name = trim(lines.content(header));
    let unique = lines.iter().filter(|line| trim(line) == name).count() == 1;
    let scope = ends.of(header as u32);
    let inside = starts.iter().filter(|&other| scope.contains(other)).count();
    (unique && inside == 1).then_some(header)
}
