//! A hunk, prepared for the search.

use std::borrow::Cow;
use std::ops::Range;

use patch_grammar::{Hunk, Line, LineEndings, LineKind};

use super::hunk_lines::{is_context, of_kind};
use super::pass::Pass;
use super::reject::{HunkReject, LineNumber, RejectReason};
use super::rules::Rules;
use super::scope::without_line_numbers;
use super::unchanged::as_context;
use crate::text::lines::{BOM, Lines, Mark};

/// The lines to search for.
#[derive(Debug)]
pub(crate) struct Needle<'p> {
    pub(crate) index: usize,
    /// The hunk as it is written.
    pub(crate) hunk: &'p Hunk<'p>,
    /// The lines of the hunk, with lines removed and inserted again as context.
    body: Cow<'p, [Line<'p>]>,
    /// Context and deleted lines, separators included.
    pub(crate) old: Vec<&'p [u8]>,
    /// How the old lines must end for an exact match; empty if any terminators do.
    endings: Vec<Ending>,
    /// Whether the hunk shows an old line with CRLF. Its other lines then end in LF.
    shows_crlf: bool,
    /// How many of the last old lines may be separators.
    pub(crate) separators: usize,
    /// The headers that name a line.
    pub(crate) headers: Vec<&'p str>,
    /// Whether a header has line numbers and nothing else, or the hunk is one of a diff.
    pub(crate) numbered: bool,
    /// The place that the hunk states itself, or its diff.
    pub(crate) fixed: Option<Fixed>,
    /// Whether the place follows only from missing context of the diff.
    pub(crate) by_context: bool,
    /// The end of the file that the diff seems to mean, where the hunk does not stand.
    pub(crate) not_at: Option<Fixed>,
    /// The 0-based line that a diff states for its first old line.
    pub(crate) stated: Option<usize>,
    /// The 0-based lines of the post-state, if the hunk is applied already and not looked for.
    pub(crate) done: Option<Range<usize>>,
    /// The 0-based line that the diff states and where the old lines indeed stand.
    pub(crate) expected: Option<usize>,
    /// For a hunk of a diff that only inserts: the stated number of lines above the hunk.
    pub(crate) inserts_below: Option<usize>,
}

/// How a line of the file must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Any,
    Lf,
    CrLf,
}

/// A place that a hunk states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fixed {
    /// At the beginning of the file: its first line has a byte-order mark, or its diff says so.
    Start,
    /// At the end of the file.
    End,
    /// It is all of the file.
    Whole,
}

/// Returns whether a marker in the hunk says that the file ends there.
pub(crate) fn marks_end(hunk: &Hunk<'_>) -> bool {
    hunk.end_of_file || hunk.old_lines().any(|line| line.no_newline)
}

/// Returns the end of the file where a hunk of a numbered diff was made: a diff shows the lines
/// around each change, unless the file ends. `git apply` has the same rule. A hunk without any
/// context is all of the file. Under `unidiff_zero`, missing context means nothing.
///
/// Models leave context out: a tenth of the changes in their diffs end a hunk. So the rule gives
/// way to the file, in `loosen`.
fn edge(hunk: &Hunk<'_>, rules: &Rules) -> Option<Fixed> {
    if rules.unidiff_zero || hunk.old_lines().next().is_none() {
        return None;
    }
    let above = hunk.lines.first().is_some_and(is_context);
    let below = hunk.lines.last().is_some_and(is_context);
    match (hunk.old_start.filter(|_| hunk.endings.is_of_diff())?, above, below) {
        (_, true, false) => Some(Fixed::End),
        (0 | 1, false, true) => Some(Fixed::Start),
        // At the end alone, the hunk could stand at another line than the stated one.
        (_, false, false) => Some(Fixed::Whole),
        (_, _, true) => None,
    }
}

