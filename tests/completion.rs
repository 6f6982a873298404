//! Completion in the shells themselves, each on a terminal of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::program::run;
use crate::terminal::Terminal;

/// A workspace with a transaction and files, and a folder with the program and the scripts for the
/// shells.
struct Place {
    dir: TempDir,
    id: String,
}

impl Place {
    fn new() -> Self {
        let dir = crate::program::place(&[("w/zebra.patch", ""), ("w/f", "1\n")]);
        let patch = "*** Begin Patch\n*** Delete File: f\n*** End Patch\n";
        let done = run(
            "apply-patch",
            &dir.path().join("w"),
            dir.path(),
            &["--approve", "never"],
            patch.as_bytes(),
        );
        assert_eq!(done.code, 0, "{done:?}");
        let id = done
            .stderr
            .split("`apply-patch undo ")
            .nth(1)
            .and_then(|rest| rest.split('`').next())
            .expect("an id")
            .to_owned();
        fs::create_dir_all(dir.path().join("bin")).expect("a folder");
        std::os::unix::fs::symlink(
            env!("CARGO_BIN_EXE_apply-patch"),
            dir.path().join("bin/apply-patch"),
        )
        .expect("a link");
        fs::create_dir(dir.path().join("w/zebras")).expect("a folder");
        for (shell, file) in [
            ("bash", "a.bash"),
            ("zsh", "_apply-patch"),
            ("fish", "a.fish"),
            ("powershell", "a.ps1"),
        ] {
            let script = run("apply-patch", dir.path(), dir.path(), &["completions", shell], b"");
            assert_eq!(script.code, 0, "{shell}");
            assert_eq!(&*script.stderr, "", "{shell}");
            fs::write(dir.path().join("bin").join(file), script.stdout).expect("a file");
        }
        Self { dir, id }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A line of [`LINES`] with the id.
    fn named(&self, typed: &str, wanted: &str) -> (String, String) {
        let typed = match typed.strip_suffix(" I") {
            Some(line) => format!("{line} {}", &self.id[..2]),
            None => typed.to_owned(),
        };
        (typed, wanted.replace("ID", &self.id))
    }

    /// The shell, without the configuration of the user who runs the tests.
    fn shell(&self, program: &str, args: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.path().join("w"))
            .env_clear()
            .env("PATH", format!("{}:{path}", self.path().join("bin").display()))
            .env("HOME", self.path())
            .env("XDG_STATE_HOME", self.path().join("state"))
            .env("TERM", "dumb")
            .env("LC_ALL", "C")
            .env("bin", self.path().join("bin"));
        command
    }
}

/// Whether the shell is installed; says so on standard error when it is not.
fn is_there(shell: &str) -> bool {
    let there = Command::new(shell).args(["-c", "exit 0"]).output().is_ok();
    if !there {
        testutils::skip!("completion in {shell}, which is not installed");
    }
    there
}

/// What is typed before the key, and what stands there after it. `ID` is the transaction, and `I`
/// its beginning.
const LINES: &[(&str, &str)] = &[
    ("apply-patch expl", "apply-patch explain"),
    ("apply-patch gramm", "apply-patch grammar"),
    ("apply-patch --inter", "apply-patch --interactive"),
    ("apply-patch undo --dry", "apply-patch undo --dry-run"),
    ("apply-patch trash purge --kee", "apply-patch trash purge --keep"),
    ("apply-patch --fuzz tr", "apply-patch --fuzz trailing"),
    ("apply-patch check --fuzz=tr", "apply-patch check --fuzz=trailing"),
    ("apply-patch --color al", "apply-patch --color always"),
    ("apply-patch tool-spec --provider sgl", "apply-patch tool-spec --provider sglang"),
    ("apply-patch tool-spec --provider zeb", "apply-patch tool-spec --provider zeb"),
    ("apply-patch --fuzz zeb", "apply-patch --fuzz zeb"),
    ("apply-patch tool move_f", "apply-patch tool move_file"),
    ("apply-patch help mcp", "apply-patch help mcp-config"),
    ("apply-patch undo I", "apply-patch undo ID"),
    ("apply-patch show I", "apply-patch show ID"),
    ("apply-patch redo -C . I", "apply-patch redo -C . ID"),
    ("apply-patch trash restore I", "apply-patch trash restore ID/0"),
    ("apply-patch undo zeb", "apply-patch undo zeb"),
    ("apply-patch check zebra.", "apply-patch check zebra.patch"),
    ("apply-patch zebra.", "apply-patch zebra.patch"),
    ("apply-patch -C git trash purge --kee", "apply-patch -C git trash purge --keep"),
    ("apply-patch -C zeb", "apply-patch -C zebras/"),
];

