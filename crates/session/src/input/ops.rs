//! The built-in `apply_patch` tool of the Responses API: one call for each file, a diff without
//! headers, one answer for each call.
//!
//! All calls of a response are one patch here, planned and committed together. Three rules differ
//! from the envelope and follow the API's own applier: a file made by `create_file` ends without a
//! line feed unless the last line of the diff is empty, a changed file keeps its end, and stacked
//! `@@` lines must all be in the file.

use std::ops::Range;

use patch_engine::{FinalNewline, Options, Problem, Reject, Remedy};
use patch_grammar::envelope::Writer;
use patch_grammar::marker::NO_NEWLINE;
use patch_grammar::{Hunk, LineEndings, Marker, ParseOptions, Patch, SectionOperation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answer::arguments;
use crate::answer::hints::{self, Caller};
use crate::input::error::InputError;
use crate::json;

/// One `apply_patch_call` item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchCall {
    /// The id, to be repeated in the answer.
    pub call_id: String,
    /// The requested operation.
    pub operation: FileOperation,
    /// The maker of the call, if not the model itself; repeated in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Value>,
}

/// The operation of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum FileOperation {
    /// A new file; every line of the diff begins with `+`.
    CreateFile {
        /// The file.
        path: String,
        /// Its lines.
        diff: String,
    },
    /// A change; the diff is hunks.
    UpdateFile {
        /// The file.
        path: String,
        /// The hunks; none where the file only moves.
        diff: String,
        /// Where the file goes, if it moves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        move_to: Option<String>,
    },
    /// The file is deleted.
    DeleteFile {
        /// The file.
        path: String,
    },
}

impl PatchCall {
    /// Writes the call as an item of a response.
    pub(crate) fn item(&self) -> Value {
        let mut item = serde_json::to_value(self).expect("text keys");
        item["type"] = "apply_patch_call".into();
        item["status"] = "completed".into();
        item
    }

    fn bad(&self, message: String) -> InputError {
        InputError::BadCall { call_id: self.call_id.clone(), message }
    }
}

/// One `apply_patch_call_output` item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallOutput {
    /// Always `apply_patch_call_output`.
    pub r#type: &'static str,
    /// The id of the call.
    pub call_id: String,
    /// `completed` or `failed`.
    pub status: &'static str,
    /// The text for the model.
    pub output: String,
    /// The caller of the call, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Value>,
}

impl CallOutput {
    /// Makes the answer to a call.
    #[must_use]
    pub fn new(call: &PatchCall, completed: bool, output: String) -> Self {
        let status = if completed { "completed" } else { "failed" };
        Self {
            r#type: "apply_patch_call_output",
            call_id: call.call_id.clone(),
            status,
            output,
            caller: call.caller.clone(),
        }
    }
}

/// Reads the calls from a response, a list of items, or one item; other items are skipped.
///
/// # Errors
///
/// [`InputError::Unreadable`] when there is no call among the items, for an incomplete call, and
/// for an unknown field or operation: its meaning would be lost.
pub fn calls(json: &str) -> Result<Vec<PatchCall>, InputError> {
    let items = json::unique(json.as_bytes()).map_err(|error| {
        let message = format!("this is not a list of `apply_patch_call` items: {error}");
        InputError::Unreadable(message)
    });
    let items = match items? {
        Value::Array(items) => items,
        Value::Object(mut object) => match object.get_mut("output") {
            Some(Value::Array(items)) => std::mem::take(items),
            _ => vec![object.into()],
        },
        other => vec![other],
    };
    let mut calls = Vec::new();
    for (nth, item) in items.into_iter().enumerate() {
        // An item of another type with an operation is not skipped, but an error.
        if item["type"] == "apply_patch_call" || item.get("operation").is_some() {
            let call = read_call(item).map_err(|problems| format!("item {}: {problems}", nth + 1));
            calls.push(call.map_err(InputError::Unreadable)?);
        }
    }
    if calls.is_empty() {
        return Err(InputError::Unreadable(
            "there is no `apply_patch_call` among the items".into(),
        ));
    }
    Ok(calls)
}

