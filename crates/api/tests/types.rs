//! What the packages declare: every option that is taken and no other, and a class for each kind of
//! error. The settings among the options are made of their table:
//! `UPDATE_TOOLS=1 cargo test -p apply-patch-api`.
#![cfg(feature = "workspace")]
#![allow(clippy::disallowed_methods, reason = "tests read the files of the project")]

use std::collections::BTreeSet;

use apply_patch_api::{
    ErrorKind, FitRequest, GitOptions, Language, NetRequest, PatchOptions, ReadOptions,
    RedoRequest, SpecRequest, UndoRequest, WorkspaceOptions,
};
use patch_session::settings::{Kind, Layer, Scope};
use serde_json::json;

/// The flags of `apply` that no option of the packages has the name of, and what is there instead.
const FLAGS: &[(&str, &str)] = &[
    ("call-id", "callbacks are of one call"),
    ("check", "plan"),
    ("clipboard", "a terminal's"),
    ("color", "a terminal's"),
    ("dry-run", "plan"),
    ("events", "observe"),
    ("expect-from", "expected"),
    ("base-rev", "base"),
    ("format", "a terminal's"),
    ("help", "a terminal's"),
    ("interactive", "approve"),
    ("json", "answers are data"),
    ("no-pager", "a terminal's"),
    ("numstat", "diff"),
    ("quiet", "a terminal's"),
    ("root", "the argument of a workspace"),
    ("sandbox", "it confines the whole process"),
    ("stat", "diff"),
    ("stream", "PatchStream"),
    ("summary", "the summary of a plan"),
    ("verbose", "a terminal's"),
];

fn full(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(full(path)).expect(path)
}

/// What stands between two texts.
fn part<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let text = text.split_once(from).expect(from).1;
    text.split_once(to).expect(to).0
}

fn snake(name: &str) -> String {
    let part = |c: char| if c.is_uppercase() { format!("_{}", c.to_lowercase()) } else { c.into() };
    name.replace('-', "_").chars().map(part).collect()
}

/// The names that options are taken by.
fn taken<T: ReadOptions>() -> BTreeSet<String> {
    assert!(T::read(json!({ "frobnicate": 1 })).is_err(), "anything is taken");
    let in_script = T::names(Language::JavaScript).into_iter().map(|name| snake(&name));
    in_script.chain(T::names(Language::Python)).collect()
}

/// The settings of a kind, one after the other.
fn settings(scope: Scope, declared: fn(&str, Kind) -> String) -> String {
    let keys = Layer::KEYS.iter().filter(|(_, of)| *of == scope).map(|(key, _)| *key);
    keys.map(|key| declared(key, Layer::kind(key).expect("a key"))).collect()
}

fn in_script(key: &str, kind: Kind) -> String {
    let about = Layer::about(key).expect("a key");
    let mut words = key.split('-');
    let first = words.next().expect("a word");
    let name: String = words.map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    let unit = match kind {
        Kind::Bytes => " In bytes.",
        Kind::Seconds => " In seconds.",
        _ => "",
    };
    let kind = match kind {
        Kind::Flag => "boolean".into(),
        Kind::Number | Kind::Bytes | Kind::Seconds => "number".into(),
        Kind::Text => "string".into(),
        Kind::Texts => "string[]".into(),
        Kind::Commands => "string | Record<string, string>".into(),
        Kind::Words(words) => quoted(&words, " | "),
    };
    format!("\n  /** {about}{unit} */\n  {first}{name}?: {kind};")
}

fn in_python(key: &str, kind: Kind) -> String {
    let kind = match kind {
        Kind::Flag => "bool".into(),
        Kind::Number | Kind::Bytes => "int".into(),
        Kind::Seconds => "float".into(),
        Kind::Text => "str".into(),
        Kind::Texts => "Sequence[str]".into(),
        Kind::Commands => "str | Mapping[str, str]".into(),
        Kind::Words(words) => format!("Literal[{}]", quoted(&words, ", ")),
    };
    format!("\n    {}: {kind} | None", snake(key))
}

fn quoted(words: &[&str], between: &str) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(between)
}

