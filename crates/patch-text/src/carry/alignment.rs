//! Which lines of two files are matched in every minimal alignment of the two.
//!
//! An alignment matches equal lines in ascending order, and is minimal when none matches more. Draw
//! a grid with the lines of the base along one side and the lines of the current file along the
//! other: an alignment is a path from corner to corner. A step along a side is a line without a
//! match, and costs 1; a diagonal step is a match, and costs nothing. Minimal alignments are
//! cheapest paths.
//!
//! Two paths that cross share a point, since a square has only one diagonal, and can swap their
//! remainders there at no cost. So among the cheapest paths there is an outermost one on either
//! side, and all others run between these two. A match is in every minimal alignment exactly when
//! both outermost paths have it. Two paths are enough, and the answer is exact.
//!
//! The search is the greedy algorithm of Myers (1986): for each cost and diagonal, find the
//! furthest point. Costs never fall along a diagonal, so the furthest points give the cost of every
//! other point, and a walk back from the end finds the outermost paths. Equal text is compared in
//! blocks, and line ends are looked for only where a path arrives.
//!
//! The time is that of comparing the files, plus the square of the number of lines without a match.
//! Large files with many changes are cut first (see `pieces`), at places where enough unique lines
//! prove that the answer stays the same.

use std::collections::HashMap;
use std::ops::Range;

use crate::text::lines::split;

/// The most lines without a match on a path: a second and a half of work for one core.
const MAX_COST: isize = 8192;

/// How often the files may be compared altogether. Only repetitive files are compared more than
/// once.
const MAX_PASSES: usize = 8;

/// A free budget of bytes on top, so small files are always compared in full.
const FREE_BYTES: usize = 1 << 30;

/// Consecutive lines of both files that every minimal alignment matches.
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
    /// Returns the place of a byte of the run in the current file. The end of the run counts as a
    /// part of the run.
    pub(super) fn current(&self, byte: usize) -> usize {
        self.current_byte + (byte - self.bytes.start)
    }

    fn diagonal(&self) -> isize {
        self.lines.start as isize - self.current_line as isize
    }

    /// Returns the part of the run between two lines of the base.
    fn within(self, from: Point, to: Point) -> Option<Self> {
        let lines = self.lines.start.max(from.line as usize)..self.lines.end.min(to.line as usize);
        let bytes = self.bytes.start.max(from.base as usize)..self.bytes.end.min(to.base as usize);
        (!lines.is_empty()).then(|| Self {
            current_line: (lines.start as isize - self.diagonal()) as usize,
            current_byte: self.current(bytes.start),
            lines,
            bytes,
        })
    }
}

/// Returns the runs of lines that every minimal alignment matches, in file order; `None` when the
/// files differ too much to find out.
pub(super) fn certain(base: &[u8], current: &[u8]) -> Option<Vec<Run>> {
    /// A smaller cost is not worth a cut.
    const WORTH_CUTTING: isize = 256;
    certain_in_pieces(base, current, WORTH_CUTTING, KEPT)
}

/// Returns the same; files are cut where some path costs at least `worth_cutting`, and about `kept`
/// points are kept at a time.
pub(super) fn certain_in_pieces(
    base: &[u8],
    current: &[u8],
    worth_cutting: isize,
    kept: usize,
) -> Option<Vec<Run>> {
    // Bytes are counted in 32 bits.
    u32::try_from(base.len().max(current.len())).ok()?;
    let files = AlignedFiles { base, current };
    let mut left = MAX_PASSES * (base.len() + current.len()) + FREE_BYTES;
    let snakes = files.rough_path(&mut left)?;
    let mut runs: Vec<Run> = Vec::new();
    for piece in files.pieces(&snakes, worth_cutting) {
        let first = &snakes[piece.snakes.start];
        let last = &snakes[piece.snakes.end - 1];
        let bound =
            AlignedBound { cost: last.cost - first.cost, diagonal: last.diagonal - first.diagonal };
        let part = AlignedFiles {
            base: &base[first.from.base as usize..last.to.base as usize],
            current: &current[first.from.current as usize..last.to.current as usize],
        };
        let line = first.from.line as usize;
        let byte = first.from.base as usize;
        let current_line = (line as isize - first.diagonal) as usize;
        let current_byte = first.from.current as usize;
        for run in Waves::new(part, bound, kept, &mut left)?.common_runs() {
            let run = Run {
                lines: run.lines.start + line..run.lines.end + line,
                bytes: run.bytes.start + byte..run.bytes.end + byte,
                current_line: run.current_line + current_line,
                current_byte: run.current_byte + current_byte,
            };
            let Some(run) = run.within(piece.from, piece.to) else { continue };
            match runs.last_mut() {
                Some(last)
                    if last.lines.end == run.lines.start && last.diagonal() == run.diagonal() =>
                {
                    last.lines.end = run.lines.end;
                    last.bytes.end = run.bytes.end;
                }
                _ => runs.push(run),
            }
        }
    }
    Some(runs)
}

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AlignedSide {
    Base,
    Current,
}

