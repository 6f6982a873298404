//! `apply-patch status`: what was interrupted, what was done last, and how much room the history
//! takes.

use std::path::Path;

use apply_patch_api::engine::commit::{self, LogEntry, StatePlace, TransactionId, Workspace};
use apply_patch_api::engine::{Plan, PlanNote};
use apply_patch_api::tools::changes::passed_over_text;
use apply_patch_api::tools::{OpenTurn, Session, StoreSize, history, open_turns, store_size};
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

/// The size, in bytes, at which hints about it begin: 100 MiB.
const LARGE: u64 = 100 << 20;

pub(crate) fn status(global: &Global) -> Result<Exit, Failure> {
    let session = workspace::session(global)?;
    let workspace = session.workspace();
    let status = Status::of(&session)?;
    if global.json {
        let data = status.json(workspace)?;
        json::done(format!("{} transactions", status.transactions), data);
        return Ok(Exit::Done);
    }
    row("root", &real_root(workspace)?);
    for state in &status.former {
        row(
            "former",
            &format!(
                "{state}: the history of another directory, which was here before; it is not used"
            ),
        );
    }
    let Some(size) = &status.size else {
        row("history", "none: nothing was applied here yet");
        return Ok(Exit::Done);
    };
    status.print_state(global, workspace);
    status.print_last();
    status.print_undo();
    status.print_turns();
    if let Some(waiting) = status.waiting.filter(|&waiting| waiting > 0) {
        let waiting = render::count(waiting, "proposal");
        row("waiting", &format!("{waiting}; `apply-patch proposals` lists all"));
    }
    status.print_size(size);
    hint(global, size, status.transactions);
    Ok(Exit::Done)
}

/// How things stand in a workspace.
struct Status {
    state: String,
    /// An older state of this project.
    unused: Option<String>,
    /// The states of earlier directories at this path.
    former: Vec<String>,
    unfinished: bool,
    transactions: usize,
    unverified: usize,
    size: Option<StoreSize>,
    last: Option<LogEntry>,
    /// The plan of `undo` without arguments, and its transaction.
    undoable: Result<Plan, commit::Error>,
    next: Option<LogEntry>,
    turns: Vec<OpenTurn>,
    /// How many proposals wait for a decision, if this program knows proposals.
    waiting: Option<usize>,
}

impl Status {
    fn of(session: &Session) -> Result<Self, Failure> {
        let workspace = session.workspace();
        let store = workspace.store()?;
        // Before anything is recovered: to look changes nothing.
        let unfinished = store.as_ref().map(|store| store.has_unfinished()).transpose();
        let unfinished = unfinished.map_err(commit::Error::from)?.unwrap_or(false);
        let (transactions, unverified) = workspace.count()?;
        let last = workspace.newest(1)?.into_iter().next();
        let size = store_size(workspace)?;
        let undoable = super::undo::next(session);
        let turns = open_turns(workspace)?;
        let former =
            workspace.former_states().iter().map(|path| path.display().to_string()).collect();
        let unused = workspace.states().into_iter().nth(1).map(|state| state.path().to_owned());
        let next = undoable.as_ref().ok().and_then(Plan::undo_of);
        Ok(Self {
            state: workspace.state_path(),
            unused,
            former,
            unfinished,
            transactions,
            unverified,
            size,
            last,
            next: next.map(|id| workspace.show(id)).transpose()?,
            undoable,
            turns,
            waiting: super::proposals::waiting(session)?,
        })
    }

    fn json(&self, workspace: &Workspace) -> Result<Value, Failure> {
        let passed_over: Vec<_> = self
            .undoable
            .iter()
            .flat_map(passed_over)
            .map(|(id, why)| json!({ "id": id.to_string(), "why": why }))
            .collect();
        Ok(json!({
            "root": real_root(workspace)?,
            "state": self.state,
            "unfinished": self.unfinished,
            "transactions": self.transactions,
            "notVerified": self.unverified,
            "last": transaction_json(workspace, self.last.as_ref())?,
            "undoable": transaction_json(workspace, self.next.as_ref())?,
            "openTurns": self.turns,
            "waitingProposals": self.waiting,
            "passedOver": passed_over,
            "size": self.size.as_ref().map_or(Value::Null, |size| json!(size)),
            "formerStates": self.former,
            "unusedState": self.unused,
        }))
    }

