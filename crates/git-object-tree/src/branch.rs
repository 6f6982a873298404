//! Moving a branch from one commit to another, as git does and together with git.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::commit::Signature;
use crate::error::{Error, Result};
use crate::files::{self, Lock, failed};
use crate::id::{Id, ObjectKind};
use crate::layout::{LINE, Layout, to_path};
use crate::refs::{self, Packed, Ref};
use crate::repository::Repository;
use crate::write::check_object;

/// Where a branch is to go.
#[derive(Debug, Clone, Copy)]
pub struct BranchMove<'a> {
    /// The branch, with or without `refs/heads/`.
    pub branch: &'a str,
    /// The expected commit; none for a new branch.
    pub from: Option<Id>,
    /// The new commit.
    pub to: Id,
    /// Who moves the branch, for its log.
    pub by: &'a Signature,
    /// Why, for its log.
    pub message: &'a str,
    /// Moves a branch even if it is checked out in a work tree, or being rebased or bisected there.
    ///
    /// Neither the work tree nor its index follows: for git the files then look as if someone had
    /// undone the new commits, and the next `git commit -a` there does undo them. `git push`
    /// refuses such a branch for the same reason.
    pub allow_checked_out: bool,
}

/// Returns the full name of a branch.
fn full_name(name: &str) -> Result<String> {
    let short = name.strip_prefix("refs/heads/").unwrap_or(name);
    let full = format!("refs/heads/{short}");
    if short == "HEAD"
        || short.starts_with('-')
        || short.starts_with("refs/")
        || !refs::is_valid(&full)
    {
        return Err(Error::InvalidBranch { name: name.into() });
    }
    Ok(full)
}

impl Repository {
    /// Returns where a branch is: its name with or without `refs/heads/`; none if there is no such
    /// branch.
    ///
    /// # Errors
    ///
    /// [`InvalidBranch`](crate::Error::InvalidBranch), [`CorruptRef`](crate::Error::CorruptRef),
    /// [`Io`](crate::Error::Io).
    pub fn branch(&self, name: &str) -> Result<Option<Id>> {
        let name = full_name(name)?;
        Ok(refs::follow(self.layout(), &name)?.1)
    }

    /// Returns the full name of `HEAD`'s branch, even if that branch does not exist yet; none for a
    /// detached `HEAD`.
    ///
    /// # Errors
    ///
    /// [`CorruptRef`](crate::Error::CorruptRef), [`Io`](crate::Error::Io).
    pub fn head_branch(&self) -> Result<Option<String>> {
        let (name, _) = refs::follow(self.layout(), "HEAD")?;
        Ok((name != "HEAD").then_some(name))
    }

    /// Moves a branch from its expected commit, or creates the branch: everything in memory is
    /// [flushed](Self::flush), `NAME.lock` is taken as by git, the branch read once more, its log
    /// written where git writes one, and the file replaced. When this returns, all of the move is
    /// durable.
    ///
    /// No hooks are run, and no index or work tree is touched.
    ///
    /// # Errors
    ///
    /// [`RefMoved`](Error::RefMoved) with the present commit of the branch: nothing has changed,
    /// and one may try again from there; [`Locked`](Error::Locked) if another program holds the
    /// lock for longer than `core.filesRefLockTimeout` (100 ms by default), or was killed with the
    /// lock; [`CheckedOut`](Error::CheckedOut), [`SymbolicRef`](Error::SymbolicRef),
    /// [`RefConflict`](Error::RefConflict), [`InvalidBranch`](Error::InvalidBranch),
    /// [`CorruptRef`](Error::CorruptRef); [`MissingObject`](Error::MissingObject) and
    /// [`WrongKind`](Error::WrongKind) if there is no such commit; the errors of flushing;
    /// [`Io`](Error::Io); [`NotDurable`](Error::NotDurable): of all these the only one after which
    /// the branch has moved.
    pub fn move_branch(&self, to: &BranchMove<'_>) -> Result<()> {
        check_object(self, to.to, ObjectKind::Commit)?;
        // A race that is lost already need not leave objects behind.
        let name = self.check_move(to.branch, to.from, to.allow_checked_out)?;
        self.flush()?;
        if to.from == Some(to.to) {
            return Ok(());
        }
        let base = self.layout().ref_base(&name);
        let path = self.layout().ref_path(&name);
        let directory = path.parent().expect("a ref is in `refs`").to_owned();
        let (lock, mut changed) = self.lock(base, &path, &name)?;
        expect(self.layout(), &name, to.from)?;
        if to.from.is_none() {
            self.check_free(&name)?;
        }
        if path.is_dir() {
            // Removed refs leave empty directories.
            files::remove_empty_dirs(&path).map_err(|error| {
                match refs::loose_beneath(&path, &name) {
                    Some(other) => Error::RefConflict { name: name.clone(), other },
                    None => failed("remove", &path)(error),
                }
            })?;
        }
        let line = format!("{}\n", to.to);
        lock.commit(line.as_bytes(), &path, self.writing(), || self.log(&name, to))?;
        changed.insert(directory);
        changed.iter().try_for_each(|directory| self.writing().sync_dir(directory)).map_err(
            |error| match error {
                Error::Io { source, .. } => Error::NotDurable { name, source },
                other => other,
            },
        )
    }

