//! The plan of what was chosen.

use fs_guard::{Access, Sha256};
use patch_engine::commit;
use patch_engine::{FileVersion, Files, Options, Plan, PlanBuilder, Rejects, Splices};
use patch_text::diff;

use crate::choices::{Choice, Choices};
use crate::file::ReviewFile;
use crate::hunk::{HunkKind, HunkState, ReviewHunk};
use crate::review::Review;

impl Review {
    /// Plans what was chosen. All that belongs to no chosen hunk stays as it is.
    ///
    /// # Errors
    ///
    /// When a file has changed since the review was made, or the way back of a file is barred: by
    /// another file at its old path, or by the rules of the workspace.
    ///
    /// # Panics
    ///
    /// When a chosen hunk does not stand.
    pub fn plan(&self, files: impl Into<Files>, choices: &Choices) -> Result<Plan, commit::Error> {
        let files = files.into();
        let options = Options { create_parents: true, ..Options::default() };
        let mut builder = PlanBuilder::new(files.clone(), &options);
        let touched: Vec<_> = self.files.iter().filter(|file| file.is_chosen(choices)).collect();
        for file in &touched {
            file.check(&mut builder)?;
        }
        // Files that make way come first, then those that move back, then those that take a place.
        for file in &touched {
            if let Some(hunk) = file.chosen(HunkKind::Create, choices) {
                file.take_away(hunk, choices, &mut builder)?;
            }
        }
        for file in &touched {
            if file.chosen(HunkKind::Move, choices).is_some() {
                builder.rename(file.place(), &file.path).map_err(Rejects::from)?;
            }
        }
        for file in &touched {
            file.bring_back(choices, &mut builder)?;
        }
        self.plan_dirs(&touched, choices, &files, &mut builder)?;
        Ok(builder.finish()?)
    }

    /// Returns the paths of the chosen files: before and after the transactions.
    pub fn paths<'r>(&'r self, choices: &'r Choices) -> impl Iterator<Item = &'r str> {
        let touched = self.files.iter().filter(|file| file.is_chosen(choices));
        touched.flat_map(|file| [Some(&*file.path), file.to_path.as_deref()]).flatten()
    }

    /// Returns whether nothing is left of the transactions after what was chosen.
    #[must_use]
    pub fn reverts_all(&self, choices: &Choices) -> bool {
        self.hunks().all(|hunk| match hunk.state {
            HunkState::Standing => choices.0.get(&hunk.id) == Some(&Choice::Revert),
            state => state == HunkState::Reverted,
        })
    }

    /// Plans the directories: those made for a file that goes, and those removed with one that
    /// comes back; with all hunks, all of them.
    fn plan_dirs(
        &self,
        touched: &[&ReviewFile],
        choices: &Choices,
        files: &Files,
        builder: &mut PlanBuilder<'_>,
    ) -> Result<(), commit::Error> {
        if choices.is_empty() {
            return Ok(());
        }
        let is_all = self.reverts_all(choices);
        let left = touched.iter().filter(|file| file.leaves(choices)).map(|file| file.place());
        let left: Vec<&str> = left.collect();
        for dir in self.turn.made_dirs().iter().rev() {
            if is_all || left.iter().any(|path| is_beneath(path, dir)) {
                builder.remove_dir(files.check(dir, Access::Read)?);
            }
        }
        for (dir, mode) in self.turn.removed_dirs() {
            if is_all || touched.iter().any(|file| is_beneath(&file.path, dir)) {
                builder.restore_dir(files.check(dir, Access::Read)?, *mode, is_all);
            }
        }
        Ok(())
    }
}

