//! How undo, redo, restore and review carry out their plans.

use apply_patch_api::engine::commit::approval::{ApprovalPolicy, Approvals};
use apply_patch_api::engine::commit::{self, TransactionId, Workspace};
use apply_patch_api::engine::{Cancellation, Files, Plan, Report};
use apply_patch_api::tools::Session;
use apply_patch_api::tools::audit::Operation;
use apply_patch_api::tools::changes::{DiffDetail, restored};

use super::workspace;
use crate::approve::Prompt;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::host::TerminalHost;
use crate::{json, render};

/// Locks, plans, commits and reports; with `dry_run` only plans and shows the diff. To name a
/// transaction of one's own is approval enough.
pub(super) fn execute(
    global: &Global,
    session: &Session,
    tool: &str,
    dry_run: bool,
    detail: Option<DiffDetail>,
    approval: ApprovalPolicy,
    plan: impl Fn(&Cancellation) -> Result<Plan, commit::Error>,
) -> Result<Exit, Failure> {
    if dry_run {
        workspace::tidy(global, session);
        let plan = plan(&Cancellation::NEVER)?;
        session.workspace().check_commit(&plan)?;
        if global.json {
            json::print(&json::planned(&plan, true, detail)?);
        } else {
            note_project(global, session);
            workspace::preview(global, &plan, &args::Statistics::default())?;
        }
        return Ok(Exit::Done);
    }
    let prompt = Prompt::new(false);
    let mut host = TerminalHost::new(&prompt, None, global.quiet || global.json);
    let mut approvals = Approvals::new(approval);
    let plan = &mut |files: &Files| plan(files.cancellation());
    let report = match session.execute(tool, Operation::Write, &mut approvals.ask(&mut host), plan)
    {
        Ok(report) => report,
        Err(commit::Error::Declined) => {
            render::message("declined; nothing was changed");
            return Ok(Exit::Refused);
        }
        Err(error) => return Err(error.into()),
    };
    print_report(global, session.workspace(), &report, detail.unwrap_or_default());
    Ok(Exit::Done)
}

/// Says what the paths of a diff are relative to, where that is not the directory that was named.
pub(super) fn note_project(global: &Global, session: &Session) {
    let workspace = session.workspace();
    if !workspace.seen("").is_empty() && !global.quiet {
        render::message(&format!(
            "note: the paths in the diff are relative to {}",
            workspace.home().path().display()
        ));
    }
}

fn print_report(global: &Global, workspace: &Workspace, report: &Report, detail: DiffDetail) {
    let Report { transaction, plan, .. } = report;
    let id = transaction.map(TransactionId::short);
    if global.json {
        let mut data = restored(report, detail);
        for file in data["changedFiles"].as_array_mut().into_iter().flatten() {
            for key in ["path", "toPath"] {
                if let Some(path) = file.get(key).and_then(|path| path.as_str()) {
                    file[key] = workspace.seen(path).into();
                }
            }
        }
        json::done(format!("{} restored", render::count(plan.changes().len(), "file")), data);
        return;
    }
    if global.quiet {
        return;
    }
    render::notes(plan);
    render::names_seen(plan, &|path| workspace.seen(path));
    match id {
        Some(id) => {
            render::done(&format!("; undo it with `apply-patch undo {id}`"), &id.to_string());
        }
        None => render::message("there was nothing to change"),
    }
}
