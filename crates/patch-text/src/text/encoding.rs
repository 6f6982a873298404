//! Decodes files in other charsets than UTF-8, to be matched and edited, and encodes them again.
//!
//! A file is decoded only when encoding gives exactly the same bytes back; otherwise its bytes are
//! taken as they are. UTF-16 is known by its byte-order mark. Other charsets are declared, never
//! guessed.

use std::borrow::Cow;

use patch_grammar::binary::is_binary;

use crate::text::charset::{Charset, KnownCharset};
use crate::text::lines::BOM;
use crate::text::splices::Splices;

/// The text of a file: its bytes, decoded if need be.
#[derive(Debug, Clone)]
pub struct FileText<'f> {
    text: Cow<'f, [u8]>,
    encoding: Option<Charset>,
}

impl<'f> FileText<'f> {
    /// Returns the text of a file with these bytes and this declared charset; `None` when the file
    /// is binary.
    #[must_use]
    pub fn of(stored: &'f [u8], declared: Option<Charset>) -> Option<Self> {
        let marked = match stored {
            // The byte-order mark of UTF-32.
            [0xff, 0xfe, 0, 0, ..] => return None,
            [0xff, 0xfe, ..] => Some(Charset::UTF_16LE),
            [0xfe, 0xff, ..] => Some(Charset::UTF_16BE),
            _ => None,
        };
        let decoded = marked.or(declared.filter(|&declared| declared != Charset::UTF_8)).and_then(
            |encoding| {
                let text = decode(stored, encoding)?;
                (!text.contains('\0') && encode(&text, encoding)? == stored)
                    .then(|| Self { text: Cow::Owned(text.into_bytes()), encoding: Some(encoding) })
            },
        );
        if let Some(unknown) = declared.filter(|charset| marked.is_none() && !charset.is_built()) {
            // Nothing can be stored in this charset: raw bytes would mix two charsets.
            return Self::plain(stored, Some(unknown));
        }
        // A file that only looks like UTF-16 is not text.
        decoded.or_else(|| if marked.is_none() { Self::plain(stored, None) } else { None })
    }

    /// Returns the bytes of a file as its text, unless they are binary.
    fn plain(stored: &'f [u8], encoding: Option<Charset>) -> Option<Self> {
        (!is_binary(stored)).then_some(Self { text: Cow::Borrowed(stored), encoding })
    }

    /// Returns the text, in UTF-8 if decoded.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.text
    }

    /// Returns the WHATWG name of the original charset, if the text was decoded.
    #[must_use]
    pub fn encoding(&self) -> Option<&'static str> {
        self.encoding.map(Charset::name)
    }

    /// Converts replacements in the text to replacements of the file's bytes. Returns `None` when
    /// the charset cannot store the inserted text, or its byte-order mark would be lost.
    #[must_use]
    pub fn stored(&self, splices: Splices) -> Option<Splices> {
        let Some(encoding) = self.encoding else { return Some(splices) };
        let mut stored = Splices::new();
        let mut behind = 0;
        let mut at = 0;
        for splice in splices.as_slice() {
            let loses_mark = splice.start < BOM.len()
                && self.text.starts_with(BOM)
                && !splice.text.starts_with(BOM);
            if loses_mark && splice.end > 0 {
                return None;
            }
            let start = at + encode_utf8(&self.text[behind..splice.start], encoding)?.len();
            at = start + encode_utf8(&self.text[splice.start..splice.end], encoding)?.len();
            behind = splice.end;
            stored.push(start..at, encode_utf8(&splice.text, encoding)?);
        }
        Some(stored)
    }
}

fn encode_utf8(text: &[u8], encoding: Charset) -> Option<Vec<u8>> {
    encode(std::str::from_utf8(text).ok()?, encoding)
}

/// Encodes the text of a new file.
pub fn new_file(text: &[u8], encoding: Charset) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    // Without its byte-order mark a UTF-16 file would not be recognised.
    let marked = matches!(encoding.0, KnownCharset::Utf16Le | KnownCharset::Utf16Be)
        && !text.starts_with('\u{feff}');
    let text = if marked { Cow::Owned(format!("\u{feff}{text}")) } else { Cow::Borrowed(text) };
    encode(&text, encoding)
}

/// Returns the label of UTF-16 for bytes that look like it and have no byte-order mark: most of the
/// text is Latin, so that every other byte is zero.
#[must_use]
pub fn unmarked_utf16(bytes: &[u8]) -> Option<&'static str> {
    /// How much is looked at.
    const LOOKED_AT: usize = 8192;
    let (units, rest) = bytes[..bytes.len().min(LOOKED_AT)].as_chunks::<2>();
    let first = units.iter().filter(|unit| unit[0] == 0).count();
    let second = units.iter().filter(|unit| unit[1] == 0).count();
    let most = units.len() / 2;
    match (first, second) {
        _ if !rest.is_empty() || units.len() < 2 => None,
        (0, second) if second > most => Some("utf-16le"),
        (first, 0) if first > most => Some("utf-16be"),
        _ => None,
    }
}

