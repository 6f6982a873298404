//! Reading the arguments of a call. All their problems are reported at once, with the names
//! probably meant.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use patch_engine::remedy::ArgumentChange;

use crate::json;

/// Reads an optional argument. Under a strict schema every argument is required and none may be
/// null, so a model sends empty text, 0 or an empty list in place of an argument left out.
pub fn given<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de> + Default + PartialEq,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.filter(|value| *value != T::default()))
}

/// Converts the arguments to the types of the schema, where nothing is lost: the JSON text of a
/// list, an object, a number or a boolean is decoded, and empty text for an optional argument
/// counts as left out. An integer may be written as 3.0, which is the same in JSON schema. Adds a
/// note for each conversion.
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
            // The error then names the fault in the value itself.
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
                // Empty text is a value, unless the schema lists the allowed words.
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

/// Returns a number without a fraction as an integer, if the schema wants an integer.
fn whole(type_name: &str, value: &Value) -> Option<Value> {
    let number = value.as_f64().filter(|_| matches!(type_name, "integer" | "signed"))?;
    Some(number.to_string().parse::<i64>().ok()?.into()).filter(|_| value.is_f64())
}

/// The least Jaro-Winkler similarity at which one name is taken for another.
const ALIKE: f64 = 0.8;

/// Returns the known name most like the given one, if they are alike enough.
pub fn most_alike<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = known.map(|known| (strsim::jaro_winkler(known, name), known));
    let near = near.filter(|near| near.0 >= ALIKE);
    near.max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, known)| known)
}

/// The problems in words, and their corrections.
#[derive(Debug, Default)]
pub struct ArgumentProblems {
    pub problems: Vec<String>,
    pub(crate) changes: Vec<ArgumentChange>,
}

/// Checks `args` against a plain JSON schema. The result may be empty for bad arguments: a tool
/// checks more than its schema says.
pub fn problems(schema: &Value, args: &Value) -> ArgumentProblems {
    let mut found = ArgumentProblems::default();
    check(schema, args, "", &mut found);
    // An argument given under another name is not missing.
    let given: Vec<String> = found.changes.iter().filter_map(new_name).map(str::to_owned).collect();
    found.changes.retain(|change| match change {
        ArgumentChange::Give { argument, .. } => !given.iter().any(|name| gives(name, argument)),
        _ => true,
    });
    found
}

/// Returns the new name of a renamed argument.
fn new_name(change: &ArgumentChange) -> Option<&str> {
    match change {
        ArgumentChange::Rename { to, .. } => Some(to),
        _ => None,
    }
}

/// Returns whether an argument of this name gives `wanted`: itself, or a field of its first
/// element.
fn gives(name: &str, wanted: &str) -> bool {
    name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with("[0]."))
}

/// Returns the changes to give every required argument; all arguments if none is required.
pub(crate) fn needed(schema: &Value) -> Vec<ArgumentChange> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let needs_none = schema["required"].as_array().is_none_or(Vec::is_empty);
    properties
        .filter(|(name, _)| needs_none || is_required(schema, name))
        .map(|(name, schema)| ArgumentChange::Give {
            argument: name.clone(),
            wanted: wanted(schema),
        })
        .collect()
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
        let mut wanted = wanted(schema);
        if schema["type"] == "string" && (value.is_object() || value.is_array()) {
            // Its blanks and line feeds are not known, so it is not written as text here.
            wanted += " with the text itself, and not JSON";
        }
        found.problems.push(format!("`{at}` must be {wanted}"));
        found.changes.push(ArgumentChange::Give { argument: at.into(), wanted });
        return;
    }
    if let (Some(properties), Some(fields)) = (schema["properties"].as_object(), value.as_object())
    {
        let required =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut missing = Vec::new();
        for name in required.filter(|name| !fields.contains_key(*name)) {
            let argument = field(at, name);
            missing.push(format!("`{argument}`"));
            let wanted = wanted(&properties[name]);
            found.changes.push(ArgumentChange::Give { argument, wanted });
        }
        if !missing.is_empty() {
            let verb = if missing.len() == 1 { "is" } else { "are" };
            found.problems.push(format!("{} {verb} missing", missing.join(" and ")));
        }
        let object = Fields { schema, known: properties, given: fields };
        for (name, value) in fields {
            match properties.get(name) {
                // An optional argument may be null.
                Some(_) if value.is_null() && !is_required(schema, name) => {}
                Some(schema) => check(schema, value, &field(at, name), found),
                None => object.report_unknown(at, name, found),
            }
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (nth, value) in values.iter().enumerate() {
            check(items, value, &format!("{at}[{nth}]"), found);
        }
    }
}

