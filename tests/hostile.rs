//! Attacks: runs `tests/hostile/*.txt`, where every line with `=>` is one. Its README says what the
//! lines mean.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use patch_session::Tool;
use serde_json::{Value, json};

use crate::obeyed::{self, Call, Way};
use crate::obeyed_tools;
use crate::program::clean;
use crate::scenarios::{STATE, step, unescape};
use testutils::share::whole;
use testutils::temp::temp;
use testutils::tree::{self, Tree};

/// What is only outside the workspace, and must come neither into an answer nor into the workspace.
pub(crate) const CANARY: &str = "CANARY-d41f7c";
const TIME: Duration = Duration::from_secs(10);
/// 4 GiB, in the unit of `ulimit -v`.
const MEMORY: &str = "4194304";

#[test]
fn nothing_gets_out_and_nothing_is_lost() {
    let only = std::env::var("HOSTILE").unwrap_or_default();
    let attacks = attacks().into_iter().filter(|one| one.name.contains(&only));
    // One in ten finds most mistakes; those that are asked for by name are all tried.
    let every = if whole() || !only.is_empty() { 1 } else { 10 };
    let attacks: Vec<Attack> = attacks.step_by(every).collect();
    assert!(!attacks.is_empty(), "no attack is called {only:?}");
    let next = AtomicUsize::new(0);
    let results = Mutex::new((Vec::new(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, std::num::NonZero::get) {
            scope.spawn(|| {
                while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = attack.run();
                    let mut results = results.lock().expect("no other thread failed");
                    match result {
                        Ok(()) => {}
                        Err(Outcome::Skipped(why)) => {
                            results.1.push(format!("{}: {why}", attack.name))
                        }
                        Err(Outcome::Failed(what)) => {
                            results.0.push(format!("--- {}\n{what}", attack.name))
                        }
                    }
                }
            });
        }
    });
    let (failed, skipped) = results.into_inner().expect("no thread failed");
    skipped.iter().for_each(|line| testutils::skip!("{line}"));
    eprintln!("{} attacks: {} failed, {} skipped", attacks.len(), failed.len(), skipped.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// All attacks.
pub(crate) fn attacks() -> Vec<Attack> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the attacks")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

enum Outcome {
    Skipped(String),
    Failed(String),
}

impl From<String> for Outcome {
    fn from(what: String) -> Self {
        Self::Failed(what)
    }
}

/// One run of the program, and what it must come to.
pub(crate) struct Attack {
    pub(crate) name: String,
    setup: Vec<String>,
    pub(crate) args: Vec<Vec<u8>>,
    pub(crate) input: Vec<u8>,
    /// The answer is the one JSON object.
    json: bool,
    /// What it prints is for a program, byte for byte.
    piped: bool,
    exit: i32,
    kind: Option<String>,
    reason: Option<String>,
    absent: Vec<String>,
}

/// Reads a file of attacks.
fn read(file: &Path) -> Vec<Attack> {
    let text = fs::read_to_string(file).expect("a file in UTF-8");
    let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
    let (mut group, mut setup, mut attacks) = (String::new(), Vec::new(), Vec::<Attack>::new());
    let mut fresh = true;
    for line in text.lines() {
        let at = || format!("{stem}: {line:?}");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            (group, setup, fresh) = (title.to_owned(), Vec::new(), true);
        } else if let Some(text) = line.strip_prefix("|*") {
            let (count, text) =
                text.trim_start().split_once(' ').unwrap_or_else(|| panic!("{}", at()));
            let input = &mut attacks.last_mut().unwrap_or_else(|| panic!("{}", at())).input;
            let count = count.parse::<usize>().unwrap_or_else(|_| panic!("{}", at()));
            if text.contains("{n}") {
                (0..count).for_each(|number| {
                    input.extend(unescape(&text.replace("{n}", &number.to_string())))
                })
            } else {
                input.extend(unescape(text).repeat(count))
            }
        } else if let Some(text) = line.strip_prefix('|') {
            let input = &mut attacks.last_mut().unwrap_or_else(|| panic!("{}", at())).input;
            let (text, end) = text.strip_prefix('-').map_or((text, &b"\n"[..]), |text| (text, b""));
            input.extend(unescape(text.strip_prefix(' ').unwrap_or(text)));
            input.extend(end);
        } else if let Some(text) = line.strip_prefix("absent ") {
            attacks.last_mut().unwrap_or_else(|| panic!("{}", at())).absent.push(text.into());
        } else if let Some((what, wanted)) = line.rsplit_once(" => ") {
            fresh = false;
            let mut wanted = wanted.split(' ');
            let exit = wanted
                .next()
                .and_then(|exit| exit.parse().ok())
                .unwrap_or_else(|| panic!("{}", at()));
            let (kind, reason) =
                (wanted.next().map(str::to_owned), wanted.next().map(str::to_owned));
            for (name, args, input, json) in runs(what) {
                attacks.push(Attack {
                    name: format!("{stem}: {group}: {name}"),
                    setup: setup.clone(),
                    args,
                    input,
                    json,
                    piped: what.starts_with("pipe "),
                    exit,
                    kind: kind.clone(),
                    reason: reason.clone(),
                    absent: Vec::new(),
                });
            }
        } else {
            assert!(fresh, "{}: a step after an attack; begin another group", at());
            setup.push(line.to_owned());
        }
    }
    attacks
}

