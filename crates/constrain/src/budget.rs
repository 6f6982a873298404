//! Outputs of limited length: the bytes that are needed to finish one.
//!
//! Each byte is a token at worst, so an output that can be finished in so many bytes can be finished
//! in as many tokens. For each state there is a byte after which one byte less is needed: a text is
//! finished, old lines go on to the end of the nearest block that stands once, a line that the file
//! does not have is added, and the last marker follows.

use std::ops::Range;

use crate::bound::{Bound, HeaderKind};
use crate::log::{Log, Post};
use crate::names;
use crate::state::{MatcherState, Next, Place};
use crate::step::may_name;
use crate::text::FileText;

/// The bytes of the last marker.
pub(crate) const END: u32 = "*** End Patch".len() as u32;

/// The bytes of an empty line that is added.
const ADDED: u32 = 2;

/// The lists that the file as the hunks leave it depends on.
pub(crate) type SectionKey = (u32, usize, usize);

pub(crate) fn section_key(log: &Log, state: &MatcherState) -> SectionKey {
    (state.section.post, log.post.len(), log.changes.len())
}

/// The most bytes of a block that hunks made to stand twice.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Twins {
    key: Option<SectionKey>,
    most: u32,
}

impl Twins {
    /// Finds the blocks anew if the hunks are others.
    pub(crate) fn most(&mut self, bound: &Bound, log: &mut Log, state: &MatcherState) -> u32 {
        log.cut(state.lengths);
        let key = section_key(log, state);
        if self.key != Some(key) {
            self.key = Some(key);
            self.most = bound.most_of_twins(log, state);
        }
        self.most
    }
}

impl Bound {
    /// The bytes that are needed to finish an output. The search ends early where `enough` bytes
    /// are enough, so that a greater number than needed may be returned.
    pub(crate) fn rest(&self, log: &mut Log, state: &MatcherState, enough: u32) -> u32 {
        log.cut(state.lengths);
        match state.place {
            Place::Literal(rest, next) => {
                let rest = rest.len() as u32;
                rest + match next {
                    Next::Sections => self.header_rest(log, state, 0..self.headers.len() as u32, 0),
                    Next::MoveTo => self.to_free(log, "") + 1 + END,
                    Next::At => {
                        let enough = enough.saturating_sub(rest + 1);
                        1 + self.hunk_rest(log, state, state.hunk.min, enough)
                    }
                    Next::New | Next::AfterMove => END,
                }
            }
            Place::Header { first, end, at } => self.header_rest(log, state, first..end, at),
            Place::NewPath { start, .. } => {
                let path = String::from_utf8_lossy(&log.bytes[start as usize..]).into_owned();
                let most = self.most_to_free(log, &path) + 1 + END;
                if most <= enough { most } else { self.to_free(log, &path) + 1 + END }
            }
            Place::AfterUpdate => self.update_rest(log, state.section.file),
            Place::AfterMove | Place::NewLine => END,
            Place::NewText(utf8) => utf8.missing() + 1 + END,
            Place::At => 1 + self.hunk_rest(log, state, state.hunk.min, enough.saturating_sub(1)),
            Place::AtText { first, end, at } => self.text_rest(log, state, first..end, at),
            Place::Line if self.may_end_hunk(log, state) => END,
            Place::Line | Place::Old { .. } => self.hunk_rest(log, state, state.hunk.min, enough),
            Place::Added { start, utf8 } => {
                let file = self.file(state.section.file);
                let to_new = if utf8.missing() == 0 {
                    file.to_new(&log.bytes[start as usize..])
                } else {
                    file.costs().farthest
                };
                let added = utf8.missing() + to_new + 1 + END;
                let enough = enough.saturating_sub(added);
                added + self.old_rest(log, state, state.hunk.min, enough)
            }
            Place::End | Place::Closed => 0,
        }
    }

