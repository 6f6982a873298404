//! A crate depends on those below it, and the front ends only on the facade; no file and no folder
//! of a crate imports one that imports it, directly or through others; and patterns are compiled in
//! one place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

type Module = Vec<String>;

/// Reads the code of each module, by its path in the crate, without comments and without unit
/// tests, which may look anywhere. The generated parser names nothing of its crate.
fn read(folder: &Path, path: &[String], all: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let file = entry.expect("an entry").path();
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a plain name");
        let below = [path, &[name.to_owned()]].concat();
        if file.is_dir() {
            read(&file, &below, all);
        } else if !matches!(name, "tests" | "generated")
            && file.extension().is_some_and(|extension| extension == "rs")
        {
            let source = fs::read_to_string(&file).expect("UTF-8");
            let source = without_tests(&source);
            // What is indented and imports from its parent is a module within the file.
            let lines = source
                .lines()
                .filter(|line| !(line.starts_with(' ') && line.contains("use super::")));
            let code = lines
                .flat_map(|line| [line.split("//").next().unwrap_or_default(), "\n"])
                .collect();
            all.insert(
                if matches!(name, "lib" | "main" | "mod") { path.to_vec() } else { below },
                code,
            );
        }
    }
}

/// The source without its modules of tests. What stands below them stays.
fn without_tests(source: &str) -> String {
    let mut parts = source.split("\n#[cfg(test)]\n");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push('\n');
        let first = part.lines().find(|line| !line.starts_with("#[")).unwrap_or_default();
        // What ends with a semicolon is in a file of its own.
        let is_module = first.starts_with("mod ") && first.ends_with('{');
        out += if is_module { part.split_once("\n}").map_or("", |(_, rest)| rest) } else { part };
    }
    out
}

/// The paths in some code, those in braces each whole.
fn paths(code: &str) -> Vec<String> {
    let (mut all, mut token, mut prefixes) = (Vec::new(), String::new(), Vec::<String>::new());
    for c in code.chars() {
        if c.is_alphanumeric() || matches!(c, '_' | ':') {
            token.push(c);
            continue;
        }
        let path = prefixes.last().cloned().unwrap_or_default() + &std::mem::take(&mut token);
        match c {
            '{' => prefixes.push(if path.ends_with("::") { path.clone() } else { String::new() }),
            '}' => drop(prefixes.pop()),
            _ => {}
        }
        all.push(path);
    }
    all.retain(|path| path.contains("::") && !path.ends_with(':'));
    all
}

/// The module that a path in `from` leads to; `from` itself for a path to something else.
fn target(all: &BTreeMap<Module, String>, from: &[String], path: &str) -> Module {
    let (start, rest) = path.split_once("::").unwrap_or_default();
    let (mut at, rest) = match start {
        "crate" => (Vec::new(), rest),
        "super" => (from[..from.len() - 1].to_vec(), rest),
        _ => (from.to_vec(), path),
    };
    for part in rest.split("::") {
        at.push(part.to_owned());
        if !all.contains_key(&at) {
            at.pop();
            break;
        }
    }
    at
}

/// Which modules of a crate import which, as deep as `depth` levels of folders.
fn imports(all: &BTreeMap<Module, String>, depth: usize) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut imports: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (from, code) in all {
        let room = from[..from.len().min(depth)].to_vec();
        let targets = paths(code).into_iter().map(|path| target(all, from, &path));
        let rooms = targets.map(|to| to[..to.len().min(depth)].to_vec());
        let others: Vec<Module> = rooms.filter(|to| *to != room).collect();
        imports.entry(room).or_default().extend(others);
    }
    imports
}

