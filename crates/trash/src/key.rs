//! The keys that journals are signed with.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use fs_guard::{Error, FoundSecret};

use crate::signer::Signer;

/// The file name.
const KEY: &str = "key";

/// Where the key is kept: never in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// `key` in the directory of this name in `$XDG_STATE_HOME`, else in `%LOCALAPPDATA%` on
    /// Windows, else in `~/.local/state`. Root makes none in the directory of another user, but in
    /// its own home. If there are several, signatures are checked with the keys of all: a program
    /// started without `$XDG_STATE_HOME` signs with the other one.
    User(&'static str),
    /// `key` in this directory.
    Directory(PathBuf),
    /// Nowhere: journals are not signed.
    Nowhere,
}

impl KeyPlace {
    /// Reads the key to sign with, and creates it at the first use. `None` if there is no place for
    /// one.
    ///
    /// # Errors
    ///
    /// If the key exists but cannot be used, or cannot be created although that should be possible.
    pub fn signer(&self) -> Result<Option<Signer>, Error> {
        Ok(self.made()?.map(|(_, key)| Signer::with_key(&key)))
    }

    fn made(&self) -> Result<Option<(PathBuf, [u8; 32])>, Error> {
        // An existing usable key is this user's own: the owners of the other directories do not
        // matter then.
        if let Some(dir) = self.candidates().into_iter().next()
            && let Ok(Some(key)) = fs_guard::existing_secret(&dir, KEY)
        {
            return Ok(Some((dir, key)));
        }
        for dir in self.directories() {
            if let Some(key) = fs_guard::secret(&dir, KEY)? {
                return Ok(Some((dir, key)));
            }
        }
        Ok(None)
    }

    /// Returns the directories with keys, after creating the one to sign with if it is missing;
    /// none if there is no place for one.
    ///
    /// A process needs them before it is confined.
    ///
    /// # Errors
    ///
    /// If a key exists but cannot be used, or cannot be created although that should be possible.
    pub fn prepare(&self) -> Result<Vec<PathBuf>, Error> {
        let own = self.made()?.map(|(dir, _)| dir);
        let others = self.with_keys().into_iter().filter(|dir| Some(dir) != own.as_ref());
        Ok(own.iter().cloned().chain(others).collect())
    }

    /// Returns the directories with usable keys.
    fn with_keys(&self) -> Vec<PathBuf> {
        let mut dirs = self.directories();
        dirs.retain(|dir| matches!(fs_guard::existing_secret(dir, KEY), Ok(Some(_))));
        dirs
    }

    /// Removes the keys, or with `dry_run` only finds them. Returns their paths. What was signed
    /// with them counts as signed with an unknown key from then on.
    ///
    /// # Errors
    ///
    /// If one cannot be removed.
    pub fn remove_keys(&self, dry_run: bool) -> Result<Vec<PathBuf>, Error> {
        let dirs = self.with_keys();
        if !dry_run {
            dirs.iter().try_for_each(|dir| fs_guard::remove_secret(dir, KEY))?;
        }
        Ok(dirs.into_iter().map(|dir| dir.join(KEY)).collect())
    }

    /// Looks for the key to sign with and creates none. Returns its directory and whether the key
    /// exists; `None` if there is no place for one.
    ///
    /// # Errors
    ///
    /// If the key exists but cannot be used.
    pub fn find(&self) -> Result<Option<(PathBuf, bool)>, Error> {
        for dir in self.directories() {
            match fs_guard::find_secret(&dir, KEY)? {
                FoundSecret::There => return Ok(Some((dir, true))),
                FoundSecret::ToBeMade => return Ok(Some((dir, false))),
                FoundSecret::NoPlace => {}
            }
        }
        Ok(None)
    }

