//! A file as a grammar sees it: lines by number, and those that a patch can show.

use std::collections::HashMap;
use std::ops::Range;

use super::note::Unfit;
use super::options::FitFile;
use patch_grammar::binary::is_binary;

/// The byte-order mark of UTF-8, which belongs to a file and not to its first line.
const BOM: char = '\u{feff}';

/// The lines of a file.
#[derive(Debug)]
pub(super) struct FitText<'f> {
    /// The number of each line: equal lines have the same.
    pub(super) lines: Vec<u32>,
    /// The text of each number, without its terminator.
    pub(super) texts: Vec<&'f str>,
    /// The stretches of lines that a hunk may show.
    pub(super) stretches: Vec<Range<usize>>,
}

impl<'f> FitText<'f> {
    pub(super) fn new(file: &FitFile<'f>) -> Result<Self, Unfit> {
        if is_binary(file.text) {
            return Err(Unfit::Binary);
        }
        let text = std::str::from_utf8(file.text).map_err(|_| Unfit::NotUtf8)?;
        let (text, has_bom) = text.strip_prefix(BOM).map_or((text, false), |text| (text, true));
        let mut numbers = HashMap::new();
        let mut texts = Vec::new();
        let mut lines: Vec<u32> = Vec::new();
        for line in text.split_inclusive('\n').map(content) {
            lines.push(*numbers.entry(line).or_insert_with(|| {
                texts.push(line);
                texts.len() as u32 - 1
            }));
        }
        let stretches = stretches((0..lines.len()).filter(|&line| {
            is_shown(file, line + 1) && can_be_written(texts[lines[line] as usize], has_bom)
        }));
        Ok(Self { lines, texts, stretches })
    }
}

/// Whether the model saw a line, counted from 1.
fn is_shown(file: &FitFile<'_>, line: usize) -> bool {
    file.windows.is_empty() || file.windows.iter().any(|window| window.contains(&line))
}

/// A line without its terminator.
fn content(line: &str) -> &str {
    match line.strip_suffix('\n') {
        Some(line) => line.strip_suffix('\r').unwrap_or(line),
        None => line,
    }
}

/// Whether a patch can show a line by its text alone. A carriage return at its end would be read as
/// a part of the line's end, a NUL is refused, and a byte-order mark at the beginning of a line
/// stands for the file's.
fn can_be_written(line: &str, has_bom: bool) -> bool {
    let stands_for_the_mark = has_bom && line.starts_with(BOM);
    !line.ends_with('\r') && !line.contains('\0') && !stands_for_the_mark
}

/// Joins neighbours in an ascending list of lines.
fn stretches(lines: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for line in lines {
        match stretches.last_mut().filter(|last| last.end == line) {
            Some(last) => last.end += 1,
            None => stretches.push(line..line + 1),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<&str> {
        let file = FitText::new(&FitFile::new("f", bytes)).expect("text");
        file.lines.iter().map(|&line| file.texts[line as usize]).collect()
    }

    #[test]
    fn splits_as_the_engine_does() {
        for (bytes, lines) in [
            (&b""[..], &[][..]),
            (b"\n", &[""]),
            (b"a", &["a"]),
            (b"a\r\nb\rc\n\r\n", &["a", "b\rc", ""]),
            (b"a\r", &["a\r"]),
            (b"\xef\xbb\xbfa\n", &["a"]),
            (b"\xef\xbb\xbf", &[]),
            (b"a\na\r\n", &["a", "a"]),
        ] {
            assert_eq!(texts(bytes), lines, "{bytes:?}");
        }
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "one range of lines is meant")]
    fn hunks_show_what_can_be_written_and_was_shown() {
        let windows = |windows: &[std::ops::RangeInclusive<usize>], text: &'static [u8]| {
            let file = FitFile { windows: windows.to_vec(), ..FitFile::new("f", text) };
            FitText::new(&file).expect("text").stretches
        };
        for (text, shown, stretches) in [
            (&b"a\nb\nc\n"[..], &[][..], &[0..3][..]),
            (b"a\nb\nc\n", &[2..=2], &[1..2]),
            (b"a\nb\nc\n", &[1..=1, 3..=9], &[0..1, 2..3]),
            (b"a\nb\nc\n", &[1..=2, 2..=3], &[0..3]),
            (b"a\nb\nc\n", &[7..=9], &[]),
            (b"a\nb\r\r\nc\n", &[], &[0..1, 2..3]),
            (b"a\nb\r", &[], &[0..1]),
            (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", &[], &[0..1]),
            (b"a\n\xef\xbb\xbfb\n", &[], &[0..2]),
            (b"", &[], &[]),
        ] {
            assert_eq!(windows(shown, text), stretches, "{text:?} {shown:?}");
        }
    }

    #[test]
    fn says_why_a_file_has_no_grammar() {
        for (bytes, why) in [(&b"a\xff"[..], Unfit::NotUtf8), (b"a\0", Unfit::Binary)] {
            assert_eq!(FitText::new(&FitFile::new("f", bytes)).err(), Some(why), "{bytes:?}");
        }
    }
}
