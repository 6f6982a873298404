//! `delete_file` and `restore_file`.

use serde_json::json;

use crate::support::{Bench, sha};

#[test]
fn what_is_deleted_comes_back() {
    let bench = Bench::new(&[("f", b"x"), ("bin", b"\0")]);
    for (args, kind) in [
        (json!({ "path": "none" }), "not_found"),
        (json!({ "path": "f", "expectedSha256": sha(b"y") }), "stale_file"),
        (json!({ "path": "f", "expectedSha256": "y" }), "command_failed"),
        (json!({ "path": "../f" }), "outside_workspace"),
    ] {
        bench.fails("delete_file", &args, kind);
    }
    let data = bench
        .done("delete_file", &json!({ "path": "f", "expectedSha256": sha(b"x"), "diff": "full" }));
    assert_eq!(&data["deleted"], &json!(true));
    assert_eq!(&data["beforeSha256"], &json!(sha(b"x")));
    assert!(!bench.exists("f"));
    assert!(data["diff"].as_str().unwrap().contains("-x"));
    let kept = &data["trashedTo"];
    bench.write("f", b"other");
    bench.fails("restore_file", &json!({ "trashedPath": kept }), "already_exists");
    let back = bench.done("restore_file", &json!({ "trashedPath": kept, "targetPath": "d/g" }));
    assert_eq!(&back["path"], &json!("d/g"));
    assert_eq!(bench.read("d/g"), b"x".to_vec());
    assert_eq!(bench.read("f"), b"other".to_vec());
    std::fs::remove_file(bench.path("f")).unwrap();
    let id = format!("{}/0", data["transactionId"].as_str().unwrap());
    let back = bench.done("restore_file", &json!({ "trashId": id }));
    assert_eq!(&back["path"], &json!("f"));
    assert_eq!(&back["sha256"], &json!(sha(b"x")));
    assert_eq!(bench.read("f"), b"x".to_vec());
    for (args, kind) in [
        (json!({}), "command_failed"),
        (json!({ "trashedPath": "f" }), "command_failed"),
        (json!({ "trashId": id, "trashedPath": kept }), "command_failed"),
        (json!({ "trashId": "20261121-014233-123456-9f3ac1d2/0" }), "not_found"),
        (json!({ "trashId": id, "targetPath": "../f" }), "outside_workspace"),
        (json!({ "trashId": id, "targetPath": ".env" }), "permission_denied"),
    ] {
        bench.fails("restore_file", &args, kind);
    }
    bench.done("delete_file", &json!({ "path": "bin" }));
}

#[test]
fn a_directory_needs_recursive_and_comes_back_whole() {
    let bench = Bench::new(&[("d/a", b"A"), ("d/e/b", b"B")]);
    std::fs::create_dir(bench.path("d/empty")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", bench.path("d/link")).unwrap();
    bench.fails("delete_file", &json!({ "path": "d" }), "command_failed");
    bench.fails(
        "delete_file",
        &json!({ "path": "d", "recursive": true, "expectedSha256": sha(b"") }),
        "command_failed",
    );
    let data = bench.done("delete_file", &json!({ "path": "d", "recursive": true }));
    assert!(!bench.exists("d"));
    assert_eq!(&data["deletedFiles"], &json!(3));
    assert_eq!(data.get("beforeSha256"), None);
    let back = bench.done("restore_file", &json!({ "trashedPath": data["trashedTo"] }));
    assert_eq!(&back["restoredFiles"], &json!(3));
    assert_eq!(bench.read("d/e/b"), b"B".to_vec());
    assert!(bench.path("d/link").is_symlink());
    std::fs::create_dir(bench.path("alone")).unwrap();
    let reply = bench.call("delete_file", &json!({ "path": "alone", "recursive": true }));
    assert!(!bench.exists("alone"));
    // The trash has no file of it, so none is promised.
    assert_eq!(reply["data"].get("trashedTo"), None, "{reply}");
    assert_eq!(reply["output"], "deleted alone (0 files); undo brings it back");
    bench.done("undo", &json!({ "transactionId": reply["data"]["transactionId"] }));
    assert!(bench.exists("alone"));
}

#[test]
fn a_directory_with_too_many_files_is_deleted_in_parts() {
    let bench = Bench::new(&[("d/e/f", b"F")]);
    for nth in 0..patch_engine::MAX_DELETED {
        std::fs::write(bench.path(&format!("d/{nth}")), b"").unwrap();
    }
    let error =
        bench.fails("delete_file", &json!({ "path": "d", "recursive": true }), "file_too_large");
    assert_eq!(error["message"], "d: the directory has more than 10000 files");
    assert_eq!(error["details"]["reason"], "too_many_files");
    assert_eq!(
        error["suggestedNextAction"],
        "choose another path than d: a directory in it, one after the other"
    );
    bench.done("delete_file", &json!({ "path": "d/e", "recursive": true }));
    let data = bench.done("delete_file", &json!({ "path": "d", "recursive": true }));
    assert_eq!(data["deletedFiles"], patch_engine::MAX_DELETED);
}

#[test]
fn what_is_deleted_for_good_is_not_kept() {
    let bench = Bench::new(&[("f", b"x")]);
    let data = bench.done("delete_file", &json!({ "path": "f", "permanent": true }));
    assert_eq!(data.get("trashedTo"), None);
    assert_eq!(data.get("transactionId"), None);
    assert!(!bench.exists("f"));
    assert_eq!(std::fs::read_dir(bench.path(".apply-patch/trash")).unwrap().count(), 0);
}

#[test]
fn restoring_where_nothing_was_deleted_leaves_no_state_but_the_log() {
    let bench = Bench::new(&[]);
    let args = json!({ "trashId": "20261121-014233-123456-9f3ac1d2/0" });
    bench.fails("restore_file", &args, "not_found");
    assert!(bench.exists(".apply-patch/audit/test.jsonl"));
}
