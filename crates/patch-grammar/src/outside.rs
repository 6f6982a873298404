//! Lines that belong to a patch, wherever they stand: the text around a patch may be prose, and
//! must not be another part of it.

use std::ops::Range;

use crate::diagnose;
use crate::error::{ParseError, ParseErrorKind};
use crate::lines::Lines;
use crate::mail::cover_letter;
use crate::marker::{Marker, respelled};

/// The most files that an error names.
const NAMED: usize = 5;

/// Returns whether a part of a patch begins in line `at`: a marker, a hunk, the header of a file of
/// a diff, or a SEARCH marker. `line` returns the lines without their terminators.
pub(crate) fn belongs<'l>(line: impl Fn(usize) -> &'l [u8], at: usize) -> bool {
    let text = line(at).trim_ascii();
    let next = line(at + 1);
    if quotes_diff(text) {
        return true;
    }
    match text.first() {
        Some(b'@') => {
            text.starts_with(b"@@") && matches!(next.trim_ascii_end(), [b'+' | b'-' | b' ', ..])
        }
        Some(b'*' | b'"' | b'\'' | b'`' | 0x80..) => header(text).is_some(),
        Some(b'<' | b'-') if opens_block(text) => true,
        Some(b'-') => text.starts_with(b"--- ") && next.trim_ascii().starts_with(b"+++ "),
        Some(b'r') => text.starts_with(b"rename from ") && next.starts_with(b"rename to "),
        Some(b'c') => text.starts_with(b"copy from ") && next.starts_with(b"copy to "),
        Some(b'I') => text.starts_with(b"Index: ") && next.starts_with(b"===="),
        // Without the line of the file name. A mode that files have anyway says nothing.
        Some(b'o') => text.starts_with(b"old mode 1") && next.starts_with(b"new mode 1"),
        Some(b'n') => text.strip_prefix(b"new file mode 1").is_some_and(|mode| mode != b"00644"),
        Some(b'd') if text.starts_with(b"deleted file mode 1") => true,
        Some(b'd') => COMMANDS.iter().any(|command| text.starts_with(command)),
        Some(b'G') => text == b"GIT binary patch",
        Some(b'B') => binary_file(text).is_some(),
        Some(b'S') => submodule(text).is_some(),
        Some(b'=') => text.starts_with(b"=== renamed file '"),
        _ => false,
    }
}

/// Returns whether a line is indented as quotations are, and no part of an envelope or a block. A
/// single blank may be the sign of a line of context.
pub(crate) fn is_quotation(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    let other = matches!(text.first(), None | Some(b'*' | b'"' | b'\'' | b'`' | b'<' | 0x80..));
    (line.starts_with(b"  ") || line.starts_with(b"\t")) && !other && !opens_block(text)
}

/// Returns whether a part of a patch, of whatever form, stands somewhere in a text.
#[must_use]
pub fn has_part_of_patch(text: &[u8]) -> bool {
    let lines = Lines::new(text, 0..text.len());
    (0..lines.len()).any(|at| belongs(|at| lines.get(at), at))
}

/// Returns whether a diff begins behind a quotation mark still open at the end of the line: the
/// closing mark stands behind the last line of the diff, and looks like a part of the diff.
fn quotes_diff(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"diff -").is_some_and(|at| {
        let mark = at.checked_sub(1).map(|before| line[before]);
        mark.is_some_and(|mark| b"`'\"".contains(&mark) && !line[at..].contains(&mark))
    })
}

/// Reads a line as a marker, also a misspelled one.
fn header(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    respelled(text).or_else(|| Marker::of(text).map(|_| text.to_owned()))
}

/// Returns the file named by a line.
pub(crate) fn file(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii();
    if let Some(path) = line.strip_prefix(b"+++ ").or_else(|| line.strip_prefix(b"--- ")) {
        let path = path.split(|&byte| byte == b'\t').next().unwrap_or(path);
        let path = path.strip_prefix(b"a/").or_else(|| path.strip_prefix(b"b/")).unwrap_or(path);
        return Some(lossy(path)).filter(|path| path != "/dev/null");
    }
    for words in [&b"Index: "[..], b"rename from ", b"rename to ", b"copy from ", b"copy to "] {
        if let Some(path) = line.strip_prefix(words) {
            return Some(lossy(path));
        }
    }
    if let Some(path) = submodule(line).or_else(|| binary_file(line)) {
        return Some(lossy(path));
    }
    let header = header(line)?;
    let marker = Marker::of(&header)?;
    let (_, path) = header.split_once(": ")?;
    (marker != Marker::Environment).then(|| path.trim().to_owned())
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.trim_ascii()).into_owned()
}

