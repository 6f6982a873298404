//! The tags of lines: `12#kz` is line 12, with the tag `kz`. A caller that names a line by number
//! and tag shows that it means the line as it was printed.
//!
//! A tag is made of the line and of the lines above and below, without their line ends; where a line
//! near it is the same, with the same neighbours, also of its number. So even equal lines have
//! different tags. A tag has two letters, or as many as it takes to differ from the tags of all
//! lines within [`NEAR`] lines. A byte-order mark, and whether lines end in LF or CRLF, make no
//! difference.
//!
//! A tag does not tell where a line is: two letters cannot. It is only ever compared with the tag
//! that one line of one version of a file has, and finds a slip of the caller: a wrong number, or
//! lines of another file.

use std::ops::RangeInclusive;

use fs_guard::Sha256;
use patch_engine::patch_text::text::lines::line_start;

use crate::text::{split_terminator, without_bom};

/// How near the lines are whose tags differ.
pub const NEAR: usize = 20;

/// The letters of tags: consonants, so that no tag is a word, and no `l`, which looks like `1`.
/// Most pairs of them are one token for a model.
const LETTERS: &[u8; 20] = b"bcdfghjkmnpqrstvwxyz";

/// The fewest letters of a tag.
const LEAST: usize = 2;

/// The most letters of a tag: more than 64 bits have no more.
const MOST: usize = 14;

/// Lines of a text with their tags. Nothing is kept of the other lines.
#[derive(Debug)]
pub struct LineTags<'t> {
    /// The number of the first line that is kept.
    first: usize,
    /// The lines, and those near them.
    lines: Vec<&'t [u8]>,
    /// The letters of the tag of each line, as many as there can be; none for a line that is not
    /// near enough.
    codes: Vec<[u8; MOST]>,
    wanted: RangeInclusive<usize>,
}

impl<'t> LineTags<'t> {
    /// Makes the tags of lines of a text, counted from 1.
    #[must_use]
    pub fn of(text: &'t [u8], wanted: RangeInclusive<usize>) -> Self {
        let around = around(&wanted);
        let text = without_bom(text);
        let lines = text[line_start(text, *around.start())..]
            .split_inclusive(|&byte| byte == b'\n')
            .take((around.end() - around.start()).saturating_add(1))
            .map(|line| split_terminator(line).0);
        Self::of_part(lines.collect(), *around.start(), wanted)
    }

    /// Makes the tags of some of all lines of a text, which are without their ends.
    #[must_use]
    pub fn of_lines(all: &[&'t [u8]], wanted: RangeInclusive<usize>) -> Self {
        let around = around(&wanted);
        let part = &all[(around.start() - 1).min(all.len())..(*around.end()).min(all.len())];
        Self::of_part(part.to_vec(), *around.start(), wanted)
    }

    /// `lines` are those around the wanted ones, and `first` is the number of the first of them.
    fn of_part(lines: Vec<&'t [u8]>, first: usize, wanted: RangeInclusive<usize>) -> Self {
        let hashes: Vec<Sha256> = (0..lines.len()).map(|at| hash_of(&lines, at)).collect();
        let codes = (0..lines.len()).map(|at| {
            let is_alone = near(at, hashes.len()).all(|other| hashes[other] != hashes[at]);
            letters(hashes[at], if is_alone { None } else { Some(first + at) })
        });
        let codes = codes.collect();
        Self { first, lines, codes, wanted }
    }

    fn index(&self, number: usize) -> Option<usize> {
        number.checked_sub(self.first).filter(|_| self.wanted.contains(&number))
    }

    /// Returns the bytes of a line without its end.
    #[must_use]
    pub fn line(&self, number: usize) -> Option<&'t [u8]> {
        self.lines.get(self.index(number)?).copied()
    }

    /// Returns the tag of a line.
    #[must_use]
    pub fn tag(&self, number: usize) -> Option<&str> {
        let at = self.index(number)?;
        let own = self.codes.get(at)?;
        let shared = near(at, self.codes.len())
            .map(|other| own.iter().zip(&self.codes[other]).take_while(|(a, b)| a == b).count());
        let length = shared.max().map_or(LEAST, |shared| (shared + 1).clamp(LEAST, MOST));
        std::str::from_utf8(&own[..length]).ok()
    }

