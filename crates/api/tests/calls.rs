//! Every call, as a program of another language makes it.
#![forbid(unsafe_code)]
#![cfg(feature = "workspace")]
#![allow(clippy::disallowed_methods, reason = "tests look at files behind the guard's back")]

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use apply_patch_api as api;
use apply_patch_api::engine::Cancellation;
use apply_patch_api::{
    BadOptions, Callbacks, Content, Decision, GitOptions, GitTree, HostFile, HostTree, JsonStream,
    Language, MemoryTree, OpenWorkspace, PatchOptions, PlannedPatch, ReadOptions as _, SpecRequest,
    ToolError, UndoRequest, WorkspaceOptions,
};
use serde_json::{Value, json};

const BEFORE: &str = "one\ntwo\nthree\n";
const PATCH: &str =
    "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** End Patch\n";
const DIFF: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
const AFTER: &str = "one\nTWO\nthree\n";

fn options(value: Value) -> PatchOptions {
    PatchOptions::read(value).expect("they are known")
}

fn directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("a.txt"), BEFORE).expect("a file");
    dir
}

fn workspace(dir: &Path, options: Value) -> OpenWorkspace {
    OpenWorkspace::open(dir, &WorkspaceOptions::read(options).expect("they are known"))
        .expect("it is there")
}

fn tree() -> MemoryTree {
    [("a.txt", BEFORE)].into_iter().collect()
}

fn text(dir: &Path) -> String {
    fs::read_to_string(dir.join("a.txt")).expect("it is there")
}

fn approve(decision: Decision, asked: &AtomicUsize) -> Callbacks<'_> {
    let approve = move |_: &api::Proposal<'_>| {
        asked.fetch_add(1, Ordering::Relaxed);
        decision
    };
    Callbacks { approve: Some(Box::new(approve)), ..Callbacks::default() }
}

#[test]
fn the_same_change_comes_of_every_form_and_every_kind_of_files() {
    let operations = r#"[{"type":"apply_patch_call","call_id":"c","operation":{"type":"update_file","path":"a.txt","diff":"@@\n one\n-two\n+TWO\n"}}]"#;
    let chat = format!("Here it is:\n\n```diff\n{DIFF}```\n");
    for (name, patch, how) in [
        ("envelope", PATCH, json!({})),
        ("envelope, said so", PATCH, json!({ "from": "envelope", "profile": "codex" })),
        ("diff", DIFF, json!({ "from": "unified" })),
        ("found", &chat, json!({ "from": "auto" })),
        ("operations", operations, json!({ "from": "openai" })),
        ("the only part", &chat, json!({ "part": 1 })),
    ] {
        let how = options(how);
        let (files, plan) = api::apply_in_memory(&tree(), patch.as_bytes(), &how).expect(name);
        assert_eq!(files.len(), 1, "{name}");
        assert_eq!(**files[0].after.as_ref().expect(name).bytes, *AFTER.as_bytes(), "{name}");
        assert_eq!(plan.changes()[0]["operation"], "update", "{name}");

        let read = |path: &str| {
            let content =
                Content { bytes: BEFORE.as_bytes().to_vec().into(), mode: 0o644, link: false };
            Ok((path == "a.txt").then_some(HostFile { content, version: Some(7) }))
        };
        let over = api::plan_over(HostTree::new(read), patch.as_bytes(), &how).expect(name);
        assert_eq!(over.plan.digest(), plan.digest(), "{name}");
        assert_eq!(over.version("a.txt"), Some(7), "{name}");
        let edits = over.edits().expect(name);
        assert_eq!(edits[0].edits[0].text, b"TWO\n", "{name}");

        let dir = directory();
        let workspace = workspace(dir.path(), json!({ "durability": "none" }));
        let planned = workspace.plan(patch.as_bytes(), &how, &Cancellation::NEVER).expect(name);
        assert_eq!(planned.diff().expect(name), plan.diff().expect(name), "{name}");
        let done = workspace.apply(patch.as_bytes(), &how, Callbacks::default()).expect(name);
        assert_eq!(done["changedFiles"][0]["path"], "a.txt", "{name}");
        assert_eq!(text(dir.path()), AFTER, "{name}");
    }
    let nothing =
        api::apply_in_memory(&tree(), b"*** Begin Patch\n*** End Patch\n", &options(Value::Null));
    assert_eq!(nothing.expect_err("it says nothing").kind.as_str(), "patch_parse_error");
}

/// Each item of many comes to what its own call comes to, however many threads there are.
#[test]
fn many_are_applied_as_one_is() {
    let item = |nth: usize| {
        let file = format!("{}one\n{nth}\n", "x\n".repeat(nth % 7));
        let files: MemoryTree = [("a.txt", file)].into_iter().collect();
        let patch = match nth % 5 {
            0 => "*** Begin Patch\n*** Update File: a.txt\n@@\n-no such line\n+x\n*** End Patch\n"
                .into(),
            1 => "no patch".to_owned(),
            2 => format!(
                "--- a/a.txt\n+++ b/a.txt\n@@ -{0},2 +{0},2 @@\n one\n-{nth}\n+new\n",
                nth % 7 + 1
            ),
            _ => format!(
                "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-{nth}\n+new\n*** End Patch\n"
            ),
        };
        (files, patch.into_bytes())
    };
    let items: Vec<_> = (0..200).map(item).collect();
    let shown = |files: Vec<api::ChangedFile>, plan: &api::PlannedPatch| {
        let files = files.into_iter().map(|file| (file.path.to_string(), file.after));
        (files.collect::<Vec<_>>(), plan.facts(), plan.diff().expect("it is in memory"))
    };
    let how = options(json!({ "profile": "codex" }));
    let wanted: Vec<_> = items
        .iter()
        .map(|(files, patch)| {
            let done = api::apply_in_memory(files, patch, &how);
            done.map(|(files, plan)| shown(files, &plan)).map_err(|error| json!(error))
        })
        .collect();
    assert_eq!(wanted.iter().filter(|one| one.is_err()).count(), 80);
    for workers in [1, 2, 7, 1000].map(|count| NonZeroUsize::new(count).expect("some")) {
        let done = api::apply_many(&items, workers, &how, &Cancellation::NEVER, |files, plan| {
            Ok(shown(files, &plan))
        });
        let done = done.expect("the options make sense").into_iter();
        let done: Vec<_> = done.map(|one| one.map_err(|error| json!(error))).collect();
        assert_eq!(done, wanted, "{workers}");
        // Given up at the tenth question.
        let asked = AtomicUsize::new(0);
        let late = Cancellation::new(move || asked.fetch_add(1, Ordering::Relaxed) >= 10);
        let given_up = api::apply_many(&items, workers, &how, &late, |_, _| Ok(()));
        assert_eq!(given_up.expect_err("it is given up").kind.as_str(), "cancelled");
    }
    let none = api::apply_many(&[], NonZeroUsize::MIN, &how, &Cancellation::NEVER, |_, _| Ok(()));
    assert!(none.expect("nothing to do").is_empty());
    let senseless = options(json!({ "partial": true }));
    let refused =
        api::apply_many(&items, NonZeroUsize::MIN, &senseless, &Cancellation::NEVER, |_, _| Ok(()));
    assert_eq!(refused.expect_err("not in a workspace").kind.as_str(), "command_failed");
}

