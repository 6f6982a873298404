//! Every hint of the file tools and of the editor tool can be obeyed, as `obeyed.rs` has it for
//! patches.
//!
//! The paths below, tried with every argument that takes one, and the other calls that `testutils`
//! has for each tool are the error situations. What there has to be is read from the code: the
//! kinds that the description of a tool names, the reasons that its source file gives, and those of
//! the guard.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use file_tools::ToolInfo;
use file_tools::Tools as _;
use file_tools::vendor::edit_patch::EditPatch;
use file_tools::{FileTool, catalogue};
use patch_session::envelope::Failure;
use patch_session::line_tags::LineTags;

use fs_guard::Sha256;
use patch_engine::{Cancellation, Host};
use patch_session::{Caller, Reason, Session, Tool, ToolError};
use serde_json::{Value, json};

use crate::docs::reasons_in;
use crate::obeyed::{LARGE, all_of, consistent, session, session_that_waits};
use crate::scenarios::step;
use testutils::share::whole;
use testutils::temp::temp;
use testutils::tools::{self, filled};

/// The name that the editor tool has here.
const EDITOR: &str = "editor";

/// What there is in the workspace: steps as in the scenarios.
const SETUP: &[&str] = &[
    r"write a.txt one\ntwo\none\n",
    r"write g.txt text\n",
    r"write d/b.txt one\n",
    r"write gone.txt gone\n",
    r"write changed.txt changed\n",
    r"write bin a\0b\n",
    r"write latin caf\xe9 one\n",
    r"write .env KEY=1\n",
    r"write .envrc use\n",
    r"write bare/HEAD ref:\n",
    r"write bare/config [core]\n",
    "dir bare/objects",
    "dir bare/refs",
    "dir .git",
    r"write hard one\n",
    "hardlink hard2 hard",
    "symlink link a.txt",
    "symlink out /etc/hostname",
    "symlink dangling nothing",
    "fifo pipe",
    r"write read-only one\n",
    "mode 444 read-only",
];

/// Paths, each of which something is wrong with for some tool.
fn paths() -> Vec<String> {
    let mut paths: Vec<String> = [
        "a.txt",
        "A.txt",
        "b/a.txt",
        "d",
        "d/",
        "d//b.txt",
        "d/./b.txt",
        "d\\b.txt",
        "d/../a.txt",
        "../x",
        "/etc/hostname",
        "~/x",
        "",
        ".",
        "none.txt",
        "no/where/x.txt",
        "a.txt/x",
        "bin",
        "latin",
        ".env",
        ".envrc",
        ".git/config",
        ".hg/hgrc",
        "bare/config",
        ".apply-patch/x",
        "hard",
        "link",
        "out",
        "dangling",
        "pipe",
        "read-only",
        "large",
        "CON",
        "a\u{7}b",
        "a\u{202e}b",
        "changed.txt",
    ]
    .map(str::to_owned)
    .to_vec();
    paths.push("n".repeat(300));
    paths.push("deep/".repeat(300) + "x");
    paths
}

/// Every call with this path.
fn with_path(path: &str) -> Vec<(&'static str, Value)> {
    let of_tools = tools::all().into_iter().flat_map(|known| {
        known.paths.into_iter().map(move |args| (known.name, filled(&args, "{path}", path)))
    });
    let of_editor = [
        json!({ "command": "view", "path": path }),
        replace(path, "two", "2"),
        json!({ "command": "create", "path": path, "file_text": "new\n" }),
        json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": "new\n" }),
    ];
    of_tools.chain(of_editor.map(|args| (EDITOR, args))).collect()
}

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({ "command": "str_replace", "path": path, "old_str": old, "new_str": new })
}

