//! The error of a failed call, in one shape for every cause.

use std::sync::Arc;

use patch_engine::commit::{self, CommitError, JournalProblem};
use patch_engine::remedy::{self, ForPerson, PathLike};
use patch_engine::{
    CommandFailure, ErrorKind, Expected, Failed, ParseError, Problem, ProblemName, Reject, Rejects,
    Remedy, Sha256,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::arguments::{self, ArgumentProblems};
use crate::answer::changes::{DiffDetail, HunkAnswer, PatchData};
use crate::answer::hints::{self, Caller, Hint, Language};
use crate::answer::reason::Reason;
use crate::answer::shown::sanitize;
use crate::tool::Tool;

/// The most reasons in an error besides the gravest; the rest are only counted. A patch may have a
/// hundred thousand, at some kilobytes of JSON each.
const LISTED: usize = 500;

/// How a failure ends a program, and whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// The request does not fit the files; nothing changed.
    DoesNotApply,
    /// The request makes no sense.
    Usage,
    /// Refused: outside the workspace, against the policy, or not approved.
    Refused,
    /// A file is not what was expected.
    Stale,
    /// Input, output, lock or limit; nothing changed.
    Failed,
    /// Changed in part.
    Partial,
    /// The check of what was changed failed; all was put back.
    Unverified,
}

impl FailureClass {
    /// The class of an error of planning, locking or committing.
    #[must_use]
    pub fn of(kind: ErrorKind, from_system: bool) -> Self {
        match kind {
            ErrorKind::StaleFile => Self::Stale,
            _ if from_system => Self::Failed,
            ErrorKind::OutsideWorkspace | ErrorKind::PermissionDenied => Self::Refused,
            ErrorKind::FileTooLarge | ErrorKind::Timeout | ErrorKind::Cancelled => Self::Failed,
            ErrorKind::CommandFailed => Self::Refused,
            _ => Self::DoesNotApply,
        }
    }
}

/// A refused patch, kept so that only the wrong sections need to be sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The name to amend the patch by.
    pub id: String,
    /// The files of the wrong sections; empty if all are wrong, or if the wrong ones are not known.
    pub wrong: Vec<String>,
    /// The patch has only the sections left out; the others are applied.
    pub is_rest: bool,
}

impl Kept {
    /// Says how to amend the patch, to a caller with the means, if only some sections are wrong.
    #[must_use]
    pub fn words(&self, caller: Caller) -> Option<String> {
        /// The most files to name.
        const NAMED: usize = 5;
        let with = match caller {
            Caller::Tool(Tool::ApplyPatch) => format!("amend {}", self.id),
            Caller::Terminal => format!("`--amend {}`", self.id),
            Caller::Program(Language::Python) => format!("`amend=\"{}\"`", self.id),
            Caller::Program(Language::JavaScript) => format!("`amend: \"{}\"`", self.id),
            Caller::Link | Caller::Undo | Caller::Tool(_) | Caller::Editor | Caller::Operations => {
                return None;
            }
        };
        let (what, which) = if self.is_rest {
            ("apply what was left out, send", "the sections of the")
        } else {
            ("keep the other sections, send only", "those of the")
        };
        Some(match self.wrong.len() {
            0 => return None,
            1..=NAMED => {
                format!("to {what} {} again, corrected, with {with}", self.wrong.join(", "))
            }
            more => format!(
                "to {what} {which} {more} files that are refused again, corrected, with {with}"
            ),
        })
    }
}

/// Why a call failed.
#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ToolError {
    /// The kind, from a closed set.
    #[serde(serialize_with = "kind_name")]
    pub kind: ErrorKind,
    /// The problem in a sentence; for people and models, not for programs.
    pub message: String,
    /// The path of the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Further facts; an object, or null.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// Whether the caller can correct the request and try again.
    pub recoverable: bool,
    /// Advice for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_next_action: Option<String>,
    /// The same as data: alternatives, the best one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
    /// The source of the hints.
    #[serde(skip)]
    pub remedies: Vec<Remedy>,
    /// The remedies of each of `details.rejects`.
    #[serde(skip)]
    pub reject_remedies: Vec<Vec<Remedy>>,
    /// The reasons why a patch does not apply; a terminal shows their places.
    #[serde(skip)]
    pub rejects: Option<Arc<Rejects>>,
    /// The refused patch, if kept.
    #[serde(skip)]
    pub kept: Option<Box<Kept>>,
    /// Who gets the hints.
    #[serde(skip)]
    pub caller: Caller,
    /// How the error ends a program.
    #[serde(skip)]
    pub class: FailureClass,
    /// The failure is not final: a person is asked, and the same call is made again afterwards.
    #[serde(skip)]
    pub postponed: bool,
}

