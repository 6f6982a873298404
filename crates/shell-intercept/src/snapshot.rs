//! The script by which Codex reads its snapshot of a user's shell, and then runs a command.
//!
//! It keeps some variables, reads the snapshot, sets the variables again, and ends in
//! `exec 'SHELL' -c 'SCRIPT'`. Nothing else may stand in it: each line has one of the shapes below.

use std::borrow::Cow;

use crate::literal;
use crate::shell::Shell;

/// The words of a line that its shape keeps; others are variables.
const WORDS: [&str; 14] = [
    "if", "then", "else", "elif", "fi", "case", "in", "esac", "export", "unset", "n", "z", "x",
    "PATH",
];

/// Lines that are whole commands, with `V` for a variable and `Q` for a quoted text.
const COMMANDS: [&str; 8] = [
    "",
    r#"V="${V+x}""#,
    r#"V="${V-}""#,
    r#"export V="$V""#,
    "unset V",
    r#"if [ -n "${V}" ]; then export V="${V}"; fi"#,
    r#"if [ -n "${V}" ]; then export V="${V}"; else unset V; fi"#,
    r#"if [ -n "${PATH:-}" ]; then export PATH=Q:"$PATH"; else export PATH=Q; fi"#,
];

/// Lines that begin a command of several lines, and the line that ends it.
const OPENING: [(&str, &str); 5] = [
    (r#"if [ -n "$V" ]; then"#, "fi"),
    (r#"if [ -n "$V" ] || [ -n "${V+x}" ]; then"#, "fi"),
    (r#"if [ -z "${V+x}" ] || [ -n "$V" ]; then"#, "fi"),
    (r#"case "$V" in"#, "esac"),
    (r#"case "${V-}" in"#, "esac"),
];

/// Lines within an `if`.
const BRANCHES: [&str; 2] = ["else", r#"elif [ -n "$V" ]; then"#];

/// Lines within a `case`.
const ARMS: [&str; 4] = [
    r"V=1\ *) V=1 ;;",
    "*) V= ;;",
    r#"V=1\ *) export V="$V" ;;"#,
    r#"*) if [ -z "${V+x}" ]; then export V="$V"; fi ;;"#,
];

/// The shell that runs when the snapshot is read, and its script; `None` if `script` does anything
/// else.
pub(crate) fn command(script: &str) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    let mut rest = script;
    let mut open = Vec::new();
    let mut read = false;
    loop {
        if let Some(command) = rest.strip_prefix("exec ").filter(|_| read && open.is_empty()) {
            let (shell, rest) = literal::argument(command, Shell::Posix).ok()?;
            let (script, rest) =
                literal::argument(rest.strip_prefix(" -c ")?, Shell::Posix).ok()?;
            return rest.is_empty().then_some((shell, script));
        }
        let (line, after) = rest.split_once('\n')?;
        if open.is_empty() && !read && reads_snapshot(line) {
            read = true;
        } else if !sets_variables(line, &mut open) {
            return None;
        }
        rest = after;
    }
}

fn reads_snapshot(line: &str) -> bool {
    let path = line
        .strip_prefix("if . ")
        .and_then(|line| line.strip_suffix(" >/dev/null 2>&1; then :; fi"));
    // `.` searches PATH for a name.
    path.and_then(|path| literal::argument(path, Shell::Posix).ok())
        .is_some_and(|(path, rest)| path.starts_with('/') && rest.is_empty())
}

/// Returns whether a line only sets variables; `open` are the lines that have to follow.
fn sets_variables(line: &str, open: &mut Vec<&'static str>) -> bool {
    let shape = shape(line.trim_start_matches(' '));
    if open.last() == Some(&&*shape) {
        open.pop();
        return true;
    }
    if open.last() == Some(&"esac") {
        return ARMS.contains(&&*shape);
    }
    if let Some((_, end)) = OPENING.iter().find(|(opening, _)| shape == *opening) {
        open.push(*end);
        return true;
    }
    COMMANDS.contains(&&*shape) || (!open.is_empty() && BRANCHES.contains(&&*shape))
}

/// Writes `V` for each variable of a line, and `Q` for each text in single quotes.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let in_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let len = match first {
            '\'' => rest[1..].find('\'').map_or(1, |len| len + 2),
            'a'..='z' | 'A'..='Z' | '_' => rest.find(|char| !in_word(char)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let part = &rest[..len];
        shape.push_str(match first {
            '\'' if len > 1 => "Q",
            _ if in_word(first) && !first.is_ascii_digit() && !WORDS.contains(&part) => "V",
            _ => part,
        });
        rest = &rest[len..];
    }
    shape
}