type Run = (String, Vec<Vec<u8>>, Vec<u8>, bool);

/// What a line asks to be run.
fn runs(what: &str) -> Vec<Run> {
    let plain = |args: &[&str]| args.iter().map(|arg| arg.as_bytes().to_vec()).collect::<Vec<_>>();
    let (verb, rest) = what.split_once(' ').unwrap_or((what, ""));
    match verb {
        "run" | "show" | "pipe" => {
            let args = rest.split(' ').map(unescape).collect();
            vec![(what.to_owned(), args, Vec::new(), verb == "run")]
        }
        "tool" => {
            let (name, args) = rest.split_once(' ').expect("tool NAME JSON");
            vec![(what.to_owned(), plain(&["tool", name, "--args", "-"]), args.into(), true)]
        }
        "try" => {
            let (ops, path) = rest.split_once(' ').expect("try OPERATIONS PATH");
            let path = unescape(path);
            ops.split(',')
                .flat_map(expand)
                .map(|op| {
                    let (args, input) = operation(op, &path);
                    (format!("{op} {}", String::from_utf8_lossy(&path)), plain(&args), input, true)
                })
                .collect()
        }
        _ => panic!("{what:?} is nothing to run"),
    }
}

fn expand(op: &str) -> Vec<&str> {
    match op {
        "patch" => vec!["add", "update", "delete", "from", "to", "codex", "diff"],
        "change" => vec!["create", "write", "edit", "remove", "take", "put"],
        "look" => vec!["read", "list", "search", "glob"],
        "all" => ["patch", "change", "look"].into_iter().flat_map(expand).collect(),
        op => vec![op],
    }
}

