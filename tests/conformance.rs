//! Cases that were observed on other appliers, where they are at hand: `../shared/conformance`
//! beside this repository.
//!
//! They are observations and not our contract. Where ours is another outcome, it is listed in
//! `conformance/differences.txt` with the rule of the specification that makes it so; an outcome
//! that differs and is not listed fails the test, and so does a listed one that does not differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use patch_engine::{FinalNewline, Options, Profile, edit, parse};
use patch_grammar::{Hunk, Line, LineKind, ParseOptions, Section, SectionOperation};
use serde_json::{Value, json};
use shell_intercept::{CorrectnessError, Intercept};

use crate::program::{self, Run};
use testutils::temp::temp;
use testutils::tree::{self, Kind};

/// What is wrong with a case, as far as it is held against the observation.
type Outcome = Result<(), String>;

#[test]
fn cases_of_other_appliers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let Some(cases) = read(&folder) else {
        testutils::skip!("there are no conformance cases in {}", folder.display());
        return;
    };
    let listed = differences();
    let mut tally: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for (id, kind, case) in &cases {
        assert!(seen.insert(id.clone()), "two cases are called {id}");
        let [ran, agreed, differed] = tally.entry(kind.clone()).or_default();
        let outcome = match &**kind {
            "apply" => upstream_apply(case),
            "parse" => upstream_parse(case),
            "seek" => upstream_seek(case),
            "shell" => upstream_shell(case),
            "peer" => peer(case),
            _ => {
                *ran += 1;
                continue;
            }
        };
        *ran += 1;
        match (outcome, listed.get(id)) {
            (Ok(()), None) => *agreed += 1,
            (Err(_), Some(_)) => *differed += 1,
            (Ok(()), Some(rule)) => wrong.push(format!("{id} agrees, and is listed ({rule})")),
            (Err(what), None) => wrong.push(format!("{id} differs, and is not listed:\n{what}")),
        }
    }
    wrong.extend(
        listed
            .keys()
            .filter(|id| !seen.contains(*id))
            .map(|id| format!("{id} is listed, and is not a case")),
    );
    for (kind, [ran, agreed, differed]) in &tally {
        match &**kind {
            "apply" | "parse" | "seek" | "shell" | "peer" => {
                eprintln!(
                    "{kind}: {ran} ran, {agreed} agreed, {differed} differ by a rule of ours"
                );
            }
            _ => eprintln!("{kind}: {ran} not run"),
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// All cases: a name of their own, their kind, themselves.
fn read(folder: &Path) -> Option<Vec<(String, String, Value)>> {
    let file = |name: &str| -> Option<Vec<Value>> {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
    };
    let text = |case: &Value, key: &str| case[key].as_str().unwrap_or_default().to_owned();
    let upstream = file("upstream.json")?.into_iter().map(|case| {
        let kind = text(&case, "kind");
        (format!("upstream/{kind}/{}", text(&case, "id")), kind, case)
    });
    let peers = file("peer-cases.json")?
        .into_iter()
        .map(|case| (text(&case, "id"), "peer".to_owned(), case));
    Some(upstream.chain(peers).collect())
}

fn differences() -> BTreeMap<String, &'static str> {
    let lines = include_str!("conformance/differences.txt").lines();
    let mut listed = BTreeMap::new();
    for line in lines.filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (id, rule) =
            line.split_once('\t').unwrap_or_else(|| panic!("{line:?}: an id, a tab, a rule"));
        assert!(!rule.trim().is_empty(), "{id}: the rule that makes it so is named");
        assert!(listed.insert(id.to_owned(), rule).is_none(), "{id} is listed twice");
    }
    listed
}

/// A workspace in a directory of its own, with a home beside it.
struct Workspace {
    around: tempfile::TempDir,
}

impl Workspace {
    /// Makes the files; a name that ends in `/` is a directory.
    fn new(files: &Value) -> Self {
        let workspace = Self { around: temp() };
        fs::create_dir(workspace.root()).expect("a new directory");
        for (path, text) in files.as_object().into_iter().flatten() {
            let at = workspace.root().join(path);
            match text.as_str() {
                None => fs::create_dir_all(at).expect("a new directory"),
                Some(text) => {
                    fs::create_dir_all(at.parent().expect("beneath the root"))
                        .expect("a new directory");
                    fs::write(at, text).expect("a new file");
                }
            }
        }
        workspace
    }

    fn root(&self) -> PathBuf {
        self.around.path().join("ws")
    }

    /// Files and, where the cases have them, empty directories.
    fn files(&self, with_directories: bool) -> Value {
        let tree = tree::look(&self.root(), false);
        let mut files = serde_json::Map::new();
        for (path, entry) in &tree {
            let state = path.split('/').next() == Some(".apply-patch");
            match &entry.kind {
                _ if state => {}
                Kind::File(bytes) => {
                    files.insert(path.clone(), String::from_utf8_lossy(bytes).into_owned().into());
                }
                Kind::Directory
                    if with_directories
                        && !tree.keys().any(|other| other.starts_with(&format!("{path}/"))) =>
                {
                    files.insert(format!("{path}/"), Value::Null);
                }
                _ => {}
            }
        }
        Value::Object(files)
    }
}

/// Holds the files and whether it succeeded against what was observed.
fn compare(workspace: &Workspace, run: &Run, ok: Option<bool>, files: &Value) -> Outcome {
    let wants_directories =
        files.as_object().is_some_and(|files| files.keys().any(|path| path.ends_with('/')));
    let found = workspace.files(wants_directories);
    if ok.is_some_and(|ok| ok != (run.code == 0)) || found != *files {
        return Err(format!("  wanted {ok:?} {files}\n  found {found}\n  {run:?}"));
    }
    Ok(())
}

