//! The conventions of a workspace for new files: `eol` in `.gitattributes`, `end_of_line` and `charset` in `.editorconfig`.
//!
//! Both are read beneath the root only, as they are before the patch. `.gitattributes` has precedence, since git rewrites files
//! by it. Unreadable files and lines are ignored, as git and editors do. Patterns are matched in linear time: they are not trusted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use encoding_rs::Encoding;
use fs_guard::{Access, RelPath};
use regex::bytes::{Regex, RegexBuilder};

use crate::charset::by_label;
use crate::files::Files;

/// The longest file of either kind that is read: 64 KiB.
const MAX_SIZE: u64 = 64 << 10;

/// The conventions for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Convention {
    /// Whether its lines end in CRLF, and which file says so.
    pub(crate) crlf: Option<(bool, &'static str)>,
    /// Its charset; none for UTF-8.
    pub(crate) charset: Option<&'static Encoding>,
    /// Whether it begins with the byte-order mark of UTF-8.
    pub(crate) bom: bool,
}

const ATTRIBUTES: &str = ".gitattributes";
const EDITOR: &str = ".editorconfig";

/// Finds the conventions of files. Each directory's files are read once.
#[derive(Debug)]
pub(crate) struct Conventions<'r> {
    files: &'r Files,
    directories: Mutex<HashMap<String, Arc<Directory>>>,
}

/// The rules of one directory.
#[derive(Debug, Default)]
struct Directory {
    attributes: Vec<Rule>,
    editor: Vec<Rule>,
    /// The `.editorconfig` says that those above it do not count.
    is_top: bool,
}

/// A pattern, and pairs of names and values for the files that match.
#[derive(Debug)]
struct Rule {
    pattern: Regex,
    settings: Vec<(String, String)>,
}

impl<'r> Conventions<'r> {
    pub(crate) fn new(files: &'r Files) -> Self {
        Self { files, directories: Mutex::default() }
    }

    /// Returns the conventions for the file at `path`.
    pub(crate) fn of(&self, path: &RelPath) -> Convention {
        let path = path.as_str();
        let parents = path.match_indices('/').map(|(at, _)| &path[..at]);
        let chain: Vec<(&str, Arc<Directory>)> =
            std::iter::once("").chain(parents).map(|dir| (dir, self.directory(dir))).collect();
        let top = chain.iter().rposition(|(_, directory)| directory.is_top).unwrap_or(0);
        let mut found = Convention::default();
        let (mut attributes, mut editor) = (None, None);
        for (nth, (dir, directory)) in chain.iter().enumerate() {
            // The path as that directory sees it.
            let own = if dir.is_empty() { path } else { &path[dir.len() + 1..] };
            for (name, value) in settings_of(&directory.attributes, own) {
                match (&**name, &**value) {
                    ("eol", "lf") => attributes = Some(false),
                    ("eol", "crlf") => attributes = Some(true),
                    ("-text" | "binary" | "-eol" | "!eol", _) => attributes = None,
                    _ => {}
                }
            }
            if nth < top {
                continue;
            }
            for (name, value) in settings_of(&directory.editor, own) {
                match (&**name, &**value) {
                    ("end_of_line", "lf") => editor = Some(false),
                    ("end_of_line", "crlf") => editor = Some(true),
                    ("end_of_line", _) => editor = None,
                    ("charset", label) => {
                        found.bom = label == "utf-8-bom";
                        found.charset = by_label(label).filter(|&charset| charset != encoding_rs::UTF_8);
                    }
                    _ => {}
                }
            }
        }
        let says = |crlf: Option<bool>, file| crlf.map(|crlf| (crlf, file));
        found.crlf = says(attributes, ATTRIBUTES).or(says(editor, EDITOR));
        found
    }

    fn directory(&self, dir: &str) -> Arc<Directory> {
        let lock = || self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(dir) {
            return Arc::clone(known);
        }
        let read = |name: &str| {
            let path = if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
            let path = self.files.check(&path, Access::Read).ok()?;
            let (bytes, _) = self.files.read(&path, MAX_SIZE).ok()?;
            std::str::from_utf8(&bytes).ok().map(str::to_owned)
        };
        let mut directory = Directory::default();
        if let Some(text) = read(ATTRIBUTES) {
            directory.attributes = text.lines().filter_map(attribute).collect();
        }
        if let Some(text) = read(EDITOR) {
            (directory.is_top, directory.editor) = sections(&text);
        }
        let directory = Arc::new(directory);
        lock().insert(dir.to_owned(), Arc::clone(&directory));
        directory
    }
}

/// Iterates over the settings of the rules that match a path, in their order.
fn settings_of<'r>(rules: &'r [Rule], path: &'r str) -> impl Iterator<Item = &'r (String, String)> {
    rules.iter().filter(|rule| rule.pattern.is_match(path.as_bytes())).flat_map(|rule| &rule.settings)
}

/// Reads one line of a `.gitattributes` file.
fn attribute(line: &str) -> Option<Rule> {
    let line = line.trim();
    // In quotes, a pattern may have blanks.
    let (pattern, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_once([' ', '\t'])?,
    };
    if pattern.is_empty() || pattern.starts_with(['#', '!', '[']) || pattern.ends_with('/') {
        return None;
    }
    let settings = rest.split_ascii_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")));
    let settings: Vec<_> = settings
        .filter(|(name, _)| matches!(*name, "eol" | "-text" | "binary" | "-eol" | "!eol"))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    (!settings.is_empty()).then(|| Some(Rule { pattern: glob(pattern, false)?, settings }))?
}