fn read_call(mut item: Value) -> Result<PatchCall, String> {
    if let Some(operation) = item["operation"].as_object_mut() {
        // A null field counts as absent.
        operation.retain(|_, value| !value.is_null());
    }
    let problems = arguments::problems(
        &call_schema(item["operation"]["type"].as_str().unwrap_or_default()),
        &item,
    );
    if !problems.problems.is_empty() {
        return Err(problems.problems.join("; "));
    }
    let call = json!({
        "call_id": item["call_id"], "operation": item["operation"], "caller": item["caller"],
    });
    serde_json::from_value(call).map_err(|error| error.to_string())
}

/// Returns the schema of a call with this type of operation: the fields in the API's documentation,
/// and those added by its SDKs.
fn call_schema(operation: &str) -> Value {
    let text = json!({ "type": "string" });
    let (properties, required) = match operation {
        "create_file" => (json!({ "path": text, "diff": text }), &["path", "diff"][..]),
        "update_file" => {
            (json!({ "path": text, "diff": text, "move_to": text }), &["path", "diff"][..])
        }
        "delete_file" => (json!({ "path": text }), &["path"][..]),
        _ => (json!({}), &["type"][..]),
    };
    let mut operation = json!({ "type": "object", "properties": properties, "required": required });
    operation["properties"]["type"] =
        json!({ "enum": ["create_file", "update_file", "delete_file"] });
    json!({
        "type": "object",
        "properties": {
            "type": { "enum": ["apply_patch_call"] },
            "id": text,
            "call_id": text,
            "status": { "enum": ["completed"] },
            "operation": operation,
            "caller": {},
            "created_by": {},
        },
        "required": ["type", "call_id", "operation"],
    })
}

/// Returns the options for the diffs of calls: there is no envelope, and the first `@@` may be
/// missing.
fn parse_options() -> ParseOptions {
    ParseOptions { strip_wrappers: false, bare_first_hunk: true, ..ParseOptions::default() }
}

/// Sets the rules of the API beyond those of the envelope: the first `@@` may be missing, stacked
/// ones must all be in the file, and a file keeps its end.
pub fn set_rules(options: &mut Options) {
    options.parse.bare_first_hunk = true;
    options.placement.stacked_headers_must_match = true;
    options.final_newline = FinalNewline::Keep;
}

/// Writes the calls as one patch in the envelope: one section for each call, in their order.
///
/// # Errors
///
/// [`InputError::BadCall`] for the first call with a diff that does not parse, or changes another
/// file.
pub fn to_envelope(calls: &[PatchCall]) -> Result<Vec<u8>, InputError> {
    let mut out = Writer::default();
    for call in calls {
        parse_one(call)?;
        write(&mut out, call);
    }
    Ok(out.finish())
}

/// The place of a call's diff in the envelope from [`to_envelope`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLines {
    /// The id of the call.
    pub call_id: String,
    /// The lines of the diff in the envelope, from 1.
    pub lines: Range<usize>,
}

impl CallLines {
    /// Returns the place in another text, whose line `to` is line `from` of this one.
    pub(crate) fn moved(&self, from: usize, to: usize) -> Self {
        let Range { start, end } = self.lines;
        Self { call_id: self.call_id.clone(), lines: start + to - from..end + to - from }
    }
}

/// Returns the place of each call's diff in the envelope from [`to_envelope`].
#[must_use]
pub fn lines_of(calls: &[PatchCall]) -> Vec<CallLines> {
    let mut out = Writer::default();
    let mut all = Vec::with_capacity(calls.len());
    for call in calls {
        let first = out.next_line() + headers(call);
        write(&mut out, call);
        all.push(CallLines { call_id: call.call_id.clone(), lines: first..out.next_line() });
    }
    all
}