/// One way to reach for a path: arguments and standard input.
fn operation(op: &str, path: &[u8]) -> (Vec<&'static str>, Vec<u8>) {
    let around = |before: &str, after: &str| [before.as_bytes(), path, after.as_bytes()].concat();
    let patch = |before: &str, after: &str| {
        around(&format!("*** Begin Patch\n*** {before}"), &format!("{after}\n*** End Patch\n"))
    };
    let text = String::from_utf8_lossy(path);
    let tool =
        |name, args: Value| (vec!["tool", name, "--args", "-"], args.to_string().into_bytes());
    let sha = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806";
    let edits = json!([{ "oldText": "one", "newText": "two" }]);
    match op {
        "add" => (vec!["apply", "--create-parents"], patch("Add File: ", "\n+new")),
        "update" => (vec!["apply"], patch("Update File: ", "\n@@\n-one\n+two")),
        "delete" => (vec!["apply"], patch("Delete File: ", "")),
        "from" => (vec!["apply"], patch("Update File: ", "\n*** Move to: moved.txt")),
        "to" => (vec!["apply", "--create-parents"], patch("Update File: a.txt\n*** Move to: ", "")),
        "codex" => (vec!["apply", "--profile", "codex"], patch("Add File: ", "\n+new")),
        "diff" => (vec!["apply", "--from", "unified"], {
            [b"--- ", path, b"\n+++ ", path, b"\n@@ -1 +1 @@\n-one\n+two\n"].concat()
        }),
        "create" => tool(
            "create_file",
            json!({ "path": text, "content": "new", "createParentDirectories": true }),
        ),
        "write" => {
            tool("write_file", json!({ "path": text, "content": "new", "expectedSha256": sha }))
        }
        "edit" => tool("edit_file", json!({ "path": text, "expectedSha256": sha, "edits": edits })),
        "remove" => tool("delete_file", json!({ "path": text, "recursive": true })),
        "erase" => {
            tool("delete_file", json!({ "path": text, "recursive": true, "permanent": true }))
        }
        "take" => tool(
            "move_file",
            json!({ "fromPath": text, "toPath": "moved.txt", "expectedSha256": sha }),
        ),
        "put" => {
            tool("move_file", json!({ "fromPath": "a.txt", "toPath": text, "expectedSha256": sha }))
        }
        "read" => tool("read_file", json!({ "path": text })),
        "list" => tool(
            "list_directory",
            json!({ "path": text, "recursive": true, "includeHidden": true }),
        ),
        "search" => {
            tool("search_files", json!({ "query": "CANARY", "mode": "text", "root": text }))
        }
        "glob" => tool("glob", json!({ "pattern": "**/*", "root": text })),
        _ => panic!("{op:?} is not an operation"),
    }
}

/// The workspace of an attack, and what is around it.
struct World {
    around: tempfile::TempDir,
    _home: tempfile::TempDir,
    mounts: String,
    env: Vec<(String, String)>,
}

impl World {
    fn ws(&self) -> PathBuf {
        self.around.path().join("ws")
    }

    /// Runs the program in it.
    fn run(&self, json: bool, args: &[Vec<u8>], input: &[u8]) -> Result<Ended, Outcome> {
        let (id, outside) = (newest(&self.ws()), self.around.path().join("outside"));
        let mut command = shell(&self.mounts, &self.ws(), &self.env);
        if json {
            command.arg("--json");
        }
        for arg in args {
            let arg = String::from_utf8_lossy(arg)
                .replace("{id}", &id)
                .replace("{outside}", outside.to_str().expect("UTF-8"));
            command.arg(arg);
        }
        finish(command.spawn().expect("a shell"), input)
    }
}

/// The arguments of a run, and its input.
type Step = (Vec<Vec<u8>>, Vec<u8>);

impl Attack {
    /// The workspace, and what is around it; `None` when it takes more than files.
    pub(crate) fn place(&self) -> Option<tempfile::TempDir> {
        let kernel = ["device", "owner", "mount", "bind", "sparse", "env", "tool"];
        if self
            .setup
            .iter()
            .any(|line| kernel.contains(&line.split(' ').next().unwrap_or_default()))
        {
            return None;
        }
        self.world().ok().map(|world| world.around)
    }

