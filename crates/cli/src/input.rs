//! Where the patch text comes from.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use file_tools::ops;
use patch_engine::{MAX_PATCH_SIZE, convert};

use crate::args::InputForm;
use crate::detect::{self, Kind};
use crate::failure::Failure;
use crate::outside::{self, InputFile};
use crate::render;

/// A text and the name it goes by in messages.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) bytes: Vec<u8>,
    pub(crate) name: String,
    /// It was a unified diff.
    pub(crate) from_diff: bool,
}

impl Input {
    pub(crate) fn new(bytes: Vec<u8>, name: impl Into<String>) -> Self {
        Self { bytes, name: name.into(), from_diff: false }
    }
}

/// Why there is no text.
#[derive(Debug)]
pub(crate) enum NoInput {
    /// Nothing is named, and a person sits at standard input.
    Terminal,
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

/// Opens `file`, or standard input.
pub(crate) fn open(file: Option<&Path>) -> Result<Source, NoInput> {
    match file.filter(|file| *file != Path::new("-")) {
        Some(path) => match InputFile::open(path) {
            Ok(file) => Ok(Source::File(file, path.display().to_string())),
            Err(error) => Err(NoInput::Failed(error.to_string())),
        },
        None if file.is_none() && std::io::stdin().is_terminal() => Err(NoInput::Terminal),
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
    // With a byte of room left, the end is seen without growing. Where there is no room, the reading says so.
    let room = outside::stdin_size().min(MAX_PATCH_SIZE) + 1;
    let _ = bytes.try_reserve_exact(room as usize);
    std::io::stdin().lock().take(MAX_PATCH_SIZE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the patch from `file`, or from standard input.
pub(crate) fn read(file: Option<&Path>) -> Result<Input, NoInput> {
    open(file)?.read()
}

/// The input as a patch in the envelope; what was done for that is said on standard error, unless `quiet`.
pub(crate) fn envelope(input: Input, from: InputForm, quiet: bool) -> Result<Input, Failure> {
    let failed = |message: &dyn std::fmt::Display| Failure::Unreadable(format!("{}: {message}", input.name));
    let lossy = || String::from_utf8_lossy(&input.bytes).into_owned();
    let (kind, text) = match from {
        InputForm::Envelope => return Ok(input),
        InputForm::Unified => (Kind::Diff, lossy()),
        InputForm::Openai => (Kind::Items, lossy()),
        InputForm::Auto => {
            let text = patch_engine::decode(&input.bytes).map_err(|error| Failure::parse(&input, error))?;
            let found = detect::find(text).map_err(|problem| failed(&problem))?;
            tell(&input, quiet, &found.notes);
            (found.kind, found.text)
        }
    };
    let patch = match kind {
        Kind::Envelope => return Ok(Input { bytes: text.into_bytes(), ..input }),
        Kind::Diff => {
            let (diff, notes) = detect::normal_headers(&text);
            tell(&input, quiet, &notes);
            convert::from_diff(&diff).map_err(|error| failed(&error))?
        }
        Kind::Items => {
            let converted = ops::calls(&text).and_then(|calls| ops::to_envelope(&calls));
            converted.map_err(|error| failed(&error))?
        }
    };
    let from_diff = matches!(kind, Kind::Diff);
    Ok(Input { bytes: patch.into_bytes(), name: format!("{}, converted", input.name), from_diff })
}

fn tell(input: &Input, quiet: bool, notes: &[String]) {
    for note in notes.iter().filter(|_| !quiet) {
        render::message(&format!("note: {}: {note}", input.name));
    }
}
