//! `apply_patch` and `edit.patch`.

use serde_json::{Value, json};

use crate::support::{Bench, patch, sha};

#[test]
fn applies_a_patch_and_tells_what_changed() {
    let bench = Bench::new(&[("a", b"one\ntwo\n"), ("b", b"B\n"), ("c", b"C\n")]);
    let text = patch(
        "*** Update File: a\n@@\n-two\n+TWO\n*** Add File: n\n+new\n*** Delete File: b\n\
         *** Move File: c -> d\n",
    );
    let dry = bench.done("apply_patch", &json!({ "patch": text, "dryRun": true }));
    assert_eq!(&dry["dryRun"], &json!(true));
    assert!(!bench.exists("n"));
    assert!(!bench.exists(".apply-patch"));
    let data = bench.done("apply_patch", &json!({ "patch": text }));
    assert_eq!(&data["atomic"], &json!(true));
    assert_eq!(&data["hunkCount"], &json!(1));
    let kinds: Vec<_> =
        data["changedFiles"].as_array().unwrap().iter().map(|file| &file["operation"]).collect();
    assert_eq!(kinds, ["update", "create", "move", "delete"]);
    assert_eq!(bench.read("a"), b"one\nTWO\n".to_vec());
    assert_eq!(bench.read("d"), b"C\n".to_vec());
    assert!(data["transactionId"].is_string());
    assert!(!bench.exists("b"));
    let kept = data["changedFiles"][3]["trashedTo"].as_str().unwrap();
    assert_eq!(bench.read(kept), b"B\n");
}

#[test]
fn every_failure_has_its_kind_and_changes_nothing() {
    let bench = Bench::new(&[("a", b"x\ny\nx\n"), ("bin", b"\0"), ("big", b"z\n")]);
    for (body, kind) in [
        ("*** Update File: a\n", "patch_parse_error"),
        ("*** Update File: a\n@@\n-none\n+n\n", "patch_apply_error"),
        ("*** Update File: a\n@@\n-x\n+n\n", "multiple_matches"),
        ("*** Update File: none\n@@\n-x\n+n\n", "not_found"),
        ("*** Add File: a\n+n\n", "already_exists"),
        ("*** Update File: bin\n@@\n-x\n+n\n", "binary_file"),
        ("*** Add File: ../n\n+n\n", "outside_workspace"),
        ("*** Add File: /n\n+n\n", "command_failed"),
        ("*** Add File: .git/n\n+n\n", "permission_denied"),
        (
            "*** Update File: big\n@@\n-z\n+n\n*** Update File: a\n@@\n-none\n+n\n",
            "patch_apply_error",
        ),
    ] {
        bench.fails("apply_patch", &json!({ "patch": patch(body) }), kind);
    }
    let text = patch("*** Update File: big\n@@\n-z\n+n\n");
    for (expected, kind) in [
        (json!({ "big": sha(b"other") }), "stale_file"),
        (json!({ "big": sha(b"z\n"), "a": sha(b"read, and changed since") }), "stale_file"),
        (json!({ "big": "" }), "stale_file"),
        (json!({ "big": "zz" }), "command_failed"),
    ] {
        bench.fails(
            "apply_patch",
            &json!({ "patch": text, "expectedSha256ByPath": expected }),
            kind,
        );
    }
    assert_eq!(bench.read("a"), b"x\ny\nx\n".to_vec());
    assert_eq!(bench.read("big"), b"z\n".to_vec());
    let right =
        json!({ "patch": text, "expectedSha256ByPath": { "./big": sha(b"z\n"), "none": "" } });
    bench.done("apply_patch", &right);
}

#[test]
fn expected_files_are_a_list_or_an_object() {
    let bench = Bench::new(&[("a", b"x\n")]);
    let text = patch("*** Update File: a\n@@\n-x\n+n\n");
    let expecting =
        |files: serde_json::Value| json!({ "patch": text, "expectedSha256ByPath": files });
    let file = |path: &str, hash: &str| json!({ "path": path, "sha256": hash });
    let (other, own) = (sha(b"other"), sha(b"x\n"));
    for (files, kind) in [
        (json!([file("a", &other)]), "stale_file"),
        (json!([file("a", &own), file("none", &other)]), "stale_file"),
        (json!([file("a", &own), file("./a", &other)]), "command_failed"),
        (json!([file("a", "zz")]), "command_failed"),
        (json!([{ "path": "a" }]), "command_failed"),
        (json!("a"), "command_failed"),
    ] {
        bench.fails("apply_patch", &expecting(files), kind);
    }
    bench.done("apply_patch", &expecting(json!([file("./a", &own), file("none", "")])));
    assert_eq!(bench.read("a"), b"n\n");
}

