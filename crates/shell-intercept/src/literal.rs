//! Words and quoted text, as far as they mean the same everywhere.

use std::borrow::Cow;

use tree_sitter::Node;

use crate::shell::Shell;

/// Why a word has no text of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotLiteral {
    /// The shell expands what stands at this byte.
    Expands(usize),
    /// A quote is not closed.
    Open,
    /// A word goes on behind its quotes in a form that is not taken.
    Form,
}

/// The length of the blanks at the beginning, and of the continued lines between them. It is zero
/// where nothing but continued lines stands there: they join what they are between.
pub(crate) fn blanks(text: &str, shell: Shell) -> usize {
    let mut rest = text;
    loop {
        let mut trimmed = rest.trim_start_matches([' ', '\t']);
        if shell == Shell::Posix {
            trimmed = trimmed.strip_prefix("\\\n").unwrap_or(trimmed);
        }
        if trimmed.len() == rest.len() {
            break;
        }
        rest = trimmed;
    }
    let gap = &text[..text.len() - rest.len()];
    if gap.contains([' ', '\t']) { gap.len() } else { 0 }
}

/// The text of one quoted argument, and the text after; `script` begins with the quote.
///
/// `'it'\''s'` is one argument in bash and its like. In PowerShell `'it''s'` is another text than
/// there, and cmd knows no such thing.
pub(crate) fn argument(script: &str, shell: Shell) -> Result<(Cow<'_, str>, &str), NotLiteral> {
    let mut text = Cow::Borrowed("");
    let mut at = 0;
    loop {
        let rest = &script[at..];
        let end_of_line =
            if shell == Shell::Posix { &[' ', '\t', '\n'][..] } else { &[' ', '\t', '\n', '\r'] };
        if rest.trim_start_matches(end_of_line).is_empty() {
            return Ok((text, ""));
        }
        if at > 0 && shell != Shell::Posix && !rest.starts_with(end_of_line) {
            return Err(NotLiteral::Form);
        }
        let mut chars = rest.chars();
        let (piece, len) = match (chars.next(), chars.next()) {
            (Some('\''), _) => {
                let len = rest[1..].find('\'').ok_or(NotLiteral::Open)?;
                (Cow::Borrowed(&rest[1..=len]), len + 2)
            }
            (Some('"'), _) => {
                let len = closing(&rest[1..], shell).ok_or(NotLiteral::Open)?;
                let inner = double_quoted(&rest[1..=len], shell).map_err(|error| match error {
                    NotLiteral::Expands(inside) => NotLiteral::Expands(at + 1 + inside),
                    other => other,
                })?;
                (inner, len + 2)
            }
            (Some('\\'), Some('\n')) => (Cow::Borrowed(""), 2),
            (Some('\\'), Some(escaped)) => {
                (Cow::Borrowed(&rest[1..1 + escaped.len_utf8()]), 1 + escaped.len_utf8())
            }
            (Some('$' | '`'), _) => return Err(NotLiteral::Expands(at)),
            (Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'), _) => {
                return Ok((text, rest));
            }
            _ => return Err(NotLiteral::Form),
        };
        text = if text.is_empty() { piece } else { text + piece };
        at += len;
    }
}

/// The end of a double quote open at the beginning.
fn closing(text: &str, shell: Shell) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped && shell == Shell::Posix;
        closes
    })
}

/// The text of a directory, quoted or not; `None` for a text that is not literal.
pub(crate) fn directory<'s>(node: Node<'_>, script: &'s str, shell: Shell) -> Option<Cow<'s, str>> {
    let text = text(node, script, shell)?;
    // `cd ''` stays, `cd -` goes back, `cd -P x` and `cd +1` are options, `=x` is a program in zsh.
    let special = text.is_empty()
        || text.starts_with(['-', '+'])
        || script[node.byte_range()].starts_with('=');
    (!special).then_some(text)
}

fn text<'s>(node: Node<'_>, script: &'s str, shell: Shell) -> Option<Cow<'s, str>> {
    let range = node.byte_range();
    let raw = &script[range.clone()];
    match node.kind() {
        "raw_string" => raw
            .strip_prefix('\'')?
            .strip_suffix('\'')
            .filter(|inner| !inner.contains('\''))
            .map(Cow::Borrowed),
        "string" => double_quoted(raw.strip_prefix('"')?.strip_suffix('"')?, shell).ok(),
        "word" | "number" => word(raw, shell),
        "concatenation" if shell == Shell::Posix => {
            let mut cursor = node.walk();
            let mut whole = String::new();
            let mut end = range.start;
            for part in node.children(&mut cursor) {
                if part.start_byte() != end {
                    return None;
                }
                whole.push_str(&text(part, script, shell)?);
                end = part.end_byte();
            }
            (end == range.end).then_some(Cow::Owned(whole))
        }
        _ => None,
    }
}

/// The text between double quotes.
fn double_quoted(inner: &str, shell: Shell) -> Result<Cow<'_, str>, NotLiteral> {
    let special: &[char] = match shell {
        Shell::Posix => &['$', '`', '\\', '"'],
        Shell::PowerShell => &['$', '`', '"'],
        Shell::Cmd => &['$', '`', '"', '%', '!', '^'],
    };
    let mut text = String::new();
    let mut rest = inner;
    while let Some(at) = rest.find(special) {
        let here = inner.len() - rest.len() + at;
        match rest.as_bytes()[at] {
            b'\\' => {}
            b'"' => return Err(NotLiteral::Form),
            _ => return Err(NotLiteral::Expands(here)),
        }
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        rest = match after.chars().next() {
            Some('\n') => &after[1..],
            Some(escaped @ ('$' | '`' | '\\' | '"')) => {
                text.push(escaped);
                &after[1..]
            }
            _ => {
                text.push('\\');
                after
            }
        };
    }
    if rest.len() == inner.len() {
        return Ok(Cow::Borrowed(inner));
    }
    text.push_str(rest);
    Ok(Cow::Owned(text))
}

/// Whether a shell takes a character of an unquoted word literally.
fn is_plain(char: char, shell: Shell) -> bool {
    match char {
        '%' => shell == Shell::Posix,
        '\\' => shell != Shell::Posix,
        _ => char.is_alphanumeric() || "._-/+,@:=".contains(char),
    }
}

/// An unquoted word of characters that no shell expands.
fn word(raw: &str, shell: Shell) -> Option<Cow<'_, str>> {
    if raw.chars().all(|char| is_plain(char, shell)) {
        return Some(Cow::Borrowed(raw));
    }
    let mut text = String::new();
    let mut chars = raw.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' if shell == Shell::Posix => match chars.next() {
                Some(escaped) if escaped != '\n' => text.push(escaped),
                _ => return None,
            },
            _ if is_plain(char, shell) => text.push(char),
            _ => return None,
        }
    }
    Some(Cow::Owned(text))
}
