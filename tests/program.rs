//! Runs the program as a user does.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

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

/// The program under the name `name`, in the directory `dir`, with a home of its own.
pub(crate) fn run<A: AsRef<OsStr>>(name: &str, dir: &Path, home: &Path, args: &[A], input: &[u8]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apply-patch"));
    command.arg0(name).args(args);
    finish(command, dir, home, input)
}

/// Another program that runs this one, in the same way.
pub(crate) fn run_other<A: AsRef<OsStr>>(program: &str, dir: &Path, home: &Path, args: &[A], input: &[u8]) -> Run {
    let mut command = Command::new(program);
    command.args(args);
    finish(command, dir, home, input)
}

fn finish(mut command: Command, dir: &Path, home: &Path, input: &[u8]) -> Run {
    let mut child = command
        .current_dir(dir)
        .env_clear()
        .env("HOME", home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("piped").write_all(input);
    let output = child.wait_with_output().expect("the program ends");
    Run {
        code: output.status.code().expect("the program ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}
