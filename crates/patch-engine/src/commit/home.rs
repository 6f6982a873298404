//! Finds the state directory: each project has one lock, journal, log and undo history.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_guard::{Common, Enclosing, Policy, Root, Sha256};
use workspace_trash::{KeyPlace, Prefix};

use crate::policy::USER_STATES;

/// Where a workspace keeps its state directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum StatePlace {
    /// In the nearest directory, from the root upwards to the top of the enclosing work tree (of
    /// git, Mercurial or Jujutsu), that has a trusted one. If none has: at that top if it is
    /// writable and has the owner and the file system of the root, else in the root. Never from
    /// below in the user's home directory, in `/`, or where others may create files.
    ///
    /// Where root has to make one in the directory of another user, it is made as for
    /// [`User`](Self::User) instead: that user could not use it.
    #[default]
    Project,
    /// In the root, whatever encloses the root.
    Root,
    /// In the user's state directory (`$XDG_STATE_HOME/apply-patch`), where `git clean` does not
    /// reach it. It belongs to the directory that is the project's top (by device, inode number and
    /// the time at which that was made), not to its path. A state directory that already exists in
    /// the tree stays in use. If the user has no state directory, or the file system does not know
    /// when directories were made: as [`Project`](Self::Project), for which a state that already
    /// exists here stays in use as well.
    User,
}

/// Opens the directories above a root whose rules hold in it too, nearest first, each with the path
/// from there to the root: those up to the top of the work tree, wherever the state lies; without a
/// work tree, those up to the nearest that has a state.
///
/// Directories open to files of others are left out.
#[must_use]
pub fn directories_above(root: &Root) -> Vec<(Root, Prefix)> {
    if root.is_work_tree() {
        return Vec::new();
    }
    let policy = anywhere(root);
    let mut above = Vec::new();
    let mut to_state = has_state(root).then_some(0);
    let mut is_state_sought = true;
    for Enclosing { root, path, way } in root.enclosing(&policy) {
        let common = root.common();
        let is_top = root.is_work_tree();
        is_state_sought &= way.is_some() && common.is_none();
        let has_state = is_state_sought && to_state.is_none() && has_state(&root);
        if common != Some(Common::Shared) {
            above.push((root, Prefix::new(&path)));
        }
        if is_top {
            return above;
        }
        if has_state {
            to_state = Some(above.len());
        }
    }
    above.truncate(to_state.unwrap_or(0));
    above
}

/// The rules of a root, without its limits to directories inside.
pub(super) fn anywhere(root: &Root) -> Policy {
    Policy { within: Vec::new(), ..root.policy().clone() }
}

/// Whether a directory has a trusted state.
fn has_state(root: &Root) -> bool {
    matches!(root.state_dir(), Ok(Some(_)))
}

/// Finds the directory with the state, and the path from there to the root.
pub(super) fn find(
    root: &Arc<Root>,
    place: StatePlace,
    key_place: &KeyPlace,
) -> (Arc<Root>, Prefix) {
    let here = (Arc::clone(root), Prefix::default());
    if has_state(root) {
        return here;
    }
    let (home, prefix) = if place == StatePlace::Root || root.is_work_tree() {
        here
    } else {
        above(root).unwrap_or(here)
    };
    let makes_one = place == StatePlace::User || home.would_keep_out().is_some();
    if has_state(&home) || (place == StatePlace::Root && !makes_one) {
        return (home, prefix);
    }
    match at_user(&home, key_place).filter(|users| makes_one || has_state(users)) {
        Some(users) => (Arc::new(users), prefix),
        None => (home, prefix),
    }
}

/// Opens a directory with its state in the user's place, whether there is one or not.
fn at_user(home: &Root, key_place: &KeyPlace) -> Option<Root> {
    let dir = user_state(home, key_place)?;
    // Opened anew, because the other handle is shared.
    Some(Root::open(home.path(), home.policy().clone()).ok()?.with_private_dir(dir))
}

/// Opens a directory that has a state in the tree with the one in the user's place, if that exists
/// too.
pub(super) fn unused(home: &Root, key_place: &KeyPlace) -> Option<Root> {
    let is_in_tree = !Path::new(&home.state_path()).is_absolute();
    is_in_tree.then(|| at_user(home, key_place)).flatten().filter(has_state)
}

/// Returns the user's folders of states.
pub(super) fn user_folders(key_place: &KeyPlace) -> Vec<PathBuf> {
    key_place.directories().into_iter().map(|dir| dir.join(USER_STATES)).collect()
}

