//! The binary files of git diffs.

use std::sync::Arc;

use patch_engine::{Files, MemoryTree, Options, PlanNote, Rejects, plan, reverse};
use patch_grammar::diff::{self, DiffOptions};
use patch_grammar::{Patch, binary};

/// Two files, and their ids in git.
const OLD: &[u8] = b"\0old\n";
const NEW: &[u8] = b"\0new\0";
const IDS: &str =
    "82a60be24cca2564698a3dcb697f3a4e6ee59a39..96dddac9339e53e390cafd5b874583095782fb74";
const SHA256_IDS: &str = "f6ccf8d940b8f610f76b37de34bccfb30c6fcf1e838bbe29c55aba429dd63e09..\
                          a701f9eb1ce69aca0729d904b83546a74f3511d355e16966dd9f7bb70213543b";
const NONE: &str = "0000000000000000000000000000000000000000";

/// What git writes about a file of 3000 bytes of which it changes a few, and adds some.
const DELTA: &str =
    "GIT binary patch\ndelta 27\nicmdlXzE^xg3YUSQk+F%XnYo4K#yl@>R)&(q%p3r5`v=kh\n\n";
const DELTA_BACK: &str = "delta 12\nTcmdlhzC(Ny%MSL%JD6DjAi)HC\n\n";
const DELTA_IDS: &str =
    "373cf80f2e5431b416f765fd5e282a8d2d9839f9..e3003632d6e3297ef8077d5bd91f4145f4e121c0";

fn long() -> Vec<u8> {
    (0..3000_u32).map(|at| ((at * at) >> 3) as u8).collect()
}

fn long_changed() -> Vec<u8> {
    let mut bytes = long();
    bytes[100..110].copy_from_slice(b"0123456789");
    bytes.extend_from_slice(b"\0tail");
    bytes
}

/// Both parts of a binary patch.
fn both(old: &[u8], new: &[u8]) -> String {
    let mut out = Vec::new();
    binary::write(&mut out, old, new);
    String::from_utf8(out).expect("it is ASCII")
}

/// The first part alone.
fn one(old: &[u8], new: &[u8]) -> String {
    let both = both(old, new);
    let (first, _) = both.split_once("\n\n").expect("two parts");
    format!("{first}\n\n")
}

fn tree(all: &[(&str, &[u8])]) -> MemoryTree {
    all.iter().map(|(path, bytes)| (*path, bytes.to_vec())).collect()
}

fn files(tree: &MemoryTree) -> Vec<(String, Vec<u8>)> {
    tree.iter().map(|(path, content)| (path.to_owned(), content.bytes.to_vec())).collect()
}

fn parsed(diff: &str) -> Patch {
    let patch = diff::parse(diff, &DiffOptions::default());
    patch.unwrap_or_else(|error| panic!("{diff}: {error}"))
}

fn done(before: &MemoryTree, patch: &Patch, options: &Options) -> Result<MemoryTree, Rejects> {
    let mut tree = before.clone();
    let plan =
        plan(Files::of_tree(Arc::new(tree.clone()), patch_engine::policy()), patch, options)?;
    tree.commit(&plan).expect("nothing else changes it");
    Ok(tree)
}

type All<'a> = &'a [(&'a str, &'a [u8])];

fn only<'a>(all: All<'a>) -> &'a [u8] {
    all.first().map_or(b"", |(_, bytes)| bytes)
}

/// Applies a diff, and returns the files or the reasons of its rejects.
fn check(before: All<'_>, diff: &str, wanted: Result<All<'_>, &str>) {
    let result = done(&tree(before), &parsed(diff), &Options::default());
    let found = result.map(|tree| files(&tree)).map_err(|rejects| {
        let reasons: Vec<_> = rejects.iter().map(|reject| reject.reason()).collect();
        reasons.join(" ")
    });
    let wanted = wanted.map(|all| files(&tree(all))).map_err(str::to_owned);
    assert_eq!(found, wanted, "{diff}");
}

