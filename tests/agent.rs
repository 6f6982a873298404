//! The example of an agent, run to its end.

#[path = "../examples/agent/session.rs"]
mod session;

#[test]
fn the_turn_of_the_example_is_the_one_that_the_documentation_shows() {
    let dir = tempfile::tempdir().expect("a folder");
    let transcript = session::run(dir.path()).expect("the turn ends");
    let shown = include_str!("../examples/agent/transcript.txt");
    assert_eq!(
        transcript, shown,
        "if the difference is meant: cargo run -p apply-patch --example agent > \
         examples/agent/transcript.txt"
    );
    let left: Vec<_> = ["src/hello.py", "src/greet.py", "old.txt", "who", ".vscode/tasks.json"]
        .into_iter()
        .filter(|path| dir.path().join(path).exists())
        .collect();
    assert_eq!(left, ["src/hello.py"]);
    let summary = "6 edits with a formatter after each: 4 carried, 1 in conflict, 0 stale";
    assert!(transcript.contains(summary), "{transcript}");
}

#[path = "../examples/recover/session.rs"]
mod recover;

#[test]
fn an_agent_recovers_by_hints_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let transcript = recover::run(dir.path()).expect("the session ends");
    let shown = include_str!("../examples/recover/transcript.txt");
    assert_eq!(
        transcript, shown,
        "if the difference is meant: cargo run -p apply-patch --example recover > \
         examples/recover/transcript.txt"
    );
    for (path, wanted) in [
        ("notes.md", "# Title\ndone\n"),
        (
            "src/app.py",
            "def one():\n    start()\n    halt()\n\ndef two():\n    begin()\n    stop()\n",
        ),
        ("src/deep.py", "def outer():\n    def inner():\n        return 2\n    return inner\n"),
        (".envrc", "use flake\n"),
    ] {
        assert_eq!(
            std::fs::read_to_string(dir.path().join(path)).expect("a file"),
            wanted,
            "{path}"
        );
    }
}

#[cfg(unix)]
#[path = "../examples/turn/session.rs"]
mod turn;

/// Those in Python and for Node print the same: `ci/package/run` compares them.
#[cfg(unix)]
#[test]
fn a_turn_is_checked_and_approved_and_undone() {
    let dir = tempfile::tempdir().expect("a folder");
    let transcript = turn::run(dir.path()).expect("the turn ends");
    let shown = include_str!("../examples/agent.txt");
    assert_eq!(
        transcript, shown,
        "if the difference is meant: cargo run -p apply-patch --example turn > examples/agent.txt"
    );
}

/// A short program, run by `interpreter` in a folder with `app.py`; what it printed, and the file.
fn guide(page: &str, interpreter: &str) -> Option<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let code = std::fs::read_to_string(folder.join(page)).expect("the program");
    assert!(
        code.lines().filter(|line| !line.trim().is_empty()).count() <= 65,
        "{page}: it is not a short program any more"
    );
    let (name, code) = match interpreter {
        "node" if strips_types() => ("agent.mts", code),
        "node" => ("agent.mjs", without_types(&code)),
        _ => ("agent.py", code),
    };
    let (dir, home) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    std::fs::write(dir.path().join("app.py"), "x = 1\n").expect("a file");
    std::fs::write(home.path().join(name), code).expect("a file");
    let output = std::process::Command::new(interpreter)
        .arg(home.path().join(name))
        .current_dir(dir.path())
        .env("APPLY_PATCH", env!("CARGO_BIN_EXE_apply-patch"))
        .env("XDG_STATE_HOME", home.path().join("state"))
        .env("XDG_CONFIG_HOME", home.path().join("config"))
        .output();
    let Ok(output) = output else {
        testutils::skip!("there is no {interpreter}");
        return None;
    };
    assert!(output.status.success(), "{page}: {}", String::from_utf8_lossy(&output.stderr));
    let left = std::fs::read_to_string(dir.path().join("app.py")).expect("a file");
    Some((String::from_utf8(output.stdout).expect("text"), left))
}

/// Whether the Node of this machine runs TypeScript as it is.
fn strips_types() -> bool {
    let probe =
        std::process::Command::new("node").args(["-p", "!!process.features.typescript"]).output();
    probe.is_ok_and(|output| output.stdout == b"true\n")
}

/// The program without its types, for an older Node: without its `type` lines, and without the
/// annotations that are made of the names of those and of a few others. What else TypeScript has
/// makes the run fail, and so the test.
fn without_types(code: &str) -> String {
    eprintln!("note: this node cannot strip types; the test takes them out");
    let declared = code.lines().filter_map(|line| line.strip_prefix("type ")?.split_once(" = "));
    let names: Vec<&str> =
        declared.map(|(name, _)| name).chain(["string", "number", "object", "undefined"]).collect();
    let is_type =
        |text: &str| text.split(" | ").all(|name| names.contains(&name.trim_end_matches("[]")));
    let stripped = |line: &str| {
        let (mut out, mut rest) = (String::new(), line);
        while let Some((before, after)) = rest.split_once(": ") {
            let end = [" =", ",", ")", " {"].iter().filter_map(|end| after.find(end)).min();
            let annotation = end.filter(|&end| is_type(&after[..end]));
            out += before;
            if annotation.is_none() {
                out += ": ";
            }
            rest = &after[annotation.unwrap_or(0)..];
        }
        out + rest + "\n"
    };
    code.lines().filter(|line| !line.starts_with("type ")).map(stripped).collect()
}

#[test]
fn the_agents_without_a_package_work() {
    for (page, interpreter) in
        [("examples/program/agent.py", "python3"), ("examples/program/agent.mts", "node")]
    {
        let Some((printed, left)) = guide(page, interpreter) else { continue };
        // It had not been read; then another program changed it; then it was edited.
        let wanted = "edit_file command_failed\nread_file ok\nedit_file stale_file\nread_file ok\n\
                      edit_file ok\nx is 2 now\n";
        assert_eq!(printed, wanted, "{page}");
        assert_eq!(left, "x = 2\ny = 3\n", "{page}");
    }
}
