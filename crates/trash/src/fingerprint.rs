//! The names of keys.

use fs_guard::Sha256;

/// Identifies a key. Fingerprints may be public: nothing about the key follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 8]);

impl Fingerprint {
    /// Reads 16 hexadecimal digits, in lower case only.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let key = Self(u64::from_str_radix(text, 16).ok()?.to_be_bytes());
        (key.to_string() == text).then_some(key)
    }

    pub(crate) fn of(key: &[u8; 32]) -> Self {
        let hash = Sha256::of(&[b"trash key fingerprint\n", &key[..]].concat());
        Self(hash.0[..8].try_into().expect("a hash is longer"))
    }
}

/// 16 hexadecimal digits.
impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}
