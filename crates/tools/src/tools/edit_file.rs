//! `edit_file`: replaces pieces of text, each of them found in the file as it was before the call.

use std::ops::{Range, RangeInclusive};

use patch_engine::remedy::{Action, MAX_PLACES, Part};
use patch_engine::{
    Edit, ErrorKind, Expected, FinalNewline, Host, Loaded, Options, PlanBuilder, Profile, Reject,
    RejectReason, Rejects, Remedy, Sha256, Splices, line_words,
};
use patch_grammar::{Hunk, Line, LineEndings, LineKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::tools::file_tool::{About, FileTool};
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

/// How many lines above or below a place are looked at for what makes it the only one.
const WIDER: usize = 5;

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
    pub old_text: String,
    /// What takes its place.
    pub new_text: String,
    /// Replace it wherever it is.
    pub replace_all: Option<bool>,
    /// Replace all, if there are so many.
    #[serde(default, deserialize_with = "given")]
    pub expected_occurrences: Option<u64>,
}

/// What `edit_file` gives.
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
            expectedOccurrences times), and edits may not overlap. Line ends are kept.",
        errors: "Errors: old_text_not_found: details.nearest tells where it nearly is; read there \
            and copy. multiple_matches: add surrounding lines. overlapping_edits: join \
            details.conflictingEditIndices. stale_file: read again. binary_file: leave it. \
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

/// Does the same for a caller that has other names for the texts.
pub(crate) fn edit_file_as(
    session: &Session,
    caller: Caller,
    args: &EditFile,
    host: &mut dyn Host,
) -> ToolResult<EditFileData> {
    session.changing(Tool::EditFile, host, |call| {
        let given = args.expected_sha256.as_deref();
        let mut replacements = 0;
        let mut now = None;
        let report = call.commit(&mut |files| {
            let root = session.workspace().root();
            let options = session.options(false, false)?;
            let mut builder = PlanBuilder::new(files, &options);
            // The version that the edits are for, and the error of the current file if that is
            // another version.
            let (file, stale) = match printed(session, &mut builder, caller, args) {
                Some(file) => (file, None),
                None => {
                    let expected = session.seen(&args.path, given)?;
                    match session.load(&mut builder, &args.path, given) {
                        Ok(Some(file)) => (file, None),
                        Ok(None) => return Err(super::missing(root, &args.path)),
                        Err(error) => match base_of(session, &mut builder, args, expected) {
                            Some(base) => (base, Some(error)),
                            None => return Err(error),
                        },
                    }
                }
            };
            let unicode = args.edits.iter().any(|edit| !edit.new_text.is_ascii());
            let Some(text) = options.encodings.text_of(root, &file.path, &file.bytes, unicode)
            else {
                return Err(super::binary(&args.path, file.bytes.len(), file.sha256()));
            };
            let found = Edits::new(caller, &args.path, text.bytes()).splices(&args.edits);
            let found = found.map(|found| found.edit);
            let Some(stale) = stale else {
                let splices = found?.splices;
                replacements = splices.as_slice().len();
                let splices = text.stored(splices).ok_or_else(|| super::encoding(&args.path))?;
                builder.update(&args.path, splices)?;
                let plan = finish(builder)?;
                return if plan.is_empty() {
                    Err(no_change(caller, &args.path, None))
                } else {
                    Ok(plan)
                };
            };
            let current = builder.load(&args.path)?.ok_or_else(|| stale.clone())?;
            // Lines of other encodings are not compared as bytes.
            let (Ok(edit), None) = (found, text.encoding()) else { return Err(stale) };
            if !same_counts(&args.edits, [&file.bytes, &current.bytes]) {
                return Err(stale);
            }
            replacements = edit.splices.as_slice().len();
            builder.carry(&args.path, &file.bytes, &edit).map_err(conflict)?;
            now = Some((file.path, current.sha256()));
            finish(builder)
        })?;
        let hash = |hash: Option<Sha256>| hash.map(|hash| hash.to_string()).unwrap_or_default();
        let (path, before, after) = super::changed(&report, now);
        let mut data = EditFileData {
            path,
            before_sha256: hash(before),
            after_sha256: hash(after),
            applied_edits: args.edits.len(),
            replacements,
            carried: carried(&report.plan).collect(),
            // Somebody else may have made the same edits.
            diff: if report.plan.changes().is_empty() {
                None
            } else {
                super::diff(&report, args.diff)
            },
            transaction_id: super::transaction(&report),
        };
        session.add_changed_by(&mut data.carried, std::slice::from_ref(&report));
        let words = carried_words(&data.carried);
        let places = match data.replacements {
            1 => "1 place".to_owned(),
            more => format!("{more} places"),
        };
        let output = format!("edited {} in {places}{words}", data.path);
        Ok(Success::new(output, data))
    })
}

