//! Turns a patch into a plan: a [`PlanBuilder`] makes the changes of its sections one after the
//! other. It reads files and never writes one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use fs_guard::{Access, FileKind, RelPath, Sha256};
use patch_grammar::binary::Binary;
use patch_grammar::{
    Hunk, Line, LineEndings, LineKind, Patch, Section, SectionOperation, Spanned, Submodule,
};
use patch_text::carry::CarriedHunk;
use patch_text::locate::cut;
use patch_text::locate::edit::{self, Edit};
use patch_text::locate::edit_rules::EditRules;
use patch_text::locate::edit_text::edit_text;
use patch_text::locate::{HunkReject, Note, Placed, RejectReason, Room, Rules};
use patch_text::text::splices::Splices;
use patch_text::text::whitespace::Whitespace;

use crate::files::Files;
use crate::plan::base::Base;
use crate::plan::binary::{self, BinaryProblem};
use crate::plan::builder::{Lifted, Loaded, PlanBuilder};
use crate::plan::image::PostImage;
use crate::plan::links::LinkTexts;
use crate::plan::normalise::normalised;
use crate::plan::options::{Expected, Options, Profile};
use crate::plan::paths::{is_file, is_git_diff, is_of_git, names, plain};
use crate::plan::prefetch::{Edited, Prefetched, Prefetcher, access_of};
use crate::plan::reject::{Checked, Problem, Reject, Rejects};
use crate::plan::relative::relative;
use crate::plan::section_done::SectionDone;
use crate::plan::shared_lines;
use crate::plan::simultaneous::{self, Indexed};
use crate::plan::submodules::{self, SubmoduleProblem};
use crate::plan::texts::{Added, Texts};
use crate::plan::whitespace::{WhitespaceOfPatch, blank_at_end};
use crate::plan::{Map, Plan, PlanNote};

/// The most other files of the patch that are searched for the lines of a rejected hunk.
const OTHER_FILES: usize = 20;

/// The most rejected hunks of a patch that other files are searched for: each costs a walk over
/// those files.
const LOOKED_FOR_ELSEWHERE: usize = 20;

/// Plans a patch: reads every file it needs once, and computes every post-image.
///
/// Sections act in order, each on what those before it leave; those of a git diff as if at one time
/// (`plan/simultaneous.rs`).
///
/// # Errors
///
/// Everything that keeps the patch from applying, in the order of the patch. When anything is
/// refused, nothing may be applied.
pub fn plan(files: impl Into<Files>, patch: &Patch, options: &Options) -> Result<Plan, Rejects> {
    plan_without(&files.into(), patch, options, &BTreeSet::new())
}

/// Plans a patch as if these sections were not in it.
pub(crate) fn plan_without(
    files: &Files,
    patch: &Patch,
    options: &Options,
    left_out: &BTreeSet<usize>,
) -> Result<Plan, Rejects> {
    let options = &*if patch.exact {
        let exact = Options::new(Profile::Strict);
        Cow::Owned(Options {
            placement: Rules { skip_applied: options.placement.skip_applied, ..exact.placement },
            overwrite: exact.overwrite,
            ..options.clone()
        })
    } else if is_diff(patch) && !options.create_parents {
        // It does not show directories.
        Cow::Owned(Options { create_parents: true, ..options.clone() })
    } else {
        Cow::Borrowed(options)
    };
    let patch = &*relative(files, patch);
    let patch = &*match options.base {
        Some(_) => Cow::Borrowed(patch),
        None if patch.to_the_letter => Cow::Borrowed(patch),
        None => normalised(files, patch, options.max_file_size),
    };
    let whitespace = WhitespaceOfPatch::of(files, patch, options);
    let fixed = whitespace.fixed(patch);
    let sections = fixed.iter().enumerate();
    let sections: Vec<Indexed<'_>> =
        sections.filter(|(index, _)| !left_out.contains(index)).collect();
    let is_git = is_git_diff(patch);
    let diffs = if is_git { simultaneous::diffs(patch) } else { Vec::new() };
    let simultaneous = is_git
        && (simultaneous::order_matters(&sections)
            || simultaneous::copies_later(&sections, &diffs));
    let named = Named::of(sections.iter().copied());
    let alone = sections.iter().filter(|(_, section)| {
        let path = plain(&section.path.text);
        // Expectations are checked before, which reads the file.
        // Where a base is known, hunks may belong elsewhere than in the file.
        named.sections(path).nth(1).is_none()
            && !options.expected.contains_key(path)
            && options.base.is_none()
            && !simultaneous
    });
    let alone = alone.map(|(index, _)| *index).collect();
    let texts = Texts::new(files, patch, options);
    let prefetcher = Prefetcher::new(files, &fixed, &texts, &whitespace, alone);
    prefetcher.during(|mut prefetch| {
        let mut builder =
            PlanBuilder::with_capacity(files.clone(), options, patch.sections().len());
        builder.patch = Some(patch.clone());
        builder.left_out.clone_from(left_out);
        builder.of_diff = is_diff(patch);
        builder.placed.reserve_exact(patch.hunk_count());
        builder.notes.extend(patch.notes.iter().cloned().map(PlanNote::Input));
        builder.notes.extend(patch.warnings.iter().cloned().map(PlanNote::Text));
        let mut planner = Planner {
            builder,
            patch,
            options,
            texts: &texts,
            whitespace: &whitespace,
            blank_at_eof: Vec::new(),
            named,
            lifted: Map::default(),
            lifted_texts: Map::default(),
            prefetched: None,
            base: Base::new(options),
            rejects: Vec::new(),
            looked_elsewhere: 0,
            room: Room::default(),
        };
        planner.check_expectations();
        if simultaneous {
            planner.simultaneously(&sections, &diffs);
        } else {
            for &(index, section) in &sections {
                planner.prefetched = prefetch.take(index);
                planner.section(index, section, SectionPart::Whole);
            }
        }
        planner.finish()
    })
}

