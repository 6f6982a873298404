//! Random sentences of random files' grammars, applied.

use std::cell::RefCell;

use patch_constrain::fit::{Fit, FitError, FitFile, FitOperation, FitOptions};
use patch_engine::{MemoryTree, Options, Profile, apply_in_memory};
use patch_grammar::export::Format;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use testutils::holds::holds;
use testutils::share::share;
use xtask::decode;
use xtask::texts::steps;

/// Lines that are alike, blank, or odd in a patch.
const LINES: [&str; 12] =
    ["a", "b", "", " ", "    a", "}", "@@", "*** End Patch", "-a", "+a", "\u{feff}x", "r\r"];

/// What is inserted: mostly lines of the files, so that they stand there twice or already.
const INSERTED: [&str; 6] = ["*** End Patch", "new", "\r", "\u{2028}é", "12: a", "@@ b"];

/// Files that are there too, one of which has another name in ASCII to some file systems.
const OTHERS: [&str; 4] = ["README.md", "d/e/f.rs", ".g/a b", "ﬀß"];

/// A file as lines with their ends.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let line = (0..LINES.len(), prop_oneof![6 => Just("\n"), 1 => Just("\r\n")]);
    let alphabet = 1..=LINES.len();
    let lines = (alphabet, vec(line, 0..14), any::<bool>(), prop::bool::weighted(0.1));
    lines.prop_map(|(alphabet, lines, newline, bom)| {
        let mut text = if bom { "\u{feff}".to_owned() } else { String::new() };
        for (line, end) in lines {
            text += LINES[line % alphabet];
            text += end;
        }
        if !newline && text.ends_with('\n') {
            text.pop();
        }
        text.into_bytes()
    })
}

/// Takes decisions one after the other, and then only the first of each kind, so that it ends.
fn chooser(indices: &[Index]) -> impl FnMut(usize) -> usize {
    let mut indices = indices.iter();
    move |count| indices.next().map_or(0, |index| index.index(count))
}

/// Whether a file has all that some hunk leaves: the applier refuses such a hunk where it would make
/// that a second time, which no grammar can tell.
fn has_result(text: &[u8], patch: &str) -> bool {
    let bare = |line: &str| line.trim_end().to_owned();
    let text = String::from_utf8_lossy(text);
    let file: Vec<String> = text.trim_start_matches('\u{feff}').lines().map(bare).collect();
    let hunks = patch.split("\n@@").skip(1).map(|hunk| {
        let lines = hunk.split('\n').skip(1).take_while(|line| !line.starts_with("***"));
        lines.filter(|line| line.starts_with(['+', ' '])).map(|line| bare(&line[1..])).collect()
    });
    let mut results = hunks.filter(|new: &Vec<String>| !new.is_empty());
    results.any(|new| file.windows(new.len()).any(|lines| lines == new))
}

