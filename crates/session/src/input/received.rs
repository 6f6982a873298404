//! Patches as models and people send them: bare, or in a wrapper.
//!
//! A wrapper is removed only if not a word is lost, and every removal is noted. Otherwise the error
//! names the wrapper and says what to send instead.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memchr::memmem;
use patch_engine::{Options, Profile};
use patch_grammar::detect::{self, Bare, DetectError, Detected, DetectedKind, Fence, Found};
use patch_grammar::diff::{self, DiffOptions, NEXT_DIFF, begins_mail};
use patch_grammar::marker::{LITERAL, respelled};
use patch_grammar::{LineKind, Marker, Patch, SectionOperation, Text, blocks};
use serde_json::{Value, json};

use crate::input::edits::{self, FileEdit};
use crate::input::fields::{HOLDERS, TOOLS, nothing_else};
use crate::input::files::{self, WholeText};
use crate::input::mail::is_mail;
use crate::input::not_received::wrapped;
use crate::input::ops::{self, PatchCall};
use crate::input::shell::{self, ShellPatch};
use crate::input::tags::{self, TaggedText};
use crate::json;

pub use crate::input::not_received::NotReceived;

/// The most layers of JSON to remove.
const LAYERS: usize = 5;

/// A patch, and the steps taken to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The patch.
    pub form: ReceivedForm,
    /// The parts removed or left out; empty if the text was nothing but the patch.
    pub notes: Vec<String>,
}

/// The form of a received patch, with the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceivedForm {
    /// A patch in the envelope.
    Envelope(Vec<u8>),
    /// Several patches in the envelope, as one.
    Joined {
        /// The patch.
        text: Vec<u8>,
        /// For each line of the patch the line of `sent`, both from 1.
        lines: Vec<u32>,
        /// The text around the patches.
        sent: Vec<u8>,
    },
    /// A patch in the envelope, with paths relative to a directory.
    Beneath(String, Vec<u8>),
    /// SEARCH/REPLACE blocks.
    Blocks {
        /// The envelope written from the blocks.
        found: blocks::Converted,
        /// The text around the blocks.
        text: Vec<u8>,
    },
    /// A unified or git diff.
    Diff {
        /// The diff.
        text: Vec<u8>,
        /// Whether the text behind the diff shows that the diff is whole.
        ended: bool,
    },
    /// Operations of the Responses API.
    Calls(Vec<PatchCall>),
    /// Whole files in fences.
    Files {
        /// The envelope written from the files.
        found: WholeText,
        /// The text around the files.
        text: Vec<u8>,
    },
    /// Edits of tools, as JSON.
    Edits {
        /// The edits, in order.
        edits: Vec<FileEdit>,
        /// The text with the JSON.
        text: Vec<u8>,
    },
}

impl ReceivedForm {
    /// Names the form of the text.
    pub(super) fn words(&self) -> &'static str {
        match self {
            Self::Envelope(_) | Self::Joined { .. } | Self::Beneath(..) => {
                "this is a patch in the envelope"
            }
            Self::Blocks { .. } => "these are SEARCH/REPLACE blocks",
            Self::Diff { .. } => "this is a diff",
            Self::Calls(_) => "these are operations of the Responses API",
            Self::Files { .. } => "these are whole files in fences",
            Self::Edits { .. } => "these are calls of tools that edit files",
        }
    }
}

/// Which patches of a text are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// The only one.
    #[default]
    Only,
    /// The one with this number, from 1.
    Nth(usize),
    /// All, in order, as one.
    All,
}

/// Names the wrapper around a patch that does not parse as an envelope, and the right first line;
/// `None` if there is no wrapper.
#[must_use]
pub fn wrapper(sent: &[u8]) -> Option<String> {
    let first = Marker::Begin.as_str();
    match receive(sent, Part::Only) {
        Ok(Received { form: ReceivedForm::Envelope(_) | ReceivedForm::Beneath(..), notes })
            if !notes.is_empty() =>
        {
            Some(format!("{}: send the patch alone, its first line `{first}`", notes.join("; ")))
        }
        Ok(Received { form: ReceivedForm::Envelope(_) | ReceivedForm::Beneath(..), .. }) => None,
        Ok(Received { form, .. }) => {
            Some(format!("{}: send a patch, its first line `{first}`", form.words()))
        }
        Err(NotReceived::Wrapped { wrapper, advice }) => Some(format!("{wrapper}: {advice}")),
        _ => None,
    }
}

/// Finds the patch in a sent text.
///
/// # Errors
///
/// When there is not exactly one, or its wrapper cannot be removed without loss or guessing.
pub fn receive(sent: &[u8], part: Part) -> Result<Received, NotReceived> {
    let mut notes = Vec::new();
    let mut text = Cow::Borrowed(sent.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sent));
    for _ in 0..LAYERS {
        let inside = fenced(&text);
        let Some(layer) = json_layer(inside.unwrap_or(&text))? else {
            let Some(tagged) = tagged(inside.unwrap_or(&text))? else {
                return in_text(text, part, notes);
            };
            notes.extend(inside.map(|_| "removed a Markdown fence".into()));
            notes.push(tagged.note);
            text = Cow::Owned(tagged.text.into_bytes());
            continue;
        };
        notes.extend(inside.map(|_| "removed a Markdown fence".into()));
        match layer {
            JsonLayer::Text(inner, note) => {
                notes.push(note);
                text = Cow::Owned(inner.into_bytes());
            }
            JsonLayer::Calls(calls, note) => {
                notes.push(note);
                return only(Received { form: ReceivedForm::Calls(calls), notes }, part);
            }
            JsonLayer::Edits(edits) => {
                notes.push(edits::note(&edits));
                let form = ReceivedForm::Edits { edits, text: text.into_owned() };
                return only(Received { form, notes }, part);
            }
            JsonLayer::Shell(call) => return only(of_shell(call, notes), part),
        }
    }
    wrapped("there is JSON in JSON in JSON", "send the patch alone")
}

