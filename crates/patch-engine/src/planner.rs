//! From a patch and the files to a plan: an overlay in which the sections act in order. Reads, never
//! writes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread;

use fs_guard::{Access, FileKind, Metadata, RelPath, Root, Sha256};
use patch_grammar::{Operation as Written, Patch, Section};

use crate::diff;
use crate::edit;
use crate::locate::{Note, Placed, RejectReason};
use crate::options::{Expected, Options};
use crate::plan::{Change, Operation, Plan, PlanNote};
use crate::prepare::{self, Ahead, Edited, Prepared, Preparer};
use crate::reject::{Problem, Reject};
use crate::transition::{Content, PostImage, PreImage, Transition};

/// Files up to this size stay in memory when they are deleted or moved, for the diff.
pub(crate) const KEPT_FOR_DIFF: u64 = 1 << 20;

/// In how many other files of the patch the lines of a rejected hunk are looked for.
const OTHER_FILES: usize = 20;

/// For how many rejected hunks of a patch that is done: each costs a walk over those files.
const LOOKED_FOR_ELSEWHERE: usize = 20;

/// Plans a patch: reads every file it needs once, and computes every post-image.
///
/// Sections act in order, each on what those before it leave.
///
/// # Errors
///
/// Everything that keeps the patch from applying, in the order of the patch. When anything is
/// refused, nothing may be applied.
pub fn plan(root: &Root, patch: &Patch<'_>, options: &Options) -> Result<Plan, Vec<Reject>> {
    let named = named(patch);
    let alone = patch.sections.iter().enumerate().filter(|(_, section)| {
        let path = section.path.text;
        // What is expected of a file is checked before, and its bytes are here then.
        named[path].len() == 1 && !options.expected.contains_key(path)
    });
    let preparer = Preparer::new(root, patch, options, alone.map(|(index, _)| index).collect());
    thread::scope(|scope| {
        let mut planner = Planner::new(root, patch, options, named, preparer.start(scope));
        planner.check_expectations();
        for (index, section) in patch.sections.iter().enumerate() {
            planner.prepared = planner.ahead.take(index);
            planner.section(index, section);
        }
        planner.finish()
    })
}

/// The sections that name each path.
fn named<'p>(patch: &'p Patch<'p>) -> HashMap<&'p str, Vec<usize>> {
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, section) in patch.sections.iter().enumerate() {
        for path in [Some(&section.path), destination(section)].into_iter().flatten() {
            named.entry(path.text).or_default().push(index);
        }
    }
    named
}

struct Planner<'s, 'a, 'p> {
    root: &'a Root,
    patch: &'p Patch<'p>,
    options: &'a Options,
    entries: HashMap<RelPath, Entry>,
    /// Paths in the order they were first written.
    order: Vec<RelPath>,
    /// The sections that name each path.
    named: HashMap<&'p str, Vec<usize>>,
    ahead: Ahead<'s, 'a, 'p>,
    /// What was prepared of the section that is planned now.
    prepared: Option<Prepared>,
    /// The paths of the section that is planned now.
    checked: Vec<RelPath>,
    /// Folded spellings of all paths of the patch.
    folded: HashMap<String, RelPath>,
    create_dirs: Vec<RelPath>,
    /// The directories to be created, each with a file that needs it.
    directories: HashMap<RelPath, RelPath>,
    placed: Vec<(usize, Placed)>,
    notes: Vec<PlanNote>,
    rejects: Vec<Reject>,
    /// How many bytes of files are kept in memory.
    kept: u64,
    /// How many rejected hunks were looked for in other files.
    looked_elsewhere: usize,
}

/// One path of the overlay.
#[derive(Debug)]
struct Entry {
    disk: Option<Disk>,
    state: State,
    /// Its bytes are counted as kept.
    kept: bool,
    /// A section about it was rejected; what follows about it would only repeat that.
    rejected: bool,
}

/// What is on disk.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) metadata: Metadata,
    pub(crate) sha256: Sha256,
    /// The bytes, where they were asked for or are few.
    pub(crate) bytes: Option<Arc<Vec<u8>>>,
}

/// What the sections so far leave at a path.
#[derive(Debug)]
enum State {
    AsOnDisk,
    Absent,
    Written(New),
}

/// A file that a section wrote.
#[derive(Debug, Clone)]
struct New {
    content: Content,
    sha256: Sha256,
    size: u64,
    mode: Option<u32>,
    attributes_of: Option<RelPath>,
    /// The path on disk that it moved from.
    origin: Option<RelPath>,
}

