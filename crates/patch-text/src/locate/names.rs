//! The lines of a file that a hunk without a place names: only told, never used to place it.

use std::collections::HashSet;

use super::needle::Needle;
use super::reject::NamedLine;
use crate::text::lines::Lines;

/// How many lines are named.
const NAMED: usize = 3;

/// The longest line to be named, in bytes.
const LONGEST: usize = 120;

/// The words before a name that a line defines.
const WORDS: [&str; 21] = [
    "def",
    "class",
    "fn",
    "func",
    "function",
    "fun",
    "sub",
    "struct",
    "enum",
    "union",
    "trait",
    "impl",
    "interface",
    "type",
    "typedef",
    "module",
    "mod",
    "namespace",
    "package",
    "proc",
    "macro_rules",
];

/// The words before a name that a line gives a value.
const VARIABLES: [&str; 3] = ["const", "let", "var"];

/// The words before a parenthesis that are not names.
const CONTROL: [&str; 12] = [
    "if", "for", "while", "switch", "catch", "return", "elif", "with", "match", "until", "unless",
    "when",
];

/// Returns the lines of a file that define what a hunk defines, or what its header names.
pub(super) fn named(lines: &Lines<'_>, needle: &Needle<'_>) -> Vec<NamedLine> {
    let headers = needle.hunk.headers.iter().map(|header| &*header.text);
    let old = needle.old.iter().filter_map(|line| std::str::from_utf8(line).ok());
    let texts: Vec<&str> = headers.chain(old).collect();
    let defined: Vec<&str> = texts.iter().filter_map(|text| definition(text)).collect();
    let found = defining(lines, &defined);
    if !found.is_empty() {
        return found;
    }
    let mentioned: Vec<&str> = texts.into_iter().flat_map(words).filter(is_telling).collect();
    defining(lines, &mentioned)
}

/// Returns the line of the file that is one of a hunk's lines, and stands there once.
pub(super) fn only(lines: &Lines<'_>, text: &[u8]) -> Option<NamedLine> {
    let mut same = lines.iter().enumerate().filter(|(_, line)| line.trim_ascii() == text);
    match (same.next(), same.next()) {
        (Some((index, line)), None) => named_line(index, line),
        _ => None,
    }
}

/// Returns the lines that define one of the names, in the order of the names.
fn defining(lines: &Lines<'_>, names: &[&str]) -> Vec<NamedLine> {
    let wanted: HashSet<&str> = names.iter().copied().collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(usize, NamedLine)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Ok(text) = std::str::from_utf8(line) else { continue };
        let Some(name) = definition(text).filter(|name| wanted.contains(name)) else { continue };
        let rank = names.iter().position(|wanted| *wanted == name).unwrap_or_default();
        found.extend(named_line(index, line).map(|line| (rank, line)));
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, line)| line).take(NAMED).collect()
}

fn named_line(index: usize, line: &[u8]) -> Option<NamedLine> {
    let text = std::str::from_utf8(line.trim_ascii()).ok().filter(|text| text.len() <= LONGEST)?;
    Some(NamedLine { line: index + 1, text: text.to_owned() })
}

/// Returns the name that a line of code defines, as far as its shape tells.
fn definition(text: &str) -> Option<&str> {
    let text = text.trim();
    let mut words = words(text);
    while let Some(word) = words.next() {
        if WORDS.contains(&word) || VARIABLES.contains(&word) && text.contains('=') {
            // The receiver of a method of Go stands between.
            let rest = &text[text.find(word)? + word.len()..];
            return match rest.trim_start().strip_prefix('(') {
                Some(receiver) => self::words(receiver.split_once(')')?.1).next(),
                None => words.next(),
            };
        }
    }
    // A method or a function of a language without such a word.
    let (head, _) = text.split_once('(')?;
    let name = self::words(head).last().filter(|name| head.trim_end().ends_with(name))?;
    let opens = text.ends_with('{') || text.ends_with(':');
    (opens && !CONTROL.contains(&name) && !self::words(head).any(|word| CONTROL.contains(&word)))
        .then_some(name)
}

/// Returns the words of a text that may be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|next: char| !(next.is_alphanumeric() || next == '_' || next == '$'))
        .filter(|word| word.starts_with(|next: char| !next.is_ascii_digit()))
}

/// Returns whether a word is long enough to name one thing.
fn is_telling(word: &&str) -> bool {
    word.len() >= 4 && !WORDS.contains(word) && !CONTROL.contains(word)
}

#[cfg(test)]
mod tests {
    use super::definition;

    #[test]
    fn a_definition_has_the_name() {
        for (text, name) in [
            ("def load(path):", Some("load")),
            ("    async def load(self):", Some("load")),
            ("class Store(Base):", Some("Store")),
            ("pub(crate) fn load<'a>(path: &'a str) -> u8 {", Some("load")),
            ("func (s *Server) Load(path string) error {", Some("Load")),
            ("export default function load(path) {", Some("load")),
            ("const load = (path) => {", Some("load")),
            ("  load(path) {", Some("load")),
            ("static int load(const char *path) {", Some("load")),
            ("public void load(String path) throws E {", Some("load")),
            ("if (load(path)) {", None),
            ("} else if (a) {", None),
            ("return load(path);", None),
            ("load(path);", None),
            ("x = 1", None),
            ("}", None),
            ("", None),
            ("func (", None),
        ] {
            assert_eq!(definition(text), name, "{text}");
        }
    }
}
