//! The conventions of a workspace: for new files `eol` in `.gitattributes`, `end_of_line` and
//! `charset` in `.editorconfig`; for whitespace errors `whitespace` in `.gitattributes`.
//!
//! Both are read beneath the root, as they are before the patch; `whitespace`, which changes no file
//! by itself, also in the directories from the top of git's work tree down to the root.
//! `.gitattributes` has precedence, since git rewrites files by it. Unreadable files and lines are
//! ignored, as git and editors do. Without the feature `editorconfig` neither is read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

#[cfg(feature = "editorconfig")]
use fs_guard::ConventionGlob;
use fs_guard::{Access, RelPath, Root};
use patch_text::text::charset::{Charset, by_label};
use patch_text::text::whitespace::WhitespaceRules;

use crate::files::Files;

/// The longest file of either kind that is read: 64 KiB.
const MAX_SIZE: u64 = 64 << 10;

/// The most rules that are read of a file: each is compiled.
const MAX_RULES: usize = 512;

/// Stands for a pattern where none are read.
#[cfg(not(feature = "editorconfig"))]
#[derive(Debug)]
struct ConventionGlob(std::convert::Infallible);

#[cfg(not(feature = "editorconfig"))]
impl ConventionGlob {
    fn new(_: &str, _: bool) -> Option<Self> {
        None
    }

    fn matches(&self, _: &str) -> bool {
        match self.0 {}
    }
}

/// The conventions for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Convention {
    /// Whether its lines end in CRLF, and which file says so.
    pub(crate) crlf: Option<(bool, &'static str)>,
    /// Its charset; none for UTF-8.
    pub(crate) charset: Option<Charset>,
    /// Whether it begins with the byte-order mark of UTF-8.
    pub(crate) bom: bool,
}

const ATTRIBUTES: &str = ".gitattributes";
/// The attributes that are read.
const ATTRIBUTE_NAMES: &[&str] =
    &["eol", "-text", "binary", "-eol", "!eol", "whitespace", "-whitespace", "!whitespace"];

const EDITOR: &str = ".editorconfig";

/// Finds the conventions of files. Each directory's files are read once.
#[derive(Debug)]
pub(crate) struct Conventions<'r> {
    files: &'r Files,
    directories: Mutex<HashMap<String, Arc<Directory>>>,
    /// The directories above the root, from the top of git's work tree on.
    above: OnceLock<Vec<Above>>,
}

/// A directory above the root.
#[derive(Debug)]
struct Above {
    /// The path from there to the root, with a slash at its end.
    way: String,
    attributes: Vec<ConventionRule>,
}

/// The rules of one directory.
#[derive(Debug, Default)]
struct Directory {
    attributes: Vec<ConventionRule>,
    editor: Vec<ConventionRule>,
    /// The `.editorconfig` says that those above it do not count.
    is_top: bool,
}

/// A pattern, and pairs of names and values for the files that match.
#[derive(Debug)]
struct ConventionRule {
    pattern: ConventionGlob,
    settings: Vec<(String, String)>,
}

impl<'r> Conventions<'r> {
    pub(crate) fn new(files: &'r Files) -> Self {
        Self { files, directories: Mutex::default(), above: OnceLock::new() }
    }

