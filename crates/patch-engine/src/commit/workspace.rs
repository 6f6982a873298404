//! A workspace: its files, and the store of displaced files.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use fs_guard::{Dir, Dirs, Policy, RelPath, Root, Wait};
use workspace_trash::{
    KeyPlace, LockedStore, OwnKey, Prefix, Purged, Retention, Store, TransactionId,
};

use super::approval::{ApprovalPolicy, Approvals};
use super::below;
use super::error::{CommitError, Error};
use super::home::{self, StatePlace};
use super::reach::Reach;
use super::recover::recover;
use super::recovered::Recovered;
use super::state::{self, State};
use crate::files::Files;
use crate::plan::kind::ErrorKind;
use crate::plan::{Plan, Transition};

/// A root, the directory tree that patches may change, and the enclosing project, whose
/// transactions are recorded together. Opening one writes nothing.
///
/// All paths are relative to the root. Recorded paths elsewhere in the project begin with `..`.
#[derive(Debug)]
pub struct Workspace {
    root: Arc<Root>,
    /// The top of the project, with the state directory.
    home: Arc<Root>,
    /// The path from there to the root.
    prefix: Prefix,
    /// The path from the project's top to the opened directory.
    opened: Prefix,
    /// Read once per transaction.
    key: Mutex<OwnKey>,
    /// Whether a person asks.
    person: bool,
}

impl Workspace {
    /// Opens a directory, with the state of its [project](StatePlace::Project).
    pub fn open(dir: &Path, policy: Policy) -> Result<Self, Error> {
        Self::open_with(dir, policy, StatePlace::default())
    }

    /// Opens a directory, with its state at the given place.
    pub fn open_with(dir: &Path, policy: Policy, place: StatePlace) -> Result<Self, Error> {
        Self::open_keyed(dir, policy, place, crate::policy::key_place())
    }

    /// Opens a directory like [`open_with`](Self::open_with), with the key of the journals and the
    /// user's state directories elsewhere.
    pub fn open_keyed(
        dir: &Path,
        policy: Policy,
        place: StatePlace,
        key_place: KeyPlace,
    ) -> Result<Self, Error> {
        Ok(Self::of_keyed(Root::open(dir, policy)?, place, key_place))
    }

    /// Takes an open root, with its state at the given place.
    #[must_use]
    pub fn of(root: Root, place: StatePlace) -> Self {
        Self::of_keyed(root, place, crate::policy::key_place())
    }

    fn of_keyed(root: Root, place: StatePlace, key_place: KeyPlace) -> Self {
        let root = Arc::new(root);
        let (home, prefix) = home::find(&root, place, &key_place);
        Self {
            root,
            home,
            opened: prefix.clone(),
            prefix,
            key: Mutex::new(key_place.into()),
            person: false,
        }
    }

    /// Lets a person ask, who may see and undo whatever was done in the project, also where the
    /// policy has changed since. Everybody else has the [`Reach`] of direct calls.
    #[must_use]
    pub fn for_a_person(self) -> Self {
        Self { person: true, ..self }
    }

    /// Returns the limits of what the caller may see and change.
    #[must_use]
    pub fn reach(&self) -> Reach {
        Reach::new(&self.root, self.person)
    }

    /// Opens the whole project, to undo transactions in any of its directories.
    #[must_use]
    pub fn project(&self) -> Self {
        Self {
            root: Arc::clone(&self.home),
            home: Arc::clone(&self.home),
            prefix: Prefix::default(),
            opened: self.opened.clone(),
            key: Mutex::new(self.key()),
            person: self.person,
        }
    }

    /// Opens the same directory with its guarded files let pass, and returns the approvals that ask
    /// about them. Every plan made for the returned workspace has to be approved by a person.
    #[must_use]
    pub fn asking(&self) -> (Self, Approvals) {
        let mut approvals = Approvals::new(ApprovalPolicy::OnRequest);
        let policy = approvals.take_guarded(self.root.policy().clone());
        let root = Arc::new(self.root.reopened(policy));
        let home = if self.has_own_state() { &root } else { &self.home };
        let workspace = Self {
            home: Arc::clone(home),
            root,
            prefix: self.prefix.clone(),
            opened: self.opened.clone(),
            key: Mutex::new(self.key()),
            person: self.person,
        };
        (workspace, approvals)
    }

