//! The shortest unique blocks of lines in a file, by a suffix automaton.

/// Returns, for each line of a file, as numbers, the end of the shortest block from this line on
/// that stands nowhere else; `None` if every block from this line on stands somewhere else too.
///
/// The ends ascend: a unique block stays unique with a line more. Time and memory are linear. The
/// automaton reads the lines from the last to the first, so that blocks with a line as their
/// beginning are blocks with this line as their end. (Blumer et al., "The smallest automaton
/// recognizing the subwords of a text".)
pub(super) fn shortest_unique(lines: &[u32]) -> Vec<Option<usize>> {
    let mut automaton = SuffixAutomaton::new(lines);
    let states: Vec<u32> = lines.iter().rev().map(|&line| automaton.push(line)).collect();
    let mut shared = vec![false; automaton.states.len()];
    for state in &automaton.states[1..] {
        shared[state.link as usize] = true;
    }
    let mut ends = Vec::with_capacity(lines.len());
    for (line, &state) in states.iter().rev().enumerate() {
        let link = automaton.states[state as usize].link;
        let shortest = automaton.states[link as usize].len as usize + 1;
        ends.push((!shared[state as usize]).then_some(line + shortest));
    }
    ends
}

/// A set of blocks that end at the same places.
#[derive(Debug, Clone)]
struct SuffixState {
    /// The length of the longest of them.
    len: u32,
    /// The state of the longest block that ends at more places.
    link: u32,
    /// Where each next line leads, by the line.
    next: Vec<(u32, u32)>,
}

/// The state of the empty block.
const ROOT: u32 = 0;

/// A link that leads nowhere.
const NONE: u32 = u32::MAX;

/// The suffix automaton of the lines pushed so far.
struct SuffixAutomaton {
    states: Vec<SuffixState>,
    /// The next states of the root by line: the root has more of them than other states.
    first: Vec<u32>,
    last: u32,
}

impl SuffixAutomaton {
    fn new(lines: &[u32]) -> Self {
        let numbers = lines.iter().max().map_or(0, |&max| max as usize + 1);
        let root = SuffixState { len: 0, link: NONE, next: Vec::new() };
        let mut states = Vec::with_capacity(2 * lines.len() + 1);
        states.push(root);
        Self { states, first: vec![NONE; numbers], last: ROOT }
    }

    fn next(&self, state: u32, line: u32) -> Option<u32> {
        if state == ROOT {
            let next = self.first[line as usize];
            return (next != NONE).then_some(next);
        }
        let next = &self.states[state as usize].next;
        next.binary_search_by_key(&line, |&(line, _)| line).ok().map(|nth| next[nth].1)
    }

    fn set_next(&mut self, state: u32, line: u32, to: u32) {
        if state == ROOT {
            self.first[line as usize] = to;
            return;
        }
        let next = &mut self.states[state as usize].next;
        match next.binary_search_by_key(&line, |&(line, _)| line) {
            Ok(nth) => next[nth].1 = to,
            Err(nth) => next.insert(nth, (line, to)),
        }
    }

    fn add(&mut self, state: SuffixState) -> u32 {
        self.states.push(state);
        u32::try_from(self.states.len() - 1).expect("a file has fewer than 2^31 lines")
    }

    /// Adds a line, and returns the state of all lines so far.
    fn push(&mut self, line: u32) -> u32 {
        let len = self.states[self.last as usize].len + 1;
        let new = self.add(SuffixState { len, link: ROOT, next: Vec::new() });
        let mut state = self.last;
        let known = loop {
            if state == NONE {
                break None;
            }
            if let Some(next) = self.next(state, line) {
                break Some(next);
            }
            self.set_next(state, line, new);
            state = self.states[state as usize].link;
        };
        if let Some(next) = known {
            self.states[new as usize].link = self.split(state, line, next);
        }
        self.last = new;
        new
    }

    /// Returns the state of the longest block of `state` with `line` after, split from the longer
    /// ones in `next`.
    fn split(&mut self, mut state: u32, line: u32, next: u32) -> u32 {
        let len = self.states[state as usize].len + 1;
        if self.states[next as usize].len == len {
            return next;
        }
        let clone = self.add(SuffixState { len, ..self.states[next as usize].clone() });
        while state != NONE && self.next(state, line) == Some(next) {
            self.set_next(state, line, clone);
            state = self.states[state as usize].link;
        }
        self.states[next as usize].link = clone;
        clone
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, by comparing every block with every other.
    fn slowly(lines: &[u32]) -> Vec<Option<usize>> {
        let count = |block: &[u32]| lines.windows(block.len()).filter(|it| *it == block).count();
        (0..lines.len())
            .map(|from| (from + 1..=lines.len()).find(|&to| count(&lines[from..to]) == 1))
            .collect()
    }

    #[test]
    fn finds_the_shortest_block_that_stands_once() {
        for (lines, ends) in [
            (&[][..], &[][..]),
            (&[0], &[Some(1)]),
            (&[0, 0], &[Some(2), None]),
            (&[0, 1], &[Some(1), Some(2)]),
            (&[0, 1, 0, 1], &[Some(3), Some(3), None, None]),
            (&[0, 1, 0, 2], &[Some(2), Some(2), Some(4), Some(4)]),
        ] {
            assert_eq!(shortest_unique(lines), ends, "{lines:?}");
        }
    }

    proptest! {
        #[test]
        fn is_what_comparing_all_blocks_gives(lines in prop::collection::vec(0_u32..4, 0..40)) {
            prop_assert_eq!(shortest_unique(&lines), slowly(&lines));
        }

        #[test]
        fn the_ends_ascend(lines in prop::collection::vec(0_u32..3, 0..60)) {
            let ends: Vec<usize> = shortest_unique(&lines).into_iter().flatten().collect();
            prop_assert!(ends.is_sorted());
        }
    }
}
