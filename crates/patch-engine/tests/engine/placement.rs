//! Placement held against an obviously right matcher: all placements by brute force, small inputs.

mod naive;

use std::cell::Cell;

use patch_engine::{
    Ambiguous, FinalNewline, Note, Options, Order, Pass, Placed, Profile, Reindented, RejectReason,
    Rules, edit, parse,
};
use patch_grammar::diff::{self, DiffOptions};
use patch_grammar::{Hunk, LineKind, ParseOptions, SectionOperation};
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use self::naive::{naive_ordered, naive_post_state, same};
use testutils::holds::holds;
use testutils::share::share;

/// How many cases each test tries; `PLACEMENT_CASES` asks for more.
fn cases() -> u32 {
    std::env::var("PLACEMENT_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or_else(|| share(30_000))
}

/// The lines of a file, and a patch of it.
type Case = (Vec<String>, String);

fn patch_of(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
}

/// Which word, how far it is indented, and whether a blank follows.
type Word = (Index, usize, bool);

/// A hunk; which lines it is about is known when the file is.
#[derive(Debug, Clone)]
struct Cut {
    headers: Vec<Word>,
    from: Index,
    /// What becomes of each line, whether it is deleted, and which line it is instead.
    lines: Vec<(bool, bool, Option<Word>)>,
    /// Where a line is inserted, and which one; none: a new one.
    inserts: Vec<(Index, Option<Word>)>,
    end_of_file: bool,
}

/// A file and hunks, most of them cut from it.
fn case(headers: bool, blanks: bool) -> impl Strategy<Value = Case> {
    const WORDS: [&str; 5] = ["a", "b", "@c", "}", "\u{e9}"];
    let indent = if blanks || headers { 0..3_usize } else { 0..1 };
    let word = (any::<Index>(), indent, weighted(if blanks { 0.25 } else { 0.0 }));
    let headers = if headers { 0..4_usize } else { 0..1 };
    let line = (
        weighted(1.0 / 3.0),
        weighted(if blanks { 0.25 } else { 0.0 }),
        option::weighted(0.05, word.clone()),
    );
    let insert = (any::<Index>(), option::of(word.clone()));
    let hunk = (
        vec(word.clone(), headers),
        any::<Index>(),
        vec(line, 0..4),
        vec(insert, 0..3),
        weighted(1.0 / 12.0),
    );
    let hunk = hunk.prop_map(|(headers, from, lines, inserts, end_of_file)| Cut {
        headers,
        from,
        lines,
        inserts,
        end_of_file,
    });
    (1..=WORDS.len(), vec(word, 0..14), vec(hunk, 1..=4)).prop_map(|(letters, file, hunks)| {
        let word = |(which, indent, blank): &Word| {
            let end = if *blank { " " } else { "" };
            format!("{}{}{end}", " ".repeat(*indent), which.get(&WORDS[..letters]))
        };
        let file: Vec<String> = file.iter().map(word).collect();
        let mut body = String::new();
        for hunk in &hunks {
            let headers: Vec<String> =
                hunk.headers.iter().map(|header| format!("@@ {}\n", word(header))).collect();
            body += if headers.is_empty() { "@@\n".into() } else { headers.concat() }.as_str();
            let len = hunk.lines.len().min(file.len());
            let from = hunk.from.index(file.len() - len + 1);
            let cut = file[from..from + len].iter().zip(&hunk.lines).map(
                |(line, (deleted, moved, other))| {
                    let mark = if *deleted { '-' } else { ' ' };
                    match other {
                        _ if *moved => format!("{mark} {} ", line.trim()),
                        Some(other) => format!("{mark}{}", word(other)),
                        None => format!("{mark}{line}"),
                    }
                },
            );
            let mut lines: Vec<String> = cut.collect();
            for (at, text) in &hunk.inserts {
                let text = text.as_ref().map_or("new".into(), word);
                lines.insert(at.index(lines.len() + 1), format!("+{text}"));
            }
            if lines.is_empty() {
                lines.push("+x".into());
            }
            body.extend(lines.iter().map(|line| format!("{line}\n")));
            if hunk.end_of_file {
                body += "*** End of File\n";
            }
        }
        (file, patch_of(&body))
    })
}

/// A file of few different lines, so long that a hunk may have more places than are ever listed.
fn long_case() -> impl Strategy<Value = Case> {
    const WORDS: [&str; 5] = ["a", "  a", " b", "c", "1"];
    const ONCE: &str = "the only one";
    // One of the first letters mostly, and seldom another.
    let words = || (any::<Index>(), any::<Index>());
    // A line again and again, and where others stand among it.
    let run = (words(), 0..90_usize, vec((any::<Index>(), words()), 0..5));
    let header = option::weighted(0.875, words());
    let lines = vec(weighted(1.0 / 3.0), 1..=4);
    let near = option::of(0..3_usize);
    let hunk = (vec(header, 0..4), any::<Index>(), near, lines, any::<bool>());
    let shape = (1..=WORDS.len(), 2..=201_usize);
    (shape, vec(run, 1..=3), any::<Index>(), vec(hunk, 1..=3)).prop_map(
        |((letters, seldom), runs, once, hunks)| {
            let word = |(which, among): &(Index, Index)| match among.index(seldom) {
                1 => *which.get(&WORDS),
                _ => *which.get(&WORDS[..letters]),
            };
            let mut file: Vec<String> = Vec::new();
            for (line, times, others) in &runs {
                let begin = file.len();
                file.resize(begin + times, word(line).to_owned());
                for (at, other) in others.iter().filter(|_| *times > 0) {
                    file[begin + at.index(*times)] = word(other).to_owned();
                }
            }
            file.insert(once.index(file.len() + 1), ONCE.to_owned());
            let mut body = String::new();
            for (headers, from, near, lines, inserts) in &hunks {
                let headers: Vec<&str> =
                    headers.iter().map(|header| header.as_ref().map_or(ONCE, word)).collect();
                body += format!("@@ {}", headers.join("\n@@ ")).trim_end();
                body.push('\n');
                let once = file.iter().position(|line| line == ONCE).expect("it was put there");
                let from = near.map_or(from.index(file.len()), |near| once.saturating_sub(near));
                for (line, deleted) in file[from..].iter().zip(lines) {
                    body += &format!("{}{line}\n", if *deleted { "-" } else { " " });
                }
                if *inserts {
                    body += "+new\n";
                }
            }
            (file, patch_of(&body))
        },
    )
}

/// Whether a placed hunk only inserts, below its old lines or above them, what stands there.
fn stands_already(file: &[String], hunk: &Hunk<'_>, placed: &Placed) -> bool {
    let texts = |wanted: LineKind| -> Vec<String> {
        let lines = hunk.lines.iter().filter(|line| line.kind == wanted);
        lines.map(|line| String::from_utf8_lossy(line.text).into_owned()).collect()
    };
    let kinds: Vec<_> = hunk.lines.iter().map(|line| line.kind).collect();
    let new = texts(LineKind::Insert);
    let tells = |lines: &[String]| lines.iter().any(|line| line.contains(char::is_alphanumeric));
    if kinds.contains(&LineKind::Delete) || !tells(&new) || !tells(&texts(LineKind::Context)) {
        return false;
    }
    let (start, end) = (placed.first_line - 1, placed.first_line - 1 + placed.line_count);
    let above = kinds.iter().take_while(|kind| **kind == LineKind::Insert).count();
    let below = kinds.iter().rev().take_while(|kind| **kind == LineKind::Insert).count();
    let stand = |lines: Option<&[String]>, new: &[String]| {
        lines.is_some_and(|lines| {
            lines.iter().zip(new).all(|(line, new)| same(placed.pass, new, line))
        })
    };
    above + below == new.len()
        && start >= above
        && stand(file.get(start - above..start), &new[..above])
        && stand(file.get(end..end + below), &new[above..])
}

type Naive = fn(&[String], &[Hunk<'_>]) -> Option<Vec<String>>;

fn check(
    strategy: &impl Strategy<Value = Case>,
    cases: u32,
    rules: &Rules,
    reindented: bool,
    naive: Naive,
) {
    let applied = Cell::new(0);
    holds(cases, strategy, |(file, text)| {
        let patch = parse(&text, &ParseOptions::default())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let SectionOperation::Update { hunks, .. } = &patch.sections()[0].operation else {
            unreachable!()
        };
        // A hunk that only inserts has rules of its own, tested in tables.
        if rules.order == Order::File && hunks.iter().any(|hunk| hunk.old_lines().count() == 0) {
            return;
        }
        let Some(meant) = naive::meant(hunks) else { return };
        let source: String = file.iter().map(|line| format!("{line}\n")).collect();
        let wanted = naive(&file, &meant)
            .map(|lines| lines.iter().map(|line| format!("{line}\n")).collect::<String>());
        let found = edit(source.as_bytes(), hunks, rules, FinalNewline::Keep);
        match (&wanted, &found) {
            (Some(wanted), Ok(edit)) => {
                let result =
                    String::from_utf8(edit.apply(source.as_bytes())).expect("UTF-8 in, UTF-8 out");
                let flat = |text: &str| {
                    text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>()
                };
                // With blanks overlooked, inserted lines may be indented anew.
                let same =
                    if reindented { flat(&result) == flat(wanted) } else { &result == wanted };
                assert!(same, "{file:?}\n{text}\ngave {result:?}, not {wanted:?}");
                for placed in &edit.placed {
                    let twice = stands_already(&file, &meant[placed.hunk], placed);
                    assert!(!twice, "{file:?}\n{text}\nhas it twice: {result:?}");
                }
                applied.set(applied.get() + 1);
            }
            (None, Err(rejects)) => assert!(!rejects.is_empty()),
            // What it would write stands there already.
            (Some(_), Err(rejects))
                if rejects.iter().all(|reject| {
                    let RejectReason::AlreadyApplied { lines } = &reject.reason else {
                        return false;
                    };
                    let there = &file[lines.start() - 1..*lines.end()];
                    let new: Vec<_> = hunks[reject.hunk].new_lines().collect();
                    new.len() >= there.len()
                        && there.iter().zip(new).all(|(line, new)| {
                            String::from_utf8_lossy(new.text).trim() == line.trim()
                        })
                }) => {}
            // The matched lines may not tell how.
            (Some(_), Err(rejects))
                if reindented
                    && rejects.iter().all(|reject| {
                        matches!(reject.reason, RejectReason::Indentation { .. })
                    }) => {}
            _ => panic!("{file:?}\n{text}\ngave {found:?}, not {wanted:?}"),
        }
    });
    let applied = applied.get();
    assert!(applied > cases / 20, "only {applied} of {cases} cases applied: the test has no teeth");
}

#[test]
fn strict_places_like_the_naive_matcher() {
    let rules = Options::new(Profile::Strict).placement;
    check(&case(false, false), cases(), &rules, false, naive_post_state);
}

#[test]
fn codex_places_like_the_naive_matcher() {
    let rules = Options::new(Profile::Codex).placement;
    check(&case(false, false), cases(), &rules, false, naive_ordered);
}

#[test]
fn codex_places_like_the_naive_matcher_with_headers() {
    let rules = Options::new(Profile::Codex).placement;
    check(&case(true, false), cases(), &rules, true, naive_ordered);
}

#[test]
fn codex_places_like_the_naive_matcher_with_blanks() {
    let rules = Options::new(Profile::Codex).placement;
    check(&case(false, true), cases(), &rules, true, naive_ordered);
    check(&case(true, true), cases(), &rules, true, naive_ordered);
}

#[test]
fn places_beyond_those_that_are_listed_count_too() {
    let (strict, codex) =
        (Options::new(Profile::Strict).placement, Options::new(Profile::Codex).placement);
    check(&long_case(), cases() / 20, &strict, false, naive_post_state);
    check(&long_case(), cases() / 20, &codex, true, naive_ordered);
}

#[test]
fn a_hunk_with_many_places_all_above_its_header_is_refused() {
    let codex = Options::new(Profile::Codex).placement;
    let file = "x\n".repeat(70) + "h\n";
    assert_eq!(hunks_of(&file, "@@ h\n-x\n", &codex), Err(vec!["outside_scope"]));
}

fn hunks_of(file: &str, body: &str, rules: &Rules) -> Result<String, Vec<&'static str>> {
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    let options =
        ParseOptions { strip_wrappers: true, bare_first_hunk: true, ..ParseOptions::default() };
    let patch = parse(&text, &options).expect("it parses");
    match edit(file.as_bytes(), patch.sections()[0].hunks(), rules, FinalNewline::Keep) {
        Ok(edit) => Ok(String::from_utf8(edit.apply(file.as_bytes())).expect("UTF-8")),
        Err(rejects) => Err(rejects.iter().map(|reject| reject.reason.as_str()).collect()),
    }
}

#[test]
fn each_rule_of_placement_in_one_case() {
    let strict = Options::new(Profile::Strict).placement;
    let codex = Options::new(Profile::Codex).placement;
    let first = Rules { ambiguous: Ambiguous::First, ..codex.clone() };
    let strict_first = Rules { ambiguous: Ambiguous::First, ..strict.clone() };
    let strict_appends = Rules { append_without_anchor: true, ..strict.clone() };
    for (rules, file, body, wanted) in [
        // A second place is never a choice.
        (&strict, "a\nb\na\n", "@@\n-a\n", Err("multiple_matches")),
        (&codex, "a\nb\na\n", "@@\n-a\n", Err("multiple_matches")),
        (&first, "a\nb\na\n", "@@\n-a\n", Ok("b\na\n")),
        // Two ambiguous hunks that together have one placement.
        (&codex, "a\na\n", "@@\n-a\n+x\n@@\n-a\n+y\n", Ok("x\ny\n")),
        (&strict, "a\na\n", "@@\n-a\n+x\n@@\n-a\n+y\n", Err("multiple_matches")),
        // Later hunks see what earlier ones made.
        (&strict, "a\nb\n", "@@\n-a\n+c\n@@\n c\n+d\n", Ok("c\nd\nb\n")),
        (&strict, "a\nb\n", "@@\n-a\n+b2\n@@\n-b2\n+c\n", Err("overlapping_edits")),
        (&strict, "a\nb\n", "@@\n-a\n+c\n@@\n-a\n+d\n", Err("overlapping_edits")),
        (&strict, "a\nb\n", "@@\n+b\n a\n@@\n-b\n", Err("multiple_matches")),
        (&strict, "a\nb\nc\n", "@@\n a\n-b\n+x\n@@\n a\n x\n c\n+d\n", Ok("a\nx\nc\nd\n")),
        (&strict, "a\n", "@@\n a\n+x\n@@\n-a\n@@\n a\n x\n+y\n", Err("context_not_found")),
        (&strict_first, "a\nb\na\n", "@@\n-a\n", Ok("b\na\n")),
        // Headers decide in codex, and inform in strict.
        (&codex, "fn a\n x\nfn b\n x\n", "@@ fn b\n- x\n", Ok("fn a\n x\nfn b\n")),
        (&strict, "fn a\n x\nfn b\n x\n", "@@ fn b\n- x\n", Err("multiple_matches")),
        (&codex, "fn a\n x\nfn b\n x\n", "@@ fn c\n- x\n", Err("anchor_not_found")),
        (&codex, "fn a\n x\nfn b\n y\n", "@@ fn c\n- x\n", Ok("fn a\nfn b\n y\n")),
        (&codex, "x\nfn a\n y\n", "@@ fn a\n-x\n", Err("outside_scope")),
        // A hunk may begin above its header, if it shows it above what it changes.
        (&codex, "x\nfn a\n y\n", "@@ fn a\n x\n fn a\n- y\n", Ok("x\nfn a\n")),
        (&codex, "x\nfn a\n y\n", "@@ fn a\n-x\n fn a\n", Err("outside_scope")),
        (
            &codex,
            "class A\n f\n  x\nclass B\n f\n  x\n",
            "@@ class B\n@@  f\n-  x\n",
            Ok("class A\n f\n  x\nclass B\n f\n"),
        ),
        (&codex, "fn a\n x\nfn b\n x\n", "@@ -1,2 +1,1 @@ fn b\n- x\n", Ok("fn a\n x\nfn b\n")),
        // A scope goes on over a decorator: the place below it is as good as the one above.
        (
            &codex,
            "def f():\n    a,\n    b,\n\n@deco(\n    a,\n    c,\n)\ndef g():\n",
            "@@ def f():\n     a,\n+    x,\n",
            Err("multiple_matches"),
        ),
        // Insertions without old lines.
        (&codex, "a\nb\n", "@@ a\n+x\n", Ok("a\nx\nb\n")),
        (&codex, "a\nb\na\n", "@@ a\n+x\n", Err("multiple_matches")),
        (&codex, "a\nb\n", "@@\n+x\n", Ok("a\nb\nx\n")),
        (&codex, "a\nb\n", "@@ -1,0 +2,1 @@\n+x\n", Err("no_anchor")),
        (&codex, "a\n", "@@\n+x\n@@\n-a\n+b\n", Ok("b\nx\n")),
        (&codex, "a\n", "@@\n+x\n@@\n+y\n", Ok("a\nx\ny\n")),
        (&codex, "a\n\nb\n", "@@\n+x\n\n", Ok("a\n\nb\nx\n")),
        (&codex, "a\nb\n", "@@ a\n+x\n*** End of File\n", Ok("a\nb\nx\n")),
        (&codex, "", "@@ a\n+x\n", Ok("x\n")),
        (&codex, "", "@@ -0,0 +1,1 @@\n+x\n", Ok("x\n")),
        (
            &codex,
            "z\ndef f\nclass A\n def f\n y\n",
            "@@ class A\n@@ def f\n+x\n",
            Ok("z\ndef f\nclass A\n def f\nx\n y\n"),
        ),
        (&strict_appends, "a\n", "@@\n+x\n", Ok("a\nx\n")),
        (&strict, "a\nb\n", "@@\n+x\n", Err("no_anchor")),
        (&strict, "a\nb\n", "@@\n+x\n*** End of File\n", Ok("a\nb\nx\n")),
        (&strict, "", "@@\n+x\n", Ok("x\n")),
        // The end of the file.
        (&strict, "a\nb\na\n", "@@\n-a\n+c\n*** End of File\n", Ok("a\nb\nc\n")),
        (&codex, "a\nb\na\n", "@@\n-a\n+c\n*** End of File\n", Ok("a\nb\nc\n")),
        (&codex, "a\nb\n", "@@\n-a\n*** End of File\n", Err("context_not_found")),
        // Out of order, when there is one place for each.
        (&codex, "a\nb\nc\n", "@@\n-c\n@@\n-a\n", Ok("b\n")),
        (&codex, "a\nb\nc\na\n", "@@\n-c\n+x\n@@\n-b\n@@\n-a\n", Err("multiple_matches")),
        (&codex, "a\n", "@@\n-a\n+x\n@@\n-a\n+y\n", Err("overlapping_edits")),
        (&codex, "a\nb\n", "@@ b\n+x\n@@ a\n+y\n", Ok("a\ny\nb\nx\n")),
        (&codex, "a\nb\n", "@@ b\n+x\n@@ a\n+y\n@@ a\n+z\n", Err("overlapping_edits")),
        (&codex, "a\nb\nc\n", "@@\n b\n c\n+x\n@@\n+y\n a\n", Ok("y\na\nb\nc\nx\n")),
        // Empty lines that lost their blank.
        (&strict, "a\n\nb\n", "@@\n-a\n\n", Ok("\nb\n")),
        (&strict, "a\nb\n", "@@\n-a\n\n\n", Ok("b\n")),
        (&strict, "a\nb\n", "@@\n\n", Err("context_not_found")),
        // Fuzz.
        (&codex, "a \n", "@@\n-a\n+b\n", Ok("b\n")),
        (&codex, "a\n a\n", "@@\n-a\n+b\n", Ok("b\n a\n")),
        (&strict, "a \n", "@@\n-a\n+b\n", Err("context_not_found")),
        (&codex, "  if x:\n    y\n", "@@\n if x:\n+  z\n   y\n", Ok("  if x:\n    z\n    y\n")),
        (&codex, "if x:\n  y\n", "@@\n     if x:\n+      z\n       y\n", Ok("if x:\n  z\n  y\n")),
        (&codex, "  if x:\n     y\n", "@@\n if x:\n+  z\n   y\n", Ok("  if x:\n     z\n     y\n")),
        (&codex, "  a \u{2013} b\n", "@@\n a - b\n+c\n", Ok("  a \u{2013} b\n  c\n")),
        (
            &codex,
            "  if x:\n    y\n",
            "@@\n if x:\n+\n+  z\n   y\n",
            Ok("  if x:\n\n    z\n    y\n"),
        ),
        // Not where an inserted line has no such blanks, or nothing but blanks is inserted.
        (&codex, "if x:\n  y\n", "@@\n     if x:\n+z\n+      w\n       y\n", Err("indentation")),
        (&codex, "a\n", "@@\n   a\n+   \n", Ok("a\n   \n")),
        // What is done already is said.
        (&strict, "new\nb\n", "@@\n-old\n+new\n b\n", Err("already_applied")),
        (&codex, "new\nb\n", "@@\n-old\n+new\n b\n", Err("already_applied")),
    ] {
        let found = hunks_of(file, body, rules);
        let found = found.as_deref().map_err(|reasons| reasons[0]);
        assert_eq!(found, wanted, "{:?} {file:?} {body:?}", rules.order);
    }
}

#[test]
fn as_many_hunks_as_there_are_places_have_one_placement() {
    let codex = Options::new(Profile::Codex).placement;
    let many = |text: &str| text.repeat(70);
    for (file, body, wanted) in [
        (many("a\n"), many("@@\n-a\n"), Ok(String::new())),
        (many("a\n"), "@@\n-a\n".repeat(69), Err("multiple_matches")),
        // Those of a scope, which may end where the lines stand once more.
        (
            format!("fn f\n{0}fn g\n{0}", many(" a\n")),
            many("@@ fn f\n- a\n"),
            Ok(format!("fn f\nfn g\n{}", many(" a\n"))),
        ),
        (format!("fn f\n{}a\n", many(" a\n")), many("@@ fn f\n-\ta\n"), Ok("fn f\na\n".into())),
        // An insertion that has one place between the others, and one after them.
        (
            many("h\n"),
            format!("{}@@ h\n+x\n{}", "@@\n-h\n".repeat(66), "@@\n-h\n".repeat(4)),
            Ok("x\n".into()),
        ),
        (
            format!("fn f\n{}fn g\n h\n", many(" h\n")),
            format!("{}@@ fn f\n@@  h\n+x\n", many("@@ fn f\n- h\n")),
            Ok("fn f\nx\nfn g\n h\n".into()),
        ),
    ] {
        let found = hunks_of(&file, &body, &codex).map_err(|reasons| reasons[0]);
        assert_eq!(found, wanted, "{file:?} {body:?}");
    }
}

#[test]
fn a_header_chooses_among_more_places_than_are_listed() {
    let codex = Options::new(Profile::Codex).placement;
    let many = " a\n".repeat(70);
    for (below, wanted) in [
        ("fn f\n a\n y\nfn g\n a\n", Ok("fn f\n y\nfn g\n a\n")),
        ("fn f\nfn g\n a\n", Ok("fn f\nfn g\n")),
        ("fn f\nfn g\n a\n a\n", Err("multiple_matches")),
    ] {
        let found = hunks_of(&format!("{many}{below}"), "@@ fn f\n- a\n", &codex)
            .map_err(|reasons| reasons[0]);
        assert_eq!(found, wanted.map(|below| format!("{many}{below}")), "{below:?}");
    }
}

#[test]
fn it_is_told_where_each_hunk_went_and_what_was_overlooked() {
    let strict = Options::new(Profile::Strict).placement;
    let codex = Options::new(Profile::Codex).placement;
    let strict_first = Rules { ambiguous: Ambiguous::First, ..strict.clone() };
    let first = Rules { ambiguous: Ambiguous::First, ..codex.clone() };
    let reindented = |patch: &str, file: &str| {
        let level = Reindented { patch: patch.into(), file: file.into() };
        vec![Note::Fuzz(Pass::Blanks), Note::Reindented(vec![level])]
    };
    for (rules, file, body, wanted) in [
        (&strict, "a\nb\nc\n", "@@\n-c\n@@\n a\n-b\n", vec![(3, 1, vec![]), (1, 2, vec![])]),
        (&codex, "a\nb\nc\n", "@@\n-a\n@@\n-b\n-c\n", vec![(1, 1, vec![]), (2, 2, vec![])]),
        // Out of order is what stands above the end of one before it.
        (
            &codex,
            "a\nb\nc\n",
            "@@\n-c\n@@\n-a\n",
            vec![(3, 1, vec![]), (1, 1, vec![Note::OutOfOrder])],
        ),
        (
            &codex,
            "a\nb\nc\nd\n",
            "@@\n-c\n@@\n-a\n@@\n-d\n",
            vec![(3, 1, vec![]), (1, 1, vec![Note::OutOfOrder]), (4, 1, vec![])],
        ),
        (
            &codex,
            "a\nb\nc\nd\n",
            "@@\n+n\n b\n c\n@@\n c\n-d\n",
            vec![(2, 2, vec![]), (3, 2, vec![Note::OutOfOrder])],
        ),
        (
            &first,
            "a\nb\na\nc\n",
            "@@\n-c\n@@\n-a\n",
            vec![(4, 1, vec![]), (1, 1, vec![Note::OutOfOrder, Note::FirstOfSeveral])],
        ),
        (&first, "a\nb\na\n", "@@\n-a\n", vec![(1, 1, vec![Note::FirstOfSeveral])]),
        (&strict_first, "a\nb\na\n", "@@\n-a\n", vec![(1, 1, vec![Note::FirstOfSeveral])]),
        (&strict, "a\nb\n", "@@\n-a\n\n\n", vec![(1, 1, vec![Note::SeparatorsDropped])]),
        (&codex, "a\nb\n", "@@\n-a\n\n\n", vec![(1, 1, vec![Note::SeparatorsDropped])]),
        (&codex, "fn a\n x\n", "@@ fn c\n- x\n", vec![(2, 1, vec![Note::HeaderNotFound])]),
        (&codex, "  a\n    b\n", "@@\n a\n+  c\n   b\n", vec![(1, 2, reindented("  ", "    "))]),
        (&codex, "a\n  b\n", "@@\n   a\n+    c\n     b\n", vec![(1, 2, reindented("    ", "  "))]),
        // Nothing to indent.
        (&codex, "  a\n  b\n", "@@\n a\n-b\n", vec![(1, 2, vec![Note::Fuzz(Pass::Blanks)])]),
        (&codex, "  a\n", "@@\n a\n+\n", vec![(1, 1, vec![Note::Fuzz(Pass::Blanks)])]),
        (&codex, "a  \n", "@@\n-a\n+b\n", vec![(1, 1, vec![Note::Fuzz(Pass::Trailing)])]),
        (
            &codex,
            "a \u{2013} b\n",
            "@@\n-a - b\n+a - c\n",
            vec![(1, 1, vec![Note::Fuzz(Pass::Unicode), Note::KeptCharacters])],
        ),
    ] {
        let text = patch_of(body);
        let patch = parse(&text, &ParseOptions::default()).expect("it parses");
        let edit = edit(file.as_bytes(), patch.sections()[0].hunks(), rules, FinalNewline::Keep)
            .expect("it applies");
        let found: Vec<_> = edit
            .placed
            .into_iter()
            .map(|placed| (placed.first_line, placed.line_count, placed.notes))
            .collect();
        assert_eq!(found, wanted, "{:?} {file:?} {body:?}", rules.order);
    }
}

#[test]
fn a_reject_says_where_and_how() {
    let strict = Options::new(Profile::Strict).placement;
    let reason = |file: &str, body: &str| {
        let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
        let patch = parse(&text, &ParseOptions::default()).expect("it parses");
        let mut rejects =
            edit(file.as_bytes(), patch.sections()[0].hunks(), &strict, FinalNewline::Keep)
                .expect_err("refused");
        rejects.remove(0).reason
    };
    let RejectReason::ContextNotFound { nearest: Some(nearest), .. } =
        reason("one\ntwo\nthree\nfour\n", "@@\n two\n-thre\n four\n")
    else {
        panic!("not found")
    };
    assert_eq!(nearest.lines, 2..=4);
    assert_eq!(nearest.agreeing, 2);
    assert_eq!(nearest.of, 3);
    let difference = nearest.difference.expect("a line differs");
    assert_eq!(difference.file_line, 3);
    assert_eq!(difference.patch_line, 5);
    assert_eq!(difference.column, 5);
    assert_eq!(difference.wanted.as_str(), "thre");
    assert_eq!(difference.found.as_deref(), Some("three"));

    let RejectReason::ContextNotFound { nearest: Some(nearest), .. } =
        reason("a\n\tb \n", "@@\n-b\n")
    else {
        panic!("not found")
    };
    assert_eq!(nearest.pass, Some(Pass::Blanks));
    assert_eq!(nearest.lines, 2..=2);

    let RejectReason::MultipleMatches { candidates, more, .. } = reason("x\na\ny\na\n", "@@\n-a\n")
    else {
        panic!("several")
    };
    assert!(!more);
    let advice: Vec<_> = candidates
        .iter()
        .map(|place| (place.lines.clone(), format!("{:?}", place.advice)))
        .collect();
    assert_eq!(advice[0], (2..=2, "Some(Before([\"x\"]))".to_owned()));
    assert_eq!(advice[1], (4..=4, "Some(Before([\"y\"]))".to_owned()));
}

#[test]
fn places_that_are_not_listed_are_mentioned() {
    for (profile, lines, listed, more) in [
        (Profile::Strict, 64, 64, false),
        (Profile::Strict, 65, 64, true),
        (Profile::Codex, 64, 64, false),
        (Profile::Codex, 65, 64, true),
    ] {
        let text = "*** Begin Patch\n*** Update File: f\n@@\n-a\n*** End Patch\n";
        let patch = parse(text, &ParseOptions::default()).expect("it parses");
        let rules = Options::new(profile).placement;
        let rejects = edit(
            "a\n".repeat(lines).as_bytes(),
            patch.sections()[0].hunks(),
            &rules,
            FinalNewline::Keep,
        );
        let RejectReason::MultipleMatches { candidates, more: says, .. } =
            &rejects.expect_err("refused")[0].reason
        else {
            panic!("several")
        };
        assert_eq!(candidates.len(), listed, "{lines}");
        assert_eq!(*says, more, "{lines}");
    }
}

#[test]
fn advice_that_is_followed_makes_the_hunk_unique() {
    let strict = Options::new(Profile::Strict).placement;
    let followed = Cell::new(0);
    holds(
        share(15_000),
        &(vec(select(&["a", "b", "c"][..]), 4..16), any::<Index>()),
        |(file, start)| {
            let start = start.index(file.len());
            let source: String = file.iter().map(|line| format!("{line}\n")).collect();
            let hunk = |before: &[String], after: &[String]| {
                let context = |lines: &[String]| {
                    lines.iter().map(|line| format!(" {line}\n")).collect::<String>()
                };
                format!(
                    "*** Begin Patch\n*** Update File: f\n@@\n{}-{}\n+new\n{}*** End Patch\n",
                    context(before),
                    file[start],
                    context(after)
                )
            };
            let apply = |text: &str| {
                let patch = parse(text, &ParseOptions::default()).expect("it parses");
                edit(source.as_bytes(), patch.sections()[0].hunks(), &strict, FinalNewline::Keep)
            };
            let Err(rejects) = apply(&hunk(&[], &[])) else { return };
            let RejectReason::MultipleMatches { candidates, .. } = &rejects[0].reason else {
                panic!("{rejects:?}")
            };
            for candidate in candidates {
                let text = match &candidate.advice {
                    Some(patch_engine::Advice::Before(lines)) => hunk(lines, &[]),
                    Some(patch_engine::Advice::After(lines)) => hunk(&[], lines),
                    _ => continue,
                };
                let edit =
                    apply(&text).unwrap_or_else(|rejects| panic!("{source:?} {text} {rejects:?}"));
                let result = String::from_utf8(edit.apply(source.as_bytes())).expect("UTF-8");
                assert_eq!(
                    result.lines().position(|line| line == "new"),
                    Some(candidate.lines.start() - 1)
                );
                followed.set(followed.get() + 1);
            }
        },
    );
    let followed = followed.get();
    assert!(followed > 1000, "only {followed} advices were followed");
}

/// What a diff makes of a file, with the lines whose place its line numbers told; or the reason of
/// the first reject.
fn by_diff(profile: Profile, file: &str, hunks: &str) -> Result<(String, usize), &'static str> {
    let options = Options::new(profile);
    // Some have no context.
    let rules = Rules { unidiff_zero: true, ..options.placement };
    by_rules(&rules, options.final_newline, file, hunks)
}

fn by_rules(
    rules: &Rules,
    final_newline: FinalNewline,
    file: &str,
    hunks: &str,
) -> Result<(String, usize), &'static str> {
    let text = format!("--- a/f\n+++ b/f\n{hunks}");
    let patch = diff::parse(text, &DiffOptions::default()).expect("a diff");
    let edit = edit(file.as_bytes(), patch.sections()[0].hunks(), rules, final_newline);
    let edit = edit.map_err(|rejects| rejects[0].reason.as_str())?;
    let told = edit.placed.iter().filter(|placed| placed.notes.contains(&Note::StatedLine)).count();
    Ok((String::from_utf8(edit.apply(file.as_bytes())).expect("UTF-8"), told))
}

