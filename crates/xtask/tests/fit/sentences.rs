//! Which patches a fitted grammar has, asked of llguidance.

use std::ops::RangeInclusive;

use llguidance::api::TopLevelGrammar;
use patch_constrain::fit::{Fit, FitError, FitFile, FitOperation, FitOptions, Profile};
use patch_grammar::export::Format;
use xtask::texts::Engine;

/// Whether the grammar of one file has a hunk.
fn has(profile: Profile, text: &str, hunks: &str) -> bool {
    let options = FitOptions { profile, ..FitOptions::default() };
    let fit = Fit::new(&[FitFile::new("f", text.as_bytes())], &[], &options).expect("a grammar");
    let lark = fit.write(Format::Lark).expect("it is small");
    Engine::new(TopLevelGrammar::from_lark(lark))
        .accepts(&format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n"))
}

#[test]
fn a_hunk_is_a_block_that_stands_once_and_changes_something() {
    for (hunks, wanted) in [
        ("@@\n a\n-b\n", true),
        ("@@\n a\n b\n", false),
        ("@@\n-x\n", false),
        ("@@\n-a\n", false),
        ("@@\n-b\n", true),
        ("@@\n-b\n c\n", false),
        ("@@\n b\n+n\n a\n", true),
        ("@@\n b\n+n\n", false),
        ("@@\n+n\n b\n", false),
        ("@@\n+n\n-b\n", true),
        ("@@\n-b\n+n\n", true),
        ("@@\n a\n+n\n", false),
        ("@@\n a\n c\n+n\n", true),
        ("@@\n a\n c\n+n\n*** End of File\n", true),
        ("@@\n c\n+n\n\\ No newline at end of file\n", true),
        ("@@\n+n\n a\n b\n", true),
        ("@@\n+n\n a\n c\n", false),
        ("@@\n+n\n", false),
    ] {
        assert_eq!(has(Profile::Strict, "a\nb\na\nc\n", hunks), wanted, "{hunks}");
    }
}

#[test]
fn several_hunks_are_in_order_and_apart_under_codex() {
    for (hunks, wanted) in [
        ("@@\n-a\n@@\n-c\n", true),
        ("@@\n-a\n b\n@@\n-c\n", true),
        ("@@\n-c\n@@\n-a\n", false),
        ("@@\n-a\n b\n@@\n b\n-c\n", false),
        ("@@\n-a\n@@\n-a\n", false),
        ("@@\n-a\n+n\n@@\n+m\n-b\n@@\n-c\n+o\n", true),
    ] {
        assert_eq!(has(Profile::Codex, "a\nb\nc\n", hunks), wanted, "{hunks}");
    }
}

#[test]
fn an_update_has_one_hunk_under_strict() {
    assert!(!has(Profile::Strict, "a\nb\nc\n", "@@\n-a\n@@\n-c\n"));
}

#[test]
fn an_empty_file_gets_lines() {
    for profile in Profile::ALL {
        assert!(has(profile, "", "@@\n+n\n+m\n"));
    }
}

#[test]
fn odd_lines_are_written_so_that_the_engine_reads_them() {
    let lines = [
        "\"\\\t",
        "é\u{301}\u{2028}\u{85}\u{ad}",
        "\u{1}\u{7f}",
        "😀",
        "/*#//'",
        "a\rb",
        "*** End Patch",
    ];
    for line in lines {
        assert!(has(Profile::Strict, &format!("{line}\n"), &format!("@@\n-{line}\n")), "{line:?}");
    }
}

/// Whether the grammar of one file and a further path has these sections, which llguidance and the
/// rules have to agree on.
fn has_sections(operations: &[FitOperation], sections: &str) -> bool {
    let operations = operations.to_vec();
    let options = FitOptions { operations, ..FitOptions::default() };
    let fit = Fit::new(&[FitFile::new("d/f", b"a\nb\n")], &["g"], &options).expect("a grammar");
    let patch = format!("*** Begin Patch\n{sections}*** End Patch\n");
    let lark = fit.write(Format::Lark).expect("it is small");
    let accepted = Engine::new(TopLevelGrammar::from_lark(lark)).accepts(&patch);
    assert_eq!(accepted, fit.recognizes(&patch), "{patch}");
    accepted
}

#[test]
fn a_patch_has_one_new_path_at_most() {
    for (sections, wanted) in [
        ("*** Add File: n\n+x\n", true),
        ("*** Add File: n\n", true),
        ("*** Add File: n\n+x\n\\ No newline at end of file\n", true),
        ("*** Add File: d/.gitignore\n+x\n", true),
        ("*** Add File: d/.git\n+x\n", false),
        ("*** Add File: g\n+x\n", false),
        ("*** Add File: d\n+x\n", false),
        // By the default, in a new directory too.
        ("*** Add File: e/n\n+x\n", true),
        ("*** Add File: n\n*** Add File: m\n", false),
        ("*** Update File: d/f\n*** Move to: d/n\n", true),
        ("*** Update File: d/f\n*** Move to: d/n\n@@\n-a\n", true),
        ("*** Update File: d/f\n*** Move to: d/f\n@@\n-a\n", false),
        ("*** Update File: d/f\n@@\n-a\n*** Update File: g\n*** Move to: d/n\n", true),
        ("*** Update File: d/f\n*** Move to: n\n*** Update File: g\n*** Move to: m\n", false),
        ("*** Update File: d/f\n*** Move to: n\n*** Delete File: g\n", true),
        ("*** Update File: d/f\n*** Move to: n\n*** Add File: m\n", false),
        ("*** Delete File: d/f\n*** Add File: m\n+x\n", true),
        ("*** Add File: m\n+x\n*** Delete File: d/f\n", false),
    ] {
        assert_eq!(has_sections(&FitOperation::ALL, sections), wanted, "{sections}");
    }
}

#[test]
fn sections_do_only_what_they_may() {
    let add = "*** Add File: n\n+x\n";
    let moved = "*** Update File: d/f\n*** Move to: n\n@@\n-a\n";
    let update = "*** Update File: d/f\n@@\n-a\n";
    for (operations, wanted) in [
        ([FitOperation::Add], [true, false, false]),
        ([FitOperation::Move], [false, true, false]),
        ([FitOperation::Update], [false, false, true]),
        ([FitOperation::Delete], [false, false, false]),
    ] {
        let has = [add, moved, update].map(|sections| has_sections(&operations, sections));
        assert_eq!(has, wanted, "{operations:?}");
    }
}

/// A file of lines that are all different.
fn different(count: usize) -> String {
    (0..count).map(|line| format!("line {line}\n")).collect()
}

fn fitted(text: &str, profile: Profile, windows: &[RangeInclusive<usize>]) -> Fit {
    let file = FitFile { windows: windows.to_vec(), ..FitFile::new("f", text.as_bytes()) };
    Fit::new(&[file], &[], &FitOptions { profile, ..FitOptions::default() }).expect("a grammar")
}

#[test]
fn a_file_that_is_too_large_is_refused_but_not_a_window_of_it() {
    let text = different(3_000);
    for profile in Profile::ALL {
        for format in [Format::Lark, Format::Ebnf] {
            let whole = fitted(&text, profile, &[]).write(format);
            assert!(matches!(whole, Err(FitError::TooLarge { lines: 3_000, .. })), "{format}");
            let window = fitted(&text, profile, &[1_000..=1_300]).write(format);
            assert!(window.is_ok(), "{profile} {format}: {window:?}");
        }
    }
}

#[test]
fn the_largest_file_for_llguidance_does_not_stop_it() {
    for (profile, count) in [(Profile::Strict, 950), (Profile::Codex, 633)] {
        let text = different(count);
        let lark = fitted(&text, profile, &[]).write(Format::Lark).expect("within the limits");
        let engine = Engine::new(TopLevelGrammar::from_lark(lark));
        let last = count - 1;
        let patch =
            format!("*** Begin Patch\n*** Update File: f\n@@\n-line {last}\n*** End Patch\n");
        assert!(engine.accepts(&patch), "{profile}");
        let more = fitted(&different(count + 1), profile, &[]).write(Format::Lark);
        assert!(more.is_err(), "{profile}");
    }
}
