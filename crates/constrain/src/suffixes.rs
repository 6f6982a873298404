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

/// The length in lines of the longest end of the file that stands elsewhere, too.
///
/// Such an end is the beginning of the next suffix in the order. Kasai's method finds the length
/// that two neighbours share: from the suffix of one line to the suffix of the next line, it
/// shrinks by one at most.
pub(crate) fn repeated_end(ids: &[u32], order: &[u32]) -> usize {
    let mut rank = vec![0; ids.len()];
    order.iter().zip(0..).for_each(|(&start, at)| rank[start as usize] = at);
    let mut shared = 0_usize;
    let mut longest = 0;
    for start in 0..ids.len() {
        let Some(&next) = order.get(rank[start] as usize + 1) else {
            shared = 0;
            continue;
        };
        let own = &ids[start..];
        let other = &ids[next as usize..];
        shared += own[shared..].iter().zip(&other[shared..]).take_while(|(a, b)| a == b).count();
        if shared == own.len() {
            longest = longest.max(shared);
        }
        shared = shared.saturating_sub(1);
    }
    longest
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
}
