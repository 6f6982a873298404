//! `apply-patch trash list|show|restore|purge`.

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::engine::commit::{self, TransactionId, Workspace};
use apply_patch_api::files::{Access, Sha256};
use apply_patch_api::tools::Session;
use apply_patch_api::tools::settings::keep;
use apply_patch_api::trash::{Purged, Retention};
use clap::{Args, Subcommand};
use serde_json::json;

use super::{execute, workspace};
use crate::approve::{self, preset};
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::{json, render};

#[derive(Debug, Subcommand)]
pub(crate) enum TrashCommand {
    /// List displaced files, the newest first
    List {
        /// Include files that were replaced, not only those deleted or moved
        #[arg(long)]
        all: bool,
    },
    /// Print a displaced file
    Show {
        /// Entry as `trash list` prints it: ID/NUMBER
        #[arg(value_name = "ENTRY")]
        entry: String,
    },
    /// Bring a displaced file back; an existing file is never replaced
    Restore {
        /// Entry as `trash list` prints it: ID/NUMBER
        #[arg(value_name = "ENTRY")]
        entry: String,
        /// Path to restore it to; where it was, unless given
        #[arg(value_name = "PATH")]
        target: Option<String>,
        #[command(flatten)]
        writing: args::Writing,
    },
    /// Remove displaced files for good; their transactions cannot be undone any more
    Purge(PurgeArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "The lines of these transactions in the audit logs go with them.\n\n\
    Examples:\n  \
    apply-patch trash purge -n                            what would be removed\n  \
    apply-patch trash purge --keep 7d,100MiB              remove what is older, or more\n  \
    apply-patch trash purge --keep '20 transactions'      remove all but the last 20\n  \
    apply-patch trash purge --keep '0 transactions' -f    remove all of it, unasked")]
