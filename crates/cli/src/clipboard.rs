//! The text that was copied, from the program that reads the clipboard here.

use std::env;
use std::io::{ErrorKind, Read as _};
use std::process::{Command, Stdio};

use apply_patch_api::engine::MAX_PATCH_SIZE;

use crate::failure::Failure;

/// A program that prints the clipboard, and the variable without which there is none.
type Reader = (&'static str, &'static [&'static str], Option<&'static str>);

const READERS: [Reader; 6] = [
    ("wl-paste", &["--no-newline"], Some("WAYLAND_DISPLAY")),
    ("xclip", &["-selection", "clipboard", "-out"], Some("DISPLAY")),
    ("xsel", &["--clipboard", "--output"], Some("DISPLAY")),
    ("pbpaste", &[], None),
    ("termux-clipboard-get", &[], None),
    (
        "powershell.exe",
        &[
            "-NoProfile",
            "-Command",
            "[Console]::OutputEncoding = [Text.Encoding]::UTF8; Get-Clipboard -Raw",
        ],
        None,
    ),
];

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn failed(program: &str, why: impl std::fmt::Display) -> Failure {
    Failure::Input(format!("cannot read the clipboard: {program}: {why}"))
}

/// Reads the clipboard with the first program found.
pub(crate) fn read() -> Result<Vec<u8>, Failure> {
    for (program, args, _) in READERS.iter().filter(|(.., variable)| variable.is_none_or(is_set)) {
        let mut command = Command::new(program);
        command.args(*args).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(program, error)),
        };
        let mut bytes = Vec::new();
        let out = child.stdout.take().expect("it is piped");
        let read = out.take(MAX_PATCH_SIZE + 1).read_to_end(&mut bytes);
        let is_too_long = bytes.len() as u64 > MAX_PATCH_SIZE;
        if is_too_long {
            let _ = child.kill();
        }
        let ended = child.wait();
        return match (read, ended) {
            _ if is_too_long => Err(Failure::TooLong),
            (Err(error), _) | (_, Err(error)) => Err(failed(program, error)),
            (_, Ok(status)) if !status.success() => Err(failed(program, status)),
            _ => Ok(bytes),
        };
    }
    let names: Vec<_> = READERS.iter().map(|(program, ..)| *program).collect();
    Err(Failure::Input(format!(
        "cannot read the clipboard: it takes one of these programs, and a display that it can \
         reach: {}",
        names.join(", ")
    )))
}
