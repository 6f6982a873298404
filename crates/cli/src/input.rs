//! The text of a patch, and what is known of it.

use file_tools::input::PatchText;
use file_tools::refused::RefusedForm;
use patch_engine::{ParseError, Patch};
use patch_grammar::diff::DiffOptions;
use patch_grammar::{ParseOptions, Text};

/// A text and the name it goes by in messages.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) text: Text,
    pub(crate) name: String,
    /// How it is read, when it is a unified or git diff; else it is an envelope.
    pub(crate) diff: Option<DiffOptions>,
    /// How the patch was found in what was given.
    pub(crate) notes: Vec<String>,
    /// Whether the patch is to be reversed.
    pub(crate) reverse: bool,
    /// The name under which the patch is kept after it was refused.
    pub(crate) kept: Option<String>,
}

impl Input {
    pub(crate) fn new(text: impl Into<Text>, name: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            name: name.into(),
            diff: None,
            notes: Vec::new(),
            reverse: false,
            kept: None,
        }
    }

    /// Returns the form of the text, for keeping it.
    pub(crate) fn form(&self) -> RefusedForm {
        self.diff.map_or(RefusedForm::Envelope, |how| RefusedForm::Diff(how.strip))
    }

    /// Returns the text as the parser takes it.
    pub(crate) fn text(&self) -> PatchText {
        let Self { text, diff, notes, reverse, .. } = self.clone();
        PatchText { text, diff, notes, reverse, converted: false }
    }

    /// Reads it as an envelope.
    pub(crate) fn parse(&self, options: &ParseOptions) -> Result<Patch, ParseError> {
        patch_engine::parse(self.text.clone(), options)
    }
}
