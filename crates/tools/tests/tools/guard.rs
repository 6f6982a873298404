//! What no tool reaches, and what no listing shows.

use serde_json::{Value, json};

use crate::support::{Bench, sha};

fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let hash = sha(b"x");
    let patch = |text: String| format!("*** Begin Patch\n{text}*** End Patch\n");
    vec![
        ("read_file", json!({ "path": path })),
        ("create_file", json!({ "path": path, "content": "y" })),
        ("write_file", json!({ "path": path, "content": "y", "expectedSha256": hash })),
        (
            "edit_file",
            json!({
                "path": path, "expectedSha256": hash, "edits": [{ "oldText": "x", "newText": "y" }],
            }),
        ),
        ("delete_file", json!({ "path": path })),
        ("move_file", json!({ "fromPath": path, "toPath": "moved", "expectedSha256": hash })),
        (
            "move_file",
            json!({
                "fromPath": "plain", "toPath": path, "expectedSha256": hash, "overwrite": true,
            }),
        ),
        (
            "apply_patch",
            json!({ "patch": patch(format!("*** Update File: {path}\n@@\n-x\n+y\n")) }),
        ),
        (
            "apply_patch",
            json!({ "patch": patch(format!("*** Add File: {path}\n+y\n")), "profile": "codex" }),
        ),
    ]
}

#[test]
fn forbidden_paths_are_refused_by_every_tool() {
    let paths = [
        ".env",
        "a/.env.local",
        "k.pem",
        "id_rsa",
        "secrets/s",
        ".GIT/config",
        ".apply-patch/lock",
    ];
    let bench = Bench::new(&[("plain", b"x")]);
    for path in paths {
        bench.write(path, b"x");
        for (tool, args) in calls(path) {
            bench.fails(tool, &args, "permission_denied");
        }
        assert_eq!(bench.read(path), b"x");
        std::fs::remove_file(bench.path(path)).unwrap();
        let _ = std::fs::remove_dir_all(bench.path(".apply-patch"));
    }
}

#[test]
fn links_out_of_the_workspace_are_refused_by_every_tool() {
    let outside = testutils::temp::temp();
    std::fs::write(outside.path().join("x"), b"x").unwrap();
    let bench = Bench::new(&[("plain", b"x")]);
    std::os::unix::fs::symlink(outside.path(), bench.path("out")).unwrap();
    for (tool, args) in calls("out/x") {
        bench.fails(tool, &args, "outside_workspace");
    }
    for (tool, args) in [
        ("list_directory", json!({ "path": "out" })),
        ("glob", json!({ "pattern": "*", "root": "out" })),
        ("search_files", json!({ "query": "x", "mode": "text", "root": "out" })),
    ] {
        bench.fails(tool, &args, "outside_workspace");
    }
    assert_eq!(std::fs::read(outside.path().join("x")).unwrap(), b"x");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn reading_follows_links_inside_and_writing_does_not() {
    let bench = Bench::new(&[("real/f", b"x"), (".env", b"x")]);
    std::os::unix::fs::symlink("real", bench.path("link")).unwrap();
    std::os::unix::fs::symlink("../.env", bench.path("real/e")).unwrap();
    let data = bench.done("read_file", &json!({ "path": "link/f" }));
    assert_eq!(&data["path"], &json!("real/f"));
    assert_eq!(&data["content"], &json!("x"));
    bench.fails("read_file", &json!({ "path": "real/e" }), "permission_denied");
    let args = json!({ "path": "link/f", "content": "y", "expectedSha256": sha(b"x") });
    let error = bench.fails("write_file", &args, "permission_denied");
    assert_eq!(&error["details"]["reason"], &json!("symlink"));
    assert_eq!(&error["details"]["realPath"], &json!("real/f"));
}

#[test]
fn guarded_files_need_approval() {
    let bench = Bench::new(&[("plain", b"x"), (".vscode/tasks.json", b"x")]);
    for (tool, args) in calls(".vscode/tasks.json").into_iter().skip(1) {
        bench.fails(tool, &args, "permission_denied");
    }
    bench.done("read_file", &json!({ "path": ".vscode/tasks.json" }));
}

#[test]
fn a_directory_with_something_forbidden_in_it_is_not_deleted() {
    let bench = Bench::new(&[("d/plain", b"x"), ("d/sub/.env", b"x")]);
    let error =
        bench.fails("delete_file", &json!({ "path": "d", "recursive": true }), "permission_denied");
    assert_eq!(error["path"], "d/sub/.env");
    assert!(bench.exists("d/plain"));
    assert!(bench.exists("d/sub/.env"));
}
