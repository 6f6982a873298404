//! Calling a tool by its name, with JSON.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use fs_guard::quoted;
use patch_engine::commit::approval::Approvals;
use patch_engine::remedy::Listing;
use patch_engine::{Host, Remedy, Sha256};
use patch_proposals::{Later, ProposalState, Proposals, proposed_later};

use crate::catalogue::ToolInfo;
use crate::tools::file_tool::FileTool;
use crate::tools::*;
use crate::vendor::edit_patch::{self, EditPatch, EditPatchResult};
use crate::vendor::editor::{self, EditorReply};
use patch_session::MAX_RESULT;
use patch_session::Tool;
use patch_session::answer::arguments;
use patch_session::answer::envelope::{Failure, Success, ToolResult};
use patch_session::answer::error::{FailureClass, ToolError};
use patch_session::answer::hints::{Caller, Hint};
use patch_session::answer::reason::Reason;
use patch_session::json;
use patch_session::session::Session;
use patch_session::session::bounds::within;
use patch_session::session::changing::Warned;
use patch_session::session::printed::Printed;

/// The arguments of a call, parsed or not: text is parsed once, straight into the tool's own type.
#[derive(Debug, Clone, Copy)]
pub enum Arguments<'a> {
    /// A parsed value.
    Value(&'a Value),
    /// JSON text.
    Text(&'a RawValue),
}

impl<'a> From<&'a Value> for Arguments<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Value(value)
    }
}

impl<'a> From<&'a RawValue> for Arguments<'a> {
    fn from(text: &'a RawValue) -> Self {
        Self::Text(text)
    }
}

/// Arguments that clients add to every tool; they are accepted and ignored. No tool has one of
/// these names.
///
/// `wait_for_previous` comes from gemini-cli, and tells it when to make the call.
pub const ADDED_BY_CLIENTS: &[&str] = &["wait_for_previous"];

impl Arguments<'_> {
    fn value(self) -> Option<Value> {
        self.parsed().ok()
    }

    fn parsed(self) -> serde_json::Result<Value> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Text(text) => json::unique(text.get().as_bytes()),
        }
    }

    /// Reads the arguments of a tool; what was [normalised](arguments::normalise) for that is
    /// noted.
    fn read<A: DeserializeOwned>(
        self,
        tool: Tool,
        notes: &mut Vec<String>,
    ) -> Result<A, serde_json::Error> {
        self.read_as_is().or_else(|error| {
            let Some((args, own)) = self.mended(&ToolInfo::of(tool).input_schema) else {
                return Err(error);
            };
            notes.extend(own);
            A::deserialize(&args)
        })
    }

    /// Returns the arguments as the tool takes them, with notes: without those that clients add,
    /// and normalised. `None` if that changes nothing, or if they are not JSON.
    fn mended(self, schema: &Value) -> Option<(Value, Vec<String>)> {
        let mut args = self.value()?;
        let mut notes = Vec::new();
        arguments::normalise(schema, &mut args, &mut notes);
        let fields = args.as_object_mut()?;
        let before = fields.len();
        fields.retain(|name, _| !ADDED_BY_CLIENTS.contains(&&**name));
        (fields.len() < before || !notes.is_empty()).then_some((args, notes))
    }

    /// Returns a flag as the tool takes it; `None` if the argument is missing, or is no flag.
    #[must_use]
    pub fn flag(self, tool: Tool, name: &str) -> Option<bool> {
        let schema = ToolInfo::of(tool).input_schema;
        let args = self.mended(&schema).map(|(args, _)| args).or_else(|| self.value())?;
        args.get(name)?.as_bool()
    }

    fn read_as_is<A: DeserializeOwned>(self) -> Result<A, serde_json::Error> {
        let list = match self {
            Self::Value(value) => value.is_array(),
            Self::Text(text) => text.get().starts_with('['),
        };
        match self {
            // serde would take a list for a struct.
            _ if list => {
                Err(serde::de::Error::custom("invalid type: sequence, expected an object"))
            }
            Self::Value(value) => A::deserialize(value),
            Self::Text(text) => A::deserialize(text),
        }
    }
}

