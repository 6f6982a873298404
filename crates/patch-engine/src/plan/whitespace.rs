//! Whitespace errors in the lines that a patch inserts: what is found before files are read, and
//! the sections with their errors fixed.
//!
//! Blank lines at the end of a file are found when its hunks are placed, unless the file is new.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fs_guard::Access;
use patch_grammar::{
    AddedLines, Extent, Hunk, Line, LineEndings, LineKind, Patch, Section, SectionOperation,
};
use patch_text::locate::edit_rules::FileWhitespace;
use patch_text::text::whitespace::{Whitespace, WhitespaceRule, WhitespaceRules, is_blank_line};

use crate::files::Files;
use crate::files::conventions::Conventions;
use crate::plan::options::{AddNewline, Options};

/// How many lines are named.
const NAMED: usize = 5;

/// The whitespace errors of a patch in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WhitespaceErrors {
    /// The first lines of the patch with errors, 1-based.
    pub lines: Vec<u32>,
    /// How many lines have errors.
    pub count: usize,
    /// The broken rules.
    pub rules: WhitespaceRules,
}

impl WhitespaceErrors {
    /// Returns the errors of lines; `None` where there are none.
    fn of(broken: &BTreeMap<u32, WhitespaceRules>) -> Option<Self> {
        (!broken.is_empty()).then(|| Self {
            lines: broken.keys().take(NAMED).copied().collect(),
            count: broken.len(),
            rules: broken.values().fold(WhitespaceRules::NONE, |all, &rules| all.and(rules)),
        })
    }
}

impl std::fmt::Display for WhitespaceErrors {
    /// Writes, for example, `2 lines (patch lines 4, 7: blank-at-eol)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lines, count, rules } = self;
        let named: Vec<_> = lines.iter().map(u32::to_string).collect();
        let more = if *count > lines.len() { ", …" } else { "" };
        let s = if *count == 1 { "" } else { "s" };
        let rules = rules.names().join(", ");
        write!(f, "{count} line{s} (patch line{s} {}{more}: {rules})", named.join(", "))
    }
}

/// The whitespace rules of each section, and the errors.
#[derive(Debug, Default)]
pub(crate) struct WhitespaceOfPatch {
    sections: Vec<OfSection>,
    /// Errors are fixed.
    fix: bool,
    /// Old lines may differ from those of the file in errors that are fixed.
    overlook: bool,
}

/// The whitespace rules of a section, and its errors.
#[derive(Debug)]
pub(crate) struct OfSection {
    rules: WhitespaceRules,
    /// The broken rules, by line of the patch.
    broken: BTreeMap<u32, WhitespaceRules>,
    fixed: Vec<FixedInsertion>,
    /// The corrected lines of a new file with errors.
    added: Option<Vec<u8>>,
}

/// An inserted line without its errors.
#[derive(Debug)]
struct FixedInsertion {
    hunk: usize,
    line: usize,
    text: Vec<u8>,
    crlf: bool,
    no_newline: bool,
}

impl WhitespaceOfPatch {
    /// Looks at the inserted lines of a patch, by the options and the attributes of the files.
    pub(crate) fn of(files: &Files, patch: &Patch, options: &Options) -> Self {
        if options.whitespace == Whitespace::Nowarn {
            return Self::default();
        }
        let conventions = Conventions::new(files);
        let sections = patch.sections().iter().map(|section| {
            let path = section.destination().unwrap_or(&section.path);
            let rules = options.whitespace_rules;
            let rules = match files.check(&path.text, Access::Read) {
                // The target of a link is no text.
                _ if section.link => WhitespaceRules::NONE,
                Ok(path) => conventions.whitespace(&path, rules),
                Err(_) => rules,
            };
            // The line ends of the file are no errors.
            let in_crlf = section.hunks().iter().flat_map(Hunk::old_lines).any(|line| line.crlf);
            let rules = if in_crlf { rules.with(WhitespaceRule::CrAtEol) } else { rules };
            OfSection::new(patch, section, rules, options)
        });
        let fix = options.whitespace == Whitespace::Fix;
        Self { sections: sections.collect(), fix, overlook: fix && !patch.exact }
    }

