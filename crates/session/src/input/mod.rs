//! Patches as input: an envelope, a diff, or operations of the Responses API, which become an
//! envelope; and the conversion of one form to another.

mod error;
mod mail;
#[cfg(not(feature = "shell"))]
mod no_shell;
mod not_received;
pub mod ops;
pub mod paths;
pub mod received;
mod shell;

use std::sync::Arc;

use patch_engine::{
    AddNewline, ChangeKind, Files, Options, ParseError, ParseErrorKind, Patch, parse, reverse,
};
use patch_grammar::detect::{self, Bare, DetectedKind};
use patch_grammar::diff::{self, DiffOptions};
use patch_grammar::{ParseOptions, Section, Text, blocks, envelope, other_form};
use serde_json::Value;

use crate::answer::changes;
use crate::answer::error::ToolError;
pub use crate::input::error::InputError;
use crate::input::ops::{CallLines, PatchCall};
use crate::input::paths::{PathRules, beneath};
use crate::input::received::{NotReceived, Part, Received, ReceivedForm};
use crate::settings::Choice;
use crate::settings::choice::named_choices;

patch_grammar::named! {
    /// What a text is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum InputForm {
        /// A patch in the envelope.
        Envelope = "envelope",
        /// A unified or git diff.
        Unified = "unified",
        /// Operations of the Responses API.
        Openai = "openai",
        /// SEARCH/REPLACE blocks.
        Blocks = "blocks",
        /// Any of them, also wrapped in something that can be taken off.
        #[default]
        Auto = "auto",
    }
}

/// How a text is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadAs {
    /// What it is.
    pub form: InputForm,
    /// Which of several patches is meant; for [`InputForm::Auto`] only.
    pub part: Option<Part>,
    /// How many leading components to strip from the paths of a diff. Default: the prefixes that
    /// git writes.
    pub strip: Option<usize>,
    /// Whether binary files of a diff are left out whose bytes it does not have.
    pub skip_binary: bool,
    /// Whether the last hunk of a diff is taken as it stands, whatever its numbers promise.
    pub recount: bool,
    /// Whether the patch is to be reversed.
    pub reverse: bool,
    /// The directory that its paths are beneath, and which of its files are taken.
    pub paths: PathRules,
}

/// The text of a patch, and how it is parsed.
#[derive(Debug, Clone)]
pub struct PatchText {
    /// An envelope, or a diff.
    pub text: Text,
    /// How to read the text if it is a diff.
    pub diff: Option<DiffOptions>,
    /// What was done to find the patch.
    pub notes: Vec<String>,
    /// Whether it is to be reversed.
    pub reverse: bool,
    /// The calls that the envelope was written from here.
    pub calls: Vec<CallLines>,
    /// Whether old lines must be exact and unique, and no file is replaced, as in blocks.
    pub exact: bool,
    /// The directory that its paths are beneath, and which of its files are taken.
    pub paths: PathRules,
    /// What the envelope was written from, where its lines can be told.
    origin: Option<Arc<Origin>>,
    /// The patch, if finding it in the text took parsing it.
    parsed: Option<Patch>,
}

/// A text from which an envelope was written.
#[derive(Debug)]
struct Origin {
    text: Text,
    /// Which of its lines each line of the envelope is, both from 1.
    lines: Vec<u32>,
}

impl ToolError {
    /// Makes the error of a text that does not parse as an envelope, and names what is wrapped
    /// around the patch.
    #[must_use]
    pub fn parse_sent(sent: &[u8], error: &ParseError) -> Self {
        let mut own = Self::parse(error);
        if let Some(wrapper) = received::wrapper(sent) {
            own.message += &format!("; {wrapper}");
        }
        own
    }
}

fn usage<T>(problem: &str) -> Result<T, InputError> {
    Err(InputError::Usage(problem.into()))
}

impl PatchText {
    /// Takes a text as a diff, if it says how to read one, or else as an envelope.
    #[must_use]
    pub fn new(text: impl Into<Text>, diff: Option<DiffOptions>) -> Self {
        Self {
            text: text.into(),
            diff,
            notes: Vec::new(),
            reverse: false,
            calls: Vec::new(),
            exact: false,
            paths: PathRules::default(),
            origin: None,
            parsed: None,
        }
    }

