//! Forms that people paste: blocks with line numbers, calls in tags, blocks in an envelope, names
//! without a dot, and lines that are left out.

use testutils::temp::temp;

use crate::program::{Run, apply_in, place, run};

const BEFORE: [(&str, &str); 4] = [
    ("a.txt", "one\ntwo\nthree\n"),
    ("m.py", "def f(x):\n    return x\n\ndef g(x):\n    return x\n\ndef h(x):\n    return x + 1\n"),
    ("Makefile", "all:\n\ttrue\n"),
    ("gradlew", "x\n"),
];

/// Gives a text to the program, and returns what a file is afterwards.
fn applied(args: &[&str], sent: &str, file: &str) -> (Run, Option<String>) {
    apply_in(&place(&BEFORE), args, sent, file)
}

fn before(file: &str) -> &'static str {
    BEFORE.iter().find(|(path, _)| *path == file).expect("a file").1
}

fn block(numbers: &str, old: &str, new: &str) -> String {
    format!("m.py\n<<<<<<< SEARCH\n{numbers}{old}\n=======\n{new}\n>>>>>>> REPLACE\n")
}

#[test]
fn a_stated_line_decides_among_places_with_the_same_text() {
    let returns = "    return x";
    for (numbers, wanted) in [
        (":start_line:2\n-------\n", Some(2)),
        (":start_line:5\n-------\n", Some(5)),
        (":start_line: 5\n:end_line: 5\n-------\n", Some(5)),
        (":start_line:3\n-------\n", None),
        (":start_line:500\n-------\n", None),
        (":end_line:5\n-------\n", None),
        ("", None),
    ] {
        let sent = block(numbers, returns, "    return y");
        let (run, after) = applied(&[], &sent, "m.py");
        let changed = after.expect("a file").lines().position(|line| line == "    return y");
        assert_eq!(changed.map(|at| at + 1), wanted, "{numbers}: {run:?}");
        if wanted.is_some() {
            assert!(run.stderr.contains("fits in several places"), "{run:?}");
        } else {
            assert!(run.stderr.contains("more than one place: lines 2, 5"), "{run:?}");
        }
    }
    // The line is never against the text.
    for line in [1, 3, 7, 8, 900] {
        let sent = block(&format!(":start_line:{line}\n-------\n"), "    return x + 1", returns);
        let (run, after) = applied(&[], &sent, "m.py");
        assert_eq!(run.code, 0, "{line}: {run:?}");
        assert_eq!(after.as_deref(), Some(&*before("m.py").replace(" + 1", "")), "{line}");
    }
    // What stands at the line is not written elsewhere: the block may be sent twice.
    let sent = block(":start_line:8\n-------\n", returns, "    return x + 1");
    let (run, after) = applied(&[], &sent, "m.py");
    assert!(run.stderr.contains("applied already"), "{run:?}");
    assert_eq!(after.as_deref(), Some(before("m.py")));
}

