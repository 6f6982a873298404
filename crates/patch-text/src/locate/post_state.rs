//! The placement rule of profile `strict`: each hunk has one place in the file as the hunks before
//! it leave it.
//!
//! The file is not searched again for each hunk. All hunks are looked for in the pre-image at once;
//! the changes of a hunk can only add places that touch its lines. Most hunks insert lines that no
//! other hunk mentions, and add none. Otherwise the surroundings are searched for the hunks to
//! come, as far as the longest of these reaches. A place is checked again at its hunk's turn: a
//! later change may have broken it.
//!
//! # Limits
//!
//! A search of the surroundings ends at the first line that no hunk mentions. In a file with only
//! mentioned lines, many short hunks before a very long one cost the length of the long one each.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use patch_grammar::LineKind;

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
use crate::text::lines::{Lines, Mark};

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
    let done: Vec<&Needle<'_>> = needles.iter().filter(|needle| needle.done.is_some()).collect();
    // Hunks that only have a line number come last: the places of the others tell how far the file
    // has moved.
    let by_text = needles.iter().filter(|needle| !is_counted(needle, rules));
    let by_number = needles.iter().filter(|needle| is_counted(needle, rules));
    for needle in by_text.chain(by_number) {
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

/// Whether a hunk is placed by its line number alone.
fn is_counted(needle: &Needle<'_>, rules: &Rules) -> bool {
    rules.unidiff_zero && needle.inserts_below.is_some()
}

/// Where a hunk goes.
struct PostStatePlace {
    pass: Pass,
    dropped: usize,
    matched: Vec<Node>,
    /// The line above a hunk that has no old lines.
    after: Node,
    notes: Vec<Note>,
}

/// Finds the places of hunks in the post-state of those before.
struct Finder<'a, 'f, 'p> {
    /// The lines of each hunk, in each variant.
    blocks: Blocks<'a, 'f, 'p>,
    /// The variants of each hunk.
    of_hunk: Vec<Vec<Variant>>,
    /// The longest block of the hunks after each hunk.
    reach: Vec<usize>,
    /// The fingerprints of all lines of all blocks, as the most lenient pass sees them.
    mentioned: OnceCell<Vec<u64>>,
    /// For each hunk, the distance from its stated line of the next hunk with one place in the
    /// pre-image.
    below: OnceCell<Vec<Option<isize>>>,
    passes: Vec<PassState<'p>>,
}

/// A hunk without some of its separators.
#[derive(Debug, Clone, Copy)]
struct Variant {
    /// How many separators are left out.
    dropped: usize,
    /// The block of the old lines.
    block: usize,
}

/// The places that one pass has found in the post-state.
struct PassState<'p> {
    pass: Pass,
    /// The places of each block in the pre-image that still stand: listed once for hunks with equal
    /// texts, unless their terminators count.
    standing: HashMap<(usize, bool), Standing, foldhash::fast::RandomState>,
    /// The places that touch changed lines, by block.
    in_changes: HashMap<usize, BTreeSet<Node>, foldhash::fast::RandomState>,
    window: OnceCell<Window<'p>>,
}

/// The first places of a block in the pre-image that the hunks so far left alone.
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
                    variants.push(Variant { dropped, block: blocks.len() });
                    blocks.push(needle.old_without(dropped));
                }
            }
            of_hunk.push(variants);
        }
        let count = blocks.len();
        let blocks = Blocks::new(lines, blocks, passes);
        let unique = (0..count).filter_map(|block| unique_mark(&blocks, block, passes));
        let fixed = needles
            .iter()
            .filter_map(|needle| Some((needle.fixed_mark(lines, 0)?, needle.old.len())));
        lines.mark(unique.chain(fixed).map(|(mark, len)| (mark, len, 1)));
        Self {
            blocks,
            of_hunk,
            reach: reach(needles),
            mentioned: OnceCell::new(),
            below: OnceCell::new(),
            passes: passes.iter().map(|&pass| PassState::new(pass)).collect(),
        }
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

    /// Whether the change may have made a place of some block: such a place has an inserted line,
    /// or the lines on both sides of a deletion.
    fn may_have_made(&self, draft: &Draft<'_, '_>, left: Node, nodes: &[Node]) -> bool {
        let Some(pass) = self.passes.iter().map(|state| state.pass).max() else { return false };
        let mentioned = self.mentioned.get_or_init(|| {
            let lines = self.blocks.iter().flatten();
            let mut mentioned: Vec<u64> = lines.map(|line| fingerprint(&pass.key(line))).collect();
            mentioned.sort_unstable();
            mentioned
        });
        let right = draft.next(nodes.last().copied().unwrap_or(left));
        let mut before = left;
        nodes.iter().copied().chain([right]).any(|node| {
            let left = std::mem::replace(&mut before, node);
            // Consecutive lines of the pre-image were neighbours before.
            let joined = node.0 != left.0 + 1 && is_mentioned(draft, pass, mentioned, left);
            (joined || draft.inserted(node).is_some()) && is_mentioned(draft, pass, mentioned, node)
        })
    }
}