#[test]
fn an_offset_from_the_stated_line_is_noted() {
    let options = Options::new(Profile::Strict);
    let rules = Rules { unidiff_zero: true, ..options.placement };
    let file = b"a\nb\nc\nd\ne\n";
    for (hunks, wanted) in [
        // Where the diff says.
        ("@@ -2,2 +2,2 @@\n b\n-c\n+C\n", vec![]),
        ("@@ -1,2 +1,2 @@\n b\n-c\n+C\n", vec![(0, 1, 2)]),
        ("@@ -5,2 +5,2 @@\n b\n-c\n+C\n", vec![(0, 5, 2)]),
        // Both sides of the diff count: the second hunk states its line before the first one.
        ("@@ -1 +1,2 @@\n-a\n+A\n+B\n@@ -4 +5 @@\n-d\n+D\n", vec![]),
        ("@@ -2 +2 @@\n-a\n+A\n@@ -5 +5 @@\n-d\n+D\n", vec![(0, 2, 1), (1, 5, 4)]),
        // A hunk that only inserts states the line above.
        ("@@ -3,0 +4 @@\n+C\n", vec![]),
        ("@@ -0,0 +1 @@\n+C\n", vec![]),
        // Without numbers there is no offset.
        ("@@\n-c\n+C\n", vec![]),
    ] {
        let text = format!("--- a/f\n+++ b/f\n{hunks}");
        let patch = diff::parse(text, &DiffOptions::default()).expect("a diff");
        let edit = edit(file, patch.sections()[0].hunks(), &rules, options.final_newline)
            .expect("it applies");
        let mut found = Vec::new();
        for placed in &edit.placed {
            for note in &placed.notes {
                if let Note::Offset { stated, line } = *note {
                    found.push((placed.hunk, stated, line));
                }
            }
        }
        assert_eq!(found, wanted, "{hunks}");
    }
}

