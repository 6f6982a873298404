//! Our parser and llguidance give the same verdict on the same texts.

// The counts are worth seeing with `--nocapture`.
#![allow(clippy::print_stdout)]

mod support;

use llguidance::api::TopLevelGrammar;
use patch_grammar::export::{self, Format, Grammar};
use patch_grammar::{Dialect, GRAMMAR, ParseOptions, parse, recognizes};

/// How many texts are tried for each dialect.
const SAMPLES: usize = 20_000;

#[test]
fn parser_lark_and_regex_accept_the_same_texts_and_the_parser_reads_all_of_them() {
    for dialect in Dialect::ALL {
        let language = support::grammar(dialect).language();
        let samples = support::samples(&language, SAMPLES, 0x5EED);
        let lark = support::Engine::new(TopLevelGrammar::from_lark(export::text(Format::Lark, dialect).to_owned()));
        let regex = support::Engine::new(TopLevelGrammar::from_regex(export::text(Format::Regex, dialect)));
        let mut accepted = 0;
        for (nth, text) in samples.iter().enumerate() {
            let verdict = recognizes(dialect, text);
            assert_eq!(language.accepts(text), verdict, "the automaton: {text:?}");
            assert_eq!(lark.accepts(text), verdict, "llguidance, Lark: {text:?}");
            // The regex is the same automaton to llguidance; a share will do.
            if nth % 8 == 0 {
                assert_eq!(regex.accepts(text), verdict, "llguidance, regex: {text:?}");
            }
            if verdict {
                accepted += 1;
                if let Err(error) = parse(text, &ParseOptions::default()) {
                    panic!("exported, but not read: {text:?}: {error}");
                }
            }
        }
        println!("{}: {} texts, {accepted} accepted, 0 disagreements", dialect.as_str(), samples.len());
        assert!(accepted * 5 > samples.len() && accepted * 5 < samples.len() * 4, "a lopsided sample: {accepted}");
    }
}

/// What the samples above try, decided for all texts at once, as far as the grammar goes; the walk
/// to the tree may still refuse a text that the grammar takes, and the samples show that it does not.
#[test]
fn the_subset_is_in_the_whole_and_the_whole_in_what_the_parser_reads() {
    let of = |start| Grammar::read(GRAMMAR, start).expect("it can be read");
    let accepted = of("accepted").peg_language();
    let [whole, codex] = ["patch", "codex_patch"].map(|start| of(start).language());
    assert_eq!(codex.first_sentence_not_in(&whole), None);
    assert_eq!(whole.first_sentence_not_in(&accepted), None);
    // And not the other way round.
    assert_eq!(whole.first_sentence_not_in(&codex).as_deref(), Some("*** Begin Patch\n*** Add File: z\n*** End Patch"));
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
        .map(support::Engine::new);
        for text in support::samples(&language, 1500, 3) {
            for engine in &engines {
                assert_eq!(engine.accepts(&text), language.accepts(&text), "{rules}: {text:?}");
            }
        }
    }
}
