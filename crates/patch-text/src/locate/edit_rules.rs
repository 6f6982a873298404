//! The rules of an edit.

use crate::cancel::Cancel;
use crate::locate::Rules;
use crate::text::whitespace::WhitespaceRules;

/// By which rules the hunks of a file are placed, and their lines written.
#[derive(Debug, Clone, Copy)]
pub struct EditRules<'a> {
    pub placement: &'a Rules,
    pub final_newline: FinalNewline,
    /// The rules about whitespace, where they count.
    pub whitespace: Option<FileWhitespace>,
    /// Asked while hunks are placed; an edit that was given up is not one of anything.
    pub cancel: &'a dyn Cancel,
}

/// The rules about whitespace for one file.
#[derive(Debug, Clone, Copy)]
pub struct FileWhitespace {
    pub rules: WhitespaceRules,
    /// Errors are fixed.
    pub fix: bool,
    /// Old lines may differ from the file's in errors that are fixed.
    pub overlook: bool,
}

/// Whether a file that an update gives a new last line ends in a line feed. Markers for a missing
/// line feed go before this rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinalNewline {
    /// As the pre-image does.
    Keep,
    /// Always.
    Add,
}
