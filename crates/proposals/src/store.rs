//! The proposals of a project: a signed file each, in the state directory.

use std::time::SystemTime;

use fs_guard::{Dir, Error, Sha256};
use patch_engine::commit::{Durability, TransactionId};
use patch_engine::remedy::{ForPerson, Listing};
use patch_engine::{Remedy, commit};
use patch_session::audit::Phase;
use patch_session::audit::recorder::ProposalStep;
use patch_session::proposing::{FOLDER, LOCK, is_id};
use patch_session::{ErrorKind, FailureClass, Reason, Session, ToolError};
use workspace_trash::{Keys, Retention};

use crate::bases;
use crate::proposal::{Proposal, ProposalState, Record};

/// The kind of the signatures.
const KIND: &str = "proposal 1";

/// The longest patch to keep, in bytes.
pub(crate) const MAX_PATCH: u64 = 16 << 20;

/// The longest file of a proposal: the patch, and the rest.
const MAX_FILE: u64 = MAX_PATCH + (8 << 20);

/// The bytes behind the patch: `mac `, the signature and a line feed.
const END: usize = 4 + 64 + 1;

/// A proposal in a list.
#[derive(Debug, Clone)]
pub enum Listed {
    /// It is as this program wrote it.
    Verified(Box<Proposal>),
    /// It has been altered, or was not signed with a key of this user. It cannot be approved.
    NotVerified {
        /// The name of its file.
        id: String,
    },
}

impl Listed {
    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Verified(proposal) => proposal.id(),
            Self::NotVerified { id } => id,
        }
    }

    fn verified(&self) -> Option<&Proposal> {
        match self {
            Self::Verified(proposal) => Some(proposal),
            Self::NotVerified { .. } => None,
        }
    }
}

/// The proposals of a project, as seen by a session. No lock is held between two calls.
#[derive(Debug, Clone, Copy)]
pub struct Proposals<'s> {
    pub(crate) session: &'s Session,
}

impl<'s> Proposals<'s> {
    /// Takes the proposals of the project of a session.
    #[must_use]
    pub fn of(session: &'s Session) -> Self {
        Self { session }
    }

    fn limits(self) -> Retention {
        self.session.settings().proposal_keep
    }

    fn durable(self) -> bool {
        self.session.settings().durability == Durability::Full
    }

    /// Opens the folder, if there is one.
    fn folder(self) -> Result<Option<Dir>, Error> {
        match self.session.workspace().state_dir()? {
            Some(state) => state.open_dir(FOLDER),
            None => Ok(None),
        }
    }

    /// Runs `write` with the folder, made where missing, and its lock.
    pub(crate) fn locked<T>(
        self,
        write: impl FnOnce(&Dir) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let workspace = self.session.workspace();
        let timeout = self.session.settings().lock_timeout;
        workspace.make_state(timeout)?;
        let folder = workspace.create_state_dir()?.open_or_create_dir(FOLDER)?;
        let _lock = folder.spot(LOCK).lock(timeout)?;
        write(&folder)
    }

