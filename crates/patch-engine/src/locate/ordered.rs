//! The placement rule of profile `codex`: one way to place all hunks in file order.
//!
//! Hunks are looked for in the pre-image. The candidates of a hunk are all its matches in the first
//! pass that has any; its headers narrow them. Whether exactly one placement of all hunks keeps file
//! order without overlaps is decided without counting: take every hunk as far up as it can go, then
//! every hunk as far down as it can go; the placement is unique when both are the same.

use std::ops::Range;

use super::draft::{Draft, Node};
use super::needle::{Fixed, Needle};
use super::pass::Pass;
use super::refuse;
use super::reject::{HunkReject, HunkTrouble};
use super::scope::{self, Scope, ScopeEnds};
use super::search::{Automaton, Numbers, Occurrences, SATURATION, Search};
use super::{Ambiguous, Located, Note, Placed, Rules};
use crate::lines::Lines;

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

#[derive(Debug)]
enum Places {
    /// All of them, ascending.
    Listed(Vec<u32>),
    /// Too many to list: found one at a time, within these ranges.
    Searched { search: Search, pass_index: usize, allowed: Vec<Range<u32>> },
    /// The hunk goes to the end of the file, after all others.
    Appended,
}

/// The lines a hunk matches, and those of them that it changes.
struct Claim {
    hunk: usize,
    lines: Range<usize>,
    core: Option<Range<usize>>,
}

impl Claim {
    /// What this hunk and one that begins no higher have in common that one of them changes. They may
    /// share lines that are context for both, nothing else: which change comes first would be a
    /// guess.
    fn conflict(&self, lower: &Self) -> Option<Option<std::ops::RangeInclusive<usize>>> {
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

/// The numbered lines of the file for one pass.
struct PassIds {
    ids: Vec<u32>,
}

pub(crate) fn locate<'f, 'p>(
    lines: &'f Lines<'f>,
    needles: Vec<Needle<'p>>,
    rules: &Rules,
) -> Result<Located<'f, 'p>, Vec<HunkReject>> {
    let effort = &refuse::Effort::new(lines);
    let mut finder = Finder { lines, rules, effort, needles: &needles, pass_ids: Vec::new(), rejects: Vec::new() };
    let found = finder.matches();
    let candidates = finder.narrow(found);
    let (pass_ids, mut rejects) = (finder.pass_ids, finder.rejects);
    let context = Context { lines, rules, effort, needles: &needles, pass_ids: &pass_ids };
    let placement = context.place(&candidates, &mut rejects);
    if !rejects.is_empty() {
        rejects.sort_by_key(|reject| reject.hunk);
        return Err(rejects);
    }
    let mut hunks: Vec<_> = needles
        .iter()
        .zip(candidates)
        .zip(placement)
        .map(|((needle, candidates), place)| {
            let candidates = candidates.expect("a hunk without candidates is a reject");
            (needle, candidates, place.expect("a hunk that is not placed is a reject"))
        })
        .collect();
    // From the top down, so that the line below an insertion still stands; appended hunks last.
    hunks.sort_by_key(|(needle, candidates, (start, _))| {
        (matches!(candidates.places, Places::Appended), *start, start + candidates.len, needle.index)
    });
    let mut draft = Draft::new(lines);
    let mut placed = Vec::with_capacity(needles.len());
    for (needle, candidates, (start, further)) in hunks {
        let Candidates { pass, dropped, len, notes, .. } = candidates;
        let matched: Vec<Node> = (start..start + len).map(Node).collect();
        let reindent = needle.reindentation(lines, &matched, dropped, pass, &draft);
        let separators = (dropped > 0).then_some(Note::SeparatorsDropped);
        let notes = notes.into_iter().chain(further).chain(reindent.note()).chain(separators).collect();
        let after = draft.previous(Node(start));
        draft.apply(needle.index, needle.lines(dropped), &matched, after, |text| reindent.apply(text));
        draft.drops_bom |= needle.deletes_bom(start);
        placed.push(Placed { hunk: needle.index, first_line: start + 1, line_count: len, pass, notes });
    }
    placed.sort_by_key(|placed| placed.hunk);
    Ok(Located { draft, placed })
}

/// The first two steps: all matches of every hunk, then what the headers leave of them.
struct Finder<'a, 'f, 'p> {
    lines: &'f Lines<'f>,
    rules: &'a Rules,
    effort: &'a refuse::Effort,
    needles: &'a [Needle<'p>],
    pass_ids: Vec<PassIds>,
    rejects: Vec<HunkReject>,
}

