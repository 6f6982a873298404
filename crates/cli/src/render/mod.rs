//! The output for a person. Text from patches, files and file names passes through [`sanitize`] first.

mod diff;
mod history;
mod html;
mod human;
mod link;
mod manual;
mod pager;
mod picture;
mod placement;
mod print;
mod stat;
mod unified;

use std::path::Path;

use apply_patch_api::engine::commit::{self, CommitError, Recovered, Workspace};
use apply_patch_api::engine::{ErrorKind, Event, Failed, Patch, Plan, PlanNote, Remedy, Report};
use apply_patch_api::files::{self, quoted};
use apply_patch_api::tools::{Caller, FailureClass, Hint, ToolError, hints};

use crate::failure::Failure;
use crate::global::Global;
use crate::input::Input;
use crate::outside;

use apply_patch_api::tools::changes::{
    AS_BEFORE, carried_text, done_text, of_turn_text, passed_over_text, shortfall, unlogged_text,
};
pub(crate) use apply_patch_api::tools::changes::{
    conflict_markers_text, new_directories_text, note_text, outcome_text, summary, syntax_text,
    whitespace_text,
};
pub(crate) use apply_patch_api::tools::shown::{is_unsafe, sanitize};
pub(crate) use diff::write_diff;
pub(crate) use history::{
    coloured, headline, holds, one_line, part_of_turn, turn_line, turn_name, turn_what, what,
};
pub(crate) use html::page;
#[cfg(feature = "review")]
pub(crate) use html::{ChoiceFile, ChoiceHunk, choice_page};
pub(crate) use human::{age, count, cut, size};
pub(crate) use manual::pages as manual;
pub(crate) use pager::Pager;
pub(crate) use placement::{placement, placements};
pub(crate) use print::{
    done, end, error_width, indented, lettered, line, message, name, output, paragraph, raw,
    sentence, width, written, written_or,
};
#[cfg(feature = "git")]
pub(crate) use stat::stat;
pub(crate) use stat::{stat_text, stat_totals, statistics};

/// Prints what went wrong, with pictures where there is something to point at. For a change
/// cancelled by a signal, prints the part applied before.
pub(crate) fn failure(failure: &Failure, error: &ToolError, global: &Global) {
    if error.kind == ErrorKind::Cancelled {
        if let Failure::Failed(failed) = failure {
            failed.1.reports.iter().for_each(|report| names(global.root(), &report.plan));
        }
        return message(&error.message);
    }
    let input = match failure {
        Failure::Parse(parse) => Some(&parse.0),
        Failure::Rejected(rejected) => Some(&rejected.0),
        Failure::Failed(failed) => Some(&failed.0),
        _ => None,
    };
    for note in input.iter().flat_map(|input| &input.sent.notes).filter(|_| !global.quiet) {
        message(&format!("note: {note}"));
    }
    let next = error.suggested_next_action.as_deref();
    match failure {
        Failure::Usage(text)
        | Failure::Input(text)
        | Failure::Unreadable(text)
        | Failure::Refused(text) => {
            message(text);
        }
        Failure::TooLong => message(&format!(
            "the patch is longer than {} MiB",
            apply_patch_api::engine::MAX_PATCH_SIZE >> 20
        )),
        Failure::Parse(parse) => {
            picture::parse_error(&parse.0, &parse.1, global);
            sentence("nothing was changed");
        }
        Failure::Rejected(rejected) => {
            let (input, rejects) = &**rejected;
            picture::rejects(input, rejects, global);
            sentence("nothing was changed");
        }
        Failure::Tool(error) => {
            message(&error.message);
            next.into_iter().for_each(sentence);
            if error.class != FailureClass::Partial {
                unchanged(&error.message);
            }
        }
        Failure::Workspace(why) => {
            message(&why.to_string());
            next.into_iter().filter(|_| has_advice(why)).for_each(sentence);
        }
        Failure::Commit(why) => {
            message(&why.to_string());
            next.into_iter().filter(|_| of_commit(why).is_some()).for_each(sentence);
            if why.is_rolled_back() {
                unchanged(&why.to_string());
            }
        }
        Failure::Failed(failed) => not_applied(&failed.0, &failed.1, global),
    }
    // A person at a terminal has the patch, and corrects that.
    let seen = *outside::STDERR_IS_TERMINAL && !global.verbose;
    if let Some(kept) = failure.kept().filter(|_| !seen) {
        let id = &kept.id;
        sentence(&kept.words(Caller::Terminal).unwrap_or_else(|| {
            format!(
                "the patch is kept: send the sections of some files again with `--amend {id}`, and \
                 it has the others"
            )
        }));
    }
}

