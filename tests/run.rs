//! A run of the program, and how it ended.

use std::io::{Error, ErrorKind, Write as _};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

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

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Run {
            code: output.status.code().expect("the program ends by itself"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// Runs a command with `input` on standard input, and returns what it printed.
pub(crate) fn output(mut command: Command, input: &[u8]) -> Output {
    testutils::signals::by_default();
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut tries = 0;
    let mut child = loop {
        match piped.spawn() {
            // A program that was just copied is open for writing in what another test starts, until
            // that has begun.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) if tries < 10 && died_at_the_start(&error) => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(200));
            }
            spawned => break spawned.expect("the program starts"),
        }
    };
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("the program ends")
}

/// Whether the system could not bring the process to its first instruction. On a busy machine Wine
/// answers now and then with `ERROR_INTERNAL_ERROR`; the program has not run then.
fn died_at_the_start(error: &Error) -> bool {
    const ERROR_INTERNAL_ERROR: i32 = 1359;
    cfg!(windows) && error.raw_os_error() == Some(ERROR_INTERNAL_ERROR)
}