    /// Returns the words before a line: its number and its tag, `12#kz|`.
    #[must_use]
    pub fn before(&self, number: usize) -> String {
        format!("{number}#{}|", self.tag(number).unwrap_or_default())
    }
}

/// Returns the lines that count for the tags of others: those near them, the lines near those, and
/// one more neighbour.
fn around(wanted: &RangeInclusive<usize>) -> RangeInclusive<usize> {
    let around = 2 * NEAR + 1;
    wanted.start().saturating_sub(around).max(1)..=wanted.end().saturating_add(around)
}

/// Returns the indices of the lines near one of so many.
fn near(at: usize, count: usize) -> impl Iterator<Item = usize> {
    (at.saturating_sub(NEAR)..(at + NEAR + 1).min(count)).filter(move |&other| other != at)
}

/// Hashes a line with its neighbours, each with its length, so that other lines with the same bytes
/// between them have another hash.
fn hash_of(lines: &[&[u8]], at: usize) -> Sha256 {
    let above = at.checked_sub(1).map(|above| lines[above]);
    let mut bytes = Vec::new();
    for line in [above, Some(lines[at]), lines.get(at + 1).copied()] {
        // No line is that long.
        let length = line.map_or(u64::MAX, |line| line.len() as u64);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(line.unwrap_or_default());
    }
    Sha256::of(&bytes)
}

/// Writes a hash in letters, with the number of the line if a near line has the same hash.
fn letters(hash: Sha256, number: Option<usize>) -> [u8; MOST] {
    let mut bytes = hash.0;
    if let Some(number) = number {
        bytes = Sha256::of(&[&bytes[..], &(number as u64).to_le_bytes()].concat()).0;
    }
    let [first, ..] = bytes.as_chunks::<8>().0 else { return [LETTERS[0]; MOST] };
    let mut rest = u64::from_le_bytes(*first);
    let base = LETTERS.len() as u64;
    std::array::from_fn(|_| {
        let letter = LETTERS[usize::try_from(rest % base).unwrap_or(0)];
        rest /= base;
        letter
    })
}

/// A line that a caller names: `12#kz`, or `12#kz|text` with all that was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaggedLine<'a> {
    /// The number, from 1; 0 is the place above the first line.
    pub number: usize,
    /// The tag; empty if it is left out.
    pub tag: &'a str,
    /// The text of the line, if it was copied too.
    pub text: Option<&'a str>,
}

impl<'a> TaggedLine<'a> {
    /// Reads a line as a caller names it; `None` for any other text.
    #[must_use]
    pub fn read(name: &'a str) -> Option<Self> {
        let name = name.trim_start().trim_end_matches(['\r', '\n']);
        let (line, text) = match name.split_once('|') {
            Some((line, text)) => (line, Some(text)),
            None => (name.trim_end(), None),
        };
        let (number, tag) = line.split_once('#').unwrap_or((line, ""));
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let is_tag = tag.bytes().all(|byte| LETTERS.contains(&byte));
        // `12#` is cut off.
        if !is_number || !is_tag || (tag.is_empty() && line.contains('#')) {
            return None;
        }
        Some(Self { number: number.parse().ok()?, tag, text })
    }
}

