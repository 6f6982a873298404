//! The JSON of each provider, with its keys in the order in which they are written here.

use std::borrow::Cow;

use patch_grammar::Dialect;
use patch_grammar::export::Format;
use serde::ser::{Serialize, Serializer};

use super::prompt::{Channel, description};

/// The name under which models know the tool.
pub const TOOL_NAME: &str = "apply_patch";

/// A JSON value whose objects keep the order of their keys, whatever the features of `serde_json`
/// are.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    Text(Cow<'static, str>),
    Bool(bool),
    Number(u32),
    List(Vec<&'static str>),
    Object(Vec<(&'static str, Json)>),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Bool(value) => value.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::List(items) => items.serialize(serializer),
            Self::Object(fields) => {
                serializer.collect_map(fields.iter().map(|(key, value)| (key, value)))
            }
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident;)*) => {
        $(impl From<$type> for Json {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

from! {
    &'static str => Text;
    String => Text;
    bool => Bool;
    u32 => Number;
    Vec<&'static str> => List;
}

macro_rules! object {
    ($($key:literal: $value:expr),* $(,)?) => {
        Json::Object(vec![$(($key, Json::from($value))),*])
    };
}
pub(super) use object;

/// A JSON schema of an object with these properties, of which the first is required.
fn schema(properties: Vec<(&'static str, Json)>) -> Json {
    let required = vec![properties[0].0];
    object! {
        "type": "object",
        "properties": Json::Object(properties),
        "required": required,
        "additionalProperties": false,
    }
}

fn patch(name: &'static str) -> (&'static str, Json) {
    (
        name,
        object! { "type": "string", "description": "The whole patch, from `*** Begin Patch` to \
        `*** End Patch`." },
    )
}

/// A custom tool of OpenAI, whose input is held to a grammar; nested as in Chat Completions or not.
pub(super) fn openai_custom(
    dialect: Dialect,
    format: Format,
    definition: &'static str,
    chat: bool,
) -> Json {
    let syntax = if format == Format::Regex { "regex" } else { "lark" };
    let description = description(dialect, Channel::Tool);
    if chat {
        let grammar = object! { "syntax": syntax, "definition": definition };
        let format = object! { "type": "grammar", "grammar": grammar };
        let custom = object! { "name": TOOL_NAME, "description": description, "format": format };
        return object! { "type": "custom", "custom": custom };
    }
    let format = object! { "type": "grammar", "syntax": syntax, "definition": definition };
    object! { "type": "custom", "name": TOOL_NAME, "description": description, "format": format }
}

/// A function of OpenAI with one string; nested as in Chat Completions or not.
pub(super) fn openai_function(dialect: Dialect, chat: bool) -> Json {
    let mut function = vec![
        ("name", TOOL_NAME.into()),
        ("description", description(dialect, Channel::Argument).into()),
        ("strict", true.into()),
        ("parameters", schema(vec![patch("input")])),
    ];
    if chat {
        return object! { "type": "function", "function": Json::Object(function) };
    }
    function.insert(0, ("type", "function".into()));
    Json::Object(function)
}

pub(super) fn anthropic(dialect: Dialect) -> Json {
    object! {
        "name": TOOL_NAME,
        "description": description(dialect, Channel::Argument),
        "input_schema": schema(vec![patch("patch")]),
        "strict": true,
    }
}

pub(super) fn gemini(dialect: Dialect) -> Json {
    let text = object! { "type": "STRING", "description": "The whole patch, from `*** Begin \
    Patch` to `*** End Patch`." };
    let parameters = object! {
        "type": "OBJECT",
        "properties": object! { "patch": text },
        "required": vec!["patch"],
    };
    object! {
        "name": TOOL_NAME,
        "description": description(dialect, Channel::Argument),
        "parameters": parameters,
    }
}

pub(super) fn anthropic_editor(max_characters: Option<u32>) -> Json {
    let mut editor = vec![
        ("type", "text_editor_20250728".into()),
        ("name", "str_replace_based_edit_tool".into()),
    ];
    editor.extend(max_characters.map(|most| ("max_characters", most.into())));
    Json::Object(editor)
}

pub(super) fn mcp(dialect: Dialect) -> Json {
    let file = object! {
        "type": "object",
        "properties": object! {
            "path": object! { "type": "string" },
            "sha256": object! { "type": "string" },
        },
        "required": vec!["path", "sha256"],
    };
    let expected = object! {
        "type": "array",
        "description": "The SHA-256 in hex that files must have before the patch; an empty string \
                        for one that must not exist.",
        "items": file,
    };
    let atomic = object! {
        "type": "boolean",
        "description": "Whether all of the patch is applied or none of it.",
        "default": true,
    };
    let dry_run = object! { "type": "boolean", "description": "Whether to say only what would change.", "default": false };
    let profile = object! {
        "type": "string",
        "description": "How a hunk finds its place.",
        "enum": vec!["strict", "codex"],
    };
    object! {
        "name": TOOL_NAME,
        "title": "Apply a patch",
        "description": description(dialect, Channel::Argument),
        "inputSchema": object! {
            "type": "object",
            "properties": Json::Object(vec![
                patch("patch"),
                ("expectedSha256ByPath", expected),
                ("atomic", atomic),
                ("dryRun", dry_run),
                ("profile", profile),
            ]),
            "required": vec!["patch"],
        },
        "annotations": object! {
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": false,
            "openWorldHint": false,
        },
    }
}