/// Compares the settings that are declared with their table, or writes them.
fn settings_are_declared() {
    let node = "packaging/npm/lib/index.d.ts";
    let python = "packaging/python/apply_patch/_native.pyi";
    let (patch, workspace) =
        (settings(Scope::Patch, in_script), settings(Scope::Workspace, in_script));
    for (path, head, end, made) in [
        (node, "export interface PatchSettings {", "\n}", &patch),
        (node, "export interface WorkspaceSettings extends PatchSettings {", "\n}", &workspace),
        ("crates/wasm/src/lib.rs", "export interface PatchSettings {", "\n}", &patch),
        (
            python,
            "class PatchSettings(TypedDict, total=False):",
            "\n\n",
            &settings(Scope::Patch, in_python),
        ),
        (
            python,
            "class WorkspaceSettings(PatchSettings, total=False):",
            "\n\n",
            &settings(Scope::Workspace, in_python),
        ),
    ] {
        let text = read(path);
        let declared = part(&text, head, end);
        if std::env::var_os("UPDATE_TOOLS").is_some() {
            let (old, new) = (format!("{head}{declared}{end}"), format!("{head}{made}{end}"));
            std::fs::write(full(path), text.replacen(&old, &new, 1)).expect("it is written");
        } else {
            assert!(declared == made, "{path}, {head}: see the head of this file");
        }
    }
}

/// The names that are declared in a part of a file.
fn declared(text: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let name = line.trim().split_once(':')?.0.trim_end_matches('?').to_owned();
        name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| snake(&name))
    };
    text.lines().filter_map(name).collect()
}

/// The names that an interface has, with those of the one that it extends.
fn in_interface(text: &str, name: &str) -> BTreeSet<String> {
    let (head, body) =
        part(text, &format!("export interface {name} "), "\n}").split_once('{').expect("a body");
    let mut names = declared(body);
    names.extend(
        head.strip_prefix("extends ").iter().flat_map(|base| in_interface(text, base.trim())),
    );
    names
}

/// The same of a class of Python.
fn in_class(text: &str, name: &str) -> BTreeSet<String> {
    let (base, body) = part(text, &format!("class {name}("), "\n\n")
        .split_once(", total=False):")
        .expect("a body");
    let mut names = declared(body);
    if base != "TypedDict" {
        names.extend(in_class(text, base));
    }
    names
}

/// The names of the same option in Python and in JavaScript.
fn same(names: BTreeSet<String>) -> BTreeSet<String> {
    let one = |name: String| match &*name {
        "from" => "form".into(),
        "expected" => "expected_sha256_by_path".into(),
        _ => name,
    };
    names.into_iter().map(one).collect()
}

#[test]
fn the_packages_declare_every_option_and_no_other() {
    settings_are_declared();
    let node = read("packaging/npm/lib/index.d.ts");
    let python = read("packaging/python/apply_patch/_native.pyi");
    let wasm = read("crates/wasm/src/lib.rs");
    let of_node = |name: &str| in_interface(&node, name);
    let of_python = |name: &str| in_class(&python, name);
    let without = |mut names: BTreeSet<String>, more: &[&str]| {
        names.retain(|name| !more.contains(&&**name));
        names
    };
    let id = &["id"][..];
    for (what, declared, taken) in [
        ("Node's PatchOptions", of_node("PatchOptions"), taken::<PatchOptions>()),
        ("Python's PatchOptions", of_python("PatchOptions"), taken::<PatchOptions>()),
        ("Node's WorkspaceOptions", of_node("WorkspaceOptions"), taken::<WorkspaceOptions>()),
        ("Python's WorkspaceOptions", of_python("WorkspaceOptions"), taken::<WorkspaceOptions>()),
        ("Node's UndoOptions", of_node("UndoOptions"), without(taken::<UndoRequest>(), id)),
        ("Python's UndoOptions", of_python("UndoOptions"), without(taken::<UndoRequest>(), id)),
        ("Node's RedoOptions", of_node("RedoOptions"), without(taken::<RedoRequest>(), id)),
        ("Python's RedoOptions", of_python("RedoOptions"), without(taken::<RedoRequest>(), id)),
        ("Node's NetOptions", of_node("NetOptions"), taken::<NetRequest>()),
        ("Python's NetOptions", of_python("NetOptions"), taken::<NetRequest>()),
        ("Node's toolSpecs", declared(part(&node, "export function toolSpecs(", "): any")), {
            let mut names = taken::<SpecRequest>();
            names.extend(["provider".into(), "options".into()]);
            names
        }),
        ("Python's SpecOptions", of_python("SpecOptions"), taken::<SpecRequest>()),
        ("Node's fit", declared(part(&node, "export function fit(", "): FittedGrammar")), {
            let mut names = taken::<FitRequest>();
            names.extend(["files".into(), "options".into()]);
            names
        }),
        ("Python's FitOptions", of_python("FitOptions"), taken::<FitRequest>()),
        (
            "Node's GitTree.apply",
            declared(part(&node, "Callbacks & {", "}")),
            taken::<GitOptions>(),
        ),
        (
            "the browser's PatchOptions",
            in_interface(&wasm, "PatchOptions"),
            without(taken::<PatchOptions>(), &["amend", "atomic", "partial", "diff"]),
        ),
    ] {
        assert_eq!(same(declared), same(taken), "{what}");
    }
    let of_git = part(&python, "class GitTree:", "\n@final");
    let of_git = self::declared(part(of_git, "def apply(", "**options"));
    let missing: Vec<_> = taken::<GitOptions>().difference(&of_git).cloned().collect();
    assert_eq!(missing, [] as [&str; 0], "Python's GitTree.apply");
}

