//! The mask of possible next tokens.

use std::ops::Range;

use crate::bound::{Bound, WideKey};
use crate::budget::{END, SectionKey, new_line, section_key};
use crate::log::Log;
use crate::names;
use crate::state::{MatcherState, Place};
use crate::step::may_name;
use crate::trie::{Node, Trie};
use crate::vocabulary::{SHORT_NAME, Vocabulary, clear, set};
use crate::wide::{Suffixes, Wide};

/// The least number of possible suffixes for a cache of the next tokens.
const WIDE: usize = 512;

/// A mask that is being made.
pub(crate) struct Masker<'a> {
    pub(crate) bound: &'a Bound,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) log: &'a mut Log,
    pub(crate) mask: &'a mut [u32],
    /// The bytes that are left after the token.
    pub(crate) room: Room,
}

/// The bytes that are left to finish an output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// How many.
    pub(crate) bytes: u32,
    /// The hunks so far, if the bytes are enough after any token that closes none.
    pub(crate) plenty: Option<SectionKey>,
}

impl Room {
    /// Enough for everything.
    pub(crate) const ANY: Self = Self { bytes: u32::MAX, plenty: None };

    /// Whether each token has to be tried.
    fn is_tight(self) -> bool {
        self.bytes < u32::MAX && self.plenty.is_none()
    }
}

