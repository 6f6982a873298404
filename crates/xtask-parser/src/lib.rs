//! Makes the parser of `patch-grammar`, in Rust, from the pest grammar. It depends on none of the
//! other crates, so that it can be run while they do not compile.
#![forbid(unsafe_code)]

/// The first lines of the file.
const HEAD: &str = "\
// Made by pest from `apply_patch.pest`: `just grammar` writes it anew.

/// The generated parser.
pub struct PatchParser;

";

/// Makes the code of the parser of a pest grammar: the code that `pest_derive` makes while a crate
/// is compiled. `patch-grammar` has it as a file, and so is compiled without a generator.
///
/// The answer is the same, byte for byte, on every run with the same version of pest.
///
/// # Panics
///
/// If pest does not read the grammar: its message names the place.
#[must_use]
pub fn parser(grammar: &str) -> String {
    let input = format!("#[grammar_inline = {grammar:?}] pub struct PatchParser;");
    let input = input.parse().expect("a string literal is a token");
    let code = pest_generator::derive_parser(input, false).to_string();
    let code = syn::parse_file(&code).expect("pest makes Rust");
    format!("{HEAD}{}", prettyplease::unparse(&code))
}
