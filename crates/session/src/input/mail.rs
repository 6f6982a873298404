//! Decodes the bodies of mails: mail programs encode long lines, and text other than plain ASCII.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use patch_grammar::diff::begins_mail;

/// The encoding of a mail's body, or of a part (RFC 2045, section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    QuotedPrintable,
    Base64,
}

impl Encoding {
    fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("quoted-printable") {
            Some(Self::QuotedPrintable)
        } else if name.eq_ignore_ascii_case("base64") {
            Some(Self::Base64)
        } else {
            None
        }
    }

    fn decode(self, body: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::QuotedPrintable => quoted_printable(body),
            Self::Base64 => {
                let body: Vec<u8> =
                    body.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                BASE64_STANDARD.decode(body).ok()
            }
        }
    }
}

/// Decodes quoted-printable text (RFC 2045, section 6.7). Line ends stay as they are. `None` if an
/// equals sign is not followed by two hexadecimal digits or a line end.
fn quoted_printable(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len());
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        // Blanks at the end were added on the way.
        let text = line.trim_ascii_end();
        let (text, end) = match text.strip_suffix(b"=") {
            Some(text) => (text, &b""[..]),
            None if line.ends_with(b"\r\n") => (text, &b"\r\n"[..]),
            None if line.ends_with(b"\n") => (text, &b"\n"[..]),
            None => (text, &b""[..]),
        };
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'=', rest) {
            out.extend_from_slice(&rest[..at]);
            let [high, low] = *rest.get(at + 1..at + 3)?.first_chunk()?;
            let byte = hex_digit(high)? * 16 + hex_digit(low)?;
            out.push(u8::try_from(byte).expect("two digits"));
            rest = &rest[at + 3..];
        }
        out.extend_from_slice(rest);
        out.extend_from_slice(end);
    }
    Some(out)
}

fn hex_digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}

/// The mails of a text as plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainMails {
    /// Bodies are decoded, and the boundaries between the parts of a mail are empty lines.
    pub(super) text: Vec<u8>,
    /// A body was encoded.
    pub(super) was_encoded: bool,
}

impl PlainMails {
    /// Reads a text; `None` if the text is not a mail, or is plain already.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let mut plain = Self { text: Vec::with_capacity(text.len()), was_encoded: false };
        let mut boundaries: Vec<Vec<u8>> = Vec::new();
        let mut has_boundary = false;
        let mut at = 0;
        loop {
            let head = MailHeader::read(&text[at..])?;
            boundaries.extend(head.boundary);
            plain.text.extend_from_slice(&text[at..at + head.length]);
            at += head.length;
            let body = &text[at..at + body_length(&text[at..], &boundaries)];
            plain.push_body(body, head.encoding)?;
            at += body.len();
            let line = line_of(&text[at..]);
            if is_boundary(line, &boundaries) {
                has_boundary = true;
                plain.text.push(b'\n');
                at += line.len();
            }
            if is_end(line, &boundaries) {
                // The text behind the last part is not of the mail.
                let rest = body_length(&text[at..], &[]);
                plain.text.extend_from_slice(&text[at..at + rest]);
                at += rest;
            }
            if begins_mail(line_of(&text[at..])) {
                boundaries.clear();
            }
            if MailHeader::read(&text[at..]).is_none() {
                plain.text.extend_from_slice(&text[at..]);
                return (plain.was_encoded || has_boundary).then_some(plain);
            }
        }
    }

    /// Adds a body; `None` if its encoding is broken.
    fn push_body(&mut self, body: &[u8], encoding: Option<Encoding>) -> Option<()> {
        let Some(encoding) = encoding else {
            self.text.extend_from_slice(body);
            return Some(());
        };
        self.was_encoded = true;
        let plain = encoding.decode(body)?;
        self.text.extend_from_slice(&plain);
        if !plain.ends_with(b"\n") {
            self.text.push(b'\n');
        }
        Some(())
    }
}

/// Returns whether a text is one mail or more, of `git format-patch`, and nothing else.
pub(super) fn is_mail(text: &[u8]) -> bool {
    begins_mail(line_of(text)) && MailHeader::read(text).is_some()
}

/// The fields before a body.
struct MailHeader {
    /// The length of the fields, with the empty line behind them.
    length: usize,
    encoding: Option<Encoding>,
    /// The line between the parts of the body.
    boundary: Option<Vec<u8>>,
}

impl MailHeader {
    /// Reads the fields at the beginning of a text, if there are any. A line with a blank at its
    /// beginning belongs to the field above.
    fn read(text: &[u8]) -> Option<Self> {
        let mut head = Self { length: 0, encoding: None, boundary: None };
        let mut field = String::new();
        loop {
            let line = line_of(&text[head.length..]);
            let shown = line.trim_ascii_end();
            head.length += line.len();
            let goes_on = matches!(shown, [b' ' | b'\t', ..]) && !field.is_empty();
            if !goes_on {
                head.take(&field);
                field.clear();
            }
            if line.is_empty() {
                return None;
            }
            if shown.is_empty() {
                return (head.length > line.len()).then_some(head);
            }
            let begins = head.length == line.len() && begins_mail(line);
            if !(goes_on || begins || is_field(shown)) {
                return None;
            }
            field.push_str(&String::from_utf8_lossy(shown));
        }
    }