/// Returns what stands in the tags of a call.
fn tagged(text: &[u8]) -> Result<Option<TaggedText>, NotReceived> {
    std::str::from_utf8(text).map_or(Ok(None), tags::of)
}

/// Returns the content of a Markdown fence around the whole text.
fn fenced(text: &[u8]) -> Option<&[u8]> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    let (first, rest) = text.split_once('\n')?;
    let (inside, last) = rest.rsplit_once('\n')?;
    let is_wrapper =
        Fence::opened_by(first.trim_end())?.is_closed_by(last) && !files::has_path(first);
    is_wrapper.then_some(inside.as_bytes())
}

/// The content of a layer of JSON.
enum JsonLayer {
    Text(String, String),
    Calls(Vec<PatchCall>, String),
    Edits(Vec<FileEdit>),
    Shell(ShellPatch),
}

fn json_layer(text: &[u8]) -> Result<Option<JsonLayer>, NotReceived> {
    let trimmed = text.trim_ascii();
    let Ok(text) = std::str::from_utf8(trimmed) else { return Ok(None) };
    if text.starts_with(['{', '[', '"']) {
        return match json::unique(text.as_bytes()) {
            Ok(value) => unwrap(value),
            Err(error) if error.is_data() => wrapped(
                format!("this is JSON that says something twice: {error}"),
                "send each once",
            ),
            // The text only begins like JSON, or has a call in each line.
            Err(_) => Ok(json_lines(text)?.map(JsonLayer::Edits)),
        };
    }
    // One line with `\n` for line feeds: a string literal without its quotes.
    let escaped = !text.contains('\n') && text.starts_with("***") && text.contains("\\n");
    if escaped && let Ok(inner) = serde_json::from_str::<String>(&format!("\"{text}\"")) {
        return Ok(Some(JsonLayer::Text(inner, "decoded the escapes of a string literal".into())));
    }
    Ok(None)
}

/// Reads the edits of a text with a call in each line.
fn json_lines(text: &str) -> Result<Option<Vec<FileEdit>>, NotReceived> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let calls: Option<Vec<Value>> = lines.map(|line| json::unique(line.as_bytes()).ok()).collect();
    calls.map_or(Ok(None), |calls| edits::of(&Value::Array(calls)))
}

fn unwrap(value: Value) -> Result<Option<JsonLayer>, NotReceived> {
    if let Some(edits) = edits::of(&value)? {
        return Ok(Some(JsonLayer::Edits(edits)));
    }
    let mut object = match value {
        Value::String(text) => {
            return Ok(Some(JsonLayer::Text(text, "decoded a JSON string".into())));
        }
        Value::Array(items) => return list(items),
        Value::Object(object) => object,
        _ => return Ok(None),
    };
    if object.get("type").is_some_and(|kind| kind == "apply_patch_call")
        || object.get("output").is_some_and(Value::is_array)
    {
        return calls(&Value::Object(object), "read the operations of a response");
    }
    if object.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("_file")) {
        return operations(vec![Value::Object(object)]);
    }
    for (field, many) in [("operation", false), ("operations", true)] {
        if let Some(found) = object.remove(field) {
            nothing_else(&object, "patch")?;
            return match found {
                Value::Array(all) if many => operations(all),
                one if !many => operations(vec![one]),
                _ => wrapped(format!("`{field}` is not a list"), "send a list of operations"),
            };
        }
    }
    if let Some(name) = ["name", "tool", "tool_name"].iter().find_map(|field| object.remove(*field))
    {
        // The name of a call within a call.
        if !name.as_str().is_some_and(|name| TOOLS.contains(&name)) {
            return wrapped(
                format!("this is a call of {name}"),
                "send a call of `apply_patch`, or the patch alone",
            );
        }
    }
    if let Some(Value::Array(mut all)) = object.remove("tool_calls") {
        nothing_else(&object, "patch")?;
        return match (all.pop(), all.is_empty()) {
            (Some(call), true) => unwrap(call),
            _ => wrapped("there is not exactly one tool call", "send the one alone"),
        };
    }
    for field in ["command", "cmd"] {
        if let Some(command) = object.remove(field) {
            nothing_else(&object, "patch")?;
            return of_command(field, command);
        }
    }
    for field in HOLDERS {
        match object.remove(field) {
            Some(Value::String(text)) => {
                nothing_else(&object, "patch")?;
                return Ok(Some(JsonLayer::Text(text, format!("took the patch out of `{field}`"))));
            }
            // The arguments of a call.
            Some(inner @ Value::Object(_)) => {
                nothing_else(&object, "patch")?;
                return unwrap(inner);
            }
            _ => {}
        }
    }
    wrapped(
        "this is JSON without a patch in it",
        "send the patch alone, or as `{\"patch\": \"…\"}`",
    )
}

/// Takes the command of a call that has it in a field.
fn of_command(field: &str, command: Value) -> Result<Option<JsonLayer>, NotReceived> {
    match command {
        Value::Array(words) => list(words),
        Value::String(text) if text.trim_start().starts_with(Marker::Begin.as_str()) => {
            Ok(Some(JsonLayer::Text(text, format!("took the patch out of `{field}`"))))
        }
        Value::String(script) => shell::of_script(&script).map(|call| Some(JsonLayer::Shell(call))),
        _ => wrapped("this is a call without a command", "send the patch alone"),
    }
}

