//! Hunks that are read as they are meant, where the file tells how.

use patch_engine::{Mangled, MemoryTree, Options, Profile, RejectReason, Rejects, parse, plan};

const FILE: &str = "def f():\n    x = 1\n    y = 2\n\nclass B:\n    z = 3\n    if z < 3:\n";

fn planned(body: &str, profile: Profile) -> Result<(String, Vec<String>), Rejects> {
    let tree: MemoryTree = [("f", FILE)].into_iter().collect();
    let files = patch_engine::Files::of_tree(std::sync::Arc::new(tree), patch_engine::policy());
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    let options = Options::new(profile);
    let patch = parse(text, &options.parse).expect("it parses");
    let plan = plan(&files, &patch, &options)?;
    let changed = plan.images().changed().expect("they are in memory");
    let after = changed[0].after.as_ref().expect("it is there");
    let text = String::from_utf8(after.bytes.to_vec()).expect("text");
    let notes = plan.notes().iter().filter_map(|note| match note {
        patch_engine::PlanNote::Input(note) => Some(note.clone()),
        _ => None,
    });
    Ok((text, notes.collect()))
}

#[test]
fn line_numbers_and_closed_headers_are_left_out() {
    let wanted = FILE.replace("x = 1", "x = 5");
    for (body, note) in [
        ("@@\n 1| def f():\n-2|     x = 1\n+2|     x = 5\n 3|     y = 2\n", "line numbers"),
        ("@@\n 00001|def f():\n-00002|    x = 1\n+    x = 5\n", "line numbers"),
        ("@@\n 1\tdef f():\n-2\t    x = 1\n+2\t    x = 5\n", "line numbers"),
        ("@@\n-2:     x = 1\n+2:     x = 5\n", "line numbers"),
        ("@@ def f(): @@\n-    x = 1\n+    x = 5\n", "left out `@@`"),
    ] {
        for profile in [Profile::Standard, Profile::Codex] {
            let (text, notes) =
                planned(body, profile).unwrap_or_else(|error| panic!("{body}: {error:?}"));
            assert_eq!(text, wanted, "{body}");
            let noted =
                notes.iter().any(|one| one.starts_with("normalised line ") && one.contains(note));
            assert!(noted, "{body}: {notes:?}");
        }
    }
}

#[test]
fn what_was_done_to_the_lines_is_named() {
    let numbers = "line numbers stand before its lines: leave them out";
    let entities = "it has HTML entities (such as `&lt;`) where the file has the characters";
    for (body, words, mangled, paste) in [
        (
            "@@\n 2| def f():\n-3|     x = 1\n+3|     x = 5\n",
            numbers,
            Some(Mangled::LineNumbers),
            &[" def f():", "-    x = 1", "+    x = 5"][..],
        ),
        (
            "@@\n 1| def g():\n-2|     x = 1\n+2|     x = 5\n",
            numbers,
            Some(Mangled::LineNumbers),
            &[" def f():", "-    x = 1", "+    x = 5"],
        ),
        (
            "@@\n-    if z &lt; 3:\n+    if z &lt; 4:\n",
            entities,
            Some(Mangled::Entities),
            &["-    if z < 3:", "+    if z < 4:"],
        ),
        (
            "@@\n def f():\n-    x = 9\n+    x = 5\n",
            "its old lines are not in the file",
            None,
            &[" def f():", "-    x = 1", "+    x = 5"],
        ),
    ] {
        let rejects = planned(body, Profile::Strict).expect_err(body);
        let reject = &rejects[0];
        assert!(reject.to_string().contains(words), "{body}: {reject}");
        let Some(RejectReason::ContextNotFound { nearest, .. }) = reject.hunk_reason() else {
            panic!("{body}: {reject}")
        };
        let nearest = nearest.as_ref().expect("a place");
        assert_eq!(nearest.mangled, mangled, "{body}");
        assert_eq!(nearest.paste, paste, "{body}");
    }
}

#[test]
fn a_header_that_names_a_line_is_the_context_that_is_missing() {
    for (header, named) in [("def f():", Some((1, "def f():"))), ("class C:", None)] {
        let body = format!("@@ {header}\n+    # note\n");
        let rejects = planned(&body, Profile::Strict).expect_err("it has no old lines");
        let Some(RejectReason::NoAnchor { header: found, .. }) = rejects[0].hunk_reason() else {
            panic!("{rejects:?}")
        };
        let found = found.as_ref().map(|(line, text)| (*line, &**text));
        assert_eq!(found, named, "{header}");
    }
}