/// Counts the lines of the envelope above a call's diff, up to the call before.
fn headers(call: &PatchCall) -> usize {
    match &call.operation {
        FileOperation::UpdateFile { move_to: Some(_), .. } => 2,
        _ => 1,
    }
}

fn write(out: &mut Writer, call: &PatchCall) {
    match &call.operation {
        FileOperation::CreateFile { path, diff } => {
            out.header(Marker::Add, path, None);
            out.lines(diff.as_bytes());
            if !diff.is_empty() {
                out.lines(NO_NEWLINE.as_bytes());
            }
        }
        FileOperation::UpdateFile { path, diff, move_to } => {
            out.header(Marker::Update, path, move_to.as_deref());
            out.lines(diff.as_bytes());
        }
        FileOperation::DeleteFile { path } => out.header(Marker::Delete, path, None),
    }
}

/// Reads one call as a patch of exactly one section, for the call's own file. A diff must not
/// smuggle in others.
///
/// # Errors
///
/// Those of [`to_envelope`].
pub fn parse_one(call: &PatchCall) -> Result<Patch, InputError> {
    let mut alone = Writer::default();
    write(&mut alone, call);
    let patch = patch_grammar::parse(alone.finish(), &parse_options()).map_err(|mut error| {
        // The error counts lines of the diff, not of the envelope around the diff.
        let above = 1 + headers(call) as u32;
        error.line = error.line.saturating_sub(above).max(1);
        let next = hints::told(&Remedy::of_parse(&error), Caller::Operations);
        call.bad(format!("in the diff, {error}\nnext: {next}"))
    })?;
    let own = match patch.sections() {
        [only] => match (&call.operation, &only.operation) {
            (FileOperation::CreateFile { path, .. }, SectionOperation::Add(_))
            | (FileOperation::DeleteFile { path }, SectionOperation::Delete(_)) => {
                *path == only.path.text
            }
            (
                FileOperation::UpdateFile { path, move_to: to, .. },
                SectionOperation::Update { move_to, .. },
            ) => *path == only.path.text && to.as_deref() == move_to.as_ref().map(|to| &*to.text),
            _ => false,
        },
        _ => false,
    };
    if own {
        Ok(patch)
    } else {
        Err(call.bad("the diff says more than a change of its own file".into()))
    }
}

/// Explains a reject of the patch from [`to_envelope`] in terms of the call: the model never saw
/// the patch.
#[must_use]
pub fn explain(calls: &[PatchCall], reject: &Reject) -> String {
    let line = reject.section.and_then(|index| {
        let diff = lines_of(calls).into_iter().nth(index)?.lines;
        let line = reject.patch_line? as usize;
        diff.contains(&line).then(|| line - diff.start + 1)
    });
    let hunk = reject.hunk.map(|hunk| format!(": hunk {}", hunk + 1)).unwrap_or_default();
    let line = line.map(|line| format!(" (diff line {line})")).unwrap_or_default();
    let next = match hints::told(&reject.remedies(), Caller::Operations) {
        next if next.is_empty() => next,
        next => format!("\nnext: {next}"),
    };
    let path = fs_guard::shortened(&reject.path);
    match &reject.problem {
        Problem::Guard(error) => format!("{error}{next}"),
        problem => format!("{path}{hunk}{line}: {problem}{next}"),
    }
}

