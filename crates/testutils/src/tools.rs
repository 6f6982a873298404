//! The facts that tests know of each file tool. Many tests are made from these entries, so a new tool needs
//! an entry here and nowhere else.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The facts that tests know of a tool.
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// The words that every description of the tool has to have.
    pub told: &'static [&'static str],
    /// The searches of a model that needs this tool.
    pub searches: &'static [&'static str],
    /// The arguments of a call that succeeds after [`prepared`].
    pub works: Value,
    /// A call that does something where `a.txt` is a file with `{sha}`. Tests replace each of its
    /// texts by others.
    pub usual: Value,
    /// Calls with a path, `{path}`. The calls here and below are refused in the workspace of
    /// `tests/obeyed_tools.rs`, which describes the other names in braces.
    pub paths: Vec<Value>,
    /// Other refused calls: at least one for each error in the description of the tool, and for
    /// each reason in its file.
    pub refused: Vec<Value>,
}

/// The files of the workspace of [`prepared`].
pub const FILES: &[(&str, &[u8])] =
    &[("f", b"one\ntwo\n"), ("g", b"one\n"), ("old", b"old\n"), ("gone", b"gone\n"), ("left", b"")];

/// The names of objects in the arguments and answers of tools, by their fields. No other object has the
/// same fields.
pub const OBJECTS: &[(&str, &str)] = &[
    ("Entry", "depth mtime name relativePath size type"),
    ("Match", "column line path preview"),
    ("FoundPath", "path type"),
    ("ExpectedFile", "path sha256"),
    ("Edit", "after expectedOccurrences from newText oldText replaceAll to"),
    ("ProposedFile", "operation path toPath"),
];

/// Looks up a tool.
pub fn known(name: &str) -> Known {
    let found = all().into_iter().find(|known| known.name == name);
    found.unwrap_or_else(|| panic!("add an entry for `{name}` to crates/testutils/src/tools.rs"))
}

/// Prepares a workspace with [`FILES`] for the calls that work; `call` calls a tool and returns its
/// data. Returns the arguments of such a call of each tool.
pub fn prepared(mut call: impl FnMut(&str, Value) -> Value) -> BTreeMap<&'static str, Value> {
    let gone = call("delete_file", json!({ "path": "gone" }));
    let new = call("create_file", json!({ "path": "new", "content": "" }));
    for read in ["f", "old"] {
        call("read_file", json!({ "path": read }));
    }
    let later = patch("*** Add File: later\n+later\n");
    let proposed = call("propose", json!({ "patch": later }));
    let proposed = proposed["proposalId"].as_str().expect("text");
    let trashed = gone["trashedTo"].as_str().expect("text");
    let new = new["transactionId"].as_str().expect("text");
    all()
        .into_iter()
        .map(|known| {
            let args = filled(&known.works, "{trashed}", trashed);
            let args = filled(&args, "{new}", new);
            (known.name, filled(&args, "{proposal}", proposed))
        })
        .collect()
}

/// Returns arguments with `text` in place of `name`.
pub fn filled(args: &Value, name: &str, text: &str) -> Value {
    match args {
        Value::String(old) => old.replace(name, text).into(),
        Value::Array(parts) => parts.iter().map(|part| filled(part, name, text)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, part)| (key.clone(), filled(part, name, text))).collect()
        }
        other => other.clone(),
    }
}

/// A patch of these sections.
pub fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

/// Sections that both tools for patches refuse. The last one meets a change of others in the same
/// place.
const REFUSED: [&str; 10] = [
    "*** Update File: a.txt\n@@\n-one\n+1\n",
    "*** Update File: a.txt\n@@\n-two\n+2\n@@\n-two\n+3\n",
    "*** Update File: a.txt\n@@\n-none\n+2\n",
    "*** Update File: bin\n@@\n-none\n+2\n",
    "*** Add File: a.txt\n+2\n",
    "*** Update File: nothing\n@@\n-none\n+2\n",
    "*** Add File: ../x\n+2\n",
    "*** Update File: changed.txt\n@@\n-changed\n+2\n",
    "nothing\n",
    "*** Update File: changed.txt\n@@\n-mine\n+2\n",
];

fn with_refused(mut calls: Vec<Value>) -> Vec<Value> {
    calls.extend(REFUSED.map(|body| json!({ "patch": patch(body) })));
    calls
}

