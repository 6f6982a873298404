//! The accepted spellings and names. Nothing here looks at a file system.

use std::fmt;

use crate::fold::{fold, is_ignorable};

/// Which names may be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NamePolicy {
    /// Only names that all platforms resolve alike.
    #[default]
    Portable,
    /// All names that this platform accepts.
    Native,
}

/// The most components of a path.
const MAX_COMPONENTS: usize = 256;

/// Why a spelling is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spelling {
    /// The path is empty.
    Empty,
    /// It is absolute: with a leading `/`, a drive, a UNC prefix or `file:`.
    Absolute,
    /// It names the root itself.
    Root,
    /// Ends in `/`.
    TrailingSlash,
    /// It has an empty component (`//`).
    EmptyComponent,
    /// It has a component `.` after the beginning.
    DotComponent,
    /// It contains a control character.
    Control(char),
    /// It contains a backslash.
    Backslash,
    /// Starts with `~`.
    Tilde,
    /// It contains an invisible or bidirectional-control code point.
    Invisible(char),
    /// A component is longer than 255 bytes.
    LongComponent,
    /// The path is longer than 4096 bytes.
    LongPath,
    /// The path has more than 256 components. (The kernel walks each path from the root, so the
    /// cost of deep trees grows with the square of the depth.)
    TooDeep,
    /// Windows reserves this name for a device.
    ReservedName(String),
    /// A component ends in a dot or a blank.
    TrailingDotOrBlank(String),
    /// The name contains a character that Windows does not allow in names.
    ReservedCharacter(char),
    /// It has the shape of a generated short name.
    ShortName(String),
    /// It is not UTF-8.
    NotUnicode,
}

impl Spelling {
    /// Returns a stable word for the problem.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Empty => "empty_path",
            Self::Absolute => "absolute_path",
            Self::Root => "root",
            Self::TrailingSlash => "trailing_slash",
            Self::EmptyComponent => "empty_component",
            Self::DotComponent => "dot_component",
            Self::Control(_) => "control_character",
            Self::Backslash => "backslash",
            Self::Tilde => "tilde",
            Self::Invisible(_) => "invisible_character",
            Self::LongComponent | Self::LongPath => "too_long",
            Self::TooDeep => "too_deep",
            Self::ReservedName(_)
            | Self::TrailingDotOrBlank(_)
            | Self::ReservedCharacter(_)
            | Self::ShortName(_) => "not_portable",
            Self::NotUnicode => "not_utf8",
        }
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the path is empty"),
            Self::Absolute => f.write_str("the path is absolute; paths are relative to the root"),
            Self::Root => f.write_str("the path is the root itself"),
            Self::TrailingSlash => f.write_str("the path ends in `/`"),
            Self::EmptyComponent => f.write_str("the path has an empty component"),
            Self::DotComponent => f.write_str("the path has a `.` component"),
            Self::Control(c) => {
                write!(f, "the path has the control character U+{:04X}", u32::from(*c))
            }
            Self::Backslash => {
                f.write_str("the path has a backslash; components are separated by `/`")
            }
            Self::Tilde => {
                f.write_str("the path starts at a home directory (`~`), which is not expanded")
            }
            Self::Invisible(c) => {
                write!(f, "the path has the invisible character U+{:04X}", u32::from(*c))
            }
            Self::LongComponent => f.write_str("a component is longer than 255 bytes"),
            Self::LongPath => f.write_str("the path is longer than 4096 bytes"),
            Self::TooDeep => write!(f, "the path has more than {MAX_COMPONENTS} components"),
            Self::ReservedName(name) => write!(f, "{name:?} is the name of a device on Windows"),
            Self::TrailingDotOrBlank(name) => {
                write!(f, "{name:?} ends in a dot or a blank, which Windows drops")
            }
            Self::ReservedCharacter(c) => write!(f, "{c:?} is not allowed in names on Windows"),
            Self::ShortName(name) => {
                write!(f, "{name:?} has the shape of a short name (8.3) of Windows")
            }
            Self::NotUnicode => f.write_str("the path is not UTF-8"),
        }
    }
}

/// The result for a spelling that is not refused outright.
pub(crate) enum Verdict<'p> {
    /// The path without a leading `./`.
    Fine(&'p str),
    /// It has a component `..`.
    Climbs,
    Refused(Spelling),
}

