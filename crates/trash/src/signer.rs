//! Signatures of other files in the state directory, under the key of the journals.

use fs_guard::{Error, Sha256};

use crate::hmac::Keyed;
use crate::key::KeyPlace;

/// Signs texts under the user's key. A text begins with what it is, so that a signature of one kind
/// is none of another (journals begin with `trash journal`).
#[derive(Debug, Clone)]
pub struct Signer(Keyed);

impl Signer {
    /// Reads the key, which is made at the first use; `None` when there is no place for one.
    pub fn new(place: &KeyPlace) -> Result<Option<Self>, Error> {
        Ok(place.key()?.map(|key| Self(Keyed::new(key.bytes()))))
    }

    /// Returns the signature of `text`, which is of the kind `kind`.
    #[must_use]
    pub fn sign(&self, kind: &str, text: &[u8]) -> Sha256 {
        self.0.hash(&[b"trash ", kind.as_bytes(), b"\n", text])
    }
}
