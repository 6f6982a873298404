//! Path patterns: lists, matched without regard to case, and sets, matched with regard to case.
//!
//! All patterns of this program are compiled here, because they come from models and repositories:
//! [`bounded`] holds for each, and no library is asked for anything that can panic.
//!
//! The common forms of patterns in a list are compared directly. Regular expressions are built only
//! for the others, and only when a path is first matched, so they cost nothing at start-up.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use globset::{GlobBuilder, GlobSetBuilder};

use crate::error::shortened;
use crate::fold::fold;

/// The longest pattern, in bytes.
pub const MAX_GLOB: usize = 1024;

/// The most patterns of a list from a model or a workspace.
pub const MAX_GLOBS: usize = 256;

/// The most opening braces of a pattern. Each one may be within the one before, and libraries
/// recurse into them.
const MAX_BRACES: usize = 32;

/// The characters with a meaning in a pattern.
const SIGNS: [char; 8] = ['*', '?', '[', ']', '{', '}', '\\', '!'];

/// The most alternatives in the braces of a pattern.
const MAX_ALTERNATIVES: usize = 256;

/// Checks that a pattern is not too much for a library: every pattern that may come from a model or
/// a repository passes here before compilation.
///
/// # Errors
///
/// When the pattern is too long, or has too many braces or alternatives.
pub fn bounded(pattern: &str) -> Result<(), GlobError> {
    let braces = pattern.matches('{').count();
    let problem = if pattern.len() > MAX_GLOB {
        format!("it has {} bytes, more than {MAX_GLOB}", pattern.len())
    } else if braces > MAX_BRACES {
        format!("it opens {braces} braces, more than {MAX_BRACES}")
    } else if braces > 0 && pattern.matches(',').count() >= MAX_ALTERNATIVES {
        format!("it has more than {MAX_ALTERNATIVES} alternatives")
    } else {
        return Ok(());
    };
    Err(GlobError { pattern: pattern.into(), problem })
}

/// A set of patterns matched as they stand, with regard to case. `*` does not match `/`; `**` does.
#[derive(Debug, Clone)]
pub struct GlobSet(globset::GlobSet);

impl GlobSet {
    /// Reads patterns.
    ///
    /// # Errors
    ///
    /// When one of them is malformed, or all together are too much.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Result<Self, GlobError> {
        compile(patterns, Case::Sensitive, Slash::Separates).map(Self)
    }

    /// Reads patterns whose `*`, `?` and brackets also match `/`, as git's for the paths of a patch
    /// do.
    ///
    /// # Errors
    ///
    /// When one of them is malformed, or all together are too much.
    pub fn across<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Result<Self, GlobError> {
        compile(patterns, Case::Sensitive, Slash::IsPlain).map(Self)
    }

    /// Returns whether a pattern matches the `/`-separated `path`.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

/// A list of glob patterns. `*` does not match `/`; `**` does. Clones share the patterns until one
/// is added.
///
/// For paths that are [kept out](Self::matches) a pattern for a directory covers everything inside.
/// For [included](Self::includes) paths, and in an [exception](Self::except), only a pattern with a
/// plain last name does: `a` stands for everything in `a`, but `a/*` only for files in `a`.
#[derive(Debug, Clone, Default)]
pub struct Globs {
    patterns: Arc<Vec<Pattern>>,
}

/// A pattern with an error.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{:?} is not a glob: {problem}", shortened(pattern))]
#[non_exhaustive]
pub struct GlobError {
    /// The pattern; the first of several.
    pub pattern: String,
    /// The reason.
    pub problem: String,
}

crate::debug::debug_is_display!(GlobError);