    /// Checks whether a branch can be moved from its expected commit, as a first step of
    /// [`move_branch`](Self::move_branch); nothing is written. Returns the full name.
    ///
    /// # Errors
    ///
    /// [`RefMoved`](Error::RefMoved), [`CheckedOut`](Error::CheckedOut),
    /// [`SymbolicRef`](Error::SymbolicRef), [`RefConflict`](Error::RefConflict),
    /// [`InvalidBranch`](Error::InvalidBranch), [`CorruptRef`](Error::CorruptRef),
    /// [`Io`](Error::Io).
    pub fn check_move(
        &self,
        branch: &str,
        from: Option<Id>,
        allow_checked_out: bool,
    ) -> Result<String> {
        let name = full_name(branch)?;
        if !allow_checked_out && let Some(worktree) = checked_out(self, &name)? {
            return Err(Error::CheckedOut { name, worktree });
        }
        expect(self.layout(), &name, from)?;
        if from.is_none() {
            self.check_free(&name)?;
        }
        Ok(name)
    }

    /// Fails if another ref keeps a new one from its name.
    fn check_free(&self, name: &str) -> Result<()> {
        match self.conflict(name)? {
            Some(other) => Err(Error::RefConflict { name: name.into(), other }),
            None => Ok(()),
        }
    }

    /// Returns the ref that keeps a new one from its name: one beneath it, or above.
    fn conflict(&self, name: &str) -> Result<Option<String>> {
        let base = self.layout().ref_base(name);
        let path = self.layout().ref_path(name);
        let packed = Packed::read(self.layout())?.conflict(name);
        Ok(packed
            .or_else(|| refs::loose_beneath(&path, name))
            .or_else(|| refs::loose_above(&path, base)))
    }

    /// Takes the lock of a ref; returns the lock with the directories changed on the way.
    fn lock(&self, base: &Path, path: &Path, name: &str) -> Result<(Lock, BTreeSet<PathBuf>)> {
        let mut lock_path = path.as_os_str().to_owned();
        lock_path.push(".lock");
        let lock_path = PathBuf::from(lock_path);
        let directory = path
            .parent()
            .and_then(|parent| parent.strip_prefix(base).ok())
            .expect("a ref is beneath its base");
        let mut changed = BTreeSet::new();
        let start = Instant::now();
        let mut wait = Duration::from_millis(1);
        loop {
            let error = match files::create_dirs(base, directory, self.writing()) {
                Ok(created) => {
                    changed.extend(created);
                    match Lock::create(&lock_path) {
                        Ok(lock) => return Ok((lock, changed)),
                        Err(error) => error,
                    }
                }
                // A file has the name of a directory.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory
                    ) =>
                {
                    return Err(match self.conflict(name)? {
                        Some(other) => Error::RefConflict { name: name.into(), other },
                        None => failed("create", &lock_path)(error),
                    });
                }
                Err(error) => error,
            };
            match error.kind() {
                // Someone holds the lock, or removed its empty directory.
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound
                    if start.elapsed() < self.settings().lock_timeout => {}
                io::ErrorKind::AlreadyExists => {
                    return Err(Error::Locked { name: name.into(), lock: lock_path });
                }
                _ => return Err(failed("create", &lock_path)(error)),
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(Duration::from_millis(16));
        }
    }

