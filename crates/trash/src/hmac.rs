//! HMAC-SHA-256 (RFC 2104).

use fs_guard::{Hasher, Sha256};

/// Makes keyed hashes; what depends on the key alone is done once.
#[derive(Debug, Clone)]
pub(crate) struct Keyed {
    inner: Hasher,
    outer: Hasher,
}

impl Keyed {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let pad = |with: u8| {
            let mut block = [with; 64];
            block.iter_mut().zip(key).for_each(|(b, k)| *b ^= k);
            let mut hasher = Hasher::new();
            hasher.update(&block);
            hasher
        };
        Self { inner: pad(0x36), outer: pad(0x5C) }
    }

    /// Returns the keyed hash of the parts, one after the other.
    pub(crate) fn hash(&self, parts: &[&[u8]]) -> Sha256 {
        let mut inner = self.inner.clone();
        parts.iter().for_each(|part| inner.update(part));
        let mut outer = self.outer.clone();
        outer.update(&inner.finish().0);
        outer.finish()
    }
}

/// Returns the keyed hash of `bytes`.
pub(crate) fn hmac(key: &[u8; 32], bytes: &[u8]) -> Sha256 {
    Keyed::new(key).hash(&[bytes])
}

/// Compares without telling by the time taken where the first difference is.
pub(crate) fn same(one: &Sha256, other: &Sha256) -> bool {
    one.0.iter().zip(&other.0).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, cases 1 and 2: shorter keys are keys with zeros.
    #[test]
    fn known_answers() {
        let key = |short: &[u8]| {
            let mut key = [0; 32];
            key[..short.len()].copy_from_slice(short);
            key
        };
        let one = hmac(&key(&[0x0B; 20]), b"Hi There");
        assert_eq!(one.to_string(), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        let two = hmac(&key(b"Jefe"), b"what do ya want for nothing?");
        assert_eq!(two.to_string(), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert!(!same(&one, &two) && same(&one, &one));
        let keyed = Keyed::new(&key(b"Jefe"));
        for _ in 0..2 {
            assert_eq!(keyed.hash(&[b"what do ya ", b"", b"want for nothing?"]), two);
        }
    }
}
