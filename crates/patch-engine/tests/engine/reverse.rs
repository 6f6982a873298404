//! Patches that are reversed, from their text alone.

use std::sync::Arc;

use patch_engine::{
    Files, MemoryTree, Options, PlanBuilder, Problem, Profile, Rejects, parse, plan, reverse,
};
use patch_grammar::diff::{self, DiffOptions};
use patch_grammar::{Patch, envelope};
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::Strategy;
use proptest::sample::select;

use testutils::holds::holds;
use testutils::share::share;

fn tree(files: &[(&str, &str)]) -> MemoryTree {
    files.iter().map(|(path, text)| (*path, *text)).collect()
}

fn of(tree: &MemoryTree) -> Files {
    Files::of_tree(Arc::new(tree.clone()), patch_engine::policy())
}

fn done(tree: &MemoryTree, patch: &Patch, options: &Options) -> Result<MemoryTree, Rejects> {
    let mut tree = tree.clone();
    let plan = plan(of(&tree), patch, options)?;
    tree.commit(&plan).expect("nothing else changes it");
    Ok(tree)
}

fn files(tree: &MemoryTree) -> Vec<(String, Vec<u8>, u32)> {
    tree.iter()
        .map(|(path, content)| (path.to_owned(), content.bytes.to_vec(), content.mode))
        .collect()
}

/// Applies a patch and undoes it; tells what is in the way.
fn back(before: &[(&str, &str)], patch: &Patch, options: &Options) -> Result<(), String> {
    let before = tree(before);
    let after = done(&before, patch, options).expect("it applies");
    let reversed = reverse(patch, options).map_err(|rejects| rejects.to_string())?;
    let again = done(&after, &reversed, options).map_err(|rejects| rejects.to_string())?;
    assert_eq!(
        files(&again),
        files(&before),
        "{}",
        String::from_utf8_lossy(patch.text().as_bytes())
    );
    Ok(())
}

#[test]
fn what_a_patch_did_is_taken_back() {
    for (before, body) in [
        (&[("f", "a\nb\nc\n")][..], "*** Update File: f\n@@\n a\n-b\n+B\n+BB\n c\n"),
        (&[("f", "a\nb\nc")], "*** Update File: f\n@@\n-c\n\\ No newline at end of file\n+C\n"),
        (&[], "*** Add File: f\n+a\n+b\n"),
        (&[], "*** Add File: f\n+a\n+\n"),
        (&[], "*** Add File: f\n+a\n\\ No newline at end of file\n"),
        (&[], "*** Add File: f\n+a\r\n+b\r\n"),
        (&[], "*** Add File: f\n"),
        (&[("f", "a\n")], "*** Move File: f -> g\n@@\n-a\n+b\n"),
        // What the second hunk shows is what the first leaves.
        (&[("f", "a\nb\nc\n")], "*** Update File: f\n@@\n a\n+x\n b\n@@\n x\n b\n-c\n"),
        // Sections act one after the other.
        (&[("b", "b\n"), ("a", "a\n")], "*** Move File: b -> c\n*** Move File: a -> b\n"),
        (&[], "*** Add File: f\n+a\n*** Update File: f\n@@\n-a\n+b\n*** Move File: f -> g\n"),
        (&[("f", "a\n")], "*** Update File: f\n@@\n+z\n*** End of File\n"),
        (&[("f", "a\nz\n")], "*** Update File: f\n@@\n-z\n*** End of File\n"),
    ] {
        let options = Options::default();
        let text = format!("*** Begin Patch\n{body}*** End Patch\n");
        let patch = parse(&text, &options.parse).expect("a patch");
        assert_eq!(back(before, &patch, &options), Ok(()), "{body}");
    }
}

