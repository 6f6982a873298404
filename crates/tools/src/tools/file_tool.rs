//! A tool: its arguments, its answer, and its description.

use patch_engine::Host;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use patch_session::answer::envelope::ToolResult;
use patch_session::session::Session;

/// A tool. A value of the type is a call: its fields are the arguments.
///
/// The list of the tools is in `mod.rs`; everything else about a tool is in its own file.
pub trait FileTool: DeserializeOwned + JsonSchema {
    /// The data of its answer.
    type Data: JsonSchema + Serialize;

    /// The description of the tool.
    const ABOUT: About;

    /// Returns the arguments that are paths beneath the root.
    fn paths(&mut self) -> Vec<&mut String>;

    /// Runs the tool.
    ///
    /// # Errors
    ///
    /// The errors in the tool's description.
    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data>;

    /// Returns the schema of the answer.
    #[must_use]
    fn output_schema() -> Value {
        schema::<Envelope<Self::Data>>()
    }

    /// Shortens the data to about `max` bytes of JSON. Tools that read have limits of their own,
    /// and a cursor to go on from.
    fn fit(_data: &mut Self::Data, _max: usize) {}
}

/// The description of a tool for models and people.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its name for people.
    pub title: &'static str,
    /// Its purpose, inputs and outputs.
    pub does: &'static str,
    /// Its errors, with what to do.
    pub errors: &'static str,
    /// Arguments of a call, as JSON.
    pub example: &'static str,
    /// Whether calling it twice has the same effect as calling it once.
    pub idempotent: bool,
}

/// The result envelope, for its schema. Errors have the same shape in all tools, so it is not
/// repeated for each.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Envelope<D> {
    ok: bool,
    #[schemars(with = "String", default)]
    output: (),
    #[schemars(with = "D", default)]
    data: std::marker::PhantomData<D>,
    #[schemars(with = "Map<String, Value>", default)]
    error: (),
}

/// Makes the plain schema of a type.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    plain(&mut value);
    value
}

/// Removes keywords that a model has no use for, or that some clients reject.
fn plain(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for word in ["$schema", "title", "format", "minimum", "default"] {
                object.remove(word);
            }
            // This is the description of a type; a field has one of its own.
            if object.contains_key("properties") {
                object.remove("description");
            }
            // The lines of a comment are wrapped for whoever reads the code.
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            // An optional field is not required, so it need not be null.
            if let Some(kind) = object.get_mut("type")
                && let Value::Array(types) = kind
            {
                types.retain(|name| name != "null");
                if types.len() == 1 {
                    *kind = types.remove(0);
                }
            }
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            // Unknown fields are refused in any case, by an error that names them; some clients
            // cannot convert this keyword.
            if object.get("additionalProperties").is_some_and(Value::is_boolean) {
                object.remove("additionalProperties");
            }
            for (key, part) in object {
                match part {
                    // These names are arguments, not keywords of the schema.
                    Value::Object(properties) if key == "properties" => {
                        properties.values_mut().for_each(plain);
                    }
                    part => plain(part),
                }
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(plain),
        _ => {}
    }
}
