//! Patches as models and people send them, in `tests/dialects`: what is taken is exactly the patch
//! inside, and what cannot be taken changes nothing and says why.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Run, run};
use testutils::takers::files;
use testutils::temp::temp;

/// One file: the outcome and what is noted, what was sent, and the patch inside.
struct Case {
    name: String,
    outcome: String,
    notes: Vec<String>,
    sent: Vec<u8>,
    inside: Option<Vec<u8>>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/dialects")
}

fn cases() -> Vec<Case> {
    let read = |path: PathBuf| {
        let whole = fs::read(&path).expect("a case");
        let split = |bytes: &[u8], mark: &str| {
            let at = memchr(bytes, mark.as_bytes())?;
            Some((bytes[..at].to_vec(), bytes[at + mark.len()..].to_vec()))
        };
        let (head, rest) = split(&whole, "=====sent\n").expect("what was sent");
        let (sent, inside) = match split(&rest, "\n=====is\n") {
            Some((sent, inside)) => (sent, Some(inside)),
            None => (rest, None),
        };
        let head = String::from_utf8(head).expect("UTF-8");
        let mut lines = head.lines();
        Case {
            name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
            outcome: lines.next().expect("an outcome").to_owned(),
            notes: lines
                .map(|line| line.strip_prefix("note: ").expect("a note").to_owned())
                .collect(),
            sent,
            inside,
        }
    };
    let entries =
        fs::read_dir(folder()).expect("the cases").map(|entry| entry.expect("an entry").path());
    let mut cases: Vec<Case> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == "txt")).map(read).collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

