//! Maps the indentation of the patch to the indentation of the file.
//!
//! The matched lines of a hunk are this map, and its insertions are indented by it: the indentation
//! of a matched line becomes the file's. Any other indentation is worked out by every
//! [`IndentRule`] that explains all the matched lines; the rules have to agree, or the indentation
//! stays unknown. So nothing is guessed: a patch with 4 blanks in place of 8 may have lost 4
//! blanks, or may indent by 4 where the file indents by 8, and its 8 blanks may then stand for 12
//! or for 16.

use std::collections::{BTreeMap, BTreeSet};

/// How many blanks people and models indent by.
const WIDTHS: [usize; 4] = [2, 3, 4, 8];

/// The indentation of the file, as far as the matched lines tell it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Levels<'a> {
    /// The indentation of the file, by that of the patch.
    known: BTreeMap<&'a [u8], &'a [u8]>,
    /// The indentations of replaced lines. New lines follow them, even where context is indented
    /// otherwise.
    replaced: BTreeSet<&'a [u8]>,
}

impl<'a> Levels<'a> {
    /// Adds a matched line. Returns whether the line agrees with the ones before: one indentation
    /// of the patch stands for one of the file.
    pub(crate) fn learn(&mut self, patch: &'a [u8], file: &'a [u8], is_replaced: bool) -> bool {
        if is_replaced {
            self.replaced.insert(patch);
        }
        *self.known.entry(patch).or_insert(file) == file
    }

    /// Returns the file's indentation for each of `wanted`, the indentations of the inserted lines.
    ///
    /// # Errors
    ///
    /// An indentation that the matched lines do not tell.
    pub(crate) fn find<'p>(
        &self,
        wanted: &BTreeSet<&'p [u8]>,
    ) -> Result<BTreeMap<&'p [u8], Vec<u8>>, &'p [u8]> {
        let mut found: BTreeMap<&[u8], Vec<u8>> = BTreeMap::new();
        // Shallow ones first: a line one unit deeper than another one is a level of its own.
        for &patch in wanted {
            let file = match self.known.get(patch) {
                _ if self.known.iter().all(|(patch, file)| patch == file) => patch.to_vec(),
                Some(&file) if self.is_told(patch) => file.to_vec(),
                Some(_) => self.same_as_context(patch).ok_or(patch)?,
                None => self.work_out(patch, &found).ok_or(patch)?,
            };
            found.insert(patch, file);
        }
        Ok(found)
    }

    /// Whether new lines follow the matched lines with this indentation. Context that is indented
    /// as in the file is no evidence: a model may have copied the context, and still indent its own
    /// lines otherwise.
    fn is_told(&self, patch: &[u8]) -> bool {
        patch.is_empty() || self.known[patch] != patch || self.replaced.contains(patch)
    }

    /// Returns the known indentations that begin like this one.
    fn like(&self, patch: &[u8]) -> Vec<(&'a [u8], &'a [u8])> {
        let first = self.kind(patch);
        self.known
            .iter()
            .map(|(&patch, &file)| (patch, file))
            .filter(|(patch, _)| patch.is_empty() || patch.first() == first)
            .collect()
    }

    /// Returns what an indentation begins with, and for none what others do.
    fn kind<'k>(&'k self, patch: &'k [u8]) -> Option<&'k u8> {
        patch.first().or_else(|| self.known.keys().filter_map(|patch| patch.first()).min())
    }

    /// Returns the rules that explain those of the `known` indentations that new lines certainly
    /// follow.
    fn rules_of_told(&self, known: &[(&'a [u8], &'a [u8])]) -> Vec<IndentRule<'a>> {
        let told: Vec<_> = known.iter().copied().filter(|(patch, _)| self.is_told(patch)).collect();
        if told.iter().all(|(patch, _)| patch.is_empty()) {
            return Vec::new();
        }
        IndentRule::explaining(&told)
    }

    /// Returns an indentation that context shares in patch and file, if it means the same in a new
    /// line.
    fn same_as_context(&self, patch: &[u8]) -> Option<Vec<u8>> {
        let rules = self.rules_of_told(&self.like(patch));
        let is_same = rules.iter().all(|rule| rule.apply(patch).as_deref() == Some(patch));
        is_same.then(|| patch.to_vec())
    }

    /// Returns the one result of all rules for an indentation that no matched line has.
    fn work_out(&self, wanted: &[u8], found: &BTreeMap<&[u8], Vec<u8>>) -> Option<Vec<u8>> {
        let kind = self.kind(wanted);
        let mut in_files = self.known.values().copied().filter(|file| !file.is_empty()).peekable();
        if self.known.keys().all(|patch| patch.first() != kind)
            && self.known.keys().any(|patch| !patch.is_empty())
            && in_files.peek().is_some()
            && in_files.all(|file| file.iter().all(|byte| Some(byte) == kind))
        {
            // The matched lines have tabs for the file's blanks, or the reverse, and this line has
            // what the file has.
            return Some(wanted.to_vec());
        }
        let known = self.like(wanted);
        let rules = IndentRule::explaining(&known);
        let told = self.rules_of_told(&known);
        let mut results = rules.iter().chain(&told).map(|rule| rule.apply(wanted));
        let first = results.next()??;
        if rules.is_empty() || !results.all(|result| result.as_ref() == Some(&first)) {
            return None;
        }
        let levels = known.iter().map(|(patch, _)| *patch).chain(found.keys().copied());
        let levels: Vec<&[u8]> = levels.collect();
        let is_reached =
            rules.iter().any(|rule| rule.is_seen(&known) && rule.reaches(wanted, &levels));
        is_reached.then_some(first)
    }
}