    /// Prints where the state is, and whether something is unfinished.
    fn print_state(&self, global: &Global, workspace: &Workspace) {
        row("state", &format!("{}{}", self.state, reach(global, workspace)));
        if let Some(unused) = &self.unused {
            row(
                "not used",
                &format!(
                    "{unused}: an older history of this project, from when its state was kept \
                     among the user's"
                ),
            );
        }
        let pending = if self.unfinished {
            "one transaction is unfinished: another process is at work, or was interrupted; \
             `apply-patch recover` finishes or reverts it"
        } else {
            "nothing"
        };
        row("unfinished", pending);
    }

    fn print_last(&self) {
        match &self.last {
            Some(last) => {
                let age = render::age(last.journal.header.id.time());
                row("last", &format!("{}, {age}", line(last)));
            }
            None => row("last", "none"),
        }
    }

    /// Prints what `undo` without arguments would undo.
    fn print_undo(&self) {
        let plan = match &self.undoable {
            Ok(plan) => plan,
            Err(error) => return row("undo", &error.to_string()),
        };
        let turn = plan.notes().iter().find_map(|note| match note {
            PlanNote::OfTurn { turn, transactions } => Some((turn, *transactions)),
            _ => None,
        });
        let what = match turn {
            Some((turn, count)) => {
                format!("all of turn {turn}: {}", render::count(count, "transaction"))
            }
            None => self.next.as_ref().map(line).unwrap_or_default(),
        };
        row("undo", &format!("`apply-patch undo` would undo {what}"));
        passed_over(plan).for_each(|(id, why)| row("", &passed_over_text(id, why)));
    }

    fn print_turns(&self) {
        for OpenTurn { id, session, since, transactions } in &self.turns {
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
    }

    fn print_size(&self, size: &StoreSize) {
        row(
            "size",
            &format!(
                "{}: {} in {} of undo history, {} of logs, {} of other files",
                render::size(size.total()),
                render::size(size.trash),
                render::count(self.transactions, "transaction"),
                render::size(size.audit),
                render::size(size.other),
            ),
        );
        if self.unverified > 0 {
            let count = render::count(self.unverified, "transaction");
            row("not verified", &format!("{count}; `apply-patch log` lists them"));
        }
    }
}

fn row(what: &str, text: &str) {
    render::indented(&format!("{what:<12} {text}"), 13);
}

fn real_root(workspace: &Workspace) -> Result<String, apply_patch_api::files::Error> {
    Ok(apply_patch_api::files::real_path(workspace.root().path())?.display().to_string())
}

fn line(entry: &LogEntry) -> String {
    format!("{}  {}", entry.journal.header.id.short(), render::what(entry, 1))
}

fn transaction_json(
    workspace: &Workspace,
    entry: Option<&LogEntry>,
) -> Result<Option<Value>, Failure> {
    Ok(entry.map(|entry| history::transaction(workspace, entry, false)).transpose()?)
}

/// The words behind the place of the state: what removes it, or where a new one would be.
fn reach(global: &Global, workspace: &Workspace) -> &'static str {
    let home = workspace.home();
    let in_tree = !Path::new(&home.state_path()).is_absolute();
    let is_user = global.settings.state == StatePlace::User;
    if !in_tree && !is_user && home.would_keep_out().is_none() {
        " (it was there already; once it is gone, the state is kept in the project)"
    } else if !in_tree || !home.has_git() {
        ""
    } else if is_user {
        " (it was there already; once it is gone, the state is kept among the user's)"
    } else {
        " (`git clean -fdx` removes it; `state = \"user\"` in config.toml keeps a new one \
         elsewhere)"
    }
}

/// The newer transactions that `undo` passes over, and why.
fn passed_over(plan: &Plan) -> impl Iterator<Item = (TransactionId, &str)> {
    plan.notes().iter().filter_map(|note| match note {
        PlanNote::PassedOver { id, why } => Some((*id, &**why)),
        _ => None,
    })
}

/// Says at a terminal that the undo history is large, and how to make it smaller.
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