/// Edits of a file as it is.
fn edit(path: &str, edits: Value) -> Value {
    json!({ "path": path, "expectedSha256": format!("{{sha {path}}}"), "edits": edits })
}

macro_rules! calls {
    ($($args:tt),* $(,)?) => { vec![$(json!($args)),*] };
}

/// Every tool, in the order of the catalogue.
pub fn all() -> Vec<Known> {
    let mut all = looking();
    all.extend(writing());
    all.push(edit_file());
    all.extend(moving());
    all.extend(patching());
    all.extend(undoing());
    all.extend(proposing());
    all
}

/// The tools that only read.
fn looking() -> Vec<Known> {
    vec![
        Known {
            name: "read_file",
            told: &[
                "startLine",
                "from 1",
                "sha256",
                "expectedSha256",
                "cursor",
                "lineNumbers",
                "tags",
            ],
            searches: &["read lines", "read a file", "show file contents", "open a file"],
            works: json!({ "path": "f" }),
            usual: json!({ "path": "a.txt" }),
            paths: calls![{ "path": "{path}" }],
            refused: calls![
                { "path": "a.txt", "startLine": 2, "endLine": 1 },
                { "path": "a.txt", "cursor": "x" },
                { "path": "a.txt", "startLine": -1 },
            ],
        },
        Known {
            name: "list_directory",
            told: &["recursive", "includeHidden", "cursor"],
            searches: &["list a directory", "ls folder"],
            works: json!({}),
            usual: json!({ "path": ".", "recursive": true }),
            paths: calls![{ "path": "{path}" }],
            refused: calls![{ "cursor": "x" }],
        },
        Known {
            name: "search_files",
            told: &["regex", "includeGlobs", "cursor", ".gitignore"],
            searches: &["find text", "grep for a regex", "search code"],
            works: json!({ "query": "two", "mode": "text" }),
            usual: json!({ "query": "SECRET", "root": "." }),
            paths: calls![{ "query": "one", "mode": "text", "root": "{path}" }],
            refused: calls![
                { "query": "", "mode": "text" },
                { "query": "a(", "mode": "regex" },
                { "query": "a\nb", "mode": "text" },
                { "query": "a", "mode": "text", "includeGlobs": ["[a"] },
                { "query": "a", "mode": "text", "excludeGlobs": ["[a"] },
                { "query": "a", "mode": "text", "cursor": "x" },
            ],
        },
        Known {
            name: "glob",
            told: &["**", "{a,b}"],
            searches: &["find files by name", "glob pattern"],
            works: json!({ "pattern": "*" }),
            usual: json!({ "pattern": "**" }),
            paths: calls![{ "pattern": "**/*.txt", "root": "{path}" }],
            refused: calls![
                { "pattern": "[a" },
                { "pattern": "../*" },
                { "pattern": "a", "excludeGlobs": ["[a"] },
                { "pattern": "a", "cursor": "100001" },
            ],
        },
    ]
}

/// The hash of no file.
fn other() -> String {
    "0".repeat(64)
}

/// An edit of the second line of a file.
fn two() -> Value {
    json!([{ "oldText": "two", "newText": "2" }])
}

/// The tools that write whole files.
fn writing() -> Vec<Known> {
    vec![
        Known {
            name: "create_file",
            told: &["never overwrites", "createParentDirectories"],
            searches: &["create a new file", "make a file"],
            works: json!({ "path": "created", "content": "" }),
            usual: json!({ "path": "new.txt", "content": "new\n" }),
            paths: calls![{ "path": "{path}", "content": "new\n" }],
            refused: vec![],
        },
        Known {
            name: "write_file",
            told: &["whole", "expectedSha256", "edit_file"],
            searches: &["overwrite the whole content of a file", "write a whole file"],
            works: json!({ "path": "written", "content": "", "expectedSha256": "" }),
            usual: json!({ "path": "a.txt", "content": "line\nx\n", "expectedSha256": "{sha}" }),
            paths: calls![
                { "path": "{path}", "content": "new\n" },
                { "path": "{path}", "content": "new\n", "expectedSha256": "" },
                { "path": "{path}", "content": "new \u{2713}\n", "expectedSha256": (other()) },
            ],
            refused: calls![
                { "path": "latin", "expectedSha256": "{sha latin}", "content": "\u{2713}\n" },
                { "path": "a.txt", "expectedSha256": "abc", "content": "" },
                { "path": "bin", "expectedSha256": "{sha bin}", "content": "x" },
            ],
        },
    ]
}

