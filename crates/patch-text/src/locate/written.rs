//! What a hunk that needed fuzz may write.
//!
//! The file's bytes win wherever the patch did not mean to change them: context stays as it is, new
//! lines are indented by what the matched lines tell ([`Levels`]), and replaced lines keep what the
//! hunk does not change of them ([`Replaced`]).

use std::borrow::Cow;
use std::collections::BTreeSet;

use patch_grammar::LineKind;

use super::draft::{Draft, Node};
use super::indent::Levels;
use super::kept::Replaced;
use super::needle::Needle;
use super::pass::{Pass, parts, trim};
use super::placed::{Note, Reindented};
use super::reject::RejectReason;

/// The lines that a hunk inserts.
#[derive(Debug, Default)]
pub(crate) struct Written<'p> {
    /// Their texts; none if they are those of the patch.
    pub(crate) lines: Vec<Cow<'p, [u8]>>,
    /// What a reader should know about them.
    pub(crate) notes: Vec<Note>,
}

impl<'p> Needle<'p> {
    /// Returns the lines that the hunk inserts where `pass` matched its old lines, without
    /// `dropped` separators, with those of the draft.
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

    /// The same where the old lines are taken for those of the draft, whatever they have in common.
    pub(crate) fn indented(
        &self,
        matched: &[Node],
        dropped: usize,
        draft: &Draft<'_, '_>,
    ) -> Result<Written<'p>, RejectReason> {
        let refused = |patch_line, contradicts| RejectReason::Indentation {
            lines: draft.line_number(matched[0])..=draft.line_number(matched[matched.len() - 1]),
            patch_line,
            contradicts,
        };
        let hunk = self.lines(dropped);
        let inserted = || hunk.iter().filter(|line| line.kind == LineKind::Insert);
        let is_blank = |text: &[u8]| trim(text).is_empty();
        let wanted: BTreeSet<&[u8]> = inserted()
            .filter(|line| !is_blank(line.text))
            .map(|line| parts(line.text).indentation)
            .collect();
        let old = hunk.iter().filter(|line| line.kind != LineKind::Insert);
        let mut levels = Levels::default();
        for ((line, text), &node) in old.zip(self.old_without(dropped)).zip(matched) {
            let (patch, file) = (parts(text), parts(draft.text(node)));
            if !patch.text.is_empty()
                && !levels.learn(patch.indentation, file.indentation, line.kind == LineKind::Delete)
                && !wanted.is_empty()
            {
                return Err(refused(line.line, true));
            }
        }
        let found = levels.find(&wanted).map_err(|unknown| {
            let line = inserted()
                .find(|line| parts(line.text).indentation == unknown && !is_blank(line.text));
            refused(line.expect("a line has it").line, false)
        })?;
        let mut texts = Vec::new();
        let mut kept = false;
        let mut matched = self.old_without(dropped).iter().zip(matched);
        for run in hunk.chunk_by(|left, right| {
            (left.kind == LineKind::Context) == (right.kind == LineKind::Context)
        }) {
            let of = |kind| run.iter().filter(move |line| line.kind == kind);
            let mut replaced = Replaced::default();
            for (patch, &node) in matched.by_ref().take(run.len() - of(LineKind::Insert).count()) {
                replaced.push(patch, draft.text(node));
            }
            let lines: Vec<&[u8]> = of(LineKind::Insert).map(|line| line.text).collect();
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
        let blanks = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
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
