//! Reads and writes paths as diffs have them.

/// Writes `prefix` and `path` as git does: in quotes and with escapes, when they have special
/// characters.
pub fn push_quoted(out: &mut Vec<u8>, prefix: &str, path: &str) {
    if prefix.bytes().all(is_plain) && path.bytes().all(is_plain) {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(path.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in prefix.bytes().chain(path.bytes()) {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            7..=13 => out.extend([b'\\', b"abtnvfr"[usize::from(byte - 7)]]),
            0x20..0x7f => out.push(byte),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'"');
}

fn is_plain(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) && !matches!(byte, b'"' | b'\\')
}

/// Returns the name for which git writes this text, in quotes and with escapes, as `git status`
/// prints it. `None` for other texts, and for names with a control character, which no file here
/// has.
#[must_use]
pub fn of_quoted(text: &str) -> Option<String> {
    let (name, rest) = unquoted(text.as_bytes()).filter(|_| text.contains('\\'))?;
    let name = String::from_utf8(name).ok().filter(|_| rest.is_empty())?;
    (!name.trim().is_empty() && !name.contains(char::is_control)).then_some(name)
}

/// Removes the quotes and escapes of the quoted name in front of `text`; also returns the rest.
/// Returns `None` when a quote or an escape is incomplete.
pub(crate) fn unquoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::with_capacity(rest.len());
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (&escape, after) = rest.split_first()?;
                rest = after;
                name.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let (digits, after) = rest.split_first_chunk::<2>()?;
                        if !digits.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
                            return None;
                        }
                        rest = after;
                        (escape - b'0') << 6 | (digits[0] - b'0') << 3 | (digits[1] - b'0')
                    }
                    _ => return None,
                });
            }
            byte => name.push(byte),
        }
    }
}

/// A path that may not be UTF-8; `None`: no file.
pub(crate) type RawPath = Option<Vec<u8>>;

/// Removes `count` leading parts of the two names of a file, `None` where there is no file; without
/// a `count`, git's prefixes.
///
/// # Errors
///
/// The first of the two that has too few parts.
pub(crate) fn stripped(
    old: Option<&[u8]>,
    new: Option<&[u8]>,
    count: Option<usize>,
) -> Result<(RawPath, RawPath), ShortName> {
    let count = count.unwrap_or_else(|| usize::from(has_prefixes(old, new)));
    Ok((shortened(old, count, ShortName::Old)?, shortened(new, count, ShortName::New)?))
}

fn shortened(name: Option<&[u8]>, count: usize, short: ShortName) -> Result<RawPath, ShortName> {
    let Some(name) = name else { return Ok(None) };
    let rest = without(name, count).ok_or(short)?;
    Ok(Some(rest.to_vec()))
}

/// The name of a file with too few parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShortName {
    Old,
    New,
}

/// Returns whether the names have git's prefixes, which are never the same on both sides.
fn has_prefixes(old: Option<&[u8]>, new: Option<&[u8]>) -> bool {
    /// The letters that `diff.mnemonicPrefix` writes for `a/` and `b/`: for the index, the work
    /// tree, a commit, an object, and two files.
    const MNEMONIC: [&[u8; 2]; 6] = [b"iw", b"ci", b"cw", b"ow", b"oi", b"12"];
    match (old, new) {
        (Some([old, b'/', left @ ..]), Some([new, b'/', right @ ..])) => {
            (*old, *new) == (b'a', b'b')
                || (*old, *new) == (b'b', b'a')
                || (left == right
                    && MNEMONIC.iter().any(|&&[one, other]| {
                        (one, other) == (*old, *new) || (other, one) == (*old, *new)
                    }))
        }
        (Some([prefix, b'/', ..]), None) | (None, Some([prefix, b'/', ..])) => {
            matches!(prefix, b'a' | b'b')
        }
        _ => false,
    }
}

/// Removes the first `count` parts of a name; consecutive slashes count as one.
pub(crate) fn without(mut name: &[u8], count: usize) -> Option<&[u8]> {
    for _ in 0..count {
        let slash = name.iter().position(|&byte| byte == b'/')?;
        let rest = &name[slash..];
        name = &rest[rest.iter().position(|&byte| byte != b'/').unwrap_or(rest.len())..];
    }
    Some(name).filter(|name| !name.is_empty())
}

/// Returns the common path of two names without their prefixes, if any.
fn same(old: &[u8], new: &[u8], count: Option<usize>) -> RawPath {
    match stripped(Some(old), Some(new), count).ok()? {
        (Some(old), Some(new)) if old == new => Some(old),
        _ => None,
    }
}

