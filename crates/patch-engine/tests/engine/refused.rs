//! What a refusal says of the file is true, and what it advises works.

use std::sync::Arc;

use patch_engine::{
    Advice, Files, FinalNewline, HunkReject, MemoryTree, Nearest, Options, Profile, RejectReason,
    Remedy, edit, parse, plan, policy, remedy,
};
use patch_grammar::{Hunk, LineEndings, ParseOptions};
use testutils::share::whole;

/// The rejects of an update.
fn rejects(
    profile: Profile,
    file: &str,
    body: &str,
    endings: Option<LineEndings>,
) -> Vec<HunkReject> {
    let options = Options::new(profile);
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    let patch = parse(&text, &options.parse).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut hunks: Vec<Hunk<'_>> = patch.sections()[0].hunks().to_vec();
    hunks.iter_mut().for_each(|hunk| hunk.endings = endings.unwrap_or(hunk.endings));
    edit(file.as_bytes(), &hunks, &options.placement, FinalNewline::Keep)
        .expect_err("it is refused")
}

/// Why the last refused hunk is refused.
fn reason(profile: Profile, file: &str, body: &str) -> RejectReason {
    rejects(profile, file, body, None).pop().expect("a reject").reason
}

fn nearest(profile: Profile, file: &str, body: &str) -> Option<Nearest> {
    match reason(profile, file, body) {
        RejectReason::ContextNotFound { nearest, .. } => nearest.map(|nearest| *nearest),
        reason => panic!("{file:?} {body:?}: {reason:?}"),
    }
}

#[test]
fn the_nearest_place_is_told_with_what_to_write_instead() {
    let none: &[&str] = &[];
    for (file, body, lines, scattered, paste) in [
        // All lines are there, in another order.
        ("b\na\n", "@@\n-a\n-b\n", 1..=1, true, none),
        ("b\nx\na\n", "@@\n-a\n-b\n", 1..=1, true, none),
        // One of several is not.
        ("a\nx\nc\n", "@@\n a\n-b\n+d\n c\n", 1..=3, false, &[" a", "-x", "+d", " c"]),
        (
            "a\r\nx\r\nc\r\n",
            "@@\r\n a\r\n-b\r\n+d\r\n c\r\n",
            1..=3,
            false,
            &[" a", "-x", "+d\r", " c"],
        ),
        ("z\na\nx\ny\nd\n", "@@\n a\n-b\n-c\n d\n", 2..=5, false, none),
        // One that is there twice is wanted twice, and one that is wanted twice is there once.
        ("a\nb\nx\n", "@@\n-b\n-a\n-b\n", 1..=2, false, none),
        // The file ends before the hunk.
        ("z\na\n", "@@\n a\n-b\n", 2..=2, false, none),
        // No line is there, and one is like the longest.
        (
            "p\nq\nthe longest line is here\n",
            "@@\n x\n-the longest line was here\n",
            2..=3,
            false,
            none,
        ),
    ] {
        for profile in [Profile::Strict, Profile::Codex] {
            let nearest = nearest(profile, file, body).expect("a place");
            let found = (nearest.lines, nearest.scattered, &nearest.paste[..]);
            assert_eq!(
                found,
                (
                    lines.clone(),
                    scattered,
                    &paste.iter().map(ToString::to_string).collect::<Vec<_>>()[..]
                ),
                "{profile} {file:?} {body:?}"
            );
        }
    }
    // A line that says that it is the last is not said to be scattered.
    let nearest =
        nearest(Profile::Strict, "a \nb\n", "@@\n-a\n*** End of File\n").expect("a place");
    assert!(!nearest.scattered, "{nearest:?}");
}

/// A file with two functions that have lines in common, and a class.
const STORE: &str = "\
import os
import json


def load(path):
    data = open(path).read()
    return data


def save(path, data):
    with open(path, 'w') as f:
        f.write(data)
    return path


class Cache:
    limit = 10

    def get(self, key):
        return self.items[key]
";

