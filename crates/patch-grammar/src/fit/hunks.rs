//! The hunks that apply to one file.
//!
//! A hunk's old lines are a block that stands once in the file, so it has one place. The rules
//! follow the lines of the file by their numbers: a block that begins at a line has to reach the
//! end of the shortest block there that stands once, and may go on from there.
//!
//! A hunk changes something. To insert lines at an edge of the block is not enough, but at the
//! beginning and the end of the file: the same lines may stand there already, and the applier takes
//! such a hunk to be applied.

use super::FitProfile;
use super::rules::{Alternative, Choice, RuleId, Rules, Symbol};
use super::text::FileText;
use super::unique::shortest_unique;
use crate::marker::{Marker, NO_NEWLINE};

/// What opens a hunk.
const AT: &str = "@@\n";

/// Adds the rules for the hunks of a file; `rest` is what follows the last of them. Returns `None`
/// if no hunk is possible.
pub(super) fn hunks(
    rules: &mut Rules,
    text: &FileText<'_>,
    profile: FitProfile,
    rest: RuleId,
) -> Option<RuleId> {
    let at = rules.text(AT);
    if text.lines.is_empty() {
        return Some(rules.add(vec![vec![at, Symbol::Inserted, Symbol::Rule(rest)]]));
    }
    let mut writer = Hunks::new(rules, text, profile, rest);
    for stretch in text.stretches.iter().rev() {
        writer.stretch(stretch.start, stretch.end);
    }
    writer.first_hunk()
}

/// What the lines of a hunk so far lead to.
#[derive(Debug, Clone, Copy, Default)]
struct After {
    /// If nothing was changed yet; `None` where nothing can be any more.
    same: Option<RuleId>,
    /// If something was changed.
    changed: Option<RuleId>,
}

/// The rules of one file, made from its last line to its first.
struct Hunks<'a, 'f> {
    rules: &'a mut Rules,
    text: &'a FileText<'f>,
    profile: FitProfile,
    rest: RuleId,
    at: Symbol,
    /// Where the shortest block ends that begins at each line and stands once.
    ends: Vec<Option<usize>>,
    /// The hunks that begin at a line that was reached.
    starts: Choice,
    /// A hunk below the line that was reached last, and how many starts it has.
    next: Option<(RuleId, usize)>,
    /// How many starts there are.
    count: usize,
    /// What follows a block that stands once and ends before a line, for each line and the end.
    free: Vec<After>,
    /// The way to the end of a shortest block: from which line, to which end, and what is there.
    way: Option<(usize, usize, After)>,
    /// A hunk that begins with inserted lines at the beginning of the file.
    at_top: Option<RuleId>,
}

impl<'a, 'f> Hunks<'a, 'f> {
    fn new(
        rules: &'a mut Rules,
        text: &'a FileText<'f>,
        profile: FitProfile,
        rest: RuleId,
    ) -> Self {
        Self {
            at: rules.text(AT),
            ends: shortest_unique(&text.lines),
            free: vec![After::default(); text.lines.len() + 1],
            starts: Choice::default(),
            next: None,
            count: 0,
            way: None,
            at_top: None,
            rules,
            text,
            profile,
            rest,
        }
    }