fn list(items: Vec<Value>) -> Result<Option<JsonLayer>, NotReceived> {
    let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    match words.as_deref() {
        Some([tool, patch]) if TOOLS.contains(tool) => Ok(Some(JsonLayer::Text(
            (*patch).to_owned(),
            format!("took the patch out of a call of {tool}"),
        ))),
        Some(words @ [_, ..]) => shell::of_words(words).map(|call| Some(JsonLayer::Shell(call))),
        _ if items
            .iter()
            .any(|item| item["type"] == "apply_patch_call" || item.get("operation").is_some()) =>
        {
            calls(&Value::Array(items), "read the operations of a response")
        }
        _ if !items.is_empty()
            && items
                .iter()
                .all(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with("_file"))) =>
        {
            operations(items)
        }
        _ if items.len() == 1 => items.into_iter().next().map_or(Ok(None), unwrap),
        _ => wrapped("this is a JSON list without a patch in it", "send the patch alone"),
    }
}

/// Takes the patch out of a shell command; `notes` are those of the layers around the command.
fn of_shell(call: ShellPatch, mut notes: Vec<String>) -> Received {
    notes.extend(call.notes);
    let patch = call.patch.into_bytes();
    let form = match call.directory {
        Some(directory) => ReceivedForm::Beneath(directory, patch),
        None => ReceivedForm::Envelope(patch),
    };
    Received { form, notes }
}

fn calls(value: &Value, note: &str) -> Result<Option<JsonLayer>, NotReceived> {
    match ops::calls(&value.to_string()) {
        Ok(calls) => Ok(Some(JsonLayer::Calls(calls, note.to_owned()))),
        Err(error) => {
            wrapped(error.to_string(), "send items of the Responses API, or the patch alone")
        }
    }
}

/// Reads operations without call items around them.
fn operations(all: Vec<Value>) -> Result<Option<JsonLayer>, NotReceived> {
    let items = all.into_iter().zip(1..).map(|(operation, number)| call_item(operation, number));
    calls(&Value::Array(items.collect()), "took operations without their call items")
}

fn call_item(mut operation: Value, number: usize) -> Value {
    if let Some(fields) = operation.as_object_mut()
        && let Some(to) = fields.remove("moveTo")
    {
        fields.insert("move_to".into(), to);
    }
    json!({
        "type": "apply_patch_call", "call_id": format!("call_{number}"), "operation": operation,
    })
}

/// Finds the patch in a text that is not JSON.
fn in_text(
    text: Cow<'_, [u8]>,
    part: Part,
    mut notes: Vec<String>,
) -> Result<Received, NotReceived> {
    // Only a diff can have bytes that are not UTF-8.
    let text = match std::str::from_utf8(&text) {
        Ok(utf8) => {
            let unquoted = unquote(utf8, &mut notes);
            if let Some(call) = shell::find(&unquoted)? {
                return only(of_shell(call, notes), part);
            }
            match markers(&unquoted, &mut notes)? {
                Some(corrected) => Cow::Owned(corrected.into_bytes()),
                None if unquoted.len() == utf8.len() => Cow::Borrowed(&*text),
                None => Cow::Owned(unquoted.into_owned().into_bytes()),
            }
        }
        Err(_) => Cow::Borrowed(&*text),
    };
    let (text, closed) = match closed_by_marker(&text) {
        Some(without) => {
            notes.push(format!("left out `{}` below the diff", Marker::End.as_str()));
            (Cow::Owned(without), true)
        }
        None => (text, false),
    };
    let found = detect::find_all(&text);
    if found.is_empty() {
        return in_blocks(text, part, notes);
    }
    check_around(&text, &found)?;
    match chosen(found, &text, part)? {
        Chosen::All(found) => joined(&found, &text, notes),
        Chosen::One(found) => {
            let Detected { kind, text, notes: more, ended } = found.into_detected();
            notes.extend(more);
            let form = match kind {
                DetectedKind::Diff => ReceivedForm::Diff { text, ended: ended || closed },
                DetectedKind::Envelope => of_envelope(text, &mut notes)?,
            };
            Ok(Received { form, notes })
        }
    }
}

/// Reads the SEARCH/REPLACE blocks, or the whole files, of a text without an envelope or a diff.
fn in_blocks(
    text: Cow<'_, [u8]>,
    part: Part,
    mut notes: Vec<String>,
) -> Result<Received, NotReceived> {
    if !blocks::are_in(&text) {
        unfound(&String::from_utf8_lossy(&text))?;
        let files = std::str::from_utf8(&text).map_or(Ok(None), files::of)?;
        let Some(mut found) = files else { return in_fence(&text, part, notes) };
        notes.append(&mut found.notes);
        let form = ReceivedForm::Files { found, text: text.into_owned() };
        return only(Received { form, notes }, part);
    }
    let found = blocks::to_envelope(&text);
    let mut found = found.map_err(|error| NotReceived::parse(&text, error))?;
    notes.append(&mut found.notes);
    let form = ReceivedForm::Blocks { found, text: text.into_owned() };
    only(Received { form, notes }, part)
}

/// Reads the calls of edit tools in the one fence of a text that has some.
fn in_fence(text: &[u8], part: Part, mut notes: Vec<String>) -> Result<Received, NotReceived> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut fences = files::fences_with(text, |inside| match json_layer(inside.as_bytes()) {
        Ok(Some(JsonLayer::Edits(edits))) => Some(edits),
        _ => None,
    });
    if fences.len() > 1 {
        return wrapped(
            "there are calls of edit tools in several fences",
            "send the one that is meant, or all of them in one list",
        );
    }
    let Some(fence) = fences.pop() else { return Err(NotReceived::Nothing) };
    notes.push(edits::note(&fence.content));
    notes.extend(fence.left_out);
    let form = ReceivedForm::Edits { edits: fence.content, text: fence.text.into_bytes() };
    only(Received { form, notes }, part)
}