/// Other calls that are refused.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = vec![("no_such_tool", json!({}))];
    for known in tools::all() {
        calls.extend(known.refused.into_iter().map(|args| (known.name, args)));
    }
    let of_editor = [
        json!({ "command": "undo_edit" }),
        json!({ "command": "view" }),
        json!({ "command": "view", "path": "a.txt", "view_range": [3, 1] }),
        json!({ "command": "view", "path": "a.txt", "view_range": [9, 12] }),
        json!({ "command": "view", "path": "d", "view_range": [1, 1] }),
        json!({ "command": "str_replace", "path": "a.txt", "old": "x" }),
        replace("a.txt", "", "x"),
        replace("a.txt", "one", "1"),
        replace("a.txt", "one", "one"),
        replace("a.txt", "tow", "2"),
        json!({ "command": "insert", "path": "a.txt", "insert_line": 9, "insert_text": "x" }),
        // What others changed in the same place.
        replace("changed.txt", "mine", "2"),
    ];
    calls.extend(of_editor.map(|args| (EDITOR, args)));
    // Arguments that are missing, unknown, misspelt and of another type.
    for tool in Tool::usual() {
        let name = tool.as_str();
        let required =
            ToolInfo::of(tool).input_schema["required"].as_array().cloned().unwrap_or_default();
        calls.push((name, json!({ "nonsense": 1 })));
        if let Some(first) = required.first().and_then(Value::as_str) {
            calls.push((name, json!({})));
            calls.push((name, json!({ first: 1 })));
            calls.push((name, json!({ format!("{first}s"): "a.txt" })));
        }
    }
    calls
}

/// A workspace in which something was deleted, and something changed after it was written.
struct Bench {
    around: tempfile::TempDir,
    session: Session,
    /// What stands for what in the arguments of calls: `{gone}` for the transaction that deleted
    /// `gone.txt`, `{changed}` for one whose file was changed since, `{two}` for one that deleted
    /// two files, `{sha a.txt}` for the hash of a file.
    names: Vec<(String, String)>,
}

impl Bench {
    fn new() -> Self {
        let around = temp();
        let workspace = around.path().join("ws");
        fs::create_dir(&workspace).expect("a folder");
        SETUP.iter().for_each(|line| step(&workspace, line));
        fs::write(workspace.join("large"), "x\n".repeat(LARGE as usize)).expect("a file");
        let bench = Self { session: session(&workspace, around.path()), names: Vec::new(), around };
        let id = |tool: &str, args: Value| {
            let (_, answer) = bench.run(tool, &args);
            answer["data"]["transactionId"]
                .as_str()
                .unwrap_or_else(|| panic!("{answer}"))
                .to_owned()
        };
        let two =
            "*** Begin Patch\n*** Add File: two/a\n+1\n*** Add File: two/b\n+2\n*** End Patch\n";
        id("apply_patch", json!({ "patch": two, "profile": "codex" }));
        let mine = json!({
            "path": "changed.txt", "content": "mine\n",
            "expectedSha256": sha(&workspace, "changed.txt"),
        });
        let ids = [
            ("two", id("delete_file", json!({ "path": "two", "recursive": true }))),
            ("changed", id("write_file", mine)),
            ("gone", id("delete_file", json!({ "path": "gone.txt" }))),
        ];
        let mut names = ids.map(|(name, id)| (format!("{{{name}}}"), id)).to_vec();
        let later = "*** Begin Patch\n*** Add File: later\n+1\n*** End Patch\n";
        for name in ["{withdrawn}", "{proposal}"] {
            let (_, proposed) = bench.run("propose", &json!({ "patch": later }));
            let proposed = proposed["data"]["proposalId"].as_str().expect("an id");
            names.push((name.to_owned(), proposed.to_owned()));
        }
        bench.run("proposal", &json!({ "id": names[3].1, "withdraw": true }));
        let hashed = ["a.txt", "bin", "g.txt", "latin"];
        names.extend(hashed.map(|path| (format!("{{sha {path}}}"), sha(&workspace, path))));
        fs::write(workspace.join("changed.txt"), "theirs\n").expect("a file");
        Self { names, ..bench }
    }

    fn workspace(&self) -> PathBuf {
        self.around.path().join("ws")
    }

    /// Whether it failed for a reason other than its arguments, and the answer.
    fn run(&self, tool: &str, args: &Value) -> (bool, Value) {
        self.run_as(tool, args, &mut ())
    }

