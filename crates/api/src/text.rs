//! Patches as text, and what models and providers need.

use file_tools::specs::{self, Channel, Provider};
use patch_engine::{Files, MemoryTree};
use patch_grammar::Dialect;
use patch_grammar::export::{self, Format};
use patch_session::ToolError;
use patch_session::input::{self, OutputForm};
use patch_session::settings::Layers;
use serde_json::{Value, json};

use crate::error::argument;
use crate::options::{PatchOptions, SpecRequest, named};

/// The tree of a patch: the `data` of `apply-patch parse --json`.
///
/// # Errors
///
/// When the text is not a patch.
pub fn parse(patch: &[u8], options: &PatchOptions) -> Result<Value, ToolError> {
    let (patch, _) = options.parsed(&Layers::default(), patch)?;
    Ok(serde_json::to_value(&patch).expect("text keys"))
}

/// What is to be written, for programs whose texts are Unicode: none other is written instead.
///
/// # Errors
///
/// When it is not UTF-8.
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
    /// What was overlooked in reading it.
    pub warnings: Vec<String>,
}

/// The same change in another form: `envelope`, `unified`, `git` or `openai`. A diff is made
/// against `files`, the ones that the patch is for.
///
/// # Errors
///
/// When the text is not a patch, does not apply to the files, there is no such form, or the form
/// cannot express it.
pub fn convert(
    patch: &[u8],
    to: &str,
    options: &PatchOptions,
    files: Option<&MemoryTree>,
) -> Result<ConvertedText, ToolError> {
    let to: OutputForm = named("to", to)?;
    let (text, rules) = options.read_text(&Layers::default(), patch)?;
    let mut files = || match files {
        Some(files) => {
            Ok(Files::of_tree(std::sync::Arc::new(files.clone()), patch_engine::policy()))
        }
        None => {
            let message =
                "a diff is made against files: its line numbers and removed text are in these only";
            Err(argument("files", message, "the files that the patch is for"))
        }
    };
    match input::convert(&text, to, &rules, &mut files) {
        Ok(input::Converted::Text(text, warnings)) => Ok(ConvertedText { text, warnings }),
        Ok(input::Converted::Items(items, warnings)) => {
            Ok(ConvertedText { text: json!(items).to_string().into_bytes(), warnings })
        }
        Err(error) => Err(error.tool_error(patch)),
    }
}

/// Tools in the shape of a provider.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Specs {
    /// What goes into the request: a list of tools, or one, or fields.
    pub value: Value,
    /// What it cannot express, a sentence each.
    pub caveats: Vec<String>,
}

/// The file tools, or the patch tool alone, in the shape that a provider wants.
///
/// # Errors
///
/// When there is no such provider, or it does not take what the options ask for.
pub fn tool_specs(provider: &str, options: &SpecRequest) -> Result<Specs, ToolError> {
    let wrong = |error: specs::SpecError| {
        argument("provider", error.to_string(), "a provider that takes this")
    };
    let provider: Provider = named("provider", provider)?;
    if !options.patch_only {
        if let Some(option) = options.of_the_patch_tool() {
            let message = "it is an option of the patch tool, and this is all tools";
            return Err(argument(option, message, "`patchOnly` beside it"));
        }
        let value = specs::all_tools::spec(provider, options.brief).map_err(wrong)?;
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
    let spec = specs::tool_spec(provider, &spec).map_err(wrong)?;
    Ok(Specs {
        value: spec.to_value(),
        caveats: spec.caveats().iter().map(ToString::to_string).collect(),
    })
}

/// The instructions for a model. `dialect` is `whole`, `codex` or `tight`; `channel` is how the
/// patch travels: `tool`, `argument` or `message`.
///
/// # Errors
///
/// When there is no such dialect or channel.
pub fn prompt(dialect: &str, channel: &str) -> Result<String, ToolError> {
    let channel: Channel = named("channel", channel)?;
    Ok(specs::prompt(named("dialect", dialect)?, channel))
}

/// The grammar of a dialect in a notation: `pest`, `lark`, `gbnf`, `ebnf` or `regex`.
///
/// # Errors
///
/// When there is no such notation or dialect.
pub fn grammar(format: &str, dialect: &str) -> Result<&'static str, ToolError> {
    let format: Format = named("format", format)?;
    Ok(export::text(format, named("dialect", dialect)?))
}
