//! Recognizes patch texts applied before.

use std::collections::{BTreeMap, HashMap};

use workspace_trash::{Journal, Record, TransactionId};

use super::error::Error;
use super::undo;
use super::workspace::Workspace;
use crate::plan::options::Expected;

impl Workspace {
    /// Returns the transaction of a journal, if all its post-images still stand, and each expected
    /// hash is the one of the pre-image or of the post-image.
    ///
    /// # Errors
    ///
    /// If the store or a file cannot be read.
    pub(crate) fn already_done(
        &self,
        journal: &Journal,
        expected: &BTreeMap<String, Expected>,
        verified: bool,
    ) -> Result<Option<TransactionId>, Error> {
        if journal.records.is_empty()
            || (verified && !journal.header.unverified)
            || !is_expected(journal, expected)
        {
            return Ok(None);
        }
        let reach = self.reach();
        for record in &journal.records {
            if !reach.shows(&record.path) {
                return Ok(None);
            }
            let (root, path) = self.locate(&record.path, true)?;
            if !undo::now(&root.into(), &path, record, journal)?.as_left {
                return Ok(None);
            }
        }
        Ok(Some(journal.header.id))
    }
}

fn is_expected(journal: &Journal, expected: &BTreeMap<String, Expected>) -> bool {
    let records: HashMap<&str, &Record> =
        journal.records.iter().map(|record| (record.path.as_str(), record)).collect();
    expected.iter().all(|(path, expected)| {
        records.get(path.as_str()).is_some_and(|record| {
            let states = [&record.before, &record.after];
            states
                .map(|state| {
                    state.as_ref().map_or(Expected::Absent, |state| Expected::Hash(state.sha256))
                })
                .contains(expected)
        })
    })
}