    fn run_as(&self, tool: &str, args: &Value, host: &mut dyn Host) -> (bool, Value) {
        let names = self.names.iter();
        let args = names.fold(args.clone(), |args, (name, value)| filled(&args, name, value));
        let own = |result: Result<Value, ToolError>, caller: Caller| match result {
            Ok(value) => json!({ "ok": true, "data": value }),
            Err(error) => {
                serde_json::to_value(Failure::from(error.addressed(caller))).expect("text keys")
            }
        };
        // These two answer with text: the hints are behind it.
        let answer = match (tool, serde_json::from_value::<EditPatch>(args.clone())) {
            (EDITOR, _) => {
                own(self.session.try_editor(&args, None, host).map(Value::from), Caller::Editor)
            }
            ("edit.patch", Ok(args)) => {
                let result = args.call(&self.session, host).map(|success| json!(success.data));
                own(result, Caller::Tool(Tool::EditPatch))
            }
            _ => serde_json::to_value(self.session.call(tool, &args, host)).expect("text keys"),
        };
        (answer["ok"] == false, answer)
    }
}

fn sha(workspace: &Path, path: &str) -> String {
    Sha256::of(&bytes_of(workspace, path)).to_string()
}

/// The bytes of a file; none of what is none, such as a pipe, which would be waited for.
fn bytes_of(workspace: &Path, path: &str) -> Vec<u8> {
    let path = workspace.join(path);
    if path.is_file() { fs::read(path).unwrap_or_default() } else { Vec::new() }
}

fn text_of(workspace: &Path, path: &str) -> String {
    String::from_utf8_lossy(&bytes_of(workspace, path)).into_owned()
}

/// Sets an argument, which may be within another: `edits[0].oldText`.
fn set(args: &mut Value, argument: &str, value: Value) {
    // Paths are keys here, dots and all.
    if let Some(path) = argument.strip_prefix("expectedSha256ByPath.") {
        args["expectedSha256ByPath"][path] = value;
        return;
    }
    let pointer = format!("/{}", argument.replace(['.', '['], "/").replace(']', ""));
    match args.pointer_mut(&pointer) {
        Some(place) => *place = value,
        None => {
            let (parent, name) = pointer.rsplit_once('/').expect("it begins with one");
            args.pointer_mut(parent).unwrap_or_else(|| panic!("{argument} has no place"))[name] =
                value;
        }
    }
}

fn remove(args: &mut Value, argument: &str) -> Value {
    if let Some(path) = argument.strip_prefix("expectedSha256ByPath.") {
        return args["expectedSha256ByPath"]
            .as_object_mut()
            .and_then(|paths| paths.remove(path))
            .unwrap_or_default();
    }
    let pointer = format!("/{}", argument.replace(['.', '['], "/").replace(']', ""));
    let (parent, name) = pointer.rsplit_once('/').expect("it begins with one");
    args.pointer_mut(parent)
        .and_then(|parent| parent.as_object_mut()?.remove(name))
        .unwrap_or_default()
}

