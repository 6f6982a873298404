//! What the reader of patches takes: all that belongs to a patch, or nothing.

use patch_engine::{Options, Profile};
use patch_session::input::{PatchText, ReadAs};
use proptest::prelude::*;
use testutils::fragments;
use testutils::share::{every, whole};

/// Reads a text made of parts by the rules of both profiles that read it so.
fn check(choices: &[u8]) -> Result<(), TestCaseError> {
    let made = fragments::text(choices);
    let read = |profile| {
        let options = Options::new(profile);
        let sent = made.text.as_str().into();
        let text = PatchText::read(&sent, &ReadAs::default(), &options.parse).ok()?;
        let patch = text.parse(&options).ok()?;
        Some((text, patch))
    };
    let (standard, codex) = (read(Profile::Standard), read(Profile::Codex));
    for (_, patch) in standard.iter().chain(&codex) {
        prop_assert!(!made.never, "{}", made.text);
        if made.ambiguous {
            continue;
        }
        let found = (patch.sections().len(), patch.hunk_count());
        prop_assert_eq!(found, (made.sections, made.hunks), "{}", made.text);
    }
    if let (Some((standard, _)), Some((codex, _))) = (standard, codex) {
        prop_assert_eq!(standard.text, codex.text);
        prop_assert_eq!(standard.notes, codex.notes);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]
    #[test]
    fn nothing_of_a_patch_is_dropped(choices in prop::collection::vec(0_u8..24, 0..7)) {
        check(&choices)?;
    }
}

#[test]
fn three_parts_in_every_order() {
    let mut taken = 0;
    for one in 0..24 {
        for other in 0..24 {
            for third in (0..24).step_by(every(5)) {
                let choices = [one, other, third];
                check(&choices).unwrap_or_else(|error| panic!("{choices:?}: {error}"));
                let options = Options::default();
                let sent = fragments::text(&choices).text.as_str().into();
                let read = PatchText::read(&sent, &ReadAs::default(), &options.parse);
                taken += usize::from(read.is_ok_and(|text| text.parse(&options).is_ok()));
            }
        }
    }
    assert!(taken > if whole() { 500 } else { 150 }, "only {taken} are taken");
}

/// Lines of a hunk below a second `*** Begin Patch` belong to no file, least of all to the one above.
#[test]
fn another_envelope_begins_with_a_file() {
    check(&[8, 10, 18, 13]).unwrap();
    let text = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch\n*** Begin Patch\n@@\n\
                -3\n+4\n*** Update File: d\n@@\n-1\n+2\n*** End Patch\n";
    let read = PatchText::read(&text.into(), &ReadAs::default(), &Options::default().parse);
    let error = read.expect_err("a part without a file").to_string();
    assert!(error.contains("part 2 begins with lines of a file"), "{error}");
}

/// The version below the signature of a mail is no path, and an empty fence below it no file.
#[test]
fn a_version_names_no_file() {
    check(&[20, 3, 3]).unwrap();
}
