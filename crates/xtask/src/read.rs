//! From the pest file to a [`Grammar`], or to the construct that no other notation can express.
//!
//! Atomic rules and rules in capitals become terminals, with the rules inside written out; the
//! others become rules. Pest's order of choice and its greed are dropped here;
//! [`check`](super::check) shows that nothing depended on them.

use std::collections::BTreeMap;

use patch_grammar::{Dialect, GRAMMAR};
use pest_meta::ast::{Expr as Peg, Rule as PegRule, RuleType};
use pest_meta::parser::Rule as Meta;

use super::charset::CharSet;
use super::error::{Construct, ExportError};
use super::grammar::{Chars, Definition, Expr, Grammar, Regex, Symbol, Times, Tree};

impl Grammar {
    /// Reads the grammar of `dialect`.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn of(dialect: Dialect) -> Result<Self, ExportError> {
        let start = match dialect {
            Dialect::Whole => "patch",
            Dialect::Codex => "codex_patch",
            Dialect::Tight => "tight_patch",
        };
        Self::read(GRAMMAR, start)
    }

    /// Reads the part of the pest grammar `text` within reach of the rule `start`.
    ///
    /// # Errors
    ///
    /// [`ExportError`] names the rule and the construct without an exact form in the other
    /// grammars.
    pub fn read(text: &str, start: &str) -> Result<Self, ExportError> {
        let pairs = pest_meta::parser::parse(Meta::grammar_rules, text)
            .map_err(|error| syntax(&[error]))?;
        pest_meta::validator::validate_pairs(pairs.clone()).map_err(|errors| syntax(&errors))?;
        let docs = docs(pairs.clone());
        let rules = pest_meta::parser::consume_rules(pairs).map_err(|errors| syntax(&errors))?;
        for implicit in ["WHITESPACE", "COMMENT"] {
            if rules.iter().any(|rule| rule.name == implicit) {
                return Err(ExportError::Unsupported {
                    rule: implicit.into(),
                    construct: Construct::ImplicitRule,
                });
            }
        }
        let rules: BTreeMap<_, _> =
            rules.into_iter().map(|rule| (rule.name.clone(), rule)).collect();
        let reader = PegReader {
            pest: &rules,
            docs,
            names: BTreeMap::new(),
            open: Vec::new(),
            rules: Vec::new(),
            terminals: Vec::new(),
        };
        let grammar = reader.start(start)?;
        check_names(&grammar)?;
        Ok(grammar)
    }
}

fn syntax(errors: &[pest::error::Error<Meta>]) -> ExportError {
    let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
    ExportError::Syntax { message: lines.join("\n") }
}

/// The doc comment of each rule.
fn docs(pairs: pest::iterators::Pairs<'_, Meta>) -> BTreeMap<String, String> {
    let mut docs = BTreeMap::new();
    let mut doc: Vec<&str> = Vec::new();
    for pair in pairs.filter(|pair| pair.as_rule() == Meta::grammar_rule) {
        let Some(first) = pair.into_inner().next() else { continue };
        match first.as_rule() {
            Meta::line_doc => doc.extend(first.into_inner().map(|inner| inner.as_str().trim_end())),
            _ => {
                docs.insert(first.as_str().to_owned(), std::mem::take(&mut doc).join("\n"));
            }
        }
    }
    docs
}

struct PegReader<'r> {
    pest: &'r BTreeMap<String, PegRule>,
    docs: BTreeMap<String, String>,
    /// The result of each pest rule.
    names: BTreeMap<String, Symbol>,
    /// The rules that are being read, to notice recursion.
    open: Vec<String>,
    /// A rule has its index before its right side is known.
    rules: Vec<Option<Definition<Expr>>>,
    terminals: Vec<Definition<Regex>>,
}

impl<'r> PegReader<'r> {
    fn start(mut self, start: &str) -> Result<Grammar, ExportError> {
        let Some(pest) = self.pest.get(start) else {
            return Err(ExportError::NoSuchRule { rule: start.to_owned() });
        };
        if is_terminal(pest) {
            return Err(unsupported(start, Construct::TerminalStart));
        }
        // The marks of the text's two ends may stand only where every sentence has them anyway.
        let parts = parts(&pest.expr, as_sequence);
        if !is_named(parts.first(), "SOI") || !is_named(parts.last(), "EOI") {
            return Err(unsupported(start, Construct::UnanchoredStart));
        }
        let parts: Vec<_> = parts[1..parts.len() - 1].to_vec();
        self.rule_from(start, |reader| reader.sequence(start, &parts))?;
        let Self { pest, rules, terminals, .. } = self;
        let peg = pest.iter().map(|(name, rule)| (name.clone(), rule.expr.clone())).collect();
        Ok(Grammar {
            start: start.to_owned(),
            rules: rules.into_iter().flatten().collect(),
            terminals,
            peg,
        })
    }