macro_rules! called {
    ($($tool:ident: $module:ident;)*) => {
        /// The data of a successful answer.
        #[derive(Debug, Clone, Serialize)]
        #[serde(untagged)]
        #[allow(missing_docs, reason = "they are the tools")]
        pub enum Data { $($tool(<$module::$tool as FileTool>::Data),)* }

        impl Data {
            /// Shortens it to about `max` bytes of JSON.
            fn fit(&mut self, max: usize) {
                match self { $(Self::$tool(data) => $module::$tool::fit(data, max),)* }
            }
        }

        fn answer(
                session: &Session,
                tool: Tool,
                args: Arguments<'_>,
                host: &mut dyn Host,
                notes: &mut Vec<String>,
            ) -> Result<Success<Data>, ToolError> {
                match tool {
                    $(Tool::$tool => {
                        let done = run::<$module::$tool>(session, tool, args, host, notes)?;
                        Ok(done.map(Data::$tool))
                    })*
                }
        }
    };
}
each_tool!(called);

/// The answer to a call.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// The call succeeded.
    Success(Success<Data>),
    /// The call failed; unless its class is `Partial`, it changed nothing.
    Failure(Failure),
    /// The answer of `edit.patch`, which has a shape of its own.
    EditPatch(EditPatchResult),
}

impl Reply {
    /// Returns whether the call succeeded.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.class().is_none()
    }

    /// Returns how a failed call ends a program.
    #[must_use]
    pub fn class(&self) -> Option<FailureClass> {
        match self {
            Self::Success(_) => None,
            Self::Failure(failure) => Some(failure.error.class),
            Self::EditPatch(result) => result.class,
        }
    }

    /// Returns the message of a failed call.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Success(_) => None,
            Self::Failure(failure) => Some(&failure.error.message),
            Self::EditPatch(result) => result.error.as_deref(),
        }
    }

    /// Returns what was overlooked, or taken in another form than it was sent in, a sentence each.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        let (normalised, noted) = match self {
            Self::Success(Success { normalised, data: Data::ApplyPatch(data), .. }) => {
                (normalised, &data.notes[..])
            }
            Self::Success(success) => (&success.normalised, &success.warnings[..]),
            Self::Failure(failure) => (&failure.normalised, &[][..]),
            Self::EditPatch(result) => (&result.notes, &[][..]),
        };
        normalised.iter().chain(noted).map(String::as_str)
    }

    /// Adds what was taken in another form than it was sent in.
    fn add_notes(&mut self, notes: Vec<String>) {
        match self {
            Self::Success(success) => &mut success.normalised,
            Self::Failure(failure) => &mut failure.normalised,
            Self::EditPatch(result) => &mut result.notes,
        }
        .extend(notes);
    }

    /// Adds what is wrong with the new files. Patches have notes for that.
    fn add_warnings(&mut self, warnings: Vec<String>) {
        if let Self::Success(success) = self
            && !matches!(success.data, Data::ApplyPatch(_))
        {
            success.warnings = warnings;
        }
    }

    /// Adds what the person who was asked about the change said, in one line.
    pub fn add_remark(&mut self, said: &str) {
        self.add(format!("the person who was asked says: {said}"));
    }

    fn add(&mut self, remark: String) {
        match self {
            Self::Failure(failure) => failure.error.message += &format!("; {remark}"),
            Self::Success(Success { data: Data::ApplyPatch(data), .. }) => data.notes.push(remark),
            Self::Success(success) => success.warnings.push(remark),
            Self::EditPatch(result) => result.notes.push(remark),
        }
    }

    /// Makes the answer of a tool that failed, in the words of its caller.
    #[must_use]
    pub fn failed(tool: Tool, error: ToolError) -> Self {
        let error = error.addressed(Caller::Tool(tool));
        match tool {
            Tool::EditPatch => Self::EditPatch(EditPatchResult::failed(&error)),
            _ => Self::Failure(error.into()),
        }
    }

    /// Shortens an answer to about `max` bytes of JSON.
    fn fit(&mut self, max: usize) {
        match self {
            Self::Success(success) => success.data.fit(max),
            Self::Failure(failure) => failure.error.fit(max),
            Self::EditPatch(result) => EditPatch::fit(result, max),
        }
    }

    /// Writes the answer as one line of JSON.
    ///
    /// # Panics
    ///
    /// Never: all keys are text.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("text keys")
    }
}

