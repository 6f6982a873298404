//! Runs `tests/scenarios/*`: a folder is a case. Its README says what is in a folder.

use std::collections::HashSet;
use std::fs;
#[cfg(unix)]
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::program::{self, Run};
use testutils::share;
#[cfg(unix)]
use testutils::takers;
use testutils::temp::temp;
use testutils::tree::{self, Kind, Tree};

/// The directory of the program's own state.
pub(crate) const STATE: &str = ".apply-patch";

#[test]
fn scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let only = std::env::var("SCENARIO").unwrap_or_default();
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the scenarios")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir() && path.to_string_lossy().contains(&only))
        .collect();
    cases.sort();
    let mut failed = Vec::new();
    let mut bugs = Vec::new();
    let all = cases.len();
    cases.retain(|case| cfg!(unix) || windows_can_have(case));
    assert!(cases.len() * 10 > all * 8, "{} of {all} can be made here", cases.len());
    if cfg!(windows) && only.is_empty() && !share::whole() {
        // Each takes a third of a second in Wine.
        cases = cases.into_iter().step_by(3).collect();
    }
    for case in &cases {
        let scenario = Scenario::new(case);
        let name = scenario.name.clone();
        match (scenario.run(), case.join("bug.txt").exists()) {
            (Err(what), false) => failed.push(format!("--- {name}\n{what}")),
            (Ok(()), true) => failed.push(format!("--- {name}\nthe bug is fixed: remove bug.txt")),
            (Err(_), true) => bugs.push(name),
            (Ok(()), false) => {}
        }
    }
    eprintln!(
        "{} scenarios, {} failed, {} are known bugs {bugs:?}",
        cases.len(),
        failed.len(),
        bugs.len()
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(!cases.is_empty(), "no scenario is called {only:?}");
}

/// Whether the files of a case can be made on Windows: no links, pipes and modes, no names that
/// mean something else there, and none that differ by case alone.
fn windows_can_have(case: &Path) -> bool {
    let means_something_else = |name: &str| {
        let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
        ["con", "prn", "aux", "nul", "com1", "lpt1"].contains(&&*stem)
            || name.ends_with(['.', ' '])
            || name.contains([':', '*', '?', '"', '<', '>', '|', '\\'])
    };
    let steps = ["setup.txt", "after.txt"]
        .map(|name| fs::read_to_string(case.join(name)).unwrap_or_default())
        .concat();
    let fine = |line: &str| {
        let mut words = line.split(' ');
        let other = matches!(words.next(), Some("symlink" | "fifo" | "socket" | "mode"));
        !other && !words.take(2).any(|path| path.split('/').any(means_something_else))
    };
    let mut names = Vec::new();
    for folder in
        ["before", "after"].map(|folder| case.join(folder)).iter().filter(|folder| folder.exists())
    {
        names.extend(tree::beneath(folder).map(|(path, _)| path));
    }
    names.sort();
    names.dedup();
    let folded: HashSet<_> = names.iter().map(|path| path.to_lowercase()).collect();
    folded.len() == names.len()
        && steps.lines().all(fine)
        && !names.iter().any(|path| path.split('/').any(means_something_else))
}

#[test]
fn every_scenario_has_its_own_number() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut numbers: Vec<String> = fs::read_dir(folder)
        .expect("the scenarios")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| {
            entry.file_name().to_string_lossy().split('-').next().unwrap_or_default().to_owned()
        })
        .collect();
    numbers.sort();
    let count = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), count);
}

