//! The tools as providers take them, and the instructions for a model.

use std::borrow::Cow;
use std::sync::OnceLock;

use file_tools::specs::{self, Caller, Channel, Client, Provider};
use patch_grammar::Dialect;
use patch_grammar::export::Format;
use patch_session::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::argument;
use crate::options::{ReadOptions, choice, choices, named};

/// Options of [`tool_specs`](crate::tool_specs). All but `brief` need `patch_only`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SpecRequest {
    /// Whether the patch tool alone is described, and not all file tools.
    #[serde(alias = "patch_only")]
    pub patch_only: bool,
    /// Whether the descriptions of errors and arguments are left out.
    pub brief: bool,
    /// The dialect of patches: `whole`, the default, or `codex`.
    #[serde(deserialize_with = "choice")]
    pub dialect: Option<Dialect>,
    /// The notation of the grammar, where the provider takes several.
    #[serde(deserialize_with = "choice")]
    pub grammar: Option<Format>,
    /// The client that sends the request: `raw`, the default, for an HTTP body, or `python` for the
    /// `openai` package.
    #[serde(deserialize_with = "choice")]
    pub client: Option<Client>,
    /// The most characters of a file that Anthropic's editor shows.
    #[serde(alias = "max_characters")]
    pub max_characters: Option<u32>,
    /// Whether the model may write text before the patch. The grammar then binds the patch alone.
    #[serde(alias = "free_text")]
    pub free_text: bool,
    /// The callers of a tool of OpenAI's Responses API: `direct`, `programmatic`.
    #[serde(alias = "allowed_callers", deserialize_with = "choices")]
    pub allowed_callers: Vec<Caller>,
}

impl ReadOptions for SpecRequest {}

impl SpecRequest {
    /// Returns the name of an option that is set and needs `patchOnly`.
    pub(crate) fn of_the_patch_tool(&self) -> Option<&'static str> {
        [
            ("dialect", self.dialect.is_some()),
            ("grammar", self.grammar.is_some()),
            ("client", self.client.is_some()),
            ("maxCharacters", self.max_characters.is_some()),
            ("freeText", self.free_text),
            ("allowedCallers", !self.allowed_callers.is_empty()),
        ]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
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
