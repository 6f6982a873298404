//! `apply-patch recover`: finishes or reverts what was interrupted.

use serde_json::json;

use crate::args::{self, Global};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{json, render};

pub(crate) fn recover(global: &Global, args: &args::Recover) -> Exit {
    let run = || -> Result<Exit, Failure> {
        let workspace = super::open(global)?;
        // Where nothing was ever committed, nothing was interrupted.
        let recovered = match workspace.has_state() {
            true => workspace.lock(global.config.lock_timeout(args.writing.lock_timeout))?.recovered().to_vec(),
            false => Vec::new(),
        };
        crate::audit::recovered(&workspace, &recovered);
        if global.json {
            let values: Vec<_> = recovered
                .iter()
                .map(|one| json!({ "id": one.id.to_string(), "outcome": render::outcome_text(&one.outcome) }))
                .collect();
            json::done(format!("{} recovered", values.len()), json!({ "recovered": values }));
        } else if recovered.is_empty() {
            render::line("nothing was interrupted");
        } else {
            for one in &recovered {
                render::line(&format!("{}: {}", one.id, render::outcome_text(&one.outcome)));
            }
        }
        Ok(Exit::Done)
    };
    run().unwrap_or_else(|failure| failure.report(global, None))
}