#[test]
fn a_call_in_tags_is_taken_off() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch";
    let json = serde_json::json!({ "name": "apply_patch", "arguments": { "patch": patch } });
    let edit = serde_json::json!({ "name": "Edit", "arguments":
        { "file_path": "a.txt", "old_string": "two", "new_string": "2" } });
    let invoke = |inner: &str| {
        format!(
            "<function_calls>\n<invoke name=\"apply_patch\">\n{inner}\n</invoke>\n\
             </function_calls>"
        )
    };
    let parameter = format!("<parameter name=\"input\">{patch}</parameter>");
    for sent in [
        format!("<tool_call>\n{json}\n</tool_call>"),
        format!("<tool_call>{json:#}</tool_call>\n"),
        format!("<tool_call>\n{edit}\n</tool_call>"),
        format!("```xml\n<tool_call>\n{json}\n</tool_call>\n```\n"),
        invoke(&parameter),
        invoke(&format!("<parameter name=\"patch\">\n{patch}\n</parameter>")),
        format!("I change it:\n\n{}\n\nDone.\n", invoke(&parameter)),
        format!("<apply_patch>{patch}</apply_patch>"),
        format!("<apply_patch>\n<input>{patch}</input>\n</apply_patch>"),
        format!("<function=apply_patch>\n<parameter=input>\n{patch}\n</parameter>\n</function>"),
        format!("<function=apply_patch><parameter=input>{patch}</parameter></function>"),
    ] {
        let (run, after) = applied(&[], &sent, "a.txt");
        assert_eq!(run.code, 0, "{sent}: {run:#?}");
        assert_eq!(after.as_deref(), Some("one\n2\nthree\n"), "{sent}");
        assert!(run.stderr.contains("note: "), "{sent}: {run:?}");
    }
    let workdir = format!("{parameter}\n<parameter name=\"workdir\">sub</parameter>");
    let lines =
        format!("<parameter=input>\n{patch}\n</parameter>\n<parameter=workdir>\nsub\n</parameter>");
    for (sent, words) in [
        (invoke(&workdir), "more parameters than the patch"),
        (format!("<function=apply_patch>\n{lines}\n</function>"), "more parameters than the patch"),
        (invoke(&parameter).replace("apply_patch", "bash"), "not alone on its line"),
        (format!("{0}\n{0}", invoke(&parameter)), "exactly one tool call"),
        (format!("<tool_call>{json}</tool_call>\n<tool_call>{json}</tool_call>"), "one tool call"),
        (format!("<apply_patch>{patch}"), "not alone on its line"),
        (
            format!("*** Delete File: m.py\n<apply_patch>{patch}</apply_patch>"),
            "not alone on its line",
        ),
    ] {
        let (run, after) = applied(&[], &sent, "a.txt");
        assert_eq!(run.code, 1, "{sent}: {run:#?}");
        assert!(run.stderr.contains(words), "{sent}: {run:#?}");
        assert_eq!(after.as_deref(), Some(before("a.txt")), "{sent}");
    }
    let sent = format!("So:\n\n{}", invoke(&parameter.replace("-two", "-four")));
    let (run, _) = applied(&[], &sent, "a.txt");
    let line = sent.lines().position(|line| line == "@@").expect("a line") + 1;
    assert!(run.stderr.contains(&format!("standard input:{line}:")), "{run:?}");
}

#[test]
fn the_name_of_a_file_that_is_there_needs_no_dot() {
    let block = "<<<<<<< SEARCH\n\ttrue\n=======\n\tfalse\n>>>>>>> REPLACE\n";
    for above in ["Makefile\n", "Makefile\n\n", "Makefile\n```make\n", "```\nMakefile\n```\n"] {
        let fence = if above.ends_with("make\n") { "```\n" } else { "" };
        let (run, after) = applied(&[], &format!("So:\n\n{above}{block}{fence}"), "Makefile");
        assert_eq!(run.code, 0, "{above}: {run:#?}");
        assert_eq!(after.as_deref(), Some("all:\n\tfalse\n"), "{above}");
    }
    let x = block.replace("\ttrue", "x");
    let (run, after) = applied(&[], &format!("gradlew\n{x}"), "gradlew");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(after.as_deref(), Some("\tfalse\n"));
    for (sent, words) in [
        (format!("Then\n{block}"), "no line names the file"),
        (format!("Before:\n{block}"), "no line names the file"),
        (format!("Dockerfile\n{block}"), "Dockerfile: there is no such file"),
        (format!("Justfile\n{}", block.replace("\ttrue\n", "")), "no line names the file"),
    ] {
        let (run, _) = applied(&[], &sent, "Makefile");
        assert_eq!(run.code, 1, "{sent}: {run:?}");
        assert!(run.stderr.contains(words), "{sent}: {run:?}");
    }
}

