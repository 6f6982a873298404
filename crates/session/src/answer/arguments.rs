//! Reading the arguments of a call, and what is wrong with them: everything at once, with the names
//! that were probably meant.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use patch_engine::remedy::ArgumentChange;

use crate::json;

/// Reads an argument that may be left out. Strict schemas require every argument, and none may be
/// null there, so that a model gives empty text, 0 or an empty list for what it would leave out.
pub fn given<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de> + Default + PartialEq,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.filter(|value| *value != T::default()))
}

/// Takes the arguments for what the schema wants, where nothing is lost by that: a JSON text of a
/// list, an object, a number, or true or false for what is in it; and for what may be left out,
/// empty text as left out. An integer may be written as 3.0: to JSON schema both are the same. Adds
/// a note for each.
pub fn normalise(schema: &Value, args: &mut Value, notes: &mut Vec<String>) {
    normalise_at(schema, args, "", notes);
}

fn normalise_at(schema: &Value, value: &mut Value, at: &str, notes: &mut Vec<String>) {
    let type_name = schema["type"].as_str().unwrap_or_default();
    if let Value::String(text) = value
        && type_name != "string"
        && let Some(found) = json::unique(text.as_bytes()).ok()
        && let found = whole(type_name, &found).unwrap_or(found)
        && (of_type(type_name).1(&found)
            // The error then names what is wrong with the value itself.
            || matches!(type_name, "array" | "object") && (found.is_array() || found.is_object()))
    {
        notes.push(match at {
            "" => "the arguments were a JSON text, and were read as what is in it".into(),
            at => format!("`{at}` was a JSON text, and was read as what is in it"),
        });
        *value = found;
    }
    if let Some(found) = whole(type_name, value) {
        notes.push(format!("`{at}` was {value}, and was read as {found}"));
        *value = found;
    }
    match value {
        Value::Object(fields) => {
            let properties = &schema["properties"];
            fields.retain(|name, value| {
                let wanted = &properties[name];
                // An empty text is one, unless only some words will do.
                let takes_text = wanted["type"] == "string" && wanted["enum"].is_null();
                let left_out =
                    value == "" && !wanted.is_null() && !takes_text && !is_required(schema, name);
                if left_out {
                    notes.push(format!("`{}` was empty, and was left out", field(at, name)));
                }
                !left_out
            });
            for (name, value) in fields {
                normalise_at(&properties[name], value, &field(at, name), notes);
            }
        }
        Value::Array(items) => {
            for (nth, value) in items.iter_mut().enumerate() {
                normalise_at(&schema["items"], value, &format!("{at}[{nth}]"), notes);
            }
        }
        _ => {}
    }
}

/// Returns the integer that a number with a fraction of nothing is, where one is wanted.
fn whole(type_name: &str, value: &Value) -> Option<Value> {
    let number = value.as_f64().filter(|_| matches!(type_name, "integer" | "signed"))?;
    Some(number.to_string().parse::<i64>().ok()?.into()).filter(|_| value.is_f64())
}

/// The Jaro-Winkler similarity from which one name is taken for the other.
const ALIKE: f64 = 0.8;

/// Returns the name that was probably meant, if one is much like it.
pub fn most_alike<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = known.map(|known| (strsim::jaro_winkler(known, name), known));
    let near = near.filter(|near| near.0 >= ALIKE);
    near.max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, known)| known)
}

/// The problems in words, and the changes that correct them.
#[derive(Debug, Default)]
pub struct ArgumentProblems {
    pub problems: Vec<String>,
    pub(crate) changes: Vec<ArgumentChange>,
}

/// Finds everything in `args` that does not fit a plain JSON schema. The result may be empty for
/// bad arguments: a schema does not say everything that a tool checks.
pub fn problems(schema: &Value, args: &Value) -> ArgumentProblems {
    let mut found = ArgumentProblems::default();
    check(schema, args, "", &mut found);
    // An argument that was given under another name is not missing.
    let renamed = |name: &str| {
        let list = format!("{name}[0].");
        let gives = |to: &str| to == name || to.starts_with(&list);
        found.changes.iter().any(|it| matches!(it, ArgumentChange::Rename { to, .. } if gives(to)))
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
    let needs_none = schema["required"].as_array().is_none_or(Vec::is_empty);
    let is_needed = |name: &str| needs_none || is_required(schema, name);
    let give = |(name, schema): (&String, &Value)| ArgumentChange::Give {
        argument: name.clone(),
        wanted: wanted(schema),
    };
    properties.filter(|(name, _)| is_needed(name)).map(give).collect()
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.contains(&name.into()))
}

