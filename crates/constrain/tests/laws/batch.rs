//! Masks of several outputs at once.

use std::sync::Arc;

use patch_constrain::{Matcher, allowed_batch};

use super::{bytes, one_file};

/// Matchers at the beginning of an output, each one byte further than the one before.
fn matchers(count: usize) -> Vec<Matcher> {
    let bound = one_file("fn a() {\n    b();\n}\n");
    let text = b"*** Begin Patch\n*** Update File: f\n@@\n-fn a() {\n+fn b() {\n*** End Patch\n";
    let mut matcher = Matcher::new(bytes(), bound);
    let mut all = Vec::new();
    for &byte in text.iter().cycle().take(count) {
        all.push(matcher.clone());
        if matcher.accept(u32::from(byte)).is_err() {
            matcher = Matcher::new(Arc::clone(matcher.vocabulary()), one_file("x\n"));
        }
    }
    all
}

#[test]
fn a_batch_has_the_masks_of_each_output() {
    for (count, extra, threads) in [(1, 0, 1), (5, 3, 4), (64, 0, 2), (70, 2, 16), (20, 1, 0)] {
        let mut all = matchers(count);
        let row = all[0].vocabulary().mask_len() + extra;
        let mut masks = vec![u32::MAX; count * row];
        let mut borrowed: Vec<&mut Matcher> = all.iter_mut().collect();
        allowed_batch(&mut borrowed, &mut masks, row, threads);
        for (nth, (matcher, mask)) in all.iter_mut().zip(masks.chunks_exact(row)).enumerate() {
            let mut alone = vec![0; row];
            matcher.allowed(&mut alone);
            assert_eq!(mask, alone, "{nth} of {count}, {threads} threads");
        }
        assert!(masks.iter().any(|&word| word != 0));
    }
}

#[test]
fn an_empty_batch_is_a_batch() {
    allowed_batch(&mut [], &mut [], 8, 4);
}

#[test]
#[should_panic(expected = "one row for each matcher")]
fn a_buffer_of_another_size_is_refused() {
    let mut all = matchers(2);
    let mut borrowed: Vec<&mut Matcher> = all.iter_mut().collect();
    allowed_batch(&mut borrowed, &mut [0; 17], 9, 2);
}