impl From<ToolError> for Reply {
    fn from(error: ToolError) -> Self {
        Self::Failure(error.into())
    }
}

/// The file tools as calls of a [`Session`].
pub trait Tools {
    /// Calls a tool by its name, with its arguments as a JSON object.
    fn call<'a>(&self, name: &str, args: impl Into<Arguments<'a>>, host: &mut dyn Host) -> Reply;

    /// Calls a tool with its arguments as a JSON object.
    fn call_tool<'a>(
        &self,
        tool: Tool,
        args: impl Into<Arguments<'a>>,
        host: &mut dyn Host,
    ) -> Reply;

    /// Calls a tool, and keeps what would be approved by `approvals` as a proposal: nothing is
    /// changed, and the answer says so. A call that the caller names as an earlier one, `call`, is
    /// answered with the proposal of that one, or with what became of it, as by the tool `proposal`.
    fn call_later<'a>(
        &self,
        tool: Tool,
        args: impl Into<Arguments<'a>>,
        call: Option<&str>,
        approvals: &mut Approvals,
        host: &mut dyn Host,
    ) -> Reply;

    /// Runs a command of Anthropic's editor tool; `max_characters` cuts what `view` shows.
    fn editor(
        &self,
        input: &Value,
        max_characters: Option<usize>,
        host: &mut dyn Host,
    ) -> EditorReply;

    /// Runs a command of the editor tool.
    ///
    /// # Errors
    ///
    /// Those of the file tool behind the command.
    fn try_editor(
        &self,
        input: &Value,
        max_characters: Option<usize>,
        host: &mut dyn Host,
    ) -> Result<String, ToolError>;
}

impl Tools for Session {
    fn call<'a>(&self, name: &str, args: impl Into<Arguments<'a>>, host: &mut dyn Host) -> Reply {
        match Tool::named(name) {
            Some(tool) => self.call_tool(tool, args, host),
            None => unknown(name).into(),
        }
    }

    fn call_tool<'a>(
        &self,
        tool: Tool,
        args: impl Into<Arguments<'a>>,
        host: &mut dyn Host,
    ) -> Reply {
        /// The one argument that is read here; the others are the tool's.
        #[derive(serde::Deserialize)]
        struct ResultBound {
            #[serde(rename = "maxResultBytes", default, deserialize_with = "arguments::given")]
            max_result_bytes: Option<u64>,
        }
        if tool == Tool::UndoTurn && !self.settings().undo_turn {
            return unknown(tool.as_str()).into();
        }
        let args = args.into();
        let asked = args
            .read::<ResultBound>(tool, &mut Vec::new())
            .ok()
            .and_then(|bound| bound.max_result_bytes);
        let mut notes = Vec::new();
        let mut host = Warned::new(host);
        let mut reply = match answer(self, tool, args, &mut host, &mut notes) {
            Ok(Success { data: Data::EditPatch(result), .. }) => Reply::EditPatch(result),
            Ok(success) => Reply::Success(success),
            Err(error) => Reply::failed(tool, error),
        };
        reply.add_notes(notes);
        reply.add_warnings(host.warnings);
        host.shortfalls.into_iter().for_each(|shortfall| reply.add(shortfall));
        let most = self.settings().max_output.unwrap_or(usize::MAX);
        // Reading tools have limits of their own, and give a cursor to go on from where they cut.
        let usual = if tool.is_read_only() { usize::MAX } else { MAX_RESULT };
        reply.fit(
            asked.map_or(usual, |asked| usize::try_from(asked).unwrap_or(usize::MAX)).min(most),
        );
        self.note_printed(printed(&reply));
        for Tagged { path, sha256, lines } in tagged(&reply) {
            // An edit of lines that could not be noted is refused.
            let _ = self.note_tagged(path, sha256, lines);
        }
        reply
    }

    fn call_later<'a>(
        &self,
        tool: Tool,
        args: impl Into<Arguments<'a>>,
        call: Option<&str>,
        approvals: &mut Approvals,
        host: &mut dyn Host,
    ) -> Reply {
        let known = call.map(|call| Proposals::of(self).of_call(tool.as_str(), call)).transpose();
        match known.map(Option::flatten) {
            Ok(None) => {}
            Ok(Some(known)) if known.state() == ProposalState::Proposed => {
                return Reply::failed(tool, proposed_later(&known));
            }
            Ok(Some(known)) => {
                return self.call_tool(Tool::Proposal, &json!({ "id": known.id() }), host);
            }
            Err(error) => return Reply::failed(tool, error),
        }
        let mut later = Later::new(self, tool.as_str(), call, host);
        let reply = self.call_tool(tool, args, &mut approvals.ask(&mut later));
        match later.into_made() {
            None => reply,
            Some(made) => {
                Reply::failed(tool, made.map_or_else(|error| error, |made| proposed_later(&made)))
            }
        }
    }

    fn editor(
        &self,
        input: &Value,
        max_characters: Option<usize>,
        host: &mut dyn Host,
    ) -> EditorReply {
        editor::editor(self, input, max_characters, host)
    }

    fn try_editor(
        &self,
        input: &Value,
        max_characters: Option<usize>,
        host: &mut dyn Host,
    ) -> Result<String, ToolError> {
        editor::try_editor(self, input, max_characters, host)
    }
}