fn edit_file() -> Known {
    Known {
        name: "edit_file",
        told: &["exactly once", "replaceAll", "oldText", "all or none", "tags"],
        searches: &["edit a file", "replace text in a file", "find and replace a string"],
        works: json!({ "path": "f", "edits": (two()) }),
        usual: json!({
            "path": "a.txt", "expectedSha256": "{sha}",
            "edits": [{ "oldText": "line\n", "newText": "line\nq\n" }],
        }),
        paths: calls![
            { "path": "{path}", "edits": (two()) },
            { "path": "{path}", "edits": (two()), "expectedSha256": (other()) },
        ],
        refused: calls![
            (edit("a.txt", json!([]))),
            (edit("a.txt", json!([{ "oldText": "", "newText": "x" }]))),
            (edit("a.txt", json!([{ "oldText": "one", "newText": "one" }]))),
            (edit("a.txt", json!([{ "oldText": "one", "newText": "1" }]))),
            (edit(
                "a.txt", json!([{ "oldText": "one", "newText": "1", "expectedOccurrences": 3 }])
            )),
            (edit("a.txt", json!([{ "oldText": "tow", "newText": "2" }]))),
            (edit("a.txt", json!([{ "oldText": "three", "newText": "two" }]))),
            (edit("a.txt", json!([
                { "oldText": "one\ntwo", "newText": "1" }, { "oldText": "two", "newText": "2" },
            ]))),
            (edit("latin", json!([{ "oldText": "one", "newText": "\u{2713}" }]))),
            { "path": "a.txt", "expectedSha256": "abc", "edits": (two()) },
            { "path": "changed.txt", "edits": [{ "oldText": "mine", "newText": "2" }] },
            (edit("bin", json!([{ "oldText": "a", "newText": "x" }]))),
            (edit("latin", json!([{ "oldText": "caf\u{fffd}", "newText": "x" }]))),
            (edit("a.txt", json!([{ "from": "two", "newText": "2" }]))),
            (edit("a.txt", json!([{ "from": "2", "newText": "2" }]))),
            (edit("a.txt", json!([{ "from": "2#zz", "newText": "2" }]))),
            (edit("a.txt", json!([{ "from": "9#zz", "newText": "2" }]))),
            (edit("a.txt", json!([{ "after": "0", "to": "2#zz", "newText": "2" }]))),
            (edit("a.txt", json!([{ "from": "2#zz", "oldText": "two", "newText": "2" }]))),
            (edit("a.txt", json!([{ "after": "0", "newText": "2#zz|two" }]))),
            { "path": "changed.txt", "edits": [{ "from": "1#zz", "newText": "2" }] },
        ],
    }
}

/// The tools that delete files, bring them back, and move them.
fn moving() -> Vec<Known> {
    vec![
        Known {
            name: "delete_file",
            told: &["trash", "recursive", "restore_file"],
            searches: &["delete a file", "remove a file"],
            works: json!({ "path": "left" }),
            usual: json!({ "path": "a.txt" }),
            paths: calls![{ "path": "{path}" }, { "path": "{path}", "expectedSha256": (other()) }],
            refused: calls![
                { "path": "a.txt", "expectedSha256": "abc" },
                { "path": "d", "expectedSha256": "{sha a.txt}", "recursive": true },
            ],
        },
        Known {
            name: "restore_file",
            told: &["trash", "targetPath"],
            searches: &["restore a deleted file", "bring back from the trash"],
            works: json!({ "trashedPath": "{trashed}" }),
            usual: json!({ "trashId": "" }),
            paths: calls![{ "trashId": "{gone}", "targetPath": "{path}" }],
            refused: calls![
                {},
                { "trashedPath": "x", "trashId": "y" },
                { "trashedPath": "x" },
                { "trashId": "20200101-000000-000000-00000000/0" },
                { "trashId": "{gone}/7" },
                { "trashId": "{two}", "targetPath": "x" },
                { "trashId": "{changed}/0" },
            ],
        },
        Known {
            name: "move_file",
            told: &["overwrite", "toPath"],
            searches: &["rename a file", "move a file to another directory"],
            works: json!({ "fromPath": "old", "toPath": "moved" }),
            usual: json!({ "fromPath": "a.txt", "toPath": "b.txt" }),
            paths: calls![
                { "fromPath": "{path}", "toPath": "moved.txt" },
                { "fromPath": "g.txt", "toPath": "{path}" },
            ],
            refused: calls![
                { "fromPath": "a.txt", "toPath": "x", "expectedSha256": "abc" },
                { "fromPath": "g.txt", "toPath": "a.txt", "expectedSha256": "{sha g.txt}" },
            ],
        },
    ]
}

