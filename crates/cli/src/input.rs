//! The text of a patch, and what is known of it.

use std::collections::BTreeMap;
use std::ops::Range;

use apply_patch_api::engine::{ParseError, Patch};
use apply_patch_api::grammar::{ParseOptions, Text};
use apply_patch_api::tools::input::PatchText;
use apply_patch_api::tools::ops::CallLines;
use apply_patch_api::tools::received::NotReceived;
use apply_patch_api::tools::{ChangedBy, Kept};

/// A text and its name in messages.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) sent: PatchText,
    pub(crate) name: String,
    /// Who last changed the files that were found changed.
    pub(crate) changed_by: BTreeMap<String, ChangedBy>,
    /// How the patch is kept after it was refused.
    pub(crate) kept: Option<Kept>,
    /// The sources of a text written here, from several files or from calls.
    pub(crate) parts: Vec<InputPart>,
}

/// One of several texts read as one patch.
#[derive(Debug, Clone)]
pub(crate) struct InputPart {
    pub(crate) name: String,
    /// Its lines in the patch, from 1.
    pub(crate) lines: Range<usize>,
    /// Which of its own lines the first of these is, from 1.
    pub(crate) line: usize,
}

impl Input {
    pub(crate) fn new(text: impl Into<Text>, name: impl Into<String>) -> Self {
        Self::of(PatchText::new(text, None), name)
    }

    pub(crate) fn of(sent: PatchText, name: impl Into<String>) -> Self {
        let name = name.into();
        let mut parts = Vec::with_capacity(sent.calls.len());
        for CallLines { call_id, lines } in &sent.calls {
            let name = format!("{name}, diff of {call_id}");
            parts.push(InputPart { name, lines: lines.clone(), line: 1 });
        }
        Self { sent, name, changed_by: BTreeMap::new(), kept: None, parts }
    }

    /// Joins patches to one, in their order.
    pub(crate) fn join(all: Vec<Self>) -> Result<Self, NotReceived> {
        let (sent, begins) = PatchText::join(&all.iter().map(|one| &one.sent).collect::<Vec<_>>())?;
        let ends = begins.iter().skip(1).map(|(from, _)| *from).chain([usize::MAX]);
        let mut parts = Vec::new();
        for ((one, (from, line)), end) in all.iter().zip(&begins).zip(ends) {
            if one.sent.calls.is_empty() {
                let text = &one.sent.text;
                let above = &text.whole()[..text.range().start];
                let above = above.iter().filter(|&&byte| byte == b'\n').count();
                parts.push(InputPart {
                    name: one.name.clone(),
                    lines: *from..end,
                    line: line + above,
                });
            }
            parts.extend(one.parts.iter().map(|part| {
                let Range { start, end } = part.lines;
                InputPart { lines: start + from - line..end + from - line, ..part.clone() }
            }));
        }
        Ok(Self { parts, ..Self::of(sent, names(&all)) })
    }

    /// Returns the name of the sent text with a line of the patch, and how many lines further up
    /// the line is there; both lines count from 1. `None` for a line that was not sent.
    pub(crate) fn place(&self, line: usize) -> Option<(&str, isize)> {
        let part = self.parts.iter().find(|part| part.lines.contains(&line));
        match part {
            Some(part) => {
                Some((&part.name, part.lines.start.cast_signed() - part.line.cast_signed()))
            }
            None => self.sent.calls.is_empty().then_some((&*self.name, 0)),
        }
    }

    /// Returns the bytes of the patch, without the text around.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.sent.text.as_bytes()
    }

    /// Reads the patch as an envelope.
    pub(crate) fn parse(&self, options: &ParseOptions) -> Result<Patch, ParseError> {
        apply_patch_api::engine::parse(self.sent.text.clone(), options)
    }
}

/// The names of several inputs.
pub(crate) fn names(all: &[Input]) -> String {
    all.iter().map(|one| &*one.name).collect::<Vec<_>>().join(", ")
}
