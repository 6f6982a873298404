//! Applies the binary parts of a git diff: to the file that they were made for, and to no other.

use patch_grammar::binary::{Binary, BinaryKind};
use patch_text::git_id::is_blob;

/// The problem with a binary patch, and the file that it is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
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