#[test]
fn a_place_is_told_where_more_than_one_line_is_alike() {
    let none: &[usize] = &[];
    for (body, lines, named) in [
        // Most lines, or lines that are like them.
        (" def load(path):\n-    data = open(path)\n     return data\n", Some(5..=7), none),
        (" def load(path):\n-    data = open(path, 'rb').read()\n", Some(5..=6), none),
        ("-    data = open(pfad).read()\n", Some(6..=6), none),
        // One line of three, which is elsewhere too, or says nothing; and none.
        (" def load(name):\n-    x = fetch(name)\n-    return path\n", None, &[5]),
        (" def remove(path):\n-    os.unlink(path)\n-    return data\n", None, &[7]),
        (" def load(url):\n-    with get(url) as r:\n-        yield r.text\n", None, &[5]),
        (" class Cache(dict):\n-    size = 3\n-    age = 4\n-    def pop(self):\n", None, &[16]),
        ("-    total += item.price\n-    count += 1\n-    yield total\n", None, none),
        // The header counts, and a name that is defined in the file.
        ("@@ def save(path):\n-    for x in y:\n-        go(x)\n", None, &[10]),
        ("-    cached = Cache(3)\n-    cached.fill()\n-    go(cached)\n", None, &[16]),
    ] {
        let body = if body.starts_with("@@") { body.to_owned() } else { format!("@@\n{body}") };
        for profile in [Profile::Strict, Profile::Codex] {
            let RejectReason::ContextNotFound { nearest, named: found } =
                reason(profile, STORE, &body)
            else {
                panic!("{body}")
            };
            assert_eq!(nearest.map(|nearest| nearest.lines), lines, "{profile} {body}");
            let found: Vec<usize> = found.iter().map(|line| line.line).collect();
            assert_eq!(found, named, "{profile} {body}");
        }
    }
    let reason =
        reason(Profile::Strict, STORE, "@@ def save(p):\n-    for x in y:\n-      go(x)\n");
    assert_eq!(
        reason.to_string(),
        "its old lines are not in the file; line 10 is `def save(path, data):`"
    );
    let read = Remedy::ReadAgain { path: "s.py".into(), lines: Some(10..=25) };
    assert_eq!(Remedy::of_hunk(&reason, "s.py"), [read]);
}

#[test]
fn a_long_line_may_be_like_one_that_is_longer_still() {
    let wanted = "some words that are wanted ".repeat(6);
    let file = format!("one\n{wanted}{}\n", "more that came ".repeat(8));
    let nearest = nearest(Profile::Codex, &file, &format!("@@\n-{wanted}!\n")).expect("a place");
    assert_eq!(nearest.lines, 2..=2);
}

#[test]
fn what_is_too_long_to_be_written_anew_is_not_offered() {
    let line = "word ".repeat(200);
    let long =
        nearest(Profile::Codex, &format!("a\n{line}\nx\n"), &format!("@@\n a\n {line}\n-b\n"))
            .expect("a place");
    assert_eq!(long.agreeing, 2);
    assert!(long.paste.is_empty());
    let lines: String = (0..100).map(|nth| format!("{nth}\n")).collect();
    let hunk: String = (0..100).map(|nth| format!(" {nth}\n")).collect();
    let many = nearest(Profile::Codex, &format!("{lines}x\n"), &format!("@@\n{hunk}-b\n"))
        .expect("a place");
    assert_eq!(many.agreeing, 100);
    assert!(many.paste.is_empty());
}

#[test]
fn a_difference_of_terminators_is_shown() {
    for (file, body, endings, wanted, found, column) in [
        ("x\n", "@@\n-x\r\n+y\r\n", None, "x\r", "x", 2),
        ("q\nzz\n", "@@\n q\n-z\r\n", None, "z\r", "zz", 2),
        ("q\r\nzz\r\n", "@@\n q\r\n-z\r\n", None, "z", "zz", 2),
        ("x\r\ny\r\n", "@@\n-x\n+z\n", Some(LineEndings::Exact), "x", "x\r", 2),
    ] {
        let reject = rejects(Profile::Strict, file, body, endings).remove(0);
        let RejectReason::ContextNotFound { nearest: Some(nearest), .. } = reject.reason else {
            panic!("{reject:?}")
        };
        let difference = nearest.difference.expect("a line differs");
        let told = (difference.wanted.as_str(), difference.found.as_deref(), difference.column);
        assert_eq!(told, (wanted, Some(found), column), "{file:?} {body:?}");
    }
}

