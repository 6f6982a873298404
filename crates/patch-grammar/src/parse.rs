//! Parses a patch: removes what may stand around it, applies the grammar, and makes the tree.

use std::ops::Range;
use std::str::Utf8Error;
use std::thread;

use pest_itself::Parser as _;

use crate::diagnose;
use crate::error::{ParseError, ParseErrorKind};
use crate::grammar::{PatchParser, Rule};
use crate::lower::Lowering;
use crate::marker::Marker;
use crate::options::ParseOptions;
use crate::patch::{Parsed, Patch, Text};
use crate::wrapper::{self, Peeled};

#[cfg(test)]
mod tests;

/// Reads `bytes` as the text of a patch.
///
/// # Errors
///
/// [`ParseErrorKind::NotUtf8`] and [`ParseErrorKind::Nul`], each with the place of the first bad
/// byte; [`ParseErrorKind::NoEnd`] where a patch ends within a character.
pub fn decode(bytes: &[u8]) -> Result<&str, ParseError> {
    let (text, error) = valid_part(bytes);
    let (kind, at) = match (memchr::memchr(0, text.as_bytes()), error) {
        (Some(at), _) => (ParseErrorKind::Nul, at),
        (None, Some(error)) if error.error_len().is_none() && begins(text) => {
            (ParseErrorKind::NoEnd, text.len())
        }
        (None, Some(_)) => (ParseErrorKind::NotUtf8, text.len()),
        (None, None) => return Ok(text),
    };
    let seen = match kind {
        ParseErrorKind::Nul => "\\0".to_owned(),
        _ => format!("\\x{:02x}", bytes[at]),
    };
    let wanted = if kind == ParseErrorKind::NoEnd { diagnose::REST } else { "UTF-8 text" };
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    Err(ParseError {
        kind,
        line: diagnose::line_of(before.as_bytes(), at),
        column: diagnose::column(&before[line_start..]),
        span: at..at + 1,
        expected: vec![wanted],
        seen: Some(seen),
    })
}

/// Returns whether a patch, or a SEARCH/REPLACE block, begins in the text.
fn begins(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.any(|line| Marker::of(line) == Some(Marker::Begin) || line.starts_with("<<<<<<< "))
}

/// Returns the part of `bytes` before the first one that is not UTF-8, and the error there.
pub(crate) fn valid_part(bytes: &[u8]) -> (&str, Option<Utf8Error>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = &bytes[..error.valid_up_to()];
            (std::str::from_utf8(valid).expect("checked up to here"), Some(error))
        }
    }
}

/// Parses one patch: all of the text, or the part taken by [`Text::part`].
///
/// Time and memory are linear in the text.
///
/// # Errors
///
/// Those of [`decode`]; else the first thing that is wrong, with its line and column, what was
/// expected and what was seen.
pub fn parse(text: impl Into<Text>, options: &ParseOptions) -> Result<Patch, ParseError> {
    let text = text.into();
    let part = text.range();
    let mut patch = Patch::read(text, |bytes| tree(decode(bytes)?, part, options))?;
    patch.to_the_letter = options.to_the_letter;
    Ok(patch)
}

/// Up to this size a text is parsed at once: its tokens are few, and each part costs what half a
/// dozen lines do.
const SMALL: usize = 16 << 10;

/// From this size on a second thread reads half of a text: it costs about what 30 kB do.
const LARGE: usize = 256 << 10;

/// Parses a part of a text.
pub(crate) fn tree<'p>(
    text: &'p str,
    part: Range<usize>,
    options: &ParseOptions,
) -> Result<Parsed<'p>, ParseError> {
    let peeled = wrapper::peel(text, part, options.strip_wrappers)?;
    if peeled.body.len() > SMALL
        && let Some(tree) = in_parts(text, &peeled, options)
    {
        return Ok(tree);
    }
    in_one_piece(text, &peeled, options)
}

/// Reads a few sections at a time. Returns `None` when anything is wrong: only the whole text gives
/// the full error.
///
/// Pest keeps a token for each beginning and end of a rule: 130 MB for 100 000 updates, next to
/// nothing for sixteen. The match of a rule does not depend on the text before, so the parts are
/// the same as in a parse of the whole.
fn in_parts<'p>(text: &'p str, peeled: &Peeled, options: &ParseOptions) -> Option<Parsed<'p>> {
    let Range { start, end } = peeled.body;
    // A browser gets no code for a second thread.
    let two = end - start > LARGE && cfg!(not(target_family = "wasm"));
    let middle = if two { middle_of(text, start..end) } else { None };
    in_parts_from(text, peeled, options, middle)
}

/// Does the same. A thread reads what follows from byte `middle` on, where a section may begin.
fn in_parts_from<'p>(
    text: &'p str,
    peeled: &Peeled,
    options: &ParseOptions,
    middle: Option<usize>,
) -> Option<Parsed<'p>> {
    let Range { start, end } = peeled.body;
    let mut lowering = Lowering::new(text, peeled, options);
    let part = |rule, at: usize| PatchParser::parse(rule, &text[at..end]);
    // Reads sections from byte `at` to the first section at or behind `until`.
    let sections = |lowering: &mut Lowering<'p, '_>, from: usize, until: usize| {
        let mut at = from;
        while at < until
            && let Ok(sections) = part(Rule::accepted_some, at)
        {
            at = lowering.part(at, sections).ok()?;
            lowering.make_room(at - from, end - from);
        }
        Some(at)
    };
    let mut at = lowering.part(start, part(Rule::accepted_head, start).ok()?).ok()?;
    if let Some(middle) = middle {
        let mut second = lowering.walk_from(middle);
        at = thread::scope(|scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, move || {
                sections(&mut second, middle, end).map(|end| (second, end))
            });
            let at = sections(&mut lowering, at, middle)?;
            let second = thread.ok().and_then(|thread| thread.join().ok().flatten());
            let followed = second.and_then(|(second, end)| lowering.follow(at, second, end));
            Some(followed.unwrap_or(at))
        })?;
    }
    at = sections(&mut lowering, at, end)?;
    if !peeled.open {
        at = lowering.part(at, part(Rule::accepted_end, at).ok()?).ok()?;
    }
    if at == end { lowering.finish(at).ok() } else { None }
}

/// Finds a place in the middle of a text where a section may begin.
fn middle_of(text: &str, body: Range<usize>) -> Option<usize> {
    let half = body.start + body.len() / 2;
    let rest = &text.as_bytes()[half..body.end];
    memchr::memmem::find_iter(rest, b"\n*** ").map(|at| half + at + 1).find(|&at| {
        let marker = Marker::of(&text[at..]);
        matches!(marker, Some(Marker::Add | Marker::Delete | Marker::Update | Marker::Move))
    })
}

fn in_one_piece<'p>(
    text: &'p str,
    peeled: &Peeled,
    options: &ParseOptions,
) -> Result<Parsed<'p>, ParseError> {
    let body = &text[peeled.body.clone()];
    let rule = if peeled.open { Rule::accepted_open } else { Rule::accepted };
    let mut pairs = PatchParser::parse(rule, body).map_err(|error| {
        let bare = options.bare_first_hunk;
        diagnose::from_pest(text, peeled.body.start, body, &error, bare)
    })?;
    let whole = pairs.next().expect("a rule that matched has a pair");
    let mut lowering = Lowering::new(text, peeled, options);
    let end = lowering.part(peeled.body.start, whole.into_inner())?;
    lowering.finish(end)
}