    /// Makes the workspace that is attacked.
    fn world(&self) -> Result<World, Outcome> {
        let (around, home) = (temp(), temp());
        let (ws, outside) = (around.path().join("ws"), around.path().join("outside"));
        fs::create_dir_all(ws.join("d")).expect("a new directory");
        fs::create_dir_all(outside.join("dir")).expect("a new directory");
        for (path, text) in [("ws/a.txt", "one\n"), ("ws/d/b.txt", "one\n")] {
            fs::write(around.path().join(path), text).expect("a new file");
        }
        for path in ["outside/secret", "outside/dir/secret"] {
            fs::write(around.path().join(path), format!("{CANARY}\none\n")).expect("a new file");
        }
        let mut mounts = String::new();
        let home_text = home.path().to_str().expect("UTF-8");
        let mut env = vec![("HOME".to_owned(), home_text.to_owned())];
        env.push(("XDG_STATE_HOME".to_owned(), format!("{home_text}/state")));
        for line in &self.setup {
            self.prepare(&ws, home.path(), line, &mut mounts, &mut env)?;
        }
        Ok(World { around, _home: home, mounts, env })
    }

    fn run(&self) -> Result<(), Outcome> {
        let world = self.world()?;
        let before = tree::look(world.around.path(), true);
        let run = world.run(self.json, &self.args, &self.input)?;
        let after = tree::look(world.around.path(), true);
        let mut wrong = Vec::new();
        self.answered(&run, &mut wrong);
        self.kept(self.exit == 0, &before, &after, &mut wrong);
        audited(&world.ws(), &mut wrong);
        if let (true, Ok(answer)) =
            (self.json && wrong.is_empty() && self.exit != 2, serde_json::from_slice(&run.1))
        {
            self.obey(&answer, &mut wrong)?;
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let cut = |text: &[u8]| String::from_utf8_lossy(&text[..text.len().min(1500)]).into_owned();
        Err(Outcome::Failed(format!(
            "{}\nexit {:?}\n{}\n{}",
            wrong.join("\n"),
            run.0,
            cut(&run.1),
            cut(&run.2)
        )))
    }

    /// Does what each hint of the answer says, in a workspace made anew: the answer is another
    /// then, and still nothing gets out.
    fn obey(&self, answer: &Value, wrong: &mut Vec<String>) -> Result<(), Outcome> {
        for (about, hints) in obeyed::all_of(&answer["error"]) {
            for hint in hints {
                let world = self.world()?;
                let Some(ways) = self.obedient(&world.ws(), &answer["error"], &about, &hint) else {
                    wrong.push(format!("{hint} is nothing that this command can do"));
                    continue;
                };
                let (mut changed, mut answers) = (ways.is_empty(), Vec::new());
                for steps in ways {
                    let world = self.world()?;
                    let before = tree::look(world.around.path(), true);
                    let mut last = Value::Null;
                    for (args, input) in steps {
                        let trashed = last["data"]["trashedTo"].as_str().unwrap_or_default();
                        let input = match std::str::from_utf8(&input) {
                            Ok(text) => text.replace("{trashedTo}", trashed).into_bytes(),
                            Err(_) => input,
                        };
                        let (code, stdout, stderr) = world.run(true, &args, &input)?;
                        if [&stdout, &stderr]
                            .into_iter()
                            .any(|text| String::from_utf8_lossy(text).contains(CANARY))
                        {
                            wrong.push(format!("{hint} brings out what is outside"));
                        }
                        last = serde_json::from_slice(&stdout).unwrap_or(Value::Null);
                        if code == Some(2) && last["error"]["details"]["reason"].is_null() {
                            wrong.push(format!(
                                "{hint} comes to a call that makes no sense: {args:?}: {last}"
                            ));
                        }
                    }
                    self.kept(true, &before, &tree::look(world.around.path(), true), wrong);
                    changed |= last != *answer;
                    answers.push(last);
                }
                if !changed {
                    wrong.push(format!("{hint} changes nothing: {answers:?}"));
                }
            }
        }
        Ok(())
    }

    /// What a caller runs that does what the hint says: several ways, each some runs one after the
    /// other. None where the command has nothing of the kind.
    fn obedient(
        &self,
        ws: &Path,
        error: &Value,
        about: &Value,
        hint: &Value,
    ) -> Option<Vec<Vec<Step>>> {
        let args: Vec<String> =
            self.args.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let bytes =
            |args: Vec<String>| args.into_iter().map(String::into_bytes).collect::<Vec<_>>();
        let call = |tool: &str, args: &Value| -> Step {
            let words = ["tool", tool, "--session", "obedient", "--args", "-"].map(str::to_owned);
            (bytes(words.to_vec()), args.to_string().into_bytes())
        };
        if let Some(command) = hint["command"].as_str() {
            let words = command.split(' ').skip(1).map(str::to_owned).collect();
            return Some(vec![vec![(bytes(words), Vec::new())]]);
        }
        Some(match words[..] {
            [command, ..] if hint["hint"] == "send" => {
                let operation = json!({ "type": "delete_file", "path": "a.txt" });
                let item =
                    json!({ "type": "apply_patch_call", "call_id": "1", "operation": operation });
                let input = if command == "ops" || words.contains(&"openai") {
                    item.to_string()
                } else {
                    "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n".into()
                };
                vec![vec![(self.args.clone(), input.into_bytes())]]
            }
            ["tool", name, ..] if words.contains(&"--args") => {
                let given = words
                    .iter()
                    .skip_while(|word| **word != "--args")
                    .nth(1)
                    .copied()
                    .unwrap_or("-");
                let given = if given == "-" { &self.input } else { given.as_bytes() };
                let mut args = serde_json::from_slice::<Value>(given).ok()?;
                let Some(tool @ Tool::ApplyPatch) = Tool::named(name) else {
                    let chain = obeyed_tools::obeyed(ws, name, &args, error, hint);
                    let chain: Vec<_> = chain.iter().map(|(tool, args)| call(tool, args)).collect();
                    return Some(if chain.is_empty() { Vec::new() } else { vec![chain] });
                };
                let patch = args["patch"].take().as_str().unwrap_or_default().as_bytes().to_vec();
                let sent = Call { way: Way::Tool(tool, args), patch };
                let ways = obeyed::obeyed(&sent, ws, about, hint);
                ways.iter().filter_map(|way| Some(vec![call(name, &way.tool_args()?)])).collect()
            }
            ["apply" | "check" | "parse", ..] => {
                let sent = Call { way: Way::Program(args), patch: self.input.clone() };
                let ways = obeyed::obeyed(&sent, ws, about, hint).into_iter();
                ways.filter_map(|way| match way.way {
                    Way::Program(args) => Some(vec![(bytes(args), way.patch)]),
                    _ => None,
                })
                .collect()
            }
            ["trash", "restore", entry, ..] if hint["hint"] == "choose_path" => {
                let words = ["trash", "restore", entry, "chosen.txt"].map(str::to_owned);
                vec![vec![(bytes(words.to_vec()), Vec::new())]]
            }
            // A person has to decide, or time has to pass.
            _ if ["ask_person", "leave_alone", "try_again"]
                .iter()
                .any(|name| hint["hint"] == **name) =>
            {
                Vec::new()
            }
            _ => return None,
        })
    }

    /// Does one line of the setup.
    fn prepare(
        &self,
        ws: &Path,
        home: &Path,
        line: &str,
        mounts: &mut String,
        env: &mut Vec<(String, String)>,
    ) -> Result<(), Outcome> {
        let skipped = |why: &str| Err(Outcome::Skipped(why.into()));
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "device" => {
                let made = rustix::fs::mknodat(
                    rustix::fs::CWD,
                    ws.join(rest),
                    rustix::fs::FileType::CharacterDevice,
                    rustix::fs::Mode::from_raw_mode(0o666),
                    // The device that gives zeros without end.
                    rustix::fs::makedev(1, 5),
                );
                if made.is_err() {
                    return skipped("devices are made by root only");
                }
            }
            "owner" => {
                if std::os::unix::fs::chown(ws.join(rest), Some(12345), Some(12345)).is_err() {
                    return skipped("files are given away by root only");
                }
            }
            "mount" | "bind" => {
                if !can_mount() {
                    return skipped("mount namespaces are not to be had here");
                }
                let (target, what) = rest.split_once(' ').unwrap_or((rest, "../outside"));
                *mounts += &match verb {
                    "mount" => format!(
                        "mount -t tmpfs none {target} && cp ../outside/secret {target}/ && "
                    ),
                    _ => format!("mount --bind {what} {target} && "),
                };
            }
            "sparse" => {
                let (size, path) = rest.split_once(' ').expect("sparse SIZE PATH");
                let file = fs::File::create(ws.join(path)).expect("a new file");
                file.set_len(size.parse().expect("a number")).expect("a length");
            }
            "env" => {
                let (name, value) = rest.split_once('=').expect("env NAME=VALUE");
                env.retain(|(known, _)| known != name);
                if !value.is_empty() {
                    env.push((name.to_owned(), value.replace("{ws}", ws.to_str().expect("UTF-8"))));
                }
            }
            "tool" => {
                let (name, args) = rest.split_once(' ').expect("tool NAME JSON");
                let run = crate::program::run(
                    "apply-patch",
                    ws,
                    home,
                    &["tool", name, "--args", args],
                    b"",
                );
                assert_eq!(run.code, 0, "{}: {line}: {run:?}", self.name);
            }
            "sh" => {
                let mut shell = clean("sh");
                shell.args(["-euc", rest]).current_dir(ws).env("HOME", home).env("ID", newest(ws));
                let output = shell.output().expect("a shell");
                assert!(output.status.success(), "{}: {line}: {output:?}", self.name);
            }
            _ => step(ws, line),
        }
        Ok(())
    }