impl<'p> Needle<'p> {
    pub(crate) fn new(index: usize, hunk: &'p Hunk<'p>, lines: &Lines<'_>, rules: &Rules) -> Self {
        let mut old: Vec<&[u8]> = Vec::with_capacity(hunk.lines.len());
        old.extend(hunk.old_lines().map(|line| line.text));
        let own = marks_end(hunk).then_some(Fixed::End);
        let mut fixed = own.or_else(|| edge(hunk, rules));
        let mut by_context = own.is_none() && fixed.is_some() && hunk.lines.iter().any(is_context);
        if let Some(first) = old.first_mut()
            && lines.has_bom()
            && let Some(rest) = first.strip_prefix(BOM)
        {
            (*first, fixed) = (rest, fixed.or(Some(Fixed::Start)));
            by_context = false;
        }
        // Empty lines below insertions alone are always separators: as context they would pull a
        // hunk without a place of its own to some empty line of the file.
        let mut separators = hunk.separators;
        if separators == old.len() && hunk.lines.len() > separators {
            old.clear();
            separators = 0;
        }
        let endings = if old.is_empty() { Vec::new() } else { endings(hunk, lines) };
        let shows_crlf = hunk.old_lines().any(|line| line.crlf);
        let stated = hunk
            .old_start
            .and_then(|line| (line as usize).checked_sub(1))
            .filter(|_| !old.is_empty());
        let inserts_below = hunk
            .old_start
            .map(|line| line as usize)
            .filter(|_| old.is_empty() && hunk.endings.is_of_diff() && lines.len() > 0);
        // The header of a diff names some line above the hunk; the numbers say where the hunk
        // stands.
        let headers: &[_] = if hunk.old_start.is_some() { &[] } else { &hunk.headers };
        let headers = headers.iter().map(|header| without_line_numbers(&header.text));
        let headers: Vec<_> = headers.filter(|header| !header.trim().is_empty()).collect();
        let numbered = hunk.endings.is_of_diff() || headers.len() < hunk.headers.len();
        Self {
            index,
            hunk,
            body: as_context(&hunk.lines),
            old,
            endings,
            shows_crlf,
            separators,
            headers,
            numbered,
            fixed,
            by_context,
            not_at: None,
            stated,
            done: None,
            expected: None,
            inserts_below,
        }
    }

    /// The one line of the file that the innermost header names, with its number from 1.
    pub(crate) fn named_line(&self, lines: &Lines<'_>) -> Option<(usize, String)> {
        let header = self.headers.last()?.trim().as_bytes();
        let mut named = lines.iter().enumerate().filter(|(_, line)| line.trim_ascii() == header);
        let (index, line) = named.next()?;
        let text = std::str::from_utf8(line).ok()?;
        named.next().is_none().then(|| (index + 1, text.to_owned()))
    }

    /// Whether the hunk has no lines to look for.
    pub(crate) fn is_insertion(&self) -> bool {
        self.old.is_empty()
    }

    /// The lines to look for when `dropped` separators are left out.
    pub(crate) fn old_without(&self, dropped: usize) -> &[&'p [u8]] {
        &self.old[..self.old.len() - dropped]
    }

    /// The numbers of separators that may be left out: none, or all.
    pub(crate) fn variants(&self) -> impl Iterator<Item = usize> + use<> {
        let all = (1..self.old.len()).contains(&self.separators).then_some(self.separators);
        std::iter::once(0).chain(all)
    }

    /// Whether the hunk's lines stand from a line of the file on.
    pub(crate) fn fits(&self, lines: &Lines<'_>, at: Mark, dropped: usize, pass: Pass) -> bool {
        let mut found = lines.walk_from(at.byte as usize);
        self.old_without(dropped).iter().enumerate().all(|(offset, text)| {
            found.next().is_some_and(|line| {
                pass.same(text, lines.text(line.clone()))
                    && self.ends_like(offset, pass, || lines.terminator_of(line))
            })
        })
    }

    /// Whether terminators count beside the text of the lines. Passes that overlook blanks overlook
    /// terminators too.
    pub(crate) fn wants_endings(&self, pass: Pass) -> bool {
        pass == Pass::Exact && !self.endings.is_empty()
    }

