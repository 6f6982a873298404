//! Which lines of two files are matched in every minimal alignment of the two.
//!
//! An alignment matches equal lines in ascending order; it is minimal when none matches more. It is a path through a grid
//! that has the lines of the base along one side and those of the current file along the other, from corner to corner. A
//! step along a side is a line without a match, and costs 1; a diagonal step is a match, and costs nothing. Minimal
//! alignments are cheapest paths.
//!
//! Where two paths cross, they share a point, since a square has only one diagonal; and from there on they can change
//! places at no cost. So among the cheapest paths there is an outermost one on either side, and all others run between
//! these two. A match that both outermost paths have is in every minimal alignment; a match that one of them lacks is
//! not. Two paths are enough, and the answer is exact.
//!
//! The costs are those of the greedy algorithm of Myers (1986): for each cost and diagonal, the furthest point that is
//! reached. Costs never fall along a diagonal, so the furthest points tell the cost of every other, and the outermost
//! paths are found by going back from the end. No line is indexed or hashed: what is equal is compared in
//! blocks, and lines are looked for where the paths come to them. The time is that of comparing the files, and the
//! square of the number of lines without a match.

use std::ops::Range;

/// How many points are computed at most: enough for nearly 2900 lines without a match. Each takes 16 bytes.
const MAX_POINTS: usize = 1 << 22;

/// How often the files may be compared, altogether. It takes files that repeat themselves to do so more than once.
const MAX_PASSES: usize = 8;

/// Bytes that may be compared besides, so that small files always are.
const FREE_BYTES: usize = 64 << 20;

/// Lines that stand one after the other in both files, and are matched in every minimal alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// The lines of the base.
    pub(super) lines: Range<usize>,
    /// The same as bytes.
    pub(super) bytes: Range<usize>,
    /// The line of the current file where the run begins.
    pub(super) current_line: usize,
    /// The byte of the current file where the run begins.
    pub(super) current_byte: usize,
}

impl Run {
    /// Where in the current file a byte of the run is. The end of the run belongs to it.
    pub(super) fn current(&self, byte: usize) -> usize {
        self.current_byte + (byte - self.bytes.start)
    }

    fn diagonal(&self) -> isize {
        self.lines.start as isize - self.current_line as isize
    }
}

/// The runs of lines that are matched in every minimal alignment, in file order; `None` when the files differ too much
/// to find out.
pub(super) fn certain(base: &[u8], current: &[u8]) -> Option<Vec<Run>> {
    let waves = Waves::new(base, current)?;
    let [mut left, mut right] =
        [Side::Base, Side::Current].map(|side| waves.outermost(side).into_iter().rev().peekable());
    let mut runs: Vec<Run> = Vec::new();
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let end = one.lines.end.min(other.lines.end);
        if one.diagonal() == other.diagonal() {
            let later = if one.lines.start < other.lines.start { other } else { one };
            let ends_first = if one.lines.end == end { one } else { other };
            if later.lines.start < end {
                runs.push(Run {
                    lines: later.lines.start..end,
                    bytes: later.bytes.start..ends_first.bytes.end,
                    ..*later
                });
            }
        }
        let (one_ends, other_ends) = (one.lines.end == end, other.lines.end == end);
        if one_ends {
            left.next();
        }
        if other_ends {
            right.next();
        }
    }
    Some(runs)
}

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Base,
    Current,
}

/// A point of the grid: so many lines of the base are behind it, and so many bytes of either file. Its diagonal gives
/// the lines of the current file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    line: u32,
    base: u32,
    current: u32,
}

/// What is reached on one diagonal at one cost: the point after the last step that costs, and the line to which the
/// matches go from there.
#[derive(Debug, Clone, Copy)]
struct Reach {
    start: Point,
    end: u32,
}

impl Reach {
    /// Nothing is reached, or nothing that a cheapest path could come from.
    const NONE: Self = Self { start: Point { line: 1, base: 0, current: 0 }, end: 0 };

    fn is_some(&self) -> bool {
        self.start.line <= self.end
    }
}

/// The furthest points for each cost, up to the cost of the end.
struct Waves<'f> {
    base: &'f [u8],
    current: &'f [u8],
    /// For cost 0, 1, 2, …: the diagonals from `-cost` to `cost`, every second one.
    reached: Vec<Reach>,
    cost: usize,
    end: Point,
    diagonal: isize,
}