/// Whether the next step after a failure of the workspace is for a person.
fn has_advice(why: &commit::Error) -> bool {
    refusal(why).is_some()
        || matches!(
            why,
            commit::Error::Drifted { .. }
                | commit::Error::NotRestored { .. }
                | commit::Error::Rejected(_)
        )
        || !why.to_be_trusted().is_empty()
}

/// Prints why a patch was not applied as a whole, and the part that was.
fn not_applied(input: &Input, failed: &Failed, global: &Global) {
    let Failed { error, reports, dry_run, .. } = failed;
    if !dry_run {
        reports.iter().for_each(|report| names(global.root(), &report.plan));
    }
    match error {
        commit::Error::Rejected(rejects) => picture::rejects(input, rejects, global),
        error => {
            if let commit::Error::Commit(error) = error {
                not_verified(error);
            }
            message(&error.to_string());
            refusal(error).into_iter().for_each(|error| advise(error, global.caller));
        }
    }
    for (path, by) in &input.changed_by {
        sentence(&format!("{}: last changed {by}", quoted(path)));
    }
    let incomplete = matches!(error, commit::Error::Commit(error) if !error.is_rolled_back());
    let is_partial = reports.iter().any(|report| report.plan.is_partial());
    match (&reports[..], dry_run) {
        ([], _) if incomplete => {}
        ([], _) => unchanged(&error.to_string()),
        (_, true) => sentence("only a part of it would be applied"),
        (_, false) if is_partial => {
            sentence("applied in part; the changes listed above stay");
            hint(reports);
        }
        (_, false) => {
            sentence("stopped half way; the changes listed above stay");
            hint(reports);
        }
    }
}

/// Says that nothing was changed, unless the message did.
fn unchanged(said: &str) {
    if !said.contains("nothing was changed") {
        sentence("nothing was changed");
    }
}

/// Prints the output of a failed `--verify` command, unless shown live.
fn not_verified(error: &CommitError) {
    match error {
        CommitError::RollbackIncomplete { cause, .. } => not_verified(cause),
        CommitError::Unverified(refused) if !print::output_was_shown() => {
            if refused.left_out > 0 {
                message(&format!(
                    "the command printed {} bytes more before this:",
                    refused.left_out
                ));
            }
            print::errors(&refused.output);
        }
        _ => {}
    }
}

/// Returns what the guard refused, or what failed, if its advice is for a person.
fn refusal(error: &commit::Error) -> Option<&files::Error> {
    match error {
        commit::Error::Files(error) => Some(error),
        commit::Error::Store(error) => of_store(error),
        commit::Error::Commit(error) => of_commit(error),
        _ => None,
    }
}

fn of_commit(error: &CommitError) -> Option<&files::Error> {
    match error {
        CommitError::Files(error) => Some(error),
        CommitError::Store(error) => of_store(error),
        _ => None,
    }
}

/// The message about an untrusted state includes the advice.
fn of_store(error: &apply_patch_api::trash::Error) -> Option<&files::Error> {
    use files::Error::{Io, OthersState};
    match error {
        apply_patch_api::trash::Error::Files(error @ (OthersState { .. } | Io { .. })) => {
            Some(error)
        }
        _ => None,
    }
}

/// Says what can be done where the guard refused something.
fn advise(error: &files::Error, caller: Caller) {
    let hints = Hint::all_of(&Remedy::of_guard(error), caller);
    sentence(&hints::words(&hints, caller));
}

/// Warns that what was done is not written down.
pub(crate) fn unlogged(why: &str) {
    message(&format!("warning: {}", unlogged_text(why)));
}

/// Names the place of the history if root is about to make one in another user's directory, or
/// warns that this user will be kept out.
pub(crate) fn kept_out(workspace: &Workspace) {
    let home = workspace.home();
    let Some(owner) = home.would_keep_out().filter(|_| !workspace.has_state()) else { return };
    let state = workspace.state_path();
    let is_elsewhere = Path::new(&home.state_path()).is_absolute();
    message(&if is_elsewhere {
        format!(
            "note: this directory belongs to {owner}: what root changes in it is recorded in \
             {state}"
        )
    } else {
        format!(
            "warning: this directory belongs to {owner}, who cannot change anything here once root \
             has made {state}; run this as {owner}, or then `chown -R {} {state}`",
            owner.id()
        )
    });
}

/// Warns that there is no place for a key.
pub(crate) fn unsigned() {
    message(
        "warning: there is no place for a key (`apply-patch doctor` says where one could be): \
         changes are not signed, and elsewhere they can be undone only with `--trust`",
    );
}

