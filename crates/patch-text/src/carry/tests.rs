//! Against brute force, and in words.

use std::collections::BTreeSet;

use std::cell::Cell;

use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::sample::Index;

use super::alignment::{certain, certain_in_pieces, pieces};
use super::carry;
use super::slowly::{self, Pairs, Replaced, lines};
use crate::locate::edit::Edit;
use crate::text::splices::Splices;
use testutils::holds::holds;
use testutils::share::{share, whole};

/// Adds every alignment that begins with these matches.
fn add_alignments(
    base: &[&[u8]],
    current: &[&[u8]],
    matches: &mut Pairs,
    found: &mut BTreeSet<Pairs>,
) {
    // Each alignment is made by choosing its next match.
    found.insert(matches.clone());
    let (first, current_first) = matches.last().map_or((0, 0), |&(i, j)| (i + 1, j + 1));
    for i in first..base.len() {
        for j in current_first..current.len() {
            if base[i] == current[j] {
                matches.push((i, j));
                add_alignments(base, current, matches, found);
                matches.pop();
            }
        }
    }
}

/// Every minimal alignment, one by one.
fn minimal_alignments(base: &[&[u8]], current: &[&[u8]]) -> Vec<Pairs> {
    let mut found = BTreeSet::new();
    add_alignments(base, current, &mut Vec::new(), &mut found);
    let longest = found.iter().map(Vec::len).max().expect("the empty one at least");
    found.into_iter().filter(|alignment| alignment.len() == longest).collect()
}

/// The pairs that all minimal alignments have.
fn certain_pairs_slowly(base: &[u8], current: &[u8]) -> Pairs {
    let all = minimal_alignments(&lines(base), &lines(current));
    all[0]
        .iter()
        .copied()
        .filter(|pair| all.iter().all(|alignment| alignment.contains(pair)))
        .collect()
}

fn certain_pairs(base: &[u8], current: &[u8]) -> Pairs {
    let mut pairs = Pairs::new();
    for run in certain(base, current).expect("they are small") {
        let lines = lines(&base[run.bytes.clone()]);
        assert_eq!(lines.len(), run.lines.len());
        assert_eq!(
            &base[run.bytes.clone()],
            &current[run.current_byte..run.current(run.bytes.end)]
        );
        assert_eq!(super::line_count(&base[..run.bytes.start]), run.lines.start);
        assert_eq!(super::line_count(&current[..run.current_byte]), run.current_line);
        pairs.extend(
            run.lines.clone().map(|line| (line, line - run.lines.start + run.current_line)),
        );
    }
    pairs
}

/// The same, with a block of the later text moved or copied, or with equal blocks in two places.
fn text_and_moved(
    base_and_later: impl Strategy<Value = (Vec<u8>, Vec<u8>)>,
) -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let block = (any::<Index>(), 0..40usize, any::<Index>(), weighted(0.5));
    (base_and_later, vec(block, 0..3)).prop_map(|((base, later), blocks)| {
        let mut moved: Vec<&[u8]> = lines(&later);
        for (from, len, to, stays) in blocks {
            let from = from.index(moved.len() + 1);
            let end = (from + len).min(moved.len());
            let block = moved[from..end].to_vec();
            if !stays {
                moved.drain(from..end);
            }
            let to = to.index(moved.len() + 1);
            moved.splice(to..to, block);
        }
        let moved = moved.concat();
        (base, moved)
    })
}

/// Sixty blocks of the same lines, but for one in each, which is of a kind from `from` on; every
/// fourth may have another line, which does not depend on `from`.
fn similar_blocks(from: u8, landmarks: bool) -> Vec<u8> {
    let mut lines = Vec::new();
    for block in 0..60 {
        lines.extend((0..20).map(|line| match line {
            10 => 30 + from + block,
            5 if landmarks && block % 4 == 2 => 100 + block / 4,
            _ => line,
        }));
    }
    text(&lines, true)
}

/// In each block the two files differ in one line only; but it takes less to drop the first block.
#[test]
fn files_are_not_cut_along_lines_that_are_there_often() {
    for landmarks in [false, true] {
        let base = similar_blocks(0, landmarks);
        let current = similar_blocks(1, landmarks);
        let whole =
            certain_in_pieces(&base, &current, isize::MAX, usize::MAX).expect("they are small");
        assert!(whole.iter().any(|run| run.lines.start == run.current_line + 20), "{whole:?}");
        assert_eq!(certain_in_pieces(&base, &current, 0, usize::MAX), Some(whole));
    }
}

#[test]
fn what_is_certain_in_a_piece_is_certain_in_the_whole() {
    let cut = Cell::new(0);
    let cases = [
        text_and_moved(text_and_later(80, 100)).boxed(),
        text_and_moved(text_and_later(300, 150)).boxed(),
    ];
    for cases in cases {
        holds(share(5000), &cases, |(base, current)| {
            let whole = certain_in_pieces(&base, &current, isize::MAX, usize::MAX);
            assert_eq!(certain_in_pieces(&base, &current, 0, usize::MAX), whole);
            cut.set(cut.get() + u32::from(pieces(&base, &current, 0) > 1));
        });
    }
    assert!(cut.get() * 10 > share(15_000), "only {} were cut", cut.get());
}

