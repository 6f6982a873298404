//! `already_applied` is true: without such a hunk the file is what the author of the patch wanted.

use std::cell::Cell;

use patch_engine::patch_text::EndMark;
use patch_engine::{Edge, FinalNewline, Options, Profile, RejectReason, edit, parse};
use patch_grammar::ParseOptions;
use patch_grammar::diff::{self, DiffOptions};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use similar::TextDiff;

use testutils::holds::holds;
use testutils::share::share;

/// Why a hunk has no place in a file; `None` when it has one.
fn refused(profile: Profile, file: &str, body: &str) -> Option<RejectReason> {
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    let patch =
        parse(&text, &ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let rules = Options::new(profile).placement;
    let rejects =
        edit(file.as_bytes(), patch.sections()[0].hunks(), &rules, FinalNewline::Keep).err()?;
    rejects.into_iter().next().map(|reject| reject.reason)
}

/// What became of the place that the author saw.
#[derive(Debug, Clone)]
enum Now {
    /// The change is there.
    Done,
    /// A context line is another one.
    Context(Index),
    /// A removed line is another one.
    Removed(Index),
    /// A removed line has other blanks.
    Blanks(Index),
}

#[test]
fn leaving_an_applied_hunk_out_gives_what_its_author_wanted() {
    let line = || {
        select(vec!["", "}", "    return None", "    pass", "x = 1", "name()", "é", "end of it"])
    };
    let lines = |most| vec(line(), 0..=most);
    let now = prop_oneof![
        3 => Just(Now::Done),
        1 => any::<Index>().prop_map(Now::Context),
        1 => any::<Index>().prop_map(Now::Removed),
        1 => any::<Index>().prop_map(Now::Blanks),
    ];
    let hunk = (lines(2), lines(2), lines(2), lines(2));
    let header = prop_oneof![Just(None), Just(Some(true)), Just(Some(false))];
    let case = (hunk, now, vec(any::<Index>(), 0..6), header, any::<bool>());
    let (claims, missed) = (Cell::new(0), Cell::new(0));
    holds(share(40_000), &case, |((above, old, new, below), now, decoys, header, codex)| {
        if old == new || above.len() + old.len() + below.len() == 0 {
            return;
        }
        let with = |mark: char, lines: &[&str]| {
            lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>()
        };
        let opener = if header.is_some() { "@@ fn f\n" } else { "@@\n" };
        let body = format!(
            "{opener}{}{}{}{}",
            with(' ', &above),
            with('-', &old),
            with('+', &new),
            with(' ', &below)
        );
        let region = |above: &[&str], middle: &[&str], below: &[&str]| {
            [above, middle, below].concat().join("\n") + "\n"
        };
        let wanted = |above: &[&str], below: &[&str]| region(above, &new, below);
        let change = |lines: &mut Vec<String>, index: &Index, with: &dyn Fn(&str) -> String| {
            let at = index.index(lines.len());
            lines[at] = with(&lines[at]);
        };
        let owned = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (mut above_now, mut old_now, mut below_now) =
            (owned(&above), owned(&old), owned(&below));
        let drifted = |_: &str| "drifted".to_owned();
        match &now {
            Now::Done => {}
            Now::Context(index) if !above.is_empty() => change(&mut above_now, index, &drifted),
            Now::Context(index) if !below.is_empty() => change(&mut below_now, index, &drifted),
            Now::Removed(index) if !old.is_empty() => change(&mut old_now, index, &drifted),
            Now::Blanks(index) if !old.is_empty() => {
                change(&mut old_now, index, &|line| format!("  {line} "))
            }
            _ => return,
        }
        fn texts(lines: &[String]) -> Vec<&str> {
            lines.iter().map(String::as_str).collect()
        }
        let (above_now, old_now, below_now) =
            (texts(&above_now), texts(&old_now), texts(&below_now));
        let is = match now {
            Now::Done => region(&above_now, &new, &below_now),
            _ => region(&above_now, &old_now, &below_now),
        };
        let wants = wanted(&above_now, &below_now);
        // Lines of the hunk that happen to stand elsewhere, never two of them together.
        let pool = [&above[..], &old, &new, &below].concat();
        let decoys: String = decoys
            .iter()
            .enumerate()
            .map(|(nth, index)| format!("{}\nfiller {nth}\n", pool[index.index(pool.len())]))
            .collect();
        let around = |text: &str| match header {
            Some(true) => format!("first\nfn f\n{text}last\n{decoys}"),
            Some(false) => format!("first\n{text}last\n{decoys}fn f\n"),
            None => format!("{decoys}first\n{text}last\n"),
        };
        let (is, wants) = (around(&is), around(&wants));
        let profile = if codex { Profile::Codex } else { Profile::Strict };
        match refused(profile, &is, &body) {
            Some(RejectReason::AlreadyApplied { .. }) => {
                claims.set(claims.get() + 1);
                assert_eq!(is, wants, "{profile:?} says that this is applied:\n{body}");
            }
            Some(_) if is == wants => missed.set(missed.get() + 1),
            _ => {}
        }
    });
    assert!(
        claims.get() > missed.get() / 8,
        "{} times said, {} times not",
        claims.get(),
        missed.get()
    );
}

#[test]
fn a_line_that_stands_somewhere_is_no_evidence() {
    let elsewhere = "def f(a):\n    return a + 1\n\n\ndef g():\n    return None\n";
    for (file, body, applied) in [
        // The case: the new line is in an unrelated function.
        (elsewhere, "@@\n-    return a\n+    return None\n", false),
        (elsewhere, "@@ def f(a):\n-    return a\n+    return None\n", false),
        (elsewhere, "@@ def f(a):\n def g():\n-    return 1\n+    return None\n", false),
        (elsewhere, "@@ def g():\n def g():\n-    return 1\n+    return None\n", true),
        (elsewhere, "@@ no such line\n def g():\n-    return 1\n+    return None\n", false),
        // Two new lines that are like no other.
        (
            "a\nfirst new line\nsecond new line\n",
            "@@\n-old\n+first new line\n+second new line\n",
            true,
        ),
        (
            "a\nfirst new line\nfirst new line\n",
            "@@\n-old\n+first new line\n+first new line\n",
            false,
        ),
        ("a\n}\n)\n", "@@\n-old\n+}\n+)\n", false),
        // The post-state in two places, and the old lines in a third.
        ("k\nnew\nk\nnew\n", "@@\n k\n-old\n+new\n", false),
        ("k\nnew\nj\n old\n", "@@\n k\n-old\n+new\n", false),
        // What is gone from between two lines shows, at the edge it does not.
        ("above\nbelow\n", "@@\n above\n-old\n below\n", true),
        ("above\nbelow\nolder\n", "@@\n above\n below\n-old\n", false),
        // The blank line or the brace that is left may be the one that was to go.
        ("drifted\n\nbelow\n", "@@\n \n-\n below\n", false),
        ("above\ndrifted\n}\n", "@@\n above\n-}\n-\n }\n", false),
        ("drifted\n\ngone\n\nbelow\n", "@@\n \n-old\n-\n below\n", false),
        ("above\n\nbelow\n", "@@\n above\n \n-\n below\n", true),
        // The place that the hunk names.
        ("k\nnew\nz\n", "@@\n k\n-old\n+new\n*** End of File\n", false),
        ("z\nk\nnew\n", "@@\n k\n-old\n+new\n*** End of File\n", true),
        // Nothing changes.
        ("z\nk\nl\nz\n", "@@\n k\n l\n*** End of File\n", false),
        ("\u{feff}z\nk\n", "@@\n \u{feff}k\n", false),
        ("k\nl\n", "@@\n k\r\n l\r\n", false),
        // A byte-order mark is at the start.
        ("\u{feff}new\nk\n", "@@\n-\u{feff}old\n+\u{feff}new\n k\n", true),
        ("\u{feff}z\nnew\nk\n", "@@\n-\u{feff}old\n+\u{feff}new\n k\n", false),
        ("\u{feff}old\nnew\nk\n", "@@\n-\u{feff}old\n+\u{feff}new\n k\n*** End of File\n", false),
        // A line end that is not the one of the hunk.
        ("k\nnew\n", "@@\n k\n-old\r\n+new\r\n", false),
        ("k\r\nnew\r\n", "@@\n k\r\n-old\r\n+new\r\n", true),
        ("k\nnew\r\n", "@@\n k\r\n-old\r\n+new\r\n", false),
        ("k\r\nnew\r\n", "@@\n k\r\n-old\r\n+new\n", false),
        // The last line may have none.
        ("k\r\nnew", "@@\n k\r\n-old\r\n+new\r\n", true),
        // Punctuation tells nothing, and a letter of any script does.
        ("}\nbelow\n", "@@\n }\n-old\n below\n", false),
        ("\u{e9}\nbelow\n", "@@\n \u{e9}\n-old\n below\n", true),
        ("a\nx\n});\n)))\n", "@@\n-old\n+x\n+});\n+)))\n", false),
        ("a\n\u{e9}\u{e8}\n\u{fc}\u{f6}\n", "@@\n-old\n+\u{e9}\u{e8}\n+\u{fc}\u{f6}\n", true),
        // Below a header, of several that are equal.
        ("fn f\n x\nfn g\n k\n new\nfn f\n y\n", "@@ fn f\n  k\n- old\n+ new\n", false),
        ("fn f\n x\nfn f\n k\n new\nfn g\n y\n", "@@ fn f\n  k\n- old\n+ new\n", true),
        ("@f\n @f\n x\nz\n  k\n", "@@ @f\n@@ x\n-   old\n   k\n+  l\n", false),
    ] {
        for profile in [Profile::Strict, Profile::Codex] {
            let reason = refused(profile, file, body).map(|reason| reason.as_str());
            assert_eq!(
                reason == Some("already_applied"),
                applied,
                "{profile:?} {file:?} {body:?}: {reason:?}"
            );
        }
    }
}

#[test]
fn the_lines_that_have_the_change_are_named() {
    for (file, body, wanted) in [
        ("k\nnew\n", "@@\n k\n-old\n+new\n", 1..=2),
        ("a\nb\nc\nk\nnew\n", "@@\n k\n-old\n+new\n", 4..=5),
        ("a\nb\nfirst\nsecond\nthird\nc\n", "@@\n-old\n+first\n+second\n+third\n", 3..=5),
    ] {
        for profile in [Profile::Strict, Profile::Codex] {
            assert_eq!(
                refused(profile, file, body),
                Some(RejectReason::AlreadyApplied { lines: wanted.clone() })
            );
        }
    }
}

#[test]
fn what_stands_elsewhere_than_at_the_end_is_not_said_to_differ() {
    for (profile, file) in [(Profile::Strict, "a\nb\nc\nd\n"), (Profile::Codex, "a\n b\nc\nd\n")] {
        let Some(RejectReason::ContextNotFound { nearest: Some(nearest), .. }) =
            refused(profile, file, "@@\n-b\n+B\n*** End of File\n")
        else {
            panic!("not found")
        };
        assert!(nearest.not_at == Some(Edge::Marked(EndMark::EndOfFile)), "{nearest:?}");
        assert!(nearest.pass.is_none(), "{nearest:?}");
        assert!(nearest.lines == (2..=2), "{nearest:?}");
    }
    let Some(RejectReason::ContextNotFound { nearest: Some(nearest), .. }) =
        refused(Profile::Strict, "b\nb \n", "@@\n-b\n+B\n*** End of File\n")
    else {
        panic!("not found")
    };
    assert_eq!(nearest.pass.map(|pass| pass.as_str()), Some("trailing"));
    assert_eq!(nearest.lines.clone(), 2..=2);
}

/// What becomes of a hunk of a diff.
fn of_diff(file: &str, hunks: &str) -> Result<String, RejectReason> {
    let text = format!("--- a/f\n+++ b/f\n{hunks}");
    let patch = diff::parse(text.as_bytes(), &DiffOptions::default())
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let rules = Options::new(Profile::Strict).placement;
    match edit(file.as_bytes(), patch.sections()[0].hunks(), &rules, FinalNewline::Keep) {
        Ok(edit) => Ok(String::from_utf8(edit.apply(file.as_bytes())).expect("text")),
        Err(rejects) => Err(rejects.into_iter().next().expect("one").reason),
    }
}

#[test]
fn a_hunk_of_a_diff_stands_at_the_end_of_the_file_that_it_was_made_at() {
    let count = |lines: std::ops::RangeInclusive<usize>| {
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let end = "@@ -18,3 +18,4 @@\n 18\n 19\n 20\n+21\n";
    let start = "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n";
    for (file, hunk, wanted) in [
        (count(1..=20), end, "fits"),
        (count(1..=21), end, "already_applied"),
        (count(15..=20), end, "fits"),
        // The file goes on, with something else: the author left context out.
        (count(1..=20) + "more\n", end, "fits"),
        (count(1..=5), start, "fits"),
        (count(0..=5), start, "already_applied"),
        ("more\n".to_owned() + &count(1..=5), start, "fits"),
        // In two places, of which none is at the end; or one.
        ((count(18..=20) + "more\n").repeat(2), end, "multiple_matches"),
        (count(18..=20) + "more\n" + &count(18..=20), end, "fits"),
        // Context on both sides says nothing, and on neither that it is all of the file.
        (count(1..=21), "@@ -18,3 +18,4 @@\n 18\n 19\n+19a\n 20\n", "fits"),
        (count(1..=21), "@@ -20 +20 @@\n-20\n+twenty\n", "context_not_found"),
        (count(1..=20), "@@ -20 +20 @@\n-20\n+twenty\n", "context_not_found"),
        (count(1..=21), "@@ -1 +1 @@\n-1\n+one\n", "context_not_found"),
        (count(1..=1), "@@ -1 +1 @@\n-1\n+one\n", "fits"),
        // What is removed at the end is there, or not.
        (count(1..=21), "@@ -19,3 +19,2 @@\n 19\n 20\n-21\n", "fits"),
        (count(1..=20), "@@ -19,3 +19,2 @@\n 19\n 20\n-21\n", "already_applied"),
        (
            count(1..=20) + "twenty-one\n",
            "@@ -19,3 +19,3 @@\n 19\n 20\n-21\n+twenty-one\n",
            "already_applied",
        ),
        // What it removes holds it.
        (count(1..=21) + "twenty-one\n", "@@ -19,3 +19,3 @@\n 19\n 20\n-21\n+twenty-one\n", "fits"),
    ] {
        let found = of_diff(&file, hunk).map_or_else(|reason| reason.as_str(), |_| "fits");
        assert_eq!(found, wanted, "{file:?}\n{hunk}");
    }
    assert_eq!(of_diff(&(count(1..=20) + "more\n"), end), Ok(count(1..=21) + "more\n"));
    // Of several places, the one that the diff states is told of.
    let bare = of_diff("x\na\nx\nb\n", "@@ -3 +3 @@\n-x\n+y\n");
    let Err(RejectReason::ContextNotFound { nearest: Some(nearest), .. }) = bare else {
        panic!("it is not all of the file: {bare:?}");
    };
    assert_eq!(nearest.lines, 3..=3);
}

#[test]
fn what_a_hunk_inserts_beside_its_lines_is_not_inserted_twice() {
    let there = "fn a() {}\nfn b() {}\nfn c() {}\n";
    for (file, body, wanted) in [
        (there, "@@\n fn a() {}\n+fn b() {}\n", "already_applied"),
        (there, "@@\n+fn a() {}\n fn b() {}\n", "already_applied"),
        (there, "@@\n fn a() {}\n+fn b() {}\n+fn c() {}\n", "already_applied"),
        (there, "@@ fn a() {}\n+fn b() {}\n", "already_applied"),
        (there, "@@\n fn c() {}\n+fn d() {}\n", "fits"),
        (there, "@@\n fn a() {}\n+fn c() {}\n", "fits"),
        // The lines below say that it is meant.
        (there, "@@\n fn a() {}\n+fn b() {}\n fn b() {}\n", "fits"),
        (there, "@@\n-fn a() {}\n+fn a2() {}\n+fn b() {}\n", "fits"),
        // So it is with another blank line or brace, unless the lines below are shown.
        ("a\n\nb\n", "@@\n a\n+\n", "already_applied"),
        ("a\n\nb\n", "@@\n a\n+\n \n", "fits"),
        ("if x {\n}\n}\n", "@@\n if x {\n+}\n", "already_applied"),
        ("if x {\n}\n}\n", "@@\n if x {\n+}\n }\n }\n", "fits"),
    ] {
        let found = refused(Profile::Codex, file, body);
        assert_eq!(found.map_or("fits", |reason| reason.as_str()), wanted, "{file:?}\n{body}");
    }
    // Its result stands in the scope of its header, and its old lines below the scope.
    let scopes = "def f:\n    y\ndef g:\n    x\n";
    for (file, body, wanted) in [
        (scopes, "@@ def f:\n-    x\n+    y\n", "already_applied"),
        (scopes, "@@ def g:\n-    x\n+    y\n", "fits"),
        (scopes, "@@ def f:\n-    x\n+    z\n", "fits"),
        // The header itself is no result.
        ("b\na\n", "@@ b\n-a\n+b\n", "fits"),
    ] {
        let found = refused(Profile::Codex, file, body);
        assert_eq!(found.map_or("fits", |reason| reason.as_str()), wanted, "{file:?}\n{body}");
    }
    // A diff may state the very line, and then means it.
    let hunk = |line: usize| of_diff("x\nb\nc\n", &format!("@@ -{line} +{line},2 @@\n+b\n c\n"));
    assert_eq!(hunk(3), Ok("x\nb\nb\nc\n".into()));
    assert_eq!(hunk(9), Err(RejectReason::AlreadyApplied { lines: 2..=3 }));
}

#[test]
fn a_diff_is_not_applied_twice() {
    let edits = vec((any::<Index>(), 0..3_usize, 0..3_usize), 1..5);
    let refused = Cell::new(0);
    holds(share(10_000), &(1..40_usize, edits, 1..4_usize), |(length, edits, context)| {
        let before: Vec<String> = (0..length).map(|line| format!("line {line}\n")).collect();
        let mut after = before.clone();
        for (nth, (at, gone, new)) in edits.into_iter().enumerate() {
            let at = at.index(after.len() + 1);
            let end = (at + gone).min(after.len());
            after.splice(at..end, (0..new).map(|line| format!("new {nth}.{line}\n")));
        }
        let (before, after) = (before.concat(), after.concat());
        if before == after || after.is_empty() {
            return;
        }
        let diff = TextDiff::from_lines(&before, &after);
        let hunks = diff.unified_diff().context_radius(context).to_string();
        assert_eq!(of_diff(&before, &hunks).as_ref(), Ok(&after), "{hunks}");
        let again = of_diff(&after, &hunks);
        // What is only removed may leave no trace, and then nothing is there to remove.
        assert!(again.is_err(), "{hunks}\ngave {again:?}");
        refused.set(refused.get() + 1);
    });
    assert!(refused.get() > 0);
}
