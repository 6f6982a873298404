//! The placement rule of profile `codex`: one way to place all hunks in file order.
//!
//! Hunks are looked for in the pre-image. The candidates of a hunk are all its matches in the first
//! pass with any; its headers narrow them. To decide whether exactly one placement of all hunks
//! keeps file order without overlaps, nothing is counted: place every hunk as far up as possible,
//! then every hunk as far down as possible; the placement is unique when both are the same.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

use super::draft::{Draft, Node};
use super::find::Blocks;
use super::headers::Headers;
use super::hunk_lines::is_context;
use super::matches::{self, AllMatches, Matches, Rest};
use super::needle::{Fixed, Needle};
use super::pass::Pass;
use super::placed::{Located, Note, Placed};
use super::refuse;
use super::reject::{Candidate, HunkReject, RejectReason};
use super::rules::{Ambiguous, Rules};
use super::search::SATURATION;
use super::stated::Stated;
use super::{applied, done};
use crate::text::lines::{Lines, Mark};

/// Where one hunk may go.
#[derive(Debug)]
struct Candidates {
    pass: Pass,
    dropped: usize,
    /// How many lines the hunk matches.
    len: usize,
    places: Places,
    notes: Vec<Note>,
}

impl Candidates {
    /// The places of a hunk without old lines.
    fn of_insertion(places: Places) -> Self {
        Self { pass: Pass::Exact, dropped: 0, len: 0, places, notes: Vec::new() }
    }
}

#[derive(Debug)]
enum Places {
    /// All of them, ascending.
    Listed(Vec<u32>),
    /// Too many to list: found one at a time.
    Searched(Searched),
    /// The hunk goes to the end of the file, after all others.
    Appended,
}

impl Places {
    /// The places that begin with `first`.
    fn new(source: PlaceSource, scope: usize, first: Rc<[u32]>) -> Self {
        match first.len() {
            0..=SATURATION => Self::Listed(first.to_vec()),
            _ => Self::Searched(Searched { source, scope, first }),
        }
    }
}

/// The places of `source` in `scope`, found one at a time.
#[derive(Debug)]
struct Searched {
    source: PlaceSource,
    scope: usize,
    /// The first of them, more than are listed in a refusal.
    first: Rc<[u32]>,
}

/// The lines that the places of a hunk are found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PlaceSource {
    /// The lines of the hunk.
    Lines(Rest),
    /// The headers of the hunk, which goes below the innermost one.
    Anchors,
}

/// The lines that a hunk matches, and the changed ones among them.
struct Claim {
    hunk: usize,
    lines: Range<usize>,
    core: Option<Range<usize>>,
}

impl Claim {
    /// The lines that this hunk shares with one that begins no higher, if one of the two changes
    /// them. Two hunks may share lines that are context in both, and no others: the order of the
    /// changes would be a guess.
    fn conflict(&self, lower: &Self) -> Option<Option<RangeInclusive<usize>>> {
        if self.lines.is_empty() && self.lines == lower.lines {
            return Some(None);
        }
        let shared = lower.lines.start..self.lines.end.min(lower.lines.end);
        if lower.lines.start >= self.lines.end {
            return None;
        }
        let above = self.core.as_ref().is_none_or(|core| core.end <= lower.lines.start);
        let below = lower.core.as_ref().is_none_or(|core| core.start >= self.lines.end);
        (!above || !below).then(|| (!shared.is_empty()).then(|| shared.start + 1..=shared.end))
    }
}

