//! Removes what people and programs put around a patch: blank lines, a heredoc, a Markdown fence.
//!
//! Looks at the first and the last lines only; the grammar reads what is between.

use std::ops::Range;

use crate::diagnose;
use crate::error::{ParseError, ParseErrorKind, Warning, WarningKind};
use crate::marker::Marker;

const BEGIN: &str = Marker::Begin.as_str();
const END: &str = Marker::End.as_str();

/// The patch without wrappers.
#[derive(Debug)]
pub(crate) struct Peeled {
    /// The byte range that the grammar reads.
    pub(crate) body: Range<usize>,
    /// Whether the last marker was padded and is left out of `body`.
    pub(crate) open: bool,
    /// The removed wrappers.
    pub(crate) warnings: Vec<Warning>,
}

/// Finds the patch in a part of `text`. With `strip`, one heredoc and one fence, in either order,
/// are removed.
pub(crate) fn peel(text: &str, part: Range<usize>, strip: bool) -> Result<Peeled, ParseError> {
    if is_plain(&text[part.clone()]) {
        return Ok(Peeled { body: part, open: false, warnings: Vec::new() });
    }
    let mut body = trim_empty_lines(text, part);
    let mut warnings = Vec::new();
    if body.is_empty() {
        return Err(diagnose::at(
            text,
            body.start,
            ParseErrorKind::Empty,
            vec![Marker::Begin.symbol()],
        ));
    }
    while let Some((kind, inner)) = unwrap_once(text, &body) {
        if !strip {
            let expected = vec![Marker::Begin.symbol()];
            return Err(diagnose::at(text, body.start, ParseErrorKind::Wrapped, expected));
        }
        if warnings.iter().any(|warning: &Warning| warning.kind == kind) {
            break;
        }
        warnings.push(Warning { kind, line: diagnose::line_of(text.as_bytes(), body.start) });
        body = trim_empty_lines(text, inner);
    }
    let first = first_line(text, &body);
    if text[first.clone()].trim() != BEGIN {
        let kind = match memchr::memmem::find(text[body.clone()].as_bytes(), BEGIN.as_bytes()) {
            Some(_) => ParseErrorKind::TextBefore,
            None => ParseErrorKind::NoBegin,
        };
        return Err(diagnose::at(text, first.start, kind, vec![Marker::Begin.symbol()]));
    }
    let last = last_line(text, &body);
    let padded_end =
        text[last.clone()].trim() == END && text[last.clone()].starts_with([' ', '\t']);
    for line in [first, last.clone()] {
        let marker = text[line.clone()].trim_end_matches(['\r', '\n']);
        let is_marker = matches!(marker.trim(), BEGIN | END);
        if is_marker && marker.trim() != marker {
            if !strip {
                let expected = vec!["a marker line without blanks around it"];
                return Err(diagnose::at(text, line.start, ParseErrorKind::Padded, expected));
            }
            warnings.push(Warning {
                kind: WarningKind::Padded,
                line: diagnose::line_of(text.as_bytes(), line.start),
            });
        }
    }
    if padded_end {
        body.end = last.start;
    }
    Ok(Peeled { body, open: padded_end, warnings })
}

/// Returns whether the first line and the last are the markers, with nothing around them.
fn is_plain(text: &str) -> bool {
    let last = text.strip_suffix('\n').unwrap_or(text).strip_suffix(END);
    text.strip_prefix(BEGIN).is_some_and(|rest| rest.starts_with('\n'))
        && last.is_some_and(|above| above.ends_with('\n'))
}

/// Returns whether a text begins and ends as an envelope does.
pub(crate) fn ends(text: &str, strip: bool) -> bool {
    peel(text, 0..text.len(), strip)
        .is_ok_and(|peeled| peeled.open || text[last_line(text, &peeled.body)].trim() == END)
}

/// Drops lines without visible text at both ends, and keeps the line feed of the last line.
fn trim_empty_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let trimmed = inner.trim_matches([' ', '\t', '\r', '\n']);
    if trimmed.is_empty() {
        return range.end..range.end;
    }
    let first = inner.len() - inner.trim_start_matches([' ', '\t', '\r', '\n']).len();
    let start = inner[..first].rfind('\n').map_or(0, |end| end + 1);
    let last = first + trimmed.len();
    let end = inner[last..].find('\n').map_or(inner.len(), |end| last + end + 1);
    range.start + start..range.start + end
}

fn first_line(text: &str, range: &Range<usize>) -> Range<usize> {
    let end = text[range.clone()].find('\n').map_or(range.end, |end| range.start + end + 1);
    range.start..end
}

fn last_line(text: &str, range: &Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = inner.strip_suffix('\n').unwrap_or(inner).rfind('\n').map_or(0, |end| end + 1);
    range.start + start..range.end
}

/// Returns whether a line can open a heredoc or a fence.
pub(crate) fn may_open(line: &str) -> bool {
    let line = line.trim();
    heredoc_tag(line).is_some() || line.starts_with("```") || line.starts_with("~~~")
}

/// Recognises a heredoc or a fence around `body` and returns what is inside.
fn unwrap_once(text: &str, body: &Range<usize>) -> Option<(WarningKind, Range<usize>)> {
    let first = first_line(text, body);
    let last = last_line(text, body);
    if first == last {
        return None;
    }
    let inner = first.end..last.start;
    let opening = text[first].trim();
    let closing = text[last].trim();
    if let Some(tag) = heredoc_tag(opening) {
        return (closing == tag).then_some((WarningKind::Heredoc, inner));
    }
    let mark = opening.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let fence = opening.len() - opening.trim_start_matches(mark).len();
    let closes = closing.len() >= fence && closing.chars().all(|c| c == mark);
    (fence >= 3 && closes).then_some((WarningKind::Fence, inner))
}

/// Returns the tag of `<<TAG`, `<<-TAG`, `<<'TAG'` and `<<"TAG"`.
fn heredoc_tag(line: &str) -> Option<&str> {
    let tag = line.strip_prefix("<<")?;
    let tag = tag.strip_prefix('-').unwrap_or(tag).trim_start();
    let tag = match tag.as_bytes().first()? {
        quote @ (b'\'' | b'"') => tag[1..].strip_suffix(char::from(*quote))?,
        _ => tag,
    };
    (!tag.is_empty() && tag.chars().all(is_of_tag)).then_some(tag)
}

fn is_of_tag(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '\'' | '"' | '<' | '>' | '|' | '&' | ';' | '$' | '`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_heredoc_tags_of_every_form() {
        for (line, tag) in [
            ("<<EOF", Some("EOF")),
            ("<<-EOF", Some("EOF")),
            ("<< 'PATCH'", Some("PATCH")),
            ("<<\"END_1\"", Some("END_1")),
            ("<<\"EOF'", None),
            ("<<", None),
            ("<<''", None),
            ("<<EOF | tee", None),
            ("< <EOF", None),
        ] {
            assert_eq!(heredoc_tag(line), tag, "{line}");
        }
    }
}
