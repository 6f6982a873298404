//! Files that change between reading and editing: edits are carried to where their lines are, or
//! nothing is done.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use file_tools::Tools as _;
use fs_guard::fault::{Fault, arm, disarm};
use patch_session::audit::Audit;
use patch_session::{Session, SessionSettings};
use serde_json::{Value, json};

use crate::support::{Bench, call, done, fails, patch, session, settings, sha};
use testutils::share::every;

/// A file as it is read, and as others leave it: the first lines are new, the last ones indented.
const READ: &str = "fn one() {\n    1\n}\n\nfn two() {\n    2\n}\n\nfn three() {\n    3\n}\n";
const CHANGED: &str =
    "// new\nfn one() {\n    1\n}\n\nfn two() {\n    2\n}\n\nfn three() {\n        3\n}\n";
const WANTED: &str =
    "// new\nfn one() {\n    1\n}\n\nfn two() {\n    22\n}\n\nfn three() {\n        3\n}\n";

/// Every tool that edits, with what replaces one line, and whether the call may be carried.
fn edits(path: &str, old: &str, new: &str, more: &Value) -> Vec<(&'static str, Value)> {
    let with = |mut args: Value| {
        let more = more.as_object().unwrap().clone();
        args.as_object_mut().unwrap().extend(more);
        args
    };
    let text = patch(&format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n"));
    vec![
        ("apply_patch", with(json!({ "patch": text }))),
        ("apply_patch", with(json!({ "patch": text, "profile": "codex", "atomic": false }))),
        ("edit_file", with(json!({ "path": path, "edits": [{ "oldText": old, "newText": new }] }))),
        ("edit.patch", with(json!({ "patch": text }))),
    ]
}

fn read_and_changed() -> Bench {
    let bench = Bench::new(&[("f", READ.as_bytes())]);
    bench.done("read_file", &json!({ "path": "f" }));
    bench.write("f", CHANGED.as_bytes());
    bench
}

#[test]
fn every_editing_tool_carries_what_was_read_to_the_file_as_it_is() {
    for (tool, args) in edits("f", "    2", "    22", &json!({})) {
        let bench = read_and_changed();
        let reply = bench.call(tool, &args);
        assert_eq!(reply["ok"], true, "{tool}: {reply}");
        assert_eq!(String::from_utf8(bench.read("f")).unwrap(), WANTED, "{tool}");
        let carried =
            if tool == "edit.patch" { &reply["carried"] } else { &reply["data"]["carried"] };
        let lines = |first: u64, last: u64| json!({ "startLine": first, "endLine": last });
        let by = json!({ "byApplyPatch": false });
        let (from, to) = (lines(5, 7), lines(6, 8));
        let wanted = json!([{ "path": "f", "hunk": 0, "from": from, "to": to, "changedBy": by }]);
        assert_eq!(carried, &wanted, "{tool}");
    }
}

#[test]
fn a_hash_that_is_given_is_as_good_as_what_the_session_saw() {
    let bench = read_and_changed();
    // Another session has read nothing, and knows the hash from elsewhere.
    let other = bench.with(settings());
    let text = patch("*** Update File: f\n@@\n-    2\n+    22\n");
    let args = json!({
        "patch": text, "expectedSha256ByPath": { "f": sha(READ.as_bytes()) }, "dryRun": true,
    });
    let planned = done(&other, "apply_patch", &args);
    assert_eq!(planned["dryRun"].clone(), json!(true));
    assert_eq!(planned["carried"][0]["path"].clone(), json!("f"));
    let edits = json!([{ "oldText": "    2", "newText": "    22" }]);
    done(
        &other,
        "edit_file",
        &json!({ "path": "f", "expectedSha256": sha(READ.as_bytes()), "edits": edits }),
    );
    assert_eq!(bench.read("f"), WANTED.as_bytes());
}

#[test]
fn nothing_is_carried_where_that_is_not_wanted_or_the_bytes_are_not_known() {
    for (tool, args) in edits("f", "    2", "    22", &json!({ "carry": false })) {
        let reply = read_and_changed().call(tool, &args);
        assert!(reply.to_string().contains("stale_file"), "{tool}: {reply}");
        assert!(!reply.to_string().contains("conflict"), "{tool}: {reply}");
    }
    let bench = read_and_changed();
    let content = json!({ "path": "f", "content": "all new\n" });
    assert_eq!(bench.fails("write_file", &content, "stale_file")["details"]["reason"], "stale");
    // What was never shown.
    let unknown = sha(b"something else");
    let edits = json!([{ "oldText": "    2", "newText": "    22" }]);
    let args = json!({ "path": "f", "expectedSha256": unknown, "edits": edits });
    assert_eq!(bench.fails("edit_file", &args, "stale_file")["details"]["reason"], "stale");
    let text = patch("*** Update File: f\n@@\n-    2\n+    22\n");
    let args = json!({ "patch": text, "expectedSha256ByPath": { "f": unknown } });
    assert_eq!(bench.fails("apply_patch", &args, "stale_file")["details"]["reason"], "stale");
    assert_eq!(bench.read("f"), CHANGED.as_bytes());
}

#[test]
fn a_conflict_has_the_three_texts_and_says_what_to_do() {
    for (tool, args) in edits("f", "    3", "    33", &json!({})) {
        let bench = read_and_changed();
        let reply = bench.call(tool, &args);
        assert_eq!(reply["ok"], false, "{tool}: {reply}");
        assert_eq!(bench.read("f"), CHANGED.as_bytes(), "{tool}");
        if tool == "edit.patch" {
            let line = reply["error"].as_str().unwrap();
            assert!(line.starts_with("stale_file: f: "), "{line}");
            assert!(line.contains("read line 11 of f again"), "{line}");
        } else {
            let details = &reply["error"]["details"];
            let texts =
                ["base", "current", "wanted"].map(|side| details[side]["text"].as_str().unwrap());
            assert_eq!(details["reason"].as_str(), Some("conflict"));
            assert_eq!(texts, ["    3\n", "        3\n", "    33\n"]);
            let hint = &reply["error"]["hints"][0];
            assert_eq!(&hint["hint"], &json!("read_again"));
            assert_eq!(&hint["startLine"], &json!(11));
            assert_eq!(&hint["endLine"], &json!(11));
        }
        // That can be done.
        bench.done("read_file", &json!({ "path": "f", "startLine": 11, "endLine": 11 }));
        let (tool, args) = edits("f", "        3", "        33", &json!({}))
            .into_iter()
            .find(|it| it.0 == tool)
            .unwrap();
        assert_eq!(bench.call(tool, &args)["ok"], true, "{tool}");
    }
}

/// What others changed is not seen by it, so that nothing is written over that.
#[test]
fn after_an_edit_was_carried_the_session_has_not_seen_the_rest_of_the_file() {
    for (tool, args) in edits("f", "    2", "    22", &json!({})) {
        let bench = read_and_changed();
        assert_eq!(bench.call(tool, &args)["ok"], true);
        bench.fails("write_file", &json!({ "path": "f", "content": "all new\n" }), "stale_file");
        bench.fails("delete_file", &json!({ "path": "f" }), "stale_file");
        bench.fails("move_file", &json!({ "fromPath": "f", "toPath": "g" }), "stale_file");
        let delete = patch("*** Delete File: f\n");
        bench.fails("apply_patch", &json!({ "patch": delete }), "stale_file");
        // The next edit goes by what it takes the file to be.
        let (tool, args) =
            edits("f", "    22", "    23", &json!({})).into_iter().find(|it| it.0 == tool).unwrap();
        assert_eq!(bench.call(tool, &args)["ok"], true, "{tool}");
        assert_eq!(
            String::from_utf8(bench.read("f")).unwrap(),
            WANTED.replace("22", "23"),
            "{tool}"
        );
        // Neither has it when its own edit is undone.
        let newest = bench.workspace().log().unwrap()[0].journal.header.id.to_string();
        bench.done("undo", &json!({ "transactionId": newest }));
        bench.fails("delete_file", &json!({ "path": "f" }), "stale_file");
        bench.done("read_file", &json!({ "path": "f" }));
        bench.done("delete_file", &json!({ "path": "f" }));
    }
}

/// A formatter that runs after each edit: it doubles the indentation of every line but that of the
/// next edits, and adds a line.
#[test]
fn a_formatter_after_each_edit_makes_no_edit_stale() {
    for (tool, _) in edits("", "", "", &json!({})) {
        let lines: String = (0..40).map(|n| format!("  line {n}\n")).collect();
        let bench = Bench::new(&[("f", lines.as_bytes())]);
        bench.done("read_file", &json!({ "path": "f" }));
        for nth in 0..10 {
            let at = 4 * nth;
            let (old, new) = (format!("  line {at}"), format!("  LINE {at}"));
            let edits = edits("f", &old, &new, &json!({}));
            let args = &edits.iter().find(|edit| edit.0 == tool).unwrap().1;
            let mut args = args.clone();
            if let Some(edits) = args.get_mut("edits") {
                // The text has to be there once.
                edits[0]["oldText"] = json!(format!("{old}\n"));
                edits[0]["newText"] = json!(format!("{new}\n"));
            }
            let reply = bench.call(tool, &args);
            assert_eq!(reply["ok"], true, "{tool} {nth}: {reply}");
            let text = String::from_utf8(bench.read("f")).unwrap();
            // It does not touch what stands beside the lines that are edited.
            let formatted: String = text
                .lines()
                .map(|line| {
                    match line
                        .trim_start()
                        .strip_prefix("line ")
                        .and_then(|n| n.parse::<usize>().ok())
                    {
                        Some(n) if n % 4 == 2 => format!("  {line}\n"),
                        _ => format!("{line}\n"),
                    }
                })
                .collect();
            bench.write("f", format!("# formatted {nth}\n{formatted}").as_bytes());
        }
        let text = String::from_utf8(bench.read("f")).unwrap();
        assert_eq!(text.matches("  LINE ").count(), 10, "{tool}: {text}");
        assert_eq!(text.matches("# formatted").count(), 10, "{tool}: {text}");
    }
}

#[test]
fn what_others_did_already_is_done() {
    for (tool, args) in edits("f", "    2", "    22", &json!({})) {
        let bench = read_and_changed();
        bench.write("f", WANTED.as_bytes());
        let reply = bench.call(tool, &args);
        assert_eq!(reply["ok"], true, "{tool}: {reply}");
        let carried =
            if tool == "edit.patch" { &reply["carried"] } else { &reply["data"]["carried"] };
        assert_eq!(carried[0]["alreadyThere"], true, "{tool}: {reply}");
        assert_eq!(bench.read("f"), WANTED.as_bytes());
    }
}

/// A place that was added since would be left out.
#[test]
fn what_is_replaced_wherever_it_is_may_not_be_elsewhere_too() {
    let read = "a x\nb\nc\nd x\ne\n";
    let edit =
        json!({ "path": "f", "edits": [{ "oldText": "x", "newText": "y", "replaceAll": true }] });
    for (now, wanted) in [
        ("a x\nb\nnew\nc\nd x\ne\n", Some("a y\nb\nnew\nc\nd y\ne\n")),
        ("a x\nb\nx\nc\nd x\ne\n", None),
    ] {
        let bench = Bench::new(&[("f", read.as_bytes())]);
        bench.done("read_file", &json!({ "path": "f" }));
        bench.write("f", now.as_bytes());
        match wanted {
            Some(wanted) => {
                bench.done("edit_file", &edit);
                assert_eq!(bench.read("f"), wanted.as_bytes());
            }
            None => assert_eq!(
                bench.fails("edit_file", &edit, "stale_file")["details"]["reason"],
                "stale"
            ),
        }
    }
}

#[test]
fn an_edit_that_fits_the_file_and_not_what_was_read_is_stale() {
    for (tool, args) in edits("f", "// new", "// old", &json!({})) {
        let reply = read_and_changed().call(tool, &args).to_string();
        assert!(reply.contains("stale_file"), "{tool}: {reply}");
        assert!(!reply.contains("conflict"), "{tool}: {reply}");
    }
}

/// Lines of other encodings are not compared.
#[test]
fn what_is_stored_in_another_encoding_is_stale() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let bench = Bench::new(&[("f", &utf16(&format!("\u{feff}{READ}")))]);
    bench.done("read_file", &json!({ "path": "f" }));
    bench.write("f", &utf16(&format!("\u{feff}{CHANGED}")));
    for (tool, args) in edits("f", "    2", "    22", &json!({})) {
        let reply = bench.call(tool, &args).to_string();
        assert!(reply.contains("stale_file"), "{tool}: {reply}");
        assert!(!reply.contains("conflict"), "{tool}: {reply}");
    }
}

