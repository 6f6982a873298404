//! `apply-patch uninstall`: removes what the program keeps outside of the files that it changed.

use std::path::Path;

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::engine::commit::{self, Removal, State};
use apply_patch_api::engine::key_place;
use apply_patch_api::tools::{remove_state, size_in};
use clap::Args;
use serde_json::{Value, json};

use super::workspace;
use crate::approve::{self, preset};
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::{json, outside, render, settings};

#[derive(Debug, Args)]
#[command(
    after_help = "The files of projects stay as they are, and so does the program itself.\n\n\
    Examples:\n  \
    apply-patch uninstall -n                  what would be removed for this project\n  \
    apply-patch uninstall                     the history of this project\n  \
    apply-patch uninstall --all --config --keys\n                                            \
    all that is kept in your home directory"
)]
pub(crate) struct UninstallArgs {
    /// Remove the histories of all projects in your state directory (`state = "user"`), instead of
    /// that of this project
    #[arg(long)]
    all: bool,
    /// Remove your settings too: `~/.config/apply-patch/config.toml`
    #[arg(long)]
    config: bool,
    /// Remove your keys too: what other projects recorded counts as signed by somebody else then,
    /// and is undone only with `undo --trust`
    #[arg(long)]
    keys: bool,
    /// Print what would be removed; nothing is removed
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask, at a terminal, after showing what would be removed
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    pub(crate) waiting: args::Waiting,
}

impl UninstallArgs {
    fn verb(&self) -> &'static str {
        if self.dry_run { "would remove" } else { "removed" }
    }
}

/// A state that was found.
#[derive(Debug)]
struct FoundState {
    state: State,
    transactions: usize,
    bytes: u64,
    unfinished: bool,
}

impl FoundState {
    fn new(state: State) -> Result<Self, Failure> {
        let mut transactions = 0;
        let mut unfinished = false;
        if let Some(store) = state.store()? {
            transactions = store.transactions().map_err(commit::Error::from)?.len();
            unfinished = store.has_unfinished().map_err(commit::Error::from)?;
        }
        let bytes = state.dir()?.as_ref().map(size_in).transpose()?.map_or(0, |size| size.total());
        Ok(Self { state, transactions, bytes, unfinished })
    }

    fn text(&self) -> String {
        let count = render::count(self.transactions, "transaction");
        format!(
            "{} ({count} that can no longer be undone then, {})",
            self.state.path(),
            render::size(self.bytes)
        )
    }

    fn json(&self) -> Value {
        let path = self.state.path();
        json!({ "path": path, "transactions": self.transactions, "bytes": self.bytes })
    }
}

pub(crate) fn uninstall(global: &Global, args: &UninstallArgs) -> Result<Exit, Failure> {
    let states = if args.all {
        commit::user_states(&key_place())
    } else {
        workspace::open(global)?.states()
    };
    let states = states.into_iter().map(FoundState::new).collect::<Result<Vec<_>, _>>()?;
    let (mut unfinished, states): (Vec<_>, Vec<_>) =
        states.into_iter().partition(|found| found.unfinished);
    if let Some(found) = unfinished.first().filter(|_| !args.all) {
        return Err(refusal(found));
    }
    let config = settings::user_file().filter(|path| args.config && outside::is_there(path));
    let keys = if args.keys { key_place().remove_keys(true)? } else { Vec::new() };
    let files: Vec<_> = config.iter().chain(&keys).map(|path| path.display().to_string()).collect();
    let is_empty = states.is_empty() && files.is_empty();
    let asks = !args.force && !args.dry_run && !global.json && preset() != ApprovalPolicy::Never;
    if asks && !is_empty && !is_confirmed(&states, &files)? {
        render::message("nothing was removed");
        return Ok(Exit::Refused);
    }
    let removed = remove_states(global, args, states, &mut unfinished)?;
    if !args.dry_run {
        remove_files(args, config.as_deref())?;
    }
    files.iter().for_each(|path| say_removed(global, args, path));
    let unfinished: Vec<_> = unfinished.iter().map(|found| found.state.path()).collect();
    for path in &unfinished {
        render::message(&format!(
            "{path} stays: a transaction is unfinished; `apply-patch recover` in its project \
             finishes or reverts it. If the project is gone, remove the directory yourself"
        ));
    }
    let nothing = "there is nothing to remove";
    if global.json {
        let count = render::count(removed.len() + files.len(), "place");
        let output = if is_empty { nothing.to_owned() } else { format!("{} {count}", args.verb()) };
        let data = json!({
            "states": removed,
            "unfinished": unfinished,
            "files": files,
            "dryRun": args.dry_run,
        });
        json::done(output, data);
    } else if is_empty && unfinished.is_empty() {
        render::line(nothing);
    }
    Ok(if unfinished.is_empty() { Exit::Done } else { Exit::Partial })
}

/// Lists what would be removed, and asks.
fn is_confirmed(states: &[FoundState], files: &[String]) -> Result<bool, Failure> {
    states.iter().for_each(|found| render::line(&found.text()));
    files.iter().for_each(|path| render::line(path));
    approve::confirm("Remove this for good?")
}

fn say_removed(global: &Global, args: &UninstallArgs, text: &str) {
    if !global.json {
        render::line(&format!("{} {text}", args.verb()));
    }
}

/// Removes the states, and returns the removed ones. A process may have been killed since the
/// search: then its state is added to the unfinished ones.
fn remove_states(
    global: &Global,
    args: &UninstallArgs,
    states: Vec<FoundState>,
    unfinished: &mut Vec<FoundState>,
) -> Result<Vec<Value>, Failure> {
    let mut removed = Vec::new();
    for found in states {
        let outcome = if args.dry_run {
            Removal::Done
        } else {
            remove_state(&found.state, global.settings.lock_timeout)?
        };
        match outcome {
            Removal::Done => {}
            Removal::Others(names) => render::message(&format!(
                "{} stays, with what apply-patch did not make: {}",
                found.state.path(),
                names.join(", ")
            )),
            Removal::Unfinished if args.all => {
                unfinished.push(found);
                continue;
            }
            Removal::Unfinished => return Err(refusal(&found)),
        }
        say_removed(global, args, &found.text());
        removed.push(found.json());
    }
    Ok(removed)
}

/// Removes the keys and the settings, on request, and their folders once empty.
fn remove_files(args: &UninstallArgs, config: Option<&Path>) -> Result<(), Failure> {
    if args.keys {
        key_place().remove_keys(false)?;
    }
    if let Some(path) = config {
        outside::remove_file(path)?;
        path.parent().into_iter().for_each(outside::remove_empty_dir);
    }
    if args.all || args.keys {
        for states in commit::user_state_folders(&key_place()) {
            outside::remove_empty_dir(&states);
            states.parent().into_iter().for_each(outside::remove_empty_dir);
        }
    }
    Ok(())
}

fn refusal(found: &FoundState) -> Failure {
    Failure::Refused(format!(
        "a transaction in {} is unfinished: another process is at work, or was interrupted; \
         nothing was removed. `apply-patch recover` finishes or reverts it; then run this again",
        found.state.path()
    ))
}
