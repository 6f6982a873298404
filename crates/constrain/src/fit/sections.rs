//! The sections of a patch: each file at most once, in order.

use std::collections::BTreeSet;

use super::hunks::hunks;
use super::new_path::NewPathRules;
use super::note::{FitError, FitNote, Unfit};
use super::options::{FitFile, FitOperation, FitOptions};
use super::rules::{Alternative, Choice, RuleId, Rules, Symbol};
use super::tail::{Tail, TailKind};
use super::text::FitText;
use crate::paths::PathRules;
use patch_grammar::marker::Marker;

/// The most lines of a file: their table takes 32 bytes for each, and long to make.
const MOST_LINES: usize = 4_000_000;

/// The rules of a grammar, and what is to be said of them.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) rules: Rules,
    pub(super) start: RuleId,
    pub(super) notes: Vec<FitNote>,
    /// The file with the most lines to show, and their number.
    pub(super) largest: LargestFile,
    /// How many alternatives are open at once at most within a file.
    pub(super) choices: usize,
    /// How many alternatives are open at once between files.
    pub(super) section_choices: usize,
    /// How many files there are.
    pub(super) files: usize,
    /// The paths of new files; none where there can be no new file.
    pub(super) new_paths: NewPathRules,
    pub(super) tail: Tail,
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
        sections.new_paths = NewPathRules::new(all.into_iter(), options);
    }
    sections.listed(&paths);
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
    /// The rests of a patch where a file can move no more, and where one can.
    chains: Vec<SectionChain>,
    /// How many sections there are.
    count: usize,
    notes: Vec<FitNote>,
    largest: LargestFile,
    choices: usize,
    files: usize,
    new_paths: NewPathRules,
    tail: Tail,
}

/// The sections so far, each followed by the sections of files further down.
#[derive(Debug, Clone)]
struct SectionChain {
    sections: Choice,
    /// The end of the patch.
    tail: Symbol,
    /// The rest behind a section further up: these sections, or the end.
    rest: RuleId,
}

impl SectionChain {
    fn add(&mut self, rules: &mut Rules, sections: Vec<Alternative>) {
        if sections.is_empty() {
            return;
        }
        for section in sections {
            self.sections.push(rules, section);
        }
        let mut rest = vec![vec![self.tail]];
        rest.extend(self.sections.alternatives());
        self.rest = rules.add(rest);
    }
}

impl<'o> Sections<'o> {
    fn new(options: &'o FitOptions) -> Self {
        let (notes, largest, new_paths) = Default::default();
        Self {
            options,
            alike: BTreeSet::new(),
            path_rules: PathRules::new(),
            rules: Rules::default(),
            chains: Vec::new(),
            count: 0,
            notes,
            largest,
            choices: 0,
            files: 0,
            new_paths,
            tail: Tail::default(),
        }
    }

    /// Begins with the end of the patch, where the listed paths are.
    fn listed(&mut self, paths: &[&str]) {
        let mut named: Vec<String> = Vec::new();
        for path in paths.iter().rev() {
            if self.is_named(path) {
                named.push((*path).to_owned());
            }
        }
        named.sort_unstable();
        self.tail = Tail {
            deletes: self.has(FitOperation::Delete),
            moves: self.has(FitOperation::Move),
            adds: self.has(FitOperation::Add),
            paths: named,
        };
        if self.tail.deletes_one_at_most() {
            self.note("", Unfit::Many(self.tail.paths.len()));
        }
        let kinds: &[bool] = if self.has(FitOperation::Move) { &[false, true] } else { &[true] };
        for &new_path in kinds {
            let tail = Symbol::Tail(TailKind { new_path, may_end: true });
            let rest = self.rules.add([vec![tail]]);
            self.chains.push(SectionChain { sections: Choice::default(), tail, rest });
        }
    }

    fn has(&self, operation: FitOperation) -> bool {
        self.options.operations.contains(&operation)
    }

    /// Adds the sections of a file.
    fn file(&mut self, file: &FitFile<'_>) -> Result<(), FitError> {
        if !self.is_named(file.path) {
            return Ok(());
        }
        let text = FitText::new(file);
        if let Ok(text) = &text {
            let shown = text.stretches.iter().map(ExactSizeIterator::len).sum();
            if text.lines.len() > MOST_LINES {
                return Err(FitError::TooLong {
                    path: file.path.to_owned(),
                    lines: text.lines.len(),
                    limit: MOST_LINES,
                });
            }
            if shown > self.largest.lines {
                self.largest = LargestFile { path: file.path.to_owned(), lines: shown };
            }
        }
        self.files += 1;
        let unfit = self.sections(file.path, &text);
        if let Ok(text) = &text
            && self.rules.is_full()
        {
            return Err(too_many_lines(file, text));
        }
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

    /// Adds the sections of a file; returns why there are no hunks, if some are wanted.
    fn sections(&mut self, path: &str, text: &Result<FitText<'_>, Unfit>) -> Option<Unfit> {
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
            if self.has(FitOperation::Update) || self.has(FitOperation::Move) && !can_move {
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
            self.chains[nth].add(&mut self.rules, sections);
        }
        why
    }

    fn finish(mut self) -> Result<Fitted, FitError> {
        self.notes.reverse();
        let first = self.chains.last().map(|chain| chain.sections.alternatives());
        let mut first = first.unwrap_or_default();
        if !self.tail.is_end() {
            first.push(vec![Symbol::Tail(TailKind { new_path: true, may_end: false })]);
        }
        if first.is_empty() {
            return Err(FitError::Nothing { notes: self.notes });
        }
        let begin = self.rules.text(&format!("{}\n", Marker::Begin));
        let first = Symbol::Rule(self.rules.add(first));
        let start = self.rules.add(vec![vec![begin, first]]);
        // Each section, and some for the choice among them.
        let section_choices = self.count * 3 / 2;
        let Self { rules, notes, largest, new_paths, tail, choices, files, .. } = self;
        let fitted = Fitted {
            rules,
            start,
            notes,
            largest,
            choices,
            section_choices,
            files,
            new_paths,
            tail,
        };
        Ok(fitted)
    }
}

fn too_many_lines(file: &FitFile<'_>, text: &FitText<'_>) -> FitError {
    FitError::TooManyLines {
        path: file.path.to_owned(),
        lines: text.lines.len(),
        shown: text.stretches.iter().map(ExactSizeIterator::len).sum(),
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

    #[test]
    fn a_file_with_too_many_lines_is_refused_with_a_way_out() {
        let text = [&b"a\nb\nc\n"[..], &vec![b'\n'; 200_000]].concat();
        let fit_of = |text: &[u8], windows: &[std::ops::RangeInclusive<usize>]| {
            let file = FitFile { windows: windows.to_vec(), ..FitFile::new("f", text) };
            fit(&[file], &[], &FitOptions::default()).map(|fitted| fitted.notes.len())
        };
        let error = fit_of(&text, &[]).expect_err("too large");
        let wanted = "`f` has 200003 lines, 200003 of which may be shown, and no engine takes";
        assert!(error.to_string().starts_with(wanted), "{error}");
        // The advice is obeyed.
        assert_eq!(fit_of(&text, &[1..=3]), Ok(0));
        let error = fit_of(&vec![b'\n'; MOST_LINES + 1], &[1..=3]).expect_err("too long");
        assert_eq!(
            error.to_string(),
            "`f` has 4000001 lines, of 4000000 at most: leave the file out"
        );
    }
}
