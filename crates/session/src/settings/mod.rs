//! Settings from every source: flags, environment variables, configuration files, the options of
//! programs, and the arguments of tools.
//!
//! One table has each setting with its key, its type and its default. A [`Layer`] has the settings
//! of one source. [`Layers`] combine the given settings with the bounds in the workspace's own
//! file, and resolve to [`Settings`].

mod checks;
pub(crate) mod choice;
mod keep;
pub(crate) mod names;
mod since;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fs_guard::{GlobError, HardLinks, NamePolicy, Policy};
use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::commit::{Durability, LOCK_TIMEOUT, Prefix, StatePlace};
use patch_engine::{Ambiguous, Options, Pass, Profile, Syntax, Whitespace, WhitespaceRules};

pub use checks::Checks;
pub use choice::{Choice, Color};
pub use keep::keep;
pub use names::{VARIABLES, WORKSPACE_FILE, variable_of};
pub use since::since;
pub use value::{
    Charsets, Count, Kind, Patterns, ProposalKeep, Raw, Size, TrashKeep, charset, glob, seconds,
};
use value::{Value, Wrong};

use crate::syntax::KnownFormats;

/// The default room for snapshots: 32 MiB.
///
/// Source text is compressed to less than half, so there is room for some three thousand versions
/// of files of 20 KiB: more than a day of an agent's reading and writing. A search through so many
/// still takes a few milliseconds.
pub const MAX_SNAPSHOTS: u64 = 32 << 20;

/// Who may give a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Whoever sends a patch.
    Patch,
    /// Whoever opens the workspace.
    Workspace,
    /// Whoever starts the program at a terminal.
    Terminal,
}

/// The table of settings: field, type, key, scope and default. A default may depend on the profile,
/// on the default approval, and on the engine's options of the profile. The table drives reading,
/// checking, bounding and showing.
macro_rules! settings {
    (|$profile:ident, $approve:ident, $options:ident| $(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty, $key:literal, $scope:ident = $preset:expr;
    )*) => {
        /// The settings of a run.
        #[derive(Debug, Clone)]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $field: $type,)*
        }

        /// The settings of one source; `None` for a setting not given there.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Layer {
            $($(#[doc = $doc])+ pub $field: Option<$type>,)*
        }

        impl Layer {
            /// The keys and their scopes, in the order of display.
            pub const KEYS: &[(&str, Scope)] = &[$(($key, Scope::$scope)),*];

            /// Returns the description of a key.
            #[must_use]
            pub fn about(key: &str) -> Option<&'static str> {
                match key {
                    $($key => Some(concat!($($doc),+).trim_ascii()),)*
                    _ => None,
                }
            }

            /// Returns the type of a key's value.
            #[must_use]
            pub fn kind(key: &str) -> Option<Kind> {
                match key {
                    $($key => Some(<$type as Value>::kind()),)*
                    _ => None,
                }
            }

            /// Reads the value of a key; `name` is the key's name in messages.
            ///
            /// # Errors
            ///
            /// The problem with the value, in a message without the value.
            ///
            /// # Panics
            ///
            /// When there is no such key.
            pub fn read(&mut self, key: &str, name: &str, raw: Raw<'_>) -> Result<(), String> {
                match key {
                    $($key => self.$field = Some(value(name, raw)?),)*
                    _ => unreachable!("BUG: {key} is not a key"),
                }
                Ok(())
            }

            /// Returns the value of a key as text.
            #[must_use]
            pub fn text(&self, key: &str) -> Option<String> {
                match key {
                    $($key => self.$field.as_ref().map(Value::text),)*
                    _ => None,
                }
            }

            /// Returns the first key with a value that can only loosen.
            #[must_use]
            pub fn loosens(&self) -> Option<&'static str> {
                $(if self.$field.as_ref().is_some_and(|value| !value.tightens()) {
                    return Some($key);
                })*
                None
            }

            /// Returns the bounds of a file in a directory above the root; `prefix` leads from
            /// there to the root.
            #[must_use]
            pub fn seen_through(self, prefix: &Prefix) -> Self {
                Self { $($field: self.$field.map(|value| value.seen_through(prefix)),)* }
            }

            /// Combines two bounds: where both have a value, the stricter one holds.
            #[must_use]
            pub fn and(self, more: Self) -> Self {
                Self { $($field: match (self.$field, more.$field) {
                    (Some(one), Some(other)) => Some(one.within(&other)),
                    (one, other) => one.or(other),
                },)* }
            }

            /// Fills the keys not given here from `below`.
            #[must_use]
            pub fn over(self, below: Self) -> Self {
                Self { $($field: self.$field.or(below.$field),)* }
            }
        }

        impl Settings {
            /// The defaults of a profile.
            #[must_use]
            pub fn preset($profile: Profile, $approve: ApprovalPolicy) -> Self {
                let $options = Options::new($profile);
                Self { $($field: $preset,)* }
            }

            /// Returns all settings as those of one source.
            #[must_use]
            pub fn layer(&self) -> Layer {
                Layer { $($field: Some(self.$field.clone()),)* }
            }

            /// Returns `given`, or else `self`, held to `bounds`. Adds a note for every overruled
            /// value of `given`.
            fn with(self, given: Layer, bounds: &Layer, notes: &mut Vec<Note>) -> Self {
                Self { $($field: held($key, given.$field, self.$field, bounds.$field.as_ref(), notes),)* }
            }
        }
    };
}

