//! Texts with parts of patches in any order: what is read has all of them, or is refused, and the
//! same by the rules of `standard` and `codex`. Any other text: read without a panic.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::{Options, Patch, Profile};
use patch_session::input::{PatchText, ReadAs};
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
    let (standard, codex) = (read(&text, Profile::Standard), read(&text, Profile::Codex));
    for (_, patch) in standard.iter().chain(&codex) {
        if let Some(Fragments { sections, hunks, never, ambiguous: false, .. }) = made {
            assert!(!never, "{text}");
            assert_eq!((patch.sections().len(), patch.hunk_count()), (sections, hunks), "{text}");
        }
    }
    if let (Some((standard, _)), Some((codex, _))) = (standard, codex) {
        assert_eq!((standard.text, standard.notes), (codex.text, codex.notes), "{text}");
    }
});
