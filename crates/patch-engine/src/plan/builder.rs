//! The only way to make a plan: changes are made one after the other, each to the files as the
//! ones before leave them.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use fs_guard::{Access, FileKind, RelPath, Sha256};
use patch_grammar::Patch;
use patch_grammar::binary::is_binary;
use patch_text::carry::{Carried, Conflict, carry};
use patch_text::locate::Placed;
use patch_text::locate::edit::Edit;
use patch_text::text::splices::Splices;
use workspace_trash::TransactionId;

use super::contents;
use super::disk::Disk;
use super::{
    Authority, Image, Map, Mode, NewDir, Plan, PlanNote, PostImage, PreImage, Transition, Undone,
};
use crate::files::Files;
use crate::plan::links::LinkTexts;
use crate::plan::near::Near;
use crate::plan::options::Options;
use crate::plan::origins::Origins;
use crate::plan::overlay::{EntryState, Lifted, Loaded, New, Overlay, OverlayEntry, loses_all};
use crate::plan::paths::Named;
use crate::plan::reject::{Checked, Problem, Reject, Rejects};
use crate::plan::version::FileVersion;

/// The most files of a directory to delete in one plan.
pub const MAX_DELETED: usize = 10_000;

/// Makes a plan of changes, each made to the result of the ones before.
///
/// A builder reads files and writes none. The rules of the guard and of [`Options`] are applied to
/// each change. Patches, the operations of tools, undo and restore are all planned so.
///
/// ```
/// use patch_engine::commit::Workspace;
/// use patch_engine::{Options, PlanBuilder};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = |name: &str| dir.path().join(name);
/// # std::fs::write(path("old.txt"), "one\n")?;
/// let workspace = Workspace::open(dir.path(), patch_engine::policy())?;
/// let options = Options::default();
/// let mut builder = PlanBuilder::new(workspace.root(), &options);
/// builder.rename("old.txt", "new.txt")?;
/// builder.create("note.txt", b"two\n".to_vec())?;
/// let plan = builder.finish()?;
/// assert_eq!(plan.changes().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PlanBuilder<'o> {
    overlay: Overlay<'o>,
    near: Near,
    /// The patch whose changes are made.
    patch: Option<Patch>,
    /// Its sections whose changes are not made.
    left_out: BTreeSet<usize>,
    placed: Vec<(usize, Placed)>,
    undoing: Option<Undoing>,
    /// Directories to create whether a file needs them or not, and those with permissions of their
    /// own.
    restored_dirs: Vec<NewDir>,
    remove_dirs: Vec<RelPath>,
    notes: Vec<PlanNote>,
    carried_bases: Vec<(RelPath, Arc<Vec<u8>>)>,
}

/// The transactions to undo. The paths in their journals are not checked again.
#[derive(Debug)]
pub(crate) struct Undoing {
    pub(crate) undone: Undone,
    /// The journal is this program's own.
    pub(crate) authentic: bool,
    /// The other transactions, older ones.
    pub(crate) also: Vec<TransactionId>,
    /// The files that go back: the path of each after the transaction, and the one before.
    pub(crate) moved_back: Vec<(String, String)>,
}

/// The new text of a file.
#[derive(Debug, Default)]
pub(super) struct NewText {
    pub(super) splices: Splices,
    /// The hash, unless computed later, and the size, where they are known.
    pub(super) outcome: Option<(Option<Sha256>, u64)>,
    /// The places of the section's hunks.
    pub(super) placed: Vec<Placed>,
    pub(super) notes: Vec<PlanNote>,
    /// The lines of the patch with blank lines for the end of the file.
    pub(super) blank_at_eof: Vec<u32>,
}

impl<'o> PlanBuilder<'o> {
    /// Starts with the files as they are.
    #[must_use]
    pub fn new(files: impl Into<Files>, options: &'o Options) -> Self {
        Self::with_capacity(files.into(), options, 0)
    }

