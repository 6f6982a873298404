//! Reads, hashes and edits files ahead of the planner, on all processors: the part of planning that
//! does not depend on other sections.
//!
//! Sections act in order, but most patches name each path once, and the result of such a section
//! does not depend on the others. It is computed here before the planner needs it. The planner
//! takes it where it is still valid. Errors are dropped here: the planner then does the same work
//! in its own order, and reports them.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use fs_guard::{Access, FileKind, Hasher, RelPath, Sha256};
use patch_grammar::{Hunk, Section, SectionOperation};
use patch_text::cancel::Cancel;
use patch_text::locate::edit::Edit;
use patch_text::locate::edit_rules::EditRules;
use patch_text::locate::edit_text::edit_text;
use patch_text::locate::{HunkReject, Pass};
use patch_text::text::encoding::FileText;

use crate::files::Files;
use crate::files::hash::{LazyHash, hash_from};
use crate::plan::disk::{Disk, load_unhashed};
use crate::plan::texts::{Added, Texts};
use crate::plan::whitespace::WhitespaceOfPatch;
use crate::plan::{Image, Map};
use crate::processors::processors;

/// The most prefetched sections not yet taken: their files are in memory together.
const SECTIONS_AHEAD: usize = 256;

/// When this many bytes of files wait for the planner, no further one is read.
const BYTES_AHEAD: usize = 32 << 20;

/// A thread costs about 80 µs, as much as a few small files.
const SECTIONS_WORTH_A_THREAD: usize = 8;

/// Files of this size are hashed on a thread of their own while their hunks are looked for.
const SIZE_WORTH_A_THREAD: usize = 1 << 20;

/// More threads than this only wait for the file system.
const MOST_THREADS: usize = 8;

/// The result of a section whose file no other section names.
#[derive(Debug)]
pub(crate) struct Prefetched {
    pub(crate) path: RelPath,
    /// The file on disk, for a planner that has not read the file itself.
    pub(crate) disk: Option<Disk>,
    /// The file with its hunks applied, or why they cannot be; valid only together with `disk`.
    pub(crate) edited: Option<Result<Edited, Vec<HunkReject>>>,
    /// An added file.
    pub(crate) added: Option<Added>,
}

impl Prefetched {
    /// Returns how many bytes of files are held.
    fn size(&self) -> usize {
        let read =
            self.disk.as_ref().and_then(|disk| disk.bytes.as_ref()).map_or(0, |bytes| bytes.len());
        let added = match self.added.as_ref().map(|added| &added.post.image) {
            Some(Image::Kept(bytes)) => bytes.len(),
            _ => 0,
        };
        read + added
    }
}

/// A file with its hunks applied.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) edit: Edit,
    /// `None` where the hash is computed later.
    pub(crate) sha256: Option<Sha256>,
    pub(crate) size: u64,
    /// The encoding of the file, if other than UTF-8.
    pub(crate) encoding: Option<&'static str>,
}

