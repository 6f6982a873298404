//! Finds every occurrence of many line sequences in one walk over the file.
//!
//! Only the lines of the patch get numbers; any other line of the file resets the search. The
//! automaton of Aho and Corasick runs over these numbers, in time linear in file and patch for
//! every input. Only the number of occurrences could still grow, so they are not listed:
//! [`Occurrences`] keeps one entry for each line where any sequence ends, ordered so that the
//! entries of each sequence are adjacent, and finds any occurrence in logarithmic time.

use std::collections::HashMap;
use std::ops::Range;

use super::interner::FOREIGN;

/// How many occurrences of one sequence are listed, in a refusal and wherever else they are.
pub(crate) const SATURATION: usize = 64;

const NONE: u32 = u32::MAX;

/// The automaton for a set of sequences of line numbers.
#[derive(Debug)]
pub(crate) struct Automaton {
    next: HashMap<u64, u32, foldhash::fast::RandomState>,
    nodes: Vec<AutomatonNode>,
    /// Which sequence each given one is the same as.
    same_as: Vec<u32>,
    lengths: Vec<u32>,
    /// The node where each sequence ends.
    ends: Vec<u32>,
    /// All nodes, by depth.
    by_depth: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct AutomatonNode {
    fail: u32,
    depth: u32,
    /// The sequence that ends here.
    ends: u32,
    /// The nearest node on the chain of failures where a sequence ends.
    output: u32,
}

impl Automaton {
    /// Builds the automaton; empty sequences never occur.
    pub(crate) fn new(sequences: &[Vec<u32>]) -> Self {
        let root = AutomatonNode { fail: 0, depth: 0, ends: NONE, output: NONE };
        let mut automaton = Self {
            next: HashMap::default(),
            nodes: vec![root],
            same_as: Vec::new(),
            lengths: Vec::new(),
            ends: Vec::new(),
            by_depth: vec![0],
        };
        let mut edges = Vec::new();
        for (index, sequence) in sequences.iter().enumerate() {
            let mut state = 0;
            for &id in sequence {
                let fresh = automaton.nodes.len() as u32;
                let depth = automaton.nodes[state as usize].depth + 1;
                let child = *automaton.next.entry(edge(state, id)).or_insert(fresh);
                if child == fresh {
                    automaton.nodes.push(AutomatonNode {
                        fail: 0,
                        depth,
                        ends: NONE,
                        output: NONE,
                    });
                    edges.push((depth, state, id, child));
                }
                state = child;
            }
            let ends = &mut automaton.nodes[state as usize].ends;
            if *ends == NONE && state != 0 {
                *ends = index as u32;
            }
            automaton.same_as.push(if state == 0 { index as u32 } else { *ends });
            automaton.lengths.push(sequence.len() as u32);
            automaton.ends.push(state);
        }
        // By depth: the failure of a node is known before the failures of its children.
        edges.sort_unstable_by_key(|&(depth, ..)| depth);
        for (_, parent, id, child) in edges {
            let fail = match parent {
                0 => 0,
                _ => automaton.step(automaton.nodes[parent as usize].fail, id),
            };
            let output = match automaton.nodes[fail as usize].ends {
                NONE => automaton.nodes[fail as usize].output,
                _ => fail,
            };
            let node = &mut automaton.nodes[child as usize];
            (node.fail, node.output) = (fail, output);
            automaton.by_depth.push(child);
        }
        automaton
    }

    /// The state after `id`.
    fn step(&self, mut state: u32, id: u32) -> u32 {
        if id == FOREIGN {
            return 0;
        }
        loop {
            if let Some(&next) = self.next.get(&edge(state, id)) {
                return next;
            }
            if state == 0 {
                return 0;
            }
            state = self.nodes[state as usize].fail;
        }
    }

    /// All occurrences of all sequences in `ids`.
    pub(crate) fn run(&self, ids: impl Iterator<Item = u32>) -> Occurrences {
        // A sequence ends at the node of its last line, and at all nodes that fail to this node,
        // directly or not. In preorder of the tree of failures, these nodes are one range.
        let mut size = vec![1; self.nodes.len()];
        for &node in self.by_depth[1..].iter().rev() {
            size[self.nodes[node as usize].fail as usize] += size[node as usize];
        }
        let mut order = vec![0; self.nodes.len()];
        let mut free = vec![1; self.nodes.len()];
        for &node in &self.by_depth[1..] {
            let place = &mut free[self.nodes[node as usize].fail as usize];
            order[node as usize] = *place;
            *place += size[node as usize];
            free[node as usize] = order[node as usize] + 1;
        }
        let mut found: Vec<(u32, u32)> = Vec::new();
        let mut state = 0;
        for (position, id) in ids.enumerate() {
            state = self.step(state, id);
            let node = &self.nodes[state as usize];
            if node.ends != NONE || node.output != NONE {
                found.push((order[state as usize], position as u32));
            }
        }
        // How many occurrences there are before each place in preorder.
        let mut before = vec![0_u32; self.nodes.len() + 1];
        for &(place, _) in &found {
            before[place as usize + 1] += 1;
        }
        for place in 1..before.len() {
            before[place] += before[place - 1];
        }
        let mut free = before.clone();
        let mut sorted = vec![0; found.len()];
        for &(place, position) in &found {
            let slot = &mut free[place as usize];
            sorted[*slot as usize] = position;
            *slot += 1;
        }
        let mut ranges = Vec::with_capacity(self.ends.len());
        for &node in &self.ends {
            ranges.push(match order[node as usize] {
                0 => 0..0,
                place => {
                    let end = place + size[node as usize];
                    before[place as usize] as usize..before[end as usize] as usize
                }
            });
        }
        Occurrences {
            same_as: self.same_as.clone(),
            lengths: self.lengths.clone(),
            ranges,
            ends: WaveletMatrix::new(sorted),
        }
    }

