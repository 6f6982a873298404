//! The text of a patch, and what is known of it.

use std::sync::Arc;

use file_tools::input::PatchText;
use file_tools::refused::RefusedForm;
use patch_engine::{ParseError, Patch};
use patch_grammar::ParseOptions;
use patch_grammar::diff::DiffOptions;

/// A text and the name it goes by in messages.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) bytes: Arc<Vec<u8>>,
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
    pub(crate) fn new(bytes: Vec<u8>, name: impl Into<String>) -> Self {
        Self {
            bytes: bytes.into(),
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
    pub(crate) fn text(&self) -> PatchText<'_> {
        let Self { bytes, diff, notes, reverse, .. } = self;
        PatchText {
            bytes: bytes.as_slice().into(),
            owner: Some(Arc::clone(bytes)),
            diff: *diff,
            notes: notes.clone(),
            reverse: *reverse,
            converted: false,
        }
    }

    /// Reads it as an envelope.
    pub(crate) fn parse(&self, options: &ParseOptions) -> Result<Patch<'_>, ParseError> {
        patch_engine::decode(&self.bytes).and_then(|text| patch_engine::parse(text, options))
    }
}
