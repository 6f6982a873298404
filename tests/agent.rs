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
        "if the difference is meant: cargo run -p apply-patch --example agent > examples/agent/transcript.txt"
    );
    let left: Vec<_> = ["src/hello.py", "src/greet.py", "old.txt", "who", ".vscode/tasks.json"]
        .into_iter()
        .filter(|path| dir.path().join(path).exists())
        .collect();
    assert_eq!(left, ["src/hello.py"]);
}
