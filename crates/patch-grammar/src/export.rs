//! The language in the notations that inference engines read.
//!
//! `cargo xtask grammar` generates the files from the pest grammar, and proves that they mean the
//! same; a test keeps them current.
//!
//! ```
//! use patch_grammar::{Dialect, export};
//!
//! let lark = export::text(export::Format::Lark, Dialect::Whole);
//! assert!(lark.contains("start: BEGIN_PATCH (add_file | delete_file | update_file | move_file)+ END_PATCH"));
//! ```

use crate::grammar::{Dialect, GRAMMAR};

crate::names::named! {
    /// A notation for grammars. Its name is also the extension of its files.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Format {
        /// Pest's, as it is written; it holds all dialects and the tolerant language of the
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

/// The grammar of `dialect` in the notation of `format`.
///
/// [`Format::Pest`] gives [`GRAMMAR`], the definition of all dialects.
#[must_use]
pub fn text(format: Format, dialect: Dialect) -> &'static str {
    match (format, dialect) {
        (Format::Pest, _) => GRAMMAR,
        (Format::Lark, Dialect::Whole) => include_str!("../grammar/apply_patch.lark"),
        (Format::Gbnf, Dialect::Whole) => include_str!("../grammar/apply_patch.gbnf"),
        (Format::Ebnf, Dialect::Whole) => include_str!("../grammar/apply_patch.ebnf"),
        (Format::Regex, Dialect::Whole) => include_str!("../grammar/apply_patch.regex"),
        (Format::Lark, Dialect::Codex) => include_str!("../grammar/apply_patch_codex.lark"),
        (Format::Lark, Dialect::Tight) => include_str!("../grammar/apply_patch_tight.lark"),
        (Format::Gbnf, Dialect::Codex) => include_str!("../grammar/apply_patch_codex.gbnf"),
        (Format::Gbnf, Dialect::Tight) => include_str!("../grammar/apply_patch_tight.gbnf"),
        (Format::Ebnf, Dialect::Codex) => include_str!("../grammar/apply_patch_codex.ebnf"),
        (Format::Ebnf, Dialect::Tight) => include_str!("../grammar/apply_patch_tight.ebnf"),
        (Format::Regex, Dialect::Codex) => include_str!("../grammar/apply_patch_codex.regex"),
        (Format::Regex, Dialect::Tight) => include_str!("../grammar/apply_patch_tight.regex"),
    }
}

/// The grammar of the text between the two markers of a patch, in XGrammar's EBNF: for an engine
/// that is told the markers themselves, such as a structural tag.
///
/// ```
/// use patch_grammar::{Dialect, export};
///
/// let body = export::body(Dialect::Whole);
/// assert!(body.contains("root ::= (add_file | delete_file | update_file | move_file)+\n"));
/// ```
#[must_use]
pub fn body(dialect: Dialect) -> String {
    let whole = text(Format::Ebnf, dialect);
    let mut out = String::with_capacity(whole.len());
    for paragraph in whole.split_inclusive("\n\n") {
        let rule = paragraph.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
        let root = rule.strip_prefix("root ::= begin_patch ");
        match root.and_then(|sections| sections.split_once(")+ ")) {
            Some((sections, _)) => {
                out.push_str("# What stands between the markers.\nroot ::= ");
                out.push_str(sections);
                out.push_str(")+\n\n");
            }
            None if rule.starts_with("begin_patch ::=") => {}
            None => out.push_str(paragraph),
        }
    }
    out
}

/// The name of the file that holds the grammar.
#[must_use]
pub fn file_name(format: Format, dialect: Dialect) -> String {
    let stem = match dialect {
        _ if format == Format::Pest => "apply_patch",
        Dialect::Whole => "apply_patch",
        Dialect::Codex => "apply_patch_codex",
        Dialect::Tight => "apply_patch_tight",
    };
    format!("{stem}.{format}")
}