/// Blocks that are made again give the same answer, however few points are kept.
#[test]
fn what_is_certain_does_not_depend_on_what_is_kept() {
    let cases = [
        any_text(40, 4).prop_flat_map(|base| (Just(base), any_text(40, 4))).boxed(),
        text_and_later(80, 100).boxed(),
    ];
    for cases in cases {
        holds(share(5000), &(cases, 0..60usize), |((base, current), kept)| {
            let whole = certain_in_pieces(&base, &current, isize::MAX, usize::MAX);
            assert_eq!(certain_in_pieces(&base, &current, isize::MAX, kept), whole);
        });
    }
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
            assert_eq!(slowly::certain_pairs(&base, &current), slowly);
        });
    }
    for kinds in [2, 4, 20] {
        let random = (any_text(40, kinds), any_text(40, kinds));
        for cases in [random.boxed(), text_and_later(60, kinds).boxed()] {
            holds(share(2000), &cases, |(base, current)| {
                assert_eq!(certain_pairs(&base, &current), slowly::certain_pairs(&base, &current));
            });
        }
    }
}

/// The bytes where the lines of a text begin, and the end of the text.
fn line_starts(text: &[u8]) -> Vec<usize> {
    let mut starts = vec![0];
    for line in lines(text) {
        starts.push(starts[starts.len() - 1] + line.len());
    }
    starts
}

/// The splices that replace these lines.
fn edit_of(base: &[u8], changes: &[Replaced]) -> Edit {
    let starts = line_starts(base);
    let mut splices = Splices::new();
    for change in changes {
        let bytes = starts[change.lines.start]..starts[change.lines.end];
        splices.push(bytes, change.new.clone());
    }
    Edit {
        sources: (0..changes.len()).map(|change| vec![change]).collect(),
        splices,
        ..Edit::default()
    }
}

