//! Lines and bytes on standard output, messages on standard error. What comes from elsewhere is
//! made safe for a terminal.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anstyle::{AnsiColor, Style};
use apply_patch_api::engine::{Change, ChangeKind};
use apply_patch_api::files::without_middle;
use apply_patch_api::tools::shown::sanitize;
use terminal_size::{Height, Width};

use super::link::link;
use crate::exit::Exit;
use crate::outside::{STDERR_IS_TERMINAL, STDOUT_IS_TERMINAL};

/// Of a transaction.
pub(super) const ID: Style = AnsiColor::Yellow.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const DELETED: Style = AnsiColor::Red.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();

/// The error of a failed write to standard output, and the lost text, if described in a line.
static LOST: Mutex<Option<(io::Error, Option<String>)>> = Mutex::new(None);

/// Remembers whether something was written on standard output. A broken pipe is a quiet end: nobody
/// reads on.
pub(crate) fn written(result: io::Result<()>) {
    written_or(result, || None);
}

/// The same; `what` says in a line what could not be written.
pub(crate) fn written_or(result: io::Result<()>, what: impl FnOnce() -> Option<String>) {
    if let Err(error) = result
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| (error, what()));
    }
}

/// Ends standard output. Returns `exit`; or, after a failed write, prints the error and returns the
/// exit of a failure.
pub(crate) fn end(exit: Exit) -> Exit {
    written(io::stdout().flush());
    let Some((error, what)) = LOST.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return exit;
    };
    let what = what.map(|what| format!("; it is: {what}")).unwrap_or_default();
    message(&format!("the answer could not be written: {error}{what}"));
    if exit == Exit::Done { Exit::Failed } else { exit }
}

/// Prints a line on standard output.
pub(crate) fn line(text: &str) {
    written(writeln!(anstream::stdout(), "{}", sanitize(text)));
}

/// Prints lines safe for a terminal on standard output, in one go.
pub(super) fn lines(texts: impl Iterator<Item = String>) {
    let text: String = texts.map(|text| text + "\n").collect();
    written(anstream::stdout().write_all(text.as_bytes()));
}

/// Prints bytes on standard output: to a file or a pipe unchanged, to a terminal with escapes for
/// control codes, except for carriage returns at line ends.
pub(crate) fn raw(bytes: &[u8]) {
    let mut out = std::io::stdout();
    if !*STDOUT_IS_TERMINAL {
        written(out.write_all(bytes));
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    let safe = text.split("\r\n").map(sanitize).collect::<Vec<_>>().join("\r\n");
    written(out.write_all(safe.as_bytes()));
    if safe.as_bytes() != bytes {
        let _ = out.flush();
        message(
            "note: control characters are shown as escapes; for the exact bytes write to a file: \
             `> FILE`",
        );
    }
}

/// Whether the output of a command was shown live.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Prints a piece of the output of another program on standard error.
pub(crate) fn output(text: &str) {
    SHOWN.store(true, Ordering::Relaxed);
    let safe: String = text
        .split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => sanitize(line.strip_suffix('\r').unwrap_or(line)).into_owned() + "\n",
            None => sanitize(line).into_owned(),
        })
        .collect();
    let _ = anstream::stderr().write_all(safe.as_bytes());
}

/// Returns whether there was any.
pub(super) fn output_was_shown() -> bool {
    SHOWN.load(Ordering::Relaxed)
}

/// Prints lines of another program on standard error, without what a terminal would obey.
pub(super) fn errors(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let safe: String = text.lines().map(|line| sanitize(line).into_owned() + "\n").collect();
    let _ = anstream::stderr().write_all(safe.as_bytes());
}

/// Prints a message on standard error, which says that it is of this program; on a terminal in
/// lines that fit.
pub(crate) fn message(text: &str) {
    say(&laid_out("apply-patch: ", text));
}

/// The same, of what goes on after a message.
pub(crate) fn sentence(text: &str) {
    say(&laid_out("", text));
}

/// The same after a success: `text` goes on after `done`, with the name of a transaction.
pub(crate) fn done(text: &str, id: &str) {
    let mut text = laid_out("apply-patch: done", text);
    text = text.replacen("done", &format!("{ADDED}done{ADDED:#}"), 1);
    say(&text.replacen(id, &format!("{ID}{id}{ID:#}"), 1));
}