fn kind_name<S: serde::Serializer>(kind: &ErrorKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

impl ToolError {
    /// An error without details.
    #[must_use]
    pub fn new(class: FailureClass, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            path: None,
            details: Value::Null,
            recoverable: matches!(class, FailureClass::DoesNotApply | FailureClass::Stale),
            suggested_next_action: None,
            hints: Vec::new(),
            remedies: Vec::new(),
            reject_remedies: Vec::new(),
            rejects: None,
            kept: None,
            caller: Caller::Terminal,
            class,
            postponed: false,
        }
    }

    /// Makes an error about a file's contents; another request can avoid the error.
    #[doc(hidden)]
    pub fn about(
        kind: ErrorKind,
        path: &str,
        reason: Reason,
        message: impl std::fmt::Display,
    ) -> Self {
        let class = FailureClass::of(kind, false);
        let error = Self::new(class, kind, format!("{}: {message}", fs_guard::shortened(path)));
        Self { path: Some(fs_guard::shortened(path).into()), recoverable: true, ..error }
            .reason(reason)
    }

    /// Makes the error of senseless arguments.
    #[must_use]
    pub fn arguments(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            recoverable: true,
            ..Self::new(FailureClass::Usage, ErrorKind::CommandFailed, message)
        }
        .reason(reason)
    }

    /// Says why, in a stable word.
    #[must_use]
    pub fn reason(self, reason: Reason) -> Self {
        self.details(json!({ "reason": reason.as_str() }))
    }

    /// Makes the error of unreadable arguments: all the problems found, or else the parser's
    /// message.
    #[doc(hidden)]
    pub fn bad_arguments(
        what: &str,
        schema: &Value,
        args: &Value,
        error: &serde_json::Error,
    ) -> Self {
        let ArgumentProblems { mut problems, mut changes } = arguments::problems(schema, args);
        if problems.is_empty() {
            problems.push(error.to_string());
            changes = arguments::needed(schema);
        }
        Self::arguments(Reason::BadArguments, format!("{what}: {}", problems.join("; ")))
            .remedies([Remedy::Arguments(changes)])
    }

    /// Makes the error of arguments that are not JSON, or have a field twice.
    #[doc(hidden)]
    pub fn unreadable_arguments(what: &str, error: &serde_json::Error) -> Self {
        Self::arguments(Reason::BadArguments, format!("{what}: {error}"))
            .remedies([Remedy::give("arguments", "a JSON object that has each name once")])
    }

    /// Makes the error of a call cancelled by the caller.
    fn cancelled() -> Self {
        let message = "cancelled; nothing was changed";
        Self::new(FailureClass::Failed, ErrorKind::Cancelled, message)
            .reason(Reason::Cancelled)
            .remedies([Remedy::TryAgain])
    }

    /// Makes the error of a file changed since the caller, or the session, saw the file.
    #[doc(hidden)]
    pub fn stale(path: &str, expected: &Expected, actual: Option<Sha256>, by_ledger: bool) -> Self {
        let problem = Problem::Stale { expected: *expected, actual };
        let reject = Reject::of(path, problem);
        let mut error = Self::of_rejects(std::slice::from_ref(&reject));
        if by_ledger {
            error.message = format!("{path}: it was changed since this session read it");
        }
        error
    }

    /// Adds details; present ones stay.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        match (&mut self.details, details) {
            (Value::Object(own), Value::Object(more)) => {
                more.into_iter().for_each(|(key, value)| {
                    own.entry(key).or_insert(value);
                })
            }
            (own, more) => *own = more,
        }
        self
    }

    /// Sets the remedies.
    #[must_use]
    pub fn remedies(self, remedies: impl IntoIterator<Item = Remedy>) -> Self {
        let caller = self.caller;
        Self { remedies: remedies.into_iter().collect(), ..self }.addressed(caller)
    }

    /// Adds the name to amend the refused patch by, if the patch is kept.
    #[must_use]
    pub fn kept_as(self, kept: Option<Kept>) -> Self {
        let Some(kept) = kept else { return self };
        let caller = self.caller;
        let error = self.details(json!({ "patchId": kept.id }));
        Self { kept: Some(Box::new(kept)), ..error }.addressed(caller)
    }

    /// Adds a remedy in front of the others.
    #[must_use]
    pub fn also_first(mut self, remedy: Remedy) -> Self {
        let others = std::mem::take(&mut self.remedies);
        self.remedies(std::iter::once(remedy).chain(others))
    }

    /// Adds a remedy behind the others.
    #[must_use]
    pub fn also(mut self, remedy: Remedy) -> Self {
        let others = std::mem::take(&mut self.remedies);
        self.remedies(others.into_iter().chain([remedy]))
    }

    /// Puts the remedies into the words of a caller, and leaves out those the caller cannot follow.
    #[must_use]
    pub fn addressed(mut self, caller: Caller) -> Self {
        self.caller = caller;
        self.remedies = hints::addressed(&self.remedies, caller);
        self.hints = Hint::all_of(&self.remedies, caller);
        let next = (!self.hints.is_empty()).then(|| hints::words(&self.hints, caller));
        let amend = self.kept.as_ref().and_then(|kept| kept.words(caller));
        self.suggested_next_action =
            [next, amend].into_iter().flatten().reduce(|next, amend| format!("{next}; {amend}"));
        let rejects =
            self.details.get_mut("rejects").and_then(Value::as_array_mut).into_iter().flatten();
        for (reject, own) in rejects.zip(&mut self.reject_remedies) {
            *own = hints::addressed(own, caller);
            let hints = Hint::all_of(own, caller);
            reject["suggestedNextAction"] = hints::words(&hints, caller).into();
            reject["hints"] = value_of(&hints);
        }
        self
    }

    /// Drops advice on how to open the workspace, for files outside a workspace.
    #[must_use]
    pub fn without_workspace(mut self) -> Self {
        for remedies in self.reject_remedies.iter_mut().chain([&mut self.remedies]) {
            *remedies =
                std::mem::take(remedies).into_iter().map(hints::without_workspace).collect();
        }
        let caller = self.caller;
        self.addressed(caller)
    }

    /// Makes the error of a patch that does not parse.
    #[must_use]
    pub fn parse(error: &ParseError) -> Self {
        let details = json!({
            "reason": error.kind.as_str(),
            "line": error.line,
            "column": error.column,
            "expected": error.expected,
            "seen": error.seen,
        });
        Self::new(FailureClass::DoesNotApply, ErrorKind::PatchParseError, error.to_string())
            .details(details)
            .remedies(Remedy::of_parse(error))
    }

    /// Makes the error of an unusable workspace, or of a change in one that cannot be planned or
    /// committed.
    #[must_use]
    pub fn workspace(error: &commit::Error) -> Self {
        if error.is_cancelled() {
            return Self::cancelled();
        }
        let (class, details) = match error {
            commit::Error::NotRestored { rejects, .. } => {
                return Self::not_restored(error, rejects);
            }
            commit::Error::Parse(error) => return Self::parse(error),
            commit::Error::Rejected(rejects) => return Self::rejected(rejects),
            commit::Error::Commit(error) => return Self::commit(error),
            commit::Error::Declined => {
                (FailureClass::Refused, json!({ "reason": Reason::Declined.as_str() }))
            }
            commit::Error::Postponed => (FailureClass::Refused, Value::Null),
            commit::Error::Drifted { drifts, .. } => (
                FailureClass::Stale,
                json!({
                    "reason": Reason::Stale.as_str(),
                    "drifted": drifts.iter().map(drift).collect::<Vec<_>>(),
                }),
            ),
            commit::Error::NothingTo { .. }
            | commit::Error::NotInTransaction { .. }
            | commit::Error::Aborted(_) => {
                (FailureClass::DoesNotApply, json!({ "reason": Reason::NoTransaction.as_str() }))
            }
            commit::Error::Elsewhere { paths, project, .. } => {
                let mut details = json!({ "reason": Reason::Elsewhere.as_str() });
                if let Some(project) = project {
                    details["paths"] = json!(paths);
                    details["project"] = json!(project);
                }
                (FailureClass::Refused, details)
            }
            commit::Error::NotRecovered { journal, .. } => {
                (FailureClass::Partial, json!({ "journal": journal }))
            }
            commit::Error::Files(error) => files_failure(error),
            commit::Error::Store(error) => store_failure(error),
            commit::Error::Doubtful { transactions, .. } => {
                let ids: Vec<_> = transactions.iter().map(|(id, _)| id.to_string()).collect();
                let reason = Reason::UntrustedState.as_str();
                (FailureClass::Refused, json!({ "reason": reason, "transactions": ids }))
            }
            _ => (FailureClass::of(error.kind(), true), Value::Null),
        };
        let path = error.path().map(ToOwned::to_owned);
        let postponed = matches!(error, commit::Error::Postponed);
        Self { path, details, postponed, ..Self::new(class, error.kind(), error.to_string()) }
            .remedies(error.remedies())
    }

    /// Makes the error of a file that cannot be restored; a restore never replaces a file.
    fn not_restored(error: &commit::Error, rejects: &Rejects) -> Self {
        let rejected = Self::rejected(rejects);
        if remedy::is_state(&rejects[0].path) {
            return rejected.remedies([Remedy::Ask(ForPerson::LookAtState)]);
        }
        match rejects.iter().find(|reject| matches!(reject.problem, Problem::Exists { .. })) {
            Some(there) => rejected.remedies([Remedy::choose(&there.path, PathLike::Free)]),
            None => rejected.remedies(error.remedies()),
        }
    }

    /// Makes the error of a plan that could not be committed.
    #[must_use]
    pub fn commit(error: &CommitError) -> Self {
        if error.kind() == ErrorKind::Cancelled {
            return Self::cancelled();
        }
        let refused = match error {
            CommitError::Files(error)
            | CommitError::Store(workspace_trash::Error::Files(error)) => error.io().is_none(),
            _ => false,
        };
        let class = match error {
            CommitError::Unverified(_) => FailureClass::Unverified,
            error if error.is_rolled_back() => FailureClass::of(error.kind(), !refused),
            _ => FailureClass::Partial,
        };
        let details = match error {
            CommitError::Stale(stale) => drift(stale),
            CommitError::Unverified(refused) => not_verified(refused),
            CommitError::RollbackIncomplete { journal, paths, cause } => {
                let mut details = json!({ "journal": journal, "paths": paths });
                if let CommitError::Unverified(refused) = &**cause {
                    details["verify"] = not_verified(refused);
                }
                details
            }
            CommitError::UnfinishedBelow { directory } => {
                json!({ "reason": Reason::UnfinishedBelow.as_str(), "directory": directory })
            }
            CommitError::Untidy { journal, .. } => json!({ "journal": journal, "paths": [] }),
            _ => Value::Null,
        };
        let path = error.path().map(ToOwned::to_owned);
        Self { path, details, ..Self::new(class, error.kind(), error.to_string()) }
            .remedies(error.remedies())
    }

    /// Makes the error of a patch or an operation that cannot be planned: the gravest reason first,
    /// all reasons in the details, and the outcome of each hunk.
    #[must_use]
    pub fn rejected(rejects: &Rejects) -> Self {
        Self::of_rejects(rejects).hunks(HunkAnswer::of_rejects(rejects, Vec::new()))
    }

    /// Makes the error of these reasons.
    ///
    /// # Panics
    ///
    /// Panics when there are no rejects.
    #[must_use]
    pub fn of_rejects(rejects: &[Reject]) -> Self {
        let first = patch_engine::gravest(rejects).expect("BUG: what was rejected has rejects");
        if first.kind() == ErrorKind::Cancelled {
            return Self::cancelled();
        }
        let from_system = matches!(&first.problem, Problem::Guard(error) if error.is_failure());
        let class = match first.kind() {
            ErrorKind::CommandFailed | ErrorKind::AlreadyExists
                if !matches!(first.problem, Problem::Guard(_)) =>
            {
                FailureClass::DoesNotApply
            }
            kind => FailureClass::of(kind, from_system),
        };
        let message = match rejects.len() {
            1 => first.to_string(),
            len => format!("{first} (and {} more)", len - 1),
        };
        let mut details = problem_details(first);
        let others = rejects.iter().filter(|reject| !std::ptr::eq(*reject, first)).take(LISTED);
        if rejects.len() > 1 {
            details["rejects"] = others.clone().map(reject).collect();
        }
        if rejects.len() - 1 > LISTED {
            details["moreRejects"] = (rejects.len() - 1 - LISTED).into();
        }
        let path = Some(fs_guard::shortened(&first.path).into_owned());
        let reject_remedies = others.map(Reject::remedies).collect();
        Self { path, reject_remedies, ..Self::new(class, first.kind(), message) }
            .details(details)
            .remedies(first.remedies())
    }

    /// Makes the error of a single operation that cannot be planned.
    pub(crate) fn refused(reject: &Reject) -> Self {
        let mut error = Self::of_rejects(std::slice::from_ref(reject));
        // An agent can correct a path; a person approves.
        let hopeless = matches!(error.class, FailureClass::Failed | FailureClass::Partial);
        error.recoverable = !hopeless && error.kind != ErrorKind::PermissionDenied;
        error
    }

    fn hunks(mut self, hunks: Vec<HunkAnswer>) -> Self {
        if !hunks.is_empty() {
            self.details["hunks"] = value_of(&hunks);
        }
        self
    }

    /// Makes the error of a patch that was not applied, or only in part.
    #[must_use]
    pub fn failed(failed: &Failed) -> Self {
        let mut error = Self::from(&failed.error);
        if failed.reports.is_empty() {
            return error;
        }
        let is_partial = failed.reports.iter().any(|report| report.plan.is_partial());
        error.class = FailureClass::Partial;
        if failed.error.is_cancelled() {
            error.message = "cancelled; what was applied before stays".to_owned();
        }
        error.recoverable &= is_partial;
        if error.details.is_null() {
            error.details = json!({});
        }
        let mut applied = match &failed.reports[..] {
            [report] if failed.dry_run => {
                PatchData::planned(&report.plan, is_partial, DiffDetail::Full).unwrap_or_default()
            }
            reports => PatchData::applied(reports, is_partial, DiffDetail::None),
        };
        let hunks = std::mem::take(&mut applied.hunks);
        error.details["applied"] = value_of(&applied);
        match &failed.error {
            commit::Error::Rejected(rejects) => error.hunks(HunkAnswer::of_rejects(rejects, hunks)),
            _ => error.hunks(hunks),
        }
    }
}

