//! The placement rule of profile `strict`: each hunk has one place in the file as the hunks before
//! it leave it.
//!
//! The file is not searched again for each hunk. All hunks are looked for in the pre-image at once;
//! what a hunk changes can only add occurrences that touch its lines, so after each hunk its
//! surroundings, as far as the longest hunk to come reaches, are searched for those to come. An
//! occurrence is checked when its hunk's turn comes: a later change may have broken it.

use super::draft::{Draft, Node};
use super::needle::{Fixed, Needle};
use super::numbers::{FOREIGN, Numbers};
use super::pass::Pass;
use super::refuse;
use super::reject::{HunkReject, HunkTrouble};
use super::search::{Automaton, Occurrences, SATURATION};
use super::{Ambiguous, Located, Note, Placed, Rules};
use crate::lines::Lines;

pub(crate) fn locate<'f, 'p>(
    lines: &'f Lines<'f>,
    needles: Vec<Needle<'p>>,
    rules: &Rules,
) -> Result<Located<'f, 'p>, Vec<HunkReject>> {
    let mut passes: Vec<PassState<'_>> =
        rules.passes.iter().map(|&pass| PassState::new(pass, lines, &needles)).collect();
    let mut draft = Draft::new(lines);
    let effort = refuse::Effort::new(lines);
    let mut placed = Vec::with_capacity(needles.len());
    let mut rejects: Vec<HunkReject> = Vec::new();
    for needle in &needles {
        let place = match find(&draft, &passes, needle, rules, &effort) {
            Ok(place) => place,
            Err(trouble) => {
                rejects.push(needle.reject(trouble));
                continue;
            }
        };
        let first_line =
            line_number(&draft, place.matched.first().map_or_else(|| draft.next(place.after), |&node| node));
        let reindent = needle.reindentation(lines, &place.matched, place.dropped, place.pass, &draft);
        let mut notes = place.notes;
        notes.extend(reindent.note());
        if place.dropped > 0 {
            notes.push(Note::SeparatorsDropped);
        }
        draft.drops_bom |= place.matched.first() == Some(&Node(0)) && needle.deletes_bom(0);
        let hunk_lines = needle.lines(place.dropped);
        let around = place.matched.first().map_or(place.after, |&first| draft.previous(first));
        let nodes = draft.apply(needle.index, hunk_lines, &place.matched, place.after, |text| reindent.apply(text));
        for pass in &mut passes {
            pass.search_around(&draft, needle.index, around, &nodes);
        }
        placed.push(Placed {
            hunk: needle.index,
            first_line,
            line_count: place.matched.len(),
            pass: place.pass,
            notes,
        });
    }
    if rejects.is_empty() { Ok(Located { draft, placed }) } else { Err(rejects) }
}

/// Where a hunk goes.
struct Place {
    pass: Pass,
    dropped: usize,
    matched: Vec<Node>,
    /// What a hunk without old lines stands after.
    after: Node,
    notes: Vec<Note>,
}

/// One pass over the pre-image, and what the hunks so far added to it.
struct PassState<'p> {
    pass: Pass,
    numbers: Numbers<'p>,
    ids: Vec<u32>,
    automaton: Automaton,
    sequences: Vec<Vec<u32>>,
    /// For each hunk, its sequences: one for each variant.
    of_hunk: Vec<Vec<(usize, usize)>>,
    in_pre_image: Occurrences,
    /// Occurrences that touch changed lines, by sequence; `None` when there were too many to list.
    in_changes: Vec<Option<Vec<Node>>>,
    /// The longest sequence of the hunks after each hunk.
    reach: Vec<usize>,
}