#[test]
fn the_characters_that_differ_are_told() {
    for (found, wanted, columns) in [
        ("abXde", "abYde", (3, 3)),
        ("abde", "abXde", (3, 3)),
        ("abXYde", "abde", (3, 4)),
        ("ab", "abc", (3, 3)),
        ("Xb", "b", (1, 1)),
    ] {
        let nearest =
            nearest(Profile::Codex, &format!("k\n{found}\n"), &format!("@@\n k\n-{wanted}\n"))
                .expect("a place");
        let told: Vec<_> = nearest.region.iter().map(|shown| (shown.line, shown.columns)).collect();
        assert_eq!(told, [(1, None), (2, Some(columns))], "{found} {wanted}");
    }
}

#[test]
fn hunks_beyond_those_that_are_explained_are_refused_all_the_same() {
    let file = "\n".repeat(110_000);
    let body: String = (0..30).map(|nth| format!("@@\n-missing {nth}\n")).collect();
    let rejects = rejects(Profile::Codex, &format!("missing line\n{file}"), &body, None);
    let explained = |reject: &HunkReject| match &reject.reason {
        RejectReason::ContextNotFound { nearest, .. } => nearest.is_some(),
        reason => panic!("{reason:?}"),
    };
    assert_eq!(rejects.len(), 30);
    assert!(explained(&rejects[0]));
    assert!(!explained(&rejects[29]));
}

/// The places of the last refused hunk, each with its advice.
fn advice(profile: Profile, file: &str, body: &str) -> Vec<(usize, Option<Advice>)> {
    let (RejectReason::MultipleMatches { candidates, .. }
    | RejectReason::OutsideScope { candidates, .. }
    | RejectReason::HeaderNotFound { candidates, .. }) = reason(profile, file, body)
    else {
        panic!("{file:?} {body:?}")
    };
    candidates.into_iter().map(|place| (*place.lines.start(), place.advice)).collect()
}

#[test]
fn an_advice_is_the_least_that_tells_the_place() {
    let before =
        |lines: &[&str]| Some(Advice::Before(lines.iter().map(ToString::to_string).collect()));
    let after =
        |lines: &[&str]| Some(Advice::After(lines.iter().map(ToString::to_string).collect()));
    let header = |text: &str| Some(Advice::Header(text.into()));
    let functions = "def f():\n    a\n    b\n    c\ndef g():\n    a\n    b\n    c\n";
    let twins = "def f():\n    a\n    b\n    c\ndef f():\n    a\n    b\n    c\nend\n";
    let inside = "def f():\n    a\n    b\n    c\n    a\n    b\n    c\n";
    for (profile, file, body, wanted) in [
        (
            Profile::Strict,
            "p\na\nq\np\na\nr\n",
            "@@\n-a\n",
            vec![(2, after(&["q"])), (5, after(&["r"]))],
        ),
        (
            Profile::Strict,
            "p\na\nq\na\nq\n",
            "@@\n-a\n",
            vec![(2, before(&["p"])), (4, before(&["q"]))],
        ),
        // A header where a line does not tell, and headers decide.
        (
            Profile::Codex,
            functions,
            "@@\n-    b\n",
            vec![(3, header("def f():")), (7, header("def g():"))],
        ),
        (
            Profile::Strict,
            functions,
            "@@\n-    b\n",
            vec![(3, before(&["def f():", "    a"])), (7, before(&["def g():", "    a"]))],
        ),
        (
            Profile::Codex,
            functions,
            "@@\n-    a\n",
            vec![(2, before(&["def f():"])), (6, before(&["def g():"]))],
        ),
        (
            Profile::Codex,
            twins,
            "@@\n-    b\n",
            vec![(3, after(&["    c", "def f():"])), (7, after(&["    c", "end"]))],
        ),
        (
            Profile::Codex,
            inside,
            "@@\n-    b\n",
            vec![(3, before(&["def f():", "    a"])), (6, before(&["    c", "    a"]))],
        ),
        // An insertion has no last line that others could stand below.
        (Profile::Codex, "a\nb\na\nc\n", "@@ a\n+x\n", vec![(2, None), (4, before(&["b", "a"]))]),
        // The only place needs none.
        (Profile::Codex, "x\nfn a\n y\n", "@@ fn a\n-x\n", vec![(1, None)]),
        // Only where the hunk can stand: the last line is below the other hunk.
        (
            Profile::Codex,
            "a\na\nb\na\n",
            "@@\n-a\n@@\n-b\n",
            vec![(1, after(&["a"])), (2, before(&["a"]))],
        ),
    ] {
        assert_eq!(advice(profile, file, body), wanted, "{profile} {file:?} {body:?}");
    }
}

