//! The names that people have for commits.

use crate::commit::{CommitObject, tag_target};
use crate::error::{Error, Result};
use crate::id::{Id, ObjectKind};
use crate::object::Object;
use crate::refs;
use crate::repository::Repository;

/// A commit and its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolved {
    /// The commit.
    pub commit: Id,
    /// Its tree.
    pub tree: Id,
}

/// Longer chains of tags on tags are an attack.
const TAGS: usize = 32;

fn invalid(revision: &str, problem: &'static str) -> Error {
    Error::InvalidRevision { revision: revision.into(), problem }
}

impl Repository {
    /// Finds the commit that a revision names: a branch, a tag, another ref, an id or the start of
    /// one, `HEAD` or `@`, each with any number of `~N`, `^N` and `^{commit}` behind.
    ///
    /// Files in `refs/replace` are ignored: the object read is the one that has the id.
    ///
    /// # Errors
    ///
    /// [`UnknownRevision`](crate::Error::UnknownRevision),
    /// [`InvalidRevision`](crate::Error::InvalidRevision), [`WrongKind`](crate::Error::WrongKind)
    /// for an object other than a commit, and the errors of reading objects and refs.
    pub fn resolve(&self, revision: &str) -> Result<Resolved> {
        let base = revision.find(['~', '^']).unwrap_or(revision.len());
        let (base, mut steps) = revision.split_at(base);
        let mut commit = peel(self, name(self, base, revision)?)?;
        while let Some(mark) = steps.chars().next() {
            steps = &steps[1..];
            if mark == '^' && steps.starts_with('{') {
                let end = steps
                    .find('}')
                    .ok_or_else(|| invalid(revision, "a brace that is not closed"))?;
                if !matches!(&steps[1..end], "" | "commit") {
                    return Err(invalid(revision, "only a commit can be used"));
                }
                steps = &steps[end + 1..];
                continue;
            }
            let digits = steps.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(steps.len());
            let count = match &steps[..digits] {
                "" => 1,
                number => number
                    .parse::<u32>()
                    .map_err(|_| invalid(revision, "a number that is too large"))?,
            };
            steps = &steps[digits..];
            match mark {
                '~' => {
                    for _ in 0..count {
                        commit = parent(self, commit, 1, revision)?;
                    }
                }
                '^' if count == 0 => {}
                '^' => commit = parent(self, commit, count as usize, revision)?,
                _ => return Err(invalid(revision, "`~` and `^` are all that may follow a name")),
            }
        }
        let tree = self.commit(commit)?.tree;
        Ok(Resolved { commit, tree })
    }
}

fn parent(repository: &Repository, commit: Id, nth: usize, revision: &str) -> Result<Id> {
    let CommitObject { parents, .. } = repository.commit(commit)?;
    parents
        .get(nth - 1)
        .copied()
        .ok_or_else(|| Error::UnknownRevision { revision: revision.into() })
}

/// Follows tags to the commit that they are for.
fn peel(repository: &Repository, mut id: Id) -> Result<Id> {
    for _ in 0..TAGS {
        let Object { kind, bytes } =
            repository.objects().read_any(id, ObjectKind::Commit, u64::MAX)?;
        match kind {
            ObjectKind::Commit => return Ok(id),
            ObjectKind::Tag => id = tag_target(id, &bytes)?,
            found => return Err(Error::WrongKind { id, found, wanted: ObjectKind::Commit }),
        }
    }
    Err(Error::CorruptObject { id, problem: "too many tags for tags".into() })
}

/// Finds a name in git's order: an id, a ref, the start of an id.
fn name(repository: &Repository, name: &str, revision: &str) -> Result<Id> {
    if let Some(id) = Id::from_hex(name.as_bytes()) {
        repository.objects().forget(id);
        return Ok(id);
    }
    if name.contains("@{") || name.contains(':') || name.contains("..") || revision.is_empty() {
        return Err(invalid(revision, "only the name of a ref, an id, `~` and `^` are understood"));
    }
    let name = if name == "@" { "HEAD" } else { name };
    let own =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    for (before, after) in [
        ("", ""),
        ("refs/", ""),
        ("refs/tags/", ""),
        ("refs/heads/", ""),
        ("refs/remotes/", ""),
        ("refs/remotes/", "/HEAD"),
    ] {
        let full = format!("{before}{name}{after}");
        // Other files of the git directory are not refs.
        if !(full.starts_with("refs/") || own) || !refs::is_valid(&full) {
            continue;
        }
        if let (_, Some(id)) = refs::follow(repository.layout(), &full)? {
            return Ok(id);
        }
    }
    if (4..2 * Id::LEN).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_hexdigit())
        && let Some(id) = repository.objects().abbreviated(&name.to_ascii_lowercase())?
    {
        return Ok(id);
    }
    Err(Error::UnknownRevision { revision: revision.into() })
}