pub(crate) fn locate<'f, 'p>(
    lines: &'f Lines<'f>,
    needles: &[Needle<'p>],
    rules: &Rules,
) -> Result<Located<'f, 'p>, Vec<HunkReject>> {
    let AllMatches { matches, searched, marks } = matches::find(lines, needles, &rules.passes);
    let effort = &refuse::Effort::new(lines);
    let headers = Headers::new(lines, needles, &rules.passes);
    let finder = PlaceFinder { headers, searched: &searched, firsts: HashMap::default() };
    let mut context = OrderedSearch { lines, rules, effort, needles, finder };
    let mut rejects = Vec::new();
    let candidates = context.narrow(matches, &mut rejects);
    if lines.is_cancelled() {
        return Err(Vec::new());
    }
    let placement = context.place(&candidates, &mut rejects);
    if !rejects.is_empty() {
        rejects.sort_by_key(|reject| reject.hunk);
        return Err(rejects);
    }
    let mut hunks: Vec<_> = needles
        .iter()
        .zip(candidates)
        .zip(placement)
        .filter(|((needle, _), _)| needle.done.is_none())
        .map(|((needle, candidates), place)| {
            let candidates = candidates.expect("a hunk without candidates is a reject");
            (needle, candidates, place.expect("a hunk that is not placed is a reject"))
        })
        .collect();
    // From the top down, so that the line below an insertion still stands; appended hunks last.
    hunks.sort_by_key(|(needle, candidates, (start, _))| {
        (matches!(candidates.places, Places::Appended), *start, candidates.len, needle.index)
    });
    // Whether a hunk is there already is looked for as far around as it has lines. The table of all
    // lines takes half of what as many marks do.
    let around: usize = hunks.iter().map(|(needle, ..)| 3 * needle.hunk.lines.len()).sum();
    let is_sparse = around < lines.len() / 2;
    lines.mark(hunks.iter().filter_map(|(needle, candidates, (start, _))| {
        let mark = match candidates.places {
            Places::Appended => Mark { line: lines.len() as u32, byte: lines.bytes().len() as u32 },
            _ => marks[marks.binary_search_by_key(start, |mark| mark.line as usize).ok()?],
        };
        let around = if is_sparse { needle.hunk.lines.len().max(1) } else { 1 };
        Some((mark, candidates.len, around))
    }));
    let mut draft = Draft::new(lines);
    let mut placed = Vec::with_capacity(needles.len());
    for (needle, candidates, (start, further)) in hunks {
        if lines.is_cancelled() {
            return Err(Vec::new());
        }
        let Candidates { pass, dropped, len, notes, .. } = candidates;
        let matched: Vec<Node> = (start..start + len).map(Node).collect();
        let written = match needle.written(&matched, dropped, pass, &draft) {
            Ok(written) => written,
            Err(reason) => {
                rejects.push(effort.reject(needle, reason));
                continue;
            }
        };
        let separators = (dropped > 0).then_some(Note::SeparatorsDropped);
        let told = written.notes.iter().cloned();
        let notes = notes.into_iter().chain(further).chain(told).chain(separators).collect();
        let after = draft.previous(Node(start));
        draft.apply(needle, dropped, &matched, after, written.lines);
        draft.takes_bom |= needle.takes_bom(start);
        placed.push(Placed {
            hunk: needle.index,
            first_line: start + 1,
            line_count: len,
            pass,
            notes,
        });
    }
    if !rejects.is_empty() {
        rejects.sort_by_key(|reject| reject.hunk);
        return Err(rejects);
    }
    placed.sort_by_key(|placed| placed.hunk);
    Ok(Located { draft, placed })
}

/// Finds places one at a time.
struct PlaceFinder<'a, 'f, 'p> {
    headers: Headers<'a, 'f, 'p>,
    searched: &'a [Blocks<'a, 'f, 'p>],
    /// The first places of each source in each scope: thousands of hunks may have the same.
    firsts: HashMap<(PlaceSource, usize), Rc<[u32]>, foldhash::fast::RandomState>,
}

