//! What a session has read, and what it may therefore write.

use std::fs;
use std::time::Duration;

use patch_session::audit::Audit;
use patch_session::{Session, SessionSettings};
use serde_json::json;

use crate::support::{Bench, call, done, fails, patch, session, settings, sha};

#[test]
fn a_write_over_a_change_that_was_not_read_is_stale_without_any_hash() {
    let text = "*** Begin Patch\n*** Update File: f\n@@\n-mine\n+ours\n*** End Patch\n";
    let replace = "*** Begin Patch\n*** Add File: f\n+all new\n*** End Patch\n";
    for (tool, args) in [
        ("apply_patch", json!({ "patch": text })),
        ("apply_patch", json!({ "patch": replace, "profile": "codex" })),
        ("apply_patch", json!({ "patch": text, "dryRun": true })),
        ("delete_file", json!({ "path": "f" })),
        (
            "move_file",
            json!({
                "fromPath": "g", "toPath": "f", "expectedSha256": sha(b"g"), "overwrite": true,
            }),
        ),
    ] {
        let bench = Bench::new(&[("f", b"mine\n"), ("g", b"g")]);
        bench.done("read_file", &json!({ "path": "f" }));
        bench.write("f", b"mine\nand theirs\n");
        bench.fails(tool, &args, "stale_file");
        assert_eq!(bench.read("f"), b"mine\nand theirs\n");
        bench.done("read_file", &json!({ "path": "f" }));
        bench.done(tool, &args);
    }
}

#[test]
fn what_the_session_did_not_read_is_not_checked() {
    let bench = Bench::new(&[("f", b"x")]);
    bench.done("delete_file", &json!({ "path": "f" }));
}

#[test]
fn our_own_writes_are_known() {
    let bench = Bench::new(&[("f", b"a\n")]);
    bench.done("read_file", &json!({ "path": "f" }));
    let step = |old: &str, new: &str| {
        let text =
            format!("*** Begin Patch\n*** Update File: f\n@@\n-{old}\n+{new}\n*** End Patch\n");
        bench.done("apply_patch", &json!({ "patch": text }));
    };
    step("a", "b");
    step("b", "c");
    bench.done(
        "move_file",
        &json!({ "fromPath": "f", "toPath": "g", "expectedSha256": sha(b"c\n") }),
    );
    bench.done("delete_file", &json!({ "path": "g" }));
    // It is gone for us; a new one made by somebody else is not in our way.
    bench.write("g", b"theirs");
    bench.done("delete_file", &json!({ "path": "g" }));
}

#[test]
fn a_session_outlives_its_process() {
    let bench = Bench::new(&[("f", b"a")]);
    done(&bench.resume("one"), "read_file", &json!({ "path": "f" }));
    bench.write("f", b"b");
    let refused = fails(&bench.resume("one"), "delete_file", &json!({ "path": "f" }), "stale_file");
    assert!(refused["message"].as_str().unwrap().contains("since this session read it"));
    done(&bench.resume("two"), "read_file", &json!({ "path": "f" }));
    done(&bench.resume("two"), "delete_file", &json!({ "path": "f" }));
    // What a crash cut off says nothing.
    let ledger = bench.path(".apply-patch/sessions/one.reads");
    let text = std::fs::read_to_string(&ledger).unwrap();
    std::fs::write(&ledger, &text[..text.len() - 1]).unwrap();
    bench.write("f", b"c");
    done(&bench.resume("one"), "delete_file", &json!({ "path": "f" }));
}

#[test]
fn session_names_are_no_paths() {
    for name in ["", "..", "a/b", "a.b", "é", &"x".repeat(65)] {
        assert!(name.parse::<patch_session::SessionName>().is_err(), "{name}");
    }
}

#[test]
fn threads_may_share_the_tools() {
    fn shared<T: Send + Sync>() {}
    shared::<patch_session::Session>();
}

#[test]
fn a_patch_that_no_longer_fits_what_was_read_is_stale_and_not_wrong() {
    let text = "*** Begin Patch\n*** Update File: f\n@@\n-mine\n+ours\n*** End Patch\n";
    let bench = Bench::new(&[("f", b"mine\n")]);
    bench.done("read_file", &json!({ "path": "f" }));
    bench.write("f", b"theirs\n");
    bench.fails("apply_patch", &json!({ "patch": text }), "stale_file");
    bench.done("read_file", &json!({ "path": "f" }));
    bench.fails("apply_patch", &json!({ "patch": text }), "patch_apply_error");
}

