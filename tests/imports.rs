//! A crate imports those below it, and the front ends only the facade; no file of a crate imports
//! one that imports it, directly or through others; and patterns are compiled in one place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Module = Vec<String>;

/// Reads the code of each module, by its path in the crate, without comments and without unit
/// tests, which may look anywhere.
fn read(folder: &Path, path: &[String], all: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let file = entry.expect("an entry").path();
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a plain name");
        let below = [path, &[name.to_owned()]].concat();
        if file.is_dir() {
            read(&file, &below, all);
        } else if file.extension().is_some_and(|extension| extension == "rs") {
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

#[test]
fn no_files_import_each_other() {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the crates")
    {
        let (folder, mut all) = (entry.expect("an entry").path(), BTreeMap::new());
        read(&folder.join("src"), &[], &mut all);
        let targets = |from: &Module| {
            paths(&all[from]).into_iter().map(|path| target(&all, from, &path)).collect()
        };
        let mut left: BTreeMap<&Module, BTreeSet<Module>> =
            all.keys().map(|from| (from, targets(from))).collect();
        left.iter_mut().for_each(|(from, targets)| targets.retain(|target| target != *from));
        // A module that imports none of those that are left is in no circle.
        while let Some(lowest) =
            left.iter().find_map(|(from, targets)| targets.is_empty().then(|| from.to_vec()))
        {
            left.remove(&lowest);
            left.values_mut().for_each(|targets| drop(targets.take(&lowest)));
        }
        // Nor is one that none of those imports.
        let imported = |left: &BTreeMap<_, BTreeSet<Module>>, name: &Module| {
            left.values().any(|all| all.contains(name))
        };
        while let Some(top) =
            left.keys().find(|name| !imported(&left, name)).map(|name| name.to_vec())
        {
            left.remove(&top);
        }
        let name = |module: &Module| module.join("/");
        let told = left.iter().map(|(from, to)| {
            format!("{} -> {}", name(from), to.iter().map(name).collect::<Vec<_>>().join(", "))
        });
        assert!(
            left.is_empty(),
            "{}: these import each other\n{}",
            folder.display(),
            told.collect::<Vec<_>>().join("\n")
        );
    }
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

/// The crates of the workspace, and which of the others each may import.
const BELOW: [(&str, &[&str]); 16] = [
    ("patch-grammar", &[]),
    ("fs-guard", &[]),
    ("musl-memory", &[]),
    ("trash", &["fs_guard"]),
    ("git-object-tree", &[]),
    ("shell-intercept", &["patch_grammar"]),
    ("patch-engine", &["fs_guard", "patch_grammar", "workspace_trash"]),
    ("patch-decode", &["fs_guard", "patch_engine"]),
    (
        "file-tools",
        &[
            "fs_guard",
            "git_object_tree",
            "patch_engine",
            "patch_grammar",
            "shell_intercept",
            "workspace_trash",
        ],
    ),
    (
        "api",
        &[
            "file_tools",
            "fs_guard",
            "patch_decode",
            "patch_engine",
            "patch_grammar",
            "workspace_trash",
        ],
    ),
    ("mcp", &["apply_patch_api"]),
    ("cli", &["apply_patch_api", "apply_patch_mcp", "shell_intercept"]),
    ("python", &["apply_patch_api"]),
    ("node", &["apply_patch_api"]),
    ("wasm", &["apply_patch_api"]),
    ("xtask", &["patch_grammar"]),
];

/// The paths in the code of a crate that lead to a crate that it may not import.
fn wrong_paths(name: &str, code: &str) -> Vec<String> {
    let may = BELOW.iter().find(|(crate_name, _)| *crate_name == name);
    let (_, may) = may.unwrap_or_else(|| panic!("{name} is not in the list of crates"));
    let own: BTreeSet<_> = BELOW.iter().flat_map(|(_, below)| *below).collect();
    let mut wrong = paths(code);
    wrong.retain(|path| {
        let library = path.split("::").next().unwrap_or_default();
        own.contains(&library) && !may.contains(&library)
    });
    wrong
}

#[test]
fn crates_import_only_those_below() {
    for (module, code) in all_code() {
        let name = module.split('/').next().unwrap_or_default();
        // What tests share may use anything.
        if name != "testutils" {
            let wrong = wrong_paths(name, &code);
            assert!(wrong.is_empty(), "{module} imports {wrong:?}");
        }
    }
    for (name, code, wrong) in [
        ("cli", "use apply_patch_api::engine::Plan;", 0),
        ("cli", "use patch_engine::Plan;", 1),
        ("mcp", "fn root() -> fs_guard::Root {}", 1),
        ("wasm", "use {file_tools::{Tool, ToolError}, serde::Serialize};", 2),
        ("fs-guard", "use patch_engine::commit::{self, Workspace};", 2),
        ("patch-engine", "use file_tools::Session;", 1),
    ] {
        assert_eq!(wrong_paths(name, code).len(), wrong, "{name}: {code}");
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
        "cli/interactive regex",
        "file-tools/tools/query grep_regex",
        "file-tools/tools/walk ignore",
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
    let commands =
        ["apply", "convert", "history", "ops", "recover", "status", "trash", "undo", "workspace"];
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
