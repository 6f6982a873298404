//! What models are told of the tools.

use file_tools::ToolInfo;
use file_tools::catalogue;
use file_tools::schemas;

use patch_session::{ErrorKind, Tool};
use serde_json::Value;
use testutils::tools::known;

use crate::support::Bench;

/// Write the file anew with `UPDATE_TOOLS=1 cargo test -p file-tools`.
#[test]
fn the_descriptions_and_schemas_are_the_committed_ones() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/catalogue.json");
    let now = serde_json::to_value(catalogue()).unwrap();
    if std::env::var_os("UPDATE_TOOLS").is_some() {
        std::fs::write(path, serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
    }
    let committed: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(now, committed, "see the comment above");
}

#[test]
fn every_tool_has_schemas_documentation_and_an_example() {
    let bench = Bench::new(&[]);
    for tool in Tool::ALL {
        let info = ToolInfo::of(tool);
        assert!(!info.title.is_empty(), "{tool} has no title");
        let does = info.description.split("\nErrors").next().unwrap();
        assert!(does.len() > 40, "{tool} does not say what it does");
        for schema in [&info.input_schema, &info.output_schema] {
            let fields = schema["properties"].as_object().unwrap_or_else(|| panic!("{tool}"));
            assert!(!fields.is_empty(), "{tool} has no schema");
        }
        let example = info.description.rsplit_once("\nExample: ").unwrap().1;
        let answer = bench.call(tool.as_str(), &serde_json::from_str(example).unwrap());
        let reason = &answer["error"]["details"]["reason"];
        assert_ne!(*reason, "bad_arguments", "{tool} does not take its own example");
    }
}

#[test]
fn each_is_short_and_says_what_to_do() {
    let mut all = 0;
    for tool in catalogue() {
        let whole = serde_json::to_string(&tool).unwrap().len();
        assert!(whole < 4000, "{} has {whole} bytes", tool.name);
        all += whole;
        for part in ["Errors", "Example: {"] {
            assert!(tool.description.contains(part), "{} lacks {part}", tool.name);
        }
        let example = tool.description.rsplit_once("Example: ").unwrap().1;
        assert!(serde_json::from_str::<Value>(example).is_ok(), "{example}");
        for word in tool.description.split(|c: char| !(c.is_ascii_lowercase() || c == '_')) {
            let kind = ErrorKind::ALL.iter().any(|kind| kind.as_str() == word);
            let known =
                Tool::named(word).is_some() || ["allow_delete", "node_modules"].contains(&word);
            assert!(kind || known || !word.contains('_'), "{}: {word} is not a kind", tool.name);
        }
    }
    // 24 600 bytes for 13 tools.
    assert!(13 * all < 24_600 * catalogue().len(), "all together have {all} bytes");
}

#[test]
fn the_brief_set_is_short_and_says_what_is_needed() {
    let brief = file_tools::brief_catalogue();
    let size = serde_json::to_string(&serde_json::json!({ "tools": brief })).unwrap().len();
    // 9450 bytes for 13 tools.
    assert!(13 * size < 9450 * brief.len(), "{size} bytes");
    for (whole, brief) in catalogue().iter().zip(&brief) {
        assert_eq!(whole.name, brief.name);
        let told = known(whole.name).told;
        assert!(!told.is_empty(), "{}: what does a model have to be told of it?", whole.name);
        for word in told {
            assert!(
                brief.description.contains(word),
                "{} does not say {word:?}: {}",
                brief.name,
                brief.description
            );
            assert!(whole.description.contains(word), "{} does not say {word:?}", whole.name);
        }
        let names = |tool: &file_tools::ToolInfo| {
            let names = tool.input_schema["properties"].as_object().unwrap().keys().cloned();
            // The answer that is cut names it.
            let names = names.filter(|name| name != "maxResultBytes");
            (names.collect::<Vec<_>>(), tool.input_schema["required"].clone())
        };
        assert_eq!(names(whole), names(brief), "{}: other arguments", whole.name);
    }
}

#[test]
fn schemas_are_plain() {
    fn look(name: &str, value: &Value) {
        match value {
            Value::Object(object) => {
                for word in [
                    "oneOf",
                    "anyOf",
                    "allOf",
                    "$ref",
                    "$defs",
                    "$schema",
                    "default",
                    "format",
                    "additionalProperties",
                ] {
                    assert!(!object.contains_key(word), "{name} has {word}: {value}");
                }
                if let Some(kind) = object.get("type").filter(|_| !object.contains_key("path")) {
                    assert!(kind.is_string() || kind.is_object(), "{name}: {value}");
                }
                object.values().for_each(|part| look(name, part));
            }
            Value::Array(parts) => parts.iter().for_each(|part| look(name, part)),
            _ => {}
        }
    }
    for tool in catalogue() {
        look(tool.name, &tool.input_schema);
        look(tool.name, &tool.output_schema);
        assert_eq!(tool.input_schema["type"], "object");
        for property in tool.input_schema["properties"].as_object().unwrap().values() {
            assert!(property["description"].is_string(), "{}: {property}", tool.name);
        }
    }
}

