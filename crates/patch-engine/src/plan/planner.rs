//! Turns a patch into a plan: a [`PlanBuilder`] makes the changes of its sections one after the
//! other. Files are read, and none is written.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use fs_guard::{Access, FileKind, RelPath, Sha256};
use patch_grammar::binary::Binary;
use patch_grammar::{
    Extent, Hunk, LineEndings, LineKind, Patch, Section, SectionOperation, Spanned, Submodule,
    WholeFiles,
};
use patch_text::carry::{Carried, CarriedHunk, carry};
use patch_text::git_id::is_blob;
use patch_text::locate::edit::{self, Edit};
use patch_text::locate::edit_rules::EditRules;
use patch_text::locate::edit_text::edit_text;
use patch_text::locate::{HunkReject, Placed, RejectReason, Room, Rules, cut};
use patch_text::text::encoding::unmarked_utf16;
use patch_text::text::splices::Splices;
use patch_text::text::whitespace::Whitespace;

use crate::files::Files;
use crate::plan::base::Base;
use crate::plan::binary::{self, BinaryProblem};
use crate::plan::builder::{self, NewText, PlanBuilder};
use crate::plan::image::PostImage;
use crate::plan::links::LinkTexts;
use crate::plan::normalise::normalised;
use crate::plan::options::{Expected, Options, Profile};
use crate::plan::overlay::{Lifted, Loaded};
use crate::plan::paths::{Named, is_file, is_git_diff, is_of_git, names, plain};
use crate::plan::prefetch::{Edited, Prefetch, Prefetched, Prefetcher};
use crate::plan::reject::{Checked, NewFile, Problem, Reject, Rejects};
use crate::plan::relative::relative;
use crate::plan::section_done::SectionDone;
use crate::plan::simultaneous::{self, Indexed};
use crate::plan::step::{Contents, Deed, SectionPart, Step};
use crate::plan::submodules::{self, SubmoduleProblem};
use crate::plan::texts::{Added, Texts};
use crate::plan::whitespace::{WhitespaceOfPatch, blank_at_end};
use crate::plan::{Map, Plan, PlanNote, shared_lines};

/// The most other files of the patch to search for the lines of a rejected hunk.
const OTHER_FILES: usize = 20;

/// The most rejected hunks of a patch to look for in other files: each costs a walk over all of
/// them.
const LOOKED_FOR_ELSEWHERE: usize = 20;

/// Plans a patch: reads every file once, and computes every post-image.
///
/// Sections act in order, each on the result of the ones before; in a git diff as if at one time
/// (`plan/simultaneous.rs`).
///
/// # Errors
///
/// All reasons why the patch does not apply, in the order of the patch. When anything is
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
    let options = &*options_for(patch, options);
    let inside = relative(files, patch);
    let patch = &*readable(files, &inside, options);
    let whitespace = WhitespaceOfPatch::of(files, patch, options);
    let fixed = whitespace.fixed(patch);
    let sections = Sections::of(patch, &fixed, left_out);
    let texts = Texts::new(files, patch, options);
    let prefetcher =
        Prefetcher::new(files, &fixed, &texts, &whitespace, sections.independent(options));
    prefetcher.during(|prefetch| {
        let builder = builder_for(files, patch, options, left_out);
        let mut planner = Planner {
            builder,
            patch,
            options,
            texts: &texts,
            whitespace: &whitespace,
            blank_at_eof: Vec::new(),
            named: &sections.named,
            lifted: Map::default(),
            base: Base::new(options),
            rejects: Vec::new(),
            explanations: Explanations { looked_elsewhere: 0, room: Room::default() },
        };
        planner.check_expectations();
        planner.all(&sections, prefetch);
        planner.finish()
    })
}

/// Returns the options for a patch: an exact one states its own, and a diff does not show
/// directories.
fn options_for<'o>(patch: &Patch, options: &'o Options) -> Cow<'o, Options> {
    if patch.exact {
        let exact = Options::new(Profile::Strict);
        Cow::Owned(Options {
            placement: Rules { skip_applied: options.placement.skip_applied, ..exact.placement },
            overwrite: patch.whole_files == Some(WholeFiles::Replacing),
            ..options.clone()
        })
    } else if is_diff(patch) && !options.create_parents {
        Cow::Owned(Options { create_parents: true, ..options.clone() })
    } else {
        Cow::Borrowed(options)
    }
}

/// Returns a patch without the oddities of its author's tools, unless each byte counts.
fn readable<'p>(files: &Files, patch: &'p Patch, options: &Options) -> Cow<'p, Patch> {
    if options.base.is_some() || patch.to_the_letter {
        return Cow::Borrowed(patch);
    }
    normalised(files, patch, options.max_file_size)
}

/// Returns a builder for the changes of a patch.
fn builder_for<'o>(
    files: &Files,
    patch: &Patch,
    options: &'o Options,
    left_out: &BTreeSet<usize>,
) -> PlanBuilder<'o> {
    let mut builder = PlanBuilder::with_capacity(files.clone(), options, patch.sections().len());
    builder.of_patch(patch.clone());
    builder.leave_out(left_out.clone());
    if is_diff(patch) {
        builder.of_diff();
    }
    if patch.exact {
        builder.fill_empty();
    }
    builder.note_all(patch.notes.iter().cloned().map(PlanNote::Input));
    builder.note_all(patch.warnings.iter().cloned().map(PlanNote::Text));
    builder
}

/// The sections to plan.
struct Sections<'p> {
    all: Vec<Indexed<'p>>,
    named: Named<'p>,
    /// The diff of each section of the patch, in a git diff.
    diffs: Vec<usize>,
    /// Whether the sections of a diff act as if at one time, and not in their order.
    simultaneous: bool,
}

