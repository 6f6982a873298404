//! Sections that are applied already: the file that one makes is there, the one that it deletes is
//! not, or a file has moved.
//!
//! It is asked only of a section that does not apply. `--skip-applied` leaves it out.

use patch_grammar::{AddedLines, Hunk, Section, SectionOperation, Spanned};
use patch_text::locate::Note;

use fs_guard::{Access, Sha256};

use crate::plan::PlanNote;
use crate::plan::binary;
use crate::plan::links::LinkTexts;
use crate::plan::planner::Planner;
use crate::plan::reject::{Problem, Reject, Rejects};
use crate::plan::section_done::SectionDone;

impl<'p> Planner<'_, 'p> {
    /// Returns why a section does not apply: if it is applied already, this is the reason, or
    /// nothing where such sections are left out.
    pub(super) fn unless_applied(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        rejects: Rejects,
    ) -> Option<Rejects> {
        let Some(done) = self.section_done(index, section, &rejects) else { return Some(rejects) };
        let path = &section.path.text;
        if self.options.placement.skip_applied {
            let path = section.destination().map_or(path, |to| &to.text).to_string();
            self.builder.notes.push(PlanNote::SectionApplied { path, section: index, done });
            return None;
        }
        // A name that is like one of a file was probably meant to be that.
        let missing = Reject::of(path, Problem::Missing).among(self.files().clone());
        if done == SectionDone::Deleted && missing.near.is_some() {
            return Some(rejects);
        }
        Some(Reject::of(path, Problem::SectionApplied(done)).into())
    }

    /// Returns what a section would do, if it is done.
    fn section_done(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        rejects: &Rejects,
    ) -> Option<SectionDone> {
        let fails = |wanted: &dyn Fn(&Reject) -> bool| rejects.iter().any(wanted);
        let is_missing = |reject: &Reject| matches!(reject.problem, Problem::Missing);
        let exists = |reject: &Reject| matches!(reject.problem, Problem::Exists { .. });
        let text = &*section.path.text;
        let at_commit = |reject: &Reject| {
            matches!(reject.problem, Problem::SectionApplied(SectionDone::AtCommit))
        };
        match &section.operation {
            _ if fails(&at_commit) => Some(SectionDone::AtCommit),
            SectionOperation::Add(_) | SectionOperation::Update { .. }
                if section.submodule.is_some() =>
            {
                None
            }
            SectionOperation::Add(lines) if fails(&exists) => {
                self.is_made(section, lines).then_some(SectionDone::Made)
            }
            SectionOperation::Delete(_) if fails(&is_missing) => {
                let is_there = self.builder.exists(text, Access::Delete).ok()?;
                (!is_there).then_some(SectionDone::Deleted)
            }
            SectionOperation::Update { move_to: Some(to), hunks } if fails(&is_missing) => {
                let is_there = self.builder.exists(text, Access::Delete).ok()?;
                (!is_there && self.has_result(index, section, to, hunks))
                    .then_some(SectionDone::Moved)
            }
            SectionOperation::Copy { to, hunks } if fails(&exists) => {
                self.is_copied(index, section, to, hunks).then_some(SectionDone::Copied)
            }
            _ => None,
        }
    }

    /// Returns whether the file is there that a section makes, with these bytes and this mode.
    fn is_made(&mut self, section: &Section<'_>, lines: &AddedLines<'_>) -> bool {
        let text = &*section.path.text;
        if section.link {
            let wanted = LinkTexts::of(section).new;
            return self.builder.link_text(text).is_ok_and(|found| found == wanted);
        }
        let Ok(Some(file)) = self.builder.load(text) else { return false };
        let made = match &section.binary {
            Some(binary) => binary::made(binary).ok().map(|made| Sha256::of(&made)),
            None => self.texts.make(&file.path, lines).map(|added| added.post.sha256()),
        };
        made == Some(file.sha256()) && has_mode(section, file.is_executable())
    }

    /// Returns whether the file at the new path of a section is the one that it leaves.
    fn has_result(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        to: &Spanned<'_>,
        hunks: &'p [Hunk<'p>],
    ) -> bool {
        if let Ok(found) = self.builder.link_text(&to.text) {
            let wanted = LinkTexts::of(section).new;
            return wanted.is_empty() || section.link && wanted == found;
        }
        let Ok(Some(file)) = self.builder.load(&to.text) else { return false };
        if !has_mode(section, file.is_executable()) {
            return false;
        }
        if let Some(binary) = &section.binary {
            let patched = binary::patched(binary, &file.bytes);
            return matches!(patched, Err(binary::BinaryProblem::Applied));
        }
        // All hunks are applied, and nothing else is asked of the file.
        hunks.is_empty()
            || self.apply_as(&file, index, hunks, true).is_some_and(|edit| {
                edit.placed.iter().all(|placed| placed.notes.contains(&Note::AlreadyApplied))
            })
    }

    /// Returns whether a copy is there, as a section makes it.
    fn is_copied(
        &mut self,
        index: usize,
        section: &'p Section<'p>,
        to: &Spanned<'_>,
        hunks: &'p [Hunk<'p>],
    ) -> bool {
        let Ok(from) = self.builder.load_original(&section.path.text) else { return false };
        let Ok(Some(copy)) = self.builder.load(&to.text) else { return false };
        let wanted = match &section.binary {
            Some(binary) => binary::patched(binary, &from.bytes).ok(),
            None if hunks.is_empty() => Some(from.bytes.to_vec()),
            None => {
                let edit = self.apply_as(&from, index, hunks, false);
                edit.map(|edit| edit.apply(&from.bytes))
            }
        };
        wanted.is_some_and(|wanted| wanted == *copy.bytes)
            && has_mode(section, copy.is_executable())
    }
}

/// Returns whether a section states no right to run the file, or this one.
fn has_mode(section: &Section<'_>, executable: bool) -> bool {
    section.executable.is_none_or(|wanted| wanted == executable)
}
