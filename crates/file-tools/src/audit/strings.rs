//! Many byte strings in one allocation.

use std::ops::Range;

/// Byte strings in order. A string may be empty.
#[derive(Debug, Default)]
pub(super) struct Strings {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl Strings {
    /// Adds a string, which `write` appends to its argument.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let from = self.bytes.len();
        write(&mut self.bytes);
        self.places.push(from..self.bytes.len());
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|place| &self.bytes[place.clone()])
    }
}
