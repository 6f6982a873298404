//! Runs the program on Windows, under its own name or that of the tool that models know.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub(crate) use crate::run::Run;
use crate::run::output;

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
    command
        .env("USERPROFILE", home)
        .env("LOCALAPPDATA", home.join("local"))
        .env("APPDATA", home.join("roaming"));
    command
}

pub(crate) fn run<A: AsRef<OsStr>>(
    name: &str,
    dir: &Path,
    home: &Path,
    args: &[A],
    input: &[u8],
) -> Run {
    let mut command = command(name, dir, home);
    command.args(args);
    finish(command, input)
}

pub(crate) fn finish(command: Command, input: &[u8]) -> Run {
    output(command, input).into()
}
