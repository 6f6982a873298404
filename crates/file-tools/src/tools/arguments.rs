//! Reading the arguments of a call, and what is wrong with them: everything at once, with the names
//! that were probably meant.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use patch_engine::remedy::ArgumentChange;

/// Reads an argument that may be left out. Strict schemas require every argument, and none may be
/// null there, so that a model gives empty text, 0 or an empty list for what it would leave out.
pub(crate) fn given<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de> + Default + PartialEq,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.filter(|value| *value != T::default()))
}

/// The Jaro-Winkler similarity from which one name is taken for the other.
const ALIKE: f64 = 0.8;

/// The problems in words, and the changes that correct them.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) problems: Vec<String>,
    pub(crate) changes: Vec<ArgumentChange>,
}

/// Finds everything in `args` that does not fit a plain JSON schema. The result may be empty for
/// bad arguments: a schema does not say everything that a tool checks.
pub(crate) fn problems(schema: &Value, args: &Value) -> Found {
    let mut found = Found::default();
    check(schema, args, "", &mut found);
    // An argument that was given under another name is not missing.
    let renamed = |name: &str| {
        found.changes.iter().any(|it| matches!(it, ArgumentChange::Rename { to, .. } if to == name))
    };
    let changes = found
        .changes
        .iter()
        .filter(|it| !matches!(it, ArgumentChange::Give { argument, .. } if renamed(argument)));
    found.changes = changes.cloned().collect();
    found
}

/// Returns the changes that give every argument that a call needs; all arguments where it needs
/// none.
pub(crate) fn needed(schema: &Value) -> Vec<ArgumentChange> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let required = schema["required"].as_array().filter(|names| !names.is_empty());
    let is_needed = |name: &str| required.is_none_or(|names| names.contains(&name.into()));
    let give = |(name, schema): (&String, &Value)| ArgumentChange::Give {
        argument: name.clone(),
        wanted: wanted(schema),
    };
    properties.filter(|(name, _)| is_needed(name)).map(give).collect()
}

fn check(schema: &Value, value: &Value, at: &str, found: &mut Found) {
    if at.is_empty() && !value.is_object() {
        found.problems.push("the arguments must be an object".into());
        found.changes = needed(schema);
        return;
    }
    let fits = schema["type"].as_str().is_none_or(|wanted| of_type(wanted).1(value));
    if !fits || schema["enum"].as_array().is_some_and(|choices| !choices.contains(value)) {
        let wanted = wanted(schema);
        found.problems.push(format!("`{at}` must be {wanted}"));
        found.changes.push(ArgumentChange::Give { argument: at.into(), wanted });
        return;
    }
    if let (Some(properties), Some(fields)) = (schema["properties"].as_object(), value.as_object())
    {
        let name =
            |field: &str| if at.is_empty() { field.to_owned() } else { format!("{at}.{field}") };
        let required =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut missing = Vec::new();
        for field in required.filter(|field| !fields.contains_key(*field)) {
            let wanted = wanted(&properties[field]);
            missing.push(format!("`{}`", name(field)));
            found.changes.push(ArgumentChange::Give { argument: name(field), wanted });
        }
        if !missing.is_empty() {
            let verb = if missing.len() == 1 { "is" } else { "are" };
            found.problems.push(format!("{} {verb} missing", missing.join(" and ")));
        }
        for (field, value) in fields {
            match properties.get(field) {
                // An optional argument may be null.
                Some(_) if value.is_null() => {}
                Some(schema) => check(schema, value, &name(field), found),
                None => unknown(&name(field), field, properties.keys().map(String::as_str), found),
            }
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (nth, value) in values.iter().enumerate() {
            check(items, value, &format!("{at}[{nth}]"), found);
        }
    }
}

/// Says in words what a value has to be.
fn wanted(schema: &Value) -> String {
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<_> = choices.iter().map(ToString::to_string).collect();
        return format!("one of {}", choices.join(", "));
    }
    of_type(schema["type"].as_str().unwrap_or_default()).0.into()
}

/// Returns what a value of this type is in words, and the check for it.
fn of_type(name: &str) -> (&'static str, fn(&Value) -> bool) {
    match name {
        "object" => ("an object", Value::is_object),
        "array" => ("a list", Value::is_array),
        "string" => ("a string", Value::is_string),
        "boolean" => ("true or false", Value::is_boolean),
        // No tool takes a negative number; the editor's takes -1.
        "integer" => ("an integer from 0", Value::is_u64),
        "signed" => ("an integer", Value::is_i64),
        _ => ("a value", |_| true),
    }
}

/// Notes that a field is not known, and which one was probably meant.
fn unknown<'k>(
    place: &str,
    field: &str,
    known: impl Iterator<Item = &'k str> + Clone,
    found: &mut Found,
) {
    // The same name in another style: `old_text` for `oldText`.
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let likeness = |name: &&str| {
        if plain(name) == plain(field) { 1.0 } else { strsim::jaro_winkler(name, field) }
    };
    let near = known.clone().map(|name| (likeness(&name), name)).filter(|near| near.0 >= ALIKE);
    match near.max_by(|left, right| left.0.total_cmp(&right.0)) {
        Some((_, name)) => {
            let to = format!("{}{name}", place.strip_suffix(field).unwrap_or_default());
            found.problems.push(format!("`{place}` is not known; did you mean `{name}`?"));
            found.changes.push(ArgumentChange::Rename { argument: place.into(), to });
        }
        None => {
            let all: Vec<_> = known.map(|name| format!("`{name}`")).collect();
            found.problems.push(format!("`{place}` is not known; there is {}", all.join(", ")));
            found.changes.push(ArgumentChange::Omit { argument: place.into() });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::tool::Tool;

    #[test]
    fn all_that_is_wrong_is_found_at_once() {
        for (tool, args, wanted) in [
            (Tool::EditFile, json!({}), "`path` and `edits` are missing"),
            (
                Tool::ReadFile,
                json!({ "path": "a", "start_line": 1 }),
                "`start_line` is not known; did you mean `startLine`?",
            ),
            (
                Tool::ReadFile,
                json!({ "pth": 1 }),
                "`path` is missing; `pth` is not known; did you mean `path`?",
            ),
            (
                Tool::ReadFile,
                json!({ "path": 1, "startLine": "x" }),
                "`path` must be a string; `startLine` must be an integer from 0",
            ),
            (
                Tool::EditFile,
                json!({ "path": "a", "expectedSha256": "", "edits": [{ "oldText": "a", "with": "b" }] }),
                "`edits[0].newText` is missing; `edits[0].with` is not known; there is `oldText`, \
                 `newText`, `replaceAll`, `expectedOccurrences`",
            ),
            (
                Tool::EditPatch,
                json!({ "patch": "", "dryRun": true }),
                "`dryRun` is not known; did you mean `dry_run`?",
            ),
            (Tool::ApplyPatch, json!([]), "the arguments must be an object"),
            (
                Tool::SearchFiles,
                json!({ "query": "a", "mode": "fuzzy" }),
                "`mode` must be one of \"path\", \"text\", \"regex\"",
            ),
            (Tool::Glob, json!({ "pattern": "a" }), ""),
        ] {
            let found = problems(&tool.info().input_schema, &args).problems.join("; ");
            let sorted = |text: &str| {
                let mut parts: Vec<_> = text.split(['`', ',', ' ']).map(str::to_owned).collect();
                parts.sort();
                parts
            };
            // The schema's fields have no fixed order.
            assert_eq!(sorted(&found), sorted(wanted), "{} {args}: {found}", tool.as_str());
        }
    }
}
