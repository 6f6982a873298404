//! Whatever a tool is asked for, in whatever words: of files outside its root, and of forbidden
//! ones, it neither sees nor changes anything, although the history and the snapshots of the
//! project have their bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fastrand::Rng;
use file_tools::ToolInfo;
use fs_guard::{Globs, Policy};
use patch_engine::commit::{KeyPlace, Workspace};
use patch_engine::{Options, PlanBuilder, parse};
use patch_session::audit::{Audit, Operation};
use patch_session::{Session, SessionSettings, Tool, ToolError, history};
use serde_json::{Map, Value, json};

use super::each_tool::usual;
use super::support::*;
use testutils::share::every;
use testutils::temp::temp;
use testutils::tree::outside_state;

/// What the files hold that a tool may not see. Their texts differ in all but a line, by which an
/// edit could be carried.
const OUTSIDE: &str = "line\nOUTSIDE-SECRET 1\n";
const FORBIDDEN: &str = "line\nFORBIDDEN-SECRET 2\n";
const DELETED: &str = "line\nDELETED-SECRET 3\n";
const SECRETS: [&str; 3] = [OUTSIDE, FORBIDDEN, DELETED];

/// A project of a person, and a tool that may work in one of its directories.
struct Project {
    dir: tempfile::TempDir,
    key: tempfile::TempDir,
    /// The transactions.
    ids: Vec<String>,
}

impl Project {
    /// A person changes files everywhere.
    fn new() -> Self {
        let mut project = Self { dir: temp(), key: temp(), ids: Vec::new() };
        for (path, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            ("other/o.txt", OUTSIDE),
            ("sub/a.txt", "line\nx\n"),
            ("sub/shared.txt", "line\none\n"),
            ("sub/.env", FORBIDDEN),
            ("sub/.env.local", DELETED),
            ("sub/.vscode/tasks.json", "{}\n"),
        ] {
            let path = project.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        // What a person is shown is kept, too.
        let shown = project.person();
        for path in ["other/o.txt", "sub/.env", "sub/.env.local"] {
            assert_eq!(call(&shown, "read_file", &json!({ "path": path }))["ok"], true);
        }
        for body in [
            "*** Update File: other/o.txt\n@@\n line\n-OUTSIDE-SECRET 1\n+gone\n",
            "*** Update File: sub/.env\n@@\n line\n-FORBIDDEN-SECRET 2\n+gone\n",
            "*** Delete File: sub/.env.local\n",
            "*** Delete File: sub/.vscode/tasks.json\n",
            "*** Update File: sub/shared.txt\n@@\n-one\n+two\n",
            "*** Update File: sub/shared.txt\n@@\n-two\n+three\n*** Update File: other/o.txt\n@@\n\
             -gone\n+again\n",
        ] {
            let id = project.apply(body);
            project.ids.push(id);
        }
        project
    }

    fn open(&self, dir: &str, policy: Policy) -> Workspace {
        let workspace = Workspace::open(&self.dir.path().join(dir), policy).unwrap();
        workspace.with_key_place(KeyPlace::Directory(self.key.path().join("apply-patch")))
    }

    /// A person's session: nothing is forbidden there.
    fn person(&self) -> Session {
        let policy = Policy {
            forbidden: Globs::default(),
            guarded: Globs::default(),
            ..patch_engine::policy()
        };
        let workspace = self.open("", policy).for_a_person();
        Session::new(workspace, Audit::new(session("cli"), None), settings())
    }

    fn apply(&self, body: &str) -> String {
        let text = patch(body);
        let options = Options { create_parents: true, ..Options::default() };
        let parsed = parse(&text, &options.parse).unwrap();
        let reports = self
            .person()
            .apply("apply", &parsed, options, patch_engine::Atomicity::Whole, &mut ())
            .unwrap();
        reports[0].transaction.unwrap().to_string()
    }

    /// The tool's session, which has the name of the person's.
    fn tool(&self) -> Session {
        let workspace = self.open("sub", patch_engine::policy());
        Session::new(workspace, Audit::new(session("cli"), None), settings())
    }

    /// All files but the state, by path.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut all: Vec<_> = outside_state(self.dir.path())
            .filter(|(_, entry)| !entry.path().is_dir())
            .map(|(name, entry)| (name, fs::read(entry.path()).unwrap()))
            .collect();
        all.sort();
        all
    }

