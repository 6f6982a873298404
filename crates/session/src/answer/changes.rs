//! The changes of a call as data: the answer of the patch tool and of the command line.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::RangeInclusive;

use patch_engine::commit::{Outcome, Recovered, TransactionId};
use patch_engine::{
    Change, ChangeKind, Event, HunkOutcome, HunkResult, Images, Note, Plan, PlanNote, Reindented,
    Rejects, Report, SectionDone, SyntaxFault, TurnChange, WhitespaceErrors, line_counts,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::changed_by::ChangedBy;
use crate::answer::statistics::totals;
use crate::settings::Choice;
use crate::settings::choice::named_choices;
use crate::text::counted;

/// Longer diffs are cut.
pub const MAX_DIFF: usize = 64 << 10;

patch_grammar::named! {
    /// How much of what changed an answer shows. The caller knows what it asked for, so by default
    /// nothing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(missing_docs, reason = "docs on variants split the schema; the fields have them")]
    pub enum DiffDetail {
        #[default]
        None = "none",
        Stat = "stat",
        Full = "full",
    }
}

named_choices! { false: DiffDetail }

impl DiffDetail {
    /// Returns the part of a diff to show in an answer.
    pub fn of(self, diff: impl FnOnce() -> Vec<u8>) -> Option<String> {
        match self {
            Self::None => None,
            Self::Full => Some(capped(&diff())),
            Self::Stat => {
                let (inserted, deleted) = line_counts(&diff());
                Some(format!("+{inserted} -{deleted}"))
            }
        }
    }
}

/// What a patch did, or would do.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchData {
    /// Whether all sections were one transaction.
    pub atomic: bool,
    /// Nothing was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// How many hunks the patch has.
    pub hunk_count: usize,
    /// The transaction, for undo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The transactions of a patch that was not atomic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transaction_ids: Vec<String>,
    /// The files, in order.
    pub changed_files: Vec<ChangedFile>,
    /// What was overlooked, and what a reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What becomes of each hunk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<HunkAnswer>,
    /// The hunks that were carried to files that had changed since they were read, and where they
    /// went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<CarriedHunk>,
    /// A person changed the proposal before it was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by_person: Option<EditedByPerson>,
    /// The same patch was applied before, as this transaction, and its files are still as it left
    /// them: nothing was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already_done: bool,
    /// Interrupted transactions that were seen to on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recovered: Vec<String>,
    /// Diffs or files are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// What a person changed in a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditedByPerson {
    /// The diff from the files as proposed to the files as they are now, cut at 64 KiB.
    pub diff: String,
}

/// A hunk, or an edit, that was located in the file as its author saw it: the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CarriedHunk {
    /// The file.
    pub path: String,
    /// The hunk of its section, or the edit of the call, from 0.
    pub hunk: usize,
    /// The lines of the base that it changes, and those next to them.
    pub from: LineRange,
    /// The lines of the file where it went, or was already, and those next to them.
    pub to: LineRange,
    /// The file had all of it already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already_there: bool,
    /// Who changed the file last before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<ChangedBy>,
}

/// Lines of a file, from 1, both included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineRange {
    /// The first one.
    pub start_line: usize,
    /// The last one.
    pub end_line: usize,
}

/// The outcome of a hunk.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkAnswer {
    /// Its file.
    pub path: String,
    /// Its section, from 0.
    pub section: usize,
    /// Its number in the section, from 0.
    pub hunk_index: usize,
    /// applied, already_applied, rejected, or not_applied as something else is rejected.
    pub outcome: &'static str,
    /// The first line that it matched or stands before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<usize>,
    /// How many lines it matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<usize>,
    /// The pass that matched: none (exact), trailing, blanks or unicode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<&'static str>,
    /// What a reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

