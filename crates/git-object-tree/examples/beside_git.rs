//! Applies the same changes to the same repository as git, and prints the cost of both:
//!
//! ```console
//! $ cargo run --release -p git-object-tree --example beside_git -- 10000 50
//! ```
//!
//! The arguments are the number of files in the repository and the number of changed files. git
//! runs `apply --cached`, `write-tree`, `commit-tree` and `update-ref`, with an existing index.
//! This crate opens the repository, reads the files, writes the changed ones and moves the branch,
//! once as a program for one change and once as a program that goes on. System calls are counted
//! with strace, if present, instructions with valgrind.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for the terminal"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use git_object_tree::{
    BranchMove, EntryKind, NewCommit, OpenOptions, Repository, Signature, Time, TreeChange,
};

const RUNS: usize = 11;

fn path(at: usize) -> String {
    format!("src/d{:02}/e{}/file{at}.txt", at % 50, at / 50 % 10)
}

/// Sixty lines that have little to do with those of other files.
fn text(at: usize) -> String {
    const WORDS: [&str; 8] =
        ["let", "value", "= ", "return(", "x);", "if", "some_function", "&mut"];
    let mut seed = at as u64 + 1;
    (0..60 * 8).fold(String::new(), |mut text, word| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = seed >> 40;
        write!(text, "{}{}", WORDS[number as usize % 8], number / 8 % 1000).unwrap();
        text + if word % 8 == 7 { "\n" } else { " " }
    })
}

/// Appends a line to so many files, spread over the tree, and moves `main`.
fn change(repository: &Repository, files: usize, changes: usize, run: usize) {
    let tip = repository.resolve("main").unwrap();
    let tree = repository.snapshot(tip.tree);
    let new: Vec<(String, Vec<u8>)> = (0..changes)
        .map(|at| path(at * files / changes))
        .map(|path| {
            let entry = tree.entry(&path).unwrap().unwrap();
            let bytes =
                [&*tree.bytes(entry.id, 1 << 20).unwrap(), format!("run {run}\n").as_bytes()]
                    .concat();
            (path, bytes)
        })
        .collect();
    let changes =
        new.iter().map(|(path, bytes)| (path, TreeChange::Write(EntryKind::File, &bytes[..])));
    let tree = repository.write_tree(tip.tree, changes).unwrap();
    let me = Signature::parse("A U Thor <a@example.com>", Time::now()).unwrap();
    let parents = [tip.commit];
    let commit =
        NewCommit { tree, parents: &parents, author: &me, committer: &me, message: "a change" };
    let to = repository.write_commit(&commit).unwrap();
    let from = Some(tip.commit);
    let message = "a change";
    repository
        .move_branch(&BranchMove {
            branch: "main",
            from,
            to,
            by: &me,
            message,
            allow_checked_out: false,
        })
        .unwrap();
}

fn open(at: &Path) -> Repository {
    Repository::open(at, &OpenOptions::default()).unwrap()
}

