//! Patches as input: an envelope, a diff, SEARCH/REPLACE blocks, edits, or operations of the
//! Responses API; and the conversion of one form to another.

pub mod edits;
mod error;
mod fields;
pub mod files;
mod mail;
#[cfg(not(feature = "shell"))]
mod no_shell;
mod not_received;
pub mod ops;
pub mod paths;
pub mod received;
mod shell;
mod tags;

use std::sync::Arc;

use memchr::memmem;
use patch_engine::{
    AddNewline, ChangeKind, Files, Options, ParseError, ParseErrorKind, Patch, Plan, parse, reverse,
};
use patch_grammar::detect::{self, Bare, DetectedKind};
use patch_grammar::diff::{self, DiffOptions};
use patch_grammar::{
    ParseOptions, Section, SectionOperation, Text, WholeFiles, blocks, envelope, other_form,
};
use serde_json::Value;

use crate::answer::changes;
use crate::answer::error::ToolError;
use crate::input::edits::{EditedSection, FileEdit};
pub use crate::input::error::InputError;
use crate::input::files::WholeText;
use crate::input::mail::PlainMails;
use crate::input::not_received::wrapped;
use crate::input::ops::{CallLines, PatchCall};
use crate::input::paths::{PathRules, beneath};
use crate::input::received::{NotReceived, Part, Received, ReceivedForm};
use crate::settings::Choice;
use crate::settings::choice::named_choices;

patch_grammar::named! {
    /// The form of a text.
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
        /// Calls of tools that edit files, as JSON.
        Edits = "edits",
        /// Whole files in fences below their paths. They may replace files that are there.
        Files = "files",
        /// Any of the forms, even in a wrapper, if the wrapper can be removed.
        #[default]
        Auto = "auto",
    }
}

/// How a text is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadAs {
    /// The form of the text.
    pub form: InputForm,
    /// Which of several patches is meant; for [`InputForm::Auto`] only.
    pub part: Option<Part>,
    /// How many leading components to strip from the paths of a diff. Default: the prefixes of git.
    pub strip: Option<usize>,
    /// Whether to leave out the binary files of a diff without their bytes.
    pub skip_binary: bool,
    /// Whether to take the last hunk of a diff as it stands, whatever its numbers promise.
    pub recount: bool,
    /// Whether to reverse the patch.
    pub reverse: bool,
    /// The directory above the patch's paths, and the files to take.
    pub paths: PathRules,
}

impl ReadAs {
    fn diff_options(&self) -> DiffOptions {
        DiffOptions {
            strip: self.strip,
            skip_binary: self.skip_binary,
            recount: self.recount,
            ..DiffOptions::default()
        }
    }
}

/// The text of a patch, and how to parse the text.
#[derive(Debug, Clone)]
pub struct PatchText {
    /// An envelope, or a diff.
    pub text: Text,
    /// How to read the text if it is a diff.
    pub diff: Option<DiffOptions>,
    /// The steps taken to find the patch.
    pub notes: Vec<String>,
    /// Whether to reverse the patch.
    pub reverse: bool,
    /// The calls from which the envelope was written.
    pub calls: Vec<CallLines>,
    /// Whether old lines must be exact and unique, and no file is replaced, as in blocks.
    pub exact: bool,
    /// The lines of the files that the hunks of blocks state, from 1.
    starts: Vec<Option<u32>>,
    /// Whether new files stood in the text in full, and may replace others.
    pub whole_files: Option<WholeFiles>,
    /// The sections of an envelope written from edits, whose texts need not be whole lines.
    pub edits: Option<Vec<EditedSection>>,
    /// The directory above the patch's paths, and the files to take.
    pub paths: PathRules,
    /// The source of an envelope written here, if the lines of the source are known.
    origin: Option<Arc<Origin>>,
    /// The patch, if the search had to parse the text.
    parsed: Option<Patch>,
}

/// A text from which an envelope was written.
#[derive(Debug)]
struct Origin {
    text: Text,
    /// For each line of the envelope the line of the text, both from 1.
    lines: Vec<u32>,
}

