//! The exported grammars: current, refused where they would lie, and checked.

use patch_grammar::export::{self, Format};
use patch_grammar::{Dialect, GRAMMAR};
use xtask::{Construct, ExportError, Finding, Grammar, generate};
use xtask_parser::parser;

#[test]
fn the_committed_files_are_what_the_generator_makes() {
    for dialect in Dialect::ALL {
        for format in Format::ALL {
            let made = generate(format, dialect).expect("the grammar can be exported");
            let again = "run `cargo xtask grammar`";
            let name = export::file_name(format, dialect);
            assert!(made == export::text(format, dialect), "{name} is old: {again}");
        }
    }
}

/// It is what `pest_derive` makes of the grammar, so no reader can differ from the grammar file.
#[test]
fn the_committed_parser_is_what_pest_makes() {
    let committed = include_str!("../../../patch-grammar/src/grammar/generated.rs");
    assert!(committed == parser(GRAMMAR), "the parser is old: run `just grammar`");
}

#[test]
fn only_reachable_rules_are_exported() {
    for format in [Format::Lark, Format::Gbnf, Format::Ebnf] {
        let (whole, codex) =
            (export::text(format, Dialect::Whole), export::text(format, Dialect::Codex));
        for text in [whole, codex] {
            assert!(!text.to_lowercase().contains("accepted"), "{text}");
        }
        assert!(!whole.to_lowercase().contains("codex"));
        assert!(!codex.to_lowercase().contains("move_file"));
        assert!(!codex.to_lowercase().contains("move-file"));
    }
}

/// The grammar whose start rule is `start`, with rules around it that tests can use.
fn read(rules: &str) -> Result<Grammar, ExportError> {
    Grammar::read(rules, "s")
}

#[test]
fn what_cannot_be_said_exactly_is_refused_by_name() {
    use Construct::*;
    for (rules, rule, construct) in [
        ("s = { SOI ~ a ~ EOI } a = @{ PUSH(\"x\") ~ POP }", "a", Stack),
        ("s = { SOI ~ PEEK ~ EOI }", "s", Stack),
        ("s = { SOI ~ PEEK[0..1] ~ EOI }", "s", Stack),
        ("s = { SOI ~ DROP ~ EOI }", "s", Stack),
        ("s = { SOI ~ a ~ EOI } a = @{ \"x\" ~ NEWLINE }", "a", Newline),
        ("s = { SOI ~ a ~ EOI } a = @{ (!NEWLINE ~ ANY)* ~ \"\\n\" }", "a", LookAhead),
        ("s = { SOI ~ a ~ NEWLINE ~ EOI } a = @{ \"x\" }", "s", Newline),
        ("s = { SOI ~ a ~ EOI } a = @{ (!\"ab\" ~ ANY)* ~ \"ab\" }", "a", LookAhead),
        ("s = { SOI ~ a ~ EOI } a = @{ !\"x\" ~ (\"xy\" | \"z\") }", "a", LookAhead),
        ("s = { SOI ~ a ~ EOI } a = @{ \"x\" ~ !\"y\" }", "a", LookAhead),
        ("s = { SOI ~ a ~ EOI } a = @{ &\"x\" ~ ANY }", "a", LookAhead),
        ("s = { SOI ~ !\"x\" ~ a ~ EOI } a = @{ ANY }", "s", LookAhead),
        ("s = { SOI ~ a ~ EOI } a = @{ LETTER+ }", "a", UnicodeProperty),
        ("s = { SOI ~ a ~ EOI } a = @{ \"x\"{2} }", "a", CountedRepetition),
        ("s = { SOI ~ a{,3} ~ EOI } a = @{ \"x\" }", "s", CountedRepetition),
        ("s = { SOI ~ \"x\" ~ EOI } WHITESPACE = _{ \" \" }", "WHITESPACE", ImplicitRule),
        ("s = { SOI ~ \"x\" ~ EOI } COMMENT = _{ \"#\" }", "COMMENT", ImplicitRule),
        ("s = { SOI ~ a ~ EOI } a = { \"(\" ~ a? ~ \")\" }", "a", Recursion),
        ("s = { SOI ~ a ~ EOI } a = { \"(\" ~ b ~ \")\" } b = { \"x\" | a }", "a", Recursion),
        ("s = { SOI ~ a ~ EOI } a = @{ \"(\" ~ b ~ \")\" } b = { \"x\" | a }", "a", Recursion),
        ("s = { SOI ~ a ~ EOI } a = { \"x\" ~ EOI }", "a", InnerAnchor),
        ("s = { SOI ~ a ~ EOI } a = @{ SOI ~ \"x\" }", "a", InnerAnchor),
        ("s = { \"x\" ~ EOI }", "s", UnanchoredStart),
        ("s = { SOI ~ \"x\" }", "s", UnanchoredStart),
        ("s = @{ SOI ~ \"x\" ~ EOI }", "s", TerminalStart),
        ("s = { SOI ~ ASCII_DIGIT ~ EOI }", "s", BareCharacters),
        ("s = { SOI ~ 'a'..'z' ~ EOI }", "s", BareCharacters),
        ("s = { SOI ~ ^\"x\" ~ EOI }", "s", BareCharacters),
        ("s = { SOI ~ a ~ EOI } a = @{ \"x\"* }", "a", EmptyTerminal),
        ("s = { SOI ~ a ~ EOI } a = @{ \"\" }", "a", EmptyTerminal),
        ("s = { SOI ~ \"x\" ~ \"\" ~ EOI }", "s", EmptyLiteral),
        ("s = { SOI ~ a ~ EOI } a = @{ !(\"x\" | \"y\") ~ \"x\" }", "a", EmptySet),
        ("s = { SOI ~ a ~ EOI } a = @{ 'z'..'a' }", "a", EmptySet),
    ] {
        let error = read(rules).expect_err(rules);
        assert_eq!(
            error,
            ExportError::Unsupported { rule: rule.to_owned(), construct },
            "{rules}: {error}"
        );
    }
}

