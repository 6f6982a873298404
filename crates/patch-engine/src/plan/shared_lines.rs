//! Makes the bytes of new files from the lines that a patch adds, which may stay in the text of the
//! patch.

use std::convert::Infallible;

use fs_guard::{Hasher, Sha256};
use patch_grammar::binary::{FIRST_BYTES, is_binary};
use patch_grammar::{AddedLines, LineEndings, Patch, Text};

use crate::plan::options::AddNewline;

/// How much of a file is made at a time.
const PIECE: usize = 1 << 16;

/// Makes the bytes of a new file.
pub(crate) fn added(added: &AddedLines<'_>, rule: AddNewline) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Ok(()) = added_in_pieces(
        added,
        rule,
        usize::MAX,
        |_| {},
        |all| {
            bytes = std::mem::take(all);
            Ok::<_, Infallible>(())
        },
    );
    bytes
}

/// Passes the bytes of a new file to `take`, in pieces of `size` bytes, or one more; the last piece
/// has the rest, and may be empty. Each line is passed to `see` on the way.
pub(crate) fn added_in_pieces<E>(
    added: &AddedLines<'_>,
    rule: AddNewline,
    size: usize,
    mut see: impl FnMut(&[u8]),
    mut take: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let mut piece = Vec::with_capacity(added.text.len().min(size.saturating_add(1)));
    let mut last: &[u8] = b"";
    for line in added.lines() {
        last = line;
        see(line);
        let mut rest = line;
        while piece.len() + rest.len() > size {
            let (now, later) = rest.split_at(size.saturating_sub(piece.len()));
            piece.extend_from_slice(now);
            take(&mut piece)?;
            piece.clear();
            rest = later;
        }
        piece.extend_from_slice(rest);
        // It stays in the piece until the next line follows: the last one may have to be removed.
        piece.push(b'\n');
    }
    // A diff states how the last line ends, whatever the rule.
    let joined = rule == AddNewline::Joined && !added.endings.is_of_diff();
    if added.no_newline || (joined && last.is_empty()) {
        piece.pop();
    }
    take(&mut piece)
}

/// The lines of a new file in the text of a patch, which is kept in memory for them instead of a
/// copy.
#[derive(Debug, Clone)]
pub(crate) struct SharedLines {
    text: Text,
    endings: LineEndings,
    no_newline: bool,
    rule: AddNewline,
    pub(crate) marks: Marks,
}

/// What is found in lines on the way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Marks {
    /// One may begin a conflict.
    pub(crate) conflict: bool,
    /// One stands for lines that are left out.
    pub(crate) placeholder: bool,
}

impl SharedLines {
    /// Shares the lines of a section of the patch, each of which `mark` looks at. Also returns the
    /// hash and the length of the file.
    pub(crate) fn of(
        patch: &Patch,
        added: &AddedLines<'_>,
        rule: AddNewline,
        mut mark: impl FnMut(&[u8], &mut Marks),
    ) -> (Self, Sha256, u64) {
        let &AddedLines { text, endings, no_newline, last: _ } = added;
        let mut marks = Marks::default();
        let see = |line: &[u8]| mark(line, &mut marks);
        let mut hasher = Hasher::new();
        let mut size = 0;
        // One pass for all: what takes the time is to find the lines.
        let Ok(()) = added_in_pieces(added, rule, PIECE, see, |piece| {
            hasher.update(piece);
            size += piece.len() as u64;
            Ok::<_, Infallible>(())
        });
        let text = patch.share(text);
        let lines = Self { text, endings, no_newline, rule, marks };
        (lines, hasher.finish(), size)
    }

    /// Returns the lines as the patch has them, each with its mark.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Returns all bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        added(&self.lines(), self.rule)
    }

    /// Returns whether the file is text, by [`is_binary`].
    pub(crate) fn is_text(&self) -> bool {
        // A line has at most a mark and a carriage return more than in the file, and a line feed.
        let first = &self.text()[..self.text().len().min(3 * FIRST_BYTES)];
        if memchr::memchr(0, first).is_none() {
            return true;
        }
        let mut text = true;
        let _ = self.pieces(|first| {
            text = !is_binary(first);
            Err(())
        });
        text
    }

    /// Passes the bytes of the file to `take`, piece by piece.
    pub(crate) fn pieces<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        added_in_pieces(&self.lines(), self.rule, PIECE, |_| {}, |piece| take(piece))
    }

    fn lines(&self) -> AddedLines<'_> {
        AddedLines {
            text: self.text.as_bytes(),
            endings: self.endings,
            no_newline: self.no_newline,
            last: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use patch_grammar::{ParseOptions, SectionOperation};

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
            let lines = AddedLines { text: text.as_bytes(), endings, no_newline, last: None };
            assert_eq!(added(&lines, AddNewline::Joined), expected.as_bytes(), "{text:?}");
            for size in 1..9 {
                let mut all = Vec::new();
                let mut longest = 0;
                let Ok(()) = added_in_pieces(
                    &lines,
                    AddNewline::Joined,
                    size,
                    |_| {},
                    |piece| {
                        longest = longest.max(piece.len());
                        all.extend_from_slice(piece);
                        Ok::<_, Infallible>(())
                    },
                );
                assert_eq!(all, expected.as_bytes(), "{text:?} {size}");
                assert!(longest <= size + 1, "{text:?} {size}: {longest}");
            }
        }
    }

    #[test]
    fn lines_stay_in_the_text_of_their_patch() {
        let text = "*** Begin Patch\n*** Add File: f\n+a\n+b\n*** Add File: g\n*** End Patch\n";
        let patch = patch_grammar::parse(text, &ParseOptions::default()).unwrap();
        let shared = patch.sections().iter().map(|section| match &section.operation {
            SectionOperation::Add(lines) => {
                let mark = |line: &[u8], marks: &mut Marks| marks.conflict |= line == b"b";
                SharedLines::of(&patch, lines, AddNewline::EveryLine, mark)
            }
            _ => unreachable!("it adds"),
        });
        let [(f, sha256, size), (g, ..)] = <[_; 2]>::try_from(shared.collect::<Vec<_>>()).unwrap();
        assert!(Arc::ptr_eq(f.text.whole(), patch.text().whole()));
        assert_eq!(f.bytes(), b"a\nb\n");
        assert_eq!((sha256, size), (Sha256::of(b"a\nb\n"), 4));
        assert!(f.is_text());
        assert_eq!(g.bytes(), b"");
        assert!(f.marks.conflict && !g.marks.conflict);
    }

    #[test]
    fn a_nul_is_looked_for_where_it_is_in_the_file() {
        for (start, is_text) in [(0, false), (FIRST_BYTES - 1, false), (FIRST_BYTES, true)] {
            for line in ["+\n", "+\r\n", "+a\n", "+a\r\n"] {
                let framed = line.contains('\r');
                let endings = if framed { LineEndings::Framing } else { LineEndings::Exact };
                let of_file = line.trim_matches(['+', '\r', '\n']).len() + 1;
                let text =
                    line.repeat(start / of_file) + "+" + &"a".repeat(start % of_file) + "\0\n";
                let text = Text::from(text.as_str());
                let rule = AddNewline::EveryLine;
                let lines =
                    SharedLines { text, endings, no_newline: false, rule, marks: Marks::default() };
                assert_eq!(lines.is_text(), is_text, "{line:?} {start}");
                assert_eq!(is_binary(&lines.bytes()), !is_text, "{line:?} {start}");
            }
        }
    }
}
