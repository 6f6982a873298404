//! What is wrong with the arguments of a call: everything at once, with the names that were probably meant.

use serde_json::Value;

/// How like two names must be for one to be taken for the other, by Jaro and Winkler.
const ALIKE: f64 = 0.8;

/// Everything in `args` that does not fit a plain JSON schema, in words. Empty when nothing is found: a schema does not say
/// everything that a tool checks.
pub(crate) fn problems(schema: &Value, args: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, args, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let place = if at.is_empty() { "the arguments".to_owned() } else { format!("`{at}`") };
    if let Some(problem) = schema["type"].as_str().and_then(|wanted| wrong_type(wanted, value)) {
        found.push(format!("{place} must be {problem}"));
        return;
    }
    if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.contains(value)) {
        let choices: Vec<_> = choices.iter().map(ToString::to_string).collect();
        found.push(format!("{place} must be one of {}", choices.join(", ")));
    }
    if let (Some(properties), Some(fields)) = (schema["properties"].as_object(), value.as_object()) {
        let name = |field: &str| if at.is_empty() { field.to_owned() } else { format!("{at}.{field}") };
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let missing: Vec<_> =
            required.filter(|field| !fields.contains_key(*field)).map(|field| format!("`{}`", name(field))).collect();
        if !missing.is_empty() {
            found.push(format!("{} {} missing", missing.join(" and "), if missing.len() == 1 { "is" } else { "are" }));
        }
        for (field, value) in fields {
            match properties.get(field) {
                // As good as absent, where it may be absent.
                Some(_) if value.is_null() => {}
                Some(schema) => check(schema, value, &name(field), found),
                None => found.push(unknown(&name(field), field, properties.keys().map(String::as_str))),
            }
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (nth, value) in values.iter().enumerate() {
            check(items, value, &format!("{at}[{nth}]"), found);
        }
    }
}

/// What a value of the wrong type should be.
fn wrong_type(wanted: &str, value: &Value) -> Option<&'static str> {
    let (fits, words) = match wanted {
        "object" => (value.is_object(), "an object"),
        "array" => (value.is_array(), "a list"),
        "string" => (value.is_string(), "a string"),
        "boolean" => (value.is_boolean(), "true or false"),
        "integer" => (value.is_i64() || value.is_u64(), "an integer"),
        "number" => (value.is_number(), "a number"),
        _ => (true, ""),
    };
    (!fits).then_some(words)
}

/// Tells that a field is not known, and which one was probably meant.
fn unknown<'k>(place: &str, field: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    // The same name in another style: `old_text` for `oldText`.
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let likeness = |name: &&str| if plain(name) == plain(field) { 1.0 } else { strsim::jaro_winkler(name, field) };
    let near = known.clone().map(|name| (likeness(&name), name)).filter(|near| near.0 >= ALIKE);
    match near.max_by(|left, right| left.0.total_cmp(&right.0)) {
        Some((_, name)) => format!("`{place}` is not known; did you mean `{name}`?"),
        None => {
            let all: Vec<_> = known.map(|name| format!("`{name}`")).collect();
            format!("`{place}` is not known; there is {}", all.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::Tool;

    #[test]
    fn all_that_is_wrong_is_found_at_once() {
        for (tool, args, wanted) in [
            (Tool::EditFile, json!({}), "`path` and `edits` are missing"),
            (
                Tool::ReadFile,
                json!({ "path": "a", "start_line": 1 }),
                "`start_line` is not known; did you mean `startLine`?",
            ),
            (Tool::ReadFile, json!({ "pth": 1 }), "`path` is missing; `pth` is not known; did you mean `path`?"),
            (
                Tool::ReadFile,
                json!({ "path": 1, "startLine": "x" }),
                "`path` must be a string; `startLine` must be an integer",
            ),
            (
                Tool::EditFile,
                json!({ "path": "a", "expectedSha256": "", "edits": [{ "oldText": "a", "with": "b" }] }),
                "`edits[0].newText` is missing; `edits[0].with` is not known; there is `oldText`, `newText`, `replaceAll`, `expectedOccurrences`",
            ),
            (Tool::EditPatch, json!({ "patch": "", "dryRun": true }), "`dryRun` is not known; did you mean `dry_run`?"),
            (Tool::ApplyPatch, json!([]), "the arguments must be an object"),
            (
                Tool::SearchFiles,
                json!({ "query": "a", "mode": "fuzzy" }),
                "`mode` must be one of \"path\", \"text\", \"regex\"",
            ),
            (Tool::Glob, json!({ "pattern": "a" }), ""),
        ] {
            let found = problems(&tool.info().input_schema, &args).join("; ");
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
