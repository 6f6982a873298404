//! The commands of Anthropic's editor tool.

use file_tools::Tools as _;
use serde_json::{Value, json};

use crate::support::Bench;

fn run(bench: &Bench, input: Value) -> (bool, String) {
    let reply = bench.tools().editor(&input, None, &mut ());
    (!reply.is_error, reply.content)
}

#[test]
fn does_what_the_models_know() {
    let bench = Bench::new(&[("d/f.txt", b"one\r\ntwo\r\n")]);
    let absolute = bench.path("d/f.txt").to_str().unwrap().to_owned();
    assert_eq!(
        run(&bench, json!({ "command": "view", "path": absolute })),
        (true, "     1\tone\n     2\ttwo\n".into())
    );
    let part = json!({ "command": "view", "path": "d/f.txt", "view_range": [2, -1] });
    assert_eq!(run(&bench, part), (true, "     2\ttwo\n".into()));
    assert_eq!(
        run(&bench, json!({ "command": "view", "path": "." })),
        (true, "d/\nd/f.txt\n".into())
    );
    let replace = json!({
        "command": "str_replace", "path": absolute, "old_str": "two\n", "new_str": "2\n3\n",
    });
    assert!(run(&bench, replace).0);
    assert_eq!(bench.read("d/f.txt"), b"one\r\n2\r\n3\r\n");
    let insert =
        json!({ "command": "insert", "path": "d/f.txt", "insert_line": 0, "insert_text": "zero" });
    assert!(run(&bench, insert).0);
    let insert =
        json!({ "command": "insert", "path": "d/f.txt", "insert_line": 4, "new_str": "end\n" });
    assert!(run(&bench, insert).0);
    assert_eq!(bench.read("d/f.txt"), b"zero\r\none\r\n2\r\n3\r\nend\r\n");
    let create = |path: &str| json!({ "command": "create", "path": path, "file_text": "new\n" });
    assert!(run(&bench, create("e/new.txt")).0);
    assert!(run(&bench, create("d/f.txt")).0, "this session has seen it");
}

#[test]
fn says_what_it_leaves_out() {
    let bench = Bench::new(&[("long", &[b'x'; 300_000]), ("lines", &b"line\n".repeat(60_000))]);
    let long = run(&bench, json!({ "command": "view", "path": "long" })).1;
    assert!(long.ends_with("… (truncated; the line is too long to be shown)\n"));
    let lines = run(&bench, json!({ "command": "view", "path": "lines" })).1;
    assert!(lines.ends_with("… (truncated; view a range)\n"));
    let whole = run(&bench, json!({ "command": "view", "path": "." })).1;
    assert_eq!(whole, "lines\nlong\n");
    for nth in 0..5000 {
        bench.write(&format!("many/{nth}"), b"");
    }
    let cut = run(&bench, json!({ "command": "view", "path": "." })).1;
    assert!(cut.ends_with("… (truncated; view a directory in it)\n"));
}

#[test]
fn refuses_with_the_kind_in_the_text() {
    let bench = Bench::new(&[("f", b"x x\n")]);
    let outside = std::env::temp_dir();
    for (input, kind) in [
        (
            json!({ "command": "str_replace", "path": "f", "old_str": "x", "new_str": "y" }),
            "multiple_matches",
        ),
        (json!({ "command": "str_replace", "path": "f", "old_str": "z" }), "old_text_not_found"),
        (
            json!({ "command": "insert", "path": "f", "insert_line": 2, "insert_text": "y" }),
            "command_failed",
        ),
        (json!({ "command": "view", "path": "none" }), "not_found"),
        (json!({ "command": "view", "path": "f", "view_range": [2, 1] }), "command_failed"),
        (json!({ "command": "view", "path": "f", "view_range": [2, 3] }), "command_failed"),
        (json!({ "command": "view", "path": ".", "view_range": [1, 1] }), "command_failed"),
        (json!({ "command": "view", "path": outside.to_str() }), "outside_workspace"),
        (json!({ "command": "undo_edit", "path": "f" }), "command_failed"),
        (json!({ "command": "create", "path": ".env", "file_text": "" }), "permission_denied"),
    ] {
        let (ok, content) = run(&bench, input.clone());
        assert!(!ok, "{input}: {content}");
        assert!(content.starts_with(kind), "{input}: {content}");
    }
    for (input, told) in [
        (json!({ "command": "view", "view_range": [1] }), "let `view_range` be [first, last]"),
        (json!({ "command": "view", "view_range": [1, 2, 3] }), "let `view_range` be [first"),
        (
            json!({ "command": "insert", "insert_line": 2, "insert_text": "y" }),
            "insert_line is 2, and the file has 1 line\nnext: let `insert_line` be from 0 to 1",
        ),
        (
            json!({ "command": "insert", "insert_line": 0, "insert_text": "", "new_str": "y" }),
            "leave `new_str` out",
        ),
    ] {
        let mut input = input;
        input["path"] = "f".into();
        let (ok, content) = run(&bench, input);
        assert!(!ok, "{content}");
        assert!(content.contains(told), "{content}");
    }
    // What another command takes is not to be left out.
    let undo = run(&bench, json!({ "command": "undo_edit", "path": "f" })).1;
    assert!(undo.contains("`command` must be one of") && !undo.contains("`path`"), "{undo}");
    let unseen = Bench::new(&[("f", b"x\n")]);
    let create = json!({ "command": "create", "path": "f", "file_text": "new" });
    assert!(run(&unseen, create).1.contains("next: use view for f; or use str_replace for f"));
    run(&unseen, json!({ "command": "view", "path": "f" }));
    unseen.write("f", b"theirs\n");
    for input in [
        json!({ "command": "str_replace", "path": "f", "old_str": "theirs", "new_str": "y" }),
        json!({ "command": "insert", "path": "f", "insert_line": 0, "insert_text": "y" }),
        json!({ "command": "create", "path": "f", "file_text": "new" }),
    ] {
        let (ok, content) = run(&unseen, input);
        assert!(!ok, "{content}");
        assert!(content.starts_with("stale_file"), "{content}");
    }
    assert_eq!(unseen.read("f"), b"theirs\n");
}
