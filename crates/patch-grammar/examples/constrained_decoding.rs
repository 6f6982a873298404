//! Lets a random "model" write patches under the grammar, and prints what the token masks cost.
//!
//! `cargo run --release -p patch-grammar --features export --example constrained_decoding --
//! [ANSWERS]`

#![allow(clippy::print_stdout)]

#[path = "../tests/grammar/support/mod.rs"]
mod support;

use std::time::Instant;

use patch_grammar::export::{self, Format};
use patch_grammar::{Dialect, ParseOptions, parse};
use support::{decode, steps, values};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let answers: usize = std::env::args().nth(1).map_or(Ok(200), |answers| answers.parse())?;
    let env = decode::vocabulary();
    println!("a vocabulary of {} tokens", decode::VOCABULARY);
    for dialect in Dialect::ALL {
        let begun = Instant::now();
        let mut model = decode::Model::new(&env, export::text(Format::Lark, dialect));
        let compiled = begun.elapsed();
        let (mut sections, mut hunks, mut bytes) = (0, 0, 0);
        for steps in values(steps(400), 1).take(answers) {
            let text = String::from_utf8(model.write(&steps))?;
            let patch = parse(&text, &ParseOptions::default())?;
            sections += patch.sections().len();
            hunks += patch.hunk_count();
            bytes += text.len();
        }
        model.costs.sort_unstable();
        let at = |share: f64| model.costs[((model.costs.len() - 1) as f64 * share) as usize];
        println!(
            "{:5}: {answers} answers, all of them patches: {} tokens, {bytes} bytes, {sections} \
             sections, {hunks} hunks",
            dialect.as_str(),
            model.tokens,
        );
        println!(
            "       grammar compiled in {compiled:.1?}; a mask takes {:.1?} (median), {:.1?} (99 \
             %), {:.1?} (worst)",
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
    Ok(())
}
