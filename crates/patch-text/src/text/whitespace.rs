//! Whitespace errors in lines, by the rules of git's `core.whitespace`, and how they are fixed.

use std::fmt;
use std::str::FromStr;

patch_grammar::named! {
    /// The treatment of whitespace errors in the lines that a patch inserts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Whitespace {
        /// The patch is refused.
        Error = "error",
        /// They are noted.
        Warn = "warn",
        /// They are fixed, and noted.
        Fix = "fix",
        /// Nothing.
        #[default]
        Nowarn = "nowarn",
    }
}

patch_grammar::named! {
    /// A rule about whitespace, by its name in git.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum WhitespaceRule {
        /// A line ends in blanks.
        BlankAtEol = "blank-at-eol",
        /// A space stands before a tab in the indentation.
        SpaceBeforeTab = "space-before-tab",
        /// A line is indented with as many spaces as a tab is wide.
        IndentWithNonTab = "indent-with-non-tab",
        /// A line is indented with tabs.
        TabInIndent = "tab-in-indent",
        /// Blank lines are added at the end of the file.
        BlankAtEof = "blank-at-eof",
        /// The last line has no line feed.
        IncompleteLine = "incomplete-line",
        /// A carriage return at the end of a line is no error.
        CrAtEol = "cr-at-eol",
    }
}

impl WhitespaceRule {
    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// How wide a tab is where nothing says so.
const TAB_WIDTH: u8 = 8;

/// The widest tab.
const MAX_TAB_WIDTH: u8 = 63;

/// A list of rules, in the form of `core.whitespace` and the attribute `whitespace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WhitespaceRules {
    rules: u8,
    tab_width: u8,
}

impl Default for WhitespaceRules {
    fn default() -> Self {
        use WhitespaceRule::{BlankAtEof, BlankAtEol, SpaceBeforeTab};
        Self::NONE.with(BlankAtEol).with(BlankAtEof).with(SpaceBeforeTab)
    }
}

/// A list of rules that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WhitespaceRulesError {
    /// It names a rule that does not exist.
    #[error("the rules are {}, and tabwidth=N", names())]
    Unknown,
    /// The width of a tab is out of range.
    #[error("tabwidth must be from 1 to {MAX_TAB_WIDTH}")]
    TabWidth,
    /// It wants tabs and forbids them.
    #[error("indent-with-non-tab and tab-in-indent exclude each other")]
    Contradiction,
}

fn names() -> String {
    WhitespaceRule::ALL.map(WhitespaceRule::as_str).join(", ")
}

impl FromStr for WhitespaceRules {
    type Err = WhitespaceRulesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (rules, wrong) = Self::read(text);
        match wrong {
            Some(wrong) => Err(wrong),
            None if rules.contradicts() => Err(WhitespaceRulesError::Contradiction),
            None => Ok(rules),
        }
    }
}

impl fmt::Display for WhitespaceRules {
    /// Writes a list of these rules that can be read again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        for rule in WhitespaceRule::ALL {
            match (self.has(rule), Self::default().has(rule)) {
                (true, _) => words.push(rule.as_str().to_owned()),
                (false, true) => words.push(format!("-{}", rule.as_str())),
                (false, false) => {}
            }
        }
        if self.tab_width != TAB_WIDTH {
            words.push(format!("tabwidth={}", self.tab_width));
        }
        f.write_str(&words.join(","))
    }
}

impl WhitespaceRules {
    /// No rule at all.
    #[doc(hidden)]
    pub const NONE: Self = Self { rules: 0, tab_width: TAB_WIDTH };

    /// Returns all rules that name errors and do not exclude each other: the meaning of an
    /// attribute without a value.
    #[doc(hidden)]
    pub fn all(self) -> Self {
        use WhitespaceRule::{CrAtEol, TabInIndent};
        let all = WhitespaceRule::ALL.into_iter().fold(self, Self::with);
        all.without(TabInIndent.bit() | CrAtEol.bit())
    }

    /// Returns these without any rule.
    #[doc(hidden)]
    pub fn none(self) -> Self {
        Self { rules: 0, ..self }
    }

    /// Reads the value of an attribute. As in git, unknown words do not count.
    #[doc(hidden)]
    pub fn of_attribute(text: &str) -> Self {
        let (rules, _) = Self::read(text);
        if rules.contradicts() {
            rules.without(WhitespaceRule::IndentWithNonTab.bit())
        } else {
            rules
        }
    }

