//! Finds every occurrence of many line sequences in one walk over the file.
//!
//! Only the lines of the patch get numbers; a line of the file that is none of them resets the
//! search. Over these numbers runs the automaton of Aho and Corasick, so the time is linear in
//! file and patch for every input. What could still grow is the number of occurrences: each
//! sequence is counted up to [`SATURATION`] and then taken out of the automaton's output chains.
//! A caller that needs an occurrence beyond asks [`Search::next`] or [`Search::previous`].

use std::collections::HashMap;

use super::numbers::FOREIGN;

/// How many occurrences of one sequence are listed.
pub(crate) const SATURATION: usize = 64;

const NONE: u32 = u32::MAX;

/// Occurrences of one sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Occurrences {
    /// The first lines of the first [`SATURATION`] occurrences, ascending.
    pub(crate) starts: Vec<u32>,
    /// Whether there may be more.
    pub(crate) more: bool,
}

/// The automaton for a set of sequences of line numbers.
#[derive(Debug)]
pub(crate) struct Automaton {
    next: HashMap<u64, u32, foldhash::fast::RandomState>,
    nodes: Vec<Node>,
    /// Which sequence each given one is the same as.
    same_as: Vec<u32>,
    lengths: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
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
        let root = Node { fail: 0, depth: 0, ends: NONE, output: NONE };
        let mut automaton =
            Self { next: HashMap::default(), nodes: vec![root], same_as: Vec::new(), lengths: Vec::new() };
        let mut edges = Vec::new();
        for (index, sequence) in sequences.iter().enumerate() {
            let mut state = 0;
            for &id in sequence {
                let fresh = automaton.nodes.len() as u32;
                let depth = automaton.nodes[state as usize].depth + 1;
                let child = *automaton.next.entry(edge(state, id)).or_insert(fresh);
                if child == fresh {
                    automaton.nodes.push(Node { fail: 0, depth, ends: NONE, output: NONE });
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
        }
        // By depth, so that the failure of a node is known before those of its children.
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

    /// Walks over `ids` and reports the occurrences of each sequence, in the order they were given.
    pub(crate) fn run(&self, ids: impl Iterator<Item = u32>) -> Vec<Occurrences> {
        let mut found = vec![Occurrences::default(); self.lengths.len()];
        // The next node on the output chain whose sequence is not saturated.
        let mut chain: Vec<u32> = self.nodes.iter().map(|node| node.output).collect();
        let mut state = 0;
        for (position, id) in ids.enumerate() {
            state = self.step(state, id);
            let mut record = |node: u32| {
                let sequence = self.nodes[node as usize].ends as usize;
                let occurrences = &mut found[sequence];
                if occurrences.starts.len() == SATURATION {
                    occurrences.more = true;
                } else {
                    occurrences.starts.push(position as u32 + 1 - self.lengths[sequence]);
                }
                occurrences.more
            };
            if self.nodes[state as usize].ends != NONE {
                record(state);
            }
            let mut previous = state;
            let mut node = chain[state as usize];
            while node != NONE {
                if record(node) {
                    chain[previous as usize] = chain[node as usize];
                } else {
                    previous = node;
                }
                node = chain[node as usize];
            }
        }
        (0..found.len()).map(|index| found[self.same_as[index] as usize].clone()).collect()
    }

    /// Walks over a short stretch and reports every occurrence as (sequence, first line) through
    /// `report`; sequences that are the same are reported once, by the first of them.
    pub(crate) fn run_each(&self, ids: &[u32], mut report: impl FnMut(usize, usize)) {
        let mut state = 0;
        for (position, &id) in ids.iter().enumerate() {
            state = self.step(state, id);
            let mut node = state;
            while node != NONE {
                let sequence = self.nodes[node as usize].ends;
                if sequence != NONE {
                    report(sequence as usize, position + 1 - self.lengths[sequence as usize] as usize);
                }
                node = self.nodes[node as usize].output;
            }
        }
    }

    /// The sequence that `index` is the same as.
    pub(crate) fn same_as(&self, index: usize) -> usize {
        self.same_as[index] as usize
    }
}

fn edge(state: u32, id: u32) -> u64 {
    u64::from(state) << 32 | u64::from(id)
}

/// Finds occurrences of one sequence one at a time, forwards or backwards (Knuth, Morris, Pratt).
#[derive(Debug)]
pub(crate) struct Search {
    sequence: Vec<u32>,
    forward: Vec<u32>,
    backward: Vec<u32>,
}

impl Search {
    /// `sequence` must not be empty.
    pub(crate) fn new(sequence: &[u32]) -> Self {
        let reversed: Vec<u32> = sequence.iter().rev().copied().collect();
        Self { forward: borders(sequence), backward: borders(&reversed), sequence: sequence.to_vec() }
    }

    /// The first occurrence that begins in `from..`, and ends within `ids`.
    pub(crate) fn next(&self, ids: &[u32], from: usize) -> Option<usize> {
        let len = self.sequence.len();
        let mut matched = 0;
        for (position, &id) in ids.iter().enumerate().skip(from) {
            while matched > 0 && self.sequence[matched] != id {
                matched = self.forward[matched - 1] as usize;
            }
            if self.sequence[matched] == id {
                matched += 1;
            }
            if matched == len {
                return Some(position + 1 - len);
            }
        }
        None
    }

    /// The last occurrence that begins in `..=until`.
    pub(crate) fn previous(&self, ids: &[u32], until: usize) -> Option<usize> {
        let len = self.sequence.len();
        let mut matched = 0;
        for position in (0..ids.len().min(until + len)).rev() {
            while matched > 0 && self.sequence[len - 1 - matched] != ids[position] {
                matched = self.backward[matched - 1] as usize;
            }
            if self.sequence[len - 1 - matched] == ids[position] {
                matched += 1;
            }
            if matched == len {
                return Some(position);
            }
        }
        None
    }
}

fn borders(sequence: &[u32]) -> Vec<u32> {
    let mut borders = vec![0; sequence.len()];
    let mut matched = 0;
    for index in 1..sequence.len() {
        while matched > 0 && sequence[index] != sequence[matched] {
            matched = borders[matched - 1] as usize;
        }
        if sequence[index] == sequence[matched] {
            matched += 1;
        }
        borders[index] = matched as u32;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(sequence: &[u32], ids: &[u32]) -> Vec<u32> {
        if sequence.is_empty() {
            return Vec::new();
        }
        (0..ids.len()).filter(|&start| ids[start..].starts_with(sequence)).map(|start| start as u32).collect()
    }

    /// A small generator, so that a failure can be repeated from its seed.
    fn random(seed: &mut u64, below: u32) -> u32 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*seed >> 33) as u32) % below
    }

