//! Tokens and masks.

use std::collections::BTreeSet;
use std::sync::Arc;

use patch_constrain::{Binder, Bound, Matcher, Operations, Vocabulary};

use super::{allowed, bytes, one_file};

const FILE: &str = "fn a() {\n    b();\n}\n\nfn b() {\n    a();\n}\n";
const BEGIN: &[u8] = b"*** Begin Patch\n*** Update File: f\n@@\n";

/// Takes a text byte by byte.
fn feed(matcher: &mut Matcher, text: &[u8]) {
    for &byte in text {
        matcher.accept(u32::from(byte)).expect("the byte may follow");
    }
}

/// All bytes and many texts of more, whether they make sense or not.
fn many(random: &mut fastrand::Rng) -> Arc<Vocabulary> {
    let parts: [&[u8]; 20] = [
        b"\n",
        b"\n",
        b"+",
        b" ",
        b"-",
        b"@@",
        b"*** ",
        b"End Patch",
        b"fn ",
        b"a",
        b"b",
        b"()",
        b" {",
        b"}",
        b"    ",
        b"();",
        b"\xc3",
        b"\xa9",
        b"\0",
        b"Update File: f\n",
    ];
    let names: [&[u8]; 12] = [
        b"id_r", b"sa", b"ID_RSA", b"con", b".txt", b"AUX.", b"src/", b"b.txt", b"x.pem", b".key",
        b"/n", b"n\n+",
    ];
    let long = (0..700).map(|_| {
        let count = random.usize(1..6);
        let from: &[&[u8]] = if random.u8(..4) == 0 { &names } else { &parts };
        (0..count).flat_map(|_| random.choice(from).expect("some").to_vec()).collect::<Vec<u8>>()
    });
    let tokens: Vec<Vec<u8>> = (0..=255_u8).map(|byte| vec![byte]).chain(long).collect();
    Arc::new(Vocabulary::new(tokens, &[]).expect("the end is a token"))
}

/// The tokens of the mask, each of which may follow, while no other may.
fn exactly_allowed(matcher: &mut Matcher) -> Vec<u32> {
    let tokens = allowed(matcher);
    let set: BTreeSet<u32> = tokens.iter().copied().collect();
    for token in 0..matcher.vocabulary().len() as u32 {
        let follows = matcher.clone().accept(token).is_ok();
        let bytes = matcher.vocabulary().bytes(token);
        assert_eq!(set.contains(&token), follows, "{:?} {bytes:?}", matcher.text());
    }
    tokens
}

#[test]
fn masks_are_exact_where_many_lines_may_be_meant() {
    let vocabulary = many(&mut fastrand::Rng::with_seed(13));
    let line = |number: usize| match number % 4 {
        0 => format!("fn a{}() {{\n", number / 4),
        1 => "    b();\n".to_owned(),
        2 => format!("    a{}();\n", number % 7),
        _ => "}\n".to_owned(),
    };
    let bound = one_file(&(0..4_000).map(line).collect::<String>());
    let hunk = "-fn a900() {\n+    a0();\n+}\n";
    let first = format!("{hunk}@@\n");
    for text in [
        "",
        " ",
        "-",
        "+",
        "-    ",
        "-    a",
        " }",
        " }\n",
        " }\n fn a",
        "-    b();\n ",
        &first,
        &format!("{first} "),
        &format!("{first}-    "),
        &format!("{first} fn a"),
        hunk,
        &format!("{hunk}@@ "),
        &format!("{hunk}@@ fn a9"),
    ] {
        let mut matcher = Matcher::new(Arc::clone(&vocabulary), Arc::clone(&bound));
        feed(&mut matcher, BEGIN);
        feed(&mut matcher, text.as_bytes());
        let tokens = exactly_allowed(&mut matcher);
        // What was remembered is the same.
        assert_eq!(allowed(&mut matcher), tokens, "{text}");
    }
}

#[test]
fn a_token_is_in_the_mask_if_its_bytes_may_follow() {
    let mut random = fastrand::Rng::with_seed(11);
    let vocabulary = many(&mut random);
    let operations = Operations { update: true, add: true, delete: true, rename: true };
    let binder = Binder::new(operations).file("f", FILE).file("src/g", FILE).path("src/h");
    let several = Arc::new(binder.bind().expect("they can be bound"));
    for round in 0..8 {
        let bound = if round % 2 == 0 { one_file(FILE) } else { Arc::clone(&several) };
        let mut matcher = Matcher::new(Arc::clone(&vocabulary), bound);
        if round % 4 == 1 {
            feed(&mut matcher, b"*** Begin Patch\n*** Add File: ");
        }
        for _ in 0..40 {
            let tokens = exactly_allowed(&mut matcher);
            let Some(&token) = random.choice(&tokens) else { break };
            matcher.accept(token).expect("it is in the mask");
        }
    }
}

