//! The one JSON object of `--json`: the result envelope and the data of `apply_patch` (SPEC §8).

use std::io::Write as _;

use patch_engine::transaction::{self, CommitError};
use patch_engine::{Advice, Applied, ApplyError, Candidate, ErrorKind, Expected, HunkTrouble, Plan, Problem, Reject};
use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure;
use crate::render;

/// Longer diffs are cut.
const MAX_DIFF: usize = 64 << 10;

/// Prints a value as the answer.
pub(crate) fn print(value: &impl Serialize) {
    let text = serde_json::to_string(value).expect("a value with text keys can be written");
    // A broken pipe is a quiet end.
    let _ = writeln!(std::io::stdout(), "{text}");
}

#[derive(Debug, Serialize)]
struct Success {
    ok: bool,
    output: String,
    data: Data,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    atomic: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    hunk_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    transaction_ids: Vec<String>,
    changed_files: Vec<ChangedFile>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recovered: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangedFile {
    path: String,
    operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_sha256: Option<String>,
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    trashed_to: Option<String>,
}

fn changed_files(plan: &Plan, trashed: &[Option<String>]) -> Vec<ChangedFile> {
    plan.changes
        .iter()
        .map(|change| ChangedFile {
            path: change.path.to_string(),
            operation: change.operation.as_str(),
            to_path: change.to_path.as_ref().map(ToString::to_string),
            before_sha256: change.before.map(|hash| hash.to_string()),
            after_sha256: change.after.map(|hash| hash.to_string()),
            diff: capped(&plan.diff(change)),
            trashed_to: trashed.get(change.transition).cloned().flatten(),
        })
        .collect()
}

fn capped(diff: &[u8]) -> String {
    let text = String::from_utf8_lossy(diff);
    match text.len() {
        len if len <= MAX_DIFF => text.into_owned(),
        _ => {
            let end = (0..=MAX_DIFF).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            format!("{}…(truncated)", &text[..end])
        }
    }
}

fn notes(plan: &Plan) -> Vec<String> {
    plan.notes
        .iter()
        .map(|note| match note {
            patch_engine::PlanNote::Text(warning) => format!("patch {warning}"),
            patch_engine::PlanNote::Unchanged { path } => format!("{path}: unchanged"),
            patch_engine::PlanNote::Hunk { path, hunk, note } => {
                format!("{path}: hunk {} {}", hunk + 1, render::note_text(note))
            }
        })
        .collect()
}

/// The envelope of a plan that is not committed.
pub(crate) fn planned(plan: &Plan) -> impl Serialize + use<> {
    Success {
        ok: true,
        output: format!("it applies: {}", render::summary(plan)),
        data: Data {
            atomic: true,
            dry_run: true,
            hunk_count: plan.hunk_count,
            transaction_id: None,
            transaction_ids: Vec::new(),
            changed_files: changed_files(plan, &[]),
            notes: notes(plan),
            recovered: Vec::new(),
        },
    }
}

/// The envelope of what was committed.
pub(crate) fn applied(applied: &Applied, atomic: bool) -> impl Serialize + use<> {
    let summary: Vec<_> = applied.reports.iter().map(|report| render::summary(&report.plan)).collect();
    Success { ok: true, output: summary.join("; "), data: data(applied, atomic) }
}

fn data(applied: &Applied, atomic: bool) -> Data {
    let ids: Vec<_> =
        applied.reports.iter().filter_map(|report| Some(report.transaction.as_ref()?.to_string())).collect();
    let (transaction_id, transaction_ids) = if atomic { (ids.into_iter().next(), Vec::new()) } else { (None, ids) };
    Data {
        atomic,
        dry_run: false,
        hunk_count: applied.reports.iter().map(|report| report.plan.hunk_count).sum(),
        transaction_id,
        transaction_ids,
        changed_files: applied.reports.iter().flat_map(|report| changed_files(&report.plan, &report.trashed)).collect(),
        notes: applied.reports.iter().flat_map(|report| notes(&report.plan)).collect(),
        recovered: applied
            .recovered
            .iter()
            .map(|recovered| format!("{}: {}", recovered.id, render::outcome_text(&recovered.outcome)))
            .collect(),
    }
}

/// A failure as a program sees it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    kind: ErrorKind,
    message: String,
    path: Option<String>,
    details: Value,
    next_action: Option<String>,
}

