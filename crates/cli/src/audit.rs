//! The audit log of what the command line does.

use std::time::Duration;

use file_tools::audit::{Audit, Operation, Recorder};
use file_tools::{SessionName, ToolError};
use fs_guard::Root;
use patch_engine::transaction::{CommitObserver, CommitOptions, Durability, Recovered, Workspace};
use patch_engine::{Applied, ApplyError, Patch, Plan, Settings};

use crate::render;

/// Applies a patch, and writes it to the audit log.
pub(crate) fn apply(
    workspace: &Workspace,
    patch: &Patch<'_>,
    settings: &Settings,
    approve: &mut dyn FnMut(&Plan) -> bool,
    observer: &mut dyn CommitObserver,
) -> Applied {
    let audit = Audit::new(SessionName::cli(), None).with_lock_timeout(settings.lock_timeout);
    let mut recorder = recorder(&audit, workspace, &settings.commit, Operation::Patch, observer);
    let applied = patch_engine::apply(workspace, patch, settings, approve, &mut recorder);
    if let Err(error) = recorder.applied(&applied) {
        late(&error);
    }
    applied
}

/// Carries out a plan to undo, redo or restore, and writes it to the audit log.
pub(crate) fn carry_out(
    workspace: &Workspace,
    lock_timeout: Duration,
    options: &CommitOptions,
    plan: &mut dyn FnMut(&Root) -> Result<Plan, ApplyError>,
    observer: &mut dyn CommitObserver,
) -> Applied {
    let audit = Audit::new(SessionName::cli(), None).with_lock_timeout(lock_timeout);
    let mut recorder = recorder(&audit, workspace, options, Operation::Write, observer);
    let mut applied = Applied { reports: Vec::new(), recovered: Vec::new(), failure: None };
    match patch_engine::carry_out(workspace, lock_timeout, options, plan, &mut recorder, &mut applied.recovered) {
        Ok(report) => applied.reports.push(report),
        Err(error) => applied.failure = Some(error),
    }
    if let Err(error) = recorder.applied(&applied) {
        late(&error);
    }
    applied
}

/// Writes a call that came to no plan to the audit log, if the workspace has one.
pub(crate) fn failed(workspace: &Workspace, tool: &str, error: &ToolError) {
    if !workspace.has_state() {
        return;
    }
    let audit = Audit::new(SessionName::cli(), None);
    let mut nobody = ();
    let mut recorder = Recorder::new(&audit, workspace, tool, Operation::Patch, true, &mut nobody);
    if let Err(error) = recorder.finish(&[], Some((error.kind, error.path.as_deref()))) {
        late(&error);
    }
}

/// Writes what became of interrupted transactions to the audit log.
pub(crate) fn recovered(workspace: &Workspace, recovered: &[Recovered]) {
    let audit = Audit::new(SessionName::cli(), None);
    let mut nobody = ();
    let recorder = Recorder::new(&audit, workspace, "recover", Operation::Patch, true, &mut nobody);
    if let Err(error) = recorder.recovered(recovered) {
        late(&error);
    }
}

fn recorder<'r>(
    audit: &'r Audit,
    workspace: &'r Workspace,
    options: &CommitOptions,
    operation: Operation,
    observer: &'r mut dyn CommitObserver,
) -> Recorder<'r> {
    let tool = options.tool.as_deref().unwrap_or("apply");
    Recorder::new(audit, workspace, tool, operation, options.durability == Durability::Full, observer)
}

/// What was meant to happen is in the log; what became of it could not be added.
fn late(error: &file_tools::audit::AuditError) {
    render::message(&format!("warning: the outcome is not in the audit log: {error}"));
}