impl PlaceFinder<'_, '_, '_> {
    /// All places of `source` in a scope.
    fn places(&mut self, source: PlaceSource, scope: usize) -> Places {
        let first = match self.firsts.get(&(source, scope)) {
            Some(first) => Rc::clone(first),
            None => {
                let first = self.first_places(source, scope, 0);
                self.firsts.insert((source, scope), Rc::clone(&first));
                first
            }
        };
        Places::new(source, scope, first)
    }

    /// All places of `source` from a line on.
    fn places_below(&self, source: PlaceSource, line: u32) -> Places {
        let first = self.first_places(source, Headers::WHOLE, line as usize);
        Places::new(source, Headers::WHOLE, first)
    }

    fn first_places(&self, source: PlaceSource, scope: usize, from: usize) -> Rc<[u32]> {
        let first = self.next_of(source, scope, from);
        std::iter::successors(first, |&place| self.next_of(source, scope, place as usize + 1))
            .take(SATURATION + 1)
            .collect()
    }

    fn next_of(&self, source: PlaceSource, scope: usize, mut from: usize) -> Option<u32> {
        loop {
            // The place, and the line that must be in the scope.
            let (place, line) = match source {
                PlaceSource::Lines(Rest { searched, pass, block }) => {
                    let place = self.searched[searched].next(pass, block, from)? as u32;
                    (place, place)
                }
                PlaceSource::Anchors => {
                    let line =
                        self.headers.innermost(scope).next((from as u32).saturating_sub(1))?;
                    (line + 1, line)
                }
            };
            let stretch = self.headers.stretch(scope, line);
            if stretch.inside {
                return Some(place);
            }
            from = (stretch.lines.end + (place - line)) as usize;
        }
    }

    fn previous_of(&self, source: PlaceSource, scope: usize, mut until: usize) -> Option<u32> {
        loop {
            let (place, line) = match source {
                PlaceSource::Lines(Rest { searched, pass, block }) => {
                    let place = self.searched[searched].previous(pass, block, until)? as u32;
                    (place, place)
                }
                PlaceSource::Anchors => {
                    let line =
                        self.headers.innermost(scope).previous((until as u32).checked_sub(1)?)?;
                    (line + 1, line)
                }
            };
            let stretch = self.headers.stretch(scope, line);
            if stretch.inside {
                return Some(place);
            }
            until = (stretch.lines.start.checked_sub(1)? + (place - line)) as usize;
        }
    }

    /// The first place of a hunk in `from..`.
    fn next(&self, candidates: &Candidates, from: usize) -> Option<usize> {
        match &candidates.places {
            Places::Listed(starts) => next_listed(starts, from),
            Places::Searched(Searched { source, scope, first }) => next_listed(first, from)
                .or_else(|| self.next_of(*source, *scope, from).map(|place| place as usize)),
            Places::Appended => None,
        }
    }

    /// The last place of a hunk in `..=until`.
    fn previous(&self, candidates: &Candidates, until: usize) -> Option<usize> {
        match &candidates.places {
            Places::Listed(starts) => {
                let after = starts.partition_point(|&start| start as usize <= until);
                after.checked_sub(1).map(|index| starts[index] as usize)
            }
            Places::Searched(Searched { source, scope, first }) => {
                let place =
                    self.previous_of(*source, *scope, until).filter(|place| *place >= first[0])?;
                Some(place as usize)
            }
            Places::Appended => None,
        }
    }
}

/// The first of the ascending `starts` in `from..`.
fn next_listed(starts: &[u32], from: usize) -> Option<usize> {
    let below = starts.partition_point(|&start| (start as usize) < from);
    starts.get(below).map(|&start| start as usize)
}

struct OrderedSearch<'a, 'f, 'p> {
    lines: &'f Lines<'f>,
    rules: &'a Rules,
    effort: &'a refuse::Effort,
    needles: &'a [Needle<'p>],
    finder: PlaceFinder<'a, 'f, 'p>,
}

/// The second step: the matches that the headers allow.
impl<'p> OrderedSearch<'_, '_, 'p> {
    /// Narrows the matches of each hunk by its headers; `None` and a reject where no match is left.
    fn narrow(
        &mut self,
        found: Vec<Option<Matches>>,
        rejects: &mut Vec<HunkReject>,
    ) -> Vec<Option<Candidates>> {
        let needles = self.needles;
        needles
            .iter()
            .zip(found)
            .take_while(|_| !self.lines.is_cancelled())
            .map(|(needle, matches)| {
                let narrowed = match matches {
                    _ if needle.done.is_some() => Ok(stays(needle)),
                    _ if needle.is_insertion() => self.narrow_insertion(needle),
                    None => Err(refuse::not_found(self.lines, needle, self.rules, self.effort)),
                    Some(matches) => self.narrow_matches(needle, matches),
                };
                narrowed.map_err(|reason| rejects.push(self.effort.reject(needle, reason))).ok()
            })
            .collect()
    }

    fn narrow_insertion(&mut self, needle: &Needle<'p>) -> Result<Candidates, RejectReason> {
        if needle.headers.is_empty() || needle.fixed == Some(Fixed::End) || self.lines.len() == 0 {
            // Line numbers name no line, but they do not mean the end of the file.
            let anywhere = self.rules.append_without_anchor && !needle.numbered;
            if needle.fixed.is_none() && self.lines.len() > 0 && !anywhere {
                return Err(needle.no_anchor(None));
            }
            return Ok(Candidates::of_insertion(Places::Appended));
        }
        match self.finder.headers.resolve(needle) {
            Some(scope) => {
                let places = self.finder.places(PlaceSource::Anchors, scope);
                Ok(Candidates::of_insertion(places))
            }
            None => Err(header_not_found(needle, Vec::new(), false)),
        }
    }

