//! Patches as text, and texts for models and providers.

use std::borrow::Cow;
use std::sync::OnceLock;

use file_tools::specs::{self, Channel, Provider};
use patch_engine::{Files, MemoryTree};
use patch_grammar::Dialect;
use patch_grammar::export::{self, Format};
use patch_session::ToolError;
use patch_session::input::{self, OutputForm};
use patch_session::settings::Layers;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::argument;
use crate::options::{PatchOptions, SpecRequest, named};

/// Returns the tree of a patch: the `data` of `apply-patch parse --json`.
///
/// # Errors
///
/// If the text is not a patch.
pub fn parse(patch: &[u8], options: &PatchOptions) -> Result<Value, ToolError> {
    let (patch, _) = options.parsed(&Layers::default(), patch)?;
    Ok(serde_json::to_value(&patch).expect("text keys"))
}

/// Returns the bytes of a new file as text, for programs with Unicode texts. No byte is replaced.
///
/// # Errors
///
/// If the bytes are not UTF-8.
pub fn unicode(bytes: &[u8]) -> Result<&str, ToolError> {
    std::str::from_utf8(bytes).map_err(|_| {
        let message = "what the patch makes is not UTF-8, and cannot be given as a text";
        argument("patch", message, "a patch in UTF-8, for files in UTF-8")
    })
}

/// A patch in another form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertedText {
    /// The text; JSON for the operations of the Responses API.
    pub text: Vec<u8>,
    /// Notes about parts of the patch that were overlooked.
    pub warnings: Vec<String>,
}

/// Converts a patch to another form: `envelope`, `unified`, `git` or `openai`. A diff is made
/// against `files`, the files of the patch.
///
/// # Errors
///
/// If the text is not a patch, if the patch does not apply to the files, if there is no such form,
/// or if the form cannot express the patch.
pub fn convert(
    patch: &[u8],
    to: &str,
    options: &PatchOptions,
    files: Option<&MemoryTree>,
) -> Result<ConvertedText, ToolError> {
    let to: OutputForm = named("to", to)?;
    let (text, rules) = options.read_text(&Layers::default(), patch)?;
    match input::convert(&text, to, &rules, &mut || tree_of(files)) {
        Ok(input::Converted::Text(text, warnings)) => Ok(ConvertedText { text, warnings }),
        Ok(input::Converted::Items(items, warnings)) => {
            Ok(ConvertedText { text: json!(items).to_string().into_bytes(), warnings })
        }
        Err(error) => Err(error.tool_error(patch)),
    }
}

fn tree_of(files: Option<&MemoryTree>) -> Result<Files, ToolError> {
    match files {
        Some(files) => {
            Ok(Files::of_tree(std::sync::Arc::new(files.clone()), patch_engine::policy()))
        }
        None => {
            let message =
                "a diff is made against files: its line numbers and removed text are in these only";
            Err(argument("files", message, "the files that the patch is for"))
        }
    }
}

/// Tools in the shape of a provider.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Specs {
    /// The part of the request: a list of tools, one tool, or fields.
    pub value: Cow<'static, Value>,
    /// The limits of the shape, a sentence each.
    pub caveats: Vec<String>,
}

/// Returns the file tools, or the patch tool alone, in the shape of a provider.
///
/// # Errors
///
/// If there is no such provider, or if it does not take one of the options.
pub fn tool_specs(provider: &str, options: &SpecRequest) -> Result<Specs, ToolError> {
    let provider: Provider = named("provider", provider)?;
    if !options.patch_only {
        if let Some(option) = options.of_the_patch_tool() {
            let message = "it is an option of the patch tool, and this is all tools";
            return Err(argument(option, message, "`patchOnly` beside it"));
        }
        let value = Cow::Borrowed(all_tools(provider, options.brief)?);
        return Ok(Specs { value, caveats: Vec::new() });
    }
    let spec = specs::SpecOptions {
        dialect: options.dialect.unwrap_or(Dialect::Whole),
        grammar: options.grammar,
        client: options.client.unwrap_or_default(),
        max_characters: options.max_characters,
        free_text: options.free_text,
        allowed_callers: options.allowed_callers.clone(),
        definition: None,
    };
    let spec = specs::tool_spec(provider, &spec).map_err(|error| not_taken(&error))?;
    Ok(Specs {
        value: Cow::Owned(spec.to_value()),
        caveats: spec.caveats().iter().map(ToString::to_string).collect(),
    })
}

/// Returns all file tools, which are made once: their schemas take a millisecond or two.
fn all_tools(provider: Provider, brief: bool) -> Result<&'static Value, ToolError> {
    static MADE: [[OnceLock<Value>; 2]; Provider::ALL.len()] =
        [const { [const { OnceLock::new() }; 2] }; Provider::ALL.len()];
    let made = &MADE[provider as usize][usize::from(brief)];
    if let Some(value) = made.get() {
        return Ok(value);
    }
    let value = specs::all_tools::spec(provider, brief).map_err(|error| not_taken(&error))?;
    Ok(made.get_or_init(|| value))
}

fn not_taken(error: &specs::SpecError) -> ToolError {
    argument("provider", error.to_string(), "a provider that takes this")
}

/// Returns the instructions for a model. `dialect` is `whole`, `codex` or `tight`; `channel` is the
/// way of the patch: `tool` (the whole input of a tool), `argument` (a string among the arguments)
/// or `message` (the whole message).
///
/// # Errors
///
/// If there is no such dialect or channel.
pub fn prompt(dialect: &str, channel: &str) -> Result<String, ToolError> {
    let channel: Channel = named("channel", channel)?;
    Ok(specs::prompt(named("dialect", dialect)?, channel))
}

/// Returns the grammar of a dialect in a notation: `pest`, `lark`, `gbnf`, `ebnf` or `regex`.
///
/// # Errors
///
/// If there is no such notation or dialect.
pub fn grammar(format: &str, dialect: &str) -> Result<&'static str, ToolError> {
    let format: Format = named("format", format)?;
    Ok(export::text(format, named("dialect", dialect)?))
}