/// Checks the text around the patches.
fn check_around(text: &[u8], found: &[Found]) -> Result<(), NotReceived> {
    detect::check_around(text, found).map_err(|error| NotReceived::parse(text, error))?;
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    if found.iter().any(|one| is_closed_within(&lines, one)) {
        return wrapped(
            "what is opened above the diff is closed at the end of its last line",
            "end that line, and close it below",
        );
    }
    Ok(())
}

/// The patches to take of a text.
enum Chosen {
    One(Found),
    All(Vec<Found>),
}

fn chosen(mut found: Vec<Found>, text: &[u8], part: Part) -> Result<Chosen, NotReceived> {
    let there = found.len();
    match part {
        Part::Nth(wanted) if wanted == 0 || wanted > there => {
            Err(NotReceived::NoSuchPart { wanted, there })
        }
        Part::Nth(wanted) => Ok(Chosen::One(found.swap_remove(wanted - 1))),
        Part::Only | Part::All if there == 1 => Ok(Chosen::One(found.swap_remove(0))),
        Part::All => Ok(Chosen::All(found)),
        // An answer often has a fence for each file.
        Part::Only => match Together::of(&found) {
            Together::OtherFiles => Ok(Chosen::All(found)),
            together => {
                let single = single_parts(&found, text);
                let parts = found.into_iter().map(Found::into_part).collect();
                let all = together == Together::OtherLines && single.len() != 1;
                Err(NotReceived::Several { parts: DetectError::Several(parts), all, single })
            }
        },
    }
}

/// Returns the numbers of the patches that may be meant alone. In a mail, that is the one below the
/// message, which may show others; a part of a series is none.
fn single_parts(found: &[Found], text: &[u8]) -> Vec<usize> {
    if !is_mail(text) {
        return (1..=found.len()).collect();
    }
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
    let numbers: Vec<_> = (0..found.len())
        .filter(|&nth| !is_in_message(&lines, &found[nth], found.get(nth + 1)))
        .collect();
    if let [nth] = numbers[..] { vec![nth + 1] } else { Vec::new() }
}

/// Returns whether a patch stands in the message of a mail: the line that ends the message follows
/// before the next patch.
fn is_in_message(lines: &[&[u8]], one: &Found, next: Option<&Found>) -> bool {
    let end = next.map_or(lines.len(), |next| next.lines.start - 1);
    let below = &lines[(one.lines.end - 1).min(end)..end];
    below.iter().take_while(|line| !begins_mail(line)).any(|line| *line == b"---")
}

/// Returns an envelope, or the diff or the blocks between the markers of one.
fn of_envelope(text: Vec<u8>, notes: &mut Vec<String>) -> Result<ReceivedForm, NotReceived> {
    if let Some(named) = blocks_inside(&text) {
        let found = blocks::to_envelope(&named);
        let mut found = found.map_err(|error| NotReceived::parse(&text, error))?;
        notes.push("took the blocks between `*** Begin Patch` and `*** End Patch`".into());
        notes.append(&mut found.notes);
        return Ok(ReceivedForm::Blocks { found, text });
    }
    let Some(diff) = diff_inside(&text) else { return Ok(ReceivedForm::Envelope(text)) };
    notes.push("took the diff between `*** Begin Patch` and `*** End Patch`".into());
    Ok(ReceivedForm::Diff { text: diff, ended: true })
}

/// Returns the SEARCH/REPLACE blocks between the markers of an envelope, each below a line with its
/// file; lines keep their numbers. No hunk of an envelope begins with a SEARCH marker.
fn blocks_inside(text: &[u8]) -> Option<Vec<u8>> {
    memmem::find(text, b"\n<<<<<")?;
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let mut is_blocks = false;
    let mut named = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let next = lines[at + 1..].iter().find(|line| !line.trim_ascii().is_empty());
        let opens = next.is_some_and(|next| next.starts_with(b"<") && blocks::are_in(next));
        match updated(line) {
            Some(path) if opens => {
                is_blocks = true;
                named.push(format!("File: `{path}`\n").into_bytes());
            }
            _ if is_marker(line) => named.push(b"\n".to_vec()),
            _ => named.push(line.to_vec()),
        }
    }
    is_blocks.then(|| named.concat())
}

/// Returns the path of a line that is the header of an update.
fn updated(line: &[u8]) -> Option<&str> {
    Some(std::str::from_utf8(line).ok()?.strip_prefix(Marker::Update.as_str())?.trim())
}

/// Returns the only patch of a text, unless another part is wanted.
fn only(received: Received, part: Part) -> Result<Received, NotReceived> {
    match part {
        Part::Nth(wanted) if wanted != 1 => Err(NotReceived::NoSuchPart { wanted, there: 1 }),
        Part::Only | Part::Nth(_) | Part::All => Ok(received),
    }
}

/// Returns whether a fence, a string literal or a tag is open above a diff and closed at the end of
/// its last line. (An envelope has a last line of its own.)
fn is_closed_within(lines: &[&[u8]], one: &Found) -> bool {
    let (above, rest) = lines.split_at((one.lines.start - 1).min(lines.len()));
    let above = above.iter().rev().map(|line| line.trim_ascii()).find(|line| !line.is_empty());
    let below = rest.get(one.lines.len()..).unwrap_or_default();
    let last = one.text.trim_ascii_end();
    let marks: [(&[u8], &[u8]); 5] = [
        (b"```", b"```"),
        (b"~~~", b"~~~"),
        (b"\"\"\"", b"\"\"\""),
        (b"'''", b"'''"),
        (b"<", b">"),
    ];
    one.kind == DetectedKind::Diff
        && above.is_some_and(|above| {
            marks.iter().any(|(opens, closes)| {
                contains(above, opens)
                    && last.ends_with(closes)
                    && (*opens != b"<" || last.ends_with(&[b"</", &above[1..]].concat()))
                    && !below.iter().any(|line| contains(line, closes))
            })
        })
}

