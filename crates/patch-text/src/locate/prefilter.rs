//! Finds every place of many blocks of lines by one line of each: the rarest in the patch, and the
//! longest of the rarest.
//!
//! The file is walked once; of a few blocks each rare line is searched for instead. No line is
//! interned, and where a rare line stands its block is compared line by line. The comparisons are
//! counted: if rare lines stand nearly everywhere, or a block in more places than are listed, there
//! is no answer, and the automaton of [`search`](super::search) takes over, whose time is linear
//! for every input.

use memchr::memmem;

use super::interner::{Fingerprints, fingerprint};
use super::pass::Pass;
use super::search::SATURATION;
use crate::text::lines::{Lines, Mark};

/// How many rare lines are searched for one by one; more are cheaper to find together.
const FEW: usize = 4;

/// How many bytes of a rare line are searched for, at most: as many as need no preparation.
const SEARCHED: usize = 32;

/// The cost of comparing one line, beside its bytes.
const LINE: usize = 32;

/// The least budget for comparing, however short the file is.
const LEAST_EFFORT: usize = 1 << 15;

/// A place of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Its first line.
    pub(crate) mark: Mark,
    /// The strictest pass that sees it.
    pub(crate) pass: Pass,
}

/// A line of a block that is looked for.
struct RareLine {
    print: u64,
    block: usize,
    /// The index of the line in the block.
    offset: usize,
}

impl RareLine {
    fn text<'b>(&self, blocks: &[&[&'b [u8]]]) -> &'b [u8] {
        blocks[self.block][self.offset]
    }
}

/// All places where `blocks` stand as `pass` sees them, for each block from the first to the last;
/// `None` if finding them this way would be slow, or one has more than [`SATURATION`].
///
/// No block is empty.
pub(crate) fn find(lines: &Lines<'_>, blocks: &[&[&[u8]]], pass: Pass) -> Option<Vec<Vec<Spot>>> {
    // A loop for each: nearly all of the time goes into single lines.
    match pass {
        Pass::Exact => {
            let rare_lines = choose(blocks, fingerprint);
            search(lines, blocks, &rare_lines)
                .or_else(|| walk(lines, blocks, &rare_lines, pass, fingerprint))
        }
        _ => {
            let rare_lines = choose(blocks, |line| fingerprint(&pass.key(line)));
            walk(lines, blocks, &rare_lines, pass, |line| fingerprint(&pass.key(line)))
        }
    }
}

/// Searches for one rare line after the other; `None` also if they are too many for that.
fn search(
    lines: &Lines<'_>,
    blocks: &[&[&[u8]]],
    rare_lines: &[RareLine],
) -> Option<Vec<Vec<Spot>>> {
    let bytes = lines.bytes();
    if rare_lines.len() > FEW || rare_lines.iter().any(|rare| rare.text(blocks).is_empty()) {
        return None;
    }
    let mut effort = ComparisonEffort::new(lines);
    let mut found = vec![Vec::new(); blocks.len()];
    for rare in rare_lines {
        let wanted = rare.text(blocks);
        let finder = memmem::Finder::new(&wanted[..wanted.len().min(SEARCHED)]);
        let mut from = lines.start(0);
        while let Some(at) = finder.find(&bytes[from..]).map(|at| from + at) {
            effort.spend(0)?;
            if (at == lines.start(0) || bytes[at - 1] == b'\n')
                && let Some((byte, pass)) =
                    compare(lines, blocks[rare.block], rare.offset, at, Pass::Exact, &mut effort)?
            {
                found[rare.block].push(Spot { mark: Mark { line: 0, byte }, pass });
            }
            // No line begins before the next line feed.
            let Some(feed) = memchr::memchr(b'\n', &bytes[at..]) else { break };
            from = at + feed;
        }
    }
    if found.iter().any(|spots| spots.len() > SATURATION) {
        return None;
    }
    let mut spots: Vec<&mut Spot> = found.iter_mut().flatten().collect();
    spots.sort_unstable_by_key(|spot| spot.mark.byte);
    let mut line = 0;
    let mut from = 0;
    for spot in spots {
        let byte = spot.mark.byte as usize;
        line += memchr::memchr_iter(b'\n', &bytes[from..byte]).count();
        from = byte;
        spot.mark.line = line as u32;
    }
    lines.counted(
        line + memchr::memchr_iter(b'\n', &bytes[from..]).count()
            + usize::from(!lines.ends_in_newline()),
    );
    Some(found)
}

