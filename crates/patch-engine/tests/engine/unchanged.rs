//! A line that a hunk removes and inserts again is context.

use std::cell::Cell;

use patch_engine::{FinalNewline, Options, Profile, RejectReason, edit, parse};
use patch_grammar::diff::{self, DiffOptions};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use testutils::holds::holds;
use testutils::share::share;

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch\n")
}

/// The file after a hunk of an envelope, or why not.
fn applied(profile: Profile, file: &str, body: &str) -> Result<String, RejectReason> {
    let options = Options::new(profile);
    let text = envelope(body);
    let patch = parse(&text, &options.parse).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let hunks = patch.sections()[0].hunks();
    edit(file.as_bytes(), hunks, &options.placement, options.final_newline)
        .map(|edit| String::from_utf8(edit.apply(file.as_bytes())).expect("text"))
        .map_err(|rejects| rejects.into_iter().next().expect("one").reason)
}

#[test]
fn a_hunk_is_not_applied_twice_whatever_it_is_written_like() {
    for (file, body) in [
        (
            "FROM base AS builder\nRUN make\n",
            "-FROM base AS builder\n+FROM base AS builder\n+ENV A=1\n",
        ),
        ("a\nb\n", "-b\n+above b\n+b\n"),
        ("x\na\nb\ny\n", "-a\n-b\n+a\n+between\n+b\n"),
        ("x\na\nb\ny\n", "-a\n+a\n+between\n b\n"),
        ("x\n}\ny\n", " x\n-}\n+}\n+foo\n+}\n"),
        ("a\nb\nc\n", "-a\n-b\n-c\n+a\n+B is new\n+c\n"),
        ("a\r\nb\r\n", "-a\n+a\n+and more\n"),
    ] {
        for profile in [Profile::Strict, Profile::Codex] {
            let once = applied(profile, file, body).unwrap_or_else(|why| panic!("{body}: {why}"));
            assert_ne!(once, file);
            let again = applied(profile, &once, body);
            assert!(matches!(again, Err(RejectReason::AlreadyApplied { .. })), "{body}: {again:?}");
        }
    }
}

#[test]
fn a_kept_line_keeps_what_the_file_has() {
    for (file, body, wanted) in [
        // Blanks at the end, punctuation, indentation.
        ("keep  \nold\n", "-keep\n-old\n+keep\n+new\n", "keep  \nnew\n"),
        (
            "say \u{201c}hi\u{201d}\nold\n",
            "-say \"hi\"\n-old\n+say \"hi\"\n+new\n",
            "say \u{201c}hi\u{201d}\nnew\n",
        ),
        ("\tkeep\n\told\n", "-    keep\n-    old\n+    keep\n+    new\n", "\tkeep\n\tnew\n"),
        // Line ends.
        ("keep\r\nold\nx\n", "-keep\n-old\n+keep\n+new\n", "keep\r\nnew\nx\n"),
        // Only the line end changes: that is a change.
        ("x\r\ny\r\n", "-x\r\n+x\n", "x\ny\r\n"),
        ("x\ny\n", "-x\n+x\r\n", "x\r\ny\n"),
        ("x \ny\n", "-x \n+x\n", "x\ny\n"),
    ] {
        assert_eq!(applied(Profile::Codex, file, body).as_deref(), Ok(wanted), "{file:?}\n{body}");
    }
}

#[test]
fn a_hint_does_not_change_a_kept_line() {
    let file = "fn a() {\n    let x = first();\n    go(x);\n    end();\n}\n";
    let body = "-    let x = other();\n-    go(x);\n-    end();\n+    let x = other();\n+    go(x, 1);\n+    end();\n";
    for profile in [Profile::Strict, Profile::Codex] {
        let Err(RejectReason::ContextNotFound { nearest: Some(nearest), .. }) =
            applied(profile, file, body)
        else {
            panic!("a line is another one")
        };
        let paste = ["     let x = first();", "-    go(x);", "+    go(x, 1);", "     end();"]
            .map(String::from);
        assert_eq!(nearest.paste, paste);
        let corrected = nearest.paste.join("\n") + "\n";
        assert_eq!(applied(profile, file, &corrected), Ok(file.replace("go(x)", "go(x, 1)")));
    }
}

/// A diff shows context only where it is written as context.
#[test]
fn a_diff_without_context_stays_one() {
    let of_diff = |hunk: &str, unidiff_zero: bool| {
        let text = format!("--- a/f\n+++ b/f\n{hunk}");
        let patch = diff::parse(text.as_bytes(), &DiffOptions::default()).expect("a diff");
        let mut rules = Options::new(Profile::Strict).placement;
        rules.unidiff_zero = unidiff_zero;
        let file = "a\nb\nc\n";
        edit(file.as_bytes(), patch.sections()[0].hunks(), &rules, FinalNewline::Keep)
            .map(|edit| String::from_utf8(edit.apply(file.as_bytes())).expect("text"))
            .ok()
    };
    let hunk = "@@ -2 +2,2 @@\n-b\n+b\n+new\n";
    assert_eq!(of_diff(hunk, false), None);
    assert_eq!(of_diff(hunk, true).as_deref(), Some("a\nb\nnew\nc\n"));
    let marked = "@@ -3 +3,2 @@\n-c\n\\ No newline at end of file\n+c\n+d\n";
    assert_eq!(of_diff(marked, true), None);
}

#[test]
fn where_the_lines_stand_exactly_the_result_is_the_same() {
    let line = || select(vec!["", "}", "    a();", "b", "c = 1", "name()"]);
    let lines = |most| vec(line(), 0..=most);
    let kept = Cell::new(0);
    let case = (lines(2), lines(5), lines(5), lines(2), any::<bool>());
    holds(share(20_000), &case, |(above, old, new, below, codex)| {
        let with = |mark: char, lines: &[&str]| {
            lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>()
        };
        let body = with(' ', &above) + &with('-', &old) + &with('+', &new) + &with(' ', &below);
        let text = |middle: &[&str]| {
            let lines = [&["first"], &above[..], middle, &below[..], &["last"]].concat();
            lines.join("\n") + "\n"
        };
        let profile = if codex { Profile::Codex } else { Profile::Strict };
        if above.len() + old.len() + below.len() == 0 {
            return;
        }
        if let Ok(found) = applied(profile, &text(&old), &body) {
            assert_eq!(found, text(&new), "{body}");
            kept.set(kept.get() + usize::from(old.iter().any(|line| new.contains(line))));
        }
    });
    assert!(kept.get() > 0);
}