impl Failure {
    pub(crate) fn new(failure: &failure::Failure) -> Self {
        let plain = |exit, kind, message: String| Self {
            exit,
            kind,
            message,
            path: None,
            details: Value::Null,
            next_action: None,
        };
        match failure {
            failure::Failure::Usage(message) => plain(Exit::Usage, ErrorKind::CommandFailed, message.clone()),
            failure::Failure::Help => plain(Exit::Usage, ErrorKind::CommandFailed, "no patch is named".into()),
            failure::Failure::Input(message) => plain(Exit::Failed, ErrorKind::CommandFailed, message.clone()),
            failure::Failure::Unreadable(message) => {
                plain(Exit::DoesNotApply, ErrorKind::PatchParseError, message.clone())
            }
            failure::Failure::TooLong => {
                let message = format!("the patch is longer than {} bytes", patch_engine::MAX_PATCH_SIZE);
                plain(Exit::Failed, ErrorKind::FileTooLarge, message)
            }
            failure::Failure::Parse(parse) => {
                let error = &parse.1;
                let details = json!({
                    "reason": error.kind.as_str(),
                    "line": error.line,
                    "column": error.column,
                    "expected": error.expected,
                    "seen": error.seen,
                });
                let mut failure = plain(Exit::DoesNotApply, ErrorKind::PatchParseError, error.to_string());
                failure.details = details;
                failure.next_action =
                    Some(format!("correct line {} of the patch and send the whole patch again", error.line));
                failure
            }
            failure::Failure::Rejected(rejected) => Self::rejected(&rejected.1),
            failure::Failure::Workspace(error) => Self::of_workspace(error),
            failure::Failure::Commit(error) => Self::of_commit(error),
            failure::Failure::Applied(applied) => Self::partial(&applied.1),
        }
    }

    fn of_workspace(error: &transaction::Error) -> Self {
        let (exit, details) = match error {
            transaction::Error::Drifted { drifts, .. } => {
                (Exit::Stale, json!({ "drifted": drifts.iter().map(drift).collect::<Vec<_>>() }))
            }
            transaction::Error::NothingTo(_)
            | transaction::Error::NotInTransaction { .. }
            | transaction::Error::Aborted(_) => (Exit::DoesNotApply, Value::Null),
            transaction::Error::NotRecovered { journal, .. } => (Exit::Partial, json!({ "journal": journal })),
            transaction::Error::Files(error) => {
                (Exit::of(error.kind(), matches!(error, fs_guard::Error::Io { .. })), Value::Null)
            }
            _ => (Exit::of(error.kind(), true), Value::Null),
        };
        Self {
            exit,
            kind: error.kind(),
            message: error.to_string(),
            path: error.path().map(ToOwned::to_owned),
            details,
            next_action: None,
        }
    }

    fn of_commit(error: &CommitError) -> Self {
        Self {
            exit: if error.is_rolled_back() { Exit::of(error.kind(), true) } else { Exit::Partial },
            kind: error.kind(),
            message: error.to_string(),
            path: error.path().map(ToOwned::to_owned),
            details: commit_details(error),
            next_action: None,
        }
    }

    fn rejected(rejects: &[Reject]) -> Self {
        let Some(first) = patch_engine::gravest(rejects) else {
            unreachable!("BUG: a rejected patch has rejects");
        };
        let from_system = matches!(&first.problem, Problem::Guard(fs_guard::Error::Io { .. }));
        let mut details = problem_details(first);
        details["rejects"] = rejects.iter().map(reject).collect();
        Self {
            exit: match first.kind() {
                ErrorKind::CommandFailed | ErrorKind::AlreadyExists if !matches!(first.problem, Problem::Guard(_)) => {
                    Exit::DoesNotApply
                }
                kind => Exit::of(kind, from_system),
            },
            kind: first.kind(),
            message: match rejects.len() {
                1 => first.to_string(),
                len => format!("{first} (and {} more)", len - 1),
            },
            path: Some(first.path.clone()),
            details,
            next_action: Some(first.next_action()),
        }
    }

    fn partial(applied: &Applied) -> Self {
        let mut failure = match &applied.failure {
            Some(ApplyError::Rejected(rejects)) => Self::rejected(rejects),
            Some(ApplyError::Workspace(error)) => Self::of_workspace(error),
            Some(ApplyError::Commit(error)) => Self::of_commit(error),
            Some(error @ ApplyError::Declined) | Some(error) => Self {
                exit: Exit::Refused,
                kind: error.kind(),
                message: error.to_string(),
                path: None,
                details: Value::Null,
                next_action: None,
            },
            None => unreachable!("BUG: a failure without a cause"),
        };
        if !applied.reports.is_empty() {
            failure.exit = Exit::Partial;
            if failure.details.is_null() {
                failure.details = json!({});
            }
            failure.details["applied"] = serde_json::to_value(data(applied, false)).unwrap_or_default();
        }
        failure
    }

