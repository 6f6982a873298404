//! Advice about a failure can be obeyed by its receiver, and an answer is no longer than it needs
//! to be.

use file_tools::ToolInfo;
use file_tools::Tools as _;
use patch_engine::remedy::Setting;
use patch_engine::{Options, Profile, Remedy, commit};
use patch_session::ops::{self, calls, explain, to_envelope};
use patch_session::{Caller, ErrorKind, FailureClass, Hint, Tool, ToolError};
use serde_json::{Value, json};

use crate::support::{Bench, sha};

fn patch(body: &str) -> Value {
    json!({ "patch": format!("*** Begin Patch\n{body}*** End Patch\n") })
}

fn near(bench: &Bench, tool: &str, args: &Value) -> Option<String> {
    let reply = bench.call(tool, args);
    let hints = reply["error"]["hints"]
        .as_array()
        .unwrap_or_else(|| panic!("{tool} {args}: {reply}"))
        .clone();
    hints
        .iter()
        .find(|hint| hint["hint"] == "rename_path")
        .map(|hint| hint["to"].as_str().unwrap().to_owned())
}

#[test]
fn a_wrong_path_gets_the_one_that_was_probably_meant() {
    let bench = Bench::new(&[
        ("src/app.py", b"x\n"),
        ("src/deep/only.py", b"x\n"),
        ("one/twice.py", b"x\n"),
        ("two/twice.py", b"x\n"),
        (".env", b"x\n"),
        ("node_modules/lib/hidden.py", b"x\n"),
    ]);
    for (path, wanted) in [
        ("a/src/app.py", Some("src/app.py")),
        ("b/src/app.py", Some("src/app.py")),
        ("repo/src/app.py", Some("src/app.py")),
        ("app.py", Some("src/app.py")),
        ("deep/only.py", Some("src/deep/only.py")),
        ("src/ap.py", Some("src/app.py")),
        ("src/papp.py", Some("src/app.py")),
        ("src/App.py", Some("src/app.py")),
        ("elsewhere/only.py", Some("src/deep/only.py")),
        ("src/../src/app.py", Some("src/app.py")),
        ("src//app.py", Some("src/app.py")),
        // Two, none, and what may not be told.
        ("twice.py", None),
        ("nothing.py", None),
        ("../app.py", None),
        ("a/.env", None),
        ("hidden.py", None),
        ("/etc/passwd", None),
    ] {
        let update = patch(&format!("*** Update File: {path}\n@@\n-x\n+y\n"));
        assert_eq!(near(&bench, "apply_patch", &update).as_deref(), wanted, "{path}");
        if path != "src/App.py" {
            assert_eq!(
                near(&bench, "read_file", &json!({ "path": path })).as_deref(),
                wanted,
                "{path}"
            );
            let edit = json!({ "path": path, "edits": [{ "oldText": "x", "newText": "y" }] });
            assert_eq!(near(&bench, "edit_file", &edit).as_deref(), wanted, "{path}");
        }
    }
    let mut add = patch("*** Add File: source/deep/new.py\n+x\n*** Add File: scr/new.py\n+x\n");
    add["profile"] = "strict".into();
    let reply = bench.call("apply_patch", &add);
    assert_eq!(reply["error"]["details"]["rejects"][0]["didYouMean"], "src/new.py", "{reply}");
    assert_eq!(bench.read("src/app.py"), b"x\n", "a suggestion is never acted on");
}

#[test]
fn a_decorated_path_gets_its_bare_name() {
    let bench = Bench::new(&[
        ("src/a.py", b"x\n"),
        ("my file.py", b"x\n"),
        ("only.py", b"x\n"),
        ("two.py", b"x\n"),
        ("lib/two.py", b"x\n"),
        ("src/utils_test.py", b"x\n"),
        ("v1.py", b"x\n"),
        ("web/index.ts", b"x\n"),
        (".env", b"x\n"),
    ]);
    let uri = format!("file://{}src/a.py", bench.path("").display());
    for (path, wanted) in [
        ("src/a.py:6", Some("src/a.py")),
        ("src/a.py#L6", Some("src/a.py")),
        ("src/a.py (lines 4-6)", Some("src/a.py")),
        ("[a.py](src/a.py)", Some("src/a.py")),
        ("src%2Fa.py", Some("src/a.py")),
        ("my%20file.py", Some("my file.py")),
        ("@src/a.py", Some("src/a.py")),
        ("only.py (modified)", Some("only.py")),
        ("a/src/a.py:6", Some("src/a.py")),
        ("/mnt/d/proj/src/a.py", Some("src/a.py")),
        ("/c/proj/only.py", Some("only.py")),
        ("~/proj/src/a.py", Some("src/a.py")),
        ("/src/a.py:12", Some("src/a.py")),
        ("d:/proj/src/a.py", Some("src/a.py")),
        ("D:\\proj\\src\\a.py", Some("src/a.py")),
        ("file:///home/me/proj/src/a.py", Some("src/a.py")),
        ("file:///c:/proj/src/a.py", Some("src/a.py")),
        (&uri, Some("src/a.py")),
        ("only.py - proj - Visual Studio Code", Some("only.py")),
        ("src/utils-test.py", Some("src/utils_test.py")),
        ("src/util_test.py", Some("src/utils_test.py")),
        ("web/index.js", Some("web/index.ts")),
        // The name may be that of another file, or it shares little with this one.
        ("/c/proj/two.py", None),
        ("src/b.py", None),
        ("v2.py", None),
        ("src/utils_test.md", None),
        ("/home/me/.env", None),
        (".env:3", None),
        ("http://example.org/nothing.py", None),
    ] {
        let update = patch(&format!("*** Update File: {path}\n@@\n-x\n+y\n"));
        assert_eq!(near(&bench, "apply_patch", &update).as_deref(), wanted, "{path}");
        let read = json!({ "path": path });
        assert_eq!(near(&bench, "read_file", &read).as_deref(), wanted, "{path}");
    }
    assert_eq!(bench.read("src/a.py"), b"x\n", "a suggestion is never acted on");
}

