//! A commit, written as a patch and applied to what was there before it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use patch_engine::commit::{Durability, Error, Workspace};
use patch_engine::{ApplyOptions, Options, Patch, Profile, edit, parse};
use patch_grammar::diff::{self, DiffOptions};
use testutils::takers::{self, LINK};
use testutils::write::{Kind, Style, write_hunks, write_patch};

use super::history::{Commit, Files};

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The result is the commit's, byte for byte.
    Right,
    /// A patch cannot express it; why.
    Inexpressible(String),
    /// It was refused; why.
    Refused(String),
    /// It was refused, and something was changed all the same.
    Partial(String),
    /// The result is another one.
    Wrong(String),
}

/// One file's update, in memory.
pub(crate) fn file(before: &[u8], after: &[u8], style: &Style) -> (Outcome, String) {
    let hunks = match write_hunks(before, after, style) {
        Ok(hunks) => hunks,
        Err(problem) => return (Outcome::Inexpressible(problem.as_str().into()), String::new()),
    };
    let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
    let options = Options::new(style.dialect);
    let outcome = match parse(&text, &options.parse) {
        Err(error) => Outcome::Wrong(format!("it does not parse: {error}")),
        Ok(patch) => {
            match edit(
                before,
                patch.sections()[0].hunks(),
                &options.placement,
                options.final_newline,
            ) {
                Ok(edit) if edit.apply(before) == after => Outcome::Right,
                Ok(edit) => Outcome::Wrong(format!(
                    "placed at lines {:?}",
                    edit.placed.iter().map(|p| p.first_line).collect::<Vec<_>>()
                )),
                Err(rejects) => Outcome::Refused(rejects[0].reason.as_str().into()),
            }
        }
    };
    (outcome, text)
}

/// All files of a commit, in memory: additions, deletions and moves are right when they can be
/// expressed.
pub(crate) fn in_memory(commit: &Commit, style: &Style) -> Outcome {
    let (before, after) = commit.trees();
    if let Err(inexpressible) = write_patch(&before, &after, style) {
        return Outcome::Inexpressible(inexpressible[0].problem.as_str().into());
    }
    let mut refused = None;
    for (_, before, after) in commit.updates() {
        match file(before, after, style).0 {
            Outcome::Right => {}
            Outcome::Refused(why) => refused = refused.or(Some(why)),
            other => return other,
        }
    }
    refused.map_or(Outcome::Right, Outcome::Refused)
}

/// The whole road: files in `dir`, which is empty and stays so, a patch, a transaction.
pub(crate) fn on_disk(commit: &Commit, style: &Style, dir: &Path) -> Outcome {
    let (before, after) = commit.trees();
    let text = match write_patch(&before, &after, style) {
        Ok(text) => text,
        Err(inexpressible) => {
            return Outcome::Inexpressible(inexpressible[0].problem.as_str().into());
        }
    };
    if text.is_empty() {
        return Outcome::Right;
    }
    let options = Options::new(style.dialect);
    match parse(&text, &options.parse) {
        Ok(patch) => in_directory(commit, dir, &patch, options),
        Err(error) => Outcome::Wrong(format!("it does not parse: {error}")),
    }
}

/// The commit as git's own diff, by the whole road.
pub(crate) fn diff_on_disk(commit: &Commit, diff: &[u8], dialect: Profile, dir: &Path) -> Outcome {
    match diff::parse(diff, &DiffOptions::default()) {
        Ok(diff) => in_directory(commit, dir, &diff, Options::new(dialect)),
        Err(error) => Outcome::Refused(error.kind.as_str().into()),
    }
}

fn in_directory(commit: &Commit, dir: &Path, patch: &Patch, options: Options) -> Outcome {
    let root = dir.join("root");
    if let Err(error) = fs::create_dir(&root).and_then(|()| put(&root, &commit.before)) {
        let _ = fs::remove_dir_all(&root);
        return Outcome::Inexpressible(format!("this file system: {error}"));
    }
    let outcome = apply_in(&root, patch, options, commit);
    fs::remove_dir_all(&root).expect("files of ours");
    outcome
}