/// Leaves the modules that import each other, directly or through others.
fn circles(mut left: BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<Module, BTreeSet<Module>> {
    let lowest = |left: &BTreeMap<Module, BTreeSet<Module>>| {
        left.iter().find(|(_, targets)| targets.is_empty()).map(|(module, _)| module.clone())
    };
    let top = |left: &BTreeMap<Module, BTreeSet<Module>>| {
        let is_imported = |module| left.values().any(|targets| targets.contains(module));
        left.keys().find(|module| !is_imported(*module)).cloned()
    };
    while let Some(module) = lowest(&left).or_else(|| top(&left)) {
        left.remove(&module);
        left.values_mut().for_each(|targets| drop(targets.take(&module)));
    }
    left
}

#[test]
fn no_files_and_no_folders_import_each_other() {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the crates")
    {
        let (folder, mut all) = (entry.expect("an entry").path(), BTreeMap::new());
        read(&folder.join("src"), &[], &mut all);
        for (what, depth) in [("files", usize::MAX), ("folders", 1)] {
            let left = circles(imports(&all, depth));
            let name = |module: &Module| module.join("/");
            let told = left.iter().map(|(from, to)| {
                format!("{} -> {}", name(from), to.iter().map(name).collect::<Vec<_>>().join(", "))
            });
            let told = told.collect::<Vec<_>>().join("\n");
            assert!(
                left.is_empty(),
                "{}: these {what} import each other\n{told}",
                folder.display()
            );
        }
    }
    // Two folders whose files are in no circle.
    let code = [
        ("a", ""),
        ("b", ""),
        ("a/low", ""),
        ("a/high", "use crate::b::middle::x;"),
        ("b/middle", "use crate::a::low::y;"),
        ("c", "use crate::b::middle::x;"),
    ];
    let all: BTreeMap<Module, String> = code
        .iter()
        .map(|(path, code)| (path.split('/').map(str::to_owned).collect(), (*code).to_owned()))
        .collect();
    assert!(circles(imports(&all, usize::MAX)).is_empty());
    let found: Vec<Module> = circles(imports(&all, 1)).into_keys().collect();
    assert_eq!(found, [["a"], ["b"]]);
}

/// The code of all crates, by crate and module.
fn all_code() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the crates")
    {
        let (folder, mut modules) = (entry.expect("an entry").path(), BTreeMap::new());
        read(&folder.join("src"), &[], &mut modules);
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a plain name");
        all.extend(
            modules
                .into_iter()
                .map(|(module, code)| (format!("{name}/{}", module.join("/")), code)),
        );
    }
    all
}

/// The crates of the workspace by folder, and which of the others each may depend on. First the
/// trunk, then its branches, which do not know each other.
const BELOW: [(&str, &[&str]); 23] = [
    ("patch-grammar", &[]),
    ("fs-guard", &[]),
    ("trash", &["fs_guard"]),
    ("patch-text", &["patch_grammar"]),
    ("patch-engine", &["fs_guard", "patch_grammar", "patch_text", "workspace_trash"]),
    (
        "session",
        &["fs_guard", "patch_engine", "patch_grammar", "shell_intercept", "workspace_trash"],
    ),
    ("shell-intercept", &["patch_grammar"]),
    ("git-object-tree", &[]),
    ("musl-memory", &[]),
    ("constrain", &["fs_guard", "patch_engine", "patch_grammar"]),
    ("git", &["fs_guard", "git_object_tree", "patch_engine", "patch_grammar", "patch_session"]),
    ("review", &["fs_guard", "patch_engine", "patch_session", "patch_text"]),
    (
        "proposals",
        &["fs_guard", "patch_engine", "patch_grammar", "patch_session", "workspace_trash"],
    ),
    (
        "tools",
        &[
            "fs_guard",
            "patch_engine",
            "patch_grammar",
            "patch_proposals",
            "patch_session",
            "workspace_trash",
        ],
    ),
    (
        "api",
        &[
            "file_tools",
            "fs_guard",
            "patch_constrain",
            "patch_engine",
            "patch_git",
            "patch_grammar",
            "patch_review",
            "patch_proposals",
            "patch_session",
            "workspace_trash",
        ],
    ),
    ("mcp", &["apply_patch_api"]),
    ("cli", &["apply_patch_api", "apply_patch_mcp", "musl_memory", "shell_intercept"]),
    ("python", &["apply_patch_api"]),
    ("node", &["apply_patch_api"]),
    ("wasm", &["apply_patch_api"]),
    ("xtask", &["patch_constrain", "patch_grammar", "testutils"]),
    ("xtask-parser", &[]),
    ("testutils", &["fs_guard", "patch_engine", "patch_grammar"]),
];

/// The crates of the workspace that each may depend on.
fn below(name: &str) -> &'static [&'static str] {
    let may = BELOW.iter().find(|(crate_name, _)| *crate_name == name);
    may.unwrap_or_else(|| panic!("{name} is not in the list of crates")).1
}