/// A point of the grid: so many lines of the base are behind it, and so many bytes of either file.
/// Its diagonal gives the lines of the current file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    line: u32,
    base: u32,
    current: u32,
}

const START: Point = Point { line: 0, base: 0, current: 0 };

/// The matches that end at the furthest point of one diagonal and one cost: the point after the
/// last paid step, and the line that the matches reach from there.
#[derive(Debug, Clone, Copy)]
struct AlignedReach {
    start: Point,
    end: u32,
}

impl AlignedReach {
    /// No point is reached, or none on a cheapest path.
    const NONE: Self = Self { start: Point { line: 1, base: 0, current: 0 }, end: 0 };

    fn is_some(&self) -> bool {
        self.start.line <= self.end
    }
}

/// The two files.
#[derive(Debug, Clone, Copy)]
struct AlignedFiles<'f> {
    base: &'f [u8],
    current: &'f [u8],
}

impl AlignedFiles<'_> {
    fn is_end(&self, point: Point) -> bool {
        point.base as usize == self.base.len() && point.current as usize == self.current.len()
    }

    /// Takes one step: past a line of the base from `below`, or past a line of the current file
    /// from `above`. Returns the further of the two points, and the length of the passed line in
    /// bytes.
    ///
    /// A point without a step is on an edge of the grid, and the points behind it lead nowhere at a
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

    /// Follows matches to their last point. Returns the point and the number of compared bytes.
    #[inline]
    fn follow(&self, from: Point) -> (Point, usize) {
        let base = &self.base[from.base as usize..];
        let current = &self.current[from.current as usize..];
        if let Some(same) = unequal_first_lines(base, current) {
            return (from, same);
        }
        let same = common(base, current);
        let whole = same == base.len() && same == current.len();
        let len =
            if whole { same } else { memchr::memrchr(b'\n', &base[..same]).map_or(0, |at| at + 1) };
        let lines = memchr::memchr_iter(b'\n', &base[..len]).count()
            + usize::from(whole && len > 0 && !base.ends_with(b"\n"));
        let passed = len as u32;
        let to = Point {
            line: from.line + lines as u32,
            base: from.base + passed,
            current: from.current + passed,
        };
        (to, same)
    }

    /// Finds some path, perhaps not a cheapest one: as soon as enough lines match, the search
    /// starts anew from there. Returns `None` when the path costs too much.
    ///
    /// Returns only the longer rows of matches, and the rows at both ends of the files, which may
    /// be empty.
    fn rough_path(&self, left: &mut usize) -> Option<Vec<Snake>> {
        /// So many lines are unlikely to match by accident.
        const ENOUGH: u32 = 16;
        let mut last = Snake { from: START, to: self.follow(START).0, diagonal: 0, cost: 0 };
        let mut snakes = vec![last];
        'on: while !self.is_end(last.to) {
            let mut front = Front { lowest: 0, points: vec![Some(last.to)] };
            for cost in 1.. {
                let mut next =
                    Front { lowest: -cost, points: Vec::with_capacity(cost as usize + 1) };
                for diagonal in (-cost..=cost).step_by(2) {
                    let Some((start, passed)) = front.next(*self, diagonal) else {
                        next.points.push(None);
                        continue;
                    };
                    let (end, compared) = self.follow(start);
                    *left = left.checked_sub(passed + compared)?;
                    if self.is_end(end) || end.line - start.line >= ENOUGH {
                        last = Snake {
                            from: start,
                            to: end,
                            diagonal: last.diagonal + diagonal,
                            cost: last.cost + cost,
                        };
                        snakes.push(last);
                        continue 'on;
                    }
                    next.points.push(Some(end));
                }
                if last.cost + cost > MAX_COST {
                    return None;
                }
                front = next;
            }
        }
        Some(snakes)
    }

    /// Cuts the files along a rough path, so that a match is certain in its piece exactly when it
    /// is certain in the whole.
    ///
    /// A *unique pair* is a match of the rough path whose line occurs once in the base and once in
    /// the current file, within the reach of any path as cheap as the rough one. A path without the
    /// pair leaves both lines without a match, and pays 2. So a cheapest path lacks at most half as
    /// many unique pairs as the rough path costs, and among more unique pairs than this cost, any
    /// two cheapest paths share one.
    ///
    /// A cut is between two stretches of the rough path with so many unique pairs each. Both
    /// stretches belong to both pieces. So a cheapest path of the whole and a cheapest path of a
    /// piece meet above and below the part taken from the piece: in the stretch above its first cut
    /// and in the stretch below its last. Between these points both are equally cheap, and either
    /// could take the way of the other. So a match in this part is missing from a cheapest path of
    /// the whole exactly when it is missing from a cheapest path of the piece.
    fn pieces(&self, snakes: &[Snake], worth_cutting: isize) -> Vec<Piece> {
        /// More pieces take less time themselves, but more time to cut.
        const PIECES: isize = 8;
        let end = snakes[snakes.len() - 1];
        let mut pieces = Vec::new();
        let mut first = 0;
        let mut from = START;
        let mut nth = 0;
        while nth < snakes.len() && end.cost >= worth_cutting {
            if snakes[nth].cost - snakes[first].cost < end.cost / PIECES {
                nth += 1;
                continue;
            }
            // Every second line at least has to be unique.
            let least = 2 * end.cost;
            let Some(middle) = stretch_end(snakes, nth, least) else { break };
            let Some(last) = stretch_end(snakes, middle, least) else { break };
            if self.can_be_cut(&snakes[nth..last], middle - nth, end.cost as usize) {
                let to = snakes[middle - 1].to;
                pieces.push(Piece { snakes: first..last, from, to });
                first = nth;
                from = to;
            }
            nth = middle;
        }
        pieces.push(Piece { snakes: first..snakes.len(), from, to: end.to });
        pieces
    }

    /// Returns whether there are more than `cost` unique pairs among the first `middle` snakes, and
    /// among the others.
    fn can_be_cut(&self, snakes: &[Snake], middle: usize, cost: usize) -> bool {
        let first = snakes[0].from;
        let last = snakes[snakes.len() - 1].to;
        let mut counts: HashMap<&[u8], [u32; 2], foldhash::fast::RandomState> = HashMap::default();
        for (nth, (file, from, to)) in
            [(self.base, first.base, last.base), (self.current, first.current, last.current)]
                .into_iter()
                .enumerate()
        {
            // The lines of two paths of this cost are at most as many lines apart.
            let from = memchr::memrchr_iter(b'\n', &file[..from as usize])
                .nth(cost)
                .map_or(0, |feed| feed + 1);
            let to = memchr::memchr_iter(b'\n', &file[to as usize..])
                .nth(cost)
                .map_or(file.len(), |feed| to as usize + feed + 1);
            for line in split(&file[from..to]) {
                counts.entry(line).or_default()[nth] += 1;
            }
        }
        let (above, below) = snakes.split_at(middle);
        [above, below].iter().all(|snakes| {
            let matches = snakes.iter().flat_map(|snake| {
                split(&self.base[snake.from.base as usize..snake.to.base as usize])
            });
            matches.filter(|line| counts.get(line) == Some(&[1, 1])).count() > cost
        })
    }
}

