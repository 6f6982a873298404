//! Patches as people and models hand them over: `--from auto`.

use std::fs;

use crate::program::{place, run};

const PATCH: &str = "*** Begin Patch\n*** Update File: d/a\n@@\n-x\n+y\n*** End Patch\n";
const DIFF: &str = "--- a/d/a\n+++ b/d/a\n@@ -1 +1 @@\n-x\n+y\n";

#[test]
fn the_one_patch_of_an_answer_is_applied() {
    let items = serde_json::json!([{ "type": "message" }, {
        "type": "apply_patch_call", "call_id": "1",
        "operation": { "type": "update_file", "path": "d/a", "diff": "@@\n-x\n+y\n" },
    }]);
    for (input, said) in [
        (PATCH.to_owned(), ""),
        (PATCH.replace('\n', "\r\n"), ""),
        (
            format!("Sure! Here it is:\n\n```diff\n{PATCH}```\n\nTell me how it goes.\n"),
            "apply-patch: note: took the patch in lines 4-9; left out lines 1-3 and lines 10-12\n",
        ),
        (
            format!("So:\n~~~~\n{DIFF}~~~~\n"),
            "apply-patch: note: took the diff in lines 3-7; left out lines 1-2 and line 8\n",
        ),
        (DIFF.to_owned(), ""),
        (
            DIFF.replace('\n', "\r\n"),
            "apply-patch: warning: patch line 1: the diff was stored with CRLF, which says nothing \
             about the ends of lines in its files\n",
        ),
        (
            DIFF.replace("@@ -1 +1 @@", "@@ -1,7 +1,9 @@"),
            "apply-patch: warning: patch line 3: the numbers of the hunk do not fit its lines, \
             which were taken as they stand: it promises 7 old and 9 new lines, and has 1 and 1\n",
        ),
        (items.to_string(), "apply-patch: note: read the operations of a response\n"),
    ] {
        let (dir, home) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        fs::create_dir(dir.path().join("d")).expect("a folder");
        fs::write(dir.path().join("d/a"), "x\n").expect("a file");
        let check = run(
            "apply-patch",
            dir.path(),
            home.path(),
            &["check", "-q", "--from", "auto"],
            input.as_bytes(),
        );
        assert_eq!(check.code, 0, "{input}: {check:?}");
        assert_eq!(&*check.stderr, "", "{input}: {check:?}");
        let run =
            run("apply-patch", dir.path(), home.path(), &["--from", "auto"], input.as_bytes());
        assert_eq!(run.code, 0, "{input}: {run:#?}");
        assert_eq!(fs::read_to_string(dir.path().join("d/a")).expect("a file"), "y\n", "{input}");
        let told: String = run
            .stderr
            .lines()
            .filter(|line| line.contains(": note: ") || line.contains(": warning: "))
            .map(|it| format!("{it}\n"))
            .collect();
        assert_eq!(told, said, "{input}");
    }
}

#[test]
fn what_is_not_one_patch_is_refused_with_its_lines() {
    for (input, said) in [
        (
            format!("```\n{PATCH}```\nor\n```\n{DIFF}```\n"),
            "there are 2 patches in it, and only one can be meant: 1: a patch in lines 2-7 (d/a); \
             2: a diff in lines 11-15 (d/a)",
        ),
        ("I would change x to y.\n".into(), "there is no patch in the text"),
        ("{\"output\":[]}".into(), "there is no `apply_patch_call` among the items"),
        (
            format!("{DIFF}-z\n{}", &DIFF[..20]),
            "the numbers of the hunk do not fit its lines, and this may be its end or not",
        ),
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let run = run(
            "apply-patch",
            dir.path(),
            &dir.path().join("home"),
            &["--from", "auto"],
            input.as_bytes(),
        );
        assert_eq!(run.code, 1, "{run:#?}");
        assert!(run.stderr.contains(said), "{input}: {run:#?}");
    }
}

#[test]
fn an_error_points_at_the_line_of_the_answer() {
    let dir = tempfile::tempdir().expect("a folder");
    let input = "Hello\n```\n*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch\n```\n";
    let run = run(
        "apply-patch",
        dir.path(),
        &dir.path().join("home"),
        &["--from", "auto", "--color", "never"],
        input.as_bytes(),
    );
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("standard input:6:1"), "{run:#?}");
    let input = format!("Hello\n```\n{DIFF}z\n```\n").replace("-1 +1", "-1,2 +1").into_bytes();
    let input: Vec<u8> = input.iter().map(|&byte| if byte == b'y' { 0xff } else { byte }).collect();
    let run = self::run(
        "apply-patch",
        dir.path(),
        &dir.path().join("home"),
        &["--from", "auto", "--color", "never"],
        &input,
    );
    assert!(run.stderr.contains("standard input:8:1"), "{run:#?}");
    assert!(run.stderr.contains("^ expected a blank"), "{run:#?}");
}