/// Checks everything that is refused whatever the access.
pub(crate) fn check_spelling(path: &str) -> Verdict<'_> {
    use Spelling as S;
    use Verdict::Refused;
    if path.is_empty() {
        return Refused(S::Empty);
    }
    if path.len() > 4096 {
        return Refused(S::LongPath);
    }
    if let Some(c) = path.chars().find(|c| c.is_control()) {
        return Refused(S::Control(c));
    }
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    if path.is_empty() || path == "." {
        return Refused(S::Root);
    }
    if path.starts_with(['/', '\\']) || has_drive(path) || has_scheme(path) {
        return Refused(S::Absolute);
    }
    if path.contains('\\') {
        return Refused(S::Backslash);
    }
    // `~`, `~/…` and `~name/…` are what a shell expands to a home directory; `~name` alone is a
    // file in practice.
    if path == "~" || (path.starts_with('~') && path.contains('/')) {
        return Refused(S::Tilde);
    }
    let (whole, trailing) = match path.strip_suffix('/') {
        Some(rest) => (rest, true),
        None => (path, false),
    };
    let mut refused = trailing.then_some(S::TrailingSlash);
    for (depth, component) in whole.split('/').enumerate() {
        match component {
            _ if depth == MAX_COMPONENTS => return Refused(S::TooDeep),
            ".." => return Verdict::Climbs,
            "" => refused = refused.or(Some(S::EmptyComponent)),
            "." => refused = refused.or(Some(S::DotComponent)),
            _ if component.len() > 255 => refused = refused.or(Some(S::LongComponent)),
            _ => {}
        }
    }
    match refused {
        Some(problem) => Refused(problem),
        None => Verdict::Fine(path),
    }
}

/// Finds an invisible code point.
pub(crate) fn invisible(path: &str) -> Option<char> {
    if path.is_ascii() {
        return None;
    }
    path.chars().find(|&c| looks_like_nothing(c))
}

fn looks_like_nothing(c: char) -> bool {
    is_ignorable(c) || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FFF9}'..='\u{FFFB}')
}

/// Returns whether a character looks like nothing or like a blank: no new name may have such
/// characters, and people see them as escapes. The blank itself is none of these.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    looks_like_nothing(c) || looks_blank(c)
}

/// Returns whether a character outside ASCII looks like a blank, or is no character: other blanks
/// than the usual one, symbols and letters without a shape, and noncharacters.
fn looks_blank(c: char) -> bool {
    let noncharacter = matches!(c, '\u{FDD0}'..='\u{FDEF}') || u32::from(c) & 0xFFFE == 0xFFFE;
    noncharacter
        || !c.is_ascii() && c.is_whitespace()
        || matches!(c, '\u{2800}' | '\u{16FE4}' | '\u{1D159}')
}

/// Checks one component against the rules of other platforms.
pub(crate) fn check_portable(name: &str) -> Result<(), Spelling> {
    check_windows(name)?;
    if let Some(c) = name.chars().find(|&c| looks_blank(c)) {
        return Err(Spelling::Invisible(c));
    }
    if is_short_name(name) {
        return Err(Spelling::ShortName(name.into()));
    }
    Ok(())
}

/// Checks one component for names that Windows does not resolve to a file of the same name.
pub(crate) fn check_windows(name: &str) -> Result<(), Spelling> {
    if let Some(c) = name.chars().find(|c| matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|')) {
        return Err(Spelling::ReservedCharacter(c));
    }
    if name.ends_with(['.', ' ']) {
        return Err(Spelling::TrailingDotOrBlank(name.into()));
    }
    if is_device(name) {
        return Err(Spelling::ReservedName(name.into()));
    }
    Ok(())
}

/// Returns the folded name without what some file systems drop at its end. On NTFS an alternate
/// stream of a directory is the directory.
fn bare_key(name: &str) -> String {
    let stem = name.split(':').next().unwrap_or(name);
    fold(stem).trim_end_matches(['.', ' ']).to_owned()
}

/// Returns whether some file system takes `name` for `.git`.
pub(crate) fn is_dot_git(name: &str) -> bool {
    let key = bare_key(name);
    key == ".git" || key.strip_prefix("git~").is_some_and(all_digits)
}

/// The directories in which other version controls keep their settings.
const VERSION_CONTROLS: [&str; 7] = [".hg", ".jj", ".svn", ".bzr", "_darcs", ".pijul", "cvs"];

