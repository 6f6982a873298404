//! What is taken for a patch, and above all what is not.
#![allow(clippy::print_stderr)]

use std::cell::Cell;
use std::time::{Duration, Instant};

use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::sample::{Index, select};
use shell_intercept::{Intercept, Shell, intercept, intercept_script};
use testutils::holds::holds;
use testutils::share::{share, whole};

const PATCH: &str = "*** Begin Patch\n*** Add File: foo\n+hi\n*** End Patch\n";

/// Puts the patch where `{}` is, and says what `bash -lc` of that is, in a word; a body with its
/// directory.
fn verdict(script: &str) -> String {
    verdict_of(&["bash", "-lc", &script.replace("{}", PATCH)])
}

fn verdict_of(argv: &[&str]) -> String {
    match intercept(argv) {
        Intercept::Body { patch, workdir } => {
            assert_eq!(patch.trim_end(), PATCH.trim_end(), "{argv:?}");
            format!("body {}", workdir.as_deref().unwrap_or("-"))
        }
        Intercept::CorrectnessError(error) => error.kind().to_owned(),
        Intercept::ShellParseError(error) => error.kind().to_owned(),
        Intercept::NotApplyPatch => "no".to_owned(),
    }
}

#[test]
fn takes_every_shell_that_is_known_and_no_other() {
    let script = &format!("apply_patch <<'EOF'\n{PATCH}EOF\n")[..];
    let text = PATCH;
    for argv in [
        &["apply_patch", text][..],
        &["applypatch", text],
        &["bash", "-c", script],
        &["bash", "-lc", script],
        &["zsh", "-lc", script],
        &["sh", "-c", script],
        &["/bin/sh", "-c", script],
        &["/usr/local/bin/bash", "-lc", script],
        &["bash.exe", "-lc", script],
        &["powershell", "-Command", script],
        &["PowerShell.EXE", "-noprofile", "-command", script],
        &["pwsh", "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", script],
        &["C:\\Program Files\\PowerShell\\7\\pwsh.exe", "-Command", script],
        &["cmd", "/c", script],
        &["C:\\Windows\\System32\\cmd.exe", "/C", script],
    ] {
        assert_eq!(verdict_of(argv), "body -", "{argv:?}");
    }
    for argv in [
        &[][..],
        &["apply_patch"],
        &["apply_patch", text, text],
        &["/tmp/apply_patch", text],
        &["Apply_Patch", text],
        &["echo", text],
        &[script],
        &["bash", script],
        &["bash", "-x", script],
        &["bash", "-l", "-c", script],
        &["bash", "-lc", script, "name"],
        &["bash", "-c", "-lc", script],
        &["bash", "-NoProfile", "-c", script],
        &["bash", "-Command", script],
        &["fish", "-c", script],
        &["python", "-c", script],
        &["rbash", "-c", script],
        &["bash.exe.exe", "-c", script],
        &["pwsh", "-File", script],
        &["pwsh", "-WorkingDirectory", "-Command", script],
        &["cmd", "/k", script],
        &["sudo", "bash", "-lc", script],
    ] {
        assert_eq!(verdict_of(argv), "no", "{argv:?}");
    }
}

#[test]
fn takes_every_form() {
    for (script, directory) in [
        ("apply_patch <<'EOF'\n{}EOF\n", "-"),
        ("apply_patch <<'EOF'\n{}EOF", "-"),
        ("applypatch <<\"EOF\"\n{}EOF\n", "-"),
        ("apply_patch <<EOF\n{}EOF\n", "-"),
        ("apply_patch <<\\EOF\n{}EOF\n", "-"),
        ("apply_patch << 'EOF'  \n{}EOF\n\n \t\n", "-"),
        ("\n  apply_patch <<'PATCH'\n{}PATCH\n", "-"),
        ("apply_patch<<'EOF'\n{}EOF\n", "-"),
        ("apply_patch <<'end of (the) patch;'\n{}end of (the) patch;\n", "-"),
        ("apply_patch <<'КОНЕЦ'\n{}КОНЕЦ\n", "-"),
        ("apply_patch <<*\n{}*\n", "-"),
        ("apply_patch <<-EOF\n\t{}\t\tEOF\n", "-"),
        ("apply_patch <<-'EOF'\n{}EOF\n", "-"),
        ("apply_patch '{}'", "-"),
        ("apply_patch '{}'\n", "-"),
        ("apply_patch \"{}\"", "-"),
        ("apply_patch \\\n  '{}'", "-"),
        ("apply_patch '*** Begin Patch\n'\"*** Add File: foo\n\"'+hi\n*** End Patch'", "-"),
        ("cd src && apply_patch <<'EOF'\n{}EOF\n", "src"),
        ("cd src &&\n  apply_patch <<'EOF'\n{}EOF\n", "src"),
        ("cd src && \\\n  apply_patch <<'EOF'\n{}EOF\n", "src"),
        ("cd src&&apply_patch '{}'", "src"),
        ("cd /a/b.c-d_e && apply_patch \"{}\"", "/a/b.c-d_e"),
        ("cd .. && apply_patch <<'EOF'\n{}EOF\n", ".."),
        ("cd 12 && apply_patch <<'EOF'\n{}EOF\n", "12"),
        ("cd 'a b' && apply_patch <<'EOF'\n{}EOF\n", "a b"),
        ("cd \"a b\" && apply_patch <<'EOF'\n{}EOF\n", "a b"),
        ("cd a\\ b && apply_patch <<'EOF'\n{}EOF\n", "a b"),
        ("cd 'it'\\''s' && apply_patch <<'EOF'\n{}EOF\n", "it's"),
        ("cd '$HOME/*' && apply_patch <<'EOF'\n{}EOF\n", "$HOME/*"),
        ("cd \"\\$HOME\" && apply_patch <<'EOF'\n{}EOF\n", "$HOME"),
        ("cd 'a<<b' && apply_patch '{}'", "a<<b"),
        ("cd größe && apply_patch <<'EOF'\n{}EOF\n", "größe"),
    ] {
        assert_eq!(verdict(script), format!("body {directory}"), "{script}");
    }
    // On Windows a backslash is not an escape.
    let script =
        format!("cd C:\\src\\new && apply_patch <<'EOF'\r\n{}EOF\r\n", PATCH.replace('\n', "\r\n"));
    let argv = ["cmd.exe", "/c", &script];
    let Intercept::Body { patch, workdir } = intercept(&argv) else { panic!("no body") };
    assert_eq!(workdir.as_deref(), Some("C:\\src\\new"));
    assert_eq!(patch.matches("\r\n").count(), 4);
}

