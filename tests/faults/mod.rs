//! Every system call of every operation goes wrong in every way, on every kind of file system; one
//! oracle judges what comes of it.
//!
//! The program itself runs, built with fs-guard's seam for tests. The table is in `table.rs`. After
//! each fault: the files are the old or the new ones, as the exit code and the message say;
//! recovery finishes or reverts; the audit log has an answer for each intent and verifies; the same
//! command works now, and undo brings back exactly what was there.
//!
//! A twentieth of the points is tried, a quarter of it on each kind of file system; all of them
//! with `just faults`, which prints the table. `FAULTS=undo` tries only operations with that in
//! their name.

mod mounted;
mod power;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use self::table::{Calls, Command, FAULTS, FILE_SYSTEMS, Fault, Operation, operations};
use testutils::temp::temp;
use testutils::tree::{Tree, difference, look};

/// Where a case is tried.
struct Place {
    dir: PathBuf,
    /// Where the key is.
    home: PathBuf,
    lacks: &'static str,
}

/// How a run ended.
#[derive(Debug)]
struct Ended {
    /// None when it was killed.
    code: Option<i32>,
    text: String,
}

impl Place {
    fn run(&self, command: &Command, fault: &str, calls: Option<&Path>) -> Ended {
        use std::io::Write as _;
        let mut process = std::process::Command::new(
            std::env::var_os("FAULTS_BIN")
                .unwrap_or_else(|| env!("CARGO_BIN_EXE_apply-patch").into()),
        );
        let newest = || {
            let trash = fs::read_dir(self.dir.join("w/.apply-patch/trash")).expect("the trash");
            let names = trash
                .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
            names.filter(|name| name.contains('-')).max().expect("a transaction")
        };
        let named = |arg: &String| {
            if arg.contains("{newest}") { arg.replace("{newest}", &newest()) } else { arg.clone() }
        };
        process
            .args(command.args.iter().map(named))
            .current_dir(self.dir.join("w"))
            .env_clear()
            .env("HOME", &self.home)
            .env("XDG_STATE_HOME", self.home.join("state"))
            .env("FS_GUARD_LACKS", self.lacks)
            .env("FS_GUARD_FAULT", fault)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(calls) = calls {
            process.env("FS_GUARD_CALLS", calls);
        }
        if command.args[0] == "serve" {
            // There calls have threads of their own.
            process.env("FS_GUARD_THREAD", "mcp-call");
        }
        let mut child = process.spawn().expect("the program starts");
        let _ = child.stdin.take().expect("piped").write_all(command.input.as_bytes());
        let output = child.wait_with_output().expect("the program ends");
        let mut code = output.status.code();
        if command.args[0] == "serve" && code == Some(0) {
            code = Some(code_of_call(&output.stdout));
        }
        let text = [output.stdout, output.stderr].concat();
        Ended { code, text: String::from_utf8_lossy(&text).into_owned() }
    }

    fn plain(&self, args: &[&str]) -> Ended {
        let args = args.iter().map(|&arg| arg.into()).collect();
        self.run(&Command { args, input: String::new() }, "", None)
    }

    /// The files, without those of the state directory.
    fn look(&self) -> Tree {
        let mut tree = look(&self.dir.join("w"), false);
        tree.retain(|path, _| path != ".apply-patch" && !path.starts_with(".apply-patch/"));
        tree
    }

    fn copy(&self, from: &Path) {
        let _ = fs::remove_dir_all(&self.dir);
        // Not all file systems have owners.
        let copied = std::process::Command::new("cp")
            .args(["-a", "--no-preserve=ownership"])
            .arg(from)
            .arg(&self.dir)
            .status();
        assert!(copied.expect("cp runs").success());
    }
}

impl Place {
    /// With the key in the same folder.
    fn new(dir: PathBuf, lacks: &'static str) -> Self {
        Self { home: dir.clone(), dir, lacks }
    }