    /// Holds the answer against what is wanted.
    fn answered(&self, (code, stdout, stderr): &Ended, wrong: &mut Vec<String>) {
        if *code != Some(self.exit) {
            wrong.push(format!("exit {code:?}, not {}", self.exit));
        }
        for (name, bytes) in [("stdout", stdout), ("stderr", stderr)] {
            let text = String::from_utf8_lossy(bytes);
            if text.contains(CANARY) {
                wrong.push(format!("{name} has what is outside"));
            }
            let exact = self.piped && name == "stdout";
            if let Some(c) = text.chars().find(|&c| is_obeyed(c) && !exact) {
                wrong.push(format!("{name} has {c:?}, which a terminal obeys"));
            }
            for absent in self.absent.iter().filter(|absent| text.contains(absent.as_str())) {
                wrong.push(format!("{name} has {absent:?}"));
            }
        }
        if !self.json {
            return;
        }
        let answer: Value = match serde_json::from_slice(stdout) {
            Ok(answer) => answer,
            Err(error) => return wrong.push(format!("the answer is not JSON: {error}")),
        };
        if let Some(kind) = &self.kind
            && answer["error"]["kind"] != **kind
        {
            wrong.push(format!("kind {}, not {kind}", answer["error"]["kind"]));
        }
        if let Some(reason) = &self.reason
            && answer["error"]["details"]["reason"] != **reason
        {
            wrong.push(format!("reason {}, not {reason}", answer["error"]["details"]["reason"]));
        }
        if answer["error"].is_object() && self.exit != 2 {
            wrong.extend(crate::obeyed::consistent(&answer["error"]).err());
        }
        if answer["ok"] != (self.exit == 0) {
            wrong.push(format!("ok is {}", answer["ok"]));
        }
    }

