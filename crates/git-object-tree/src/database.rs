//! The object database: reading, what is still to be written, and writing that durably.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gix_object::FindHeader as _;
use gix_odb::store::init::{Options, Slots};

use crate::error::{Error, Result};
use crate::files::{self, FileInProgress, Temporary, failed};
use crate::id::{Id, ObjectKind};
use crate::object::Object;
use crate::pack;
use crate::unwritten::{NewObject, Unwritten};

/// How many objects are worth a pack; fewer become a file each.
const PACK_FROM: usize = 16;

/// How many packs the library has room for. With more packs the store is opened again, with room
/// for twice as many.
const SLOTS: u16 = 256;

/// The most memory of the objects last read or written, and the largest of them.
const RECENT: usize = 8 << 20;
const SMALL: usize = 16 << 10;

/// The most memory of objects that others in a pack are deltas of, for each thread that reads.
const DELTA_BASES: usize = 16 << 20;

/// The memory of an object besides its bytes, about.
const AROUND: usize = 128;

/// The largest file, and the largest object inside, to be read in one go.
const LOOSE: u64 = 1 << 20;

/// How often what is in memory is written anew when directories vanish meanwhile.
const ATTEMPTS: usize = 16;

/// The name of the empty tree.
const EMPTY_TREE: Id =
    Id::new(*b"\x4b\x82\x5d\xc6\x42\xcb\x6e\xb9\xa0\x60\xe5\x4b\xf8\xd6\x92\x88\xfb\xee\x49\x04");

type Handle = gix_odb::HandleArc;

/// The packs and tables with which a thread reads.
struct ObjectReader {
    packs: Handle,
    inflate: gix_zlib::Inflate,
}

/// The objects of a repository.
pub(crate) struct Objects {
    disk: Arc<ObjectFiles>,
    pending: Mutex<Unwritten>,
    /// Held while the pending objects are written: when a second writer gets the lock, the objects
    /// of the first are durable.
    flushing: Mutex<()>,
}

/// The objects on the disk, and what is known of them.
struct ObjectFiles {
    directory: PathBuf,
    writing: FileInProgress,
    limit: u64,
    deflates: pack::Deflates,
    store: Mutex<Arc<gix_odb::Store>>,
    /// Readers that no thread uses now, each with its caches.
    idle: Mutex<Vec<ObjectReader>>,
    /// Whether the last object of each kind was in a pack: the next one will be there too.
    packed: [AtomicBool; 4],
    /// The objects last read or written: they need not be looked for among all packs again, of
    /// which there may be one more.
    recent: Mutex<Recent>,
}

#[derive(Default)]
struct Recent {
    by_id: HashMap<Id, Object>,
    size: usize,
}

impl Recent {
    fn insert(&mut self, id: Id, object: Object) {
        let size = AROUND + object.bytes.len();
        if self.size + size > RECENT {
            *self = Self::default();
        }
        if self.by_id.insert(id, object).is_none() {
            self.size += size;
        }
    }

    fn remove(&mut self, id: Id) {
        if let Some(object) = self.by_id.remove(&id) {
            self.size -= AROUND + object.bytes.len();
        }
    }
}

/// Locks data that stays right when a thread panics: each change is one call.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ambiguous(hex: &str) -> Error {
    Error::InvalidRevision { revision: hex.into(), problem: "several objects start like this" }
}

impl Objects {
    pub(crate) fn open(
        directory: PathBuf,
        limit: u64,
        writing: FileInProgress,
        level: Option<gix_zlib::Compression>,
    ) -> Result<Self> {
        let store = Mutex::new(new_store(&directory, limit, Slots::Given(SLOTS))?);
        let deflates = pack::Deflates::new(level);
        Ok(Self::of(Arc::new(ObjectFiles {
            directory,
            writing,
            limit,
            deflates,
            store,
            idle: Mutex::default(),
            packed: Default::default(),
            recent: Mutex::default(),
        })))
    }

    fn of(disk: Arc<ObjectFiles>) -> Self {
        Self { disk, pending: Mutex::default(), flushing: Mutex::default() }
    }

    /// Returns the same objects without the pending ones.
    pub(crate) fn isolated(&self) -> Self {
        Self::of(self.disk.clone())
    }

