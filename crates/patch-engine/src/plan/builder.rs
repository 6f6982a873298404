//! The only way to make a plan: an overlay over the files of a workspace, in which changes are made
//! one after the other.
//!
//! Patches, journals to be undone and the file tools all change a plan by its few verbs (`load`,
//! `create`, `update`, `copy`, `rename`, `remove` and their like), and by nothing else.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use fs_guard::{Access, FileKind, Metadata, RelPath, Sha256};
use patch_grammar::Patch;
use patch_grammar::binary::is_binary;
use workspace_trash::TransactionId;

use super::contents;
use super::disk::{Disk, load};
use super::{
    Authority, Image, Map, Mode, NewDir, Plan, PlanNote, PostImage, PreImage, Transition, Undone,
};
use crate::carry::{Carried, CarriedHunk, Conflict, carry};
use crate::locate::Placed;
use crate::locate::edit::Edit;
use crate::plan::hash::LazyHash;
use crate::plan::near::Near;
use crate::plan::options::Options;
use crate::plan::origins::Origins;
use crate::plan::reject::{Checked, Problem, Reject, Rejects};
use crate::plan::submodules;
use crate::text::files::Files;
use crate::text::splices::Splices;

/// The most files that one plan deletes with a directory.
pub const MAX_DELETED: usize = 10_000;

/// Makes a plan of changes, each of which is made to the result of the ones before it.
///
/// It reads files and writes none. The rules of the guard and of [`Options`] are applied to each
/// change. A patch, the operations of tools, undo and restore all use it.
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
    pub(super) files: Files,
    pub(super) options: &'o Options,
    entries: Map<RelPath, OverlayEntry>,
    /// Paths in the order they were first written.
    order: Vec<RelPath>,
    /// Folded spellings of all paths.
    folded: Map<String, RelPath>,
    /// The file on disk that is moved right now: its new path may differ from it by case or Unicode
    /// normalisation alone.
    moving: Option<RelPath>,
    /// Such new paths, by the file that had the other spelling.
    respelt: Map<RelPath, RelPath>,
    /// The path that was checked last, and for what: a section names its path to several verbs.
    pub(super) checked: Option<(RelPath, Access)>,
    /// A file that was read ahead; taken when its path is asked for.
    pub(super) offered: Option<(RelPath, Disk)>,
    near: Near,
    /// The directories to be created, outer ones first, and the same to look them up.
    create_dirs: Vec<RelPath>,
    directories: HashSet<RelPath>,
    /// Directories that are created whether a file needs them or not, and those with permissions of
    /// their own.
    restored_dirs: Vec<NewDir>,
    remove_dirs: Vec<RelPath>,
    /// Directories that lose their last file are removed, and one may become a file.
    pub(super) of_diff: bool,
    authority: Authority,
    undo_of: Option<Undone>,
    pub(crate) also_undone: Vec<TransactionId>,
    /// What an undo moves back: from the path to which its transaction moved a file, and where to.
    pub(crate) moved_back: Vec<(String, String)>,
    /// How many bytes of files are kept in memory.
    kept: u64,
    /// The patch whose changes are made.
    pub(crate) patch: Option<Patch>,
    /// Its sections whose changes are not made.
    pub(super) left_out: BTreeSet<usize>,
    pub(super) placed: Vec<(usize, Placed)>,
    pub(crate) notes: Vec<PlanNote>,
    pub(super) carried_bases: Vec<(RelPath, Arc<Vec<u8>>)>,
    /// The files that the current diff copies, as the diffs before it left them; empty in the first
    /// one, which copies what is on the disk.
    before_diff: Map<RelPath, Option<Loaded>>,
}

/// One path of the overlay.
#[derive(Debug)]
pub(crate) struct OverlayEntry {
    pub(crate) disk: Option<Disk>,
    state: EntryState,
    /// Its bytes are counted as kept.
    kept: bool,
    /// A section about it was rejected; further rejects about it would only repeat that.
    rejected: bool,
}

/// A file that was taken from its path.
#[derive(Debug)]
pub(super) struct Lifted {
    pub(super) path: RelPath,
    new: New,
}

/// What the changes so far leave at a path.
#[derive(Debug)]
enum EntryState {
    AsOnDisk,
    Absent,
    Written(New),
}

/// A file that was written.
#[derive(Debug, Clone)]
struct New {
    post: PostImage,
    /// The path on disk that it moved from.
    origin: Option<RelPath>,
}

impl OverlayEntry {
    fn new(disk: Option<Disk>) -> Self {
        Self { disk, state: EntryState::AsOnDisk, kept: false, rejected: false }
    }

    /// Returns the hash of the file or link that is at this path now.
    fn hash(&self) -> Option<Sha256> {
        match &self.state {
            EntryState::AsOnDisk => self.disk.as_ref().map(PreImage::sha256),
            EntryState::Absent => None,
            EntryState::Written(new) => Some(new.post.sha256()),
        }
    }

    /// Returns whether a file or link is at this path now.
    pub(super) fn exists(&self) -> bool {
        match &self.state {
            EntryState::AsOnDisk => self.disk.is_some(),
            EntryState::Absent => false,
            EntryState::Written(_) => true,
        }
    }
}

/// A file as it was read to be changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// Its path.
    pub path: RelPath,
    /// Its bytes.
    pub bytes: Arc<Vec<u8>>,
    hash: LazyHash,
    mode: Mode,
}

impl Loaded {
    /// Returns the hash of the file.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.hash.get()
    }

    /// Returns whether its owner may run it.
    pub(super) fn is_executable(&self) -> bool {
        self.mode.exact().is_some_and(|mode| mode & 0o100 != 0)
    }

    /// Returns the same with the bytes of another version, which have this hash.
    #[must_use]
    pub fn of_version(self, bytes: Arc<Vec<u8>>, sha256: Sha256) -> Self {
        Self { bytes, hash: sha256.into(), ..self }
    }
}

