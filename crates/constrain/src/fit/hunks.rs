//! The hunks that apply to one file.
//!
//! A hunk's old lines are a unique block of the file, so the hunk has one place. The rules follow
//! the lines of the file by their numbers: a block from a line on has to reach the end of the
//! shortest unique block there, and may go on.
//!
//! A hunk changes something. Lines inserted at an edge of the block are not enough, except at the
//! beginning and the end of the file: the same lines may stand there already, and the applier takes
//! such a hunk to be applied.

use std::collections::HashMap;

use super::note::Unfit;
use super::rules::{Alternative, Choice, RuleId, Rules, Sign, Symbol};
use super::text::FitText;
use crate::suffixes::{shortest_unique, sorted};
use patch_engine::Profile;
use patch_grammar::marker::{Marker, NO_NEWLINE};

/// The opening line of a hunk.
const AT: &str = "@@\n";

/// The most places followed for all beginnings of blocks together: only a file of long parts
/// repeated over and over has more.
const FOLLOWED_PLACES: usize = 1_000_000;

/// Adds the rules for the hunks of a file; `rest` is what follows the last of them.
pub(super) fn hunks(
    rules: &mut Rules,
    text: &FitText<'_>,
    profile: Profile,
    rest: RuleId,
) -> Result<FileRules, Unfit> {
    let at = rules.text(AT);
    if text.lines.is_empty() {
        let start = rules.add(vec![vec![at, Symbol::Inserted, Symbol::Rule(rest)]]);
        return Ok(FileRules { start, choices: 1 });
    }
    let mut writer = Hunks::new(rules, text, profile, rest);
    for stretch in text.stretches.iter().rev() {
        writer.stretch(stretch.start, stretch.end);
    }
    if writer.rules.is_full() {
        return Err(Unfit::Repetitive);
    }
    match profile {
        Profile::Codex => writer.first_hunk(),
        _ => writer.one_hunk(),
    }
}

/// The rules for the hunks of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileRules {
    /// The first of them.
    pub(super) start: RuleId,
    /// How many alternatives are open at once at most.
    pub(super) choices: usize,
}

/// The rules that the lines of a hunk so far lead to.
#[derive(Debug, Clone, Copy, Default)]
struct After {
    /// If nothing was changed yet; `None` where nothing can be any more.
    same: Option<RuleId>,
    /// If something was changed.
    changed: Option<RuleId>,
}

/// A place of an open block: the next line, and the line before which the block is unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct BlockPlace {
    next: u32,
    reach: u32,
}

/// The rules of one file, made from its last line to its first.
struct Hunks<'a, 'f> {
    rules: &'a mut Rules,
    text: &'a FitText<'f>,
    profile: Profile,
    rest: RuleId,
    at: Symbol,
    /// The end of the shortest unique block from each line on; beyond the file if there is none.
    ends: Vec<u32>,
    /// The places where a block can begin, from the last to the first.
    starts: Vec<BlockPlace>,
    /// The first lines of hunks, and what follows.
    firsts: Choice,
    /// A hunk below the last line reached, and the number of its starts.
    next: Option<(RuleId, usize)>,
    /// The rules behind a unique block with its end before a line, for each line and the end.
    free: Vec<After>,
    /// The rules at a line on the way to the end of a shortest block.
    ways: HashMap<BlockPlace, After>,
}

impl<'a, 'f> Hunks<'a, 'f> {
    fn new(rules: &'a mut Rules, text: &'a FitText<'f>, profile: Profile, rest: RuleId) -> Self {
        Self {
            at: rules.text(AT),
            ends: shortest_unique(&text.lines, &sorted(&text.lines)),
            free: vec![After::default(); text.lines.len() + 1],
            starts: Vec::new(),
            firsts: Choice::default(),
            next: None,
            ways: HashMap::new(),
            rules,
            text,
            profile,
            rest,
        }
    }

    /// Adds the blocks within some lines; blocks further down were added before.
    fn stretch(&mut self, start: usize, end: usize) {
        self.free[end] = After { same: self.inserted_at_end(end), changed: self.done(end, None) };
        for line in (start..end).rev() {
            if self.rules.is_full() {
                return;
            }
            let reach = self.ends[line] as usize;
            if reach <= end {
                self.starts.push(BlockPlace { next: line as u32, reach: reach as u32 });
                if self.profile == Profile::Codex {
                    self.start(line, reach);
                }
            }
            let after = self.free[line + 1];
            self.free[line] = After {
                same: self.unchanged(line, after),
                changed: self.done(line, after.changed),
            };
        }
    }

    /// Adds the hunks that begin at a line.
    fn start(&mut self, line: usize, reach: usize) {
        let after = self.way_to(BlockPlace { next: line as u32 + 1, reach: reach as u32 });
        for alternative in self.first_lines(line, after) {
            self.firsts.push(self.rules, alternative);
        }
    }

