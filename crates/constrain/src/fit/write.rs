//! Writes the rules in the notations of the engines, within what each engine takes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::new_path::NewPaths;
use super::note::FitError;
use super::rules::{Reached, RuleId, Rules, Sign, Symbol, TextId};
use super::sections::{Fitted, LargestFile};
use patch_grammar::export::Format;

/// An engine and what it takes.
struct EngineLimits {
    name: &'static str,
    /// How many rules.
    rules: usize,
    /// The most alternatives open at once.
    choices: usize,
    /// The deepest nesting of rules for a reader that follows each name at once.
    depth: usize,
}

/// The reader of Lark. llguidance numbers symbols with 16 bits and stops at 65 525 of them
/// (`CSymIdx` in its `earley/grammar.rs`); a rule here makes up to two. Its compiler follows rules
/// by recursion (`do_rule` in `lark/compiler.rs`), and a stack of 8 MB is used up beyond a depth of
/// about 1 000. Its parser stops where more than 2 000 items are open at once
/// (`max_items_in_row` in `api.rs`).
const LLGUIDANCE: EngineLimits =
    EngineLimits { name: "llguidance", rules: 30_000, choices: 1_900, depth: 200 };

/// The reader of EBNF. XGrammar has no such limits, but its compile time grows faster than the
/// grammar: 1 000 lines with one hunk, or 500 with several, take 2 to 3 seconds on a busy machine,
/// and 1 000 with several took a minute.
const XGRAMMAR: EngineLimits =
    EngineLimits { name: "XGrammar", rules: 5_000, choices: 2_100, depth: 1_000_000 };

/// The reader of GBNF. llama.cpp follows every alternative for itself: many of them cost time.
const LLAMA_CPP: EngineLimits =
    EngineLimits { name: "llama.cpp", rules: 100_000, choices: 100_000, depth: 1_000_000 };

pub(super) fn write(fit: &Fitted, format: Format) -> Result<String, FitError> {
    let engine = match format {
        Format::Lark => LLGUIDANCE,
        Format::Ebnf => XGRAMMAR,
        Format::Gbnf => LLAMA_CPP,
        Format::Pest | Format::Regex => return Err(FitError::Format { format }),
    };
    let reached = fit.rules.reached(fit.start);
    for (what, count, limit) in [
        ("rules", reached.rules.len() + fit.new_paths.states.len(), engine.rules),
        ("alternatives at once", fit.choices, engine.choices),
        ("rules within each other", reached.depth, engine.depth),
    ] {
        if count > limit {
            let LargestFile { path, lines } = fit.largest.clone();
            let engine = engine.name;
            return Err(FitError::TooLarge { engine, path, lines, what, count, limit });
        }
    }
    let writer = RuleWriter { rules: &fit.rules, new_paths: &fit.new_paths, start: fit.start };
    Ok(match format {
        Format::Lark => writer.lark(&reached),
        _ => writer.ebnf(&reached, format),
    })
}

/// How many alternatives a rule has at most for its lines to be named whole.
const FEW_LINES: usize = 4;

/// Writes rules.
struct RuleWriter<'f> {
    rules: &'f Rules,
    new_paths: &'f NewPaths,
    start: RuleId,
}