/// Warns of what an event says against what was done: that it is not written down, or may not last.
pub(crate) fn warning(event: &Event<'_>) {
    if let Event::Unsigned = event {
        // A patch of several transactions has one reason.
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(unsigned);
    }
    shortfall(event).iter().for_each(|text| message(&format!("warning: {text}")));
}

/// Prints what was done to a text to read it as a patch.
pub(crate) fn patch_notes(patch: &Patch) {
    patch.notes.iter().for_each(|note| message(&format!("note: {note}")));
    patch.warnings.iter().for_each(|warning| message(&format!("warning: patch {warning}")));
}

/// Prints what was overlooked, and what a reader should know.
pub(crate) fn notes(plan: &Plan) {
    for note in plan.notes() {
        message(&match note {
            PlanNote::Input(note) => format!("note: {note}"),
            PlanNote::Text(warning) => format!("warning: patch {warning}"),
            PlanNote::Encoded { path, encoding } => {
                format!("note: {}: it is stored as {encoding}", quoted(path))
            }
            PlanNote::Crlf { path, by } => {
                format!("note: {}: its lines end in CRLF, as {by} has it", quoted(path))
            }
            PlanNote::Carried { path, hunk, from, to, already_there } => {
                format!(
                    "note: {}: hunk {} {}",
                    quoted(path),
                    hunk + 1,
                    carried_text(from, to, *already_there)
                )
            }
            PlanNote::Whitespace { path, errors, fixed } => {
                let kind = if *fixed { "note" } else { "warning" };
                format!("{kind}: {}: {}", quoted(path), whitespace_text(errors, *fixed))
            }
            PlanNote::Syntax { path, fault, is_new } => {
                format!("warning: {path}: {}", syntax_text(fault, *is_new))
            }
            PlanNote::NewDirectories { directories } => {
                format!("note: {}", new_directories_text(directories))
            }
            PlanNote::Formatted { path, by } => {
                format!("note: {}: formatted by {by}", quoted(path))
            }
            PlanNote::ConflictMarkers { path, line } => {
                format!("warning: {path}: {}", conflict_markers_text(*line))
            }
            PlanNote::Unchanged { path } => {
                format!("warning: {}: the patch changes nothing in it", quoted(path))
            }
            PlanNote::LeftOut { path } => format!("note: {}: left out", quoted(path)),
            PlanNote::SectionApplied { path, done, .. } => {
                format!("note: {}: {}", quoted(path), done_text(*done))
            }
            PlanNote::AsBefore { path } => format!("note: {}: {AS_BEFORE}", quoted(path)),
            PlanNote::PassedOver { id, why } => format!("note: {}", passed_over_text(*id, why)),
            PlanNote::OfTurn { turn, transactions } => {
                format!("note: {}", of_turn_text(turn, *transactions))
            }
            PlanNote::Hunk { path, hunk, note } => {
                format!("note: {}: hunk {} {}", quoted(path), hunk + 1, note_text(note))
            }
        });
    }
}

/// Prints each change in a line; the files are beneath `root`.
pub(crate) fn names(root: &Path, plan: &Plan) {
    let changes = plan.changes().iter();
    if link::are_shown() {
        print::lines(changes.map(|change| lettered(&print::linked(change, root))))
    } else {
        print::lines(changes.map(|change| lettered(&sanitize(&name(change)))))
    }
}

/// The same with paths as they are seen from elsewhere.
pub(crate) fn names_seen(plan: &Plan, seen: &dyn Fn(&str) -> String) {
    let changes = plan.changes().iter();
    print::lines(changes.map(|change| lettered(&sanitize(&print::name_seen(change, seen)))));
}

/// Prints how to undo a commit.
pub(crate) fn hint(reports: &[Report]) {
    if let [Report { transaction: Some(id), already_done: true, .. }] = reports {
        return message(&format!(
            "transaction {} has done this already, and its files are as it left them; nothing was \
             changed",
            id.short()
        ));
    }
    let ids = reports.iter().filter_map(|report| Some(report.transaction?.short()));
    match &ids.collect::<Vec<_>>()[..] {
        [] => {}
        [id] => done(&format!("; undo it with `apply-patch undo {id}`"), id),
        [first @ .., last] => {
            let count = first.len() + 1;
            done(
                &format!(
                    " in {count} transactions; undo the last, {last}, with `apply-patch undo`"
                ),
                last,
            );
        }
    }
}

/// Prints what became of interrupted transactions.
pub(crate) fn recovered(recovered: &[Recovered]) {
    for one in recovered {
        message(&format!(
            "recovered the interrupted transaction {}: {}",
            one.id,
            outcome_text(one)
        ));
    }
}