impl From<&commit::Error> for ToolError {
    fn from(error: &commit::Error) -> Self {
        Self::workspace(error)
    }
}

impl From<&Self> for ToolError {
    fn from(error: &Self) -> Self {
        error.clone()
    }
}

impl From<commit::Error> for ToolError {
    fn from(error: commit::Error) -> Self {
        match error {
            commit::Error::Rejected(rejects) => rejects.into(),
            error => Self::workspace(&error),
        }
    }
}

impl From<Rejects> for ToolError {
    fn from(rejects: Rejects) -> Self {
        let error = Self::rejected(&rejects);
        Self { rejects: Some(Arc::new(rejects)), ..error }
    }
}

impl From<Reject> for ToolError {
    fn from(reject: Reject) -> Self {
        Self::refused(&reject)
    }
}

impl From<fs_guard::Error> for ToolError {
    fn from(error: fs_guard::Error) -> Self {
        if matches!(error, fs_guard::Error::Cancelled) {
            return Self::cancelled();
        }
        let path = error.path().unwrap_or_default().to_owned();
        Self::refused(&Reject::of(&path, Problem::Guard(error)))
    }
}

/// Returns the class and the details of a failure in the workspace's files.
fn files_failure(error: &fs_guard::Error) -> (FailureClass, Value) {
    let class = FailureClass::of(error.kind().into(), error.is_failure());
    (class, json!({ "reason": error.reason() }))
}