    /// Takes the key of the journals from elsewhere.
    #[must_use]
    pub fn with_key_place(mut self, key_place: KeyPlace) -> Self {
        self.key = Mutex::new(key_place.into());
        self
    }

    /// Returns the key of the journals, read again at the next lock.
    #[must_use]
    pub fn key(&self) -> OwnKey {
        self.key.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns where the key of the journals is kept.
    #[must_use]
    pub fn key_place(&self) -> KeyPlace {
        self.key().place().clone()
    }

    /// Returns the files.
    #[must_use]
    pub fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// Returns the files for a plan, with access to the displaced ones.
    pub(super) fn files(&self) -> Files {
        Files::from(&self.root).with_home(&self.home)
    }

    /// Returns the directory of the state: the project's top.
    #[must_use]
    pub fn home(&self) -> &Arc<Root> {
        &self.home
    }

    /// Returns the path from the project's top to the root.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Returns a path of this workspace relative to the directory that was opened. It differs only
    /// if this is the [project](Self::project) of that directory.
    #[must_use]
    pub fn seen(&self, path: &str) -> String {
        if self.opened == self.prefix { path.to_owned() } else { self.opened.relative(path) }
    }

    /// Returns the path of the state directory, whether it exists or not. It is for messages, not
    /// for opening.
    #[must_use]
    pub fn state_path(&self) -> String {
        state::path(&self.home)
    }

    /// Returns the paths of the user's states of directories that had the path of the project's top
    /// before it: each was removed, or moved elsewhere. None of them is used here.
    #[must_use]
    pub fn former_states(&self) -> Vec<PathBuf> {
        let is_users = Path::new(&self.home.state_path()).is_absolute();
        if is_users { home::former_states(&self.home, &self.key_place()) } else { Vec::new() }
    }

    /// Returns the states of the project: the one that is used first, and one in the user's place
    /// that is not used because there is one in the tree.
    #[must_use]
    pub fn states(&self) -> Vec<State> {
        let used = self.has_state().then(|| Arc::clone(&self.home));
        let other = home::unused(&self.home, &self.key_place()).map(Arc::new);
        used.into_iter().chain(other).map(|home| State::new(home, self.key_place())).collect()
    }

    /// Opens the state directory; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the state is not trusted or cannot be opened.
    pub fn state_dir(&self) -> Result<Option<Dir>, fs_guard::Error> {
        self.home.state_dir()
    }

    /// Opens the state directory, or creates one.
    ///
    /// # Errors
    ///
    /// If the state is not trusted or cannot be created.
    pub fn create_state_dir(&self) -> Result<Dir, fs_guard::Error> {
        Ok(self.home.create_state_dir()?.0)
    }

    /// Returns whether the state directory is, or would be, in the root itself.
    #[must_use]
    pub fn has_own_state(&self) -> bool {
        Arc::ptr_eq(&self.root, &self.home)
    }

    /// Creates the state directory if there is none, with the files that keep it out of git,
    /// waiting at most `timeout` for the lock. It stays even if nothing is committed.
    ///
    /// # Errors
    ///
    /// If the state is not trusted, cannot be created, or is locked.
    pub fn make_state(&self, timeout: Duration) -> Result<(), Error> {
        if self.state_dir()?.is_none() {
            self.lock(timeout)?.locked_store().keep();
        }
        Ok(())
    }

    /// Returns whether there is a state directory, trusted or not.
    #[must_use]
    pub fn has_state(&self) -> bool {
        !matches!(self.state_dir(), Ok(None))
    }

    /// Opens the store for reading; `None` if there is none.
    pub fn store(&self) -> Result<Option<Store<'_>>, Error> {
        let store = Store::open(&self.home, self.key())?;
        Ok(store.map(|store| store.seen_from(self.prefix.clone())))
    }

    /// Returns the path of a displaced file.
    #[must_use]
    pub fn stored_path(&self, id: TransactionId, slot: u32) -> String {
        workspace_trash::stored_path(&self.home, &self.prefix, id, slot)
    }

    /// Finds a recorded file, in the root or elsewhere in the project.
    pub(crate) fn locate(
        &self,
        recorded: &str,
        authentic: bool,
    ) -> Result<(&Arc<Root>, RelPath), fs_guard::Error> {
        if Prefix::leads_out(recorded) {
            Ok((&self.home, self.home.check_recorded(&self.prefix.join(recorded), authentic)?))
        } else {
            Ok((&self.root, self.root.check_recorded(recorded, authentic)?))
        }
    }

