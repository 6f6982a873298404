//! The shape of the EBNF files: what it is made of, and that damage to it is found.

use patch_grammar::Dialect;
use patch_grammar::export::{self, Format};
use testutils::share::whole;
use xtask::{Finding, Grammar};

fn ebnf(rules: &str) -> String {
    let grammar = Grammar::read(rules, "s").unwrap_or_else(|error| panic!("{rules}: {error}"));
    let text = grammar.write(Format::Ebnf).expect("not pest");
    assert_eq!(grammar.check_bnf(&text), Ok(()), "{rules}:\n{text}");
    text
}

#[test]
fn loops_of_lines_use_themselves_and_say_what_follows() {
    for (rules, line) in [
        // A loop, and a terminal that is repeated, which is one too.
        (
            r#"s = { SOI ~ a ~ "." ~ EOI } a = @{ ("x" ~ "\n")+ }"#,
            r#"a ::= "x\n" | "x\n" a (= [.])"#,
        ),
        (r#"s = { SOI ~ a+ ~ "." ~ EOI } a = @{ "x" }"#, r#"as ::= "x" | "x" as (= [.])"#),
        (r#"s = { SOI ~ a* ~ "." ~ EOI } a = @{ "x" }"#, r#"root ::= as? ".""#),
        // What differs from turn to turn is written as alternatives.
        (
            r#"s = { SOI ~ a ~ "." ~ EOI } a = @{ ("x" ~ "y"?)+ }"#,
            r#"a ::= "xy" | "x" | "xy" a | "x" a (= [.])"#,
        ),
        // A loop in a loop is a rule of its own, as is one with something before it.
        (
            r#"s = { SOI ~ a ~ "." ~ EOI } a = @{ ("x" ~ ("y" ~ "z")+)+ }"#,
            r#"a_2 ::= "yz" a_2 | a (= [.])"#,
        ),
        (
            r#"s = { SOI ~ a ~ "." ~ EOI } a = @{ "x" ~ ("y" ~ "z")* }"#,
            r#"a ::= "x" a_1 | "x" (= [.])"#,
        ),
        // What follows a loop is its last turn.
        (
            r#"s = { SOI ~ a ~ "." ~ EOI } a = @{ ("x" ~ "y")* ~ "z" }"#,
            r#"a ::= "xy" a | "z" (= [.])"#,
        ),
        (
            r#"s = { SOI ~ a ~ "." ~ EOI } a = @{ "w" ~ ("x" ~ "y")+ ~ "z" }"#,
            r#"a ::= "wxy" a_1 (= [.])"#,
        ),
        // Repeated characters stay, but for the first.
        (
            r#"s = { SOI ~ a ~ "." ~ EOI } a = @{ '0'..'9'+ ~ "x" }"#,
            r#"a ::= [0-9] [0-9]* "x" (= [.])"#,
        ),
        // What follows is known across rules, what is left out and what repeats.
        (r#"s = { SOI ~ (b ~ "d"?)+ ~ "c" ~ EOI } b = { a } a = @{ "x" }"#, "b ::= a (= [cdx])"),
        // What ends the text stands in the start rule; where the text may end nothing is said.
        (r#"s = { SOI ~ "x" ~ a ~ EOI } a = @{ "y" ~ "z"? }"#, r#"root ::= "x" "y" "z"?"#),
        (r#"s = { SOI ~ a ~ "x"? ~ EOI } a = @{ "y" }"#, r#"a ::= "y""#),
    ] {
        let text = ebnf(rules);
        assert!(text.lines().any(|written| written == line), "{rules}:\n{text}");
    }
}

#[test]
fn damage_to_the_written_files_is_found() {
    let grammar = Grammar::of(Dialect::Whole).expect("it can be read");
    let text = export::text(Format::Ebnf, Dialect::Whole);
    for (from, to, file_accepts) in [
        ("Delete File: ", "Delete file: ", true),
        ("add_lines no_newline?", "add_lines no_newline", false),
        ("hunk* | hunk+", "hunk* | hunk*", true),
        (" | \"@@\\n\" ats", "", false),
        // Look-aheads that exclude a sentence, at the end of a loop and elsewhere.
        ("add_lines (= [*\\\\])", "add_lines (= [*])", false),
        ("path (= [*@])", "path (= [*])", false),
        ("hunk_lines end_of_file? (= [*@])", "hunk_lines end_of_file? (= [@])", false),
    ] {
        let damaged = text.replace(from, to);
        assert_ne!(damaged, text, "{from} is no longer in the file");
        let finding = grammar.check_bnf(&damaged).expect_err(to);
        let Finding::FileDiffers { file_accepts: accepts, .. } = finding else {
            panic!("{to}: {finding}")
        };
        assert_eq!(accepts, file_accepts, "{to}: {finding}");
    }
}

/// A look-ahead that were wider than the text needs would leave tokens open for nothing.
#[test]
fn no_look_ahead_has_a_character_too_many() {
    let dialects = if whole() { &Dialect::ALL[..] } else { &[Dialect::Codex] };
    for &dialect in dialects {
        let grammar = Grammar::of(dialect).expect("it can be read");
        let text = export::text(Format::Ebnf, dialect);
        let mut tried = 0;
        for (at, _) in text.match_indices("(= [") {
            let start = at + "(= [".len();
            let class = &text[start..start + text[start..].find(']').expect("a class ends")];
            for (nth, c) in class.char_indices().filter(|(_, c)| *c != '\\') {
                let c = if class[..nth].ends_with('\\') { format!("\\{c}") } else { c.to_string() };
                let narrower = class.replacen(&c, "", 1);
                if narrower.is_empty() {
                    continue;
                }
                let damaged =
                    format!("{}{narrower}{}", &text[..start], &text[start + class.len()..]);
                assert!(grammar.check_bnf(&damaged).is_err(), "{c} in [{class}] at {at}");
                tried += 1;
            }
        }
        assert!(tried > 5, "{dialect}: {tried}");
    }
}

#[test]
fn what_is_no_grammar_of_ours_cannot_be_read_back() {
    let grammar = Grammar::read(r#"s = { SOI ~ "x" ~ EOI }"#, "s").expect("it can be read");
    for (text, message) in [
        ("start ::= \"x\"\n", "not `root`"),
        ("root ::= \"x\"\nroot ::= \"x\"\n", "one name"),
        ("root ::= x\n", "no rule `x`"),
        ("root ::= (\"x\"\n", "missing"),
        ("root ::= \"x\" )\n", "left over"),
        ("root ::= \"x\n", "too early"),
        ("root ::= \"\\q\"\n", "unknown escape"),
        ("root ::= \"x\" (= \"y\")\n", "not a class"),
        ("root ::= \"x\"\n  | \"y\"\n", "neither"),
        ("root ::= \"(\" root \")\" | \"x\"\n", "before its end"),
        ("root ::= a\na ::= \"x\" | a \"x\"\n", "before its end"),
    ] {
        let finding = grammar.check_bnf(text).expect_err(text).to_string();
        assert!(finding.contains(message), "{text}: {finding}");
    }
}