    /// What may not change.
    fn hidden(&self) -> Vec<(String, Vec<u8>)> {
        let mine = |name: &str| {
            name.starts_with("sub/")
                && !Path::new(name).starts_with("sub/.env")
                && !name.starts_with("sub/.vscode")
        };
        self.files().into_iter().filter(|(name, _)| !mine(name)).collect()
    }

    /// Words that a caller may know: names of transactions and of kept files, hashes, and paths.
    fn words(&self) -> Vec<String> {
        let slots = self.ids.iter().flat_map(|id| (0..2).map(move |slot| format!("{id}/{slot}")));
        let stored = self.ids.iter().flat_map(|id| {
            [format!("../.apply-patch/trash/{id}/0"), format!(".apply-patch/trash/{id}/0")]
        });
        let paths = [
            "a.txt",
            "shared.txt",
            "stolen.txt",
            ".env",
            ".env.local",
            "../other/o.txt",
            ".vscode/tasks.json",
            ".",
            "..",
            "*",
            "**",
        ];
        let hashes = SECRETS.iter().map(|text| sha(text.as_bytes()));
        let absolute = self.dir.path().join("other/o.txt").display().to_string();
        let paths = paths.into_iter().map(str::to_owned).chain([absolute, String::new()]);
        self.ids.iter().cloned().chain(slots).chain(stored).chain(paths).chain(hashes).collect()
    }

    /// Fails if an answer tells what it may not.
    fn check(&self, what: &str, given: &str, reply: &str) {
        for secret in SECRETS {
            let word = secret.lines().nth(1).unwrap();
            assert!(!reply.contains(word), "{what} {given} shows {word}: {reply}");
            let hash = sha(secret.as_bytes());
            assert!(
                given.contains(&hash) || !reply.contains(&hash),
                "{what} {given} shows a hash: {reply}"
            );
        }
        // A refusal names the file that it is about, so that a person can decide; such names are in
        // listings, too.
        let refused = reply.contains("\"reason\":\"forbidden\"");
        for path in ["other/o.txt", ".env.local"].into_iter().take(if refused { 1 } else { 2 }) {
            assert!(
                given.contains(path) || !reply.contains(path),
                "{what} {given} shows {path}: {reply}"
            );
        }
    }
}

/// What is called, and the names of all arguments that take text, each of which is tried with
/// others: those that are left out are switches, numbers, and choices among fixed words.
fn tried(tool: Tool) -> (Map<String, Value>, Vec<String>) {
    let (Value::Object(usual), schema) = (usual(tool), ToolInfo::of(tool).input_schema) else {
        panic!("{}: arguments are an object", tool.as_str())
    };
    for name in usual.keys() {
        assert!(schema["properties"].get(name).is_some(), "{} {name}", tool.as_str());
    }
    let mut found = BTreeSet::new();
    texts(&schema, &mut found);
    (usual, found.into_iter().collect())
}

/// The arguments of a schema that take text, also those within others.
fn texts(schema: &Value, found: &mut BTreeSet<String>) {
    for (name, one) in schema["properties"].as_object().into_iter().flatten() {
        let kind = |kind: &str| {
            one["type"] == kind
                || one["type"].as_array().is_some_and(|all| all.contains(&json!(kind)))
        };
        if kind("string") && one.get("enum").is_none() || kind("array") {
            found.insert(name.clone());
        }
        texts(&one["items"], found);
        texts(one, found);
    }
}

/// However long a text is that a tool takes, or the name of an argument or of a tool: an answer
/// quotes little of it.
#[test]
fn no_answer_quotes_much_of_what_was_sent() {
    let project = Project::new();
    let long = [
        "z".repeat(100_000),
        "\"\\\u{2800}".repeat(20_000),
        "a/".repeat(50_000),
        "[{".repeat(50_000),
    ];
    let small = |what: &str, reply: String| {
        // A server sends it twice, or three times.
        assert!(!reply.contains("\"ok\":true"), "{what}: {} bytes: {reply:.500}", reply.len());
        assert!(reply.len() < 6500, "{what}: {} bytes: {reply:.500}", reply.len());
    };
    for tool in Tool::ALL {
        let (usual, tried) = tried(tool);
        for (word, name) in long
            .iter()
            .flat_map(|word| tried.iter().map(move |name| (word, &**name)))
            .step_by(every(3))
        {
            let what = format!("{} {name} {word:.9}", tool.as_str());
            // These do what they are told, and answer with nothing of it.
            if matches!(
                name,
                "content"
                    | "newText"
                    | "query"
                    | "cursor"
                    | "edits"
                    | "expectedSha256ByPath"
                    | "reason"
            ) || matches!((tool, name), (Tool::RestoreFile, "targetPath"))
            {
                continue;
            }
            let mut args = usual.clone();
            if name == "trashedPath" {
                args.remove("trashId");
            }
            put(&mut args, name, word);
            let settings = SessionSettings { max_output: Some(20_000), ..settings() };
            let workspace = project.open("sub", patch_engine::policy());
            let tools = Session::new(workspace, Audit::new(session("cli"), None), settings);
            let reply = call(&tools, tool.as_str(), &json!(args)).to_string();
            if name.ends_with("Globs") && reply.contains("\"ok\":true") {
                continue;
            }
            small(&what, reply);
            let mut args = usual.clone();
            args.insert(word.clone(), json!(1));
            small(&what, call(&tools, tool.as_str(), &json!(args)).to_string());
        }
    }
    for word in &long {
        small("a tool", call(&project.tool(), word, &json!({})).to_string());
    }
}

