//! Sections applied already: an added file is there, a deleted one is not, or a file has moved.
//!
//! Asked only where a section does not apply. `--skip-applied` leaves such a section out.

use patch_grammar::{AddedLines, SectionOperation};
use patch_text::locate::Note;

use fs_guard::{Access, Sha256};

use crate::plan::links::LinkTexts;
use crate::plan::planner::Planner;
use crate::plan::reject::{Problem, Rejects};
use crate::plan::section_done::SectionDone;
use crate::plan::step::Step;
use crate::plan::{PlanNote, binary};

impl<'p> Planner<'_, 'p> {
    /// Returns why a section does not apply. Where the section is applied already, this is the
    /// reason, or nothing where such sections are left out.
    pub(super) fn unless_applied(&mut self, step: &Step<'p>, rejects: Rejects) -> Option<Rejects> {
        let Some(done) = self.section_done(step, &rejects) else { return Some(rejects) };
        if self.options.placement.skip_applied {
            let path = step.to.text.to_string();
            self.builder.note(PlanNote::SectionApplied { path, section: step.index, done });
            return None;
        }
        // A name like one of a file was probably meant for the file.
        let missing = step.reject(Problem::Missing).among(self.files().clone());
        if done == SectionDone::Deleted && missing.near.is_some() {
            return Some(rejects);
        }
        Some(step.reject(Problem::SectionApplied(done)).into())
    }

    /// Returns the effect of a section applied already.
    fn section_done(&mut self, step: &Step<'p>, rejects: &Rejects) -> Option<SectionDone> {
        let mut problems = rejects.iter().map(|reject| &reject.problem);
        let is_missing = problems.clone().any(|problem| matches!(problem, Problem::Missing));
        let exists = problems.clone().any(|problem| matches!(problem, Problem::Exists { .. }));
        if problems.any(|one| matches!(one, Problem::SectionApplied(SectionDone::AtCommit))) {
            return Some(SectionDone::AtCommit);
        }
        let section = step.section;
        match &section.operation {
            SectionOperation::Add(_) | SectionOperation::Update { .. }
                if section.submodule.is_some() =>
            {
                None
            }
            SectionOperation::Add(lines) if exists => {
                self.is_made(step, lines).then_some(SectionDone::Made)
            }
            SectionOperation::Delete(_) if is_missing => {
                let is_there = self.builder.exists(&step.at.text, Access::Delete).ok()?;
                (!is_there).then_some(SectionDone::Deleted)
            }
            SectionOperation::Update { move_to: Some(_), .. } if is_missing => {
                let is_there = self.builder.exists(&step.at.text, Access::Delete).ok()?;
                (!is_there && self.has_result(step)).then_some(SectionDone::Moved)
            }
            SectionOperation::Copy { .. } if exists => {
                self.is_copied(step).then_some(SectionDone::Copied)
            }
            _ => None,
        }
    }

    /// Returns whether the new file of a section is there, with these bytes and this mode.
    fn is_made(&mut self, step: &Step<'p>, lines: &AddedLines<'_>) -> bool {
        let section = step.section;
        if section.link {
            let wanted = LinkTexts::of(section).new;
            return self.builder.link_text(&step.at.text).is_ok_and(|found| found == wanted);
        }
        let Ok(Some(file)) = self.builder.load(&step.at.text) else { return false };
        let made = match &section.binary {
            Some(binary) => binary::made(binary).ok().map(|made| Sha256::of(&made)),
            None => self.texts.make(&file.path, lines).map(|added| added.post.sha256()),
        };
        made == Some(file.sha256()) && has_mode(step, file.is_executable())
    }

    /// Returns whether the file at the new path of a section is the section's result.
    fn has_result(&mut self, step: &Step<'p>) -> bool {
        let section = step.section;
        if let Ok(found) = self.builder.link_text(&step.to.text) {
            let wanted = LinkTexts::of(section).new;
            return wanted.is_empty() || section.link && wanted == found;
        }
        let Ok(Some(file)) = self.builder.load(&step.to.text) else { return false };
        if !has_mode(step, file.is_executable()) {
            return false;
        }
        if let Some(binary) = &section.binary {
            let patched = binary::patched(binary, &file.bytes);
            return matches!(patched, Err(binary::BinaryProblem::Applied));
        }
        // All hunks are applied, and nothing else is asked of the file.
        section.hunks().is_empty()
            || self.apply_as(step, &file, true).is_some_and(|edit| {
                edit.placed.iter().all(|placed| placed.notes.contains(&Note::AlreadyApplied))
            })
    }

    /// Returns whether the copy of a section is there.
    fn is_copied(&mut self, step: &Step<'p>) -> bool {
        let section = step.section;
        let Ok(from) = self.builder.load_original(&step.at.text) else { return false };
        let Ok(Some(copy)) = self.builder.load(&step.to.text) else { return false };
        let wanted = match &section.binary {
            Some(binary) => binary::patched(binary, &from.bytes).ok(),
            None if section.hunks().is_empty() => Some(from.bytes.to_vec()),
            None => {
                let edit = self.apply_as(step, &from, false);
                edit.map(|edit| edit.apply(&from.bytes))
            }
        };
        wanted.is_some_and(|wanted| wanted == *copy.bytes) && has_mode(step, copy.is_executable())
    }
}

/// Returns whether a section states no right to run the file, or this one.
fn has_mode(step: &Step<'_>, executable: bool) -> bool {
    step.executable.is_none_or(|wanted| wanted == executable)
}
