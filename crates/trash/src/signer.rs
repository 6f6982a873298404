//! Signatures under the user's key: HMAC-SHA-256 (RFC 2104).

use fs_guard::Sha256;
use hmac::{Hmac, KeyInit as _, Mac as _};

use crate::fingerprint::Fingerprint;

/// Signs journals and other texts in the state directory under the user's key. What depends on the
/// key alone is computed once.
#[derive(Clone)]
pub struct Signer {
    mac: Hmac<sha2::Sha256>,
    fingerprint: Fingerprint,
}

/// The key is not shown.
impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({})", self.fingerprint)
    }
}

impl Signer {
    /// Creates a signer with this key.
    #[must_use]
    pub fn with_key(key: &[u8; 32]) -> Self {
        let mac = Hmac::new_from_slice(key).expect("a key of any length will do");
        Self { mac, fingerprint: Fingerprint::of(key) }
    }

    /// Returns the fingerprint of the key.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the signature of `text`, of kind `kind`. A signature of one kind is not valid for
    /// another (journals begin with `trash journal`).
    #[must_use]
    pub fn sign(&self, kind: &str, text: &[u8]) -> Sha256 {
        self.hash(&[b"trash ", kind.as_bytes(), b"\n", text])
    }

    /// Returns the keyed hash of the concatenated parts.
    pub(crate) fn hash(&self, parts: &[&[u8]]) -> Sha256 {
        Signing(self.with(parts)).finish()
    }

    /// Begins the keyed hash of a text in parts.
    pub(crate) fn begin(&self) -> Signing {
        Signing(self.with(&[]))
    }

    /// Compares in constant time, so that the time does not reveal the first difference.
    pub(crate) fn matches(&self, text: &[u8], hash: &Sha256) -> bool {
        self.with(&[text]).verify_slice(&hash.0).is_ok()
    }

    fn with(&self, parts: &[&[u8]]) -> Hmac<sha2::Sha256> {
        let mut mac = self.mac.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
}

/// The keyed hash of a text that is passed in parts.
pub(crate) struct Signing(Hmac<sha2::Sha256>);

impl Signing {
    /// Adds a part.
    pub(crate) fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// Returns the hash of all parts.
    pub(crate) fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into_bytes().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, cases 1 and 2: shorter keys are keys with zeros.
    #[test]
    fn known_answers() {
        let signer = |short: &[u8]| {
            let mut key = [0; 32];
            key[..short.len()].copy_from_slice(short);
            Signer::with_key(&key)
        };
        let fingerprint = signer(b"Jefe").fingerprint();
        assert_eq!(fingerprint.to_string().len(), 16);
        assert_eq!(Fingerprint::parse(&fingerprint.to_string()), Some(fingerprint));
        assert_ne!(fingerprint, signer(b"Jeff").fingerprint());
        assert!(Fingerprint::parse("+123456789abcdef").is_none());
        assert!(Fingerprint::parse("0123456789ABCDEF").is_none());
        let one = signer(&[0x0B; 20]).hash(&[b"Hi There"]);
        assert_eq!(
            one.to_string(),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        let two = signer(b"Jefe").hash(&[b"what do ya ", b"", b"want for nothing?"]);
        assert_eq!(
            two.to_string(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert!(!signer(&[0x0B; 20]).matches(b"Hi There", &two));
        assert!(signer(&[0x0B; 20]).matches(b"Hi There", &one));
    }
}
