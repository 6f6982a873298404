//! The object database: reading, what is still to be written, and writing that durably.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gix_object::FindHeader as _;
use gix_odb::store::init::{Options, Slots};

use crate::error::{Error, Result};
use crate::files::{self, Shared, Temporary, failed};
use crate::id::{Id, ObjectKind};
use crate::object::Object;
use crate::pack;

/// How many objects are worth a pack; fewer become a file each.
const PACK_FROM: usize = 16;

/// How many packs and indices of packs the library makes room for, unless there are more when it opens.
const SLOTS: usize = 2048;

/// How many of the objects that were written last are kept in memory, and how large one may be.
const WRITTEN: usize = 4096;
const SMALL: usize = 16 << 10;

/// How often what is in memory is written anew when directories vanish meanwhile.
const ATTEMPTS: usize = 16;

/// The name of the tree that has no entries.
const EMPTY_TREE: Id = Id::new(*b"\x4b\x82\x5d\xc6\x42\xcb\x6e\xb9\xa0\x60\xe5\x4b\xf8\xd6\x92\x88\xfb\xee\x49\x04");

type Handle = gix_odb::HandleArc;

/// The objects of a repository.
pub(crate) struct Objects {
    directory: PathBuf,
    shared: Shared,
    limit: u64,
    level: gix_zlib::Compression,
    /// Handles that no thread uses now, each with its caches; all are of one store.
    idle: Arc<Mutex<Vec<Handle>>>,
    pending: Mutex<HashMap<Id, Object>>,
    /// What was written last: read again, it need not be looked for among all packs, of which there is one more.
    written: Arc<Mutex<HashMap<Id, Object>>>,
    /// Held while the pending objects are written: when a second writer gets it, those of the first are durable.
    flushing: Mutex<()>,
}

