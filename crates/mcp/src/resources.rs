//! The resources besides files: the log, a transaction, and the plan that a person is asked about.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use apply_patch_api::engine::commit::{TransactionId, Workspace};
use apply_patch_api::files::Sha256;
use apply_patch_api::tools::{Session, Span, SpanNames, ToolError, history};
use apply_patch_api::{proposals, review};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

const LOG: &str = "apply-patch://log";
const TURN: &str = "apply-patch://turn";
const TRANSACTION: &str = "apply-patch://transaction/";
const OF_SESSION: &str = "apply-patch://session/";
const OF_TURN: &str = "apply-patch://turn/";
const SINCE: &str = "apply-patch://since/";
const NOTES: &str = "apply-patch://notes";
const PROPOSAL: &str = "apply-patch://proposal/";

const JSON: &str = "application/json";
const DIFF: &str = "text/x-diff";
const MARKDOWN: &str = "text/markdown";

/// The most transactions of the log.
const MAX_LOG: usize = 100;

/// The most proposals to keep. In the protocol without sessions nobody says that a question is
/// closed.
const MAX_PROPOSALS: usize = 8;

/// Returns the URI of a transaction.
pub(crate) fn transaction_uri(id: TransactionId) -> String {
    format!("{TRANSACTION}{id}")
}

/// Returns the URI of a plan that a person is asked about.
pub(crate) fn proposal_uri(plan: Sha256) -> String {
    format!("{PROPOSAL}{}", &plan.to_string()[..16])
}

/// The change, as the client names it.
pub(crate) fn changed_uris(undone: &[TransactionId]) -> Vec<String> {
    let transactions = undone.iter().map(|id| transaction_uri(*id));
    [LOG, TURN].map(str::to_owned).into_iter().chain(transactions).collect()
}

/// Returns whether a client may subscribe to this: a proposal does not change.
pub(crate) fn can_change(uri: &str) -> bool {
    [LOG, TURN].contains(&uri)
        || uri.strip_prefix(TRANSACTION).is_some_and(|id| id.parse::<TransactionId>().is_ok())
}

/// Describes a transaction as a link in a result.
pub(crate) fn transaction_link(id: TransactionId) -> Resource {
    Resource::new(transaction_uri(id), id.short())
        .with_title("What this call changed")
        .with_mime_type(JSON)
}

/// Lists the resources present.
pub(crate) fn listed(proposals: &Proposals) -> Vec<Resource> {
    let log = Resource::new(LOG, "log")
        .with_title("Changes")
        .with_description("The newest transactions of the project, the newest first")
        .with_mime_type(JSON);
    let turn = Resource::new(TURN, "turn")
        .with_title("This turn")
        .with_description(
            "What the turn changed, or the session if the host has no turns, as one diff",
        )
        .with_mime_type(JSON);
    let notes = Resource::new(NOTES, "notes")
        .with_title("Comments")
        .with_description("What a person said of changes in a review, each with its hunk")
        .with_mime_type(MARKDOWN);
    let mut listed = vec![log, turn, notes];
    listed.extend(proposals.open().iter().map(|(uri, _)| {
        Resource::new(uri, "proposal")
            .with_title("A change that waits for approval")
            .with_description("Its whole diff")
            .with_mime_type(DIFF)
    }));
    listed
}

/// Lists the kinds of resources with an id.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let as_one = "All of it as one diff, without what others changed between";
    [
        (
            format!("{TRANSACTION}{{id}}"),
            "transaction",
            "One change",
            "The files of a transaction and its diff; `last` is the newest",
        ),
        (format!("{OF_SESSION}{{name}}"), "session", "What a session changed", as_one),
        (format!("{OF_TURN}{{name}}"), "turn", "What a turn changed", as_one),
        (
            format!("{SINCE}{{start}}"),
            "since",
            "What was changed since",
            "As one diff: a transaction and all that followed it, or all since a time such as `2h`",
        ),
        (
            format!("{PROPOSAL}{{id}}"),
            "proposal",
            "A change that waits for a person",
            "What became of a proposal of this session, and its diff as it would be now",
        ),
    ]
    .map(|(uri, name, title, description)| {
        ResourceTemplate::new(uri, name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
    })
    .into()
}

/// Finds the transactions of a URI that names several; `None` if it names none.
fn span(session: &Session, uri: &str) -> Result<Option<Span>, ToolError> {
    let names = SpanNames {
        session: uri.strip_prefix(OF_SESSION),
        since: uri.strip_prefix(SINCE),
        turn: uri.strip_prefix(OF_TURN),
    };
    names.find(session.workspace())
}

