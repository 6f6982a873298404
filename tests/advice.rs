//! Random histories of two agents and a person who edits by hand. Whatever undo, redo and restore are
//! then refused with, a reader who does only what is said comes to the goal, or is told truly that
//! there is no way: no command that is named fails, and nobody is blamed who did nothing.
//!
//! `ADVICE_SEEDS=1000..2000` tries other histories, and prints how many refusals there were and how
//! they ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Run, place, run_other};

/// The files of a history. Some lines are far apart, some adjacent.
const FILES: [&str; 3] = ["a", "b", "d/c"];
/// The lines of a file that are changed.
const LINES: [usize; 4] = [1, 2, 9, 17];
/// How many histories are tried, and how many commands after each.
const SEEDS: std::ops::Range<u64> = 0..16;
const TRIED: usize = 3;
/// The most steps that a reader follows.
const PATIENCE: usize = 12;

/// How refusals ended.
#[derive(Debug, Default)]
struct Counts {
    refusals: usize,
    followed: usize,
    by_end: BTreeMap<String, usize>,
    dead_ends: Vec<String>,
    /// The dead ends by their kind.
    by_kind: BTreeMap<String, usize>,
}

/// A workspace, and what happened in it.
struct History {
    dir: TempDir,
    random: fastrand::Rng,
    /// All that happened, the oldest first.
    events: Vec<Event>,
    written: usize,
    /// What the patch wrote that was sent last.
    sent: Vec<String>,
    /// How much of what happens is done by hand, in parts of twelve.
    by_hand: usize,
}

/// Something that changed files.
#[derive(Debug, Clone)]
enum Event {
    Transaction(Transaction),
    ByHand { path: &'static str },
}

#[derive(Debug, Clone)]
struct Transaction {
    id: String,
    session: String,
    turn: Option<String>,
    paths: Vec<String>,
    undoes: bool,
    /// Lines that it wrote, and nobody else.
    wrote: Vec<String>,
}

/// A command whose refusal is followed, and the oldest event that it undoes.
#[derive(Debug)]
struct Tried {
    args: Vec<String>,
    turn: Option<&'static str>,
    oldest: usize,
}

impl Tried {
    /// The command with a flag, which has to stand before the paths.
    fn with(&self, flag: &str) -> Vec<String> {
        let mut args = self.args.clone();
        let at = if args[0] == "trash" { 2 } else { 1 };
        args.insert(at, flag.to_owned());
        args
    }
}

/// The end of a reader's way.
type End = Result<String, String>;

fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(|&word| word.to_owned()).collect()
}

