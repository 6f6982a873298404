//! A hunk as text, to be shown, split and edited.

use std::io::Write as _;
use std::ops::Range;

use apply_patch_api::grammar::{Hunk, Marker, Patch};

use super::form::{PatchForm, ended};
use crate::render;

/// The place of a hunk: its lines in the file, and its first line after the hunks before.
#[derive(Debug, Clone)]
pub(super) struct HunkPlace {
    pub(super) old: usize,
    pub(super) new: usize,
    /// The lines of the file before and after the hunk, as context.
    pub(super) around: [Vec<Vec<u8>>; 2],
}

/// A hunk as text, taken apart: a part is a run of changed lines with the unchanged ones after, and
/// before in the first part.
#[derive(Debug)]
pub(super) struct HunkText {
    /// Where the hunk goes, or why it has no place.
    pub(super) place: Result<HunkPlace, String>,
    pub(super) whole: Vec<u8>,
    /// The opening lines.
    head: Vec<u8>,
    /// The header, without line numbers.
    pub(super) header: String,
    /// Lines, each with a marker of its missing line feed.
    pub(super) parts: Vec<Vec<Vec<u8>>>,
    /// The marker of the end of the file.
    tail: Vec<u8>,
}

/// The decision of the person about a part of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PartDecision {
    Taken,
    Left,
    Edited(Vec<u8>),
}

impl HunkText {
    pub(super) fn of(patch: &Patch, hunk: &Hunk<'_>, place: Result<HunkPlace, String>) -> Self {
        let named = hunk.headers.iter().map(|header| &*header.text).collect::<Vec<_>>().join(", ");
        Self::new(hunk_text(patch, hunk), place, named)
    }

    /// Takes a hunk of a diff, which has its place in its header.
    #[cfg(feature = "review")]
    pub(super) fn of_diff(diff: &[u8]) -> Self {
        let place = place_of(diff).ok_or_else(|| "its place is not known".to_owned());
        Self::new(ended(diff), place, String::new())
    }

    /// Takes the text of a hunk apart; `named` are the names in its headers.
    fn new(text: Vec<u8>, place: Result<HunkPlace, String>, named: String) -> Self {
        let mut head = Vec::new();
        let mut tail = Vec::new();
        let mut parts = vec![Vec::<Vec<u8>>::new()];
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let part = parts.last_mut().expect("there is one at least");
            match line[0] {
                b'@' if part.is_empty() => head.extend_from_slice(line),
                b'*' => tail.extend_from_slice(line),
                b'\\' if !part.is_empty() => {
                    part.last_mut().expect("it has lines").extend_from_slice(line)
                }
                // Empty lines after the last marker are not lines of the file.
                _ if !tail.is_empty() => tail.extend_from_slice(line),
                b'+' | b'-'
                    if part.last().is_some_and(|last| !is_change(last))
                        && part.iter().any(|it| is_change(it)) =>
                {
                    parts.push(vec![line.to_vec()]);
                }
                _ => part.push(line.to_vec()),
            }
        }
        let first =
            String::from_utf8_lossy(head.split(|&byte| byte == b'\n').next().unwrap_or_default())
                .into_owned();
        // That of a diff stands after its numbers.
        let header = first.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@"));
        let header = header.map_or(named, |(_, rest)| rest.trim().to_owned());
        Self { place, whole: text, head, header, parts, tail }
    }

    /// Parts in colour, with the unchanged lines before, and their place. A hunk without unchanged
    /// lines at its beginning or end gets lines of the file there.
    pub(super) fn shown(&self, parts: Range<usize>) -> Vec<u8> {
        let before = self.parts[..parts.start].iter().flatten();
        let mut context: Vec<&Vec<u8>> = match parts.start.checked_sub(1) {
            Some(last) => self.parts[last]
                .iter()
                .skip_while(|line| !is_change(line))
                .filter(|line| !is_change(line))
                .collect(),
            None => Vec::new(),
        };
        let own = context.len();
        let mut lines: Vec<&Vec<u8>> = self.parts[parts.clone()].iter().flatten().collect();
        let mut added = 0;
        if let Ok(HunkPlace { around: [first, last], .. }) = &self.place {
            if parts.start == 0 && lines.first().is_some_and(|line| is_change(line)) {
                context.extend(first);
                added = first.len();
            }
            if parts.end == self.parts.len() && lines.last().is_some_and(|line| is_change(line)) {
                lines.extend(last);
            }
        }
        let lines = [context, lines].concat();
        // Writing to memory never fails.
        let mut shown = Vec::new();
        let header = match &self.place {
            Ok(place) => {
                let above = own + added;
                let old = place.old + count_without(before.clone(), b'+');
                let old = range(old.saturating_sub(above), count_without(lines.iter(), b'+'));
                let new = place.new + count_without(before, b'-');
                let new = range(new.saturating_sub(above), count_without(lines.iter(), b'-'));
                format!("@@ -{old} +{new} @@ {}", self.header)
            }
            Err(why) => {
                let _ = writeln!(shown, "! {}", render::sanitize(why));
                format!("@@ {}", self.header)
            }
        };
        let text: Vec<u8> = lines.into_iter().flatten().copied().collect();
        let _ = render::write_diff(
            &mut shown,
            &[header.trim_end().as_bytes(), b"\n", &text[..]].concat(),
        );
        shown
    }

    /// The hunk of the accepted parts; empty for none.
    pub(super) fn text(&self, parts: &[PartDecision], form: PatchForm) -> Vec<u8> {
        let lines = self.lines(parts);
        if !lines.split_inclusive(|&byte| byte == b'\n').any(is_change) {
            return Vec::new();
        }
        counted([&self.head[..], &lines, &self.tail].concat(), form)
    }

    /// The lines of the accepted parts.
    ///
    /// In an omitted part, the lines to delete become context, so that the place of the hunk stays
    /// the same.
    pub(super) fn lines(&self, parts: &[PartDecision]) -> Vec<u8> {
        let mut lines: Vec<u8> = Vec::new();
        for (part, of) in parts.iter().zip(&self.parts) {
            match part {
                PartDecision::Taken => lines.extend(of.concat()),
                PartDecision::Left => {
                    for line in of.iter().filter(|line| line[0] != b'+') {
                        let sign = if line[0] == b'-' { b' ' } else { line[0] };
                        lines.extend([&[sign], &line[1..]].concat());
                    }
                }
                PartDecision::Edited(text) => {
                    let own =
                        text.split_inclusive(|&byte| byte == b'\n').filter(|line| line[0] != b'@');
                    lines.extend(own.flatten());
                }
            }
        }
        lines
    }
}

