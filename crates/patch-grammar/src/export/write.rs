//! The four notations.

use super::Format;
use super::charset::CharSet;
use super::grammar::{Expr, Grammar, Regex};

/// What a file is generated from, in its header.
const SOURCE: &str = "Generated from apply_patch.pest, which is the only definition. Do not edit.";

/// Writes `grammar` in a notation other than pest's.
pub(crate) fn write(grammar: &Grammar, format: Format) -> String {
    match format {
        Format::Pest => unreachable!("pest is what is read"),
        Format::Lark => lark(grammar),
        Format::Gbnf | Format::Ebnf => bnf(grammar, format),
        Format::Regex => {
            let mut out = String::new();
            whole_regex(grammar, &grammar.rules[0].expr, Bind::Alternative, &mut out);
            out
        }
    }
}

/// How tightly the place of an expression binds; an expression that binds less gets parentheses.
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

// ---------------------------------------------------------------------------------------------

fn lark(grammar: &Grammar) -> String {
    let mut out = String::new();
    comment(&mut out, "//", SOURCE);
    comment(&mut out, "//", Format::Lark.engines());
    let rules: Vec<_> =
        grammar.rules.iter().enumerate().map(|(index, rule)| lark_rule_name(index, &rule.name)).collect();
    for (rule, name) in grammar.rules.iter().zip(&rules) {
        out.push('\n');
        comment(&mut out, "//", &rule.doc);
        out.push_str(name);
        out.push_str(": ");
        rule_expr(&rule.expr, Bind::Alternative, &mut out, &mut |leaf, out| match leaf {
            Expr::Rule(index) => out.push_str(&rules[*index]),
            Expr::Terminal(index) => out.push_str(&grammar.terminals[*index].name.to_ascii_uppercase()),
            Expr::Literal(text) => quoted(text, out),
            _ => unreachable!("a leaf"),
        });
        out.push('\n');
    }
    for terminal in &grammar.terminals {
        out.push('\n');
        comment(&mut out, "//", &terminal.doc);
        out.push_str(&terminal.name.to_ascii_uppercase());
        out.push_str(": ");
        match terminal.regex.as_literal() {
            Some(text) => quoted(text, &mut out),
            None => {
                out.push('/');
                regex(&terminal.regex, Bind::Alternative, &mut out);
                out.push('/');
            }
        }
        out.push('\n');
    }
    out
}

/// Lark starts at `start`, and tells rules from terminals by their case.
fn lark_rule_name(index: usize, name: &str) -> String {
    if index == 0 { "start".to_owned() } else { name.to_ascii_lowercase() }
}

fn rule_expr(expr: &Expr, place: Bind, out: &mut String, leaf: &mut dyn FnMut(&Expr, &mut String)) {
    match expr {
        Expr::Literal(_) | Expr::Rule(_) | Expr::Terminal(_) => leaf(expr, out),
        Expr::Sequence(parts) => parenthesised(out, place > Bind::Sequence, |out| {
            for (nth, part) in parts.iter().enumerate() {
                if nth > 0 {
                    out.push(' ');
                }
                rule_expr(part, Bind::Sequence, out, leaf);
            }
        }),
        Expr::Choice(parts) => parenthesised(out, place > Bind::Alternative, |out| {
            for (nth, part) in parts.iter().enumerate() {
                if nth > 0 {
                    out.push_str(" | ");
                }
                rule_expr(part, Bind::Sequence, out, leaf);
            }
        }),
        Expr::Repeat(inner, times) => {
            parenthesised(out, matches!(**inner, Expr::Repeat(..)), |out| rule_expr(inner, Bind::Repeat, out, leaf));
            out.push(times.symbol());
        }
    }
}

/// A text in double quotes, with the escapes that all of the notations share.
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

// ---------------------------------------------------------------------------------------------

/// A regex in the part of the syntax that Rust's, Python's and JavaScript's have in common. The
/// slash is escaped everywhere, so that one text serves between slashes and without.
fn regex(it: &Regex, place: Bind, out: &mut String) {
    match it {
        Regex::Literal(text) => {
            parenthesised(out, place > Bind::Sequence && text.chars().count() > 1, |out| regex_text(text, out));
        }
        Regex::Set(set) => class(
            set,
            &mut |c, first, out| match c {
                '\\' | ']' | '[' | '/' | '&' | '~' | '-' => out.extend(['\\', c]),
                '^' if first => out.push_str("\\^"),
                _ => plain_or_escaped(c, out),
            },
            out,
        ),
        Regex::Sequence(parts) => parenthesised(out, place > Bind::Sequence, |out| {
            parts.iter().for_each(|part| regex(part, Bind::Sequence, out));
        }),
        Regex::Choice(parts) => parenthesised(out, place > Bind::Alternative, |out| {
            for (nth, part) in parts.iter().enumerate() {
                if nth > 0 {
                    out.push('|');
                }
                regex(part, Bind::Sequence, out);
            }
        }),
        Regex::Repeat(inner, times) => {
            parenthesised(out, matches!(**inner, Regex::Repeat(..)), |out| regex(inner, Bind::Repeat, out));
            out.push(times.symbol());
        }
    }
}

