//! `apply-patch git`: what it makes is what git would make, and nobody's commit is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use patch_engine::commit::{KeyPlace, StatePlace, Workspace};
use patch_session::audit::{Audit, Event, verify};
use serde_json::{Value, json};

use crate::program;
use crate::program::clean;
use testutils::share::whole;
use testutils::temp::temp;

/// A bare repository whose branch `main` has one commit.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let output = clean("git").args(args).current_dir(dir).output().expect("git");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

impl Bench {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = temp();
        let work = dir.path().join("work");
        fs::create_dir_all(&work).expect("a folder");
        git(&work, &["init", "-q", "-b", "main"]);
        for (path, text) in files {
            let path = work.join(path);
            fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        for (name, value) in [("user.name", "A"), ("user.email", "a@example.com")] {
            git(&work, &["config", name, value]);
        }
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-q", "-m", "first"]);
        git(dir.path(), &["clone", "-q", "--bare", "work", "bare.git"]);
        Self { dir }
    }

    pub(crate) fn bare(&self) -> PathBuf {
        self.dir.path().join("bare.git")
    }

    fn command(&self, args: &[&str]) -> Command {
        self.command_in(&self.bare(), args)
    }

    fn command_in(&self, git_dir: &Path, args: &[&str]) -> Command {
        let mut command = clean(env!("CARGO_BIN_EXE_apply-patch"));
        command.args(["git", "--git-dir"]).arg(git_dir).args(args).current_dir(self.dir.path());
        command.env("HOME", self.dir.path()).env("XDG_STATE_HOME", self.dir.path().join("state"));
        // As git's manual has it, for no configuration of the user.
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), "M")
                .env(format!("GIT_{role}_EMAIL"), "m@example.com");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str], input: &str) -> program::Run {
        let child = self.command(args).spawn().expect("the program");
        ended(child, input)
    }

    pub(crate) fn is_sound(&self) {
        assert_eq!(git(&self.bare(), &["fsck", "--strict", "--no-dangling"]), "");
    }
}

fn ended(mut child: Child, input: &str) -> program::Run {
    // It may end before it has read all.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    program::Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

const FILES: &[(&str, &str)] =
    &[("a.txt", "one\ntwo\nthree\n"), ("d/b.txt", "b\n"), ("d/gone", "g\n")];

const PATCH: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** Add File: \
                     d/new\n+n\n*** Delete File: d/gone\n\
    *** Update File: d/b.txt\n*** Move to: d/moved.txt\n*** End Patch\n";

#[test]
fn a_patch_becomes_the_commit_that_git_would_make() {
    let bench = Bench::new(FILES);
    let first = git(&bench.bare(), &["rev-parse", "main"]);
    let shown = bench.run(&["--onto", "main", "-n"], PATCH);
    assert_eq!(git(&bench.bare(), &["rev-parse", "main"]), first, "-n writes nothing");
    let run =
        bench.run(&["--onto", "main", "-m", "a message", "--author", "B <b@example.com>"], PATCH);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(&*run.stderr, "", "{run:?}");
    assert_eq!(git(&bench.bare(), &["rev-parse", "main"]), run.stdout);
    bench.is_sound();
    let log = git(&bench.bare(), &["log", "-1", "--format=%an %ae %cn %P %B", "main"]);
    assert_eq!(log, format!("B b@example.com M {} a message\n\n", first.trim()));
    // git makes the same tree of the diff that was shown.
    let work = bench.dir.path().join("work");
    fs::write(work.join("../shown.diff"), shown.stdout).expect("a file");
    git(&work, &["apply", "--index", "../shown.diff"]);
    assert_eq!(git(&work, &["write-tree"]), git(&bench.bare(), &["rev-parse", "main^{tree}"]));
}

#[test]
fn a_binary_diff_becomes_the_tree_that_git_would_make() {
    let bench = Bench::new(FILES);
    let work = bench.dir.path().join("work");
    let bytes: Vec<u8> = (0..2000_u32).map(|at| ((at * at) >> 3) as u8).collect();
    for name in ["changed", "moved", "gone", "mode"] {
        fs::write(work.join(name), [name.as_bytes(), &bytes].concat()).expect("a file");
    }
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "-q", "-m", "second"]);
    git(&work, &["push", "-q", "../bare.git", "main"]);
    for (from, to) in [("changed", "changed"), ("moved", "d/away"), ("mode", "mode")] {
        let mut bytes = fs::read(work.join(from)).expect("it is there");
        bytes.splice(100..110, *b"other bytes\0");
        fs::remove_file(work.join(from)).expect("it is there");
        fs::write(work.join(to), bytes).expect("a file");
    }
    fs::remove_file(work.join("gone")).expect("it is there");
    fs::write(work.join("made"), &bytes[..300]).expect("a file");
    fs::write(work.join("a.txt"), "one\n2\nthree\n").expect("a file");
    git(&work, &["add", "-A"]);
    git(&work, &["update-index", "--chmod=+x", "mode"]);
    let diff = git(&work, &["diff", "--cached", "--binary", "-M"]);
    for words in ["literal ", "delta ", "rename to d/away", "new mode 100755"] {
        assert!(diff.contains(words), "{words}: {diff}");
    }
    git(&work, &["reset", "-q", "--hard"]);
    fs::write(work.join("../a.diff"), &diff).expect("a file");
    git(&work, &["apply", "--index", "../a.diff"]);
    let tree = git(&work, &["write-tree"]);
    let run = bench.run(&["--onto", "main", "-m", "there"], &diff);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(git(&bench.bare(), &["rev-parse", "main^{tree}"]), tree);
    let run = bench.run(&["--onto", "main", "-m", "back", "-R"], &diff);
    assert_eq!(run.code, 0, "{run:?}");
    let before = git(&bench.bare(), &["rev-parse", "main~2^{tree}"]);
    assert_eq!(git(&bench.bare(), &["rev-parse", "main^{tree}"]), before);
    bench.is_sound();
}