impl History {
    fn new(seed: u64) -> Self {
        let text: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        let dir = place(&[("w/a", &text), ("w/b", &text), ("w/d/c", &text)]);
        let random = fastrand::Rng::with_seed(seed);
        let (events, sent) = (Vec::new(), Vec::new());
        let mut history = Self { dir, random, events, written: 0, sent, by_hand: 0 };
        history.by_hand = history.one(&[0, 0, 1, 4]);
        let most = history.one(&[8, 12, 12, 30]);
        for _ in 0..history.random.usize(4..most) {
            history.step();
        }
        history
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("w")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.usize(..of.len())]
    }

    fn token(&mut self, by: &str) -> String {
        self.written += 1;
        format!("{by} {}", self.written)
    }

    /// Runs the program in a turn.
    fn program(&self, turn: Option<&str>, args: &[String], input: &str) -> Run {
        let variable = turn.map(|turn| format!("APPLY_PATCH_TURN={turn}"));
        let program = env!("CARGO_BIN_EXE_apply-patch").to_owned();
        let all: Vec<String> = variable.into_iter().chain([program]).chain(args.to_vec()).collect();
        run_other("/usr/bin/env", &self.root(), self.dir.path(), &all, input.as_bytes())
    }

    /// Runs a line of advice in a shell.
    fn obey(&self, turn: Option<&str>, line: &str) -> Run {
        let turn = turn.map(|turn| format!("APPLY_PATCH_TURN={turn} ")).unwrap_or_default();
        let script = line.replacen("apply-patch", &format!("{turn}\"$0\""), 1);
        let script = ["-c".to_owned(), script, env!("CARGO_BIN_EXE_apply-patch").to_owned()];
        run_other("/bin/sh", &self.root(), self.dir.path(), &script, b"")
    }

    fn step(&mut self) {
        if self.random.usize(..12) < self.by_hand {
            return self.edit_by_hand();
        }
        match self.random.usize(..20) {
            0..=12 => self.patch(),
            13..=14 => {
                let mut args = words(&["undo"]);
                if self.random.bool() {
                    args.push("--carry".into());
                }
                self.change(&args, "");
            }
            15..=17 => {
                if let Some(id) = self.some_id() {
                    let mut args = vec!["undo".to_owned(), id];
                    if self.random.bool() {
                        args.push("--carry".into());
                    }
                    if self.random.usize(..3) == 0 {
                        args.extend(["--".to_owned(), self.one(&FILES).to_owned()]);
                    }
                    self.change(&args, "");
                }
            }
            18 => self.change(&words(&["redo"]), ""),
            _ => {
                let path = self.one(&FILES);
                self.change(&words(&["undo", "--", path]), "");
            }
        }
    }

    /// Runs a command that may change files, as one of those who work here.
    fn change(&mut self, args: &[String], input: &str) {
        let turn = self.one(&[None, None, Some("t1"), Some("t2")]);
        let is_tool = args.is_empty() && self.random.bool();
        if is_tool {
            let session = self.one(&["one", "two"]);
            let call = json!({ "patch": input }).to_string();
            let mut args = words(&["tool", "apply_patch", "--session", session, "--args", &call]);
            args.extend(turn.iter().flat_map(|turn| words(&["--turn", turn])));
            self.program(None, &args, "");
        } else {
            self.program(turn, args, input);
        }
        self.note();
    }

    /// Adds the new transactions to the events.
    fn note(&mut self) {
        let mut sent = std::mem::take(&mut self.sent);
        let log = self.program(None, &words(&["log", "--json"]), "").json().expect("JSON");
        let text = |value: &Value| value.as_str().map(str::to_owned);
        for entry in log["data"]["transactions"].as_array().expect("a list").iter().rev() {
            let id = text(&entry["id"]).expect("an id");
            if self.index_of(&id).is_none() {
                let files = entry["files"].as_array().expect("a list");
                let paths =
                    files.iter().flat_map(|file| [text(&file["path"]), text(&file["toPath"])]);
                self.events.push(Event::Transaction(Transaction {
                    id,
                    session: text(&entry["session"]).expect("a session"),
                    turn: text(&entry["turnId"]),
                    paths: paths.flatten().collect(),
                    undoes: entry["undoOf"].is_string(),
                    wrote: std::mem::take(&mut sent),
                }));
            }
        }
    }

    fn transactions(&self) -> impl DoubleEndedIterator<Item = (usize, &Transaction)> {
        self.events.iter().enumerate().filter_map(|(nth, event)| match event {
            Event::Transaction(transaction) => Some((nth, transaction)),
            Event::ByHand { .. } => None,
        })
    }

    fn index_of(&self, id: &str) -> Option<usize> {
        self.transactions().find(|(_, one)| one.id.ends_with(id)).map(|(nth, _)| nth)
    }

    fn some_id(&mut self) -> Option<String> {
        let ids: Vec<String> = self.transactions().map(|(_, one)| one.id.clone()).collect();
        (!ids.is_empty()).then(|| ids[self.random.usize(..ids.len())].clone())
    }

    fn lines(&self, path: &str) -> Option<Vec<String>> {
        let text = fs::read_to_string(self.at(path)).ok()?;
        Some(text.lines().map(str::to_owned).collect())
    }

    /// Applies a patch of one or two sections.
    fn patch(&mut self) {
        let mut sections = String::new();
        let first = self.one(&FILES);
        let mut paths = vec![first];
        if self.random.usize(..3) == 0 {
            paths.extend(FILES.iter().filter(|path| **path != first).take(1));
        }
        if self.random.usize(..8) == 0 && self.lines(first).is_some() {
            let mode = if self.random.bool() { ["644", "755"] } else { ["755", "644"] };
            let text = format!(
                "diff --git a/{first} b/{first}\nold mode 100{}\nnew mode 100{}\n",
                mode[0], mode[1]
            );
            return self.change(&[], &text);
        }
        for path in paths {
            sections += &self.section(path);
        }
        self.change(&[], &format!("*** Begin Patch\n{sections}*** End Patch\n"));
    }

    fn section(&mut self, path: &str) -> String {
        let token = self.token("agent");
        self.sent.push(token.clone());
        let Some(lines) = self.lines(path) else {
            let text: String = (2..=20).map(|line| format!("+{path} {line}\n")).collect();
            return format!("*** Add File: {path}\n+{token}\n{text}");
        };
        match self.random.usize(..10) {
            0 => format!("*** Delete File: {path}\n"),
            1 => {
                let to = self.one(&["m", "d/n"]);
                format!("*** Update File: {path}\n*** Move to: {to}\n")
            }
            _ => {
                let nth = self.one(&LINES).min(lines.len() - 1);
                format!("*** Update File: {path}\n@@\n-{}\n+{token}\n", lines[nth])
            }
        }
    }

    fn edit_by_hand(&mut self) {
        let path = self.one(&FILES);
        let file = self.at(path);
        match (self.lines(path), self.random.usize(..12)) {
            (None, _) => {
                fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
                fs::write(&file, self.token("hand") + "\n").expect("a file");
            }
            (_, 0) => fs::remove_file(&file).expect("it is there"),
            (_, 2) => {
                let to = self.at("moved");
                fs::rename(&file, to).expect("moved");
                // The folder may be empty now.
                let _ = fs::remove_dir(self.at("d"));
            }
            (_, 1) => {
                let mode = if self.random.bool() { 0o755 } else { 0o600 };
                fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("a mode");
            }
            (Some(mut lines), _) => {
                let nth = self.one(&LINES).min(lines.len() - 1);
                lines[nth] = self.token("hand");
                fs::write(&file, lines.join("\n") + "\n").expect("a file");
            }
        }
        self.events.push(Event::ByHand { path });
    }

    /// A command to try.
    fn tried(&mut self) -> Option<Tried> {
        let transactions: Vec<(usize, Transaction)> =
            self.transactions().map(|(nth, one)| (nth, one.clone())).collect();
        if transactions.is_empty() {
            return None;
        }
        let nth = self.random.usize(..transactions.len());
        let (mut oldest, one) = transactions[nth].clone();
        let first_of = |is: &dyn Fn(&Transaction) -> bool| {
            transactions.iter().find(|(_, one)| is(one)).map_or(0, |(nth, _)| *nth)
        };
        let args = match self.random.usize(..15) {
            0..=2 => vec!["undo".to_owned(), one.id],
            3 => {
                let path = one.paths[self.random.usize(..one.paths.len())].clone();
                vec!["undo".to_owned(), one.id, "--".to_owned(), path]
            }
            4..=6 => {
                let turn = one.turn.clone()?;
                oldest = first_of(&|other| other.turn == one.turn && other.session == one.session);
                words(&["undo", "--turn", &format!("{}/{turn}", one.session)])
            }
            7..=8 => {
                oldest = first_of(&|other| other.session == one.session);
                words(&["undo", "--session", &one.session])
            }
            9 => words(&["undo", "--since", &one.id]),
            10 => {
                let (_, last) = &transactions[self.random.usize(nth..transactions.len())];
                vec!["undo".to_owned(), format!("{}..{}", one.id, last.id)]
            }
            11 => vec!["redo".to_owned(), one.id],
            12 => words(&["redo"]),
            13 => words(&["trash", "restore", &format!("{}/0", one.id)]),
            _ => words(&["undo"]),
        };
        if args.len() == 1 || args[0] != "undo" {
            oldest = 0;
        }
        let turn = self.one(&[None, None, None, Some("t1")]);
        let mut tried = Tried { args, turn, oldest };
        if tried.args[0] != "trash" && self.random.usize(..5) == 0 {
            tried.args = tried.with("--carry");
        }
        Some(tried)
    }

    fn was_edited(&self, path: &str, since: usize) -> bool {
        let mut later = self.events.iter().skip(since);
        later.any(|event| matches!(event, Event::ByHand { path: edited } if *edited == path))
    }

    /// Whether a file was edited by hand that is undone, or that another one to be undone changed.
    fn is_in_the_way_by_hand(&self, tried: &Tried) -> bool {
        let later = || self.transactions().filter(|(nth, _)| *nth >= tried.oldest);
        let is_named = tried.args.iter().any(|arg| arg != "undo" && !arg.starts_with("--"));
        let is_named = is_named && tried.args[0] == "undo";
        let mut paths: BTreeSet<&String> = later()
            .filter(|(_, one)| !is_named || self.is_of(tried, one))
            .flat_map(|(_, one)| &one.paths)
            .collect();
        loop {
            let count = paths.len();
            let others =
                later().filter(|(_, one)| one.paths.iter().any(|path| paths.contains(path)));
            let more: Vec<&String> = others.flat_map(|(_, one)| &one.paths).collect();
            paths.extend(more);
            if paths.len() == count {
                return paths.iter().any(|path| self.was_edited(path, tried.oldest));
            }
        }
    }

    /// The lines of all files.
    fn all_lines(&self) -> BTreeSet<String> {
        let paths = FILES.iter().chain(&["m", "d/n", "moved", "restored"]);
        paths.filter_map(|path| self.lines(path)).flatten().collect()
    }

    /// Whether a success did what was wanted, and no harm.
    fn is_done(&self, tried: &Tried, before: &BTreeSet<String>) -> Result<(), String> {
        let after = self.all_lines();
        let lines_of = |one: &Transaction| -> BTreeSet<String> {
            one.paths.iter().filter_map(|path| self.lines(path)).flatten().collect()
        };
        let mut by_hand = before.iter().filter(|line| line.starts_with("hand"));
        let lost = by_hand.find(|line| !after.contains(*line));
        let undone = || self.transactions().filter(|(_, one)| self.is_of(tried, one));
        // What comes back may have replaced it before.
        let brings_back = tried.args[0] == "redo" || undone().any(|(_, one)| one.undoes);
        if let Some(lost) = lost.filter(|_| !brings_back) {
            return Err(format!("an edit by hand is lost: {lost}"));
        }
        if tried.args.iter().any(|arg| arg == "--") {
            return Ok(());
        }
        // A file that something else has moved away since counts as gone.
        for (_, one) in undone() {
            let now = lines_of(one);
            if let Some(left) = one.wrote.iter().find(|line| now.contains(*line)) {
                return Err(format!("it is not undone: {left}"));
            }
        }
        Ok(())
    }

    /// Whether what is said of the files is true.
    fn is_true(&self, tried: &Tried, error: &Value) -> Result<(), String> {
        let message = error["message"].as_str().unwrap_or_default();
        for drift in error["details"]["drifted"].as_array().into_iter().flatten() {
            let path = drift["path"].as_str().expect("a path");
            let said = message.split(", ").find(|said| said.contains(&format!("{path} (")));
            let said = said.ok_or("a file is not named")?;
            if let Some(by) = drift["by"].as_str() {
                let nth = self.index_of(by).ok_or("an unknown transaction is named")?;
                let Event::Transaction(other) = &self.events[nth] else { unreachable!() };
                if !other.paths.iter().any(|other| other == path) {
                    return Err(format!("{by} did not touch {path}"));
                }
                if self.is_of(tried, other) {
                    return Err("what is undone is named as what is in the way".into());
                }
                if !said.contains(&by[by.len() - 8..]) {
                    return Err("the message names another one".into());
                }
            } else if !self.was_edited(path, tried.oldest) {
                return Err(format!("nobody edited by hand: {said}"));
            }
        }
        Ok(())
    }

    /// Whether the text for people says the same.
    fn is_told(&self, tried: &Tried, error: &Value, hints: &[Value]) -> Result<(), String> {
        let told = self.program(tried.turn, &tried.with("-n"), "").stderr;
        let lines = |text: &Value| text.as_str().unwrap_or_default().to_owned();
        let commands =
            hints.iter().flat_map(|hint| hint["commands"].as_array().into_iter().flatten());
        let flags = hints.iter().flat_map(|hint| [&hint["command"], &hint["flag"]]);
        for said in commands.chain(flags).map(lines) {
            if is_about_files(error) && !told.contains(&said) && tried.args[0] != "trash" {
                return Err(format!("the text leaves out: {said}: {told}"));
            }
        }
        Ok(())
    }

    fn is_of(&self, tried: &Tried, one: &Transaction) -> bool {
        let args = tried.args.iter().map(String::as_str).filter(|arg| *arg != "--carry");
        match args.collect::<Vec<_>>()[..] {
            ["undo", "--turn", name, ..] => {
                let turn = one.turn.as_deref().unwrap_or_default();
                name == format!("{}/{turn}", one.session)
            }
            ["undo", "--session", name, ..] => one.session == name,
            ["undo", "--since", id] => *one.id >= *id,
            ["undo", range] if range.contains("..") => {
                let (first, last) = range.split_once("..").expect("it is there");
                (first..=last).contains(&&*one.id)
            }
            ["undo", id, ..] => one.id == id,
            _ => false,
        }
    }

    /// Follows what a refusal advises. Returns how it ended, or why it is a dead end.
    fn follow(&mut self, tried: &Tried, counts: &mut Counts) -> Option<End> {
        let mut seen = Vec::new();
        let before = self.all_lines();
        for step in 0..PATIENCE {
            let run = self.program(tried.turn, &tried.with("--json"), "");
            if run.code == 0 {
                let done = self.is_done(tried, &before).map(|()| "undone".to_owned());
                return (step > 0 || done.is_err()).then_some(done);
            }
            let error = run.json().expect("JSON")["error"].take();
            if step == 0 {
                counts.refusals += 1;
            }
            let whole = format!("{}: {}", error["message"], error["hints"]);
            let fail = |why: String| Some(Err(format!("step {step}: {why}: {whole}")));
            if let Err(why) = self.is_true(tried, &error) {
                return fail(why);
            }
            if seen.contains(&whole) {
                return fail("the advice runs in a circle".into());
            }
            seen.push(whole.clone());
            let hints = error["hints"].as_array().cloned().unwrap_or_default();
            if step == 0
                && let Err(why) = self.is_told(tried, &error, &hints)
            {
                return fail(why);
            }
            let ways: Vec<&Value> =
                hints.iter().filter(|hint| hint["hint"] != "use_command").collect();
            if ways.is_empty() {
                return self.no_way(tried, &error, &hints).map_or_else(fail, |end| Some(Ok(end)));
            }
            counts.followed += 1;
            let way = ways[self.random.usize(..ways.len())];
            match self.take(tried, way) {
                Err(why) => return fail(why),
                Ok(true) if way["hint"] == "run_instead" => {
                    return Some(Ok("another undone".into()));
                }
                Ok(true) => {
                    let done = self.is_done(tried, &before);
                    return done
                        .map_or_else(fail, |()| Some(Ok(format!("undone by {}", way["hint"]))));
                }
                Ok(false) => self.note(),
            }
        }
        Some(Err(format!("more than {PATIENCE} steps: {}", seen.join("\n"))))
    }

    /// Does what a hint says. Returns whether that is the end of the way.
    fn take(&self, tried: &Tried, hint: &Value) -> Result<bool, String> {
        let failed = |what: &str, run: &Run| Err(format!("{what}: {}", run.stderr));
        match hint["hint"].as_str().unwrap_or_default() {
            "use_flag" => {
                let flag = hint["flag"].as_str().expect("a flag");
                let run = self.program(tried.turn, &tried.with(flag), "");
                if run.code == 0 { Ok(true) } else { failed(flag, &run) }
            }
            "choose_path" => {
                let args = [&tried.args[..], &words(&["restored"])].concat();
                let run = self.program(tried.turn, &args, "");
                if run.code == 0 { Ok(true) } else { failed("another path", &run) }
            }
            kind @ ("run_first" | "run_instead") => {
                let command = hint["command"].as_str().expect("a command");
                let run = self.obey(tried.turn, command);
                if run.code != 0 {
                    return failed(command, &run);
                }
                Ok(kind == "run_instead")
            }
            "run_in_order" => {
                for command in hint["commands"].as_array().expect("commands") {
                    let command = command.as_str().expect("a command");
                    let run = self.obey(tried.turn, command);
                    if run.code != 0 {
                        return failed(command, &run);
                    }
                }
                Ok(true)
            }
            kind => Err(format!("nobody can follow {kind}")),
        }
    }

    /// There is no way, says the program: is that so, and is it said why?
    fn no_way(&self, tried: &Tried, error: &Value, hints: &[Value]) -> End {
        for hint in hints {
            let command = hint["command"].as_str().expect("a command");
            let run = self.obey(tried.turn, command);
            if run.code != 0 || run.stdout.is_empty() && is_about_files(error) {
                return Err(format!("{command} shows nothing: {}", run.stderr));
            }
        }
        // Whatever only transactions did can be undone, one after the other.
        if is_about_files(error) && !self.is_in_the_way_by_hand(tried) {
            return Err("no way is named, and there is one, as nobody edited by hand".into());
        }
        if is_about_files(error) && hints.is_empty() {
            return Err("nothing is shown".into());
        }
        Ok(format!("no way: {}", error["details"]["reason"].as_str().unwrap_or("usage")))
    }
}

