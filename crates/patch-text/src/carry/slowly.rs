//! Carrying by the rule, word by word: slow, and for small files.

use std::ops::Range;

/// Matched lines of two files.
pub(crate) type Pairs = Vec<(usize, usize)>;

/// The lines of a text, with their terminators.
pub(crate) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The pairs of lines that every minimal alignment matches, from the costs of all points of the
/// grid: a match is on all cheapest paths when it is their only step between two neighbouring
/// antidiagonals.
pub(crate) fn certain_pairs(base: &[u8], current: &[u8]) -> Pairs {
    let base = lines(base);
    let current = lines(current);
    let n = base.len();
    let m = current.len();
    let mut there = vec![vec![0; m + 1]; n + 1];
    let mut back = there.clone();
    for i in 0..=n {
        for j in 0..=m {
            let mut costs = vec![i + j];
            costs.extend(i.checked_sub(1).map(|i| there[i][j] + 1));
            costs.extend(j.checked_sub(1).map(|j| there[i][j] + 1));
            if i > 0 && j > 0 && base[i - 1] == current[j - 1] {
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
            if i < n && j < m && base[i] == current[j] {
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
            if i < n
                && j < m
                && base[i] == current[j]
                && there[i][j] + back[i + 1][j + 1] == cheapest
            {
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
    let mut pairs: Pairs =
        steps.iter().filter(|steps| steps.len() == 1).filter_map(|steps| steps[0]).collect();
    pairs.dedup();
    pairs
}

/// Lines `lines` become `new`.
#[derive(Debug, Clone)]
pub(crate) struct Replaced {
    pub(crate) lines: Range<usize>,
    pub(crate) new: Vec<u8>,
}

/// The rule, word by word, over the pairs that all minimal alignments have: the current file with
/// the changes, or nothing.
pub(crate) fn carried(base: &[u8], current: &[u8], changes: &[Replaced]) -> Option<Vec<u8>> {
    let files =
        Pair { certain: certain_pairs(base, current), old: lines(base), now: lines(current) };
    let Pair { certain, old, now } = &files;
    // Lines of the current file, and the text in their place.
    let mut placed: Vec<(Range<usize>, &[u8])> = Vec::new();
    // Between certain lines that stay, either each change is carried, or the wanted text is there.
    let mut posts: Vec<(isize, isize)> = vec![(-1, -1)];
    for &(line, current) in certain {
        if changes.iter().all(|change| !change.lines.contains(&line)) {
            posts.push((line as isize, current as isize));
        }
    }
    posts.push((old.len() as isize, now.len() as isize));
    for pair in posts.windows(2) {
        let [(above, now_above), (below, now_below)] = pair else { unreachable!("pairs") };
        let first = (above + 1) as usize;
        let end = *below as usize;
        let inside: Vec<&Replaced> = changes
            .iter()
            .filter(|change| first <= change.lines.start && change.lines.end <= end)
            .collect();
        let ways: Vec<_> = inside.iter().map(|change| files.place(change)).collect();
        if ways.iter().all(Option::is_some) {
            placed.extend(
                ways.into_iter().flatten().zip(inside.iter().map(|change| &change.new[..])),
            );
            continue;
        }
        let mut wanted = Vec::new();
        let mut at = first;
        for change in &inside {
            wanted.extend(old[at..change.lines.start].concat());
            wanted.extend_from_slice(&change.new);
            at = change.lines.end;
        }
        wanted.extend(old[at..end].concat());
        let stretch = (now_above + 1) as usize..*now_below as usize;
        if now[stretch.clone()].concat() == wanted {
            continue;
        }
        let within: Vec<Replaced> = inside
            .iter()
            .map(|change| Replaced {
                lines: change.lines.start - first..change.lines.end - first,
                new: change.new.clone(),
            })
            .collect();
        let places = agreed(&old[first..end], &now[stretch.clone()], &within)?;
        placed.extend(places.into_iter().zip(inside).map(|(place, change)| {
            let place = stretch.start + place;
            (place..place + change.lines.len(), &change.new[..])
        }));
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

/// Two files, and the lines that every minimal alignment matches.
struct Pair<'f> {
    certain: Pairs,
    old: Vec<&'f [u8]>,
    now: Vec<&'f [u8]>,
}

impl Pair<'_> {
    /// The lines of the current file that a change replaces, if its footprint is certain.
    fn place(&self, change: &Replaced) -> Option<Range<usize>> {
        let Self { certain, old, now } = self;
        let footprint = change.lines.start.saturating_sub(1)..old.len().min(change.lines.end + 1);
        let places: Vec<usize> = footprint
            .clone()
            .map(|line| certain.iter().find(|pair| pair.0 == line).map(|pair| pair.1))
            .collect::<Option<_>>()?;
        let together = places.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let start =
            change.lines.start > 0 || places.first().map_or(now.is_empty(), |&first| first == 0);
        let end = change.lines.end < old.len()
            || places.last().map_or(now.is_empty(), |&last| last + 1 == now.len());
        let first = places.first().map_or(0, |first| first + change.lines.start - footprint.start);
        (together && start && end).then(|| first..first + change.lines.len())
    }
}

/// An edit script: the points that it goes through.
type Script = Vec<(usize, usize)>;

/// The cheapest edit scripts that were found.
struct Scripts {
    cost: usize,
    scripts: Vec<Script>,
}

impl Scripts {
    fn cheapest(base: &[&[u8]], current: &[&[u8]]) -> Self {
        let mut found = Self { cost: base.len() + current.len(), scripts: Vec::new() };
        found.search(base, current, &mut vec![(0, 0)], 0);
        found
    }

    /// Goes on with a script in every possible way.
    fn search(&mut self, base: &[&[u8]], current: &[&[u8]], script: &mut Script, cost: usize) {
        let &(i, j) = script.last().expect("it begins somewhere");
        if cost > self.cost {
            return;
        }
        if (i, j) == (base.len(), current.len()) {
            if cost < self.cost {
                self.cost = cost;
                self.scripts.clear();
            }
            self.scripts.push(script.clone());
            return;
        }
        let is_match = i < base.len() && j < current.len() && base[i] == current[j];
        let steps = [
            (is_match, (i + 1, j + 1), 0),
            (i < base.len(), (i + 1, j), 1),
            (j < current.len(), (i, j + 1), 1),
        ];
        for (possible, to, price) in steps {
            if possible {
                script.push(to);
                self.search(base, current, script, cost + price);
                script.pop();
            }
        }
    }
}

/// The places of changes along some cheapest script that keeps their footprints, if all scripts
/// make the same text.
fn agreed(base: &[&[u8]], current: &[&[u8]], changes: &[Replaced]) -> Option<Vec<usize>> {
    let Scripts { scripts, .. } = Scripts::cheapest(base, current);
    let script = scripts.iter().find(|script| takes(script, changes, 1))?;
    let wanted = made(script, current, changes).expect("it keeps the footprints");
    let is_wanted =
        scripts.iter().all(|script| made(script, current, changes).as_ref() == Some(&wanted));
    is_wanted.then(|| places(script, changes))
}

/// The lines of the current file where a script comes to each change.
fn places(script: &Script, changes: &[Replaced]) -> Vec<usize> {
    changes
        .iter()
        .map(|change| script.iter().find(|point| point.0 == change.lines.start).expect("a row").1)
        .collect()
}

/// The text that a script makes, if it takes every change.
fn made(script: &Script, current: &[&[u8]], changes: &[Replaced]) -> Option<Vec<u8>> {
    if !takes(script, changes, 0) {
        return None;
    }
    let mut text = Vec::new();
    let mut at = 0;
    for (change, place) in changes.iter().zip(places(script, changes)) {
        text.extend(current[at..place].concat());
        text.extend_from_slice(&change.new);
        at = place + change.lines.len();
    }
    text.extend(current[at..].concat());
    Some(text)
}

/// Whether a script takes every change: none of its lines is gone, nor `more` of those on either
/// side, and none came between them or next to them.
fn takes(script: &Script, changes: &[Replaced], more: usize) -> bool {
    changes.iter().all(|change| {
        let Range { start, end } = change.lines;
        script.windows(2).all(|step| {
            let [(i, j), (i_then, j_then)] = step else { unreachable!("two points") };
            let drops = j_then == j && start <= i + more && *i < end + more;
            let inserts = i_then == i && (start..=end).contains(i);
            !drops && !inserts
        })
    })
}