    #[test]
    fn finds_what_a_naive_search_finds() {
        let mut seed = 7;
        for round in 0..4000 {
            let letters = 1 + random(&mut seed, 3);
            let ids: Vec<u32> = (0..random(&mut seed, 40)).map(|_| random(&mut seed, letters)).collect();
            let sequences: Vec<Vec<u32>> = (0..1 + random(&mut seed, 6))
                .map(|_| (0..random(&mut seed, 6)).map(|_| random(&mut seed, letters)).collect())
                .collect();
            let automaton = Automaton::new(&sequences);
            let found = automaton.run(ids.iter().copied());
            let mut each = vec![Vec::new(); sequences.len()];
            automaton.run_each(&ids, |sequence, start| each[sequence].push(start as u32));
            for (index, sequence) in sequences.iter().enumerate() {
                let wanted = naive(sequence, &ids);
                assert_eq!(found[index].starts, wanted, "round {round}");
                assert_eq!(each[automaton.same_as(index)], wanted, "round {round}");
                if sequence.is_empty() {
                    continue;
                }
                let search = Search::new(sequence);
                for from in 0..=ids.len() {
                    let next = wanted.iter().find(|&&start| start as usize >= from).map(|&start| start as usize);
                    let previous = wanted.iter().rfind(|&&start| start as usize <= from).map(|&start| start as usize);
                    assert_eq!(search.next(&ids, from), next, "round {round} from {from}");
                    assert_eq!(search.previous(&ids, from), previous, "round {round} until {from}");
                }
            }
        }
    }

    #[test]
    fn counts_up_to_the_saturation_and_says_that_there_is_more() {
        let sequences: Vec<Vec<u32>> = (1..50).map(|len| vec![0; len]).collect();
        let found = Automaton::new(&sequences).run(std::iter::repeat_n(0, 1000));
        for occurrences in found {
            assert_eq!(occurrences.starts, (0..SATURATION as u32).collect::<Vec<_>>());
            assert!(occurrences.more);
        }
    }
}
