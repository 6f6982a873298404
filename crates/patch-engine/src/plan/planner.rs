//! Turns a patch into a plan: a [`PlanBuilder`] makes the changes of its sections one after the
//! other. It reads files and never writes one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use fs_guard::{Access, Metadata, RelPath, Sha256};
use patch_grammar::{Hunk, LineKind, Patch, Section, SectionOperation, Spanned};

use crate::carry::{Carried, CarriedHunk, carry};
use crate::locate::edit;
use crate::locate::{HunkReject, Note, Placed, RejectReason, Room};
use crate::plan::base::Base;
use crate::plan::builder::{New, PlanBuilder, mode_in_place_of};
use crate::plan::near::Near;
use crate::plan::options::{Expected, Options, Profile};
use crate::plan::prefetch::{Edited, Prefetched, Prefetcher};
use crate::plan::reject::{Checked, Problem, Reject, Rejects};
use crate::plan::texts::{Added, Texts};
use crate::plan::{Image, Mode, Plan, PlanNote, PostImage};
use crate::text::files::Files;

/// The most other files of the patch that are searched for the lines of a rejected hunk.
const OTHER_FILES: usize = 20;

/// The most rejected hunks of a patch that other files are searched for: each costs a walk over
/// those files.
const LOOKED_FOR_ELSEWHERE: usize = 20;

/// Plans a patch: reads every file it needs once, and computes every post-image.
///
/// Sections act in order, each on what those before it leave.
///
/// # Errors
///
/// Everything that keeps the patch from applying, in the order of the patch. When anything is
/// refused, nothing may be applied.
pub fn plan(files: impl Into<Files>, patch: &Patch, options: &Options) -> Result<Plan, Rejects> {
    let files = &files.into();
    let options = &*if patch.exact {
        let exact = Options::new(Profile::Strict);
        Cow::Owned(Options {
            placement: exact.placement,
            overwrite: exact.overwrite,
            ..options.clone()
        })
    } else {
        Cow::Borrowed(options)
    };
    let named = named(patch);
    let alone = patch.sections().iter().enumerate().filter(|(_, section)| {
        let path = &*section.path.text;
        // Expectations are checked before, which reads the file.
        // Where a base is known, hunks may belong elsewhere than in the file.
        named[path].len() == 1 && !options.expected.contains_key(path) && options.base.is_none()
    });
    let alone = alone.map(|(index, _)| index).collect();
    let texts = Texts::new(files, patch, options);
    let prefetcher = Prefetcher::new(files, patch, &texts, alone);
    thread::scope(|scope| {
        let mut prefetch = prefetcher.start(scope);
        let mut planner = Planner {
            builder: PlanBuilder::with_capacity(files.clone(), options, patch.sections().len()),
            patch,
            options,
            texts: &texts,
            named,
            prefetched: None,
            checked: Vec::new(),
            base: Base::new(options),
            placed: Vec::with_capacity(patch.hunk_count()),
            notes: patch
                .notes
                .iter()
                .cloned()
                .map(PlanNote::Input)
                .chain(patch.warnings.iter().cloned().map(PlanNote::Text))
                .collect(),
            rejects: Vec::new(),
            near: Near::default(),
            looked_elsewhere: 0,
            room: Room::new(),
        };
        planner.check_expectations();
        for (index, section) in patch.sections().iter().enumerate() {
            planner.prefetched = prefetch.take(index);
            planner.section(index, section);
        }
        planner.finish()
    })
}

/// Returns the sections that name each path.
fn named(patch: &Patch) -> HashMap<&str, Vec<usize>> {
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, section) in patch.sections().iter().enumerate() {
        for path in [Some(&section.path), section.destination()].into_iter().flatten() {
            named.entry(&path.text).or_default().push(index);
        }
    }
    named
}

