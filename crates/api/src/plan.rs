//! A plan, as it is shown.

use std::sync::Arc;

use patch_engine::{Rejects, Report};
use patch_session::ToolError;
use patch_session::changes::{DiffDetail, PatchData, outcome, summary};
use serde_json::{Value, json};

/// What a patch would do. It is not changed by what happens to the files since.
#[derive(Debug)]
pub struct PlannedPatch {
    pub(crate) plan: Arc<patch_engine::Plan>,
    /// The patch was applied before: nothing is to be done.
    pub(crate) done: Option<Report>,
    /// Why some of the patch is left out.
    pub(crate) left_out: Option<Rejects>,
    /// Whether all of it is one transaction.
    pub(crate) atomic: bool,
    /// The patch and its options, so that it can be made again.
    #[cfg(feature = "workspace")]
    pub(crate) made_of: Option<(Vec<u8>, crate::options::PatchOptions)>,
}

impl PlannedPatch {
    /// A plan that is not committed here.
    pub(crate) fn of(plan: patch_engine::Plan) -> Self {
        Self {
            plan: Arc::new(plan),
            done: None,
            left_out: None,
            atomic: true,
            #[cfg(feature = "workspace")]
            made_of: None,
        }
    }

    /// A plan of a workspace.
    #[cfg(feature = "workspace")]
    pub(crate) fn of_report(
        report: Report,
        left_out: Option<Rejects>,
        made_of: Option<(Vec<u8>, crate::options::PatchOptions)>,
    ) -> Self {
        let plan = Arc::clone(&report.plan);
        let atomic = made_of.as_ref().is_none_or(|(_, options)| options.atomic != Some(false));
        Self { plan, done: report.already_done.then_some(report), left_out, atomic, made_of }
    }

    /// A name of exactly this plan: 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        self.plan.digest().to_string()
    }

    /// The files that change: objects with `path`, `operation`, `toPath`, `beforeSha256` and
    /// `afterSha256`.
    #[must_use]
    pub fn changes(&self) -> Value {
        json!(self.shown(DiffDetail::None).unwrap_or_default().changed_files)
    }

    /// What can be said of it without reading a file: an object with `digest`, `changes`, `notes`
    /// and `summary`.
    #[must_use]
    pub fn facts(&self) -> Value {
        let PatchData { changed_files, notes, .. } =
            self.shown(DiffDetail::None).unwrap_or_default();
        json!({
            "digest": self.digest(), "changes": changed_files, "notes": notes,
            "summary": self.summary(),
        })
    }

    /// What a reader should know about how it came to be.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.shown(DiffDetail::None).unwrap_or_default().notes
    }

    /// The plan in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        match &self.done {
            Some(report) => outcome(std::slice::from_ref(report)),
            None => summary(&self.plan),
        }
    }

    /// The changes as a git diff, whole.
    ///
    /// # Errors
    ///
    /// When files that have to be read for that are not what they were.
    pub fn diff(&self) -> Result<Vec<u8>, ToolError> {
        Ok(self.plan.images().diffs()?)
    }

    /// The plan as the command line's JSON has it.
    ///
    /// # Errors
    ///
    /// When a diff is asked for, and files that have to be read for that are not what they were.
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
