//! A workspace, calls, and what to compare answers with.

use std::fs;
use std::path::{Path, PathBuf};

use file_tools::Tools as _;
use fs_guard::Sha256;
use patch_engine::commit::{Durability, KeyPlace, Workspace};
use patch_session::audit::Audit;
use patch_session::{Session, SessionName, SessionSettings};
use serde_json::Value;
use tempfile::TempDir;

use testutils::temp::temp;
pub(crate) use testutils::tools::patch;

/// A workspace in memory where that is possible, with a key of its own.
pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    key: TempDir,
    pub(crate) tools: Session,
}

pub(crate) fn sha(bytes: &[u8]) -> String {
    Sha256::of(bytes).to_string()
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
