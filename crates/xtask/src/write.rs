//! The four notations.

use patch_grammar::export::Format;

use super::bnf::{Bnf, Item};
use super::charset::CharSet;
use super::grammar::{Chars, Grammar, Regex, Symbol, Tree};
use super::shape;

/// The source of a generated file, in its header.
const SOURCE: &str = "Generated from apply_patch.pest, which is the only definition. Do not edit.";

/// Which engines a file is for, for its header.
fn engines(format: Format) -> &'static str {
    match format {
        Format::Pest | Format::Regex => "",
        Format::Lark => {
            "For OpenAI custom tools (syntax \"lark\"), llguidance, XGrammar, and Python lark \
             (LALR or Earley)."
        }
        Format::Gbnf => "For llama.cpp.",
        Format::Ebnf => "For XGrammar (vLLM, SGLang).",
    }
}

/// How tightly the place of an expression binds; a looser expression gets parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bind {
    Alternative,
    Sequence,
    Repeat,
}

fn parenthesised(out: &mut String, needed: bool, write: impl FnOnce(&mut String)) {
    if needed {
        out.push('(');
    }
    write(out);
    if needed {
        out.push(')');
    }
}

fn comment(out: &mut String, mark: &str, text: &str) {
    for line in text.lines() {
        out.push_str(mark);
        out.push(' ');
        out.push_str(line);
        out.push('\n');
    }
}

/// The texts between the parts of a tree.
#[derive(Debug, Clone, Copy)]
struct Separators {
    /// Between the parts of a sequence.
    sequence: &'static str,
    /// Between alternatives.
    choice: &'static str,
}

/// The separators of regular expressions.
const TIGHT: Separators = Separators { sequence: "", choice: "|" };

/// The separators of rules.
const SPACED: Separators = Separators { sequence: " ", choice: " | " };

/// Writes a tree.
fn tree<L>(
    it: &Tree<L>,
    place: Bind,
    separators: Separators,
    out: &mut String,
    leaf: &dyn Fn(&L, Bind, &mut String),
) {
    match it {
        Tree::Leaf(it) => leaf(it, place, out),
        Tree::Sequence(parts) => parenthesised(out, place > Bind::Sequence, |out| {
            list(parts, separators.sequence, separators, out, leaf);
        }),
        Tree::Choice(parts) => parenthesised(out, place > Bind::Alternative, |out| {
            list(parts, separators.choice, separators, out, leaf);
        }),
        Tree::Repeat(inner, times) => {
            // A repetition of a repetition would read as a lazy or a possessive one.
            let nested = matches!(**inner, Tree::Repeat(..));
            parenthesised(out, nested, |out| tree(inner, Bind::Repeat, separators, out, leaf));
            out.push(times.symbol());
        }
    }
}

/// Writes trees with a separator between them.
fn list<L>(
    parts: &[Tree<L>],
    between: &str,
    separators: Separators,
    out: &mut String,
    leaf: &dyn Fn(&L, Bind, &mut String),
) {
    for (nth, part) in parts.iter().enumerate() {
        if nth > 0 {
            out.push_str(between);
        }
        tree(part, Bind::Sequence, separators, out, leaf);
    }
}

fn lark(grammar: &Grammar) -> String {
    let notation = Notation {
        comment: "//",
        defines: ": ",
        start: "start",
        // Lark distinguishes rules from terminals by their case.
        rule: str::to_ascii_lowercase,
        terminal: str::to_ascii_uppercase,
    };
    document(grammar, Format::Lark, &notation, &lark_terminal)
}

fn lark_terminal(right: &Regex, out: &mut String) {
    match right {
        Tree::Leaf(Chars::Literal(text)) => quoted(text, out),
        other => {
            out.push('/');
            regex(other, out);
            out.push('/');
        }
    }
}

/// The signs and names of a notation.
struct Notation {
    /// The beginning of a comment.
    comment: &'static str,
    /// The sign between a name and its right side.
    defines: &'static str,
    /// The name of the first rule.
    start: &'static str,
    /// The name of another rule.
    rule: fn(&str) -> String,
    /// The name of a terminal.
    terminal: fn(&str) -> String,
}

impl Notation {
    fn rule_name(&self, grammar: &Grammar, index: usize) -> String {
        match index {
            0 => self.start.to_owned(),
            _ => (self.rule)(&grammar.rules[index].name),
        }
    }

    /// Writes the comment and the left side of a definition.
    fn begin(&self, out: &mut String, doc: &str, name: &str) {
        out.push('\n');
        comment(out, self.comment, doc);
        out.push_str(name);
        out.push_str(self.defines);
    }
}

/// Writes the header, the rules and the terminals.
fn document(
    grammar: &Grammar,
    format: Format,
    notation: &Notation,
    terminal: &dyn Fn(&Regex, &mut String),
) -> String {
    let mut out = String::new();
    comment(&mut out, notation.comment, SOURCE);
    comment(&mut out, notation.comment, engines(format));
    for (index, rule) in grammar.rules.iter().enumerate() {
        notation.begin(&mut out, &rule.doc, &notation.rule_name(grammar, index));
        tree(&rule.right, Bind::Alternative, SPACED, &mut out, &|leaf, _, out| match leaf {
            Symbol::Literal(text) => quoted(text, out),
            Symbol::Rule(index) => out.push_str(&notation.rule_name(grammar, *index)),
            Symbol::Terminal(index) => {
                out.push_str(&(notation.terminal)(&grammar.terminals[*index].name))
            }
        });
        out.push('\n');
    }
    for it in &grammar.terminals {
        notation.begin(&mut out, &it.doc, &(notation.terminal)(&it.name));
        terminal(&it.right, &mut out);
        out.push('\n');
    }
    out
}

