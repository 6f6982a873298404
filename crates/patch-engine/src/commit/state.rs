//! The states of a project, and those in the user's place, each as one that can be removed.

use std::path::PathBuf;
use std::sync::Arc;

use fs_guard::{Dir, Root, Wait};
use workspace_trash::{KeyPlace, LockedStore, OwnKey, Removal, Store};

use super::error::Error;
use super::{home, siblings};

/// The environment variable that names the state directory of a project whose files are being
/// checked. What a check starts has it.
pub const CHECKED: &str = "APPLY_PATCH_CHECKED_STATE";

/// An existing state directory, in a project or in the user's place.
#[derive(Debug)]
pub struct State {
    /// The top of the project; of a project that is not known, the folder of the states.
    home: Arc<Root>,
    path: String,
    key: KeyPlace,
}

impl State {
    pub(super) fn new(home: Arc<Root>, key: KeyPlace) -> Self {
        let path = path(&home);
        Self { home, path, key }
    }

    /// Returns its path, for messages and not for opening.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Opens the directory; `None` if gone.
    ///
    /// # Errors
    ///
    /// If the state is not trusted or cannot be opened.
    pub fn dir(&self) -> Result<Option<Dir>, fs_guard::Error> {
        self.home.state_dir()
    }

    /// Opens the store for reading; `None` if gone.
    ///
    /// # Errors
    ///
    /// If the directory is not trusted or cannot be opened.
    pub fn store(&self) -> Result<Option<Store<'_>>, Error> {
        Ok(Store::open(&self.home, OwnKey::from(self.key.clone()))?)
    }

    /// Removes the state for good: what the engine keeps there and what its callers do, by the
    /// names `also` in the directory. Of what is in these, `is_own` knows the paths of what the
    /// callers make, from the state directory on. Other files are left, with the directories above
    /// them. Takes the lock, and recovers nothing.
    ///
    /// # Errors
    ///
    /// If another process has the lock, or something cannot be removed. The rest can be removed
    /// later in the same way.
    pub fn remove(
        &self,
        wait: impl Into<Wait>,
        also: &[&str],
        is_own: &dyn Fn(&str) -> bool,
    ) -> Result<Removal, Error> {
        if self.dir()?.is_none() {
            return Ok(Removal::Done);
        }
        let store = lock(&self.home, self.key.clone().into(), wait)?;
        Ok(store.remove_state(also, &|path| siblings::is_own(path) || is_own(path))?)
    }
}

/// Returns the states of all projects in the user's place.
#[must_use]
pub fn user_states(key_place: &KeyPlace) -> Vec<State> {
    let homes = home::of_user(key_place).into_iter();
    homes.map(|home| State::new(Arc::new(home), key_place.clone())).collect()
}

/// Returns the directories for [`user_states`].
#[must_use]
pub fn user_state_folders(key_place: &KeyPlace) -> Vec<PathBuf> {
    home::user_folders(key_place)
}

/// Returns the path of a directory's state, existing or not.
pub(super) fn path(home: &Root) -> String {
    let top = fs_guard::real_path(home.path()).unwrap_or_else(|_| home.path().to_path_buf());
    // If the state is elsewhere, its path is absolute, and `join` returns just this path.
    top.join(home.state_path()).display().to_string()
}

/// Takes the lock of a state, unless a check of one of its transactions runs this.
pub(super) fn lock(
    home: &Root,
    key: OwnKey,
    wait: impl Into<Wait>,
) -> Result<LockedStore<'_>, Error> {
    if std::env::var_os(CHECKED).is_some_and(|checked| *checked == *path(home)) {
        return Err(Error::BeingChecked);
    }
    Ok(LockedStore::lock(home, key, wait)?)
}
