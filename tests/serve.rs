//! The MCP server as a client starts it. What it says is tested in its crate.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::{Run, place, run};

fn in_folder(args: &[&str], input: &str) -> (Run, tempfile::TempDir) {
    let (dir, home) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    (run("apply-patch", dir.path(), home.path(), args, input.as_bytes()), dir)
}

fn initialize() -> String {
    let client = json!({ "name": "t", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string() + "\n"
}

#[test]
fn serves_until_the_client_goes_and_says_nothing_else() {
    for (args, input, code, lines) in [
        (&["serve", "--mcp"][..], "", 0, 0),
        (&["serve", "--mcp"], &*initialize(), 0, 1),
        (
            &["serve", "--mcp", "--read-only", "--approve", "ask", "--tools", "read_file,edit.patch"],
            &initialize(),
            0,
            1,
        ),
        (&["serve"], &initialize(), 2, 0),
        (&["serve", "--mcp", "--tools", "read_file,rm"], &initialize(), 2, 0),
        (&["serve", "--mcp", "--allow", "["], &initialize(), 2, 0),
        (&["serve", "--mcp", "-C", "absent"], &initialize(), 5, 0),
    ] {
        let (run, _) = in_folder(args, input);
        assert_eq!((run.code, run.stdout.lines().count()), (code, lines), "{args:?}: {run:?}");
        assert_eq!(run.stderr.is_empty(), code == 0, "{args:?}: {run:?}");
    }
}

#[test]
fn what_is_pasted_starts_the_server() {
    let (run, dir) = in_folder(&["mcp-config", "--client", "claude", "--approve", "never"], "");
    let block: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let server = &block["mcpServers"]["apply-patch"];
    assert_eq!(server["command"].as_str(), Some(env!("CARGO_BIN_EXE_apply-patch")));
    let args: Vec<_> = server["args"].as_array().expect("arguments").iter().filter_map(Value::as_str).collect();
    assert_eq!(std::path::Path::new(args[3]), dir.path().canonicalize().expect("a folder"));
    let (served, _) = in_folder(&args, &initialize());
    assert_eq!((served.code, served.stdout.lines().count()), (0, 1), "{served:?}");
    for client in ["codex", "cursor", "vscode"] {
        let (run, _) = in_folder(&["mcp-config", "--client", client], "");
        assert!(
            run.code == 0
                && run.stdout.contains("serve")
                && run.stderr.contains("config") | run.stderr.contains("mcp.json"),
            "{run:?}"
        );
    }
    assert_eq!(in_folder(&["mcp-config", "--client", "emacs"], "").0.code, 2);
}

#[test]
fn a_call_is_answered_where_no_thread_is_to_be_had() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("a"), "one\n").expect("a file");
    // A user that nobody is, so that the limit counts this process alone: it has threads to read and to write, and no more.
    let user = 61_234;
    if std::os::unix::fs::chown(dir.path(), Some(user), Some(user)).is_err() {
        eprintln!("skipped: only root can be another user");
        return;
    }
    let spawned = Command::new("prlimit")
        .args(["--nproc=3", "setpriv", &format!("--reuid={user}"), &format!("--regid={user}"), "--clear-groups"])
        .args([env!("CARGO_BIN_EXE_apply-patch"), "serve", "--mcp"])
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        eprintln!("skipped: prlimit is missing");
        return;
    };
    let call = json!({ "name": "read_file", "arguments": { "path": "a" } });
    let lines = initialize()
        + &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()
        + "\n"
        + &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }).to_string()
        + "\n";
    // It answers what it was asked before it ends.
    child.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("it listens");
    let ended = child.wait_with_output().expect("it ends");
    let answers = String::from_utf8(ended.stdout).expect("UTF-8");
    let answer: Value = answers.lines().nth(1).and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    assert_eq!(answer["result"]["structuredContent"]["data"]["content"], "one\n", "{answers}");
    assert!(ended.status.success() && ended.stderr.is_empty(), "{answers}");
}

/// A client that takes its time gets what it asked for also when it has ended its requests: the answers that were left after a
/// second were lost.
#[test]
fn a_slow_client_gets_every_answer() {
    use std::io::BufRead as _;
    let dir = place(&[("w/f", &"x".repeat(15_000))]);
    let mut server = Command::new(env!("CARGO_BIN_EXE_apply-patch"))
        .args(["serve", "--mcp"])
        .current_dir(dir.path().join("w"))
        .env("HOME", dir.path())
        .env("XDG_STATE_HOME", dir.path().join("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut to = server.stdin.take().expect("it is piped");
    to.write_all(initialize().as_bytes()).expect("it listens");
    let mut say = |value: Value| writeln!(to, "{value}").expect("it listens");
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    for id in 2..=31 {
        let params = json!({ "name": "read_file", "arguments": { "path": "f", "maxBytes": 100_000, "maxResultBytes": 100_000 } });
        say(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    drop(to);
    let lines = std::io::BufReader::new(server.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    let slowly = lines.inspect(|_| std::thread::sleep(std::time::Duration::from_millis(120)));
    assert_eq!(slowly.count(), 31);
    server.wait().expect("it ends");
}
