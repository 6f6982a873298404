//! Finds the state directory: each project has one lock, journal, log and undo history.

use std::path::PathBuf;
use std::sync::Arc;

use fs_guard::{Policy, RelPath, Root, Sha256};
use workspace_trash::{KeyPlace, Prefix};

use crate::policy::USER_STATES;

/// Where a workspace keeps its state directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StatePlace {
    /// In the nearest directory, from the root upwards, that has a trusted one. If none has: at the top of the enclosing git
    /// work tree if that is writable and has the owner and the file system of the root, else in the root.
    #[default]
    Project,
    /// In the root, whatever encloses it.
    Root,
    /// In the user's state directory (`$XDG_STATE_HOME/apply-patch`), named after the path and the device of the project's top,
    /// where `git clean` does not reach it. A state directory that already exists in the tree stays in use. If the user has no
    /// state directory: as [`Project`](Self::Project).
    User,
}

/// Finds the project that encloses a directory: its top, and the path from there to the directory.
#[must_use]
pub fn project(root: &Arc<Root>) -> (Arc<Root>, Prefix) {
    find(root, StatePlace::Project, &KeyPlace::Nowhere)
}

/// Finds the directory that has the state, and the path from there to the root.
pub(super) fn find(root: &Arc<Root>, place: StatePlace, key_place: &KeyPlace) -> (Arc<Root>, Prefix) {
    let here = || (Arc::clone(root), Prefix::default());
    if place == StatePlace::Root || matches!(root.state_dir(), Ok(Some(_))) {
        return here();
    }
    // Transactions that were interrupted elsewhere in the project are recovered from here too.
    let policy = Policy { within: Vec::new(), ..root.policy().clone() };
    let mut top = root.has_git().then(here);
    for (above, path) in root.enclosing(&policy) {
        let found = |above: Root, path: &RelPath| {
            let prefix = Prefix::new(path.as_str());
            let shown = prefix.relative(&above.policy().private_dir);
            (Arc::new(above.showing_private_dir(shown)), prefix)
        };
        if matches!(above.state_dir(), Ok(Some(_))) {
            return found(above, &path);
        }
        if top.is_none() && above.has_git() {
            let usable = above.is_writable_as(root);
            top = Some(if usable { found(above, &path) } else { here() });
        }
    }
    let (home, prefix) = top.unwrap_or_else(here);
    match user_state(&home, key_place).filter(|_| place == StatePlace::User) {
        // Opened anew, because the other handle is shared.
        Some(dir) => match Root::open(home.path(), home.policy().clone()) {
            Ok(root) => (Arc::new(root.with_private_dir(dir)), prefix),
            Err(_) => (home, prefix),
        },
        None => (home, prefix),
    }
}

/// Returns the path of a project's state directory beneath the user's.
fn user_state(home: &Root, key_place: &KeyPlace) -> Option<PathBuf> {
    let states = key_place.directories().into_iter().next()?.join(USER_STATES);
    let path = fs_guard::real_path(home.path()).ok()?;
    let device = home.device();
    let hash = Sha256::of(format!("{device}\0{}", path.to_str()?).as_bytes()).to_string();
    let name: String = path.file_name().and_then(|name| name.to_str()).unwrap_or("root").into();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(32).collect();
    Some(states.join(format!("{name}-{}", &hash[..16])))
}
