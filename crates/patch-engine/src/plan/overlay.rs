//! The files of a workspace as the changes of a plan leave them so far. Problems are bare here; a
//! [`PlanBuilder`](super::builder::PlanBuilder) adds the path named by the caller.

use std::collections::HashSet;
use std::sync::Arc;

use fs_guard::{Access, FileKind, Metadata, RelPath, Sha256};
use patch_text::text::splices::Splices;

use crate::files::Files;
use crate::files::hash::{self, LazyHash};
use crate::plan::disk::{Disk, load};
use crate::plan::options::Options;
use crate::plan::paths::Named;
use crate::plan::reject::{Checked, Problem};
use crate::plan::{Image, Map, Mode, NewDir, PostImage, PreImage, Transition, submodules};

/// The files on disk, and over them the changes so far.
#[derive(Debug)]
pub(super) struct Overlay<'o> {
    pub(super) files: Files,
    pub(super) options: &'o Options,
    /// Directories without files are removed at last, and one may become a file.
    pub(super) of_diff: bool,
    /// A new file may take the place of an empty one, which loses nothing.
    pub(super) fills_empty: bool,
    pub(super) entries: Map<RelPath, OverlayEntry>,
    /// Paths in the order of their first change.
    pub(super) order: Vec<RelPath>,
    spellings: Spellings,
    directories: Directories,
    /// The path of the last check, and the access: a section names its path to several verbs.
    checked: Option<(RelPath, Access)>,
    /// A file read ahead; taken when its path is asked for.
    offered: Option<(RelPath, Disk)>,
    /// How many bytes of files are kept in memory.
    kept: u64,
    /// The sources of the current diff's copies, as the diffs before left them; empty in the first
    /// diff, whose copies are made from the disk.
    before_diff: Map<RelPath, Option<Loaded>>,
}

/// The spellings of all paths of a plan.
#[derive(Debug)]
struct Spellings {
    /// Each path by its folded spelling.
    folded: Map<String, RelPath>,
    /// The file on disk to be moved right now: its new path may differ by case or Unicode
    /// normalisation alone.
    moving: Option<RelPath>,
    /// Such new paths, by the file with the other spelling.
    respelt: Map<RelPath, RelPath>,
}

/// The directories to be created for new files.
#[derive(Debug, Default)]
struct Directories {
    /// Outer ones first.
    order: Vec<RelPath>,
    /// The same, for a look-up.
    all: HashSet<RelPath>,
}

/// One path of the overlay.
#[derive(Debug)]
pub(crate) struct OverlayEntry {
    pub(crate) disk: Option<Disk>,
    pub(super) state: EntryState,
    /// The bytes are counted as kept.
    kept: bool,
    /// A section about the path was rejected; further rejects would only repeat the problem.
    pub(super) rejected: bool,
}

/// The file at a path after the changes so far.
#[derive(Debug)]
pub(super) enum EntryState {
    AsOnDisk,
    Absent,
    Written(New),
}

/// A written file.
#[derive(Debug, Clone)]
pub(super) struct New {
    pub(super) post: PostImage,
    /// The path on disk before a move.
    pub(super) origin: Option<RelPath>,
}

/// A file taken from its path.
#[derive(Debug)]
pub(super) struct Lifted {
    pub(super) path: RelPath,
    new: New,
}

impl OverlayEntry {
    fn new(disk: Option<Disk>) -> Self {
        Self { disk, state: EntryState::AsOnDisk, kept: false, rejected: false }
    }

    /// Returns the hash of the file or link at this path now.
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

/// A file, read to be changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// Its path.
    pub path: RelPath,
    /// Its bytes.
    pub bytes: Arc<Vec<u8>>,
    pub(super) hash: LazyHash,
    pub(super) mode: Mode,
}

impl Loaded {
    /// Returns the hash of the file.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.hash.get()
    }

    /// Returns whether the owner may run the file.
    pub(super) fn is_executable(&self) -> bool {
        self.mode.exact().is_some_and(|mode| mode & 0o100 != 0)
    }

    /// Returns the same with the bytes of another version, and their hash.
    #[must_use]
    pub fn of_version(self, bytes: Arc<Vec<u8>>, sha256: Sha256) -> Self {
        Self { bytes, hash: sha256.into(), ..self }
    }
}

