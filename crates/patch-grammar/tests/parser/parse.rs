//! What parses, what does not, and what is said about it.

use patch_grammar::{Dialect, ParseOptions, Patch, SectionOperation, parse, recognizes};

fn codex() -> ParseOptions {
    ParseOptions { strip_wrappers: true, bare_first_hunk: true, ..ParseOptions::default() }
}

/// The tree in one line a section, for short tables.
fn show(patch: &Patch) -> String {
    let mut out = String::new();
    for section in patch.sections() {
        match &section.operation {
            SectionOperation::Add(added) => {
                let lines: Vec<_> = added.lines().map(String::from_utf8_lossy).collect();
                out += &format!(
                    "add {} {lines:?}{}",
                    section.path.text,
                    if added.no_newline { "!" } else { "" }
                );
            }
            SectionOperation::Delete(_) => out += &format!("delete {}", section.path.text),
            SectionOperation::Copy { .. } => unreachable!("no envelope has copies"),
            SectionOperation::Update { move_to, hunks } => {
                out += &format!("update {}", section.path.text);
                if let Some(to) = move_to {
                    out += &format!(" to {}", to.text);
                }
                for hunk in hunks {
                    let headers: Vec<_> = hunk.headers.iter().map(|header| &*header.text).collect();
                    out += &format!(" @{}", headers.join("@"));
                    for line in &hunk.lines {
                        let mark = line.kind.sign();
                        out += &format!(
                            "|{mark}{}{}{}",
                            line.text_lossy(),
                            if line.crlf { "^M" } else { "" },
                            if line.no_newline { "!" } else { "" }
                        );
                    }
                    if hunk.separators > 0 {
                        out += &format!("~{}", hunk.separators);
                    }
                    if hunk.end_of_file {
                        out += "$";
                    }
                }
            }
        }
        out += "\n";
    }
    for warning in &patch.warnings {
        out += &format!("warning: {warning}\n");
    }
    out
}