pub(crate) struct PurgeArgs {
    /// Keep what is younger than an age and, of that, the newest up to a size or a number: `30d`,
    /// `1GiB`, `20 transactions`, or several, as `30d,1GiB`. Unless given: the setting `trash-keep` and always the last transaction,
    /// else 30 days and 1 GiB and always the last 20
    #[arg(long, value_name = "KEEP", value_parser = keep)]
    pub(crate) keep: Option<Retention>,
    /// Print what would be removed; nothing is removed
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Do not ask: without it, what would be removed is shown at a terminal first, and nothing is
    /// removed where there is none
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

/// The largest displaced file to be printed.
const MAX_SHOWN: u64 = 256 << 20;

pub(crate) fn trash(global: &Global, command: &TrashCommand) -> Result<Exit, Failure> {
    match command {
        TrashCommand::List { all } => list(global, *all),
        TrashCommand::Show { entry } => show(global, entry),
        TrashCommand::Restore { entry, target, .. } => {
            let mut session = workspace::recovered(global)?;
            let (id, slot) = parse_entry(session.workspace(), entry)?;
            let root = session.workspace().root();
            let target =
                target.as_deref().map(|path| root.check(path, Access::Create)).transpose()?;
            let files = [(slot, target)];
            if let Err(commit::Error::Elsewhere { .. }) =
                session.workspace().plan_restore(id, &files)
            {
                session = workspace::project(&session);
            }
            execute::execute(
                global,
                &session,
                "restore",
                false,
                None,
                ApprovalPolicy::Never,
                |_| session.workspace().plan_restore(id, &files),
            )
        }
        TrashCommand::Purge(args) => purge(global, args),
    }
}

fn list(global: &Global, all: bool) -> Result<Exit, Failure> {
    let session = workspace::recovered(global)?;
    let workspace = session.workspace();
    let entries: Vec<_> =
        workspace.trash()?.into_iter().filter(|entry| all || entry.deleted).collect();
    if global.json {
        let values: Vec<_> = entries
            .iter()
            .map(|entry| {
                json!({
                    "trashId": format!("{}/{}", entry.id, entry.slot),
                    "path": entry.path,
                    "trashedTo": entry.stored_path(),
                    "timestamp": apply_patch_api::trash::format_time(entry.time),
                    "deleted": entry.deleted,
                    "size": entry.size,
                    "sha256": entry.sha256.to_string(),
                })
            })
            .collect();
        json::done(render::count(values.len(), "file"), json!({ "entries": values }));
        return Ok(Exit::Done);
    }
    for entry in entries {
        let age = render::age(entry.time);
        let size = render::size(entry.size);
        render::line(&format!(
            "{}/{}  {age:>10}  {size:>9}  {}",
            entry.id.short(),
            entry.slot,
            entry.path
        ));
    }
    Ok(Exit::Done)
}

fn show(global: &Global, entry: &str) -> Result<Exit, Failure> {
    let session = workspace::recovered(global)?;
    let workspace = session.workspace();
    let (id, slot) = parse_entry(workspace, entry)?;
    let store =
        workspace.store()?.ok_or_else(|| Failure::Usage("this workspace has no trash".into()))?;
    let journal = store.journal(id).map_err(commit::Error::from)?;
    // Only files displaced by the transaction: another file of the same name may belong to someone
    // else.
    let record = journal.records.iter().find(|record| record.slot == slot);
    let before = record.and_then(|record| record.before.as_ref()).ok_or_else(|| {
        commit::Error::from(apply_patch_api::trash::Error::NoSuchSlot { id, slot })
    })?;
    let spot = store.slot(id, slot).map_err(commit::Error::from)?;
    let bytes = if before.link { spot.read_link()? } else { spot.read(MAX_SHOWN)?.0 };
    if Sha256::of(&bytes) != before.sha256 {
        return Err(apply_patch_api::files::Error::Changed { path: spot.path() }.into());
    }
    if global.json {
        let text = String::from_utf8_lossy(&bytes);
        json::done(format!("{} bytes", bytes.len()), json!({ "content": text }));
        return Ok(Exit::Done);
    }
    render::raw(&bytes);
    Ok(Exit::Done)
}

/// Removes old undo history: at a terminal, what would go is shown first.
fn purge(global: &Global, args: &PurgeArgs) -> Result<Exit, Failure> {
    // Who names what to keep may want all to go: a secret may be in the last transaction.
    let retention = match args.keep {
        Some(keep) => Retention { keep_last: 0, ..keep },
        None => global.settings.trash_keep.retention(),
    };
    let session = workspace::recovered(global)?;
    if !args.force && !args.dry_run {
        let (found, _) = purged(global, &session, &retention, true)?;
        let asks = !global.json && preset() != ApprovalPolicy::Never;
        if !found.transactions.is_empty() && !asks {
            return Err(Failure::Refused(format!(
                "{} would be removed for good, and nobody can be asked: use `--force`; `-n` shows \
                 what it removes",
                counted(&found)
            )));
        }
        if !found.transactions.is_empty() && !is_confirmed(&session, &found)? {
            render::message("nothing was removed");
            return Ok(Exit::Refused);
        }
    }
    let (found, lines) = purged(global, &session, &retention, args.dry_run)?;
    let count = found.transactions.len();
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    let output = match count {
        0 => "there is nothing to remove".to_owned(),
        _ => format!("{} {verb}", counted(&found)),
    };
    if global.json {
        json::done(
            output,
            json!({
                "transactions": count,
                "bytes": found.bytes,
                "logLines": lines,
                "dryRun": args.dry_run,
            }),
        );
    } else {
        render::line(&output);
    }
    Ok(Exit::Done)
}

/// Removes everything beyond the limits, or only lists the transactions; and removes the lines of
/// the audit logs.
fn purged(
    global: &Global,
    session: &Session,
    retention: &Retention,
    dry_run: bool,
) -> Result<(Purged, u64), Failure> {
    let workspace = session.workspace();
    if !workspace.has_state() {
        return Ok((Purged::default(), 0));
    }
    let locked = workspace.lock(global.settings.lock_timeout)?;
    // A purged transaction cannot tell later how it ended.
    workspace::log_recovered(session, locked.recovered());
    Ok(session.purge(&locked, retention, dry_run)?)
}

/// Lists what would be removed, and asks.
fn is_confirmed(session: &Session, found: &Purged) -> Result<bool, Failure> {
    let log = session.workspace().log()?;
    for entry in log.iter().filter(|entry| found.transactions.contains(&entry.journal.header.id)) {
        render::line(&render::one_line(entry, false, render::width()));
    }
    approve::confirm(&format!("Remove {} for good?", counted(found)))
}

fn counted(found: &Purged) -> String {
    let count = render::count(found.transactions.len(), "transaction");
    format!("{count} with {}", render::size(found.bytes))
}

/// Reads `ID/NUMBER`, or the path of the kept file.
fn parse_entry(workspace: &Workspace, entry: &str) -> Result<(TransactionId, u32), Failure> {
    if let Some(found) = apply_patch_api::trash::parse_stored_path(entry) {
        return Ok(found);
    }
    let parts = entry.rsplit_once('/').and_then(|(id, slot)| Some((id, slot.parse().ok()?)));
    let (id, slot) = parts.ok_or_else(|| {
        Failure::Usage(format!(
            "{entry:?} is not an entry of the trash; `apply-patch trash list` prints them"
        ))
    })?;
    Ok((workspace::id(workspace, id)?, slot))
}
