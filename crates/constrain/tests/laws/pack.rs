//! Values as bytes, and bytes that are none.

use std::sync::Arc;

use patch_constrain::{
    BindError, Binder, Bound, Matcher, NoSuchToken, Operations, UnpackError, Vocabulary,
};

use super::{allowed, bytes};

const ALL: Operations = Operations { update: true, add: true, delete: true, rename: true };

fn files() -> Bound {
    let binder = Binder::new(ALL).file("a", "\u{feff}one\r\ntwo\n").file("src/b", "").path("src/c");
    binder.bind().expect("the files can be bound")
}

fn small() -> Vocabulary {
    let tokens = [&b"*** "[..], b"", b"\xff", b"Begin Patch\n*** Delete File: ", b"src/c\n"];
    Vocabulary::new(tokens.into_iter().chain([&b"*** End Patch"[..], b""]), &[6, 1]).expect("fine")
}

/// A matcher in the middle of an output.
fn matcher() -> Matcher {
    let mut matcher = Matcher::new(Arc::new(small()), Arc::new(files()));
    [0, 3, 4, 5].into_iter().for_each(|token| matcher.accept(token).expect("it may follow"));
    matcher
}

fn again(matcher: &Matcher, bytes: &[u8]) -> Result<Matcher, UnpackError> {
    Matcher::from_bytes(Arc::clone(matcher.vocabulary()), Arc::new(files()), bytes)
}

#[test]
fn values_come_back_as_they_were() {
    let vocabulary = Vocabulary::from_bytes(&small().to_bytes()).expect("a vocabulary");
    assert_eq!(vocabulary.to_bytes(), small().to_bytes());
    assert_eq!(vocabulary.end(), [6, 1]);
    assert_eq!(vocabulary.bytes(4), b"src/c\n");
    let bound = Bound::from_bytes(&files().to_bytes()).expect("bound files");
    assert_eq!(bound.to_bytes(), files().to_bytes());
    assert_eq!(bound.paths().collect::<Vec<_>>(), ["a", "src/b", "src/c"]);
    let mut before = matcher();
    let packed = before.to_bytes();
    let mut after = Matcher::from_bytes(Arc::new(vocabulary), Arc::new(bound), &packed);
    let after = after.as_mut().expect("a matcher");
    assert_eq!(after.text(), before.text());
    assert_eq!(allowed(after), allowed(&mut before));
    assert_eq!(after.rollback(9), 4);
}

#[test]
fn an_output_that_has_ended_comes_back_ended() {
    let mut ended = matcher();
    ended.accept(6).expect("it may end");
    let after = again(&ended, &ended.to_bytes()).expect("a matcher");
    assert!(after.has_ended());
}

/// Whether damaged bytes are read as a value.
type Reads = fn(&[u8]) -> bool;

#[test]
fn damaged_bytes_are_refused_without_a_panic() {
    let kinds: [(Vec<u8>, Reads); 3] = [
        (small().to_bytes(), |bytes| Vocabulary::from_bytes(bytes).is_ok()),
        (files().to_bytes(), |bytes| Bound::from_bytes(bytes).is_ok()),
        (matcher().to_bytes(), |bytes| again(&matcher(), bytes).is_ok()),
    ];
    for (nth, (packed, reads)) in kinds.iter().enumerate() {
        assert!(reads(packed));
        for cut in 0..packed.len() {
            assert!(!reads(&packed[..cut]), "{nth}: the first {cut} bytes");
        }
        assert!(!reads(&[&packed[..], &[0]].concat()), "{nth}: one byte more");
        for at in 0..packed.len() {
            for other in [0, 1, 0x7f, 0x80, 0xff] {
                let mut altered = packed.clone();
                altered[at] = other;
                // A text in it may become another text; nothing else is promised.
                let _ = reads(&altered);
            }
        }
        let of_kind = kinds.iter().filter(|(other, _)| reads(other)).count();
        assert_eq!(of_kind, 1, "{nth}: the bytes of another kind");
    }
}

#[test]
fn bytes_are_held_to_the_rules_of_new_values() {
    let mut later = small().to_bytes();
    later[1] = 2;
    let error = Vocabulary::from_bytes(&later).expect_err("another layout");
    assert_eq!(error, UnpackError::Version { version: 2 });

    // The last four bytes are the last end token.
    let mut beyond = small().to_bytes();
    let at = beyond.len() - 4;
    beyond[at] = 7;
    let error = Vocabulary::from_bytes(&beyond).expect_err("no such token");
    assert_eq!(error, UnpackError::End(NoSuchToken { token: 7, len: 7 }));

    let binder = Binder::new(ALL).file("a", "a\n").path("b");
    let mut nul = binder.bind().expect("fits").to_bytes();
    let at = nul.windows(2).position(|pair| pair == b"a\n").expect("the text");
    nul[at] = 0;
    let error = Bound::from_bytes(&nul).expect_err("a NUL");
    assert!(matches!(error, UnpackError::Bind(of) if of.problem == BindError::Binary));

    let error = Matcher::from_bytes(bytes(), Arc::new(files()), &matcher().to_bytes());
    let error = error.expect_err("another vocabulary");
    assert!(matches!(error, UnpackError::Output(_)), "{error}");
}
