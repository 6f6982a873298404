//! Answers that cannot be written: standard output is on a full disk, or nobody reads it any more.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::commands::commands;
use crate::program::{Run, place, run, run_other};

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** End Patch\n";

/// Runs a line of the shell in a project with a change and something in the trash; `$it` is the
/// program.
fn shell(line: &str) -> Run {
    let dir = place(&[("w/a", "start\n"), ("w/gone", "g\n"), ("p", PATCH)]);
    let before = "*** Begin Patch\n*** Update File: a\n@@\n-start\n+a\n*** Delete File: gone\n\
                  *** End Patch\n";
    let (work, home) = (dir.path().join("w"), dir.path());
    assert_eq!(run("apply-patch", &work, home, &["-q"], before.as_bytes()).code, 0);
    let link = dir.path().join("apply_patch");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_apply-patch"), link).expect("a link");
    let line = format!("it='{}'\n{line}", env!("CARGO_BIN_EXE_apply-patch"));
    run_other("sh", &work, home, &["-c", &line], b"")
}

/// A call of each command that prints an answer. `serve` answers a client, not a person: it is not
/// here.
const CALLS: &[(&str, &str)] = &[
    ("apply", "apply ../p"),
    ("apply", "apply --json ../p"),
    ("apply", "apply -n ../p"),
    ("apply", "apply --stat -n ../p"),
    ("apply", "apply --events jsonl ../p"),
    ("check", "check --json ../p"),
    ("parse", "parse ../p"),
    ("explain", "explain ../p"),
    ("explain", "explain --json ../p"),
    ("convert", "convert --to unified ../p"),
    ("undo", "undo"),
    ("undo", "undo --json"),
    ("redo", "redo --json"),
    ("status", "status"),
    ("status", "status --json"),
    ("log", "log"),
    ("log", "log --json"),
    ("log", "log -p"),
    ("show", "show last"),
    ("show", "show --json last"),
    ("review", "review"),
    ("review", "review --json"),
    ("review", "review --format html"),
    ("propose", "propose ../p"),
    ("propose", "propose --json ../p"),
    ("proposals", "proposals"),
    ("proposals", "proposals --json"),
    ("approve", "approve $id"),
    ("approve", "approve --json $id"),
    ("decline", "decline --json $id"),
    ("trash", "trash purge --json"),
    ("trash", "trash list"),
    ("trash", "trash list --json"),
    ("trash", "trash show last/0"),
    ("recover", "recover"),
    ("recover", "recover --json"),
    ("uninstall", "uninstall"),
    ("uninstall", "uninstall --json"),
    ("doctor", "doctor"),
    ("doctor", "doctor --json"),
    ("tool", "tool read_file --args '{\"path\":\"a\"}'"),
    ("tool", "tool --list"),
    (
        "ops",
        "ops <<'E'\n[{\"type\":\"apply_patch_call\",\"call_id\":\"1\",\"operation\":{\"type\":\"delete_file\",\"path\":\"a\"}}]\nE",
    ),
    ("intercept", "intercept -- apply_patch \"$(cat ../p)\""),
    ("grammar", "grammar --format lark"),
    ("tool-spec", "tool-spec --provider openai"),
    ("prompt", "prompt"),
    ("mcp-config", "mcp-config --client claude"),
    ("completions", "completions bash"),
    ("man", "man"),
    ("git", "git --onto HEAD -n ../p"),
    ("help", "help log"),
    ("", "--help"),
    ("", "--version"),
];

