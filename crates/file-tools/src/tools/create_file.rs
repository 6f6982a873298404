//! `create_file`: a file where none is.

use patch_engine::{Host, PlanBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::changes::DiffDetail;
use crate::answer::envelope::{Success, ToolResult};
use crate::session::{Session, finish};
use crate::tools::arguments::given;
use crate::tools::tool::Tool;

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

/// What `create_file` gives.
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

impl Session {
    /// Creates a file; never overwrites one.
    ///
    /// # Errors
    ///
    /// When something is there, or the guard refuses the path.
    pub fn create_file(
        &self,
        args: &CreateFile,
        host: &mut dyn Host,
    ) -> ToolResult<CreateFileData> {
        self.changing(Tool::CreateFile, host, |call| {
            let parents = args.create_parent_directories == Some(true);
            let options = self.options(parents, false)?;
            let report = call.commit(&mut |root| {
                let mut builder = PlanBuilder::new(root, &options);
                builder.create(&args.path, args.content.clone().into_bytes())?;
                finish(builder)
            })?;
            let (path, _, after) = super::changed(&report, None);
            let data = CreateFileData {
                created: true,
                path,
                sha256: after.map(|hash| hash.to_string()).unwrap_or_default(),
                diff: super::diff(&report, args.diff),
                transaction_id: super::transaction(&report),
            };
            Ok(Success::new(format!("created {} ({} bytes)", data.path, args.content.len()), data))
        })
    }
}