#[test]
fn a_binary_patch_makes_the_bytes_that_it_states() {
    let header = "diff --git a/x b/x\n";
    let changed = format!("{header}index {IDS} 100644\n{}", both(OLD, NEW));
    let added = |ids: &str, parts: &str| {
        format!("{header}new file mode 100644\nindex {NONE}..{ids}\n{parts}")
    };
    let deleted = |ids: &str, parts: &str| {
        format!("{header}deleted file mode 100644\nindex {ids}..{NONE}\n{parts}")
    };
    let (old_id, new_id) = IDS.split_once("..").expect("two ids");
    let moved = |word: &str| {
        format!(
            "diff --git a/x b/y\nsimilarity index 90%\n{word} from x\n{word} to y\nindex {IDS}\n{}",
            both(OLD, NEW)
        )
    };
    let old: All<'_> = &[("x", OLD)];
    let new: All<'_> = &[("x", NEW)];
    check(old, &changed, Ok(new));
    check(old, &changed.replace(IDS, SHA256_IDS), Ok(new));
    check(&[], &added(new_id, &both(b"", NEW)), Ok(new));
    check(&[], &added(new_id, &one(b"", NEW)), Ok(new));
    check(&[], &format!("{header}new file mode 100644\n{}", one(b"", NEW)), Ok(new));
    check(old, &deleted(old_id, &both(OLD, b"")), Ok(&[]));
    check(old, &deleted(old_id, &one(OLD, b"")), Ok(&[]));
    check(old, &deleted("1", &both(OLD, b"")), Ok(&[]));
    check(old, &moved("rename"), Ok(&[("y", NEW)]));
    check(old, &moved("copy"), Ok(&[("x", OLD), ("y", NEW)]));
    // To an empty file and back, and text on either side.
    let plain = |parts: &str| format!("{header}{parts}");
    check(old, &plain(&both(OLD, b"")), Ok(&[("x", b"")]));
    check(&[("x", b"")], &plain(&both(b"", NEW)), Ok(new));
    check(&[("x", b"a\r\nb")], &plain(&both(b"a\r\nb", b"c\n")), Ok(&[("x", b"c\n")]));
    // A delta.
    let delta = format!("{header}index {DELTA_IDS} 100644\n{DELTA}{DELTA_BACK}");
    check(&[("x", &long())], &delta, Ok(&[("x", &long_changed())]));
    let literal = one(b"", &long()).replace("GIT binary patch\n", "");
    let bare = format!("{header}{DELTA}{literal}");
    check(&[("x", &long())], &bare, Ok(&[("x", &long_changed())]));
    // Beside hunks, and one after the other.
    let text = "--- a/t\n+++ b/t\n@@ -1 +1 @@\n-a\n+b\n";
    check(
        &[("x", OLD), ("t", b"a\n")],
        &format!("{changed}{text}"),
        Ok(&[("x", NEW), ("t", b"b\n")]),
    );
}

#[test]
fn a_binary_patch_is_for_one_file_only() {
    let changed = |ids: &str, parts: &str| format!("diff --git a/x b/x\nindex {ids}\n{parts}");
    let other: All<'_> = &[("x", b"\0other")];
    let old: All<'_> = &[("x", OLD)];
    let new: All<'_> = &[("x", NEW)];
    let short: Vec<&str> = IDS.split("..").map(|id| &id[..7]).collect();
    let short = short.join("..");
    let both = both(OLD, NEW);
    for ids in [IDS, SHA256_IDS, &short, "1..2"] {
        check(other, &changed(ids, &both), Err("binary_mismatch"));
        check(new, &changed(ids, &both), Err("already_applied"));
        check(old, &changed(ids, &both), Ok(new));
        check(&[], &changed(ids, &both), Err("not_found"));
    }
    // The part for the reverse is not needed where there are ids, and ids not where there is one.
    check(old, &changed(IDS, &one(OLD, NEW)), Ok(new));
    check(old, &changed("1..2", &one(OLD, NEW)), Err("binary_unknown"));
    check(old, &changed("1..2", &self::both(b"\0older", NEW)), Err("binary_mismatch"));
    // It makes another file than it says.
    check(old, &changed(IDS, &one(OLD, b"\0newer")), Err("binary_result"));
    let wrong = IDS.replace("..9", "..8");
    check(old, &changed(&wrong, &both), Err("binary_result"));
    let wrong = short.replace("..9", "..8");
    check(old, &changed(&wrong, &both), Err("binary_result"));
    // A delta of another file, of this size or not.
    let delta = changed(DELTA_IDS, &format!("{DELTA}{DELTA_BACK}"));
    check(&[("x", &[7; 3000])], &delta, Err("binary_mismatch"));
    check(&[("x", &long()[1..])], &delta, Err("binary_mismatch"));
    check(&[("x", &long_changed())], &delta, Err("already_applied"));
    // Both deltas fit this file too, which has nothing but sevens.
    let bare = changed("1..2", &format!("{DELTA}{DELTA_BACK}"));
    check(&[("x", &[7; 3000])], &bare, Err("binary_unknown"));
    check(&[("x", &long())], &changed("1..2", DELTA), Err("binary_unknown"));
    // What is deleted has to be the file.
    let deleted = |ids: &str, parts: &str| {
        format!("diff --git a/x b/x\ndeleted file mode 100644\nindex {ids}\n{parts}")
    };
    check(other, &deleted("1..0", &self::both(OLD, b"")), Err("binary_mismatch"));
    check(other, &deleted(IDS, &one(OLD, b"")), Err("binary_mismatch"));
    check(old, &deleted("1..0", &one(OLD, b"")), Err("binary_unknown"));
    check(old, &deleted(IDS, &both), Err("binary_result"));
    // What is added makes no other file way.
    let added = "diff --git a/x b/x\nnew file mode 100644\n".to_owned() + &one(b"", NEW);
    check(old, &added, Err("exists"));
    let wrong = added.replace("GIT", &format!("index {NONE}..{}\nGIT", "8".repeat(40)));
    check(&[], &wrong, Err("binary_result"));
}

