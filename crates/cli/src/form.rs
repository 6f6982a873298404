//! What the input is: a patch in the envelope, a diff, or operations as JSON. All become the first.

use file_tools::ops;
use patch_engine::convert;
use patch_grammar::detect::{self, DetectError};

use crate::args::InputForm;
use crate::failure::Failure;
use crate::input::Input;
use crate::render;

/// The input as a patch in the envelope; what was done for that is printed to standard error, unless `quiet`.
pub(crate) fn envelope(input: Input, from: InputForm, quiet: bool) -> Result<Input, Failure> {
    let failed = |message: &dyn std::fmt::Display| Failure::Unreadable(format!("{}: {message}", input.name));
    let (form, text) = match from {
        InputForm::Auto => {
            let text = patch_engine::decode(&input.bytes).map_err(|error| Failure::parse(&input, error))?;
            detected(&input, text, quiet).map_err(|problem| match problem {
                DetectError::Nothing => failed(
                    &"there is no patch in it: wanted `*** Begin Patch`, a unified or git diff, or items of the Responses API",
                ),
                several @ DetectError::Several(_) => failed(&several),
            })?
        }
        InputForm::Envelope => return Ok(input),
        form => (form, String::from_utf8_lossy(&input.bytes).into_owned()),
    };
    let patch = match form {
        InputForm::Auto | InputForm::Envelope => return Ok(Input { bytes: text.into_bytes(), ..input }),
        InputForm::Unified => {
            let (diff, notes) = detect::normal_headers(&text);
            print_notes(&input, quiet, &notes);
            convert::from_diff(&diff).map_err(|error| failed(&error))?
        }
        InputForm::Openai => {
            let converted = ops::calls(&text).and_then(|calls| ops::to_envelope(&calls));
            converted.map_err(|error| failed(&error))?
        }
    };
    let from_diff = form == InputForm::Unified;
    Ok(Input { bytes: patch.into_bytes(), name: format!("{}, converted", input.name), from_diff })
}

/// The one patch of a text, and its form.
fn detected(input: &Input, text: &str, quiet: bool) -> Result<(InputForm, String), DetectError> {
    let whole = text.strip_prefix('\u{feff}').unwrap_or(text);
    if whole.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(whole).is_ok() {
        return Ok((InputForm::Openai, whole.to_owned()));
    }
    let found = detect::find(text)?;
    print_notes(input, quiet, &found.notes);
    let form = match found.kind {
        detect::DetectedKind::Envelope => InputForm::Envelope,
        detect::DetectedKind::Diff => InputForm::Unified,
    };
    Ok((form, found.text))
}

fn print_notes(input: &Input, quiet: bool, notes: &[String]) {
    for note in notes.iter().filter(|_| !quiet) {
        render::message(&format!("note: {}: {note}", input.name));
    }
}