pub(crate) type Outcome<T> = Result<T, Problem>;

impl<'s, 'a, 'p> Planner<'s, 'a, 'p> {
    fn new(
        root: &'a Root,
        patch: &'p Patch<'p>,
        options: &'a Options,
        named: HashMap<&'p str, Vec<usize>>,
        ahead: Ahead<'s, 'a, 'p>,
    ) -> Self {
        Self {
            root,
            patch,
            options,
            entries: HashMap::with_capacity(patch.sections.len()),
            order: Vec::with_capacity(patch.sections.len()),
            named,
            ahead,
            prepared: None,
            checked: Vec::new(),
            folded: HashMap::with_capacity(patch.sections.len()),
            create_dirs: Vec::new(),
            directories: HashMap::new(),
            placed: Vec::new(),
            notes: patch.warnings.iter().cloned().map(PlanNote::Text).collect(),
            rejects: Vec::new(),
            kept: 0,
            looked_elsewhere: 0,
        }
    }

    fn check_expectations(&mut self) {
        for (path, &expected) in &self.options.expected {
            let outcome = self.actual(path).and_then(|actual| {
                let found = actual.map_or(Expected::Absent, Expected::Hash);
                if found == expected { Ok(()) } else { Err(Problem::Stale { expected, actual }) }
            });
            if let Err(problem) = outcome {
                if let Ok(checked) = self.root.check(path, Access::Read)
                    && let Ok(entry) = self.entry(&checked, Access::Read)
                {
                    entry.rejected = true;
                }
                self.rejects.push(Reject { section: None, path: path.clone(), hunk: None, patch_line: None, problem });
            }
        }
    }

    fn actual(&mut self, path: &str) -> Outcome<Option<Sha256>> {
        let path = self.root.check(path, Access::Read).map_err(Problem::Guard)?;
        Ok(self.entry(&path, Access::Read)?.disk.as_ref().map(|disk| disk.sha256))
    }

    fn section(&mut self, index: usize, section: &'p Section<'p>) {
        let result = match &section.operation {
            Written::Add(lines) => self.add(index, section, lines),
            Written::Delete => self.delete(section),
            Written::Update { move_to, hunks } => self.update(index, section, move_to.as_ref(), hunks),
        };
        for path in std::mem::take(&mut self.checked) {
            self.settle(&path);
        }
        let Err(failures) = result else { return };
        for path in [Some(&section.path), destination(section)].into_iter().flatten() {
            if let Ok(path) = self.root.check(path.text, Access::Read)
                && let Some(entry) = self.entries.get_mut(&path)
            {
                entry.rejected = true;
            }
        }
        for failure in failures {
            let Failure { path, hunk, patch_line, problem } = failure;
            let path = path.unwrap_or_else(|| section.path.text.to_owned());
            let patch_line = Some(patch_line.unwrap_or_else(|| section.line()));
            self.rejects.push(Reject { section: Some(index), path, hunk, patch_line, problem });
        }
    }

    fn add(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        lines: &patch_grammar::AddedLines<'p>,
    ) -> Result<(), Vec<Failure>> {
        let path = self.check(section, Access::Create)?;
        let entry = self.entry(&path, Access::Create)?;
        if entry.rejected {
            return Err(Vec::new());
        }
        let actual = entry.disk.as_ref().map(|disk| disk.sha256);
        // Whoever expects a file here does not mean to create it.
        if let Some(&expected @ Expected::Hash(_)) = self.options.expected.get(section.path.text) {
            return Err(Problem::Stale { expected, actual }.into());
        }
        let replaced = self.make_way(index, &path)?;
        let prepared = self.prepared.take().and_then(|prepared| prepared.added);
        let (bytes, sha256) = prepared.unwrap_or_else(|| prepare::added(lines, self.options));
        self.check_size(&path, bytes.len() as u64)?;
        self.write(
            &path,
            New {
                sha256,
                size: bytes.len() as u64,
                content: Content::Bytes(bytes.into()),
                mode: replaced.as_ref().map(Metadata::kept_mode),
                attributes_of: replaced.is_some().then(|| path.clone()),
                origin: None,
            },
        );
        Ok(())
    }

