//! Where the state of a directory is: one lock, journal, log and undo for all of a project.

use std::path::PathBuf;
use std::sync::Arc;

use fs_guard::{Policy, RelPath, Root, Sha256};
use workspace_trash::{KeyPlace, Prefix};

use crate::policy::USER_STATES;

/// Where the state directory is that a workspace uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StatePlace {
    /// In the nearest directory, from the root upwards, that has a trusted one. When none has: in the top of the enclosing git
    /// work tree, if that is writable and of the root's owner and file system, else in the root.
    #[default]
    Project,
    /// In the root, whatever is around it.
    Root,
    /// In the user's state directory (`$XDG_STATE_HOME/apply-patch`), by the path and the device of the project's top: `git clean`
    /// does not reach it. A state directory that is in the tree already stays in use. Where the user has no state directory:
    /// as [`Project`](Self::Project).
    User,
}

/// The directory whose state it is, and the path from there to the root.
pub(super) fn find(root: &Arc<Root>, place: StatePlace, key_place: &KeyPlace) -> (Arc<Root>, Prefix) {
    let here = || (Arc::clone(root), Prefix::default());
    if place == StatePlace::Root || matches!(root.state_dir(), Ok(Some(_))) {
        return here();
    }
    // What was interrupted elsewhere in the project is finished from here, too.
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
        // A root of its own: the other is shared.
        Some(dir) => match Root::open(home.path(), home.policy().clone()) {
            Ok(root) => (Arc::new(root.with_private_dir(dir)), prefix),
            Err(_) => (home, prefix),
        },
        None => (home, prefix),
    }
}

/// The directory of a project's state among the user's.
fn user_state(home: &Root, key_place: &KeyPlace) -> Option<PathBuf> {
    let states = key_place.directories().into_iter().next()?.join(USER_STATES);
    let path = fs_guard::real_path(home.path()).ok()?;
    let device = home.device();
    let hash = Sha256::of(format!("{device}\0{}", path.to_str()?).as_bytes()).to_string();
    let name: String = path.file_name().and_then(|name| name.to_str()).unwrap_or("root").into();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(32).collect();
    Some(states.join(format!("{name}-{}", &hash[..16])))
}
