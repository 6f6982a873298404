//! The rules: the bytes that may follow, and the state after each.
//!
//! Some end can be reached from every state, by three rules. A block begins only at a line from
//! which some block stands once: the lines above [`OpenSection::limit`]. A hunk begins only if there
//! is such a line below the hunk before. And a line can always be added to a hunk: where their
//! number is limited, the last one is kept for a text that the file does not have.

use std::ops::Range;

use crate::bound::{Bound, HeaderKind};
use crate::cut;
use crate::log::{FOREIGN, HunkLine, Log, Post, PostLines, SectionPaths};
use crate::names;
use crate::state::{MatcherState, Next, OpenHunk, OpenSection, Place};
use crate::text::FileText;
use crate::utf8::Utf8;

impl Bound {
    /// The state before the first byte.
    pub(crate) fn start(&self) -> MatcherState {
        MatcherState {
            place: Place::Literal("*** Begin Patch\n", Next::Sections),
            lengths: Log::default().lengths(),
            section: OpenSection::default(),
            hunk: OpenHunk::default(),
        }
    }

    /// Takes one byte; `None` if the byte may not follow. The log is cut to the state, and goes on
    /// with the byte.
    pub(crate) fn step(
        &self,
        log: &mut Log,
        state: &MatcherState,
        byte: u8,
    ) -> Option<MatcherState> {
        log.cut(state.lengths);
        let mut next = state.clone();
        log.bytes.push(byte);
        if self.take(log, &mut next, byte).is_none() {
            log.cut(state.lengths);
            return None;
        }
        next.lengths = log.lengths();
        Some(next)
    }

    fn take(&self, log: &mut Log, state: &mut MatcherState, byte: u8) -> Option<()> {
        match state.place {
            Place::Literal(rest, next) => self.literal(state, rest, next, byte),
            Place::Header { first, end, at } => self.header(log, state, first..end, at, byte),
            Place::NewPath { start, next } => self.new_path(log, state, start, next, byte),
            Place::AfterUpdate => match byte {
                b'@' if self.operations.update => self.open_hunk(log, state),
                b'*' if self.operations.rename => {
                    state.place = Place::Literal("** Move to: ", Next::MoveTo);
                    Some(())
                }
                _ => None,
            },
            Place::AfterMove => match byte {
                b'@' if self.operations.update => self.open_hunk(log, state),
                b'*' => self.open_header(log, state, 1),
                _ => None,
            },
            Place::NewLine => match byte {
                b'+' => {
                    add_line(log)?;
                    state.place = Place::NewText(Utf8::Whole);
                    Some(())
                }
                b'*' => self.open_header(log, state, 1),
                _ => None,
            },
            Place::NewText(utf8) => {
                state.place = added(utf8, byte)?.map_or(Place::NewLine, Place::NewText);
                Some(())
            }
            Place::At => self.after_at(state, byte),
            Place::AtText { first, end, at } => self.at_text(log, state, first..end, at, byte),
            Place::Line => self.line(log, state, byte),
            Place::Old { sign, at } => self.old(log, state, sign, at, byte),
            Place::Added { start, utf8 } => {
                match added(utf8, byte)? {
                    Some(utf8) => state.place = Place::Added { start, utf8 },
                    None => self.end_added(log, state, start)?,
                }
                Some(())
            }
            Place::End => {
                state.place = Place::Closed;
                (byte == b'\n').then_some(())
            }
            Place::Closed => None,
        }
    }

    fn literal(
        &self,
        state: &mut MatcherState,
        rest: &'static str,
        next: Next,
        byte: u8,
    ) -> Option<()> {
        let (first, rest) = rest.split_at(1);
        if first.as_bytes() != [byte] {
            return None;
        }
        let start = state.lengths.bytes() + 1;
        state.place = match next {
            _ if !rest.is_empty() => Place::Literal(rest, next),
            Next::Sections => Place::Header { first: 0, end: self.headers.len() as u32, at: 0 },
            Next::MoveTo => Place::NewPath { start, next: Next::AfterMove },
            Next::At => Place::At,
            Next::New => Place::NewLine,
            Next::AfterMove => Place::AfterMove,
        };
        Some(())
    }
}

