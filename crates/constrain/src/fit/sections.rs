//! The sections of a patch: each file at most once, in order.

use std::collections::BTreeSet;

use super::hunks::hunks;
use super::new_path::NewPaths;
use super::note::{FitError, FitNote, Unfit};
use super::options::{FitFile, FitOperation, FitOptions};
use super::rules::{Alternative, Choice, RuleId, Rules, Symbol};
use super::text::FitText;
use crate::paths::PathRules;
use patch_grammar::marker::{Marker, NO_NEWLINE};

/// The most memory that a grammar may take, in bytes.
const MAX_MEMORY: usize = 1 << 30;

/// At least what a line of a file takes, in bytes.
const LINE: usize = 256;

/// At least what a line takes beyond that if a hunk may show it, in bytes, each time that the hunks
/// of its file are written.
const SHOWN_LINE: usize = 1024;

/// The rules of a grammar, and what is to be said of them.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) rules: Rules,
    pub(super) start: RuleId,
    pub(super) notes: Vec<FitNote>,
    /// The file with the most lines to show, and their number.
    pub(super) largest: LargestFile,
    /// How many alternatives are open at once at most.
    pub(super) choices: usize,
    /// The paths of new files; none where there can be no new file.
    pub(super) new_paths: NewPaths,
}

/// The file with the most lines to show.
#[derive(Debug, Default, Clone)]
pub(super) struct LargestFile {
    pub(super) path: String,
    pub(super) lines: usize,
}

pub(super) fn fit<'f>(
    files: &[FitFile<'f>],
    paths: &[&'f str],
    options: &'f FitOptions,
) -> Result<Fitted, FitError> {
    let mut named = BTreeSet::new();
    for file in files {
        if !named.insert(file.path) {
            return Err(FitError::Twice { path: file.path.to_owned() });
        }
    }
    // A list of the workspace has the files, too.
    let paths: Vec<_> = paths.iter().copied().filter(|path| named.insert(path)).collect();
    let all: Vec<_> = files.iter().map(|file| file.path).chain(paths.iter().copied()).collect();
    let alike = alike(&all);
    let mut sections = Sections { alike, ..Sections::new(options) };
    if sections.has(FitOperation::Add) || sections.has(FitOperation::Move) {
        sections.new_paths = NewPaths::new(all.into_iter(), options);
    }
    for path in paths.iter().rev() {
        sections.path(path);
    }
    for file in files.iter().rev() {
        sections.file(file)?;
    }
    sections.finish()
}

/// The sections of a patch, made from the last file to the first.
struct Sections<'o> {
    options: &'o FitOptions,
    /// The paths like an earlier one: a patch with both does not apply.
    alike: BTreeSet<&'o str>,
    path_rules: PathRules,
    rules: Rules,
    /// The last line of a patch.
    end: Symbol,
    /// The rests of a patch where a file can move no more, and where one can.
    chains: Vec<SectionChain>,
    /// How many sections there are.
    count: usize,
    notes: Vec<FitNote>,
    largest: LargestFile,
    /// How many bytes the files so far take.
    memory: usize,
    choices: usize,
    new_paths: NewPaths,
}

/// The sections so far, each followed by the sections of files further down.
#[derive(Debug, Clone)]
struct SectionChain {
    sections: Choice,
    /// The rest behind a section further up: these sections, or the end.
    rest: RuleId,
}

impl SectionChain {
    fn add(&mut self, rules: &mut Rules, end: Symbol, sections: Vec<Alternative>) {
        if sections.is_empty() {
            return;
        }
        for section in sections {
            self.sections.push(rules, section);
        }
        let mut rest = vec![vec![end]];
        rest.extend(self.sections.alternatives());
        self.rest = rules.add(rest);
    }
}

impl<'o> Sections<'o> {
    fn new(options: &'o FitOptions) -> Self {
        let mut rules = Rules::default();
        let end = rules.text(&format!("{}\n", Marker::End));
        let last = SectionChain { sections: Choice::default(), rest: rules.add(vec![vec![end]]) };
        let chains =
            vec![last; if options.operations.contains(&FitOperation::Move) { 2 } else { 1 }];
        let (notes, largest, new_paths) = Default::default();
        let mut sections = Self {
            options,
            alike: BTreeSet::new(),
            path_rules: PathRules::new(),
            rules,
            end,
            chains,
            count: 0,
            notes,
            largest,
            memory: 0,
            choices: 0,
            new_paths,
        };
        if sections.has(FitOperation::Add) {
            sections.new_file();
        }
        sections
    }