    fn delete(&mut self, section: &'p Section<'p>) -> Result<(), Vec<Failure>> {
        let path = self.check(section, Access::Delete)?;
        let allowed = self.options.allow_delete;
        let entry = self.entry(&path, Access::Delete)?;
        if entry.rejected {
            return Err(Vec::new());
        }
        match (&entry.state, &entry.disk) {
            (State::Absent, _) | (State::AsOnDisk, None) => Err(Problem::Missing.into()),
            _ if !allowed => Err(Problem::DeleteNotAllowed.into()),
            _ => {
                self.remove(&path);
                Ok(())
            }
        }
    }

    fn update(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        move_to: Option<&patch_grammar::Spanned<'p>>,
        hunks: &'p [patch_grammar::Hunk<'p>],
    ) -> Result<(), Vec<Failure>> {
        let leaves = move_to.is_some();
        let access = if leaves { Access::Delete } else { Access::Update };
        let path = self.check(section, access)?;
        let entry = self.entry(&path, access)?;
        if entry.rejected {
            return Err(Vec::new());
        }
        if matches!((&entry.state, &entry.disk), (State::Absent, _) | (State::AsOnDisk, None)) {
            return Err(Problem::Missing.into());
        }
        if let Some(disk) = &entry.disk
            && disk.metadata.kind != FileKind::File
        {
            // A link may be deleted and not moved: the guard says where it leads.
            let metadata = disk.metadata.clone();
            self.root.check_pre_image(&path, &metadata, Access::Update).map_err(Problem::Guard)?;
            let (path, kind) = (path.to_string(), metadata.kind);
            return Err(Problem::Guard(fs_guard::Error::NotAFile { path, kind }).into());
        }
        let mut failures = Vec::new();
        let target = match move_to.map(|to| self.destination(index, &path, to)).transpose() {
            Ok(target) => target,
            Err(failure) => {
                failures.push(failure);
                None
            }
        };
        let new = match self.edited(index, section, &path, hunks) {
            Ok(new) => new,
            Err(more) => {
                failures.extend(more);
                return Err(failures);
            }
        };
        if !failures.is_empty() {
            return Err(failures);
        }
        match target {
            None => self.write(&path, new),
            Some((to, replaced)) => {
                let origin = new.origin.clone();
                self.remove(&path);
                // A file made by this very patch did not move: it appears where it ends up.
                let attributes_of = new.attributes_of.clone().or_else(|| replaced.is_some().then(|| to.clone()));
                self.write(&to, New { origin, attributes_of, ..new });
            }
        }
        Ok(())
    }

    /// Checks where a file moves to, and gives what it replaces there.
    fn destination(
        &mut self,
        index: usize,
        path: &RelPath,
        to: &patch_grammar::Spanned<'p>,
    ) -> Result<(RelPath, Option<Metadata>), Failure> {
        let at = |problem| Failure { path: Some(to.text.to_owned()), hunk: None, patch_line: Some(to.line), problem };
        let target = self.root.check(to.text, Access::Create).map_err(|error| at(Problem::Guard(error)))?;
        self.checked.push(target.clone());
        if &target == path {
            return Err(at(Problem::SamePath));
        }
        if !self.options.allow_move {
            return Err(at(Problem::MoveNotAllowed));
        }
        let replaced = self.make_way(index, &target).map_err(at)?;
        Ok((target, replaced))
    }

    /// The file at `path` with `hunks` applied.
    fn edited(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        path: &RelPath,
        hunks: &'p [patch_grammar::Hunk<'p>],
    ) -> Result<New, Vec<Failure>> {
        let entry = &self.entries[path];
        let base = match (&entry.state, &entry.disk) {
            (State::Written(new), _) => new.clone(),
            (State::AsOnDisk, Some(disk)) => New {
                content: Content::CopyOf(path.clone()),
                sha256: disk.sha256,
                size: disk.metadata.size,
                mode: Some(disk.metadata.kept_mode()),
                attributes_of: Some(path.clone()),
                origin: Some(path.clone()),
            },
            _ => return Err(Problem::Missing.into()),
        };
        if hunks.is_empty() {
            return Ok(base);
        }
        let source = self.source(path, &base)?;
        if diff::is_binary(&source) {
            return Err(Problem::Binary { size: base.size, sha256: base.sha256 }.into());
        }
        // It was made of the file on disk: it holds if that is where this section found it.
        let prepared = self.prepared.take().filter(|prepared| prepared.path == *path && prepared.disk.is_none());
        let prepared = prepared.and_then(|prepared| prepared.edited);
        let edited = match prepared {
            Some(edited) => Ok(edited),
            None => Edited::new(&source, hunks, self.options),
        };
        let Edited { edit, sha256, size } = match edited {
            Ok(edited) => edited,
            Err(rejects) => {
                let failure = |reject: crate::locate::HunkReject| Failure {
                    path: None,
                    hunk: Some(reject.hunk),
                    patch_line: Some(reject.patch_line),
                    problem: self.elsewhere(index, path, &hunks[reject.hunk], reject.reason),
                };
                return Err(rejects.into_iter().map(failure).collect());
            }
        };
        for placed in edit.placed {
            let note = |note: &Note| PlanNote::Hunk {
                path: section.path.text.to_owned(),
                hunk: placed.hunk,
                note: note.clone(),
            };
            self.notes.extend(placed.notes.iter().map(note));
            self.placed.push((index, placed));
        }
        self.check_size(path, size)?;
        let content = match base.content {
            Content::CopyOf(from) if !self.entries[&from].kept && !self.has_room(source.len()) => {
                let hunks = diff::spliced(&source, &edit.splices);
                Content::SplicedFrom { from, sha256: base.sha256, splices: edit.splices, hunks }
            }
            Content::CopyOf(_) => Content::Spliced { source, splices: edit.splices },
            _ => Content::Bytes(edit::splice(&source, &edit.splices).into()),
        };
        Ok(New { content, sha256, size, ..base })
    }

    fn has_room(&self, size: usize) -> bool {
        self.kept.saturating_add(size as u64) <= self.options.max_memory
    }

    /// Keeps the bytes of a file in memory as long as there is room.
    fn settle(&mut self, path: &RelPath) {
        let size = match self.entries.get(path) {
            Some(Entry { disk: Some(Disk { bytes: Some(bytes), .. }), kept: false, .. }) => bytes.len(),
            _ => return,
        };
        let room = self.has_room(size);
        let entry = self.entries.get_mut(path).expect("looked at just now");
        entry.kept = room;
        if room {
            self.kept += size as u64;
        } else if let Some(disk) = &mut entry.disk {
            disk.bytes = None;
        }
    }

    /// Looks for the lines of a rejected hunk in the other files of the patch.
    fn elsewhere(
        &mut self,
        index: usize,
        path: &RelPath,
        hunk: &'p patch_grammar::Hunk<'p>,
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
        let others =
            patch.sections.iter().enumerate().filter(|(other, section)| *other != index && !section.hunks().is_empty());
        for (_, section) in others.take(OTHER_FILES) {
            let Ok(other) = self.root.check(section.path.text, Access::Update) else { continue };
            if &other == path {
                continue;
            }
            let disk = self.entry(&other, Access::Update).ok().and_then(|entry| entry.disk.as_ref());
            let Some(bytes) = disk.and_then(|disk| disk.bytes.clone()) else { continue };
            let exact = Options::default().placement;
            let found = edit::edit(&bytes, std::slice::from_ref(hunk), &exact, self.options.final_newline).ok();
            if let Some(line) = found.and_then(|edit| Some(edit.placed.first()?.first_line)) {
                return Problem::InOtherFile { reason, file: section.path.text.to_owned(), line };
            }
        }
        Problem::Hunk(reason)
    }

    /// The bytes that the hunks of a section see.
    fn source(&mut self, path: &RelPath, base: &New) -> Outcome<Arc<Vec<u8>>> {
        let from = match &base.content {
            Content::Bytes(bytes) => return Ok(bytes.clone()),
            Content::Spliced { source, splices } => return Ok(edit::splice(source, splices).into()),
            Content::CopyOf(from) => from.clone(),
            Content::SplicedFrom { from, sha256, splices, .. } => {
                let (bytes, _) = self.root.read(from, self.options.max_file_size).map_err(Problem::Guard)?;
                if Sha256::of(&bytes) != *sha256 {
                    return Err(Problem::Guard(fs_guard::Error::Changed { path: from.to_string() }));
                }
                return Ok(edit::splice(&bytes, splices).into());
            }
            Content::Stored { .. } => unreachable!("BUG: planning a patch stores nothing"),
        };
        let limit = self.options.max_file_size;
        let disk = self.entries.get_mut(&from).and_then(|entry| entry.disk.as_mut());
        let Some(disk) = disk else { return Err(Problem::Missing) };
        if let Some(bytes) = &disk.bytes {
            return Ok(bytes.clone());
        }
        if disk.metadata.size > limit {
            let size = disk.metadata.size;
            return Err(Problem::Guard(fs_guard::Error::TooLarge { path: path.to_string(), size, limit }));
        }
        let (bytes, metadata) = self.root.read(&from, limit).map_err(Problem::Guard)?;
        if Sha256::of(&bytes) != disk.sha256 {
            return Err(Problem::Guard(fs_guard::Error::Changed { path: path.to_string() }));
        }
        let bytes: Arc<Vec<u8>> = bytes.into();
        (disk.metadata, disk.bytes) = (metadata, Some(bytes.clone()));
        Ok(bytes)
    }

    /// Checks that a file may appear at `path`, and gives what it replaces.
    fn make_way(&mut self, index: usize, path: &RelPath) -> Outcome<Option<Metadata>> {
        let overwrite = self.options.overwrite;
        let entry = self.entry(path, Access::Create)?;
        if let State::AsOnDisk = entry.state
            && let Some(disk) = &entry.disk
            && disk.metadata.kind != FileKind::File
        {
            let (path, kind) = (path.to_string(), disk.metadata.kind);
            return Err(Problem::Guard(fs_guard::Error::NotAFile { path, kind }));
        }
        let present = match (&entry.state, &entry.disk) {
            (State::Written(_), disk) => Some(disk.as_ref().map(|disk| disk.metadata.clone())),
            (State::AsOnDisk, Some(disk)) => Some(Some(disk.metadata.clone())),
            _ => None,
        };
        if let Some(metadata) = present {
            if !overwrite {
                return Err(Problem::Exists);
            }
            let named = self.named.get(path.as_str()).into_iter().flatten();
            if let Some(other) = named.copied().find(|&other| other != index) {
                return Err(Problem::ReplacesUsed { other });
            }
            return Ok(metadata);
        }
        let mut above = path.parent();
        while let Some(directory) = above {
            if let Some(Entry { state: State::Written(_), .. }) = self.entries.get(&directory) {
                return Err(Problem::ParentIsFile { file: directory.to_string() });
            }
            above = directory.parent();
        }
        if let Some(beneath) = self.directories.get(path) {
            return Err(Problem::ParentIsFile { file: beneath.to_string() });
        }
        if self.is_in_new_directory(path) {
            return Ok(None);
        }
        if self.entries[path].disk.is_none()
            && let Some(existing) = self.root.collision(path).map_err(Problem::Guard)?
        {
            return Err(Problem::Guard(fs_guard::Error::Collision { path: path.to_string(), existing }));
        }
        let missing = self.parents_missing(path)?;
        if let Some(outermost) = missing.first()
            && !self.options.create_parents
        {
            return Err(Problem::MissingParent { directory: outermost.to_string() });
        }
        for directory in missing {
            if self.directories.insert(directory.clone(), path.clone()).is_none() {
                self.create_dirs.push(directory);
            }
        }
        Ok(None)
    }

    /// Whether the directory of `path` is one that the patch makes: then nothing is there yet.
    fn is_in_new_directory(&self, path: &RelPath) -> bool {
        !self.directories.is_empty() && path.parent().is_some_and(|parent| self.directories.contains_key(&parent))
    }

    /// The directories that have to be made for `path`, outermost first: those that are missing, and
    /// those in whose place the patch takes a file away.
    fn parents_missing(&self, path: &RelPath) -> Outcome<Vec<RelPath>> {
        let gone = |above: &RelPath| {
            matches!(self.entries.get(above), Some(Entry { state: State::Absent, disk: Some(_), .. }))
        };
        let mut above = path.ancestors().skip_while(|above| !gone(above)).peekable();
        match above.peek() {
            Some(_) => Ok(above.collect()),
            None => self.root.parents_missing(path).map_err(Problem::Guard),
        }
    }

    /// Checks the path of a section, which may have been done when it was prepared.
    fn check(&mut self, section: &Section<'_>, access: Access) -> Outcome<RelPath> {
        let path = match &self.prepared {
            Some(prepared) => prepared.path.clone(),
            None => self.root.check(section.path.text, access).map_err(Problem::Guard)?,
        };
        self.checked.push(path.clone());
        Ok(path)
    }

    fn check_size(&self, path: &RelPath, size: u64) -> Outcome<()> {
        let limit = self.options.max_file_size;
        if size > limit {
            return Err(Problem::Guard(fs_guard::Error::TooLarge { path: path.to_string(), size, limit }));
        }
        Ok(())
    }

    /// The overlay's entry, read from disk when it is asked for first.
    fn entry(&mut self, path: &RelPath, access: Access) -> Outcome<&mut Entry> {
        if !self.entries.contains_key(path) {
            self.check_spelling(path)?;
            if access == Access::Create {
                for above in path.ancestors() {
                    self.check_spelling(&above)?;
                }
            }
            let prepared = self.prepared.as_mut().filter(|prepared| prepared.path == *path);
            let disk = if let Some(disk) = prepared.and_then(|prepared| prepared.disk.take()) {
                Some(disk)
            } else if self.is_in_new_directory(path) {
                None
            } else {
                load(self.root, path, access, self.options.max_file_size)?
            };
            let entry = Entry { disk, state: State::AsOnDisk, kept: false, rejected: false };
            self.entries.insert(path.clone(), entry);
        } else if let Some(disk) = &self.entries[path].disk {
            // The rules differ by what is done: a link may be deleted and not be read.
            let access = if access == Access::Create { Access::Update } else { access };
            self.root.check_pre_image(path, &disk.metadata, access).map_err(Problem::Guard)?;
        }
        Ok(self.entries.get_mut(path).expect("inserted above"))
    }

    /// Refuses two paths of one patch that a file system may take for the same.
    fn check_spelling(&mut self, path: &RelPath) -> Outcome<()> {
        let folded = fs_guard::fold(path.as_str()).into_owned();
        match self.folded.entry(folded).or_insert_with(|| path.clone()) {
            other if other != path => Err(Problem::Collides { with: other.to_string() }),
            _ => Ok(()),
        }
    }

    fn write(&mut self, path: &RelPath, new: New) {
        self.touch(path);
        self.entries.get_mut(path).expect("checked before").state = State::Written(new);
    }

    fn remove(&mut self, path: &RelPath) {
        self.touch(path);
        self.entries.get_mut(path).expect("checked before").state = State::Absent;
    }

    fn touch(&mut self, path: &RelPath) {
        if matches!(self.entries[path].state, State::AsOnDisk) {
            self.order.push(path.clone());
        }
    }

    fn finish(mut self) -> Result<Plan, Vec<Reject>> {
        let appearing: Vec<&RelPath> = self
            .order
            .iter()
            .filter(|path| matches!(&self.entries[*path], Entry { disk: None, state: State::Written(_), .. }))
            .collect();
        if let Err(error) = self.root.check_no_new_repository(appearing) {
            let path = error.path().unwrap_or_default().to_owned();
            let problem = Problem::Guard(error);
            self.rejects.push(Reject { section: None, path, hunk: None, patch_line: None, problem });
        }
        if !self.rejects.is_empty() {
            self.rejects.sort_by_key(|reject| (reject.section, reject.patch_line));
            return Err(self.rejects);
        }
        let mut transitions = Vec::with_capacity(self.order.len());
        let mut removals = Vec::new();
        let mut changes = Vec::with_capacity(self.order.len());
        let mut moved: HashSet<RelPath> = HashSet::new();
        let mut pre_images = HashMap::with_capacity(self.order.len());
        for path in std::mem::take(&mut self.order) {
            let entry = self.entries.remove(&path).expect("every touched path has an entry");
            let before = entry.disk.map(|disk| {
                pre_images.extend(disk.bytes.map(|bytes| (path.clone(), bytes)));
                PreImage { metadata: disk.metadata, sha256: disk.sha256 }
            });
            match entry.state {
                State::Written(new) => {
                    let same = before.as_ref().is_some_and(|before| before.sha256 == new.sha256);
                    let own = new.origin.as_ref().is_none_or(|origin| origin == &path);
                    if same && own {
                        self.notes.push(PlanNote::Unchanged { path: path.to_string() });
                        continue;
                    }
                    let origin = new.origin.clone().filter(|origin| origin != &path);
                    moved.extend(origin.clone());
                    changes.push((origin, path.clone(), transitions.len()));
                    let New { content, sha256, size, mode, attributes_of, .. } = new;
                    let after = PostImage { content, sha256, size, mode, attributes_of };
                    transitions.push(Transition { path, before, after: Some(after) });
                }
                State::Absent if before.is_some() => removals.push(Transition { path, before, after: None }),
                State::Absent | State::AsOnDisk => {}
            }
        }
        for removal in removals {
            if !moved.contains(&removal.path) {
                changes.push((None, removal.path.clone(), transitions.len()));
            }
            transitions.push(removal);
        }
        let by_path: HashMap<&RelPath, &PreImage> =
            transitions.iter().filter_map(|other| Some((&other.path, other.before.as_ref()?))).collect();
        let changes = changes
            .into_iter()
            .map(|(origin, path, transition)| {
                let Transition { before, after, .. } = &transitions[transition];
                let operation = match (&origin, before, after) {
                    (Some(_), ..) => Operation::Move,
                    (None, _, None) => Operation::Delete,
                    (None, None, _) => Operation::Create,
                    (None, Some(_), _) => Operation::Update,
                };
                let before = match &origin {
                    Some(origin) => by_path.get(origin).copied(),
                    None => before.as_ref(),
                };
                Change {
                    operation,
                    before: before.map(|before| before.sha256),
                    after: after.as_ref().map(|after| after.sha256),
                    to_path: origin.is_some().then(|| path.clone()),
                    path: origin.unwrap_or(path),
                    transition,
                }
            })
            .collect();
        // A directory is made for a file that stays.
        let appearing = transitions.iter().filter(|transition| transition.after.is_some());
        let needed: HashSet<RelPath> = appearing.flat_map(|transition| transition.path.ancestors()).collect();
        let create_dirs = self.create_dirs.into_iter().filter(|dir| needed.contains(dir)).collect();
        Ok(Plan {
            transitions,
            create_dirs,
            changes,
            hunk_count: self.patch.hunk_count(),
            placed: self.placed,
            notes: self.notes,
            pre_images,
            ..Plan::default()
        })
    }
}