impl HunkAnswer {
    fn of(HunkResult { path, section, hunk, outcome, .. }: HunkResult<'_>) -> Self {
        let mut answer = Self {
            path: path.to_owned(),
            section,
            hunk_index: hunk,
            outcome: outcome.as_str(),
            ..Self::default()
        };
        match outcome {
            HunkOutcome::Applied(Some(placed)) => {
                answer.start_line = Some(placed.first_line);
                answer.line_count = Some(placed.line_count);
                answer.pass = Some(placed.pass.as_str());
                answer.notes = placed.notes.iter().map(note_text).collect();
            }
            HunkOutcome::AlreadyApplied(Some(lines)) => {
                answer.start_line = Some(*lines.start());
                answer.line_count = Some(lines.count());
            }
            HunkOutcome::Rejected(reject) => answer.reason = Some(reject.reason()),
            HunkOutcome::Applied(None)
            | HunkOutcome::AlreadyApplied(None)
            | HunkOutcome::NotApplied => {}
        }
        answer
    }

    /// Lists the hunks of a plan.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Vec<Self> {
        plan.hunks().into_iter().map(Self::of).collect()
    }

    /// Lists the hunks of a patch, committed now or applied before.
    fn of_report(report: &Report) -> Vec<Self> {
        let mut hunks = Self::of_plan(&report.plan);
        if report.already_done {
            let done = HunkOutcome::AlreadyApplied(None).as_str();
            hunks.iter_mut().for_each(|hunk| hunk.outcome = done);
        }
        hunks
    }

    /// Lists the hunks of a patch of which only these, or none, were applied.
    pub(crate) fn of_rejects(rejects: &Rejects, mut applied: Vec<Self>) -> Vec<Self> {
        let known: HashSet<_> = applied.iter().map(Self::place).collect();
        let others = rejects.hunks().into_iter().map(Self::of);
        applied.extend(others.filter(|hunk| !known.contains(&hunk.place())));
        applied.sort_by_key(Self::place);
        applied
    }

    /// Returns the hunk's section and its number there.
    fn place(&self) -> (usize, usize) {
        (self.section, self.hunk_index)
    }
}

/// One file that a call changed.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Its path before.
    pub path: String,
    /// create, update, delete or move.
    pub operation: &'static str,
    /// Where it moved to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_path: Option<String>,
    /// Its hash before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_sha256: Option<String>,
    /// Its hash after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_sha256: Option<String>,
    /// The unified diff, cut at 64 KiB, or how many lines it has (`+2 -1`), when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Where the displaced file is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trashed_to: Option<String>,
}

impl ChangedFile {
    /// Describes the change of a file in a turn.
    pub(crate) fn of_turn(change: TurnChange) -> Self {
        let TurnChange { operation, path, to_path, before, after, .. } = change;
        Self {
            path,
            operation: operation.as_str(),
            to_path,
            before_sha256: before.map(|sha256| sha256.to_string()),
            after_sha256: after.map(|sha256| sha256.to_string()),
            ..Self::default()
        }
    }
}

impl PatchData {
    /// Describes the effect of a plan, not yet committed.
    ///
    /// # Errors
    ///
    /// When a file has changed since the plan was made, and a diff needs its bytes.
    pub fn planned(plan: &Plan, atomic: bool, detail: DiffDetail) -> Result<Self, fs_guard::Error> {
        Ok(Self {
            atomic,
            dry_run: true,
            hunk_count: plan.hunk_count(),
            hunks: HunkAnswer::of_plan(plan),
            changed_files: changed_files(plan.images(), detail)?,
            notes: notes(plan),
            carried: carried(plan).collect(),
            ..Self::default()
        })
    }

    /// Adds the hunks left out, with their outcome.
    #[must_use]
    pub fn without(mut self, left_out: &Rejects) -> Self {
        self.hunks = HunkAnswer::of_rejects(left_out, self.hunks);
        self
    }