    /// Walks over a short stretch and reports every occurrence to `report`, by sequence and first
    /// line; equal sequences are reported once, as the first of them.
    pub(crate) fn run_each(&self, ids: &[u32], mut report: impl FnMut(usize, usize)) {
        let mut state = 0;
        for (position, &id) in ids.iter().enumerate() {
            state = self.step(state, id);
            let mut node = state;
            while node != NONE {
                let sequence = self.nodes[node as usize].ends;
                if sequence != NONE {
                    report(
                        sequence as usize,
                        position + 1 - self.lengths[sequence as usize] as usize,
                    );
                }
                node = self.nodes[node as usize].output;
            }
        }
    }

    /// The first sequence that is equal to the one at `index`.
    pub(crate) fn same_as(&self, index: usize) -> usize {
        self.same_as[index] as usize
    }
}

fn edge(state: u32, id: u32) -> u64 {
    u64::from(state) << 32 | u64::from(id)
}

/// Where each of some sequences occurs.
#[derive(Debug)]
pub(crate) struct Occurrences {
    /// Which sequence each is the same as.
    same_as: Vec<u32>,
    lengths: Vec<u32>,
    /// The occurrences of each sequence, as a range of `ends`.
    ranges: Vec<Range<usize>>,
    /// The last lines of occurrences.
    ends: WaveletMatrix,
}

impl Occurrences {
    /// The first sequence that is equal.
    pub(crate) fn same_as(&self, sequence: usize) -> usize {
        self.same_as[sequence] as usize
    }

    /// How many there are of a sequence.
    pub(crate) fn count(&self, sequence: usize) -> usize {
        self.ranges[sequence].len()
    }

    /// The first lines of the first `limit` ones, ascending.
    pub(crate) fn first(&self, sequence: usize, limit: usize) -> Vec<u32> {
        (0..self.count(sequence).min(limit)).map(|nth| self.nth(sequence, nth) as u32).collect()
    }

    /// The first one that begins in `from..`.
    pub(crate) fn next(&self, sequence: usize, from: usize) -> Option<usize> {
        let nth = self.before(sequence, from);
        (nth < self.count(sequence)).then(|| self.nth(sequence, nth))
    }

    /// The last one that begins in `..=until`.
    pub(crate) fn previous(&self, sequence: usize, until: usize) -> Option<usize> {
        self.before(sequence, until + 1).checked_sub(1).map(|nth| self.nth(sequence, nth))
    }

    fn nth(&self, sequence: usize, nth: usize) -> usize {
        self.ends.nth(self.ranges[sequence].clone(), nth) as usize + 1
            - self.lengths[sequence] as usize
    }

    /// How many begin before `start`.
    fn before(&self, sequence: usize, start: usize) -> usize {
        self.ends.below(self.ranges[sequence].clone(), start + self.lengths[sequence] as usize - 1)
    }
}

/// Numbers, of which any range can be queried as if sorted.
#[derive(Debug)]
struct WaveletMatrix {
    len: usize,
    /// One for each bit, from the highest on.
    levels: Vec<Level>,
}

/// One bit of each number; the numbers with a zero come first in the next level.
#[derive(Debug)]
struct Level {
    /// The bits, and how many ones there are before each word.
    words: Vec<(u64, u32)>,
    zeros: usize,
}

impl WaveletMatrix {
    fn new(mut numbers: Vec<u32>) -> Self {
        let bits = numbers.iter().max().map_or(0, |most| u32::BITS - most.leading_zeros());
        let mut levels = Vec::with_capacity(bits as usize);
        for bit in (0..bits).rev() {
            let mut words = Vec::with_capacity(numbers.len() / 64 + 1);
            let mut ones = 0;
            for chunk in numbers.chunks(64) {
                let word = chunk
                    .iter()
                    .rev()
                    .fold(0, |word, &number| word << 1 | u64::from(number >> bit & 1));
                words.push((word, ones));
                ones += word.count_ones();
            }
            words.push((0, ones));
            let (mut next, high): (Vec<u32>, Vec<u32>) =
                numbers.iter().partition(|&&number| number >> bit & 1 == 0);
            levels.push(Level { words, zeros: next.len() });
            next.extend(high);
            numbers = next;
        }
        Self { len: numbers.len(), levels }
    }

