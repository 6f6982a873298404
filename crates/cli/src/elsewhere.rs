//! Files and changes that are not here, but in a directory around the root.

use std::path::Path;

use apply_patch_api::engine::commit::{LogEntry, Workspace};
use apply_patch_api::engine::{Problem, Rejects, SectionDone, commit};
use apply_patch_api::files::{Enclosing, FileKind, Root};

use crate::below::kind_at;
use crate::failure::Failure;
use crate::global::Global;
use crate::render;

/// A directory around the root that has what is missing here.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    /// The value of `-C` for it. It is never used without the person's word.
    pub(crate) dir: String,
    /// The sentence that says so.
    pub(crate) words: String,
}

/// Finds the files that a patch misses, or the changes that an undo misses.
pub(crate) fn find(failure: &Failure, global: &Global) -> Option<Elsewhere> {
    if let Some(dir) = directory(failure, global) {
        let words = format!("relative to {dir}, there is such a file: use `-C {dir}`");
        return Some(Elsewhere { dir, words });
    }
    match failure {
        Failure::Workspace(error) => match &**error {
            commit::Error::NothingTo { gone, .. } if gone.is_empty() => history(global),
            _ => None,
        },
        _ => None,
    }
}

/// Finds the nearest directory around the root whose history has changes of files beneath the root.
pub(crate) fn history(global: &Global) -> Option<Elsewhere> {
    let policy = global.settings.policy().ok()?;
    let root = Root::open(global.root(), policy.clone()).ok()?;
    for Enclosing { root: above, way, .. } in root.enclosing(&policy) {
        let path = way?;
        if above.path().parent().is_none() || !above.is_writable_as(&root) {
            return None;
        }
        let dir = shown(&above, path.components().count(), global);
        let log = Workspace::of(above, global.settings.state).log().ok()?;
        let beneath = format!("{path}/");
        let is_here = |entry: &&LogEntry| {
            entry.journal.records.iter().any(|record| record.path.starts_with(&beneath))
        };
        let count = log.iter().filter(is_here).count();
        if count > 0 {
            let count = render::count(count, "transaction");
            let words =
                format!("the history of {dir} has {count} that changed files here: use `-C {dir}`");
            return Some(Elsewhere { dir, words });
        }
    }
    None
}

/// A directory so many levels above the root, as the person would write it.
fn shown(above: &Root, levels: usize, global: &Global) -> String {
    if global.root() == Path::new(".") {
        vec![".."; levels].join("/")
    } else {
        above.path().display().to_string()
    }
}

/// The value of `-C` for which all missing files of a patch exist; `None` when there is none. The
/// value is never used without the person's word.
fn directory(failure: &Failure, global: &Global) -> Option<String> {
    let rejects: &Rejects = match failure {
        Failure::Rejected(rejected) => &rejected.1,
        Failure::Failed(failed) => match &failed.1.error {
            commit::Error::Rejected(rejects) => rejects,
            _ => return None,
        },
        _ => return None,
    };
    // Each missing path, and the kind of file wanted elsewhere.
    let missing = rejects.iter().map(|reject| match &reject.problem {
        Problem::Missing | Problem::SectionApplied(SectionDone::Deleted) => {
            Some((reject.path.as_str(), FileKind::File))
        }
        Problem::MissingParent { directory } => Some((directory.as_str(), FileKind::Directory)),
        _ => None,
    });
    let missing = missing.collect::<Option<Vec<_>>>()?;
    // A directory of the same name alone is no evidence.
    missing.iter().find(|(_, kind)| *kind == FileKind::File)?;
    let policy = global.settings.policy().ok()?;
    if global.is_below {
        let here = Root::open(Path::new("."), policy).ok()?;
        return has_all(&here, &missing).then(|| ".".to_owned());
    }
    let root = Root::open(global.root(), policy.clone()).ok()?;
    if root.is_work_tree() {
        return None;
    }
    for Enclosing { root: above, way, .. } in root.enclosing(&policy) {
        let path = way?;
        // No one means a file in a directory that another user owns.
        if above.path().parent().is_none() || !above.is_writable_as(&root) {
            return None;
        }
        if has_all(&above, &missing) {
            return Some(shown(&above, path.components().count(), global));
        }
        if above.is_work_tree() {
            return None;
        }
    }
    None
}

fn has_all(root: &Root, missing: &[(&str, FileKind)]) -> bool {
    missing.iter().all(|(path, kind)| kind_at(root, path) == Some(*kind))
}