    /// The directories where keys are looked for, the first choice first. No key is created in a
    /// later one if the first can have one.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        let mut all = self.candidates();
        // Under `sudo -E` they are another user's, whose own key could not be made there any more.
        if let Self::User(name) = self
            && all.iter().any(|dir| fs_guard::keeps_out(&dir.join(KEY)))
        {
            all.retain(|dir| !fs_guard::keeps_out(&dir.join(KEY)));
            all.extend(fs_guard::listed_home().map(|home| home.join(".local/state").join(name)));
        }
        all.dedup();
        all
    }

    /// Returns the directories named by the environment, whoever they belong to.
    fn candidates(&self) -> Vec<PathBuf> {
        match self {
            Self::Directory(dir) => vec![dir.clone()],
            Self::Nowhere => Vec::new(),
            Self::User(name) => {
                let own = if cfg!(windows) { absolute("LOCALAPPDATA") } else { None };
                let home = absolute("HOME").map(|home| home.join(".local/state"));
                let states = absolute("XDG_STATE_HOME").into_iter().chain(own).chain(home);
                states.map(|state| state.join(name)).collect()
            }
        }
    }

    /// Returns the key in one of the directories, if any. An unusable key is an error only in the
    /// first one: the others may belong to another user.
    fn existing(&self, place: usize) -> Result<Option<Signer>, Error> {
        let Some(dir) = self.directories().into_iter().nth(place) else { return Ok(None) };
        match fs_guard::existing_secret(&dir, KEY) {
            Err(Error::UntrustedState { .. }) if place > 0 => Ok(None),
            found => Ok(found?.as_ref().map(Signer::with_key)),
        }
    }
}

/// The key to sign with, read or created at its first use. Clones share the key.
#[derive(Debug, Clone)]
pub struct OwnKey {
    place: KeyPlace,
    signer: Arc<OnceLock<Option<Signer>>>,
}

impl From<KeyPlace> for OwnKey {
    fn from(place: KeyPlace) -> Self {
        Self { place, signer: Arc::default() }
    }
}

impl OwnKey {
    /// Returns the place of the key.
    #[must_use]
    pub fn place(&self) -> &KeyPlace {
        &self.place
    }

    /// Returns the signer; `None` if there is no place for a key.
    ///
    /// # Errors
    ///
    /// If the key exists but cannot be used, or cannot be created although that should be possible.
    pub fn signer(&self) -> Result<Option<&Signer>, Error> {
        if self.signer.get().is_none() {
            let _ = self.signer.set(self.place.signer()?);
        }
        Ok(self.signer.get().and_then(Option::as_ref))
    }
}

/// The keys that signatures are checked with. They are read when needed; none is created.
#[derive(Debug)]
pub struct Keys {
    place: KeyPlace,
    /// The key to sign with, if it was asked for.
    own: Option<Signer>,
    /// The keys in the directories read so far.
    known: Vec<Option<Signer>>,
    can_be_made: Option<bool>,
}

impl Keys {
    /// Creates the set of keys of this place.
    #[must_use]
    pub fn new(place: KeyPlace) -> Self {
        Self { place, own: None, known: Vec::new(), can_be_made: None }
    }

    /// Stores the key to sign with, so that it is not read again.
    pub fn set_own(&mut self, own: &Signer) {
        if self.own.is_none() {
            self.own = Some(own.clone());
        }
    }

    /// Finds the key with a property.
    ///
    /// # Errors
    ///
    /// If a key exists but cannot be used.
    pub fn find(
        &mut self,
        mut wanted: impl FnMut(&Signer) -> bool,
    ) -> Result<Option<&Signer>, Error> {
        if self.own.as_ref().is_some_and(&mut wanted) {
            return Ok(self.own.as_ref());
        }
        let places = self.place.directories().len();
        for at in 0..places {
            if self.known.len() == at {
                let found = self.place.existing(at)?;
                self.known.push(found);
            }
            if self.known[at].as_ref().is_some_and(&mut wanted) {
                return Ok(self.known[at].as_ref());
            }
        }
        Ok(None)
    }

    /// Returns whether there is a key to sign with, or could be one: then a text that is not signed
    /// with a key of this user was not written for this user. If there is no place for a key,
    /// nobody can tell.
    ///
    /// # Errors
    ///
    /// If a key exists but cannot be used.
    pub fn tell(&mut self) -> Result<bool, Error> {
        if self.own.is_none() && self.can_be_made.is_none() {
            self.can_be_made = Some(self.place.find()?.is_some());
        }
        Ok(self.own.is_some() || self.can_be_made == Some(true))
    }

    /// Returns whether a text may be this user's: it is signed with an available key, or there is
    /// no place for one.
    ///
    /// # Errors
    ///
    /// If a key exists but cannot be used.
    pub fn accept(
        &mut self,
        kind: &str,
        text: &[u8],
        signature: Option<&[u8]>,
    ) -> Result<bool, Error> {
        let signer =
            self.find(|signer| signature == Some(signer.sign(kind, text).to_string().as_bytes()))?;
        Ok(signer.is_some() || !self.tell()?)
    }
}

/// The path in a variable of the environment, if absolute.
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
