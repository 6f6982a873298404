//! The errors of transactions.

use std::fmt;

use fs_guard::{Sha256, quoted};
use patch_grammar::ParseError;
use workspace_trash::{JournalProblem, TransactionId};

use crate::plan::formatter::CommandFailure;
use crate::plan::kind::ErrorKind;
use crate::plan::reject::{Reject, Rejects};
use crate::remedy::{
    ForPerson, Listing, MAX_PLACES, Remedy, Setting, Step, UndoStep, is_state, words,
};

/// A file in an unexpected state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drift {
    /// Its path.
    pub path: String,
    /// The expected hash; `None` if the file was expected not to exist.
    pub expected: Option<Sha256>,
    /// The actual hash; `None` if no file is there.
    pub actual: Option<Sha256>,
    /// The newest other transaction that changed the file since; `None` if something else did.
    pub by: Option<TransactionId>,
    /// Who made that transaction; `None` if it is who made those to undo.
    pub author: Option<Box<Author>>,
    /// Whether the change lies between two of the transactions to undo: it cannot be undone first,
    /// because the file has changed since.
    pub between: bool,
    /// Whether only the line ends are not as expected, as far as known.
    pub line_ends: bool,
    /// The one other file that has the expected bytes, if no file is there.
    pub moved_to: Option<String>,
}

impl Drift {
    /// A file that something else has changed, as far as known.
    pub(super) fn of(
        path: impl Into<String>,
        expected: Option<Sha256>,
        actual: Option<Sha256>,
    ) -> Self {
        Self {
            path: path.into(),
            expected,
            actual,
            by: None,
            author: None,
            between: false,
            line_ends: false,
            moved_to: None,
        }
    }
}

/// Who made a transaction, as far as it is somebody else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Author {
    /// The agent.
    pub agent: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The turn of the session.
    pub turn: Option<String>,
}

impl fmt::Display for Author {
    /// Writes a phrase behind the name of a transaction; nothing for nobody.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.session, &self.turn) {
            (Some(session), Some(turn)) => write!(f, " of turn {session}/{turn}")?,
            (Some(session), None) => write!(f, " of session {session}")?,
            (None, Some(turn)) => write!(f, " of turn {turn}")?,
            (None, None) => {}
        }
        match &self.agent {
            Some(agent) => write!(f, " by {}", quoted(agent)),
            None => Ok(()),
        }
    }
}

/// The undos that make a refused undo possible, or stand for it. Each is possible once those before
/// it are done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Way {
    /// The transaction to undo first. Then the refused undo is possible, or refused with the next
    /// one. `None` if there is none, or if the same command would mean something else afterwards.
    pub first: Option<TransactionId>,
    /// The undos in place of the refused one, in their order; empty if there is no such way.
    pub in_order: Vec<UndoStep>,
}

patch_grammar::debug_is_display!(Doubt, Error, CommitError);

/// Why it is unclear whether a transaction is the newest.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Doubt {
    /// Its journal is not trusted.
    #[error(transparent)]
    Journal(#[from] JournalProblem),
    /// Its id has a time in the future.
    #[error("it lies in the future")]
    Future,
}

