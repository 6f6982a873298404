//! A unified diff taken apart, and what differs inside of its lines.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use similar::{ChangeTag, InlineChangeMode, InlineChangeOptions, TextDiff};

/// How long all highlights of one diff may take.
const TIME: Duration = Duration::from_millis(500);

/// The longest run of lines, and the longest text of it in bytes, that is looked into.
const MAX_LINES: usize = 200;
const MAX_BYTES: usize = 64 << 10;

/// A line of a file, without its sign and terminator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffLine<'d> {
    pub(crate) text: Cow<'d, str>,
    /// Its terminator has a carriage return.
    pub(crate) crlf: bool,
    /// The file ends here, without a line feed.
    pub(crate) no_newline: bool,
}

/// A part of a diff.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DiffPart<'d> {
    /// A line before the hunks of a file.
    Header(Cow<'d, str>),
    /// The line that begins a hunk.
    Hunk(Cow<'d, str>),
    Context(DiffLine<'d>),
    /// Lines that give way to others; either may be none.
    Change(Vec<DiffLine<'d>>, Vec<DiffLine<'d>>),
}

/// Takes a diff apart.
pub(crate) fn parts(diff: &[u8]) -> Vec<DiffPart<'_>> {
    let mut parts = Vec::new();
    let mut in_hunk = false;
    for line in diff.split_inclusive(|&byte| byte == b'\n') {
        let text = |bytes| String::from_utf8_lossy(bytes);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        in_hunk = match line.first() {
            Some(b'@') => true,
            Some(b' ' | b'+' | b'-' | b'\\') | None => in_hunk,
            _ => false,
        };
        let body = || {
            let body = line.get(1..).unwrap_or_default();
            match body.strip_suffix(b"\r") {
                Some(body) => DiffLine { text: text(body), crlf: true, no_newline: false },
                None => DiffLine { text: text(body), crlf: false, no_newline: false },
            }
        };
        match line.first() {
            _ if !in_hunk => parts.push(DiffPart::Header(text(line))),
            Some(b'@') => parts.push(DiffPart::Hunk(text(line))),
            Some(b'-') => match parts.last_mut() {
                Some(DiffPart::Change(deleted, inserted)) if inserted.is_empty() => {
                    deleted.push(body())
                }
                _ => parts.push(DiffPart::Change(vec![body()], Vec::new())),
            },
            Some(b'+') => match parts.last_mut() {
                Some(DiffPart::Change(_, inserted)) => inserted.push(body()),
                _ => parts.push(DiffPart::Change(Vec::new(), vec![body()])),
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
            _ => parts.push(DiffPart::Context(body())),
        }
    }
    parts
}

/// A line in pieces; `true` for those that differ from the other side.
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

    /// The lines of both sides in pieces, word by word. Lines that have little in common are one
    /// piece.
    pub(crate) fn pieces(
        &self,
        deleted: &[DiffLine<'_>],
        inserted: &[DiffLine<'_>],
    ) -> (Vec<Pieces>, Vec<Pieces>) {
        let whole = |lines: &[DiffLine<'_>]| {
            lines.iter().map(|line| vec![(false, line.text.to_string())]).collect()
        };
        let text = |lines: &[DiffLine<'_>]| {
            lines.iter().flat_map(|line| [&line.text, "\n"]).collect::<String>()
        };
        let plain = (whole(deleted), whole(inserted));
        let bytes: usize = deleted.iter().chain(inserted).map(|line| line.text.len()).sum();
        let out_of_reach = deleted.len() + inserted.len() > MAX_LINES || bytes > MAX_BYTES;
        // A carriage return inside a line would be taken for the end of one.
        let odd = deleted.iter().chain(inserted).any(|line| line.text.contains('\r'));
        if deleted.is_empty()
            || inserted.is_empty()
            || out_of_reach
            || odd
            || Instant::now() >= self.deadline
        {
            return plain;
        }
        let (old, new) = (text(deleted), text(inserted));
        let diff = TextDiff::configure().deadline(self.deadline).diff_lines(&old, &new);
        let mut options = InlineChangeOptions::new();
        options.mode(InlineChangeMode::Words);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for change in
            diff.iter_all_inline_changes_with_options_deadline(options, Some(self.deadline))
        {
            let pieces: Pieces = change
                .iter_strings_lossy()
                .map(|(differs, text)| (differs, text.trim_end_matches('\n').to_owned()))
                .filter(|(_, text)| !text.is_empty())
                .collect();
            let pieces = if stands_out(&pieces) { pieces } else { as_one(pieces) };
            match change.tag() {
                ChangeTag::Delete => left.push(pieces),
                ChangeTag::Insert => right.push(pieces),
                ChangeTag::Equal => {
                    left.push(pieces.clone());
                    right.push(pieces);
                }
            }
        }
        if (left.len(), right.len()) == (deleted.len(), inserted.len()) {
            (left, right)
        } else {
            plain
        }
    }
}

/// Whether most of the line is common to both sides: only then is it useful to mark the words that
/// differ.
fn stands_out(pieces: &Pieces) -> bool {
    let visible = |differing: bool| {
        let texts =
            pieces.iter().filter(|(differs, _)| *differs == differing).map(|(_, text)| text);
        texts.flat_map(|text| text.chars()).filter(|c| !c.is_whitespace()).count()
    };
    let (common, differing) = (visible(false), visible(true));
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
