//! Makes the tree from pest's pairs.

use std::borrow::Cow;
use std::ops::Range;

use pest_itself::iterators::{Pair, Pairs};

use crate::ast::{
    AddedLines, Hunk, Line, LineEndings, LineKind, Section, SectionOperation, Spanned, hunk_lines,
};
use crate::diagnose;
use crate::error::{ParseError, ParseErrorKind, Warning, WarningKind};
use crate::grammar::Rule;
use crate::marker::Marker;
use crate::options::ParseOptions;
use crate::patch::Parsed;
use crate::wrapper::Peeled;

/// One walk. Line numbers are counted on the way, so that the text is scanned for them once.
pub(crate) struct Lowering<'p, 'o> {
    text: &'p str,
    base: usize,
    options: &'o ParseOptions,
    endings: LineEndings,
    /// Whether an environment was named.
    environment: bool,
    sections: Vec<Section<'p>>,
    warnings: Vec<Warning>,
    counted: usize,
    line: u32,
}

impl<'p, 'o> Lowering<'p, 'o> {
    pub(crate) fn new(text: &'p str, peeled: &Peeled, options: &'o ParseOptions) -> Self {
        let endings = endings(&text[peeled.body.clone()]);
        let warnings = peeled.warnings.clone();
        Self { warnings, ..Self::from_line(text, 0, 1, endings, options) }
    }

    /// Starts a walk over a part of `text` from byte `base` on, in the 1-based line `line`.
    pub(crate) fn from_line(
        text: &'p str,
        base: usize,
        line: u32,
        endings: LineEndings,
        options: &'o ParseOptions,
    ) -> Self {
        let (sections, warnings) = Default::default();
        Self {
            text,
            base,
            options,
            endings,
            environment: false,
            sections,
            warnings,
            counted: base,
            line,
        }
    }

    /// Makes room for the sections of a text of which `done` bytes out of `all` are read, if there is
    /// little left: to grow by and by takes twice the memory.
    pub(crate) fn make_room(&mut self, done: usize, all: usize) {
        /// So few sections tell nothing about the rest.
        const FEW: usize = 64;
        /// How many sections are read at a time.
        const AT_ONCE: usize = 16;
        let read = self.sections.len();
        if read >= FEW && self.sections.capacity() - read < AT_ONCE {
            let more = read as u128 * all.saturating_sub(done) as u128 / done as u128;
            let more = usize::try_from(more).unwrap_or_default();
            let most = self.options.max_sections.saturating_sub(read);
            self.sections.reserve_exact(more.min(most) + AT_ONCE);
        }
    }

    /// Starts a walk over a later part of the same text, from byte `base` on.
    pub(crate) fn walk_from(&self, base: usize) -> Self {
        let Self { text, options, endings, environment, counted, line, .. } = *self;
        let (sections, warnings) = Default::default();
        Self { text, base, options, endings, environment, sections, warnings, counted, line }
    }

    /// Adds the sections of another walk from byte `at` to byte `end`, and returns `end`. Returns
    /// `None` if none of its sections begins there. The match of a section does not depend on the
    /// text before, so two walks agree from where one of their sections begins.
    pub(crate) fn follow(&mut self, at: usize, other: Self, end: usize) -> Option<usize> {
        let Self { mut sections, warnings, counted, line, .. } = other;
        let first = sections.iter().position(|section| section.span.start >= at)?;
        let sections = sections.split_off(first);
        if sections[0].span.start != at
            || self.sections.len() + sections.len() > self.options.max_sections
        {
            return None;
        }
        let from = self.line_at(at);
        self.sections.extend(sections);
        self.warnings.extend(warnings.into_iter().filter(|warning| warning.line >= from));
        (self.counted, self.line) = (counted, line);
        Some(end)
    }

    /// Adds the pairs that the grammar found in the text from byte `base` on, and returns the byte
    /// where they end.
    pub(crate) fn part(
        &mut self,
        base: usize,
        pairs: Pairs<'_, Rule>,
    ) -> Result<usize, ParseError> {
        self.base = base;
        let mut end = base;
        for pair in pairs {
            let Range { start, end: pair_end } = self.range(&pair);
            // Pest's last pair is empty, and may be somewhere else.
            end = end.max(pair_end);
            match pair.as_rule() {
                Rule::accepted_add
                | Rule::accepted_delete
                | Rule::accepted_update
                | Rule::accepted_move => {
                    if self.sections.len() == self.options.max_sections {
                        let kind =
                            ParseErrorKind::TooManySections { limit: self.options.max_sections };
                        return Err(self.error(start, kind, "`*** End Patch`"));
                    }
                    let section = self.section(pair)?;
                    self.sections.push(section);
                }
                Rule::environment => {
                    self.check_environment(pair.as_str(), start)?;
                    self.environment = true;
                }
                Rule::accepted_end if self.sections.is_empty() => {
                    return Err(self.error(start, ParseErrorKind::NoSections, HEADERS));
                }
                _ => {}
            }
        }
        Ok(end)
    }

