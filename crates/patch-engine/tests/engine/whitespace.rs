//! Whitespace errors in the lines that patches insert: noted, refused, or fixed.

use std::fmt::Write as _;
use std::sync::Arc;

use patch_engine::{
    Files, MemoryTree, Note, Options, PlanNote, Profile, Rejects, Whitespace, parse, plan, reverse,
};
use patch_grammar::{Patch, diff};

/// Plans a patch for the file `f` and other files. Returns `f` afterwards, and what is noted.
fn planned(
    files: &[(&str, &str)],
    patch: &Patch,
    options: &Options,
) -> Result<(Option<String>, String), Rejects> {
    let tree: MemoryTree = files.iter().copied().collect();
    let files = Files::of_tree(Arc::new(tree), patch_engine::policy());
    let plan = plan(&files, patch, options)?;
    let changed = plan.images().changed().expect("they are in memory");
    let after = changed.iter().find(|file| file.path.as_str() == "f");
    let after = after.and_then(|file| file.after.as_ref());
    let text = after.map(|after| String::from_utf8(after.bytes.to_vec()).expect("text"));
    let mut notes = String::new();
    for note in plan.notes() {
        match note {
            PlanNote::Whitespace { errors, fixed, .. } => {
                let _ = write!(notes, "{} {errors}", if *fixed { "fixed" } else { "warned" });
            }
            PlanNote::Hunk { note: Note::FixedWhitespace, .. } => notes.push_str("overlooked; "),
            _ => {}
        }
    }
    Ok((text, notes))
}

fn options(whitespace: Whitespace, rules: &str) -> Options {
    let whitespace_rules = rules.parse().expect("rules");
    Options { whitespace, whitespace_rules, ..Options::default() }
}

fn unified(hunks: &str) -> Patch {
    diff::parse(format!("--- a/f\n+++ b/f\n{hunks}"), &diff::DiffOptions::default())
        .expect("a diff")
}

fn envelope(body: &str) -> Patch {
    let text = format!("*** Begin Patch\n{body}*** End Patch\n");
    parse(text, &Options::default().parse).expect("it parses")
}

#[test]
fn errors_are_noted_refused_or_fixed() {
    let bad = "@@ -1,2 +1,3 @@\n a\n+ \tb \n z\n";
    let words = "1 line (patch line 5: blank-at-eol, space-before-tab)";
    for (whitespace, after, noted) in [
        (Whitespace::Nowarn, "a\n \tb \nz\n", String::new()),
        (Whitespace::Warn, "a\n \tb \nz\n", format!("warned {words}")),
        (Whitespace::Fix, "a\n\tb\nz\n", format!("fixed {words}")),
    ] {
        let found = planned(&[("f", "a\nz\n")], &unified(bad), &options(whitespace, ""));
        let (text, notes) = found.expect("it fits");
        assert_eq!(text.as_deref(), Some(after), "{whitespace}");
        assert_eq!(notes, noted, "{whitespace}");
    }
    let refused = planned(&[("f", "a\nz\n")], &unified(bad), &options(Whitespace::Error, ""));
    let rejects = refused.expect_err("it is refused");
    assert_eq!(rejects.len(), 1);
    assert_eq!(rejects[0].reason(), "whitespace");
    assert_eq!(rejects[0].patch_line, Some(5));
    assert_eq!(
        rejects[0].to_string(),
        format!("f (patch line 5): it adds whitespace errors in {words}")
    );
}

#[test]
fn lines_that_are_not_inserted_have_no_errors() {
    let patch = unified("@@ -1,3 +1,2 @@\n a \n-b \n z \n");
    for whitespace in [Whitespace::Warn, Whitespace::Error, Whitespace::Fix] {
        let found = planned(&[("f", "a \nb \nz \n")], &patch, &options(whitespace, ""));
        let (text, notes) = found.expect("it fits");
        assert_eq!(text.as_deref(), Some("a \nz \n"));
        assert_eq!(notes, "");
    }
    // In reverse, the deleted lines are the inserted ones.
    let reversed = reverse(&patch, &options(Whitespace::Error, "")).expect("a diff is reversible");
    let refused = planned(&[("f", "a \nz \n")], &reversed, &options(Whitespace::Error, ""));
    assert_eq!(refused.expect_err("it is refused")[0].reason(), "whitespace");
}

#[test]
fn what_does_not_fit_is_told_beside_the_errors() {
    let patch = unified("@@ -1 +1 @@\n-x\n+y \n");
    let refused = planned(&[("f", "a\n")], &patch, &options(Whitespace::Error, ""));
    let reasons: Vec<_> =
        refused.expect_err("it is refused").iter().map(patch_engine::Reject::reason).collect();
    assert_eq!(reasons, ["context_not_found", "whitespace"]);
}

