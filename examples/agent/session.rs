//! One turn of the agent.

use std::cell::RefCell;
use std::error::Error;
use std::path::Path;

use file_tools::Reply;
use file_tools::Tools as _;
use file_tools::events::{EventForm, Events};
use patch_session::audit::Audit;

use patch_engine::commit::approval::{ApprovalPolicy, Approvals, Decision, Request};
use patch_engine::commit::{KeyPlace, Workspace};
use patch_engine::{Event, Host};
use patch_session::{Session, SessionSettings, Tool};
use serde_json::{Value, json};
use shell_intercept::{Intercept, WARNING, intercept};

/// What the model does next.
enum Move {
    /// Calls the shell.
    Shell(&'static [&'static str]),
    /// Calls a tool.
    Tool(&'static str, Value),
}

/// What the model does, and what the person at the screen says if asked.
fn script() -> Vec<(&'static str, Move, Decision)> {
    use Decision::{Approve, ApproveForSession, Decline};
    use Move::Shell;
    let patch = |body: &str| {
        let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
        Move::Tool("apply_patch", json!({ "patch": patch, "profile": "codex" }))
    };
    vec![
        ("looks around", Shell(&["bash", "-lc", "ls -la"]), Approve),
        (
            "patches through the shell, out of habit",
            Shell(&[
                "bash",
                "-lc",
                "cd src && apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: greet.py\n@@\n\
                 -    print(\"hi\")\n+    print(\"hello\")\n*** End Patch\nEOF\n",
            ]),
            Approve,
        ),
        (
            "lets the shell expand the patch",
            Shell(&[
                "sh",
                "-c",
                "apply_patch <<EOF\n*** Begin Patch\n*** Add File: who\n+$USER\n*** End Patch\n\
                 EOF\n",
            ]),
            Approve,
        ),
        (
            "hides a second command behind the patch",
            Shell(&[
                "bash",
                "-lc",
                "apply_patch '*** Begin Patch\n*** Delete File: old.txt\n\
                 *** End Patch'; rm -rf src",
            ]),
            Approve,
        ),
        (
            "remembers a line wrongly",
            patch("*** Update File: src/greet.py\n@@\n-    print(\"Hi!\")\n+    print(\"hey\")\n"),
            Approve,
        ),
        ("reads the file", Move::Tool("read_file", json!({ "path": "src/greet.py" })), Approve),
        (
            "patches and moves it",
            patch(
                "*** Update File: src/greet.py\n*** Move to: src/hello.py\n@@ def greet():\n\
                 -    print(\"hello\")\n+    print(\"hey\")\n",
            ),
            Approve,
        ),
        ("climbs out", patch("*** Add File: ../elsewhere\n+x\n"), Approve),
        ("deletes a file, and the person minds", patch("*** Delete File: old.txt\n"), Decline),
        (
            "asks again, and the person allows it for the session",
            patch("*** Delete File: old.txt\n"),
            ApproveForSession,
        ),
        ("writes it anew", patch("*** Add File: old.txt\n+new\n"), Approve),
        (
            "deletes it again: nobody needs to be asked",
            patch("*** Delete File: old.txt\n"),
            Decline,
        ),
        (
            "adds a file that makes an editor run code",
            patch("*** Add File: .vscode/tasks.json\n+{}\n"),
            Decline,
        ),
    ]
}

/// The files of before.
const FILES: [(&str, &str); 2] =
    [("src/greet.py", "def greet():\n    print(\"hi\")\n"), ("old.txt", "old\n")];

