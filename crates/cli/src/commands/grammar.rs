//! `apply-patch grammar`: the grammars for other engines, and those that fit files.

use std::io::Write as _;

use apply_patch_api::grammar::Dialect;
use apply_patch_api::grammar::export::Format;
use clap::Args;
use serde_json::json;

use super::fit::{self, FittedGrammar};
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::{json, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch grammar --format gbnf --dialect codex > apply_patch.gbnf\n  \
    apply-patch grammar --fit src/a.rs src/b.rs --lines src/b.rs:100-180 > fit.lark")]
pub(crate) struct GrammarArgs {
    /// Notation of the grammar
    #[arg(
        long, value_name = "FORMAT", default_value = "lark",
        value_parser = args::choice::<Format>(),
    )]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) dialect: DialectArg,
    #[command(flatten)]
    pub(crate) fit: args::Fit,
}

#[derive(Debug, Args)]
pub(crate) struct DialectArg {
    /// The whole language, the subset that models trained for Codex write, or the whole without
    /// what is refused whatever the files are
    #[arg(
        long, value_name = "DIALECT", default_value = "whole",
        value_parser = args::choice::<Dialect>(),
    )]
    dialect: Dialect,
    /// Short for `--dialect tight`
    #[arg(long, conflicts_with = "dialect")]
    tight: bool,
}

impl DialectArg {
    pub(super) fn dialect(&self) -> Dialect {
        if self.tight { Dialect::Tight } else { self.dialect }
    }
}

pub(crate) fn grammar(global: &Global, args: &GrammarArgs) -> Result<Exit, Failure> {
    if args.fit.fit.is_empty() {
        return Ok(print(apply_patch_api::grammar::export::text(
            args.format,
            args.dialect.dialect(),
        )));
    }
    let fitted = fit::fitted(global, &args.fit, args.format)?;
    let text = text(&fitted, args.format)?;
    if global.json {
        let data = json!({ "grammar": text, "stub": fitted.stub(), "notes": fitted.notes() });
        json::done("a grammar that fits the files", data);
        return Ok(Exit::Done);
    }
    for note in fitted.notes() {
        render::message(&format!("note: {note}"));
    }
    Ok(print(&text))
}

/// The grammar in a notation.
pub(super) fn text(fitted: &FittedGrammar, format: Format) -> Result<String, Failure> {
    fitted.text(format.as_str()).map_err(|error| Failure::Tool(Box::new(error)))
}

/// Prints a text as it is.
pub(super) fn print(text: &str) -> Exit {
    render::written(std::io::stdout().write_all(text.as_bytes()));
    Exit::Done
}