settings! { |profile, approve, options|
    /// The preset of the rules of planning.
    profile: Profile, "profile", Patch = profile;
    /// What a commit survives: power loss, a kill, or neither.
    durability: Durability, "durability", Workspace = Durability::Full;
    /// When a person is asked: always (`ask`), or where a file is deleted, replaced whole or
    /// guarded (`auto`).
    approve: ApprovalPolicy, "approve", Workspace = approve;
    /// More paths that are never touched.
    forbidden: Patterns<true>, "forbidden", Workspace = Patterns::default();
    /// Paths that are not forbidden after all.
    allow_forbidden: Patterns<false>, "allow-forbidden", Workspace = Patterns::default();
    /// More paths that make other programs run code.
    guarded: Patterns<true>, "guarded", Workspace = Patterns::default();
    /// Guarded paths that may be changed.
    allow: Patterns<false>, "allow", Workspace = Patterns::default();
    /// What may differ when a hunk is located.
    fuzz: Pass, "fuzz", Patch = if profile == Profile::Codex { Pass::Unicode } else { Pass::Exact };
    /// What to do with a hunk that fits in several places.
    ambiguous: Ambiguous, "ambiguous", Patch = Ambiguous::Reject;
    /// Whether hunks and sections that are applied already are left out.
    skip_applied: bool, "skip-applied", Patch = false;
    /// Whether the line numbers of a diff without context decide.
    unidiff_zero: bool, "unidiff-zero", Patch = false;
    /// Whether missing directories are made.
    create_parents: bool, "create-parents", Patch = options.create_parents;
    /// Whether added and moved files may replace others.
    overwrite: bool, "overwrite", Patch = options.overwrite;
    /// Whether files may be deleted.
    allow_delete: bool, "allow-delete", Patch = true;
    /// Whether files may be moved.
    allow_move: bool, "allow-move", Patch = true;
    /// Whether lines may be written that stand for lines that are left out, as `# ... existing code
    /// ...`.
    allow_placeholders: bool, "allow-placeholders", Patch = false;
    /// Which names new files may have.
    names: NamePolicy, "names", Workspace = NamePolicy::Portable;
    /// What to do with a file that has several hard links.
    hard_links: HardLinks, "hard-links", Workspace = HardLinks::Refuse;
    /// What is done about whitespace errors in inserted lines.
    whitespace: Whitespace, "whitespace", Patch = options.whitespace;
    /// What is a whitespace error, as in git's `core.whitespace`.
    whitespace_rules: WhitespaceRules, "whitespace-rules", Patch = options.whitespace_rules;
    /// What is done about a JSON, TOML or YAML file that does not parse any more.
    syntax: Syntax, "syntax", Patch = options.syntax;
    /// The charsets of files, each as `GLOB=LABEL`.
    encoding: Charsets, "encoding", Patch = Charsets::default();
    /// When output has colours.
    color: Color, "color", Terminal = Color::Auto;
    /// How long to wait for another process.
    lock_timeout: Duration, "lock-timeout", Workspace = LOCK_TIMEOUT;
    /// Whether the state directory may be one that others may enter.
    accept_open_state: bool, "accept-open-state", Workspace = false;
    /// The pager; `None` leaves it to `$PAGER`.
    pager: Option<String>, "pager", Terminal = None;
    /// How much room snapshots may take; none are kept at 0.
    max_snapshots: Size, "max-snapshots", Workspace = Size(MAX_SNAPSHOTS);
    /// Where the state directory is: in the project, or with the user, out of reach of `git clean`.
    state: StatePlace, "state", Workspace = StatePlace::Project;
    /// Commands that have to accept changed files; otherwise all is put back.
    verify: Checks, "verify", Workspace = Checks::default();
    /// Commands that format new files before a plan is shown: each reads a file and prints it, and
    /// `APPLY_PATCH_FILE` has its path.
    format_with: Checks, "format-with", Workspace = Checks::default();
    /// How long each command may take.
    verify_timeout: Duration, "verify-timeout", Workspace = Duration::from_secs(600);
    /// How long displaced files are kept: an age, a size, a number of transactions, or several of
    /// them, as `30d, 1GiB`. Each has its unit.
    trash_keep: TrashKeep, "trash-keep", Workspace = TrashKeep::default();
    /// How long a proposal waits for a decision, and how long the decision is kept then: an age, a
    /// size, a number of proposals, or several of them, as `30d, 64MiB`. Each has its unit.
    proposal_keep: ProposalKeep, "proposal-keep", Workspace = ProposalKeep::default();
    /// The largest file that is read or written.
    max_file_size: Size, "max-file-size", Patch = Size(options.max_file_size);
    /// How many file operations a patch may have.
    max_operations: Count, "max-operations", Patch = Count(options.parse.max_sections);
}

