//! The patterns of `.gitattributes` and `.editorconfig`. They are matched in linear time: their
//! authors are not trusted.
//!
//! The libraries for these files (ec4rs, gix-glob) backtrack. globset does not, but knows neither
//! `**` within a name nor ranges of numbers nor a lone bracket; writing a pattern for globset takes
//! the same steps as writing a regular expression.

use regex::bytes::{Regex, RegexBuilder};

use crate::globs::bounded;

/// A pattern from a file of conventions.
#[derive(Debug, Clone)]
pub struct ConventionGlob(Regex);

impl ConventionGlob {
    /// Compiles a pattern. Without a slash the pattern matches files at any depth. Braces are
    /// alternatives where `braces` is set: in `.editorconfig`. `None` stands for a malformed or
    /// oversized pattern; git and editors ignore these, too.
    #[must_use]
    pub fn new(pattern: &str, braces: bool) -> Option<Self> {
        compile(pattern, braces).map(Self)
    }

    /// Returns whether the pattern matches a path, relative to the directory of the conventions.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.0.is_match(path.as_bytes())
    }
}

fn compile(pattern: &str, braces: bool) -> Option<Regex> {
    /// The most memory that a pattern may take, in bytes.
    const MEMORY: usize = 1 << 20;
    bounded(pattern).ok()?;
    let anchored = pattern.contains('/');
    let mut out = String::from(if anchored { "^" } else { "^(?:.*/)?" });
    let mut chars = pattern.strip_prefix('/').unwrap_or(pattern).chars();
    let mut open = 0;
    while let Some(c) = chars.next() {
        let rest = chars.as_str();
        match c {
            '*' => {
                let (length, regex) = match rest {
                    // `**/` also matches no directory at all.
                    _ if rest.starts_with("*/") => (2, "(?:.*/)?"),
                    _ if rest.starts_with('*') => (1, ".*"),
                    _ => (0, "[^/]*"),
                };
                chars = rest[length..].chars();
                out += regex;
            }
            '?' => out += "[^/]",
            '[' => {
                let class = rest
                    .split_once(']')
                    .filter(|(class, _)| !class.is_empty() && !class.contains('/'));
                let Some((class, after)) = class else {
                    out += r"\[";
                    continue;
                };
                chars = after.chars();
                let (not, class) =
                    class.strip_prefix(['!', '^']).map_or(("", class), |class| ("^", class));
                let escaped: String = class
                    .chars()
                    .map(|c| if c == '-' { "-".into() } else { regex::escape(&c.to_string()) })
                    .collect();
                out += &format!("[{not}{escaped}]");
            }
            '{' if braces && rest.contains('}') => {
                let inner = rest.split('}').next().unwrap_or_default();
                if let Some((first, last)) = inner.split_once("..")
                    && let Ok(first) = first.parse::<i64>()
                    && let Ok(last) = last.parse::<i64>()
                {
                    chars = rest[inner.len() + 1..].chars();
                    /// The most numbers that a range expands to.
                    const NUMBERS: usize = 1000;
                    let numbers: Vec<_> = (first.min(last)..=first.max(last))
                        .take(NUMBERS)
                        .map(|n| n.to_string())
                        .collect();
                    out += &format!("(?:{})", numbers.join("|"));
                } else if inner.contains(',') || inner.contains('{') {
                    open += 1;
                    out += "(?:";
                } else {
                    out += r"\{";
                }
            }
            ',' if open > 0 => out.push('|'),
            '}' if open > 0 => {
                open -= 1;
                out.push(')');
            }
            '\\' => out += &regex::escape(&chars.next()?.to_string()),
            c => out += &regex::escape(&c.to_string()),
        }
    }
    out.push('$');
    RegexBuilder::new(&out).size_limit(MEMORY).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_git_and_editors_match() {
        for (pattern, editor, matches, others) in [
            ("*.bat", false, &["a.bat", "d/a.bat"][..], &["a.bat/x", "abat"][..]),
            ("/*.bat", false, &["a.bat"], &["d/a.bat"]),
            ("d/*.c", false, &["d/a.c"], &["a.c", "x/d/a.c", "d/e/a.c"]),
            ("d/**/*.c", false, &["d/a.c", "d/e/f/a.c"], &["a.c"]),
            ("**/x", false, &["x", "a/b/x"], &["ax"]),
            ("d/**", false, &["d/a", "d/e/f"], &["d"]),
            ("a?[bc]", false, &["axb", "d/ayc"], &["ab", "axd"]),
            ("[!a]x", false, &["bx"], &["ax"]),
            ("{a,b}", false, &["{a,b}"], &["a"]),
            ("a\\*", false, &["a*"], &["ab"]),
            ("*.{js,ts}", true, &["a.js", "d/b.ts"], &["a.c", "a.{js,ts}"]),
            ("{a,b{c,d}}.x", true, &["a.x", "bc.x", "bd.x"], &["b.x"]),
            ("{single}.x", true, &["{single}.x"], &["single.x"]),
            ("n{1..3}", true, &["n1", "n3"], &["n4", "n"]),
            ("**.py", true, &["a.py", "d/e/a.py"], &["a.pyc"]),
            ("lib/**.js", true, &["lib/a.js", "lib/d/a.js"], &["a.js"]),
            ("[a", true, &["[a"], &["a"]),
            ("*", true, &["a", "d/a"], &[]),
        ] {
            let glob = ConventionGlob::new(pattern, editor)
                .unwrap_or_else(|| panic!("{pattern} is a pattern"));
            for path in matches {
                assert!(glob.matches(path), "{pattern} {path}");
            }
            for path in others {
                assert!(!glob.matches(path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn patterns_without_end_are_not_read() {
        let braces = "{".repeat(1000) + &"}".repeat(1000);
        for pattern in ["a".repeat(1025), "{1..1000}".repeat(110), braces, "[".repeat(2000)] {
            assert!(ConventionGlob::new(&pattern, true).is_none(), "{} bytes", pattern.len());
        }
        assert!(ConventionGlob::new(&"[".repeat(1000), true).is_some());
    }
}