    /// Adds the new file, always last, and only without a moved file.
    fn new_file(&mut self) {
        let header = self.rules.text(&Marker::Add.header("").replace('\n', ""));
        let no_newline = self.rules.text(&format!("{NO_NEWLINE}\n"));
        let head = [header, Symbol::NewPath];
        let sections = vec![
            [&head[..], &[Symbol::MaybeInserted, self.end]].concat(),
            [&head[..], &[Symbol::Inserted, no_newline, self.end]].concat(),
        ];
        self.count += sections.len();
        if let Some(chain) = self.chains.last_mut() {
            chain.add(&mut self.rules, self.end, sections);
        }
    }

    fn has(&self, operation: FitOperation) -> bool {
        self.options.operations.contains(&operation)
    }

    /// Adds the sections of an existing path.
    fn path(&mut self, path: &str) {
        if self.is_named(path) {
            self.sections(path, None);
        }
    }

    /// Adds the sections of a file.
    fn file(&mut self, file: &FitFile<'_>) -> Result<(), FitError> {
        if !self.is_named(file.path) {
            return Ok(());
        }
        let text = FitText::new(file);
        if let Ok(text) = &text {
            let shown = text.stretches.iter().map(ExactSizeIterator::len).sum();
            self.memory += text.lines.len() * LINE + shown * SHOWN_LINE * self.chains.len();
            if self.memory > MAX_MEMORY {
                return Err(FitError::TooManyLines {
                    path: file.path.to_owned(),
                    lines: text.lines.len(),
                    shown,
                    mebibytes: self.memory >> 20,
                    limit: MAX_MEMORY >> 20,
                });
            }
            if shown > self.largest.lines {
                self.largest = LargestFile { path: file.path.to_owned(), lines: shown };
            }
        }
        let unfit = self.sections(file.path, Some(&text));
        if let Some(why) = unfit {
            self.note(file.path, why);
        }
        Ok(())
    }

    fn note(&mut self, path: &str, why: Unfit) {
        self.notes.push(FitNote { path: path.to_owned(), why });
    }

    /// Whether a patch may name the path, and no other is alike; otherwise adds a note.
    fn is_named(&mut self, path: &str) -> bool {
        let why = if self.alike.contains(path) {
            Err(Unfit::Alike)
        } else {
            self.path_rules.check(path).map_err(Unfit::Path)
        };
        match why {
            Ok(()) => true,
            Err(why) => {
                self.note(path, why);
                false
            }
        }
    }

    /// Adds the sections of an existing path, of a file with its hunks; returns why there are none,
    /// if some are wanted.
    fn sections(&mut self, path: &str, text: Option<&Result<FitText<'_>, Unfit>>) -> Option<Unfit> {
        let update = self.rules.text(&Marker::Update.header(path));
        let delete = self.rules.text(&Marker::Delete.header(path));
        let move_to = self.rules.text(&Marker::MoveTo.header("").replace('\n', ""));
        let mut why = None;
        let after_move = Symbol::Rule(self.chains[0].rest);
        let mut moves = vec![vec![update, move_to, Symbol::NewPath, after_move]];
        for nth in 0..self.chains.len() {
            let can_move = nth == 1;
            let rest = self.chains[nth].rest;
            let mut sections = Vec::new();
            let has_hunks =
                self.has(FitOperation::Update) || self.has(FitOperation::Move) && !can_move;
            if let Some(text) = text.filter(|_| has_hunks) {
                let profile = self.options.profile;
                let made = text.as_ref().map_err(Unfit::clone);
                match made.and_then(|text| hunks(&mut self.rules, text, profile, rest)) {
                    Ok(hunks) => {
                        self.choices = self.choices.max(hunks.choices);
                        let start = Symbol::Rule(hunks.start);
                        if self.has(FitOperation::Update) {
                            sections.push(vec![update, start]);
                        }
                        if !can_move {
                            moves.push(vec![update, move_to, Symbol::NewPath, start]);
                        }
                    }
                    Err(unfit) => why = Some(unfit),
                }
            }
            if self.has(FitOperation::Delete) {
                sections.push(vec![delete, Symbol::Rule(rest)]);
            }
            if can_move {
                sections.append(&mut moves);
            }
            self.count += sections.len();
            self.chains[nth].add(&mut self.rules, self.end, sections);
        }
        why
    }

