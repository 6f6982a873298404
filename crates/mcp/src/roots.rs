//! The directories that a client names as its roots in the protocol with sessions. They can narrow
//! the workspace, and never widen it.

use apply_patch_api::engine::Remedy;
use apply_patch_api::engine::remedy::ForPerson;
use std::path::{Path, PathBuf};

use apply_patch_api::files::{Access, RelPath, Root};
use apply_patch_api::tools::{ErrorKind, FailureClass, Reason, ToolError};

/// Narrows the workspace to the roots: returns directories inside, or none for the whole workspace.
///
/// Roots other than directories here are skipped, but one has to be left: a client without a usable
/// root is not allowed everything.
pub(crate) fn narrowed<'u>(
    root: &Root,
    uris: impl IntoIterator<Item = &'u str>,
) -> Result<Vec<RelPath>, ToolError> {
    let ours = apply_patch_api::files::real_path(root.path())?;
    let mut within = Vec::new();
    let mut outside = None;
    let mut unusable = None;
    for uri in uris {
        let Some(theirs) =
            file_path(uri).and_then(|path| apply_patch_api::files::real_path(&path).ok())
        else {
            unusable = Some(uri);
            continue;
        };
        if ours.starts_with(&theirs) {
            return Ok(Vec::new());
        }
        match theirs.strip_prefix(&ours).ok().and_then(Path::to_str) {
            Some(inside) => within.push(root.check(inside, Access::Read)?),
            None => outside = Some(uri),
        }
    }
    match (outside, unusable) {
        _ if !within.is_empty() => Ok(within),
        (Some(uri), _) => {
            let message = format!(
                "the roots of the client, such as {uri}, lie outside of the workspace of this \
                 server"
            );
            Err(no_roots(
                ErrorKind::OutsideWorkspace,
                message,
                "start the server with --root in those directories",
            ))
        }
        (None, Some(uri)) => Err(refused(&format!(
            "none of the client's roots is the file: URI of an existing directory; one is {uri:?}"
        ))),
        (None, None) => Err(refused("the client says that it names roots, and names none")),
    }
}

/// Makes the error of a client whose roots are not known: nothing is touched.
pub(crate) fn refused(message: &str) -> ToolError {
    no_roots(ErrorKind::PermissionDenied, message, "open the folder of the workspace in the client")
}

/// Makes the error of a server started outside of a project, by a client without roots.
pub(crate) fn no_project(started: &str) -> ToolError {
    let message = format!(
        "the client started this server in {started}, which is not a project, and names no roots"
    );
    let what = "give `serve` the directory of the project, with --root, in the configuration of \
                the client";
    no_roots(ErrorKind::PermissionDenied, message, what)
}

/// Makes the error of a client whose roots cannot be used; `what` is what a person can do.
fn no_roots(kind: ErrorKind, message: impl Into<String>, what: &str) -> ToolError {
    ToolError::new(FailureClass::Refused, kind, message)
        .reason(Reason::NoRoots)
        .remedies([Remedy::Ask(ForPerson::Own(what.into()))])
}

/// Returns the path of a `file:` URI (RFC 8089) of this machine.
fn file_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests make directories")]

    use super::*;

    #[test]
    fn roots_narrow_and_never_widen() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().to_str().unwrap();
        std::fs::create_dir_all(dir.path().join("w/src/a b")).unwrap();
        std::fs::create_dir_all(dir.path().join("w/docs")).unwrap();
        std::fs::create_dir_all(dir.path().join("w2")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("w"), dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("w2"), dir.path().join("w/out")).unwrap();
        for (roots, expected) in [
            (&["w"][..], Some(&[][..])),
            (&[""], Some(&[])),
            (&["link"], Some(&[])),
            (&["w/src/a%20b"], Some(&["src/a b"])),
            (&["w/src", "w/docs", "w2"], Some(&["src", "docs"])),
            (&[], None),
            (&["w/none"], None),
            (&["w/none", "w/src"], Some(&["src"])),
            (&["link/docs"], Some(&["docs"])),
            (&["w2"], None),
            (&["w/out"], None),
            (&["w/src", "w"], Some(&[])),
        ] {
            let root =
                Root::open(&dir.path().join("link"), apply_patch_api::engine::policy()).unwrap();
            let uris: Vec<_> = roots.iter().map(|root| format!("file://{base}/{root}")).collect();
            let found = narrowed(&root, uris.iter().map(String::as_str)).ok();
            let found: Option<Vec<_>> =
                found.map(|paths| paths.iter().map(ToString::to_string).collect());
            assert_eq!(
                found,
                expected.map(|paths| paths.iter().map(ToString::to_string).collect()),
                "{roots:?}"
            );
        }
    }

    #[test]
    fn a_root_is_a_file_uri() {
        for (uri, path) in [
            ("file:///a/b%C3%A4", Some("/a/bä")),
            ("file://localhost/a", Some("/a")),
            ("file://other/a", None),
            ("https://x/a", None),
            ("/a", None),
            ("file:///a%2", None),
            ("file:///%ff", None),
        ] {
            assert_eq!(file_path(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}
