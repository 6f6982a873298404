//! The placement rule of profile `codex`: one way to place all hunks in file order.
//!
//! Hunks are looked for in the pre-image. The candidates of a hunk are all its matches in the first
//! pass that has any; its headers narrow them. Whether exactly one placement of all hunks keeps file
//! order without overlaps is decided without counting: take every hunk as far up as it can go, then
//! every hunk as far down as it can go; the placement is unique when both are the same.

use std::ops::Range;
use std::rc::Rc;

use super::draft::{Draft, Node};
use super::headers::Headers;
use super::matches::{self, Found, Matches, Rest};
use super::needle::{Fixed, Needle};
use super::pass::Pass;
use super::refuse;
use super::reject::{HunkReject, HunkTrouble};
use super::scope::{self, Scope};
use super::search::SATURATION;
use super::{Ambiguous, Located, Note, Placed, Rules};
use crate::lines::{Lines, Mark};

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
    Searched { rest: Rest, allowed: Rc<[Range<u32>]> },
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

pub(crate) fn locate<'f, 'p>(
    lines: &'f Lines<'f>,
    needles: Vec<Needle<'p>>,
    rules: &Rules,
) -> Result<Located<'f, 'p>, Vec<HunkReject>> {
    let Found { matches, numbered, marks } = matches::find(lines, &needles, &rules.passes);
    let effort = &refuse::Effort::new(lines);
    let mut finder = Finder { lines, rules, effort, needles: &needles, numbered: &numbered, rejects: Vec::new() };
    let candidates = finder.narrow(matches);
    let mut rejects = finder.rejects;
    let context = Context { lines, rules, effort, needles: &needles, numbered: &numbered };
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
    lines.mark(hunks.iter().filter_map(|(_, candidates, (start, _))| {
        let mark = match candidates.places {
            Places::Appended => Mark { line: lines.len() as u32, byte: lines.bytes().len() as u32 },
            _ => marks[marks.binary_search_by_key(start, |mark| mark.line as usize).ok()?],
        };
        Some((mark, candidates.len))
    }));
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

/// The second step: what the headers leave of the matches.
struct Finder<'a, 'f, 'p> {
    lines: &'f Lines<'f>,
    rules: &'a Rules,
    effort: &'a refuse::Effort,
    needles: &'a [Needle<'p>],
    numbered: &'a [Vec<u32>],
    rejects: Vec<HunkReject>,
}

impl<'a, 'p> Finder<'a, '_, 'p> {
    /// What the headers leave of the matches; `None` and a reject where they leave nothing.
    fn narrow(&mut self, found: Vec<Option<Matches>>) -> Vec<Option<Candidates>> {
        let needles = self.needles;
        let mut headers = Headers::new(self.lines, needles, &self.rules.passes);
        needles
            .iter()
            .zip(found)
            .map(|(needle, matches)| {
                let narrowed = match matches {
                    _ if needle.is_insertion() => self.narrow_insertion(needle, &mut headers),
                    None => Err(refuse::not_found(self.lines, needle, self.rules, self.effort)),
                    Some(matches) => self.narrow_matches(needle, matches, &mut headers),
                };
                narrowed.map_err(|trouble| self.rejects.push(needle.reject(trouble))).ok()
            })
            .collect()
    }

    fn narrow_insertion(
        &self,
        needle: &'a Needle<'p>,
        headers: &mut Headers<'a, 'p>,
    ) -> Result<Candidates, HunkTrouble> {
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
        match headers.resolve(needle) {
            Some(scope) => Ok(listed(scope.anchors.iter().map(|anchor| anchor + 1).collect())),
            None => Err(anchor_not_found(needle, Vec::new())),
        }
    }

    fn narrow_matches(
        &self,
        needle: &'a Needle<'p>,
        matches: Matches,
        headers: &mut Headers<'a, 'p>,
    ) -> Result<Candidates, HunkTrouble> {
        let Matches { pass, dropped, mut starts, rest } = matches;
        let len = needle.old_without(dropped).len();
        let mut notes = Vec::new();
        let below = |line: u32| std::iter::once(line..self.lines.len() as u32).collect();
        let allowed: Rc<[Range<u32>]> = if needle.headers.is_empty() {
            below(0)
        } else {
            match headers.resolve(needle) {
                Some(scope) => self.scope_or_below(&scope, &starts, rest.as_ref(), len),
                None if pass == Pass::Exact
                    && starts.len() == 1
                    && !(self.rules.stacked_headers_must_match && needle.headers.len() > 1) =>
                {
                    notes.push(Note::HeaderNotFound);
                    below(0)
                }
                None => {
                    let candidates = refuse::candidates(self.lines, &starts, len, self.rules.order, self.effort);
                    return Err(anchor_not_found(needle, candidates));
                }
            }
        };
        let places = if let Some(rest) = rest {
            Places::Searched { rest, allowed }
        } else {
            if !starts.iter().any(|&start| scope::contains(&allowed, start)) {
                let header = needle.headers.last().copied().unwrap_or_default().to_owned();
                let candidates = refuse::candidates(self.lines, &starts, len, self.rules.order, self.effort);
                return Err(HunkTrouble::OutsideScope { header, candidates });
            }
            starts.retain(|&start| scope::contains(&allowed, start));
            Places::Listed(starts)
        };
        Ok(Candidates { pass, dropped, len, places, notes })
    }

    /// The scopes if a match begins in one; else everything below the first anchor.
    fn scope_or_below(&self, scope: &Scope, starts: &[u32], rest: Option<&Rest>, len: usize) -> Rc<[Range<u32>]> {
        let any = match rest {
            Some(Rest { search, numbering }) => {
                let ids = &self.numbered[*numbering];
                scope.inside.iter().any(|range| {
                    search.next(&ids[..ids.len().min(range.end as usize + len - 1)], range.start as usize).is_some()
                })
            }
            None => starts.iter().any(|&start| scope::contains(&scope.inside, start)),
        };
        if any {
            return Rc::clone(&scope.inside);
        }
        let first = scope.anchors.first().copied().unwrap_or(0);
        std::iter::once(first..self.lines.len() as u32).collect()
    }
}

fn anchor_not_found(needle: &Needle<'_>, candidates: Vec<super::Candidate>) -> HunkTrouble {
    HunkTrouble::AnchorNotFound { header: needle.headers.join(" / "), candidates }
}

/// The third step: one placement of all hunks.
struct Context<'a, 'f, 'p> {
    lines: &'f Lines<'f>,
    rules: &'a Rules,
    effort: &'a refuse::Effort,
    needles: &'a [Needle<'p>],
    numbered: &'a [Vec<u32>],
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
            Places::Searched { rest: Rest { search, numbering }, allowed } => {
                let ids = &self.numbered[*numbering];
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
            Places::Searched { rest: Rest { search, numbering }, allowed } => {
                let ids = &self.numbered[*numbering];
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
