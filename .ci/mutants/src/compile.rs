//! Compiles the project with as many of its mutants as compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::list::Mutant;
use crate::source::{SWITCH, switched};

/// A copy of the project.
pub struct Copy {
    pub dir: PathBuf,
    pub target: PathBuf,
}

/// One test of one of the programs that `cargo test` builds.
pub struct Test {
    pub program: PathBuf,
    pub name: String,
    /// Where it runs.
    pub dir: PathBuf,
}

impl Copy {
    /// Copies what git knows of the project, and what it does not ignore. Tests that start the
    /// program with nothing in its environment still pass on which mutant is tried.
    pub fn of(project: &Path, scratch: &Path) -> Self {
        let copy = Self { dir: scratch.join("project"), target: scratch.join("target") };
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(project)
            .output();
        let listed = String::from_utf8(listed.expect("git runs").stdout).expect("paths in UTF-8");
        for path in listed.split_terminator('\0') {
            let (from, to) = (project.join(path), copy.dir.join(path));
            fs::create_dir_all(to.parent().expect("a directory"))
                .expect("a directory for the copy");
            if fs::symlink_metadata(&from).is_ok_and(|from| from.is_symlink()) {
                let _ = fs::remove_file(&to);
                std::os::unix::fs::symlink(fs::read_link(&from).expect("a link"), &to)
                    .expect("a copy of the link");
            } else if from.is_file() {
                fs::copy(&from, &to).expect("a copy");
            }
            if path.starts_with("tests/") && path.ends_with(".rs") {
                let text = fs::read_to_string(&to).expect("a test");
                let passes = r#".env_clear().envs(std::env::vars().filter(|(name, _)| name.starts_with("MUTANT")))"#;
                fs::write(&to, text.replace(".env_clear()", passes)).expect("a test");
            }
        }
        copy
    }