    /// Returns the conventions for the file at `path`.
    pub(crate) fn of(&self, path: &RelPath) -> Convention {
        let path = path.as_str();
        let chain: Vec<_> = self.chain(path).collect();
        let top = chain.iter().rposition(|(_, directory)| directory.is_top).unwrap_or(0);
        let mut found = Convention::default();
        let mut attributes = None;
        let mut editor = None;
        for (nth, (dir, directory)) in chain.iter().enumerate() {
            let own = seen_from(dir, path);
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
                        found.charset =
                            by_label(label).filter(|&charset| charset != Charset::UTF_8);
                    }
                    _ => {}
                }
            }
        }
        let by_attributes = attributes.map(|crlf| (crlf, ATTRIBUTES));
        found.crlf = by_attributes.or(editor.map(|crlf| (crlf, EDITOR)));
        found
    }

    /// Returns the whitespace rules for the file at `path`: those of the attribute `whitespace`, or
    /// else `default`.
    pub(crate) fn whitespace(&self, path: &RelPath, default: WhitespaceRules) -> WhitespaceRules {
        let path = path.as_str();
        let mut found = default;
        for Above { way, attributes } in self.above.get_or_init(|| above(self.files)) {
            found = whitespace_by(attributes, &format!("{way}{path}"), found, default);
        }
        for (dir, directory) in self.chain(path) {
            found = whitespace_by(&directory.attributes, seen_from(dir, path), found, default);
        }
        found
    }

    /// Returns the directories that a path leads through, and their rules.
    fn chain<'p>(&self, path: &'p str) -> impl Iterator<Item = (&'p str, Arc<Directory>)> {
        let parents = path.match_indices('/').map(|(at, _)| &path[..at]);
        std::iter::once("").chain(parents).map(|dir| (dir, self.directory(dir)))
    }

    fn directory(&self, dir: &str) -> Arc<Directory> {
        if let Some(known) = self.lock().get(dir) {
            return Arc::clone(known);
        }
        let mut directory = Directory::default();
        if let Some(text) = self.read(dir, ATTRIBUTES) {
            directory.attributes = attributes(&text);
        }
        if let Some(text) = self.read(dir, EDITOR) {
            (directory.is_top, directory.editor) = sections(&text);
        }
        let directory = Arc::new(directory);
        self.lock().insert(dir.to_owned(), Arc::clone(&directory));
        directory
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Directory>>> {
        self.directories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a file of conventions in a directory.
    fn read(&self, dir: &str, name: &str) -> Option<String> {
        if !cfg!(feature = "editorconfig") {
            return None;
        }
        let path = if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
        let path = self.files.check(&path, Access::Read).ok()?;
        let (bytes, _) = self.files.read(&path, MAX_SIZE).ok()?;
        std::str::from_utf8(&bytes).ok().map(str::to_owned)
    }
}

/// Returns the whitespace rules after those of one file of attributes.
fn whitespace_by(
    rules: &[ConventionRule],
    path: &str,
    found: WhitespaceRules,
    default: WhitespaceRules,
) -> WhitespaceRules {
    settings_of(rules, path).fold(found, |found, (name, value)| match (&**name, &**value) {
        ("whitespace", "") => default.all(),
        ("whitespace", list) => WhitespaceRules::of_attribute(list),
        ("-whitespace", _) => default.none(),
        ("!whitespace", _) => default,
        _ => found,
    })
}

/// Returns the directories from the top of git's work tree down to the root of the files, which is
/// left out, and their attributes.
fn above(files: &Files) -> Vec<Above> {
    let Some(root) = files.directory().filter(|root| !root.is_work_tree()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for above in root.enclosing(root.policy()) {
        // Where a link or a mount point is on the way, git would not come from there.
        let Some(way) = &above.way else { return Vec::new() };
        let attributes = attributes_at(&above.root).unwrap_or_default();
        found.push(Above { way: format!("{way}/"), attributes });
        if above.root.is_work_tree() {
            found.reverse();
            return if above.root.has_git() { found } else { Vec::new() };
        }
    }
    Vec::new()
}

/// Reads the attributes in a directory above the root of the files.
fn attributes_at(root: &Root) -> Option<Vec<ConventionRule>> {
    if !cfg!(feature = "editorconfig") {
        return None;
    }
    let path = root.check(ATTRIBUTES, Access::Read).ok()?;
    let (bytes, _) = root.read(&path, MAX_SIZE).ok()?;
    Some(attributes(std::str::from_utf8(&bytes).ok()?))
}

/// Returns a path as a directory above it sees it.
fn seen_from<'p>(dir: &str, path: &'p str) -> &'p str {
    if dir.is_empty() { path } else { &path[dir.len() + 1..] }
}

/// Iterates over the settings of the rules that match a path, in their order.
fn settings_of<'r>(
    rules: &'r [ConventionRule],
    path: &'r str,
) -> impl Iterator<Item = &'r (String, String)> {
    rules.iter().filter(|rule| rule.pattern.matches(path)).flat_map(|rule| &rule.settings)
}

