//! Hashes that are computed when they are asked for.
//!
//! They are those of files in memory, and of commits where no log is written.

use std::sync::{Arc, OnceLock};

use fs_guard::{Hasher, Sha256};
use patch_text::cancel::Cancel;
use patch_text::text::splices::Splices;

/// The number of bytes after which a long piece of work asks whether it is cancelled.
pub(crate) const PIECE: usize = 1 << 20;

/// Returns the hash and the size of a file after replacements.
pub(crate) fn outcome(splices: &Splices, source: &[u8]) -> (Sha256, u64) {
    let mut hasher = Hasher::new();
    hash_from(splices, source, 0, &mut hasher, &());
    (hasher.finish(), splices.size_of(source.len()) as u64)
}

/// Adds a file after replacements, from byte `from` on, to a hash of the bytes before. A hash that
/// was cancelled is not one of anything.
pub(crate) fn hash_from(
    splices: &Splices,
    source: &[u8],
    from: usize,
    hasher: &mut Hasher,
    cancel: &dyn Cancel,
) {
    for piece in splices.pieces(source, from).flat_map(|piece| piece.chunks(PIECE)) {
        if cancel.is_cancelled() {
            return;
        }
        hasher.update(piece);
    }
}

/// A SHA-256 that is known, or one of bytes in memory that is computed when it is asked for: to
/// hash a small file takes longer than to edit it.
#[derive(Debug, Clone)]
pub(crate) struct LazyHash {
    known: OnceLock<Sha256>,
    /// The bytes to hash.
    bytes: Option<Arc<Vec<u8>>>,
}

impl From<Sha256> for LazyHash {
    fn from(sha256: Sha256) -> Self {
        Self { known: sha256.into(), bytes: None }
    }
}

impl LazyHash {
    /// Returns the hash of these bytes, or of what [`get_by`](Self::get_by) makes of them.
    pub(crate) fn later(bytes: &Arc<Vec<u8>>) -> Self {
        Self { known: OnceLock::new(), bytes: Some(Arc::clone(bytes)) }
    }

    /// Returns whether it is computed by now.
    pub(crate) fn is_known(&self) -> bool {
        self.known.get().is_some()
    }

    /// Returns the hash.
    pub(crate) fn get(&self) -> Sha256 {
        self.get_by(Sha256::of)
    }

    /// Returns the hash, which `hash` computes from the bytes where it is not known.
    pub(crate) fn get_by(&self, hash: impl FnOnce(&[u8]) -> Sha256) -> Sha256 {
        *self.known.get_or_init(|| {
            hash(self.bytes.as_ref().expect("BUG: without bytes the hash is known"))
        })
    }

    /// Returns the bytes that it is, or was, to be computed from.
    pub(crate) fn bytes(&self) -> Option<&Arc<Vec<u8>>> {
        self.bytes.as_ref()
    }

    /// Returns whether it is the hash of these bytes. What is at hand is compared, and not hashed.
    pub(crate) fn is_of(&self, bytes: &[u8]) -> bool {
        match &self.bytes {
            Some(own) => ***own == *bytes,
            None => Sha256::of(bytes) == self.get(),
        }
    }

    /// Computes it, and lets go of the bytes.
    pub(crate) fn settle(&mut self) {
        self.get();
        self.bytes = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_that_of_the_bytes_whenever_it_is_computed() {
        let bytes = Arc::new(b"one\n".to_vec());
        let known = LazyHash::from(Sha256::of(&bytes));
        let mut later = LazyHash::later(&bytes);
        assert!(known.is_known());
        assert!(!later.is_known());
        for hash in [&known, &later] {
            assert!(hash.is_of(b"one\n"));
            assert!(!hash.is_of(b"two\n"));
        }
        assert!(!later.is_known(), "comparing hashes nothing");
        later.settle();
        assert_eq!(Arc::strong_count(&bytes), 1, "the bytes are let go of");
        assert_eq!(later.get(), known.get());
        assert!(later.is_of(b"one\n"));
        assert!(!later.is_of(b"two\n"));
    }
}