#[test]
fn attributes_say_what_an_error_is() {
    let patch = unified("@@ -1 +1,2 @@\n a\n+        b \n");
    for (attributes, after) in [
        ("", "a\n        b\n"),
        ("f -whitespace\n", "a\n        b \n"),
        ("f whitespace\n", "a\n\tb\n"),
        ("* -whitespace\nf !whitespace\n", "a\n        b\n"),
        ("f whitespace=-trailing-space\n", "a\n        b \n"),
        ("*.c whitespace=-trailing-space\n", "a\n        b\n"),
        ("f whitespace=indent-with-non-tab,tabwidth=4\n", "a\n\t\tb\n"),
    ] {
        let files = [("f", "a\n"), (".gitattributes", attributes)];
        let (found, _) = planned(&files, &patch, &options(Whitespace::Fix, "")).expect("it fits");
        assert_eq!(found.as_deref(), Some(after), "{attributes}");
    }
    let (found, _) =
        planned(&[("f", "a\n")], &patch, &options(Whitespace::Fix, "-trailing,indent"))
            .expect("it fits");
    assert_eq!(found.as_deref(), Some("a\n\tb \n"));
}

#[test]
fn a_moved_file_has_the_attributes_of_its_new_path() {
    let patch = envelope("*** Update File: g\n*** Move to: f\n@@\n-a\n+b \n");
    let files = [("g", "a\n"), (".gitattributes", "g -whitespace\n")];
    let found = planned(&files, &patch, &options(Whitespace::Fix, "")).expect("it fits");
    assert_eq!(found.0.as_deref(), Some("b\n"));
}

#[test]
fn blank_lines_at_the_end_are_those_that_the_hunk_adds_there() {
    for (file, hunk, after, line) in [
        ("a\n", "@@ -1 +1,3 @@\n a\n+\n+\n", "a\n", Some(5)),
        ("a\n", "@@ -1 +1,4 @@\n a\n+b\n+\n+\n", "a\nb\n", Some(6)),
        ("a\n\n", "@@ -1,2 +1,3 @@\n a\n+\n \n", "a\n\n", Some(5)),
        ("a\n", "@@ -1 +1,2 @@\n+\n a\n", "\na\n", None),
        ("a\nb\n", "@@ -1,2 +1,3 @@\n a\n+\n b\n", "a\n\nb\n", None),
        // The file goes on below the hunk, if only with a blank line.
        ("a\nb\n\n\n", "@@ -1,3 +1,5 @@\n a\n b\n+\n+\n \n", "a\nb\n\n\n\n\n", None),
        ("a\n\n", "@@ -1,2 +1,2 @@\n-a\n+b\n \n", "b\n\n", None),
        // The blank line before the new last line is not at the end.
        ("a\n", "@@ -1 +1,3 @@\n a\n+\n+b\n", "a\n\nb\n", None),
    ] {
        let patch = unified(hunk);
        let found = planned(&[("f", file)], &patch, &options(Whitespace::Fix, ""));
        let (found, notes) = found.unwrap_or_else(|error| panic!("{hunk}: {error}"));
        assert_eq!(found.as_deref().unwrap_or(file), after, "{hunk}");
        assert_eq!(notes.contains("blank-at-eof"), line.is_some(), "{hunk} {notes}");
        let refused = planned(&[("f", file)], &patch, &options(Whitespace::Error, ""));
        assert_eq!(refused.err().and_then(|rejects| rejects[0].patch_line), line, "{hunk}");
    }
}

#[test]
fn new_files_are_fixed_too() {
    for (body, strict, codex, noted) in [
        ("+a \n+b\n", "a\nb\n", "a\nb\n", "1 line (patch line 3: blank-at-eol)"),
        ("+a\n+\n+\n", "a\n", "a\n", ""),
        ("+a\n+ \n", "a\n", "a\n", "1 line (patch line 4: blank-at-eol, blank-at-eof)"),
        ("+a\n", "a\n", "a\n", ""),
    ] {
        let patch = envelope(&format!("*** Add File: f\n{body}"));
        for (profile, after) in [(Profile::Strict, strict), (Profile::Codex, codex)] {
            let fix = Options { whitespace: Whitespace::Fix, ..Options::new(profile) };
            let (found, notes) = planned(&[], &patch, &fix).expect("it is new");
            assert_eq!(found.as_deref(), Some(after), "{body} {profile}");
            assert!(notes.ends_with(noted), "{body} {profile} {notes}");
        }
    }
    // A line with several errors counts once.
    let patch = unified("@@ -1 +1,3 @@\n a\n+b \n+ \n");
    let (_, notes) =
        planned(&[("f", "a\n")], &patch, &options(Whitespace::Fix, "")).expect("it fits");
    assert_eq!(notes, "fixed 2 lines (patch lines 5, 6: blank-at-eol, blank-at-eof)");
    // Without the rule about the end, a line that becomes empty is still a line.
    let patch = envelope("*** Add File: f\n+a\n+ \n");
    let (found, _) =
        planned(&[], &patch, &options(Whitespace::Fix, "-blank-at-eof")).expect("it is new");
    assert_eq!(found.as_deref(), Some("a\n\n"));
    // An empty last line of an envelope says only that the file ends in a line feed.
    let patch = envelope("*** Add File: f\n+a\n+\n");
    let (found, notes) = planned(&[], &patch, &options(Whitespace::Error, "")).expect("no error");
    assert_eq!(found.as_deref(), Some("a\n"));
    assert_eq!(notes, "");
    // A diff that begins at line 0 makes the file.
    let patch = unified("@@ -0,0 +1,2 @@\n+a \n+\n");
    let (found, notes) = planned(&[], &patch, &options(Whitespace::Fix, "")).expect("it is new");
    assert_eq!(found.as_deref(), Some("a\n"));
    assert_eq!(notes, "fixed 2 lines (patch lines 4, 5: blank-at-eol, blank-at-eof)");
}

