//! A workspace, calls, and what to compare answers with.

use std::fs;
use std::path::{Path, PathBuf};

use file_tools::audit::Audit;
use file_tools::{Session, SessionName, SessionSettings, Tool};
use fs_guard::Sha256;
use patch_engine::commit::{Durability, KeyPlace, Workspace};
use serde_json::{Value, json};
use tempfile::TempDir;

use testutils::temp::temp;

/// A workspace in memory where that is possible, with a key of its own.
pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    key: TempDir,
    tools: Session,
}

pub(crate) fn sha(bytes: &[u8]) -> String {
    Sha256::of(bytes).to_string()
}

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

/// A patch of these sections.
pub(crate) fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

pub(crate) fn session(name: &str) -> SessionName {
    name.parse().unwrap()
}

pub(crate) fn settings() -> SessionSettings {
    SessionSettings {
        durability: Durability::Process,
        undo_turn: true,
        ..SessionSettings::default()
    }
}

impl Bench {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let (dir, key) = (temp(), temp());
        let audit = Audit::new(session("test"), Some("agent".into()));
        let tools = Session::new(open(dir.path(), key.path()), audit, settings());
        let bench = Self { dir, key, tools };
        for (path, bytes) in files {
            bench.write(path, bytes);
        }
        bench
    }

    pub(crate) fn tools(&self) -> &Session {
        &self.tools
    }

    pub(crate) fn workspace(&self) -> Workspace {
        open(self.dir.path(), self.key.path())
    }

    /// Another session, as a new process would take it up.
    pub(crate) fn resume(&self, name: &str) -> Session {
        Session::resume(self.workspace(), Audit::new(session(name), None), settings()).unwrap()
    }

    /// A session with other settings.
    pub(crate) fn with(&self, settings: SessionSettings) -> Session {
        Session::new(self.workspace(), Audit::new(session("other"), None), settings)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    pub(crate) fn call(&self, tool: &str, args: &Value) -> Value {
        call(&self.tools, tool, args)
    }

    /// Calls a tool that has to succeed, and gives its data.
    pub(crate) fn done(&self, tool: &str, args: &Value) -> Value {
        done(&self.tools, tool, args)
    }

    /// Calls a tool that has to fail, and gives the error.
    pub(crate) fn fails(&self, tool: &str, args: &Value, kind: &str) -> Value {
        fails(&self.tools, tool, args, kind)
    }
}

fn open(dir: &Path, key: &Path) -> Workspace {
    let workspace = Workspace::open(dir, patch_engine::policy()).unwrap();
    workspace.with_key_place(KeyPlace::Directory(key.join("apply-patch")))
}

pub(crate) fn call(tools: &Session, tool: &str, args: &Value) -> Value {
    serde_json::from_str(&tools.call(tool, args, &mut ()).to_json()).unwrap()
}

pub(crate) fn done(tools: &Session, tool: &str, args: &Value) -> Value {
    let reply = call(tools, tool, args);
    assert_eq!(reply["ok"], true, "{tool} {args}: {reply}");
    assert!(
        reply["output"].as_str().is_some_and(|line| !line.is_empty() && !line.contains('\n')),
        "{reply}"
    );
    reply["data"].clone()
}

pub(crate) fn fails(tools: &Session, tool: &str, args: &Value, kind: &str) -> Value {
    let reply = call(tools, tool, args);
    assert_eq!(reply["ok"], false, "{tool} {args}: {reply}");
    let error = &reply["error"];
    assert_eq!(error["kind"], kind, "{tool} {args}: {reply}");
    assert!(error["recoverable"].is_boolean(), "{reply}");
    assert!(error["message"].is_string(), "{reply}");
    error.clone()
}
