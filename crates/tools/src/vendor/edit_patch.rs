//! `edit.patch`: the patch tool with a result shape of its own, and with permissions for deletes
//! and moves.

use patch_engine::{Atomicity, ChangeKind, Host, Profile};
use patch_grammar::Section;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tools::apply_patch::{ParsedPatch, apply_parsed};
use crate::tools::file_tool::{About, FileTool, schema};
use crate::tools::walk::find_directory;
use crate::vendor::editor::beneath_root;
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::changes::{CarriedHunk, ChangedFile, DiffDetail, PatchData};
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::{FailureClass, ToolError};
use patch_session::answer::fit::{CUT, cut};
use patch_session::answer::hints::{self, Caller, Hint};
use patch_session::input::PatchText;
use patch_session::input::paths::beneath;
use patch_session::session::Session;
use patch_session::session::changing::ChangingCall;
use patch_session::settings::Layer;

/// The arguments of `edit.patch`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditPatch {
    /// Patch, from `*** Begin Patch` to `*** End Patch`.
    pub patch: String,
    /// Directory that paths are relative to; the workspace root by default.
    #[serde(default, deserialize_with = "given")]
    pub workspace_root: Option<String>,
    /// Only tell what would change.
    pub dry_run: Option<bool>,
    /// Let the patch delete files; false by default.
    pub allow_delete: Option<bool>,
    /// Let the patch move files; true by default.
    pub allow_move: Option<bool>,
    /// false: refuse a file changed since.
    pub carry: Option<bool>,
}

/// The answer of `edit.patch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EditPatchResult {
    /// Whether it was applied, or would be.
    pub ok: bool,
    /// How many files were added, modified, deleted and renamed: `A 1, M 2, D 0, R 0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The hunks that were carried to files that had changed since they were read, and where they
    /// went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<CarriedHunk>,
    /// What was overlooked, and what a reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why not, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How a failed call ends a program.
    #[serde(skip)]
    pub class: Option<FailureClass>,
}

impl FileTool for EditPatch {
    type Data = EditPatchResult;

    const ABOUT: About = About {
        title: "Apply a patch, briefly",
        does: "The same patches by strict rules, with a brief answer: {ok, summary} counts files, \
            {ok, error} has a line that begins with the error's kind. allow_delete lets it remove \
            files.",
        errors: "Errors: patch_parse_error: correct it. patch_apply_error, multiple_matches, \
            overlapping_edits, stale_file: read the file, then correct the hunk. \
            permission_denied: ask. binary_file, not_found, \
            already_exists, outside_workspace: correct the path.",
        example: "{\"patch\":\"*** Begin Patch\\n*** Add File: a.txt\\n+hi\\n*** End Patch\"}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        // `workspace_root` is described as an absolute path, so it is taken as such without a note.
        Vec::new()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        let result = if self.dry_run == Some(true) {
            self.run(session, None)
        } else {
            session.changing(Tool::EditPatch, host, |call| self.run(session, Some(call)))
        }?;
        let files = &result.data.changed_files;
        let added = count(files, ChangeKind::Create);
        let modified = count(files, ChangeKind::Update);
        let deleted = count(files, ChangeKind::Delete);
        let renamed = count(files, ChangeKind::Move);
        let already = if result.data.already_done { "; done already" } else { "" };
        let summary = format!("A {added}, M {modified}, D {deleted}, R {renamed}{already}");
        let data = EditPatchResult {
            ok: true,
            summary: Some(summary.clone()),
            carried: result.data.carried,
            notes: result.data.notes,
            error: None,
            class: None,
        };
        Ok(Success::new(summary, data))
    }

    fn output_schema() -> Value {
        schema::<Self::Data>()
    }

    fn fit(data: &mut Self::Data, max: usize) {
        data.error.iter_mut().for_each(|error| cut(error, max, CUT));
    }
}

impl EditPatch {
    /// Applies the patch, or only plans it if there is no call.
    fn run(&self, session: &Session, call: Option<&mut ChangingCall<'_>>) -> ToolResult<PatchData> {
        let mut options = session.options_for(Layer {
            profile: Some(Profile::Strict),
            allow_delete: Some(self.allow_delete == Some(true)),
            allow_move: self.allow_move,
            ..Layer::default()
        })?;
        // This tool makes missing directories, unless the workspace's own file says otherwise.
        options.create_parents = session.settings().layers.bounds.create_parents != Some(false);
        options.snapshots = session.snapshots_for(self.carry);
        let prefix = prefix(session, self.workspace_root.as_deref())?;
        let (_, patch) = PatchText::parsed(&self.patch, &options)?;
        let patch = match &prefix {
            Some(prefix) => patch.map_sections(|sections| {
                let mut sections = sections.to_vec();
                for path in sections.iter_mut().flat_map(Section::paths_mut) {
                    path.text = beneath(prefix, &path.text).into();
                }
                sections
            }),
            None => patch,
        };
        let parsed =
            ParsedPatch { patch: &patch, options, atomicity: Atomicity::Whole, keep: None };
        apply_parsed(session, parsed, Some(DiffDetail::None), call)
    }
}

fn count(files: &[ChangedFile], wanted: ChangeKind) -> usize {
    files.iter().filter(|change| change.operation == wanted.as_str()).count()
}

/// Finds the directory that `workspace_root` names; it must be beneath the root.
fn prefix(session: &Session, named: Option<&str>) -> Result<Option<String>, ToolError> {
    let inside = beneath_root(session, named.unwrap_or_default())?;
    let dir = find_directory(session, session.root(), "workspace_root", Some(&inside))?;
    Ok(dir.map(|dir| dir.to_string()))
}

impl EditPatchResult {
    /// Makes the answer for an error.
    #[must_use]
    pub fn failed(error: &ToolError) -> Self {
        // A hunk to paste does not fit in one line.
        let hints: Vec<_> = error
            .hints
            .iter()
            .filter(|hint| !matches!(hint, Hint::ReplaceHunk { .. }))
            .cloned()
            .collect();
        let next = match hints::words(&hints, Caller::Tool(Tool::EditPatch)) {
            next if next.is_empty() => next,
            next => format!("; next: {next}"),
        };
        let printed = error.printed().map(|text| format!("; the check printed: {text}"));
        let printed = printed.unwrap_or_default();
        let line = format!("{}: {}{printed}{next}", error.kind, error.clone().bounded().message)
            .replace(['\n', '\r'], " ");
        Self {
            ok: false,
            summary: None,
            carried: Vec::new(),
            notes: Vec::new(),
            error: Some(line),
            class: Some(error.class),
        }
    }
}