/// Returns the class and the details of a failure in the store of transactions.
fn store_failure(error: &workspace_trash::Error) -> (FailureClass, Value) {
    use workspace_trash::Error;
    match error {
        Error::Files(error) => files_failure(error),
        Error::NoSuchTransaction(_) | Error::NoSuchSlot { .. } => {
            (FailureClass::of(error.kind().into(), false), json!({ "reason": error.reason() }))
        }
        // The journal may have come with the repository, and is refused like a path of the
        // repository's choice.
        Error::Journal { id, problem, .. } => {
            let mut details = journal_problem(problem);
            details["transactions"] = json!([id.to_string()]);
            (FailureClass::Refused, details)
        }
        Error::Unfinished { problem, .. } => (FailureClass::Refused, journal_problem(problem)),
        _ => (FailureClass::of(error.kind().into(), true), Value::Null),
    }
}

fn drift(drift: &commit::Drift) -> Value {
    let mut value = json!({
        "path": drift.path,
        "expectedSha256": drift.expected.map_or_else(String::new, |hash| hash.to_string()),
        "actualSha256": drift.actual.map_or_else(String::new, |hash| hash.to_string()),
    });
    if let Some(now) = &drift.moved_to {
        value["movedTo"] = now.as_str().into();
    }
    if let Some(id) = drift.by {
        value["by"] = id.to_string().into();
    }
    if let Some(author) = &drift.author {
        let commit::Author { agent, session, turn, .. } = &**author;
        for (key, name) in [("agent", agent), ("session", session), ("turnId", turn)] {
            if let Some(name) = name {
                value[key] = name.as_str().into();
            }
        }
    }
    value
}

