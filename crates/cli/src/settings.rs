//! Where the settings come from: flags, then the environment, then the user's file, held within the
//! bounds of the workspace's file.
//!
//! A value comes from flags, then from `APPLY_PATCH_*`, then from
//! `$XDG_CONFIG_HOME/apply-patch/config.toml` (or `~/.config/…`). The result is held within the
//! bounds of `.apply-patch.toml` in the workspace: everyone who writes to the workspace can write
//! this file, so it can only make the program stricter. The bounds of all directories from the root
//! up to the project's top hold, each with patterns relative to its own directory.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use apply_patch_api::engine::commit::{self, Prefix};
use apply_patch_api::files::{Access, Error, Root};
use apply_patch_api::tools::settings::{
    Layer, Layers, Raw, VARIABLES, WORKSPACE_FILE, variable_of as variable,
};
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use crate::failure::Failure;
use crate::outside::config_home;

/// The largest configuration file, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// One key as `doctor` shows it.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) key: &'static str,
    /// The value and its source; `None` for the default.
    pub(crate) given: Option<(String, String)>,
    /// The most allowed by the workspace.
    pub(crate) bound: Option<String>,
}

/// The sources below the flags: the environment, the user's file, and the bounds of the
/// workspace's.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    environment: Layer,
    user: Layer,
    bounds: Layer,
    /// The faults of the files and the environment.
    broken: Vec<String>,
    /// The workspace, where there is one.
    root: Option<Root>,
}

impl Sources {
    /// Reads the two files and the environment.
    pub(crate) fn load(root: &Path) -> Result<Self, Failure> {
        let path = user_file();
        let user = path.as_deref().and_then(|path| {
            let read = apply_patch_api::files::read_config(path, MAX_FILE).map_err(unreadable);
            Some((path, read.transpose()?))
        });
        // To look through all variables once costs less than to look for each of ours.
        let any = std::env::vars_os().any(|(name, _)| is_own(name.as_encoded_bytes()));
        Self::of(root, user, any.then_some(|name: &str| std::env::var_os(name)))
    }

    /// The same, with the path and the bytes of the user's file given, or the error of reading, and
    /// a lookup for variables of the environment; `None` where none is of this program.
    pub(crate) fn of(
        root: &Path,
        user: Option<(&Path, Result<Vec<u8>, String>)>,
        variables: Option<impl Fn(&str) -> Option<OsString>>,
    ) -> Result<Self, Failure> {
        let mut sources = Self::default();
        if let Some((path, read)) = user {
            let user = read.and_then(|bytes| parse(path, &bytes));
            sources.user = sources.or_default(user);
        }
        if let Some(find) = variables {
            let environment = environment(find);
            sources.environment = sources.or_default(environment);
        }
        let Some(root) = open_workspace(root).map_err(Failure::Usage)? else { return Ok(sources) };
        sources.add_bounds(bounds(&root), &Prefix::default());
        // The bounds of a directory of the project hold for all directories below.
        for (above, prefix) in commit::directories_above(&root) {
            sources.add_bounds(bounds(&above), &prefix);
        }
        sources.root = Some(root);
        Ok(sources)
    }

    /// Adds the bounds of a file in a directory above, or remembers its fault.
    fn add_bounds(&mut self, read: Result<Layer, String>, prefix: &Prefix) {
        let bounds = self.or_default(read);
        self.bounds = bounds.seen_through(prefix).and(std::mem::take(&mut self.bounds));
    }

    /// Returns the settings read; for a faulty file, remembers the fault and returns the defaults.
    fn or_default(&mut self, read: Result<Layer, String>) -> Layer {
        read.unwrap_or_else(|problem| {
            self.broken.push(problem);
            Layer::default()
        })
    }

    /// The faults of the files and the environment. Their settings are unknown then, so no change
    /// is allowed that they could forbid.
    pub(crate) fn broken(&self) -> &[String] {
        &self.broken
    }

    /// Fails if something is wrong with one of them.
    pub(crate) fn checked(self) -> Result<Self, Failure> {
        match self.broken.first() {
            Some(problem) => Err(Failure::Usage(problem.clone())),
            None => Ok(self),
        }
    }

    /// The workspace, if opened.
    pub(crate) fn root(&self) -> Option<&Root> {
        self.root.as_ref()
    }

    /// The opened workspace, for use under the policy of the settings.
    pub(crate) fn into_root(self) -> Option<Root> {
        self.root
    }

    /// The settings of flags, the environment and the user's file, and the bounds.
    pub(crate) fn layers(&self, flags: Layer) -> Layers {
        let given = self.environment.clone().over(self.user.clone());
        Layers { given, bounds: self.bounds.clone() }.with(flags)
    }

    /// Every key, for `doctor`.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        keys()
            .map(|key| Shown { key, given: self.given(key), bound: self.bounds.text(key) })
            .collect()
    }

    /// The value of a key, and its source.
    fn given(&self, key: &str) -> Option<(String, String)> {
        if let Some(text) = self.environment.text(key) {
            return Some((text, format!("${}", variable(key))));
        }
        let text = self.user.text(key)?;
        Some((text, user_file().map(|path| path.display().to_string()).unwrap_or_default()))
    }
}