#[test]
fn nothing_is_moved_but_the_branch_that_is_where_it_was() {
    let bench = Bench::new(FILES);
    let first = git(&bench.bare(), &["rev-parse", "main"]).trim().to_owned();
    // A commit alone.
    let run = bench.run(&["--onto", &first], PATCH);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(git(&bench.bare(), &["rev-parse", "main"]).trim(), &*first, "{run:?}");
    assert!(run.stderr.contains("no branch was moved"), "{run:?}");
    // A new branch.
    let run = bench.run(&["--onto", &first, "--branch", "fix"], PATCH);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(git(&bench.bare(), &["rev-parse", "fix"]), run.stdout.clone(), "{run:?}");
    // One that is elsewhere already.
    let second = "*** Begin Patch\n*** Add File: other\n+o\n*** End Patch\n";
    let run = bench.run(&["--onto", &first, "--branch", "fix"], second);
    assert_eq!(run.code, 4, "{run:?}");
    let run = bench.run(&["--onto", &first, "--branch", "fix", "--carry"], second);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(git(&bench.bare(), &["rev-parse", "fix"]), run.stdout.clone(), "{run:?}");
    assert_eq!(git(&bench.bare(), &["rev-list", "--count", "fix"]), "3\n");
    // One that is checked out.
    let work = bench.dir.path().join("work").display().to_string();
    let run = bench.run(&["--git-dir", &work, "--onto", "main"], second);
    assert_eq!(run.code, 2, "--git-dir is there twice: {run:?}");
    bench.is_sound();
}

/// `-n` is refused what the commit is refused.
#[test]
fn a_preview_of_a_commit_is_refused_as_the_commit_is() {
    let bench = Bench::new(FILES);
    let work = bench.dir.path().join("work");
    let first = git(&work, &["rev-parse", "main"]).trim().to_owned();
    let other = format!("160000,{first},module");
    git(&work, &["update-index", "--add", "--cacheinfo", &other]);
    git(&work, &["commit", "-q", "-m", "module"]);
    git(&work, &["branch", "free"]);
    let module = "*** Begin Patch\n*** Delete File: module\n*** End Patch\n";
    let nothing = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+one\n*** End Patch\n";
    for (args, patch, code, said) in [
        (&["--onto", "free", "-m", ""][..], PATCH, 2, "the message of the commit is empty"),
        (&["--onto", "free", "-m", " \n"], PATCH, 2, "the message of the commit is empty"),
        (&["--onto", "free", "--author", "x"], PATCH, 2, "not of the form `Name <address>`"),
        (&["--onto", "free", "--branch", "a..b"], PATCH, 2, "a..b"),
        (&["--onto", "main"], PATCH, 3, "is checked out in"),
        (&["--onto", "main"], nothing, 0, ""),
        (&["--onto", "main", "--branch", "free/new"], PATCH, 1, "as refs/heads/free exists"),
        (&["--onto", "main", "--branch", "new"], PATCH, 0, ""),
        (&["--onto", "main", "--allow-checked-out"], PATCH, 0, ""),
        (&["--onto", "free", "--branch", "new2"], module, 3, "module is a submodule, not a file"),
        (&["--onto", "free"], PATCH, 0, ""),
    ] {
        for look in [&["-n"][..], &["--explain"], &[]] {
            let child =
                bench.command_in(&work, &[args, look].concat()).spawn().expect("the program");
            let run = ended(child, patch);
            assert_eq!(run.code, code, "{args:?} {look:?}: {run:?}");
            assert!(run.stderr.contains(said), "{args:?} {look:?}: {run:?}");
        }
    }
}

