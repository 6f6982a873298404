//! The outcome of each hunk of a patch.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use patch_grammar::Patch;
use patch_text::locate::{Note, Placed, RejectReason};

use crate::plan::paths::names;
use crate::plan::reject::{Problem, Reject, Rejects};
use crate::plan::{Plan, PlanNote};

/// A hunk, and its outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HunkResult<'a> {
    /// The file, as the patch spells it.
    pub path: &'a str,
    /// The 0-based section, in the order of the text.
    pub section: usize,
    /// The 0-based hunk of the section, in the order of the text.
    pub hunk: usize,
    /// Its outcome.
    pub outcome: HunkOutcome<'a>,
}

/// The outcome of a hunk.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum HunkOutcome<'a> {
    /// It is applied. A hunk of a file that a diff deletes has no place.
    Applied(Option<&'a Placed>),
    /// The file has its change already, in these 1-based lines if they are known.
    AlreadyApplied(Option<RangeInclusive<usize>>),
    /// It, or its whole section, does not apply.
    Rejected(&'a Reject),
    /// It is not applied because something else in the patch does not apply. Whether it fits may be
    /// unknown.
    NotApplied,
}

impl<'a> HunkOutcome<'a> {
    /// Returns its stable name.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Applied(_) => "applied",
            Self::AlreadyApplied(_) => "already_applied",
            Self::Rejected(_) => "rejected",
            Self::NotApplied => "not_applied",
        }
    }

    pub(crate) fn of_placed(placed: &'a Placed) -> Self {
        if placed.notes.contains(&Note::AlreadyApplied) {
            let last = placed.first_line + placed.line_count.max(1) - 1;
            Self::AlreadyApplied(Some(placed.first_line..=last))
        } else {
            Self::Applied(Some(placed))
        }
    }

    fn of_reject(reject: &'a Reject) -> Self {
        match reject.hunk_reason() {
            Some(RejectReason::AlreadyApplied { lines }) => {
                Self::AlreadyApplied(Some(lines.clone()))
            }
            _ if matches!(reject.problem, Problem::SectionApplied(_)) => Self::AlreadyApplied(None),
            _ => Self::Rejected(reject),
        }
    }
}

impl<'a> HunkResult<'a> {
    /// Gives every hunk of a section the same outcome.
    pub(crate) fn of_section(
        patch: &'a Patch,
        index: usize,
        outcome: HunkOutcome<'a>,
    ) -> impl Iterator<Item = Self> {
        let section = &patch.sections()[index];
        (0..section.hunks().len()).map(move |hunk| Self {
            path: &section.path.text,
            section: patch.place_in_text(index),
            hunk: section.place_in_text(hunk),
            outcome: outcome.clone(),
        })
    }
}

impl Plan {
    /// Returns what becomes of each hunk, in the order of the sections.
    #[must_use]
    pub fn hunks(&self) -> Vec<HunkResult<'_>> {
        let Some(patch) = &self.patch else { return Vec::new() };
        let mut placed = self.placed.iter().peekable();
        let done: HashSet<usize> = self.notes.iter().filter_map(PlanNote::done).collect();
        let mut all = Vec::new();
        for (index, _) in self.sections() {
            let first = all.len();
            let outcome = if done.contains(&index) {
                HunkOutcome::AlreadyApplied(None)
            } else {
                HunkOutcome::Applied(None)
            };
            all.extend(HunkResult::of_section(patch, index, outcome));
            while let Some((_, at)) = placed.next_if(|(of, _)| *of == index) {
                all[first + at.hunk].outcome = HunkOutcome::of_placed(at);
            }
        }
        let there: HashMap<_, _> = self.notes.iter().filter_map(PlanNote::there_already).collect();
        for hunk in &mut all {
            if let Some(&lines) = there.get(&(hunk.path, hunk.hunk)) {
                hunk.outcome = HunkOutcome::AlreadyApplied(Some(lines.clone()));
            }
        }
        all
    }
}

impl PlanNote {
    /// Returns the section, if it says that one was left out as it is applied already.
    fn done(&self) -> Option<usize> {
        match self {
            Self::SectionApplied { section, .. } => Some(*section),
            _ => None,
        }
    }

    /// Returns the path, the hunk and the lines, if it says that a file that changed has the change
    /// of a hunk already.
    fn there_already(&self) -> Option<((&str, usize), &RangeInclusive<usize>)> {
        match self {
            Self::Carried { path, hunk, to, already_there: true, .. } => Some(((path, *hunk), to)),
            _ => None,
        }
    }
}

impl Rejects {
    /// Returns what becomes of each hunk of the refused patch: none is applied. Empty where it was
    /// not a patch that was refused.
    #[must_use]
    pub fn hunks(&self) -> Vec<HunkResult<'_>> {
        let Some(patch) = self.patch() else { return Vec::new() };
        let mut of_section: HashMap<usize, &Reject> = HashMap::new();
        let mut of_hunk: HashMap<(usize, usize), &Reject> = HashMap::new();
        for reject in self.iter() {
            let sections = patch.sections().iter().enumerate();
            match (reject.section, reject.hunk) {
                (Some(section), Some(hunk)) => {
                    of_hunk.entry((section, hunk)).or_insert(reject);
                }
                (Some(section), None) => {
                    of_section.entry(section).or_insert(reject);
                }
                (None, _) => sections.filter(|(_, section)| names(section, &reject.path)).for_each(
                    |(index, _)| {
                        of_section.entry(patch.place_in_text(index)).or_insert(reject);
                    },
                ),
            }
        }
        let mut all: Vec<_> = (0..patch.sections().len())
            .flat_map(|index| HunkResult::of_section(patch, index, HunkOutcome::NotApplied))
            .collect();
        for hunk in &mut all {
            let own = of_hunk.get(&(hunk.section, hunk.hunk));
            if let Some(reject) = own.or_else(|| of_section.get(&hunk.section)) {
                hunk.outcome = HunkOutcome::of_reject(reject);
            }
        }
        all
    }
}
