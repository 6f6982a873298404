//! Against brute force, and in words.

use std::collections::BTreeSet;

use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::Index;

use super::alignment::certain;
use super::carry;
use crate::edit::Edit;
use crate::holds::holds;
use crate::plan::Splices;
use crate::share::share;

type Pairs = Vec<(usize, usize)>;

/// Every minimal alignment, one by one.
fn minimal_alignments(base: &[&[u8]], current: &[&[u8]]) -> Vec<Pairs> {
    fn all(base: &[&[u8]], current: &[&[u8]], from: (usize, usize), so_far: &mut Pairs, found: &mut BTreeSet<Pairs>) {
        // Each alignment is made by choosing its next match.
        found.insert(so_far.clone());
        for i in from.0..base.len() {
            for j in from.1..current.len() {
                if base[i] == current[j] {
                    so_far.push((i, j));
                    all(base, current, (i + 1, j + 1), so_far, found);
                    so_far.pop();
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    all(base, current, (0, 0), &mut Vec::new(), &mut found);
    let longest = found.iter().map(Vec::len).max().expect("the empty one at least");
    found.into_iter().filter(|alignment| alignment.len() == longest).collect()
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// What all of them have.
fn certain_pairs_slowly(base: &[u8], current: &[u8]) -> Pairs {
    let all = minimal_alignments(&lines(base), &lines(current));
    all[0].iter().copied().filter(|pair| all.iter().all(|alignment| alignment.contains(pair))).collect()
}

fn certain_pairs(base: &[u8], current: &[u8]) -> Pairs {
    let mut pairs = Pairs::new();
    for run in certain(base, current).expect("they are small") {
        let lines = lines(&base[run.bytes.clone()]);
        assert_eq!(lines.len(), run.lines.len());
        assert_eq!(&base[run.bytes.clone()], &current[run.current_byte..run.current(run.bytes.end)]);
        assert_eq!(super::line_count(&base[..run.bytes.start]), run.lines.start);
        assert_eq!(super::line_count(&current[..run.current_byte]), run.current_line);
        pairs.extend(run.lines.clone().map(|line| (line, line - run.lines.start + run.current_line)));
    }
    pairs
}

/// All texts of so many lines of so many kinds.
fn texts(longest: u32, kinds: u32) -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    for len in 0..=longest {
        for mut number in 0..kinds.pow(len) {
            let mut text = Vec::new();
            for _ in 0..len {
                text.extend_from_slice(&[b'a' + (number % kinds) as u8, b'\n']);
                number /= kinds;
            }
            texts.push(text);
        }
    }
    texts
}

#[test]
fn what_all_minimal_alignments_match_is_found_in_all_small_texts() {
    for (longest, kinds) in [(6, 2), (4, 3)] {
        let texts = texts(longest, kinds);
        for base in &texts {
            for current in &texts {
                assert_eq!(
                    certain_pairs(base, current),
                    certain_pairs_slowly(base, current),
                    "{:?} {:?}",
                    base.escape_ascii().to_string(),
                    current.escape_ascii().to_string()
                );
            }
        }
    }
}

/// The same from the costs of all points of the grid: of the steps of cheapest paths, a match that is in all of them is the
/// only one between two neighbouring antidiagonals.
fn certain_pairs_by_table(base: &[u8], current: &[u8]) -> Pairs {
    let (base, current) = (lines(base), lines(current));
    let (n, m) = (base.len(), current.len());
    let equal = |i: usize, j: usize| base[i] == current[j];
    let mut there = vec![vec![0; m + 1]; n + 1];
    let mut back = there.clone();
    for i in 0..=n {
        for j in 0..=m {
            let mut costs = vec![i + j];
            costs.extend(i.checked_sub(1).map(|i| there[i][j] + 1));
            costs.extend(j.checked_sub(1).map(|j| there[i][j] + 1));
            if i > 0 && j > 0 && equal(i - 1, j - 1) {
                costs.push(there[i - 1][j - 1]);
            }
            there[i][j] = costs.into_iter().min().expect("one");
        }
    }
    for i in (0..=n).rev() {
        for j in (0..=m).rev() {
            let mut costs = vec![n - i + m - j];
            costs.extend(back.get(i + 1).map(|row| row[j] + 1));
            costs.extend(back[i].get(j + 1).map(|cost| cost + 1));
            if i < n && j < m && equal(i, j) {
                costs.push(back[i + 1][j + 1]);
            }
            back[i][j] = costs.into_iter().min().expect("one");
        }
    }
    let cheapest = there[n][m];
    // For each pair of neighbouring antidiagonals, the steps between them that cheapest paths take.
    let mut steps: Vec<Vec<Option<(usize, usize)>>> = vec![Vec::new(); n + m];
    for i in 0..=n {
        for j in 0..=m {
            if i < n && j < m && equal(i, j) && there[i][j] + back[i + 1][j + 1] == cheapest {
                steps[i + j].push(Some((i, j)));
                steps[i + j + 1].push(Some((i, j)));
            }
            let single = [(i < n).then_some((i + 1, j)), (j < m).then_some((i, j + 1))];
            for (i_then, j_then) in single.into_iter().flatten() {
                if there[i][j] + 1 + back[i_then][j_then] == cheapest {
                    steps[i + j].push(None);
                }
            }
        }
    }
    let mut pairs: Pairs = steps.iter().filter(|steps| steps.len() == 1).filter_map(|steps| steps[0]).collect();
    pairs.dedup();
    pairs
}

fn text(lines: &[u8], ends: bool) -> Vec<u8> {
    let mut text: Vec<u8> = lines.iter().flat_map(|line| [b'a' + line, b'\n']).collect();
    if !ends {
        text.pop();
    }
    text
}

/// A text of lines of so many kinds, with or without a line feed at its end.
fn any_text(longest: usize, kinds: u8) -> impl Strategy<Value = Vec<u8>> {
    (vec(0..kinds, 0..=longest), weighted(0.8)).prop_map(|(lines, ends)| text(&lines, ends))
}

/// A text, and the same with some lines gone and others put in.
fn text_and_later(longest: usize, kinds: u8) -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let changes = vec((any::<Index>(), 0..3usize, vec(0..kinds, 0..3)), 0..6);
    (vec(0..kinds, 0..=longest), changes, weighted(0.9), weighted(0.9)).prop_map(
        |(lines, changes, ends, later_ends)| {
            let mut later = lines.clone();
            for (at, gone, new) in changes {
                let at = at.index(later.len() + 1);
                let end = (at + gone).min(later.len());
                later.splice(at..end, new);
            }
            (text(&lines, ends), text(&later, later_ends))
        },
    )
}

#[test]
fn what_all_minimal_alignments_match_is_found_in_random_texts() {
    for kinds in [2, 3] {
        holds(share(2000), &(any_text(8, kinds), any_text(9, kinds)), |(base, current)| {
            let slowly = certain_pairs_slowly(&base, &current);
            assert_eq!(certain_pairs(&base, &current), slowly);
            assert_eq!(certain_pairs_by_table(&base, &current), slowly);
        });
    }
    for kinds in [2, 4, 20] {
        let random = (any_text(40, kinds), any_text(40, kinds));
        for cases in [random.boxed(), text_and_later(60, kinds).boxed()] {
            holds(share(2000), &cases, |(base, current)| {
                assert_eq!(certain_pairs(&base, &current), certain_pairs_by_table(&base, &current));
            });
        }
    }
}

/// Lines `lines` become `new`.
#[derive(Debug, Clone)]
struct Replaced {
    lines: std::ops::Range<usize>,
    new: Vec<u8>,
}

/// The rule, word by word, over the pairs that all minimal alignments have: the current file with the changes, or nothing.
fn carried_slowly(base: &[u8], current: &[u8], changes: &[Replaced]) -> Option<Vec<u8>> {
    let certain = certain_pairs_by_table(base, current);
    let (old, now) = (lines(base), lines(current));
    let place = |line: usize| certain.iter().find(|pair| pair.0 == line).map(|pair| pair.1);
    // What replaces which lines of the current file.
    let mut placed: Vec<(std::ops::Range<usize>, &[u8])> = Vec::new();
    let is_carried = |change: &Replaced| {
        let footprint = change.lines.start.saturating_sub(1)..old.len().min(change.lines.end + 1);
        let places: Vec<usize> = footprint.clone().map(place).collect::<Option<_>>()?;
        let together = places.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let start = change.lines.start > 0 || places.first().map_or(now.is_empty(), |&first| first == 0);
        let end = change.lines.end < old.len() || places.last().map_or(now.is_empty(), |&last| last + 1 == now.len());
        let first = places.first().map_or(0, |first| first + change.lines.start - footprint.start);
        (together && start && end).then(|| first..first + change.lines.len())
    };
    // Between lines that are certain and stay, either each change is carried, or all that is wanted is there.
    let stays = |line: usize| changes.iter().all(|change| !change.lines.contains(&line));
    let mut posts: Vec<(isize, isize)> = vec![(-1, -1)];
    posts.extend(certain.iter().filter(|pair| stays(pair.0)).map(|&(i, j)| (i as isize, j as isize)));
    posts.push((old.len() as isize, now.len() as isize));
    for pair in posts.windows(2) {
        let [(above, now_above), (below, now_below)] = pair else { unreachable!("pairs") };
        let (first, end) = ((above + 1) as usize, *below as usize);
        let inside: Vec<&Replaced> =
            changes.iter().filter(|change| first <= change.lines.start && change.lines.end <= end).collect();
        let ways: Vec<_> = inside.iter().map(|change| is_carried(change)).collect();
        if ways.iter().all(Option::is_some) {
            placed.extend(ways.into_iter().flatten().zip(inside.iter().map(|change| &change.new[..])));
            continue;
        }
        let mut wanted = Vec::new();
        let mut at = first;
        for change in inside {
            wanted.extend(old[at..change.lines.start].concat());
            wanted.extend_from_slice(&change.new);
            at = change.lines.end;
        }
        wanted.extend(old[at..end].concat());
        if now[(now_above + 1) as usize..*now_below as usize].concat() != wanted {
            return None;
        }
    }
    let mut result = Vec::new();
    let mut at = 0;
    for (lines, new) in placed {
        result.extend(now[at..lines.start].concat());
        result.extend_from_slice(new);
        at = lines.end;
    }
    result.extend(now[at..].concat());
    Some(result)
}

/// The splices that replace these lines.
fn edit_of(base: &[u8], changes: &[Replaced]) -> Edit {
    let old = lines(base);
    let byte = |line: usize| old[..line].concat().len();
    let mut splices = Splices::new();
    for change in changes {
        splices.push(byte(change.lines.start)..byte(change.lines.end), change.new.clone());
    }
    Edit { sources: (0..changes.len()).map(|change| vec![change]).collect(), splices, placed: Vec::new() }
}

/// Base, current and changes of the base. Between two changes there is a line; before a line that has no line feed nothing is put.
fn cases(longest: usize, kinds: u8) -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Vec<Replaced>)> {
    let changes = vec((0..4usize, 0..3usize, vec(0..kinds + 1, 0..3)), 1..4);
    let shares = weighted(0.3);
    (text_and_later(longest, kinds), changes, shares).prop_map(move |((base, mut current), changes, shares)| {
        let len = lines(&base).len();
        let mut at = 0;
        let mut replaced: Vec<Replaced> = Vec::new();
        for (skipped, gone, new) in changes {
            let start = at + skipped;
            let end = (start + gone).min(len);
            if start > len || (start == end && new.is_empty()) || (start == len && !base.ends_with(b"\n") && len > 0) {
                continue;
            }
            replaced.push(Replaced { lines: start..end, new: text(&new, true) });
            at = end + 1;
        }
        if shares && !replaced.is_empty() {
            // The same changes on both sides, or some of them.
            current = edit_of(&base, &replaced[..replaced.len().div_ceil(2)]).apply(&base);
        }
        (base, current, replaced)
    })
}

#[test]
fn an_edit_is_carried_by_the_rule_or_not_at_all() {
    for (longest, kinds) in [(8, 2), (9, 3), (25, 10), (40, 26)] {
        holds(share(6000), &cases(longest, kinds), |(base, current, changes)| {
            let edit = edit_of(&base, &changes);
            let result = carry(&base, &current, &edit);
            let expected = carried_slowly(&base, &current, &changes);
            let applied = result.as_ref().ok().map(|carried| carried.splices.apply(&current));
            assert_eq!(applied, expected, "{result:?}");
            match result {
                Ok(carried) => {
                    let hunks: Vec<usize> = carried.hunks.iter().map(|carried| carried.hunk).collect();
                    assert_eq!(hunks, (0..changes.len()).collect::<Vec<_>>());
                    for carried in &carried.hunks {
                        let (base, current) = (lines(&base), lines(&current));
                        assert!(1 <= *carried.from.start() && *carried.from.end() <= base.len());
                        assert!(1 <= *carried.to.start() && *carried.to.end() <= current.len());
                        if !carried.already_there {
                            let [base, current] = [(&base, &carried.from), (&current, &carried.to)]
                                .map(|(lines, range)| lines[range.start() - 1..*range.end()].concat());
                            assert_eq!(base, current, "{carried:?}");
                        }
                    }
                }
                Err(conflicts) => {
                    assert!(!conflicts.is_empty());
                    let wanted = edit.apply(&base);
                    for conflict in conflicts {
                        assert!(!conflict.hunks.is_empty());
                        for (excerpt, file) in
                            [(conflict.base, &base), (conflict.current, &current), (conflict.wanted, &wanted)]
                        {
                            let lines = lines(file);
                            assert_eq!(lines[excerpt.lines.start - 1..excerpt.lines.end - 1].concat(), excerpt.text);
                        }
                    }
                }
            }
        });
    }
}

#[test]
fn a_file_that_did_not_change_takes_the_edit_as_it_is() {
    holds(share(2000), &cases(12, 2), |(base, _, changes)| {
        let edit = edit_of(&base, &changes);
        let carried = carry(&base, &base, &edit).expect("nothing changed");
        assert_eq!(carried.splices, edit.splices);
    });
}
