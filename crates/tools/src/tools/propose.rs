//! `propose`: keeps a patch for a person to decide about later.

use std::collections::HashSet;

use patch_engine::Host;
use patch_proposals::{Proposals, ProposedPatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tools::apply_patch::{
    ApplyPatch, ExpectedFile, ExpectedFiles, ReadPatch, check_replaced, expect_what_was_read,
};
use crate::tools::file_tool::{About, FileTool};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::changes::{ChangedFile, DiffDetail, PatchData};
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::fit::cut_changes;
use patch_session::session::Session;

/// The arguments of `propose`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Propose {
    /// Patch, from `*** Begin Patch` to `*** End Patch`.
    pub patch: String,
    /// Why it is wanted, for who decides.
    #[serde(default, deserialize_with = "given")]
    pub reason: Option<String>,
    /// Files as you read them; refused if changed since.
    #[schemars(with = "Option<Vec<ExpectedFile>>")]
    pub expected_sha256_by_path: Option<ExpectedFiles>,
    /// Most bytes of the answer (8192).
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// The answer of `propose`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposeData {
    /// Its id, for `proposal`.
    pub proposal_id: String,
    /// proposed: nothing is changed yet.
    pub state: String,
    /// Why a person is asked, beside that it was proposed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The files that it would change, in order.
    pub changed_files: Vec<ChangedFile>,
    /// What was overlooked, and what a reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Diffs or files are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl FileTool for Propose {
    type Data = ProposeData;

    const ABOUT: About = About {
        title: "Propose a patch",
        does: "Suggests a change: keeps a patch for a person to approve or decline later, and \
            changes nothing now. For what you should not decide alone; go on meanwhile. Gives \
            proposalId; ask with proposal what became of it.",
        errors: "Errors: patch_parse_error, patch_apply_error, multiple_matches, \
            overlapping_edits, stale_file, not_found, already_exists, binary_file, \
            outside_workspace, command_failed, permission_denied: correct that section.",
        example: "{\"patch\":\"*** Begin Patch\\n*** Update File: a.txt\\n@@\\n-old\\n+new\\n*** \
            End Patch\",\"reason\":\"the tests need it\"}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        self.expected_sha256_by_path.as_mut().map(ExpectedFiles::paths).unwrap_or_default()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        session.changing(Tool::Propose, host, |_| self.run(session))
    }

    fn fit(data: &mut Self::Data, max: usize) {
        data.truncated |= cut_changes(&mut data.changed_files, max);
    }
}

impl Propose {
    fn run(&self, session: &Session) -> ToolResult<ProposeData> {
        let patch = ApplyPatch {
            patch: self.patch.clone(),
            expected_sha256_by_path: self.expected_sha256_by_path.clone(),
            ..ApplyPatch::default()
        };
        let ReadPatch { text, patch, mut options, call } = patch.read(session)?;
        let relative = patch_engine::relative(&session.root().into(), &patch);
        expect_what_was_read(session, &relative, &mut options);
        let checked: HashSet<String> = options.expected.keys().cloned().collect();
        let mut proposed = ProposedPatch::new(text, patch, options);
        proposed.call = call;
        let made =
            Proposals::of(session).propose_if(proposed, self.reason.as_deref(), &|plan| {
                check_replaced(session, plan, &checked)
            })?;
        let planned = PatchData::planned(&made.report.plan, true, DiffDetail::Full)?;
        let proposal = &made.proposal;
        let data = ProposeData {
            proposal_id: proposal.id().to_owned(),
            state: proposal.state().as_str().to_owned(),
            reasons: proposal.reasons().to_vec(),
            changed_files: planned.changed_files,
            notes: planned.notes,
            truncated: false,
        };
        Ok(Success::new(proposal.outcome(), data))
    }
}
