//! The configuration files of other programs: what to print for one, and one with settings of ours,
//! in which everything else stays as it was: other settings, their order, and comments.

mod json;
mod text;
mod toml;
mod yaml;

use serde_json::Value;

use self::text::put;
use crate::clients::{ConfigEdit, ConfigFormat};

/// The settings alone, as a file has them.
pub(crate) fn block(edit: &ConfigEdit) -> String {
    match edit.format {
        ConfigFormat::Json => {
            let mut whole = Value::Object(serde_json::Map::new());
            edit.settings.iter().for_each(|setting| put(&mut whole, setting));
            format!("{whole:#}\n")
        }
        ConfigFormat::Toml => {
            edit.settings.iter().map(|one| toml::block(&one.keys, &one.value)).collect()
        }
        ConfigFormat::Yaml => {
            edit.settings.iter().map(|one| yaml::block(&one.keys, &one.value)).collect()
        }
    }
}

/// The text of a file with the settings; `None` when it has them.
///
/// # Errors
///
/// In words, why that cannot be done for certain: then a person has to.
pub(crate) fn edited(text: &str, edit: &ConfigEdit) -> Result<Option<String>, String> {
    let (bom, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let mut new = body.to_owned();
    for setting in &edit.settings {
        new = match edit.format {
            ConfigFormat::Json => json::with(&new, setting)?,
            ConfigFormat::Toml => toml::with(&new, &setting.keys, &setting.value)?,
            ConfigFormat::Yaml => yaml::with(&new, &setting.keys, &setting.value)?,
        };
    }
    Ok((new != body).then(|| format!("{bom}{new}")))
}