impl ToolError {
    /// The most lines from [`printed`](Self::printed).
    const MAX_PRINTED: usize = 40;

    /// Returns the last lines printed by a failed check or formatter.
    #[must_use]
    pub fn printed(&self) -> Option<String> {
        let details = self.details.get("verify").unwrap_or(&self.details);
        let reasons = [Reason::Unverified.as_str(), ProblemName::NotFormatted.as_str()];
        if !reasons.iter().any(|reason| details["reason"] == *reason) {
            return None;
        }
        let output = details["output"].as_str()?.trim_end();
        let lines: Vec<&str> = output.lines().collect();
        let last = &lines[lines.len().saturating_sub(Self::MAX_PRINTED)..];
        let text = last.iter().map(|line| sanitize(line).into_owned()).collect::<Vec<_>>();
        (!output.is_empty()).then(|| text.join("\n"))
    }
}

/// Describes how a command of `verify` ended, with the end of its output.
fn not_verified(refused: &CommandFailure) -> Value {
    let mut details = value_of(refused);
    details["reason"] = Reason::Unverified.as_str().into();
    details
}

/// Makes one entry of `details.rejects`.
fn reject(reject: &Reject) -> Value {
    let mut value = value_of(reject);
    value["path"] = fs_guard::shortened(&reject.path).into();
    value
}