    fn header_rest(&self, log: &Log, state: &MatcherState, range: Range<u32>, at: u32) -> u32 {
        let mut fewest = u32::MAX;
        for nth in range {
            if self.may_head(log, nth) {
                let header = &self.headers[nth as usize];
                fewest = fewest.min(header.text.len() as u32 - at + self.head_rest(log, nth));
            }
        }
        debug_assert!(fewest < u32::MAX, "a header may follow: {state:?}");
        fewest
    }

    /// The bytes that are needed behind a header.
    pub(crate) fn head_rest(&self, log: &Log, header: u32) -> u32 {
        match self.headers[header as usize].kind {
            HeaderKind::End => 0,
            HeaderKind::Delete(_) => END,
            HeaderKind::Add => self.to_free(log, "") + 1 + END,
            HeaderKind::Update(path) => self.update_rest(log, path),
        }
    }

    /// The bytes that are needed behind the header of an update.
    fn update_rest(&self, log: &Log, path: u32) -> u32 {
        let mut fewest = u32::MAX;
        if self.operations.rename {
            fewest = "*** Move to: ".len() as u32 + self.to_free(log, "") + 1 + END;
        }
        if self.operations.update && log.lines_left() > 0 {
            let file = self.file(path);
            let hunk = if file.len() == 0 { ADDED } else { file.costs().fewest + new_line(file) };
            fewest = fewest.min("@@\n".len() as u32 + hunk + END);
        }
        fewest
    }

    /// The bytes that are needed to make a new path one that is free.
    fn to_free(&self, log: &Log, path: &str) -> u32 {
        if self.may_end_path(log, path) {
            return 0;
        }
        let mut letters = (b'0'..=b'z').filter(|&byte| names::is_plain(byte));
        let is_free = letters.any(|byte| {
            self.names.may_follow(path, byte)
                && self.may_end_path(log, &format!("{path}{}", char::from(byte)))
        });
        if is_free {
            return 1;
        }
        self.most_to_free(log, path)
    }

    /// The most bytes that may be needed to make a new path one that is free.
    pub(crate) fn most_to_free(&self, log: &Log, path: &str) -> u32 {
        let name = path.len() - path.rfind('/').map_or(0, |at| at + 1);
        let new = log.sections.iter().filter(|section| section.new.is_some()).count();
        self.names.most_to_free(name, new)
    }

    /// The bytes that are needed in the text behind `@@`, and below it.
    fn text_rest(&self, log: &Log, state: &MatcherState, range: Range<u32>, at: u32) -> u32 {
        let file = self.file(state.section.file);
        let below = self.rest_below(log, state);
        let texts = file.firsts[range.start as usize..range.end as usize].iter();
        let open = texts.filter(|&&line| may_name(file, state.section.limit, line));
        let rest = open.map(|&line| file.line(line).len() as u32 - at + 1 + below.of(line));
        rest.min().unwrap_or(u32::MAX)
    }

    /// The bytes that are needed in a new hunk below each line.
    pub(crate) fn rest_below(&self, log: &Log, state: &MatcherState) -> RestBelow {
        let first = state.hunk.min;
        let limit = state.section.limit;
        let file = self.file(state.section.file);
        let end = if state.hunk.is_new { END } else { new_line(file) + END };
        let mut rest: Vec<u32> =
            (first..limit).map(|start| self.block_rest(log, state, start) + end).collect();
        for at in (1..rest.len()).rev() {
            rest[at - 1] = rest[at - 1].min(rest[at]);
        }
        RestBelow { first, rest }
    }

    /// The most bytes that may be needed after any token, as long as no hunk is closed.
    pub(crate) fn most_rest(&self, twins: u32) -> u32 {
        let most = self.most_rest.get_or_init(|| {
            let header = self.headers.iter().map(|header| header.text.len() as u32).max();
            let files = self.files.iter().flatten().map(|file| {
                let costs = file.costs();
                costs.most + 2 * costs.longest + costs.farthest + 2 * ADDED
            });
            let marks = "@@ *** Move to: \n".len() + names::LONGEST;
            header.unwrap_or(0) + files.max().unwrap_or(0) + marks as u32 + END + 3
        });
        most.saturating_add(twins)
    }