    /// Returns the tree of all parts, up to byte `end`.
    pub(crate) fn finish(self, end: usize) -> Result<Parsed<'p>, ParseError> {
        if self.sections.is_empty() {
            return Err(self.error(end, ParseErrorKind::NoSections, HEADERS));
        }
        let Self { sections, mut warnings, .. } = self;
        warnings.sort_by_key(|warning| warning.line);
        Ok((sections, warnings))
    }

    pub(crate) fn section(&mut self, pair: Pair<'_, Rule>) -> Result<Section<'p>, ParseError> {
        let span = self.range(&pair);
        let rule = pair.as_rule();
        self.refuse_padding(span.start)?;
        let mut inner = pair.into_inner();
        let rest = self.spanned(&inner.next().expect("every header has a rest"));
        let (path, mut move_to) = match rule {
            Rule::accepted_move => {
                let (path, to) = self.arrow(&rest, span.start)?;
                (path, Some(to))
            }
            _ => (rest, None),
        };
        self.refuse_empty(&path, span.start)?;
        let mut added = AddedLines::empty(self.endings);
        let mut hunks = Vec::new();
        while let Some(pair) = inner.next() {
            let range = self.range(&pair);
            let start = range.start;
            match pair.as_rule() {
                Rule::add_lines => added.text = &self.text.as_bytes()[range],
                Rule::accepted_no_newline => added.no_newline = true,
                Rule::accepted_move_to => {
                    self.refuse_padding(start)?;
                    let to = pair.into_inner().next().expect("every header has a rest");
                    let to = self.spanned(&to);
                    self.refuse_empty(&to, start)?;
                    move_to = Some(to);
                }
                Rule::accepted_hunk | Rule::bare_hunk => {
                    let bare = pair.as_rule() == Rule::bare_hunk;
                    let hunk = self.hunk(pair);
                    if bare && !hunk.lines.iter().any(is_visible) {
                        continue;
                    }
                    if bare && !self.options.bare_first_hunk {
                        return Err(self.error(start, ParseErrorKind::NoAt, "`@@`"));
                    }
                    if hunk.lines.is_empty() {
                        let expected = "a line that begins with a blank, `-` or `+`";
                        return Err(self.error(start, ParseErrorKind::EmptyHunk, expected));
                    }
                    if hunks.is_empty() {
                        hunks.reserve_exact(1 + inner.len());
                    }
                    hunks.push(hunk);
                }
                _ => {}
            }
        }
        let operation = match rule {
            Rule::accepted_add => SectionOperation::Add(added),
            Rule::accepted_delete => SectionOperation::Delete(None),
            _ if hunks.is_empty() && move_to.is_none() => {
                return Err(self.error(
                    span.start,
                    ParseErrorKind::NoHunks,
                    "`@@` after the header",
                ));
            }
            _ => SectionOperation::Update { move_to, hunks },
        };
        Ok(Section {
            path,
            old_name: None,
            operation,
            executable: None,
            link: false,
            binary: None,
            deleted_id: None,
            submodule: None,
            span,
        })
    }

    fn hunk(&mut self, pair: Pair<'_, Rule>) -> Hunk<'p> {
        let span = self.range(&pair);
        let mut hunk = Hunk {
            opened: pair.as_rule() == Rule::accepted_hunk,
            endings: self.endings,
            line: self.line_at(span.start),
            span,
            ..Hunk::default()
        };
        let mut inner = pair.into_inner();
        while let Some(pair) = inner.next() {
            let range = self.range(&pair);
            match pair.as_rule() {
                Rule::accepted_at => {
                    let header = self.header(range);
                    if !header.text.trim().is_empty() {
                        if hunk.headers.is_empty() {
                            // The lines, at least, follow.
                            hunk.headers.reserve_exact(inner.len());
                        }
                        hunk.headers.push(header);
                    }
                }
                Rule::accepted_hunk_lines => {
                    // A run of lines, which pest took as one token.
                    let number = self.line_at(range.start);
                    (hunk.lines, hunk.separators) =
                        hunk_lines(&self.text.as_bytes()[range], number, self.endings);
                }
                Rule::accepted_end_of_file => hunk.end_of_file = true,
                _ => {}
            }
        }
        hunk
    }

    /// Returns the two paths of `old -> new`.
    fn arrow(
        &self,
        rest: &Spanned<'p>,
        start: usize,
    ) -> Result<(Spanned<'p>, Spanned<'p>), ParseError> {
        const ARROW: &str = " -> ";
        let mut arrows = rest.text.match_indices(ARROW);
        let Some((at, _)) = arrows.next().filter(|_| arrows.next().is_none()) else {
            let expected = "`*** Move File: old -> new`";
            return Err(self.error(start, ParseErrorKind::NoArrow, expected));
        };
        let Range { start: begin, end } = rest.span;
        let old = self.without_blanks(begin..begin + at, rest.line);
        Ok((old, self.without_blanks(begin + at + ARROW.len()..end, rest.line)))
    }

    /// Returns a part of the text without blanks around.
    fn without_blanks(&self, range: Range<usize>, line: u32) -> Spanned<'p> {
        let whole = &self.text[range.clone()];
        let part = whole.trim_matches([' ', '\t']);
        let start = range.start + whole.find(part).unwrap_or(0);
        Spanned { span: start..start + part.len(), text: Cow::Borrowed(part), line }
    }

    /// Returns the byte range of a pair in the text.
    fn range(&self, pair: &Pair<'_, Rule>) -> Range<usize> {
        self.base + pair.as_span().start()..self.base + pair.as_span().end()
    }

    /// Returns the text after `@@` and one blank. The indentation stays, to tell a function `f`
    /// from a method `f`.
    fn header(&mut self, range: Range<usize>) -> Spanned<'p> {
        let line = self.line_at(range.start);
        let text = self.text[range.clone()].trim_end_matches(['\r', '\n']);
        let start = range.start + text.len().min("@@ ".len());
        let end = range.start + text.len();
        Spanned { text: Cow::Borrowed(&self.text[start..end]), span: start..end, line }
    }

    /// Returns the text of a pair, without blanks around.
    fn spanned(&mut self, pair: &Pair<'_, Rule>) -> Spanned<'p> {
        const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];
        let range = self.range(pair);
        let line = self.line_at(range.start);
        let part = &self.text[range.clone()];
        let text = part.trim_matches(BLANKS);
        let start = range.start + (part.len() - part.trim_start_matches(BLANKS).len());
        Spanned { span: start..start + text.len(), text: Cow::Borrowed(text), line }
    }

    /// Returns the 1-based line of a byte; bytes are asked for in ascending order.
    fn line_at(&mut self, offset: usize) -> u32 {
        if offset > self.counted {
            let lines =
                memchr::memchr_iter(b'\n', &self.text.as_bytes()[self.counted..offset]).count();
            self.line += u32::try_from(lines).unwrap_or(u32::MAX);
            self.counted = offset;
        }
        self.line
    }

    fn refuse_empty(&self, path: &Spanned<'p>, start: usize) -> Result<(), ParseError> {
        if path.text.is_empty() {
            return Err(self.error(start, ParseErrorKind::NoPath, "a path after the colon"));
        }
        Ok(())
    }

    /// Checks an `*** Environment ID:` line.
    fn check_environment(&self, line: &str, start: usize) -> Result<(), ParseError> {
        let id = line.trim_start_matches(Marker::Environment.as_str()).trim();
        let (kind, expected) = match &self.options.environment {
            _ if self.environment => (ParseErrorKind::EnvironmentTwice, HEADERS),
            _ if id.is_empty() => (ParseErrorKind::EnvironmentMissing, "an id after the colon"),
            Some(own) if own == id => return Ok(()),
            _ => (
                ParseErrorKind::OtherEnvironment { id: id.to_owned() },
                "no environment, or that of this place",
            ),
        };
        Err(self.error(start, kind, expected))
    }

    /// Warns about blanks before a header, or refuses them when the options do not allow them.
    fn refuse_padding(&mut self, start: usize) -> Result<(), ParseError> {
        if self.text[start..].starts_with("***") {
            return Ok(());
        }
        if !self.options.strip_wrappers {
            return Err(self.error(
                start,
                ParseErrorKind::Padded,
                "a header without blanks before it",
            ));
        }
        let line = self.line_at(start);
        self.warnings.push(Warning { kind: WarningKind::Padded, line });
        Ok(())
    }

    fn error(&self, start: usize, kind: ParseErrorKind, expected: &'static str) -> ParseError {
        diagnose::at(self.text, start, kind, vec![expected])
    }
}

/// Returns whether a line of a hunk without `@@` is more than an empty line.
fn is_visible(line: &Line<'_>) -> bool {
    line.kind != LineKind::Context || !line.text.trim_ascii().is_empty()
}

/// Returns the meaning of a patch's line endings, by the ending of its `*** Begin Patch` line.
pub(crate) fn endings(body: &str) -> LineEndings {
    let first = body.split_inclusive('\n').find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.ends_with("\r\n") { LineEndings::Framing } else { LineEndings::Stated }
}

const HEADERS: &str = "`*** Add File: path`, `*** Delete File: path`, `*** Update File: path` or \
                       `*** Move File: old -> new`";
