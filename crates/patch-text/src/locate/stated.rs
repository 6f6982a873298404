//! The lines that a diff states. They may choose among places where the text is the same, and never
//! go against the text.

use super::needle::Needle;

/// How far from the lines that they state the hunks so far were found.
#[derive(Debug, Default)]
pub(crate) struct Stated {
    offset: Option<isize>,
    /// The same of each hunk, with the line that it states.
    found: Vec<(usize, isize)>,
}

impl Stated {
    /// The one of several exact places of a hunk that the lines mean: the stated one, or the one
    /// that is as far from it as the hunk above was. Where both are places and not the same, none
    /// is meant, nor where another place is as far from its line as the next hunk below that has
    /// only one place (`below`): the file may have changed above both. `stands` tells of a line
    /// whether it begins a place.
    pub(crate) fn choose(
        &self,
        needle: &Needle<'_>,
        below: Option<isize>,
        stands: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let stated = needle.stated?;
        let here = Some(stated).filter(|&line| stands(line));
        let above = shifted(stated, self.offset).filter(|&line| stands(line));
        let chosen = here.or(above)?;
        let agrees = above.is_none_or(|line| line == chosen)
            && shifted(stated, below)
                .filter(|&line| stands(line))
                .is_none_or(|line| line == chosen);
        agrees.then_some(chosen)
    }

    /// Takes note of where a hunk was found.
    pub(crate) fn found(&mut self, needle: &Needle<'_>, line: usize) {
        if let Some(stated) = needle.stated {
            // Lines of a file are counted in 32 bits.
            let offset = line as isize - stated as isize;
            self.offset = Some(offset);
            self.found.push((stated, offset));
        }
    }

    /// How many lines of the file are above a hunk that only inserts and states `line` of them: as
    /// many more or less as the nearest hunk above was found from its line. `None` if the nearest
    /// hunk below was not found at the same distance: then the file has changed between them, and
    /// nothing says on which side of the insertion.
    pub(crate) fn lines_above(&self, line: usize) -> Option<usize> {
        let (above, below): (Vec<_>, Vec<_>) =
            self.found.iter().partition(|(stated, _)| *stated < line);
        let above = above.iter().max_by_key(|(stated, _)| *stated);
        let below = below.iter().min_by_key(|(stated, _)| *stated);
        let offset = above.map_or(0, |(_, offset)| *offset);
        if below.is_some_and(|(_, below)| *below != offset) {
            return None;
        }
        line.checked_add_signed(offset)
    }
}

/// The line that is `offset` lines below a stated one.
fn shifted(stated: usize, offset: Option<isize>) -> Option<usize> {
    stated.checked_add_signed(offset?)
}
