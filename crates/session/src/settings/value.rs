//! The types of settings: reading a value, and telling the stricter of two.

use std::time::Duration;

use fs_guard::{GlobError, Globs, MAX_GLOBS, bounded};
use patch_engine::commit::Prefix;
use patch_engine::{Charset, Encodings, WhitespaceRules, WhitespaceRulesError};
use serde_json::Value as Json;
use workspace_trash::Retention;

use super::choice::Choice;
use super::keep;

/// A value as written in one of the sources.
#[derive(Debug, Clone, Copy)]
pub enum Raw<'a> {
    /// In a variable of the environment.
    Text(&'a str),
    /// In a configuration file. Sizes are in MiB.
    File(&'a Json),
    /// In the options of a program. Sizes are in bytes.
    Program(&'a Json),
}

/// The type of a setting in the options of a program, for their declarations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Flag,
    /// A whole number.
    Number,
    /// A number of bytes.
    Bytes,
    /// A number of seconds.
    Seconds,
    /// Text.
    Text,
    /// A list of texts.
    Texts,
    /// One of a few words.
    Words(Vec<&'static str>),
    /// A command, or one for each glob.
    Commands,
}

/// The problem with a value, without the value.
pub(super) enum Wrong {
    /// The value is of another type, or none of the allowed ones.
    Type,
    /// Another problem, described.
    Because(String),
}

/// The type of a setting.
pub(super) trait Value: Clone + PartialEq {
    /// Returns the type in the options of a program.
    fn kind() -> Kind {
        Kind::Text
    }
    /// Describes the allowed values, for messages.
    fn wanted() -> String;
    /// Reads a value from text.
    fn from_text(text: &str) -> Result<Self, Wrong>;
    /// Reads a value.
    fn read(raw: Raw<'_>) -> Result<Self, Wrong> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::File(json) | Raw::Program(json) => {
                json.as_str().map_or(Err(Wrong::Type), Self::from_text)
            }
        }
    }
    /// Returns the value in the format of `doctor`.
    fn text(&self) -> String;
    /// Returns whether the value, as a bound, can make the program stricter.
    fn tightens(&self) -> bool {
        false
    }
    /// Returns the value, held to a bound.
    fn within(self, _: &Self) -> Self {
        self
    }
    /// Rewrites a value from a file in a directory above for the root; `prefix` leads from there to
    /// the root.
    fn seen_through(self, _: &Prefix) -> Self {
        self
    }
    /// Returns whether a bound changed the value to `held`.
    fn is_overruled(&self, held: &Self) -> bool {
        self != held
    }
}

impl<T: Choice> Value for T {
    fn kind() -> Kind {
        Kind::Words(T::first_names())
    }

    fn wanted() -> String {
        <T as Choice>::wanted()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        T::named(text).ok_or(Wrong::Type)
    }

    fn text(&self) -> String {
        self.name().to_owned()
    }

    fn tightens(&self) -> bool {
        T::STRICTEST_FIRST && self.rank() + 1 < T::NAMES.len()
    }

    fn within(self, bound: &Self) -> Self {
        if self.rank() <= bound.rank() { self } else { *bound }
    }
}

/// How long displaced files are kept: an age, a size, a number of transactions, or several of them,
/// as `30d, 1GiB`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrashKeep {
    text: Option<String>,
    retention: Retention,
}

impl TrashKeep {
    /// Returns the limits.
    #[must_use]
    pub fn retention(&self) -> Retention {
        self.retention
    }
}

impl Value for TrashKeep {
    fn wanted() -> String {
        keep::KEPT.into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let retention = keep::keep(text).map_err(Wrong::Because)?;
        Ok(Self { text: Some(text.to_owned()), retention })
    }

    fn text(&self) -> String {
        self.text.clone().unwrap_or_default()
    }
}

/// How long proposals are kept: an age, a size, a number of proposals, or several of them, as
/// `30d, 64MiB`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalKeep {
    text: Option<String>,
    retention: Retention,
}

impl Default for ProposalKeep {
    fn default() -> Self {
        Self { text: None, retention: keep::PROPOSALS }
    }
}

impl ProposalKeep {
    /// Returns the limits.
    #[must_use]
    pub fn retention(&self) -> Retention {
        self.retention
    }
}

impl Value for ProposalKeep {
    fn wanted() -> String {
        keep::KEPT_PROPOSALS.into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let retention = keep::keep_proposals(text).map_err(Wrong::Because)?;
        Ok(Self { text: Some(text.to_owned()), retention })
    }

    fn text(&self) -> String {
        self.text.clone().unwrap_or_default()
    }
}

/// `false` is stricter.
impl Value for bool {
    fn kind() -> Kind {
        Kind::Flag
    }

    fn wanted() -> String {
        "true or false".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        text.parse().map_err(|_| Wrong::Type)
    }

    fn read(raw: Raw<'_>) -> Result<Self, Wrong> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::File(json) | Raw::Program(json) => json.as_bool().ok_or(Wrong::Type),
        }
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn tightens(&self) -> bool {
        !self
    }