/// The dependencies, but for those of tests, that a crate may not have, as `crate -> dependency`.
fn wrong_dependencies(metadata: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let folder = manifest.parent().expect("a folder");
        if folder.parent().is_none_or(|above| !above.ends_with("crates")) {
            continue;
        }
        let folder = folder.file_name().and_then(|name| name.to_str()).expect("a plain name");
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let name = dependency["name"].as_str().expect("a name").replace('-', "_");
            let is_ours = dependency["path"].is_string() && dependency["kind"].is_null();
            if is_ours && !below(folder).contains(&&*name) {
                wrong.push(format!("{folder} -> {name}"));
            }
        }
    }
    wrong
}

#[test]
fn crates_depend_only_on_those_below() {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&cargo.stdout).expect("JSON");
    assert_eq!(wrong_dependencies(&metadata), [""; 0]);
    let made_up = |folder: &str, name: &str, kind: Value| {
        let dependency = json!({ "name": name, "path": "/x/y", "kind": kind });
        let manifest = format!("/x/crates/{folder}/Cargo.toml");
        json!({ "packages": [{ "manifest_path": manifest, "dependencies": [dependency] }] })
    };
    for (folder, name, kind, wrong) in [
        ("patch-text", "patch-engine", Value::Null, &["patch-text -> patch_engine"][..]),
        ("git", "file-tools", Value::Null, &["git -> file_tools"]),
        ("git", "file-tools", json!("dev"), &[]),
        ("git", "patch-session", Value::Null, &[]),
    ] {
        assert_eq!(wrong_dependencies(&made_up(folder, name, kind)), wrong, "{folder} {name}");
    }
}

/// What a model or a repository gives as a pattern is bounded before a library sees it. So the
/// libraries are used in these files only; `fs_guard::bounded` is in each that takes globs. What a
/// person searches for in `-i` is their own.
#[test]
fn patterns_are_compiled_in_one_place() {
    let mut found = BTreeSet::new();
    for (module, code) in all_code() {
        for path in paths(&code) {
            let library = path.split("::").next().unwrap_or_default();
            if matches!(library, "globset" | "regex" | "regex_automata" | "grep_regex" | "ignore") {
                found.insert(format!("{module} {library}"));
            }
        }
    }
    let wanted = [
        "cli/interactive/asking regex",
        "tools/tools/query grep_regex",
        "tools/tools/walk ignore",
        "fs-guard/convention_globs regex",
        "fs-guard/globs globset",
    ];
    assert_eq!(
        found,
        wanted.map(str::to_owned).into(),
        "a pattern of a model or a repository is compiled elsewhere"
    );
}

/// Only a person sees and undoes what the history has of files that no direct call may touch. What
/// a model calls is not here.
#[test]
fn only_these_commands_are_a_persons() {
    let opens = |code: &str| {
        ["for_a_person", "session_in(", "session(global)", "recovered(global"]
            .iter()
            .any(|name| code.contains(name))
    };
    let found: BTreeSet<_> =
        all_code().into_iter().filter(|(_, code)| opens(code)).map(|(module, _)| module).collect();
    let commands = [
        "apply",
        "convert",
        "history",
        "ops",
        "recover",
        "review",
        "proposals",
        "recover",
        "status",
        "trash",
        "undo",
        "workspace",
    ];
    let mut wanted: BTreeSet<_> =
        commands.iter().map(|name| format!("cli/commands/{name}")).collect();
    wanted.extend(["cli/drop_in", "patch-engine/commit/workspace"].map(str::to_owned));
    assert_eq!(found, wanted);
}

/// Crates of their own have it from there, and `cargo package` with them: the folder `grammar` at
/// the top is a link.
#[test]
fn the_grammar_is_there_once() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut found, mut folders) = (BTreeSet::new(), vec![top.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let (path, kind) = (entry.path(), entry.file_type().expect("it is there"));
            let made = ["target", "node_modules"].iter().any(|name| path.ends_with(name))
                || path.ends_with(".git");
            let is_grammar = ["pest", "lark", "gbnf", "ebnf"]
                .iter()
                .any(|end| path.extension().is_some_and(|is| is == *end));
            if kind.is_dir() && !made {
                folders.push(path);
            } else if kind.is_file() && is_grammar {
                let beneath =
                    path.strip_prefix(&top).expect("it is there").parent().expect("a folder");
                found.insert(beneath.to_str().expect("UTF-8").replace('\\', "/"));
            }
        }
    }
    assert_eq!(found, ["crates/patch-grammar/grammar".to_owned()].into());
}
