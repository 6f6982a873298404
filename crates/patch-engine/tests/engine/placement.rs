//! Placement held against an obviously right matcher: all placements by brute force, small inputs.

use patch_engine::{Ambiguous, FinalNewline, Note, Options, Order, Pass, Profile, RejectReason, Rules, edit, parse};
use patch_grammar::diff::{Diff, DiffOptions};
use patch_grammar::{Hunk, Line, LineKind, ParseOptions, SectionOperation};

fn random(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % below
}

/// How many cases each test tries; `PLACEMENT_CASES` asks for more.
fn cases() -> usize {
    std::env::var("PLACEMENT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60_000)
}

fn text<'p>(line: &Line<'p>) -> &'p str {
    std::str::from_utf8(line.text).expect("envelopes are UTF-8")
}

/// The lines that the hunk wants, and whether each is deleted.
fn old<'p>(hunk: &'p Hunk<'p>) -> Vec<(&'p str, bool)> {
    hunk.old_lines().map(|line| (text(line), line.kind == LineKind::Delete)).collect()
}

/// Places one hunk after the other in the text as it stands then.
fn naive_post_state(file: &[String], hunks: &[Hunk<'_>]) -> Option<Vec<String>> {
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

fn same(pass: Pass, left: &str, right: &str) -> bool {
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
            anchors =
                (0..file.len()).filter(|&line| scope[line].is_some() && same(pass, &file[line], header)).collect();
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
                let opener = text.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c));
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
fn naive_ordered(file: &[String], hunks: &[Hunk<'_>]) -> Option<Vec<String>> {
    let mut places: Vec<Vec<usize>> = Vec::new();
    for hunk in hunks {
        let wanted = old(hunk);
        let mut found = Vec::new();
        for pass in Pass::ALL {
            let fits = |&start: &usize| {
                start + wanted.len() <= file.len()
                    && wanted.iter().zip(&file[start..]).all(|((text, _), line)| same(pass, text, line))
                    && (!hunk.end_of_file || start + wanted.len() == file.len())
            };
            found = (0..file.len()).filter(fits).collect();
            if !found.is_empty() {
                let headers: Vec<&str> = hunk.headers.iter().map(|header| header.text).collect();
                if !headers.is_empty() {
                    match naive_scope(file, &headers) {
                        Some((inside, first)) => {
                            if found.iter().any(|&start| inside[start]) {
                                found.retain(|&start| inside[start]);
                            } else {
                                found.retain(|&start| start >= first);
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
    fn count(places: &[Vec<usize>], lens: &[usize], from: usize, chosen: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
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
        0 if places.iter().all(|found| found.len() == 1) => places.iter().map(|found| found[0]).collect(),
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

/// A random file and random hunks, most of them cut from it.
fn random_case(seed: &mut u64, headers: bool, blanks: bool) -> (Vec<String>, String) {
    const WORDS: [&str; 5] = ["a", "b", "@c", "}", "\u{e9}"];
    let letters = 1 + random(seed, WORDS.len());
    let word = |seed: &mut u64| {
        let pad = if blanks || headers { " ".repeat(random(seed, 3)) } else { String::new() };
        let end = if blanks && random(seed, 4) == 0 { " " } else { "" };
        format!("{pad}{}{end}", WORDS[random(seed, letters)])
    };
    let file: Vec<String> = (0..random(seed, 14)).map(|_| word(seed)).collect();
    let mut body = String::new();
    for _ in 0..1 + random(seed, 4) {
        body.push_str("@@");
        if headers && random(seed, 2) == 0 {
            body += &format!(" {}", word(seed));
            while random(seed, 3) == 0 {
                body += &format!("\n@@ {}", word(seed));
            }
        }
        body.push('\n');
        let len = random(seed, 4).min(file.len());
        let start = random(seed, file.len() - len + 1);
        let mut lines = Vec::new();
        for line in &file[start..start + len] {
            let mut line = line.clone();
            if blanks && random(seed, 4) == 0 {
                line = format!(" {} ", line.trim());
            } else if random(seed, 20) == 0 {
                line = word(seed);
            }
            lines.push(format!("{}{line}", if random(seed, 3) == 0 { "-" } else { " " }));
        }
        for _ in 0..random(seed, 3) {
            let at = random(seed, lines.len() + 1);
            lines.insert(at, format!("+{}", if random(seed, 2) == 0 { word(seed) } else { "new".into() }));
        }
        if lines.is_empty() {
            lines.push("+x".into());
        }
        for line in lines {
            body += &format!("{line}\n");
        }
        if random(seed, 12) == 0 {
            body += "*** End of File\n";
        }
    }
    (file, format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n"))
}

/// A file of few different lines, so long that a hunk may have more places than are ever listed.
fn random_long_case(seed: &mut u64) -> (Vec<String>, String) {
    const WORDS: [&str; 5] = ["a", "  a", " b", "c", "1"];
    let letters = 1 + random(seed, WORDS.len());
    let seldom = 2 + random(seed, 200);
    let word = |seed: &mut u64| match random(seed, seldom) {
        0 => WORDS[random(seed, WORDS.len())],
        _ => WORDS[random(seed, letters)],
    };
    let mut file: Vec<String> = Vec::new();
    for _ in 0..1 + random(seed, 3) {
        let (line, times) = (word(seed), random(seed, 90));
        file.extend((0..times).map(|_| if random(seed, 30) == 0 { word(seed) } else { line }.to_owned()));
    }
    file.insert(random(seed, file.len() + 1), "the only one".to_owned());
    let mut body = String::new();
    for _ in 0..1 + random(seed, 3) {
        body.push_str("@@");
        for nth in 0..random(seed, 4) {
            let header = if random(seed, 8) == 0 { "the only one" } else { word(seed) };
            body += &format!("{} {header}", if nth > 0 { "\n@@" } else { "" });
        }
        let start = random(seed, file.len());
        let near = file.iter().position(|line| line == "the only one").filter(|_| random(seed, 2) == 0);
        let start = near.map_or(start, |near| near.saturating_sub(random(seed, 3)));
        body.push('\n');
        for line in &file[start..(start + 1 + random(seed, 4)).min(file.len())] {
            body += &format!("{}{line}\n", if random(seed, 3) == 0 { "-" } else { " " });
        }
        if random(seed, 2) == 0 {
            body += "+new\n";
        }
    }
    (file, format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n"))
}

fn check(
    seed: u64,
    rules: &Rules,
    headers: bool,
    blanks: bool,
    naive: fn(&[String], &[Hunk<'_>]) -> Option<Vec<String>>,
) {
    let cases = cases();
    let case = |seed: &mut u64| random_case(seed, headers, blanks);
    check_cases(seed, cases, rules, headers || blanks, case, naive);
}

fn check_cases(
    seed: u64,
    cases: usize,
    rules: &Rules,
    reindented: bool,
    make: impl Fn(&mut u64) -> (Vec<String>, String),
    naive: fn(&[String], &[Hunk<'_>]) -> Option<Vec<String>>,
) {
    let mut seed = seed;
    let mut applied = 0;
    for case in 0..cases {
        let (file, text) = make(&mut seed);
        let patch = parse(&text, &ParseOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let SectionOperation::Update { hunks, .. } = &patch.sections[0].operation else { unreachable!() };
        // A hunk that only inserts has rules of its own, tested in tables.
        if rules.order == Order::File && hunks.iter().any(|hunk| hunk.old_lines().count() == 0) {
            continue;
        }
        let source: String = file.iter().map(|line| format!("{line}\n")).collect();
        let wanted = naive(&file, hunks).map(|lines| lines.iter().map(|line| format!("{line}\n")).collect::<String>());
        let found = edit(source.as_bytes(), hunks, rules, FinalNewline::Keep);
        match (&wanted, &found) {
            (Some(wanted), Ok(edit)) => {
                let result = String::from_utf8(edit.apply(source.as_bytes())).expect("UTF-8 in, UTF-8 out");
                let flat = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
                // With blanks overlooked, inserted lines may be indented anew.
                let same = if reindented { flat(&result) == flat(wanted) } else { &result == wanted };
                assert!(same, "case {case}: {file:?}\n{text}\ngave {result:?}, not {wanted:?}");
                applied += 1;
            }
            (None, Err(rejects)) => assert!(!rejects.is_empty()),
            _ => panic!("case {case}: {file:?}\n{text}\ngave {found:?}, not {wanted:?}"),
        }
    }
    assert!(applied > cases / 20, "only {applied} of {cases} cases applied: the test has no teeth");
}

#[test]
fn strict_places_like_the_naive_matcher() {
    let rules = Options::new(Profile::Strict).placement;
    check(1, &rules, false, false, naive_post_state);
}

#[test]
fn codex_places_like_the_naive_matcher() {
    let rules = Options::new(Profile::Codex).placement;
    check(2, &rules, false, false, naive_ordered);
}

#[test]
fn codex_places_like_the_naive_matcher_with_headers() {
    let rules = Options::new(Profile::Codex).placement;
    check(3, &rules, true, false, naive_ordered);
}

#[test]
fn codex_places_like_the_naive_matcher_with_blanks() {
    let rules = Options::new(Profile::Codex).placement;
    check(4, &rules, false, true, naive_ordered);
    check(5, &rules, true, true, naive_ordered);
}

#[test]
fn places_beyond_those_that_are_listed_count_too() {
    let (strict, codex) = (Options::new(Profile::Strict).placement, Options::new(Profile::Codex).placement);
    check_cases(6, cases() / 20, &strict, false, random_long_case, naive_post_state);
    check_cases(7, cases() / 20, &codex, true, random_long_case, naive_ordered);
}

#[test]
fn a_hunk_with_many_places_all_above_its_header_is_refused() {
    let codex = Options::new(Profile::Codex).placement;
    let file = "x\n".repeat(70) + "h\n";
    assert_eq!(hunks_of(&file, "@@ h\n-x\n", &codex), Err(vec!["outside_scope"]));
}

fn hunks_of(file: &str, body: &str, rules: &Rules) -> Result<String, Vec<&'static str>> {
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    let options = ParseOptions { strip_wrappers: true, bare_first_hunk: true, ..ParseOptions::default() };
    let patch = parse(&text, &options).expect("it parses");
    match edit(file.as_bytes(), patch.sections[0].hunks(), rules, FinalNewline::Keep) {
        Ok(edit) => Ok(String::from_utf8(edit.apply(file.as_bytes())).expect("UTF-8")),
        Err(rejects) => Err(rejects.iter().map(|reject| reject.reason.as_str()).collect()),
    }
}

#[test]
fn each_rule_of_placement_in_one_case() {
    let strict = Options::new(Profile::Strict).placement;
    let codex = Options::new(Profile::Codex).placement;
    let first = Rules { ambiguous: Ambiguous::First, ..codex.clone() };
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
        // Headers decide in codex, and inform in strict.
        (&codex, "fn a\n x\nfn b\n x\n", "@@ fn b\n- x\n", Ok("fn a\n x\nfn b\n")),
        (&strict, "fn a\n x\nfn b\n x\n", "@@ fn b\n- x\n", Err("multiple_matches")),
        (&codex, "fn a\n x\nfn b\n x\n", "@@ fn c\n- x\n", Err("anchor_not_found")),
        (&codex, "fn a\n x\nfn b\n y\n", "@@ fn c\n- x\n", Ok("fn a\nfn b\n y\n")),
        (&codex, "x\nfn a\n y\n", "@@ fn a\n-x\n", Err("outside_scope")),
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
        // Empty lines that lost their blank.
        (&strict, "a\n\nb\n", "@@\n-a\n\n", Ok("\nb\n")),
        (&strict, "a\nb\n", "@@\n-a\n\n\n", Ok("b\n")),
        // Fuzz.
        (&codex, "a \n", "@@\n-a\n+b\n", Ok("b\n")),
        (&codex, "a\n a\n", "@@\n-a\n+b\n", Ok("b\n a\n")),
        (&strict, "a \n", "@@\n-a\n+b\n", Err("context_not_found")),
        (&codex, "  if x:\n    y\n", "@@\n if x:\n+  z\n   y\n", Ok("  if x:\n    z\n    y\n")),
        (&codex, "if x:\n  y\n", "@@\n     if x:\n+      z\n       y\n", Ok("if x:\n  z\n  y\n")),
        (&codex, "  if x:\n     y\n", "@@\n if x:\n+  z\n   y\n", Ok("  if x:\n  z\n     y\n")),
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
fn a_reject_says_where_and_how() {
    let strict = Options::new(Profile::Strict).placement;
    let reason = |file: &str, body: &str| {
        let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
        let patch = parse(&text, &ParseOptions::default()).expect("it parses");
        let mut rejects =
            edit(file.as_bytes(), patch.sections[0].hunks(), &strict, FinalNewline::Keep).expect_err("refused");
        rejects.remove(0).reason
    };
    let RejectReason::ContextNotFound { nearest: Some(nearest) } =
        reason("one\ntwo\nthree\nfour\n", "@@\n two\n-thre\n four\n")
    else {
        panic!("not found")
    };
    assert_eq!((nearest.lines, nearest.agreeing, nearest.of), (2..=4, 2, 3));
    let difference = nearest.difference.expect("a line differs");
    assert_eq!((difference.file_line, difference.patch_line, difference.column), (3, 5, 5));
    assert_eq!((difference.wanted.as_str(), difference.found.as_deref()), ("thre", Some("three")));

    let RejectReason::ContextNotFound { nearest: Some(nearest) } = reason("a\n\tb \n", "@@\n-b\n") else {
        panic!("not found")
    };
    assert_eq!((nearest.pass, nearest.lines), (Some(Pass::Blanks), 2..=2));

    let RejectReason::MultipleMatches { candidates, more, .. } = reason("x\na\ny\na\n", "@@\n-a\n") else {
        panic!("several")
    };
    assert!(!more);
    let advice: Vec<_> = candidates.iter().map(|place| (place.lines.clone(), format!("{:?}", place.advice))).collect();
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
        let rejects = edit("a\n".repeat(lines).as_bytes(), patch.sections[0].hunks(), &rules, FinalNewline::Keep);
        let RejectReason::MultipleMatches { candidates, more: says, .. } = &rejects.expect_err("refused")[0].reason
        else {
            panic!("several")
        };
        assert_eq!((candidates.len(), *says), (listed, more), "{lines}");
    }
}

#[test]
fn advice_that_is_followed_makes_the_hunk_unique() {
    let mut seed = 9;
    let strict = Options::new(Profile::Strict).placement;
    let mut followed = 0;
    for _ in 0..3000 {
        let file: Vec<String> =
            (0..4 + random(&mut seed, 12)).map(|_| ["a", "b", "c"][random(&mut seed, 3)].to_owned()).collect();
        let source: String = file.iter().map(|line| format!("{line}\n")).collect();
        let start = random(&mut seed, file.len());
        let hunk = |before: &[String], after: &[String]| {
            let context = |lines: &[String]| lines.iter().map(|line| format!(" {line}\n")).collect::<String>();
            format!(
                "*** Begin Patch\n*** Update File: f\n@@\n{}-{}\n+new\n{}*** End Patch\n",
                context(before),
                file[start],
                context(after)
            )
        };
        let apply = |text: &str| {
            let patch = parse(text, &ParseOptions::default()).expect("it parses");
            edit(source.as_bytes(), patch.sections[0].hunks(), &strict, FinalNewline::Keep)
        };
        let Err(rejects) = apply(&hunk(&[], &[])) else { continue };
        let RejectReason::MultipleMatches { candidates, .. } = &rejects[0].reason else { panic!("{rejects:?}") };
        for candidate in candidates {
            let text = match &candidate.advice {
                Some(patch_engine::Advice::Before(lines)) => hunk(lines, &[]),
                Some(patch_engine::Advice::After(lines)) => hunk(&[], lines),
                _ => continue,
            };
            let edit = apply(&text).unwrap_or_else(|rejects| panic!("{source:?} {text} {rejects:?}"));
            let result = String::from_utf8(edit.apply(source.as_bytes())).expect("UTF-8");
            assert_eq!(result.lines().position(|line| line == "new"), Some(candidate.lines.start() - 1));
            followed += 1;
        }
    }
    assert!(followed > 1000, "only {followed} advices were followed");
}

/// What a diff makes of a file, with the lines whose place its line numbers told; or the reason of the first reject.
fn by_diff(profile: Profile, file: &str, hunks: &str) -> Result<(String, usize), &'static str> {
    let text = format!("--- a/f\n+++ b/f\n{hunks}");
    let diff = Diff::parse(text.as_bytes(), &DiffOptions::default()).expect("a diff");
    let patch = diff.patch();
    let options = Options::new(profile);
    let edit = edit(file.as_bytes(), patch.sections[0].hunks(), &options.placement, options.final_newline);
    let edit = edit.map_err(|rejects| rejects[0].reason.as_str())?;
    let told = edit.placed.iter().filter(|placed| placed.notes.contains(&Note::StatedLine)).count();
    Ok((String::from_utf8(edit.apply(file.as_bytes())).expect("UTF-8"), told))
}

#[test]
fn stated_lines_choose_among_places_where_the_text_is_the_same() {
    let file = "x\na\nb\na\nb\na\nb\ny\n";
    let hunk = |line: usize| format!("@@ -{line},2 +{line},2 @@ f\n a\n-b\n+c\n");
    let top = |line: usize| format!("@@ -{line} +{line} @@\n-x\n+z\n");
    for (hunks, wanted) in [
        (hunk(2), Ok(("x\na\nc\na\nb\na\nb\ny\n", 1))),
        (hunk(4), Ok(("x\na\nb\na\nc\na\nb\ny\n", 1))),
        (hunk(6), Ok(("x\na\nb\na\nb\na\nc\ny\n", 1))),
        // No place, near as it is.
        (hunk(3), Err("multiple_matches")),
        (hunk(12), Err("multiple_matches")),
        // The hunk above was found so far from its line.
        (top(11) + &hunk(14), Ok(("z\na\nb\na\nc\na\nb\ny\n", 1))),
        (top(1) + &hunk(4), Ok(("z\na\nb\na\nc\na\nb\ny\n", 1))),
        // Both the line and the distance name a place.
        (top(3) + &hunk(6), Err("multiple_matches")),
        (hunk(2) + &hunk(4) + &hunk(6), Ok(("x\na\nc\na\nc\na\nc\ny\n", 2))),
        (hunk(2) + &hunk(6), Ok(("x\na\nc\na\nb\na\nc\ny\n", 2))),
        // One place is where it is, whatever the line.
        ("@@ -1,2 +1,2 @@\n b\n-y\n+z\n".into(), Ok(("x\na\nb\na\nb\na\nb\nz\n", 0))),
        ("@@ -2,2 +2,2 @@\n a\n-c\n+d\n".into(), Err("context_not_found")),
        // Numbers that do not fit the lines are no evidence, and a line without text is none.
        ("@@ -2,9 +2,2 @@\n a\n-b\n+c\n".into(), Err("multiple_matches")),
        ("@@ -2,0 +3 @@\n+n\n".into(), Err("no_anchor")),
    ] {
        for profile in [Profile::Strict, Profile::Codex] {
            // In file order three hunks have three places, whatever they state; one after the other the last has one.
            let told = |told| if profile == Profile::Codex && hunks.matches("@@ -").count() == 3 { 0 } else { told };
            let wanted = wanted.map(|(text, count)| (text.to_owned(), told(count)));
            assert_eq!(by_diff(profile, file, &hunks), wanted, "{profile} {hunks}");
        }
    }
    // Not where something is overlooked.
    let blanks = file.replace('a', "a ");
    assert_eq!(by_diff(Profile::Codex, &blanks, &hunk(4)), Err("multiple_matches"));
    assert_eq!(by_diff(Profile::Strict, "", "@@ -0,0 +1 @@\n+n\n"), Ok(("n\n".into(), 0)));
}

#[test]
fn what_a_diff_says_of_its_lines_is_done_or_refused() {
    let mut seed = 17;
    for nth in 0..cases() / 20 {
        let word = |seed: &mut u64| ["a\n", "b\n", "c\n"][random(seed, 3)];
        let before: Vec<&str> = (0..random(&mut seed, 14)).map(|_| word(&mut seed)).collect();
        // A few changes, each with so many lines around it; numbers as diff(1) gives them.
        let context = random(&mut seed, 4);
        let (mut hunks, mut after, mut from) = (String::new(), String::new(), 0);
        while from < before.len() {
            let start = from + context + random(&mut seed, 5);
            let end = start + random(&mut seed, 3);
            if end + context > before.len() || start == end && context == 0 {
                break;
            }
            let new: String = (0..random(&mut seed, 3)).map(|_| word(&mut seed)).collect();
            let (above, below) = (&before[start - context..start], &before[end..end + context]);
            let (gone, count) = (&before[start..end], end - start + 2 * context);
            after += &before[from..start].concat();
            after += &new;
            let lines =
                |sign: &str, lines: &[&str]| lines.iter().map(|line| format!("{sign}{line}")).collect::<String>();
            if new.is_empty() && gone.is_empty() || count == 0 {
                after.truncate(after.len() - new.len());
                after.push_str(&gone.concat());
            } else {
                let inserted: String = new.lines().map(|line| format!("+{line}\n")).collect();
                let new_count = new.lines().count() + 2 * context;
                hunks += &format!("@@ -{},{count} +1,{new_count} @@\n", start - context + 1);
                hunks += &(lines(" ", above) + &lines("-", gone) + &inserted + &lines(" ", below));
            }
            after += &below.concat();
            from = end + context;
        }
        after += &before[from.min(before.len())..].concat();
        if hunks.is_empty() {
            continue;
        }
        for profile in [Profile::Strict, Profile::Codex] {
            match by_diff(profile, &before.concat(), &hunks) {
                Ok((found, _)) => assert_eq!(found, after, "{nth} {profile} {before:?}\n{hunks}"),
                Err(reason) => assert_ne!(reason, "context_not_found", "{nth} {profile} {before:?}\n{hunks}"),
            }
        }
    }
}