/// A value that is what the hint wants.
fn wanted(workspace: &Path, args: &Value, argument: &str, wanted: &str) -> Value {
    let path = ["path", "fromPath"].iter().find_map(|name| args[*name].as_str()).unwrap_or("a.txt");
    let path = argument.strip_prefix("expectedSha256ByPath.").unwrap_or(path);
    if let Some(choices) = wanted.strip_prefix("one of ") {
        return serde_json::Deserializer::from_str(choices)
            .into_iter()
            .next()
            .expect("a choice")
            .expect("JSON");
    }
    if let Some((_, example)) = wanted.split_once("a pattern such as ") {
        let example = example.trim_matches('`');
        return if argument.ends_with("Globs") { json!([example]) } else { example.into() };
    }
    match wanted {
        "an integer from 0" | "an integer" => 1.into(),
        "a string" => "a.txt".into(),
        "a list" | "a list of at least one edit" => json!([{ "oldText": "two", "newText": "2" }]),
        "true or false" => true.into(),
        "an object" => json!({}),
        "a directory" => "d".into(),
        "a line by its number and tag, as read_file with tags prints it" => {
            let text = text_of(workspace, path);
            (LineTags::of(text.as_bytes(), 2..=2).before(2) + "two").into()
        }
        "a text of the file without U+FFFD" => {
            let text = text_of(workspace, path);
            text.trim_end().rsplit(char::REPLACEMENT_CHARACTER).next().into()
        }
        "a path where nothing is" => "chosen.txt".into(),
        "a text to look for" | "one line" | "one line, a Rust regular expression" => "one".into(),
        "a text of the file" | "a longer text of the file, which is there once" => {
            text_of(workspace, path).into()
        }
        "[first, last] with 1 <= first <= last, or last -1" => json!([1, -1]),
        range if range.starts_with("[first, last] with first at most ") => json!([1, -1]),
        "empty text, to make a new file" => "".into(),
        "the sha256 that read_file gives for the file, unchanged" => sha(workspace, path).into(),
        "the proposalId of an answer to this session" => "{proposal}".into(),
        // The next call of the chain fills it in.
        "trashedTo of the answer that took the file away, unchanged" => "{trashedTo}".into(),
        range
            if range
                .split_once(" to ")
                .is_some_and(|(first, last)| first == "0" && last.parse::<u64>().is_ok()) =>
        {
            0.into()
        }
        other => panic!("no rule for what is wanted: {other:?}"),
    }
}

