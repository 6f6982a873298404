//! Commits made anew without a checkout: git's diff of each, applied to its parent as `apply-patch
//! git` does it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fs_guard::{Globs, NamePolicy};
use git_object_tree::Id;
use patch_engine::commit::Durability;
use patch_engine::{Options, Profile};
use patch_git::{GitRequest, GitSession};
use patch_grammar::diff::{self, DiffOptions};
use patch_session::audit::Audit;
use patch_session::{SessionName, SessionSettings};

use super::history::run;
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

/// What `git fsck --strict` finds.
fn fsck(dir: &Path) -> Result<String, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(["fsck", "--strict", "--no-dangling", "--no-progress"]);
    let output = command.output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Makes commits with one parent again, in a clone that `scratch` gets: one of `every` so many.
pub(crate) fn replay(dir: &Path, every: usize, scratch: &Path) -> Result<Replayed, String> {
    let clone = scratch.join("bare.git");
    let name = clone.to_str().ok_or("the scratch folder has another name")?;
    run(dir, &["clone", "-q", "--bare", "--shared", ".", name], "")?;
    for (key, value) in [("user.name", "R"), ("user.email", "r@example.com")] {
        run(&clone, &["config", key, value], "")?;
    }
    let list =
        String::from_utf8_lossy(&run(dir, &["rev-list", "--parents", "HEAD"], "")?).into_owned();
    let mut policy = patch_engine::policy();
    (policy.forbidden, policy.guarded) = (Globs::default(), Globs::default());
    policy.names = NamePolicy::Native;
    // The links of the history are approved.
    policy.allow = Globs::new(["**"]).map_err(|error| error.to_string())?;
    let audit = Audit::new(SessionName::cli(), None);
    let settings = SessionSettings { durability: Durability::None, ..SessionSettings::default() };
    let session =
        GitSession::open(&clone, policy, audit, settings).map_err(|error| error.to_string())?;
    let mut replayed = Replayed::default();
    for line in list.lines().step_by(every) {
        let [commit, parent] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let Ok(diff) = run(dir, &["diff-tree", "-p", "-M", "-C", "--no-color", parent, commit], "")
        else {
            // A clone may lack blobs.
            replayed.tally.count(commit, &Outcome::Inexpressible("git has no diff of it".into()));
            continue;
        };
        let began = Instant::now();
        let outcome = made_again(&session, &diff, commit, parent);
        replayed.time += began.elapsed();
        replayed.tally.count(commit, &outcome);
    }
    let known = fsck(dir)?;
    replayed.fsck = fsck(&clone)?.lines().filter(|line| !known.contains(line)).collect();
    Ok(replayed)
}

fn made_again(session: &GitSession, diff: &[u8], commit: &str, parent: &str) -> Outcome {
    let repository = session.repository();
    let wanted = commit.parse().ok().and_then(|id: Id| repository.commit(id).ok());
    let Some(wanted) = wanted else { return Outcome::Refused("the commit cannot be read".into()) };
    if diff.is_empty() {
        return Outcome::Inexpressible("nothing changes".into());
    }
    let diff = match diff::parse(diff, &DiffOptions::default()) {
        Ok(diff) => diff,
        Err(error) => return Outcome::Inexpressible(error.kind.as_str().into()),
    };
    let options = Options { create_parents: true, ..Options::new(Profile::Strict) };
    let request = GitRequest { onto: parent.into(), ..GitRequest::default() };
    let made = match session.apply("replay", &diff, &options, &request, &mut ()) {
        Ok(report) => report.tree,
        Err(error) => {
            return match error.rejects.as_ref().map(|rejects| rejects[0].reason()) {
                // Two new names that differ only by case are refused everywhere.
                Some(reason @ "collision") => Outcome::Inexpressible(reason.into()),
                Some(reason) => Outcome::Refused(reason.into()),
                None => Outcome::Refused(error.to_string()),
            };
        }
    };
    let files = |tree| {
        let mut files = Vec::new();
        let walked =
            repository.snapshot(tree).walk(&mut |path, entry| files.push((path.to_vec(), entry)));
        walked.is_ok().then_some(files)
    };
    if made == wanted.tree {
        Outcome::Right
    } else if files(made)
        .is_some_and(|made| files(wanted.tree).is_some_and(|wanted| made == wanted))
    {
        // Such as modes with a zero before them, which git fsck calls an error.
        Outcome::Inexpressible("its tree is not as git writes it".into())
    } else {
        Outcome::Wrong(format!("{made} instead of {}", wanted.tree))
    }
}