/// A file that does not parse any more is told, or refused, whatever has the files.
#[test]
fn a_file_that_does_not_parse_any_more_is_told_by_every_kind_of_files() {
    let patch = b"*** Begin Patch\n*** Update File: a.json\n@@\n-{}\n+{,}\n*** End Patch\n";
    let told = "a.json: it does not parse any more as JSON: line 1, column 2: ";
    for (syntax, wanted) in [
        (Value::Null, Some(1)),
        (json!("warn"), Some(1)),
        (json!("off"), Some(0)),
        (json!("refuse"), None),
    ] {
        let how = options(json!({ "syntax": syntax }));
        let files: MemoryTree = [("a.json", "{}\n")].into_iter().collect();
        let in_memory = api::apply_in_memory(&files, patch, &how).map(|(_, plan)| plan);
        let read = |path: &str| {
            let content = Content { bytes: b"{}\n".to_vec().into(), mode: 0o644, link: false };
            Ok((path == "a.json").then_some(HostFile { content, version: None }))
        };
        let over = api::plan_over(HostTree::new(read), patch, &how).map(|over| over.plan);
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("a.json"), "{}\n").expect("a file");
        let planned = workspace(dir.path(), json!({ "syntax": syntax })).plan(
            patch,
            &PatchOptions::default(),
            &Cancellation::NEVER,
        );
        for plan in [in_memory, over, planned] {
            match (plan, wanted) {
                (Ok(plan), Some(notes)) => {
                    assert_eq!(plan.notes().len(), notes, "{syntax}");
                    assert!(plan.notes().iter().all(|note| note.starts_with(told)), "{syntax}");
                }
                (Err(error), None) => {
                    assert_eq!(error.details["reason"], "syntax");
                    assert_eq!(error.details["line"], 1);
                    assert_eq!(error.details["column"], 2);
                }
                (plan, _) => panic!("{syntax}: {plan:?}"),
            }
        }
    }
}

#[test]
fn options_are_known_in_both_spellings_and_no_others() {
    for (good, wanted) in [
        (json!({ "allowDelete": false }), Some("permission_denied")),
        (json!({ "allow_delete": false }), Some("permission_denied")),
        (json!({ "expected": { "a.txt": "" } }), Some("stale_file")),
        (json!({ "expectedSha256ByPath": { "./a.txt": "0".repeat(64) } }), Some("stale_file")),
        (json!({ "expected_sha256_by_path": { "a.txt": "nonsense" } }), Some("command_failed")),
        (json!({ "maxFileSize": 3 }), Some("file_too_large")),
        (json!({ "max_operations": 1, "fuzz": null }), None),
        (json!({}), None),
    ] {
        let patch = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n";
        let result = api::apply_in_memory(&tree(), patch.as_bytes(), &options(good.clone()));
        assert_eq!(result.err().map(|error| error.kind.as_str()), wanted, "{good}");
    }
    let differs = format!("{DIFF}Binary files a/p and b/p differ\n");
    for (good, wanted) in [
        (json!({}), Some("patch_parse_error")),
        (json!({ "skipBinary": true }), None),
        (json!({ "skip_binary": true, "from": "unified" }), None),
    ] {
        let result = api::apply_in_memory(&tree(), differs.as_bytes(), &options(good.clone()));
        assert_eq!(result.err().map(|error| error.kind.as_str()), wanted, "{good}");
    }
    for bad in [
        json!({ "allowdelete": true }),
        json!({ "profile": "lenient" }),
        json!({ "fuzz": "all" }),
        json!({ "part": 0 }),
        json!({ "part": "first" }),
        json!({ "diff": "some" }),
        json!([]),
        json!("strict"),
    ] {
        let error = PatchOptions::read(bad.clone()).expect_err("it is not known");
        assert_eq!(error.kind.as_str(), "command_failed", "{bad}");
        assert_eq!(&error.details["reason"], &json!("bad_arguments"), "{bad}");
    }
    assert!(
        WorkspaceOptions::read(
            json!({ "lockTimeout": 1.5, "max_output": 10, "hardLinks": "break" })
        )
        .is_ok()
    );
    assert!(WorkspaceOptions::read(json!({ "root": "." })).is_err());
    let dir = directory();
    for bad in [
        json!({ "lockTimeout": -1 }),
        json!({ "forbidden": ["["] }),
        json!({ "encoding": ["x"] }),
        json!({ "trash_keep": "often" }),
        json!({ "maxOperations": 0 }),
        json!({ "color": "never" }),
    ] {
        assert!(WorkspaceOptions::read(bad.clone()).is_err(), "{bad}");
    }
    let options = WorkspaceOptions::read(json!({ "session": "a/b" })).expect("it is text");
    assert!(OpenWorkspace::open(dir.path(), &options).is_err());
}