impl<'p> Sections<'p> {
    fn of(patch: &Patch, sections: &'p [Section<'p>], left_out: &BTreeSet<usize>) -> Self {
        let all: Vec<Indexed<'p>> =
            sections.iter().enumerate().filter(|(index, _)| !left_out.contains(index)).collect();
        let named = Named::of(all.iter().copied());
        let is_git = is_git_diff(patch);
        let diffs = if is_git { simultaneous::diffs(patch) } else { Vec::new() };
        let simultaneous = is_git
            && (simultaneous::order_matters(&all) || simultaneous::copies_later(&all, &diffs));
        Self { all, named, diffs, simultaneous }
    }

    /// Returns the sections to be worked out ahead: no other section names their paths.
    fn independent(&self, options: &Options) -> Vec<usize> {
        // Where a base is known, hunks may belong elsewhere than in the file.
        if self.simultaneous || options.base.is_some() {
            return Vec::new();
        }
        let independent = self.all.iter().filter(|(_, section)| {
            let path = plain(&section.path.text);
            // Expectations are checked before, and the file is read then.
            self.named.sections(path).nth(1).is_none() && !options.expected.contains_key(path)
        });
        independent.map(|(index, _)| *index).collect()
    }
}

pub(super) struct Planner<'a, 'p> {
    pub(super) builder: PlanBuilder<'a>,
    patch: &'p Patch,
    pub(super) options: &'a Options,
    pub(super) texts: &'a Texts<'a>,
    whitespace: &'a WhitespaceOfPatch,
    /// The lines of the patch with blank lines for the end of the current section's file.
    blank_at_eof: Vec<u32>,
    /// The sections with each path.
    named: &'p Named<'p>,
    /// The files taken from their paths and not put in new places yet.
    lifted: Map<usize, Taken>,
    base: Base<'a>,
    rejects: Vec<Reject>,
    explanations: Explanations,
}

/// A file taken from its path.
enum Taken {
    File(Lifted),
    /// The text of a symbolic link.
    Link(Vec<u8>),
    /// The line of a submodule.
    Submodule(Vec<u8>),
}

/// The bounds of what is told about rejected hunks.
struct Explanations {
    /// How many hunks were looked for in other files.
    looked_elsewhere: usize,
    /// The room for the reasons.
    room: Room,
}

impl<'a, 'p> Planner<'a, 'p> {
    pub(super) fn files(&self) -> &Files {
        self.builder.files()
    }

