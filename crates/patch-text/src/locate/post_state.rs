//! The placement rule of profile `strict`: each hunk has one place in the file as the hunks before
//! it leave it.
//!
//! The file is not searched again for each hunk. All hunks are looked for in the pre-image at once;
//! what a hunk changes can only add places that touch its lines. Most hunks insert lines that no
//! other hunk mentions, so there are none. Else the surroundings, as far as the longest hunk to
//! come reaches, are searched for those to come. A place is checked when its hunk's turn comes: a
//! later change may have broken it.
//!
//! # Limits
//!
//! A search of the surroundings ends where a line stands that no hunk mentions. In a file of
//! nothing but lines that hunks mention, many short hunks before a very long one cost its length
//! each.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use super::done;
use super::draft::{Draft, Node};
use super::find::Blocks;
use super::interner::{FOREIGN, Interner, fingerprint};
use super::needle::{Fixed, Needle};
use super::pass::Pass;
use super::placed::{Located, Note, Placed};
use super::refuse;
use super::reject::{HunkReject, LineNumber, RejectReason};
use super::rules::{Ambiguous, Rules};
use super::search::{Automaton, SATURATION};
use super::stated::Stated;
use crate::text::lines::Lines;

pub(crate) fn locate<'f, 'p>(
    lines: &'f Lines<'f>,
    needles: &[Needle<'p>],
    rules: &Rules,
) -> Result<Located<'f, 'p>, Vec<HunkReject>> {
    let mut finder = Finder::new(lines, needles, &rules.passes);
    let mut draft = Draft::new(lines);
    let effort = refuse::Effort::new(lines);
    let mut placed = Vec::with_capacity(needles.len());
    let mut rejects: Vec<HunkReject> = Vec::new();
    let mut stated = Stated::default();
    // What is counted in the lines of the file as it is goes by what the other hunks were found at.
    let counted = |needle: &&Needle<'_>| rules.unidiff_zero && needle.inserts_below.is_some();
    let done: Vec<&Needle<'_>> = needles.iter().filter(|needle| needle.done.is_some()).collect();
    let first = needles.iter().filter(|needle| !counted(needle));
    for needle in first.chain(needles.iter().filter(counted)) {
        if lines.is_cancelled() {
            return Err(Vec::new());
        }
        if let Some(place) = &needle.done {
            stated.found(needle, place.start);
            continue;
        }
        let place = match find(&draft, &mut finder, needles, needle, rules, &stated, &effort) {
            Ok(place) => place,
            Err(reason) => {
                rejects.push(effort.reject(needle, reason));
                continue;
            }
        };
        let first_line = draft.line_number(
            place.matched.first().map_or_else(|| draft.next(place.after), |&node| node),
        );
        if let Some(line) = place.matched.first().and_then(|&node| draft.old(node))
            && !place.notes.contains(&Note::FirstOfSeveral)
        {
            stated.found(needle, line);
        }
        if let Some(reason) = done::disturbed(&done, needle, place.dropped, &place.matched) {
            rejects.push(effort.reject(needle, reason));
            continue;
        }
        let written = match needle.written(&place.matched, place.dropped, place.pass, &draft) {
            Ok(written) => written,
            Err(reason) => {
                rejects.push(effort.reject(needle, reason));
                continue;
            }
        };
        let mut notes = place.notes;
        notes.extend_from_slice(&written.notes);
        if place.dropped > 0 {
            notes.push(Note::SeparatorsDropped);
        }
        draft.takes_bom |= place.matched.first() == Some(&Node(0)) && needle.takes_bom(0);
        let around = place.matched.first().map_or(place.after, |&first| draft.previous(first));
        let nodes = draft.apply(needle, place.dropped, &place.matched, place.after, written.lines);
        finder.search_around(&draft, needle.index, around, &nodes);
        placed.push(Placed {
            hunk: needle.index,
            first_line,
            line_count: place.matched.len(),
            pass: place.pass,
            notes,
        });
    }
    rejects.sort_by_key(|reject| reject.hunk);
    placed.sort_by_key(|placed| placed.hunk);
    if rejects.is_empty() { Ok(Located { draft, placed }) } else { Err(rejects) }
}

/// Where a hunk goes.
struct PostStatePlace {
    pass: Pass,
    dropped: usize,
    matched: Vec<Node>,
    /// What a hunk without old lines stands after.
    after: Node,
    notes: Vec<Note>,
}

/// Finds the places of hunks in the post-state of those before.
struct Finder<'a, 'f, 'p> {
    /// The lines of each hunk, in each variant.
    blocks: Blocks<'a, 'f, 'p>,
    /// For each hunk how many separators its variants leave out, and their blocks.
    of_hunk: Vec<Vec<(usize, usize)>>,
    /// The longest block of the hunks after each hunk.
    reach: Vec<usize>,
    /// The fingerprints of all lines of all blocks, as the most lenient pass sees them.
    mentioned: OnceCell<Vec<u64>>,
    /// For each hunk how far from its line the next one stands that has one place in the pre-image.
    below: OnceCell<Vec<Option<isize>>>,
    passes: Vec<PassState<'p>>,
}