fn wrap(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

#[test]
fn reads_every_form_of_the_language() {
    for (body, tree) in [
        ("*** Add File: a.txt\n", "add a.txt []\n"),
        ("*** Add File: a.txt\n+\n+x\n", "add a.txt [\"\", \"x\"]\n"),
        ("*** Add File: a.txt\n+x\n\\ No newline at end of file\n", "add a.txt [\"x\"]!\n"),
        ("*** Delete File: a b.txt\n", "delete a b.txt\n"),
        ("*** Update File: a\n*** Move to: b\n", "update a to b\n"),
        ("*** Update File: a\n@@\n x\n-y\n+z\n", "update a @| x|-y|+z\n"),
        ("*** Update File: a\n@@ class A\n@@  def f\n-y\n", "update a @class A@ def f|-y\n"),
        ("*** Update File: a\n@@\n-y\n*** End of File\n", "update a @|-y$\n"),
        ("*** Update File: a\n@@\n-y\n@@\n+z\n*** End of File\n\n", "update a @|-y @|+z$\n"),
        ("*** Update File: a\n@@\n-y\n\\ No newline at end of file\n+y\n", "update a @|-y!|+y\n"),
        ("*** Move File: a -> b\n", "update a to b\n"),
        ("*** Move File: a -> b c\n@@\n-x\n", "update a to b c @|-x\n"),
        ("*** Move File: a b -> c\n", "update a b to c\n"),
        // Tolerated in every profile.
        ("*** Update File: a\n@@\n x\n\n y\n", "update a @| x| | y\n"),
        ("*** Update File: a\n@@\n-x\n\n\n*** Delete File: b\n", "update a @|-x| | ~2\ndelete b\n"),
        ("*** Delete File: a\n\n \n*** Delete File: b\n\n", "delete a\ndelete b\n"),
        ("*** Update File: a\n\n@@\n-x\n", "update a @|-x\n"),
        ("*** Update File: a\n@@\n-x\r\n+y\r\r\n", "update a @|-x^M|+y\r^M\n"),
        ("*** Add File: a\n+x\r\n+y\n", "add a [\"x\\r\", \"y\"]\n"),
        ("*** Update File: a\n@@\n \r\n\r\n+y\n", "update a @| ^M| ^M|+y\n"),
        // Without a line feed in the file there is no CRLF.
        ("*** Update File: a\n@@\n-x\r\n\\ No newline at end of file\n", "update a @|-x\r!\n"),
        (
            "*** Update File: a\n@@\n *** Update File: b\n-x\n",
            "update a @| *** Update File: b|-x\n",
        ),
        ("*** Update File: a\n@@\n *** End Patch\n-x\n", "update a @| *** End Patch|-x\n"),
        ("*** Add File:a\n+x\n", "add a [\"x\"]\n"),
    ] {
        let text = wrap(body);
        let patch = parse(&text, &ParseOptions::default())
            .unwrap_or_else(|error| panic!("{body:?}: {error}"));
        assert_eq!(show(&patch), tree, "{body:?}");
        // In a patch that is stored with CRLF a carriage return says nothing; one before it is
        // text.
        if !body.contains('\r') {
            let framed = text.replace('\n', "\r\n");
            let patch = parse(&framed, &ParseOptions::default())
                .unwrap_or_else(|error| panic!("{body:?}: {error}"));
            assert_eq!(show(&patch), tree, "{body:?} in CRLF");
        }
    }
}

#[test]
fn an_environment_must_be_that_of_the_options() {
    for (lines, own, wanted) in [
        ("*** Environment ID: x\n", Some("x"), Ok(())),
        ("*** Environment ID:x \r\n\n", Some("x"), Ok(())),
        ("", Some("x"), Ok(())),
        ("*** Environment ID: x\n", None, Err(("the patch is meant for the environment `x`", 2))),
        (
            "*** Environment ID: y z\n",
            Some("x"),
            Err(("the patch is meant for the environment `y z`", 2)),
        ),
        (
            "*** Environment ID: \n",
            Some("x"),
            Err(("the `*** Environment ID:` line names no environment", 2)),
        ),
        (
            "*** Environment ID: x\n*** Environment ID: x\n",
            Some("x"),
            Err(("the patch names its environment twice", 3)),
        ),
    ] {
        let text = wrap(&format!("{lines}*** Delete File: a\n"));
        for options in [ParseOptions::default(), codex()] {
            let options = ParseOptions { environment: own.map(str::to_owned), ..options };
            let found = parse(&text, &options).map(|_| ()).map_err(|error| {
                assert_eq!(error.kind.as_str(), "environment", "{text:?}");
                (error.kind.to_string(), error.line)
            });
            assert_eq!(
                found,
                wanted.map_err(|(message, line)| (message.to_owned(), line)),
                "{text:?} {own:?}"
            );
            // A stream fails as soon as the line is complete.
            let mut stream = patch_grammar::PatchStream::new(options);
            let events = stream.push(text.split("*** Delete").next().expect("a part").as_bytes());
            let failed =
                events.iter().any(|event| matches!(event, patch_grammar::StreamEvent::Failed(_)));
            assert_eq!(failed, wanted.is_err(), "{text:?} {own:?}");
        }
    }
    let late = wrap("*** Delete File: a\n*** Environment ID: x\n");
    let options = ParseOptions { environment: Some("x".into()), ..codex() };
    assert_eq!(
        parse(&late, &options).expect_err("it comes too late").kind.as_str(),
        "unknown_header"
    );
}

#[test]
fn codex_options_strip_what_is_around_the_patch_and_say_so() {
    let body = "*** Update File: a\n-x\n+y\n";
    let tree = "update a @|-x|+y\n";
    let plain = wrap(body);
    for (text, warnings) in [
        (plain.clone(), ""),
        (format!("\n\n{plain}\n \n"), ""),
        (
            format!("<<EOF\n{plain}EOF\n"),
            "warning: line 1: a heredoc around the patch was removed\n",
        ),
        (format!("<<'P'\n{plain}P"), "warning: line 1: a heredoc around the patch was removed\n"),
        (
            format!("```diff\n{plain}```\n"),
            "warning: line 1: a Markdown fence around the patch was removed\n",
        ),
        (
            format!("```\n<<EOF\n{plain}EOF\n```\n"),
            "warning: line 1: a Markdown fence around the patch was removed\n\
             warning: line 2: a heredoc around the patch was removed\n",
        ),
        (
            plain.replace("Begin Patch", "Begin Patch "),
            "warning: line 1: blanks around a `***` line were removed\n",
        ),
        (
            plain.replace("*** End", "  *** End"),
            "warning: line 5: blanks around a `***` line were removed\n",
        ),
        (
            plain.replace("*** Update", "  *** Update"),
            "warning: line 2: blanks around a `***` line were removed\n",
        ),
    ] {
        let patch = parse(&text, &codex()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(show(&patch), format!("{tree}{warnings}"), "{text:?}");
        let opened = text.replace("\n-x", "\n@@\n-x");
        let strict = parse(&opened, &ParseOptions::default());
        assert_eq!(strict.is_ok(), warnings.is_empty(), "{text:?}");
    }
}

#[test]
fn errors_name_the_line_the_column_what_was_expected_and_what_was_seen() {
    for (text, kind, line, column, seen) in [
        ("", "empty", 1, 1, None),
        (" \n\n", "empty", 3, 1, None),
        ("hello", "no_begin", 1, 1, Some("hello")),
        ("\u{c}\n\r\r!", "no_begin", 1, 1, Some("\u{c}")),
        (
            "hi\n*** Begin Patch\n*** Delete File: a\n*** End Patch\n",
            "text_before",
            1,
            1,
            Some("hi"),
        ),
        ("*** Begin Patch\n*** End Patch\n", "no_sections", 2, 1, Some("*** End Patch")),
        ("*** Begin Patch", "no_end", 1, 16, Some("*** Begin Patch")),
        ("\n*** Begin Patch", "no_end", 2, 16, Some("*** Begin Patch")),
        ("*** Begin Patch\r\n", "no_end", 2, 1, None),
        ("*** Begin Patch\n*** Begin Patch", "second_envelope", 2, 1, Some("*** Begin Patch")),
        ("*** Begin Patch\n*** Update File: a", "no_end", 2, 1, Some("*** Update File: a")),
        ("*** Begin Patch\n*** Delete File: a\n", "no_end", 3, 1, None),
        ("*** Begin Patch\n*** Delete File: a\n*** End Pat", "no_end", 3, 12, Some("*** End Pat")),
        ("*** Begin Patch\n*** Add File: a\n+x", "no_end", 3, 1, Some("+x")),
        ("*** Begin Patch\n*** Update File: a\n@@\n", "no_end", 4, 1, None),
        ("*** Begin Patch\n*** Update File: a\n@@", "no_end", 3, 1, Some("@@")),
        ("*** Begin Patch\n*** Upda", "no_end", 2, 9, Some("*** Upda")),
        (
            "*** Begin Patch\n*** Delete File: a\n*** End Patch\nbye\n",
            "text_after",
            4,
            1,
            Some("bye"),
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** Begin Patch\n\
             *** Delete File: a\n*** End Patch\n",
            "second_envelope",
            4,
            1,
            Some("*** Begin Patch"),
        ),
        (
            "*** Begin Patch\n*** Frobnicate File: a\n*** End Patch\n",
            "unknown_header",
            2,
            5,
            Some("*** Frobnicate File: a"),
        ),
        (
            "*** Begin Patch\n*** Updat File: a\n@@\n-x\n*** End Patch\n",
            "unknown_header",
            2,
            10,
            Some("*** Updat File: a"),
        ),
        ("*** Begin Patch\nbad\n*** End Patch\n", "unexpected", 2, 1, Some("bad")),
        ("*** Begin Patch\n*** Add File: a\nbad\n*** End Patch\n", "no_plus", 3, 1, Some("bad")),
        ("*** Begin Patch\n*** Add File: a\n+x\n\n+y\n*** End Patch\n", "no_plus", 4, 1, Some("")),
        (
            "*** Begin Patch\n*** Add File: \n+x\n*** End Patch\n",
            "no_path",
            2,
            1,
            Some("*** Add File: "),
        ),
        (
            "*** Begin Patch\n*** Delete File: a\nbad\n*** End Patch\n",
            "unexpected",
            3,
            1,
            Some("bad"),
        ),
        (
            "*** Begin Patch\n*** Move File: a\n*** End Patch\n",
            "no_arrow",
            2,
            1,
            Some("*** Move File: a"),
        ),
        (
            "*** Begin Patch\n*** Move File: a -> b -> c\n*** End Patch\n",
            "no_arrow",
            2,
            1,
            Some("*** Move File: a -> b -> c"),
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** End Patch\n",
            "no_hunks",
            2,
            1,
            Some("*** Update File: a"),
        ),
        (
            "*** Begin Patch\n*** Update File: a\n\n*** End Patch\n",
            "no_hunks",
            2,
            1,
            Some("*** Update File: a"),
        ),
        ("*** Begin Patch\n*** Update File: a\n-x\n*** End Patch\n", "no_at", 3, 1, Some("-x")),
        ("*** Begin Patch\n*** Update File: a\nx\n*** End Patch\n", "no_at", 3, 1, Some("x")),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n*** End Patch\n",
            "empty_hunk",
            4,
            1,
            Some("*** End Patch"),
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n*** Delete File: b\n*** End Patch\n",
            "empty_hunk",
            4,
            1,
            Some("*** Delete File: b"),
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-x\nbad\n*** End Patch\n",
            "no_prefix",
            5,
            1,
            Some("bad"),
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n@@bad\n*** End Patch\n",
            "no_prefix",
            5,
            1,
            Some("@@bad"),
        ),
        (
            "<<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n",
            "wrapped",
            1,
            1,
            Some("<<EOF"),
        ),
        (
            "*** Begin Patch \n*** Delete File: a\n*** End Patch\n",
            "padded",
            1,
            1,
            Some("*** Begin Patch "),
        ),
        (
            "*** Begin Patch\n  *** Delete File: a\n*** End Patch\n",
            "padded",
            2,
            1,
            Some("  *** Delete File: a"),
        ),
    ] {
        let error = parse(text, &ParseOptions::default()).expect_err(text);
        let found = (error.kind.as_str(), error.line, error.column, error.seen.as_deref());
        assert_eq!(found, (kind, line, column, seen), "{text:?}: {error}");
        assert!(!error.expected.is_empty(), "{text:?}");
        let message = error.to_string();
        assert!(!message.contains('_'), "a rule name in {message:?}");
        assert!(!message.contains("Rule"), "a rule name in {message:?}");
    }
}

#[test]
fn lines_and_spans_point_into_the_text() {
    let text = "<<EOF\n*** Begin Patch\n*** Update File: a\n@@ f\n x\n\
                \\ No newline at end of file\n-y\n@@\n+é\n*** Add File: b\n+1\n*** End Patch\n\
                EOF\n";
    let patch = parse(text, &codex()).expect("it parses");
    let hunks = patch.sections()[0].hunks();
    assert_eq!(&text[hunks[0].span.clone()], "@@ f\n x\n\\ No newline at end of file\n-y\n");
    assert_eq!(hunks[0].line, 4);
    assert_eq!(hunks[1].line, 8);
    let lines: Vec<_> = hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| line.line).collect();
    assert_eq!(lines, [5, 7, 9]);
    assert_eq!(hunks[0].headers[0].line, 4);
    assert_eq!(&text[hunks[0].headers[0].span.clone()], "f");
    assert_eq!(patch.sections()[1].line(), 10);
    assert_eq!(&text[patch.sections()[1].path.span.clone()], "b");
}