/// Whether files are not as they would have to be; otherwise the command is not one to try here.
fn is_about_files(error: &Value) -> bool {
    let reason = error["details"]["reason"].as_str().unwrap_or_default();
    !["no_transaction", "no_such_slot"].contains(&reason) && error["kind"] != "command_failed"
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    let done = Command::new("cp").arg("-a").args([from, to]).status().expect("cp");
    assert!(done.success());
}

fn counted(seeds: std::ops::Range<u64>) -> Counts {
    let is_told = seeds.end - seeds.start == 1;
    let mut counts = Counts::default();
    for seed in seeds {
        let mut history = History::new(seed);
        let (root, kept) = (history.root(), history.dir.path().join("kept"));
        copy(&root, &kept);
        let log = history.program(None, &words(&["log", "--json"]), "").stdout;
        for _ in 0..TRIED {
            let Some(tried) = history.tried() else { continue };
            let happened = history.events.len();
            if let Some(end) = history.follow(&tried, &mut counts) {
                let command = tried.args.join(" ");
                match end {
                    Ok(end) => *counts.by_end.entry(end).or_default() += 1,
                    Err(why) => {
                        let kind = why.split(": ").nth(1).unwrap_or_default();
                        let kind = kind.split(" undo ").next().unwrap_or_default().to_owned();
                        *counts.by_kind.entry(kind).or_default() += 1;
                        counts.dead_ends.push(format!("seed {seed}: {command}: {why}"));
                        if is_told {
                            eprintln!("{log}\n{:#?}\n{tried:?}\n", history.events);
                        }
                    }
                }
            }
            history.events.truncate(happened);
            copy(&kept, &root);
        }
    }
    counts
}

