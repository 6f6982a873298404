//! Rules of characters: what a grammar in BNF says, with the look-aheads that XGrammar knows.
//!
//! The rules come from a grammar (`shape`), or from the text of a file (`read_bnf`). The language
//! of either is built here, so that a file is compared with the pest rules as written and not as
//! meant.

use std::collections::HashMap;
use std::rc::Rc;

use super::automaton::{self, Alphabet, Dfa, END, Nfa};
use super::charset::CharSet;
use super::grammar::{Chars, Times, Tree};

/// A grammar whose leaves are characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bnf {
    /// The start rule first.
    pub(crate) rules: Vec<BnfRule>,
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BnfRule {
    pub(crate) name: String,
    /// The comment above the rule.
    pub(crate) doc: String,
    pub(crate) right: Tree<Item>,
    /// The characters allowed after the rule: `(= [ab])`.
    pub(crate) ahead: Option<CharSet>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    Chars(Chars),
    /// A rule, by its index in [`Bnf::rules`].
    Rule(usize),
}

/// The choice of an engine where the text goes on with a character missing from a look-ahead.
///
/// XGrammar uses look-aheads to settle tokens while compiling, and only there; a file has to mean
/// the same to an engine that always obeys them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookAhead {
    Ignored,
    Obeyed,
}

impl Bnf {
    /// All sets of characters in the rules.
    pub(crate) fn sets(&self) -> Vec<CharSet> {
        let mut sets: Vec<_> = self.rules.iter().filter_map(|rule| rule.ahead.clone()).collect();
        for rule in &self.rules {
            rule.right.expand(&mut |leaf| {
                match leaf {
                    Item::Chars(Chars::Set(set)) => sets.push(set.clone()),
                    Item::Chars(Chars::Literal(text)) => {
                        sets.extend(text.chars().map(CharSet::single));
                    }
                    Item::Rule(_) => {}
                }
                Tree::Leaf(())
            });
        }
        sets
    }

    /// Refuses a rule that comes back to itself elsewhere than at its end: such a language need not
    /// be regular.
    pub(crate) fn check_recursion(&self) -> Result<(), String> {
        for (index, rule) in self.rules.iter().enumerate() {
            let mut inner = Vec::new();
            uses(&rule.right, UsePosition::End, &mut |used, position| {
                if position == UsePosition::Inner {
                    inner.push(used);
                }
            });
            if inner.into_iter().any(|used| self.reaches(used, index)) {
                return Err(format!("rule `{}` uses itself before its end", rule.name));
            }
        }
        Ok(())
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.rules.len()];
        let mut open = vec![from];
        while let Some(rule) = open.pop() {
            if !std::mem::replace(&mut seen[rule], true) {
                uses(&self.rules[rule].right, UsePosition::End, &mut |used, _| open.push(used));
            }
        }
        seen[to]
    }

    /// The language.
    pub(crate) fn automaton(&self, alphabet: &Alphabet, look_ahead: LookAhead) -> Dfa {
        let mut builder = Builder {
            bnf: self,
            alphabet,
            look_ahead,
            begun: HashMap::new(),
            guards: HashMap::new(),
            guarded: HashMap::new(),
        };
        let mut nfa = Nfa::new();
        let start = builder.rule(&mut nfa, 0, END);
        nfa.determinise(start, alphabet.classes.len())
    }
}

/// Where in a rule another one is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UsePosition {
    /// Something may follow.
    Inner,
    /// Nothing does.
    End,
}

/// Calls `found` with each rule used by `tree`.
fn uses(tree: &Tree<Item>, position: UsePosition, found: &mut dyn FnMut(usize, UsePosition)) {
    match tree {
        Tree::Leaf(Item::Rule(rule)) => found(*rule, position),
        Tree::Leaf(Item::Chars(_)) => {}
        Tree::Choice(parts) => parts.iter().for_each(|part| uses(part, position, found)),
        Tree::Sequence(parts) => {
            for (nth, part) in parts.iter().enumerate() {
                let last = nth + 1 == parts.len();
                uses(part, if last { position } else { UsePosition::Inner }, found);
            }
        }
        Tree::Repeat(inner, Times::Optional) => uses(inner, position, found),
        Tree::Repeat(inner, _) => uses(inner, UsePosition::Inner, found),
    }
}

struct Builder<'b> {
    bnf: &'b Bnf,
    alphabet: &'b Alphabet,
    look_ahead: LookAhead,
    /// The first state of a rule before a next state: a rule that uses itself at its end comes back
    /// to the same one.
    begun: HashMap<(usize, usize), usize>,
    /// The state that asks for one of these classes, and goes on in a state.
    guards: HashMap<(Vec<usize>, usize), usize>,
    /// The demand of a state of `guards`.
    guarded: HashMap<usize, Vec<usize>>,
}

impl Builder<'_> {
    fn rule(&mut self, nfa: &mut Nfa, rule: usize, then: usize) -> usize {
        let bnf = self.bnf;
        let then = match &bnf.rules[rule].ahead {
            Some(ahead) if self.look_ahead == LookAhead::Obeyed => self.guard(nfa, ahead, then),
            _ => then,
        };
        if let Some(&begun) = self.begun.get(&(rule, then)) {
            return begun;
        }
        let begin = nfa.state(Vec::new());
        self.begun.insert((rule, then), begin);
        let first = nfa.add(&bnf.rules[rule].right, then, &mut |nfa, leaf, then| match leaf {
            Item::Rule(used) => self.rule(nfa, *used, then),
            Item::Chars(chars) => automaton::add_chars(nfa, chars, then, self.alphabet),
        });
        nfa.also(begin, first);
        begin
    }

    /// The state with a way to `then` if the next character is one of `ahead`. To ask the same
    /// twice is to ask once.
    fn guard(&mut self, nfa: &mut Nfa, ahead: &CharSet, then: usize) -> usize {
        let classes = self.alphabet.classes_in(ahead);
        if self.guarded.get(&then) == Some(&classes) {
            return then;
        }
        if let Some(&state) = self.guards.get(&(classes.clone(), then)) {
            return state;
        }
        let any = Tree::Repeat(Box::new(Tree::Leaf(Chars::Set(CharSet::all()))), Times::Any);
        let begins = Tree::Sequence(vec![Tree::Leaf(Chars::Set(ahead.clone())), any]);
        let state = nfa.guarded(Rc::new(automaton::of_regex(&begins, self.alphabet)), then);
        self.guards.insert((classes.clone(), then), state);
        self.guarded.insert(state, classes);
        state
    }
}
