//! Changes of one file by two sides, told apart.

use patch_grammar::binary::is_binary;
use patch_text::carry::{carry, difference};

/// Returns the mode bits `theirs` without the change from `base` to `ours`. `None` where both sides
/// changed them, each in its own way.
pub(crate) fn reverted_mode(base: u32, ours: u32, theirs: u32) -> Option<u32> {
    match theirs {
        theirs if theirs == ours || theirs == base => Some(base),
        theirs => (base == ours).then_some(theirs),
    }
}

/// Returns the text `theirs`, which something else made of `ours`, without the change from `base` to
/// `ours`. `None` where that is not certain, as [`carry`] has it, and for files that are no text.
pub(crate) fn reverted(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    if ours == theirs {
        return Some(base.to_vec());
    }
    if [base, ours, theirs].iter().any(|bytes| is_binary(bytes)) {
        return None;
    }
    let carried = carry(ours, theirs, &difference(ours, base)).ok()?;
    Some(carried.splices.apply(theirs))
}
