//! Where a hunk may go because of its `@@` headers.
//!
//! The scope of a header begins at a line equal to it (the line itself included: it may be the
//! hunk's first context line) and ends before the next line that is indented no deeper and begins
//! with an ASCII letter, `_` or `$`. Stacked headers narrow in turn.
//!
//! These are the lines that git takes for the opener of a function, at any depth. Others, such as a
//! decorator `@deco(` or a line `été:`, do not end a scope: whoever copies git's header means all lines
//! up to git's next one, and a scope that ended earlier once hid the true place of a hunk while the
//! same lines stood inside it.

use std::ops::Range;
use std::rc::Rc;

use super::pass::{Pass, indentation};
use crate::lines::Lines;

/// The ends of scopes, for a whole file at once.
#[derive(Debug)]
pub(crate) struct ScopeEnds {
    ends: Vec<u32>,
}

impl ScopeEnds {
    /// Walks the file backwards and keeps the openers that no nearer one hides: they ascend in
    /// indentation, so the end of a line's scope is found by bisection.
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

    fn of(&self, line: u32) -> Range<u32> {
        line..self.ends[line as usize]
    }
}

fn is_opener(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$'))
}

/// Where the headers of a hunk let it begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The scopes, ascending and disjoint.
    pub(crate) inside: Rc<[Range<u32>]>,
    /// The lines where the innermost header stands.
    pub(crate) anchors: Vec<u32>,
}

/// Resolves stacked headers; `None` when one of them is nowhere in the file, or not within the
/// scope of the one before it.
pub(crate) fn resolve(
    headers: &[&str],
    passes: &[Pass],
    ends: &ScopeEnds,
    mut find: impl FnMut(&str, Pass) -> Vec<u32>,
) -> Option<Scope> {
    let mut scope = None::<Scope>;
    for header in headers {
        let mut anchors = Vec::new();
        for &pass in passes {
            anchors = find(header, pass);
            if let Some(outer) = &scope {
                anchors.retain(|&line| contains(&outer.inside, line));
            }
            if !anchors.is_empty() {
                break;
            }
        }
        if anchors.is_empty() {
            return None;
        }
        let mut inside: Vec<Range<u32>> = Vec::new();
        for &anchor in &anchors {
            let mut range = ends.of(anchor);
            if let Some(outer) = &scope {
                let within = outer.inside.iter().rfind(|outer| outer.start <= anchor);
                range.end = range.end.min(within.map_or(range.end, |outer| outer.end));
            }
            match inside.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => inside.push(range),
            }
        }
        scope = Some(Scope { inside: inside.into(), anchors });
    }
    scope
}

/// Whether `line` lies in one of `ranges`, which ascend.
pub(crate) fn contains(ranges: &[Range<u32>], line: u32) -> bool {
    let after = ranges.partition_point(|range| range.start <= line);
    after > 0 && line < ranges[after - 1].end
}

/// Drops the line numbers of a unified diff (`-1,2 +3,4 @@ text`) from a header; they name no line.
pub(crate) fn without_line_numbers(header: &str) -> &str {
    let numbers = |text: &str, sign: char| -> Option<usize> {
        let digits = text.strip_prefix(sign)?;
        let len = digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',').len();
        (len > 0).then_some(len + 1)
    };
    let Some(old) = numbers(header, '-') else { return header };
    let Some(rest) = header[old..].strip_prefix(' ') else { return header };
    let Some(new) = numbers(rest, '+') else { return header };
    match rest[new..].strip_prefix(" @@") {
        Some(rest) => rest.strip_prefix(' ').unwrap_or(rest),
        None => header,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "class A:\n    def f(self):\n        x = 1\n\n    # note\n    def g(self):\n        x = 1\n}\nclass B:\n    def f(self):\n        x = 1\n";

    /// The scopes, and the anchors.
    type Found = (Vec<(u32, u32)>, Vec<u32>);

    fn scope(headers: &[&str]) -> Option<Found> {
        let lines = Lines::new(FILE.as_bytes());
        let ends = ScopeEnds::new(&lines);
        let find = |header: &str, pass: Pass| {
            let same = |&index: &usize| pass.same(lines.content(index), header.as_bytes());
            (0..lines.len()).filter(same).map(|index| index as u32).collect()
        };
        let scope = resolve(headers, &Pass::ALL, &ends, find)?;
        Some((scope.inside.iter().map(|range| (range.start, range.end)).collect(), scope.anchors))
    }

    #[test]
    fn a_scope_ends_before_the_next_opener_that_is_no_deeper() {
        for (headers, wanted) in [
            (&["class A:"][..], Some((vec![(0, 8)], vec![0]))),
            (&["def f(self):"][..], Some((vec![(1, 5), (9, 11)], vec![1, 9]))),
            (&["class B:", "def f(self):"][..], Some((vec![(9, 11)], vec![9]))),
            (&["class A:", "def g(self):"][..], Some((vec![(5, 8)], vec![5]))),
            (&["class B:", "def g(self):"][..], None),
            (&["x = 1"][..], Some((vec![(2, 5), (6, 8), (10, 11)], vec![2, 6, 10]))),
            (&["nowhere"][..], None),
        ] {
            assert_eq!(scope(headers), wanted, "{headers:?}");
        }
    }

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
