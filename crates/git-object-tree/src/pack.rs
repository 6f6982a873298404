//! Many objects in one file, with its index: git's pack, version 2.
//!
//! An object with its last version in the same pack is stored as a small delta, if possible.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use gix_zlib::Status;
use gix_zlib::stream::deflate::{Compress, FlushCompress};
use zlib_rs::crc32::crc32;

use crate::delta::{delta, push_size};
use crate::error::{Error, Result};
use crate::files::{self, FileInProgress, Temporary, failed};
use crate::id::{Id, ObjectKind};
use crate::unwritten::NewObject;

/// Deflates one text after the other with the same tables.
pub(crate) struct Deflate {
    tables: Compress,
    /// Whether incompressible objects are stored unchanged. `git gc` deflates them all the same.
    stores: bool,
}

/// The most bytes of a delta to store unchanged: a reset of the tables takes longer.
const SMALL_DELTA: usize = 512;

/// Tables that no thread uses now. They take 200 kB, and are aligned: in the memory of freed
/// tables, glibc does not find the place for the next ones, so a program with many commits would
/// grow with each. many commits would grow with each.
pub(crate) struct Deflates {
    /// The level in the configuration, if there is one.
    level: Option<gix_zlib::Compression>,
    idle: Mutex<Vec<Deflate>>,
}

impl Deflates {
    pub(crate) fn new(level: Option<gix_zlib::Compression>) -> Self {
        Self { level, idle: Mutex::default() }
    }