#[test]
fn no_advice_is_given_where_not_all_places_are_known() {
    let file: String = (0..65).map(|nth| format!("above {nth}\na\n")).collect();
    for profile in [Profile::Strict, Profile::Codex] {
        assert!(
            advice(profile, &file, "@@\n-a\n").iter().all(|(_, advice)| advice.is_none()),
            "{profile}"
        );
    }
    // Some of the places of a hunk are not even looked for where many hunks have many of them.
    let file: String = (0..30).map(|nth| format!("above {nth}\na\n")).collect();
    for profile in [Profile::Strict, Profile::Codex] {
        let rejects = rejects(profile, &file, &"@@\n-a\n".repeat(2000), None);
        let of = |reject: &HunkReject| match &reject.reason {
            RejectReason::MultipleMatches { candidates, more, .. } => {
                (*more, candidates.iter().any(|place| place.advice.is_some()))
            }
            reason => panic!("{reason:?}"),
        };
        let (first, rest) = rejects.split_first().expect("rejects");
        assert_eq!(of(first), (false, true), "{profile}");
        assert!(rest.iter().map(of).all(|(more, advised)| !more || !advised), "{profile}");
        assert!(rest.iter().map(of).any(|(more, _)| more), "{profile}");
    }
}

#[test]
fn the_lines_that_two_hunks_change_are_told() {
    for (profile, file, body, wanted) in [
        (Profile::Strict, "x\na\nb\n", "@@\n-a\n+c\n@@\n-a\n b\n+d\n", (1, 0, Some(2..=3))),
        (Profile::Strict, "a\n", "@@\n-a\n+c\n@@\n-c\n", (1, 0, None)),
        (Profile::Codex, "a\nb\nc\nd\n", "@@\n-d\n@@\n-b\n c\n@@\n-c\n+x\n", (2, 1, Some(3..=3))),
        (Profile::Codex, "a\nb\n", "@@ b\n+x\n@@ a\n+y\n@@ a\n+z\n", (2, 1, None)),
    ] {
        let reject = rejects(profile, file, body, None).pop().expect("a reject");
        let RejectReason::OverlappingEdits { other, lines } = reject.reason else {
            panic!("{reject:?}")
        };
        assert_eq!((reject.hunk, other, lines), wanted, "{profile} {file:?} {body:?}");
    }
}

/// How many bytes the places and lines of rejects take, about.
fn weight(reasons: &[RejectReason]) -> usize {
    let weight = |reason: &RejectReason| match reason {
        RejectReason::MultipleMatches { candidates, .. }
        | RejectReason::OutsideScope { candidates, .. }
        | RejectReason::HeaderNotFound { candidates, .. } => candidates
            .iter()
            .map(|place| 50 + place.advice.iter().map(|of| format!("{of:?}").len()).sum::<usize>())
            .sum(),
        RejectReason::ContextNotFound { nearest, .. } => {
            nearest.as_ref().map_or(0, |nearest| format!("{nearest:?}").len())
        }
        _ => 0,
    };
    reasons.iter().map(weight).sum()
}

