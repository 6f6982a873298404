//! Any diff: what is read of it points into it, and its envelope parses; and a diff made of two
//! texts, applied as it is and as an envelope, gives the second one or is refused, never a third.
#![no_main]

use apply_patch_fuzz::LINES;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::{FinalNewline, Options, Profile, edit, parse};
use patch_grammar::diff::{self, DiffOptions};
use patch_grammar::envelope;

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    Diff(&'a [u8]),
    Texts { before: Vec<u8>, after: Vec<u8>, ends: (bool, bool), context: u8, git: bool },
}

fn text(lines: &[u8], ends: bool) -> String {
    let lines: Vec<_> =
        lines.iter().take(40).map(|at| LINES[usize::from(*at) % LINES.len()]).collect();
    let text = lines.join("\n");
    if ends && !text.is_empty() { text + "\n" } else { text }
}

fuzz_target!(|input: Input<'_>| {
    let strict = Options::new(Profile::Strict);
    match input {
        Input::Diff(diff) => match diff::parse(diff, &DiffOptions::default()) {
            Ok(patch) => {
                let end = patch.text().whole().len();
                assert!(patch.sections().iter().all(|section| section.span.end <= end));
                if let Ok(text) = envelope::write(&patch) {
                    parse(&text, &strict.parse).unwrap_or_else(|error| panic!("{error}: {text:?}"));
                }
            }
            Err(error) => {
                assert!(error.span.end <= diff.len());
                assert!(!error.expected.is_empty());
            }
        },
        Input::Texts { before, after, ends, context, git } => {
            let (before, after) = (text(&before, ends.0), text(&after, ends.1));
            if before == after || before.is_empty() || after.is_empty() {
                return;
            }
            let diff = diffy::DiffOptions::new()
                .set_context_len(usize::from(context % 5))
                .create_patch(&before, &after)
                .to_string();
            let diff = diff.replacen("--- original\n+++ modified\n", "--- a/f\n+++ b/f\n", 1);
            let diff = if git { format!("diff --git a/f b/f\n{diff}") } else { diff };
            let read = diff::parse(diff.as_bytes(), &DiffOptions::default())
                .expect("another program made it");
            let text = envelope::write(&read).ok();
            let written =
                text.as_deref().map(|text| parse(text, &strict.parse).expect("an envelope"));
            for mut options in [strict, Options::new(Profile::Codex)] {
                // As the program reads a diff: where an insertion without context goes is not
                // known.
                options.placement.append_without_anchor = false;
                for patch in [Some(read.clone()), written.clone()].into_iter().flatten() {
                    let hunks = patch.sections()[0].hunks();
                    if let Ok(edit) =
                        edit(before.as_bytes(), hunks, &options.placement, FinalNewline::Keep)
                    {
                        let found = edit.apply(before.as_bytes());
                        assert_eq!(String::from_utf8_lossy(&found), after, "{diff}");
                    }
                }
            }
        }
    }
});
