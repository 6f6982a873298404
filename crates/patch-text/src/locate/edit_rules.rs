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
    /// Asked while hunks are placed. The result of a cancelled edit means nothing.
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

/// Whether a file ends in a line feed after an update of its last line. Markers for a missing line
/// feed take precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinalNewline {
    /// As the pre-image does.
    Keep,
    /// Always.
    Add,
}
