//! `apply-patch undo` and `apply-patch redo`.

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::engine::commit::{self, TransactionId, Workspace};
use apply_patch_api::engine::{Cancellation, Plan};
use apply_patch_api::files::{Access, RelPath};
use apply_patch_api::tools::{Named, Session, Span, hints, history};
use apply_patch_api::trash::Prefix;
use clap::Args;

use super::execute::execute;
use super::history::SpanArgs;
use super::{review, workspace};
use crate::approve::preset;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch undo                         undo the last transaction\n  \
    apply-patch undo --carry -n              show what that is in files that changed since\n  \
    apply-patch undo @2                      undo the one before it\n  \
    apply-patch undo 9f3ac1d2 -- src/a.rs    undo what a transaction did to a file\n  \
    apply-patch undo -- src/a.rs             undo the last change of a file\n  \
    apply-patch undo -i                      ask for each hunk of the last change\n  \
    apply-patch undo --turn t-1f00d2c9       undo all that was changed in a turn\n  \
    apply-patch undo --session refactor      undo all that a session changed\n  \
    apply-patch undo --since 9f3ac1d2        undo a transaction and all that followed it\n  \
    apply-patch undo 9f3ac1d2..51e07b44      undo these two and all between, as one")]
pub(crate) struct UndoArgs {
    /// Transaction: its id, or four characters or more of its beginning or end; `last`, or `@N` for
    /// the N-th newest; a turn; or the first and the last of several, `ID..ID`. Unless given: the
    /// newest one that is not undone, with all of its turn, or nothing, if its files changed since;
    /// with paths, the last one that changed them
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Restore only these paths
    #[arg(
        value_name = "PATH", last = true,
        conflicts_with_all = ["turn", "session", "since"],
    )]
    pub(crate) paths: Vec<String>,
    #[command(flatten)]
    pub(crate) span: SpanArgs,
    /// Ask for each hunk whether to undo it, in the files as they are now
    #[arg(short, long, conflicts_with_all = ["carry", "trust", "json"])]
    pub(crate) interactive: bool,
    /// Carry what is undone to files that have changed since, where that is certain
    #[arg(long)]
    pub(crate) carry: bool,
    /// Undo a change that was signed with a key that is not here, or not signed: made in a
    /// sandbox, or with another XDG_STATE_HOME. At a terminal you are asked. Paths are checked as
    /// those of a patch
    #[arg(long, requires = "id", conflicts_with_all = ["turn", "session", "since"])]
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
    apply-patch redo       reverse the last undo\n  \
    apply-patch redo -n    show what would come back")]
pub(crate) struct RedoArgs {
    /// Transaction that undid, or was undone, or turn that was. Unless given: the last undo, if
    /// nothing was applied since
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Carry what comes back to files that have changed since, where that is certain
    #[arg(long)]
    pub(crate) carry: bool,
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
    let mut session = workspace::session(global)?;
    if args.interactive {
        let entries = review::entries(&session, args.id.as_deref(), &args.span)?;
        let UndoArgs { paths, dry_run, detail, .. } = args;
        return review::undo_some(global, session, &entries, paths, (*dry_run, detail.diff));
    }
    let span = span(session.workspace(), args).map_err(|failure| {
        workspace::instead_of_file(global, args.id.as_deref(), failure, |root, file| {
            format!(
                "`apply-patch{root} undo -- {file}` undoes the last change of it, \
                 `apply-patch{root} log {file}` lists all"
            )
        })
    })?;
    if let Some(span) = span {
        return undo_span(global, args, session, &span);
    }
    let mut id = args.id.as_deref().map(|id| workspace::id(session.workspace(), id)).transpose()?;
    let mut given = args.paths.clone();
    let mut outside = given.iter().any(|path| Prefix::leads_out(path));
    if !outside {
        id = last_of(session.workspace(), id, &given)?;
        let paths = checked(session.workspace(), &given)?;
        outside = is_elsewhere(&session, || {
            session.plan_undo(id, &paths, args.carry, args.trust, &Cancellation::NEVER)
        });
    }
    if outside {
        // Files elsewhere in the project are undone in all of it.
        given = given.iter().map(|path| session.workspace().prefix().join(path)).collect();
        session = workspace::project(&session);
        id = last_of(session.workspace(), id, &given)?;
    }
    let paths = checked(session.workspace(), &given)?;
    let mut trust = args.trust;
    let mut carry = args.carry;
    let mut approval = ApprovalPolicy::Never;
    let may_ask = !args.dry_run && !global.json && preset() != ApprovalPolicy::Never;
    if may_ask
        && !trust
        && let Err(error) = session.plan_undo(id, &paths, carry, false, &Cancellation::NEVER)
    {
        trust = id.is_some_and(|id| error.to_be_trusted() == [id]);
        carry |= id.is_none() && matches!(error, commit::Error::Drifted { carry: true, .. });
        // A person decides, and sees the very plan.
        if trust || carry != args.carry {
            render::message(&error.to_string());
            approval = ApprovalPolicy::Always;
        }
    }
    execute(global, &session, "undo", args.dry_run, args.detail.diff, approval, |cancellation| {
        let plan = session.plan_undo(id, &paths, carry, trust, cancellation);
        // After another undo, the last change of the paths may be another one.
        plan.map_err(|error| if args.id.is_none() { error.unrepeatable() } else { error })
    })
}

