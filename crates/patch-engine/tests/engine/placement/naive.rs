//! An obviously right matcher: all placements by brute force. The fuzzer uses it, too.

use patch_engine::Pass;
use patch_grammar::{Hunk, Line, LineKind};

fn text<'p>(line: &Line<'p>) -> &'p str {
    std::str::from_utf8(line.text).expect("envelopes are UTF-8")
}

/// The lines that the hunk wants, and whether each is deleted.
fn old<'p>(hunk: &'p Hunk<'p>) -> Vec<(&'p str, bool)> {
    hunk.old_lines().map(|line| (text(line), line.kind == LineKind::Delete)).collect()
}

/// Returns the hunks in which lines that are removed and inserted again are context. `None` where
/// there are several smallest differences, which no test chooses from, or too many to list.
pub(crate) fn meant<'p>(hunks: &[Hunk<'p>]) -> Option<Vec<Hunk<'p>>> {
    let is_context = |line: &Line<'_>| line.kind == LineKind::Context;
    let of_hunk = |hunk: &Hunk<'p>| {
        let mut lines = Vec::new();
        for run in hunk.lines.chunk_by(|one, other| is_context(one) == is_context(other)) {
            let of = |kind| run.iter().filter(move |line| line.kind == kind).copied().collect();
            let (old, new): (Vec<Line<'p>>, Vec<Line<'p>>) =
                (of(LineKind::Delete), of(LineKind::Insert));
            if old.is_empty() || new.is_empty() {
                lines.extend_from_slice(run);
                continue;
            }
            if old.len() * new.len() > 64 {
                return None;
            }
            let mut pairs = alignments(&old, &new);
            let most = pairs.iter().map(Vec::len).max()?;
            pairs.retain(|pairs| pairs.len() == most);
            let [pairs] = &pairs[..] else { return None };
            let (mut left, mut right) = (0, 0);
            for &(at, with) in pairs {
                lines.extend_from_slice(&old[left..at]);
                lines.extend_from_slice(&new[right..with]);
                lines.push(Line { kind: LineKind::Context, ..old[at] });
                (left, right) = (at + 1, with + 1);
            }
            lines.extend_from_slice(&old[left..]);
            lines.extend_from_slice(&new[right..]);
        }
        Some(Hunk { lines, ..hunk.clone() })
    };
    hunks.iter().map(of_hunk).collect()
}

