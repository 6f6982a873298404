//! Reads a patch that is still arriving: sends events as its lines and sections complete.

use std::ops::Range;

use pest_itself::Parser as _;

use crate::ast::Section;
use crate::diagnose;
use crate::error::{ParseError, ParseErrorKind};
use crate::grammar::{PatchParser, Rule};
use crate::lower::{self, Lowering};
use crate::marker::Marker;
use crate::options::ParseOptions;
use crate::parse::{decode, parse, tree, valid_part};
use crate::patch::{Parsed, Patch};
use crate::wrapper;

/// The most wrappers around a patch: a heredoc and a fence.
const MAX_WRAPPERS: usize = 2;

/// The most lines that look wrong for which the parser is asked. One is enough, if the parser
/// agrees.
const MAX_CHECKS: usize = 8;

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// An event that a chunk of the text completes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// A section's header is complete.
    Begun {
        /// Its 0-based index.
        section: usize,
        /// The operation of the section.
        operation: StreamOperation,
        /// The file, as written.
        path: String,
        /// Where the file goes, if the header says so.
        move_to: Option<String>,
        /// The 1-based line of the header.
        line: u32,
    },
    /// A `*** Move to:` line is complete.
    MoveTo {
        /// The section's index.
        section: usize,
        /// Where the file goes.
        path: String,
    },
    /// Lines of a section are complete; one event for all that arrived together.
    Lines {
        /// The section's index.
        section: usize,
        /// The inserted lines so far.
        inserted: usize,
        /// The deleted lines so far.
        deleted: usize,
    },
    /// A section is complete, and parses: see [`PatchStream::section`].
    Finished {
        /// The section's index.
        section: usize,
        /// The inserted lines.
        inserted: usize,
        /// The deleted lines.
        deleted: usize,
    },
    /// The text has ended, and is a patch: see [`PatchStream::patch`].
    Ended {
        /// The number of its lines.
        line: u32,
    },
    /// The text is not a patch, whatever follows.
    Failed(ParseError),
}

/// The change of a section to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are the headers")]
pub enum StreamOperation {
    Add,
    Delete,
    Update,
    Move,
}

impl StreamOperation {
    /// Returns the operation of the section that matches a rule; `None` for other rules.
    fn of(rule: Rule) -> Option<Self> {
        match rule {
            Rule::accepted_add => Some(Self::Add),
            Rule::accepted_delete => Some(Self::Delete),
            Rule::accepted_update => Some(Self::Update),
            Rule::accepted_move => Some(Self::Move),
            _ => None,
        }
    }

    fn rule(self) -> Rule {
        match self {
            Self::Add => Rule::accepted_add,
            Self::Delete => Rule::accepted_delete,
            Self::Update => Rule::accepted_update,
            Self::Move => Rule::accepted_move,
        }
    }
}

/// Takes the text of a patch in chunks of any size, cut anywhere, also inside a character.
///
/// Events come line by line: a section is known when its header is complete, and is parsed when the
/// next one begins. Apply nothing before the end, since the text may still turn out to be no patch.
/// Time is linear in the text, however the chunks are cut.
///
/// ```
/// use patch_grammar::{ParseOptions, PatchStream, StreamEvent};
///
/// let mut stream = PatchStream::new(ParseOptions::default());
/// let mut finished = 0;
/// for chunk in ["*** Begin Pa", "tch\n*** Add File: a\n+1\n*** Del", "ete File: b\n*** End Patch"] {
///     for event in stream.push(chunk.as_bytes()) {
///         finished += usize::from(matches!(event, StreamEvent::Finished { .. }));
///     }
/// }
/// assert_eq!(finished, 1, "the first one; of the second it is not known yet");
/// stream.end();
/// assert_eq!(stream.patch()?.sections().len(), 2);
/// # Ok::<(), patch_grammar::ParseError>(())
/// ```
#[derive(Debug, Default)]
pub struct PatchStream {
    options: ParseOptions,
    text: String,
    /// The beginning of a character.
    partial: Vec<u8>,
    /// The first byte of the first unread line, and how many lines stand before.
    at: usize,
    lines: u32,
    /// Up to where its line feed was looked for.
    searched: usize,
    /// Where the first marker stands.
    begin: Option<(usize, u32)>,
    sections: Vec<PartialSection>,
    /// The last of the sections may still get lines.
    open: bool,
    ended: bool,
    counted: LineCounts,
    /// How many lines opened what may be around a patch.
    wrappers: usize,
    /// How many lines may close the wrappers, if the last marker, padded with blanks, is above
    /// them.
    closers: usize,
    /// How often a line looked wrong.
    checks: usize,
    failed: Option<ParseError>,
    /// The bytes are not text; what follows is not even kept.
    undecodable: bool,
}

