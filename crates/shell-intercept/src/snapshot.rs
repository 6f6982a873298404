//! The scripts with which Codex reads its snapshot of a user's shell, and then runs a command.
//!
//! Both keep some variables, read the snapshot, and set the variables again. The older script ends
//! in `exec 'SHELL' -c 'SCRIPT'`; the newer one activates the snapshot, and ends in `eval
//! 'SCRIPT'`. Nothing else may stand there: each line has one of the shapes below.

use std::borrow::Cow;

use crate::literal;
use crate::shell::Shell;

/// The words of a line that its shape keeps; others are variables.
const WORDS: [&str; 13] =
    ["if", "then", "else", "elif", "fi", "case", "in", "esac", "export", "unset", "n", "z", "x"];

/// Lines with whole commands, `V` for a variable and `Q` for a quoted text.
const COMMANDS: [&str; 7] = [
    "",
    r#"V="${V+x}""#,
    r#"V="${V-}""#,
    r#"export V="$V""#,
    "unset V",
    r#"if [ -n "${V}" ]; then export V="${V}"; fi"#,
    r#"if [ -n "${V}" ]; then export V="${V}"; else unset V; fi"#,
];

/// A line that puts a directory before the others of PATH.
const PREPENDS: &str = r#"if [ -n "${V:-}" ]; then export V=Q:"$V"; else export V=Q; fi"#;

