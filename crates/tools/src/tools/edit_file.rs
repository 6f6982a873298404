//! `edit_file`: replaces pieces of text, which are found in the file before the call.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use fs_guard::RelPath;
use patch_engine::carry::carry;
use patch_engine::remedy::{Action, ArgumentChange, MAX_PLACES, Part};
use patch_engine::{
    Edit, ErrorKind, Expected, Files, Host, LfText, Loaded, MoreText, Nearest, Plan, PlanBuilder,
    ProblemName, Reject, RejectReason, Rejects, Remedy, Report, Sha256, Splices, TextPlaces,
    line_words, nearest_text,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::tools::by_tags::{self, LineNames, Name, NamedLines};
use crate::tools::file_tool::{About, FileTool};
use crate::tools::resend::{self, Corrected, Texts};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::changes::{CarriedHunk, DiffDetail, carried, carried_words};
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::{ToolError, value_of};
use patch_session::answer::fit::cut_diff;
use patch_session::answer::hints::Caller;
use patch_session::answer::reason::Reason;
use patch_session::session::{Session, finish};
use patch_session::text::{normalised, without_bom};

/// How many places an error names.
const NAMED: usize = 20;

/// How many edits by tags an error has the lines of.
const LOCATED: usize = 8;

/// The arguments of `edit_file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditFile {
    /// File, from the workspace root.
    pub path: String,
    /// sha256 from read_file; by default what this session saw last.
    #[serde(default, deserialize_with = "given")]
    pub expected_sha256: Option<String>,
    /// Replacements; all are matched against the file before the call.
    pub edits: Vec<TextEdit>,
    /// false: refuse a file changed since.
    pub carry: Option<bool>,
    /// Diff to show; none by default.
    pub diff: Option<DiffDetail>,
    /// Most bytes of the answer (8192).
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// One replacement.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TextEdit {
    /// Text in the file, exactly; enough of it to be there once.
    #[serde(default)]
    pub old_text: String,
    /// Or the first line to replace, 12#kz.
    #[serde(default)]
    pub from: String,
    /// The last line to replace.
    #[serde(default)]
    pub to: String,
    /// Or the line to insert below; 0: the top.
    #[serde(default)]
    pub after: String,
    /// What takes its place.
    pub new_text: String,
    /// Replace it wherever it is.
    pub replace_all: Option<bool>,
    /// Replace all, if there are so many.
    #[serde(default, deserialize_with = "given")]
    pub expected_occurrences: Option<u64>,
}

/// The data of an answer of `edit_file`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditFileData {
    /// The file.
    pub path: String,
    /// Its hash before.
    pub before_sha256: String,
    /// Its hash now.
    pub after_sha256: String,
    /// How many edits were made.
    pub applied_edits: usize,
    /// How many places were replaced.
    pub replacements: usize,
    /// The edits that were carried to the file, which had changed since it was read, and where they
    /// went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<CarriedHunk>,
    /// The unified diff, or how many lines it has, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The transaction, for undo; none when others had made the same edits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub transaction_id: String,
}

impl FileTool for EditFile {
    type Data = EditFileData;

    const ABOUT: About = About {
        title: "Edit a file",
        does: "Edits one file: replaces strings in it (find and replace), all or none. Each \
            oldText must be in the file as you read it, exactly once (or replaceAll, or \
            expectedOccurrences times), and edits may not overlap. Line ends are kept. With tags of \
            read_file, replaces lines from (to) instead, or inserts after one.",
        errors: "Errors: old_text_not_found: details.nearest tells where it nearly is; read there \
            and copy. multiple_matches: add surrounding lines. overlapping_edits: join \
            details.conflictingEditIndices. stale_file: read again, or take the new tags. binary_file: leave it. \
            patch_apply_error: not UTF-8, insert ASCII. not_found: check the path. \
            permission_denied: ask. outside_workspace, command_failed: correct the arguments.",
        example: "{\"path\":\"a.rs\",\"expectedSha256\":\"<sha256>\",\
            \"edits\":[{\"oldText\":\"let x = 1;\",\"newText\":\"let x = 2;\"}]}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        vec![&mut self.path]
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        edit_file_as(session, Caller::Tool(Tool::EditFile), self, host)
    }

    fn fit(data: &mut Self::Data, max: usize) {
        cut_diff(&mut data.diff, max);
    }
}

/// Edits a file for a caller with its own names for the texts.
pub(crate) fn edit_file_as(
    session: &Session,
    caller: Caller,
    args: &EditFile,
    host: &mut dyn Host,
) -> ToolResult<EditFileData> {
    session.changing(Tool::EditFile, host, |call| {
        let mut replacements = 0;
        let mut current = None;
        let report = call.commit(&mut |files| {
            let planned = plan_edits(session, files, caller, args)
                .map_err(|error| or_tags(session, files, caller, args, error))
                .map_err(|error| or_new_file(error, &args.path))?;
            replacements = planned.replacements;
            current = planned.current;
            Ok(planned.plan)
        })?;
        Ok(answer(session, args, &report, replacements, current))
    })
}

