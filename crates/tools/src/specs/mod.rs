//! The patch tool in the form that each provider takes.
//!
//! Every answer is JSON ready to be put into a request, the same byte for byte on every run: its
//! keys stand in the order of the providers' own examples, whatever the features of `serde_json`
//! are. What the JSON cannot express comes beside it, as [`caveats`](ToolSpec::caveats).

pub mod all_tools;
mod options;
mod prompt;
mod shapes;

use patch_grammar::export::{self, Format};
use patch_session::settings::Choice;

pub use options::{Caller, Client, SpecOptions};
pub use prompt::{Channel, EXAMPLES, Example, File, prompt};
pub use shapes::TOOL_NAME;
use shapes::{Json, Nesting, object};

patch_grammar::named! {
    /// A provider, and its form of the tool.
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
        /// Mistral: a function with one string.
        Mistral = "mistral",
        /// Amazon Bedrock, Converse API: a tool with one string.
        Bedrock = "bedrock",
        /// Ollama: a function with one string.
        Ollama = "ollama",
        /// A tool of an MCP server, as in the answer to `tools/list`.
        Mcp = "mcp",
        /// Fields for a request to llama.cpp's server.
        LlamaCpp = "llama-cpp",
        /// Fields for a request to vLLM.
        Vllm = "vllm",
        /// Fields for a request to SGLang.
        SgLang = "sglang",
        /// A structural tag for XGrammar, the library.
        XGrammar = "xgrammar",
    }
}

patch_session::named_choices! { false: Provider, Channel }

impl Provider {
    /// Returns the notations in which it takes a grammar, its usual one first.
    #[must_use]
    pub fn grammar_formats(self) -> &'static [Format] {
        match self {
            Self::OpenAi | Self::OpenAiChat => &[Format::Lark, Format::Regex],
            Self::LlamaCpp => &[Format::Gbnf, Format::Lark],
            Self::Vllm | Self::SgLang => &[Format::Ebnf, Format::Gbnf, Format::Regex, Format::Lark],
            Self::XGrammar => &[Format::Ebnf],
            Self::OpenAiFunction
            | Self::OpenAiFunctionChat
            | Self::OpenAiBuiltin
            | Self::Anthropic
            | Self::AnthropicEditor
            | Self::Gemini
            | Self::Mistral
            | Self::Bedrock
            | Self::Ollama
            | Self::Mcp => &[],
        }
    }

    /// Returns the notation in which it gets a grammar when none is asked for: of the whole
    /// message, or of a patch within free text.
    #[must_use]
    pub fn grammar_format(self, free_text: bool) -> Option<Format> {
        self.free_text_format()
            .filter(|_| free_text)
            .or_else(|| self.grammar_formats().first().copied())
    }

    /// Returns whether a grammar that binds the patch alone, within free text, can be had, and in
    /// which notation.
    fn free_text_format(self) -> Option<Format> {
        match self {
            Self::Vllm | Self::SgLang | Self::XGrammar => Some(Format::Ebnf),
            Self::LlamaCpp => Some(Format::Gbnf),
            _ => None,
        }
    }

    /// Returns whether the tool says who may call it.
    fn takes_callers(self) -> bool {
        matches!(self, Self::OpenAi | Self::OpenAiFunction | Self::OpenAiBuiltin)
    }
}

/// A tool in the shape of a provider.
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
    /// The provider has no place for this choice.
    #[error("{provider} does not take {option}")]
    NotTaken {
        /// The provider.
        provider: Provider,
        /// The choice, in words.
        option: &'static str,
    },
}

