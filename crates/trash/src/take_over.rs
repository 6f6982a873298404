//! Takes over the state of a directory below, which was a project of its own before.
//!
//! The state directory moves into this one as a whole, in one step: from then on commands below
//! find this state. Then its transactions move into the trash here, one after the other, each with
//! a file that says which directory its paths are relative to; what is signed stays as it is. An
//! interruption leaves each transaction in one place, and the next lock continues. The rest of the
//! state (audit logs, snapshots) stays in its new place.

use fs_guard::Dir;

use crate::error::Error;
use crate::locked::LockedStore;
use crate::prefix::Prefix;
use crate::store::{FROM, MAX_FROM, NEXT, SEARCHED, TRASH, transactions_of};

/// The folder of the states that were taken over.
pub(crate) const BELOW: &str = "below";

impl LockedStore<'_> {
    /// Returns whether the directories below were looked through for states before this lock.
    pub fn has_searched(&self) -> Result<bool, Error> {
        match self.searched.get() {
            Some(searched) => Ok(*searched),
            None => {
                let searched = self.dir.spot(SEARCHED).metadata()?.is_some();
                Ok(*self.searched.get_or_init(|| searched))
            }
        }
    }

    /// Notes the end of a search for states in the directories below.
    pub fn note_searched(&self) -> Result<(), Error> {
        Ok(self.dir.spot(SEARCHED).write(b"", false)?)
    }

    /// Takes over the state of a directory below, which has no unfinished transactions. `from` is
    /// the path of the directory.
    pub fn take_over(&self, below: &LockedStore<'_>, from: &Prefix) -> Result<(), Error> {
        if let Some(trash) = below.dir.open_dir(TRASH)? {
            // Transactions taken over by the other state are there for good.
            for id in transactions_of(&trash.names()?) {
                if let Some(folder) = trash.open_dir(&id.to_string())? {
                    settle(&folder)?;
                }
            }
        }
        below.dir.spot(FROM).write(from.as_str().as_bytes(), true)?;
        self.keep();
        below.keep();
        let folder = self.dir.open_or_create_dir(BELOW)?;
        let taken = folder.names()?;
        let free = (0..).map(|number: u32| number.to_string()).find(|name| !taken.contains(name));
        below.root.move_state_dir(&folder.spot(&free.expect("the numbers do not end")))?;
        self.continue_taking_over()
    }

    /// Moves the transactions of the states that were taken over into the trash.
    pub fn continue_taking_over(&self) -> Result<(), Error> {
        let Some(folder) = self.dir.open_dir(BELOW)? else { return Ok(()) };
        for name in folder.names()? {
            let Some(state) = folder.open_dir(&name)? else { continue };
            let Some(from) = state.open_dir(TRASH)? else { continue };
            let (path, _) = state.spot(FROM).read(MAX_FROM)?;
            let prefix = Prefix::new(&String::from_utf8_lossy(&path));
            let trash = self.trash()?;
            for id in transactions_of(&from.names()?) {
                let id = id.to_string();
                let Some(transaction) = from.open_dir(&id)? else { continue };
                let inner = match transaction.spot(FROM).read(MAX_FROM) {
                    Ok((path, _)) => prefix.join(&String::from_utf8_lossy(&path)),
                    Err(fs_guard::Error::NotFound { .. }) => prefix.as_str().to_owned(),
                    Err(error) => return Err(error.into()),
                };
                transaction.spot(NEXT).write(inner.as_bytes(), true)?;
                transaction.sync()?;
                from.spot(&id).rename_new(&trash.spot(&id))?;
                settle(&transaction)?;
            }
            trash.sync()?;
            from.sync()?;
        }
        Ok(())
    }
}

/// Ends the move of a transaction. Until then both files may be there, and the newer one counts.
fn settle(folder: &Dir) -> Result<(), Error> {
    match folder.spot(NEXT).rename_over(&folder.spot(FROM)) {
        Err(fs_guard::Error::NotFound { .. }) => Ok(()),
        result => Ok(result?),
    }
}
