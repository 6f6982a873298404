//! Any argument vector: never panics; what is found is in the script, and is a patch.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::{Options, Profile, parse};
use shell_intercept::{Intercept, intercept};

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    Argv(Vec<&'a str>),
    Script(u8, Vec<Part<'a>>),
}

#[derive(Debug, Arbitrary)]
enum Part<'a> {
    Known(u8),
    Free(&'a str),
}

const SHELLS: &[&[&str]] = &[
    &["bash", "-lc"],
    &["sh", "-c"],
    &["/bin/zsh", "-c"],
    &["pwsh", "-NoProfile", "-Command"],
    &["cmd", "/c"],
    &["apply_patch"],
    &["bash", "-c", ". \"$0\" && exec \"$@\"", "/snapshot", "bash", "-c"],
];

const PARTS: &[&str] = &[
    "apply_patch",
    "applypatch",
    " ",
    "\n",
    "<<'EOF'",
    "<<EOF",
    "<<-\"X Y\"",
    "EOF\n",
    "X Y\n",
    "*** Begin Patch\n",
    "*** End Patch\n",
    "*** Add File: f\n+x\n",
    "*** Delete File: f\n",
    "cd d && ",
    "cd '",
    "cat ",
    "echo ",
    "printf '%s' ",
    " | ",
    "'",
    "\"",
    "\\",
    "$(",
    "`",
    "$x",
    ";",
    "&&",
    "|",
    "#",
    "\r\n",
    "\t",
    "&",
    "${",
    ")",
    "}",
];

fuzz_target!(|input: Input<'_>| {
    let argv: Vec<String> = match &input {
        Input::Argv(argv) => argv.iter().map(|&arg| arg.to_owned()).collect(),
        Input::Script(shell, parts) => {
            let part = |part: &Part<'_>| match part {
                Part::Known(at) => PARTS[usize::from(*at) % PARTS.len()].to_owned(),
                Part::Free(text) => (*text).to_owned(),
            };
            let shell =
                SHELLS[usize::from(*shell) % SHELLS.len()].iter().map(|&arg| arg.to_owned());
            shell.chain([parts.iter().map(part).collect()]).collect()
        }
    };
    let verdict = intercept(&argv);
    assert!(!verdict.verdict().is_empty());
    match &verdict {
        Intercept::Body { patch, workdir } => {
            let script = argv.last().expect("a call has arguments");
            parse(&**patch, &Options::new(Profile::Codex).parse).expect("what is found is a patch");
            if !script.contains(['\\', '\'', '"', '`', '$', '\t']) {
                assert!(script.contains(&**patch), "{patch:?} is not in {script:?}");
            }
            assert!(workdir.as_ref().is_none_or(|dir| !dir.is_empty()));
        }
        Intercept::CorrectnessError(error) => {
            assert!(!error.to_string().is_empty());
            assert!(!error.kind().is_empty());
        }
        Intercept::ShellParseError(error) => {
            assert!(!error.to_string().is_empty());
            assert!(!error.kind().is_empty());
        }
        Intercept::NotApplyPatch => {}
    }
});
