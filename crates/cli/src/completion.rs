//! Completion in shells: a script registers the program, and the program says what can stand where
//! the cursor is.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use apply_patch_api::engine::commit::{LogEntry, Workspace};
use apply_patch_api::tools::Tool;
use clap::builder::ValueHint;
use clap::{Arg, Command, ValueEnum};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, complete};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

use crate::exit::Exit;
use crate::render;

/// The variable with the name of the shell; the words of the line follow `--`.
pub(crate) const VARIABLE: &str = "_APPLY_PATCH_COMPLETE";

const NAME: &str = "apply-patch";

/// How many transactions are offered, the newest first.
const MAX_TRANSACTIONS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionShell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl CompletionShell {
    fn completer(self) -> &'static dyn EnvCompleter {
        match self {
            Self::Bash => &Bash,
            Self::Elvish => &Elvish,
            Self::Fish => &Fish,
            Self::Powershell => &Powershell,
            Self::Zsh => &Zsh,
        }
    }

    /// The script that registers the program, found in PATH.
    pub(crate) fn script(self) -> Vec<u8> {
        let mut script = Vec::new();
        let written = self.completer().write_registration(VARIABLE, NAME, NAME, NAME, &mut script);
        written.expect("memory takes what is written");
        if self == Self::Zsh {
            // If zsh loads the script from a folder, it does so at the first completion, and wants
            // an answer.
            script.extend_from_slice(
                b"[[ \"${funcstack[1]}\" == _apply-patch ]] && _clap_dynamic_completer_apply_patch \
                  \"$@\"\n",
            );
        }
        script
    }
}

/// Prints what can stand where the cursor is, as the script of this shell reads it. After any
/// error, nothing is offered.
pub(crate) fn answer(shell: &OsStr, args: &[OsString], program: Command) -> Exit {
    let words = args
        .iter()
        .position(|arg| arg == "--")
        .and_then(|at| args.get(at + 1..))
        .unwrap_or_default();
    let shell = shell.to_str().and_then(|name| CompletionShell::from_str(name, false).ok());
    let Some(shell) = shell.filter(|_| !words.is_empty()) else { return Exit::Usage };
    let at = index().unwrap_or(words.len() - 1);
    // Commands and files come first. Flags, and commands left out of the help, are offered once one
    // is begun, or where nothing else can stand.
    let mut program = with_values(program, &root(words));
    if words.get(at).is_none_or(|word| word.is_empty()) {
        program = without_flags(program).disable_help_flag(true).disable_version_flag(true);
    } else {
        program = program.mut_subcommands(|command| command.hide(false));
    }
    let words = &with_plain_root(words)[..];
    let here = std::env::current_dir().ok();
    let mut out = Vec::new();
    let answered = match shell {
        CompletionShell::Bash => bash(&mut program, words, at, here.as_deref(), &mut out),
        _ => shell.completer().write_complete(
            &mut program,
            words.to_vec(),
            here.as_deref(),
            &mut out,
        ),
    };
    render::written(std::io::stdout().write_all(&out));
    if answered.is_ok() { Exit::Done } else { Exit::Usage }
}

/// The words with `.` as the root: the engine would take the value of the option for a command of
/// the same name.
fn with_plain_root(words: &[OsString]) -> Vec<OsString> {
    let mut words = words.to_vec();
    for at in (1..words.len().saturating_sub(1)).rev() {
        if words[at - 1] == "-C" || words[at - 1] == "--root" {
            words[at] = ".".into();
        }
    }
    words
}

/// The index of the word to complete, if the shell tells; otherwise the last word.
fn index() -> Option<usize> {
    std::env::var("_CLAP_COMPLETE_INDEX").ok()?.parse().ok()
}

/// The definitions with hidden flags; they take their values as before.
fn without_flags(command: Command) -> Command {
    command
        .mut_args(|arg| if arg.is_positional() { arg } else { arg.hide(true) })
        .mut_subcommands(without_flags)
}

/// Answers bash, where `=` is a word of its own.
fn bash(
    program: &mut Command,
    words: &[OsString],
    index: usize,
    here: Option<&Path>,
    out: &mut Vec<u8>,
) -> std::io::Result<()> {
    let signs: Vec<_> = (1..words.len().min(index))
        .filter(|&at| words[at] == "=" && words[at - 1].to_string_lossy().starts_with("--"))
        .collect();
    let kept = words
        .iter()
        .enumerate()
        .filter(|(at, _)| !signs.contains(at))
        .map(|(_, word)| word.clone());
    let found = complete(program, kept.collect(), index - signs.len(), here)?;
    let values: Vec<_> =
        found.iter().map(|candidate| candidate.get_value().to_string_lossy()).collect();
    out.extend_from_slice(
        values.join(&*std::env::var("_CLAP_IFS").unwrap_or_else(|_| "\n".into())).as_bytes(),
    );
    Ok(())
}

