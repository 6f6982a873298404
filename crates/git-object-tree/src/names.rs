//! The names that git refuses in trees.

use gix_validate::path::component;

use crate::error::{Error, Result};
use crate::tree::EntryKind;

/// More components than any tree has; each is a step of a recursion.
pub(crate) const DEPTH: usize = 512;

/// Splits a path, and checks every component with [`check`].
pub(crate) fn components(path: &[u8]) -> Result<Vec<&[u8]>> {
    let components: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    if components.len() > DEPTH {
        return Err(invalid(path, "it has more than 512 components"));
    }
    components.iter().try_for_each(|name| check(name).map_err(|problem| invalid(path, problem)))?;
    Ok(components)
}

pub(crate) fn invalid(path: &[u8], problem: &'static str) -> Error {
    Error::InvalidPath { path: String::from_utf8_lossy(path).into_owned(), problem }
}

/// Checks one name by the rules of `git fsck --strict`: no name that a file system could take for
/// `.git`.
pub(crate) fn check(name: &[u8]) -> std::result::Result<(), &'static str> {
    if name.contains(&0) {
        return Err("a NUL in it");
    }
    if name.len() > 4096 {
        return Err("a component of more than 4096 bytes");
    }
    // A backslash divides names where git runs on Windows.
    for part in name.split(|byte| *byte == b'\\') {
        let options =
            component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
        match gix_validate::path::component(part.into(), None, options) {
            Ok(_) => {}
            Err(component::Error::Empty) if part.len() < name.len() => {}
            Err(component::Error::Empty) => return Err("an empty component"),
            Err(component::Error::Relative) if part.len() == name.len() => {
                return Err("a component `.` or `..`");
            }
            Err(component::Error::Relative) => {
                return Err("a component `.` or `..` after a backslash");
            }
            Err(component::Error::DotGitDir) => {
                return Err("git keeps `.git`, in any spelling, for itself");
            }
            Err(_) => return Err("a name that git refuses"),
        }
    }
    Ok(())
}

/// The other files that git reads itself.
const OWN: [&[u8]; 3] = [b".gitattributes", b".gitignore", b".mailmap"];

fn is_gitmodules(name: &[u8]) -> bool {
    let options =
        component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    let as_link =
        gix_validate::path::component(name.into(), Some(component::Mode::Symlink), options);
    matches!(as_link, Err(component::Error::SymlinkedGitModules))
}

/// Checks what git asks of files that it reads itself: they are not links.
pub(crate) fn check_kind(name: &[u8], kind: EntryKind) -> std::result::Result<(), &'static str> {
    if kind == EntryKind::Symlink
        && (is_gitmodules(name) || OWN.iter().any(|own| name.eq_ignore_ascii_case(own)))
    {
        Err("git reads this file itself, and takes no link for it")
    } else {
        Ok(())
    }
}

/// Whether git looks into a file of this name.
pub(crate) fn has_rules(name: &[u8]) -> bool {
    is_gitmodules(name) || name.eq_ignore_ascii_case(OWN[0])
}

/// Checks what git asks of the bytes of such a file: no submodule with a name out of
/// `.git/modules`, none with settings that an older git would take for an option or a command, and
/// no line of attributes that an older git would misread.
pub(crate) fn check_bytes(name: &[u8], bytes: &[u8]) -> std::result::Result<(), &'static str> {
    if !is_gitmodules(name) {
        let long = bytes.len() > 100 << 20
            || bytes.split(|byte| *byte == b'\n').any(|line| line.len() >= 2048);
        return if long { Err("a line of attributes that is too long for git") } else { Ok(()) };
    }
    // A file that cannot be read is not an error to git either.
    let Ok(file) = gix_config::File::try_from(&*String::from_utf8_lossy(bytes)) else {
        return Ok(());
    };
    for section in file.sections_by_name("submodule").into_iter().flatten() {
        let name = section.header().subsection_name().map(|name| name.to_vec()).unwrap_or_default();
        if name.is_empty()
            || name.split(|byte| matches!(byte, b'/' | b'\\')).any(|part| part == b"..")
        {
            return Err("a submodule with such a name");
        }
        let is_option = [("url", b'-'), ("path", b'-'), ("update", b'!')]
            .iter()
            .any(|(key, sign)| section.values(key).iter().any(|value| value.first() == Some(sign)));
        let url = section.values("url").iter().any(|value| {
            value.contains(&b'\n') || value.windows(3).any(|part| part.eq_ignore_ascii_case(b"%0a"))
        });
        if url || is_option {
            return Err("a submodule with such a url, path or update");
        }
    }
    Ok(())
}