#[test]
fn never_takes_another_script_for_a_patch() {
    let forms = [
        // Other commands.
        "apply_patch <<'EOF' && ls\n{}EOF\n",
        "apply_patch <<'EOF' || ls\n{}EOF\n",
        "apply_patch <<'EOF'; ls\n{}EOF\n",
        "apply_patch <<'EOF';\n{}EOF\n",
        "apply_patch <<EOF;ls\n{}EOF\n",
        "apply_patch <<EOF;ls\n{}EOF;ls\n",
        "apply_patch <<'EOF' &\n{}EOF\n",
        "apply_patch <<'EOF' | tee x\n{}EOF\n",
        "apply_patch <<EOF|sh\n{}EOF\n",
        "apply_patch <<'EOF' |& sh\n{}EOF\n",
        "apply_patch <<'EOF'\n{}EOF\nrm -rf x\n",
        "apply_patch <<'EOF'\n{}EOF\n\n\nrm -rf x\n",
        "apply_patch <<'EOF'\n{}EOF\n&& ls\n",
        "apply_patch <<'EOF'\n{}EOF && ls\n",
        "apply_patch <<'EOF'\n{}EOF; ls\n",
        "apply_patch <<'EOF'\n{}EOF\nls\nEOF\n",
        "ls && apply_patch <<'EOF'\n{}EOF\n",
        "ls; apply_patch <<'EOF'\n{}EOF\n",
        "ls | apply_patch <<'EOF'\n{}EOF\n",
        "ls\napply_patch <<'EOF'\n{}EOF\n",
        "apply_patch '{}' && ls",
        "apply_patch '{}'; ls",
        "apply_patch '{}'\nls",
        "apply_patch '{}' &",
        "apply_patch '{}' | sh",
        "apply_patch '{}' # done",
        // Around the call.
        "(apply_patch <<'EOF'\n{}EOF\n)",
        "{ apply_patch <<'EOF'\n{}EOF\n}",
        "if apply_patch <<'EOF'\n{}EOF\nthen ls; fi",
        "while apply_patch '{}'; do :; done",
        "f() { apply_patch '{}'; }",
        "apply_patch() { rm -rf x; }\napply_patch '{}'",
        "$(apply_patch '{}')",
        "`apply_patch '{}'`",
        "! apply_patch '{}'",
        "time apply_patch '{}'",
        "exec apply_patch '{}'",
        "sudo apply_patch '{}'",
        "env apply_patch '{}'",
        "eval \"apply_patch '{}'\"",
        "X=1 apply_patch '{}'",
        "PATH=/tmp apply_patch <<'EOF'\n{}EOF\n",
        "cd a && PATH=/tmp apply_patch <<'EOF'\n{}EOF\n",
        "'apply_patch' '{}'",
        "apply_\"patch\" '{}'",
        "apply\\_patch '{}'",
        "./apply_patch '{}'",
        "$X '{}'",
        "# x\napply_patch '{}'",
        // Redirections.
        "apply_patch <<'EOF' > x\n{}EOF\n",
        "apply_patch > x <<'EOF'\n{}EOF\n",
        "> x apply_patch <<'EOF'\n{}EOF\n",
        "apply_patch <<'EOF' 2>&1\n{}EOF\n",
        "apply_patch 3<<'EOF'\n{}EOF\n",
        "apply_patch <<'EOF' < x\n{}EOF\n",
        "apply_patch <<'A' <<'EOF'\nx\nA\n{}EOF\n",
        "apply_patch < x",
        "apply_patch <<< '{}'",
        "apply_patch < <(echo '{}')",
        "apply_patch '{}' > x",
        "apply_patch '{}' 2>&1",
        // Arguments.
        "apply_patch",
        "apply_patch x <<'EOF'\n{}EOF\n",
        "apply_patch -R <<'EOF'\n{}EOF\n",
        "apply_patch <<'EOF' x\n{}EOF\n",
        "apply_patch <<'EOF'x\n{}EOF\n",
        "apply_patch <<E'O'F\n{}EOF\n",
        "apply_patch <<$X\n{}EOF\n",
        "apply_patch <<''\n{}\n",
        "apply_patch \\ <<'EOF'\n{}EOF\n",
        "apply_patch x '{}'",
        "apply_patch '{}' x",
        "apply_patch '{}' '{}'",
        "apply_patch '{}' $(ls)",
        "apply_patch $X'{}'x",
        "apply_patch \\ '{}'",
        "apply_patch $'{}'",
        "apply_patch $\"{}\"",
        "apply_patch $X",
        "apply_patch \"$X\"",
        "apply_patch \"$(cat x)\"",
        "apply_patch $(cat x)",
        "apply_patch x.patch",
        "apply_patch *",
        // Directories.
        "cd && apply_patch '{}'",
        "cd a; apply_patch '{}'",
        "cd a & apply_patch '{}'",
        "cd a || apply_patch '{}'",
        "cd a | apply_patch '{}'",
        "cd a\napply_patch '{}'",
        "cd a && cd b && apply_patch '{}'",
        "cd a && cd b && apply_patch <<'EOF'\n{}EOF\n",
        "cd a b && apply_patch '{}'",
        "cd -P a && apply_patch '{}'",
        "cd a > x && apply_patch '{}'",
        "cd a <<'EOF' && apply_patch\n{}EOF\n",
        "X=1 cd a && apply_patch '{}'",
        "pushd a && apply_patch '{}'",
        "cd a && ls && apply_patch '{}'",
        "cd a && apply_patch '{}' && ls",
        "cd a && (apply_patch '{}')",
        "(cd a && apply_patch '{}')",
        "cd <(ls) && apply_patch '{}'",
        // NUL.
        "apply_patch <<'EOF'\n{}\0EOF\n",
        "apply_patch '{}'\0",
        // Only the name is there.
        "grep -r apply_patch .",
        "echo \"apply_patch <<'EOF'\n{}EOF\"",
        "apply_patches '{}'",
        "",
        " ",
    ];
    let taken: Vec<_> = forms
        .iter()
        .filter(|form| verdict(form) != "no")
        .map(|form| (form, verdict(form)))
        .collect();
    assert!(taken.is_empty(), "{taken:#?}");
}

/// Codex's way to read a snapshot of the user's shell before a command.
fn after_snapshot<'a>(shell: &'a str, flag: &'a str, command: &[&'a str]) -> Vec<&'a str> {
    [&[shell, flag, ". \"$0\" && exec \"$@\"", "/home/u/.codex/snapshot.sh"], command].concat()
}

