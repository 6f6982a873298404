//! Commits made anew in the object database alone: git's diff of each, planned over the tree of its parent.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use file_tools::git::CommitTree;
use fs_guard::{Globs, NamePolicy};
use git_tree::{Change, Id, Kind, NewCommit, OpenOptions, Repository, Resolved, Role, Signature, Time};
use patch_engine::{Options, Profile, plan};
use patch_grammar::diff::{Diff, DiffOptions};

use super::outcome::{Outcome, Tally};

/// How the commits of a repository went.
#[derive(Default)]
pub(crate) struct Replayed {
    pub(crate) tally: Tally,
    /// Without the time that git took for the diffs.
    pub(crate) time: Duration,
    /// What `git fsck --strict` says afterwards, and did not say of the repository before.
    pub(crate) fsck: String,
}

fn git(dir: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new("git").arg("-C").arg(dir).args(args).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("git {args:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// What `git fsck --strict` finds.
fn fsck(dir: &Path) -> Result<String, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(["fsck", "--strict", "--no-dangling", "--no-progress"]);
    let output = command.output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Makes the commits with one parent again, every `nth` of them, in a clone that `scratch` gets.
pub(crate) fn replay(dir: &Path, scratch: &Path, nth: usize) -> Result<Replayed, String> {
    let clone = scratch.join("bare.git");
    let name = clone.to_str().ok_or("the scratch folder has another name")?;
    git(dir, &["clone", "-q", "--bare", "--shared", ".", name])?;
    let list = String::from_utf8_lossy(&git(dir, &["rev-list", "--parents", "HEAD"])?).into_owned();
    let repository = Repository::open(&clone, &OpenOptions::default()).map_err(|error| error.to_string())?;
    let by = Signature { name: "R".into(), email: "r@example.com".into(), time: Time::now() };
    let by = repository.signature(Role::Author).unwrap_or(by);
    let mut replayed = Replayed::default();
    let mut written = 0;
    for line in list.lines().step_by(nth) {
        let [commit, parent] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let Ok(diff) = git(dir, &["diff-tree", "-p", "-M", "-C", "--no-color", parent, commit]) else {
            // A clone may lack blobs.
            replayed.tally.count(commit, &Outcome::Inexpressible("git has no diff of it".into()));
            continue;
        };
        let began = Instant::now();
        let outcome = made_again(&repository, &diff, commit, parent, &by);
        replayed.time += began.elapsed();
        replayed.tally.count(commit, &outcome);
        written += 1;
        if written % 100 == 0 {
            repository.flush().map_err(|error| error.to_string())?;
        }
    }
    repository.flush().map_err(|error| error.to_string())?;
    let known = fsck(dir)?;
    replayed.fsck = fsck(&clone)?.lines().filter(|line| !known.contains(line)).collect();
    Ok(replayed)
}

fn made_again(repository: &Repository, diff: &[u8], commit: &str, parent: &str, by: &Signature) -> Outcome {
    let refused = |error: &dyn std::fmt::Display| Outcome::Refused(error.to_string());
    let id = |text: &str| text.parse::<Id>().expect("git prints ids");
    let (Ok(wanted), Ok(base)) = (repository.commit(id(commit)), repository.commit(id(parent))) else {
        return Outcome::Refused("a commit cannot be read".into());
    };
    if diff.is_empty() {
        return Outcome::Inexpressible("nothing changes".into());
    }
    let diff = match Diff::parse(diff, &DiffOptions::default()) {
        Ok(diff) => diff,
        Err(error) => return Outcome::Inexpressible(error.kind.as_str().into()),
    };
    let mut policy = patch_engine::policy();
    policy.forbidden = Globs::default();
    policy.guarded = Globs::default();
    policy.names = NamePolicy::Native;
    let options = Options { create_parents: true, ..Options::new(Profile::Strict) };
    let files = CommitTree::new(repository, Resolved { commit: id(parent), tree: base.tree }).files(policy);
    let plan = match plan(files, &diff.patch(), &options) {
        Ok(plan) => plan,
        Err(rejects) => return Outcome::Refused(rejects[0].reason().into()),
    };
    let changed = match plan.images().changed() {
        Ok(changed) => changed,
        Err(error) => return refused(&error),
    };
    let changes = changed.iter().map(|file| {
        let change = match &file.after {
            None => Change::Remove,
            Some(content) if content.mode & 0o100 != 0 => Change::Write(Kind::Executable, &content.bytes),
            Some(content) => Change::Write(Kind::File, &content.bytes),
        };
        (file.path.as_str(), change)
    });
    let tree = match repository.write_tree(base.tree, changes) {
        Ok(tree) => tree,
        Err(error) => return refused(&error),
    };
    let made = NewCommit { tree, parents: &[id(parent)], author: by, committer: by, message: "again" };
    if let Err(error) = repository.write_commit(&made) {
        return refused(&error);
    }
    let files = |tree| {
        let mut files = Vec::new();
        let walked = repository.snapshot(tree).walk(&mut |path, entry| files.push((path.to_vec(), entry)));
        walked.is_ok().then_some(files)
    };
    if tree == wanted.tree {
        Outcome::Right
    } else if files(tree).is_some_and(|made| files(wanted.tree).is_some_and(|wanted| made == wanted)) {
        // Such as modes with a zero before them, which git fsck calls an error.
        Outcome::Inexpressible("its tree is not as git writes it".into())
    } else {
        Outcome::Wrong(format!("{tree} instead of {}", wanted.tree))
    }
}
