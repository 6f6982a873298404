//! Names in directories: given, changed, taken away.
//!
//! Windows cannot swap two names, and makes no hard links here: an exchange renames the old file
//! aside, and recovery knows how to finish.

use std::io;
use std::os::windows::io::AsRawHandle as _;

use windows_sys::Wdk::Storage::FileSystem as wdk;
use windows_sys::Win32::Storage::FileSystem as win;

use super::call::{SEE, error, read, wide, write};
use super::kept::set_attributes;
use super::look::OpenedHandle;
use super::nt::{Create, opening};
use super::status::{self, code};
use super::{layout, look, nt, security};
use crate::sys::fault::{self, FaultSide};
use crate::sys::modes::{NameIn, Rename};

type Fd = std::fs::File;

/// Renames; `Unsupported` for an exchange, unknown to Windows.
pub(crate) fn rename(from: NameIn<'_, &Fd>, to: NameIn<'_, &Fd>, how: Rename) -> io::Result<()> {
    #[cfg(feature = "fault-injection")]
    if fault::crosses_device() && is_private(from.dir)? != is_private(to.dir)? {
        return error(code::XDEV);
    }
    if how == Rename::Exchange || fault::lacks(how) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    fault::point(if how == Rename::Replace { "renameat" } else { "renameat2" }, FaultSide::Write)?;
    let file = named(from, win::DELETE | win::FILE_READ_ATTRIBUTES, 0)?;
    let Some(name) = wide(to.name) else { return error(status::INVALID_NAME) };
    let given = |flags: u32| {
        let mut given = u64::from(flags).to_le_bytes().to_vec();
        given.extend((to.dir.as_raw_handle().addr() as u64).to_le_bytes());
        given.extend(u32::try_from(name.len() * 2).unwrap_or(u32::MAX).to_le_bytes());
        given.extend(name.iter().flat_map(|unit| unit.to_le_bytes()));
        // The structure has room for a name of two units.
        given.resize(given.len().max(24), 0);
        given
    };
    let set = |class, flags| {
        let given = given(flags);
        nt::set_information(&file, class, &layout::words(&given), given.len())
    };
    let result = if how == Rename::Replace {
        // With these semantics a reader of the replaced file goes on reading.
        let flags = wdk::FILE_RENAME_REPLACE_IF_EXISTS
            | wdk::FILE_RENAME_POSIX_SEMANTICS
            | wdk::FILE_RENAME_IGNORE_READONLY_ATTRIBUTE;
        match status::patiently(|| set(wdk::FileRenameInformationEx, flags)) {
            Err(status) if status::is_unknown(status) => {
                status::more_patiently(|| set(wdk::FileRenameInformation, 1))
            }
            result => result,
        }
    } else {
        status::patiently(|| set(wdk::FileRenameInformation, 0))
    };
    result.map_err(status::from)
}

/// Opens the entry with exactly this name, to rename or to remove it.
pub(super) fn named(place: NameIn<'_, &Fd>, access: u32, options: u32) -> io::Result<Fd> {
    let NameIn { dir, name } = place;
    let Some(wide) = wide(name) else { return error(code::NOENT) };
    let (file, opened) = look::open_exactly(dir, &wide, || {
        status::patiently(|| nt::create(dir, &wide, opening(access, options)))
    })?;
    match opened {
        // Wine opened the target of the link.
        OpenedHandle::Link
            if look::attributes(&file)?.0 & win::FILE_ATTRIBUTE_REPARSE_POINT == 0 =>
        {
            error(code::LOOP)
        }
        _ => Ok(file),
    }
}

#[cfg(feature = "fault-injection")]
fn is_private(dir: &Fd) -> io::Result<bool> {
    Ok(look::metadata(dir)?.mode & 0o077 == 0)
}

/// Second names are not used: the rename that follows would replace a file created in between. So
/// an exchange takes the old file aside, by a rename without replacement, and gives the new one its
/// name in the same way.
pub(crate) fn link(_: NameIn<'_, &Fd>, _: NameIn<'_, &Fd>) -> io::Result<()> {
    error(code::OPNOTSUPP)
}

/// Symbolic links are not made here: Windows asks for a privilege, and whether they lead to a file
/// or a directory.
pub(crate) fn symlink(_: &[u8], _: &Fd, _: &str) -> io::Result<()> {
    error(code::OPNOTSUPP)
}

