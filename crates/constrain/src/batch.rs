//! The masks of several outputs at once.

use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::matcher::Matcher;

/// Starting a thread costs about as much as so many masks.
const MASKS_OF_A_THREAD: usize = 8;

/// Fills a mask for each of several outputs, on up to `threads` threads.
///
/// The masks are the rows of one buffer, `row` words each, in the order of the matchers: the layout
/// of `allocate_token_bitmask` of XGrammar and llguidance. Each row is filled as
/// [`Matcher::allowed`] fills it. A batch too small to be worth another thread stays on this one.
///
/// ```
/// use std::sync::Arc;
/// use patch_constrain::{Binder, Matcher, Operations, Vocabulary, allowed_batch, has};
///
/// let tokens: Vec<Vec<u8>> = (0..=255_u8).map(|byte| vec![byte]).chain([vec![]]).collect();
/// let vocabulary = Arc::new(Vocabulary::new(tokens, &[256])?);
/// let bound = Arc::new(Binder::new(Operations::default()).file("a.txt", "one\ntwo\n").bind()?);
/// let mut one = Matcher::new(Arc::clone(&vocabulary), Arc::clone(&bound));
/// let mut other = one.clone();
/// other.accept(u32::from(b'*'))?;
///
/// let row = vocabulary.mask_len();
/// let mut masks = vec![0; 2 * row];
/// allowed_batch(&mut [&mut one, &mut other], &mut masks, row, 2);
/// assert!(has(&masks[row..], u32::from(b'*')));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// If `masks` does not have exactly `row` words for each matcher.
pub fn allowed_batch(matchers: &mut [&mut Matcher], masks: &mut [u32], row: usize, threads: usize) {
    let wanted = matchers.len().checked_mul(row);
    assert_eq!(wanted, Some(masks.len()), "the masks have one row for each matcher");
    if masks.is_empty() {
        return;
    }
    let threads = threads.min(matchers.len().div_ceil(MASKS_OF_A_THREAD));
    // Masks differ much in cost, so each thread takes the next row when it is done with one.
    let rows = Mutex::new(matchers.iter_mut().zip(masks.chunks_exact_mut(row)));
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| fill_all(&rows));
        }
        fill_all(&rows);
    });
}

/// Fills rows until none is left.
fn fill_all<'a, 'm: 'a>(
    rows: &Mutex<impl Iterator<Item = (&'a mut &'m mut Matcher, &'a mut [u32])>>,
) {
    while let Some((matcher, mask)) = next(rows) {
        matcher.allowed(mask);
    }
}

fn next<T>(rows: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    rows.lock().unwrap_or_else(PoisonError::into_inner).next()
}