    /// Looks for what must not have changed.
    fn kept(&self, done: bool, before: &Tree, after: &Tree, wrong: &mut Vec<String>) {
        let state = format!("ws/{STATE}");
        let ours = |path: &str| path == state || path.starts_with(&format!("{state}/"));
        let inside = |path: &str| path == "ws" || path.starts_with("ws/");
        let matters = |path: &str| if done { !inside(path) } else { !ours(path) };
        let keep = |tree: &Tree| -> Tree {
            tree.iter()
                .filter(|(path, _)| matters(path))
                .map(|(path, entry)| (path.clone(), entry.clone()))
                .collect()
        };
        let (before, mut after) = (keep(before), keep(after));
        // The log of a failed call may be the first thing in the state directory.
        if after
            .get("ws")
            .is_some_and(|entry| before.get("ws").is_some_and(|old| old.mode == entry.mode))
        {
            after.insert("ws".into(), before["ws"].clone());
        }
        let difference = tree::difference(&before, &after);
        if !difference.is_empty() {
            wrong.push(format!(
                "it changed something:\n{}",
                difference.chars().take(2000).collect::<String>()
            ));
        }
    }
}

/// Looks into everything that the program wrote for itself: no secret, and every line of a log is
/// one record.
fn audited(ws: &Path, wrong: &mut Vec<String>) {
    let state = ws.join(STATE);
    if !state.symlink_metadata().is_ok_and(|seen| seen.is_dir()) {
        return;
    }
    for (_, entry) in tree::beneath(&state) {
        let path = entry.path();
        let seen = path.symlink_metadata().expect("an entry");
        if !seen.is_file() || seen.len() >= 1 << 20 {
            continue;
        }
        let bytes = fs::read(path).expect("a file");
        // With a second name it is the attack's own.
        if seen.nlink() != 1 {
            continue;
        }
        if bytes.windows(CANARY.len()).any(|at| at == CANARY.as_bytes()) {
            wrong.push(format!("{} has what is outside", path.display()));
        }
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        // A tampered line is the attack's own.
        for line in bytes
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty() && !line.starts_with(b"TAMPERED"))
        {
            if let Err(error) = serde_json::from_slice::<Value>(line) {
                wrong.push(format!("a line of {} is not a record: {error}", path.display()));
            }
        }
    }
}

