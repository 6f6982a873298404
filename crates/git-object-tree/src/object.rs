//! One object.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::id::{Id, ObjectKind};

/// An object that was read, or is to be written.
#[derive(Clone)]
pub(crate) struct Object {
    pub(crate) kind: ObjectKind,
    pub(crate) bytes: Arc<[u8]>,
}

impl Object {
    pub(crate) fn new(kind: ObjectKind, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { kind, bytes: bytes.into() }
    }

    /// Returns the bytes of an object that has to be of one kind.
    pub(crate) fn expect(self, id: Id, wanted: ObjectKind) -> Result<Arc<[u8]>> {
        if self.kind == wanted {
            Ok(self.bytes)
        } else {
            Err(Error::WrongKind { id, found: self.kind, wanted })
        }
    }

    /// Returns its name.
    pub(crate) fn id(&self) -> Result<Id> {
        hash(self.kind, &self.bytes)
    }
}

/// Returns the name of an object.
pub(crate) fn hash(kind: ObjectKind, bytes: &[u8]) -> Result<Id> {
    match gix_object::compute_hash(gix_hash::Kind::Sha1, kind.to_gix(), bytes) {
        Ok(id) => Ok(Id::from_gix(&id)),
        // The one failure that there is.
        Err(_) => {
            Err(Error::Unsupported { what: "a text that was made to collide under SHA-1".into() })
        }
    }
}