#[test]
fn the_editor_tool_carries_too_and_says_so() {
    let bench = read_and_changed();
    let replace = json!({
        "command": "str_replace", "path": "f", "old_str": "    2\n", "new_str": "    22\n",
    });
    let reply = bench.tools().editor(&replace, None, &mut ());
    assert!(!reply.is_error, "{}", reply.content);
    assert!(reply.content.contains("carried"), "{}", reply.content);
    assert_eq!(bench.read("f"), WANTED.as_bytes());
    let insert =
        json!({ "command": "insert", "path": "f", "insert_line": 0, "insert_text": "x\n" });
    assert!(
        bench.tools().editor(&insert, None, &mut ()).is_error,
        "a line number is not a place in another file"
    );
}

/// The snapshots, by the hash in their names.
fn snapshots(bench: &Bench) -> BTreeMap<String, PathBuf> {
    let Ok(entries) = fs::read_dir(bench.path(".apply-patch/snapshots")) else {
        return BTreeMap::new();
    };
    let entries = entries.map(|entry| entry.unwrap());
    let hash = |name: String| match name.split_once('-') {
        Some((hash, path)) if path.len() == 32 => hash.to_owned(),
        _ => name,
    };
    entries.map(|entry| (hash(entry.file_name().into_string().unwrap()), entry.path())).collect()
}

