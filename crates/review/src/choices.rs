//! A person's decisions about hunks.

use std::collections::BTreeMap;

/// The change to a hunk, unless kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The hunk is reverted.
    Revert,
    /// The shown lines of the current file become these.
    Replace(Vec<u8>),
}

/// The hunks of a review to change, by their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices(pub(crate) BTreeMap<String, Choice>);

impl Choices {
    /// Reverts the hunks with these ids.
    #[must_use]
    pub fn revert<'i>(ids: impl IntoIterator<Item = &'i str>) -> Self {
        Self(ids.into_iter().map(|id| (id.to_owned(), Choice::Revert)).collect())
    }

    /// Sets what becomes of a hunk.
    pub fn set(&mut self, id: &str, choice: Choice) {
        self.0.insert(id.to_owned(), choice);
    }

    /// Returns whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
