//! Coloured diffs.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};

use super::sanitize;

const HEADER: Style = Style::new().bold();
const RANGE: Style = AnsiColor::Cyan.on_default();
const DELETED: Style = AnsiColor::Red.on_default();
const INSERTED: Style = AnsiColor::Green.on_default();

/// Prints a unified diff on standard output.
pub(crate) fn diff(diff: &[u8]) {
    let mut out = std::io::BufWriter::new(anstream::stdout());
    // A broken pipe is a quiet end.
    let _ = write_diff(&mut out, diff).and_then(|()| out.flush());
}

/// Writes a unified diff with the codes of its colours.
pub(crate) fn write_diff(out: &mut impl std::io::Write, diff: &[u8]) -> std::io::Result<()> {
    let mut in_hunk = false;
    for line in diff.split_inclusive(|&byte| byte == b'\n') {
        let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line));
        // A carriage return at the end of a line is a terminator here, and would be noise.
        let text = text.strip_suffix('\r').unwrap_or(&text);
        in_hunk = match line.first() {
            Some(b'@') => true,
            Some(b' ' | b'+' | b'-' | b'\\') => in_hunk,
            _ => false,
        };
        let style = match line.first() {
            _ if !in_hunk => HEADER,
            Some(b'@') => RANGE,
            Some(b'+') => INSERTED,
            Some(b'-') => DELETED,
            _ => Style::new(),
        };
        writeln!(out, "{style}{}{style:#}", sanitize(text))?;
    }
    Ok(())
}
