//! Whole files in fences: which are made, which replace others, and which are refused.

use testutils::temp::temp;

use crate::program::{Run, run};

/// Gives a text to the program beside the file `a.txt`, and returns the files afterwards.
fn applied(args: &[&str], sent: &str) -> (Run, Vec<(String, String)>) {
    let dir = temp();
    let home = temp();
    std::fs::write(dir.path().join("a.txt"), "one\ntwo\n").expect("a file");
    let run = run("apply-patch", dir.path(), home.path(), args, sent.as_bytes());
    let files = testutils::takers::files(dir.path());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (run, files.into_iter().map(|(path, (_, bytes))| (path, text(bytes))).collect())
}

/// A fence with the text `x`.
fn fence(info: &str) -> String {
    format!("```{info}\nx\n```\n")
}

fn is_there(files: &[(String, String)], path: &str, text: &str) -> bool {
    files.contains(&(path.to_owned(), text.to_owned()))
}

#[test]
fn a_file_is_named_above_its_fence_or_behind_its_language() {
    let py = fence("python");
    for sent in [
        format!("b/n.py\n{py}"),
        format!("b/n.py\n\n{py}"),
        format!("**b/n.py**\n{py}"),
        format!("### `b/n.py`\n\n{py}"),
        format!("`b/n.py`:\n{py}"),
        format!("File: b/n.py\n{}", fence("")),
        format!("So:\n\nb/n.py\n{py}\nDone.\n"),
        fence("python b/n.py"),
        fence("python path=b/n.py"),
        fence("python title=\"b/n.py\""),
        fence("python:b/n.py"),
        fence("b/n.py"),
        format!("b/n.py\n{}", fence("python b/n.py")),
        "b/n.py\n~~~~py\nx\n~~~~\n".into(),
        format!("1. this\n\n   b/n.py\n   {}", py.trim_end().replace('\n', "\n   ")),
        format!("b/n.py\n{py}").replace('\n', "\r\n"),
        format!("b/n.py\n{py}\nRun it:\n```sh\npython b/n.py\n```\nIt prints:\n```\nx\n```\n"),
        format!("b/n.py\n{py}b/n.py\n{py}"),
        format!("```sh\npip install x\n```\nb/n.py\n{py}"),
    ] {
        for args in [&[][..], &["--from", "files"], &["--profile", "codex"]] {
            let (run, files) = applied(args, &sent);
            assert_eq!(run.code, 0, "{sent} {args:?}: {run:#?}");
            assert!(is_there(&files, "b/n.py", "x\n"), "{sent}: {files:?}");
            assert!(run.stderr.contains("note: read 1 file in full"), "{run:?}");
        }
    }
}

#[test]
fn the_text_of_a_fence_is_the_file() {
    for (text, wanted) in [
        ("", ""),
        ("\n", "\n"),
        ("x\n\n", "x\n\n"),
        ("  x\n\ty\n", "  x\n\ty\n"),
        ("+x\n-y\n\\ No newline\n", "+x\n-y\n\\ No newline\n"),
        ("{\"name\": \"x\"}\n", "{\"name\": \"x\"}\n"),
        ("*** Delete File: a\n", "*** Delete File: a\n"),
    ] {
        for sent in [format!("n.json\n```\n{text}```\n"), format!("```json n.json\n{text}```\n")] {
            let (run, files) = applied(&["--from", "files"], &sent);
            assert_eq!(run.code, 0, "{sent}: {run:#?}");
            assert!(is_there(&files, "n.json", wanted), "{sent}: {files:?}");
        }
    }
    let sent = format!("n.md\n````md\n# T\n{}````\n", fence("py"));
    let (run, files) = applied(&[], &sent);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(is_there(&files, "n.md", &format!("# T\n{}", fence("py"))), "{files:?}");
}

