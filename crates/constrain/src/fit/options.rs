//! The files and patches that a grammar is made for.

use std::ops::RangeInclusive;

use patch_engine::Profile;
use patch_grammar::export::Format;

/// A file that a patch may change.
#[derive(Debug, Clone)]
pub struct FitFile<'f> {
    /// The path as a patch names it.
    pub path: &'f str,
    /// All of its bytes.
    pub text: &'f [u8],
    /// The 1-based lines that hunks may show: those that the model saw. Empty: all lines. A block
    /// has to be unique in the whole file.
    pub windows: Vec<RangeInclusive<usize>>,
}

impl<'f> FitFile<'f> {
    /// A file all lines of which may be shown.
    #[must_use]
    pub fn new(path: &'f str, text: &'f [u8]) -> Self {
        Self { path, text, windows: Vec::new() }
    }
}

patch_grammar::named! {
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
    /// The rules that the patch will be applied by. With [`Codex`](Profile::Codex) a file has any
    /// number of hunks, in file order. With the others a file has one: an earlier hunk could insert
    /// the lines of a later one a second time. With [`Strict`](Profile::Strict) a new file is in an
    /// existing directory.
    pub profile: Profile,
    /// The changes that sections may make.
    pub operations: Vec<FitOperation>,
    /// The notation whose engine has to take the grammar: Lark, EBNF or GBNF.
    pub format: Format,
}

impl Default for FitOptions {
    /// Updates, by the rules of the default profile, for llguidance.
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            operations: vec![FitOperation::Update],
            format: Format::Lark,
        }
    }
}
