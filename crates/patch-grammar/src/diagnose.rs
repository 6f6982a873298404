//! Explains what is wrong at the place where the grammar stopped.
//!
//! Pest's line is right; its column points at the start of the failed token, and its rule names
//! mean nothing to people. So the line is read again, together with its section.

use pest_itself::error::{Error, ErrorVariant, InputLocation};

use crate::error::{ParseError, ParseErrorKind};
use crate::grammar::{Rule, symbol};
use crate::lines::is_combined;
use crate::marker::Marker;

/// Makes the error for a text that the grammar does not accept. `body` is the part that was parsed;
/// it begins at byte `base` of `text`. `bare` says whether the first hunk may be without `@@`.
pub(crate) fn from_pest(
    text: &str,
    base: usize,
    body: &str,
    error: &Error<Rule>,
    bare: bool,
) -> ParseError {
    let offset = match error.location {
        InputLocation::Pos(offset) | InputLocation::Span((offset, _)) => offset,
    };
    let positives = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives.as_slice(),
        ErrorVariant::CustomError { .. } => &[],
    };
    let mut expected = Vec::new();
    for symbol in positives.iter().copied().filter_map(symbol) {
        if !expected.contains(&symbol) {
            expected.push(symbol);
        }
    }
    if expected.is_empty() {
        expected.push(Marker::End.symbol());
    }
    let line_start = body[..offset].rfind('\n').map_or(0, |end| end + 1);
    let line_end = body[line_start..].find('\n').map_or(body.len(), |end| line_start + end);
    let line = body[line_start..line_end].trim_end_matches('\r');
    let context = enclosing(&body[..line_start]);
    let last = line_end == body.len();
    if context == Context::Add && line.starts_with('+') && !last {
        // The line is right; the empty ones before it lack their plus sign.
        let gap = body[..line_start].trim_end_matches(['\n', '\r', ' ', '\t']).len();
        let empty = gap + body[gap..].find('\n').map_or(0, |end| end + 1);
        let expected = vec!["`+` at the beginning of the line"];
        return at(text, base + empty, ParseErrorKind::NoPlus, expected);
    }
    let (kind, mut expected, within) = judge(line, last, context, expected);
    if kind == ParseErrorKind::NoAt && !bare {
        expected.retain(|&wanted| Some(wanted) != symbol(Rule::bare_hunk));
    }
    at_offset(text.as_bytes(), base + line_start, within, kind, expected)
}

/// The expected text where a patch was cut off. The last marker alone would close half a change.
pub(crate) const REST: &str = "the rest of the patch, down to `*** End Patch`";

/// The part of a patch opened by the lines before the bad one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Outside,
    After,
    Add,
    Update { open_hunk: bool, at_just_before: bool },
    Other,
}

fn enclosing(before: &str) -> Context {
    let mut open_hunk = false;
    let mut at_just_before = false;
    for (nth, line) in before.lines().rev().enumerate() {
        let header = line.trim_start();
        match Marker::of(header) {
            Some(Marker::End) => return Context::After,
            Some(Marker::Add) => return Context::Add,
            Some(Marker::Update | Marker::Move) => {
                return Context::Update { open_hunk, at_just_before };
            }
            Some(Marker::Delete | Marker::Begin) => return Context::Other,
            Some(Marker::MoveTo | Marker::EndOfFile | Marker::Environment) => {}
            None if header.starts_with("*** ") => {}
            None => {
                open_hunk = true;
                at_just_before |= nth == 0 && line.starts_with("@@");
            }
        }
    }
    Context::Outside
}

