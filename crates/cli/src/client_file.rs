//! The settings for the configuration file of a client, as printed.

use serde_json::Value;

use crate::clients::{ConfigFormat, Setting, Snippet};

/// The settings alone, as a file has them.
pub(crate) fn block(snippet: &Snippet) -> String {
    match snippet.format {
        ConfigFormat::Json => {
            let mut whole = Value::Object(serde_json::Map::new());
            for Setting { keys, value } in &snippet.settings {
                let place = keys.iter().fold(&mut whole, |place, key| &mut place[key.as_str()]);
                *place = value.clone();
            }
            format!("{whole:#}\n")
        }
        ConfigFormat::Toml => snippet.settings.iter().map(table).collect(),
        ConfigFormat::Yaml => snippet.settings.iter().map(map).collect(),
    }
}

/// A table of TOML.
fn table(Setting { keys, value }: &Setting) -> String {
    // A text in JSON is one in TOML, and so is a list of them.
    let lines = entries(value).map(|(key, value)| format!("{key} = {value}\n"));
    std::iter::once(format!("[{}]\n", keys.join("."))).chain(lines).collect()
}

/// Maps of YAML, one in the other.
fn map(Setting { keys, value }: &Setting) -> String {
    let outer = keys.iter().enumerate().map(|(depth, key)| (depth, format!("{key}:")));
    // JSON is YAML.
    let inner = entries(value).map(|(key, value)| (keys.len(), format!("{key}: {value}")));
    outer.chain(inner).map(|(depth, line)| format!("{}{line}\n", "  ".repeat(depth))).collect()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
