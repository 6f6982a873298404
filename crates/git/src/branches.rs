//! The branches that patches are to move together.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use git_object_tree::{Id, Resolved, Signature};

/// The most patches whose commits become durable together: about a tenth of a second of work.
pub const TOGETHER: usize = 64;

/// The objects that were made of a plan.
#[derive(Debug, Clone)]
pub(super) struct WrittenCommit {
    pub(super) commit: Id,
    pub(super) tree: Id,
    pub(super) committer: Signature,
}

/// The branches that are to move when all patches are planned.
#[derive(Debug, Default)]
pub(super) struct Branches {
    /// By their names without `refs/heads/`.
    tips: BTreeMap<String, MovingBranch>,
    /// The revisions that named one of them when they were resolved.
    names: BTreeSet<String>,
}

/// A branch that is to move.
#[derive(Debug)]
struct MovingBranch {
    /// Where it is; `None` if it is to be created.
    from: Option<Id>,
    /// The last commit for it, to which it is to go.
    last: WrittenCommit,
    allow_checked_out: bool,
}

/// Returns the name of a branch without `refs/heads/`.
pub(super) fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

impl Branches {
    /// Returns where a branch is to go, if it is to move.
    pub(super) fn tip(&self, branch: &str) -> Option<Resolved> {
        let WrittenCommit { commit, tree, .. } = self.tips.get(short(branch))?.last;
        Some(Resolved { commit, tree })
    }

    /// Returns what a revision is, if it names a branch that is to move.
    pub(super) fn resolved(&self, revision: &str) -> Option<Resolved> {
        self.tip(self.names.get(revision)?)
    }

    /// Notes that a branch, which is at `from`, is to go to a commit. `named_by` is the revision
    /// that names a branch as what the patch is for.
    pub(super) fn go(
        &mut self,
        branch: &str,
        named_by: Option<&str>,
        (from, last): (Option<Id>, WrittenCommit),
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

    /// Returns whether a request means the same now as when the branches have moved.
    pub(super) fn allow(&self, onto: &str, branch: Option<&str>, allow_checked_out: bool) -> bool {
        let name = onto.split(['~', '^']).next().unwrap_or_default();
        let moves = |branch: &String| {
            [name, name.strip_prefix("heads/").unwrap_or(name), short(name)].contains(&&**branch)
        };
        let is_symbolic = name == "@" || name.ends_with("HEAD");
        let moved = is_symbolic || self.tips.keys().any(moves);
        let tip = self.tips.get(short(branch.unwrap_or(onto)));
        self.tips.is_empty()
            || (tip.is_none_or(|tip| tip.allow_checked_out == allow_checked_out)
                && (self.names.contains(onto) || !moved))
    }

    /// Lists each branch with where it is, its last commit, and whether it may be checked out.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Option<Id>, &WrittenCommit, bool)> {
        let each = self.tips.iter();
        each.map(|(branch, tip)| (&**branch, tip.from, &tip.last, tip.allow_checked_out))
    }
}