/// Returns the name of a field of the argument `at`.
fn field(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn check(schema: &Value, value: &Value, at: &str, found: &mut ArgumentProblems) {
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
        let name = |name: &str| field(at, name);
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
                Some(_) if value.is_null() && !is_required(schema, field) => {}
                Some(schema) => check(schema, value, &name(field), found),
                None => unknown(&name(field), field, (schema, properties, fields), found),
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

/// Names that tools have for the same argument, without the marks between their words.
const SAME: &[&[&str]] = &[
    &["path", "filepath", "filename", "file", "targetfile", "targetpath", "relativepath"],
    &["path", "root", "directory", "dir", "dirpath", "directorypath", "folder", "cwd"],
    &["oldtext", "oldstring", "oldstr", "search", "find"],
    &["newtext", "newstring", "newstr", "replace", "replacement", "replacewith"],
    &["content", "contents", "filetext", "text", "newcontent"],
    &["inserttext", "newstr", "newstring", "newtext", "text"],
    &["patch", "input", "diff", "patchtext"],
    &["frompath", "source", "sourcepath", "src", "oldpath", "from"],
    &["topath", "destination", "destinationpath", "dest", "newpath", "to"],
    &["query", "pattern", "regex", "searchterm"],
    &["startline", "offset", "linestart", "fromline"],
    &["endline", "lineend", "toline"],
    &["includeglobs", "include", "includepattern", "includepatterns", "glob"],
    &["excludeglobs", "exclude", "excludepattern", "excludepatterns"],
    &["expectedsha256", "sha256", "hash"],
];

/// Returns a name without the marks between its words.
fn plain(name: &str) -> String {
    name.replace(['_', '-'], "").to_lowercase()
}

/// Returns whether two names mean the same: in another style, or in another tool.
fn means_same(one: &str, other: &str) -> bool {
    let both = [plain(one), plain(other)];
    both[0] == both[1]
        || SAME.iter().any(|names| both.iter().all(|name| names.contains(&name.as_str())))
}

/// Notes that a field is not known, and which one was probably meant: one of those beside it, or
/// one in the first element of a list that is needed and missing.
fn unknown(
    place: &str,
    name: &str,
    (schema, properties, given): (&Value, &Map<String, Value>, &Map<String, Value>),
    found: &mut ArgumentProblems,
) {
    let at = place.strip_suffix(name).unwrap_or_default();
    // One that is given has its value.
    let others = || properties.keys().filter(|known| !given.contains_key(*known));
    let beside = || others().find(|known| means_same(known, name)).cloned();
    let within = || {
        let missing = |list: &str| is_required(schema, list) && !given.contains_key(list);
        properties.iter().filter(|(list, _)| missing(list)).find_map(|(list, schema)| {
            let fields = schema["items"]["properties"].as_object()?;
            let known = fields.keys().find(|known| means_same(known, name))?;
            Some(format!("{list}[0].{known}"))
        })
    };
    let near = || most_alike(name, others().map(String::as_str)).map(ToOwned::to_owned);
    match beside().or_else(within).or_else(near) {
        Some(meant) => {
            found.problems.push(format!("`{place}` is not known; did you mean `{meant}`?"));
            let to = format!("{at}{meant}");
            found.changes.push(ArgumentChange::Rename { argument: place.into(), to });
        }
        None => {
            let all: Vec<_> = properties.keys().map(|known| format!("`{known}`")).collect();
            found.problems.push(format!("`{place}` is not known; there is {}", all.join(", ")));
            found.changes.push(ArgumentChange::Omit { argument: place.into() });
        }
    }
}
