//! `apply-patch parse`: the tree of a patch as JSON.

use clap::Args;
use patch_engine::{Options, Patch};
use patch_grammar::{LineKind, SectionOperation, Spanned};
use serde_json::{Value, json};

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::{input, json};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch parse answer.patch | jq .data")]
pub(crate) struct ParseArgs {
    #[command(flatten)]
    pub(crate) input: args::InputArgs,
    /// Profile whose tolerance of odd spellings holds
    #[arg(long, value_name = "PROFILE", default_value = "strict")]
    pub(crate) profile: args::Profile,
}

pub(crate) fn parse(global: &Global, args: &ParseArgs) -> Exit {
    let profile = args.profile.into();
    let run = || -> Result<Exit, Failure> {
        let input = input::read(args.input.file.as_deref())?;
        let options = Options::new(profile).parse;
        let text = patch_engine::decode(&input.bytes).map_err(|error| Failure::parse(&input, error))?;
        let patch = patch_engine::parse(text, &options).map_err(|error| Failure::parse(&input, error))?;
        json::done(summary(&patch), tree(&patch));
        Ok(Exit::Done)
    };
    run().unwrap_or_else(|failure| failure.report(global, None))
}

fn summary(patch: &Patch<'_>) -> String {
    format!("{} file operations, {} hunks", patch.sections.len(), patch.hunk_count())
}

fn tree(patch: &Patch<'_>) -> Value {
    let sections: Vec<_> = patch
        .sections
        .iter()
        .map(|section| {
            let mut value = json!({ "path": spanned(&section.path), "line": section.line(), "span": [section.span.start, section.span.end] });
            match &section.operation {
                SectionOperation::Add(added) => {
                    value["operation"] = "add".into();
                    value["lines"] = added.lines().collect::<Vec<_>>().into();
                    value["noNewline"] = added.no_newline.into();
                }
                SectionOperation::Delete => value["operation"] = "delete".into(),
                SectionOperation::Update { move_to, hunks } => {
                    value["operation"] = "update".into();
                    value["moveTo"] = move_to.as_ref().map(spanned).into();
                    value["hunks"] = hunks.iter().map(hunk).collect::<Vec<_>>().into();
                }
            }
            value
        })
        .collect();
    let warnings: Vec<_> = patch.warnings.iter().map(ToString::to_string).collect();
    json!({ "sections": sections, "warnings": warnings })
}

fn hunk(hunk: &patch_grammar::Hunk<'_>) -> Value {
    let lines: Vec<_> = hunk
        .lines
        .iter()
        .map(|line| {
            let kind = match line.kind {
                LineKind::Context => "context",
                LineKind::Delete => "delete",
                LineKind::Insert => "insert",
            };
            json!({ "kind": kind, "text": line.text, "line": line.line, "noNewline": line.no_newline })
        })
        .collect();
    json!({
        "line": hunk.line,
        "span": [hunk.span.start, hunk.span.end],
        "headers": hunk.headers.iter().map(spanned).collect::<Vec<_>>(),
        "endOfFile": hunk.end_of_file,
        "separators": hunk.separators,
        "lines": lines,
    })
}

fn spanned(spanned: &Spanned<'_>) -> Value {
    json!({ "text": spanned.text, "span": [spanned.span.start, spanned.span.end] })
}
