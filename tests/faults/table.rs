//! What is done, what goes wrong, and where: the three columns of the table.

use fs_guard::Sha256;
use serde_json::json;

/// A command, and how to undo what it did.
pub(super) struct Operation {
    pub(super) name: &'static str,
    /// What is there; a path that ends in `/` is an empty directory.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Commands before it.
    pub(super) setup: Vec<Command>,
    pub(super) command: Command,
    /// The command that brings back what was there before; none where nothing does.
    pub(super) back: Option<&'static [&'static str]>,
    /// It may end after any of its parts.
    pub(super) parts: Vec<Command>,
    /// Without this it is refused.
    pub(super) needs: Option<&'static str>,
    /// It changes files, and not only what is kept of them.
    pub(super) changes: bool,
}

/// Arguments and standard input. `{newest}` among the arguments stands for the newest transaction;
/// of the MCP server, the answer to the last request counts.
#[derive(Clone)]
pub(super) struct Command {
    pub(super) args: Vec<String>,
    pub(super) input: String,
}

impl Command {
    fn new(args: &[&str], input: &str) -> Self {
        Self { args: args.iter().map(|&arg| arg.into()).collect(), input: input.into() }
    }

    fn tool(name: &str, args: &str) -> Self {
        Self::new(&["tool", name, "--args", args], "")
    }
}

fn patch(sections: &str) -> String {
    format!("*** Begin Patch\n{sections}*** End Patch\n")
}

const FILES: &[(&str, &str)] = &[
    ("a.txt", "one\ntwo\nthree\n"),
    ("d/b.txt", "four\nfive\n"),
    ("d/gone.txt", "six\n"),
    ("from.txt", "seven\n"),
    ("tree/x/1.txt", "1\n"),
    ("tree/x/2.txt", "2\n"),
    ("tree/y/z/3.txt", "3\n"),
    ("tree/empty/", ""),
];

const EDIT_A: &str = "*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n";
const ADD: &str = "*** Add File: new/deep/n.txt\n+new\n";
const MOVE: &str = "*** Move File: from.txt -> d/to.txt\n";
const DELETE: &str = "*** Delete File: d/gone.txt\n";

const DIR: &str = "*** Move File: from.txt -> d/to.txt\n*** Add File: from.txt/main\n+m\n\
                   *** Add File: from.txt/s/x\n+x\n";

