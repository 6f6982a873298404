//! The bytes of a new file, of the lines that a patch adds.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use fs_guard::{Hasher, Sha256};
use patch_grammar::{AddedLines, LineEndings, Patch};

use crate::lines::is_binary;
use crate::options::AddNewline;

/// Smaller files are copied.
const SIZE_WORTH_SHARING: usize = 1 << 20;

/// How much of a file is made at a time.
const PIECE: usize = 1 << 16;

/// The bytes of a new file.
pub(crate) fn added(added: &AddedLines<'_>, rule: AddNewline) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Ok(()) = added_in_pieces(added, rule, usize::MAX, |all| {
        bytes = std::mem::take(all);
        Ok::<_, Infallible>(())
    });
    bytes
}

/// Gives the bytes of a new file to `take`, in pieces of `size` bytes, or one more; the last has what is left, if only nothing.
pub(crate) fn added_in_pieces<E>(
    added: &AddedLines<'_>,
    rule: AddNewline,
    size: usize,
    mut take: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let mut piece = Vec::with_capacity(added.text.len().min(size.saturating_add(1)));
    let mut last: &[u8] = b"";
    for line in added.lines() {
        last = line;
        let mut rest = line;
        while piece.len() + rest.len() > size {
            let (now, later) = rest.split_at(size.saturating_sub(piece.len()));
            piece.extend_from_slice(now);
            take(&mut piece)?;
            piece.clear();
            rest = later;
        }
        piece.extend_from_slice(rest);
        // It stays in the piece until the next line comes: the last one may have to go.
        piece.push(b'\n');
    }
    // What a diff says of the last line holds, whatever the rule.
    let joined = rule == AddNewline::Joined && added.endings != LineEndings::Exact;
    if added.no_newline || (joined && last.is_empty()) {
        piece.pop();
    }
    take(&mut piece)
}

/// The lines of a new file as they stand in the text of a patch, which is kept for them and not copied.
#[derive(Debug, Clone)]
pub(crate) struct SharedLines {
    owner: Arc<Vec<u8>>,
    range: Range<usize>,
    endings: LineEndings,
    no_newline: bool,
    rule: AddNewline,
}

impl SharedLines {
    /// The lines of a section. `None` where the text has no owner, or is kept in vain: most of it is something else, or it is short.
    pub(crate) fn of(patch: &Patch<'_>, added: &AddedLines<'_>, rule: AddNewline) -> Option<Self> {
        let &AddedLines { text, endings, no_newline } = added;
        if text.len() < SIZE_WORTH_SHARING {
            return None;
        }
        let (owner, range) = patch.shared(text)?;
        (text.len() >= owner.len() / 2).then_some(Self { owner, range, endings, no_newline, rule })
    }

    /// All bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        added(&self.lines(), self.rule)
    }

    /// Whether the file is text, as [`is_binary`] has it.
    pub(crate) fn is_text(&self) -> bool {
        let mut text = true;
        let _ = self.pieces(|first| {
            text = !is_binary(first);
            Err(())
        });
        text
    }

    /// Gives the bytes of the file to `take`, piece by piece.
    pub(crate) fn pieces<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        added_in_pieces(&self.lines(), self.rule, PIECE, |piece| take(piece))
    }

    /// The hash and the length of the file.
    pub(crate) fn hash(&self) -> (Sha256, u64) {
        let (mut hasher, mut size) = (Hasher::new(), 0);
        let Ok(()) = self.pieces(|piece| {
            hasher.update(piece);
            size += piece.len() as u64;
            Ok::<_, Infallible>(())
        });
        (hasher.finish(), size)
    }

    fn lines(&self) -> AddedLines<'_> {
        AddedLines { text: &self.owner[self.range.clone()], endings: self.endings, no_newline: self.no_newline }
    }
}

#[cfg(test)]
mod tests {
    use patch_grammar::ParseOptions;

    use super::*;

    #[test]
    fn pieces_are_the_bytes() {
        let exact = LineEndings::Exact;
        for (text, endings, no_newline, expected) in [
            ("", exact, false, ""),
            ("+a\n", exact, false, "a\n"),
            ("+a\n", exact, true, "a"),
            ("+a\n+\n+bcdefgh\n+ijklmnopqrst\n", exact, false, "a\n\nbcdefgh\nijklmnopqrst\n"),
            ("+abcd\n+efgh\n", exact, true, "abcd\nefgh"),
            ("+a\r\n+b\r\n", exact, false, "a\r\nb\r\n"),
            ("+a\r\n+b\r\n", LineEndings::Framing, false, "a\nb\n"),
            ("+a\n+\n", LineEndings::Stated, false, "a\n"),
        ] {
            let lines = AddedLines { text: text.as_bytes(), endings, no_newline };
            assert_eq!(added(&lines, AddNewline::Joined), expected.as_bytes(), "{text:?}");
            for size in 1..9 {
                let (mut all, mut longest) = (Vec::new(), 0);
                let Ok(()) = added_in_pieces(&lines, AddNewline::Joined, size, |piece| {
                    longest = longest.max(piece.len());
                    all.extend_from_slice(piece);
                    Ok::<_, Infallible>(())
                });
                assert_eq!(all, expected.as_bytes(), "{text:?} {size}");
                assert!(longest <= size + 1, "{text:?} {size}: {longest}");
            }
        }
    }

    #[test]
    fn a_text_is_kept_for_a_large_file_that_is_most_of_it() {
        let section = |name: &str, size: usize| format!("*** Add File: {name}\n{}", "+1234567\n".repeat(size / 9));
        let large = 2 * SIZE_WORTH_SHARING;
        for (sizes, expected) in [
            (&[large][..], &[true][..]),
            (&[SIZE_WORTH_SHARING / 2], &[false]),
            (&[large, large / 8], &[true, false]),
            (&[large, large, large / 2], &[false, false, false]),
        ] {
            let sections: String =
                sizes.iter().enumerate().map(|(nth, &size)| section(&nth.to_string(), size)).collect();
            let owner = Arc::new(format!("*** Begin Patch\n{sections}*** End Patch\n").into_bytes());
            let patch = patch_grammar::parse(std::str::from_utf8(&owner).unwrap(), &ParseOptions::default()).unwrap();
            let shared = |owner| -> Vec<_> {
                let patch = Patch { owner, ..patch.clone() };
                let lines = patch.sections.iter().map(|section| match &section.operation {
                    patch_grammar::SectionOperation::Add(lines) => lines,
                    _ => unreachable!("they add"),
                });
                lines.map(|lines| (SharedLines::of(&patch, lines, AddNewline::EveryLine), lines.clone())).collect()
            };
            for (shared, lines) in shared(Some(Arc::clone(&owner))) {
                let Some(shared) = shared else { continue };
                let bytes = added(&lines, AddNewline::EveryLine);
                assert_eq!(shared.hash(), (Sha256::of(&bytes), bytes.len() as u64));
                assert!(shared.bytes() == bytes);
            }
            let kept: Vec<_> = shared(Some(Arc::clone(&owner))).iter().map(|(shared, _)| shared.is_some()).collect();
            assert_eq!(kept, expected);
            // Another copy of the text, or none.
            for owner in [Some(Arc::new(owner.to_vec())), None] {
                assert!(shared(owner).iter().all(|(shared, _)| shared.is_none()));
            }
        }
    }
}