/// git and patch are asked, which are not on Windows.
#[cfg(unix)]
/// The diff of a dry run, and that of the transaction afterwards.
#[test]
fn other_programs_take_the_diffs_that_are_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut cases: Vec<_> = fs::read_dir(folder)
        .expect("the scenarios")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    cases.sort();
    let every = if share::whole() { 1 } else { 3 };
    let mut taken = 0;
    for case in cases.into_iter().step_by(every) {
        let succeeds = case.is_dir()
            && ["error.txt", "bug.txt", "stdout.txt"].iter().all(|name| !case.join(name).exists());
        let scenario = Scenario::new(&case);
        let args = scenario.args();
        // A command of its own, or one that prints no diff.
        let other = |arg: &String| {
            matches!(&**arg, "check" | "--check" | "-n" | "--stat" | "--no-atomic")
                || arg.starts_with("as ")
        };
        if !succeeds || args.iter().any(other) {
            continue;
        }
        let (workspace, home) = (scenario.workspace(), scenario.home.path());
        scenario.build(&workspace, "before", "setup.txt");
        let patch = fs::read(case.join("patch.txt")).expect("patch.txt");
        let before = takers::files(&workspace);
        let planned =
            program::printed(&workspace, home, &[&args[..], &["-n".into()]].concat(), &patch);
        program::printed(&workspace, home, &args, &patch);
        let after = takers::files(&workspace);
        let log =
            String::from_utf8(program::printed(&workspace, home, &["log"], b"")).expect("UTF-8");
        let done = match log.split(' ').next() {
            Some(id) if before != after => program::printed(&workspace, home, &["show", id], b""),
            _ => Vec::new(),
        };
        for diff in [planned, done] {
            takers::check(&diff, &before, &after)
                .unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
        }
        taken += usize::from(before != after);
    }
    assert!(taken * every > 80, "{taken} scenarios change something");
}

pub(crate) struct Scenario<'s> {
    case: &'s Path,
    pub(crate) name: String,
    /// Holds the workspace, and what is beside it.
    around: tempfile::TempDir,
    pub(crate) home: tempfile::TempDir,
}

/// What `error.txt` wants.
#[derive(Default)]
struct Wanted {
    exit: i32,
    kind: Option<String>,
    reason: Option<String>,
    messages: Vec<String>,
    applied: Vec<String>,
}

impl<'s> Scenario<'s> {
    pub(crate) fn new(case: &'s Path) -> Self {
        Self {
            case,
            name: case.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            around: temp(),
            home: temp(),
        }
    }

    #[cfg(unix)]
    pub(crate) fn case(&self) -> &Path {
        self.case
    }

