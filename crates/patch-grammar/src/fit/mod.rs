//! A grammar for these files as they are now: every sentence of it is a patch that applies.
//!
//! The old lines of a hunk are lines of the file, in order, and end only where the block stands
//! once; what is inserted is free. So a model that is held to the grammar cannot miss.
//!
//! ```
//! use patch_grammar::export::Format;
//! use patch_grammar::fit::{Fit, FitFile, FitOptions};
//!
//! let file = FitFile::new("greet.py", b"def greet():\n    print(\"hi\")\n");
//! let fit = Fit::new(&[file], &[], &FitOptions::default())?;
//! let lark = fit.write(Format::Lark)?;
//! assert!(lark.contains("*** Update File: greet.py"));
//! # Ok::<(), patch_grammar::fit::FitError>(())
//! ```
//!
//! # What it does not promise
//!
//! The place of a hunk may be the wrong one; a policy or a limit may still refuse the patch. It
//! applies to the files as they were when the grammar was made: send it with their hashes.

mod hunks;
mod note;
mod rules;
mod sections;
mod text;
mod unique;
mod write;

use std::collections::HashSet;
use std::ops::RangeInclusive;

pub use note::{FitError, FitNote, Unfit};

use crate::export::Format;
use rules::{RuleId, Rules, Symbol};

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
        /// Deletes it.
        Delete = "delete",
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

/// A grammar for some files.
#[derive(Debug)]
pub struct Fit {
    rules: Rules,
    start: RuleId,
    notes: Vec<FitNote>,
    /// The file with the most lines that may be shown, and their number.
    largest: (String, usize),
    /// How many alternatives are open at once at most.
    choices: usize,
}

impl Fit {
    /// Makes the grammar. `paths` are further paths that exist: they can be deleted.
    /// Each file is changed at most once in a patch, in the order given.
    ///
    /// # Errors
    ///
    /// A path is given twice, or no operation is possible.
    pub fn new(
        files: &[FitFile<'_>],
        paths: &[&str],
        options: &FitOptions,
    ) -> Result<Self, FitError> {
        sections::fit(files, paths, options)
    }

    /// The files that the grammar leaves out of updates.
    #[must_use]
    pub fn notes(&self) -> &[FitNote] {
        &self.notes
    }

    /// Writes the grammar in a notation.
    ///
    /// # Errors
    ///
    /// [`FitError::Format`] for a notation that cannot express it, and [`FitError::TooLarge`] where
    /// the engine that reads the notation would refuse it.
    pub fn write(&self, format: Format) -> Result<String, FitError> {
        write::write(self, format)
    }

    /// Returns whether a patch is a sentence of the grammar.
    #[must_use]
    pub fn recognizes(&self, patch: &str) -> bool {
        let mut seen = HashSet::from([(self.start, 0)]);
        let mut open = vec![(self.start, 0)];
        while let Some((rule, at)) = open.pop() {
            for alternative in self.rules.alternatives(rule) {
                match self.follow(alternative, &patch[at..]) {
                    Some((rest, Some(next))) => {
                        let next = (next, patch.len() - rest.len());
                        if seen.insert(next) {
                            open.push(next);
                        }
                    }
                    Some(("", None)) => return true,
                    _ => {}
                }
            }
        }
        false
    }

    /// Reads an alternative at the beginning of a text: what is left, and the rule at its end.
    fn follow<'t>(
        &self,
        alternative: &[Symbol],
        mut text: &'t str,
    ) -> Option<(&'t str, Option<RuleId>)> {
        for symbol in alternative {
            text = match symbol {
                Symbol::Text(wanted) => text.strip_prefix(self.rules.text_of(*wanted))?,
                Symbol::Old(wanted) => {
                    text.strip_prefix([' ', '-'])?.strip_prefix(self.rules.text_of(*wanted))?
                }
                Symbol::Inserted if !text.starts_with('+') => return None,
                // Nothing that may follow begins with a plus sign.
                Symbol::Inserted | Symbol::MaybeInserted => after_inserted(text)?,
                Symbol::Rule(rule) => return Some((text, Some(*rule))),
            };
        }
        Some((text, None))
    }

    /// Returns a patch of the grammar, to try an applier. `choose` is asked for a number below the
    /// one it gets, and decides everything; `line` gives the text of each inserted line, which has
    /// neither a line feed nor a NUL.
    pub fn sentence(
        &self,
        mut choose: impl FnMut(usize) -> usize,
        mut line: impl FnMut() -> String,
    ) -> String {
        let mut out = String::new();
        let mut open = vec![Symbol::Rule(self.start)];
        while let Some(symbol) = open.pop() {
            match symbol {
                Symbol::Text(text) => out.push_str(self.rules.text_of(text)),
                Symbol::Old(text) => {
                    out.push(if choose(2) == 0 { ' ' } else { '-' });
                    out.push_str(self.rules.text_of(text));
                }
                Symbol::Rule(rule) => {
                    let alternatives = self.rules.alternatives(rule);
                    let chosen = &alternatives[choose(alternatives.len())];
                    open.extend(chosen.iter().rev().copied());
                }
                Symbol::Inserted => {
                    out.push('+');
                    out.push_str(&line());
                    out.push('\n');
                    open.push(Symbol::MaybeInserted);
                }
                Symbol::MaybeInserted if choose(2) == 0 => {}
                Symbol::MaybeInserted => open.push(Symbol::Inserted),
            }
        }
        out
    }
}

/// What follows inserted lines; `None` if they are none.
fn after_inserted(mut text: &str) -> Option<&str> {
    while text.starts_with('+') {
        let (line, rest) = text.split_once('\n')?;
        if line.contains('\0') {
            return None;
        }
        text = rest;
    }
    Some(text)
}