/// Looks at every line of the file.
fn walk(
    lines: &Lines<'_>,
    blocks: &[&[&[u8]]],
    rare_lines: &[RareLine],
    pass: Pass,
    print: impl Fn(&[u8]) -> u64,
) -> Option<Vec<Vec<Spot>>> {
    let mut seen = Fingerprints::default();
    for rare in rare_lines {
        seen.insert(rare.print);
    }
    let mut found = vec![Vec::new(); blocks.len()];
    let mut effort = ComparisonEffort::new(lines);
    let mut count = 0;
    for line in lines.walk() {
        if lines.is_cancelled_at(count as usize) {
            return Some(found);
        }
        let at = line.start;
        let print = print(lines.text(line));
        if seen.contains(print) {
            let first = rare_lines.partition_point(|rare| rare.print < print);
            for &RareLine { block, offset, .. } in
                rare_lines[first..].iter().take_while(|rare| rare.print == print)
            {
                if let Some((byte, pass)) =
                    compare(lines, blocks[block], offset, at, pass, &mut effort)?
                {
                    if found[block].len() == SATURATION {
                        return None;
                    }
                    found[block]
                        .push(Spot { mark: Mark { line: count - offset as u32, byte }, pass });
                }
            }
        }
        count += 1;
    }
    lines.counted(count as usize);
    Some(found)
}

/// The budget for comparing that is left.
struct ComparisonEffort(usize);

impl ComparisonEffort {
    fn new(lines: &Lines<'_>) -> Self {
        Self(LEAST_EFFORT + 2 * lines.bytes().len())
    }

    /// Takes the cost of comparing one line.
    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.checked_sub(bytes + LINE)?;
        Some(())
    }
}

/// The rare line of each block, by fingerprint.
fn choose(blocks: &[&[&[u8]]], print: impl Fn(&[u8]) -> u64) -> Vec<RareLine> {
    let prints: Vec<u64> =
        blocks.iter().flat_map(|block| block.iter()).map(|line| print(line)).collect();
    // How often a line stands in the patch, more or less: some lines share a counter.
    let mut counts = [0_u16; 1024];
    for &print in &prints {
        let count = &mut counts[counter(print)];
        *count = count.saturating_add(1);
    }
    let mut prints = &prints[..];
    let mut rare_lines = Vec::with_capacity(blocks.len());
    for (index, block) in blocks.iter().enumerate() {
        let (own, rest) = prints.split_at(block.len());
        prints = rest;
        let (offset, &print) = own
            .iter()
            .enumerate()
            .min_by_key(|&(offset, &print)| {
                (counts[counter(print)], usize::MAX - block[offset].len())
            })
            .expect("no block is empty");
        rare_lines.push(RareLine { print, block: index, offset });
    }
    rare_lines.sort_unstable_by_key(|rare| rare.print);
    rare_lines
}

/// The counter of a fingerprint in [`choose`].
fn counter(print: u64) -> usize {
    (print >> 54) as usize
}

