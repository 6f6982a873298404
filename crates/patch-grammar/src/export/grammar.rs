//! The grammar between pest and the files: rules over terminals, and one regex a terminal.

use std::collections::BTreeMap;

use pest_meta::ast::Expr as Peg;

use super::charset::CharSet;

/// A grammar that was read from a pest file: the rules and terminals that one start rule reaches.
///
/// Its rules do not recurse, so its language is regular. That is what lets
/// [`check`](Grammar::check) decide about it.
///
/// # Limitations
///
/// It is made for grammars that one writes oneself. Automata can be exponentially larger than the
/// grammar, and nothing here stops a grammar that was written to make them so.
#[derive(Debug, Clone)]
pub struct Grammar {
    /// The pest rule it starts with.
    pub(crate) start: String,
    /// The start rule first, then in the order in which they are reached.
    pub(crate) rules: Vec<Rule>,
    /// In the order in which they are reached.
    pub(crate) terminals: Vec<Terminal>,
    /// The rules as pest has them, for the comparison.
    pub(crate) peg: BTreeMap<String, Peg>,
}

/// A rule of the parser.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) expr: Expr,
}

/// A terminal: what the lexer takes at once.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) regex: Regex,
}

/// The right side of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    /// A text that is a terminal without a name.
    Literal(String),
    /// A rule, by its place in [`Grammar::rules`].
    Rule(usize),
    /// A terminal, by its place in [`Grammar::terminals`].
    Terminal(usize),
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Repeat(Box<Expr>, Times),
}

/// The right side of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Regex {
    Set(CharSet),
    Literal(String),
    Sequence(Vec<Regex>),
    Choice(Vec<Regex>),
    Repeat(Box<Regex>, Times),
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
    /// Whether it takes the empty text.
    pub(crate) fn is_nullable(&self) -> bool {
        match self {
            Self::Set(_) => false,
            Self::Literal(text) => text.is_empty(),
            Self::Sequence(parts) => parts.iter().all(Self::is_nullable),
            Self::Choice(parts) => parts.iter().any(Self::is_nullable),
            Self::Repeat(_, Times::Optional | Times::Any) => true,
            Self::Repeat(inner, Times::Some) => inner.is_nullable(),
        }
    }

    /// The text, if it takes only one.
    pub(crate) fn as_literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            _ => None,
        }
    }
}
