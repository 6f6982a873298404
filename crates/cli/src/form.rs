//! What the input is: a patch in the envelope, a diff, or operations as JSON, which become the first.

use file_tools::ops;
use patch_engine::{ParseError, Patch};
use patch_grammar::ParseOptions;
use patch_grammar::detect::{self, DetectError};
use patch_grammar::diff::{Diff, DiffOptions};

use crate::args::{From, InputForm};
use crate::failure::Failure;
use crate::input::Input;
use crate::render;

/// The input as an envelope or a diff; what was done for that is printed to standard error, unless `quiet`.
pub(crate) fn of(input: Input, from: &From, quiet: bool) -> Result<Input, Failure> {
    let failed = |message: &dyn std::fmt::Display| Failure::Unreadable(format!("{}: {message}", input.name));
    let (form, bytes) = match from.from {
        InputForm::Auto => detected(&input, quiet).map_err(|problem| match problem {
            DetectError::Nothing => failed(
                &"there is no patch in it: wanted `*** Begin Patch`, a unified or git diff, or items of the Responses API",
            ),
            several @ DetectError::Several(_) => failed(&several),
        })?,
        InputForm::Envelope | InputForm::Openai if from.strip.is_some() => {
            return Err(Failure::Usage("--strip is about the paths of a diff: use it with --from unified or auto".into()));
        }
        InputForm::Envelope => return Ok(input),
        form => (form, input.bytes),
    };
    let name = input.name;
    Ok(match form {
        InputForm::Auto | InputForm::Envelope => Input { bytes, name, diff: None },
        InputForm::Unified => {
            let how = DiffOptions { strip: from.strip, ..DiffOptions::default() };
            Input { bytes, name, diff: Some(how) }
        }
        InputForm::Openai => {
            let text = String::from_utf8_lossy(&bytes);
            let converted = ops::calls(&text).and_then(|calls| ops::to_envelope(&calls));
            let patch = converted.map_err(|error| Failure::Unreadable(format!("{name}: {error}")))?;
            Input::new(patch.into_bytes(), format!("{name}, converted"))
        }
    })
}

/// Reads the patch of an input, and lets `then` do the rest.
pub(crate) fn parsed<T>(
    input: &Input,
    options: &ParseOptions,
    then: impl FnOnce(&Patch<'_>) -> T,
) -> Result<T, ParseError> {
    match &input.diff {
        Some(how) => {
            let how = DiffOptions { max_sections: options.max_sections, ..*how };
            let diff = Diff::parse(&input.bytes[..], &how)?;
            Ok(then(&diff.patch()))
        }
        None => {
            let patch = input.parse(options)?;
            Ok(then(&patch))
        }
    }
}

/// The one patch of a text, and its form.
fn detected(input: &Input, quiet: bool) -> Result<(InputForm, Vec<u8>), DetectError> {
    let whole = input.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&input.bytes);
    let is_json = whole.trim_ascii_start().starts_with(b"{") || whole.trim_ascii_start().starts_with(b"[");
    if is_json && serde_json::from_slice::<serde::de::IgnoredAny>(whole).is_ok() {
        return Ok((InputForm::Openai, whole.to_owned()));
    }
    let found = detect::find(&input.bytes)?;
    for note in found.notes.iter().filter(|_| !quiet) {
        render::message(&format!("note: {}: {note}", input.name));
    }
    let form = match found.kind {
        detect::DetectedKind::Envelope => InputForm::Envelope,
        detect::DetectedKind::Diff => InputForm::Unified,
    };
    Ok((form, found.text))
}
