//! Our parser and llguidance give the same verdict on the same texts.

use std::cell::Cell;

use llguidance::api::TopLevelGrammar;
use patch_grammar::export::{self, Format};
use patch_grammar::{Dialect, GRAMMAR, ParseOptions, parse, recognizes};
use proptest::bool::weighted;
use proptest::strategy::Just;
use xtask::Grammar;
use xtask::texts::{Engine, each_text};

/// How many random texts are tried for each dialect.
const SAMPLES: u32 = 5_000;

#[test]
fn parser_lark_and_regex_accept_the_same_texts_and_the_parser_reads_all_of_them() {
    for dialect in Dialect::ALL {
        let language = Grammar::of(dialect).expect("it can be read").language();
        let lark =
            Engine::new(TopLevelGrammar::from_lark(export::text(Format::Lark, dialect).to_owned()));
        let regex = Engine::new(TopLevelGrammar::from_regex(export::text(Format::Regex, dialect)));
        let (texts, accepted) = (Cell::new(0), Cell::new(0));
        // The regex is the same automaton to llguidance; a share will do.
        each_text(&language, SAMPLES, weighted(0.125), |text, with_regex| {
            let verdict = recognizes(dialect, text);
            assert_eq!(language.accepts(text), verdict, "the automaton: {text:?}");
            assert_eq!(lark.accepts(text), verdict, "llguidance, Lark: {text:?}");
            if with_regex {
                assert_eq!(regex.accepts(text), verdict, "llguidance, regex: {text:?}");
            }
            if verdict && let Err(error) = parse(text, &ParseOptions::default()) {
                panic!("exported, but not read: {text:?}: {error}");
            }
            texts.set(texts.get() + 1);
            accepted.set(accepted.get() + u32::from(verdict));
        });
        let (texts, accepted) = (texts.get(), accepted.get());
        println!("{}: {texts} texts, {accepted} accepted, 0 disagreements", dialect.as_str());
        assert!(accepted * 5 > texts, "a lopsided sample: {accepted}");
        assert!(accepted * 5 < texts * 4, "a lopsided sample: {accepted}");
    }
}

/// What the samples above try, decided for all texts at once, as far as the grammar goes; the walk
/// to the tree may still refuse a text that the grammar takes, and the samples show that it does
/// not.
#[test]
fn the_subset_is_in_the_whole_and_the_whole_in_what_the_parser_reads() {
    let of = |start| Grammar::read(GRAMMAR, start).expect("it can be read");
    let accepted = of("accepted").peg_language();
    let [whole, codex] = ["patch", "codex_patch"].map(|start| of(start).language());
    assert_eq!(codex.first_sentence_not_in(&whole), None);
    assert_eq!(whole.first_sentence_not_in(&accepted), None);
    // And not the other way round.
    assert_eq!(
        whole.first_sentence_not_in(&codex).as_deref(),
        Some("*** Begin Patch\n*** Add File: \0\n*** End Patch")
    );
    assert!(accepted.first_sentence_not_in(&whole).is_some());
}

/// The real grammar has few odd characters; these have the ones that some notation must escape.
#[test]
fn odd_characters_are_escaped_so_that_the_engine_reads_them_back() {
    for rules in [
        r##"s = { SOI ~ a+ ~ EOI } a = @{ "/" | "\\" | "[" | "]" | "^" | "-" | "&" | "~" | "." | "$" | "|" | "#" | "\"" | "'" }"##,
        r##"s = { SOI ~ "(a)" ~ a ~ EOI } a = @{ "{1}+*?" ~ (!("^" | "-" | "]" | "\\" | "/") ~ ANY)* ~ "^" ~ ANY }"##,
        r##"s = { SOI ~ a ~ "\"\\/\t\r\u{07}" ~ EOI } a = @{ '+'..'-' ~ ('\u{01}'..'\u{1f}')+ }"##,
        r##"s = { SOI ~ a ~ EOI } a = @{ ("\u{2028}" | "\u{feff}" | "\u{e9}" | "\u{1f600}" | "\u{85}" | "\u{ad}")+ ~ "\u{2029}\u{1f601}" }"##,
        r##"s = { SOI ~ a* ~ b ~ EOI } a = @{ ^"&&x--[" } b = @{ "--" | "~~" ~ "&&"+ }"##,
    ] {
        let grammar = Grammar::read(rules, "s").unwrap_or_else(|error| panic!("{rules}: {error}"));
        let language = grammar.language();
        let engines = [
            TopLevelGrammar::from_lark(grammar.write(Format::Lark).expect("not pest")),
            TopLevelGrammar::from_regex(&grammar.write(Format::Regex).expect("not pest")),
        ]
        .map(Engine::new);
        each_text(&language, 1500, Just(()), |text, ()| {
            for engine in &engines {
                assert_eq!(engine.accepts(text), language.accepts(text), "{rules}: {text:?}");
            }
        });
    }
}