/// The calls, one after the other, of a caller that does what the hint says; none when a person has
/// to decide, or only time helps. `{trashedTo}` in one is from the answer to the one before.
pub(crate) fn obeyed(
    workspace: &Path,
    tool: &str,
    args: &Value,
    error: &Value,
    hint: &Value,
) -> Vec<(String, Value)> {
    let text = |key: &str| hint[key].as_str().unwrap_or_default().to_owned();
    let again = |args: Value| (tool.to_owned(), args);
    let path_names = ["path", "fromPath", "toPath", "root", "targetPath", "workspace_root"];
    let renamed = |from: &str, to: &str| {
        let mut args = args.clone();
        for name in path_names {
            // A long one is shortened in the error.
            if args[name].as_str().is_some_and(|path| path == from || from.contains('…')) {
                args[name] = to.into();
            }
        }
        for path in args["paths"].as_array_mut().into_iter().flatten() {
            *path = to.into();
        }
        args
    };
    let schema = Tool::named(tool).map(|tool| ToolInfo::of(tool).input_schema).unwrap_or_default();
    let is_of_directory =
        schema["properties"].as_object().into_iter().flatten().any(|(name, it)| {
            args.get(name).is_some() && it["description"].as_str().unwrap().starts_with("Directory")
        });
    match hint["hint"].as_str().expect("a hint has a name") {
        "ask_person" | "leave_alone" | "try_again" => Vec::new(),
        "use_argument" => {
            let mut args = args.clone();
            set(&mut args, &text("argument"), hint["value"].clone());
            vec![again(args)]
        }
        "correct_arguments" => {
            let mut args = args.clone();
            let mut before = None;
            if !args.is_object() {
                args = json!({});
            }
            for change in hint["arguments"].as_array().expect("a list") {
                let argument = change["argument"].as_str().expect("a name");
                match change["change"].as_str().expect("a change") {
                    "omit" => drop(remove(&mut args, argument)),
                    "rename" => {
                        let value = remove(&mut args, argument);
                        set(&mut args, change["to"].as_str().expect("a name"), value);
                    }
                    "set" => set(&mut args, argument, change["value"].clone()),
                    "give" => {
                        let value = wanted(
                            workspace,
                            &args,
                            argument,
                            change["wanted"].as_str().expect("words"),
                        );
                        if value == "{trashedTo}" {
                            before = Some(("delete_file".to_owned(), json!({ "path": "g.txt" })));
                        }
                        set(&mut args, argument, value);
                    }
                    other => panic!("no rule for {other:?}"),
                }
            }
            before.into_iter().chain([again(args)]).collect()
        }
        "use_tags" => {
            let mut args = args.clone();
            let lines = hint["lines"].as_array().expect("lines");
            let edits = args["edits"].as_array_mut().expect("edits");
            for edit in edits.iter_mut().filter(|edit| edit["from"].is_string()) {
                let number = edit["from"].as_str().unwrap_or_default().split('#').next();
                let of_number = |line: &&Value| line.as_str().unwrap().split('#').next() == number;
                edit["from"] = lines.iter().find(of_number).unwrap_or(&lines[0]).clone();
            }
            vec![again(args)]
        }
        // It shows the tools.
        "use_command" => {
            assert_eq!(hint["command"], "apply-patch tool --list");
            vec![("list_directory".into(), json!({}))]
        }
        "use_tool" => {
            let (other, path) = (text("tool"), text("path"));
            let whole = text_of(workspace, &path);
            // The first line is there twice.
            let old = whole
                .lines()
                .nth(1)
                .or_else(|| whole.lines().next())
                .unwrap_or_default()
                .to_owned();
            match &*other {
                // Instead of a command for files.
                "view" if error["details"]["reason"] == "directory" => {
                    vec![(EDITOR.into(), json!({ "command": "view", "path": path }))]
                }
                "view" => vec![
                    (EDITOR.into(), json!({ "command": "view", "path": path })),
                    again(args.clone()),
                ],
                "str_replace" => {
                    let command = json!({
                        "command": "str_replace", "path": path, "old_str": old, "new_str": "new",
                    });
                    vec![
                        (EDITOR.into(), json!({ "command": "view", "path": path })),
                        (EDITOR.into(), command),
                    ]
                }
                "create" => {
                    let command = json!({ "command": "create", "path": path, "file_text": "new" });
                    vec![
                        (EDITOR.into(), json!({ "command": "view", "path": path })),
                        (EDITOR.into(), command),
                    ]
                }
                // First, or instead: a file is read to be changed, a directory is listed instead.
                "read_file" if !is_of_directory => {
                    vec![(other, json!({ "path": path })), again(args.clone())]
                }
                "read_file" | "list_directory" => vec![(other, json!({ "path": path }))],
                "glob" => vec![(other, json!({ "pattern": "**/*", "root": path }))],
                "write_file" => vec![
                    ("read_file".into(), json!({ "path": path })),
                    (other, json!({ "path": path, "content": "new" })),
                ],
                "edit_file" => {
                    let edits = json!([{ "oldText": old, "newText": "new" }]);
                    vec![
                        ("read_file".into(), json!({ "path": path })),
                        (other, json!({ "path": path, "edits": edits })),
                    ]
                }
                "move_file" => {
                    let away = json!({ "fromPath": path, "toPath": "away.txt" });
                    vec![
                        ("read_file".into(), json!({ "path": path })),
                        (other, away),
                        again(args.clone()),
                    ]
                }
                "delete_file" => vec![(other, json!({ "path": path }))],
                "create_file" => vec![(other, json!({ "path": path, "content": "new" }))],
                other => panic!("no rule for the tool {other:?}"),
            }
        }
        "read_again" => {
            let path = text("path");
            let mut args = args.clone();
            if args.get("expectedSha256").is_some() {
                args["expectedSha256"] = sha(workspace, &path).into();
            }
            let whole = text_of(workspace, &path);
            let first = hint["startLine"].as_u64().unwrap_or(1) as usize;
            let last = hint["endLine"].as_u64().unwrap_or(u64::from(u32::MAX)) as usize;
            let copied: Vec<&str> = whole.lines().skip(first - 1).take(last + 1 - first).collect();
            let copied = copied.join("\n");
            if args.get("old_str").is_some() {
                args["old_str"] = copied.into();
            } else if args["edits"].is_array() {
                let index = error["details"]["editIndex"].as_u64().unwrap_or(0) as usize;
                args["edits"][index]["oldText"] = copied.into();
            }
            let read = match tool {
                EDITOR => (EDITOR.to_owned(), json!({ "command": "view", "path": path })),
                _ => ("read_file".to_owned(), json!({ "path": path })),
            };
            vec![read, again(args)]
        }
        "add_text" => {
            let wider = |old: &Value| {
                let around = |key: &str| hint[key].as_str().unwrap_or_default();
                format!(
                    "{}{}{}",
                    around("before"),
                    old.as_str().unwrap_or_default(),
                    around("after")
                )
            };
            let mut args = args.clone();
            let (texts, names) = match tool {
                EDITOR => (&mut args, ["old_str", "new_str"]),
                _ => (
                    &mut args["edits"]
                        [error["details"]["editIndex"].as_u64().unwrap_or(0) as usize],
                    ["oldText", "newText"],
                ),
            };
            names.into_iter().for_each(|name| texts[name] = wider(&texts[name]).into());
            vec![again(args)]
        }
        "rename_path" => vec![again(renamed(&text("from"), &text("to")))],
        "choose_path" => {
            let chosen = match text("like") {
                _ if is_of_directory => "d",
                like if like.contains("exists") && !like.contains("directory that exists") => {
                    "g.txt"
                }
                _ => "chosen.txt",
            };
            vec![again(renamed(&text("path"), chosen))]
        }
        "leave_out" => match &*text("part") {
            // Nothing is left of a command.
            "edit" if tool == EDITOR => Vec::new(),
            "edit" => {
                let mut args = args.clone();
                let index = error["details"]["editIndex"].as_u64().unwrap_or(0) as usize;
                args["edits"].as_array_mut().expect("edits").remove(index);
                vec![again(args)]
            }
            "not_ascii" => {
                let ascii: String = args.to_string().chars().filter(char::is_ascii).collect();
                vec![again(serde_json::from_str(&ascii).expect("JSON"))]
            }
            part => panic!("{part} is not a part of these"),
        },
        "join" => {
            // The other edit has it all.
            let mut args = args.clone();
            let edits = args["edits"].as_array_mut().expect("edits");
            let other = hint["other"].as_u64().expect("a number") as usize - 1;
            edits.retain({
                let mut at = 0;
                move |_| {
                    at += 1;
                    at - 1 == other
                }
            });
            vec![again(args)]
        }
        other => panic!("no rule for {other:?}: {hint}"),
    }
}