fn upstream_apply(case: &Value) -> Outcome {
    let workspace = Workspace::new(&case["files"]);
    let root = workspace.root();
    let root_text = root.to_str().expect("UTF-8");
    let patch = case["patch"].as_str().expect("a patch").replace("$CWD", root_text);
    let by_argument = case["via"] == "arg";
    let args: &[&str] = if by_argument { &[&patch] } else { &[] };
    let input = if by_argument { &b""[..] } else { patch.as_bytes() };
    let run = program::run("apply_patch", &root, workspace.around.path(), args, input);
    let expect = &case["expect"];
    compare(&workspace, &run, expect["rc"].as_i64().map(|code| code == 0), &expect["after"])?;
    match expect["stdout"].as_str().map(|text| text.replace("$CWD", root_text)) {
        Some(wanted) if wanted != run.stdout => {
            Err(format!("  wanted {wanted:?} on standard output\n  {run:?}"))
        }
        _ => Ok(()),
    }
}

fn peer(case: &Value) -> Outcome {
    let workspace = Workspace::new(&case["input_files"]);
    let profile = case["dialect"].as_str().expect("a dialect");
    let patch = case["patch"].as_str().expect("a patch");
    let expect = &case["expect"];
    let args = ["--json", "--durability", "none", "--from", "envelope", "--profile", profile];
    let run = program::run(
        "apply-patch",
        &workspace.root(),
        workspace.around.path(),
        &args,
        patch.as_bytes(),
    );
    // A peer that fails half way is not a model.
    let files = if expect["files"].is_null() { &case["input_files"] } else { &expect["files"] };
    compare(&workspace, &run, expect["ok"].as_bool(), files)
}

fn upstream_parse(case: &Value) -> Outcome {
    let text = case["patch"].as_str().expect("a patch");
    let environment = case["expect"]["environment_id"].as_str().map(str::to_owned);
    let parsed = parse(text, &ParseOptions { environment, ..Options::new(Profile::Codex).parse });
    let found = match &parsed {
        Ok(patch) => patch.sections().iter().map(section).collect(),
        Err(_) => Value::Null,
    };
    let wanted = &case["expect"]["hunks"];
    if found == *wanted {
        Ok(())
    } else {
        Err(format!("  wanted {wanted}\n  found {found}\n  {parsed:?}"))
    }
}

/// A section in the words of the cases.
fn section(section: &Section<'_>) -> Value {
    let path = &section.path.text;
    match &section.operation {
        SectionOperation::Add(added) => {
            let contents: String =
                added.lines().map(|line| format!("{}\n", String::from_utf8_lossy(line))).collect();
            json!({ "add": path, "contents": contents })
        }
        SectionOperation::Delete(_) => json!({ "delete": path }),
        SectionOperation::Copy { .. } => unreachable!("no envelope has copies"),
        SectionOperation::Update { move_to, hunks } => {
            let mut value =
                json!({ "update": path, "chunks": hunks.iter().map(hunk).collect::<Vec<_>>() });
            if let Some(to) = move_to {
                value["move"] = (*to.text).into();
            }
            value
        }
    }
}

fn hunk(hunk: &Hunk<'_>) -> Value {
    let lines = &hunk.lines[..hunk.lines.len() - hunk.separators];
    let side = |other: LineKind| {
        lines.iter().filter(|line| line.kind != other).map(Line::text_lossy).collect::<Vec<_>>()
    };
    json!({
        "change_context": hunk.headers.last().map(|header| &header.text),
        "old": side(LineKind::Insert),
        "new": side(LineKind::Delete),
        "eof": hunk.end_of_file,
    })
}

fn upstream_seek(case: &Value) -> Outcome {
    let lines = |key: &str| -> Vec<&str> {
        case[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let file: String = lines("lines").iter().map(|line| format!("{line}\n")).collect();
    let body: String = lines("pattern").iter().map(|line| format!(" {line}\n")).collect();
    let end = if case["eof"] == true { "*** End of File\n" } else { "" };
    let text = format!("*** Begin Patch\n*** Update File: f\n@@\n{body}{end}*** End Patch\n");
    let options = Options::new(Profile::Codex);
    let patch = parse(&text, &options.parse).expect("it parses");
    let edit =
        edit(file.as_bytes(), patch.sections()[0].hunks(), &options.placement, FinalNewline::Keep);
    let found = edit.ok().map(|edit| edit.placed[0].first_line - 1);
    let wanted = case["expect"].as_u64().map(|index| index as usize);
    if found == wanted { Ok(()) } else { Err(format!("  wanted {wanted:?}, found {found:?}")) }
}

fn upstream_shell(case: &Value) -> Outcome {
    let argv: Vec<&str> =
        case["argv"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (result, workdir) = match shell_intercept::intercept(&argv) {
        Intercept::Body { workdir, .. } => ("patch".to_owned(), workdir.map(String::from)),
        Intercept::CorrectnessError(CorrectnessError::ImplicitInvocation) => {
            ("error: patch detected without explicit call to apply_patch".to_owned(), None)
        }
        Intercept::NotApplyPatch => ("not_apply_patch".to_owned(), None),
        other => (format!("{other:?}"), None),
    };
    let found = json!({ "result": result, "workdir": workdir });
    let wanted = &case["expect"];
    if found == *wanted { Ok(()) } else { Err(format!("  wanted {wanted}\n  found {found}")) }
}
