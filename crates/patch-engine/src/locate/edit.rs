//! Edits one file in memory: hunks in, replaced byte ranges out.
//!
//! Bytes that no hunk touches are never copied or rewritten. An inserted line ends as the patch
//! states; if it states nothing, like the line that it replaces, or else like its neighbour.

use patch_grammar::Hunk;

use super::applied;
use crate::locate::{self, Draft, HunkReject, Inserted, Note, Pass, Placed, RejectReason, Rules};
use crate::plan::options::FinalNewline;
use crate::text::encoding::FileText;
use crate::text::lines::Lines;
use crate::text::splices::{Splice, Splices};

/// The changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The replaced ranges, in file order.
    pub splices: Splices,
    /// For each splice, the hunks that it comes from, ascending. There are several if the changes
    /// of hunks touch.
    pub sources: Vec<Vec<usize>>,
    /// Where each hunk went.
    pub placed: Vec<Placed>,
}

impl Edit {
    /// Returns the whole file after the changes.
    #[must_use]
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        self.splices.apply(source)
    }
}

/// Places the hunks of one update in a file and returns the changes.
///
/// `source` must be shorter than 4 GiB. No file is touched.
///
/// # Errors
///
/// All hunks that cannot be placed, each with its reason.
pub fn edit<'p>(
    source: &[u8],
    hunks: &'p [Hunk<'p>],
    placement: &Rules,
    final_newline: FinalNewline,
) -> Result<Edit, Vec<HunkReject>> {
    edit_once(source, hunks, placement, final_newline).or_else(|rejects| {
        if placement.skip_applied {
            edit_others(source, hunks, placement, final_newline, rejects)
        } else {
            Err(rejects)
        }
    })
}

/// Does the same without the hunks that were rejected because they are applied already.
fn edit_others(
    source: &[u8],
    hunks: &[Hunk<'_>],
    placement: &Rules,
    final_newline: FinalNewline,
    rejects: Vec<HunkReject>,
) -> Result<Edit, Vec<HunkReject>> {
    let left_out = |reject: &HunkReject| match &reject.reason {
        RejectReason::AlreadyApplied { lines } => Some(Placed {
            hunk: reject.hunk,
            first_line: *lines.start(),
            line_count: lines.clone().count(),
            pass: Pass::Exact,
            notes: vec![Note::AlreadyApplied],
        }),
        _ => None,
    };
    let done: Vec<Placed> = rejects.iter().filter_map(left_out).collect();
    if done.is_empty() {
        return Err(rejects);
    }
    // The hunks keep their numbers.
    let kept: Vec<usize> =
        (0..hunks.len()).filter(|hunk| done.iter().all(|placed| placed.hunk != *hunk)).collect();
    let others: Vec<Hunk<'_>> = kept.iter().map(|&hunk| hunks[hunk].clone()).collect();
    let edited = edit(source, &others, placement, final_newline).map_err(|rejects| {
        let numbered = |reject: HunkReject| HunkReject { hunk: kept[reject.hunk], ..reject };
        rejects.into_iter().map(numbered).collect::<Vec<_>>()
    })?;
    let sources = edited.sources.into_iter();
    let sources = sources.map(|of| of.into_iter().map(|hunk| kept[hunk]).collect()).collect();
    let placed = edited.placed.into_iter();
    let mut placed: Vec<Placed> =
        placed.map(|placed| Placed { hunk: kept[placed.hunk], ..placed }).chain(done).collect();
    placed.sort_by_key(|placed| placed.hunk);
    Ok(Edit { splices: edited.splices, sources, placed })
}

fn edit_once<'p>(
    source: &[u8],
    hunks: &'p [Hunk<'p>],
    placement: &Rules,
    final_newline: FinalNewline,
) -> Result<Edit, Vec<HunkReject>> {
    let lines = Lines::new(source);
    let located = locate::locate(&lines, hunks, placement)?;
    let again: Vec<HunkReject> = located
        .placed
        .iter()
        .filter_map(|placed| {
            let hunk = &hunks[placed.hunk];
            let lines = applied::again(&lines, hunk, placed)?;
            let reason = RejectReason::AlreadyApplied { lines };
            Some(HunkReject { hunk: placed.hunk, patch_line: hunk.line, reason })
        })
        .collect();
    if !again.is_empty() {
        return Err(again);
    }
    let writer = SpliceWriter { hunks, final_newline, draft: &located.draft };
    let (splices, sources) = writer.splices()?;
    Ok(Edit { splices, sources, placed: located.placed })
}

