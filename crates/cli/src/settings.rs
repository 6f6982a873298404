//! The settings: flags, then the environment, then the user's file, held within the bounds of the
//! workspace's file.
//!
//! A value is looked for in flags, then in `APPLY_PATCH_*`, then in
//! `$XDG_CONFIG_HOME/apply-patch/config.toml` (or `~/.config/…`). What comes out is held within the
//! bounds that `.apply-patch.toml` in the workspace sets: everyone who writes to the workspace can
//! write that file, so it can only make the program stricter. Those of all directories from the
//! root up to the project's top hold, each with patterns that are relative to its own directory.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ColorChoice;
use fs_guard::{Access, Error, Globs, HardLinks, MAX_GLOBS, NamePolicy, Policy, Root, bounded};
use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::commit::{self, Durability, Prefix, StatePlace};
use patch_engine::{Ambiguous, Encodings, Options, Pass, Profile};
use toml::de::{DeTable, DeValue};
use workspace_trash::Retention;

use crate::args::{self, Choice, Rules, Writing};
use crate::failure::Failure;
use crate::outside::config_home;

/// The file in the workspace.
pub(crate) const WORKSPACE_FILE: &str = ".apply-patch.toml";

/// The largest configuration file that is read, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// The type of a setting: how a value is read, and which of two values is stricter.
trait Value: Clone + PartialEq {
    /// Describes the values that are allowed, for messages.
    fn wanted() -> String;
    /// Reads a value from an environment variable.
    fn from_text(text: &str) -> Result<Self, Wrong>;
    /// Reads a value from a configuration file.
    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
        value.as_str().map_or(Err(Wrong::Type), Self::from_text)
    }
    /// Returns the value as `doctor` shows it.
    fn text(&self) -> String;
    /// Returns whether the value can make the program stricter when it is a bound.
    fn tightens(&self) -> bool {
        false
    }
    /// Returns the value, held to a bound.
    fn within(self, _: &Self) -> Self {
        self
    }
    /// Returns a value of a file in a directory above as it is seen from the root; `prefix` leads
    /// from there to the root.
    fn seen_through(self, _: &Prefix) -> Self {
        self
    }
    /// Returns whether a bound changed the value to `held`.
    fn is_overruled(&self, held: &Self) -> bool {
        self != held
    }
}

/// What is wrong with a value; it is not quoted.
enum Wrong {
    /// It is of another type, or not one of the values.
    Type,
    /// Another problem, described.
    Because(String),
}

impl<T: Choice> Value for T {
    fn wanted() -> String {
        format!("one of {}", T::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
    }
    fn from_text(text: &str) -> Result<Self, Wrong> {
        T::named(text).ok_or(Wrong::Type)
    }
    fn text(&self) -> String {
        self.name().to_owned()
    }
    fn tightens(&self) -> bool {
        T::STRICTEST_FIRST && self.rank() + 1 < T::ALL.len()
    }
    fn within(self, bound: &Self) -> Self {
        if self.rank() <= bound.rank() { self } else { *bound }
    }
}

/// How long displaced files are kept: an age, a size or both, as `30d, 1GiB`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TrashKeep {
    text: Option<String>,
    retention: Retention,
}

impl TrashKeep {
    pub(crate) fn retention(&self) -> Retention {
        self.retention
    }
}

impl Value for TrashKeep {
    fn wanted() -> String {
        "an age, a size, or both, as \"30d, 1GiB\"".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let retention = args::keep(text).map_err(|_| Wrong::Type)?;
        Ok(Self { text: Some(text.to_owned()), retention })
    }

    fn text(&self) -> String {
        self.text.clone().unwrap_or_default()
    }
}

/// `false` is stricter.
impl Value for bool {
    fn wanted() -> String {
        "true or false".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        text.parse().map_err(|_| Wrong::Type)
    }

    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
        value.as_bool().ok_or(Wrong::Type)
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
    fn wanted() -> String {
        "a number of seconds".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        args::seconds(text).map_err(|_| Wrong::Type)
    }

    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
        match value {
            DeValue::Integer(seconds) => Self::from_text(seconds.as_str()),
            DeValue::Float(seconds) => Self::from_text(seconds.as_str()),
            _ => Err(Wrong::Type),
        }
    }

    fn text(&self) -> String {
        self.as_secs_f64().to_string()
    }
}