    /// Deflates with tables that no other thread uses.
    pub(crate) fn with<T>(&self, deflate: impl FnOnce(&mut Deflate) -> T) -> T {
        let free = self.idle().pop();
        let mut tables = free.unwrap_or_else(|| Deflate::new(self.level));
        let answer = deflate(&mut tables);
        self.idle().push(tables);
        answer
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Deflate>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deflate {
    fn new(level: Option<gix_zlib::Compression>) -> Self {
        let tables = Compress::new(level.unwrap_or(gix_zlib::Compression::BEST_SPEED));
        Self { tables, stores: level.is_none() }
    }

    /// Deflates what an entry of a pack has after its header.
    fn entry(&mut self, stored: &Stored<'_>) -> io::Result<Vec<u8>> {
        let bytes = &*stored.bytes;
        let stores = self.stores
            && match stored.form {
                // Most of a tree are ids.
                StoredForm::Whole(kind) => kind == ObjectKind::Tree,
                StoredForm::Delta { .. } => bytes.len() <= SMALL_DELTA,
            };
        let mut out = Vec::new();
        match u16::try_from(bytes.len()) {
            Ok(length) if stores => {
                out.reserve_exact(bytes.len() + 11);
                // RFC 1950 and 1951: the header of the lowest level, and a single stored block,
                // marked as the last.
                out.extend_from_slice(&[0x78, 0x01, 0x01]);
                out.extend_from_slice(&length.to_le_bytes());
                out.extend_from_slice(&(!length).to_le_bytes());
                out.extend_from_slice(bytes);
                out.extend_from_slice(&zlib_rs::adler32::adler32(1, bytes).to_be_bytes());
            }
            _ => self.run(&[bytes], |deflated| {
                out.extend_from_slice(deflated);
                Ok(())
            })?,
        }
        Ok(out)
    }

    /// Deflates a text that is in parts, and gives each piece of the result to `out`.
    pub(crate) fn run(
        &mut self,
        parts: &[&[u8]],
        mut out: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut buffer = [0; 8192];
        self.tables.reset();
        for (nth, part) in parts.iter().enumerate() {
            let last = nth + 1 == parts.len();
            let mut rest = *part;
            while last || !rest.is_empty() {
                let read = self.tables.total_in();
                let written = self.tables.total_out();
                let flush = if last { FlushCompress::Finish } else { FlushCompress::None };
                let status =
                    self.tables.compress(rest, &mut buffer, flush).map_err(io::Error::other)?;
                rest = &rest[(self.tables.total_in() - read) as usize..];
                out(&buffer[..(self.tables.total_out() - written) as usize])?;
                if status == Status::StreamEnd {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Hashes what it passes on to a file.
struct Hashed {
    file: Temporary,
    hasher: gix_hash::Hasher,
    buffer: Vec<u8>,
    at: u64,
}

impl Hashed {
    fn create(directory: &Path, prefix: &str) -> io::Result<Self> {
        let file = Temporary::create(directory, prefix)?;
        Ok(Self { file, hasher: gix_hash::hasher(gix_hash::Kind::Sha1), buffer: Vec::new(), at: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.at += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= 1 << 16 {
            self.file.write(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Writes the hash of all at the end, and makes the file durable.
    fn finish(mut self, writing: FileInProgress) -> io::Result<(Temporary, Id)> {
        let id = Id::from_gix(&self.hasher.try_finalize().map_err(io::Error::other)?);
        self.buffer.extend_from_slice(id.as_bytes());
        self.file.write(&self.buffer)?;
        self.file.sync(writing)?;
        Ok((self.file, id))
    }
}

/// How many bytes are deflated before they are written.
const ROUND: usize = 8 << 20;

/// How many bytes are worth a thread.
const SHARE: usize = 64 << 10;

/// The longest chain of deltas: git's default.
const CHAIN: usize = 50;

/// The form of an object in a pack.
struct Stored<'o> {
    form: StoredForm,
    bytes: Cow<'o, [u8]>,
}

#[derive(Clone, Copy)]
enum StoredForm {
    Whole(ObjectKind),
    /// Instructions, and the number of their base in the pack.
    Delta {
        base: usize,
    },
}

/// Decides which objects become deltas.
fn stored<'o>(objects: &'o [NewObject]) -> Vec<Stored<'o>> {
    let places: HashMap<Id, usize> =
        objects.iter().enumerate().map(|(place, new)| (new.id, place)).collect();
    // The length of the chain of deltas to each object.
    let mut chains = vec![0; objects.len()];
    let each = objects.iter().enumerate();
    each.map(|(place, new)| {
        let base = new.before.and_then(|before| places.get(&before).copied());
        match base.and_then(|base| as_delta(objects, place, base, &mut chains)) {
            Some(delta) => delta,
            None => Stored {
                form: StoredForm::Whole(new.object.kind),
                bytes: Cow::Borrowed(&new.object.bytes),
            },
        }
    })
    .collect()
}

/// Makes a delta of an object from the object at `base`, if possible and shorter.
fn as_delta(
    objects: &[NewObject],
    place: usize,
    base: usize,
    chains: &mut [usize],
) -> Option<Stored<'static>> {
    let old = &objects[base].object;
    let new = &objects[place].object;
    // The base of a delta stands before the delta in the pack.
    if base >= place || chains[base] == CHAIN || old.kind != new.kind {
        return None;
    }
    let instructions = delta(&old.bytes, &new.bytes)?;
    chains[place] = chains[base] + 1;
    Some(Stored { form: StoredForm::Delta { base }, bytes: Cow::Owned(instructions) })
}

/// Where an object lies in the pack.
struct PackPlace {
    id: Id,
    crc: u32,
    offset: u64,
}

/// Writes objects as a pack beneath the directory of objects; adds the directories to be synced.
pub(crate) fn write(
    objects_dir: &Path,
    objects: &[NewObject],
    deflates: &Deflates,
    writing: FileInProgress,
    changed: &mut BTreeSet<PathBuf>,
) -> Result<()> {
    let directory = objects_dir.join("pack");
    let created = files::create_dirs(objects_dir, Path::new("pack"), writing);
    changed.extend(created.map_err(failed("create", &directory))?);
    let count = u32::try_from(objects.len())
        .map_err(|_| Error::Unsupported { what: "more than 4294967295 objects at once".into() })?;
    let write = || {
        let mut pack = Hashed::create(&directory, "tmp_pack_")?;
        pack.write(b"PACK\0\0\0\x02")?;
        pack.write(&count.to_be_bytes())?;
        let mut places: Vec<PackPlace> = Vec::with_capacity(objects.len());
        let stored = stored(objects);
        let mut rest = &*stored;
        while !rest.is_empty() {
            let mut size = 0;
            let count = rest.iter().take_while(|stored| {
                let fits = size < ROUND;
                size += stored.bytes.len();
                fits
            });
            let round;
            (round, rest) = rest.split_at(count.count());
            for (stored, deflated) in round.iter().zip(deflated(round, deflates)?) {
                let offset = pack.at;
                let mut entry = entry_header(stored, |base| offset - places[base].offset);
                entry.extend_from_slice(&deflated);
                pack.write(&entry)?;
                let id = objects[places.len()].id;
                places.push(PackPlace { id, crc: crc32(0, &entry), offset });
            }
        }
        let (pack, id) = pack.finish(writing)?;
        let mut index = Hashed::create(&directory, "tmp_idx_")?;
        places.sort_unstable_by_key(|place| place.id);
        write_index(&mut index, &places, id)?;
        let (index, _) = index.finish(writing)?;
        // A pack is used when its index is there.
        pack.publish(&directory.join(format!("pack-{id}.pack")), writing)?;
        index.publish(&directory.join(format!("pack-{id}.idx")), writing)
    };
    write().map_err(failed("write a pack in", &directory))?;
    changed.insert(directory);
    Ok(())
}

/// How many threads can run at the same time. The library reads half a dozen files each time it is
/// asked.
fn processors() -> usize {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *PROCESSORS
}

fn deflated_share(share: &[Stored<'_>], deflates: &Deflates) -> io::Result<Vec<Vec<u8>>> {
    deflates.with(|deflate| share.iter().map(|stored| deflate.entry(stored)).collect())
}

/// Deflates the entries of a pack, with as many threads as pay.
fn deflated(stored: &[Stored<'_>], deflates: &Deflates) -> io::Result<Vec<Vec<u8>>> {
    let size: usize = stored.iter().map(|stored| stored.bytes.len()).sum();
    let threads = if size < 2 * SHARE { 1 } else { processors().min(size / SHARE) };
    std::thread::scope(|scope| {
        let mut shares = stored.chunks(stored.len().div_ceil(threads));
        let own = shares.next().unwrap_or_default();
        let others: Vec<_> =
            shares.map(|share| scope.spawn(|| deflated_share(share, deflates))).collect();
        let mut entries = deflated_share(own, deflates)?;
        for other in others {
            let more = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            entries.append(&mut more?);
        }
        Ok(entries)
    })
}

/// The kind and the size, four bits in the first byte and seven in each later one; for a delta also
/// the distance back to its base.
fn entry_header(stored: &Stored<'_>, back: impl FnOnce(usize) -> u64) -> Vec<u8> {
    let kind: u8 = match stored.form {
        StoredForm::Whole(ObjectKind::Commit) => 1,
        StoredForm::Whole(ObjectKind::Tree) => 2,
        StoredForm::Whole(ObjectKind::Blob) => 3,
        StoredForm::Whole(ObjectKind::Tag) => 4,
        StoredForm::Delta { .. } => 6,
    };
    let size = stored.bytes.len();
    let mut bytes = vec![kind << 4 | (size & 0xf) as u8];
    if size > 0xf {
        bytes[0] |= 0x80;
        push_size(&mut bytes, size >> 4);
    }
    if let StoredForm::Delta { base } = stored.form {
        // Seven bits in each byte, the highest first; what is above them is one less.
        let mut distance = back(base);
        let mut digits = vec![(distance & 0x7f) as u8];
        while distance > 0x7f {
            distance = (distance >> 7) - 1;
            digits.push((distance & 0x7f) as u8 | 0x80);
        }
        bytes.extend(digits.iter().rev());
    }
    bytes
}

/// Version 2: how many names start with each byte or a lower one, the names, checksums, offsets,
/// offsets beyond 2 GiB.
fn write_index(index: &mut Hashed, places: &[PackPlace], pack: Id) -> io::Result<()> {
    const FAR: u32 = 1 << 31;
    index.write(b"\xfftOc\0\0\0\x02")?;
    for first in 0..=u8::MAX {
        let upto = places.partition_point(|place| place.id.as_bytes()[0] <= first);
        index.write(&(upto as u32).to_be_bytes())?;
    }
    for place in places {
        index.write(place.id.as_bytes())?;
    }
    for place in places {
        index.write(&place.crc.to_be_bytes())?;
    }
    let mut far = Vec::new();
    for place in places {
        let offset = match u32::try_from(place.offset) {
            Ok(near) if near < FAR => near,
            _ => {
                far.push(place.offset);
                FAR | (far.len() - 1) as u32
            }
        };
        index.write(&offset.to_be_bytes())?;
    }
    for offset in far {
        index.write(&offset.to_be_bytes())?;
    }
    index.write(pack.as_bytes())
}