/// How many lines do not begin with a sign.
fn count_without(lines: impl Iterator<Item: AsRef<[u8]>>, sign: u8) -> usize {
    lines.filter(|line| line.as_ref()[0] != sign).count()
}

/// A range of lines as a hunk has it.
fn range(first: usize, count: usize) -> String {
    match count {
        0 => format!("{},0", first.saturating_sub(1)),
        1 => first.to_string(),
        _ => format!("{first},{count}"),
    }
}

/// The line without its line end.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

pub(super) fn is_change(line: &[u8]) -> bool {
    matches!(line[0], b'+' | b'-')
}

/// A hunk of a diff with the numbers of its lines; one of an envelope has none.
pub(super) fn counted(text: Vec<u8>, form: PatchForm) -> Vec<u8> {
    match form {
        PatchForm::Envelope => text,
        PatchForm::Diff => renumbered(&text).unwrap_or(text),
    }
}

/// The hunk of a diff with the right counts in its header; `None` without a header.
fn renumbered(text: &[u8]) -> Option<Vec<u8>> {
    let first = text.split_inclusive(|&byte| byte == b'\n').next()?;
    let header = std::str::from_utf8(first).ok()?.strip_prefix("@@ -")?;
    let (numbers, rest) = header.split_once(" @@")?;
    let (old, new) = numbers.split_once(" +")?;
    let body = &text[first.len()..];
    let lines = body.split_inclusive(|&byte| byte == b'\n').filter(|line| line[0] != b'\\');
    let header = format!(
        "@@ -{},{} +{},{} @@{rest}",
        range_start(old),
        count_without(lines.clone(), b'+'),
        range_start(new),
        count_without(lines, b'-')
    );
    Some([header.as_bytes(), body].concat())
}

fn range_start(range: &str) -> &str {
    range.split(',').next().unwrap_or_default()
}