#[test]
fn takes_what_is_piped_and_what_follows_a_snapshot() {
    let heredoc = &format!("apply_patch <<'EOF'\n{PATCH}EOF\n")[..];
    let moved = &format!("cd 'a b' && cat <<'EOF' | apply_patch\n{PATCH}EOF\n")[..];
    for (argv, found) in [
        (after_snapshot("bash", "-c", &["bash", "-c", heredoc]), "body -"),
        (after_snapshot("/bin/bash", "-lc", &["/bin/bash", "-lc", heredoc]), "body -"),
        (after_snapshot("/bin/zsh", "-c", &["/bin/bash", "-lc", heredoc]), "body -"),
        (after_snapshot("sh", "-c", &["zsh", "-c", heredoc]), "body -"),
        (after_snapshot("bash", "-c", &["bash", "-c", moved]), "body a b"),
        (after_snapshot("bash", "-c", &["apply_patch", PATCH]), "body -"),
        (after_snapshot("bash", "-c", &["applypatch", "x"]), "patch"),
        (after_snapshot("bash", "-c", &["bash", "-c", "apply_patch <<'EOF'\n"]), "open_heredoc"),
        (after_snapshot("bash", "-c", &["bash", "-c", PATCH]), "implicit_invocation"),
        // Another script, other options, another shell, or a name that `.` searches for.
        (after_snapshot("bash", "-x", &["bash", "-c", heredoc]), "no"),
        (after_snapshot("fish", "-c", &["bash", "-c", heredoc]), "no"),
        (after_snapshot("pwsh", "-Command", &["bash", "-c", heredoc]), "no"),
        (after_snapshot("cmd", "/c", &["bash", "-c", heredoc]), "no"),
        (after_snapshot("bash", "-c", &[]), "no"),
        (after_snapshot("bash", "-c", &[heredoc]), "no"),
        (after_snapshot("bash", "-c", &["bash"]), "no"),
        (after_snapshot("bash", "-c", &["bash", "-c"]), "no"),
        (after_snapshot("bash", "-c", &["bash", "-c", "ls"]), "no"),
        (after_snapshot("bash", "-c", &["bash", "-c", heredoc, "name"]), "no"),
        (after_snapshot("bash", "-c", &["bash", "-x", "-c", heredoc]), "no"),
        (after_snapshot("bash", "-c", &["env", "A=1", "bash", "-c", heredoc]), "no"),
        (after_snapshot("bash", "-c", &["-a", "bash", "bash", "-c", heredoc]), "no"),
        (
            after_snapshot("bash", "-c", &after_snapshot("bash", "-c", &["bash", "-c", heredoc])),
            "no",
        ),
        (vec!["bash", "-c", ". \"$0\" && exec \"$@\"", "snapshot", "bash", "-c", heredoc], "no"),
        (vec!["bash", "-c", ". \"$0\"; exec \"$@\"", "/s", "bash", "-c", heredoc], "no"),
        (vec!["bash", "-c", ". \"$0\" && exec $@", "/s", "bash", "-c", heredoc], "no"),
        (vec!["bash", "-c", ". \"$1\" && exec \"$@\"", "/s", "bash", "-c", heredoc], "no"),
        (vec!["bash", "-c", "rm -rf x && exec \"$@\"", "/s", "bash", "-c", heredoc], "no"),
        (vec!["bash", "-c", "exec \"$@\"", "/s", "bash", "-c", heredoc], "no"),
        (vec!["bash", "-c", ". \"$0\" && exec \"$@\" && ls", "/s", "bash", "-c", heredoc], "no"),
        (vec!["sudo", "bash", "-c", ". \"$0\" && exec \"$@\"", "/s", "bash", "-c", heredoc], "no"),
    ] {
        assert_eq!(verdict_of(&argv), found, "{argv:?}");
    }
    for (script, found) in [
        ("cat <<'EOF' | apply_patch\n{}EOF\n", "body -"),
        ("cat <<'EOF'|applypatch\n{}EOF", "body -"),
        ("cat << \"E F\" | apply_patch \n{}E F\n\n", "body -"),
        ("cat <<EOF | apply_patch\n{}EOF\n", "body -"),
        ("cat <<-'EOF' | apply_patch\n\t{}\tEOF\n", "body -"),
        ("cd src && cat <<'EOF' | apply_patch\n{}EOF\n", "body src"),
        ("cat <<'EOF' |\n{}EOF\napply_patch\n", "body -"),
        ("cd src && cat <<'EOF' |\n{}EOF\n\n  apply_patch", "body src"),
        ("echo '{}' | apply_patch", "body -"),
        ("echo \"{}\"|apply_patch\n", "body -"),
        ("cd src && echo '{}' |\n  apply_patch", "body src"),
        ("printf '%s' '{}' | apply_patch", "body -"),
        ("printf \"%s\\n\" '{}' | applypatch", "body -"),
        ("cd src && printf %s \"{}\" | apply_patch", "body src"),
        ("printf '{}' | apply_patch", "body -"),
        ("cat <<EOF | apply_patch\n{}$X\nEOF\n", "expansion"),
        ("cat <<EOF | apply_patch\n{}`ls`\nEOF\n", "expansion"),
        // The shell takes what there is, and the patch is whole.
        ("cat <<'EOF' | apply_patch\n{}", "body -"),
        ("apply_patch <<'EOF'\n{}", "body -"),
        ("cd src && apply_patch <<EOF\n{}\n", "body src"),
        ("cat <<'EOF' |\n{}apply_patch\n", "open_heredoc"),
        ("cat <<'EOF' | apply_patch\nhi\nEOF\n", "patch"),
        ("cd $X && echo '{}' | apply_patch", "directory"),
        // Other commands, stages and redirections.
        ("cat <<'EOF'\n{}EOF\n", "no"),
        ("cat <<'EOF' |\n{}EOF\n", "no"),
        ("cat <<'EOF' |\n{}EOF\nsh\n", "no"),
        ("cat <<'EOF' |\n{}EOF\napply_patch && ls\n", "no"),
        ("cat <<'EOF' |\n{}EOF\napply_patch\nls\n", "no"),
        ("cat <<'EOF' |\n{}EOF\napply_patch\r\n", "no"),
        ("cat <<'EOF' |\n{}EOF\napply_patch x\n", "no"),
        ("cat <<'EOF'\n{}EOF\n | apply_patch\n", "no"),
        ("cat <<'EOF' && apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' || apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' & apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' ; apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' |& apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' | apply_patch &\n{}EOF\n", "no"),
        ("cat <<'EOF' | apply_patch || true\n{}EOF\n", "no"),
        ("cat <<'EOF' | apply_patch | tee x\n{}EOF\n", "no"),
        ("cat <<'EOF' | tee x | apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' | sed s/a/b/ | apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' | apply_patch > x\n{}EOF\n", "no"),
        ("cat <<'EOF' > x | apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' 2>&1 | apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' | apply_patch -\n{}EOF\n", "no"),
        ("cat <<'EOF' | X=1 apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' | sudo apply_patch\n{}EOF\n", "no"),
        ("cat <<'EOF' | (apply_patch)\n{}EOF\n", "no"),
        ("cat <<'EOF' | apply_patch\n{}EOF\nls\n", "no"),
        ("cat -n <<'EOF' | apply_patch\n{}EOF\n", "no"),
        ("cat x - <<'EOF' | apply_patch\n{}EOF\n", "no"),
        ("bat <<'EOF' | apply_patch\n{}EOF\n", "no"),
        ("X=1 cat <<'EOF' | apply_patch\n{}EOF\n", "no"),
        ("xcat <<'EOF' | apply_patch\n{}EOF\n", "no"),
        ("cd a && cat <<'EOF' | apply_patch && cd b\n{}EOF\n", "no"),
        ("cd a; cat <<'EOF' | apply_patch\n{}EOF\n", "no"),
        ("ls && cat <<'EOF' | apply_patch\n{}EOF\n", "no"),
        ("(cat <<'EOF' | apply_patch\n{}EOF\n)", "no"),
        ("cat x.patch | apply_patch", "no"),
        ("cat | apply_patch", "no"),
        ("apply_patch < <(cat <<'EOF'\n{}EOF\n)", "no"),
        // What shells write in different ways, or is not written out.
        ("echo '{}\\n' | apply_patch", "no"),
        ("echo -n '{}' | apply_patch", "no"),
        ("echo -e '{}' | apply_patch", "no"),
        ("echo '{}' x | apply_patch", "no"),
        ("echo \"{}$X\" | apply_patch", "no"),
        ("echo \"$X\" | apply_patch", "no"),
        ("echo {} | apply_patch", "no"),
        ("echo '{}' > x | apply_patch", "no"),
        ("echo '{}' || apply_patch", "no"),
        ("echo '{}' |& apply_patch", "no"),
        ("echo '{}' | apply_patch && ls", "no"),
        ("echo '{}' | apply_patch; ls", "no"),
        ("echo '{}' | apply_patch | cat", "no"),
        ("echo '{}' | apply_patch &", "no"),
        ("echo '{}'; apply_patch", "no"),
        ("X=1 echo '{}' | apply_patch", "no"),
        ("/bin/echo '{}' | apply_patch", "no"),
        ("printf '{}%s' | apply_patch", "no"),
        ("printf '{}\\n' | apply_patch", "no"),
        ("printf '%s%s' '{}' | apply_patch", "no"),
        ("printf '%b' '{}' | apply_patch", "no"),
        ("printf '%s' '{}' '{}' | apply_patch", "no"),
        ("printf -v X '%s' '{}' | apply_patch", "no"),
        ("echo '{}' > apply_patch", "no"),
        ("echo \"run apply_patch\" | cat", "no"),
    ] {
        assert_eq!(verdict(script), found, "{script}");
    }
    // Of other shells these words mean something else.
    for (program, flag) in [("pwsh", "-Command"), ("cmd", "/c")] {
        let script = format!("echo '{PATCH}' | apply_patch");
        assert_eq!(verdict_of(&[program, flag, &script]), "no", "{program}");
    }
}