    /// A line as the first of a hunk.
    fn first_lines(&mut self, line: usize, after: After) -> Vec<Alternative> {
        let (context, deleted) = self.old(line);
        let same = after.same.map(|same| vec![context, Symbol::Rule(same)]);
        let changed = after.changed.map(|changed| vec![deleted, Symbol::Rule(changed)]);
        same.into_iter().chain(changed).collect()
    }

    /// The rules that follow at a place.
    fn way_to(&mut self, place: BlockPlace) -> After {
        let mut known = place;
        while known.next < known.reach && !self.ways.contains_key(&known) {
            known.next += 1;
        }
        let mut after = match self.ways.get(&known) {
            Some(&after) => after,
            None => self.free[known.next as usize],
        };
        while known.next > place.next {
            known.next -= 1;
            let line = known.next as usize;
            let changed = after.changed.map(|changed| {
                let old = self.signed(Sign::Either, line);
                self.rules.add(vec![vec![Symbol::MaybeInserted, old, Symbol::Rule(changed)]])
            });
            after = After { same: self.unchanged(line, after), changed };
            self.ways.insert(known, after);
        }
        after
    }

    /// The rule for a line of a hunk that changed nothing yet.
    fn unchanged(&mut self, line: usize, after: After) -> Option<RuleId> {
        let (context, deleted) = self.old(line);
        let changed = after.changed?;
        let changed = Symbol::Rule(changed);
        let old = self.signed(Sign::Either, line);
        let mut alternatives = vec![vec![deleted, changed], vec![Symbol::Inserted, old, changed]];
        if let Some(same) = after.same {
            alternatives.push(vec![context, Symbol::Rule(same)]);
        }
        Some(self.rules.add(alternatives))
    }

    /// The rule before a line of a hunk that changed something and may end.
    fn done(&mut self, line: usize, changed: Option<RuleId>) -> Option<RuleId> {
        let mut alternatives = if line == self.text.lines.len() {
            self.at_end(Symbol::MaybeInserted)
        } else {
            vec![vec![Symbol::MaybeInserted, Symbol::Rule(self.rest)]]
        };
        if let Some(next) = self.next_hunk() {
            alternatives.push(vec![Symbol::MaybeInserted, Symbol::Rule(next)]);
        }
        if let Some(changed) = changed {
            let old = self.signed(Sign::Either, line);
            alternatives.push(vec![Symbol::MaybeInserted, old, Symbol::Rule(changed)]);
        }
        Some(self.rules.add(alternatives))
    }

    /// A hunk with no change but lines inserted below all others: at the end of the file.
    fn inserted_at_end(&mut self, line: usize) -> Option<RuleId> {
        if line < self.text.lines.len() {
            return None;
        }
        let alternatives = self.at_end(Symbol::Inserted);
        Some(self.rules.add(alternatives))
    }

    /// How a hunk ends at the end of the file.
    fn at_end(&mut self, inserted: Symbol) -> Vec<Alternative> {
        let rest = Symbol::Rule(self.rest);
        let end_of_file = self.rules.text(&format!("{}\n", Marker::EndOfFile));
        let no_newline = self.rules.text(&format!("{NO_NEWLINE}\n"));
        vec![
            vec![inserted, rest],
            vec![inserted, end_of_file, rest],
            vec![Symbol::Inserted, no_newline, rest],
        ]
    }

    /// A line of the file as context, and as a deleted line.
    fn old(&mut self, line: usize) -> (Symbol, Symbol) {
        (self.signed(Sign::Context, line), self.signed(Sign::Deleted, line))
    }

    /// A line of the file after a sign.
    fn signed(&mut self, sign: Sign, line: usize) -> Symbol {
        self.rules.old(sign, self.text.texts[self.text.lines[line] as usize])
    }

    /// Another hunk below, where there may be several.
    fn next_hunk(&mut self) -> Option<RuleId> {
        if self.profile != Profile::Codex || self.starts.is_empty() {
            return None;
        }
        if let Some((next, _)) = self.next.filter(|&(_, count)| count == self.starts.len()) {
            return Some(next);
        }
        let lines = self.rules.add(self.firsts.alternatives());
        let next = self.rules.add(vec![vec![self.at, Symbol::MaybeInserted, Symbol::Rule(lines)]]);
        self.next = Some((next, self.starts.len()));
        Some(next)
    }

    /// The first hunk of several.
    fn first_hunk(mut self) -> Result<FileRules, Unfit> {
        let next = self.next_hunk().ok_or(Unfit::NoBlock)?;
        let mut alternatives = vec![vec![Symbol::Rule(next)]];
        if let Some(&BlockPlace { next: 0, reach }) = self.starts.last() {
            let after = self.way_to(BlockPlace { next: 1, reach });
            alternatives.extend(self.at_top(after));
        }
        let choices = self.choices();
        Ok(FileRules { start: self.rules.add(alternatives), choices })
    }

