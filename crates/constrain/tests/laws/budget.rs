//! Outputs of limited length: whatever is chosen under the mask, the patch is finished in time, and
//! applies.

use std::sync::Arc;

use patch_constrain::{Binder, Bound, Matcher, Operations, TooFew, Vocabulary, has};

use super::outputs::{FILES, several};
use super::{allowed, bytes, one_file, refusal};

const ALL: Operations = Operations { update: true, add: true, delete: true, rename: true };

/// Files with other places of the same lines, for which hunks below others need more lines.
const MORE: [&str; 3] = [
    "a\nb\na\nb\nc\na\nb\nd\n",
    "x\ny\nx\ny\nx\nz\ny\nx\n",
    "begin\n  a\nend\n\nbegin\n  b\nend\n\nbegin\n  c\nend\n",
];

fn files() -> impl Iterator<Item = &'static str> {
    FILES.iter().copied().chain(MORE)
}

/// The tokens that may follow, of which `left` are left.
fn within(matcher: &mut Matcher, left: u32) -> Result<Vec<u32>, TooFew> {
    let mut mask = vec![u32::MAX; matcher.vocabulary().mask_len()];
    matcher.allowed_within(&mut mask, left)?;
    Ok((0..matcher.vocabulary().len() as u32).filter(|&token| has(&mask, token)).collect())
}

/// The number of tokens that is enough.
fn needed(matcher: &mut Matcher) -> u32 {
    within(matcher, 0).expect_err("nothing is finished with no token").needed
}

/// Chooses what does not come to an end: mostly added lines and further hunks.
fn choose(random: &mut fastrand::Rng, vocabulary: &Vocabulary, tokens: &[u32]) -> u32 {
    if random.u8(..3) > 0 {
        let is_more = |token: &&u32| {
            matches!(vocabulary.bytes(**token), b"+" | b"@" | b"\n" | b" " | b"@@\n " | b"\n+")
        };
        let more: Vec<&u32> = tokens.iter().filter(is_more).collect();
        if let Some(&&token) = random.choice(&more) {
            return token;
        }
    }
    *random.choice(tokens).expect("some token")
}

/// Writes an output in so many tokens, and returns it.
fn write(random: &mut fastrand::Rng, matcher: &mut Matcher, most: u32) -> String {
    let vocabulary = Arc::clone(matcher.vocabulary());
    for left in (1..=most).rev() {
        let tokens = within(matcher, left).unwrap_or_else(|error| {
            panic!("{left} left: {error}\n{:?}", String::from_utf8_lossy(matcher.text()))
        });
        let text = String::from_utf8_lossy(matcher.text());
        assert!(!tokens.is_empty(), "no token may follow, {left} left:\n{text:?}");
        let token = choose(random, &vocabulary, &tokens);
        matcher.accept(token).expect("it is in the mask");
        if matcher.has_ended() {
            return String::from_utf8(matcher.text().to_vec()).expect("UTF-8");
        }
    }
    panic!("not finished:\n{:?}", String::from_utf8_lossy(matcher.text()));
}

fn bound(file: &str, operations: Operations) -> Arc<Bound> {
    let binder = Binder::new(operations).file("d/f.x", file).path("d/g");
    Arc::new(binder.bind().expect("it can be bound"))
}

fn all_finish(vocabulary: &Arc<Vocabulary>, rounds: usize, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    for file in files() {
        for round in 0..rounds {
            let operations = if round % 3 == 2 { ALL } else { Operations::default() };
            let bound = bound(file, operations);
            let mut matcher = if round % 2 == 0 {
                Matcher::new(Arc::clone(vocabulary), bound)
            } else {
                let most = random.u32(1..6);
                Matcher::with_max_added_lines(Arc::clone(vocabulary), bound, most)
                    .expect("one is enough")
            };
            let needed = needed(&mut matcher);
            let most = needed + random.u32(..if round % 4 == 0 { 10 } else { 400 });
            let output = write(&mut random, &mut matcher, most);
            let refusal = refusal(&[("d/f.x", file), ("d/g", "g\n")], &output);
            assert_eq!(refusal, None, "{file:?}\n{output}");
            let added = output.lines().filter(|line| line.starts_with('+')).count();
            let limit = matcher.max_added_lines().unwrap_or(u32::MAX);
            assert!(added <= limit as usize, "{limit}:\n{output}");
        }
    }
}