/// Quotes a text as Codex does.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\"'\"'"))
}

const READ: &str = "if . '/home/u/.codex/snapshot.sh' >/dev/null 2>&1; then :; fi\n\n";

/// What Codex keeps before it reads a snapshot, and sets after it, on all systems.
const KEPT: &str = r#"S_0="${CODEX_THREAD_ID+x}"
O_0="${CODEX_THREAD_ID-}"
S_1="${PATH+x}"
P="${A_PROXY+x}"

"#;
const SET: &str = r#"if [ -n "${S_0}" ]; then export T="${O_0}"; else unset T; fi
if [ -n "${S_1}" ]; then export PATH="${O_1}"; else unset PATH; fi
if [ -n "${S_0}" ]; then export B="${O_0}"; fi
if [ -n "$P" ] || [ -n "${A_PROXY+x}" ]; then
if [ -n "${S_1}" ]; then export http_proxy="${O_1}"; else unset http_proxy; fi
fi
if [ -n "${PATH:-}" ]; then export PATH='/o p/bin':"$PATH"; else export PATH='/o p/bin'; fi

"#;

/// The same for ssh, on macOS.
const KEPT_SSH: &str = r#"S="${GIT_SSH_COMMAND+x}"
C="${GIT_SSH_COMMAND-}"
case "$C" in
  CODEX_PROXY_GIT_SSH_COMMAND=1\ *) L=1 ;;
  *) L= ;;
esac

"#;
const SET_SSH: &str = r#"case "${GIT_SSH_COMMAND-}" in
  CODEX_PROXY_GIT_SSH_COMMAND=1\ *) M=1 ;;
  *) M= ;;
esac
if [ -n "$L" ]; then
  if [ -z "${GIT_SSH_COMMAND+x}" ] || [ -n "$M" ]; then
    export GIT_SSH_COMMAND="$C"
  fi
elif [ -n "$M" ]; then
  if [ -n "$S" ]; then
    export GIT_SSH_COMMAND="$C"
  else
    unset GIT_SSH_COMMAND
  fi
fi

"#;