fn value<T: Value>(name: &str, raw: Raw<'_>) -> Result<T, String> {
    T::read(raw).map_err(|wrong| match wrong {
        Wrong::Type => format!("`{name}` must be {}", T::wanted()),
        Wrong::Because(problem) => format!("`{name}`: {problem}"),
    })
}

/// A given value, overruled by a bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The key.
    pub key: &'static str,
    /// The given value.
    pub wanted: String,
    /// The value in force.
    pub bound: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, wanted, bound } = self;
        write!(f, "`{key}` is {bound}, not {wanted}: {WORKSPACE_FILE} in the workspace says so")
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
    ///
    /// # Errors
    ///
    /// When a glob is malformed.
    pub fn policy(&self) -> Result<Policy, GlobError> {
        let mut policy = patch_engine::policy();
        // Exceptions come before the added patterns, which stay forbidden.
        self.allow_forbidden.except_from(&mut policy.forbidden)?;
        self.forbidden.push_to(&mut policy.forbidden)?;
        self.guarded.push_to(&mut policy.guarded)?;
        self.allow.push_to(&mut policy.allow)?;
        policy.names = self.names;
        policy.hard_links = self.hard_links;
        policy.accept_open_private_dir = self.accept_open_state;
        Ok(policy)
    }

    /// Returns the rules of planning.
    #[must_use]
    pub fn options(&self) -> Options {
        let mut options = Options::new(self.profile);
        options.encodings = self.encoding.encodings();
        options.max_file_size = self.max_file_size.0;
        options.parse.max_sections = self.max_operations.0;
        options.whitespace = self.whitespace;
        options.whitespace_rules = self.whitespace_rules;
        options.syntax = self.syntax;
        options.formats = Some(Arc::new(KnownFormats));
        options.allow_delete = self.allow_delete;
        options.allow_move = self.allow_move;
        options.allow_placeholders = self.allow_placeholders;
        options.create_parents = self.create_parents;
        options.overwrite = self.overwrite;
        options.placement.ambiguous = self.ambiguous;
        options.placement.skip_applied = self.skip_applied;
        options.placement.unidiff_zero = self.unidiff_zero;
        options.placement.passes =
            Pass::ALL.into_iter().filter(|&pass| pass <= self.fuzz).collect();
        options
    }
}

/// The settings of a patch that bound its size, and say nothing of its meaning.
const BOUNDS_OF_SIZE: [&str; 2] = ["max-file-size", "max-operations"];