    /// The failure as the one object of `--json`.
    pub(crate) fn envelope(&self) -> impl Serialize + use<> {
        #[derive(Serialize)]
        struct Envelope {
            ok: bool,
            error: Error,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Error {
            kind: &'static str,
            message: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            path: Option<String>,
            #[serde(skip_serializing_if = "Value::is_null")]
            details: Value,
            recoverable: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            suggested_next_action: Option<String>,
        }
        Envelope {
            ok: false,
            error: Error {
                kind: self.kind.as_str(),
                message: self.message.clone(),
                path: self.path.clone(),
                details: self.details.clone(),
                recoverable: matches!(self.exit, Exit::DoesNotApply | Exit::Stale),
                suggested_next_action: self.next_action.clone(),
            },
        }
    }
}

fn commit_details(error: &CommitError) -> Value {
    match error {
        CommitError::Stale(stale) => drift(stale),
        CommitError::RollbackIncomplete { journal, paths, .. } => json!({ "journal": journal, "paths": paths }),
        _ => Value::Null,
    }
}

fn drift(drift: &transaction::Drift) -> Value {
    json!({
        "path": drift.path,
        "expectedSha256": drift.expected.map_or_else(String::new, |hash| hash.to_string()),
        "actualSha256": drift.actual.map_or_else(String::new, |hash| hash.to_string()),
    })
}

/// One entry of `details.rejects`.
fn reject(reject: &Reject) -> Value {
    let mut value = problem_details(reject);
    value["kind"] = reject.kind().as_str().into();
    value["message"] = reject.to_string().into();
    value["suggestedNextAction"] = reject.next_action().into();
    value
}

/// What is known of a reject beside its message.
fn problem_details(reject: &Reject) -> Value {
    let mut value = json!({ "path": reject.path, "reason": reject.reason() });
    let mut set = |key: &str, what: Value| {
        if !what.is_null() {
            value[key] = what;
        }
    };
    set("section", reject.section.into());
    set("hunkIndex", reject.hunk.into());
    set("patchLine", reject.patch_line.into());
    match &reject.problem {
        Problem::Stale { expected, actual } => {
            let expected = match expected {
                Expected::Absent => String::new(),
                Expected::Hash(hash) => hash.to_string(),
            };
            set("expectedSha256", expected.into());
            set("actualSha256", actual.map_or_else(String::new, |hash| hash.to_string()).into());
        }
        Problem::Binary { size, sha256 } => {
            set("sizeBytes", (*size).into());
            set("sha256", sha256.to_string().into());
        }
        Problem::Guard(fs_guard::Error::Symlink { real_path, .. }) => set("realPath", real_path.clone().into()),
        Problem::InOtherFile { file, line, .. } => {
            set("otherFile", file.clone().into());
            set("otherLine", (*line).into());
        }
        _ => {}
    }
    match reject.hunk_trouble() {
        Some(HunkTrouble::ContextNotFound { nearest: Some(nearest) }) => {
            let difference = nearest.difference.as_ref().map(|difference| {
                json!({
                    "patchLine": difference.patch_line,
                    "fileLine": difference.file_line,
                    "wanted": difference.wanted,
                    "found": difference.found,
                    "column": difference.column,
                })
            });
            set(
                "nearest",
                json!({
                    "startLine": nearest.lines.start(),
                    "endLine": nearest.lines.end(),
                    "agreeingLines": nearest.agreeing,
                    "oldLines": nearest.of,
                    "firstDifference": difference,
                    "wouldMatchWith": nearest.pass.map(patch_engine::Pass::as_str),
                    "scattered": nearest.scattered,
                }),
            );
        }
        Some(HunkTrouble::MultipleMatches { candidates, more, .. }) => {
            set("candidates", candidates.iter().map(candidate).collect());
            set("moreCandidates", (*more).into());
        }
        Some(HunkTrouble::OutsideScope { header, candidates } | HunkTrouble::AnchorNotFound { header, candidates }) => {
            set("header", header.clone().into());
            set("candidates", candidates.iter().map(candidate).collect());
        }
        Some(HunkTrouble::AlreadyApplied { lines }) => {
            set("appliedLines", json!({ "startLine": lines.start(), "endLine": lines.end() }));
        }
        Some(HunkTrouble::OverlappingEdits { other, lines }) => {
            set("otherHunkIndex", (*other).into());
            if let Some(lines) = lines {
                set("sharedLines", json!({ "startLine": lines.start(), "endLine": lines.end() }));
            }
        }
        _ => {}
    }
    value
}

fn candidate(candidate: &Candidate) -> Value {
    let mut value = json!({ "startLine": candidate.lines.start(), "endLine": candidate.lines.end() });
    match &candidate.advice {
        Some(Advice::Before(lines)) => value["addContextBefore"] = json!(lines),
        Some(Advice::After(lines)) => value["addContextAfter"] = json!(lines),
        Some(Advice::Header(header)) => value["addHeader"] = json!(header),
        None => {}
    }
    value
}