/// Runs the turn in `dir`, which is empty; gives the transcript.
pub(crate) fn run(dir: &Path) -> Result<String, Box<dyn Error>> {
    let transcript = RefCell::new(String::new());
    let say = |who: &str, what: &str| {
        let mut out = transcript.borrow_mut();
        *out += &format!("{who:>8}  {}\n", what.trim_end().replace('\n', "\n          "));
    };

    // The guard lets pass what the approvals will ask about.
    let mut approvals = Approvals::new(ApprovalPolicy::OnRequest);
    let policy = approvals.take_guarded(patch_engine::policy());
    let home = tempfile::tempdir()?;
    let key = KeyPlace::Directory(home.path().to_path_buf());
    prepare(dir, key.clone())?;
    let workspace = Workspace::open(dir, policy)?.with_key_place(key);
    let audit = Audit::new("turn-1".parse()?, Some("example".into()));
    let tools = Session::new(workspace, audit, SessionSettings::default());

    // What the program around the agent would read from a pipe.
    let shown = dir.to_string_lossy().into_owned();
    let events = Events::new(EventForm::Codex, "turn-1", dir, |line| {
        say("event", &brief(&line.replace(&shown, "/w")))
    });
    let mut agent = Agent {
        tools,
        approvals,
        screen: Screen { events, person: Decision::Decline, say: &say },
        call: 0,
    };

    for (what, step, person) in script() {
        agent.screen.person = person;
        say("model", what);
        match step {
            Move::Shell(argv) => match intercept(argv) {
                Intercept::Body { patch, workdir } => {
                    let args =
                        json!({ "patch": patch, "workspace_root": workdir.unwrap_or_default() });
                    let reply = agent.call("edit.patch", &args);
                    say("answer", &format!("{}\n{WARNING}", reply.to_json()));
                }
                Intercept::CorrectnessError(error) => say("answer", &error.to_string()),
                Intercept::ShellParseError(error) => say("answer", &error.to_string()),
                Intercept::NotApplyPatch => say(
                    "agent",
                    &format!("would run {:?}, under its own rules", argv[argv.len() - 1]),
                ),
            },
            Move::Tool(name, args) => {
                let reply = agent.call(name, &args);
                say("answer", reply.failure().unwrap_or("done"));
            }
        }
    }
    say("turn", &String::from_utf8_lossy(&agent.screen.events.turn_diff().diff()));
    with_a_formatter(&agent.tools, &dir.join("src/shop.py"), &say)?;
    drop(agent);
    Ok(transcript.into_inner())
}

/// A file that is read once and edited again and again.
const SHOP: &str = "import sys, os
def total(items):
    sum = 0
    for item in items:
        sum += item.price
    return sum