/// Why something was not planned, or not done: a patch, an operation, an undo.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a patch.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The patch cannot be planned: every reason.
    #[error(transparent)]
    Rejected(Rejects),
    /// The plan was shown and declined.
    #[error("declined; nothing was changed")]
    Declined,
    /// Approval was requested, and the same patch will be tried again.
    #[error("not approved yet; nothing was changed")]
    Postponed,
    /// The plan could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] workspace_trash::Error),
    /// A file could not be used.
    #[error(transparent)]
    Files(#[from] fs_guard::Error),
    /// Files have changed since the transaction.
    #[error("not as transaction {} left it: {}", .id.short(), paths(.drifts))]
    Drifted {
        /// The transaction to undo.
        id: TransactionId,
        /// Every file with a difference.
        drifts: Vec<Drift>,
        /// Whether its reversal can be carried to the current files.
        carry: bool,
        /// The undos that make it possible.
        way: Box<Way>,
        /// The name for `undo` of an older change with a way back now, where none was named: a
        /// transaction or a turn.
        instead: Option<String>,
    },
    /// The transaction did not change the path.
    #[error("transaction {id} did not touch {}", quoted(.path))]
    NotInTransaction {
        /// The transaction.
        id: TransactionId,
        /// The path.
        path: String,
    },
    /// The transaction changed files of the same project outside the root.
    #[error("transaction {id} changed files outside this directory{}", elsewhere(.paths))]
    Elsewhere {
        /// The transaction.
        id: TransactionId,
        /// The files, relative to the root; empty if the caller [may not see](super::Reach) them.
        paths: Vec<String>,
        /// The top directory of the project, where a person can undo the transaction; `None` if the
        /// caller may not see the directory.
        project: Option<String>,
    },
    /// A file cannot be restored to the wanted path, or a change cannot be carried back.
    #[error("{rejects}")]
    NotRestored {
        /// The transaction whose files come back.
        id: TransactionId,
        /// Why not.
        rejects: Rejects,
        /// As of [`Drifted`](Self::Drifted).
        way: Box<Way>,
        /// As of [`Drifted`](Self::Drifted).
        instead: Option<String>,
    },
    /// There is nothing to undo, or to redo.
    #[error("{}", nothing_to(.what, .gone))]
    NothingTo {
        /// `undo` or `redo`.
        what: &'static str,
        /// The transactions whose changes are gone already.
        gone: Vec<TransactionId>,
    },
    /// It is unclear which transaction is the newest.
    #[error("cannot tell which transaction to {what}: {}; name it", doubts(.transactions))]
    Doubtful {
        /// `undo` or `redo`.
        what: &'static str,
        /// The transactions to be skipped otherwise, and why.
        transactions: Vec<(TransactionId, Doubt)>,
    },
    /// The transaction was rolled back.
    #[error("transaction {0} was rolled back; there is nothing to undo")]
    Aborted(TransactionId),
    /// This process was started by a check of a change of the same project, which has the lock
    /// until the check ends.
    #[error(
        "this runs within the check of a change of this project, which is not finished: nothing \
         else can be changed now"
    )]
    BeingChecked,
    /// An interrupted transaction could be neither finished nor reverted.
    #[error("the interrupted transaction in {} cannot be recovered: {cause}", quoted(.journal))]
    NotRecovered {
        /// Its journal.
        journal: String,
        /// Why.
        cause: Box<CommitError>,
    },
}

fn paths(drifts: &[Drift]) -> String {
    let paths = drifts.iter().map(|drift| {
        let path = quoted(&drift.path);
        match (drift.by, drift.actual) {
            (Some(id), _) => {
                let whose = drift.author.as_ref().map(ToString::to_string).unwrap_or_default();
                let when = if drift.between { " in between" } else { "" };
                format!("{path} (transaction {}{whose} changed it{when})", id.short())
            }
            (None, _) if drift.between => format!("{path} (edited in between)"),
            (None, Some(_)) if drift.line_ends => format!("{path} (its line ends changed)"),
            (None, now @ Some(_)) if now == drift.expected => {
                format!("{path} (only its mode changed)")
            }
            (None, Some(_)) => format!("{path} (edited since)"),
            (None, None) if drift.expected.is_none() => {
                format!("{path} (something that is not a file is there)")
            }
            (None, None) => match &drift.moved_to {
                Some(now) => format!("{path} (there is no file; {} has its bytes)", quoted(now)),
                None => format!("{path} (there is no file)"),
            },
        }
    });
    paths.collect::<Vec<_>>().join(", ")
}

fn nothing_to(what: &str, gone: &[TransactionId]) -> String {
    let ids: Vec<_> = gone.iter().map(|id| id.short()).collect();
    match &ids[..] {
        [] => format!("there is no transaction to {what}"),
        [id] => {
            format!("there is nothing to {what}: the changes of transaction {id} are gone already")
        }
        ids => format!(
            "there is nothing to {what}: the changes of these transactions are gone already: {}",
            ids.join(", ")
        ),
    }
}

fn elsewhere(paths: &[String]) -> String {
    if paths.is_empty() { String::new() } else { format!(": {}", paths.join(", ")) }
}