fn git(at: &Path, args: &[&str], input: &[u8]) -> String {
    let mut child = Command::new("git")
        .current_dir(at)
        .args(["-c", "user.name=A U Thor", "-c", "user.email=a@example.com"])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {args:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The same change as a diff, for git.
fn diff(files: usize, changes: usize) -> String {
    let mut diff = String::new();
    for at in (0..changes).map(|at| at * files / changes) {
        let path = path(at);
        let text = text(at);
        let last: Vec<&str> = text.lines().skip(57).collect();
        writeln!(
            diff,
            "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -58,3 +58,4 @@"
        )
        .unwrap();
        last.iter().for_each(|line| writeln!(diff, " {line}").unwrap());
        writeln!(diff, "+run 0").unwrap();
    }
    diff
}

fn repository(at: &Path, files: usize) {
    std::fs::create_dir_all(at).unwrap();
    git(at, &["init", "-q", "--bare", "-b", "main"], b"");
    let mut stream =
        "commit refs/heads/main\ncommitter A U Thor <a@example.com> 1700000000 +0000\ndata 0\n"
            .to_owned();
    for at in 0..files {
        let text = text(at);
        write!(stream, "M 644 inline {}\ndata {}\n{text}\n", path(at), text.len()).unwrap();
    }
    git(at, &["fast-import", "--quiet"], stream.as_bytes());
    git(at, &["read-tree", "main"], b"");
}

const PIPELINE: &str = "git apply --cached $PATCH && \
    git update-ref refs/heads/main $(git commit-tree -p main -m change $(git write-tree))";

fn shell(at: &Path, patch: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", PIPELINE])
        .current_dir(at)
        .env("PATCH", patch)
        .env("GIT_AUTHOR_NAME", "A U Thor");
    command.env("GIT_AUTHOR_EMAIL", "a@example.com").env("GIT_COMMITTER_NAME", "A U Thor");
    command.env("GIT_COMMITTER_EMAIL", "a@example.com");
    command
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Runs a command beneath a tool, and returns the number before or after a word in the tool's
/// output.
fn counted(tool: &[&str], command: &Command, find: impl Fn(&str) -> Option<u64>) -> String {
    let mut traced = Command::new(tool[0]);
    traced.args(&tool[1..]).arg(command.get_program()).args(command.get_args());
    if let Some(at) = command.get_current_dir() {
        traced.current_dir(at);
    }
    traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let Ok(output) = traced.output() else { return "?".into() };
    let said = String::from_utf8_lossy(&output.stderr);
    let sum: u64 = said.lines().filter_map(find).sum();
    if sum == 0 { "?".into() } else { sum.to_string() }
}

/// The number of system calls of a command.
fn calls(command: &Command) -> String {
    counted(&["strace", "-f", "-c", "-q"], command, |line| {
        let mut words = line.split_whitespace();
        let total = line.ends_with("total");
        words.nth(3).filter(|_| total)?.parse().ok()
    })
}

/// The number of instructions of a command.
fn instructions(command: &Command) -> String {
    const CALLGRIND: [&str; 4] =
        ["valgrind", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"];
    counted(&CALLGRIND, command, |line| line.split_once("Collected : ")?.1.trim().parse().ok())
}

/// A repository to copy, and a change of some of its files.
struct Bench {
    dir: tempfile::TempDir,
    files: usize,
    changes: usize,
}

impl Bench {
    fn new(files: usize, changes: usize) -> Self {
        let this = Self { dir: tempfile::tempdir().unwrap(), files, changes };
        std::fs::write(this.patch(), diff(files, changes)).unwrap();
        repository(&this.dir.path().join("made"), files);
        this
    }

    fn patch(&self) -> PathBuf {
        self.dir.path().join("patch")
    }

    /// Makes a new copy of the repository.
    fn fresh(&self) -> PathBuf {
        let made = self.dir.path().join("made");
        let at = self.dir.path().join("copy");
        let _ = std::fs::remove_dir_all(&at);
        assert!(Command::new("cp").arg("-r").arg(&made).arg(&at).status().unwrap().success());
        // So that neither program's sync has to write the copy as well.
        assert!(Command::new("sync").status().unwrap().success());
        at
    }

    /// The command of git for the change.
    fn theirs(&self, at: &Path) -> Command {
        shell(at, &self.patch())
    }

    /// The command of this crate for the change.
    fn ours(&self, at: &Path) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("once").arg(at).args([self.files.to_string(), self.changes.to_string()]);
        command
    }
}

fn row(name: &str, time: Duration, of: Duration, calls: &str, instructions: &str) {
    let ratio = time.as_secs_f64() / of.as_secs_f64();
    println!(
        "{name:28} {:8.2} ms  {ratio:8.3}  {calls:>12}  {instructions:>12}",
        time.as_secs_f64() * 1e3
    );
}

/// The argument at a place, as a number.
fn number(arguments: &[String], at: usize, default: usize) -> usize {
    arguments.get(at).map_or(default, |text| text.parse().unwrap())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "once") {
        let files = number(&arguments, 2, 0);
        let changes = number(&arguments, 3, 0);
        return change(&open(arguments[1].as_ref()), files, changes, 0);
    }
    let files = number(&arguments, 0, 10_000);
    let changes = number(&arguments, 1, 50);
    let bench = Bench::new(files, changes);
    let mut theirs = Vec::new();
    let mut once = Vec::new();
    for _ in 0..RUNS {
        let at = bench.fresh();
        theirs.push(timed(|| assert!(bench.theirs(&at).status().unwrap().success())));
        let wanted = git(&at, &["rev-parse", "main^{tree}"], b"");
        let at = bench.fresh();
        once.push(timed(|| assert!(bench.ours(&at).status().unwrap().success())));
        assert_eq!(git(&at, &["rev-parse", "main^{tree}"], b""), wanted);
    }
    let at = bench.fresh();
    let batch = open(&at);
    let many = (0..10 * RUNS).map(|run| timed(|| change(&batch, files, changes, run))).collect();
    git(&at, &["fsck", "--strict", "--no-progress", "--no-dangling"], b"");
    let theirs = median(theirs);
    println!(
        "{files} files, {changes} changes          time  of git's  system calls  instructions"
    );
    let made = calls(&bench.theirs(&bench.fresh()));
    let ran = instructions(&bench.theirs(&bench.fresh()));
    row("git", theirs, theirs, &made, &ran);
    let made = calls(&bench.ours(&bench.fresh()));
    let ran = instructions(&bench.ours(&bench.fresh()));
    row("git-object-tree, one run", median(once), theirs, &made, &ran);
    row("git-object-tree, one of many", median(many), theirs, "", "");
}
