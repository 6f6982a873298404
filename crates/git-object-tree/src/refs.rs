//! Reading refs: a file each, or lines of `packed-refs`.

use std::path::Path;

use crate::error::{Error, Result};
use crate::files;
use crate::id::Id;
use crate::layout::Layout;

/// A ref has one line; a longer file is something else.
const LOOSE_LIMIT: u64 = 64 << 10;
/// Ten million refs.
const PACKED_LIMIT: u64 = 1 << 30;

/// The content of a ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ref {
    Id(Id),
    Symbolic(String),
}

/// Whether git takes this as the full name of a ref.
pub(crate) fn is_valid(name: &str) -> bool {
    gix_validate::reference::name(name.into()).is_ok()
}

/// Reads a ref without following its target.
pub(crate) fn read(layout: &Layout, name: &str) -> Result<Option<Ref>> {
    let corrupt = |problem| Error::CorruptRef { name: name.into(), problem };
    let path = layout.ref_path(name);
    // `HEAD` used to be a symbolic link, and still may be.
    if let Some(target) = files::read_link(&path)
        && let Some(target) =
            target.to_str().filter(|target| target.starts_with("refs/") && is_valid(target))
    {
        return Ok(Some(Ref::Symbolic(target.into())));
    }
    let Some(bytes) = files::read(&path, LOOSE_LIMIT)? else {
        let found = Packed::read(layout)?.find(name)?;
        return Ok(found.map(Ref::Id));
    };
    if let Some(target) = bytes.strip_prefix(b"ref:") {
        let target = std::str::from_utf8(target)
            .map_err(|_| corrupt("it names another ref that is not UTF-8"))?
            .trim();
        return if is_valid(target) {
            Ok(Some(Ref::Symbolic(target.into())))
        } else {
            Err(corrupt("it points to a name that is not valid for a ref"))
        };
    }
    // The text behind the id in `FETCH_HEAD` is for git.
    let end = bytes.iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len());
    Id::from_hex(&bytes[..end])
        .map(|id| Some(Ref::Id(id)))
        .ok_or_else(|| corrupt("its file has no object id"))
}

/// Follows a ref to its end; returns the name of the last ref, and the id of an existing one.
pub(crate) fn follow(layout: &Layout, name: &str) -> Result<(String, Option<Id>)> {
    let mut name = name.to_owned();
    for _ in 0..6 {
        match read(layout, &name)? {
            Some(Ref::Id(id)) => return Ok((name, Some(id))),
            Some(Ref::Symbolic(target)) => name = target,
            None => return Ok((name, None)),
        }
    }
    Err(Error::CorruptRef { name, problem: "too many refs name each other" })
}

/// The refs that are lines of one file.
pub(crate) struct Packed(Vec<u8>);

impl Packed {
    pub(crate) fn read(layout: &Layout) -> Result<Self> {
        Ok(Self(
            files::read(&layout.common_dir.join("packed-refs"), PACKED_LIMIT)?.unwrap_or_default(),
        ))
    }

    fn lines(&self) -> impl Iterator<Item = Option<(&[u8], &[u8])>> {
        self.0
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty() && line[0] != b'#' && line[0] != b'^')
            .map(|line| {
                (line.get(2 * Id::LEN) == Some(&b' '))
                    .then(|| (&line[..2 * Id::LEN], &line[2 * Id::LEN + 1..]))
            })
    }

    fn find(&self, name: &str) -> Result<Option<Id>> {
        let found = self.find_in_lines(name);
        found.ok_or_else(|| Error::CorruptRef {
            name: name.into(),
            problem: "`packed-refs` cannot be read",
        })
    }

    /// Finds the id of a ref, if any; `None` for an unreadable line.
    fn find_in_lines(&self, name: &str) -> Option<Option<Id>> {
        for line in self.lines() {
            let (hex, other) = line?;
            if other == name.as_bytes() {
                return Id::from_hex(hex).map(Some);
            }
        }
        Some(None)
    }

    /// Returns a ref whose name is a directory of this name, or the other way round.
    pub(crate) fn conflict(&self, name: &str) -> Option<String> {
        self.lines()
            .flatten()
            .map(|(_, other)| other)
            .find(|other| is_beneath(other, name.as_bytes()) || is_beneath(name.as_bytes(), other))
            .map(|other| String::from_utf8_lossy(other).into_owned())
    }
}

fn is_beneath(name: &[u8], directory: &[u8]) -> bool {
    name.strip_prefix(directory).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// Returns a ref that is a file where the path of this ref needs a directory.
pub(crate) fn loose_above(path: &Path, base: &Path) -> Option<String> {
    let above = path.ancestors().skip(1).find(|above| above.is_file())?;
    Some(above.strip_prefix(base).ok()?.to_string_lossy().replace('\\', "/"))
}

/// Returns a ref that is a file beneath the directory that has the name of this ref.
pub(crate) fn loose_beneath(path: &Path, name: &str) -> Option<String> {
    for entry in files::names(path).ok()? {
        let name = format!("{name}/{}", entry.file_name()?.to_string_lossy());
        if entry.is_dir() {
            if let Some(found) = loose_beneath(&entry, &name) {
                return Some(found);
            }
        } else {
            return Some(name);
        }
    }
    None
}