/// Reads what is at a path; files that are not changed and not small are only hashed.
pub(crate) fn load(root: &Root, path: &RelPath, access: Access, max_file_size: u64) -> Outcome<Option<Disk>> {
    let Some((metadata, bytes)) = load_unhashed(root, path, access, max_file_size)? else { return Ok(None) };
    if let Some(bytes) = bytes {
        return Ok(Some(Disk { metadata, sha256: Sha256::of(&bytes), bytes: Some(Arc::new(bytes)) }));
    }
    if metadata.kind == FileKind::Symlink {
        let target = root.read_link(path).map_err(Problem::Guard)?;
        return Ok(Some(Disk { metadata, sha256: Sha256::of(&target), bytes: None }));
    }
    let (mut file, metadata) = root.open_file(path).map_err(Problem::Guard)?;
    let sha256 = file.hash().map_err(Problem::Guard)?;
    Ok(Some(Disk { metadata, sha256, bytes: None }))
}

/// Reads what is at a path; no bytes of links, and of files that are not changed and not small.
pub(crate) fn load_unhashed(
    root: &Root,
    path: &RelPath,
    access: Access,
    max_file_size: u64,
) -> Outcome<Option<(Metadata, Option<Vec<u8>>)>> {
    // Whether an existing file may be replaced is for the options to say; the guard is asked
    // what it asks of a file that changes.
    let access = if access == Access::Create { Access::Update } else { access };
    let Some(metadata) = root.inspect(path, access).map_err(Problem::Guard)? else {
        return Ok(None);
    };
    match metadata.kind {
        FileKind::Symlink => Ok(Some((metadata, None))),
        FileKind::File if metadata.size <= KEPT_FOR_DIFF || access == Access::Update => {
            let (bytes, metadata) = root.read(path, max_file_size).map_err(Problem::Guard)?;
            Ok(Some((metadata, Some(bytes))))
        }
        FileKind::File => Ok(Some((metadata, None))),
        kind => Err(Problem::Guard(fs_guard::Error::NotAFile { path: path.to_string(), kind })),
    }
}

/// A rejected part of a section.
struct Failure {
    path: Option<String>,
    hunk: Option<usize>,
    patch_line: Option<u32>,
    problem: Problem,
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

fn destination<'s, 'p>(section: &'s Section<'p>) -> Option<&'s patch_grammar::Spanned<'p>> {
    match &section.operation {
        Written::Update { move_to, .. } => move_to.as_ref(),
        Written::Add(_) | Written::Delete => None,
    }
}