/// The trees are those that git has, and a submodule at another commit than the diff says is left
/// alone.
#[test]
fn a_diff_changes_the_submodules_of_a_commit() {
    let bench = Bench::new(FILES);
    let work = bench.dir.path().join("work");
    let [one, two] = ["1", "2"].map(|digit| digit.repeat(40));
    let set = |branch: &str, entry: &str| {
        git(&work, &["checkout", "-q", "-B", branch]);
        let entry = format!("{entry},d/my module");
        git(&work, &["update-index", "--add", "--cacheinfo", &entry]);
        git(&work, &["commit", "-q", "-m", branch]);
    };
    set("one", &format!("160000,{one}"));
    set("two", &format!("160000,{two}"));
    git(&work, &["checkout", "-q", "-B", "moved", "one"]);
    git(&work, &["rm", "-q", "--cached", "d/my module"]);
    git(&work, &["update-index", "--add", "--cacheinfo", &format!("160000,{one},m")]);
    git(&work, &["commit", "-q", "-m", "moved"]);
    git(&work, &["checkout", "-q", "-B", "swapped", "one"]);
    let file = git(&work, &["rev-parse", "HEAD:a.txt"]);
    git(&work, &["rm", "-q", "--cached", "d/my module", "a.txt"]);
    for entry in [format!("160000,{one},a.txt"), format!("100644,{},d/my module", file.trim())] {
        git(&work, &["update-index", "--add", "--cacheinfo", &entry]);
    }
    git(&work, &["commit", "-q", "-m", "swapped"]);
    git(&work, &["push", "-q", "../bare.git", "one", "two", "moved", "swapped"]);
    let swap = |one: &str, two: &str| {
        format!(
            "diff --git a/{one} b/{two}\nsimilarity index 100%\nrename from {one}\nrename to {two}\n"
        )
    };
    let tree = |branch: &str| git(&bench.bare(), &["rev-parse", &format!("{branch}^{{tree}}")]);
    let diff = |args: &[&str]| git(&work, &[&["diff"], args].concat());
    let log = ["--submodule=log", "main", "two"];
    for (onto, args, diff, wanted) in [
        ("one", &[][..], diff(&["one", "two"]), "two"),
        ("two", &["-R"], diff(&["one", "two"]), "one"),
        ("one", &[], diff(&["one", "moved"]), "moved"),
        ("moved", &["-R"], diff(&["one", "moved"]), "one"),
        ("one", &["--exclude", "m"], diff(&["one", "moved"]), "one"),
        ("one", &[], swap("d/my module", "a.txt") + &swap("a.txt", "d/my module"), "swapped"),
        ("main", &[], diff(&["main", "one"]), "one"),
        ("one", &[], diff(&["one", "main"]), "main"),
        ("one", &["--exclude", "d/my module"], diff(&["--submodule=log", "one", "two"]), "one"),
        ("two", &["--skip-applied"], diff(&["one", "two"]), "two"),
        // A line of the log has the whole ids when it is asked for them.
        ("one", &[], format!("Submodule d/my module {one}..{two}:\n  > title\n"), "two"),
        (
            "one",
            &[],
            format!("Submodule d/my module {one}...0000000 (submodule deleted)\n"),
            "main",
        ),
    ] {
        git(&bench.bare(), &["branch", "-f", "new", onto]);
        let run = bench.run(&[&["--onto", "new"], args].concat(), &diff);
        assert_eq!(run.code, 0, "{diff}: {run:?}");
        assert_eq!(tree("new"), tree(wanted), "{diff}");
        bench.is_sound();
    }
    for (onto, diff, said) in [
        ("one", diff(&["--submodule=log", "one", "two"]), "has only the first digits"),
        ("main", diff(&log), "has only the first digits"),
        ("two", diff(&["one", "two"]), "it is applied already: the submodule is at this commit"),
        ("one", diff(&["main", "one"]), "it is applied already: the submodule is at this commit"),
        ("two", diff(&["main", "one"]), "a file is there already"),
        ("two", diff(&["one", "main"]), "at another commit than the diff says: 2222"),
        ("main", diff(&["one", "two"]), "there is no such file"),
        ("main", diff(&["one", "moved"]), "there is no such file"),
        ("one", swap("d/my module", "a.txt"), "but a file is there already"),
        (
            "main",
            format!("Submodule a.txt {one}..{two}:\n"),
            "the diff is for a submodule, and this is none",
        ),
    ] {
        let run = bench.run(&["--onto", onto, "--branch", "never"], &diff);
        assert_eq!(run.code, 1, "{diff}: {run:?}");
        assert!(run.stderr.contains(said), "{diff}: {run:?}");
    }
    // What is shown is what git takes.
    let shown = bench.run(&["--onto", "one", "-n"], &diff(&["one", "two"])).stdout;
    git(&work, &["checkout", "-q", "-f", "one"]);
    fs::write(bench.dir.path().join("shown.diff"), shown).expect("a file");
    git(&work, &["apply", "--cached", "../shown.diff"]);
    assert_eq!(git(&work, &["write-tree"]), tree("two"));
}

