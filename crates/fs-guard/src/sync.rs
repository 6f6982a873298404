//! Making many files durable at once.

use std::thread;

use crate::append::AppendFile;
use crate::dir::{Dir, Spot};
use crate::dirs::Dirs;
use crate::error::{At as _, Error};
use crate::stage::StagedFile;
use crate::sys::{self, Fd, Open};

/// Up to so many files are synced each on its own,
const FEW_FILES: usize = 4;
/// and up to so many directories.
const FEW_DIRS: usize = 6;
/// With more unwritten data of others than this in the system, `syncfs` would wait for strangers.
const CALM: u64 = 64 << 20;
const THREADS: usize = 16;

/// Files and directories that shall be durable together.
///
/// A few are synced each; more by one call for the file system where that is known to work and
/// little else waits to be written; otherwise each, on several threads.
#[derive(Debug, Default)]
pub struct SyncGroup<'f> {
    open: Vec<(&'f Fd, String)>,
    closed: Vec<Spot>,
    dirs: Vec<Dir>,
    workspace: Option<&'f Dirs<'f>>,
    /// How many bytes the staged files have.
    bytes: u64,
}

impl<'f> SyncGroup<'f> {
    /// Starts with nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a staged file.
    pub fn file(&mut self, file: &'f StagedFile) {
        if file.metadata.kind != crate::metadata::FileKind::File {
            return; // a link is a part of its directory
        }
        self.bytes += file.metadata.size;
        match &file.handle {
            Some(handle) => self.open.push((handle, file.spot.path())),
            None => self.closed.push(file.spot.clone()),
        }
    }

    /// Adds a file by its place.
    pub fn spot(&mut self, spot: Spot) {
        self.closed.push(spot);
    }

    /// Adds a log.
    pub fn log(&mut self, log: &'f AppendFile) {
        self.open.push((log.handle(), log.path().to_owned()));
    }

    /// Adds a directory: the names in it.
    pub fn dir(&mut self, dir: &Dir) {
        self.dirs.push(dir.clone());
    }

    /// Adds every directory that was opened there.
    pub fn dirs_of(&mut self, dirs: &'f Dirs<'f>) {
        self.workspace = Some(dirs);
    }

    /// Waits until all of it is durable.
    ///
    /// `whole`: all of it is on the file system of that directory, so that one call for the file system will do.
    pub fn sync(self, whole: Option<&Dir>) -> Result<(), Error> {
        let dirs = self.dirs.len() + self.workspace.map_or(0, Dirs::count);
        let many = self.open.len() + self.closed.len() > FEW_FILES || dirs > FEW_DIRS;
        if many
            && let Some(dir) = whole
            && sys::dirty_bytes().is_some_and(|bytes| bytes < CALM + self.bytes)
            && let Some(result) = sys::sync_file_system(&dir.handle)
        {
            return result.at("sync the file system of", dir.path());
        }
        for (handle, path) in &self.open {
            sys::sync(handle).at("sync", path)?;
        }
        sync_closed(&self.closed)?;
        self.dirs.iter().try_for_each(Dir::sync)?;
        self.workspace.map_or(Ok(()), Dirs::sync_each)
    }
}

impl Spot {
    /// Writes a small file of the program's own here, in the place of one that may be there: all of it or, after a crash,
    /// none. It is written as `<name>.new` first.
    pub fn write(&self, bytes: &[u8], durable: bool) -> Result<(), Error> {
        let draft = self.dir.spot(&format!("{}.new", self.name));
        let mut file = match draft.create(0o600) {
            // Left by a process that was cut off.
            Err(Error::AlreadyExists { .. }) => {
                draft.remove()?;
                draft.create(0o600)?
            }
            result => result?,
        };
        file.write(bytes)?;
        let file = file.finish(None, None, durable)?;
        if durable {
            let mut group = SyncGroup::new();
            group.file(&file);
            group.sync(None)?;
        }
        // A rename is one step everywhere; an exchange takes three where the system has none.
        file.replace(self).map_err(|failed| failed.error)
    }
}

fn sync_closed(spots: &[Spot]) -> Result<(), Error> {
    let one = |spot: &Spot| -> Result<(), Error> {
        let file = sys::open_at(&spot.dir.handle, &spot.name, Open::Sync).at("open", spot.path())?;
        sys::sync(&file).at("sync", spot.path())
    };
    if spots.len() <= 4 {
        return spots.iter().try_for_each(one);
    }
    // Each has a file open.
    let threads = sys::open_files_limit().map_or(THREADS, |limit| (limit / 8).clamp(1, THREADS));
    let share = spots.len().div_ceil(threads);
    let all = |spots: &[Spot]| spots.iter().try_for_each(one);
    let recorder = &sys::record::recorder();
    thread::scope(|scope| {
        let begin = |share| {
            let recorder = recorder.clone();
            let work = move || {
                recorder.adopt();
                all(share)
            };
            thread::Builder::new().spawn_scoped(scope, work).map_err(|_| share)
        };
        let workers: Vec<_> = spots.chunks(share).map(begin).collect();
        workers.into_iter().try_for_each(|worker| match worker {
            Ok(worker) => worker.join().expect("a sync does not panic"),
            // There are no more threads to be had.
            Err(share) => all(share),
        })
    })
}