/// The tools that take patches.
fn patching() -> Vec<Known> {
    let append = patch("*** Update File: a.txt\n@@\n line\n+q\n");
    let delete = patch("*** Delete File: a.txt\n");
    vec![
        Known {
            name: "apply_patch",
            told: &[
                "*** Begin Patch",
                "*** Update File",
                "*** Add File",
                "@@",
                "3 lines of context",
                "all or none",
            ],
            searches: &[
                "edit source files",
                "edit code",
                "apply a diff",
                "apply a patch",
                "apply_patch",
                "patch source code",
                "edit several files",
                "change code in several files",
                "modify source code",
                "multi-file edit",
                "refactor code across files",
            ],
            works: json!({ "patch": patch("*** Update File: f\n@@\n-one\n+1\n") }),
            usual: json!({
                "patch": append, "expectedSha256ByPath": [{ "path": "a.txt", "sha256": "{sha}" }],
            }),
            paths: vec![],
            refused: with_refused(calls![
                { "patch": delete, "amend": "p-0" },
                { "patch": delete.repeat(2) },
                { "patch": "{\"name\": \"write_file\"}" },
                { "patch": delete, "expectedSha256ByPath": { "a.txt": "x" } },
                { "patch": (patch("*** Update File: large\n@@\n-none\n+2\n")) },
                { "patch": (patch("*** Add File: .env\n+2\n")) },
                { "patch": (patch("*** Move File: a.txt -> a.txt\n")) },
            ]),
        },
        Known {
            name: "edit.patch",
            told: &["allow_delete", "*** Begin Patch"],
            // A search finds `apply_patch` instead, of which this is the brief form.
            searches: &[],
            works: json!({ "patch": patch("*** Update File: g\n@@\n-one\n+1\n") }),
            usual: json!({ "patch": append }),
            paths: calls![{
                "workspace_root": "{path}",
                "patch": (patch("*** Update File: a.txt\n@@\n-two\n+2\n")),
            }],
            refused: with_refused(calls![
                { "patch": delete },
                { "patch": (patch("*** Move File: a.txt -> x\n")), "allow_move": false },
            ]),
        },
    ]
}

fn undoing() -> Vec<Known> {
    vec![
        Known {
            name: "undo",
            told: &["transactionId"],
            searches: &["undo the last change", "revert a change", "roll back"],
            works: json!({ "transactionId": "{new}" }),
            usual: json!({ "transactionId": "" }),
            paths: calls![{ "transactionId": "{gone}", "paths": ["{path}"] }],
            refused: calls![
                {},
                { "transactionId": "yesterday" },
                { "transactionId": "20200101-000000-000000-00000000" },
                { "transactionId": "{changed}" },
                { "transactionId": "{gone}", "paths": ["g.txt"] },
            ],
        },
        // A host offers this tool only on demand.
        Known {
            name: "undo_turn",
            told: &[],
            searches: &[],
            works: json!({}),
            usual: json!({}),
            paths: vec![],
            refused: vec![],
        },
    ]
}

fn proposing() -> Vec<Known> {
    let append = patch("*** Update File: a.txt\n@@\n line\n+q\n");
    vec![
        Known {
            name: "propose",
            told: &["later", "changes nothing", "proposalId"],
            searches: &["suggest a change", "let a person approve a patch later"],
            works: json!({ "patch": patch("*** Add File: proposed\n+new\n") }),
            usual: json!({
                "patch": append, "reason": ("a test"),
                "expectedSha256ByPath": [{ "path": "a.txt", "sha256": "{sha}" }],
            }),
            paths: vec![],
            refused: with_refused(calls![
                { "patch": (patch("*** Add File: .env\n+2\n")) },
            ]),
        },
        Known {
            name: "proposal",
            told: &["approved", "Only a person approves"],
            searches: &["what became of a proposal", "was the proposal approved"],
            works: json!({ "id": "{proposal}" }),
            usual: json!({ "id": "p-000000000000" }),
            paths: vec![],
            refused: calls![
                {},
                { "id": "p-000000000000" },
                { "id": "{withdrawn}", "withdraw": true },
            ],
        },
    ]
}