impl Globs {
    /// Reads a list of patterns.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Result<Self, GlobError> {
        let mut globs = Self::default();
        for pattern in patterns {
            globs.push(pattern.as_ref())?;
        }
        Ok(globs)
    }

    /// Adds a pattern.
    pub fn push(&mut self, pattern: &str) -> Result<(), GlobError> {
        let shape = Shape::of(pattern);
        if matches!(shape, Shape::Glob(_)) {
            // The matcher is built later; this checks that building works.
            build(pattern)?;
        }
        let mark = shape.mark();
        self.all().push(Pattern { text: pattern.into(), shape, mark, lifts: false, prefix: None });
        Ok(())
    }

    fn all(&mut self) -> &mut Vec<Pattern> {
        Arc::make_mut(&mut self.patterns)
    }

    /// Adds a pattern for paths relative to a directory above. `prefix` leads from there to the
    /// paths of this list.
    pub fn push_from(&mut self, prefix: &str, pattern: &str) -> Result<(), GlobError> {
        self.push(pattern)?;
        let last = self.all().last_mut().expect("it was added");
        if !prefix.is_empty() {
            last.prefix = Some(fold(&format!("{prefix}/")).into());
            last.mark = Marks::ANY;
        }
        Ok(())
    }

    /// Excludes the paths of a pattern. A later pattern can include them again.
    pub fn except(&mut self, pattern: &str) -> Result<(), GlobError> {
        self.push(pattern)?;
        self.all().last_mut().expect("it was added").lifts = true;
        Ok(())
    }

    /// Returns the last pattern that matches the `/`-separated `path` or a directory above, unless
    /// an exception is later.
    #[must_use]
    pub fn matches(&self, path: &str) -> Option<&str> {
        if self.patterns.is_empty() {
            return None;
        }
        self.matches_folded(&fold(path))
    }

    /// Does the same as [`Globs::matches`], for a folded path.
    pub(crate) fn matches_folded(&self, key: &str) -> Option<&str> {
        let found = self.last(key, |pattern| pattern.covers(key, !pattern.lifts));
        found.filter(|pattern| !pattern.lifts).map(|pattern| pattern.text.as_str())
    }

    /// Returns whether a list of what is allowed, or meant, has the `/`-separated `path`.
    #[must_use]
    pub fn includes(&self, path: &str) -> bool {
        let key = fold(path);
        self.last(&key, |pattern| pattern.covers(&key, false)).is_some_and(|pattern| !pattern.lifts)
    }

    /// The last pattern that says something about a path.
    fn last(&self, key: &str, says: impl Fn(&Pattern) -> bool) -> Option<&Pattern> {
        let marks = Marks::of_path(key);
        self.patterns.iter().rfind(|pattern| pattern.mark.meets(marks) && says(pattern))
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the patterns as they were given, without exceptions.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().filter(|pattern| !pattern.lifts).map(|pattern| pattern.text.as_str())
    }
}

#[derive(Debug, Clone)]
struct Pattern {
    text: String,
    shape: Shape,
    /// The pair of every matching path.
    mark: Marks,
    /// Whether this is an exception.
    lifts: bool,
    /// The folded prefix of a path in the comparison.
    prefix: Option<Box<str>>,
}

impl Pattern {
    /// Whether the pattern matches a path, or a directory above: the latter only if everything in a
    /// directory may be covered (`broad`), or the last name of the pattern is plain.
    fn covers(&self, key: &str, broad: bool) -> bool {
        let key = match &self.prefix {
            None => Cow::Borrowed(key),
            Some(prefix) => Cow::Owned(format!("{prefix}{key}")),
        };
        let mut above = key.match_indices('/').map(|(end, _)| &key[..end]);
        self.shape.matches(&key)
            || (above.any(|above| self.shape.matches(above)) && (broad || self.names_one()))
    }

    /// Whether the last name of the pattern is plain.
    fn names_one(&self) -> bool {
        !self.text.rsplit('/').next().is_some_and(|name| name.contains(SIGNS))
    }
}

/// The first two bytes and the last two bytes of names, in a set that takes some pairs for the
/// same. Most paths have no name that begins or ends like one in a pattern, and need no comparison.
#[derive(Debug, Clone, Copy)]
struct Marks(u64);

impl Marks {
    const ANY: Self = Self(u64::MAX);

    /// No pair has the highest bit.
    fn of([first, second]: [u8; 2]) -> Self {
        Self(1 << ((first ^ second.rotate_left(3)) % 63))
    }

    /// The pair of a path with a name that begins with a text: any, if the text is too short.
    fn starting(text: &str) -> Self {
        match *text.as_bytes() {
            [first, second, ..] if first != b'/' && second != b'/' => Self::of([first, second]),
            _ => Self::ANY,
        }
    }

    /// The pair of a path with a name that ends in a text. The last byte comes first in the pair,
    /// so that few ends are also starts.
    fn ending(text: &str) -> Self {
        text.as_bytes().last_chunk().map_or(Self::ANY, |&[before, last]| Self::of([last, before]))
    }