/// Returns the length of the longest block after each hunk.
fn reach(needles: &[Needle<'_>]) -> Vec<usize> {
    let mut reach = vec![0; needles.len()];
    let mut longest = 0;
    for (needle, reach) in needles.iter().zip(&mut reach).rev() {
        *reach = longest;
        if needle.fixed.is_none() {
            longest = longest.max(needle.old.len());
        }
    }
    reach
}

/// Returns the mark and the length of a block that the first pass that finds the block finds once.
fn unique_mark(
    blocks: &Blocks<'_, '_, '_>,
    block: usize,
    passes: &[Pass],
) -> Option<(Mark, usize)> {
    let mut spots = passes
        .iter()
        .find_map(|&pass| blocks.spots(pass, block).filter(|_| blocks.count(pass, block) > 0))?;
    let mark = spots.next()?;
    spots.next().is_none().then(|| (mark, blocks.block(block).len()))
}

/// Whether a line of the draft has one of the sorted fingerprints.
fn is_mentioned(draft: &Draft<'_, '_>, pass: Pass, mentioned: &[u64], node: Node) -> bool {
    node != draft.before_all()
        && node != draft.end()
        && mentioned.binary_search(&fingerprint(&pass.key(draft.text(node)))).is_ok()
}

impl<'p> PassState<'p> {
    fn new(pass: Pass) -> Self {
        Self {
            pass,
            standing: HashMap::default(),
            in_changes: HashMap::default(),
            window: OnceCell::new(),
        }
    }

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
            let sequences = interner.sequences(blocks.iter());
            Window { automaton: Automaton::new(&sequences), interner }
        });
        let mut window = Vec::with_capacity(nodes.len() + 2 * reach.min(64));
        let mut node = left;
        for _ in 0..reach {
            if node == draft.before_all() || interner.get(draft.text(node)) == FOREIGN {
                break;
            }
            window.push(node);
            node = draft.previous(node);
        }
        window.reverse();
        window.extend_from_slice(nodes);
        let mut node = draft.next(nodes.last().copied().unwrap_or(left));
        for _ in 0..reach {
            if node == draft.end() || interner.get(draft.text(node)) == FOREIGN {
                break;
            }
            window.push(node);
            node = draft.next(node);
        }
        let ids: Vec<u32> = window.iter().map(|&node| interner.get(draft.text(node))).collect();
        automaton.run_each(&ids, |block, start| {
            let len = blocks.block(block).len();
            let first = window[start];
            if !draft.is_untouched(first, window[start + len - 1], len) {
                self.in_changes.entry(block).or_default().insert(first);
            }
        });
    }

    /// The beginnings of a block in the post-state: at most `limit` places of the pre-image, and as
    /// many made by changes.
    fn places(
        &mut self,
        blocks: &Blocks<'_, '_, '_>,
        draft: &Draft<'_, '_>,
        needle: &Needle<'_>,
        variant: Variant,
        limit: usize,
    ) -> Vec<Node> {
        let Variant { dropped, block } = variant;
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
            // No later change mends a broken place.
            for start in broken {
                found.remove(&start);
            }
        }
        places
    }
}