impl Layer {
    /// Writes the settings that decide what a patch means, by key, to read them again with
    /// [`of_meaning`](Self::of_meaning).
    #[must_use]
    pub fn meaning(&self) -> BTreeMap<String, String> {
        let keys = Self::KEYS
            .iter()
            .filter(|(key, scope)| *scope == Scope::Patch && !BOUNDS_OF_SIZE.contains(key));
        keys.filter_map(|(key, _)| Some(((*key).to_owned(), self.text(key)?)))
            .filter(|(_, text)| !text.is_empty())
            .collect()
    }

    /// Reads settings that [`meaning`](Self::meaning) has written.
    ///
    /// # Errors
    ///
    /// A message about the first one that is none.
    pub fn of_meaning(written: &BTreeMap<String, String>) -> Result<Self, String> {
        let mut layer = Self::default();
        for (key, text) in written {
            let known =
                Self::KEYS.iter().find(|(known, scope)| known == key && *scope == Scope::Patch);
            let (key, _) = known.ok_or_else(|| format!("`{key}` is not a setting of a patch"))?;
            if Self::kind(key) == Some(Kind::Texts) {
                let all: Vec<&str> = text.split(", ").collect();
                layer.read(key, key, Raw::Program(&serde_json::json!(all)))?;
            } else {
                layer.read(key, key, Raw::Text(text))?;
            }
        }
        Ok(layer)
    }
}

/// The settings given at the start of the program or on opening the workspace, and the bounds of
/// the workspace's file.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// The given settings.
    pub given: Layer,
    /// The bounds.
    pub bounds: Layer,
}

impl Layers {
    /// Puts the settings of a call, or of the command line, over the given ones.
    #[must_use]
    pub fn with(mut self, mut call: Layer) -> Self {
        // Allowed paths add up; every other setting replaces the one below.
        if let (Some(more), Some(allow)) = (&call.allow, &mut self.given.allow) {
            allow.extend(more);
            call.allow = None;
        }
        self.given = call.over(self.given);
        self
    }

