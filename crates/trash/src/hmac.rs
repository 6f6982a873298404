//! HMAC-SHA-256 (RFC 2104).

use fs_guard::Sha256;
use hmac::{Hmac, KeyInit as _, Mac as _};

/// Makes keyed hashes; what depends on the key alone is done once.
#[derive(Clone)]
pub(crate) struct Keyed(Hmac<sha2::Sha256>);

impl std::fmt::Debug for Keyed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyed")
    }
}

impl Keyed {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(key).expect("a key of any length will do"))
    }

    /// Returns the keyed hash of the parts, one after the other.
    pub(crate) fn hash(&self, parts: &[&[u8]]) -> Sha256 {
        Sha256(self.with(parts).finalize().into_bytes().into())
    }

    /// Compares without telling by the time taken where the first difference is.
    pub(crate) fn matches(&self, parts: &[&[u8]], hash: &Sha256) -> bool {
        self.with(parts).verify_slice(&hash.0).is_ok()
    }

    fn with(&self, parts: &[&[u8]]) -> Hmac<sha2::Sha256> {
        let mut mac = self.0.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
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
        let keyed = Keyed::new(&key(&[0x0B; 20]));
        let one = keyed.hash(&[b"Hi There"]);
        assert_eq!(one.to_string(), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        let two = Keyed::new(&key(b"Jefe")).hash(&[b"what do ya want for nothing?"]);
        assert_eq!(two.to_string(), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert!(!keyed.matches(&[b"Hi There"], &two) && keyed.matches(&[b"Hi There"], &one));
        let keyed = Keyed::new(&key(b"Jefe"));
        for _ in 0..2 {
            assert_eq!(keyed.hash(&[b"what do ya ", b"", b"want for nothing?"]), two);
        }
    }
}