#[test]
fn of_very_many_problems_the_first_are_told() {
    let (dir, home) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let sections: String = (0..60).map(|number| format!("*** Delete File: f{number}\n")).collect();
    let patch = format!("*** Begin Patch\n{sections}*** End Patch\n");
    for (args, lines, more) in [(&["check"][..], 45, true), (&["check", "-v"], 55, false)] {
        let run = run("apply-patch", dir.path(), home.path(), args, patch.as_bytes());
        assert_eq!(run.code, 1, "{run:#?}");
        let told = run.stderr.lines().filter(|line| line.starts_with('f')).count();
        let rest = run.stderr.contains("\nand 10 more (-v names them all)\n");
        assert_eq!(told, lines, "{run:#?}");
        assert_eq!(rest, more, "{run:#?}");
    }
}

/// The link has no flags, so that what it says names none.
#[test]
fn the_link_names_no_flags() {
    for (file, body, reason) in [
        // `--skip-applied`, `--fuzz`, `--overwrite`, `--ambiguous first`, `--allow`.
        ("x\ny\nz\n", "*** Update File: a\n@@\n x\n-gone\n+y\n z\n", "applied already"),
        ("“x”\n", "*** Update File: a\n@@\n-none\n+y\n", "not in the file"),
        ("x\nx\n", "*** Update File: a\n@@\n-x\n+y\n", "fit"),
        ("x\n", "*** Add File: .git/hooks/post-commit\n+y\n", ".git"),
        ("x\n", "*** Add File: .vscode/tasks.json\n+y\n", ".vscode"),
        ("x\n", "*** Delete File: none\n", "no such file"),
        ("x\n", "*** Update File: a\n*** Move to: d\n@@\n-x\n+y\n", "d"),
    ] {
        let [dir, home] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        fs::write(dir.path().join("a"), file).expect("a file");
        fs::create_dir(dir.path().join("d")).expect("a folder");
        let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
        let told = |name: &str| {
            let run = run::<&str>(name, dir.path(), home.path(), &[], patch.as_bytes());
            assert_ne!(run.code, 0, "{body}: {run:?}");
            assert!(run.stderr.contains(reason), "{body}: {run:?}");
            run.stderr
        };
        let stderr = told("apply_patch");
        assert!(!stderr.contains("`--"), "{body}: {stderr}");
        told("apply-patch");
    }
    // Nor where the directory has to be named.
    let home = tempfile::tempdir().expect("a folder");
    let refused = run::<&str>("apply_patch", home.path(), home.path(), &[], PATCH.as_bytes());
    assert!(refused.stderr.contains("is your home directory"), "{refused:?}");
    assert!(refused.stderr.contains("a person has to run `apply-patch -C .`"), "{refused:?}");
}

#[test]
fn a_later_section_is_compared_with_what_the_earlier_left() {
    const FILE: &str = "a\nb\nc\nd\ne\nf\n";
    let section = |lines: &str| format!("*** Update File: f\n@@\n{lines}");
    let envelope =
        |sections: &[String]| format!("*** Begin Patch\n{}*** End Patch\n", sections.concat());
    for (patch, picture, after) in [
        // The line that another section wrote, and lines that it moved.
        (
            envelope(&[section(" a\n-b\n+B\n c\n"), section(" a\n b\n-c\n+C\n d\n")]),
            "1 | a\n2 | B\n",
            Some(0),
        ),
        (
            envelope(&[section("-a\n+x\n+y\n+z\n"), section(" d\n-E\n+EE\n f\n")]),
            "6 | d\n7 | e\n",
            Some(0),
        ),
        // Nothing was written before it.
        (envelope(&[section(" a\n b\n-x\n+C\n d\n")]), "1 | a\n2 | b\n", None),
    ] {
        let dir = place(&[("w/f", FILE)]);
        let run = |args: &[&str]| {
            run("apply-patch", &dir.path().join("w"), dir.path(), args, patch.as_bytes())
        };
        let refused = run(&[]);
        assert_eq!(refused.code, 1, "{refused:?}");
        let told: String = refused
            .stderr
            .lines()
            .filter(|line| !line.contains("| -"))
            .map(|line| line.trim_start().to_owned() + "\n")
            .collect();
        assert!(told.contains(picture), "{}", refused.stderr);
        assert_eq!(told.contains("as section 1 leaves the file"), after.is_some(), "{told}");
        let answer = run(&["--json"]).json().expect("JSON");
        assert_eq!(answer["error"]["details"]["afterSection"].as_u64(), after, "{answer:#}");
        let text = answer["error"]["suggestedNextAction"].as_str().unwrap_or_default();
        assert_eq!(text.contains("read lines"), after.is_none(), "{text}");
    }
}