    pub(crate) fn with_capacity(files: Files, options: &'o Options, paths: usize) -> Self {
        Self {
            overlay: Overlay::new(files, options, paths),
            near: Near::default(),
            patch: None,
            left_out: BTreeSet::new(),
            placed: Vec::new(),
            undoing: None,
            restored_dirs: Vec::new(),
            remove_dirs: Vec::new(),
            notes: Vec::new(),
            carried_bases: Vec::new(),
        }
    }

    /// Reads a file to be changed; `None` when nothing is there.
    ///
    /// # Errors
    ///
    /// When the guard refuses the path, or the file is too large.
    pub fn load(&mut self, path: &str) -> Result<Option<Loaded>, Reject> {
        self.overlay.load(path).map_err(self.at(path))
    }

    /// Plans a file with these bytes.
    ///
    /// # Errors
    ///
    /// When something is there (and the options do not replace it), the guard refuses the path, or
    /// a directory is missing (and the options do not create it).
    pub fn create(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), Reject> {
        self.create_from(path, PostImage::kept(bytes))
    }

    /// Plans a file or symbolic link as it was at one time, with its permission bits.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create).
    ///
    /// # Panics
    ///
    /// When the bytes of the file are not known.
    pub fn bring_back(&mut self, path: &str, file: &FileVersion) -> Result<(), Reject> {
        let bytes = file.bytes.as_ref().expect("the bytes are known");
        let post = PostImage {
            mode: Mode::Exactly(file.mode),
            link: file.link,
            rewritten: false,
            ..PostImage::new(Image::Kept(Arc::clone(bytes)), file.sha256, bytes.len() as u64)
        };
        self.create_from(path, post)
    }

    /// The same, with an image.
    pub(crate) fn create_from(&mut self, path: &str, post: PostImage) -> Result<(), Reject> {
        self.overlay.create(path, post).map_err(self.at(path))
    }

    /// Plans a copy of a file from before all changes: in a git diff the order of the files
    /// does not count.
    ///
    /// # Errors
    ///
    /// When there is no file to copy, and the errors of [`create`](Self::create).
    pub fn copy(&mut self, from: &str, to: &str) -> Result<(), Reject> {
        let file = self.load_original(from)?;
        self.copy_of(file, to)
    }

    /// Plans a copy of a loaded file.
    pub(super) fn copy_of(&mut self, file: Loaded, to: &str) -> Result<(), Reject> {
        let Loaded { path, bytes, hash, mode } = file;
        self.overlay.check_copy(&path, to).map_err(self.at(to))?;
        let size = bytes.len() as u64;
        self.create_from(to, PostImage { mode, ..PostImage::new(Image::Kept(bytes), hash, size) })
    }

    /// Plans replacements in a file. Nothing is planned when the result is the same.
    ///
    /// # Errors
    ///
    /// When there is no such file, or the guard refuses the path.
    ///
    /// # Panics
    ///
    /// When a replacement reaches beyond the end of the file.
    pub fn update(&mut self, path: &str, splices: Splices) -> Result<(), Reject> {
        self.overlay.update(path, splices, None).map_err(self.at(path))
    }

    /// Plans the new text of a file.
    pub(super) fn rewrite(
        &mut self,
        section: usize,
        path: &str,
        text: NewText,
    ) -> Result<(), Reject> {
        let NewText { splices, outcome, placed, notes, .. } = text;
        self.notes.extend(notes);
        self.placed.extend(placed.into_iter().map(|placed| (section, placed)));
        self.overlay.update(path, splices, outcome).map_err(self.at(path))
    }

    /// Plans whether a file can be run.
    ///
    /// # Errors
    ///
    /// When there is no such file, or the guard refuses the path.
    pub fn set_executable(&mut self, path: &str, yes: bool) -> Result<(), Reject> {
        self.overlay.set_executable(path, yes).map_err(self.at(path))
    }