impl RuleWriter<'_> {
    /// Each text is a terminal with a name, so the text is one lexeme wherever it stands.
    fn lark(&self, reached: &Reached) -> String {
        let mut out = String::from("// A grammar for these files as they are.\n");
        let mut terminals = BTreeMap::new();
        self.alternatives(&mut out, reached, "start", ": ", |symbol, _| match symbol {
            Symbol::Text(text) => {
                let name = format!("T{}", text.0);
                terminals.insert(name.clone(), quoted(self.rules.text_of(text)));
                name
            }
            Symbol::Old(sign, text) => {
                let (letter, chars) = match sign {
                    Sign::Context => ('C', "\" \""),
                    Sign::Deleted => ('D', "\"-\""),
                    Sign::Either => ('E', "/[ -]/"),
                };
                let name = format!("{letter}{}", text.0);
                terminals
                    .insert(name.clone(), format!("{chars} {}", quoted(self.rules.text_of(text))));
                name
            }
            Symbol::NewPath => "p0".to_owned(),
            Symbol::Inserted => "INSERTED".to_owned(),
            Symbol::MaybeInserted => "INSERTED?".to_owned(),
            Symbol::Rule(rule) => self.name(rule, "start"),
        });
        out.push_str("INSERTED: /(\\+[^\\x00\\n]*\\n)+/\n");
        for (name, right) in terminals {
            let _ = writeln!(out, "{name}: {right}");
        }
        self.new_paths(&mut out, ": ", ["/[", "]/"]);
        out
    }

    /// EBNF and GBNF, which differ here in look-aheads only.
    ///
    /// XGrammar prepares each character of each rule, so a line is written once, however many
    /// blocks have the line. But where many rules can follow, XGrammar has to join what it prepared
    /// for each of them at every token. So a choice between many lines has only as much of each as
    /// tells them apart, and then the rule for the rest of the line. If a rule says what may follow
    /// it, XGrammar decides more tokens before it starts.
    fn ebnf(&self, reached: &Reached, format: Format) -> String {
        let mut out = String::from("# A grammar for these files as they are.\n");
        let lines = self.lines(reached);
        self.alternatives(&mut out, reached, "root", " ::= ", |symbol, count| match symbol {
            Symbol::Text(text) => quoted(self.rules.text_of(text)),
            Symbol::Old(before, text) if count > FEW_LINES => {
                let (head, rest) = self.rules.text_of(text).split_at(lines[&text]);
                let rest = if rest.is_empty() { String::new() } else { format!(" k{}", text.0) };
                format!("{} {}{rest}", ebnf_sign(before), quoted(head))
            }
            Symbol::Old(before, text) => format!("{} l{}", ebnf_sign(before), text.0),
            Symbol::NewPath => "p0".to_owned(),
            Symbol::Inserted => "\"+\" new".to_owned(),
            Symbol::MaybeInserted => "any".to_owned(),
            Symbol::Rule(rule) => self.name(rule, "root"),
        });
        let is_ebnf = format == Format::Ebnf;
        let [after_line, after_new] =
            if is_ebnf { [" (= [ +@*\\\\-])", " (= [ @*\\\\-])"] } else { ["", ""] };
        for (line, at) in lines {
            let (head, rest) = self.rules.text_of(line).split_at(at);
            let number = line.0;
            let tail = if rest.is_empty() { String::new() } else { format!(" k{number}") };
            let _ = writeln!(out, "l{number} ::= {}{tail}{after_line}", quoted(head));
            if !rest.is_empty() {
                let _ = writeln!(out, "k{number} ::= {}{after_line}", quoted(rest));
            }
        }
        out.push_str("any ::= \"\" | \"+\" new\n");
        let line = "[^\\x00\\n]* \"\\n";
        let _ = writeln!(out, "new ::= {line}\" | {line}+\" new{after_new}");
        self.new_paths(&mut out, " ::= ", ["[", "]"]);
        out
    }

    /// The named lines, each with the length of its shortest beginning unlike all others.
    fn lines(&self, reached: &Reached) -> BTreeMap<TextId, usize> {
        let symbols = reached.rules.iter().flat_map(|&rule| self.rules.alternatives(rule));
        let lines: BTreeMap<&str, TextId> = symbols
            .flatten()
            .filter_map(|symbol| match *symbol {
                Symbol::Old(_, text) => Some((self.rules.text_of(text), text)),
                _ => None,
            })
            .collect();
        let mut heads: BTreeMap<TextId, usize> = BTreeMap::new();
        let mut before: Option<(&str, TextId)> = None;
        for (&line, &id) in &lines {
            let mut head = first_len(line);
            if let Some((last, last_id)) = before {
                let alike = alike(last, line);
                head = head.max(alike + first_len(&line[alike..]));
                let last_head = alike + first_len(&last[alike..]);
                heads.entry(last_id).and_modify(|head| *head = (*head).max(last_head));
            }
            heads.insert(id, head);
            before = Some((line, id));
        }
        heads
    }

    /// Writes what the path of a new file may be, and its line feed.
    fn new_paths(&self, out: &mut String, arrow: &str, brackets: [&str; 2]) {
        for (number, state) in self.new_paths.states.iter().enumerate() {
            let ends = state.ends.then(|| "\"\\n\"".to_owned());
            let moves = state
                .moves
                .iter()
                .map(|(chars, next)| format!("{} p{next}", one_of(chars, brackets)));
            let alternatives: Vec<_> = ends.into_iter().chain(moves).collect();
            let _ = writeln!(out, "p{number}{arrow}{}", alternatives.join(" | "));
        }
    }

    /// Writes what each rule says.
    fn alternatives(
        &self,
        out: &mut String,
        reached: &Reached,
        start: &str,
        arrow: &str,
        mut word: impl FnMut(Symbol, usize) -> String,
    ) {
        for &rule in &reached.rules {
            out.push_str(&self.name(rule, start));
            let mut separator = arrow;
            let alternatives = self.rules.alternatives(rule);
            for alternative in alternatives {
                out.push_str(separator);
                separator = " | ";
                let words = alternative.iter().map(|&symbol| word(symbol, alternatives.len()));
                let words: Vec<_> = words.collect();
                out.push_str(&words.join(" "));
            }
            out.push('\n');
        }
    }

    fn name(&self, rule: RuleId, start: &str) -> String {
        if rule == self.start { start.to_owned() } else { format!("r{}", rule.0) }
    }
}

fn ebnf_sign(sign: Sign) -> &'static str {
    match sign {
        Sign::Context => "\" \"",
        Sign::Deleted => "\"-\"",
        Sign::Either => "[ -]",
    }
}

/// How many bytes the first character of a text has.
fn first_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// How many bytes two lines have in common at their beginnings, in whole characters.
fn alike(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).map(|(c, _)| c.len_utf8()).sum()
}

/// One of some ASCII characters. XGrammar reads escapes in brackets before ranges and negations, so
/// the minus sign comes last, and a letter or digit first.
fn one_of(chars: &str, brackets: [&str; 2]) -> String {
    if chars.len() == 1 {
        return quoted(chars);
    }
    let mut chars: Vec<char> = chars.chars().collect();
    chars.sort_by_key(|&c| (c == '-', !c.is_ascii_alphanumeric()));
    let mut out = brackets[0].to_owned();
    for c in chars {
        if c == '-' || c.is_ascii_alphanumeric() {
            out.push(c);
        } else {
            let _ = write!(out, "\\x{:02x}", c as u32);
        }
    }
    out + brackets[1]
}

/// A text in quotation marks, with escapes common to all these notations.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
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