    /// Lists all proposals, the newest first.
    ///
    /// # Errors
    ///
    /// When the state directory is not trusted or cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, ToolError> {
        match self.folder()? {
            Some(folder) => self.list_in(&folder),
            None => Ok(Vec::new()),
        }
    }

    /// Counts the proposals waiting for a decision.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Self::list).
    pub fn waiting(&self) -> Result<usize, ToolError> {
        let waits =
            |one: &&Listed| one.verified().is_some_and(|it| it.state() == ProposalState::Proposed);
        Ok(self.list()?.iter().filter(waits).count())
    }

    fn list_in(self, folder: &Dir) -> Result<Vec<Listed>, ToolError> {
        let mut keys = self.keys()?;
        let mut all = Vec::new();
        for id in folder.names()?.into_iter().filter(|name| is_id(name)) {
            all.extend(self.read(folder, &id, &mut keys)?);
        }
        all.sort_by_key(|one| {
            let time = one.verified().map_or(0, |proposal| proposal.record.time);
            std::cmp::Reverse((time, one.id().to_owned()))
        });
        Ok(all)
    }

    fn keys(self) -> Result<Keys, Error> {
        let workspace = self.session.workspace();
        let mut keys = Keys::new(workspace.key_place());
        if let Some(own) = workspace.key().signer().ok().flatten() {
            keys.set_own(own);
        }
        Ok(keys)
    }

    /// Finds a proposal by its id, or the beginning of the id. `p-` may be left out.
    ///
    /// # Errors
    ///
    /// When there is none or several, or an altered one.
    pub fn find(&self, name: &str) -> Result<Proposal, ToolError> {
        match self.named(name)? {
            Listed::Verified(proposal) => Ok(*proposal),
            Listed::NotVerified { id } => Err(not_verified(&id)),
        }
    }

    /// Finds a proposal by its id, or the beginning of the id, verified or not.
    fn named(self, name: &str) -> Result<Listed, ToolError> {
        let digits = name.strip_prefix("p-").unwrap_or(name);
        let is_name = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let beginning = format!("p-{}", digits.to_ascii_lowercase());
        let mut all = self.list()?;
        all.retain(|one| is_name && one.id().starts_with(&beginning));
        match all.pop() {
            Some(found) if all.is_empty() => Ok(found),
            found => {
                let message = match found {
                    None => format!("there is no proposal {name:?}"),
                    Some(_) => format!("{name:?} is the beginning of {} proposals", all.len() + 1),
                };
                Err(ToolError::new(FailureClass::DoesNotApply, ErrorKind::NotFound, message)
                    .reason(Reason::NoSuchProposal)
                    .remedies([Remedy::See(Listing::Proposals)]))
            }
        }
    }

    /// Finds a proposal for a tool: one that this session made, unless the settings of the session
    /// let tools be told of others.
    ///
    /// # Errors
    ///
    /// When there is none, or only another session's or an altered one.
    pub fn own(&self, id: &str) -> Result<Proposal, ToolError> {
        let any = self.session.settings().any_proposal;
        let found = self.find(id).ok().filter(|found| any || found.is_of(self.session));
        found.ok_or_else(|| {
            let message = format!("this session has made no proposal {id:?}");
            ToolError::new(FailureClass::DoesNotApply, ErrorKind::NotFound, message)
                .reason(Reason::NoSuchProposal)
                .remedies([Remedy::give("id", "the proposalId of an answer to this session")])
        })
    }

    /// Finds the newest proposal that a call of a tool made in this session, by the caller's name of
    /// the call.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Self::list).
    pub fn of_call(&self, tool: &str, call: &str) -> Result<Option<Proposal>, ToolError> {
        let listed = self.list()?.into_iter();
        let mut verified = listed.filter_map(|one| match one {
            Listed::Verified(proposal) => Some(*proposal),
            Listed::NotVerified { .. } => None,
        });
        Ok(verified.find(|proposal| {
            proposal.call() == Some(call)
                && proposal.record.tool == tool
                && proposal.is_of(self.session)
        }))
    }

    /// Reads a file; `None` if there is none.
    fn read(self, folder: &Dir, id: &str, keys: &mut Keys) -> Result<Option<Listed>, ToolError> {
        let bytes = match folder.spot(id).read(MAX_FILE) {
            Ok((bytes, _)) => bytes,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(Error::TooLarge { .. } | Error::NotAFile { .. } | Error::Symlink { .. }) => {
                return Ok(Some(Listed::NotVerified { id: id.to_owned() }));
            }
            Err(error) => return Err(error.into()),
        };
        let listed = match parse(&bytes, id, keys)? {
            Some(mut proposal) => {
                self.settle(&mut proposal.record);
                Listed::Verified(Box::new(proposal))
            }
            None => Listed::NotVerified { id: id.to_owned() },
        };
        Ok(Some(listed))
    }

    /// Finds out what became of a transaction that a process was interrupted in, and whether the
    /// proposal has waited too long.
    fn settle(self, record: &mut Record) {
        if record.state != ProposalState::Proposed {
            return;
        }
        let begun = record.attempt.as_ref();
        let begun = begun.and_then(|it| Some((it.of_part, it.transaction.parse().ok()?)));
        if let Some((of_part, id)) = begun.filter(|(_, id)| self.is_committed(*id)) {
            record.transactions.push(id.to_string());
            record.attempt = None;
            if !of_part {
                record.decide(ProposalState::Approved, self.session, None);
            }
        } else if record.is_older_than(self.limits().max_age, SystemTime::now()) {
            record.decide(ProposalState::Expired, self.session, None);
        }
    }

    fn is_committed(self, id: TransactionId) -> bool {
        let Ok(Some(store)) = self.session.workspace().store() else { return false };
        !store.is_unfinished(id).unwrap_or(true)
            && store.journal(id).is_ok()
            && !store.is_aborted(id).unwrap_or(true)
    }

    /// Reads a proposal again under the lock of the folder, lets `change` change it, and writes it.
    ///
    /// # Errors
    ///
    /// When the file is gone or was altered, or as `change` and writing.
    pub(crate) fn update(
        self,
        id: &str,
        change: impl FnOnce(&mut Proposal, &Dir) -> Result<(), ToolError>,
    ) -> Result<Proposal, ToolError> {
        self.locked(|folder| {
            let found = self.read(folder, id, &mut self.keys()?)?;
            let Some(Listed::Verified(mut proposal)) = found else { return Err(not_verified(id)) };
            change(&mut proposal, folder)?;
            self.write(folder, &proposal)?;
            Ok(*proposal)
        })
    }

    /// Writes a proposal. The caller holds the lock of the folder.
    ///
    /// # Errors
    ///
    /// When the file cannot be written or signed.
    pub(crate) fn write(self, folder: &Dir, proposal: &Proposal) -> Result<(), ToolError> {
        let key = self.session.workspace().key();
        let Some(signer) = key.signer()? else {
            let message = "proposals are signed, and there is no place for a key: nobody could \
                approve this one";
            return Err(ToolError::new(
                FailureClass::Refused,
                ErrorKind::PermissionDenied,
                message,
            )
            .reason(Reason::NotProposable)
            .remedies([Remedy::Ask(ForPerson::Own("set HOME or XDG_STATE_HOME".into()))]));
        };
        let mut bytes = serde_json::to_vec(&proposal.record).expect("BUG: text keys");
        bytes.push(b'\n');
        bytes.extend_from_slice(&proposal.patch);
        let mac = signer.sign(KIND, &bytes);
        bytes.extend_from_slice(format!("mac {mac}\n").as_bytes());
        Ok(folder.spot(proposal.id()).write(&bytes, self.durable())?)
    }

    /// Removes what is over the limits, and returns the proposals that have waited too long: each
    /// is kept without its patch, for who made it. The caller holds the lock of the folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or removed.
    pub(crate) fn sweep(self, folder: &Dir) -> Result<Vec<Proposal>, ToolError> {
        let limits = self.limits();
        let now = SystemTime::now();
        let mut expired = Vec::new();
        let mut left = Vec::new();
        let mut bytes = 0;
        for listed in self.list_in(folder)? {
            let spot = folder.spot(listed.id());
            let size = spot.metadata()?.map_or(0, |seen| seen.size);
            let Listed::Verified(mut proposal) = listed else { continue };
            let waits = proposal.state() == ProposalState::Proposed;
            let is_over = bytes > limits.max_bytes || left.len() >= limits.max_count;
            if !waits && (is_over || proposal.record.is_older_than(limits.max_age, now)) {
                spot.remove()?;
                continue;
            }
            bytes += size;
            if proposal.state() == ProposalState::Expired && !proposal.patch.is_empty() {
                proposal.patch.clear();
                self.write(folder, &proposal)?;
                expired.push((*proposal).clone());
            }
            left.push(*proposal);
        }
        let waiting = left.iter().filter(|one| one.state() == ProposalState::Proposed);
        bases::prune(folder, waiting)?;
        Ok(expired)
    }

    /// Refuses another proposal where too many wait. The caller holds the lock of the folder.
    ///
    /// # Errors
    ///
    /// When there are too many, or the folder cannot be read.
    pub(crate) fn check_room(self, folder: &Dir, size: u64) -> Result<(), ToolError> {
        let limits = self.limits();
        let mut count = 1;
        let mut bytes = size;
        for listed in self.list_in(folder)? {
            let waits = listed.verified().is_none_or(|it| it.state() == ProposalState::Proposed);
            if waits {
                count += 1;
                bytes += folder.spot(listed.id()).metadata()?.map_or(0, |seen| seen.size);
            }
        }
        if count <= limits.max_count && bytes <= limits.max_bytes {
            return Ok(());
        }
        let message = format!("{} proposals wait, and there is no room for another", count - 1);
        Err(ToolError::new(FailureClass::Failed, ErrorKind::CommandFailed, message)
            .reason(Reason::NotProposable)
            .remedies([Remedy::Ask(ForPerson::See(Listing::Proposals))]))
    }

    /// Gives up a proposal of this session.
    ///
    /// # Errors
    ///
    /// When the proposal is another session's, or decided already.
    pub fn withdraw(&self, id: &str, why: Option<&str>) -> Result<Proposal, ToolError> {
        let own = self.own(id)?;
        if !own.is_of(self.session) {
            let message = format!("{id}: another session made it");
            return Err(ToolError::new(
                FailureClass::Refused,
                ErrorKind::PermissionDenied,
                message,
            )
            .reason(Reason::NoSuchProposal)
            .remedies([Remedy::omit("withdraw")]));
        }
        self.end(own.id(), ProposalState::Withdrawn, why)
    }

    /// Declines a proposal: a person decides. An altered one is removed.
    ///
    /// # Errors
    ///
    /// When the proposal is decided already, or cannot be written.
    pub fn decline(&self, name: &str, why: Option<&str>) -> Result<Listed, ToolError> {
        let id = match self.named(name)? {
            Listed::Verified(proposal) => proposal.record.id,
            found @ Listed::NotVerified { .. } => {
                self.locked(|folder| Ok(folder.spot(found.id()).remove()?))?;
                return Ok(found);
            }
        };
        let declined = self.end(&id, ProposalState::Declined, why)?;
        Ok(Listed::Verified(Box::new(declined)))
    }

    /// Ends a waiting proposal.
    fn end(self, id: &str, state: ProposalState, why: Option<&str>) -> Result<Proposal, ToolError> {
        let ended = self.update(id, |proposal, _| {
            check_waits(proposal)?;
            proposal.record.decide(state, self.session, why);
            Ok(())
        })?;
        let phase = match state {
            ProposalState::Withdrawn => Phase::Withdrawn,
            _ => Phase::Declined,
        };
        self.log("decline", phase, &ended, why, None)?;
        Ok(ended)
    }

    /// Writes a line of the log.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub(crate) fn log(
        self,
        tool: &str,
        phase: Phase,
        proposal: &Proposal,
        why: Option<&str>,
        transaction: Option<&str>,
    ) -> Result<(), ToolError> {
        let path = proposal.files().first().map_or("", |file| &file.path);
        let step = ProposalStep { phase, id: proposal.id(), path, why, transaction };
        Ok(self.session.log_proposal(tool, &step)?)
    }
}

