//! What the matcher promises: what it lets end applies, whatever applies it lets be written, and
//! no output is without a way to its end.

#![allow(clippy::disallowed_methods, reason = "the files that the environment names")]

mod batch;
mod budget;
mod histories;
mod outputs;
mod pack;
mod reference;
mod tokens;

use std::sync::Arc;

use patch_constrain::{Binder, Bound, Matcher, Operations, Vocabulary, has};
use patch_engine::{MemoryTree, Options, Profile, apply_in_memory};

/// The vocabulary of all bytes, with one more token that ends an output.
fn bytes() -> Arc<Vocabulary> {
    let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([Vec::new()]);
    Arc::new(Vocabulary::new(tokens, &[256]).expect("the end is a token"))
}

/// One file, bound for updates.
fn one_file(text: &str) -> Arc<Bound> {
    let binder = Binder::new(Operations::default()).file("f", text);
    Arc::new(binder.bind().expect("the file can be bound"))
}

/// Whether an output may be written byte by byte and end there.
fn accepts(bound: &Arc<Bound>, vocabulary: &Arc<Vocabulary>, text: &str) -> bool {
    let mut matcher = Matcher::new(Arc::clone(vocabulary), Arc::clone(bound));
    text.bytes().all(|byte| matcher.accept(u32::from(byte)).is_ok()) && matcher.is_finished()
}

/// The refusal of a profile to apply an output, if it refuses.
fn refusal(files: &[(&str, &str)], text: &str) -> Option<String> {
    let tree: MemoryTree = files.iter().map(|&(path, text)| (path, text)).collect();
    [Profile::Strict, Profile::Codex].into_iter().find_map(|profile| {
        let refused = apply_in_memory(&tree, text, &Options::new(profile)).err()?;
        Some(format!("{profile:?}: {refused}"))
    })
}

/// The tokens of a mask.
fn allowed(matcher: &mut Matcher) -> Vec<u32> {
    let mut mask = vec![u32::MAX; matcher.vocabulary().mask_len()];
    matcher.allowed(&mut mask);
    (0..matcher.vocabulary().len() as u32).filter(|&token| has(&mask, token)).collect()
}