fn contains(line: &[u8], mark: &[u8]) -> bool {
    memmem::find(line, mark).is_some()
}

/// The overlap of several patches in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Together {
    /// No file in common: together they are one patch.
    OtherFiles,
    /// A file in common, but no changed line: they may be one patch.
    OtherLines,
    /// A changed line in common, or not known: they may be alternatives, or drafts.
    Same,
}

/// The most files of a patch that are all named by [`Found::into_part`].
const FEW: usize = 4;

impl Together {
    /// Looks at the names alone, where one of the patches cannot be read: as part of the whole it is
    /// refused with its own error, and no part alone is offered.
    fn by_names(found: &[Found]) -> Self {
        let mut names = HashSet::new();
        for one in found {
            let files = one.clone().into_part().files;
            let is_known = one.kind == found[0].kind && (1..=FEW).contains(&files.len());
            if !is_known || !files.into_iter().all(|file| names.insert(file)) {
                return Self::Same;
            }
        }
        Self::OtherFiles
    }

    fn of(found: &[Found]) -> Self {
        let kind = found[0].kind;
        // The strict parse comes later.
        let lenient = Options::new(Profile::Codex);
        let parsed = found.iter().map(|one| match one.kind {
            _ if one.kind != kind => None,
            DetectedKind::Diff => diff::parse(&one.text, &DiffOptions::default()).ok(),
            DetectedKind::Envelope => patch_grammar::parse(&one.text, &lenient.parse).ok(),
        });
        let Some(patches) = parsed.collect::<Option<Vec<_>>>() else {
            return Self::by_names(found);
        };
        let mut files = HashMap::new();
        let mut lines = HashMap::new();
        let mut together = Self::OtherFiles;
        let all = patches.iter().enumerate();
        for (nth, section) in
            all.flat_map(|(nth, one)| one.sections().iter().map(move |it| (nth, it)))
        {
            let updates =
                matches!(section.operation, SectionOperation::Update { move_to: None, .. });
            for path in section.paths() {
                let path = path.text.trim_start_matches("./");
                let &mut (first, updated) = files.entry(path).or_insert((nth, updates));
                if first != nth {
                    together = Self::OtherLines;
                    if !updates || !updated {
                        return Self::Same;
                    }
                }
            }
            let changed = section.hunks().iter().flat_map(|hunk| &hunk.lines);
            let changed = changed.filter(|line| line.kind != LineKind::Context);
            for line in changed.filter(|line| !line.text.trim_ascii().is_empty()) {
                let path = section.path.text.trim_start_matches("./");
                if *lines.entry((path, line.text.trim_ascii())).or_insert(nth) != nth {
                    return Self::Same;
                }
            }
        }
        together
    }
}

/// Joins all patches of the text `sent` to one; `notes` are those of the layers around the text.
fn joined(found: &[Found], sent: &[u8], mut notes: Vec<String>) -> Result<Received, NotReceived> {
    let kind = found[0].kind;
    if found.iter().any(|one| one.kind != kind) {
        return Err(NotReceived::MixedParts);
    }
    if kind == DetectedKind::Envelope
        && let Some(nth) = found.iter().skip(1).position(begins_within_file)
    {
        return wrapped(
            format!("part {} begins with lines of a file, and does not say of which", nth + 2),
            "begin each part with the header of a file, as `*** Update File: `",
        );
    }
    notes.push(format!("took all {} parts as one", found.len()));
    let form = match kind {
        DetectedKind::Envelope => joined_envelopes(found, sent),
        DetectedKind::Diff => joined_diffs(found),
    };
    Ok(Received { form, notes })
}

/// Returns whether an envelope begins with lines of a hunk, which would go on with the file above.
fn begins_within_file(one: &Found) -> bool {
    let mut lines = one.text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let first = lines.find(|line| !line.is_empty() && !is_marker(line));
    first.is_some_and(|line| matches!(line[0], b' ' | b'+' | b'-' | b'@'))
}

fn joined_envelopes(found: &[Found], sent: &[u8]) -> ReceivedForm {
    let (text, begins) = one_of(DetectedKind::Envelope, found.iter().map(|one| &one.text[..]));
    // The line of each begin marker but the first is left out.
    let lines = (1..=line_feeds(&text)).map(|line| {
        let nth = begins.iter().rposition(|(from, _)| *from <= line).unwrap_or_default();
        let (from, first) = begins[nth];
        let sent_line = (found[nth].lines.start + first - 1 + line).saturating_sub(from);
        u32::try_from(sent_line).unwrap_or(u32::MAX)
    });
    let lines = lines.collect();
    ReceivedForm::Joined { text, lines, sent: sent.to_vec() }
}

/// Joins diffs, each at the line where it stands in the text around it.
fn joined_diffs(found: &[Found]) -> ReceivedForm {
    let mut text = Vec::new();
    let mut line = 1;
    for (nth, one) in found.iter().enumerate() {
        for gap in line..one.lines.start {
            // The line between two diffs also ends the last hunk of the first.
            let parts = nth > 0 && gap == line;
            text.extend_from_slice(if parts { NEXT_DIFF } else { b"\n" });
        }
        text.extend_from_slice(&one.text);
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        line = one.lines.end;
    }
    ReceivedForm::Diff { text, ended: found.iter().all(|one| one.ended) }
}