    /// Returns the text that lines of the patch are counted in: what was sent, or what was found in
    /// that.
    #[must_use]
    pub fn shown(&self) -> &Text {
        self.origin.as_ref().map_or(&self.text, |origin| &origin.text)
    }

    /// Takes another text in the same form.
    #[must_use]
    pub fn with_text(&self, text: impl Into<Text>) -> Self {
        Self { text: text.into(), origin: None, parsed: None, ..self.clone() }
    }

    /// Joins patches to one, in their order. Also returns at which line of its text the lines of
    /// each begin, and which line of that one this is; from 1.
    ///
    /// # Errors
    ///
    /// When they are of several forms: an envelope, a diff, blocks.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn join(all: &[&Self]) -> Result<(Self, Vec<(usize, usize)>), NotReceived> {
        let first = all.first().expect("BUG: there is a patch");
        if all
            .iter()
            .any(|one| one.diff.is_some() != first.diff.is_some() || one.exact != first.exact)
        {
            return Err(NotReceived::MixedParts);
        }
        let kind = if first.diff.is_some() { DetectedKind::Diff } else { DetectedKind::Envelope };
        let (text, begins) = received::one_of(kind, all.iter().map(|one| one.text.as_bytes()));
        let mut notes = Vec::new();
        for note in all.iter().flat_map(|one| &one.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let ended = |one: &&Self| one.diff.is_some_and(|diff| diff.ended);
        let ended = all.iter().all(ended);
        let diff = first.diff.map(|diff| DiffOptions { ended, ..diff });
        let calls = all.iter().zip(&begins).flat_map(|(one, (from, line))| {
            one.calls.iter().map(move |call| call.moved(*line, *from))
        });
        let calls = calls.collect();
        Ok((Self { notes, calls, diff, ..first.with_text(text) }, begins))
    }

    /// Finds the patch in a text; it will be parsed with `options`, and is already where that is
    /// needed to find it.
    ///
    /// # Errors
    ///
    /// When there is not exactly one patch, or `how` does not suit it.
    pub fn read(sent: &Text, how: &ReadAs, options: &ParseOptions) -> Result<Self, InputError> {
        if options.to_the_letter && how.form == InputForm::Auto && how.part.is_none() {
            // A text is what its form says, and one without a form is an envelope.
            let how = ReadAs { form: InputForm::Envelope, ..how.clone() };
            return Self::read(sent, &how, options);
        }
        match how.form {
            InputForm::Envelope | InputForm::Openai | InputForm::Blocks if how.strip.is_some() => {
                return usage(
                    "`strip` is about the paths of a diff, and the text is read as another form",
                );
            }
            InputForm::Auto => {}
            _ if how.part.is_some() => {
                return usage(
                    "`part` is one of several patches in a text, and this is read as one patch",
                );
            }
            _ => {}
        }
        if matches!(how.form, InputForm::Auto | InputForm::Unified)
            && let Some(plain) = mail::decoded(sent.as_bytes())
        {
            let mut read = Self::read_plain(&plain.into(), how, options)?;
            read.notes.insert(0, "decoded the text of the mail".into());
            return Ok(read);
        }
        Self::read_plain(sent, how, options)
    }