    /// The most bytes of a block of the file that the hunks made to stand twice, with a line more.
    fn most_of_twins(&self, log: &Log, state: &MatcherState) -> u32 {
        let changes = &log.changes[state.section.changes as usize..];
        if changes.is_empty() {
            return 0;
        }
        let file = self.file(state.section.file);
        let lines = &log.post[state.section.post as usize..];
        let post = Post { file, lines, cursor: state.section.cursor };
        let mut most = 0;
        for &(first, last) in changes {
            let inner = last - first;
            let above = post.id(first);
            let below = post.id(last);
            for line in 0..file.len() - inner {
                if file.ids[line as usize] == above && file.ids[(line + inner) as usize] == below {
                    let start = line - post.shared_above(first, line);
                    let end = line + inner + 1 + post.shared_below(last, line + inner);
                    most = most.max(file.costs().bytes(start, (end + 1).min(file.len())));
                }
            }
        }
        most
    }

    /// The bytes that are needed from the state of a hunk on, with a line that ends it.
    fn hunk_rest(&self, log: &Log, state: &MatcherState, min: u32, enough: u32) -> u32 {
        let file = self.file(state.section.file);
        if file.len() == 0 {
            return if state.hunk.changes { END } else { ADDED + END };
        }
        let line = if state.hunk.is_new { 0 } else { new_line(file) };
        line + self.old_rest(log, state, min, enough.saturating_sub(line + END)) + END
    }

    /// The bytes of the old lines that are needed until the hunk has one place.
    fn old_rest(&self, log: &Log, state: &MatcherState, min: u32, enough: u32) -> u32 {
        let file = self.file(state.section.file);
        if file.len() == 0 {
            return 0;
        }
        let hunk = &state.hunk;
        let starts = &file.order[hunk.range.start as usize..hunk.range.end as usize];
        let mut fewest = u32::MAX;
        for &start in starts.iter().filter(|&&start| min <= start && start < state.section.limit) {
            fewest = fewest.min(self.block_rest(log, state, start));
            if fewest <= enough {
                break;
            }
        }
        fewest
    }

    /// The bytes of the old lines that are needed until a block from one line on has one place.
    pub(crate) fn block_rest(&self, log: &Log, state: &MatcherState, start: u32) -> u32 {
        let file = self.file(state.section.file);
        let costs = file.costs();
        let hunk = &state.hunk;
        let open = u32::from(matches!(state.place, Place::Old { .. }));
        let mut end = costs.ends[start as usize].max(start + hunk.depth + open);
        let changes = &log.changes[state.section.changes as usize..];
        if !changes.is_empty() {
            let lines = &log.post[state.section.post as usize..];
            let post = Post { file, lines, cursor: state.section.cursor };
            while end < file.len() && !post.places(changes, start..end).is_empty() {
                end += 1;
            }
        }
        let rest = costs.bytes(start + hunk.depth, end);
        match state.place {
            // The sign is there, and some of the text.
            Place::Old { at, .. } => rest - 1 - at,
            _ => rest,
        }
    }
}

/// The fewest bytes that are needed in a new hunk, by the line at or below which it begins.
pub(crate) struct RestBelow {
    first: u32,
    rest: Vec<u32>,
}

impl RestBelow {
    pub(crate) fn of(&self, line: u32) -> u32 {
        let at = line.saturating_sub(self.first) as usize;
        self.rest.get(at).copied().unwrap_or(u32::MAX / 2)
    }
}

/// The bytes of an added line that the file does not have.
pub(crate) fn new_line(file: &FileText) -> u32 {
    ADDED + file.to_new(b"")
}