impl<'p> PassState<'p> {
    fn new(pass: Pass, lines: &Lines<'_>, needles: &[Needle<'p>]) -> Self {
        let mut numbers = Numbers::new(pass);
        let mut sequences = Vec::new();
        let mut of_hunk = Vec::new();
        for needle in needles {
            let mut variants = Vec::new();
            if !needle.is_insertion() && needle.fixed.is_none() {
                for dropped in needle.variants() {
                    variants.push((dropped, sequences.len()));
                    let ids: Vec<u32> = needle.old_without(dropped).iter().map(|line| numbers.insert(line)).collect();
                    sequences.push(ids);
                }
            }
            of_hunk.push(variants);
        }
        let mut reach = vec![0; needles.len()];
        let mut longest = 0;
        for (needle, reach) in needles.iter().zip(&mut reach).rev() {
            *reach = longest;
            longest = longest.max(if needle.fixed.is_none() { needle.old.len() } else { 0 });
        }
        let ids: Vec<u32> = numbers.all(lines.iter()).collect();
        let automaton = Automaton::new(&sequences);
        let in_pre_image = automaton.run(ids.iter().copied());
        let in_changes = vec![Some(Vec::new()); sequences.len()];
        Self { pass, numbers, ids, automaton, sequences, of_hunk, in_pre_image, in_changes, reach }
    }

    fn id(&self, draft: &Draft<'_, '_>, node: Node) -> u32 {
        match draft.inserted(node) {
            Some(inserted) => self.numbers.get(&inserted.text),
            None => self.ids.get(node.0).copied().unwrap_or(FOREIGN),
        }
    }

    /// Looks for the hunks to come where `hunk` changed something: its lines now are `nodes`, and
    /// they stand after `left`.
    fn search_around(&mut self, draft: &Draft<'_, '_>, hunk: usize, left: Node, nodes: &[Node]) {
        let reach = self.reach[hunk].saturating_sub(1);
        if self.reach[hunk] == 0 {
            return;
        }
        let mut window = Vec::with_capacity(nodes.len() + 2 * reach.min(64));
        let mut node = left;
        for _ in 0..reach {
            if node == draft.before_all() || self.id(draft, node) == FOREIGN {
                break;
            }
            window.push(node);
            node = draft.previous(node);
        }
        window.reverse();
        window.extend_from_slice(nodes);
        let mut node = draft.next(nodes.last().copied().unwrap_or(left));
        for _ in 0..reach {
            if node == draft.end() || self.id(draft, node) == FOREIGN {
                break;
            }
            window.push(node);
            node = draft.next(node);
        }
        let ids: Vec<u32> = window.iter().map(|&node| self.id(draft, node)).collect();
        let Self { automaton, sequences, in_changes, .. } = self;
        automaton.run_each(&ids, |sequence, start| {
            let len = sequences[sequence].len();
            let (first, last) = (window[start], window[start + len - 1]);
            let untouched = draft.old(first).is_some() && last.0 == first.0 + len - 1 && draft.is_intact(first.0, len);
            if let Some(found) = &mut in_changes[sequence]
                && !untouched
                && !found.contains(&first)
            {
                found.push(first);
                if found.len() > SATURATION {
                    in_changes[sequence] = None;
                }
            }
        });
    }

    /// Where a sequence begins in the post-state, at most `limit` places.
    fn places(&self, draft: &Draft<'_, '_>, sequence: usize, limit: usize) -> Vec<Node> {
        let ids = &self.sequences[sequence];
        let shared = self.automaton.same_as(sequence);
        let listed = self.in_pre_image.first(shared, SATURATION);
        let intact = |&start: &Node| draft.is_intact(start.0, ids.len());
        let mut places: Vec<Node> =
            listed.iter().map(|&start| Node(start as usize)).filter(intact).take(limit).collect();
        let complete = match &self.in_changes[shared] {
            Some(found) => {
                let left = limit - places.len();
                places.extend(found.iter().filter(|&&start| self.stands(draft, ids, start)).take(left));
                self.in_pre_image.count(shared) <= SATURATION
            }
            None => false,
        };
        if complete || places.len() >= limit.min(2) { places } else { self.search_all(draft, ids, limit) }
    }

    /// Whether the sequence begins at `start`, which a change made possible, and touches that change.
    fn stands(&self, draft: &Draft<'_, '_>, ids: &[u32], start: Node) -> bool {
        if draft.is_deleted(start.0) {
            return false;
        }
        let mut node = start;
        let mut last = start;
        for &id in ids {
            if node == draft.end() || self.id(draft, node) != id {
                return false;
            }
            last = node;
            node = draft.next(node);
        }
        // What stands untouched in the pre-image is found there.
        !(draft.old(start).is_some() && last.0 == start.0 + ids.len() - 1 && draft.is_intact(start.0, ids.len()))
    }

    /// Searches the whole post-state: for a sequence with more places in the pre-image than are
    /// listed, of which the hunks so far left one or none.
    fn search_all(&self, draft: &Draft<'_, '_>, ids: &[u32], limit: usize) -> Vec<Node> {
        let nodes: Vec<Node> =
            std::iter::successors(Some(draft.next(draft.before_all())), |&node| Some(draft.next(node)))
                .take_while(|&node| node != draft.end())
                .collect();
        let numbers = nodes.iter().map(|&node| self.id(draft, node));
        let found = Automaton::new(&[ids.to_vec()]).run(numbers);
        found.first(0, limit).into_iter().map(|start| nodes[start as usize]).collect()
    }
}

