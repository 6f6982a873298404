//! The lines that a hunk writes after a match with fuzz.
//!
//! The file's bytes win wherever the patch did not mean to change them: context stays as it is, new
//! lines are indented like the matched ones ([`Levels`]), and replaced lines keep their unchanged
//! parts ([`Replaced`]).

use std::borrow::Cow;
use std::collections::BTreeSet;

use patch_grammar::LineKind;

use super::draft::{Draft, Node};
use super::hunk_lines::{of_kind, runs};
use super::indent::Levels;
use super::kept::Replaced;
use super::needle::Needle;
use super::pass::{Pass, parts, trim};
use super::placed::{Note, Reindented};
use super::reject::RejectReason;

/// The lines that a hunk inserts.
#[derive(Debug, Default)]
pub(crate) struct Written<'p> {
    /// Their texts; empty if the patch has these very texts.
    pub(crate) lines: Vec<Cow<'p, [u8]>>,
    /// Notes about them for the reader.
    pub(crate) notes: Vec<Note>,
}

impl<'p> Needle<'p> {
    /// Returns the lines that the hunk inserts where `pass` matched its old lines in the draft,
    /// without `dropped` separators.
    ///
    /// # Errors
    ///
    /// The matched lines do not tell how to indent them.
    pub(crate) fn written(
        &self,
        matched: &[Node],
        dropped: usize,
        pass: Pass,
        draft: &Draft<'_, '_>,
    ) -> Result<Written<'p>, RejectReason> {
        if pass == Pass::Exact {
            return Ok(Written::default());
        }
        let mut written = self.indented(matched, dropped, draft)?;
        written.notes.insert(0, Note::Fuzz(pass));
        Ok(written)
    }

    /// The same with any lines of the draft in place of the old lines, however similar.
    pub(crate) fn indented(
        &self,
        matched: &[Node],
        dropped: usize,
        draft: &Draft<'_, '_>,
    ) -> Result<Written<'p>, RejectReason> {
        let hunk = self.lines(dropped);
        let wanted: BTreeSet<&[u8]> = of_kind(hunk, LineKind::Insert)
            .filter(|line| !is_blank(line.text))
            .map(|line| parts(line.text).indentation)
            .collect();
        let old = hunk.iter().filter(|line| line.kind != LineKind::Insert);
        let mut levels = Levels::default();
        for ((line, text), &node) in old.zip(self.old_without(dropped)).zip(matched) {
            let patch = parts(text);
            let file = parts(draft.text(node));
            if !patch.text.is_empty()
                && !levels.learn(patch.indentation, file.indentation, line.kind == LineKind::Delete)
                && !wanted.is_empty()
            {
                return Err(refused(draft, matched, line.line, true));
            }
        }
        let found = levels.find(&wanted).map_err(|unknown| {
            let line = of_kind(hunk, LineKind::Insert)
                .find(|line| parts(line.text).indentation == unknown && !is_blank(line.text));
            refused(draft, matched, line.expect("a line has it").line, false)
        })?;
        let mut texts = Vec::new();
        let mut kept = false;
        let mut matched = self.old_without(dropped).iter().zip(matched);
        for run in runs(hunk) {
            let lines: Vec<&[u8]> = of_kind(run, LineKind::Insert).map(|line| line.text).collect();
            let mut replaced = Replaced::default();
            for (patch, &node) in matched.by_ref().take(run.len() - lines.len()) {
                replaced.push(patch, draft.text(node));
            }
            let rewritten = replaced.rewrite(&lines);
            for (nth, line) in lines.into_iter().enumerate() {
                let patch = parts(line);
                let text = rewritten.as_ref().map(|lines| &lines[nth][..]);
                let same = &line[patch.indentation.len()..];
                kept |= text.is_some_and(|text| text != same);
                texts.push(match (found.get(patch.indentation), text) {
                    _ if is_blank(line) => Cow::Borrowed(line),
                    (Some(file), text) if file != patch.indentation || text.is_some() => {
                        Cow::Owned([file, text.unwrap_or(same)].concat())
                    }
                    _ => Cow::Borrowed(line),
                });
            }
        }
        let reindented: Vec<Reindented> = found
            .iter()
            .filter(|(patch, file)| patch != file)
            .map(|(patch, file)| Reindented { patch: blanks(patch), file: blanks(file) })
            .collect();
        let indented = (!reindented.is_empty()).then_some(Note::Reindented(reindented));
        let kept = kept.then_some(Note::KeptCharacters);
        Ok(Written { lines: texts, notes: indented.into_iter().chain(kept).collect() })
    }
}

/// Returns the reason for a hunk whose matched lines do not tell how a line of the patch is
/// indented.
fn refused(
    draft: &Draft<'_, '_>,
    matched: &[Node],
    patch_line: u32,
    contradicts: bool,
) -> RejectReason {
    let first = draft.line_number(matched[0]);
    let last = draft.line_number(matched[matched.len() - 1]);
    RejectReason::Indentation { lines: first..=last, patch_line, contradicts }
}

fn is_blank(text: &[u8]) -> bool {
    trim(text).is_empty()
}

fn blanks(indentation: &[u8]) -> String {
    String::from_utf8_lossy(indentation).into_owned()
}