impl Edited {
    /// Returns whether hunks that say nothing about line ends have deleted every line of the file,
    /// with all other bytes equal.
    pub(crate) fn is_all_of_it(&self, hunks: &[Hunk<'_>]) -> bool {
        let exact = self.edit.placed.iter().all(|placed| placed.pass == Pass::Exact);
        self.size == 0 && exact && !hunks.iter().any(|hunk| hunk.endings.is_of_diff())
    }

    /// Applies hunks to the text of a file, and hashes the result, now or later.
    pub(crate) fn new<'p>(
        source: &[u8],
        text: &FileText<'_>,
        hunks: &'p [Hunk<'p>],
        rules: EditRules<'_>,
        hashed_late: bool,
    ) -> Result<Self, Vec<HunkReject>> {
        let edit = edit_text(text, hunks, rules)?;
        if hashed_late {
            let size = edit.splices.size_of(source.len()) as u64;
            return Ok(Self { edit, sha256: None, size, encoding: text.encoding() });
        }
        Ok(Self::hash(edit, text, source, 0, Hasher::new(), rules.cancel))
    }

    /// Does the same, and hashes the file itself: both hashes share the work up to the first
    /// change.
    fn with_source<'p>(
        source: &[u8],
        text: &FileText<'_>,
        hunks: &'p [Hunk<'p>],
        rules: EditRules<'_>,
    ) -> Result<(Sha256, Self), Vec<HunkReject>> {
        let edit = edit_text(text, hunks, rules)?;
        let (same, rest) = source
            .split_at(edit.splices.as_slice().first().map_or(source.len(), |splice| splice.start));
        let mut hasher = Hasher::new();
        hasher.update(same);
        let edited = Self::hash(edit, text, source, same.len(), hasher.clone(), rules.cancel);
        hasher.update(rest);
        Ok((hasher.finish(), edited))
    }

    /// Hashes the result of an edit of `source`. `hasher` has the bytes before `from`.
    fn hash(
        edit: Edit,
        text: &FileText<'_>,
        source: &[u8],
        from: usize,
        mut hasher: Hasher,
        cancel: &dyn Cancel,
    ) -> Self {
        hash_from(&edit.splices, source, from, &mut hasher, cancel);
        let size = edit.splices.size_of(source.len()) as u64;
        Self { edit, sha256: Some(hasher.finish()), size, encoding: text.encoding() }
    }
}

/// Returns what a section does with the file at its path.
pub(crate) fn access_of(section: &Section<'_>) -> Access {
    match &section.operation {
        SectionOperation::Add(_) => Access::Create,
        SectionOperation::Delete(_) => Access::Delete,
        SectionOperation::Update { move_to: Some(_), .. } => Access::Delete,
        SectionOperation::Update { move_to: None, .. } => Access::Update,
        SectionOperation::Copy { .. } => Access::Read,
    }
}

/// Prepares sections before the planner needs them.
pub(crate) struct Prefetcher<'a, 'p> {
    files: &'a Files,
    /// All sections of the patch.
    all: &'p [Section<'p>],
    texts: &'a Texts<'a>,
    whitespace: &'a WhitespaceOfPatch,
    /// The sections to prepare, in order.
    sections: Vec<usize>,
    progress: Mutex<PrefetchProgress>,
    /// Signals room for more, or the end of the work.
    room: Condvar,
    /// Signals the arrival of the section wanted by the planner.
    arrived: Condvar,
}

/// The progress of the work.
#[derive(Debug, Default)]
struct PrefetchProgress {
    /// How many of the sections were begun.
    begun: usize,
    /// How many of them the planner took.
    taken: usize,
    /// The prefetched sections not yet taken; `None` where an error occurred.
    ready: Map<usize, Option<Prefetched>>,
    /// How many bytes of files they hold.
    bytes: usize,
    /// The section wanted by the planner.
    wanted: Option<usize>,
    /// How many threads wait for room.
    waiting: usize,
    /// The planner is done.
    ended: bool,
}

impl PrefetchProgress {
    /// Returns whether fewer sections and bytes than these are waiting.
    fn has_room(&self, sections: usize, bytes: usize) -> bool {
        self.begun - self.taken < sections && self.bytes < bytes
    }
}

