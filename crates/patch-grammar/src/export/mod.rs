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
pub use check::Finding;
#[cfg(feature = "export")]
pub use grammar::Grammar;
#[cfg(feature = "export")]
pub use language::Language;

use crate::grammar::{Dialect, GRAMMAR};

/// A notation for grammars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Pest's, as it is written; it holds both dialects and the tolerant language of the parser.
    Pest,
    /// Lark: OpenAI custom tools, llguidance, XGrammar, and the Python package lark.
    Lark,
    /// GBNF: llama.cpp. XGrammar reads it as well.
    Gbnf,
    /// XGrammar's EBNF: vLLM and SGLang.
    Ebnf,
    /// One regular expression that matches a whole patch. It ends without a line feed, which would
    /// be a part of it.
    Regex,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Pest, Self::Lark, Self::Gbnf, Self::Ebnf, Self::Regex];

    /// Its short name, which is also the ending of its files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pest => "pest",
            Self::Lark => "lark",
            Self::Gbnf => "gbnf",
            Self::Ebnf => "ebnf",
            Self::Regex => "regex",
        }
    }

    /// Which engines the files are for, as their headers say it.
    #[cfg(feature = "export")]
    pub(crate) fn engines(self) -> &'static str {
        match self {
            Self::Pest | Self::Regex => "",
            Self::Lark => {
                "For OpenAI custom tools (syntax \"lark\"), llguidance, XGrammar, and Python lark (LALR or Earley)."
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
        (Format::Lark, Dialect::Whole) => include_str!("files/apply_patch.lark"),
        (Format::Gbnf, Dialect::Whole) => include_str!("files/apply_patch.gbnf"),
        (Format::Ebnf, Dialect::Whole) => include_str!("files/apply_patch.ebnf"),
        (Format::Regex, Dialect::Whole) => include_str!("files/apply_patch.regex"),
        (Format::Lark, Dialect::Codex) => include_str!("files/apply_patch_codex.lark"),
        (Format::Gbnf, Dialect::Codex) => include_str!("files/apply_patch_codex.gbnf"),
        (Format::Ebnf, Dialect::Codex) => include_str!("files/apply_patch_codex.ebnf"),
        (Format::Regex, Dialect::Codex) => include_str!("files/apply_patch_codex.regex"),
    }
}

/// The name of the file that holds the grammar.
#[must_use]
pub fn file_name(format: Format, dialect: Dialect) -> String {
    let stem = match dialect {
        Dialect::Codex if format != Format::Pest => "apply_patch_codex",
        _ => "apply_patch",
    };
    format!("{stem}.{}", format.as_str())
}

/// Makes the grammar of `dialect` in the notation of `format` from the pest grammar.
///
/// The answer is the same, byte for byte, on every run.
///
/// # Errors
///
/// [`ExportError`] when the pest grammar has something that cannot be said exactly in the other
/// notations, or that some engine would read differently.
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

/// Why a pest grammar has no equal in the other notations.
#[cfg(feature = "export")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// It is no pest grammar.
    #[error("no pest grammar: {message}")]
    Syntax {
        /// What pest says.
        message: String,
    },
    /// It has no rule of this name to start with.
    #[error("there is no rule `{rule}`")]
    NoSuchRule {
        /// The name.
        rule: String,
    },
    /// A rule has a construct that the other notations lack.
    #[error("rule `{rule}`: {construct}")]
    Unsupported {
        /// The rule.
        rule: String,
        /// The construct.
        construct: Construct,
    },
    /// Two rules would have one name.
    #[error("rules `{rule}` and `{other}` would have the same name")]
    NameClash {
        /// One of them.
        rule: String,
        /// The other.
        other: String,
    },
    /// It can be written down, but some engine would read it differently.
    #[error(transparent)]
    Differs(#[from] Finding),
}

/// A construct of pest that the other notations lack, or in which they differ.
#[cfg(feature = "export")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Construct {
    /// `PUSH`, `PEEK`, `POP`, `DROP`.
    #[error("the stack has no counterpart")]
    Stack,
    /// `NEWLINE`.
    #[error("NEWLINE takes three kinds of line end; write out the one that is meant")]
    Newline,
    /// `&…`, and `!…` before anything else than one character.
    #[error("a look-ahead can be expressed only as `!characters ~ character` in an atomic rule")]
    LookAhead,
    /// A built-in rule that names a Unicode property.
    #[error("Unicode properties differ from engine to engine")]
    UnicodeProperty,
    /// `{n}`, `{n,}`, `{,m}`, `{n,m}`.
    #[error("counted repetitions differ from engine to engine; write them out")]
    CountedRepetition,
    /// `WHITESPACE` or `COMMENT`.
    #[error("implicit blanks and comments have no counterpart")]
    ImplicitRule,
    /// A rule that comes back to itself.
    #[error("a rule may not use itself: only a regular language can be checked")]
    Recursion,
    /// `SOI` or `EOI` elsewhere than at the two ends of the start rule.
    #[error("SOI and EOI may stand only at the ends of the start rule")]
    InnerAnchor,
    /// A start rule without `SOI` and `EOI`.
    #[error("the start rule must begin with SOI and end with EOI")]
    UnanchoredStart,
    /// A start rule that is a terminal.
    #[error("the start rule may not be atomic")]
    TerminalStart,
    /// A range, a built-in class or `^"…"` outside an atomic rule.
    #[error("a class of characters must stand in an atomic rule, so that it has a name as a terminal")]
    BareCharacters,
    /// A terminal that takes the empty text.
    #[error("a terminal may not match the empty text")]
    EmptyTerminal,
    /// `""` outside an atomic rule.
    #[error("an empty text is no terminal")]
    EmptyLiteral,
    /// A class from which everything was taken away.
    #[error("no character is left to match")]
    EmptySet,
    /// Something that pest has learned since.
    #[error("not known to the generator")]
    Other,
}