struct Planner<'a, 'p> {
    builder: PlanBuilder<'a>,
    patch: &'p Patch,
    options: &'a Options,
    texts: &'a Texts<'a>,
    /// The sections that name each path.
    named: HashMap<&'p str, Vec<usize>>,
    /// What was prefetched for the current section.
    prefetched: Option<Prefetched>,
    /// The paths of the current section.
    checked: Vec<RelPath>,
    base: Base<'a>,
    placed: Vec<(usize, Placed)>,
    notes: Vec<PlanNote>,
    rejects: Vec<Reject>,
    near: Near,
    /// How many rejected hunks were looked for in other files.
    looked_elsewhere: usize,
    /// The room for the reasons of rejected hunks.
    room: Room,
}

impl<'p> Planner<'_, 'p> {
    fn files(&self) -> &Files {
        &self.builder.files
    }

    fn check_expectations(&mut self) {
        for (path, &expected) in &self.options.expected {
            let outcome = self.actual(path).and_then(|actual| {
                if expected == actual.into() {
                    Ok(())
                } else {
                    Err(Problem::Stale { expected, actual })
                }
            });
            if let Err(problem) = outcome {
                if let Ok(checked) = self.files().check(path, Access::Read) {
                    if let (Problem::Stale { actual, .. }, Expected::Hash(seen)) =
                        (&problem, expected)
                        && (self.base.has(&checked, seen)
                            || actual.is_some()
                                && self.only_updates(path)
                                && self.base.recall(&checked, seen))
                    {
                        continue;
                    }
                    if let Ok(entry) = self.builder.entry(&checked, Access::Read) {
                        entry.rejected = true;
                    }
                }
                self.rejects.push(Reject::of(path, problem));
            }
        }
    }

    /// Returns whether every section that names a path changes lines of that file.
    fn only_updates(&self, path: &str) -> bool {
        let mut sections =
            self.patch.sections().iter().filter(|section| names(section, path)).peekable();
        let updates = |section: &Section<'_>| {
            let update = matches!(&section.operation, SectionOperation::Update { hunks, .. } if !hunks.is_empty());
            update && section.destination().is_none_or(|to| plain(&to.text) != path)
        };
        sections.peek().is_some() && sections.all(updates)
    }

    fn actual(&mut self, path: &str) -> Checked<Option<Sha256>> {
        let path = self.files().check(path, Access::Read)?;
        Ok(self.builder.entry(&path, Access::Read)?.disk.as_ref().map(|disk| disk.sha256))
    }

    fn section(&mut self, index: usize, section: &'p Section<'p>) {
        self.builder.offered = self
            .prefetched
            .as_mut()
            .and_then(|found| Some((found.path.clone(), found.disk.take()?)));
        let result = match &section.operation {
            SectionOperation::Add(lines) => self.add(index, section, lines),
            SectionOperation::Delete(hunks) => self.delete(index, section, hunks.as_deref()),
            SectionOperation::Update { move_to, hunks } => {
                self.update(index, section, move_to.as_ref(), hunks)
            }
            SectionOperation::Copy { to, hunks } => self.copy(index, section, to, hunks),
        };
        for path in std::mem::take(&mut self.checked) {
            self.builder.settle(&path);
        }
        let Err(failures) = result else { return };
        for path in [Some(&section.path), section.destination()].into_iter().flatten() {
            if let Ok(path) = self.files().check(&path.text, Access::Read)
                && let Some(entry) = self.builder.known(&path)
            {
                entry.rejected = true;
            }
        }
        for failure in failures {
            let Failure { path, hunk, patch_line, problem } = failure;
            let path = path.unwrap_or_else(|| section.path.text.to_string());
            let hunk = hunk.map(|hunk| section.place_in_text(hunk));
            let patch_line = Some(patch_line.unwrap_or_else(|| section.line()));
            let near = self.near.path(self.files(), &path, &problem);
            let section = Some(self.patch.place_in_text(index));
            let problem =
                if self.patch.reversed { problem.in_reverse(self.patch) } else { problem };
            let exact = self.patch.exact;
            self.rejects.push(Reject { section, path, hunk, patch_line, problem, near, exact });
        }
    }

    fn add(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        lines: &patch_grammar::AddedLines<'p>,
    ) -> Result<(), Vec<Failure>> {
        let path = self.check(section, Access::Create)?;
        let entry = self.builder.entry(&path, Access::Create)?;
        if entry.rejected {
            return Err(Vec::new());
        }
        let actual = entry.disk.as_ref().map(|disk| disk.sha256);
        // A caller that expects a file here does not mean to create one.
        if let Some(&expected @ Expected::Hash(_)) = self.options.expected.get(&*section.path.text)
        {
            return Err(Problem::Stale { expected, actual }.into());
        }
        let replaced = self.make_way(index, &path)?;
        let added = self.prefetched.take().and_then(|prefetched| prefetched.added);
        let added = added.or_else(|| self.texts.make(&path, lines));
        let Added { content, notes } = added.ok_or(Problem::Hunk(RejectReason::Encoding))?;
        self.notes.extend(notes);
        let mode = with_executable(mode_in_place_of(&replaced), section);
        self.base.leave(&path, None);
        Ok(self.builder.put(&path, content, mode, replaced)?)
    }

    /// `hunks` are the lines that a diff says the file has.
    fn delete(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        hunks: Option<&'p [Hunk<'p>]>,
    ) -> Result<(), Vec<Failure>> {
        let path = self.check(section, Access::Delete)?;
        if self.builder.entry(&path, Access::Delete)?.rejected {
            return Err(Vec::new());
        }
        if let Ok(now) = self.builder.current(&path) {
            self.base.check_unchanged(&path, &now.post)?;
            self.base.leave(&path, None);
        }
        if let Some(hunks) = hunks {
            self.builder.check_file(&path, Access::Delete)?;
            let file = self.builder.current(&path)?.post;
            let source = self.builder.source(&path, &file)?;
            if !is_all_of(&source, hunks) {
                // A hunk that has no place is a better explanation.
                match self.apply(&path, &file, &source, hunks)? {
                    Err(rejects) => return Err(self.hunk_failures(index, &path, hunks, rejects)),
                    Ok(edited) if edited.is_all_of_it(hunks) => {}
                    Ok(_) => return Err(Problem::LeavesLines.into()),
                }
            }
        }
        Ok(self.builder.take_away(&path)?)
    }

    /// Copies a file as it was before the patch: the sections of a git diff do not depend on their
    /// order.
    fn copy(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        to: &Spanned<'p>,
        hunks: &'p [Hunk<'p>],
    ) -> Result<(), Vec<Failure>> {
        let path = self.check(section, Access::Read)?;
        if self.builder.entry(&path, Access::Read)?.rejected {
            return Err(Vec::new());
        }
        let file = self.builder.original(&path)?.post;
        self.base.check_unchanged(&path, &file)?;
        let mut failures = Vec::new();
        let target =
            self.new_place(index, &path, to).map_err(|failure| failures.push(failure)).ok();
        let source = self.builder.source(&path, &file)?;
        let (bytes, sha256) = if hunks.is_empty() {
            (source, file.sha256)
        } else {
            match self.apply(&path, &file, &source, hunks)? {
                Ok(Edited { edit, sha256, .. }) => {
                    let bytes = edit.apply(&source);
                    self.note_placed(index, section, edit.placed);
                    (bytes.into(), sha256)
                }
                Err(rejects) => {
                    failures.extend(self.hunk_failures(index, &path, hunks, rejects));
                    return Err(failures);
                }
            }
        };
        let Some((to, replaced)) = target else { return Err(failures) };
        let mode = with_executable(file.mode, section);
        self.base.leave(&to, None);
        Ok(self.builder.put(&to, Image::kept(bytes, sha256), mode, replaced)?)
    }

    fn update(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        move_to: Option<&Spanned<'p>>,
        hunks: &'p [Hunk<'p>],
    ) -> Result<(), Vec<Failure>> {
        let access = if move_to.is_some() { Access::Delete } else { Access::Update };
        let path = self.check(section, access)?;
        if self.builder.entry(&path, access)?.rejected {
            return Err(Vec::new());
        }
        self.builder.check_file(&path, access).or_else(|problem| match problem {
            // The file may have existed when the patch was written.
            Problem::Missing => Err(self.base.missing(&path)?),
            problem => Err(problem),
        })?;
        let mut failures = Vec::new();
        let target = move_to.and_then(|to| {
            let target = self.new_place(index, &path, to).and_then(|target| {
                if self.options.allow_move {
                    Ok(target)
                } else {
                    Err(failure_at(to, Problem::MoveNotAllowed))
                }
            });
            target.map_err(|failure| failures.push(failure)).ok()
        });
        let edited =
            self.edited(index, section, &path, hunks).map_err(|more| failures.extend(more)).ok();
        let Some(mut new) = edited.filter(|_| failures.is_empty()) else { return Err(failures) };
        new.post.mode = with_executable(new.post.mode, section);
        match target {
            None => self.builder.write(&path, new),
            Some((to, replaced)) => {
                self.builder.move_to(&path, &to, new, replaced.is_some());
                self.base.rename(&path, &to)?;
            }
        }
        Ok(())
    }

    /// Checks the new path of a moved or copied file that is at `path`, and returns what it
    /// replaces there.
    fn new_place(
        &mut self,
        index: usize,
        path: &RelPath,
        to: &Spanned<'p>,
    ) -> Result<(RelPath, Option<Option<Metadata>>), Failure> {
        let at = |problem| failure_at(to, problem);
        let target = self
            .files()
            .check(&to.text, Access::Create)
            .map_err(|error| at(Problem::Guard(error)))?;
        self.checked.push(target.clone());
        if &target == path {
            return Err(at(Problem::SamePath));
        }
        let replaced = self.make_way(index, &target).map_err(at)?;
        Ok((target, replaced))
    }

    /// Checks that a section may create a file at `path`, and returns what it replaces.
    fn make_way(&mut self, index: usize, path: &RelPath) -> Checked<Option<Option<Metadata>>> {
        let replaced = self.builder.make_way(path)?;
        let named = self.named.get(path.as_str()).into_iter().flatten();
        match named.copied().find(|&other| other != index) {
            Some(other) if replaced.is_some() => Err(Problem::ReplacesUsed { other }),
            _ => Ok(replaced),
        }
    }

    /// Applies hunks to the text of a file.
    fn apply(
        &self,
        path: &RelPath,
        file: &PostImage,
        source: &[u8],
        hunks: &'p [Hunk<'p>],
    ) -> Checked<Result<Edited, Vec<HunkReject>>> {
        let binary = || Problem::Binary { size: file.size, sha256: file.sha256 };
        let text = self.texts.of(path, source, hunks).ok_or_else(binary)?;
        Ok(Edited::new(source, &text, hunks, self.options))
    }

    /// Returns the file at `path` with `hunks` applied.
    fn edited(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        path: &RelPath,
        hunks: &'p [Hunk<'p>],
    ) -> Result<New, Vec<Failure>> {
        let base = self.builder.current(path)?;
        if hunks.is_empty() {
            return Ok(base);
        }
        let source = self.builder.source(path, &base.post)?;
        if let Some(seen) = self.base.unlike(path, &base.post)? {
            return self.carried(index, section, path, hunks, base, (&seen, &source));
        }
        // The result of this section is both the file and the base for the next section.
        self.base.leave(path, None);
        // The edit was made of the file on disk: it is valid if this section found the file there.
        let holds = self.builder.offered.is_none();
        let prefetched =
            self.prefetched.take().filter(|prefetched| holds && prefetched.path == *path);
        let edited = match prefetched.and_then(|prefetched| prefetched.edited) {
            Some(edited) => Ok(edited),
            None => self.apply(path, &base.post, &source, hunks)?,
        };
        let Edited { edit, sha256, size, encoding } = match edited {
            Ok(edited) => edited,
            Err(rejects) => return Err(self.hunk_failures(index, path, hunks, rejects)),
        };
        self.notes.extend(
            encoding.map(|encoding| PlanNote::Encoded {
                path: section.path.text.to_string(),
                encoding,
            }),
        );
        self.note_placed(index, section, edit.placed);
        Ok(self.builder.edited(path, base, &source, edit.splices, sha256, size)?)
    }

    /// Returns the file at `path` with hunks applied that were located in its base.
    fn carried(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        path: &RelPath,
        hunks: &'p [Hunk<'p>],
        now: New,
        (base, source): (&[u8], &[u8]),
    ) -> Result<New, Vec<Failure>> {
        let binary = || Problem::Binary { size: now.post.size, sha256: now.post.sha256 };
        let text = self.texts.of(path, base, hunks).ok_or_else(binary)?;
        // Lines of other encodings are not compared as bytes.
        if text.encoding().is_some() {
            self.base.check_unchanged(path, &now.post)?;
        }
        let edit = match edit::edit_text(
            &text,
            hunks,
            &self.options.placement,
            self.options.final_newline,
        ) {
            Ok(edit) => edit,
            Err(rejects) => {
                // The expected version was not what the author saw either, so its lines explain
                // nothing.
                if self.options.base.is_none() {
                    self.base.check_unchanged(path, &now.post)?;
                }
                return Err(self.hunk_failures(index, path, hunks, rejects));
            }
        };
        let Carried { splices, hunks: carried } =
            carry(base, source, &edit).map_err(|conflicts| {
                let failure = |conflict: crate::carry::Conflict| {
                    let hunk = conflict.hunks.first().copied();
                    let patch_line = hunk.map(|hunk| hunks[hunk].line);
                    Failure {
                        path: None,
                        hunk,
                        patch_line,
                        problem: Problem::Conflict(Box::new(conflict)),
                    }
                };
                conflicts.into_iter().map(failure).collect::<Vec<_>>()
            })?;
        self.base.leave(path, Some(Arc::new(edit.apply(base))));
        for carried in carried {
            if let Some(placed) = edit.placed.iter().find(|placed| placed.hunk == carried.hunk) {
                let (first_line, line_count) =
                    (*carried.to.start(), carried.to.end() + 1 - carried.to.start());
                let placed = Placed { first_line, line_count, ..placed.clone() };
                self.note_placed(index, section, vec![placed]);
            }
            let hunk = section.place_in_text(carried.hunk);
            self.notes.push(CarriedHunk { hunk, ..carried }.note(&section.path.text));
        }
        let (sha256, size) = splices.outcome(source);
        Ok(self.builder.edited(path, now, source, splices, sha256, size)?)
    }

    fn note_placed(&mut self, index: usize, section: &'p Section<'p>, all: Vec<Placed>) {
        for placed in all {
            let note = |note: &Note| PlanNote::Hunk {
                path: section.path.text.to_string(),
                hunk: section.place_in_text(placed.hunk),
                note: note.clone(),
            };
            self.notes.extend(placed.notes.iter().map(note));
            self.placed.push((index, placed));
        }
    }

    fn hunk_failures(
        &mut self,
        index: usize,
        path: &RelPath,
        hunks: &'p [Hunk<'p>],
        rejects: Vec<HunkReject>,
    ) -> Vec<Failure> {
        let failure = |HunkReject { hunk, patch_line, reason }| {
            let reason = self.room.fit(reason);
            let problem = self.elsewhere(index, path, &hunks[hunk], reason);
            Failure { path: None, hunk: Some(hunk), patch_line: Some(patch_line), problem }
        };
        rejects.into_iter().map(failure).collect()
    }

    /// Looks for the lines of a rejected hunk in the other files of the patch.
    fn elsewhere(
        &mut self,
        index: usize,
        path: &RelPath,
        hunk: &'p Hunk<'p>,
        reason: RejectReason,
    ) -> Problem {
        if !matches!(reason, RejectReason::ContextNotFound { .. })
            || hunk.old_lines().count() < 2
            || self.looked_elsewhere == LOOKED_FOR_ELSEWHERE
        {
            return Problem::Hunk(reason);
        }
        self.looked_elsewhere += 1;
        let patch = self.patch;
        let others = patch
            .sections()
            .iter()
            .enumerate()
            .filter(|(other, section)| *other != index && !section.hunks().is_empty());
        for (_, section) in others.take(OTHER_FILES) {
            let Ok(other) = self.files().check(&section.path.text, Access::Update) else {
                continue;
            };
            if &other == path {
                continue;
            }
            let entry = self.builder.entry(&other, Access::Update).ok();
            let Some(bytes) = entry.and_then(|entry| entry.disk.as_ref()?.bytes.clone()) else {
                continue;
            };
            let exact = Options::default().placement;
            let found =
                edit::edit(&bytes, std::slice::from_ref(hunk), &exact, self.options.final_newline)
                    .ok();
            if let Some(line) = found.and_then(|edit| Some(edit.placed.first()?.first_line)) {
                return Problem::InOtherFile { reason, file: section.path.text.to_string(), line };
            }
        }
        Problem::Hunk(reason)
    }

    /// Checks the path of a section, unless prefetching has checked it.
    fn check(&mut self, section: &Section<'_>, access: Access) -> Checked<RelPath> {
        let path = match &self.prefetched {
            Some(prefetched) => prefetched.path.clone(),
            None => self.files().check(&section.path.text, access)?,
        };
        self.checked.push(path.clone());
        Ok(path)
    }

    fn finish(self) -> Result<Plan, Rejects> {
        let Self { mut builder, patch, named, base, placed, notes, mut rejects, .. } = self;
        drop(named);
        rejects.extend(builder.check_no_new_repository().err());
        rejects.sort_by_key(|reject| (reject.section, reject.patch_line));
        if let Some(rejects) = Rejects::new(rejects) {
            return Err(rejects);
        }
        builder.carried_bases = base.left();
        Ok(builder.plan(patch.hunk_count(), placed, notes))
    }
}