    /// How many alternatives are open at once where each place of a block has rules of its own: two
    /// for each first line and some for the choice among them; then the alternatives of each place
    /// with the same first line.
    fn choices(&self) -> usize {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for start in &self.starts {
            *counts.entry(self.text.lines[start.next as usize]).or_default() += 1;
        }
        let most = counts.into_values().max().unwrap_or(0);
        (3 * self.starts.len()).max(7 * most)
    }

    /// A hunk that inserts at the beginning of the file, and is a change by that.
    fn at_top(&mut self, after: After) -> Option<Alternative> {
        let (context, _) = self.old(0);
        Some(vec![self.at, Symbol::Inserted, context, Symbol::Rule(after.changed?)])
    }

    /// The one hunk. Blocks that begin alike are followed together, until one place is left, so
    /// that there is never a choice between two rules for the same line.
    fn one_hunk(mut self) -> Result<FileRules, Unfit> {
        if self.starts.is_empty() {
            return Err(Unfit::NoBlock);
        }
        let mut together = Together::default();
        let starts = std::mem::take(&mut self.starts);
        let mut firsts = Vec::new();
        let mut at_top = None;
        let mut groups = self.groups(&starts);
        // Groups with one place first, so that a reader who follows names never nests deeply.
        groups.sort_by_key(|group| group.len() > 1);
        for group in groups {
            if self.rules.is_full() {
                return Err(Unfit::Repetitive);
            }
            let line = group[0].next as usize;
            let is_top = group.iter().any(|place| place.next == 0);
            let after = self.follow(&mut together, group);
            firsts.extend(self.first_lines(line, after));
            if is_top {
                let top = starts[starts.len() - 1];
                let after = self.way_to(BlockPlace { next: 1, ..top });
                at_top = self.at_top(after);
            }
        }
        while let Some((places, after)) = together.open.pop() {
            if self.rules.is_full() {
                break;
            }
            together.followed += places.len();
            if together.followed > FOLLOWED_PLACES {
                return Err(Unfit::Repetitive);
            }
            self.branch(&mut together, &places, after);
        }
        let choices = firsts.len();
        let firsts = self.rules.add(firsts);
        let mut alternatives = vec![vec![self.at, Symbol::MaybeInserted, Symbol::Rule(firsts)]];
        alternatives.extend(at_top);
        Ok(FileRules { start: self.rules.add(alternatives), choices })
    }

    /// Sorts places by their next line, the ones further down first.
    fn groups(&self, places: &[BlockPlace]) -> Vec<Vec<BlockPlace>> {
        let mut numbers: HashMap<u32, usize> = HashMap::new();
        let mut groups: Vec<Vec<BlockPlace>> = Vec::new();
        for &place in places {
            let line = self.text.lines[place.next as usize];
            let group = *numbers.entry(line).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(place);
        }
        groups
    }

    /// The rules behind the next line of these places; the same block may stand at each.
    fn follow(&mut self, together: &mut Together, mut places: Vec<BlockPlace>) -> After {
        for place in &mut places {
            place.next += 1;
        }
        if let [place] = places[..] {
            return self.way_to(place);
        }
        if let Some(&after) = together.known.get(&places) {
            return after;
        }
        let same = Some(self.rules.reserve());
        let after = After { same, changed: Some(self.rules.reserve()) };
        together.known.insert(places.clone(), after);
        together.open.push((places, after));
        after
    }

    /// Writes the rules of several possible places of the block so far.
    fn branch(&mut self, together: &mut Together, places: &[BlockPlace], after: After) {
        let mut unchanged = Vec::new();
        let mut old = Vec::new();
        for group in self.groups(places) {
            let line = group[0].next as usize;
            let (context, deleted) = self.old(line);
            let then = self.follow(together, group);
            unchanged.extend(then.same.map(|same| vec![context, Symbol::Rule(same)]));
            if let Some(changed) = then.changed {
                unchanged.push(vec![deleted, Symbol::Rule(changed)]);
                old.push(vec![self.signed(Sign::Either, line), Symbol::Rule(changed)]);
            }
        }
        let old = Symbol::Rule(self.rules.add(old));
        unchanged.push(vec![Symbol::Inserted, old]);
        if let Some(same) = after.same
            && let Some(changed) = after.changed
        {
            self.rules.set(same, unchanged);
            self.rules.set(changed, vec![vec![Symbol::MaybeInserted, old]]);
        }
    }
}

/// Blocks followed at several places at once.
#[derive(Debug, Default)]
struct Together {
    known: HashMap<Vec<BlockPlace>, After>,
    /// Those whose rules are still to be written.
    open: Vec<(Vec<BlockPlace>, After)>,
    /// How many places were followed.
    followed: usize,
}