#[test]
fn grammars_that_are_none_and_names_that_clash_are_refused() {
    for (rules, message) in [
        ("s = {", "no pest grammar"),
        ("s = { SOI ~ nothing ~ EOI }", "undefined"),
        ("s = { SOI ~ \"x\" ~ EOI } s = { \"y\" }", "already defined"),
        ("s = { SOI ~ (\"x\"*)* ~ EOI }", "repeat infinitely"),
        ("t = { \"x\" }", "there is no rule `s`"),
        ("s = { SOI ~ start ~ EOI } start = { \"x\" }", "`start` and `s` would have the same name"),
        (
            "s = { SOI ~ a ~ A ~ EOI } a = { \"x\" } A = { \"y\" }",
            "`A` and `a` would have the same name",
        ),
    ] {
        let error = read(rules).expect_err(rules).to_string();
        assert!(error.contains(message), "{rules}: {error}");
    }
}

#[test]
fn look_aheads_before_one_character_become_classes() {
    for (rules, lark) in [
        ("s = { SOI ~ a ~ EOI } a = @{ (!\"\\n\" ~ ANY)* ~ \"\\n\" }", "A: /[^\\n]*\\n/"),
        ("s = { SOI ~ a ~ EOI } a = @{ !(\"x\" | \"y\") ~ !\"z\" ~ ANY }", "A: /[^xyz]/"),
        (
            "s = { SOI ~ a ~ EOI } a = @{ !blank ~ ANY ~ \"!\" } blank = _{ \" \" | \"\\t\" }",
            "A: /[^\\t ]!/",
        ),
        ("s = { SOI ~ a ~ EOI } a = @{ !\"c\" ~ 'a'..'f' }", "A: /[abdef]/"),
        ("s = { SOI ~ a ~ EOI } a = @{ !\"c\" ~ ASCII_DIGIT }", "A: /[0-9]/"),
        ("s = { SOI ~ a ~ EOI } a = @{ ^\"x-y\" }", "A: /[Xx]-[Yy]/"),
        ("s = { SOI ~ a ~ EOI } a = @{ \"a/b\" ~ (\".\" | \"-\" | \"^\")+ }", "A: /a\\/b[.^-]+/"),
        ("s = { SOI ~ A ~ EOI } A = { \"(\" ~ \"a\"? ~ \"bc\"? }", "A: /\\(a?(bc)?/"),
        (
            "s = { SOI ~ a ~ EOI } a = @{ \"\u{1}\" ~ \"é\u{2028}😀\" ~ \"\\\"\\\\\" }",
            "A: \"\\x01é\\u2028\\U0001f600\\\"\\\\\"",
        ),
    ] {
        let text = read(rules)
            .unwrap_or_else(|error| panic!("{rules}: {error}"))
            .write(Format::Lark)
            .expect("not pest");
        assert!(text.lines().any(|line| line == lark), "{rules}:\n{text}");
    }
}