/// Reads where a link or a junction leads, with `/` between the parts.
pub(crate) fn read_link(dir: &Fd, name: &str) -> io::Result<Vec<u8>> {
    /// The tag of a symbolic link; of a junction.
    const LINK: u32 = 0xA000_000C;
    const JUNCTION: u32 = 0xA000_0003;
    read("readlinkat", || {
        let Some(wide) = wide(name) else { return error(code::NOENT) };
        let file =
            status::patiently(|| nt::create(dir, &wide, opening(win::FILE_READ_ATTRIBUTES, 0)));
        let file = file.map_err(status::from)?;
        let mut words = vec![0; 2048];
        let length = nt::control(
            &file,
            windows_sys::Win32::System::Ioctl::FSCTL_GET_REPARSE_POINT,
            &mut words,
        )?;
        let seen = layout::bytes(&words, length);
        let texts = match layout::u32_at(&seen, 0) {
            Some(LINK) => 20,
            Some(JUNCTION) => 16,
            _ => return error(code::OPNOTSUPP),
        };
        let from = layout::u16_at(&seen, 8).map(usize::from);
        let length = layout::u16_at(&seen, 10).map(usize::from);
        let text = from
            .zip(length)
            .and_then(|(from, length)| layout::text_at(&seen, texts + from, length));
        let text = text.ok_or(io::ErrorKind::InvalidData)?;
        Ok(layout::name_bytes(&text)
            .iter()
            .map(|&byte| if byte == b'\\' { b'/' } else { byte })
            .collect())
    })
}

/// Takes a file's name away.
pub(crate) fn unlink(dir: &Fd, name: &str) -> io::Result<()> {
    write("unlinkat", || {
        let file = named(
            NameIn { dir, name },
            win::DELETE | win::FILE_READ_ATTRIBUTES | win::FILE_WRITE_ATTRIBUTES,
            0,
        )?;
        let (attributes, tag) = look::attributes(&file)?;
        if attributes & win::FILE_ATTRIBUTE_DIRECTORY != 0 && tag == 0 {
            return error(code::ISDIR);
        }
        dispose(&file, attributes)
    })
}

fn dispose(file: &Fd, attributes: u32) -> io::Result<()> {
    // With these semantics the name is gone at once, also while someone has the file open.
    let flags = wdk::FILE_DISPOSITION_DELETE
        | wdk::FILE_DISPOSITION_POSIX_SEMANTICS
        | wdk::FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE;
    match nt::set_information(file, wdk::FileDispositionInformationEx, &[flags.into()], 4) {
        Err(status) if status::is_unknown(status) => {}
        result => return result.map_err(status::from),
    }
    if attributes & win::FILE_ATTRIBUTE_READONLY != 0 {
        set_attributes(file, attributes & !win::FILE_ATTRIBUTE_READONLY)?;
    }
    nt::set_information(file, wdk::FileDispositionInformation, &[1], 1).map_err(status::from)
}

/// Creates a directory.
pub(crate) fn make_dir(dir: &Fd, name: &str, mode: u32) -> io::Result<()> {
    write("mkdirat", || {
        let Some(wide) = wide(name) else { return error(status::INVALID_NAME) };
        let how = Create {
            disposition: wdk::FILE_CREATE,
            attributes: win::FILE_ATTRIBUTE_NORMAL,
            security: if mode & 0o077 == 0 { security::private(true) } else { None },
            ..opening(SEE, wdk::FILE_DIRECTORY_FILE)
        };
        status::patiently(|| nt::create(dir, &wide, how)).map(drop).map_err(status::from)
    })
}

/// Removes an empty directory.
pub(crate) fn remove_dir(dir: &Fd, name: &str) -> io::Result<()> {
    write("unlinkat", || {
        let file = named(
            NameIn { dir, name },
            win::DELETE | win::FILE_READ_ATTRIBUTES,
            wdk::FILE_DIRECTORY_FILE,
        )?;
        match look::attributes(&file)? {
            (_, 0) => dispose(&file, 0),
            _ => error(code::NOTDIR),
        }
    })
}

/// Removes a directory right after its files. Without POSIX semantics a file keeps its name while
/// anybody has the file open.
pub(crate) fn remove_emptied_dir(dir: &Fd, name: &str) -> io::Result<()> {
    status::retry(|| remove_dir(dir, name), |error| error.raw_os_error() == Some(code::NOTEMPTY))
}

/// Lists the names in a directory; they need not be Unicode.
pub(crate) fn list(dir: &Fd) -> io::Result<Vec<Vec<u8>>> {
    read("openat", || look::names(dir))
}

/// Does the same: here a handle can be listed again.
pub(crate) fn list_own(dir: &Fd, _: bool) -> io::Result<Vec<Vec<u8>>> {
    list(dir)
}
