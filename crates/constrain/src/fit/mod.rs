//! A grammar for these files as they are now: every sentence of it is a patch that applies.
//!
//! The old lines of a hunk are lines of the file, in order, and end only where the block is unique;
//! inserted text is free. So a model held to the grammar cannot miss.
//!
//! ```
//! use patch_grammar::export::Format;
//! use patch_constrain::fit::{Fit, FitFile, FitOptions};
//!
//! let file = FitFile::new("greet.py", b"def greet():\n    print(\"hi\")\n");
//! let fit = Fit::new(&[file], &[], &FitOptions::default())?;
//! let lark = fit.write(Format::Lark)?;
//! assert!(lark.contains("*** Update File: greet.py"));
//! # Ok::<(), patch_constrain::fit::FitError>(())
//! ```
//!
//! # What it does not promise
//!
//! The place of a hunk may be the wrong one; a policy or a limit may still refuse the patch, and a
//! hunk is refused if its result already stands at its place. The patch applies to the files as
//! they were when the grammar was made: send it with their hashes.

mod hunks;
mod limits;
mod new_path;
mod note;
mod options;
mod quoted;
mod rules;
mod sections;
mod tail;
mod text;
mod write;

use std::collections::HashSet;

pub use note::{Cause, FitError, FitNote, TooMany, Unfit};
pub use options::{FitFile, FitOperation, FitOptions};
pub use patch_engine::Profile;

use patch_grammar::export::Format;
use rules::{RuleId, Symbol};
use sections::Fitted;

/// A grammar for some files.
#[derive(Debug)]
pub struct Fit(Fitted);

impl Fit {
    /// Makes the grammar. `paths` are existing paths: they can be deleted, and a new file is none of
    /// them. For new files and moves all paths of the workspace have to be named; the files may be
    /// among them. Each file is changed at most once in a patch, in the order given.
    ///
    /// # Errors
    ///
    /// A file is given twice, no operation is possible, or the engine of [`FitOptions::format`] does
    /// not take the grammar.
    pub fn new(
        files: &[FitFile<'_>],
        paths: &[&str],
        options: &FitOptions,
    ) -> Result<Self, FitError> {
        let fitted = sections::fit(files, paths, options)?;
        limits::check(&fitted, options.format)?;
        Ok(Self(fitted))
    }

    /// The files that the grammar leaves out of updates.
    #[must_use]
    pub fn notes(&self) -> &[FitNote] {
        &self.0.notes
    }

    /// Writes the grammar in a notation.
    ///
    /// # Errors
    ///
    /// [`FitError::Format`] for a notation that cannot express the grammar. For another notation
    /// than that of the options also [`FitError::TooLarge`], if its engine does not take the
    /// grammar.
    pub fn write(&self, format: Format) -> Result<String, FitError> {
        limits::check(&self.0, format)?;
        Ok(write::write(&self.0, format))
    }

    /// Returns whether a patch is a sentence of the grammar.
    #[must_use]
    pub fn recognizes(&self, patch: &str) -> bool {
        let mut seen = HashSet::from([(self.0.start, 0)]);
        let mut open = vec![(self.0.start, 0)];
        while let Some((rule, at)) = open.pop() {
            for alternative in self.0.rules.alternatives(rule) {
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
        alternative: impl Iterator<Item = Symbol>,
        mut text: &'t str,
    ) -> Option<(&'t str, Option<RuleId>)> {
        for symbol in alternative {
            text = match symbol {
                Symbol::Text(wanted) => text.strip_prefix(self.0.rules.text_of(wanted))?,
                Symbol::Old(sign, wanted) => {
                    text.strip_prefix(sign.chars())?.strip_prefix(self.0.rules.text_of(wanted))?
                }
                Symbol::Inserted if !text.starts_with('+') => return None,
                // No text that may follow begins with a plus sign.
                Symbol::Inserted | Symbol::MaybeInserted => after_inserted(text)?,
                Symbol::NewPath => {
                    let (path, rest) = text.split_once('\n')?;
                    self.0.new_paths.automaton().has(path).then_some(rest)?
                }
                Symbol::Rule(rule) => return Some((text, Some(rule))),
                Symbol::Tail(kind) => {
                    let new_paths = self.0.new_paths.automaton();
                    return self.0.tail.is_tail(kind, text, new_paths).then_some(("", None));
                }
            };
        }
        Some((text, None))
    }

    /// Returns a patch of the grammar, to try an applier. `choose` decides everything: each call
    /// returns a number below its argument. `line` gives the text of each inserted line, without a
    /// line feed and without a NUL.
    pub fn sentence(
        &self,
        mut choose: impl FnMut(usize) -> usize,
        mut line: impl FnMut() -> String,
    ) -> String {
        let mut out = String::new();
        let mut open = vec![Symbol::Rule(self.0.start)];
        while let Some(symbol) = open.pop() {
            match symbol {
                Symbol::Text(text) => out.push_str(self.0.rules.text_of(text)),
                Symbol::Old(sign, text) => {
                    let signs = sign.chars();
                    out.push(signs[choose(signs.len())]);
                    out.push_str(self.0.rules.text_of(text));
                }
                Symbol::Rule(rule) => {
                    let mut alternatives = self.0.rules.alternatives(rule);
                    let chosen = alternatives.nth(choose(alternatives.len()));
                    open.extend(chosen.into_iter().flat_map(Iterator::rev));
                }
                Symbol::Tail(kind) => {
                    let new_paths = self.0.new_paths.automaton();
                    self.0.tail.sentence(kind, &mut out, new_paths, &mut choose, &mut line);
                }
                Symbol::NewPath => self.0.new_paths.automaton().write(&mut out, &mut choose),
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

/// The text behind inserted lines; `None` if there are none.
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