#[test]
fn advice_can_be_obeyed_to_the_end() {
    let seeds = std::env::var("ADVICE_SEEDS").ok().map(|text| {
        let (first, last) = text.split_once("..").expect("a range, as 0..1000");
        first.parse().expect("a number")..last.parse().expect("a number")
    });
    let counts = counted(seeds.clone().unwrap_or(SEEDS));
    if seeds.is_some() {
        eprintln!(
            "{} refusals, {} steps followed, {:#?}; {} dead ends, {:#?}",
            counts.refusals,
            counts.followed,
            counts.by_end,
            counts.dead_ends.len(),
            counts.by_kind
        );
    }
    let dead = counts.dead_ends.len();
    assert_eq!(dead, 0, "{} refusals: {:#?}", counts.refusals, counts.dead_ends);
    assert!(counts.refusals >= 10, "{counts:?}");
}

/// A file of nine lines.
fn nine() -> String {
    (1..10).map(|line| format!("{line}\n")).collect()
}

/// What happened, and a command that is refused then. A step is somebody (a turn, a session `@one`,
/// `hand`, or `-`) and the lines that they replaced, or a command; `{N}` is the transaction of the
/// N-th step.
struct Case {
    steps: &'static [&'static str],
    command: &'static str,
    /// A part of the message.
    said: &'static str,
    /// The hints, but what to see.
    hints: &'static str,
    /// The lines that are replaced once the first hint is followed.
    left: &'static str,
}

