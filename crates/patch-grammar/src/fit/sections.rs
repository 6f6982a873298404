//! The sections of a patch: each file at most once, in order.

use std::collections::BTreeSet;

use super::hunks::hunks;
use super::note::{FitError, FitNote, Unfit};
use super::rules::{Alternative, Choice, RuleId, Rules, Symbol};
use super::text::FileText;
use super::{Fit, FitFile, FitOperation, FitOptions};
use crate::marker::Marker;

pub(super) fn fit(
    files: &[FitFile<'_>],
    paths: &[&str],
    options: &FitOptions,
) -> Result<Fit, FitError> {
    refuse_twice(files.iter().map(|file| file.path).chain(paths.iter().copied()))?;
    let mut notes = Vec::new();
    let mut rules = Rules::default();
    let end = rules.text(&format!("{}\n", Marker::End));
    let mut sections = Choice::default();
    let mut rest = rules.add(vec![vec![end]]);
    let mut largest = (String::new(), 0);
    for path in paths.iter().rev() {
        if !can_be_named(path) {
            notes.push(FitNote { path: (*path).to_owned(), why: Unfit::Path });
        } else if options.operations.contains(&FitOperation::Delete) {
            let section = delete(&mut rules, path, rest);
            rest = add(&mut rules, &mut sections, vec![section], end);
        }
    }
    for file in files.iter().rev() {
        let note = |why| FitNote { path: file.path.to_owned(), why };
        if !can_be_named(file.path) {
            notes.push(note(Unfit::Path));
            continue;
        }
        let mut alternatives: Vec<Alternative> = Vec::new();
        if options.operations.contains(&FitOperation::Update) {
            match FileText::new(file).and_then(|text| {
                let shown = text.stretches.iter().map(ExactSizeIterator::len).sum();
                if shown > largest.1 {
                    largest = (file.path.to_owned(), shown);
                }
                hunks(&mut rules, &text, options.profile, rest)
            }) {
                Ok(hunks) => {
                    let header = rules.text(&Marker::Update.header(file.path));
                    alternatives.push(vec![header, Symbol::Rule(hunks)]);
                }
                Err(why) => notes.push(note(why)),
            }
        }
        if options.operations.contains(&FitOperation::Delete) {
            alternatives.push(delete(&mut rules, file.path, rest));
        }
        if !alternatives.is_empty() {
            rest = add(&mut rules, &mut sections, alternatives, end);
        }
    }
    notes.reverse();
    let first = sections.alternatives();
    if first.is_empty() {
        return Err(FitError::Nothing { notes });
    }
    let begin = rules.text(&format!("{}\n", Marker::Begin));
    let first = rules.add(first);
    let start = rules.add(vec![vec![begin, Symbol::Rule(first)]]);
    Ok(Fit { rules, start, notes, largest })
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

/// Whether the path after a marker is read as it is written.
fn can_be_named(path: &str) -> bool {
    !path.is_empty() && path == path.trim_matches([' ', '\t']) && !path.contains(char::is_control)
}

fn delete(rules: &mut Rules, path: &str, rest: RuleId) -> Alternative {
    vec![rules.text(&Marker::Delete.header(path)), Symbol::Rule(rest)]
}

/// Adds the sections of a file, and returns what may follow those of the file before it.
fn add(rules: &mut Rules, sections: &mut Choice, of_file: Vec<Alternative>, end: Symbol) -> RuleId {
    let section = rules.add(of_file);
    sections.push(rules, vec![Symbol::Rule(section)]);
    let mut rest = vec![vec![end]];
    rest.extend(sections.alternatives());
    rules.add(rest)
}
