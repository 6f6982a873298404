//! `apply_patch`: a patch of the `*** Begin Patch` envelope.

use std::collections::{BTreeMap, HashSet};

use fs_guard::{Access, Cancellation};
use patch_engine::{Atomicity, Expected, Host, Options, Patch, Plan, Profile, Remedy};
use patch_grammar::SectionOperation;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::tools::file_tool::{About, FileTool};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::changes::{DiffDetail, PatchData, carried_words, outcome, summary};
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::ToolError;
use patch_session::answer::fit::cut_changes;
use patch_session::answer::fit::fitting;
use patch_session::answer::reason::Reason;
use patch_session::input::PatchText;
use patch_session::json::Unique;
use patch_session::session::changing::ChangingCall;
use patch_session::session::text_form::TextForm;
use patch_session::session::{Session, expected};
use patch_session::settings::Layer;
use patch_session::text::length;

/// The arguments of `apply_patch`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApplyPatch {
    /// Patch, from `*** Begin Patch` to `*** End Patch`.
    pub patch: String,
    /// Files as you read them; refused if changed since.
    #[schemars(with = "Option<Vec<ExpectedFile>>")]
    pub expected_sha256_by_path: Option<ExpectedFiles>,
    /// All sections or none; true by default.
    pub atomic: Option<bool>,
    /// Apply the sections that fit; keep the others (patchId).
    pub partial: Option<bool>,
    /// Only tell what would change.
    pub dry_run: Option<bool>,
    /// standard (default): exact. strict: the envelope alone. codex: headers are anchors, blanks may
    /// differ, files may be replaced.
    pub profile: Option<PatchProfile>,
    /// Make missing directories.
    pub create_parent_directories: Option<bool>,
    /// false: refuse a file changed since.
    pub carry: Option<bool>,
    /// Omit what is applied already.
    pub skip_applied: Option<bool>,
    /// patchId of a refused patch, for files not in this one.
    #[serde(default, deserialize_with = "given")]
    pub amend: Option<String>,
    /// Diff to show; none by default, full for a dryRun.
    pub diff: Option<DiffDetail>,
    /// Most bytes of the answer (8192).
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// The files that a patch was written for: a list, as the schema has it, because strict schemas
/// know no other; or an object with paths for names.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "they are what it says above")]
pub enum ExpectedFiles {
    List(Vec<ExpectedFile>),
    ByPath(#[serde(deserialize_with = "each_once")] BTreeMap<String, String>),
}

/// Reads an object without duplicate names, of which serde would keep the last.
fn each_once<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let Unique(value) = Unique::deserialize(deserializer)?;
    BTreeMap::deserialize(value).map_err(serde::de::Error::custom)
}

/// A file that a patch was written for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFile {
    /// The file.
    pub path: String,
    /// sha256 from read_file; empty: no such file.
    pub sha256: String,
}

impl ExpectedFiles {
    /// Lists the files with the names of their arguments.
    fn each(&self) -> Vec<NamedHash<'_>> {
        match self {
            Self::List(files) => files
                .iter()
                .enumerate()
                .map(|(nth, file)| NamedHash {
                    path: &file.path,
                    sha256: &file.sha256,
                    argument: format!("expectedSha256ByPath[{nth}]"),
                    field: ".sha256",
                })
                .collect(),
            Self::ByPath(files) => files
                .iter()
                .map(|(path, sha256)| NamedHash {
                    path,
                    sha256,
                    argument: format!("expectedSha256ByPath.{path}"),
                    field: "",
                })
                .collect(),
        }
    }
}

/// An expected hash, and the names of its arguments for an error.
struct NamedHash<'f> {
    path: &'f str,
    sha256: &'f str,
    /// The argument with the path and the hash.
    argument: String,
    /// The field of the argument with the hash.
    field: &'static str,
}

/// The rules of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "docs on variants split the schema; the field has them")]
pub enum PatchProfile {
    Strict,
    Standard,
    Codex,
}

impl From<PatchProfile> for Profile {
    fn from(profile: PatchProfile) -> Self {
        match profile {
            PatchProfile::Strict => Self::Strict,
            PatchProfile::Standard => Self::Standard,
            PatchProfile::Codex => Self::Codex,
        }
    }
}

impl ExpectedFiles {
    /// Returns the paths that are named by a field of their own.
    pub(super) fn paths(&mut self) -> Vec<&mut String> {
        match self {
            Self::List(files) => files.iter_mut().map(|file| &mut file.path).collect(),
            Self::ByPath(_) => Vec::new(),
        }
    }
}