    /// Reads with what no other thread uses.
    fn with_reader<T>(&self, read: impl FnOnce(&mut ObjectReader) -> T) -> T {
        let idle = lock(&self.disk.idle).pop();
        let mut reader = idle.unwrap_or_else(|| ObjectReader {
            packs: handle(&lock(&self.disk.store)),
            inflate: gix_zlib::Inflate::default(),
        });
        let answer = read(&mut reader);
        lock(&self.disk.idle).push(reader);
        answer
    }

    /// Asks the library; on failure, asks again with a store opened afresh, as packs may have come
    /// and gone, and may have become more than there was room for.
    fn ask<T>(
        &self,
        id: Id,
        question: impl Fn(&Handle) -> gix_error::Result<Option<T>>,
    ) -> Result<Option<T>> {
        if let Ok(answer) = self.with_reader(|reader| question(&reader.packs)) {
            return Ok(answer);
        }
        let slots = Slots::AsNeededByDiskState { multiplier: 2.0, minimum: SLOTS.into() };
        let fresh = new_store(&self.disk.directory, self.disk.limit, slots)?;
        *lock(&self.disk.store) = fresh.clone();
        lock(&self.disk.idle).clear();
        question(&handle(&fresh))
            .map_err(|error| Error::CorruptObject { id, problem: chain(&error) })
    }

    /// Returns an object read or written a short time ago, or in a small file of its own.
    ///
    /// The library would map such a file into memory, once for its size and once for its bytes.
    fn small(&self, id: Id, wanted: ObjectKind) -> Result<Option<Object>> {
        if let Some(object) = lock(&self.disk.recent).by_id.get(&id) {
            return Ok(Some(object.clone()));
        }
        if self.disk.packed[wanted as usize].load(Ordering::Relaxed) {
            return Ok(None);
        }
        let path = self.loose(id);
        let Some(file) = files::read_small(&path, LOOSE)? else { return Ok(None) };
        // The library reports the fault, unless a pack has the object, too.
        let Some(object) = self.with_reader(|reader| inflate(&mut reader.inflate, &file)) else {
            return Ok(None);
        };
        if object.id()? != id {
            return Ok(None);
        }
        self.remember([(id, object.clone())]);
        Ok(Some(object))
    }

    /// Keeps objects from the disk in memory.
    fn remember(&self, objects: impl IntoIterator<Item = (Id, Object)>) {
        let mut recent = lock(&self.disk.recent);
        for (id, object) in objects {
            if object.bytes.len() <= SMALL {
                recent.insert(id, object);
            }
        }
    }

    /// Looks for an object on the disk when it is asked for again.
    pub(crate) fn forget(&self, id: Id) {
        lock(&self.disk.recent).remove(id);
    }

    /// Returns the kind and the size of an object; none for a missing one.
    ///
    /// `wanted` is the likely kind.
    pub(crate) fn header(&self, id: Id, wanted: ObjectKind) -> Result<Option<(ObjectKind, u64)>> {
        if let Some(object) = self.in_memory(id) {
            return Ok(Some((object.kind, object.bytes.len() as u64)));
        }
        match self.small(id, wanted)? {
            Some(object) => Ok(Some((object.kind, object.bytes.len() as u64))),
            None => self.large_header(id),
        }
    }

    fn large_header(&self, id: Id) -> Result<Option<(ObjectKind, u64)>> {
        self.ask(id, |handle| {
            let header = handle.try_header(&id.to_gix())?;
            Ok(header.map(|header| (ObjectKind::from_gix(header.kind), header.size)))
        })
    }

    /// Returns an object from memory.
    pub(crate) fn in_memory(&self, id: Id) -> Option<Object> {
        // git has the empty tree in every repository, on the disk or not.
        let pending = lock(&self.pending).get(id);
        pending.or_else(|| (id == EMPTY_TREE).then(|| Object::new(ObjectKind::Tree, Vec::new())))
    }

    /// Reads an object of one kind, of at most `limit` bytes, and no more than the repository was
    /// opened for.
    pub(crate) fn read(&self, id: Id, wanted: ObjectKind, limit: u64) -> Result<Arc<[u8]>> {
        self.read_any(id, wanted, limit)?.expect(id, wanted)
    }

    /// Reads an object of at most `limit` bytes; `wanted` is the likely kind.
    pub(crate) fn read_any(&self, id: Id, wanted: ObjectKind, limit: u64) -> Result<Object> {
        match self.in_memory(id) {
            Some(object) => self.check_size(id, object.bytes.len() as u64, limit).map(|()| object),
            None => self.read_disk(id, wanted, limit),
        }
    }