    /// Plans an edit of `base`, an earlier version of a file, [carried](crate::carry) to the file
    /// as it is now.
    ///
    /// # Errors
    ///
    /// Every stretch with a conflict; and the errors of [`update`](Self::update).
    ///
    /// # Panics
    ///
    /// When the edit was not made for `base`.
    pub fn carry(&mut self, path: &str, base: &[u8], edit: &Edit) -> Result<(), Rejects> {
        let file = self.load(path)?.ok_or_else(|| self.reject(path, Problem::Missing))?;
        let Carried { splices, hunks } =
            carry(base, &file.bytes, edit).map_err(|conflicts| conflicting(path, conflicts))?;
        self.update(path, splices)?;
        self.notes.extend(hunks.into_iter().map(|hunk| PlanNote::carried(hunk, path)));
        self.carried_bases.push((file.path, Arc::new(edit.apply(base))));
        Ok(())
    }

    /// Plans the deletion of a file or link.
    ///
    /// # Errors
    ///
    /// When nothing is there, or the guard refuses the path.
    pub fn remove(&mut self, path: &str) -> Result<(), Reject> {
        self.overlay.remove(path).map_err(self.at(path))
    }

    /// Plans the deletion of a directory with everything inside, or of a file or link.
    ///
    /// # Errors
    ///
    /// When nothing is there, there are more than [`MAX_DELETED`] files, or the guard refuses one.
    pub fn remove_all(&mut self, path: &str) -> Result<(), Reject> {
        let seen = self.overlay.files.check(path, Access::Delete).and_then(|target| {
            let seen = self.overlay.files.metadata(&target)?;
            Ok((target, seen))
        });
        let (target, seen) = seen.map_err(|error| Reject::of(path, Problem::Guard(error)))?;
        if seen.is_none_or(|seen| seen.kind != FileKind::Directory) {
            return self.remove(path);
        }
        let mut files = Vec::new();
        collect(&self.overlay.files, &target, &target, &mut files, &mut self.remove_dirs)?;
        for file in files {
            let removed = self.overlay.remove_within(&file);
            removed.map_err(|problem| Reject::of(file.as_str(), problem))?;
        }
        Ok(())
    }