impl<'f> Waves<'f> {
    fn new(base: &'f [u8], current: &'f [u8]) -> Option<Self> {
        let fits = |file: &[u8]| u32::try_from(file.len()).is_ok();
        if !fits(base) || !fits(current) {
            return None;
        }
        let mut waves = Self {
            base,
            current,
            reached: Vec::new(),
            cost: 0,
            end: Point { line: 0, base: 0, current: 0 },
            diagonal: 0,
        };
        let mut left = MAX_PASSES * (base.len() + current.len()) + FREE_BYTES;
        let (mut last, mut front): (Vec<Option<Point>>, Vec<Option<Point>>) = (Vec::new(), Vec::new());
        for cost in 0.. {
            if waves.reached.len() + cost + 1 > MAX_POINTS {
                return None;
            }
            std::mem::swap(&mut last, &mut front);
            front.clear();
            for nth in 0..=cost {
                let start = match cost {
                    0 => Some((Point { line: 0, base: 0, current: 0 }, 0)),
                    _ => waves.start(nth.checked_sub(1).and_then(|nth| last[nth]), last.get(nth).copied().flatten()),
                };
                let Some((start, searched)) = start else {
                    waves.reached.push(Reach::NONE);
                    front.push(None);
                    continue;
                };
                let (end, compared) = waves.follow(start);
                left = left.checked_sub(searched + compared)?;
                waves.reached.push(Reach { start, end: end.line });
                front.push(Some(end));
                if end.base as usize == base.len() && end.current as usize == current.len() {
                    (waves.cost, waves.end, waves.diagonal) = (cost, end, diagonal(cost, nth));
                    return Some(waves);
                }
            }
        }
        unreachable!("the end is reached at last")
    }

    /// The further of the two points that one step leads to: past a line of the base from `below`, past a line of the
    /// current file from `above`. With it, how many bytes that line has.
    ///
    /// A point from which no step is left is on an edge of the grid, where the points behind it lead nowhere at a
    /// lower cost.
    #[inline]
    fn start(&self, below: Option<Point>, above: Option<Point>) -> Option<(Point, usize)> {
        let below = below.filter(|point| (point.base as usize) < self.base.len());
        let above = above.filter(|point| (point.current as usize) < self.current.len());
        match (below, above) {
            (Some(below), above) if above.is_none_or(|above| above.line <= below.line) => {
                let len = first_line(&self.base[below.base as usize..]);
                Some((Point { line: below.line + 1, base: below.base + len as u32, ..below }, len))
            }
            (_, Some(above)) => {
                let len = first_line(&self.current[above.current as usize..]);
                Some((Point { current: above.current + len as u32, ..above }, len))
            }
            _ => None,
        }
    }

    /// The last of the points that matches lead to, and how many bytes were compared.
    #[inline]
    fn follow(&self, from: Point) -> (Point, usize) {
        let (base, current) = (&self.base[from.base as usize..], &self.current[from.current as usize..]);
        let same = common(base, current);
        let whole = same == base.len() && same == current.len();
        let len = if whole { same } else { memchr::memrchr(b'\n', &base[..same]).map_or(0, |at| at + 1) };
        if len == 0 {
            return (from, same);
        }
        let lines = memchr::memchr_iter(b'\n', &base[..len]).count() + usize::from(!base[..len].ends_with(b"\n"));
        let to =
            Point { line: from.line + lines as u32, base: from.base + len as u32, current: from.current + len as u32 };
        (to, same)
    }

    /// What is reached at `cost` on a diagonal.
    fn reach(&self, cost: usize, diagonal: isize) -> Option<&Reach> {
        let nth = usize::try_from(diagonal + cost as isize).ok()? / 2;
        let reach = (nth <= cost).then(|| &self.reached[cost * (cost + 1) / 2 + nth])?;
        reach.is_some().then_some(reach)
    }