/// Says what is wrong with `line`, and at which byte of it.
fn judge(
    line: &str,
    last: bool,
    context: Context,
    expected: Vec<&'static str>,
) -> (ParseErrorKind, Vec<&'static str>, usize) {
    let trimmed = line.trim();
    if context == Context::After {
        let kind = if Marker::of(trimmed) == Some(Marker::Begin) {
            ParseErrorKind::SecondEnvelope
        } else {
            ParseErrorKind::TextAfter
        };
        return (kind, vec!["the end of the text"], 0);
    }
    let whole = match context {
        Context::Add => line.is_empty() || line.starts_with('+'),
        Context::Update { .. } => line.is_empty() || line.starts_with([' ', '+', '-', '@', '\\']),
        _ => line.is_empty(),
    };
    let is_header = Marker::of(trimmed).is_some_and(|marker| marker != Marker::Begin);
    let ends = last && (whole || is_header);
    if matches!(context, Context::Update { at_just_before: true, .. }) && is_header {
        return (ParseErrorKind::EmptyHunk, vec!["a line that begins with a blank, `-` or `+`"], 0);
    }
    if ends {
        return (ParseErrorKind::NoEnd, vec![REST], 0);
    }
    if Marker::of(trimmed) == Some(Marker::Begin) {
        // The first line of all, without a line feed and with nothing behind.
        return if last && context == Context::Outside {
            (ParseErrorKind::NoEnd, vec![REST], line.len())
        } else {
            (ParseErrorKind::SecondEnvelope, expected, 0)
        };
    }
    // A last line that breaks off within a marker was cut off: no typo.
    if last && Marker::ALL.iter().any(|marker| marker.as_str().starts_with(trimmed)) {
        return (ParseErrorKind::NoEnd, vec![REST], trimmed.len());
    }
    if trimmed.starts_with("***") {
        let (closest, within) = closest_header(trimmed);
        let within = within + (line.len() - line.trim_start().len());
        return (ParseErrorKind::UnknownHeader { closest }, expected, within);
    }
    if is_combined(line.as_bytes()) {
        return (ParseErrorKind::CombinedDiff, vec!["`@@`"], 0);
    }
    match context {
        Context::Add => {
            (ParseErrorKind::NoPlus, vec!["`+` at the beginning of the line", "a `***` header"], 0)
        }
        Context::Update { open_hunk: true, .. } => (
            ParseErrorKind::NoPrefix,
            vec!["a blank, `-` or `+` at the beginning of the line", "`@@`", "a `***` header"],
            0,
        ),
        Context::Update { .. } => (ParseErrorKind::NoAt, expected, 0),
        _ => (ParseErrorKind::Unexpected, expected, 0),
    }
}

/// Returns the header nearest to `line` and the first byte at which they differ.
fn closest_header(line: &str) -> (Option<&'static str>, usize) {
    /// Other tools' words for the same.
    const SYNONYMS: [(&str, Marker); 9] = [
        ("modify", Marker::Update),
        ("edit", Marker::Update),
        ("change", Marker::Update),
        ("patch", Marker::Update),
        ("create", Marker::Add),
        ("new", Marker::Add),
        ("write", Marker::Add),
        ("remove", Marker::Delete),
        ("rename", Marker::Move),
    ];
    let word = line
        .trim_start_matches('*')
        .split_ascii_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    if let Some((_, meant)) =
        SYNONYMS.into_iter().find(|(synonym, _)| *synonym == word.trim_end_matches(':'))
    {
        return (
            Some(meant.symbol()),
            line.bytes().take_while(|byte| matches!(byte, b'*' | b' ')).count(),
        );
    }
    let head = line.split_inclusive(':').next().unwrap_or(line);
    let head: String = head.chars().take(40).collect();
    let nearest = Marker::ALL
        .into_iter()
        .map(|marker| {
            let header = marker.as_str();
            let score = strsim::normalized_damerau_levenshtein(
                &head.to_lowercase(),
                &header.to_lowercase(),
            );
            (score, header, marker.symbol())
        })
        .max_by(|left, right| left.0.total_cmp(&right.0));
    match nearest {
        Some((score, header, symbol)) if score >= 0.6 => {
            let same = line
                .bytes()
                .zip(header.bytes())
                .take_while(|(seen, wanted)| seen == wanted)
                .count();
            if same == header.len() {
                // A right header in a wrong place.
                return (None, 0);
            }
            (Some(symbol), (0..=same).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0))
        }
        _ => (None, 0),
    }
}

/// Makes an error at byte `start` of `text`, where a line begins.
pub(crate) fn at(
    text: &str,
    start: usize,
    kind: ParseErrorKind,
    expected: Vec<&'static str>,
) -> ParseError {
    at_offset(text.as_bytes(), start, 0, kind, expected)
}

/// Makes an error at byte `within` of the line from byte `line_start` of `text` on.
pub(crate) fn at_offset(
    text: &[u8],
    line_start: usize,
    within: usize,
    kind: ParseErrorKind,
    expected: Vec<&'static str>,
) -> ParseError {
    let line_end =
        memchr::memchr(b'\n', &text[line_start..]).map_or(text.len(), |end| line_start + end);
    let mut line = &text[line_start..line_end];
    while let Some(shorter) = line.strip_suffix(b"\r") {
        line = shorter;
    }
    let seen =
        (line_start < text.len()).then(|| String::from_utf8_lossy(line).chars().take(80).collect());
    let start = line_start + within.min(line.len());
    ParseError {
        kind,
        line: line_of(text, line_start),
        column: column(&String::from_utf8_lossy(&text[line_start..start])),
        span: start..line_start + line.len(),
        expected,
        seen,
    }
}

/// Returns the 1-based column after `before`, the preceding part of the line.
pub(crate) fn column(before: &str) -> u32 {
    u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX)
}

/// Returns the 1-based line of a byte.
pub(crate) fn line_of(text: &[u8], offset: usize) -> u32 {
    let lines = memchr::memchr_iter(b'\n', &text[..offset]).count() + 1;
    u32::try_from(lines).unwrap_or(u32::MAX)
}
