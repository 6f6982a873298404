//! One line of the log.

use fs_guard::Sha256;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use workspace_trash::{Keys, Signer, TransactionId};

pub use crate::operation::Operation;

/// The phase of a commit in which a line was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the commit point.
    Intent,
    /// After the commit, or its roll-back.
    Outcome,
    /// After a call that failed before any commit.
    Failed,
    /// When the lines before it were purged with their transactions. The chain begins here anew.
    Purged,
    /// When an interrupted commit without an outcome was found. The line has its outcome.
    Recovered,
    /// At the end of a turn.
    Ended,
    /// When a change was proposed, for a person to decide about later.
    Proposed,
    /// When a proposal was approved, or a part of it: the line has the transaction.
    Approved,
    /// When a proposal was declined.
    Declined,
    /// When a proposal was given up by the session that made it.
    Withdrawn,
    /// When a proposal was found to have waited too long.
    Expired,
}

impl Phase {
    /// Returns the word in a line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Intent => "intent",
            Self::Outcome => "outcome",
            Self::Failed => "failed",
            Self::Purged => "purged",
            Self::Recovered => "recovered",
            Self::Ended => "ended",
            Self::Proposed => "proposed",
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
        }
    }
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// RFC 3339, UTC.
    pub timestamp: String,
    /// The id of the session.
    pub session_id: String,
    /// The name of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// The turn of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// A person edited the patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by_person: Option<bool>,
    /// The name of the tool.
    pub tool_name: String,
    /// When the line was written.
    pub phase: Phase,
    /// What is done to the file.
    pub operation: Operation,
    /// The path of the file; empty if a failed call named none.
    pub path: String,
    /// The destination of a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_path: Option<String>,
    /// The hash before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_sha256: Option<String>,
    /// The hash after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_sha256: Option<String>,
    /// What was normalised or tolerated in the patch, and other notes of its plan: in the first
    /// intent of a transaction, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether it was done. An intent does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// The kind of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<String>,
    /// The reason of a failed call, one of the closed set in `details` of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The profile of a failed patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The outcome of an interrupted commit: `finished` or `reverted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered: Option<String>,
    /// The transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal_id: Option<String>,
    /// Why it was proposed, declined or withdrawn, in the words of who did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The hash of the diff that the transaction keeps, compressed; none where the files that it
    /// displaced tell all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_sha256: Option<String>,
    /// In a git repository: the commit that the change was based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<String>,
    /// The new commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Its tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The branch that was moved to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// `missing` or `changed`: the state in which the head file was found when this line was
    /// written. No crash causes that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The line before this one was cut off by a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn: Option<Torn>,
    /// The lines before this one that were purged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purged: Option<PurgedLines>,
}

/// The lines that were purged from the beginning of a log. The line after this one follows the last
/// of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PurgedLines {
    /// The number of the last one: how many there were.
    pub seq: u64,
    /// The hash of the last one.
    pub hash: String,
}

/// The remains of a line that was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Torn {
    /// Its length.
    pub bytes: u64,
    /// Its hash.
    pub sha256: String,
}

impl Event {
    /// Makes a line that says nothing else; `timestamp` is RFC 3339, UTC.
    #[must_use]
    pub fn new(
        timestamp: String,
        session_id: &str,
        tool_name: &str,
        phase: Phase,
        operation: Operation,
    ) -> Self {
        Self {
            timestamp,
            session_id: session_id.to_owned(),
            agent_name: None,
            turn_id: None,
            edited_by_person: None,
            tool_name: tool_name.to_owned(),
            phase,
            operation,
            path: String::new(),
            to_path: None,
            before_sha256: None,
            after_sha256: None,
            notes: Vec::new(),
            ok: None,
            error_kind: None,
            reason: None,
            profile: None,
            recovered: None,
            transaction_id: None,
            proposal_id: None,
            why: None,
            diff_sha256: None,
            onto: None,
            commit: None,
            tree: None,
            branch: None,
            head: None,
            torn: None,
            purged: None,
        }
    }

    /// Returns the transaction whose intent this is.
    #[must_use]
    pub fn intends(&self) -> Option<TransactionId> {
        (self.phase == Phase::Intent).then(|| self.transaction_id.as_ref()?.parse().ok()).flatten()
    }

    /// Returns the transaction whose outcome this is.
    #[must_use]
    pub fn answers(&self) -> Option<TransactionId> {
        let answer = matches!(self.phase, Phase::Outcome | Phase::Recovered);
        answer.then(|| self.transaction_id.as_ref()?.parse().ok()).flatten()
    }
}

/// The place of a line in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tip {
    /// The number of the last line; 0 before the first.
    pub(super) seq: u64,
    /// The hash of the last line; zeros before the first.
    pub(super) hash: Sha256,
}