fn run<T: FileTool>(
    session: &Session,
    tool: Tool,
    args: Arguments<'_>,
    host: &mut dyn Host,
    notes: &mut Vec<String>,
) -> ToolResult<T::Data> {
    match args.read::<T>(tool, notes) {
        Ok(mut call) => {
            for path in call.paths() {
                if let Some(rest) = session.workspace().root().relative(path) {
                    let taken = if rest.is_empty() { "." } else { &*rest };
                    notes.push(format!(
                        "the absolute path {} was taken as {}",
                        quoted(path),
                        quoted(taken)
                    ));
                    *path = rest;
                }
            }
            let layers = &session.settings().layers;
            // Flags are looked at before they become arguments, and arguments after.
            call.call(session, host).map_err(|error| {
                within(within(error, layers).addressed(Caller::Tool(tool)), layers)
            })
        }
        Err(error) => {
            let schema = ToolInfo::of(tool).input_schema;
            let mended = args.mended(&schema).map(|(args, _)| args);
            let what = format!("the arguments of {} do not fit", tool.as_str());
            let error = match mended.map_or_else(|| args.parsed(), Ok) {
                Ok(args) => ToolError::bad_arguments(&what, &schema, &args, &error),
                Err(error) => ToolError::unreadable_arguments(&what, &error),
            };
            if tool.is_read_only() {
                return Err(error);
            }
            // The log has this as a failed call.
            session.changing(tool, host, |_| Err(error))
        }
    }
}

/// Makes the error of a tool that does not exist, or that the host does not offer.
fn unknown(name: &str) -> ToolError {
    let names: Vec<_> = Tool::usual().map(Tool::as_str).collect();
    let name = fs_guard::shortened(name);
    let names = names.join(", ");
    ToolError::arguments(
        Reason::UnknownTool,
        format!("there is no tool {name:?}; there are {names}"),
    )
    .remedies([Remedy::See(Listing::Tools)])
}

/// Lines of a file that an answer has with their tags.
struct Tagged<'r> {
    path: &'r str,
    /// The version of the file.
    sha256: Sha256,
    lines: Vec<RangeInclusive<usize>>,
}

