//! What the tight dialect leaves out: what would be refused later whatever the files are.

use std::io;
use std::sync::Arc;

use fs_guard::{Access, Entry, FileKind, GuardedTree, Policy, Tree};
use patch_grammar::{
    Dialect, GRAMMAR, LineKind, ParseOptions, SectionOperation, parse, recognizes,
};
use proptest::strategy::Just;
use testutils::share::{every, whole};
use xtask::Grammar;
use xtask::texts::each_text;

/// A tree without files.
#[derive(Debug)]
struct Nothing;

impl Tree for Nothing {
    fn entry(&self, _: &str) -> io::Result<Option<Entry>> {
        Ok(None)
    }

    fn read(&self, _: &str) -> io::Result<Arc<Vec<u8>>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn list(&self, _: &str) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        Ok(Vec::new())
    }
}

/// The rules that no policy lifts, and those for the names of new files.
fn guard() -> GuardedTree {
    GuardedTree::new(Arc::new(Nothing), Policy::new(".apply-patch"))
}

fn with_path(path: &str) -> String {
    format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n")
}

fn with_hunk(hunk: &str) -> String {
    format!("*** Begin Patch\n*** Update File: a\n{hunk}*** End Patch\n")
}

#[test]
fn every_sentence_is_read_and_the_guard_takes_its_paths() {
    let language = Grammar::of(Dialect::Tight).expect("it can be read").language();
    let guard = guard();
    each_text(&language, 5000, Just(()), |text, ()| {
        if !recognizes(Dialect::Tight, text) {
            return;
        }
        let patch = parse(text, &ParseOptions::default())
            .unwrap_or_else(|error| panic!("{text:?}: {error}"));
        for section in patch.sections() {
            let mut paths = vec![&section.path.text];
            if let SectionOperation::Update { move_to: Some(to), .. } = &section.operation {
                paths.push(&to.text);
            }
            for path in paths {
                if let Err(error) = guard.check(path, Access::Create) {
                    panic!("{text:?}: {error}");
                }
            }
            for hunk in section.hunks() {
                let changes = hunk.lines.iter().any(|line| line.kind != LineKind::Context);
                assert!(changes, "{text:?}");
            }
        }
    });
}

/// Random sentences have few characters; these have all of them, where a name could be a bad one.
#[test]
fn no_character_makes_a_name_that_the_guard_refuses() {
    let language = Grammar::of(Dialect::Tight).expect("it can be read").language();
    let guard = guard();
    let mut taken = 0;
    for c in ('\0'..='\u{2fff}').chain(('\u{3000}'..='\u{ffff}').step_by(every(16))) {
        for (before, after) in [
            ("", ""),
            ("", "git"),
            (".", "it"),
            (".g", "t"),
            (".gi", ""),
            (".git", ""),
            ("git", "1"),
        ] {
            let path = format!("{before}{c}{after}");
            if language.accepts(&with_path(&path)) {
                taken += 1;
                if let Err(error) = guard.check(&path, Access::Create) {
                    panic!("{path:?}: {error}");
                }
            }
        }
    }
    assert!(taken > if whole() { 50_000 } else { 10_000 }, "{taken}");
}

#[test]
fn paths_that_are_always_refused_are_no_sentences() {
    for path in [
        "/a",
        "//a",
        "..",
        "../a",
        "a/../b",
        "a/..",
        ".",
        "./a",
        "a/./b",
        "a//b",
        "a/",
        " a",
        "a ",
        "a /b",
        "a.",
        "a./b",
        "C:/a",
        "file:a",
        "~/a",
        "a\\b",
        "a\tb",
        "a\u{1b}b",
        "a\u{7f}",
        "a\u{85}b",
        "a\u{200b}b",
        "a\u{a0}b",
        ".git",
        ".git/config",
        "a/.GIT/hooks/b",
        ".git.",
        ".git .",
        "a?",
        "a*b",
        "a|b",
        "<a>",
        "a\"b",
        "PROGRA~1",
    ] {
        assert!(!recognizes(Dialect::Tight, &with_path(path)), "{path:?}");
    }
    for path in [
        "a",
        "a/b",
        "src/größe.py",
        "日本語/ファイル.md",
        ".gitignore",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        "a b/c d.txt",
        "[...slug].tsx",
        ".env.example",
        "a.git/b",
        "git",
        "a+b@2x",
        "v1.2.3/x",
        ".ci/run",
        ".hidden.d/x",
    ] {
        assert!(recognizes(Dialect::Tight, &with_path(path)), "{path:?}");
    }
}

#[test]
fn hunks_that_change_nothing_are_no_sentences() {
    for (hunk, tight) in [
        ("@@\n a\n", false),
        ("@@\n a\n b\n*** End of File\n", false),
        ("@@ f\n a\n@@\n-b\n", false),
        ("@@\n-b\n+\0\n", false),
        ("@@ \0\n-b\n", false),
        ("@@\n-a\n", true),
        ("@@\n+a\n", true),
        ("@@\n a\n-b\n+c\n d\n", true),
        ("@@ f\n@@ g\n a\n+b\n\\ No newline at end of file\n*** End of File\n", true),
        ("*** Move to: b\n", true),
        ("*** Move to: ../b\n", false),
        ("*** Move to: b\n@@\n a\n", false),
    ] {
        assert_eq!(recognizes(Dialect::Tight, &with_hunk(hunk)), tight, "{hunk:?}");
        assert!(recognizes(Dialect::Whole, &with_hunk(hunk)), "{hunk:?}");
    }
}

#[test]
fn every_sentence_of_the_tight_dialect_is_one_of_the_whole() {
    let [whole, tight] = ["patch", "tight_patch"]
        .map(|start| Grammar::read(GRAMMAR, start).expect("it can be read").language());
    assert_eq!(tight.first_sentence_not_in(&whole), None);
    assert!(whole.first_sentence_not_in(&tight).is_some());
}
