//! The matching passes: which part of a line is compared.

use std::borrow::Cow;

patch_grammar::named! {
    /// The differences that are overlooked between a line of a hunk and a line of the file. The
    /// order is from strict to lenient.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub enum Pass {
        /// Nothing.
        Exact = "none",
        /// Blanks at the end.
        Trailing = "trailing",
        /// Blanks at both ends.
        Blanks = "blanks",
        /// Blanks at both ends, and typographic dashes, quotes and spaces count as their ASCII
        /// forms.
        Unicode = "unicode",
    }
}

impl Pass {
    /// The part of `line` that this pass compares.
    #[inline]
    pub(crate) fn key(self, line: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::Trailing => Cow::Borrowed(trim_end(line)),
            Self::Blanks => Cow::Borrowed(trim(line)),
            Self::Unicode => plain(trim(line)),
        }
    }

    /// Whether two lines are the same for this pass.
    pub(crate) fn same(self, left: &[u8], right: &[u8]) -> bool {
        equal(left, right) || (self != Self::Exact && equal(&self.key(left), &self.key(right)))
    }

    /// The strictest pass, up to this one, for which two lines are the same.
    pub(crate) fn strictest(self, left: &[u8], right: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().take_while(|&pass| pass <= self).find(|pass| pass.same(left, right))
    }
}

/// Whether two lines are equal, eight bytes at a time: not every C library compares short stretches
/// fast.
pub(crate) fn equal(left: &[u8], right: &[u8]) -> bool {
    let (left, left_rest) = left.as_chunks::<8>();
    let (right, right_rest) = right.as_chunks::<8>();
    left.len() == right.len()
        && left_rest.len() == right_rest.len()
        && left
            .iter()
            .zip(right)
            .all(|(&left, &right)| u64::from_le_bytes(left) == u64::from_le_bytes(right))
        && left_rest.iter().zip(right_rest).all(|(left, right)| left == right)
}

/// The number of bytes of `line` that are blanks at its beginning.
pub(crate) fn indentation(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Drops white space of any kind (the Unicode property `White_Space`) at both ends.
pub(crate) fn trim(line: &[u8]) -> &[u8] {
    parts(line).text
}

/// A line in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts<'l> {
    /// The white space at the beginning; none if there is no other.
    pub(crate) indentation: &'l [u8],
    /// The text between.
    pub(crate) text: &'l [u8],
    /// The white space at the end.
    pub(crate) end: &'l [u8],
}

/// Splits off the white space at both ends.
pub(crate) fn parts(line: &[u8]) -> Parts<'_> {
    let (line, end) = line.split_at(trim_end(line).len());
    let mut text = line;
    while let Some(len) = leading_space(text) {
        text = &text[len..];
    }
    Parts { indentation: &line[..line.len() - text.len()], text, end }
}

fn trim_end(mut line: &[u8]) -> &[u8] {
    while let Some(len) = trailing_space(line) {
        line = &line[..line.len() - len];
    }
    line
}

fn leading_space(line: &[u8]) -> Option<usize> {
    match *line {
        [b' ' | b'\t'..=b'\r', ..] => Some(1),
        [0xc2, 0x85 | 0xa0, ..] => Some(2),
        [a, b, c, ..] if is_wide_space(a, b, c) => Some(3),
        _ => None,
    }
}

fn trailing_space(line: &[u8]) -> Option<usize> {
    match *line {
        [.., b' ' | b'\t'..=b'\r'] => Some(1),
        [.., 0xc2, 0x85 | 0xa0] => Some(2),
        [.., a, b, c] if is_wide_space(a, b, c) => Some(3),
        _ => None,
    }
}

/// U+1680, U+2000–200A, U+2028, U+2029, U+202F, U+205F and U+3000 as UTF-8.
fn is_wide_space(a: u8, b: u8, c: u8) -> bool {
    matches!(
        (a, b, c),
        (0xe1, 0x9a, 0x80)
            | (0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf)
            | (0xe2, 0x81, 0x9f)
            | (0xe3, 0x80, 0x80)
    )
}

/// A line with typographic punctuation as ASCII.
fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    if has_punctuation(line) { Cow::Owned(fold_punctuation(line)) } else { Cow::Borrowed(line) }
}

/// Whether a line may have punctuation for [`fold_punctuation`], which allocates, and which most
/// lines do not need.
fn has_punctuation(line: &[u8]) -> bool {
    !line.is_ascii()
        && line
            .windows(2)
            .any(|pair| matches!(pair, [0xc2, 0xa0] | [0xe2, 0x80 | 0x81 | 0x88] | [0xe3, 0x80]))
}

/// Dashes U+2010–2015 and U+2212 become `-`, quotes U+2018–201B `'`, U+201C–201F `"`, and the
/// spaces U+00A0, U+2002–200A, U+202F, U+205F, U+3000 a blank: the table of the applier that the
/// models were trained with. Bytes that are not UTF-8 stay.
fn fold_punctuation(line: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars() {
            let plain = match c {
                '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
                '\u{2018}'..='\u{201b}' => '\'',
                '\u{201c}'..='\u{201f}' => '"',
                '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
                other => other,
            };
            // One character stays one, so the characters of two equal lines can be paired.
            folded.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes());
        }
        folded.extend_from_slice(chunk.invalid());
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pass_overlooks_what_its_name_says_and_no_more() {
        for (left, right, first) in [
            ("a", "a", Some(Pass::Exact)),
            ("a", "a \t", Some(Pass::Trailing)),
            ("a", "a\u{a0}", Some(Pass::Trailing)),
            ("  a", "\ta", Some(Pass::Blanks)),
            ("a", "a\u{3000}", Some(Pass::Trailing)),
            ("a", "a\u{85}", Some(Pass::Trailing)),
            ("\u{3000}a", "a", Some(Pass::Blanks)),
            ("\u{a0}a", "a", Some(Pass::Blanks)),
            ("\u{85}a", "a", Some(Pass::Blanks)),
            ("a - b", "a \u{2013} b", Some(Pass::Unicode)),
            ("'q' \"r\"", "\u{2018}q\u{2019}\u{a0}\u{201c}r\u{201d}", Some(Pass::Unicode)),
            ("a  b", "a b", None),
            ("A", "a", None),
            ("", " ", Some(Pass::Trailing)),
            ("e\u{301}", "\u{e9}", None),
        ] {
            let found =
                Pass::ALL.into_iter().find(|pass| pass.same(left.as_bytes(), right.as_bytes()));
            assert_eq!(found, first, "{left:?} {right:?}");
        }
        assert!(
            Pass::Unicode.same(b"\xff\xe2\x80\x93", b"\xff-"),
            "bytes that are not UTF-8 are kept"
        );
        assert!(!Pass::Unicode.same(b"\xff", b"\xfe"));
    }
}