#[test]
fn requests_are_answered_line_by_line() {
    let bench = Bench::new(FILES);
    let line = |id: i32, patch: &str| {
        json!({
            "id": id, "onto": "main", "patch": patch, "message": format!("m{id}"),
        })
    };
    let update = |from: &str, to: &str| {
        format!("*** Begin Patch\n*** Update File: a.txt\n@@\n-{from}\n+{to}\n*** End Patch\n")
    };
    let lines = [
        line(1, &update("two", "2")).to_string(),
        line(2, &update("two", "3")).to_string(),
        "{\"id\":3,\"frobnicate\":1}".to_owned(),
        "no JSON".to_owned(),
        line(5, &update("three", "3")).to_string(),
    ];
    let run = bench.run(&["--batch"], &lines.join("\n"));
    let answers: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let shown: Vec<_> =
        answers.iter().map(|answer| (answer["id"].as_i64(), answer["ok"].as_bool())).collect();
    let wanted =
        [(Some(1), true), (Some(2), false), (Some(3), false), (None, false), (Some(5), true)];
    assert_eq!(shown, wanted.map(|(id, ok)| (id, Some(ok))), "{run:?}");
    assert_eq!(run.code, 6, "some landed");
    assert_eq!(git(&bench.bare(), &["log", "--format=%s", "main"]), "m5\nm1\nfirst\n");
    assert_eq!(answers[4]["data"]["commit"], git(&bench.bare(), &["rev-parse", "main"]).trim());
    bench.is_sound();
}

/// No more than some are read ahead.
#[test]
fn large_requests_of_a_batch_are_answered_in_order() {
    let bench = Bench::new(FILES);
    let line = |number: usize| {
        let text = format!("+{}\n", "x".repeat(1000)).repeat(3000);
        let patch = format!("*** Begin Patch\n*** Add File: d/{number}\n{text}*** End Patch\n");
        json!({ "id": number, "onto": "main", "patch": patch }).to_string() + "\n"
    };
    let run =
        bench.run(&["--batch", "--durability", "process"], &(0..8).map(line).collect::<String>());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let answers = run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let ids: Vec<_> = answers.map(|answer: Value| answer["id"].as_u64()).collect();
    assert_eq!(ids, (0..8).map(Some).collect::<Vec<_>>());
    let listed = git(&bench.bare(), &["ls-tree", "-l", "main:d"]);
    assert_eq!(listed.lines().filter(|line| line.contains(" 3003000\t")).count(), 8, "{listed}");
}