/// Whether the hint is about a patch: `obeyed.rs` obeys those, for every scenario.
fn of_a_patch(tool: &str, args: &Value) -> bool {
    ["apply_patch", "edit.patch", "propose"].contains(&tool) && args.get("workspace_root").is_none()
}

/// Gives up before it begins.
struct Cancelling;

impl Host for Cancelling {
    fn cancellation(&self) -> Cancellation {
        Cancellation::new(|| true)
    }
}

#[derive(Default)]
struct Seen {
    kinds: BTreeSet<(String, String)>,
    reasons: BTreeSet<(String, String)>,
    hints: BTreeSet<String>,
    obeyed: BTreeSet<String>,
    failed: Vec<String>,
}

impl Seen {
    /// Makes the call, and obeys each hint of its error, unless the tool gave one of this kind for
    /// the same reason before. Gives whether the call failed, and the workspace is as it was.
    fn call(&mut self, bench: &Bench, tool: &str, args: &Value) -> bool {
        let (failed, answer) = bench.run(tool, args);
        if !failed {
            return false;
        }
        // A line of text; its hints were seen with the same errors of the other tools.
        if let Some(line) = answer["error"].as_str() {
            assert!(line.contains("; next: "), "{tool} {args}: {line}");
            return true;
        }
        self.error(tool, &answer);
        let mut wrong = Vec::new();
        wrong.extend(consistent(&answer["error"]).err());
        let words = answer["error"]["suggestedNextAction"].as_str().unwrap_or_default();
        let foreign: &[&str] =
            if tool == EDITOR { &["oldText", "newText", "read_file", "--"] } else { &[" `--"] };
        let person = answer["error"]["hints"][0]["hint"] == "ask_person";
        wrong.extend(
            foreign
                .iter()
                .filter(|word| words.contains(*word) && !person)
                .map(|word| format!("{word} is not the caller's")),
        );
        for (_, hints) in all_of(&answer["error"]).iter().filter(|_| !of_a_patch(tool, args)) {
            for hint in hints {
                let name = hint["hint"].as_str().unwrap_or_default();
                self.hints.insert(name.to_owned());
                let reason = answer["error"]["details"]["reason"].as_str().unwrap_or_default();
                if !self.obeyed.insert(format!("{tool} {reason} {name} {}", hint["tool"]))
                    && !whole()
                {
                    continue;
                }
                let chain = obeyed(&bench.workspace(), tool, args, &answer["error"], hint);
                let fresh = Bench::new();
                let mut now = None;
                for (tool, mut args) in chain.clone() {
                    if let Some((_, before)) = &now {
                        let trashed = |before: &Value| {
                            before["data"]["trashedTo"].as_str().map(ToOwned::to_owned)
                        };
                        let text = args
                            .to_string()
                            .replace("{trashedTo}", &trashed(before).unwrap_or_default());
                        args = serde_json::from_str(&text).expect("JSON");
                    }
                    now = Some(fresh.run(&tool, &args));
                }
                if now.is_some_and(|(failed, now)| {
                    failed && now["error"]["message"] == answer["error"]["message"]
                }) {
                    wrong.push(format!("{hint} changes nothing: {chain:?}"));
                }
            }
        }
        if !wrong.is_empty() {
            self.failed
                .push(format!("--- {tool} {args:.300}\n{}\n{answer:.1500}", wrong.join("\n")));
        }
        true
    }

