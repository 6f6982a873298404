//! The grammar between pest and the files: rules over terminals, and one regex a terminal.

use std::collections::BTreeMap;

use pest_meta::ast::Expr as Peg;

use super::charset::CharSet;

/// A grammar that was read from a pest file: the rules and terminals that one start rule reaches.
///
/// The rules do not recurse, so the language is regular. That is what lets
/// [`check`](Grammar::check) decide about it.
///
/// # Limitations
///
/// `Grammar` is made for grammars that one writes oneself. Automata can be exponentially larger
/// than the grammar, and nothing here stops a grammar that was written to make them so.
#[derive(Debug, Clone)]
pub struct Grammar {
    /// The pest rule at the start.
    pub(crate) start: String,
    /// The start rule first, then in the order in which they are reached.
    pub(crate) rules: Vec<Definition<Expr>>,
    /// In the order in which they are reached.
    pub(crate) terminals: Vec<Definition<Regex>>,
    /// The rules as pest has them, for the comparison.
    pub(crate) peg: BTreeMap<String, Peg>,
}

/// A rule of the parser, or a terminal: what the lexer takes at once.
#[derive(Debug, Clone)]
pub(crate) struct Definition<T> {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) right: T,
}

/// The right side of a rule or a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tree<L> {
    Leaf(L),
    Sequence(Vec<Tree<L>>),
    Choice(Vec<Tree<L>>),
    Repeat(Box<Tree<L>>, Times),
}

/// The right side of a rule.
pub(crate) type Expr = Tree<Symbol>;

/// The right side of a terminal.
pub(crate) type Regex = Tree<Chars>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// A text as a terminal without a name.
    Literal(String),
    /// A rule, by its index in [`Grammar::rules`].
    Rule(usize),
    /// A terminal, by its index in [`Grammar::terminals`].
    Terminal(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chars {
    Set(CharSet),
    Literal(String),
}

impl<L> Tree<L> {
    /// The same tree with another one in the place of each leaf.
    pub(crate) fn expand<M>(&self, leaf: &mut dyn FnMut(&L) -> Tree<M>) -> Tree<M> {
        match self {
            Self::Leaf(it) => leaf(it),
            Self::Sequence(parts) => {
                Tree::Sequence(parts.iter().map(|part| part.expand(leaf)).collect())
            }
            Self::Choice(parts) => {
                Tree::Choice(parts.iter().map(|part| part.expand(leaf)).collect())
            }
            Self::Repeat(inner, times) => Tree::Repeat(Box::new(inner.expand(leaf)), *times),
        }
    }
}

impl Grammar {
    /// The start rule with all other rules expanded: its leaves are literals and terminals.
    pub(crate) fn expanded(&self) -> Expr {
        fn expanded(grammar: &Grammar, rule: usize) -> Expr {
            grammar.rules[rule].right.expand(&mut |leaf| match leaf {
                Symbol::Rule(index) => expanded(grammar, *index),
                leaf => Tree::Leaf(leaf.clone()),
            })
        }
        expanded(self, 0)
    }

    /// The whole grammar as one regex.
    pub(crate) fn regex(&self) -> Regex {
        self.expanded().expand(&mut |leaf| match leaf {
            Symbol::Literal(text) => Tree::Leaf(Chars::Literal(text.clone())),
            Symbol::Terminal(index) => self.terminals[*index].right.clone(),
            Symbol::Rule(_) => unreachable!("BUG: every rule is expanded"),
        })
    }
}

/// How often something may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    Optional,
    Any,
    Some,
}

impl Times {
    pub(crate) fn symbol(self) -> char {
        match self {
            Self::Optional => '?',
            Self::Any => '*',
            Self::Some => '+',
        }
    }
}

impl Regex {
    /// Whether the empty text matches.
    pub(crate) fn is_nullable(&self) -> bool {
        match self {
            Self::Leaf(Chars::Set(_)) => false,
            Self::Leaf(Chars::Literal(text)) => text.is_empty(),
            Self::Sequence(parts) => parts.iter().all(Self::is_nullable),
            Self::Choice(parts) => parts.iter().any(Self::is_nullable),
            Self::Repeat(_, Times::Optional | Times::Any) => true,
            Self::Repeat(inner, Times::Some) => inner.is_nullable(),
        }
    }
}