/// Reads the log, the turn, a transaction or several as one, in about `max` bytes; `None` if the
/// URI is of none.
pub(crate) fn read(
    session: &Session,
    uri: &str,
    max: usize,
) -> Result<Option<ResourceContents>, ToolError> {
    let workspace = session.workspace();
    if uri == NOTES {
        let text = notes(workspace)?;
        return Ok(Some(ResourceContents::text(text, uri).with_mime_type(MARKDOWN)));
    }
    let value = if uri == LOG {
        // One more than are listed tells whether there are more.
        let entries = workspace.newest(MAX_LOG + 1)?;
        let mut transactions = Vec::new();
        let mut left = max;
        for entry in entries.iter().take(MAX_LOG) {
            let mut value = history::transaction(workspace, entry, false)?;
            fit(&mut value, max / 4);
            let len = length(&value);
            if len > left {
                break;
            }
            left -= len;
            transactions.push(value);
        }
        let truncated = transactions.len() < entries.len();
        json!({ "transactions": transactions, "truncated": truncated })
    } else if uri == TURN {
        let own = session.name().to_string();
        let turn = session.turn();
        let span = match &turn {
            Some(turn) => Span::Turn(turn.to_string(), Some(own)),
            None => Span::Session(own),
        };
        let entries = span.entries(workspace)?;
        let mut value = history::turn(workspace, &entries)?;
        value["id"] = turn.map(|turn| turn.to_string()).into();
        value["session"] = session.name().as_str().into();
        fit(&mut value, max);
        value
    } else if let Some(name) = uri.strip_prefix(TRANSACTION) {
        let entry = workspace.show(history::find(workspace, name)?)?;
        let mut value = history::transaction(workspace, &entry, true)?;
        fit(&mut value, max);
        value
    } else if let Some(id) = uri.strip_prefix(PROPOSAL).filter(|id| id.starts_with("p-")) {
        let mut value = proposal(session, id)?;
        fit(&mut value, max);
        value
    } else if let Some(span) = span(session, uri)? {
        let net = session.net_changes(&span.entries(workspace)?)?;
        let mut value = serde_json::to_value(net.data).expect("text keys");
        fit(&mut value, max);
        value
    } else {
        return Ok(None);
    };
    Ok(Some(ResourceContents::text(value.to_string(), uri).with_mime_type(JSON)))
}

/// Writes what a person said of changes that the caller may see.
fn notes(workspace: &Workspace) -> Result<String, ToolError> {
    let mut kept = review::Kept::read(workspace)?;
    let reach = workspace.reach();
    kept.notes.retain(|note| reach.shows(&note.path));
    Ok(review::notes_text(&kept.notes))
}

/// Describes a proposal of this session, and what it would do now.
fn proposal(session: &Session, id: &str) -> Result<Value, ToolError> {
    let proposals = proposals::Proposals::of(session);
    let found = proposals.own(id)?;
    let mut value = serde_json::to_value(found.data()).expect("text keys");
    if found.state() == proposals::ProposalState::Proposed {
        match proposals.plan(&found) {
            Ok(report) => {
                let shown = proposals::Shown::of(&report.plan)?;
                value["differs"] = (shown.digest != found.digest()).into();
                value["digestNow"] = shown.digest.to_string().into();
                value["diff"] = String::from_utf8_lossy(&shown.diff).into();
            }
            Err(error) => value["error"] = json!(error),
        }
    }
    Ok(value)
}

/// The bytes of a value in a list.
fn length(value: &Value) -> usize {
    value.to_string().len() + 1
}

/// Cuts a change to about `max` bytes: the list of its files or transactions to half, and then the
/// diff.
fn fit(change: &mut Value, max: usize) {
    if length(change) <= max {
        return;
    }
    change["truncated"] = true.into();
    let diff = change.as_object_mut().and_then(|fields| fields.remove("diff"));
    for list in ["files", "transactions"] {
        let Some(list) = change.get_mut(list).and_then(Value::as_array_mut) else { continue };
        let mut left = max / 2;
        let fits = |item: &&Value| {
            let len = length(item);
            let fits = len <= left;
            left = left.saturating_sub(len);
            fits
        };
        let count = list.iter().take_while(fits).count();
        list.truncate(count.max(1));
    }
    if let Some(diff) = diff.as_ref().and_then(Value::as_str) {
        let mut left = max.saturating_sub(length(change));
        let fits = |line: &&str| {
            let len = json!(line).to_string().len();
            let fits = len <= left;
            left = left.saturating_sub(len);
            fits
        };
        let lines: String = diff.split_inclusive('\n').take_while(fits).collect();
        change["diff"] = lines.into();
    }
}

/// The diffs that persons are asked about, while they are.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    open: Mutex<VecDeque<(String, String)>>,
}

impl Proposals {
    /// Keeps a diff until [`close`](Self::close).
    pub(crate) fn keep(&self, plan: Sha256, diff: &str) {
        self.close(plan);
        let mut open = self.open();
        open.truncate(MAX_PROPOSALS - 1);
        open.push_front((proposal_uri(plan), diff.to_owned()));
    }

    /// Forgets a diff.
    pub(crate) fn close(&self, plan: Sha256) {
        let closed = proposal_uri(plan);
        self.open().retain(|(uri, _)| *uri != closed);
    }

    /// Reads a kept diff.
    pub(crate) fn read(&self, uri: &str) -> Option<ResourceContents> {
        let open = self.open();
        let (uri, diff) = open.iter().find(|(open, _)| open == uri)?;
        Some(ResourceContents::text(diff, uri).with_mime_type(DIFF))
    }

    fn open(&self) -> MutexGuard<'_, VecDeque<(String, String)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