    /// Recovers interrupted transactions, unless another process holds the lock. Commands that only
    /// read call this, so that they do not see half a transaction. If there is nothing to recover,
    /// nothing is written.
    pub fn recover_if_idle(&self) -> Result<Vec<Recovered>, Error> {
        let unfinished = self.store()?.is_some_and(|store| store.has_unfinished().unwrap_or(false));
        if !unfinished {
            return Ok(Vec::new());
        }
        match self.lock(Duration::ZERO) {
            Ok(locked) => Ok(locked.recovered.clone()),
            Err(Error::BeingChecked) => Ok(Vec::new()),
            Err(error) if error.kind() == ErrorKind::Timeout => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Checks that a commit of a plan could begin: that there is, or can be, a trusted state, and
    /// that the directories of the plan can be changed. For a preview, which is not to promise what
    /// is refused then.
    ///
    /// # Errors
    ///
    /// All reasons to refuse the commit.
    pub fn check_commit(&self, plan: &Plan) -> Result<(), Error> {
        if !plan.is_empty() {
            self.home.check_state_dir().map_err(workspace_trash::Error::from)?;
            self.check_dirs(&self.dirs_of(plan), plan)?;
        }
        Ok(())
    }

    /// Opens the directories of a plan, where links may give way to directories.
    pub(super) fn dirs_of(&self, plan: &Plan) -> Dirs<'_> {
        let links = plan.transitions().iter().filter(|transition| transition.is_of_link());
        Dirs::new(&self.root).with_links(links.map(|transition| transition.path.as_str()))
    }

    /// Fails if a directory of a plan, or its nearest existing ancestor, cannot be written, or has
    /// an unfinished transaction of its own.
    pub(super) fn check_dirs(&self, dirs: &Dirs<'_>, plan: &Plan) -> Result<(), CommitError> {
        let paths = plan.transitions().iter().map(Transition::path);
        for path in paths.chain(plan.create_dirs()).chain(plan.remove_dirs()) {
            let mut at = path.clone();
            while let Err(error) = dirs.check_writable(&at) {
                match (at.parent(), error) {
                    (Some(parent), fs_guard::Error::NotFound { .. }) => at = parent,
                    (None, fs_guard::Error::NotFound { .. }) => break,
                    (_, error) => return Err(error.into()),
                }
            }
        }
        below::check_none_unfinished(&self.root, plan, &self.key())
    }

    /// Takes the workspace's lock, waiting if necessary, and recovers interrupted
    /// transactions.
    ///
    /// Creates the state directory if there is none, and removes it again if nothing is committed.
    pub fn lock(&self, wait: impl Into<Wait>) -> Result<Locked<'_>, Error> {
        let key = OwnKey::from(self.key_place());
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = key.clone();
        let store = state::lock(&self.home, key.clone(), wait)?;
        self.root.forget();
        self.home.forget();
        let mut recovered = recover(&self.home, &store)?;
        recovered.extend(below::take_over(&self.home, &store, &key));
        let reach = self.reach();
        recovered.iter_mut().for_each(|one| one.seen_by(&self.prefix, &reach));
        Ok(Locked { workspace: self, store: store.seen_from(self.prefix.clone()), recovered })
    }
}

/// A locked workspace: no other process commits to it in the meantime.
#[derive(Debug)]
pub struct Locked<'w> {
    pub(super) workspace: &'w Workspace,
    pub(super) store: LockedStore<'w>,
    recovered: Vec<Recovered>,
}

impl Locked<'_> {
    /// Returns the interrupted transactions, each with the outcome of its recovery.
    #[must_use]
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
    }

    /// Returns the store.
    #[must_use]
    pub fn locked_store(&self) -> &LockedStore<'_> {
        &self.store
    }

    /// Removes displaced files for good, by age, size and number. With `dry_run` it only returns
    /// which.
    pub fn purge(&self, retention: &Retention, dry_run: bool) -> Result<Purged, Error> {
        Ok(self.store.purge(retention, SystemTime::now(), dry_run)?)
    }
}

impl Deref for Locked<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.workspace
    }
}