    /// Describes committed changes.
    #[must_use]
    pub fn applied(reports: &[Report], atomic: bool, detail: DiffDetail) -> Self {
        let ids: Vec<_> = reports
            .iter()
            .filter_map(|report| Some(report.transaction.as_ref()?.to_string()))
            .collect();
        let (transaction_id, transaction_ids) =
            if atomic { (ids.into_iter().next(), Vec::new()) } else { (None, ids) };
        Self {
            atomic,
            hunk_count: reports.iter().map(|report| report.plan.hunk_count()).sum(),
            transaction_id,
            transaction_ids,
            changed_files: reports
                .iter()
                .flat_map(|report| committed_files(report, detail))
                .collect(),
            hunks: reports.iter().flat_map(HunkAnswer::of_report).collect(),
            notes: reports.iter().flat_map(|report| notes(&report.plan)).collect(),
            carried: reports.iter().flat_map(|report| carried(&report.plan)).collect(),
            edited_by_person: reports
                .iter()
                .find_map(|report| Some(EditedByPerson { diff: capped(report.edited.as_ref()?) })),
            already_done: reports.iter().any(|report| report.already_done),
            recovered: reports
                .iter()
                .flat_map(|report| &report.recovered)
                .map(|one| format!("{}: {}", one.id, outcome_text(one)))
                .collect(),
            ..Self::default()
        }
    }
}

/// Describes the files of a plan not yet committed.
fn changed_files(
    images: Images<'_>,
    detail: DiffDetail,
) -> Result<Vec<ChangedFile>, fs_guard::Error> {
    let changes = images.plan().changes().iter();
    changes
        .map(|change| {
            let diff = if detail == DiffDetail::None { Vec::new() } else { images.diff(change)? };
            Ok(ChangedFile::new(change, &[], detail.of(|| diff)))
        })
        .collect()
}

impl ChangedFile {
    fn new(change: &Change, trashed: &[Option<String>], diff: Option<String>) -> Self {
        Self {
            path: change.path.to_string(),
            operation: change.operation.as_str(),
            to_path: change.to_path.as_ref().map(ToString::to_string),
            before_sha256: change.before.map(|hash| hash.to_string()),
            after_sha256: change.after.map(|hash| hash.to_string()),
            diff,
            trashed_to: trashed.get(change.transition).cloned().flatten(),
        }
    }
}

/// Describes the files of a transaction.
#[must_use]
pub fn committed_files(report: &Report, detail: DiffDetail) -> Vec<ChangedFile> {
    let changes = report.plan.changes().iter();
    changes
        .map(|change| {
            ChangedFile::new(change, &report.trashed, detail.of(|| diff_of(report, change)))
        })
        .collect()
}

/// Describes an undo or a redo.
#[must_use]
pub fn restored(report: &Report, detail: DiffDetail) -> Value {
    let mut data = json!({
        "transactionId": report.transaction.map(|id| id.to_string()),
        "undoOf": report.plan.undo_of().map(|id| id.to_string()),
        "changedFiles": committed_files(report, detail),
    });
    let also: Vec<_> = report.plan.also_undone().iter().map(ToString::to_string).collect();
    if !also.is_empty() {
        data["alsoUndoOf"] = json!(also);
    }
    for note in report.plan.notes() {
        if let PlanNote::OfTurn { turn, .. } = note {
            data["turnId"] = json!(turn);
        }
    }
    let carried: Vec<_> = carried(&report.plan).collect();
    if !carried.is_empty() {
        data["carried"] = json!(carried);
    }
    let notes = notes(&report.plan);
    if !notes.is_empty() {
        data["notes"] = json!(notes);
    }
    data
}

/// Returns the diff of a committed change, or a sentence if the bytes have been removed since.
#[must_use]
pub fn diff_of(report: &Report, change: &Change) -> Vec<u8> {
    report
        .images()
        .diff(change)
        .unwrap_or_else(|error| format!("(no diff: {error})\n").into_bytes())
}

/// Returns a diff as text, cut at [`MAX_DIFF`].
#[must_use]
pub fn capped(diff: &[u8]) -> String {
    capped_text(diff).into_owned()
}

/// Returns a diff as text, cut at [`MAX_DIFF`]; borrowed if nothing is cut or replaced.
pub(crate) fn capped_text(diff: &[u8]) -> Cow<'_, str> {
    if let (..=MAX_DIFF, Ok(text)) = (diff.len(), std::str::from_utf8(diff)) {
        return text.into();
    }
    // A replacement character is at least as long as the replaced bytes.
    let text = String::from_utf8_lossy(&diff[..diff.len().min(MAX_DIFF + 4)]);
    match text.len() {
        ..=MAX_DIFF => text,
        _ => format!("{}…(truncated)", crate::text::prefix(&text, MAX_DIFF)).into(),
    }
}