/// Returns the first files named by lines, each once.
pub(crate) fn files<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for file in lines.filter_map(file) {
        if files.len() < NAMED && !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Checks the lines around the patches of a text. `quotes` is whether diffs that are indented there
/// are quotations.
///
/// # Errors
///
/// [`ParseErrorKind::TextOutside`], with the lines that belong to a patch and are in none, and the
/// files that they name.
pub(crate) fn check(
    text: &[u8],
    lines: &Lines<'_>,
    around: impl IntoIterator<Item = Range<usize>>,
    quotes: bool,
) -> Result<(), ParseError> {
    let mut found = Vec::new();
    for region in around {
        if let Some(first) = first_part(lines, &region, quotes) {
            let mut below = (first..region.end).rev();
            let last = below.find(|&at| !lines.get(at).trim_ascii().is_empty());
            found.push(first..last.unwrap_or(first) + 1);
        }
    }
    let Some(first) = found.first() else { return Ok(()) };
    let expected = vec![match lines.get(first.start) {
        line if line.starts_with(b"@@") => "no other text between the hunks of a file",
        _ => "all sections between one `*** Begin Patch` and one `*** End Patch`",
    }];
    let start = lines.range(first.start).start;
    let files = files(found.iter().cloned().flatten().map(|at| lines.get(at)));
    found.truncate(NAMED);
    let kind = ParseErrorKind::TextOutside { lines: found, files };
    Err(diagnose::at_offset(text, start, 0, kind, expected))
}

/// Returns the first line of a region that belongs to a patch. The cover letter of a series does
/// not, whatever it shows.
fn first_part(lines: &Lines<'_>, region: &Range<usize>, quotes: bool) -> Option<usize> {
    let inside = |at: usize| if at < region.end { lines.get(at) } else { b"" };
    let mut at = region.start;
    while at < region.end {
        if let Some(end) = cover_letter(inside, at, region.end) {
            at = end;
        } else if belongs(inside, at) && !(quotes && is_quotation(lines.get(at))) {
            return Some(at);
        } else {
            at += 1;
        }
    }
    None
}

/// The lines of git before a file.
pub(crate) const COMMANDS: [&[u8]; 3] = [b"diff --git ", b"diff --cc ", b"diff --combined "];

/// The two ways to write the markers of SEARCH/REPLACE blocks: their sign, and what closes the
/// block.
pub(crate) const BLOCK_SIGNS: [(u8, u8); 2] = [(b'<', b'>'), (b'-', b'+')];

/// Returns whether a line opens a SEARCH/REPLACE block.
pub(crate) fn opens_block(line: &[u8]) -> bool {
    BLOCK_SIGNS.iter().any(|&(sign, _)| is_block_marker(line, sign, &["SEARCH", "ORIGINAL"]))
}

/// Recognizes five to nine signs, and one of the words.
pub(crate) fn is_block_marker(line: &[u8], sign: u8, words: &[&str]) -> bool {
    let line = line.trim_ascii();
    let signs = line.iter().take_while(|&&byte| byte == sign).count();
    let word = line[signs..].trim_ascii();
    let word = word.strip_suffix(b">").unwrap_or(word).trim_ascii();
    (5..=9).contains(&signs) && words.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// Returns the binary file that, by a line of diff or git, changes.
pub(crate) fn binary_file(line: &[u8]) -> Option<&[u8]> {
    let names = line.strip_prefix(b"Binary files ").or_else(|| line.strip_prefix(b"Files "))?;
    let names = names.strip_suffix(b" differ")?;
    let at = memchr::memmem::rfind(names, b" and ")?;
    let new = &names[at + b" and ".len()..];
    let name = if new == b"/dev/null" { &names[..at] } else { new };
    let bare = name.strip_prefix(b"b/").or_else(|| name.strip_prefix(b"a/"));
    Some(bare.unwrap_or(name))
}

/// A line of `git diff --submodule`, which shows a change of a submodule.
pub(crate) struct SubmoduleLine<'l> {
    /// Its directory.
    pub(crate) path: &'l [u8],
    /// Where the ids of its commits stand in the line: before, and afterwards.
    pub(crate) ids: (Range<usize>, Range<usize>),
}

impl<'l> SubmoduleLine<'l> {
    /// Reads `Submodule PATH OLD..NEW:`. There are three dots where the one commit does not follow
    /// the other, and the end may have more: ` (new submodule)`, ` (rewind):`. The path may have
    /// blanks.
    pub(crate) fn of(line: &'l [u8]) -> Option<Self> {
        const WORD: &[u8] = b"Submodule ";
        let blanks = memchr::memrchr_iter(b' ', line.strip_prefix(WORD)?);
        blanks.map(|blank| WORD.len() + blank).find_map(|blank| {
            let old = blank + 1..blank + 1 + hex_digits(&line[blank + 1..]);
            let dots = line[old.end..].strip_prefix(b"..")?;
            let dots = if dots.first() == Some(&b'.') { 3 } else { 2 };
            let new = old.end + dots..old.end + dots + hex_digits(&line[old.end + dots..]);
            let path = &line[WORD.len()..blank];
            let found = !path.is_empty() && !old.is_empty() && !new.is_empty();
            found.then_some(Self { path, ids: (old, new) })
        })
    }
}

fn hex_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count()
}

/// Returns the directory of the submodule whose change a line shows.
pub(crate) fn submodule(line: &[u8]) -> Option<&[u8]> {
    SubmoduleLine::of(line).map(|found| found.path)
}
