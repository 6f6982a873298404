//! The branches that several patches move together.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use git_object_tree::{Id, Resolved, Signature};

/// The most patches whose commits become durable together: about a tenth of a second of work.
pub const TOGETHER: usize = 64;

/// The commit of a plan.
#[derive(Debug, Clone)]
pub(super) struct WrittenCommit {
    pub(super) commit: Id,
    pub(super) tree: Id,
    pub(super) committer: Signature,
}

/// The branches that move once all patches are planned.
#[derive(Debug, Default)]
pub(super) struct Branches {
    /// The branches by their names without `refs/heads/`.
    tips: BTreeMap<String, MovingBranch>,
    /// The revisions that named one of the branches when they were resolved.
    names: BTreeSet<String>,
}

/// A branch that is to move.
#[derive(Debug)]
struct MovingBranch {
    /// The commit of the branch now; `None` for a new branch.
    from: Option<Id>,
    /// The commit of the last patch for the branch.
    last: WrittenCommit,
    allow_checked_out: bool,
}

/// A move of a branch.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingMove<'b> {
    pub(super) branch: &'b str,
    /// The commit of the branch now; `None` for a new branch.
    pub(super) from: Option<Id>,
    pub(super) to: &'b WrittenCommit,
    pub(super) allow_checked_out: bool,
}

/// Returns the name of a branch without `refs/heads/`.
pub(super) fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

impl Branches {
    /// Returns the commit to which a branch is to move, if it is one of these.
    pub(super) fn tip(&self, branch: &str) -> Option<Resolved> {
        let WrittenCommit { commit, tree, .. } = self.tips.get(short(branch))?.last;
        Some(Resolved { commit, tree })
    }

    /// Returns the commit of a revision, if it names one of these branches.
    pub(super) fn resolved(&self, revision: &str) -> Option<Resolved> {
        self.tip(self.names.get(revision)?)
    }

    /// Adds the move of a branch from a commit to a later one. `named_by` is the revision of the
    /// patch, if it names a branch.
    pub(super) fn go(
        &mut self,
        branch: &str,
        named_by: Option<&str>,
        from: Option<Id>,
        last: WrittenCommit,
        allow_checked_out: bool,
    ) {
        if let Some(name) = named_by.filter(|name| short(name) == short(branch)) {
            self.names.insert(name.into());
        }
        match self.tips.entry(short(branch).into()) {
            Entry::Occupied(tip) => tip.into_mut().last = last,
            Entry::Vacant(tip) => {
                tip.insert(MovingBranch { from, last, allow_checked_out });
            }
        }
    }

    /// Returns whether a request means the same before and after the moves.
    pub(super) fn allow(&self, onto: &str, branch: Option<&str>, allow_checked_out: bool) -> bool {
        let name = onto.split(['~', '^']).next().unwrap_or_default();
        let names = [name, name.strip_prefix("heads/").unwrap_or(name), short(name)];
        let is_symbolic = name == "@" || name.ends_with("HEAD");
        let moved = is_symbolic || names.iter().any(|&name| self.tips.contains_key(name));
        let tip = self.tips.get(short(branch.unwrap_or(onto)));
        self.tips.is_empty()
            || (tip.is_none_or(|tip| tip.allow_checked_out == allow_checked_out)
                && (self.names.contains(onto) || !moved))
    }

    /// Lists the moves.
    pub(super) fn moves(&self) -> impl Iterator<Item = PendingMove<'_>> {
        self.tips.iter().map(|(branch, tip)| PendingMove {
            branch,
            from: tip.from,
            to: &tip.last,
            allow_checked_out: tip.allow_checked_out,
        })
    }
}
