//! The tools as they are described to models: descriptions and plain JSON schemas.

use serde::Serialize;
use serde_json::{Value, json};

use crate::tools::file_tool::{About, FileTool, schema};
use crate::tools::*;
use crate::vendor::edit_patch;
use patch_session::Tool;
use patch_session::answer::error::ToolError;
use patch_session::audit::Operation;
use patch_session::session::Session;

/// A tool as a client lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// Its name.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For models.
    pub description: String,
    /// Its arguments.
    pub input_schema: Value,
    /// Its answer: the envelope with its data; null if it is left out.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub output_schema: Value,
    /// The hints for clients.
    pub annotations: Annotations,
}

/// The hints about a tool, in the words of the Model Context Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It changes or removes what is there.
    pub destructive_hint: bool,
    /// Calling it twice has the same effect as calling it once.
    pub idempotent_hint: bool,
    /// It reaches beyond the workspace.
    pub open_world_hint: bool,
}

/// Describes the usual tools, in a fixed order.
#[must_use]
pub fn catalogue() -> Vec<ToolInfo> {
    Tool::usual().map(ToolInfo::of).collect()
}

/// Describes the usual tools in a third of the size: what each does, an example, and its arguments
/// by name. Errors explain themselves.
#[must_use]
pub fn brief_catalogue() -> Vec<ToolInfo> {
    Tool::usual().map(ToolInfo::brief).collect()
}

macro_rules! described {
    ($($tool:ident: $module:ident;)*) => {
        fn about(tool: Tool) -> About {
            match tool { $(Tool::$tool => $module::$tool::ABOUT,)* }
        }

        /// Returns the schemas of the arguments and of the answer of a tool, with a description of
        /// each field.
        #[must_use]
        pub fn schemas(tool: Tool) -> (Value, Value) {
            match tool {
                $(Tool::$tool => {
                    (schema::<$module::$tool>(), $module::$tool::output_schema())
                })*
            }
        }
    };
}
each_tool!(described);

impl ToolInfo {
    /// Describes a tool as [`brief_catalogue`] does.
    #[must_use]
    pub fn brief(tool: Tool) -> Self {
        let info = Self::of(tool);
        let about = about(tool);
        let mut input_schema = bare(info.input_schema);
        // A truncated answer names this argument, or a cursor.
        if let Some(properties) = input_schema["properties"].as_object_mut() {
            properties.remove("maxResultBytes");
        }
        Self {
            description: format!("{}\nExample: {}", about.does, about.example),
            input_schema,
            output_schema: Value::Null,
            ..info
        }
    }

    /// Describes `edit_file` for one file, for engines that hold a model to a schema: the path is
    /// this one, and `from`, `to` and `after` are lines that this session printed with tags.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it cannot be read.
    pub fn for_printed(session: &Session, path: &str) -> Result<Self, ToolError> {
        let names = by_tags::printed_names(session, path)?;
        // Empty text leaves an argument out.
        let mut below = vec![""];
        below.extend(names.iter().map(String::as_str));
        let mut replaced = below.clone();
        replaced.retain(|name| *name != "0");
        let mut info = Self::of(Tool::EditFile);
        let properties = &mut info.input_schema["properties"];
        properties["path"]["enum"] = json!([path]);
        let fields = &mut properties["edits"]["items"]["properties"];
        for (name, lines) in [("from", &replaced), ("to", &replaced), ("after", &below)] {
            fields[name]["enum"] = json!(lines);
        }
        Ok(info)
    }

    /// Describes a tool as a client lists it.
    #[must_use]
    pub fn of(tool: Tool) -> Self {
        let About { title, does, errors, example, idempotent } = about(tool);
        let (input_schema, output_schema) = schemas(tool);
        // Programs check answers with this schema, and few models see it: no descriptions.
        let output_schema = without_hunks(bare(output_schema));
        let annotations = Annotations {
            read_only_hint: tool.is_read_only(),
            destructive_hint: !matches!(tool.operation(), None | Some(Operation::Create)),
            idempotent_hint: idempotent,
            open_world_hint: false,
        };
        Self {
            name: tool.as_str(),
            title,
            description: format!("{does}\n{errors}\nExample: {example}"),
            input_schema,
            output_schema,
            annotations,
        }
    }
}

/// Removes the descriptions from a schema.
fn bare(mut schema: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                object.retain(|key, part| key != "description" || !part.is_string());
                object.values_mut().for_each(strip);
            }
            Value::Array(parts) => parts.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut schema);
    schema
}

/// Removes the fields of hunks and of few answers from a schema; docs/reference/results.md
/// describes them.
fn without_hunks(mut schema: Value) -> Value {
    if let Some(fields) = schema.pointer_mut("/properties/data/properties") {
        fields.as_object_mut().and_then(|fields| fields.remove("editedByPerson"));
    }
    for list in ["hunks", "carried"] {
        for above in ["", "/properties/data"] {
            if let Some(items) = schema.pointer_mut(&format!("{above}/properties/{list}/items")) {
                *items = serde_json::json!({ "type": "object" });
            }
        }
    }
    schema
}