    fn within(self, bound: &Self) -> Self {
        self && *bound
    }
}

impl Value for Duration {
    fn kind() -> Kind {
        Kind::Seconds
    }

    fn wanted() -> String {
        "a number of seconds, or a time such as \"2min\"".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        seconds(text).map_err(|_| Wrong::Type)
    }

    fn read(raw: Raw<'_>) -> Result<Self, Wrong> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::File(json) | Raw::Program(json) => match json.as_str() {
                Some(text) => Self::from_text(text),
                None => {
                    let seconds = json.as_f64().ok_or(Wrong::Type)?;
                    Self::try_from_secs_f64(seconds).map_err(|_| Wrong::Type)
                }
            },
        }
    }

    fn text(&self) -> String {
        self.as_secs_f64().to_string()
    }
}

/// Reads a number of seconds, or a time with its unit.
///
/// # Errors
///
/// When the text is neither, or the time is negative or too long.
pub fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Err(_) => keep::age(text)
            .map_err(|_| format!("{text:?} is not a number of seconds, nor a time such as 2min")),
    }
}

/// Room on the disk, or the size of a file, in bytes. Less is stricter. Texts and files give a
/// number of MiB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size(pub u64);

/// A maximum number. Fewer is stricter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Count(pub usize);

impl Value for Size {
    fn kind() -> Kind {
        Kind::Bytes
    }

    fn wanted() -> String {
        "a number of MiB".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let mebibytes: u64 = text.parse().map_err(|_| Wrong::Type)?;
        mebibytes.checked_mul(1 << 20).map(Self).ok_or(Wrong::Type)
    }

    fn read(raw: Raw<'_>) -> Result<Self, Wrong> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::File(json) => json.as_u64().map_or(Err(Wrong::Type), |number| {
                number.checked_mul(1 << 20).map(Self).ok_or(Wrong::Type)
            }),
            Raw::Program(json) => json
                .as_u64()
                .map(Self)
                .ok_or_else(|| Wrong::Because("it must be a number of bytes".into())),
        }
    }

    fn text(&self) -> String {
        (self.0 >> 20).to_string()
    }

    fn tightens(&self) -> bool {
        true
    }

    fn within(self, bound: &Self) -> Self {
        Self(self.0.min(bound.0))
    }
}

impl Value for Count {
    fn kind() -> Kind {
        Kind::Number
    }

    fn wanted() -> String {
        "a number, 1 or more".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        text.parse().ok().filter(|&number| number > 0).map(Self).ok_or(Wrong::Type)
    }

    fn read(raw: Raw<'_>) -> Result<Self, Wrong> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::File(json) | Raw::Program(json) => {
                let number = json.as_u64().and_then(|number| usize::try_from(number).ok());
                number.filter(|&number| number > 0).map(Self).ok_or(Wrong::Type)
            }
        }
    }

    fn text(&self) -> String {
        self.0.to_string()
    }

    fn tightens(&self) -> bool {
        true
    }

    fn within(self, bound: &Self) -> Self {
        Self(self.0.min(bound.0))
    }
}

/// A shell command; `None` leaves the choice to `$PAGER`.
impl Value for Option<String> {
    fn wanted() -> String {
        "a command".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Ok(Some(text.to_owned()))
    }

    fn text(&self) -> String {
        self.clone().unwrap_or_default()
    }
}

/// A glob of paths, and the path from the glob's directory to the root.
#[derive(Debug, Clone, PartialEq)]
struct PatternArg {
    from: String,
    glob: String,
}

/// Checks the `nth` glob of a list. Errors do not quote the glob: the file may be a link to another
/// with secrets.
pub(super) fn checked_glob(nth: usize, text: &str) -> Result<(), Wrong> {
    glob(text).map(drop).map_err(|problem| Wrong::Because(format!("glob {nth}: {problem}")))
}

/// Checks a glob of paths, and returns it.
///
/// # Errors
///
/// When the glob is malformed, too complex, or cannot match any path: its author believes it works.
pub fn glob(text: &str) -> Result<String, String> {
    bounded(text).map_err(|error| error.problem)?;
    Globs::new([text]).map_err(|_| "it is malformed")?;
    if text.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Err("it can match no path: it has to be plain names with `/` between, as in \
                    `infra/**`"
            .into());
    }
    Ok(text.to_owned())
}

pub(super) fn check_number_of_globs(count: usize) -> Result<(), Wrong> {
    if count > MAX_GLOBS {
        return Err(Wrong::Because(format!("there are {count} globs, more than {MAX_GLOBS}")));
    }
    Ok(())
}

/// Globs of paths. Where more of them are stricter (`DENY`), the workspace can add some.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Patterns<const DENY: bool>(Vec<PatternArg>);

impl<const DENY: bool> Patterns<DENY> {
    fn checked(globs: Vec<String>) -> Result<Self, Wrong> {
        check_number_of_globs(globs.len())?;
        globs.iter().zip(1..).try_for_each(|(glob, nth)| checked_glob(nth, glob))?;
        Ok(Self::of(globs))
    }