impl FileTool for ApplyPatch {
    type Data = PatchData;

    const ABOUT: About = About {
        title: "Apply a patch",
        does: "Edits code: apply a patch (diff) that modifies source files, one or several, all \
            or none. For multi-file changes and refactors. Sections of the patch: *** Add File: P \
            (+ lines), *** Delete File: P, *** Update File: P (optional *** Move to: Q, then \
            hunks), *** Move File: P -> Q. A hunk: @@, then lines with a blank (context), - or +; \
            give 3 lines of context. Gives changedFiles with hashes, and transactionId.",
        errors: "Errors (details.rejects has all): patch_parse_error: correct details.line. \
            patch_apply_error: details.nearest tells where the lines nearly are; read there. \
            multiple_matches: add context. overlapping_edits: join the hunks. stale_file: read \
            again. not_found, already_exists, binary_file, file_too_large, outside_workspace, \
            command_failed: correct that section. permission_denied: leave it out, \
            ask. timeout: try again.",
        example: "{\"patch\":\"*** Begin Patch\\n*** Update File: a.txt\\n@@\\n-old\\n+new\\n*** \
            End Patch\"}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        self.expected_sha256_by_path.as_mut().map(ExpectedFiles::paths).unwrap_or_default()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        if self.dry_run == Some(true) {
            return self.run(session, None);
        }
        session.changing(Tool::ApplyPatch, host, |call| self.run(session, Some(call)))
    }

    fn fit(data: &mut Self::Data, max: usize) {
        let carried = fitting(&data.carried, &mut { max / 4 }, |hunk| length(hunk) + 1);
        data.truncated |= carried < data.carried.len();
        data.carried.truncate(carried);
        let hunks = fitting(&data.hunks, &mut { max / 4 }, |hunk| length(hunk) + 1);
        data.truncated |= hunks < data.hunks.len();
        data.hunks.truncate(hunks);
        let others = length(&data.carried) + length(&data.hunks);
        data.truncated |= cut_changes(&mut data.changed_files, max - others.min(max));
    }
}

impl ApplyPatch {
    /// Applies the patch, or only plans it if there is no call.
    fn run(&self, session: &Session, call: Option<&mut ChangingCall<'_>>) -> ToolResult<PatchData> {
        let ReadPatch { text, patch, options, .. } = self.read(session)?;
        let atomicity = self.atomicity()?;
        if atomicity == Atomicity::EachSection && session.settings().verify.is_some() {
            let message = "changes are checked here, all of a patch at once: `atomic` is true";
            return Err(ToolError::arguments(Reason::BadArguments, message)
                .remedies([Remedy::omit("atomic")]));
        }
        let keep = (atomicity != Atomicity::EachSection).then(|| TextForm::of(&text));
        let parsed = ParsedPatch { patch: &patch, options, atomicity, keep };
        apply_parsed(session, parsed, self.diff, call)
    }

    /// Reads the patch, and its rules.
    pub(crate) fn read(&self, session: &Session) -> Result<ReadPatch, ToolError> {
        let call = Layer {
            profile: self.profile.map(Profile::from),
            skip_applied: self.skip_applied,
            create_parents: self.create_parent_directories,
            ..Layer::default()
        };
        let mut options = session.options_for(call.clone())?;
        options.snapshots = session.snapshots_for(self.carry);
        self.expect_given(session, &mut options)?;
        let (mut text, mut patch) = PatchText::parsed(&self.patch, &options)?;
        if let Some(id) = &self.amend {
            text = session.amended(id, &text, &options)?;
            patch = text.parse(&options).map_err(|error| error.tool_error(text.text.as_bytes()))?;
        }
        Ok(ReadPatch { text, patch, options, call })
    }

    /// Sets the caller's hashes as the expected hashes of the files.
    fn expect_given(&self, session: &Session, options: &mut Options) -> Result<(), ToolError> {
        for file in self.expected_sha256_by_path.iter().flat_map(ExpectedFiles::each) {
            let NamedHash { path, sha256, argument, field } = file;
            let hash = expected(sha256, (&argument, field))?;
            let key = session.root().relative(path);
            let key = key.unwrap_or_else(|| path.strip_prefix("./").unwrap_or(path).to_owned());
            let before = options.expected.insert(key, hash);
            if before.is_some_and(|before| before != hash) {
                let message = format!("{path} is expected with two hashes");
                return Err(ToolError::arguments(Reason::BadSha256, message)
                    .remedies([Remedy::omit(argument)]));
            }
        }
        Ok(())
    }

