//! Turns lines that a hunk removes and inserts again into context.
//!
//! Models often write an unchanged line as a removed and an inserted one. Before any search, the
//! lines that the two sides of a change share, by their smallest difference, become context. Then
//! no step sees a change there: the hunk is placed, recognised as applied, carried and corrected as
//! if it showed these lines as context, and the file keeps its bytes. Of several smallest
//! differences any one will do: the old and the new text of the hunk stay the same.
//!
//! Whether the diff of a hunk shows context at all (`edge` in [`needle`](super::needle)) is still
//! told by the hunk as it was written.

use std::borrow::Cow;
use std::collections::HashSet;

use patch_grammar::{Line, LineKind};

use super::hunk_lines::{of_kind, runs};
use super::kept::{COMPARED, stretches};

/// The text and the line end of a line. Two lines are the same if these are.
type Content<'p> = (&'p [u8], bool, bool);

fn content<'p>(line: &Line<'p>) -> Content<'p> {
    (line.text, line.crlf, line.no_newline)
}

/// Returns the lines of a hunk, with lines removed and inserted again as context. A hunk that
/// states its line ends stays as it is: a line inserted again may get another end.
pub(crate) fn as_context<'p>(lines: &'p [Line<'p>]) -> Cow<'p, [Line<'p>]> {
    if lines.iter().any(|line| line.crlf) || !runs(lines).any(repeats) {
        return Cow::Borrowed(lines);
    }
    let mut left = COMPARED;
    let mut all = Vec::with_capacity(lines.len());
    for run in runs(lines) {
        if repeats(run) {
            push_change(run, &mut left, &mut all);
        } else {
            all.extend_from_slice(run);
        }
    }
    Cow::Owned(all)
}

/// Returns whether one line of a change is removed and inserted.
fn repeats(run: &[Line<'_>]) -> bool {
    // Most changes are short, or only insert or remove.
    let removed = of_kind(run, LineKind::Delete).count();
    let inserted = of_kind(run, LineKind::Insert).count();
    if removed == 0 || inserted == 0 {
        return false;
    }
    if removed.min(inserted) <= 4 {
        return of_kind(run, LineKind::Delete)
            .any(|line| of_kind(run, LineKind::Insert).any(|new| content(new) == content(line)));
    }
    let removed: HashSet<Content<'_>> = of_kind(run, LineKind::Delete).map(content).collect();
    of_kind(run, LineKind::Insert).any(|line| removed.contains(&content(line)))
}

/// Adds the lines of a change, the shared ones as context.
fn push_change<'p>(run: &[Line<'p>], left: &mut usize, all: &mut Vec<Line<'p>>) {
    let removed: Vec<Line<'_>> = of_kind(run, LineKind::Delete).copied().collect();
    let inserted: Vec<Line<'_>> = of_kind(run, LineKind::Insert).copied().collect();
    let removed_contents: Vec<Content<'_>> = removed.iter().map(content).collect();
    let inserted_contents: Vec<Content<'_>> = inserted.iter().map(content).collect();
    let mut old = 0;
    let mut new = 0;
    for same in stretches(&removed_contents, &inserted_contents, left) {
        all.extend_from_slice(&removed[old..same.old]);
        all.extend_from_slice(&inserted[new..same.new]);
        old = same.old + same.len;
        new = same.new + same.len;
        let kept = removed[same.old..old].iter();
        all.extend(kept.map(|line| Line { kind: LineKind::Context, ..*line }));
    }
}
