//! Keeps the file's characters where a hunk does not change the lines that it replaces.
//!
//! A match that overlooks punctuation and trailing blanks has other characters in the patch than in
//! the file. The parts that a line and its replacement share, by their smallest difference, were
//! not meant to change: there the file's characters stay. New parts are written as in the patch.
//!
//! # Limits
//!
//! Lines are compared word by word, and different words character by character. Beyond
//! [`COMPARED`], only equal ends count as common.

use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff};

use super::pass::{Parts, Pass, parts};

/// How many pairs of words, and of characters, are compared for the lines of one change; and how
/// many pairs of lines for one hunk.
pub(super) const COMPARED: usize = 1 << 18;

/// Characters of the patch, each with the character of the file in its place.
#[derive(Debug, Default)]
pub(crate) struct Replaced<'a> {
    patch: Vec<&'a [u8]>,
    file: Vec<&'a [u8]>,
    /// For each line its last character, and the blanks after it in the patch and in the file.
    ends: Vec<(usize, &'a [u8], &'a [u8])>,
    /// Whether a character or a line end of the patch is not the file's.
    differs: bool,
}

impl<'a> Replaced<'a> {
    /// Adds a replaced line of the patch, and the matching line of the file.
    pub(crate) fn push(&mut self, patch: &'a [u8], file: &'a [u8]) {
        let patch = parts(patch);
        let file = parts(file);
        if Pass::Unicode.key(patch.text) == Pass::Unicode.key(file.text) {
            self.differs |= patch.text != file.text || patch.end != file.end;
            self.patch.extend(characters(patch.text));
            self.file.extend(characters(file.text));
            if let Some(last) = self.patch.len().checked_sub(1).filter(|_| !patch.text.is_empty()) {
                self.ends.push((last, patch.end, file.end));
            }
        } else {
            // The place was found by likeness.
            self.patch.extend(characters(patch.text));
            self.file.extend(characters(patch.text));
        }
        self.patch.push(b"\n");
        self.file.push(b"\n");
    }

    /// Returns the texts of the replacing lines, without indentation.
    pub(crate) fn rewrite(&self, inserted: &[&'a [u8]]) -> Option<Vec<Vec<u8>>> {
        if !self.differs {
            return None;
        }
        let lines: Vec<Parts<'_>> = inserted.iter().map(|line| parts(line)).collect();
        let mut new: Vec<&[u8]> = Vec::new();
        for line in &lines {
            new.extend(characters(line.text));
            new.push(b"\n");
        }
        let from = common(&self.patch, &new);
        let mut at = 0;
        let mut texts = Vec::with_capacity(lines.len());
        for line in lines {
            let mut text = Vec::with_capacity(line.text.len() + line.end.len());
            let mut last = None;
            while new[at] != b"\n" {
                last = from[at];
                text.extend_from_slice(last.map_or(new[at], |old| self.file[old]));
                at += 1;
            }
            at += 1;
            let replaced = self.ends.iter().find(|end| Some(end.0) == last && end.1 == line.end);
            text.extend_from_slice(replaced.map_or(line.end, |end| end.2));
            texts.push(text);
        }
        Some(texts)
    }
}

/// Iterates over the characters of a line, and the bytes outside of characters.
fn characters(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid().split_inclusive(|_| true).map(str::as_bytes);
        valid.chain(chunk.invalid().chunks(1))
    })
}

/// Returns for each new character the old one that it keeps.
fn common(old: &[&[u8]], new: &[&[u8]]) -> Vec<Option<usize>> {
    let mut from = vec![None; new.len()];
    let mut left = COMPARED;
    let old_words = words(old);
    let new_words = words(new);
    let old_texts = texts(&old_words, old);
    let new_texts = texts(&new_words, new);
    let mut old_done = 0;
    let mut new_done = 0;
    for stretch in stretches(&old_texts, &new_texts, &mut left) {
        // The words between two stretches that are equal are compared by their characters.
        let old_start = start_of(&old_words, stretch.old, old.len());
        let new_start = start_of(&new_words, stretch.new, new.len());
        let old_between = &old[old_done..old_start];
        let new_between = &new[new_done..new_start];
        for within in stretches(old_between, new_between, &mut left) {
            for nth in 0..within.len {
                from[new_done + within.new + nth] = Some(old_done + within.old + nth);
            }
        }
        old_done = start_of(&old_words, stretch.old + stretch.len, old.len());
        new_done = start_of(&new_words, stretch.new + stretch.len, new.len());
        for (old, new) in (old_start..old_done).zip(new_start..new_done) {
            from[new] = Some(old);
        }
    }
    from
}

/// Returns the words of lines; blanks between them count as words, and line feeds too.
fn words(characters: &[&[u8]]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, character) in characters.iter().enumerate() {
        match words.last_mut() {
            Some(word) if WordKind::of(characters[word.start]) == WordKind::of(character) => {
                word.end = at + 1;
            }
            _ => words.push(at..at + 1),
        }
    }
    words
}

/// The kind of the characters of a word.
#[derive(PartialEq, Eq)]
enum WordKind {
    Feed,
    Blank,
    Other,
}

impl WordKind {
    fn of(character: &[u8]) -> Self {
        match character {
            b"\n" => Self::Feed,
            b" " | b"\t" => Self::Blank,
            _ => Self::Other,
        }
    }
}

/// Returns the first character of a word, and `end` for one beyond the last.
fn start_of(words: &[Range<usize>], nth: usize, end: usize) -> usize {
    words.get(nth).map_or(end, |word| word.start)
}

/// Returns the texts of words.
fn texts(words: &[Range<usize>], characters: &[&[u8]]) -> Vec<Vec<u8>> {
    words.iter().map(|word| characters[word.clone()].concat()).collect()
}

/// A stretch that two texts have in common, from these places on.
pub(super) struct CommonStretch {
    pub(super) old: usize,
    pub(super) new: usize,
    pub(super) len: usize,
}

/// Returns the stretches that two texts have in common by their smallest difference, in order: the
/// equal ones at both ends, and those between if `left` is enough for the comparison, of which the
/// cost is taken from `left`. The last stretch ends both texts.
pub(super) fn stretches<T: Ord + Hash>(
    old: &[T],
    new: &[T],
    left: &mut usize,
) -> Vec<CommonStretch> {
    let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old[before..].iter().rev().zip(new[before..].iter().rev());
    let after = rest.take_while(|(old, new)| old == new).count();
    let old_end = old.len() - after;
    let new_end = new.len() - after;
    let mut stretches = vec![CommonStretch { old: 0, new: 0, len: before }];
    let cost = (old_end - before).saturating_mul(new_end - before);
    if let Some(rest) = left.checked_sub(cost) {
        *left = rest;
        let ops = capture_diff(Algorithm::Myers, old, before..old_end, new, before..new_end);
        stretches.extend(ops.into_iter().filter_map(|op| match op {
            DiffOp::Equal { old_index, new_index, len } => {
                Some(CommonStretch { old: old_index, new: new_index, len })
            }
            _ => None,
        }));
    }
    stretches.push(CommonStretch { old: old_end, new: new_end, len: after });
    stretches
}
