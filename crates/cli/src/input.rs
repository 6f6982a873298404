//! Where the patch text comes from.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use file_tools::ops;
use patch_engine::{MAX_PATCH_SIZE, convert};

use crate::args::InputForm;
use crate::failure::Failure;

/// A text and the name it goes by in messages.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) bytes: Vec<u8>,
    pub(crate) name: String,
}

impl Input {
    /// The same text, for a failure that outlives the patch.
    pub(crate) fn copy(&self) -> Self {
        Self { bytes: self.bytes.clone(), name: self.name.clone() }
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
    File(fs_guard::InputFile, String),
    Stdin,
}

/// Opens `file`, or standard input.
pub(crate) fn open(file: Option<&Path>) -> Result<Source, NoInput> {
    match file.filter(|file| *file != Path::new("-")) {
        Some(path) => match fs_guard::InputFile::open(path) {
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
                Ok(bytes) => Ok(Input { bytes, name }),
                Err(fs_guard::Error::TooLarge { .. }) => Err(NoInput::TooLong),
                Err(error) => Err(NoInput::Failed(error.to_string())),
            },
            Self::Stdin => {
                let mut bytes = Vec::new();
                match std::io::stdin().lock().take(MAX_PATCH_SIZE + 1).read_to_end(&mut bytes) {
                    Ok(read) if read as u64 > MAX_PATCH_SIZE => Err(NoInput::TooLong),
                    Ok(_) => Ok(Input { bytes, name: "standard input".into() }),
                    Err(error) => Err(NoInput::Failed(format!("cannot read standard input: {error}"))),
                }
            }
        }
    }
}

/// Reads the patch from `file`, or from standard input.
pub(crate) fn read(file: Option<&Path>) -> Result<Input, NoInput> {
    open(file)?.read()
}

/// The input as a patch in the envelope.
pub(crate) fn envelope(input: Input, from: InputForm) -> Result<Input, Failure> {
    let text = || String::from_utf8_lossy(&input.bytes).into_owned();
    let converted = match from {
        InputForm::Envelope => return Ok(input),
        InputForm::Unified => convert::from_diff(&text()).map_err(|error| error.to_string()),
        InputForm::Openai => {
            ops::calls(&text()).and_then(|calls| ops::to_envelope(&calls)).map_err(|error| error.to_string())
        }
    };
    match converted {
        Ok(patch) => Ok(Input { bytes: patch.into_bytes(), name: format!("{}, converted", input.name) }),
        Err(message) => Err(Failure::Unreadable(format!("{}: {message}", input.name))),
    }
}