    fn finish(mut self) -> Result<Fitted, FitError> {
        self.notes.reverse();
        let first = self.chains.last().map(|chain| chain.sections.alternatives());
        let first = first.unwrap_or_default();
        if first.is_empty() {
            return Err(FitError::Nothing { notes: self.notes });
        }
        let begin = self.rules.text(&format!("{}\n", Marker::Begin));
        let first = Symbol::Rule(self.rules.add(first));
        let start = self.rules.add(vec![vec![begin, first]]);
        let Self { rules, notes, largest, new_paths, .. } = self;
        // Each section, and some for the choice among them.
        let choices = self.choices.max(self.count * 3 / 2);
        Ok(Fitted { rules, start, notes, largest, choices, new_paths })
    }
}

/// Returns the paths with the folded spelling of an earlier one.
fn alike<'p>(paths: &[&'p str]) -> BTreeSet<&'p str> {
    let mut folded = BTreeSet::new();
    let paths = paths.iter().copied();
    paths.filter(|path| !folded.insert(fs_guard::fold(path).into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_would_take_too_much_memory_are_counted_first() {
        let text = [&b"a\nb\nc\n"[..], &vec![b'\n'; 899_997]].concat();
        let fit_of = |windows: &[std::ops::RangeInclusive<usize>]| {
            let file = FitFile { windows: windows.to_vec(), ..FitFile::new("f", &text) };
            fit(&[file], &[], &FitOptions::default()).map(|fitted| fitted.notes.len())
        };
        let error = fit_of(&[]).expect_err("too large");
        let limits = |error: &FitError| {
            matches!(error, FitError::TooManyLines { lines: 900_000, shown: 900_000, .. })
        };
        assert!(limits(&error), "{error}");
        let wanted = "too large for a fitted grammar: `f` has 900000 lines, ";
        assert!(error.to_string().starts_with(wanted), "{error}");
        // The advice is obeyed.
        assert_eq!(fit_of(&[1..=3]), Ok(0));
    }

    #[test]
    fn a_list_of_the_workspace_has_the_files_too() {
        let options =
            FitOptions { operations: vec![FitOperation::Delete], ..FitOptions::default() };
        let file = FitFile::new("a", b"x\n");
        let files = [file.clone(), file];
        let fitted = fit(&files[..1], &["b", "a", "b"], &options).expect("a grammar");
        assert_eq!(fitted.notes, []);
        let error = fit(&files, &["b"], &options).expect_err("one file twice");
        assert_eq!(error, FitError::Twice { path: "a".to_owned() });
    }

    #[test]
    fn paths_that_no_patch_may_change_are_left_out_with_a_note() {
        let operations = vec![FitOperation::Update, FitOperation::Delete];
        let options = FitOptions { operations, ..FitOptions::default() };
        for (path, note) in [
            ("../x", "../x: left out: the path climbs out of its directory with `..`"),
            ("/abs", "/abs: left out: the path is absolute; paths are relative to the root"),
            ("a//b", "a//b: left out: the path has an empty component"),
            (".git/x", ".git/x: left out: no patch may change it: it belongs to a git directory"),
            ("a\tb", "\"a\\tb\": left out: the path has the control character U+0009"),
            ("\u{1b}", "\"\\u{1b}\": left out: the path has the control character U+001B"),
        ] {
            let files = [FitFile::new(path, b"x\n"), FitFile::new("ok", b"x\n")];
            let fitted = fit(&files, &[], &options).expect("one file is left");
            let notes: Vec<String> = fitted.notes.iter().map(ToString::to_string).collect();
            assert_eq!(notes, [note]);
            let listed = fit(&files[1..], &[path], &options).expect("one file is left");
            assert_eq!(listed.notes, fitted.notes);
            let refused = fit(&files[..1], &[], &options).map(|fitted| fitted.notes);
            assert!(matches!(refused, Err(FitError::Nothing { .. })), "{refused:?}");
        }
    }
}