#[test]
fn snapshots_are_named_by_their_hash_compressed_and_private() {
    let text = "some line of text\n".repeat(1000);
    let bench = Bench::new(&[("f", text.as_bytes())]);
    // A slice is shown, and the hash is that of the whole file.
    done(&bench.resume("one"), "read_file", &json!({ "path": "f", "startLine": 5, "endLine": 6 }));
    let kept = snapshots(&bench);
    assert_eq!(kept.keys().collect::<Vec<_>>(), [&sha(text.as_bytes())]);
    let seen = kept.values().next().unwrap().metadata().unwrap();
    assert_eq!(seen.permissions().mode() & 0o777, 0o600);
    assert!(seen.len() < 500, "{} bytes", seen.len());
    assert_eq!(
        bench.path(".apply-patch/snapshots").metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
    // Another process takes it up.
    bench.write("f", format!("first\n{text}").as_bytes());
    let args = json!({
        "path": "f",
        "edits": [{ "oldText": "some line", "newText": "any line", "expectedOccurrences": 1000 }],
    });
    fails(&bench.resume("one"), "edit_file", &args, "stale_file");
    let text = patch("*** Update File: f\n@@\n+last\n*** End of File\n");
    done(&bench.resume("one"), "apply_patch", &json!({ "patch": text }));
    assert!(bench.read("f").ends_with(b"text\nlast\n"));
}

#[test]
fn what_has_not_the_hash_of_its_name_is_not_used() {
    for damage in ["cut", "other", "empty", "link", "length"] {
        let bench = read_and_changed();
        let kept = snapshots(&bench).remove(&sha(READ.as_bytes())).unwrap();
        let bytes = fs::read(&kept).unwrap();
        match damage {
            "cut" => fs::write(&kept, &bytes[..bytes.len() - 1]).unwrap(),
            "empty" => fs::write(&kept, "").unwrap(),
            "length" => fs::write(&kept, [&[0xff; 8], &bytes[8..]].concat()).unwrap(),
            "link" => {
                fs::rename(&kept, bench.path("elsewhere")).unwrap();
                std::os::unix::fs::symlink(bench.path("elsewhere"), &kept).unwrap();
            }
            // A whole one, of a file that has the line too.
            _ => {
                bench.write("g", READ.replace("fn three", "fn four").as_bytes());
                bench.done("read_file", &json!({ "path": "g" }));
                let other = snapshots(&bench)
                    .remove(&sha(READ.replace("fn three", "fn four").as_bytes()))
                    .unwrap();
                fs::copy(other, &kept).unwrap();
            }
        }
        for (tool, args) in edits("f", "    2", "    22", &json!({})) {
            let reply = bench.call(tool, &args).to_string();
            assert!(reply.contains("stale_file"), "{damage} {tool}: {reply}");
            assert!(!reply.contains("conflict"), "{damage} {tool}: {reply}");
        }
        assert_eq!(bench.read("f"), CHANGED.as_bytes(), "{damage}");
    }
}

#[test]
fn forbidden_binary_and_large_files_are_not_kept_and_without_room_nothing_is() {
    let noise: Vec<u8> =
        (0..40_000u32).map(|n| 1 + (n.wrapping_mul(2_654_435_761) >> 25) as u8).collect();
    let bench =
        Bench::new(&[(".env", b"KEY=1\n"), ("bin", b"a\0b"), ("noise", &noise), ("f", b"x\n")]);
    let reads = |tools: &Session| {
        fails(tools, "read_file", &json!({ "path": ".env" }), "permission_denied");
        fails(tools, "read_file", &json!({ "path": "bin" }), "binary_file");
        done(tools, "read_file", &json!({ "path": "bin", "allowBinary": true }));
        done(tools, "read_file", &json!({ "path": "noise" }));
        done(tools, "read_file", &json!({ "path": "f" }));
    };
    reads(&bench.with(SessionSettings { max_snapshots: 0, ..settings() }));
    assert!(!bench.exists(".apply-patch/snapshots"));
    reads(&bench.with(SessionSettings { max_snapshots: 100_000, ..settings() }));
    assert_eq!(snapshots(&bench).into_keys().collect::<Vec<_>>(), [sha(b"x\n")]);
}

/// When there is a look at the size of all, which the hash of the new one decides, the oldest go.
#[test]
fn the_oldest_snapshots_go_first() {
    let text = |n: usize| format!("{n} {}\n", "x".repeat(8 + n % 7));
    let looks = |n: &usize| u8::from_str_radix(&sha(text(*n).as_bytes())[..2], 16).unwrap() < 4;
    let last = (100..).find(looks).unwrap();
    let files: Vec<usize> = (0..400).filter(|n| !looks(n)).take(120).chain([last]).collect();
    let bench = Bench::new(&[]);
    let tools = bench.with(SessionSettings { max_snapshots: 2000, ..settings() });
    let mut before = 0;
    for (age, n) in files.iter().enumerate() {
        bench.write("f", text(*n).as_bytes());
        done(&tools, "read_file", &json!({ "path": "f" }));
        let kept = &snapshots(&bench)[&sha(text(*n).as_bytes())];
        if *n != last {
            before += 1;
            assert_eq!(snapshots(&bench).len(), before);
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age as u64);
            fs::File::options().write(true).open(kept).unwrap().set_modified(time).unwrap();
        }
    }
    assert_eq!(before, 120, "until then nothing goes");
    let kept = snapshots(&bench);
    let sizes = kept.values().map(|path| path.metadata().unwrap().len());
    let (count, size) = (kept.len(), sizes.clone().sum::<u64>());
    assert!(size <= 2000, "{size} bytes in {count} files");
    assert!(size + sizes.max().unwrap() > 2000, "{size} bytes in {count} files");
    let newest = files[files.len() - count..].iter().map(|n| sha(text(*n).as_bytes()));
    assert_eq!(kept.into_keys().collect::<Vec<_>>(), {
        let mut newest: Vec<_> = newest.collect();
        newest.sort();
        newest
    });
}

