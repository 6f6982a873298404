//! Writes the rules in the notations of the engines, within what each engine takes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::note::FitError;
use super::rules::{Reached, RuleId, Rules, Symbol, TextId};
use super::sections::Fitted;
use crate::export::Format;

/// An engine and what it takes.
struct Engine {
    name: &'static str,
    /// How many rules.
    rules: usize,
    /// How many alternatives that are open at once.
    choices: usize,
    /// How deeply rules may be nested for a reader that follows each name where it finds it.
    depth: usize,
}

/// What reads Lark. llguidance numbers symbols with 16 bits and stops at 65 525 of them
/// (`CSymIdx` in its `earley/grammar.rs`); a rule here makes up to two. Its compiler follows rules
/// by recursion (`do_rule` in `lark/compiler.rs`), and a stack of 8 MB is used up beyond a depth of
/// about 1 000. Its parser stops where more than 2 000 items are open at once
/// (`max_items_in_row` in `api.rs`).
const LLGUIDANCE: Engine = Engine { name: "llguidance", rules: 30_000, choices: 1_900, depth: 200 };

/// What reads EBNF. XGrammar has no such limits, but its compile time grows faster than the
/// grammar: the rules for 1 000 lines take it some 20 seconds.
const XGRAMMAR: Engine =
    Engine { name: "XGrammar", rules: 5_000, choices: 1_500, depth: 1_000_000 };

/// What reads GBNF. llama.cpp follows every alternative for itself: many of them cost time.
const LLAMA_CPP: Engine =
    Engine { name: "llama.cpp", rules: 100_000, choices: 100_000, depth: 1_000_000 };

pub(super) fn write(fit: &Fitted, format: Format) -> Result<String, FitError> {
    let engine = match format {
        Format::Lark => LLGUIDANCE,
        Format::Ebnf => XGRAMMAR,
        Format::Gbnf => LLAMA_CPP,
        Format::Pest | Format::Regex => return Err(FitError::Format { format }),
    };
    let reached = fit.rules.reached(fit.start);
    for (what, count, limit) in [
        ("rules", reached.rules.len(), engine.rules),
        ("alternatives at once", fit.choices, engine.choices),
        ("rules within each other", reached.depth, engine.depth),
    ] {
        if count > limit {
            let (path, lines) = fit.largest.clone();
            let engine = engine.name;
            return Err(FitError::TooLarge { engine, path, lines, what, count, limit });
        }
    }
    let writer = Writer { rules: &fit.rules, start: fit.start };
    Ok(match format {
        Format::Lark => writer.lark(&reached),
        _ => writer.ebnf(&reached, format),
    })
}

/// Writes rules.
struct Writer<'f> {
    rules: &'f Rules,
    start: RuleId,
}

impl Writer<'_> {
    /// Each text is a terminal with a name, so that it is one lexeme wherever it stands.
    fn lark(&self, reached: &Reached) -> String {
        let mut out = String::from("// A grammar for these files as they are.\n");
        let name = |rule: RuleId| {
            if rule == self.start { "start".to_owned() } else { format!("r{}", rule.0) }
        };
        let (mut texts, mut old) = (BTreeSet::new(), BTreeSet::new());
        for &rule in &reached.rules {
            let mut separator = ": ";
            let _ = write!(out, "{}", name(rule));
            for alternative in self.rules.alternatives(rule) {
                out.push_str(separator);
                separator = " | ";
                let words = alternative.iter().map(|symbol| match symbol {
                    Symbol::Text(text) => {
                        texts.insert(*text);
                        format!("T{}", text.0)
                    }
                    Symbol::Old(text) => {
                        old.insert(*text);
                        format!("O{}", text.0)
                    }
                    Symbol::Rule(rule) => name(*rule),
                    Symbol::Inserted => "INSERTED".to_owned(),
                    Symbol::MaybeInserted => "INSERTED?".to_owned(),
                });
                out.push_str(&words.collect::<Vec<_>>().join(" "));
            }
            out.push('\n');
        }
        out.push_str("INSERTED: /(\\+[^\\x00\\n]*\\n)+/\n");
        for text in texts {
            let _ = writeln!(out, "T{}: {}", text.0, self.quoted(text));
        }
        for text in old {
            let _ = writeln!(out, "O{}: /[ -]/ {}", text.0, self.quoted(text));
        }
        out
    }

    /// EBNF and GBNF, which differ here in a look-ahead only. XGrammar decides more tokens before
    /// it starts if a rule says what may follow it.
    fn ebnf(&self, reached: &Reached, format: Format) -> String {
        let mut out = String::from("# A grammar for these files as they are.\n");
        let name = |rule: RuleId| {
            if rule == self.start { "root".to_owned() } else { format!("r{}", rule.0) }
        };
        for &rule in &reached.rules {
            let mut separator = " ::= ";
            out.push_str(&name(rule));
            for alternative in self.rules.alternatives(rule) {
                out.push_str(separator);
                separator = " | ";
                let words = alternative.iter().map(|symbol| match symbol {
                    Symbol::Text(text) => self.quoted(*text),
                    Symbol::Old(text) => format!("[ -] {}", self.quoted(*text)),
                    Symbol::Rule(rule) => name(*rule),
                    Symbol::Inserted => "some".to_owned(),
                    Symbol::MaybeInserted => "any".to_owned(),
                });
                out.push_str(&words.collect::<Vec<_>>().join(" "));
            }
            out.push('\n');
        }
        let follow = if format == Format::Ebnf { " (= [ @*\\\\-])" } else { "" };
        let line = "\"+\" [^\\x00\\n]* \"\\n\"";
        let _ = writeln!(out, "any ::= \"\" | {line} any{follow}");
        let _ = writeln!(out, "some ::= {line} | {line} some{follow}");
        out
    }

    /// A text in quotation marks, with the escapes that all these notations have.
    fn quoted(&self, text: TextId) -> String {
        let mut out = String::from('"');
        for c in self.rules.text_of(text).chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                ' '..='~' => out.push(c),
                _ if c.is_alphanumeric() => out.push(c),
                _ if (c as u32) < 0x80 => {
                    let _ = write!(out, "\\x{:02x}", c as u32);
                }
                _ if (c as u32) < 0x1_0000 => {
                    let _ = write!(out, "\\u{:04x}", c as u32);
                }
                // llguidance knows no escape for these.
                _ => out.push(c),
            }
        }
        out.push('"');
        out
    }
}
