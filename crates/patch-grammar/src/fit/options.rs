//! The files and patches that a grammar is made for.

use std::borrow::Cow;
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
        Strict = "strict",
        /// The same, and a new file may be in a new directory: the default.
        #[default]
        Standard = "standard",
        /// Any number of hunks for each file, in file order.
        Codex = "codex",
    }
}

crate::names::named! {
    /// The change that a section makes to a file.
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

/// The patches that a grammar allows.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// The rules that the patch will be applied by.
    pub profile: FitProfile,
    /// The changes that sections may make.
    pub operations: Vec<FitOperation>,
    /// The spelling by which names are compared: those that have the same are one to some file
    /// system. It has to be that of the applier, which refuses a second one. That of a name in
    /// ASCII is the name in small letters.
    pub fold: fn(&str) -> Cow<'_, str>,
}

impl Default for FitOptions {
    /// Updates, by the rules of profile `standard`, of names that are compared in small letters.
    fn default() -> Self {
        Self {
            profile: FitProfile::default(),
            operations: vec![FitOperation::Update],
            fold: |name| name.to_lowercase().into(),
        }
    }
}
