//! The line numbers of a diff. They may choose among places with the same text, and never go
//! against the text.

use super::needle::Needle;

/// The distances between the stated lines of the hunks so far and their places.
#[derive(Debug, Default)]
pub(crate) struct Stated {
    offset: Option<isize>,
    /// The stated line of each hunk, and its distance.
    found: Vec<(usize, isize)>,
}

impl Stated {
    /// Chooses one of several exact places of a hunk: the stated line, or the line at the distance
    /// of the hunk above. Two different places leave the choice open. So does a third one at the
    /// distance of the next hunk below with only one place (`below`): the file may have changed
    /// above both. `stands` tells whether a line begins a place.
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

    /// How many lines of the file are above a hunk that only inserts and states `line` lines:
    /// shifted by the distance of the nearest hunk above. `None` if the nearest hunk below was
    /// found at another distance: the file has changed between the two, on an unknown side of the
    /// insertion.
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
