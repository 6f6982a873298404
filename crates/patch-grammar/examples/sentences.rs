//! Prints texts and our verdicts on them, one JSON object a line, for other recognisers to try.
//!
//! `cargo run --release -p patch-grammar --features export --example sentences -- COUNT [SEED]`
//! gives COUNT texts for each dialect: `{"dialect":"whole","accepted":true,"text":"…"}`.

#![allow(clippy::print_stdout)]

#[path = "../tests/grammar/support/mod.rs"]
mod support;

use patch_grammar::{Dialect, ParseOptions, parse, recognizes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().ok_or("usage: sentences COUNT [SEED]")?.parse()?;
    let seed = arguments.next().map_or(Ok(0x5EED), |seed| seed.parse())?;
    for dialect in Dialect::ALL {
        for text in support::samples(&support::grammar(dialect).language(), count, seed) {
            let accepted = recognizes(dialect, &text);
            if accepted && parse(&text, &ParseOptions::default()).is_err() {
                return Err(format!("exported, but not read: {text:?}").into());
            }
            let text = serde_json::to_string(&text)?;
            println!(
                "{{\"dialect\":\"{}\",\"accepted\":{accepted},\"text\":{text}}}",
                dialect.as_str()
            );
        }
    }
    Ok(())
}
