//! What flags leave open: the environment, the user's file, and the workspace's file, which may only tighten.
//!
//! A value is looked for in flags, then in `APPLY_PATCH_*`, then in `$XDG_CONFIG_HOME/apply-patch/config.toml` (or
//! `~/.config/…`). What comes out is held within the bounds that `.apply-patch.toml` in the workspace sets: that file is
//! written by whoever writes to the workspace, and whatever it says makes the program stricter.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use fs_guard::{Globs, Policy};

use crate::args;
use crate::failure::Failure;
use crate::render;

/// The file in the workspace.
pub(crate) const WORKSPACE_FILE: &str = ".apply-patch.toml";

/// The largest configuration file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// What a key can be.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// One of these words, the strictest first.
    Word(&'static [&'static str]),
    /// Yes or no; no is the stricter.
    Bool,
    /// Patterns; those of the workspace are added. `true` when more of them are stricter.
    Globs(bool),
    /// A word that has no stricter and looser.
    Free(&'static [&'static str]),
    Seconds,
    Command,
}

const KEYS: &[(&str, Kind)] = &[
    ("profile", Kind::Word(&["strict", "codex"])),
    ("durability", Kind::Word(&["full", "process", "none"])),
    ("approve", Kind::Word(&["ask", "auto", "never"])),
    ("forbidden", Kind::Globs(true)),
    ("guarded", Kind::Globs(true)),
    ("allow", Kind::Globs(false)),
    ("fuzz", Kind::Word(&["none", "trailing", "blanks", "unicode"])),
    ("ambiguous", Kind::Word(&["reject", "first"])),
    ("create-parents", Kind::Bool),
    ("overwrite", Kind::Bool),
    ("allow-delete", Kind::Bool),
    ("allow-move", Kind::Bool),
    ("names", Kind::Word(&["portable", "native"])),
    ("hard-links", Kind::Word(&["refuse", "break"])),
    ("color", Kind::Free(&["auto", "always", "never"])),
    ("lock-timeout", Kind::Seconds),
    ("pager", Kind::Command),
];

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Environment(String),
    UserFile(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "${name}"),
            Self::UserFile(path) => write!(f, "{}", path.display()),
        }
    }
}

/// What was found, by key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config {
    given: BTreeMap<&'static str, (Vec<String>, Source)>,
    bounds: BTreeMap<&'static str, Vec<String>>,
    quiet: bool,
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

impl Config {
    /// Reads what there is: two files and the environment.
    pub(crate) fn load(root: &Path, quiet: bool) -> Result<Self, Failure> {
        let mut config = Self { quiet, ..Self::default() };
        if let Some(path) = user_file()
            && let Some(bytes) = read(&path)?
        {
            for (key, values) in parse(&path, &bytes)? {
                config.given.insert(key, (values, Source::UserFile(path.clone())));
            }
        }
        for &(key, kind) in KEYS {
            let name = variable(key);
            let Some(value) = std::env::var_os(&name) else { continue };
            let wrong = |problem: String| Failure::Usage(format!("${name}: {problem}"));
            let text = value.into_string().map_err(|_| wrong("it is not UTF-8".into()))?;
            let values = match kind {
                Kind::Globs(_) => text.split(':').filter(|glob| !glob.is_empty()).map(str::to_owned).collect(),
                _ => vec![text],
            };
            check(key, kind, &values).map_err(wrong)?;
            config.given.insert(key, (values, Source::Environment(name)));
        }
        let path = root.join(WORKSPACE_FILE);
        if let Some(bytes) = read(&path)? {
            for (key, values) in parse(&path, &bytes)? {
                if loosens(key, &values) {
                    let shown = values.join(", ");
                    let place = user_file().map_or("the user's config.toml".into(), |path| path.display().to_string());
                    return Err(Failure::Usage(format!(
                        "{}: `{key}` ({shown}) loosens, and a file in the workspace can only tighten; put it into {place}, \
                         or into ${}, or give the flag",
                        path.display(),
                        variable(key)
                    )));
                }
                config.bounds.insert(key, values);
            }
        }
        Ok(config)
    }

    /// The value of a key: the flag, what the environment or the user's file says, or `preset`; within the bound.
    pub(crate) fn settle<T: ValueEnum>(&self, key: &'static str, flag: Option<T>, preset: Option<T>) -> Option<T> {
        let (wanted, explicit) = match (flag, self.given.get(key)) {
            (Some(flag), _) => (Some(flag), true),
            (None, Some((values, _))) => (value(&values[0]), true),
            (None, None) => (preset, false),
        };
        let Some(bound) = self.bounds.get(key) else { return wanted };
        let place = |text: &str| words(key).iter().position(|&word| word == text);
        let text = wanted.as_ref().and_then(|wanted| Some(wanted.to_possible_value()?.get_name().to_owned()));
        match text {
            Some(text) if place(&text) <= place(&bound[0]) => wanted,
            text => {
                if let Some(text) = text.filter(|_| explicit) {
                    self.note(key, &text, &bound[0]);
                }
                value(&bound[0])
            }
        }
    }