#[test]
fn every_command_has_a_case() {
    let home = tempfile::tempdir().expect("a folder");
    let tried: BTreeSet<&str> =
        CALLS.iter().map(|(command, _)| *command).chain(["serve"]).collect();
    let all = commands(home.path());
    let missing: Vec<_> = all.iter().filter(|name| !tried.contains(name.as_str())).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn what_cannot_be_written_is_an_error() {
    if !fs::exists("/dev/full").unwrap_or(false) {
        testutils::skip!("there is no /dev/full");
        return;
    }
    for (command, call) in CALLS {
        let git = "git init -q . && git config user.name a && git config user.email a@b && git add a && \
             git commit -qm 1\n";
        let before = match *command {
            "git" => git,
            "redo" => "\"$it\" -q undo\n",
            "proposals" | "approve" | "decline" => {
                "id=$(\"$it\" -q propose ../p | head -n 1 | cut -d ' ' -f 1)\n"
            }
            _ => "",
        };
        // A here-document comes after the line that it belongs to.
        let (line, rest) = call.split_once('\n').unwrap_or((call, ""));
        let wanted = shell(&format!("{before}\"$it\" {line}\n{rest}"));
        let full = shell(&format!("{before}\"$it\" {line} >/dev/full\n{rest}"));
        assert!(!wanted.stdout.is_empty(), "{call}: {wanted:?}");
        assert!(wanted.code == 0, "{call}: {wanted:?}");
        assert_eq!(full.code, 5, "{call}: {full:?}");
        assert!(
            full.stderr.contains("the answer could not be written: No space left on device"),
            "{call}: {full:?}"
        );
        // Nobody reads: a quiet end.
        let head = shell(&format!(
            "{before}exec 3>&1; {{ \"$it\" {line}\n{rest}\necho $? >&3; }} 2>../err | true; cat \
             ../err"
        ));
        assert!(!head.stdout.contains("could not be written"), "{call}: {head:?}");
    }
}

/// What was done is said on the other stream.
#[test]
fn what_was_done_is_said_all_the_same() {
    if !fs::exists("/dev/full").unwrap_or(false) {
        testutils::skip!("there is no /dev/full");
        return;
    }
    let lost = shell("\"$it\" apply --json ../p >/dev/full; echo $?; \"$it\" log -n 1; cat a");
    assert!(lost.stdout.starts_with("5\n"), "{lost:?}");
    assert!(lost.stdout.ends_with("b\n"), "{lost:?}");
    let id = lost.stdout.lines().nth(1).and_then(|line| line.split(' ').next()).expect("an id");
    assert!(lost.stderr.contains("it is: 1 updated ("), "{lost:?}");
    assert!(lost.stderr.contains(id), "{lost:?}");
    // The tool that models know has one code for what went wrong.
    let link = shell("../apply_patch \"$(cat ../p)\" >/dev/full; echo $?");
    assert_eq!(link.stdout, "1\n", "{link:?}");
    assert!(link.stderr.contains("it is: Success. Updated the following files: M a"), "{link:?}");
}

/// What is missing is named, and what was probably meant.
#[test]
fn a_usage_error_in_json_has_all_of_its_message() {
    for (line, said) in [
        ("trash restore --json", "required arguments were not provided: <ENTRY>"),
        ("mcp-config --json", "`--client <NAME>` is missing, one of codex, "),
        ("log --json --sinc 1d", "unknown option `--sinc`; did you mean `--since`?"),
        ("undo --json --diff nope", "[possible values: "),
    ] {
        let run = shell(&format!("\"$it\" {line}"));
        let answer: serde_json::Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{line}: {run:?}"));
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(run.code == 2, "{line}: {run:?}");
        assert!(message.contains(said), "{line}: {run:?}");
        assert!(!message.contains('\n'), "{line}: {run:?}");
        assert!(!message.contains("Usage"), "{line}: {message}");
    }
}

/// The parser asks for what a flag needs only where that could be given as well: a flag that needs
/// another one has its conflicts too.
#[test]
fn no_flag_is_ignored_where_what_it_needs_cannot_be_given() {
    for line in [
        "apply --format html --check ../p",
        "apply --format html --events jsonl ../p",
        "apply --format html --call-id x ../p",
        "apply --format html --verify true ../p",
        "apply --format html --approve never ../p",
        "apply --format html -i ../p",
        "apply --format html -n -z ../p",
        "apply -z --events jsonl ../p",
        "apply --call-id x --json ../p",
        "apply --call-id x --check ../p",
        "apply --call-id x -n ../p",
        "apply --call-id x --stat ../p",
        "git --call-id x --onto HEAD --explain ../p",
        "git --call-id x --batch",
        "log --stats --session x",
        "log --state --session x",
        "tool read_file --args {} --call-id x --json",
        "tool-spec --provider openai --all-tools --operations add",
        "tool-spec --provider openai --brief --fit a",
        "grammar --dialect strict --paths-from a",
    ] {
        let run = shell(&format!("\"$it\" {line} </dev/null; echo $?; cat a"));
        assert!(run.stdout.ends_with("2\na\n"), "{line}: {run:?}");
    }
}

/// What is written on standard output is never dropped without a look at whether it was.
#[test]
fn nobody_drops_what_could_not_be_written() {
    fn look(dir: &Path) {
        for entry in fs::read_dir(dir).expect("sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                look(&path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("UTF-8");
            for (number, line) in text.lines().enumerate() {
                let line = line.trim_start();
                let drops = line.starts_with("let _ =") && line.contains("stdout()");
                let prints = line.starts_with("print!(") || line.starts_with("println!(");
                assert!(!drops, "{}:{}: {line}", path.display(), number + 1);
                assert!(!prints, "{}:{}: {line}", path.display(), number + 1);
            }
        }
    }
    look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
