//! Making a proposal.

use std::collections::BTreeMap;
use std::time::SystemTime;

use patch_engine::commit::Durability;
use patch_engine::commit::approval::{ApprovalPolicy, Approvals, Decision, Request};
use patch_engine::remedy::ForPerson;
use patch_engine::{
    Ambiguous, Atomicity, Cancellation, ErrorKind, Expected, Host, Options, Pass, Patch, Plan,
    PlanNote, Profile, Remedy, Report,
};
use patch_session::audit::Phase;
use patch_session::input::PatchText;
use patch_session::settings::Layer;
use patch_session::text_form::TextForm;
use patch_session::{FailureClass, Reason, Session, ToolError};

use crate::bases;
use crate::proposal::{Proposal, ProposalState, Record, files_of, seconds};
use crate::store::{MAX_PATCH, Proposals};

/// The most characters of a reason.
const MAX_WHY: usize = 2000;

/// A patch to be proposed.
#[derive(Debug)]
#[non_exhaustive]
pub struct ProposedPatch {
    /// The text, as read.
    pub text: PatchText,
    /// Its patch.
    pub patch: Patch,
    /// The rules of planning.
    pub options: Options,
    /// The settings of the call behind the rules, beside the session's.
    pub call: Layer,
    /// The called tool, for the log.
    pub tool: String,
}

impl ProposedPatch {
    /// Takes a patch with the rules of the session.
    #[must_use]
    pub fn new(text: PatchText, patch: Patch, options: Options) -> Self {
        Self { text, patch, options, call: Layer::default(), tool: "propose".to_owned() }
    }
}

/// The outcome of proposing a patch.
#[derive(Debug)]
#[non_exhaustive]
pub struct Proposed {
    /// The proposal.
    pub proposal: Proposal,
    /// The plan of the patch.
    pub report: Report,
    /// The ids of older proposals found to have expired.
    pub expired: Vec<String>,
}

/// The patch of a proposal, in the form of its file, and its plan.
pub(crate) struct Kept {
    pub(crate) form: TextForm,
    pub(crate) patch: Vec<u8>,
    pub(crate) plan: Report,
}