#[test]
fn an_output_is_finished_in_its_tokens_and_applies() {
    let more = if testutils::share::whole() { 20 } else { 1 };
    all_finish(&bytes(), 12 * more, 21);
    all_finish(&several(), 24 * more, 22);
}

#[test]
fn too_few_tokens_are_refused_with_the_number_that_is_enough() {
    for file in files() {
        let mut matcher = Matcher::new(bytes(), bound(file, Operations::default()));
        let enough = needed(&mut matcher);
        assert_eq!(within(&mut matcher, enough - 1), Err(TooFew { needed: enough }));
        let text = write(&mut fastrand::Rng::with_seed(23), &mut matcher, enough);
        assert_eq!(text.len() as u32 + 1, enough, "{text}");
    }
}

#[test]
fn with_many_tokens_left_all_may_follow_that_may_follow() {
    let mut random = fastrand::Rng::with_seed(24);
    let vocabulary = several();
    for file in files() {
        let mut matcher = Matcher::new(Arc::clone(&vocabulary), bound(file, ALL));
        for _ in 0..60 {
            let all = allowed(&mut matcher);
            assert_eq!(within(&mut matcher, 100_000), Ok(all.clone()));
            if !matcher.is_finished() {
                let enough = needed(&mut matcher);
                let few = within(&mut matcher, enough + 3).expect("they are enough");
                assert!(few.iter().all(|token| all.contains(token)), "{:?}", matcher.text());
            }
            let Some(&token) = random.choice(&all) else { break };
            matcher.accept(token).expect("it is in the mask");
        }
    }
}

#[test]
fn a_model_that_repeats_itself_comes_to_an_end() {
    let bound = one_file("a\nb\nc\n");
    let begin = b"*** Begin Patch\n*** Update File: f\n@@\n-a\n";
    let mut limited = Matcher::with_max_added_lines(bytes(), Arc::clone(&bound), 3).expect("some");
    let mut free = Matcher::new(bytes(), bound);
    for matcher in [&mut limited, &mut free] {
        begin.iter().for_each(|&byte| matcher.accept(u32::from(byte)).expect("it may follow"));
    }
    for byte in b"+x\n+x\n+x\n" {
        limited.accept(u32::from(*byte)).expect("three lines may be added");
    }
    assert!(limited.accept(u32::from(b'+')).is_err());
    assert!(!allowed(&mut limited).contains(&u32::from(b'+')));

    // The same line again and again, until the mask does not allow the next.
    let mut left = 60;
    for &byte in b"+x\n".iter().cycle() {
        if !within(&mut free, left).expect("they are enough").contains(&u32::from(byte)) {
            break;
        }
        free.accept(u32::from(byte)).expect("it is in the mask");
        left -= 1;
    }
    let text = write(&mut fastrand::Rng::with_seed(25), &mut free, left);
    assert!(text.matches("\n+x\n").count() > 5, "{text}");
    assert_eq!(refusal(&[("f", "a\nb\nc\n")], &text), None, "{text}");
}

const ADD: Operations = Operations { update: false, add: true, delete: false, rename: false };

#[test]
fn a_new_name_goes_on_by_any_token_until_few_are_left() {
    let mut matcher = Matcher::new(several(), bound("a\n", ADD));
    for byte in b"*** Begin Patch\n*** Add File: d/retur" {
        matcher.accept(u32::from(*byte)).expect("it may follow");
    }
    let is_name = |matcher: &Matcher, token: &u32| {
        let bytes = matcher.vocabulary().bytes(*token);
        bytes.len() > 1 && bytes.iter().all(u8::is_ascii_alphanumeric)
    };
    let all = allowed(&mut matcher);
    let names: Vec<u32> = all.into_iter().filter(|token| is_name(&matcher, token)).collect();
    assert!(names.len() >= 2, "{names:?}");
    // The token itself, two bytes that make any name free, a line feed, the last marker, the end.
    let enough = 1 + 2 + 1 + 13 + 1;
    for left in [enough, enough + 1, 100, 300] {
        let few = within(&mut matcher, left).expect("they are enough");
        assert!(names.iter().all(|name| few.contains(name)), "{left} left");
    }
    let few = within(&mut matcher, enough - 1).expect("they are enough");
    assert!(few.contains(&u32::from(b'n')));
    assert!(!names.iter().any(|name| few.contains(name)));
}

