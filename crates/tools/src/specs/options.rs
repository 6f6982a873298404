//! The choices for a tool spec.

use patch_grammar::Dialect;
use patch_grammar::export::Format;
use patch_session::settings::Choice;

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

patch_grammar::named! {
    /// Who may call a tool of OpenAI's Responses API.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Caller {
        /// The model.
        Direct = "direct",
        /// A program that the model wrote; its calls come with a `caller`.
        Programmatic = "programmatic",
    }
}

patch_session::named_choices! { false: Client, Caller }

/// The choices for a tool spec. A choice that the provider does not take is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecOptions {
    /// Which language the model is to write. Default: the whole.
    pub dialect: Dialect,
    /// The notation of the grammar. Default: the first of
    /// [`Provider::grammar_formats`](super::Provider::grammar_formats).
    pub grammar: Option<Format>,
    /// Who builds the request. Default: someone who writes the HTTP body.
    pub client: Client,
    /// How many characters Anthropic's editor tool may show of a file. Default: all.
    pub max_characters: Option<u32>,
    /// Whether the model may write text before the patch. Default: the grammar binds the whole
    /// message.
    pub free_text: bool,
    /// Who may call the tool, of OpenAI's Responses API. Default: the field is left out.
    pub allowed_callers: Vec<Caller>,
    /// Another grammar, in the notation for the provider. Default: the grammar of the language.
    pub definition: Option<String>,
}

impl Default for SpecOptions {
    fn default() -> Self {
        Self {
            dialect: Dialect::Whole,
            grammar: None,
            client: Client::Raw,
            max_characters: None,
            free_text: false,
            allowed_callers: Vec::new(),
            definition: None,
        }
    }
}