impl ToolError {
    /// Makes the error of a text that does not parse as an envelope, and names the wrapper around
    /// the patch.
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
    /// Takes a text as a diff, if given the options of one, or else as an envelope.
    #[must_use]
    pub fn new(text: impl Into<Text>, diff: Option<DiffOptions>) -> Self {
        Self {
            text: text.into(),
            diff,
            notes: Vec::new(),
            reverse: false,
            calls: Vec::new(),
            exact: false,
            starts: Vec::new(),
            whole_files: None,
            edits: None,
            paths: PathRules::default(),
            origin: None,
            parsed: None,
        }
    }

    /// Returns the text in which lines of the patch are counted: the sent text, or the part of it
    /// with the patch.
    #[must_use]
    pub fn shown(&self) -> &Text {
        self.origin.as_ref().map_or(&self.text, |origin| &origin.text)
    }

    /// Takes another text in the same form. Edits are then read as whole lines.
    #[must_use]
    pub fn with_text(&self, text: impl Into<Text>) -> Self {
        Self {
            text: text.into(),
            starts: Vec::new(),
            edits: None,
            origin: None,
            parsed: None,
            ..self.clone()
        }
    }

    /// Joins patches to one, in order. Also returns, for each, the line of the joined text where
    /// its lines begin, and the number of that line in its own text; both from 1.
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
        if all.iter().any(|one| one.kind() != first.kind()) {
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
        let ended = all.iter().all(|one| one.diff.is_some_and(|diff| diff.ended));
        let diff = first.diff.map(|diff| DiffOptions { ended, ..diff });
        let calls = all.iter().zip(&begins).flat_map(|(one, (from, line))| {
            one.calls.iter().map(move |call| call.moved(*line, *from))
        });
        let calls = calls.collect();
        let edits = all.iter().map(|one| one.edits.clone()).collect::<Option<Vec<_>>>();
        let edits = edits.map(|all| all.concat());
        // Where one text states no lines, no hunk is known to be the one of another.
        let is_stated = all.iter().all(|one| !one.starts.is_empty());
        let starts = all.iter().filter(|_| is_stated).flat_map(|one| one.starts.clone()).collect();
        Ok((Self { notes, calls, diff, starts, edits, ..first.with_text(text) }, begins))
    }

    /// Returns the form of the text: a diff, exact, of edits.
    fn kind(&self) -> [bool; 3] {
        [self.diff.is_some(), self.exact, self.edits.is_some()]
    }

