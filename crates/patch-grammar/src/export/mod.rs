//! The language in the notations that inference engines read.
//!
//! [`text`] gives the files, which are part of this crate and cost nothing. With the feature
//! `export` this module can also make them: `generate` reads the pest grammar, decides that no
//! engine will read the result differently, and writes it. The feature is off by default because
//! its dependency switches features of pest on that slow the parser down; the files are kept
//! current by a test instead.
//!
//! ```
//! use patch_grammar::{Dialect, export};
//!
//! let lark = export::text(export::Format::Lark, Dialect::Whole);
//! assert!(lark.contains("start: BEGIN_PATCH (add_file | delete_file | update_file | move_file)+ END_PATCH"));
//! ```

#[cfg(feature = "export")]
mod automaton;
#[cfg(feature = "export")]
mod charset;
#[cfg(feature = "export")]
mod check;
#[cfg(feature = "export")]
mod error;
#[cfg(feature = "export")]
mod grammar;
#[cfg(feature = "export")]
mod language;
#[cfg(feature = "export")]
mod read;
#[cfg(feature = "export")]
mod write;

#[cfg(feature = "export")]
pub use charset::CharSet;
#[cfg(feature = "export")]
pub use error::{Construct, ExportError, Finding};
#[cfg(feature = "export")]
pub use grammar::Grammar;
#[cfg(feature = "export")]
pub use language::Language;

use crate::grammar::{Dialect, GRAMMAR};

crate::names::named! {
    /// A notation for grammars. Its name is also the extension of its files.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Format {
        /// Pest's, as it is written; it holds both dialects and the tolerant language of the
        /// parser.
        Pest = "pest",
        /// Lark: OpenAI custom tools, llguidance, XGrammar, and the Python package lark.
        Lark = "lark",
        /// GBNF: llama.cpp. XGrammar reads it as well.
        Gbnf = "gbnf",
        /// XGrammar's EBNF: vLLM and SGLang.
        Ebnf = "ebnf",
        /// One regular expression that matches a whole patch. It ends without a line feed, which
        /// would be a part of it.
        Regex = "regex",
    }
}

impl Format {
    /// Which engines the files are for, for their headers.
    #[cfg(feature = "export")]
    pub(crate) fn engines(self) -> &'static str {
        match self {
            Self::Pest | Self::Regex => "",
            Self::Lark => {
                "For OpenAI custom tools (syntax \"lark\"), llguidance, XGrammar, and Python lark \
                 (LALR or Earley)."
            }
            Self::Gbnf => "For llama.cpp.",
            Self::Ebnf => "For XGrammar (vLLM, SGLang).",
        }
    }
}

/// The grammar of `dialect` in the notation of `format`.
///
/// For [`Format::Pest`] it is [`GRAMMAR`], which defines both dialects.
#[must_use]
pub fn text(format: Format, dialect: Dialect) -> &'static str {
    match (format, dialect) {
        (Format::Pest, _) => GRAMMAR,
        (Format::Lark, Dialect::Whole) => include_str!("../../grammar/apply_patch.lark"),
        (Format::Gbnf, Dialect::Whole) => include_str!("../../grammar/apply_patch.gbnf"),
        (Format::Ebnf, Dialect::Whole) => include_str!("../../grammar/apply_patch.ebnf"),
        (Format::Regex, Dialect::Whole) => include_str!("../../grammar/apply_patch.regex"),
        (Format::Lark, Dialect::Codex) => include_str!("../../grammar/apply_patch_codex.lark"),
        (Format::Gbnf, Dialect::Codex) => include_str!("../../grammar/apply_patch_codex.gbnf"),
        (Format::Ebnf, Dialect::Codex) => include_str!("../../grammar/apply_patch_codex.ebnf"),
        (Format::Regex, Dialect::Codex) => include_str!("../../grammar/apply_patch_codex.regex"),
    }
}

/// The name of the file that holds the grammar.
#[must_use]
pub fn file_name(format: Format, dialect: Dialect) -> String {
    let stem = match dialect {
        Dialect::Codex if format != Format::Pest => "apply_patch_codex",
        _ => "apply_patch",
    };
    format!("{stem}.{format}")
}

/// Makes the grammar of `dialect` in the notation of `format` from the pest grammar.
///
/// The answer is the same, byte for byte, on every run.
///
/// # Errors
///
/// [`ExportError`] when the pest grammar has something that cannot be expressed exactly in the
/// other notations, or that some engine would read differently.
#[cfg(feature = "export")]
pub fn generate(format: Format, dialect: Dialect) -> Result<String, ExportError> {
    let grammar = Grammar::read(GRAMMAR, start_rule(dialect))?;
    grammar.check()?;
    Ok(grammar.write(format).unwrap_or_else(|| GRAMMAR.to_owned()))
}

/// The pest rule that a dialect starts with.
#[cfg(feature = "export")]
#[must_use]
pub fn start_rule(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Whole => "patch",
        Dialect::Codex => "codex_patch",
    }
}
