//! Patches as models and people send them, in `tests/dialects`: what is taken is exactly the patch
//! inside, and what cannot be taken changes nothing and says why.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use apply_patch_api::{MemoryTree, PatchOptions, apply_in_memory};
use serde_json::{Value, json};
use testutils::share::whole;
use testutils::takers::{Snapshot, files};
use testutils::temp::temp;

use crate::program::{Run, run};

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

/// What a door makes of a text.
struct Outcome {
    ok: bool,
    /// The message, or all that is printed.
    said: String,
    notes: Vec<String>,
    after: Snapshot,
}

/// The entrances of the program and its libraries. Python and Node have the last one's, and run the
/// same cases in their own tests.
const DOORS: [&str; 6] = ["plain", "from", "link", "tool", "mcp", "memory"];

/// Whether a case goes through a door. Through each of the slow ones goes one of eight, unless the
/// long tests run whole.
fn is_tried(nth: usize, door: &str) -> bool {
    let turn = ["link", "tool", "mcp"].iter().position(|one| *one == door);
    whole() || turn.is_none_or(|turn| nth % 8 == turn)
}

/// Sends a text through a door, to the files that all cases begin with.
fn through(door: &str, form: &str, sent: &[u8]) -> Option<Outcome> {
    let (dir, home) = (temp(), temp());
    testutils::takers::write(dir.path(), &files(&folder().join("before")));
    let run =
        |name: &str, args: &[&str], input: &[u8]| run(name, dir.path(), home.path(), args, input);
    let of_json = |answer: Value| {
        let notes = answer["data"]["notes"].as_array().cloned().unwrap_or_default();
        Outcome {
            ok: answer["ok"] == true,
            said: answer["error"]["message"].as_str().unwrap_or_default().to_owned(),
            notes: notes.iter().filter_map(|note| note.as_str().map(str::to_owned)).collect(),
            after: files(dir.path()),
        }
    };
    let plain = ["--json", "--durability", "none"];
    let args = || Some(json!({ "patch": std::str::from_utf8(sent).ok()? }));
    Some(match door {
        "plain" => of_json(run("apply-patch", &plain, sent).json().expect("JSON")),
        "from" => {
            let args = [&plain[..], &["--from", form]].concat();
            of_json(run("apply-patch", &args, sent).json().expect("JSON"))
        }
        "link" => {
            let run = run("apply_patch", &[], sent);
            let notes = run.stderr.lines().map(str::to_owned).collect();
            let said = run.stderr.replace("\n", " ");
            Outcome { ok: run.code == 0, said, notes, after: files(dir.path()) }
        }
        "tool" => {
            let args = args()?.to_string();
            let run = run("apply-patch", &["tool", "apply_patch", "--args", "-"], args.as_bytes());
            of_json(run.json().expect("JSON"))
        }
        "mcp" => {
            let request = |id: u32, method: &str, params: Value| {
                json!({
                    "jsonrpc": "2.0", "id": id, "method": method, "params": params,
                })
            };
            let client = json!({ "name": "t", "version": "1" });
            let begin = json!({
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
            });
            let call = json!({ "name": "apply_patch", "arguments": args()? });
            let input = format!(
                "{}\n{}\n{}\n",
                request(1, "initialize", begin),
                json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
                request(2, "tools/call", call)
            );
            let run = run("apply-patch", &["serve", "--mcp"], input.as_bytes());
            let answer = run.stdout.lines().filter_map(|line| {
                let answer: Value = serde_json::from_str(line).expect("JSON");
                (answer["id"] == 2).then_some(answer)
            });
            let answer = answer.collect::<Vec<_>>().pop().expect("an answer");
            of_json(answer["result"]["structuredContent"].clone())
        }
        _ => {
            let mut after = files(dir.path());
            let of = |(path, (_, bytes)): (&String, &(u32, Vec<u8>))| {
                (path.clone(), String::from_utf8(bytes.clone()).expect("text"))
            };
            let tree: MemoryTree = after.iter().map(of).collect();
            match apply_in_memory(&tree, sent, &PatchOptions::default()) {
                Ok((changed, plan)) => {
                    for file in changed {
                        match file.after {
                            Some(content) => {
                                let bytes = content.bytes.to_vec();
                                after.insert(file.path.to_string(), (0, bytes));
                            }
                            None => drop(after.remove(file.path.as_str())),
                        }
                    }
                    Outcome { ok: true, said: String::new(), notes: plan.notes(), after }
                }
                Err(error) => Outcome { ok: false, said: error.message, notes: Vec::new(), after },
            }
        }
    })
}