/// Writes the notes of a plan: faults overlooked, and facts for the reader.
pub fn notes(plan: &Plan) -> Vec<String> {
    plan.notes().iter().map(note_of_plan).collect()
}

fn note_of_plan(note: &PlanNote) -> String {
    match note {
        PlanNote::Input(note) => note.clone(),
        PlanNote::Text(warning) => format!("patch {warning}"),
        PlanNote::Encoded { path, encoding } => format!("{path}: stored as {encoding}"),
        PlanNote::Crlf { path, by } => format!("{path}: lines end in CRLF, as {by} has it"),
        PlanNote::Carried { path, hunk, from, to, already_there } => {
            format!("{path}: hunk {} {}", hunk + 1, carried_text(from, to, *already_there))
        }
        PlanNote::Whitespace { path, errors, fixed } => {
            format!("{path}: {}", whitespace_text(errors, *fixed))
        }
        PlanNote::Syntax { path, fault, is_new } => {
            format!("{path}: {}", syntax_text(fault, *is_new))
        }
        PlanNote::NewDirectories { directories } => new_directories_text(directories),
        PlanNote::Formatted { path, by } => format!("{path}: formatted by {by}"),
        PlanNote::ConflictMarkers { path, line } => {
            format!("{path}: {}", conflict_markers_text(*line))
        }
        PlanNote::Unchanged { path } => format!("{path}: unchanged"),
        PlanNote::LeftOut { path } => format!("{path}: left out"),
        PlanNote::SectionApplied { path, done, .. } => format!("{path}: {}", done_text(*done)),
        PlanNote::AsBefore { path } => format!("{path}: {AS_BEFORE}"),
        PlanNote::PassedOver { id, why } => passed_over_text(*id, why),
        PlanNote::OfTurn { turn, transactions } => of_turn_text(turn, *transactions),
        PlanNote::Hunk { path, hunk, note } => {
            format!("{path}: hunk {} {}", hunk + 1, note_text(note))
        }
    }
}

/// Names the new directories.
#[must_use]
pub fn new_directories_text(directories: &[String]) -> String {
    const NAMED: usize = 5;
    let named: Vec<_> = directories.iter().take(NAMED).map(String::as_str).collect();
    let more = match directories.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let word = if directories.len() == 1 { "directory" } else { "directories" };
    format!("new {word}: {}{more}", named.join(", "))
}

/// Says that a section was left out because it is applied already.
#[must_use]
pub fn done_text(done: SectionDone) -> String {
    format!("it is applied already, and was left out: {done}")
}

/// Writes the warnings of a plan: faults in the new files, and files formatted. A person sees them
/// before approving, and the caller of any tool gets them.
pub fn warnings(plan: &Plan) -> impl Iterator<Item = String> {
    plan.notes().iter().filter_map(|note| match note {
        PlanNote::Syntax { .. } | PlanNote::ConflictMarkers { .. } | PlanNote::Formatted { .. } => {
            Some(note_of_plan(note))
        }
        _ => None,
    })
}

/// Describes the problem of an event after a commit, if there is one: the change is not logged, may
/// not survive a power loss, or has left files to tidy up.
#[must_use]
pub fn shortfall(event: &Event<'_>) -> Option<String> {
    match event {
        Event::Unlogged(why) => Some(unlogged_text(why)),
        Event::NotDurable(why) => Some((*why).to_owned()),
        Event::NotInTrash(why) => Some(format!(
            "the change is done, but what it displaced is not in the trash yet: {why}; \
             `apply-patch recover` moves it there, and so does the next change"
        )),
        _ => None,
    }
}

/// Says that the outcome of a call is not in the log.
#[must_use]
pub fn unlogged_text(why: &str) -> String {
    format!("the outcome is not in the audit log: {why}")
}

/// The note on a file where the change to undo is gone already.
pub const AS_BEFORE: &str = "the change is gone already";

/// Says why a transaction is not undone.
#[must_use]
pub fn passed_over_text(id: TransactionId, why: &str) -> String {
    format!("transaction {} is passed over: {why}", id.short())
}

