//! The built-in `apply_patch` tool of the Responses API: one call for each file, a diff without
//! headers, one answer for each call.
//!
//! All calls of a response are one patch here, so they are planned and committed together. Three
//! things differ from the envelope, as that API's own applier has them: a file made by
//! `create_file` ends without a line feed unless the diff's last line is empty, a changed file ends
//! as it did, and stacked `@@` lines must all be in the file.

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
    /// The id that the answer has to repeat.
    pub call_id: String,
    /// What is asked for.
    pub operation: FileOperation,
    /// Who made the call, if not the model itself; the answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Value>,
}

/// What a call asks for.
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
    /// What the model reads.
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
/// [`InputError::Unreadable`] when there is no call among the items, for an unknown field or
/// operation, whose meaning would be lost, and for an incomplete call.
pub fn calls(json: &str) -> Result<Vec<PatchCall>, InputError> {
    let no_items = |error| format!("this is not a list of `apply_patch_call` items: {error}");
    let items =
        json::unique(json.as_bytes()).map_err(|error| InputError::Unreadable(no_items(error)));
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
        // An item of another type that has an operation is not skipped: it is an error.
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
        // A field that is null counts as absent.
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

/// Returns the schema of a call with this type of operation, with the fields that the API documents
/// and those that its SDKs add.
fn call_schema(operation: &str) -> Value {
    let text = || json!({ "type": "string" });
    let (properties, required) = match operation {
        "create_file" => (json!({ "path": text(), "diff": text() }), &["path", "diff"][..]),
        "update_file" => {
            (json!({ "path": text(), "diff": text(), "move_to": text() }), &["path", "diff"][..])
        }
        "delete_file" => (json!({ "path": text() }), &["path"][..]),
        _ => (json!({}), &["type"][..]),
    };
    let mut operation = json!({ "type": "object", "properties": properties, "required": required });
    operation["properties"]["type"] =
        json!({ "enum": ["create_file", "update_file", "delete_file"] });
    json!({
        "type": "object",
        "properties": {
            "type": { "enum": ["apply_patch_call"] },
            "id": text(),
            "call_id": text(),
            "status": { "enum": ["completed"] },
            "operation": operation,
            "caller": {},
            "created_by": {},
        },
        "required": ["type", "call_id", "operation"],
    })
}

/// Returns the options for the diffs of calls: they come without an envelope, and the first `@@`
/// may be missing.
fn parse_options() -> ParseOptions {
    ParseOptions { strip_wrappers: false, bare_first_hunk: true, ..ParseOptions::default() }
}

/// Sets the rules of that API that the envelope does not have: the first `@@` may be missing,
/// stacked ones must all be in the file, and a file ends as it did.
pub fn set_rules(options: &mut Options) {
    options.parse.bare_first_hunk = true;
    options.placement.stacked_headers_must_match = true;
    options.final_newline = FinalNewline::Keep;
}

/// Writes the calls as one patch in the envelope: one section for each call, in their order.
///
/// # Errors
///
/// [`InputError::BadCall`] for the first call whose diff does not parse, or changes more than its
/// own file.
pub fn to_envelope(calls: &[PatchCall]) -> Result<Vec<u8>, InputError> {
    let mut out = Writer::default();
    for call in calls {
        parse_one(call)?;
        write(&mut out, call);
    }
    Ok(out.finish())
}

/// Where the diff of a call stands in the envelope that [`to_envelope`] writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLines {
    /// The id of the call.
    pub call_id: String,
    /// The lines of the envelope that are those of the diff, from 1.
    pub lines: Range<usize>,
}

impl CallLines {
    /// Returns where it stands in another text, line `to` of which is line `from` of this one.
    pub(crate) fn moved(&self, from: usize, to: usize) -> Self {
        let Range { start, end } = self.lines;
        Self { call_id: self.call_id.clone(), lines: start + to - from..end + to - from }
    }
}

/// Returns where in the envelope that [`to_envelope`] writes the diff of each call stands.
#[must_use]
pub fn lines_of(calls: &[PatchCall]) -> Vec<CallLines> {
    let mut out = Writer::default();
    let mut lines = |call: &PatchCall| {
        let first = out.next_line() + headers(call);
        write(&mut out, call);
        CallLines { call_id: call.call_id.clone(), lines: first..out.next_line() }
    };
    calls.iter().map(&mut lines).collect()
}

/// How many lines of the envelope stand between the call before and a call's diff.
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