    /// Returns which sections are applied where some do not apply.
    fn atomicity(&self) -> Result<Atomicity, ToolError> {
        Atomicity::of(self.atomic != Some(false), self.partial == Some(true)).ok_or_else(|| {
            let message = "partial makes one transaction, and atomic: false makes several";
            ToolError::arguments(Reason::BadArguments, message)
                .remedies([Remedy::omit("atomic"), Remedy::omit("partial")])
        })
    }
}

/// A patch as it was read, with its rules.
pub(crate) struct ReadPatch {
    pub(crate) text: PatchText,
    pub(crate) patch: Patch,
    pub(crate) options: Options,
    /// The settings of the call.
    pub(crate) call: Layer,
}

/// A patch to apply, with its rules.
pub(crate) struct ParsedPatch<'p> {
    pub(crate) patch: &'p Patch,
    pub(crate) options: Options,
    pub(crate) atomicity: Atomicity,
    /// The form in which the patch is kept to be amended if it does not apply.
    pub(crate) keep: Option<TextForm>,
}

/// Applies a patch, or only plans it if there is no call.
pub(crate) fn apply_parsed(
    session: &Session,
    parsed: ParsedPatch<'_>,
    detail: Option<DiffDetail>,
    call: Option<&mut ChangingCall<'_>>,
) -> ToolResult<PatchData> {
    let ParsedPatch { patch, mut options, atomicity, keep } = parsed;
    let patch = &*patch_engine::relative(&session.root().into(), patch);
    expect_what_was_read(session, patch, &mut options);
    let checked: HashSet<String> = options.expected.keys().cloned().collect();
    let is_atomic = atomicity != Atomicity::EachSection;
    let Some(call) = call else {
        let report = match session.preview(patch, options, atomicity, &Cancellation::NEVER) {
            Ok(report) => report,
            Err(failed) => {
                for report in &failed.reports {
                    check_replaced(session, &report.plan, &checked)?;
                }
                return Err(ToolError::failed(&failed));
            }
        };
        if report.already_done {
            let reports = [report];
            return Ok(Success::new(
                outcome(&reports),
                PatchData::applied(&reports, is_atomic, detail.unwrap_or_default()),
            ));
        }
        check_replaced(session, &report.plan, &checked)?;
        let detail = detail.unwrap_or(DiffDetail::Full);
        let mut data = PatchData::planned(&report.plan, is_atomic, detail)?;
        session.add_changed_by(&mut data.carried, std::slice::from_ref(&report));
        return Ok(Success::new(
            format!("it applies: {}{}", summary(&report.plan), carried_words(&data.carried)),
            data,
        ));
    };
    let reports = call.apply(patch, options, (atomicity, keep), &|plan| {
        check_replaced(session, plan, &checked)
    })?;
    let mut data = PatchData::applied(&reports, is_atomic, detail.unwrap_or_default());
    session.add_changed_by(&mut data.carried, &reports);
    Ok(Success::new(outcome(&reports) + &carried_words(&data.carried), data))
}

/// Sets the hash that the session saw as the expected hash of each file, unless the caller
/// gives one.
pub(crate) fn expect_what_was_read(session: &Session, patch: &Patch, options: &mut Options) {
    let mut seen = HashSet::new();
    for section in patch.sections() {
        let Ok(path) = session.root().check(&section.path.text, Access::Read) else { continue };
        let first = seen.insert(path.clone());
        // An Add that replaces a file cannot expect its hash: see `check_replaced`.
        if !first || matches!(section.operation, SectionOperation::Add(_)) {
            continue;
        }
        if let Some(hash) = session.ledger().get(path.as_str()) {
            options.expected.entry(path.to_string()).or_insert(Expected::Hash(hash));
        }
        if let SectionOperation::Update { move_to: Some(to), .. } = &section.operation
            && let Ok(to) = session.root().check(&to.text, Access::Read)
        {
            seen.insert(to);
        }
    }
}

/// Checks the replaced files of a plan that had no expected hash when they were planned.
pub(crate) fn check_replaced(
    session: &Session,
    plan: &Plan,
    checked: &HashSet<String>,
) -> Result<(), ToolError> {
    for transition in plan.transitions() {
        if let Some(before) = transition.before()
            && !checked.contains(transition.path().as_str())
        {
            session.check_expected(transition.path().as_str(), Some(before), None)?;
        }
    }
    Ok(())
}
