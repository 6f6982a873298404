//! Where a hunk may go because of its `@@` headers.
//!
//! The scope of a header begins at a line equal to it (the line itself included: it may be the
//! hunk's first context line) and ends before the next line that is indented no deeper and begins
//! with an ASCII letter, `_` or `$`. Stacked headers narrow in turn.
//!
//! Git takes such lines, at any depth, for the opener of a function. Other lines, such as a
//! decorator `@deco(` or a line `été:`, do not end a scope: a header copied from git means all
//! lines up to git's next header, and a scope that ended earlier once hid the true place of a hunk
//! while the same lines stood inside.

use std::ops::Range;

use super::pass::indentation;
use crate::text::lines::Lines;

/// The ends of scopes, for a whole file at once.
#[derive(Debug)]
pub(crate) struct ScopeEnds {
    ends: Vec<u32>,
}

impl ScopeEnds {
    /// Walks the file backwards and keeps the openers that no nearer opener hides. Their
    /// indentation ascends, so a bisection finds the end of a scope.
    pub(crate) fn new(lines: &Lines<'_>) -> Self {
        let mut ends = vec![0; lines.len()];
        let mut openers: Vec<(usize, u32)> = Vec::new();
        for index in (0..lines.len()).rev() {
            let line = lines.content(index);
            let indent = indentation(line);
            let nearest = openers.partition_point(|&(other, _)| other <= indent);
            ends[index] = match nearest {
                0 => lines.len() as u32,
                _ => openers[nearest - 1].1,
            };
            if is_opener(&line[indent..]) {
                openers.truncate(openers.partition_point(|&(other, _)| other < indent));
                openers.push((indent, index as u32));
            }
        }
        Self { ends }
    }

    /// The scope that begins at `line`.
    pub(crate) fn of(&self, line: u32) -> Range<u32> {
        line..self.ends[line as usize]
    }
}

fn is_opener(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$'))
}

/// Lines that are all inside a scope, or all outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The lines; inside, one scope or several overlapping ones.
    pub(crate) lines: Range<u32>,
    /// Whether the scope has them.
    pub(crate) inside: bool,
}

/// The lines that a header names, and the scopes that begin there.
///
/// Overlapping scopes are one, and the overlap depends on the beginning of the outer scope, which
/// may leave out a scope that joined two others. So there is one union for every first anchor. The
/// unions share their data: each anchor knows only the end of its own union, and the next anchor
/// below.
#[derive(Debug)]
pub(crate) struct Anchors {
    /// The lines, and one more beyond every file.
    lines: Vec<u32>,
    ends: Vec<u32>,
    next: Vec<u32>,
    /// An anchor further along the chain of `next`, at a distance that lets any other one be found
    /// in logarithmic time (Myers, "An applicative random-access stack").
    jump: Vec<u32>,
}

impl Anchors {
    /// `lines` ascend.
    pub(crate) fn new(mut lines: Vec<u32>, scope_ends: &ScopeEnds) -> Self {
        let len = lines.len();
        lines.push(u32::MAX);
        let mut ends = vec![u32::MAX; len + 1];
        let mut next = vec![len as u32; len + 1];
        let mut jump = next.clone();
        let mut depths = vec![0_u32; len + 1];
        for anchor in (0..len).rev() {
            let mut end = scope_ends.of(lines[anchor]).end;
            let mut other = anchor + 1;
            while lines[other] < end {
                end = end.max(ends[other]);
                other = next[other] as usize;
            }
            (ends[anchor], next[anchor], depths[anchor]) = (end, other as u32, depths[other] + 1);
            let near = jump[other] as usize;
            let far = jump[near] as usize;
            let even = depths[other] - depths[near] == depths[near] - depths[far];
            jump[anchor] = if even { far } else { other } as u32;
        }
        Self { lines, ends, next, jump }
    }

    /// The first line of these in `from..`.
    pub(crate) fn next(&self, from: u32) -> Option<u32> {
        self.lines[..self.lines.len() - 1].get(self.below(from)).copied()
    }

    /// The last line of these in `..=until`.
    pub(crate) fn previous(&self, until: u32) -> Option<u32> {
        self.below(until.saturating_add(1)).checked_sub(1).map(|anchor| self.lines[anchor])
    }

    /// How many of the lines are below `line`.
    fn below(&self, line: u32) -> usize {
        self.lines.partition_point(|&other| other < line)
    }

    /// The stretch around `line` of the scopes that begin within `outer`, which has the line.
    pub(crate) fn stretch(&self, outer: &Range<u32>, line: u32) -> Stretch {
        let mut anchor = self.below(outer.start);
        if self.lines[anchor] > line {
            return Stretch {
                lines: outer.start..outer.end.min(self.lines[anchor]),
                inside: false,
            };
        }
        loop {
            let next = self.next[anchor] as usize;
            let jump = self.jump[anchor] as usize;
            if self.lines[jump] <= line {
                anchor = jump;
            } else if self.lines[next] <= line {
                anchor = next;
            } else {
                break;
            }
        }
        let end = outer.end.min(self.ends[anchor]);
        if line < end {
            return Stretch { lines: self.lines[anchor]..end, inside: true };
        }
        Stretch { lines: end..outer.end.min(self.lines[self.next[anchor] as usize]), inside: false }
    }
}

/// Drops the line numbers of a unified diff (`-1,2 +3,4 @@ text`) from a header; they name no line.
pub(crate) fn without_line_numbers(header: &str) -> &str {
    text_after_line_numbers(header).unwrap_or(header)
}

fn text_after_line_numbers(header: &str) -> Option<&str> {
    let rest = after_range(header, '-')?.strip_prefix(' ')?;
    let rest = after_range(rest, '+')?.strip_prefix(" @@")?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// Strips a sign and the numbers after it.
fn after_range(text: &str, sign: char) -> Option<&str> {
    let digits = text.strip_prefix(sign)?;
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
    (rest.len() < digits.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_of_unified_diffs_are_no_header() {
        for (header, rest) in [
            ("-1,2 +3,4 @@ fn f() {", "fn f() {"),
            ("-1 +1 @@", ""),
            ("-1,2 +3,4", "-1,2 +3,4"),
            ("- +1 @@", "- +1 @@"),
            ("fn f()", "fn f()"),
        ] {
            assert_eq!(without_line_numbers(header), rest);
        }
    }
}