/// Describes the allowed values.
fn wanted(schema: &Value) -> String {
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<_> = choices.iter().map(ToString::to_string).collect();
        return format!("one of {}", choices.join(", "));
    }
    of_type(schema["type"].as_str().unwrap_or_default()).0.into()
}

/// Describes the values of a type, and returns the check for them.
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

/// Names of the same argument in various tools, without the marks between words.
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

/// Arguments of other tools about the lines to read, and the arguments to give in their place.
struct LinesOfOthers {
    names: &'static [&'static str],
    words: &'static str,
    gives: &'static [(&'static str, &'static str)],
}

const LINES: [LinesOfOthers; 3] = [
    LinesOfOthers {
        names: &["limit", "head", "maxlines", "numlines", "linecount", "lines"],
        words: "`endLine` is the last line to read",
        gives: &[("endLine", "the last line, and no number of lines")],
    },
    LinesOfOthers {
        names: &["viewrange", "linerange", "range"],
        words: "`startLine` and `endLine` are the first and the last line to read",
        gives: &[("startLine", "the first line"), ("endLine", "the last line")],
    },
    LinesOfOthers {
        names: &["tail"],
        words: "`startLine` is the first line to read, and an answer has the `lineCount`",
        gives: &[("startLine", "the first line, and no number of lines")],
    },
];

/// Returns a name without the marks between its words.
fn plain(name: &str) -> String {
    name.replace(['_', '-'], "").to_lowercase()
}

/// Returns whether two names mean the same argument, in two styles or in two tools.
fn means_same(one: &str, other: &str) -> bool {
    let both = [plain(one), plain(other)];
    both[0] == both[1]
        || SAME.iter().any(|names| both.iter().all(|name| names.contains(&name.as_str())))
}

/// The fields of an object: those in the schema, and those in the call.
struct Fields<'a> {
    schema: &'a Value,
    known: &'a Map<String, Value>,
    given: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// Returns the known fields without a value in the call.
    fn open(&self) -> impl Iterator<Item = &'a String> {
        let given = self.given;
        self.known.keys().filter(move |known| !given.contains_key(*known))
    }

    /// Finds the field probably meant by an unknown name: an open field of the object, or a field
    /// in the first element of a missing list.
    fn meant_by(&self, name: &str) -> Option<String> {
        if let Some(same) = self.open().find(|known| means_same(known, name)) {
            return Some(same.clone());
        }
        self.in_missing_list(name)
            .or_else(|| most_alike(name, self.open().map(String::as_str)).map(ToOwned::to_owned))
    }

    fn in_missing_list(&self, name: &str) -> Option<String> {
        self.open().filter(|list| is_required(self.schema, list)).find_map(|list| {
            let fields = self.known[list]["items"]["properties"].as_object()?;
            let known = fields.keys().find(|known| means_same(known, name))?;
            Some(format!("{list}[0].{known}"))
        })
    }

    /// Reports a number of lines, or a range of them, where the first and the last line are wanted.
    /// Returns whether the field is one.
    fn report_lines(&self, name: &str, found: &mut ArgumentProblems) -> bool {
        let has_lines = ["startLine", "endLine"].iter().all(|name| self.known.contains_key(*name));
        let plain_name = plain(name);
        let lines = LINES.iter().find(|lines| lines.names.contains(&plain_name.as_str()));
        let Some(lines) = lines.filter(|_| has_lines) else { return false };
        found.problems.push(format!("`{name}` is not known; {}", lines.words));
        found.changes.push(ArgumentChange::Omit { argument: name.to_owned() });
        let open = lines.gives.iter().filter(|(argument, _)| !self.given.contains_key(*argument));
        found.changes.extend(open.map(|(argument, wanted)| ArgumentChange::Give {
            argument: (*argument).to_owned(),
            wanted: (*wanted).to_owned(),
        }));
        true
    }

    /// Reports a field missing from the schema, and suggests another name if one was probably
    /// meant.
    fn report_unknown(&self, at: &str, name: &str, found: &mut ArgumentProblems) {
        if at.is_empty() && self.report_lines(name, found) {
            return;
        }
        let argument = field(at, name);
        match self.meant_by(name) {
            Some(meant) => {
                found.problems.push(format!("`{argument}` is not known; did you mean `{meant}`?"));
                found.changes.push(ArgumentChange::Rename { to: field(at, &meant), argument });
            }
            None => {
                let all: Vec<_> = self.known.keys().map(|known| format!("`{known}`")).collect();
                found
                    .problems
                    .push(format!("`{argument}` is not known; there is {}", all.join(", ")));
                found.changes.push(ArgumentChange::Omit { argument });
            }
        }
    }
}
