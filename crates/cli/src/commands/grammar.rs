//! `apply-patch grammar`, `tool-spec` and `prompt`: what providers and models are told.

use std::io::Write as _;

use clap::{Args, ValueEnum};
use file_tools::specs::{self, SpecOptions};

use crate::exit::Exit;
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch grammar --format gbnf --dialect codex > apply_patch.gbnf")]
pub(crate) struct GrammarArgs {
    /// In which form: pest, lark, gbnf, ebnf or regex
    #[arg(long, value_name = "FORMAT", default_value = "lark", value_parser = format)]
    pub(crate) format: patch_grammar::export::Format,
    #[command(flatten)]
    pub(crate) dialect: DialectArg,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch tool-spec --provider openai")]
pub(crate) struct ToolSpecArgs {
    /// openai, openai-chat, openai-function, openai-function-chat, openai-builtin, anthropic,
    /// anthropic-editor, mcp, llama-cpp, vllm or sglang
    #[arg(long, value_name = "PROVIDER", value_parser = provider)]
    pub(crate) provider: file_tools::specs::Provider,
    #[command(flatten)]
    pub(crate) dialect: DialectArg,
    /// The form of the grammar, where the provider takes several: lark, gbnf, ebnf or regex
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub(crate) grammar_dialect: Option<patch_grammar::export::Format>,
    /// Whether the fields are for the raw request or for the provider's Python client
    #[arg(long, value_name = "raw|python", default_value = "raw")]
    pub(crate) client: Client,
    /// The most characters that the editor shows of a file (anthropic-editor)
    #[arg(long, value_name = "N")]
    pub(crate) max_characters: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch prompt --channel argument")]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    pub(crate) dialect: DialectArg,
    /// How the patch travels: as a tool's whole input, as an argument, or as the whole message
    #[arg(long, value_name = "tool|argument|message", default_value = "tool")]
    pub(crate) channel: Channel,
}

#[derive(Debug, Args)]
pub(crate) struct DialectArg {
    /// The whole language, or the subset that codex-trained models write
    #[arg(long, value_name = "whole|codex", default_value = "whole", value_parser = dialect)]
    pub(crate) dialect: patch_grammar::Dialect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    Raw,
    Python,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Channel {
    Tool,
    Argument,
    Message,
}

fn format(text: &str) -> Result<patch_grammar::export::Format, String> {
    let all = patch_grammar::export::Format::ALL;
    named(text, &all, |format| format.as_str())
}

fn dialect(text: &str) -> Result<patch_grammar::Dialect, String> {
    named(text, &patch_grammar::Dialect::ALL, |dialect| dialect.as_str())
}

fn provider(text: &str) -> Result<file_tools::specs::Provider, String> {
    text.parse().map_err(|error: file_tools::specs::SpecError| error.to_string())
}

/// The one of `all` that goes by `text`.
fn named<T: Copy>(text: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    let names: Vec<_> = all.iter().map(|&one| name(one)).collect();
    all.iter().copied().find(|&one| name(one) == text).ok_or_else(|| format!("there is {}", names.join(", ")))
}

pub(crate) fn grammar(args: &GrammarArgs) -> Exit {
    print(patch_grammar::export::text(args.format, args.dialect.dialect))
}

pub(crate) fn tool_spec(args: &ToolSpecArgs) -> Exit {
    let client = match args.client {
        Client::Raw => specs::Client::Raw,
        Client::Python => specs::Client::Python,
    };
    let options = SpecOptions {
        dialect: args.dialect.dialect,
        grammar: args.grammar_dialect,
        client,
        max_characters: args.max_characters,
    };
    match specs::tool_spec(args.provider, &options) {
        Ok(spec) => {
            for caveat in spec.caveats() {
                render::message(caveat);
            }
            print(&format!("{}\n", spec.to_json().trim_end()))
        }
        Err(error) => {
            render::message(&error.to_string());
            Exit::Usage
        }
    }
}

pub(crate) fn prompt(args: &PromptArgs) -> Exit {
    let channel = match args.channel {
        Channel::Tool => specs::Channel::Tool,
        Channel::Argument => specs::Channel::Argument,
        Channel::Message => specs::Channel::Message,
    };
    print(&specs::prompt(args.dialect.dialect, channel))
}

/// Prints a text as it is; a broken pipe is a quiet end.
fn print(text: &str) -> Exit {
    let _ = std::io::stdout().write_all(text.as_bytes());
    Exit::Done
}