    /// Plans to move a file.
    ///
    /// # Errors
    ///
    /// When there is no file, something is at the new path (and the options do not replace it), the
    /// options forbid moves, or the guard refuses one of the paths.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), Reject> {
        let found = self.overlay.find(from).map_err(self.at(from))?;
        self.overlay.rename(found, to).map_err(self.at(to))
    }

    /// Takes the file at a path away, to be [put](Self::put) elsewhere.
    pub(super) fn lift(&mut self, from: &str) -> Result<Lifted, Reject> {
        self.overlay.lift(from).map_err(self.at(from))
    }

    /// Plans the new place of a moved file.
    pub(super) fn put(&mut self, lifted: Lifted, to: &str) -> Result<(), Reject> {
        self.overlay.put(lifted, to).map_err(self.at(to))
    }

    /// Plans the changes of a patch.
    pub(crate) fn of_patch(&mut self, patch: Patch) {
        self.placed.reserve_exact(patch.hunk_count());
        self.overlay.entries.reserve(patch.sections().len());
        self.patch = Some(patch);
    }

    /// Leaves out these sections of the patch.
    pub(super) fn leave_out(&mut self, sections: BTreeSet<usize>) {
        self.left_out = sections;
    }

    /// Lets new files take the place of empty ones: an editor makes a file before a model writes it.
    pub(super) fn fill_empty(&mut self) {
        self.overlay.fills_empty = true;
    }

    /// Goes by the rules of a diff: a diff says what was there, and shows no directories.
    pub(super) fn of_diff(&mut self) {
        self.overlay.of_diff = true;
    }

    /// Adds a note for the reader.
    pub(crate) fn note(&mut self, note: PlanNote) {
        self.notes.push(note);
    }

    /// The same, with several.
    pub(crate) fn note_all(&mut self, notes: impl IntoIterator<Item = PlanNote>) {
        self.notes.extend(notes);
    }

    /// Sets the files as their author expects them, where they will differ.
    pub(super) fn set_carried_bases(&mut self, bases: Vec<(RelPath, Arc<Vec<u8>>)>) {
        self.carried_bases = bases;
    }

    /// Puts the places of all hunks in the order of the sections.
    pub(super) fn sort_placed(&mut self) {
        self.placed.sort_by_key(|(index, _)| *index);
    }

    /// Plans to undo transactions.
    pub(crate) fn undo(&mut self, undoing: Undoing) {
        self.undoing = Some(undoing);
    }

    /// Plans to undo the change of one path, where `disk` is now.
    pub(crate) fn restore(&mut self, path: &RelPath, disk: Option<Disk>, post: Option<PostImage>) {
        self.overlay.restore(path, disk, post);
    }

    /// Creates the missing directories of restored files. All removals are known by then: a removed
    /// file may make way for the directory of another file.
    pub(crate) fn create_parents(&mut self) -> Result<(), Reject> {
        for path in self.overlay.order.clone() {
            self.overlay.create_parents(&path).map_err(self.at(path.as_str()))?;
        }
        Ok(())
    }

    /// Sets the permissions of a new directory; with `always` the directory is created even if no
    /// file needs one.
    pub fn restore_dir(&mut self, path: RelPath, mode: u32, always: bool) {
        if always || self.overlay.creates(&path) {
            self.restored_dirs.push(NewDir { path, mode: Some(mode) });
        }
    }

    /// Removes a directory at the end, if empty then. Inner directories come first.
    pub fn remove_dir(&mut self, path: RelPath) {
        self.remove_dirs.push(path);
    }

    /// Returns the files as they are before all changes.
    pub(super) fn files(&self) -> &Files {
        &self.overlay.files
    }

    /// Takes a path checked ahead, and the file there if read ahead, too.
    pub(super) fn offer(&mut self, ahead: Option<(&RelPath, Access, Option<Disk>)>) {
        self.overlay.offer(ahead);
    }

    /// Returns whether the offered file was taken.
    pub(super) fn has_taken_offer(&self) -> bool {
        self.overlay.has_taken_offer()
    }

    /// Checks a path.
    pub(super) fn check(&mut self, path: &str, access: Access) -> Result<RelPath, Reject> {
        self.overlay.check(path, access).map_err(self.at(path))
    }

    /// Returns the hash of the file at a path before all changes.
    pub(super) fn hash_before(&mut self, path: &str) -> Checked<Option<Sha256>> {
        self.overlay.hash_before(path)
    }

    /// Returns the bytes of a file before all changes, if they are in memory.
    pub(super) fn bytes_before(&mut self, path: &RelPath) -> Option<Arc<Vec<u8>>> {
        let entry = self.overlay.entry(path, Access::Update).ok()?;
        entry.disk.as_ref()?.bytes.clone()
    }

    /// Returns the hash of the file or link at a path.
    pub(super) fn hash(&mut self, path: &str, access: Access) -> Result<Option<Sha256>, Reject> {
        self.overlay.hash(path, access).map_err(self.at(path))
    }

    /// Returns whether a file or link is at a path.
    pub(crate) fn exists(&mut self, path: &str, access: Access) -> Result<bool, Reject> {
        self.overlay.exists(path, access).map_err(self.at(path))
    }

    /// Refuses a new file in place of one of another section.
    pub(super) fn check_unused(
        &mut self,
        path: &str,
        index: usize,
        named: &Named<'_>,
    ) -> Result<(), Reject> {
        self.overlay.check_unused(path, index, named).map_err(self.at(path))
    }

    /// Begins another diff: its copies are made of the files as they are now.
    pub(super) fn begin_diff<'s>(&mut self, copied: impl Iterator<Item = &'s str>) {
        self.overlay.begin_diff(copied);
    }

    /// Reads a file in its state before all changes of the diff.
    pub(super) fn load_original(&mut self, path: &str) -> Result<Loaded, Reject> {
        self.overlay.load_original(path).map_err(self.at(path))
    }

    /// Plans a new symbolic link.
    pub(super) fn create_link(&mut self, path: &str, target: Vec<u8>) -> Result<(), Reject> {
        self.overlay.check_link(path, &target).map_err(self.at(path))?;
        self.create_from(path, PostImage::link_to(target))
    }

    /// Returns the text of the symbolic link at a path.
    pub(super) fn link_text(&mut self, path: &str) -> Result<Vec<u8>, Reject> {
        self.overlay.link_text(path).map_err(self.at(path))
    }

    /// Checks the target of a symbolic link against the old text of a section, and returns it.
    pub(super) fn check_target(&mut self, path: &str, old: &[u8]) -> Result<Vec<u8>, Reject> {
        self.overlay.check_target(path, old).map_err(self.at(path))
    }

    /// Plans another target for a symbolic link.
    pub(super) fn change_link(&mut self, path: &str, texts: LinkTexts) -> Result<(), Reject> {
        self.overlay.change_link(path, texts).map_err(self.at(path))
    }

    /// Returns the id of the commit of the submodule at a path; `None` where something else is
    /// there.
    pub(super) fn submodule(&mut self, path: &str) -> Result<Option<String>, Reject> {
        self.overlay.submodule(path).map_err(self.at(path))
    }

    /// Plans a new submodule at the commit of this line.
    pub(super) fn create_submodule(&mut self, path: &str, line: Vec<u8>) -> Result<(), Reject> {
        self.create_from(path, PostImage::submodule(line))
    }

    /// Plans the commit of a known submodule by its line, or the removal of the submodule.
    pub(super) fn set_submodule(
        &mut self,
        path: &str,
        line: Option<Vec<u8>>,
    ) -> Result<(), Reject> {
        let post = line.map(PostImage::submodule);
        self.overlay.set_submodule(path, post).map_err(self.at(path))
    }

    /// Notes the reject of a section about a path, if anything was found out about the path.
    pub(super) fn set_rejected(&mut self, path: &RelPath) {
        self.overlay.set_rejected(path);
    }

    /// Returns whether a section about a path was rejected.
    pub(super) fn is_rejected(&self, path: &RelPath) -> bool {
        self.overlay.is_rejected(path)
    }

    /// Returns the plan of all changes together.
    ///
    /// # Errors
    ///
    /// When the new files would make a directory a git repository, a file does not parse any more
    /// and the options refuse such files, or the work was given up.
    pub fn finish(mut self) -> Result<Plan, Rejects> {
        let options = self.overlay.options;
        self.format()?;
        // Of these not all changes are made.
        let rejected = self.overlay.entries.iter().filter(|(_, entry)| entry.rejected);
        let rejected = rejected.map(|(path, _)| path.clone()).collect();
        let mut plan = self.finish_unread()?;
        contents::check(&mut plan, options, &rejected)?;
        Ok(plan)
    }

    /// Formats the written files, where a formatter is set. Files brought back by an undo or a
    /// restore stay as they were.
    fn format(&mut self) -> Result<(), Rejects> {
        let options = self.overlay.options;
        let Some(formatter) = options.formatter.as_ref().filter(|_| self.undoing.is_none()) else {
            return Ok(());
        };
        let files = self.overlay.files.clone();
        let Some(root) = files.directory() else { return Ok(()) };
        let mut rejects = Vec::new();
        for path in self.overlay.order.clone() {
            let unformatted = self.unformatted(&path);
            let unformatted = unformatted.map_err(|problem| Reject::of(path.as_str(), problem))?;
            let Some((new, bytes)) = unformatted else { continue };
            let formatted = formatter.format(root, &path, &bytes, files.cancellation());
            Rejects::if_cancelled(files.cancellation())?;
            match formatted {
                Ok(Some(formatted)) if formatted.bytes != *bytes => {
                    let by = formatted.by;
                    let replaced = self.overlay.overwrite(&path, new, formatted.bytes);
                    replaced.map_err(|problem| Reject::of(path.as_str(), problem))?;
                    self.notes.push(PlanNote::Formatted { path: path.to_string(), by });
                    // Its author expects the file as written.
                    if !self.carried_bases.iter().any(|(carried, _)| *carried == path) {
                        self.carried_bases.push((path, bytes));
                    }
                }
                Ok(_) => {}
                Err(failure) => {
                    let problem = Problem::NotFormatted(Box::new(failure));
                    rejects.push(Reject::of(path.as_str(), problem));
                }
            }
        }
        Rejects::new(rejects).map_or(Ok(()), Err)
    }

    /// Returns a written text before it is formatted, with its bytes.
    fn unformatted(&mut self, path: &RelPath) -> Checked<Option<(New, Arc<Vec<u8>>)>> {
        let OverlayEntry { state: EntryState::Written(new), disk, rejected: false, .. } =
            &self.overlay.entries[path]
        else {
            return Ok(None);
        };
        let is_written = !matches!(new.post.image, Image::OnDisk(_) | Image::Stored(..));
        if !is_written
            || new.post.link
            || disk.as_ref().is_some_and(|disk| disk.sha256() == new.post.sha256())
        {
            return Ok(None);
        }
        let new = new.clone();
        let bytes = self.overlay.source(path, &new.post)?;
        Ok(Some((new, bytes)).filter(|(_, bytes)| !is_binary(bytes)))
    }

    /// Returns the plan without a look at the contents of the files.
    fn finish_unread(mut self) -> Result<Plan, Rejects> {
        Rejects::if_cancelled(self.overlay.files.cancellation())?;
        if self.undoing.is_none() {
            self.check_no_new_repository()?;
        }
        let (transitions, mut origins) = self.transitions();
        let is_of_diff = self.overlay.of_diff;
        if is_of_diff && self.overlay.files.directory().is_some() {
            self.remove_dirs.extend(emptied(&self.overlay.files, &transitions));
        }
        // The maps below are as large.
        self.overlay.free();
        if let Some(undoing) = &self.undoing {
            check_displaced(&self.overlay.files, &transitions)?;
            infer_moves(&transitions, &undoing.moved_back, &mut origins);
        }
        let before = before(&transitions);
        let restored = std::mem::take(&mut self.restored_dirs);
        let create_dirs = self.overlay.created(restored, &transitions);
        if self.patch.is_some() && !is_of_diff {
            let directories = outermost(&create_dirs);
            if !directories.is_empty() {
                self.notes.push(PlanNote::NewDirectories { directories });
            }
        }
        let undoing = self.undoing;
        let authority = undoing.as_ref().map_or(Authority::Policy, |undoing| Authority::Journal {
            authentic: undoing.authentic,
        });
        Ok(Plan {
            files: self.overlay.files,
            authority,
            transitions,
            before,
            create_dirs,
            remove_dirs: self.remove_dirs,
            undo_of: undoing.as_ref().map(|undoing| undoing.undone),
            also_undone: undoing.map(|undoing| undoing.also).unwrap_or_default(),
            origins,
            changes: OnceLock::new(),
            patch: self.patch,
            left_out: self.left_out,
            placed: self.placed,
            notes: self.notes,
            carried_bases: self.carried_bases,
        })
    }

    /// Refuses new files with which a directory would be a git repository.
    fn check_no_new_repository(&self) -> Result<(), Reject> {
        self.overlay.check_no_new_repository().map_err(|error| {
            let path = error.path().unwrap_or_default().to_owned();
            Reject::of(&path, Problem::Guard(error))
        })
    }

    /// Returns the change of each path, deletions last, and where the moved files came from. Notes
    /// the unchanged files.
    fn transitions(&mut self) -> (Vec<Transition>, Origins) {
        let overlay = &mut self.overlay;
        let mut transitions = Vec::with_capacity(overlay.order.len());
        let mut removals = Vec::new();
        let moves = overlay.order.iter().filter_map(|path| match &overlay.entries[path].state {
            EntryState::Written(new) => new.origin.clone().filter(|origin| origin != path),
            EntryState::AsOnDisk | EntryState::Absent => None,
        });
        let mut origins = Origins::leaving(moves.collect());
        for path in std::mem::take(&mut overlay.order) {
            let OverlayEntry { disk: before, state, .. } =
                overlay.entries.remove(&path).expect("every touched path has an entry");
            match state {
                EntryState::Written(New { post, origin }) => {
                    let origin = origin.filter(|origin| *origin != path);
                    // Where a file moved away, an equal one in its place is a new file.
                    let stays = origin.is_none() && !origins.leaves(&path);
                    if stays && before.as_ref().is_some_and(|before| is_same(before, &post)) {
                        self.notes.push(PlanNote::Unchanged { path: path.to_string() });
                        continue;
                    }
                    origin.into_iter().for_each(|from| origins.insert(transitions.len(), from));
                    transitions.push(Transition { path, before, after: Some(post) });
                }
                EntryState::Absent if before.is_some() => {
                    removals.push(Transition { path, before, after: None })
                }
                EntryState::Absent | EntryState::AsOnDisk => {}
            }
        }
        transitions.append(&mut removals);
        (transitions, origins)
    }

    /// Makes rejects of a path.
    pub(super) fn at(&self, path: &str) -> impl FnOnce(Problem) -> Reject {
        |problem| self.reject(path, problem)
    }

    /// Makes the reject of a path, with the path probably meant.
    pub(super) fn reject(&self, path: &str, problem: Problem) -> Reject {
        let near = self.near.path(&self.overlay.files, path, &problem);
        Reject { near, ..Reject::of(path, problem) }
    }
}

