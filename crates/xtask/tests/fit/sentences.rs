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

fn fitted(
    text: &str,
    profile: Profile,
    format: Format,
    windows: &[RangeInclusive<usize>],
) -> Result<String, FitError> {
    let file = FitFile { windows: windows.to_vec(), ..FitFile::new("f", text.as_bytes()) };
    let fit = Fit::new(&[file], &[], &FitOptions { profile, format, ..FitOptions::default() })?;
    Ok(fit.write(format).expect("it was checked"))
}

#[test]
fn a_file_that_is_too_large_is_refused_but_not_a_window_of_it() {
    let text = different(3_000);
    for profile in Profile::ALL {
        for format in [Format::Lark, Format::Ebnf] {
            let whole = fitted(&text, profile, format, &[]);
            assert!(matches!(whole, Err(FitError::TooLarge(_))), "{format}");
            let window = fitted(&text, profile, format, &[1_000..=1_300]);
            assert!(window.is_ok(), "{profile} {format}: {window:?}");
        }
    }
}

#[test]
fn the_largest_file_for_llguidance_does_not_stop_it() {
    for (profile, count) in [(Profile::Strict, 950), (Profile::Codex, 633)] {
        let lark = fitted(&different(count), profile, Format::Lark, &[]);
        let engine = Engine::new(TopLevelGrammar::from_lark(lark.expect("within the limits")));
        let last = count - 1;
        let patch =
            format!("*** Begin Patch\n*** Update File: f\n@@\n-line {last}\n*** End Patch\n");
        assert!(engine.accepts(&patch), "{profile}");
        let more = fitted(&different(count + 1), profile, Format::Lark, &[]);
        assert!(more.is_err(), "{profile}");
    }
}

/// Whether the engine takes a patch for the last of some files of different lines, if it is said to
/// take their grammar.
fn last_of_many(profile: Profile, count: usize, lines: usize) -> Result<bool, FitError> {
    let texts: Vec<String> = (0..count).map(|_| different(lines)).collect();
    let names: Vec<String> = (0..count).map(|nth| format!("f{nth}")).collect();
    let files = names.iter().zip(&texts).map(|(name, text)| FitFile::new(name, text.as_bytes()));
    let files: Vec<FitFile<'_>> = files.collect();
    let operations = FitOperation::ALL.to_vec();
    let options = FitOptions { profile, operations, ..FitOptions::default() };
    let lark = Fit::new(&files, &[], &options)?.write(Format::Lark).expect("it was checked");
    let last = count - 1;
    let text = format!("*** Begin Patch\n*** Update File: f{last}\n@@\n-line 1\n*** End Patch\n");
    Ok(Engine::new(TopLevelGrammar::from_lark(lark)).accepts(&text))
}

#[test]
fn many_files_are_taken_by_llguidance_or_refused_before() {
    // A grammar for three files of 600 lines made llguidance panic.
    for (profile, count, lines, taken) in [
        (Profile::Codex, 3, 420, true),
        (Profile::Codex, 3, 600, false),
        (Profile::Strict, 100, 5, true),
        (Profile::Strict, 300, 5, false),
    ] {
        let found = last_of_many(profile, count, lines);
        let as_wanted = if taken { found == Ok(true) } else { found.is_err() };
        assert!(as_wanted, "{profile}, {count} files: {found:?}");
    }
}

#[test]
fn five_thousand_paths_are_taken_by_llguidance() {
    let paths: Vec<String> = (0..5_000)
        .map(|nth| format!("crates/part-{}/src/folder_{}/file_{nth}.rs", nth % 37, nth % 11))
        .collect();
    let listed: Vec<&str> = paths.iter().map(String::as_str).collect();
    let operations = FitOperation::ALL.to_vec();
    let options = FitOptions { operations, ..FitOptions::default() };
    let fit = Fit::new(&[FitFile::new("d/f", b"a\nb\n")], &listed, &options).expect("a grammar");
    let note = "5000 paths are listed: a patch deletes one of them at most";
    assert_eq!(fit.notes()[0].to_string(), note);
    let lark = fit.write(Format::Lark).expect("it was checked");
    let engine = Engine::new(TopLevelGrammar::from_lark(lark));
    let first = listed[0];
    let last = listed[4_999];
    for (sections, wanted) in [
        (format!("*** Delete File: {last}\n"), true),
        (format!("*** Delete File: {last}\n*** Add File: new.rs\n+x\n"), true),
        (format!("*** Delete File: {last}x\n"), false),
        (format!("*** Delete File: {first}\n*** Delete File: {last}\n"), false),
        (format!("*** Update File: {last}\n*** Move to: crates/new.rs\n"), true),
        (format!("*** Add File: {last}x\n+x\n"), true),
        (format!("*** Add File: {last}\n+x\n"), false),
        (format!("*** Add File: {}\n+x\n", last.replace("file", "File")), false),
        (format!("*** Add File: {}\n+x\n", first.replace("src", "SRC")), false),
        ("*** Add File: crates/part-1\n+x\n".to_owned(), false),
        ("*** Add File: crates/part-1/con.rs\n+x\n".to_owned(), false),
        ("*** Add File: crates/part-1/.x.rs\n+x\n".to_owned(), true),
        ("*** Update File: d/f\n@@\n-a\n".to_owned(), true),
    ] {
        let patch = format!("*** Begin Patch\n{sections}*** End Patch\n");
        assert_eq!(engine.accepts(&patch), wanted, "{sections}");
    }
}

/// Names of new files beside listed ones, on both sides of each rule.
const NAMES: &str = "README.md readme.MD README.md5 README README.md/x src SRC SRC/x src/x.rs \
    src/Lib.rs src/lib.rs/x src/a src/a/c.rs src/A/c.rs new/c.rs new/README.md new//c /c .git \
    .GiT .git/x .gitignore .g src/.hg x/CVS/y nul.txt null.txt .hg.x ... .github/y a. a..b .. \
    ../a fi FI/z fi/z fix com0 LPT1.x .apply-patch/x a/..b a/.b";

#[test]
fn names_of_new_files_are_the_same_in_each_form() {
    let listed =
        ["README.md", "src/lib.rs", "src/a/b.rs", "mein Brief/ü", ".github/x", "\u{fb01}/y"];
    for profile in Profile::ALL {
        let operations = vec![FitOperation::Add];
        let options = FitOptions { profile, operations, ..FitOptions::default() };
        let fit = Fit::new(&[], &listed, &options).expect("a grammar");
        let lark = fit.write(Format::Lark).expect("it was checked");
        let engine = Engine::new(TopLevelGrammar::from_lark(lark));
        let mut taken = 0;
        for path in NAMES.split(' ').filter(|path| !path.is_empty()) {
            let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
            let accepted = engine.accepts(&patch);
            assert_eq!(accepted, fit.recognizes(&patch), "{path} {profile}");
            taken += usize::from(accepted);
        }
        assert!(taken > 5, "{taken} under {profile}");
    }
}
