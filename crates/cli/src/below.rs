//! Where the paths of a patch begin that a person applies below the top of a work tree, without
//! `-C`: there or here.

use std::collections::HashSet;
use std::path::PathBuf;

use apply_patch_api::engine::{Options, Patch, Profile, is_git_diff, policy};
use apply_patch_api::files::{Access, FileKind, Root};
use apply_patch_api::grammar::{Section, SectionOperation};
use apply_patch_api::tools::input::PatchText;

use crate::args::From;
use crate::failure::Failure;
use crate::input::Input;

/// The directory that a person is in, and the top of the work tree around it.
#[derive(Debug)]
pub(crate) struct Below<'r> {
    here: &'r Root,
    top: Root,
    /// The way to the top, of `..`.
    up: PathBuf,
}

/// Where the paths of a patch begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Here,
    Top,
}

impl<'r> Below<'r> {
    /// Returns the place of a directory below the top of a work tree with the same owner; `None`
    /// for others.
    pub(crate) fn of(here: &'r Root) -> Option<Self> {
        if here.is_work_tree() {
            return None;
        }
        let policy = policy();
        let above = here.enclosing(&policy).find(|above| above.root.is_work_tree())?;
        // Nobody means files of somebody else, or the home directory, unless they say so.
        if above.root.common().is_some() || !above.root.is_writable_as(here) {
            return None;
        }
        let up = above.way?.components().map(|_| "..").collect();
        Some(Self { top: above.root, up, here })
    }

    /// Returns the way to the top, if the paths of the patch in these texts begin there.
    ///
    /// # Errors
    ///
    /// Where some new files would be here and others there.
    pub(crate) fn root_of(&self, sent: &[Input], from: &From) -> Result<Option<PathBuf>, Failure> {
        let Ok(how) = from.how() else { return Ok(None) };
        let options = Options::new(Profile::Codex);
        let mut patches = Vec::with_capacity(sent.len());
        for input in sent {
            let text = PatchText::read(&input.sent.text, &how, &options.parse).ok();
            // A text that does not parse is refused wherever its paths begin.
            let Some(patch) = text.and_then(|text| text.parse(&options).ok()) else {
                return Ok(None);
            };
            patches.push(patch);
        }
        Ok((self.place(&patches)? == Place::Top).then(|| self.up.clone()))
    }

    fn place(&self, patches: &[Patch]) -> Result<Place, Failure> {
        if patches.iter().any(is_git_diff) {
            return Ok(Place::Top);
        }
        let mut read: Vec<&Section<'_>> = Vec::new();
        let mut made: HashSet<&str> = HashSet::new();
        for section in patches.iter().flat_map(Patch::sections) {
            if is_new(section) {
                made.insert(&section.path.text);
            } else if !made.contains(&*section.path.text) {
                read.push(section);
            }
            made.extend(section.destination().map(|to| &*to.text));
        }
        if !read.is_empty() {
            let is_top = !read.iter().any(|section| has_file_of(self.here, section))
                && read.iter().all(|section| has_file_of(&self.top, section));
            return Ok(if is_top { Place::Top } else { Place::Here });
        }
        let mut at_top = made.iter().map(|path| self.belongs_at_top(path));
        let first = at_top.next() == Some(true);
        if at_top.any(|other| other != first) {
            let up = self.up.display();
            let message = format!(
                "some of the new files would be in directories of the top of the work tree, and \
                 others here: say which is meant with `-C {up}` or `-C .`"
            );
            return Err(Failure::Usage(message));
        }
        Ok(if first { Place::Top } else { Place::Here })
    }

    /// Returns whether the first directory of a new file is at the top, and not here.
    fn belongs_at_top(&self, path: &str) -> bool {
        let Some((first, _)) = path.split_once(['/', '\\']) else { return false };
        kind_at(&self.top, first).is_some() && kind_at(self.here, first).is_none()
    }
}

/// Returns whether a section makes a file, and reads none.
fn is_new(section: &Section<'_>) -> bool {
    match &section.operation {
        SectionOperation::Add(_) => true,
        SectionOperation::Update { move_to: None, hunks } => {
            matches!(&hunks[..], [hunk] if hunk.old_start == Some(0))
        }
        _ => false,
    }
}

/// Returns whether the file of a section exists, under one of its names.
fn has_file_of(root: &Root, section: &Section<'_>) -> bool {
    let names = section.old_name.iter().chain([&section.path]);
    names.into_iter().any(|name| {
        let kind = kind_at(root, &name.text.replace('\\', "/"));
        kind.is_some_and(|kind| kind != FileKind::Directory)
    })
}

/// Returns the kind of the entry at a path that may be read.
pub(crate) fn kind_at(root: &Root, path: &str) -> Option<FileKind> {
    let path = root.check(path, Access::Read).ok()?;
    Some(root.metadata(&path).ok()??.kind)
}