#[test]
fn a_matcher_that_went_back_is_like_a_new_one() {
    let mut random = fastrand::Rng::with_seed(12);
    let vocabulary = many(&mut random);
    let bound = one_file(FILE);
    let mut matcher = Matcher::new(Arc::clone(&vocabulary), Arc::clone(&bound));
    let mut taken: Vec<u32> = Vec::new();
    for _ in 0..150 {
        let back = if random.u8(..4) == 0 { random.usize(..6) } else { 0 };
        assert_eq!(matcher.rollback(back), back.min(taken.len()));
        taken.truncate(taken.len().saturating_sub(back));
        let tokens = allowed(&mut matcher);
        let mut fresh = Matcher::new(Arc::clone(&vocabulary), Arc::clone(&bound));
        taken.iter().for_each(|&token| fresh.accept(token).expect("it was taken before"));
        assert_eq!(allowed(&mut fresh), tokens, "{:?}", matcher.text());
        let Some(&token) = random.choice(&tokens) else { continue };
        matcher.accept(token).expect("it is in the mask");
        taken.push(token);
    }
}

#[test]
fn a_refused_token_changes_nothing() {
    let mut matcher = Matcher::new(bytes(), one_file(FILE));
    feed(&mut matcher, BEGIN);
    assert!(matcher.accept(u32::from(b'x')).is_err());
    assert!(matcher.accept(10_000).is_err());
    feed(&mut matcher, b"-fn a() {\n@@\n-fn b() {\n*** End Patch");
    assert!(matcher.is_finished());
}

#[test]
fn the_end_comes_after_the_last_marker_only() {
    let mut matcher = Matcher::new(bytes(), one_file(FILE));
    assert!(matcher.accept(256).is_err());
    feed(&mut matcher, BEGIN);
    assert!(matcher.accept(256).is_err());
    feed(&mut matcher, b"-fn a() {\n*** End Patch");
    matcher.accept(256).expect("the output may end");
    assert!(allowed(&mut matcher).is_empty());
    assert_eq!(matcher.rollback(1), 1);
    assert_eq!(allowed(&mut matcher), [u32::from(b'\n'), 256]);
}

#[test]
fn forced_bytes_are_those_without_a_choice() {
    let mut matcher = Matcher::new(bytes(), one_file(FILE));
    assert_eq!(matcher.forced(), BEGIN.strip_suffix(b"\n").expect("a line"));
    feed(&mut matcher, BEGIN);
    assert_eq!(matcher.forced(), b"");
    feed(&mut matcher, b"-fn ");
    assert_eq!(matcher.forced(), b"");
    feed(&mut matcher, b"b");
    assert_eq!(matcher.forced(), b"() {\n");
}

#[test]
fn clones_go_on_apart() {
    let mut matcher = Matcher::new(bytes(), one_file(FILE));
    feed(&mut matcher, BEGIN);
    let mut other = matcher.clone();
    feed(&mut matcher, b"-fn a() {\n+");
    feed(&mut other, b" fn b() {\n-");
    assert!(matcher.text().ends_with(b"\n+"));
    assert!(other.text().ends_with(b"\n-"));
    assert_eq!(other.forced(), b"    a();\n");
}

/// Writes a text and, once it is refused, nothing more.
fn follows(bound: &Arc<Bound>, text: &str) -> bool {
    let mut matcher = Matcher::new(bytes(), Arc::clone(bound));
    text.bytes().all(|byte| matcher.accept(u32::from(byte)).is_ok())
}

#[test]
fn new_paths_are_those_that_may_be_made() {
    let operations = Operations { update: true, add: true, delete: true, rename: true };
    let binder = Binder::new(operations).file("src/A.txt", "a\n").path("docs/b.md");
    let bound =
        Arc::new(binder.path("secrets/c").path(".github/workflows/d").bind().expect("fits"));
    for (path, fits) in [
        ("new", true),
        ("src/new.rs", true),
        ("docs/id", true),
        ("docs/con", false),
        ("docs/con.txt", false),
        ("docs/conx.txt", true),
        ("docs/id_rsa", false),
        ("docs/id_rsa.pub", false),
        ("docs/x.pem", false),
        ("docs/x.pem2", true),
        ("docs", false),
        ("src/a.txt", false),
        ("src/a.txt2", true),
        ("docs/new/a", false),
        ("secrets/new", false),
        (".github/workflows/new", false),
        (".git/config", false),
        ("src/.env", false),
        ("../a", false),
        ("/a", false),
        ("src//a", false),
        ("src/./a", false),
        ("src/a.", false),
        ("HEAD", false),
        ("a b", false),
        ("", false),
    ] {
        let text = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        assert_eq!(follows(&bound, &text), fits, "{path}");
    }
}