/// A version that a transaction displaced needs no snapshot.
#[test]
fn what_is_in_the_trash_is_a_base_too() {
    let bench = Bench::new(&[("f", READ.as_bytes())]);
    let tools = bench.with(SessionSettings { max_snapshots: 0, ..settings() });
    done(&tools, "read_file", &json!({ "path": "f" }));
    let other = bench.with(SessionSettings { max_snapshots: 0, ..settings() });
    let first = patch("*** Update File: f\n@@\n-    1\n+    11\n");
    done(&other, "apply_patch", &json!({ "patch": first }));
    let second = patch("*** Update File: f\n@@\n-    3\n+    33\n");
    done(&tools, "apply_patch", &json!({ "patch": second }));
    let now = String::from_utf8(bench.read("f")).unwrap();
    assert_eq!(now, READ.replace("    1", "    11").replace("    3", "    33"));
}

/// What a session wrote it has seen: also a new file, and one that moved.
#[test]
fn what_was_written_is_known() {
    let bench = Bench::new(&[]);
    bench.done("create_file", &json!({ "path": "f", "content": READ }));
    bench.write("f", CHANGED.as_bytes());
    let text = patch("*** Update File: f\n*** Move to: g\n@@\n-    2\n+    22\n");
    bench.done("apply_patch", &json!({ "patch": text }));
    assert_eq!(bench.read("g"), WANTED.as_bytes());
    bench.write("g", format!("// newer\n{WANTED}").as_bytes());
    let (tool, args) = edits("g", "    22", "    23", &json!({})).remove(2);
    bench.done(tool, &args);
    assert_eq!(
        String::from_utf8(bench.read("g")).unwrap(),
        format!("// newer\n{}", WANTED.replace("22", "23"))
    );
}

