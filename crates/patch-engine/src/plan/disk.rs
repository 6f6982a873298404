//! Reads the file or link at a path.

use fs_guard::{Access, FileKind, Metadata, RelPath, Sha256};

use super::image::PreImage;
use crate::files::{Files, Unhashed};
use crate::plan::reject::{Checked, Problem};

/// Files up to this size are read whole when they are deleted or moved, as a diff will need their
/// bytes.
const SMALL: u64 = 1 << 20;

/// A file or link on disk.
pub(crate) type Disk = PreImage;

/// Reads the file or link at a path; large files that are not changed are only hashed.
pub(crate) fn load(
    files: &Files,
    path: &RelPath,
    access: Access,
    max_file_size: u64,
) -> Checked<Option<Disk>> {
    match load_unhashed(files, path, access, max_file_size)? {
        None => Ok(None),
        Some((metadata, Some(bytes))) => {
            Ok(Some(Disk { metadata, hash: files.hash_of(&bytes)?, bytes: Some(bytes) }))
        }
        Some((metadata, None)) => Ok(Some(hashed(files, path, metadata)?)),
    }
}

/// Reads the file or link at a path, without the bytes of links and of large files that are not
/// changed.
pub(crate) fn load_unhashed(
    files: &Files,
    path: &RelPath,
    access: Access,
    max_file_size: u64,
) -> Checked<Option<Unhashed>> {
    // The options decide whether an existing file may be replaced; the guard checks it as one that
    // changes.
    let access = if access == Access::Create { Access::Update } else { access };
    let found = files.inspect_and_read(
        path,
        access,
        |seen: &Metadata| seen.size <= SMALL || access == Access::Update,
        max_file_size,
    )?;
    match found {
        Some((
            Metadata {
                kind: kind @ (FileKind::Directory | FileKind::Submodule | FileKind::Other),
                ..
            },
            _,
        )) => Err(Problem::Guard(fs_guard::Error::NotAFile { path: path.to_string(), kind })),
        found => Ok(found),
    }
}

/// Reads the file or link at a path, whatever the policy is. A directory or a special file cannot
/// be read: its metadata is returned as the error.
pub(crate) fn look(
    files: &Files,
    path: &RelPath,
) -> Result<Option<Result<Disk, Metadata>>, fs_guard::Error> {
    let Some(metadata) = files.metadata(path)? else { return Ok(None) };
    Ok(Some(match metadata.kind {
        FileKind::File if metadata.size <= SMALL => {
            let (bytes, _) = files.read(path, u64::MAX)?;
            Ok(Disk { metadata, hash: Sha256::of(&bytes).into(), bytes: Some(bytes) })
        }
        FileKind::File | FileKind::Symlink => Ok(hashed(files, path, metadata)?),
        FileKind::Directory | FileKind::Submodule | FileKind::Other => Err(metadata),
    }))
}

/// Hashes a file without reading it into memory, or a link's target.
fn hashed(files: &Files, path: &RelPath, metadata: Metadata) -> Result<Disk, fs_guard::Error> {
    if metadata.kind == FileKind::Symlink {
        let target = files.read_link(path)?;
        return Ok(Disk { metadata, hash: Sha256::of(&target).into(), bytes: Some(target) });
    }
    let (sha256, metadata) = files.hash(path)?;
    Ok(Disk { metadata, hash: sha256.into(), bytes: None })
}