/// What one pass knows of the post-state.
struct PassState<'p> {
    pass: Pass,
    /// The places of each block in the pre-image that still stand: of hunks that are equal in text
    /// once, unless their terminators count.
    standing: HashMap<(usize, bool), Standing, foldhash::fast::RandomState>,
    /// The places that touch changed lines, by block.
    in_changes: HashMap<usize, BTreeSet<Node>, foldhash::fast::RandomState>,
    window: OnceCell<Window<'p>>,
}

/// The first places of a block in the pre-image that the hunks so far left as they were.
#[derive(Default)]
struct Standing {
    starts: Vec<usize>,
    /// Where to look for more.
    from: usize,
}

/// Searches short stretches of the post-state for all blocks.
struct Window<'p> {
    interner: Interner<'p>,
    automaton: Automaton,
}

impl<'a, 'f, 'p> Finder<'a, 'f, 'p> {
    fn new(lines: &'a Lines<'f>, needles: &'a [Needle<'p>], passes: &[Pass]) -> Self {
        let mut blocks = Vec::with_capacity(needles.len());
        let mut of_hunk = Vec::with_capacity(needles.len());
        for needle in needles {
            let mut variants = Vec::with_capacity(1);
            if !needle.is_insertion() && needle.fixed.is_none() && needle.done.is_none() {
                for dropped in needle.variants() {
                    variants.push((dropped, blocks.len()));
                    blocks.push(needle.old_without(dropped));
                }
            }
            of_hunk.push(variants);
        }
        let mut longest = 0;
        let further = |needle: &Needle<'_>| {
            let len = if needle.fixed.is_none() { needle.old.len() } else { 0 };
            let of_later = longest;
            longest = longest.max(len);
            of_later
        };
        let mut reach: Vec<usize> = needles.iter().rev().map(further).collect();
        reach.reverse();
        let count = blocks.len();
        let blocks = Blocks::new(lines, blocks, passes);
        let unique = |block: usize| {
            let mut spots = passes.iter().find_map(|&pass| {
                blocks.spots(pass, block).filter(|_| blocks.count(pass, block) > 0)
            })?;
            spots
                .next()
                .filter(|_| spots.next().is_none())
                .map(|mark| (mark, blocks.block(block).len()))
        };
        let fixed = needles
            .iter()
            .filter_map(|needle| Some((needle.fixed_mark(lines, 0)?, needle.old.len())));
        lines.mark((0..count).filter_map(unique).chain(fixed));
        let state = |&pass: &Pass| PassState {
            pass,
            standing: HashMap::default(),
            in_changes: HashMap::default(),
            window: OnceCell::new(),
        };
        let passes = passes.iter().map(state).collect();
        let (mentioned, below) = (OnceCell::new(), OnceCell::new());
        Self { blocks, of_hunk, reach, mentioned, below, passes }
    }

    /// Looks for the hunks to come where `hunk` changed something: its lines now are `nodes`, and
    /// they stand after `left`.
    fn search_around(&mut self, draft: &Draft<'_, '_>, hunk: usize, left: Node, nodes: &[Node]) {
        let reach = self.reach[hunk];
        if reach > 0 && self.may_have_made(draft, left, nodes) {
            for state in &mut self.passes {
                state.search_around(&self.blocks, draft, reach, left, nodes);
            }
        }
    }

    /// Whether the change may have made a place of some block: it would have an inserted line, or
    /// lines on both sides of some that are gone.
    fn may_have_made(&self, draft: &Draft<'_, '_>, left: Node, nodes: &[Node]) -> bool {
        let Some(pass) = self.passes.iter().map(|state| state.pass).max() else { return false };
        let mentioned = self.mentioned.get_or_init(|| {
            let lines = self.blocks.iter().flatten();
            let mut mentioned: Vec<u64> = lines.map(|line| fingerprint(&pass.key(line))).collect();
            mentioned.sort_unstable();
            mentioned
        });
        let is_mentioned = |node: Node| {
            node != draft.before_all()
                && node != draft.end()
                && mentioned.binary_search(&fingerprint(&pass.key(draft.text(node)))).is_ok()
        };
        let right = draft.next(nodes.last().copied().unwrap_or(left));
        let mut before = left;
        nodes.iter().copied().chain([right]).any(|node| {
            let left = std::mem::replace(&mut before, node);
            // Lines of the pre-image that follow one another there were so before.
            let joined = node.0 != left.0 + 1 && is_mentioned(left);
            (joined || draft.inserted(node).is_some()) && is_mentioned(node)
        })
    }
}

