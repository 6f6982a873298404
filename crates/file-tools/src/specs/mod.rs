//! The patch tool in the form that each provider takes.
//!
//! Every answer is JSON ready to be put into a request, the same byte for byte on every run: its
//! keys stand in the order of the providers' own examples, whatever the features of `serde_json`
//! are. What the JSON cannot express comes beside it, as [`caveats`](ToolSpec::caveats).

pub mod all_tools;
mod prompt;
mod shapes;

use patch_grammar::Dialect;
use patch_grammar::export::{self, Format};

pub use prompt::{Channel, EXAMPLES, Example, File, prompt};
pub use shapes::TOOL_NAME;
use shapes::{Json, object};

patch_grammar::named! {
    /// A provider, and the form in which it takes the tool.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Provider {
        /// OpenAI, Responses API: a custom tool whose input is held to a grammar.
        OpenAi = "openai",
        /// OpenAI, Chat Completions: the same, nested differently.
        OpenAiChat = "openai-chat",
        /// OpenAI, Responses API: a function with one string.
        OpenAiFunction = "openai-function",
        /// OpenAI, Chat Completions, and the many that speak it: the same, nested differently.
        OpenAiFunctionChat = "openai-function-chat",
        /// OpenAI, Responses API: the `apply_patch` tool that the API itself knows.
        OpenAiBuiltin = "openai-builtin",
        /// Anthropic: a client tool with one string.
        Anthropic = "anthropic",
        /// Anthropic: the text editor tool that its models know.
        AnthropicEditor = "anthropic-editor",
        /// Google: a declaration of a function with one string.
        Gemini = "gemini",
        /// A tool of an MCP server, as in the answer to `tools/list`.
        Mcp = "mcp",
        /// Fields for a request to llama.cpp's server.
        LlamaCpp = "llama-cpp",
        /// Fields for a request to vLLM.
        Vllm = "vllm",
        /// Fields for a request to SGLang.
        SgLang = "sglang",
    }
}

impl Provider {
    /// Returns the notations in which it takes a grammar, its usual one first.
    #[must_use]
    pub fn grammar_formats(self) -> &'static [Format] {
        match self {
            Self::OpenAi | Self::OpenAiChat => &[Format::Lark, Format::Regex],
            Self::LlamaCpp => &[Format::Gbnf, Format::Lark],
            Self::Vllm | Self::SgLang => &[Format::Ebnf, Format::Gbnf, Format::Regex, Format::Lark],
            Self::OpenAiFunction
            | Self::OpenAiFunctionChat
            | Self::OpenAiBuiltin
            | Self::Anthropic
            | Self::AnthropicEditor
            | Self::Gemini
            | Self::Mcp => &[],
        }
    }
}

patch_grammar::named! {
    /// Who builds the request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Client {
        /// Someone who writes the HTTP body.
        #[default]
        Raw = "raw",
        /// The `openai` package for Python, which takes unknown fields as `extra_body`.
        Python = "python",
    }
}

/// What can be chosen about a tool spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecOptions {
    /// Which language the model is to write. Default: the whole.
    pub dialect: Dialect,
    /// The notation of the grammar. Default: the first of [`Provider::grammar_formats`].
    pub grammar: Option<Format>,
    /// Who builds the request. Default: someone who writes the HTTP body.
    pub client: Client,
    /// How many characters Anthropic's editor tool may show of a file. Default: all.
    pub max_characters: Option<u32>,
}

impl Default for SpecOptions {
    fn default() -> Self {
        Self { dialect: Dialect::Whole, grammar: None, client: Client::Raw, max_characters: None }
    }
}

/// A tool in the shape that a provider wants.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    shape: Json,
    caveats: Vec<&'static str>,
}

impl ToolSpec {
    /// Writes the JSON, indented, without a line feed at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.shape).expect("only strings are keys")
    }

    /// Returns the JSON as a value, for a program that builds the request around it.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(&self.shape).expect("only strings are keys")
    }

    /// Returns what the JSON cannot express, a sentence each.
    #[must_use]
    pub fn caveats(&self) -> &[&'static str] {
        &self.caveats
    }
}

/// Why there is no such tool spec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The form only has the provider's own tool.
    #[error("{provider} is for the provider's own tool, and takes no others")]
    OwnTool {
        /// The provider.
        provider: Provider,
    },
    /// The provider takes no grammar at all.
    #[error("{provider} takes no grammar")]
    NoGrammar {
        /// The provider.
        provider: Provider,
    },
    /// The provider takes no grammar in this notation.
    #[error(
        "{provider} takes no grammar as {}; it takes {}",
        format.as_str(),
        list(provider.grammar_formats().iter().map(|format| format.as_str()))
    )]
    WrongFormat {
        /// The provider.
        provider: Provider,
        /// The notation.
        format: Format,
    },
}

