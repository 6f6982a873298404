//! `move_file`: gives a file another path.

use patch_engine::{Host, PlanBuilder, Remedy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tools::file_tool::{About, FileTool};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::ToolError;
use patch_session::session::{Session, finish};

/// The arguments of `move_file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MoveFile {
    /// File, from the workspace root.
    pub from_path: String,
    /// Its new path, in an existing directory.
    pub to_path: String,
    /// sha256 of the file, from read_file; by default what this session saw last.
    #[serde(default, deserialize_with = "given")]
    pub expected_sha256: Option<String>,
    /// Replace a file at toPath; the trash keeps it.
    pub overwrite: Option<bool>,
}

/// The data of an answer of `move_file`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveFileData {
    /// Whether it has its new path.
    pub moved: bool,
    /// Its path before.
    pub from_path: String,
    /// Its path now.
    pub to_path: String,
    /// Its hash.
    pub sha256: String,
    /// Where the file is kept that it replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwrote_trashed_to: Option<String>,
    /// The transaction, for undo.
    pub transaction_id: String,
}

impl FileTool for MoveFile {
    type Data = MoveFileData;

    const ABOUT: About = About {
        title: "Move a file",
        does: "Renames a file or moves it to another directory; with overwrite a file at toPath \
            goes to the trash.",
        errors: "Errors: stale_file: read it again. already_exists: choose another toPath or set \
            overwrite. not_found: check fromPath and the directory of toPath. permission_denied: \
            ask. outside_workspace, command_failed: correct the paths.",
        example: "{\"fromPath\":\"a.txt\",\"toPath\":\"b.txt\",\"expectedSha256\":\"<sha256>\"}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        vec![&mut self.from_path, &mut self.to_path]
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        session.changing(Tool::MoveFile, host, |call| {
            let given = self.expected_sha256.as_deref();
            let expected = session.seen(&self.from_path, given)?;
            let overwrite = self.overwrite == Some(true);
            let report = call.commit(&mut |files| {
                let root = session.workspace().root();
                let from = super::checked(root, &self.from_path, fs_guard::Access::Delete)?;
                if root.metadata(&from)?.is_none() {
                    if expected != patch_engine::Expected::Absent {
                        session.check_expected(from.as_str(), None, given)?;
                    }
                    return Err(super::missing(root, &self.from_path));
                }
                let options = session.options(false, overwrite)?;
                let mut builder = PlanBuilder::new(files, &options);
                builder.rename(&self.from_path, &self.to_path).map_err(|reject| {
                    let error = ToolError::from(reject);
                    // The advice for a patch is to leave its move out.
                    if error.details["reason"] != "same_path" {
                        return error;
                    }
                    error.remedies([Remedy::give("toPath", "another path")])
                })?;
                let plan = finish(builder)?;
                let change = &plan.changes()[0];
                session.check_expected(change.path.as_str(), change.before, given)?;
                let target = plan.transition_of(change);
                if let Some(replaced) = target.before() {
                    session.check_expected(target.path().as_str(), Some(replaced), None)?;
                }
                Ok(plan)
            })?;
            let change = &report.plan.changes()[0];
            let data = MoveFileData {
                moved: true,
                from_path: change.path.to_string(),
                to_path: change.to_path.as_ref().map(ToString::to_string).unwrap_or_default(),
                sha256: change.after.map(|hash| hash.to_string()).unwrap_or_default(),
                overwrote_trashed_to: report.trashed.get(change.transition).cloned().flatten(),
                transaction_id: super::transaction(&report),
            };
            Ok(Success::new(format!("moved {} to {}", data.from_path, data.to_path), data))
        })
    }
}