/// Finds the lines with tags in an answer.
fn tagged(reply: &Reply) -> Vec<Tagged<'_>> {
    match reply {
        Reply::Success(Success { data: Data::ReadFile(data), .. }) => {
            let lines = data.tagged_lines().into_iter().collect();
            let sha256 = data.sha256.parse();
            sha256.map(|sha256| Tagged { path: &data.path, sha256, lines }).into_iter().collect()
        }
        Reply::Success(Success { data: Data::SearchFiles(data), .. }) => {
            let matches = data.matches.iter();
            matches
                .filter_map(|found| {
                    let (sha256, lines) = found.tagged.as_ref()?;
                    let lines = lines.iter().map(|&line| line..=line).collect();
                    Some(Tagged { path: &found.path, sha256: *sha256, lines })
                })
                .collect()
        }
        Reply::Failure(Failure { error, .. }) => {
            let has_tags = error.hints.iter().any(|hint| matches!(hint, Hint::UseTags { .. }));
            let remedies = error.remedies.iter().filter(|_| has_tags);
            remedies
                .filter_map(|remedy| match remedy {
                    Remedy::UseTags { sha256, shown, .. } => {
                        let path = error.path.as_deref()?;
                        Some(Tagged { path, sha256: *sha256, lines: shown.clone() })
                    }
                    _ => None,
                })
                .collect()
        }
        Reply::Success(_) | Reply::EditPatch(_) => Vec::new(),
    }
}

/// Finds the lines of files in an answer.
fn printed(reply: &Reply) -> Vec<Printed<'_>> {
    match reply {
        Reply::Success(success) => match &success.data {
            Data::SearchFiles(data) => {
                let of_lines = data.matches.iter().filter(|found| found.line.is_some());
                of_lines
                    .map(|found| Printed {
                        path: &found.path,
                        first: found.first_line,
                        lines: found.lines().collect(),
                    })
                    .collect()
            }
            _ => Vec::new(),
        },
        Reply::Failure(failure) => {
            let error = &failure.error;
            let own = error.hints.iter().filter_map(|hint| match hint {
                Hint::ReplaceHunk { lines } => Some(lines.iter().map(String::as_str).collect()),
                _ => None,
            });
            let mut all = Vec::new();
            if let Some(path) = error.path.as_deref() {
                all = quoted_lines(path, &error.details, own);
            }
            for reject in error.details["rejects"].as_array().into_iter().flatten() {
                let Some(path) = reject["path"].as_str() else { continue };
                let hints = reject["hints"].as_array().into_iter().flatten();
                let hunks = hints.filter(|hint| hint["hint"] == "replace_hunk");
                let hunks = hunks.map(|hint| texts(&hint["lines"]));
                all.append(&mut quoted_lines(path, reject, hunks));
            }
            all
        }
        // Its answer is one line.
        Reply::EditPatch(_) => Vec::new(),
    }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn number(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|number| usize::try_from(number).ok())
}

/// Returns the lines of the file at `path` that the details of an error quote: the region nearest
/// to the lines of a hunk, the hunks to paste, and the current lines in a conflict.
fn quoted_lines<'r>(
    path: &'r str,
    details: &'r Value,
    hunks: impl Iterator<Item = Vec<&'r str>>,
) -> Vec<Printed<'r>> {
    // Blocks of lines, each with the number of its first line if that is known.
    let mut blocks: Vec<(Option<usize>, Vec<&str>)> = Vec::new();
    let nearest = &details["nearest"];
    let start = number(&nearest["startLine"]);
    for line in nearest["region"].as_array().into_iter().flatten() {
        blocks.push((number(&line["line"]), line["text"].as_str().into_iter().collect()));
    }
    let difference = &nearest["firstDifference"];
    let found = difference["found"].as_str().into_iter().collect();
    blocks.push((number(&difference["fileLine"]), found));
    let region = nearest["region"].as_array().into_iter().flatten();
    let region: Vec<&str> = region.filter_map(|line| line["text"].as_str()).collect();
    for hunk in hunks {
        let is_block = hunk.first().is_some_and(|line| line.starts_with('<'));
        let old: Vec<&str> = if is_block {
            hunk.into_iter().skip(1).take_while(|line| *line != "=======").collect()
        } else {
            hunk.into_iter().filter_map(|line| line.strip_prefix([' ', '-'])).collect()
        };
        // A hunk to paste may have more lines above the region.
        let above = (0..old.len()).find(|&above| old[above..].starts_with(&region));
        blocks.push((start.map(|start| start.saturating_sub(above.unwrap_or(0))), old));
    }
    let current = &details["current"];
    let lines = current["text"].as_str().into_iter().flat_map(str::lines).collect();
    blocks.push((number(&current["startLine"]), lines));
    blocks
        .into_iter()
        .filter_map(|(first, lines)| Some(Printed { path, first: first?, lines }))
        .collect()
}
