//! Where the text of a patch is read from: a file, or standard input.

use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};

use apply_patch_api::engine::MAX_PATCH_SIZE;
use apply_patch_api::tools::hints;

use crate::args::Inputs;
use crate::clipboard;
use crate::failure::Failure;
use crate::input::Input;
use crate::outside::{self, InputFile};

/// Where the patch will be read from: open, and not read yet.
#[derive(Debug)]
pub(crate) enum Source {
    File(InputFile, String),
    Stdin,
    /// The text of the clipboard.
    Clipboard(Vec<u8>),
    /// An input already read.
    Read(Box<Input>),
}

/// The message to a person at whose terminal a patch is read.
pub(crate) const READS_TERMINAL: &str =
    "reading a patch from the terminal; end with `*** End Patch` or Ctrl-D";

/// Whether a person sits at standard input.
pub(crate) fn is_terminal() -> bool {
    *outside::STDIN_IS_TERMINAL
}

/// Opens all named inputs, or standard input.
pub(crate) fn open_all(named: &Inputs) -> Result<Vec<Source>, Failure> {
    if named.clipboard {
        return Ok(vec![Source::Clipboard(clipboard::read()?)]);
    }
    if named.files.iter().filter(|file| *file == Path::new("-")).count() > 1 {
        return Err(Failure::Usage("standard input is named twice".into()));
    }
    match &named.files[..] {
        [] => Ok(vec![Source::Stdin]),
        files => files.iter().map(|file| open(Some(file))).collect(),
    }
}

/// Opens `file`, or standard input.
pub(crate) fn open(file: Option<&Path>) -> Result<Source, Failure> {
    match file.filter(|file| *file != Path::new("-")) {
        Some(path) => match InputFile::open(path) {
            Ok(file) => Ok(Source::File(file, path.display().to_string())),
            Err(error) => Err(Failure::Input(match url(path) {
                Some(url) => {
                    format!("this is no file but a URL: run `curl -L {url} | apply-patch`")
                }
                None => error.to_string(),
            })),
        },
        None => Ok(Source::Stdin),
    }
}

/// Returns the URL that a path is, as a word of the shell.
fn url(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let is_url = ["https://", "http://", "ftp://"].iter().any(|scheme| text.starts_with(scheme));
    is_url.then(|| hints::shell_word(text))
}

/// Returns the place of a file that is missing here, and exists in the root.
pub(crate) fn in_root(root: &Path, file: &Path) -> Option<PathBuf> {
    let there = root.join(file);
    (file != Path::new("-")
        && file.is_relative()
        && !outside::exists(file)
        && outside::exists(&there))
    .then_some(there)
}

impl Source {
    /// Reads all of the input.
    pub(crate) fn read(self) -> Result<Input, Failure> {
        match self {
            Self::File(file, name) => match file.read(MAX_PATCH_SIZE) {
                Ok(bytes) => Ok(Input::new(bytes, name)),
                Err(apply_patch_api::files::Error::TooLarge { .. }) => Err(Failure::TooLong),
                Err(error) => Err(Failure::Input(error.to_string())),
            },
            Self::Stdin => match stdin() {
                Ok(bytes) if bytes.len() as u64 > MAX_PATCH_SIZE => Err(Failure::TooLong),
                Ok(bytes) => Ok(Input::new(bytes, "standard input")),
                Err(error) => Err(Failure::Input(format!("cannot read standard input: {error}"))),
            },
            Self::Clipboard(bytes) => Ok(Input::new(bytes, "the clipboard")),
            Self::Read(input) => Ok(*input),
        }
    }
}

/// Reads standard input to its end, or one byte more than a patch may have; from a terminal, to the
/// end of an envelope.
pub(crate) fn stdin() -> std::io::Result<Vec<u8>> {
    if is_terminal() {
        return typed();
    }
    let mut bytes = Vec::new();
    // With a byte of room left, the end is seen without growing. Where there is no room, reading
    // fails.
    let size = outside::STDIN_SIZE.unwrap_or(0).min(MAX_PATCH_SIZE);
    let _ = bytes.try_reserve_exact(size as usize + 1);
    let mut stdin = std::io::stdin().lock().take(MAX_PATCH_SIZE + 1);
    let mut first = [0; 8192];
    let length = loop {
        match stdin.read(&mut first) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            result => break result?,
        }
    };
    bytes.extend_from_slice(&first[..length]);
    // All of a small file, and there was room for more: this is the end.
    if length as u64 != size || length == first.len() {
        stdin.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads what is typed or pasted at a terminal.
fn typed() -> std::io::Result<Vec<u8>> {
    /// A terminal cuts lines that are longer, and does not say so.
    const LONGEST: usize = if cfg!(windows) {
        usize::MAX
    } else if cfg!(target_os = "linux") {
        4095
    } else {
        1023
    };
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin().lock().take(MAX_PATCH_SIZE + 1);
    let mut begun = false;
    let mut ended = false;
    // Text pasted behind the end is read, too: the shell would run it.
    while !ended || outside::has_typed() {
        let start = bytes.len();
        if stdin.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let line = &bytes[start..];
        if line.len() >= LONGEST {
            let message = format!(
                "a terminal cuts lines of {LONGEST} bytes and more, and here is one: save the patch \
                 as a file and name that"
            );
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, message));
        }
        begun |= line.trim_ascii() == b"*** Begin Patch";
        ended |= begun && line.trim_ascii() == b"*** End Patch";
    }
    Ok(bytes)
}

/// Reads the patch from `file`, or from standard input.
pub(crate) fn read(file: Option<&Path>) -> Result<Input, Failure> {
    open(file)?.read()
}