/// Locks what stays right when a thread panics: each change of it is one call.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Objects {
    pub(crate) fn open(directory: PathBuf, limit: u64, shared: Shared, level: gix_zlib::Compression) -> Result<Self> {
        let objects = Self {
            directory,
            shared,
            limit,
            level,
            idle: Arc::default(),
            pending: Mutex::default(),
            written: Arc::default(),
            flushing: Mutex::default(),
        };
        let first = objects.new_store(Slots::Given(SLOTS as u16))?;
        lock(&objects.idle).push(first);
        Ok(objects)
    }

    /// Returns the same objects with nothing in memory.
    pub(crate) fn isolated(&self) -> Self {
        Self {
            directory: self.directory.clone(),
            shared: self.shared,
            limit: self.limit,
            level: self.level,
            idle: self.idle.clone(),
            pending: Mutex::default(),
            written: self.written.clone(),
            flushing: Mutex::default(),
        }
    }

    fn new_store(&self, slots: Slots) -> Result<Handle> {
        let options = Options { slots, alloc_limit_bytes: usize::try_from(self.limit).ok(), ..Options::default() };
        let store =
            gix_odb::Store::at_opts(self.directory.clone(), gix_hash::Kind::Sha1, &mut std::iter::empty(), options)
                .map_err(failed("open", &self.directory))?;
        Ok(Arc::new(store).to_cache_arc())
    }

    /// Asks the store with a handle of this thread; when that fails, a second time with a store that looks at the disk afresh,
    /// as packs may have come and gone, and may have become more than there was room for.
    fn ask<T>(&self, id: Id, question: impl Fn(&Handle) -> gix_error::Result<Option<T>>) -> Result<Option<T>> {
        let idle = lock(&self.idle).pop();
        let handle = match idle {
            Some(handle) => handle,
            None => self.new_store(Slots::Given(SLOTS as u16))?,
        };
        let (handle, answer) = match question(&handle) {
            Ok(answer) => (handle, Ok(answer)),
            Err(_) => {
                let fresh = self.new_store(Slots::AsNeededByDiskState { multiplier: 1.1, minimum: SLOTS })?;
                let answer = question(&fresh);
                (fresh, answer)
            }
        };
        lock(&self.idle).push(handle);
        answer.map_err(|error| Error::CorruptObject { id, problem: chain(&error) })
    }

    /// Returns the kind and the size of an object; none if it is not there.
    pub(crate) fn header(&self, id: Id) -> Result<Option<(ObjectKind, u64)>> {
        if let Some(object) = self.in_memory(id) {
            return Ok(Some((object.kind, object.bytes.len() as u64)));
        }
        self.header_on_disk(id)
    }

    fn header_on_disk(&self, id: Id) -> Result<Option<(ObjectKind, u64)>> {
        if let Some(object) = lock(&self.written).get(&id) {
            return Ok(Some((object.kind, object.bytes.len() as u64)));
        }
        self.ask(id, |handle| {
            let header = handle.try_header(&id.to_gix())?;
            Ok(header.map(|header| (ObjectKind::from_gix(header.kind), header.size)))
        })
    }

    /// Returns an object that need not be read.
    pub(crate) fn in_memory(&self, id: Id) -> Option<Object> {
        // git has the empty tree in every repository, whether it is on the disk or not.
        let empty = || (id == EMPTY_TREE).then(|| Object::new(ObjectKind::Tree, Vec::new()));
        lock(&self.pending).get(&id).cloned().or_else(empty)
    }

    /// Reads an object of one kind, of at most `limit` bytes, and no more than the repository was opened for.
    pub(crate) fn read(&self, id: Id, wanted: ObjectKind, limit: u64) -> Result<Arc<[u8]>> {
        self.read_any(id, limit)?.expect(id, wanted)
    }

    pub(crate) fn read_any(&self, id: Id, limit: u64) -> Result<Object> {
        match self.in_memory(id) {
            Some(object) => self.check_size(id, object.bytes.len() as u64, limit).map(|()| object),
            None => self.read_disk(id, limit),
        }
    }

    /// Reads an object that is durable, or was written by git.
    pub(crate) fn read_disk(&self, id: Id, limit: u64) -> Result<Object> {
        let (_, size) = self.header_on_disk(id)?.ok_or(Error::MissingObject { id })?;
        self.check_size(id, size, limit)?;
        if let Some(object) = lock(&self.written).get(&id) {
            return Ok(object.clone());
        }
        let read = self.ask(id, |handle| {
            let mut bytes = Vec::new();
            let kind = gix_object::Find::try_find(handle, &id.to_gix(), &mut bytes)?.map(|found| found.kind);
            Ok(kind.map(|kind| Object::new(ObjectKind::from_gix(kind), bytes)))
        })?;
        let object = read.ok_or(Error::MissingObject { id })?;
        if object.id()? != id {
            return Err(Error::CorruptObject { id, problem: "its bytes do not have this name".into() });
        }
        Ok(object)
    }

    fn check_size(&self, id: Id, size: u64, limit: u64) -> Result<()> {
        let limit = limit.min(self.limit);
        if size > limit { Err(Error::TooLarge { id, size, limit }) } else { Ok(()) }
    }

    /// Returns the only object whose name starts with these digits.
    pub(crate) fn abbreviated(&self, hex: &str) -> Result<Option<Id>> {
        let ambiguous = || Error::InvalidRevision { revision: hex.into(), problem: "several objects start like this" };
        let Ok(prefix) = gix_hash::Prefix::from_hex(hex) else { return Ok(None) };
        let found = self.ask(Id::from_gix(prefix.as_oid()), |handle| handle.lookup_prefix(prefix, None))?;
        let mut found = match found {
            Some(Err(())) => return Err(ambiguous()),
            Some(Ok(id)) => Some(Id::from_gix(&id)),
            None => None,
        };
        for id in lock(&self.pending).keys() {
            if id.to_string().starts_with(hex) && found.replace(*id).is_some_and(|other| other != *id) {
                return Err(ambiguous());
            }
        }
        Ok(found)
    }

    /// Keeps an object until it is written.
    pub(crate) fn put(&self, id: Id, object: Object) {
        lock(&self.pending).entry(id).or_insert(object);
    }

    /// Writes what is pending; all of it is durable afterwards.
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
        let pending: Vec<(Id, Object)> = lock(&self.pending).iter().map(|(id, object)| (*id, object.clone())).collect();
        if pending.is_empty() {
            return Ok(());
        }
        let mut changed = BTreeSet::new();
        let mut new = Vec::new();
        for (id, object) in &pending {
            if self.freshen(*id, object)? {
                changed.insert(self.fan_out(*id));
            } else {
                new.push((*id, object));
            }
        }
        if new.len() < PACK_FROM {
            self.write_loose(&new, &mut changed)?;
        } else {
            pack::write(&self.directory, &mut new, self.level, self.shared, &mut changed)?;
        }
        for directory in &changed {
            files::sync_dir(directory).map_err(failed("sync", directory))?;
        }
        let (mut rest, mut written) = (lock(&self.pending), lock(&self.written));
        if written.len() + pending.len() > WRITTEN {
            written.clear();
        }
        for (id, object) in pending {
            rest.remove(&id);
            if object.bytes.len() <= SMALL && written.len() < WRITTEN {
                written.insert(id, object);
            }
        }
        Ok(())
    }

    fn fan_out(&self, id: Id) -> PathBuf {
        self.directory.join(&id.to_string()[..2])
    }

    fn loose(&self, id: Id) -> PathBuf {
        self.fan_out(id).join(&id.to_string()[2..])
    }

    /// Makes an object durable that is there as a file; returns whether it is.
    ///
    /// One that is only in a pack, or in another repository that this one borrows from, is written again: the pack may
    /// be about to be removed, and what is written is small beside finding out.
    fn freshen(&self, id: Id, object: &Object) -> Result<bool> {
        let path = self.loose(id);
        if !files::freshen(&path).map_err(failed("sync", &path))? {
            return Ok(false);
        }
        // git takes a file of the right name for the object. A branch must not come to rest on one that a power cut emptied.
        let same = self.ask(id, |handle| {
            let mut bytes = Vec::new();
            let found = gix_object::Find::try_find(handle, &id.to_gix(), &mut bytes)?;
            Ok(found.map(|found| ObjectKind::from_gix(found.kind) == object.kind && *found.data == *object.bytes))
        });
        match same {
            Ok(Some(true)) => Ok(true),
            Ok(None) => Ok(false),
            _ => Err(Error::CorruptObject { id, problem: format!("{} has other bytes; remove it", path.display()) }),
        }
    }

    fn write_loose(&self, objects: &[(Id, &Object)], changed: &mut BTreeSet<PathBuf>) -> Result<()> {
        let mut deflate = pack::Deflate::new(self.level);
        let mut written = Vec::new();
        for (id, object) in objects {
            let mut write = || {
                let mut file = Temporary::create(&self.directory, "tmp_obj_")?;
                let header = format!("{} {}\0", object.kind, object.bytes.len());
                deflate.run(&[header.as_bytes(), &object.bytes], |bytes| file.write(bytes))?;
                file.sync(self.shared)?;
                Ok(file)
            };
            written.push((*id, write().map_err(failed("write an object in", &self.directory))?));
        }
        for (id, file) in written {
            let fan_out = id.to_string()[..2].to_owned();
            changed.extend(
                files::create_dirs(&self.directory, Path::new(&fan_out), self.shared)
                    .map_err(failed("create a directory in", &self.directory))?,
            );
            let path = self.loose(id);
            file.publish(&path).map_err(failed("create", &path))?;
            changed.insert(self.fan_out(id));
        }
        Ok(())
    }
}

/// Words an error of the library with all that is behind it.
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
