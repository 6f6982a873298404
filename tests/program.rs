//! Runs the program as a user does.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

pub(crate) use crate::run::Run;
use crate::run::output;
use crate::terminal::Terminal;
use tempfile::TempDir;
use testutils::temp::temp;

/// A command that has nothing of this process's environment but where programs are.
pub(crate) fn clean(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command
}

/// The program's path as one word of a shell: where it has blanks, that of a link.
pub(crate) fn word() -> &'static str {
    static WORD: OnceLock<(String, Option<TempDir>)> = OnceLock::new();
    let (word, _) = WORD.get_or_init(|| {
        let path = env!("CARGO_BIN_EXE_apply-patch");
        if !path.contains(|next: char| next.is_whitespace() || "'\"$`\\".contains(next)) {
            return (path.to_owned(), None);
        }
        let dir = temp();
        let link = dir.path().join("apply-patch");
        std::os::unix::fs::symlink(path, &link).expect("a link");
        (link.to_str().expect("UTF-8").to_owned(), Some(dir))
    });
    word
}

/// The program under the name `name`, in the directory `dir`, with a home of its own.
pub(crate) fn run<A: AsRef<OsStr>>(
    name: &str,
    dir: &Path,
    home: &Path,
    args: &[A],
    input: &[u8],
) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apply-patch"));
    command.arg0(name).args(args);
    finish(command, dir, home, input)
}

/// Another program that runs this one, in the same way.
pub(crate) fn run_other<A: AsRef<OsStr>>(
    program: &str,
    dir: &Path,
    home: &Path,
    args: &[A],
    input: &[u8],
) -> Run {
    let mut command = Command::new(program);
    command.args(args);
    finish(command, dir, home, input)
}

/// What the program prints on standard output, as bytes.
pub(crate) fn printed<A: AsRef<OsStr>>(
    dir: &Path,
    home: &Path,
    args: &[A],
    input: &[u8],
) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apply-patch"));
    command.args(args);
    let output = output(at_home(command, dir, home), input);
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

fn finish(command: Command, dir: &Path, home: &Path, input: &[u8]) -> Run {
    output(at_home(command, dir, home), input).into()
}

/// The command in this directory, with a home and nothing else of the environment.
fn at_home(mut command: Command, dir: &Path, home: &Path) -> Command {
    command
        .current_dir(dir)
        .env_clear()
        .env("HOME", home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("XDG_CONFIG_HOME", home.join("config"));
    command
}

/// A folder with an empty `w/`, for the workspace, and files.
pub(crate) fn place(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = temp();
    fs::create_dir(dir.path().join("w")).expect("a folder");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    dir
}

/// Gives a text to the program in `dir`, and returns what a file is afterwards.
pub(crate) fn apply_in(
    dir: &TempDir,
    args: &[&str],
    sent: &str,
    file: &str,
) -> (Run, Option<String>) {
    let home = temp();
    let run = run("apply-patch", dir.path(), home.path(), args, sent.as_bytes());
    (run, fs::read_to_string(dir.path().join(file)).ok())
}

/// The program on a terminal, in `dir/w`. `line` is shell, in which `$it` is the program, so that
/// its input and output can be redirected; at the end it prints `exit` and the code.
pub(crate) fn on_terminal(dir: &Path, line: &str, environment: &[(&str, &str)]) -> Terminal {
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
        .env("it", word());
    Terminal::run(command)
}