fn applies(
    files: &[(&str, &[u8])],
    profile: Profile,
    operations: &[FitOperation],
    walk: &[Index],
    inserted: &[Index],
) {
    let fit_files: Vec<FitFile<'_>> =
        files.iter().map(|(path, text)| FitFile::new(path, text)).collect();
    let options = FitOptions { profile, operations: operations.to_vec(), ..FitOptions::default() };
    let fit = match Fit::new(&fit_files, &OTHERS, &options) {
        Ok(fit) => fit,
        Err(FitError::Nothing { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let known: Vec<String> = files
        .iter()
        .flat_map(|(_, text)| {
            String::from_utf8_lossy(text).lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .chain(INSERTED.map(str::to_owned))
        .collect();
    let mut inserted = inserted.iter().cycle();
    let line = || {
        inserted.next().map_or_else(String::new, |index| known[index.index(known.len())].clone())
    };
    let patch = fit.sentence(chooser(walk), line);
    let others = OTHERS.map(|path| (path, &b"other\n"[..]));
    let tree: MemoryTree = files.iter().copied().chain(others).collect();
    if let Err(error) = apply_in_memory(&tree, &patch, &Options::new(profile)) {
        if error.to_string().contains("it is applied already")
            && files.iter().any(|(_, text)| has_result(text, &patch))
        {
            return;
        }
        panic!("{files:?}\n{patch}\n{error}\n{error:?}");
    }
}

#[test]
fn every_sentence_for_one_file_applies() {
    for profile in Profile::ALL {
        let cases = (file(), vec(any::<Index>(), 0..60), vec(any::<Index>(), 1..6));
        holds(share(10_000), &cases, |(text, walk, inserted)| {
            applies(&[("f", &text)], profile, &[FitOperation::Update], &walk, &inserted);
        });
    }
}

#[test]
fn every_sentence_for_several_files_applies() {
    for profile in Profile::ALL {
        let files = [file(), file(), file()];
        let cases = (files, vec(any::<Index>(), 0..90), vec(any::<Index>(), 1..6));
        holds(share(2_500), &cases, |(texts, walk, inserted)| {
            let files: Vec<(&str, &[u8])> =
                ["a", "d/b", "d/c"].into_iter().zip(texts.iter().map(Vec::as_slice)).collect();
            applies(&files, profile, &FitOperation::ALL, &walk, &inserted);
        });
    }
}

/// What an engine lets a model write is what the rules say, byte for byte.
#[test]
fn a_random_model_under_llguidance_writes_what_applies() {
    let text = "a\nb\n\nb\nc\n";
    let env = decode::vocabulary();
    for profile in Profile::ALL {
        let options = FitOptions { profile, ..FitOptions::default() };
        let fit = Fit::new(&[FitFile::new("f", text.as_bytes())], &[], &options).expect("rules");
        let lark = fit.write(Format::Lark).expect("it is small");
        let model = RefCell::new(decode::Model::new(&env, &lark));
        let tree: MemoryTree = [("f", text)].into_iter().collect();
        holds(share(100), &steps(80), |steps| {
            let patch = String::from_utf8(model.borrow_mut().write(&steps)).expect("UTF-8");
            assert!(fit.recognizes(&patch), "{patch:?}");
            let applied = apply_in_memory(&tree, &patch, &Options::new(profile));
            assert!(applied.is_ok(), "{patch:?}: {applied:?}");
        });
    }
}

#[test]
fn a_new_path_is_no_other_spelling_of_a_listed_one() {
    let options = FitOptions { operations: vec![FitOperation::Add], ..FitOptions::default() };
    let tree: MemoryTree = OTHERS.map(|path| (path, "other\n")).into_iter().collect();
    let fit = Fit::new(&[], &OTHERS, &options).expect("rules");
    for (path, wanted) in [("ffs", true), ("ffss", false), ("FFsS", false), ("ffssx", true)] {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
        assert_eq!(fit.recognizes(&patch), wanted, "{path}");
        let applied = apply_in_memory(&tree, &patch, &Options::new(Profile::Strict));
        assert_eq!(applied.is_ok(), wanted, "{path}");
    }
}

#[test]
fn every_sentence_for_some_lines_of_a_file_applies() {
    for profile in Profile::ALL {
        let windows = vec((1_usize..12, 0_usize..5), 1..3);
        let cases = (file(), windows, vec(any::<Index>(), 0..60));
        holds(share(5_000), &cases, |(text, windows, walk)| {
            let windows = windows.into_iter().map(|(first, more)| first..=first + more).collect();
            let file = FitFile { windows, ..FitFile::new("f", &text) };
            let options = FitOptions { profile, ..FitOptions::default() };
            let Ok(fit) = Fit::new(&[file], &[], &options) else { return };
            let patch = fit.sentence(chooser(&walk), || "a".to_owned());
            let tree: MemoryTree = [("f", text.as_slice())].into_iter().collect();
            let applied = apply_in_memory(&tree, &patch, &Options::new(profile));
            let fits = applied.as_ref().map_or_else(
                |error| {
                    error.to_string().contains("it is applied already") && has_result(&text, &patch)
                },
                |_| true,
            );
            assert!(fits, "{text:?}\n{patch}\n{applied:?}");
        });
    }
}