/// Types each line, presses the key that completes, and lets the shell print what stands there.
fn check(place: &Place, shell: &str, terminal: &mut Terminal) {
    let before = fs::read_dir(place.path().join("w")).expect("a folder").count();
    for (typed, wanted) in LINES {
        let (typed, wanted) = place.named(typed, wanted);
        terminal.send(&format!("{typed}\t")).expect("sent");
        // To the beginning of the line.
        terminal.send("\u{1}echo '<''<'").expect("sent");
        terminal.send("\u{5}'>''>'\n").expect("sent");
        terminal.exp_string("<<").unwrap_or_else(|error| panic!("{shell}: {typed}: {error}"));
        let found =
            terminal.exp_string(">>").unwrap_or_else(|error| panic!("{shell}: {typed}: {error}"));
        assert_eq!(found.trim(), wanted, "{shell}: {typed}");
    }
    terminal.send_line("exit").expect("sent");
    terminal.exp_eof().expect("it ends");
    let after = fs::read_dir(place.path().join("w")).expect("a folder").count();
    assert_eq!(before, after, "nothing is written");
}

/// What is offered where nothing is typed yet, or a dash: what is among it, and what is not.
const OFFERED: &[(&str, &[&str], &[&str])] = &[
    (
        "apply-patch ",
        &["apply", "check", "undo", "help", "zebra.patch", "zebras/"],
        &["--json", "--help", "--version", "-n", "--fuzz", "tool-spec", "parse"],
    ),
    ("apply-patch -", &["--json", "-h", "-n", "--fuzz"], &["apply", "zebra.patch"]),
    ("apply-patch --j", &["--json"], &["--fuzz", "apply"]),
    ("apply-patch undo ", &["ID"], &["--carry", "-n", "--help"]),
    ("apply-patch undo -", &["--carry", "-n"], &["ID"]),
    ("apply-patch check ", &["zebra.patch"], &["--fuzz", "--help"]),
    ("apply-patch trash ", &["list", "restore"], &["--json", "--help"]),
    ("apply-patch --fuzz ", &["none", "trailing"], &["--json", "apply"]),
    // Nothing else can stand there.
    ("apply-patch status ", &["--json"], &["apply"]),
];

/// Checks what a shell offers by itself after each line of [`OFFERED`].
fn check_offers(place: &Place, shell: &str, offers: impl Fn(&str) -> Vec<String>) {
    for (typed, wanted, unwanted) in OFFERED {
        let found = offers(typed);
        for word in *wanted {
            let word = word.replace("ID", &place.id);
            assert!(found.contains(&word), "{shell}: {typed:?}: {word}: {found:?}");
        }
        for word in *unwanted {
            let word = word.replace("ID", &place.id);
            assert!(!found.contains(&word), "{shell}: {typed:?}: {word}: {found:?}");
        }
    }
    let all = offers("apply-patch ");
    let first = |is: &dyn Fn(&str) -> bool| all.iter().position(|word| is(word));
    if shell != "fish" {
        assert!(first(&|word| word == "undo") < first(&|word| word.starts_with("zeb")), "{all:?}");
    }
    assert!(all.len() < 25, "{all:?}");
}

#[test]
fn bash_offers_commands_and_files_first() {
    let place = Place::new();
    check_offers(&place, "bash", |typed| {
        let script = "shopt -u progcomp_alias; . \"$bin/a.bash\"; IFS=' ' read -ra COMP_WORDS <<< \
                      \"$0\"; [[ $0 == *' ' ]] && COMP_WORDS+=(''); \
                      COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9; \
                      _clap_complete_apply_patch apply-patch \"${COMP_WORDS[COMP_CWORD]}\"; printf \
                      '%s\\n' \"${COMPREPLY[@]}\"";
        let mut shell = place.shell("bash", &["--norc", "--noprofile", "-c", script, typed]);
        let output = shell.output().expect("bash runs");
        let found = String::from_utf8(output.stdout).expect("UTF-8");
        found.lines().map(str::to_owned).collect()
    });
}