    /// Whether a terminator will do for the old line at `offset`.
    pub(crate) fn ends_like<'t>(
        &self,
        offset: usize,
        pass: Pass,
        terminator: impl FnOnce() -> &'t [u8],
    ) -> bool {
        match self.endings.get(offset).filter(|_| pass == Pass::Exact) {
            None | Some(Ending::Any) => true,
            Some(Ending::Lf) => terminator() == b"\n",
            Some(Ending::CrLf) => terminator() == b"\r\n",
        }
    }

    /// Whether the lines of the file from `start` on, whose texts match, end as they must.
    pub(crate) fn endings_fit(
        &self,
        lines: &Lines<'_>,
        start: usize,
        dropped: usize,
        pass: Pass,
    ) -> bool {
        let len = self.old_without(dropped).len();
        !self.wants_endings(pass)
            || (0..len)
                .all(|offset| self.ends_like(offset, pass, || lines.terminator(start + offset)))
    }

    /// The beginning of the hunk at the place that the hunk states itself; `None` without such a
    /// place, and if the file is too short.
    pub(crate) fn fixed_mark(&self, lines: &Lines<'_>, dropped: usize) -> Option<Mark> {
        match self.fixed? {
            Fixed::Whole if self.old_without(dropped).len() != lines.len() => None,
            Fixed::Start | Fixed::Whole => Some(Mark { line: 0, byte: lines.start(0) as u32 }),
            Fixed::End => {
                let len = self.old_without(dropped).len();
                let line = lines.len().checked_sub(len)?;
                let end = lines.bytes().len();
                let byte =
                    (0..len).try_fold(end, |byte, _| Some(lines.line_before(byte)?.start))?;
                Some(Mark { line: line as u32, byte: byte as u32 })
            }
        }
    }

    /// How many lines more the file has where the hunk is applied.
    pub(crate) fn growth(&self) -> isize {
        let inserted = of_kind(&self.body, LineKind::Insert).count();
        let deleted = of_kind(&self.body, LineKind::Delete).count();
        inserted as isize - deleted as isize
    }

    /// The terminator that the hunk states for an inserted line.
    pub(crate) fn terminator(&self, line: &Line<'_>) -> Option<&'static [u8]> {
        match (line.crlf, self.hunk.endings) {
            (true, _) => Some(b"\r\n"),
            (false, LineEndings::Framing | LineEndings::Unmarked) => None,
            // No old line shows a terminator to follow.
            (false, LineEndings::Exact) if self.hunk.old_lines().all(|line| line.no_newline) => {
                Some(b"\n")
            }
            (false, LineEndings::Exact | LineEndings::Stated) => self.shows_crlf.then_some(b"\n"),
        }
    }

    /// The lines of the hunk as they are meant, without `dropped` separators.
    pub(crate) fn lines(&self, dropped: usize) -> &[Line<'p>] {
        let dropped = if self.old.is_empty() { self.hunk.separators } else { dropped };
        &self.body[..self.body.len() - dropped]
    }

    /// The old lines from the first to the last that is deleted or beside an insertion, counted
    /// from the first line of the hunk; `None` when the hunk changes nothing.
    pub(crate) fn core(&self, dropped: usize) -> Option<Range<usize>> {
        let mut old = 0;
        let mut core = None::<Range<usize>>;
        for line in self.lines(dropped) {
            let deletes = usize::from(line.kind == LineKind::Delete);
            if line.kind != LineKind::Context {
                core = Some(core.map_or(old, |core| core.start)..old + deletes);
            }
            old += usize::from(line.kind != LineKind::Insert);
        }
        core
    }
}

/// The required terminators of the old lines; none if all lines of the file have them anyway.
fn endings(hunk: &Hunk<'_>, lines: &Lines<'_>) -> Vec<Ending> {
    let exact = hunk.endings == LineEndings::Exact;
    if !exact && !hunk.old_lines().any(|line| line.crlf) {
        return Vec::new();
    }
    let endings: Vec<Ending> = hunk
        .old_lines()
        .map(|line| {
            // A marker fixes the line to the end of the file.
            let is_fixed = exact && !line.no_newline;
            if line.crlf {
                Ending::CrLf
            } else if is_fixed {
                Ending::Lf
            } else {
                Ending::Any
            }
        })
        .collect();
    let terminators = lines.terminators();
    let wants_lf = endings.contains(&Ending::Lf);
    let wants_crlf = endings.contains(&Ending::CrLf);
    let may_differ = (wants_lf && (terminators.crlf || !lines.ends_in_newline()))
        || (wants_crlf && (terminators.lf || !lines.ends_in_newline()));
    if may_differ { endings } else { Vec::new() }
}

impl Needle<'_> {
    /// Why a hunk that only inserts has no place, unless its line number may decide.
    pub(crate) fn no_anchor(&self, header: Option<(usize, String)>) -> RejectReason {
        let number =
            if self.inserts_below.is_some() { LineNumber::NotAsked } else { LineNumber::None };
        RejectReason::NoAnchor { header, number }
    }

    /// The reject of this hunk.
    pub(crate) fn reject(&self, reason: RejectReason) -> HunkReject {
        HunkReject { hunk: self.index, patch_line: self.hunk.line, reason }
    }

    /// Whether the hunk, placed at `start`, moves or deletes the byte-order mark: the hunk deletes
    /// the marked line, or comes from a diff and inserts lines above.
    pub(crate) fn takes_bom(&self, start: usize) -> bool {
        let first = self.body.iter().find(|line| line.kind != LineKind::Insert);
        let Some(line) = first.filter(|line| start == 0 && line.text.starts_with(BOM)) else {
            return false;
        };
        let inserts_above = self.body.first().is_some_and(|line| line.kind == LineKind::Insert);
        line.kind == LineKind::Delete || (self.hunk.endings.is_of_diff() && inserts_above)
    }
}
