//! Merges as stale patches: what one side changed is a patch of the base, and the file is the other
//! side's.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use patch_engine::carry::carry;
use patch_engine::{Edit, HunkReject, Options, Patch, Profile, edit, parse};
use patch_grammar::diff::{self, DiffOptions};
use testutils::write::{Style, write_hunks};

use super::history::MergedFile;

/// The ways that are compared.
pub(crate) const WAYS: [&str; 4] =
    ["carry, git's diff", "carry, envelope", "codex, envelope", "git merge-file"];

/// How one way went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fared {
    /// The result is what was committed.
    Right,
    /// It is not, but it is what `git merge-file` gives without conflict.
    Alike,
    /// It was refused, for this reason.
    Refused(&'static str),
    /// The result is another one.
    Wrong,
}

/// Tries all ways. The files for git are made in `dir`.
pub(crate) fn fared(file: &MergedFile, dir: &Path) -> [Fared; WAYS.len()] {
    let options = Options::new(Profile::Codex);
    let merged = merge_file([&file.ours, &file.base, &file.theirs], dir);
    let carried = |edit: Edit| match carry(&file.base, &file.ours, &edit) {
        Ok(carried) => Ok(carried.splices.apply(&file.ours)),
        Err(_) => Err("conflict"),
    };
    let by_diff = || {
        let patch = diff::parse(&file.diff, &DiffOptions::default()).map_err(|_| "diff")?;
        carried(place(&file.base, &patch, &options).map_err(|_| "base")?)
    };
    let hunks = write_hunks(&file.base, &file.theirs, &Style::new(Profile::Codex));
    let text =
        hunks.map(|hunks| format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n"));
    let patch = text
        .as_ref()
        .map(|text| parse(text, &options.parse).expect("we wrote it"))
        .map_err(|_| "inexpressible");
    let by_envelope = || {
        carried(
            place(&file.base, patch.as_ref().map_err(|why| *why)?, &options).map_err(|_| "base")?,
        )
    };
    let placed = || {
        let edit = place(&file.ours, patch.as_ref().map_err(|why| *why)?, &options);
        Ok(edit.map_err(|rejects| rejects[0].reason.as_str())?.apply(&file.ours))
    };
    let judge = |result: Result<Vec<u8>, &'static str>| match result {
        Err(why) => Fared::Refused(why),
        Ok(bytes) if bytes == file.merged => Fared::Right,
        Ok(bytes) if merged.as_ref() == Some(&bytes) => Fared::Alike,
        Ok(_) => Fared::Wrong,
    };
    let by_git = merged.clone().ok_or("conflict");
    [by_diff(), by_envelope(), placed(), by_git].map(judge)
}

/// Places the hunks of the one update.
fn place(file: &[u8], patch: &Patch, options: &Options) -> Result<Edit, Vec<HunkReject>> {
    let hunks = patch.sections().first().map_or(&[][..], |section| section.hunks());
    edit(file, hunks, &options.placement, options.final_newline)
}

/// What `git merge-file` makes of a file, its base and another file, if there is no conflict. The
/// files for git are made in `dir`.
pub(crate) fn merge_file(files: [&[u8]; 3], dir: &Path) -> Option<Vec<u8>> {
    for (name, bytes) in ["ours", "base", "theirs"].into_iter().zip(files) {
        fs::write(dir.join(name), bytes).expect("a file of ours");
    }
    let mut git = Command::new("git");
    git.current_dir(dir)
        .args(["merge-file", "--quiet", "--stdout", "ours", "base", "theirs"])
        .stdin(Stdio::null());
    let output = git.output().expect("git runs");
    output.status.success().then_some(output.stdout)
}

/// Outcomes of one way, counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) right: usize,
    pub(crate) alike: usize,
    pub(crate) refused: std::collections::BTreeMap<&'static str, usize>,
    pub(crate) wrong: Vec<String>,
}

impl Counts {
    pub(crate) fn count(&mut self, name: &str, fared: Fared) {
        match fared {
            Fared::Right => self.right += 1,
            Fared::Alike => self.alike += 1,
            Fared::Refused(why) => *self.refused.entry(why).or_default() += 1,
            Fared::Wrong => self.wrong.push(name.to_owned()),
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let refused: usize = self.refused.values().sum();
        let why: Vec<String> =
            self.refused.iter().map(|(why, count)| format!("{count} {why}")).collect();
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(", ")) };
        write!(
            f,
            "{} right, {} alike, {refused} refused{why}, {} wrong",
            self.right,
            self.alike,
            self.wrong.len()
        )
    }
}