fn is_beneath(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

impl ReviewFile {
    fn is_chosen(&self, choices: &Choices) -> bool {
        self.hunks.iter().any(|hunk| choices.0.contains_key(&hunk.id))
    }

    /// Returns whether the file leaves its present place.
    fn leaves(&self, choices: &Choices) -> bool {
        [HunkKind::Create, HunkKind::Move].iter().any(|kind| self.chosen(*kind, choices).is_some())
    }

    fn chosen(&self, kind: HunkKind, choices: &Choices) -> Option<&ReviewHunk> {
        let mut hunks = self.hunks.iter().filter(|hunk| hunk.kind == kind);
        hunks.find(|hunk| choices.0.contains_key(&hunk.id))
    }

    /// Fails if the file has changed since the review.
    fn check(&self, builder: &mut PlanBuilder<'_>) -> Result<(), commit::Error> {
        match &self.now {
            // The guard looks at links when they are taken away.
            Some(now) if now.link => Ok(()),
            Some(now) => match builder.load(&now.path).map_err(Rejects::from)? {
                Some(loaded) if Sha256::of(&loaded.bytes) == now.sha256 => Ok(()),
                _ => Err(fs_guard::Error::Changed { path: self.place().to_owned() }.into()),
            },
            // To create a file fails where one is.
            None => Ok(()),
        }
    }

    /// Plans what becomes of a created file.
    fn take_away(
        &self,
        hunk: &ReviewHunk,
        choices: &Choices,
        builder: &mut PlanBuilder<'_>,
    ) -> Result<(), Rejects> {
        match &choices.0[&hunk.id] {
            Choice::Revert => builder.remove(&self.path)?,
            Choice::Replace(text) => {
                let now = self.now.as_ref().map_or(&[][..], |now| &now.bytes);
                builder.update(&self.path, replaced(now, 0, text))?;
            }
        }
        Ok(())
    }

    /// Plans what comes back: a deleted file, the mode, the lines, the bytes.
    fn bring_back(&self, choices: &Choices, builder: &mut PlanBuilder<'_>) -> Result<(), Rejects> {
        if self.chosen(HunkKind::Delete, choices).is_some() {
            return Ok(builder.bring_back(&self.path, self.before())?);
        }
        let path = match self.chosen(HunkKind::Move, choices) {
            Some(_) => &*self.path,
            None => self.place(),
        };
        if self.chosen(HunkKind::Bytes, choices).is_some() {
            let before = self.before();
            if before.link {
                builder.remove(path)?;
                return Ok(builder.bring_back(path, before)?);
            }
            let bytes = before.bytes.as_ref().expect("the bytes of a standing hunk are known");
            let now = self.now.as_ref().map_or(0, |now| now.bytes.len());
            let mut whole = Splices::new();
            whole.push(0..now, bytes.to_vec());
            builder.update(path, whole)?;
        }
        let lines = self.lines(choices);
        if !lines.is_empty() {
            builder.update(path, lines)?;
        }
        if self.chosen(HunkKind::Mode, choices).is_some() {
            builder.set_executable(path, self.before().mode & 0o100 != 0)?;
        }
        Ok(())
    }

    /// Returns the replacements of the chosen hunks of lines.
    fn lines(&self, choices: &Choices) -> Splices {
        let mut splices = Splices::new();
        let Some(now) = &self.now else { return splices };
        for hunk in self.hunks.iter().filter(|hunk| hunk.kind == HunkKind::Lines) {
            let changes = match choices.0.get(&hunk.id) {
                None => continue,
                Some(Choice::Revert) => {
                    assert!(!hunk.back.is_empty(), "{} stands", hunk.id);
                    hunk.back.clone()
                }
                Some(Choice::Replace(text)) => {
                    replaced(&now.bytes[hunk.at.clone()], hunk.at.start, text)
                }
            };
            for change in changes.as_slice() {
                splices.push(change.start..change.end, change.text.clone());
            }
        }
        splices
    }

    fn before(&self) -> &FileVersion {
        self.versions.0.as_ref().expect("there was a file before")
    }
}

/// Returns the replacements that turn a part of a file, which begins at a byte, into a text.
fn replaced(part: &[u8], start: usize, text: &[u8]) -> Splices {
    let mut splices = Splices::new();
    for change in diff::splices(part, text) {
        splices.push(start + change.start..start + change.end, change.text);
    }
    splices
}
