//! `apply-patch convert`: the same change in another form.

use apply_patch_api::engine::Files;
use apply_patch_api::tools::input::{self as convert, Converted, InputError, OutputForm};
use clap::Args;
use serde_json::json;

use super::apply;
use super::workspace;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::form;
use crate::global::Global;
use crate::{json, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch convert --to git answer.patch | git apply\n  \
    git diff | apply-patch convert --from unified --to envelope")]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) input: args::InputArgs,
    #[command(flatten)]
    pub(crate) from: args::From,
    /// Form of the output; a unified or git diff is made against the files of the workspace
    #[arg(long, value_name = "FORM", value_parser = args::choice::<OutputForm>())]
    pub(crate) to: OutputForm,
    #[command(flatten)]
    pub(crate) rules: args::Rules,
}

pub(crate) fn convert(global: &Global, args: &ConvertArgs) -> Result<Exit, Failure> {
    let options = apply::options(global, &args.rules)?;
    let sources = global.sources(&args.input.clone().into())?;
    let input = form::all_chosen(global, sources, &args.from, &options.parse)?;
    let output = "converted";
    let converted = convert::convert(&input.sent, args.to, &options, &mut || {
        let session = workspace::recovered(global).map_err(|failure| failure.error())?;
        Ok(Files::from(session.workspace().root()))
    });
    match converted {
        Ok(Converted::Text(text, notes)) if global.json => {
            let text = String::from_utf8(text).map_err(|_| {
                Failure::Usage("the patch is not UTF-8, and JSON is: leave out `--json`".into())
            })?;
            json::done(output, json!({ "text": text, "notes": notes }));
            Ok(Exit::Done)
        }
        Ok(Converted::Items(items, notes)) if global.json => {
            json::done(output, json!({ "items": items, "notes": notes }));
            Ok(Exit::Done)
        }
        Ok(Converted::Text(text, notes)) => {
            tell(global, &notes);
            render::raw(&text);
            Ok(Exit::Done)
        }
        Ok(Converted::Items(items, notes)) => {
            tell(global, &notes);
            json::print(&items);
            Ok(Exit::Done)
        }
        Err(InputError::Unreadable(message)) => {
            Err(Failure::Unreadable(format!("{}: {message}", input.name)))
        }
        Err(error) => Err(form::failure(&input, error)),
    }
}

fn tell(global: &Global, notes: &[String]) {
    for note in notes.iter().filter(|_| !global.quiet) {
        render::message(&format!("note: {note}"));
    }
}