#[test]
fn what_is_applied_is_the_patch_inside_at_every_door() {
    let before = files(&folder().join("before"));
    let mut failed = Vec::new();
    let cases = cases();
    let mut counts = BTreeMap::new();
    for (nth, Case { name, outcome, notes, sent, inside }) in cases.iter().enumerate() {
        let (outcome, words) = outcome.split_once(": ").expect("an outcome and its words");
        let recovered = outcome == "recovered";
        assert!(recovered || outcome == "refused", "{name}: {outcome}");
        let form = match words {
            "diff" => "unified",
            "blocks" | "edits" | "files" => "blocks",
            _ => "envelope",
        };
        let wanted = inside.as_deref().map(|inside| {
            let form = if form == "blocks" { "envelope" } else { form };
            let direct = through("from", form, inside).expect("it runs");
            let (ok, said) = (direct.ok, direct.said);
            assert!(ok, "{name}: the patch inside: {said}");
            assert!(direct.after != before, "{name}: the patch inside: {said}");
            direct.after
        });
        // New files end as the profile says.
        let by_link = inside
            .as_deref()
            .filter(|_| is_tried(nth, "link"))
            .map(|inside| through("link", form, inside).expect("it runs").after);
        for door in DOORS.into_iter().filter(|door| *door != "from" && is_tried(nth, door)) {
            let Some(found) = through(door, form, sent) else { continue };
            let mut wrong = |what: String| failed.push(format!("--- {name}, {door}: {what}"));
            *counts.entry((door, found.ok)).or_insert(0) += 1;
            let said = &found.said;
            if found.ok != recovered {
                wrong(format!("{} {said:?} {:?}", found.ok, found.notes));
                continue;
            }
            let wanted = if door == "link" { &by_link } else { &wanted };
            if &found.after != wanted.as_ref().unwrap_or(&before) {
                wrong(format!("{:?}", found.after));
            }
            // Without a patch, the program called by the tool's name says how to give it one.
            let silent = door == "link" && sent.is_empty();
            if !recovered && !said.contains(words) && !silent {
                wrong(format!("{said:?} does not say {words:?}"));
            }
            let is_noted = |note: &&String| found.notes.iter().any(|one| one.contains(&***note));
            for note in notes.iter().filter(|note| !is_noted(note)) {
                wrong(format!("{note:?} is not among {:?}", found.notes));
            }
            // What is taken off is always noted. A byte-order mark, CRLF and empty lines around it
            // are no wrapper, and what stands between the files of a diff is its own.
            let text = |bytes: &[u8]| {
                String::from_utf8_lossy(bytes).replace(['\u{feff}', '\r'], "").trim().to_owned()
            };
            let bare = text(sent) == text(inside.as_deref().unwrap_or_default())
                || name.contains("numbers-")
                || form == "unified";
            if recovered && door == "plain" && !bare && found.notes.is_empty() {
                wrong("nothing is noted".into());
            }
        }
        // Read as an envelope it is that, or nothing. Quotation marks are then a part of the path.
        if name.contains("-path") || name.contains("-header-with-stars") {
            continue;
        }
        let one = through("from", "envelope", sent).expect("it runs");
        let untouched = if one.ok && form != "unified" {
            wanted
        } else if one.ok {
            through("from", "envelope", inside.as_deref().unwrap_or_default()).map(|it| it.after)
        } else {
            // The error names what is around the patch, and what its first line should be; or it
            // names the form that it is, and the advice is to have that found out.
            let said = ["its first line `*** Begin Patch`", "another form was named"];
            let names_it = said.iter().any(|words| one.said.contains(words));
            let marked = name.contains("byte-order-mark") || form == "unified";
            if recovered && !names_it && !marked {
                failed.push(format!("--- {name}, as an envelope: {}", one.said));
            }
            Some(before.clone())
        };
        assert_eq!(Some(one.after), untouched, "{name} as an envelope");
    }
    eprintln!("{} dialects by door, taken and refused: {counts:?}", cases.len());
    assert!(failed.is_empty(), "{} wrong\n{}", failed.len(), failed.join("\n"));
    assert!(cases.len() >= 200, "{}", cases.len());
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
        (&format!("{both}{diff}"), "all", Err("patches of several forms")),
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

/// A run on the files that all cases begin with, and what it leaves.
fn applied(args: &[&str], input: &[u8]) -> (Run, Snapshot) {
    let (dir, home) = (temp(), temp());
    testutils::takers::write(dir.path(), &files(&folder().join("before")));
    let args = [&["--json", "--durability", "none"], args].concat();
    let run = run("apply-patch", dir.path(), home.path(), &args, input);
    (run, files(dir.path()))
}

/// The table of the cases, which `docs/dialects.md` links.
#[test]
fn the_table_of_the_documentation_is_that_of_the_cases() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/dialects.md");
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
        "DIALECTS_WRITE=1 writes tests/dialects.md anew"
    );
}