    /// Reads an object that is durable, or was written by git.
    pub(crate) fn read_disk(&self, id: Id, wanted: ObjectKind, limit: u64) -> Result<Object> {
        if let Some(object) = self.small(id, wanted)? {
            return self.check_size(id, object.bytes.len() as u64, limit).map(|()| object);
        }
        if limit < self.disk.limit {
            let (_, size) = self.large_header(id)?.ok_or(Error::MissingObject { id })?;
            self.check_size(id, size, limit)?;
        }
        let read = self.ask(id, |handle| {
            let mut bytes = Vec::new();
            let found = gix_odb::pack::Find::try_find(handle, &id.to_gix(), &mut bytes)?;
            let found = found.map(|(data, pack)| (ObjectKind::from_gix(data.kind), pack.is_some()));
            self.disk.packed[wanted as usize]
                .store(found.is_some_and(|(_, packed)| packed), Ordering::Relaxed);
            Ok(found.map(|(kind, _)| Object::new(kind, bytes)))
        });
        // The library stops at the same limit, with an error in other words.
        if read.is_err()
            && let Ok(Some((_, size))) = self.large_header(id)
        {
            self.check_size(id, size, limit)?;
        }
        let object = read?.ok_or(Error::MissingObject { id })?;
        if object.id()? != id {
            return Err(Error::CorruptObject {
                id,
                problem: "its bytes do not have this name".into(),
            });
        }
        self.remember([(id, object.clone())]);
        Ok(object)
    }

    fn check_size(&self, id: Id, size: u64, limit: u64) -> Result<()> {
        let limit = limit.min(self.disk.limit);
        if size > limit { Err(Error::TooLarge { id, size, limit }) } else { Ok(()) }
    }

    /// Returns the only object whose name starts with these digits.
    pub(crate) fn abbreviated(&self, hex: &str) -> Result<Option<Id>> {
        let Ok(prefix) = gix_hash::Prefix::from_hex(hex) else { return Ok(None) };
        let found =
            self.ask(Id::from_gix(prefix.as_oid()), |handle| handle.lookup_prefix(prefix, None))?;
        let mut found = match found {
            Some(Err(())) => return Err(ambiguous(hex)),
            Some(Ok(id)) => Some(Id::from_gix(&id)),
            None => None,
        };
        for id in lock(&self.pending).ids() {
            if id.to_hex().as_str().starts_with(hex)
                && found.replace(*id).is_some_and(|other| other != *id)
            {
                return Err(ambiguous(hex));
            }
        }
        Ok(found)
    }

    /// Keeps an object until it is written.
    pub(crate) fn put(&self, new: NewObject) {
        lock(&self.pending).put(new);
    }

    /// Returns how many objects are to be written, and how many bytes they have.
    pub(crate) fn unwritten(&self) -> (usize, usize) {
        let pending = lock(&self.pending);
        (pending.len(), pending.size())
    }

    /// Keeps only so many of the pending objects.
    pub(crate) fn truncate(&self, count: usize) {
        lock(&self.pending).truncate(count);
    }

    /// Writes the pending objects; all of them are durable afterwards.
    pub(crate) fn flush(&self) -> Result<()> {
        let _flushing = lock(&self.flushing);
        for _ in 0..ATTEMPTS {
            match self.try_flush() {
                // git packs objects, and removes their directories, while new ones are put there.
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                other => return other,
            }
        }
        self.try_flush()
    }

    fn try_flush(&self) -> Result<()> {
        let pending = lock(&self.pending).to_vec();
        if pending.is_empty() {
            return Ok(());
        }
        let mut changed = BTreeSet::new();
        if pending.len() < PACK_FROM {
            let mut new = Vec::new();
            for NewObject { id, object, .. } in &pending {
                if self.freshen(*id, object)? {
                    changed.insert(self.fan_out(*id));
                } else {
                    new.push((*id, object));
                }
            }
            self.write_loose(&new, &mut changed)?;
        } else {
            // Which of them exist already is not asked: that costs more than to write those again.
            pack::write(
                &self.disk.directory,
                &pending,
                &self.disk.deflates,
                self.disk.writing,
                &mut changed,
            )?;
        }
        changed.iter().try_for_each(|directory| self.disk.writing.sync_dir(directory))?;
        lock(&self.pending).remove_first(pending.len());
        self.remember(pending.into_iter().map(|NewObject { id, object, .. }| (id, object)));
        Ok(())
    }

    fn fan_out(&self, id: Id) -> PathBuf {
        self.disk.directory.join(&id.to_hex().as_str()[..2])
    }