    /// Adds the blocks within some lines; those further down were added before.
    fn stretch(&mut self, start: usize, end: usize) {
        self.way = None;
        self.free[end] = After { same: self.inserted_at_end(end), changed: self.done(end, None) };
        for line in (start..end).rev() {
            if let Some(reach) = self.ends[line].filter(|&reach| reach <= end) {
                self.start(line, reach);
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
        let after = self.way_to(line + 1, reach);
        let (context, deleted) = self.old(line);
        let mut alternatives = Vec::new();
        if let Some(same) = after.same {
            alternatives.push(vec![context, Symbol::Rule(same)]);
        }
        if let Some(changed) = after.changed {
            alternatives.push(vec![deleted, Symbol::Rule(changed)]);
            if line == 0 {
                let first = [self.at, Symbol::Inserted, context, Symbol::Rule(changed)];
                self.at_top = Some(self.rules.add(vec![first.to_vec()]));
            }
        }
        let start = self.rules.add(alternatives);
        self.starts.push(self.rules, start);
        self.count += 1;
    }

    /// What follows when a block has come to `line` and has to reach `end`.
    fn way_to(&mut self, line: usize, end: usize) -> After {
        let (mut at, mut after) = match self.way {
            Some((at, known, after)) if known == end && at >= line => (at, after),
            _ => (end, self.free[end]),
        };
        while at > line {
            at -= 1;
            let changed = after.changed.map(|changed| {
                let alternatives = self.either(at, changed, Symbol::MaybeInserted);
                self.rules.add(alternatives)
            });
            after = After { same: self.unchanged(at, after), changed };
        }
        self.way = Some((line, end, after));
        after
    }

    /// What a hunk that changed nothing yet does with a line.
    fn unchanged(&mut self, line: usize, after: After) -> Option<RuleId> {
        let (context, deleted) = self.old(line);
        let mut alternatives = Vec::new();
        if let Some(same) = after.same {
            alternatives.push(vec![context, Symbol::Rule(same)]);
        }
        let changed = after.changed?;
        alternatives.push(vec![deleted, Symbol::Rule(changed)]);
        alternatives.extend(self.either(line, changed, Symbol::Inserted));
        Some(self.rules.add(alternatives))
    }

    /// What a hunk that changed something and may end does before a line.
    fn done(&mut self, line: usize, changed: Option<RuleId>) -> Option<RuleId> {
        let mut alternatives = vec![vec![Symbol::MaybeInserted, Symbol::Rule(self.rest)]];
        if line == self.text.lines.len() {
            alternatives = self.at_end(Symbol::MaybeInserted);
        }
        if let Some(next) = self.next_hunk() {
            alternatives.push(vec![Symbol::MaybeInserted, Symbol::Rule(next)]);
        }
        if let Some(changed) = changed {
            alternatives.extend(self.either(line, changed, Symbol::MaybeInserted));
        }
        Some(self.rules.add(alternatives))
    }

    /// A hunk that has no change but lines inserted below all others: at the end of the file.
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

    /// A line of the file as context or deleted, after inserted lines.
    fn either(&mut self, line: usize, then: RuleId, inserted: Symbol) -> Vec<Alternative> {
        let (context, deleted) = self.old(line);
        let then = Symbol::Rule(then);
        vec![vec![inserted, context, then], vec![inserted, deleted, then]]
    }

    /// A line of the file as context, and as a deleted line.
    fn old(&mut self, line: usize) -> (Symbol, Symbol) {
        let text = self.text.texts[self.text.lines[line] as usize];
        (self.rules.text(&format!(" {text}\n")), self.rules.text(&format!("-{text}\n")))
    }

    /// Another hunk below, where there may be several.
    fn next_hunk(&mut self) -> Option<RuleId> {
        if self.profile == FitProfile::Strict || self.starts.is_empty() {
            return None;
        }
        if let Some((next, _)) = self.next.filter(|&(_, count)| count == self.count) {
            return Some(next);
        }
        let any = self.starts.rule(self.rules)?;
        let next = self.rules.add(vec![vec![self.at, Symbol::MaybeInserted, Symbol::Rule(any)]]);
        self.next = Some((next, self.count));
        Some(next)
    }

    /// The first hunk, and with it all others.
    fn first_hunk(mut self) -> Option<RuleId> {
        let any = self.starts.rule(self.rules)?;
        let mut alternatives = vec![vec![self.at, Symbol::MaybeInserted, Symbol::Rule(any)]];
        alternatives.extend(self.at_top.take().map(|top| vec![Symbol::Rule(top)]));
        Some(self.rules.add(alternatives))
    }
}
