//! `apply-patch undo` and `apply-patch redo`.

use clap::Args;
use file_tools::Session;
use file_tools::audit::Operation;
use file_tools::changes::{DiffDetail, restored};
use fs_guard::Access;
use patch_engine::approval::{ApprovalPolicy, Approvals};
use patch_engine::transaction::{self, CommitError};
use patch_engine::{ApplyError, Plan, Report};

use super::workspace;
use crate::approve::{Prompt, preset};
use crate::args::{self, Approve};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::host::TerminalHost;
use crate::{json, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch undo                         take back the last transaction\n  \
    apply-patch undo --carry -n              show what that is in files that changed since\n  \
    apply-patch undo 20261121-014233-123456-9f3ac1d2 -- src/a.rs")]
pub(crate) struct UndoArgs {
    /// Transaction; the last one that is not undone, unless given
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Restore only these paths of it
    #[arg(value_name = "PATH", last = true, requires = "id")]
    pub(crate) paths: Vec<String>,
    /// Carry what is taken back to files that have changed since, where that is certain
    #[arg(long)]
    pub(crate) carry: bool,
    /// Take back a change that was signed with a key that is not here, or not signed: made in a sandbox, or with another
    /// XDG_STATE_HOME. At a terminal you are asked. Paths are checked as those of a patch
    #[arg(long, requires = "id")]
    pub(crate) trust: bool,
    /// Print the diff; nothing is written
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) detail: args::Detail,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch redo       take back the last undo\n  \
    apply-patch redo -n    show what would come back")]
pub(crate) struct RedoArgs {
    /// Transaction that undid, or was undone; the last undo unless given
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Print the diff; nothing is written
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) detail: args::Detail,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

pub(crate) fn undo(global: &Global, args: &UndoArgs) -> Result<Exit, Failure> {
    args.detail.check(global.json).map_err(Failure::Usage)?;
    let session = workspace::session(global)?;
    let workspace = session.workspace();
    let paths: Result<Vec<_>, _> = args.paths.iter().map(|path| workspace.root().check(path, Access::Read)).collect();
    let paths = paths?;
    let id = args.id.as_deref().map(workspace::id).transpose()?;
    let plan = |trust| session.plan_undo(id, &paths, args.carry, trust);
    let mut trust = args.trust;
    let mut approval = ApprovalPolicy::Never;
    if let Some(id) = id.filter(|_| !trust && !args.dry_run && !global.json && preset() != Approve::Never)
        && let Err(error) = plan(false)
        && error.to_be_trusted() == [id]
    {
        // A person decides, and sees the very plan.
        render::message(&error.to_string());
        (trust, approval) = (true, ApprovalPolicy::Always);
    }
    execute(global, &session, "undo", args.dry_run, args.detail.diff, approval, || plan(trust))
}

pub(crate) fn redo(global: &Global, args: &RedoArgs) -> Result<Exit, Failure> {
    args.detail.check(global.json).map_err(Failure::Usage)?;
    let session = workspace::session(global)?;
    let workspace = session.workspace();
    let id = args.id.as_deref().map(workspace::id).transpose()?;
    let never = ApprovalPolicy::Never;
    execute(global, &session, "redo", args.dry_run, args.detail.diff, never, || workspace.plan_redo(id))
}

/// Locks, plans, commits and reports; with `dry_run` only plans and shows the diff. To name a transaction of one's own is approval
/// enough.
pub(super) fn execute(
    global: &Global,
    session: &Session,
    tool: &str,
    dry_run: bool,
    detail: Option<DiffDetail>,
    approval: ApprovalPolicy,
    plan: impl Fn() -> Result<Plan, transaction::Error>,
) -> Result<Exit, Failure> {
    if dry_run {
        workspace::tidy(global, session);
        let plan = plan()?;
        if global.json {
            json::print(&json::planned(&plan, detail)?);
        } else {
            if !global.quiet {
                render::notes(&plan);
            }
            let diff = plan.images().diffs()?;
            render::Pager::open(!global.no_pager, global.settings.pager.as_deref()).diff(&diff);
        }
        return Ok(Exit::Done);
    }
    let prompt = Prompt::new(false);
    let mut host = TerminalHost::new(&prompt, None, global.quiet || global.json);
    let mut approvals = Approvals::new(approval);
    let plan = &mut |_: &_| Ok::<_, ApplyError>(plan()?);
    let report = match session.execute(tool, Operation::Write, &mut approvals.ask(&mut host), plan) {
        Ok(report) => report,
        Err(ApplyError::Commit(CommitError::Cancelled)) => {
            render::message("interrupted; everything was rolled back");
            return Ok(host.interrupt.exit().unwrap_or(Exit::Interrupted));
        }
        Err(ApplyError::Workspace(error)) => return Err(error.into()),
        Err(ApplyError::Commit(error)) => return Err(error.into()),
        Err(ApplyError::Declined) => {
            render::message("declined; nothing was changed");
            return Ok(Exit::Refused);
        }
        Err(error) => unreachable!("BUG: nothing is rejected here: {error}"),
    };
    print_report(global, &report, detail.unwrap_or_default());
    Ok(Exit::Done)
}

fn print_report(global: &Global, report: &Report, detail: DiffDetail) {
    let Report { transaction, plan, .. } = report;
    let id = transaction.map(|id| id.to_string());
    if global.json {
        json::done(format!("{} files restored", plan.changes().len()), restored(report, detail));
        return;
    }
    if !global.quiet {
        render::notes(plan);
    }
    render::names(plan);
    match (id, global.quiet) {
        (_, true) => {}
        (Some(id), false) => render::message(&format!("done; `apply-patch undo {id}` takes this back")),
        (None, false) => render::message("there was nothing to change"),
    }
}