/// The first place of some bytes.
fn memchr(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// A run on the files that all cases begin with, and what it leaves.
fn applied(args: &[&str], input: &[u8]) -> (Run, testutils::takers::Snapshot) {
    let (dir, home) = (temp(), temp());
    testutils::takers::write(dir.path(), &files(&folder().join("before")));
    let run = run(
        "apply-patch",
        dir.path(),
        home.path(),
        &[&["--json", "--durability", "none"], args].concat(),
        input,
    );
    (run, files(dir.path()))
}

#[test]
fn what_is_applied_is_the_patch_inside() {
    let before = files(&folder().join("before"));
    let mut failed = Vec::new();
    let cases = cases();
    let (mut recovered, mut refused) = (0, 0);
    for Case { name, outcome, notes, sent, inside } in &cases {
        let (run, after) = applied(&[], sent);
        let answer = run.json().expect("JSON");
        let mut wrong = |what: String| failed.push(format!("--- {name}: {what}\n{answer:#}"));
        match outcome.split_once(": ").expect("an outcome and its words") {
            ("recovered", form) => {
                recovered += 1;
                let from = if form == "diff" { "unified" } else { "envelope" };
                let (direct, wanted) =
                    applied(&["--from", from], inside.as_deref().expect("the patch inside"));
                assert!(direct.code == 0, "{name}: the patch inside does not apply: {direct:#?}");
                assert!(wanted != before, "{name}: the patch inside does not apply: {direct:#?}");
                if run.code != 0 || after != wanted {
                    wrong(format!("exit {}, {after:?} is not {wanted:?}", run.code));
                }
                let noted = answer["data"]["notes"].as_array().cloned().unwrap_or_default();
                let is_noted = |note: &String| {
                    noted.iter().any(|one| one.as_str().is_some_and(|one| one.contains(&**note)))
                };
                for note in notes.iter().filter(|note| !is_noted(note)) {
                    wrong(format!("{note:?} is not noted"));
                }
                // What is taken off is always noted. A byte-order mark, CRLF and empty lines around
                // it are no wrapper.
                let text = |bytes: &[u8]| {
                    String::from_utf8_lossy(bytes).replace(['\u{feff}', '\r'], "").trim().to_owned()
                };
                let bare = text(sent) == text(inside.as_deref().unwrap_or_default())
                    || name.contains("numbers-");
                if noted.is_empty() != bare {
                    wrong(format!("{noted:?} is noted"));
                }
            }
            ("refused", words) => {
                refused += 1;
                let message = answer["error"]["message"].as_str().unwrap_or_default();
                if run.code == 0 || after != before || !message.contains(words) {
                    wrong(format!("exit {}, {message:?} does not say {words:?}", run.code));
                }
            }
            other => panic!("{name}: {other:?}"),
        }
        // Read as an envelope it is that, or nothing.
        let (envelope, after) = applied(&["--from", "envelope"], sent);
        if envelope.code == 0 {
            let (_, wanted) =
                applied(&["--from", "envelope"], inside.as_deref().unwrap_or_default());
            assert_eq!(after, wanted, "{name} as an envelope");
        } else {
            assert_eq!(after, before, "{name} as an envelope");
            // The error names what is around the patch, and what its first line should be.
            let message = envelope.json().expect("JSON")["error"]["message"].to_string();
            let names_it = message.contains("its first line `*** Begin Patch`")
                || name.contains("byte-order-mark");
            assert!(!outcome.starts_with("recovered") || names_it, "{name}: {message}");
        }
    }
    eprintln!(
        "{} dialects: {recovered} recovered, {refused} refused, {} misread or otherwise wrong",
        cases.len(),
        failed.len()
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(cases.len() >= 120, "{recovered} {refused}");
    assert!(recovered >= 60, "{recovered} {refused}");
    assert!(refused >= 30, "{recovered} {refused}");
}

#[test]
fn parts_are_chosen_by_number_or_taken_as_one() {
    let first = "*** Begin Patch\n*** Add File: n\n+1\n*** End Patch\n";
    let second =
        "```\n*** Begin Patch\r\n*** Update File: n\r\n@@\r\n-1\r\n+2\r\n*** End Patch\r\n```\n";
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+1\n";
    let both = format!("{first}and\n{second}");
    for (input, part, wanted) in [
        (&both, "1", Ok("1\n")),
        (&both, "all", Ok("2\n")),
        (&both, "2", Err("not_found")),
        (&both, "3", Err("there is no part 3: it has 2")),
        (&format!("{both}{diff}"), "all", Err("patches and diffs")),
    ] {
        let (run, after) = applied(&["--part", part], input.as_bytes());
        let found = after.get("n").map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
        match wanted {
            Ok(text) => {
                assert_eq!(run.code, 0, "{part}: {run:#?}");
                assert_eq!(found.as_deref(), Some(text), "{part}: {run:#?}");
            }
            Err(words) => {
                assert!(run.code == 1, "{part}: {run:#?}");
                assert!(found.is_none(), "{part}: {run:#?}");
                assert!(run.stdout.contains(words), "{part}: {run:#?}");
            }
        }
    }
    let (run, _) = applied(&["--part", "0"], both.as_bytes());
    assert_eq!(run.code, 2);
    let (run, _) = applied(&["--part", "1", "--from", "envelope"], first.as_bytes());
    assert_eq!(run.code, 2);
}

/// The table of `docs/dialects.md`.
#[test]
fn the_table_of_the_documentation_is_that_of_the_cases() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects.md");
    let text = fs::read_to_string(&path).expect("the page");
    let (before, _) = text.split_once("| what was sent |").expect("the table");
    let cases = cases();
    let recovered = cases.iter().filter(|case| case.outcome.starts_with("recovered")).count();
    let mut table = format!(
        "| what was sent | {recovered} of {} are recovered, {} refused, 0 misread |\n|---|---|\n",
        cases.len(),
        cases.len() - recovered
    );
    for case in &cases {
        let (number, name) = case.name.split_once('-').expect("a number and a name");
        let (outcome, words) = case.outcome.split_once(": ").expect("an outcome and its words");
        let words = match outcome {
            "recovered" => format!("recovered ({words})"),
            _ => format!("refused: …{}…", words.trim()).replace("……", "").replace('|', "\\|"),
        };
        table += &format!("| {number} {} | {words} |\n", name.replace('-', " "));
    }
    let wanted = format!("{before}{table}");
    if std::env::var_os("DIALECTS_WRITE").is_some() {
        fs::write(&path, &wanted).expect("written");
    }
    assert!(
        text == wanted || std::env::var_os("DIALECTS_WRITE").is_some(),
        "DIALECTS_WRITE=1 writes docs/dialects.md anew"
    );
}
