//! `apply-patch undo` and `apply-patch redo`.

use fs_guard::Access;
use patch_engine::transaction::{Committed, UndoPlan, Workspace};
use serde_json::json;

use crate::args::{self, Global, Writing};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::{audit, json, render};

pub(crate) fn undo(global: &Global, args: &args::Undo) -> Exit {
    let run = || {
        let workspace = super::open(global)?;
        let paths: Result<Vec<_>, _> =
            args.paths.iter().map(|path| workspace.root().check(path, Access::Read)).collect();
        let paths = paths?;
        let id = args.id.as_deref().map(super::id).transpose()?;
        carry_out(global, &workspace, "undo", &args.writing, || match id {
            Some(id) => workspace.plan_undo(id, &paths),
            None => workspace.plan_undo_last(),
        })
    };
    run().unwrap_or_else(|failure| failure.report(global, None))
}

pub(crate) fn redo(global: &Global, args: &args::Redo) -> Exit {
    let run = || {
        let workspace = super::open(global)?;
        let id = args.id.as_deref().map(super::id).transpose()?;
        carry_out(global, &workspace, "redo", &args.writing, || workspace.plan_redo(id))
    };
    run().unwrap_or_else(|failure| failure.report(global, None))
}

/// Locks, plans, commits and tells.
pub(super) fn carry_out(
    global: &Global,
    workspace: &Workspace,
    tool: &str,
    writing: &Writing,
    plan: impl Fn() -> Result<UndoPlan, patch_engine::transaction::Error>,
) -> Result<Exit, Failure> {
    if !workspace.has_state() {
        // Without a state directory nothing was ever committed here; none is made to find that out.
        plan()?;
    }
    let mut interrupt = Interrupt::watch();
    let locked = workspace.lock(writing.lock_timeout)?;
    let plan = plan()?;
    interrupt.writing();
    let options = super::commit_options(tool, writing);
    let committed = match audit::commit_undo(&locked, &plan, &options, &mut interrupt) {
        Ok(committed) => committed,
        Err(patch_engine::transaction::CommitError::Refused(_)) if interrupt.exit().is_some() => {
            render::message("interrupted; everything was rolled back");
            return Ok(interrupt.exit().unwrap_or(Exit::Interrupted));
        }
        Err(error) => return Err(error.into()),
    };
    tell(global, &plan, &committed);
    if !global.quiet && !global.json {
        render::recovered(locked.recovered());
    }
    Ok(Exit::Done)
}

fn tell(global: &Global, plan: &UndoPlan, committed: &Committed) {
    let changed: Vec<_> = plan
        .transitions
        .iter()
        .map(|transition| {
            let letter = match (&transition.before, &transition.after) {
                (None, _) => 'A',
                (_, None) => 'D',
                _ => 'M',
            };
            (letter, transition)
        })
        .collect();
    if global.json {
        let files: Vec<_> = changed
            .iter()
            .map(|(letter, transition)| {
                let operation = match letter {
                    'A' => "create",
                    'D' => "delete",
                    _ => "update",
                };
                json!({
                    "path": transition.path.as_str(),
                    "operation": operation,
                    "beforeSha256": transition.before.as_ref().map(|before| before.sha256.to_string()),
                    "afterSha256": transition.after.as_ref().map(|after| after.sha256.to_string()),
                })
            })
            .collect();
        json::print(&json!({
            "ok": true,
            "output": format!("{} files restored", files.len()),
            "data": {
                "transactionId": committed.id.to_string(),
                "undoOf": plan.undo_of.map(|id| id.to_string()),
                "changedFiles": files,
            },
        }));
        return;
    }
    for (letter, transition) in changed {
        render::line(&format!("{letter} {}", transition.path));
    }
    if !global.quiet {
        render::message(&format!("done; `apply-patch undo {}` takes this back", committed.id));
    }
}