/// Which section names which path, by path.
pub(crate) struct Named<'p>(Vec<(&'p str, usize)>);

impl<'p> Named<'p> {
    pub(crate) fn of(sections: impl ExactSizeIterator<Item = Indexed<'p>>) -> Self {
        let mut named = Vec::with_capacity(sections.len());
        for (index, section) in sections {
            named.extend(section.paths().map(|path| (plain(&path.text), index)));
        }
        // Those of a path stay in order.
        named.sort_by_key(|(path, _)| *path);
        Self(named)
    }

    /// Returns the sections that name a path.
    pub(crate) fn sections(&self, path: &str) -> impl Iterator<Item = usize> + Clone {
        let first = self.0.partition_point(|(named, _)| *named < path);
        let all = self.0[first..].iter().take_while(move |(named, _)| *named == path);
        all.map(|(_, section)| *section)
    }
}

/// The part of a section that is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SectionPart {
    Whole,
    /// The file goes away: it is deleted, or edited and taken from its path.
    Taking,
    /// The file comes to its path. An update in place is this alone.
    Putting,
}

pub(super) struct Planner<'a, 'p> {
    pub(super) builder: PlanBuilder<'a>,
    patch: &'p Patch,
    pub(super) options: &'a Options,
    pub(super) texts: &'a Texts<'a>,
    whitespace: &'a WhitespaceOfPatch,
    /// The lines of the patch that insert blank lines at the end of the current section's file.
    blank_at_eof: Vec<u32>,
    /// The sections that name each path.
    named: Named<'p>,
    /// The files that sections have taken from their paths and not put in new places yet.
    lifted: Map<usize, Lifted>,
    /// The texts of the symbolic links, and the lines of the submodules, that were.
    lifted_texts: Map<usize, (FileKind, Vec<u8>)>,
    /// What was prefetched for the current section.
    prefetched: Option<Prefetched>,
    base: Base<'a>,
    rejects: Vec<Reject>,
    /// How many rejected hunks were looked for in other files.
    looked_elsewhere: usize,
    /// The room for the reasons of rejected hunks.
    room: Room,
}