    /// Takes globs relative to the root. They are checked when the policy is made.
    #[must_use]
    pub fn of(globs: Vec<String>) -> Self {
        Self(globs.into_iter().map(|glob| PatternArg { from: String::new(), glob }).collect())
    }

    /// Adds the globs of another.
    pub(super) fn extend(&mut self, more: &Self) {
        self.0.extend_from_slice(&more.0);
    }

    pub(super) fn push_to(&self, globs: &mut Globs) -> Result<(), GlobError> {
        self.0.iter().try_for_each(|pattern| globs.push_from(&pattern.from, &pattern.glob))
    }

    /// Returns whether a glob is in the list, as given.
    pub(crate) fn contains(&self, glob: &str) -> bool {
        self.0.iter().any(|pattern| pattern.glob == glob)
    }

    pub(super) fn except_from(&self, globs: &mut Globs) -> Result<(), GlobError> {
        self.0.iter().try_for_each(|pattern| globs.except(&pattern.glob))
    }
}

impl<const DENY: bool> Value for Patterns<DENY> {
    fn kind() -> Kind {
        Kind::Texts
    }

    fn wanted() -> String {
        "a list of globs".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Self::checked(text.split(':').filter(|glob| !glob.is_empty()).map(str::to_owned).collect())
    }

    fn read(raw: Raw<'_>) -> Result<Self, Wrong> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::File(json) | Raw::Program(json) => {
                strings(json).map_or(Err(Wrong::Type), Self::checked)
            }
        }
    }

    fn text(&self) -> String {
        self.0.iter().map(|pattern| &*pattern.glob).collect::<Vec<_>>().join(", ")
    }

    fn tightens(&self) -> bool {
        DENY
    }

    fn seen_through(mut self, prefix: &Prefix) -> Self {
        self.0.iter_mut().for_each(|pattern| pattern.from = prefix.as_str().to_owned());
        self
    }

    fn within(mut self, bound: &Self) -> Self {
        self.extend(bound);
        self
    }

    /// Added patterns overrule nothing.
    fn is_overruled(&self, _: &Self) -> bool {
        false
    }
}

/// Charsets of files, each as `GLOB=LABEL`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Charsets(Vec<String>);

impl Charsets {
    fn checked(all: Vec<String>) -> Result<Self, Wrong> {
        for (one, nth) in all.iter().zip(1..) {
            if charset(one).is_err() {
                return Err(Wrong::Because(format!(
                    "entry {nth} is not `GLOB=LABEL` with a label of the WHATWG and a glob that \
                     can match"
                )));
            }
        }
        Ok(Self(all))
    }

    /// Takes declarations checked by [`charset`].
    #[must_use]
    pub fn of(all: Vec<String>) -> Self {
        Self(all)
    }

    /// Returns them as the engine has them.
    #[must_use]
    pub fn encodings(&self) -> Encodings {
        let mut encodings = Encodings::default();
        for one in &self.0 {
            let (files, charset) = declaration(one).expect("it was checked");
            encodings.declare(files, charset);
        }
        encodings
    }
}

/// Checks the declaration of a charset, `GLOB=LABEL`, and returns it.
///
/// # Errors
///
/// When there is no `=`, or no such label, or the [glob] is none.
pub fn charset(text: &str) -> Result<String, String> {
    declaration(text)?;
    Ok(text.to_owned())
}

fn declaration(text: &str) -> Result<(Globs, Charset), String> {
    let (glob, label) = text.rsplit_once('=').ok_or("it has no `=`; wanted GLOB=LABEL")?;
    let charset = Charset::of_label(label).ok_or_else(|| {
        format!(
            "there is no charset {label:?}; the labels are those of the WHATWG, such as \
             `windows-1252` and `shift_jis`"
        )
    })?;
    self::glob(glob)?;
    Ok((Globs::new([glob]).map_err(|error| error.to_string())?, charset))
}

impl Value for Charsets {
    fn kind() -> Kind {
        Kind::Texts
    }

    fn wanted() -> String {
        "a list of `GLOB=LABEL`".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Self::checked(text.split(':').filter(|one| !one.is_empty()).map(str::to_owned).collect())
    }

    fn read(raw: Raw<'_>) -> Result<Self, Wrong> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::File(json) | Raw::Program(json) => {
                strings(json).map_or(Err(Wrong::Type), Self::checked)
            }
        }
    }

    fn text(&self) -> String {
        self.0.join(", ")
    }
}

impl Value for WhitespaceRules {
    fn wanted() -> String {
        "a list of the rules of git's `core.whitespace`".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        text.parse().map_err(|error: WhitespaceRulesError| Wrong::Because(error.to_string()))
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

/// A list of texts.
fn strings(json: &Json) -> Option<Vec<String>> {
    json.as_array()?.iter().map(|one| one.as_str().map(str::to_owned)).collect()
}