    fn narrow_matches(
        &mut self,
        needle: &Needle<'p>,
        matches: Matches,
    ) -> Result<Candidates, RejectReason> {
        let Matches { pass, dropped, starts, rest } = matches;
        let len = needle.old_without(dropped).len();
        let more = rest.is_some() || starts.len() > SATURATION;
        let mut notes = Vec::new();
        let scope = match self.finder.headers.resolve(needle) {
            Some(scope) => scope,
            None if pass == Pass::Exact
                && starts.len() == 1
                && !(self.rules.stacked_headers_must_match && needle.headers.len() > 1) =>
            {
                notes.push(Note::HeaderNotFound);
                Headers::WHOLE
            }
            None => {
                let candidates = refuse::candidates(
                    self.lines,
                    &starts,
                    more,
                    len,
                    self.rules.order,
                    self.effort,
                );
                return Err(header_not_found(needle, candidates, more));
            }
        };
        let result = if rest.is_none() { self.result_in(scope, needle, &starts) } else { None };
        let places = match result {
            Some(lines) if applied::every_change_shows(needle.lines(needle.separators)) => {
                return Err(RejectReason::AlreadyApplied { lines });
            }
            Some(_) => None,
            None => self.within(needle, &starts, rest, scope),
        };
        let places = places.ok_or_else(|| {
            let header = needle.headers.last().copied().unwrap_or_default().to_owned();
            let candidates =
                refuse::candidates(self.lines, &starts, more, len, self.rules.order, self.effort);
            RejectReason::OutsideScope { header, candidates, more }
        })?;
        Ok(Candidates { pass, dropped, len, places, notes })
    }

    /// The lines with the result of a hunk in its scope, below the header, if its old lines are
    /// outside: the hunk may be applied already, and must not be applied again out there.
    fn result_in(
        &self,
        scope: usize,
        needle: &Needle<'p>,
        starts: &[u32],
    ) -> Option<RangeInclusive<usize>> {
        let headers = &self.finder.headers;
        if scope == Headers::WHOLE
            || starts.iter().any(|&start| headers.stretch(scope, start).inside)
        {
            return None;
        }
        let new = applied::new_texts(self.lines, needle);
        let anchors = headers.innermost(scope);
        let first = applied::places_of(self.lines, &new).into_iter().find(|&start| {
            headers.stretch(scope, start).inside && anchors.next(start) != Some(start)
        })?;
        let first = first as usize;
        Some(first + 1..=first + new.len())
    }

    /// The matches in a scope; if there are none, the matches below its first anchor, and at last
    /// the matches that show an anchor above their changes.
    fn within(
        &mut self,
        needle: &Needle<'p>,
        starts: &[u32],
        rest: Option<Rest>,
        scope: usize,
    ) -> Option<Places> {
        let headers = &self.finder.headers;
        let first = headers.first_anchor(scope);
        let Some(rest) = rest else {
            let context = needle.lines(0).iter().take_while(|line| is_context(line)).count();
            return select(starts, |start| headers.stretch(scope, start).inside)
                .or_else(|| select(starts, |start| start >= first))
                .or_else(|| select(starts, |start| self.shows_anchor(scope, start, context)));
        };
        let source = PlaceSource::Lines(rest);
        let places = match self.finder.places(source, scope) {
            Places::Listed(starts) if starts.is_empty() => self.finder.places_below(source, first),
            places => places,
        };
        (!matches!(&places, Places::Listed(starts) if starts.is_empty())).then_some(places)
    }

    /// Whether one of the `context` lines from `start` on is in a scope.
    fn shows_anchor(&self, scope: usize, start: u32, context: usize) -> bool {
        let end = (start as usize + context).min(self.lines.len()) as u32;
        let mut stretch = self.finder.headers.stretch(scope, start);
        while !stretch.inside && stretch.lines.end < end {
            stretch = self.finder.headers.stretch(scope, stretch.lines.end);
        }
        stretch.inside
    }
}