    /// The number that would have `nth` others before it if `range` were sorted.
    fn nth(&self, mut range: Range<usize>, mut nth: usize) -> u32 {
        debug_assert!(nth < range.len(), "there are as many");
        debug_assert!(range.end <= self.len, "there are as many");
        let mut number = 0;
        for level in &self.levels {
            let zeros = level.zeros(&range);
            number <<= 1;
            if nth < zeros.len() {
                range = zeros;
            } else {
                nth -= zeros.len();
                range = level.ones(&range, &zeros);
                number |= 1;
            }
        }
        number
    }

    /// How many numbers of `range` are below `limit`.
    fn below(&self, mut range: Range<usize>, limit: usize) -> usize {
        let bits = self.levels.len();
        if limit >> bits > 0 {
            return range.len();
        }
        let mut below = 0;
        for (level, bit) in self.levels.iter().zip((0..bits).rev()) {
            let zeros = level.zeros(&range);
            if limit >> bit & 1 == 1 {
                below += zeros.len();
                range = level.ones(&range, &zeros);
            } else {
                range = zeros;
            }
        }
        below
    }
}

impl Level {
    /// The range in the next level of the numbers of `range` with a zero.
    fn zeros(&self, range: &Range<usize>) -> Range<usize> {
        self.zeros_before(range.start)..self.zeros_before(range.end)
    }

    /// How many of the first `len` numbers have a zero.
    fn zeros_before(&self, len: usize) -> usize {
        let (word, ones) = self.words[len / 64];
        len - ones as usize - (word & ((1 << (len % 64)) - 1)).count_ones() as usize
    }

    /// The same for a one; `zeros` is what [`Self::zeros`] says.
    fn ones(&self, range: &Range<usize>, zeros: &Range<usize>) -> Range<usize> {
        self.zeros + range.start - zeros.start..self.zeros + range.end - zeros.end
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use testutils::holds::holds;

    fn naive(sequence: &[u32], ids: &[u32]) -> Vec<u32> {
        if sequence.is_empty() {
            return Vec::new();
        }
        (0..ids.len())
            .filter(|&start| ids[start..].starts_with(sequence))
            .map(|start| start as u32)
            .collect()
    }

    #[test]
    fn finds_what_a_naive_search_finds() {
        let letters = 1..=3_u32;
        let texts = letters
            .prop_flat_map(|letters| (vec(0..letters, 0..40), vec(vec(0..letters, 0..6), 1..=6)));
        holds(4000, &texts, |(ids, sequences)| {
            let automaton = Automaton::new(&sequences);
            let found = automaton.run(ids.iter().copied());
            let mut each = vec![Vec::new(); sequences.len()];
            automaton.run_each(&ids, |sequence, start| each[sequence].push(start as u32));
            for (index, sequence) in sequences.iter().enumerate() {
                let wanted = naive(sequence, &ids);
                assert_eq!(found.count(index), wanted.len());
                assert_eq!(found.first(index, usize::MAX), wanted);
                assert_eq!(each[automaton.same_as(index)], wanted);
                if sequence.is_empty() {
                    continue;
                }
                assert_eq!(
                    Some(found.same_as(index)),
                    sequences.iter().position(|other| other == sequence)
                );
                for from in 0..=ids.len() {
                    let next = wanted
                        .iter()
                        .find(|&&start| start as usize >= from)
                        .map(|&start| start as usize);
                    let previous = wanted
                        .iter()
                        .rfind(|&&start| start as usize <= from)
                        .map(|&start| start as usize);
                    assert_eq!(found.next(index, from), next, "from {from}");
                    assert_eq!(found.previous(index, from), previous, "until {from}");
                }
            }
        });
    }

    #[test]
    fn a_range_of_a_wavelet_matrix_is_as_good_as_sorted() {
        for len in [0, 1, 63, 64, 65, 128, 200] {
            for most in [1_u32, 2, 100, 70_000] {
                let range = (0..=len, any::<Index>());
                holds(
                    40,
                    &(vec(0..most, len), range, 0..2 * most),
                    |(numbers, (start, end), limit)| {
                        let range = start..start + end.index(len + 1 - start);
                        let matrix = WaveletMatrix::new(numbers.clone());
                        let mut sorted = numbers[range.clone()].to_vec();
                        sorted.sort_unstable();
                        for (nth, &number) in sorted.iter().enumerate() {
                            assert_eq!(matrix.nth(range.clone(), nth), number);
                        }
                        let below = sorted.iter().filter(|&&number| number < limit).count();
                        assert_eq!(matrix.below(range, limit as usize), below);
                    },
                );
            }
        }
    }
}