    /// Writes the logs of a branch, and of `HEAD` if `HEAD` names the branch.
    fn log(&self, name: &str, to: &BranchMove<'_>) -> Result<()> {
        let create = self.settings().creates_logs;
        let writing = self.writing();
        let old = to.from.unwrap_or(Id::new([0; Id::LEN]));
        let words: Vec<&str> = to.message.split_whitespace().collect();
        let tab = if words.is_empty() { "" } else { "\t" };
        let line = format!("{old} {} {}{tab}{}\n", to.to, to.by.to_line()?, words.join(" "));
        let mut logs = vec![name];
        if matches!(refs::read(self.layout(), "HEAD"), Ok(Some(Ref::Symbolic(target))) if target == name)
        {
            logs.push("HEAD");
        }
        for name in logs {
            let base = self.layout().ref_base(name);
            let path = base.join("logs").join(name);
            if create {
                let directory = Path::new("logs").join(name);
                let directory = directory.parent().expect("it has at least two components");
                for changed in files::create_dirs(base, directory, writing)
                    .map_err(failed("create the directory of", &path))?
                {
                    writing.sync_dir(&changed)?;
                }
                if path.is_dir() {
                    files::remove_empty_dirs(&path).map_err(failed("remove", &path))?;
                }
            }
            files::append(&path, line.as_bytes(), create, writing)
                .map_err(failed("append to", &path))?;
        }
        Ok(())
    }
}

/// Fails unless a branch is at its expected commit.
fn expect(layout: &Layout, name: &str, expected: Option<Id>) -> Result<()> {
    let actual = match refs::read(layout, name)? {
        Some(Ref::Symbolic(target)) => {
            return Err(Error::SymbolicRef { name: name.into(), target });
        }
        Some(Ref::Id(id)) => Some(id),
        None => None,
    };
    if actual == expected {
        Ok(())
    } else {
        Err(Error::RefMoved { name: name.into(), expected, actual })
    }
}

/// Returns a work tree that has a branch checked out, or is rebasing or bisecting it.
fn checked_out(repository: &Repository, name: &str) -> Result<Option<PathBuf>> {
    let common = &repository.layout().common_dir;
    let mut worktrees = files::names(&common.join("worktrees"))?;
    worktrees.retain(|worktree| worktree.is_dir());
    if !repository.is_bare() {
        worktrees.push(common.clone());
    }
    let short = name.strip_prefix("refs/heads/").unwrap_or(name);
    for worktree in worktrees {
        let layout = Layout { git_dir: worktree.clone(), common_dir: common.clone() };
        // A damaged work tree has nothing checked out.
        let head = refs::read(&layout, "HEAD").unwrap_or_default();
        if head == Some(Ref::Symbolic(name.into()))
            || has_line(&worktree.join("rebase-merge/head-name"), &[name])
            || has_line(&worktree.join("rebase-apply/head-name"), &[name])
            || has_line(&worktree.join("rebase-merge/update-refs"), &[name])
            || has_line(&worktree.join("BISECT_START"), &[name, short])
        {
            return Ok(Some(top_of(worktree)));
        }
    }
    Ok(None)
}

/// Returns whether a file has one of these lines.
fn has_line(path: &Path, wanted: &[&str]) -> bool {
    let text = files::read(path, 1 << 20).ok().flatten().unwrap_or_default();
    text.split(|byte| *byte == b'\n')
        .any(|line| wanted.iter().any(|name| line.trim_ascii() == name.as_bytes()))
}

/// Returns the work tree of a git directory; the directory itself where it is not beneath one.
fn top_of(git_dir: PathBuf) -> PathBuf {
    let link = files::read(&git_dir.join("gitdir"), LINE).ok().flatten();
    // The link may be relative.
    let link = link.as_deref().and_then(to_path).and_then(|to| files::canonical(&git_dir.join(to)));
    let link = link.as_ref().unwrap_or(&git_dir);
    match link.parent().filter(|_| link.ends_with(".git")) {
        Some(top) => top.to_owned(),
        None => git_dir,
    }
}
