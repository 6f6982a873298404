//! Headings that git cut.
//!
//! Git writes at most 80 bytes of a line behind `@@`, without blanks at their end. Such a heading
//! is not a line of the file. The engine then takes the place where the old lines stand once, but
//! only if no line is the same for it but for blanks and typographic punctuation.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

/// The most bytes of a heading that git writes.
const LONGEST: usize = 80;

/// The beginning of a line that git writes as a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The number of the line's text.
    pub(crate) text: u32,
    /// The length of the beginning.
    pub(crate) len: u32,
}

/// The headings of the lines that git cuts, in the order of their texts.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    cuts: Vec<Cut>,
    shortest: u32,
}

impl Cuts {
    pub(crate) fn new<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Self {
        let headings = texts.clone().zip(0..);
        let headings = headings.filter_map(|(text, nth)| Some((heading(text)?, nth)));
        let headings: Vec<(&str, u32)> = headings.collect();
        let mut lengths = [false; LONGEST + 1];
        headings.iter().for_each(|(heading, _)| lengths[heading.trim().chars().count()] = true);
        let named = Named::new(texts.filter(|text| is_of_length(text, &lengths)));
        let cuts: Vec<Cut> = headings
            .into_iter()
            .filter(|(heading, _)| !named.has(heading))
            .map(|(heading, text)| Cut { text, len: heading.len() as u32 })
            .collect();
        let shortest = cuts.iter().map(|cut| cut.len).min().unwrap_or(u32::MAX);
        Self { cuts, shortest }
    }

    /// Those of a range of texts.
    pub(crate) fn of(&self, texts: Range<u32>) -> &[Cut] {
        let from = self.cuts.partition_point(|cut| cut.text < texts.start);
        let to = self.cuts.partition_point(|cut| cut.text < texts.end);
        &self.cuts[from..to]
    }

    /// Those of a range of texts, and of some bytes.
    pub(crate) fn of_length(&self, texts: Range<u32>, len: u32) -> impl Iterator<Item = Cut> + '_ {
        let is_cut = (self.shortest..=LONGEST as u32).contains(&len);
        let cuts = if is_cut { self.of(texts) } else { &[] };
        cuts.iter().copied().filter(move |cut| cut.len == len)
    }
}

/// Whether a text has one of some lengths in characters, without the blanks around it.
fn is_of_length(text: &str, lengths: &[bool; LONGEST + 1]) -> bool {
    let text = text.trim();
    // A character has at most four bytes, and most lines differ in their length.
    let len = if text.is_ascii() {
        text.len()
    } else if text.len() <= 4 * LONGEST {
        text.chars().count()
    } else {
        return false;
    };
    lengths.get(len).is_some_and(|&is_wanted| is_wanted)
}

/// Texts that a heading may name. Of ASCII the engine overlooks the blanks around them only, so
/// that letters are told apart where other characters are, and nowhere else.
struct Named<'t> {
    ascii: HashSet<&'t str>,
    /// The letters of the other texts.
    others: HashSet<String>,
    /// The letters of the ASCII texts.
    letters: OnceCell<HashSet<String>>,
}

impl<'t> Named<'t> {
    fn new(texts: impl Iterator<Item = &'t str>) -> Self {
        let (ascii, others): (Vec<&str>, Vec<&str>) = texts.partition(|text| text.is_ascii());
        Self {
            ascii: ascii.into_iter().map(str::trim).collect(),
            others: others.into_iter().map(letters).collect(),
            letters: OnceCell::new(),
        }
    }

    fn has(&self, heading: &str) -> bool {
        if heading.is_ascii() {
            return self.ascii.contains(heading.trim())
                || !self.others.is_empty() && self.others.contains(&letters(heading));
        }
        let letters = letters(heading);
        self.others.contains(&letters) || self.ascii_letters().contains(&letters)
    }

    fn ascii_letters(&self) -> &HashSet<String> {
        self.letters.get_or_init(|| self.ascii.iter().map(|text| letters(text)).collect())
    }
}

/// What git writes of a line, if it does not write all of it. A character is never split.
fn heading(line: &str) -> Option<&str> {
    (line.len() > LONGEST).then(|| {
        let end = (0..=LONGEST).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(0);
        line[..end].trim_end_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}')
    })
}

/// The letters and digits of a text. Texts that the engine takes for the same have the same.
pub(crate) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_has_the_bytes_that_git_writes() {
        let long = "x".repeat(100);
        for (line, wanted) in [
            ("x".repeat(80), None),
            ("x".repeat(81), Some(80)),
            (format!("{}   {long}", "y".repeat(78)), Some(78)),
            (format!("{}é{long}", "y".repeat(79)), Some(79)),
            (format!("{}é{long}", "y".repeat(78)), Some(80)),
        ] {
            assert_eq!(heading(&line).map(str::len), wanted, "{line}");
        }
    }

    #[test]
    fn a_heading_like_a_line_is_left_out() {
        let long = "f".repeat(100);
        for (other, cut) in [
            ("g".repeat(80), true),
            ("f".repeat(79), true),
            ("f".repeat(80), false),
            (format!("  {}\t", "f".repeat(80)), false),
            (format!("{}-", "f".repeat(80)), true),
        ] {
            let texts = [long.as_str(), other.as_str()];
            let found = Cuts::new(texts.into_iter()).cuts;
            assert_eq!(found.contains(&Cut { text: 0, len: 80 }), cut, "{other}");
        }
    }
}