#[test]
fn every_setting_is_an_option() {
    for (key, scope) in Layer::KEYS {
        let (patch, all) = (taken::<PatchOptions>(), taken::<WorkspaceOptions>());
        assert_eq!(patch.contains(&snake(key)), *scope == Scope::Patch, "{key} of a patch");
        assert_eq!(all.contains(&snake(key)), *scope != Scope::Terminal, "{key} of a workspace");
    }
}

#[test]
fn every_flag_of_apply_is_an_option() {
    let help = read("tests/cmd/help.trycmd");
    let help = part(&help, "$ apply-patch apply --help", "\n```");
    let mut options = taken::<PatchOptions>();
    options.extend(taken::<WorkspaceOptions>());
    let mut known = BTreeSet::new();
    for line in help.lines().map(str::trim_start) {
        let long = line.split_once(", ").filter(|(short, _)| short.len() == 2);
        let Some(flag) = long.map_or(line, |(_, long)| long).strip_prefix("--") else { continue };
        let flag = flag.split([' ', '[']).next().unwrap_or_default();
        let name = flag.strip_prefix("no-").filter(|name| options.contains(*name));
        let name = if flag == "expect" { "expected" } else { name.unwrap_or(flag) };
        if !options.contains(&snake(name)) {
            let elsewhere = FLAGS.iter().any(|(known, _)| *known == flag);
            assert!(elsewhere, "--{flag}: neither an option, nor in the list above");
            known.insert(flag);
        }
    }
    let listed: BTreeSet<_> = FLAGS.iter().map(|(flag, _)| *flag).collect();
    assert_eq!(listed, known);
}

#[test]
fn every_kind_of_error_has_a_class() {
    let kinds: BTreeSet<String> = ErrorKind::ALL.map(|kind| kind.as_str().to_owned()).into();
    let python = read("packaging/python/apply_patch/_errors.py");
    let script = read("packaging/npm/lib/index.js");
    let types = read("packaging/npm/lib/index.d.ts");
    let answers = read("packaging/npm/lib/answers.d.ts");
    let quoted = |text: &str| text.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    let in_python: BTreeSet<String> =
        quoted(part(&python, "_CLASSES: \"dict[str, type[PatchError]]\" = {", "\n}"));
    assert_eq!(in_python, kinds, "_errors.py");
    assert_eq!(declared(part(&script, "const errors = {", "\n}")), kinds, "index.js");
    let union: BTreeSet<String> = quoted(part(&answers, "export type ErrorKind =", ";"));
    assert_eq!(union, kinds, "answers.d.ts");
    let of_class = |line: &str| {
        let kind = line.trim().strip_prefix("readonly kind: \"")?.strip_suffix("\";")?;
        Some(kind.to_owned())
    };
    assert_eq!(types.lines().filter_map(of_class).collect::<BTreeSet<_>>(), kinds, "index.d.ts");
}
