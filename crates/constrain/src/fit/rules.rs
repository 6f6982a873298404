//! The rules of a fitted grammar before they are written in a notation.

use std::collections::HashMap;

/// The number of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RuleId(pub(super) u32);

/// The number of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TextId(pub(super) u32);

/// A part of an alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A text as it is.
    Text(TextId),
    /// A line of the file; the text has no sign.
    Old(Sign, TextId),
    /// The text of another rule.
    Rule(RuleId),
    /// One or more inserted lines.
    Inserted,
    /// Any number of inserted lines.
    MaybeInserted,
    /// The path of a new file, and a line feed.
    NewPath,
}

/// The sign before a line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// A blank: the line stays.
    Context,
    /// A minus sign: the line goes.
    Deleted,
    /// One or the other.
    Either,
}

impl Sign {
    pub(super) fn chars(self) -> &'static [char] {
        match self {
            Self::Context => &[' '],
            Self::Deleted => &['-'],
            Self::Either => &[' ', '-'],
        }
    }
}

/// One of the ways to follow a rule.
pub(super) type Alternative = Vec<Symbol>;

/// All rules. The only recursion is in [`Symbol::Inserted`].
#[derive(Debug, Default)]
pub(super) struct Rules {
    rules: Vec<Vec<Alternative>>,
    texts: Vec<String>,
    numbers: HashMap<String, TextId>,
}

impl Rules {
    pub(super) fn add(&mut self, alternatives: Vec<Alternative>) -> RuleId {
        debug_assert!(!alternatives.is_empty(), "a rule that leads nowhere");
        self.rules.push(alternatives);
        RuleId(self.rules.len() as u32 - 1)
    }

    /// A rule to be written later, by [`set`](Self::set).
    pub(super) fn reserve(&mut self) -> RuleId {
        self.rules.push(Vec::new());
        RuleId(self.rules.len() as u32 - 1)
    }

    pub(super) fn set(&mut self, rule: RuleId, alternatives: Vec<Alternative>) {
        self.rules[rule.0 as usize] = alternatives;
    }

    pub(super) fn text(&mut self, text: &str) -> Symbol {
        Symbol::Text(self.number(text))
    }

    pub(super) fn old(&mut self, sign: Sign, line: &str) -> Symbol {
        Symbol::Old(sign, self.number(&format!("{line}\n")))
    }

    fn number(&mut self, text: &str) -> TextId {
        if let Some(&id) = self.numbers.get(text) {
            return id;
        }
        let id = TextId(self.texts.len() as u32);
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), id);
        id
    }

    pub(super) fn alternatives(&self, rule: RuleId) -> &[Alternative] {
        &self.rules[rule.0 as usize]
    }

    pub(super) fn text_of(&self, text: TextId) -> &str {
        &self.texts[text.0 as usize]
    }

    /// The rules that `start` leads to, in the order in which a reader comes to them that follows
    /// each name where it stands; and how deep such a reader nests.
    pub(super) fn reached(&self, start: RuleId) -> Reached {
        let mut reached = Reached { rules: Vec::new(), depth: 0 };
        let mut seen = vec![false; self.rules.len()];
        seen[start.0 as usize] = true;
        let mut open = vec![(start, self.named(start))];
        while let Some((rule, named)) = open.last_mut() {
            match named.next() {
                Some(next) if seen[next.0 as usize] => {}
                Some(next) => {
                    seen[next.0 as usize] = true;
                    open.push((next, self.named(next)));
                    reached.depth = reached.depth.max(open.len());
                }
                None => {
                    reached.rules.push(*rule);
                    open.pop();
                }
            }
        }
        reached.rules.sort_unstable_by(|one, other| other.cmp(one));
        reached
    }

    fn named(&self, rule: RuleId) -> impl Iterator<Item = RuleId> + '_ {
        self.alternatives(rule).iter().flatten().filter_map(|symbol| match symbol {
            Symbol::Rule(rule) => Some(*rule),
            _ => None,
        })
    }
}

/// The rules that a rule leads to.
#[derive(Debug)]
pub(super) struct Reached {
    /// The rules, from the first on.
    pub(super) rules: Vec<RuleId>,
    /// How many rules are open at once in a reader that goes down into each rule.
    pub(super) depth: usize,
}

/// How many alternatives are written out before they become a rule.
const PART: usize = 8;

/// A growing choice: a rule of all alternatives so far costs a logarithm of their number, not the
/// number itself.
#[derive(Debug, Default, Clone)]
pub(super) struct Choice {
    /// Rules for ever fewer of the alternatives, the latest last.
    parts: Vec<(RuleId, u32)>,
    /// The latest alternatives.
    latest: Vec<Alternative>,
}

impl Choice {
    /// Adds an alternative. Early ones are named first: the rules for lines further down in a file
    /// are then known to a reader who comes to the rules above, and the reader never nests deeply.
    pub(super) fn push(&mut self, rules: &mut Rules, alternative: Alternative) {
        self.latest.push(alternative);
        if self.latest.len() < PART {
            return;
        }
        let mut part = (rules.add(std::mem::take(&mut self.latest)), 0);
        while let Some(&(earlier, size)) = self.parts.last().filter(|last| last.1 == part.1) {
            self.parts.pop();
            let both = vec![vec![Symbol::Rule(earlier)], vec![Symbol::Rule(part.0)]];
            part = (rules.add(both), size + 1);
        }
        self.parts.push(part);
    }

    /// The alternatives so far.
    pub(super) fn alternatives(&self) -> Vec<Alternative> {
        let parts = self.parts.iter().map(|&(rule, _)| vec![Symbol::Rule(rule)]);
        parts.chain(self.latest.iter().cloned()).collect()
    }
}