/// Begins an added line, if one is left.
fn add_line(log: &mut Log) -> Option<()> {
    (log.lines_left() > 0).then(|| log.added += 1)
}

/// Takes a byte of free text: the state of the character, or `None` at the end of the line.
fn added(utf8: Utf8, byte: u8) -> Option<Option<Utf8>> {
    match byte {
        0 => None,
        b'\n' => (utf8 == Utf8::Whole).then_some(None),
        _ => utf8.step(byte).map(Some),
    }
}

/// Sections.
impl Bound {
    /// Begins the header of the next section, after its first `at` bytes.
    fn open_header(&self, log: &Log, state: &mut MatcherState, at: u32) -> Option<()> {
        let end = self.headers.len() as u32;
        state.place = Place::Header { first: 0, end, at };
        self.any_header(log, 0..end).then_some(())
    }

    /// Whether a header may be written. A patch has at least one section, and at most one for paths
    /// equal without regard to case.
    pub(crate) fn may_head(&self, log: &Log, header: u32) -> bool {
        match self.headers[header as usize].kind {
            HeaderKind::End => !log.sections.is_empty(),
            HeaderKind::Add => true,
            HeaderKind::Update(_) if log.lines_left() == 0 && !self.operations.rename => false,
            HeaderKind::Update(path) | HeaderKind::Delete(path) => {
                let alike = self.alike[path as usize];
                let mut taken = log.sections.iter().filter_map(|section| section.path);
                taken.all(|taken| self.alike[taken as usize] != alike)
            }
        }
    }

    fn any_header(&self, log: &Log, headers: Range<u32>) -> bool {
        headers.into_iter().any(|header| self.may_head(log, header))
    }

    fn header(
        &self,
        log: &mut Log,
        state: &mut MatcherState,
        range: Range<u32>,
        at: u32,
        byte: u8,
    ) -> Option<()> {
        let headers = &self.headers[range.start as usize..range.end as usize];
        let first =
            range.start + headers.partition_point(|header| header.byte(at) < Some(byte)) as u32;
        let end =
            range.start + headers.partition_point(|header| header.byte(at) <= Some(byte)) as u32;
        if !self.any_header(log, first..end) {
            return None;
        }
        state.place = Place::Header { first, end, at: at + 1 };
        let header = &self.headers[first as usize];
        if header.text.len() as u32 == at + 1 {
            self.open_section(log, state, header.kind);
        }
        Some(())
    }

    fn open_section(&self, log: &mut Log, state: &mut MatcherState, kind: HeaderKind) {
        match kind {
            HeaderKind::End => state.place = Place::End,
            HeaderKind::Add => {
                log.sections.push(SectionPaths::old(None, false));
                let start = state.lengths.bytes() + 1;
                state.place = Place::NewPath { start, next: Next::New };
            }
            HeaderKind::Delete(path) => {
                log.sections.push(SectionPaths::old(Some(path), true));
                state.place = Place::Header { first: 0, end: self.headers.len() as u32, at: 0 };
            }
            HeaderKind::Update(path) => {
                log.sections.push(SectionPaths::old(Some(path), false));
                state.section = OpenSection {
                    file: path,
                    cursor: 0,
                    limit: self.file(path).limit,
                    post: log.post.len() as u32,
                    changes: log.changes.len() as u32,
                };
                state.place = Place::AfterUpdate;
            }
        }
    }