#[test]
fn what_clients_add_is_ignored_and_nothing_else() {
    let bench = Bench::new(&[("a", b"x\n")]);
    for name in file_tools::ADDED_BY_CLIENTS {
        for tool in file_tools::catalogue() {
            assert!(
                tool.input_schema["properties"].get(*name).is_none(),
                "{} has {name}",
                tool.name
            );
        }
        bench.done("read_file", &json!({ "path": "a", *name: true }));
        let failed =
            bench.fails("read_file", &json!({ "pth": "a", *name: true }), "command_failed");
        assert!(!failed.to_string().contains(name), "{failed}");
    }
    bench.fails("read_file", &json!({ "path": "a", "waitForPrevious": true }), "command_failed");
}

#[test]
fn section_by_section_stops_at_the_first_that_fails() {
    let bench = Bench::new(&[("a", b"x\n")]);
    let text =
        patch("*** Update File: a\n@@\n-x\n+y\n*** Delete File: none\n*** Add File: n\n+n\n");
    let error = bench.fails("apply_patch", &json!({ "patch": text, "atomic": false }), "not_found");
    assert_eq!(error["details"]["applied"]["changedFiles"][0]["path"], "a");
    assert_eq!(bench.read("a"), b"y\n".to_vec());
    assert!(!bench.exists("n"));
    assert_eq!(&error["recoverable"], &json!(false));
}

#[test]
fn a_preview_says_whether_the_patch_is_one_transaction_as_the_commit_does() {
    for atomic in [true, false] {
        let bench = Bench::new(&[]);
        let args = json!({ "patch": patch("*** Add File: n\n+n\n"), "atomic": atomic });
        let mut dry = args.clone();
        dry["dryRun"] = true.into();
        for args in [dry, args] {
            assert_eq!(bench.done("apply_patch", &args)["atomic"], atomic, "{args}");
        }
    }
}

#[test]
fn the_sections_that_fit_are_applied_and_the_others_are_kept() {
    let bench = Bench::new(&[("a", b"a\n"), ("b", b"b\n"), ("c", b"c\n")]);
    let (a, b, c) = (
        "*** Update File: a\n@@\n-a\n+A\n",
        "*** Update File: b\n@@\n-none\n+B\n",
        "*** Update File: c\n@@\n-none\n+C\n",
    );
    let args = json!({ "patch": patch(&format!("{a}{b}{c}")), "partial": true });
    let dry = json!({ "patch": args["patch"], "partial": true, "dryRun": true });
    let preview = bench.fails("apply_patch", &dry, "patch_apply_error");
    assert_eq!(bench.read("a"), b"a\n".to_vec());
    let error = bench.fails("apply_patch", &args, "patch_apply_error");
    assert_eq!(bench.read("a"), b"A\n".to_vec());
    let applied = &error["details"]["applied"];
    assert_eq!(applied["changedFiles"].as_array().unwrap().len(), 1);
    assert_eq!(applied["notes"], json!(["b: left out", "c: left out"]));
    assert!(applied["transactionId"].is_string());
    assert_eq!(preview["details"]["applied"]["dryRun"], true);
    let hunks = json!([
        {
            "path": "a", "section": 0, "hunkIndex": 0, "outcome": "applied", "startLine": 1,
            "lineCount": 1, "pass": "none",
        },
        {
            "path": "b", "section": 1, "hunkIndex": 0, "outcome": "rejected",
            "reason": "context_not_found",
        },
        {
            "path": "c", "section": 2, "hunkIndex": 0, "outcome": "rejected",
            "reason": "context_not_found",
        },
    ]);
    assert_eq!(error["details"]["hunks"], hunks);
    assert_eq!(preview["details"]["hunks"], hunks);
    assert_eq!(error["recoverable"], true);
    let id = error["details"]["patchId"].as_str().unwrap();
    let next = error["suggestedNextAction"].as_str().unwrap();
    assert!(
        next.ends_with(&format!(
            "to apply what was left out, send b, c again, corrected, with amend {id}"
        )),
        "{next}"
    );
    // The section of c is taken from what was kept: it is still wrong.
    let only_b = patch("*** Update File: b\n@@\n-b\n+B\n");
    let amend = json!({ "patch": only_b, "amend": id, "partial": true });
    let error = bench.fails("apply_patch", &amend, "patch_apply_error");
    assert_eq!(bench.read("b"), b"B\n".to_vec());
    assert_eq!(bench.read("c"), b"c\n".to_vec());
    let id = error["details"]["patchId"].as_str().unwrap();
    let only_c = patch("*** Update File: c\n@@\n-c\n+C\n");
    bench.done("apply_patch", &json!({ "patch": only_c, "amend": id }));
    assert_eq!(bench.read("c"), b"C\n".to_vec());
    // The section is named by the path that stands first in it, whichever was refused.
    let sections = "*** Update File: a\n@@\n-A\n+a\n*** Move File: b -> c\n";
    let args = json!({ "patch": patch(sections), "partial": true });
    let error = bench.fails("apply_patch", &args, "already_exists");
    let id = error["details"]["patchId"].as_str().unwrap();
    let next = error["suggestedNextAction"].as_str().unwrap();
    assert!(next.ends_with(&format!("send b again, corrected, with amend {id}")), "{next}");
    let only_b = patch("*** Move File: b -> d\n");
    bench.done("apply_patch", &json!({ "patch": only_b, "amend": id }));
    assert_eq!(bench.read("d"), b"B\n".to_vec());
    // Two ways to apply a part are not one.
    let both = json!({ "patch": only_c, "partial": true, "atomic": false });
    bench.fails("apply_patch", &both, "command_failed");
}