impl<'a, 'p> Planner<'a, 'p> {
    pub(super) fn files(&self) -> &Files {
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
                    self.builder.set_rejected(&checked);
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

    /// Returns the hash of the file that is at a path before the patch.
    fn actual(&mut self, path: &str) -> Checked<Option<Sha256>> {
        let path = self.builder.check(path, Access::Read)?;
        Ok(self.builder.entry(&path, Access::Read)?.disk.as_ref().map(|disk| disk.sha256()))
    }

    /// Plans the sections of git diffs, those of each diff as if at one time.
    fn simultaneously(&mut self, sections: &[Indexed<'p>], diffs: &[usize]) {
        let mut rest = sections;
        while !rest.is_empty() {
            // A link is not to be read.
            let exists = |path: &str| matches!(self.builder.exists(path, Access::Delete), Ok(true));
            let (diff, more) = rest.split_at(simultaneous::of_one_diff(rest, diffs, exists));
            if rest.len() < sections.len() {
                let copied = diff.iter().filter_map(|(_, section)| simultaneous::copied(section));
                self.builder.begin_diff(copied);
            }
            for part in [SectionPart::Taking, SectionPart::Putting] {
                diff.iter().for_each(|&(index, section)| self.section(index, section, part));
            }
            rest = more;
        }
        // As one walk leaves them.
        self.builder.placed.sort_by_key(|(index, _)| *index);
    }

    fn section(&mut self, index: usize, section: &'p Section<'p>, part: SectionPart) {
        // What is left out is not missed: the plan is refused in the end.
        if self.files().cancellation().is_cancelled() {
            return;
        }
        let takes = simultaneous::taken(section).is_some();
        let moves = section.destination().is_some();
        match part {
            SectionPart::Taking if !takes => return,
            SectionPart::Putting if takes && !moves => return,
            _ => {}
        }
        self.builder.offered = None;
        if let Some(Prefetched { path, disk, .. }) = &mut self.prefetched {
            self.builder.checked = Some((path.clone(), access_of(section)));
            self.builder.offered = disk.take().map(|disk| (path.clone(), disk));
        }
        let other_kind = self.other_kind(index, section, part);
        let result = match &section.operation {
            _ if let Some(submodule) = section.submodule => {
                self.submodule(index, section, submodule)
            }
            _ if other_kind == Some(FileKind::Symlink) => self.link(index, section, part),
            SectionOperation::Update { move_to: Some(to), .. }
                if matches!(other_kind, Some(FileKind::Submodule | FileKind::Directory)) =>
            {
                self.move_submodule(index, section, to, part)
            }
            SectionOperation::Add(lines) => self.add(index, section, lines),
            SectionOperation::Delete(hunks) => self.delete(index, section, hunks.as_deref()),
            SectionOperation::Update { move_to: Some(to), .. } if part == SectionPart::Putting => {
                self.put(index, section, to)
            }
            SectionOperation::Update { move_to, hunks } => {
                self.update(index, section, move_to.as_ref(), hunks, part)
            }
            SectionOperation::Copy { to, hunks } => self.copy(index, section, to, hunks),
        };
        let Err(rejects) = self.and_whitespace(index, section, result) else { return };
        let Some(rejects) = self.unless_applied(index, section, rejects) else { return };
        for path in section.paths() {
            if let Ok(path) = self.files().check(&path.text, Access::Read) {
                self.builder.set_rejected(&path);
            }
        }
        for mut reject in rejects {
            let line =
                reject.hunk.map_or_else(|| section.line(), |hunk| section.hunks()[hunk].line);
            reject.patch_line.get_or_insert(line);
            reject.hunk = reject.hunk.map(|hunk| section.place_in_text(hunk));
            reject.section = Some(self.patch.place_in_text(index));
            reject.exact = self.patch.exact;
            if self.patch.reversed {
                reject.problem = reject.problem.in_reverse(self.patch);
            }
            self.rejects.push(reject);
        }
    }

    /// Says which whitespace errors the lines of a section have, and refuses it for them where they
    /// are not allowed.
    fn and_whitespace(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        result: Result<(), Rejects>,
    ) -> Result<(), Rejects> {
        let blank_at_eof = std::mem::take(&mut self.blank_at_eof);
        let Some(found) = self.whitespace.section(index) else { return result };
        let path = &section.destination().unwrap_or(&section.path).text;
        let Some(errors) = found.errors(&blank_at_eof) else { return result };
        if self.options.whitespace == Whitespace::Error {
            let reject = Reject {
                patch_line: errors.lines.first().copied(),
                ..Reject::of(path, Problem::Whitespace(errors))
            };
            return both(Err(reject), result);
        }
        let fixed = self.options.whitespace == Whitespace::Fix;
        if result.is_ok() {
            self.builder.notes.push(PlanNote::Whitespace { path: path.to_string(), errors, fixed });
        }
        result
    }

    fn add(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        lines: &patch_grammar::AddedLines<'p>,
    ) -> Result<(), Rejects> {
        let Some(path) = self.open(section)? else { return Ok(()) };
        let at = |problem| Reject::of(&section.path.text, problem);
        // A caller that expects a file here does not mean to create one.
        if let Some(&expected @ Expected::Hash(_)) = self.options.expected.get(&*section.path.text)
        {
            let actual = self.actual(&section.path.text).map_err(at)?;
            return Err(at(Problem::Stale { expected, actual }).into());
        }
        self.check_unused(index, &section.path)?;
        if let Some(binary) = &section.binary {
            let made = self.check_binary(section, binary).and_then(|()| Ok(binary::made(binary)?));
            self.builder.create(&section.path.text, made.map_err(at)?)?;
            self.base.leave(&path, None);
            return self.set_executable(section, &section.path);
        }
        if let Some(last) = lines.last
            && cut::is_within_last_line(&shared_lines::added(lines, self.options.add_newline), last)
        {
            let reason = RejectReason::CutOff { promised: (0, 0), missing: (0, 0) };
            return Err(at(Problem::Hunk(reason)).into());
        }
        let added = self.prefetched.take().and_then(|prefetched| prefetched.added);
        let added = added.or_else(|| self.texts.make(&path, lines));
        let Added { post, notes } =
            added.ok_or_else(|| at(Problem::Hunk(RejectReason::Encoding)))?;
        self.builder.create_from(&section.path.text, post)?;
        self.builder.notes.extend(notes);
        self.base.leave(&path, None);
        self.set_executable(section, &section.path)
    }

    /// Returns what a section is about that is no file: a symbolic link, or what a git diff moves or
    /// copies as it is, of which it does not say what it is.
    fn other_kind(
        &self,
        index: usize,
        section: &Section<'_>,
        part: SectionPart,
    ) -> Option<FileKind> {
        if section.link {
            return Some(FileKind::Symlink);
        }
        // It was looked at when it was taken.
        if part == SectionPart::Putting && simultaneous::taken(section).is_some() {
            return self.lifted_texts.get(&index).map(|(kind, _)| *kind);
        }
        let as_it_is = section.hunks().is_empty() && section.binary.is_none();
        let moves = section.destination().is_some() && is_of_git(self.patch, section);
        if !moves || !as_it_is {
            return None;
        }
        let path = self.files().check(&section.path.text, Access::Delete).ok()?;
        Some(self.files().metadata(&path).ok()??.kind)
    }

    /// Makes, changes or deletes a submodule.
    fn submodule(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        submodule: Submodule<'p>,
    ) -> Result<(), Rejects> {
        if self.open(section)?.is_none() {
            return Ok(());
        }
        let path = &*section.path.text;
        let at = |problem: Problem| Reject::of(path, problem);
        if !self.files().has_submodules() {
            return Err(at(SubmoduleProblem::NoGitTree.into()).into());
        }
        let done = || Problem::SectionApplied(SectionDone::AtCommit);
        let found = self.builder.submodule(path);
        if let SectionOperation::Add(_) = section.operation {
            if let Ok(Some(found)) = found {
                let is_done = submodules::is_commit(&found, submodule.new);
                let exists = Problem::Exists { by: None, new_in_diff: true };
                return Err(at(if is_done { done() } else { exists }).into());
            }
            // Whatever else is there, the builder has the rules.
            self.check_unused(index, &section.path)?;
            let line = submodules::line(submodule.new).map_err(|problem| at(problem.into()))?;
            return Ok(self.builder.create_from(path, PostImage::submodule(line))?);
        }
        let Some(found) = found? else {
            return Err(at(SubmoduleProblem::NoSubmodule.into()).into());
        };
        if !submodules::is_commit(&found, submodule.old) {
            let is_done = submodules::is_commit(&found, submodule.new);
            let other = SubmoduleProblem::OtherCommit { found };
            return Err(at(if is_done { done() } else { other.into() }).into());
        }
        let after = match section.operation {
            SectionOperation::Delete(_) => None,
            _ => {
                let line = submodules::line(submodule.new).map_err(|problem| at(problem.into()))?;
                Some(PostImage::submodule(line))
            }
        };
        self.builder.set_submodule(path, after)?;
        Ok(())
    }

    /// Moves a submodule as it is. Git moves no directories.
    fn move_submodule(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        to: &Spanned<'_>,
        part: SectionPart,
    ) -> Result<(), Rejects> {
        if self.open(section)?.is_none() {
            return Ok(());
        }
        if part != SectionPart::Putting {
            let path = &*section.path.text;
            let Some(found) = self.builder.submodule(path)? else {
                let problem = SubmoduleProblem::Directory { to: to.text.to_string() };
                return Err(Reject::of(path, problem.into()).into());
            };
            self.builder.set_submodule(path, None)?;
            let line = submodules::line_of(&found);
            self.lifted_texts.insert(index, (FileKind::Submodule, line));
        }
        self.put_lifted(index, section, to, part)
    }

    /// Puts a link or a submodule in its new place, unless it is only taken.
    fn put_lifted(
        &mut self,
        index: usize,
        section: &Section<'_>,
        to: &Spanned<'_>,
        part: SectionPart,
    ) -> Result<(), Rejects> {
        if part == SectionPart::Taking {
            return Ok(());
        }
        // Otherwise it was rejected.
        let Some((kind, text)) = self.lifted_texts.remove(&index) else { return Ok(()) };
        self.place(index, section, to, |builder, _, to| match kind {
            FileKind::Symlink => builder.create_link(to, text),
            _ => builder.create_from(to, PostImage::submodule(text)),
        })?;
        Ok(())
    }

    /// Makes, changes, moves or deletes a symbolic link.
    fn link(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        part: SectionPart,
    ) -> Result<(), Rejects> {
        if self.open(section)?.is_none() {
            return Ok(());
        }
        let path = &*section.path.text;
        let texts = LinkTexts::of(section);
        match &section.operation {
            SectionOperation::Add(_) => {
                self.check_unused(index, &section.path)?;
                self.builder.create_link(path, texts.new)?;
            }
            SectionOperation::Delete(_) => {
                self.builder.check_target(path, &texts.old)?;
                self.builder.remove(path)?;
            }
            SectionOperation::Update { move_to: None, .. } => {
                self.builder.change_link(path, texts)?;
            }
            SectionOperation::Update { move_to: Some(to), .. } => {
                if part != SectionPart::Putting {
                    let found = self.builder.check_target(path, &texts.old)?;
                    self.builder.remove(path)?;
                    let text = texts.after(found);
                    self.lifted_texts.insert(index, (FileKind::Symlink, text));
                }
                self.put_lifted(index, section, to, part)?;
            }
            SectionOperation::Copy { to, .. } => {
                let found = self.builder.check_target(path, &texts.old)?;
                let text = texts.after(found);
                self.place(index, section, to, |builder, _, to| builder.create_link(to, text))?;
            }
        }
        Ok(())
    }

    /// `hunks` are the lines that a diff says the file has.
    fn delete(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        hunks: Option<&'p [Hunk<'p>]>,
    ) -> Result<(), Rejects> {
        let Some(path) = self.open(section)? else { return Ok(()) };
        let at = |problem| Reject::of(&section.path.text, problem);
        let text = &section.path.text;
        if self.builder.exists(text, Access::Delete)? {
            let hash = |builder: &mut PlanBuilder<'_>| builder.hash(text, Access::Delete).ok()?;
            let now = || hash(&mut self.builder).expect("BUG: it was there just now");
            self.base.check_unchanged(&path, now).map_err(at)?;
            self.base.leave(&path, None);
        }
        if let Some(binary) = &section.binary {
            let file = self.load(section)?;
            let checked = self.check_binary(section, binary);
            let checked = checked.and_then(|()| Ok(binary::check_deleted(binary, &file.bytes)?));
            checked.map_err(at)?;
        } else if let Some(hunks) = hunks {
            let file = self.load(section)?;
            if !is_all_of(&file.bytes, hunks) {
                // A hunk that has no place is a better explanation.
                match self.apply(&file, index, hunks).map_err(at)? {
                    Err(rejects) if !rejects.iter().all(HunkReject::is_not_all) => {
                        return Err(self.rejected(index, section, &path, rejects));
                    }
                    Ok(edited) if edited.is_all_of_it(hunks) => {}
                    _ => return Err(at(Problem::LeavesLines).into()),
                }
            }
        }
        Ok(self.builder.remove(&section.path.text)?)
    }

    /// Copies a file as it was before the patch: the sections of a git diff do not depend on their
    /// order.
    fn copy(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        to: &Spanned<'p>,
        hunks: &'p [Hunk<'p>],
    ) -> Result<(), Rejects> {
        let Some(path) = self.open(section)? else { return Ok(()) };
        let at = |problem| Reject::of(&section.path.text, problem);
        let file = self.builder.load_original(&section.path.text)?;
        self.base.check_unchanged(&path, || file.sha256()).map_err(at)?;
        if let Some(binary) = &section.binary {
            let patched = self.patched(section, binary, &file).map_err(|it| at(it).into());
            let copied = self.place(index, section, to, PlanBuilder::copy);
            let splices = both(copied, patched)?;
            self.builder.update(&to.text, splices)?;
            return self.copied(section, to);
        }
        let edited = if hunks.is_empty() {
            Ok(None)
        } else {
            let edited = self.apply(&file, index, hunks).map_err(at)?;
            edited.map(Some).map_err(|rejects| self.rejected(index, section, &path, rejects))
        };
        let copied = self.place(index, section, to, PlanBuilder::copy);
        if let Some(Edited { edit, sha256, size, .. }) = both(copied, edited)? {
            self.blank_at_eof.clone_from(&edit.blank_at_eof);
            self.note_placed(index, section, edit.placed);
            self.builder.update_to(&to.text, edit.splices, Some((sha256, size)))?;
        }
        self.copied(section, to)
    }