impl<'p> PassState<'p> {
    fn search_around(
        &mut self,
        blocks: &Blocks<'_, '_, 'p>,
        draft: &Draft<'_, '_>,
        reach: usize,
        left: Node,
        nodes: &[Node],
    ) {
        let Window { interner, automaton } = self.window.get_or_init(|| {
            let mut interner = Interner::new(self.pass);
            let intern =
                |block: &[&'p [u8]]| block.iter().map(|line| interner.insert(line)).collect();
            let sequences: Vec<Vec<u32>> = blocks.iter().map(intern).collect();
            Window { automaton: Automaton::new(&sequences), interner }
        });
        let id = |node: Node| interner.get(draft.text(node));
        let mut window = Vec::with_capacity(nodes.len() + 2 * reach.min(64));
        let mut node = left;
        for _ in 0..reach {
            if node == draft.before_all() || id(node) == FOREIGN {
                break;
            }
            window.push(node);
            node = draft.previous(node);
        }
        window.reverse();
        window.extend_from_slice(nodes);
        let mut node = draft.next(nodes.last().copied().unwrap_or(left));
        for _ in 0..reach {
            if node == draft.end() || id(node) == FOREIGN {
                break;
            }
            window.push(node);
            node = draft.next(node);
        }
        let ids: Vec<u32> = window.iter().map(|&node| id(node)).collect();
        automaton.run_each(&ids, |block, start| {
            let len = blocks.block(block).len();
            let (first, last) = (window[start], window[start + len - 1]);
            if !draft.is_untouched(first, last, len) {
                self.in_changes.entry(block).or_default().insert(first);
            }
        });
    }

    /// Where a block begins in the post-state: at most `limit` places of the pre-image, and as many
    /// that changes made.
    fn places(
        &mut self,
        blocks: &Blocks<'_, '_, '_>,
        draft: &Draft<'_, '_>,
        needle: &Needle<'_>,
        (dropped, block): (usize, usize),
        limit: usize,
    ) -> Vec<Node> {
        let lines = blocks.block(block);
        let key = if needle.wants_endings(self.pass) {
            (block, true)
        } else {
            (blocks.same_as(self.pass, block), false)
        };
        let Standing { starts, from } = self.standing.entry(key).or_default();
        starts.retain(|&start| draft.is_intact(start, lines.len()));
        while starts.len() < limit
            && let Some(start) = blocks.next_of(needle, dropped, self.pass, block, *from)
        {
            *from = match draft.last_change(start, lines.len()) {
                Some(line) => line + 1,
                None => {
                    starts.push(start);
                    start + 1
                }
            };
        }
        if needle.wants_endings(self.pass) && blocks.gave_up() {
            return Vec::new();
        }
        let mut places: Vec<Node> = starts.iter().copied().map(Node).collect();
        if let Some(window) = self.window.get()
            && let Some(found) = self.in_changes.get_mut(&window.automaton.same_as(block))
        {
            let mut broken = Vec::new();
            for &start in found.iter() {
                if places.len() == starts.len() + limit {
                    break;
                }
                if !stands(self.pass, draft, lines, start) {
                    broken.push(start);
                } else if endings_stand(self.pass, draft, needle, lines.len(), start) {
                    places.push(start);
                }
            }
            // What is broken stays so.
            for start in broken {
                found.remove(&start);
            }
        }
        places
    }
}

/// Whether a block begins at `start`, which a change made possible, and touches that change.
fn stands(pass: Pass, draft: &Draft<'_, '_>, block: &[&[u8]], start: Node) -> bool {
    if draft.is_deleted(start.0) {
        return false;
    }
    let mut node = start;
    let mut last = start;
    for line in block {
        if node == draft.end() || !pass.same(line, draft.text(node)) {
            return false;
        }
        last = node;
        node = draft.next(node);
    }
    // What stands untouched in the pre-image is found there.
    !draft.is_untouched(start, last, block.len())
}

/// Whether the `len` lines from `start` on end as the hunk says.
fn endings_stand(
    pass: Pass,
    draft: &Draft<'_, '_>,
    needle: &Needle<'_>,
    len: usize,
    start: Node,
) -> bool {
    let nodes = std::iter::successors(Some(start), |&node| Some(draft.next(node)));
    nodes
        .take(len)
        .enumerate()
        .all(|(offset, node)| needle.ends_like(offset, pass, || draft.terminator(node)))
}

fn find(
    draft: &Draft<'_, '_>,
    finder: &mut Finder<'_, '_, '_>,
    needles: &[Needle<'_>],
    needle: &Needle<'_>,
    rules: &Rules,
    stated: &Stated,
    effort: &refuse::Effort,
) -> Result<PostStatePlace, RejectReason> {
    let last = draft.previous(draft.end());
    if needle.is_insertion() {
        let names_end = needle.fixed == Some(Fixed::End) || draft.lines.len() == 0;
        // Of a diff the line alone says where; the end of the file is not what it means.
        if let Some(line) = needle.inserts_below.filter(|_| rules.unidiff_zero) {
            return counted_place(draft, stated, line);
        }
        if !names_end && (!rules.append_without_anchor || needle.hunk.endings.is_of_diff()) {
            return Err(needle.no_anchor(needle.named_line(draft.lines)));
        }
        return Ok(PostStatePlace {
            pass: Pass::Exact,
            dropped: 0,
            matched: Vec::new(),
            after: last,
            notes: Vec::new(),
        });
    }
    let Finder { blocks, of_hunk, passes, below, .. } = finder;
    for state in passes.iter_mut() {
        for (variant, dropped) in needle.variants().enumerate() {
            let limit = SATURATION + 1;
            let old = needle.old_without(dropped).len();
            let mut places: Vec<Node> = match needle.fixed {
                Some(fixed) => {
                    fixed_place(draft, needle, fixed, dropped, state.pass).into_iter().collect()
                }
                None => state.places(blocks, draft, needle, of_hunk[needle.index][variant], limit),
            };
            let mut notes = Vec::new();
            if places.len() > 1 {
                let block = of_hunk[needle.index][variant].1;
                let stands = |line: usize| {
                    blocks.next(state.pass, block, line) == Some(line)
                        && needle.endings_fit(draft.lines, line, dropped, state.pass)
                        && draft.is_intact(line, old)
                };
                let whole = state.pass == Pass::Exact && dropped == 0;
                let below = needle.stated.and_then(|_| {
                    below.get_or_init(|| offsets_below(blocks, of_hunk, needles))[needle.index]
                });
                match stated.choose(needle, below, stands).filter(|_| whole) {
                    Some(line) => (places, notes) = (vec![Node(line)], vec![Note::StatedLine]),
                    None if rules.ambiguous == Ambiguous::Reject => {
                        return Err(several(draft, &places, old, rules, effort));
                    }
                    None => notes.push(Note::FirstOfSeveral),
                }
            }
            places.sort_by_key(|&place| draft.line_number(place));
            let Some(&start) = places.first() else { continue };
            let mut matched = Vec::with_capacity(old);
            matched.extend(
                std::iter::successors(Some(start), |&node| Some(draft.next(node))).take(old),
            );
            let deleted = needle
                .lines(dropped)
                .iter()
                .filter(|line| line.kind != patch_grammar::LineKind::Insert);
            for (line, &node) in deleted.zip(&matched) {
                if let Some(inserted) = draft.inserted(node)
                    && line.kind == patch_grammar::LineKind::Delete
                {
                    return Err(RejectReason::OverlappingEdits {
                        other: inserted.hunk,
                        lines: None,
                    });
                }
            }
            return Ok(PostStatePlace { pass: state.pass, dropped, matched, after: last, notes });
        }
    }
    Err(broken_by(draft, finder, needle)
        .unwrap_or_else(|| refuse::not_found(draft.lines, needle, rules, effort)))
}

/// For each hunk how far from its line the next one below stands that is in the pre-image once.
fn offsets_below(
    blocks: &Blocks<'_, '_, '_>,
    of_hunk: &[Vec<(usize, usize)>],
    needles: &[Needle<'_>],
) -> Vec<Option<isize>> {
    let mut nearest = None;
    let mut below = vec![None; needles.len()];
    for needle in needles.iter().rev() {
        below[needle.index] = nearest;
        let whole = of_hunk[needle.index].iter().find(|&&(dropped, _)| dropped == 0);
        let Some((stated, &(_, block))) = needle.stated.zip(whole) else { continue };
        let mut from = 0;
        let mut next = || {
            let place = blocks.next_of(needle, 0, Pass::Exact, block, from)?;
            from = place + 1;
            Some(place)
        };
        if let (Some(only), None) = (next(), next()) {
            nearest = Some(only as isize - stated as isize);
        }
    }
    below
}

/// The place below so many lines of the file, as far as the other hunks were found from theirs.
fn counted_place(
    draft: &Draft<'_, '_>,
    stated: &Stated,
    line: usize,
) -> Result<PostStatePlace, RejectReason> {
    let unsure = RejectReason::NoAnchor { header: None, number: LineNumber::Unsure };
    let above = stated.lines_above(line).filter(|&above| above <= draft.lines.len());
    let Some(above) = above else { return Err(unsure) };
    let after = above.checked_sub(1).map_or(draft.before_all(), Node);
    let next = draft.next(after);
    // Where another hunk changed the line above, or inserted below it, their order is not told.
    if (above > 0 && draft.is_deleted(above - 1)) || draft.inserted(next).is_some() {
        return Err(unsure);
    }
    let (matched, notes) = (Vec::new(), vec![Note::LineNumber]);
    Ok(PostStatePlace { pass: Pass::Exact, dropped: 0, matched, after, notes })
}

/// The place that a hunk names itself, if its lines are there.
fn fixed_place(
    draft: &Draft<'_, '_>,
    needle: &Needle<'_>,
    fixed: Fixed,
    dropped: usize,
    pass: Pass,
) -> Option<Node> {
    let old = needle.old_without(dropped);
    let mut nodes = Vec::with_capacity(old.len());
    let mut node = match fixed {
        Fixed::Start | Fixed::Whole => draft.next(draft.before_all()),
        Fixed::End => draft.previous(draft.end()),
    };
    for _ in old {
        if node == draft.end() || node == draft.before_all() {
            return None;
        }
        nodes.push(node);
        node = if fixed == Fixed::End { draft.previous(node) } else { draft.next(node) };
    }
    if fixed == Fixed::Whole && node != draft.end() {
        return None;
    }
    if fixed == Fixed::End {
        nodes.reverse();
    }
    let same = old.iter().zip(&nodes).enumerate().all(|(offset, (wanted, &node))| {
        pass.same(wanted, draft.text(node))
            && needle.ends_like(offset, pass, || draft.terminator(node))
    });
    (same && (fixed == Fixed::End || nodes[0] == Node(0))).then(|| nodes[0])
}

fn several(
    draft: &Draft<'_, '_>,
    places: &[Node],
    len: usize,
    rules: &Rules,
    effort: &refuse::Effort,
) -> RejectReason {
    let mut starts: Vec<u32> =
        places.iter().map(|&place| draft.line_number(place) as u32 - 1).collect();
    starts.sort_unstable();
    let more = starts.len() > SATURATION;
    starts.truncate(SATURATION);
    let candidates = refuse::candidates(draft.lines, &starts, more, len, rules.order, effort);
    RejectReason::MultipleMatches { candidates, more, out_of_order: false }
}

/// Why a hunk has no place that had one in the pre-image, which an earlier hunk changed.
fn broken_by(
    draft: &Draft<'_, '_>,
    finder: &Finder<'_, '_, '_>,
    needle: &Needle<'_>,
) -> Option<RejectReason> {
    for state in &finder.passes {
        for &(_, block) in &finder.of_hunk[needle.index] {
            let Some(start) = finder.blocks.next(state.pass, block, 0) else { continue };
            let len = finder.blocks.block(block).len();
            let other = draft.changed_by(start, len)?;
            return Some(RejectReason::OverlappingEdits {
                other,
                lines: Some(start + 1..=start + len),
            });
        }
    }
    None
}