#[test]
fn both_exported_dialects_are_read_by_the_parser() {
    for (body, whole, subset) in [
        ("*** Add File: a\n+x\n", true, true),
        ("*** Add File: a\n", true, false),
        ("*** Move File: a -> b\n", true, false),
        ("*** Update File: a\n@@ f\n@@ g\n-x\n", true, false),
        ("*** Update File: a\n*** Move to: b\n@@ f\n-x\n*** End of File\n", true, true),
        ("*** Update File: a\n*** Move to: b\n", true, false),
        ("*** Update File: a\n-x\n", false, false),
        ("*** Update File: a\n@@\n\n", false, false),
        ("*** Update File: a\n", false, false),
        ("*** Add File:  a\n+x\n", false, false),
    ] {
        let text = wrap(body);
        assert_eq!(recognizes(Dialect::Whole, &text), whole, "{body:?}");
        assert_eq!(recognizes(Dialect::Codex, &text), subset, "{body:?}");
        if whole {
            parse(&text, &ParseOptions::default())
                .unwrap_or_else(|error| panic!("{body:?}: {error}"));
        }
    }
}

#[test]
fn ten_thousand_sections_are_read_and_one_more_is_refused() {
    let body = "*** Delete File: a\n".repeat(10_000);
    let text = wrap(&body);
    assert_eq!(
        parse(&text, &ParseOptions::default()).expect("at the limit").sections().len(),
        10_000
    );
    let text = wrap(&format!("{body}*** Delete File: a\n"));
    let error = parse(&text, &ParseOptions::default()).expect_err("over the limit");
    assert_eq!(error.kind.as_str(), "too_many_sections");
    assert_eq!(error.line, 10_002);
}

#[test]
fn text_that_is_not_utf8_or_has_a_nul_is_refused_with_its_place() {
    for (bytes, kind, line, column) in [
        (&b"*** Begin\n+\xff"[..], "not_utf8", 2, 2),
        (b"a\n\n\0b", "nul", 3, 1),
        (b"\xe9", "not_utf8", 1, 1),
        (b"*** Begin Patch\n*** Add File: a\n+\xff\xc3", "not_utf8", 3, 2),
        // The first byte of a character of two.
        (b"*** Begin Patch\n*** Add File: a\n+caf\xc3", "no_end", 3, 5),
        (b"a\n<<<<<<< SEARCH\nx\n=======\n\xe2\x82", "no_end", 5, 1),
    ] {
        let error = patch_grammar::decode(bytes).expect_err("refused");
        assert_eq!(error.kind.as_str(), kind);
        assert_eq!(error.line, line);
        assert_eq!(error.column, column);
    }
}
