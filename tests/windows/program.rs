//! Runs the program on Windows, under its own name or that of the tool that models know.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The one JSON object of `--json`.
    pub(crate) fn json(&self) -> Result<Value, String> {
        match self.stdout.lines().count() {
            1 => serde_json::from_str(&self.stdout).map_err(|error| format!("{error}: {self:?}")),
            lines => Err(format!("--json prints exactly one object, not {lines} lines: {self:#?}")),
        }
    }
}

/// The program under another name: a copy, for Windows gives a program its own path as its name.
fn called(name: &str) -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let program = Path::new(env!("CARGO_BIN_EXE_apply-patch"));
    if name == "apply-patch" {
        return program.to_owned();
    }
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder"));
    let copy = folder.path().join(format!("{name}.exe"));
    if !copy.exists() {
        std::fs::copy(program, &copy).expect("a copy");
    }
    copy
}

/// The command, in the directory `dir`, with a home of its own.
pub(crate) fn command(name: &str, dir: &Path, home: &Path) -> Command {
    let mut command = Command::new(called(name));
    command.current_dir(dir);
    for variable in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env_remove(variable);
    }
    command.env("USERPROFILE", home).env("LOCALAPPDATA", home.join("local")).env("APPDATA", home.join("roaming"));
    command
}

pub(crate) fn run<A: AsRef<OsStr>>(name: &str, dir: &Path, home: &Path, args: &[A], input: &[u8]) -> Run {
    let mut command = command(name, dir, home);
    command.args(args);
    finish(command, input)
}

pub(crate) fn finish(command: Command, input: &[u8]) -> Run {
    let output = output(command, input);
    Run {
        code: output.status.code().expect("the program ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn output(mut command: Command, input: &[u8]) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the program starts");
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("the program ends")
}
