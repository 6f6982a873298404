//! The parser in Rust.

use patch_grammar::GRAMMAR;

/// The first lines of the file.
const HEAD: &str = "\
// Made by pest from `apply_patch.pest`: `cargo xtask grammar` writes it anew.

use super::PatchParser;

";

/// Makes the code of the parser from the pest grammar: the code that `pest_derive` makes while a
/// crate is compiled. `patch-grammar` has it as a file, and so is compiled without a generator.
///
/// The answer is the same, byte for byte, on every run with the same version of pest.
///
/// # Panics
///
/// If the grammar is not one that pest reads: its message names the place.
#[must_use]
pub fn parser() -> String {
    let input = format!("#[grammar_inline = {GRAMMAR:?}] pub struct PatchParser;");
    let input = input.parse().expect("a string literal is a token");
    let code = pest_generator::derive_parser(input, false).to_string();
    let code = syn::parse_file(&code).expect("pest makes Rust");
    format!("{HEAD}{}", prettyplease::unparse(&code))
}