/// Returns the file as it is now, if the caller gives no hash and has not read this version, but
/// every line of the edits was printed in an answer.
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
    let found = Edits::new(caller, &args.path, text.bytes()).splices(&args.edits).ok()?;
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

/// Returns whether both versions of a file have the texts of `replaceAll` edits equally often: an
/// occurrence that was added since would be left out.
fn same_counts(edits: &[TextEdit], versions: [&[u8]; 2]) -> bool {
    let [before, now] = versions.map(|bytes| text_and_crlf(without_bom(bytes)).0);
    let everywhere =
        |edit: &&TextEdit| edit.replace_all == Some(true) || edit.expected_occurrences.is_some();
    edits.iter().filter(everywhere).all(|edit| {
        let old = normalised(&edit.old_text);
        let count = |text: &[u8]| memchr::memmem::find_iter(text, old.as_bytes()).count();
        count(&before) == count(&now)
    })
}

/// Makes the error of edits that cannot be carried, with the index of an edit in place of that of a
/// hunk.
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

/// Returns a text with CRLF as LF, and the positions of the line feeds that stand for CRLF.
fn text_and_crlf(body: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut text = Vec::with_capacity(body.len());
    let mut crlf = Vec::new();
    for (at, &byte) in body.iter().enumerate() {
        if byte == b'\r' && body.get(at + 1) == Some(&b'\n') {
            crlf.push(text.len());
        } else {
            text.push(byte);
        }
    }
    (text, crlf)
}

/// Where the edits of a call go.
struct FoundEdits {
    edit: Edit,
    /// The lines that each place has a part of.
    lines: Vec<RangeInclusive<usize>>,
}

/// A file with CRLF as LF, and where each byte of that is in the file.
struct Edits<'f> {
    caller: Caller,
    path: &'f str,
    bytes: &'f [u8],
    /// Where the text begins, after a byte-order mark.
    bom: usize,
    text: Vec<u8>,
    /// The positions in `text` of line feeds that stand for CRLF, ascending.
    crlf: Vec<usize>,
}

impl<'f> Edits<'f> {
    fn new(caller: Caller, path: &'f str, bytes: &'f [u8]) -> Self {
        let body = without_bom(bytes);
        let (text, crlf) = text_and_crlf(body);
        Self { caller, path, bytes, bom: bytes.len() - body.len(), text, crlf }
    }

    /// Returns what the caller calls the text that an edit looks for.
    fn old_of(&self, index: usize) -> String {
        if self.caller == Caller::Editor {
            "old_str".into()
        } else {
            format!("the oldText of edit {}", index + 1)
        }
    }