    /// Returns what is known about a section, where whitespace counts.
    pub(crate) fn section(&self, index: usize) -> Option<&OfSection> {
        self.sections.get(index)
    }

    /// Returns the rules for the hunks of a section.
    pub(crate) fn rules(&self, index: usize) -> Option<FileWhitespace> {
        let rules = self.sections.get(index)?.rules;
        Some(FileWhitespace { rules, fix: self.fix, overlook: self.overlook })
    }

    /// Returns the sections of a patch without the errors to fix.
    pub(crate) fn fixed<'t>(&'t self, patch: &'t Patch) -> Cow<'t, [Section<'t>]> {
        let all = patch.sections();
        if self.sections.iter().all(|of| of.fixed.is_empty() && of.added.is_none()) {
            return Cow::Borrowed(all);
        }
        all.iter().zip(&self.sections).map(|(section, of)| of.applied_to(section)).collect()
    }
}

/// Returns whether an inserted line of a hunk is a whole line. The first and the last line of a
/// text that replaces another may be parts of lines.
fn is_whole(hunk: &Hunk<'_>, nth: usize) -> bool {
    hunk.extent == Extent::Lines
        || [&hunk.lines[..nth], &hunk.lines[nth + 1..]]
            .iter()
            .all(|lines| lines.iter().any(|line| line.kind == LineKind::Insert))
}

impl OfSection {
    fn new(
        patch: &Patch,
        section: &Section<'_>,
        rules: WhitespaceRules,
        options: &Options,
    ) -> Self {
        let fix = options.whitespace == Whitespace::Fix;
        let mut of = Self { rules, broken: BTreeMap::new(), fixed: Vec::new(), added: None };
        if let SectionOperation::Add(added) = &section.operation {
            of.look_at_added(patch, section, added, options);
            return of;
        }
        for (hunk, of_hunk) in section.hunks().iter().enumerate() {
            for (nth, line) in of_hunk.lines.iter().enumerate() {
                if line.kind == LineKind::Insert && is_whole(of_hunk, nth) {
                    let fixed = of.look_at(line);
                    of.fixed.extend(fixed.filter(|_| fix).map(|fixed| FixedInsertion {
                        hunk,
                        line: nth,
                        ..fixed
                    }));
                }
            }
        }
        of
    }

    /// Looks for the errors of a line, and returns the corrected line if there are any.
    fn look_at(&mut self, line: &Line<'_>) -> Option<FixedInsertion> {
        let mut whole = Cow::Borrowed(line.text);
        if line.crlf {
            whole.to_mut().push(b'\r');
        }
        let mut broken = self.rules.broken_by(&whole);
        if line.no_newline && self.rules.has(WhitespaceRule::IncompleteLine) {
            broken = broken.with(WhitespaceRule::IncompleteLine);
        }
        if broken.is_empty() {
            return None;
        }
        self.broken.insert(line.line, broken);
        let mut text = self.rules.fixed(&whole).unwrap_or_else(|| whole.into_owned());
        let crlf = line.crlf && text.ends_with(b"\r");
        text.truncate(text.len() - usize::from(crlf));
        let no_newline = line.no_newline && !self.rules.has(WhitespaceRule::IncompleteLine);
        Some(FixedInsertion { hunk: 0, line: 0, text, crlf, no_newline })
    }

