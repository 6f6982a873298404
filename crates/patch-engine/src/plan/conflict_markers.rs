//! Conflict markers that a plan brings into a file.

use std::sync::LazyLock;

use memchr::memmem;

use crate::plan::{Plan, PlanNote};

const START: &[u8] = b"<<<<<<< ";
const MIDDLE: &[u8] = b"=======";
const END: &[u8] = b">>>>>>> ";

/// Returns a note if a transition adds conflict markers to a file that had none.
pub(super) fn added(plan: &Plan, index: usize) -> Result<Option<PlanNote>, fs_guard::Error> {
    let transition = &plan.transitions[index];
    if !transition.writes(has, |lines| lines.marks.conflict) {
        return Ok(None);
    }
    let Some(line) = conflict(&plan.images().after(transition)?) else { return Ok(None) };
    let old = plan.former_bytes(index)?;
    let had = lines(&old).any(|line| begins(line) || line.starts_with(END));
    Ok((!had).then(|| PlanNote::ConflictMarkers { path: transition.path.to_string(), line }))
}

/// Returns whether a line may begin a conflict.
pub(super) fn begins(line: &[u8]) -> bool {
    line.starts_with(START)
}

fn has(bytes: &[u8]) -> bool {
    static MARKER: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(START));
    MARKER.find(bytes).is_some()
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Returns the 1-based line where the first whole conflict begins: the three markers in order.
fn conflict(bytes: &[u8]) -> Option<usize> {
    let mut start = None;
    let mut middle = false;
    for (index, line) in lines(bytes).enumerate() {
        if begins(line) {
            (start, middle) = (Some(index + 1), false);
        } else if line == MIDDLE {
            middle = start.is_some();
        } else if line.starts_with(END) {
            if middle {
                return start;
            }
            start = None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::conflict;

    #[test]
    fn a_conflict_has_three_markers_in_order() {
        for (text, line) in [
            ("<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", Some(1)),
            ("x\r\n<<<<<<< a\r\n=======\r\n>>>>>>> b", Some(2)),
            ("<<<<<<< a\n||||||| o\nx\n=======\n>>>>>>> b\n", Some(1)),
            ("<<<<<<< a\n<<<<<<< a\n=======\n>>>>>>> b\n", Some(2)),
            ("<<<<<<< a\n>>>>>>> b\n<<<<<<< a\n=======\n>>>>>>> b\n", Some(3)),
            ("Title\n=======\n", None),
            ("<<<<<<< a\n>>>>>>> b\n=======\n", None),
            ("=======\n<<<<<<< a\n>>>>>>> b\n", None),
            (" <<<<<<< a\n =======\n >>>>>>> b\n", None),
            ("<<<<<<<\n=======\n>>>>>>>\n", None),
            ("<<<<<<< a\n========\n>>>>>>> b\n", None),
            ("", None),
        ] {
            assert_eq!(conflict(text.as_bytes()), line, "{text:?}");
        }
    }
}
