//! The lines of a hunk by kind.

use patch_grammar::{Line, LineKind};

/// Returns whether a line is context.
pub(super) fn is_context(line: &Line<'_>) -> bool {
    line.kind == LineKind::Context
}

/// Splits the lines of a hunk into runs of context and runs of changes.
pub(super) fn runs<'l, 'p>(lines: &'l [Line<'p>]) -> impl Iterator<Item = &'l [Line<'p>]> {
    lines.chunk_by(|one, other| is_context(one) == is_context(other))
}

/// Iterates over the lines of one kind.
pub(super) fn of_kind<'l, 'p>(
    lines: &'l [Line<'p>],
    kind: LineKind,
) -> impl Iterator<Item = &'l Line<'p>> {
    lines.iter().filter(move |line| line.kind == kind)
}