fn apply_in(root: &Path, patch: &Patch, mut options: Options, commit: &Commit) -> Outcome {
    options.create_parents = true;
    let mut policy = patch_engine::policy();
    policy.allow.push("**").expect("a glob");
    policy.names = fs_guard::NamePolicy::Native;
    let workspace = Workspace::open(root, policy).expect("a directory");
    let mut settings = ApplyOptions::new(options);
    settings.commit.durability = Durability::None;
    let applied = workspace.apply(patch, &settings, &mut ());
    let found = look(root);
    let wanted = if applied.is_ok() { &commit.after } else { &commit.before };
    let same = *wanted == found;
    match applied {
        Ok(_) if same => Outcome::Right,
        Ok(_) => Outcome::Wrong("on disk".into()),
        Err(failed) => {
            let why = match &failed.error {
                Error::Rejected(rejects) => rejects[0].reason().to_owned(),
                error => error.kind().as_str().to_owned(),
            };
            if same { Outcome::Refused(why) } else { Outcome::Partial(why) }
        }
    }
}

fn put(root: &Path, files: &Files) -> std::io::Result<()> {
    for (path, (bytes, kind)) in files {
        let at = root.join(path);
        fs::create_dir_all(at.parent().expect("beneath the root"))?;
        match kind {
            Kind::Other => std::os::unix::fs::symlink("nowhere", &at)?,
            Kind::Plain | Kind::Executable => {
                fs::write(&at, bytes)?;
                let mode = if *kind == Kind::Executable { 0o755 } else { 0o644 };
                fs::set_permissions(&at, fs::Permissions::from_mode(mode))?;
            }
        }
    }
    Ok(())
}

/// The files beneath `root`, without the program's own.
fn look(root: &Path) -> Files {
    let file = |(path, (mode, bytes)): (String, (u32, Vec<u8>))| match mode {
        LINK => (path, (Vec::new(), Kind::Other)),
        0 => (path, (bytes, Kind::Plain)),
        _ => (path, (bytes, Kind::Executable)),
    };
    takers::files(root).into_iter().map(file).collect()
}

/// Outcomes, counted.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) right: usize,
    pub(crate) inexpressible: BTreeMap<String, usize>,
    pub(crate) refused: BTreeMap<String, usize>,
    pub(crate) partial: Vec<String>,
    pub(crate) wrong: Vec<String>,
}

impl Tally {
    pub(crate) fn count(&mut self, name: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Right => self.right += 1,
            Outcome::Inexpressible(why) => *self.inexpressible.entry(why.clone()).or_default() += 1,
            Outcome::Refused(why) => *self.refused.entry(why.clone()).or_default() += 1,
            Outcome::Partial(why) => self.partial.push(format!("{name}: {why}")),
            Outcome::Wrong(why) => self.wrong.push(format!("{name}: {why}")),
        }
    }

    /// How many of the changes that can be expressed came out right, in per cent.
    pub(crate) fn share(&self) -> f64 {
        let refused: usize = self.refused.values().sum();
        let said = self.right + refused + self.partial.len() + self.wrong.len();
        if said == 0 { 100.0 } else { 100.0 * self.right as f64 / said as f64 }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sum = |counts: &BTreeMap<String, usize>| counts.values().sum::<usize>();
        let list = |counts: &BTreeMap<String, usize>| {
            let counts: Vec<_> =
                counts.iter().map(|(why, count)| format!("{count} {why}")).collect();
            if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) }
        };
        let tried = self.right
            + sum(&self.inexpressible)
            + sum(&self.refused)
            + self.partial.len()
            + self.wrong.len();
        write!(
            f,
            "{tried} tried, {} cannot be expressed{}; {} right ({:.2} %), {} refused{}, {} wrong, \
             {} partial",
            sum(&self.inexpressible),
            list(&self.inexpressible),
            self.right,
            self.share(),
            sum(&self.refused),
            list(&self.refused),
            self.wrong.len(),
            self.partial.len()
        )
    }
}