#[test]
fn a_missing_file_can_be_made_by_what_is_said() {
    let of = |reply: &Value| reply["error"]["suggestedNextAction"].as_str().unwrap().to_owned();
    let bench = Bench::new(&[("a.py", b"x\n")]);
    for (sent, wanted) in [
        (
            "*** Begin Patch\n*** Update File: n/new.txt\n@@\n+y\n*** End Patch\n",
            "to make a new file, use `*** Add File: n/new.txt`, without `@@`",
        ),
        (
            "*** Begin Patch\n*** Update File: n/new.txt\n@@\n-x\n+y\n*** End Patch\n",
            "choose another path than n/new.txt: a file that exists (list the directory); or to \
             make a new file, use `*** Add File: n/new.txt`",
        ),
        (
            "--- a/n/new.txt\n+++ b/n/new.txt\n@@ -1,0 +1 @@\n+y\n",
            "to make a new file, let line 1 of the patch be `--- /dev/null`",
        ),
        (
            "diff --git a/n/new.txt b/n/new.txt\n--- a/n/new.txt\n+++ b/n/new.txt\n@@ -1,0 +1 @@\n+y\n",
            "to make a new file, let line 2 of the patch be `--- /dev/null`",
        ),
        (
            "Here it is:\n\n```diff\n--- n/new.txt\n+++ n/new.txt\n@@\n+y\n```\n",
            "to make a new file, let line 4 of the patch be `--- /dev/null`",
        ),
        (
            "n/new.txt\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n",
            "to make a new file, leave the lines out that SEARCH has",
        ),
    ] {
        let reply = bench.call("apply_patch", &json!({ "patch": sent }));
        assert!(of(&reply).contains(wanted), "{sent}{reply:#}");
        let mut lines: Vec<String> = sent.lines().map(ToOwned::to_owned).collect();
        if sent.contains("Update File") {
            lines.retain(|line| !line.starts_with("@@") && !line.starts_with('-'));
            lines[1] = "*** Add File: n/new.txt".into();
        } else if sent.contains("SEARCH") {
            lines.remove(2);
        } else {
            let hints = reply["error"]["hints"].as_array().unwrap();
            let hint = hints.iter().find(|hint| hint["hint"] == "correct_line").unwrap();
            lines[hint["line"].as_u64().unwrap() as usize - 1] =
                hint["wanted"].as_str().unwrap().to_owned();
        }
        let bench = Bench::new(&[]);
        bench.done("apply_patch", &json!({ "patch": lines.join("\n") + "\n" }));
        assert_eq!(bench.read("n/new.txt"), b"y\n", "{lines:#?}");
    }
    let edit = json!({ "path": "new.txt", "edits": [{ "oldText": "x", "newText": "y" }] });
    let said = of(&bench.call("edit_file", &edit));
    assert!(said.ends_with("or to make a new file, use create_file for new.txt"), "{said}");
    // Nothing is made of a file that is to go, and a file that is near is meant.
    for body in ["*** Delete File: new.txt\n", "*** Update File: a.pyc\n@@\n-x\n+y\n"] {
        let said = of(&bench.call("apply_patch", &patch(body)));
        assert!(!said.contains("new file"), "{said}");
    }
}

