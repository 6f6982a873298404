//! Lines that are a path and nothing else: they name the file of a block or a fence.

use crate::diff::of_quoted;
use crate::marker::LITERAL;

/// Returns the path of a line that says nothing else, and is certainly one: it has a slash or a dot,
/// or the line calls it a file.
#[must_use]
pub fn path_of(line: &str) -> Option<String> {
    named(line, Says::Nothing, true)
}

/// How far a line goes to say that its text is a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Says {
    /// It may be prose.
    Nothing,
    /// A heading, bold or a comment, as prose may be too. The word is the path of an existing file,
    /// or looks like a path.
    Stressed,
    /// It says so, or stands where no prose can.
    Named,
    /// The path stands in marks, blanks included.
    Marked,
}

/// Returns the path of a line that says nothing else; `says` is what its place says already, and
/// `is_new` whether the file is to be made.
pub(crate) fn named(line: &str, mut says: Says, is_new: bool) -> Option<String> {
    let line = line.trim();
    let mut path = line.trim_start_matches('#').trim_start_matches("//").trim_start();
    if path.len() < line.len() {
        // Whatever its place says, a comment may be prose.
        says = Says::Stressed;
    }
    if let Some(rest) = path.strip_prefix("<path>") {
        (path, says) = (rest.strip_suffix("</path>")?.trim(), Says::Marked);
    }
    loop {
        for words in ["File: ", "file: ", "Filename: ", "File path: ", "Path: ", "path: "] {
            if let Some(rest) = path.strip_prefix(words) {
                (path, says) = (rest.trim(), says.max(Says::Named));
            }
        }
        path = path.strip_suffix(':').unwrap_or(path);
        if let Some(name) = of_quoted(path) {
            return Some(name);
        }
        let marks = ["**", "`", "\"", "'", "*", "__"];
        let inner = marks.iter().find_map(|mark| {
            let inner = path.strip_prefix(mark)?.strip_suffix(mark)?;
            (!inner.contains(mark)).then_some((inner, mark.starts_with(LITERAL)))
        });
        let Some((inner, is_literal)) = inner else { break };
        path = inner.trim();
        says = says.max(if is_literal { Says::Marked } else { Says::Stressed });
    }
    let one_word = !path.contains(char::is_whitespace);
    // A version, as below the signature of a mail, is no path.
    let has_letter = path.contains(char::is_alphabetic);
    let looks =
        has_letter && path.contains(['/', '.']) && !path.ends_with(['.', ',', ';', '!', '?']);
    // A changed file exists, or the patch is refused.
    let is_sure = says >= if is_new { Says::Named } else { Says::Stressed };
    let taken = !path.is_empty()
        && (looks || is_sure)
        && (one_word || (says == Says::Marked && looks))
        && !path.contains(LITERAL)
        && !path.contains(['<', '>', '|', '*']);
    taken.then(|| path.to_owned())
}

/// Returns the path of a line above a block. Of a file that is changed, the name may be one word
/// without a dot, as `Makefile`: the file exists, or the block is refused.
pub(crate) fn named_above(line: &str, is_new: bool) -> Option<String> {
    named(line, Says::Nothing, is_new)
        .or_else(|| (!is_new && is_name(line.trim())).then(|| line.trim().to_owned()))
}

/// Returns whether a word is a name, and no word that begins a sentence, as `Then`.
fn is_name(word: &str) -> bool {
    const TITLES: [&str; 6] =
        ["Authors", "Changelog", "Contributing", "Copying", "License", "Readme"];
    let starts = word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_word = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-+".contains(c));
    let rest = word.get(1..).unwrap_or_default();
    let is_title = word.starts_with(|c: char| c.is_ascii_uppercase())
        && rest.chars().all(|c| c.is_ascii_lowercase());
    starts && is_word && (!is_title || word.ends_with("file") || TITLES.contains(&word))
}
