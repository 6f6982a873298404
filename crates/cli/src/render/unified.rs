//! A unified diff taken apart, and what differs inside of its lines.
//!
//! It is parsed once, for the terminal and for the page.

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use apply_patch_api::engine::changed_ranges;

/// How long all highlights of one diff may take.
const TIME: Duration = Duration::from_millis(500);

/// The most words of a run of lines to compare, with the blanks between them.
const MAX_WORDS: usize = 4000;

/// A line of a file, without its sign and terminator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffLine<'d> {
    pub(crate) text: Cow<'d, str>,
    /// Its terminator has a carriage return.
    pub(crate) crlf: bool,
    /// The file ends here, without a line feed.
    pub(crate) no_newline: bool,
}

impl<'d> DiffLine<'d> {
    /// The line of a hunk, with a sign in front unless empty.
    fn of(line: &'d [u8]) -> Self {
        let body = line.get(1..).unwrap_or_default();
        let text = body.strip_suffix(b"\r");
        Self {
            crlf: text.is_some(),
            text: String::from_utf8_lossy(text.unwrap_or(body)),
            no_newline: false,
        }
    }
}

/// A part of a diff.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DiffPart<'d> {
    /// A line before the hunks of a file.
    Header(Cow<'d, str>),
    /// The line that begins a hunk.
    Hunk(Cow<'d, str>),
    Context(DiffLine<'d>),
    /// Lines that give way to others; either side may be empty.
    Change(Vec<DiffLine<'d>>, Vec<DiffLine<'d>>),
}

/// Takes a diff apart.
pub(crate) fn parts(diff: &[u8]) -> Vec<DiffPart<'_>> {
    let mut parts = Vec::new();
    let mut in_hunk = false;
    for line in diff.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        in_hunk = match line.first() {
            Some(b'@') => true,
            Some(b' ' | b'+' | b'-' | b'\\') | None => in_hunk,
            _ => false,
        };
        match line.first() {
            _ if !in_hunk => parts.push(DiffPart::Header(String::from_utf8_lossy(line))),
            Some(b'@') => parts.push(DiffPart::Hunk(String::from_utf8_lossy(line))),
            Some(b'-') => match parts.last_mut() {
                Some(DiffPart::Change(deleted, inserted)) if inserted.is_empty() => {
                    deleted.push(DiffLine::of(line))
                }
                _ => parts.push(DiffPart::Change(vec![DiffLine::of(line)], Vec::new())),
            },
            Some(b'+') => match parts.last_mut() {
                Some(DiffPart::Change(_, inserted)) => inserted.push(DiffLine::of(line)),
                _ => parts.push(DiffPart::Change(Vec::new(), vec![DiffLine::of(line)])),
            },
            Some(b'\\') => {
                let last = match parts.last_mut() {
                    Some(DiffPart::Context(line)) => Some(line),
                    Some(DiffPart::Change(deleted, inserted)) => {
                        inserted.last_mut().or(deleted.last_mut())
                    }
                    _ => None,
                };
                if let Some(last) = last {
                    last.no_newline = true;
                }
            }
            _ => parts.push(DiffPart::Context(DiffLine::of(line))),
        }
    }
    parts
}

/// A line in pieces; `true` for pieces different from the other side.
pub(crate) type Pieces = Vec<(bool, String)>;

/// Looks into lines, for as long as there is time.
#[derive(Debug)]
pub(crate) struct Highlighter {
    deadline: Instant,
}

impl Highlighter {
    pub(crate) fn new() -> Self {
        Self { deadline: Instant::now() + TIME }
    }