    fn error(&mut self, tool: &str, answer: &Value) {
        let error = &answer["error"];
        let text = |value: &Value| {
            value.as_str().unwrap_or_else(|| panic!("{tool}: no reason: {answer}")).to_owned()
        };
        self.kinds.insert((tool.into(), text(&error["kind"])));
        self.reasons.insert((tool.into(), text(&error["details"]["reason"])));
    }
}

#[test]
fn every_hint_of_the_file_tools_can_be_obeyed() {
    let mut seen = Seen::default();
    let mut bench = Bench::new();
    for (tool, args) in paths().iter().flat_map(|path| with_path(path)).chain(calls()) {
        // A call that does something leaves another workspace behind.
        if !seen.call(&bench, tool, &args) {
            bench = Bench::new();
        }
    }
    // What is read, and changed by someone else.
    for (tool, args) in with_path("a.txt").into_iter().chain([(
        "apply_patch",
        json!({ "patch": "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n" }),
    )]) {
        let fresh = Bench::new();
        fresh.run("read_file", &json!({ "path": "a.txt" }));
        fs::write(fresh.workspace().join("a.txt"), "theirs\ntwo\n").expect("a file");
        seen.call(&fresh, tool, &args);
    }
    // What another process holds, and what the caller gives up.
    let held = session(&bench.workspace(), bench.around.path());
    let lock = held.workspace().lock(Duration::ZERO).expect("the lock");
    let brief = Duration::from_millis(50);
    let brief = session_that_waits(&bench.workspace(), bench.around.path(), brief);
    let patient = std::mem::replace(&mut bench.session, brief);
    for (tool, args) in with_path("a.txt").into_iter().chain(calls()) {
        let (failed, answer) = bench.run(tool, &args);
        if failed && answer["error"]["kind"] == "timeout" {
            seen.error(tool, &answer);
            seen.failed.extend(consistent(&answer["error"]).err());
        }
    }
    drop(lock);
    bench.session = patient;
    for (tool, args) in with_path(".") {
        let (failed, answer) = bench.run_as(tool, &args, &mut Cancelling);
        if failed && answer["error"]["kind"] == "cancelled" {
            seen.error(tool, &answer);
            seen.failed.extend(consistent(&answer["error"]).err());
        }
    }
    assert!(seen.failed.is_empty(), "{} fail\n{}", seen.failed.len(), seen.failed.join("\n"));
    seen.complete();
}