#[test]
fn every_answer_tells_what_became_of_each_hunk() {
    let bench = Bench::new(&[("a", b"1\n2\n3\n"), ("b", b"b\n")]);
    let text = patch("*** Update File: a\n@@\n 1\n-2\n+two\n 3\n*** Update File: b\n@@\n-x\n+y\n");
    let hunks = |outcomes: [&str; 2]| outcomes.map(String::from).to_vec();
    let of = |hunks: &Value| -> Vec<String> {
        let hunks = hunks.as_array().unwrap().iter();
        hunks.map(|hunk| hunk["outcome"].as_str().unwrap().to_owned()).collect()
    };
    let error = bench.fails("apply_patch", &json!({ "patch": text }), "patch_apply_error");
    assert_eq!(of(&error["details"]["hunks"]), hunks(["not_applied", "rejected"]));
    let text = text.replace("-x", "-b");
    for dry in [true, false] {
        let data = bench.done("apply_patch", &json!({ "patch": text, "dryRun": dry }));
        assert_eq!(of(&data["hunks"]), hunks(["applied", "applied"]));
    }
    // The same again, and as another text.
    let data = bench.done("apply_patch", &json!({ "patch": text }));
    assert_eq!(of(&data["hunks"]), hunks(["already_applied", "already_applied"]));
    let other = text.replace("+y", "+z").replace("-b", "-y");
    let error = bench.fails("apply_patch", &json!({ "patch": other }), "patch_apply_error");
    assert_eq!(of(&error["details"]["hunks"]), hunks(["already_applied", "not_applied"]));
    let data = bench.done("apply_patch", &json!({ "patch": other, "skipApplied": true }));
    assert_eq!(of(&data["hunks"]), hunks(["already_applied", "applied"]));
}

#[test]
fn profiles_differ() {
    let bench = Bench::new(&[("a", b"  x\n")]);
    let text = patch("*** Update File: a\n@@\n-x\n+y\n");
    bench.fails("apply_patch", &json!({ "patch": text }), "patch_apply_error");
    bench.done("apply_patch", &json!({ "patch": text, "profile": "codex" }));
    bench.fails("apply_patch", &json!({ "patch": text, "profile": "loose" }), "command_failed");
}

#[test]
fn edit_patch_has_its_own_answer_and_permissions() {
    let bench = Bench::new(&[("a", b"x\n"), ("sub/a", b"x\n"), ("sub/b", b"B\n")]);
    let brief = |args| bench.call("edit.patch", &args);
    let deletes = patch("*** Delete File: a\n");
    let reply = brief(json!({ "patch": deletes }));
    assert_eq!(reply["ok"], false);
    assert!(reply["error"].as_str().unwrap().starts_with("permission_denied: "), "{reply}");
    let reply = brief(json!({ "patch": deletes, "allow_delete": true, "dry_run": true }));
    assert_eq!(reply, json!({ "ok": true, "summary": "A 0, M 0, D 1, R 0" }));
    assert!(bench.exists("a"));
    let moves = patch("*** Move File: a -> c\n");
    assert_eq!(brief(json!({ "patch": moves, "allow_move": false }))["ok"], false);
    let reply = brief(json!({ "patch": moves }));
    assert_eq!(reply, json!({ "ok": true, "summary": "A 0, M 0, D 0, R 1" }));
    let text = patch("*** Update File: ./a\n@@\n-x\n+y\n*** Move File: b -> n\n");
    let reply = brief(json!({ "patch": text, "workspace_root": "sub" }));
    assert_eq!(reply, json!({ "ok": true, "summary": "A 0, M 1, D 0, R 1" }));
    assert_eq!(bench.read("sub/a"), b"y\n".to_vec());
    assert_eq!(bench.read("sub/n"), b"B\n".to_vec());
    for args in [
        json!({ "patch": patch("*** Add File: ../n\n+n\n"), "workspace_root": "sub" }),
        json!({ "patch": patch("*** Add File: n\n+n\n"), "workspace_root": ".." }),
        json!({ "patch": patch("*** Add File: n\n+n\n"), "workspace_root": "/etc" }),
        json!({ "patch": patch("*** Add File: n\n+n\n"), "workspace_root": ".git" }),
        json!({ "patch": "no patch" }),
        json!({}),
    ] {
        let reply = brief(args);
        assert_eq!(reply["ok"], false, "{reply}");
        assert!(!reply["error"].as_str().unwrap().contains('\n'), "{reply}");
    }
    assert!(!bench.exists("n"));
}