    /// The same for yes and no.
    pub(crate) fn settle_bool(&self, key: &'static str, flag: Option<bool>, preset: bool) -> bool {
        let given = self.given.get(key).map(|(values, _)| values[0] == "true");
        let explicit = flag.or(given);
        let wanted = explicit.unwrap_or(preset);
        if wanted && self.bounds.contains_key(key) {
            if explicit.is_some() {
                self.note(key, "true", "false");
            }
            return false;
        }
        wanted
    }

    fn note(&self, key: &str, wanted: &str, bound: &str) {
        if !self.quiet {
            render::message(&format!(
                "note: `{key}` is {bound}, not {wanted}: {WORKSPACE_FILE} in the workspace says so"
            ));
        }
    }

    /// How long to wait for the lock.
    pub(crate) fn lock_timeout(&self, flag: Option<Duration>) -> Duration {
        let given = || self.given.get("lock-timeout").and_then(|(values, _)| args::seconds(&values[0]).ok());
        flag.or_else(given).unwrap_or(Duration::from_secs(10))
    }

    /// The pager that the environment or the user's file names.
    pub(crate) fn pager(&self) -> Option<&str> {
        self.given.get("pager").map(|(values, _)| values[0].as_str())
    }

    /// What the guard allows.
    pub(crate) fn policy(&self, guard: &args::Guard, allow: &[String]) -> Result<Policy, Failure> {
        let mut policy = patch_engine::policy();
        let patterns = |key: &str| {
            let given = self.given.get(key).map(|(values, _)| &values[..]).unwrap_or_default();
            let bound = self.bounds.get(key).map(|values| &values[..]).unwrap_or_default();
            given.iter().chain(bound).map(String::as_str).collect::<Vec<_>>()
        };
        let wrong = |error: fs_guard::GlobError| Failure::Usage(error.to_string());
        for (globs, more) in [
            (&mut policy.forbidden, patterns("forbidden")),
            (&mut policy.guarded, patterns("guarded")),
            (&mut policy.allow, patterns("allow").into_iter().chain(allow.iter().map(String::as_str)).collect()),
        ] {
            more.into_iter().try_for_each(|pattern| globs.push(pattern)).map_err(wrong)?;
        }
        policy.names = match self.settle("names", guard.names, Some(args::Names::Portable)) {
            Some(args::Names::Native) => fs_guard::NamePolicy::Native,
            _ => fs_guard::NamePolicy::Portable,
        };
        policy.hard_links = match self.settle("hard-links", guard.hard_links, Some(args::HardLinks::Refuse)) {
            Some(args::HardLinks::Break) => fs_guard::HardLinks::Break,
            _ => fs_guard::HardLinks::Refuse,
        };
        Ok(policy)
    }

    /// Every key, for `doctor`.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let shown = |&(key, _): &(&'static str, Kind)| Shown {
            key,
            given: self.given.get(key).map(|(values, source)| (values.join(", "), source.to_string())),
            bound: self.bounds.get(key).map(|values| values.join(", ")),
        };
        KEYS.iter().map(shown).collect()
    }
}

/// The variable of a key.
fn variable(key: &str) -> String {
    format!("APPLY_PATCH_{}", key.replace('-', "_").to_uppercase())
}

/// The user's file, by the rules of the XDG base directories; `None` where there is no home.
pub(crate) fn user_file() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(config.join("apply-patch/config.toml"))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    fs_guard::read_config(path, MAX_FILE).map_err(|error| Failure::Usage(format!("configuration: {error}")))
}

