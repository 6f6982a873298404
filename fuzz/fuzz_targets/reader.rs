//! Texts with parts of patches in any order: what is read has all of them, or is refused, and the
//! same by the rules of both profiles. Any other text: read without a panic.
#![no_main]

use file_tools::input::{PatchText, ReadAs};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::{Options, Patch, Profile};
use testutils::fragments::{self, Fragments};

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    Text(&'a str),
    Parts(&'a [u8]),
}

fn read(text: &str, profile: Profile) -> Option<(PatchText, Patch)> {
    let options = Options::new(profile);
    let read = PatchText::read(&text.into(), &ReadAs::default(), &options.parse).ok()?;
    let patch = read.parse(&options).ok()?;
    Some((read, patch))
}

fuzz_target!(|input: Input<'_>| {
    let (text, made) = match input {
        Input::Text(text) => (text.to_owned(), None),
        Input::Parts(choices) => {
            let made = fragments::text(&choices[..choices.len().min(40)]);
            (made.text.clone(), Some(made))
        }
    };
    let (strict, codex) = (read(&text, Profile::Strict), read(&text, Profile::Codex));
    for (_, patch) in strict.iter().chain(&codex) {
        if let Some(Fragments { sections, hunks, never, ambiguous: false, .. }) = made {
            assert!(!never, "{text}");
            assert_eq!((patch.sections().len(), patch.hunk_count()), (sections, hunks), "{text}");
        }
    }
    if let (Some((strict, _)), Some((codex, _))) = (strict, codex) {
        assert_eq!((strict.text, strict.notes), (codex.text, codex.notes), "{text}");
    }
});