    /// Beside this one.
    fn beside(&self, name: &str) -> Self {
        let dir = self.dir.with_file_name(name);
        let home = if self.home == self.dir { dir.clone() } else { self.home.clone() };
        Self { dir, home, lacks: self.lacks }
    }
}

/// The exit code that the command line would have for the last answer of the MCP server.
fn code_of_call(answers: &[u8]) -> i32 {
    let last =
        answers.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap_or_default();
    let answer: Value = serde_json::from_slice(last).unwrap_or_default();
    match &answer["result"]["isError"] {
        Value::Bool(false) => 0,
        Value::Bool(true) => {
            // What is neither done nor undone has a journal for recovery.
            let journal = &answer["result"]["structuredContent"]["error"]["details"]["journal"];
            if journal.is_null() { 1 } else { 6 }
        }
        _ => 5,
    }
}

/// An operation without faults: what it starts from, what it comes to, and the calls it makes.
struct Reference {
    template: PathBuf,
    /// Before it, after each of its parts, and after it.
    states: Vec<Tree>,
    calls: Vec<(String, bool)>,
}

/// All happens beside a place.
fn reference(operation: &Operation, tried: &Place) -> Reference {
    let place = tried.beside("template");
    fs::create_dir_all(place.dir.join("w")).expect("a folder");
    for (path, text) in operation.files {
        let at = place.dir.join("w").join(path);
        if path.ends_with('/') {
            fs::create_dir_all(at).expect("a folder");
            continue;
        }
        fs::create_dir_all(at.parent().expect("a path")).expect("a folder");
        fs::write(at, text).expect("a file");
    }
    for command in &operation.setup {
        let ended = place.run(command, "", None);
        assert_eq!(ended.code, Some(0), "{}: {:?}: {ended:?}", operation.name, command.args);
    }
    let mut states = vec![place.look()];
    if operation.parts.len() > 1 {
        let parts = tried.beside("parts");
        parts.copy(&place.dir);
        for command in &operation.parts[..operation.parts.len() - 1] {
            assert_eq!(parts.run(command, "", None).code, Some(0), "{}", operation.name);
            states.push(parts.look());
        }
    }
    let once = tried.beside("once");
    once.copy(&place.dir);
    let list = tried.dir.with_file_name("calls");
    let ended = once.run(&operation.command, "none 0 0", Some(&list));
    assert_eq!(ended.code, Some(0), "{}: {ended:?}", operation.name);
    states.push(once.look());
    assert_eq!(states[0] != states[states.len() - 1], operation.changes, "{}", operation.name);
    let calls = fs::read_to_string(&list).expect("the list of calls");
    let calls = calls.lines().filter_map(|line| line.split_once(' '));
    let calls: Vec<_> = calls.map(|(name, side)| (name.to_owned(), side == "w")).collect();
    assert!(
        calls.iter().any(|(_, writes)| *writes),
        "{}: a call that changes something",
        operation.name
    );
    Reference { template: place.dir, states, calls }
}