#[test]
fn stated_lines_choose_among_places_where_the_text_is_the_same() {
    let file = "x\na\nb\na\nb\na\nb\ny\n";
    let hunk = |line: usize| format!("@@ -{line} +{line} @@ f\n-b\n+c\n");
    let top = |line: usize| format!("@@ -{line} +{line} @@\n-x\n+z\n");
    let bottom = |line: usize| format!("@@ -{line} +{line} @@\n-y\n+z\n");
    for (hunks, wanted) in [
        (hunk(3), Ok(("x\na\nc\na\nb\na\nb\ny\n", 1))),
        (hunk(5), Ok(("x\na\nb\na\nc\na\nb\ny\n", 1))),
        (hunk(7), Ok(("x\na\nb\na\nb\na\nc\ny\n", 1))),
        // No place, near as it is.
        (hunk(4), Err("multiple_matches")),
        (hunk(13), Err("multiple_matches")),
        // The hunk above was found so far from its line.
        (top(11) + &hunk(15), Ok(("z\na\nb\na\nc\na\nb\ny\n", 1))),
        (top(1) + &hunk(5), Ok(("z\na\nb\na\nc\na\nb\ny\n", 1))),
        // Both the line and the distance name a place.
        (top(3) + &hunk(7), Err("multiple_matches")),
        // So does the hunk below, if it has one place only.
        (hunk(5) + &bottom(8), Ok(("x\na\nb\na\nc\na\nb\nz\n", 1))),
        (hunk(5) + &bottom(10), Err("multiple_matches")),
        (hunk(5) + &hunk(7) + &bottom(10), Err("multiple_matches")),
        (hunk(3) + &bottom(10), Ok(("x\na\nc\na\nb\na\nb\nz\n", 1))),
        (hunk(5) + &bottom(9), Ok(("x\na\nb\na\nc\na\nb\nz\n", 1))),
        (hunk(3) + &hunk(5) + &hunk(7), Ok(("x\na\nc\na\nc\na\nc\ny\n", 2))),
        (hunk(3) + &hunk(7), Ok(("x\na\nc\na\nb\na\nc\ny\n", 2))),
        // One place is where it is, whatever the line.
        ("@@ -1,2 +1,2 @@\n b\n-y\n+z\n".into(), Ok(("x\na\nb\na\nb\na\nb\nz\n", 0))),
        ("@@ -2,2 +2,2 @@\n a\n-c\n+d\n".into(), Err("context_not_found")),
        // Numbers that do not fit the lines are no evidence.
        ("@@ -3,9 +3 @@\n-b\n+c\n".into(), Err("multiple_matches")),
    ] {
        for profile in [Profile::Strict, Profile::Codex] {
            // In file order three hunks have three places, whatever they state; one after the other
            // the last has one.
            let told = |told| {
                if profile == Profile::Codex && hunks.matches("@@ -").count() == 3 {
                    0
                } else {
                    told
                }
            };
            let wanted = wanted.map(|(text, count)| (text.to_owned(), told(count)));
            assert_eq!(by_diff(profile, file, &hunks), wanted, "{profile} {hunks}");
        }
    }
    // A place that an earlier hunk broke is none, whatever line is stated.
    let file_of_more = "x\na\nb\na\nb\na\nb\na\ny\n";
    let broken = "@@ -1,3 +1,4 @@\n x\n a\n+n\n b\n@@ -2,3 +2,3 @@\n a\n-b\n+c\n a\n";
    assert_eq!(by_diff(Profile::Strict, file_of_more, broken), Err("multiple_matches"));
    // Not where something is overlooked.
    let blanks = file.replace('b', "b ");
    assert_eq!(by_diff(Profile::Codex, &blanks, &hunk(5)), Err("multiple_matches"));
    let strict = Options::new(Profile::Strict).placement;
    let lenient = Rules { passes: Pass::ALL.to_vec(), unidiff_zero: true, ..strict };
    assert_eq!(by_rules(&lenient, FinalNewline::Keep, &blanks, &hunk(5)), Err("multiple_matches"));
    assert_eq!(by_diff(Profile::Strict, "", "@@ -0,0 +1 @@\n+n\n"), Ok(("n\n".into(), 0)));
}