/// Returns the transition of each path where something is before.
fn before(transitions: &[Transition]) -> Map<RelPath, usize> {
    transitions
        .iter()
        .enumerate()
        .filter(|(_, transition)| transition.before.is_some())
        .map(|(index, transition)| (transition.path.clone(), index))
        .collect()
}

/// Refuses to displace files protected by the guard. The files of a patch were checked when they
/// were read.
fn check_displaced(files: &Files, transitions: &[Transition]) -> Result<(), Rejects> {
    let rejects = transitions.iter().filter_map(|transition| {
        let error = transition.check_displaced(files).err()?;
        Some(Reject::of(transition.path.as_str(), Problem::Guard(error)))
    });
    Rejects::new(rejects.collect()).map_or(Ok(()), Err)
}

/// Makes the rejects of an edit in conflict with the current file.
pub(super) fn conflicting(path: &str, conflicts: Vec<Conflict>) -> Rejects {
    let rejects = conflicts.into_iter().map(|conflict| {
        let hunk = conflict.hunks.first().copied();
        Reject { hunk, ..Reject::of(path, Problem::Conflict(Box::new(conflict))) }
    });
    Rejects::new(rejects.collect()).expect("an edit that is not carried has conflicts")
}

/// Returns the directories outside all others of these.
fn outermost(dirs: &[NewDir]) -> Vec<String> {
    let all: HashSet<&str> = dirs.iter().map(|dir| dir.path.as_str()).collect();
    let outermost = dirs
        .iter()
        .filter(|dir| dir.path.parent().is_none_or(|parent| !all.contains(parent.as_str())));
    outermost.map(|dir| dir.path.to_string()).collect()
}