/// Looks at what came of a fault; every lie in a line.
fn judge(
    operation: &Operation,
    reference: &Reference,
    place: &Place,
    ended: &Ended,
) -> Vec<String> {
    let mut lies = Vec::new();
    let (old, new) = (&reference.states[0], &reference.states[reference.states.len() - 1]);
    let now = place.look();
    let position = |tree: &Tree| reference.states.iter().position(|state| state == tree);
    match ended.code {
        None => {}
        Some(0) if now == *new => {}
        Some(0) => lies.push(format!("exit 0, but not done: {}", difference(new, &now))),
        Some(1..=5) if now == *old => {}
        Some(code @ 1..=5) => {
            lies.push(format!("exit {code}, but something changed: {}", difference(old, &now)))
        }
        Some(6) if now == *old && !ended.text.contains("roll-back could not be finished") => {
            lies.push("exit 6, but nothing changed".into());
        }
        Some(6) => {}
        Some(code) => lies.push(format!("exit {code}")),
    }
    if ended.text.contains("nothing was changed") && now != *old {
        lies.push(format!("\"nothing was changed\", but: {}", difference(old, &now)));
    }
    let recovered = place.plain(&["recover"]);
    if recovered.code != Some(0) {
        lies.push(format!("recovery fails: {recovered:?}"));
    }
    let now = place.look();
    match position(&now) {
        Some(_) if !operation.changes => {}
        None => lies.push(format!(
            "neither old nor new: {}\n or {}",
            difference(old, &now),
            difference(new, &now)
        )),
        Some(at) if ended.code == Some(0) && at + 1 != reference.states.len() => {
            lies.push("it came undone".into())
        }
        Some(at) if matches!(ended.code, Some(1..=5)) && at != 0 => {
            lies.push("it was done later".into())
        }
        Some(_) => {}
    }
    lies.extend(audit(place, "then"));
    let left = leftovers(&place.dir.join("w"));
    if !left.is_empty() {
        lies.push(format!("left over: {left:?}"));
    }
    // The next command, and the way back.
    if now == *old && operation.changes {
        let again = place.run(&operation.command, "", None);
        if again.code != Some(0) || place.look() != *new {
            lies.push(format!("the next attempt: {again:?}: {}", difference(new, &place.look())));
        }
    }
    if let Some(back) = operation.back.filter(|_| now == *old || now == *new) {
        let undone = place.plain(back);
        if undone.code != Some(0) || place.look() != *old {
            lies.push(format!("{back:?}: {undone:?}: {}", difference(old, &place.look())));
        }
    }
    lies.extend(audit(place, "in the end"));
    lies
}

/// Kills an operation, has the recovery go wrong too, and looks at what the next recovery leaves:
/// what one recovery without a fault would have left. Of the kills one in `outer` is made, and of
/// the faults in recoveries one in `step`. How many points there were, and every lie.
fn nested(
    operation: &Operation,
    place: &Place,
    (outer, step): (usize, usize),
) -> (usize, Vec<String>) {
    let reference = reference(operation, place);
    let half = place.beside("half");
    let list = place.dir.with_file_name("recovering");
    let recover = Command { args: vec!["recover".into()], input: String::new() };
    let (mut points, mut lies, mut nth) = (0, Vec::new(), 0_usize);
    let kills = reference.calls.iter().enumerate().filter(|(_, call)| call.1);
    for (at, call) in kills.skip(outer / 2).step_by(outer) {
        half.copy(&reference.template);
        half.run(&operation.command, &format!("kill {} 0", at + 1), None);
        place.copy(&half.dir);
        let _ = fs::remove_file(&list);
        assert_eq!(
            place.run(&recover, "none 0 0", Some(&list)).code,
            Some(0),
            "{}",
            operation.name
        );
        let whole = place.look();
        let calls = fs::read_to_string(&list).expect("the list of calls");
        let calls: Vec<(String, bool)> = calls
            .lines()
            .filter_map(|line| {
                line.split_once(' ').map(|(name, side)| (name.to_owned(), side == "w"))
            })
            .collect();
        for fault in FAULTS {
            for (inner, inner_call) in
                calls.iter().enumerate().filter(|(_, call)| concerns(fault, call))
            {
                nth += 1;
                if !nth.is_multiple_of(step) {
                    continue;
                }
                points += 1;
                place.copy(&half.dir);
                let first = place.run(
                    &recover,
                    &format!("{} {} {}", fault.word, inner + 1, fault.code),
                    None,
                );
                let second = place.plain(&["recover"]);
                let mut found = audit(place, "then");
                if first.code.is_some_and(|code| !(0..=6).contains(&code)) || second.code != Some(0)
                {
                    found.push(format!("{first:?}, then {second:?}"));
                }
                // A failing disk may turn it back that would have gone on; it stays one of the two.
                let now = place.look();
                if now != whole
                    && (first.code.is_none()
                        || ![0, reference.states.len() - 1]
                            .map(|nth| &reference.states[nth])
                            .contains(&&now))
                {
                    found.push(difference(&whole, &now));
                }
                let left = leftovers(&place.dir.join("w"));
                if !left.is_empty() {
                    found.push(format!("left over: {left:?}"));
                }
                let name = format!(
                    "{} killed at call {} ({}), recovery {} at call {} ({})",
                    operation.name,
                    at + 1,
                    call.0,
                    fault.name,
                    inner + 1,
                    inner_call.0
                );
                lies.extend(found.into_iter().map(|lie| format!("{name}: {lie}")));
            }
        }
    }
    (points, lies)
}

