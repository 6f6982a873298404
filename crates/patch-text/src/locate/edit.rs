//! Edits one file in memory: hunks in, replaced byte ranges out.
//!
//! Bytes outside the changes are never copied or rewritten. An inserted line ends as the patch
//! states; if the patch states nothing, like the replaced line, or else like its neighbour.

use patch_grammar::{Hunk, LineKind};

use super::draft::Change;
use super::edit_rules::{EditRules, FinalNewline};
use super::hunk_lines::of_kind;
use crate::locate::{
    self, Draft, HunkReject, Inserted, Located, Note, Pass, Placed, RejectReason, Rules,
};
use crate::text::lines::{BOM, Lines};
use crate::text::splices::{Splice, Splices};
use crate::text::whitespace::{WhitespaceRule, is_blank_line};

/// The changes of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// The replaced ranges, in file order.
    pub splices: Splices,
    /// For each splice, the hunks behind it, ascending: several if the changes of hunks touch.
    pub sources: Vec<Vec<usize>>,
    /// Where each hunk went.
    pub placed: Vec<Placed>,
    /// The 1-based lines of the patch that insert forbidden blank lines at the end of the file, by
    /// a rule about whitespace. They are left out where whitespace is fixed.
    pub blank_at_eof: Vec<u32>,
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
    edit_by(source, hunks, EditRules { placement, final_newline, whitespace: None, cancel: &() })
}