/// Reads the lines of a `.gitattributes` file.
fn attributes(text: &str) -> Vec<ConventionRule> {
    text.lines().filter_map(attribute).take(MAX_RULES).collect()
}

/// Reads one line of a `.gitattributes` file.
fn attribute(line: &str) -> Option<ConventionRule> {
    let line = line.trim();
    // In quotes, a pattern may have blanks.
    let (pattern, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_once([' ', '\t'])?,
    };
    if pattern.is_empty() || pattern.starts_with(['#', '!', '[']) || pattern.ends_with('/') {
        return None;
    }
    let settings =
        rest.split_ascii_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")));
    let settings: Vec<_> = settings
        .filter(|(name, _)| ATTRIBUTE_NAMES.contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    (!settings.is_empty())
        .then(|| Some(ConventionRule { pattern: ConventionGlob::new(pattern, false)?, settings }))?
}

/// Reads the sections of an `.editorconfig` file, and whether it is the topmost one that counts.
fn sections(text: &str) -> (bool, Vec<ConventionRule>) {
    let mut is_top = false;
    let mut sections: Vec<(&str, Vec<(String, String)>)> = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(pattern) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            sections.push((pattern, Vec::new()));
        } else if let Some((name, value)) = line.split_once('=') {
            let name = name.trim().to_lowercase();
            let value = value.trim().to_lowercase();
            match sections.last_mut() {
                None => is_top |= name == "root" && value == "true",
                Some((_, settings)) if matches!(&*name, "end_of_line" | "charset") => {
                    settings.push((name, value))
                }
                Some(_) => {}
            }
        }
    }
    let rules = sections.into_iter().filter(|(_, settings)| !settings.is_empty()).take(MAX_RULES);
    (
        is_top,
        rules
            .filter_map(|(pattern, settings)| {
                Some(ConventionRule { pattern: ConventionGlob::new(pattern, true)?, settings })
            })
            .collect(),
    )
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test makes its files")]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_about_whitespace_counts() {
        let default = WhitespaceRules::default();
        for (root, sub, expected) in [
            ("", "", default),
            ("f.c whitespace", "", default.all()),
            ("*.c -whitespace", "", default.none()),
            ("*.c -whitespace", "*.c !whitespace", default),
            ("*.c -whitespace", "*.h whitespace", default.none()),
            ("sub/* whitespace=cr-at-eol\n*.c eol=lf", "", WhitespaceRules::of_attribute("cr")),
            ("/* -whitespace", "", default),
        ] {
            let tree: crate::MemoryTree =
                [(".gitattributes", root), ("sub/.gitattributes", sub)].into_iter().collect();
            let files = Files::of_tree(Arc::new(tree), crate::policy());
            let path = files.check("sub/f.c", Access::Create).expect("a path");
            let found = Conventions::new(&files).whitespace(&path, default);
            assert_eq!(found, expected, "{root} {sub}");
        }
    }

    fn write(dir: &tempfile::TempDir, path: &str, text: &str) {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    #[test]
    fn the_nearest_word_counts_and_git_goes_before_the_editor() {
        let dir = tempfile::tempdir().expect("a directory");
        write(
            &dir,
            ".gitattributes",
            "# comment\n*.bat text eol=crlf\n\"a b.txt\" eol=crlf\n*.bin eol=crlf\n*.bin binary\n",
        );
        write(&dir, "sub/.gitattributes", "x.bat eol=lf\n");
        write(
            &dir,
            ".editorconfig",
            "\u{feff}root = true\n[*]\nend_of_line = lf\n[*.{cs,bat}]\nEnd_Of_Line=CRLF\n[*.rc]\n\
             charset = utf-16le\n[*.csv]\ncharset=utf-8-bom\n[*.old]\ncharset=latin1\n",
        );
        write(&dir, "sub/.editorconfig", "[*.cs]\nend_of_line = unset\n");
        write(&dir, "top/.editorconfig", "root=true\n[*.txt]\nend_of_line=crlf\n");
        write(&dir, "link/real", "");
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
            let charset_name = found.charset.map(Charset::name);
            assert_eq!(found.crlf, crlf, "{path}");
            assert_eq!(charset_name, charset, "{path}");
            assert_eq!(found.bom, bom, "{path}");
        }
    }
}