fn line_feeds(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

/// Joins patches of one kind to one. Also returns, for each, the line of the joined text where its
/// lines begin, and the number of that line in its own text; both from 1.
pub(crate) fn one_of<'t>(
    kind: DetectedKind,
    texts: impl Iterator<Item = &'t [u8]>,
) -> (Vec<u8>, Vec<(usize, usize)>) {
    let is_envelope = kind == DetectedKind::Envelope;
    let mut text = Vec::new();
    let mut begins = Vec::new();
    // The first line of a patch, below the marker in an envelope.
    let first = 1 + usize::from(is_envelope);
    let mut next = first;
    let mut counted = 0;
    for one in texts {
        if !is_envelope && !text.is_empty() {
            text.extend_from_slice(NEXT_DIFF);
        }
        next += line_feeds(&text[counted..]);
        counted = text.len();
        let body = one.trim_ascii_start();
        begins.push((next, first + line_feeds(&one[..one.len() - body.len()])));
        // In an envelope stored with CRLF, the carriage returns have no meaning.
        let framed = is_envelope
            && body
                .split_inclusive(|&byte| byte == b'\n')
                .next()
                .is_some_and(|line| line.ends_with(b"\r\n"));
        for line in body.split_inclusive(|&byte| byte == b'\n') {
            match line.strip_suffix(b"\r\n").filter(|_| framed) {
                Some(_) if is_marker(line) => {}
                Some(line) => {
                    text.extend_from_slice(line);
                    text.push(b'\n');
                }
                None if is_envelope && is_marker(line) => {}
                None => text.extend_from_slice(line),
            }
        }
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
    }
    if is_envelope {
        let begin = format!("{}\n", Marker::Begin.as_str());
        let end = format!("{}\n", Marker::End.as_str());
        text = [begin.as_bytes(), &text, end.as_bytes()].concat();
    }
    (text, begins)
}

fn is_marker(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line == Marker::Begin.as_str().as_bytes() || line == Marker::End.as_str().as_bytes()
}

/// Returns a text without the end marker of an envelope, if no envelope begins and a single diff
/// stands above the marker. Models trained on the envelope close a diff like this.
fn closed_by_marker(text: &[u8]) -> Option<Vec<u8>> {
    // Most texts have no marker, or a whole envelope.
    memmem::find(text, Marker::End.as_str().as_bytes())?;
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let mut ends = (0..lines.len()).filter(|&at| is_at_start(lines[at], Marker::End));
    let at = ends.next()?;
    if ends.next().is_some() || lines.iter().any(|line| is_at_start(line, Marker::Begin)) {
        return None;
    }
    let text = [&lines[..at], &[&b"\n"[..]], &lines[at + 1..]].concat().concat();
    let found = detect::find_all(&text);
    let [one] = &found[..] else { return None };
    (one.kind == DetectedKind::Diff && one.lines.start <= at).then_some(text)
}

/// Returns whether a line is a marker without a blank before it: a line of a hunk has a sign there.
fn is_at_start(line: &[u8], marker: Marker) -> bool {
    line.trim_ascii_end() == marker.as_str().as_bytes()
}

/// Returns the diff between the markers of an envelope; lines keep their numbers.
fn diff_inside(text: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let begin = lines.iter().position(|line| is_marker(line))?;
    let rest = &lines[begin + 1..];
    let first = rest.iter().position(|line| !line.trim_ascii().is_empty())?;
    let is_diff = match rest[first..] {
        [line, ..] if line.starts_with(b"diff --git ") => true,
        [old, new, ..] => old.starts_with(b"--- ") && new.starts_with(b"+++ "),
        _ => false,
    };
    let lines = lines.into_iter().map(|line| if is_marker(line) { &b"\n"[..] } else { line });
    is_diff.then(|| lines.collect::<Vec<_>>().concat())
}

/// Removes the quotation marks of mails and chats, if there is a `> ` before every line.
fn unquote<'t>(text: &'t str, notes: &mut Vec<String>) -> Cow<'t, str> {
    let mut visible = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    if visible.peek().is_none() || !visible.all(|line| line.starts_with("> ") || line == ">") {
        return Cow::Borrowed(text);
    }
    notes.push("removed `> ` before every line".into());
    text.split_inclusive('\n').map(unquoted).collect::<String>().into()
}

fn unquoted(line: &str) -> &str {
    line.strip_prefix("> ").or_else(|| line.strip_prefix('>')).unwrap_or(line)
}

/// Returns whether a line is a marker, spelled right.
fn is_spelled(line: &str, marker: Marker) -> bool {
    line.trim() == marker.as_str()
}

/// Returns whether a line begins or ends a string literal.
fn has_literal_mark(line: &str) -> bool {
    line.trim().starts_with(LITERAL) || line.trim_end().ends_with(LITERAL)
}