/// Says how a new file is made, where the file is not there and no other one was meant.
fn or_new_file(error: ToolError, path: &str) -> ToolError {
    let is_missing = error.details["reason"] == ProblemName::NotFound.as_str();
    if is_missing && error.details["didYouMean"].is_null() {
        error.also(Remedy::act(Action::Create, path))
    } else {
        error
    }
}

/// The plan of a call.
struct PlannedEdits {
    plan: Plan,
    /// The number of places that the edits replace.
    replacements: usize,
    /// The path and the hash of the current file, if the edits were carried to another version.
    current: Option<(RelPath, Sha256)>,
}

/// Plans the edits.
fn plan_edits(
    session: &Session,
    files: &Files,
    caller: Caller,
    args: &EditFile,
) -> Result<PlannedEdits, ToolError> {
    let root = session.workspace().root();
    let options = session.options(false, false)?;
    let mut builder = PlanBuilder::new(files, &options);
    let named = named_lines(args)?;
    let base = if named.is_empty() {
        base_version(session, &mut builder, caller, args)?
    } else {
        version_of_tags(session, &mut builder, args, &named)?
    };
    let BaseVersion { file, stale } = base;
    let unicode = args.edits.iter().any(|edit| !edit.new_text.is_ascii());
    let Some(text) = options.encodings.text_of(root, &file.path, &file.bytes, unicode) else {
        return Err(super::binary(&args.path, file.bytes.len(), file.sha256()));
    };
    refuse_tags_in_text(session, args, file.path.as_str(), text.bytes())?;
    let found = Edits::new(caller, &args.path, text.bytes()).splices(&args.edits, &named);
    let Some(stale) = stale else {
        let found = found?;
        check_printed(session, args, &named, &file, &found)?;
        let splices = found.edit.splices;
        let replacements = splices.as_slice().len();
        let splices = text.stored(splices).ok_or_else(|| super::encoding(&args.path))?;
        builder.update(&args.path, splices)?;
        let plan = finish(builder)?;
        return if plan.is_empty() {
            Err(no_change(caller, &args.path, None))
        } else {
            Ok(PlannedEdits { plan, replacements, current: None })
        };
    };
    let current = builder.load(&args.path)?.ok_or_else(|| stale.clone())?;
    // A tag that is wrong in the version that was printed is wrong in any case.
    let found = found.map_err(|error| if named.is_empty() { stale.clone() } else { error })?;
    check_printed(session, args, &named, &file, &found)?;
    // Files in other encodings are stored as other bytes, so edits of the text are not carried.
    if text.encoding().is_some() || !same_counts(&args.edits, [&file.bytes, &current.bytes]) {
        return Err(stale);
    }
    let replacements = found.edit.splices.as_slice().len();
    let edit = found.whole_lines();
    if let Some(unsure) = unsure(&named, &file.bytes, &current.bytes, &edit) {
        let message = format!("{}; edit {}: {}", stale.message, unsure.edit + 1, unsure.why);
        return Err(ToolError { message, ..stale }.details(json!({ "editIndex": unsure.edit })));
    }
    builder.carry(&args.path, &file.bytes, &edit).map_err(conflict)?;
    let current = Some((file.path, current.sha256()));
    Ok(PlannedEdits { plan: finish(builder)?, replacements, current })
}

/// An edit by tags that is not carried though it could be.
struct Unsure {
    edit: usize,
    why: &'static str,
}