impl<'a, 'p> Prefetcher<'a, 'p> {
    /// Makes a prefetcher for `sections`, whose paths no other section names.
    pub(crate) fn new(
        files: &'a Files,
        all: &'p [Section<'p>],
        texts: &'a Texts<'a>,
        whitespace: &'a WhitespaceOfPatch,
        sections: Vec<usize>,
    ) -> Self {
        let (progress, room, arrived) = Default::default();
        Self { files, all, texts, whitespace, sections, progress, room, arrived }
    }

    /// Calls `plan` while threads prepare sections ahead, where there are enough for a thread.
    pub(crate) fn during<T>(&self, plan: impl FnOnce(Prefetch<'_, 'a, 'p>) -> T) -> T {
        let threads = match self.sections.len() {
            ..SECTIONS_WORTH_A_THREAD => 1,
            _ => MOST_THREADS.min(processors()),
        };
        if threads == 1 {
            // A scope without threads takes four calls of the system.
            return plan(Prefetch(self));
        }
        thread::scope(|scope| {
            for _ in 1..threads {
                // Without this thread there is only less help.
                let _ = thread::Builder::new().spawn_scoped(scope, || self.help());
            }
            plan(Prefetch(self))
        })
    }

    fn help(&self) {
        let mut progress = self.lock();
        loop {
            if progress.ended || progress.begun == self.sections.len() {
                return;
            }
            if progress.has_room(SECTIONS_AHEAD, BYTES_AHEAD) {
                progress = self.one(progress);
            } else {
                progress.waiting += 1;
                progress = self.room.wait(progress).unwrap_or_else(PoisonError::into_inner);
                progress.waiting -= 1;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, PrefetchProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prefetches the next section.
    fn one<'s>(
        &'s self,
        mut progress: MutexGuard<'s, PrefetchProgress>,
    ) -> MutexGuard<'s, PrefetchProgress> {
        let index = self.sections[progress.begun];
        progress.begun += 1;
        drop(progress);
        let prefetched = self.attempt(index);
        let mut progress = self.lock();
        progress.bytes += prefetched.as_ref().map_or(0, Prefetched::size);
        progress.ready.insert(index, prefetched);
        if progress.wanted == Some(index) {
            self.arrived.notify_one();
        }
        progress
    }

    /// Prefetches a section. The planner must not wait for a result that never comes: after a panic
    /// it will do the same work, and panic itself.
    fn attempt(&self, index: usize) -> Option<Prefetched> {
        panic::catch_unwind(AssertUnwindSafe(|| self.section(index))).unwrap_or(None)
    }

    fn section(&self, index: usize) -> Option<Prefetched> {
        self.files.cancellation().check().ok()?;
        let section = &self.all[index];
        if section.submodule.is_some() {
            return None;
        }
        let access = access_of(section);
        let path = self.files.check(&section.path.text, access).ok()?;
        let hunks = match &section.operation {
            SectionOperation::Add(_) if section.binary.is_some() => return None,
            SectionOperation::Add(lines) => {
                let added = Some(self.texts.make(&path, lines)?);
                return Some(Prefetched { path, disk: None, edited: None, added });
            }
            SectionOperation::Delete(_) => &[][..],
            SectionOperation::Update { hunks, .. } => &hunks[..],
            // The source of a copy does not change, and another section may name it.
            SectionOperation::Copy { .. } => return None,
        };
        let options = self.texts.options;
        let rules = options.edit_rules(self.whitespace.rules(index), self.files);
        let (metadata, bytes) =
            load_unhashed(self.files, &path, access, options.max_file_size).ok()??;
        let bytes = bytes?;
        let editable = !hunks.is_empty() && metadata.kind == FileKind::File;
        let text = editable.then(|| self.texts.of(&path, &bytes, hunks)).flatten();
        if self.files.are_hashed_late() {
            let edited = text.as_ref().map(|text| Edited::new(&bytes, text, hunks, rules, true));
            self.files.cancellation().check().ok()?;
            let disk = Some(Disk { metadata, hash: LazyHash::later(&bytes), bytes: Some(bytes) });
            return Some(Prefetched { path, disk, edited, added: None });
        }
        let (sha256, edited) = if let Some(text) = text.as_ref()
            && bytes.len() >= SIZE_WORTH_A_THREAD
            && !cfg!(target_family = "wasm")
        {
            thread::scope(|scope| {
                let hash = || self.files.hash_bytes(&bytes);
                let thread = thread::Builder::new().spawn_scoped(scope, hash);
                let edited = Edited::new(&bytes, text, hunks, rules, false);
                (
                    thread.map_or_else(
                        |_| hash(),
                        |thread| thread.join().expect("hashing does not panic"),
                    ),
                    Some(edited),
                )
            })
        } else {
            match text.as_ref().map(|text| Edited::with_source(&bytes, text, hunks, rules)) {
                Some(Ok((sha256, edited))) => (Ok(sha256), Some(Ok(edited))),
                Some(Err(rejects)) => (self.files.hash_bytes(&bytes), Some(Err(rejects))),
                None => (self.files.hash_bytes(&bytes), None),
            }
        };
        let sha256 = sha256.ok()?;
        self.files.cancellation().check().ok()?;
        let disk = Some(Disk { metadata, hash: sha256.into(), bytes: Some(bytes) });
        Some(Prefetched { path, disk, edited, added: None })
    }
}

/// The planner's side of a prefetcher. When it goes, the work ends.
pub(crate) struct Prefetch<'s, 'a, 'p>(&'s Prefetcher<'a, 'p>);

