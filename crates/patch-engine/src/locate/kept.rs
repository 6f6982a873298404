//! Keeps the file's characters where a hunk does not change the lines that it replaces.
//!
//! A line that was matched without regard to punctuation and to blanks at its end has other
//! characters in the patch than in the file. What it and its replacement have in common, by their
//! smallest difference, was not meant to be changed: there the file's characters stay. What the
//! patch writes anew is written as the patch has it.
//!
//! # Limits
//!
//! Lines are compared word by word, and words that differ character by character. Beyond
//! [`COMPARED`] only what is equal at both ends counts as common.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::pass::{Parts, Pass, parts};

/// How many pairs of words, and of characters, are compared for the lines of one change.
const COMPARED: usize = 1 << 20;

/// Characters of the patch, each with that of the file in its place.
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
    /// Adds a line of the patch that is replaced, and the line of the file that it matched.
    pub(crate) fn push(&mut self, patch: &'a [u8], file: &'a [u8]) {
        let (patch, file) = (parts(patch), parts(file));
        if Pass::Unicode.key(patch.text) == Pass::Unicode.key(file.text) {
            self.differs |= patch.text != file.text || patch.end != file.end;
            self.patch.extend(characters(patch.text));
            self.file.extend(characters(file.text));
            if let Some(last) = self.patch.len().checked_sub(1).filter(|_| !patch.text.is_empty()) {
                self.ends.push((last, patch.end, file.end));
            }
        } else {
            // A place that was found by likeness.
            self.patch.extend(characters(patch.text));
            self.file.extend(characters(patch.text));
        }
        self.patch.push(b"\n");
        self.file.push(b"\n");
    }

    /// Returns the texts of the lines that replace them, without indentation.
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
        let (mut at, mut texts) = (0, Vec::with_capacity(lines.len()));
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

/// Iterates over the characters of a line, and the bytes that are part of none.
fn characters(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid().split_inclusive(|_| true).map(str::as_bytes);
        valid.chain(chunk.invalid().chunks(1))
    })
}

/// Returns for each new character the old one that it is, if they have it in common.
fn common(old: &[&[u8]], new: &[&[u8]]) -> Vec<Option<usize>> {
    let mut from = vec![None; new.len()];
    let mut left = COMPARED;
    let (old_words, new_words) = (words(old), words(new));
    let texts = |of: &[&[u8]], words: &[Range<usize>]| -> Vec<Vec<u8>> {
        words.iter().map(|word| of[word.clone()].concat()).collect()
    };
    let span = |words: &[Range<usize>], range: Range<usize>| match &words[range] {
        [] => 0..0,
        words => words[0].start..words[words.len() - 1].end,
    };
    for op in differences(&texts(old, &old_words), &texts(new, &new_words), &mut left) {
        let old_span = span(&old_words, op.old_range());
        let new_span = span(&new_words, op.new_range());
        let within = match op {
            DiffOp::Equal { .. } => {
                vec![DiffOp::Equal { old_index: 0, new_index: 0, len: new_span.len() }]
            }
            DiffOp::Replace { .. } => {
                differences(&old[old_span.clone()], &new[new_span.clone()], &mut left)
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } => Vec::new(),
        };
        for op in within {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                for nth in 0..len {
                    from[new_span.start + new_index + nth] = Some(old_span.start + old_index + nth);
                }
            }
        }
    }
    from
}

/// Returns the words of lines; blanks between them count as words, and line feeds too.
fn words(characters: &[&[u8]]) -> Vec<Range<usize>> {
    let kind = |character: &[u8]| match character {
        b"\n" => 0,
        b" " | b"\t" => 1,
        _ => 2,
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, character) in characters.iter().enumerate() {
        match words.last_mut() {
            Some(word) if kind(characters[word.start]) == kind(character) => word.end = at + 1,
            _ => words.push(at..at + 1),
        }
    }
    words
}

/// Returns the smallest difference, and takes its cost from `left`; if that is not enough, only
/// what is equal at both ends.
fn differences<T: Ord + std::hash::Hash>(old: &[T], new: &[T], left: &mut usize) -> Vec<DiffOp> {
    let cost = old.len().saturating_mul(new.len());
    if let Some(rest) = left.checked_sub(cost) {
        *left = rest;
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let equal = |(old, new): &(&T, &T)| old == new;
    let before = old.iter().zip(new).take_while(equal).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(equal).count();
    let end =
        DiffOp::Equal { old_index: old.len() - after, new_index: new.len() - after, len: after };
    vec![DiffOp::Equal { old_index: 0, new_index: 0, len: before }, end]
}