/// All matches of a hunk.
struct Matches {
    pass: Pass,
    pass_index: usize,
    dropped: usize,
    occurrences: Occurrences,
    sequence: Vec<u32>,
}

impl<'f> Finder<'_, 'f, '_> {
    /// Each hunk's matches in the first pass that has any; `None` for hunks without old lines, and
    /// for those that match nowhere.
    fn matches(&mut self) -> Vec<Option<Matches>> {
        let mut found: Vec<Option<Matches>> = self.needles.iter().map(|_| None).collect();
        for &pass in &self.rules.passes {
            let mut numbers = Numbers::new(pass);
            let mut sequences = Vec::new();
            let mut wanted = Vec::new();
            for needle in self.needles.iter().filter(|needle| !needle.is_insertion()) {
                if found[needle.index].is_some() {
                    continue;
                }
                if let Some(fixed) = needle.fixed {
                    found[needle.index] = self.match_fixed(needle, fixed, pass);
                    continue;
                }
                for dropped in needle.variants() {
                    sequences.push(needle.old_without(dropped).iter().map(|line| numbers.insert(line)).collect());
                    wanted.push((needle.index, dropped));
                }
            }
            if sequences.is_empty() {
                continue;
            }
            let ids: Vec<u32> = self.lines.iter().map(|line| numbers.get(line)).collect();
            let all = Automaton::new(&sequences).run(ids.iter().copied());
            let pass_index = self.pass_ids.len();
            self.pass_ids.push(PassIds { ids });
            for (((index, dropped), occurrences), sequence) in wanted.into_iter().zip(all).zip(sequences) {
                if !occurrences.starts.is_empty() && found[index].is_none() {
                    found[index] = Some(Matches { pass, pass_index, dropped, occurrences, sequence });
                }
            }
        }
        found
    }

    fn match_fixed(&self, needle: &Needle<'_>, fixed: Fixed, pass: Pass) -> Option<Matches> {
        for dropped in needle.variants() {
            let len = needle.old_without(dropped).len();
            let start = match fixed {
                Fixed::Start => Some(0),
                Fixed::End => self.lines.len().checked_sub(len),
            };
            if let Some(start) = start
                && needle.fits(self.lines, start, dropped, pass)
            {
                let occurrences = Occurrences { starts: vec![start as u32], more: false };
                return Some(Matches { pass, pass_index: 0, dropped, occurrences, sequence: Vec::new() });
            }
        }
        None
    }

    /// What the headers leave of the matches; `None` and a reject where they leave nothing.
    fn narrow(&mut self, found: Vec<Option<Matches>>) -> Vec<Option<Candidates>> {
        let mut anchors = Anchors { lines: self.lines, rules: self.rules, ends: None, found: Vec::new() };
        anchors.find_headers(self.needles);
        let needles = self.needles;
        needles
            .iter()
            .zip(found)
            .map(|(needle, matches)| {
                let narrowed = match matches {
                    _ if needle.is_insertion() => self.narrow_insertion(needle, &mut anchors),
                    None => Err(refuse::not_found(self.lines, needle, self.rules, self.effort)),
                    Some(matches) => self.narrow_matches(needle, matches, &mut anchors),
                };
                narrowed.map_err(|trouble| self.rejects.push(needle.reject(trouble))).ok()
            })
            .collect()
    }