    fn take(&mut self, field: &str) {
        let Some((name, value)) = field.split_once(':') else { return };
        let value = value.trim();
        if name.eq_ignore_ascii_case("Content-Transfer-Encoding") {
            self.encoding = Encoding::named(value);
        } else if name.eq_ignore_ascii_case("Content-Type") {
            self.boundary =
                value.split(';').find_map(boundary).map(|text| text.as_bytes().to_vec());
        }
    }
}

/// Returns the value of a parameter, if the parameter is the boundary.
fn boundary(parameter: &str) -> Option<&str> {
    let (name, value) = parameter.split_once('=')?;
    let is_boundary = name.trim().eq_ignore_ascii_case("boundary");
    is_boundary.then(|| value.trim().trim_matches('"'))
}

/// Returns whether a line is a field of a mail.
fn is_field(line: &[u8]) -> bool {
    let name =
        line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    name > 0 && line.get(name) == Some(&b':')
}

/// Returns the length of a body: up to a boundary or the next mail.
fn body_length(text: &[u8], boundaries: &[Vec<u8>]) -> usize {
    let mut length = 0;
    loop {
        let line = line_of(&text[length..]);
        if line.is_empty() || begins_mail(line) || is_boundary(line, boundaries) {
            return length;
        }
        length += line.len();
    }
}

fn is_boundary(line: &[u8], boundaries: &[Vec<u8>]) -> bool {
    let Some(line) = line.strip_prefix(b"--") else { return false };
    let line = line.trim_ascii_end();
    boundaries
        .iter()
        .filter_map(|boundary| line.strip_prefix(&boundary[..]))
        .any(|rest| matches!(rest, b"" | b"--"))
}

/// Returns whether a line ends the parts of a body.
fn is_end(line: &[u8], boundaries: &[Vec<u8>]) -> bool {
    is_boundary(line, boundaries) && line.trim_ascii_end().ends_with(b"--")
}

/// Returns the first line of a text, with its line feed; empty at the end.
fn line_of(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', text).map_or(text.len(), |feed| feed + 1);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0123456789012345678901234567890123456789";

    #[test]
    fn bodies_are_decoded_as_their_headers_say() {
        let quoted = "Content-Transfer-Encoding: quoted-printable\n\nx=3D1 long =\nline\n";
        let base64 = "Content-Transfer-Encoding: base64\n\neD0xCg==\n";
        for (text, wanted) in [
            (
                format!("Subject: s\n{quoted}"),
                Some("Subject: s\nContent-Transfer-Encoding: quoted-printable\n\nx=1 long line\n"),
            ),
            (
                format!("From {HASH} Mon Sep 17\nSubject: s\n\tfolded\n{base64}"),
                Some(
                    "From 0123456789012345678901234567890123456789 Mon Sep 17\nSubject: s\n\
                     \tfolded\n\
                     Content-Transfer-Encoding: base64\n\nx=1\n",
                ),
            ),
            (
                format!(
                    "content-transfer-encoding: BASE64\n\neD\n0xCg==\n\nFrom {HASH} M\n{base64}"
                ),
                Some(
                    "content-transfer-encoding: BASE64\n\nx=1\n\
                     From 0123456789012345678901234567890123456789 M\n\
                     Content-Transfer-Encoding: base64\n\nx=1\n",
                ),
            ),
            (
                format!(
                    "Content-Type: multipart/mixed;\n boundary=\"b\"\n\nnone\n--b\n{base64}--b\n\
                     Content-Type: text/plain\n\nx=3D\n--b--\n"
                ),
                Some(
                    "Content-Type: multipart/mixed;\n boundary=\"b\"\n\nnone\n\n\
                     Content-Transfer-Encoding: base64\n\nx=1\n\n\
                     Content-Type: text/plain\n\nx=3D\n\n",
                ),
            ),
            (
                "Content-Transfer-Encoding: quoted-printable\r\n\r\n=E2=82=AC=20  \r\na=\r\nb"
                    .to_owned(),
                Some("Content-Transfer-Encoding: quoted-printable\r\n\r\n\u{20ac} \r\nab\n"),
            ),
            ("Content-Transfer-Encoding: quoted-printable\n\nx=1\n".to_owned(), None),
            // The next mail has parts of its own.
            (
                format!(
                    "From {HASH} M\nContent-Type: multipart/mixed; boundary=\"b\"\n\n--b\n{base64}\
                     --b--\n\nFrom {HASH} M\nSubject: s\n\n-x\n--b\n"
                ),
                Some(
                    "From 0123456789012345678901234567890123456789 M\n\
                     Content-Type: multipart/mixed; boundary=\"b\"\n\n\n\
                     Content-Transfer-Encoding: base64\n\nx=1\n\n\n\
                     From 0123456789012345678901234567890123456789 M\nSubject: s\n\n-x\n--b\n",
                ),
            ),
            // Nothing is encoded, or the encoding is broken.
            ("Subject: s\n\nx=3D1\n".to_owned(), None),
            ("Subject: s\nContent-Transfer-Encoding: 8bit\n\nx=3D1\n".to_owned(), None),
            ("Subject: s\nContent-Transfer-Encoding: base64\n\n!\n".to_owned(), None),
            // No mail.
            (format!("prose\n{quoted}"), None),
            (format!("Index: f\n=====\n{quoted}"), None),
            (String::new(), None),
            ("\n\n".to_owned(), None),
        ] {
            let found = PlainMails::of(text.as_bytes());
            let found = found.map(|plain| String::from_utf8(plain.text).expect("UTF-8"));
            assert_eq!(found.as_deref(), wanted, "{text}");
        }
    }
}
