//! Asks a person before a plan is committed, and remembers the answers of a session.
//!
//! An answer may hold once, for a turn or for the session.

use std::collections::HashSet;
use std::mem::Discriminant;

use fs_guard::{Cancellation, Globs, Policy, RelPath};

pub use crate::commit::host::{Decision, Reason, Request};

use crate::commit::host::{Event, Host};
use crate::plan::{Change, ChangeKind, Plan};

patch_grammar::named! {
    /// When a person is asked.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum ApprovalPolicy {
        /// Before every change.
        Always = "ask",
        /// Where there is a [`Reason`].
        OnRequest = "auto",
        /// Never: everything within the guard's rules is approved.
        #[default]
        Never = "never",
    }
}

/// The approvals of a session: the policy, and what was approved for the session.
///
/// ```
/// use patch_engine::commit::approval::{ApprovalPolicy, Approvals, Decision, Request};
/// use patch_engine::{Host, Options, Profile, ApplyOptions, parse, commit::Workspace};
///
/// struct Person;
/// impl Host for Person {
///     fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
///         assert!(request.reasons[0].to_string().starts_with(".vscode/tasks.json is guarded"));
///         Ok(Decision::Decline)
///     }
/// }
///
/// # let dir = tempfile::tempdir()?;
/// let mut approvals = Approvals::new(ApprovalPolicy::OnRequest);
/// let workspace = Workspace::open(dir.path(), approvals.take_guarded(patch_engine::policy()))?;
/// let settings = ApplyOptions::new(Options::new(Profile::Codex));
/// let text = "*** Begin Patch\n*** Add File: .vscode/tasks.json\n+{}\n*** End Patch\n";
/// let patch = parse(text, &settings.options.parse)?;
/// let failed = workspace.apply(&patch, &settings, &mut approvals.ask(&mut Person)).unwrap_err();
/// assert_eq!(failed.to_string(), "declined; nothing was changed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    policy: ApprovalPolicy,
    guarded: Globs,
    allow: Globs,
    approved: HashSet<Approved>,
    turn: Turn,
}

/// The changes approved for the turn.
#[derive(Debug, Clone, Default)]
enum Turn {
    /// No turn is open.
    #[default]
    None,
    /// Nothing was.
    Open,
    /// Changes for which there are only reasons of these kinds.
    Approved(HashSet<ReasonKind>),
}

/// A reason without its path; of a guarded file, with the pattern of the guard.
type ReasonKind = (Discriminant<Reason>, Option<String>);

/// One change approved for the session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Approved {
    operation: ChangeKind,
    path: RelPath,
    to_path: Option<RelPath>,
    replaces: bool,
    link: bool,
}

