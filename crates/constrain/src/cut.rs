//! Headings that git cut.
//!
//! Git writes at most 80 bytes of a line behind `@@`, without blanks at their end. Such a heading
//! is not a line of the file. The engine then takes the place where the old lines stand once, but
//! only if no line is the same for it but for blanks and typographic punctuation.

use std::collections::HashSet;

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

/// Returns the headings of the lines that git cuts, in the order of the texts.
pub(crate) fn cuts<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Vec<Cut> {
    let headings = texts.clone().zip(0..).filter_map(|(text, nth)| Some((heading(text)?, nth)));
    let headings: Vec<(&str, u32)> = headings.collect();
    if headings.is_empty() {
        return Vec::new();
    }
    let lengths: HashSet<usize> =
        headings.iter().map(|(heading, _)| heading.trim().chars().count()).collect();
    let is_like = |text: &&str| {
        let text = text.trim();
        // A character has at most four bytes, and most lines differ in their length.
        text.len() <= 4 * LONGEST && lengths.contains(&text.chars().count())
    };
    let lines: HashSet<String> = texts.filter(is_like).map(letters).collect();
    headings
        .into_iter()
        .filter(|(heading, _)| !lines.contains(&letters(heading)))
        .map(|(heading, text)| Cut { text, len: heading.len() as u32 })
        .collect()
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
        let long = |text: &str| format!("{text}{}", "x".repeat(100));
        for (line, wanted) in [
            ("x".repeat(80), None),
            ("x".repeat(81), Some(80)),
            (long(&format!("{}   ", "y".repeat(78))), Some(78)),
            (long(&format!("{}é", "y".repeat(79))), Some(79)),
            (long(&format!("{}é", "y".repeat(78))), Some(80)),
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
            let found = cuts(texts.into_iter());
            assert_eq!(found.contains(&Cut { text: 0, len: 80 }), cut, "{other}");
        }
    }
}
