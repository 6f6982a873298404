//! Staging beside the files, where files cannot be renamed out of the state directory: project
//! quotas, union file systems, subvolumes.
//!
//! The names are listed in the transaction's folder before the first file is created, so that none
//! is left behind when the commit is interrupted.

use fs_guard::{Dir, Dirs, Metadata, OpenFile, RelPath, Root, Spot, StagedFile, Target};
use workspace_trash::{Journal, Pending, Prefix, TransactionId};

use super::error::CommitError;
use super::slot::{Slot, look};

const LIST: &str = "siblings";

/// The end of the name of a new file until the file is whole.
const PART: &str = ".part";

/// Returns whether a path in the state directory, in the folder of a transaction, is that of
/// something that is made here.
pub(super) fn is_own(path: &str) -> bool {
    let [_, id, name] = path.split('/').collect::<Vec<_>>()[..] else { return false };
    let slot = name.strip_suffix(PART).is_some_and(|slot| slot.parse::<u32>().is_ok());
    id.parse::<TransactionId>().is_ok() && (slot || name == LIST)
}
const END: &str = ".apply-patch.tmp";

/// Chooses names beside the files, lists them as paths of the project, and creates the new
/// directories around them.
pub(super) fn choose(
    dirs: &Dirs<'_>,
    pending: &Pending<'_>,
    prefix: &Prefix,
    paths: &[Target],
    created: &[(Target, Option<u32>)],
) -> Result<Vec<Option<String>>, CommitError> {
    let mut names = Vec::with_capacity(paths.len());
    let mut list = String::new();
    for path in paths {
        let name = name(path)?;
        let beside =
            path.parent().map_or_else(|| name.clone(), |parent| format!("{parent}/{name}"));
        list.push_str(&prefix.join(&beside));
        list.push('\n');
        names.push(Some(name));
    }
    for (dir, _) in created {
        list.push_str(&prefix.join(dir.as_str()));
        list.push_str("/\n");
    }
    let mut file = pending.folder().spot(LIST).create(0o600)?;
    file.write(list.as_bytes())?;
    let file = file.finish_own(true);
    let mut group = fs_guard::SyncGroup::new();
    group.file(&file);
    pending.add_dirs(&mut group);
    group.sync(None)?;
    for (dir, _) in created {
        dirs.create_dir(dir, None)?;
    }
    Ok(names)
}

/// Returns a name for a file beside a path.
pub(super) fn name(path: &RelPath) -> Result<String, fs_guard::Error> {
    let mut random = [0; 6];
    fs_guard::random(&mut random)?;
    let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let file = path.file_name();
    let mut room = Spot::LONGEST_STAGED_NAME - END.len() - random.len() - 1;
    while !file.is_char_boundary(room.min(file.len())) {
        room -= 1;
    }
    Ok(format!("{}.{random}{END}", &file[..room.min(file.len())]))
}

/// Copies a file with its mode, its attributes and, where possible, its owner.
pub(super) fn copy(
    from: &mut OpenFile,
    seen: &Metadata,
    to: &Spot,
) -> Result<StagedFile, fs_guard::Error> {
    let mut file = to.create(0o600)?;
    file.copy(from, seen.size)?;
    file.copy_xattrs(from)?;
    file.finish(Some(seen.kept_mode()), Some(seen), true)
}

/// Fails unless the name that a journal states for a file staged beside `path` is one that this
/// program would choose.
pub(super) fn check_name(root: &Root, path: &RelPath, name: &str) -> Result<(), fs_guard::Error> {
    let beside = match path.parent() {
        Some(parent) => format!("{parent}/{name}"),
        None => name.to_owned(),
    };
    let checked = root.check_recorded(&beside, true)?;
    if name.ends_with(END) && checked.parent() == path.parent() {
        return Ok(());
    }
    Err(fs_guard::Error::UntrustedState {
        path: beside,
        problem: "it is not the name of a staged file",
    })
}

/// Returns the place of a path, or `None` if its directory is gone or is not a directory. An I/O
/// error is not taken for "gone".
fn place(dirs: &Dirs<'_>, path: &Target) -> Result<Option<Spot>, CommitError> {
    match dirs.place(path) {
        Ok(place) => Ok(Some(place)),
        Err(error @ fs_guard::Error::Io { .. }) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// Removes the staged files of a commit interrupted before its journal was complete.
///
/// The list is not signed, so only files with names that this program chooses are removed, and
/// directories only if they are empty.
pub(super) fn remove_listed(dirs: &Dirs<'_>, folder: &Dir) -> Result<(), CommitError> {
    let list = match folder.spot(LIST).read(64 << 20) {
        Ok((list, _)) => String::from_utf8_lossy(&list).into_owned(),
        Err(fs_guard::Error::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let (made, files): (Vec<&str>, Vec<&str>) = list.lines().partition(|line| line.ends_with('/'));
    for line in files.into_iter().filter(|line| line.ends_with(END)) {
        let Ok(path) = dirs.root().target_recorded(line, true) else { continue };
        if let Some(place) = place(dirs, &path)? {
            place.remove()?;
        }
    }
    for line in made.into_iter().rev() {
        if let Ok(path) = dirs.root().target_recorded(line.trim_end_matches('/'), true) {
            dirs.remove_dir(&path)?;
        }
    }
    // The caller removes the list next. The list must not disappear before its files.
    let mut group = fs_guard::SyncGroup::new();
    group.dirs_of(dirs);
    Ok(group.sync(None)?)
}

/// Copies the displaced files beside their paths into the folder. Returns `false` if none were
/// staged so.
pub(super) fn bring_home(
    dirs: &Dirs<'_>,
    pending: &Pending<'_>,
    journal: &Journal,
) -> Result<bool, CommitError> {
    if journal.records.iter().all(|record| record.sibling.is_none()) {
        return Ok(false);
    }
    for record in &journal.records {
        let Some(name) = &record.sibling else { continue };
        let path = dirs.root().target_recorded(&record.path, true)?;
        let Some(place) = place(dirs, &path)? else { continue };
        let beside = place.dir().spot(name);
        let Some(seen) = beside.metadata()? else { continue };
        if record.before.is_none() {
            continue;
        }
        let home = pending.slot(record.slot);
        if home.metadata()?.is_none() {
            let part = pending.folder().spot(&format!("{}{PART}", record.slot));
            part.remove()?;
            if seen.kind == fs_guard::FileKind::Symlink {
                part.create_link(&beside.read_link()?)?;
            } else {
                let (mut from, seen) = beside.open()?;
                let file = copy(&mut from, &seen, &part)?;
                let mut group = fs_guard::SyncGroup::new();
                group.file(&file);
                group.sync(None)?;
            }
            part.rename_new(&home)?;
            pending.folder().sync()?;
        }
        beside.remove()?;
    }
    pending.folder().spot(LIST).remove()?;
    Ok(true)
}

/// Removes staged files after a roll-back.
pub(super) fn remove_staged(dirs: &Dirs<'_>, journal: &Journal) {
    for record in &journal.records {
        let Some(name) = &record.sibling else { continue };
        let Ok(path) = dirs.root().target_recorded(&record.path, true) else { continue };
        let Ok(place) = dirs.place(&path) else { continue };
        let beside = place.dir().spot(name);
        if matches!(look(&beside, record), Ok(Slot::New | Slot::Torn)) {
            let _ = beside.remove();
        }
    }
}