#[test]
fn a_file_that_got_its_line_ends_from_the_workspace_is_taken_back() {
    let options = Options::default();
    let before = [(".editorconfig", "root = true\n[*]\nend_of_line = crlf\n")];
    let text = "*** Begin Patch\n*** Add File: f\n+a\n+b\n*** End Patch\n";
    let patch = parse(text, &options.parse).expect("a patch");
    let after = done(&tree(&before), &patch, &options).expect("it applies");
    assert_eq!(after.get("f"), Some(&b"a\r\nb\r\n"[..]));
    assert_eq!(back(&before, &patch, &options), Ok(()));
    // With one line more it is another file.
    let mut other = after.clone();
    other.insert("f", b"a\r\nb\r\nc\r\n".to_vec());
    let reversed = reverse(&patch, &options).expect("it can be");
    let rejects = done(&other, &reversed, &options).expect_err("it has another line");
    assert!(matches!(rejects[0].problem, Problem::LeavesLines), "{rejects}");
}

#[test]
fn what_the_text_does_not_say_is_refused_by_name() {
    let strict = Options::default();
    let codex = Options::new(Profile::Codex);
    for (options, body, wanted) in [
        (
            &strict,
            "*** Delete File: f\n",
            "f (patch line 2): it deletes the file and does not show its lines",
        ),
        (
            &codex,
            "*** Update File: f\n@@ a\n-b\n",
            "f: hunk 1 (patch line 3): it only deletes lines",
        ),
    ] {
        let text = format!("*** Begin Patch\n{body}*** End Patch\n");
        let patch = parse(&text, &options.parse).expect("a patch");
        let found = back(&[("f", "a\nb\n")], &patch, options).expect_err("it cannot be");
        assert!(found.starts_with(wanted), "{found}");
    }
    let diff = "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n";
    let diff = diff::parse(diff.as_bytes(), &DiffOptions::default()).expect("a diff");
    let found = back(&[("f", "a\n")], &diff, &strict).expect_err("it cannot be");
    assert!(found.starts_with("f (patch line 3): it copies the file"), "{found}");
}

/// Places are those of the text.
#[test]
fn a_refusal_names_the_section_and_the_hunk_of_the_text() {
    let options = Options::default();
    let text = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n@@\n-b\n+B\n@@\n-c\n+C\n\
                *** Add File: g\n+x\n*** End Patch\n";
    let patch = parse(text, &options.parse).expect("a patch");
    let reversed = reverse(&patch, &options).expect("it can be");
    let rejects = done(&tree(&[("f", "A\nb\nC\n"), ("g", "x\n")]), &reversed, &options)
        .expect_err("B is gone");
    let [reject] = &rejects[..] else { panic!("{rejects}") };
    assert_eq!(reject.section, Some(0), "{rejects}");
    assert_eq!(reject.hunk, Some(1), "{rejects}");
    assert_eq!(reject.patch_line, Some(6), "{rejects}");
}

/// Which lines a header means depends on lines that the patch changes: `f` is another function
/// afterwards.
#[test]
fn a_header_that_the_patch_changes_says_nothing_when_it_is_taken_back() {
    let options = Options::new(Profile::Codex);
    let before = "top\ndef f():\n    x = 1\n\ndef f():\n    x = 3\n";
    let text = "*** Begin Patch\n*** Update File: p\n@@\n top\n-def f():\n+def h():\n@@ def f():\n\
                -    x = 1\n+    x = 3\n*** End Patch\n";
    let patch = parse(text, &options.parse).expect("a patch");
    let refused =
        back(&[("p", before)], &patch, &options).expect_err("both functions have the line now");
    assert!(refused.contains("more than one place"), "{refused}");
}