/// Room on the disk, or the size of a file. Less is stricter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mebibytes(u64);

impl Mebibytes {
    pub(crate) fn bytes(self) -> u64 {
        self.0 << 20
    }
}

/// The most that there may be of something. Fewer is stricter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Count(pub(crate) usize);

/// Implements [`Value`] for numbers of which the lower is stricter.
macro_rules! amounts {
    ($($type:ident, $least:expr, $most:expr, $wanted:expr;)*) => {$(
        impl Value for $type {
            fn wanted() -> String {
                $wanted.into()
            }

            fn from_text(text: &str) -> Result<Self, Wrong> {
                text.parse().ok().filter(|number| ($least..=$most).contains(number)).map(Self).ok_or(Wrong::Type)
            }

            fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
                match value {
                    DeValue::Integer(number) => Self::from_text(number.as_str()),
                    _ => Err(Wrong::Type),
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
    )*};
}

amounts! {
    Mebibytes, 0, u64::MAX >> 20, "a number of MiB";
    Count, 1, usize::MAX, "a number, 1 or more";
}

/// A command of the shell; `None` leaves it to `$PAGER`.
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

/// A glob of paths, and the path to the root from the directory to which it is relative.
#[derive(Debug, Clone, PartialEq)]
struct Pattern {
    from: String,
    glob: String,
}

/// Globs of paths. Where more of them are stricter (`DENY`), the workspace can add some.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Patterns<const DENY: bool>(Vec<Pattern>);

impl<const DENY: bool> Patterns<DENY> {
    fn checked(globs: Vec<String>) -> Result<Self, Wrong> {
        let because = |problem| Err(Wrong::Because(problem));
        if globs.len() > MAX_GLOBS {
            return because(format!("there are {} globs, more than {MAX_GLOBS}", globs.len()));
        }
        for (nth, glob) in globs.iter().enumerate() {
            if let Err(error) = bounded(glob) {
                return because(format!("glob {}: {}", nth + 1, error.problem));
            }
            if Globs::new([glob]).is_err() {
                return because(format!("glob {} is malformed", nth + 1));
            }
        }
        Ok(Self::of(globs))
    }

    fn of(globs: Vec<String>) -> Self {
        Self(globs.into_iter().map(|glob| Pattern { from: String::new(), glob }).collect())
    }

    fn push_to(&self, globs: &mut Globs) -> Result<(), Failure> {
        let mut each = self.0.iter();
        let pushed = each.try_for_each(|pattern| globs.push_from(&pattern.from, &pattern.glob));
        pushed.map_err(|error| Failure::Usage(error.to_string()))
    }
}

impl<const DENY: bool> Value for Patterns<DENY> {
    fn wanted() -> String {
        "a list of globs".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Self::checked(text.split(':').filter(|glob| !glob.is_empty()).map(str::to_owned).collect())
    }

    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
        strings(value).map_or(Err(Wrong::Type), Self::checked)
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
        self.0.extend_from_slice(&bound.0);
        self
    }

    /// Patterns that are added overrule nothing.
    fn is_overruled(&self, _: &Self) -> bool {
        false
    }
}

/// Charsets of files, each as `GLOB=LABEL`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Charsets(Vec<String>);

impl Charsets {
    fn checked(all: Vec<String>) -> Result<Self, Wrong> {
        match all.iter().position(|one| args::charset(one).is_err()) {
            Some(nth) => Err(Wrong::Because(format!(
                "entry {} is no `GLOB=LABEL` with a label of the WHATWG",
                nth + 1
            ))),
            None => Ok(Self(all)),
        }
    }

    pub(crate) fn encodings(&self) -> Encodings {
        let mut encodings = Encodings::default();
        for (glob, label) in self.0.iter().filter_map(|one| one.rsplit_once('=')) {
            encodings.declare(glob, label).expect("it was checked");
        }
        encodings
    }
}

impl Value for Charsets {
    fn wanted() -> String {
        "a list of `GLOB=LABEL`".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Self::checked(text.split(':').filter(|one| !one.is_empty()).map(str::to_owned).collect())
    }

    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
        strings(value).map_or(Err(Wrong::Type), Self::checked)
    }

    fn text(&self) -> String {
        self.0.join(", ")
    }
}