#[test]
fn lines_that_look_alike_are_told_apart() {
    let patch = |old: &str| {
        format!("*** Begin Patch\n*** Update File: f\n@@\n{old}+new\n last\n*** End Patch\n")
    };
    let utf16: Vec<u8> = "x\nlast\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (file, old, told, help, flag) in [
        (
            &b"caf\xe9\nx\nlast\n"[..],
            " caf\u{fffd}\n-x\n",
            "patch line 4 has U+FFFD in column 4, which stands for the byte E9: the file is not UTF-8",
            "leave the line with U+FFFD out, if it is context",
            "",
        ),
        (
            b"caf\xe9\nx\nlast\n",
            "-caf\u{e9}\n-x\n",
            "the file the byte E9: it is not UTF-8, but windows-1252",
            "(`--encoding f=LABEL`)",
            "--encoding=f=windows-1252",
        ),
        (
            "cafe\u{301} x\nx\nlast\n".as_bytes(),
            "-caf\u{e9} x\n-x\n",
            "U+00E9 in column 4, and the file U+0065 U+0301",
            "take for the hunk's lines",
            "",
        ),
        (
            "a\u{a0}b c\nx\nlast\n".as_bytes(),
            "-a b c\n-x\n",
            "U+0020 in column 2, and the file U+00A0",
            "take for the hunk's lines",
            "",
        ),
        (
            "a word\u{200b} here\nx\nlast\n".as_bytes(),
            "-a word here\n-x\n",
            "and the file U+200B",
            "take for the hunk's lines",
            "",
        ),
        (
            b"all:\n\techo 1\nlast\n",
            " all:\n-\\techo 1\n",
            "it has `\\t` where the file has tabs",
            "-\techo 1",
            "",
        ),
        (
            b"x\rlast\r",
            "-x\n",
            "the file is one line, since its lines end in carriage returns (CR) alone",
            "a person has to convert the line ends",
            "",
        ),
        (
            &utf16,
            "-x\n",
            "or utf-16le without a byte-order mark",
            "(`--encoding f=LABEL`)",
            "--encoding=f=utf-16le",
        ),
    ] {
        let dir = place(&[]);
        fs::write(dir.path().join("w/f"), file).expect("a file");
        let text = patch(old);
        let run = |args: &[&str]| {
            run("apply-patch", &dir.path().join("w"), dir.path(), args, text.as_bytes())
        };
        let refused = run(&["-n"]);
        assert_eq!(refused.code, 1, "{refused:?}");
        let words = refused.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        for wanted in [told, help] {
            let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(&wanted), "{wanted}: {}", refused.stderr);
        }
        if !flag.is_empty() {
            let taken = run(&["--check", flag]);
            assert_eq!(taken.code, 0, "{taken:?}");
        }
    }
}

#[test]
fn an_empty_context_line_too_many_is_named() {
    for (body, after) in [
        (" a\n-b\n+B\n c\n \n", "a\nB\nc\nd\n"),
        (" a\n-b\n+B\n \n", "a\nB\nc\nd\n"),
        (" c\n-d\n+D\n \n \n", "a\nb\nc\nD\n"),
    ] {
        let dir = place(&[("w/f", "a\nb\nc\nd\n")]);
        let run = |body: &str| {
            let patch = format!("*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch\n");
            run("apply-patch", &dir.path().join("w"), dir.path(), &["--json"], patch.as_bytes())
        };
        let refused = run(body).json().expect("JSON");
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("an empty context line stands at its end: leave it out"),
            "{message}"
        );
        let lines = refused["error"]["hints"][0]["lines"].as_array().expect("lines");
        let lines: Vec<_> = lines.iter().filter_map(|line| line.as_str()).collect();
        let taken = run(&(lines.join("\n") + "\n"));
        assert_eq!(taken.code, 0, "{taken:?}");
        assert_eq!(fs::read_to_string(dir.path().join("w/f")).expect("a file"), after);
    }
    // Where the rest stands twice, the empty line may be meant.
    let dir = place(&[("w/f", "a\nb\nc\na\nb\nd\n")]);
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n \n*** End Patch\n";
    let refused =
        run("apply-patch", &dir.path().join("w"), dir.path(), &["--json"], patch.as_bytes());
    assert!(!refused.stdout.contains("an empty context line"), "{}", refused.stdout);
}
