//! What the input is: a patch in the envelope, a diff, or operations as JSON, which become the first.

use file_tools::ops::{self, OpsError, PatchCall};
use file_tools::received::{self, NotReceived, Received, ReceivedForm};
use patch_engine::{Options, ParseError, ParseErrorKind, Patch, Rejects, reverse};
use patch_grammar::ParseOptions;
use patch_grammar::detect;
use patch_grammar::diff::{Diff, DiffOptions};

use crate::args::{From, InputForm};
use crate::failure::Failure;
use crate::input::Input;

/// The input as an envelope or a diff, with notes of what was done for that. `options` are those that it will be parsed with.
pub(crate) fn of(input: Input, from: &From, options: &ParseOptions) -> Result<Input, Failure> {
    let reverse = from.reverse;
    found(input, from, options).map(|found| Input { reverse, ..found })
}

fn found(input: Input, from: &From, options: &ParseOptions) -> Result<Input, Failure> {
    let usage = |problem: &str| Err(Failure::Usage(problem.into()));
    let name = input.name.clone();
    let unreadable = |error: &dyn std::fmt::Display| Failure::Unreadable(format!("{name}: {error}"));
    match from.from {
        InputForm::Envelope | InputForm::Openai if from.strip.is_some() => {
            return usage("--strip is about the paths of a diff: use it with --from unified or auto");
        }
        InputForm::Envelope | InputForm::Unified | InputForm::Openai if from.part.is_some() => {
            return usage("--part chooses among what --from auto finds");
        }
        _ => {}
    }
    let diff = |bytes, notes| {
        let how = DiffOptions { strip: from.strip, ..DiffOptions::default() };
        Input { diff: Some(how), notes, ..Input::new(bytes, name.clone()) }
    };
    let converted = |calls: Result<Vec<PatchCall>, OpsError>, notes| {
        let patch = calls.and_then(|calls| ops::to_envelope(&calls)).map_err(|error| unreadable(&error))?;
        Ok(Input { notes, ..Input::new(patch.into_bytes(), format!("{name}, converted")) })
    };
    match from.from {
        InputForm::Envelope => Ok(input),
        InputForm::Unified => Ok(diff(input.bytes, Vec::new())),
        InputForm::Openai => converted(ops::calls(&String::from_utf8_lossy(&input.bytes)), Vec::new()),
        InputForm::Auto => {
            // What is a patch as it stands is not looked into; the parser says what is wrong with what holds none.
            let as_it_stands = from.part.is_none() && from.strip.is_none();
            if as_it_stands && detect::is_bare(&input.bytes) {
                return Ok(input);
            }
            let parsed = input.parse(options).map(|_| ());
            if as_it_stands && parsed.is_ok() {
                return Ok(input);
            }
            let received = received::receive(&input.bytes, from.part.unwrap_or_default());
            if from.strip.is_some() && !matches!(received, Ok(Received { form: ReceivedForm::Diff(_), .. })) {
                return usage("--strip is about the paths of a diff, and this is none");
            }
            match received {
                Ok(Received { form: ReceivedForm::Envelope(bytes), notes }) => Ok(Input { bytes, notes, ..input }),
                Ok(Received { form: ReceivedForm::Diff(bytes), notes }) => Ok(diff(bytes, notes)),
                Ok(Received { form: ReceivedForm::Calls(calls), notes }) => converted(Ok(calls), notes),
                Err(NotReceived::Nothing) => match parsed {
                    Err(mut error) if error.kind == ParseErrorKind::NoBegin => {
                        error.expected.extend(["a unified or git diff", "operations of the Responses API"]);
                        Err(Failure::parse(&input, error))
                    }
                    _ => Ok(input),
                },
                Err(error) => Err(unreadable(&error)),
            }
        }
    }
}

/// Why an input is no patch that could be planned.
pub(crate) enum Unread {
    /// It does not parse.
    Parse(ParseError),
    /// It is to be taken back, and cannot be.
    Irreversible(Rejects),
}

impl Unread {
    /// The failure, with the input that it is about.
    pub(crate) fn of(self, input: Input) -> Failure {
        match self {
            Self::Parse(error) => Failure::Parse(Box::new((input, error))),
            Self::Irreversible(rejects) => Failure::Rejected(Box::new((input, rejects))),
        }
    }
}

/// Reads the patch of an input, reverses it where that is wanted, and lets `then` do the rest.
pub(crate) fn parsed<T>(input: &Input, options: &Options, then: impl FnOnce(&Patch<'_>) -> T) -> Result<T, Unread> {
    let run = |patch: Patch<'_>| {
        let patch = Patch { notes: input.notes.clone(), ..patch };
        match input.reverse {
            true => reverse(&patch, options).map_err(Unread::Irreversible).map(|patch| then(&patch)),
            false => Ok(then(&patch)),
        }
    };
    match &input.diff {
        Some(how) => {
            let how = DiffOptions { max_sections: options.parse.max_sections, ..*how };
            let diff = Diff::parse(&input.bytes[..], &how).map_err(Unread::Parse)?;
            run(diff.patch())
        }
        None => run(input.parse(&options.parse).map_err(Unread::Parse)?),
    }
}
