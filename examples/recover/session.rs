//! The tasks, and how each refusal is answered: by `suggestedNextAction` and `hints`, and nothing
//! else of the error.

use std::error::Error;
use std::path::Path;

use file_tools::Tools as _;
use patch_engine::commit::{KeyPlace, Workspace};
use patch_session::audit::Audit;
use patch_session::{Session, SessionName, SessionSettings};
use serde_json::{Value, json};

const FILES: &[(&str, &str)] = &[
    ("src/app.py", "def one():\n    start()\n    stop()\n\ndef two():\n    start()\n    stop()\n"),
    ("src/deep.py", "def outer():\n    def inner():\n        return 1\n    return inner\n"),
    ("notes.md", "draft\n"),
];

/// What the agent wants, as bodies of patches: each of them is refused at first.
const TASKS: &[(&str, &str)] = &[
    ("a stale file", "*** Update File: notes.md\n@@\n-draft\n+done\n"),
    (
        "an ambiguous hunk",
        "*** Update File: src/app.py\n@@\n     start()\n-    stop()\n+    halt()\n",
    ),
    (
        "a wrong path",
        "*** Update File: a/src/app.py\n@@\n def two():\n-    start()\n+    begin()\n",
    ),
    (
        "a lost indentation",
        "*** Update File: src/deep.py\n@@\n def inner():\n-    return 1\n+    return 2\n",
    ),
    ("a guarded file", "*** Add File: .envrc\n+use flake\n"),
];

pub(crate) fn run(dir: &Path) -> Result<String, Box<dyn Error>> {
    std::fs::create_dir(dir.join("src"))?;
    FILES.iter().try_for_each(|(path, text)| std::fs::write(dir.join(path), text))?;
    let home = tempfile::tempdir()?;
    let open = |allow: &[String]| -> Result<Workspace, Box<dyn Error>> {
        let mut policy = patch_engine::policy();
        allow.iter().try_for_each(|glob| policy.allow.push(glob))?;
        Ok(Workspace::open(dir, policy)?
            .with_key_place(KeyPlace::Directory(home.path().to_path_buf())))
    };
    let name = SessionName::random()?;
    let mut session = Session::new(open(&[])?, Audit::new(name, None), SessionSettings::default());
    session.call("read_file", &json!({ "path": "notes.md" }), &mut ());
    // Somebody else is at work too.
    std::fs::write(dir.join("notes.md"), "# Title\ndraft\n")?;
    let mut told = String::new();
    for (what, body) in TASKS {
        told += &format!("{what}\n");
        let mut args = json!({ "patch": format!("*** Begin Patch\n{body}*** End Patch\n") });
        for _ in 0..3 {
            let reply = serde_json::to_value(session.call("apply_patch", &args, &mut ()))?;
            let error = &reply["error"];
            if error.is_null() {
                told += &format!("  done: {}\n", reply["output"].as_str().unwrap_or_default());
                break;
            }
            told += &format!(
                "  refused; next: {}\n",
                error["suggestedNextAction"].as_str().unwrap_or_default()
            );
            if let Some(flag) = obey(&error["hints"][0], &mut args, &session) {
                told += &format!("  the person allows {flag}\n");
                let glob = flag.trim_start_matches("--allow ").to_owned();
                session = session.reopened(open(&[glob])?);
            }
        }
    }
    Ok(told)
}

/// Does what the best hint says, in the patch or with another call; gives the flag that a person
/// has to agree to.
fn obey(hint: &Value, args: &mut Value, session: &Session) -> Option<String> {
    let text = |key: &str| hint[key].as_str().unwrap_or_default().to_owned();
    let lines = || {
        hint["lines"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let patch = args["patch"].as_str().unwrap_or_default().to_owned();
    // Every patch here has one hunk: what stands between its `@@` and the end.
    let (head, body) = patch.split_once("@@\n").unwrap_or((&patch, ""));
    let body = body.trim_end_matches("*** End Patch\n");
    let with = |body: String| json!(format!("{head}@@\n{body}*** End Patch\n"));
    match &*text("hint") {
        "read_again" => drop(session.call("read_file", &json!({ "path": hint["path"] }), &mut ())),
        "replace_hunk" => args["patch"] = with(format!("{}\n", lines())),
        "add_context" if hint["below"] == true => {
            args["patch"] = with(format!("{body}{}\n", lines()))
        }
        "add_context" => args["patch"] = with(format!("{}\n{body}", lines())),
        "rename_path" => args["patch"] = json!(patch.replace(&text("from"), &text("to"))),
        "use_argument" => args[text("argument")] = hint["value"].clone(),
        "ask_person" => return Some(text("flag")),
        other => panic!("the script knows no {other:?}"),
    }
    None
}
