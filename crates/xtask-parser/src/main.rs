//! Writes the parser of `patch-grammar` anew.

// It is run in the repository; the guard is for what others run.
#![allow(clippy::disallowed_methods)]

use std::path::Path;

use xtask_parser::parser;

fn main() -> std::io::Result<()> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../patch-grammar");
    let grammar = std::fs::read_to_string(home.join("grammar/apply_patch.pest"))?;
    std::fs::write(home.join("src/grammar/generated.rs"), parser(&grammar))
}
