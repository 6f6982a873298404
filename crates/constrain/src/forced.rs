//! The bytes that can only follow.

use crate::bound::Bound;
use crate::log::Log;
use crate::state::{MatcherState, Place};
use crate::step::may_name;

impl Bound {
    /// The one byte that may follow, if there is but one and the output cannot end.
    pub(crate) fn only_byte(&self, log: &mut Log, state: &MatcherState) -> Option<u8> {
        match state.place {
            Place::Literal(rest, _) => rest.bytes().next(),
            Place::Header { first, end, at } => {
                log.cut(state.lengths);
                let text = |header: u32| self.headers[header as usize].text.as_bytes()[at as usize];
                let mut open = (first..end).filter(|&header| self.may_head(log, header));
                let byte = text(open.next()?);
                open.next_back().is_none_or(|last| text(last) == byte).then_some(byte)
            }
            Place::AfterUpdate if !self.operations.rename => Some(b'@'),
            Place::AfterUpdate if !self.operations.update => Some(b'*'),
            Place::AfterMove if !self.operations.update => Some(b'*'),
            Place::AtText { first, end, at } => {
                let file = self.file(state.section.file);
                let limit = state.section.limit;
                let byte = |line: &u32| file.line(*line).get(at as usize).copied().unwrap_or(b'\n');
                let texts = &file.firsts[first as usize..end as usize];
                let mut open = texts.iter().filter(|&&line| may_name(file, limit, line));
                let first = byte(open.next()?);
                open.next_back().is_none_or(|last| byte(last) == first).then_some(first)
            }
            Place::Old { at, .. } => {
                let (hunk, file) = (&state.hunk, self.file(state.section.file));
                let lines = hunk.min..state.section.limit;
                let starts = &file.order[hunk.range.start as usize..hunk.range.end as usize];
                let mut open = starts.iter().filter(|start| lines.contains(start));
                let byte = |start: &u32| {
                    file.line(start + hunk.depth).get(at as usize).copied().unwrap_or(b'\n')
                };
                let first = byte(open.next()?);
                open.next_back().is_none_or(|last| byte(last) == first).then_some(first)
            }
            Place::Line if self.file(state.section.file).len() == 0 => {
                (!state.hunk.changes).then_some(b'+')
            }
            _ => None,
        }
    }
}