fn decode(bytes: &[u8], charset: Charset) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match charset.0 {
        KnownCharset::Utf8 => return std::str::from_utf8(bytes).ok().map(str::to_owned),
        KnownCharset::Utf16Le => u16::from_le_bytes,
        KnownCharset::Utf16Be => u16::from_be_bytes,
        #[cfg(feature = "encodings")]
        KnownCharset::Legacy(encoding) => {
            return encoding
                .decode_without_bom_handling_and_without_replacement(bytes)
                .map(Cow::into_owned);
        }
        #[cfg(not(feature = "encodings"))]
        KnownCharset::Legacy => return None,
    };
    let (units, rest) = bytes.as_chunks::<2>();
    let text =
        char::decode_utf16(units.iter().map(|&bytes| unit(bytes))).collect::<Result<String, _>>();
    text.ok().filter(|_| rest.is_empty())
}

fn encode(text: &str, charset: Charset) -> Option<Vec<u8>> {
    let bytes: fn(u16) -> [u8; 2] = match charset.0 {
        KnownCharset::Utf8 => return Some(text.as_bytes().to_vec()),
        KnownCharset::Utf16Le => u16::to_le_bytes,
        KnownCharset::Utf16Be => u16::to_be_bytes,
        #[cfg(feature = "encodings")]
        KnownCharset::Legacy(encoding) => {
            let (bytes, _, unmappable) = encoding.encode(text);
            return (!unmappable).then(|| bytes.into_owned());
        }
        #[cfg(not(feature = "encodings"))]
        KnownCharset::Legacy => return None,
    };
    Some(text.encode_utf16().flat_map(bytes).collect())
}

#[cfg(all(test, feature = "encodings"))]
mod tests {
    use super::*;
    use crate::text::charset::by_label;

    fn utf16(text: &str, encoding: Charset) -> Vec<u8> {
        encode(text, encoding).expect("UTF-16 has all characters")
    }

    #[test]
    fn text_is_decoded_only_if_every_byte_comes_back() {
        let latin = by_label("latin1");
        let le = utf16("\u{feff}a\r\n\u{1f600}\n", Charset::UTF_16LE);
        for (stored, declared, text, name) in [
            (&b"a\xe9\n"[..], latin, Some("aé\n".as_bytes()), Some("windows-1252")),
            (b"a\xe9\n", None, Some(b"a\xe9\n"), None),
            (b"a\xe9\n", by_label("utf-8"), Some(b"a\xe9\n"), None),
            (b"\x83\x65\n", by_label("sjis"), Some("テ\n".as_bytes()), Some("Shift_JIS")),
            // Invalid in the charset, or not the same bytes again.
            (b"\x81\n", by_label("sjis"), Some(b"\x81\n"), None),
            (b"a\0\n", latin, None, None),
            (&le, None, Some("\u{feff}a\r\n\u{1f600}\n".as_bytes()), Some("UTF-16LE")),
            (
                &utf16("\u{feff}é", Charset::UTF_16BE),
                latin,
                Some("\u{feff}é".as_bytes()),
                Some("UTF-16BE"),
            ),
            (
                &utf16("é\n", Charset::UTF_16LE),
                by_label("utf-16"),
                Some("é\n".as_bytes()),
                Some("UTF-16LE"),
            ),
            // Half a unit, half a pair, a NUL, UTF-32.
            (b"\xff\xfea", None, None, None),
            (b"\xff\xfe\x3d\xd8", None, None, None),
            (b"\xff\xfea\0\0\0", None, None, None),
            (b"\xff\xfe\0\0a\0\0\0", None, None, None),
            (b"\xff\xfe", None, Some(BOM), Some("UTF-16LE")),
        ] {
            let found = FileText::of(stored, declared);
            assert_eq!(found.as_ref().map(FileText::bytes), text, "{stored:?}");
            assert_eq!(found.and_then(|found| found.encoding()), name, "{stored:?}");
        }
        assert!(by_label("iso-2022-jp").is_none());
        assert!(by_label("klingon").is_none());
    }

    #[test]
    fn replacements_are_those_of_the_stored_bytes() {
        for (label, text, from, to) in [
            ("utf-16le", "\u{feff}één\r\ntwo\r\n", "één", "eins é\u{1f600}"),
            ("utf-16be", "\u{feff}é\né\n", "\né\n", "\nx\n"),
            ("windows-1252", "é\nx\né\n", "x\né", "ö"),
            ("shift_jis", "テスト\nb\n", "スト\n", ""),
            ("gb18030", "汉字\nb\n", "b", "字"),
        ] {
            let encoding = by_label(label).expect("a label");
            let stored = encode(text, encoding).expect("it has them");
            let file = FileText::of(&stored, Some(encoding)).expect("it is text");
            let at = text.find(from).expect("it is there");
            let mut splices = Splices::new();
            splices.push(at..at + from.len(), to.into());
            let found = file.stored(splices).expect("it can be stored").apply(&stored);
            assert_eq!(decode(&found, encoding), Some(text.replacen(from, to, 1)), "{label}");
        }
        let file = FileText::of(b"\xe9\n", by_label("latin1")).expect("it is text");
        let mut splices = Splices::new();
        splices.push(0..2, "→".into());
        assert_eq!(file.stored(splices), None, "it has no bytes there");
        let le = utf16("\u{feff}a\n", Charset::UTF_16LE);
        let file = FileText::of(&le, None).expect("it is text");
        let mut splices = Splices::new();
        splices.push(0..4, "a".into());
        assert_eq!(file.stored(splices), None, "the mark would go");
    }
}
