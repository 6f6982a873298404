//! All file tools as functions of a provider, with legal names and with the schema keywords of the
//! provider only.

use serde_json::{Map, Value, json};

use super::{Provider, SpecError};
use patch_session::Tool;

use crate::catalogue::ToolInfo;

/// Returns the file tools, ready to paste as the `tools` of a request; `brief` leaves out errors
/// and descriptions of arguments.
///
/// # Errors
///
/// [`SpecError::OwnTool`] for a form that only has the provider's own tool.
pub fn spec(provider: Provider, brief: bool) -> Result<Value, SpecError> {
    let tools = Tool::usual()
        .map(|tool| (tool, if brief { ToolInfo::brief(tool) } else { ToolInfo::of(tool) }));
    let tools = tools.map(|(tool, info)| declaration(provider, tool, info));
    match provider {
        Provider::OpenAiBuiltin | Provider::AnthropicEditor => Err(SpecError::OwnTool { provider }),
        Provider::XGrammar => Err(SpecError::NotTaken { provider, option: "all file tools" }),
        Provider::Gemini => Ok(json!([{ "functionDeclarations": tools.collect::<Vec<_>>() }])),
        _ => Ok(tools.collect()),
    }
}

/// Makes the declaration of one tool in the shape of a provider.
fn declaration(provider: Provider, tool: Tool, info: ToolInfo) -> Value {
    let name = tool.legal_name();
    let ToolInfo { title, description, input_schema: schema, annotations, .. } = info;
    match provider {
        Provider::OpenAi | Provider::OpenAiFunction => json!({
            "type": "function", "name": name, "description": description, "strict": true,
            "parameters": strict(schema),
        }),
        Provider::OpenAiChat | Provider::OpenAiFunctionChat => json!({
            "type": "function",
            "function": {
                "name": name, "description": description, "strict": true,
                "parameters": strict(schema),
            },
        }),
        // Servers with the same protocol, which constrain the model to the schema themselves.
        Provider::LlamaCpp
        | Provider::Vllm
        | Provider::SgLang
        | Provider::Mistral
        | Provider::Ollama => json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": schema },
        }),
        Provider::Gemini => {
            json!({ "name": name, "description": description, "parameters": gemini(schema) })
        }
        Provider::Anthropic => {
            json!({ "name": name, "description": description, "input_schema": schema })
        }
        Provider::Bedrock => json!({
            "toolSpec": {
                "name": name, "description": description, "inputSchema": { "json": schema },
            },
        }),
        _ => json!({
            "name": name, "title": title, "description": description, "inputSchema": schema,
            "annotations": annotations,
        }),
    }
}

/// Applies `with` to each object in a schema.
fn objects(schema: Value, with: &impl Fn(&mut Map<String, Value>)) -> Value {
    match schema {
        Value::Object(mut object) => {
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                properties.values_mut().for_each(|value| *value = objects(value.take(), with));
            }
            if let Some(items) = object.get_mut("items") {
                *items = objects(items.take(), with);
            }
            with(&mut object);
            object.into()
        }
        other => other,
    }
}

/// Makes a strict schema for OpenAI: every property is required, and an optional one may be null.
fn strict(schema: Value) -> Value {
    objects(schema, &|object| {
        let required: Vec<Value> =
            object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
        for (name, value) in
            properties.iter_mut().filter(|(name, _)| !required.contains(&json!(name)))
        {
            debug_assert!(value["type"].is_string(), "{name} has one type");
            value["type"] = json!([value["type"], "null"]);
            if let Some(Value::Array(choices)) = value.get_mut("enum") {
                choices.push(Value::Null);
            }
        }
        let names: Vec<_> = properties.keys().cloned().collect();
        object.insert("required".into(), names.into());
        object.insert("additionalProperties".into(), false.into());
    })
}

/// Makes a schema for Gemini: a part of OpenAPI, with the types in capitals.
fn gemini(schema: Value) -> Value {
    objects(schema, &|object| {
        if let Some(Value::String(name)) = object.get_mut("type") {
            *name = name.to_uppercase();
        }
    })
}