#[test]
fn a_binary_patch_is_reversed_by_its_second_part() {
    let old: &[u8] = &long();
    let new: &[u8] = &long_changed();
    let parts = format!("{DELTA}{DELTA_BACK}");
    for (before, after, diff) in [
        (
            &[("x", old)][..],
            &[("x", new)][..],
            format!("diff --git a/x b/x\nindex {DELTA_IDS} 100644\n{parts}"),
        ),
        (
            &[("x", old)],
            &[("y", new)],
            format!("diff --git a/x b/y\nrename from x\nrename to y\nindex {DELTA_IDS}\n{parts}"),
        ),
        (
            &[],
            &[("x", new)],
            format!("diff --git a/x b/x\nnew file mode 100644\n{}", both(b"", new)),
        ),
        (
            &[("x", old)],
            &[],
            format!("diff --git a/x b/x\ndeleted file mode 100644\n{}", both(old, b"")),
        ),
    ] {
        let options = Options::default();
        let patch = parsed(&diff);
        let back = reverse(&patch, &options).expect("it has both parts");
        let there = done(&tree(before), &patch, &options).expect("it applies");
        assert_eq!(files(&there), files(&tree(after)), "{diff}");
        let again = done(&there, &back, &options).expect("it applies");
        assert_eq!(files(&again), files(&tree(before)), "{diff}");
    }
    let patch = parsed(&format!("diff --git a/x b/x\nindex {IDS}\n{}", one(OLD, NEW)));
    let rejects = reverse(&patch, &Options::default()).expect_err("it has one part");
    assert_eq!(rejects[0].reason(), "irreversible");
    assert!(rejects.to_string().contains("does not have the old bytes"), "{rejects}");
}

#[test]
fn an_applied_binary_patch_is_left_out_if_asked() {
    let mut options = Options::default();
    options.placement.skip_applied = true;
    let patch = parsed(&format!("diff --git a/x b/x\nindex {IDS}\n{}", both(OLD, NEW)));
    let plan = plan(
        Files::of_tree(Arc::new(tree(&[("x", NEW)])), patch_engine::policy()),
        &patch,
        &options,
    );
    let plan = plan.expect("it is left out");
    assert!(plan.is_empty());
    assert_eq!(plan.notes(), [PlanNote::Unchanged { path: "x".into() }]);
}

#[test]
fn a_binary_file_has_the_limit_of_all_files() {
    let old: &[u8] = &long();
    let new: &[u8] = &long_changed();
    let diff = format!("diff --git a/x b/x\nindex {DELTA_IDS}\n{DELTA}");
    let added = format!("diff --git a/y b/y\nnew file mode 100644\n{}", one(b"", new));
    for (limit, fits) in [(3005, true), (3004, false)] {
        let options = Options { max_file_size: limit, ..Options::default() };
        for diff in [&diff, &added] {
            let result = done(&tree(&[("x", old)]), &parsed(diff), &options);
            let found = result.map(|_| ()).map_err(|rejects| rejects[0].reason());
            let wanted = if fits { Ok(()) } else { Err("too_large") };
            assert_eq!(found, wanted, "{limit} {diff}");
        }
    }
}

#[test]
fn the_diff_with_bytes_makes_the_same_files() {
    for (before, after) in [
        (&[("x", OLD)][..], &[("x", NEW)][..]),
        (&[], &[("x", NEW)]),
        (&[("x", OLD)], &[]),
        (&[("x", OLD)], &[("x", b"text\n")]),
        (&[("x", b"text\n")], &[("x", OLD)]),
        (&[("x", b"a\n")], &[("x", b"b\n")]),
    ] {
        let mode = match (before.len(), after.len()) {
            (0, _) => "new file mode 100644\n",
            (_, 0) => "deleted file mode 100644\n",
            _ => "",
        };
        let parts = both(only(before), only(after));
        let patch = parsed(&format!("diff --git a/x b/x\n{mode}{parts}"));
        let start = Files::of_tree(Arc::new(tree(before)), patch_engine::policy());
        let plan = plan(start, &patch, &Options::default()).expect("it applies");
        let diff = plan.images().binary_diff(&plan.changes()[0]).expect("it is in memory");
        let diff = String::from_utf8(diff).expect("it is ASCII");
        assert!(!diff.contains("Binary files"), "{diff}");
        check(before, &diff, Ok(after));
    }
}