/// Finds an edit by tags whose lines are not surely the ones that were printed.
///
/// Where the lines of a file are equal, it may have lost some and got others, which no text shows.
/// So the lines of an edit, with as many lines around them as are the same in both versions, have to
/// be in each of them once. And of equal lines, another one may have been deleted, perhaps by the
/// same caller: that is not the same change.
fn unsure(named: &[NamedLines<'_>], base: &[u8], current: &[u8], edit: &Edit) -> Option<Unsure> {
    // The builder has the error of a conflict.
    let carried = carry(base, current, edit).ok().filter(|_| !named.is_empty())?;
    carried.hunks.iter().filter(|hunk| is_named(named, hunk.hunk)).find_map(|hunk| {
        let why = if hunk.already_there {
            "it seems to be made already"
        } else if !by_tags::is_one_place([base, current], [&hunk.from, &hunk.to]) {
            "its lines are there several times"
        } else {
            return None;
        };
        Some(Unsure { edit: hunk.hunk, why })
    })
}

/// Returns whether an edit names lines. The list is in the order of the edits.
fn is_named(named: &[NamedLines<'_>], edit: usize) -> bool {
    named.binary_search_by_key(&edit, |named| named.edit).is_ok()
}

/// Reads the lines that the edits name by tags.
fn named_lines(args: &EditFile) -> Result<Vec<NamedLines<'_>>, ToolError> {
    let mut all = Vec::new();
    for (index, edit) in args.edits.iter().enumerate() {
        let TextEdit { from, to, after, .. } = edit;
        let names = LineNames { from, to, after };
        let Some(named) = NamedLines::read(&args.path, index, names)? else { continue };
        let others = [
            ("oldText", !edit.old_text.is_empty()),
            ("replaceAll", edit.replace_all == Some(true)),
            ("expectedOccurrences", edit.expected_occurrences.is_some()),
        ];
        if let Some((argument, _)) = others.into_iter().find(|(_, given)| *given) {
            return Err(by_tags::both(&args.path, index, argument));
        }
        all.push(named);
    }
    Ok(all)
}

/// Finds the version of the file in which the lines of edits were printed with their tags.
fn version_of_tags(
    session: &Session,
    builder: &mut PlanBuilder<'_>,
    args: &EditFile,
    named: &[NamedLines<'_>],
) -> Result<BaseVersion, ToolError> {
    let file = builder.load(&args.path)?;
    let file = file.ok_or_else(|| super::missing(session.workspace().root(), &args.path))?;
    let path = file.path.as_str();
    let given = args.expected_sha256.as_deref();
    let seen = session.seen(&args.path, given);
    let versions = Versions::new(session, args, &file);
    let mut found = Vec::new();
    for named in named {
        match versions.of_lines(named) {
            Some(version) => found.push(version),
            // Perhaps nothing of the file was read, with tags or without.
            None => return Err(seen.err().unwrap_or_else(|| named.not_printed(&args.path))),
        }
    }
    found.dedup();
    let [version] = found[..] else { return Err(by_tags::of_different_versions(&args.path)) };
    let expected = Expected::Hash(version);
    // The hash of the present file says that the caller knows of all changes since.
    if given.is_some() && seen? != expected {
        session.check_expected(path, Some(file.sha256()), given)?;
    }
    if version == file.sha256() {
        return Ok(BaseVersion { file, stale: None });
    }
    let stale = ToolError::stale(path, &expected, Some(file.sha256()), true);
    match base_of(session, builder, args, expected) {
        Some(file) => Ok(BaseVersion { file, stale: Some(stale) }),
        None => Err(stale),
    }
}

/// The versions of a file whose lines were printed with tags.
struct Versions<'a> {
    session: &'a Session,
    args: &'a EditFile,
    /// The present version.
    file: &'a Loaded,
    /// The texts of versions that were looked at; `None` if their bytes are not known.
    texts: RefCell<BTreeMap<Sha256, Option<Vec<u8>>>>,
}

impl<'a> Versions<'a> {
    fn new(session: &'a Session, args: &'a EditFile, file: &'a Loaded) -> Self {
        Self { session, args, file, texts: RefCell::default() }
    }

    /// Returns the version of which the lines of an edit are.
    fn of_lines(&self, named: &NamedLines<'_>) -> Option<Sha256> {
        let ledger = self.session.ledger();
        let path = self.file.path.as_str();
        let printed = ledger.tagged(path);
        if printed.is_empty() {
            return self.args.expected_sha256.as_deref()?.parse().ok();
        }
        let mut version = None;
        for name in named.names() {
            let number = name.number();
            let mut with_number =
                printed.iter().filter(|(_, lines)| lines.cover(&(number..=number)));
            // If the number never had the tag, the last line with it shows what is wrong.
            let last = with_number.clone().next();
            let found = with_number.find(|(hash, _)| self.has(*hash, name)).or(last);
            let (hash, _) = found?;
            if *version.get_or_insert(*hash) != *hash {
                return None;
            }
        }
        version.filter(|hash| ledger.has_tagged(path, *hash, &named.numbers()))
    }

    /// Returns whether a line of a version has a name; of a version whose bytes are not known, that
    /// is taken for granted.
    fn has(&self, version: Sha256, name: &Name<'_>) -> bool {
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(version).or_insert_with(|| {
            let bytes = self.bytes(version)?;
            let Self { session, file, .. } = self;
            let root = session.workspace().root();
            let encodings = &session.settings().encodings;
            let text = encodings.text_of(root, &file.path, &bytes, false)?;
            Some(without_bom(text.bytes()).to_vec())
        });
        text.as_ref().is_none_or(|text| name.is_in(text))
    }

    fn bytes(&self, version: Sha256) -> Option<Arc<Vec<u8>>> {
        if version == self.file.sha256() {
            return Some(Arc::clone(&self.file.bytes));
        }
        self.session.snapshots_for(self.args.carry)?.bytes(&self.file.path, version)
    }

    /// Returns the lines of the present file where the lines of an edit are, or were.
    fn region(&self, caller: Caller, named: &NamedLines<'_>) -> Option<RangeInclusive<usize>> {
        let version = self.of_lines(named).filter(|version| *version != self.file.sha256())?;
        let base = self.bytes(version)?;
        let edits = Edits::new(caller, &self.args.path, &base);
        let lines = edits.lines_of(named).ok()?;
        // Where the lines are is where another text for them goes.
        let mut splices = Splices::new();
        splices.push(edits.in_file(&lines.place), b"\0".to_vec());
        let edit = Edit { splices, sources: vec![vec![0]], ..Edit::default() };
        Some(match carry(&base, &self.file.bytes, &edit) {
            Ok(carried) => carried.hunks.first()?.to.clone(),
            Err(conflicts) => {
                let lines = &conflicts.first()?.current.lines;
                lines.start..=lines.end.saturating_sub(1).max(lines.start)
            }
        })
    }
}

/// Checks that the session has seen the old texts that a call with tags replaces too.
fn check_printed(
    session: &Session,
    args: &EditFile,
    named: &[NamedLines<'_>],
    file: &Loaded,
    found: &FoundEdits,
) -> Result<(), ToolError> {
    let version = file.sha256();
    let path = file.path.as_str();
    let given = args.expected_sha256.as_deref().and_then(|given| given.parse().ok());
    if named.is_empty() || [given, session.ledger().get(path)].contains(&Some(version)) {
        return Ok(());
    }
    let ledger = session.ledger();
    let mut lines = found.text_lines.iter();
    if lines.all(|lines| {
        ledger.has_tagged(path, version, lines)
            || ledger.has_lines(path, version, std::slice::from_ref(lines))
    }) {
        return Ok(());
    }
    Err(by_tags::of_different_versions(&args.path))
}

/// Refuses new texts with tags before their lines, where tags were printed and the file has no such
/// lines itself.
fn refuse_tags_in_text(
    session: &Session,
    args: &EditFile,
    path: &str,
    bytes: &[u8],
) -> Result<(), ToolError> {
    if !session.ledger().has_tags(path) && args.edits.iter().all(|edit| !edit.old_text.is_empty()) {
        return Ok(());
    }
    for (index, edit) in args.edits.iter().enumerate() {
        by_tags::refuse_in_text(
            &args.path,
            &format!("edits[{index}].newText"),
            &edit.new_text,
            bytes,
        )?;
    }
    Ok(())
}

/// Adds the tags that the lines of the edits have now to an error about them.
fn or_tags(
    session: &Session,
    files: &Files,
    caller: Caller,
    args: &EditFile,
    error: ToolError,
) -> ToolError {
    let reason = error.details["reason"].as_str().unwrap_or_default();
    let of_calls = [Reason::Stale, Reason::BadTag, Reason::TagNotFound].map(Reason::as_str);
    let is_of_tags = of_calls.contains(&reason) || reason == ProblemName::Conflict.as_str();
    let Some(named) = named_lines(args).ok().filter(|named| is_of_tags && !named.is_empty()) else {
        return error;
    };
    let Ok(options) = session.options(false, false) else { return error };
    let root = session.workspace().root();
    let mut builder = PlanBuilder::new(files, &options);
    let Ok(Some(file)) = builder.load(&args.path) else { return error };
    let Some(text) = options.encodings.text_of(root, &file.path, &file.bytes, false) else {
        return error;
    };
    let versions = Versions::new(session, args, &file);
    // The edit that failed comes first: not all may be shown.
    let failed = error.details["editIndex"].as_u64();
    let (first, others): (Vec<_>, Vec<_>) =
        named.iter().partition(|named| failed == Some(named.edit as u64));
    let regions: Vec<_> = first
        .into_iter()
        .chain(others)
        .take(LOCATED)
        .map(|named| versions.region(caller, named).unwrap_or_else(|| named.numbers()))
        .collect();
    by_tags::with_tags(error, &args.path, file.sha256(), text.bytes(), &regions)
}

/// Makes the answer to committed edits.
fn answer(
    session: &Session,
    args: &EditFile,
    report: &Report,
    replacements: usize,
    current: Option<(RelPath, Sha256)>,
) -> Success<EditFileData> {
    let (path, before, after) = super::changed(report, current);
    let mut data = EditFileData {
        path,
        before_sha256: hash_text(before),
        after_sha256: hash_text(after),
        applied_edits: args.edits.len(),
        replacements,
        carried: carried(&report.plan).collect(),
        // Somebody else may have made the same edits.
        diff: if report.plan.changes().is_empty() { None } else { super::diff(report, args.diff) },
        transaction_id: super::transaction(report),
    };
    session.add_changed_by(&mut data.carried, std::slice::from_ref(report));
    let words = carried_words(&data.carried);
    let places = match data.replacements {
        1 => "1 place".to_owned(),
        more => format!("{more} places"),
    };
    let output = format!("edited {} in {places}{words}", data.path);
    Success::new(output, data)
}

fn hash_text(hash: Option<Sha256>) -> String {
    hash.map(|hash| hash.to_string()).unwrap_or_default()
}

/// The version of a file for which edits are meant.
struct BaseVersion {
    file: Loaded,
    /// The error of the current file, if the current file is another version.
    stale: Option<ToolError>,
}

/// Finds the version for which the edits are meant: the current one, or else the caller's.
fn base_version(
    session: &Session,
    builder: &mut PlanBuilder<'_>,
    caller: Caller,
    args: &EditFile,
) -> Result<BaseVersion, ToolError> {
    if let Some(file) = printed(session, builder, caller, args) {
        return Ok(BaseVersion { file, stale: None });
    }
    let given = args.expected_sha256.as_deref();
    let expected = session.seen(&args.path, given)?;
    match session.load(builder, &args.path, given) {
        Ok(Some(file)) => Ok(BaseVersion { file, stale: None }),
        Ok(None) => Err(super::missing(session.workspace().root(), &args.path)),
        Err(error) => match base_of(session, builder, args, expected) {
            Some(file) => Ok(BaseVersion { file, stale: Some(error) }),
            None => Err(error),
        },
    }
}

/// Returns the current file if the caller gives no hash and has not read this version, but every
/// line of the edits was printed in an answer.
fn printed(
    session: &Session,
    builder: &mut PlanBuilder<'_>,
    caller: Caller,
    args: &EditFile,
) -> Option<Loaded> {
    if args.expected_sha256.is_some() {
        return None;
    }
    let file = builder.load(&args.path).ok()??;
    if session.ledger().get(file.path.as_str()) == Some(file.sha256()) {
        return None;
    }
    let encodings = &session.settings().encodings;
    let text = encodings.text_of(session.workspace().root(), &file.path, &file.bytes, false)?;
    let found = Edits::new(caller, &args.path, text.bytes()).splices(&args.edits, &[]).ok()?;
    let seen = session.ledger().has_lines(file.path.as_str(), file.sha256(), &found.lines);
    seen.then_some(file)
}

/// Returns the version of the file that the caller saw, if the file has changed since and the
/// edits may be carried.
fn base_of(
    session: &Session,
    builder: &mut PlanBuilder<'_>,
    args: &EditFile,
    expected: Expected,
) -> Option<Loaded> {
    let Expected::Hash(seen) = expected else { return None };
    let file = builder.load(&args.path).ok()?.filter(|file| file.sha256() != seen)?;
    let bytes = session.snapshots_for(args.carry)?.bytes(&file.path, seen)?;
    Some(file.of_version(bytes, seen))
}

/// Returns whether the texts of `replaceAll` edits are in both versions of a file equally often. An
/// occurrence added since would not be replaced.
fn same_counts(edits: &[TextEdit], versions: [&[u8]; 2]) -> bool {
    let [before, now] = versions.map(LfText::new);
    let everywhere =
        |edit: &&TextEdit| edit.replace_all == Some(true) || edit.expected_occurrences.is_some();
    edits.iter().filter(everywhere).all(|edit| {
        let old = normalised(&edit.old_text);
        let finder = memchr::memmem::Finder::new(old.as_bytes());
        finder.find_iter(before.text()).count() == finder.find_iter(now.text()).count()
    })
}

/// Makes the error of edits that cannot be carried, with the index of an edit in place of a hunk's.
fn conflict(rejects: Rejects) -> ToolError {
    let mut rejects: Vec<Reject> = rejects.into_iter().collect();
    let edit = rejects.first().and_then(|reject| reject.hunk);
    rejects.iter_mut().for_each(|reject| reject.hunk = None);
    ToolError::of_rejects(&rejects).details(json!({ "editIndex": edit }))
}

fn no_change(caller: Caller, path: &str, edit: Option<usize>) -> ToolError {
    let message = match (caller, edit) {
        (Caller::Editor, _) => {
            "the command changes nothing: old_str and new_str are the same".into()
        }
        (_, Some(edit)) => {
            format!("edit {} changes nothing: oldText and newText are the same", edit + 1)
        }
        (_, None) => "the edits change nothing: oldText and newText are the same".into(),
    };
    ToolError::about(ErrorKind::CommandFailed, path, Reason::NoChange, message)
        .details(json!({ "path": path, "editIndex": edit }))
        .remedies([Remedy::LeaveOut(Part::Edit)])
}

/// Where the edits of a call go.
struct FoundEdits {
    edit: Edit,
    /// For each splice, all of its lines, where lines are replaced.
    whole: Vec<Option<(Range<usize>, Vec<u8>)>>,
    /// The lines of each place.
    lines: Vec<RangeInclusive<usize>>,
    /// The lines of the places of old texts.
    text_lines: Vec<RangeInclusive<usize>>,
}

impl FoundEdits {
    /// Returns the edit with all lines that were named, even where some of them stay as they are:
    /// it is carried only where all of them are.
    fn whole_lines(&self) -> Edit {
        let mut splices = Splices::new();
        for (splice, whole) in self.edit.splices.as_slice().iter().zip(&self.whole) {
            match whole {
                Some((range, text)) => splices.push(range.clone(), text.clone()),
                None => splices.push(splice.start..splice.end, splice.text.clone()),
            }
        }
        Edit { splices, sources: self.edit.sources.clone(), ..Edit::default() }
    }
}

/// A place in the text of a file, and the splice for that place.
struct Found {
    place: Range<usize>,
    /// The index of the edit.
    edit: usize,
    splice: (Range<usize>, Vec<u8>),
    /// The same for all lines that the edit names.
    whole: Option<(Range<usize>, Vec<u8>)>,
}

/// The place of lines that an edit names, and their new text.
struct NewLines {
    place: Range<usize>,
    old: Vec<u8>,
    new: Vec<u8>,
}

/// A file in which the texts of edits are looked for.
struct Edits<'f> {
    caller: Caller,
    path: &'f str,
    bytes: &'f [u8],
    file: LfText,
}

impl<'f> Edits<'f> {
    fn new(caller: Caller, path: &'f str, bytes: &'f [u8]) -> Self {
        Self { caller, path, bytes, file: LfText::new(bytes) }
    }

    /// Returns the caller's name for the text that an edit looks for.
    fn old_of(&self, index: usize) -> String {
        if self.caller == Caller::Editor {
            "old_str".into()
        } else {
            format!("the oldText of edit {}", index + 1)
        }
    }

    /// Returns the caller's name for the replacement.
    fn new_name(&self) -> &'static str {
        if self.caller == Caller::Editor { "new_str" } else { "newText" }
    }

    fn splices(
        &self,
        edits: &[TextEdit],
        named: &[NamedLines<'_>],
    ) -> Result<FoundEdits, ToolError> {
        if edits.is_empty() {
            return Err(ToolError::arguments(Reason::NoEdits, "there are no edits")
                .remedies([Remedy::give("edits", "a list of at least one edit")]));
        }
        let mut all: Vec<Found> = Vec::new();
        for named in named {
            all.push(self.of_lines(named, &edits[named.edit])?);
        }
        for (index, edit) in edits.iter().enumerate() {
            if !is_named(named, index) {
                all.extend(self.of_text(edits, index, edit)?);
            }
        }
        all.sort_by_key(|found| (found.place.start, found.place.end, found.edit));
        self.refuse_overlapping(&all)?;
        if std::str::from_utf8(self.bytes).is_err()
            && all.iter().any(|found| !found.splice.1.is_ascii())
        {
            return Err(super::encoding(self.path));
        }
        let lines = all.iter().map(|found| self.line_numbers(&found.place)).collect();
        let texts = all.iter().filter(|found| found.whole.is_none());
        let text_lines = texts.map(|found| self.line_numbers(&found.place)).collect();
        let sources = all.iter().map(|found| vec![found.edit]).collect();
        let mut splices = Splices::new();
        let mut whole = Vec::new();
        for found in all {
            let (range, text) = found.splice;
            splices.push(range, text);
            whole.push(found.whole);
        }
        let edit = Edit { splices, sources, ..Edit::default() };
        Ok(FoundEdits { edit, whole, lines, text_lines })
    }

    /// Returns the lines of a place.
    fn line_numbers(&self, place: &Range<usize>) -> RangeInclusive<usize> {
        let last = place.end.max(place.start + 1) - 1;
        self.file.line(place.start)..=self.file.line(last.min(self.file.text().len()))
    }

    /// Finds the places of the old text of an edit.
    fn of_text(
        &self,
        edits: &[TextEdit],
        index: usize,
        edit: &TextEdit,
    ) -> Result<Vec<Found>, ToolError> {
        let old = normalised(&edit.old_text);
        let new = normalised(&edit.new_text);
        if old.is_empty() {
            let message = format!("{} is empty", self.old_of(index));
            return Err(ToolError::about(
                ErrorKind::CommandFailed,
                self.path,
                Reason::EmptyOldText,
                message,
            )
            .details(json!({ "path": self.path, "editIndex": index }))
            .remedies([
                Remedy::give(format!("edits[{index}].oldText"), "a text of the file"),
                Remedy::act(Action::Write, self.path),
            ]));
        }
        if old == new {
            return Err(no_change(self.caller, self.path, Some(index)));
        }
        let places = self.places(index, edit, old.as_bytes());
        let places = places.map_err(|error| self.or_joined(edits, index, error))?;
        let found = places.into_iter().map(|place| Found {
            splice: self.file.splice(place.start, old.as_bytes(), new.as_bytes()),
            whole: None,
            edit: index,
            place,
        });
        Ok(found.collect())
    }

    /// Finds the place of lines that an edit names by tags.
    fn of_lines(&self, named: &NamedLines<'_>, edit: &TextEdit) -> Result<Found, ToolError> {
        let NewLines { place, old, mut new } = self.lines_of(named)?;
        let text = normalised(&edit.new_text);
        let is_unfinished = !text.is_empty() && !text.ends_with('\n');
        new.extend_from_slice(text.as_bytes());
        if is_unfinished {
            new.push(b'\n');
        }
        // The end of the file stays as it is, with a line feed or without.
        let is_open =
            place.end == self.file.text().len() && !old.is_empty() && !old.ends_with(b"\n");
        if is_open && new.ends_with(b"\n") {
            new.pop();
        }
        if old == new {
            return Err(no_change(self.caller, self.path, Some(named.edit)));
        }
        let splice = self.file.splice(place.start, &old, &new);
        let range = self.in_file(&place);
        let text = [
            &self.bytes[range.start..splice.0.start],
            &splice.1,
            &self.bytes[splice.0.end..range.end],
        ];
        let whole = Some((range, text.concat()));
        Ok(Found { place, edit: named.edit, splice, whole })
    }

    /// Returns the lines that an edit names; new lines are inserted at their end.
    fn lines_of(&self, named: &NamedLines<'_>) -> Result<NewLines, ToolError> {
        let text = self.file.text();
        named.check(self.path, text)?;
        let numbers = named.numbers();
        let start = self.file.start_of(*numbers.start());
        let end = self.file.start_of(numbers.end() + 1);
        if !named.inserts {
            let place = start..end;
            return Ok(NewLines { old: text[place.clone()].to_vec(), new: Vec::new(), place });
        }
        let last = if *numbers.start() == 0 { &[][..] } else { &text[start..end] };
        if last.is_empty() || last.ends_with(b"\n") {
            return Ok(NewLines { place: end..end, old: Vec::new(), new: Vec::new() });
        }
        // The last line gets the line feed that it lacks.
        Ok(NewLines { place: start..end, old: last.to_vec(), new: [last, b"\n"].concat() })
    }

    /// Converts a place in the text to one in the file.
    fn in_file(&self, place: &Range<usize>) -> Range<usize> {
        let [(start, _), (end, _)] =
            [place.start, place.end].map(|at| self.file.splice(at, b"", b""));
        start.start..end.start
    }

    /// Refuses edits that touch the same text, or insert at one place: the order of the edits in
    /// the call means nothing.
    fn refuse_overlapping(&self, all: &[Found]) -> Result<(), ToolError> {
        let mut conflicting: Vec<usize> = all
            .windows(2)
            .filter(|pair| {
                pair[0].place.end > pair[1].place.start || pair[0].place == pair[1].place
            })
            .flat_map(|pair| [pair[0].edit, pair[1].edit])
            .collect();
        if conflicting.is_empty() {
            return Ok(());
        }
        conflicting.sort_unstable();
        conflicting.dedup();
        let named: Vec<_> = conflicting.iter().map(|index| (index + 1).to_string()).collect();
        let message =
            format!("edits {} touch the same text; nothing was changed", named.join(", "));
        Err(ToolError::about(ErrorKind::OverlappingEdits, self.path, Reason::Overlapping, message)
            .details(json!({ "path": self.path, "conflictingEditIndices": conflicting }))
            .remedies([Remedy::Join { other: conflicting[0] + 1 }]))
    }

    /// Says so where an edit is for the text that another edit of the call writes.
    fn or_joined(&self, edits: &[TextEdit], index: usize, error: ToolError) -> ToolError {
        if error.kind != ErrorKind::OldTextNotFound {
            return error;
        }
        let earlier = edits[..index].iter().enumerate().rev();
        let joined = earlier.filter_map(|(other, first)| {
            Some((other, resend::joined(self.file.text(), texts(first), texts(&edits[index]))?))
        });
        let Some((other, Corrected { old, new })) = joined.into_iter().next() else { return error };
        let message = format!(
            "{}: edits are matched in the file as it was before the call, and edit {} is for the \
             text that edit {} writes",
            self.path,
            index + 1,
            other + 1
        );
        let remedies = [
            Remedy::Arguments(vec![
                set(other, "oldText", old),
                set(other, "newText", new.unwrap_or_default()),
                ArgumentChange::Omit { argument: format!("edits[{index}]") },
            ]),
            Remedy::Join { other: other + 1 },
        ];
        ToolError { message, ..error }
            .details(json!({ "otherEditIndex": other }))
            .remedies(remedies)
    }

    /// Finds the places where the old text of an edit is replaced.
    fn places(
        &self,
        index: usize,
        edit: &TextEdit,
        old: &[u8],
    ) -> Result<Vec<Range<usize>>, ToolError> {
        let TextPlaces { starts, overlapping } = self.file.places(old);
        let found = (starts.len() + overlapping) as u64;
        let everywhere = edit.replace_all == Some(true);
        match (found, edit.expected_occurrences) {
            (0, _) => return Err(self.not_found(index, edit)),
            (_, Some(expected))
                if expected != starts.len() as u64 || (expected == 1 && overlapping > 0) =>
            {
                return Err(self.too_many(index, old, &starts, Some(expected), overlapping > 0));
            }
            (1, _) | (_, Some(_)) => {}
            _ if everywhere => {}
            _ => return Err(self.too_many(index, old, &starts, None, overlapping > 0)),
        }
        Ok(starts.into_iter().map(|start| start..start + old.len()).collect())
    }

    fn too_many(
        &self,
        index: usize,
        old: &[u8],
        starts: &[usize],
        expected: Option<u64>,
        overlapping: bool,
    ) -> ToolError {
        let places: Vec<_> = starts
            .iter()
            .take(NAMED)
            .map(|&start| {
                let end = start + old.len() - usize::from(old.ends_with(b"\n"));
                json!({ "startLine": self.file.line(start), "endLine": self.file.line(end.max(start)) })
            })
            .collect();
        let lines: Vec<_> =
            starts.iter().take(6).map(|&start| self.file.line(start).to_string()).collect();
        let s = if lines.len() == 1 { "" } else { "s" };
        let lines = format!("(line{s} {})", lines.join(", "));
        let name = self.old_of(index);
        let message = match expected {
            Some(expected) if expected != starts.len() as u64 => {
                let times = if starts.len() == 1 {
                    "once".into()
                } else {
                    format!("{} times", starts.len())
                };
                format!("{name} is there {times}, not {expected} {lines}")
            }
            _ if overlapping => format!("{name} fits in several places that overlap {lines}"),
            _ => format!("{name} fits in several places {lines}"),
        };
        // Text around it helps only where the old text is there too often.
        let wanted = expected.unwrap_or(1);
        let too_often = starts.len() as u64 > wanted || overlapping;
        let around = starts.iter().filter(|_| too_often && wanted == 1);
        let around = around.filter_map(|&start| self.more_text(start, old));
        let mut remedies: Vec<Remedy> = around.take(MAX_PLACES).collect();
        if remedies.is_empty() && too_often {
            let times = if wanted == 1 { "once".into() } else { format!("{wanted} times") };
            remedies.push(Remedy::give(
                format!("edits[{index}].oldText"),
                format!("a longer text of the file, which is there {times}"),
            ));
        }
        match expected {
            None => remedies.push(Remedy::set(format!("edits[{index}].replaceAll"), true)),
            // No number of occurrences selects one of two overlapping places.
            Some(_) if starts.len() == 1 && overlapping => {}
            Some(_) => remedies
                .push(Remedy::set(format!("edits[{index}].expectedOccurrences"), starts.len())),
        }
        ToolError::about(ErrorKind::MultipleMatches, self.path, Reason::ManyPlaces, message)
            .details(json!({
                "path": self.path,
                "editIndex": index,
                "occurrences": starts.len(),
                "candidates": places,
                "moreCandidates": starts.len() > NAMED,
            }))
            .remedies(remedies)
    }

    /// Returns the text around a place that makes its text unique.
    fn more_text(&self, start: usize, old: &[u8]) -> Option<Remedy> {
        let MoreText { before, after } = self.file.more_text(start, old)?;
        Some(Remedy::AddText { means_line: self.file.line(start), before, after })
    }

    fn not_found(&self, index: usize, edit: &TextEdit) -> ToolError {
        let mut message = format!("{} is not in the file", self.old_of(index));
        let mut details = json!({ "path": self.path, "editIndex": index });
        let mut remedy = Remedy::read_again(self.path);
        match self.reason(edit) {
            Some(RejectReason::ContextNotFound { nearest: Some(nearest), .. }) => {
                message += &match nearest.pass {
                    Some(_) => {
                        let one = nearest.lines.start() == nearest.lines.end();
                        let s = if one { "s" } else { "" };
                        format!(
                            "; {} differ{s} only in blanks or punctuation",
                            line_words(&nearest.lines)
                        )
                    }
                    None => format!("; {nearest}"),
                };
                if let Some(unseen) = nearest.unseen.as_ref().filter(|_| nearest.pass.is_some()) {
                    message += &format!("; {unseen}");
                }
                remedy = self.instead(index, edit, &nearest);
                details["nearest"] = value_of(&nearest);
            }
            Some(RejectReason::ContextNotFound { nearest: None, named }) if !named.is_empty() => {
                let there = named.iter().map(|one| format!("line {} is `{}`", one.line, one.text));
                message += &format!("; {}", there.collect::<Vec<_>>().join(", "));
                remedy = Remedy::read_around(self.path, &named[0]);
                details["named"] = value_of(&named);
            }
            Some(RejectReason::AlreadyApplied { lines }) => {
                message +=
                    &format!("; {} is there already, at {}", self.new_name(), line_words(&lines));
                remedy = Remedy::LeaveOut(Part::Edit);
                details["appliedLines"] =
                    json!({ "startLine": lines.start(), "endLine": lines.end() });
            }
            // The text is there but for its last line feed.
            None if normalised(&edit.old_text)
                .strip_suffix('\n')
                .is_some_and(|old| self.file.text().ends_with(old.as_bytes())) =>
            {
                message += "; the last line of the file ends without a line feed";
                remedy = Remedy::give(
                    format!("edits[{index}].oldText"),
                    "the same text without its last line feed",
                );
            }
            _ => {}
        }
        // The replacement character that a reader shows for invalid UTF-8 is not in the file.
        if edit.old_text.contains(char::REPLACEMENT_CHARACTER)
            && std::str::from_utf8(self.bytes).is_err()
        {
            message += "; U+FFFD stands for bytes that are not UTF-8, and cannot be looked for";
            remedy = Remedy::give(
                format!("edits[{index}].oldText"),
                "a text of the file without U+FFFD",
            );
        }
        ToolError::about(ErrorKind::OldTextNotFound, self.path, Reason::OldTextNotFound, message)
            .details(details)
            .remedies([remedy])
    }

    /// Returns what to do about an edit whose text is nearly at a place: what to send, where the
    /// place has the same text but for what is overlooked easily.
    fn instead(&self, index: usize, edit: &TextEdit, nearest: &Nearest) -> Remedy {
        match resend::corrected(self.file.text(), texts(edit), nearest) {
            Some(Corrected { old, new }) => {
                let argument = format!("edits[{index}].newText");
                let new = new.map_or_else(
                    || ArgumentChange::Give { argument, wanted: "indented like that".into() },
                    |new| set(index, "newText", new),
                );
                Remedy::Arguments(vec![set(index, "oldText", old), new])
            }
            None => {
                let lines = Some(nearest.lines.clone());
                Remedy::ReadAgain { path: self.path.into(), lines }
            }
        }
    }

    /// Returns the engine's reject of the same change as a hunk, with the place where its lines
    /// nearly are.
    fn reason(&self, edit: &TextEdit) -> Option<RejectReason> {
        let old = normalised(&edit.old_text);
        let new = normalised(&edit.new_text);
        nearest_text(without_bom(self.bytes), old.as_bytes(), new.as_bytes(), 1)
    }
}

fn texts(edit: &TextEdit) -> Texts<'_> {
    Texts { old: &edit.old_text, new: &edit.new_text }
}

/// The change that gives an edit another text.
fn set(edit: usize, name: &str, text: String) -> ArgumentChange {
    ArgumentChange::Set { argument: format!("edits[{edit}].{name}"), value: text.into() }
}