    fn narrow_insertion(&self, needle: &Needle<'_>, anchors: &mut Anchors<'_>) -> Result<Candidates, HunkTrouble> {
        let listed = |places: Vec<u32>| Candidates {
            pass: Pass::Exact,
            dropped: 0,
            len: 0,
            places: Places::Listed(places),
            notes: Vec::new(),
        };
        if needle.headers.is_empty() || needle.fixed == Some(Fixed::End) || self.lines.len() == 0 {
            // Line numbers name no line, but whoever wrote them did not mean the end of the file.
            let anywhere = self.rules.append_without_anchor && !needle.numbered;
            if needle.fixed.is_none() && self.lines.len() > 0 && !anywhere {
                return Err(HunkTrouble::NoAnchor);
            }
            return Ok(Candidates { places: Places::Appended, ..listed(Vec::new()) });
        }
        match anchors.resolve(&needle.headers) {
            Some(scope) => Ok(listed(scope.anchors.iter().map(|anchor| anchor + 1).collect())),
            None => Err(anchor_not_found(needle, Vec::new())),
        }
    }

    fn narrow_matches(
        &self,
        needle: &Needle<'_>,
        matches: Matches,
        anchors: &mut Anchors<'_>,
    ) -> Result<Candidates, HunkTrouble> {
        let Matches { pass, pass_index, dropped, occurrences, sequence } = matches;
        let len = needle.old_without(dropped).len();
        let mut notes = Vec::new();
        let everywhere = std::iter::once(0..self.lines.len() as u32).collect();
        let allowed: Vec<Range<u32>> = if needle.headers.is_empty() {
            everywhere
        } else {
            match anchors.resolve(&needle.headers) {
                Some(scope) => self.scope_or_below(&scope, &occurrences, &sequence, pass_index),
                None if pass == Pass::Exact
                    && occurrences.starts.len() == 1
                    && !(self.rules.stacked_headers_must_match && needle.headers.len() > 1) =>
                {
                    notes.push(Note::HeaderNotFound);
                    everywhere
                }
                None => {
                    let candidates =
                        refuse::candidates(self.lines, &occurrences.starts, len, self.rules.order, self.effort);
                    return Err(anchor_not_found(needle, candidates));
                }
            }
        };
        let places = if occurrences.more {
            Places::Searched { search: Search::new(&sequence), pass_index, allowed }
        } else {
            let mut starts = occurrences.starts.clone();
            starts.retain(|&start| scope::contains(&allowed, start));
            if starts.is_empty() {
                let header = needle.headers.last().copied().unwrap_or_default().to_owned();
                let candidates =
                    refuse::candidates(self.lines, &occurrences.starts, len, self.rules.order, self.effort);
                return Err(HunkTrouble::OutsideScope { header, candidates });
            }
            Places::Listed(starts)
        };
        Ok(Candidates { pass, dropped, len, places, notes })
    }

    /// The scopes if a match begins in one; else everything below the first anchor.
    fn scope_or_below(
        &self,
        scope: &Scope,
        occurrences: &Occurrences,
        sequence: &[u32],
        pass_index: usize,
    ) -> Vec<Range<u32>> {
        let any = if occurrences.more {
            let ids = &self.pass_ids[pass_index].ids;
            let search = Search::new(sequence);
            scope.inside.iter().any(|range| {
                search
                    .next(&ids[..ids.len().min(range.end as usize + sequence.len() - 1)], range.start as usize)
                    .is_some()
            })
        } else {
            occurrences.starts.iter().any(|&start| scope::contains(&scope.inside, start))
        };
        if any {
            return scope.inside.clone();
        }
        let first = scope.anchors.first().copied().unwrap_or(0);
        std::iter::once(first..self.lines.len() as u32).collect()
    }
}

fn anchor_not_found(needle: &Needle<'_>, candidates: Vec<super::Candidate>) -> HunkTrouble {
    HunkTrouble::AnchorNotFound { header: needle.headers.join(" / "), candidates }
}

/// Finds the lines that headers name: all headers of all hunks in one walk a pass.
struct Anchors<'a> {
    lines: &'a Lines<'a>,
    rules: &'a Rules,
    ends: Option<ScopeEnds>,
    /// Per pass, each header and the lines equal to it.
    found: Vec<std::collections::HashMap<String, Vec<u32>>>,
}

