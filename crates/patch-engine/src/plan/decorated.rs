//! Names of files with something around them, as editors, compilers, browsers and other systems
//! print them: only to ask whether the bare name was meant.

use std::collections::VecDeque;

/// The most spellings of one path to look at.
const MOST: usize = 48;

/// Returns the spellings of a path with less and less around the name, the fullest first. The path
/// itself is not one of them.
pub(super) fn undecorated(path: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut pending = VecDeque::from([path.to_owned()]);
    while let Some(next) = pending.pop_front() {
        for bare in steps(&next) {
            if bare.is_empty() || bare == path || found.contains(&bare) {
                continue;
            }
            if found.len() == MOST {
                return found;
            }
            pending.push_back(bare.clone());
            found.push(bare);
        }
    }
    found
}

/// Returns the spellings of a path with one thing less around the name.
fn steps(path: &str) -> Vec<String> {
    let link = link(path);
    let parts = [
        Some(path),
        paired(path),
        before(path),
        after(path),
        in_group(path),
        place(path),
        path.rsplit_once('#').map(|(name, _)| name),
        path.split_once("::").map(|(name, _)| name),
        path.rsplit_once('?').map(|(name, _)| name),
        title(path),
        link.map(|(_, target)| target),
        link.map(|(text, _)| text),
        scheme(path),
        path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")),
    ];
    let changed = [decoded(path), visible(path)];
    let parts = parts.into_iter().flatten().map(|part| part.trim().to_owned());
    parts.chain(changed.into_iter().flatten()).collect()
}

/// Returns the path below the top of another file system: a home directory, a drive, or a mount.
/// `None` for a path that is relative.
pub(super) fn below_top(path: &str) -> Option<String> {
    let path = scheme(path).unwrap_or(path);
    let path = path.replace('\\', "/");
    let bytes = path.as_bytes();
    let has_drive = matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic());
    let below = if has_drive { &path[2..] } else { &path };
    let is_absolute = has_drive || below.starts_with('/') || below.starts_with("~/");
    is_absolute.then(|| below.trim_start_matches('~').trim_start_matches('/').to_owned())
}

/// Quotes, brackets and stars on both sides.
fn paired(path: &str) -> Option<&str> {
    const PAIRS: [(&str, &str); 7] =
        [("\"", "\""), ("'", "'"), ("`", "`"), ("<", ">"), ("(", ")"), ("[", "]"), ("**", "**")];
    PAIRS.iter().find_map(|(open, close)| path.strip_prefix(open)?.strip_suffix(close))
}

/// Signs and words before the name.
fn before(path: &str) -> Option<&str> {
    const WORDS: [&str; 9] = ["@", "● ", "• ", "* ", "- ", "+ ", "File ", "File: ", "file: "];
    WORDS.iter().find_map(|word| path.strip_prefix(word))
}

/// Signs behind the name.
fn after(path: &str) -> Option<&str> {
    let bare = path.trim_end_matches(['*', ',', ';', ':', '.', '"', '\'', '`', ')', '●']);
    (bare.len() < path.len()).then_some(bare)
}

/// A remark in brackets behind the name.
fn in_group(path: &str) -> Option<&str> {
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some(inner) = path.strip_suffix(close) {
            return inner.rsplit_once(open).map(|(name, _)| name);
        }
    }
    None
}

/// The number of a line or a range of lines behind the name, also with a column.
fn place(path: &str) -> Option<&str> {
    if let Some((name, number)) = path.rsplit_once(':')
        && is_number(number)
    {
        return Some(name);
    }
    let (rest, number) = path.rsplit_once(' ')?;
    if !is_number(number) {
        return None;
    }
    let rest = rest.trim_end_matches(|next: char| next.is_ascii_digit() || " -–,".contains(next));
    for word in ["lines", "line", "Lines", "Line", "ln", "to"] {
        if let Some(name) = rest.strip_suffix(word) {
            return Some(name.trim_end_matches([' ', ',', ':', '-', '@']));
        }
    }
    number.starts_with('L').then_some(rest)
}