/// Returns the path of a `diff --git` line, if both names are the same; `rest` follows these words.
/// A rename has two names, and its own lines for them.
pub(crate) fn of_git_header(rest: &[u8], count: Option<usize>) -> Option<Vec<u8>> {
    if rest.starts_with(b"\"") {
        let (old, rest) = unquoted(rest)?;
        let new = rest.strip_prefix(b" ")?;
        return if new.starts_with(b"\"") {
            same(&old, &unquoted(new)?.0, count)
        } else {
            same(&old, new, count)
        };
    }
    if let Some(quote) = memchr::memmem::find(rest, b" \"") {
        return same(&rest[..quote], &unquoted(&rest[quote + 1..])?.0, count);
    }
    match count {
        // With prefixes of one letter, or none, both names have the same length.
        None => {
            let middle = rest.len() / 2;
            let is_blank = rest.get(middle) == Some(&b' ');
            is_blank.then(|| same(&rest[..middle], &rest[middle + 1..], count))?
        }
        Some(_) => memchr::memchr_iter(b' ', rest)
            .find_map(|blank| same(&rest[..blank], &rest[blank + 1..], count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_unquoted() {
        for path in ["a", "a b", "ä", "a\"b\\c", "t\tn\n\u{7f}", ""] {
            let mut quoted = Vec::new();
            push_quoted(&mut quoted, "ü/", path);
            assert_eq!(
                unquoted(&quoted),
                Some((format!("ü/{path}").into_bytes(), &b""[..])),
                "{path}"
            );
        }
        assert_eq!(
            unquoted(b"\"\\a\\b\\t\\n\\v\\f\\r\\101\"x"),
            Some((b"\x07\x08\t\n\x0b\x0c\rA".to_vec(), &b"x"[..]))
        );
        for broken in ["\"a", "\"\\", "\"\\q\"", "\"\\18\"", "\"\\777\"", "a"] {
            assert_eq!(unquoted(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn a_name_that_git_quotes_is_told_from_a_path_with_backslashes() {
        for (text, name) in [
            (r#""caf\303\251.py""#, Some("caf\u{e9}.py")),
            (r#""a b/\"c\".py""#, Some("a b/\"c\".py")),
            // Nothing is escaped.
            (r#""a.py""#, None),
            (r"caf\303\251.py", None),
            (r#""caf\303\251.py" b"#, None),
            // Not UTF-8, and control characters: paths of Windows too.
            (r#""caf\351.py""#, None),
            (r#""src\test.py""#, None),
            (r#""src\main.py""#, None),
            (r#"" \040""#, None),
        ] {
            assert_eq!(of_quoted(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn names_are_quoted_as_git_does() {
        for (path, wanted) in [
            ("a b", "a b"),
            ("t\tn\nr\r", r#""t\tn\nr\r""#),
            ("\u{7}\u{8}\u{b}\u{c}", r#""\a\b\v\f""#),
            ("\u{1}\u{7f}", r#""\001\177""#),
            ("q\"b\\ä", r#""q\"b\\\303\244""#),
        ] {
            let mut quoted = Vec::new();
            push_quoted(&mut quoted, "", path);
            assert_eq!(String::from_utf8(quoted).expect("ASCII"), wanted);
        }
    }

    #[test]
    fn prefixes_are_those_of_git_or_as_many_as_asked_for() {
        let name = |name: &'static str| Some(name).filter(|name| *name != "-").map(str::as_bytes);
        for (old, new, count, wanted) in [
            ("a/x", "b/x", None, Some(("x", "x"))),
            ("b/x", "a/x", None, Some(("x", "x"))),
            ("a/x", "b/y", None, Some(("x", "y"))),
            ("i/x", "w/x", None, Some(("x", "x"))),
            ("w/x", "i/x", None, Some(("x", "x"))),
            ("c/x", "w/x", None, Some(("x", "x"))),
            ("1/x", "2/x", None, Some(("x", "x"))),
            // Two directories.
            ("i/x", "w/y", None, Some(("i/x", "w/y"))),
            ("x", "x", None, Some(("x", "x"))),
            ("a/x", "a/x", None, Some(("a/x", "a/x"))),
            ("-", "b/x", None, Some(("-", "x"))),
            ("a/x", "-", None, Some(("x", "-"))),
            ("-", "w/x", None, Some(("-", "w/x"))),
            ("a/x", "b/x", Some(0), Some(("a/x", "b/x"))),
            ("one//two/x", "o/t/x", Some(2), Some(("x", "x"))),
            ("/abs/x", "/abs/x", Some(1), Some(("abs/x", "abs/x"))),
            ("x", "b/x", Some(1), None),
            ("a/", "b/x", Some(1), None),
        ] {
            let found = stripped(name(old), name(new), count);
            let wanted = wanted
                .map(|(old, new)| (name(old).map(<[u8]>::to_vec), name(new).map(<[u8]>::to_vec)));
            assert_eq!(found.ok(), wanted, "{old} {new} {count:?}");
        }
    }

    #[test]
    fn one_name_is_in_the_first_line_of_a_file() {
        for (rest, count, wanted) in [
            ("a/x b/x", None, Some("x")),
            ("a/x y b/x y", None, Some("x y")),
            ("a/x b/x b/x b/x", None, Some("x b/x")),
            ("x x", None, Some("x")),
            ("i/d/x w/d/x", None, Some("d/x")),
            ("\"a/\\303\\244\" \"b/\\303\\244\"", None, Some("ä")),
            ("\"a/x\\t\" b/y", None, None),
            ("a/x b/y", None, None),
            ("a/x b/yz", None, None),
            ("old/x new/x", Some(1), Some("x")),
            ("old/x new/x", None, None),
            ("x", None, None),
        ] {
            assert_eq!(
                of_git_header(rest.as_bytes(), count).as_deref(),
                wanted.map(str::as_bytes),
                "{rest}"
            );
        }
    }
}