    /// Returns what the caller calls the text that replaces it.
    fn new_name(&self) -> &'static str {
        if self.caller == Caller::Editor { "new_str" } else { "newText" }
    }

    /// Converts a position in the text to a position in the file.
    fn in_file(&self, at: usize) -> usize {
        self.bom + at + self.crlf.partition_point(|&crlf| crlf < at)
    }

    /// Returns the line of a position in the text, from 1.
    fn line(&self, at: usize) -> usize {
        self.text[..at].iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    fn splices(&self, edits: &[TextEdit]) -> Result<FoundEdits, ToolError> {
        if edits.is_empty() {
            return Err(ToolError::arguments(Reason::NoEdits, "there are no edits")
                .remedies([Remedy::give("edits", "a list of at least one edit")]));
        }
        // The place of an edit, its index, and the splice for that place.
        type Found = (Range<usize>, usize, (Range<usize>, Vec<u8>));
        let mut all: Vec<Found> = Vec::new();
        for (index, edit) in edits.iter().enumerate() {
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
            for place in self.places(index, edit, old.as_bytes())? {
                let splice = self.splice(&place, old.as_bytes(), new.as_bytes());
                all.push((place, index, splice));
            }
        }
        all.sort_by_key(|(place, index, _)| (place.start, place.end, *index));
        let mut conflicting: Vec<usize> = all
            .windows(2)
            .filter(|pair| pair[0].0.end > pair[1].0.start)
            .flat_map(|pair| [pair[0].1, pair[1].1])
            .collect();
        if !conflicting.is_empty() {
            conflicting.sort_unstable();
            conflicting.dedup();
            let named: Vec<_> = conflicting.iter().map(|index| (index + 1).to_string()).collect();
            let message =
                format!("edits {} touch the same text; nothing was changed", named.join(", "));
            return Err(ToolError::about(
                ErrorKind::OverlappingEdits,
                self.path,
                Reason::Overlapping,
                message,
            )
            .details(json!({ "path": self.path, "conflictingEditIndices": conflicting }))
            .remedies([Remedy::Join { other: conflicting[0] + 1 }]));
        }
        if std::str::from_utf8(self.bytes).is_err()
            && all.iter().any(|(_, _, (_, text))| !text.is_ascii())
        {
            return Err(super::encoding(self.path));
        }
        let lines_of = |place: &Range<usize>| self.line(place.start)..=self.line(place.end - 1);
        let lines = all.iter().map(|(place, ..)| lines_of(place)).collect();
        let sources = all.iter().map(|(_, index, _)| vec![*index]).collect();
        let mut splices = Splices::new();
        all.into_iter().for_each(|(_, _, (range, text))| splices.push(range, text));
        Ok(FoundEdits { edit: Edit { splices, sources, ..Edit::default() }, lines })
    }

    /// Finds the places where the old text of an edit is replaced.
    fn places(
        &self,
        index: usize,
        edit: &TextEdit,
        old: &[u8],
    ) -> Result<Vec<Range<usize>>, ToolError> {
        let mut starts = Vec::new();
        let mut overlapping = 0;
        let finder = memchr::memmem::Finder::new(old);
        let mut from = 0;
        while let Some(at) = finder.find(&self.text[from..]) {
            let at = from + at;
            // A text that overlaps itself fits in more places than it can be replaced at.
            match starts.last() {
                Some(last) if at < last + old.len() => overlapping += 1,
                _ => starts.push(at),
            }
            from = at + 1;
        }
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

    /// Makes the splice of a place: what old and new text share at both ends stays as it is.
    fn splice(&self, place: &Range<usize>, old: &[u8], new: &[u8]) -> (Range<usize>, Vec<u8>) {
        let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        let (old, new) = (&old[head..], &new[head..]);
        let tail =
            old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
        let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
        let start = place.start + head;
        let end = start + old.len();
        let mut text = Vec::with_capacity(new.len());
        let mut at = start;
        for &byte in new {
            // The nth new line ends like the nth old one, or else like its neighbours.
            if byte == b'\n' {
                let next = self.text[at.min(end)..end]
                    .iter()
                    .position(|&byte| byte == b'\n')
                    .map(|next| at + next);
                if self.ends_in_crlf(next.unwrap_or(end)) {
                    text.push(b'\r');
                }
                at = next.map_or(end, |next| next + 1);
            }
            text.push(byte);
        }
        // A carriage return that belongs to the line feed after the text stays with it.
        (self.in_file(start)..self.in_file(end), text)
    }

    /// Returns whether the first line that ends at or after a position, or else the last one before
    /// it, ends in CRLF.
    fn ends_in_crlf(&self, at: usize) -> bool {
        let after = self.text[at.min(self.text.len())..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map(|next| at + next);
        let near = after.or_else(|| {
            self.text[..at.min(self.text.len())].iter().rposition(|&byte| byte == b'\n')
        });
        near.is_some_and(|near| self.crlf.binary_search(&near).is_ok())
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
                json!({ "startLine": self.line(start), "endLine": self.line(end.max(start)) })
            })
            .collect();
        let lines: Vec<_> =
            starts.iter().take(6).map(|&start| self.line(start).to_string()).collect();
        let s = if lines.len() == 1 { "" } else { "s" };
        let (name, lines) = (self.old_of(index), format!("(line{s} {})", lines.join(", ")));
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
        // A text that is there once needs nothing around it, nor does one that is there too seldom.
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

    /// Returns the text around a place that makes it unique: from its own line, or else the fewest
    /// lines above or below it.
    fn more_text(&self, start: usize, old: &[u8]) -> Option<Remedy> {
        let end = start + old.len();
        let once = |range: &Range<usize>| {
            let wanted = &self.text[range.clone()];
            let finder = memchr::memmem::Finder::new(wanted);
            finder.find(&self.text) == Some(range.start)
                && finder.find(&self.text[range.start + 1..]).is_none()
        };
        // The first byte of the line and of those above it; the last byte of the line and of those
        // below it.
        let above =
            self.text[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
        let aboves = std::iter::successors(Some(above), |&above| {
            let feed = above.checked_sub(1)?;
            Some(
                self.text[..feed]
                    .iter()
                    .rposition(|&byte| byte == b'\n')
                    .map_or(0, |feed| feed + 1),
            )
        });
        let next = |at: usize| {
            self.text[at..].iter().position(|&byte| byte == b'\n').map(|feed| at + feed + 1)
        };
        let below = if old.ends_with(b"\n") {
            end
        } else {
            next(end).map_or(self.text.len(), |next| next - 1)
        };
        let belows = std::iter::successors(Some(below), |&below| {
            (below < self.text.len()).then(|| next(below).unwrap_or(self.text.len()))
        });
        let wider = aboves.take(WIDER).map(|above| above..end);
        let ranges = wider
            .zip(belows.take(WIDER).map(|below| start..below))
            .flat_map(|(above, below)| [above, below]);
        let range = ranges.into_iter().find(once)?;
        let text = |range: Range<usize>| {
            std::str::from_utf8(&self.text[range]).ok().map(ToOwned::to_owned)
        };
        Some(Remedy::AddText {
            means_line: self.line(start),
            before: text(range.start..start)?,
            after: text(end..range.end)?,
        })
    }

    fn not_found(&self, index: usize, edit: &TextEdit) -> ToolError {
        let mut message = format!("{} is not in the file", self.old_of(index));
        let mut details = json!({ "path": self.path, "editIndex": index });
        let mut remedy = Remedy::read_again(self.path);
        match self.reason(edit) {
            Some(RejectReason::ContextNotFound { nearest: Some(nearest) }) => {
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
                remedy = Remedy::ReadAgain {
                    path: self.path.into(),
                    lines: Some(nearest.lines.clone()),
                };
                details["nearest"] = value_of(&nearest);
            }
            Some(RejectReason::AlreadyApplied { lines }) => {
                message +=
                    &format!("; {} is there already, at {}", self.new_name(), line_words(&lines));
                remedy = Remedy::LeaveOut(Part::Edit);
                details["appliedLines"] =
                    json!({ "startLine": lines.start(), "endLine": lines.end() });
            }
            // Only the end of its last line is not there.
            None if normalised(&edit.old_text)
                .strip_suffix('\n')
                .is_some_and(|old| self.text.ends_with(old.as_bytes())) =>
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

    /// Returns the engine's reject of the same change as a hunk, which says where its lines nearly
    /// are.
    fn reason(&self, edit: &TextEdit) -> Option<RejectReason> {
        let (old, new) = (normalised(&edit.old_text), normalised(&edit.new_text));
        fn of<'l>(lines: &[&'l str], kind: LineKind) -> impl Iterator<Item = Line<'l>> {
            lines.iter().map(move |text| Line::new(text.as_bytes(), LineEndings::Framing, 1, kind))
        }
        // Lines that the texts share at both ends become context.
        let (all, news): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
        let head = all.iter().zip(&news).take_while(|(one, other)| one == other).count();
        let most = all.len().min(news.len()) - head;
        let tail = all
            .iter()
            .rev()
            .zip(news.iter().rev())
            .take_while(|(one, other)| one == other)
            .count()
            .min(most);
        let lines = of(&all[..head], LineKind::Context)
            .chain(of(&all[head..all.len() - tail], LineKind::Delete))
            .chain(of(&news[head..news.len() - tail], LineKind::Insert))
            .chain(of(&all[all.len() - tail..], LineKind::Context))
            .collect();
        let hunk =
            Hunk { opened: true, lines, endings: LineEndings::Framing, line: 1, ..Hunk::default() };
        let rules = Options::new(Profile::Strict).placement;
        let rejects = patch_engine::edit(
            &self.bytes[self.bom..],
            std::slice::from_ref(&hunk),
            &rules,
            FinalNewline::Keep,
        );
        rejects.err()?.into_iter().next().map(|reject| reject.reason)
    }
}