/// Returns the directory of a version control other than git for which some file system takes
/// `name`.
pub(crate) fn version_control(name: &str) -> Option<&'static str> {
    let key = bare_key(name);
    // The short name generated by FAT and NTFS for a name with a dot in front; the others are short
    // names themselves.
    let short =
        key.split_once('~').filter(|(_, digits)| all_digits(digits)).map(|(start, _)| start);
    VERSION_CONTROLS
        .into_iter()
        .find(|dir| key == *dir || short.is_some_and(|short| dir.strip_prefix('.') == Some(short)))
}

/// Returns whether a name may be a spelling of one that is never touched: a fast check, and true
/// for every such spelling.
pub(crate) fn may_be_special(name: &str) -> bool {
    !name.is_ascii()
        || name.starts_with('.')
        || name.contains('~')
        || begins(name, "cvs")
        || begins(name, "_darcs")
}

fn begins(name: &str, with: &str) -> bool {
    name.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
}

/// Returns whether some file system takes `name` for the private directory.
pub(crate) fn is_private_name(name: &str, private_dir: &str) -> bool {
    let key = bare_key(name);
    let stem = private_dir.trim_start_matches('.');
    // The short name generated by FAT and NTFS.
    let short = key.split_once('~').is_some_and(|(start, digits)| {
        all_digits(digits) && start.eq_ignore_ascii_case(&stem[..stem.len().min(6)])
    });
    short || key.eq_ignore_ascii_case(private_dir)
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn has_scheme(path: &str) -> bool {
    path.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"))
}

/// `CON`, `NUL.txt`, `com1`, `LPT²`…: a device on Windows, whatever the extension.
fn is_device(name: &str) -> bool {
    let stem = name.split(['.', ':']).next().unwrap_or(name).trim_end_matches(' ');
    if stem.chars().count() > 7 {
        return false;
    }
    let stem = stem.to_ascii_uppercase();
    if matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$") {
        return true;
    }
    let digit = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    digit.is_some_and(|digit| {
        let mut chars = digit.chars();
        matches!((chars.next(), chars.next()), (Some('1'..='9' | '¹' | '²' | '³'), None))
    })
}

