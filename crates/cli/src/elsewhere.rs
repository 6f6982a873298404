//! Files that a patch names and that are not there, but are relative to a directory around the
//! root.

use std::path::Path;

use apply_patch_api::engine::{Problem, Rejects, SectionDone, commit};
use apply_patch_api::files::{Enclosing, FileKind, Root};

use crate::below::kind_at;
use crate::failure::Failure;
use crate::global::Global;

/// The value of `-C` for which all missing files of a patch exist; `None` when there is none. The
/// value is never used without the person's word.
pub(crate) fn directory(failure: &Failure, global: &Global) -> Option<String> {
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
            let up = vec![".."; path.components().count()].join("/");
            let here = global.root() == Path::new(".");
            return Some(if here { up } else { above.path().display().to_string() });
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