    fn new_path(
        &self,
        log: &mut Log,
        state: &mut MatcherState,
        start: u32,
        next: Next,
        byte: u8,
    ) -> Option<()> {
        let path = std::str::from_utf8(&log.bytes[start as usize..log.bytes.len() - 1]).ok()?;
        let fits = match byte {
            b'\n' => self.may_end_path(log, path),
            b'/' => {
                let gone = self.gone(log);
                self.names.is_directory(&format!("{path}/"), &gone, &self.paths)
            }
            _ => self.names.may_follow(path, byte) && self.leaves_way_out(log, path, byte),
        };
        if byte == b'\n' && fits {
            let end = log.bytes.len() as u32 - 1;
            let path = log.sections.last()?.path;
            let leaves = path.is_some();
            log.sections.push(SectionPaths { path, leaves, new: Some((start, end)) });
            state.place = if next == Next::New { Place::NewLine } else { Place::AfterMove };
        }
        fits.then_some(())
    }

    /// Whether a new path with its last possible byte could end.
    fn leaves_way_out(&self, log: &Log, path: &str, byte: u8) -> bool {
        let name = path.len() - path.rfind('/').map_or(0, |at| at + 1);
        name + 1 < names::LONGEST || self.may_end_path(log, &format!("{path}{}", char::from(byte)))
    }

    pub(crate) fn may_end_path(&self, log: &Log, path: &str) -> bool {
        let new = log.sections.iter().filter_map(|section| section.new);
        let new = new.filter_map(|(start, end)| std::str::from_utf8(log.text(start, end)).ok());
        self.names.is_free(path, new)
    }

    /// The paths deleted or moved by the patch so far.
    fn gone(&self, log: &Log) -> Vec<&str> {
        let taken = log.sections.iter().enumerate().filter(|(nth, section)| {
            // The file of the open section is about to move.
            section.leaves || (*nth + 1 == log.sections.len() && section.path.is_some())
        });
        let paths = taken.filter_map(|(_, section)| section.path);
        paths.map(|path| &*self.paths[path as usize]).collect()
    }
}

/// Hunks.
impl Bound {
    fn open_hunk(&self, log: &Log, state: &mut MatcherState) -> Option<()> {
        (log.lines_left() > 0).then_some(())?;
        state.hunk = OpenHunk {
            lines: log.lines.len() as u32,
            min: state.section.cursor,
            range: 0..self.file(state.section.file).len(),
            ..OpenHunk::default()
        };
        state.place = Place::Literal("@", Next::At);
        Some(())
    }

    fn after_at(&self, state: &mut MatcherState, byte: u8) -> Option<()> {
        let file = self.file(state.section.file);
        let texts = file.firsts.len() as u32;
        state.place = match byte {
            b'\n' => Place::Line,
            b' ' => Place::AtText { first: 0, end: texts, at: 0 },
            _ => return None,
        };
        let limit = state.section.limit;
        let fits = byte == b'\n' || file.firsts.iter().any(|&line| may_name(file, limit, line));
        fits.then_some(())
    }

    fn at_text(
        &self,
        log: &Log,
        state: &mut MatcherState,
        range: Range<u32>,
        at: u32,
        byte: u8,
    ) -> Option<()> {
        if byte == b'\n'
            && let Some(line) = self.cut_line(log, state, range.clone(), at)
        {
            state.hunk.min = state.hunk.min.max(line);
            state.place = Place::Line;
            return Some(());
        }
        let file = self.file(state.section.file);
        let firsts = &file.firsts[range.start as usize..range.end as usize];
        let wanted = (byte != b'\n').then_some(byte);
        let first =
            range.start + firsts.partition_point(|&line| file.byte(line, at) < wanted) as u32;
        let end =
            range.start + firsts.partition_point(|&line| file.byte(line, at) <= wanted) as u32;
        let limit = state.section.limit;
        let mut named = file.firsts[first as usize..end as usize].iter();
        if !named.any(|&line| may_name(file, limit, line)) {
            return None;
        }
        state.place = Place::AtText { first, end, at: at + 1 };
        if byte == b'\n' {
            let line = file.firsts[first as usize];
            state.hunk.min = state.hunk.min.max(line);
            state.hunk.header = Some(line);
            state.place = Place::Line;
        }
        Some(())
    }