/// Returns the end of the shortest stretch of snakes from `first` on with more than `least` lines.
fn stretch_end(snakes: &[Snake], first: usize, least: isize) -> Option<usize> {
    let mut lines = 0;
    for (nth, snake) in snakes.iter().enumerate().skip(first) {
        lines += snake.to.line as isize - snake.from.line as isize;
        if lines > least {
            return Some(nth + 1);
        }
    }
    None
}

/// A row of matches of the rough path, and the cost of the path up to there.
#[derive(Debug, Clone, Copy)]
struct Snake {
    from: Point,
    to: Point,
    diagonal: isize,
    cost: isize,
}

/// A part of the files, aligned on its own.
#[derive(Debug)]
struct Piece {
    /// The snakes from which the piece is cut, from the beginning of the first to the end of the
    /// last.
    snakes: Range<usize>,
    /// The line of the base from which the answer of the piece counts.
    from: Point,
    /// The line up to which the answer counts.
    to: Point,
}

/// The furthest points of one cost, on every second diagonal from the lowest on.
#[derive(Debug, Clone, Default)]
struct Front {
    lowest: isize,
    points: Vec<Option<Point>>,
}

impl Front {
    fn get(&self, diagonal: isize) -> Option<Point> {
        let nth = usize::try_from(diagonal - self.lowest).ok()? / 2;
        self.points.get(nth).copied().flatten()
    }