/// Reads the sections of an `.editorconfig` file, and whether it is the topmost one that counts.
fn sections(text: &str) -> (bool, Vec<Rule>) {
    let (mut is_top, mut sections) = (false, Vec::<(&str, Vec<(String, String)>)>::new());
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(pattern) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            sections.push((pattern, Vec::new()));
        } else if let Some((name, value)) = line.split_once('=') {
            let (name, value) = (name.trim().to_lowercase(), value.trim().to_lowercase());
            match sections.last_mut() {
                None => is_top |= name == "root" && value == "true",
                Some((_, settings)) if matches!(&*name, "end_of_line" | "charset") => settings.push((name, value)),
                Some(_) => {}
            }
        }
    }
    let rules = sections.into_iter().filter(|(_, settings)| !settings.is_empty());
    (is_top, rules.filter_map(|(pattern, settings)| Some(Rule { pattern: glob(pattern, true)?, settings })).collect())
}

/// Compiles a pattern of either kind. One without a slash matches files at any depth. Braces are alternatives
/// where `braces` is set: in `.editorconfig`.
fn glob(pattern: &str, braces: bool) -> Option<Regex> {
    /// The length that EditorConfig asks programs to support. A pattern is scanned once for each of its brackets.
    const LONGEST: usize = 1024;
    /// The memory that a pattern may take, in bytes.
    const MEMORY: usize = 1 << 20;
    if pattern.len() > LONGEST {
        return None;
    }
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
                let class = rest.split_once(']').filter(|(class, _)| !class.is_empty() && !class.contains('/'));
                let Some((class, after)) = class else {
                    out += r"\[";
                    continue;
                };
                chars = after.chars();
                let (not, class) = class.strip_prefix(['!', '^']).map_or(("", class), |class| ("^", class));
                let escaped: String =
                    class.chars().map(|c| if c == '-' { "-".into() } else { regex::escape(&c.to_string()) }).collect();
                out += &format!("[{not}{escaped}]");
            }
            '{' if braces && rest.contains('}') => {
                let inner = rest.split('}').next().unwrap_or_default();
                if let Some((first, last)) = inner.split_once("..")
                    && let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>())
                {
                    chars = rest[inner.len() + 1..].chars();
                    /// The most numbers that a range in a pattern is expanded to.
                    const NUMBERS: usize = 1000;
                    let numbers: Vec<_> =
                        (first.min(last)..=first.max(last)).take(NUMBERS).map(|n| n.to_string()).collect();
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
#[allow(clippy::disallowed_methods, reason = "a test makes its files")]
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
            let glob = glob(pattern, editor).unwrap_or_else(|| panic!("{pattern} is a pattern"));
            for path in matches {
                assert!(glob.is_match(path.as_bytes()), "{pattern} {path}");
            }
            for path in others {
                assert!(!glob.is_match(path.as_bytes()), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn patterns_without_end_are_not_read() {
        let braces = "{".repeat(1000) + &"}".repeat(1000);
        for pattern in ["a".repeat(1025), "{1..1000}".repeat(110), braces, "[".repeat(2000)] {
            assert!(glob(&pattern, true).is_none(), "{} bytes", pattern.len());
        }
        assert!(glob(&"[".repeat(1000), true).is_some());
    }

    #[test]
    fn the_nearest_word_counts_and_git_goes_before_the_editor() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write(".gitattributes", "# comment\n*.bat text eol=crlf\n\"a b.txt\" eol=crlf\n*.bin eol=crlf\n*.bin binary\n");
        write("sub/.gitattributes", "x.bat eol=lf\n");
        write(
            ".editorconfig",
            "\u{feff}root = true\n[*]\nend_of_line = lf\n[*.{cs,bat}]\nEnd_Of_Line=CRLF\n[*.rc]\ncharset = utf-16le\n[*.csv]\ncharset=utf-8-bom\n[*.old]\ncharset=latin1\n",
        );
        write("sub/.editorconfig", "[*.cs]\nend_of_line = unset\n");
        write("top/.editorconfig", "root=true\n[*.txt]\nend_of_line=crlf\n");
        write("link/real", "");
        let root = Arc::new(fs_guard::Root::open(dir.path(), crate::policy()).expect("a root"));
        let files = Files::from(&root);
        let conventions = Conventions::new(&files);
        for (path, crlf, charset, bom) in [
            ("a.bat", Some((true, ATTRIBUTES)), None, false),
            ("a b.txt", Some((true, ATTRIBUTES)), None, false),
            ("a.bin", Some((false, EDITOR)), None, false),
            ("sub/x.bat", Some((false, ATTRIBUTES)), None, false),
            ("a.c", Some((false, EDITOR)), None, false),
            ("a.cs", Some((true, EDITOR)), None, false),
            ("sub/a.cs", None, None, false),
            ("new/deep/a.cs", Some((true, EDITOR)), None, false),
            ("top/a.txt", Some((true, EDITOR)), None, false),
            ("top/a.cs", None, None, false),
            ("a.rc", Some((false, EDITOR)), Some("UTF-16LE"), false),
            ("a.csv", Some((false, EDITOR)), None, true),
            ("a.old", Some((false, EDITOR)), Some("windows-1252"), false),
        ] {
            let path = root.check(path, Access::Create).expect("a path");
            let found = conventions.of(&path);
            let charset_name = found.charset.map(Encoding::name);
            assert_eq!((found.crlf, charset_name, found.bom), (crlf, charset, bom), "{path}");
        }
    }
}