impl<'o> PlanBuilder<'o> {
    /// Starts with the files as they are.
    #[must_use]
    pub fn new(files: impl Into<Files>, options: &'o Options) -> Self {
        Self::with_capacity(files.into(), options, 0)
    }

    pub(crate) fn with_capacity(files: Files, options: &'o Options, paths: usize) -> Self {
        Self {
            files,
            options,
            entries: Map::with_capacity_and_hasher(paths, Default::default()),
            order: Vec::with_capacity(paths),
            folded: Map::with_capacity_and_hasher(paths, Default::default()),
            moving: None,
            respelt: Map::default(),
            checked: None,
            offered: None,
            near: Near::default(),
            create_dirs: Vec::new(),
            directories: HashSet::new(),
            restored_dirs: Vec::new(),
            remove_dirs: Vec::new(),
            of_diff: false,
            authority: Authority::Policy,
            undo_of: None,
            also_undone: Vec::new(),
            moved_back: Vec::new(),
            kept: 0,
            patch: None,
            left_out: BTreeSet::new(),
            placed: Vec::new(),
            notes: Vec::new(),
            carried_bases: Vec::new(),
            before_diff: Map::default(),
        }
    }

    /// Reads a file that is to be changed; `None` when nothing is there.
    ///
    /// # Errors
    ///
    /// When the guard refuses it, or it is too large.
    pub fn load(&mut self, path: &str) -> Result<Option<Loaded>, Reject> {
        self.at(path, |builder| match builder.file(path, Access::Update) {
            Err(Problem::Missing) => Ok(None),
            file => {
                let (path, New { post, .. }) = file?;
                builder.loaded(path, &post).map(Some)
            }
        })
    }