const CASES: &[Case] = &[
    // A change of the turn lies on another one, and that on a change of the turn.
    Case {
        steps: &["t1 a=1>x", "- a=x>y", "t1 a=y>z"],
        command: "undo --turn t1",
        said: "a (transaction {1} changed it in between)",
        hints: "undo {0}..{2}",
        left: "",
    },
    Case {
        steps: &["t1 a=1>x", "@one a=x>y", "@one b=9>z", "t1 a=y>w"],
        command: "undo --turn t1",
        said: "a (transaction {1} of session one changed it in between)",
        hints: "undo {3}, undo {0}..{1}",
        left: "b=9>z",
    },
    // The newest in the way is named first, also where it is in the way of another one.
    Case {
        steps: &["- a=1>x", "t2 a=x>y b=1>y", "@one b=y>z"],
        command: "undo {0}",
        said: "a (transaction {1} of turn t2 changed it)",
        hints: "first undo {2}",
        left: "",
    },
    // Where that cannot be undone, nothing is advised that leads nowhere.
    Case {
        steps: &["- a=1>x", "- a=x>y b=1>y", "hand b=y>z"],
        command: "undo {0}",
        said: "a (transaction {1} changed it)",
        hints: "",
        left: "a=1>y b=1>z",
    },
    // What is undone already needs no other undo.
    Case {
        steps: &["- a=1>x", "- undo {0}", "- a=1>y"],
        command: "undo {0}",
        said: "there is nothing to undo: the changes of transaction {0} are gone already",
        hints: "",
        left: "a=1>y",
    },
    // An undo that was carried is what changed the file, and not an editor.
    Case {
        steps: &["- a=1>x", "- a=9>y", "- undo {0} --carry"],
        command: "undo {1}",
        said: "a (transaction {2} changed it)",
        hints: "--carry; undo {0}..{2}",
        left: "",
    },
    // The undo that is made first would be the last one that is undone.
    Case {
        steps: &["- a=1>x", "- a=9>y", "- undo {0} --carry", "- b=9>z"],
        command: "undo -- a",
        said: "a (transaction {2} changed it)",
        hints: "--carry; undo {0}..{2}",
        left: "b=9>z",
    },
    // It would be one of the session's own.
    Case {
        steps: &["- a=1>x", "@one a=x>y"],
        command: "undo --session cli",
        said: "a (transaction {1} of session one changed it)",
        hints: "undo {0}..{1}",
        left: "",
    },
    // A redo has the option that is advised.
    Case {
        steps: &["- a=1>x", "- undo {0}", "hand a=9>y"],
        command: "redo",
        said: "a (edited since)",
        hints: "--carry",
        left: "a=1>x a=9>y",
    },
    // What was undone by itself is left out of an undo of several.
    Case {
        steps: &["t1 a=1>x", "t1 a=x>y b=1>y", "- undo {1} -- a"],
        command: "undo --turn t1",
        said: "",
        hints: "",
        left: "",
    },
    // What something else took back before the next change is no gap.
    Case {
        steps: &["t1 a=1>x", "hand a=x>1", "t1 a=1>y"],
        command: "undo --turn t1",
        said: "",
        hints: "",
        left: "",
    },
    // The redo of an undo by others is undone: that undo counts again.
    Case {
        steps: &["t1 a=1>x", "- undo {0}", "t1 redo {0}"],
        command: "undo --turn t1",
        said: "",
        hints: "",
        left: "",
    },
];