    /// Returns the point where the next cost begins on a diagonal, and how many bytes the passed
    /// line has.
    #[inline]
    fn next(&self, files: AlignedFiles<'_>, diagonal: isize) -> Option<(Point, usize)> {
        files.start(self.get(diagonal - 1), self.get(diagonal + 1))
    }
}

/// The cost of one path, and the diagonal of its end.
#[derive(Debug, Clone, Copy)]
struct AlignedBound {
    cost: isize,
    diagonal: isize,
}

/// How many points of [`Waves`] are kept at a time, about: 16 MiB.
const KEPT: usize = 1 << 20;

/// The furthest points of some consecutive costs.
#[derive(Debug)]
struct AlignedBlock {
    /// The first of the costs.
    first: usize,
    /// The points of the cost before.
    before: Front,
    /// For each cost the lowest diagonal, and where its points begin.
    waves: Vec<(isize, usize)>,
    reached: Vec<AlignedReach>,
}

impl AlignedBlock {
    fn new(first: usize, before: Front) -> Self {
        Self { first, before, waves: Vec::new(), reached: Vec::new() }
    }

    /// Returns the reach of a diagonal at a cost of the block.
    fn reach(&self, cost: usize, diagonal: isize) -> Option<&AlignedReach> {
        let nth = cost - self.first;
        let (lowest, first) = self.waves[nth];
        let end = self.waves.get(nth + 1).map_or(self.reached.len(), |wave| wave.1);
        let nth = usize::try_from(diagonal - lowest).ok()? / 2;
        self.reached[first..end].get(nth).filter(|reach| reach.is_some())
    }

    /// Returns whether a line is reached on a diagonal at the cost before one of the block.
    fn is_reached_before(&self, cost: usize, diagonal: isize, line: u32) -> bool {
        let end = if cost == self.first {
            self.before.get(diagonal).map(|point| point.line)
        } else {
            self.reach(cost - 1, diagonal).map(|reach| reach.end)
        };
        end.is_some_and(|end| line <= end)
    }
}

/// The furthest points for each cost, up to the cost of the end.
///
/// Only the last block is kept. When a path comes back to an earlier block, the block is made again
/// from the points of the cost before: so memory does not grow with the square of the cost.
struct Waves<'f> {
    files: AlignedFiles<'f>,
    bound: AlignedBound,
    /// The first cost of each earlier block, and the points of the cost before.
    earlier: Vec<(usize, Front)>,
    block: AlignedBlock,
    end: Point,
    diagonal: isize,
}

impl<'f> Waves<'f> {
    /// Some path must have the cost of `bound`. A block ends at the cost where it holds `kept`
    /// points.
    fn new(
        files: AlignedFiles<'f>,
        bound: AlignedBound,
        kept: usize,
        left: &mut usize,
    ) -> Option<Self> {
        let block = AlignedBlock::new(0, Front::default());
        let mut waves = Self { files, bound, earlier: Vec::new(), block, end: START, diagonal: 0 };
        let mut last = Front::default();
        let mut front = Front::default();
        for cost in 0..=bound.cost {
            if waves.block.reached.len() >= kept {
                let full = std::mem::replace(
                    &mut waves.block,
                    AlignedBlock::new(cost as usize, last.clone()),
                );
                waves.earlier.push((full.first, full.before));
            }
            if let Some((end, diagonal)) = waves.next(cost, &last, &mut front, left)? {
                waves.end = end;
                waves.diagonal = diagonal;
                return Some(waves);
            }
            std::mem::swap(&mut last, &mut front);
        }
        unreachable!("BUG: no path is as cheap as one that was found")
    }

