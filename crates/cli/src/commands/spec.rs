//! `apply-patch tool-spec` and `prompt`: what requests to providers, and models, need.

use apply_patch_api::grammar::export::Format;
use apply_patch_api::tools::specs::{self, SpecOptions};
use clap::Args;
use serde_json::json;

use super::fit;
use super::grammar::{DialectArg, print, text};
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::{json, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch tool-spec --provider openai")]
pub(crate) struct ToolSpecArgs {
    /// Whose request the fields are for
    #[arg(long, value_name = "PROVIDER", value_parser = args::choice::<specs::Provider>())]
    pub(crate) provider: specs::Provider,
    /// All file tools, as functions of this provider, instead of the patch tool alone
    #[arg(
        long,
        conflicts_with_all = [
            "grammar_dialect", "client", "max_characters", "free_text", "allowed_callers", "fit",
            "lines", "paths_from", "operations", "profile",
        ],
    )]
    pub(crate) all_tools: bool,
    /// Leave out what errors mean and what each argument is (`--all-tools`)
    #[arg(
        long, requires = "all_tools",
        conflicts_with_all = [
            "grammar_dialect", "client", "max_characters", "free_text", "allowed_callers", "fit",
        ],
    )]
    pub(crate) brief: bool,
    #[command(flatten)]
    pub(crate) dialect: DialectArg,
    /// Notation of the grammar, where the provider takes several
    #[arg(long, value_name = "FORMAT", value_parser = args::choice::<Format>())]
    pub(crate) grammar_dialect: Option<Format>,
    /// Whether the fields are for the raw request or the provider's Python client
    #[arg(
        long, value_name = "CLIENT", default_value = "raw",
        value_parser = args::choice::<specs::Client>(),
    )]
    pub(crate) client: specs::Client,
    /// How many characters of a file the editor may show (`anthropic-editor`)
    #[arg(long, value_name = "N")]
    pub(crate) max_characters: Option<u32>,
    /// Let the model write text before the patch: the grammar binds the patch alone (llama-cpp,
    /// vllm, sglang, xgrammar)
    #[arg(long)]
    pub(crate) free_text: bool,
    /// Who may call the tool: the model, a program that it wrote, or both (openai,
    /// openai-function, openai-builtin)
    #[arg(
        long, value_name = "CALLER", value_delimiter = ',',
        value_parser = args::choice::<specs::Caller>(),
    )]
    pub(crate) allowed_callers: Vec<specs::Caller>,
    #[command(flatten)]
    pub(crate) fit: args::Fit,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch prompt --channel argument")]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    pub(crate) dialect: DialectArg,
    /// How the model sends the patch: as the whole input of a tool, as an argument of one, or as
    /// its message
    #[arg(
        long, value_name = "CHANNEL", default_value = "tool",
        value_parser = args::choice::<specs::Channel>(),
    )]
    pub(crate) channel: specs::Channel,
}

pub(crate) fn tool_spec(global: &Global, args: &ToolSpecArgs) -> Result<Exit, Failure> {
    let mut options = SpecOptions {
        dialect: args.dialect.dialect(),
        grammar: args.grammar_dialect,
        client: args.client,
        max_characters: args.max_characters,
        free_text: args.free_text,
        allowed_callers: args.allowed_callers.clone(),
        definition: None,
    };
    if args.all_tools {
        return match specs::all_tools::spec(args.provider, args.brief) {
            Ok(tools) => Ok(print(&format!("{tools:#}\n"))),
            Err(error) => Err(Failure::Usage(error.to_string())),
        };
    }
    let wanted = (!args.fit.fit.is_empty()).then_some(&args.fit);
    let format = args.grammar_dialect.or(args.provider.grammar_format(args.free_text));
    let mut fitted = None;
    if let Some(files) = wanted {
        let no_grammar = || Failure::Usage(format!("{} takes no grammar", args.provider));
        let format = format.ok_or_else(no_grammar)?;
        let made = fit::fitted(global, files, format)?;
        options.definition = Some(text(&made, format)?);
        options.grammar = Some(format);
        fitted = Some(made);
    }
    let spec = specs::tool_spec(args.provider, &options)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    if let Some(fitted) = fitted.filter(|_| global.json) {
        let data = json!({
            "spec": spec.to_value(), "stub": fitted.stub(), "notes": fitted.notes(),
        });
        json::done("a tool whose grammar fits the files", data);
        return Ok(Exit::Done);
    }
    for caveat in spec.caveats() {
        render::message(caveat);
    }
    Ok(print(&format!("{}\n", spec.to_json().trim_end())))
}

pub(crate) fn prompt(args: &PromptArgs) -> Result<Exit, Failure> {
    Ok(print(&specs::prompt(args.dialect.dialect(), args.channel)))
}