/// A list of texts.
fn strings(value: &DeValue<'_>) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|one| one.get_ref().as_str().map(str::to_owned)).collect()
}

/// The table of settings: a field, its type, its key and its default, which may depend on the
/// profile, on who approves by default, and on the engine's options of the profile. Reading,
/// checking, bounding and showing all go by it.
macro_rules! settings {
    (|$profile:ident, $approve:ident, $options:ident| $($field:ident: $type:ty, $key:literal = $preset:expr;)*) => {
        /// The settings of a run.
        #[derive(Debug, Clone)]
        pub(crate) struct Settings {
            $(pub(crate) $field: $type,)*
        }

        /// The settings of one source; one that it leaves open is `None`.
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Layer {
            $(pub(crate) $field: Option<$type>,)*
        }

        /// The keys, in the order in which they are shown.
        const KEYS: &[&str] = &[$($key),*];

        impl Layer {
            /// Reads the value of a key.
            fn read(&mut self, key: &str, raw: Raw<'_>) -> Result<(), String> {
                match key {
                    $($key => self.$field = Some(raw.value($key)?),)*
                    _ => unreachable!("BUG: {key} is no key"),
                }
                Ok(())
            }

            /// The value of a key as text.
            fn text(&self, key: &str) -> Option<String> {
                match key {
                    $($key => self.$field.as_ref().map(Value::text),)*
                    _ => None,
                }
            }

            /// Returns the first key whose value can only loosen.
            fn loosens(&self) -> Option<&'static str> {
                $(if self.$field.as_ref().is_some_and(|value| !value.tightens()) {
                    return Some($key);
                })*
                None
            }

            /// The bounds of a file in a directory above, from where `prefix` leads to the root.
            fn seen_through(self, prefix: &Prefix) -> Self {
                Self { $($field: self.$field.map(|value| value.seen_through(prefix)),)* }
            }

            /// Returns both bounds as one: the stricter value where both have one.
            fn and(self, more: Self) -> Self {
                Self { $($field: match (self.$field, more.$field) {
                    (Some(one), Some(other)) => Some(one.within(&other)),
                    (one, other) => one.or(other),
                },)* }
            }

            /// Returns these settings, and those of `below` for the keys that are open here.
            fn over(self, below: Self) -> Self {
                Self { $($field: self.$field.or(below.$field),)* }
            }
        }

        impl Settings {
            /// The defaults of a profile.
            pub(crate) fn preset($profile: Profile, $approve: ApprovalPolicy) -> Self {
                let $options = Options::new($profile);
                Self { $($field: $preset,)* }
            }

            /// Returns `given`, or else `self`, held to `bounds`. Adds a note for every value of
            /// `given` that is overruled.
            fn with(self, given: Layer, bounds: &Layer, notes: &mut Vec<Note>) -> Self {
                Self { $($field: held($key, given.$field, self.$field, bounds.$field.as_ref(), notes),)* }
            }
        }
    };
}