impl<'o> Overlay<'o> {
    /// Starts with the files as they are, with room for this many paths.
    pub(super) fn new(files: Files, options: &'o Options, paths: usize) -> Self {
        Self {
            files,
            options,
            of_diff: false,
            fills_empty: false,
            entries: Map::with_capacity_and_hasher(paths, Default::default()),
            order: Vec::with_capacity(paths),
            spellings: Spellings {
                folded: Map::with_capacity_and_hasher(paths, Default::default()),
                moving: None,
                respelt: Map::default(),
            },
            directories: Directories::default(),
            checked: None,
            offered: None,
            kept: 0,
            before_diff: Map::default(),
        }
    }

    /// Takes a path checked ahead, and the file there if read ahead, too. An earlier offer
    /// lapses.
    pub(super) fn offer(&mut self, ahead: Option<(&RelPath, Access, Option<Disk>)>) {
        self.offered = None;
        if let Some((path, access, disk)) = ahead {
            self.checked = Some((path.clone(), access));
            self.offered = disk.map(|disk| (path.clone(), disk));
        }
    }

    /// Returns whether the offered file was taken.
    pub(super) fn has_taken_offer(&self) -> bool {
        self.offered.is_none()
    }

    /// Checks a path, unless the last check was the same.
    pub(super) fn check(&mut self, path: &str, access: Access) -> Checked<RelPath> {
        if let Some((last, allowed)) = &self.checked
            && last.as_str() == path
            // A path to create a file may be changed, and both may be read.
            && (*allowed == access || (*allowed != Access::Read && access != Access::Create))
        {
            return Ok(last.clone());
        }
        let checked = self.files.check(path, access)?;
        self.checked = Some((checked.clone(), access));
        Ok(checked)
    }

    /// Returns the entry of a path, read from the disk the first time.
    pub(super) fn entry(&mut self, path: &RelPath, access: Access) -> Checked<&mut OverlayEntry> {
        if let Some(entry) = self.entries.get(path) {
            if let OverlayEntry { disk: Some(disk), state: EntryState::AsOnDisk, .. } = entry {
                // The rules depend on the access: a link may be deleted but not read.
                let access = if access == Access::Create { Access::Update } else { access };
                self.files.check_pre_image(path, &disk.metadata, access)?;
            }
        } else {
            self.spellings.add(path, access)?;
            let disk = self.read(path, access)?;
            self.insert(path, disk);
        }
        Ok(self.entries.get_mut(path).expect("inserted above"))
    }

    /// Reads the file or link at a path without an entry.
    fn read(&mut self, path: &RelPath, access: Access) -> Checked<Option<Disk>> {
        if let Some((_, disk)) = self.offered.take_if(|(offered, _)| offered == path) {
            return Ok(Some(disk));
        }
        if self.is_in_new_directory(path) {
            return Ok(None);
        }
        match load(&self.files, path, access, self.options.max_file_size) {
            Err(Problem::Guard(fs_guard::Error::NotAFile {
                kind: FileKind::Directory, ..
            })) if access == Access::Create && self.gives_way(path) => Ok(None),
            Err(Problem::Guard(
                fs_guard::Error::Symlink { .. } | fs_guard::Error::LeadsOut { .. },
            )) if access == Access::Create && self.is_below_gone(path) => Ok(None),
            disk => disk,
        }
    }

    /// Adds an entry for a path.
    pub(super) fn insert(&mut self, path: &RelPath, disk: Option<Disk>) {
        self.entries.insert(path.clone(), OverlayEntry::new(disk));
    }

    /// Returns the hash of the file or link at a path.
    pub(super) fn hash(&mut self, path: &str, access: Access) -> Checked<Option<Sha256>> {
        let path = self.check(path, access)?;
        Ok(self.entry(&path, access)?.hash())
    }

    /// Returns the hash of the file or link at a path before all changes.
    pub(super) fn hash_before(&mut self, path: &str) -> Checked<Option<Sha256>> {
        let path = self.check(path, Access::Read)?;
        Ok(self.entry(&path, Access::Read)?.disk.as_ref().map(Disk::sha256))
    }

    /// Returns whether a file or link is at a path.
    pub(super) fn exists(&mut self, path: &str, access: Access) -> Checked<bool> {
        let path = self.check(path, access)?;
        Ok(self.entry(&path, access)?.exists())
    }

    /// Refuses a new file in place of one of another section.
    pub(super) fn check_unused(
        &mut self,
        path: &str,
        index: usize,
        named: &Named<'_>,
    ) -> Checked<()> {
        let path = self.check(path, Access::Create)?;
        match named.sections(path.as_str()).find(|&other| other != index) {
            Some(other) if self.entry(&path, Access::Create)?.exists() => {
                Err(Problem::ReplacesUsed { other })
            }
            _ => Ok(()),
        }
    }