impl Proposals<'_> {
    /// Keeps a patch as a proposal: it is planned, and nothing is changed. Guarded files are no
    /// obstacle, as a person decides; what the policy denies is.
    ///
    /// # Errors
    ///
    /// When the patch does not apply, is refused, or changes nothing; when it is too long or too
    /// many wait; and when there is no place for a key.
    pub fn propose(
        &self,
        proposed: ProposedPatch,
        why: Option<&str>,
    ) -> Result<Proposed, ToolError> {
        self.propose_if(proposed, why, &|_| Ok(()))
    }

    /// Does the same where `check` accepts the plan.
    ///
    /// # Errors
    ///
    /// Those of [`propose`](Self::propose) and of `check`.
    pub fn propose_if(
        &self,
        proposed: ProposedPatch,
        why: Option<&str>,
        check: &dyn Fn(&Plan) -> Result<(), ToolError>,
    ) -> Result<Proposed, ToolError> {
        let (workspace, mut approvals) = self.session.workspace().asking();
        let asking = self.session.reopened(workspace);
        let ProposedPatch { text, patch, options, call, tool } = proposed;
        let environment = options.parse.environment.clone();
        let user_expects = options.expected.clone();
        let report = asking.preview(&patch, options, Atomicity::Whole, &Cancellation::NEVER);
        let report = report.map_err(|failed| asking.with_changed_by(ToolError::failed(&failed)))?;
        if report.already_done || report.plan.is_empty() {
            return Err(nothing_to_propose(&report));
        }
        check(&report.plan)?;
        let layers = self.session.settings().layers.clone().with(call);
        let (settings, _) = layers.resolve(Profile::default(), ApprovalPolicy::default());
        let mut record = self.record(&tool, why, &report.plan)?;
        record.meaning = settings.layer().meaning();
        record.environment = environment;
        for (path, expected) in user_expects {
            let hash = match expected {
                Expected::Absent => String::new(),
                Expected::Hash(sha256) => sha256.to_string(),
            };
            record.expected.entry(path).or_insert(hash);
        }
        record.reasons = reasons(&mut approvals, &report.plan)?;
        let form = TextForm::of(&text);
        let sent = text.text.as_bytes().to_vec();
        let kept = kept(&asking, &mut record, form, sent, &report.plan)?;
        self.keep(record, kept)
    }

    /// Keeps the plan of something else than a patch as a proposal, as the diff that it makes. `call`
    /// names the call for [`of_call`](Self::of_call).
    ///
    /// # Errors
    ///
    /// When a diff cannot express the plan, and the other errors of [`propose`](Self::propose).
    pub fn propose_plan(
        &self,
        tool: &str,
        plan: &Plan,
        reasons: Vec<String>,
        call: Option<&str>,
    ) -> Result<Proposed, ToolError> {
        let (workspace, _) = self.session.workspace().asking();
        let asking = self.session.reopened(workspace);
        let mut record = self.record(tool, None, plan)?;
        let layers = &self.session.settings().layers;
        let (settings, _) = layers.resolve(Profile::default(), ApprovalPolicy::default());
        record.meaning = settings.layer().meaning();
        record.reasons = reasons;
        record.call = call.map(str::to_owned);
        let kept = kept_as_diff(&asking, &mut record, plan)?;
        self.keep(record, kept)
    }

    fn record(self, tool: &str, why: Option<&str>, plan: &Plan) -> Result<Record, ToolError> {
        let mut random = [0; 6];
        fs_guard::random(&mut random)?;
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let author = self.session.author();
        Ok(Record {
            id: format!("p-{digits}"),
            time: seconds(SystemTime::now()),
            session: author.session.to_string(),
            agent: author.agent,
            turn: author.turn.map(|turn| turn.to_string()),
            tool: tool.to_owned(),
            call: None,
            why: why.map(|why| why.trim().chars().take(MAX_WHY).collect()),
            directory: self.session.workspace().prefix().as_str().to_owned(),
            form: String::new(),
            meaning: BTreeMap::new(),
            environment: None,
            expected: expected(plan),
            digest: plan.digest().to_string(),
            files: files_of(plan),
            reasons: Vec::new(),
            state: ProposalState::Proposed,
            decision: None,
            attempt: None,
            transactions: Vec::new(),
        })
    }

    /// Writes a proposal, and the files before it.
    fn keep(self, mut record: Record, kept: Kept) -> Result<Proposed, ToolError> {
        let Kept { form, patch, plan: report } = kept;
        record.form = form.line();
        record.digest = report.plan.digest().to_string();
        record.files = files_of(&report.plan);
        let proposal = Proposal { record, patch };
        let durable = self.session.settings().durability == Durability::Full;
        let expired = self.locked(|folder| {
            let expired = self.sweep(folder)?;
            self.check_room(folder, proposal.patch.len() as u64)?;
            bases::keep(folder, &report.plan, durable)?;
            self.write(folder, &proposal)?;
            Ok(expired)
        })?;
        for one in &expired {
            self.log("propose", Phase::Expired, one, None, None)?;
        }
        let tool = proposal.record.tool.clone();
        self.log(&tool, Phase::Proposed, &proposal, proposal.why(), None)?;
        let expired = expired.into_iter().map(|one| one.record.id).collect();
        Ok(Proposed { proposal, report, expired })
    }
}

/// Returns the hashes of the files before a plan; empty for no file. No hash can be expected of a
/// link.
pub(crate) fn expected(plan: &Plan) -> BTreeMap<String, String> {
    let files = plan.transitions().iter().filter(|transition| !transition.is_of_link());
    let states = files.map(|transition| {
        let before = transition.before().map(|sha256| sha256.to_string());
        (transition.path().to_string(), before.unwrap_or_default())
    });
    states.collect()
}

/// Chooses how the patch is kept: its text, if that alone means the same, or else the diff of the
/// plan. An edit need not be whole lines, a patch may have been carried from a base that is not
/// kept, and the formatter of today may be another one at the approval.
fn kept(
    asking: &Session,
    record: &mut Record,
    form: TextForm,
    patch: Vec<u8>,
    plan: &Plan,
) -> Result<Kept, ToolError> {
    record.form = form.line();
    let is_formatted = plan.notes().iter().any(|it| matches!(it, PlanNote::Formatted { .. }));
    let proposal = Proposal { record: record.clone(), patch };
    if !is_formatted
        && let Ok(report) = planned(asking, &proposal)
        && report.plan.digest() == plan.digest()
    {
        check_size(&proposal.patch)?;
        return Ok(Kept { form, patch: proposal.patch, plan: report });
    }
    kept_as_diff(asking, record, plan)
}

