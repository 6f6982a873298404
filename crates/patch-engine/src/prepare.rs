//! The part of planning that needs no other section: reading, hashing and editing files, on all
//! processors; and the bytes of new ones.
//!
//! Sections act in order, but most patches name each path once; what such a section makes of its file
//! does not depend on the others. It is worked out here for a window of sections at a time, and the
//! planner takes it where it still holds. Whatever goes wrong here is left out: the planner then
//! does the same in its own order, and words the refusal.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use fs_guard::{Access, FileKind, Hasher, RelPath, Root, Sha256};
use patch_grammar::{AddedLines, Hunk, Operation, Patch, Section};

use crate::diff::is_binary;
use crate::edit::{self, Edit};
use crate::locate::HunkReject;
use crate::options::Options;
use crate::planner::{Disk, load_unhashed};
use crate::transition::Splice;

/// How many sections are prepared at a time: their files are in memory together.
const WINDOW: usize = 256;

/// When this many bytes of files are in memory, no further one is read for the window.
const WINDOW_BYTES: usize = 32 << 20;

/// A thread costs about 80 µs, as much as a few small files.
const SECTIONS_WORTH_A_THREAD: usize = 8;

/// Files of this size are hashed on a thread of their own while their hunks are looked for.
const SIZE_WORTH_A_THREAD: usize = 1 << 20;

/// More threads than this only wait for the file system.
const MOST_THREADS: usize = 8;

/// What one section makes of its file, if nothing else in the patch is about it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) path: RelPath,
    /// What is there. The planner takes it if it has not read the file itself before.
    pub(crate) disk: Option<Disk>,
    /// What the hunks make of it; holds only for what was taken.
    pub(crate) edited: Option<Edited>,
    /// The bytes of a file that is added, and their hash.
    pub(crate) added: Option<(Vec<u8>, Sha256)>,
}

impl Prepared {
    /// How many bytes of files it holds.
    fn size(&self) -> usize {
        let read = self.disk.as_ref().and_then(|disk| disk.bytes.as_ref()).map_or(0, |bytes| bytes.len());
        read + self.added.as_ref().map_or(0, |(bytes, _)| bytes.len())
    }
}

/// A file with its hunks applied.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) edit: Edit,
    pub(crate) sha256: Sha256,
    pub(crate) size: u64,
}

impl Edited {
    /// Applies hunks to a file.
    pub(crate) fn new<'p>(source: &[u8], hunks: &'p [Hunk<'p>], options: &Options) -> Result<Self, Vec<HunkReject>> {
        let edit = edit::edit(source, hunks, &options.placement, options.final_newline)?;
        let (sha256, size) = hash_spliced(source, &edit.splices);
        Ok(Self { edit, sha256, size })
    }
}

/// The bytes of a new file, and their hash.
pub(crate) fn added(lines: &AddedLines<'_>, options: &Options) -> (Vec<u8>, Sha256) {
    let bytes = edit::added(lines, options.add_newline);
    let sha256 = Sha256::of(&bytes);
    (bytes, sha256)
}

fn hash_spliced(source: &[u8], splices: &[Splice]) -> (Sha256, u64) {
    let mut hasher = Hasher::new();
    let mut size = source.len() as u64;
    let mut from = 0;
    for splice in splices {
        hasher.update(&source[from..splice.start]);
        hasher.update(&splice.text);
        size = size + splice.text.len() as u64 - (splice.end - splice.start) as u64;
        from = splice.end;
    }
    hasher.update(&source[from..]);
    (hasher.finish(), size)
}

/// Prepares sections, a window at a time.
pub(crate) struct Preparer<'a, 'p> {
    root: &'a Root,
    patch: &'p Patch<'p>,
    options: &'a Options,
    /// The sections before this one were prepared.
    reached: usize,
    ready: HashMap<usize, Prepared>,
}

impl<'a, 'p> Preparer<'a, 'p> {
    pub(crate) fn new(root: &'a Root, patch: &'p Patch<'p>, options: &'a Options) -> Self {
        Self { root, patch, options, reached: 0, ready: HashMap::new() }
    }

    /// What is prepared of section `index`; `alone` tells of a section whether no other names its path.
    pub(crate) fn take(&mut self, index: usize, alone: impl Fn(usize) -> bool) -> Option<Prepared> {
        if index >= self.reached {
            self.reached = self.patch.sections.len().min(index + WINDOW);
            let window: Vec<usize> = (index..self.reached).filter(|&section| alone(section)).collect();
            let taken;
            (self.ready, taken) = self.prepare(&window);
            self.reached = window.get(taken).copied().unwrap_or(self.reached).max(index + 1);
        }
        self.ready.remove(&index)
    }

    /// Prepares sections of the window, and tells how many it came to.
    fn prepare(&self, window: &[usize]) -> (HashMap<usize, Prepared>, usize) {
        let ready = Mutex::new(HashMap::with_capacity(window.len()));
        let next = AtomicUsize::new(0);
        let loaded = AtomicUsize::new(0);
        let work = || {
            while loaded.load(Ordering::Relaxed) < WINDOW_BYTES
                && let Some(&index) = window.get(next.fetch_add(1, Ordering::Relaxed))
            {
                if let Some(prepared) = self.section(&self.patch.sections[index]) {
                    loaded.fetch_add(prepared.size(), Ordering::Relaxed);
                    ready.lock().unwrap_or_else(PoisonError::into_inner).insert(index, prepared);
                }
            }
        };
        let threads = match window.len() {
            ..SECTIONS_WORTH_A_THREAD => 1,
            _ => thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS),
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        (ready.into_inner().unwrap_or_else(PoisonError::into_inner), next.into_inner().min(window.len()))
    }

    fn section(&self, section: &'p Section<'p>) -> Option<Prepared> {
        let (access, hunks) = match &section.operation {
            Operation::Add(lines) => {
                let path = self.root.check(section.path.text, Access::Create).ok()?;
                return Some(Prepared { path, disk: None, edited: None, added: Some(added(lines, self.options)) });
            }
            Operation::Delete => (Access::Delete, &[][..]),
            Operation::Update { move_to: Some(_), hunks } => (Access::Delete, &hunks[..]),
            Operation::Update { move_to: None, hunks } => (Access::Update, &hunks[..]),
        };
        let path = self.root.check(section.path.text, access).ok()?;
        let (metadata, bytes) = load_unhashed(self.root, &path, access, self.options.max_file_size).ok()??;
        let bytes = bytes?;
        let editable = !hunks.is_empty() && metadata.kind == FileKind::File && !is_binary(&bytes);
        let edit = || editable.then(|| Edited::new(&bytes, hunks, self.options).ok()).flatten();
        let (sha256, edited) = if editable && bytes.len() >= SIZE_WORTH_A_THREAD {
            thread::scope(|scope| {
                let hash = scope.spawn(|| Sha256::of(&bytes));
                let edited = edit();
                (hash.join().expect("hashing does not panic"), edited)
            })
        } else {
            (Sha256::of(&bytes), edit())
        };
        let disk = Some(Disk { metadata, sha256, bytes: Some(Arc::new(bytes)) });
        Some(Prepared { path, disk, edited, added: None })
    }
}
