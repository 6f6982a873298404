//! Masks of tokens, applied to the logits of a model.

/// Gives the tokens whose bits are not set the logit minus infinity. The bit of a token is bit
/// `id % 32` of word `id / 32`.
///
/// # Panics
///
/// If a logit has no bit.
pub fn mask_logits(mask: &[u32], logits: &mut [f32]) {
    assert!(mask.len() * 32 >= logits.len(), "each logit has a bit");
    for (&word, logits) in mask.iter().zip(logits.chunks_mut(32)) {
        match word {
            0 => logits.fill(f32::NEG_INFINITY),
            u32::MAX => {}
            _ => {
                for (bit, logit) in logits.iter_mut().enumerate() {
                    if word >> bit & 1 == 0 {
                        *logit = f32::NEG_INFINITY;
                    }
                }
            }
        }
    }
}

/// Returns the share of the probability that [`mask_logits`] takes away, from 0 to 1.
///
/// # Panics
///
/// If a logit has no bit.
#[must_use]
pub fn denied_share(mask: &[u32], logits: &[f32]) -> f64 {
    /// All tokens that are below the best one by this much have less than a thousandth together.
    const FAR: f32 = -20.0;
    assert!(mask.len() * 32 >= logits.len(), "each logit has a bit");
    let best = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut all = 0.0;
    let mut kept = 0.0;
    for (nth, logit) in logits.iter().enumerate().filter(|(_, logit)| **logit - best > FAR) {
        let weight = f64::from((logit - best).exp());
        all += weight;
        if mask[nth / 32] >> (nth % 32) & 1 == 1 {
            kept += weight;
        }
    }
    if all > 0.0 { 1.0 - kept / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: f32 = f32::NEG_INFINITY;

    #[test]
    fn tokens_without_a_bit_get_minus_infinity() {
        for (mask, count, kept) in [
            (vec![0b101], 4, vec![0, 2]),
            (vec![u32::MAX, 0, 1], 65, (0..32).chain([64]).collect()),
            (vec![0, u32::MAX], 40, (32..40).collect()),
            (vec![7], 0, vec![]),
        ] {
            let mut logits = vec![1.0; count];
            mask_logits(&mask, &mut logits);
            let left: Vec<usize> = (0..count).filter(|&token| logits[token] == 1.0).collect();
            assert_eq!(left, kept, "{mask:x?}");
            assert!(logits.iter().all(|&logit| logit == 1.0 || logit == NONE));
        }
    }

    #[test]
    fn the_share_is_that_of_the_probability() {
        for (logits, share) in [
            (vec![0.0, 0.0], 0.5),
            (vec![50.0, 0.0], 0.0),
            (vec![0.0, 50.0], 1.0),
            (vec![NONE, 0.0], 1.0),
            (vec![NONE, NONE], 0.0),
            (vec![2_f32.ln(), 0.0], 1.0 / 3.0),
        ] {
            let found = denied_share(&[1], &logits);
            assert!((found - share).abs() < 1e-6, "{logits:?}: {found}");
        }
    }
}