fn find(
    draft: &Draft<'_, '_>,
    passes: &[PassState<'_>],
    needle: &Needle<'_>,
    rules: &Rules,
    effort: &refuse::Effort,
) -> Result<Place, HunkTrouble> {
    let last = draft.previous(draft.end());
    if needle.is_insertion() {
        let names_end = needle.fixed == Some(Fixed::End) || draft.lines.len() == 0;
        if !names_end && !rules.append_without_anchor {
            return Err(HunkTrouble::NoAnchor);
        }
        return Ok(Place { pass: Pass::Exact, dropped: 0, matched: Vec::new(), after: last, notes: Vec::new() });
    }
    for state in passes {
        for (variant, dropped) in needle.variants().enumerate() {
            let limit = SATURATION + 1;
            let old = needle.old_without(dropped).len();
            let mut places: Vec<Node> = match needle.fixed {
                Some(fixed) => fixed_place(draft, needle, fixed, dropped, state.pass).into_iter().collect(),
                None => state.places(draft, state.of_hunk[needle.index][variant].1, limit),
            };
            if places.len() > 1 && rules.ambiguous == Ambiguous::Reject {
                return Err(several(draft, &places, old, rules, effort));
            }
            let notes = if places.len() > 1 { vec![Note::FirstOfSeveral] } else { Vec::new() };
            places.sort_by_key(|&place| line_number(draft, place));
            let Some(&start) = places.first() else { continue };
            let matched: Vec<Node> =
                std::iter::successors(Some(start), |&node| Some(draft.next(node))).take(old).collect();
            let deleted = needle.lines(dropped).iter().filter(|line| line.kind != patch_grammar::LineKind::Insert);
            for (line, &node) in deleted.zip(&matched) {
                if let Some(inserted) = draft.inserted(node)
                    && line.kind == patch_grammar::LineKind::Delete
                {
                    return Err(HunkTrouble::OverlappingEdits { other: inserted.hunk, lines: None });
                }
            }
            return Ok(Place { pass: state.pass, dropped, matched, after: last, notes });
        }
    }
    Err(broken_by(draft, passes, needle).unwrap_or_else(|| refuse::not_found(draft.lines, needle, rules, effort)))
}

/// The place that a hunk names itself, if its lines are there.
fn fixed_place(draft: &Draft<'_, '_>, needle: &Needle<'_>, fixed: Fixed, dropped: usize, pass: Pass) -> Option<Node> {
    let old = needle.old_without(dropped);
    let mut nodes = Vec::with_capacity(old.len());
    let mut node = match fixed {
        Fixed::Start => draft.next(draft.before_all()),
        Fixed::End => draft.previous(draft.end()),
    };
    for _ in old {
        if node == draft.end() || node == draft.before_all() {
            return None;
        }
        nodes.push(node);
        node = if fixed == Fixed::Start { draft.next(node) } else { draft.previous(node) };
    }
    if fixed == Fixed::End {
        nodes.reverse();
    }
    let text = |node: Node| match draft.inserted(node) {
        Some(inserted) => inserted.text.as_ref(),
        None => draft.lines.content(node.0),
    };
    let same = old.iter().zip(&nodes).all(|(wanted, &node)| pass.same(wanted, text(node)));
    (same && (fixed == Fixed::End || nodes[0] == Node(0))).then(|| nodes[0])
}

fn several(draft: &Draft<'_, '_>, places: &[Node], len: usize, rules: &Rules, effort: &refuse::Effort) -> HunkTrouble {
    let mut starts: Vec<u32> = places.iter().map(|&place| line_number(draft, place) as u32 - 1).collect();
    starts.sort_unstable();
    let more = starts.len() > SATURATION;
    starts.truncate(SATURATION);
    let candidates = refuse::candidates(draft.lines, &starts, len, rules.order, effort);
    HunkTrouble::MultipleMatches { candidates, more, out_of_order: false }
}

/// The trouble of a hunk that the pre-image has, and that an earlier hunk changed.
fn broken_by(draft: &Draft<'_, '_>, passes: &[PassState<'_>], needle: &Needle<'_>) -> Option<HunkTrouble> {
    for state in passes {
        for &(dropped, sequence) in &state.of_hunk[needle.index] {
            let Some(start) = state.in_pre_image.next(sequence, 0) else { continue };
            let len = needle.old_without(dropped).len();
            let other = draft.changed_by(start, len)?;
            return Some(HunkTrouble::OverlappingEdits { other, lines: Some(start + 1..=start + len) });
        }
    }
    None
}

/// The 1-based pre-image line of a node; for an inserted line that of the line it stands before.
fn line_number(draft: &Draft<'_, '_>, mut node: Node) -> usize {
    while draft.inserted(node).is_some() {
        node = draft.next(node);
    }
    node.0 + 1
}