/// Whether the log verifies, and has an answer to each intent.
fn audit(place: &Place, when: &str) -> Vec<String> {
    let mut lies = Vec::new();
    let verified = place.plain(&["log", "--verify"]);
    if verified.code != Some(0) {
        lies.push(format!("{when}, log --verify: {verified:?}"));
    }
    let mut intents = BTreeSet::new();
    let mut answered = BTreeMap::new();
    let logs = fs::read_dir(place.dir.join("w/.apply-patch/audit")).into_iter().flatten();
    let logs = logs.map(|entry| entry.expect("an entry").path());
    let logs = logs.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let text: String = logs.map(|log| fs::read_to_string(log).expect("a log")).collect();
    for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let Some(id) = line["transactionId"].as_str().map(str::to_owned) else { continue };
        match line["phase"].as_str() {
            Some("intent") => drop(intents.insert(id)),
            Some("outcome" | "recovered") => drop(answered.insert(id, line["ok"] == true)),
            _ => {}
        }
    }
    for id in &intents {
        let kept = place.dir.join("w/.apply-patch/trash").join(id).is_dir();
        match answered.get(id) {
            None => lies.push(format!(
                "{when}, no answer to the intent of {id}, {}",
                if kept { "done" } else { "not done" }
            )),
            Some(false) if kept => {
                lies.push(format!("{when}, {id} was done, and the log denies it"))
            }
            Some(_) => {}
        }
    }
    lies
}

/// What no command leaves behind: transactions that are not finished, and staged files.
fn leftovers(root: &Path) -> Vec<String> {
    let tree = look(root, false);
    let left = |path: &&String| {
        path.starts_with(".apply-patch/pending/") || path.ends_with(".apply-patch.tmp")
    };
    tree.keys().filter(left).cloned().collect()
}

/// A file system, and which of the points are tried.
struct Tried<'t> {
    kind: &'t str,
    lacks: &'static str,
    /// A folder in it.
    dir: &'t Path,
    /// Where the key is, if not in that folder.
    home: Option<&'t Path>,
    /// One in so many operations is tried; to prepare one takes longer than to try a few points of
    /// it.
    rows: usize,
    /// One in so many points is tried, from this one on.
    step: (usize, usize),
}

impl Tried<'_> {
    /// Tries all operations.
    fn all(&self) {
        let whole = std::env::var_os("FAULTS_ALL").is_some();
        let (rows, (step, first)) = if whole { (1, (1, 0)) } else { (self.rows, self.step) };
        let mut table = String::new();
        let mut shown = Vec::new();
        let only = std::env::var("FAULTS").unwrap_or_default();
        let all = operations();
        let wanted = |operation: &&Operation| {
            operation.name.contains(&only)
                && operation.needs.is_none_or(|needs| !self.lacks.contains(needs))
        };
        for (row, operation) in all.iter().filter(wanted).enumerate() {
            if !(row + first).is_multiple_of(rows) {
                continue;
            }
            let here = self.dir.join(row.to_string());
            fs::create_dir(&here).expect("a folder");
            let mut place = Place::new(here.join("tried"), self.lacks);
            if let Some(home) = self.home {
                place.home = home.to_owned();
            }
            let reference = reference(operation, &place);
            for (column, fault) in FAULTS.iter().enumerate() {
                let (mut points, mut found) = (0, 0);
                for (at, call) in reference.calls.iter().enumerate() {
                    if !concerns(fault, call) || !(at + row + column + first).is_multiple_of(step) {
                        continue;
                    }
                    points += 1;
                    place.copy(&reference.template);
                    let word = format!("{} {} {}", fault.word, at + 1, fault.code);
                    let ended = place.run(&operation.command, &word, None);
                    let lies = judge(operation, &reference, &place, &ended);
                    found += usize::from(!lies.is_empty());
                    shown.extend(lies.iter().map(|lie| {
                        let text = ended.text.replace('\n', " | ");
                        format!(
                            "{}, {} at call {} ({}): {lie}\n    {:?} {text}",
                            operation.name,
                            fault.name,
                            at + 1,
                            call.0,
                            ended.code
                        )
                    }));
                }
                table += &format!(
                    "| {} | {} | {} | {points} | {found} |\n",
                    operation.name, fault.name, self.kind
                );
            }
            fs::remove_dir_all(here).expect("our own folder");
        }
        eprintln!("\n{table}");
        assert!(
            shown.is_empty(),
            "{} lies, among them:\n{}",
            shown.len(),
            shown[..shown.len().min(200)].join("\n")
        );
    }
}