/// The first line of a command of several lines, and its last line.
const OPENING: [(&str, &str); 6] = [
    (r#"if [ -n "$V" ]; then"#, "fi"),
    (r#"if [ -n "$V" ] || [ -n "${V+x}" ]; then"#, "fi"),
    (r#"if [ -z "${V+x}" ] || [ -n "$V" ]; then"#, "fi"),
    (r#"case "$V" in"#, "esac"),
    (r#"case "${V-}" in"#, "esac"),
    (r#"case "${V-0}" in"#, "esac"),
];

/// Lines within an `if`.
const BRANCHES: [&str; 2] = ["else", r#"elif [ -n "$V" ]; then"#];

/// Lines within a `case`.
const ARMS: [&str; 6] = [
    "1) ;;",
    "*) unset V ;;",
    r"V=1\ *) V=1 ;;",
    "*) V= ;;",
    r#"V=1\ *) export V="$V" ;;"#,
    r#"*) if [ -z "${V+x}" ]; then export V="$V"; fi ;;"#,
];

/// How the newer scripts begin for bash, zsh and sh.
const BASH: &str = "\\command set +p\n";
const ZSH: &str = "if [[ \"${(t)functions}\" == association* && -z \"${functions[builtin]-}\" \
    && -z \"${functions[command]-}\" ]]; then\n";
const SH: &str = "\\unset -f command 2>/dev/null\n\
    case \"$(\\command printf '%s' __CODEX_SNAPSHOT_COMMAND_OK)\" in\n  \
    __CODEX_SNAPSHOT_COMMAND_OK)\n";
const CONTROL: &str = "\\command unalias -a 2>/dev/null || \\command true\n{\n";

/// How the newer scripts activate the functions and aliases that they have read.
const ACTIVATE: &str = "\\command eval '\\command unset __CODEX_SNAPSHOT_FUNCTIONS \
    __CODEX_SNAPSHOT_ALIASES __CODEX_SNAPSHOT_BASH_ENV_PRESENT\n\
    '\"${__CODEX_SNAPSHOT_FUNCTIONS-}\"'\n'\"${__CODEX_SNAPSHOT_ALIASES-}\" &&\n\\command eval ";

/// The command after the snapshot.
pub(crate) struct Command<'s> {
    /// The shell, if another than the reader of the snapshot.
    pub(crate) shell: Option<Cow<'s, str>>,
    pub(crate) script: Cow<'s, str>,
}

/// The command of a script that has read a snapshot; `None` if it does anything else.
pub(crate) fn command(script: &str) -> Option<Command<'_>> {
    let begins = [BASH, ZSH, SH].into_iter().find(|begin| script.starts_with(begin));
    let Some(begin) = begins else { return older(script) };
    let control = script[begin.len()..].strip_prefix(CONTROL)?;
    let control =
        if begin == ZSH { control.strip_prefix("\\command setopt RCS\n")? } else { control };
    let eval = after_snapshot(control, ACTIVATE)?;
    let (script, rest) = literal::argument(eval, Shell::Posix).ok()?;
    let written = &eval[..eval.len() - rest.len()];
    // The others have the same once more, for a shell in which the first way fails.
    let again = |before: &str, after: &str| {
        let rest = rest.strip_prefix(before)?;
        let (_, rest) = literal::argument(rest, Shell::Posix).ok()?;
        Some(rest.strip_prefix(" -lc ")?.strip_prefix(written)? == after)
    };
    let ends = match begin {
        BASH => rest == "\n}",
        ZSH => again("\n}\nelse\n  ", "\nfi")?,
        _ => again("\n}\n    ;;\n  *)\n    ", "\n    ;;\nesac")?,
    };
    ends.then_some(Command { shell: None, script })
}

fn older(script: &str) -> Option<Command<'_>> {
    let exec = after_snapshot(script, "exec ")?;
    let (shell, rest) = literal::argument(exec, Shell::Posix).ok()?;
    let (script, rest) = literal::argument(rest.strip_prefix(" -c ")?, Shell::Posix).ok()?;
    rest.is_empty().then_some(Command { shell: Some(shell), script })
}

/// The text behind `ends` in a script that reads a snapshot, and up to there does nothing else but
/// keep and set variables.
fn after_snapshot<'s>(script: &'s str, ends: &str) -> Option<&'s str> {
    let mut rest = script;
    let mut open = Vec::new();
    let mut read = false;
    loop {
        if let Some(after) = rest.strip_prefix(ends).filter(|_| read && open.is_empty()) {
            return Some(after);
        }
        let (line, after) = rest.split_once('\n')?;
        // The prefix only keeps functions of the same name from being called.
        let line = line.replace("\\command ", "");
        if open.is_empty() && !read && reads_snapshot(&line) {
            read = true;
        } else if !sets_variables(&line, &mut open) {
            return None;
        }
        rest = after;
    }
}

fn reads_snapshot(line: &str) -> bool {
    let path =
        [("if . ", "; then :; fi"), (". ", " || true")].into_iter().find_map(|(before, after)| {
            line.strip_prefix(before)?.strip_suffix(after)?.strip_suffix(" >/dev/null 2>&1")
        });
    // `.` searches PATH for a name.
    path.and_then(|path| literal::argument(path, Shell::Posix).ok())
        .is_some_and(|(path, rest)| path.starts_with('/') && rest.is_empty())
}

/// Returns whether a line only sets variables; `open` are the lines that have to follow.
fn sets_variables(line: &str, open: &mut Vec<&'static str>) -> bool {
    let (shape, variables) = shape(line.trim_start_matches(' '));
    if shape == PREPENDS {
        return variables.iter().all(|variable| *variable == "PATH");
    }
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

/// Writes `V` for each variable of a line, and `Q` for each text in single quotes; also returns the
/// variables.
fn shape(line: &str) -> (String, Vec<&str>) {
    let mut shape = String::new();
    let mut variables = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '\'' => rest[1..].find('\'').map_or(1, |len| len + 2),
            'a'..='z' | 'A'..='Z' | '_' => {
                rest.find(|char| !is_in_word(char)).unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        let part = &rest[..len];
        if first == '\'' && len > 1 {
            shape.push('Q');
        } else if is_in_word(first) && !first.is_ascii_digit() && !WORDS.contains(&part) {
            shape.push('V');
            variables.push(part);
        } else {
            shape.push_str(part);
        }
        rest = &rest[len..];
    }
    (shape, variables)
}

fn is_in_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}
