//! `apply-patch doctor`: how things stand here, and where each setting comes from.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::engine::commit::{JournalProblem, Workspace};
use apply_patch_api::engine::remedy::ForPerson;
use apply_patch_api::engine::{ErrorKind, Profile, Remedy};
use apply_patch_api::files::Abilities;
use apply_patch_api::tools::settings::{Layer, WORKSPACE_FILE};
use apply_patch_api::tools::{Caller, Hint, ToolError, audit};

use clap::Args;
use serde_json::{Value, json};

use super::workspace;
use crate::exit::Exit;
use crate::global::Global;
use crate::settings::{Shown, Sources, unknown, user_file};
use crate::{json, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch doctor\n  \
    apply-patch doctor --json -C ../repo | jq .data.settings\n\n\
    Exit codes: 0 all is well, 5 there are problems.")]
pub(crate) struct DoctorArgs {}

/// The findings, in the order of the output.
#[derive(Debug, Default)]
struct Findings {
    lines: Vec<(String, String)>,
    data: serde_json::Map<String, Value>,
    /// The findings that need a look.
    problems: Vec<String>,
}

impl Findings {
    fn add(&mut self, what: &str, text: impl Into<String>, value: impl Into<Value>) {
        self.lines.push((what.to_owned(), text.into()));
        self.data.insert(what.replace(' ', "_"), value.into());
    }

    fn problem(&mut self, what: &str, problem: impl Into<String>) {
        let problem = problem.into();
        self.lines.push((what.to_owned(), format!("! {problem}")));
        self.problems.push(format!("{what}: {problem}"));
    }
}

pub(crate) fn doctor(global: &mut Global) -> Exit {
    let mut found = Findings::default();
    let version = env!("CARGO_PKG_VERSION");
    let system = format!("{} on {}", std::env::consts::ARCH, std::env::consts::OS);
    found.add("version", format!("{version}, {system}"), version);
    let sources = Sources::load(global.root()).unwrap_or_else(|failure| {
        found.problem("configuration", failure.error().message);
        Sources::default()
    });
    for problem in sources.broken() {
        found.problem("configuration", problem);
    }
    global.layers = sources.layers(Layer::default());
    (global.settings, _) = global.layers.resolve(Profile::default(), ApprovalPolicy::Never);
    match apply_patch_api::files::real_path(global.root()) {
        Ok(path) => {
            let how = if global.root() == Path::new(".") {
                "the current directory"
            } else {
                "given by -C"
            };
            found.add("root", format!("{} ({how})", path.display()), path.display().to_string());
        }
        Err(error) => found.problem("root", error.to_string()),
    }
    match workspace::open_any(global) {
        Ok(workspace) => {
            if let Some(common) = workspace.root().common().filter(|_| global.root.is_none()) {
                let text = format!("{common}: a workspace only if it is named, as with `-C .`");
                found.lines.push(("".into(), text));
            }
            let place = workspace.state_path();
            found.add("state directory", place.clone(), place);
            let former: Vec<_> =
                workspace.former_states().iter().map(|path| path.display().to_string()).collect();
            for state in &former {
                let text = format!(
                    "former: {state}, of another directory that was here before; it is not used"
                );
                found.lines.push(("".into(), text));
            }
            found.data.insert("formerStates".into(), former.into());
            file_system(&workspace, &mut found);
            state(&workspace, &mut found);
        }
        // A missing root is reported already.
        Err(failure) if found.problems.is_empty() => {
            found.problem("root", failure.error().message);
        }
        Err(_) => {}
    }
    let sandbox = apply_patch_api::files::can_confine();
    let text = if sandbox {
        "the kernel has Landlock"
    } else {
        "the kernel has no Landlock: --sandbox will not work"
    };
    found.add("sandbox", text, sandbox);
    settings(&sources, &mut found);
    report(global, found)
}

/// The loss where the state directory is open to others.
const OPEN_STATE: &str = "others on this machine can read and change what was displaced or \
                          deleted (journals stay signed)";

/// The name of [`file_system`]'s scratch directory in the state directory.
const SCRATCH: &str = "doctor";

/// Finds out the abilities of the file system, in the state directory: a killed run leaves nothing
/// among the user's files, and the next run cleans up.
fn abilities(workspace: &Workspace) -> Result<Abilities, apply_patch_api::files::Error> {
    let root = workspace.root();
    let (state, made) = root.create_state_dir()?;
    let found =
        state.remove_tree(SCRATCH).and_then(|()| Abilities::of(&state.create_dir(SCRATCH)?));
    let removed = state.remove_tree(SCRATCH);
    if let Some(mtime) = made {
        root.remove_state_dir(mtime)?;
    }
    removed.and(found)
}

/// The abilities present, or the missing ones.
fn those(all: &[(&str, &str, bool)], wanted: bool) -> String {
    let names: Vec<_> =
        all.iter().filter(|(.., has)| *has == wanted).map(|(what, ..)| *what).collect();
    names.join(", ")
}

fn file_system(workspace: &Workspace, found: &mut Findings) {
    match abilities(workspace) {
        Ok(abilities) => {
            let all = [
                ("swaps names in one step", "exchange", abilities.exchange),
                ("renames without replacing", "noReplace", abilities.no_replace),
                (
                    "resolves paths beneath the root (openat2)",
                    "resolveBeneath",
                    abilities.resolve_beneath,
                ),
                ("keeps inode numbers", "stableInodes", abilities.stable_inodes),
                ("has extended attributes", "xattrs", abilities.xattrs),
            ];
            let value: serde_json::Map<_, _> =
                all.iter().map(|(_, name, has)| ((*name).to_owned(), Value::from(*has))).collect();
            let mut text = those(&all, true);
            let lacks = those(&all, false);
            if !lacks.is_empty() {
                text += &format!("; not: {lacks}");
            }
            found.add("file system", text, value);
            if workspace.root().policy().accept_open_private_dir {
                found.lines.push(("".into(), format!("`accept-open-state`: {OPEN_STATE}")));
            }
        }
        // The advice is given with the state.
        Err(apply_patch_api::files::Error::OthersState { .. }) => {}
        Err(error @ apply_patch_api::files::Error::UntrustedState { .. }) => {
            let place = user_file()
                .map_or("the user's config.toml".into(), |path| path.display().to_string());
            found.problem(
                "state",
                format!(
                    "{error}; if the file system keeps no modes, `accept-open-state = true` \
                         in {place} accepts that {OPEN_STATE}"
                ),
            );
        }
        Err(error) => {
            found.problem("file system", format!("files cannot be made in the root: {error}"))
        }
    }
}

fn state(workspace: &Workspace, found: &mut Findings) {
    key(workspace, found);
    let store = match workspace.store() {
        Ok(Some(store)) => store,
        Ok(None) => return found.add("state", "none: nothing was applied here yet", Value::Null),
        Err(error) => {
            let error = ToolError::workspace(&error);
            let advice =
                error.suggested_next_action.map(|advice| format!("; {advice}")).unwrap_or_default();
            return found.problem("state", error.message + &advice);
        }
    };
    match store.has_unfinished() {
        Ok(true) => found.problem(
            "transactions",
            "one is unfinished: another process is at work, or was interrupted; `apply-patch \
             recover` tells which",
        ),
        Ok(false) => {}
        Err(error) => found.problem("transactions", error.to_string()),
    }
    // To take the lock recovers what is unfinished.
    if found.problems.is_empty() {
        lock(workspace, found);
    }
    match (store.transactions(), store.entries()) {
        (Ok(transactions), Ok((entries, refused))) => {
            let bytes: u64 = entries.iter().map(|entry| entry.size).sum();
            let transactions_found = render::count(transactions.len(), "transaction");
            let files = render::count(entries.len(), "file");
            let text = format!("{transactions_found}, {files}, {bytes} bytes");
            let value = json!({
                "transactions": transactions.len(), "files": entries.len(), "bytes": bytes,
            });
            found.add("trash", text, value);
            unverified(refused, found);
        }
        (Err(error), _) | (_, Err(error)) => found.problem("trash", error.to_string()),
    }
    audit_log(workspace, found);
}

fn key(workspace: &Workspace, found: &mut Findings) {
    match workspace.key_place().find() {
        Ok(Some((dir, there))) => {
            let text = format!(
                "{} {}",
                if there { "in" } else { "made at the first change, in" },
                dir.display()
            );
            found.add("key", text, dir.display().to_string());
        }
        Ok(None) => {
            let tried = workspace.key_place().directories();
            let tried: Vec<_> = tried.iter().map(|dir| dir.display().to_string()).collect();
            found.data.insert("key".into(), Value::Null);
            let unsigned = "changes made here are not signed, and elsewhere only `apply-patch \
                            undo ID --trust` undoes them";
            let problem = if tried.is_empty() {
                format!(
                    "there is no place for one: neither HOME nor XDG_STATE_HOME is set; \
                     {unsigned}; set HOME"
                )
            } else {
                format!(
                    "there is no place for one: {} cannot be written; {unsigned}; make a change \
                     once where it can be written (outside of the sandbox), or let XDG_STATE_HOME \
                     name a directory that can",
                    tried.join(" and ")
                )
            };
            found.problem("key", problem);
        }
        Err(error) => found.problem("key", error.to_string()),
    }
}

fn lock(workspace: &Workspace, found: &mut Findings) {
    match workspace.lock(Duration::ZERO) {
        Ok(_) => found.add("lock", "free", true),
        Err(error) => found.problem("lock", error.to_string()),
    }
}

/// Counts the transactions with other keys' signatures, or none.
fn unverified(refused: Vec<apply_patch_api::trash::Error>, found: &mut Findings) {
    let mut others = 0;
    let mut keys = BTreeSet::new();
    for error in refused {
        match error {
            apply_patch_api::trash::Error::Journal { problem, .. } if problem.can_be_trusted() => {
                others += 1;
                if let JournalProblem::OtherKey(key) = problem {
                    keys.insert(key.to_string());
                }
            }
            error => found.problem("trash", error.to_string()),
        }
    }
    found.data.insert("otherKeys".into(), json!({ "transactions": others, "keys": keys }));
    if others > 0 {
        let keys = if keys.is_empty() {
            String::new()
        } else {
            format!(" (key {})", keys.into_iter().collect::<Vec<_>>().join(", "))
        };
        found.problem(
            "trash",
            format!(
                "signed with a key that is not here{keys}, or not signed: {others} of the \
                 transactions, made in a sandbox, or with another XDG_STATE_HOME; `apply-patch \
                 log` lists them, and `apply-patch undo ID --trust` undoes one that you know"
            ),
        );
    }
}

fn audit_log(workspace: &Workspace, found: &mut Findings) {
    let sessions = match audit::verify(workspace, None) {
        Ok(sessions) => sessions,
        Err(error) => return found.problem("audit log", error.to_string()),
    };
    let bad: Vec<_> = sessions.iter().filter_map(|one| one.first_bad.as_ref()).collect();
    for bad in &bad {
        found.problem("audit log", format!("{}: line {}: {}", bad.file, bad.line, bad.problem));
    }
    if bad.is_empty() {
        let lines: u64 = sessions.iter().map(|one| one.lines).sum();
        let text = format!(
            "{lines} lines of {}, as they were written",
            render::count(sessions.len(), "session")
        );
        found.add("audit log", text, json!({ "lines": lines, "sessions": sessions.len() }));
    }
}

fn settings(sources: &Sources, found: &mut Findings) {
    let mut names: Vec<_> =
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    names.sort_unstable();
    for (name, near) in unknown(names.iter().map(String::as_str)) {
        let meant = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "nothing reads it; `apply-patch man` lists the variables".into(),
        };
        found
            .problem("environment", format!("`{name}` is not a variable of this program; {meant}"));
    }
    let mut values = serde_json::Map::new();
    for Shown { key, given, bound } in sources.shown() {
        if given.is_some() || bound.is_some() {
            let value = given
                .as_ref()
                .map_or("default".into(), |(value, source)| format!("{value} (from {source})"));
            let held = bound
                .as_ref()
                .map(|bound| format!("; held to {bound} by {WORKSPACE_FILE}"))
                .unwrap_or_default();
            found.lines.push((key.to_owned(), value + &held));
        }
        let (value, source) = given.unzip();
        let source = source.unwrap_or_else(|| "default".into());
        values.insert(
            key.to_owned(),
            json!({ "value": value, "source": source, "workspaceBound": bound }),
        );
    }
    if values
        .values()
        .all(|value| value["source"] == "default" && value["workspaceBound"].is_null())
    {
        let place = user_file().map_or("there is no home directory".into(), |path| {
            format!("{} would be read", path.display())
        });
        found.lines.push(("settings".into(), format!("all default; {place}")));
    }
    found.data.insert("settings".into(), values.into());
}

fn report(global: &Global, found: Findings) -> Exit {
    let Findings { lines, mut data, problems } = found;
    let exit = if problems.is_empty() { Exit::Done } else { Exit::Failed };
    let output = match problems.len() {
        0 => "all is well".to_owned(),
        1 => "there is one problem".to_owned(),
        count => format!("there are {count} problems"),
    };
    if global.json {
        data.insert("problems".into(), problems.clone().into());
        if problems.is_empty() {
            json::done(output, data)
        } else {
            let see_to = Remedy::Ask(ForPerson::Own("see to each problem".into()));
            let error = json!({
                "kind": ErrorKind::CommandFailed.to_string(), "message": problems.join("; "),
                "details": data, "recoverable": true,
                "suggestedNextAction": "a person has to see to each problem",
                "hints": Hint::all_of(&[see_to], Caller::Terminal),
            });
            json::print(&json::refusal(error));
        }
        return exit;
    }
    let width = lines.iter().map(|(what, _)| what.len()).max().unwrap_or_default();
    for (what, text) in lines {
        render::line(&format!("{what:width$}  {text}"));
    }
    render::line(&output);
    exit
}