settings! { |profile, approve, options|
    profile: Profile, "profile" = profile;
    durability: Durability, "durability" = Durability::Full;
    approve: ApprovalPolicy, "approve" = approve;
    forbidden: Patterns<true>, "forbidden" = Patterns::default();
    allow_forbidden: Patterns<false>, "allow-forbidden" = Patterns::default();
    guarded: Patterns<true>, "guarded" = Patterns::default();
    allow: Patterns<false>, "allow" = Patterns::default();
    fuzz: Pass, "fuzz" = if profile == Profile::Codex { Pass::Unicode } else { Pass::Exact };
    ambiguous: Ambiguous, "ambiguous" = Ambiguous::Reject;
    create_parents: bool, "create-parents" = options.create_parents;
    overwrite: bool, "overwrite" = options.overwrite;
    allow_delete: bool, "allow-delete" = true;
    allow_move: bool, "allow-move" = true;
    names: NamePolicy, "names" = NamePolicy::Portable;
    hard_links: HardLinks, "hard-links" = HardLinks::Refuse;
    encoding: Charsets, "encoding" = Charsets::default();
    color: ColorChoice, "color" = ColorChoice::Auto;
    lock_timeout: Duration, "lock-timeout" = Duration::from_secs(10);
    accept_open_state: bool, "accept-open-state" = false;
    pager: Option<String>, "pager" = None;
    max_snapshots: Mebibytes, "max-snapshots" = Mebibytes(file_tools::MAX_SNAPSHOTS >> 20);
    state: StatePlace, "state" = StatePlace::Project;
    trash_keep: TrashKeep, "trash-keep" = TrashKeep::default();
    max_file_size: Mebibytes, "max-file-size" = Mebibytes(options.max_file_size >> 20);
    max_operations: Count, "max-operations" = Count(options.parse.max_sections);
}

/// A value as it stands in a source.
enum Raw<'a> {
    Text(&'a str),
    Toml(&'a DeValue<'a>),
}

impl Raw<'_> {
    fn value<T: Value>(&self, key: &str) -> Result<T, String> {
        let value = match self {
            Self::Text(text) => T::from_text(text),
            Self::Toml(value) => T::from_toml(value),
        };
        value.map_err(|wrong| match wrong {
            Wrong::Type => format!("`{key}` must be {}", T::wanted()),
            Wrong::Because(problem) => format!("`{key}`: {problem}"),
        })
    }
}

/// A value that was given, and overruled by a bound.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) key: &'static str,
    wanted: String,
    bound: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, wanted, bound } = self;
        write!(
            f,
            "note: `{key}` is {bound}, not {wanted}: {WORKSPACE_FILE} in the workspace says so"
        )
    }
}

fn held<T: Value>(
    key: &'static str,
    given: Option<T>,
    preset: T,
    bound: Option<&T>,
    notes: &mut Vec<Note>,
) -> T {
    let Some(bound) = bound else { return given.unwrap_or(preset) };
    let held = given.clone().unwrap_or(preset).within(bound);
    if let Some(given) = given.filter(|given| given.is_overruled(&held)) {
        notes.push(Note { key, wanted: given.text(), bound: held.text() });
    }
    held
}

impl Settings {
    /// Returns the policy of the guard.
    pub(crate) fn policy(&self) -> Result<Policy, Failure> {
        let mut policy = patch_engine::policy();
        // Before the patterns that are added: what the workspace forbids stays forbidden.
        for pattern in &self.allow_forbidden.0 {
            policy
                .forbidden
                .except(&pattern.glob)
                .map_err(|error| Failure::Usage(error.to_string()))?;
        }
        self.forbidden.push_to(&mut policy.forbidden)?;
        self.guarded.push_to(&mut policy.guarded)?;
        self.allow.push_to(&mut policy.allow)?;
        policy.names = self.names;
        policy.hard_links = self.hard_links;
        policy.accept_open_private_dir = self.accept_open_state;
        Ok(policy)
    }
}

impl Layer {
    /// The settings from the flags of rules.
    pub(crate) fn of_rules(rules: &Rules) -> Self {
        Self {
            profile: rules.profile,
            fuzz: rules.fuzz,
            ambiguous: rules.ambiguous,
            create_parents: rules.create_parents.then_some(true),
            overwrite: rules.overwrite.then_some(true),
            allow_delete: rules.allow_delete,
            allow_move: rules.allow_move,
            names: rules.guard.names,
            hard_links: rules.guard.hard_links,
            encoding: (!rules.encoding.is_empty()).then(|| Charsets(rules.encoding.clone())),
            ..Self::of_allow(&rules.allow)
        }
    }