#[test]
fn takes_what_follows_a_script_that_reads_a_snapshot() {
    let heredoc = format!("apply_patch <<'EOF'\n{PATCH}EOF\n");
    let exec = |script: &str| format!("exec '/bin/bash' -c {}", quoted(script));
    let call = exec(&heredoc);
    for (script, found) in [
        (format!("{READ}{call}"), "body -"),
        (format!("{READ}{call}\n"), "body -"),
        (format!("{KEPT}{READ}{SET}{call}"), "body -"),
        (format!("{KEPT}{KEPT_SSH}{READ}{SET}{SET_SSH}{call}"), "body -"),
        (format!("{READ}{}", exec(&format!("cd 'a b' && {heredoc}"))), "body a b"),
        (format!("{READ}{}", exec(&format!("echo '{PATCH}' | apply_patch"))), "body -"),
        (format!("{READ}{}", call.replace("/bin/bash", "/usr/bin/zsh")), "body -"),
        (format!("{}{call}", READ.replace("u/", "it'\"'\"'s/")), "body -"),
        (format!("{READ}{}", exec("apply_patch <<'EOF'\n")), "open_heredoc"),
        (format!("{READ}{}", exec("apply_patch 'x'")), "patch"),
        (format!("{READ}{}", exec(PATCH)), "implicit_invocation"),
        (format!("{READ}{}", exec("cd $X && apply_patch '*** Begin Patch'")), "directory"),
        // Another command is run.
        (format!("{READ}{}", exec("ls")), "no"),
        (format!("{READ}{}", call.replace("/bin/bash", "/bin/fish")), "no"),
        (format!("{READ}{}", call.replace(" -c ", " -x ")), "no"),
        (format!("{READ}{}", call.replace(" -c ", " -lc ")), "no"),
        (format!("{READ}{}", call.replace("'/bin/bash'", "bash")), "no"),
        (format!("{READ}{call} 'name'"), "no"),
        (format!("{READ}{call} >x"), "no"),
        (format!("{READ}{call}; ls"), "no"),
        (format!("{READ}{call} &"), "no"),
        (format!("{READ}exec {}", quoted("apply_patch")), "no"),
        (format!("{READ}exec 'env' {}", call.strip_prefix("exec ").unwrap()), "no"),
        (format!("{READ}{}", exec(&format!("{READ}{call}"))), "no"),
        (format!("{READ}{}", heredoc), "no"),
        (format!("{READ}exec '/bin/bash' -c \"$X\""), "no"),
        // The snapshot is not read, or something else is.
        (call.clone(), "no"),
        (format!("{KEPT}{call}"), "no"),
        (format!("{READ}{READ}{call}"), "no"),
        (format!("{}{call}", READ.replace("/home", "home")), "no"),
        (format!("{}{call}", READ.replace("if . ", "if sh ")), "no"),
        (format!("{}{call}", READ.replace(":", "ls")), "no"),
        (format!("{}{call}", READ.replace("/dev/null", "x")), "no"),
        (format!("{}{call}", READ.replace("'/home", "'/x' '/home")), "no"),
        (format!("{}{call}", READ.replace("'/home/u/.codex/snapshot.sh'", "$X")), "no"),
        // Something else is done.
        (format!("ls\n{READ}{call}"), "no"),
        (format!("{READ}ls\n{call}"), "no"),
        (format!("{READ}X=1\n{call}"), "no"),
        (format!("{READ}X=1 {call}"), "no"),
        (format!("{READ}X=$(ls)\n{call}"), "no"),
        (format!("{READ}X=\"${{X-$(ls)}}\"\n{call}"), "no"),
        (format!("{READ}1=\"${{X-}}\"\n{call}"), "no"),
        (format!("{READ}export X='y'\n{call}"), "no"),
        (format!("{READ}export PATH='/tmp'\n{call}"), "no"),
        (format!("{READ}{}{call}", SET.replace("PATH", "BASH_ENV")), "no"),
        (format!("{READ}{}{call}", SET.replace("else export PATH", "else export X")), "no"),
        (format!("{READ}{}{call}", SET.replace("\nfi\n", "\n")), "no"),
        (format!("{READ}{}{call}", SET.replace("\nfi\n", "\nfi\nfi\n")), "no"),
        (format!("{READ}{}{call}", SET.replace("\nfi\n", "\nelse\n")), "no"),
        (format!("{READ}{}{call}", SET.replace("unset", "rm")), "no"),
        (format!("{READ}else\n{call}"), "no"),
        (format!("{READ}{}{call}", SET_SSH.replace("esac", "fi")), "no"),
        (format!("{READ}{}{call}", SET_SSH.replace("*) M= ;;", "*) ls ;;")), "no"),
        (format!("{READ}{}{call}", SET_SSH.replace("*) M= ;;", "unset M")), "no"),
    ] {
        assert_eq!(verdict_of(&["/bin/bash", "-c", &script]), found, "{script}");
        assert_eq!(verdict_of(&["sh", "-lc", &script]), found, "{script}");
        assert_eq!(verdict_of(&["bash", "-x", &script]), "no", "{script}");
        assert_eq!(verdict_of(&["pwsh", "-Command", &script]), "no", "{script}");
    }
}

/// The newer script of Codex for bash, zsh or sh, with what stands around the control block.
fn newer(shell: &str, script: &str) -> String {
    let script = quoted(script);
    let with_command = |text: &str| {
        ["export ", "unset ", "[ "]
            .iter()
            .fold(text.to_owned(), |text, word| text.replace(word, &format!("\\command {word}")))
    };
    let (options, bash_env) = match shell {
        "zsh" => ("\\command setopt RCS\n", ""),
        "bash" => (
            "",
            "case \"${__CODEX_SNAPSHOT_BASH_ENV_PRESENT-0}\" in\n  1) ;;\n  *) \\command unset \
             BASH_ENV ;;\nesac",
        ),
        _ => ("", ""),
    };
    let set = with_command(SET);
    let control = format!(
        "\\command unalias -a 2>/dev/null || \\command true\n{{\n{options}{KEPT}\\command . \
         '/home/u/snapshot.sh' >/dev/null 2>&1 || \\command true\n\n{bash_env}\n\n{set}\\command \
         eval '\\command unset __CODEX_SNAPSHOT_FUNCTIONS __CODEX_SNAPSHOT_ALIASES \
         __CODEX_SNAPSHOT_BASH_ENV_PRESENT\n'\"${{__CODEX_SNAPSHOT_FUNCTIONS-}}\"'\n'\
         \"${{__CODEX_SNAPSHOT_ALIASES-}}\" &&\n\\command eval {script}\n}}"
    );
    match shell {
        "bash" => format!("\\command set +p\n{control}"),
        "zsh" => format!(
            "if [[ \"${{(t)functions}}\" == association* && -z \"${{functions[builtin]-}}\" && -z \
             \"${{functions[command]-}}\" ]]; then\n{control}\nelse\n  '/bin/zsh' -lc {script}\nfi"
        ),
        _ => format!(
            "\\unset -f command 2>/dev/null\ncase \"$(\\command printf '%s' \
             __CODEX_SNAPSHOT_COMMAND_OK)\" in\n  __CODEX_SNAPSHOT_COMMAND_OK)\n{control}\n    \
             ;;\n  *)\n    '/bin/sh' -lc {script}\n    ;;\nesac"
        ),
    }
}