/// A message in its printed form: control codes for a terminal become visible, and long lines are
/// broken.
fn laid_out(before: &str, text: &str) -> String {
    /// A longer line quotes given text; the ends of the line tell enough.
    const LINE: usize = 4000;
    let lines: Vec<_> = text
        .split('\n')
        .map(|line| if line.len() > LINE { without_middle(line, LINE / 4) } else { line.into() })
        .collect();
    let text = lines.join("\n");
    let text = format!("{before}{}", sanitize(&text));
    error_width().map_or_else(|| text.clone(), |width| wrapped(&text, width, 2)) + "\n"
}

/// Writes on standard error, in one call, to keep lines of several processes apart.
fn say(text: &str) {
    let _ = match anstream::AutoStream::choice(&std::io::stderr()) {
        anstream::ColorChoice::Never => {
            let plain = anstream::adapter::strip_str(text).to_string();
            std::io::stderr().write_all(plain.as_bytes())
        }
        _ => anstream::stderr().write_all(text.as_bytes()),
    };
}

/// Prints sentences on standard output; on a terminal in lines that fit.
pub(crate) fn paragraph(text: &str) {
    indented(text, text.len() - text.trim_start().len() + 2);
}

/// The same with so many blanks before all lines but the first.
pub(crate) fn indented(text: &str, indent: usize) {
    match width() {
        Some(width) => line(&wrapped(text, width, indent)),
        None => line(text),
    }
}

/// How many columns standard output has, on a terminal.
pub(crate) fn width() -> Option<usize> {
    STDOUT_IS_TERMINAL.then(|| columns(terminal_size::terminal_size_of(std::io::stdout())))?
}

/// How many columns standard error has, on a terminal.
pub(crate) fn error_width() -> Option<usize> {
    STDERR_IS_TERMINAL.then(|| columns(terminal_size::terminal_size_of(std::io::stderr())))?
}

fn columns(size: Option<(Width, Height)>) -> Option<usize> {
    size.map(|(Width(width), _)| usize::from(width)).filter(|&width| width > 0)
}

/// Breaks lines longer than `width` between words, with an indent after each break. Longer words
/// stay whole.
pub(super) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (nth, line) in text.split('\n').enumerate() {
        if nth > 0 {
            out.push('\n');
        }
        let mut at = 0;
        for word in line.split_inclusive(' ') {
            let length = word.trim_end_matches(' ').chars().count();
            if at > indent && at + length > width {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                at = indent;
            }
            out.push_str(word);
            at += word.chars().count();
        }
    }
    out
}

/// A line with the letter of a change in front, in its colour; the rest has no control codes for a
/// terminal.
pub(crate) fn lettered(line: &str) -> String {
    let (letter, rest) = line.split_at(line.find(' ').unwrap_or(0));
    let style = match letter {
        "A" | "C" => ADDED,
        "D" => DELETED,
        _ => CHANGED,
    };
    format!("{style}{letter}{style:#}{rest}")
}

/// A change in one line: a letter and the path or paths.
pub(crate) fn name(change: &Change) -> String {
    name_seen(change, &str::to_owned)
}

/// The same, safe for a terminal; the path of an existing file is a link.
pub(super) fn linked(change: &Change, root: &Path) -> String {
    let text = sanitize(&name(change)).into_owned();
    let last = sanitize(change.last_path().as_str()).into_owned();
    match text.strip_suffix(&*last).filter(|_| change.operation != ChangeKind::Delete) {
        Some(before) => before.to_owned() + &link(&last, &root.join(change.last_path().as_str())),
        None => text,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        for (text, width, wanted) in [
            ("one two three", 80, "one two three"),
            ("one two three", 13, "one two three"),
            ("one two three", 12, "one two\n  three"),
            ("one two three", 7, "one two\n  three"),
            ("one two three", 3, "one\n  two\n  three"),
            ("a/very/long/path stays whole", 10, "a/very/long/path\n  stays\n  whole"),
            ("first line\nsecond line", 8, "first\n  line\nsecond\n  line"),
            ("  indented words", 11, "  indented\n  words"),
            ("", 5, ""),
        ] {
            assert_eq!(wrapped(text, width, 2), wanted, "{text} in {width}");
        }
    }
}