/// Puts a word where a tool takes text.
fn put(args: &mut Map<String, Value>, name: &str, word: &str) {
    let within = |args: &mut Map<String, Value>, list: &str| {
        let one = args.get_mut(list).and_then(|list| list.get_mut(0)).unwrap();
        one[name] = word.into();
    };
    match name {
        "edits" | "expectedSha256ByPath" => {}
        "oldText" | "newText" => within(args, "edits"),
        "sha256" => within(args, "expectedSha256ByPath"),
        "path" if args.contains_key("expectedSha256ByPath") => within(args, "expectedSha256ByPath"),
        "paths" | "includeGlobs" | "excludeGlobs" => drop(args.insert(name.into(), json!([word]))),
        "patch" => {
            let body = ["Update", "Delete", "Add"].map(|operation| match operation {
                "Update" => format!("*** Update File: {word}\n@@\n line\n+q\n"),
                "Delete" => format!("*** Delete File: {word}\n"),
                _ => format!("*** Add File: {word}\n+q\n"),
            });
            args.insert(name.into(), patch(&body[word.len() % 3]).into());
        }
        _ => drop(args.insert(name.into(), word.into())),
    }
}

#[test]
fn a_tool_sees_nothing_outside_its_root_and_nothing_forbidden() {
    let mut project = Project::new();
    let mut hidden = project.hidden();
    let mut words = project.words();
    let mut rng = Rng::with_seed(41);
    for tool in Tool::usual() {
        let (usual, tried) = tried(tool);
        let count = words.len();
        let one = |rng: &mut Rng| (&*tried[rng.usize(..tried.len())], rng.usize(..count));
        let singles =
            tried.iter().flat_map(|name| (0..count).map(move |word| vec![(&**name, word)]));
        let singles = singles.skip(rng.usize(..every(4))).step_by(every(4));
        let mixed = (0..testutils::share::share(2000)).map(|_| vec![one(&mut rng), one(&mut rng)]);
        for chosen in singles.chain(mixed.collect::<Vec<_>>()) {
            let mut args = usual.clone();
            // Of two ways to name the same only one may be used.
            if chosen.iter().any(|(name, _)| *name == "trashedPath") {
                args.remove("trashId");
            }
            chosen.iter().for_each(|(name, word)| put(&mut args, name, &words[*word]));
            let given = json!(args).to_string();
            let reply = call(&project.tool(), tool.as_str(), &json!(args)).to_string();
            project.check(tool.as_str(), &given, &reply);
            assert_eq!(project.hidden(), hidden, "{} {given}: {reply}", tool.as_str());
            if !tool.is_read_only() && reply.contains("\"ok\":true") {
                for (name, bytes) in project.files() {
                    let text = String::from_utf8_lossy(&bytes);
                    let shown =
                        SECRETS.iter().any(|secret| text.contains(secret.lines().nth(1).unwrap()));
                    let by_hash =
                        name.starts_with("sub/") && !name.starts_with("sub/.env") && shown;
                    assert!(!by_hash, "{} {given}: {name} has {text}", tool.as_str());
                }
                project = Project::new();
                hidden = project.hidden();
                words = project.words();
            }
        }
    }
}