/// Whether a block begins at `start`, and touches the change that made this possible.
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
    // An untouched place is one of the pre-image, and was found there.
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
    if needle.is_insertion() {
        return insertion_place(draft, needle, rules, stated);
    }
    let Finder { blocks, of_hunk, passes, below, .. } = finder;
    for state in passes.iter_mut() {
        for (nth, dropped) in needle.variants().enumerate() {
            let old = needle.old_without(dropped).len();
            let mut places: Vec<Node> = match needle.fixed {
                Some(fixed) => {
                    fixed_place(draft, needle, fixed, dropped, state.pass).into_iter().collect()
                }
                None => {
                    let variant = of_hunk[needle.index][nth];
                    state.places(blocks, draft, needle, variant, SATURATION + 1)
                }
            };
            let mut notes = Vec::new();
            if places.len() > 1 {
                let variant = of_hunk[needle.index][nth];
                let below = needle.stated.and_then(|_| {
                    below.get_or_init(|| offsets_below(blocks, of_hunk, needles))[needle.index]
                });
                match stated_place(blocks, draft, needle, variant, state.pass, below, stated) {
                    Some(line) => {
                        places = vec![Node(line)];
                        notes.push(Note::StatedLine);
                    }
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
            if let Some(other) = inserter_of_deleted(draft, needle, dropped, &matched) {
                return Err(RejectReason::OverlappingEdits { other, lines: None });
            }
            let after = draft.previous(draft.end());
            return Ok(PostStatePlace { pass: state.pass, dropped, matched, after, notes });
        }
    }
    Err(broken_by(draft, finder, needle)
        .unwrap_or_else(|| refuse::not_found(draft.lines, needle, rules, effort)))
}

/// The place of a hunk without old lines: the line that a diff counts, or the end of the file.
fn insertion_place(
    draft: &Draft<'_, '_>,
    needle: &Needle<'_>,
    rules: &Rules,
    stated: &Stated,
) -> Result<PostStatePlace, RejectReason> {
    let names_end = needle.fixed == Some(Fixed::End) || draft.lines.len() == 0;
    // In a diff only the line number says where; the end of the file is never meant.
    if let Some(line) = needle.inserts_below.filter(|_| rules.unidiff_zero) {
        return counted_place(draft, stated, line);
    }
    if !names_end && (!rules.append_without_anchor || needle.hunk.endings.is_of_diff()) {
        return Err(needle.no_anchor(needle.named_line(draft.lines)));
    }
    Ok(PostStatePlace {
        pass: Pass::Exact,
        dropped: 0,
        matched: Vec::new(),
        after: draft.previous(draft.end()),
        notes: Vec::new(),
    })
}

/// The one of several places of a whole hunk that its line number means.
fn stated_place(
    blocks: &Blocks<'_, '_, '_>,
    draft: &Draft<'_, '_>,
    needle: &Needle<'_>,
    variant: Variant,
    pass: Pass,
    below: Option<isize>,
    stated: &Stated,
) -> Option<usize> {
    let Variant { dropped, block } = variant;
    let old = needle.old_without(dropped).len();
    let chosen = stated.choose(needle, below, |line| {
        blocks.next(pass, block, line) == Some(line)
            && needle.endings_fit(draft.lines, line, dropped, pass)
            && draft.is_intact(line, old)
    });
    chosen.filter(|_| pass == Pass::Exact && dropped == 0)
}

/// The earlier hunk that inserted a line that this hunk would delete.
fn inserter_of_deleted(
    draft: &Draft<'_, '_>,
    needle: &Needle<'_>,
    dropped: usize,
    matched: &[Node],
) -> Option<usize> {
    let old = needle.lines(dropped).iter().filter(|line| line.kind != LineKind::Insert);
    old.zip(matched)
        .filter(|(line, _)| line.kind == LineKind::Delete)
        .find_map(|(_, &node)| Some(draft.inserted(node)?.hunk))
}

/// For each hunk, the distance from its stated line of the next hunk below with one place.
fn offsets_below(
    blocks: &Blocks<'_, '_, '_>,
    of_hunk: &[Vec<Variant>],
    needles: &[Needle<'_>],
) -> Vec<Option<isize>> {
    let mut nearest = None;
    let mut below = vec![None; needles.len()];
    for needle in needles.iter().rev() {
        below[needle.index] = nearest;
        let whole = of_hunk[needle.index].iter().find(|variant| variant.dropped == 0);
        let Some((stated, &Variant { block, .. })) = needle.stated.zip(whole) else { continue };
        if let Some(only) = blocks.next_of(needle, 0, Pass::Exact, block, 0)
            && blocks.next_of(needle, 0, Pass::Exact, block, only + 1).is_none()
        {
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
    // Where another hunk changed the line above, or inserted below, the order of both is unknown.
    if (above > 0 && draft.is_deleted(above - 1)) || draft.inserted(next).is_some() {
        return Err(unsure);
    }
    Ok(PostStatePlace {
        pass: Pass::Exact,
        dropped: 0,
        matched: Vec::new(),
        after,
        notes: vec![Note::LineNumber],
    })
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

/// The reason for a hunk whose place in the pre-image was changed by an earlier hunk.
fn broken_by(
    draft: &Draft<'_, '_>,
    finder: &Finder<'_, '_, '_>,
    needle: &Needle<'_>,
) -> Option<RejectReason> {
    for state in &finder.passes {
        for &Variant { block, .. } in &finder.of_hunk[needle.index] {
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