    /// A file of the case, if it has it.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.case.join(name)).ok()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.around.path().join("ws")
    }

    fn run(self) -> Result<(), String> {
        self.build(&self.workspace(), "before", "setup.txt");
        let before = tree::look(self.around.path(), true);
        let patch = fs::read(self.case.join("patch.txt")).expect("patch.txt");
        let args = self.args();
        let (name, args) = match &args[..] {
            [first, rest @ ..] if first.starts_with("as ") => (&first[3..], rest),
            args => ("apply-patch", args),
        };
        let json = name == "apply-patch" && self.text("stdout.txt").is_none();
        let mut whole: Vec<String> = if json { vec!["--json".into()] } else { Vec::new() };
        whole.extend_from_slice(args);
        let run = program::run(name, &self.workspace(), self.home.path(), &whole, &patch);
        let after = tree::look(self.around.path(), true);
        self.answer(&run, json)?;
        let error = self.text("error.txt");
        let writes =
            !args.iter().any(|arg| matches!(&**arg, "-n" | "--dry-run" | "--check" | "check"));
        let untouched =
            if self.case.join("after").exists() { !writes } else { error.is_some() || !writes };
        if untouched {
            let difference = tree::difference(&before, &after);
            return if difference.is_empty() {
                Ok(())
            } else {
                Err(format!("it changed something:\n{difference}"))
            };
        }
        self.compare(&before, after)
    }

    pub(crate) fn args(&self) -> Vec<String> {
        let args = self.text("args.txt").unwrap_or_default();
        let case = self.case.to_str().expect("a path in UTF-8");
        args.lines().map(|arg| arg.replace("{case}", case)).collect()
    }

    /// Holds what the program says against what the case wants.
    fn answer(&self, run: &Run, json: bool) -> Result<(), String> {
        let Some(error) = self.text("error.txt") else {
            if run.code != 0 {
                return Err(format!("it should succeed: {run:#?}"));
            }
            if let Some(wanted) = self.text("stdout.txt") {
                return if run.stdout == wanted {
                    Ok(())
                } else {
                    Err(format!("wanted {wanted:?}, got {run:#?}"))
                };
            }
            if json {
                let answer = run.json()?;
                let notes = answer["data"]["notes"].as_array().cloned().unwrap_or_default();
                let notes: Vec<_> =
                    notes.iter().map(|note| note.as_str().unwrap_or_default()).collect();
                let wanted = self.text("notes.txt").unwrap_or_default();
                let same = notes.len() == wanted.lines().count()
                    && notes.iter().zip(wanted.lines()).all(|(note, wanted)| note.contains(wanted));
                if answer["ok"] != true || !same {
                    return Err(format!("wanted success and the notes {wanted:?}, got {answer:#}"));
                }
            }
            return Ok(());
        };
        let wanted = Wanted::read(&error);
        let mut wrong = Vec::new();
        if run.code != wanted.exit {
            wrong.push(format!("exit {}, not {}", run.code, wanted.exit));
        }
        let mut told = format!("{}{}", run.stdout, run.stderr);
        if json {
            let answer = run.json()?;
            let error = &answer["error"];
            if answer["ok"] != false {
                wrong.push("ok is not false".into());
            }
            if let Some(kind) = &wanted.kind
                && error["kind"] != **kind
            {
                wrong.push(format!("kind {}, not {kind}", error["kind"]));
            }
            if let Some(reason) = &wanted.reason
                && error["details"]["reason"] != **reason
            {
                wrong.push(format!("reason {}, not {reason}", error["details"]["reason"]));
            }
            let rejects = error["details"]["rejects"].as_array().cloned().unwrap_or_default();
            told = rejects
                .iter()
                .chain([error])
                .filter_map(|error| error["message"].as_str())
                .collect::<Vec<_>>()
                .join("\n");
            let applied =
                error["details"]["applied"]["changedFiles"].as_array().cloned().unwrap_or_default();
            let applied: Vec<_> =
                applied.iter().filter_map(|change| change["path"].as_str()).collect();
            if applied != wanted.applied {
                wrong.push(format!("applied {applied:?}, not {:?}", wanted.applied));
            }
        }
        for message in &wanted.messages {
            if !told.contains(message.as_str()) {
                wrong.push(format!("nothing says {message:?}"));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}:\n{run:#?}", wrong.join("; "))) }
    }

    /// Holds the files against `after` and `after.txt`.
    fn compare(&self, before: &Tree, mut found: Tree) -> Result<(), String> {
        let wanted = temp();
        self.build(&wanted.path().join("ws"), "after", "after.txt");
        let mut wanted = tree::look(wanted.path(), false);
        let state = format!("ws/{STATE}");
        let left: Vec<_> = found
            .keys()
            .filter(|path| path.ends_with(".apply-patch.tmp") && !path.starts_with(&state))
            .cloned()
            .collect();
        found.retain(|path, _| {
            *path != "." && *path != state && !path.starts_with(&format!("{state}/"))
        });
        // A new file has the mode that the system gives to new files.
        let new_mode = self.new_mode();
        for (path, entry) in &mut found {
            entry.identity = None;
            if let (true, Some(wanted)) = (cfg!(windows), wanted.get_mut(path)) {
                wanted.mode = entry.mode;
            }
            let new = !before.contains_key(path);
            if let (Kind::File(_), true, Some(wanted)) = (&entry.kind, new, wanted.get_mut(path))
                && wanted.mode == 0o644
                && entry.mode == new_mode
            {
                wanted.mode = new_mode;
            }
            if let (Kind::Directory, Some(wanted)) = (&entry.kind, wanted.get_mut(path)) {
                wanted.mode = entry.mode;
            }
        }
        let difference = tree::difference(&wanted, &found);
        if !difference.is_empty() || !left.is_empty() {
            return Err(format!("{difference}left behind: {left:?}"));
        }
        Ok(())
    }

    fn new_mode(&self) -> u32 {
        let probe = self.home.path().join("probe");
        fs::write(&probe, "").expect("a new file");
        tree::look(self.home.path(), false)["probe"].mode
    }

    /// Makes a workspace from a folder of the case, then does what its list of steps says.
    pub(crate) fn build(&self, workspace: &Path, folder: &str, steps: &str) {
        fs::create_dir_all(workspace).expect("a new directory");
        if self.case.join(folder).exists() {
            tree::copy(&self.case.join(folder), workspace);
        }
        for line in self.text(steps).unwrap_or_default().lines() {
            step(workspace, line);
        }
    }
}

/// Does one line of `setup.txt` or `after.txt`.
pub(crate) fn step(workspace: &Path, line: &str) {
    let words: Vec<&str> = line.splitn(3, ' ').collect();
    let at = |path: &str| workspace.join(path);
    let parent = |path: &Path| {
        fs::create_dir_all(path.parent().expect("beneath the workspace")).expect("a directory")
    };
    match words[..] {
        ["mode", mode, path] => {
            tree::set_mode(&at(path), u32::from_str_radix(mode, 8).expect("an octal mode"))
        }
        ["dir", path] => fs::create_dir_all(at(path)).expect("a new directory"),
        ["write", path, text] => {
            parent(&at(path));
            fs::write(at(path), unescape(text)).expect("a new file");
            tree::set_mode(&at(path), 0o644);
        }
        ["repeat", count, rest] => {
            let (path, text) = rest.split_once(' ').expect("repeat COUNT PATH TEXT");
            let count = count.parse().expect("a number");
            fs::write(at(path), unescape(text).repeat(count)).expect("a new file");
            tree::set_mode(&at(path), 0o644);
        }
        ["symlink", path, target] => {
            parent(&at(path));
            testutils::posix::symlink(target, at(path)).expect("a new link");
        }
        ["hardlink", path, target] => fs::hard_link(at(target), at(path)).expect("a new name"),
        #[cfg(unix)]
        ["socket", path] => drop(UnixListener::bind(at(path)).expect("a new socket")),
        #[cfg(unix)]
        ["fifo", path] => rustix::fs::mknodat(
            rustix::fs::CWD,
            at(path),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o644),
            0,
        )
        .expect("a new pipe"),
        [""] => {}
        _ => panic!("{line:?} is not a step"),
    }
}