/// How many system calls more a read makes that keeps a snapshot. Nothing is synced.
#[test]
fn keeping_a_snapshot_takes_a_few_system_calls_and_reading_again_none() {
    let bench = Bench::new(&[("f", READ.as_bytes()), ("g", b"g\n")]);
    bench.done("delete_file", &json!({ "path": "g" }));
    let calls = |tools: &Session| {
        arm(Fault::Nothing, 0, true);
        done(tools, "read_file", &json!({ "path": "f" }));
        disarm()
    };
    let without = bench.with(SessionSettings { max_snapshots: 0, ..settings() });
    let plain = calls(&without);
    let with = bench.with(settings());
    // The folder is there from then on.
    calls(&bench.with(settings()));
    let keeping = calls(&with);
    assert!(!keeping.iter().any(|call| call.contains("sync")), "{keeping:?}");
    let more = keeping.len() - plain.len();
    assert!(more <= 8, "{more} more: {keeping:?}, not {plain:?}");
    assert_eq!(calls(&with), calls(&without), "nothing is kept twice");
}

/// Whatever call a process is killed at while it reads: the snapshot is there and whole, or it is
/// not there.
#[test]
fn a_kill_while_reading_leaves_a_whole_snapshot_or_none() {
    for fresh in [true, false] {
        let prepared = || {
            let bench = Bench::new(&[("f", READ.as_bytes()), ("g", b"g\n")]);
            if !fresh {
                bench.done("delete_file", &json!({ "path": "g" }));
            }
            bench
        };
        let bench = prepared();
        let tools = bench.resume("one");
        arm(Fault::Nothing, 0, true);
        done(&tools, "read_file", &json!({ "path": "f" }));
        let calls = disarm();
        let (mut whole, mut none) = (0, 0);
        for at in 1..=calls.len() + 1 {
            let bench = prepared();
            let tools = bench.resume("one");
            arm(Fault::Crash, at, true);
            let _ = call(&tools, "read_file", &json!({ "path": "f" }));
            disarm();
            let what = format!("killed at call {at} ({:?})", calls.get(at - 1));
            let kept = snapshots(&bench);
            let hash = sha(READ.as_bytes());
            assert!(kept.keys().all(|name| name.starts_with(&hash)), "{what}: {kept:?}");
            if kept.contains_key(&hash) {
                whole += 1
            } else {
                none += 1
            }
            let is_kept = kept.contains_key(&hash);
            bench.write("f", CHANGED.as_bytes());
            let other = bench.with(settings());
            let text = patch("*** Update File: f\n@@\n-    2\n+    22\n");
            let args = json!({ "patch": text, "expectedSha256ByPath": { "f": hash } });
            let reply = call(&other, "apply_patch", &args);
            assert_eq!(reply["ok"], is_kept, "{what}: {reply}");
            assert_eq!(
                bench.read("f"),
                if is_kept { WANTED } else { CHANGED }.as_bytes(),
                "{what}"
            );
            // And the next one can read, and keeps it.
            bench.write("f", READ.as_bytes());
            done(&bench.with(settings()), "read_file", &json!({ "path": "f" }));
            assert!(snapshots(&bench).contains_key(&hash), "{what}");
        }
        assert!(whole > 0, "{whole} whole, {none} none");
        assert!(none > 5, "{whole} whole, {none} none");
    }
}

