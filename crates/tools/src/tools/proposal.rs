//! `proposal`: tells what became of a proposal, or gives it up.

use patch_engine::Host;
use patch_proposals::{ProposalData, Proposals};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tools::file_tool::{About, FileTool};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::session::Session;

/// The arguments of `proposal`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Proposal {
    /// proposalId.
    pub id: String,
    /// Give it up: it is not wanted any more.
    #[serde(default, deserialize_with = "given")]
    pub withdraw: Option<bool>,
    /// Why it is given up.
    #[serde(default, deserialize_with = "given")]
    pub reason: Option<String>,
}

impl FileTool for Proposal {
    type Data = Box<ProposalData>;

    const ABOUT: About = About {
        title: "Ask about a proposal",
        does: "Tells what became of a proposal of this session. state: proposed (it waits), \
            approved (with transactionIds), declined or withdrawn (decidedWhy), expired. Only a \
            person approves.",
        errors: "Errors: not_found: take proposalId from the answer. permission_denied: it is \
            decided.",
        example: "{\"id\":\"p-3f9a51c07b2e\"}",
        idempotent: true,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        Vec::new()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        session.changing(Tool::Proposal, host, |_| {
            let proposals = Proposals::of(session);
            let proposal = match self.withdraw {
                Some(true) => proposals.withdraw(&self.id, self.reason.as_deref())?,
                Some(false) | None => proposals.own(&self.id)?,
            };
            Ok(Success::new(proposal.outcome(), Box::new(proposal.data())))
        })
    }
}