    fn of_path(path: &str) -> Self {
        // With the highest bit, a path too short for any pair meets `ANY`.
        let mut marks = 1 << 63;
        let bytes = path.as_bytes();
        for (at, pair) in bytes.windows(2).enumerate() {
            if at == 0 || bytes[at - 1] == b'/' {
                marks |= Self::of([pair[0], pair[1]]).0;
            }
            if matches!(bytes.get(at + 2), None | Some(b'/')) {
                marks |= Self::of([pair[1], pair[0]]).0;
            }
        }
        Self(marks)
    }

    fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// How a pattern is compared. All texts are folded.
#[derive(Debug, Clone)]
enum Shape {
    /// `a/b`
    Exact(String),
    /// `a/b*`: only the last component may continue.
    ExactPrefix(String),
    /// `a/**`
    Beneath(String),
    /// `**/a` and `**/a/b`
    Name(String),
    /// `**/a*`
    NamePrefix(String),
    /// `**/a/b*`
    PathPrefix(String),
    /// `**/*a`
    NameSuffix(String),
    /// `**/a/**`
    Folder(String),
    /// `**`
    All,
    Glob(Box<Lazy>),
}

#[derive(Debug, Clone)]
struct Lazy {
    pattern: String,
    matcher: OnceLock<globset::GlobSet>,
}

impl Shape {
    fn of(pattern: &str) -> Self {
        if pattern == "**" || pattern == "**/*" {
            return Self::All;
        }
        if let Some(rest) = pattern.strip_prefix("**/") {
            if is_plain(rest) {
                return Self::Name(fold(rest).into_owned());
            }
            if let Some(folder) = rest.strip_suffix("/**")
                && is_plain(folder)
            {
                return Self::Folder(fold(folder).into_owned());
            }
            if let Some(prefix) = rest.strip_suffix('*')
                && is_one_name(prefix)
            {
                return Self::NamePrefix(fold(prefix).into_owned());
            }
            if let Some(prefix) = rest.strip_suffix('*')
                && is_plain(prefix)
            {
                return Self::PathPrefix(fold(prefix).into_owned());
            }
            if let Some(suffix) = rest.strip_prefix('*')
                && is_one_name(suffix)
            {
                return Self::NameSuffix(fold(suffix).into_owned());
            }
        } else if is_plain(pattern) {
            return Self::Exact(fold(pattern).into_owned());
        } else if let Some(folder) = pattern.strip_suffix("/**")
            && is_plain(folder)
        {
            return Self::Beneath(fold(folder).into_owned());
        } else if let Some(prefix) = pattern.strip_suffix('*')
            && is_plain(prefix)
        {
            return Self::ExactPrefix(fold(prefix).into_owned());
        }
        Self::Glob(Box::new(Lazy { pattern: pattern.into(), matcher: OnceLock::new() }))
    }

    fn mark(&self) -> Marks {
        match self {
            Self::Exact(text)
            | Self::ExactPrefix(text)
            | Self::Beneath(text)
            | Self::Name(text)
            | Self::NamePrefix(text)
            | Self::PathPrefix(text)
            | Self::Folder(text) => Marks::starting(text),
            Self::NameSuffix(text) => Marks::ending(text),
            Self::All | Self::Glob(_) => Marks::ANY,
        }
    }

    fn matches(&self, key: &str) -> bool {
        match self {
            Self::Exact(text) => key == text,
            Self::ExactPrefix(text) => ends_within(key, text),
            Self::Beneath(folder) => beneath(key, folder),
            Self::Name(text) => {
                key == text
                    || key.strip_suffix(text.as_str()).is_some_and(|before| before.ends_with('/'))
            }
            Self::NamePrefix(text) => last_name(key).starts_with(text.as_str()),
            Self::PathPrefix(text) => {
                ends_within(key, text)
                    || key.match_indices('/').any(|(at, _)| ends_within(&key[at + 1..], text))
            }
            Self::NameSuffix(text) => last_name(key).ends_with(text.as_str()),
            Self::Folder(folder) => {
                beneath(key, folder)
                    || key.match_indices('/').any(|(at, _)| beneath(&key[at + 1..], folder))
            }
            Self::All => true,
            Self::Glob(lazy) => lazy
                .matcher
                .get_or_init(|| build(&lazy.pattern).expect("built once when it was added"))
                .is_match(key),
        }
    }
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(SIGNS)
}

fn is_one_name(text: &str) -> bool {
    is_plain(text) && !text.contains('/')
}

fn last_name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

fn beneath(key: &str, folder: &str) -> bool {
    key.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn ends_within(key: &str, prefix: &str) -> bool {
    key.strip_prefix(prefix).is_some_and(|rest| !rest.contains('/'))
}

fn build(pattern: &str) -> Result<globset::GlobSet, GlobError> {
    let built = compile([fold(pattern)], Case::Ignored, Slash::Separates);
    built.map_err(|error| GlobError { pattern: pattern.into(), ..error })
}

/// Whether patterns are matched with regard to case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Sensitive,
    Ignored,
}

/// The meaning of a slash for `*`, `?` and brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    /// `*`, `?` and brackets do not match slashes.
    Separates,
    /// It is a character as any other.
    IsPlain,
}