/// A text in double quotes, with escapes common to all of the notations.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            _ => plain_or_escaped(c, out),
        }
    }
    out.push('"');
}

fn plain_or_escaped(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        ' '..='~' => out.push(c),
        _ if (c as u32) < 0x100 && c.is_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
        _ if c.is_alphanumeric() => out.push(c),
        _ if (c as u32) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", c as u32)),
        _ => out.push_str(&format!("\\U{:08x}", c as u32)),
    }
}

/// A regex in the common part of the syntax of Rust, Python and JavaScript. The slash is escaped
/// everywhere, so that one text serves between slashes and without.
fn regex(it: &Regex, out: &mut String) {
    tree(it, Bind::Alternative, TIGHT, out, &|leaf, place, out| match leaf {
        Chars::Literal(text) => {
            parenthesised(out, place > Bind::Sequence && text.chars().count() > 1, |out| {
                regex_text(text, out)
            });
        }
        Chars::Set(set) => class(set, &regex_escape, out),
    });
}

fn regex_escape(c: char, first: bool, out: &mut String) {
    match c {
        '\\' | ']' | '[' | '/' | '&' | '~' | '-' => out.extend(['\\', c]),
        '^' if first => out.push_str("\\^"),
        _ => plain_or_escaped(c, out),
    }
}

fn regex_text(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$'
            | '/' => {
                out.extend(['\\', c]);
            }
            _ => plain_or_escaped(c, out),
        }
    }
}

/// A class in brackets, negated if shorter. `-` stands last where it stands alone.
fn class(set: &CharSet, escape: &dyn Fn(char, bool, &mut String), out: &mut String) {
    let complement = set.complement();
    // A set up to the last character is written by its complement, if equally short.
    let open = usize::from(set.contains(char::MAX));
    let negated = !complement.is_empty() && complement.ranges().len() < set.ranges().len() + open;
    let shown = if negated { &complement } else { set };
    out.push_str(if negated { "[^" } else { "[" });
    let mut hyphen = false;
    let mut first = !negated;
    for (low, high) in shown.ranges() {
        // Ranges of up to three read better as single characters.
        if high as u32 - low as u32 > 2 {
            escape(low, first, out);
            out.push('-');
            escape(high, false, out);
            first = false;
            continue;
        }
        for c in low..=high {
            if c == '-' {
                hyphen = true;
                continue;
            }
            escape(c, first, out);
            first = false;
        }
    }
    if hyphen {
        out.push('-');
    }
    out.push(']');
}

fn gbnf(grammar: &Grammar) -> String {
    let notation = Notation {
        comment: "#",
        defines: " ::= ",
        start: "root",
        rule: gbnf_name,
        terminal: gbnf_name,
    };
    document(grammar, Format::Gbnf, &notation, &bnf_regex)
}

/// The names of llama.cpp have no underscore.
fn gbnf_name(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

fn bnf_regex(it: &Regex, out: &mut String) {
    tree(it, Bind::Alternative, SPACED, out, &|leaf, _, out| bnf_chars(leaf, out));
}

fn bnf_chars(chars: &Chars, out: &mut String) {
    match chars {
        Chars::Literal(text) => quoted(text, out),
        Chars::Set(set) => bnf_class(set, out),
    }
}

fn bnf_class(set: &CharSet, out: &mut String) {
    class(set, &bnf_escape, out);
}

/// llama.cpp knows no escape for `-` and `^` but by number.
fn bnf_escape(c: char, first: bool, out: &mut String) {
    match c {
        '\\' | ']' | '[' => out.extend(['\\', c]),
        '^' if first => out.push_str("\\x5e"),
        '-' => out.push_str("\\x2d"),
        _ => plain_or_escaped(c, out),
    }
}

/// Rules with look-aheads, as only XGrammar reads them.
fn ebnf(bnf: &Bnf) -> String {
    let mut out = String::new();
    comment(&mut out, "#", SOURCE);
    comment(&mut out, "#", engines(Format::Ebnf));
    for rule in &bnf.rules {
        out.push('\n');
        comment(&mut out, "#", &rule.doc);
        out.push_str(&rule.name);
        out.push_str(" ::= ");
        tree(&rule.right, Bind::Alternative, SPACED, &mut out, &|item, _, out| match item {
            Item::Chars(chars) => bnf_chars(chars, out),
            Item::Rule(index) => out.push_str(&bnf.rules[*index].name),
        });
        if let Some(ahead) = &rule.ahead {
            out.push_str(" (= ");
            bnf_class(ahead, &mut out);
            out.push(')');
        }
        out.push('\n');
    }
    out
}

impl Grammar {
    /// Writes the grammar in the notation of `format`; `None` for [`Format::Pest`], from which the
    /// grammar is read.
    #[must_use]
    pub fn write(&self, format: Format) -> Option<String> {
        match format {
            Format::Pest => None,
            Format::Lark => Some(lark(self)),
            Format::Gbnf => Some(gbnf(self)),
            Format::Ebnf => Some(ebnf(&shape::for_xgrammar(self))),
            Format::Regex => {
                let mut out = String::new();
                regex(&self.regex(), &mut out);
                Some(out)
            }
        }
    }
}