    fn cargo(&self, args: &[&str]) -> Vec<Value> {
        let mut command = Command::new("cargo");
        command.args(args).args(["--workspace", "--message-format=json"]).current_dir(&self.dir);
        command.env("CARGO_TARGET_DIR", &self.target);
        let output = command.stderr(Stdio::null()).output().expect("cargo runs");
        output
            .stdout
            .split(|&byte| byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }

    /// Puts the mutants in, and takes out those that the compiler refuses until it accepts the
    /// rest.
    pub fn put_in(&self, project: &Path, mutants: &[Mutant]) {
        let mut refused = BTreeSet::new();
        loop {
            let mut files: BTreeMap<String, Vec<&Mutant>> = BTreeMap::new();
            for mutant in mutants {
                // The root of its crate gets the switch.
                if let Some((dir, _)) = mutant.file.split_once("/src/") {
                    files.entry(format!("{dir}/src/lib.rs")).or_default();
                }
                let file = files.entry(mutant.file.clone()).or_default();
                if !refused.contains(&mutant.id) {
                    file.push(mutant);
                }
            }
            let mut places = BTreeMap::new();
            for (file, those) in files {
                let source = fs::read_to_string(project.join(&file)).expect("a source");
                let mut made = switched(&source, &those);
                if file.ends_with("/src/lib.rs") {
                    made.text += SWITCH;
                }
                write_changed(&self.dir.join(&file), &made.text);
                places.insert(file, made.places);
            }
            // With the feature that the tests have.
            let told = self.cargo(&[
                "check",
                "--lib",
                "--bins",
                "--features",
                "fs-guard/fault-injection",
                "--keep-going",
            ]);
            if told.iter().any(|told| told["reason"] == "build-finished" && told["success"] == true)
            {
                return;
            }
            let before = refused.len();
            for told in told.iter().filter(|told| told["message"]["level"] == "error") {
                refused.extend(self.culprit(&told["message"], &places));
            }
            assert!(refused.len() > before, "it does not compile:\n{}", errors(&told));
        }
    }

    /// The mutants whose switches were compiled: the function is deprecated, so that the compiler
    /// warns of each call.
    fn compiled(&self, told: &[Value]) -> BTreeSet<usize> {
        let mut sources = BTreeMap::new();
        let mut compiled = BTreeSet::new();
        for warning in told.iter().map(|told| &told["message"]) {
            if warning["code"]["code"] != "deprecated" {
                continue;
            }
            let span = &warning["spans"][0];
            let file = span["file_name"].as_str().expect("a warning is about a file");
            let read = || fs::read_to_string(self.dir.join(file)).expect("a source");
            let text: &String = sources.entry(file).or_insert_with(read);
            let end = span["byte_end"]
                .as_u64()
                .and_then(|end| usize::try_from(end).ok())
                .expect("an offset");
            let id =
                text[end..].strip_prefix('(').and_then(|rest| rest.split_once(')')?.0.parse().ok());
            // The project calls nothing else that is deprecated.
            compiled.insert(
                id.unwrap_or_else(|| panic!("no switch of a mutant: {}", warning["rendered"])),
            );
        }
        compiled
    }

    /// The mutant that an error of the compiler is about.
    fn culprit(
        &self,
        error: &Value,
        places: &BTreeMap<String, Vec<(usize, Range<usize>)>>,
    ) -> Option<usize> {
        let spans = error["spans"].as_array()?.iter();
        let of_children = error["children"]
            .as_array()?
            .iter()
            .filter_map(|child| child["spans"].as_array())
            .flatten();
        let (main, other): (Vec<_>, Vec<_>) =
            spans.chain(of_children).partition(|span| span["is_primary"] == true);
        let number = |value: &Value| value.as_u64().and_then(|value| usize::try_from(value).ok());
        for span in main.iter().chain(&other) {
            let Some((file, places)) =
                span["file_name"].as_str().and_then(|file| places.get_key_value(file))
            else {
                continue;
            };
            let (from, to) = (number(&span["byte_start"])?, number(&span["byte_end"])?);
            let text = fs::read_to_string(self.dir.join(file)).ok()?;
            let around = places.iter().filter(|(_, place)| place.start <= from && to <= place.end);
            if let Some((_, place)) = around.min_by_key(|(_, place)| place.len()) {
                // Of several that share a place it is the last one before the error.
                let last = switches(&text[place.start..from]).last();
                return last.or_else(|| switches(&text[place.clone()]).next());
            }
            // Matches that are not exhaustive without an arm that can be switched off.
            if matches!(error["code"]["code"].as_str(), Some("E0004" | "E0005")) {
                let first = text[from..].find(" if !crate::mutant_switch::on(")?;
                return switches(&text[from + first..]).next();
            }
        }
        None
    }

    /// Builds all tests. Returns those that are not ignored, and the mutants that were compiled:
    /// code for other platforms was not.
    pub fn tests(&self) -> (Vec<Test>, BTreeSet<usize>) {
        let told = self.cargo(&["test", "--no-run"]);
        let built =
            told.iter().any(|told| told["reason"] == "build-finished" && told["success"] == true);
        assert!(built, "the tests do not compile:\n{}", errors(&told));
        let compiled = self.compiled(&told);
        let mut tests = Vec::new();
        for made in told.iter().filter(|told| told["profile"]["test"] == true) {
            let (Some(program), Some(manifest)) =
                (made["executable"].as_str(), made["manifest_path"].as_str())
            else {
                continue;
            };
            let dir =
                Path::new(manifest).parent().expect("a manifest is in a directory").to_owned();
            let list = |more: &[&str]| {
                let output = Command::new(program)
                    .args(["--list", "--format", "terse"])
                    .args(more)
                    .current_dir(&dir)
                    .output();
                let output = String::from_utf8(output.expect("a test program runs").stdout)
                    .expect("names in UTF-8");
                output
                    .lines()
                    .filter_map(|line| line.strip_suffix(": test"))
                    .map(str::to_owned)
                    .collect::<BTreeSet<_>>()
            };
            let ignored = list(&["--ignored"]);
            tests.extend(list(&[]).difference(&ignored).map(|name| Test {
                program: program.into(),
                name: name.clone(),
                dir: dir.clone(),
            }));
        }
        (tests, compiled)
    }
}

/// The errors of the compiler, as it prints them.
fn errors(told: &[Value]) -> String {
    let errors = told.iter().filter(|told| told["message"]["level"] == "error");
    errors.filter_map(|told| told["message"]["rendered"].as_str()).collect()
}

/// The mutants whose switches are in a text.
fn switches(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("mutant_switch::on(").filter_map(|(at, before)| {
        let number = &text[at + before.len()..];
        number[..number.find(')')?].parse().ok()
    })
}

/// Leaves a file alone that has this text already, so that it is not compiled again.
fn write_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|now| now == text) {
        return;
    }
    fs::write(path, text).expect("a source");
}