    /// The setting from `--allow`.
    pub(crate) fn of_allow(allow: &[String]) -> Self {
        Self { allow: Some(Patterns::of(allow.to_vec())), ..Self::default() }
    }

    /// This with the settings from the flags of writing.
    pub(crate) fn and_writing(self, writing: &Writing) -> Self {
        Self { durability: writing.durability, lock_timeout: writing.lock_timeout, ..self }
    }
}

/// One key as `doctor` shows it.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) key: &'static str,
    /// The value and where it comes from; `None` for the default.
    pub(crate) given: Option<(String, String)>,
    /// What the workspace allows at most.
    pub(crate) bound: Option<String>,
}

/// What flags leave open: the environment, the user's file, and the bounds of the workspace's.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    environment: Layer,
    user: Layer,
    bounds: Layer,
    /// What is wrong with the workspace's file.
    broken: Option<String>,
    /// The workspace, where there is one.
    root: Option<Root>,
}

impl Sources {
    /// Reads the two files and the environment.
    pub(crate) fn load(root: &Path) -> Result<Self, Failure> {
        let read = |path: PathBuf| -> Result<_, Failure> {
            let bytes = fs_guard::read_config(&path, MAX_FILE)
                .map_err(|error| Failure::Usage(unreadable(error)))?;
            Ok(bytes.map(|bytes| (path, bytes)))
        };
        let user = user_file().map(read).transpose()?.flatten();
        let user = user.as_ref().map(|(path, bytes)| (path.as_path(), bytes.as_slice()));
        Self::of(root, user, |name| std::env::var_os(name))
    }

    /// The same, with the path and the bytes of the user's file and the variables of the
    /// environment given.
    pub(crate) fn of(
        root: &Path,
        user: Option<(&Path, &[u8])>,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, Failure> {
        let mut sources = Self::default();
        if let Some((path, bytes)) = user {
            sources.user = parse(path, bytes).map_err(Failure::Usage)?;
        }
        for key in KEYS {
            let name = variable(key);
            let Some(value) = environment(&name) else { continue };
            let wrong = |problem: String| Failure::Usage(format!("${name}: {problem}"));
            let text = value.to_str().ok_or_else(|| wrong("it is not UTF-8".into()))?;
            sources.environment.read(key, Raw::Text(text)).map_err(wrong)?;
        }
        let Some(root) = open_workspace(root).map_err(Failure::Usage)? else { return Ok(sources) };
        sources.add_bounds(bounds(&root), &Prefix::default());
        // What holds for a directory of the project holds for each directory in it.
        for (above, prefix) in commit::directories_above(&root) {
            sources.add_bounds(bounds(&above), &prefix);
        }
        sources.root = Some(root);
        Ok(sources)
    }

    /// Adds the bounds of a file in a directory above, or remembers what is wrong with it.
    fn add_bounds(&mut self, read: Result<Layer, String>, prefix: &Prefix) {
        match read {
            Ok(bounds) => {
                self.bounds = bounds.seen_through(prefix).and(std::mem::take(&mut self.bounds))
            }
            Err(problem) => self.broken = self.broken.take().or(Some(problem)),
        }
    }

    /// What is wrong with the workspace's file. Its bounds are not known then, so nothing may be
    /// changed that they could forbid.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Fails if the workspace's file is wrong.
    pub(crate) fn checked(self) -> Result<Self, Failure> {
        match self.broken {
            Some(problem) => Err(Failure::Usage(problem)),
            None => Ok(self),
        }
    }

    /// The workspace as it was opened, to be used under the policy of the settings.
    pub(crate) fn into_root(self) -> Option<Root> {
        self.root
    }

    /// The settings: flags, environment, the user's file, or the preset of `profile` and `approve`;
    /// within the bounds.
    pub(crate) fn resolve(
        &self,
        flags: Layer,
        profile: Profile,
        approve: ApprovalPolicy,
    ) -> (Settings, Vec<Note>) {
        let configured = self.environment.clone().over(self.user.clone());
        // `--allow` adds to what is configured; every other flag replaces it.
        let mut allow = configured.allow.clone().unwrap_or_default();
        allow.0.extend(flags.allow.iter().flat_map(|more| more.0.iter().cloned()));
        let given = Layer { allow: Some(allow), ..flags.over(configured) };
        // The profile presets the others, so it is held first.
        let preset = given.profile.unwrap_or(profile);
        let preset = self.bounds.profile.map_or(preset, |bound| preset.within(&bound));
        let mut notes = Vec::new();
        (Settings::preset(preset, approve).with(given, &self.bounds, &mut notes), notes)
    }

    /// Every key, for `doctor`.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let shown = |key: &&'static str| Shown {
            key,
            given: match self.environment.text(key) {
                Some(text) => Some((text, format!("${}", variable(key)))),
                None => self.user.text(key).map(|text| {
                    (text, user_file().map(|path| path.display().to_string()).unwrap_or_default())
                }),
            },
            bound: self.bounds.text(key),
        };
        KEYS.iter().map(shown).collect()
    }
}

