//! A text read part by part gives the same as in one piece.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests read the repository, and tell what they counted"
)]

use std::cell::Cell;

use proptest::sample::select;
use xtask::Grammar;
use xtask::texts::each_text;

use super::{LARGE, in_one_piece, in_parts, in_parts_from, middle_of};
use crate::{GRAMMAR, ParseErrorKind, ParseOptions, SectionOperation, decode, wrapper};
use testutils::share::{every, whole};

/// How many random texts are tried.
const SAMPLES: u32 = 4_000;

/// Options of either profile, and some that refuse texts of the grammar.
fn options() -> [ParseOptions; 4] {
    let strict = ParseOptions::default();
    let codex = ParseOptions { strip_wrappers: true, bare_first_hunk: true, ..strict.clone() };
    let here = ParseOptions { environment: Some("x".to_owned()), ..codex.clone() };
    let one = ParseOptions { max_sections: 1, ..codex.clone() };
    [strict, codex, here, one]
}

/// What was read of the texts so far.
#[derive(Default)]
struct Read {
    /// Patches with several sections.
    patches: Cell<u32>,
    /// Texts that the grammar refuses, and those that only the walk to the tree refuses.
    refused: Cell<(u32, u32)>,
}

impl Read {
    /// Reads a text both ways.
    fn check(&self, text: &str, options: &ParseOptions) {
        let Ok(peeled) = wrapper::peel(text, 0..text.len(), options.strip_wrappers) else { return };
        let whole = in_one_piece(text, &peeled, options);
        let parts = in_parts(text, &peeled, options);
        assert_eq!(parts.as_ref(), whole.as_ref().ok(), "{text:?} {options:?}");
        // A second thread begins at any line that looks like a header.
        for (at, _) in text[peeled.body.clone()].match_indices("\n***") {
            let middle = Some(peeled.body.start + at + 1);
            let parts = in_parts_from(text, &peeled, options, middle);
            assert_eq!(parts.as_ref(), whole.as_ref().ok(), "{text:?} {options:?} {middle:?}");
        }
        match whole {
            Ok((sections, _)) => {
                self.patches.set(self.patches.get() + u32::from(sections.len() > 1))
            }
            Err(error) => {
                use ParseErrorKind as Kind;
                let (grammar, walk) = self.refused.get();
                let in_walk = matches!(
                    error.kind,
                    Kind::NoSections
                        | Kind::TooManySections { .. }
                        | Kind::OtherEnvironment { .. }
                        | Kind::EnvironmentTwice
                        | Kind::NoPath
                        | Kind::NoHunks
                );
                self.refused.set(if in_walk { (grammar, walk + 1) } else { (grammar + 1, walk) });
            }
        }
    }
}

/// Puts around a text what people and programs put there.
fn wrapped(text: &str, how: usize) -> String {
    match how {
        0 => format!("<<EOF\n{text}\nEOF\n"),
        1 => format!("\n```diff\n{text}\n```"),
        2 => text.replace("*** End Patch", "  *** End Patch "),
        3 => text
            .replace("*** Begin Patch", " *** Begin Patch")
            .replace("\n*** Update", "\n \t*** Update"),
        4 => text.replacen("*** Begin Patch\n", "*** Begin Patch\n*** Environment ID: x\n", 1),
        5 => text.replace('\n', "\r\n"),
        // Its sections twice.
        6 | 7 => match (text.rfind("*** End Patch"), text.split_once('\n')) {
            (Some(end), Some((_, sections))) => text[..end].to_owned() + sections,
            _ => text.to_owned(),
        },
        _ => text.to_owned(),
    }
}

#[test]
fn random_and_damaged_texts_read_in_parts_are_what_they_are_in_one_piece() {
    let read = Read::default();
    let grammar = |start| Grammar::read(GRAMMAR, start).expect("it can be read");
    for language in [grammar("patch").language(), grammar("accepted").peg_language()] {
        each_text(
            &language,
            SAMPLES,
            &(select(options().to_vec()), 0..12_usize),
            |text, (options, how)| {
                read.check(&wrapped(text, how), &options);
            },
        );
    }
    let (patches, (grammar, walk)) = (read.patches.get(), read.refused.get());
    println!(
        "{patches} patches of several sections, {grammar} texts refused by the grammar and {walk} \
         after it"
    );
    assert!(patches > 50, "a lopsided sample");
    assert!(grammar > 500, "a lopsided sample");
    assert!(walk > 100, "a lopsided sample");
}

