//! A heredoc's tag and lines, by the shell's rules.

use std::borrow::Cow;

/// The tag of a heredoc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag<'s> {
    pub(crate) text: &'s str,
    /// Whether the tag is quoted: the lines are then taken as they are.
    pub(crate) quoted: bool,
    /// Whether tabs at the beginning of lines are dropped (`<<-`).
    pub(crate) dash: bool,
    /// Whether the line of the tag ends in CRLF; the closing line then has to as well.
    pub(crate) crlf: bool,
}

impl<'s> Tag<'s> {
    /// Reads a tag as written.
    pub(crate) fn read(raw: &'s str) -> Option<Self> {
        let (text, quoted) = match raw.as_bytes().first()? {
            quote @ (b'\'' | b'"') => (raw[1..].strip_suffix(char::from(*quote))?, true),
            b'\\' => (&raw[1..], true),
            _ => (raw, false),
        };
        // Between quotes blanks and operators are plain; a backslash there, or a tag of several
        // parts, does not occur in practice.
        let between_quotes = raw.starts_with(['\'', '"']);
        let is_plain = text.chars().all(|char| match char {
            '\'' | '"' | '\\' | '$' | '`' => false,
            ' ' | '#' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => between_quotes,
            _ => !char.is_control() && !char.is_whitespace(),
        });
        let taken = !text.is_empty() && is_plain;
        taken.then_some(Self { text, quoted, dash: false, crlf: false })
    }

    fn closes(&self, line: &str) -> bool {
        let line = if self.dash { line.trim_start_matches('\t') } else { line };
        // To a shell the CR is a part of the tag: a line without CR does not close the heredoc.
        let line = if self.crlf { line.strip_suffix('\r') } else { Some(line) };
        line == Some(self.text)
    }
}

/// The text below the opening line of a heredoc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body<'s> {
    /// The heredoc, and the text after its closing line.
    Closed(&'s str, &'s str),
    /// There is no closing line.
    Open,
    /// A second command stands on the line of the closing tag.
    More,
}

/// Finds the closing line of a heredoc.
pub(crate) fn lines<'s>(text: &'s str, tag: &Tag<'_>) -> Body<'s> {
    let mut at = 0;
    let mut goes_on = false;
    while at < text.len() {
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let line = &text[at..end];
        if tag.closes(line) {
            return Body::Closed(&text[..at], &text[end..]);
        }
        // A shell takes `EOF && make` for a line of the heredoc. It was meant as a second command.
        let after = line.strip_prefix(tag.text);
        goes_on |= after.is_some_and(|after| {
            after.starts_with([' ', '\t', ';', '&', '|']) && !after.trim().is_empty()
        });
        at = end + 1;
    }
    if goes_on { Body::More } else { Body::Open }
}

/// Finds what the shell would replace in the lines of a heredoc whose tag is not quoted: its byte,
/// and the character.
pub(crate) fn expansion(body: &str) -> Option<(usize, char)> {
    let bytes = body.as_bytes();
    bytes.iter().enumerate().find_map(|(at, byte)| match byte {
        b'$' | b'`' => Some((at, char::from(*byte))),
        b'\\' => {
            matches!(bytes.get(at + 1), Some(b'$' | b'`' | b'\\' | b'\n')).then_some((at, '\\'))
        }
        _ => None,
    })
}

/// Drops the tabs at the beginning of lines.
pub(crate) fn without_tabs(body: &str) -> Cow<'_, str> {
    if !body.starts_with('\t') && !body.contains("\n\t") {
        return Cow::Borrowed(body);
    }
    body.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
}