/// Whatever call a process is killed at while it carries an edit: the file is old or new, and the
/// snapshots that have a name are whole.
#[test]
fn a_kill_while_an_edit_is_carried_leaves_the_old_file_or_the_new() {
    for (tool, args) in edits("f", "    2", "    22", &json!({})) {
        let bench = read_and_changed();
        arm(Fault::Nothing, 0, false);
        assert_eq!(bench.call(tool, &args)["ok"], true);
        let calls = disarm();
        let (mut old, mut new) = (0, 0);
        for at in 1..=calls.len() {
            let bench = read_and_changed();
            arm(Fault::Crash, at, false);
            let _ = bench.call(tool, &args);
            disarm();
            let what = format!("{tool} killed at call {at} ({})", calls[at - 1]);
            bench.workspace().recover_if_idle().unwrap();
            match String::from_utf8(bench.read("f")).unwrap() {
                now if now == CHANGED => old += 1,
                now if now == WANTED => new += 1,
                now => panic!("{what}: {now}"),
            }
            let names = snapshots(&bench).into_keys().filter(|name| name.len() == 64);
            for name in names {
                let others = bench.resume("after");
                bench.write("f", b"nothing of it\n");
                let gone = json!([{ "oldText": "    1\n", "newText": "    11\n" }]);
                let reply = call(
                    &others,
                    "edit_file",
                    &json!({ "path": "f", "expectedSha256": name, "edits": gone }),
                );
                assert_eq!(
                    reply["error"]["details"]["reason"], "conflict",
                    "{what}: {name} is whole: {reply}"
                );
            }
        }
        assert!(old > 0, "{tool}: {old} old, {new} new");
        assert!(new > 0, "{tool}: {old} old, {new} new");
    }
}