    fn loose(&self, id: Id) -> PathBuf {
        let hex = id.to_hex();
        let (directory, name) = hex.as_str().split_at(2);
        let mut path = self.disk.directory.join(directory);
        path.push(name);
        path
    }

    /// Makes an object in a file of its own durable; returns whether there is such a file.
    ///
    /// An object only in a pack, or in an alternate of this repository, is written again: the pack
    /// may be about to be removed, and the bytes written are few beside the search.
    fn freshen(&self, id: Id, object: &Object) -> Result<bool> {
        let path = self.loose(id);
        if !files::freshen(&path, self.disk.writing).map_err(failed("sync", &path))? {
            return Ok(false);
        }
        // git takes a file of the right name for the object. A branch must not come to rest on one
        // that a power cut emptied.
        let same = self.ask(id, |handle| {
            let mut bytes = Vec::new();
            let found = gix_object::Find::try_find(handle, &id.to_gix(), &mut bytes)?;
            Ok(found.map(|found| {
                ObjectKind::from_gix(found.kind) == object.kind && *found.data == *object.bytes
            }))
        });
        match same {
            Ok(Some(true)) => Ok(true),
            Ok(None) => Ok(false),
            _ => Err(Error::CorruptObject {
                id,
                problem: format!("{} has other bytes; remove it", path.display()),
            }),
        }
    }

    fn write_one(&self, object: &Object) -> std::io::Result<Temporary> {
        let mut file = Temporary::create(&self.disk.directory, "tmp_obj_")?;
        let header = format!("{} {}\0", object.kind, object.bytes.len());
        let parts = [header.as_bytes(), &object.bytes];
        self.disk.deflates.with(|deflate| deflate.run(&parts, |bytes| file.write(bytes)))?;
        file.sync(self.disk.writing)?;
        Ok(file)
    }

    fn write_loose(
        &self,
        objects: &[(Id, &Object)],
        changed: &mut BTreeSet<PathBuf>,
    ) -> Result<()> {
        let mut written = Vec::new();
        for (id, object) in objects {
            let file = self.write_one(object);
            written.push((*id, file.map_err(failed("write an object in", &self.disk.directory))?));
        }
        for (id, file) in written {
            let fan_out = id.to_hex().as_str()[..2].to_owned();
            changed.extend(
                files::create_dirs(&self.disk.directory, Path::new(&fan_out), self.disk.writing)
                    .map_err(failed("create a directory in", &self.disk.directory))?,
            );
            let path = self.loose(id);
            file.publish(&path, self.disk.writing).map_err(failed("create", &path))?;
            changed.insert(self.fan_out(id));
        }
        Ok(())
    }
}

/// Makes what a thread reads with. Objects that others in a pack are deltas of are kept: those of
/// neighbouring commits have most of them in common.
fn handle(store: &Arc<gix_odb::Store>) -> Handle {
    let mut handle = store.to_cache_arc();
    handle.set_pack_cache(|| Box::new(gix_pack::cache::lru::MemoryCappedHashmap::new(DELTA_BASES)));
    handle
}

fn new_store(directory: &Path, limit: u64, slots: Slots) -> Result<Arc<gix_odb::Store>> {
    let options =
        Options { slots, alloc_limit_bytes: usize::try_from(limit).ok(), ..Options::default() };
    gix_odb::Store::at_opts(
        directory.to_owned(),
        gix_hash::Kind::Sha1,
        &mut std::iter::empty(),
        options,
    )
    .map(Arc::new)
    .map_err(failed("open", directory))
}

/// Reads the file of an object; none for a damaged file or a large object.
fn inflate(inflate: &mut gix_zlib::Inflate, file: &[u8]) -> Option<Object> {
    inflate.reset();
    let mut start = [0; 4096];
    let (status, read, written) = inflate.prefix(file, &mut start).ok()?;
    let (kind, size, header) = gix_object::decode::loose_header(&start[..written]).ok()?;
    let size = usize::try_from(size).ok().filter(|size| *size as u64 <= LOOSE)?;
    let mut bytes = start.get(header..written)?.to_vec();
    if status != gix_zlib::Status::StreamEnd && bytes.len() <= size {
        inflate.rest(&file[read..], &start[..written], header, &mut bytes, size).ok()?;
    }
    (bytes.len() == size).then(|| Object::new(ObjectKind::from_gix(kind), bytes))
}

/// Words an error of the library with all its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = error.source();
    }
    text
}