    /// Returns the settings: the given ones, or else the preset of `profile` and `approve`, held to
    /// the bounds. The notes name the overruled values.
    #[must_use]
    pub fn resolve(&self, profile: Profile, approve: ApprovalPolicy) -> (Settings, Vec<Note>) {
        // The profile presets the other settings, so its bound comes first.
        let preset = self.given.profile.unwrap_or(profile);
        let preset = self.bounds.profile.map_or(preset, |bound| preset.within(&bound));
        let mut notes = Vec::new();
        let settings = Settings::preset(preset, approve);
        (settings.with(self.given.clone(), &self.bounds, &mut notes), notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys in `names` are written by hand, for lack of access to the table.
    #[test]
    fn what_remedies_name_is_as_the_table_has_it() {
        use patch_engine::remedy::Setting::*;
        let settings = [
            CreateParents,
            Overwrite,
            Fuzz(Pass::Unicode),
            Codex,
            FirstPlace,
            SkipApplied,
            NativeNames,
            UnidiffZero,
            FixWhitespace,
            WarnOfSyntax,
            AllowDelete,
            AllowMove,
            AllowPlaceholders,
            Allow("x".into()),
            BreakHardLinks,
            Encoding("x".into()),
        ];
        for setting in &settings {
            let (key, _) = names::key_and_value(setting);
            let scope = Layer::KEYS.iter().find(|(known, _)| *known == key).expect(key).1;
            assert_eq!(names::OF_WORKSPACE.contains(&key), scope == Scope::Workspace, "{key}");
            let is_list = Layer::kind(key) == Some(Kind::Texts);
            assert_eq!(names::is_list(key), is_list, "{key}");
        }
    }

    #[test]
    fn a_bound_holds_and_never_loosens() {
        use Pass::{Blanks, Exact, Unicode};
        for (call, given, profile, bound, wanted, noted) in [
            (None, None, Profile::Strict, None, Exact, false),
            (None, None, Profile::Strict, Some(Blanks), Exact, false),
            (None, None, Profile::Codex, Some(Blanks), Blanks, false),
            (None, Some(Unicode), Profile::Strict, None, Unicode, false),
            (None, Some(Unicode), Profile::Strict, Some(Exact), Exact, true),
            (Some(Blanks), Some(Unicode), Profile::Strict, None, Blanks, false),
            (Some(Blanks), None, Profile::Strict, Some(Blanks), Blanks, false),
            (Some(Unicode), None, Profile::Strict, Some(Blanks), Blanks, true),
        ] {
            let [given_layer, bounds, call_layer] =
                [given, bound, call].map(|fuzz| Layer { fuzz, ..Layer::default() });
            let layers = Layers { given: given_layer, bounds }.with(call_layer);
            let (found, notes) = layers.resolve(profile, ApprovalPolicy::Never);
            assert_eq!(found.fuzz, wanted, "{call:?} {given:?} {profile:?} {bound:?}");
            assert_eq!(!notes.is_empty(), noted, "{call:?} {given:?} {profile:?} {bound:?}");
        }
    }

    #[test]
    fn the_meaning_of_a_patch_is_read_as_it_was_written() {
        for profile in [Profile::Strict, Profile::Standard, Profile::Codex] {
            let mut settings = Settings::preset(profile, ApprovalPolicy::Never);
            settings.encoding = Charsets::of(vec!["*.txt=windows-1252".into(), "b=latin1".into()]);
            settings.fuzz = Pass::Blanks;
            let written = settings.layer().meaning();
            assert!(!written.contains_key("durability"), "{written:?}");
            let read = Layer::of_meaning(&written).expect("settings");
            assert_eq!(read.meaning(), written);
            let again = Layers { given: read, ..Layers::default() };
            let (again, _) = again.resolve(Profile::default(), ApprovalPolicy::Never);
            assert_eq!(again.layer().meaning(), written);
        }
        for (key, text) in [("durability", "full"), ("fuzz", "much"), ("nothing", "x")] {
            let wrong = BTreeMap::from([(key.to_owned(), text.to_owned())]);
            assert!(Layer::of_meaning(&wrong).is_err(), "{key}");
        }
    }

    #[test]
    fn a_bound_on_the_profile_holds_for_what_it_presets() {
        let bounds = Layer {
            profile: Some(Profile::Strict),
            durability: Some(Durability::Process),
            ..Layer::default()
        };
        let call = Layer { profile: Some(Profile::Codex), ..Layer::default() };
        let layers = Layers { bounds, ..Layers::default() }.with(call);
        let (found, notes) = layers.resolve(Profile::Strict, ApprovalPolicy::Never);
        assert_eq!(found.profile, Profile::Strict);
        assert_eq!(found.fuzz, Pass::Exact);
        assert!(!found.overwrite);
        assert_eq!(found.durability, Durability::Full, "a bound is not a preset");
        assert_eq!(notes.iter().map(|note| note.key).collect::<Vec<_>>(), ["profile"]);
    }

    #[test]
    fn what_is_allowed_and_forbidden_adds_up() {
        let [given, bounds, call] = ["given", "bound", "call"].map(|text| Layer {
            allow: Some(Patterns::of(vec![text.into()])),
            forbidden: Some(Patterns::of(vec![text.into()])),
            ..Layer::default()
        });
        let layers = Layers { given, bounds: Layer { allow: None, ..bounds } };
        let call = Layer { forbidden: None, ..call };
        let (found, notes) = layers.with(call).resolve(Profile::Strict, ApprovalPolicy::Never);
        assert_eq!(found.allow.text(), "given, call");
        assert_eq!(found.forbidden.text(), "given, bound");
        assert_eq!(notes, []);
    }

    fn size(raw: Raw<'_>) -> Result<Option<u64>, String> {
        let mut layer = Layer::default();
        layer.read("max-file-size", "size", raw)?;
        Ok(layer.max_file_size.map(|size| size.0))
    }

    #[test]
    fn sizes_are_mebibytes_in_files_and_bytes_in_programs() {
        let two = serde_json::json!(2);
        assert_eq!(size(Raw::Text("2")), Ok(Some(2 << 20)));
        assert_eq!(size(Raw::File(&two)), Ok(Some(2 << 20)));
        assert_eq!(size(Raw::Program(&two)), Ok(Some(2)));
        assert!(size(Raw::Text("18446744073709551615")).is_err());
        assert!(size(Raw::File(&serde_json::json!("2"))).is_err());
    }
}