/// A possible difference between the indentation of a patch and the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
enum IndentRule<'a> {
    /// It does not.
    Same,
    /// The patch lacks these blanks at the beginning of each line.
    Add(&'a [u8]),
    /// The patch has these blanks too many.
    Remove(&'a [u8]),
    /// The patch indents by another unit; the rest of a line's indentation, as where the line is
    /// aligned with the one above, is blanks in both.
    Units {
        patch: Unit,
        file: Unit,
        /// How many levels deeper a line is in the file.
        deeper: isize,
    },
}

/// The indentation of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Tab,
    Blanks(usize),
}

impl Unit {
    /// Returns how many levels an indentation has, and how many blanks are left.
    fn levels(self, indentation: &[u8]) -> Option<(usize, usize)> {
        let tabs = indentation.iter().take_while(|byte| **byte == b'\t').count();
        let blanks = indentation.len() - tabs;
        if indentation[tabs..].iter().any(|byte| *byte != b' ') {
            return None;
        }
        match self {
            Self::Tab => Some((tabs, blanks)),
            Self::Blanks(width) => (tabs == 0).then_some((blanks / width, blanks % width)),
        }
    }

    fn write(self, levels: usize, blanks: usize) -> Vec<u8> {
        let mut indentation = match self {
            Self::Tab => vec![b'\t'; levels],
            Self::Blanks(width) => vec![b' '; levels * width],
        };
        indentation.resize(indentation.len() + blanks, b' ');
        indentation
    }
}

impl<'a> IndentRule<'a> {
    /// Returns the rules that explain the known indentations. A unit and a depth at once count only
    /// where nothing simpler explains them.
    fn explaining(known: &[(&'a [u8], &'a [u8])]) -> Vec<Self> {
        let Some(&(patch, file)) = known.iter().find(|(patch, file)| patch != file) else {
            return match known {
                // The margin alone tells nothing.
                [] | [([], _)] => Vec::new(),
                _ => vec![Self::Same],
            };
        };
        let add = file.strip_suffix(patch).map(Self::Add);
        let remove = patch.strip_suffix(file).map(Self::Remove);
        let units = std::iter::once(Unit::Tab)
            .chain(WIDTHS.map(Unit::Blanks))
            .filter_map(|unit| Self::units(unit, known));
        let rules = add.into_iter().chain(remove).chain(units);
        let mut rules: Vec<Self> = rules
            .filter(|rule| known.iter().all(|(patch, file)| rule.explains(patch, file)))
            .collect();
        if rules.iter().any(Self::is_simple) {
            rules.retain(Self::is_simple);
        }
        // Models forget the blank of a context line: then the other lines lack no blank.
        if rules.contains(&Self::Add(b" ")) {
            rules.push(Self::Same);
        }
        rules
    }

    /// Whether the rule is not a unit and a depth at once.
    fn is_simple(&self) -> bool {
        !matches!(self, Self::Units { deeper, .. } if *deeper != 0)
    }