#[test]
fn a_file_that_is_there_is_replaced_where_the_form_is_named() {
    let sent = format!("n.py\n{}a.txt\n{}", fence("py"), fence("text"));
    for args in [&[][..], &["--profile", "codex"], &["--overwrite"]] {
        let (run, files) = applied(args, &sent);
        assert_eq!(run.code, 1, "{args:?}: {run:?}");
        assert!(run.stderr.contains("the text may show only a part of it"), "{run:?}");
        assert!(run.stderr.contains("use `--from files`"), "{run:?}");
        assert_eq!(files.len(), 1, "{files:?}");
        assert!(is_there(&files, "a.txt", "one\ntwo\n"), "{files:?}");
    }
    let (run, files) = applied(&["--from", "files"], &sent);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(is_there(&files, "n.py", "x\n") && is_there(&files, "a.txt", "x\n"), "{files:?}");
}

#[test]
fn a_text_that_may_be_no_file_is_refused() {
    let py = fence("python");
    for (sent, words) in [
        (py.clone(), "`*** Begin Patch`"),
        (format!("Change n.py:\n{py}"), "`*** Begin Patch`"),
        (format!("## The helper n.py\n{py}"), "`*** Begin Patch`"),
        (format!("n.py\nis this:\n{py}"), "`*** Begin Patch`"),
        (fence("12:14:n.py"), "`*** Begin Patch`"),
        (format!("n.py\n{}", fence("console")), "`*** Begin Patch`"),
        (format!("n.py\n{}", fence("diff")), "`*** Begin Patch`"),
        (format!("# n.py\n\nSome text.\n{py}"), "`*** Begin Patch`"),
        (fence("python\n# n.py"), "`*** Begin Patch`"),
        (format!("n.py\n{py}and\n{py}"), "no path above the fence in line 6"),
        (format!("n.py\n{py}And in b:\n{}", fence("js")), "no path above the fence in line 6"),
        (
            format!("n.md\n{}\ntext\n{}", fence("md"), fence("")),
            "no path above the fence in line 7",
        ),
        (format!("n.md\n```md\n{}```\n", fence("sh")), "the fence in line 6 is not closed"),
        (format!("n.py\n{py}n.py\n{}", py.replace('x', "y")), "stands there twice"),
        (format!("n.py\n{}", fence("py b.py")), "has two paths"),
        ("n.py\n```python\nx\n".into(), "is not closed"),
        (format!("<!--\nn.py\n{py}-->\n"), "in a comment"),
        ("n.py\n```python\n# ... existing code ...\n```\n".into(), "lines that are left out"),
        (format!("../n.py\n{py}"), ".."),
        (
            format!("n.py\n{py}*** Update File: a.txt\n@@\n-one\n+1\n"),
            "a part of a patch stands beside",
        ),
        (format!("n.py\n{py}@@ -1 +1 @@\n-one\n+1\n"), "a part of a patch stands beside"),
    ] {
        for args in [&[][..], &["--from", "files"]] {
            let (run, files) = applied(args, &sent);
            assert!([1, 3].contains(&run.code), "{sent} {args:?}: {run:#?}");

            assert!(run.stderr.contains(words), "{sent}: {run:#?}");
            assert_eq!(files.len(), 1, "{sent}: {files:?}");
        }
    }
}

#[test]
fn an_error_points_into_the_answer() {
    let sent = "So:\n\nn.js\n```js\n// x\n// ... existing code ...\n```\n";
    let (run, _) = applied(&[], sent);
    assert!(run.stderr.contains("n.js: line 2 would be"), "{run:?}");
    assert!(run.stderr.contains("standard input:3:"), "{run:?}");
}

#[test]
fn an_empty_old_part_for_a_file_that_is_there_is_told() {
    let block = "a.txt\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n";
    let edit = r#"{"file_path":"a.txt","old_string":"","new_string":"x"}"#;
    for sent in [block, edit] {
        let (run, files) = applied(&[], sent);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("send the lines to replace too"), "{run:?}");
        assert!(run.stderr.contains("with `--from files`"), "{run:?}");
        assert!(is_there(&files, "a.txt", "one\ntwo\n"), "{files:?}");
    }
}
