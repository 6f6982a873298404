//! Which arguments carry a script, and for which shell.

use std::borrow::Cow;

use crate::script;
use crate::shell::{NAMES, Shell};
use crate::snapshot;
use crate::verdict::{CorrectnessError, Intercept};

/// Decides whether an argument vector is a call of `apply_patch`.
///
/// ```
/// # use shell_intercept::{Intercept, intercept};
/// assert_eq!(intercept(&["ls", "-l"]), Intercept::NotApplyPatch);
/// ```
#[must_use]
pub fn intercept<S: AsRef<str>>(argv: &[S]) -> Intercept<'_> {
    let argv: Vec<&str> = argv.iter().map(AsRef::as_ref).collect();
    if let Some((program, script)) = snapshot_script(&argv)
        && let Some(command) = snapshot::command(script)
    {
        let shell = command.shell.as_deref().unwrap_or(program);
        return direct(&[shell, "-c", &command.script]).into_owned();
    }
    direct(unwrapped(&argv))
}

/// Decides about the final command.
fn direct<'a>(argv: &[&'a str]) -> Intercept<'a> {
    match argv {
        [text] if script::is_bare_patch(text) => {
            Intercept::CorrectnessError(CorrectnessError::ImplicitInvocation)
        }
        [name, patch] if NAMES.contains(name) => script::body(Cow::Borrowed(patch), None),
        [program, flags @ .., script] => match shell(program, flags) {
            Some(shell) => script::intercept_script(shell, script),
            None => Intercept::NotApplyPatch,
        },
        _ => Intercept::NotApplyPatch,
    }
}

/// The shell and the script of a call that may read a snapshot of Codex first, in the ways in which
/// Codex starts bash, zsh and sh for that.
fn snapshot_script<'a>(argv: &[&'a str]) -> Option<(&'a str, &'a str)> {
    let (program, flag, script) = match *argv {
        [program, flag, script] => (program, flag, script),
        [program, "-f", flag, script]
        | [
            "/usr/bin/env",
            "-u",
            "BASH_FUNC_command%%",
            "-u",
            "BASH_FUNC_builtin%%",
            program,
            "--noprofile",
            "--norc",
            "-p",
            flag,
            script,
        ] => (program, flag, script),
        _ => return None,
    };
    (shell(program, &[flag]) == Some(Shell::Posix)).then_some((program, script))
}

/// The script with which an older Codex reads its snapshot of a user's shell, and then runs the
/// following command.
const AFTER_SNAPSHOT: &str = ". \"$0\" && exec \"$@\"";

/// The command after the snapshot, or the whole. Like a start-up file a snapshot sets variables;
/// the functions and aliases of the reading shell end with `exec`.
fn unwrapped<'v, 'a>(argv: &'v [&'a str]) -> &'v [&'a str] {
    match argv {
        [program, flag, script, snapshot, command @ ..]
            if shell(program, &[*flag]) == Some(Shell::Posix)
                && *script == AFTER_SNAPSHOT
                // `.` searches PATH for a name.
                && snapshot.starts_with('/')
                && command.len() > 1 =>
        {
            command
        }
        _ => argv,
    }
}

/// The shell that runs the next argument as a script.
fn shell(program: &str, flags: &[&str]) -> Option<Shell> {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    let (last, others) = flags.split_last()?;
    match name.strip_suffix(".exe").unwrap_or(&name) {
        "bash" | "zsh" | "sh" => {
            (others.is_empty() && matches!(*last, "-c" | "-lc")).then_some(Shell::Posix)
        }
        "powershell" | "pwsh" => {
            let harmless = others.iter().all(|flag| {
                ["-NoProfile", "-NoLogo", "-NonInteractive"]
                    .iter()
                    .any(|known| flag.eq_ignore_ascii_case(known))
            });
            (harmless && last.eq_ignore_ascii_case("-Command")).then_some(Shell::PowerShell)
        }
        "cmd" => (others.is_empty() && last.eq_ignore_ascii_case("/c")).then_some(Shell::Cmd),
        _ => None,
    }
}
