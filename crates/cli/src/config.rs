//! What flags leave open: the environment, the user's file, and the workspace's file, which may only tighten.
//!
//! A value is looked for in flags, then in `APPLY_PATCH_*`, then in `$XDG_CONFIG_HOME/apply-patch/config.toml` (or
//! `~/.config/…`). What comes out is held within the bounds that `.apply-patch.toml` in the workspace sets: that file is
//! written by whoever writes to the workspace, and whatever it says makes the program stricter.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use fs_guard::{Access, Error, Globs, Policy, Root};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::args;
use crate::failure::Failure;
use crate::render;

/// The file in the workspace.
pub(crate) const WORKSPACE_FILE: &str = ".apply-patch.toml";

/// The largest configuration file that is read, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// The most patterns that a key may have, and the longest of them in bytes: each is compiled whenever the program starts.
const MAX_GLOBS: usize = 256;
const MAX_GLOB: usize = 1024;

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
            && let Some(bytes) = fs_guard::read_config(&path, MAX_FILE).map_err(unreadable)?
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
        if let Some(bytes) = read_workspace_file(root)? {
            let path = root.join(WORKSPACE_FILE);
            for (key, values) in parse(&path, &bytes)? {
                if loosens(key, &values) {
                    let place = user_file().map_or("the user's config.toml".into(), |path| path.display().to_string());
                    return Err(Failure::Usage(format!(
                        "{}: this `{key}` loosens, and a file in the workspace can only tighten; put it into {place}, \
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
        let mut policy = Policy::default();
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

/// Reads the workspace's file: a regular file of one name, beneath the root and over no link. Whoever can write to the
/// workspace may not choose another file that this process reads.
fn read_workspace_file(root: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let root = match Root::open(root, Policy::default()) {
        Ok(root) => root,
        Err(Error::Io { source, .. })
            if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            // The command itself says so, if it needs a workspace.
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let path = root.check(WORKSPACE_FILE, Access::Read).map_err(unreadable)?;
    match root.read(&path, MAX_FILE) {
        Ok((_, seen)) if seen.nlink > 1 => {
            let problem = format!("{WORKSPACE_FILE:?} has {} hard links; configuration has one name", seen.nlink);
            Err(unreadable(problem))
        }
        Ok((bytes, _)) => Ok(Some(bytes)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

fn unreadable(problem: impl fmt::Display) -> Failure {
    Failure::Usage(format!("configuration: {problem}"))
}

/// Reads a file: known keys, with values that they can have. Errors name the place and never quote what stands there.
fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<(&'static str, Vec<String>)>, Failure> {
    let wrong = |problem: &dyn fmt::Display| Failure::Usage(format!("{}: {problem}", path.display()));
    let text = std::str::from_utf8(bytes).map_err(|_| wrong(&"it is not UTF-8"))?;
    let wrong_at = |offset: usize, problem: String| wrong(&format!("{}: {problem}", place(text, offset)));
    let table = DeTable::parse(text)
        .map_err(|error| wrong_at(error.span().map_or(text.len(), |span| span.start), "this is not TOML".into()))?;
    let mut all = Vec::new();
    for (name, value) in table.into_inner() {
        let Some(&(key, kind)) = KEYS.iter().find(|(key, _)| key == name.get_ref()) else {
            let near = KEYS.iter().map(|(key, _)| (strsim::jaro_winkler(key, name.get_ref()), *key));
            let near = near.filter(|near| near.0 > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, key)| key);
            let advice = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the keys are {}", KEYS.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ")),
            };
            return Err(wrong_at(name.span().start, format!("unknown key; {advice}")));
        };
        let start = value.span().start;
        let values = values(kind, value).ok_or_else(|| wrong_at(start, must_be(key, kind)))?;
        check(key, kind, &values).map_err(|problem| wrong_at(start, problem))?;
        all.push((key, values));
    }
    Ok(all)
}

/// The value as texts; `None` when it is of another type than the key's.
fn values(kind: Kind, value: Spanned<DeValue<'_>>) -> Option<Vec<String>> {
    Some(match (kind, value.into_inner()) {
        (Kind::Globs(_), DeValue::Array(items)) => items
            .into_iter()
            .map(|item| match item.into_inner() {
                DeValue::String(text) => Some(text.into_owned()),
                _ => None,
            })
            .collect::<Option<_>>()?,
        (Kind::Bool, DeValue::Boolean(yes)) => vec![yes.to_string()],
        (Kind::Seconds, DeValue::Integer(seconds)) => vec![seconds.as_str().to_owned()],
        (Kind::Seconds, DeValue::Float(seconds)) => vec![seconds.as_str().to_owned()],
        (Kind::Word(_) | Kind::Free(_) | Kind::Command, DeValue::String(text)) => vec![text.into_owned()],
        _ => return None,
    })
}

/// A place in a text, in words.
fn place(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or(before);
    format!("line {}, column {}", before.matches('\n').count() + 1, line.chars().count() + 1)
}

fn must_be(key: &str, kind: Kind) -> String {
    let wanted = match kind {
        Kind::Word(words) | Kind::Free(words) => format!("one of {}", words.join(", ")),
        Kind::Bool => "true or false".into(),
        Kind::Globs(_) => "a list of globs".into(),
        Kind::Seconds => "a number of seconds".into(),
        Kind::Command => "a command".into(),
    };
    format!("`{key}` must be {wanted}")
}

/// Checks values; what is wrong is said without them.
fn check(key: &str, kind: Kind, values: &[String]) -> Result<(), String> {
    let good = match kind {
        Kind::Word(words) | Kind::Free(words) => words.contains(&values[0].as_str()),
        Kind::Bool => matches!(values[0].as_str(), "true" | "false"),
        Kind::Globs(_) => return check_globs(key, values),
        Kind::Seconds => args::seconds(&values[0]).is_ok(),
        Kind::Command => true,
    };
    if good { Ok(()) } else { Err(must_be(key, kind)) }
}

fn check_globs(key: &str, globs: &[String]) -> Result<(), String> {
    if globs.len() > MAX_GLOBS {
        return Err(format!("`{key}` has {} globs, more than {MAX_GLOBS}", globs.len()));
    }
    for (nth, glob) in globs.iter().enumerate() {
        if glob.len() > MAX_GLOB {
            return Err(format!("`{key}`: glob {} has {} bytes, more than {MAX_GLOB}", nth + 1, glob.len()));
        }
        if Globs::new([glob]).is_err() {
            return Err(format!("`{key}`: glob {} is malformed", nth + 1));
        }
    }
    Ok(())
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