/// Says that a whole turn is undone.
#[must_use]
pub fn of_turn_text(turn: &str, transactions: usize) -> String {
    let transactions = counted(transactions, "transaction", "transactions");
    format!("all of turn {turn} is undone: {transactions}")
}

/// Writes a range of lines.
fn lines_text(lines: &RangeInclusive<usize>) -> String {
    format!("lines {}-{}", lines.start(), lines.end())
}

/// Says where a hunk of the base went.
#[must_use]
pub fn carried_text(
    from: &RangeInclusive<usize>,
    to: &RangeInclusive<usize>,
    already_there: bool,
) -> String {
    let what = if already_there { "is there already" } else { "was carried" };
    format!("{what}: {} of the base are {} now", lines_text(from), lines_text(to))
}

/// Names a file with a carried hunk, and who changed the file last.
fn carried_path(hunk: &CarriedHunk) -> String {
    match &hunk.changed_by {
        Some(by) => format!("{} (last changed {by})", hunk.path),
        None => hunk.path.clone(),
    }
}

/// Names the files with carried hunks, as the end of a sentence.
pub fn carried_words(carried: &[CarriedHunk]) -> String {
    let mut paths: Vec<String> = carried.iter().map(carried_path).collect();
    paths.dedup();
    match paths.len() {
        0 => String::new(),
        1..=3 => format!("; carried, as it was changed since it was read: {}", paths.join(", ")),
        more => format!("; carried, as they were changed since they were read: {more} files"),
    }
}

/// Lists the hunks carried from the base.
pub fn carried(plan: &Plan) -> impl Iterator<Item = CarriedHunk> {
    plan.notes().iter().filter_map(|note| match note {
        PlanNote::Carried { path, hunk, from, to, already_there } => Some(CarriedHunk {
            path: path.clone(),
            hunk: *hunk,
            from: line_range(from),
            to: line_range(to),
            already_there: *already_there,
            changed_by: None,
        }),
        _ => None,
    })
}

fn line_range(lines: &RangeInclusive<usize>) -> LineRange {
    LineRange { start_line: *lines.start(), end_line: *lines.end() }
}

/// The answer to a patch applied before.
const ALREADY_DONE: &str = "done already; nothing was changed";

/// Sums up a report in one line.
fn done(report: &Report) -> String {
    if report.already_done { ALREADY_DONE.to_owned() } else { summary(&report.plan) }
}

/// Sums up the reports of a call in one line.
#[must_use]
pub fn outcome(reports: &[Report]) -> String {
    let edited = reports.iter().any(|report| report.edited.is_some());
    let edited = edited.then(|| "a person changed the proposal: see editedByPerson".to_owned());
    reports.iter().map(done).chain(edited).collect::<Vec<_>>().join("; ")
}

/// Sums up a plan in one line.
#[must_use]
pub fn summary(plan: &Plan) -> String {
    totals(plan.changes().iter().map(|change| change.operation.into()))
}

/// Lists the files added, modified and deleted, in the format of the command-line tool known to
/// models.
pub fn success(changed: impl Iterator<Item = (ChangeKind, impl std::fmt::Display)>) -> String {
    let mut lines = [const { String::new() }; 3];
    for (operation, path) in changed {
        let (nth, letter) = match operation {
            ChangeKind::Create => (0, 'A'),
            ChangeKind::Update | ChangeKind::Move => (1, 'M'),
            ChangeKind::Delete => (2, 'D'),
        };
        lines[nth] += &format!("{letter} {path}\n");
    }
    format!("Success. Updated the following files:\n{}", lines.concat())
}

/// Writes a note about a file with a syntax error.
#[must_use]
pub fn syntax_text(fault: &SyntaxFault, is_new: bool) -> String {
    let when = if is_new { "the new file does not parse" } else { "it does not parse any more" };
    format!("{when} as {}: {fault}", fault.format)
}

/// Writes a note about new conflict markers in a file; `line` counts from 1.
#[must_use]
pub fn conflict_markers_text(line: usize) -> String {
    format!("it gets conflict markers, from line {line}: `<<<<<<<`, `=======`, `>>>>>>>`")
}