/// Base, current and changes of the base. Between two changes there is a line, and nothing follows
/// a last line without a line feed.
fn cases(longest: usize, kinds: u8) -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Vec<Replaced>)> {
    let changes = vec((0..4usize, 0..3usize, vec(0..kinds + 1, 0..3)), 1..4);
    let shares = weighted(0.3);
    (text_and_later(longest, kinds), changes, shares).prop_map(
        move |((base, mut current), changes, shares)| {
            let len = lines(&base).len();
            let mut at = 0;
            let mut replaced: Vec<Replaced> = Vec::new();
            for (skipped, gone, new) in changes {
                let start = at + skipped;
                let end = (start + gone).min(len);
                if start > len
                    || (start == end && new.is_empty())
                    || (start == len && !base.ends_with(b"\n") && len > 0)
                {
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
        },
    )
}

#[test]
fn an_edit_is_carried_by_the_rule_or_not_at_all() {
    for (longest, kinds) in [(8, 2), (9, 3), (25, 10), (40, 26)] {
        holds(share(6000), &cases(longest, kinds), |(base, current, changes)| {
            let edit = edit_of(&base, &changes);
            let result = carry(&base, &current, &edit);
            let expected = slowly::carried(&base, &current, &changes);
            let applied = result.as_ref().ok().map(|carried| carried.splices.apply(&current));
            assert_eq!(applied, expected, "{result:?}");
            match result {
                Ok(carried) => {
                    let hunks: Vec<usize> =
                        carried.hunks.iter().map(|carried| carried.hunk).collect();
                    assert_eq!(hunks, (0..changes.len()).collect::<Vec<_>>());
                    for carried in &carried.hunks {
                        let base = lines(&base);
                        let current = lines(&current);
                        assert!(1 <= *carried.from.start());
                        assert!(*carried.from.end() <= base.len());
                        assert!(1 <= *carried.to.start());
                        assert!(*carried.to.end() <= current.len());
                        if !carried.already_there {
                            let [base, current] = [(&base, &carried.from), (&current, &carried.to)]
                                .map(|(lines, range)| {
                                    lines[range.start() - 1..*range.end()].concat()
                                });
                            assert_eq!(base, current, "{carried:?}");
                        }
                    }
                }
                Err(conflicts) => {
                    assert!(!conflicts.is_empty());
                    let wanted = edit.apply(&base);
                    for conflict in conflicts {
                        assert!(!conflict.hunks.is_empty());
                        for (excerpt, file) in [
                            (conflict.base, &base),
                            (conflict.current, &current),
                            (conflict.wanted, &wanted),
                        ] {
                            let lines = lines(file);
                            assert_eq!(
                                lines[excerpt.lines.start - 1..excerpt.lines.end - 1].concat(),
                                excerpt.text
                            );
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

/// The edit of one alignment: the lines without a match are replaced.
fn edit_of_alignment(base: &[u8], wanted: &[u8], alignment: &Pairs) -> Edit {
    let base_starts = line_starts(base);
    let wanted_starts = line_starts(wanted);
    let ends = (base_starts.len() - 1, wanted_starts.len() - 1);
    let mut splices = Splices::new();
    let mut at = 0;
    let mut wanted_at = 0;
    for &(line, wanted_line) in alignment.iter().chain([&ends]) {
        if (at, wanted_at) != (line, wanted_line) {
            let text = &wanted[wanted_starts[wanted_at]..wanted_starts[wanted_line]];
            splices.push(base_starts[at]..base_starts[line], text.to_vec());
        }
        at = line + 1;
        wanted_at = wanted_line + 1;
    }
    let sources = (0..splices.as_slice().len()).map(|hunk| vec![hunk]).collect();
    Edit { splices, sources, ..Edit::default() }
}

/// Whichever of the possible edits was made, it is carried to the same text as the difference, or
/// not at all. And the order of two changes does not matter.
#[test]
fn a_difference_is_carried_where_every_edit_that_it_may_have_been_is() {
    let carried = Cell::new(0);
    let cases = share(20_000);
    let strategy = (text_and_later(7, 3), any_text(7, 3), weighted(0.6), any::<Index>());
    holds(cases, &strategy, |((base, wanted), other, near, at)| {
        // Mostly a file that has one change more.
        let current = if near {
            let mut all: Vec<&[u8]> = lines(&base);
            all.insert(at.index(all.len() + 1), b"x\n");
            all.concat()
        } else {
            other
        };
        let edit = super::difference(&base, &wanted);
        assert_eq!(edit.apply(&base), wanted);
        let Ok(one) = carry(&base, &current, &edit) else { return };
        let one = one.splices.apply(&current);
        carried.set(carried.get() + 1);
        for alignment in minimal_alignments(&lines(&base), &lines(&wanted)) {
            let edit = edit_of_alignment(&base, &wanted, &alignment);
            assert_eq!(edit.apply(&base), wanted);
            if let Ok(other) = carry(&base, &current, &edit) {
                assert_eq!(other.splices.apply(&current), one);
            }
        }
        if let Ok(other) = carry(&base, &wanted, &super::difference(&base, &current)) {
            assert_eq!(other.splices.apply(&wanted), one);
        }
    });
    assert!(carried.get() > cases / 20, "{} were carried", carried.get());
}

/// As where a program became twice as long: five thousand new lines, and few of the old ones side
/// by side.
#[test]
fn a_file_with_thousands_of_new_lines_takes_an_edit() {
    let count = if whole() { 3000 } else { 1200 };
    let base: Vec<String> = (0..count).map(|nth| format!("old {nth}\n")).collect();
    let mut current = String::new();
    for (nth, line) in base.iter().enumerate() {
        current.push_str(line);
        if nth % 6 == 5 {
            (0..10).for_each(|new| current.push_str(&format!("new {nth} {new}\n")));
        }
    }
    let change = Replaced { lines: 602..603, new: b"changed\n".to_vec() };
    let base = base.concat().into_bytes();
    let carried =
        carry(&base, current.as_bytes(), &edit_of(&base, &[change])).expect("its lines were kept");
    assert_eq!(
        carried.splices.apply(current.as_bytes()),
        current.replace("old 602\n", "changed\n").into_bytes()
    );
}

/// The closing lines of a block have equal ones in another block, which came or went: minimal
/// alignments differ about them. A change is carried when all alignments make one text.
#[test]
fn what_all_minimal_alignments_make_alike_is_carried() {
    let cases = [
        // A block came behind the changed line, which may have been the same in front of the brace.
        ("a\nold\n}\nz\n", (1..2, "new\n"), "a\nold\n}\nb\n}\nz\n", None),
        // A block went.
        ("a\nold\n}\nb\n}\n", (1..2, "new\n"), "a\nold\n}\n", Some("a\nnew\n}\n")),
        // Either blank line above or below the new line may have gone: that makes one text, but no
        // alignment keeps both.
        ("a\n\n\nz\n", (2..2, "new\n"), "a\n\nz\n", None),
        // It is there already, wherever it was put.
        ("a\n\nx\n", (2..2, "\n"), "a\n\n\nx\n", Some("a\n\n\nx\n")),
        // On one side or the other of what came in the same gap.
        ("a\n}\nz\n", (2..2, "new\n}\n"), "a\n}\nb\n}\nz\n", None),
        // The same block, which one side wrote in place of the lines below, and the other above.
        (
            "/*\n * a\n */\na\n",
            (1..2, " * new\n */\nnew\n/*\n * a\n"),
            "/*\n * new\n */\nother\n/*\n * a\n */\na\n",
            None,
        ),
        // Beside what changed, in all alignments.
        ("a\nold\nz\n", (1..2, "new\n"), "a\nold\nb\nz\n", None),
    ];
    for (base, (lines, new), current, expected) in cases {
        let change = Replaced { lines, new: new.as_bytes().to_vec() };
        let edit = edit_of(base.as_bytes(), &[change]);
        let carried = carry(base.as_bytes(), current.as_bytes(), &edit);
        let made = carried.ok().map(|carried| carried.splices.apply(current.as_bytes()));
        assert_eq!(made.as_deref(), expected.map(str::as_bytes), "{base:?} {current:?}");
    }
}