/// Keeps a plan as its diff.
///
/// # Errors
///
/// When no diff says the same, or the diff is too long.
pub(crate) fn kept_as_diff(
    asking: &Session,
    record: &mut Record,
    plan: &Plan,
) -> Result<Kept, ToolError> {
    let images = plan.images();
    let mut diff = Vec::new();
    for change in plan.changes() {
        diff.extend(images.binary_diff(change)?);
    }
    // The diff says all: its lines are exact, and each hunk has its line.
    let exact = Layer {
        profile: Some(Profile::Standard).filter(|_| record.is_of(Profile::Codex)),
        fuzz: Some(Pass::Exact),
        ambiguous: Some(Ambiguous::Reject),
        skip_applied: Some(false),
        unidiff_zero: Some(false),
        ..Layer::default()
    };
    record.meaning.extend(exact.meaning());
    record.environment = None;
    record.form = TextForm::GIT_DIFF.line();
    check_size(&diff)?;
    if !diff.is_empty() {
        let proposal = Proposal { record: record.clone(), patch: diff };
        let report = planned(asking, &proposal)?;
        if has_effect_of(&report.plan, plan) {
            return Ok(Kept { form: TextForm::GIT_DIFF, patch: proposal.patch, plan: report });
        }
    }
    let message = "this change cannot be kept as a patch, so it cannot be proposed";
    Err(ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
        .reason(Reason::NotProposable)
        .remedies([Remedy::Ask(ForPerson::Own("make the change".into()))]))
}

/// Returns whether two plans leave the same files.
fn has_effect_of(one: &Plan, other: &Plan) -> bool {
    let effect = |plan: &Plan| -> BTreeMap<String, [Option<fs_guard::Sha256>; 2]> {
        let each = plan.transitions().iter();
        each.map(|it| (it.path().to_string(), [it.before(), it.after()])).collect()
    };
    effect(one) == effect(other)
}

fn check_size(patch: &[u8]) -> Result<(), ToolError> {
    if patch.len() as u64 <= MAX_PATCH {
        return Ok(());
    }
    let message =
        format!("the patch has {} bytes, and a proposal has at most {MAX_PATCH}", patch.len());
    Err(ToolError::new(FailureClass::Failed, ErrorKind::FileTooLarge, message)
        .reason(Reason::NotProposable)
        .remedies([Remedy::Split]))
}

/// Plans a proposal for the files as they are.
///
/// # Errors
///
/// When the patch does not apply.
pub(crate) fn planned(asking: &Session, proposal: &Proposal) -> Result<Report, ToolError> {
    let (patch, options) = proposal.parsed(asking)?;
    let report = asking.preview(&patch, options, Atomicity::Whole, &Cancellation::NEVER);
    report.map_err(|failed| asking.with_changed_by(ToolError::failed(&failed)))
}

/// The error of a patch without changes.
fn nothing_to_propose(report: &Report) -> ToolError {
    let message = match report.transaction {
        Some(id) => format!("there is nothing to propose: this patch was applied as {id}"),
        None => "there is nothing to propose: the files have all of this patch".to_owned(),
    };
    ToolError::new(FailureClass::DoesNotApply, ErrorKind::CommandFailed, message)
        .reason(Reason::NoChange)
        .remedies([Remedy::Ask(ForPerson::SayInstead)])
}

/// A host keeping the reasons why a person is asked.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Host for Reasons {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        self.0 = request.reasons.iter().map(ToString::to_string).collect();
        Ok(Decision::Decline)
    }
}

/// Returns why a person is asked about a plan.
fn reasons(approvals: &mut Approvals, plan: &Plan) -> Result<Vec<String>, ToolError> {
    let mut reasons = Reasons::default();
    approvals.ask(&mut reasons).approve(&Request::new(plan))?;
    Ok(reasons.0)
}