#[test]
fn an_option_that_is_not_known_has_the_nearest_name_of_the_language() {
    use Language::{JavaScript, Python};
    for (language, name, wanted) in [
        (Python, "creat_parents", Some("create_parents")),
        (Python, "createparent", Some("create_parents")),
        (Python, "from_", Some("form")),
        (JavaScript, "createParent", Some("createParents")),
        (JavaScript, "create_parent", Some("createParents")),
        (JavaScript, "expectedSha256", Some("expectedSha256ByPath")),
        (Python, "aprove", Some("approve")),
        (Python, "frobnicate", None),
    ] {
        match PatchOptions::unknown(name, language, &["approve"]) {
            Some(BadOptions::Unknown { name: given, meant }) => {
                assert_eq!((&*given, meant.as_deref()), (name, wanted));
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    let error = PatchOptions::read(json!({ "createParent": true })).expect_err("it is not known");
    assert_eq!(error.message, "there is no option `createParent`; did you mean `createParents`?");
    for (value, wanted) in [
        (json!({ "strip": "x" }), "`strip` must be a whole number from 0, not \"x\""),
        (json!({ "reverse": 1 }), "`reverse` must be true or false, not 1"),
        (json!({ "include": "x" }), "`include` must be a list, not \"x\""),
        (json!({ "include": [1] }), "`include` has integer `1` where a string is wanted"),
        (
            json!({ "createParents": true, "create_parents": false }),
            "`createParents` and `create_parents` are one option",
        ),
    ] {
        let error = PatchOptions::read(value.clone()).expect_err("it is wrong");
        assert_eq!(error.message, wanted, "{value}");
    }
}

/// An option that a hint names, as the options of a call in that language.
fn followed(error: &ToolError) -> Option<Value> {
    error.hints.iter().find_map(|hint| match json!(hint) {
        hint if hint["hint"] == "use_argument" => {
            Some(json!({ hint["argument"].as_str()?: hint["value"] }))
        }
        _ => None,
    })
}

#[test]
fn hints_are_in_the_words_of_the_language_and_work() {
    let both = format!("{DIFF}\n{}", PATCH.replace("a.txt", "b.txt"));
    let opened = |options| workspace(directory().path(), options);
    for (patch, in_python, in_script) in [
        (
            PATCH.replace("Update File: a.txt\n@@\n one\n-two", "Add File: d/x"),
            "create_parents=True",
            "createParents: true",
        ),
        (
            PATCH.replace("Update File: a.txt\n@@\n one\n-two", "Add File: a.txt"),
            "overwrite=True",
            "overwrite: true",
        ),
        (PATCH.replace(" one", " one "), "fuzz=\"trailing\"", "fuzz: \"trailing\""),
        (both, "part=1", "part: 1"),
    ] {
        for (language, wanted) in [(Language::Python, in_python), (Language::JavaScript, in_script)]
        {
            let dir = directory();
            let here = workspace(dir.path(), json!({}));
            let host = || Callbacks { language: Some(language), ..Callbacks::default() };
            let makes = in_python.starts_with("create_parents");
            let profile = if makes { "strict" } else { "standard" };
            let error =
                here.apply(patch.as_bytes(), &options(json!({ "profile": profile })), host());
            let error = error.expect_err("it is refused");
            let words = error.suggested_next_action.clone().expect("advice");
            assert!(words.contains(&format!("use `{wanted}`")), "{words}");
            assert!(!words.contains("--"), "{words}");
            let given = followed(&error).expect("an option");
            let given = PatchOptions::read_for(language, given).expect("it is known");
            here.apply(patch.as_bytes(), &given, host()).expect("the advice works");
            let memory = api::apply_in_memory(&tree(), patch.as_bytes(), &options(json!({})));
            if let Err(error) = memory {
                let words = api::told(error, language).suggested_next_action.expect("advice");
                assert!(words.contains(wanted), "{words}");
            }
        }
    }
    for (path, in_python, in_script) in [
        (
            "CON",
            "open the workspace with `names=\"native\"`",
            "open the workspace with `names: \"native\"`",
        ),
        (".envrc", "(`allow=[\".envrc\"]`)", "(`allow: [\".envrc\"]`)"),
    ] {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
        for (language, wanted) in [(Language::Python, in_python), (Language::JavaScript, in_script)]
        {
            let error = opened(json!({})).apply(
                patch.as_bytes(),
                &options(json!({})),
                Callbacks::default(),
            );
            let words = api::told(error.expect_err("it is refused"), language);
            let words = words.suggested_next_action.expect("advice");
            assert!(words.contains(wanted), "{words}");
            // Nothing of a workspace is an option there.
            let error = api::apply_in_memory(&tree(), patch.as_bytes(), &options(json!({})));
            let words = api::told(error.expect_err("it is refused"), language);
            let words = words.suggested_next_action.expect("advice");
            assert!(!words.contains('`') && words.contains("in a workspace"), "{words}");
        }
    }
    let dir = directory();
    for (option, value) in [("names", json!("native")), ("allow", json!([".envrc"]))] {
        let here = workspace(dir.path(), json!({ option: value }));
        let path = if option == "names" { "CON" } else { ".envrc" };
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
        here.apply(patch.as_bytes(), &options(json!({})), Callbacks::default()).expect(option);
    }
}

#[test]
fn a_base_carries_a_patch_to_a_file_that_changed() {
    let now = "zero\none\ntwo\nthree\n";
    let files: MemoryTree = [("a.txt", now)].into_iter().collect();
    let how = options(json!({ "base": { "a.txt": BEFORE } }));
    let (changed, plan) =
        api::apply_in_memory(&files, PATCH.as_bytes(), &how).expect("it is carried");
    assert_eq!(**changed[0].after.as_ref().expect("a file").bytes, *b"zero\none\nTWO\nthree\n");
    assert_eq!(plan.data(api::DiffDetail::None).expect("a plan")["carried"][0]["path"], "a.txt");
}

#[test]
fn a_plan_is_committed_as_it_is_or_not_at_all() {
    if !testutils::home::is_there("a_plan_is_committed_as_it_is_or_not_at_all") {
        return;
    }
    let dir = directory();
    let workspace = workspace(dir.path(), json!({ "durability": "none" }));
    let plan = |patch: &str| {
        workspace
            .plan(patch.as_bytes(), &options(Value::Null), &Cancellation::NEVER)
            .expect("it applies")
    };
    let first = plan(PATCH);
    assert_eq!(first.summary(), "1 updated");
    let done = workspace.apply_plan(&first, Callbacks::default()).expect("nothing changed since");
    assert_eq!(text(dir.path()), AFTER);
    let id = done["transactionId"].as_str().expect("an id").to_owned();
    // A second time it is done already, as `plan` says too.
    assert_eq!(
        workspace.apply_plan(&first, Callbacks::default()).expect("it is done")["alreadyDone"],
        true
    );
    assert_eq!(plan(PATCH).summary(), "done already; nothing was changed");

    let second = plan(
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-three\n+THREE\n*** Add File: b.txt\n+b\n\
         *** End Patch\n",
    );
    fs::write(dir.path().join("a.txt"), "one\nTWO\nthree\nfour\n").expect("a file");
    let error = workspace.apply_plan(&second, Callbacks::default()).expect_err("a file changed");
    assert_eq!(error.kind.as_str(), "stale_file");
    assert_eq!(error.path.as_deref(), Some("a.txt"));
    assert!(!dir.path().join("b.txt").exists());

    // With a base the same file may have changed, but the plan is another one.
    fs::write(dir.path().join("a.txt"), BEFORE).expect("a file");
    let based = workspace
        .plan(
            PATCH.as_bytes(),
            &options(json!({ "base": { "a.txt": BEFORE } })),
            &Cancellation::NEVER,
        )
        .expect("it applies");
    fs::write(dir.path().join("a.txt"), format!("zero\n{BEFORE}")).expect("a file");
    let error = workspace.apply_plan(&based, Callbacks::default()).expect_err("a file changed");
    assert_eq!(error.kind.as_str(), "stale_file", "{error}");
    assert!(id.len() > 20);

    let (_, elsewhere) = api::apply_in_memory(&tree(), PATCH.as_bytes(), &PatchOptions::default())
        .expect("it applies");
    let error =
        workspace.apply_plan(&elsewhere, Callbacks::default()).expect_err("it is for no directory");
    assert_eq!(error.kind.as_str(), "command_failed");
}

#[test]
fn what_was_done_is_taken_back_and_done_again() {
    let dir = directory();
    let workspace = workspace(dir.path(), json!({ "agent": "tester", "session": "s1" }));
    assert_eq!(workspace.session(), "s1");
    let done = workspace
        .apply(PATCH.as_bytes(), &options(json!({ "diff": "full" })), Callbacks::default())
        .expect("it applies");
    assert!(done["changedFiles"][0]["diff"].as_str().expect("a diff").contains("+TWO"));
    let undo = |value: Value| {
        workspace.undo(&UndoRequest::read(value).expect("known"), Callbacks::default())
    };
    assert_eq!(
        undo(json!({ "paths": ["b.txt"], "id": done["transactionId"] }))
            .expect_err("not in it")
            .kind
            .as_str(),
        "not_found"
    );
    assert_eq!(undo(json!({ "id": "x" })).expect_err("no id").kind.as_str(), "command_failed");
    let undone = undo(json!({})).expect("it is undone");
    assert_eq!(&undone["undoOf"], &done["transactionId"]);
    assert_eq!(text(dir.path()).as_str(), BEFORE);
    workspace.redo(None, api::DiffDetail::None, Callbacks::default()).expect("it is done again");
    assert_eq!(text(dir.path()), AFTER);
    let log = workspace.log(Some(2), None, true).expect("a log");
    assert_eq!(log["transactions"].as_array().expect("a list").len(), 2);
    assert_eq!(&log["transactions"][1]["tool"], &json!("undo"));
    assert_eq!(&log["transactions"][1]["agent"], &json!("tester"));
    assert!(log["transactions"][1]["diff"].as_str().expect("a diff").contains("-TWO"));
    // By the name of its session, or the beginning of it.
    let session = log["transactions"][0]["session"].as_str().expect("a session");
    for name in [session, &session[..session.len() - 1]] {
        let log = workspace.log(None, Some(name), false).expect("a log");
        assert_eq!(log["transactions"].as_array().expect("a list").len(), 3, "{name}");
    }
    let error = workspace.log(None, Some("no-such"), false).expect_err("no session");
    assert_eq!(error.kind.as_str(), "not_found");
}

#[test]
fn a_host_approves_observes_and_cancels() {
    let dir = directory();
    let one = workspace(dir.path(), json!({ "durability": "none" }));
    fn apply(workspace: &OpenWorkspace, host: Callbacks<'_>) -> Result<Value, ToolError> {
        workspace.apply(PATCH.as_bytes(), &PatchOptions::default(), host)
    }
    let asked = AtomicUsize::new(0);
    let error = apply(&one, approve(Decision::Decline, &asked)).expect_err("it was declined");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(error.kind.as_str(), "permission_denied");
    assert_eq!(text(dir.path()).as_str(), BEFORE);
    let cancelled = Callbacks { cancellation: Cancellation::new(|| true), ..Callbacks::default() };
    assert_eq!(apply(&one, cancelled).expect_err("given up").kind.as_str(), "cancelled");
    assert_eq!(text(dir.path()), BEFORE);

    // Where approval is wanted and the call has no `approve`, it is refused; without approvals the
    // guard refuses what is guarded.
    let always = workspace(dir.path(), json!({ "approve": "ask" }));
    let error = apply(&always, Callbacks::default()).expect_err("there is no `approve`");
    assert!(error.message.contains("no `approve`"), "{error}");
    let guarded = "*** Begin Patch\n*** Add File: .envrc\n+x\n*** End Patch\n".as_bytes();
    let error = one
        .apply(guarded, &options(Value::Null), approve(Decision::Approve, &asked))
        .expect_err("guarded");
    assert_eq!(error.kind.as_str(), "permission_denied");
    let mut reasons = Vec::new();
    let auto = workspace(dir.path(), json!({ "approve": "auto" }));
    let why = |proposal: &api::Proposal<'_>| {
        reasons.extend_from_slice(proposal.reasons());
        assert_eq!(proposal.changes()[0]["path"], ".envrc");
        assert!(!proposal.diff().expect("a diff").is_empty());
        assert!(proposal.digest().len() == 64);
        Decision::ApproveForSession
    };
    let host = Callbacks { approve: Some(Box::new(why)), ..Callbacks::default() };
    auto.apply(guarded, &options(Value::Null), host).expect("it was approved");
    assert!(reasons[0].contains("guarded"), "{reasons:?}");
    // For the session: the same again is not asked.
    auto.undo(&UndoRequest::default(), approve(Decision::Approve, &asked)).expect("it is undone");
    let again = asked.load(Ordering::Relaxed);
    auto.apply(
        guarded,
        &options(json!({ "from": "envelope" })),
        approve(Decision::Decline, &asked),
    )
    .expect("approved");
    assert_eq!(asked.load(Ordering::Relaxed), again);

    let mut events = Vec::new();
    let host =
        Callbacks { observe: Some(Box::new(|event| events.push(event))), ..Callbacks::default() };
    apply(&one, host).expect("it applies");
    let types: Vec<_> =
        events.iter().map(|event| event["type"].as_str().expect("a type")).collect();
    assert_eq!(types, ["begin", "progress", "end", "turn_diff"]);
    assert_eq!(events[2]["result"]["ok"], true);
}

#[test]
fn tools_share_one_session() {
    let dir = directory();
    let workspace = workspace(dir.path(), json!({ "durability": "none" }));
    let call =
        |tool: &str, arguments: Value| workspace.call(tool, &arguments, Callbacks::default());
    let edit = json!({ "path": "a.txt", "edits": [{ "oldText": "two", "newText": "2" }] });
    assert_eq!(call("edit_file", edit.clone())["error"]["details"]["reason"], "unread");
    assert_eq!(call("read_file", json!({ "path": "a.txt" }))["ok"], true);
    assert_eq!(call("edit_file", edit)["ok"], true);
    assert_eq!(text(dir.path()), "one\n2\nthree\n");
    assert_eq!(call("no_such_tool", json!({}))["error"]["details"]["reason"], "unknown_tool");
    assert_eq!(call("read_file", json!({ "file": 1 }))["ok"], false);
}

#[test]
fn threads_share_a_workspace() {
    let dir = directory();
    let workspace = workspace(dir.path(), json!({ "durability": "none", "lockTimeout": 60 }));
    std::thread::scope(|scope| {
        for nth in 0..16 {
            let workspace = &workspace;
            scope.spawn(move || {
                let patch =
                    format!("*** Begin Patch\n*** Add File: {nth}.txt\n+{nth}\n*** End Patch\n");
                workspace
                    .apply(patch.as_bytes(), &PatchOptions::default(), Callbacks::default())
                    .expect("they do not meet");
            });
        }
    });
    assert_eq!(
        workspace.log(None, None, false).expect("a log")["transactions"]
            .as_array()
            .expect("a list")
            .len(),
        16
    );
}

#[test]
fn a_diff_without_headers_changes_a_text() {
    for (mode, text, diff, wanted) in [
        ("default", BEFORE, "@@\n one\n-two\n+TWO", Ok(AFTER)),
        ("default", BEFORE, " one\n-two\n+TWO\n", Ok(AFTER)),
        ("default", "a\n", "@@\n-a\n+a\n", Ok("a\n")),
        ("create", "", "+a\n+b\n+", Ok("a\nb\n")),
        ("create", "", "+a\n+b", Ok("a\nb")),
        ("create", "", "+a\r\n+", Ok("a\r\n")),
        ("default", "", "@@\r\n+a\r\n+b", Ok("a\r\nb\r\n")),
        ("default", BEFORE, "@@\r\n one\r\n-two\r\n+TWO", Ok(AFTER)),
        ("default", "a\r\nb\r\n", "@@\n-b\n+c\n", Ok("a\r\nc\r\n")),
        ("default", "a\nb", "@@\n+c\n*** End of File", Ok("a\nb\nc")),
        ("create", "", "a", Err("patch_parse_error")),
        ("default", BEFORE, "@@\n-four\n+4", Err("patch_apply_error")),
        ("default", "a\na\n", "@@\n-a\n+b", Err("multiple_matches")),
        ("default", BEFORE, "@@\n-one\n*** Delete File: text\n", Err("patch_parse_error")),
    ] {
        let result = api::apply_diff(text.as_bytes(), diff, mode);
        let found = result.as_ref().map(|text| std::str::from_utf8(text).expect("text"));
        assert_eq!(found.map_err(|error| error.kind.as_str()), wanted, "{diff:?}");
        if let Err(error) = result {
            assert!(!error.message.contains("text:"), "{error}");
            assert!(error.path.is_none(), "{error}");
        }
    }
    assert!(api::apply_diff(b"", "", "other").is_err());
}

#[test]
fn a_patch_is_parsed_streamed_and_converted() {
    let none = options(Value::Null);
    let parsed = api::parse(PATCH.as_bytes(), &none).expect("it parses");
    assert_eq!(parsed["sections"][0]["path"]["text"], "a.txt", "{parsed}");
    let convert = |patch: &str, to, files: Option<&MemoryTree>| {
        api::convert(patch.as_bytes(), to, &none, files)
            .map(|done| String::from_utf8(done.text).expect("text"))
    };
    let envelope = convert(DIFF, "envelope", None).expect("it says the same");
    assert_eq!(
        envelope,
        "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n*** End Patch\n"
    );
    assert_eq!(convert(PATCH, "unified", Some(&tree())).expect("it applies"), DIFF);
    assert!(
        convert(PATCH, "git", Some(&tree()))
            .expect("it applies")
            .starts_with("diff --git a/a.txt b/a.txt\n")
    );
    assert_eq!(
        convert(PATCH, "git", None).expect_err("there are no files").kind.as_str(),
        "command_failed"
    );
    // A file makes way for a directory, and the other way round.
    for (before, after) in [("d/a", "d"), ("d", "d/a")] {
        let files: MemoryTree = [(before, "1\n")].into_iter().collect();
        let git = format!(
            "diff --git a/{after} b/{after}\nnew file mode 100644\n--- /dev/null\n\
             +++ b/{after}\n@@ -0,0 +1 @@\n+2\ndiff --git a/{before} b/{before}\n\
             deleted file mode 100644\n--- a/{before}\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
        );
        let diff = convert(&git, "unified", Some(&files)).expect("it applies");
        let (changed, _) = api::apply_in_memory(&files, diff.as_bytes(), &none).expect("it fits");
        assert_eq!(changed.len(), 2, "{diff}");
    }
    let items = convert(PATCH, "openai", None).expect("they say the same");
    assert!(items.contains(r#""type":"update_file""#), "{items}");

    for other in [json!({ "form": "unified" }), json!({ "reverse": true }), json!({ "part": 1 })] {
        let error = JsonStream::new(&options(other)).expect_err("another way to read it");
        assert_eq!(error.details["reason"], "bad_arguments");
    }
    let mut stream = JsonStream::new(&none).expect("the defaults");
    let mut types = Vec::new();
    for byte in PATCH.as_bytes().chunks(7) {
        types.extend(stream.push(byte));
    }
    types.extend(stream.end());
    let types: Vec<_> = types.iter().map(|event| event["type"].as_str().expect("a type")).collect();
    assert_eq!(types[0], "begun");
    assert_eq!(*types.last().expect("some"), "ended");
    assert_eq!(stream.text(), PATCH);
    let mut stream = JsonStream::new(&none).expect("the defaults");
    stream.push(b"nonsense");
    assert_eq!(stream.end()[0]["error"]["kind"], "patch_parse_error");
}

#[test]
fn what_models_need_is_text() {
    let spec = |provider: &str, options: Value| {
        api::tool_specs(provider, &SpecRequest::read(options).expect("known"))
            .map(|specs| specs.value)
    };
    let tools = spec("openai", Value::Null).expect("tools");
    assert_eq!(tools.as_array().expect("a list").len(), patch_session::Tool::usual().count());
    assert_eq!(
        spec("openai", json!({ "patchOnly": true, "dialect": "codex" })).expect("a tool")["type"],
        "custom"
    );
    assert!(spec("nobody", Value::Null).is_err());
    assert!(spec("anthropic", json!({ "patch_only": true, "grammar": "lark" })).is_err());
    assert_eq!(
        spec("xgrammar", json!({ "patchOnly": true, "freeText": true })).expect("a tag")["type"],
        "structural_tag"
    );
    let callers = json!({ "patchOnly": true, "allowedCallers": ["programmatic"] });
    assert_eq!(
        spec("openai-builtin", callers).expect("a tool")["allowed_callers"],
        json!(["programmatic"])
    );
    // Options of the patch tool are not ignored where all tools are asked for.
    for option in [json!({ "freeText": true }), json!({ "dialect": "codex" })] {
        assert!(spec("vllm", option).is_err());
    }
    assert!(SpecRequest::read(json!({ "dialect": "klingon" })).is_err());
    assert!(api::prompt("whole", "tool").expect("a prompt").contains("*** Begin Patch"));
    assert!(api::prompt("whole", "telegraph").is_err());
    assert!(api::grammar("lark", "codex").expect("a grammar").contains("start"));
    assert!(api::grammar("yacc", "codex").is_err());
}

#[test]
fn a_patch_becomes_a_commit() {
    let dir = directory();
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git")
            .args(args)
            .current_dir(dir.path())
            .output()
            .expect("there is git");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("text").trim().to_owned()
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "A"]);
    git(&["config", "user.email", "a@example.org"]);
    git(&["add", "a.txt"]);
    git(&["commit", "-qm", "first"]);
    git(&["branch", "work"]);
    let open = |revision: &str| GitTree::open(dir.path(), revision, &WorkspaceOptions::default());
    let tree = open("work").expect("it is there");
    assert_eq!(tree.commit(), git(&["rev-parse", "work"]));
    assert_eq!(tree.tree(), git(&["rev-parse", "work^{tree}"]));
    assert_eq!(tree.list().expect("a list"), ["a.txt"]);
    assert_eq!(tree.read("a.txt").expect("it is there").expect("a file"), BEFORE.as_bytes());
    assert_eq!(tree.read("b.txt").expect("it is not there"), None);
    assert_eq!(tree.read("../b").expect_err("outside").kind.as_str(), "outside_workspace");
    let plan = tree.plan(PATCH.as_bytes(), &PatchOptions::default()).expect("it applies");
    assert_eq!(plan.summary(), "1 updated");
    let planned = tree.tree_of(&plan).expect("its objects are there");
    let apply = |tree: &GitTree, value: Value| {
        let options = GitOptions::read(value).expect("known");
        tree.apply(PATCH.as_bytes(), &PatchOptions::default(), &options, Callbacks::default())
    };
    let done = apply(&tree, json!({ "message": "second", "author": "B <b@example.org>" }))
        .expect("it is committed");
    assert_eq!(&done["commit"], &json!(git(&["rev-parse", "work"])));
    assert_eq!(&done["tree"], &json!(planned));
    assert_eq!(git(&["show", "work:a.txt"]), AFTER.trim());
    assert_eq!(git(&["log", "-1", "--format=%an %s", "work"]), "B second");
    // The branch has moved since it was opened.
    let moved: Result<Value, ToolError> = apply(&tree, Value::Null);
    assert_eq!(moved.expect_err("it moved").kind.as_str(), "stale_file");
    assert_eq!(apply(&tree, json!({ "branch": "other" })).expect("a new one")["branch"], "other");
    let other = tree.at("other").expect("it was made meanwhile");
    assert_eq!(other.commit(), git(&["rev-parse", "other"]));
    assert_eq!(other.read("a.txt").expect("it is there").expect("a file"), AFTER.as_bytes());
    assert!(open("nowhere").is_err() && tree.at("nowhere").is_err());
    assert!(apply(&tree, json!({ "author": "x" })).is_err());
    // By its id a commit is not a branch to move.
    let by_id = open(&other.commit()).expect("it is there");
    assert_eq!(by_id.commit(), other.commit());
    // A host may cancel as long as the branch is where it was: the last time it is asked is after
    // the intent is in the log.
    let tree = open("main").expect("it is there");
    for polls_before in 0.. {
        let polls = AtomicUsize::new(0);
        let cancelled = move || polls.fetch_add(1, Ordering::Relaxed) >= polls_before;
        let host = Callbacks { cancellation: Cancellation::new(cancelled), ..Callbacks::default() };
        let options = (PatchOptions::default(), GitOptions::default());
        let error = tree.apply(PATCH.as_bytes(), &options.0, &options.1, host);
        let error = error.expect_err("cancelled, or the branch is checked out");
        if error.message.contains("is checked out") {
            assert!(polls_before > 3, "asked {polls_before} times");
            break;
        }
        assert_eq!(error.message, "cancelled; nothing was changed");
        assert_eq!(error.kind.as_str(), "cancelled");
        assert_eq!(git(&["rev-parse", "main"]), tree.commit());
    }
}

/// Values that cross threads.
#[test]
fn values_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<OpenWorkspace>();
    shared::<PlannedPatch>();
    shared::<GitTree>();
    shared::<MemoryTree>();
}

/// Only what did not fit is sent again.
#[test]
fn a_refused_patch_is_amended() {
    let dir = directory();
    let other = dir.path().join("b.txt");
    fs::write(&other, "b\n").expect("a file");
    let here = workspace(dir.path(), json!({}));
    let apply = |patch: &str, value: Value| {
        here.apply(patch.as_bytes(), &options(value), Callbacks::default())
    };
    let section =
        |path: &str, from: &str, to: &str| format!("*** Update File: {path}\n@@\n-{from}\n+{to}\n");
    let envelope =
        |sections: &[String]| format!("*** Begin Patch\n{}*** End Patch\n", sections.concat());
    // Something was changed here before: otherwise no trace is left, and nothing is kept.
    apply(PATCH, json!({})).expect("it applies");
    let both = envelope(&[section("a.txt", "three", "THREE"), section("b.txt", "c", "B")]);
    let refused = apply(&both, json!({})).expect_err("there is no c");
    let id = refused.details["patchId"].as_str().expect("it is kept");
    let amends = envelope(&[section("b.txt", "b", "B")]);
    let wrong = apply(&amends, json!({ "amend": "p-000000000000" })).expect_err("not kept");
    assert_eq!(wrong.details["reason"], "not_kept");
    apply(&amends, json!({ "amend": id, "reverse": true })).expect_err("not both");
    let plan = here
        .plan(amends.as_bytes(), &options(json!({ "amend": id })), &Cancellation::NEVER)
        .expect("it fits");
    assert_eq!(plan.summary(), "2 updated");
    apply(&amends, json!({ "amend": id })).expect("it fits");
    assert_eq!(text(dir.path()), "one\nTWO\nTHREE\n");
    assert_eq!(fs::read_to_string(&other).expect("it is there"), "B\n");
    // Nobody else keeps patches.
    let amends = options(json!({ "amend": id }));
    assert!(api::parse(PATCH.as_bytes(), &amends).is_err());
    assert!(api::convert(PATCH.as_bytes(), "openai", &amends, None).is_err());
    assert!(api::apply_in_memory(&tree(), PATCH.as_bytes(), &amends).is_err());
}

#[test]
fn several_transactions_are_undone_as_one() {
    let undo = |here: &OpenWorkspace, request: Value| {
        here.undo(&UndoRequest::read(request).expect("options"), Callbacks::default())
    };
    let change = |from: &str, to: &str| {
        format!("*** Begin Patch\n*** Update File: a.txt\n@@\n-{from}\n+{to}\n*** End Patch\n")
    };
    for by in ["session", "id", "time"] {
        let dir = directory();
        let before = text(dir.path());
        let here = workspace(dir.path(), json!({ "session": "here" }));
        let mut first = None;
        for (from, to) in [("two", "2"), ("2", "II"), ("one", "1")] {
            let done =
                here.apply(change(from, to).as_bytes(), &options(json!({})), Callbacks::default());
            first.get_or_insert(done.expect("it applies")["transactionId"].clone());
        }
        let request = match by {
            "session" => json!({ "session": "here" }),
            "id" => json!({ "since": first }),
            _ => json!({ "since": "1h" }),
        };
        let undone = undo(&here, request).expect("they are undone");
        assert_eq!(undone["alsoUndoOf"].as_array().map(Vec::len), Some(2), "{by}: {undone}");
        assert_eq!(text(dir.path()), before, "{by}");
        for wrong in [
            json!({ "session": "here", "since": "1h" }),
            json!({ "since": "1h", "paths": ["a.txt"] }),
            json!({ "session": "here", "id": first }),
            json!({ "since": "yore" }),
        ] {
            undo(&here, wrong.clone()).expect_err(&wrong.to_string());
        }
    }
}

#[test]
fn the_sections_that_fit_are_planned_and_applied() {
    let dir = directory();
    let other = dir.path().join("b.txt");
    fs::write(&other, "b\n").expect("a file");
    let here = workspace(dir.path(), json!({}));
    let patch =
        b"*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** Update File: b.txt\n\
                  @@\n-c\n+B\n\
        *** End Patch\n";
    let partial = || options(json!({ "partial": true }));
    let outcomes = |hunks: &Value| -> Vec<String> {
        let hunks = hunks.as_array().expect("hunks").iter();
        hunks.map(|hunk| hunk["outcome"].as_str().expect("one").to_owned()).collect()
    };
    let plan = here.plan(patch, &partial(), &Cancellation::NEVER).expect("a part fits");
    assert_eq!(plan.summary(), "1 updated");
    assert_eq!(plan.notes(), ["b.txt: left out"]);
    let data = plan.data(api::tools::changes::DiffDetail::None).expect("data");
    assert_eq!(outcomes(&data["hunks"]), ["applied", "rejected"]);
    let whole = |atomic: bool| {
        let options = options(json!({ "atomic": atomic }));
        let plan = here.plan(PATCH.as_bytes(), &options, &Cancellation::NEVER).expect("it applies");
        plan.data(api::tools::changes::DiffDetail::None).expect("data")["atomic"].clone()
    };
    assert_eq!([whole(true), whole(false)], [json!(true), json!(false)]);
    // A plan is one transaction; of several it would not be said that some do not fit.
    let several = options(json!({ "atomic": false }));
    let wrong = here.plan(patch, &several, &Cancellation::NEVER).expect_err("not all fits");
    assert!(wrong.details["applied"]["dryRun"].as_bool().expect("a boolean"));
    let failed = here.apply_plan(&plan, Callbacks::default()).expect_err("a part does not fit");
    assert_eq!(failed.details["applied"]["changedFiles"][0]["path"], "a.txt");
    assert_eq!(outcomes(&failed.details["hunks"]), ["applied", "rejected"]);
    assert!(failed.details["patchId"].is_string());
    assert_eq!(text(dir.path()), "one\nTWO\nthree\n");
    for wrong in
        [json!({ "partial": true, "atomic": false }), json!({ "partial": true, "reverse": true })]
    {
        here.apply(patch, &options(wrong), Callbacks::default()).expect_err("not both");
    }
    // What is not a workspace applies all or nothing, and says so.
    for only in [json!({ "partial": true }), json!({ "atomic": false })] {
        let wrong = api::apply_in_memory(&tree(), PATCH.as_bytes(), &options(only));
        assert_eq!(wrong.expect_err("all or nothing").details["reason"], "bad_arguments");
    }
}

/// The command runs in the directory, after its files are changed.
#[cfg(unix)]
#[test]
fn a_command_verifies_a_change() {
    // The options, those of the patch, and the error.
    for (options, patch, error) in [
        (json!({ "verify": "grep -q TWO a.txt" }), json!({}), ""),
        (json!({ "verify": "grep -q two a.txt" }), json!({}), "exited with 1"),
        (json!({ "verify": "sleep 9", "verify_timeout": 0.05 }), json!({}), "longer than 0.05 s"),
        (json!({ "verify": "true" }), json!({ "atomic": false }), "all files of a patch or none"),
        (json!({ "verify": { "b": "false", "*.txt": "grep -q TWO a.txt" } }), json!({}), ""),
        (json!({ "verify": { "*.txt": "exit 3" } }), json!({}), "exited with 3"),
        (json!({ "verifyTimeout": 1 }), json!({}), ""),
    ] {
        let dir = directory();
        let read = WorkspaceOptions::read(options.clone()).expect("they are known");
        let applied = OpenWorkspace::open(dir.path(), &read).and_then(|workspace| {
            let patch = self::options(patch);
            let planned = workspace.plan(PATCH.as_bytes(), &patch, &Cancellation::NEVER);
            assert_eq!(planned.is_err(), patch.atomic.is_some(), "{options}");
            workspace.apply(PATCH.as_bytes(), &patch, Callbacks::default())
        });
        let message = applied.map_or_else(|error| error.message, |_| String::new());
        assert!(message.contains(error), "{options}: {message}");
        assert_eq!(message.is_empty(), error.is_empty(), "{options}: {message}");
        assert_eq!(text(dir.path()), if error.is_empty() { AFTER } else { BEFORE }, "{options}");
    }
    for wrong in [json!({ "verify": ["true"] }), json!({ "verifyTimeout": -1 })] {
        WorkspaceOptions::read(wrong).expect_err("it is not a command, or a time");
    }
    let dir = directory();
    let options = WorkspaceOptions::read(json!({ "verify": "true" })).expect("they are known");
    let error = GitTree::open(dir.path(), "main", &options).expect_err("nothing is checked out");
    assert!(error.message.contains("without a checkout"), "{error:?}");
}

#[test]
fn changes_between_a_beginning_and_an_end_are_a_turn() {
    let change = |from: &str, to: &str| {
        format!("*** Begin Patch\n*** Update File: a.txt\n@@\n-{from}\n+{to}\n*** End Patch\n")
    };
    let undo = |here: &OpenWorkspace, request: Value| {
        here.undo(&UndoRequest::read(request).expect("options"), Callbacks::default())
    };
    for (by, name) in [("plain", None), ("turn", Some("t7")), ("session/turn", Some("t7"))] {
        let dir = directory();
        let here = workspace(dir.path(), json!({ "session": "s", "approve": "ask" }));
        here.end_turn().expect_err("none is open");
        let turn = here.begin_turn(name).expect("it begins");
        assert_eq!(name.unwrap_or(&turn), turn);
        here.begin_turn(None).expect_err("it is open");
        // One answer is enough for the whole turn.
        let asked = AtomicUsize::new(0);
        for (from, to) in [("two", "2"), ("2", "II"), ("one", "1")] {
            let host = approve(Decision::ApproveForTurn, &asked);
            here.apply(change(from, to).as_bytes(), &options(json!({})), host).expect("it applies");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        let ended = here.end_turn().expect("its end");
        assert_eq!(ended["id"], *turn);
        assert_eq!(ended["transactions"].as_array().map(Vec::len), Some(3), "{ended}");
        assert_eq!(ended["changedFiles"][0]["path"], "a.txt");
        assert_eq!(
            ended["diff"],
            "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-one\n-two\n\
             +1\n+II\n three\n"
        );
        let host = approve(Decision::Decline, &asked);
        here.apply(change("three", "3").as_bytes(), &options(json!({})), host).expect_err("asked");
        let here = workspace(dir.path(), json!({}));
        assert_eq!(here.log(None, None, false).expect("the log")["turns"][0]["id"], *turn);
        for wrong in [json!({ "turn": turn, "session": "s" }), json!({ "turn": "none" })] {
            undo(&here, wrong.clone()).expect_err(&wrong.to_string());
        }
        let request = match by {
            "plain" => json!({}),
            "turn" => json!({ "turn": turn }),
            _ => json!({ "turn": format!("s/{turn}") }),
        };
        let undone = undo(&here, request).expect("a turn");
        assert_eq!(undone["turnId"], *turn);
        assert_eq!(
            undone["notes"],
            json!([format!("all of turn {turn} is undone: 3 transactions")])
        );
        assert_eq!(text(dir.path()), BEFORE, "{by}");
        here.redo(None, api::DiffDetail::None, Callbacks::default()).expect("it comes back");
        assert_eq!(text(dir.path()), "1\nII\nthree\n", "{by}");
    }
}

/// A person may edit a proposal: that is applied in its place, asked about again only where it
/// touches other paths, and the answer says so.
#[test]
fn a_proposal_that_is_edited_is_applied_as_it_was_edited() {
    const MINE: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+MINE\n three\n";
    const ELSEWHERE: &str = "*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch\n";
    for (policy, edited, asked, wanted) in [
        (None, MINE, 1, Ok("one\nMINE\nthree\n")),
        (Some("ask"), MINE, 1, Ok("one\nMINE\nthree\n")),
        (Some("ask"), ELSEWHERE, 2, Ok(BEFORE)),
        // Edited to what it was.
        (Some("ask"), PATCH, 1, Ok(AFTER)),
        (Some("ask"), "*** Begin Patch\n*** Nonsense\n", 1, Err("patch_parse_error")),
        (Some("ask"), "no patch", 1, Err("patch_parse_error")),
    ] {
        let dir = directory();
        let here = workspace(dir.path(), json!({ "session": "s", "approve": policy }));
        let count = AtomicUsize::new(0);
        let approve = |proposal: &api::Proposal<'_>| {
            if count.fetch_add(1, Ordering::Relaxed) > 0 {
                return Decision::Approve;
            }
            proposal.edit(edited);
            Decision::Edit
        };
        let host = || Callbacks { approve: Some(Box::new(approve)), ..Callbacks::default() };
        let done = here.apply(PATCH.as_bytes(), &options(json!({})), host());
        assert_eq!(count.load(Ordering::Relaxed), asked, "{edited}");
        let wanted = match (wanted, &done) {
            (Ok(wanted), Ok(_)) => wanted,
            (Err(kind), Err(error)) => {
                assert_eq!(error.kind.as_str(), kind, "{error}");
                assert_eq!(text(dir.path()), BEFORE);
                continue;
            }
            (_, done) => panic!("{edited}: {done:?}"),
        };
        assert_eq!(text(dir.path()), wanted, "{edited}");
        let told = &done.expect("an answer")["editedByPerson"]["diff"];
        match edited {
            MINE => assert_eq!(
                told.as_str().map(|diff| diff.contains("\n one\n-TWO\n+MINE\n three\n")),
                Some(true),
                "{told}"
            ),
            ELSEWHERE => {
                let diff = told.as_str().expect("a diff");
                assert!(diff.contains("\n-TWO\n+two\n"), "{diff}");
                assert!(diff.contains("+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n"), "{diff}");
            }
            _ => assert!(told.is_null(), "{told}"),
        }
        // The tool tells the model; another tool than that of patches takes no edit.
        count.store(0, Ordering::Relaxed);
        let call = here.call("create_file", &json!({ "path": "c", "content": "" }), host());
        assert_eq!(call["error"]["kind"], "permission_denied", "{call}");
        count.store(0, Ordering::Relaxed);
        if edited == MINE {
            let dir = directory();
            let here = workspace(dir.path(), json!({ "approve": policy }));
            let args = json!({ "patch": PATCH });
            let call = here.call("apply_patch", &args, host());
            let output = call["output"].as_str().expect("a sentence");
            assert!(
                output.ends_with("a person changed the proposal: see editedByPerson"),
                "{call}"
            );
        }
    }
}