/// Compiles patterns, always as a set, because the library panics if a single pattern cannot be
/// compiled.
fn compile<S: AsRef<str>>(
    patterns: impl IntoIterator<Item = S>,
    case: Case,
    slash: Slash,
) -> Result<globset::GlobSet, GlobError> {
    let mut set = GlobSetBuilder::new();
    let mut first = None;
    for pattern in patterns {
        let pattern = pattern.as_ref();
        bounded(pattern)?;
        let mut builder = GlobBuilder::new(pattern);
        builder.literal_separator(slash == Slash::Separates);
        builder.case_insensitive(case == Case::Ignored);
        set.add(builder.build().map_err(|error| GlobError {
            pattern: pattern.to_owned(),
            problem: error.kind().to_string(),
        })?);
        first.get_or_insert_with(|| GlobError {
            pattern: pattern.to_owned(),
            problem: "it takes too much memory, alone or with the others".into(),
        });
    }
    // The message of the library repeats all of the regular expression.
    set.build().map_err(|_| first.expect("an empty set can be built"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The direct comparison gives the same as globset.
    #[test]
    fn direct_forms_agree_with_globset() {
        let patterns = [
            "a",
            "a/b",
            "a*",
            "a/b*",
            "a/**",
            "**/a",
            "**/a/b",
            "**/a*",
            "**/*a",
            "**/a/**",
            "**",
            "**/a/b/**",
            "**/.env*",
            "**/*.pem",
            "**/a/b*",
            "**/ab",
            "**/*ab",
            "ab",
            "ab*",
            "x/ab/**",
            "**/ab/c*",
            "**/éa",
            "/a",
            "**//b",
        ];
        let paths = [
            "a",
            "b",
            "ab",
            "ba",
            "a/b",
            "a/bc",
            "b/a",
            "b/ab",
            "b/ba",
            "a/b/c",
            "x/a/b",
            "x/a/b/c",
            "x/a",
            "x/ab/c",
            "a/a",
            "xa/b",
            ".env",
            ".env.local",
            "x/.env",
            "x/.envrc",
            ".environment/x",
            "k.pem",
            "x/k.pem",
            ".pem",
            "A/B",
            "X/.ENV",
            "K.PEM",
            "",
            "a/",
            "a//b",
            "/a",
        ];
        for pattern in patterns {
            assert!(!matches!(Shape::of(pattern), Shape::Glob(_)), "{pattern} is direct");
            let built = build(pattern).unwrap();
            for path in paths {
                let direct = Shape::of(pattern).matches(&fold(path));
                assert_eq!(direct, built.is_match(path), "{pattern} {path}");
            }
        }
    }

    /// No matching path is passed over: all short ones are tried.
    #[test]
    fn a_path_that_matches_has_the_mark_of_the_pattern() {
        let words = |longest: usize| {
            let mut words = vec![String::new()];
            let mut from = 0;
            for _ in 0..longest {
                let to = words.len();
                for at in from..to {
                    let word = words[at].clone();
                    words.extend("ab./".chars().map(|next| format!("{word}{next}")));
                }
                from = to;
            }
            words
        };
        let (paths, mut matched) = (words(4), 0);
        for word in words(2) {
            for form in ["?", "?*", "?/**", "**/?", "**/?*", "**/*?", "**/?/**"] {
                let globs = Globs::new([form.replace('?', &word)]).unwrap();
                let pattern = &globs.patterns[0];
                for path in &paths {
                    if pattern.covers(path, true) {
                        matched += 1;
                        assert!(pattern.mark.meets(Marks::of_path(path)), "{pattern:?} {path:?}");
                    }
                }
            }
        }
        assert!(matched > 1000, "{matched}");
    }

    #[test]
    fn other_forms_are_globs() {
        let globs = Globs::new(["src/*/gen?.rs", "{a,b}/[xy]"]).unwrap();
        assert_eq!(globs.matches("src/A/GEN1.rs"), Some("src/*/gen?.rs"));
        assert_eq!(globs.matches("b/y"), Some("{a,b}/[xy]"));
        assert_eq!(globs.matches("src/a/b/gen1.rs"), None);
        assert!(Globs::new(["a["]).is_err());
    }

    /// A forbidden directory covers its files; an approval covers only the named path.
    #[test]
    fn a_pattern_covers_what_is_in_a_directory() {
        for (pattern, path, forbids, approves) in [
            ("a", "a", true, true),
            ("a", "a/b/c", true, true),
            ("a", "A/b", true, true),
            ("a", "ab/c", false, false),
            ("a", "b/a/c", false, false),
            ("a/b", "a/b/c", true, true),
            ("a/b", "a/c", false, false),
            ("**/a", "x/a/b/c", true, true),
            ("*/a", "x/a/b", true, true),
            ("a/*", "a/b", true, true),
            ("a/*", "a/b/c", true, false),
            ("a*", "ab/c", true, false),
            ("**/*.key", "x.key/y", true, false),
            ("{a,b}", "b/c", true, false),
            ("a/**", "a/b/c", true, true),
        ] {
            let globs = Globs::new([pattern]).unwrap();
            assert_eq!(globs.matches(path).is_some(), forbids, "{pattern} {path}");
            assert_eq!(globs.includes(path), approves, "{pattern} {path}");
            let mut excepted = Globs::new(["**"]).unwrap();
            excepted.except(pattern).unwrap();
            assert_eq!(excepted.matches(path).is_none(), approves, "except {pattern} {path}");
        }
        let mut above = Globs::default();
        above.push_from("sub/deep", "sub").unwrap();
        assert_eq!(above.matches("x"), Some("sub"));
    }

    /// None of these may reach the library unchanged: the result would be a panic, endless
    /// recursion, or a lack of memory.
    #[test]
    fn patterns_without_end_are_refused() {
        let nested = |depth: usize| "{".repeat(depth) + "a" + &"}".repeat(depth);
        for (pattern, fits) in [
            (nested(32), true),
            (nested(33), false),
            (nested(251), false),
            ("{".repeat(MAX_GLOB), false),
            ("{a}".repeat(33), false),
            (format!("{{{}}}", "a,".repeat(255)), true),
            (format!("{{{}}}", "a,".repeat(256)), false),
            ("a,".repeat(400), true),
            ("?".repeat(MAX_GLOB), true),
            ("[a-z]".repeat(12_000), false),
            ("**/*a".repeat(204), true),
            ("[!\u{10ffff}]".repeat(90), true),
            // Folding makes this one longer.
            ("\u{fdfa}*".repeat(200), false),
        ] {
            let built = Globs::new([&pattern]);
            assert_eq!(built.is_ok(), fits, "{} bytes, {pattern:.20}", pattern.len());
            let _ = built.unwrap_or_default().matches("a/b");
            if let Err(error) = GlobSet::new([&pattern]) {
                assert!(error.to_string().len() < 600, "{error}");
            }
        }
        let many = (0..MAX_GLOBS).map(|nth| "?".repeat(1000) + &nth.to_string());
        let error = GlobSet::new(many).unwrap_err();
        assert!(error.to_string().len() < 600, "{error}");
        assert!(error.problem.contains("memory"), "{error}");
    }

    #[test]
    fn a_set_has_regard_to_case() {
        let set = GlobSet::new(["**/*.rs", "{a,b}/[xy]", "a*b"]).unwrap();
        for (path, wanted) in
            [("x.rs", true), ("d/x.rs", true), ("x.RS", false), ("b/y", true), ("a/x/b", false)]
        {
            assert_eq!(set.matches(path), wanted, "{path}");
        }
        let across = GlobSet::across(["a*b", "[^c]"]).unwrap();
        for (path, wanted) in [("a/x/b", true), ("A/x/b", false), ("d", true), ("c", false)] {
            assert_eq!(across.matches(path), wanted, "{path}");
        }
        assert!(!GlobSet::new::<&str>([]).unwrap().matches("a"));
        assert!(GlobSet::new(["a["]).is_err());
    }
}