/// The variables that have settings.
pub(crate) fn variables() -> impl Iterator<Item = String> {
    KEYS.iter().map(|key| variable(key))
}

/// The variable of a key.
fn variable(key: &str) -> String {
    format!("APPLY_PATCH_{}", key.replace('-', "_").to_uppercase())
}

/// The user's file; `None` where there is no home.
pub(crate) fn user_file() -> Option<PathBuf> {
    Some(config_home()?.join("apply-patch/config.toml"))
}

/// The bounds of the file in a directory.
fn bounds(root: &Root) -> Result<Layer, String> {
    let Some(bytes) = read_workspace_file(root)? else { return Ok(Layer::default()) };
    let path = root.path().join(WORKSPACE_FILE);
    let bounds = parse(&path, &bytes)?;
    if let Some(key) = bounds.loosens() {
        let place =
            user_file().map_or("the user's config.toml".into(), |path| path.display().to_string());
        return Err(format!(
            "{}: this `{key}` loosens, and a file in the workspace can only tighten; put it into {place}, \
             or into ${}, or give the flag",
            path.display(),
            variable(key)
        ));
    }
    Ok(bounds)
}

/// Opens the workspace; `None` where there is none.
fn open_workspace(root: &Path) -> Result<Option<Root>, String> {
    match Root::open(root, patch_engine::policy()) {
        Ok(root) => Ok(Some(root)),
        // The command itself reports that, if it needs a workspace.
        Err(Error::NoRoot { .. }) => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

/// Reads the workspace's file: a regular file of one name, beneath the root and over no link. A
/// writer of the workspace must not choose another file that this process reads.
fn read_workspace_file(root: &Root) -> Result<Option<Vec<u8>>, String> {
    let path = root.check(WORKSPACE_FILE, Access::Read).map_err(unreadable)?;
    match root.read(&path, MAX_FILE) {
        Ok((_, seen)) if seen.nlink > 1 => {
            let problem = format!(
                "{WORKSPACE_FILE:?} has {} hard links; configuration has one name",
                seen.nlink
            );
            Err(unreadable(problem))
        }
        Ok((bytes, _)) => Ok(Some(bytes)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

fn unreadable(problem: impl fmt::Display) -> String {
    format!("configuration: {problem}")
}

/// Reads a file: known keys, with values that they can have. Errors name the place and never quote
/// what stands there.
fn parse(path: &Path, bytes: &[u8]) -> Result<Layer, String> {
    let wrong = |problem: &dyn fmt::Display| format!("{}: {problem}", path.display());
    let text = std::str::from_utf8(bytes).map_err(|_| wrong(&"it is not UTF-8"))?;
    let wrong_at =
        |offset: usize, problem: String| wrong(&format!("{}: {problem}", place(text, offset)));
    let table = DeTable::parse(text).map_err(|error| {
        wrong_at(error.span().map_or(text.len(), |span| span.start), "this is not TOML".into())
    })?;
    let mut layer = Layer::default();
    for (name, value) in table.get_ref() {
        let Some(key) = KEYS.iter().find(|key| *key == name.get_ref()) else {
            let near = KEYS.iter().map(|key| (strsim::jaro_winkler(key, name.get_ref()), *key));
            let near = near
                .filter(|near| near.0 > 0.8)
                .max_by(|a, b| a.0.total_cmp(&b.0))
                .map(|(_, key)| key);
            let advice = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the keys are {}", KEYS.join(", ")),
            };
            return Err(wrong_at(name.span().start, format!("unknown key; {advice}")));
        };
        layer
            .read(key, Raw::Toml(value.get_ref()))
            .map_err(|problem| wrong_at(value.span().start, problem))?;
    }
    Ok(layer)
}

/// A place in a text, in words.
fn place(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or(before);
    format!("line {}, column {}", before.matches('\n').count() + 1, line.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_holds_and_never_loosens() {
        use Pass::{Blanks, Exact, Unicode};
        for (flag, given, profile, bound, wanted, noted) in [
            (None, None, Profile::Strict, None, Exact, false),
            (None, None, Profile::Strict, Some(Blanks), Exact, false),
            (None, None, Profile::Codex, Some(Blanks), Blanks, false),
            (None, Some(Unicode), Profile::Strict, None, Unicode, false),
            (None, Some(Unicode), Profile::Strict, Some(Exact), Exact, true),
            (Some(Blanks), Some(Unicode), Profile::Strict, None, Blanks, false),
            (Some(Blanks), None, Profile::Strict, Some(Blanks), Blanks, false),
            (Some(Unicode), None, Profile::Strict, Some(Blanks), Blanks, true),
        ] {
            let layer = |fuzz| Layer { fuzz, ..Layer::default() };
            let sources = Sources {
                environment: layer(given),
                user: layer(Some(Blanks).filter(|_| given.is_some())),
                bounds: layer(bound),
                ..Sources::default()
            };
            let (found, notes) = sources.resolve(layer(flag), profile, ApprovalPolicy::Never);
            assert_eq!(found.fuzz, wanted, "{flag:?} {given:?} {profile:?} {bound:?}");
            assert_eq!(!notes.is_empty(), noted, "{flag:?} {given:?} {profile:?} {bound:?}");
        }
    }

    #[test]
    fn a_bound_on_the_profile_holds_for_what_it_presets() {
        let bounds = Layer {
            profile: Some(Profile::Strict),
            durability: Some(Durability::Process),
            ..Layer::default()
        };
        let flags = Layer { profile: Some(Profile::Codex), ..Layer::default() };
        let (found, notes) = Sources { bounds, ..Sources::default() }.resolve(
            flags,
            Profile::Strict,
            ApprovalPolicy::Never,
        );
        assert_eq!(found.profile, Profile::Strict);
        assert_eq!(found.fuzz, Pass::Exact);
        assert!(!found.overwrite);
        assert_eq!(found.durability, Durability::Full, "a bound is no preset");
        assert_eq!(notes.iter().map(|note| note.key).collect::<Vec<_>>(), ["profile"]);
    }

    #[test]
    fn globs_add_up_and_a_variable_replaces_the_users_file() {
        let layer = |text: &str| Layer {
            allow: Some(Patterns::of(vec![text.into()])),
            forbidden: Some(Patterns::of(vec![text.into()])),
            ..Layer::default()
        };
        let bounds = Layer { allow: None, ..layer("bound") };
        let sources = Sources {
            environment: layer("variable"),
            user: layer("file"),
            bounds,
            ..Sources::default()
        };
        let (found, notes) = sources.resolve(
            Layer::of_allow(&["flag".into()]),
            Profile::Strict,
            ApprovalPolicy::Never,
        );
        assert_eq!(found.allow.text(), "variable, flag");
        assert_eq!(found.forbidden.text(), "variable, bound");
        assert!(notes.is_empty());
    }
}