/// Returns whether a section names a path.
pub(crate) fn names(section: &Section<'_>, path: &str) -> bool {
    plain(&section.path.text) == path
        || section.destination().is_some_and(|to| plain(&to.text) == path)
}

/// Removes the `./` that a patch may put before a path.
fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Returns the mode that a section states, or else `mode`.
fn with_executable(mode: Mode, section: &Section<'_>) -> Mode {
    section.executable.map_or(mode, |executable| mode.with_executable(executable))
}

/// Returns whether the lines that `hunks` delete are exactly those of the file, byte for byte.
fn is_all_of(source: &[u8], hunks: &[Hunk<'_>]) -> bool {
    let mut rest = Some(source);
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        let terminator: &[u8] = match (line.no_newline, line.crlf) {
            (true, _) => b"",
            (false, true) => b"\r\n",
            (false, false) => b"\n",
        };
        let deletes = line.kind == LineKind::Delete;
        let after = rest
            .filter(|_| deletes)
            .and_then(|rest| rest.strip_prefix(line.text)?.strip_prefix(terminator));
        rest = after;
    }
    rest.is_some_and(<[u8]>::is_empty)
}

/// A rejected part of a section.
struct Failure {
    path: Option<String>,
    hunk: Option<usize>,
    patch_line: Option<u32>,
    problem: Problem,
}

/// Makes a failure about the new path of a file.
fn failure_at(to: &Spanned<'_>, problem: Problem) -> Failure {
    Failure { path: Some(to.text.to_string()), hunk: None, patch_line: Some(to.line), problem }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self { path: None, hunk: None, patch_line: None, problem }
    }
}

impl From<Problem> for Vec<Failure> {
    fn from(problem: Problem) -> Self {
        vec![problem.into()]
    }
}
