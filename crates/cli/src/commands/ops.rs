//! `apply-patch ops`: the built-in operations of the Responses API, one answer for each call.

use apply_patch_api::engine::commit::approval::Approvals;
use apply_patch_api::engine::{Atomicity, Failed, PlanNote, Reject, Report, commit};
use apply_patch_api::tools::input::InputError;
use apply_patch_api::tools::ops::{self, CallOutput, FileOperation, PatchCall};
use clap::Args;

use super::apply;
use super::workspace;
use crate::approve::Prompt;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::host::TerminalHost;
use crate::input::Input;
use crate::interrupt;
use crate::{json, render, source};

#[derive(Debug, Args)]
#[command(
    after_help = "Reads the items of a response and prints an output item for each call.\n\n\
                  Examples:\n  apply-patch ops response.json > outputs.json"
)]
pub(crate) struct OpsArgs {
    #[command(flatten)]
    pub(crate) input: args::InputArgs,
    #[command(flatten)]
    pub(crate) rules: args::Rules,
    #[command(flatten)]
    pub(crate) caution: args::Caution,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

pub(crate) fn ops(global: &Global, args: &OpsArgs) -> Result<Exit, Failure> {
    let mut options = apply::options(global, &args.rules)?;
    ops::set_rules(&mut options);
    let session = workspace::session(global)?;
    let source = source::open(args.input.file.as_deref())?;
    if args.caution.sandbox {
        workspace::confine(global, session.workspace(), Some(&args.rules))?;
    }
    let input = source.read()?;
    let text = apply_patch_api::engine::decode(input.bytes())
        .map_err(|error| Failure::parse(&input, error))?;
    let calls = ops::calls(text).map_err(|error| unreadable(&input, &error))?;
    let patch_text = match ops::to_envelope(&calls) {
        Ok(text) => text,
        Err(InputError::BadCall { call_id, message }) => {
            json::print(&answers(&calls, |call| {
                Err((call.call_id == call_id).then(|| message.clone()))
            }));
            return Ok(Exit::DoesNotApply);
        }
        Err(error) => return Err(unreadable(&input, &error)),
    };
    let converted = Input::new(patch_text, input.name.clone());
    let patch =
        converted.parse(&options.parse).map_err(|error| Failure::parse(&converted, error))?;
    let prompt = Prompt::new(false);
    let mut host = TerminalHost::new(&prompt, None, true);
    // Guarded files stay refused: a program names the allowed ones.
    let mut approvals = Approvals::new(global.settings.approve);
    let applied =
        session.apply("ops", &patch, options, Atomicity::Whole, &mut approvals.ask(&mut host));
    Ok(report(&calls, converted, applied))
}

fn report(calls: &[PatchCall], input: Input, applied: Result<Vec<Report>, Failed>) -> Exit {
    let failed = match applied {
        Ok(reports) => {
            let id = reports.iter().find_map(|report| report.transaction);
            let done = match id {
                Some(id) => format!("done (transaction {id})"),
                None => "done; nothing changed".into(),
            };
            json::print(&answers(calls, |call| Ok(done.clone() + &told(call, &reports))));
            return Exit::Done;
        }
        Err(failed) => failed,
    };
    let failure = &failed.error;
    let error = apply_patch_api::tools::ToolError::from(failure)
        .addressed(apply_patch_api::tools::Caller::Operations);
    let printed = error.printed().map(|text| format!("\nthe check printed:\n{text}"));
    let printed = printed.unwrap_or_default();
    let next =
        error.suggested_next_action.map(|next| format!("\nnext: {next}")).unwrap_or_default();
    let message = format!("{}{printed}{next}", error.message);
    let rejects: &[Reject] =
        if let commit::Error::Rejected(rejects) = failure { rejects } else { &[] };
    json::print(&answers(calls, |call| {
        Err(if rejects.is_empty() {
            Some(message.clone())
        } else {
            rejects_of(calls, call, rejects)
        })
    }));
    interrupt::exit_of(&Failure::Failed(Box::new((input, failed))).error())
}

/// The rejects of a call, in lines, together with the rejects of no call; `None` for none.
fn rejects_of(calls: &[PatchCall], call: &PatchCall, rejects: &[Reject]) -> Option<String> {
    let index = calls.iter().position(|other| std::ptr::eq(other, call));
    let own: Vec<_> = rejects
        .iter()
        .filter(|reject| reject.section == index || reject.section.is_none())
        .map(|reject| ops::explain(calls, reject))
        .collect();
    (!own.is_empty()).then(|| own.join("\n"))
}

fn unreadable(input: &Input, error: &InputError) -> Failure {
    Failure::Unreadable(format!("{}: {error}", input.name))
}

/// Says what a reader should know about the hunks of a call.
fn told(call: &PatchCall, reports: &[Report]) -> String {
    let (FileOperation::CreateFile { path: own, .. }
    | FileOperation::UpdateFile { path: own, .. }
    | FileOperation::DeleteFile { path: own }) = &call.operation;
    reports
        .iter()
        .flat_map(|report| report.plan.notes())
        .filter_map(|note| told_of(own, note))
        .collect()
}

/// A note about a file, behind what is said of its call.
fn told_of(own: &str, note: &PlanNote) -> Option<String> {
    match note {
        PlanNote::Hunk { path, hunk, note } if path == own => {
            Some(format!("; hunk {} {}", hunk + 1, render::note_text(note)))
        }
        PlanNote::Syntax { path, fault, is_new } if path == own => {
            Some(format!("; {}", render::syntax_text(fault, *is_new)))
        }
        PlanNote::Formatted { path, by } if path == own => Some(format!("; formatted by {by}")),
        PlanNote::ConflictMarkers { path, line } if path == own => {
            Some(format!("; {}", render::conflict_markers_text(*line)))
        }
        _ => None,
    }
}

const OTHER_FAILED: &str =
    "not applied, because another operation of this response failed; nothing was changed";

/// One answer for each call; `None` in a failure means: another call failed.
fn answers(
    calls: &[PatchCall],
    of: impl Fn(&PatchCall) -> Result<String, Option<String>>,
) -> Vec<CallOutput> {
    calls
        .iter()
        .map(|call| match of(call) {
            Ok(text) => CallOutput::new(call, true, text),
            Err(own) => CallOutput::new(call, false, own.unwrap_or_else(|| OTHER_FAILED.into())),
        })
        .collect()
}