/// Returns rejects for the hunks that insert text beyond ASCII, which the file's encoding may not
/// have.
fn not_storable(hunks: &[Hunk<'_>]) -> Vec<HunkReject> {
    let inserts = |hunk: &Hunk<'_>| {
        hunk.new_lines()
            .any(|line| line.kind == patch_grammar::LineKind::Insert && !line.text.is_ascii())
    };
    let rejected = hunks.iter().enumerate().filter(|(_, hunk)| inserts(hunk));
    rejected
        .map(|(hunk, of)| HunkReject { hunk, patch_line: of.line, reason: RejectReason::Encoding })
        .collect()
}

/// Places the hunks of one update in the text of a file, and returns the changes of its bytes.
pub(crate) fn edit_text<'p>(
    text: &FileText<'_>,
    hunks: &'p [Hunk<'p>],
    placement: &Rules,
    final_newline: FinalNewline,
) -> Result<Edit, Vec<HunkReject>> {
    let Edit { splices, sources, placed } = edit(text.bytes(), hunks, placement, final_newline)?;
    if let Some(splices) = text.stored(splices) {
        return Ok(Edit { splices, sources, placed });
    }
    let rejects = not_storable(hunks);
    // Otherwise the splice would remove the byte-order mark.
    let first =
        || vec![HunkReject { hunk: 0, patch_line: hunks[0].line, reason: RejectReason::Encoding }];
    Err(if rejects.is_empty() { first() } else { rejects })
}

/// Turns a draft into replaced byte ranges.
struct SpliceWriter<'a, 'f, 'p> {
    hunks: &'p [Hunk<'p>],
    final_newline: FinalNewline,
    draft: &'a Draft<'f, 'p>,
}

impl SpliceWriter<'_, '_, '_> {
    fn splices(&self) -> Result<(Splices, Vec<Vec<usize>>), Vec<HunkReject>> {
        let lines = self.draft.lines;
        // Most hunks change one place, but a list grows to four entries at once.
        let (mut splices, mut sources) = (Splices::with_capacity(self.hunks.len()), Vec::new());
        let mut rejects = Vec::new();
        for hunk in 0..self.hunks.len() {
            let marked = self.hunks[hunk].old_lines().any(|line| line.no_newline);
            if marked && lines.ends_in_newline() {
                rejects.push(self.reject(hunk, RejectReason::FinalNewline));
            }
        }
        for (before, inserted, after) in self.draft.changes() {
            let start = match before {
                Some(line) => lines.range(line).end,
                None if self.draft.drops_bom => 0,
                None => lines.start(0),
            };
            let end = if after == lines.len() { lines.bytes().len() } else { lines.start(after) };
            let mut text = Vec::new();
            if let Some(line) = before
                && lines.terminator(line).is_empty()
                && !inserted.is_empty()
            {
                text.extend_from_slice(self.draft.terminator_near(Some(line)));
            }
            for (nth, &node) in inserted.iter().enumerate() {
                let line = self.draft.inserted(node).expect("an inserted line");
                let last = nth + 1 == inserted.len() && after == lines.len();
                text.extend_from_slice(&line.text);
                if line.no_newline && !last {
                    rejects.push(self.reject(line.hunk, RejectReason::FinalNewline));
                }
                if !last || self.ends_in_newline(line) {
                    text.extend_from_slice(self.draft.terminator(node));
                }
            }
            if lines.bytes()[start..end] != text {
                splices.push(start..end, text);
                sources.push(self.draft.hunks_of(before, &inserted, after));
            }
        }
        rejects.extend(self.badly_encoded(splices.as_slice()));
        if rejects.is_empty() {
            return Ok((splices, sources));
        }
        rejects.sort_by_key(|reject| reject.hunk);
        rejects.dedup_by_key(|reject| reject.hunk);
        Err(rejects)
    }

    /// Returns whether a new last line has a line feed.
    fn ends_in_newline(&self, line: &Inserted<'_>) -> bool {
        let hunk = &self.hunks[line.hunk];
        let stated = || line.terminator == Some(b"\r\n") || hunk.endings.is_of_diff();
        let was_marked = || hunk.old_lines().any(|line| line.no_newline);
        !line.no_newline
            && (stated()
                || was_marked()
                || self.final_newline == FinalNewline::Add
                || self.draft.lines.ends_in_newline())
    }

    /// Returns rejects for hunks that insert text beyond ASCII into a file that is not UTF-8.
    fn badly_encoded(&self, splices: &[Splice]) -> Vec<HunkReject> {
        // A diff has bytes, not text. They are taken to be in the encoding of the file.
        if self.hunks.iter().any(|hunk| hunk.endings.is_of_diff()) {
            return Vec::new();
        }
        if splices.iter().all(|splice| splice.text.is_ascii())
            || std::str::from_utf8(self.draft.lines.bytes()).is_ok()
        {
            return Vec::new();
        }
        not_storable(self.hunks)
    }

    fn reject(&self, hunk: usize, reason: RejectReason) -> HunkReject {
        HunkReject { hunk, patch_line: self.hunks[hunk].line, reason }
    }
}