#[test]
fn carriage_returns_are_blanks_unless_they_are_meant() {
    for (rules, file, hunk, after) in [
        ("", "a\n", "@@ -1 +1,2 @@\n a\n+b \r\n", "a\nb\n"),
        ("cr-at-eol", "a\n", "@@ -1 +1,2 @@\n a\n+b \r\n", "a\nb\r\n"),
        // The old lines show that the file has them.
        ("", "a\r\n", "@@ -1 +1,2 @@\n a\r\n+b \r\n", "a\r\nb\r\n"),
        ("", "a\r\n", "@@ -1 +1,2 @@\n+b \r\n a\r\n", "b\r\na\r\n"),
    ] {
        let found = planned(&[("f", file)], &unified(hunk), &options(Whitespace::Fix, rules));
        assert_eq!(found.expect("it fits").0.as_deref(), Some(after), "{rules} {hunk}");
    }
    // Of an envelope that is stored with CRLF they say nothing.
    let framed = "*** Begin Patch\r\n*** Update File: f\r\n@@\r\n a\r\n+b\r\n*** End Patch\r\n";
    let patch = parse(framed, &Options::default().parse).expect("it parses");
    let found = planned(&[("f", "a\r\n")], &patch, &options(Whitespace::Error, ""));
    assert_eq!(found.expect("it fits").0.as_deref(), Some("a\r\nb\r\n"));
}

#[test]
fn an_incomplete_line_is_an_error_where_the_rules_say_so() {
    let patch = unified("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n");
    for (rules, after) in [("", "b"), ("incomplete-line", "b\n")] {
        let found = planned(&[("f", "a\n")], &patch, &options(Whitespace::Fix, rules));
        assert_eq!(found.expect("it fits").0.as_deref(), Some(after), "{rules}");
    }
}

#[test]
fn old_lines_match_where_only_errors_differ_that_are_fixed() {
    for (file, hunk, after) in [
        // The patch was written against a file that was not fixed.
        ("a\nb\nz\n", "@@ -1,3 +1,3 @@\n a \n-b\t\n+c\n z\n", "a\nc\nz\n"),
        // The file has errors that the patch does not show; they stay.
        ("a \nb \nz\n", "@@ -1,3 +1,3 @@\n a\n-b\n+c\n z\n", "a \nc\nz\n"),
        // Blank lines at the end of the file are gone; what is inserted below them brings them
        // back.
        ("a\n", "@@ -1,3 +1,4 @@\n a\n \n \n+b\n", "a\n\n\nb\n"),
        ("a\n", "@@ -1,2 +1,3 @@\n+b\n a\n \n", "b\na\n"),
    ] {
        let patch = unified(hunk);
        let (found, notes) = planned(&[("f", file)], &patch, &options(Whitespace::Fix, ""))
            .unwrap_or_else(|error| panic!("{hunk}: {error}"));
        assert_eq!(found.as_deref(), Some(after), "{hunk}");
        assert!(notes.starts_with("overlooked"), "{hunk}: {notes}");
        for whitespace in [Whitespace::Nowarn, Whitespace::Warn] {
            let refused = planned(&[("f", file)], &patch, &options(whitespace, ""));
            let rejects = refused.expect_err("only fixing overlooks errors");
            assert_eq!(rejects[0].reason(), "context_not_found", "{hunk}");
        }
    }
}

#[test]
fn nothing_else_is_overlooked() {
    for (file, hunk, reason) in [
        // Other blanks, and errors of rules that do not hold.
        ("  a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "context_not_found"),
        ("\ta\nb\n", "@@ -1,2 +1,2 @@\n         a\n-b\n+c\n", "context_not_found"),
        // Two places, once the errors are fixed.
        ("a \nb\na\t\nb\n", "@@ -9,2 +9,3 @@\n a\n+x\n b\n", "context_not_found"),
        // Blank lines alone are no place.
        ("a\n", "@@ -2,2 +2,3 @@\n \n \n+b\n", "context_not_found"),
        ("a\nc\n", "@@ -1,2 +1,3 @@\n a\n \n+b\n", "context_not_found"),
    ] {
        let refused = planned(&[("f", file)], &unified(hunk), &options(Whitespace::Fix, ""));
        let rejects = refused.expect_err(hunk);
        assert_eq!(rejects[0].reason(), reason, "{hunk}");
    }
    // Whoever wants exact lines gets these only.
    let mut patch = envelope("*** Update File: f\n@@\n-a\n+b\n");
    patch.exact = true;
    let refused = planned(&[("f", "a \n")], &patch, &options(Whitespace::Fix, ""));
    assert_eq!(refused.expect_err("not exact")[0].reason(), "context_not_found");
}