/// Corrects the spelling of the markers of an envelope, from the first to the last one. In a patch,
/// only markers begin with `**`. Returns `None` if there is no begin marker in any spelling.
fn markers(text: &str, notes: &mut Vec<String>) -> Result<Option<String>, NotReceived> {
    let Some(begin) = text.split_inclusive('\n').position(begins) else { return Ok(None) };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let spelled: Vec<Option<String>> = lines.iter().map(|line| respelled(line)).collect();
    let ends = (begin..lines.len()).rev().find(|&nth| {
        is_spelled(lines[nth], Marker::End)
            || spelled[nth].as_deref().is_some_and(|line| is_spelled(line, Marker::End))
    });
    let end = ends.unwrap_or(lines.len() - 1);
    let inside = &lines[begin + 1..end.max(begin + 1)];
    // Without an end marker the last line is one of a diff, and may end in any character.
    if (has_literal_mark(lines[begin]) || ends.is_some_and(|end| has_literal_mark(lines[end])))
        && inside.iter().any(|line| line.contains('\\') || line.contains("${"))
    {
        return wrapped(
            "the patch is in a string literal, and it is not known what its backslashes mean",
            "send the patch alone, its first line `*** Begin Patch`",
        );
    }
    if inside.iter().any(|line| line.starts_with('\u{a0}')) {
        return wrapped("its blanks are no-break spaces (U+00A0)", "send it with plain blanks");
    }
    let mut out = String::with_capacity(text.len());
    let mut changed = Vec::new();
    let mut seen = HashSet::new();
    let mut skip = 0;
    for (nth, line) in lines.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
            out.push('\n');
            continue;
        }
        match &spelled[nth] {
            Some(right) if (begin..=end).contains(&nth) => {
                let line = line.trim_end_matches(['\r', '\n']);
                if seen.insert(line) {
                    changed.push((line, right.trim().to_owned(), nth + 1));
                }
                out += right;
            }
            _ => out += line,
        }
        let header = spelled[nth].as_deref().unwrap_or(line);
        let names = (begin..=end).contains(&nth).then(|| names_in_diff(header, &lines[nth + 1..]));
        if names == Some(Some(false)) {
            let lines = format!("{} and {}", nth + 2, nth + 3);
            return wrapped(
                format!("lines {lines} name another file than the header above them"),
                "leave these two lines out, or name their file in the header",
            );
        }
        if names == Some(Some(true)) {
            let lines = format!("{}-{}", nth + 2, nth + 3);
            notes.push(format!("normalised lines {lines}: left out the names of a diff"));
            skip = 2;
        }
    }
    for (line, right, number) in changed {
        notes.push(format!("normalised line {number}: read `{line}` as `{right}`"));
    }
    Ok(Some(out))
}

/// Returns whether a line is a begin marker in any spelling.
fn begins(line: &str) -> bool {
    is_spelled(line, Marker::Begin)
        || respelled(line).is_some_and(|line| is_spelled(&line, Marker::Begin))
}

/// Returns whether the line around a byte may begin an envelope.
fn may_begin_at(bytes: &[u8], at: usize) -> bool {
    let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |feed| feed + 1);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |feed| at + feed + 1);
    std::str::from_utf8(&bytes[start..end])
        .is_ok_and(|line| line.contains(Marker::Begin.as_str()) || begins(line))
}

/// Parses a text that is plainly one diff: the files follow one another with nothing before,
/// between or behind them, and no line looks like a begin marker. [`receive`] would take the same
/// diff, but only after a search of every line for wrappers.
pub(super) fn plain_diff(sent: &Text, how: &DiffOptions) -> Option<Patch> {
    let bytes = sent.as_bytes();
    if ![&b"diff --git "[..], b"--- "].iter().any(|first| bytes.starts_with(first)) {
        return None;
    }
    // A marker has two stars in every spelling.
    if memmem::find_iter(bytes, b"**").any(|at| may_begin_at(bytes, at)) {
        return None;
    }
    let patch = diff::parse(sent.clone(), how).ok()?;
    let Range { start, end } = patch.text().range();
    let mut files = patch.sections().iter().map(|section| &section.span);
    let last = files.try_fold(start, |last, span| (last == span.start).then_some(span.end));
    (last == Some(end)).then_some(patch)
}

/// Finds an envelope between lines of prose, with no other patch, command or comment around it.
/// [`receive`] would take the same envelope, but only with copies of the text.
pub(super) fn plain(sent: &[u8]) -> Option<Bare> {
    let found = detect::find_bare(sent)?;
    let Range { start, end } = found.range;
    (is_plain_prose(&sent[..start]) && is_plain_prose(&sent[end..])).then_some(found)
}

/// Returns whether a text is prose, without a command or a comment.
fn is_plain_prose(text: &[u8]) -> bool {
    const MARKS: [&str; 5] = ["<<", "<!--", "]: ", "apply_patch", "applypatch"];
    std::str::from_utf8(text).is_ok_and(|text| !MARKS.iter().any(|mark| text.contains(mark)))
        && detect::is_prose(text)
}

/// Reads the lines after the header of an update as the `---` and `+++` lines of a diff, and
/// returns whether they name the file of the header. `None` if the lines are something else.
fn names_in_diff(header: &str, after: &[&str]) -> Option<bool> {
    let path = header.trim_end().strip_prefix(Marker::Update.as_str())?;
    let path = path.trim().trim_start_matches("./");
    let [old, new, at, ..] = after else { return None };
    let old = name_in_diff(old, "--- ", "a/")?;
    let new = name_in_diff(new, "+++ ", "b/")?;
    at.starts_with("@@").then_some(old == path && new == path)
}

fn name_in_diff<'l>(line: &'l str, mark: &str, prefix: &str) -> Option<&'l str> {
    let name = line.trim_end().strip_prefix(mark)?;
    let name = name.split('\t').next().unwrap_or(name).trim_end();
    Some(name.strip_prefix(prefix).unwrap_or(name).trim_start_matches("./"))
}

/// Returns whether a line looks like the first of an envelope, a diff or a hunk.
fn begins_patch(line: &str) -> bool {
    [Marker::Begin.as_str(), "diff --git ", "@@ -"].iter().any(|first| line.starts_with(first))
}

/// Removes the escape sequences of colours from a line.
fn without_colours(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out += before;
        rest = after
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
            .strip_prefix('m')
            .unwrap_or(after);
    }
    out + rest
}

/// Returns whether a line begins a patch behind a line number.
fn begins_behind_number(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len()
        && begins_patch(rest.trim_start_matches([' ', '\t', ':', '|', '.', '\u{2192}', '\u{2502}']))
}