/// What is read is written down under a lock, and it waits as long for it as for the others.
#[test]
fn the_ledger_waits_for_its_lock_as_long_as_it_is_told() {
    let bench = Bench::new(&[("f", b"x")]);
    done(&bench.resume("one"), "read_file", &json!({ "path": "f" }));
    let (state, _) = bench.workspace().root().create_state_dir().unwrap();
    let lock =
        state.open_or_create_dir("sessions").unwrap().spot("lock").lock(Duration::ZERO).unwrap();
    let (answered, answer) = std::sync::mpsc::channel();
    let holder = std::thread::spawn(move || {
        let seen = answer.recv_timeout(Duration::from_secs(5)).is_ok();
        drop(lock);
        seen
    });
    let impatient = SessionSettings { lock_timeout: Duration::ZERO, ..settings() };
    let audit = Audit::new(session("two"), None);
    let tools = Session::resume(bench.workspace(), audit, impatient).unwrap();
    fails(&tools, "read_file", &json!({ "path": "f" }), "timeout");
    let _ = answered.send(());
    assert!(holder.join().unwrap(), "it waited for the lock to be given up");
}

/// Whoever changed a file since it was read is named, in the message and as data.
#[test]
fn who_changed_a_file_since_is_told() {
    const OTHER: &str = "by an editor or another program, not by apply-patch";
    let bench = Bench::new(&[("a", b"1\n2\n3\n"), ("b", b"1\n")]);
    let tools = bench.resume("mine");
    let by_session = |path: &str| {
        bench.tools().begin_turn(Some("t9".parse().unwrap())).unwrap();
        let section = format!("*** Update File: {path}\n@@\n-1\n+one\n");
        let done = bench.done("apply_patch", &json!({ "patch": patch(&section) }));
        bench.tools().end_turn().unwrap();
        done["transactionId"].clone()
    };
    let write = |path: &str| {
        let args = json!({ "path": path, "content": "mine\n" });
        fails(&tools, "write_file", &args, "stale_file")
    };
    for path in ["a", "b"] {
        done(&tools, "read_file", &json!({ "path": path }));
    }
    let id = by_session("a");
    let error = write("a");
    let by = &error["details"]["changedBy"];
    assert_eq!(by["transactionId"], id, "{error}");
    assert_eq!(
        [&by["agent"], &by["session"], &by["turnId"], &by["tool"]],
        ["agent", "test", "t9", "apply_patch"]
    );
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("; last changed by agent in session test, turn t9 (apply_patch, 2"));
    // A hunk that is carried there names it too.
    let edit = json!([{ "oldText": "3", "newText": "three" }]);
    let reply = call(&tools, "edit_file", &json!({ "path": "a", "edits": edit }));
    assert_eq!(reply["data"]["carried"][0]["changedBy"]["transactionId"], id, "{reply}");
    assert!(reply["output"].as_str().is_some_and(|text| text.contains("a (last changed by agent")));

    // What the history does not know was done by something else, also on top of what it knows.
    by_session("b");
    bench.write("b", b"edited\n");
    let error = write("b");
    assert!(error["message"].as_str().is_some_and(|text| text.ends_with(OTHER)), "{error}");
    assert_eq!(error["details"]["changedBy"], json!({ "byApplyPatch": false }));
    fs::remove_file(bench.path("b")).unwrap();
    let error = fails(&tools, "delete_file", &json!({ "path": "b" }), "stale_file");
    assert!(error["message"].as_str().is_some_and(|text| text.ends_with(OTHER)), "{error}");

    // The session itself, to a caller that gives an old hash; and each file of a patch.
    let old = sha(b"1\n");
    let now = done(&tools, "create_file", &json!({ "path": "n", "content": "x\n" }));
    let args = json!({ "path": "n", "content": "y\n", "expectedSha256": old });
    let error = fails(&tools, "write_file", &args, "stale_file");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("by this session (create")));
    assert_eq!(error["details"]["changedBy"]["transactionId"], now["transactionId"]);
    bench.write("b", b"1\n");
    let body = "*** Update File: n\n@@\n-x\n+z\n*** Update File: b\n@@\n-1\n+2\n";
    let expected = json!([{ "path": "n", "sha256": old }, { "path": "b", "sha256": sha(b"") }]);
    let args = json!({ "patch": patch(body), "expectedSha256ByPath": expected });
    let error = fails(&tools, "apply_patch", &args, "stale_file");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("; b was last changed by")));
    assert_eq!(error["details"]["changedBy"]["byApplyPatch"], false, "{error}");
    assert_eq!(error["details"]["rejects"][0]["changedBy"]["ownSession"], true, "{error}");
}