impl Tip {
    pub(super) const START: Self = Self { seq: 0, hash: Sha256([0; 32]) };
}

const LINE_KIND: &str = "audit line 1";
const DIGITS: usize = 64;

/// The fields of a line that tells of a purge.
const PURGED: &[u8] = b"\"phase\":\"purged\"";

/// Ends the line that begins at `from`, an object without its closing brace, as the successor of
/// `tip`, and moves `tip` to it.
pub(super) fn end(text: &mut Vec<u8>, from: usize, tip: &mut Tip, signer: Option<&Signer>) {
    tip.seq += 1;
    text.extend_from_slice(format!(",\"seq\":{}", tip.seq).as_bytes());
    push_hash(text, ",\"prevHash\":\"", &tip.hash);
    tip.hash = Sha256::of(&text[from..]);
    push_hash(text, ",\"hash\":\"", &tip.hash);
    if let Some(signer) = signer {
        push_hash(text, ",\"mac\":\"", &signer.sign(LINE_KIND, &tip.hash.0));
    }
    text.extend_from_slice(b"}\n");
}

/// Writes a field whose value is a hash; `opening` is all before the value.
fn push_hash(text: &mut Vec<u8>, opening: &str, hash: &Sha256) {
    text.extend_from_slice(opening.as_bytes());
    text.extend_from_slice(&hash.hex());
    text.push(b'"');
}

/// Why a line does not follow the one before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    #[error("it is not a line of this log")]
    Shape,
    #[error("its bytes do not have the hash that it states")]
    Hash,
    #[error(
        "it does not follow the line before it: a line was changed, inserted, moved or removed"
    )]
    Order,
    #[error(
        "the log begins anew here: it was written without the key of the lines above, or these \
         were put there since"
    )]
    Anew,
    #[error(
        "it is not signed with a key that is here: it was written with another one, or without, \
         or by another program"
    )]
    Signature,
}

/// Parses the line after `tip`, given without its line feed, checks it and moves `tip` to it.
///
/// # Errors
///
/// If a key exists but cannot be used.
pub(super) fn check(
    line: &[u8],
    tip: &mut Tip,
    keys: &mut Keys,
) -> Result<Result<(), Broken>, fs_guard::Error> {
    let purged = purged(line);
    // Older files of the log may be there yet if the purge was interrupted.
    let before = if purged.is_some() { Tip::START } else { *tip };
    let (next, mac) = match follow(line, before) {
        Ok(found) => found,
        Err(broken) => return Ok(Err(broken)),
    };
    if !keys.accept(LINE_KIND, &next.hash.0, mac)? {
        return Ok(Err(Broken::Signature));
    }
    *tip = purged.unwrap_or(next);
    Ok(Ok(()))
}

/// Returns the place of the last line that was purged, if this line tells that.
fn purged(line: &[u8]) -> Option<Tip> {
    // In a text the quotes would be escaped.
    memmem::find(line, PURGED)?;
    let event: Event = serde_json::from_slice(line).ok()?;
    let PurgedLines { seq, hash } = event.purged?;
    Some(Tip { seq, hash: hash.parse().ok()? })
}

/// Returns the place of a line that follows `tip`, and its signature.
fn follow(line: &[u8], tip: Tip) -> Result<(Tip, Option<&[u8]>), Broken> {
    let (rest, mac) =
        match line.strip_suffix(b"\"}").and_then(|line| split_digits(line, b",\"mac\":\"")) {
            Some((rest, mac)) => (rest, Some(mac)),
            None => (
                line.strip_suffix(b"}")
                    .and_then(|line| line.strip_suffix(b"\""))
                    .ok_or(Broken::Shape)?,
                None,
            ),
        };
    let rest = if mac.is_some() { rest.strip_suffix(b"\"").ok_or(Broken::Shape)? } else { rest };
    let (body, stated) = split_digits(rest, b",\"hash\":\"").ok_or(Broken::Shape)?;
    let hash = Sha256::of(body);
    if hash.hex() != *stated {
        return Err(Broken::Hash);
    }
    let seq = tip.seq + 1;
    let is_after = |seq: u64, hash: Sha256| {
        body.ends_with(format!(",\"seq\":{seq},\"prevHash\":\"{hash}\"").as_bytes())
    };
    if !is_after(seq, tip.hash) {
        return Err(if is_after(1, Tip::START.hash) { Broken::Anew } else { Broken::Order });
    }
    Ok((Tip { seq, hash }, mac))
}

/// Splits `<key><64 digits>` off the end.
fn split_digits<'l>(line: &'l [u8], key: &[u8]) -> Option<(&'l [u8], &'l [u8])> {
    let (rest, digits) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    Some((rest.strip_suffix(key)?, digits))
}