#[test]
fn takes_what_follows_the_newer_scripts_that_read_a_snapshot() {
    let heredoc = &format!("cd src && apply_patch <<'EOF'\n{PATCH}EOF\n")[..];
    let env = ["/usr/bin/env", "-u", "BASH_FUNC_command%%", "-u", "BASH_FUNC_builtin%%"];
    let bash = |script: &str| {
        let argv =
            [&env[..], &["/bin/bash", "--noprofile", "--norc", "-p", "-lc", script]].concat();
        verdict_of(&argv)
    };
    let zsh = |script: &str| verdict_of(&["/bin/zsh", "-f", "-lc", script]);
    let sh = |script: &str| verdict_of(&["/bin/sh", "-lc", script]);
    for (script, found) in [
        (heredoc, "body src"),
        ("apply_patch 'x'", "patch"),
        (PATCH, "implicit_invocation"),
        ("ls", "no"),
        ("apply_patch x; ls", "no"),
    ] {
        assert_eq!(bash(&newer("bash", script)), found, "{script}");
        assert_eq!(zsh(&newer("zsh", script)), found, "{script}");
        assert_eq!(sh(&newer("sh", script)), found, "{script}");
    }
    for (old, new) in [
        ("\n}", "\nls\n}"),
        ("\n}", "; ls\n}"),
        ("\n}", "\n}\nls"),
        ("\n}", ""),
        ("{\n", "{\nls\n"),
        (" &&\n", " ||\n"),
        ("|| \\command true\n\n", "|| ls\n\n"),
        ("'/home", "'home"),
        ("unset __CODEX_SNAPSHOT_FUNCTIONS", "rm __CODEX_SNAPSHOT_FUNCTIONS"),
        ("unalias -a 2>", "unalias -a 1>"),
    ] {
        for (shell, run) in [("bash", &bash as &dyn Fn(&str) -> String), ("zsh", &zsh), ("sh", &sh)]
        {
            let script = newer(shell, heredoc);
            let other = script.replacen(old, new, 1);
            assert_ne!(script, other, "{shell}: {old}");
            assert_eq!(run(&other), "no", "{shell}: {old:?}, {new:?}");
        }
    }
    // What runs where the first does not work is something else.
    for (script, run) in
        [(newer("zsh", heredoc), &zsh as &dyn Fn(&str) -> String), (newer("sh", heredoc), &sh)]
    {
        let (first, second) = script.rsplit_once("+hi").unwrap();
        assert_eq!(run(&format!("{first}+ho{second}")), "no");
        assert_eq!(run(&script.replace(" -lc ", " -x ")), "no");
    }
    // Started in another way.
    let script = &newer("bash", heredoc)[..];
    for argv in [
        &["/usr/bin/env", "/bin/bash", "-lc", script][..],
        &["/bin/bash", "--noprofile", "--norc", "-p", "-lc", script],
        &["/bin/fish", "-f", "-lc", script],
        &["/bin/bash", "-f", "-x", script],
    ] {
        assert_eq!(verdict_of(argv), "no", "{argv:?}");
    }
}

#[test]
fn tells_what_is_wrong_when_a_patch_was_meant() {
    for (script, kind) in [
        // A patch and no command; a shell would run the first file of the directory.
        ("{}", "implicit_invocation"),
        ("\n{}", "implicit_invocation"),
        ("*** Begin Patch\n*** Add", "implicit_invocation"),
        ("<<'EOF'\n{}EOF", "implicit_invocation"),
        // No patch.
        ("apply_patch <<'EOF'\nhi\nEOF\n", "patch"),
        ("apply_patch <<'EOF'\nEOF\n", "patch"),
        ("apply_patch <<'EOF'\n{}{}EOF\n", "patch"),
        ("apply_patch 'x.patch'", "patch"),
        ("apply_patch ''", "patch"),
        // What the shell would change.
        ("apply_patch <<EOF\n{}$(rm -rf x)\nEOF\n", "expansion"),
        (
            "apply_patch <<EOF\n*** Begin Patch\n*** Add File: a\n+$HOME\n*** End Patch\nEOF\n",
            "expansion",
        ),
        (
            "apply_patch <<EOF\n*** Begin Patch\n*** Add File: a\n+${X}\n*** End Patch\nEOF\n",
            "expansion",
        ),
        (
            "apply_patch <<EOF\n*** Begin Patch\n*** Add File: a\n+$((1+1))\n*** End Patch\nEOF\n",
            "expansion",
        ),
        (
            "apply_patch <<-EOF\n*** Begin Patch\n*** Add File: a\n+`ls`\n*** End Patch\nEOF\n",
            "expansion",
        ),
        (
            "apply_patch <<EOF\n*** Begin Patch\n*** Add File: a\n+a\\\n+b\n*** End Patch\nEOF\n",
            "expansion",
        ),
        (
            "apply_patch <<EOF\n*** Begin Patch\n*** Add File: a\n+a\\\\n\n*** End Patch\nEOF\n",
            "expansion",
        ),
        ("apply_patch \"*** Begin Patch\n*** Add File: a\n+$(ls)\n*** End Patch\"", "expansion"),
        ("apply_patch \"*** Begin Patch\n*** Add File: a\n+`ls`\n*** End Patch\"", "expansion"),
        (
            "cd a && apply_patch \"*** Begin Patch\n*** Add File: a\n+$X\n*** End Patch\"",
            "expansion",
        ),
        ("apply_patch '{}'$X", "expansion"),
        // Directories.
        ("cd $X && apply_patch <<'EOF'\n{}EOF\n", "directory"),
        ("cd \"$X/a\" && apply_patch <<'EOF'\n{}EOF\n", "directory"),
        ("cd $(pwd) && apply_patch '{}'", "directory"),
        ("cd `pwd` && apply_patch '{}'", "directory"),
        ("cd ~ && apply_patch '{}'", "directory"),
        ("cd ~/a && apply_patch '{}'", "directory"),
        ("cd a* && apply_patch '{}'", "directory"),
        ("cd a? && apply_patch '{}'", "directory"),
        ("cd [ab] && apply_patch '{}'", "directory"),
        ("cd {a,b} && apply_patch '{}'", "directory"),
        ("cd - && apply_patch '{}'", "directory"),
        ("cd -P && apply_patch '{}'", "directory"),
        ("cd +1 && apply_patch '{}'", "directory"),
        ("cd =ls && apply_patch '{}'", "directory"),
        ("cd '' && apply_patch '{}'", "directory"),
        // No shell.
        ("apply_patch '*** Begin Patch\n*** Add File: a\n+it's\n*** End Patch'", "quotes"),
        ("cd a && apply_patch '*** Begin Patch\n*** Add File: a\n+it's\n*** End Patch'", "quotes"),
        ("apply_patch \"*** Begin Patch", "quotes"),
        ("apply_patch '{}'\r", "quotes"),
        ("apply_patch <<'EOF'", "open_heredoc"),
        ("apply_patch <<'EOF'\n{} EOF\n", "open_heredoc"),
        ("apply_patch <<'EOF'\n{}\tEOF\n", "open_heredoc"),
        ("apply_patch <<-'EOF'\n{} EOF\n", "open_heredoc"),
        ("apply_patch <<'EOF'\n{}EOF \n", "open_heredoc"),
        ("apply_patch <<'EOF'\n{}EOFX\n", "open_heredoc"),
        // To a shell the tag is `EOF` and a carriage return: it would read to the end, and take the
        // last line for one of the patch.
        ("apply_patch <<'EOF'\r\n{}EOF\n", "open_heredoc"),
        ("apply_patch <<'EOF'\r\n{}EOF", "open_heredoc"),
        ("apply_patch <<-EOF\r\n{}\tEOF\n", "open_heredoc"),
        ("apply_patch <<'EOF'\n{}EOF\r\n", "open_heredoc"),
    ] {
        assert_eq!(verdict(script), kind, "{script}");
    }
    assert_eq!(verdict_of(&[PATCH]), "implicit_invocation");
    assert_eq!(verdict_of(&["apply_patch", "x"]), "patch");
    assert_eq!(verdict_of(&["apply_patch", "*** Begin Patch\n\0"]), "patch");
    // What cmd and PowerShell would change, and bash would not.
    let argument = |text: &str| {
        format!("apply_patch \"*** Begin Patch\n*** Add File: a\n+{text}\n*** End Patch\"")
    };
    assert_eq!(verdict_of(&["cmd", "/c", &argument("%PATH%")]), "expansion");
    assert_eq!(verdict_of(&["pwsh", "-Command", "apply_patch 'it''s'"]), "no");
}