fn doubts(transactions: &[(TransactionId, Doubt)]) -> String {
    transactions
        .iter()
        .map(|(id, problem)| format!("{id} ({problem})"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl From<Rejects> for Error {
    fn from(rejects: Rejects) -> Self {
        if rejects.iter().any(|reject| reject.kind() == ErrorKind::Cancelled) {
            return Self::Files(fs_guard::Error::Cancelled);
        }
        Self::Rejected(rejects)
    }
}

impl Error {
    /// Returns the transactions that caused this error and that a person may
    /// [trust](super::UndoOptions::trust): those signed with a key that is not available here, and
    /// unsigned ones.
    #[must_use]
    pub fn to_be_trusted(&self) -> Vec<TransactionId> {
        match self {
            Self::Store(workspace_trash::Error::Journal { id, problem, .. })
                if problem.can_be_trusted() =>
            {
                vec![*id]
            }
            Self::Doubtful { transactions, .. } => {
                let trustable = transactions.iter().filter(|(_, doubt)| match doubt {
                    Doubt::Journal(problem) => problem.can_be_trusted(),
                    Doubt::Future => false,
                });
                trustable.map(|(id, _)| *id).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the kind for programs; of several rejects, that of the [gravest].
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => error.kind().into(),
            Self::Files(error) => error.kind().into(),
            Self::Drifted { .. } => ErrorKind::StaleFile,
            Self::Parse(_) => ErrorKind::PatchParseError,
            Self::Rejected(rejects) | Self::NotRestored { rejects, .. } => {
                gravest(rejects).map_or(ErrorKind::Unknown, Reject::kind)
            }
            Self::Declined | Self::Postponed => ErrorKind::PermissionDenied,
            Self::Commit(error) => error.kind(),
            Self::NotInTransaction { .. } | Self::NothingTo { .. } => ErrorKind::NotFound,
            Self::Aborted(_) => ErrorKind::CommandFailed,
            Self::Doubtful { .. } => ErrorKind::PermissionDenied,
            Self::Elsewhere { .. } => ErrorKind::OutsideWorkspace,
            Self::BeingChecked => ErrorKind::Timeout,
            Self::NotRecovered { cause, .. } => cause.kind(),
        }
    }

    /// Returns whether the work was given up, with everything as before.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.kind() == ErrorKind::Cancelled
    }

    /// Leaves out the undo to make first, where the same command would mean something else
    /// afterwards: then the undos in its place are advised.
    #[must_use]
    pub fn unrepeatable(mut self) -> Self {
        if let Self::Drifted { way, .. } | Self::NotRestored { way, .. } = &mut self {
            way.first = None;
        }
        self
    }

    /// Returns the path of the error, or the first of several.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Store(error) => error.path(),
            Self::Files(error) => error.path(),
            Self::Drifted { drifts, .. } => drifts.first().map(|drift| &*drift.path),
            Self::NotInTransaction { path, .. } => Some(path),
            Self::Rejected(rejects) | Self::NotRestored { rejects, .. } => Some(&rejects[0].path),
            Self::Commit(error) => error.path(),
            Self::Elsewhere { paths, .. } => paths.first().map(String::as_str),
            Self::NotRecovered { journal, .. } => Some(journal),
            Self::Parse(_)
            | Self::Declined
            | Self::Postponed
            | Self::NothingTo { .. }
            | Self::Aborted(_)
            | Self::Doubtful { .. }
            | Self::BeingChecked => None,
        }
    }

    /// Returns the answer for the model or person who wrote the patch: the message, and below it a
    /// line for each thing that can be done ([`Rejects::for_author`]).
    #[must_use]
    pub fn for_author(&self) -> String {
        match self {
            Self::Rejected(rejects) => rejects.for_author(),
            error => words::answer(&error.to_string(), &error.remedies()),
        }
    }

    /// Returns the remedies.
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        let untrusted = self.to_be_trusted();
        match self {
            Self::Parse(error) => Remedy::of_parse(error),
            Self::Rejected(rejects) => rejects[0].remedies(),
            Self::NotRestored { id, rejects, way, instead } => {
                let own = rejects[0].remedies();
                // There is no patch to be written otherwise.
                let is_about_it = own.iter().any(Remedy::is_about_the_patch);
                let mut remedies = ways(way, instead);
                remedies.extend(if is_about_it { see_transaction(*id) } else { own });
                remedies
            }
            Self::Declined => vec![Remedy::Ask(ForPerson::SayInstead)],
            Self::Commit(error) => error.remedies(),
            // The diff shows what a patch against the current files has to undo.
            Self::Drifted { id, drifts, carry, way, instead } => {
                let carried = carry.then_some(Remedy::Set(Setting::Carry));
                let own = carried.into_iter().chain(moved_back(drifts));
                own.chain(ways(way, instead)).chain(see_transaction(*id)).collect()
            }
            Self::NotInTransaction { id, .. } => see_transaction(*id),
            Self::Files(error) | Self::Store(workspace_trash::Error::Files(error)) => {
                Remedy::of_guard(error)
            }
            Self::NothingTo { .. }
            | Self::Aborted(_)
            | Self::Store(workspace_trash::Error::NoSuchTransaction(_)) => {
                vec![Remedy::See(Listing::Log)]
            }
            Self::Store(workspace_trash::Error::NoSuchSlot { .. }) => {
                vec![Remedy::See(Listing::Trash)]
            }
            _ if !untrusted.is_empty() => {
                let undone = untrusted.into_iter().take(MAX_PLACES);
                undone.map(|id| Remedy::Ask(ForPerson::UndoUntrusted(id))).collect()
            }
            Self::Elsewhere { id, project, .. } => {
                let at_top = ForPerson::UndoAtTop { id: *id, project: project.clone() };
                vec![Remedy::Ask(at_top)]
            }
            // Possible when the check has ended, but not from within.
            Self::BeingChecked | Self::Postponed => Vec::new(),
            Self::NotRecovered { .. } => vec![Remedy::Ask(ForPerson::LookAtJournal)],
            Self::Store(_) | Self::Doubtful { .. } => vec![Remedy::Ask(ForPerson::LookAtState)],
        }
    }
}

