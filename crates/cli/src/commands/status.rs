//! `apply-patch status`: what was interrupted, what was done last, and how much room the history
//! takes.

use std::path::Path;

use apply_patch_api::engine::commit::{LogEntry, StatePlace, TransactionId};
use apply_patch_api::engine::{Plan, PlanNote};
use apply_patch_api::tools::changes::passed_over_text;
use apply_patch_api::tools::{OpenTurn, StoreSize, history, open_turns, store_size};
use clap::Args;
use serde_json::{Value, json};

use super::workspace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::{json, outside, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch status\n  \
    apply-patch status --json | jq .data.last.id")]
pub(crate) struct StatusArgs {}

/// What a hint about its size begins at, in bytes: 100 MiB.
const LARGE: u64 = 100 << 20;

pub(crate) fn status(global: &Global) -> Result<Exit, Failure> {
    let session = workspace::session(global)?;
    let workspace = session.workspace();
    let store = workspace.store()?;
    // Before anything is recovered: to look changes nothing.
    let unfinished = store.as_ref().map(|store| store.has_unfinished()).transpose();
    let unfinished =
        unfinished.map_err(apply_patch_api::engine::commit::Error::from)?.unwrap_or(false);
    let (transactions, unverified) = workspace.count()?;
    let newest = workspace.newest(1)?;
    let size = store_size(workspace)?;
    let state = workspace.state_path();
    let last = newest.first();
    let undoable = super::undo::next(&session);
    let named = undoable.as_ref().ok().and_then(Plan::undo_of);
    let turns = open_turns(workspace)?;
    let former: Vec<_> =
        workspace.former_states().iter().map(|path| path.display().to_string()).collect();
    let unused = workspace.states().into_iter().nth(1).map(|state| state.path().to_owned());
    let next = named.map(|id| workspace.show(id)).transpose()?;
    let next = next.as_ref();
    if global.json {
        let one = |entry: Option<&LogEntry>| {
            entry.map(|entry| history::transaction(workspace, entry, false)).transpose()
        };
        let data = json!({
            "root": apply_patch_api::files::real_path(workspace.root().path())?.display().to_string(),
            "state": state,
            "unfinished": unfinished,
            "transactions": transactions,
            "notVerified": unverified,
            "last": one(last)?,
            "undoable": one(next)?,
            "openTurns": turns,
            "passedOver": undoable.iter().flat_map(passed_over).map(|(id, why)| {
                json!({ "id": id.to_string(), "why": why })
            }).collect::<Vec<_>>(),
            "size": size.map_or(Value::Null, |size| json!(size)),
            "formerStates": former,
            "unusedState": unused,
        });
        json::done(format!("{transactions} transactions"), data);
        return Ok(Exit::Done);
    }
    let row = |what: &str, text: &str| render::indented(&format!("{what:<12} {text}"), 13);
    row("root", &apply_patch_api::files::real_path(workspace.root().path())?.display().to_string());
    for state in &former {
        row(
            "former",
            &format!(
                "{state}: the history of another directory, which was here before; it is not used"
            ),
        );
    }
    let Some(size) = size else {
        row("history", "none: nothing was applied here yet");
        return Ok(Exit::Done);
    };
    let in_tree = !Path::new(&workspace.home().state_path()).is_absolute();
    let stays =
        global.settings.state != StatePlace::User && workspace.home().would_keep_out().is_none();
    let reach = if !in_tree && stays {
        " (it was there already; once it is gone, the state is kept in the project)"
    } else if !in_tree || !workspace.home().has_git() {
        ""
    } else if global.settings.state == StatePlace::User {
        " (it was there already; once it is gone, the state is kept among the user's)"
    } else {
        " (`git clean -fdx` removes it; `state = \"user\"` in config.toml keeps a new one \
         elsewhere)"
    };
    row("state", &format!("{state}{reach}"));
    if let Some(unused) = &unused {
        row(
            "not used",
            &format!(
                "{unused}: an older history of this project, from when its state was kept among \
                 the user's"
            ),
        );
    }
    let pending = if unfinished {
        "one transaction is unfinished: another process is at work, or was interrupted; \
         `apply-patch recover` finishes or reverts it"
    } else {
        "nothing"
    };
    row("unfinished", pending);
    let line = |entry: &LogEntry| {
        format!("{}  {}", entry.journal.header.id.short(), render::what(entry, 1))
    };
    match last {
        Some(last) => {
            row("last", &format!("{}, {}", line(last), render::age(last.journal.header.id.time())))
        }
        None => row("last", "none"),
    }
    match &undoable {
        Ok(plan) => {
            let what =
                next.map_or_else(|| named.map(TransactionId::short).unwrap_or_default(), line);
            let turn = plan.notes().iter().find_map(|note| match note {
                PlanNote::OfTurn { turn, transactions } => Some((turn, *transactions)),
                _ => None,
            });
            let what = match turn {
                Some((turn, count)) => {
                    format!("all of turn {turn}: {}", render::count(count, "transaction"))
                }
                None => what,
            };
            row("undo", &format!("`apply-patch undo` would undo {what}"));
            passed_over(plan).for_each(|(id, why)| row("", &passed_over_text(id, why)));
        }
        Err(error) => row("undo", &error.to_string()),
    }
    for OpenTurn { id, session, since, transactions } in &turns {
        let count = render::count(*transactions, "transaction");
        row(
            "open turn",
            &format!(
                "{id} of session {session}, begun {}: {count}; `apply-patch undo --turn {id}` \
                 undoes it, and otherwise it stays as it is",
                render::age(*since)
            ),
        );
    }
    let StoreSize { trash, audit, other } = size;
    row(
        "size",
        &format!(
            "{}: {} in {} of undo history, {} of logs, {} of other files",
            render::size(size.total()),
            render::size(trash),
            render::count(transactions, "transaction"),
            render::size(audit),
            render::size(other),
        ),
    );
    if unverified > 0 {
        row(
            "not verified",
            &format!("{}; `apply-patch log` lists them", render::count(unverified, "transaction")),
        );
    }
    hint(global, &size, transactions);
    Ok(Exit::Done)
}

/// The newer transactions that `undo` passes over, and why.
fn passed_over(plan: &Plan) -> impl Iterator<Item = (TransactionId, &str)> {
    plan.notes().iter().filter_map(|note| match note {
        PlanNote::PassedOver { id, why } => Some((*id, &**why)),
        _ => None,
    })
}

/// Says at a terminal that the undo history is large, and what makes it smaller.
pub(crate) fn hint_size(global: &Global) {
    if !is_seen(global) {
        return;
    }
    let Ok(workspace) = workspace::open(global) else { return };
    let Ok(Some(size)) = store_size(&workspace) else { return };
    let newest = workspace.store().ok().flatten();
    let newest = newest.as_ref().and_then(|store| store.newest_first().ok());
    hint(global, &size, newest.into_iter().flatten().take(2).count());
}

/// Whether a person sees a hint.
fn is_seen(global: &Global) -> bool {
    !global.quiet && !global.json && *outside::STDERR_IS_TERMINAL
}

fn hint(global: &Global, size: &StoreSize, transactions: usize) {
    // The last transaction is what `undo` needs.
    if is_seen(global) && size.trash > LARGE && transactions > 1 {
        render::message(&format!(
            "the undo history takes {}; `apply-patch trash purge --keep 100MiB` removes the oldest \
             of it, and `trash-keep = \"100MiB\"` in config.toml does so with each change",
            render::size(size.trash)
        ));
    }
}