#[test]
fn says_where_the_shell_would_change_the_patch() {
    let script =
        "cd a &&\napply_patch <<EOF\n*** Begin Patch\n*** Add File: a\n+$X\n*** End Patch\nEOF\n";
    let Intercept::CorrectnessError(error) = intercept_script(Shell::Posix, script) else {
        panic!("an error")
    };
    assert_eq!(
        error.to_string(),
        "the shell would change the patch: line 5 of the script has `$` in a heredoc whose tag is \
         not quoted; use the apply_patch tool, or quote the tag of the heredoc (<<'EOF')"
    );
}

#[test]
fn unquotes_as_a_shell_does() {
    let patch = |line: &str| format!("*** Begin Patch\n*** Add File: a\n+{line}\n*** End Patch\n");
    for (written, meant) in [
        (format!("'{}'", patch("a\\n \"$X\" `b`")), "a\\n \"$X\" `b`"),
        (format!("'{}'", patch("it'\\''s")), "it's"),
        (
            format!("\"{}\"", patch("\\\"a\\\" \\$X \\`b\\` \\\\ \\n 'c'")),
            "\"a\" $X `b` \\ \\n 'c'",
        ),
        (format!("\"{}\"", patch("a\\\nb")), "ab"),
    ] {
        let script = format!("apply_patch {written}");
        let Intercept::Body { patch: found, .. } = intercept_script(Shell::Posix, &script) else {
            panic!("{script}: {:?}", intercept_script(Shell::Posix, &script))
        };
        assert_eq!(found, patch(meant));
    }
}

#[test]
fn a_line_like_the_tag_does_not_end_a_heredoc() {
    let lines = " EOF\n-EOFX\n+  EOF\n+EOF\\\n \tEOF\n";
    let patch =
        format!("*** Begin Patch\n*** Update File: a.sh\n@@ cat <<'EOF'\n{lines}*** End Patch\n");
    let script = format!("apply_patch <<'EOF'\n{patch}EOF\n");
    assert_eq!(
        intercept_script(Shell::Posix, &script),
        Intercept::Body { patch: patch.into(), workdir: None }
    );
}

#[test]
fn a_patch_of_a_heredoc_is_a_part_of_the_script_byte_for_byte() {
    let pieces = &[
        "EOF", "X", " ", "\t", "\\", "'", "\"", "$X", "$(", "`", "<<EOF", ")", "}", "\r", "é", "a",
        "#", "&&", "***",
    ][..];
    let script = (
        select(&["", "cd a && ", "cd 'a b' &&\n"][..]),
        select(&["<<", "<<-", "<< "][..]),
        select(&["'EOF'", "\"EOF\"", "\\EOF", "EOF"][..]),
    );
    holds(3000, &(vec(vec(select(pieces), 0..6), 0..6), script), |(lines, (cd, op, tag))| {
        let lines: String = lines.iter().map(|pieces| format!("+{}\n", pieces.concat())).collect();
        let patch = format!("*** Begin Patch\n*** Add File: a\n+\n{lines}*** End Patch\n");
        let script = format!("{cd}apply_patch {op}{tag}\n{patch}EOF\n");
        match intercept_script(Shell::Posix, &script) {
            Intercept::Body { patch: found, .. } => assert_eq!(found, patch, "{script}"),
            Intercept::CorrectnessError(error) if tag == "EOF" => {
                assert_eq!(error.kind(), "expansion", "{script}");
                assert!(lines.contains(['$', '`', '\\']), "{script}");
            }
            other => panic!("{script}: {other:?}"),
        }
    });
}

#[test]
fn agrees_with_the_shell_about_what_it_takes() {
    // Scripts of pieces that fit together in surprising ways; whatever is taken, bash gives to
    // `apply_patch` as well.
    let pieces = &[
        "apply_patch ",
        "cd a",
        " && ",
        "<<'EOF'",
        "<<-EOF",
        "\n",
        "EOF",
        "\nEOF\n",
        "'",
        "\"",
        "\\",
        " ",
        "\t",
        "\r",
        ";",
        "&",
        "|",
        "(",
        ")",
        "{",
        "}",
        "$",
        "`",
        "#",
        "$X",
        "*** Begin Patch\n*** Delete File: b\n*** End Patch\n",
        "'*** Begin Patch\n*** Delete File: b\n*** End Patch\n'",
        "\u{a0}",
        "\u{b}",
        "\u{c}",
        "<<",
        "x",
        "=",
        "!",
        "\\\n",
    ][..];
    let shell = ["bash", "dash", "zsh"].into_iter().filter(|shell| {
        let run = std::process::Command::new(shell).args(["-c", ":"]).output();
        run.is_ok_and(|run| run.status.success())
    });
    let shells: Vec<_> = shell.collect();
    let starts = &["", "cd a && ", "\n"][..];
    let quotes = &[
        ("apply_patch <<'EOF'\n", "EOF\n"),
        ("apply_patch <<-EOF\n", "\tEOF"),
        ("apply_patch '", "'"),
        ("apply_patch \"", "\""),
        ("cat <<'EOF' | apply_patch\n", "EOF\n"),
        ("cat <<EOF |\n", "EOF\napply_patch\n"),
        ("echo '", "' | apply_patch"),
        ("printf '%s\\n' \"", "\" | apply_patch"),
        ("printf '", "'|apply_patch\n"),
    ][..];
    // Starting a shell takes long: one is asked about one in forty.
    let scripts = (
        select(starts),
        select(quotes),
        vec((any::<Index>(), select(pieces)), 0..3),
        weighted(0.025),
    );
    let (taken, run) = (Cell::new(0), Cell::new(0));
    let scripts_tried = share(60_000);
    holds(scripts_tried, &scripts, |(start, (open, close), more, asks)| {
        let mut parts = vec![open, "*** Begin Patch\n*** Delete File: b\n*** End Patch\n", close];
        for (at, piece) in more {
            parts.insert(at.index(parts.len() + 1), piece);
        }
        let script = start.to_owned() + &parts.concat();
        let Intercept::Body { patch, workdir } = intercept_script(Shell::Posix, &script) else {
            return;
        };
        taken.set(taken.get() + 1);
        for shell in shells.iter().filter(|_| asks) {
            run.set(run.get() + 1);
            let stub = "cd() { printf '%s|' \"$1\"; }; apply_patch() \
                        { if [ $# = 0 ]; then cat; else printf '%s' \"$1\"; fi; }\n";
            let output =
                std::process::Command::new(shell).args(["-c", &format!("{stub}{script}")]).output();
            let output = output.expect("it ran before");
            let wanted =
                workdir.as_deref().map_or(String::new(), |workdir| format!("{workdir}|")) + &patch;
            let found = String::from_utf8_lossy(&output.stdout);
            assert_eq!(found, wanted, "{shell}: {script:?}");
        }
    });
    let (taken, run) = (taken.get(), run.get());
    assert!(taken * 60 > scripts_tried, "{taken}");
    eprintln!("{taken} of {scripts_tried} scripts taken, {run} runs of {shells:?} agree");
}