    fn check_expectations(&mut self) {
        for (path, &expected) in &self.options.expected {
            let problem = match self.builder.hash_before(path) {
                Ok(actual) if expected == actual.into() => continue,
                Ok(actual) => Problem::Stale { expected, actual },
                Err(problem) => problem,
            };
            if let Ok(checked) = self.files().check(path, Access::Read) {
                if let Problem::Stale { actual, expected: Expected::Hash(seen) } = problem
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

    /// Returns whether every section with a path changes lines of the file there.
    fn only_updates(&self, path: &str) -> bool {
        let mut sections =
            self.patch.sections().iter().filter(|section| names(section, path)).peekable();
        sections.peek().is_some() && sections.all(|section| updates(section, path))
    }

    /// Plans all sections.
    fn all(&mut self, sections: &Sections<'p>, mut prefetch: Prefetch<'_, '_, '_>) {
        if sections.simultaneous {
            return self.simultaneously(&sections.all, &sections.diffs);
        }
        for &(index, section) in &sections.all {
            self.section(index, section, SectionPart::Whole, prefetch.take(index));
        }
    }

    /// Plans the sections of git diffs, all of one diff as if at one time.
    fn simultaneously(&mut self, sections: &[Indexed<'p>], diffs: &[usize]) {
        let mut rest = sections;
        while !rest.is_empty() {
            // A link is not to be read.
            let first = simultaneous::of_one_diff(rest, diffs, |path: &str| {
                matches!(self.builder.exists(path, Access::Delete), Ok(true))
            });
            let (diff, more) = rest.split_at(first);
            if rest.len() < sections.len() {
                let copied = diff.iter().filter_map(|(_, section)| simultaneous::copied(section));
                self.builder.begin_diff(copied);
            }
            for part in [SectionPart::Taking, SectionPart::Putting] {
                diff.iter().for_each(|&(index, section)| self.section(index, section, part, None));
            }
            rest = more;
        }
        // As one walk leaves them.
        self.builder.sort_placed();
    }

    /// Plans a section, or one part.
    fn section(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        part: SectionPart,
        prefetched: Option<Prefetched>,
    ) {
        // No section is missed: the plan is refused in the end.
        if self.files().cancellation().is_cancelled() {
            return;
        }
        let Some(deed) = Deed::of(section, part) else { return };
        let kind = self.kind(index, section, deed);
        let mut step = Step::of(index, section, deed, kind);
        self.take_prefetched(&mut step, prefetched);
        let result = self.carry_out(&mut step);
        let Err(rejects) = self.and_whitespace(&step, result) else { return };
        let Some(rejects) = self.unless_applied(&step, rejects) else { return };
        self.refuse(&step, rejects);
    }

    /// Returns the kind of a file other than text: a symbolic link, or a file moved or copied as a
    /// whole by a git diff, without a word about its kind.
    fn kind(&self, index: usize, section: &Section<'_>, deed: Deed) -> Option<FileKind> {
        if section.link {
            return Some(FileKind::Symlink);
        }
        // The file was looked at when taken.
        if deed == Deed::Put {
            return match self.lifted.get(&index)? {
                Taken::File(_) => None,
                Taken::Link(_) => Some(FileKind::Symlink),
                Taken::Submodule(_) => Some(FileKind::Submodule),
            };
        }
        let as_it_is = section.hunks().is_empty() && section.binary.is_none();
        let moves = section.destination().is_some() && is_of_git(self.patch, section);
        if !moves || !as_it_is {
            return None;
        }
        let path = self.files().check(&section.path.text, Access::Delete).ok()?;
        Some(self.files().metadata(&path).ok()??.kind)
    }

    /// Takes the work done ahead for a step.
    fn take_prefetched(&mut self, step: &mut Step<'p>, mut prefetched: Option<Prefetched>) {
        let access = step.access;
        let ahead = prefetched.as_mut().map(|ahead| (&ahead.path, access, ahead.disk.take()));
        self.builder.offer(ahead);
        step.prefetched = prefetched;
    }

    fn carry_out(&mut self, step: &mut Step<'p>) -> Result<(), Rejects> {
        match (step.deed, step.contents) {
            (_, Contents::Submodule(submodule)) => self.submodule(step, submodule),
            (_, Contents::Link) => self.link(step),
            (_, Contents::SubmoduleAsItIs) => self.move_submodule(step),
            (Deed::Add, _) => self.add(step),
            (Deed::Delete, _) => self.delete(step),
            (Deed::Copy, _) => self.copy(step),
            (Deed::Put, _) => self.put(step),
            (Deed::Update | Deed::Move | Deed::Take, _) => self.update(step),
        }
    }

    /// Notes why a step is refused.
    fn refuse(&mut self, step: &Step<'p>, rejects: Rejects) {
        let section = step.section;
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
            reject.section = Some(self.patch.place_in_text(step.index));
            reject.exact = self.patch.exact;
            if let Problem::Exists { may_be_part, .. } = &mut reject.problem {
                *may_be_part = self.patch.whole_files == Some(WholeFiles::New);
            }
            if self.patch.reversed {
                reject.problem = reject.problem.in_reverse(self.patch);
            }
            self.rejects.push(reject);
        }
    }

    /// Notes the whitespace errors of a section's lines, and refuses the section for them
    /// where they are not allowed.
    fn and_whitespace(
        &mut self,
        step: &Step<'p>,
        result: Result<(), Rejects>,
    ) -> Result<(), Rejects> {
        let blank_at_eof = std::mem::take(&mut self.blank_at_eof);
        let Some(found) = self.whitespace.section(step.index) else { return result };
        let path = &step.to.text;
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
            self.builder.note(PlanNote::Whitespace { path: path.to_string(), errors, fixed });
        }
        result
    }

    fn add(&mut self, step: &mut Step<'p>) -> Result<(), Rejects> {
        let Some(path) = self.open(step)? else { return Ok(()) };
        // A caller who expects a file here does not mean to create one.
        if let Some(&expected @ Expected::Hash(_)) = self.options.expected.get(&*step.at.text) {
            let actual = self.builder.hash_before(&step.at.text);
            let actual = actual.map_err(|problem| step.reject(problem))?;
            return Err(step.reject(Problem::Stale { expected, actual }).into());
        }
        self.check_unused(step, step.at)?;
        let added = self.added(step, &path).map_err(|problem| step.reject(problem))?;
        self.builder.create_from(&step.at.text, added.post)?;
        self.builder.note_all(added.notes);
        self.base.leave(&path, None);
        self.set_executable(step, step.at)
    }

    /// Returns the new file of a section.
    fn added(&self, step: &mut Step<'p>, path: &RelPath) -> Checked<Added> {
        let lines = match step.contents {
            Contents::Binary(binary) => {
                self.check_binary(step, binary)?;
                let post = PostImage::kept(binary::made(binary)?);
                return Ok(Added { post, notes: Vec::new() });
            }
            Contents::Added(lines) => lines,
            contents => unreachable!("BUG: no new file has {contents:?}"),
        };
        if let Some(last) = lines.last
            && cut::is_within_last_line(&shared_lines::added(lines, self.options.add_newline), last)
        {
            let reason = RejectReason::CutOff { promised: (0, 0), missing: (0, 0) };
            return Err(Problem::Hunk(reason));
        }
        let added = step.prefetched.take().and_then(|prefetched| prefetched.added);
        added.or_else(|| self.texts.make(path, lines)).ok_or(Problem::Hunk(RejectReason::Encoding))
    }

    /// Makes, changes or deletes a submodule.
    fn submodule(&mut self, step: &Step<'p>, submodule: Submodule<'p>) -> Result<(), Rejects> {
        if self.open(step)?.is_none() {
            return Ok(());
        }
        if !self.files().has_submodules() {
            return Err(step.reject(SubmoduleProblem::NoGitTree.into()).into());
        }
        let found = self.builder.submodule(&step.at.text);
        if let SectionOperation::Add(_) = step.section.operation {
            if let Ok(Some(found)) = found {
                let exists = Problem::Exists { by: None, new_in_diff: true, may_be_part: false };
                return Err(step.reject(unless_at_new(submodule, &found, exists)).into());
            }
            // Whatever else is there, the builder has the rules.
            self.check_unused(step, step.at)?;
            let line = submodules::line(submodule.new);
            let line = line.map_err(|problem| step.reject(problem.into()))?;
            return Ok(self.builder.create_submodule(&step.at.text, line)?);
        }
        let Some(found) = found? else {
            return Err(step.reject(SubmoduleProblem::NoSubmodule.into()).into());
        };
        if !submodules::is_commit(&found, submodule.old) {
            let other = SubmoduleProblem::OtherCommit { found: found.clone() };
            return Err(step.reject(unless_at_new(submodule, &found, other.into())).into());
        }
        let after = match step.section.operation {
            SectionOperation::Delete(_) => None,
            _ => {
                let line = submodules::line(submodule.new);
                Some(line.map_err(|problem| step.reject(problem.into()))?)
            }
        };
        Ok(self.builder.set_submodule(&step.at.text, after)?)
    }

    /// Moves a submodule, unchanged. Git moves no directories.
    fn move_submodule(&mut self, step: &Step<'p>) -> Result<(), Rejects> {
        if self.open(step)?.is_none() {
            return Ok(());
        }
        if step.deed != Deed::Put {
            let path = &step.at.text;
            let Some(found) = self.builder.submodule(path)? else {
                let problem = SubmoduleProblem::Directory { to: step.to.text.to_string() };
                return Err(step.reject(problem.into()).into());
            };
            self.builder.set_submodule(path, None)?;
            let line = submodules::line_of(&found);
            self.lifted.insert(step.index, Taken::Submodule(line));
        }
        self.put_lifted(step)
    }

    /// Puts a link or a submodule in its new place, unless the step only takes.
    fn put_lifted(&mut self, step: &Step<'p>) -> Result<(), Rejects> {
        if step.deed == Deed::Take {
            return Ok(());
        }
        // Otherwise the section was rejected.
        let Some(taken) = self.lifted.remove(&step.index) else { return Ok(()) };
        self.place(step, |builder, _, to| match taken {
            Taken::Link(text) => builder.create_link(to, text),
            Taken::Submodule(line) => builder.create_submodule(to, line),
            Taken::File(lifted) => builder.put(lifted, to),
        })?;
        Ok(())
    }

    /// Makes, changes, moves or deletes a symbolic link.
    fn link(&mut self, step: &Step<'p>) -> Result<(), Rejects> {
        if self.open(step)?.is_none() {
            return Ok(());
        }
        let path = &*step.at.text;
        let texts = LinkTexts::of(step.section);
        match step.deed {
            Deed::Add => {
                self.check_unused(step, step.at)?;
                self.builder.create_link(path, texts.new)?;
            }
            Deed::Delete => {
                self.builder.check_target(path, &texts.old)?;
                self.builder.remove(path)?;
            }
            Deed::Update => self.builder.change_link(path, texts)?,
            Deed::Put => self.put_lifted(step)?,
            Deed::Move | Deed::Take => {
                let found = self.builder.check_target(path, &texts.old)?;
                self.builder.remove(path)?;
                self.lifted.insert(step.index, Taken::Link(texts.after(found)));
                self.put_lifted(step)?;
            }
            Deed::Copy => {
                let found = self.builder.check_target(path, &texts.old)?;
                let text = texts.after(found);
                self.place(step, |builder, _, to| builder.create_link(to, text))?;
            }
        }
        Ok(())
    }

    fn delete(&mut self, step: &Step<'p>) -> Result<(), Rejects> {
        let Some(path) = self.open(step)? else { return Ok(()) };
        let text = &step.at.text;
        if self.builder.exists(text, Access::Delete)? {
            let builder = &mut self.builder;
            let unchanged = self.base.check_unchanged(&path, || {
                let hash = builder.hash(text, Access::Delete).ok().flatten();
                hash.expect("BUG: it was there just now")
            });
            unchanged.map_err(|problem| step.reject(problem))?;
            self.base.leave(&path, None);
        }
        self.check_deleted(step, &path)?;
        Ok(self.builder.remove(text)?)
    }

    /// Checks the contents of a deleted file against the diff, if shown there.
    fn check_deleted(&mut self, step: &Step<'p>, path: &RelPath) -> Result<(), Rejects> {
        match step.contents {
            Contents::AsItIs if let Some(id) = step.section.deleted_id => {
                let file = self.load(step)?;
                let is_full = matches!(id.len(), 40 | 64);
                match is_blob(id, &file.bytes).filter(|_| is_full) {
                    Some(true) => Ok(()),
                    told => {
                        let other = told.is_some();
                        Err(step.reject(Problem::NotShown { other }).into())
                    }
                }
            }
            Contents::Binary(binary) => {
                let file = self.load(step)?;
                let checked = self.check_binary(step, binary);
                let checked =
                    checked.and_then(|()| Ok(binary::check_deleted(binary, &file.bytes)?));
                Ok(checked.map_err(|problem| step.reject(problem))?)
            }
            Contents::Hunks(hunks) => {
                let file = self.load(step)?;
                if is_all_of(&file.bytes, hunks) {
                    return Ok(());
                }
                // A hunk without a place is a better explanation.
                match self.apply(step, &file, hunks)? {
                    Err(rejects) if !rejects.iter().all(HunkReject::is_not_all) => {
                        Err(self.rejected(step, path, rejects))
                    }
                    Ok(edited) if edited.is_all_of_it(hunks) => Ok(()),
                    _ => Err(step.reject(Problem::LeavesLines).into()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Copies a file in its state before the patch: the sections of a git diff do not depend on
    /// their order.
    fn copy(&mut self, step: &Step<'p>) -> Result<(), Rejects> {
        let Some(path) = self.open(step)? else { return Ok(()) };
        let file = self.builder.load_original(&step.at.text)?;
        let unchanged = self.base.check_unchanged(&path, || file.sha256());
        unchanged.map_err(|problem| step.reject(problem))?;
        let text = match step.contents {
            Contents::Binary(binary) => self
                .patched(step, binary, &file)
                .map(|splices| Some(NewText { splices, ..NewText::default() }))
                .map_err(|problem| step.reject(problem).into()),
            Contents::Hunks(hunks) => match self.apply(step, &file, hunks)? {
                Ok(edited) => Ok(Some(new_text(step, edited))),
                Err(rejects) => Err(self.rejected(step, &path, rejects)),
            },
            _ => Ok(None),
        };
        let copied = self.place(step, |builder, _, to| builder.copy_of(file, to));
        if let Some(text) = both(copied, text)? {
            self.rewrite(step, step.to, text)?;
        }
        let target = self.builder.check(&step.to.text, Access::Create)?;
        self.base.leave(&target, None);
        self.set_executable(step, step.to)
    }

    /// Updates a file, and moves the result or takes the file from its path.
    fn update(&mut self, step: &mut Step<'p>) -> Result<(), Rejects> {
        let Some(path) = self.open(step)? else { return Ok(()) };
        if !self.builder.exists(&step.at.text, step.access)? {
            return self.update_missing(step, &path);
        }
        let edited = match step.contents {
            Contents::Binary(binary) => self.replace(step, &path, binary),
            Contents::Hunks(hunks) => self.edit(step, &path, hunks),
            // The plan notes the unchanged file.
            _ if step.deed == Deed::Update && step.executable.is_none() => {
                self.rewrite(step, step.at, NewText::default()).map_err(Rejects::from)
            }
            _ => Ok(()),
        };
        match step.deed {
            Deed::Move => {
                both(self.place(step, PlanBuilder::rename), edited)?;
                self.moved(step, &path)
            }
            Deed::Take => {
                edited?;
                let lifted = self.builder.lift(&step.at.text)?;
                self.lifted.insert(step.index, Taken::File(lifted));
                Ok(())
            }
            _ => {
                edited?;
                self.set_executable(step, step.at)
            }
        }
    }

    /// Makes the file of an update where there is none, if the section says how.
    fn update_missing(&mut self, step: &Step<'p>, path: &RelPath) -> Result<(), Rejects> {
        let Some(bytes) = self.made(step) else {
            // The file may have existed when the patch was written.
            let missing = self.base.missing(path).map_err(|problem| step.reject(problem))?;
            return Err(self.missing(step, missing).into());
        };
        self.check_unused(step, step.at)?;
        self.builder.create(&step.at.text, bytes)?;
        self.base.leave(path, None);
        self.set_executable(step, step.at)
    }

    /// Puts a file taken from its path in its new place.
    fn put(&mut self, step: &Step<'p>) -> Result<(), Rejects> {
        let Some(Taken::File(lifted)) = self.lifted.get(&step.index) else {
            // The section was rejected.
            return Ok(());
        };
        let path = lifted.path.clone();
        self.put_lifted(step)?;
        self.moved(step, &path)
    }

    /// Finishes a section whose file has moved.
    fn moved(&mut self, step: &Step<'p>, path: &RelPath) -> Result<(), Rejects> {
        let target = self.builder.check(&step.to.text, Access::Create)?;
        self.base.rename(path, &target).map_err(|problem| step.reject(problem))?;
        self.set_executable(step, step.to)
    }

    /// Returns the file to make where there is none: the one hunk of a diff stands at line 0, as
    /// for an empty file. A git diff would say so, and is not taken for this.
    fn made(&mut self, step: &Step<'p>) -> Option<Vec<u8>> {
        let Contents::Hunks([hunk]) = step.contents else { return None };
        let is_git = is_of_git(self.patch, step.section);
        let from_nothing = hunk.old_start == Some(0) && hunk.endings.is_of_diff() && !is_git;
        let inserts = hunk.lines.iter().all(|line| line.kind == LineKind::Insert);
        if !from_nothing || !inserts || step.deed != Deed::Update {
            return None;
        }
        let rules = self.whitespace.rules(step.index);
        let (mut lines, blank) = hunk.lines.split_at(hunk.lines.len() - blank_at_end(hunk, rules));
        self.blank_at_eof = blank.iter().map(|line| line.line).collect();
        if rules.is_none_or(|rules| !rules.fix) {
            lines = &hunk.lines;
        }
        Some(lines.iter().flat_map(|line| [line.text, line.ending()].concat()).collect())
    }

    /// Checks and returns the path of a section, unless a section about the same path was rejected.
    fn open(&mut self, step: &Step<'p>) -> Result<Option<RelPath>, Reject> {
        if let Some(other) = &step.section.old_name {
            return Err(step.reject(Problem::TwoFiles { other: other.text.to_string() }));
        }
        let path = self.builder.check(&step.at.text, step.access)?;
        Ok(Some(path).filter(|path| !self.builder.is_rejected(path)))
    }

    /// Reads the file of a section.
    fn load(&mut self, step: &Step<'p>) -> Result<Loaded, Reject> {
        let path = &step.at.text;
        self.builder.load(path)?.ok_or_else(|| self.missing(step, Problem::Missing))
    }

    /// Makes the reject of a step whose file is not there.
    fn missing(&self, step: &Step<'p>, problem: Problem) -> Reject {
        let reject = self.builder.reject(&step.at.text, problem);
        Reject { new_file: new_file(self.patch, step), ..reject }
    }

    /// Moves or copies the file of a section to its new path.
    fn place(
        &mut self,
        step: &Step<'p>,
        verb: impl FnOnce(&mut PlanBuilder<'a>, &str, &str) -> Result<(), Reject>,
    ) -> Result<(), Reject> {
        let to = step.to;
        let placed = self
            .check_unused(step, to)
            .and_then(|()| verb(&mut self.builder, &step.at.text, &to.text));
        placed.map_err(|reject| {
            let patch_line = (reject.path == *to.text).then_some(to.line);
            Reject { patch_line, ..reject }
        })
    }

    /// Refuses to replace a file of another section.
    fn check_unused(&mut self, step: &Step<'p>, path: &Spanned<'_>) -> Result<(), Reject> {
        self.builder.check_unused(&path.text, step.index, self.named)
    }

    /// Sets the right to run a file, where stated.
    fn set_executable(&mut self, step: &Step<'p>, path: &Spanned<'_>) -> Result<(), Rejects> {
        match step.executable {
            Some(yes) => Ok(self.builder.set_executable(&path.text, yes)?),
            None => Ok(()),
        }
    }

    /// Plans the new text of a file.
    fn rewrite(
        &mut self,
        step: &Step<'p>,
        path: &Spanned<'_>,
        mut text: NewText,
    ) -> Result<(), Reject> {
        self.blank_at_eof = std::mem::take(&mut text.blank_at_eof);
        self.builder.rewrite(step.index, &path.text, text)
    }

    /// Applies hunks to the text of a file.
    fn apply(
        &self,
        step: &Step<'p>,
        file: &Loaded,
        hunks: &'p [Hunk<'p>],
    ) -> Result<Result<Edited, Vec<HunkReject>>, Reject> {
        let text = self.texts.of(&file.path, &file.bytes, hunks);
        let text = text.ok_or_else(|| step.reject(binary(file)))?;
        // A later section may change the file once more.
        let edited = Edited::new(&file.bytes, &text, hunks, self.edit_rules(step), true);
        let checked = self.files().cancellation().check();
        checked.map_err(|error| step.reject(error.into()))?;
        Ok(edited)
    }

    /// Returns the rules for placing the hunks of a section.
    fn edit_rules(&self, step: &Step<'p>) -> EditRules<'_> {
        let whitespace = self.whitespace.rules(step.index);
        self.options.edit_rules(whitespace, self.files())
    }

    /// Returns the result of a section's hunks for a file, if they fit. Hunks found applied already
    /// are left out or not.
    pub(super) fn apply_as(
        &self,
        step: &Step<'p>,
        file: &Loaded,
        skip_applied: bool,
    ) -> Option<Edit> {
        let hunks = step.section.hunks();
        let text = self.texts.of(&file.path, &file.bytes, hunks)?;
        let placement = Rules { skip_applied, ..self.options.placement.clone() };
        let rules = EditRules { placement: &placement, ..self.edit_rules(step) };
        edit_text(&text, hunks, rules).ok()
    }

    /// Applies the hunks of a section to its file.
    fn edit(
        &mut self,
        step: &mut Step<'p>,
        path: &RelPath,
        hunks: &'p [Hunk<'p>],
    ) -> Result<(), Rejects> {
        let file = self.load(step)?;
        let seen = self.base.unlike(path, || file.sha256());
        if let Some(seen) = seen.map_err(|problem| step.reject(problem))? {
            return self.carry(step, hunks, &file, &seen);
        }
        // The result of this section is both the file and the base for the next section.
        self.base.leave(path, None);
        // The edit was made of the file on disk, and holds if this section found the file there.
        let holds = self.builder.has_taken_offer();
        let prefetched = step.prefetched.take().filter(|_| holds);
        let edited = match prefetched.and_then(|prefetched| prefetched.edited) {
            Some(edited) => edited,
            None => self.apply(step, &file, hunks)?,
        };
        let edited = edited.map_err(|rejects| self.rejected(step, path, rejects))?;
        if let Some(encoding) = edited.encoding {
            let path = step.at.text.to_string();
            self.builder.note(PlanNote::Encoded { path, encoding });
        }
        Ok(self.rewrite(step, step.at, new_text(step, edited))?)
    }

    /// Applies the binary patch of a section to its file.
    fn replace(
        &mut self,
        step: &Step<'p>,
        path: &RelPath,
        binary: &Binary<'p>,
    ) -> Result<(), Rejects> {
        let file = self.load(step)?;
        let unchanged = self.base.check_unchanged(path, || file.sha256());
        unchanged.map_err(|problem| step.reject(problem))?;
        self.base.leave(path, None);
        let splices = match self.patched(step, binary, &file) {
            // The plan notes the unchanged file.
            Err(Problem::BinaryPatch(BinaryProblem::Applied))
                if self.options.placement.skip_applied =>
            {
                Splices::new()
            }
            patched => patched.map_err(|problem| step.reject(problem))?,
        };
        Ok(self.rewrite(step, step.at, NewText { splices, ..NewText::default() })?)
    }

    /// Returns the replacement of all bytes of a file by the result of a binary patch.
    fn patched(&self, step: &Step<'p>, binary: &Binary<'_>, file: &Loaded) -> Checked<Splices> {
        self.check_binary(step, binary)?;
        let new = binary::patched(binary, &file.bytes)?;
        let mut splices = Splices::new();
        splices.push(0..file.bytes.len(), new);
        Ok(splices)
    }

    /// Checks the sizes of the files in a binary patch and of its result.
    fn check_binary(&self, step: &Step<'p>, binary: &Binary<'_>) -> Checked<()> {
        let parts = [Some(binary.forward), binary.reverse].into_iter().flatten();
        let size = parts.map(|part| part.size.max(part.file_size)).max().unwrap_or_default();
        let limit = self.options.max_file_size;
        if size > limit {
            let path = step.at.text.to_string();
            return Err(Problem::Guard(fs_guard::Error::TooLarge { path, size, limit }));
        }
        Ok(())
    }

    /// Locates the hunks of a section in the base of its file, and carries them to the file.
    fn carry(
        &mut self,
        step: &Step<'p>,
        hunks: &'p [Hunk<'p>],
        now: &Loaded,
        base: &[u8],
    ) -> Result<(), Rejects> {
        let edit = self.edit_of_base(step, hunks, now, base)?;
        self.blank_at_eof.clone_from(&edit.blank_at_eof);
        let path = &step.at.text;
        let Carried { splices, hunks: carried } = carry(base, &now.bytes, &edit)
            .map_err(|conflicts| builder::conflicting(path, conflicts))?;
        self.base.leave(&now.path, Some(Arc::new(edit.apply(base))));
        let mut text = NewText { splices, ..NewText::default() };
        for carried in carried {
            if let Some(placed) = edit.placed.iter().find(|placed| placed.hunk == carried.hunk) {
                let first_line = *carried.to.start();
                let line_count = carried.to.end() + 1 - first_line;
                let mut placed = placed.clone();
                placed.first_line = first_line;
                placed.line_count = line_count;
                text.notes.extend(notes_of(step, &placed));
                text.placed.push(placed);
            }
            let hunk = step.section.place_in_text(carried.hunk);
            text.notes.push(PlanNote::carried(CarriedHunk { hunk, ..carried }, path));
        }
        text.blank_at_eof = edit.blank_at_eof;
        Ok(self.rewrite(step, step.at, text)?)
    }

    /// Returns the edit of the base of a file by the hunks of a section.
    fn edit_of_base(
        &mut self,
        step: &Step<'p>,
        hunks: &'p [Hunk<'p>],
        now: &Loaded,
        base: &[u8],
    ) -> Result<Edit, Rejects> {
        let text = self.texts.of(&now.path, base, hunks);
        let text = text.ok_or_else(|| step.reject(binary(now)))?;
        // Lines of other encodings are not compared as bytes, and a text that is replaced wherever it
        // is may stand in more places now.
        let is_everywhere = hunks.iter().any(|hunk| hunk.extent == Extent::EveryText);
        if text.encoding().is_some() || is_everywhere {
            return Err(step.reject(stale(base, now)).into());
        }
        // Carrying finds out what is there already.
        let placement = Rules { skip_applied: false, ..self.options.placement.clone() };
        let rules = EditRules { placement: &placement, ..self.edit_rules(step) };
        let edited = edit_text(&text, hunks, rules);
        let checked = self.files().cancellation().check();
        checked.map_err(|error| step.reject(error.into()))?;
        match edited {
            Ok(edit) => Ok(edit),
            // The author did not see the expected version either, so its lines explain nothing.
            Err(_) if self.options.base.is_none() => Err(step.reject(stale(base, now)).into()),
            Err(rejects) => Err(self.rejected(step, &now.path, rejects)),
        }
    }

    /// Makes the rejects of hunks without a place in the file at `path`.
    fn rejected(&mut self, step: &Step<'p>, path: &RelPath, rejects: Vec<HunkReject>) -> Rejects {
        let after_section = self.left_by(step, path);
        let rejects = rejects.into_iter().map(|HunkReject { hunk, patch_line, reason, .. }| {
            let reason = self.explanations.room.fit(reason);
            let problem = self.elsewhere(step, path, &step.section.hunks()[hunk], reason);
            Reject {
                hunk: Some(hunk),
                patch_line: Some(patch_line),
                after_section,
                ..step.reject(problem)
            }
        });
        Rejects::new(rejects.collect()).expect("hunks that are rejected have reasons")
    }

    /// Returns the section that left a file as a step finds it, where that is not as it is on disk.
    fn left_by(&mut self, step: &Step<'p>, path: &RelPath) -> Option<usize> {
        let earlier = &self.patch.sections()[..step.index];
        let left = earlier.iter().rposition(|section| names(section, path.as_str()))?;
        let now = self.builder.load(&step.at.text).ok()??;
        let is_changed = self.builder.bytes_before(path).is_none_or(|before| *before != *now.bytes);
        is_changed.then(|| self.patch.place_in_text(left))
    }

    /// Looks for the lines of a rejected hunk in the other files of the patch.
    fn elsewhere(
        &mut self,
        step: &Step<'p>,
        path: &RelPath,
        hunk: &'p Hunk<'p>,
        reason: RejectReason,
    ) -> Problem {
        if !matches!(reason, RejectReason::ContextNotFound { .. })
            || hunk.old_lines().count() < 2
            || self.explanations.looked_elsewhere == LOOKED_FOR_ELSEWHERE
        {
            return Problem::Hunk(reason);
        }
        self.explanations.looked_elsewhere += 1;
        let patch = self.patch;
        let others = patch
            .sections()
            .iter()
            .enumerate()
            .filter(|(other, section)| *other != step.index && !section.hunks().is_empty());
        for (_, section) in others.take(OTHER_FILES) {
            let Ok(other) = self.files().check(&section.path.text, Access::Update) else {
                continue;
            };
            if &other == path {
                continue;
            }
            let Some(bytes) = self.builder.bytes_before(&other) else { continue };
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

    fn finish(mut self) -> Result<Plan, Rejects> {
        let patch = self.patch;
        let files = self.files().clone();
        self.builder.set_carried_bases(self.base.left());
        let mut rejects = self.rejects;
        match self.builder.finish() {
            Ok(plan) if rejects.is_empty() => return Ok(plan),
            Ok(_) => {}
            Err(more) => rejects.extend(more.into_iter().map(|one| of_last_section(one, patch))),
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

/// Returns the text of a file after the hunks of a section.
fn new_text(step: &Step<'_>, edited: Edited) -> NewText {
    let Edited { edit, sha256, size, .. } = edited;
    NewText {
        splices: edit.splices,
        outcome: Some((sha256, size)),
        notes: edit.placed.iter().flat_map(|placed| notes_of(step, placed)).collect(),
        placed: edit.placed,
        blank_at_eof: edit.blank_at_eof,
    }
}

/// Returns the notes about the place of a hunk.
fn notes_of(step: &Step<'_>, placed: &Placed) -> impl Iterator<Item = PlanNote> {
    placed.notes.iter().map(|note| PlanNote::Hunk {
        path: step.at.text.to_string(),
        hunk: step.section.place_in_text(placed.hunk),
        note: note.clone(),
    })
}

/// Returns whether a section changes lines of the file at a path.
fn updates(section: &Section<'_>, path: &str) -> bool {
    matches!(&section.operation, SectionOperation::Update { hunks, .. } if !hunks.is_empty())
        && section.destination().is_none_or(|to| plain(&to.text) != path)
}

/// Returns the problem with a submodule, unless the new commit is there already.
fn unless_at_new(submodule: Submodule<'_>, found: &str, problem: Problem) -> Problem {
    if submodules::is_commit(found, submodule.new) {
        return Problem::SectionApplied(SectionDone::AtCommit);
    }
    problem
}

/// Names the section after which a file is refused.
fn of_last_section(reject: Reject, patch: &Patch) -> Reject {
    let is_of_contents = matches!(
        reject.problem,
        Problem::Syntax(_) | Problem::Placeholder(_) | Problem::NotFormatted(_)
    );
    if !is_of_contents {
        return reject;
    }
    let sections = patch.sections();
    let last = sections.iter().rposition(|section| {
        plain(&section.destination().unwrap_or(&section.path).text) == reject.path
    });
    let Some(index) = last else { return reject };
    let patch_line = Some(sections[index].line());
    Reject { section: Some(patch.place_in_text(index)), patch_line, ..reject }
}

/// Returns both errors of a section together.
fn both<T>(placed: Result<(), Reject>, edited: Result<T, Rejects>) -> Result<T, Rejects> {
    match (placed, edited) {
        (Ok(()), edited) => edited,
        (Err(reject), Ok(_)) => Err(reject.into()),
        (Err(reject), Err(more)) => Err(Rejects::from(reject).and(more)),
    }
}

/// Returns the problem of a file other than the one its author saw.
fn stale(base: &[u8], now: &Loaded) -> Problem {
    Problem::Stale { expected: Expected::Hash(Sha256::of(base)), actual: Some(now.sha256()) }
}

fn binary(file: &Loaded) -> Problem {
    let utf16 = unmarked_utf16(&file.bytes);
    Problem::Binary { size: file.bytes.len() as u64, sha256: file.sha256(), utf16 }
}

/// Returns the number for `-p` with which the files of a diff exist, while none exists as
/// the patch was read.
fn parts_too_many(files: &Files, patch: &Patch, rejects: &[Reject]) -> Option<usize> {
    let all_missing = rejects
        .iter()
        .all(|reject| matches!(reject.problem, Problem::Missing | Problem::MissingParent { .. }));
    if !is_diff(patch) || !all_missing {
        return None;
    }
    let read: Vec<&Spanned<'_>> = patch
        .sections()
        .iter()
        .filter(|section| !matches!(section.operation, SectionOperation::Add(_)))
        .map(|section| &section.path)
        .collect();
    let first = read.first()?;
    let parts = first.text.matches('/').count();
    let written = String::from_utf8_lossy(patch.bytes(first.span.clone())).into_owned();
    // Git's lines of a rename or a copy have no prefix, so one part less of them is left out.
    let start = first.span.start;
    let moves = patch.bytes(start.saturating_sub(5)..start) == b"from ";
    let lost = written.matches('/').count().checked_sub(parts)? + usize::from(moves);
    let more = (1..=parts).find(|more| {
        read.iter().all(|path| {
            let rest = path.text.splitn(more + 1, '/').nth(*more);
            rest.is_some_and(|rest| is_file(files, rest))
        })
    })?;
    Some(lost + more)
}

/// Returns whether a patch was read from a diff. Diffs do not show directories. All sections have
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

/// Returns how the missing file of a step can be made. A diff with old lines cannot make one.
fn new_file(patch: &Patch, step: &Step<'_>) -> Option<NewFile> {
    let Contents::Hunks(hunks) = step.contents else { return None };
    if step.deed != Deed::Update {
        return None;
    }
    let mut lines = hunks.iter().flat_map(|hunk| &hunk.lines);
    let has_old_lines = lines.any(|line| line.kind != LineKind::Insert);
    if !hunks.first()?.endings.is_of_diff() {
        return Some(NewFile::Section { has_old_lines });
    }
    let span = step.section.span.clone();
    // The path is in this line, or in one above or below.
    let before = patch.bytes(span.start..step.at.span.start);
    let path = before.iter().filter(|byte| **byte == b'\n').count();
    let mut lines = patch.bytes(span).split(|byte| *byte == b'\n');
    let old_name = lines.position(|line| line.starts_with(b"--- ")).filter(|_| !has_old_lines)?;
    let line = step.at.line + u32::try_from(old_name).ok()?;
    Some(NewFile::Diff { line: line.checked_sub(u32::try_from(path).ok()?)? })
}

/// Returns whether `hunks` delete exactly the lines of the file, byte for byte.
fn is_all_of(source: &[u8], hunks: &[Hunk<'_>]) -> bool {
    let unmarked = hunks.iter().any(|hunk| hunk.endings == LineEndings::Unmarked);
    let mut rest = Some(source);
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        let deletes = line.kind == LineKind::Delete;
        rest = rest.filter(|_| deletes).and_then(|rest| {
            let rest = rest.strip_prefix(line.text)?;
            // A diff without carriage returns may have lost them.
            let crlf = rest.strip_prefix(b"\r\n").filter(|_| unmarked && !line.no_newline);
            crlf.or_else(|| rest.strip_prefix(line.ending()))
        });
    }
    rest.is_some_and(<[u8]>::is_empty)
}