#[test]
fn examples_are_arguments() {
    for tool in catalogue() {
        let example: Value =
            serde_json::from_str(tool.description.rsplit_once("Example: ").unwrap().1).unwrap();
        let required = tool.input_schema["required"].as_array().cloned().unwrap_or_default();
        for name in &required {
            assert!(example.get(name.as_str().unwrap()).is_some(), "{}: {name}", tool.name);
        }
        for name in example.as_object().unwrap().keys() {
            assert!(tool.input_schema["properties"].get(name).is_some(), "{}: {name}", tool.name);
        }
    }
}

/// Write the page anew with `UPDATE_TOOLS=1 cargo test -p file-tools`.
#[test]
fn the_page_of_results_is_what_the_schemas_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/results.md");
    let page = page();
    if std::env::var_os("UPDATE_TOOLS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), page, "see the comment above");
}

fn page() -> String {
    let mut page = String::from(
        "# What the tools answer\n\n\
         Generated from the schemas that `apply-patch tool --list` prints. An answer is\n\
         `{\"ok\":true,\"output\":\"a sentence\",\"data\":{…}}` with the data below, or \
         `{\"ok\":false,\"error\":{…}}`:\n\
         [errors.md](errors.md). `?` marks what may be missing.\n\
         \n\
         * `normalised`, beside `data` or `error` (`edit.patch`: `notes`): arguments that were taken \
         in another form, as\n  \
         nothing is lost by that: a JSON text of a list, object, number, true or false; empty text \
         for what may be left\n  \
         out; `3.0`; an absolute path beneath the root.\n\
         * `warnings`, beside `data` (for a patch, `notes`): files that do not\n  \
         [parse](../profiles.md#files-that-do-not-parse) or get conflict markers; a change that is \
         missing in the log, may\n  \
         not last, or left something to tidy up.\n\
         * `maxResultBytes` bounds an answer; by default one that changes files has about 8 KiB. A \
         reading tool goes on\n  \
         with `cursor`, from `data.nextCursor`.\n\
         * `diff` is there where it is asked for: `stat` (`+2 -1`) or `full`; a dry run has it by default. \
         At the command line:\n  \
         `--json --diff none|stat|full`, of `apply`, `undo` and `redo`.\n",
    );
    let mut shown = Vec::new();
    for tool in Tool::ALL {
        let answer = schemas(tool).1;
        let data = if tool == Tool::EditPatch { &answer } else { &answer["properties"]["data"] };
        let own = if tool == Tool::EditPatch { ": a shape of its own, without `data`" } else { "" };
        let name = tool.as_str();
        if let Some(place) = place_of(data, &mut shown, name) {
            page += &format!("\n## `{name}`\n\nAs `{place}`.\n");
            continue;
        }
        page += &format!("\n## `{name}`{own}\n\n```text\n");
        rows(data, "", &mut page, &mut shown, name);
        page += "```\n";
    }
    page
}

/// The tool whose block has these fields already; otherwise they are noted as shown with this tool.
fn place_of(
    schema: &Value,
    shown: &mut Vec<(Value, &'static str)>,
    tool: &'static str,
) -> Option<&'static str> {
    let fields = schema.get("properties")?;
    let place = shown.iter().find(|(known, _)| known == fields).map(|&(_, place)| place);
    if place.is_none() {
        shown.push((fields.clone(), tool));
    }
    place
}

/// A line for each field, and those of the objects in it below, unless one above has them.
fn rows(
    schema: &Value,
    at: &str,
    page: &mut String,
    shown: &mut Vec<(Value, &'static str)>,
    tool: &'static str,
) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    // In an order that does not depend on how `serde_json` is built.
    let fields: std::collections::BTreeMap<_, _> =
        schema["properties"].as_object().into_iter().flatten().collect();
    for (name, field) in fields {
        let optional = if required.contains(&name.as_str().into()) { "" } else { "?" };
        let items = &field["items"];
        let kind = match field["type"].as_str().unwrap_or("any") {
            "array" => format!("{}[]", items["type"].as_str().unwrap_or("any")),
            kind => kind.to_owned(),
        };
        let what = field["description"].as_str().unwrap_or_default().replace('\n', " ");
        // What was said of a field of this name is not said again.
        let said = format!("{name}{optional}: {kind} // {what}");
        let what = if page.contains(&said) { String::new() } else { what };
        let inner = if items.is_object() { items } else { field };
        let place = place_of(inner, shown, tool);
        let fields = place.map(|place| format!(" Fields: as in {place}.")).unwrap_or_default();
        let said = [what, fields].concat();
        let comment = if said.is_empty() { "" } else { " // " };
        *page += &format!("{at}{name}{optional}: {kind}{comment}{}\n", said.trim());
        if place.is_none() {
            let at = format!("{at}{name}{}.", if items.is_object() { "[]" } else { "" });
            rows(inner, &at, page, shown, tool);
        }
    }
}
