//! `apply-patch recover`: finishes or reverts what was interrupted.

use clap::Args;
use serde_json::json;

use super::workspace;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::{json, render};

#[derive(Debug, Args)]
#[command(after_help = "Every command that writes does so, too.\n\nExamples:\n  \
    apply-patch recover")]
pub(crate) struct RecoverArgs {
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

pub(crate) fn recover(global: &Global) -> Result<Exit, Failure> {
    let session = workspace::session(global)?;
    let workspace = session.workspace();
    // Where nothing was ever committed, nothing was interrupted.
    let locked =
        workspace.has_state().then(|| workspace.lock(global.settings.lock_timeout)).transpose()?;
    let recovered = locked.as_ref().map(|locked| locked.recovered()).unwrap_or_default();
    workspace::log_recovered(&session, recovered);
    if global.json {
        let values: Vec<_> = recovered
            .iter()
            .map(|one| {
                json!({
                    "id": one.id.to_string(), "outcome": render::outcome_text(one),
                    "changedSince": one.touched,
                })
            })
            .collect();
        json::done(format!("{} recovered", values.len()), json!({ "recovered": values }));
    } else if recovered.is_empty() {
        render::line("nothing was interrupted");
    } else {
        for one in recovered {
            render::line(&format!("{}: {}", one.id, render::outcome_text(one)));
        }
    }
    Ok(Exit::Done)
}
