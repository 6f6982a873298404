//! Makes many files durable at once.

use std::thread;

use crate::append::{AppendFile, require_own_file};
use crate::cancel::Cancellation;
use crate::dir::{Dir, Spot};
use crate::dirs::Dirs;
use crate::error::{At as _, Error};
use crate::stage::StagedFile;
use crate::sys::{self, Fd, Open};

/// The most files synced one by one.
const FEW_FILES: usize = 4;
/// The most directories synced one by one.
const FEW_DIRS: usize = 6;
/// If the system has more unwritten data than this, `syncfs` would wait for other programs' data.
const CALM: u64 = 64 << 20;
const THREADS: usize = 16;

/// A disk writes so many bytes whole or not at all.
pub const SECTOR: usize = 512;

/// Files and directories to be synced together.
///
/// A few are synced one by one. For more there is one call for the whole file system, if known to
/// work and if little other data is waiting; otherwise several threads sync one by one.
#[derive(Debug, Default)]
pub struct SyncGroup<'f> {
    open: Vec<(&'f Fd, String)>,
    closed: Vec<Spot>,
    dirs: Vec<Dir>,
    workspace: Option<&'f Dirs<'f>>,
    /// The size of the staged files, in bytes.
    bytes: u64,
    cancellation: Cancellation,
}

impl<'f> SyncGroup<'f> {
    /// Creates an empty group.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets [`sync`](Self::sync) be given up between two files.
    #[must_use]
    pub fn cancelled_by(self, cancellation: &Cancellation) -> Self {
        Self { cancellation: cancellation.clone(), ..self }
    }

    /// Adds a staged file.
    pub fn file(&mut self, file: &'f StagedFile) {
        let Some(size) = file.size else { return };
        self.bytes += size;
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

    /// Adds a directory, to sync its names.
    pub fn dir(&mut self, dir: &Dir) {
        self.dirs.push(dir.clone());
    }

    /// Adds every directory opened by `dirs`.
    pub fn dirs_of(&mut self, dirs: &'f Dirs<'f>) {
        self.workspace = Some(dirs);
    }

    /// Waits until everything is durable.
    ///
    /// `whole`: everything is on the file system of this directory, so one call for the file system
    /// is enough. This call cannot be given up.
    pub fn sync(self, whole: Option<&Dir>) -> Result<(), Error> {
        self.cancellation.check()?;
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
            self.cancellation.check()?;
            sys::sync(handle).at("sync", path)?;
        }
        sync_closed(&self.closed, &self.cancellation)?;
        for dir in &self.dirs {
            self.cancellation.check()?;
            dir.sync()?;
        }
        self.workspace.map_or(Ok(()), Dirs::sync_each)
    }
}

/// One of the program's own small files of [`SECTOR`] bytes, open for reading and overwriting.
///
/// A new inode for each version would be slow on ext4: for a minute, the search for an inode for
/// each new file passes all those removed.
#[derive(Debug)]
pub struct SectorFile {
    handle: sys::Fd,
    path: String,
}

impl SectorFile {
    /// Reads all bytes.
    pub fn read(&self) -> Result<[u8; SECTOR], Error> {
        let mut bytes = [0; SECTOR];
        match sys::read_at(&self.handle, &mut bytes, 0).at("read", &self.path)? {
            SECTOR => Ok(bytes),
            _ => Err(Error::Changed { path: self.path.clone() }),
        }
    }

    /// Overwrites the file: completely or, after a crash, not at all. Readers meanwhile may see
    /// parts of both versions.
    pub fn overwrite(&self, bytes: &[u8; SECTOR], durable: bool) -> Result<(), Error> {
        sys::write_at_start(&self.handle, bytes).at("write", &self.path)?;
        if durable { sys::sync(&self.handle).at("sync", &self.path) } else { Ok(()) }
    }
}

impl Spot {
    /// Opens one of the program's own small files of [`SECTOR`] bytes; `None` if the file is
    /// missing, has another size or a second name, or is not ours to write.
    #[must_use]
    pub fn sector_file(&self) -> Option<SectorFile> {
        let handle = self.open_own(Open::Overwrite).ok()?;
        let seen = sys::stat(&handle).ok()?;
        let is_one = seen.size == SECTOR as u64 && require_own_file(&seen, "").is_ok();
        is_one.then(|| SectorFile { handle, path: self.path() })
    }

    /// Writes one of the program's own small files here, replacing an existing one: completely or,
    /// after a crash, not at all. It is first written as `<name>.new`.
    pub fn write(&self, bytes: &[u8], durable: bool) -> Result<(), Error> {
        let draft = self.dir.spot(&format!("{}.new", self.name));
        let mut file = match draft.create(0o600) {
            // Left by an interrupted process.
            Err(Error::AlreadyExists { .. }) => {
                draft.remove()?;
                draft.create(0o600)?
            }
            result => result?,
        };
        file.write(bytes)?;
        let file = file.finish_own(durable);
        if durable {
            let mut group = SyncGroup::new();
            group.file(&file);
            group.sync(None)?;
        }
        // A rename is one step everywhere; an exchange takes three where the system has none.
        file.replace(self).map_err(|failed| failed.error)
    }
}

fn sync_closed(spots: &[Spot], cancellation: &Cancellation) -> Result<(), Error> {
    if spots.len() <= 4 {
        return sync_each(spots, cancellation);
    }
    // Each has an open file.
    let threads = sys::open_files_limit().map_or(THREADS, |limit| (limit / 8).clamp(1, THREADS));
    let share = spots.len().div_ceil(threads);
    let recorder = &sys::record::recorder();
    thread::scope(|scope| {
        let mut workers = Vec::with_capacity(threads);
        for share in spots.chunks(share) {
            let recorder = recorder.clone();
            let worker = thread::Builder::new().spawn_scoped(scope, move || {
                recorder.adopt();
                sync_each(share, cancellation)
            });
            workers.push(worker.map_err(|_| share));
        }
        workers.into_iter().try_for_each(|worker| match worker {
            Ok(worker) => worker.join().expect("a sync does not panic"),
            // No more threads can be created.
            Err(share) => sync_each(share, cancellation),
        })
    })
}

fn sync_each(spots: &[Spot], cancellation: &Cancellation) -> Result<(), Error> {
    for spot in spots {
        cancellation.check()?;
        let file =
            sys::open_at(&spot.dir.handle, &spot.name, Open::Sync).at("open", spot.path())?;
        sys::sync(&file).at("sync", spot.path())?;
    }
    Ok(())
}
