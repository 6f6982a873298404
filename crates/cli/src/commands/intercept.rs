//! `apply-patch intercept`: whether a command is a call of `apply_patch`.

use std::ffi::OsString;

use apply_patch_api::engine::Remedy;
use apply_patch_api::engine::remedy::Action;
use apply_patch_api::tools::{Caller, Hint};
use clap::Args;
use serde_json::{Value, json};
use shell_intercept::{Intercept, WARNING};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::json;

#[derive(Debug, Args)]
#[command(
    after_help = "The command is bash, zsh, sh, PowerShell or cmd with a script, or apply_patch \
                  with a patch.\n\n\
    Exit codes: 0 a patch (`data.patch`, `data.workdir`), 1 a patch was meant, but the call is \
    wrong\n\
    (`error.details.verdict`), 7 something else.\n\n\
    Examples:\n  \
    apply-patch intercept -- bash -lc \"$SCRIPT\" | jq -j .data.patch | apply-patch --profile codex"
)]
pub(crate) struct InterceptArgs {
    /// Command and its arguments
    #[arg(value_name = "ARGV", required = true, last = true)]
    pub(crate) argv: Vec<OsString>,
}

pub(crate) fn intercept(args: &InterceptArgs) -> Result<Exit, Failure> {
    let (answer, exit) = answer(&args.argv);
    json::print(&answer);
    Ok(exit)
}

/// The envelope and how the program ends.
fn answer(argv: &[OsString]) -> (Value, Exit) {
    // A patch is text, and so is a script around one.
    let argv: Option<Vec<&str>> = argv.iter().map(|arg| arg.to_str()).collect();
    let found = argv.as_deref().map_or(Intercept::NotApplyPatch, shell_intercept::intercept);
    let verdict = found.verdict();
    match &found {
        Intercept::Body { patch, workdir } => {
            let data = json!({
                "verdict": verdict, "patch": patch, "workdir": workdir, "warning": WARNING,
            });
            (json::success("a call of apply_patch", data), Exit::Done)
        }
        Intercept::CorrectnessError(error) => {
            let mut details = json!({ "verdict": verdict, "reason": error.kind() });
            if let Some(error) = found.patch_error() {
                details["patch"] = json!({
                    "reason": error.kind.as_str(),
                    "line": error.line,
                    "column": error.column,
                    "expected": error.expected,
                    "seen": error.seen,
                });
            }
            (failure(&error.to_string(), details), Exit::DoesNotApply)
        }
        Intercept::ShellParseError(error) => {
            let details = json!({ "verdict": verdict, "reason": error.kind() });
            (failure(&error.to_string(), details), Exit::DoesNotApply)
        }
        Intercept::NotApplyPatch => {
            let data = json!({ "verdict": verdict });
            (json::success("no call of apply_patch", data), Exit::NotApplyPatch)
        }
    }
}

fn failure(message: &str, details: Value) -> Value {
    json::refusal(json!({
        "kind": "patch_parse_error",
        "message": message,
        "details": details,
        "recoverable": true,
        "suggestedNextAction": "call the apply_patch tool directly, with the patch as its input",
        "hints": Hint::all_of(&[Remedy::act(Action::Patch, "")], Caller::Terminal),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_its_code() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
        let heredoc = format!("cd b && apply_patch <<'EOF'\n{patch}EOF\n");
        let open = format!("apply_patch <<'EOF'\n{patch}More.\n");
        for (argv, pointer, verdict, exit) in [
            (&["bash", "-lc", &heredoc][..], "/data/verdict", "body", Exit::Done),
            (&[patch], "/error/details/verdict", "correctness_error", Exit::DoesNotApply),
            (
                &["apply_patch", "x"],
                "/error/details/verdict",
                "correctness_error",
                Exit::DoesNotApply,
            ),
            (
                &["bash", "-lc", &open],
                "/error/details/verdict",
                "shell_parse_error",
                Exit::DoesNotApply,
            ),
            (&["bash", "-lc", "ls"], "/data/verdict", "not_apply_patch", Exit::NotApplyPatch),
        ] {
            let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
            let (answer, found) = answer(&argv);
            assert_eq!(answer.pointer(pointer), Some(&json!(verdict)), "{answer}");
            assert_eq!(found, exit, "{answer}");
            if verdict == "body" {
                assert_eq!(&answer["data"]["patch"], &json!(patch));
                assert_eq!(&answer["data"]["workdir"], &json!("b"));
            }
        }
        let not_text = <OsString as std::os::unix::ffi::OsStringExt>::from_vec(b"\xff".to_vec());
        assert_eq!(answer(&["apply_patch".into(), not_text]).1, Exit::NotApplyPatch);
    }
}
