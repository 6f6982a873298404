//! `apply-patch convert`: the same change in another form.

use clap::{Args, ValueEnum};
use file_tools::ops;
use patch_engine::{AddNewline, Options};
use patch_grammar::envelope;

use super::apply;
use super::workspace;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::form;
use crate::global::Global;
use crate::input;
use crate::input::Input;
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
    #[arg(long, value_name = "FORM")]
    pub(crate) to: Form,
    #[command(flatten)]
    pub(crate) rules: args::Rules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    Envelope,
    Unified,
    Git,
    Openai,
}

pub(crate) fn convert(global: &Global, args: &ConvertArgs) -> Result<Exit, Failure> {
    let options = apply::options(global, &args.rules)?;
    let mut input = form::of(input::read(args.input.file.as_deref())?, &args.from, &options.parse)?;
    if (input.diff.is_some() || input.reverse) && matches!(args.to, Form::Envelope | Form::Openai) {
        input = written(&input, &options, global.quiet)?;
    }
    let converted = form::parsed(&input, &options, |patch| match args.to {
        Form::Envelope => {
            render::raw(patch.text);
            Ok(Exit::Done)
        }
        Form::Openai => {
            let every_line = options.add_newline == AddNewline::EveryLine;
            let calls = ops::from_patch(patch, every_line).map_err(|error| Failure::Input(error.to_string()))?;
            json::print(&calls.iter().map(item).collect::<Vec<_>>());
            Ok(Exit::Done)
        }
        Form::Unified | Form::Git => {
            // Line numbers and removed text are in the files only.
            let session = workspace::recovered(global)?;
            let plan = patch_engine::plan(session.workspace().root(), patch, &options)
                .map_err(|rejects| Failure::Rejected(Box::new((input.clone(), rejects))))?;
            let git = args.to == Form::Git;
            for change in plan.changes() {
                let images = plan.images();
                match if git { Some(images.diff(change)?) } else { images.plain_diff(change)? } {
                    Some(diff) => render::raw(&diff),
                    None => {
                        let message =
                            format!("{}: a plain unified diff cannot express this change; use `--to git`", change.path);
                        return Err(Failure::Input(message));
                    }
                }
            }
            Ok(Exit::Done)
        }
    });
    converted.map_err(|unread| unread.of(input.clone()))?
}

/// A diff, or a patch that is to be taken back, as an envelope that says the same.
fn written(input: &Input, options: &Options, quiet: bool) -> Result<Input, Failure> {
    let written = form::parsed(input, options, |patch| {
        let warnings = patch.warnings.iter().filter(|_| !quiet);
        warnings.for_each(|warning| render::message(&format!("warning: patch {warning}")));
        envelope::write(patch).map_err(|error| Failure::Unreadable(format!("{}: {error}", input.name)))
    });
    let text = written.map_err(|unread| unread.of(input.clone()))??;
    Ok(Input::new(text.into_bytes(), format!("{}, converted", input.name)))
}

/// A call as an item of a response.
fn item(call: &ops::PatchCall) -> serde_json::Value {
    let mut item = serde_json::to_value(call).expect("a value with text keys can be written");
    item["type"] = "apply_patch_call".into();
    item["status"] = "completed".into();
    item
}
