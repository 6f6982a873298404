//! A suffix array over the numbers of lines.

/// Sorts the suffixes of `ids`; a suffix stands before a longer one that begins with it.
///
/// Prefix doubling with counting sort: the beginnings of all suffixes are sorted by ever more
/// lines, until they all differ. (Ids are smaller than the length.)
pub(crate) fn sorted(ids: &[u32]) -> Vec<u32> {
    let len = ids.len();
    let mut order: Vec<u32> = (0..len as u32).collect();
    let mut rank: Vec<u32> = ids.to_vec();
    let mut next = vec![0; len];
    order = by_rank(&order, &rank);
    let mut classes = rerank(&order, &mut next, |at| rank[at as usize]);
    std::mem::swap(&mut rank, &mut next);
    let mut width = 1;
    while classes < len {
        // By the second half: suffixes without one come first, the others in the present order.
        let short = (len.saturating_sub(width) as u32..len as u32).rev();
        let long = order.iter().filter_map(|&at| at.checked_sub(width as u32));
        let second: Vec<u32> = short.chain(long).collect();
        order = by_rank(&second, &rank);
        classes = rerank(&order, &mut next, |at| {
            let second = rank.get(at as usize + width).map_or(0, |rank| rank + 1);
            (rank[at as usize], second)
        });
        std::mem::swap(&mut rank, &mut next);
        width *= 2;
    }
    order
}

/// Sorts by rank, and keeps the order of equal ranks.
fn by_rank(order: &[u32], rank: &[u32]) -> Vec<u32> {
    let mut starts = vec![0_u32; rank.len() + 1];
    rank.iter().for_each(|&rank| starts[rank as usize + 1] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut sorted = vec![0; order.len()];
    for &at in order {
        let slot = &mut starts[rank[at as usize] as usize];
        sorted[*slot as usize] = at;
        *slot += 1;
    }
    sorted
}

/// Ranks suffixes that are sorted by their keys; equal keys have one rank. Returns the number of
/// ranks.
fn rerank<K: PartialEq>(order: &[u32], rank: &mut [u32], key: impl Fn(u32) -> K) -> usize {
    let mut class = 0;
    for pair in order.windows(2) {
        rank[pair[0] as usize] = class;
        class += u32::from(key(pair[0]) != key(pair[1]));
    }
    if let Some(&last) = order.last() {
        rank[last as usize] = class;
    }
    class as usize + usize::from(!order.is_empty())
}

/// Calls `each` for each line but that of the last suffix in the order, from the first on: with
/// the number of lines that its suffix shares with the next suffix in the order, and that one.
///
/// Kasai's method: from the suffix of one line to the suffix of the next line, that number shrinks
/// by one at most.
fn each_shared(ids: &[u32], order: &[u32], mut each: impl FnMut(usize, usize, usize)) {
    let mut rank = vec![0; ids.len()];
    order.iter().zip(0..).for_each(|(&start, at)| rank[start as usize] = at);
    let mut shared = 0_usize;
    for start in 0..ids.len() {
        let Some(&next) = order.get(rank[start] as usize + 1) else {
            shared = 0;
            continue;
        };
        let own = &ids[start..];
        let other = &ids[next as usize..];
        shared += own[shared..].iter().zip(&other[shared..]).take_while(|(a, b)| a == b).count();
        each(start, shared, next as usize);
        shared = shared.saturating_sub(1);
    }
}

/// The length in lines of the longest end of the file that stands elsewhere, too: the beginning of
/// the next suffix in the order.
pub(crate) fn repeated_end(ids: &[u32], order: &[u32]) -> usize {
    let mut longest = 0;
    each_shared(ids, order, |start, shared, _| {
        if start + shared == ids.len() {
            longest = longest.max(shared);
        }
    });
    longest
}

/// Returns, for each line, the end of the shortest block from this line on that stands nowhere else;
/// a number beyond the last line if every block from this line on stands somewhere else too.
///
/// The ends ascend: a unique block stays unique with a line more.
pub(crate) fn shortest_unique(ids: &[u32], order: &[u32]) -> Vec<u32> {
    // First the most lines that the suffix of each line shares with a neighbour in the order.
    let mut ends = vec![0; ids.len()];
    each_shared(ids, order, |start, shared, next| {
        for line in [start, next] {
            ends[line] = ends[line].max(shared as u32);
        }
    });
    ends.iter_mut().zip(0..).for_each(|(end, line)| *end += line + 1);
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_as_a_plain_sort_does() {
        let mut random = fastrand::Rng::with_seed(2);
        for round in 0..2_000 {
            let len = random.usize(..30);
            let letters = random.u32(1..4).min(len.max(1) as u32);
            let ids: Vec<u32> = (0..len).map(|_| random.u32(..letters)).collect();
            let mut plain: Vec<u32> = (0..len as u32).collect();
            plain.sort_by_key(|&at| &ids[at as usize..]);
            assert_eq!(sorted(&ids), plain, "{round}: {ids:?}");
        }
    }

    #[test]
    fn the_end_that_repeats_is_the_longest() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..2_000 {
            let len = random.usize(..12);
            let ids: Vec<u32> = (0..len).map(|_| random.u32(..2).min(len as u32 - 1)).collect();
            let plain = (1..len)
                .filter(|&size| {
                    ids.windows(size).filter(|other| *other == &ids[len - size..]).count() > 1
                })
                .max()
                .unwrap_or(0);
            assert_eq!(repeated_end(&ids, &sorted(&ids)), plain, "{ids:?}");
        }
    }

    /// The same, by comparing every block with every other.
    fn slowly(ids: &[u32]) -> Vec<u32> {
        let count = |block: &[u32]| ids.windows(block.len()).filter(|it| *it == block).count();
        let end = |from: usize| (from + 1..=ids.len()).find(|&to| count(&ids[from..to]) == 1);
        (0..ids.len()).map(|from| end(from).unwrap_or(ids.len() + 1) as u32).collect()
    }

    #[test]
    fn finds_the_shortest_block_that_stands_once() {
        for (ids, ends) in [
            (&[][..], &[][..]),
            (&[0], &[1]),
            (&[0, 0], &[2, 3]),
            (&[0, 1], &[1, 2]),
            (&[0, 1, 0, 1], &[3, 3, 5, 5]),
            (&[0, 1, 0, 2], &[2, 2, 4, 4]),
        ] {
            assert_eq!(shortest_unique(ids, &sorted(ids)), ends, "{ids:?}");
        }
    }

    #[test]
    fn the_shortest_block_is_what_comparing_all_blocks_gives() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..1_000 {
            let len = random.usize(..40);
            let letters = random.u32(1..5).min(len.max(1) as u32);
            let ids: Vec<u32> = (0..len).map(|_| random.u32(..letters)).collect();
            let ends = shortest_unique(&ids, &sorted(&ids));
            assert_eq!(ends, slowly(&ids), "{ids:?}");
            assert!(ends.is_sorted(), "{ids:?}");
        }
    }
}
