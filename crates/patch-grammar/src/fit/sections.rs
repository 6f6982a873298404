//! The sections of a patch: each file at most once, in order.

use std::collections::BTreeSet;

use super::hunks::hunks;
use super::note::{FitError, FitNote, Unfit};
use super::options::{FitFile, FitOperation, FitOptions};
use super::rules::{Alternative, Choice, RuleId, Rules, Symbol};
use super::text::FileText;
use crate::marker::Marker;

/// The rules of a grammar, and what is to be said of them.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) rules: Rules,
    pub(super) start: RuleId,
    pub(super) notes: Vec<FitNote>,
    /// The file with the most lines that may be shown, and their number.
    pub(super) largest: (String, usize),
    /// How many alternatives are open at once at most.
    pub(super) choices: usize,
}

pub(super) fn fit(
    files: &[FitFile<'_>],
    paths: &[&str],
    options: &FitOptions,
) -> Result<Fitted, FitError> {
    refuse_twice(files.iter().map(|file| file.path).chain(paths.iter().copied()))?;
    let mut sections = Sections::new(options);
    for path in paths.iter().rev() {
        sections.path(path);
    }
    for file in files.iter().rev() {
        sections.file(file);
    }
    sections.finish()
}

/// The sections of a patch, made from the last file to the first.
struct Sections<'o> {
    options: &'o FitOptions,
    rules: Rules,
    /// The last line of a patch.
    end: Symbol,
    /// The sections of the files so far.
    files: Choice,
    /// How many there are.
    count: usize,
    /// What follows a section: those of the files further down, or the end.
    rest: RuleId,
    notes: Vec<FitNote>,
    largest: (String, usize),
    choices: usize,
}

impl<'o> Sections<'o> {
    fn new(options: &'o FitOptions) -> Self {
        let mut rules = Rules::default();
        let end = rules.text(&format!("{}\n", Marker::End));
        let rest = rules.add(vec![vec![end]]);
        let (files, notes, largest) = Default::default();
        Self { options, rules, end, files, count: 0, rest, notes, largest, choices: 0 }
    }

    /// Adds the sections of a path that exists.
    fn path(&mut self, path: &str) {
        if self.is_named(path) {
            let sections = self.delete(path).into_iter().collect();
            self.add(sections);
        }
    }

    /// Adds the sections of a file.
    fn file(&mut self, file: &FitFile<'_>) {
        if !self.is_named(file.path) {
            return;
        }
        let mut sections = Vec::new();
        if self.options.operations.contains(&FitOperation::Update) {
            match self.update(file) {
                Ok(section) => sections.push(section),
                Err(why) => self.note(file.path, why),
            }
        }
        sections.extend(self.delete(file.path));
        self.add(sections);
    }

    fn note(&mut self, path: &str, why: Unfit) {
        self.notes.push(FitNote { path: path.to_owned(), why });
    }

    /// Whether the path after a marker is read as it is written; it is noted if not.
    fn is_named(&mut self, path: &str) -> bool {
        let named = !path.is_empty()
            && path == path.trim_matches([' ', '\t'])
            && !path.contains(char::is_control);
        if !named {
            self.note(path, Unfit::Path);
        }
        named
    }

    fn update(&mut self, file: &FitFile<'_>) -> Result<Alternative, Unfit> {
        let text = FileText::new(file)?;
        let shown = text.stretches.iter().map(ExactSizeIterator::len).sum();
        if shown > self.largest.1 {
            self.largest = (file.path.to_owned(), shown);
        }
        let hunks = hunks(&mut self.rules, &text, self.options.profile, self.rest)?;
        self.choices = self.choices.max(hunks.choices);
        let header = self.rules.text(&Marker::Update.header(file.path));
        Ok(vec![header, Symbol::Rule(hunks.start)])
    }

    fn delete(&mut self, path: &str) -> Option<Alternative> {
        let header = self.rules.text(&Marker::Delete.header(path));
        let wanted = self.options.operations.contains(&FitOperation::Delete);
        wanted.then(|| vec![header, Symbol::Rule(self.rest)])
    }

    /// Adds the sections of a file, each of which is followed by those of files further down.
    fn add(&mut self, of_file: Vec<Alternative>) {
        if of_file.is_empty() {
            return;
        }
        for section in of_file {
            self.files.push(&mut self.rules, section);
            self.count += 1;
        }
        let mut rest = vec![vec![self.end]];
        rest.extend(self.files.alternatives());
        self.rest = self.rules.add(rest);
    }

    fn finish(mut self) -> Result<Fitted, FitError> {
        self.notes.reverse();
        let first = self.files.alternatives();
        if first.is_empty() {
            return Err(FitError::Nothing { notes: self.notes });
        }
        let begin = self.rules.text(&format!("{}\n", Marker::Begin));
        let first = Symbol::Rule(self.rules.add(first));
        let start = self.rules.add(vec![vec![begin, first]]);
        let Self { rules, notes, largest, .. } = self;
        // Each section, and some for the rules that choose among them.
        let choices = self.choices.max(self.count * 3 / 2);
        Ok(Fitted { rules, start, notes, largest, choices })
    }
}

fn refuse_twice<'p>(paths: impl Iterator<Item = &'p str>) -> Result<(), FitError> {
    let mut seen = BTreeSet::new();
    for path in paths {
        if !seen.insert(path) {
            return Err(FitError::Twice { path: path.to_owned() });
        }
    }
    Ok(())
}