/// What the tool may see is there: the walls are not walls around everything.
#[test]
fn what_a_tool_may_reach_can_be_undone_and_restored() {
    let project = Project::new();
    let [.., first, last] = &project.ids[..] else { panic!("there are six") };
    let tool = project.tool();
    // Both of them touched the file; the later one, in which there is more, is not named as the one
    // to undo first.
    let error = fails(&tool, "undo", &json!({ "transactionId": first }), "stale_file");
    assert_eq!(error["details"]["drifted"][0]["path"], "shared.txt", "{error}");
    assert!(!error.to_string().contains(last.as_str()), "{error}");
    // Of the later one the part that is here can be undone, and the hint says so.
    let error = fails(&tool, "undo", &json!({ "transactionId": last }), "outside_workspace");
    assert!(error["hints"].to_string().contains("shared.txt"), "{error}");
    done(&tool, "undo", &json!({ "transactionId": last, "paths": ["shared.txt"] }));
    assert_eq!(fs::read(project.dir.path().join("sub/shared.txt")).unwrap(), b"line\ntwo\n");
    let restored = done(
        &tool,
        "restore_file",
        &json!({ "trashId": format!("{first}/0"), "targetPath": "old.txt" }),
    );
    assert_eq!(restored["sha256"], sha(b"line\none\n"));
    // The list of what could be meant has only what can be undone whole.
    let error = fails(&tool, "undo", &json!({}), "command_failed");
    let listed: Vec<_> = error["details"]["transactions"].as_array().unwrap().iter().collect();
    assert!(listed.iter().any(|one| one["transactionId"] == first.as_str()), "{error}");
    assert!(listed.iter().all(|one| {
        !project.ids[..3].iter().chain([last]).any(|id| one["transactionId"] == id.as_str())
    }));
}

/// Also what is listed as data for a program.
#[test]
fn a_program_is_told_of_its_own_part_of_the_history() {
    let project = Project::new();
    let tool = project.tool();
    for with_diff in [false, true] {
        let log = history::log(tool.workspace(), &history::Wanted::default(), with_diff)
            .unwrap()
            .to_string();
        project.check("log", "", &log);
        assert!(log.contains("shared.txt"), "{log}");
        let all =
            history::log(project.person().workspace(), &history::Wanted::default(), with_diff)
                .unwrap()
                .to_string();
        assert!(all.contains("other/o.txt"), "{all}");
        assert!(all.contains("sub/.env.local"), "{all}");
    }
    let trash = tool.workspace().trash().unwrap();
    let trash: Vec<_> = trash.iter().map(|entry| &*entry.path).collect();
    assert_eq!(
        trash,
        ["shared.txt", "shared.txt", ".vscode/tasks.json"],
        "guarded files can be read"
    );
    for id in &project.ids[..3] {
        assert!(tool.workspace().show(id.parse().unwrap()).is_err(), "{id}");
    }
}

/// A patch that a person applied is planned as any other when a tool sends it, so that it is no way
/// to ask what a forbidden file holds.
#[test]
fn a_patch_of_a_forbidden_file_is_not_called_done() {
    let project = Project::new();
    let workspace = project
        .open("sub", Policy { forbidden: Globs::default(), ..patch_engine::policy() })
        .for_a_person();
    let person = Session::new(workspace, Audit::new(session("cli"), None), settings());
    let text = patch("*** Update File: .env\n@@\n-gone\n+going\n");
    done(&person, "apply_patch", &json!({ "patch": text }));
    assert_eq!(done(&person, "apply_patch", &json!({ "patch": text }))["alreadyDone"], true);
    fails(&project.tool(), "apply_patch", &json!({ "patch": text }), "permission_denied");
}

/// What recovery says names no file that the caller may not see.
#[test]
fn what_was_recovered_elsewhere_is_counted_and_not_named() {
    use fs_guard::fault::{Fault, arm, disarm};
    let project = Project::new();
    let person = project.person();
    arm(Fault::CrashAt("renameat2"), 2, false);
    let cut = person.execute::<ToolError>("apply", Operation::Patch, &mut (), &mut |root| {
        let options = Options { overwrite: true, ..Options::default() };
        let mut builder = PlanBuilder::new(root, &options);
        for path in ["other/o.txt", "sub/a.txt"] {
            builder.create(path, b"new\n".to_vec()).map_err(|_| ()).unwrap();
        }
        Ok(builder.finish().unwrap())
    });
    disarm();
    assert!(cut.is_err());
    fs::write(project.dir.path().join("other/o.txt"), "of a user").unwrap();
    let reply =
        call(&project.tool(), "apply_patch", &json!({ "patch": patch("*** Add File: n\n+n\n") }));
    assert_eq!(reply["ok"], true, "{reply}");
    project.check("recovery", "", &reply.to_string());
    assert!(reply.to_string().contains("they stay as they are: a file elsewhere"), "{reply}");
    assert_eq!(fs::read(project.dir.path().join("sub/a.txt")).unwrap(), b"line\nx\n");
}