    /// Returns the rule by which a patch indents by this unit, if there is one.
    fn units(patch: Unit, known: &[(&[u8], &[u8])]) -> Option<Self> {
        let mut points: Vec<(usize, usize)> = Vec::new();
        let mut aligned = false;
        let mut tabs = false;
        let mut blanks = false;
        for (of_patch, of_file) in known {
            let (levels, left) = patch.levels(of_patch)?;
            let (unit, left) = of_file.split_at(of_file.len().checked_sub(left)?);
            if left.iter().any(|byte| *byte != b' ') {
                return None;
            }
            aligned |= !left.is_empty();
            tabs |= unit.contains(&b'\t');
            blanks |= unit.contains(&b' ');
            points.push((levels, unit.len()));
        }
        points.sort_unstable();
        let first = points.first()?;
        let last = points.last()?;
        let (levels, len) = if first.0 == last.0 {
            *last
        } else {
            (last.0 - first.0, last.1.checked_sub(first.1)?)
        };
        let width = len.checked_div(levels).filter(|width| width * levels == len)?;
        let file = match (tabs, blanks, width) {
            (true, false, 1) => Unit::Tab,
            (false, true, width) if WIDTHS.contains(&width) => Unit::Blanks(width),
            _ => return None,
        };
        let deeper = (last.1 / width).cast_signed() - last.0.cast_signed();
        // A patch that loses levels loses all of them, and aligned lines do not tell both.
        let is_likely = deeper == 0 || (first.0 == 0 && !aligned);
        (patch != file && is_likely).then_some(Self::Units { patch, file, deeper })
    }

    fn explains(&self, patch: &[u8], file: &[u8]) -> bool {
        match self {
            Self::Add(blanks) => file.strip_suffix(patch) == Some(blanks),
            Self::Remove(blanks) => patch.strip_suffix(file) == Some(blanks),
            Self::Same | Self::Units { .. } => self.apply(patch).as_deref() == Some(file),
        }
    }

    /// Returns the file's indentation for one of the patch.
    fn apply(&self, wanted: &[u8]) -> Option<Vec<u8>> {
        match *self {
            Self::Same => Some(wanted.to_vec()),
            // Not tabs before blanks: these may be tabs in the file too.
            Self::Add(blanks) => is_all(wanted, blanks[0]).then(|| [blanks, wanted].concat()),
            Self::Remove(blanks) => wanted
                .strip_prefix(blanks)
                .filter(|left| is_all(left, blanks[0]))
                .map(<[u8]>::to_vec),
            Self::Units { patch, file, deeper } => {
                let (levels, left) = patch.levels(wanted)?;
                Some(file.write(levels.checked_add_signed(deeper)?, left))
            }
        }
    }

    /// Whether a line is indented by whole units, and not only aligned.
    fn is_seen(&self, known: &[(&[u8], &[u8])]) -> bool {
        let Self::Units { patch, .. } = self else { return true };
        known.iter().any(|(of_patch, _)| matches!(patch.levels(of_patch), Some((1.., 0))))
    }

    /// Whether an indentation is at most one unit deeper than the existing `levels`. A deeper one,
    /// or blanks that fill no unit and belong to no existing level, may be an alignment, which is
    /// the same in any unit.
    fn reaches(&self, wanted: &[u8], levels: &[&[u8]]) -> bool {
        let Self::Units { patch, .. } = self else { return true };
        let Some((depth, left)) = patch.levels(wanted) else { return false };
        let known: Vec<(usize, usize)> =
            levels.iter().filter_map(|level| patch.levels(level)).collect();
        let deepest = known.iter().map(|(depth, _)| *depth).max().unwrap_or_default();
        let is_known = known.iter().any(|level| level.0 == depth || level.1 == left);
        depth <= deepest + 1 && (left == 0 || is_known)
    }
}