fn regex_text(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '/' => {
                out.extend(['\\', c]);
            }
            _ => plain_or_escaped(c, out),
        }
    }
}

/// A class in brackets, negated where that is shorter. `-` stands last where it stands alone.
fn class(set: &CharSet, escape: &mut dyn FnMut(char, bool, &mut String), out: &mut String) {
    let complement = set.complement();
    let negated = !complement.is_empty() && complement.ranges().len() < set.ranges().len();
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

fn whole_regex(grammar: &Grammar, expr: &Expr, place: Bind, out: &mut String) {
    match expr {
        Expr::Literal(text) => regex(&Regex::Literal(text.clone()), place, out),
        Expr::Terminal(index) => regex(&grammar.terminals[*index].regex, place, out),
        Expr::Rule(index) => whole_regex(grammar, &grammar.rules[*index].expr, place, out),
        Expr::Sequence(parts) => parenthesised(out, place > Bind::Sequence, |out| {
            parts.iter().for_each(|part| whole_regex(grammar, part, Bind::Sequence, out));
        }),
        Expr::Choice(parts) => parenthesised(out, place > Bind::Alternative, |out| {
            for (nth, part) in parts.iter().enumerate() {
                if nth > 0 {
                    out.push('|');
                }
                whole_regex(grammar, part, Bind::Sequence, out);
            }
        }),
        Expr::Repeat(inner, times) => {
            // A repetition of a repetition would read as a lazy or a possessive one.
            parenthesised(out, repeats(grammar, inner), |out| whole_regex(grammar, inner, Bind::Repeat, out));
            out.push(times.symbol());
        }
    }
}

fn repeats(grammar: &Grammar, expr: &Expr) -> bool {
    match expr {
        Expr::Repeat(..) => true,
        Expr::Rule(index) => repeats(grammar, &grammar.rules[*index].expr),
        Expr::Terminal(index) => matches!(grammar.terminals[*index].regex, Regex::Repeat(..)),
        _ => false,
    }
}

// ---------------------------------------------------------------------------------------------

fn bnf(grammar: &Grammar, format: Format) -> String {
    // llama.cpp's names have no underscore.
    let named = |name: &str| match format {
        Format::Gbnf => name.to_ascii_lowercase().replace('_', "-"),
        _ => name.to_ascii_lowercase(),
    };
    let rule_name = |index: usize| match index {
        0 => "root".to_owned(),
        _ => named(&grammar.rules[index].name),
    };
    let mut out = String::new();
    comment(&mut out, "#", SOURCE);
    comment(&mut out, "#", format.engines());
    for (index, rule) in grammar.rules.iter().enumerate() {
        out.push('\n');
        comment(&mut out, "#", &rule.doc);
        out.push_str(&rule_name(index));
        out.push_str(" ::= ");
        rule_expr(&rule.expr, Bind::Alternative, &mut out, &mut |leaf, out| match leaf {
            Expr::Rule(index) => out.push_str(&rule_name(*index)),
            Expr::Terminal(index) => out.push_str(&named(&grammar.terminals[*index].name)),
            Expr::Literal(text) => quoted(text, out),
            _ => unreachable!("a leaf"),
        });
        out.push('\n');
    }
    for terminal in &grammar.terminals {
        out.push('\n');
        comment(&mut out, "#", &terminal.doc);
        out.push_str(&named(&terminal.name));
        out.push_str(" ::= ");
        bnf_regex(&terminal.regex, Bind::Alternative, &mut out);
        out.push('\n');
    }
    out
}

fn bnf_regex(it: &Regex, place: Bind, out: &mut String) {
    match it {
        Regex::Literal(text) => quoted(text, out),
        // llama.cpp knows no escape for `-` and `^` but by number.
        Regex::Set(set) => class(
            set,
            &mut |c, first, out| match c {
                '\\' | ']' | '[' => out.extend(['\\', c]),
                '^' if first => out.push_str("\\x5e"),
                '-' => out.push_str("\\x2d"),
                _ => plain_or_escaped(c, out),
            },
            out,
        ),
        Regex::Sequence(parts) => parenthesised(out, place > Bind::Sequence, |out| {
            for (nth, part) in parts.iter().enumerate() {
                if nth > 0 {
                    out.push(' ');
                }
                bnf_regex(part, Bind::Sequence, out);
            }
        }),
        Regex::Choice(parts) => parenthesised(out, place > Bind::Alternative, |out| {
            for (nth, part) in parts.iter().enumerate() {
                if nth > 0 {
                    out.push_str(" | ");
                }
                bnf_regex(part, Bind::Sequence, out);
            }
        }),
        Regex::Repeat(inner, times) => {
            parenthesised(out, matches!(**inner, Regex::Repeat(..)), |out| bnf_regex(inner, Bind::Repeat, out));
            out.push(times.symbol());
        }
    }
}

impl Grammar {
    /// Writes the grammar in the notation of `format`; for [`Format::Pest`] there is nothing to
    /// write, and the answer is `None`.
    #[must_use]
    pub fn write(&self, format: Format) -> Option<String> {
        (format != Format::Pest).then(|| write(self, format))
    }
}
