//! What the commands that open a workspace share.

use patch_engine::transaction::{CommitOptions, Durability, TransactionId, Workspace};

use crate::args;
use crate::failure::Failure;
use crate::global::Global;
use crate::{audit, render};

/// The workspace that `-C` names, under the policy of the settings.
pub(super) fn open(global: &Global) -> Result<Workspace, Failure> {
    Ok(Workspace::open(&global.root, global.settings.policy()?)?)
}

/// Recovers what an earlier run left half way, before a command that only looks.
///
/// What cannot be recovered here is said by the commands that write.
pub(super) fn tidy(global: &Global, workspace: &Workspace) {
    let recovered = workspace.recover_if_idle().unwrap_or_default();
    if !recovered.is_empty() {
        audit::recovered(workspace, &recovered);
        if !global.quiet {
            render::recovered(&recovered);
        }
    }
}

/// The commit options that the settings ask for.
pub(super) fn commit_options(global: &Global, tool: &str) -> CommitOptions {
    let durability = match global.settings.durability {
        args::Durability::Full => Durability::Full,
        args::Durability::Process => Durability::Process,
        args::Durability::None => Durability::None,
    };
    CommitOptions { tool: Some(tool.into()), durability, ..CommitOptions::default() }
}

/// Reads a transaction's name.
pub(super) fn id(text: &str) -> Result<TransactionId, Failure> {
    text.parse().map_err(|error| Failure::Usage(format!("{error}; `apply-patch log` lists them")))
}
