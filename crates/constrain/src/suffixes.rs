//! A suffix array over the numbers of lines.

/// Sorts the suffixes of `ids`, shorter ones first where one begins another, and says how long a
/// beginning each shares with the one before it.
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
        // By the second half: what has none comes first, the others as the order has them.
        let short = (len.saturating_sub(width) as u32..len as u32).rev();
        let long = order.iter().filter_map(|&at| at.checked_sub(width as u32));
        let second: Vec<u32> = short.chain(long).collect();
        order = by_rank(&second, &rank);
        let second = |at: u32| rank.get(at as usize + width).map_or(0, |rank| rank + 1);
        classes = rerank(&order, &mut next, |at| (rank[at as usize], second(at)));
        std::mem::swap(&mut rank, &mut next);
        width *= 2;
    }
    order
}

/// Sorts by rank and keeps the order of equals.
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

/// Numbers what is sorted by its keys, equal ones alike, and counts the numbers.
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

/// How many lines the longest end of the file has that also stands somewhere else.
///
/// Such an end is the beginning of another suffix, which stands directly after it in the order. How
/// much two neighbours share is found by Kasai's method: by one line less, at most, from the suffix
/// of one line to that of the next.
pub(crate) fn repeated_end(ids: &[u32], order: &[u32]) -> usize {
    let mut rank = vec![0; ids.len()];
    order.iter().zip(0..).for_each(|(&start, at)| rank[start as usize] = at);
    let (mut shared, mut longest) = (0_usize, 0);
    for start in 0..ids.len() {
        let Some(&next) = order.get(rank[start] as usize + 1) else {
            shared = 0;
            continue;
        };
        let (own, other) = (&ids[start..], &ids[next as usize..]);
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
            let stands = |size: usize| {
                ids.windows(size.max(1)).filter(|other| *other == &ids[len - size..]).count() > 1
            };
            let plain = (1..len).filter(|&size| stands(size)).max().unwrap_or(0);
            assert_eq!(repeated_end(&ids, &sorted(&ids)), plain, "{ids:?}");
        }
    }
}