/// The matches that are `wanted`, unless there are none.
fn select(starts: &[u32], wanted: impl Fn(u32) -> bool) -> Option<Places> {
    let starts: Vec<u32> = starts.iter().copied().filter(|&start| wanted(start)).collect();
    (!starts.is_empty()).then_some(Places::Listed(starts))
}

/// The place of a hunk that is applied already: the other hunks keep file order with it.
fn stays(needle: &Needle<'_>) -> Candidates {
    let done = needle.done.clone().unwrap_or_default();
    Candidates {
        pass: Pass::Exact,
        dropped: 0,
        len: done.len(),
        places: Places::Listed(vec![done.start as u32]),
        notes: Vec::new(),
    }
}

fn header_not_found(needle: &Needle<'_>, candidates: Vec<Candidate>, more: bool) -> RejectReason {
    RejectReason::HeaderNotFound { header: needle.headers.join(" / "), candidates, more }
}

/// The first line of each hunk, with notes.
type Placement = Vec<Option<(usize, Vec<Note>)>>;

/// A hunk that keeps the order of the file.
#[derive(Clone, Copy)]
struct Link<'c> {
    index: usize,
    candidates: &'c Candidates,
}

/// The third step: one placement of all hunks.
impl OrderedSearch<'_, '_, '_> {
    fn place(&self, candidates: &[Option<Candidates>], rejects: &mut Vec<HunkReject>) -> Placement {
        let chain: Vec<Link<'_>> = candidates
            .iter()
            .enumerate()
            .filter_map(|(index, candidates)| {
                let candidates = candidates.as_ref()?;
                let is_ordered = !matches!(candidates.places, Places::Appended);
                is_ordered.then_some(Link { index, candidates })
            })
            .collect();
        let mut placement: Placement = candidates
            .iter()
            .map(|candidates| {
                let appended = matches!(candidates.as_ref()?.places, Places::Appended);
                appended.then(|| (self.lines.len(), Vec::new()))
            })
            .collect();
        match (self.topmost(&chain), self.bottommost(&chain)) {
            (Some(top), Some(bottom)) => {
                let chosen = self.choose(&chain, &top, &bottom);
                for (((&Link { index, candidates }, &top), &bottom), (line, stated)) in
                    chain.iter().zip(&top).zip(&bottom).zip(chosen)
                {
                    if top == bottom {
                        placement[index] = Some((top, Vec::new()));
                    } else if stated {
                        placement[index] = Some((line, vec![Note::StatedLine]));
                    } else if self.rules.ambiguous == Ambiguous::First {
                        placement[index] = Some((line, vec![Note::FirstOfSeveral]));
                    } else {
                        rejects.push(self.several(index, candidates, top..=bottom, false));
                    }
                }
            }
            _ => self.out_of_order(&chain, &mut placement, rejects),
        }
        placement
    }

    /// Places every hunk at its stated line, if the line number tells which of several exact places
    /// is meant; else as far up as possible. Each place is below the one before and leaves room for
    /// the hunks to come, which stand no lower than at `bottom`. With each place, whether it is the
    /// only one left, or the stated one.
    fn choose(&self, chain: &[Link<'_>], top: &[usize], bottom: &[usize]) -> Vec<(usize, bool)> {
        // The distance from its stated line of the next hunk below with only one place.
        let mut nearest = None;
        let mut below = vec![None; chain.len()];
        for (at, link) in chain.iter().enumerate().rev() {
            below[at] = nearest;
            if let Some(stated) = self.needles[link.index].stated.filter(|_| top[at] == bottom[at])
            {
                nearest = Some(top[at] as isize - stated as isize);
            }
        }
        let mut cursor = 0;
        let mut stated = Stated::default();
        let mut chosen = Vec::with_capacity(chain.len());
        for ((&Link { index, candidates }, &bottom), below) in chain.iter().zip(bottom).zip(below) {
            let needle = &self.needles[index];
            let first = self.finder.next(candidates, cursor).unwrap_or(bottom);
            let line = if first == bottom {
                Some(first)
            } else {
                let whole = candidates.pass == Pass::Exact && candidates.dropped == 0;
                let meant = stated.choose(needle, below, |line| {
                    (cursor..=bottom).contains(&line)
                        && self.finder.next(candidates, line) == Some(line)
                });
                meant.filter(|_| whole)
            };
            if let Some(line) = line {
                stated.found(needle, line);
            }
            let place = line.unwrap_or(first);
            cursor = place + candidates.len;
            chosen.push((place, line.is_some()));
        }
        chosen
    }

    /// Places every hunk as far up as possible below the one before.
    fn topmost(&self, chain: &[Link<'_>]) -> Option<Vec<usize>> {
        let mut cursor = 0;
        let mut starts = Vec::with_capacity(chain.len());
        for Link { candidates, .. } in chain {
            let start = self.finder.next(candidates, cursor)?;
            cursor = start + candidates.len;
            starts.push(start);
        }
        Some(starts)
    }

    /// Places every hunk as far down as possible above the one after.
    fn bottommost(&self, chain: &[Link<'_>]) -> Option<Vec<usize>> {
        let mut limit = self.lines.len();
        let mut starts = vec![0; chain.len()];
        for (slot, Link { candidates, .. }) in chain.iter().enumerate().rev() {
            let start = self.finder.previous(candidates, limit.checked_sub(candidates.len)?)?;
            limit = start;
            starts[slot] = start;
        }
        Some(starts)
    }

    /// Places each hunk with one place there, when no placement keeps the order.
    fn out_of_order(
        &self,
        chain: &[Link<'_>],
        placement: &mut Placement,
        rejects: &mut Vec<HunkReject>,
    ) {
        let mut claims: Vec<Claim> = Vec::new();
        let mut cursor = 0;
        let mut topmost = 0;
        let any_done = self.needles.iter().any(|needle| needle.done.is_some());
        for &Link { index, candidates } in chain {
            let first = self.finder.next(candidates, 0).expect("candidates have a place");
            let unique = self.finder.next(candidates, first + 1).is_none();
            if !unique && self.rules.ambiguous == Ambiguous::Reject {
                rejects.push(self.several(index, candidates, first..=usize::MAX, true));
                continue;
            }
            // Beside a hunk that is applied already, this one may be applied too, and this place a
            // coincidence.
            if first < topmost && any_done {
                rejects.push(self.several(index, candidates, first..=first, true));
                continue;
            }
            topmost = first;
            let mut notes = if first < cursor { vec![Note::OutOfOrder] } else { Vec::new() };
            if !unique {
                notes.push(Note::FirstOfSeveral);
            }
            cursor = cursor.max(first + candidates.len);
            let needle = &self.needles[index];
            let core = match &needle.done {
                Some(_) => done::core(needle),
                None => needle.core(candidates.dropped),
            };
            let core = core.map(|core| first + core.start..first + core.end);
            claims.push(Claim { hunk: index, lines: first..first + candidates.len, core });
            placement[index] = Some((first, notes));
        }
        claims.sort_by_key(|claim| {
            let core = claim.core.as_ref().map(|core| (core.start, core.end));
            (claim.lines.start, claim.lines.end, core)
        });
        let mut longest: Option<&Claim> = None;
        for claim in &claims {
            if let Some(upper) = longest
                && let Some(lines) = upper.conflict(claim)
            {
                let later = upper.hunk.max(claim.hunk);
                let other = upper.hunk.min(claim.hunk);
                rejects.push(
                    self.needles[later].reject(RejectReason::OverlappingEdits { other, lines }),
                );
            }
            if longest.is_none_or(|upper| upper.lines.end <= claim.lines.end) {
                longest = Some(claim);
            }
        }
    }

    fn several(
        &self,
        index: usize,
        candidates: &Candidates,
        span: RangeInclusive<usize>,
        out_of_order: bool,
    ) -> HunkReject {
        let most = self.effort.places();
        let mut starts = Vec::new();
        let mut from = *span.start();
        while starts.len() <= most {
            match self.finder.next(candidates, from) {
                Some(start) if start <= *span.end() => {
                    starts.push(start as u32);
                    from = start + 1;
                }
                _ => break,
            }
        }
        let more = starts.len() > most;
        starts.truncate(most);
        let candidates = refuse::candidates(
            self.lines,
            &starts,
            more,
            candidates.len,
            self.rules.order,
            self.effort,
        );
        let reason = RejectReason::MultipleMatches { candidates, more, out_of_order };
        self.effort.reject(&self.needles[index], reason)
    }
}