/// Undoes several transactions as one.
fn undo_span(
    global: &Global,
    args: &UndoArgs,
    mut session: Session,
    span: &Span,
) -> Result<Exit, Failure> {
    if is_elsewhere(&session, || session.plan_undo_span(span, args.carry, &Cancellation::NEVER)) {
        session = workspace::project(&session);
    }
    let never = ApprovalPolicy::Never;
    execute(global, &session, "undo", args.dry_run, args.detail.diff, never, |cancellation| {
        session.plan_undo_span(span, args.carry, cancellation)
    })
}

pub(crate) fn redo(global: &Global, args: &RedoArgs) -> Result<Exit, Failure> {
    args.detail.check(global.json).map_err(Failure::Usage)?;
    let mut session = workspace::session(global)?;
    let id = match args.id.as_deref().map(|id| workspace::named(session.workspace(), id)) {
        None => None,
        Some(named) => Some(match named? {
            Named::Transaction(id) => id,
            Named::Turn(_, entries) if history::is_undone(&entries) => {
                let newest = &entries[0];
                let mut undos = entries.iter().flat_map(|entry| entry.undone_by);
                if undos.any(|by| {
                    Some(by) != newest.undone_by
                        && entries.iter().all(|entry| entry.journal.header.id != by)
                }) {
                    let name = args.id.as_deref().unwrap_or_default();
                    return Err(Failure::Usage(format!(
                        "turn {name} was not undone as one: redo each undo of it by its id, the \
                         last one first (`apply-patch log`)"
                    )));
                }
                newest.journal.header.id
            }
            Named::Turn(..) => {
                let name = args.id.as_deref().unwrap_or_default();
                return Err(Failure::Usage(format!("turn {name} is not undone")));
            }
            Named::Range(_) => {
                return Err(Failure::Usage("`redo` takes one transaction or turn".into()));
            }
        }),
    };
    if is_elsewhere(&session, || session.plan_redo_with(id, args.carry, &Cancellation::NEVER)) {
        session = workspace::project(&session);
    }
    let never = ApprovalPolicy::Never;
    execute(global, &session, "redo", args.dry_run, args.detail.diff, never, |cancellation| {
        session.plan_redo_with(id, args.carry, cancellation)
    })
}

/// Whether a plan is refused because its files lie elsewhere in the project, and not beneath this
/// directory.
fn is_elsewhere(session: &Session, plan: impl FnOnce() -> Result<Plan, commit::Error>) -> bool {
    !session.workspace().prefix().is_empty()
        && matches!(plan(), Err(commit::Error::Elsewhere { .. }))
}

/// Plans what `undo` without arguments does.
pub(super) fn next(session: &Session) -> Result<Plan, commit::Error> {
    match plan_last(session) {
        Err(commit::Error::Elsewhere { .. }) if !session.workspace().prefix().is_empty() => {
            plan_last(&workspace::project(session))
        }
        planned => planned,
    }
}

fn plan_last(session: &Session) -> Result<Plan, commit::Error> {
    session.plan_undo(None, &[], false, false, &Cancellation::NEVER)
}

/// Returns the transactions to undo as one, if several are named.
fn span(workspace: &Workspace, args: &UndoArgs) -> Result<Option<Span>, Failure> {
    match args.span.find(workspace)? {
        Some(span) => Ok(Some(span)),
        None => span_of_id(workspace, args),
    }
}

fn span_of_id(workspace: &Workspace, args: &UndoArgs) -> Result<Option<Span>, Failure> {
    let Some(name) = &args.id else { return Ok(None) };
    match workspace::named(workspace, name)? {
        Named::Transaction(_) => Ok(None),
        Named::Turn(span, _) | Named::Range(span) if args.paths.is_empty() => Ok(Some(span)),
        Named::Turn(..) | Named::Range(_) => Err(Failure::Usage(format!(
            "{name} is undone as a whole: name one of its transactions to undo what it did to some \
             paths"
        ))),
    }
}

fn checked(workspace: &Workspace, paths: &[String]) -> Result<Vec<RelPath>, Failure> {
    Ok(paths
        .iter()
        .map(|path| workspace.root().check(path, Access::Read))
        .collect::<Result<_, _>>()?)
}

/// The named transaction; else, with paths, the last one with a change to them.
fn last_of(
    workspace: &Workspace,
    id: Option<TransactionId>,
    paths: &[String],
) -> Result<Option<TransactionId>, Failure> {
    if id.is_some() || paths.is_empty() {
        return Ok(id);
    }
    let found = workspace.last_change_of(&checked(workspace, paths)?)?;
    found.map(Some).ok_or_else(|| {
        let words: Vec<_> = paths.iter().map(|path| hints::shell_word(path)).collect();
        let words = words.join(" ");
        Failure::Usage(format!(
            "no transaction that is not undone changed {words}; `apply-patch log -- {words}` \
             shows what did"
        ))
    })
}