    fn read_plain(sent: &Text, how: &ReadAs, options: &ParseOptions) -> Result<Self, InputError> {
        let paths = how.paths.clone();
        let given = Self { reverse: how.reverse, paths, ..Self::new(sent.clone(), None) };
        let sent = sent.as_bytes();
        let diff = DiffOptions {
            strip: how.strip,
            skip_binary: how.skip_binary,
            recount: how.recount,
            ..DiffOptions::default()
        };
        let of_calls = |calls: &[PatchCall], notes| {
            let text = ops::to_envelope(calls)?.into();
            Ok(Self { text, notes, calls: ops::lines_of(calls), ..given.clone() })
        };
        let of_blocks = |found: blocks::Converted, sent: Text, notes: Vec<String>| Self {
            text: found.text.into(),
            notes,
            exact: true,
            origin: Some(Arc::new(Origin { text: sent, lines: found.lines })),
            ..given.clone()
        };
        match how.form {
            InputForm::Envelope => Ok(given),
            InputForm::Blocks => {
                if !blocks::are_in(sent) {
                    return Err(in_other_form(sent, how.form, options, NotReceived::Nothing));
                }
                let mut found = blocks::to_envelope(sent)?;
                let notes = std::mem::take(&mut found.notes);
                Ok(of_blocks(found, given.text.clone(), notes))
            }
            InputForm::Unified => Ok(Self { diff: Some(diff), ..given }),
            InputForm::Openai => {
                match ops::calls(&String::from_utf8_lossy(sent)) {
                    Ok(calls) => of_calls(&calls, Vec::new()),
                    // Operations may come without their call items.
                    Err(error) => match received::receive(sent, Part::default()) {
                        Ok(Received { form: ReceivedForm::Calls(calls), notes }) => {
                            of_calls(&calls, notes)
                        }
                        _ => Err(in_other_form(sent, how.form, options, error)),
                    },
                }
            }
            InputForm::Auto => {
                // A text that is a patch as it stands is not searched, and one that has a patch
                // plainly in it is not copied; if the search finds nothing, the parser's error
                // counts.
                let most = DiffOptions { max_sections: options.max_sections, ..diff };
                if how.part.is_none()
                    && let Some(patch) = received::plain_diff(&given.text, &most)
                {
                    return Ok(Self { diff: Some(diff), parsed: Some(patch), ..given });
                }
                if how.part.is_none() && how.strip.is_none() {
                    if detect::is_bare(sent) {
                        return Ok(given);
                    }
                    let found = if detect::may_stand_alone(sent) {
                        Some((given.text.clone(), Vec::new()))
                    } else {
                        let part =
                            |Bare { range, notes, .. }| (given.text.clone().part(range), notes);
                        received::plain(sent).map(part)
                    };
                    if let Some((text, notes)) = found
                        && let Ok(patch) = parse(text.clone(), options)
                    {
                        return Ok(Self { text, notes, parsed: Some(patch), ..given });
                    }
                }
                let received = received::receive(sent, how.part.unwrap_or_default());
                if how.strip.is_some()
                    && !matches!(received, Ok(Received { form: ReceivedForm::Diff { .. }, .. }))
                {
                    return usage("`strip` is about the paths of a diff, and this is none");
                }
                match received {
                    Ok(Received { form: ReceivedForm::Envelope(bytes), notes }) => {
                        Ok(Self { text: bytes.into(), notes, ..given })
                    }
                    Ok(Received { form: ReceivedForm::Joined { text, lines, sent }, notes }) => {
                        let origin = Some(Arc::new(Origin { text: sent.into(), lines }));
                        Ok(Self { text: text.into(), notes, origin, ..given })
                    }
                    Ok(Received { form: ReceivedForm::Diff { text, ended }, notes }) => {
                        // A copy is not kept.
                        let text = if text == sent { given.text.clone() } else { text.into() };
                        let diff = Some(DiffOptions { ended, ..diff });
                        Ok(Self { text, diff, notes, ..given })
                    }
                    Ok(Received { form: ReceivedForm::Beneath(directory, bytes), notes }) => {
                        let patch = parse(&bytes, options)
                            .map_err(|error| NotReceived::parse(&bytes, error))?;
                        let text = envelope_beneath(&directory, &patch);
                        Ok(Self { text: text.into(), notes, ..given })
                    }
                    Ok(Received { form: ReceivedForm::Blocks { found, text }, notes }) => {
                        Ok(of_blocks(found, text.into(), notes))
                    }
                    Ok(Received { form: ReceivedForm::Calls(calls), notes }) => {
                        of_calls(&calls, notes)
                    }
                    Err(NotReceived::Nothing) => match parse(given.text.clone(), options)
                        .map_err(|error| other_form(sent).unwrap_or(error))
                    {
                        Err(mut error) if error.kind == ParseErrorKind::NoBegin => {
                            if let Err(found) = diff::parse(given.text, &diff)
                                && found.kind == ParseErrorKind::NoFile
                            {
                                return Err(found.into());
                            }
                            error.expected.extend([
                                "a unified or git diff",
                                "SEARCH/REPLACE blocks",
                                "operations of the Responses API",
                            ]);
                            if !patch_grammar::has_part_of_patch(sent) {
                                error.kind = ParseErrorKind::NoPatch;
                            }
                            Err(error.into())
                        }
                        // What is in the fence is no patch.
                        Err(error) if error.kind == ParseErrorKind::Wrapped => {
                            Err(NotReceived::Nothing.into())
                        }
                        Err(error) if matches!(error.kind, ParseErrorKind::OtherForm { .. }) => {
                            Err(error.into())
                        }
                        _ => Ok(given),
                    },
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    /// Finds and parses the patch in what a tool was sent, in any form.
    ///
    /// # Errors
    ///
    /// When there is not exactly one patch, or it does not parse.
    pub fn parsed(sent: &str, options: &Options) -> Result<(Self, Patch), ToolError> {
        let read = Self::read(&sent.into(), &ReadAs::default(), &options.parse);
        let text = read.map_err(|error| error.tool_error(sent.as_bytes()))?;
        let patch = text.parse(options);
        let patch = patch.map_err(|error| error.tool_error(text.text.as_bytes()))?;
        Ok((text, patch))
    }

    /// Parses the patch, unless that is done, takes what is wanted of it, and reverses it if asked
    /// to.
    ///
    /// # Errors
    ///
    /// When it does not parse, or cannot be reversed.
    pub fn parse(&self, options: &Options) -> Result<Patch, InputError> {
        let text = self.text.clone();
        let patch = match (&self.parsed, &self.diff) {
            (Some(patch), _) => Ok(patch.clone()),
            (None, Some(how)) => {
                let max_sections = options.parse.max_sections;
                diff::parse(text, &DiffOptions { max_sections, ..*how })
            }
            (None, None) => parse(text, &options.parse),
        };
        let own = if self.diff.is_some() { InputForm::Unified } else { InputForm::Envelope };
        let mut patch = patch
            .map_err(|error| in_other_form(self.text.as_bytes(), own, &options.parse, error))?;
        if let Some(origin) = &self.origin {
            patch = patch.from_lines(&origin.lines);
        }
        patch.notes = self.notes.clone();
        patch.exact = self.exact;
        patch.to_the_letter = options.parse.to_the_letter;
        let patch = self.paths.of(patch, self.reverse);
        Ok(if self.reverse { reverse(&patch, options)? } else { patch })
    }
}

/// Returns the error of a text that is no patch in a form: that it is one in another, if it is.
fn in_other_form(
    sent: &[u8],
    own: InputForm,
    options: &ParseOptions,
    error: impl Into<InputError>,
) -> InputError {
    let Ok(Received { form, .. }) = received::receive(sent, Part::Only) else {
        return error.into();
    };
    let found = match form {
        ReceivedForm::Envelope(_) | ReceivedForm::Joined { .. } | ReceivedForm::Beneath(..) => {
            InputForm::Envelope
        }
        ReceivedForm::Blocks { .. } => InputForm::Blocks,
        ReceivedForm::Diff { .. } => InputForm::Unified,
        ReceivedForm::Calls(_) => InputForm::Openai,
    };
    match own {
        own if found == own => error.into(),
        InputForm::Envelope if options.to_the_letter => {
            NotReceived::NotAnEnvelope(form.words()).into()
        }
        _ => NotReceived::OtherForm(form.words()).into(),
    }
}

/// Puts the paths of an envelope beneath a directory; its lines keep their numbers.
fn envelope_beneath(directory: &str, patch: &Patch) -> Vec<u8> {
    let directory = directory.trim_start_matches("./").trim_end_matches('/');
    let text = patch.text();
    if matches!(directory, "" | ".") {
        return text.as_bytes().to_vec();
    }
    let mut paths: Vec<_> = patch.sections().iter().flat_map(Section::paths).collect();
    paths.sort_unstable_by_key(|path| path.span.start);
    let (mut out, mut done) = (Vec::new(), text.range().start);
    for path in paths {
        out.extend_from_slice(patch.bytes(done..path.span.start));
        out.extend_from_slice(beneath(directory, &path.text).as_bytes());
        done = path.span.end;
    }
    out.extend_from_slice(patch.bytes(done..text.range().end));
    out
}

patch_grammar::named! {
    /// The form that a patch is converted to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum OutputForm {
        /// A patch in the envelope.
        Envelope = "envelope",
        /// A unified diff, made against files.
        Unified = "unified",
        /// A git diff, made against files.
        Git = "git",
        /// Items of the Responses API.
        Openai = "openai",
    }
}

named_choices! { false: InputForm, OutputForm }

/// A patch in another form.
#[derive(Debug)]
pub enum Converted {
    /// Text, with what a reader should know: what was left out, corrected or overlooked.
    Text(Vec<u8>, Vec<String>),
    /// Items of a response, with the same.
    Items(Vec<Value>, Vec<String>),
}

/// Converts a patch to another form. `files` returns the files that a diff is made against: only
/// they have the line numbers and the removed text.
///
/// # Errors
///
/// When the text is not a patch, does not apply to the files, or the form cannot express it.
pub fn convert(
    text: &PatchText,
    to: OutputForm,
    options: &Options,
    files: &mut dyn FnMut() -> Result<Files, ToolError>,
) -> Result<Converted, InputError> {
    let mut patch = text.parse(options)?;
    let told = patch.warnings.iter().map(|warning| format!("patch {warning}"));
    let notes: Vec<_> = patch.notes.iter().cloned().chain(told).collect();
    if (text.diff.is_some() || text.reverse || !text.paths.are_none())
        && matches!(to, OutputForm::Envelope | OutputForm::Openai)
    {
        // The numbers of a diff are lost, which say how long its last hunk is.
        if let Some(error) = diff::may_be_cut_off(&patch) {
            return Err(error.into());
        }
        // A diff, or a patch that is not taken as it stands, is written as an envelope first.
        let order = patch_engine::in_sequence(&patch).map_err(|path| {
            InputError::Inexpressible(format!(
                "{path}: it goes to a place that another file or a directory has to leave at \
                 the same time, and the sections of this form follow one another"
            ))
        })?;
        patch = patch.map_sections(|all| order.iter().map(|&nth| all[nth].clone()).collect());
        let envelope =
            envelope::write(&patch).map_err(|error| InputError::Unreadable(error.to_string()))?;
        patch = parse(envelope, &options.parse)?;
    }
    match to {
        OutputForm::Envelope => Ok(Converted::Text(patch.text().as_bytes().to_vec(), notes)),
        OutputForm::Openai => {
            let calls = ops::from_patch(&patch, options.add_newline == AddNewline::EveryLine)?;
            Ok(Converted::Items(calls.iter().map(PatchCall::item).collect(), notes))
        }
        OutputForm::Unified | OutputForm::Git => {
            let files = files().map_err(Box::new)?;
            let plan = patch_engine::plan(&files, &patch, options)?;
            let changed = |error: fs_guard::Error| Box::new(ToolError::from(error));
            let mut out = Vec::new();
            let mut changes: Vec<_> = plan.changes().iter().collect();
            // Its sections follow one another, and a file may make way for a directory.
            if to == OutputForm::Unified {
                changes.sort_by_key(|change| change.operation != ChangeKind::Delete);
            }
            for change in changes {
                let images = plan.images();
                let diff = match to {
                    OutputForm::Git => Some(images.binary_diff(change).map_err(changed)?),
                    _ => images.plain_diff(change).map_err(changed)?,
                };
                let message = || {
                    format!(
                        "{}: a plain unified diff cannot express this change; the form `git` can",
                        change.path
                    )
                };
                out.extend(diff.ok_or_else(|| InputError::Inexpressible(message()))?);
            }
            Ok(Converted::Text(out, changes::notes(&plan)))
        }
    }
}