/// Compares `block` with the file around the line that begins at `at`, where the line `offset` of
/// the block would be. Returns the byte where the block begins, and the strictest pass that sees
/// the block; `None` when the effort is spent.
fn compare(
    lines: &Lines<'_>,
    block: &[&[u8]],
    offset: usize,
    at: usize,
    pass: Pass,
    effort: &mut ComparisonEffort,
) -> Option<Option<(u32, Pass)>> {
    let mut strictest = Pass::Exact;
    let mut below = lines.walk_from(at);
    for wanted in &block[offset..] {
        let Some(line) = below.next() else { return Some(None) };
        effort.spend(line.len())?;
        let Some(seen) = pass.strictest(wanted, lines.text(line)) else { return Some(None) };
        strictest = strictest.max(seen);
    }
    let mut first = at;
    for wanted in block[..offset].iter().rev() {
        let Some(line) = lines.line_before(first) else { return Some(None) };
        first = line.start;
        effort.spend(line.len())?;
        let Some(seen) = pass.strictest(wanted, lines.text(line)) else { return Some(None) };
        strictest = strictest.max(seen);
    }
    Some(Some((first as u32, strictest)))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::bool::weighted;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;
    use testutils::holds::holds;

    /// The first lines and passes of all places, found by looking everywhere.
    fn naive(lines: &Lines<'_>, block: &[&[u8]], pass: Pass) -> Vec<(u32, u32, Pass)> {
        (0..lines.len())
            .filter_map(|line| {
                let pass = grade(lines, block, pass, line)?;
                Some((line as u32, lines.start(line) as u32, pass))
            })
            .collect()
    }

    /// The strictest pass that sees a block at a line.
    fn grade(lines: &Lines<'_>, block: &[&[u8]], pass: Pass, start: usize) -> Option<Pass> {
        let mut strictest = Pass::Exact;
        for (nth, wanted) in block.iter().enumerate() {
            let line = Some(start + nth).filter(|&line| line < lines.len())?;
            strictest = strictest.max(pass.strictest(wanted, lines.content(line))?);
        }
        Some(strictest)
    }

    fn as_naive(found: Option<Vec<Vec<Spot>>>) -> Option<Vec<Vec<(u32, u32, Pass)>>> {
        let found = found?.into_iter();
        let spots = found.map(|spots| {
            spots.iter().map(|spot| (spot.mark.line, spot.mark.byte, spot.pass)).collect()
        });
        Some(spots.collect())
    }

    /// Checks both ways to find against the naive one; gives back how many places there are.
    fn check(bytes: &[u8], blocks: &[&[&[u8]]]) -> usize {
        let mut places = 0;
        for pass in Pass::ALL {
            let lines = Lines::new(bytes);
            let wanted: Vec<_> = blocks.iter().map(|block| naive(&lines, block, pass)).collect();
            let rare_lines = choose(blocks, |line| fingerprint(&pass.key(line)));
            let case = format!("{:?} {blocks:?} {pass:?}", String::from_utf8_lossy(bytes));
            let walked = Lines::new(bytes);
            let found =
                walk(&walked, blocks, &rare_lines, pass, |line| fingerprint(&pass.key(line)));
            assert_eq!(as_naive(found).as_ref(), Some(&wanted), "{case}");
            assert_eq!(walked.len(), lines.iter().count(), "{case}");
            if pass == Pass::Exact {
                let searched = Lines::new(bytes);
                if let Some(found) = as_naive(search(&searched, blocks, &rare_lines)) {
                    assert_eq!(found, wanted, "{case}");
                    assert_eq!(searched.len(), walked.len(), "{case}");
                } else {
                    assert!(
                        blocks.iter().any(|block| block.contains(&&b""[..])) || blocks.len() > FEW,
                        "{case}"
                    );
                }
            }
            places = wanted.iter().flatten().count();
        }
        places
    }

    #[test]
    fn finds_blocks_at_every_kind_of_line_boundary() {
        for (bytes, block, places) in [
            ("a\nb\nc\n", &["b"][..], 1),
            ("ab\nb\nbb\nb", &["b"], 2),
            ("a\nb", &["a", "b"], 1),
            ("a\nb", &["a", "b", ""], 0),
            ("a\nb\n", &["b", ""], 0),
            ("a\r\nb\r\n", &["a", "b"], 1),
            ("a\r\nb\nc\r", &["a", "b", "c\r"], 1),
            ("a\r\r\n", &["a\r"], 1),
            ("a\r\n", &["a\r"], 1),
            ("a\na\na\na\n", &["a", "a"], 3),
            ("aaa\naaaa\naa\naaa", &["aaa"], 2),
            ("\n\n\n", &["", ""], 2),
            ("", &[""], 0),
            ("\u{feff}a\nb\n", &["a", "b"], 1),
            ("\u{feff}", &[""], 0),
            ("a\nb\nc", &["a", "b", "c"], 1),
            ("b\nb\na\n", &["a", "b"], 0),
            (" a\n\ta \n", &["a"], 2),
            ("x \u{2013} y\n", &["x - y"], 1),
        ] {
            let block: Vec<&[u8]> = block.iter().map(|line| line.as_bytes()).collect();
            assert_eq!(check(bytes.as_bytes(), &[&block]), places, "{bytes:?} {block:?}");
        }
    }

    #[test]
    fn finds_what_a_naive_search_finds() {
        const WORDS: [&str; 8] =
            ["", "a", "aa", " a", "a\r", "a line that is longer than others are", "\u{e9}", "b "];
        /// Some lines that are looked for: any, or some that are there.
        #[derive(Debug, Clone)]
        enum Block {
            Any(Vec<Index>),
            Cut(Index, usize),
        }
        let block = prop_oneof![
            vec(any::<Index>(), 1..=3).prop_map(Block::Any),
            (any::<Index>(), 1..=4_usize).prop_map(|(from, len)| Block::Cut(from, len)),
        ];
        let lines = vec((any::<Index>(), select(&["\n", "\n", "\r\n"][..])), 0..12);
        let file =
            (1..=WORDS.len(), weighted(0.125), lines, option::weighted(0.33, any::<Index>()));
        let places = Cell::new(0);
        holds(6000, &(file, vec(block, 1..=6)), |((words, mark, lines, last), blocks)| {
            let words = &WORDS[..words];
            let texts: Vec<&str> = lines.iter().map(|(word, _)| *word.get(words)).collect();
            let mut file = if mark { "\u{feff}".to_owned() } else { String::new() };
            file.extend(texts.iter().zip(&lines).flat_map(|(text, (_, end))| [*text, *end]));
            file.extend(last.map(|word| *word.get(words)));
            let blocks: Vec<Vec<&[u8]>> = blocks
                .iter()
                .map(|block| match block {
                    Block::Any(block) => {
                        block.iter().map(|word| word.get(words).as_bytes()).collect()
                    }
                    Block::Cut(from, len) => {
                        let from = from.index(texts.len() + 1);
                        let cut = texts[from..].iter().take(*len).map(|line| line.as_bytes());
                        if from == texts.len() { vec![&b"a"[..]] } else { cut.collect() }
                    }
                })
                .collect();
            let found =
                check(file.as_bytes(), &blocks.iter().map(|block| &block[..]).collect::<Vec<_>>());
            places.set(places.get() + found);
        });
        let places = places.get();
        assert!(places > 6000, "only {places} places");
    }

    #[test]
    fn gives_up_where_the_automaton_is_better() {
        let twice = "same\n".repeat(2 * SATURATION);
        assert_eq!(
            find(&Lines::new(twice.as_bytes()), &[&[b"same"]], Pass::Exact),
            None,
            "too many places"
        );
        let long = "same\n".repeat(5000);
        let block: Vec<&[u8]> = [vec![&b"same"[..]; 500], vec![b"last"]].concat();
        let found = find(&Lines::new(long.as_bytes()), &[&block], Pass::Exact);
        assert_eq!(found, Some(vec![Vec::new()]), "the rare line is looked for");
        let block = vec![&b"same"[..]; 6000];
        assert_eq!(
            find(&Lines::new(long.as_bytes()), &[&block], Pass::Exact),
            None,
            "too much to compare"
        );
    }
}