impl Anchors<'_> {
    fn find_headers(&mut self, needles: &[Needle<'_>]) {
        let headers: Vec<&str> = needles.iter().flat_map(|needle| needle.headers.iter().copied()).collect();
        if headers.is_empty() {
            return;
        }
        self.ends = Some(ScopeEnds::new(self.lines));
        for &pass in &self.rules.passes {
            let mut numbers = Numbers::new(pass);
            let mut places: Vec<Vec<u32>> = Vec::new();
            let ids: Vec<u32> = headers.iter().map(|header| numbers.insert(header.as_bytes())).collect();
            places.resize(ids.iter().max().map_or(0, |&max| max as usize + 1), Vec::new());
            for (index, line) in self.lines.iter().enumerate() {
                if let Some(places) = places.get_mut(numbers.get(line) as usize) {
                    places.push(index as u32);
                }
            }
            let named = headers.iter().zip(ids);
            self.found.push(named.map(|(header, id)| ((*header).to_owned(), places[id as usize].clone())).collect());
        }
    }

    fn resolve(&mut self, headers: &[&str]) -> Option<Scope> {
        let ends = self.ends.as_ref().expect("made when any hunk has a header");
        let passes = &self.rules.passes;
        scope::resolve(headers, passes, ends, |header, pass| {
            let index = passes.iter().position(|&other| other == pass).expect("one of the rules' passes");
            self.found[index].get(header).cloned().unwrap_or_default()
        })
    }
}

/// The third step: one placement of all hunks.
struct Context<'a, 'f, 'p> {
    lines: &'f Lines<'f>,
    rules: &'a Rules,
    effort: &'a refuse::Effort,
    needles: &'a [Needle<'p>],
    pass_ids: &'a [PassIds],
}

/// For each hunk its first line and what there is to say about it.
type Placement = Vec<Option<(usize, Vec<Note>)>>;