/// How many lines of a section were reported.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct LineCounts {
    inserted: usize,
    deleted: usize,
}

/// A section so far.
#[derive(Debug)]
struct PartialSection {
    operation: StreamOperation,
    span: Range<usize>,
    line: u32,
    /// Lines after the header.
    lines: usize,
    inserted: usize,
    deleted: usize,
}

/// Returns the rule of the grammar for a line, if the line is no content of a section.
fn rule_of(line: &str) -> Option<Rule> {
    let pair = PatchParser::parse(Rule::accepted_line, line).ok()?.next()?;
    (pair.as_span().end() == line.len()).then(|| pair.as_rule())
}

impl PatchStream {
    /// Waits for the text.
    #[must_use]
    pub fn new(options: ParseOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// The text so far, without the beginning of a character.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds to the text, and returns the completed events.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        if self.undecodable {
            return events;
        }
        let mut bytes = std::mem::take(&mut self.partial);
        bytes.extend_from_slice(chunk);
        let (valid, error) = valid_part(&bytes);
        let rest = &bytes[valid.len()..];
        let nul = memchr::memchr(0, valid.as_bytes());
        self.text.push_str(&valid[..nul.unwrap_or(valid.len())]);
        self.complete_lines(&mut events);
        match (nul, error) {
            (Some(_), _) => self.undecodable(b"\0", &mut events),
            (None, Some(error)) if error.error_len().is_some() => {
                self.undecodable(rest, &mut events)
            }
            _ => self.partial = rest.to_vec(),
        }
        events
    }

    /// Ends the text, and returns the completed events; the last event is
    /// [`Ended`](StreamEvent::Ended) or [`Failed`](StreamEvent::Failed), unless the text has failed
    /// before.
    pub fn end(&mut self) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        let partial = std::mem::take(&mut self.partial);
        if !partial.is_empty() && !self.undecodable {
            self.undecodable(&partial, &mut events);
        }
        if self.at < self.text.len() {
            self.complete_line(self.text.len(), &mut events);
        }
        if self.failed.is_some() {
            return events;
        }
        match self.tree().map(|(sections, _)| sections.last().map(|last| last.span.end)) {
            Ok(end) => {
                // Where the last marker was not known as such: it is padded with blanks.
                if self.open
                    && let Some(part) = self.sections.last_mut()
                    && let Some(end) = end
                {
                    part.span.end = end;
                    self.open = false;
                    let section = self.sections.len() - 1;
                    let part = &self.sections[section];
                    events.push(StreamEvent::Finished {
                        section,
                        inserted: part.inserted,
                        deleted: part.deleted,
                    });
                }
                events.push(StreamEvent::Ended { line: self.lines.max(1) });
            }
            Err(error) => self.fail(error, &mut events),
        }
        events
    }

    /// The patch: what [`parse`](crate::parse()) gives for the whole text.
    ///
    /// # Errors
    ///
    /// Those of [`decode`] and [`parse`](crate::parse()).
    pub fn patch(&self) -> Result<Patch, ParseError> {
        match &self.failed {
            Some(error) if self.undecodable => Err(error.clone()),
            _ => parse(&self.text, &self.options),
        }
    }

    fn tree(&self) -> Result<Parsed<'_>, ParseError> {
        tree(&self.text, 0..self.text.len(), &self.options)
    }

    /// A finished section: the same as in [`patch`](Self::patch) at this index.
    #[must_use]
    pub fn section(&self, index: usize) -> Option<Section<'_>> {
        let finished = self.sections.len() - usize::from(self.open);
        let part = self.sections[..finished].get(index)?;
        self.parse_part(part)?.ok()
    }

    fn complete_lines(&mut self, events: &mut Vec<StreamEvent>) {
        // A long line that arrives in small pieces is searched once.
        while let Some(length) = memchr::memchr(b'\n', &self.text.as_bytes()[self.searched..]) {
            self.searched += length + 1;
            self.complete_line(self.searched, events);
        }
        self.searched = self.text.len();
        let Some(part) = self.sections.last().filter(|_| self.open && self.failed.is_none()) else {
            return;
        };
        let counts = LineCounts { inserted: part.inserted, deleted: part.deleted };
        if counts != self.counted {
            self.counted = counts;
            let LineCounts { inserted, deleted } = counts;
            let section = self.sections.len() - 1;
            events.push(StreamEvent::Lines { section, inserted, deleted });
        }
    }

    /// Checks the line up to `end`.
    fn complete_line(&mut self, end: usize, events: &mut Vec<StreamEvent>) {
        let start = self.at;
        let number = self.lines + 1;
        self.at = end;
        self.lines = number;
        if self.failed.is_some() || self.ended {
            return;
        }
        let line = &self.text[start..end];
        let trimmed = line.trim_matches(BLANKS);
        let may_close = self.closers > 0;
        if trimmed == Marker::End.as_str() {
            self.closers = self.wrappers;
        } else if !trimmed.is_empty() {
            self.closers = self.closers.saturating_sub(1);
        }
        if self.begin.is_none() {
            return self.look_for_begin(start..end, number, events);
        }
        if self.is_content(start..end, events) {
            return;
        }
        let is_finished = self.text[start..end].ends_with('\n');
        let rule = rule_of(&self.text[start..end]);
        if let Some(operation) = rule.and_then(StreamOperation::of) {
            self.finish_section(start, events);
            if self.failed.is_none() {
                self.begin_section(start..end, operation, events);
            }
            return;
        }
        match rule {
            Some(Rule::accepted_end) => {
                self.finish_section(start, events);
                self.ended = true;
            }
            Some(Rule::environment) if self.sections.is_empty() => {
                self.check_so_far(end, false, events);
            }
            // The parser says what an unfinished last line is.
            _ => {
                let is_wrong = is_finished && !may_close && !self.may_stand(rule, start..end);
                if is_wrong && self.checks < MAX_CHECKS {
                    self.checks += 1;
                    self.check_so_far(end, true, events);
                }
            }
        }
    }

    /// Counts the line as one of the open section, if the line is content whatever follows.
    fn is_content(&mut self, range: Range<usize>, events: &mut Vec<StreamEvent>) -> bool {
        let Some(part) = self.sections.last_mut().filter(|_| self.open) else { return false };
        let is_first = part.lines == 0;
        part.lines += 1;
        let updates = matches!(part.operation, StreamOperation::Update | StreamOperation::Move);
        match self.text.as_bytes()[range.start] {
            b'+' => part.inserted += 1,
            b'-' if updates => part.deleted += 1,
            _ if is_first
                && part.operation == StreamOperation::Update
                && self.is_destination(range.clone(), events) => {}
            // Context, whatever it looks like.
            b' ' if updates => {}
            _ => return false,
        }
        true
    }

    /// Reports the destination of the open section, if the line below its header is one.
    fn is_destination(&self, range: Range<usize>, events: &mut Vec<StreamEvent>) -> bool {
        if rule_of(&self.text[range.clone()]) != Some(Rule::accepted_move_to) {
            return false;
        }
        let (_, path) = self.text[range].split_once(':').expect("the marker has a colon");
        let path = path.trim_matches(BLANKS).to_owned();
        events.push(StreamEvent::MoveTo { section: self.sections.len() - 1, path });
        true
    }

    /// Begins a section with its header.
    fn begin_section(
        &mut self,
        span: Range<usize>,
        operation: StreamOperation,
        events: &mut Vec<StreamEvent>,
    ) {
        let line = self.lines;
        let (_, rest) = self.text[span.clone()].split_once(':').expect("the marker has a colon");
        let rest = rest.trim_matches(BLANKS);
        let arrow = rest.split_once(" -> ").filter(|_| operation == StreamOperation::Move);
        let (path, move_to) = match arrow {
            Some((from, to)) => (from.trim_end_matches(BLANKS), Some(to.trim_matches(BLANKS))),
            None => (rest, None),
        };
        let path = path.to_owned();
        let move_to = move_to.map(str::to_owned);
        let section = self.sections.len();
        events.push(StreamEvent::Begun { section, operation, path, move_to, line });
        self.sections.push(PartialSection {
            operation,
            span,
            line,
            lines: 0,
            inserted: 0,
            deleted: 0,
        });
        self.open = true;
        self.counted = LineCounts::default();
    }

    /// Looks at a line before the first marker, where only empty lines may stand, and what is
    /// around a patch.
    fn look_for_begin(&mut self, range: Range<usize>, number: u32, events: &mut Vec<StreamEvent>) {
        let line = &self.text[range.clone()];
        let trimmed = line.trim_matches(BLANKS);
        if trimmed == Marker::Begin.as_str() {
            self.begin = Some((range.start, number));
        } else if trimmed.is_empty()
            || line.trim() == Marker::Begin.as_str()
            || !line.ends_with('\n')
        {
            // The parser says what is wrong with a marker that has other blanks around it, and with
            // an unfinished line.
        } else if wrapper::may_open(trimmed)
            && self.options.strip_wrappers
            && self.wrappers < MAX_WRAPPERS
        {
            self.wrappers += 1;
        } else {
            let expected = vec![Marker::Begin.symbol()];
            self.fail(
                diagnose::at(&self.text, range.start, ParseErrorKind::NoBegin, expected),
                events,
            );
        }
    }

    /// Returns whether a line other than a header or content of a section may stand here; `rule` is
    /// its rule.
    fn may_stand(&self, rule: Option<Rule>, line: Range<usize>) -> bool {
        let updates = match self.sections.last().filter(|_| self.open).map(|part| part.operation) {
            None | Some(StreamOperation::Delete) => return self.is_end_or_empty(line),
            Some(StreamOperation::Add) => false,
            Some(StreamOperation::Update | StreamOperation::Move) => true,
        };
        match rule {
            Some(Rule::accepted_no_newline) => true,
            Some(Rule::accepted_at | Rule::accepted_end_of_file) => updates,
            _ => self.is_end_or_empty(line),
        }
    }

    /// Returns whether a line is empty or the last marker, with blanks around it.
    fn is_end_or_empty(&self, line: Range<usize>) -> bool {
        let trimmed = self.text[line].trim_matches(BLANKS);
        trimmed.is_empty() || trimmed == Marker::End.as_str()
    }

    /// Ends the open section, if there is one, before the line at `end`.
    fn finish_section(&mut self, end: usize, events: &mut Vec<StreamEvent>) {
        let section = self.sections.len().wrapping_sub(1);
        let Some(part) = self.sections.last_mut().filter(|_| self.open) else { return };
        part.span.end = end;
        self.open = false;
        let part = &self.sections[section];
        let PartialSection { inserted, deleted, .. } = *part;
        if self.parse_part(part).is_some_and(|parsed| parsed.is_ok()) {
            events.push(StreamEvent::Finished { section, inserted, deleted });
            return;
        }
        self.check_so_far(end, false, events);
    }

    /// Finds what is wrong with the text up to `end` as the parser finds it; with `within`, only
    /// what is wrong before the added marker. This happens a few times.
    fn check_so_far(&mut self, end: usize, within: bool, events: &mut Vec<StreamEvent>) {
        let (begin, line) = self.begin.expect("a section has a first marker before it");
        let text = format!("{}{}\n", &self.text[begin..end], Marker::End.as_str());
        if let Err(mut error) = tree(&text, 0..text.len(), &self.options)
            && error.kind != ParseErrorKind::NoSections
        {
            error.span = error.span.start + begin..error.span.end + begin;
            if within && error.span.start >= end {
                return;
            }
            // The text of that place, and not the added marker.
            if error.span.start >= end {
                let line =
                    self.text[end..].split('\n').next().unwrap_or_default().trim_end_matches('\r');
                error.seen = (end < self.text.len()).then(|| line.chars().take(80).collect());
                error.span = end..end + line.len();
            }
            error.line += line - 1;
            self.fail(error, events);
        }
    }

    /// Parses a section on its own; `None` when a part of the text belongs to no section.
    fn parse_part(&self, part: &PartialSection) -> Option<Result<Section<'_>, ParseError>> {
        let text = &self.text[part.span.clone()];
        let pair = PatchParser::parse(part.operation.rule(), text).ok()?.next()?;
        if !text[pair.as_span().end()..].trim_matches(BLANKS).is_empty() {
            return None;
        }
        let endings = lower::endings(&self.text[self.begin.map_or(0, |(begin, _)| begin)..]);
        Some(
            Lowering::from_line(&self.text, part.span.start, part.line, endings, &self.options)
                .section(pair),
        )
    }

    fn undecodable(&mut self, rest: &[u8], events: &mut Vec<StreamEvent>) {
        self.undecodable = true;
        let bytes = [self.text.as_bytes(), rest].concat();
        let error = decode(&bytes).expect_err("the rest is not text");
        // Nothing goes before this error: text is decoded before parsing.
        let failed_before = self.failed.replace(error.clone()).is_some();
        if !failed_before {
            events.push(StreamEvent::Failed(error));
        }
    }

    fn fail(&mut self, error: ParseError, events: &mut Vec<StreamEvent>) {
        self.failed = Some(error.clone());
        events.push(StreamEvent::Failed(error));
    }
}