/// Two versions of two files, and whether a file moves. Lines repeat.
#[derive(Debug, Clone)]
struct Case {
    files: Vec<[Option<String>; 2]>,
    moves: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let line = (
        select(&["a", "b", "c", "d", "{", "", "\ta"][..]),
        select(&["\n", "\n", "\n", "\r\n"][..]),
    );
    let lines = vec(line, 0..14)
        .prop_map(|lines| lines.iter().map(|(text, end)| format!("{text}{end}")).collect());
    let text = (lines, weighted(0.2)).prop_map(|(text, open): (String, bool)| {
        if open {
            text.strip_suffix('\n')
                .map(|text| text.strip_suffix('\r').unwrap_or(text))
                .unwrap_or("")
                .to_owned()
        } else {
            text
        }
    });
    // The second version has some lines of the first.
    let pair = (text.clone(), text, proptest::num::u8::ANY, 0..8_u8).prop_map(
        |(one, other, mask, kind)| {
            let mixed: String = one
                .split_inclusive('\n')
                .zip((0..8).cycle())
                .map(|(line, bit)| if mask & (1 << bit) == 0 { line } else { "new\n" })
                .collect();
            match kind {
                0 => [None, Some(other)],
                1 => [Some(one), None],
                2 => [Some(one), Some(other)],
                _ => [Some(one), Some(mixed)],
            }
        },
    );
    (vec(pair, 1..3), weighted(0.3)).prop_map(|(files, moves)| Case { files, moves })
}

/// What is reversed is what was there, or it is refused.
#[test]
fn a_patch_and_its_reverse_give_the_same_bytes() {
    let taken = std::cell::Cell::new([0_u32; 4]);
    let cases = share(10_000);
    holds(cases, &case(), |Case { files: all, moves }| {
        let names = ["one", "two"];
        let mut before = MemoryTree::new();
        for ([text, _], name) in all.iter().zip(names) {
            if let Some(text) = text {
                before.insert(name, text.clone().into_bytes());
            }
        }
        let defaults = Options::default();
        let mut builder = PlanBuilder::new(of(&before), &defaults);
        for (pair, name) in all.iter().zip(names) {
            match pair {
                [None, Some(text)] => {
                    builder.create(name, text.clone().into_bytes()).expect("nothing is there")
                }
                [Some(_), None] => builder.remove(name).expect("it is there"),
                [Some(one), Some(other)] => {
                    let mut splices = patch_engine::Splices::new();
                    if one != other {
                        splices.push(0..one.len(), other.clone().into_bytes());
                    }
                    builder.update(name, splices).expect("it is there");
                    if moves {
                        builder.rename(name, &format!("{name}-moved")).expect("nothing is there");
                    }
                }
                _ => {}
            }
        }
        let diff = builder.finish().expect("a plan").images().diffs().expect("in memory");
        if diff.is_empty() {
            return;
        }
        let diff = diff::parse(&diff[..], &DiffOptions::default()).expect("a diff");
        let text = envelope::write(&diff).ok();
        // Where an envelope says nothing about line ends, they are all the same.
        let plain = !all.iter().flatten().flatten().any(|text| text.contains('\r'));
        let text = text.filter(|_| plain);
        let patch = text.as_deref().map(|text| parse(text, &defaults.parse).expect("it parses"));
        for (form, patch) in [Some(diff), patch].into_iter().enumerate() {
            let Some(patch) = patch else { continue };
            for profile in [Profile::Strict, Profile::Codex] {
                let options = Options::new(profile);
                let Ok(after) = done(&before, &patch, &options) else { continue };
                // What blanks were overlooked cannot come back, nor a last line feed that the
                // profile adds.
                let open = all.iter().flatten().flatten().any(|text| !text.ends_with('\n'));
                if profile == Profile::Codex && (open || form == 1) {
                    continue;
                }
                let mut counts = taken.get();
                counts[form * 2] += 1;
                let again = reverse(&patch, &options)
                    .and_then(|reversed| done(&after, &reversed, &options));
                if let Ok(again) = again {
                    assert_eq!(
                        files(&again),
                        files(&before),
                        "{profile}\n{}",
                        String::from_utf8_lossy(patch.text().as_bytes())
                    );
                    counts[form * 2 + 1] += 1;
                }
                taken.set(counts);
            }
        }
    });
    // Most are unambiguous: the property is about something.
    let [diffs, diffs_back, patches, patches_back] = taken.get();
    assert!(diffs_back * 2 > diffs, "{:?}", taken.get());
    assert!(patches_back * 4 > patches, "{:?}", taken.get());
    assert!(diffs > cases / 2, "{:?}", taken.get());
    assert!(patches > cases / 20, "{:?}", taken.get());
}