impl Seen {
    /// Holds what was seen against what the code can give.
    fn complete(&self) {
        let mut wrong = Vec::new();
        for tool in catalogue() {
            let (_, errors) =
                tool.description.split_once("\nErrors").expect("every description has them");
            let errors = errors.split("\nExample").next().unwrap_or_default();
            let described: BTreeSet<&str> = errors
                .split(|c: char| !(c.is_ascii_lowercase() || c == '_'))
                .filter(|word| {
                    patch_engine::ErrorKind::ALL.iter().any(|kind| kind.as_str() == *word)
                })
                .collect();
            let found: BTreeSet<&str> = self
                .kinds
                .iter()
                .filter(|(name, _)| name == tool.name)
                .map(|(_, kind)| &**kind)
                .collect();
            // Arguments that do not fit, a lock that is held, a call that is given up, a file
            // beyond the limit: the same for every tool.
            let common =
                BTreeSet::from(["command_failed", "timeout", "cancelled", "file_too_large"]);
            let missing: Vec<_> = described.difference(&found).collect();
            let silent: Vec<_> =
                found.difference(&described).filter(|kind| !common.contains(*kind)).collect();
            if !missing.is_empty() || !silent.is_empty() {
                wrong.push(format!(
                    "{}: no call in crates/testutils/src/tools.rs fails with {missing:?}; the \
                     description lacks {silent:?}",
                    tool.name
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let folders = ["tools", "vendor"]
            .map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/src").join(folder));
        let given = |file: &Path| -> Vec<Reason> {
            let text = fs::read_to_string(file).expect("a source file");
            let named = |reason: &Reason| text.contains(&format!("Reason::{reason:?}"));
            Reason::ALL.into_iter().filter(named).collect()
        };
        for tool in Tool::usual().map(Tool::as_str).chain([EDITOR]) {
            let name = match tool {
                EDITOR => "editor.rs".to_owned(),
                tool => format!("{}.rs", tool.replace('.', "_")),
            };
            let mut files = folders.iter().map(|folder| folder.join(&name));
            let file = files.find(|file| file.exists()).expect(&name);
            for reason in given(&file) {
                let wanted = (tool.to_owned(), reason.as_str().to_owned());
                assert!(
                    self.reasons.contains(&wanted),
                    "{tool}: no call is refused for {reason:?}; those of tools are in \
                     crates/testutils/src/tools.rs"
                );
            }
        }
        let reasons: BTreeSet<&str> = self.reasons.iter().map(|(_, reason)| &**reason).collect();
        // No tool gives these: the server does, the program, or the package for git; or they need a
        // broken state, a check, or another workspace.
        let others = [
            Reason::ApprovalRequired,
            Reason::BranchMoved,
            Reason::Changed,
            Reason::Declined,
            Reason::Elsewhere,
            Reason::NoProject,
            Reason::NoRoots,
            Reason::NoSuchPart,
            Reason::NotProposable,
            Reason::PlanDiffers,
            Reason::Proposed,
            Reason::TooManyToShow,
            Reason::UnfinishedBelow,
            Reason::UntrustedState,
            Reason::Unverified,
        ];
        let missing: Vec<_> = Reason::ALL
            .iter()
            .filter(|reason| !reasons.contains(reason.as_str()) && !others.contains(reason))
            .collect();
        assert_eq!(missing, [] as [&Reason; 0], "no call is refused for these");
        // These need mounts, another user, roots of a client, a race, or a path that JSON cannot
        // carry (see `tests/hostile`), or the approval of a link (see `tests/diffs.rs`).
        let elsewhere = [
            "mount",
            "other_device",
            "untrusted_state",
            "changed",
            "not_utf8",
            "io",
            "link_target",
        ];
        let guard =
            reasons_in(&["fs-guard/src/error.rs", "fs-guard/src/names.rs", "trash/src/error.rs"]);
        let missing: Vec<_> = guard
            .iter()
            .filter(|reason| !reasons.contains(&***reason) && !elsewhere.contains(&&***reason))
            .collect();
        assert_eq!(missing, [] as [&String; 0], "no path is refused for these");
        for hint in [
            "use_tool",
            "use_argument",
            "correct_arguments",
            "add_text",
            "read_again",
            "rename_path",
            "choose_path",
            "join",
        ] {
            assert!(self.hints.contains(hint), "no call gets {hint}: {:?}", self.hints);
        }
    }
}
