//! A plan for other programs.

use std::sync::Arc;

use patch_engine::{Rejects, Report};
use patch_session::ToolError;
use patch_session::changes::{DiffDetail, PatchData, outcome, summary};
use serde_json::{Value, json};

/// The plan of a patch: its changes to the files as they were. Later changes of the files do not
/// change the plan.
#[derive(Debug)]
pub struct PlannedPatch {
    pub(crate) plan: Arc<patch_engine::Plan>,
    /// The report of a patch that was applied before, so that nothing is left to do.
    pub(crate) done: Option<Report>,
    /// The reasons why parts of the patch are left out.
    pub(crate) left_out: Option<Rejects>,
    /// Whether the whole patch is one transaction.
    pub(crate) atomic: bool,
    /// The patch and its options, to plan it again.
    #[cfg(feature = "tools")]
    pub(crate) made_of: Option<(Vec<u8>, crate::options::PatchOptions)>,
}

impl PlannedPatch {
    /// Makes a plan that is not committed here.
    pub(crate) fn of(plan: patch_engine::Plan) -> Self {
        Self {
            plan: Arc::new(plan),
            done: None,
            left_out: None,
            atomic: true,
            #[cfg(feature = "tools")]
            made_of: None,
        }
    }

    /// Makes a plan of a workspace.
    #[cfg(feature = "tools")]
    pub(crate) fn of_report(
        report: Report,
        left_out: Option<Rejects>,
        made_of: Option<(Vec<u8>, crate::options::PatchOptions)>,
    ) -> Self {
        let plan = Arc::clone(&report.plan);
        let atomic = made_of.as_ref().is_none_or(|(_, options)| options.atomic != Some(false));
        Self { plan, done: report.already_done.then_some(report), left_out, atomic, made_of }
    }

    /// Returns a hash of the plan, 64 hexadecimal digits: equal plans have equal hashes.
    #[must_use]
    pub fn digest(&self) -> String {
        self.plan.digest().to_string()
    }

    /// Returns the changed files: objects with `path`, `operation`, `toPath`, `beforeSha256` and
    /// `afterSha256`.
    #[must_use]
    pub fn changes(&self) -> Value {
        json!(self.shown(DiffDetail::None).unwrap_or_default().changed_files)
    }

    /// Returns an object with `digest`, `changes`, `notes` and `summary`. No file is read for it.
    #[must_use]
    pub fn facts(&self) -> Value {
        let PatchData { changed_files, notes, .. } =
            self.shown(DiffDetail::None).unwrap_or_default();
        json!({
            "digest": self.digest(), "changes": changed_files, "notes": notes,
            "summary": self.summary(),
        })
    }

    /// Returns notes for a reader, as of hunks that were placed with tolerance.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.shown(DiffDetail::None).unwrap_or_default().notes
    }

    /// Returns the plan in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        match &self.done {
            Some(report) => outcome(std::slice::from_ref(report)),
            None => summary(&self.plan),
        }
    }

    /// Returns all changes as a git diff.
    ///
    /// # Errors
    ///
    /// If a file that is read for the diff has changed since it was planned.
    pub fn diff(&self) -> Result<Vec<u8>, ToolError> {
        Ok(self.plan.images().diffs()?)
    }

    /// Returns the plan as in the JSON of the command line.
    ///
    /// # Errors
    ///
    /// If a diff is wanted, and a file that is read for it has changed since it was planned.
    pub fn data(&self, detail: DiffDetail) -> Result<Value, ToolError> {
        Ok(serde_json::to_value(self.shown(detail)?).expect("text keys"))
    }

    fn shown(&self, detail: DiffDetail) -> Result<PatchData, ToolError> {
        if let Some(report) = &self.done {
            return Ok(PatchData::applied(std::slice::from_ref(report), self.atomic, detail));
        }
        let planned = PatchData::planned(&self.plan, self.atomic, detail)?;
        Ok(match &self.left_out {
            Some(why) => planned.without(why),
            None => planned,
        })
    }
}