/// The lines that are replaced: `PATH=OLD>NEW`.
fn replaced(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    text.split(' ').filter(|one| !one.is_empty()).map(|one| {
        let (path, lines) = one.split_once('=').expect("PATH=");
        let (old, new) = lines.split_once('>').expect("OLD>NEW");
        (path, old, new)
    })
}

/// Does what a case begins with.
fn prepared(case: &Case) -> (History, Vec<String>) {
    let dir = place(&[("w/a", &nine()), ("w/b", &nine())]);
    let random = fastrand::Rng::with_seed(0);
    let (events, sent) = (Vec::new(), Vec::new());
    let mut history = History { dir, random, events, written: 0, sent, by_hand: 0 };
    let mut ids: Vec<String> = Vec::new();
    for step in case.steps {
        let (who, done) = step.split_once(' ').expect("who, and what");
        let done = with_ids(done, &ids);
        let turn = Some(who).filter(|who| !["-", "hand"].contains(who) && !who.starts_with('@'));
        let run = if who == "hand" {
            for (path, old, new) in replaced(&done) {
                let lines = history.lines(path).expect("the file");
                let lines = lines.iter().map(|line| if line == old { new } else { line });
                let text: String = lines.map(|line| format!("{line}\n")).collect();
                fs::write(history.at(path), text).expect("written");
            }
            ids.push(String::new());
            continue;
        } else if done.contains('=') {
            let sections: String = replaced(&done)
                .map(|(path, old, new)| format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n"))
                .collect();
            let patch = format!("*** Begin Patch\n{sections}*** End Patch\n");
            if let Some(session) = who.strip_prefix('@') {
                let call = json!({ "patch": patch }).to_string();
                let tool = ["tool", "apply_patch", "--session", session, "--args", &call];
                history.program(None, &words(&tool), "")
            } else {
                history.program(turn, &[], &patch)
            }
        } else {
            history.program(turn, &words(&done.split(' ').collect::<Vec<_>>()), "")
        };
        assert_eq!(run.code, 0, "{step}: {run:?}");
        history.note();
        let (_, newest) = history.transactions().next_back().expect("one");
        ids.push(newest.id[newest.id.len() - 8..].to_owned());
    }
    (history, ids)
}

fn with_ids(text: &str, ids: &[String]) -> String {
    let ids = ids.iter().enumerate();
    ids.fold(text.to_owned(), |text, (nth, id)| text.replace(&format!("{{{nth}}}"), id))
}

/// The hints of an error as a case writes them.
fn brief(error: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().replace("apply-patch ", "");
    let hints = error["hints"].as_array().into_iter().flatten();
    let brief = hints.filter_map(|hint| match hint["hint"].as_str()? {
        "use_flag" => Some(text(&hint["flag"])),
        "run_first" => Some(format!("first {}", text(&hint["command"]))),
        "run_in_order" => {
            let commands = hint["commands"].as_array()?.iter().map(text);
            Some(commands.collect::<Vec<_>>().join(", "))
        }
        _ => None,
    });
    brief.collect::<Vec<_>>().join("; ")
}

#[test]
fn what_is_in_the_way_is_named_and_cleared() {
    for case in CASES {
        let (history, ids) = prepared(case);
        let args = with_ids(case.command, &ids).split(' ').map(str::to_owned).collect();
        let tried = Tried { args, turn: None, oldest: 0 };
        // Each advice leads on, to an end.
        for step in 0..4 {
            let run = history.program(None, &tried.with("--json"), "");
            let answer = run.json().expect("JSON");
            if step == 0 {
                let error = &answer["error"];
                let message = error["message"].as_str().unwrap_or_default();
                assert!(message.contains(&with_ids(case.said, &ids)), "{:?}: {error}", case.steps);
                assert_eq!(brief(error), with_ids(case.hints, &ids), "{:?}: {error}", case.steps);
                assert_eq!(run.code == 0, case.said.is_empty(), "{:?}: {answer}", case.steps);
            }
            let hints = answer["error"]["hints"].as_array();
            let way =
                hints.and_then(|hints| hints.first()).filter(|it| it["hint"] != "use_command");
            let Some(way) = way else { break };
            if history.take(&tried, way).unwrap_or_else(|why| panic!("{:?}: {why}", case.steps)) {
                break;
            }
        }
        for path in ["a", "b"] {
            let mut wanted = nine();
            for (_, old, new) in replaced(case.left).filter(|(file, ..)| *file == path) {
                wanted = wanted.replace(&format!("{old}\n"), &format!("{new}\n"));
            }
            let now = fs::read_to_string(history.at(path)).expect("the file");
            assert_eq!(now, wanted, "{path}: {:?}", case.steps);
        }
    }
}