/// Writes a patch as calls, named `call_1`, `call_2` and so on.
///
/// # Errors
///
/// [`InputError::Inexpressible`] for a copy: there is no such operation.
pub fn from_patch(patch: &Patch, ends_every_line: bool) -> Result<Vec<PatchCall>, InputError> {
    let mut calls = Vec::with_capacity(patch.sections().len());
    for (index, section) in patch.sections().iter().enumerate() {
        let path = section.path.text.to_string();
        let operation = match &section.operation {
            SectionOperation::Delete(_) => FileOperation::DeleteFile { path },
            SectionOperation::Copy { .. } => {
                let problem = format!("{path}: these operations cannot copy a file");
                return Err(InputError::Inexpressible(problem));
            }
            SectionOperation::Update { move_to, hunks } => {
                let diff = hunks.iter().map(|hunk| hunk_text(patch, hunk)).collect();
                let move_to = move_to.as_ref().map(|to| to.text.to_string());
                FileOperation::UpdateFile { path, diff, move_to }
            }
            SectionOperation::Add(added) => {
                let mut lines: Vec<_> = added.lines().map(String::from_utf8_lossy).collect();
                // The lines are joined by line feeds, so an empty last line stands for a final line
                // feed.
                let ends = !added.no_newline
                    && !lines.is_empty()
                    && (ends_every_line || lines.last().is_some_and(|last| !last.is_empty()));
                if ends {
                    lines.push("".into());
                }
                let lines: Vec<_> = lines.iter().map(|line| format!("+{line}")).collect();
                FileOperation::CreateFile { path, diff: lines.join("\n") }
            }
        };
        calls.push(PatchCall { call_id: format!("call_{}", index + 1), operation, caller: None });
    }
    Ok(calls)
}

