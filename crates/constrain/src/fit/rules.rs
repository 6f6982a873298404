//! The rules of a fitted grammar before they are written in a notation.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::tail::TailKind;

/// The most rules that are made: no engine takes as many.
const MOST_RULES: usize = 110_000;

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
    /// The rest of the patch.
    Tail(TailKind),
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

/// A symbol in 32 bits, since a file of many short lines has many of them: its kind, and the number
/// of a text or a rule.
#[derive(Debug, Clone, Copy)]
struct Packed(u32);

impl Packed {
    const KIND: u32 = 3;

    fn new(symbol: Symbol) -> Self {
        let (kind, number) = match symbol {
            Symbol::Text(text) => (0, text.0),
            Symbol::Old(Sign::Context, text) => (1, text.0),
            Symbol::Old(Sign::Deleted, text) => (2, text.0),
            Symbol::Old(Sign::Either, text) => (3, text.0),
            Symbol::Rule(rule) => (4, rule.0),
            Symbol::Inserted => (5, 0),
            Symbol::MaybeInserted => (6, 0),
            Symbol::NewPath => (7, 0),
            Symbol::Tail(kind) => (7, 1 + kind.number() as u32),
        };
        Self(number << Self::KIND | kind)
    }

    fn symbol(self) -> Symbol {
        let number = self.0 >> Self::KIND;
        match self.0 & 7 {
            0 => Symbol::Text(TextId(number)),
            1 => Symbol::Old(Sign::Context, TextId(number)),
            2 => Symbol::Old(Sign::Deleted, TextId(number)),
            3 => Symbol::Old(Sign::Either, TextId(number)),
            4 => Symbol::Rule(RuleId(number)),
            5 => Symbol::Inserted,
            6 => Symbol::MaybeInserted,
            _ if number == 0 => Symbol::NewPath,
            _ => Symbol::Tail(TailKind::ALL[number as usize - 1]),
        }
    }
}

/// All rules. The only recursion is in [`Symbol::Inserted`].
#[derive(Debug)]
pub(super) struct Rules {
    /// The alternatives of each rule.
    rules: Vec<Range<u32>>,
    /// The end of each alternative in `symbols`, behind a first end.
    ends: Vec<u32>,
    symbols: Vec<Packed>,
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, TextId>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            ends: vec![0],
            symbols: Vec::new(),
            texts: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl Rules {
    /// Whether there are more rules than any engine takes. Making rules is given up then.
    pub(super) fn is_full(&self) -> bool {
        self.rules.len() > MOST_RULES
    }

    pub(super) fn add(&mut self, alternatives: impl IntoIterator<Item = Alternative>) -> RuleId {
        let rule = self.reserve();
        self.set(rule, alternatives);
        rule
    }

    /// A rule to be written later, by [`set`](Self::set).
    pub(super) fn reserve(&mut self) -> RuleId {
        self.rules.push(0..0);
        RuleId(self.rules.len() as u32 - 1)
    }

    pub(super) fn set(
        &mut self,
        rule: RuleId,
        alternatives: impl IntoIterator<Item = Alternative>,
    ) {
        let first = self.ends.len() as u32 - 1;
        for alternative in alternatives {
            self.symbols.extend(alternative.into_iter().map(Packed::new));
            self.ends.push(self.symbols.len() as u32);
        }
        let end = self.ends.len() as u32 - 1;
        debug_assert!(first < end, "a rule that leads nowhere");
        self.rules[rule.0 as usize] = first..end;
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
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, id);
        id
    }

    /// The alternatives of a rule.
    pub(super) fn alternatives(
        &self,
        rule: RuleId,
    ) -> impl ExactSizeIterator<Item = impl DoubleEndedIterator<Item = Symbol> + Clone + '_> + '_
    {
        let Range { start, end } = self.rules[rule.0 as usize];
        let ends = &self.ends[start as usize..=end as usize];
        ends.windows(2).map(|ends| {
            let symbols = &self.symbols[ends[0] as usize..ends[1] as usize];
            symbols.iter().map(|packed| packed.symbol())
        })
    }

    pub(super) fn text_of(&self, text: TextId) -> &str {
        &self.texts[text.0 as usize]
    }

    /// The rules that `start` leads to, in the order in which a reader comes to them that follows
    /// each name where it stands; and how deep such a reader nests.
    pub(super) fn reached(&self, start: RuleId) -> Reached {
        let mut reached = Reached { rules: Vec::new(), depth: 0, tails: Vec::new() };
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
        let symbols = reached.rules.iter().flat_map(|&rule| self.alternatives(rule)).flatten();
        reached.tails.extend(symbols.filter_map(|symbol| match symbol {
            Symbol::Tail(kind) => Some(kind),
            _ => None,
        }));
        reached.tails.sort_unstable();
        reached.tails.dedup();
        reached
    }

    fn named(&self, rule: RuleId) -> impl Iterator<Item = RuleId> + '_ {
        self.alternatives(rule).flatten().filter_map(|symbol| match symbol {
            Symbol::Rule(rule) => Some(rule),
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
    /// The kinds of ends that they lead to.
    pub(super) tails: Vec<TailKind>,
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
