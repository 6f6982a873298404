//! Strict schemas, in which every argument is required: what a model would leave out it gives as
//! nothing.

use file_tools::ToolInfo;
use patch_session::Tool;
use serde_json::{Map, Value, json};

use crate::each_tool::every_call;
use crate::support::{patch, sha};

/// Nothing, for every argument that may be left out. True and false always say something, and so do
/// the words of a list.
fn nothing(schema: &Value) -> Map<String, Value> {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)))
    };
    let properties = schema["properties"].as_object().expect("arguments");
    let optional = properties.iter().filter(|(name, _)| !required(name));
    let empty = optional.filter_map(|(name, schema)| {
        let value = match schema["type"].as_str() {
            _ if schema.get("enum").is_some() => return None,
            Some("string") => json!(""),
            Some("integer") => json!(0),
            Some("array") => json!([]),
            _ => return None,
        };
        Some((name.clone(), value))
    });
    empty.collect()
}

#[test]
fn what_is_given_as_nothing_is_not_given() {
    let (bench, calls) = every_call();
    for (tool, required) in calls {
        let schema = ToolInfo::of(tool).input_schema;
        let mut args = nothing(&schema);
        if tool == Tool::EditFile {
            let mut filled = nothing(&schema["properties"]["edits"]["items"]);
            filled.extend(required["edits"][0].as_object().expect("an edit").clone());
            args.extend([("path".into(), json!("f")), ("edits".into(), json!([filled]))]);
        } else {
            args.extend(required.as_object().expect("arguments").clone());
        }
        // What only reads answers as it does without.
        let wanted = tool.is_read_only().then(|| bench.call(tool.as_str(), &required));
        let reply = bench.call(tool.as_str(), &args.into());
        assert!(reply["ok"] == true, "{}: {reply}", tool.as_str());
        assert_eq!(wanted.unwrap_or_else(|| reply.clone()), reply, "{}", tool.as_str());
    }
    assert_eq!(bench.read("f"), b"1\n2\n");
    assert_eq!(bench.read("g"), b"1\n");
    assert_eq!(bench.read("gone"), b"gone\n");
    assert!(bench.exists("moved"));
    assert!(bench.exists("created"));
    assert!(!bench.exists("left"));
    assert!(!bench.exists("new"));
    // The two in which empty text says something: a file that must not exist.
    let found = json!({ "path": "f", "content": "", "expectedSha256": "" });
    bench.fails("write_file", &found, "stale_file");
    let patch = patch("*** Update File: f\n@@\n-one\n+1\n");
    let found = json!({ "patch": patch, "expectedSha256ByPath": [{ "path": "f", "sha256": "" }] });
    bench.fails("apply_patch", &found, "stale_file");
    assert_eq!(sha(&bench.read("f")), sha(b"1\n2\n"));
}
