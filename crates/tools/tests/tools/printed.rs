//! Lines that an answer printed count as seen, in the version that they were printed from; others
//! do not.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Bench, call, patch};
use testutils::holds::holds;

fn edit(path: &str, old: &str) -> Value {
    json!({ "path": path, "edits": [{ "oldText": old, "newText": "new" }] })
}

fn search(query: &str, context: u64) -> Value {
    json!({ "query": query, "mode": "text", "contextLines": context })
}

/// Whether a call was refused because the session has not seen what it changes.
fn is_unread(answer: &Value) -> bool {
    answer["error"]["details"]["reason"] == "unread"
}

const TEN: &[u8] = b"l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\n";

#[test]
fn what_a_search_printed_can_be_edited() {
    for (context, old, seen) in [
        (0, "l5", true),
        (0, "l5\n", true),
        (0, "l5\nl6", false),
        (0, "l4", false),
        (1, "l4\nl5\nl6\n", true),
        (1, "l3", false),
        (1, "l7", false),
        (2, "l3\nl4\nl5\nl6\nl7", true),
        (20, "l1\nl2", true),
    ] {
        let bench = Bench::new(&[("f", TEN), ("other", b"l2\n")]);
        bench.done("search_files", &search("l5", context));
        let answer = bench.call("edit_file", &edit("f", old));
        assert_eq!(is_unread(&answer), !seen, "{context} {old:?}: {answer}");
        assert_eq!(answer["ok"], seen, "{context} {old:?}: {answer}");
        assert!(is_unread(&bench.call("edit_file", &edit("other", "l2"))));
    }
}

#[test]
fn what_a_refusal_quoted_can_be_edited() {
    let wrong = "*** Update File: f\n@@\n l4\n l5\n-lX\n l7\n+x\n";
    let refuse = |bench: &Bench| bench.call("apply_patch", &json!({ "patch": patch(wrong) }));
    for (old, seen) in [("l6", true), ("l4\nl5\nl6\nl7", true), ("l2", false), ("l9", false)] {
        let bench = Bench::new(&[("f", TEN)]);
        let refused = refuse(&bench);
        assert_eq!(refused["error"]["details"]["nearest"]["firstDifference"]["found"], "l6");
        let answer = bench.call("edit_file", &edit("f", old));
        assert_eq!(is_unread(&answer), !seen, "{old:?}: {refused} {answer}");
    }
    // This answer is one line.
    let bench = Bench::new(&[("f", TEN)]);
    bench.call("edit.patch", &json!({ "patch": patch(wrong) }));
    assert!(is_unread(&bench.call("edit_file", &edit("f", "l4"))));
}

#[test]
fn all_lines_are_the_whole_file() {
    for (context, seen) in [(9, true), (8, false)] {
        let bench = Bench::new(&[("f", TEN)]);
        bench.done("search_files", &search("l10", context));
        let write = bench.call("write_file", &json!({ "path": "f", "content": "x\n" }));
        assert_eq!(is_unread(&write), !seen, "{context}: {write}");
    }
}

#[test]
fn what_was_not_printed_as_it_is_does_not_count() {
    // The next page.
    let bench = Bench::new(&[("f", TEN)]);
    let args = json!({ "query": "l", "mode": "text", "maxResults": 3 });
    bench.done("search_files", &args);
    assert!(is_unread(&bench.call("edit_file", &edit("f", "l4"))));
    // A line that is cut.
    let long = format!("{}\nb\n", "long ".repeat(200));
    let bench = Bench::new(&[("f", long.as_bytes())]);
    bench.done("search_files", &search("long", 1));
    assert!(is_unread(&bench.call("edit_file", &edit("f", long.lines().next().unwrap()))));
    assert_eq!(bench.call("edit_file", &edit("f", "b"))["ok"], true);
    // Another version: the line is there, and may mean something else.
    let bench = Bench::new(&[("f", TEN)]);
    bench.done("search_files", &search("l5", 0));
    bench.write("f", b"before\nl5\n");
    assert!(is_unread(&bench.call("edit_file", &edit("f", "l5"))));
    // Paths are not lines.
    let bench = Bench::new(&[("l5", b"l5\n")]);
    bench.done("search_files", &json!({ "query": "l5", "mode": "path" }));
    assert!(is_unread(&bench.call("edit_file", &edit("l5", "l5"))));
}

#[test]
fn what_was_printed_of_a_newer_version_counts_too() {
    let bench = Bench::new(&[("f", TEN)]);
    bench.done("read_file", &json!({ "path": "f" }));
    bench.write("f", b"other\nl5\nl6\n");
    bench.done("search_files", &search("l5", 0));
    bench.done("edit_file", &edit("f", "l5"));
    assert_eq!(bench.read("f"), b"other\nnew\nl6\n");
}

#[test]
fn a_session_that_is_resumed_knows_it() {
    let bench = Bench::new(&[("f", TEN), ("g", TEN)]);
    for path in ["f", "g"] {
        let args = json!({ "query": "l5", "mode": "text", "includeGlobs": [path] });
        call(&bench.resume("one"), "search_files", &args);
    }
    for (session, old, seen) in [("two", "l5", false), ("one", "l6", false), ("one", "l5", true)] {
        let answer = call(&bench.resume(session), "edit_file", &edit("f", old));
        assert_eq!(is_unread(&answer), !seen, "{session} {old}: {answer}");
    }
}

/// The law: an edit is let through exactly if every line that it has a part of was printed.
#[test]
fn only_printed_lines_are_seen() {
    let file = vec("[ab]{0,3}", 1..30);
    let looks = vec(("[ab]{1,2}", 0..3_u64, 1..4_u64), 0..4);
    let strategy = (file, looks, any::<prop::sample::Index>(), 1..4_usize);
    let tried = std::cell::Cell::new([0, 0]);
    holds(200, &strategy, |(lines, looks, at, count)| {
        // Every line is there once.
        let lines: Vec<String> =
            lines.iter().enumerate().map(|(nth, line)| format!("<{nth}>{line}")).collect();
        let bench = Bench::new(&[("f", (lines.join("\n") + "\n").as_bytes())]);
        let mut printed = BTreeSet::new();
        for (query, context, most) in looks {
            let mut args = search(&query, context);
            args["maxResults"] = most.into();
            let found = bench.done("search_files", &args);
            for found in found["matches"].as_array().expect("a list") {
                printed
                    .extend(found["preview"].as_str().expect("lines").lines().map(str::to_owned));
            }
        }
        let first = at.index(lines.len());
        let wanted = &lines[first..(first + count).min(lines.len())];
        let answer = bench.call("edit_file", &edit("f", &wanted.join("\n")));
        let seen = wanted.iter().all(|line| printed.contains(line));
        assert_eq!(is_unread(&answer), !seen, "{wanted:?} of {printed:?}: {answer}");
        assert_eq!(answer["ok"], seen, "{answer}");
        let mut counts = tried.get();
        counts[usize::from(seen)] += 1;
        tried.set(counts);
    });
    assert!(tried.get().iter().all(|&count| count > 20), "{:?}", tried.get());
}
