//! What the tests of all tools have of each: a call that succeeds, what a caller can put into it,
//! and what a model has to know. A new tool needs a line in each list.

use file_tools::Tool;
use serde_json::{Value, json};

use crate::support::{Bench, patch, sha};

/// A workspace, and for each tool a call that succeeds there, with the arguments that it needs.
pub(crate) fn every_call() -> (Bench, Vec<(Tool, Value)>) {
    let bench = Bench::new(&[
        ("f", b"one\ntwo\n"),
        ("g", b"one\n"),
        ("old", b"old\n"),
        ("gone", b"gone\n"),
        ("left", b""),
    ]);
    let trashed = bench.done("delete_file", &json!({ "path": "gone" }))["trashedTo"].clone();
    let new = bench.done("create_file", &json!({ "path": "new", "content": "" }));
    bench.tools.begin_turn(None).unwrap();
    bench.done("create_file", &json!({ "path": "of-turn", "content": "" }));
    bench.tools.end_turn().unwrap();
    for read in ["f", "old"] {
        bench.done("read_file", &json!({ "path": read }));
    }
    let update = |path: &str| patch(&format!("*** Update File: {path}\n@@\n-one\n+1\n"));
    let call = |tool| {
        let args = match tool {
            Tool::ReadFile => json!({ "path": "f" }),
            Tool::ListDirectory => json!({}),
            Tool::SearchFiles => json!({ "query": "two", "mode": "text" }),
            Tool::Glob => json!({ "pattern": "*" }),
            Tool::CreateFile => json!({ "path": "created", "content": "" }),
            Tool::WriteFile => {
                json!({ "path": "written", "content": "", "expectedSha256": "" })
            }
            Tool::EditFile => {
                json!({ "path": "f", "edits": [{ "oldText": "two", "newText": "2" }] })
            }
            Tool::MoveFile => json!({ "fromPath": "old", "toPath": "moved" }),
            Tool::DeleteFile => json!({ "path": "left" }),
            Tool::RestoreFile => json!({ "trashedPath": trashed }),
            Tool::ApplyPatch => json!({ "patch": update("f") }),
            Tool::EditPatch => json!({ "patch": update("g") }),
            Tool::Undo => json!({ "transactionId": new["transactionId"] }),
            Tool::UndoTurn => json!({}),
        };
        (tool, args)
    };
    let calls = Tool::ALL.map(call).to_vec();
    (bench, calls)
}

/// Arguments of a call that does something, and what can be in their place. Every tool needs its
/// line, with every argument that takes text: those that are left out are switches, numbers, and
/// choices among fixed words.
pub(crate) fn usual(tool: Tool) -> (Value, &'static [&'static str]) {
    let text = patch("*** Update File: a.txt\n@@\n line\n+q\n");
    match tool.as_str() {
        "read_file" => (json!({ "path": "a.txt" }), &["path", "cursor"]),
        "list_directory" => (json!({ "path": ".", "recursive": true }), &["path", "cursor"]),
        "search_files" => {
            let args = json!({ "query": "SECRET", "mode": "text", "root": "." });
            (args, &["query", "root", "includeGlobs", "excludeGlobs", "cursor"])
        }
        "glob" => (json!({ "pattern": "**" }), &["pattern", "root", "excludeGlobs", "cursor"]),
        "create_file" => (json!({ "path": "new.txt", "content": "new\n" }), &["path", "content"]),
        "write_file" => {
            let args = json!({
                "path": "a.txt", "content": "line\nx\n", "expectedSha256": sha(b"line\nx\n"),
            });
            (args, &["path", "content", "expectedSha256"])
        }
        "edit_file" => {
            let edits = json!([{ "oldText": "line\n", "newText": "line\nq\n" }]);
            let args =
                json!({ "path": "a.txt", "expectedSha256": sha(b"line\nx\n"), "edits": edits });
            (args, &["path", "expectedSha256", "edits", "oldText", "newText"])
        }
        "delete_file" => (json!({ "path": "a.txt" }), &["path", "expectedSha256"]),
        "restore_file" => (json!({ "trashId": "" }), &["trashId", "trashedPath", "targetPath"]),
        "move_file" => {
            let args = json!({ "fromPath": "a.txt", "toPath": "b.txt" });
            (args, &["fromPath", "toPath", "expectedSha256"])
        }
        "apply_patch" => {
            let args = json!({
                "patch": text,
                "expectedSha256ByPath": [{ "path": "a.txt", "sha256": sha(b"line\nx\n") }],
            });
            (args, &["patch", "amend", "expectedSha256ByPath", "path", "sha256"])
        }
        "edit.patch" => (json!({ "patch": text }), &["patch", "workspace_root"]),
        "undo" => (json!({ "transactionId": "" }), &["transactionId", "paths"]),
        // It takes no text.
        "undo_turn" => (json!({}), &[]),
        other => panic!("what can a caller ask of `{other}` that it may not see?"),
    }
}

/// What a model has to know of each tool to use it, whatever else is left out.
pub(crate) const NEEDED: &[(&str, &[&str])] = &[
    ("read_file", &["startLine", "from 1", "sha256", "expectedSha256", "cursor", "lineNumbers"]),
    ("list_directory", &["recursive", "includeHidden", "cursor"]),
    ("search_files", &["regex", "includeGlobs", "cursor", ".gitignore"]),
    ("glob", &["**", "{a,b}"]),
    ("create_file", &["never overwrites", "createParentDirectories"]),
    ("write_file", &["whole", "expectedSha256", "edit_file"]),
    ("edit_file", &["exactly once", "replaceAll", "oldText", "all or none"]),
    ("delete_file", &["trash", "recursive", "restore_file"]),
    ("restore_file", &["trash", "targetPath"]),
    ("move_file", &["overwrite", "toPath"]),
    (
        "apply_patch",
        &[
            "*** Begin Patch",
            "*** Update File",
            "*** Add File",
            "@@",
            "3 lines of context",
            "all or none",
        ],
    ),
    ("edit.patch", &["allow_delete", "*** Begin Patch"]),
    ("undo", &["transactionId"]),
];