/// Returns whether a line begins as lines with tags are printed, `12#kz|`.
#[must_use]
pub fn is_tagged(line: &str) -> bool {
    let named = TaggedLine::read(line);
    named.is_some_and(|named| named.tag.len() >= LEAST && named.text.is_some())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn tags(text: &str) -> Vec<String> {
        let tags = LineTags::of(text.as_bytes(), 1..=usize::MAX);
        (1..).map_while(|number| tags.tag(number).map(str::to_owned)).collect()
    }

    /// A tag that was printed is sent to another process, of another version or on another machine.
    #[test]
    fn tags_are_the_same_everywhere() {
        let tags = LineTags::of(b"fn main() {\n    run();\n}\n", 1..=3);
        let printed: String = (1..=3)
            .map(|number| {
                tags.before(number)
                    + std::str::from_utf8(tags.line(number).unwrap()).unwrap()
                    + "\n"
            })
            .collect();
        assert_eq!(printed, "1#ks|fn main() {\n2#vy|    run();\n3#jd|}\n");
    }

    #[test]
    fn line_ends_and_marks_make_no_difference() {
        let plain = tags("a\nb\nc\n");
        for other in ["a\nb\nc", "a\r\nb\r\nc\r\n", "a\r\nb\nc", "\u{feff}a\nb\nc\n"] {
            assert_eq!(tags(other), plain, "{other:?}");
        }
        assert_eq!(tags(""), Vec::<String>::new());
    }

    #[test]
    fn the_line_and_its_neighbours_make_the_tag() {
        let before = tags("a\nb\nc\nd\ne\n");
        for (text, same) in [
            ("a\nb\nX\nd\ne\n", [true, false, false, false, true]),
            ("X\nb\nc\nd\ne\n", [false, false, true, true, true]),
            ("a\nb\nc\nd\nX\n", [true, true, true, false, false]),
            // The bytes are the same, but not the lines.
            ("ab\n\nc\nd\ne\n", [false, false, false, true, true]),
        ] {
            let now = tags(text);
            let found: Vec<bool> = before.iter().zip(&now).map(|(a, b)| a == b).collect();
            assert_eq!(found, same, "{text:?}: {before:?} {now:?}");
        }
    }

    #[test]
    fn near_lines_have_different_tags() {
        let equal = "}\n".repeat(300);
        let blocks = "{\n  1\n},\n".repeat(300);
        let many: String = (0..3000).map(|line| format!("{line}\n")).collect();
        let mut lengths = HashSet::new();
        for text in [equal, blocks, many] {
            let tags = tags(&text);
            for (at, tag) in tags.iter().enumerate() {
                lengths.insert(tag.len());
                let near = &tags[at + 1..(at + 1 + NEAR).min(tags.len())];
                assert!(
                    near.iter().all(|other| !other.starts_with(tag) && !tag.starts_with(other))
                );
            }
            let short = tags.iter().filter(|tag| tag.len() == LEAST).count();
            assert!(short * 10 > tags.len() * 8, "{short} of {}", tags.len());
        }
        assert!(lengths.iter().all(|length| (2..=5).contains(length)), "{lengths:?}");
        assert!(lengths.contains(&3));
    }

    #[test]
    fn a_part_of_a_text_has_the_tags_of_the_whole() {
        let text: String = (0..200_usize).map(|line| format!("{}\n", line * line % 7)).collect();
        let whole = tags(&text);
        for (first, last) in [(1, 1), (1, 200), (2, 2), (30, 90), (199, 200), (200, 500), (7, 6)] {
            let part = LineTags::of(text.as_bytes(), first..=last);
            let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
            let of_lines = LineTags::of_lines(&lines, first..=last);
            for number in 0..300_usize {
                let wanted = number.checked_sub(1).and_then(|at| whole.get(at));
                let wanted = wanted.filter(|_| (first..=last).contains(&number));
                assert_eq!(part.tag(number), wanted.map(String::as_str), "{number}");
                assert_eq!(of_lines.tag(number), part.tag(number), "{number}");
                assert_eq!(part.line(number).is_some(), wanted.is_some(), "{number}");
            }
        }
    }

    #[test]
    fn lines_are_named_as_they_are_printed() {
        let line = |number, tag, text| Some(TaggedLine { number, tag, text });
        for (name, read) in [
            ("12#kz", line(12, "kz", None)),
            (" 12#kz ", line(12, "kz", None)),
            ("12#kz\n", line(12, "kz", None)),
            ("12#kz|", line(12, "kz", Some(""))),
            ("12#kzr|  a | b \n", line(12, "kzr", Some("  a | b "))),
            ("12", line(12, "", None)),
            ("0", line(0, "", None)),
            ("12|a", line(12, "", Some("a"))),
            ("12#", None),
            ("", None),
            ("#kz", None),
            ("kz", None),
            ("-1#kz", None),
            ("+1#kz", None),
            ("12#KZ", None),
            ("12#k7", None),
            ("99999999999999999999999#kz", None),
        ] {
            assert_eq!(TaggedLine::read(name), read, "{name:?}");
        }
        for (line, tagged) in [
            ("12#kz|text", true),
            ("  12#kz|", true),
            ("12#k|", false),
            ("12|text", false),
            ("#12", false),
            ("12#kz", false),
            ("let a = 1#kz|", false),
        ] {
            assert_eq!(is_tagged(line), tagged, "{line:?}");
        }
    }
}