#[test]
fn a_path_is_made_once_and_taken_once() {
    let operations = Operations { update: true, add: true, delete: true, rename: true };
    let binder = Binder::new(operations).file("src/a", "a\n").file("b", "b\n").path("B");
    let bound = Arc::new(binder.bind().expect("fits"));
    for (sections, fits) in [
        ("*** Update File: b\n@@\n-b\n*** Delete File: src/a\n", true),
        ("*** Update File: b\n@@\n-b\n*** Delete File: B\n", false),
        ("*** Add File: n\n*** Add File: m\n", true),
        ("*** Add File: n\n*** Add File: n\n", false),
        ("*** Add File: n\n*** Add File: N\n", false),
        ("*** Delete File: b\n*** Delete File: b\n", false),
        ("*** Delete File: b\n*** Add File: b\n", false),
        ("*** Delete File: src/a\n*** Add File: src/n\n", false),
        ("*** Update File: b\n*** Move to: src/b\n", true),
        ("*** Update File: b\n*** Move to: b\n", false),
        ("*** Update File: b\n*** Move to: c\n@@\n-b\n*** Add File: c\n", false),
        ("*** Update File: b\n@@\n-b\n*** Update File: b\n", false),
        ("*** Update File: b\n", false),
    ] {
        let text = format!("*** Begin Patch\n{sections}*** End Patch");
        assert_eq!(follows(&bound, &text), fits, "{sections}");
    }
}

#[test]
fn old_lines_are_told_from_others() {
    let mut matcher = Matcher::new(bytes(), one_file(FILE));
    feed(&mut matcher, BEGIN);
    for (text, is_old) in [
        ("", false),
        (" ", true),
        ("fn b", true),
        ("() {\n", false),
        ("+", false),
        ("x\n", false),
        ("-", true),
    ] {
        feed(&mut matcher, text.as_bytes());
        assert_eq!(matcher.is_in_old_line(), is_old, "after {text:?}");
    }
}

#[test]
fn an_end_beyond_the_vocabulary_is_refused() {
    for (end, refused) in
        [(&[][..], None), (&[1], None), (&[0, 2], Some(2)), (&[u32::MAX], Some(u32::MAX))]
    {
        let made = Vocabulary::new([&b"a"[..], b""], end);
        assert_eq!(made.err().map(|error| error.token), refused, "{end:?}");
    }
}

#[test]
fn paths_that_no_patch_may_change_are_not_bound() {
    let operations = Operations { update: true, add: true, delete: true, rename: true };
    let bind = |binder: Binder| binder.file("ok", "x\n").bind().map(Arc::new);
    let long = "x".repeat(5_000);
    for path in ["../x", "/abs", "a//b", "./a", " a", "a\u{1b}", "a\tb", "", &long] {
        assert!(bind(Binder::new(operations).file(path, "one\n")).is_err(), "{path:?}");
        let error = bind(Binder::new(operations).path(path)).expect_err(path);
        assert!(error.to_string().len() < 1_000, "{error}");
    }
    for path in [".git/config", ".env", "certs/a.pem"] {
        assert!(bind(Binder::new(operations).file(path, "one\n")).is_err(), "{path:?}");
        // A list of the workspace has such files, but no patch deletes them.
        let bound = bind(Binder::new(operations).path(path)).expect("it is listed");
        let text = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch");
        assert!(!follows(&bound, &text), "{path}");
    }
    let path = ".github/workflows/x.yml";
    let bound = bind(Binder::new(operations).file(path, "one\n")).expect("it may be approved");
    let hunk = "@@\n-one\n";
    let text = format!("*** Begin Patch\n*** Update File: {path}\n{hunk}*** End Patch");
    assert!(follows(&bound, &text));
}

#[test]
fn a_heading_may_be_cut_as_git_cuts_it() {
    let [long, other] = ["x", "y"].map(|letter| letter.repeat(100));
    let file = format!("{other}\n{long}\n a\n b\n{}\n c\n", "y".repeat(80));
    let bound = one_file(&file);
    let cut = "x".repeat(80);
    for (hunks, fits) in [
        (format!("@@ {cut}\n- a\n"), true),
        (format!("@@ {long}\n- a\n"), true),
        (format!("@@ {}\n- a\n", &cut[1..]), false),
        (format!("@@ {cut}x\n- a\n"), false),
        // The line is not above the hunk.
        (format!("@@ {cut}\n-{other}\n"), false),
        // It is the text of another line, below the hunk.
        (format!("@@ {}\n- a\n", "y".repeat(80)), false),
        (format!("@@ {}\n- c\n", "y".repeat(80)), true),
        // A hunk above adds a line with it.
        (format!("@@\n- a\n+  {cut}\n@@ {cut}\n- b\n"), false),
        (format!("@@\n- a\n+  {cut}\n@@ {long}\n- b\n"), true),
    ] {
        let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch");
        assert_eq!(follows(&bound, &text), fits, "{hunks}");
        if fits {
            assert_eq!(super::refusal(&[("f", &file)], &text), None, "{hunks}");
        }
    }
    let vocabulary = many(&mut fastrand::Rng::with_seed(15));
    let mut matcher = Matcher::new(vocabulary, bound);
    feed(&mut matcher, format!("*** Begin Patch\n*** Update File: f\n@@ {cut}").as_bytes());
    assert_eq!(matcher.forced(), b"");
    let tokens = exactly_allowed(&mut matcher);
    assert!(tokens.contains(&u32::from(b'\n')) && tokens.contains(&u32::from(b'x')));
}