#[test]
fn advice_about_a_block_is_lines_of_a_block() {
    const FILE: &[u8] = b"def a():\n    x = 1\n\n\ndef b():\n    x = 1\n    return x\n";
    let block = |old: &str, new: &str| {
        let text = format!("f.py\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n");
        json!({ "patch": text })
    };
    let hints = |bench: &Bench, old: &str, new: &str| {
        let reply = bench.call("apply_patch", &block(old, new));
        let error = &reply["error"];
        let next = error["suggestedNextAction"].as_str().unwrap_or_default().to_owned();
        (error["hints"].as_array().cloned().unwrap_or_else(|| panic!("{reply}")), next)
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (old, new) = ("    x = 1\n", "    x = 2\n");
    for nth in 0..2 {
        let bench = Bench::new(&[("f.py", FILE)]);
        let (told, next) = hints(&bench, old, new);
        assert!(
            next.contains("above the lines of both SEARCH and REPLACE:\ndef a():\nor "),
            "{next}"
        );
        assert_eq!(told[nth]["hint"], "add_text", "{next}");
        let around = |lines: &str| {
            format!("{}{lines}{}", text(&told[nth]["before"]), text(&told[nth]["after"]))
        };
        let reply = bench.call("apply_patch", &block(&around(old), &around(new)));
        assert_eq!(reply["ok"], true, "{reply}");
        let lines = String::from_utf8(bench.read("f.py")).expect("text");
        let line = told[nth]["meansLine"].as_u64().expect("a line") as usize;
        assert_eq!(lines.lines().nth(line - 1), Some("    x = 2"), "{next}");
    }
    let bench = Bench::new(&[("f.py", FILE)]);
    let (told, _) =
        hints(&bench, "def b():\n    x = 1\n    retrun x\n", "def b():\n    return 1\n");
    assert_eq!(told[0]["hint"], "replace_hunk");
    let lines: Vec<String> = told[0]["lines"].as_array().expect("lines").iter().map(text).collect();
    let sent = format!("f.py\n{}\n", lines.join("\n"));
    let reply = bench.call("apply_patch", &json!({ "patch": sent }));
    assert_eq!(reply["ok"], true, "{sent} {reply}");
    assert!(bench.read("f.py").ends_with(b"def b():\n    return 1\n"));
    // What would be read as a marker cannot be sent.
    let bench = Bench::new(&[("f.py", b"a\n=======\nb\n")]);
    let (told, _) = hints(&bench, "a\n======\nb\n", "c\n");
    assert_eq!(told[0]["hint"], "read_again", "{told:?}");
    let (told, next) = hints(&bench, "", "c\n");
    assert_eq!(told[0]["hint"], "send", "{next}");
    assert!(next.contains("write all of the file by write_file"), "{next}");
}

#[test]
fn a_hunk_to_paste_stands_at_its_place_only() {
    for (file, sent, wanted) in [
        // Its lines are there twice.
        (
            "h\nh\ng\n",
            "*** Begin Patch\n*** Update File: f\n@@\n-h \n+H\n*** End Patch\n",
            "H\nh\ng\n",
        ),
        (
            "x\n}\na\nx\n}\nb\n",
            "f.x\n<<<<<<< SEARCH\nx \n}\n=======\ny\n}\n>>>>>>> REPLACE\n",
            "y\n}\na\nx\n}\nb\n",
        ),
        // A diff shows no lines below where there are none.
        ("i\n    x\na\n\nb\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,1 @@\n i\n-  x\n-a\n", "i\n\nb\n"),
        ("a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b \n+B\n", "a\nB\nc\n"),
    ] {
        let name = if sent.starts_with("f.x") { "f.x" } else { "f" };
        let bench = Bench::new(&[(name, file.as_bytes())]);
        let reply = bench.call("apply_patch", &json!({ "patch": sent }));
        let hints = reply["error"]["hints"].as_array().expect("hints");
        let paste = hints.iter().find(|hint| hint["hint"] == "replace_hunk");
        let lines = paste.unwrap_or_else(|| panic!("{reply}"))["lines"].as_array();
        let lines: String = lines
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .flat_map(|it| [it, "\n"])
            .collect();
        // Who pastes into a diff counts the lines, too.
        let again = if sent.starts_with("f.x") {
            format!("f.x\n{lines}")
        } else if sent.starts_with("---") {
            let count = |sign| lines.lines().filter(|line| !line.starts_with(sign)).count();
            let (old, new) = (count('+'), count('-'));
            format!("--- a/f\n+++ b/f\n@@ -1,{old} +1,{new} @@\n{lines}")
        } else {
            format!("*** Begin Patch\n*** Update File: f\n@@\n{lines}*** End Patch\n")
        };
        let reply = bench.call("apply_patch", &json!({ "patch": again }));
        assert_eq!(reply["ok"], true, "{again} {reply}");
        assert_eq!(String::from_utf8_lossy(&bench.read(name)), wanted, "{again}");
    }
}

#[test]
fn each_caller_is_told_in_its_own_words() {
    let bench = Bench::new(&[("f", b"x x\n"), ("there", b"y\n")]);
    // No tool is given a flag, or an argument that it does not have.
    let missing =
        bench.fails("create_file", &json!({ "path": "no/f", "content": "" }), "not_found");
    assert_eq!(
        missing["hints"][0],
        json!({ "hint": "use_argument", "argument": "createParentDirectories", "value": true })
    );
    let mut strict = patch("*** Add File: no/f\n+x\n");
    strict["profile"] = "strict".into();
    let missing = bench.fails("apply_patch", &strict, "not_found");
    assert_eq!(
        missing["hints"][0],
        json!({ "hint": "use_argument", "argument": "createParentDirectories", "value": true })
    );
    strict["createParentDirectories"] = true.into();
    bench.done("apply_patch", &strict);
    assert_eq!(bench.read("no/f"), b"x\n");
    let there = bench.fails("apply_patch", &patch("*** Add File: there\n+x\n"), "already_exists");
    assert!(there["suggestedNextAction"].as_str().unwrap().contains("profile"), "{there}");
    let diff = json!({ "patch": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x x\n+y\n" });
    let other = bench.call("edit.patch", &diff)["error"].as_str().unwrap().to_owned();
    assert!(other.contains("next: send a patch in the envelope"), "{other}");
    assert!(!other.contains("--"), "{other}");
    let gone = bench.call("edit.patch", &patch("*** Delete File: f\n"))["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(gone.contains("set allow_delete to true"), "{gone}");
    let there =
        bench.fails("create_file", &json!({ "path": "there", "content": "" }), "already_exists");
    assert_eq!(
        there["hints"],
        json!([{ "hint": "use_tool", "tool": "edit_file", "path": "there" }])
    );
    // The editor's model knows neither `oldText` nor `replaceAll`.
    for command in [
        json!({ "command": "str_replace", "path": "f", "old_str": "x", "new_str": "y" }),
        json!({ "command": "str_replace", "path": "f", "old_str": "z", "new_str": "y" }),
        json!({ "command": "str_replace", "path": "f", "old_str": "x", "new_str": "x" }),
        json!({ "command": "create", "path": "no/", "file_text": "" }),
    ] {
        let reply = bench.tools().editor(&command, None, &mut ());
        let said = &reply.content;
        assert!(reply.is_error, "{command}: {said}");
        assert!(said.contains("next: "), "{command}: {said}");
        for word in ["oldText", "newText", "replaceAll", "--", "*** ", "read_file"] {
            assert!(!said.contains(word), "{command}: {said}");
        }
    }
    // No flag at all: a person has to decide.
    for (path, flag) in
        [(".envrc", Some("--allow .envrc")), (".env", None), ("src/secrets/a.py", None)]
    {
        let error = bench.fails(
            "apply_patch",
            &patch(&format!("*** Add File: {path}\n+x\n")),
            "permission_denied",
        );
        let [hint] = &error["hints"].as_array().unwrap()[..] else { panic!("{error}") };
        assert_eq!(&hint["hint"], &json!("ask_person"), "{error}");
        assert_eq!(hint["flag"].as_str(), flag, "{error}");
    }
    bench.done("create_file", &json!({ "path": ".env.example", "content": "KEY=\n" }));
    let git = bench.fails(
        "create_file",
        &json!({ "path": ".git/config", "content": "" }),
        "permission_denied",
    );
    assert_eq!(git["hints"], json!([{ "hint": "leave_alone", "path": ".git/config" }]));
    assert!(git["suggestedNextAction"].as_str().unwrap().contains("nothing lifts"), "{git}");
    let deep = "a/".repeat(2000) + "f";
    let error =
        bench.fails("create_file", &json!({ "path": deep, "content": "" }), "command_failed");
    assert!(error.to_string().len() < 2000, "{error}");
    assert!(error["suggestedNextAction"].as_str().unwrap().contains("256"), "{error}");
    let two = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n".repeat(2);
    let two = bench.call("apply_patch", &json!({ "patch": two }));
    assert_eq!(
        two["error"]["suggestedNextAction"].as_str(),
        Some("send one patch, one diff, or the operations of one response"),
        "{two}"
    );
}

#[test]
fn operations_are_told_of_their_own_diffs() {
    let bench = Bench::new(&[("f", b"a\nb\n"), ("g", b"a\n")]);
    let call = |id: &str, path: &str, diff: &str| {
        json!({ "type": "apply_patch_call", "call_id": id,
            "operation": { "type": "update_file", "path": path, "diff": diff } })
    };
    let items = json!([
        call("1", "g", "@@\n-a\n+c\n"),
        call("2", "f", "@@\n a\n-x\n+y\n"),
        call("3", "h", "@@\n-a\n")
    ]);
    let calls = calls(&items.to_string()).unwrap();
    let text = to_envelope(&calls).unwrap();
    let options = Options::new(Profile::Strict);
    let patch = patch_engine::parse(&text, &options.parse).unwrap();
    let rejects =
        patch_engine::plan(bench.tools().workspace().root(), &patch, &options).unwrap_err();
    let told: Vec<_> = rejects.iter().map(|reject| explain(&calls, reject)).collect();
    assert!(
        told[0].starts_with("f: hunk 1 (diff line 1): its old lines are not in the file"),
        "{told:?}"
    );
    assert!(told[0].ends_with("\n a\n-b\n+y"), "what there is to paste is in the text: {told:?}");
    assert!(told[1].starts_with("h: there is no such file"), "{told:?}");
    for text in &told {
        assert!(!text.contains("patch line"), "{text}");
        assert!(!text.contains("*** "), "{text}");
        assert!(!text.contains("--"), "{text}");
        assert!(text.contains("\nnext: "), "{text}");
    }
    let bad = json!([call("4", "f", "@@\n a\n@@@ x\n")]);
    let error = to_envelope(&ops::calls(&bad.to_string()).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("call 4: in the diff, every line of a hunk"), "{error}");
    assert!(error.contains("(line 3, "), "{error}");
    assert!(
        error.ends_with("\nnext: correct line 3 of the diff and send the whole diff again"),
        "{error}"
    );
    let declined =
        ToolError::from(&patch_engine::commit::Error::Declined).addressed(Caller::Operations);
    assert!(
        declined.suggested_next_action.unwrap().contains("ask the person"),
        "{:?}",
        declined.hints
    );
}

#[test]
fn a_flag_without_an_argument_is_for_a_person() {
    for tool in Tool::ALL {
        let error = ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, "no")
            .remedies([Remedy::Set(Setting::CreateParents)])
            .addressed(Caller::Tool(tool));
        assert_eq!(error.hints.len(), 1, "{tool:?}: something can be done");
        assert!(!matches!(error.hints[0], Hint::UseFlag { .. }), "{tool:?}: {:?}", error.hints);
    }
}

#[test]
fn only_arguments_of_the_tool_are_named() {
    let bench = Bench::new(&[("f", b"a\n")]);
    for tool in Tool::ALL {
        let schema = ToolInfo::of(tool).input_schema;
        let known = schema["properties"].as_object().unwrap();
        for args in [json!([]), json!("x"), json!(7), json!({ "nosuch": 1 })] {
            let error = &bench.call(tool.as_str(), &args)["error"];
            for change in error["hints"][0]["arguments"].as_array().into_iter().flatten() {
                let argument = change["argument"].as_str().unwrap();
                let is_omitted = change["change"] == "omit";
                assert!(known.contains_key(argument) || is_omitted, "{tool} {args}: {error}");
            }
            assert!(error.is_string() || error["hints"][0]["arguments"][0].is_object(), "{error}");
        }
    }
    let unknown = bench.call("nosuch", &json!({}));
    let hints = json!([{ "hint": "use_command", "command": "apply-patch tool --list" }]);
    assert_eq!(unknown["error"]["hints"], hints);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("read_file"), "{unknown}");
}

#[test]
fn the_nearest_region_is_shown_and_ready_to_paste() {
    let bench = Bench::new(&[("f.py", b"def one():\n    if x:\n        start()\n    stop()\n")]);
    let error = bench.fails(
        "apply_patch",
        &patch("*** Update File: f.py\n@@\n if x:\n-    start()\n+    go()\n"),
        "patch_apply_error",
    );
    let nearest = &error["details"]["nearest"];
    assert_eq!(
        nearest["region"],
        json!([
            { "line": 2, "text": "    if x:", "columns": [1, 4] },
            { "line": 3, "text": "        start()", "columns": [5, 8] },
        ])
    );
    assert_eq!(
        error["hints"][0],
        json!({
            "hint": "replace_hunk", "lines": ["     if x:", "-        start()", "+        go()"],
        })
    );
    let many: String = (0..30).map(|line| format!("line {line}\n")).collect();
    bench.write("g", many.as_bytes());
    let hunk: String =
        (0..30).map(|line| format!(" line {}\n", if line == 20 { 99 } else { line })).collect();
    let error = bench.fails(
        "apply_patch",
        &patch(&format!("*** Update File: g\n@@\n{hunk}+x\n")),
        "patch_apply_error",
    );
    assert_eq!(error["details"]["nearest"]["region"].as_array().unwrap().len(), 12);
}

#[test]
fn an_edit_that_fits_twice_learns_what_makes_it_one() {
    let text = "def a():\n    x = 1\n\ndef b():\n    x = 1\n    y = x = 1 # last";
    let edit = |path: &str, old: &str, new: &str, expected: Option<u64>| {
        json!({ "path": path, "expectedSha256": sha(text.as_bytes()),
            "edits": [{ "oldText": old, "newText": new, "expectedOccurrences": expected }] })
    };
    let bench = Bench::new(&[("f", text.as_bytes())]);
    let error = bench.fails("edit_file", &edit("f", "x = 1", "x = 2", None), "multiple_matches");
    let around: Vec<_> = error["hints"].as_array().unwrap()[..3]
        .iter()
        .map(|hint| {
            (hint["meansLine"].as_u64().unwrap(), hint["before"].as_str(), hint["after"].as_str())
        })
        .collect();
    assert_eq!(
        around,
        [
            (2, Some("def a():\n    "), None),
            (5, Some("def b():\n    "), None),
            (6, Some("    y = "), None)
        ]
    );
    assert_eq!(
        error["hints"][3],
        json!({ "hint": "use_argument", "argument": "edits[0].replaceAll", "value": true })
    );
    for (line, before, after) in around {
        let fresh = Bench::new(&[("f", text.as_bytes())]);
        let wider = |middle: &str| {
            format!("{}{middle}{}", before.unwrap_or_default(), after.unwrap_or_default())
        };
        fresh.done("edit_file", &edit("f", &wider("x = 1"), &wider("x = 2"), None));
        let found = String::from_utf8(fresh.read("f")).unwrap();
        let changed = text.lines().zip(found.lines()).position(|(old, new)| old != new);
        assert_eq!(changed, Some(line as usize - 1), "{found}");
    }
    let error = bench.fails("edit_file", &edit("f", "x = 1", "x = 2", Some(2)), "multiple_matches");
    // Two are wanted: what makes it one would be refused too.
    let count =
        json!({ "hint": "use_argument", "argument": "edits[0].expectedOccurrences", "value": 3 });
    let longer = json!({ "hint": "correct_arguments", "arguments": [{
        "change": "give", "argument": "edits[0].oldText",
        "wanted": "a longer text of the file, which is there 2 times",
    }] });
    assert_eq!(error["hints"], json!([longer, count]));
    let error = bench.fails("edit_file", &edit("f", "x = 1", "x = 2", Some(4)), "multiple_matches");
    assert_eq!(error["hints"], json!([count]));
    // It is there once: nothing has to be added to it.
    let once = edit("f", "def a", "def c", Some(3));
    let error = bench.fails("edit_file", &once, "multiple_matches");
    let words = error["message"].as_str().unwrap();
    assert!(words.ends_with("is there once, not 3 (line 1)"), "{error}");
    assert_eq!(
        error["hints"],
        json!([{
            "hint": "use_argument", "argument": "edits[0].expectedOccurrences", "value": 1,
        }])
    );
    bench.done("edit_file", &edit("f", "def a", "def c", Some(1)));
    // What overlaps itself, and what stands there more often than a few lines tell apart.
    let same = "aaa\n".repeat(30);
    bench.write("same", same.as_bytes());
    for old in ["aa", "aaa"] {
        let mut args = edit("same", old, "b", Some(1));
        args["expectedSha256"] = sha(same.as_bytes()).into();
        let error = bench.fails("edit_file", &args, "multiple_matches");
        assert!(!error["hints"].as_array().unwrap().is_empty(), "{error}");
    }
    bench.write("over", b"aaa\n");
    let args = json!({ "path": "over", "expectedSha256": sha(b"aaa\n"),
        "edits": [{ "oldText": "aa", "newText": "b", "expectedOccurrences": 1 }] });
    let error = bench.fails("edit_file", &args, "multiple_matches");
    assert!(error["message"].as_str().unwrap().contains("several places that overlap"), "{error}");
    assert_eq!(
        error["hints"],
        json!([{ "hint": "add_text", "meansLine": 1, "after": "a" }]),
        "{error}"
    );
    // A name of a file, and a text to paste, stay as they are in the words of the editor.
    bench.write("read_file.txt", b"oldText 1\nread_file\n1\n");
    let command = json!({
        "command": "str_replace", "path": "read_file.txt", "old_str": "1", "new_str": "2",
    });
    let content = bench.tools().editor(&command, None, &mut ()).content;
    assert!(content.contains("read_file.txt: old_str fits in several places"), "{content}");
    assert!(content.contains(r#"put "oldText " before both old_str and new_str"#), "{content}");
}

#[test]
fn answers_are_small_unless_more_is_asked_for() {
    let long = "some line of text\n".repeat(6000);
    let bench = Bench::new(&[("big", long.as_bytes())]);
    let size = |tool: &str, args: Value| {
        let reply = bench.call(tool, &args);
        assert_eq!(reply["ok"], true, "{reply}");
        (reply.to_string().len(), reply)
    };
    assert!(size("create_file", json!({ "path": "new", "content": long })).0 < 400);
    let changed = long.replace("text", "words");
    assert!(
        size(
            "write_file",
            json!({ "path": "big", "content": changed, "expectedSha256": sha(long.as_bytes()) })
        )
        .0 < 500
    );
    let (bytes, reply) = size("delete_file", json!({ "path": "big", "diff": "full" }));
    assert!((4000..10_000).contains(&bytes), "{bytes}");
    assert!(
        reply["data"]["diff"].as_str().unwrap().contains("maxResultBytes"),
        "it says how to get the rest"
    );
    let (_, reply) = size("delete_file", json!({ "path": "new", "diff": "stat" }));
    assert_eq!(reply["data"]["diff"], "+0 -6000");
    let add = patch("*** Add File: a\n+1\n+2\n");
    let mut full = add.clone();
    (full["diff"], full["dryRun"]) = ("stat".into(), true.into());
    assert_eq!(size("apply_patch", full).1["data"]["changedFiles"][0]["diff"], "+2 -0");
    assert!(size("apply_patch", add).1["data"]["changedFiles"][0].get("diff").is_none());
    let lines: String = (0..400).map(|line| format!("line {line} of the file\n")).collect();
    bench.write("f", lines.as_bytes());
    let hunks: String = (0..60)
        .map(|nth| format!("@@\n line {0} of the file\n-line {nth} gone\n+new\n", nth * 6))
        .collect();
    let reply = bench.call("apply_patch", &patch(&format!("*** Update File: f\n{hunks}")));
    let bytes = reply.to_string().len();
    let details = &reply["error"]["details"];
    let told = details["rejects"].as_array().unwrap();
    assert!(bytes < 6000, "{bytes} bytes");
    assert_eq!(told.len(), 59, "each is told");
    assert_eq!(details.get("moreRejects"), None, "each is told");
    assert!(
        told.iter().all(|one| one["patchLine"].is_u64() && one["reason"] == "context_not_found"),
        "{reply}"
    );
    // A single one is not told twice.
    let one = bench.call("apply_patch", &patch("*** Update File: f\n@@\n-none\n+x\n"));
    assert!(one["error"]["details"].get("rejects").is_none(), "{one}");
}

#[test]
fn what_the_session_saw_counts_where_no_hash_is_given() {
    let bench = Bench::new(&[("f", b"a\n"), ("g", b"g\n")]);
    let edit = json!({ "path": "f", "edits": [{ "oldText": "a", "newText": "b" }] });
    let write = json!({ "path": "f", "content": "c\n" });
    let rename = json!({ "fromPath": "f", "toPath": "h" });
    for (tool, args) in [("edit_file", &edit), ("write_file", &write), ("move_file", &rename)] {
        let error = bench.fails(tool, args, "command_failed");
        assert_eq!(
            error["hints"][0],
            json!({ "hint": "use_tool", "tool": "read_file", "path": "f" }),
            "{tool}"
        );
    }
    bench.done("read_file", &json!({ "path": "f" }));
    bench.write("f", b"a\ntheirs\n");
    for (tool, args) in [("edit_file", &edit), ("write_file", &write), ("move_file", &rename)] {
        let error = bench.fails(tool, args, "stale_file");
        assert_eq!(error["hints"][0]["hint"], "read_again", "{tool}: {error}");
    }
    bench.done("read_file", &json!({ "path": "f" }));
    bench.done("edit_file", &edit);
    assert_eq!(bench.read("f"), b"b\ntheirs\n");
    bench.done("write_file", &write);
    bench.done("move_file", &rename);
    assert_eq!(bench.read("h"), b"c\n");
    let read = bench.done("read_file", &json!({ "path": "h", "lineNumbers": true }));
    assert_eq!(read["content"], "1\tc\n");
    bench.write("many", "x\n".repeat(12).as_bytes());
    let read = bench.done(
        "read_file",
        &json!({ "path": "many", "startLine": 9, "endLine": 10, "lineNumbers": true }),
    );
    assert_eq!(read["content"], "9\tx\n10\tx\n");
}

#[test]
fn what_a_call_needs_is_not_to_be_left_out() {
    let bench = Bench::new(&[("f", b"x\n")]);
    let same = json!({ "fromPath": "f", "toPath": "./f", "expectedSha256": sha(b"x\n") });
    let error = bench.fails("move_file", &same, "command_failed");
    assert_eq!(error["suggestedNextAction"], "let `toPath` be another path", "{error}");
    let omit = |argument: &str| {
        json!({ "hint": "correct_arguments", "arguments": [{
            "change": "omit", "argument": argument,
        }] })
    };
    for (expected, hint) in [
        (json!([{ "path": "f", "sha256": "z" }]), "expectedSha256ByPath[0]"),
        (
            json!([{ "path": "f", "sha256": "" }, { "path": "./f", "sha256": sha(b"x\n") }]),
            "expectedSha256ByPath[1]",
        ),
        (json!({ "f": "z" }), "expectedSha256ByPath.f"),
    ] {
        let mut args = patch("*** Delete File: f\n");
        args["expectedSha256ByPath"] = expected;
        let error = bench.fails("apply_patch", &args, "command_failed");
        assert_eq!(error["hints"].as_array().unwrap().last(), Some(&omit(hint)), "{error}");
    }
}

#[test]
fn a_pattern_for_one_directory_says_so_when_it_finds_nothing() {
    let bench = Bench::new(&[("src/a.py", b"")]);
    let told = |pattern: &str| {
        bench.call("glob", &json!({ "pattern": pattern }))["output"].as_str().unwrap().to_owned()
    };
    assert!(told("*.py").contains("`**/*.py`"), "{}", told("*.py"));
    assert_eq!(told("**/*.py"), "1 path matches");
    assert_eq!(told("src/*.rs"), "0 paths match");
}

/// Both look alike: the words say what differs.
#[test]
fn a_name_in_another_normalisation_is_told_by_that() {
    for (there, asked, words) in [
        ("cafe\u{301}.txt", "caf\u{e9}.txt", "written in NFD, and here in NFC"),
        ("caf\u{e9}.txt", "cafe\u{301}.txt", "written in NFC, and here in NFD"),
    ] {
        let bench = Bench::new(&[(there, b"x\n")]);
        let error = bench.fails("read_file", &json!({ "path": asked }), "not_found");
        assert_eq!(error["hints"][0]["to"], there, "{error}");
        let next = error["suggestedNextAction"].as_str().unwrap();
        assert!(next.contains(words), "{next}");
    }
}

#[test]
fn a_query_is_to_be_a_text_where_it_can_be_one() {
    let bench = Bench::new(&[("a", b"x\n")]);
    for (query, is_text) in [("(", true), ("x\ny", false)] {
        let args = json!({ "query": query, "mode": "regex" });
        let hints = bench.fails("search_files", &args, "command_failed")["hints"].to_string();
        assert_eq!(hints.contains("\"mode\""), is_text, "{hints}");
    }
}

/// It does not matter where in the work it was given up.
#[test]
fn what_was_given_up_is_told_by_the_same_words() {
    let given_up = || fs_guard::Error::Cancelled;
    for error in [
        ToolError::from(given_up()),
        ToolError::workspace(&commit::Error::Files(given_up())),
        ToolError::commit(&commit::CommitError::Files(given_up())),
    ] {
        assert_eq!(error.message, "cancelled; nothing was changed");
        assert_eq!(error.details["reason"], "cancelled");
    }
}

/// The edits of a call after the first hint has been obeyed.
fn obeyed(edits: &Value, error: &Value) -> Value {
    let mut edits = edits.clone();
    let mut gone = Vec::new();
    for change in error["hints"][0]["arguments"].as_array().unwrap_or_else(|| panic!("{error:#}")) {
        let argument = change["argument"].as_str().unwrap();
        let (edit, name) = argument.strip_prefix("edits[").unwrap().split_once(']').unwrap();
        let edit: usize = edit.parse().unwrap();
        if change["change"] == "omit" {
            gone.push(edit);
        } else {
            edits[edit][&name[1..]] = change["value"].clone();
        }
    }
    gone.into_iter().for_each(|edit| drop(edits.as_array_mut().unwrap().remove(edit)));
    edits
}

#[test]
fn an_edit_that_is_nearly_right_is_given_back_ready_to_send() {
    let code =
        "class A:\n    def f(self):\n        line1\n        line2\n\tx = \u{201c}a\u{201d}\n";
    for (old, new, wanted) in [
        // Without its indentation, which the new text gets too.
        (
            "line1\nline2",
            "lineA\nlineB",
            code.replace("line1\n        line2", "lineA\n        lineB"),
        ),
        (
            "line1\nline2\n",
            "lineA\n",
            code.replace("        line1\n        line2", "        lineA"),
        ),
        (
            "def f(self):\n    line1",
            "def f(self):\n    if a:\n        line0\n    line1",
            code.replace("        line1", "        if a:\n            line0\n        line1"),
        ),
        // With the numbers of our own reader.
        (
            "     3\t        line1\n     4\t        line2\n",
            "     3\t        lineA\n     4\t        line2\n",
            code.replace("line1", "lineA"),
        ),
        (
            "3| \x20       line1\n4|         line2",
            "        lineA\n        line2",
            code.replace("line1", "lineA"),
        ),
        // Blanks at the end, and punctuation.
        (
            "        line1  \n        line2",
            "        lineA\n        line2",
            code.replace("line1", "lineA"),
        ),
        ("\tx = \"a\"\n", "\tx = \"b\"\n", code.replace("\u{201c}a", "\u{201c}b")),
        ("\\tx = \u{201c}a\u{201d}\n", "\\ty = \u{201c}a\u{201d}\n", code.replace("\tx", "\ty")),
    ] {
        let bench = Bench::new(&[("f", code.as_bytes())]);
        let call = |edits: &Value| json!({ "path": "f", "expectedSha256": sha(code.as_bytes()), "edits": edits });
        let edits = json!([{ "oldText": old, "newText": new }]);
        let error = bench.fails("edit_file", &call(&edits), "old_text_not_found");
        bench.done("edit_file", &call(&obeyed(&edits, &error)));
        assert_eq!(String::from_utf8(bench.read("f")).unwrap(), wanted, "{old:?} {error:#}");
    }
    // The lines do not tell how the new text is indented: the old one alone is given back.
    let file = b"a\n  b\n    c\n";
    let bench = Bench::new(&[("f", file)]);
    let edits = json!([{ "oldText": "a\nb\nc", "newText": "a\nb\nx\nc" }]);
    let call = json!({ "path": "f", "expectedSha256": sha(file), "edits": edits });
    let error = bench.fails("edit_file", &call, "old_text_not_found");
    assert_eq!(
        error["suggestedNextAction"],
        "set `edits[0].oldText` to \"a\\n  b\\n    c\", and let `edits[0].newText` be indented \
         like that"
    );
    // A text that is part of a line would lose the rest of it.
    let file = b"one\n    b = foo(x)\n";
    let bench = Bench::new(&[("f", file)]);
    let edits = json!([{ "oldText": "one\n    b = fo", "newText": "two\n    b = ba" }]);
    bench.done("edit_file", &json!({ "path": "f", "expectedSha256": sha(file), "edits": edits }));
    let edits = json!([{ "oldText": "two\n  b = ba", "newText": "six\n  b = fo" }]);
    let now = bench.read("f");
    let call = json!({ "path": "f", "expectedSha256": sha(&now), "edits": edits });
    let error = bench.fails("edit_file", &call, "old_text_not_found");
    assert_eq!(error["hints"][0]["hint"], "read_again", "{error:#}");
}

#[test]
fn an_edit_of_what_another_writes_is_joined_with_it() {
    for (file, edits, wanted) in [
        (
            "def f():\n    return 1\n",
            [("def f():", "def g():"), ("def g():\n    return 1", "def g():\n    return 2")],
            "def g():\n    return 2\n",
        ),
        ("a\nb\nc\n", [("b", "x\ny"), ("y\nc", "z")], "a\nx\nz\n"),
        ("a\nb\nc\n", [("b", "xyz"), ("y", "_")], "a\nx_z\nc\n"),
        ("a\nb\nc\n", [("b", "x"), ("a\nx", "q")], "q\nc\n"),
        ("a\r\nb\r\nc\r\n", [("b", "x"), ("a\nx", "q\nr")], "q\r\nr\r\nc\r\n"),
    ] {
        let bench = Bench::new(&[("f", file.as_bytes())]);
        let call = |edits: &Value| json!({ "path": "f", "expectedSha256": sha(file.as_bytes()), "edits": edits });
        let edits = edits.map(|(old, new)| json!({ "oldText": old, "newText": new }));
        let edits = json!(edits);
        let error = bench.fails("edit_file", &call(&edits), "old_text_not_found");
        let message = error["message"].as_str().unwrap();
        assert_eq!(
            message,
            "f: edits are matched in the file as it was before the call, and edit 2 is for the text \
             that edit 1 writes"
        );
        bench.done("edit_file", &call(&obeyed(&edits, &error)));
        assert_eq!(String::from_utf8(bench.read("f")).unwrap(), wanted, "{error:#}");
    }
}

#[test]
fn each_place_of_a_text_has_a_way_also_the_first_and_the_last() {
    for file in ["x = 1\ny = 2\nx = 1\nz = 3\nx = 1\n", "x = 1\nx = 1\nz\n", "z\nx = 1\nx = 1"] {
        let bench = Bench::new(&[("f", file.as_bytes())]);
        let call = |old: &str, new: &str| {
            json!({ "path": "f", "expectedSha256": sha(file.as_bytes()),
                "edits": [{ "oldText": old, "newText": new }] })
        };
        let error = bench.fails("edit_file", &call("x = 1", "x = 9"), "multiple_matches");
        let hints = error["hints"].as_array().unwrap();
        let lines = file.lines().enumerate().filter(|(_, line)| *line == "x = 1");
        for (nth, (line, _)) in lines.enumerate() {
            let hint = &hints[nth];
            assert_eq!(hint["meansLine"], line + 1, "{error:#}");
            let text = |key: &str| hint[key].as_str().unwrap_or_default().to_owned();
            let around = |middle: &str| text("before") + middle + &text("after");
            let fresh = Bench::new(&[("f", file.as_bytes())]);
            fresh.done("edit_file", &call(&around("x = 1"), &around("x = 9")));
            let found = String::from_utf8(fresh.read("f")).unwrap();
            let changed = file.lines().zip(found.lines()).position(|(old, new)| old != new);
            assert_eq!(changed, Some(line), "{found}");
        }
    }
}