/// Returns the remedy for a file that was moved, if no other one has changed.
fn moved_back(drifts: &[Drift]) -> Option<Remedy> {
    let [Drift { path, by: None, moved_to: Some(now), .. }] = drifts else { return None };
    Some(Remedy::First(Step::Move { from: now.clone(), to: path.clone() }))
}

fn see_transaction(id: TransactionId) -> Vec<Remedy> {
    vec![Remedy::See(Listing::Transaction(id))]
}

/// Returns the undos that make an undo possible, and the one of an older change.
fn ways(way: &Way, instead: &Option<String>) -> Vec<Remedy> {
    let own = match way.first {
        Some(first) => Some(Remedy::First(Step::Undo(first))),
        None => (!way.in_order.is_empty()).then(|| Remedy::UndoInOrder(way.in_order.clone())),
    };
    own.into_iter().chain(instead.clone().map(Remedy::UndoInstead)).collect()
}

/// Returns the reject to report for a failure: a refused path goes before a stale file, and a
/// stale file before everything else.
#[must_use]
pub fn gravest(rejects: &[Reject]) -> Option<&Reject> {
    rejects.iter().min_by_key(|reject| match reject.kind() {
        ErrorKind::OutsideWorkspace => 0,
        ErrorKind::PermissionDenied => 1,
        ErrorKind::StaleFile => 2,
        _ => 3,
    })
}

/// A plan could not be committed. Except for [`RollbackIncomplete`](Self::RollbackIncomplete) and
/// [`Untidy`](Self::Untidy), everything is as it was before.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// A file has changed since the plan was made.
    #[error("{} was changed since {}", quoted(&.0.path),
            if is_state(&.0.path) { "it was displaced" } else { "the plan was made" })]
    Stale(Drift),
    /// A file could not be used.
    #[error(transparent)]
    Files(#[from] fs_guard::Error),
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] workspace_trash::Error),
    /// The commit log could not be written.
    #[error("refused before anything was written: {0}")]
    Refused(String),
    /// The check of the published files failed.
    #[error("{} {}", .0.named("the check"), .0.end)]
    Unverified(Box<CommandFailure>),
    /// A directory of the plan has a state of its own, with an unfinished transaction.
    #[error(
        "{} has an unfinished transaction of its own: another process is at work \
         there, or was interrupted",
        quoted(.directory)
    )]
    UnfinishedBelow {
        /// The directory.
        directory: String,
    },
    /// The plan has no changes.
    #[error("there is nothing to commit")]
    Nothing,
    /// The plan was made for another workspace.
    #[error("the plan was made for another workspace")]
    OtherWorkspace,
    /// The roll-back is incomplete: some files are not as they were before.
    #[error("{cause}; the roll-back could not be finished{} (journal: {journal})", left(.paths))]
    RollbackIncomplete {
        /// Where the journal is.
        journal: String,
        /// The files that someone else changed in the meantime and that were left alone; the files
        /// that the commit displaced there are in the trash. Empty if the roll-back itself failed;
        /// `recover` continues it.
        paths: Vec<String>,
        /// Why the commit failed, or why the roll-back did.
        cause: Box<CommitError>,
    },
    /// Every file is changed, but displaced files are still beside their places, or directories
    /// that should be removed still exist. Recovery finishes the rest.
    #[error(
        "{cause}; every file is changed, but what was displaced is not put away yet (journal: \
         {journal})"
    )]
    Untidy {
        /// Where the journal is.
        journal: String,
        /// The failure.
        cause: Box<CommitError>,
    },
}

