//! Whatever a model would like to say, under our grammar it says a patch.

// The counts are worth seeing with `--nocapture`.
#![allow(clippy::print_stdout)]

mod support;

use patch_grammar::export::{self, Format};
use patch_grammar::{Dialect, ParseOptions, parse, recognizes};
use support::{Random, decode};

#[test]
fn a_random_model_under_the_grammar_always_writes_a_patch() {
    let mut random = Random(0xC0DE);
    let env = decode::vocabulary(&mut random);
    for dialect in Dialect::ALL {
        let mut model = decode::Model::new(&env, export::text(Format::Lark, dialect));
        for _ in 0..40 {
            let budget = random.below(200);
            let answer = model.write(budget, &mut random);
            let text = String::from_utf8(answer).expect("a mask never splits a character for good");
            assert!(recognizes(dialect, &text), "{text:?}");
            // NUL is a character like any other to the engines; `decode` refuses it, `parse` does not see it.
            parse(&text, &ParseOptions::default()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        }
        println!("{}: 40 answers, {} tokens", dialect.as_str(), model.tokens);
    }
}