#[test]
fn names_of_which_many_are_taken_are_finished_in_time() {
    let mut random = fastrand::Rng::with_seed(27);
    let letters: Vec<char> = ('a'..='z').chain('0'..='9').chain(['_', '-']).collect();
    for endings in [0, 30, 36, 37, 38] {
        // No name of one letter is free, nor one of two that begins with `a`.
        let one = letters.iter().map(|letter| format!("d/{letter}"));
        let two = letters.iter().map(|letter| format!("d/a{letter}"));
        let ends = letters.iter().take(endings).map(|letter| format!("d/x.{letter}q"));
        let paths: Vec<String> = one.chain(two).chain(ends).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "a\n")).collect();
        let binder = files.iter().fold(Binder::new(ADD), |binder, (path, _)| binder.path(path));
        let bound = Arc::new(binder.bind().expect("it can be bound"));
        for vocabulary in [bytes(), several()] {
            for round in 0..8 {
                let mut matcher = Matcher::new(Arc::clone(&vocabulary), Arc::clone(&bound));
                let most = needed(&mut matcher) + random.u32(..if round < 4 { 40 } else { 300 });
                let output = write(&mut random, &mut matcher, most);
                assert_eq!(refusal(&files, &output), None, "{endings}:\n{output}");
            }
        }
    }
}

#[test]
fn no_added_line_at_all_is_refused_where_one_is_needed() {
    let deletes = Operations { update: false, delete: true, ..Operations::default() };
    for (operations, refused) in [(ALL, true), (Operations::default(), true), (deletes, false)] {
        let made = Matcher::with_max_added_lines(bytes(), bound("a\n", operations), 0);
        let error = made.err().map(|error| error.to_string());
        let wanted = "too few to finish the patch: at least 1 are needed";
        assert_eq!(error.as_deref(), refused.then_some(wanted), "{operations:?}");
    }
}

#[test]
fn masks_with_few_lines_left_have_what_may_follow() {
    let mut random = fastrand::Rng::with_seed(26);
    let vocabulary = several();
    for file in files() {
        for most in [1, 2, 4] {
            let bound = bound(file, ALL);
            let vocabulary = Arc::clone(&vocabulary);
            let made = Matcher::with_max_added_lines(vocabulary, bound, most);
            let mut matcher = made.expect("one is enough");
            for _ in 0..40 {
                let tokens = allowed(&mut matcher);
                for token in 0..matcher.vocabulary().len() as u32 {
                    let follows = matcher.clone().accept(token).is_ok();
                    let bytes = matcher.vocabulary().bytes(token);
                    let text = String::from_utf8_lossy(matcher.text());
                    assert_eq!(tokens.contains(&token), follows, "{bytes:?} after {text:?}");
                }
                if matcher.has_ended() {
                    break;
                }
                assert!(!tokens.is_empty(), "{:?}", matcher.text());
                let vocabulary = Arc::clone(matcher.vocabulary());
                let token = choose(&mut random, &vocabulary, &tokens);
                matcher.accept(token).expect("it is in the mask");
            }
            let again = Matcher::from_bytes(
                Arc::clone(matcher.vocabulary()),
                Arc::new(Bound::from_bytes(&self::bound(file, ALL).to_bytes()).expect("bound")),
                &matcher.to_bytes(),
            );
            let again = again.expect("a matcher");
            assert_eq!(again.max_added_lines(), Some(most));
            assert_eq!(again.text(), matcher.text());
        }
    }
}
