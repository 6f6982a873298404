//! The language in the notations that inference engines read: how the files are made and checked.
//!
//! [`generate`] reads the pest grammar, decides that no engine will read the result differently,
//! and writes the result. The files are a part of `patch-grammar`, which has no generator: the
//! dependency `pest_meta` switches on features of pest that slow the parser down.
//!
//! [`texts`] and [`decode`] have the texts for trying the grammars: sentences and damaged sentences
//! from walks through the automaton of the language, and a model held to a grammar.
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

/// Makes the grammar of `dialect` in the notation of `format` from the pest grammar.
///
/// The answer is the same, byte for byte, on every run.
///
/// # Errors
///
/// [`ExportError`] for a pest grammar without an exact form in the other notations, or with a part
/// that some engine would read differently.
pub fn generate(format: Format, dialect: Dialect) -> Result<String, ExportError> {
    let grammar = Grammar::of(dialect)?;
    grammar.check()?;
    let text = grammar.write(format).unwrap_or_else(|| GRAMMAR.to_owned());
    if matches!(format, Format::Gbnf | Format::Ebnf) {
        grammar.check_bnf(&text)?;
    }
    Ok(text)
}