    /// Finds the patch in a text. `options` are those of the later parse; if finding the patch
    /// takes parsing, the parsed patch is kept.
    ///
    /// # Errors
    ///
    /// When there is not exactly one patch, or `how` does not suit the patch.
    pub fn read(sent: &Text, how: &ReadAs, options: &ParseOptions) -> Result<Self, InputError> {
        if options.to_the_letter && how.form == InputForm::Auto && how.part.is_none() {
            // A text is what its form says, and one without a form is an envelope.
            let how = ReadAs { form: InputForm::Envelope, ..how.clone() };
            return Self::read(sent, &how, options);
        }
        match how.form {
            InputForm::Envelope
            | InputForm::Openai
            | InputForm::Blocks
            | InputForm::Edits
            | InputForm::Files
                if how.strip.is_some() =>
            {
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
            && let Some(plain) = PlainMails::of(sent.as_bytes())
        {
            let mut read = Self::read_plain(&plain.text.into(), how, options)?;
            if plain.was_encoded {
                read.notes.insert(0, "decoded the text of the mail".into());
            }
            return Ok(read);
        }
        Self::read_plain(sent, how, options)
    }

    fn read_plain(sent: &Text, how: &ReadAs, options: &ParseOptions) -> Result<Self, InputError> {
        let paths = how.paths.clone();
        let given = Self { reverse: how.reverse, paths, ..Self::new(sent.clone(), None) };
        match how.form {
            InputForm::Envelope => Ok(given),
            InputForm::Blocks => given.read_blocks(options),
            InputForm::Unified => Ok(Self { diff: Some(how.diff_options()), ..given }),
            InputForm::Openai => given.read_calls(options),
            InputForm::Edits => given.read_edits(options),
            InputForm::Files => given.read_files(options),
            InputForm::Auto => given.read_any(how, options),
        }
    }

    fn read_blocks(self, options: &ParseOptions) -> Result<Self, InputError> {
        let sent = self.text.clone();
        if !blocks::are_in(sent.as_bytes()) {
            let error = NotReceived::Nothing;
            return Err(in_other_form(sent.as_bytes(), InputForm::Blocks, options, error));
        }
        let mut found = blocks::to_envelope(sent.as_bytes())?;
        let notes = std::mem::take(&mut found.notes);
        Ok(self.with_blocks(found, sent, notes))
    }

    fn read_calls(self, options: &ParseOptions) -> Result<Self, InputError> {
        let sent = self.text.as_bytes();
        let error = match ops::calls(&String::from_utf8_lossy(sent)) {
            Ok(calls) => return self.with_calls(&calls, Vec::new()),
            Err(error) => error,
        };
        // Operations may come without their call items.
        match received::receive(sent, Part::default()) {
            Ok(Received { form: ReceivedForm::Calls(calls), notes }) => {
                self.with_calls(&calls, notes)
            }
            _ => Err(in_other_form(sent, InputForm::Openai, options, error)),
        }
    }

    fn read_edits(self, options: &ParseOptions) -> Result<Self, InputError> {
        let sent = self.text.as_bytes();
        match received::receive(sent, Part::default()) {
            Ok(Received { form: ReceivedForm::Edits { edits, text }, notes }) => {
                Ok(self.with_edits(&edits, &text, notes))
            }
            Ok(_) => Err(in_other_form(sent, InputForm::Edits, options, NotReceived::Nothing)),
            Err(error) => Err(error.into()),
        }
    }

    fn read_files(self, options: &ParseOptions) -> Result<Self, InputError> {
        let sent = self.text.as_bytes();
        match received::receive(sent, Part::default()) {
            Ok(Received { form: ReceivedForm::Files { found, text }, notes }) => {
                Ok(self.with_files(found, text.into(), notes, WholeFiles::Replacing))
            }
            Ok(_) => Err(in_other_form(sent, InputForm::Files, options, NotReceived::Nothing)),
            Err(error) => Err(error.into()),
        }
    }

    fn read_any(self, how: &ReadAs, options: &ParseOptions) -> Result<Self, InputError> {
        if how.part.is_none()
            && let Some(plain) = self.plain(how, options)
        {
            return Ok(plain);
        }
        let received = received::receive(self.text.as_bytes(), how.part.unwrap_or_default());
        if how.strip.is_some()
            && !matches!(received, Ok(Received { form: ReceivedForm::Diff { .. }, .. }))
        {
            return usage("`strip` is about the paths of a diff, and this is none");
        }
        match received {
            Ok(received) => self.with_received(received, how, options),
            Err(NotReceived::Nothing) => self.with_nothing_received(how, options),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a patch that is all of the text, or stands plainly in the text: the first is not
    /// searched, the second not copied.
    fn plain(&self, how: &ReadAs, options: &ParseOptions) -> Option<Self> {
        let diff = how.diff_options();
        let most = DiffOptions { max_sections: options.max_sections, ..diff };
        if let Some(patch) = received::plain_diff(&self.text, &most) {
            return Some(Self { diff: Some(diff), parsed: Some(patch), ..self.clone() });
        }
        if how.strip.is_some() {
            return None;
        }
        let sent = self.text.as_bytes();
        // Blocks may stand in an envelope.
        if memmem::find(sent, b"\n<<<<<").is_some() {
            return None;
        }
        if detect::is_bare(sent) {
            return Some(self.clone());
        }
        let (text, notes) = if detect::may_stand_alone(sent) {
            (self.text.clone(), Vec::new())
        } else {
            let Bare { range, notes, .. } = received::plain(sent)?;
            (self.text.clone().part(range), notes)
        };
        let patch = parse(text.clone(), options).ok()?;
        Some(Self { text, notes, parsed: Some(patch), ..self.clone() })
    }

    fn with_received(
        self,
        received: Received,
        how: &ReadAs,
        options: &ParseOptions,
    ) -> Result<Self, InputError> {
        let Received { form, notes } = received;
        match form {
            ReceivedForm::Envelope(bytes) => Ok(Self { text: bytes.into(), notes, ..self }),
            ReceivedForm::Joined { text, lines, sent } => {
                let origin = Some(Arc::new(Origin { text: sent.into(), lines }));
                Ok(Self { text: text.into(), notes, origin, ..self })
            }
            ReceivedForm::Diff { text, ended } => {
                // A copy is not kept.
                let is_all = text == self.text.as_bytes();
                let text = if is_all { self.text.clone() } else { text.into() };
                let diff = Some(DiffOptions { ended, ..how.diff_options() });
                Ok(Self { text, diff, notes, ..self })
            }
            ReceivedForm::Beneath(directory, bytes) => {
                let patch =
                    parse(&bytes, options).map_err(|error| NotReceived::parse(&bytes, error))?;
                let text = envelope_beneath(&directory, &patch);
                Ok(Self { text: text.into(), notes, ..self })
            }
            ReceivedForm::Blocks { found, text } => Ok(self.with_blocks(found, text.into(), notes)),
            ReceivedForm::Calls(calls) => self.with_calls(&calls, notes),
            ReceivedForm::Files { found, text } => {
                Ok(self.with_files(found, text.into(), notes, WholeFiles::New))
            }
            ReceivedForm::Edits { edits, text } => Ok(self.with_edits(&edits, &text, notes)),
        }
    }

    /// Takes a text without a patch as an envelope, for the parser's error, or returns a better
    /// error.
    fn with_nothing_received(
        self,
        how: &ReadAs,
        options: &ParseOptions,
    ) -> Result<Self, InputError> {
        let Err(error) = parse(self.text.clone(), options) else { return Ok(self) };
        let sent = self.text.as_bytes();
        let mut error = other_form(sent).unwrap_or(error);
        match error.kind {
            ParseErrorKind::NoBegin => {
                if let Err(found) = diff::parse(self.text.clone(), &how.diff_options())
                    && found.kind == ParseErrorKind::NoFile
                {
                    return Err(found.into());
                }
                if mail::is_mail(sent) {
                    let mail = "this mail changes nothing: a cover letter, or one without a diff";
                    return wrapped(mail, "leave it out").map_err(InputError::from);
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
            // There is no patch in the fence.
            ParseErrorKind::Wrapped => Err(NotReceived::Nothing.into()),
            ParseErrorKind::OtherForm { .. } => Err(error.into()),
            _ => Ok(self),
        }
    }

    /// Takes the envelope written from blocks in the text `sent`.
    fn with_blocks(self, found: blocks::Converted, sent: Text, notes: Vec<String>) -> Self {
        let origin = Some(Arc::new(Origin { text: sent, lines: found.lines }));
        let starts = found.starts;
        Self { text: found.text.into(), notes, exact: true, starts, origin, ..self }
    }

    /// Takes the envelope written from whole files in the text `sent`.
    fn with_files(
        self,
        found: WholeText,
        sent: Text,
        notes: Vec<String>,
        whole_files: WholeFiles,
    ) -> Self {
        let origin = Some(Arc::new(Origin { text: sent, lines: found.lines }));
        let whole_files = Some(whole_files);
        Self { text: found.text.into(), notes, exact: true, whole_files, origin, ..self }
    }

    /// Takes the envelope written from edits in the JSON `sent`.
    fn with_edits(self, all: &[FileEdit], sent: &[u8], notes: Vec<String>) -> Self {
        let written = edits::to_envelope(all, &String::from_utf8_lossy(sent));
        let origin = Some(Arc::new(Origin { text: sent.into(), lines: written.lines }));
        let edits = Some(written.sections);
        Self { text: written.text.into(), notes, exact: true, edits, origin, ..self }
    }

    /// Takes the envelope written from calls.
    fn with_calls(self, calls: &[PatchCall], notes: Vec<String>) -> Result<Self, InputError> {
        let text = ops::to_envelope(calls)?.into();
        Ok(Self { text, notes, calls: ops::lines_of(calls), ..self })
    }

    /// Finds and parses the patch in the argument of a tool, in any form.
    ///
    /// # Errors
    ///
    /// When there is not exactly one patch, or the patch does not parse.
    pub fn parsed(sent: &str, options: &Options) -> Result<(Self, Patch), ToolError> {
        let read = Self::read(&sent.into(), &ReadAs::default(), &options.parse);
        let text = read.map_err(|error| error.tool_error(sent.as_bytes()))?;
        let patch = text.parse(options);
        let patch = patch.map_err(|error| error.tool_error(text.text.as_bytes()))?;
        Ok((text, patch))
    }

    /// Parses the patch, unless it is parsed already, applies the rules for paths, and reverses the
    /// patch if asked to.
    ///
    /// # Errors
    ///
    /// When the patch does not parse, or cannot be reversed.
    pub fn parse(&self, options: &Options) -> Result<Patch, InputError> {
        if self.reverse && self.edits.is_some() {
            return Err(InputError::Inexpressible(
                "edits cannot be reversed: their texts say nothing of the lines around them".into(),
            ));
        }
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
        if let Some(edits) = &self.edits {
            patch = as_edited(&patch, edits)?;
        }
        if self.starts.len() == patch.hunk_count() && self.starts.iter().any(Option::is_some) {
            patch = with_starts(&patch, &self.starts);
        }
        patch.notes = self.notes.clone();
        patch.exact = self.exact;
        patch.whole_files = self.whole_files;
        patch.to_the_letter = options.parse.to_the_letter;
        let patch = self.paths.of(patch, self.reverse);
        Ok(if self.reverse { reverse(&patch, options)? } else { patch })
    }
}

/// Says of each section of an envelope written from edits what its lines are in the file.
fn as_edited(patch: &Patch, edits: &[EditedSection]) -> Result<Patch, InputError> {
    if patch.sections().len() != edits.len() {
        let message = "an edit has a path that no patch can have".to_owned();
        return Err(InputError::Unreadable(message));
    }
    Ok(patch.map_sections(|sections| {
        let mut sections = sections.to_vec();
        for (section, edit) in sections.iter_mut().zip(edits) {
            section.path.text = edit.path.clone().into();
            if let SectionOperation::Update { hunks, .. } = &mut section.operation {
                hunks.iter_mut().for_each(|hunk| hunk.extent = edit.extent);
            }
        }
        sections
    }))
}

/// Sets the lines of the files that the hunks of blocks state.
fn with_starts(patch: &Patch, starts: &[Option<u32>]) -> Patch {
    patch.map_sections(|sections| {
        let mut sections = sections.to_vec();
        let mut starts = starts.iter();
        for section in &mut sections {
            if let SectionOperation::Update { hunks, .. } = &mut section.operation {
                for (hunk, start) in hunks.iter_mut().zip(&mut starts) {
                    hunk.old_start = *start;
                }
            }
        }
        sections
    })
}

/// Returns the error of a text that is not a patch in the form `own`: it names the text's own form,
/// if the text is a patch in another.
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
        ReceivedForm::Edits { .. } => InputForm::Edits,
        ReceivedForm::Files { .. } => InputForm::Files,
    };
    match own {
        own if found == own => error.into(),
        InputForm::Envelope if options.to_the_letter => {
            NotReceived::NotAnEnvelope(form.words()).into()
        }
        _ => NotReceived::OtherForm(form.words()).into(),
    }
}

/// Puts the paths of an envelope beneath a directory; lines keep their numbers.
fn envelope_beneath(directory: &str, patch: &Patch) -> Vec<u8> {
    let directory = directory.trim_start_matches("./").trim_end_matches('/');
    let text = patch.text();
    if matches!(directory, "" | ".") {
        return text.as_bytes().to_vec();
    }
    let mut paths: Vec<_> = patch.sections().iter().flat_map(Section::paths).collect();
    paths.sort_unstable_by_key(|path| path.span.start);
    let mut out = Vec::new();
    let mut done = text.range().start;
    for path in paths {
        out.extend_from_slice(patch.bytes(done..path.span.start));
        out.extend_from_slice(beneath(directory, &path.text).as_bytes());
        done = path.span.end;
    }
    out.extend_from_slice(patch.bytes(done..text.range().end));
    out
}

patch_grammar::named! {
    /// The form to convert a patch to.
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
    /// Text, with notes on parts left out, corrected or overlooked.
    Text(Vec<u8>, Vec<String>),
    /// Items of a response, with such notes.
    Items(Vec<Value>, Vec<String>),
}

/// Converts a patch to another form. `files` returns the files to make a diff against: only they
/// have the line numbers and the removed text.
///
/// # Errors
///
/// When the text is not a patch, does not apply to the files, or cannot be expressed in the form.
pub fn convert(
    text: &PatchText,
    to: OutputForm,
    options: &Options,
    files: &mut dyn FnMut() -> Result<Files, ToolError>,
) -> Result<Converted, InputError> {
    let mut patch = text.parse(options)?;
    if text.edits.is_some() && matches!(to, OutputForm::Envelope | OutputForm::Openai) {
        return Err(InputError::Inexpressible(
            "the text of an edit may be a part of a line, and the lines of this form are whole; \
             the forms `unified` and `git` are made against the files"
                .into(),
        ));
    }
    let told = patch.warnings.iter().map(|warning| format!("patch {warning}"));
    let notes: Vec<_> = patch.notes.iter().cloned().chain(told).collect();
    if (text.diff.is_some() || text.reverse || !text.paths.are_none())
        && matches!(to, OutputForm::Envelope | OutputForm::Openai)
    {
        // Without the numbers of the diff, a last hunk cut short would go unnoticed.
        if let Some(error) = diff::may_be_cut_off(&patch) {
            return Err(error.into());
        }
        patch = as_envelope(patch, options)?;
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
            Ok(Converted::Text(diff_of(&plan, to)?, changes::notes(&plan)))
        }
    }
}

/// Rewrites a diff, or a patch reversed or under path rules, as an envelope.
fn as_envelope(patch: Patch, options: &Options) -> Result<Patch, InputError> {
    let order = patch_engine::in_sequence(&patch).map_err(|path| {
        InputError::Inexpressible(format!(
            "{path}: it goes to a place that another file or a directory has to leave at the same \
             time, and the sections of this form follow one another"
        ))
    })?;
    let patch = patch.map_sections(|all| order.iter().map(|&nth| all[nth].clone()).collect());
    let envelope =
        envelope::write(&patch).map_err(|error| InputError::Unreadable(error.to_string()))?;
    Ok(parse(envelope, &options.parse)?)
}

/// Writes the changes of a plan as a diff in the form `to`.
fn diff_of(plan: &Plan, to: OutputForm) -> Result<Vec<u8>, InputError> {
    let images = plan.images();
    let mut changes: Vec<_> = plan.changes().iter().collect();
    // The sections of a plain diff follow one another, and a file may make way for a directory.
    if to == OutputForm::Unified {
        changes.sort_by_key(|change| change.operation != ChangeKind::Delete);
    }
    let mut out = Vec::new();
    for change in changes {
        let diff = match to {
            OutputForm::Git => images.binary_diff(change).map(Some),
            _ => images.plain_diff(change),
        };
        let diff = diff.map_err(|error| Box::new(ToolError::from(error)))?;
        out.extend(diff.ok_or_else(|| {
            InputError::Inexpressible(format!(
                "{}: a plain unified diff cannot express this change; the form `git` can",
                change.path
            ))
        })?);
    }
    Ok(out)
}