    /// Reads a file to be changed; `None` when nothing is there.
    pub(super) fn load(&mut self, path: &str) -> Checked<Option<Loaded>> {
        match self.file(path, Access::Update) {
            Err(Problem::Missing) => Ok(None),
            file => {
                let (path, New { post, .. }) = file?;
                self.loaded(path, &post).map(Some)
            }
        }
    }

    /// Begins another diff: its copies are made of the files as they are now.
    pub(super) fn begin_diff<'s>(&mut self, copied: impl Iterator<Item = &'s str>) {
        self.before_diff.clear();
        for path in copied {
            // An unreadable file is refused by the copy.
            if let Ok(checked) = self.check(path, Access::Read)
                && let Ok(now) = self.load(path)
            {
                self.before_diff.insert(checked, now);
            }
        }
    }

    /// Reads a file in its state before all changes of the diff; one created by the diff, in its
    /// state now.
    pub(super) fn load_original(&mut self, path: &str) -> Checked<Loaded> {
        let path = self.check(path, Access::Read)?;
        let begun = self.before_diff.get(&path);
        if let Some(Some(before)) = begun {
            return Ok(before.clone());
        }
        let is_first = begun.is_none();
        let post = match &self.entry(&path, Access::Read)?.disk {
            Some(disk) if is_first => as_on_disk(&path, disk).post,
            _ => self.file(path.as_str(), Access::Read)?.1.post,
        };
        self.loaded(path, &post)
    }

    /// Returns the file at a path, to be changed or moved.
    pub(super) fn file(&mut self, path: &str, access: Access) -> Checked<(RelPath, New)> {
        let path = self.check(path, access)?;
        let entry = self.entry(&path, access)?;
        let new = match (&entry.state, &entry.disk) {
            (EntryState::Written(New { post, .. }), _) if post.link => {
                return Err(not_a_file(&path, FileKind::Symlink));
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
        // The known hash of an edited file is computed from the bytes before.
        let hash = if post.hash.is_known() { post.hash.clone() } else { LazyHash::later(&bytes) };
        Ok(Loaded { path, bytes, hash, mode: post.mode })
    }

    /// Returns the bytes of the file at `path` after the changes so far.
    pub(super) fn source(&mut self, path: &RelPath, file: &PostImage) -> Checked<Arc<Vec<u8>>> {
        match &file.image {
            Image::Kept(bytes) => Ok(Arc::clone(bytes)),
            Image::Lines(lines) => Ok(lines.bytes().into()),
            Image::OnDisk(from) => self.on_disk(from, path),
            Image::Spliced(from, splices) => Ok(splices.apply(&self.on_disk(from, path)?).into()),
            Image::Stored(..) => unreachable!("BUG: what is restored is not edited"),
        }
    }

    /// Returns the bytes of a file before the commit, read again where they are not kept.
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

    /// Creates a file. A replaced file passes on its attributes, and its mode where the
    /// image states none.
    pub(super) fn create(&mut self, path: &str, mut post: PostImage) -> Checked<()> {
        let path = self.check(path, Access::Create)?;
        let replaced = self.make_way(&path)?;
        if !matches!(post.image, Image::Stored(..)) {
            check_size(&path, post.size, self.options.max_file_size)?;
        }
        if let Some(replaced) = replaced {
            if post.mode.exact().is_none() {
                post.mode = Mode::Exactly(replaced.kept_mode());
            }
            post.attributes_of = Some(path.clone());
        }
        self.write(&path, New { post, origin: None });
        Ok(())
    }

    /// Checks the path of a copy, which must differ from the path of its source.
    pub(super) fn check_copy(&mut self, from: &RelPath, to: &str) -> Checked<()> {
        self.settle(from);
        match self.check(to, Access::Create)? {
            target if target == *from => Err(Problem::SamePath),
            _ => Ok(()),
        }
    }

    /// Makes replacements in a file. `outcome` is the size of the result and, unless computed
    /// later, its hash, where they are known.
    pub(super) fn update(
        &mut self,
        path: &str,
        splices: Splices,
        outcome: Option<(Option<Sha256>, u64)>,
    ) -> Checked<()> {
        let (path, New { post, origin }) = self.file(path, Access::Update)?;
        let source = self.source(&path, &post)?;
        let (sha256, size) = outcome.unwrap_or_else(|| {
            let (sha256, size) = hash::outcome(&splices, &source);
            (Some(sha256), size)
        });
        check_size(&path, size, self.options.max_file_size)?;
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
        self.write(&path, New { post, origin });
        Ok(())
    }

    /// Replaces the bytes of a written file.
    pub(super) fn overwrite(&mut self, path: &RelPath, new: New, bytes: Vec<u8>) -> Checked<()> {
        let New { post, origin } = new;
        let PostImage { image, hash, size, .. } = PostImage::kept(bytes);
        check_size(path, size, self.options.max_file_size)?;
        self.write(path, New { post: PostImage { image, hash, size, ..post }, origin });
        Ok(())
    }

    /// Sets the right to run a file.
    pub(super) fn set_executable(&mut self, path: &str, yes: bool) -> Checked<()> {
        let (path, mut new) = self.file(path, Access::Update)?;
        new.post.mode = new.post.mode.with_executable(yes);
        self.write(&path, new);
        Ok(())
    }

    /// Deletes a file or link.
    pub(super) fn remove(&mut self, path: &str) -> Checked<()> {
        let path = self.check(path, Access::Delete)?;
        self.entry(&path, Access::Delete)?;
        self.take_away(&path)
    }

    /// Deletes a file or link together with its directory.
    pub(super) fn remove_within(&mut self, path: &RelPath) -> Checked<()> {
        let limit = self.options.max_file_size;
        let disk = load(&self.files, path, Access::Delete, limit)?.ok_or(Problem::Missing)?;
        self.insert(path, Some(disk));
        self.take_away(path)
    }

    /// Deletes the file or link at a known path.
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

    /// Finds a file to be taken from its path.
    pub(super) fn find(&mut self, from: &str) -> Checked<Lifted> {
        let (path, new) = self.file(from, Access::Delete)?;
        Ok(Lifted { path, new })
    }

    /// Takes a file from its path.
    pub(super) fn lift(&mut self, from: &str) -> Checked<Lifted> {
        let lifted = self.find(from)?;
        self.set(&lifted.path, EntryState::Absent);
        Ok(lifted)
    }

    /// Moves a file. Nothing has changed if its new place is refused.
    pub(super) fn rename(&mut self, found: Lifted, to: &str) -> Checked<()> {
        let path = found.path.clone();
        let known = self.order.len();
        let before = self.set(&path, EntryState::Absent);
        self.put(found, to).inspect_err(|_| {
            self.entries.get_mut(&path).expect("looked at before").state = before;
            self.order.truncate(known);
        })
    }

    /// Puts a file taken from its path in its new place.
    pub(super) fn put(&mut self, lifted: Lifted, to: &str) -> Checked<()> {
        let Lifted { path, mut new } = lifted;
        let target = self.check(to, Access::Create)?;
        if target == path {
            return Err(Problem::SamePath);
        }
        if !self.options.allow_move {
            return Err(Problem::MoveNotAllowed);
        }
        // Another file may have the name on disk by now.
        let origin = new.origin.as_ref();
        self.spellings.moving = origin.filter(|origin| !self.entries[*origin].exists()).cloned();
        let replaced = self.make_way(&target);
        self.spellings.moving = None;
        // A file created by this plan did not move: only its last path counts.
        if replaced?.is_some() {
            new.post.attributes_of.get_or_insert_with(|| target.clone());
        }
        self.write(&target, new);
        Ok(())
    }

    /// Returns the text of the symbolic link at a path.
    pub(super) fn link_text(&mut self, path: &str) -> Checked<Vec<u8>> {
        let path = self.check(path, Access::Delete)?;
        let entry = self.entry(&path, Access::Delete)?;
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
    }

    /// Lets the symbolic link at a path lead elsewhere.
    pub(super) fn retarget(&mut self, path: &RelPath, target: Vec<u8>) {
        self.write(path, New { post: PostImage::link_to(target), origin: None });
    }

    /// Returns the id of the commit of the submodule at a path; `None` where something else is
    /// there.
    pub(super) fn submodule(&mut self, path: &str) -> Checked<Option<String>> {
        let path = self.check(path, Access::Update)?;
        if !self.entries.contains_key(&path) {
            let seen = self.files.metadata(&path)?.ok_or(Problem::Missing)?;
            if seen.kind != FileKind::Submodule {
                return Ok(None);
            }
            let line = self.files.read_link(&path)?;
            let hash = Sha256::of(&line).into();
            self.insert(&path, Some(Disk { metadata: seen, hash, bytes: Some(line) }));
        }
        let entry = &self.entries[&path];
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
                    None => self.files.read_link(&path)?,
                }
            }
            _ => return Ok(None),
        };
        Ok(submodules::commit_of(&line).map(str::to_owned))
    }

    /// Sets the commit of a known submodule, or takes the submodule away.
    pub(super) fn set_submodule(&mut self, path: &str, post: Option<PostImage>) -> Checked<()> {
        let path = self.check(path, Access::Update)?;
        match post {
            Some(post) => self.write(&path, New { post, origin: None }),
            None => drop(self.set(&path, EntryState::Absent)),
        }
        Ok(())
    }

    /// Brings back the file of one path in place of `disk`, or deletes `disk`.
    pub(super) fn restore(&mut self, path: &RelPath, disk: Option<Disk>, post: Option<PostImage>) {
        self.insert(path, disk);
        match post {
            Some(post) => self.write(path, New { post, origin: None }),
            None => drop(self.set(path, EntryState::Absent)),
        }
    }

    /// Notes the reject of a section about a path, if anything was found out about the path.
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

    fn write(&mut self, path: &RelPath, new: New) {
        let origin = new.origin.clone();
        self.set(path, EntryState::Written(new));
        if let Some(origin) = origin.filter(|origin| origin != path) {
            self.settle(&origin);
        }
    }

    /// Sets the file at a path, and returns the one before.
    fn set(&mut self, path: &RelPath, state: EntryState) -> EntryState {
        let entry = self.entries.get_mut(path).expect("looked at before");
        if matches!(entry.state, EntryState::AsOnDisk) {
            self.order.push(path.clone());
        }
        let before = std::mem::replace(&mut entry.state, state);
        self.settle(path);
        before
    }

    /// Checks that a file may be created at `path`, and returns the file on disk to be replaced.
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
        if let Some(other) = self.spellings.respelt.get(path)
            && self.entries[other].exists()
        {
            return Err(Problem::Collides { with: other.to_string() });
        }
        let entry = &self.entries[path];
        if entry.exists() {
            let is_empty = matches!(entry.state, EntryState::AsOnDisk)
                && entry.disk.as_ref().is_some_and(|disk| disk.metadata.size == 0);
            if !(overwrite || self.fills_empty && is_empty) {
                return Err(Problem::Exists {
                    by: None,
                    new_in_diff: self.of_diff,
                    may_be_part: false,
                });
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
        if self.directories.all.contains(path) {
            self.drop_directory(path)?;
        }
        if !self.is_in_new_directory(path) {
            self.check_collision(path)?;
            let missing = self.parents_missing(path)?;
            if let Some(outermost) = missing.first()
                && !self.options.create_parents
            {
                return Err(Problem::MissingParent { directory: outermost.to_string() });
            }
            self.directories.need(missing);
        }
        Ok(None)
    }

    /// Refuses a new file beside one whose name a file system may take for the same.
    fn check_collision(&self, path: &RelPath) -> Checked<()> {
        if self.entries[path].disk.is_some() || self.is_below_gone(path) {
            return Ok(());
        }
        let moving = self.spellings.moving.as_ref();
        let Some(existing) = self.files.collision(path, moving)? else { return Ok(()) };
        if moving.is_some_and(|moving| existing == moving.as_str()) {
            return Err(Problem::OneName { with: existing });
        }
        Err(Problem::Guard(fs_guard::Error::Collision { path: path.to_string(), existing }))
    }

    /// Gives up a directory to be created by a diff, as its files are gone again: a file takes the
    /// path.
    fn drop_directory(&mut self, dir: &RelPath) -> Checked<()> {
        let beneath =
            self.entries.iter().filter(|(path, entry)| entry.exists() && is_within(path, dir));
        if let Some(file) = beneath.map(|(path, _)| path).min() {
            return Err(Problem::ParentOfFile { file: file.to_string() });
        }
        if !self.of_diff {
            return Err(not_a_file(dir, FileKind::Directory));
        }
        self.directories.drop(dir);
        Ok(())
    }

    /// Returns whether the plan creates the directory of `path`: a new directory is empty.
    fn is_in_new_directory(&self, path: &RelPath) -> bool {
        !self.directories.all.is_empty()
            && path.parent().is_some_and(|parent| self.directories.all.contains(&parent))
    }

    /// Returns whether a directory has lost all files by the changes so far, to make way for a
    /// file.
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

    /// Returns whether the changes so far took away a file or link at a directory above.
    fn is_below_gone(&self, path: &RelPath) -> bool {
        path.ancestors().any(|above| self.is_gone(&above))
    }

    /// Returns the directories to be created for `path`, outermost first: the missing ones, and
    /// those with the path of a deleted file.
    fn parents_missing(&self, path: &RelPath) -> Checked<Vec<RelPath>> {
        let mut above = path.ancestors().skip_while(|above| !self.is_gone(above)).peekable();
        match above.peek() {
            Some(_) => Ok(above.collect()),
            None => Ok(self.files.parents_missing(path)?),
        }
    }

    /// Creates the missing directories of a new file.
    pub(super) fn create_parents(&mut self, path: &RelPath) -> Checked<()> {
        if let OverlayEntry { disk: None, state: EntryState::Written(_), .. } = &self.entries[path]
        {
            let missing = self.parents_missing(path)?;
            self.directories.need(missing);
        }
        Ok(())
    }

    /// Returns whether the plan creates a directory for a file.
    pub(super) fn creates(&self, dir: &RelPath) -> bool {
        self.directories.all.contains(dir)
    }

    /// Refuses new files with which a directory would be a git repository.
    pub(super) fn check_no_new_repository(&self) -> Result<(), fs_guard::Error> {
        let appearing = self.order.iter().filter(|path| {
            let entry = &self.entries[*path];
            entry.disk.is_none() && entry.exists()
        });
        self.files.check_no_new_repository(appearing)
    }

    /// Returns the directories to be created, outer ones first: those of the files of the plan, and
    /// the `restored` ones.
    pub(super) fn created(
        &mut self,
        restored: Vec<NewDir>,
        transitions: &[Transition],
    ) -> Vec<NewDir> {
        if self.directories.order.is_empty() && restored.is_empty() {
            return Vec::new();
        }
        let appearing = transitions.iter().filter(|transition| transition.after.is_some());
        let needed: HashSet<RelPath> =
            appearing.flat_map(|transition| transition.path.ancestors()).collect();
        let named: HashSet<RelPath> = restored.iter().map(|dir| dir.path.clone()).collect();
        let mut dirs = restored;
        let plain = std::mem::take(&mut self.directories.order).into_iter();
        let plain = plain.filter(|dir| needed.contains(dir) && !named.contains(dir));
        dirs.extend(plain.map(|path| NewDir { path, mode: None }));
        if !named.is_empty() {
            dirs.sort_by(|one, other| one.path.cmp(&other.path));
        }
        dirs
    }

    /// Frees the memory of the look-ups: no change follows.
    pub(super) fn free(&mut self) {
        self.entries = Map::default();
        self.spellings.folded = Map::default();
    }
}