    /// The matches of an outermost cheapest path, from the last to the first. Seen from the end, it leaves out lines of
    /// that side as early as it can.
    fn outermost(&self, side: Side) -> Vec<Run> {
        let (mut at, mut diagonal, mut cost) = (self.end, self.diagonal, self.cost);
        let mut runs = Vec::new();
        loop {
            let reach = self.reach(cost, diagonal).expect("the path was reached");
            if at.line > reach.start.line {
                // Whatever leads to these points leads through the first of them.
                add(&mut runs, diagonal, reach.start, at);
                at = reach.start;
            }
            let Some(before) = cost.checked_sub(1) else { return runs };
            let reached = |diagonal, line| self.reach(before, diagonal).is_some_and(|reach| line <= reach.end);
            let past_base = at.base > 0 && reached(diagonal - 1, at.line - 1);
            let past_current = at.current > 0 && reached(diagonal + 1, at.line);
            let (chosen, other) = match side {
                Side::Base => (past_base, past_current),
                Side::Current => (past_current, past_base),
            };
            if !chosen
                && let Some(len) = equal_last_line(&self.base[..at.base as usize], &self.current[..at.current as usize])
            {
                let above = Point { line: at.line - 1, base: at.base - len as u32, current: at.current - len as u32 };
                add(&mut runs, diagonal, above, at);
                at = above;
                continue;
            }
            assert!(chosen || other, "BUG: no step leads to line {} on diagonal {diagonal}", at.line);
            if chosen == (side == Side::Base) {
                at = Point { line: at.line - 1, base: line_start(self.base, at.base), ..at };
                diagonal -= 1;
            } else {
                at = Point { current: line_start(self.current, at.current), ..at };
                diagonal += 1;
            }
            cost = before;
        }
    }
}

/// The diagonal with that number, of those that are reached at a cost.
fn diagonal(cost: usize, nth: usize) -> isize {
    2 * nth as isize - cost as isize
}

/// Puts matches before those that were found already.
fn add(runs: &mut Vec<Run>, diagonal: isize, from: Point, to: Point) {
    let (line, byte) = (from.line as usize, from.base as usize);
    let (current_line, current_byte) = ((line as isize - diagonal) as usize, from.current as usize);
    match runs.last_mut() {
        Some(run) if run.lines.start == to.line as usize && run.diagonal() == diagonal => {
            (run.lines.start, run.bytes.start, run.current_line, run.current_byte) =
                (line, byte, current_line, current_byte);
        }
        _ => {
            runs.push(Run { lines: line..to.line as usize, bytes: byte..to.base as usize, current_line, current_byte })
        }
    }
}

/// How many bytes the first line of a text has.
fn first_line(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1)
}

/// The beginning of the line that ends at byte `to`.
fn line_start(file: &[u8], to: u32) -> u32 {
    memchr::memrchr(b'\n', &file[..to as usize - 1]).map_or(0, |at| at + 1) as u32
}

/// How many bytes the last line has, if both texts end in the same one. The longer line is not searched to its beginning:
/// it may be asked for often.
fn equal_last_line(one: &[u8], other: &[u8]) -> Option<usize> {
    let mut window = 64;
    loop {
        let len = |text: &[u8]| {
            let before_last = text.len().checked_sub(1)?;
            let tail = &text[text.len().saturating_sub(window)..before_last];
            match memchr::memrchr(b'\n', tail) {
                Some(at) => Some(tail.len() - at),
                None => (text.len() <= window).then_some(text.len()),
            }
        };
        match (len(one), len(other)) {
            (Some(len), Some(same)) => {
                return (len == same && one[one.len() - len..] == other[other.len() - len..]).then_some(len);
            }
            (None, None) if !one.is_empty() && !other.is_empty() => window *= 4,
            _ => return None,
        }
    }
}

/// How many bytes two texts have in common at their beginnings.
#[inline]
fn common(one: &[u8], other: &[u8]) -> usize {
    /// Whole blocks are compared at first with a few instructions, and with a call when they are worth it.
    const LARGEST: usize = 4096;
    let len = one.len().min(other.len());
    let (one, other) = (&one[..len], &other[..len]);
    let mut at = 0;
    for (left, right) in one.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0).take(8) {
        let differ = u64::from_le_bytes(*left) ^ u64::from_le_bytes(*right);
        if differ != 0 {
            return at + differ.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let mut block = 64;
    while at < len {
        let end = (at + block).min(len);
        if one[at..end] != other[at..end] {
            return at + first_difference(&one[at..end], &other[at..end]);
        }
        at = end;
        block = (block * 2).min(LARGEST);
    }
    at
}

/// The first byte in which two texts of one length differ.
fn first_difference(one: &[u8], other: &[u8]) -> usize {
    let (mut first, mut last) = (0, one.len());
    while last - first > 8 {
        let middle = first + (last - first) / 2;
        if one[first..middle] == other[first..middle] { first = middle } else { last = middle }
    }
    first + one[first..last].iter().zip(&other[first..last]).take_while(|(left, right)| left == right).count()
}