/// A file, how many lines are shown around a change, and changes: how far each is from the last,
/// how many lines go, and which come.
type Changes = (Vec<&'static str>, usize, Vec<(usize, usize, Vec<&'static str>)>);

fn changes() -> impl Strategy<Value = Changes> {
    let lines = |most| vec(select(&["a\n", "b\n", "c\n"][..]), 0..most);
    (lines(14), 0..4_usize, vec((0..5_usize, 0..3_usize, lines(3)), 0..5))
}

/// The hunks of the changes, numbered as diff(1) does it, and the file afterwards.
fn diffed((before, context, changes): &Changes) -> (String, String) {
    let (mut hunks, mut after, mut from) = (String::new(), String::new(), 0);
    let signed = |sign: &str, lines: &[&str]| {
        lines.iter().map(|line| format!("{sign}{line}")).collect::<String>()
    };
    for (distance, gone, new) in changes {
        let start = from + context + distance;
        let end = start + gone;
        if end + context > before.len() || (start == end && (*context == 0 || new.is_empty())) {
            break;
        }
        let (above, below) = (&before[start - context..start], &before[end..end + context]);
        after += &(before[from..start].concat() + &new.concat() + &below.concat());
        let (old_count, new_count) = (end - start + 2 * context, new.len() + 2 * context);
        hunks += &format!("@@ -{},{old_count} +1,{new_count} @@\n", start - context + 1);
        hunks += &(signed(" ", above)
            + &signed("-", &before[start..end])
            + &signed("+", new)
            + &signed(" ", below));
        from = end + context;
    }
    after += &before[from..].concat();
    (hunks, after)
}

#[test]
fn what_a_diff_says_of_its_lines_is_done_or_refused() {
    let done = Cell::new(0);
    holds(cases() / 20, &changes(), |changes| {
        let (hunks, after) = diffed(&changes);
        if hunks.is_empty() {
            return;
        }
        for profile in [Profile::Strict, Profile::Codex] {
            match by_diff(profile, &changes.0.concat(), &hunks) {
                Ok((found, _)) => {
                    assert_eq!(found, after, "{profile} {changes:?}\n{hunks}");
                    done.set(done.get() + 1);
                }
                Err(reason) => {
                    assert_ne!(reason, "context_not_found", "{profile} {changes:?}\n{hunks}")
                }
            }
        }
    });
    assert!(done.get() > cases() / 80, "{} were done", done.get());
}