/// Whether an indentation has no other byte than `blank`.
fn is_all(indentation: &[u8], blank: u8) -> bool {
    indentation.iter().all(|byte| *byte == blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `4` is 4 blanks, `t` a tab, `tt2` two tabs and two blanks, `0` nothing.
    fn blanks(text: &str) -> Vec<u8> {
        let mut blanks = Vec::new();
        for c in text.chars() {
            match c.to_digit(10) {
                Some(count) => blanks.resize(blanks.len() + count as usize, b' '),
                None => blanks.push(b'\t'),
            }
        }
        blanks
    }

    /// The file's indentations for the wanted ones, when the known ones are as given; `-` is before
    /// those of replaced lines.
    fn found(known: &str, wanted: &str) -> Option<Vec<Vec<u8>>> {
        let known: Vec<(Vec<u8>, Vec<u8>, bool)> = known
            .split_whitespace()
            .map(|pair| (pair.trim_start_matches('-').split_once('=').expect("patch=file"), pair))
            .map(|((patch, file), pair)| (blanks(patch), blanks(file), pair.starts_with('-')))
            .collect();
        let mut levels = Levels::default();
        for (patch, file, is_replaced) in &known {
            assert!(levels.learn(patch, file, *is_replaced), "{known:?}");
        }
        let wanted: Vec<Vec<u8>> = wanted.split_whitespace().map(blanks).collect();
        let all = levels.find(&wanted.iter().map(|wanted| &wanted[..]).collect()).ok()?;
        Some(wanted.iter().map(|wanted| all[&wanted[..]].clone()).collect())
    }

    #[test]
    fn the_matched_lines_tell_how_inserted_ones_are_indented() {
        for (known, wanted, result) in [
            // As in a matched line.
            ("0=0 4=t", "4 0", Some("t 0")),
            ("-4=8 -8=8", "4 8", Some("8 8")),
            ("4=8 8=8", "4 8", None),
            ("4=8 8=8", "4", Some("8")),
            // The indentation is the same: only other blanks differed.
            ("0=0", "4 t", Some("4 t")),
            ("4=4", "8 2", Some("8 2")),
            // Units.
            ("0=0 4=t", "8", Some("tt")),
            ("0=0 4=t", "8 66 88", Some("tt ttt tttt")),
            ("4=t", "8 0", Some("tt 0")),
            ("8=tt", "66 4", Some("ttt t")),
            ("0=0 t=4", "tt", Some("8")),
            ("tt=4", "ttt", Some("6")),
            ("0=0 2=4", "4", Some("8")),
            ("0=0 4=2", "8 66", Some("4 6")),
            ("0=0 8=88", "4", Some("8")),
            ("2=4 4=8", "6", Some("66")),
            ("4=2 8=4", "0", Some("0")),
            // Units, and a line that is aligned.
            ("0=0 4=t", "5", Some("t1")),
            ("4=t 5=t1", "8 9", Some("tt tt1")),
            ("0=0 4=4 8=t", "66", Some("t4")),
            // One depth, and the same unit.
            ("0=4", "4 8", Some("8 66")),
            ("0=4 4=8", "8", Some("66")),
            ("4=8 8=66", "0 66", Some("4 88")),
            ("4=0 8=4", "66", Some("8")),
            ("0=t", "t", Some("tt")),
            // A unit and a depth.
            ("0=t 4=tt", "8", Some("ttt")),
            ("0=4 4=6", "8", Some("8")),
            // Some lines of the patch are indented as in the file.
            ("t=t 4=t", "8 tt", Some("tt tt")),
            ("4=t", "t", Some("t")),
            ("0=0 t=4", "8", Some("8")),
            ("4=t 77=t77", "4", Some("t")),
            // Context is indented as in the file, and changed lines are not.
            ("4=4 -2=4", "2", Some("4")),
            ("4=4 -2=4", "4", None),
            ("0=0 -1=0", "0", Some("0")),
            ("4=4 -6=66", "4", None),
            ("4=4 -8=4", "4", None),
            ("6=6 -8=4", "66", None),
            ("4=4 -8=t", "4 66", Some("4 t4")),
            // There is more than one explanation.
            ("4=8", "8", None),
            ("4=8", "0", None),
            ("2=4", "4", None),
            ("8=4", "88", None),
            ("0=t", "4", None),
            // There is none.
            ("4=4 8=66", "66", None),
            ("4=t 8=t4", "66", None),
            ("4=0", "0", None),
            ("8=4", "0", None),
            // So deep a line is aligned rather than indented.
            ("0=0 4=t", "88", None),
            ("0=0 4=t", "9", None),
            // The blank before a context line was forgotten.
            ("3=4", "4", None),
            ("3=4 7=8", "66", None),
            ("3=4 7=8", "3 7", Some("4 8")),
        ] {
            let wanted_result =
                result.map(|result| result.split_whitespace().map(blanks).collect::<Vec<_>>());
            assert_eq!(found(known, wanted), wanted_result, "{known:?} {wanted:?}");
        }
        let mut levels = Levels::default();
        assert!(levels.learn(b"    ", b"\t", false));
        assert!(!levels.learn(b"    ", b"    ", false), "one indentation stands for two");
    }
}
