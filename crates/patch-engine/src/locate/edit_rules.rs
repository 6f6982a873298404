//! The rules of an edit.

use fs_guard::Cancellation;

use crate::locate::Rules;
use crate::plan::options::{FinalNewline, Options};
use crate::text::whitespace::WhitespaceRules;

/// By which rules the hunks of a file are placed, and their lines written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EditRules<'a> {
    pub(crate) placement: &'a Rules,
    pub(crate) final_newline: FinalNewline,
    /// The rules about whitespace, where they count.
    pub(crate) whitespace: Option<FileWhitespace>,
    /// Whoever edits polls this; an edit that was cancelled is not one of anything.
    pub(crate) cancellation: &'a Cancellation,
}

impl<'a> EditRules<'a> {
    /// Takes the rules of the options.
    pub(crate) fn of(
        options: &'a Options,
        whitespace: Option<FileWhitespace>,
        cancellation: &'a Cancellation,
    ) -> Self {
        let (placement, final_newline) = (&options.placement, options.final_newline);
        Self { placement, final_newline, whitespace, cancellation }
    }
}

/// The rules about whitespace for one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileWhitespace {
    pub(crate) rules: WhitespaceRules,
    /// Errors are fixed.
    pub(crate) fix: bool,
    /// Old lines may differ from the file's in errors that are fixed.
    pub(crate) overlook: bool,
}