/// `PROGRA~1`, `A~12.TXT`: the short names generated by Windows.
fn is_short_name(name: &str) -> bool {
    let (base, extension) = name.split_once('.').unwrap_or((name, ""));
    if base.len() > 8 || extension.len() > 3 || extension.contains('.') {
        return false;
    }
    base.rsplit_once('~').is_some_and(|(before, digits)| !before.is_empty() && all_digits(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(path: &str) -> &'static str {
        match check_spelling(path) {
            Verdict::Fine(_) => "fine",
            Verdict::Climbs => "traversal",
            Verdict::Refused(problem) => problem.reason(),
        }
    }

    #[test]
    fn spellings() {
        let long = "x".repeat(256);
        let deep = "x/".repeat(2049);
        for (path, expected) in [
            ("a", "fine"),
            ("./a", "fine"),
            ("././a", "fine"),
            ("..foo", "fine"),
            ("a..b/c", "fine"),
            ("...", "fine"),
            ("é è/naïve ☃", "fine"),
            ("a~b", "fine"),
            ("", "empty_path"),
            (".", "root"),
            ("./", "root"),
            ("/etc/passwd", "absolute_path"),
            (".//etc/passwd", "absolute_path"),
            ("//server/share", "absolute_path"),
            ("\\\\server\\share", "absolute_path"),
            ("C:/x", "absolute_path"),
            ("c:x", "absolute_path"),
            ("file:x", "absolute_path"),
            ("FILE:///etc/passwd", "absolute_path"),
            ("..", "traversal"),
            ("../x", "traversal"),
            ("a/../x", "traversal"),
            ("./../x", "traversal"),
            ("a/..", "traversal"),
            ("a/../", "traversal"),
            ("a//../b", "traversal"),
            ("a\\..\\b", "backslash"),
            ("a/", "trailing_slash"),
            ("a//b", "empty_component"),
            ("a/./b", "dot_component"),
            ("a/.", "dot_component"),
            ("~/x", "tilde"),
            ("~", "tilde"),
            ("~x/y", "tilde"),
            ("a\0b", "control_character"),
            ("a\nb", "control_character"),
            ("a\u{1b}[31mb", "control_character"),
            ("a\u{85}b", "control_character"),
            (&long, "too_long"),
            (&long[1..], "fine"),
            (&format!("{}{}", "x".repeat(127) + "/", vec!["x".repeat(127); 31].join("/")), "fine"),
            (&format!("{}x{}", "x".repeat(127) + "/", vec!["x".repeat(127); 31].join("/")), "fine"),
            (
                &format!("{}xx{}", "x".repeat(127) + "/", vec!["x".repeat(127); 31].join("/")),
                "too_long",
            ),
            (&deep, "too_long"),
            (&"x/".repeat(256), "trailing_slash"),
            (&format!("./{}x", "x/".repeat(255)), "fine"),
            (&format!("{}x", "x/".repeat(256)), "too_deep"),
            (&format!("{}..", "x/".repeat(2000)), "too_deep"),
        ] {
            assert_eq!(verdict(path), expected, "{path:?}");
        }
    }

    #[test]
    fn git_in_every_spelling() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".git.",
            ".git ",
            ".git. .",
            "git~1",
            "GIT~1",
            "git~2",
            ".g\u{200c}it",
            ".git\u{200d}",
            "．ｇｉｔ",
            ".gıt",
            ".git::$INDEX_ALLOCATION",
            ".git:x",
            "\u{feff}.git",
            ".gi\u{ad}t",
            ".git\u{a0}",
        ] {
            // A dotless i folds to itself: no file system takes one for an i.
            assert_eq!(is_dot_git(name), name != ".gıt", "{name:?}");
        }
        for name in [".gitignore", ".github", "git", "foo.git", ".git2", "git~", "git~x", "x.git"] {
            assert!(!is_dot_git(name), "{name:?}");
        }
        for (name, dir) in [
            (".hg", ".hg"),
            (".HG", ".hg"),
            (".hg.", ".hg"),
            (".hg ", ".hg"),
            ("hg~1", ".hg"),
            (".h\u{200c}g", ".hg"),
            (".jj", ".jj"),
            ("JJ~2", ".jj"),
            (".svn::$INDEX_ALLOCATION", ".svn"),
            ("SVN~1", ".svn"),
            (".bzr", ".bzr"),
            ("_darcs", "_darcs"),
            ("_DARCS", "_darcs"),
            ("_darcs.", "_darcs"),
            (".pijul", ".pijul"),
            ("pijul~1", ".pijul"),
            ("CVS", "cvs"),
            ("cvs", "cvs"),
            ("CVS:x", "cvs"),
            ("ＣＶＳ", "cvs"),
        ] {
            assert_eq!(version_control(name), Some(dir), "{name:?}");
            assert!(may_be_special(name), "{name:?}");
        }
        for name in [
            ".hgignore",
            ".hgtags",
            "hg",
            "svn",
            ".svnignore",
            "cvs2",
            "darcs",
            "_darcs2",
            ".cvsignore",
            "cvs~1",
        ] {
            assert_eq!(version_control(name), None, "{name:?}");
        }
        for name in [".my-notes", ".My-Notes", ".my-notes.", "MY-NOT~1", ".my\u{200b}-notes"] {
            assert!(is_private_name(name, ".my-notes"), "{name:?}");
        }
        assert!(!is_private_name("my-notes", ".my-notes"));
        assert!(!is_private_name("MY-NOT~1", ".my"));
    }

    #[test]
    fn names_of_other_platforms() {
        for name in [
            "con",
            "CON",
            "nul.txt",
            "Aux.tar.gz",
            "com1",
            "LPT9.x",
            "com¹",
            "con .txt",
            "conin$",
            "conout$",
            "CONOUT$.txt",
            "clock$",
            "a.",
            "a ",
            "a:b",
            "a*",
            "a?",
            "a\"",
            "a<",
            "a>",
            "a|",
            "PROGRA~1",
            "abc~12.txt",
        ] {
            assert!(check_portable(name).is_err(), "{name:?}");
        }
        for name in [
            "console",
            "com",
            "com0",
            "com10",
            "null",
            "lpt",
            "a.b",
            "file~",
            "file.txt~",
            "a~b",
            "~1",
            "~backup.txt",
            "much-longer~1",
            "abc~1.text",
            "a~1.b.c",
        ] {
            assert_eq!(check_portable(name), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn invisible_code_points() {
        for name in [
            "a\u{200b}",
            "a\u{202e}b",
            "\u{feff}a",
            "a\u{2066}",
            "a\u{ad}b",
            "a\u{2028}b",
            "\u{e0041}",
        ] {
            assert!(invisible(name).is_some(), "{name:?}");
        }
        assert_eq!(invisible("naïve ☃ 日本語 \u{a0}"), None);
    }
}