/// Says why no patch was found in a text that may contain one after all.
fn unfound(text: &str) -> Result<(), NotReceived> {
    let is_coloured = text
        .lines()
        .any(|line| line.contains("\u{1b}[") && begins_patch(without_colours(line).trim()));
    if is_coloured {
        return wrapped(
            "it has the codes of colours",
            "copy it without them (`git diff --no-color`)",
        );
    }
    if text.lines().any(begins_behind_number) {
        return wrapped(
            "there are line numbers before its lines",
            "send the lines as they are, the first one `*** Begin Patch`",
        );
    }
    if text.contains(Marker::Begin.as_str()) {
        return wrapped(
            "`*** Begin Patch` is not alone on its line",
            "begin a line with it, and end the line after it",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELETES: &str = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
    const UPDATES: &str = "*** Begin Patch\n*** Update File: a\n@@ f\n x\n-*** End Patch\n\
                           +*** Begin Patch\n \n*** End of File\n*** End Patch";

    #[test]
    fn what_stands_plainly_in_a_text_is_received_without_a_copy() {
        let mut plain_ones = 0;
        for above in ["", "\u{feff}", "\n \n", "So:\n\n```diff\n", "<answer>\n", "é **b**\n"] {
            for below in ["", "\n", "```\n", "EOF", "```\nDone: `x`.\n\n* one\n"] {
                for patch in [DELETES, UPDATES] {
                    let end = if below.is_empty() || patch.ends_with('\n') { "" } else { "\n" };
                    let sent = format!("{above}{patch}{end}{below}");
                    let found = plain(sent.as_bytes()).unwrap_or_else(|| panic!("{sent:?}"));
                    let received = receive(sent.as_bytes(), Part::Only).expect("a patch");
                    let lines = above.matches('\n').count();
                    let text = "\n".repeat(lines) + &sent[found.range];
                    assert_eq!(
                        received.form,
                        ReceivedForm::Envelope(text.into_bytes()),
                        "{sent:?}"
                    );
                    assert_eq!(received.notes, found.notes, "{sent:?}");
                    plain_ones += usize::from(!found.notes.is_empty());
                }
            }
        }
        assert!(plain_ones > 30, "{plain_ones}");
    }

    #[test]
    fn a_plain_diff_is_what_would_be_received() {
        const GIT: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
        const PLAIN: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+**c**\n";
        const MARKER: &str = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n *** Begin Patch\n-b\n+c\n";
        const COMMAND: &str = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n echo '*** Begin Patch\n-b\n+c\n";
        let mut plain = 0;
        let mut others = 0;
        for diff in [GIT, PLAIN, MARKER, COMMAND, &GIT.replace('\n', "\r\n"), "diff --cc x\n"] {
            for above in ["", "\n", "So:\n", "> ", "\u{feff}", "```\n", "Index: x\n", "[\""] {
                for below in ["", "\n", "```\n", "Bye\n", PLAIN, "-- \n2.39\n", DELETES, "+d\n"] {
                    let sent = [above, diff, below].concat();
                    if plain_diff(&sent.as_str().into(), &DiffOptions::default()).is_some() {
                        let received = receive(sent.as_bytes(), Part::Only).expect("a diff");
                        let text = sent.clone().into_bytes();
                        let form = ReceivedForm::Diff { text, ended: false };
                        assert_eq!(received, Received { form, notes: Vec::new() }, "{sent:?}");
                        plain += 1;
                    } else {
                        others += 1;
                    }
                }
            }
        }
        let bytes = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+\xff\n";
        assert!(plain_diff(&(&bytes[..]).into(), &DiffOptions::default()).is_some());
        assert!(plain > 5 && others > 300, "{plain} {others}");
    }

    #[test]
    fn a_part_that_is_not_there_is_refused_in_every_form() {
        let block = "a\n```a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n";
        let shell = format!("apply_patch <<'EOF'\n{DELETES}EOF\n");
        let words = json!(["apply_patch", DELETES]).to_string();
        let script = json!({ "command": ["bash", "-lc", shell] }).to_string();
        let operation = json!({ "type": "delete_file", "path": "a" }).to_string();
        for sent in [DELETES, block, &shell, &words, &script, &operation] {
            for part in [Part::Only, Part::Nth(1), Part::All] {
                assert!(receive(sent.as_bytes(), part).is_ok(), "{sent} {part:?}");
            }
            for wanted in [0, 2] {
                let found = receive(sent.as_bytes(), Part::Nth(wanted));
                let missing = Err(NotReceived::NoSuchPart { wanted, there: 1 });
                assert_eq!(found, missing, "{sent}");
            }
        }
    }

    #[test]
    fn what_says_more_than_one_patch_is_not_plain() {
        for (above, patch, below) in [
            ("", DELETES, DELETES),
            ("** begin patch **\n", DELETES, ""),
            (" *** Begin Patch\n", DELETES, ""),
            ("*** Update File: a\n", DELETES, ""),
            ("--- a/x\n+++ b/x\n", DELETES, ""),
            ("", DELETES, "  diff --git a/x b/x\n"),
            ("", DELETES, "\"*** End Patch\"\n"),
            ("", DELETES, "\t*** End Patch\n"),
            ("So: ", DELETES, ""),
            ("", "  *** Begin Patch\n  *** Delete File: a\n  *** End Patch\n", ""),
            ("", "*** Begin Patch\n*** delete file: a\n*** End Patch\n", ""),
            ("", "*** Begin Patch\n*** Delete File: a\n", ""),
        ] {
            let sent = format!("{above}{patch}{below}");
            assert_eq!(plain(sent.as_bytes()), None, "{sent:?}");
        }
    }
}