    /// Begins another diff: the files that it copies are meant as they are now.
    pub(super) fn begin_diff<'s>(&mut self, copied: impl Iterator<Item = &'s str>) {
        self.before_diff.clear();
        for path in copied {
            // What cannot be read is refused where it is copied.
            if let (Ok(checked), Ok(now)) = (self.check(path, Access::Read), self.load(path)) {
                self.before_diff.insert(checked, now);
            }
        }
    }

    /// Reads a file as it was before all changes of the diff or, where one of them created it, as
    /// it is now.
    pub(super) fn load_original(&mut self, path: &str) -> Result<Loaded, Reject> {
        self.at(path, |builder| {
            let path = builder.check(path, Access::Read)?;
            let begun = builder.before_diff.get(&path);
            if let Some(Some(before)) = begun {
                return Ok(before.clone());
            }
            let is_first = begun.is_none();
            let post = match &builder.entry(&path, Access::Read)?.disk {
                Some(disk) if is_first => as_on_disk(&path, disk).post,
                _ => builder.file(path.as_str(), Access::Read)?.1.post,
            };
            builder.loaded(path, &post)
        })
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

    /// The same, with an image. A file that is replaced passes on its attributes, and its mode
    /// where the image does not state one.
    pub(crate) fn create_from(&mut self, path: &str, mut post: PostImage) -> Result<(), Reject> {
        self.at(path, |builder| {
            let path = builder.check(path, Access::Create)?;
            let replaced = builder.make_way(&path)?;
            if !matches!(post.image, Image::Stored(..)) {
                check_size(&path, post.size, builder.options.max_file_size)?;
            }
            if let Some(replaced) = replaced {
                if post.mode.exact().is_none() {
                    post.mode = Mode::Exactly(replaced.kept_mode());
                }
                post.attributes_of = Some(path.clone());
            }
            builder.write(&path, New { post, origin: None });
            Ok(())
        })
    }

    /// Plans a copy of a file as it was before all changes: in a git diff the order of the files
    /// does not count.
    ///
    /// # Errors
    ///
    /// When there is no file to copy, and the errors of [`create`](Self::create).
    pub fn copy(&mut self, from: &str, to: &str) -> Result<(), Reject> {
        let Loaded { path, bytes, hash, mode } = self.load_original(from)?;
        self.settle(&path);
        self.at(to, |builder| match builder.check(to, Access::Create)? {
            target if target == path => Err(Problem::SamePath),
            _ => Ok(()),
        })?;
        let size = bytes.len() as u64;
        self.create_from(to, PostImage { mode, ..PostImage::new(Image::Kept(bytes), hash, size) })
    }

    /// Plans replacements in a file. Nothing is planned when the result is the same.
    ///
    /// # Errors
    ///
    /// When there is no such file, or the guard refuses it.
    ///
    /// # Panics
    ///
    /// When a replacement reaches beyond the end of the file.
    pub fn update(&mut self, path: &str, splices: Splices) -> Result<(), Reject> {
        self.update_to(path, splices, None)
    }

    /// The same, with the size of the result and, unless it is to be computed later, its hash,
    /// where they are known.
    pub(super) fn update_to(
        &mut self,
        path: &str,
        splices: Splices,
        outcome: Option<(Option<Sha256>, u64)>,
    ) -> Result<(), Reject> {
        self.at(path, |builder| {
            let (path, New { post, origin }) = builder.file(path, Access::Update)?;
            let source = builder.source(&path, &post)?;
            let (sha256, size) = outcome.unwrap_or_else(|| {
                let (sha256, size) = splices.outcome(&source);
                (Some(sha256), size)
            });
            check_size(&path, size, builder.options.max_file_size)?;
            let (image, hashed) = match post.image {
                Image::OnDisk(from) => (Image::Spliced(from, splices), source),
                // The ranges refer to the result of an earlier change.
                _ => {
                    let result = Arc::new(splices.apply(&source));
                    (Image::Kept(Arc::clone(&result)), result)
                }
            };
            let hash = sha256.map_or_else(|| LazyHash::later(&hashed), LazyHash::from);
            let post = PostImage { image, hash, size, ..post };
            builder.write(&path, New { post, origin });
            Ok(())
        })
    }

    /// Plans the right to run a file, or that it cannot be run.
    ///
    /// # Errors
    ///
    /// When there is no such file, or the guard refuses it.
    pub fn set_executable(&mut self, path: &str, yes: bool) -> Result<(), Reject> {
        self.at(path, |builder| {
            let (path, mut new) = builder.file(path, Access::Update)?;
            new.post.mode = new.post.mode.with_executable(yes);
            builder.write(&path, new);
            Ok(())
        })
    }

    /// Plans an edit of `base`, an earlier version of a file, [carried](crate::carry) to the file
    /// as it is now.
    ///
    /// # Errors
    ///
    /// Every stretch that cannot be carried; and the errors of [`update`](Self::update).
    ///
    /// # Panics
    ///
    /// When the edit was not made for `base`.
    pub fn carry(&mut self, path: &str, base: &[u8], edit: &Edit) -> Result<(), Rejects> {
        let (checked, hunks) = self.carry_hunks(path, base, edit)?;
        self.notes.extend(hunks.into_iter().map(|hunk| hunk.note(path)));
        self.carried_bases.push((checked, Arc::new(edit.apply(base))));
        Ok(())
    }

    /// The same, without notes: returns where the hunks went.
    pub(super) fn carry_hunks(
        &mut self,
        path: &str,
        base: &[u8],
        edit: &Edit,
    ) -> Result<(RelPath, Vec<CarriedHunk>), Rejects> {
        let file = self.load(path)?.ok_or_else(|| self.reject(path, Problem::Missing))?;
        let Carried { splices, hunks } = carry(base, &file.bytes, edit).map_err(|conflicts| {
            let reject = |conflict: Conflict| {
                let hunk = conflict.hunks.first().copied();
                Reject { hunk, ..Reject::of(path, Problem::Conflict(Box::new(conflict))) }
            };
            Rejects::new(conflicts.into_iter().map(reject).collect())
                .expect("an edit that is not carried has conflicts")
        })?;
        self.update(path, splices)?;
        Ok((file.path, hunks))
    }

    /// Plans the deletion of a file or link.
    ///
    /// # Errors
    ///
    /// When nothing is there, or the guard refuses it.
    pub fn remove(&mut self, path: &str) -> Result<(), Reject> {
        self.at(path, |builder| {
            let path = builder.check(path, Access::Delete)?;
            builder.entry(&path, Access::Delete)?;
            builder.take_away(&path)
        })
    }

    /// Plans the deletion of a directory and everything in it, or of a file or link.
    ///
    /// # Errors
    ///
    /// When nothing is there, there are more than [`MAX_DELETED`] files, or the guard refuses one.
    pub fn remove_all(&mut self, path: &str) -> Result<(), Reject> {
        let at = |error| Reject::of(path, Problem::Guard(error));
        let target = self.files.check(path, Access::Delete).map_err(at)?;
        let seen = self.files.metadata(&target).map_err(at)?;
        if seen.is_none_or(|seen| seen.kind != FileKind::Directory) {
            return self.remove(path);
        }
        let mut files = Vec::new();
        collect(&self.files, &target, &target, &mut files, &mut self.remove_dirs)?;
        for file in files {
            let at = |problem| Reject::of(file.as_str(), problem);
            let limit = self.options.max_file_size;
            let disk = load(&self.files, &file, Access::Delete, limit)
                .map_err(at)?
                .ok_or_else(|| at(Problem::Missing))?;
            self.insert(&file, Some(disk));
            self.take_away(&file).map_err(at)?;
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
        let (path, new) = self.at(from, |builder| builder.file(from, Access::Delete))?;
        let known = self.order.len();
        let before = self.set(&path, EntryState::Absent);
        self.put(Lifted { path: path.clone(), new }, to).inspect_err(|_| {
            // What is refused changes nothing.
            self.entries.get_mut(&path).expect("looked at before").state = before;
            self.order.truncate(known);
        })
    }

    /// Takes the file at a path away, to be [put](Self::put) elsewhere.
    pub(super) fn lift(&mut self, from: &str) -> Result<Lifted, Reject> {
        let (path, new) = self.at(from, |builder| builder.file(from, Access::Delete))?;
        self.set(&path, EntryState::Absent);
        Ok(Lifted { path, new })
    }

    /// Plans the new place of a file that moves.
    pub(super) fn put(&mut self, lifted: Lifted, to: &str) -> Result<(), Reject> {
        let Lifted { path, mut new } = lifted;
        self.at(to, |builder| {
            let target = builder.check(to, Access::Create)?;
            if target == path {
                return Err(Problem::SamePath);
            }
            if !builder.options.allow_move {
                return Err(Problem::MoveNotAllowed);
            }
            // Another file may have the name on disk by now.
            let goes = |origin: &RelPath| !builder.entries[origin].exists();
            builder.moving = new.origin.clone().filter(goes);
            let replaced = builder.make_way(&target);
            builder.moving = None;
            // A file that this plan creates did not move: it appears at its last path.
            if replaced?.is_some() {
                new.post.attributes_of.get_or_insert_with(|| target.clone());
            }
            builder.write(&target, new);
            Ok(())
        })
    }

    /// Returns the plan of all changes together.
    ///
    /// # Errors
    ///
    /// When the new files would make a directory a git repository, a file does not parse any more
    /// and the options refuse that, or the work was given up.
    pub fn finish(mut self) -> Result<Plan, Rejects> {
        let options = self.options;
        self.format()?;
        // Of these not all changes are made.
        let rejected =
            |(path, entry): (&RelPath, &OverlayEntry)| entry.rejected.then(|| path.clone());
        let rejected = self.entries.iter().filter_map(rejected).collect();
        let mut plan = self.finish_unread()?;
        contents::check(&mut plan, options, &rejected)?;
        Ok(plan)
    }

    /// Formats what was written, where a formatter is set. What an undo or a restore brings back
    /// is as it was.
    fn format(&mut self) -> Result<(), Rejects> {
        let Some(formatter) = self.options.formatter.as_ref().filter(|_| self.undo_of.is_none())
        else {
            return Ok(());
        };
        let files = self.files.clone();
        let Some(root) = files.directory() else { return Ok(()) };
        let mut rejects = Vec::new();
        for path in self.order.clone() {
            let of_path = |problem| Rejects::from(Reject::of(path.as_str(), problem));
            let OverlayEntry { state: EntryState::Written(new), disk, rejected: false, .. } =
                &self.entries[&path]
            else {
                continue;
            };
            let is_written = !matches!(new.post.image, Image::OnDisk(_) | Image::Stored(..));
            if !is_written
                || new.post.link
                || disk.as_ref().is_some_and(|disk| disk.sha256() == new.post.sha256())
            {
                continue;
            }
            let new = new.clone();
            let bytes = self.source(&path, &new.post).map_err(of_path)?;
            if is_binary(&bytes) {
                continue;
            }
            let formatted = formatter.format(root, &path, &bytes, files.cancellation());
            Rejects::if_cancelled(files.cancellation())?;
            match formatted {
                Ok(Some(formatted)) if formatted.bytes != *bytes => {
                    let by = formatted.by;
                    self.formatted(&path, new, bytes, formatted.bytes).map_err(of_path)?;
                    self.notes.push(PlanNote::Formatted { path: path.to_string(), by });
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

    /// Takes the formatted bytes of a file. Its author expects it as it was written.
    fn formatted(
        &mut self,
        path: &RelPath,
        New { post, origin }: New,
        written: Arc<Vec<u8>>,
        bytes: Vec<u8>,
    ) -> Checked<()> {
        let PostImage { image, hash, size, .. } = PostImage::kept(bytes);
        check_size(path, size, self.options.max_file_size)?;
        self.write(path, New { post: PostImage { image, hash, size, ..post }, origin });
        if !self.carried_bases.iter().any(|(carried, _)| carried == path) {
            self.carried_bases.push((path.clone(), written));
        }
        Ok(())
    }

    /// The same, without a look at what the files contain.
    fn finish_unread(mut self) -> Result<Plan, Rejects> {
        Rejects::if_cancelled(self.files.cancellation())?;
        if self.undo_of.is_none() {
            self.check_no_new_repository()?;
        }
        let mut notes = std::mem::take(&mut self.notes);
        let mut transitions = Vec::with_capacity(self.order.len());
        let mut removals = Vec::new();
        let moves = self.order.iter().filter_map(|path| match &self.entries[path].state {
            EntryState::Written(new) => new.origin.clone().filter(|origin| origin != path),
            EntryState::AsOnDisk | EntryState::Absent => None,
        });
        let mut origins = Origins::leaving(moves.collect());
        for path in std::mem::take(&mut self.order) {
            let OverlayEntry { disk: before, state, .. } =
                self.entries.remove(&path).expect("every touched path has an entry");
            match state {
                EntryState::Written(New { post, origin }) => {
                    let origin = origin.filter(|origin| *origin != path);
                    // Where a file moved away, an equal one in its place is a new file.
                    let stays = origin.is_none() && !origins.leaves(&path);
                    if stays && before.as_ref().is_some_and(|before| is_same(before, &post)) {
                        notes.push(PlanNote::Unchanged { path: path.to_string() });
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
        if self.of_diff && self.files.directory().is_some() {
            self.remove_dirs.extend(emptied(&self.files, &transitions));
        }
        // The maps below are as large, and these are not needed any more.
        (self.entries, self.folded) = (Map::default(), Map::default());
        if self.undo_of.is_some() {
            // What a patch changes was checked when it was read.
            let reject = |transition: &Transition| {
                let error = transition.check_displaced(&self.files).err()?;
                Some(Reject::of(transition.path.as_str(), Problem::Guard(error)))
            };
            if let Some(rejects) = Rejects::new(transitions.iter().filter_map(reject).collect()) {
                return Err(rejects);
            }
            infer_moves(&transitions, &self.moved_back, &mut origins);
        }
        let before: Map<RelPath, usize> = transitions
            .iter()
            .enumerate()
            .filter(|(_, transition)| transition.before.is_some())
            .map(|(index, transition)| (transition.path.clone(), index))
            .collect();
        let create_dirs = self.created(&transitions);
        if self.patch.is_some() && !self.of_diff {
            let directories = outermost(&create_dirs);
            if !directories.is_empty() {
                notes.push(PlanNote::NewDirectories { directories });
            }
        }
        Ok(Plan {
            files: self.files,
            authority: self.authority,
            transitions,
            before,
            create_dirs,
            remove_dirs: self.remove_dirs,
            undo_of: self.undo_of,
            also_undone: self.also_undone,
            origins,
            changes: OnceLock::new(),
            patch: self.patch,
            left_out: self.left_out,
            placed: self.placed,
            notes,
            carried_bases: self.carried_bases,
        })
    }

    /// Makes a change; a problem becomes the reject of `path`.
    pub(super) fn at<T>(
        &mut self,
        path: &str,
        change: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> Result<T, Reject> {
        change(self).map_err(|problem| self.reject(path, problem))
    }

    /// Makes the reject of a path, with the path that was probably meant.
    pub(super) fn reject(&self, path: &str, problem: Problem) -> Reject {
        let near = self.near.path(&self.files, path, &problem);
        Reject { near, ..Reject::of(path, problem) }
    }
}

/// What the planner asks, and what undo does in addition.
impl PlanBuilder<'_> {
    /// Checks a path, unless that was done just now.
    pub(super) fn check(&mut self, path: &str, access: Access) -> Checked<RelPath> {
        if let Some((last, allowed)) = &self.checked
            && last.as_str() == path
            // What may be created may be changed, and both may be read.
            && (*allowed == access || (*allowed != Access::Read && access != Access::Create))
        {
            return Ok(last.clone());
        }
        let checked = self.files.check(path, access)?;
        self.checked = Some((checked.clone(), access));
        Ok(checked)
    }

    /// Returns the overlay's entry for a path, which is read from disk the first time.
    pub(super) fn entry(&mut self, path: &RelPath, access: Access) -> Checked<&mut OverlayEntry> {
        if let Some(entry) = self.entries.get(path) {
            if let OverlayEntry { disk: Some(disk), state: EntryState::AsOnDisk, .. } = entry {
                // The rules depend on the access: a link may be deleted but not read.
                let access = if access == Access::Create { Access::Update } else { access };
                self.files.check_pre_image(path, &disk.metadata, access)?;
            }
        } else {
            self.check_spelling(path)?;
            if access == Access::Create {
                for above in path.ancestors() {
                    self.check_spelling(&above)?;
                }
            }
            let disk = if let Some((_, disk)) = self.offered.take_if(|(offered, _)| offered == path)
            {
                Some(disk)
            } else if self.is_in_new_directory(path) {
                None
            } else {
                match load(&self.files, path, access, self.options.max_file_size) {
                    Err(Problem::Guard(fs_guard::Error::NotAFile {
                        kind: FileKind::Directory,
                        ..
                    })) if access == Access::Create && self.gives_way(path) => None,
                    Err(Problem::Guard(
                        fs_guard::Error::Symlink { .. } | fs_guard::Error::LeadsOut { .. },
                    )) if access == Access::Create && self.is_below_gone(path) => None,
                    disk => disk?,
                }
            };
            self.insert(path, disk);
        }
        Ok(self.entries.get_mut(path).expect("inserted above"))
    }

    /// Returns the hash of the file or link at a path after the changes so far.
    pub(super) fn hash(&mut self, path: &str, access: Access) -> Result<Option<Sha256>, Reject> {
        self.at(path, |builder| {
            let path = builder.check(path, access)?;
            Ok(builder.entry(&path, access)?.hash())
        })
    }

    /// Returns whether a file or link is at a path after the changes so far.
    pub(crate) fn exists(&mut self, path: &str, access: Access) -> Result<bool, Reject> {
        self.at(path, |builder| {
            let path = builder.check(path, access)?;
            Ok(builder.entry(&path, access)?.exists())
        })
    }

    /// Notes that a section about a path was rejected, if anything was found out about that path.
    pub(super) fn set_rejected(&mut self, path: &RelPath) {
        if let Some(entry) = self.entries.get_mut(path) {
            entry.rejected = true;
            self.settle(path);
        }
    }

    /// Returns whether a section about a path was rejected.
    pub(super) fn is_rejected(&self, path: &RelPath) -> bool {
        self.entries.get(path).is_some_and(|entry| entry.rejected)
    }

    /// Adds an entry for a path.
    fn insert(&mut self, path: &RelPath, disk: Option<Disk>) {
        self.entries.insert(path.clone(), OverlayEntry::new(disk));
    }

    /// Returns the text of the symbolic link at a path.
    pub(super) fn link_text(&mut self, path: &str) -> Result<Vec<u8>, Reject> {
        self.at(path, |builder| {
            let path = builder.check(path, Access::Delete)?;
            let entry = builder.entry(&path, Access::Delete)?;
            match (&entry.state, &entry.disk) {
                (EntryState::Absent, _) | (EntryState::AsOnDisk, None) => Err(Problem::Missing),
                (EntryState::Written(New { post: PostImage { link: true, image, .. }, .. }), _) => {
                    match image {
                        Image::Kept(target) => Ok(target.to_vec()),
                        _ => unreachable!("BUG: a new link has its text"),
                    }
                }
                (EntryState::AsOnDisk, Some(disk)) if disk.metadata.kind == FileKind::Symlink => {
                    Ok(disk.bytes.as_deref().cloned().unwrap_or_default())
                }
                _ => Err(Problem::OtherLink { target: None }),
            }
        })
    }

    /// Plans that the symbolic link at a path leads elsewhere.
    pub(super) fn retarget(&mut self, path: &RelPath, target: Vec<u8>) {
        self.write(path, New { post: PostImage::link_to(target), origin: None });
    }

    /// Returns the id of the commit that the submodule at a path is at, after the changes so far;
    /// `None` where there is something else.
    pub(super) fn submodule(&mut self, path: &str) -> Result<Option<String>, Reject> {
        self.at(path, |builder| {
            let path = builder.check(path, Access::Update)?;
            if !builder.entries.contains_key(&path) {
                let seen = builder.files.metadata(&path)?.ok_or(Problem::Missing)?;
                if seen.kind != FileKind::Submodule {
                    return Ok(None);
                }
                let line = builder.files.read_link(&path)?;
                let hash = Sha256::of(&line).into();
                builder.insert(&path, Some(Disk { metadata: seen, hash, bytes: Some(line) }));
            }
            let entry = &builder.entries[&path];
            let line = match (&entry.state, &entry.disk) {
                (EntryState::Absent, _) | (EntryState::AsOnDisk, None) => {
                    return Err(Problem::Missing);
                }
                (EntryState::Written(New { post, .. }), _) if post.is_submodule() => {
                    match &post.image {
                        Image::Kept(line) => Arc::clone(line),
                        _ => unreachable!("BUG: a submodule has its line"),
                    }
                }
                (EntryState::AsOnDisk, Some(disk)) if disk.metadata.kind == FileKind::Submodule => {
                    match &disk.bytes {
                        Some(line) => Arc::clone(line),
                        None => builder.files.read_link(&path)?,
                    }
                }
                _ => return Ok(None),
            };
            Ok(submodules::commit_of(&line).map(str::to_owned))
        })
    }

    /// Plans that a submodule, which was looked at before, is at another commit, or goes.
    pub(super) fn set_submodule(
        &mut self,
        path: &str,
        post: Option<PostImage>,
    ) -> Result<(), Reject> {
        self.at(path, |builder| {
            let path = builder.check(path, Access::Update)?;
            match post {
                Some(post) => builder.write(&path, New { post, origin: None }),
                None => drop(builder.set(&path, EntryState::Absent)),
            }
            Ok(())
        })
    }

    /// Returns whether a directory has lost all files by the changes so far, so that a file may
    /// take its path.
    fn gives_way(&self, dir: &RelPath) -> bool {
        self.of_diff && loses_all(&self.files, dir, &|path: &RelPath| self.is_gone(path))
    }

    /// Returns whether the changes so far took away the file or link at a path.
    fn is_gone(&self, path: &RelPath) -> bool {
        matches!(
            self.entries.get(path),
            Some(OverlayEntry { state: EntryState::Absent, disk: Some(_), .. })
        )
    }

    /// Returns whether the changes so far took away what was at a directory above.
    fn is_below_gone(&self, path: &RelPath) -> bool {
        path.ancestors().any(|above| self.is_gone(&above))
    }

    /// Returns the file at a path after the changes so far, to be changed or moved.
    fn file(&mut self, path: &str, access: Access) -> Checked<(RelPath, New)> {
        let path = self.check(path, access)?;
        let entry = self.entry(&path, access)?;
        let new = match (&entry.state, &entry.disk) {
            (EntryState::Written(New { post, .. }), _) if post.link => {
                let path = path.to_string();
                return Err(Problem::Guard(fs_guard::Error::NotAFile {
                    path,
                    kind: FileKind::Symlink,
                }));
            }
            (EntryState::Written(new), _) => new.clone(),
            (EntryState::AsOnDisk, Some(disk)) if disk.metadata.kind == FileKind::File => {
                as_on_disk(&path, disk)
            }
            (EntryState::AsOnDisk, Some(disk)) => {
                // A link may be deleted but not moved: the guard's error says where it leads.
                let metadata = disk.metadata.clone();
                self.files.check_pre_image(&path, &metadata, Access::Update)?;
                return Err(not_a_file(&path, metadata.kind));
            }
            _ => return Err(Problem::Missing),
        };
        Ok((path, new))
    }

    fn loaded(&mut self, path: RelPath, post: &PostImage) -> Checked<Loaded> {
        let bytes = self.source(&path, post)?;
        // That of an edited file is computed from the bytes before.
        let hash = if post.hash.is_known() { post.hash.clone() } else { LazyHash::later(&bytes) };
        Ok(Loaded { path, bytes, hash, mode: post.mode })
    }

    /// Returns the bytes of the file that is at `path` after the changes so far.
    fn source(&mut self, path: &RelPath, file: &PostImage) -> Checked<Arc<Vec<u8>>> {
        let from = match &file.image {
            Image::Kept(bytes) => return Ok(Arc::clone(bytes)),
            Image::Lines(lines) => return Ok(lines.bytes().into()),
            Image::OnDisk(from) => return self.on_disk(from, path),
            Image::Spliced(from, splices) => (from.clone(), splices),
            Image::Stored(..) => unreachable!("BUG: what is restored is not edited"),
        };
        Ok(from.1.apply(&self.on_disk(&from.0, path)?).into())
    }

    /// Returns the bytes of a file before the commit, which are read again where they are not kept.
    fn on_disk(&mut self, from: &RelPath, asked: &RelPath) -> Checked<Arc<Vec<u8>>> {
        let limit = self.options.max_file_size;
        let Some(disk) = self.entries.get_mut(from).and_then(|entry| entry.disk.as_mut()) else {
            return Err(Problem::Missing);
        };
        if let Some(bytes) = &disk.bytes {
            return Ok(Arc::clone(bytes));
        }
        check_size(asked, disk.metadata.size, limit)?;
        let (bytes, metadata) = self.files.read(from, limit)?;
        if !disk.hash.is_of(&bytes) {
            return Err(Problem::Guard(fs_guard::Error::Changed { path: asked.to_string() }));
        }
        disk.metadata = metadata;
        // Until the change is made: then `settle` decides whether they stay.
        disk.bytes = Some(Arc::clone(&bytes));
        Ok(bytes)
    }

    /// Plans to undo a transaction, whose journal names the paths: they are not checked again.
    pub(crate) fn undo(&mut self, id: TransactionId, partial: bool, authentic: bool) {
        self.undo_of = Some(Undone { id, partial });
        self.authority = Authority::Journal { authentic };
    }

    /// Plans to undo the change of one path, where `disk` is now.
    pub(crate) fn restore(&mut self, path: &RelPath, disk: Option<Disk>, post: Option<PostImage>) {
        self.insert(path, disk);
        match post {
            Some(post) => self.write(path, New { post, origin: None }),
            None => {
                self.set(path, EntryState::Absent);
            }
        }
    }

    /// Creates the missing directories of the files that come back. All removals are known by then:
    /// a removed file may make way for a directory that another file needs.
    pub(crate) fn create_parents(&mut self) -> Result<(), Reject> {
        for path in self.order.clone() {
            if let OverlayEntry { disk: None, state: EntryState::Written(_), .. } =
                &self.entries[&path]
            {
                let missing = self.at(path.as_str(), |builder| builder.parents_missing(&path))?;
                self.need_dirs(missing);
            }
        }
        Ok(())
    }

    /// Sets the permissions of a directory, if it is created; with `always` it is created even if
    /// no file needs it.
    pub(crate) fn restore_dir(&mut self, path: RelPath, mode: u32, always: bool) {
        if always || self.directories.contains(&path) {
            self.restored_dirs.push(NewDir { path, mode: Some(mode) });
        }
    }

    /// Removes a directory at the end, if it is empty then. Inner directories come first.
    pub(crate) fn remove_dir(&mut self, path: RelPath) {
        self.remove_dirs.push(path);
    }

    /// Keeps the bytes of a file in memory as long as there is room.
    fn settle(&mut self, path: &RelPath) {
        let size = match self.entries.get(path) {
            Some(OverlayEntry {
                disk: Some(Disk { bytes: Some(bytes), .. }), kept: false, ..
            }) => bytes.len(),
            _ => return,
        };
        let room = self.kept.saturating_add(size as u64) <= self.options.max_memory;
        let entry = self.entries.get_mut(path).expect("looked at just now");
        entry.kept = room;
        if room {
            self.kept += size as u64;
        } else {
            if let EntryState::Written(new) = &mut entry.state {
                new.post.settle_hash();
            }
            if let Some(disk) = &mut entry.disk {
                disk.hash.settle();
                disk.bytes = None;
            }
        }
    }

    /// Checks that a file may be created at `path`, and returns the file on disk that it replaces.
    fn make_way(&mut self, path: &RelPath) -> Checked<Option<Metadata>> {
        // A diff says what was there.
        let overwrite = self.options.overwrite && !self.of_diff;
        let entry = self.entry(path, Access::Create)?;
        if let EntryState::AsOnDisk = entry.state
            && let Some(disk) = &entry.disk
            && disk.metadata.kind != FileKind::File
        {
            return Err(not_a_file(path, disk.metadata.kind));
        }
        if let Some(other) = self.respelt.get(path)
            && self.entries[other].exists()
        {
            return Err(Problem::Collides { with: other.to_string() });
        }
        let entry = &self.entries[path];
        if entry.exists() {
            if !overwrite {
                return Err(Problem::Exists { by: None, new_in_diff: self.of_diff });
            }
            return Ok(entry.disk.as_ref().map(|disk| disk.metadata.clone()));
        }
        for directory in path.ancestors() {
            if let Some(OverlayEntry { state: EntryState::Written(_), .. }) =
                self.entries.get(&directory)
            {
                return Err(Problem::ParentIsFile { file: directory.to_string() });
            }
        }
        if self.directories.contains(path) {
            self.drop_directory(path)?;
        }
        if self.is_in_new_directory(path) {
            return Ok(None);
        }
        if self.entries[path].disk.is_none()
            && !self.is_below_gone(path)
            && let Some(existing) = self.files.collision(path, self.moving.as_ref())?
        {
            if self.moving.as_ref().is_some_and(|moving| existing == moving.as_str()) {
                return Err(Problem::OneName { with: existing });
            }
            return Err(Problem::Guard(fs_guard::Error::Collision {
                path: path.to_string(),
                existing,
            }));
        }
        let missing = self.parents_missing(path)?;
        if let Some(outermost) = missing.first()
            && !self.options.create_parents
        {
            return Err(Problem::MissingParent { directory: outermost.to_string() });
        }
        self.need_dirs(missing);
        Ok(None)
    }

    /// Deletes the file or link at a path that was looked at.
    fn take_away(&mut self, path: &RelPath) -> Checked<()> {
        if !self.entries[path].exists() {
            return Err(Problem::Missing);
        }
        if !self.options.allow_delete {
            return Err(Problem::DeleteNotAllowed);
        }
        self.set(path, EntryState::Absent);
        Ok(())
    }

    fn write(&mut self, path: &RelPath, new: New) {
        let origin = new.origin.clone();
        self.set(path, EntryState::Written(new));
        if let Some(origin) = origin.filter(|origin| origin != path) {
            self.settle(&origin);
        }
    }

    /// Sets what is at a path, and returns what was there.
    fn set(&mut self, path: &RelPath, state: EntryState) -> EntryState {
        let entry = self.entries.get_mut(path).expect("looked at before");
        if matches!(entry.state, EntryState::AsOnDisk) {
            self.order.push(path.clone());
        }
        let before = std::mem::replace(&mut entry.state, state);
        self.settle(path);
        before
    }

    /// Gives up a directory that a diff would create, as its files are gone again: a file takes its
    /// path.
    fn drop_directory(&mut self, dir: &RelPath) -> Checked<()> {
        let stays = |path: &RelPath| {
            let rest = path.as_str().strip_prefix(dir.as_str());
            !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let beneath = self.entries.iter().filter(|(path, entry)| entry.exists() && !stays(path));
        if let Some(file) = beneath.map(|(path, _)| path).min() {
            return Err(Problem::ParentOfFile { file: file.to_string() });
        }
        if !self.of_diff {
            return Err(not_a_file(dir, FileKind::Directory));
        }
        self.directories.retain(stays);
        self.create_dirs.retain(stays);
        Ok(())
    }

    fn need_dirs(&mut self, missing: Vec<RelPath>) {
        for directory in missing {
            if self.directories.insert(directory.clone()) {
                self.create_dirs.push(directory);
            }
        }
    }

    /// Returns whether the plan creates the directory of `path`: then nothing is in it yet.
    fn is_in_new_directory(&self, path: &RelPath) -> bool {
        !self.directories.is_empty()
            && path.parent().is_some_and(|parent| self.directories.contains(&parent))
    }

    /// Returns the directories that have to be created for `path`, outermost first: the missing
    /// ones, and those whose path a deleted file had.
    fn parents_missing(&self, path: &RelPath) -> Checked<Vec<RelPath>> {
        let mut above = path.ancestors().skip_while(|above| !self.is_gone(above)).peekable();
        match above.peek() {
            Some(_) => Ok(above.collect()),
            None => Ok(self.files.parents_missing(path)?),
        }
    }

    /// Refuses new files that would make a directory a git repository.
    fn check_no_new_repository(&self) -> Result<(), Reject> {
        let appearing = self.order.iter().filter(|path| {
            let entry = &self.entries[*path];
            entry.disk.is_none() && entry.exists()
        });
        let checked = self.files.check_no_new_repository(appearing);
        checked.map_err(|error| {
            let path = error.path().unwrap_or_default().to_owned();
            Reject::of(&path, Problem::Guard(error))
        })
    }

    /// Refuses two paths of one plan that a file system may take for the same.
    fn check_spelling(&mut self, path: &RelPath) -> Checked<()> {
        let folded = fs_guard::fold(path.as_str()).into_owned();
        match self.folded.entry(folded).or_insert_with(|| path.clone()) {
            other if other == path => Ok(()),
            other if self.moving.as_ref() == Some(other) && other.parent() == path.parent() => {
                self.respelt.insert(other.clone(), path.clone());
                Ok(())
            }
            other => Err(Problem::Collides { with: other.to_string() }),
        }
    }

    /// Returns the directories to be created, outer ones first: for the files of the plan, and
    /// those that are restored.
    fn created(&mut self, transitions: &[Transition]) -> Vec<NewDir> {
        if self.create_dirs.is_empty() && self.restored_dirs.is_empty() {
            return Vec::new();
        }
        let appearing = transitions.iter().filter(|transition| transition.after.is_some());
        let needed: HashSet<RelPath> =
            appearing.flat_map(|transition| transition.path.ancestors()).collect();
        let mut dirs = std::mem::take(&mut self.restored_dirs);
        let named: HashSet<RelPath> = dirs.iter().map(|dir| dir.path.clone()).collect();
        let plain = std::mem::take(&mut self.create_dirs).into_iter();
        let plain = plain.filter(|dir| needed.contains(dir) && !named.contains(dir));
        dirs.extend(plain.map(|path| NewDir { path, mode: None }));
        if !named.is_empty() {
            dirs.sort_by(|one, other| one.path.cmp(&other.path));
        }
        dirs
    }
}

/// Returns the directories that are in no other of these.
fn outermost(dirs: &[NewDir]) -> Vec<String> {
    let all: HashSet<&str> = dirs.iter().map(|dir| dir.path.as_str()).collect();
    let is_outermost =
        |path: &RelPath| path.parent().is_none_or(|parent| !all.contains(parent.as_str()));
    let found = dirs.iter().filter(|dir| is_outermost(&dir.path));
    found.map(|dir| dir.path.to_string()).collect()
}

fn check_size(path: &RelPath, size: u64, limit: u64) -> Checked<()> {
    if size > limit {
        Err(Problem::Guard(fs_guard::Error::TooLarge { path: path.to_string(), size, limit }))
    } else {
        Ok(())
    }
}

/// Returns a file that is not changed.
fn as_on_disk(path: &RelPath, disk: &Disk) -> New {
    New {
        post: PostImage {
            image: Image::OnDisk(path.clone()),
            hash: disk.hash.clone(),
            size: disk.metadata.size,
            mode: Mode::Exactly(disk.metadata.kept_mode()),
            link: false,
            rewritten: false,
            attributes_of: Some(path.clone()),
        },
        origin: Some(path.clone()),
    }
}

fn not_a_file(path: &RelPath, kind: FileKind) -> Problem {
    Problem::Guard(fs_guard::Error::NotAFile { path: path.to_string(), kind })
}

/// Returns whether a post-image is the same as the pre-image. A new file in place of one that was
/// deleted has only the right to run it to compare: the other bits are up to the umask.
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

/// Finds the moves that an undo makes: those of its transaction, backwards, and for several
/// transactions a deleted file and a created one with the same bytes.
fn infer_moves(transitions: &[Transition], moved_back: &[(String, String)], origins: &mut Origins) {
    if !moved_back.is_empty() {
        let at: Map<&str, usize> = transitions
            .iter()
            .enumerate()
            .map(|(index, transition)| (transition.path.as_str(), index))
            .collect();
        for (from, to) in moved_back {
            if let (Some(&from), Some(&to)) = (at.get(&**from), at.get(&**to))
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

/// Returns whether a directory has files, and all of them are gone, those in directories within it
/// too.
fn loses_all(files: &Files, dir: &RelPath, is_gone: &dyn Fn(&RelPath) -> bool) -> bool {
    let Ok(entries) = files.read_dir(Some(dir)) else { return false };
    !entries.is_empty()
        && entries.iter().all(|(name, kind)| {
            within(files, dir, name).is_some_and(|path| match kind {
                FileKind::Directory => loses_all(files, &path, is_gone),
                _ => is_gone(&path),
            })
        })
}

/// Returns the path of an entry of a directory, if a plan can name it.
fn within(files: &Files, dir: &RelPath, name: &[u8]) -> Option<RelPath> {
    let path = [dir.as_str().as_bytes(), b"/", name].concat();
    files.check_bytes(&path, Access::Delete).ok()
}

/// Returns the directories that lose all files, innermost first.
fn emptied(files: &Files, transitions: &[Transition]) -> Vec<RelPath> {
    let stay = transitions.iter().filter(|transition| transition.after.is_some());
    let used: HashSet<RelPath> = stay.flat_map(|transition| transition.path.ancestors()).collect();
    let gone = transitions.iter().filter(|transition| transition.after.is_none());
    let gone: HashSet<&RelPath> = gone.map(|transition| &transition.path).collect();
    let above: HashSet<RelPath> = gone.iter().flat_map(|path| path.ancestors()).collect();
    let loses_all = |dir: &RelPath| {
        !used.contains(dir) && loses_all(files, dir, &|path: &RelPath| gone.contains(path))
    };
    let mut emptied: Vec<RelPath> = above.into_iter().filter(loses_all).collect();
    emptied.sort_unstable_by(|one, other| other.cmp(one));
    emptied
}

/// Collects the files beneath the directory `dir`, and its directories, innermost first; `all` is
/// the directory that is deleted.
fn collect(
    files_of: &Files,
    all: &RelPath,
    dir: &RelPath,
    files: &mut Vec<RelPath>,
    dirs: &mut Vec<RelPath>,
) -> Result<(), Reject> {
    let at = |path: &str| {
        let path = path.to_owned();
        move |error| Reject::of(&path, Problem::Guard(error))
    };
    let mut entries = files_of.read_dir(Some(dir)).map_err(at(dir.as_str()))?;
    entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    for (name, kind) in entries {
        let path = [dir.as_str().as_bytes(), b"/", &name[..]].concat();
        let shown = String::from_utf8_lossy(&path).into_owned();
        let path = files_of.check_bytes(&path, Access::Delete).map_err(at(&shown))?;
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