def report(items):
    print(\"total\", total(items))
    print(\"count\", len(items))
    print(\"done\")
def main():
    items = []
    report(items)
    sys.exit(0)
";

/// What the model edits: the text that it takes to be in the file, and what it puts there.
const EDITS: [(&str, &str, &str); 6] = [
    (
        "leaves out what is sold",
        "    for item in items:\n",
        "    for item in items:\n        if item.sold: continue\n",
    ),
    ("reports less", "    print(\"count\", len(items))\n", ""),
    ("returns what it got", "    report(items)\n", "    report(items)\n    items.clear()\n"),
    ("counts in cents", "    sum = 0\n", "    sum = 0.0\n"),
    ("has something to sell", "    items = []\n", "    items = ['apple']\n"),
    ("has more to sell", "    items = ['apple']\n", "    items = ['apple', 'pear']\n"),
];

/// A formatter runs after each edit, and the model does not read again for its sake: its edits are
/// carried. Only where the formatter changed the very lines is there a conflict.
#[allow(clippy::disallowed_methods, reason = "a formatter asks nobody")]
fn with_a_formatter(
    tools: &Session,
    file: &Path,
    say: &dyn Fn(&str, &str),
) -> Result<(), Box<dyn Error>> {
    let call = |name: &str, args: Value| -> Result<Value, Box<dyn Error>> {
        Ok(serde_json::from_str(&tools.call(name, &args, &mut ()).to_json())?)
    };
    call("create_file", json!({ "path": "src/shop.py", "content": SHOP }))?;
    let (mut carried, mut conflicts, mut stale) = (0, 0, 0);
    for (what, old, new) in EDITS {
        say("model", what);
        let edit = |old: &str| {
            json!({
                "path": "src/shop.py", "edits": [{ "oldText": old, "newText": new }],
            })
        };
        let mut answer = call("edit_file", edit(old))?;
        match answer["error"]["details"]["reason"].as_str() {
            Some("conflict") => {
                conflicts += 1;
                say("answer", answer["error"]["message"].as_str().unwrap_or_default());
                // The answer has what is there now.
                let now = answer["error"]["details"]["current"]["text"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                call("read_file", json!({ "path": "src/shop.py" }))?;
                answer = call("edit_file", edit(&now))?;
            }
            Some("stale") => stale += 1,
            _ => {}
        }
        carried += usize::from(answer["data"]["carried"].is_array());
        say(
            "answer",
            answer["output"].as_str().or(answer["error"]["message"].as_str()).unwrap_or_default(),
        );
        std::fs::write(file, formatted(&std::fs::read_to_string(file)?))?;
    }
    say(
        "agent",
        &format!(
            "{} edits with a formatter after each: {carried} carried, {conflicts} in conflict, \
             {stale} stale",
            EDITS.len()
        ),
    );
    say("file", &std::fs::read_to_string(file)?);
    Ok(())
}

/// Formats a program: one import a line in order, two empty lines before a function, a statement a
/// line, double quotes.
fn formatted(text: &str) -> String {
    let mut imports: Vec<&str> = Vec::new();
    let mut body = String::new();
    for line in text.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match (line.strip_prefix("import "), line.split_once(": continue")) {
            (Some(names), _) => imports.extend(names.split(", ")),
            (None, Some((condition, _))) => {
                body += &format!("{condition}:\n{indent}    continue\n")
            }
            _ if line.is_empty() => {}
            _ if line.starts_with("def ") => body += &format!("\n\n{line}\n"),
            _ => body += &format!("{}\n", line.replace('\'', "\"")),
        }
    }
    imports.sort_unstable();
    let imports: String = imports.iter().map(|name| format!("import {name}\n")).collect();
    imports + &body
}

/// Puts the first files where the model finds them.
fn prepare(dir: &Path, key: KeyPlace) -> Result<(), Box<dyn Error>> {
    let workspace = Workspace::open(dir, patch_engine::policy())?.with_key_place(key);
    let tools =
        Session::new(workspace, Audit::new("setup".parse()?, None), SessionSettings::default());
    for (path, content) in FILES {
        let args = json!({ "path": path, "content": content, "createParentDirectories": true });
        let reply = tools.call("create_file", &args, &mut ());
        assert!(reply.is_ok(), "{:?}", reply.failure());
    }
    Ok(())
}

/// The agent, its tools and its screen.
struct Agent<'a> {
    tools: Session,
    approvals: Approvals,
    screen: Screen<'a>,
    call: u32,
}

impl Agent<'_> {
    /// Calls a tool; one that changes files is announced and concluded on the screen.
    fn call(&mut self, name: &str, args: &Value) -> Reply {
        let changes = Tool::named(name).is_some_and(|tool| !tool.is_read_only());
        if changes {
            self.call += 1;
            self.screen.events.begin_call(&format!("call-{}", self.call), name, args);
        }
        let reply = self.tools.call(name, args, &mut self.approvals.ask(&mut self.screen));
        if changes {
            self.screen.events.end_call(&reply, reply.failure());
        }
        reply
    }
}

/// Where a person sees what happens, and is asked.
struct Screen<'a> {
    events: Events<'a>,
    person: Decision,
    say: &'a dyn Fn(&str, &str),
}

impl Host for Screen<'_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let reasons: Vec<_> = request.reasons.iter().map(ToString::to_string).collect();
        (self.say)("person", &format!("{} - {:?}", reasons.join("; "), self.person));
        Ok(self.person)
    }

    fn event(&mut self, event: &Event<'_>) {
        self.events.event(event);
    }
}

/// An event without what stands elsewhere in the transcript.
fn brief(line: &str) -> String {
    let event: Value = serde_json::from_str(line).expect("events are JSON");
    let msg = &event["msg"];
    let files: Vec<_> = msg["changes"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(path, change)| format!(" {} {path}", change["type"].as_str().unwrap_or_default()))
        .collect();
    let status = msg["status"].as_str().map(|status| format!(" {status}")).unwrap_or_default();
    let asked = if msg["auto_approved"] == false { " (a person was asked)" } else { "" };
    format!("{}{status}{asked}:{}", msg["type"].as_str().unwrap_or_default(), files.join(","))
}
