//! Whatever a model would like to say, under our grammar it says a patch.

use std::cell::RefCell;

use patch_grammar::export::{self, Format};
use patch_grammar::{Dialect, ParseOptions, parse, recognizes};
use testutils::holds::holds;
use testutils::share::share;
use xtask::decode;
use xtask::texts::steps;

#[test]
fn a_random_model_under_the_grammar_always_writes_a_patch() {
    let env = decode::vocabulary();
    for dialect in Dialect::ALL {
        let model = RefCell::new(decode::Model::new(&env, export::text(Format::Lark, dialect)));
        let answers = share(150);
        holds(answers, &steps(200), |steps| {
            let answer = model.borrow_mut().write(&steps);
            let text = String::from_utf8(answer).expect("a mask never splits a character for good");
            assert!(recognizes(dialect, &text), "{text:?}");
            // NUL is a character like any other to the engines, and refused by the parser.
            parse(text.replace('\0', "x"), &ParseOptions::default())
                .unwrap_or_else(|error| panic!("{text:?}: {error}"));
        });
        println!("{}: {answers} answers, {} tokens", dialect.as_str(), model.borrow().tokens);
    }
}