    fn doc(&self, name: &str) -> String {
        self.docs.get(name).cloned().unwrap_or_default()
    }

    fn rule_from(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self) -> Result<Expr, ExportError>,
    ) -> Result<Expr, ExportError> {
        let index = self.rules.len();
        self.rules.push(None);
        self.names.insert(name.to_owned(), Symbol::Rule(index));
        self.open.push(name.to_owned());
        let expr = read(self)?;
        self.open.pop();
        self.rules[index] =
            Some(Definition { name: name.to_owned(), doc: self.doc(name), right: expr });
        Ok(Tree::Leaf(Symbol::Rule(index)))
    }

    /// The rule of the grammar that `from` names.
    fn rule(&self, from: &str, name: &str) -> Result<&'r PegRule, ExportError> {
        if self.open.iter().any(|open| open == name) {
            return Err(unsupported(name, Construct::Recursion));
        }
        self.pest.get(name).ok_or_else(|| {
            unsupported(from, builtin(name).err().unwrap_or(Construct::BareCharacters))
        })
    }

    /// A reference from a rule.
    fn reference(&mut self, from: &str, name: &str) -> Result<Expr, ExportError> {
        let pest = self.rule(from, name)?;
        if let Some(known) = self.names.get(name) {
            return Ok(Tree::Leaf(known.clone()));
        }
        if !is_terminal(pest) {
            let expr = &pest.expr;
            return self.rule_from(name, |reader| reader.expr(name, expr));
        }
        self.open.push(name.to_owned());
        let regex = self.regex(name, &pest.expr)?;
        self.open.pop();
        if regex.is_nullable() {
            return Err(unsupported(name, Construct::EmptyTerminal));
        }
        let symbol = Symbol::Terminal(self.terminals.len());
        self.terminals.push(Definition {
            name: name.to_owned(),
            doc: self.doc(name),
            right: regex,
        });
        self.names.insert(name.to_owned(), symbol.clone());
        Ok(Tree::Leaf(symbol))
    }

    fn expr(&mut self, rule: &str, peg: &Peg) -> Result<Expr, ExportError> {
        match peg {
            Peg::Str(text) if text.is_empty() => Err(unsupported(rule, Construct::EmptyLiteral)),
            Peg::Str(text) => Ok(Tree::Leaf(Symbol::Literal(text.clone()))),
            Peg::Ident(name) => self.reference(rule, name),
            Peg::Seq(..) => self.sequence(rule, &parts(peg, as_sequence)),
            Peg::Insens(_) | Peg::Range(..) => Err(unsupported(rule, Construct::BareCharacters)),
            other => self.choice_or_repetition(rule, other, Self::expr),
        }
    }

    fn choice_or_repetition<L>(
        &mut self,
        rule: &str,
        peg: &Peg,
        read: fn(&mut Self, &str, &Peg) -> Result<Tree<L>, ExportError>,
    ) -> Result<Tree<L>, ExportError> {
        let (inner, times) = match peg {
            Peg::Choice(..) => {
                let parts = parts(peg, as_choice).into_iter().map(|part| read(self, rule, part));
                return Ok(Tree::Choice(parts.collect::<Result<_, _>>()?));
            }
            Peg::Opt(inner) => (inner, Times::Optional),
            Peg::Rep(inner) => (inner, Times::Any),
            Peg::RepOnce(inner) => (inner, Times::Some),
            other => return Err(unsupported(rule, construct(other))),
        };
        Ok(Tree::Repeat(Box::new(read(self, rule, inner)?), times))
    }

    fn sequence(&mut self, rule: &str, parts: &[&Peg]) -> Result<Expr, ExportError> {
        let mut exprs: Vec<_> =
            parts.iter().map(|part| self.expr(rule, part)).collect::<Result<_, _>>()?;
        Ok(if exprs.len() == 1 { exprs.remove(0) } else { Tree::Sequence(exprs) })
    }

    /// The right side of a terminal.
    fn regex(&mut self, rule: &str, peg: &Peg) -> Result<Regex, ExportError> {
        if let Some(set) = self.set(peg)? {
            return set_regex(rule, set);
        }
        Ok(match peg {
            Peg::Str(text) => Tree::Leaf(Chars::Literal(text.clone())),
            Peg::Insens(text) => concat(
                text.chars().map(|c| set_regex(rule, either_case(c))).collect::<Result<_, _>>()?,
            ),
            Peg::Ident(name) => {
                let helper = self.rule(rule, name)?;
                self.open.push(name.clone());
                let regex = self.regex(name, &helper.expr)?;
                self.open.pop();
                regex
            }
            Peg::Seq(..) => self.regex_sequence(rule, &parts(peg, as_sequence))?,
            other => self.choice_or_repetition(rule, other, Self::regex)?,
        })
    }

    /// A sequence in a terminal; `!set ~ characters` is the rest of the characters.
    fn regex_sequence(&mut self, rule: &str, parts: &[&Peg]) -> Result<Regex, ExportError> {
        let mut out = Vec::new();
        let mut excluded = CharSet::default();
        for part in parts {
            if let Peg::NegPred(inner) = part {
                let set =
                    self.set(inner)?.ok_or_else(|| unsupported(rule, Construct::LookAhead))?;
                excluded = excluded.union(&set);
            } else if excluded.is_empty() {
                out.push(self.regex(rule, part)?);
            } else {
                let set = self.set(part)?.ok_or_else(|| unsupported(rule, Construct::LookAhead))?;
                out.push(set_regex(rule, set.difference(&std::mem::take(&mut excluded)))?);
            }
        }
        if !excluded.is_empty() {
            return Err(unsupported(rule, Construct::LookAhead));
        }
        Ok(concat(out))
    }

    /// The set of characters in `peg`, if `peg` takes exactly one of a set.
    fn set(&self, peg: &Peg) -> Result<Option<CharSet>, ExportError> {
        Ok(match peg {
            Peg::Str(text) => single(text).map(CharSet::single),
            Peg::Insens(text) => single(text).map(either_case),
            Peg::Range(first, last) => match (single(first), single(last)) {
                (Some(first), Some(last)) => Some(CharSet::range(first..=last)),
                _ => None,
            },
            Peg::Ident(name) => match self.pest.get(name) {
                Some(_) if self.open.iter().filter(|open| *open == name).count() > 1 => None,
                Some(rule) if is_flat(&rule.expr) => self.set(&rule.expr)?,
                Some(_) => None,
                None => builtin(name).ok(),
            },
            Peg::Choice(left, right) => match (self.set(left)?, self.set(right)?) {
                (Some(left), Some(right)) => Some(left.union(&right)),
                _ => None,
            },
            _ => None,
        })
    }
}