/// Tries all operations on the file system of this number.
fn try_all(number: usize) {
    let (kind, lacks) = FILE_SYSTEMS[number];
    let dir = temp();
    Tried { kind, lacks, dir: dir.path(), home: None, rows: 2, step: (120, number) }.all();
}

fn concerns(fault: &Fault, (name, writes): &(String, bool)) -> bool {
    match fault.calls {
        Calls::All => true,
        Calls::Writes => *writes,
        Calls::Opens => name.starts_with("open"),
    }
}

#[test]
fn nothing_is_lied_about_where_a_file_system_has_everything() {
    try_all(0);
}

#[test]
fn nothing_is_lied_about_where_names_cannot_be_swapped() {
    try_all(1);
}

#[test]
fn nothing_is_lied_about_where_a_rename_cannot_refuse_to_replace() {
    try_all(2);
}

#[test]
fn nothing_is_lied_about_where_files_are_staged_beside_their_places() {
    try_all(3);
}

#[test]
fn a_recovery_that_goes_wrong_is_made_good_by_the_next() {
    let steps = if std::env::var_os("FAULTS_ALL").is_some() { (1, 10) } else { (24, 200) };
    let dir = temp();
    let all = operations();
    let wanted = ["delete_file, recursive", "undo of a tree", "apply", "trash restore"];
    for (row, operation) in
        all.iter().filter(|operation| wanted.contains(&operation.name)).enumerate()
    {
        for (kind, lacks) in FILE_SYSTEMS {
            let here = dir.path().join(format!("{row} {kind}"));
            fs::create_dir(&here).expect("a folder");
            let (points, lies) = nested(operation, &Place::new(here.join("tried"), lacks), steps);
            eprintln!(
                "| recovery of {} | all | {kind} | {points} | {} |",
                operation.name,
                lies.len()
            );
            assert!(lies.is_empty(), "{points} points, {} lies:\n{}", lies.len(), lies.join("\n"));
            assert!(points > 0, "{points} points, {} lies:\n{}", lies.len(), lies.join("\n"));
            fs::remove_dir_all(here).expect("our own folder");
        }
    }
}

/// Directories that were opened stayed open, 256 of them.
#[test]
fn a_patch_of_many_directories_needs_few_open_files() {
    let dir = temp();
    let mut patch = String::from("*** Begin Patch\n");
    for number in 0..300 {
        let folder = dir.path().join(format!("w/d{number}"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("f"), "a\n").expect("a file");
        patch += &format!("*** Update File: d{number}/f\n@@\n-a\n+b\n");
    }
    fs::write(dir.path().join("p"), patch + "*** End Patch\n").expect("a file");
    let line = "ulimit -n 32 && \"$0\" apply ../p && \"$0\" undo && \"$0\" redo";
    let args = ["-c", line, env!("CARGO_BIN_EXE_apply-patch")];
    let run = crate::program::run_other("sh", &dir.path().join("w"), dir.path(), &args, b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(fs::read(dir.path().join("w/d299/f")).expect("it is there"), b"b\n");
}