/// The text of a hunk, with all of its lines ended.
pub(super) fn hunk_text(patch: &Patch, hunk: &Hunk<'_>) -> Vec<u8> {
    const END: &[u8] = Marker::EndOfFile.as_str().as_bytes();
    let mut text = ended(patch.bytes(hunk.span.clone()));
    if hunk.end_of_file
        && !text.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_end() == END)
    {
        text.extend_from_slice(END);
        text.push(b'\n');
    }
    text
}

/// Returns the place in the header of a hunk.
#[cfg(feature = "review")]
fn place_of(diff: &[u8]) -> Option<HunkPlace> {
    let first = diff.split(|&byte| byte == b'\n').next()?;
    let header = std::str::from_utf8(first).ok()?.strip_prefix("@@ -")?;
    let (numbers, _) = header.split_once(" @@")?;
    let (old, new) = numbers.split_once(" +")?;
    let [old, new] = [old, new].map(|range| match range.split_once(',') {
        Some((first, "0")) => first.parse().ok().map(|first: usize| first + 1),
        _ => range_start(range).parse().ok(),
    });
    Some(HunkPlace { old: old?, new: new?, around: Default::default() })
}

/// Returns the lines of a hunk after its change.
#[cfg(feature = "review")]
pub(super) fn after_change(diff: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut is_kept = false;
    for line in diff.split_inclusive(|&byte| byte == b'\n') {
        match line[0] {
            b'\\' if is_kept => drop(out.pop()),
            b'\\' | b'@' => {}
            b'-' => is_kept = false,
            b' ' | b'+' => {
                is_kept = true;
                out.extend_from_slice(&line[1..]);
            }
            // An editor may have taken the blank away.
            _ => {
                is_kept = true;
                out.extend_from_slice(line);
            }
        }
    }
    out
}

/// Returns a hunk the other way round.
#[cfg(feature = "review")]
pub(super) fn reversed(diff: &[u8]) -> Vec<u8> {
    let mut lines = diff.split_inclusive(|&byte| byte == b'\n').peekable();
    let mut out = Vec::new();
    if let Some(header) = lines.next_if(|line| line.starts_with(b"@@ -")) {
        out.extend(reversed_header(header).unwrap_or_else(|| header.to_vec()));
    }
    let (mut deleted, mut inserted) = (Vec::new(), Vec::new());
    let mut last = b' ';
    for line in lines {
        let sign = if line[0] == b'\\' { last } else { line[0] };
        last = sign;
        let text: &[u8] = if line[0] == b'\\' { line } else { &line[1..] };
        let (side, turned): (&mut Vec<u8>, &[u8]) = match sign {
            b'+' => (&mut deleted, b"-"),
            b'-' => (&mut inserted, b"+"),
            _ => {
                out.append(&mut deleted);
                out.append(&mut inserted);
                (&mut out, b" ")
            }
        };
        if line[0] != b'\\' {
            side.extend_from_slice(turned);
        }
        side.extend_from_slice(text);
    }
    out.append(&mut deleted);
    out.append(&mut inserted);
    out
}

#[cfg(feature = "review")]
fn reversed_header(header: &[u8]) -> Option<Vec<u8>> {
    let header = std::str::from_utf8(header).ok()?.strip_prefix("@@ -")?;
    let (numbers, rest) = header.split_once(" @@")?;
    let (old, new) = numbers.split_once(" +")?;
    Some(format!("@@ -{new} +{old} @@{rest}").into_bytes())
}

#[cfg(all(test, feature = "review"))]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_the_other_way_round_and_after_its_change() {
        let cases: [(&str, &str, &str); 3] = [
            ("@@ -1,2 +1,2 @@ f\n a\n-b\n+c\n", "@@ -1,2 +1,2 @@ f\n a\n-c\n+b\n", "a\nc\n"),
            ("@@ -0,0 +1 @@\n+x\n", "@@ -1 +0,0 @@\n-x\n", "x\n"),
            (
                "@@ -1,2 +1,2 @@\n-a\n-b\n\\ No newline at end of file\n+c\n d\n",
                "@@ -1,2 +1,2 @@\n-c\n+a\n+b\n\\ No newline at end of file\n d\n",
                "c\nd\n",
            ),
        ];
        for (diff, back, after) in cases {
            assert_eq!(String::from_utf8(reversed(diff.as_bytes())).expect("UTF-8"), back);
            assert_eq!(String::from_utf8(after_change(diff.as_bytes())).expect("UTF-8"), after);
        }
        let open = "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n";
        assert_eq!(after_change(open.as_bytes()), b"b");
    }
}
