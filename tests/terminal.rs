//! A program on a terminal, and somebody who types.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rexpect::process::{PtyProcess, Signal, WaitStatus};

/// A hang guard; nothing on a terminal takes that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// It does what rexpect's session does, which looks for output ten times a second; this one waits
/// for it.
pub(crate) struct Terminal {
    process: PtyProcess,
    input: File,
    output: Receiver<Vec<u8>>,
    unread: Vec<u8>,
}

impl Terminal {
    pub(crate) fn run(command: Command) -> Self {
        testutils::signals::by_default();
        let process = PtyProcess::new(command).expect("a terminal");
        let input = process.get_file_handle().expect("a terminal to write to");
        let mut from = process.get_file_handle().expect("a terminal to read from");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // At its end a terminal fails.
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { process, input, output, unread: Vec::new() }
    }

    /// Waits for this text. Gives what came before it.
    pub(crate) fn exp_string(&mut self, wanted: &str) -> Result<String, String> {
        let mut from = 0;
        loop {
            let found = self.unread[from..]
                .windows(wanted.len())
                .position(|window| window == wanted.as_bytes());
            if let Some(at) = found {
                let before: Vec<u8> = self.unread.drain(..from + at).collect();
                self.unread.drain(..wanted.len());
                return Ok(String::from_utf8_lossy(&before).into_owned());
            }
            from = self.unread.len().saturating_sub(wanted.len());
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.unread.extend(bytes),
                Err(error) => return Err(format!("{error}: no {wanted:?} in {:?}", self.unread())),
            }
        }
    }

    /// Waits for the end. Gives what came before it.
    pub(crate) fn exp_eof(&mut self) -> Result<String, String> {
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.unread.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => {
                    self.process.wait().map_err(|error| error.to_string())?;
                    return Ok(self.unread());
                }
                Err(error) => return Err(format!("{error}: no end after {:?}", self.unread())),
            }
        }
    }

    fn unread(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.unread)).into_owned()
    }

    pub(crate) fn send(&mut self, text: &str) -> std::io::Result<()> {
        self.input.write_all(text.as_bytes())
    }

    pub(crate) fn send_line(&mut self, line: &str) -> std::io::Result<()> {
        self.send(&format!("{line}\n"))
    }

    /// Control and this lower-case letter.
    pub(crate) fn send_control(&mut self, letter: char) -> std::io::Result<()> {
        self.input.write_all(&[u8::try_from(letter).expect("a letter") & 0x1f])
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(WaitStatus::StillAlive) = self.process.status() {
            let _ = self.process.signal(Signal::SIGKILL);
            let _ = self.process.wait();
        }
    }
}