    /// Finishes a section whose file was copied.
    fn copied(&mut self, section: &Section<'_>, to: &Spanned<'_>) -> Result<(), Rejects> {
        let at = |problem| Reject::of(&section.path.text, problem);
        let target = self.builder.check(&to.text, Access::Create).map_err(at)?;
        self.base.leave(&target, None);
        self.set_executable(section, to)
    }

    fn update(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        move_to: Option<&Spanned<'p>>,
        hunks: &'p [Hunk<'p>],
        part: SectionPart,
    ) -> Result<(), Rejects> {
        let Some(path) = self.open(section)? else { return Ok(()) };
        let at = |problem| Reject::of(&section.path.text, problem);
        if !self.builder.exists(&section.path.text, access_of(section))? {
            if let Some(bytes) = self.made(index, section, move_to, hunks) {
                self.check_unused(index, &section.path)?;
                self.builder.create(&section.path.text, bytes)?;
                self.base.leave(&path, None);
                return self.set_executable(section, &section.path);
            }
            // The file may have existed when the patch was written.
            let missing = self.base.missing(&path).map_err(at)?;
            return Err(self.builder.reject(&section.path.text, missing).into());
        }
        let edited = if let Some(binary) = &section.binary {
            self.replace(section, &path, binary)
        } else if !hunks.is_empty() {
            self.edit(index, section, &path, hunks)
        } else if move_to.is_none() && section.executable.is_none() {
            // The plan notes that nothing changes.
            self.builder.update(&section.path.text, Splices::new()).map_err(Rejects::from)
        } else {
            Ok(())
        };
        let Some(to) = move_to else {
            edited?;
            return self.set_executable(section, &section.path);
        };
        if part == SectionPart::Taking {
            edited?;
            let lifted = self.builder.lift(&section.path.text)?;
            self.lifted.insert(index, lifted);
            return Ok(());
        }
        both(self.place(index, section, to, PlanBuilder::rename), edited)?;
        self.moved(section, &path, to)
    }

    /// Puts a file that was taken from its path in its new place.
    fn put(
        &mut self,
        index: usize,
        section: &Section<'_>,
        to: &Spanned<'_>,
    ) -> Result<(), Rejects> {
        // It was rejected.
        let Some(lifted) = self.lifted.remove(&index) else { return Ok(()) };
        let path = lifted.path.clone();
        self.place(index, section, to, |builder, _, to| builder.put(lifted, to))?;
        self.moved(section, &path, to)
    }

    /// Finishes a section whose file has moved.
    fn moved(
        &mut self,
        section: &Section<'_>,
        path: &RelPath,
        to: &Spanned<'_>,
    ) -> Result<(), Rejects> {
        let at = |problem| Reject::of(&section.path.text, problem);
        let target = self.builder.check(&to.text, Access::Create).map_err(at)?;
        self.base.rename(path, &target).map_err(at)?;
        self.set_executable(section, to)
    }

    /// Returns the file that a section of a diff makes where there is none: its one hunk stands at
    /// line 0, as for an empty file. git says that a file is new, so that its diffs are not taken
    /// for that.
    fn made(
        &mut self,
        index: usize,
        section: &Section<'_>,
        move_to: Option<&Spanned<'_>>,
        hunks: &[Hunk<'_>],
    ) -> Option<Vec<u8>> {
        let [hunk] = hunks else { return None };
        let is_git = is_of_git(self.patch, section);
        let from_nothing = hunk.old_start == Some(0) && hunk.endings.is_of_diff() && !is_git;
        let inserts = hunk.lines.iter().all(|line| line.kind == LineKind::Insert);
        if !from_nothing || !inserts || move_to.is_some() {
            return None;
        }
        let rules = self.whitespace.rules(index);
        let (mut lines, blank) = hunk.lines.split_at(hunk.lines.len() - blank_at_end(hunk, rules));
        self.blank_at_eof = blank.iter().map(|line| line.line).collect();
        if rules.is_none_or(|rules| !rules.fix) {
            lines = &hunk.lines;
        }
        let line = |line: &Line<'_>| [line.text, line.ending()].concat();
        Some(lines.iter().flat_map(line).collect())
    }

    /// Checks the path of a section, and returns it unless a section about it was rejected.
    fn open(&mut self, section: &Section<'_>) -> Result<Option<RelPath>, Reject> {
        let text = &*section.path.text;
        if let Some(other) = &section.old_name {
            return Err(Reject::of(text, Problem::TwoFiles { other: other.text.to_string() }));
        }
        let path = self.builder.at(text, |builder| builder.check(text, access_of(section)))?;
        Ok(Some(path).filter(|path| !self.builder.is_rejected(path)))
    }

    /// Reads the file of a section.
    fn load(&mut self, section: &Section<'_>) -> Result<Loaded, Reject> {
        let path = &section.path.text;
        self.builder.load(path)?.ok_or_else(|| self.builder.reject(path, Problem::Missing))
    }

    /// Moves or copies the file of a section to its new path.
    fn place(
        &mut self,
        index: usize,
        section: &Section<'_>,
        to: &Spanned<'_>,
        verb: impl FnOnce(&mut PlanBuilder<'a>, &str, &str) -> Result<(), Reject>,
    ) -> Result<(), Reject> {
        let placed = self
            .check_unused(index, to)
            .and_then(|()| verb(&mut self.builder, &section.path.text, &to.text));
        placed.map_err(|reject| {
            let patch_line = (reject.path == *to.text).then_some(to.line);
            Reject { patch_line, ..reject }
        })
    }

    /// Refuses to replace a file that another section reads or changes.
    fn check_unused(&mut self, index: usize, to: &Spanned<'_>) -> Result<(), Reject> {
        let named = &self.named;
        self.builder.at(&to.text, |builder| {
            let path = builder.check(&to.text, Access::Create)?;
            match named.sections(path.as_str()).find(|&other| other != index) {
                Some(other) if builder.entry(&path, Access::Create)?.exists() => {
                    Err(Problem::ReplacesUsed { other })
                }
                _ => Ok(()),
            }
        })
    }

    /// Sets the right to run a file, where a section states it.
    fn set_executable(&mut self, section: &Section<'_>, path: &Spanned<'_>) -> Result<(), Rejects> {
        match section.executable {
            Some(yes) => Ok(self.builder.set_executable(&path.text, yes)?),
            None => Ok(()),
        }
    }

    /// Applies hunks to the text of a file.
    fn apply(
        &self,
        file: &Loaded,
        index: usize,
        hunks: &'p [Hunk<'p>],
    ) -> Checked<Result<Edited, Vec<HunkReject>>> {
        let text = self.texts.of(&file.path, &file.bytes, hunks).ok_or_else(|| binary(file))?;
        let cancellation = self.files().cancellation();
        let rules = self.options.edit_rules(self.whitespace.rules(index), self.files());
        // A later section may change the file once more.
        let edited = Edited::new(&file.bytes, &text, hunks, rules, true);
        cancellation.check()?;
        Ok(edited)
    }

    /// Returns what the hunks of a section make of a file, if they fit, where hunks that are applied
    /// already are left out or not.
    pub(super) fn apply_as(
        &self,
        file: &Loaded,
        index: usize,
        hunks: &'p [Hunk<'p>],
        skip_applied: bool,
    ) -> Option<Edit> {
        let text = self.texts.of(&file.path, &file.bytes, hunks)?;
        let rules = self.options.edit_rules(self.whitespace.rules(index), self.files());
        let placement = Rules { skip_applied, ..self.options.placement.clone() };
        edit_text(&text, hunks, EditRules { placement: &placement, ..rules }).ok()
    }

    /// Applies the hunks of a section to its file.
    fn edit(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        path: &RelPath,
        hunks: &'p [Hunk<'p>],
    ) -> Result<(), Rejects> {
        let at = |problem| Reject::of(&section.path.text, problem);
        let file = self.load(section)?;
        if let Some(seen) = self.base.unlike(path, || file.sha256()).map_err(at)? {
            return self.carry(index, section, hunks, &file, &seen);
        }
        // The result of this section is both the file and the base for the next section.
        self.base.leave(path, None);
        // The edit was made of the file on disk: it is valid if this section found the file there.
        let holds = self.builder.offered.is_none();
        let prefetched = self.prefetched.take().filter(|_| holds);
        let edited = match prefetched.and_then(|prefetched| prefetched.edited) {
            Some(edited) => edited,
            None => self.apply(&file, index, hunks).map_err(at)?,
        };
        let Edited { edit, sha256, size, encoding } =
            edited.map_err(|rejects| self.rejected(index, section, path, rejects))?;
        self.builder.notes.extend(
            encoding.map(|encoding| PlanNote::Encoded {
                path: section.path.text.to_string(),
                encoding,
            }),
        );
        self.blank_at_eof.clone_from(&edit.blank_at_eof);
        self.note_placed(index, section, edit.placed);
        Ok(self.builder.update_to(&section.path.text, edit.splices, Some((sha256, size)))?)
    }

    /// Applies the binary patch of a section to its file.
    fn replace(
        &mut self,
        section: &'p Section<'p>,
        path: &RelPath,
        binary: &Binary<'p>,
    ) -> Result<(), Rejects> {
        let at = |problem| Reject::of(&section.path.text, problem);
        let file = self.load(section)?;
        self.base.check_unchanged(path, || file.sha256()).map_err(at)?;
        self.base.leave(path, None);
        let splices = match self.patched(section, binary, &file) {
            // The plan notes that nothing changes.
            Err(Problem::BinaryPatch(BinaryProblem::Applied))
                if self.options.placement.skip_applied =>
            {
                Splices::new()
            }
            patched => patched.map_err(at)?,
        };
        Ok(self.builder.update(&section.path.text, splices)?)
    }

    /// Returns the replacement of all bytes of a file by what a binary patch makes of them.
    fn patched(
        &self,
        section: &Section<'_>,
        binary: &Binary<'_>,
        file: &Loaded,
    ) -> Checked<Splices> {
        self.check_binary(section, binary)?;
        let new = binary::patched(binary, &file.bytes)?;
        let mut splices = Splices::new();
        splices.push(0..file.bytes.len(), new);
        Ok(splices)
    }

    /// Checks that what a binary patch decompresses and makes is not too large.
    fn check_binary(&self, section: &Section<'_>, binary: &Binary<'_>) -> Checked<()> {
        let parts = [Some(binary.forward), binary.reverse].into_iter().flatten();
        let size = parts.map(|part| part.size.max(part.file_size)).max().unwrap_or_default();
        let limit = self.options.max_file_size;
        if size > limit {
            let path = section.path.text.to_string();
            return Err(Problem::Guard(fs_guard::Error::TooLarge { path, size, limit }));
        }
        Ok(())
    }

    /// Locates the hunks of a section in the base of its file, and carries them to the file.
    fn carry(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        hunks: &'p [Hunk<'p>],
        now: &Loaded,
        base: &[u8],
    ) -> Result<(), Rejects> {
        let path = &now.path;
        let at = |problem| Reject::of(&section.path.text, problem);
        let text = self.texts.of(path, base, hunks).ok_or_else(|| at(binary(now)))?;
        // Lines of other encodings are not compared as bytes.
        if text.encoding().is_some() {
            self.base.check_unchanged(path, || now.sha256()).map_err(at)?;
        }
        // Carrying finds out what is there already.
        let placement = Rules { skip_applied: false, ..self.options.placement.clone() };
        let whitespace = self.whitespace.rules(index);
        let cancellation = self.builder.files.cancellation();
        let rules = self.options.edit_rules(whitespace, &self.builder.files);
        let edited = edit_text(&text, hunks, EditRules { placement: &placement, ..rules });
        cancellation.check().map_err(|error| at(error.into()))?;
        let edit = match edited {
            Ok(edit) => edit,
            Err(rejects) => {
                // The expected version was not what the author saw either, so its lines explain
                // nothing.
                if self.options.base.is_none() {
                    self.base.check_unchanged(path, || now.sha256()).map_err(at)?;
                }
                return Err(self.rejected(index, section, path, rejects));
            }
        };
        self.blank_at_eof.clone_from(&edit.blank_at_eof);
        let (_, carried) = self.builder.carry_hunks(&section.path.text, base, &edit)?;
        self.base.leave(path, Some(Arc::new(edit.apply(base))));
        for carried in carried {
            if let Some(placed) = edit.placed.iter().find(|placed| placed.hunk == carried.hunk) {
                let (first_line, line_count) =
                    (*carried.to.start(), carried.to.end() + 1 - carried.to.start());
                let mut placed = placed.clone();
                placed.first_line = first_line;
                placed.line_count = line_count;
                self.note_placed(index, section, vec![placed]);
            }
            let hunk = section.place_in_text(carried.hunk);
            self.builder
                .notes
                .push(PlanNote::carried(CarriedHunk { hunk, ..carried }, &section.path.text));
        }
        Ok(())
    }

    fn note_placed(&mut self, index: usize, section: &'p Section<'p>, all: Vec<Placed>) {
        for placed in all {
            let note = |note: &Note| PlanNote::Hunk {
                path: section.path.text.to_string(),
                hunk: section.place_in_text(placed.hunk),
                note: note.clone(),
            };
            self.builder.notes.extend(placed.notes.iter().map(note));
            self.builder.placed.push((index, placed));
        }
    }

    /// Makes the rejects of hunks that have no place in the file at `path`.
    fn rejected(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        path: &RelPath,
        rejects: Vec<HunkReject>,
    ) -> Rejects {
        let reject = |HunkReject { hunk, patch_line, reason, .. }| {
            let reason = self.room.fit(reason);
            let problem = self.elsewhere(index, path, &section.hunks()[hunk], reason);
            let (hunk, patch_line) = (Some(hunk), Some(patch_line));
            Reject { hunk, patch_line, ..Reject::of(&section.path.text, problem) }
        };
        Rejects::new(rejects.into_iter().map(reject).collect())
            .expect("hunks that are rejected have reasons")
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

    fn finish(self) -> Result<Plan, Rejects> {
        let Self { mut builder, patch, named, base, mut rejects, .. } = self;
        drop(named);
        let files = builder.files.clone();
        builder.carried_bases = base.left();
        match builder.finish() {
            Ok(plan) if rejects.is_empty() => return Ok(plan),
            plan => {
                let of_section = |reject| of_last_section(reject, patch);
                rejects.extend(plan.err().into_iter().flatten().map(of_section));
            }
        }
        Rejects::if_cancelled(files.cancellation())?;
        if let Some(parts) = parts_too_many(&files, patch, &rejects) {
            rejects.iter_mut().for_each(|reject| reject.strip = Some(parts));
        }
        rejects.sort_by_key(|reject| (reject.section, reject.patch_line));
        let rejects = Rejects::new(rejects).expect("without a reject there is a plan");
        Err(rejects.of_patch(patch))
    }
}

