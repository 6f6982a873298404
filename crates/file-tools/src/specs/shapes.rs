//! The JSON of each provider as structs, so that the order of keys is the order of fields.

use patch_grammar::Dialect;
use patch_grammar::export::Format;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::prompt::{Channel, description};

/// The name under which models know the tool.
pub const TOOL_NAME: &str = "apply_patch";

/// One of the shapes.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Shape {
    OpenAiCustom(Custom),
    OpenAiChatCustom(ChatCustom),
    OpenAiFunction(Function),
    OpenAiChatFunction(ChatFunction),
    OpenAiBuiltin(Builtin),
    Anthropic(AnthropicTool),
    AnthropicEditor(Editor),
    Mcp(McpTool),
    Fields(Fields),
    ExtraBody(ExtraBody),
}

#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Custom {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    description: String,
    format: CustomFormat,
}

#[derive(Debug, Clone, serde::Serialize)]
struct CustomFormat {
    #[serde(rename = "type")]
    kind: &'static str,
    syntax: &'static str,
    definition: &'static str,
}

#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct ChatCustom {
    #[serde(rename = "type")]
    kind: &'static str,
    custom: ChatCustomInner,
}

#[derive(Debug, Clone, serde::Serialize)]
struct ChatCustomInner {
    name: &'static str,
    description: String,
    format: ChatFormat,
}

#[derive(Debug, Clone, serde::Serialize)]
struct ChatFormat {
    #[serde(rename = "type")]
    kind: &'static str,
    grammar: ChatGrammar,
}

#[derive(Debug, Clone, serde::Serialize)]
struct ChatGrammar {
    syntax: &'static str,
    definition: &'static str,
}

#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Function {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    description: String,
    strict: bool,
    parameters: Schema,
}

#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct ChatFunction {
    #[serde(rename = "type")]
    kind: &'static str,
    function: ChatFunctionInner,
}

#[derive(Debug, Clone, serde::Serialize)]
struct ChatFunctionInner {
    name: &'static str,
    description: String,
    strict: bool,
    parameters: Schema,
}

#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Builtin {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
}

#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct AnthropicTool {
    name: &'static str,
    description: String,
    input_schema: Schema,
    strict: bool,
}

#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Editor {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_characters: Option<u32>,
}

#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpTool {
    name: &'static str,
    title: &'static str,
    description: String,
    input_schema: Schema,
    annotations: Annotations,
}

#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

/// What an inference engine takes beside the messages.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Fields {
    Grammar { grammar: String },
    StructuredOutputs { structured_outputs: Structured },
    Ebnf { ebnf: String },
    Regex { regex: String },
}

#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Structured {
    Grammar(String),
    Regex(String),
}

#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct ExtraBody {
    pub(crate) extra_body: Fields,
}

/// A JSON schema of an object.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    #[serde(rename = "type")]
    kind: &'static str,
    properties: Properties,
    required: Vec<&'static str>,
    additional_properties: bool,
}

/// Properties in the order in which they are written.
#[derive(Debug, Clone)]
struct Properties(Vec<(&'static str, Property)>);

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, property) in &self.0 {
            map.serialize_entry(name, property)?;
        }
        map.end()
    }
}

#[derive(Debug, Clone, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Property {
    #[serde(rename = "type")]
    kind: &'static str,
    description: &'static str,
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    one_of: Option<[&'static str; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_properties: Option<Additional>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<bool>,
}

#[derive(Debug, Clone, serde::Serialize)]
struct Additional {
    #[serde(rename = "type")]
    kind: &'static str,
}

const PATCH: &str = "The whole patch, from `*** Begin Patch` to `*** End Patch`.";

fn one_string(name: &'static str) -> Schema {
    let patch = Property { kind: "string", description: PATCH, ..Property::default() };
    Schema {
        kind: "object",
        properties: Properties(vec![(name, patch)]),
        required: vec![name],
        additional_properties: false,
    }
}

fn syntax(format: Format) -> &'static str {
    match format {
        Format::Regex => "regex",
        _ => "lark",
    }
}

impl Shape {
    pub(crate) fn openai_custom(dialect: Dialect, format: Format, definition: &'static str) -> Self {
        Self::OpenAiCustom(Custom {
            kind: "custom",
            name: TOOL_NAME,
            description: description(dialect, Channel::Tool),
            format: CustomFormat { kind: "grammar", syntax: syntax(format), definition },
        })
    }

    pub(crate) fn openai_chat_custom(dialect: Dialect, format: Format, definition: &'static str) -> Self {
        Self::OpenAiChatCustom(ChatCustom {
            kind: "custom",
            custom: ChatCustomInner {
                name: TOOL_NAME,
                description: description(dialect, Channel::Tool),
                format: ChatFormat { kind: "grammar", grammar: ChatGrammar { syntax: syntax(format), definition } },
            },
        })
    }

    pub(crate) fn openai_function(dialect: Dialect) -> Self {
        Self::OpenAiFunction(Function {
            kind: "function",
            name: TOOL_NAME,
            description: description(dialect, Channel::Argument),
            strict: true,
            parameters: one_string("input"),
        })
    }

    pub(crate) fn openai_chat_function(dialect: Dialect) -> Self {
        Self::OpenAiChatFunction(ChatFunction {
            kind: "function",
            function: ChatFunctionInner {
                name: TOOL_NAME,
                description: description(dialect, Channel::Argument),
                strict: true,
                parameters: one_string("input"),
            },
        })
    }

    pub(crate) fn anthropic(dialect: Dialect) -> Self {
        Self::Anthropic(AnthropicTool {
            name: TOOL_NAME,
            description: description(dialect, Channel::Argument),
            input_schema: one_string("patch"),
            strict: true,
        })
    }

    pub(crate) fn mcp(dialect: Dialect) -> Self {
        let mut input_schema = one_string("patch");
        let property = |kind, description| Property { kind, description, ..Property::default() };
        input_schema.properties.0.extend([
            (
                "expectedSha256ByPath",
                Property {
                    additional_properties: Some(Additional { kind: "string" }),
                    ..property(
                        "object",
                        "The SHA-256 in hex that files must have before the patch; an empty string for one that must not exist.",
                    )
                },
            ),
            (
                "atomic",
                Property {
                    default: Some(true),
                    ..property("boolean", "Whether all of the patch is applied or none of it.")
                },
            ),
            (
                "dryRun",
                Property {
                    default: Some(false),
                    ..property("boolean", "Whether to say only what would change.")
                },
            ),
            (
                "profile",
                Property {
                    one_of: Some(["strict", "codex"]),
                    ..property("string", "How a hunk finds its place.")
                },
            ),
        ]);
        Self::Mcp(McpTool {
            name: TOOL_NAME,
            title: "Apply a patch",
            description: description(dialect, Channel::Argument),
            input_schema,
            annotations: Annotations {
                read_only_hint: false,
                destructive_hint: true,
                idempotent_hint: false,
                open_world_hint: false,
            },
        })
    }
}