/// Returns whether a text is a number, or a range, of lines.
fn is_number(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['L', 'l']);
    !digits.is_empty() && digits.chars().all(|next| next.is_ascii_digit() || "-–,L".contains(next))
}

/// The names of a project and a program, in the title of a window.
fn title(path: &str) -> Option<&str> {
    [" - ", " — ", " – ", " | ", " • "].iter().find_map(|dash| Some(path.split_once(dash)?.0))
}

/// The text and the target of a Markdown link.
fn link(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix('[')?.strip_suffix(')')?.split_once("](")
}

/// The path of an URI of a file.
fn scheme(path: &str) -> Option<&str> {
    let (scheme, rest) = path.split_once(':')?;
    let is_file =
        ["file", "vscode-file", "untitled"].iter().any(|it| scheme.eq_ignore_ascii_case(it));
    let rest = rest.strip_prefix("//localhost").or_else(|| rest.strip_prefix("//")).unwrap_or(rest);
    // Windows has a drive behind the third slash.
    let is_drive =
        matches!(rest.as_bytes(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic());
    is_file.then_some(if is_drive { &rest[1..] } else { rest })
}

/// The name with the characters that an URI has as `%20`.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%');
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        rest = if byte.is_some() { &after[2..] } else { after };
        bytes.push(byte.unwrap_or(*first));
    }
    String::from_utf8(bytes).ok().filter(|decoded| decoded != path && !decoded.contains('\0'))
}

/// The name without characters that cannot be seen, and with plain blanks.
fn visible(path: &str) -> Option<String> {
    let bare: String = path
        .chars()
        .filter(|next| {
            next.is_whitespace() || !(next.is_control() || fs_guard::is_invisible(*next))
        })
        .map(|next| if next.is_whitespace() { ' ' } else { next })
        .collect();
    (bare != path).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::undecorated;

    #[test]
    fn the_bare_name_is_among_the_spellings() {
        for (path, bare) in [
            ("src/a.py:6", "src/a.py"),
            ("src/a.py:6:3", "src/a.py"),
            ("src/a.py:4-6", "src/a.py"),
            ("src/a.py:", "src/a.py"),
            ("src/a.py#L6", "src/a.py"),
            ("src/a.py#L6-L9", "src/a.py"),
            ("src/a.py::test_one", "src/a.py"),
            ("src/a.py (lines 4-6)", "src/a.py"),
            ("src/a.py(12,3)", "src/a.py"),
            ("src/a.py, line 6", "src/a.py"),
            ("src/a.py lines 4 - 6", "src/a.py"),
            ("src/a.py L6", "src/a.py"),
            ("[a.py](src/a.py)", "src/a.py"),
            ("[src/a.py](https://example.org/a)", "src/a.py"),
            ("[`a.py`](src/a.py#L6)", "src/a.py"),
            ("src%2Fa.py", "src/a.py"),
            ("my%20file.py", "my file.py"),
            ("@src/a.py", "src/a.py"),
            ("@src/a.py:6", "src/a.py"),
            ("a.py (working copy)", "a.py"),
            ("a.py (modified)", "a.py"),
            ("a.py (new)", "a.py"),
            ("a.py [modified]", "a.py"),
            ("\"a.py\"", "a.py"),
            ("`a.py`", "a.py"),
            ("**a.py**", "a.py"),
            ("File \"a.py\", line 3", "a.py"),
            ("a.py - project - Visual Studio Code", "a.py"),
            ("● a.py - project - Visual Studio Code", "a.py"),
            ("a.py — project", "a.py"),
            ("a\u{a0}b.py", "a b.py"),
            ("a\u{200b}.py", "a.py"),
        ] {
            let found = undecorated(path);
            assert!(found.iter().any(|found| found == bare), "{path}: {found:?}");
        }
    }

    #[test]
    fn no_path_has_spellings_without_end() {
        for path in ["%25".repeat(2000), "(".repeat(3000), "[](".repeat(900), "a - ".repeat(900)] {
            assert!(undecorated(&path).len() <= super::MOST);
        }
        assert!(undecorated("src/app.py").is_empty());
    }
}
