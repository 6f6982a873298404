//! Differences between a line of a hunk and a line of the file that cannot be seen.

use std::borrow::Cow;
use std::fmt;

use unicode_normalization::UnicodeNormalization as _;

patch_grammar::named! {
    /// A difference between two lines that look alike.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum UnseenKind {
        /// The hunk has U+FFFD, by which a reader showed bytes that are not UTF-8.
        Replacement = "replacement_character",
        /// The file is not UTF-8, and has the letters of the hunk in another charset.
        Charset = "charset",
        /// The same letters in another Unicode normalisation.
        Normalisation = "unicode_normalisation",
        /// Blanks of other kinds, or characters without a width.
        Characters = "invisible_characters",
        /// The lines of the file end in carriage returns alone.
        CarriageReturns = "carriage_returns",
    }
}

/// The first difference between a hunk and a file that cannot be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Unseen {
    /// The kind of difference.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_word"))]
    pub kind: UnseenKind,
    /// The 1-based line of the patch.
    pub patch_line: u32,
    /// The 1-based character there.
    pub column: usize,
    /// The code points of the hunk, such as `U+00A0`; empty for none.
    pub wanted: String,
    /// The code points of the file, or its bytes.
    pub found: String,
}

#[cfg(feature = "serde")]
fn as_word<S: serde::Serializer>(kind: &UnseenKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, patch_line, column, wanted, found } = self;
        let has = if wanted.is_empty() { "nothing" } else { wanted };
        let where_file = if found.is_empty() { "nothing" } else { found };
        match kind {
            UnseenKind::CarriageReturns => f.write_str(
                "the file is one line, since its lines end in carriage returns (CR) alone",
            ),
            UnseenKind::Replacement => write!(
                f,
                "patch line {patch_line} has {has} in column {column}, which stands for {found}: \
                 the file is not UTF-8"
            ),
            UnseenKind::Charset => write!(
                f,
                "patch line {patch_line} has {has} in column {column}, and the file {found}: it is \
                 not UTF-8, but windows-1252 by these lines"
            ),
            UnseenKind::Normalisation => write!(
                f,
                "patch line {patch_line} has {has} in column {column}, and the file {where_file}: \
                 the same letter in another Unicode normalisation"
            ),
            UnseenKind::Characters => write!(
                f,
                "patch line {patch_line} has {has} in column {column}, and the file {where_file}"
            ),
        }
    }
}

/// Returns the difference between two lines, if there is one and it cannot be seen.
pub(super) fn unseen(patch_line: u32, wanted: &[u8], found: &[u8]) -> Option<Unseen> {
    let wanted_text = std::str::from_utf8(wanted).ok().filter(|_| wanted != found)?;
    let Ok(found_text) = std::str::from_utf8(found) else {
        return unseen_bytes(patch_line, wanted_text, found);
    };
    let kind = if wanted_text.nfc().eq(found_text.nfc()) {
        UnseenKind::Normalisation
    } else if visible(wanted_text) == visible(found_text) {
        UnseenKind::Characters
    } else {
        return None;
    };
    let same =
        wanted_text.chars().zip(found_text.chars()).take_while(|(one, other)| one == other).count();
    let rest = |text: &str| text.chars().skip(same).collect::<String>();
    let (one, other) = (rest(wanted_text), rest(found_text));
    Some(Unseen {
        kind,
        patch_line,
        column: same + 1,
        wanted: code_points(kind, &one, &other),
        found: code_points(kind, &other, &one),
    })
}

/// Returns the difference between a line and bytes that are not UTF-8.
fn unseen_bytes(patch_line: u32, wanted: &str, found: &[u8]) -> Option<Unseen> {
    let at = found.utf8_chunks().next()?.valid().len();
    let column = String::from_utf8_lossy(&found[..at]).chars().count() + 1;
    let kind = if wanted == String::from_utf8_lossy(found) {
        UnseenKind::Replacement
    } else if wanted == western(found) {
        UnseenKind::Charset
    } else {
        return None;
    };
    let character = wanted.chars().nth(column - 1)?;
    Some(Unseen {
        kind,
        patch_line,
        column,
        wanted: format!("U+{:04X}", u32::from(character)),
        found: format!("the byte {:02X}", found[at]),
    })
}

/// Reads bytes as windows-1252, which is Latin-1 but for 32 characters.
fn western(bytes: &[u8]) -> String {
    const OTHERS: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    let character = |byte: &u8| match byte {
        0x80..=0x9f => OTHERS[usize::from(*byte) - 0x80],
        byte => char::from(*byte),
    };
    bytes.iter().map(character).collect()
}

/// The text as it looks: without characters that have no width, and with plain blanks.
fn visible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let seen = text.chars().filter(|next| !has_no_width(*next));
    Cow::Owned(seen.map(|next| if is_other_blank(next) { ' ' } else { next }).nfc().collect())
}

fn is_other_blank(next: char) -> bool {
    next.is_whitespace() && !next.is_ascii()
}

fn has_no_width(next: char) -> bool {
    matches!(
        next,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

/// The code points at the beginning of a text that differ from those of another one.
fn code_points(kind: UnseenKind, text: &str, other: &str) -> String {
    let mut points = text.chars();
    let Some(first) = points.next() else { return String::new() };
    let mut all = vec![first];
    if kind == UnseenKind::Normalisation {
        all.extend(points.take_while(|next| unicode_normalization::char::is_combining_mark(*next)));
    } else if has_no_width(other.chars().next().unwrap_or_default()) && !has_no_width(first) {
        // The other text has a character more.
        return String::new();
    }
    let all = all.iter().map(|point| format!("U+{:04X}", u32::from(*point)));
    all.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::unseen;

    #[test]
    fn what_cannot_be_seen_is_told_by_its_code_points() {
        for (wanted, found, told) in [
            (
                "// caf\u{fffd} x",
                &b"// caf\xe9 x"[..],
                Some("has U+FFFD in column 7, which stands for the byte E9: the file is not UTF-8"),
            ),
            (
                "caf\u{e9} \u{2013} x",
                b"caf\xe9 \x96 x",
                Some(
                    "has U+00E9 in column 4, and the file the byte E9: it is not UTF-8, but \
                     windows-1252 by these lines",
                ),
            ),
            (
                "caf\u{e9}",
                "cafe\u{301}".as_bytes(),
                Some(
                    "has U+00E9 in column 4, and the file U+0065 U+0301: the same letter in \
                     another Unicode normalisation",
                ),
            ),
            ("a b", "a\u{a0}b".as_bytes(), Some("has U+0020 in column 2, and the file U+00A0")),
            ("a\u{200b}b", b"ab", Some("has U+200B in column 2, and the file nothing")),
            ("ab", "a\u{feff}b".as_bytes(), Some("has nothing in column 2, and the file U+FEFF")),
            ("ab", b"ab", None),
            ("ab", b"ac", None),
            ("a b", b"a\tb", None),
            ("caf\u{e9}", b"caf\xe8", None),
        ] {
            let found = unseen(4, wanted.as_bytes(), found).map(|unseen| unseen.to_string());
            let told = told.map(|told| format!("patch line 4 {told}"));
            assert_eq!(found, told, "{wanted}");
        }
    }
}
