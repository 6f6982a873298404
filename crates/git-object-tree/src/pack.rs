//! Many objects in one file, with its index: git's pack, version 2, without deltas.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use gix_zlib::Status;
use gix_zlib::stream::deflate::{Compress, FlushCompress};
use zlib_rs::crc32::crc32;

use crate::error::{Error, Result};
use crate::files::{self, FileInProgress, Temporary, failed};
use crate::id::{Id, ObjectKind};
use crate::object::Object;

/// Deflates one text after the other with the same tables.
pub(crate) struct Deflate {
    tables: Compress,
    /// Whether trees are left as they are. Most of a tree are ids, which do not get smaller; `git
    /// gc` deflates them all the same.
    stores_trees: bool,
}

/// Tables that no thread uses now. They take 200 kB, and are aligned: in the memory of such tables
/// that were freed, glibc does not find the place for the next ones, so that a program that makes
/// many commits would grow with each.
pub(crate) struct Deflates {
    /// What the configuration says, if it says something.
    level: Option<gix_zlib::Compression>,
    idle: Mutex<Vec<Deflate>>,
}

impl Deflates {
    pub(crate) fn new(level: Option<gix_zlib::Compression>) -> Self {
        Self { level, idle: Mutex::default() }
    }

    /// Deflates with tables that no other thread uses.
    pub(crate) fn with<T>(&self, deflate: impl FnOnce(&mut Deflate) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let free = idle().pop();
        let mut tables = free.unwrap_or_else(|| Deflate::new(self.level));
        let answer = deflate(&mut tables);
        idle().push(tables);
        answer
    }
}

impl Deflate {
    fn new(level: Option<gix_zlib::Compression>) -> Self {
        let tables = Compress::new(level.unwrap_or(gix_zlib::Compression::BEST_SPEED));
        Self { tables, stores_trees: level.is_none() }
    }

    /// Deflates an object without its header.
    fn object(
        &mut self,
        object: &Object,
        mut out: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        match u16::try_from(object.bytes.len()) {
            Ok(length) if self.stores_trees && object.kind == ObjectKind::Tree => {
                // RFC 1950 and 1951: the header of the lowest level, one block that is stored and
                // the last.
                out(&[0x78, 0x01, 0x01])?;
                out(&length.to_le_bytes())?;
                out(&(!length).to_le_bytes())?;
                out(&object.bytes)?;
                out(&zlib_rs::adler32::adler32(1, &object.bytes).to_be_bytes())
            }
            _ => self.run(&[&object.bytes], out),
        }
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
                let (read, written) = (self.tables.total_in(), self.tables.total_out());
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

/// Where an object lies in the pack.
struct PackPlace {
    id: Id,
    crc: u32,
    offset: u64,
}

/// Writes objects as a pack beneath the directory of objects; adds the directories that are to be
/// synced.
pub(crate) fn write(
    objects_dir: &Path,
    objects: &mut [(Id, &Object)],
    deflates: &Deflates,
    writing: FileInProgress,
    changed: &mut BTreeSet<PathBuf>,
) -> Result<()> {
    objects.sort_unstable_by_key(|(id, _)| *id);
    let directory = objects_dir.join("pack");
    let created = files::create_dirs(objects_dir, Path::new("pack"), writing);
    changed.extend(created.map_err(failed("create", &directory))?);
    let count = u32::try_from(objects.len())
        .map_err(|_| Error::Unsupported { what: "more than 4294967295 objects at once".into() })?;
    let write = || {
        let mut pack = Hashed::create(&directory, "tmp_pack_")?;
        pack.write(b"PACK\0\0\0\x02")?;
        pack.write(&count.to_be_bytes())?;
        let mut places = Vec::with_capacity(objects.len());
        let mut rest = &*objects;
        while !rest.is_empty() {
            let mut size = 0;
            let count = rest.iter().take_while(|(_, object)| {
                let fits = size < ROUND;
                size += object.bytes.len();
                fits
            });
            let round;
            (round, rest) = rest.split_at(count.count());
            for ((id, _), entry) in round.iter().zip(entries(round, deflates)?) {
                places.push(PackPlace { id: *id, crc: crc32(0, &entry), offset: pack.at });
                pack.write(&entry)?;
            }
        }
        let (pack, id) = pack.finish(writing)?;
        let mut index = Hashed::create(&directory, "tmp_idx_")?;
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

/// How many threads can run at the same time. The library reads half a dozen files each time that
/// it is asked.
fn processors() -> usize {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *PROCESSORS
}

/// Makes the entries of objects in a pack, with as many threads as pay.
fn entries(objects: &[(Id, &Object)], deflates: &Deflates) -> io::Result<Vec<Vec<u8>>> {
    let all = |objects: &[(Id, &Object)], deflate: &mut Deflate| {
        let entry = |(_, object): &(Id, &Object)| {
            let mut entry = entry_header(object.kind, object.bytes.len() as u64);
            deflate.object(object, |bytes| {
                entry.extend_from_slice(bytes);
                Ok(())
            })?;
            Ok(entry)
        };
        objects.iter().map(entry).collect::<io::Result<Vec<_>>>()
    };
    let deflate = |objects: &[(Id, &Object)]| deflates.with(|deflate| all(objects, deflate));
    let size: usize = objects.iter().map(|(_, object)| object.bytes.len()).sum();
    let threads = if size < 2 * SHARE { 1 } else { processors().min(size / SHARE) };
    std::thread::scope(|scope| {
        let mut shares = objects.chunks(objects.len().div_ceil(threads));
        let own = shares.next().unwrap_or_default();
        let others: Vec<_> = shares.map(|share| scope.spawn(move || deflate(share))).collect();
        let mut entries = deflate(own)?;
        for other in others {
            let more = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            entries.append(&mut more?);
        }
        Ok(entries)
    })
}

/// The kind and the size, four bits in the first byte and seven in each that follows.
fn entry_header(kind: ObjectKind, mut size: u64) -> Vec<u8> {
    let kind: u8 = match kind {
        ObjectKind::Commit => 1,
        ObjectKind::Tree => 2,
        ObjectKind::Blob => 3,
        ObjectKind::Tag => 4,
    };
    let mut bytes = vec![kind << 4 | (size & 0xf) as u8];
    size >>= 4;
    while size > 0 {
        *bytes.last_mut().expect("there is one from the start") |= 0x80;
        bytes.push((size & 0x7f) as u8);
        size >>= 7;
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