/// What is left of 180 MiB of address space is not enough for 190 kB a commit.
#[test]
fn a_batch_of_many_commits_takes_the_memory_of_one() {
    const COMMITS: usize = 1500;
    let bench = Bench::new(&[("a", "0\n")]);
    let line = |from: usize| {
        let patch = format!(
            "*** Begin Patch\n*** Update File: a\n@@\n-{from}\n+{}\n*** End Patch\n",
            from + 1
        );
        format!("{}\n", json!({ "onto": "main", "patch": patch }))
    };
    let requests = bench.dir.path().join("requests");
    fs::write(&requests, (0..COMMITS).map(line).collect::<String>()).expect("a file");
    let script = format!("ulimit -v {}; exec \"$0\" \"$@\"", 180 << 10);
    let direct = bench.command(&["--batch", "--durability", "process"]);
    let mut limited = clean("sh");
    limited
        .args(["-c", &script])
        .arg(direct.get_program())
        .args(direct.get_args())
        .current_dir(bench.dir.path());
    limited.envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output =
        limited.stdin(fs::File::open(&requests).expect("a file")).output().expect("it runs");
    let last =
        String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned();
    assert!(output.status.success(), "{last}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(git(&bench.bare(), &["show", "main:a"]).trim(), COMMITS.to_string());
}

#[test]
fn what_has_to_be_approved_is_not_committed_without_a_person() {
    let bench = Bench::new(FILES);
    let first = git(&bench.bare(), &["rev-parse", "main"]);
    let line = json!({ "onto": "main", "patch": PATCH }).to_string();
    for (args, input) in [(&["--batch"][..], &*line), (&["--onto", "main"], PATCH)] {
        let command = bench.command(args);
        // Of a new session, which has no terminal.
        let mut alone = clean("setsid");
        alone
            .arg("-w")
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(bench.dir.path());
        alone.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        alone
            .env("APPLY_PATCH_APPROVE", "ask")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let run = ended(alone.spawn().expect("setsid"), input);
        assert_eq!(run.code, 3, "{run:?}");
        assert_eq!(git(&bench.bare(), &["rev-parse", "main"]), first.clone(), "{run:?}");
    }
}

/// Many writers, some of them killed: what lands is there once and whole, the others get an answer.
#[test]
fn patches_of_many_processes_land_once() {
    let (processes, each) = (16, if whole() { 12 } else { 4 });
    let apart = 3;
    let count = processes * each;
    let text: String = (0..count * apart + 2).map(|line| format!("line {line}\n")).collect();
    let bench = Bench::new(&[("a", &text), ("b", &text)]);
    let onto = git(&bench.bare(), &["rev-parse", "main"]).trim().to_owned();
    // Every tenth inserts where another one does.
    let place = |number: usize| if number % 10 == 9 { number - 1 } else { number } * apart;
    let patch = |number: usize| {
        let hunk = |file: &str| {
            let (above, below) = (place(number), place(number) + 1);
            format!("*** Update File: {file}\n@@\n line {above}\n+new {number}.\n line {below}\n")
        };
        format!("*** Begin Patch\n{}{}*** End Patch\n", hunk("a"), hunk("b"))
    };
    let killed = 3;
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let process = |process: usize| {
            let (bench, onto, patch) = (&bench, &onto, &patch);
            scope.spawn(move || {
                let request = |number: usize| {
                    let patch = patch(number);
                    match number % 4 {
                        // The branch as it is when the request is read; it may have moved when the
                        // commit is made.
                        0 => json!({ "id": number, "onto": "main", "carry": true, "patch": patch }),
                        _ => json!({
                            "id": number, "onto": onto, "branch": "main", "carry": true,
                            "patch": patch,
                        }),
                    }
                    .to_string()
                };
                let lines: Vec<_> =
                    (0..each).map(|nth| request(nth * processes + process) + "\n").collect();
                let mut child = bench
                    .command(&["--batch", "--lock-timeout", "120", "--durability", "process"])
                    .spawn()
                    .expect("the program");
                if process < killed {
                    let mut input = child.stdin.take().expect("it is piped");
                    for line in &lines {
                        let _ = input.write_all(line.as_bytes());
                    }
                    std::thread::sleep(std::time::Duration::from_millis(
                        150 * (process as u64 + 1),
                    ));
                    child.kill().expect("it can be killed");
                    let output = child.wait_with_output().expect("it ends");
                    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
                    return lines
                        .lines()
                        .filter_map(|line| serde_json::from_str(line).ok())
                        .collect::<Vec<Value>>();
                }
                let run = ended(child, &lines.concat());
                run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
            })
        };
        let threads: Vec<_> = (0..processes).map(process).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    bench.is_sound();
    let files = ["a", "b"].map(|file| git(&bench.bare(), &["show", &format!("main:{file}")]));
    let landed = |text: &str| {
        let all: Vec<&str> = text.lines().filter(|line| line.starts_with("new ")).collect();
        let once: BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(all.len(), once.len(), "nothing is there twice");
        once.into_iter().map(ToOwned::to_owned).collect::<BTreeSet<String>>()
    };
    let [a, b] = files.each_ref().map(|text| landed(text));
    assert_eq!(a, b, "no patch is there by half");
    assert_eq!(
        git(&bench.bare(), &["rev-list", "--count", "main"]).trim(),
        (a.len() + 1).to_string()
    );
    for answer in &answers {
        let name = format!("new {}.", answer["id"]);
        let said = answer["ok"] == true && !answer["data"]["commit"].is_null();
        assert_eq!(a.contains(&name), said, "{answer}");
        let reason = &answer["error"]["details"]["reason"];
        assert!(said || reason == "conflict" || reason == "context_not_found", "{answer}");
    }
    assert!(answers.len() >= (processes - killed) * each, "{} answers", answers.len());
    let conflicts = answers.iter().filter(|answer| answer["ok"] == false).count();
    assert!(conflicts > 0, "{conflicts} conflicts");
    assert!(conflicts <= count / 10 + 1, "{conflicts} conflicts");
    // The base is what stays when the new lines are taken away.
    let old: String = files[0]
        .lines()
        .filter(|line| !line.starts_with("new "))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(old, text);
}

/// Runs a program under strace, which makes the `nth` of one system call fail, and returns the line
/// of that call; none if it cannot be traced.
fn failing(bench: &Bench, call: &str, nth: usize) -> Option<(program::Run, Option<String>)> {
    let log = bench.dir.path().join("log");
    let inject = format!("inject={call}:error=EIO:when={nth}");
    let run =
        traced(bench, &["--onto", "main"], &log, &[&format!("trace={call}"), &inject], PATCH)?;
    let calls = fs::read_to_string(log).expect("the log of strace");
    Some((run, calls.lines().find(|line| line.contains("(INJECTED)")).map(ToOwned::to_owned)))
}

/// Runs a program under strace with these expressions; none if it cannot be traced.
pub(crate) fn traced(
    bench: &Bench,
    args: &[&str],
    log: &Path,
    expressions: &[&str],
    input: &str,
) -> Option<program::Run> {
    let command = bench.command(args);
    let mut strace = clean("strace");
    strace.args(["-f", "-q", "-y", "-o"]).arg(log);
    for expression in expressions {
        strace.args(["-e", expression]);
    }
    strace.arg(command.get_program()).args(command.get_args()).current_dir(bench.dir.path());
    for (name, value) in command.get_envs() {
        strace.env(name, value.expect("none is removed"));
    }
    let child = strace.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let run = ended(child.ok()?, input);
    (!run.stderr.starts_with("strace:")).then_some(run)
}

#[test]
fn a_failing_disk_is_told_as_what_it_left() {
    for call in ["fsync", "renameat2", "rename", "write"] {
        let mut outcomes = BTreeSet::new();
        for nth in (1..60).step_by(if whole() { 1 } else { 2 }) {
            let bench = Bench::new(FILES);
            let first = git(&bench.bare(), &["rev-parse", "main"]);
            let Some((run, failed)) = failing(&bench, call, nth) else {
                testutils::skip!("strace is missing or not allowed");
                return;
            };
            let Some(failed) = failed else { break };
            bench.is_sound();
            let now = git(&bench.bare(), &["rev-parse", "main"]);
            let context = format!("{failed}: {} {} {}", run.code, run.stdout, run.stderr);
            // What failed may be the write that prints the commit.
            let is_untold = run.stderr.contains("the answer could not be written");
            if run.code == 0 || is_untold {
                assert_ne!(now, first, "{context}");
                assert!(now == run.stdout || call == "write", "{context}");
                assert!(
                    run.stderr.contains("may be back after a power cut")
                        || !failed.contains("/refs/"),
                    "{context}"
                );
            } else {
                assert_eq!(now, first, "{context}");
            }
            outcomes.insert(run.code == 0);
        }
        assert!(call != "fsync" || outcomes.len() == 2, "{outcomes:?}");
    }
}

/// The system calls that change something, and how often a run makes each; none if it cannot be
/// traced.
fn writing_calls(bench: &Bench, args: &[&str]) -> Option<Vec<(String, usize)>> {
    const CALLS: &str =
        "write,pwrite64,fsync,rename,renameat2,link,linkat,unlink,mkdir,mkdirat,unlinkat";
    let log = bench.dir.path().join("log");
    let run = traced(bench, args, &log, &[&format!("trace={CALLS}")], PATCH)?;
    assert_eq!(run.code, 0, "{run:?}");
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(log).expect("the log of strace").lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let Some((name, _)) = call.trim_start().split_once('(') else { continue };
        if CALLS.split(',').any(|call| call == name) {
            // A thread counts its own calls.
            *counts.entry((name.to_owned(), thread.to_owned())).or_insert(0) += 1;
        }
    }
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for ((name, _), count) in counts {
        let most = most.entry(name).or_default();
        *most = count.max(*most);
    }
    Some(most.into_iter().collect())
}