    /// Adds the next cost to the block, and returns the end with its diagonal as soon as it is
    /// reached. Returns `None` when there is too much to compare.
    fn next(
        &mut self,
        cost: isize,
        last: &Front,
        front: &mut Front,
        left: &mut usize,
    ) -> Option<Option<(Point, isize)>> {
        // From any other diagonal the end is too far away.
        let near = self.bound.cost - cost;
        front.points.clear();
        front.lowest = (-cost).max(self.bound.diagonal - near);
        let highest = cost.min(self.bound.diagonal + near);
        self.block.waves.push((front.lowest, self.block.reached.len()));
        for diagonal in (front.lowest..=highest).step_by(2) {
            let start = if cost == 0 { Some((START, 0)) } else { last.next(self.files, diagonal) };
            let Some((start, passed)) = start else {
                self.block.reached.push(AlignedReach::NONE);
                front.points.push(None);
                continue;
            };
            let (end, compared) = self.files.follow(start);
            *left = left.checked_sub(passed + compared)?;
            self.block.reached.push(AlignedReach { start, end: end.line });
            front.points.push(Some(end));
            if self.files.is_end(end) {
                return Some(Some((end, diagonal)));
            }
        }
        Some(None)
    }

    /// Makes the block before the kept one again, if there is one.
    fn go_back(&mut self) -> bool {
        let Some((first, before)) = self.earlier.pop() else { return false };
        let mut last = before.clone();
        let mut front = Front::default();
        let later = std::mem::replace(&mut self.block, AlignedBlock::new(first, before)).first;
        for cost in first..later {
            // These lines were compared before, so they do not count again.
            let end = self.next(cost as isize, &last, &mut front, &mut usize::MAX.clone());
            assert_eq!(end, Some(None), "BUG: the end is not in the last block");
            std::mem::swap(&mut last, &mut front);
        }
        true
    }

    /// Returns the matches that both outermost cheapest paths have.
    fn common_runs(mut self) -> Vec<Run> {
        let cost = self.block.first + self.block.waves.len() - 1;
        let mut paths = [AlignedSide::Base, AlignedSide::Current].map(|side| Path {
            side,
            at: self.end,
            diagonal: self.diagonal,
            cost: Some(cost),
            runs: Vec::new(),
        });
        loop {
            paths.iter_mut().for_each(|path| path.follow(self.files, &self.block));
            if !self.go_back() {
                break;
            }
        }
        let [mut left, mut right] = paths.map(|path| path.runs.into_iter().rev().peekable());
        let mut runs = Vec::new();
        while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
            let end = one.lines.end.min(other.lines.end);
            if one.diagonal() == other.diagonal() {
                let later = if one.lines.start < other.lines.start { other } else { one };
                let earlier_end = one.bytes.end.min(other.bytes.end);
                if later.lines.start < end {
                    runs.push(Run {
                        lines: later.lines.start..end,
                        bytes: later.bytes.start..earlier_end,
                        ..*later
                    });
                }
            }
            left.next_if(|one| one.lines.end == end);
            right.next_if(|other| other.lines.end == end);
        }
        runs
    }
}

/// An outermost cheapest path, walked back from its end: on the way back, it steps past lines of
/// its side as early as possible.
struct Path {
    side: AlignedSide,
    at: Point,
    diagonal: isize,
    /// The cost up to here; `None` when the whole path is found.
    cost: Option<usize>,
    /// Its matches, from the last to the first.
    runs: Vec<Run>,
}

impl Path {
    /// Goes back through a block.
    fn follow(&mut self, AlignedFiles { base, current }: AlignedFiles<'_>, block: &AlignedBlock) {
        while let Some(cost) = self.cost.filter(|cost| *cost >= block.first) {
            let at = self.at;
            let diagonal = self.diagonal;
            let reach = block.reach(cost, diagonal).expect("the path was reached");
            if at.line > reach.start.line {
                // All ways to these points lead through the first of them.
                self.back_to(reach.start);
                continue;
            }
            let Some(before) = cost.checked_sub(1) else {
                self.cost = None;
                return;
            };
            let past_base = at.base > 0 && block.is_reached_before(cost, diagonal - 1, at.line - 1);
            let past_current =
                at.current > 0 && block.is_reached_before(cost, diagonal + 1, at.line);
            let (chosen, other) = match self.side {
                AlignedSide::Base => (past_base, past_current),
                AlignedSide::Current => (past_current, past_base),
            };
            if !chosen
                && let Some(len) =
                    equal_last_line(&base[..at.base as usize], &current[..at.current as usize])
            {
                let len = len as u32;
                self.back_to(Point {
                    line: at.line - 1,
                    base: at.base - len,
                    current: at.current - len,
                });
                continue;
            }
            assert!(
                chosen || other,
                "BUG: no step leads to line {} on diagonal {diagonal}",
                at.line
            );
            if chosen == (self.side == AlignedSide::Base) {
                self.at = Point { line: at.line - 1, base: line_start(base, at.base), ..at };
                self.diagonal -= 1;
            } else {
                self.at = Point { current: line_start(current, at.current), ..at };
                self.diagonal += 1;
            }
            self.cost = Some(before);
        }
    }