impl Masker<'_> {
    /// Sets the bits of all possible next tokens.
    pub(crate) fn fill(&mut self, state: &MatcherState) {
        let vocabulary = self.vocabulary;
        self.log.cut(state.lengths);
        let few = self.log.lines_left() <= vocabulary.most_lines;
        match state.place {
            _ if (few || self.room.is_tight()) && self.one_by_one(state) => {}
            Place::Added { utf8, .. } => {
                self.add(&vocabulary.free[utf8 as usize]);
                self.tails(state);
                self.walk(&vocabulary.leaving, Trie::ROOT, state);
            }
            Place::NewText(utf8) => {
                self.add(&vocabulary.free[utf8 as usize]);
                self.walk(&vocabulary.leaving, Trie::ROOT, state);
            }
            Place::Line => {
                self.add(&vocabulary.plus);
                for sign in [b' ', b'-', b'@', b'*'] {
                    self.descend(&vocabulary.plain, Trie::ROOT, state, sign);
                }
                self.walk(&vocabulary.inner, Trie::ROOT, state);
            }
            Place::NewLine => {
                self.add(&vocabulary.plus);
                self.descend(&vocabulary.plain, Trie::ROOT, state, b'*');
                self.walk(&vocabulary.inner, Trie::ROOT, state);
            }
            Place::NewPath { start, .. } => self.new_path(state, start),
            _ => {
                self.plain(&vocabulary.plain, Trie::ROOT, state);
                self.walk(&vocabulary.inner, Trie::ROOT, state);
            }
        }
        if matches!(state.place, Place::End | Place::Closed) {
            vocabulary.end().iter().for_each(|&token| set(self.mask, token));
        }
    }

    fn add(&mut self, other: &[u32]) {
        self.mask.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
    }

    fn take(&mut self, trie: &Trie, node: Node) {
        trie.tokens(node).iter().for_each(|&token| set(self.mask, token));
    }

    /// Sets the tokens of a node if the output can be finished after them.
    fn try_take(&mut self, trie: &Trie, node: Node, next: &MatcherState) {
        if !trie.tokens(node).is_empty() && self.fits(next) {
            self.take(trie, node);
        }
    }

    /// Whether the output can be finished after a token.
    fn fits(&mut self, next: &MatcherState) -> bool {
        let Room { bytes, plenty } = self.room;
        if bytes == u32::MAX {
            return true;
        }
        self.log.cut(next.lengths);
        plenty == Some(section_key(self.log, next))
            || self.bound.rest(self.log, next, bytes) <= bytes
    }

    /// Sets the possible tokens where lists of many do not tell: where few lines are left to be
    /// added, or few tokens. Returns whether the place is one of those with such lists.
    fn one_by_one(&mut self, state: &MatcherState) -> bool {
        let vocabulary = self.vocabulary;
        match state.place {
            Place::Added { utf8, .. } | Place::NewText(utf8) => {
                if self.any_text_fits(state) {
                    self.add(&vocabulary.text[utf8 as usize]);
                } else {
                    self.bytes(state);
                }
                self.walk(&vocabulary.lines, Trie::ROOT, state);
            }
            Place::Line | Place::NewLine => {
                if let Some(next) = self.bound.step(self.log, state, b'+') {
                    if self.any_text_fits(&next) {
                        self.add(&vocabulary.plus_text);
                    } else {
                        self.descend_only(&vocabulary.plain, state, b'+');
                    }
                    self.descend(&vocabulary.lines, Trie::ROOT, state, b'+');
                }
                for sign in [b' ', b'-', b'@', b'*'] {
                    self.descend(&vocabulary.plain, Trie::ROOT, state, sign);
                }
                self.walk(&vocabulary.inner, Trie::ROOT, state);
            }
            Place::NewPath { .. } if self.room.is_tight() && !self.any_name_fits() => {
                self.bytes(state);
            }
            _ => return false,
        }
        true
    }

    /// Whether the output can be finished after any text that goes on in an added line.
    fn any_text_fits(&mut self, state: &MatcherState) -> bool {
        let bytes = self.room.bytes;
        if bytes == u32::MAX || self.room.plenty.is_some() {
            return true;
        }
        // Three more bytes of a character, and a text that is the farthest from a new one.
        let more = match state.place {
            Place::Added { .. } => 3 + self.bound.file(state.section.file).costs().farthest,
            _ => 3,
        };
        let enough = bytes.saturating_sub(more);
        self.bound.rest(self.log, state, enough) <= enough
    }

    /// Whether the output can be finished after any token that goes on in a name.
    fn any_name_fits(&self) -> bool {
        self.bound.most_to_free(self.log, "") + 1 + END <= self.room.bytes
    }

    /// Sets the possible tokens of one byte.
    fn bytes(&mut self, state: &MatcherState) {
        let plain = &self.vocabulary.plain;
        for (byte, child) in plain.children(Trie::ROOT) {
            if let Some(next) = self.bound.step(self.log, state, byte) {
                self.try_take(plain, child, &next);
            }
        }
    }

    /// Sets the tokens that are one byte, if it may follow.
    fn descend_only(&mut self, trie: &Trie, state: &MatcherState, byte: u8) {
        let Some(child) = trie.child(Trie::ROOT, byte) else { return };
        if let Some(next) = self.bound.step(self.log, state, byte) {
            self.try_take(trie, child, &next);
        }
    }

    /// Sets the tokens below a node byte by byte.
    fn walk(&mut self, trie: &Trie, node: Node, state: &MatcherState) {
        for (byte, child) in trie.children(node) {
            if let Some(next) = self.bound.step(self.log, state, byte) {
                self.try_take(trie, child, &next);
                self.walk(trie, child, &next);
            }
        }
    }

    /// Sets the tokens of `trie`, in which a line feed only ends a token.
    fn plain(&mut self, trie: &Trie, node: Node, state: &MatcherState) {
        match state.place {
            Place::Old { at, .. } => self.old(trie, node, state, at),
            Place::Header { first, end, at } => self.header(trie, node, state, first..end, at),
            Place::AtText { first, end, at } => self.at_text(trie, node, state, first..end, at),
            _ => {
                for (byte, child) in trie.children(node) {
                    if let Some(next) = self.bound.step(self.log, state, byte) {
                        self.try_take(trie, child, &next);
                        self.plain(trie, child, &next);
                    }
                }
            }
        }
    }

    /// Sets the tokens of `trie` that begin with one byte.
    fn descend(&mut self, trie: &Trie, node: Node, state: &MatcherState, byte: u8) {
        let Some(child) = trie.child(node, byte) else { return };
        if let Some(next) = self.bound.step(self.log, state, byte) {
            self.try_take(trie, child, &next);
            self.plain(trie, child, &next);
        }
    }

    /// Sets the tokens along the possible headers. There may be a header for each of many paths.
    fn header(
        &mut self,
        trie: &Trie,
        root: Node,
        state: &MatcherState,
        range: Range<u32>,
        at: u32,
    ) {
        let bound = self.bound;
        let mut path: Vec<Node> = vec![root];
        let mut last: &[u8] = b"";
        for header in range {
            self.log.cut(state.lengths);
            if !bound.may_head(self.log, header) {
                continue;
            }
            let text = &bound.headers[header as usize].text.as_bytes()[at as usize..];
            if self.room.is_tight()
                && text.len() as u32 + bound.head_rest(self.log, header) > self.room.bytes + 1
            {
                continue;
            }
            let same = last.iter().zip(text).take_while(|(one, other)| one == other).count();
            path.truncate(same + 1);
            for &byte in &text[path.len() - 1..] {
                let Some(child) = trie.child(path[path.len() - 1], byte) else { break };
                path.push(child);
                self.take(trie, child);
            }
            last = text;
            if path.len() == text.len() + 1 && !text.ends_with(b"\n") {
                self.beyond(trie, path[text.len()], state, text);
            }
        }
    }

    /// Sets the tokens that begin with a whole text and go on.
    fn beyond(&mut self, trie: &Trie, node: Node, state: &MatcherState, text: &[u8]) {
        let bound = self.bound;
        let log = &mut *self.log;
        let next = text.iter().try_fold(state.clone(), |next, &byte| bound.step(log, &next, byte));
        if let Some(next) = next {
            self.plain(trie, node, &next);
        }
    }

    fn old(&mut self, trie: &Trie, node: Node, state: &MatcherState, at: u32) {
        let hunk = &state.hunk;
        let section = &state.section;
        let file = self.bound.file(section.file);
        let range = hunk.range.clone();
        let starts = &file.order[range.start as usize..range.end as usize];
        let suffixes = Suffixes { file, starts, depth: hunk.depth, at };
        if self.room.is_tight() {
            self.log.cut(state.lengths);
            let bound = self.bound;
            let log = &*self.log;
            let mask = &mut *self.mask;
            let lines = hunk.min..section.limit;
            let room = self.room.bytes + 1;
            let end = if hunk.is_new { END } else { END + new_line(file) };
            let fits = |start: u32| {
                lines.contains(&start) && bound.block_rest(log, state, start) + end <= room
            };
            suffixes.tokens(trie, node, fits, |token| set(mask, token));
            return;
        }
        if starts.len() >= WIDE && section.limit == file.limit {
            let key = self.key(state, node, range, hunk.depth, at);
            let wide = self
                .bound
                .wide(key, || Wide::new(suffixes, trie, node, |start| start < file.limit));
            wide.from(hunk.min).for_each(|token| set(self.mask, token));
        } else {
            let starts = hunk.min..section.limit;
            let mask = &mut *self.mask;
            suffixes.tokens(trie, node, |start| starts.contains(&start), |token| set(mask, token));
        }
    }

    fn at_text(
        &mut self,
        trie: &Trie,
        node: Node,
        state: &MatcherState,
        range: Range<u32>,
        at: u32,
    ) {
        let limit = state.section.limit;
        let file = self.bound.file(state.section.file);
        let starts = &file.firsts[range.start as usize..range.end as usize];
        let suffixes = Suffixes { file, starts, depth: 0, at };
        if self.room.is_tight() {
            self.log.cut(state.lengths);
            let below = self.bound.rest_below(self.log, state);
            let mask = &mut *self.mask;
            let room = self.room.bytes + 1;
            let fits = |line: u32| {
                may_name(file, limit, line)
                    && file.line(line).len() as u32 - at + 1 + below.of(line) <= room
            };
            suffixes.tokens(trie, node, fits, |token| set(mask, token));
            self.cuts(trie, node, state, range, at);
            return;
        }
        if starts.len() >= WIDE && limit == file.limit {
            // No block has this depth, so the key is one of the texts of lines.
            let key = self.key(state, node, range.clone(), u32::MAX, at);
            let wide = self
                .bound
                .wide(key, || Wide::new(suffixes, trie, node, |line| may_name(file, limit, line)));
            wide.from(0).for_each(|token| set(self.mask, token));
        } else {
            let mask = &mut *self.mask;
            suffixes.tokens(
                trie,
                node,
                |line| may_name(file, limit, line),
                |token| set(mask, token),
            );
        }
        self.cuts(trie, node, state, range, at);
    }

    /// Sets the tokens that end in the line feed behind a heading that git cuts.
    fn cuts(&mut self, trie: &Trie, node: Node, state: &MatcherState, range: Range<u32>, at: u32) {
        let file = self.bound.file(state.section.file);
        let cuts = file.cuts().of(range.clone());
        if cuts.is_empty() {
            return;
        }
        // No block and no text of a line has this depth.
        let key = self.key(state, node, range, u32::MAX - 1, at);
        let found = self.bound.wide(key, || {
            let mut found = Vec::new();
            for (nth, cut) in (0..).zip(cuts).filter(|(_, cut)| cut.len >= at) {
                let line = file.line(file.firsts[cut.text as usize]);
                let mut text = line[at as usize..cut.len as usize].iter().chain(b"\n");
                if let Some(end) = text.try_fold(node, |node, &byte| trie.child(node, byte)) {
                    found.extend(trie.tokens(end).iter().map(|&token| (nth, token)));
                }
            }
            Wide::of(found)
        });
        for (nth, token) in found.pairs() {
            let cut = cuts[nth as usize];
            let line = file.line(file.firsts[cut.text as usize]);
            let mut text = line[at as usize..cut.len as usize].iter().chain(b"\n");
            let start = state.clone();
            let next = text.try_fold(start, |next, &byte| self.bound.step(self.log, &next, byte));
            if next.is_some_and(|next| self.fits(&next)) {
                set(self.mask, token);
            }
        }
    }

    fn key(
        &self,
        of: &MatcherState,
        node: Node,
        suffixes: Range<u32>,
        depth: u32,
        at: u32,
    ) -> WideKey {
        let vocabulary = self.vocabulary.number;
        WideKey { vocabulary, node, file: of.section.file, suffixes, depth, at }
    }

    /// Sets the tokens that end an added line and go on in the hunk.
    fn tails(&mut self, state: &MatcherState) {
        let Place::Added { start, utf8 } = state.place else { return };
        // The lines below an added line do not depend on its text.
        let whole = Place::Added { start, utf8: crate::utf8::Utf8::Whole };
        let whole = MatcherState { place: whole, ..state.clone() };
        if let Some(line) = self.bound.step(self.log, &whole, b'\n') {
            self.tail(Trie::ROOT, &line, utf8 as u32);
        }
    }

    fn tail(&mut self, node: Node, state: &MatcherState, utf8: u32) {
        let vocabulary = self.vocabulary;
        for (byte, child) in vocabulary.tails.children(node) {
            let Some(next) = self.bound.step(self.log, state, byte) else { continue };
            for &group in vocabulary.tails.tokens(child) {
                for tail in &vocabulary.after[group as usize] {
                    if tail.fits >> utf8 & 1 == 1 {
                        set(self.mask, tail.token);
                    }
                }
            }
            self.tail(child, &next, utf8);
        }
    }

    fn new_path(&mut self, state: &MatcherState, start: u32) {
        self.log.cut(state.lengths);
        let path = String::from_utf8_lossy(&self.log.bytes[start as usize..]).into_owned();
        let name = &path[path.rfind('/').map_or(0, |at| at + 1)..];
        let vocabulary = self.vocabulary;
        if name.len() <= SHORT_NAME {
            self.add(&vocabulary.name);
            for rest in names::closed_after(name) {
                self.remove(&vocabulary.plain, Trie::ROOT, rest.as_bytes());
            }
            self.walk(&vocabulary.beyond_name, Trie::ROOT, state);
        } else {
            self.walk(&vocabulary.plain, Trie::ROOT, state);
        }
        self.walk(&vocabulary.inner, Trie::ROOT, state);
    }

    /// Clears the bits of all tokens that begin with a text, in upper or lower case.
    fn remove(&mut self, trie: &Trie, node: Node, text: &[u8]) {
        let Some((&first, rest)) = text.split_first() else {
            trie.tokens(node).iter().for_each(|&token| clear(self.mask, token));
            trie.children(node).for_each(|(_, child)| self.remove(trie, child, text));
            return;
        };
        let mut cases = vec![first, first.to_ascii_uppercase()];
        cases.dedup();
        for child in cases.into_iter().filter_map(|byte| trie.child(node, byte)) {
            self.remove(trie, child, rest);
        }
    }
}