impl Approvals {
    /// Starts a session.
    #[must_use]
    pub fn new(policy: ApprovalPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Takes what is guarded out of the guard's policy, so that it lets pass what will be asked
    /// about here; with [`ApprovalPolicy::Never`] they stay, and the guard refuses.
    ///
    /// Every plan made under the returned policy has to be approved here.
    #[must_use]
    pub fn take_guarded(&mut self, policy: Policy) -> Policy {
        if self.policy == ApprovalPolicy::Never {
            return policy;
        }
        self.allow = policy.allow.clone();
        self.guarded = policy.guarded;
        Policy { guarded: Globs::default(), guard_links: false, ..policy }
    }

    /// Returns approvals of a session that asks about every change.
    #[must_use]
    pub fn of_every_change(&self) -> Self {
        Self {
            approved: HashSet::new(),
            turn: Turn::None,
            policy: ApprovalPolicy::Always,
            ..self.clone()
        }
    }

    /// Begins a turn, for [`Decision::ApproveForTurn`].
    pub fn begin_turn(&mut self) {
        self.turn = Turn::Open;
    }

    /// Ends the turn: its approvals end, too.
    pub fn end_turn(&mut self) {
        self.turn = Turn::None;
    }

    /// Returns a host to ask `host` where the policy wants a question, and no earlier answer holds.
    pub fn ask<'h>(&'h mut self, host: &'h mut dyn Host) -> Asking<'h> {
        Asking { approvals: self, host }
    }

    fn decide(
        &mut self,
        request: &Request<'_>,
        host: &mut dyn Host,
    ) -> Result<Decision, fs_guard::Error> {
        let Request { plan, edited, .. } = *request;
        if edited || self.policy == ApprovalPolicy::Never {
            return Ok(decided(host, Decision::Approve, edited));
        }
        let moved = moved(plan);
        let open: Vec<Vec<Reason>> = plan
            .changes()
            .iter()
            .map(|change| (change, self.reasons(plan, change, &moved)))
            .filter(|(change, reasons)| {
                (self.policy == ApprovalPolicy::Always || !reasons.is_empty())
                    && !self.approved.contains(&approved(plan, change, &moved))
                    && !self.is_approved_for_turn(reasons)
            })
            .map(|(_, reasons)| reasons)
            .collect();
        // Removing empty directories is not a change of a file.
        let empty = plan.changes().is_empty()
            && self.policy == ApprovalPolicy::Always
            && !self.is_approved_for_turn(&[]);
        if open.is_empty() && !empty {
            return Ok(decided(host, Decision::Approve, false));
        }
        let reasons: Vec<_> = open.into_iter().flatten().collect();
        let kinds: Vec<_> = reasons.iter().map(kind).collect();
        let decision = host.approve(&Request { reasons, ..Request::new(plan) })?;
        match (decision, &mut self.turn) {
            (Decision::ApproveForSession, _) => self
                .approved
                .extend(plan.changes().iter().map(|change| approved(plan, change, &moved))),
            (Decision::ApproveForTurn, Turn::Approved(approved)) => approved.extend(kinds),
            (Decision::ApproveForTurn, turn @ Turn::Open) => {
                *turn = Turn::Approved(kinds.into_iter().collect());
            }
            _ => {}
        }
        Ok(decided(host, decision, true))
    }

    fn is_approved_for_turn(&self, reasons: &[Reason]) -> bool {
        let Turn::Approved(kinds) = &self.turn else { return false };
        reasons.iter().all(|reason| kinds.contains(&kind(reason)))
    }

    fn reasons(&self, plan: &Plan, change: &Change, moved: &HashSet<&RelPath>) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if change.operation == ChangeKind::Delete {
            reasons.push(Reason::Deletes { path: change.path.clone() });
        }
        if replaces(plan, change, moved) {
            reasons.push(Reason::Replaces { path: change.last_path().clone() });
        }
        for path in std::iter::once(&change.path).chain(&change.to_path) {
            if let Some(glob) = self.guarded.matches(path.as_str())
                && !self.allow.includes(path.as_str())
            {
                reasons.push(Reason::Guarded { path: path.clone(), glob: glob.to_owned() });
            }
        }
        let path = change.last_path();
        // Undo brings back what was there.
        if plan.makes_link(change) && plan.undone().is_none() && !self.allow.includes(path.as_str())
        {
            reasons.push(Reason::Links { path: path.clone() });
        }
        reasons
    }
}

/// Tells the host about a decision.
fn decided(host: &mut dyn Host, decision: Decision, asked: bool) -> Decision {
    host.event(&Event::Decided { approved: decision.approves(), asked });
    decision
}

/// A host behind the approvals of a session; see [`Approvals::ask`].
pub struct Asking<'h> {
    approvals: &'h mut Approvals,
    host: &'h mut dyn Host,
}

impl std::fmt::Debug for Asking<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asking").field("approvals", &self.approvals).finish_non_exhaustive()
    }
}

impl Host for Asking<'_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        self.approvals.decide(request, self.host)
    }

    fn edited(&mut self) -> Option<Vec<u8>> {
        self.host.edited()
    }

    fn cancellation(&self) -> Cancellation {
        self.host.cancellation()
    }

    fn event(&mut self, event: &Event<'_>) {
        self.host.event(event);
    }
}

fn kind(reason: &Reason) -> ReasonKind {
    let glob = match reason {
        Reason::Guarded { glob, .. } => Some(glob.clone()),
        _ => None,
    };
    (std::mem::discriminant(reason), glob)
}

fn approved(plan: &Plan, change: &Change, moved: &HashSet<&RelPath>) -> Approved {
    Approved {
        operation: change.operation,
        path: change.path.clone(),
        to_path: change.to_path.clone(),
        replaces: replaces(plan, change, moved),
        link: plan.makes_link(change),
    }
}

/// Returns the files moved away by a plan.
fn moved(plan: &Plan) -> HashSet<&RelPath> {
    let moves = plan
        .changes()
        .iter()
        .filter(|change| change.operation == ChangeKind::Move && change.to_path.is_some());
    moves.map(|change| &change.path).collect()
}

/// Returns whether a whole file is lost: another one moves to its place, or the file is rewritten
/// and not edited. A file moved away by the same plan is not lost.
fn replaces(plan: &Plan, change: &Change, moved: &HashSet<&RelPath>) -> bool {
    let transition = plan.transition_of(change);
    let Some(after) = transition.after.as_ref().filter(|_| transition.before.is_some()) else {
        return false;
    };
    let whole = change.operation == ChangeKind::Move || after.rewritten;
    whole && !moved.contains(change.last_path())
}