/// Returns all ways to pair equal lines in order, those that can be added to left out.
fn alignments(old: &[Line<'_>], new: &[Line<'_>]) -> Vec<Vec<(usize, usize)>> {
    let (Some((first, old)), Some(_)) = (old.split_first(), new.first()) else {
        return vec![Vec::new()];
    };
    let shift = |pairs: Vec<(usize, usize)>, by: usize| {
        pairs.into_iter().map(|(left, right)| (left + 1, right + by)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = alignments(old, new).into_iter().map(|pairs| shift(pairs, 0)).collect();
    for (at, _) in new.iter().enumerate().filter(|(_, line)| text(line) == text(first)) {
        let rest = alignments(old, &new[at + 1..]).into_iter();
        all.extend(rest.map(|pairs| [vec![(0, at)], shift(pairs, at + 1)].concat()));
    }
    all
}

/// Places one hunk after the other in the text as it stands then.
pub(crate) fn naive_post_state(file: &[String], hunks: &[Hunk<'_>]) -> Option<Vec<String>> {
    let mut lines: Vec<(String, bool)> = file.iter().map(|line| (line.clone(), false)).collect();
    for hunk in hunks {
        let wanted = old(hunk);
        let at = if wanted.is_empty() {
            if !hunk.end_of_file && !file.is_empty() {
                return None;
            }
            lines.len()
        } else {
            let fits = |&start: &usize| {
                lines[start..].len() >= wanted.len()
                    && wanted.iter().zip(&lines[start..]).all(|((text, _), (line, _))| text == line)
                    && (!hunk.end_of_file || start + wanted.len() == lines.len())
            };
            let found: Vec<usize> = (0..lines.len()).filter(fits).collect();
            let [start] = found[..] else { return None };
            start
        };
        let mut from = at;
        let mut now = Vec::new();
        for line in &hunk.lines {
            match line.kind {
                LineKind::Context => {
                    now.push(lines[from].clone());
                    from += 1;
                }
                LineKind::Delete if lines[from].1 => return None,
                LineKind::Delete => from += 1,
                LineKind::Insert => now.push((text(line).to_owned(), true)),
            }
        }
        lines.splice(at..from, now);
    }
    Some(lines.into_iter().map(|(line, _)| line).collect())
}

pub(crate) fn same(pass: Pass, left: &str, right: &str) -> bool {
    match pass {
        Pass::Exact => left == right,
        Pass::Trailing => left.trim_end() == right.trim_end(),
        _ => left.trim() == right.trim(),
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Where the headers let a hunk begin: the lines in a scope, and the first anchor.
///
/// Scopes that overlap are one; those that only touch are two, and an inner header narrows each.
fn naive_scope(file: &[String], headers: &[&str]) -> Option<(Vec<bool>, usize)> {
    let mut scope: Vec<Option<usize>> = vec![Some(0); file.len()];
    let mut first = None;
    for header in headers {
        let mut anchors = Vec::new();
        for pass in Pass::ALL {
            anchors = (0..file.len())
                .filter(|&line| scope[line].is_some() && same(pass, &file[line], header))
                .collect();
            if !anchors.is_empty() {
                break;
            }
        }
        first = Some(*anchors.first()?);
        let mut narrower = vec![None; file.len()];
        for anchor in anchors {
            let number = narrower[anchor].unwrap_or(anchor);
            for line in anchor..file.len() {
                let text = file[line].trim_start();
                let opener =
                    text.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c));
                let ends = line > anchor && opener && indent(&file[line]) <= indent(&file[anchor]);
                if ends || scope[line] != scope[anchor] {
                    break;
                }
                narrower[line] = Some(number);
            }
        }
        scope = narrower;
    }
    Some((scope.iter().map(Option::is_some).collect(), first?))
}

/// Counts all placements that keep the order and do not overlap, and takes the only one.
pub(crate) fn naive_ordered(file: &[String], hunks: &[Hunk<'_>]) -> Option<Vec<String>> {
    let mut places: Vec<Vec<usize>> = Vec::new();
    for hunk in hunks {
        let wanted = old(hunk);
        let mut found = Vec::new();
        for pass in Pass::ALL {
            let fits = |&start: &usize| {
                start + wanted.len() <= file.len()
                    && wanted
                        .iter()
                        .zip(&file[start..])
                        .all(|((text, _), line)| same(pass, text, line))
                    && (!hunk.end_of_file || start + wanted.len() == file.len())
            };
            found = (0..file.len()).filter(fits).collect();
            if !found.is_empty() {
                let headers: Vec<&str> = hunk.headers.iter().map(|header| &*header.text).collect();
                if !headers.is_empty() {
                    match naive_scope(file, &headers) {
                        Some((inside, first)) => {
                            if found.iter().any(|&start| inside[start]) {
                                found.retain(|&start| inside[start]);
                            } else if found.iter().any(|&start| start >= first) {
                                found.retain(|&start| start >= first);
                            } else {
                                let context = |line: &&Line<'_>| line.kind == LineKind::Context;
                                let context = hunk.lines.iter().take_while(context).count();
                                found.retain(|&start| {
                                    inside.iter().skip(start).take(context).any(|inside| *inside)
                                });
                            }
                        }
                        None if pass == Pass::Exact && found.len() == 1 => {}
                        None => return None,
                    }
                }
                break;
            }
        }
        if found.is_empty() {
            return None;
        }
        places.push(found);
    }
    let lens: Vec<usize> = hunks.iter().map(|hunk| old(hunk).len()).collect();
    fn count(
        places: &[Vec<usize>],
        lens: &[usize],
        from: usize,
        chosen: &mut Vec<usize>,
        all: &mut Vec<Vec<usize>>,
    ) {
        if all.len() > 1 {
            return;
        }
        if chosen.len() == places.len() {
            all.push(chosen.clone());
            return;
        }
        let hunk = chosen.len();
        for &start in places[hunk].iter().filter(|&&start| start >= from) {
            chosen.push(start);
            count(places, lens, start + lens[hunk], chosen, all);
            chosen.pop();
        }
    }
    let mut all = Vec::new();
    count(&places, &lens, 0, &mut Vec::new(), &mut all);
    let in_order = all.len() == 1;
    let starts = match all.len() {
        1 => all.pop()?,
        0 if places.iter().all(|found| found.len() == 1) => {
            places.iter().map(|found| found[0]).collect()
        }
        _ => return None,
    };
    // Each line may be deleted once, and each gap may get lines from one hunk.
    let mut deleted = vec![None; file.len()];
    let mut gaps: Vec<Vec<(usize, usize, String)>> = vec![Vec::new(); file.len() + 1];
    let mut claims = Vec::new();
    for (index, (hunk, &start)) in hunks.iter().zip(&starts).enumerate() {
        let mut at = start;
        let mut core: Option<(usize, usize)> = None;
        for line in &hunk.lines {
            match line.kind {
                LineKind::Context => at += 1,
                LineKind::Delete => {
                    core = Some((core.map_or(at, |core| core.0), at + 1));
                    deleted[at] = Some(index);
                    at += 1;
                }
                LineKind::Insert => {
                    core = Some((core.map_or(at, |core| core.0), at));
                    gaps[at].push((start, index, text(line).to_owned()));
                }
            }
        }
        claims.push((start, at, core));
    }
    // Out of order, two hunks may share context that neither changes, and nothing else.
    claims.sort_unstable();
    for (index, upper) in claims.iter().enumerate() {
        for lower in &claims[index + 1..] {
            let shares = lower.0 < upper.1;
            let above = upper.2.is_none_or(|core| core.1 <= lower.0);
            let below = lower.2.is_none_or(|core| core.0 >= upper.1);
            if !in_order && shares && !(above && below) {
                return None;
            }
        }
    }
    let mut result = Vec::new();
    for (index, line) in file.iter().enumerate() {
        gaps[index].sort_by_key(|&(start, hunk, _)| (start, hunk));
        result.extend(gaps[index].drain(..).map(|(.., line)| line));
        if deleted[index].is_none() {
            result.push(line.clone());
        }
    }
    gaps[file.len()].sort_by_key(|&(start, hunk, _)| (start, hunk));
    result.extend(gaps[file.len()].drain(..).map(|(.., line)| line));
    Some(result)
}
