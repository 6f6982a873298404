//! Hints under the bounds of a workspace: none asks for what its own file forbids.

use patch_engine::Profile;
use patch_engine::commit::approval::ApprovalPolicy;
use serde_json::Value;

use crate::answer::error::ToolError;
use crate::answer::hints::Hint;
use crate::settings::{Layer, Layers, Raw, WORKSPACE_FILE};

/// Leaves out of an error the hints that the bounds overrule.
#[must_use]
pub fn within(mut error: ToolError, layers: &Layers) -> ToolError {
    for own in &mut error.reject_hints {
        *own = hints_within(std::mem::take(own), layers);
    }
    let hints = hints_within(std::mem::take(&mut error.hints), layers);
    if hints.is_empty() { error } else { error.hints(hints) }
}

/// Leaves out the hints that the bounds overrule. At least one is left: to ask whoever can change
/// the file.
#[must_use]
pub fn hints_within(hints: Vec<Hint>, layers: &Layers) -> Vec<Hint> {
    let mut asks = None;
    let mut left: Vec<_> = hints
        .into_iter()
        .filter_map(|hint| match hint {
            Hint::UseFlag { flag } if flag_is_overruled(&flag, layers) => {
                asks.get_or_insert(format!("allow `{flag}`"));
                None
            }
            Hint::UseArgument { argument, value }
                if argument_is_overruled(&argument, &value, layers) =>
            {
                asks.get_or_insert(format!("allow `{argument}`: {value}"));
                None
            }
            Hint::AskPerson { what, flag: Some(flag) } if flag_is_overruled(&flag, layers) => {
                Some(Hint::AskPerson { what: format!("{what}, in {WORKSPACE_FILE}"), flag: None })
            }
            hint => Some(hint),
        })
        .collect();
    if left.is_empty() {
        let ask =
            |what| Hint::AskPerson { what: format!("{what}, in {WORKSPACE_FILE}"), flag: None };
        left.extend(asks.map(ask));
    }
    left
}

fn flag_is_overruled(flag: &str, layers: &Layers) -> bool {
    let Some(flag) = flag.strip_prefix("--") else { return false };
    let (key, value) = flag.split_once(['=', ' ']).unwrap_or((flag, "true"));
    is_overruled(key, Raw::Text(value), layers)
}

fn argument_is_overruled(argument: &str, value: &Value, layers: &Layers) -> bool {
    is_overruled(&key_of(argument), Raw::Program(value), layers)
}

/// Whether a bound overrules a value of a setting.
fn is_overruled(key: &str, value: Raw<'_>, layers: &Layers) -> bool {
    let mut call = Layer::default();
    if !Layer::KEYS.iter().any(|(known, _)| *known == key) || call.read(key, key, value).is_err() {
        return false;
    }
    let layers = layers.clone().with(call);
    let (_, notes) = layers.resolve(Profile::default(), ApprovalPolicy::default());
    notes.iter().any(|note| note.key == key)
}

/// Settings and the arguments that give them, where the names differ.
const OTHER_NAMES: [(&str, &str); 1] = [("create-parents", "createParentDirectories")];

/// Returns the setting that an argument of a tool gives.
fn key_of(argument: &str) -> String {
    let other = OTHER_NAMES.iter().find(|(_, name)| *name == argument);
    other.map_or_else(|| argument.replace('_', "-"), |(key, _)| (*key).to_owned())
}

/// Returns the argument of a tool that gives a setting.
pub(crate) fn argument_of(key: &str) -> String {
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == key);
    other.map_or_else(|| key.replace('-', "_"), |(_, name)| (*name).to_owned())
}