/// Reads `\n`, `\r`, `\0`, `\s` (a blank), `\\`, `\xff` and `\u{feff}`.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match bytes.next() {
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b'0') => 0,
            Some(b's') => b' ',
            Some(b'u') => {
                assert_eq!(bytes.next(), Some(b'{'), "after \\u");
                let digits: String =
                    bytes.by_ref().map(char::from).take_while(|&digit| digit != '}').collect();
                let code = u32::from_str_radix(&digits, 16)
                    .ok()
                    .and_then(char::from_u32)
                    .expect("a code point");
                out.extend(code.encode_utf8(&mut [0; 4]).bytes());
                continue;
            }
            Some(b'\\') => b'\\',
            Some(b'x') => {
                let digits = [bytes.next(), bytes.next()]
                    .map(|digit| char::from(digit.expect("two digits")));
                u8::from_str_radix(&digits.iter().collect::<String>(), 16).expect("two digits")
            }
            other => panic!("{other:?} after a backslash"),
        });
    }
    out
}

impl Wanted {
    fn read(text: &str) -> Self {
        let mut wanted = Self::default();
        for line in text.lines() {
            let (key, value) =
                line.split_once(": ").unwrap_or_else(|| panic!("{line:?} is not a `key: value`"));
            match key {
                "exit" => wanted.exit = value.parse().expect("a number"),
                "kind" => wanted.kind = Some(value.into()),
                "reason" => wanted.reason = Some(value.into()),
                "message" => wanted.messages.push(value.into()),
                "applied" => wanted.applied.push(value.into()),
                _ => panic!("{line:?} is nothing an error has"),
            }
        }
        wanted
    }
}
