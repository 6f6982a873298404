//! A proposal, as kept in its file.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fs_guard::Sha256;
use patch_engine::{Expected, Options, Patch, Plan, Profile};
use patch_session::proposing::Author;
use patch_session::settings::{Charsets, Layer};
use patch_session::text_form::TextForm;
use patch_session::{ErrorKind, FailureClass, Reason, Session, ToolError};
use serde::{Deserialize, Serialize};

patch_grammar::named! {
    /// The state of a proposal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ProposalState {
        /// It waits for a decision.
        Proposed = "proposed",
        /// It was approved, and committed.
        Approved = "approved",
        /// A person declined it.
        Declined = "declined",
        /// The session that made it gave it up.
        Withdrawn = "withdrawn",
        /// It waited longer than proposals are kept.
        Expired = "expired",
    }
}

/// A changed file of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProposedFile {
    /// create, update, delete or move.
    pub operation: String,
    /// Its path before, from the directory of the proposal.
    pub path: String,
    /// The new path of a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_path: Option<String>,
}

/// The end of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Decision {
    /// When, in seconds since 1970.
    pub time: u64,
    /// The session of who decided.
    pub session: String,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The file of a proposal, but for the patch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) id: String,
    /// The time of the call, in seconds since 1970.
    pub(crate) time: u64,
    pub(crate) session: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<String>,
    pub(crate) tool: String,
    /// The call, by the caller's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// The directory in the project with the paths beneath.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) directory: String,
    /// The line of the form of the patch.
    pub(crate) form: String,
    /// The settings that decide the meaning of the patch.
    pub(crate) meaning: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) environment: Option<String>,
    /// The files before, by path; empty for no file.
    pub(crate) expected: BTreeMap<String, String>,
    /// The digest of the plan, as shown.
    pub(crate) digest: String,
    pub(crate) files: Vec<ProposedFile>,
    /// Why a person is asked, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasons: Vec<String>,
    pub(crate) state: ProposalState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Decision>,
    /// A transaction begun for the proposal. Its journal tells whether it was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<Attempt>,
    /// The transactions of what was approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) transactions: Vec<String>,
}

/// A transaction begun for a proposal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attempt {
    pub(crate) transaction: String,
    /// Of a part; the rest stays proposed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) of_part: bool,
}

impl Record {
    pub(crate) fn is_older_than(&self, age: Duration, now: SystemTime) -> bool {
        let since = self.decision.as_ref().map_or(self.time, |decision| decision.time);
        seconds(now).saturating_sub(since) > age.as_secs()
    }

    /// Returns whether the patch is read by this profile.
    pub(crate) fn is_of(&self, profile: Profile) -> bool {
        self.meaning.get("profile").is_some_and(|name| name == profile.as_str())
    }

    /// Ends the proposal.
    pub(crate) fn decide(&mut self, state: ProposalState, session: &Session, why: Option<&str>) {
        let time = seconds(SystemTime::now());
        let why = why.map(str::to_owned);
        self.state = state;
        self.decision = Some(Decision { time, session: session.name().to_string(), why });
    }
}

/// Seconds since 1970.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// A proposal whose signature was checked.
#[derive(Debug, Clone)]
pub struct Proposal {
    pub(crate) record: Record,
    /// The patch; empty once the proposal expired.
    pub(crate) patch: Vec<u8>,
}