/// Reads one call as a patch: exactly one section, for its own file. A diff must not smuggle in
/// others.
///
/// # Errors
///
/// Those of [`to_envelope`].
pub fn parse_one(call: &PatchCall) -> Result<Patch, InputError> {
    let bad = |message: String| InputError::BadCall { call_id: call.call_id.clone(), message };
    let mut alone = Writer::default();
    write(&mut alone, call);
    let patch = patch_grammar::parse(alone.finish(), &parse_options()).map_err(|mut error| {
        // The line of the diff, not of the envelope around it.
        let above = 1 + headers(call) as u32;
        error.line = error.line.saturating_sub(above).max(1);
        let next = hints::told(&Remedy::of_parse(&error), Caller::Operations);
        bad(format!("in the diff, {error}\nnext: {next}"))
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
        Err(bad("the diff says more than a change of its own file".into()))
    }
}

/// Explains a reject of the patch that [`to_envelope`] made of the calls, in terms of the call that
/// it is about: the model never saw that patch.
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
/// [`InputError::Inexpressible`] for a copy, which these operations do not have.
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
                let text = |hunk: &Hunk<'_>| {
                    let text = String::from_utf8_lossy(patch.bytes(hunk.span.clone()));
                    if hunk.endings == LineEndings::Framing {
                        text.replace("\r\n", "\n")
                    } else {
                        text.into_owned()
                    }
                };
                let move_to = move_to.as_ref().map(|to| to.text.to_string());
                FileOperation::UpdateFile { path, diff: hunks.iter().map(text).collect(), move_to }
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let item = |caller: Value| {
            let operation = json!({ "type": "delete_file", "path": "a" });
            json!({
                "type": "apply_patch_call", "call_id": "c", "operation": operation,
                "caller": caller,
            })
            .to_string()
        };
        let answer = |caller: Value| {
            let calls = calls(&item(caller)).expect("it is known");
            serde_json::to_value(CallOutput::new(&calls[0], true, String::new()))
                .expect("text keys")
        };
        let program = json!({ "type": "program", "caller_id": "call_program_123" });
        assert_eq!(answer(program.clone())["caller"], program);
        assert!(answer(Value::Null).get("caller").is_none());
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        let call = |operation: Value| {
            json!({
                "type": "apply_patch_call", "call_id": "c", "operation": operation,
            })
        };
        let update = json!({ "type": "update_file", "path": "a", "diff": "-x" });
        let with = |mut value: Value, key: &str, new: Value| {
            value[key] = new;
            value
        };
        for (item, wanted) in [
            (
                call(with(update.clone(), "moveTo", json!("b"))),
                "`operation.moveTo` is not known; did you mean `move_to`?",
            ),
            (
                call(with(update.clone(), "type", json!("rename_file"))),
                "`operation.type` must be one of",
            ),
            (
                call(json!({ "type": "delete_file", "path": "a", "move_to": "b" })),
                "`operation.move_to` is not known",
            ),
            (call(json!({ "path": "a" })), "`operation.type` is missing"),
            (
                with(call(update.clone()), "status", json!("in_progress")),
                "`status` must be one of \"completed\"",
            ),
            (
                with(call(update.clone()), "type", json!("apply_patch")),
                "`type` must be one of \"apply_patch_call\"",
            ),
            (with(call(update.clone()), "workdir", json!("sub")), "`workdir` is not known"),
        ] {
            let error = calls(&item.to_string()).expect_err("it is refused").to_string();
            assert!(error.starts_with("item 1: "), "{item}: {error}");
            assert!(error.contains(wanted), "{item}: {error}");
        }
        let moved = with(update, "move_to", json!("b"));
        let calls =
            calls(&call(with(moved, "caller", json!(null))).to_string()).expect("it is known");
        let text = to_envelope(&calls).expect("it can be expressed");
        let wanted: &[u8] =
            b"*** Begin Patch\n*** Update File: a\n*** Move to: b\n-x\n*** End Patch\n";
        assert_eq!(text, wanted);
    }

    fn call(operation: FileOperation) -> PatchCall {
        PatchCall { call_id: "c".into(), operation, caller: None }
    }

    #[test]
    fn each_operation_is_one_section() {
        let update = |path: &str, diff: &str| FileOperation::UpdateFile {
            path: path.into(),
            diff: diff.into(),
            move_to: None,
        };
        let create = |path: &str, diff: &str| FileOperation::CreateFile {
            path: path.into(),
            diff: diff.into(),
        };
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