/// The characters of an expression that takes exactly one of a set, without a rule inside.
pub(crate) fn flat_set(peg: &Peg) -> Option<CharSet> {
    match peg {
        Peg::Str(text) => single(text).map(CharSet::single),
        Peg::Insens(text) => single(text).map(either_case),
        Peg::Range(first, last) => Some(CharSet::range(single(first)?..=single(last)?)),
        Peg::Ident(name) => builtin(name).ok(),
        Peg::Choice(left, right) => Some(flat_set(left)?.union(&flat_set(right)?)),
        _ => None,
    }
}

/// The character of a text with only one.
fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// Whether an expression has no other rule of the grammar inside, so that a search ends.
fn is_flat(peg: &Peg) -> bool {
    match peg {
        Peg::Str(_) | Peg::Insens(_) | Peg::Range(..) => true,
        Peg::Ident(name) => builtin(name).is_ok(),
        Peg::Choice(left, right) => is_flat(left) && is_flat(right),
        _ => false,
    }
}

/// A literal for a set of one character, so that neighbours can be joined.
fn set_regex(rule: &str, set: CharSet) -> Result<Regex, ExportError> {
    if set.is_empty() {
        return Err(unsupported(rule, Construct::EmptySet));
    }
    Ok(match set.only() {
        Some(c) => Tree::Leaf(Chars::Literal(c.to_string())),
        None => Tree::Leaf(Chars::Set(set)),
    })
}