/// Returns whether a post-image is the same as the pre-image. A new file in place of a
/// deleted one has only the right to be run to compare: the other bits are up to the umask.
pub(crate) fn is_same(before: &PreImage, post: &PostImage) -> bool {
    if post.is_submodule() || before.metadata.kind == FileKind::Submodule {
        return post.is_submodule()
            && before.metadata.kind == FileKind::Submodule
            && post.has_bytes_of(before);
    }
    let kept = before.metadata.kept_mode();
    let mode = match post.mode {
        Mode::Exactly(mode) => mode == kept,
        Mode::Default { executable } => executable == (kept & 0o100 != 0),
    };
    (mode || post.link)
        && (before.metadata.kind == FileKind::Symlink) == post.link
        && post.has_bytes_of(before)
}

/// Finds the moves of an undo: those of its transaction, backwards, and for several
/// transactions a deleted file and a created one with the same bytes.
fn infer_moves(transitions: &[Transition], moved_back: &[(String, String)], origins: &mut Origins) {
    if !moved_back.is_empty() {
        let at: Map<&str, usize> = transitions
            .iter()
            .enumerate()
            .map(|(index, transition)| (transition.path.as_str(), index))
            .collect();
        for (from, to) in moved_back {
            if let Some(&from) = at.get(&**from)
                && let Some(&to) = at.get(&**to)
                && transitions[from].before.is_some()
                && transitions[to].after.is_some()
            {
                origins.insert(to, transitions[from].path.clone());
            }
        }
    }
    let goes = transitions.iter().filter(|transition| transition.after.is_none());
    let goes = goes.filter(|transition| !origins.leaves(&transition.path));
    // The first of several comes last.
    let mut goes_with: Map<Option<Sha256>, Vec<&RelPath>> = Map::default();
    for gone in goes.rev() {
        goes_with.entry(gone.before()).or_default().push(&gone.path);
    }
    for (index, transition) in transitions.iter().enumerate() {
        if transition.before.is_none()
            && origins.of(index).is_none()
            && let Some(from) = goes_with.get_mut(&transition.after()).and_then(Vec::pop)
        {
            origins.insert(index, from.clone());
        }
    }
}

