//! Files that a patch names and that are not there, but are relative to a directory around the root.

use fs_guard::{Access, FileKind, Root};
use patch_engine::{ApplyError, Problem, Rejects};

use crate::failure::Failure;
use crate::global::Global;

/// The value of `-C` with which all the files are found that a patch names and that are not there; `None` when there is none. It is
/// never used without the person's word.
pub(crate) fn directory(failure: &Failure, global: &Global) -> Option<String> {
    let rejects: &Rejects = match failure {
        Failure::Rejected(rejected) => &rejected.1,
        Failure::Failed(failed) => match &failed.1.error {
            ApplyError::Rejected(rejects) => rejects,
            _ => return None,
        },
        _ => return None,
    };
    let missing = |problem: &Problem| matches!(problem, Problem::Missing | Problem::MissingParent { .. });
    if rejects.iter().any(|reject| !missing(&reject.problem)) {
        return None;
    }
    let missing: Vec<&str> = rejects.iter().map(|reject| reject.path.as_str()).collect();
    let policy = global.settings.policy().ok()?;
    let root = Root::open(&global.root, policy.clone()).ok()?;
    if root.has_git() {
        return None;
    }
    for (above, path) in root.enclosing(&policy) {
        // Beyond what is this user's own nobody means a file.
        if above.path().parent().is_none() || !above.is_writable_as(&root) {
            return None;
        }
        let is_there = |path: &&str| {
            let path = above.check(path, Access::Read).ok()?;
            let seen = above.metadata(&path).ok()??;
            (seen.kind == FileKind::File).then_some(())
        };
        if missing.iter().all(|path| is_there(path).is_some()) {
            let up = vec![".."; path.components().count()].join("/");
            let here = global.root.as_os_str() == ".";
            return Some(if here { up } else { above.path().display().to_string() });
        }
        if above.has_git() {
            return None;
        }
    }
    None
}