    /// The lines of both sides in pieces, word by word. Lines with little in common are one piece.
    pub(crate) fn pieces(
        &self,
        deleted: &[DiffLine<'_>],
        inserted: &[DiffLine<'_>],
    ) -> (Vec<Pieces>, Vec<Pieces>) {
        let old = words(deleted);
        let new = words(inserted);
        let is_compared = !deleted.is_empty()
            && !inserted.is_empty()
            && old.len() + new.len() <= MAX_WORDS
            && Instant::now() < self.deadline;
        let changed = if is_compared { changed_ranges(&old, &new) } else { Vec::new() };
        let (left, right): (Vec<_>, Vec<_>) = changed.into_iter().unzip();
        (pieces(&old, left), pieces(&new, right))
    }
}

/// The words of lines, and the blanks between them; after each line stands a line feed.
fn words<'l>(lines: &'l [DiffLine<'_>]) -> Vec<&'l [u8]> {
    let mut words = Vec::new();
    for line in lines {
        let bytes = line.text.as_bytes();
        words.extend(bytes.chunk_by(|a, b| a.is_ascii_whitespace() == b.is_ascii_whitespace()));
        words.push(b"\n");
    }
    words
}

/// Lines in pieces, from their words and the ranges of differences.
fn pieces(words: &[&[u8]], differing: Vec<Range<usize>>) -> Vec<Pieces> {
    let mut words: Vec<_> = words.iter().map(|word| (false, *word)).collect();
    for range in differing {
        words[range].iter_mut().for_each(|(differs, _)| *differs = true);
    }
    words.split_inclusive(|(_, word)| *word == b"\n").map(line_pieces).collect()
}

/// The words of a line joined where they all differ, or all are the same.
fn line_pieces(line: &[(bool, &[u8])]) -> Pieces {
    let (_, line) = line.split_last().expect("BUG: each line ends with a line feed");
    let mut pieces = Pieces::new();
    for piece in line.chunk_by(|(one, _), (other, _)| one == other) {
        let bytes: Vec<u8> = piece.iter().flat_map(|(_, word)| *word).copied().collect();
        pieces.push((piece[0].0, String::from_utf8_lossy(&bytes).into_owned()));
    }
    if stands_out(&pieces) { pieces } else { as_one(pieces) }
}

/// Whether most of the line is common to both sides: only then is it useful to mark the words that
/// differ.
fn stands_out(pieces: &Pieces) -> bool {
    let mut common = 0;
    let mut differing = 0;
    for (differs, text) in pieces {
        let visible = text.chars().filter(|c| !c.is_whitespace()).count();
        *if *differs { &mut differing } else { &mut common } += visible;
    }
    differing * 3 <= (common + differing) * 2
}

fn as_one(pieces: Pieces) -> Pieces {
    vec![(false, pieces.into_iter().map(|(_, text)| text).collect())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, no_newline: bool) -> DiffLine<'_> {
        DiffLine { text: text.into(), crlf: false, no_newline }
    }

    #[test]
    fn a_diff_is_taken_apart() {
        let diff = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ f\n a\r\n\n-b\n\
                     \\ No newline at end of file\n+c\n+d\n\\ No newline at end of file\n";
        let wanted = vec![
            DiffPart::Header("diff --git a/x b/x".into()),
            DiffPart::Header("--- a/x".into()),
            DiffPart::Header("+++ b/x".into()),
            DiffPart::Hunk("@@ -1,3 +1,3 @@ f".into()),
            DiffPart::Context(DiffLine { crlf: true, ..line("a", false) }),
            DiffPart::Context(line("", false)),
            DiffPart::Change(vec![line("b", true)], vec![line("c", false), line("d", true)]),
        ];
        assert_eq!(parts(diff), wanted);
    }

    #[test]
    fn the_words_that_differ_stand_out() {
        for (old, new, left, right) in [
            ("let x = 1;", "let x = 2;", vec!["1;"], vec!["2;"]),
            ("all of it", "nothing like that", vec![], vec![]),
            ("", "x", vec![], vec![]),
        ] {
            let (one, two) = Highlighter::new().pieces(&[line(old, false)], &[line(new, false)]);
            let marked = |lines: &[Pieces]| {
                lines
                    .iter()
                    .flatten()
                    .filter(|(differs, _)| *differs)
                    .map(|(_, text)| text.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(marked(&one), left as Vec<&str>);
            assert_eq!(marked(&two), right as Vec<&str>);
            let joined = |lines: &[Pieces]| {
                lines.iter().flatten().map(|(_, text)| text.as_str()).collect::<String>()
            };
            assert_eq!(joined(&one).as_str(), old);
            assert_eq!(joined(&two).as_str(), new);
        }
    }
}
