//! The MCP server as a client starts it. What it says is tested in its crate.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{Run, clean, place, run, run_other};
use testutils::share::whole;

fn in_folder(args: &[&str], input: &str) -> (Run, tempfile::TempDir) {
    let (dir, home) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    (run("apply-patch", dir.path(), home.path(), args, input.as_bytes()), dir)
}

fn initialize() -> String {
    let client = json!({ "name": "t", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
        + "\n"
}

#[test]
fn serves_until_the_client_goes_and_says_nothing_else() {
    for (args, input, code, lines) in [
        (&["serve", "--mcp"][..], "", 0, 0),
        (&["serve", "--mcp"], &*initialize(), 0, 1),
        (
            &[
                "serve",
                "--mcp",
                "--read-only",
                "--approve",
                "ask",
                "--tools",
                "read_file,edit.patch",
            ],
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
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        assert_eq!(run.stdout.lines().count(), lines, "{args:?}: {run:?}");
        assert_eq!(run.stderr.is_empty(), code == 0, "{args:?}: {run:?}");
    }
}

#[test]
fn what_is_pasted_starts_the_server() {
    let dir = place(&[("w/f", "one\n")]);
    let (w, home) = (dir.path().join("w"), dir.path());
    let program = env!("CARGO_BIN_EXE_apply-patch");
    let print = |args: &[&str]| {
        run("apply-patch", &w, home, &[&["mcp-config", "--client"], args].concat(), b"")
    };
    let here = w.canonicalize().expect("a folder");
    for (client, keys, command, root) in [
        ("cursor", "/mcpServers", "/command", Some("${workspaceFolder}")),
        ("vscode", "/servers", "/command", Some("${workspaceFolder}")),
        ("opencode", "/mcp", "/command/0", None),
        ("zed", "/context_servers", "/command", None),
        ("windsurf", "/mcpServers", "/command", here.to_str()),
        ("cline", "/mcpServers", "/command", None),
        ("generic", "/mcpServers", "/command", None),
    ] {
        for approve in ["auto", "never", "ask"] {
            let printed = print(&[client, "--approve", approve]);
            let block: Value = serde_json::from_str(&printed.stdout).expect("JSON");
            let server =
                block.pointer(keys).map(|servers| &servers["apply-patch"]).expect("the servers");
            assert_eq!(server.pointer(command).and_then(Value::as_str), Some(program), "{client}");
            let list =
                server["args"].as_array().or(server["command"].as_array()).expect("arguments");
            let args: Vec<_> =
                list.iter().filter_map(Value::as_str).filter(|arg| *arg != program).collect();
            let given = args.iter().position(|arg| *arg == "--root").map(|at| args[at + 1]);
            assert_eq!(given, root, "{client}");
            // What it cannot show, it asks itself.
            let asks = match approve {
                "ask" if ["opencode", "zed", "windsurf", "cline"].contains(&client) => "auto",
                approve => approve,
            };
            assert_eq!(args.last(), Some(&asks), "{client}");
            let served = run("apply-patch", &w, home, &args, initialize().as_bytes());
            assert_eq!(served.code, 0, "{client}: {served:?}");
            assert_eq!(served.stdout.lines().count(), 1, "{client}: {served:?}");
            assert!(printed.stderr.starts_with("apply-patch: for "), "{printed:?}");
            assert!(printed.stderr.contains("ask"), "{printed:?}");
        }
    }
    let codex = print(&["codex"]).stdout;
    for wanted in [
        "[mcp_servers.apply-patch]\n",
        "_mode = \"approve\"\n",
        "\"XDG_STATE_HOME\"",
        "\"APPLY_PATCH_ALLOW\"",
    ] {
        assert!(codex.contains(wanted), "{codex}");
        assert!(!codex.contains("--root"), "{codex}");
    }
    // The only client with one fixed project in a file for all: it is said at once. An unknown one
    // is started where it likes.
    let fixed = format!("this changes files of {}\n", here.display());
    assert!(print(&["windsurf"]).stderr.contains(&fixed));
    assert!(print(&["generic"]).stderr.contains("`no_roots`"));
    let goose = print(&["goose"]).stdout;
    let lines: Vec<_> = goose.lines().collect();
    let command = format!("    cmd: {}", json!(program));
    assert_eq!(lines[..2], ["extensions:", "  apply-patch:"], "{goose}");
    assert!(lines.contains(&&*command) && lines.contains(&"    timeout: 300"), "{goose}");
    for wrong in [
        &["emacs"][..],
        &["zed", "--project"],
        &["zed", "--user", "--project"],
        &["zed", "--write"],
    ] {
        assert_eq!(print(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn the_command_of_a_client_adds_the_server() {
    let dir = place(&[("w/f", "one\n"), ("it's/f", "")]);
    let bin = dir.path().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    for client in ["claude", "gemini", "code"] {
        let script = bin.join(client);
        std::fs::write(&script, "#!/bin/sh\npwd\nprintf '%s\\n' \"$@\"\n").expect("a file");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let (w, home) = (dir.path().join("w"), dir.path());
    let program = env!("CARGO_BIN_EXE_apply-patch");
    // What the client is given: the directory that it is started in, and its arguments.
    let given = |args: &[&str]| -> Vec<String> {
        let printed =
            run("apply-patch", &w, home, &[&["mcp-config", "--client"], args].concat(), b"");
        assert_eq!(printed.code, 0, "{args:?}: {printed:?}");
        let path = format!("PATH={}:/usr/bin:/bin", bin.display());
        let args = [path, "/bin/sh".into(), "-c".into(), printed.stdout];
        let called = run_other("/usr/bin/env", &w, home, &args, b"");
        assert_eq!(called.code, 0, "{called:?}");
        called.stdout.lines().map(str::to_owned).collect()
    };
    let claude = ["mcp", "add", "--scope", "project", "apply-patch", "--", program];
    let gemini = ["mcp", "add", "--scope", "user", "apply-patch", program, "--"];
    let trusted = ["mcp", "add", "--scope", "user", "--trust", "apply-patch", program, "--"];
    for (args, begins, asks) in [
        (&["claude"][..], &claude[..], "auto"),
        (&["claude", "--approve", "ask"], &claude, "ask"),
        (&["gemini"], &gemini, "auto"),
        // What it cannot show, it asks itself.
        (&["gemini", "--approve", "ask"], &gemini, "auto"),
        (&["gemini", "--approve", "never"], &trusted, "never"),
    ] {
        let found = given(args);
        let (command, serve) = found[1..].split_at(begins.len());
        assert_eq!(command, begins, "{args:?}");
        assert_eq!(serve, ["serve", "--mcp", "--approve", asks], "{args:?}");
        let served = run("apply-patch", &w, home, serve, initialize().as_bytes());
        assert_eq!(served.stdout.lines().count(), 1, "{args:?}: {served:?}");
    }
    let code = given(&["vscode", "--user"]);
    assert_eq!(code[1], "--add-mcp");
    let server: Value = serde_json::from_str(&code[2]).expect("JSON");
    let args = json!(["serve", "--mcp", "--approve", "auto"]);
    assert_eq!(server, json!({ "name": "apply-patch", "command": program, "args": args }));
    // A project is where the client is started.
    let elsewhere = given(&["gemini", "--project", "-C", "../it's"]);
    assert!(elsewhere[0].ends_with("/it's"), "{elsewhere:?}");
    let claude = run("apply-patch", &w, home, &["mcp-config", "--client", "claude"], b"");
    assert!(claude.stderr.contains("\"mcp__apply-patch__read_file\""), "{claude:?}");
}

#[test]
fn a_project_that_others_share_names_the_program_as_a_shell_does() {
    let dir = place(&[("w/f", "")]);
    let bin = dir.path().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_apply-patch"), bin.join("apply-patch"))
        .expect("a link");
    let on_path = |path: &std::path::Path, client: &str| {
        let mut args =
            vec![format!("PATH={}", path.display()), env!("CARGO_BIN_EXE_apply-patch").to_owned()];
        args.extend(["mcp-config", "--client", client].map(str::to_owned));
        let run = run_other("/usr/bin/env", &dir.path().join("w"), dir.path(), &args, b"");
        run.stdout.contains("\"command\": \"apply-patch\"")
    };
    assert!(on_path(&bin, "cursor"));
    assert!(!on_path(&bin, "zed"));
    assert!(!on_path(dir.path(), "cursor"));
}

/// A shared configuration names the project by a variable of one client; others pass it on as it
/// stands.
#[test]
fn a_variable_that_a_client_does_not_know_is_no_directory() {
    let dir = place(&[("w/f", "one\n"), ("x/f", "two\n"), ("x/${name}/f", "three\n")]);
    let call = json!({ "name": "read_file", "arguments": { "path": "f" } });
    let input = initialize()
        + &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()
        + "\n"
        + &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }).to_string()
        + "\n";
    let text = |at: &str, home: &str, root: &[&str]| {
        let args = [&["serve", "--mcp"], root].concat();
        let run = run(
            "apply-patch",
            &dir.path().join(at),
            &dir.path().join(home),
            &args,
            input.as_bytes(),
        );
        let answer: Value = run
            .stdout
            .lines()
            .nth(1)
            .and_then(|line| serde_json::from_str(line).ok())
            .unwrap_or_default();
        let result = &answer["result"];
        let reason = &result["structuredContent"]["error"]["details"]["reason"];
        result["content"][2]["text"].as_str().or(reason.as_str()).map(str::to_owned)
    };
    for (root, found) in [
        (&[][..], "one\n"),
        (&["--root", "${workspaceFolder}"], "one\n"),
        (&["--root", "${CLAUDE_PROJECT_DIR}"], "one\n"),
        (&["--root", "../x"], "two\n"),
    ] {
        assert_eq!(text("w", "x", root).as_deref(), Some(found), "{root:?}");
    }
    assert_eq!(
        text("x", "w", &["--root", "${name}"]).as_deref(),
        Some("three\n"),
        "a directory that is there"
    );
    // The home directory is not a project, unless it is said to be one.
    assert_eq!(text("w", "w", &["--root", "${workspaceFolder}"]).as_deref(), Some("no_roots"));
    let named = dir.path().join("w").display().to_string();
    assert_eq!(text("w", "w", &["--root", &named]).as_deref(), Some("one\n"));
}

#[test]
fn a_call_is_answered_where_no_thread_is_to_be_had() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("a"), "one\n").expect("a file");
    // A user that nobody is, so that the limit counts this process alone: it has threads to read
    // and to write, and no more.
    let user = 61_234;
    if std::os::unix::fs::chown(dir.path(), Some(user), Some(user)).is_err() {
        testutils::skip!("only root can be another user");
        return;
    }
    let spawned = clean("prlimit")
        .args([
            "--nproc=3",
            "setpriv",
            &format!("--reuid={user}"),
            &format!("--regid={user}"),
            "--clear-groups",
        ])
        .args([env!("CARGO_BIN_EXE_apply-patch"), "serve", "--mcp"])
        .current_dir(dir.path())
        .env("HOME", dir.path().join("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        testutils::skip!("prlimit is missing");
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
    let answer: Value =
        answers.lines().nth(1).and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    assert_eq!(answer["result"]["content"][2]["text"], "one\n", "{answers}");
    assert!(ended.status.success(), "{answers}");
    assert!(ended.stderr.is_empty(), "{answers}");
}

/// A client that takes its time gets what it asked for also when it has ended its requests: the
/// answers that were left after a second were lost.
#[test]
fn a_slow_client_gets_every_answer() {
    use std::io::BufRead as _;
    let dir = place(&[("w/f", &"x".repeat(15_000))]);
    let mut server = clean(env!("CARGO_BIN_EXE_apply-patch"))
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
    let last = if whole() { 31 } else { 16 };
    for id in 2..=last {
        let params = json!({
            "name": "read_file",
            "arguments": { "path": "f", "maxBytes": 100_000, "maxResultBytes": 100_000 },
        });
        say(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    drop(to);
    let lines = std::io::BufReader::new(server.stdout.take().expect("it is piped"))
        .lines()
        .map_while(Result::ok);
    let slowly = lines.inspect(|_| std::thread::sleep(std::time::Duration::from_millis(120)));
    assert_eq!(slowly.count(), last);
    server.wait().expect("it ends");
}

/// A client that starts the server outside of its project names it as a root, with rules of its
/// own.
#[test]
fn the_rules_of_the_project_that_a_client_names_hold() {
    use std::io::BufRead as _;
    const RULES: &str = "forbidden = [\"**/keys.txt\"]\n";
    // Where the server is started, where the rules are, and the root that the client names.
    for (started, rules, root) in [
        ("", "w/.apply-patch.toml", "w"),
        ("", "w/.apply-patch.toml", "w/sub"),
        ("w", "w/sub/.apply-patch.toml", "w/sub"),
    ] {
        let dir = place(&[
            ("w/.git/HEAD", ""),
            ("w/sub/keys.txt", "k\n"),
            ("w/sub/f", "f\n"),
            (rules, RULES),
        ]);
        let mut server = clean(env!("CARGO_BIN_EXE_apply-patch"))
            .args(["serve", "--mcp"])
            .current_dir(dir.path().join(started))
            .env("HOME", dir.path())
            .env("XDG_STATE_HOME", dir.path().join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut to = server.stdin.take().expect("it is piped");
        let mut say = |value: Value| writeln!(to, "{value}").expect("it listens");
        let client = json!({ "name": "t", "version": "1" });
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": { "roots": {} }, "clientInfo": client,
        });
        say(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
        say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let within = if root == "w" { "sub/" } else { "" };
        for (id, name) in [(2, "keys.txt"), (3, "f")] {
            let arguments = json!({ "path": format!("{within}{name}") });
            let params = json!({ "name": "read_file", "arguments": arguments });
            say(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        }
        let mut answers = std::collections::BTreeMap::new();
        let lines = std::io::BufReader::new(server.stdout.take().expect("it is piped")).lines();
        for line in lines.map_while(Result::ok) {
            let said: Value = serde_json::from_str(&line).expect("JSON");
            if said["method"] == "roots/list" {
                let uri = format!("file://{}", dir.path().join(root).display());
                say(json!({
                    "jsonrpc": "2.0", "id": said["id"], "result": { "roots": [{ "uri": uri }] },
                }));
            } else if let Some(id) = said["id"].as_u64() {
                answers.insert(id, said["result"]["structuredContent"].clone());
            }
            if answers.len() == 3 {
                break;
            }
        }
        drop(to);
        server.wait().expect("it ends");
        assert_eq!(
            answers[&2]["error"]["details"]["reason"], "forbidden",
            "{started:?} {root}: {answers:?}"
        );
        assert_eq!(answers[&3]["ok"], true, "{started:?} {root}: {answers:?}");
    }
}

/// After a large call a server has hardly more memory than before.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_a_large_call_is_given_back() {
    use std::io::BufRead as _;
    let dir = place(&[("w/f", "one\n")]);
    let mut server = clean(env!("CARGO_BIN_EXE_apply-patch"))
        .args(["serve", "--mcp", "-C", "w"])
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .env("XDG_STATE_HOME", dir.path().join("state"))
        .env("XDG_CONFIG_HOME", dir.path().join("config"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut input = server.stdin.take().expect("a pipe");
    let mut output = std::io::BufReader::new(server.stdout.take().expect("a pipe")).lines();
    let mut call = |message: Value| {
        writeln!(input, "{message}").expect("it reads");
        output.next().expect("an answer").expect("text")
    };
    call(serde_json::from_str(&initialize()).expect("JSON"));
    let tool = |id: u32, name: &str, arguments: Value| {
        json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": name, "arguments": arguments },
        })
    };
    let memory = || {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("the process");
        let line =
            status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("the memory");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
    };
    let read = call(tool(2, "read_file", json!({ "path": "f" })));
    assert!(read.contains("one"), "{read}");
    let before = memory();
    for id in 3..5 {
        let lines: String = (0..300_000)
            .map(|line| format!("+line {line} of a long file that has some words in it\n"))
            .collect();
        let patch = format!("*** Begin Patch\n*** Add File: big{id}\n{lines}*** End Patch\n");
        let answer = call(tool(id, "apply_patch", json!({ "patch": patch })));
        assert!(answer.contains("1 created"), "{answer}");
    }
    let after = memory();
    drop(input);
    server.wait().expect("it ends");
    // Kept, it would be some 40 MB.
    assert!(after < before + 16, "{before} MB before, {after} MB after");
}