/// Returns the directories without files afterwards, innermost first.
fn emptied(files: &Files, transitions: &[Transition]) -> Vec<RelPath> {
    let stay = transitions.iter().filter(|transition| transition.after.is_some());
    let used: HashSet<RelPath> = stay.flat_map(|transition| transition.path.ancestors()).collect();
    let gone = transitions.iter().filter(|transition| transition.after.is_none());
    let gone: HashSet<&RelPath> = gone.map(|transition| &transition.path).collect();
    let above: HashSet<RelPath> = gone.iter().flat_map(|path| path.ancestors()).collect();
    let above = above.into_iter().filter(|dir| !used.contains(dir));
    let mut emptied: Vec<RelPath> =
        above.filter(|dir| loses_all(files, dir, &|path: &RelPath| gone.contains(path))).collect();
    emptied.sort_unstable_by(|one, other| other.cmp(one));
    emptied
}

/// Collects the files beneath the directory `dir`, and its directories, innermost first; `all` is
/// the directory to delete.
fn collect(
    files_of: &Files,
    all: &RelPath,
    dir: &RelPath,
    files: &mut Vec<RelPath>,
    dirs: &mut Vec<RelPath>,
) -> Result<(), Reject> {
    let mut entries = files_of
        .read_dir(Some(dir))
        .map_err(|error| Reject::of(dir.as_str(), Problem::Guard(error)))?;
    entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    for (name, kind) in entries {
        let path = [dir.as_str().as_bytes(), b"/", &name[..]].concat();
        let shown = String::from_utf8_lossy(&path).into_owned();
        let path = files_of
            .check_bytes(&path, Access::Delete)
            .map_err(|error| Reject::of(&shown, Problem::Guard(error)))?;
        match kind {
            FileKind::Directory => collect(files_of, all, &path, files, dirs)?,
            _ => files.push(path),
        }
        if files.len() > MAX_DELETED {
            return Err(Reject::of(all.as_str(), Problem::TooManyFiles { limit: MAX_DELETED }));
        }
    }
    dirs.push(dir.clone());
    Ok(())
}