#[test]
fn what_many_rejects_keep_is_bounded() {
    let long = format!("{} end\n", "w".repeat(3000));
    let apart = format!("{long}x\n").repeat(40);
    let cases = [
        ("equal", "x\n".repeat(100), "@@\n-x\n+y\n"),
        ("long lines around", format!("x\n{apart}"), "@@\n-x\n+y\n"),
        ("without the header", "def f:\n x\n".repeat(100), "@@ def g:\n- x\n+ y\n"),
        ("outside the scope", format!("{}def f:\n", " x\n".repeat(100)), "@@ def f:\n- x\n+ y\n"),
        ("nearly there", format!("{long}second\nthird\n"), "@@\n-first\n second\n third\n+y\n"),
    ];
    for (name, file, hunk) in cases {
        for profile in [Profile::Strict, Profile::Codex] {
            let (one, many) = (1, if whole() { 4000 } else { 800 });
            let reasons = |sections: usize, hunks: usize| {
                let mut tree = MemoryTree::new();
                let mut text = "*** Begin Patch\n".to_owned();
                for section in 0..sections {
                    tree.insert(&format!("f{section}"), file.as_bytes().to_vec());
                    text += &format!("*** Update File: f{section}\n{}", hunk.repeat(hunks));
                }
                text += "*** End Patch\n";
                let patch = parse(&text, &Options::default().parse).expect("it parses");
                let files = Files::of_tree(Arc::new(tree), policy());
                let rejects = plan(files, &patch, &Options::new(profile))
                    .expect_err("it fits in too many places");
                let reasons =
                    rejects.iter().map(|reject| reject.hunk_reason().expect("a hunk").clone());
                reasons.collect::<Vec<_>>()
            };
            let alone = reasons(1, one);
            for (sections, hunks) in [(1, many), (many / 8, 8)] {
                let all = reasons(sections, hunks);
                assert_eq!(all.len(), many, "{name}: each is there");
                let (each, first) = (weight(&all) / many, weight(&alone));
                assert!(each < 800, "{name}, {profile:?}: {each} bytes each, and {first} alone");
                assert_eq!(all[0].as_str(), alone[0].as_str(), "{name}");
                let last = &all[many - 1];
                let (RejectReason::MultipleMatches { candidates, more, .. }
                | RejectReason::OutsideScope { candidates, more, .. }
                | RejectReason::HeaderNotFound { candidates, more, .. }) = last
                else {
                    continue;
                };
                assert!(candidates.len() >= 6, "{name}: {last}");
                assert!(*more, "{name}: {last}");
                assert!(
                    last.to_string().ends_with(" and others")
                        || last.to_string().contains(" and others,"),
                    "{last}"
                );
            }
        }
    }
}

/// The profile is named where it helps.
#[test]
fn a_profile_is_advised_where_it_takes_the_first_hunk() {
    for line in [" a", "-a", "+a", "a", "@ a", "--- a/f"] {
        let text = format!("*** Begin Patch\n*** Update File: f\n{line}\n-x\n*** End Patch\n");
        let parsed = |bare_first_hunk| {
            parse(&text, &ParseOptions { bare_first_hunk, ..ParseOptions::default() })
        };
        let error = parsed(false).expect_err("it needs `@@`");
        assert_eq!(error.kind.as_str(), "no_at");
        assert!(!error.expected.iter().any(|it| it.contains("a blank")), "{error}");
        let advised = Remedy::of_parse(&error).contains(&Remedy::Set(remedy::Setting::Codex));
        assert_eq!(advised, parsed(true).is_ok() && line != "--- a/f", "{line}");
    }
}

/// Wherever a text is cut off, the advice is to send it again, and never to close what is there.
#[test]
fn a_text_that_was_cut_off_is_to_be_sent_again() {
    let envelope = "*** Begin Patch\n*** Update File: f\n@@ é\n-é\n+y\n*** Add File: ü\n+é\n\
                    *** End Patch";
    let block = "f\n<<<<<<< SEARCH\nx\n=======\né\n>>>>>>> REPLACE";
    let begun = "*** Begin Patch".len();
    for at in begun + 1..envelope.len() {
        let error = patch_grammar::decode(&envelope.as_bytes()[..at])
            .and_then(|text| parse(text, &ParseOptions::default()));
        let error = error.expect_err("it is not whole");
        // Within a header, what is there may be a wrong line as well.
        let again = Remedy::of_parse(&error) == [Remedy::SendAgain];
        let path = matches!(error.kind.as_str(), "no_path");
        assert!(again || path, "{at}: {error}");
    }
    for at in block.find("x").expect("there")..block.len() {
        let error = patch_grammar::blocks::to_envelope(&block.as_bytes()[..at]);
        let error = error.map(|_| ()).expect_err("it is not whole");
        assert_eq!(Remedy::of_parse(&error), [Remedy::SendAgain], "{at}: {error}");
    }
}
