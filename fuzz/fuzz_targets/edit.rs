//! A file and hunks for it: placement never panics, changes only what the hunks say, and places
//! small cases where trying every placement does.
#![no_main]

use libfuzzer_sys::fuzz_target;
use patch_engine::{FinalNewline, Options, Profile, edit, parse};
use patch_grammar::{Hunk, LineKind, ParseOptions};

#[path = "../../crates/patch-engine/tests/engine/placement/naive.rs"]
mod naive;

/// Cases with more lines take the naive matcher too long.
const LINES: usize = 40;
const HUNKS: usize = 4;

fuzz_target!(|input: (&[u8], &str)| {
    let (file, body) = input;
    let text = format!("*** Begin Patch\n*** Update File: f\n@@\n{body}\n*** End Patch\n");
    for profile in [Profile::Strict, Profile::Codex] {
        let options = Options::new(profile);
        let Ok(patch) = parse(&text, &options.parse) else { continue };
        let hunks = patch.sections()[0].hunks();
        match edit(file, hunks, &options.placement, options.final_newline) {
            Ok(edit) => {
                let mut end = 0;
                for splice in edit.splices.as_slice() {
                    assert!(end <= splice.start);
                    assert!(splice.start <= splice.end);
                    assert!(splice.end <= file.len());
                    end = splice.end;
                }
                assert_eq!(edit.placed.len(), hunks.len());
                let result = edit.apply(file);
                let count = |kind: LineKind| {
                    hunks
                        .iter()
                        .flat_map(|hunk| &hunk.lines)
                        .filter(|line| line.kind == kind)
                        .count()
                };
                let lines = |bytes: &[u8]| bytes.split_inclusive(|&byte| byte == b'\n').count();
                let (inserted, deleted) = (count(LineKind::Insert), count(LineKind::Delete));
                // A deleted byte-order mark, or a missing last line feed, may hide one line.
                let difference = (lines(file) + inserted).abs_diff(lines(&result) + deleted);
                assert!(difference <= 1, "{difference} lines too many or too few");
            }
            Err(rejects) => assert!(!rejects.is_empty()),
        }
    }
    like_the_naive_matcher(file, &text, body);
});

/// Compares with the naive matcher what it knows: lines of printable ASCII that end in line feeds,
/// and hunks without headers.
fn like_the_naive_matcher(file: &[u8], text: &str, body: &str) {
    let plain =
        |text: &[u8]| text.iter().all(|&byte| byte == b'\n' || (b' '..=b'~').contains(&byte));
    let ends = file.is_empty() || file.ends_with(b"\n");
    // It does not know of lines without a line feed, which `\` marks.
    let is_other = |line: &str| line.is_empty() || line.starts_with('\\');
    if !plain(file) || !plain(body.as_bytes()) || !ends || body.split('\n').any(is_other) {
        return;
    }
    let lines: Vec<String> = String::from_utf8_lossy(file).lines().map(str::to_owned).collect();
    let Ok(patch) = parse(text, &ParseOptions::default()) else { return };
    let [section] = &patch.sections() else { return };
    let hunks = section.hunks();
    if lines.len() > LINES
        || hunks.len() > HUNKS
        || hunks.iter().any(|hunk| !hunk.headers.is_empty())
    {
        return;
    }
    let only_inserts = |hunk: &Hunk<'_>| hunk.old_lines().next().is_none();
    let Some(meant) = naive::meant(hunks) else { return };
    let strict = naive::naive_post_state(&lines, &meant);
    compare(file, hunks, Profile::Strict, strict, str::to_owned);
    // A hunk that only inserts has rules of its own there. With blanks overlooked, inserted lines
    // may be indented anew.
    if !hunks.iter().any(only_inserts) {
        compare(file, hunks, Profile::Codex, naive::naive_ordered(&lines, &meant), |line| {
            line.trim().to_owned()
        });
    }
}

fn compare(
    file: &[u8],
    hunks: &[Hunk<'_>],
    profile: Profile,
    wanted: Option<Vec<String>>,
    what_counts: impl Fn(&str) -> String,
) {
    let found = edit(file, hunks, &Options::new(profile).placement, FinalNewline::Keep);
    let found = found.ok().map(|edit| {
        let text = String::from_utf8(edit.apply(file)).expect("ASCII in, ASCII out");
        text.lines().map(&what_counts).collect::<Vec<_>>()
    });
    let wanted = wanted.map(|lines| lines.iter().map(|line| what_counts(line)).collect::<Vec<_>>());
    assert_eq!(found, wanted, "{profile}: {:?}", String::from_utf8_lossy(file));
}
