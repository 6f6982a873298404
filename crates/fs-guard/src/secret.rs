//! Secrets of the user, kept outside every workspace.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the user's own directory, by its own path")]

use std::fs::DirBuilder;
use std::path::Path;

use crate::dir::Dir;
use crate::error::{At as _, Error};
use crate::metadata::FileKind;
use crate::sys::{self, Open, code};

/// Reads a secret of 32 random bytes that is this user's alone; made at the first use.
///
/// `None` when there is no place for it: a read-only home, a directory of someone else.
pub fn secret(dir: &Path, name: &str) -> Result<Option<[u8; 32]>, Error> {
    match secret_or_error(dir, name) {
        Err(error)
            if matches!(
                error.io().and_then(std::io::Error::raw_os_error),
                Some(code::NOENT | code::ACCES | code::PERM | code::ROFS | code::NOTDIR | code::LOOP)
            ) =>
        {
            Ok(None)
        }
        result => result,
    }
}

fn secret_or_error(dir: &Path, name: &str) -> Result<Option<[u8; 32]>, Error> {
    let shown = dir.display().to_string();
    let handle = match sys::open_root(dir) {
        Ok(handle) => handle,
        Err(error) if error.raw_os_error() == Some(code::NOENT) => {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(dir).at("create", &shown)?;
            sys::open_root(dir).at("open", &shown)?
        }
        Err(error) => return Err(error).at("open", &shown),
    };
    let dir = Dir::new(handle, &shown);
    let spot = dir.spot(name);
    // Twice at most: a short or missing secret is made, and then it is there.
    for _ in 0..2 {
        match sys::open_at(&dir.handle, name, Open::Read) {
            Ok(file) => {
                let seen = sys::stat(&file).at("look at", spot.path())?;
                if seen.kind != FileKind::File || seen.uid != sys::user() || seen.mode & 0o077 != 0 {
                    return Ok(None);
                }
                let bytes = crate::read::read_whole(&file, seen.size, 4096, &spot.path())?;
                return Ok(bytes.try_into().ok());
            }
            Err(error) if error.raw_os_error() == Some(code::NOENT) => {}
            Err(error) => return Err(error).at("open", spot.path()),
        }
        let mut bytes = [0; 32];
        sys::random(&mut bytes).at("get random bytes for", spot.path())?;
        let mut suffix = [0; 8];
        sys::random(&mut suffix).at("get random bytes for", spot.path())?;
        // Complete before it has its name: two processes that start at once get one secret.
        let draft = dir.spot(&format!("{name}.{:016x}", u64::from_ne_bytes(suffix)));
        let mut file = draft.create(0o600)?;
        let written = file.write(&bytes).and_then(|()| file.finish(None, None, true));
        let published = written.and_then(|file| {
            let mut group = crate::sync::SyncGroup::new();
            group.file(&file);
            group.dir(&dir);
            group.sync(None)?;
            file.publish_new(&spot).map_err(|failed| failed.error)
        });
        match published {
            Ok(()) => {}
            Err(Error::AlreadyExists { .. }) => draft.remove()?,
            Err(error) => {
                let _ = draft.remove();
                return Err(error);
            }
        }
    }
    Ok(None)
}

/// Fills `bytes` with random ones.
pub fn random(bytes: &mut [u8]) -> Result<(), Error> {
    sys::random(bytes).at("get", "random bytes")
}
