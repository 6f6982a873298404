//! What a grammar is made for.

use std::ops::RangeInclusive;

/// A file that a patch may change.
#[derive(Debug, Clone)]
pub struct FitFile<'f> {
    /// Its path as a patch names it.
    pub path: &'f str,
    /// All of its bytes.
    pub text: &'f [u8],
    /// The 1-based lines that hunks may show: those that the model saw. Empty: all lines. Whether a
    /// block stands once is decided over the whole file.
    pub windows: Vec<RangeInclusive<usize>>,
}

impl<'f> FitFile<'f> {
    /// A file all lines of which may be shown.
    #[must_use]
    pub fn new(path: &'f str, text: &'f [u8]) -> Self {
        Self { path, text, windows: Vec::new() }
    }
}

crate::names::named! {
    /// The rules that the patch will be applied by.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum FitProfile {
        /// One hunk for each file: what an earlier hunk inserts could make the lines of a later one
        /// stand twice.
        #[default]
        Strict = "strict",
        /// Any number of hunks for each file, in file order.
        Codex = "codex",
    }
}

crate::names::named! {
    /// What a section does to a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum FitOperation {
        /// Changes lines.
        Update = "update",
        /// Makes a new file, at most one in a patch.
        Add = "add",
        /// Deletes it.
        Delete = "delete",
        /// Moves it to a new path, and may change lines. A patch has one new path at most.
        Move = "move",
    }
}

/// What the patches may be.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// The rules that the patch will be applied by.
    pub profile: FitProfile,
    /// What sections may do.
    pub operations: Vec<FitOperation>,
}

impl Default for FitOptions {
    /// Updates, by the rules of profile `strict`.
    fn default() -> Self {
        Self { profile: FitProfile::default(), operations: vec![FitOperation::Update] }
    }
}