    /// Reads a list on top of the default, with its first error. A name may be cut short.
    fn read(text: &str) -> (Self, Option<WhitespaceRulesError>) {
        let mut rules = Self::default();
        let mut wrong = None;
        for word in text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
            if let Some(width) = word.strip_prefix("tabwidth=") {
                match width.parse() {
                    Ok(width @ 1..=MAX_TAB_WIDTH) => rules.tab_width = width,
                    _ => wrong = wrong.or(Some(WhitespaceRulesError::TabWidth)),
                }
                continue;
            }
            let (name, negated) = match word.strip_prefix('-') {
                Some(name) => (name, true),
                None => (word, false),
            };
            let Some(bits) = bits_of(name) else {
                wrong = wrong.or(Some(WhitespaceRulesError::Unknown));
                continue;
            };
            rules = if negated { rules.without(bits) } else { rules.with_bits(bits) };
        }
        (rules, wrong)
    }

    fn with_bits(self, bits: u8) -> Self {
        Self { rules: self.rules | bits, ..self }
    }

    #[doc(hidden)]
    pub fn with(self, rule: WhitespaceRule) -> Self {
        self.with_bits(rule.bit())
    }

    fn without(self, bits: u8) -> Self {
        Self { rules: self.rules & !bits, ..self }
    }

    #[doc(hidden)]
    pub fn has(self, rule: WhitespaceRule) -> bool {
        self.rules & rule.bit() != 0
    }

    /// Returns these and others.
    #[doc(hidden)]
    pub fn and(self, others: Self) -> Self {
        self.with_bits(others.rules)
    }

    #[doc(hidden)]
    pub fn is_empty(self) -> bool {
        self.rules == 0
    }

    /// Returns the names of the rules.
    #[doc(hidden)]
    pub fn names(self) -> Vec<&'static str> {
        let all = WhitespaceRule::ALL.into_iter().filter(|rule| self.has(*rule));
        all.map(WhitespaceRule::as_str).collect()
    }

    fn contradicts(self) -> bool {
        self.has(WhitespaceRule::IndentWithNonTab) && self.has(WhitespaceRule::TabInIndent)
    }

    /// Splits a line without its line feed into its content, the trailing blanks that are an error,
    /// and an allowed carriage return.
    fn split(self, line: &[u8]) -> (&[u8], &[u8], &[u8]) {
        let (body, kept) = match line.strip_suffix(b"\r") {
            Some(body) if self.has(WhitespaceRule::CrAtEol) => (body, &line[body.len()..]),
            _ => (line, &[][..]),
        };
        let end = body.iter().rposition(|byte| !is_blank(*byte)).map_or(0, |last| last + 1);
        let end = if self.has(WhitespaceRule::BlankAtEol) { end } else { body.len() };
        (&body[..end], &body[end..], kept)
    }

    /// Returns the rules that a line, without its line feed, breaks.
    #[doc(hidden)]
    pub fn broken_by(self, line: &[u8]) -> Self {
        use WhitespaceRule::{BlankAtEol, IndentWithNonTab, SpaceBeforeTab, TabInIndent};
        let (content, blanks, _) = self.split(line);
        let indent = indent_of(content);
        let mut broken = self.none();
        if !blanks.is_empty() {
            broken = broken.with(BlankAtEol);
        }
        if self.has(TabInIndent) && indent.contains(&b'\t') {
            broken = broken.with(TabInIndent);
        }
        if self.has(SpaceBeforeTab) && indent.windows(2).any(|two| two == b" \t") {
            broken = broken.with(SpaceBeforeTab);
        }
        let width = usize::from(self.tab_width);
        let mut spaces = indent.split(|byte| *byte == b'\t').map(<[u8]>::len);
        if self.has(IndentWithNonTab) && spaces.any(|spaces| spaces >= width) {
            broken = broken.with(IndentWithNonTab);
        }
        broken
    }

    /// Returns a line, without its line feed, with its errors fixed; `None` if there are none.
    #[doc(hidden)]
    pub fn fixed(self, line: &[u8]) -> Option<Vec<u8>> {
        use WhitespaceRule::{IndentWithNonTab, SpaceBeforeTab, TabInIndent};
        let broken = self.broken_by(line);
        if broken.is_empty() {
            return None;
        }
        let (content, _, kept) = self.split(line);
        let indent = indent_of(content);
        let text = &content[indent.len()..];
        // Spaces after the last tab may stay as they are.
        let tail = memchr::memrchr(b'\t', indent).map_or(0, |last| last + 1);
        let width = usize::from(self.tab_width);
        let mut fixed = Vec::with_capacity(line.len());
        if broken.has(SpaceBeforeTab) || broken.has(IndentWithNonTab) {
            let end = if self.has(IndentWithNonTab) { indent.len() } else { tail };
            with_tabs(&indent[..end], width, &mut fixed);
            fixed.extend_from_slice(&indent[end..]);
        } else if broken.has(TabInIndent) {
            with_spaces(indent, width, &mut fixed);
        } else {
            fixed.extend_from_slice(indent);
        }
        fixed.extend_from_slice(text);
        fixed.extend_from_slice(kept);
        Some(fixed)
    }
}

