//! The text of a patch, and what is known of it.

use apply_patch_api::engine::{ParseError, Patch};
use apply_patch_api::grammar::{ParseOptions, Text};
use apply_patch_api::tools::Kept;
use apply_patch_api::tools::input::PatchText;

/// A text and the name it goes by in messages.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) sent: PatchText,
    pub(crate) name: String,
    /// How the patch is kept after it was refused.
    pub(crate) kept: Option<Kept>,
}

impl Input {
    pub(crate) fn new(text: impl Into<Text>, name: impl Into<String>) -> Self {
        Self { sent: PatchText::new(text, None), name: name.into(), kept: None }
    }

    /// Returns the bytes of the patch, without what is around it.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.sent.text.as_bytes()
    }

    /// Reads it as an envelope.
    pub(crate) fn parse(&self, options: &ParseOptions) -> Result<Patch, ParseError> {
        apply_patch_api::engine::parse(self.sent.text.clone(), options)
    }
}
