//! Any diff: what is converted parses; and a diff made of two texts, converted and applied, gives the
//! second one or is refused, never a third.
#![no_main]

use apply_patch_fuzz::LINES;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::convert::from_diff;
use patch_engine::{FinalNewline, Options, Profile, edit, parse};

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    Diff(&'a str),
    Texts { before: Vec<u8>, after: Vec<u8>, ends: (bool, bool), context: u8, git: bool },
}

fn text(lines: &[u8], ends: bool) -> String {
    let lines: Vec<_> = lines.iter().take(40).map(|at| LINES[usize::from(*at) % LINES.len()]).collect();
    let text = lines.join("\n");
    if ends && !text.is_empty() { text + "\n" } else { text }
}

fuzz_target!(|input: Input<'_>| {
    let strict = Options::new(Profile::Strict);
    match input {
        Input::Diff(diff) => match from_diff(diff) {
            Ok(patch) => {
                parse(&patch, &strict.parse).unwrap_or_else(|error| panic!("{error}: {patch:?}"));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
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
            let Ok(patch) = from_diff(&diff) else { return };
            let patch = parse(&patch, &strict.parse).unwrap_or_else(|error| panic!("{error}: {patch:?}"));
            for mut options in [strict, Options::new(Profile::Codex)] {
                // As the program reads a diff: an insertion without context is at the top, not at the end.
                options.placement.append_without_anchor = false;
                if let Ok(edit) =
                    edit(before.as_bytes(), patch.sections[0].hunks(), &options.placement, FinalNewline::Keep)
                {
                    let found = edit.apply(before.as_bytes());
                    assert_eq!(String::from_utf8_lossy(&found), after, "{diff}");
                }
            }
        }
    }
});