/// Opens the user's folders of states, once for each state in them.
pub(super) fn of_user(key_place: &KeyPlace) -> Vec<Root> {
    let mut states = Vec::new();
    for folder in user_folders(key_place) {
        let Some(opened) = open(&folder) else { continue };
        let names = opened.as_dir("").and_then(|dir| dir.names()).unwrap_or_default();
        for name in names.iter().filter(|name| is_state_name(name)) {
            states.extend(open(&folder).map(|open| open.with_private_dir(folder.join(name))));
        }
    }
    states
}

fn open(folder: &Path) -> Option<Root> {
    Root::open(folder, crate::policy::policy()).ok()
}

/// Whether a name is one of a state in the user's folder: see [`UserState`].
fn is_state_name(name: &str) -> bool {
    let mut parts = name.rsplitn(3, '-');
    parts.next().is_some_and(|directory| is_hex(directory, 16))
        && parts.next().is_some_and(|path| is_hex(path, 8))
        && parts.next().is_some()
}

fn is_hex(part: &str, length: usize) -> bool {
    part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Looks upwards for the directory that has the state, or else should have it: at most to the top
/// of the work tree, because a state above that is another project's, and never in a directory that
/// is not a place for a project.
fn above(root: &Arc<Root>) -> Option<(Arc<Root>, Prefix)> {
    // Transactions interrupted elsewhere in the project are recovered from here too.
    let policy = anywhere(root);
    for Enclosing { root: above, way, .. } in root.enclosing(&policy) {
        let path = way.filter(|_| above.common().is_none())?;
        let is_top = above.is_work_tree();
        if has_state(&above) || (is_top && above.is_writable_as(root)) {
            let prefix = Prefix::new(path.as_str());
            let shown = prefix.relative(&above.policy().private_dir);
            return Some((Arc::new(above.showing_private_dir(shown)), prefix));
        }
        if is_top {
            return None;
        }
    }
    None
}

/// The user's folder of states, and the two parts of the name of a directory's state there.
struct UserState {
    folder: PathBuf,
    /// Stands for the path, to find the states of directories here before.
    path: String,
    /// Stands for the directory itself, wherever moved.
    directory: String,
}

impl UserState {
    /// `None` if the user has no state directory, or nothing tells the directory from a later one
    /// at the same path.
    fn of(home: &Root, key_place: &KeyPlace) -> Option<Self> {
        let folder = user_folders(key_place).into_iter().next()?;
        let path = fs_guard::real_path(home.path()).ok()?;
        let name: String = path.file_name().and_then(|name| name.to_str()).unwrap_or("root").into();
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(32)
            .collect();
        let path = format!("{name}-{}", &hex_of(path.to_str()?)[..8]);
        Some(Self { folder, path, directory: hex_of(&home.identity()?)[..16].to_owned() })
    }

    fn names(&self) -> Vec<String> {
        let folder =
            Root::open(&self.folder, crate::policy::policy()).and_then(|folder| folder.as_dir(""));
        folder.and_then(|folder| folder.names()).unwrap_or_default()
    }

    /// Returns the name that ends in the directory's part: the directory may have had another path
    /// when its state was made.
    fn name(&self, names: Vec<String>) -> String {
        let name = format!("{}-{}", self.path, self.directory);
        if names.contains(&name) {
            return name;
        }
        let mut names = names.into_iter();
        names.find(|other| other.rsplit('-').next() == Some(&self.directory)).unwrap_or(name)
    }
}

fn hex_of(text: &str) -> String {
    Sha256::of(text.as_bytes()).to_string()
}

/// Returns the path of a project's state directory beneath the user's.
fn user_state(home: &Root, key_place: &KeyPlace) -> Option<PathBuf> {
    let state = UserState::of(home, key_place)?;
    Some(state.folder.join(state.name(state.names())))
}

/// Returns the paths of the user's states of other directories that had the path of this one: each
/// was removed, or moved elsewhere.
pub(super) fn former_states(home: &Root, key_place: &KeyPlace) -> Vec<PathBuf> {
    let Some(state) = UserState::of(home, key_place) else { return Vec::new() };
    let names = state.names().into_iter().filter(|name| {
        name.rsplit_once('-')
            .is_some_and(|(path, other)| path == state.path && other != state.directory)
    });
    names.map(|name| state.folder.join(name)).collect()
}
