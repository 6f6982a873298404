//! Files that are to parse in the format that their name says.

use std::fmt;

use fs_guard::RelPath;

patch_grammar::named! {
    /// The treatment of a file that parsed before a change and does not parse afterwards.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Syntax {
        /// The change is refused.
        Refuse = "refuse",
        /// It is noted.
        #[default]
        Warn = "warn",
        /// Nothing: files are not parsed.
        Off = "off",
    }
}

/// Parses files, each in the format that its name says.
pub trait Formats: fmt::Debug + Send + Sync {
    /// Returns whether files of this name, and of this size in bytes, are parsed.
    fn parses(&self, path: &RelPath, size: u64) -> bool;

    /// Returns why the new bytes of a file do not parse; `None` if they do.
    ///
    /// `before` has the old bytes of a file that existed. Then there is also `None` if these do
    /// not parse in the same format: a template is none of its business.
    fn fault(&self, path: &RelPath, before: Option<&[u8]>, after: &[u8]) -> Option<SyntaxFault>;
}

/// The first place where a file does not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// The name of the format.
    pub format: &'static str,
    /// The 1-based line of the new file.
    pub line: usize,
    /// The 1-based column, in characters.
    pub column: usize,
    /// The message of the parser.
    pub message: String,
}

impl fmt::Display for SyntaxFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message, .. } = self;
        write!(f, "line {line}, column {column}: {message}")
    }
}