#[test]
fn blocks_in_an_envelope_are_blocks() {
    let block = "<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n";
    let patch = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
    let update = format!("*** Update File: a.txt\n{block}");
    for (sent, wanted) in [
        (patch(&update), "one\n2\nthree\n"),
        (format!("So:\n```\n{}```\n", patch(&update)), "one\n2\nthree\n"),
        (patch(&format!("{update}{}", block.replace("two", "three"))), "one\n2\n2\n"),
        (
            patch(&format!("{update}*** Update File: gradlew\n{}", block.replace("two", "x"))),
            "one\n2\nthree\n",
        ),
    ] {
        let (run, after) = applied(&[], &sent, "a.txt");
        assert_eq!(run.code, 0, "{sent}: {run:#?}");
        assert_eq!(after.as_deref(), Some(wanted), "{sent}");
        assert!(run.stderr.contains("note: took the blocks between"), "{run:?}");
    }
    for (sent, words) in [
        (patch(&format!("{update}*** Delete File: m.py\n")), "outside the patch"),
        (patch(&format!("{update}*** Add File: n.txt\n+x\n")), "outside the patch"),
        (patch(&format!("{update}@@\n-one\n+1\n")), "outside the patch"),
        (patch(&update.replace("two", "four")), "not in the file"),
        (patch(&update.replace("=======\n", "")), "SEARCH/REPLACE block is not"),
    ] {
        for args in [&[][..], &["--profile", "codex"]] {
            let (run, after) = applied(args, &sent, "a.txt");
            assert_eq!(run.code, 1, "{sent}: {run:#?}");
            assert!(run.stderr.contains(words), "{sent}: {run:#?}");
            assert_eq!(after.as_deref(), Some(before("a.txt")), "{sent}");
        }
    }
    let (run, _) = applied(&["--profile", "strict"], &patch(&update), "a.txt");
    assert_eq!(run.code, 1, "{run:?}");
    // A marker that is a line of the file is none.
    let sent =
        patch("*** Add File: n.txt\n+<<<<<<< SEARCH\n*** Update File: a.txt\n@@\n-two\n+2\n");
    let (run, after) = applied(&[], &sent, "a.txt");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(after.as_deref(), Some("one\n2\nthree\n"));
}

#[test]
fn an_arrow_in_the_header_of_an_update_is_explained() {
    let sent = "*** Begin Patch\n*** Update File: a.txt -> b.txt\n@@\n-two\n+2\n*** End Patch\n";
    let (run, after) = applied(&[], sent, "a.txt");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("`*** Move to: new`"), "{run:?}");
    assert_eq!(after.as_deref(), Some(before("a.txt")));
}

#[test]
fn dots_stand_for_no_old_lines() {
    let hunk = "*** Begin Patch\n*** Update File: m.py\n@@\n def f(x):\n     ...\n-def g(x):\n\
                +def i(x):\n*** End Patch\n";
    let block = block("", "def f(x):\n...\ndef g(x):", "def f(x):\n...\ndef i(x):");
    for sent in [hunk, &block] {
        let (run, after) = applied(&[], sent, "m.py");
        assert_eq!(run.code, 1, "{sent}: {run:?}");
        assert!(run.stderr.contains("old lines have to be whole"), "{sent}: {run:?}");
        assert!(!run.stderr.contains("if that place is meant"), "{sent}: {run:?}");
        assert_eq!(after.as_deref(), Some(before("m.py")), "{sent}");
    }
}

#[test]
fn an_empty_file_is_filled_and_no_other_is_replaced() {
    let fence = "e.txt\n\n```\nnew\n```\n";
    let block = "e.txt\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n";
    let call = r#"{"file_path": "e.txt", "old_string": "", "new_string": "new\n"}"#;
    let envelope = "*** Begin Patch\n*** Add File: e.txt\n+new\n*** End Patch\n";
    for (sent, fills) in [(fence, true), (block, true), (call, true), (envelope, false)] {
        for (before, is_empty) in [("", true), ("\n", false), ("x", false)] {
            let dir = temp();
            let home = temp();
            std::fs::write(dir.path().join("e.txt"), before).expect("a file");
            let run = run("apply-patch", dir.path(), home.path(), &[] as &[&str], sent.as_bytes());
            let after = std::fs::read_to_string(dir.path().join("e.txt")).expect("a file");
            let wanted = if fills && is_empty { "new\n" } else { before };
            assert_eq!(after, wanted, "{sent} {before:?}: {run:?}");
            assert_eq!(run.code == 0, fills && is_empty, "{sent} {before:?}: {run:?}");
        }
    }
}
