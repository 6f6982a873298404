//! Secrets of the user, kept outside every workspace.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the user's own directory, by its own path"
)]

use std::path::Path;

use crate::dir::Dir;
use crate::error::{At as _, Error, READABLE};
use crate::metadata::FileKind;
use crate::sys::{self, Open, code};

/// Reads a secret of 32 random bytes, readable by this user alone. Creates the secret at the first
/// use.
///
/// `None` without a place for the secret: a read-only home, or someone else's directory. An
/// existing but unusable secret is an error.
pub fn secret(dir: &Path, name: &str) -> Result<Option<[u8; 32]>, Error> {
    match secret_or_error(dir, name) {
        Err(error)
            if matches!(
                error.io().and_then(std::io::Error::raw_os_error),
                Some(
                    code::NOENT | code::ACCES | code::PERM | code::ROFS | code::NOTDIR | code::LOOP
                )
            ) && !may_be_there(dir, name)
                && !could_be_made(dir) =>
        {
            Ok(None)
        }
        result => result.map(Some),
    }
}

/// Returns whether a secret exists, or may be hidden in a directory of this user.
fn may_be_there(dir: &Path, name: &str) -> bool {
    match std::fs::symlink_metadata(dir.join(name)) {
        Ok(_) => true,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => sys::open_root(dir)
            .and_then(|dir| sys::stat(&dir))
            .is_ok_and(|seen| seen.uid == sys::user()),
        Err(_) => false,
    }
}

/// Returns whether files, or the directory itself, can be created there: then the failure just now
/// was temporary.
fn could_be_made(dir: &Path) -> bool {
    for at in dir.ancestors() {
        match sys::open_root(at) {
            Ok(handle) => return sys::may_write(&handle).is_ok(),
            Err(error) if error.raw_os_error() == Some(code::NOENT) => {}
            Err(_) => return false,
        }
    }
    false
}

fn secret_or_error(dir: &Path, name: &str) -> Result<[u8; 32], Error> {
    if let Some(secret) = read(dir, name)? {
        return Ok(secret);
    }
    let shown = dir.display().to_string();
    let handle = match sys::open_root(dir) {
        Ok(handle) => handle,
        Err(error) if error.raw_os_error() == Some(code::NOENT) => {
            crate::state::create_private(dir).at("create", &shown)?;
            sys::open_root(dir).at("open", &shown)?
        }
        Err(error) => return Err(error).at("open", &shown),
    };
    let dir = Dir::new(handle, &shown);
    let spot = dir.spot(name);
    // Read again after its creation, by this process or another one.
    loop {
        if let Some(secret) = read_at(&dir, name)? {
            return Ok(secret);
        }
        let mut bytes = [0; 32];
        sys::random(&mut bytes).at("get random bytes for", spot.path())?;
        let mut suffix = [0; 8];
        sys::random(&mut suffix).at("get random bytes for", spot.path())?;
        // The secret gets its name when it is complete, so two processes that start together use
        // the same one.
        let draft = dir.spot(&format!("{name}.{:016x}", u64::from_ne_bytes(suffix)));
        let mut file = draft.create(0o600)?;
        let written = file.write(&bytes).map(|()| file.finish_own(true));
        let published = written.and_then(|file| {
            let mut group = crate::sync::SyncGroup::new();
            group.file(&file);
            group.sync(None)?;
            file.publish_new(&spot).map_err(|failed| failed.error)?;
            // No signature may outlive its secret.
            dir.sync()
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
}

/// Reads an existing secret.
fn read_at(dir: &Dir, name: &str) -> Result<Option<[u8; 32]>, Error> {
    opened(sys::open_at(&dir.handle, name, Open::Read), &dir.spot(name).path())
}

/// Does the same by the path of the directory, which is not checked.
#[cfg(unix)]
fn read(dir: &Path, name: &str) -> Result<Option<[u8; 32]>, Error> {
    let path = dir.join(name);
    opened(sys::open_no_link(&path), &path.display().to_string())
}

#[cfg(not(unix))]
fn read(dir: &Path, name: &str) -> Result<Option<[u8; 32]>, Error> {
    let shown = dir.display().to_string();
    match sys::open_root(dir) {
        Ok(handle) => read_at(&Dir::new(handle, &shown), name),
        Err(error) if error.raw_os_error() == Some(code::NOENT) => Ok(None),
        Err(error) => Err(error).at("open", shown),
    }
}

fn opened(file: std::io::Result<sys::Fd>, shown: &str) -> Result<Option<[u8; 32]>, Error> {
    let file = match file {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(code::NOENT) => return Ok(None),
        Err(error) => return Err(error).at("open", shown),
    };
    let seen = sys::stat(&file).at("look at", shown)?;
    if seen.kind != FileKind::File || seen.uid != sys::user() {
        return Err(untrusted(shown, "it is not a file of this user"));
    }
    if seen.mode & 0o077 != 0 {
        return Err(untrusted(shown, READABLE));
    }
    let bytes = crate::read::read_whole(&file, seen.size, 4096, shown)?;
    bytes.try_into().map(Some).map_err(|_| untrusted(shown, "it has not 32 bytes"))
}

fn untrusted(path: &str, problem: &'static str) -> Error {
    Error::UntrustedState { path: path.into(), problem }
}

/// The state of a secret, found without creating one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundSecret {
    /// It exists and can be used.
    There,
    /// It will be created at the first use.
    ToBeMade,
    /// There is no place for a secret.
    NoPlace,
}

/// Looks for a secret like [`secret`], but creates none.
///
/// # Errors
///
/// If the secret exists but cannot be used.
pub fn find_secret(dir: &Path, name: &str) -> Result<FoundSecret, Error> {
    Ok(match existing_secret(dir, name)? {
        Some(_) => FoundSecret::There,
        None if could_be_made(dir) => FoundSecret::ToBeMade,
        None => FoundSecret::NoPlace,
    })
}

/// Reads a secret like [`secret`], but creates none: `None` for a missing one.
///
/// # Errors
///
/// If the secret exists but cannot be used.
pub fn existing_secret(dir: &Path, name: &str) -> Result<Option<[u8; 32]>, Error> {
    match read(dir, name) {
        Err(Error::Io { .. }) if !may_be_there(dir, name) && !could_be_made(dir) => Ok(None),
        found => found,
    }
}

/// Removes a secret for good.
///
/// # Errors
///
/// If the removal fails.
pub fn remove_secret(dir: &Path, name: &str) -> Result<(), Error> {
    let shown = dir.display().to_string();
    let dir = Dir::new(sys::open_root(dir).at("open", &shown)?, &shown);
    dir.spot(name).remove()?;
    dir.sync()
}

/// Fills `bytes` with random bytes.
pub fn random(bytes: &mut [u8]) -> Result<(), Error> {
    sys::random(bytes).at("get", "random bytes")
}