#[test]
fn the_scenarios_read_in_parts_are_what_they_are_in_one_piece() {
    let read = Read::default();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/scenarios");
    for entry in std::fs::read_dir(folder).expect("the scenarios are there") {
        let Ok(bytes) = std::fs::read(entry.expect("an entry").path().join("patch.txt")) else {
            continue;
        };
        let Ok(text) = decode(&bytes) else { continue };
        for options in options() {
            (0..=7).for_each(|how| read.check(&wrapped(text, how), &options));
            // With each line missing, and ending after it.
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            for cut in (0..lines.len()).step_by(every(6)) {
                read.check(&[&lines[..cut], &lines[cut + 1..]].concat().concat(), &options);
                read.check(&(lines[..cut].concat() + "*** End Patch"), &options);
            }
        }
    }
    let (patches, (grammar, walk)) = (read.patches.get(), read.refused.get());
    // What is only wrapped is tried whole in any run.
    let least = if whole() { (1000, 1000, 500) } else { (500, 500, 150) };
    assert!(patches > least.0, "{patches} {grammar} {walk}");
    assert!(grammar > least.1, "{patches} {grammar} {walk}");
    assert!(walk > least.2, "{patches} {grammar} {walk}");
}

/// A section may end before the next one only because of what follows it.
#[test]
fn sections_end_where_they_end_in_the_whole() {
    for body in [
        "*** Add File: a\n\n\n*** Add File: b\n",
        "*** Update File: a\n@@\n-x\n\n\n \n*** Delete File: b\n",
        "*** Update File: a\n\n\n*** Delete File: b\n\n",
        "*** Update File: a\n@@\n-x\n*** End of File\n\n \n  *** Delete File: b\n",
        "*** Move File: a -> b\n\n@@\n-x\n*** Update File: a\n*** Move to: c\n\n",
        "*** Environment ID: x\n\n*** Delete File: b\n",
        "*** Add File: a\n+x\n\\ No newline at end of file\n*** Delete File: b\n",
    ] {
        let read = Read::default();
        for options in options() {
            for end in [
                "*** End Patch",
                "*** End Patch\n\n \n",
                " *** End Patch\n",
                "*** End Patch\nx\n",
                "",
            ] {
                read.check(&format!("*** Begin Patch\n{body}{end}"), &options);
            }
        }
        assert!(read.patches.get() + read.refused.get().1 > 0, "{body}");
    }
    // As many as are read at once, and some more or less.
    for count in [1, 15, 16, 17, 32, 33, 50] {
        let sections: String =
            (0..count).map(|n| format!("*** Update File: f{n}\n@@\n-x\n\n")).collect();
        let text = format!("*** Begin Patch\n{sections}*** End Patch\n");
        let read = crate::parse(&text, &options()[0]).map(|patch| patch.sections().len());
        assert_eq!(read, Ok(count));
        for end in ["*** End Patch\n", "*** Add File: g\nx\n*** End Patch\n", ""] {
            Read::default().check(&format!("*** Begin Patch\n{sections}{end}"), &options()[0]);
        }
    }
    // A part that ends inside a longer one, as it does not in the whole.
    let whole = crate::parse(
        "*** Begin Patch\n*** Add File: a\n+*** Delete File: b\n*** End Patch\n",
        &options()[0],
    );
    let whole = whole.expect("it parses");
    assert!(
        matches!(whole.sections(), [one] if matches!(&one.operation, SectionOperation::Add(_)))
    );
}

#[test]
fn a_large_text_is_read_by_two_threads() {
    let options = &options()[0];
    let section = |n| format!("*** Update File: f{n}\n@@\n-x\n+y\n\n");
    let sections: String = (0..10_000).map(section).collect();
    let long = format!("*** Add File: a\n{}", "+*** Add File: x\n".repeat(20_000));
    for (sections, count) in [(&sections, 10_000), (&long, 1)] {
        let text = format!("*** Begin Patch\n{sections}*** End Patch\n");
        let peeled = wrapper::peel(&text, 0..text.len(), false).expect("a patch");
        assert!(peeled.body.len() > LARGE);
        let middle = middle_of(&text, peeled.body.clone());
        assert_eq!(middle.is_some(), count > 1);
        let parts = in_parts(&text, &peeled, options);
        assert_eq!(parts, in_one_piece(&text, &peeled, options).ok());
        assert_eq!(parts.map(|(sections, _)| sections.len()), Some(count));
    }
}