impl Proposal {
    /// Returns its id: `p-` and hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.record.id
    }

    /// Returns its state.
    #[must_use]
    pub fn state(&self) -> ProposalState {
        self.record.state
    }

    /// Returns the time of the call.
    #[must_use]
    pub fn time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.record.time)
    }

    /// Returns the name of the caller's session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.record.session
    }

    /// Returns the agent of the session.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.record.agent.as_deref()
    }

    /// Returns the turn of the call.
    #[must_use]
    pub fn turn(&self) -> Option<&str> {
        self.record.turn.as_deref()
    }

    /// Returns the call, by the caller's name.
    #[must_use]
    pub fn call(&self) -> Option<&str> {
        self.record.call.as_deref()
    }

    /// Returns the reason for the change, in the caller's words.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        self.record.why.as_deref()
    }

    /// Returns the directory of the project with the paths beneath; empty for the top.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.record.directory
    }

    /// Returns the changed files.
    #[must_use]
    pub fn files(&self) -> &[ProposedFile] {
        &self.record.files
    }

    /// Returns why a person is asked, a sentence each.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        &self.record.reasons
    }

    /// Returns the decision, if there is one.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        self.record.decision.as_ref()
    }

    /// Returns the transactions of what was approved: none before, and several where it was
    /// approved in parts.
    #[must_use]
    pub fn transactions(&self) -> &[String] {
        &self.record.transactions
    }

    /// Returns the digest of the plan, as shown at first.
    ///
    /// # Panics
    ///
    /// Never: a record without one is not read.
    #[must_use]
    pub fn digest(&self) -> Sha256 {
        self.record.digest.parse().expect("BUG: a record has a digest")
    }

    /// Returns whether the proposal is a session's.
    #[must_use]
    pub fn is_of(&self, session: &Session) -> bool {
        self.session() == session.name().as_str()
    }

    /// Returns the patch text, in the form of the file.
    #[must_use]
    pub fn patch(&self) -> &[u8] {
        &self.patch
    }

    /// Returns the line of the form in which the patch is kept, for
    /// [`TextForm::of_line`](patch_session::text_form::TextForm::of_line).
    #[must_use]
    pub fn form(&self) -> &str {
        self.record.form.trim_end()
    }

    /// Returns the caller; `None` if the names are none.
    pub(crate) fn author(&self) -> Option<Author> {
        let turn = self.turn().map(str::parse).transpose().ok()?;
        let agent = self.record.agent.clone();
        Some(Author { session: self.session().parse().ok()?, agent, turn })
    }

    /// Reads the patch, and the rules of planning.
    ///
    /// # Errors
    ///
    /// When the workspace does not allow one of the rules any more, or the patch is not one.
    pub(crate) fn parsed(&self, session: &Session) -> Result<(Patch, Options), ToolError> {
        let record = &self.record;
        let broken = |what: &str| {
            let message = format!("{}: {what}", record.id);
            ToolError::new(FailureClass::Failed, ErrorKind::CommandFailed, message)
                .reason(Reason::NotProposable)
        };
        let layer = Layer::of_meaning(&record.meaning).map_err(|problem| broken(&problem))?;
        let encodings = layer.encoding.as_ref().map(Charsets::encodings);
        let mut options = session.options_for(layer)?;
        options.encodings = encodings.unwrap_or_default();
        options.parse.environment.clone_from(&record.environment);
        options.snapshots = Some(self.snapshots(session));
        for (path, expected) in &record.expected {
            let expected: Expected = expected.parse().map_err(|_| broken("a hash is none"))?;
            options.expected.insert(path.clone(), expected);
        }
        let form = TextForm::of_line(record.form.trim_end());
        let text = form.and_then(|form| form.read(self.patch.clone()));
        let text = text.ok_or_else(|| broken("the form of its patch is not known"))?;
        let patch = text.parse(&options);
        let patch = patch.map_err(|error| error.tool_error(text.text.as_bytes()))?;
        Ok((patch, options))
    }
}

/// A part of a proposal: a patch with some of its changes.
#[derive(Debug, Clone, Copy)]
pub struct ProposalPart<'p> {
    /// The patch.
    pub patch: &'p Patch,
    /// Whether it was made for the files as they are now, and not for those at the time of the
    /// proposal.
    pub for_now: bool,
}

impl ProposalPart<'_> {
    /// Returns the rules of a proposal for this part.
    pub(crate) fn options(self, options: Options) -> Options {
        if !self.for_now {
            return options;
        }
        Options { expected: BTreeMap::new(), snapshots: None, ..options }
    }
}

/// Returns the changed files of a plan.
pub(crate) fn files_of(plan: &Plan) -> Vec<ProposedFile> {
    let file = |change: &patch_engine::Change| ProposedFile {
        operation: change.operation.as_str().to_owned(),
        path: change.path.to_string(),
        to_path: change.to_path.as_ref().map(ToString::to_string),
    };
    plan.changes().iter().map(file).collect()
}
