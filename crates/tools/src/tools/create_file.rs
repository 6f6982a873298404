//! `create_file`: a file where none is.

use patch_engine::{Host, PlanBuilder, Transition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tools::by_tags;
use crate::tools::file_tool::{About, FileTool};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::changes::DiffDetail;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::fit::cut_diff;
use patch_session::session::{Session, finish};
use patch_session::text::counted;

/// The arguments of `create_file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateFile {
    /// New file, relative to the workspace root.
    pub path: String,
    /// All of its text.
    pub content: String,
    /// Make missing directories.
    pub create_parent_directories: Option<bool>,
    /// Diff to show; none by default.
    pub diff: Option<DiffDetail>,
    /// Most bytes of the answer (8192).
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// The data of an answer of `create_file`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateFileData {
    /// Whether it was made.
    pub created: bool,
    /// The file.
    pub path: String,
    /// Its hash.
    pub sha256: String,
    /// The unified diff, or how many lines it has, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The transaction, for undo.
    pub transaction_id: String,
}

impl FileTool for CreateFile {
    type Data = CreateFileData;

    const ABOUT: About = About {
        title: "Create a file",
        does: "Creates (makes) a new text file; never overwrites. Gives sha256 and transactionId \
            (for undo).",
        errors: "Errors: already_exists: use edit_file or write_file. not_found: a directory is \
            missing, set createParentDirectories. permission_denied: ask. outside_workspace, \
            command_failed: correct the path.",
        example: "{\"path\":\"docs/notes.md\",\"content\":\"# Notes\\n\",\
            \"createParentDirectories\":true}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        vec![&mut self.path]
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        session.changing(Tool::CreateFile, host, |call| {
            let parents = self.create_parent_directories == Some(true);
            let options = session.options(parents, false)?;
            let report = call.commit(&mut |root| {
                by_tags::refuse_copied(session, &self.path, &self.content)?;
                let mut builder = PlanBuilder::new(root, &options);
                builder.create(&self.path, self.content.clone().into_bytes())?;
                finish(builder)
            })?;
            let (path, _, after) = super::changed(&report, None);
            let data = CreateFileData {
                created: true,
                path,
                sha256: after.map(|hash| hash.to_string()).unwrap_or_default(),
                diff: super::diff(&report, self.diff),
                transaction_id: super::transaction(&report),
            };
            let size = report.plan.transitions().iter().find_map(Transition::after_size);
            let size = size.unwrap_or_default();
            let size = counted(size, "byte", "bytes");
            Ok(Success::new(format!("created {} ({size})", data.path), data))
        })
    }

    fn fit(data: &mut Self::Data, max: usize) {
        cut_diff(&mut data.diff, max);
    }
}