/// Reads a file: known keys, with values that they can have.
fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<(&'static str, Vec<String>)>, Failure> {
    let wrong = |problem: &dyn fmt::Display| Failure::Usage(format!("{}: {problem}", path.display()));
    let text = std::str::from_utf8(bytes).map_err(|_| wrong(&"it is not UTF-8"))?;
    let table: toml::Table = toml::from_str(text).map_err(|error| wrong(&error.to_string().trim_end()))?;
    let mut all = Vec::new();
    for (name, value) in table {
        let Some(&(key, kind)) = KEYS.iter().find(|(key, _)| *key == name) else {
            let near = KEYS.iter().map(|(key, _)| (strsim::jaro_winkler(key, &name), *key)).filter(|near| near.0 > 0.8);
            let near = near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, key)| key);
            let advice = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is {}", KEYS.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ")),
            };
            return Err(wrong(&format!("there is no key `{name}`; {advice}")));
        };
        let values = match (kind, value) {
            (Kind::Globs(_), toml::Value::Array(items)) => items
                .into_iter()
                .map(|item| match item {
                    toml::Value::String(text) => Ok(text),
                    other => Err(wrong(&format!("`{key}` is a list of patterns, not of {}s", other.type_str()))),
                })
                .collect::<Result<_, _>>()?,
            (Kind::Bool, toml::Value::Boolean(yes)) => vec![yes.to_string()],
            (Kind::Seconds, toml::Value::Integer(seconds)) => vec![seconds.to_string()],
            (Kind::Seconds, toml::Value::Float(seconds)) => vec![seconds.to_string()],
            (Kind::Word(_) | Kind::Free(_) | Kind::Command, toml::Value::String(text)) => vec![text],
            (kind, other) => {
                return Err(wrong(&format!("`{key}` is {}, not a value of type {}", wanted(kind), other.type_str())));
            }
        };
        check(key, kind, &values).map_err(|problem| wrong(&problem))?;
        all.push((key, values));
    }
    Ok(all)
}

fn wanted(kind: Kind) -> String {
    match kind {
        Kind::Word(words) | Kind::Free(words) => format!("one of {}", words.join(", ")),
        Kind::Bool => "true or false".into(),
        Kind::Globs(_) => "a list of patterns".into(),
        Kind::Seconds => "a number of seconds".into(),
        Kind::Command => "a command".into(),
    }
}

fn check(key: &str, kind: Kind, values: &[String]) -> Result<(), String> {
    let good = match kind {
        Kind::Word(words) | Kind::Free(words) => words.contains(&values[0].as_str()),
        Kind::Bool => matches!(values[0].as_str(), "true" | "false"),
        Kind::Globs(_) => match Globs::new(values) {
            Ok(_) => true,
            Err(error) => return Err(format!("`{key}`: {error}")),
        },
        Kind::Seconds => args::seconds(&values[0]).is_ok(),
        Kind::Command => true,
    };
    if good { Ok(()) } else { Err(format!("`{key}` is {}, not {:?}", wanted(kind), values[0])) }
}

/// Whether a value can make the program do more than it would without; a bound that bounds nothing is meant to.
fn loosens(key: &str, values: &[String]) -> bool {
    match KEYS.iter().find(|(name, _)| *name == key).map(|(_, kind)| *kind) {
        Some(Kind::Word(words)) => words.last() == Some(&values[0].as_str()),
        Some(Kind::Bool) => values[0] == "true",
        Some(Kind::Globs(stricter)) => !stricter,
        _ => true,
    }
}

fn words(key: &str) -> &'static [&'static str] {
    match KEYS.iter().find(|(name, _)| *name == key) {
        Some((_, Kind::Word(words) | Kind::Free(words))) => words,
        _ => &[],
    }
}

/// A word that was checked as the value it names.
fn value<T: ValueEnum>(text: &str) -> Option<T> {
    T::from_str(text, false).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_a_value_of_its_flag() {
        fn known<T: ValueEnum>(key: &str) {
            assert!(!words(key).is_empty());
            for word in words(key) {
                assert!(value::<T>(word).is_some(), "{key} {word}");
            }
            assert_eq!(words(key).len(), T::value_variants().len(), "{key}");
        }
        known::<args::Profile>("profile");
        known::<args::Durability>("durability");
        known::<args::Approve>("approve");
        known::<args::Fuzz>("fuzz");
        known::<args::Ambiguous>("ambiguous");
        known::<args::Names>("names");
        known::<args::HardLinks>("hard-links");
        known::<args::When>("color");
    }

    #[test]
    fn a_bound_holds_and_never_loosens() {
        use args::Fuzz::{Blanks, None as Exact, Unicode};
        let with = |given: Option<&str>, bound: Option<&str>| {
            let source = || Source::Environment("X".into());
            let given = given.map(|it| ("fuzz", (vec![it.to_owned()], source()))).into_iter().collect();
            let bounds = bound.map(|it| ("fuzz", vec![it.to_owned()])).into_iter().collect();
            Config { given, bounds, quiet: true }
        };
        for (flag, given, preset, bound, wanted) in [
            (None, None, Exact, None, Exact),
            (None, None, Exact, Some("blanks"), Exact),
            (None, None, Unicode, Some("blanks"), Blanks),
            (None, Some("unicode"), Exact, None, Unicode),
            (None, Some("unicode"), Exact, Some("none"), Exact),
            (Some(Blanks), Some("unicode"), Exact, None, Blanks),
            (Some(Unicode), None, Exact, Some("blanks"), Blanks),
        ] {
            let found = with(given, bound).settle("fuzz", flag, Some(preset));
            assert_eq!(found, Some(wanted), "{flag:?} {given:?} {preset:?} {bound:?}");
        }
    }
}
