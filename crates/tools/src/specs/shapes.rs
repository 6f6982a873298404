//! The JSON of each provider, with its keys in the order of this file.

use std::borrow::Cow;

use patch_grammar::Dialect;
use patch_grammar::export::Format;
use serde::ser::{Serialize, Serializer};

use super::options::SpecOptions;
use super::prompt::{Channel, description};

/// The name of the tool for models.
pub const TOOL_NAME: &str = "apply_patch";

/// A JSON value whose objects keep the order of their keys, whatever the features of `serde_json`
/// are.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    Text(Cow<'static, str>),
    Bool(bool),
    Number(u32),
    List(Vec<Json>),
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
    Vec<Json> => List;
}

fn texts<const N: usize>(texts: [&'static str; N]) -> Vec<Json> {
    texts.map(Json::from).into()
}

macro_rules! object {
    ($($key:literal: $value:expr),* $(,)?) => {
        Json::Object(vec![$(($key, Json::from($value))),*])
    };
}
pub(super) use object;

/// A JSON schema of an object with these properties, of which the first is required.
fn schema(properties: Vec<(&'static str, Json)>) -> Json {
    let required = texts([properties[0].0]);
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

/// Where the fields of a tool of OpenAI stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nesting {
    /// Beside its `type`: the Responses API.
    Flat,
    /// In an object of their own: Chat Completions.
    Nested,
}

impl Nesting {
    pub(super) fn of(chat: bool) -> Self {
        if chat { Self::Nested } else { Self::Flat }
    }
}

/// A custom tool of OpenAI, whose input is held to a grammar.
pub(super) fn openai_custom(
    options: &SpecOptions,
    format: Format,
    definition: String,
    nesting: Nesting,
) -> Json {
    let syntax = if format == Format::Regex { "regex" } else { "lark" };
    let description = description(options.dialect, Channel::Tool);
    if nesting == Nesting::Nested {
        let grammar = object! { "syntax": syntax, "definition": definition };
        let format = object! { "type": "grammar", "grammar": grammar };
        let custom = object! { "name": TOOL_NAME, "description": description, "format": format };
        return object! { "type": "custom", "custom": custom };
    }
    let format = object! { "type": "grammar", "syntax": syntax, "definition": definition };
    called_by(
        options,
        vec![
            ("type", "custom".into()),
            ("name", TOOL_NAME.into()),
            ("description", description.into()),
            ("format", format),
        ],
    )
}

/// A tool of the Responses API, with its allowed callers.
fn called_by(options: &SpecOptions, mut tool: Vec<(&'static str, Json)>) -> Json {
    let callers: Vec<Json> =
        options.allowed_callers.iter().map(|caller| caller.as_str().into()).collect();
    if !callers.is_empty() {
        tool.push(("allowed_callers", callers.into()));
    }
    Json::Object(tool)
}

/// A function of OpenAI with one string.
pub(super) fn openai_function(options: &SpecOptions, nesting: Nesting) -> Json {
    let mut function = vec![
        ("name", TOOL_NAME.into()),
        ("description", description(options.dialect, Channel::Argument).into()),
        ("strict", true.into()),
        ("parameters", schema(vec![patch("input")])),
    ];
    if nesting == Nesting::Nested {
        return object! { "type": "function", "function": Json::Object(function) };
    }
    function.insert(0, ("type", "function".into()));
    called_by(options, function)
}

/// The built-in `apply_patch` tool of OpenAI's Responses API.
pub(super) fn openai_builtin(options: &SpecOptions) -> Json {
    called_by(options, vec![("type", "apply_patch".into())])
}

pub(super) fn mistral(dialect: Dialect) -> Json {
    let function = object! {
        "name": TOOL_NAME,
        "description": description(dialect, Channel::Argument),
        "strict": true,
        "parameters": schema(vec![patch("patch")]),
    };
    object! { "type": "function", "function": function }
}

pub(super) fn bedrock(dialect: Dialect) -> Json {
    let tool = object! {
        "name": TOOL_NAME,
        "description": description(dialect, Channel::Argument),
        "inputSchema": object! { "json": schema(vec![patch("patch")]) },
        "strict": true,
    };
    object! { "toolSpec": tool }
}

/// A function for Ollama, whose schemas know no `additionalProperties`.
pub(super) fn ollama(dialect: Dialect) -> Json {
    let parameters = object! {
        "type": "object",
        "properties": Json::Object(vec![patch("patch")]),
        "required": texts(["patch"]),
    };
    let function = object! {
        "name": TOOL_NAME,
        "description": description(dialect, Channel::Argument),
        "parameters": parameters,
    };
    object! { "type": "function", "function": function }
}

/// The first line of a patch in free text.
const TRIGGER: &str = "*** Begin Patch";

/// Fields for llama.cpp: the grammar begins to hold where the first marker of a patch stands.
pub(super) fn lazy_grammar(grammar: String) -> Json {
    /// `COMMON_GRAMMAR_TRIGGER_TYPE_WORD` in llama.cpp.
    const WORD: u32 = 1;
    let trigger = object! { "type": WORD, "value": TRIGGER };
    object! { "grammar": grammar, "grammar_lazy": true, "grammar_triggers": vec![trigger] }
}

/// XGrammar's structural tag for free text and then at most one patch; `content` is the grammar of
/// the lines between the first one and `end`.
pub(super) fn structural_tag(content: String, end: &'static str) -> Json {
    let tag = object! {
        "type": "tag",
        "begin": format!("{TRIGGER}\n"),
        "content": object! { "type": "grammar", "grammar": content },
        "end": end,
    };
    let format = object! {
        "type": "triggered_tags",
        "triggers": texts([TRIGGER]),
        "tags": vec![tag],
        "at_least_one": false,
        "stop_after_first": true,
    };
    object! { "type": "structural_tag", "format": format }
}

/// XGrammar's structural tag for a message that is a patch.
pub(super) fn whole_message(grammar: String) -> Json {
    let format = object! { "type": "grammar", "grammar": grammar };
    object! { "type": "structural_tag", "format": format }
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
        "required": texts(["patch"]),
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
        "required": texts(["path", "sha256"]),
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
    let dry_run = object! {
        "type": "boolean", "description": "Whether to say only what would change.",
        "default": false,
    };
    let profile = object! {
        "type": "string",
        "description": "How a hunk finds its place.",
        "enum": texts(["strict", "standard", "codex"]),
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
            "required": texts(["patch"]),
        },
        "annotations": object! {
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": false,
            "openWorldHint": false,
        },
    }
}
