//! Runs the program as a user does.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rexpect::session::{PtySession, spawn_command};
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

/// What the program prints on standard output, as bytes.
pub(crate) fn printed<A: AsRef<OsStr>>(dir: &Path, home: &Path, args: &[A], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apply-patch"));
    command.args(args);
    let output = output(command, dir, home, input);
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

fn finish(command: Command, dir: &Path, home: &Path, input: &[u8]) -> Run {
    let output = output(command, dir, home, input);
    Run {
        code: output.status.code().expect("the program ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn output(mut command: Command, dir: &Path, home: &Path, input: &[u8]) -> Output {
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
    child.wait_with_output().expect("the program ends")
}

/// A folder with an empty `w/`, for the workspace, and files.
pub(crate) fn place(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("w")).expect("a folder");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    dir
}

/// A hang guard, in milliseconds; nothing on a terminal takes that long.
pub(crate) const PATIENCE: u64 = 60_000;

/// The program on a terminal, in `dir/w`. `line` is shell, in which `$it` is the program, so that its input and output can
/// be redirected; at the end it prints `exit` and the code.
pub(crate) fn on_terminal(dir: &Path, line: &str, environment: &[(&str, &str)]) -> PtySession {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{line}; echo exit $?")])
        .current_dir(dir.join("w"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .env("XDG_STATE_HOME", dir.join("state"))
        .env("TERM", "xterm")
        .envs(environment.iter().copied())
        .env("it", env!("CARGO_BIN_EXE_apply-patch"));
    spawn_command(command, Some(PATIENCE)).expect("a terminal")
}
