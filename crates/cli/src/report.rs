//! What becomes of a failure: told to a person or to a program, and an exit code.

use patch_engine::transaction::Workspace;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::{json, render};

impl Failure {
    /// Prints what went wrong and gives the exit code.
    pub(crate) fn report(self, global: &Global, workspace: Option<&Workspace>) -> Exit {
        let failure = json::JsonFailure::new(&self);
        if global.json {
            json::print(&failure.envelope());
        } else {
            render::failure(&self, workspace);
        }
        failure.exit
    }
}