/// Does the same by all rules.
pub(crate) fn edit_by(
    source: &[u8],
    hunks: &[Hunk<'_>],
    rules: EditRules<'_>,
) -> Result<Edit, Vec<HunkReject>> {
    let mut done: Vec<Placed> = Vec::new();
    loop {
        let rejects = match edit_once(source, hunks, &done, rules) {
            Err(rejects) if rules.placement.skip_applied => rejects,
            edited => return edited,
        };
        // The hunks that are applied already are left out, but still help to place the others.
        let more = rejects.iter().filter_map(left_out);
        let known = done.len();
        done.extend(more);
        if done.len() == known {
            return Err(rejects);
        }
    }
}

/// The place of a hunk that was rejected because it is applied already.
fn left_out(reject: &HunkReject) -> Option<Placed> {
    match &reject.reason {
        RejectReason::AlreadyApplied { lines } => Some(Placed {
            hunk: reject.hunk,
            first_line: *lines.start(),
            line_count: lines.clone().count(),
            pass: Pass::Exact,
            notes: vec![Note::AlreadyApplied],
        }),
        _ => None,
    }
}

/// Does the same without the hunks that are `done`.
fn edit_once(
    source: &[u8],
    hunks: &[Hunk<'_>],
    done: &[Placed],
    rules: EditRules<'_>,
) -> Result<Edit, Vec<HunkReject>> {
    let lines = lines_of(source, hunks).cancelled_by(rules.cancel);
    let mut located = locate::locate(&lines, hunks, done, rules.placement)?;
    let writer = SpliceWriter { hunks, rules, located: &located, draft: &located.draft };
    let edit = writer.edit()?;
    located.placed.extend_from_slice(done);
    located.placed.sort_by_key(|placed| placed.hunk);
    Ok(Edit { placed: located.placed, ..edit })
}

/// Returns the lines of a file. In a file with nothing but a byte-order mark, the mark is a line if
/// a hunk shows it as one.
fn lines_of<'f>(source: &'f [u8], hunks: &[Hunk<'_>]) -> Lines<'f> {
    let mut old = hunks.iter().flat_map(Hunk::old_lines);
    if source == BOM && old.any(|line| line.text == BOM) {
        Lines::with_mark_as_text(source)
    } else {
        Lines::new(source)
    }
}

/// Returns rejects for the hunks that insert text beyond ASCII, since the file's encoding may lack
/// it.
pub(crate) fn not_storable(hunks: &[Hunk<'_>]) -> Vec<HunkReject> {
    hunks
        .iter()
        .enumerate()
        .filter(|(_, hunk)| {
            of_kind(&hunk.lines, LineKind::Insert).any(|line| !line.text.is_ascii())
        })
        .map(|(hunk, of)| HunkReject { hunk, patch_line: of.line, reason: RejectReason::Encoding })
        .collect()
}

/// Turns a draft into replaced byte ranges.
struct SpliceWriter<'a, 'f, 'p> {
    hunks: &'p [Hunk<'p>],
    rules: EditRules<'a>,
    located: &'a Located<'f, 'p>,
    draft: &'a Draft<'f, 'p>,
}

impl SpliceWriter<'_, '_, '_> {
    /// Returns the changes, without the places of the hunks.
    fn edit(&self) -> Result<Edit, Vec<HunkReject>> {
        let lines = self.draft.lines;
        // Most hunks change one place, but a list grows to four entries at once.
        let mut splices = Splices::with_capacity(self.hunks.len());
        let mut sources = Vec::new();
        let mut rejects = Vec::new();
        for hunk in 0..self.hunks.len() {
            let marked = self.hunks[hunk].old_lines().any(|line| line.no_newline);
            if marked && lines.ends_in_newline() {
                rejects.push(self.reject(hunk, RejectReason::FinalNewline));
            }
        }
        let mut changes = self.draft.changes();
        let blank_at_eof = self.blank_at_eof(&mut changes);
        for (before, inserted, after) in changes {
            if lines.is_cancelled() {
                return Err(Vec::new());
            }
            let start = match before {
                Some(line) => lines.range(line).end,
                None if self.draft.takes_bom => 0,
                None => lines.start(0),
            };
            let end = match after {
                _ if after == lines.len() => lines.bytes().len(),
                0 if self.draft.takes_bom => 0,
                _ => lines.start(after),
            };
            // Each line with its terminator, and perhaps one before.
            let new = inserted.iter().filter_map(|&node| self.draft.inserted(node));
            let mut text =
                Vec::with_capacity(new.map(|line| line.text.len() + 2).sum::<usize>() + 2);
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
            return Ok(Edit { splices, sources, blank_at_eof, placed: Vec::new() });
        }
        rejects.sort_by_key(|reject| reject.hunk);
        rejects.dedup_by_key(|reject| reject.hunk);
        Err(rejects)
    }

    /// Returns the lines of the patch that insert blank lines at the end of the file, if they are
    /// errors. Where errors are fixed, the blank lines are removed from the changes.
    fn blank_at_eof(&self, changes: &mut [Change]) -> Vec<u32> {
        let whitespace = self.rules.whitespace;
        let Some(whitespace) = whitespace.filter(|of| of.rules.has(WhitespaceRule::BlankAtEof))
        else {
            return Vec::new();
        };
        let lines = self.draft.lines;
        let Some((_, inserted, after)) = changes.last_mut() else { return Vec::new() };
        if !(*after..lines.len()).all(|line| is_blank_line(lines.content(line))) {
            return Vec::new();
        }
        // The hunk has to show that these lines are the last.
        let blank = inserted.iter().rev().map_while(|&node| {
            let line = self.draft.inserted(node)?;
            (is_blank_line(&line.text) && self.reaches_end(line.hunk)).then_some(line.patch_line)
        });
        let mut found: Vec<u32> = blank.collect();
        found.reverse();
        if whitespace.fix {
            inserted.truncate(inserted.len() - found.len());
        }
        found
    }

    /// Returns whether the place of a hunk reaches the end of the file.
    fn reaches_end(&self, hunk: usize) -> bool {
        let placed = self.located.placed.iter().find(|placed| placed.hunk == hunk);
        placed.is_some_and(|placed| {
            placed.first_line - 1 + placed.line_count >= self.draft.lines.len()
        })
    }

    /// Returns whether a new last line has a line feed.
    fn ends_in_newline(&self, line: &Inserted<'_>) -> bool {
        let hunk = &self.hunks[line.hunk];
        !line.no_newline
            && (line.terminator == Some(b"\r\n")
                || hunk.endings.is_of_diff()
                || hunk.old_lines().any(|old| old.no_newline)
                || self.rules.final_newline == FinalNewline::Add
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