/// A kill at any call of the look at the size of all.
#[test]
fn a_kill_while_old_snapshots_go_leaves_whole_ones() {
    let text = |n: usize| format!("{n:011}\nb\nc\nd\n");
    let looks = |n: &usize| u8::from_str_radix(&sha(text(*n).as_bytes())[..2], 16).unwrap() < 4;
    let last = (0..).find(looks).unwrap();
    let small = || SessionSettings { max_snapshots: 2000, ..settings() };
    let prepared = || {
        let bench = Bench::new(&[]);
        let tools = bench.with(small());
        for n in (0..200).filter(|n| !looks(n)).take(100) {
            bench.write("f", text(n).as_bytes());
            done(&tools, "read_file", &json!({ "path": "f" }));
        }
        bench.write("f", text(last).as_bytes());
        (tools, bench)
    };
    let (tools, _bench) = prepared();
    arm(Fault::Nothing, 0, false);
    done(&tools, "read_file", &json!({ "path": "f" }));
    let calls = disarm();
    assert!(calls.iter().filter(|call| call.starts_with("unlink")).count() > 10, "{calls:?}");
    for at in (1..=calls.len()).step_by(every(4)) {
        let (tools, bench) = prepared();
        arm(Fault::Crash, at, false);
        let _ = call(&tools, "read_file", &json!({ "path": "f" }));
        disarm();
        for name in snapshots(&bench).into_keys().filter(|name| name.len() == 64) {
            bench.write("f", b"nothing of it\n");
            let gone = json!([{ "oldText": "c", "newText": "C" }]);
            let args = json!({ "path": "f", "expectedSha256": name, "edits": gone });
            let reply = call(&bench.with(small()), "edit_file", &args);
            assert_eq!(
                reply["error"]["details"]["reason"], "conflict",
                "call {at}: {name} is whole: {reply}"
            );
        }
    }
}

/// Reading fails for no reason that only concerns the snapshot.
#[test]
fn a_snapshot_that_cannot_be_kept_fails_nothing() {
    let bench = Bench::new(&[("f", READ.as_bytes()), ("g", b"g\n")]);
    bench.done("delete_file", &json!({ "path": "g" }));
    fs::write(bench.path(".apply-patch/snapshots"), "no folder").unwrap();
    bench.done("read_file", &json!({ "path": "f" }));
    let (tool, args) = edits("f", "    2", "    22", &json!({})).remove(0);
    bench.done(tool, &args);
    let audit = Audit::new(session("other"), None);
    let _ = Session::new(bench.workspace(), audit, settings());
}