/// The directory of `-C` on the line.
fn root(words: &[OsString]) -> PathBuf {
    let mut words = words.iter();
    let mut root = PathBuf::from(".");
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let value = match &*text {
            "--" => break,
            "-C" | "--root" => words.next().cloned(),
            _ => text.strip_prefix("--root=").or(text.strip_prefix("-C")).map(OsString::from),
        };
        root = value.map_or(root, PathBuf::from);
    }
    root
}

/// Adds to each argument what its values are.
fn with_values(command: Command, root: &Path) -> Command {
    let commands: Vec<_> =
        command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    command
        .mut_args(|arg| {
            let value =
                arg.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
            match value.as_deref().filter(|_| arg.get_action().takes_values()) {
                Some("DIR") => arg.value_hint(ValueHint::DirPath),
                Some("FILE" | "FILE.json") => arg.value_hint(ValueHint::FilePath),
                Some("PATH") => arg.value_hint(ValueHint::AnyPath),
                Some("COMMAND") => values(arg, commands.clone()),
                Some("NAME,…") => values(arg, tools()),
                Some("NAME") if arg.is_positional() => values(arg, tools()),
                Some("ID") if arg.is_positional() => described(arg, root, transaction_ids),
                Some("ENTRY") => described(arg, root, trash_entries),
                _ => arg,
            }
        })
        .mut_subcommands(|command| match command.get_name() {
            "help" => command.mut_args(|arg| values(arg, commands.clone())),
            _ => with_values(command, root),
        })
}

fn values(arg: Arg, values: Vec<String>) -> Arg {
    arg.add(ArgValueCandidates::new(move || values.iter().map(CompletionCandidate::new).collect()))
}

fn tools() -> Vec<String> {
    Tool::usual().map(|tool| tool.as_str().to_owned()).collect()
}

/// Names in a workspace, each with what it stands for.
fn described(arg: Arg, root: &Path, names: fn(&Path) -> Vec<(String, String)>) -> Arg {
    let root = root.to_owned();
    arg.add(ArgValueCandidates::new(move || {
        names(&root)
            .into_iter()
            .enumerate()
            .map(|(nth, (name, what))| {
                CompletionCandidate::new(name).help(Some(what.into())).display_order(Some(nth))
            })
            .collect()
    }))
}

/// The transactions of the workspace at `root`, the newest first, and what each did. Nothing is
/// recovered or written, and what cannot be read is left out.
fn transaction_ids(root: &Path) -> Vec<(String, String)> {
    let history = Workspace::open(root, apply_patch_api::engine::policy())
        .ok()
        .and_then(|workspace| workspace.newest(MAX_TRANSACTIONS).ok());
    history.unwrap_or_default().iter().map(described_transaction).collect()
}

fn described_transaction(entry: &LogEntry) -> (String, String) {
    let what = render::sanitize(&render::what(entry, 1)).into_owned();
    (entry.journal.header.id.short(), what)
}

/// The displaced files of the workspace at `root`, the newest first, and where each was.
fn trash_entries(root: &Path) -> Vec<(String, String)> {
    let trash = Workspace::open(root, apply_patch_api::engine::policy())
        .ok()
        .and_then(|workspace| workspace.trash().ok());
    let deleted =
        trash.unwrap_or_default().into_iter().filter(|entry| entry.deleted).take(MAX_TRANSACTIONS);
    deleted
        .map(|entry| {
            (
                format!("{}/{}", entry.id.short(), entry.slot),
                render::sanitize(&entry.path).into_owned(),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_that_of_the_line() {
        for (line, wanted) in [
            ("apply-patch undo", "."),
            ("apply-patch -C d undo", "d"),
            ("apply-patch undo --root e", "e"),
            ("apply-patch undo -Cd", "d"),
            ("apply-patch --root=d undo -C e", "e"),
            ("apply-patch undo -C", "."),
            ("apply-patch intercept -- -C d", "."),
        ] {
            let words: Vec<_> = line.split(' ').map(OsString::from).collect();
            assert_eq!(root(&words), Path::new(wanted), "{line}");
        }
    }
}
