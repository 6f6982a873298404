//! The marker lines of the envelope, for the code that writes or recognises them.

use crate::quoted::of_quoted;

crate::names::named! {
    /// A marker line, or the part of a header before its path. The name of a marker is its text,
    /// with the colon where a path follows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[allow(missing_docs, reason = "they are the markers")]
    pub enum Marker {
        Begin = "*** Begin Patch",
        End = "*** End Patch",
        Add = "*** Add File:",
        Delete = "*** Delete File:",
        Update = "*** Update File:",
        Move = "*** Move File:",
        MoveTo = "*** Move to:",
        EndOfFile = "*** End of File",
        Environment = "*** Environment ID:",
    }
}

/// The line after a line of a file that has no line feed.
pub const NO_NEWLINE: &str = "\\ No newline at end of file";

impl Marker {
    /// Returns the marker at the beginning of a line.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|marker| line.starts_with(marker.as_str()))
    }

    /// Returns the form for messages.
    pub(crate) const fn symbol(self) -> &'static str {
        match self {
            Self::Begin => "`*** Begin Patch`",
            Self::End => "`*** End Patch`",
            Self::Add => "`*** Add File: path`",
            Self::Delete => "`*** Delete File: path`",
            Self::Update => "`*** Update File: path`",
            Self::Move => "`*** Move File: old -> new`",
            Self::MoveTo => "`*** Move to: path`",
            Self::EndOfFile => "`*** End of File`",
            Self::Environment => "`*** Environment ID: id`",
        }
    }

    /// Returns the header line with this path.
    #[must_use]
    pub fn header(self, path: &str) -> String {
        format!("{} {path}\n", self.as_str())
    }
}

/// Quotation marks that no language uses for string literals.
const QUOTES: [char; 6] = ['\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}', '\u{201f}'];

/// Quotation marks of string literals, and of code in Markdown.
pub const LITERAL: [char; 3] = ['"', '\'', '`'];

/// Corrects a line that is meant to be a marker: its case, stars, blanks and colon, and the marks
/// around its path. Returns `None` for other lines, and for right markers.
#[must_use]
pub fn respelled(line: &str) -> Option<String> {
    let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
    let text = line.trim_end();
    let bare = text.trim_matches(QUOTES).trim_matches(LITERAL).trim();
    let stars = bare.len() - bare.trim_start_matches('*').len();
    if !(2..=5).contains(&stars) || line.starts_with([' ', '\t']) {
        return None;
    }
    let whole = line.trim_end_matches(['\r', '\n']);
    corrected(text, bare, stars).filter(|right| right != whole).map(|right| right + end)
}

/// Returns a line as the marker that it is meant to be; `bare` is the line without the quotes
/// around, and begins with so many stars.
fn corrected(text: &str, bare: &str, stars: usize) -> Option<String> {
    // The quotes of a path may be the last character of its line.
    if let Some((marker, path)) = Marker::of(text).and_then(|marker| {
        let path = text.strip_prefix(marker.as_str())?;
        marker.as_str().ends_with(':').then_some((marker, path))
    }) {
        let path = bare_path(marker, path);
        if path.is_empty() {
            return None;
        }
        return Some(format!("{} {path}", marker.as_str()));
    }
    let inner = &bare[stars..];
    for marker in Marker::ALL {
        let words = marker.as_str().trim_start_matches('*').trim();
        let found = match words.strip_suffix(':') {
            // The marker is the whole line, perhaps with stars at its end too.
            None => {
                (key(inner.trim_end_matches('*')) == key(words)).then(|| marker.as_str().to_owned())
            }
            Some(words) => {
                let path = match inner.split_once(':') {
                    Some((head, path)) if key(head) == key(words) => Some(path),
                    // The colon is missing.
                    _ => {
                        let inner = inner.trim_start();
                        let head = inner
                            .get(..words.len())
                            .filter(|head| head.eq_ignore_ascii_case(words));
                        head.map(|_| &inner[words.len()..])
                            .filter(|path| path.starts_with([' ', '\t']))
                    }
                };
                path.map(|path| bare_path(marker, path))
                    .filter(|path| !path.is_empty() && !path.contains('*'))
                    .map(|path| format!("{} {path}", marker.as_str()))
            }
        };
        if let Some(found) = found {
            return Some(found);
        }
    }
    None
}

/// Returns the letters of a marker, for comparison.
fn key(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

/// Takes quotation marks, backticks, and stars behind a blank off the path of a header, or off both
/// paths of a move, also when one pair of quotes is around both. What git quotes is read as git
/// does.
fn bare_path(marker: Marker, path: &str) -> String {
    if marker == Marker::Environment {
        return path.trim().to_owned();
    }
    let whole = one_bare_path(path);
    match whole.split_once(" -> ").filter(|_| marker == Marker::Move) {
        Some((from, to)) => format!("{} -> {}", one_bare_path(from), one_bare_path(to)),
        None => whole,
    }
}

fn one_bare_path(path: &str) -> String {
    let mut path = path.trim();
    let stars = path.trim_end_matches('*');
    if stars.len() < path.len() && stars.ends_with([' ', '\t']) {
        path = stars.trim_end();
    }
    if let Some(name) = of_quoted(path) {
        return name;
    }
    let inner = LITERAL.into_iter().find_map(|mark| {
        let inner = path.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inner.trim().is_empty() && !inner.contains(mark)).then_some(inner)
    });
    inner.unwrap_or(path).trim().to_owned()
}

/// Writes the `@@` line of a hunk.
pub fn push_header(out: &mut String, header: Option<&str>) {
    out.push_str("@@");
    if let Some(header) = header {
        out.push(' ');
        out.push_str(header);
    }
    out.push('\n');
}

/// Writes one line of a hunk or a new file. A carriage return at its end says that the line ends in
/// CRLF in the file.
pub fn push_line(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    out.push('\n');
}

/// Writes the line that says that the one before has no line feed.
pub fn push_no_newline(out: &mut String) {
    out.push_str(NO_NEWLINE);
    out.push('\n');
}