/// Returns the text of a hunk. Carriage returns of the envelope around the hunk are left out.
fn hunk_text(patch: &Patch, hunk: &Hunk<'_>) -> String {
    let text = String::from_utf8_lossy(patch.bytes(hunk.span.clone()));
    if hunk.endings == LineEndings::Framing {
        text.replace("\r\n", "\n")
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(operation: Value) -> Value {
        json!({ "type": "apply_patch_call", "call_id": "c", "operation": operation })
    }

    fn with(mut value: Value, key: &str, new: Value) -> Value {
        value[key] = new;
        value
    }

    #[test]
    fn calls_are_read_from_a_response_a_list_or_one_item() {
        let item = r#"{"type":"apply_patch_call","id":"x","call_id":"c","status":"completed","operation":{"type":"delete_file","path":"a"}}"#;
        for text in [
            item.to_owned(),
            format!("[{item}]"),
            format!(r#"{{"object":"response","output":[{{"type":"message"}},{item}]}}"#),
        ] {
            let calls = calls(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(calls.len(), 1, "{text}");
            assert_eq!(calls[0].operation, FileOperation::DeleteFile { path: "a".into() });
        }
        for text in [
            "[]",
            "{}",
            "1",
            r#"[{"type":"message"}]"#,
            "nonsense",
            r#"[{"type":"apply_patch_call"}]"#,
            // Of two paths, one would be lost.
            r#"{"type":"apply_patch_call","call_id":"c","operation":{"type":"delete_file","path":"b","path":"a"}}"#,
        ] {
            assert!(calls(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_caller_of_a_call_is_in_its_answer() {
        let call = item(json!({ "type": "delete_file", "path": "a" }));
        let program = json!({ "type": "program", "caller_id": "call_program_123" });
        for (caller, wanted) in [(&program, Some(&program)), (&Value::Null, None)] {
            let call = with(call.clone(), "caller", caller.clone());
            let calls = calls(&call.to_string()).expect("it is known");
            let output = CallOutput::new(&calls[0], true, String::new());
            let output = serde_json::to_value(output).expect("text keys");
            assert_eq!(output.get("caller"), wanted);
        }
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        let update = json!({ "type": "update_file", "path": "a", "diff": "-x" });
        for (item, wanted) in [
            (
                item(with(update.clone(), "moveTo", json!("b"))),
                "`operation.moveTo` is not known; did you mean `move_to`?",
            ),
            (
                item(with(update.clone(), "type", json!("rename_file"))),
                "`operation.type` must be one of",
            ),
            (
                item(json!({ "type": "delete_file", "path": "a", "move_to": "b" })),
                "`operation.move_to` is not known",
            ),
            (item(json!({ "path": "a" })), "`operation.type` is missing"),
            (
                with(item(update.clone()), "status", json!("in_progress")),
                "`status` must be one of \"completed\"",
            ),
            (
                with(item(update.clone()), "type", json!("apply_patch")),
                "`type` must be one of \"apply_patch_call\"",
            ),
            (with(item(update.clone()), "workdir", json!("sub")), "`workdir` is not known"),
        ] {
            let error = calls(&item.to_string()).expect_err("it is refused").to_string();
            assert!(error.starts_with("item 1: "), "{item}: {error}");
            assert!(error.contains(wanted), "{item}: {error}");
        }
        let moved = with(update, "move_to", json!("b"));
        let calls =
            calls(&item(with(moved, "caller", json!(null))).to_string()).expect("it is known");
        let text = to_envelope(&calls).expect("it can be expressed");
        let wanted: &[u8] =
            b"*** Begin Patch\n*** Update File: a\n*** Move to: b\n-x\n*** End Patch\n";
        assert_eq!(text, wanted);
    }

    fn call(operation: FileOperation) -> PatchCall {
        PatchCall { call_id: "c".into(), operation, caller: None }
    }

    fn update(path: &str, diff: &str) -> FileOperation {
        FileOperation::UpdateFile { path: path.into(), diff: diff.into(), move_to: None }
    }

    fn create(path: &str, diff: &str) -> FileOperation {
        FileOperation::CreateFile { path: path.into(), diff: diff.into() }
    }

    #[test]
    fn each_operation_is_one_section() {
        for (operation, wanted) in [
            (update("a", "@@\n-x\n+y\n"), Some("*** Update File: a\n@@\n-x\n+y\n")),
            (update("a", "-x\n+y"), Some("*** Update File: a\n-x\n+y\n")),
            (
                create("a", "+x\n+y"),
                Some("*** Add File: a\n+x\n+y\n\\ No newline at end of file\n"),
            ),
            (create("a", ""), Some("*** Add File: a\n")),
            (create("a", "x"), None),
            (update("a", ""), None),
            (update("a", "@@\n-x\n*** Delete File: b\n"), None),
            (update("a", "*** Move to: b\n@@\n-x\n"), None),
            (update("a\n*** Delete File: b", "@@\n-x\n"), None),
            (update("a", "@@\n-x\n*** End Patch\n*** Begin Patch\n*** Delete File: b\n"), None),
            (FileOperation::DeleteFile { path: "a\n*** Delete File: b".into() }, None),
        ] {
            let found = to_envelope(&[call(operation.clone())]).ok();
            let wanted = wanted.map(|section| format!("*** Begin Patch\n{section}*** End Patch\n"));
            let wanted = wanted.map(String::into_bytes);
            assert_eq!(found, wanted, "{operation:?}");
        }
    }

    #[test]
    fn a_patch_goes_there_and_back() {
        let text = "*** Begin Patch\n*** Add File: n\n+a\n+b\n*** Update File: u\n@@ f\n x\n-y\n\
                    +z\n*** Delete File: d\n*** End Patch\n";
        let patch = patch_grammar::parse(text, &ParseOptions::default()).expect("it parses");
        let calls = from_patch(&patch, true).expect("it can be expressed");
        assert_eq!(
            calls[0].operation,
            FileOperation::CreateFile { path: "n".into(), diff: "+a\n+b\n+".into() }
        );
        let back = to_envelope(&calls).expect("it can be expressed");
        let back = patch_grammar::parse(&back, &ParseOptions::default()).expect("it parses");
        assert_eq!(back.sections()[1].hunks()[0].lines.len(), 3);
        let moved = "*** Begin Patch\n*** Move File: a -> b\n*** End Patch\n";
        let moved = patch_grammar::parse(moved, &ParseOptions::default()).expect("it parses");
        let calls = from_patch(&moved, true).expect("it can be expressed");
        let to = Some("b".to_owned());
        assert_eq!(
            calls[0].operation,
            FileOperation::UpdateFile { path: "a".into(), diff: String::new(), move_to: to }
        );
        assert!(to_envelope(&calls).is_ok());
    }
}