/// Writes a note about whitespace errors.
#[must_use]
pub fn whitespace_text(errors: &WhitespaceErrors, fixed: bool) -> String {
    format!("whitespace errors {} {errors}", if fixed { "were fixed in" } else { "in" })
}

/// Writes a note about a hunk as the rest of a sentence.
#[must_use]
pub fn note_text(note: &Note) -> String {
    match note {
        Note::OutOfOrder => "stands out of file order".into(),
        Note::HeaderNotFound => {
            "has a header that is not in the file; its only exact place was taken".into()
        }
        Note::SeparatorsDropped => "was matched without the empty lines after it".into(),
        Note::Fuzz(pass) => format!("was matched with fuzz `{pass}`"),
        Note::Reindented(levels) => {
            let levels: Vec<_> = levels.iter().map(level_text).collect();
            format!("is indented like the file: {}", levels.join(", "))
        }
        Note::KeptCharacters => {
            "keeps the file's characters where it changes nothing in the lines that it replaces"
                .into()
        }
        Note::FirstOfSeveral => "fits in several places; the first was taken".into(),
        Note::Offset { stated, line } => offset_text(*stated, *line),
        Note::LineNumber => "only inserts, and stands where the diff's line number says".into(),
        Note::StatedLine => {
            "fits in several places; the one that the stated line number means was taken".into()
        }
        Note::NotAtStart => "has no context above, and is not at the beginning of the file".into(),
        Note::NotAtEnd => "has no context below, and is not at the end of the file".into(),
        Note::FixedWhitespace => {
            "was matched as if whitespace errors were fixed in it and in the file".into()
        }
        Note::AlreadyApplied => "is applied already, and was left out".into(),
    }
}

/// Says where a hunk stands that is not in its stated line.
fn offset_text(stated: usize, line: usize) -> String {
    let distance = counted(line.abs_diff(stated), "line", "lines");
    let side = if line > stated { "below" } else { "above" };
    format!("is at line {line}, {distance} {side} its stated line {stated}")
}

/// Names an indentation of the patch, and the one in the file.
fn level_text(level: &Reindented) -> String {
    format!("{} for {}", blanks(&level.file), blanks(&level.patch))
}

/// Counts the tabs and blanks of an indentation.
fn blanks(text: &str) -> String {
    let tabs = text.bytes().filter(|byte| *byte == b'\t').count();
    let others = text.chars().count() - tabs;
    let words: Vec<_> = [(tabs, "tab", "tabs"), (others, "blank", "blanks")]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, more)| counted(count, one, more))
        .collect();
    if words.is_empty() { "no blanks".into() } else { words.join(" and ") }
}

/// The most paths to name in a sentence.
const NAMED: usize = 10;

/// Describes the outcome of an interrupted transaction.
#[must_use]
pub fn outcome_text(recovered: &Recovered) -> String {
    let Recovered { outcome, touched, hidden, .. } = recovered;
    let nobody = touched.is_empty() && *hidden == 0;
    let touched = listed(touched, *hidden);
    match outcome {
        Outcome::Discarded => "it had changed nothing, and was discarded".into(),
        Outcome::Completed if nobody => "it was finished".into(),
        Outcome::Completed => {
            format!("it was finished before someone else changed these: {touched}")
        }
        Outcome::CompletedExcept(dirs) => {
            format!(
                "it was finished, but these directories could not be removed: {}",
                listed(dirs, 0)
            )
        }
        Outcome::RolledBack | Outcome::RolledBackExcept(_) if nobody => "it was rolled back".into(),
        Outcome::RolledBack | Outcome::RolledBackExcept(_) => {
            format!(
                "it was rolled back; someone else has changed these since, and they stay as they \
                 are: {touched}"
            )
        }
        _ => "it is finished with".into(),
    }
}

/// Names the first paths, and counts the others.
fn listed(paths: &[String], more: usize) -> String {
    let named: Vec<&str> = paths.iter().take(NAMED).map(String::as_str).collect();
    match paths.len() - named.len() + more {
        0 => named.join(", "),
        1 if named.is_empty() => "a file elsewhere".into(),
        more if named.is_empty() => format!("{more} files elsewhere"),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