/// Fails unless a proposal waits for a decision.
///
/// # Errors
///
/// When the proposal was decided, or has waited too long.
pub(crate) fn check_waits(proposal: &Proposal) -> Result<(), ToolError> {
    let state = proposal.state();
    if state == ProposalState::Proposed {
        return Ok(());
    }
    let mut message = match state {
        ProposalState::Expired => {
            format!("{} has expired: it waited longer than `proposal-keep`", proposal.id())
        }
        state => format!("{} is {} already", proposal.id(), state.as_str()),
    };
    if let Some(why) = proposal.decision().and_then(|decision| decision.why.as_deref()) {
        message += &format!(": {why}");
    }
    Err(ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
        .reason(Reason::Decided)
        .details(serde_json::json!({ "proposalId": proposal.id(), "state": state.as_str() }))
        .remedies([Remedy::Ask(ForPerson::Own("propose it again, if it is wanted".into()))]))
}

/// The error of a proposal altered, or without a signature by a key here.
fn not_verified(id: &str) -> ToolError {
    let message = format!(
        "{id} is not verified: it was altered, or is not signed with a key that is here; it cannot \
         be approved"
    );
    ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
        .reason(Reason::UntrustedState)
        .details(serde_json::json!({ "proposalId": id, "problem": "not_verified" }))
        .remedies([Remedy::Ask(ForPerson::Own(format!(
            "remove it with `apply-patch decline {id}`, and have it proposed again"
        )))])
}

