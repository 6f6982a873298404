//! Where the patch text comes from.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;
use std::sync::Arc;

use file_tools::input::PatchText;
use file_tools::refused::RefusedForm;
use patch_engine::{MAX_PATCH_SIZE, ParseError, Patch};
use patch_grammar::ParseOptions;
use patch_grammar::diff::DiffOptions;

use crate::outside::{self, InputFile};

/// A text and the name it goes by in messages.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) name: String,
    /// How it is read, when it is a unified or git diff; else it is an envelope.
    pub(crate) diff: Option<DiffOptions>,
    /// What was done to get at it.
    pub(crate) notes: Vec<String>,
    /// It is to be taken back.
    pub(crate) reverse: bool,
    /// The name under which it is kept, as it was refused.
    pub(crate) kept: Option<String>,
}

impl Input {
    pub(crate) fn new(bytes: Vec<u8>, name: impl Into<String>) -> Self {
        Self { bytes: bytes.into(), name: name.into(), diff: None, notes: Vec::new(), reverse: false, kept: None }
    }

    /// What it is, for those who keep it.
    pub(crate) fn form(&self) -> RefusedForm {
        self.diff.map_or(RefusedForm::Envelope, |how| RefusedForm::Diff(how.strip))
    }

    /// The same for those who parse it.
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

/// Why there is no text.
#[derive(Debug)]
pub(crate) enum NoInput {
    /// It cannot be read.
    Failed(String),
    /// It is too long.
    TooLong,
}

/// Where the patch will be read from: open, and not read yet.
#[derive(Debug)]
pub(crate) enum Source {
    File(InputFile, String),
    Stdin,
}

/// Whether nothing is named and a person sits at standard input, who is not kept waiting.
pub(crate) fn is_missing(file: Option<&Path>) -> bool {
    file.is_none() && std::io::stdin().is_terminal()
}

/// Opens `file`, or standard input.
pub(crate) fn open(file: Option<&Path>) -> Result<Source, NoInput> {
    match file.filter(|file| *file != Path::new("-")) {
        Some(path) => match InputFile::open(path) {
            Ok(file) => Ok(Source::File(file, path.display().to_string())),
            Err(error) => Err(NoInput::Failed(error.to_string())),
        },
        None => Ok(Source::Stdin),
    }
}

impl Source {
    /// Reads all of it.
    pub(crate) fn read(self) -> Result<Input, NoInput> {
        match self {
            Self::File(file, name) => match file.read(MAX_PATCH_SIZE) {
                Ok(bytes) => Ok(Input::new(bytes, name)),
                Err(fs_guard::Error::TooLarge { .. }) => Err(NoInput::TooLong),
                Err(error) => Err(NoInput::Failed(error.to_string())),
            },
            Self::Stdin => match stdin() {
                Ok(bytes) if bytes.len() as u64 > MAX_PATCH_SIZE => Err(NoInput::TooLong),
                Ok(bytes) => Ok(Input::new(bytes, "standard input")),
                Err(error) => Err(NoInput::Failed(format!("cannot read standard input: {error}"))),
            },
        }
    }
}

/// Reads standard input to its end, or one byte more than a patch may have.
pub(crate) fn stdin() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // With a byte of room left, the end is seen without growing. Where there is no room, reading fails.
    let room = outside::stdin_size().min(MAX_PATCH_SIZE) + 1;
    let _ = bytes.try_reserve_exact(room as usize);
    std::io::stdin().lock().take(MAX_PATCH_SIZE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the patch from `file`, or from standard input.
pub(crate) fn read(file: Option<&Path>) -> Result<Input, NoInput> {
    open(file)?.read()
}