impl Spellings {
    /// Adds a path, and the directories above a new file.
    fn add(&mut self, path: &RelPath, access: Access) -> Checked<()> {
        self.add_one(path)?;
        if access == Access::Create {
            for above in path.ancestors() {
                self.add_one(&above)?;
            }
        }
        Ok(())
    }

    /// Refuses two paths of one plan if a file system may take them for the same.
    fn add_one(&mut self, path: &RelPath) -> Checked<()> {
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
}

impl Directories {
    fn need(&mut self, missing: Vec<RelPath>) {
        for directory in missing {
            if self.all.insert(directory.clone()) {
                self.order.push(directory);
            }
        }
    }

    /// Gives up a directory and all within.
    fn drop(&mut self, dir: &RelPath) {
        self.all.retain(|path| !is_within(path, dir));
        self.order.retain(|path| !is_within(path, dir));
    }
}

/// Returns whether a path is a directory or within.
fn is_within(path: &RelPath, dir: &RelPath) -> bool {
    let rest = path.as_str().strip_prefix(dir.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn check_size(path: &RelPath, size: u64, limit: u64) -> Checked<()> {
    if size > limit {
        Err(Problem::Guard(fs_guard::Error::TooLarge { path: path.to_string(), size, limit }))
    } else {
        Ok(())
    }
}

/// Returns an unchanged file.
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

/// Returns whether a directory has files, and all of them are gone, also those in directories
/// within.
pub(super) fn loses_all(files: &Files, dir: &RelPath, is_gone: &dyn Fn(&RelPath) -> bool) -> bool {
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