#[test]
fn zsh_is_offered_commands_and_files_first() {
    let place = Place::new();
    // What its script asks; the line editor is tried below.
    check_offers(&place, "zsh", |typed| {
        let words: Vec<_> = typed.split(' ').collect();
        let mut program = place.shell(env!("CARGO_BIN_EXE_apply-patch"), &["--"]);
        program.args(&words).env("_APPLY_PATCH_COMPLETE", "zsh");
        let output = program
            .env("_CLAP_IFS", "\n")
            .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
            .output()
            .expect("the program runs");
        let found = String::from_utf8(output.stdout).expect("UTF-8");
        found.lines().map(|line| line.split(':').next().unwrap_or_default().to_owned()).collect()
    });
}

#[test]
fn fish_offers_commands_and_files_first() {
    if !is_there("fish") {
        return;
    }
    let place = Place::new();
    check_offers(&place, "fish", |typed| {
        let script = format!("source $bin/a.fish; complete --do-complete '{typed}'");
        let mut shell = place.shell("fish", &["--private", "-c", &script]);
        let output = shell.output().expect("fish runs");
        let found = String::from_utf8(output.stdout).expect("UTF-8");
        found.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
    });
}

#[test]
fn bash_completes() {
    let place = Place::new();
    let shell = place.shell("bash", &["--norc", "--noprofile", "-i"]);
    let mut terminal = Terminal::run(shell);
    terminal
        .send_line(
            "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; PS1=; . \
                    \"$bin/a.bash\"",
        )
        .expect("sent");
    check(&place, "bash", &mut terminal);
}

#[test]
fn zsh_completes() {
    if !is_there("zsh") {
        return;
    }
    let place = Place::new();
    let shell = place.shell("zsh", &["-f", "-i"]);
    let mut terminal = Terminal::run(shell);
    terminal
        .send_line(
            "PS1=; unsetopt zle_bracketed_paste prompt_cr prompt_sp; bindkey -e; setopt no_beep",
        )
        .expect("sent");
    terminal
        .send_line("fpath=($bin $fpath); autoload -U compinit; compinit -u -D; echo read''y")
        .expect("sent");
    terminal.exp_string("ready").expect("zsh is ready");
    check(&place, "zsh", &mut terminal);
}

#[test]
fn fish_completes() {
    if !is_there("fish") {
        return;
    }
    let place = Place::new();
    // Of fish the command that completes without a terminal: its line editor asks the terminal what
    // it can, and waits.
    for (typed, wanted) in LINES {
        let (typed, wanted) = place.named(typed, wanted);
        let script = format!("source $bin/a.fish; complete --do-complete '{typed}'");
        let output =
            place.shell("fish", &["--private", "-c", &script]).output().expect("fish runs");
        let found = String::from_utf8(output.stdout).expect("UTF-8");
        let words: Vec<_> =
            found.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        let word = wanted.rsplit(' ').next().expect("a word");
        let unfinished = wanted == typed;
        assert_eq!(words, if unfinished { vec![] } else { vec![word] }, "fish: {typed}: {found}");
    }
    let script =
        format!("source $bin/a.fish; complete --do-complete 'apply-patch undo {}'", &place.id[..2]);
    let output = place.shell("fish", &["--private", "-c", &script]).output().expect("fish runs");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{}\t1 file: f  (apply)\n", place.id),
        "with what it did"
    );
}

#[test]
fn powershell_completes() {
    if !is_there("pwsh") {
        return;
    }
    let place = Place::new();
    for (typed, wanted) in LINES {
        let (typed, wanted) = place.named(typed, wanted);
        let script = format!(
            ". $env:bin/a.ps1; [System.Management.Automation.CommandCompletion]::CompleteInput('{typed}', {}, \
             $null).CompletionMatches.CompletionText",
            typed.len()
        );
        let output =
            place.shell("pwsh", &["-NoProfile", "-Command", &script]).output().expect("it runs");
        let found = String::from_utf8(output.stdout).expect("UTF-8");
        let word = wanted.rsplit(' ').next().expect("a word");
        if wanted != typed {
            assert_eq!(found.trim(), word, "pwsh: {typed}");
        }
    }
}