impl Context<'_, '_, '_> {
    fn place(&self, candidates: &[Option<Candidates>], rejects: &mut Vec<HunkReject>) -> Placement {
        let chain: Vec<usize> = (0..candidates.len())
            .filter(|&index| candidates[index].as_ref().is_some_and(|c| !matches!(c.places, Places::Appended)))
            .collect();
        let mut placement: Placement = candidates
            .iter()
            .map(|candidates| {
                let appended = matches!(candidates.as_ref()?.places, Places::Appended);
                appended.then(|| (self.lines.len(), Vec::new()))
            })
            .collect();
        let of = |index: usize| candidates[index].as_ref().expect("in the chain");
        match (self.topmost(&chain, of), self.bottommost(&chain, of)) {
            (Some(top), Some(bottom)) => {
                for ((&index, &top), &bottom) in chain.iter().zip(&top).zip(&bottom) {
                    if top == bottom {
                        placement[index] = Some((top, Vec::new()));
                    } else if self.rules.ambiguous == Ambiguous::First {
                        placement[index] = Some((top, vec![Note::FirstOfSeveral]));
                    } else {
                        rejects.push(self.several(index, of(index), top..=bottom, false));
                    }
                }
            }
            _ => self.out_of_order(&chain, of, &mut placement, rejects),
        }
        placement
    }

    /// Places every hunk as far up as it can go below the one before it.
    fn topmost<'c>(&self, chain: &[usize], of: impl Fn(usize) -> &'c Candidates) -> Option<Vec<usize>> {
        let mut cursor = 0;
        let mut starts = Vec::with_capacity(chain.len());
        for &index in chain {
            let start = self.next(of(index), cursor)?;
            cursor = start + of(index).len;
            starts.push(start);
        }
        Some(starts)
    }

    /// Places every hunk as far down as it can go above the one after it.
    fn bottommost<'c>(&self, chain: &[usize], of: impl Fn(usize) -> &'c Candidates) -> Option<Vec<usize>> {
        let mut limit = self.lines.len();
        let mut starts = vec![0; chain.len()];
        for (slot, &index) in chain.iter().enumerate().rev() {
            let start = self.previous(of(index), limit.checked_sub(of(index).len)?)?;
            limit = start;
            starts[slot] = start;
        }
        Some(starts)
    }

    /// No order-keeping placement exists: every hunk that has one place takes it.
    fn out_of_order<'c>(
        &self,
        chain: &[usize],
        of: impl Fn(usize) -> &'c Candidates,
        placement: &mut Placement,
        rejects: &mut Vec<HunkReject>,
    ) {
        let mut claims: Vec<Claim> = Vec::new();
        let mut cursor = 0;
        for &index in chain {
            let (candidates, end) = (of(index), self.lines.len());
            let (first, last) = (self.next(candidates, 0), self.previous(candidates, end));
            let (Some(first), Some(last)) = (first, last) else { continue };
            if first != last && self.rules.ambiguous == Ambiguous::Reject {
                rejects.push(self.several(index, candidates, first..=last, true));
                continue;
            }
            let mut notes = if first < cursor { vec![Note::OutOfOrder] } else { Vec::new() };
            if first != last {
                notes.push(Note::FirstOfSeveral);
            }
            cursor = cursor.max(first + candidates.len);
            let core = self.needles[index].core(candidates.dropped);
            let core = core.map(|core| first + core.start..first + core.end);
            claims.push(Claim { hunk: index, lines: first..first + candidates.len, core });
            placement[index] = Some((first, notes));
        }
        let key = |range: &Range<usize>| (range.start, range.end);
        claims.sort_by_key(|claim| (key(&claim.lines), claim.core.as_ref().map(key)));
        let mut longest: Option<&Claim> = None;
        for claim in &claims {
            if let Some(upper) = longest
                && let Some(lines) = upper.conflict(claim)
            {
                let (later, other) = (upper.hunk.max(claim.hunk), upper.hunk.min(claim.hunk));
                rejects.push(self.needles[later].reject(HunkTrouble::OverlappingEdits { other, lines }));
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
        span: std::ops::RangeInclusive<usize>,
        out_of_order: bool,
    ) -> HunkReject {
        let mut starts = Vec::new();
        let mut from = *span.start();
        while starts.len() <= SATURATION {
            match self.next(candidates, from) {
                Some(start) if start <= *span.end() => {
                    starts.push(start as u32);
                    from = start + 1;
                }
                _ => break,
            }
        }
        let more = starts.len() > SATURATION;
        starts.truncate(SATURATION);
        let candidates = refuse::candidates(self.lines, &starts, candidates.len, self.rules.order, self.effort);
        self.needles[index].reject(HunkTrouble::MultipleMatches { candidates, more, out_of_order })
    }

    /// The first place of a hunk in `from..`.
    fn next(&self, candidates: &Candidates, from: usize) -> Option<usize> {
        match &candidates.places {
            Places::Listed(starts) => {
                starts.get(starts.partition_point(|&start| (start as usize) < from)).map(|&start| start as usize)
            }
            Places::Searched { search, pass_index, allowed } => {
                let ids = &self.pass_ids[*pass_index].ids;
                let mut from = from as u32;
                for range in &allowed[allowed.partition_point(|range| range.end <= from)..] {
                    from = from.max(range.start);
                    let end = ids.len().min(range.end as usize + candidates.len - 1);
                    if let Some(start) = search.next(&ids[..end], from as usize) {
                        return Some(start);
                    }
                }
                None
            }
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
            Places::Searched { search, pass_index, allowed } => {
                let ids = &self.pass_ids[*pass_index].ids;
                let reach = allowed.partition_point(|range| range.start as usize <= until);
                for range in allowed[..reach].iter().rev() {
                    let until = until.min(range.end as usize - 1);
                    match search.previous(&ids[range.start as usize..], until - range.start as usize) {
                        Some(start) => return Some(range.start as usize + start),
                        None => continue,
                    }
                }
                None
            }
            Places::Appended => None,
        }
    }
}