    /// The first line of which git writes the first `at` bytes as a heading, if the engine takes
    /// them as the text of no line.
    fn cut_line(&self, log: &Log, state: &MatcherState, texts: Range<u32>, at: u32) -> Option<u32> {
        let file = self.file(state.section.file);
        let lines = file.cuts().of_length(texts, at).map(|cut| file.firsts[cut.text as usize]);
        let line = lines.filter(|&line| may_cut(file, state.section.limit, line, at)).min()?;
        // A hunk above may have added a line that the heading names then.
        let heading = cut::letters(&file.str(line)[..at as usize]);
        let added = log.lines.iter().filter(|line| line.sign == b'+');
        let mut texts = added.filter_map(|&line| std::str::from_utf8(log.line(line)).ok());
        texts.all(|text| cut::letters(text) != heading).then_some(line)
    }

    fn line(&self, log: &mut Log, state: &mut MatcherState, byte: u8) -> Option<()> {
        let file = self.file(state.section.file);
        let start = log.bytes.len() as u32;
        match byte {
            b'+' => {
                add_line(log)?;
                state.hunk.changes = true;
                state.place = Place::Added { start, utf8: Utf8::Whole };
            }
            b' ' | b'-' => {
                // Otherwise the hunk can end now, and perhaps not any more below.
                (log.lines_left() > 0 || state.hunk.is_new).then_some(())?;
                self.open_old(file, state)?;
                log.lines.push(HunkLine { sign: byte, start, end: start });
                state.place = Place::Old { sign: byte, at: 0 };
            }
            b'@' => {
                self.may_end_hunk(log, state).then_some(())?;
                self.close_hunk(log, state);
                (state.section.cursor < state.section.limit).then_some(())?;
                self.open_hunk(log, state)?;
            }
            b'*' => {
                self.may_end_hunk(log, state).then_some(())?;
                self.open_header(log, state, 1)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Ends an added line. The last one has to let the hunk end.
    fn end_added(&self, log: &mut Log, state: &mut MatcherState, start: u32) -> Option<()> {
        let end = log.bytes.len() as u32 - 1;
        let line = HunkLine { sign: b'+', start, end };
        log.lines.push(line);
        state.place = Place::Line;
        let file = self.file(state.section.file);
        state.hunk.is_new |= file.id_of(log.line(line)).is_none();
        let ends = log.lines_left() > 0 || state.hunk.is_new || self.may_end_hunk(log, state);
        ends.then_some(())
    }

    /// Begins the next old line.
    fn open_old(&self, file: &FileText, state: &mut MatcherState) -> Option<()> {
        let hunk = &mut state.hunk;
        // The shortest suffix is the first, and may have no further line.
        let first = *file.order.get(hunk.range.start as usize)?;
        if first + hunk.depth == file.len() {
            hunk.range.start += 1;
        }
        let lines = hunk.min..state.section.limit;
        file.any_start(hunk.range.clone(), lines).then_some(())
    }

    fn old(
        &self,
        log: &mut Log,
        state: &mut MatcherState,
        sign: u8,
        at: u32,
        byte: u8,
    ) -> Option<()> {
        let file = self.file(state.section.file);
        let hunk = &mut state.hunk;
        let wanted = (byte != b'\n').then_some(byte);
        let depth = hunk.depth;
        if let [start] = file.order[hunk.range.start as usize..hunk.range.end as usize] {
            (file.byte(start + depth, at) == wanted).then_some(())?;
        } else {
            let starts = &file.order[hunk.range.start as usize..hunk.range.end as usize];
            let from = starts.partition_point(|start| file.byte(start + depth, at) < wanted) as u32;
            let to = starts.partition_point(|start| file.byte(start + depth, at) <= wanted) as u32;
            hunk.range = hunk.range.start + from..hunk.range.start + to;
            file.any_start(hunk.range.clone(), hunk.min..state.section.limit).then_some(())?;
        }
        state.place = Place::Old { sign, at: at + 1 };
        if byte == b'\n' {
            if let Some(line) = log.lines.last_mut() {
                line.end = log.bytes.len() as u32 - 1;
            }
            hunk.depth += 1;
            hunk.changes |= sign == b'-';
            self.find_twins(log, state);
            state.place = Place::Line;
        }
        Some(())
    }

    /// Finds the other places of the old lines in the file as the hunks above leave it, if they
    /// stand once in the file as it was.
    fn find_twins(&self, log: &Log, state: &mut MatcherState) {
        let hunk = &mut state.hunk;
        if !hunk.is_unique() {
            return;
        }
        let file = self.file(state.section.file);
        let first = file.order[hunk.range.start as usize];
        let post = post(log, file, &state.section);
        let changes = &log.changes[state.section.changes as usize..];
        let twins: Vec<u32> = match &hunk.twins {
            None => post.places(changes, first..first + hunk.depth),
            Some(twins) if twins.is_empty() => return,
            Some(twins) => {
                let added = hunk.depth - 1;
                let id = file.ids[(first + added) as usize];
                twins
                    .iter()
                    .copied()
                    .filter(|at| at + added < post.len() && post.id(at + added) == id)
                    .collect()
            }
        };
        hunk.twins = Some(twins.into());
    }

    /// Whether the hunk may end here: with a change, with one place, and not applied already.
    pub(crate) fn may_end_hunk(&self, log: &Log, state: &MatcherState) -> bool {
        let hunk = &state.hunk;
        let file = self.file(state.section.file);
        let placed = if file.len() == 0 {
            true
        } else {
            hunk.is_unique() && hunk.twins.as_ref().is_some_and(|twins| twins.is_empty())
        };
        hunk.changes && placed && !self.stands_already(log, state)
    }

    /// Whether the engine may take the hunk for applied already. Either the hunk inserts something,
    /// and its new lines stand in the old file where they overlap its old lines; or the hunk is
    /// outside the scope of its header, and its new lines stand in the scope.
    fn stands_already(&self, log: &Log, state: &MatcherState) -> bool {
        let hunk = &state.hunk;
        let file = self.file(state.section.file);
        let lines = &log.lines[hunk.lines as usize..];
        let old_len = hunk.depth;
        let new_len = new_lines(log, lines).count() as u32;
        if old_len == 0 || new_len == 0 || new_len > file.len() {
            return false;
        }
        let first = file.order[hunk.range.start as usize];
        let last = file.len() - new_len;
        let mut on = first.saturating_sub(new_len - 1)..=last.min(first + old_len - 1);
        // New lines exactly on the old ones make no visible change.
        let on_old =
            on.any(|at| (at, new_len) != (first, old_len) && stands_at(file, log, lines, at));
        if on_old && inserts(log, lines) {
            return true;
        }
        hunk.header.is_some_and(|header| {
            !file.in_scope(header, first)
                && (0..=last).any(|at| {
                    stands_at(file, log, lines, at)
                        && file.ids[at as usize] != file.ids[header as usize]
                        && file.in_scope(header, at)
                })
        })
    }

    /// Applies the hunk to the file as the hunks above leave it.
    fn close_hunk(&self, log: &mut Log, state: &mut MatcherState) {
        let file = self.file(state.section.file);
        if file.len() == 0 {
            return;
        }
        let base = state.section.post as usize;
        let from = log.post.len() - base;
        let first = file.order[state.hunk.range.start as usize];
        keep(&mut log.post, base, state.section.cursor..first);
        let mut line = first;
        for nth in state.hunk.lines as usize..log.lines.len() {
            let of = log.lines[nth];
            if of.sign == b'+' {
                let id = file.id_of(log.line(of)).unwrap_or(FOREIGN);
                let at = log.post[base..].last().map_or(0, PostLines::end);
                log.post.push(PostLines { at, len: 1, old: FOREIGN, id });
                continue;
            }
            if of.sign == b' ' {
                keep(&mut log.post, base, line..line + 1);
            }
            line += 1;
        }
        state.section.cursor = line;
        let new = changes(file, &log.post[base..], from, line);
        log.changes.extend(new);
        let changes = &log.changes[state.section.changes as usize..];
        let end = file.len() - post(log, file, &state.section).repeated_end(changes);
        state.section.limit = end.min(file.limit);
    }
}

/// The lines left by a hunk.
fn new_lines<'l>(log: &'l Log, lines: &'l [HunkLine]) -> impl Iterator<Item = &'l [u8]> {
    lines.iter().filter(|line| line.sign != b'-').map(|&line| log.line(line))
}

/// Whether the lines left by a hunk stand at a line of the old file.
fn stands_at(file: &FileText, log: &Log, lines: &[HunkLine], at: u32) -> bool {
    new_lines(log, lines).zip(at..).all(|(line, at)| line == file.line(at))
}

fn post<'a>(log: &'a Log, file: &'a FileText, section: &OpenSection) -> Post<'a> {
    Post { file, lines: &log.post[section.post as usize..], cursor: section.cursor }
}

/// Adds lines of the file to the lines that the hunks leave, from index `base` on.
fn keep(post: &mut Vec<PostLines>, base: usize, lines: Range<u32>) {
    if !lines.is_empty() {
        let at = post[base..].last().map_or(0, PostLines::end);
        let len = lines.end - lines.start;
        post.push(PostLines { at, len, old: lines.start, id: FOREIGN });
    }
}

/// The changes of the lines of `post` from index `from` on: inserted lines with a text of the file,
/// and neighbours that were not neighbours in the file. `next` is the line of the file below them.
fn changes(
    file: &FileText,
    post: &[PostLines],
    from: usize,
    next: u32,
) -> impl Iterator<Item = (u32, u32)> {
    let end = post.last().map_or(0, PostLines::end);
    let below = PostLines { at: end, len: 1, old: next, id: FOREIGN };
    let below = (next < file.len()).then_some(below);
    let above = from.checked_sub(1).map(|above| post[above]);
    let mut before = above;
    post[from..].iter().copied().chain(below).filter_map(move |lines| {
        let before = before.replace(lines);
        if lines.old == FOREIGN {
            return (lines.id != FOREIGN).then_some((lines.at, lines.at));
        }
        let before = before.filter(|before| before.old != FOREIGN)?;
        (before.old + before.len != lines.old).then(|| (lines.at - 1, lines.at))
    })
}

/// Whether an `@@` line may have the text of a line, the first with this text. The line is above
/// some possible block, and the engine reads its text as it is.
pub(crate) fn may_name(file: &FileText, limit: u32, line: u32) -> bool {
    line < limit && is_heading(file.str(line))
}

/// Whether an `@@` line may have the first bytes of a line.
pub(crate) fn may_cut(file: &FileText, limit: u32, line: u32, len: u32) -> bool {
    line < limit && is_heading(&file.str(line)[..len as usize])
}

/// Whether the engine reads a text behind `@@` as it is. A text like the line numbers of a diff
/// names no line.
fn is_heading(text: &str) -> bool {
    let numbers =
        text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    !numbers && !text.trim().is_empty()
}

/// Whether some line is new. A line that a change removes and inserts again is not new, unless the
/// hunk states line ends.
fn inserts(log: &Log, lines: &[HunkLine]) -> bool {
    let states_ends = lines.iter().any(|line| log.text(line.start, line.end).ends_with(b"\r"));
    let mut changes = lines.chunk_by(|one, other| (one.sign == b' ') == (other.sign == b' '));
    changes.any(|change| {
        let mut inserted = change.iter().filter(|line| line.sign == b'+').peekable();
        let removed = change.iter().filter(|line| line.sign == b'-' && !states_ends);
        for line in removed {
            inserted.next_if(|new| log.line(**new) == log.line(*line));
        }
        inserted.peek().is_some()
    })
}
