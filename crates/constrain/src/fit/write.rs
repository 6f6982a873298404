//! Writes the rules in the notations of the engines, within what each engine takes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::quoted::quoted;
use super::rules::{Reached, RuleId, Sign, Symbol, TextId};
use super::sections::Fitted;
use patch_grammar::export::Format;

/// Writes a grammar that its engine takes: see [`check`](super::limits::check).
pub(super) fn write(fit: &Fitted, format: Format) -> String {
    let reached = fit.rules.reached(fit.start);
    let writer = RuleWriter(fit);
    match format {
        Format::Lark => writer.lark(&reached),
        _ => writer.ebnf(&reached, format),
    }
}

/// How many alternatives a rule has at most for its lines to be named whole.
const FEW_LINES: usize = 4;

/// Writes rules.
struct RuleWriter<'f>(&'f Fitted);

impl RuleWriter<'_> {
    /// Each text is a terminal with a name, so the text is one lexeme wherever it stands.
    fn lark(&self, reached: &Reached) -> String {
        let mut out = String::from("// A grammar for these files as they are.\n");
        let mut terminals = BTreeMap::new();
        self.alternatives(&mut out, reached, "start", ": ", |symbol, _| match symbol {
            Symbol::Text(text) => {
                let name = format!("T{}", text.0);
                terminals.insert(name.clone(), quoted(self.0.rules.text_of(text)));
                name
            }
            Symbol::Old(sign, text) => {
                let (letter, chars) = match sign {
                    Sign::Context => ('C', "\" \""),
                    Sign::Deleted => ('D', "\"-\""),
                    Sign::Either => ('E', "/[ -]/"),
                };
                let name = format!("{letter}{}", text.0);
                terminals.insert(
                    name.clone(),
                    format!("{chars} {}", quoted(self.0.rules.text_of(text))),
                );
                name
            }
            Symbol::NewPath => "NEW_PATH".to_owned(),
            Symbol::Tail(kind) => format!("t{}", kind.number()),
            Symbol::Inserted => "INSERTED".to_owned(),
            Symbol::MaybeInserted => "INSERTED?".to_owned(),
            Symbol::Rule(rule) => self.name(rule, "start"),
        });
        out.push_str("INSERTED: /(\\+[^\\x00\\n]*\\n)+/\n");
        for (name, right) in terminals {
            let _ = writeln!(out, "{name}: {right}");
        }
        self.0.tail.lark(&mut out, &reached.tails);
        self.0.new_paths.lark(&mut out);
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
            Symbol::Text(text) => quoted(self.0.rules.text_of(text)),
            Symbol::Old(before, text) if count > FEW_LINES => {
                let (head, rest) = self.0.rules.text_of(text).split_at(lines[&text]);
                let rest = if rest.is_empty() { String::new() } else { format!(" k{}", text.0) };
                format!("{} {}{rest}", ebnf_sign(before), quoted(head))
            }
            Symbol::Old(before, text) => format!("{} l{}", ebnf_sign(before), text.0),
            Symbol::NewPath => "p0".to_owned(),
            Symbol::Tail(kind) => format!("t{}", kind.number()),
            Symbol::Inserted => "\"+\" new".to_owned(),
            Symbol::MaybeInserted => "any".to_owned(),
            Symbol::Rule(rule) => self.name(rule, "root"),
        });
        let is_ebnf = format == Format::Ebnf;
        let [after_line, after_new] =
            if is_ebnf { [" (= [ +@*\\\\-])", " (= [ @*\\\\-])"] } else { ["", ""] };
        for (line, at) in lines {
            let (head, rest) = self.0.rules.text_of(line).split_at(at);
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
        self.0.tail.ebnf(&mut out, &reached.tails);
        self.new_paths(&mut out);
        out
    }

    /// The named lines, each with the length of its shortest beginning unlike all others.
    fn lines(&self, reached: &Reached) -> BTreeMap<TextId, usize> {
        let symbols = reached.rules.iter().flat_map(|&rule| self.0.rules.alternatives(rule));
        let lines: BTreeMap<&str, TextId> = symbols
            .flatten()
            .filter_map(|symbol| match symbol {
                Symbol::Old(_, text) => Some((self.0.rules.text_of(text), text)),
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
    fn new_paths(&self, out: &mut String) {
        for (number, state) in self.0.new_paths.automaton().states.iter().enumerate() {
            let ends = state.ends.then(|| "\"\\n\"".to_owned());
            let moves =
                state.moves.iter().map(|(chars, next)| format!("{} p{next}", one_of(chars)));
            let alternatives: Vec<_> = ends.into_iter().chain(moves).collect();
            let _ = writeln!(out, "p{number} ::= {}", alternatives.join(" | "));
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
            let alternatives = self.0.rules.alternatives(rule);
            let count = alternatives.len();
            for alternative in alternatives {
                out.push_str(separator);
                separator = " | ";
                let words = alternative.map(|symbol| word(symbol, count));
                let words: Vec<_> = words.collect();
                out.push_str(&words.join(" "));
            }
            out.push('\n');
        }
    }

    fn name(&self, rule: RuleId, start: &str) -> String {
        if rule == self.0.start { start.to_owned() } else { format!("r{}", rule.0) }
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
fn one_of(chars: &str) -> String {
    if chars.len() == 1 {
        return quoted(chars);
    }
    let mut chars: Vec<char> = chars.chars().collect();
    chars.sort_by_key(|&c| (c == '-', !c.is_ascii_alphanumeric()));
    let mut out = "[".to_owned();
    for c in chars {
        if c == '-' || c.is_ascii_alphanumeric() {
            out.push(c);
        } else {
            let _ = write!(out, "\\x{:02x}", c as u32);
        }
    }
    out + "]"
}