#[test]
fn a_continued_line_joins_words_as_in_a_shell() {
    const PATCH: &str = "*** Begin Patch\n*** Delete File: b\n*** End Patch\n";
    // Each `_` is a place where words may be parted, or joined.
    let forms = [
        format!("_cd_d_&&_apply_patch_<<'EOF'\n{PATCH}EOF\n"),
        format!("_apply_patch_'{PATCH}'_"),
        format!("cd_d_&&_apply_patch_'{PATCH}'"),
        format!("_echo_'{PATCH}'_|_apply_patch_"),
        format!("printf_'%s'_'{PATCH}'_|_apply_patch"),
        format!("cd d_&&_cat_<<'EOF'_|_apply_patch\n{PATCH}EOF\n"),
        format!("c_d d && apply_patch '{PATCH}'"),
        format!("cd d_d && apply_patch '{PATCH}'"),
        format!("cd 'd'_d && apply_patch '{PATCH}'"),
        format!("cd d &_& apply_patch '{PATCH}'"),
    ];
    let gaps = ["\\\n", "\\\n\\\n", " \\\n", "\\\n ", "\t\\\n\\\n\t", "\\ ", "\\\r\n", "\\\\\n"];
    let words =
        ["d\\\ne", "'d'\\\n", "$'d'", "~", "~/d", "d*", "d?", "[d]", "{d,e}", "d!", "!!", "$d"];
    let words = words.map(|word| format!("cd {word} && apply_patch '{PATCH}'"));
    let mut scripts = words.to_vec();
    for form in &forms {
        let places = form.matches('_').count() - form.matches("apply_patch").count();
        for (place, gap) in (0..places).flat_map(|place| gaps.map(|gap| (place, gap))) {
            let mut nth = 0;
            let parts = form.replace("apply_patch", "applypatch");
            let script: String = parts
                .split('_')
                .map(|part| {
                    nth += 1;
                    let gap = if nth == place + 2 { gap } else { " " };
                    if nth == 1 { part.to_owned() } else { format!("{gap}{part}") }
                })
                .collect();
            scripts.push(script);
        }
    }
    let bash = std::process::Command::new("bash").args(["-c", ":"]).output();
    let has_bash = bash.is_ok_and(|run| run.status.success());
    let mut taken = 0;
    for script in scripts {
        let Intercept::Body { patch, workdir } = intercept_script(Shell::Posix, &script) else {
            continue;
        };
        taken += 1;
        let workdir = workdir.unwrap_or_default();
        // Without a shell, at least: what a continued line joins is no other word.
        assert!(!script.contains("cd\\\nd") && !script.contains("patch\\\n'"), "{script:?}");
        if has_bash {
            let stub = "cd() { printf '%s|' \"$1\"; }; applypatch() \
                        { if [ $# = 0 ]; then cat; else printf '%s' \"$1\"; fi; }; \
                        apply_patch() { applypatch \"$@\"; }\n";
            let mut run = std::process::Command::new("bash");
            let run = run.args(["-c", &format!("{stub}{script}")]).output();
            let found = run.expect("it ran before").stdout;
            let workdir = if workdir.is_empty() { String::new() } else { format!("{workdir}|") };
            assert_eq!(String::from_utf8_lossy(&found), workdir + &patch, "{script:?}");
        }
    }
    assert!(taken >= 40, "{taken}");
    // The other shells have no continued lines of this kind.
    for shell in [Shell::PowerShell, Shell::Cmd] {
        for script in
            [format!("cd \\\nd && apply_patch '{PATCH}'"), format!("apply_patch \\\n'{PATCH}'")]
        {
            let found = intercept_script(shell, &script);
            assert!(!matches!(found, Intercept::Body { .. }), "{script:?}");
        }
    }
}

#[test]
fn hostile_scripts_do_not_hang() {
    let size = if whole() { 1 << 20 } else { 1 << 16 };
    let heads = [
        "apply_patch ",
        "cd ",
        "cd a && apply_patch ",
        "apply_patch <<'EOF'\n",
        "apply_patch <<EOF\n",
        "apply_patch '",
        "cat <<'EOF' |\n",
        "echo '",
    ];
    let pieces = [
        "(",
        "((",
        "$(",
        "$((",
        "${",
        "{",
        "[[ ",
        "`",
        "\"",
        "'",
        "\"$(",
        "\\",
        "$",
        "<<",
        "<<A ",
        "<<A\n",
        "<<'A'\n",
        "<<-A <<B\n",
        "&& ",
        "cd a && ",
        "| ",
        "; ",
        "\n",
        " ",
        "\t",
        "a",
        "a ",
        "a=",
        "a=(",
        "if ",
        "case x in ",
        "a) ",
        "function f ",
        "f() { ",
        "''",
        "\"\"",
        "\\'",
        "'\\''",
        "*** Begin Patch\n",
        "EOF\n",
        " EOF\n",
        "EO",
        "$X",
        "${X}",
        "$(a) ",
        "<(",
        ">a ",
        "é",
        "\u{2028}",
        "#",
        "# \n",
        "!",
        "@(",
        "?(",
        "=~ ",
        "~",
        "for ((",
        "\\\n",
        "\r\n",
        "\r",
        "\u{b}",
        "{a,b}",
        "{1..9}",
    ];
    let mut slowest = (Duration::ZERO, String::new());
    for head in heads {
        for piece in pieces {
            let mut script = String::with_capacity(size + 64);
            script.push_str(head);
            while script.len() < size {
                script.push_str(piece);
            }
            script.push_str(" apply_patch");
            let start = Instant::now();
            let found = intercept_script(Shell::Posix, &script);
            assert!(!matches!(found, Intercept::Body { .. }), "{head:?} {piece:?}");
            let time = start.elapsed();
            if time > slowest.0 {
                slowest = (time, format!("{head:?} and {piece:?}"));
            }
            if time > Duration::from_millis(700) {
                eprintln!("{time:?} for {head:?} and {piece:?}: {}", found.verdict());
            }
        }
    }
    eprintln!(
        "{} scripts of {size} bytes, the slowest took {:?}: {}",
        heads.len() * pieces.len(),
        slowest.0,
        slowest.1
    );
    assert!(slowest.0 < Duration::from_secs(20), "{slowest:?}");
}