/// Returns whether a variable has a name of this program. On Windows upper and lower case are the
/// same there.
fn is_own(name: &[u8]) -> bool {
    let start = name.get(..VARIABLES.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(VARIABLES.as_bytes()))
}

/// The settings of the environment.
fn environment(find: impl Fn(&str) -> Option<OsString>) -> Result<Layer, String> {
    let mut layer = Layer::default();
    for key in keys() {
        let name = variable(key);
        let Some(value) = find(&name) else { continue };
        let text = value.to_str().ok_or_else(|| format!("${name}: it is not UTF-8"))?;
        layer.read(key, key, Raw::Text(text)).map_err(|problem| format!("${name}: {problem}"))?;
    }
    Ok(layer)
}

fn keys() -> impl Iterator<Item = &'static str> {
    Layer::KEYS.iter().map(|(key, _)| *key)
}

/// The key that is most like a word, if one is meant by it.
fn near(word: &str) -> Option<&'static str> {
    let near = keys().map(|key| (strsim::jaro_winkler(key, word), key));
    let nearest = near.filter(|near| near.0 > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map(|(_, key)| key)
}

/// The unknown variables among variables of the environment named like ours. Each with the variable
/// that may be meant.
pub(crate) fn unknown<'n>(
    names: impl Iterator<Item = &'n str>,
) -> impl Iterator<Item = (&'n str, Option<String>)> {
    /// The variables of programs around this one, and those that it sets for others.
    const OTHERS: [&str; 4] = ["TURN", "CHECKED_STATE", "FILE", "NATIVE"];
    let own = names.filter_map(|name| Some((name, name.strip_prefix(VARIABLES)?)));
    own.filter(|(name, word)| !OTHERS.contains(word) && variables().all(|known| known != *name))
        .map(|(name, word)| (name, near(&word.to_lowercase().replace('_', "-")).map(variable)))
}

/// The variables with settings.
pub(crate) fn variables() -> impl Iterator<Item = String> {
    keys().map(variable)
}

/// The keys, each with its variable and its description.
pub(crate) fn described() -> impl Iterator<Item = (&'static str, String, &'static str)> {
    keys().filter_map(|key| Some((key, variable(key), Layer::about(key)?)))
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
        let why = if key == "verify" {
            "runs commands, which a file in the workspace cannot do"
        } else {
            "loosens, and a file in the workspace can only tighten"
        };
        return Err(format!(
            "{}: this `{key}` {why}; put it into {place}, or into ${}, or give the flag",
            path.display(),
            variable(key)
        ));
    }
    Ok(bounds)
}

/// Opens the workspace; `None` where there is none.
fn open_workspace(root: &Path) -> Result<Option<Root>, String> {
    match Root::open(root, apply_patch_api::engine::policy()) {
        Ok(root) => Ok(Some(root)),
        // The command itself reports that, if it needs a workspace.
        Err(Error::NoRoot { .. }) => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

/// Reads the workspace's file: a regular file with one name, beneath the root and over no link. A
/// writer of the workspace must not choose another file for this process to read.
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

/// Reads a file: known keys, with valid values. Errors name the place and never quote the text.
fn parse(path: &Path, bytes: &[u8]) -> Result<Layer, String> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| format!("{}: it is not UTF-8", path.display()))?;
    read_keys(text).map_err(|fault| {
        format!("{}: {}: {}", path.display(), place(text, fault.offset), fault.problem)
    })
}

/// A fault of a configuration file.
struct FileFault {
    offset: usize,
    problem: String,
}

fn read_keys(text: &str) -> Result<Layer, FileFault> {
    let table = DeTable::parse(text).map_err(|error| FileFault {
        offset: error.span().map_or(text.len(), |span| span.start),
        problem: "this is not TOML".into(),
    })?;
    let mut layer = Layer::default();
    for (name, value) in table.get_ref() {
        let Some(key) = keys().find(|key| *key == name.get_ref()) else {
            let advice = match near(name.get_ref()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the keys are {}", keys().collect::<Vec<_>>().join(", ")),
            };
            let problem = format!("unknown key; {advice}");
            return Err(FileFault { offset: name.span().start, problem });
        };
        layer
            .read(key, key, Raw::File(&json(value.get_ref())))
            .map_err(|problem| FileFault { offset: value.span().start, problem })?;
    }
    Ok(layer)
}

/// Returns a value as JSON; null for one that no setting can have.
fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(yes) => (*yes).into(),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Array(values) => values.iter().map(|value| json(value.get_ref())).collect(),
        DeValue::Table(table) => {
            // As the file has them: the order of commands counts.
            let mut entries: Vec<_> = table.iter().collect();
            entries.sort_by_key(|(key, _)| key.span().start);
            let entries = entries.into_iter();
            entries.map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref()))).collect()
        }
        DeValue::Datetime(_) => Value::Null,
    }
}

/// A place in a text, in words.
fn place(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or(before);
    format!("line {}, column {}", before.matches('\n').count() + 1, line.chars().count() + 1)
}