fn list(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// How a grammar for files begins in XGrammar's EBNF.
const BEGIN: &str = "root ::= \"*** Begin Patch\\n\" ";

/// The mark in front of a Lark grammar by which llguidance recognises the notation.
const LLGUIDANCE: &str = "%llguidance {}\n\n";

/// Makes the patch tool in the shape of a provider.
///
/// # Errors
///
/// [`SpecError`] for an option that the provider does not take.
pub fn tool_spec(provider: Provider, options: &SpecOptions) -> Result<ToolSpec, SpecError> {
    taken(provider, options)?;
    let format = grammar_format(provider, options)?;
    let mut caveats = Vec::new();
    let shape = match (provider, format) {
        (Provider::OpenAi | Provider::OpenAiChat, Some(format)) => {
            caveats.push(CUSTOM_OUTPUT);
            if format == Format::Regex {
                caveats.push(REGEX_IS_LONG);
            }
            let text = grammar_text(format, options);
            let nesting = Nesting::of(provider == Provider::OpenAiChat);
            shapes::openai_custom(options, format, text, nesting)
        }
        (Provider::OpenAiFunction | Provider::OpenAiFunctionChat, _) => {
            caveats.push(NO_GRAMMAR);
            let nesting = Nesting::of(provider == Provider::OpenAiFunctionChat);
            shapes::openai_function(options, nesting)
        }
        (Provider::OpenAiBuiltin, _) => {
            caveats.extend([BUILTIN_ITEMS, BUILTIN_LANGUAGE]);
            shapes::openai_builtin(options)
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
        (Provider::Mistral, _) => {
            caveats.push(NO_GRAMMAR);
            shapes::mistral(options.dialect)
        }
        (Provider::Bedrock, _) => {
            caveats.extend([NO_GRAMMAR, BEDROCK_LIST]);
            shapes::bedrock(options.dialect)
        }
        (Provider::Ollama, _) => {
            caveats.push(NO_GRAMMAR);
            shapes::ollama(options.dialect)
        }
        (Provider::Mcp, _) => {
            caveats.push(MCP_SERVER);
            shapes::mcp(options.dialect)
        }
        (engine, format) => {
            let format = format.unwrap_or(Format::Ebnf);
            caveats.push(if options.free_text { FREE_TEXT } else { WHOLE_MESSAGE });
            caveats.extend_from_slice(engine_caveats(engine, format, options.free_text));
            let fields = engine_fields(engine, format, options);
            match options.client {
                Client::Python if engine != Provider::XGrammar => object! { "extra_body": fields },
                _ => fields,
            }
        }
    };
    Ok(ToolSpec { shape, caveats })
}

/// Refuses options that the provider has no place for.
fn taken(provider: Provider, options: &SpecOptions) -> Result<(), SpecError> {
    let refused = [
        (
            options.max_characters.is_some() && provider != Provider::AnthropicEditor,
            "a limit of characters",
        ),
        (options.free_text && provider.free_text_format().is_none(), "free text"),
        // A structural tag has the first marker itself, and a lazy grammar begins with it.
        (
            options.free_text
                && provider != Provider::LlamaCpp
                && options.definition.as_deref().is_some_and(|text| !text.contains(BEGIN)),
            "free text with a grammar that does not begin with the first marker",
        ),
        (
            options.definition.is_some() && provider.grammar_formats().is_empty(),
            "a grammar for files",
        ),
        (!options.allowed_callers.is_empty() && !provider.takes_callers(), "allowed callers"),
    ];
    match refused.into_iter().find(|(refused, _)| *refused) {
        Some((_, option)) => Err(SpecError::NotTaken { provider, option }),
        None => Ok(()),
    }
}

fn grammar_format(provider: Provider, options: &SpecOptions) -> Result<Option<Format>, SpecError> {
    let free_text = provider.free_text_format().filter(|_| options.free_text);
    let taken = match &free_text {
        Some(format) => std::slice::from_ref(format),
        None => provider.grammar_formats(),
    };
    match options.grammar {
        None => Ok(taken.first().copied()),
        Some(_) if taken.is_empty() => Err(SpecError::NoGrammar { provider }),
        Some(format) if taken.contains(&format) => Ok(Some(format)),
        Some(_) if free_text.is_some() => {
            Err(SpecError::NotTaken { provider, option: "another notation with free text" })
        }
        Some(format) => Err(SpecError::WrongFormat { provider, format }),
    }
}

fn grammar_text(format: Format, options: &SpecOptions) -> String {
    match &options.definition {
        Some(text) => text.clone(),
        None => export::text(format, options.dialect).to_owned(),
    }
}

/// The fields that hold an inference engine to the grammar.
fn engine_fields(engine: Provider, format: Format, options: &SpecOptions) -> Json {
    let grammar = grammar_text(format, options);
    if options.free_text {
        return match engine {
            Provider::LlamaCpp => shapes::lazy_grammar(grammar),
            Provider::XGrammar => free_text_tag(options),
            _ => object! { "response_format": free_text_tag(options) },
        };
    }
    let needs_mark = format == Format::Lark && engine != Provider::Vllm;
    let text = if needs_mark { LLGUIDANCE.to_owned() + &grammar } else { grammar };
    match (engine, format) {
        (Provider::LlamaCpp, _) => object! { "grammar": text },
        (Provider::XGrammar, _) => shapes::whole_message(text),
        (Provider::Vllm, Format::Regex) => {
            object! { "structured_outputs": object! { "regex": text } }
        }
        (Provider::Vllm, _) => object! { "structured_outputs": object! { "grammar": text } },
        (_, Format::Regex) => object! { "regex": text },
        _ => object! { "ebnf": text },
    }
}

fn free_text_tag(options: &SpecOptions) -> Json {
    match &options.definition {
        Some(text) => shapes::structural_tag(text.replacen(BEGIN, "root ::= ", 1), ""),
        None => shapes::structural_tag(export::body(options.dialect), "*** End Patch"),
    }
}

fn engine_caveats(engine: Provider, format: Format, free_text: bool) -> &'static [&'static str] {
    match (engine, format) {
        (Provider::LlamaCpp, Format::Lark) => &[LLAMA_LARK],
        (Provider::LlamaCpp, _) => &[LLAMA_TOOLS],
        (Provider::XGrammar, _) => &[XGRAMMAR_CALL],
        (Provider::Vllm, _) if free_text => &[XGRAMMAR_BACKEND, VLLM_CUSTOM],
        (Provider::Vllm, Format::Lark) => &[VLLM_FIELD, VLLM_LARK, VLLM_CUSTOM],
        (Provider::Vllm, _) => &[VLLM_FIELD, VLLM_CUSTOM],
        _ if free_text => &[XGRAMMAR_BACKEND, SGLANG_CUSTOM],
        (_, Format::Lark) => &[SGLANG_FIELD, SGLANG_LARK, SGLANG_CUSTOM],
        _ => &[SGLANG_FIELD, SGLANG_CUSTOM],
    }
}

const CUSTOM_OUTPUT: &str = "the model's call is a `custom_tool_call` whose `input` is the patch \
    itself, not JSON; answer it with a `custom_tool_call_output`";
const REGEX_IS_LONG: &str = "the regular expression is the same language as the Lark grammar on \
    one line; prefer Lark where both are taken, its errors are readable";
const NO_GRAMMAR: &str = "nothing holds the model to the grammar here: send the instructions of \
    `prompt` as well, and expect patches that do not parse";
const BUILTIN_ITEMS: &str = "the model's calls come as one `apply_patch_call` for each file, \
    without the envelope; `apply-patch ops` takes them and gives the outputs";
const BUILTIN_LANGUAGE: &str =
    "the language is the provider's own and takes no grammar; it has no moves";
const EDITOR_COMMANDS: &str = "the calls are `view`, `str_replace`, `create` and `insert`, not \
    patches; `apply-patch tool --dialect anthropic-editor` takes them";
const MCP_SERVER: &str =
    "`apply-patch serve --mcp` announces this tool itself; the JSON is for servers of your own";
const BEDROCK_LIST: &str = "it is one of the `tools` in the `toolConfig` of Converse";
const FREE_TEXT: &str = "the model may write text before the patch, or no patch at all; nothing \
    may follow the patch: send the instructions of `prompt` for a message as well";
const XGRAMMAR_BACKEND: &str =
    "structural tags of this form need the XGrammar backend, which is the default";
const XGRAMMAR_CALL: &str =
    "it is the argument of `Grammar.from_structural_tag` and `compile_structural_tag`";
const WHOLE_MESSAGE: &str = "the grammar binds the whole message, so that the model can write \
    nothing but a patch: send the instructions of `prompt` for a message as well";
const LLAMA_TOOLS: &str = "llama.cpp's server does not take `grammar` together with `tools`";
const LLAMA_LARK: &str =
    "llama.cpp takes Lark only when it was built with llguidance; other builds want GBNF";
const VLLM_FIELD: &str = "vLLM before 0.12 does not know `structured_outputs`, and `extra_body` \
    is known to the Python client alone: in the HTTP body the field stands at the top";
const VLLM_LARK: &str = "vLLM reads Lark with either backend from 0.32 on, and before with the \
    guidance backend alone; with XGrammar EBNF is the faster one";
const VLLM_CUSTOM: &str = "vLLM's Responses API refuses custom tools with a grammar (as of 0.33): \
    these fields are for its Chat Completions";
const SGLANG_FIELD: &str =
    "the native `/generate` of SGLang takes the field inside `sampling_params`";
const SGLANG_LARK: &str =
    "start SGLang with `--grammar-backend llguidance`; XGrammar, its default, wants EBNF";
const SGLANG_CUSTOM: &str = "SGLang's Responses API takes a custom tool with a grammar and only \
    describes the grammar to the model (as of 0.5.23); these fields hold the model to it";
