//! Bytes without an alternative.

use crate::bound::Bound;
use crate::log::Log;
use crate::state::{MatcherState, Place};
use crate::step::may_name;
use crate::text::FileText;

impl Bound {
    /// The next byte, if only one may follow and the output cannot end.
    pub(crate) fn only_byte(&self, log: &mut Log, state: &MatcherState) -> Option<u8> {
        match state.place {
            Place::Literal(rest, _) => rest.bytes().next(),
            Place::Header { first, end, at } => {
                log.cut(state.lengths);
                let mut open = (first..end).filter(|&header| self.may_head(log, header));
                let byte = self.headers[open.next()? as usize].byte(at)?;
                open.next_back()
                    .is_none_or(|last| self.headers[last as usize].byte(at) == Some(byte))
                    .then_some(byte)
            }
            Place::AfterUpdate if !self.operations.rename => Some(b'@'),
            Place::AfterUpdate if !self.operations.update => Some(b'*'),
            Place::AfterMove if !self.operations.update => Some(b'*'),
            Place::AtText { first, end, at } => {
                let file = self.file(state.section.file);
                let limit = state.section.limit;
                if file.cuts().of_length(first..end, at).next().is_some() {
                    return None;
                }
                let texts = &file.firsts[first as usize..end as usize];
                let open = texts.iter().copied().filter(|&line| may_name(file, limit, line));
                common_byte(file, open, at)
            }
            Place::Old { at, .. } => {
                let hunk = &state.hunk;
                let file = self.file(state.section.file);
                let lines = hunk.min..state.section.limit;
                let starts = &file.order[hunk.range.start as usize..hunk.range.end as usize];
                let open = starts.iter().filter(|start| lines.contains(start));
                common_byte(file, open.map(|start| start + hunk.depth), at)
            }
            Place::Line if self.file(state.section.file).len() == 0 => {
                (!state.hunk.changes).then_some(b'+')
            }
            _ => None,
        }
    }
}

/// The byte shared by the first and the last of some sorted lines at a place; a line feed at the
/// end of a line.
fn common_byte(
    file: &FileText,
    mut lines: impl DoubleEndedIterator<Item = u32>,
    at: u32,
) -> Option<u8> {
    let first = file.byte(lines.next()?, at);
    let is_common = lines.next_back().is_none_or(|last| file.byte(last, at) == first);
    is_common.then_some(first.unwrap_or(b'\n'))
}
