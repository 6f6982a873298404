//! JSON with comments and with commas at the end of lists.

use apply_patch_api::tools::JSONC;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::Value;

use super::text::put;
use crate::clients::Setting;

/// The text with the setting; the same text if it has it.
///
/// # Errors
///
/// When the text is not JSON, or has something else where the setting belongs.
pub(super) fn with(text: &str, setting: &Setting) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{\n}\n" } else { text };
    let (root, before) = parse(text)?;
    let mut wanted = before.clone();
    put(&mut wanted, setting);
    if wanted == before {
        return Ok(text.to_owned());
    }
    let keys = &setting.keys;
    let mut object = root.object_value().ok_or("it is not a JSON object")?;
    let mut value = &wanted;
    for (nth, key) in keys.iter().enumerate() {
        value = &value[key.as_str()];
        let mut named =
            object.properties().into_iter().filter(|one| one.decoded_name().as_ref() == Some(key));
        let Some(property) = named.next() else {
            // All that is missing, as one member.
            object.append(key, input(value));
            return checked(&root, &wanted);
        };
        let named_so = keys[..=nth].join(".");
        if named.next().is_some() {
            return Err(format!("it has `{named_so}` twice"));
        }
        if nth + 1 < keys.len() {
            object = property
                .object_value()
                .ok_or_else(|| format!("`{named_so}` in it is not an object"))?;
        } else {
            property.set_value(input(value));
        }
    }
    checked(&root, &wanted)
}

/// Edited text is only taken if it means what it should.
fn checked(root: &CstRootNode, wanted: &Value) -> Result<String, String> {
    let text = root.to_string();
    match parse(&text) {
        Ok((_, value)) if value == *wanted => Ok(text),
        _ => Err("its structure is not as expected".into()),
    }
}

fn parse(text: &str) -> Result<(CstRootNode, Value), String> {
    let root = CstRootNode::parse(text, &JSONC)
        .map_err(|error| format!("it is not JSON, from line {} on", error.line_display()))?;
    match root.to_serde_value() {
        Some(value @ Value::Object(_)) => Ok((root, value)),
        _ => Err("it is not a JSON object".into()),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(*is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(key, value)| (key.clone(), input(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_the_order_stay() {
        let one = Setting::new(&["m", "us"], json!({ "a": 1 }));
        for (before, after) in [
            ("", "{\n  \"m\": {\n    \"us\": {\n      \"a\": 1\n    }\n  }\n}\n"),
            ("{}", "{\n  \"m\": {\n    \"us\": {\n      \"a\": 1\n    }\n  }\n}"),
            (
                "{\r\n\t\"k\": 1, // one\r\n\t// two\r\n}\r\n",
                "{\r\n\t\"k\": 1, // one\r\n\t\"m\": {\r\n\
                 \t\t\"us\": {\r\n\t\t\t\"a\": 1,\r\n\t\t},\r\n\t},\r\n\t// two\r\n}\r\n",
            ),
            (
                "{\n    \"m\": {\n        \"z\": [1,  2 ,] // last\n    }\n}",
                "{\n    \"m\": {\n        \"z\": [1,  2 ,], // last\n\
                 \x20       \"us\": {\n            \"a\": 1\n        }\n    }\n}",
            ),
            (
                "{\"m\": {\"z\": 1}}",
                "{\"m\": {\n    \"z\": 1,\n    \"us\": {\n      \"a\": 1\n    }\n  }}",
            ),
            (
                "{\"m\": {\"us\": /* old */ 2, \"z\": 1}}",
                "{\"m\": {\"us\": /* old */ {\n      \"a\": 1\n    }, \"z\": 1}}",
            ),
            ("{ \"m\":{\"us\":{\"a\" : 1.0e0}}}", "{ \"m\":{\"us\":{\n      \"a\": 1\n    }}}"),
        ] {
            let found = with(before, &one).unwrap_or_else(|error| panic!("{before}: {error}"));
            assert_eq!(found, after, "{before}");
            assert_eq!(with(&found, &one).as_ref(), Ok(&found), "the second time changes nothing");
        }
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        let one = Setting::new(&["m", "us"], json!({ "a": 1 }));
        for (text, why) in [
            ("[]", "it is not a JSON object"),
            ("{\"m\": []}", "`m` in it is not an object"),
            ("{\"m\": {}, \"m\": {}}", "it has `m` twice"),
            ("{\n\"m\": {\n", "it is not JSON, from line 2 on"),
            ("{\"k\": nope}", "it is not JSON, from line 1 on"),
            ("{} {}", "it is not JSON, from line 1 on"),
            ("{\"k\": /* 1}", "it is not JSON, from line 1 on"),
            (
                &format!("{}{}", "{\"a\":".repeat(2000), "}".repeat(2000)),
                "it is not JSON, from line 1 on",
            ),
        ] {
            assert_eq!(with(text, &one), Err(why.to_owned()), "{text}");
        }
    }
}
