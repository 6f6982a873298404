//! Remedies under the bounds of a workspace: none asks for a setting forbidden by its own file.

use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::remedy::{ArgumentValue, ForPerson, Setting};
use patch_engine::{Profile, Remedy};
use serde_json::json;

use crate::answer::error::ToolError;
use crate::settings::names::key_and_value;
use crate::settings::{Layer, Layers, Raw};

/// Leaves out the remedies of an error that are overruled by the settings.
#[must_use]
pub fn within(mut error: ToolError, layers: &Layers) -> ToolError {
    for own in &mut error.reject_remedies {
        *own = remedies_within(std::mem::take(own), layers);
    }
    error.remedies = remedies_within(std::mem::take(&mut error.remedies), layers);
    let caller = error.caller;
    error.addressed(caller)
}

/// Leaves out the remedies overruled by the settings. At least one is left: to ask whoever can
/// change the file.
#[must_use]
pub fn remedies_within(remedies: Vec<Remedy>, layers: &Layers) -> Vec<Remedy> {
    let mut asks = None;
    let mut left: Vec<_> = remedies
        .into_iter()
        .filter_map(|remedy| match remedy {
            Remedy::Set(setting) if is_overruled(&setting, layers) => {
                asks.get_or_insert(ForPerson::AllowInFile(setting));
                None
            }
            Remedy::Ask(ForPerson::Allow(setting)) if is_overruled(&setting, layers) => {
                Some(Remedy::Ask(ForPerson::AllowInFile(setting)))
            }
            // No exception lifts a pattern added by a setting.
            Remedy::Ask(ForPerson::ExceptFromRule { glob }) if is_added(&glob, layers) => {
                Some(Remedy::Ask(ForPerson::Own(format!(
                    "take `{glob}` out of `forbidden`: `apply-patch doctor` shows where it is set"
                ))))
            }
            remedy => Some(remedy),
        })
        .collect();
    if left.is_empty() {
        left.extend(asks.map(Remedy::Ask));
    }
    left
}

/// Returns whether a setting adds the pattern to the forbidden ones.
fn is_added(glob: &str, layers: &Layers) -> bool {
    [&layers.given, &layers.bounds]
        .into_iter()
        .filter_map(|layer| layer.forbidden.as_ref())
        .any(|patterns| patterns.contains(glob))
}

/// Returns whether a bound overrules a setting.
fn is_overruled(setting: &Setting, layers: &Layers) -> bool {
    let (key, value) = key_and_value(setting);
    if !Layer::KEYS.iter().any(|(known, _)| *known == key) {
        return false;
    }
    let mut call = Layer::default();
    let read = match &value {
        ArgumentValue::Text(text) => call.read(key, key, Raw::Text(text)),
        value => call.read(key, key, Raw::Program(&json!(value))),
    };
    if read.is_err() {
        return false;
    }
    let layers = layers.clone().with(call);
    let (_, notes) = layers.resolve(Profile::default(), ApprovalPolicy::default());
    notes.iter().any(|note| note.key == key)
}