    /// Looks at the lines of a new file.
    fn look_at_added(
        &mut self,
        patch: &Patch,
        section: &Section<'_>,
        added: &AddedLines<'_>,
        options: &Options,
    ) {
        let first = line_of(patch, added.text).unwrap_or(section.line() + 1);
        let framed = added.endings == LineEndings::Framing;
        let all: Vec<&[u8]> = added.lines().collect();
        // Such a last line is not one of the file.
        let joined = options.add_newline == AddNewline::Joined && !added.endings.is_of_diff();
        let separator =
            joined && !added.no_newline && all.last().is_some_and(|last| last.is_empty());
        let count = all.len() - usize::from(separator);
        let blank = all[..count].iter().rev().take_while(|line| is_blank_line(line)).count();
        let blank = if self.rules.has(WhitespaceRule::BlankAtEof) { blank } else { 0 };
        let mut body = Vec::with_capacity(added.text.len());
        let line_end: &[u8] = if framed { b"\r\n" } else { b"\n" };
        for ((nth, text), line) in all[..count].iter().enumerate().zip(first..) {
            let no_newline = added.no_newline && nth + 1 == count;
            let mut broken = self.rules.broken_by(text);
            for (breaks, rule) in [
                (no_newline, WhitespaceRule::IncompleteLine),
                (nth >= count - blank, WhitespaceRule::BlankAtEof),
            ] {
                if breaks && self.rules.has(rule) {
                    broken = broken.with(rule);
                }
            }
            if !broken.is_empty() {
                self.broken.insert(line, broken);
            }
            if nth < count - blank {
                let fixed = self.rules.fixed(text).map_or(Cow::Borrowed(*text), Cow::Owned);
                body.push(b'+');
                body.extend_from_slice(&fixed);
                body.extend_from_slice(line_end);
            }
        }
        let emptied = blank == 0
            && joined
            && all[..count].last().is_some_and(|last| {
                !last.is_empty() && self.rules.fixed(last).is_some_and(|fixed| fixed.is_empty())
            });
        if (separator && blank == 0) || emptied {
            body.push(b'+');
            body.extend_from_slice(line_end);
        }
        let fix = options.whitespace == Whitespace::Fix && !self.broken.is_empty();
        self.added = fix.then_some(body);
    }

    /// Returns the errors, with those of these lines, which add blank lines at the end of the file.
    pub(crate) fn errors(&self, blank_at_eof: &[u32]) -> Option<WhitespaceErrors> {
        let mut broken = self.broken.clone();
        for &line in blank_at_eof {
            let rules = broken.entry(line).or_insert(WhitespaceRules::NONE);
            *rules = rules.with(WhitespaceRule::BlankAtEof);
        }
        WhitespaceErrors::of(&broken)
    }

    /// Returns a section without its errors.
    fn applied_to<'t>(&'t self, section: &Section<'t>) -> Section<'t> {
        let mut section = section.clone();
        match &mut section.operation {
            SectionOperation::Add(added) => {
                if let Some(body) = &self.added {
                    let incomplete = self.rules.has(WhitespaceRule::IncompleteLine);
                    let mut broken = self.broken.values();
                    let shortened = broken.any(|rules| rules.has(WhitespaceRule::BlankAtEof));
                    let no_newline = added.no_newline && !incomplete && !shortened;
                    *added = AddedLines { text: body, no_newline, ..*added };
                }
            }
            SectionOperation::Delete(_) => {}
            SectionOperation::Update { hunks, .. } | SectionOperation::Copy { hunks, .. } => {
                for fixed in &self.fixed {
                    let line = &mut hunks[fixed.hunk].lines[fixed.line];
                    line.text = &fixed.text;
                    (line.crlf, line.no_newline) = (fixed.crlf, fixed.no_newline);
                }
            }
        }
        section
    }
}

/// Returns how many of the last lines of a hunk that makes a whole file are blank, where that is an
/// error.
pub(crate) fn blank_at_end(hunk: &Hunk<'_>, whitespace: Option<FileWhitespace>) -> usize {
    if whitespace.is_none_or(|of| !of.rules.has(WhitespaceRule::BlankAtEof)) {
        return 0;
    }
    hunk.lines.iter().rev().take_while(|line| is_blank_line(line.text)).count()
}

/// Returns the 1-based line of the patch where a part of its text begins.
fn line_of(patch: &Patch, part: &[u8]) -> Option<u32> {
    let text = patch.text();
    let whole = text.whole();
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let before = whole.get(..start).filter(|_| start + part.len() <= whole.len())?;
    u32::try_from(memchr::memchr_iter(b'\n', before).count() + 1).ok()
}