/// Whether a terminal does something else with it than show it.
fn is_obeyed(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// The newest transaction, if there is one.
fn newest(ws: &Path) -> String {
    let folder = ws.join(STATE).join("trash");
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .max()
        .unwrap_or_default()
}

/// The program, with little memory, and with mounts where they are wanted.
fn shell(mounts: &str, ws: &Path, env: &[(String, String)]) -> Command {
    let script = format!("ulimit -v {MEMORY}; {mounts}exec \"$0\" \"$@\"");
    let mut command = if mounts.is_empty() { clean("sh") } else { clean("unshare") };
    if !mounts.is_empty() {
        command.args(["-Urm", "--propagation", "private", "sh"]);
    }
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_apply-patch")])
        .current_dir(ws)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs(env.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command
}

type Ended = (Option<i32>, Vec<u8>, Vec<u8>);

/// Waits for the end, which has to come in time.
fn finish(mut child: Child, input: &[u8]) -> Result<Ended, Outcome> {
    let start = Instant::now();
    let (mut stdin, mut stdout, mut stderr) = (
        child.stdin.take().expect("piped"),
        child.stdout.take().expect("piped"),
        child.stderr.take().expect("piped"),
    );
    std::thread::scope(|scope| {
        // It may end before it has read everything.
        scope.spawn(move || drop(stdin.write_all(input)));
        let out = scope.spawn(move || {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).map(|_| bytes)
        });
        let err = scope.spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).map(|_| bytes)
        });
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child of ours") {
                break Some(status);
            }
            if start.elapsed() > TIME {
                child.kill().expect("a child of ours");
                child.wait().expect("a child of ours");
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let collect = |bytes: std::thread::ScopedJoinHandle<'_, std::io::Result<Vec<u8>>>| {
            bytes.join().expect("it ends").expect("a pipe")
        };
        let (out, err) = (collect(out), collect(err));
        match status {
            Some(status) => Ok((status.code(), out, err)),
            None => Err(Outcome::Failed(format!("it did not end within {TIME:?}"))),
        }
    })
}

/// Whether mounts can be made that only one process sees.
fn can_mount() -> bool {
    static CAN: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *CAN.get_or_init(|| {
        let probe =
            clean("unshare").args(["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
        probe.is_ok_and(|output| output.status.success())
    })
}