impl Prefetch<'_, '_, '_> {
    /// Returns what is prefetched of section `index`. Sections are asked for in order.
    ///
    /// While waiting for one section, the calling thread prefetches others.
    pub(crate) fn take(&mut self, index: usize) -> Option<Prefetched> {
        let prefetcher = self.0;
        let mut progress = prefetcher.lock();
        if prefetcher.sections.get(progress.taken) != Some(&index) {
            return None;
        }
        let prefetched = loop {
            if progress.begun == progress.taken {
                // Nobody has begun this one.
                progress.begun += 1;
                drop(progress);
                let prefetched = prefetcher.attempt(index);
                progress = prefetcher.lock();
                break prefetched;
            }
            if let Some(prefetched) = progress.ready.remove(&index) {
                progress.bytes -= prefetched.as_ref().map_or(0, Prefetched::size);
                break prefetched;
            }
            let more = progress.begun < prefetcher.sections.len()
                && progress.has_room(SECTIONS_AHEAD, BYTES_AHEAD);
            if more {
                progress = prefetcher.one(progress);
            } else {
                progress.wanted = Some(index);
                progress =
                    prefetcher.arrived.wait(progress).unwrap_or_else(PoisonError::into_inner);
            }
        };
        progress.taken += 1;
        // Not for each section: waking costs more than preparing a small one.
        if progress.waiting > 0 && progress.has_room(SECTIONS_AHEAD / 2, BYTES_AHEAD / 2) {
            prefetcher.room.notify_all();
        }
        prefetched
    }
}

impl Drop for Prefetch<'_, '_, '_> {
    fn drop(&mut self) {
        let waiting = {
            let mut progress = self.0.lock();
            progress.ended = true;
            progress.waiting
        };
        // Waking is a call of the system, also where nobody waits.
        if waiting > 0 {
            self.0.room.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::options::Options;

    #[test]
    fn both_hashes_are_those_of_the_bytes() {
        let long: String =
            (0..100).map(|line| format!("line {line} of a file of several blocks\n")).collect();
        for (source, hunks) in [
            ("a\nb\n", "@@\n-a\n+A\n b\n"),
            ("a\nb\n", "@@\n a\n-b\n"),
            ("a\nb\n", "@@\n a\n b\n"),
            ("a", "@@\n-a\n+b\n"),
            ("\u{feff}a\r\nb\r\n", "@@\n-a\n+A\n"),
            (
                &long,
                "@@\n-line 2 of a file of several blocks\n@@\n\
                 -line 98 of a file of several blocks\n+new\n",
            ),
            (&long, "@@\n+end\n*** End of File\n"),
        ] {
            let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
            let options = Options::default();
            let rules = options.edit_rules(None, &());
            let patch = patch_grammar::parse(&text, &options.parse).unwrap();
            let whole = FileText::of(source.as_bytes(), None).unwrap();
            let (before, edited) =
                Edited::with_source(source.as_bytes(), &whole, patch.sections()[0].hunks(), rules)
                    .unwrap();
            let after = edited.edit.apply(source.as_bytes());
            assert_eq!(before, Sha256::of(source.as_bytes()), "{source:?}");
            assert_eq!(edited.sha256, Some(Sha256::of(&after)), "{source:?} {hunks}");
            assert_eq!(edited.size, after.len() as u64, "{source:?} {hunks}");
            let alone =
                Edited::new(source.as_bytes(), &whole, patch.sections()[0].hunks(), rules, false)
                    .unwrap();
            assert_eq!(alone.sha256, edited.sha256, "{source:?} {hunks}");
            assert_eq!(alone.size, edited.size, "{source:?} {hunks}");
        }
    }
}