fn left(paths: &[String]) -> String {
    match paths {
        [] => String::new(),
        paths => format!("; changed by someone else and left so: {}", paths.join(", ")),
    }
}

impl CommitError {
    /// Returns the kind for programs.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Stale(_) => ErrorKind::StaleFile,
            Self::Files(error) => error.kind().into(),
            Self::Store(error) => error.kind().into(),
            Self::Refused(_) | Self::Unverified(_) | Self::Nothing | Self::OtherWorkspace => {
                ErrorKind::CommandFailed
            }
            Self::UnfinishedBelow { .. } => ErrorKind::Timeout,
            Self::RollbackIncomplete { cause, .. } | Self::Untidy { cause, .. } => {
                match cause.kind() {
                    // Cancelled would mean: everything is as before.
                    ErrorKind::Cancelled => ErrorKind::CommandFailed,
                    kind => kind,
                }
            }
        }
    }

    /// Returns the path of the error.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Stale(drift) => Some(&drift.path),
            Self::Files(error) => error.path(),
            Self::Store(error) => error.path(),
            Self::UnfinishedBelow { directory } => Some(directory),
            Self::RollbackIncomplete { cause, .. } | Self::Untidy { cause, .. } => cause.path(),
            Self::Refused(_) | Self::Unverified(_) | Self::Nothing | Self::OtherWorkspace => None,
        }
    }

    /// Returns whether every file is as before.
    #[must_use]
    pub fn is_rolled_back(&self) -> bool {
        !matches!(self, Self::RollbackIncomplete { .. } | Self::Untidy { .. })
    }

    /// Returns the remedies.
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        vec![match self {
            // A displaced file, replaced by now.
            Self::Stale(drift) if is_state(&drift.path) => Remedy::Ask(ForPerson::LookAtState),
            Self::Stale(drift) => Remedy::read_again(&drift.path),
            Self::Unverified(_) => Remedy::SendCorrected,
            Self::Files(error) | Self::Store(workspace_trash::Error::Files(error)) => {
                return Remedy::of_guard(error);
            }
            Self::UnfinishedBelow { directory } => {
                return vec![
                    Remedy::First(Step::Recover { directory: directory.clone() }),
                    Remedy::Ask(ForPerson::RecoverIn { directory: directory.clone() }),
                ];
            }
            Self::RollbackIncomplete { .. } | Self::Untidy { .. } => {
                Remedy::Ask(ForPerson::LookAtFiles)
            }
            Self::Store(_) | Self::Refused(_) | Self::Nothing | Self::OtherWorkspace => {
                Remedy::TryAgain
            }
        }]
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};

    use super::{CommitError, Doubt, Error};
    use crate::commit::apply::Failed;
    use crate::plan::binary::BinaryProblem;
    use crate::plan::reject::{Irreversible, Problem, Reject, Rejects};
    use crate::plan::submodules::SubmoduleProblem;

    fn printed(error: impl Debug + Display) -> [String; 2] {
        [format!("{error:?}"), error.to_string()]
    }

    fn missing() -> Reject {
        Reject::of("a.txt", Problem::Missing)
    }

    #[test]
    fn what_unwrap_prints_is_the_sentence() {
        for ([debug, display], sentence) in [
            (printed(Problem::Missing), "there is no such file"),
            (printed(missing()), "a.txt: there is no such file"),
            (
                printed(Rejects::from(missing()).and(missing().into())),
                "a.txt: there is no such file; a.txt: there is no such file",
            ),
            (printed(Irreversible::Copy), "it copies the file, and a copy cannot be reversed"),
            (printed(BinaryProblem::Applied), "the binary patch is applied already"),
            (
                printed(SubmoduleProblem::NoSubmodule),
                "the diff is for a submodule, and this is none",
            ),
            (printed(Doubt::Future), "it lies in the future"),
            (printed(Error::from(Rejects::from(missing()))), "a.txt: there is no such file"),
            (printed(CommitError::Nothing), "there is nothing to commit"),
            (printed(Error::from(CommitError::Nothing)), "there is nothing to commit"),
            (printed(Failed::from(Error::Declined)), "declined; nothing was changed"),
        ] {
            assert_eq!(debug, display);
            assert_eq!(display, sentence);
        }
    }
}
