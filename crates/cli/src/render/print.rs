//! Lines and bytes on standard output, messages on standard error. What comes from elsewhere is made safe for a terminal.

use std::io::{IsTerminal as _, Write as _};

use file_tools::shown::sanitize;
use patch_engine::{Change, ChangeKind};

/// Prints a line on standard output; a broken pipe is a quiet end.
pub(crate) fn line(text: &str) {
    let _ = writeln!(anstream::stdout(), "{}", sanitize(text));
}

/// Prints lines on standard output, in one go.
pub(super) fn lines(texts: impl Iterator<Item = String>) {
    let text: String = texts.map(|text| sanitize(&text).into_owned() + "\n").collect();
    let _ = anstream::stdout().write_all(text.as_bytes());
}

/// Prints bytes on standard output: to a file or a pipe as they are, to a terminal with what it would obey as escapes, but
/// for carriage returns at line ends. A broken pipe is a quiet end.
pub(crate) fn raw(bytes: &[u8]) {
    let mut out = std::io::stdout();
    if !out.is_terminal() {
        let _ = out.write_all(bytes);
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    let safe = text.split("\r\n").map(sanitize).collect::<Vec<_>>().join("\r\n");
    let _ = out.write_all(safe.as_bytes());
    if safe.as_bytes() != bytes {
        let _ = out.flush();
        message("note: control characters are shown as escapes; for the exact bytes write to a file: `> FILE`");
    }
}

/// Prints lines of another program on standard error, without what a terminal would obey.
pub(super) fn errors(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let safe: String = text.lines().map(|line| sanitize(line).into_owned() + "\n").collect();
    let _ = anstream::stderr().write_all(safe.as_bytes());
}

/// Prints a message on standard error.
pub(crate) fn message(text: &str) {
    let _ = writeln!(anstream::stderr(), "apply-patch: {}", sanitize(text));
}

/// A change in one line: a letter and the path or paths.
pub(crate) fn name(change: &Change) -> String {
    name_seen(change, &str::to_owned)
}

/// The same with paths as they are seen from elsewhere.
pub(super) fn name_seen(change: &Change, seen: &dyn Fn(&str) -> String) -> String {
    let path = seen(change.path.as_str());
    match (change.operation, &change.to_path) {
        (ChangeKind::Create, _) => format!("A {path}"),
        (ChangeKind::Update, _) => format!("M {path}"),
        (ChangeKind::Delete, _) => format!("D {path}"),
        (ChangeKind::Move, Some(to)) => format!("R {path} -> {}", seen(to.as_str())),
        (ChangeKind::Move, None) => format!("R {path}"),
    }
}