    /// Goes back to a point of this diagonal, along matches above the ones found so far.
    fn back_to(&mut self, from: Point) {
        let to = std::mem::replace(&mut self.at, from);
        let mut run = Run {
            lines: from.line as usize..to.line as usize,
            bytes: from.base as usize..to.base as usize,
            current_line: (from.line as isize - self.diagonal) as usize,
            current_byte: from.current as usize,
        };
        if let Some(next) = self
            .runs
            .pop_if(|next| next.lines.start == run.lines.end && next.diagonal() == self.diagonal)
        {
            run.lines.end = next.lines.end;
            run.bytes.end = next.bytes.end;
        }
        self.runs.push(run);
    }
}

/// Returns the length in bytes of the first line of a text.
fn first_line(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1)
}

/// Returns the beginning of the line that ends at byte `to`.
fn line_start(file: &[u8], to: u32) -> u32 {
    memchr::memrchr(b'\n', &file[..to as usize - 1]).map_or(0, |at| at + 1) as u32
}

/// Returns the length in bytes of the last line, if both texts end in the same one. The search
/// never runs to the beginning of a longer line, which may be asked about often.
fn equal_last_line(one: &[u8], other: &[u8]) -> Option<usize> {
    let mut window = 64;
    loop {
        match (last_line_within(one, window), last_line_within(other, window)) {
            (Some(len), Some(same)) => {
                return (len == same && one[one.len() - len..] == other[other.len() - len..])
                    .then_some(len);
            }
            (None, None) if !one.is_empty() && !other.is_empty() => window *= 4,
            _ => return None,
        }
    }
}

/// Returns the length in bytes of the last line of a text, up to `window`.
fn last_line_within(text: &[u8], window: usize) -> Option<usize> {
    let before_last = text.len().checked_sub(1)?;
    let tail = &text[text.len().saturating_sub(window)..before_last];
    match memchr::memrchr(b'\n', tail) {
        Some(at) => Some(tail.len() - at),
        None => (text.len() <= window).then_some(text.len()),
    }
}

/// Counts the leading bytes that two texts share, when these are few and have no line feed: by far
/// the most frequent case, in a few instructions.
#[inline]
fn unequal_first_lines(one: &[u8], other: &[u8]) -> Option<usize> {
    const FEEDS: u64 = u64::from_ne_bytes([b'\n'; 8]);
    let words = one.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0);
    for (nth, (one, other)) in words.take(8).enumerate() {
        let word = u64::from_le_bytes(*one);
        let differ = word ^ u64::from_le_bytes(*other);
        // The lowest set bit belongs to the first line feed; higher bits may be set for other
        // bytes.
        let no_feed = word ^ FEEDS;
        let feeds = no_feed.wrapping_sub(0x0101_0101_0101_0101) & !no_feed & 0x8080_8080_8080_8080;
        let same = differ.trailing_zeros() / 8;
        if feeds.trailing_zeros() / 8 < same {
            return None;
        }
        if differ != 0 {
            return Some(8 * nth + same as usize);
        }
    }
    None
}

/// Counts the leading bytes that two texts share.
fn common(one: &[u8], other: &[u8]) -> usize {
    /// A whole block is compared with one call; smaller ones at first, since most texts soon
    /// differ.
    const LARGEST: usize = 4096;
    let len = one.len().min(other.len());
    let mut at = 0;
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

/// Returns the first byte in which two texts of one length differ.
fn first_difference(one: &[u8], other: &[u8]) -> usize {
    let mut first = 0;
    let mut last = one.len();
    while last - first > 8 {
        let middle = first + (last - first) / 2;
        if one[first..middle] == other[first..middle] { first = middle } else { last = middle }
    }
    first
        + one[first..last]
            .iter()
            .zip(&other[first..last])
            .take_while(|(left, right)| left == right)
            .count()
}

/// Returns into how many pieces two files are cut.
#[cfg(test)]
pub(super) fn pieces(base: &[u8], current: &[u8], worth_cutting: isize) -> usize {
    let files = AlignedFiles { base, current };
    let snakes = files.rough_path(&mut usize::MAX.clone()).expect("they are small");
    files.pieces(&snakes, worth_cutting).len()
}
