//! The text of a file for a model: line feeds, no byte-order mark, UTF-8.

use std::borrow::Cow;
use std::fmt::Display;

use serde::Serialize;

/// The byte-order mark of UTF-8.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newlines {
    None,
    Lf,
    Crlf,
    Mixed,
}

impl Newlines {
    pub fn of(bytes: &[u8]) -> Self {
        let mut lf = false;
        let mut crlf = false;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            match line {
                [.., b'\r', b'\n'] => crlf = true,
                [.., b'\n'] => lf = true,
                _ => {}
            }
        }
        match (lf, crlf) {
            (false, false) => Self::None,
            (true, false) => Self::Lf,
            (false, true) => Self::Crlf,
            (true, true) => Self::Mixed,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => "lf",
            Self::Crlf => "crlf",
            Self::Mixed => "mixed",
        }
    }
}

/// Strips a byte-order mark.
pub fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BOM).unwrap_or(bytes)
}

/// Counts things in words.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, one: &str, more: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { more })
}

/// Splits a line from its terminator.
pub fn split_terminator(line: &[u8]) -> (&[u8], &[u8]) {
    let length = match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    };
    line.split_at(line.len() - length)
}

/// Replaces `\r\n` by `\n`; a lone carriage return stays.
pub fn normalised(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// Returns the longest prefix of at most `limit` bytes that ends between characters.
pub fn prefix(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[..end]
}

/// Returns the length of a value in bytes of JSON.
pub fn length(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        assert_eq!(prefix("aé", 2), "a");
        assert_eq!(prefix("aé", 3), "aé");
        assert_eq!(prefix("é", 0), "");
    }

    #[test]
    fn tells_how_lines_end() {
        for (bytes, style) in [
            (&b""[..], "none"),
            (b"a\r", "none"),
            (b"a\n", "lf"),
            (b"a\r\nb", "crlf"),
            (b"a\r\nb\n", "mixed"),
        ] {
            assert_eq!(Newlines::of(bytes).as_str(), style, "{bytes:?}");
        }
    }
}
