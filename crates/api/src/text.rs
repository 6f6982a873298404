//! Patches as text, and the grammars.

use patch_engine::{Files, MemoryTree};
use patch_grammar::export::{self, Format};
use patch_session::ToolError;
use patch_session::input::{self, OutputForm};
use patch_session::settings::Layers;
use serde_json::{Value, json};

use crate::error::argument;
use crate::options::{PatchOptions, named};

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

/// Returns the grammar of a dialect in a notation: `pest`, `lark`, `gbnf`, `ebnf` or `regex`.
///
/// # Errors
///
/// If there is no such notation or dialect.
pub fn grammar(format: &str, dialect: &str) -> Result<&'static str, ToolError> {
    let format: Format = named("format", format)?;
    Ok(export::text(format, named("dialect", dialect)?))
}