/// A sequence with neighbouring literals joined.
fn concat(parts: Vec<Regex>) -> Regex {
    let mut out: Vec<Regex> = Vec::new();
    for part in parts {
        match (out.last_mut(), part) {
            (_, Tree::Sequence(inner)) => out.extend(inner),
            (Some(Tree::Leaf(Chars::Literal(before))), Tree::Leaf(Chars::Literal(text))) => {
                before.push_str(&text)
            }
            (_, part) => out.push(part),
        }
    }
    if out.len() == 1 { out.remove(0) } else { Tree::Sequence(out) }
}

fn is_terminal(rule: &PegRule) -> bool {
    rule.ty == RuleType::Atomic
        || rule.name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Both cases of an ASCII letter: pest's `^"…"` folds no other.
pub(crate) fn either_case(c: char) -> CharSet {
    CharSet::single(c.to_ascii_lowercase()).union(&CharSet::single(c.to_ascii_uppercase()))
}

/// The characters of a built-in rule, or what the rule is when it is not a set of characters.
pub(crate) fn builtin(name: &str) -> Result<CharSet, Construct> {
    let range = CharSet::range;
    Ok(match name {
        "ANY" => CharSet::all(),
        "ASCII" => range('\0'..='\x7F'),
        "ASCII_DIGIT" => range('0'..='9'),
        "ASCII_NONZERO_DIGIT" => range('1'..='9'),
        "ASCII_BIN_DIGIT" => range('0'..='1'),
        "ASCII_OCT_DIGIT" => range('0'..='7'),
        "ASCII_HEX_DIGIT" => range('0'..='9').union(&range('a'..='f')).union(&range('A'..='F')),
        "ASCII_ALPHA_LOWER" => range('a'..='z'),
        "ASCII_ALPHA_UPPER" => range('A'..='Z'),
        "ASCII_ALPHA" => range('a'..='z').union(&range('A'..='Z')),
        "ASCII_ALPHANUMERIC" => range('a'..='z').union(&range('A'..='Z')).union(&range('0'..='9')),
        "SOI" | "EOI" => return Err(Construct::InnerAnchor),
        "NEWLINE" => return Err(Construct::Newline),
        "PEEK" | "PEEK_ALL" | "POP" | "POP_ALL" | "DROP" => return Err(Construct::Stack),
        _ => return Err(Construct::UnicodeProperty),
    })
}

fn construct(peg: &Peg) -> Construct {
    match peg {
        Peg::PeekSlice(..) | Peg::Push(_) => Construct::Stack,
        Peg::PosPred(_) | Peg::NegPred(_) | Peg::Skip(_) => Construct::LookAhead,
        Peg::RepExact(..) | Peg::RepMin(..) | Peg::RepMax(..) | Peg::RepMinMax(..) => {
            Construct::CountedRepetition
        }
        // Everything else has been dealt with, and pest may grow more.
        _ => Construct::Other,
    }
}

fn unsupported(rule: &str, construct: Construct) -> ExportError {
    ExportError::Unsupported { rule: rule.to_owned(), construct }
}

fn as_sequence(peg: &Peg) -> Option<(&Peg, &Peg)> {
    if let Peg::Seq(left, right) = peg { Some((left, right)) } else { None }
}

fn as_choice(peg: &Peg) -> Option<(&Peg, &Peg)> {
    if let Peg::Choice(left, right) = peg { Some((left, right)) } else { None }
}

/// The parts of a sequence or a choice, nested in pairs by pest.
fn parts(peg: &Peg, split: fn(&Peg) -> Option<(&Peg, &Peg)>) -> Vec<&Peg> {
    match split(peg) {
        Some((left, right)) => [parts(left, split), parts(right, split)].concat(),
        None => vec![peg],
    }
}

/// Names that differ in pest may not be one name elsewhere.
fn check_names(grammar: &Grammar) -> Result<(), ExportError> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let start = &grammar.rules[0].name;
    for name in ["start", "root"] {
        seen.insert(name.to_owned(), start);
    }
    let rules = grammar.rules[1..].iter().map(|rule| &rule.name);
    for name in rules.chain(grammar.terminals.iter().map(|terminal| &terminal.name)) {
        if let Some(other) = seen.insert(name.to_ascii_lowercase(), name) {
            return Err(ExportError::NameClash { rule: name.clone(), other: other.to_owned() });
        }
    }
    Ok(())
}

fn is_named(part: Option<&&Peg>, name: &str) -> bool {
    matches!(part, Some(Peg::Ident(ident)) if ident == name)
}