#[test]
fn a_choice_that_its_place_decides_is_found_with_a_sentence() {
    for (rules, sentence) in [
        // The first alternative hides the second.
        ("s = { SOI ~ (\"a\" | \"ab\") ~ EOI }", "ab"),
        ("s = { SOI ~ a ~ EOI } a = @{ \"a\" | \"ab\" }", "ab"),
        ("s = { SOI ~ (\"a\" | \"ab\") ~ \"c\" ~ EOI }", "abc"),
        // A loop that takes what should follow it.
        ("s = { SOI ~ \"a\"* ~ \"a\" ~ EOI }", "a"),
        ("s = { SOI ~ a ~ EOI } a = @{ ASCII_DIGIT+ ~ \"0\" }", "00"),
        ("s = { SOI ~ \"a\"? ~ \"ab\" ~ EOI }", "ab"),
        // The same across rules, far apart.
        ("s = { SOI ~ a ~ b ~ EOI } a = { \"x\" ~ \"y\"? } b = { \"y\" ~ \"z\"? }", "xy"),
        (
            "s = { SOI ~ line+ ~ end ~ EOI } line = @{ (!\"\\n\" ~ ANY)* ~ \"\\n\" } end = \
             @{ \"end\\n\" }",
            "\nend\n",
        ),
    ] {
        let finding = read(rules).expect("it can be read").check().expect_err(rules);
        let expected = Finding::Differs { sentence: sentence.to_owned(), pest_accepts: false };
        assert_eq!(finding, expected, "{rules}: {finding}");
    }
}

#[test]
fn a_terminal_that_runs_on_or_is_mistaken_is_found_with_a_sentence() {
    let runs_on = |terminal: &str, into: &str, follower: &str, sentence: &str| Finding::RunsOn {
        terminal: terminal.into(),
        into: into.into(),
        follower: follower.into(),
        sentence: sentence.into(),
    };
    let overlaps = |longer: &str, shorter: &str, sentence: &str| Finding::Overlaps {
        longer: longer.into(),
        shorter: shorter.into(),
        sentence: sentence.into(),
    };
    for (rules, finding) in [
        // Two neighbouring runs of the same characters would be one token: `a a`.
        (
            "s = { SOI ~ a ~ b ~ EOI } a = @{ \"x\"  ~ \"y\"? } b = @{ \"z\" | \"yz\" }",
            runs_on("`a`", "`a`", "`b`", "xyz"),
        ),
        // The longest match would need to come back.
        (
            "s = { SOI ~ (c | a) ~ b? ~ EOI } a = @{ \"x\" } b = @{ \"yz\" } c = @{ \"xyy\" }",
            runs_on("`a`", "`c`", "`b`", "xyz"),
        ),
        // Two terminals with one text.
        (
            "s = { SOI ~ (a ~ \"1\" | b ~ \"2\") ~ EOI } a = @{ \"x\" } b = @{ \"x\" | \"y\" }",
            overlaps("`a`", "`b`", "x1"),
        ),
        // One is the beginning of the other.
        (
            "s = { SOI ~ (b | a) ~ EOI } a = @{ \"x\" } b = @{ \"xy\" }",
            overlaps("`b`", "`a`", "xy"),
        ),
        ("s = { SOI ~ (\"ab\" | \"a\") ~ EOI }", overlaps("\"ab\"", "\"a\"", "ab")),
    ] {
        assert_eq!(read(rules).expect("it can be read").check(), Err(finding), "{rules}");
    }
}

#[test]
fn damage_to_the_real_grammar_is_found() {
    for (from, to, start) in [
        // The path swallows the line that follows it.
        (
            "path = \
             @{ !(\" \" | \"\\t\" | \"\\r\" | \"\\n\") ~ ANY ~ (!line_feed ~ ANY)* ~ \"\\n\" }",
            "path = @{ (!\"\\n\" ~ ANY)+ ~ \"\\n\"? }",
            "patch",
        ),
        // The subset's header line and its body begin alike.
        (
            "codex_hunk_lines = @{ ((\" \" | \"+\" | \"-\")",
            "codex_hunk_lines = @{ ((\" \" | \"+\" | \"-\" | \"@\")",
            "codex_patch",
        ),
        // An added line may be one of the next section.
        ("add_lines = @{ (\"+\"", "add_lines = @{ ((\"+\" | \"*\")", "patch"),
        // The order of choice begins to matter.
        ("(move_to ~ hunk* | hunk+)", "(move_to | move_to ~ hunk+ | hunk+)", "patch"),
    ] {
        let damaged = GRAMMAR.replace(from, to);
        assert_ne!(damaged, GRAMMAR, "{from} is no longer in the grammar");
        let grammar =
            Grammar::read(&damaged, start).unwrap_or_else(|error| panic!("{to}: {error}"));
        let finding = grammar.check().expect_err(to);
        println!("{finding}");
    }
}

#[test]
fn the_cover_reaches_every_state_and_every_move() {
    for dialect in Dialect::ALL {
        let language = Grammar::of(dialect).expect("it can be read").language();
        let cover = language.transition_cover();
        let live =
            (0..language.state_count()).filter(|&state| language.distance(state).is_some()).count();
        assert_eq!(cover.len(), live * (language.class_count() + 1));
        println!(
            "{}: {live} states, {} classes of characters, {} texts",
            dialect.as_str(),
            language.class_count(),
            cover.len()
        );
        for (text, right) in cover {
            assert_eq!(language.accepts(&text), right, "{text:?}");
            assert_eq!(patch_grammar::recognizes(dialect, &text), right, "{text:?}");
        }
    }
}