/// The phases and answers of the audit log of a repository.
pub(crate) fn logged(bench: &Bench) -> Vec<Value> {
    let text =
        fs::read_to_string(bench.bare().join(".apply-patch/audit/cli.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn the_next_run_says_what_became_of_one_that_was_killed() {
    const NEXT: &str = "*** Begin Patch\n*** Add File: next\n+n\n*** End Patch\n";
    for args in
        [&["--onto", "main"][..], &["--onto", "main", "--branch", "topic"], &["--onto", "HEAD"]]
    {
        let bench = Bench::new(FILES);
        let Some(calls) = writing_calls(&bench, args) else {
            testutils::skip!("strace is missing or not allowed");
            return;
        };
        // The last ones of each kind of call come after the commit.
        let tried =
            |nth: usize, count: usize| whole() || nth.is_multiple_of(23) || nth + 2 >= count;
        let points =
            calls.iter().flat_map(|(call, count)| (1..=*count).map(move |nth| (call, nth, *count)));
        let (mut finished, mut reverted) = (0, 0);
        for (call, nth, _) in points.filter(|&(_, nth, count)| tried(nth, count)) {
            let bench = Bench::new(FILES);
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let expressions = [&*format!("trace={call}"), &inject];
            traced(&bench, args, Path::new("/dev/null"), &expressions, PATCH).expect("as before");
            let intent = logged(&bench).into_iter().find(|line| line["phase"] == "intent");
            // git leaves its lock too, for a person to remove.
            let branch = args.get(3).unwrap_or(&"main");
            let _ = fs::remove_file(bench.bare().join(format!("refs/heads/{branch}.lock")));
            let commit = intent
                .as_ref()
                .map(|intent| intent["commit"].as_str().expect("a commit").to_owned());
            let has_it = commit.as_ref().is_some_and(|commit| {
                // It reads all files of the commit.
                let read = clean("git")
                    .args(["archive", "-o", "/dev/null", commit])
                    .current_dir(bench.bare())
                    .output();
                let tip =
                    clean("git").args(["rev-parse", branch]).current_dir(bench.bare()).output();
                let tip = String::from_utf8(tip.expect("git").stdout).expect("UTF-8");
                read.expect("git").status.success() && (args[1] == "HEAD" || tip.trim() == commit)
            });
            if has_it && nth % 3 == 0 {
                let tree = format!("{branch}^{{tree}}");
                let by = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
                let more = [&by[..], &["commit-tree", &tree, "-p", branch, "-m", "more"]].concat();
                let more = git(&bench.bare(), &more);
                git(&bench.bare(), &["update-ref", &format!("refs/heads/{branch}"), more.trim()]);
            }
            // One that comes to nothing says it too.
            let next = if nth % 2 == 0 {
                NEXT
            } else {
                "*** Begin Patch\n*** Delete File: none\n*** End Patch\n"
            };
            let run = bench.run(&["--onto", branch, "--branch", branch], next);
            let ran = if nth % 2 == 0 { 0 } else { 1 };
            assert!(run.code == ran || args.len() == 4 && !has_it, "{call} {nth}: {run:?}");
            let context = format!("{args:?} killed at {call} {nth}: {:#?}", logged(&bench));
            let Some(intent) = intent else { continue };
            let answers = |line: &&Value| {
                line["transactionId"] == intent["transactionId"]
                    && matches!(line["phase"].as_str(), Some("outcome" | "recovered"))
            };
            let lines = logged(&bench);
            let answer =
                lines.iter().find(answers).unwrap_or_else(|| panic!("no answer: {context}"));
            assert_eq!(answer["ok"], has_it, "{context}");
            if answer["phase"] == "recovered" {
                assert_eq!(
                    answer["recovered"],
                    if has_it { "finished" } else { "reverted" },
                    "{context}"
                );
                *if has_it { &mut finished } else { &mut reverted } += 1;
            }
            let verified = program::run(
                "apply-patch",
                &bench.bare(),
                bench.dir.path(),
                &["log", "--verify", "--json"],
                b"",
            );
            let sessions = verified.json().expect("JSON")["data"]["sessions"].clone();
            assert!(verified.code == 0, "{verified:?}");
            assert!(sessions[0]["unanswered"].is_null(), "{verified:?}");
        }
        assert!(finished > 0, "{args:?}: {finished} finished, {reverted} reverted");
        assert!(reverted > 0, "{args:?}: {finished} finished, {reverted} reverted");
    }
}

/// What the lines of a commit have: which one it is, and where it went.
#[test]
fn intents_and_outcomes_name_the_commit() {
    for args in [&["--onto", "main"][..], &["--onto", "HEAD"]] {
        let bench = Bench::new(FILES);
        let onto = git(&bench.bare(), &["rev-parse", "main"]);
        let commit = bench.run(args, PATCH).stdout;
        let tree = git(&bench.bare(), &["rev-parse", &format!("{}^{{tree}}", commit.trim())]);
        let branch = if args[1] == "main" { json!("main") } else { Value::Null };
        let lines = logged(&bench);
        assert_eq!(lines.len(), 5, "{lines:?}");
        for line in lines {
            let found = ["onto", "commit", "tree", "branch"].map(|key| line[key].clone());
            assert_eq!(
                found,
                [json!(onto.trim()), json!(commit.trim()), json!(tree.trim()), branch.clone()],
                "{line}"
            );
        }
    }
}

#[test]
fn a_linked_work_tree_is_removed_without_the_log() {
    let bench = Bench::new(FILES);
    let linked = bench.dir.path().join("linked");
    git(&bench.bare(), &["worktree", "add", "-q", "--detach", "../linked"]);
    let run =
        ended(bench.command_in(&linked, &["--onto", "main"]).spawn().expect("it runs"), PATCH);
    assert_eq!(run.code, 0, "{run:?}");
    git(&bench.bare(), &["worktree", "remove", "../linked"]);
    assert_eq!(logged(&bench).len(), 5);
}

/// Of each session: where the commit can be asked after, its log has the answer; where it cannot,
/// nothing is made up.
#[test]
fn intents_of_other_sessions_are_answered_in_their_own_logs() {
    let bench = Bench::new(FILES);
    let first = bench.run(&["--onto", "main"], PATCH);
    assert_eq!(first.code, 0, "{first:?}");
    let key = KeyPlace::Directory(bench.dir.path().join("state/apply-patch"));
    let workspace =
        Workspace::open_keyed(&bench.bare(), patch_engine::policy(), StatePlace::Root, key)
            .expect("a folder");
    let log = |session: &str| -> Vec<Value> {
        let text =
            fs::read_to_string(bench.bare().join(format!(".apply-patch/audit/{session}.jsonl")))
                .expect("a log");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let done = log("cli").remove(0);
    let never = "0123456789abcdef0123456789abcdef01234567";
    let cases = [
        ("finished", "20261121-014233-123456-9f3ac1d2", done["commit"].as_str()),
        ("reverted", "20261121-014233-123457-9f3ac1d2", Some(never)),
        ("cli", "20261121-014233-123458-9f3ac1d2", None),
    ];
    for (session, id, commit) in cases {
        let mut intent = done.clone();
        intent["sessionId"] = json!(session);
        intent["transactionId"] = json!(id);
        intent["commit"] = json!(commit);
        let intent: Event = serde_json::from_value(intent).expect("an event");
        let audit = Audit::new(session.parse().expect("a name"), None);
        audit.append(&workspace, &[intent], false).expect("the log");
    }
    let next =
        bench.run(&["--onto", "main"], "*** Begin Patch\n*** Add File: next\n+n\n*** End Patch\n");
    assert_eq!(next.code, 0, "{next:?}");
    for (session, id, commit) in cases {
        let lines = log(session);
        let answers: Vec<_> =
            lines.iter().filter(|line| line["transactionId"] == id).skip(1).collect();
        match commit {
            Some(_) => {
                assert!(answers.len() == 1, "{session}: {lines:?}");
                assert!(answers[0]["recovered"] == session, "{session}: {lines:?}");
            }
            None => assert!(answers.is_empty(), "{session}: {lines:?}"),
        }
        let verified =
            verify(&workspace, Some(&session.parse().expect("a name"))).expect("the log");
        let unanswered = if commit.is_some() { Vec::new() } else { vec![id.to_owned()] };
        assert!(verified[0].ok, "{verified:?}");
        assert!(verified[0].unanswered == unanswered, "{verified:?}");
    }
}

/// An intent of a run that is still at work is not answered by another run.
#[test]
fn what_is_under_way_is_not_said_to_have_failed() {
    let bench = Bench::new(FILES);
    assert_eq!(bench.run(&["--onto", "main"], PATCH).code, 0);
    // Someone else has the lock of the branch: the run waits, with its intent in the log.
    let lock = bench.bare().join("refs/heads/main.lock");
    fs::write(&lock, "").expect("a file");
    let mut first =
        bench.command(&["--onto", "main", "--lock-timeout", "60"]).spawn().expect("the program");
    let patch = "*** Begin Patch\n*** Add File: slow\n+n\n*** End Patch\n";
    first.stdin.take().expect("it is piped").write_all(patch.as_bytes()).expect("it reads");
    let begun = |bench: &Bench| logged(bench).iter().any(|line| line["path"] == "slow");
    while !begun(&bench) {
        assert!(first.try_wait().expect("it is ours").is_none(), "it has not ended");
        std::thread::yield_now();
    }
    let second = bench.run(&["--onto", "main", "--branch", "other", "--lock-timeout", "0"], patch);
    assert!(second.code != 0, "{second:?}");
    assert!(second.stderr.contains("lock"), "{second:?}");
    fs::remove_file(lock).expect("ours");
    assert!(first.wait().expect("it ends").success());
    let slow: Vec<Value> =
        logged(&bench).into_iter().filter(|line| line["path"] == "slow").collect();
    let phases: Vec<_> =
        slow.iter().map(|line| line["phase"].as_str().unwrap_or_default()).collect();
    assert_eq!(phases, ["intent", "outcome"], "{slow:#?}");
    assert_eq!(slow[1]["ok"], true);
    assert!(logged(&bench).iter().all(|line| line["phase"] != "recovered"));
}

/// No session read the file, and nothing displaced it: the version that is expected is found in a
/// commit, if it is there.
#[test]
fn an_expected_version_is_found_in_the_commits_around_a_workspace() {
    let sha = |text: &str| fs_guard::Sha256::of(text.as_bytes()).to_string();
    let bench = Bench::new(&[("sub/f", "one\ntwo\nthree\n"), ("f", "another\n")]);
    let work = bench.dir.path().join("work");
    let edit = |text: &str| {
        let edits = json!([{ "oldText": "two", "newText": "2" }]);
        let args = json!({ "path": "f", "expectedSha256": sha(text), "edits": edits }).to_string();
        let mut command = clean(env!("CARGO_BIN_EXE_apply-patch"));
        command
            .args(["--root", "sub", "tool", "edit_file", "--args", "-"])
            .current_dir(&work)
            .env("HOME", bench.dir.path());
        command.env("XDG_STATE_HOME", bench.dir.path().join("state"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let reply: Value =
            serde_json::from_str(&ended(command.spawn().expect("ours"), &args).stdout)
                .expect("JSON");
        reply
    };
    // Two commits later, and changed since.
    for text in ["zero\none\ntwo\nthree\n", "zero\nnull\none\ntwo\nthree\n"] {
        fs::write(work.join("sub/f"), text).expect("a file");
        git(&work, &["commit", "-q", "-a", "-m", "later"]);
    }
    let now = "// new\nzero\nnull\none\ntwo\nthree\n";
    for (what, expected, found) in [
        ("the first commit", "one\ntwo\nthree\n", true),
        ("the second", "zero\none\ntwo\nthree\n", true),
        ("the newest", "zero\nnull\none\ntwo\nthree\n", true),
        ("no commit", "two\n", false),
        ("another path", "another\n", false),
    ] {
        fs::write(work.join("sub/f"), now).expect("a file");
        let reply = edit(expected);
        let after = fs::read_to_string(work.join("sub/f")).expect("a file");
        let wanted = if found { now.replace("two", "2") } else { now.to_owned() };
        assert_eq!(reply["ok"].as_bool(), Some(found), "{what}: {reply}");
        assert_eq!(after, wanted, "{what}: {reply}");
        assert_eq!(reply["data"]["carried"].is_array(), found, "{what}: {reply}");
    }
}