/// What a client of the MCP server writes that has a patch applied.
fn requests(patch: &str) -> String {
    let client = json!({ "name": "t", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let call = json!({ "name": "apply_patch", "arguments": { "patch": patch } });
    [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ]
    .map(|message| message.to_string() + "\n")
    .concat()
}

/// Every way in which the program changes files.
pub(super) fn operations() -> Vec<Operation> {
    let all = patch(&[EDIT_A, ADD, MOVE, DELETE].concat());
    let apply = |text: &str| Command::new(&["apply", "--create-parents"], text);
    let before = || vec![apply(&patch("*** Update File: d/b.txt\n@@\n four\n-five\n+FIVE\n"))];
    let operation = |name, setup: Vec<Command>, command| Operation {
        name,
        files: FILES,
        setup,
        command,
        back: Some(&["undo"]),
        parts: Vec::new(),
        needs: None,
        changes: true,
    };
    let after = |last: Command| before().into_iter().chain([last]).collect::<Vec<_>>();
    let undo = Command::new(&["undo"], "");
    let sha = |text: &str| Sha256::of(text.as_bytes()).to_string();
    let edit = format!(
        r#"{{"path":"a.txt","expectedSha256":"{}","edits":[{{"oldText":"two","newText":"TWO"}}]}}"#,
        sha("one\ntwo\nthree\n")
    );
    let write = format!(
        r#"{{"path":"a.txt","expectedSha256":"{}","content":"all new\n"}}"#,
        sha("one\ntwo\nthree\n")
    );
    let moving = format!(
        r#"{{"fromPath":"from.txt","toPath":"d/to.txt","expectedSha256":"{}"}}"#,
        sha("seven\n")
    );
    let delete_tree = Command::tool("delete_file", r#"{"path":"tree","recursive":true}"#);
    let ops = r#"[{"type":"apply_patch_call","call_id":"c1","operation":{"type":"update_file","path":"a.txt","diff":"@@\n one\n-two\n+TWO\n three\n"}},{"type":"apply_patch_call","call_id":"c2","operation":{"type":"create_file","path":"d/new.txt","diff":"+new\n"}}]"#;
    vec![
        operation("apply, for the first time", vec![], apply(&all)),
        operation("apply", before(), apply(&all)),
        Operation {
            parts: [EDIT_A, ADD, DELETE].map(|section| apply(&patch(section))).to_vec(),
            back: None,
            ..operation(
                "apply --no-atomic",
                before(),
                Command::new(
                    &["apply", "--create-parents", "--no-atomic"],
                    &patch(&[EDIT_A, ADD, DELETE].concat()),
                ),
            )
        },
        Operation { back: Some(&["redo"]), ..operation("undo", after(apply(&all)), undo.clone()) },
        operation(
            "redo",
            [after(apply(&all)), vec![undo.clone()]].concat(),
            Command::new(&["redo"], ""),
        ),
        Operation {
            back: Some(&["redo"]),
            ..operation("undo of a tree", after(delete_tree.clone()), undo.clone())
        },
        Operation {
            back: Some(&["redo"]),
            needs: Some("cross-device"),
            ..operation("undo of a directory in a file's place", after(apply(&patch(DIR))), undo)
        },
        operation("ops", before(), Command::new(&["ops"], ops)),
        operation(
            "create_file",
            before(),
            Command::tool(
                "create_file",
                r#"{"path":"p/q/n.txt","content":"n\n","createParentDirectories":true}"#,
            ),
        ),
        operation("write_file", before(), Command::tool("write_file", &write)),
        operation("edit_file", before(), Command::tool("edit_file", &edit)),
        operation("move_file", before(), Command::tool("move_file", &moving)),
        operation(
            "delete_file",
            before(),
            Command::tool("delete_file", r#"{"path":"d/gone.txt"}"#),
        ),
        operation("delete_file, recursive", before(), delete_tree),
        Operation {
            back: None,
            ..operation(
                "delete_file, permanent",
                before(),
                Command::tool(
                    "delete_file",
                    r#"{"path":"tree","recursive":true,"permanent":true}"#,
                ),
            )
        },
        operation(
            "trash restore",
            vec![Command::tool("delete_file", r#"{"path":"d/gone.txt"}"#)],
            Command::new(&["trash", "restore", "{newest}/0", "back/gone.txt"], ""),
        ),
        Operation {
            back: None,
            changes: false,
            ..operation(
                "trash purge",
                after(apply(&all)),
                Command::new(&["trash", "purge", "--force", "--keep", "0s"], ""),
            )
        },
        operation(
            "serve",
            before(),
            Command::new(&["serve", "--mcp"], &requests(&patch(&[EDIT_A, DELETE].concat()))),
        ),
    ]
}

/// What goes wrong.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// As `FS_GUARD_FAULT` takes it, around the number of the call.
    pub(super) word: &'static str,
    pub(super) code: i32,
    /// The calls that it happens to.
    pub(super) calls: Calls,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    All,
    /// Those that change something.
    Writes,
    /// Those that open a file.
    Opens,
}

pub(super) const FAULTS: &[Fault] = &[
    Fault { name: "killed", word: "kill", code: 0, calls: Calls::Writes },
    Fault { name: "EIO", word: "once", code: 5, calls: Calls::All },
    Fault { name: "EACCES", word: "once", code: 13, calls: Calls::All },
    Fault { name: "EMFILE", word: "once", code: 24, calls: Calls::Opens },
    Fault { name: "EIO from then on", word: "always", code: 5, calls: Calls::All },
    Fault { name: "ENOSPC from then on", word: "full", code: 28, calls: Calls::Writes },
];

/// What a file system lacks, as `FS_GUARD_LACKS` takes it.
pub(super) const FILE_SYSTEMS: &[(&str, &str)] = &[
    ("with everything", ""),
    ("without exchange", "exchange"),
    (
        "without exchange and no-replace, with late counts of names",
        "exchange no-replace count-late",
    ),
    ("with staging beside the files", "cross-device"),
];
