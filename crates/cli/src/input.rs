//! The text of a patch, and what is known of it.

use std::collections::BTreeMap;

use apply_patch_api::engine::{ParseError, Patch};
use apply_patch_api::grammar::{ParseOptions, Text};
use apply_patch_api::tools::input::PatchText;
use apply_patch_api::tools::received::NotReceived;
use apply_patch_api::tools::{ChangedBy, Kept};

/// A text and the name it goes by in messages.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) sent: PatchText,
    pub(crate) name: String,
    /// Who changed the files last that were found changed.
    pub(crate) changed_by: BTreeMap<String, ChangedBy>,
    /// How the patch is kept after it was refused.
    pub(crate) kept: Option<Kept>,
    /// Where it was joined of several files: each of them.
    pub(crate) files: Vec<JoinedFile>,
}

/// One of several files that are read as one patch.
#[derive(Debug, Clone)]
pub(crate) struct JoinedFile {
    pub(crate) name: String,
    /// The line of the joined text where its lines begin, from 1.
    pub(crate) from: usize,
    /// Which of its lines this is, from 1.
    pub(crate) line: usize,
}

impl Input {
    pub(crate) fn new(text: impl Into<Text>, name: impl Into<String>) -> Self {
        Self::of(PatchText::new(text, None), name)
    }

    pub(crate) fn of(sent: PatchText, name: impl Into<String>) -> Self {
        Self { sent, name: name.into(), changed_by: BTreeMap::new(), kept: None, files: Vec::new() }
    }

    /// Joins patches to one, in their order.
    pub(crate) fn join(all: Vec<Self>) -> Result<Self, NotReceived> {
        let (sent, begins) = PatchText::join(&all.iter().map(|one| &one.sent).collect::<Vec<_>>())?;
        let name = names(&all);
        let files = all.into_iter().zip(begins).map(|(one, (from, line))| {
            let text = &one.sent.text;
            let above = &text.whole()[..text.range().start];
            let above = above.iter().filter(|&&byte| byte == b'\n').count();
            JoinedFile { name: one.name, from, line: line + above }
        });
        Ok(Self { files: files.collect(), ..Self::of(sent, name) })
    }

    /// Returns the name of the file that a line of the text is from, and how many lines further up
    /// it is there; both lines count from 1.
    pub(crate) fn place(&self, line: usize) -> (&str, isize) {
        match self.files.iter().rev().find(|file| file.from <= line) {
            Some(file) => (&file.name, file.from.cast_signed() - file.line.cast_signed()),
            None => (self.files.first().map_or(&self.name, |file| &file.name), 0),
        }
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

/// The names of several inputs.
pub(crate) fn names(all: &[Input]) -> String {
    all.iter().map(|one| &*one.name).collect::<Vec<_>>().join(", ")
}