/// Says which section leaves a file as it is refused.
fn of_last_section(reject: Reject, patch: &Patch) -> Reject {
    if !matches!(reject.problem, Problem::Syntax(_) | Problem::NotFormatted(_)) {
        return reject;
    }
    let leaves = |section: &Section<'_>| {
        plain(&section.destination().unwrap_or(&section.path).text) == reject.path
    };
    let sections = patch.sections();
    let Some(index) = sections.iter().rposition(leaves) else { return reject };
    let patch_line = Some(sections[index].line());
    Reject { section: Some(patch.place_in_text(index)), patch_line, ..reject }
}

/// Returns both errors of a section, which are told together.
fn both<T>(placed: Result<(), Reject>, edited: Result<T, Rejects>) -> Result<T, Rejects> {
    match (placed, edited) {
        (Ok(()), edited) => edited,
        (Err(reject), Ok(_)) => Err(reject.into()),
        (Err(reject), Err(more)) => Err(Rejects::from(reject).and(more)),
    }
}

fn binary(file: &Loaded) -> Problem {
    Problem::Binary { size: file.bytes.len() as u64, sha256: file.sha256() }
}

/// Returns the number for `-p` with which the files of a diff are there, none of which is there as
/// the patch was read.
fn parts_too_many(files: &Files, patch: &Patch, rejects: &[Reject]) -> Option<usize> {
    let missing = |reject: &Reject| {
        matches!(reject.problem, Problem::Missing | Problem::MissingParent { .. })
    };
    if !is_diff(patch) || !rejects.iter().all(missing) {
        return None;
    }
    let read: Vec<&Spanned<'_>> = patch
        .sections()
        .iter()
        .filter(|section| !matches!(section.operation, SectionOperation::Add(_)))
        .map(|section| &section.path)
        .collect();
    let parts = |path: &str| path.matches('/').count();
    let first = read.first()?;
    let written = String::from_utf8_lossy(patch.bytes(first.span.clone())).into_owned();
    // Git's lines of a rename or a copy have no prefix, so one part less of them is left out.
    let start = first.span.start;
    let moves = patch.bytes(start.saturating_sub(5)..start) == b"from ";
    let lost = parts(&written).checked_sub(parts(&first.text))? + usize::from(moves);
    (1..=parts(&first.text)).find_map(|more| {
        let is_there = |path: &&Spanned<'_>| {
            let rest = path.text.splitn(more + 1, '/').nth(more);
            rest.is_some_and(|rest| is_file(files, rest))
        };
        read.iter().all(is_there).then_some(lost + more)
    })
}

/// Returns whether a patch was read from a diff, which does not show directories. All sections have
/// one form.
fn is_diff(patch: &Patch) -> bool {
    patch.sections().first().is_some_and(|section| match &section.operation {
        SectionOperation::Add(added) => added.endings.is_of_diff(),
        _ => {
            is_of_git(patch, section)
                || section.hunks().first().is_some_and(|hunk| hunk.endings.is_of_diff())
        }
    })
}

/// Returns whether the lines that `hunks` delete are exactly those of the file, byte for byte.
fn is_all_of(source: &[u8], hunks: &[Hunk<'_>]) -> bool {
    let unmarked = hunks.iter().any(|hunk| hunk.endings == LineEndings::Unmarked);
    let mut rest = Some(source);
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        let deletes = line.kind == LineKind::Delete;
        rest = rest.filter(|_| deletes).and_then(|rest| {
            let rest = rest.strip_prefix(line.text)?;
            // A diff that has no carriage returns may have lost them.
            let crlf = rest.strip_prefix(b"\r\n").filter(|_| unmarked && !line.no_newline);
            crlf.or_else(|| rest.strip_prefix(line.ending()))
        });
    }
    rest.is_some_and(<[u8]>::is_empty)
}
