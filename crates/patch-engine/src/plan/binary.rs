//! Applies the binary parts of a git diff: to the file that they were made for, and to no other.

use fs_guard::Hasher;
use patch_grammar::binary::{Binary, BinaryKind};
#[cfg(feature = "binary-diffs")]
use sha1::{Digest, Sha1};

/// What is wrong with a binary patch, and the file that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum BinaryProblem {
    /// The file is another one.
    #[error("the file is not the one that the binary patch was made for")]
    Mismatch,
    /// The file is already what the patch makes of it.
    #[error("the binary patch is applied already")]
    Applied,
    /// Nothing tells whether it is for this file.
    #[error(
        "the binary patch does not say which file it was made for: it has neither the id of that \
         file nor its bytes"
    )]
    Unknown,
    /// It makes another file than it says.
    #[error("the binary patch does not make the file whose id the diff has")]
    Result,
}

/// Returns the new file that a patch adds.
pub(super) fn made(binary: &Binary<'_>) -> Result<Vec<u8>, BinaryProblem> {
    let new = binary.forward.apply(b"").ok_or(BinaryProblem::Result)?;
    check_result(binary, &new)?;
    Ok(new)
}

/// Returns what a patch makes of a file.
pub(super) fn patched(binary: &Binary<'_>, old: &[u8]) -> Result<Vec<u8>, BinaryProblem> {
    if !is_old(binary, old)? {
        return Err(unfit(binary, old));
    }
    let new = binary.forward.apply(old).ok_or(BinaryProblem::Result)?;
    check_result(binary, &new)?;
    Ok(new)
}

/// Returns whether a file is the one that a patch is for. Its id tells, or its bytes. A delta that
/// brings a file back does not: it may do that for many files.
fn is_old(binary: &Binary<'_>, file: &[u8]) -> Result<bool, BinaryProblem> {
    if let Some(is_old) = binary.old_id.and_then(|id| is_blob(id, file)) {
        return Ok(is_old);
    }
    let literal = binary.reverse.filter(|part| part.kind == BinaryKind::Literal);
    let old = literal.and_then(|part| part.apply(b"")).ok_or(BinaryProblem::Unknown)?;
    Ok(old == file)
}

/// Checks that a file is the one that a patch deletes.
pub(super) fn check_deleted(binary: &Binary<'_>, old: &[u8]) -> Result<(), BinaryProblem> {
    if binary.forward.file_size > 0 {
        return Err(BinaryProblem::Result);
    }
    if is_old(binary, old)? { Ok(()) } else { Err(BinaryProblem::Mismatch) }
}

/// Says why a patch does not fit a file.
fn unfit(binary: &Binary<'_>, file: &[u8]) -> BinaryProblem {
    let is_new = match binary.new_id.and_then(|id| is_blob(id, file)) {
        Some(is_new) => is_new,
        // A delta cannot be applied to its own result.
        None => {
            binary.forward.kind == BinaryKind::Literal
                && binary.forward.apply(b"").is_some_and(|new| new == file)
        }
    };
    if is_new { BinaryProblem::Applied } else { BinaryProblem::Mismatch }
}

fn check_result(binary: &Binary<'_>, new: &[u8]) -> Result<(), BinaryProblem> {
    match binary.new_id.and_then(|id| is_blob(id, new)) {
        Some(false) => Err(BinaryProblem::Result),
        _ => Ok(()),
    }
}

/// The fewest digits of an id that tell files apart: as many as git abbreviates to.
const FEWEST_DIGITS: usize = 7;

/// How many digits an id has by SHA-1; more are SHA-256.
const SHA1_DIGITS: usize = 40;

/// Returns whether a file has this id in git, or one that begins with it; `None` if it has too few
/// digits, or is the one for no file.
fn is_blob(id: &str, bytes: &[u8]) -> Option<bool> {
    if id.len() < FEWEST_DIGITS || id.bytes().all(|digit| digit == b'0') {
        return None;
    }
    let id = id.to_ascii_lowercase();
    #[cfg(feature = "binary-diffs")]
    let by_sha1 = || blob_id(bytes).starts_with(&id);
    // No binary patch is read then.
    #[cfg(not(feature = "binary-diffs"))]
    let by_sha1 = || false;
    let by_sha256 = || {
        let mut hasher = Hasher::new();
        hasher.update(header(bytes).as_bytes());
        hasher.update(bytes);
        hasher.finish().to_string().starts_with(&id)
    };
    Some((id.len() <= SHA1_DIGITS && by_sha1()) || (id.len() != SHA1_DIGITS && by_sha256()))
}

/// Returns the id of a file in git, by SHA-1.
#[cfg(feature = "binary-diffs")]
pub(crate) fn blob_id(bytes: &[u8]) -> String {
    let hash = Sha1::new().chain_update(header(bytes)).chain_update(bytes).finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn header(bytes: &[u8]) -> String {
    format!("blob {}\0", bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        // `git hash-object`, with both object formats.
        let sha1 = "ce013625030ba8dba906f756967f9e9ca394464a";
        let sha256 = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";
        for (id, expected) in [
            (sha1, Some(true)),
            (&sha1[..7], Some(true)),
            (&sha1.to_ascii_uppercase(), Some(true)),
            (sha256, Some(true)),
            (&sha256[..7], Some(true)),
            (&sha256[..50], Some(true)),
            // The beginning of one that is as long as the other.
            (&sha256[..40], Some(false)),
            ("ce013625030ba8dba906f756967f9e9ca394464b", Some(false)),
            ("ce01363", Some(false)),
            // Too short; no file.
            ("ce0136", None),
            ("0000000", None),
            (&"0".repeat(40), None),
            ("", None),
        ] {
            assert_eq!(is_blob(id, b"hello\n"), expected, "{id}");
        }
    }
}