/// Reads the content of a file; `None` for one altered, or without a signature by a key here.
fn parse(bytes: &[u8], id: &str, keys: &mut Keys) -> Result<Option<Proposal>, ToolError> {
    let Some((body, end)) = bytes.split_at_checked(bytes.len().saturating_sub(END)) else {
        return Ok(None);
    };
    let mac = end.strip_prefix(b"mac ").and_then(|end| end.strip_suffix(b"\n"));
    let Some(mac) = mac.and_then(|mac| std::str::from_utf8(mac).ok()) else { return Ok(None) };
    // Where there is no place for a key nobody can tell who wrote this, and nobody approves it.
    if keys.find(|signer| signer.sign(KIND, body).to_string() == mac)?.is_none() {
        return Ok(None);
    }
    let Some(line) = body.iter().position(|&byte| byte == b'\n') else { return Ok(None) };
    let Ok(record) = serde_json::from_slice::<Record>(&body[..line]) else { return Ok(None) };
    let is_its_name = record.id == id && record.digest.parse::<Sha256>().is_ok();
    Ok(is_its_name.then(|| Proposal { record, patch: body[line + 1..].to_vec() }))
}

impl Proposals<'_> {
    /// Recovers interrupted transactions, unless somebody else is changing files.
    pub(crate) fn tidy(self) -> Result<(), commit::Error> {
        let recovered = self.session.workspace().recover_if_idle()?;
        if !recovered.is_empty() {
            // The next change writes what is missing in the log.
            let _ = self.session.recovered(&recovered);
        }
        Ok(())
    }
}