/// Returns the rules that a name stands for.
fn bits_of(name: &str) -> Option<u8> {
    use WhitespaceRule::{
        BlankAtEof, BlankAtEol, CrAtEol, IncompleteLine, IndentWithNonTab, SpaceBeforeTab,
        TabInIndent,
    };
    const TRAILING_SPACE: &str = "trailing-space";
    if !name.is_empty() && TRAILING_SPACE.starts_with(name) {
        return Some(BlankAtEol.bit() | BlankAtEof.bit());
    }
    let order = [
        SpaceBeforeTab,
        IndentWithNonTab,
        CrAtEol,
        BlankAtEol,
        BlankAtEof,
        TabInIndent,
        IncompleteLine,
    ];
    let found = order.iter().find(|rule| !name.is_empty() && rule.as_str().starts_with(name));
    found.map(|rule| rule.bit())
}

/// Returns whether a line has nothing but blanks.
pub fn is_blank_line(line: &[u8]) -> bool {
    line.iter().all(|byte| is_blank(*byte))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn indent_of(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    &line[..end.unwrap_or(line.len())]
}

/// Writes an indentation with tabs, and the spaces that do not fill one.
fn with_tabs(indent: &[u8], width: usize, out: &mut Vec<u8>) {
    let mut spaces = 0;
    for &byte in indent {
        spaces = if byte == b' ' { spaces + 1 } else { width };
        if spaces == width {
            out.push(b'\t');
            spaces = 0;
        }
    }
    out.extend(std::iter::repeat_n(b' ', spaces));
}

/// Writes an indentation with spaces.
fn with_spaces(indent: &[u8], width: usize, out: &mut Vec<u8>) {
    for &byte in indent {
        if byte == b'\t' {
            out.extend(std::iter::repeat_n(b' ', width - out.len() % width));
        } else {
            out.push(b' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_git_reads_them() {
        for (text, shown) in [
            ("", "blank-at-eol,space-before-tab,blank-at-eof"),
            ("-trailing-space", "-blank-at-eol,space-before-tab,-blank-at-eof"),
            ("-trailing, -space", "-blank-at-eol,-space-before-tab,-blank-at-eof"),
            ("-blank-at-eof,cr", "blank-at-eol,space-before-tab,-blank-at-eof,cr-at-eol"),
            (
                "indent tabwidth=4",
                "blank-at-eol,space-before-tab,indent-with-non-tab,blank-at-eof,tabwidth=4",
            ),
        ] {
            let rules = WhitespaceRules::from_str(text).unwrap();
            assert_eq!(rules.to_string(), shown, "{text}");
            assert_eq!(WhitespaceRules::from_str(shown), Ok(rules), "{text}");
        }
        for (text, wrong) in [
            ("x", WhitespaceRulesError::Unknown),
            ("-", WhitespaceRulesError::Unknown),
            ("tabwidth=0", WhitespaceRulesError::TabWidth),
            ("tabwidth=64", WhitespaceRulesError::TabWidth),
            ("tab-in-indent,indent-with-non-tab", WhitespaceRulesError::Contradiction),
        ] {
            assert_eq!(WhitespaceRules::from_str(text), Err(wrong), "{text}");
        }
        // An attribute is read as far as possible.
        let attribute = WhitespaceRules::of_attribute("x,tab,indent,tabwidth=0");
        assert_eq!(
            attribute.to_string(),
            "blank-at-eol,space-before-tab,tab-in-indent,blank-at-eof"
        );
    }

    #[test]
    fn lines_are_fixed_by_the_rules_that_they_break() {
        for (rules, line, broken, fixed) in [
            ("", "a b", "", "a b"),
            ("", "a \t ", "blank-at-eol", "a"),
            ("", "a\r", "blank-at-eol", "a"),
            ("", "   ", "blank-at-eol", ""),
            ("", "  \ta", "space-before-tab", "\ta"),
            ("", "a \tb", "", "a \tb"),
            ("", "\t        a", "", "\t        a"),
            ("-trailing-space", "a ", "", "a "),
            ("cr-at-eol", "a\r", "", "a\r"),
            ("cr-at-eol", "a \r", "blank-at-eol", "a\r"),
            ("indent-with-non-tab", "       a", "", "       a"),
            ("indent-with-non-tab", "         a", "indent-with-non-tab", "\t a"),
            ("indent-with-non-tab,tabwidth=4", "    a ", "blank-at-eol indent-with-non-tab", "\ta"),
            ("-space,indent", "        \ta", "indent-with-non-tab", "\t\ta"),
            ("-space,indent", "       \ta", "", "       \ta"),
            ("tab,space", "  \t a", "space-before-tab tab-in-indent", "\t a"),
            ("tab-in-indent,-space-before-tab", "  \ta", "tab-in-indent", "        a"),
            ("tab-in-indent,tabwidth=4", "\ta\tb", "tab-in-indent", "    a\tb"),
        ] {
            let rules = WhitespaceRules::from_str(rules).unwrap();
            let found = rules.broken_by(line.as_bytes());
            assert_eq!(found.names().join(" "), broken, "{rules} {line:?}");
            let found = rules.fixed(line.as_bytes());
            let found = found.unwrap_or_else(|| line.into());
            assert_eq!(String::from_utf8(found).unwrap(), fixed, "{rules} {line:?}");
        }
    }
}
