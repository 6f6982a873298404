//! The language in the notations that inference engines read: how the files are made and checked.
//!
//! [`generate`] reads the pest grammar, decides that no engine will read the result differently,
//! and writes it, and [`parser`] makes the parser. The files are a part of `patch-grammar`, which has
//! no generator: its dependency `pest_meta` switches features of pest on that slow the parser down.
//!
//! [`texts`] and [`decode`] have what the grammars are tried on: sentences and damaged sentences
//! from walks through the automaton of the language, and a model that is held to a grammar.
#![forbid(unsafe_code)]

mod automaton;
mod bnf;
mod charset;
mod check;
pub mod decode;
mod error;
mod grammar;
mod language;
mod read;
mod read_bnf;
mod shape;
pub mod texts;
mod write;

pub use charset::CharSet;
pub use error::{Construct, ExportError, Finding};
pub use grammar::Grammar;
pub use language::Language;

use patch_grammar::export::Format;
use patch_grammar::{Dialect, GRAMMAR};
use quote::quote;

/// Makes the grammar of `dialect` in the notation of `format` from the pest grammar.
///
/// The answer is the same, byte for byte, on every run.
///
/// # Errors
///
/// [`ExportError`] when the pest grammar has something that cannot be expressed exactly in the
/// other notations, or that some engine would read differently.
pub fn generate(format: Format, dialect: Dialect) -> Result<String, ExportError> {
    let grammar = Grammar::of(dialect)?;
    grammar.check()?;
    let text = grammar.write(format).unwrap_or_else(|| GRAMMAR.to_owned());
    if matches!(format, Format::Gbnf | Format::Ebnf) {
        grammar.check_bnf(&text)?;
    }
    Ok(text)
}

/// Makes the parser from the pest grammar, as Rust: a line for each rule and each attribute. It is a
/// part of `patch-grammar`, so that whoever builds that does not build a generator for it.
#[must_use]
pub fn parser() -> String {
    let parser = quote! {
        #[grammar_inline = #GRAMMAR]
        pub struct PatchParser;
    };
    let generated = pest_generator::derive_parser(parser, false).to_string();
    let lines = generated.replace(" pub fn ", "\npub fn ").replace(" # [", "\n# [");
    format!(
        "//! The parser that pest makes of the grammar: `cargo xtask grammar` writes it.\n\n\
         # [doc = \"The generated parser.\"] pub struct PatchParser ; {lines}\n"
    )
}