fn list(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What llguidance needs in front of a Lark grammar to recognise the notation.
const LLGUIDANCE: &str = "%llguidance {}\n\n";

/// Makes the patch tool in the shape that `provider` wants.
///
/// # Errors
///
/// [`SpecError`] when the options ask for a grammar in a notation that the provider does not take.
pub fn tool_spec(provider: Provider, options: &SpecOptions) -> Result<ToolSpec, SpecError> {
    let format = grammar_format(provider, options.grammar)?;
    let grammar = |format: Format| export::text(format, options.dialect);
    let mut caveats = Vec::new();
    let shape = match (provider, format) {
        (Provider::OpenAi | Provider::OpenAiChat, Some(format)) => {
            caveats.push(CUSTOM_OUTPUT);
            if format == Format::Regex {
                caveats.push(REGEX_IS_LONG);
            }
            shapes::openai_custom(
                options.dialect,
                format,
                grammar(format),
                provider == Provider::OpenAiChat,
            )
        }
        (Provider::OpenAiFunction | Provider::OpenAiFunctionChat, _) => {
            caveats.push(NO_GRAMMAR);
            shapes::openai_function(options.dialect, provider == Provider::OpenAiFunctionChat)
        }
        (Provider::OpenAiBuiltin, _) => {
            caveats.extend([BUILTIN_ITEMS, BUILTIN_LANGUAGE]);
            object! { "type": "apply_patch" }
        }
        (Provider::Anthropic, _) => {
            caveats.push(NO_GRAMMAR);
            shapes::anthropic(options.dialect)
        }
        (Provider::AnthropicEditor, _) => {
            caveats.push(EDITOR_COMMANDS);
            shapes::anthropic_editor(options.max_characters)
        }
        (Provider::Gemini, _) => {
            caveats.push(NO_GRAMMAR);
            shapes::gemini(options.dialect)
        }
        (Provider::Mcp, _) => {
            caveats.push(MCP_SERVER);
            shapes::mcp(options.dialect)
        }
        (engine, format) => {
            let format = format.unwrap_or(Format::Ebnf);
            caveats.push(WHOLE_MESSAGE);
            match (engine, format) {
                (Provider::LlamaCpp, Format::Lark) => caveats.push(LLAMA_LARK),
                (Provider::LlamaCpp, _) => caveats.push(LLAMA_TOOLS),
                (Provider::Vllm, Format::Lark) => caveats.extend([VLLM_FIELD, VLLM_LARK]),
                (Provider::Vllm, _) => caveats.push(VLLM_FIELD),
                (_, Format::Lark) => caveats.extend([SGLANG_FIELD, SGLANG_LARK]),
                _ => caveats.push(SGLANG_FIELD),
            }
            let needs_mark = format == Format::Lark && engine != Provider::Vllm;
            let text = if needs_mark {
                LLGUIDANCE.to_owned() + grammar(format)
            } else {
                grammar(format).to_owned()
            };
            let fields = match (engine, format) {
                (Provider::LlamaCpp, _) => object! { "grammar": text },
                (Provider::Vllm, Format::Regex) => {
                    object! { "structured_outputs": object! { "regex": text } }
                }
                (Provider::Vllm, _) => {
                    object! { "structured_outputs": object! { "grammar": text } }
                }
                (_, Format::Regex) => object! { "regex": text },
                _ => object! { "ebnf": text },
            };
            match options.client {
                Client::Raw => fields,
                Client::Python => object! { "extra_body": fields },
            }
        }
    };
    Ok(ToolSpec { shape, caveats })
}

fn grammar_format(provider: Provider, wanted: Option<Format>) -> Result<Option<Format>, SpecError> {
    let taken = provider.grammar_formats();
    match wanted {
        None => Ok(taken.first().copied()),
        Some(_) if taken.is_empty() => Err(SpecError::NoGrammar { provider }),
        Some(format) if taken.contains(&format) => Ok(Some(format)),
        Some(format) => Err(SpecError::WrongFormat { provider, format }),
    }
}

const CUSTOM_OUTPUT: &str = "the model's call is a `custom_tool_call` whose `input` is the patch itself, not JSON; \
    answer it with a `custom_tool_call_output`";
const REGEX_IS_LONG: &str = "the regular expression is the same language as the Lark grammar on one line; prefer Lark \
    where both are taken, its errors are readable";
const NO_GRAMMAR: &str = "nothing holds the model to the grammar here: send the instructions of `prompt` as well, and \
    expect patches that do not parse";
const BUILTIN_ITEMS: &str = "the model's calls come as one `apply_patch_call` for each file, without the envelope; \
    `apply-patch ops` takes them and gives the outputs";
const BUILTIN_LANGUAGE: &str =
    "the language is the provider's own and takes no grammar; it has no moves";
const EDITOR_COMMANDS: &str = "the calls are `view`, `str_replace`, `create` and `insert`, not patches; \
    `apply-patch tool --dialect anthropic-editor` takes them";
const MCP_SERVER: &str =
    "`apply-patch serve --mcp` announces this tool itself; the JSON is for servers of your own";
const WHOLE_MESSAGE: &str = "the grammar binds the whole message, so that the model can write nothing but a patch: send \
    the instructions of `prompt` for a message as well";
const LLAMA_TOOLS: &str = "llama.cpp's server does not take `grammar` together with `tools`";
const LLAMA_LARK: &str =
    "llama.cpp takes Lark only when it was built with llguidance; other builds want GBNF";
const VLLM_FIELD: &str = "vLLM before 0.12 does not know `structured_outputs`, and `extra_body` is known to the Python \
    client alone: in the HTTP body the field stands at the top";
const VLLM_LARK: &str = "start vLLM with the guidance backend; its XGrammar backend does not read \
                         this Lark, and gets EBNF";
const SGLANG_FIELD: &str =
    "the native `/generate` of SGLang takes the field inside `sampling_params`";
const SGLANG_LARK: &str =
    "start SGLang with `--grammar-backend llguidance`; XGrammar, its default, wants EBNF";