/// Returns the facts of a reject besides its kind and message.
fn problem_details(reject: &Reject) -> Value {
    let mut value = value_of(reject);
    if let Value::Object(details) = &mut value {
        details.retain(|key, _| key != "kind" && key != "message");
        details.insert("path".into(), fs_guard::shortened(&reject.path).into());
    }
    value
}

/// Writes a reject, or a place, as the engine does.
pub fn value_of(what: &impl Serialize) -> Value {
    serde_json::to_value(what).expect("text keys")
}

/// Says for programs why a journal is not trusted: `key` is the fingerprint of the missing key.
#[must_use]
pub fn journal_problem(problem: &JournalProblem) -> Value {
    let word = match problem {
        JournalProblem::NotSigned => "not_signed",
        JournalProblem::OtherKey(_) => "other_key",
        JournalProblem::Forged => "forged",
        JournalProblem::NoKey => "no_key",
        JournalProblem::Misplaced => "misplaced",
        JournalProblem::Tracked => "tracked",
        JournalProblem::Missing => "missing",
        _ => "damaged",
    };
    let mut value = json!({ "reason": Reason::UntrustedState.as_str(), "problem": word });
    if let JournalProblem::OtherKey(key) = problem {
        value["key"] = json!(key.to_string());
    }
    value
}
