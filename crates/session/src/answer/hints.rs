//! Hints: the remedies of a failure, in the words of whoever gets the answer. A [`Remedy`] out of
//! the caller's reach gets no hint.

use patch_engine::Remedy;
use patch_engine::patch_text::locate::hints::{
    SEND_AGAIN, as_context, block, context_words, header_line, header_words, paste_words,
    search_words,
};
use patch_engine::remedy::words::{self, code};
use patch_engine::remedy::{
    Action, ArgumentChange, ArgumentValue, ForPerson, Listing, Part, Setting, Step, UndoStep,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::settings::names::{
    OF_WORKSPACE, WORKSPACE_FILE, argument_of, is_list, key_and_value, variable_of,
};
use crate::text::length;
use crate::tool::Tool;

/// Who gets the hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caller {
    /// A person or a program with flags.
    Terminal,
    /// The caller of the link `apply_patch`, without flags.
    Link,
    /// A person who undoes or restores: flags give no rules there, but variables do.
    Undo,
    /// The caller of a tool, with its arguments.
    Tool(Tool),
    /// A program in this language, with its options.
    Program(Language),
    /// A model that has Anthropic's text editor tool.
    Editor,
    /// A model that sends the operations of the Responses API.
    Operations,
}

/// The language of a program that calls the library. Each language writes options in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Keyword arguments: `create_parents=True`.
    Python,
    /// The fields of an object: `createParents: true`.
    JavaScript,
}

impl Language {
    /// Spells the key of a setting, or a name in `camelCase`, as a name of the language.
    #[must_use]
    pub fn name(self, key: &str) -> String {
        if self == Self::Python && key == "from" {
            // `from` is a keyword.
            return "form".into();
        }
        let mut name = String::new();
        let mut begins = false;
        for next in key.chars() {
            match self {
                _ if next == '-' => begins = true,
                Self::Python if begins || next.is_uppercase() => {
                    name.push('_');
                    name.extend(next.to_lowercase());
                    begins = false;
                }
                Self::JavaScript if begins => {
                    name.extend(next.to_uppercase());
                    begins = false;
                }
                _ => name.push(next),
            }
        }
        name
    }

    /// Writes an option with its value.
    fn given(self, name: &str, value: &ArgumentValue) -> String {
        match (self, value) {
            (Self::Python, ArgumentValue::Bool(true)) => format!("{name}=True"),
            (Self::Python, ArgumentValue::Bool(false)) => format!("{name}=False"),
            (Self::Python, value) => format!("{name}={}", json!(value)),
            (Self::JavaScript, value) => format!("{name}: {}", json!(value)),
        }
    }

    /// Returns the option for a setting, and its value.
    fn option(self, setting: &Setting) -> (String, ArgumentValue) {
        match (setting, key_and_value(setting)) {
            // A program plans on a commit by opening the repository's tree at a revision.
            (Setting::Onto(_), (_, value)) => (REVISION.into(), value),
            (_, (key, ArgumentValue::Text(value))) if is_list(key) => {
                (self.name(key), ArgumentValue::List(vec![value]))
            }
            (_, (key, value)) => (self.name(key), value),
        }
    }

    /// Returns whether an option belongs to a workspace, not to a patch.
    fn is_of_workspace(self, name: &str) -> bool {
        OF_WORKSPACE.iter().any(|key| self.name(key) == name)
    }
}

/// Rewrites a remedy for files outside a workspace. A setting of workspaces turns into the advice
/// to make the change in a workspace.
pub(crate) fn without_workspace(remedy: Remedy) -> Remedy {
    match &remedy {
        Remedy::Set(setting) | Remedy::Ask(ForPerson::Allow(setting)) => {
            let (key, _) = key_and_value(setting);
            if !OF_WORKSPACE.contains(&key) {
                return remedy;
            }
            Remedy::Ask(ForPerson::Own("make the change in a workspace that allows it".into()))
        }
        _ => remedy,
    }
}

/// The name of the commit to plan on. Programs do not give the commit as an option.
const REVISION: &str = "revision";

/// One thing to do. Several hints of one error are alternatives, the best one first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "hint", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Hint {
    /// Repeat the call with a flag of the command line.
    UseFlag {
        /// The flag, with its value, if any.
        flag: String,
    },
    /// Repeat the call with an argument.
    UseArgument {
        /// Its name.
        argument: String,
        /// Its value.
        value: ArgumentValue,
    },
    /// Call another tool, or another command of the editor, first or instead.
    UseTool {
        /// Its name.
        tool: &'static str,
        /// The file or directory to use the tool on.
        path: String,
    },
    /// Run a command of the program to see the possible names.
    UseCommand {
        /// The command line.
        command: String,
    },
    /// Run another command of the program instead.
    RunInstead {
        /// The command line.
        command: String,
    },
    /// Run these commands of the program one after the other instead: they do the same, and undo
    /// what others have built on it.
    RunInOrder {
        /// The command lines.
        commands: Vec<String>,
    },
    /// Run a command of the program first, then repeat this one.
    RunFirst {
        /// The command line.
        command: String,
    },
    /// A person has to decide; the caller cannot.
    AskPerson {
        /// The action asked of the person.
        what: String,
        /// The flag to allow the change with; otherwise the variable with its value, or the option
        /// of the library.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flag: Option<String>,
    },
    /// Leave the path alone: the rule has no exception.
    LeaveAlone {
        /// The path.
        path: String,
    },
    /// Read the file again and write the change against its present text.
    ReadAgain {
        /// The file.
        path: String,
        /// The first line that matters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start_line: Option<usize>,
        /// The last line that matters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end_line: Option<usize>,
    },
    /// Take these lines in place of the hunk's.
    ReplaceHunk {
        /// All its lines below the `@@`, with their prefixes; or a SEARCH/REPLACE block, with its
        /// markers.
        lines: Vec<String>,
    },
    /// Put these lines into the hunk, so that only one place matches.
    AddContext {
        /// The line of the meant place in the file.
        means_line: usize,
        /// The line to begin the hunk with, if the present one is wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<&'static str>,
        /// Below the hunk's last line; otherwise above its first.
        below: bool,
        /// The lines, with their prefix.
        lines: Vec<String>,
    },
    /// Put more of the file around the old and the new text of an edit, or around both parts of a
    /// SEARCH/REPLACE block, so that only one place matches.
    AddText {
        /// The line of the meant place in the file.
        means_line: usize,
        /// The text to put before both texts.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        before: String,
        /// The text to put after both texts.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        after: String,
    },
    /// Name lines by the tags that they have now.
    UseTags {
        /// The lines, with their tags.
        lines: Vec<String>,
    },
    /// Begin the hunk with this line, so that only one place matches.
    UseHeader {
        /// The line of the meant place in the file.
        means_line: usize,
        /// The line, `@@` included.
        header: String,
    },
    /// Write another path. Nothing was done to the file there.
    RenamePath {
        /// The given path.
        from: String,
        /// The path probably meant.
        to: String,
    },
    /// Choose another path.
    ChoosePath {
        /// The path that cannot be used.
        path: String,
        /// The requirement for the new path.
        like: String,
    },
    /// Do the change by another kind of section.
    UseSection {
        /// `Add File`, `Update File` or `Delete File`.
        section: &'static str,
        /// The file.
        path: String,
    },
    /// Put the hunk beneath another file's header.
    MoveHunk {
        /// The file.
        path: String,
        /// The line of the file where the hunk begins.
        line: usize,
    },
    /// Leave a part out.
    LeaveOut {
        /// The part.
        part: Part,
    },
    /// Write two parts as one.
    Join {
        /// The other hunk or edit, counted from 1.
        other: usize,
    },
    /// Send this in place of what was sent.
    Send {
        /// The text to send.
        what: &'static str,
    },
    /// Send the part as a call of its own.
    SendSeparately {},
    /// Split the change into several smaller ones.
    Split {},
    /// Correct a line of the sent text, and send the whole text again.
    CorrectLine {
        /// The line, from 1.
        line: u32,
        /// The correct text of the line.
        wanted: String,
    },
    /// Correct all the listed arguments.
    CorrectArguments {
        /// The corrections.
        arguments: Vec<ArgumentChange>,
    },
    /// Repeat the same call, now or later.
    TryAgain {},
}

/// Returns the remedies open to a caller. At least one is left: a remedy by flag turns into a
/// question to a person.
pub(crate) fn addressed(remedies: &[Remedy], caller: Caller) -> Vec<Remedy> {
    let mut out: Vec<Remedy> = Vec::new();
    for remedy in remedies {
        let own = followed(remedy, caller);
        out.extend(own.filter(|own| !out.contains(own) && has_short_hint(own, caller)));
    }
    if out.is_empty() {
        let asked = remedies.iter().find_map(|remedy| match remedy {
            Remedy::Set(setting) => Some(ForPerson::Allow(setting.clone())),
            Remedy::See(record) => Some(ForPerson::See(*record)),
            Remedy::Arguments(changes) => match &changes[..] {
                [ArgumentChange::Set { argument, .. }] => {
                    Some(ForPerson::UseToolWith { argument: argument.clone() })
                }
                _ => None,
            },
            _ => None,
        });
        out.extend(asked.map(Remedy::Ask));
    }
    out
}

/// Returns whether a remedy has a hint for a caller, and a short one.
fn has_short_hint(remedy: &Remedy, caller: Caller) -> bool {
    Hint::of(remedy, caller).is_some_and(|hint| hint.is_short())
}

/// Returns the setting to give by an argument of a tool, in place of one given by a flag.
fn own(tool: Tool, setting: &Setting) -> Option<Setting> {
    match (tool, setting) {
        (Tool::CreateFile | Tool::ApplyPatch, Setting::CreateParents)
        | (Tool::MoveFile, Setting::Overwrite)
        | (Tool::EditPatch, Setting::AllowDelete | Setting::AllowMove) => Some(setting.clone()),
        (Tool::ApplyPatch, Setting::Overwrite | Setting::Codex | Setting::Fuzz(_)) => {
            Some(Setting::Codex)
        }
        (Tool::ApplyPatch, Setting::SkipApplied | Setting::Standard) => Some(setting.clone()),
        _ => None,
    }
}

/// Returns whether one of the changes sets an argument.
fn sets_any(changes: &[ArgumentChange]) -> bool {
    changes.iter().any(|change| matches!(change, ArgumentChange::Set { .. }))
}

/// Returns a remedy in the form for a caller, or `None` if the caller cannot follow the remedy.
fn followed(remedy: &Remedy, caller: Caller) -> Option<Remedy> {
    let is_patch =
        matches!(caller, Caller::Tool(Tool::ApplyPatch | Tool::EditPatch | Tool::Propose));
    let has_hunks = is_patch || caller == Caller::Operations;
    match (remedy, caller) {
        (Remedy::Set(Setting::Root(root)), Caller::Link) => {
            let what = format!("run `apply-patch -C {root}` there");
            Some(Remedy::Ask(ForPerson::Own(what)))
        }
        (Remedy::Set(setting), Caller::Undo) if variable(setting).is_some() => {
            Some(Remedy::Ask(ForPerson::Allow(setting.clone())))
        }
        (_, Caller::Terminal | Caller::Link | Caller::Undo | Caller::Program(_)) => {
            Some(remedy.clone())
        }
        (Remedy::Set(setting), Caller::Tool(tool)) => own(tool, setting).map(Remedy::Set),
        (
            Remedy::Set(_)
            | Remedy::See(_)
            | Remedy::First(_)
            | Remedy::UndoInstead(_)
            | Remedy::UndoInOrder(_),
            _,
        ) => None,
        (Remedy::Ask(ForPerson::Allow(setting)), Caller::Tool(tool @ Tool::EditPatch)) => {
            Some(own(tool, setting).map_or_else(|| remedy.clone(), Remedy::Set))
        }
        (Remedy::SendWhole, Caller::Tool(Tool::ApplyPatch)) => Some(Remedy::Arguments(vec![
            ArgumentChange::Omit { argument: "amend".into() },
            ArgumentChange::Give { argument: "patch".into(), wanted: "the whole patch".into() },
        ])),
        // A call with one change has nothing to leave out, and no hunks to replace or move.
        (
            Remedy::LeaveOut(Part::Section | Part::Hunk)
            | Remedy::ReplaceHunk { .. }
            | Remedy::UseHeader { .. }
            | Remedy::MoveHunk { .. },
            _,
        ) => has_hunks.then(|| remedy.clone()),
        (Remedy::UseTags { .. }, Caller::Tool(_)) => Some(remedy.clone()),
        (Remedy::UseTags { .. }, Caller::Editor | Caller::Operations) => None,
        (Remedy::Arguments(changes), Caller::Editor) => {
            let changes = changes.iter().map(of_editor).collect::<Option<Vec<_>>>();
            changes.map(Remedy::Arguments)
        }
        (Remedy::Arguments(changes), Caller::Operations) => {
            (!sets_any(changes)).then(|| remedy.clone())
        }
        (
            Remedy::Arguments(_)
            | Remedy::Use { .. }
            | Remedy::Ask(_)
            | Remedy::LeaveAlone { .. }
            | Remedy::ReadAgain { .. }
            | Remedy::AddContext { .. }
            | Remedy::AddText { .. }
            | Remedy::RenamePath { .. }
            | Remedy::ChoosePath { .. }
            | Remedy::LeaveOut(_)
            | Remedy::Join { .. }
            | Remedy::SendSeparately
            | Remedy::Split
            | Remedy::SendOne
            | Remedy::SendEnvelope
            | Remedy::SendOldLines
            | Remedy::SendWholeFile
            | Remedy::SendMove
            | Remedy::SendWhole
            | Remedy::SendAgain
            | Remedy::SendCorrected
            | Remedy::CorrectLine { .. }
            | Remedy::TryAgain,
            _,
        ) => Some(remedy.clone()),
    }
}

/// Translates the change of an argument of `edit_file` to the editor's arguments; `None` where the
/// editor does not have the argument.
fn of_editor(change: &ArgumentChange) -> Option<ArgumentChange> {
    Some(match change {
        ArgumentChange::Give { argument, wanted } => ArgumentChange::Give {
            argument: name_of_editor(argument).unwrap_or(argument).to_owned(),
            wanted: wanted.clone(),
        },
        ArgumentChange::Set { argument, value } => ArgumentChange::Set {
            argument: name_of_editor(argument)?.to_owned(),
            value: value.clone(),
        },
        change => change.clone(),
    })
}

fn name_of_editor(argument: &str) -> Option<&'static str> {
    match argument {
        "edits[0].oldText" => Some("old_str"),
        "edits[0].newText" => Some("new_str"),
        _ => None,
    }
}

/// Translates the change of an option to its name in a language.
fn of_program(change: ArgumentChange, language: Language) -> ArgumentChange {
    match change {
        ArgumentChange::Set { argument, value } => {
            ArgumentChange::Set { argument: language.name(&argument), value }
        }
        ArgumentChange::Give { argument, wanted } => {
            ArgumentChange::Give { argument: language.name(&argument), wanted }
        }
        // The old name stays as given.
        ArgumentChange::Rename { argument, to } => {
            ArgumentChange::Rename { argument, to: language.name(&to) }
        }
        ArgumentChange::Omit { argument } => {
            ArgumentChange::Omit { argument: language.name(&argument) }
        }
    }
}

impl Hint {
    /// Puts a remedy into the words of a caller; `None` if the caller has none for the remedy.
    #[must_use]
    pub fn of(remedy: &Remedy, caller: Caller) -> Option<Self> {
        Some(match remedy.clone() {
            Remedy::Set(setting) => return Self::of_setting(&setting, caller),
            Remedy::Arguments(changes) => Self::of_arguments(changes, caller),
            Remedy::Use { action, path } => return Self::of_action(action, path, caller),
            Remedy::See(record) => Self::UseCommand { command: command(record) },
            Remedy::UndoInstead(name) => {
                Self::RunInstead { command: format!("apply-patch undo {}", shell_word(&name)) }
            }
            Remedy::UndoInOrder(steps) => {
                Self::RunInOrder { commands: steps.iter().map(undo_command).collect() }
            }
            Remedy::First(step) => Self::RunFirst { command: first(&step) },
            Remedy::Ask(decision) => Self::of_decision(&decision, caller),
            Remedy::LeaveAlone { path } => Self::LeaveAlone { path },
            Remedy::ReadAgain { path, lines } => Self::ReadAgain {
                path,
                start_line: lines.as_ref().map(|lines| *lines.start()),
                end_line: lines.as_ref().map(|lines| *lines.end()),
            },
            Remedy::ReplaceHunk { lines } => Self::ReplaceHunk { lines },
            Remedy::UseTags { lines, .. } => Self::UseTags { lines },
            Remedy::AddContext { means_line, bare, below, lines } => {
                let lines = as_context(&lines);
                Self::AddContext { means_line, header: bare.then_some("@@"), below, lines }
            }
            Remedy::AddText { means_line, before, after } => {
                Self::AddText { means_line, before, after }
            }
            Remedy::UseHeader { means_line, header } => {
                Self::UseHeader { means_line, header: header_line(header.as_deref()) }
            }
            Remedy::RenamePath { from, to } => Self::RenamePath { from, to },
            Remedy::ChoosePath { path, like } => {
                Self::ChoosePath { path, like: words::like_words(&like) }
            }
            Remedy::MoveHunk { path, line } => Self::MoveHunk { path, line },
            Remedy::LeaveOut(part) => Self::LeaveOut { part },
            Remedy::Join { other } => Self::Join { other },
            Remedy::SendSeparately => Self::SendSeparately {},
            Remedy::Split => Self::Split {},
            Remedy::SendOne => Self::Send { what: words::SEND_ONE },
            Remedy::SendEnvelope => Self::Send { what: words::SEND_ENVELOPE },
            Remedy::SendOldLines => Self::Send {
                what: match caller {
                    Caller::Tool(_) => {
                        "the lines to replace too, as a change without old lines makes a new \
                         file; or write all of the file by write_file"
                    }
                    _ => words::SEND_OLD_LINES,
                },
            },
            Remedy::SendWholeFile if matches!(caller, Caller::Terminal | Caller::Undo) => {
                Self::Send {
                    what: "all of the file in a fence below its path, with `--from files`",
                }
            }
            Remedy::SendWholeFile => return None,
            Remedy::SendMove => Self::Send { what: words::SEND_MOVE },
            Remedy::SendWhole => Self::Send {
                what: match caller {
                    Caller::Terminal => "the whole patch, with all its sections, without `--amend`",
                    Caller::Program(_) => "the whole patch, with all its sections, without `amend`",
                    _ => words::SEND_WHOLE,
                },
            },
            Remedy::SendAgain => Self::Send { what: SEND_AGAIN },
            Remedy::SendCorrected => Self::Send { what: words::SEND_CORRECTED },
            Remedy::CorrectLine { line, wanted } => Self::CorrectLine { line, wanted },
            Remedy::TryAgain => Self::TryAgain {},
        })
    }

    fn of_setting(setting: &Setting, caller: Caller) -> Option<Self> {
        match caller {
            Caller::Tool(_) => {
                let (key, value) = key_and_value(setting);
                Some(Self::UseArgument { argument: argument_of(key), value })
            }
            Caller::Program(language) => {
                let (argument, value) = language.option(setting);
                Some(Self::UseArgument { argument, value })
            }
            Caller::Link => None,
            Caller::Terminal | Caller::Undo | Caller::Editor | Caller::Operations => {
                Some(Self::UseFlag { flag: flag(setting) })
            }
        }
    }

    fn of_arguments(mut changes: Vec<ArgumentChange>, caller: Caller) -> Self {
        if let Caller::Program(language) = caller {
            changes = changes.into_iter().map(|change| of_program(change, language)).collect();
        }
        match changes.pop() {
            Some(ArgumentChange::Set { argument, value }) if changes.is_empty() => {
                Self::UseArgument { argument, value }
            }
            last => Self::CorrectArguments { arguments: changes.into_iter().chain(last).collect() },
        }
    }

    fn of_action(action: Action, path: String, caller: Caller) -> Option<Self> {
        match (words::section(action), caller) {
            (
                Some(section),
                Caller::Terminal
                | Caller::Link
                | Caller::Undo
                | Caller::Program(_)
                | Caller::Tool(Tool::ApplyPatch | Tool::EditPatch | Tool::Propose),
            ) => Some(Self::UseSection { section, path }),
            _ => Some(Self::UseTool { tool: tool(action, caller)?, path }),
        }
    }

    fn of_decision(decision: &ForPerson, caller: Caller) -> Self {
        let (what, setting) = asked(decision, caller);
        let flag = setting.filter(|_| caller != Caller::Link).map(|setting| {
            let variable = variable(setting).filter(|_| caller == Caller::Undo);
            variable.unwrap_or_else(|| given(setting, caller))
        });
        Self::AskPerson { what, flag }
    }

    /// Puts the remedies into the words of a caller.
    #[must_use]
    pub fn all_of(remedies: &[Remedy], caller: Caller) -> Vec<Self> {
        remedies.iter().filter_map(|remedy| Self::of(remedy, caller)).collect()
    }
}

/// Returns the tool, the command of the editor, or the operation for an action.
fn tool(action: Action, caller: Caller) -> Option<&'static str> {
    let tool = match action {
        Action::Read => Tool::ReadFile,
        Action::List => Tool::ListDirectory,
        Action::Find => Tool::Glob,
        Action::Create => Tool::CreateFile,
        Action::Edit => Tool::EditFile,
        Action::Write => Tool::WriteFile,
        Action::Move => Tool::MoveFile,
        Action::Delete => Tool::DeleteFile,
        Action::Patch => Tool::ApplyPatch,
    };
    match (caller, action) {
        (
            Caller::Terminal | Caller::Link | Caller::Undo | Caller::Tool(_) | Caller::Program(_),
            _,
        ) => Some(tool.as_str()),
        (Caller::Editor, Action::Read | Action::List) => Some("view"),
        (Caller::Editor, Action::Edit) => Some("str_replace"),
        (Caller::Editor, Action::Write | Action::Create) => Some("create"),
        (Caller::Operations, Action::Create) => Some("create_file"),
        (Caller::Operations, Action::Edit) => Some("update_file"),
        (Caller::Operations, Action::Delete) => Some("delete_file"),
        (Caller::Editor | Caller::Operations, _) => None,
    }
}

/// Returns the flag for a setting, with its value.
fn flag(setting: &Setting) -> String {
    match (setting, key_and_value(setting)) {
        (Setting::Root(directory), _) => format!("-C {}", shell_word(directory)),
        (Setting::Exclude(path), _) => format!("--exclude {}", shell_word(&exact_glob(path))),
        // These flags may be off.
        (Setting::AllowDelete | Setting::AllowMove, (key, _)) => format!("--{key}=true"),
        (_, (key, ArgumentValue::Text(value))) => format!("--{key} {value}"),
        (_, (key, ArgumentValue::Number(value))) => format!("--{key} {value}"),
        (_, (key, _)) => format!("--{key}"),
    }
}

/// Writes a setting as an option of the library, or as a flag.
fn given(setting: &Setting, caller: Caller) -> String {
    match caller {
        Caller::Program(language) => {
            let (name, value) = language.option(setting);
            language.given(&name, &value)
        }
        _ => flag(setting),
    }
}

/// Returns the pattern for a path and no other. Special characters are put in brackets: a backslash
/// is not an escape everywhere.
fn exact_glob(path: &str) -> String {
    let mut glob = String::with_capacity(path.len());
    for next in path.chars() {
        match next {
            '*' | '?' | '[' | ']' | '{' | '}' => glob.extend(['[', next, ']']),
            next => glob.push(next),
        }
    }
    glob
}

/// Returns the environment variable for a rule, with its value: for a command without a flag.
fn variable(setting: &Setting) -> Option<String> {
    match key_and_value(setting) {
        (key, ArgumentValue::Text(value)) if OF_WORKSPACE.contains(&key) => {
            Some(format!("{}={}", variable_of(key), shell_word(&value)))
        }
        _ => None,
    }
}

/// Returns the command to see a record with.
fn command(record: Listing) -> String {
    match record {
        Listing::Log => "apply-patch log".into(),
        Listing::Transaction(id) => format!("apply-patch show {}", id.short()),
        Listing::Trash => "apply-patch trash list --all".into(),
        Listing::Tools => "apply-patch tool --list".into(),
        Listing::Proposals => "apply-patch proposals".into(),
    }
}

/// Returns the command for one undo of several.
fn undo_command(step: &UndoStep) -> String {
    let mut command = format!("apply-patch undo {}", step.name);
    for (nth, path) in step.paths.iter().enumerate() {
        command += if nth == 0 { " -- " } else { " " };
        command += &shell_word(path);
    }
    command
}

/// Returns the command for a step to take first.
fn first(step: &Step) -> String {
    match step {
        Step::Undo(id) => format!("apply-patch undo {}", id.short()),
        Step::Move { from, to } => format!("mv {} {}", shell_word(from), shell_word(to)),
        Step::Recover { directory } => format!("apply-patch -C {} recover", shell_word(directory)),
        Step::Own { path, user } => format!("sudo chown -R {} {}", user.id(), shell_word(path)),
    }
}

/// The advice to keep the history outside the workspace.
const ELSEWHERE: &str = "keep the history elsewhere: `state = \"user\"` in their configuration, \
                         or APPLY_PATCH_STATE=user";

/// Says what a person can do, and returns the setting to allow the change with.
fn asked(decision: &ForPerson, caller: Caller) -> (String, Option<&Setting>) {
    let what = match decision {
        ForPerson::Allow(setting) => return (allowed(setting), Some(setting)),
        ForPerson::AllowInFile(setting) => {
            let what = match allowed(setting) {
                what if what == ALLOW_IT => format!("allow `{}`", given(setting, caller)),
                what => what,
            };
            format!("{what}, in {WORKSPACE_FILE}")
        }
        ForPerson::See(record) => format!("look at what `{}` shows", command(*record)),
        ForPerson::ExceptFromRule { glob } => format!(
            "name the file in `allow-forbidden` of their own configuration, if `{glob}` does not \
             mean it: no flag lifts this"
        ),
        ForPerson::MakeWritable => "make the file writable".into(),
        ForPerson::ChooseRoot if matches!(caller, Caller::Program(_)) => {
            "choose another root".into()
        }
        ForPerson::ChooseRoot => "choose another root (`-C`)".into(),
        ForPerson::ChangeLargeFile => {
            "change this file by other means, or set `max-file-size` higher".into()
        }
        ForPerson::ChangeBinaryFile => {
            "change this file by other means: only text is edited".into()
        }
        ForPerson::LookAtSystem => "look at disk, rights and mounts".into(),
        ForPerson::LookAtState => "look at the state directory with `apply-patch doctor`".into(),
        ForPerson::LookAtJournal => "look at the journal, then run `apply-patch recover`".into(),
        ForPerson::LookAtFiles => {
            "look at the files that are named, then run `apply-patch recover`".into()
        }
        ForPerson::RecoverIn { directory } => format!("run `apply-patch recover` in {directory}"),
        ForPerson::UndoUntrusted(id) => format!(
            "undo it with `apply-patch undo {id} --trust`, if they know that change: it was made \
             with a key that is not here, or without one"
        ),
        ForPerson::UndoAtTop { id, project } => {
            let there =
                project.as_ref().map(|project| format!(" -C {project}")).unwrap_or_default();
            format!("undo it with `apply-patch{there} undo {id}`, at the top of the project")
        }
        ForPerson::RunAs { owner } => {
            format!("run this as {owner}, without sudo, or {ELSEWHERE}")
        }
        ForPerson::GiveBack { path, user } => {
            format!("give {} back to {user}, or {ELSEWHERE}", fs_guard::quoted(path))
        }
        ForPerson::NameIdentity => "set user.name and user.email in the git configuration".into(),
        ForPerson::NameChange => {
            "name the change: this session has made none that could be undone".into()
        }
        ForPerson::SayInstead => "say what to do instead".into(),
        ForPerson::ProposeAgain { proposal } => format!(
            "bring the files back to what it was made for, or decline {proposal} and have it \
             proposed again"
        ),
        ForPerson::ApproveResult { proposal, digest } => match caller {
            Caller::Program(Language::Python) => {
                format!("look at the result, and call approve({proposal:?}, digest={digest:?})")
            }
            Caller::Program(Language::JavaScript) => format!(
                "look at the result, and call approve({proposal:?}, {{ digest: {digest:?} }})"
            ),
            _ => format!(
                "look at the result, and run `apply-patch approve {proposal} --digest {digest}`"
            ),
        },
        ForPerson::DecideAbout { proposal } => format!(
            "decide about it: `apply-patch show {proposal}` shows it, `apply-patch approve \
             {proposal}` commits it, and `apply-patch decline {proposal}` does not"
        ),
        ForPerson::UseToolWith { argument } => format!("use a tool that has `{argument}`"),
        ForPerson::Own(what) => what.clone(),
    };
    (what, None)
}

/// The words for a setting without words of its own.
const ALLOW_IT: &str = "allow it";

/// Words the request to allow a setting.
fn allowed(setting: &Setting) -> String {
    match setting {
        Setting::Allow(_) => "approve the change of this file".into(),
        Setting::AllowDelete => "let the patch delete files".into(),
        Setting::AllowMove => "let the patch move files".into(),
        Setting::BreakHardLinks => {
            "let this name of the file be replaced, and its other names stay".into()
        }
        Setting::Environment(id) => format!("confirm that this is the environment {id}"),
        Setting::Encoding(_) => "say which charset the file has".into(),
        Setting::AllowCheckedOut => {
            "allow it; the files that are checked out stay as they are, and look changed".into()
        }
        Setting::CreateParents
        | Setting::Overwrite
        | Setting::Fuzz(_)
        | Setting::Standard
        | Setting::Codex
        | Setting::FirstPlace
        | Setting::SkipApplied
        | Setting::SkipBinary
        | Setting::Exclude(_)
        | Setting::Recount
        | Setting::NativeNames
        | Setting::Strip(_)
        | Setting::UnidiffZero
        | Setting::FixWhitespace
        | Setting::WarnOfSyntax
        | Setting::AllowPlaceholders
        | Setting::AnyForm
        | Setting::WholeFiles
        | Setting::Part(_)
        | Setting::AllParts
        | Setting::Carry
        | Setting::Root(_)
        | Setting::Onto(_)
        | Setting::NewBranch => ALLOW_IT.into(),
    }
}

/// Returns a text as a word of the shell.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.chars().all(|next| next.is_ascii_alphanumeric() || "/._-+:@~".contains(next));
    if is_plain { text.into() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Says what a caller can do.
pub(crate) fn told(remedies: &[Remedy], caller: Caller) -> String {
    words(&Hint::all_of(&addressed(remedies, caller), caller), caller)
}

/// Writes the hints as a sentence on what to do next. Lines to paste are left out if the hints
/// themselves are sent too.
#[must_use]
pub fn words(hints: &[Hint], caller: Caller) -> String {
    // The answer to an operation has no hints beside the text.
    if caller == Caller::Operations {
        return spelt_out(hints, caller);
    }
    let words: Vec<_> = hints
        .iter()
        .map(|hint| match hint {
            Hint::ReplaceHunk { .. } => {
                "if that place is meant, take the lines of the hint replace_hunk for the hunk's"
                    .into()
            }
            hint => hint.words(caller),
        })
        .collect();
    joined(words)
}

/// Joins alternatives to one text. An alternative below lines to copy begins on a new line.
fn joined(words: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    let mut is_block = false;
    for words in words {
        if !text.is_empty() {
            text += if is_block { "\nor " } else { "; or " };
        }
        is_block = words.contains('\n');
        text += &words;
    }
    text
}

/// Writes the hints in full, with the lines to paste.
#[must_use]
pub fn spelt_out(hints: &[Hint], caller: Caller) -> String {
    // Hunks to paste come last.
    let (paste, others): (Vec<_>, Vec<_>) =
        hints.iter().partition(|hint| matches!(hint, Hint::ReplaceHunk { .. }));
    joined(others.into_iter().chain(paste).map(|hint| hint.words(caller)))
}

impl Hint {
    /// Returns whether the hint is short enough to help: nobody sends thousands of bytes again.
    fn is_short(&self) -> bool {
        /// The longest hint, as JSON, and the longest one with lines to paste.
        const MOST: [usize; 2] = [1500, 16_000];
        let pastes = matches!(
            self,
            Self::ReplaceHunk { .. }
                | Self::AddText { .. }
                | Self::UseTags { .. }
                | Self::UseHeader { .. }
                | Self::CorrectArguments { .. }
        );
        length(self) <= MOST[usize::from(pastes)]
    }

    fn words(&self, caller: Caller) -> String {
        match self {
            Self::UseFlag { flag } => format!("use {}", code(flag)),
            Self::UseArgument { argument, value } => argument_words(argument, value, caller),
            Self::UseCommand { command } => format!("see {}", code(command)),
            Self::RunInstead { command } => format!("undo another one: {}", code(command)),
            Self::RunInOrder { commands } => {
                let commands: Vec<_> = commands.iter().map(|command| code(command)).collect();
                format!("undo it with what others built on it: {}", commands.join(", then "))
            }
            Self::RunFirst { command } => format!("first run {}", code(command)),
            Self::UseTool { tool: tool @ ("create_file" | "create"), path } => {
                format!("to make a new file, use {tool} for {}", fs_guard::quoted(path))
            }
            Self::UseTool { tool, path } => format!("use {tool} for {}", fs_guard::quoted(path)),
            Self::AskPerson { what, flag } => ask_words(what, flag.as_deref(), caller),
            Self::LeaveAlone { path } => words::leave_words(path),
            Self::ReadAgain { path, start_line, end_line } => {
                read_words(path, start_line.zip(*end_line), caller)
            }
            Self::ReplaceHunk { lines } => paste_words(lines),
            Self::UseTags { lines } => {
                format!("name the lines by the tags that they have now:{}", block(lines))
            }
            Self::AddContext { means_line, header, below, lines } => {
                context_words(*means_line, *header, *below, lines)
            }
            Self::AddText { means_line, before, after } if sends_edits(caller) => {
                edit_words(*means_line, before, after, caller)
            }
            Self::AddText { means_line, before, after } => {
                search_words(*means_line, before, after, |text| Value::from(text).to_string())
            }
            Self::UseHeader { means_line, header } => header_words(*means_line, header),
            Self::RenamePath { from, to } => words::rename_words(from, to),
            Self::ChoosePath { path, like } => words::choose_words(path, like),
            Self::UseSection { section, path } => words::section_words(section, path),
            Self::MoveHunk { path, line } => other_file_words(path, *line, caller),
            Self::LeaveOut { part } => left_out_words(*part, caller).into(),
            Self::Join { other } => match caller {
                Caller::Tool(Tool::EditFile) => {
                    format!("write edit {other} and this one as one edit")
                }
                _ => format!("write hunk {other} and this one as one hunk"),
            },
            Self::Send { what } => format!("send {what}"),
            Self::SendSeparately {} => words::send_separately(sent_by(caller)),
            Self::Split {} => words::SPLIT.into(),
            Self::CorrectLine { line, wanted } => {
                words::correct_words(*line, wanted, sent_by(caller))
            }
            Self::CorrectArguments { arguments } => {
                let words = arguments.iter().map(|change| change_words(change, caller));
                words.collect::<Vec<_>>().join(", and ")
            }
            Self::TryAgain {} => words::TRY_AGAIN.into(),
        }
    }
}

/// Names the text sent by a caller.
fn sent_by(caller: Caller) -> &'static str {
    if caller == Caller::Operations { "diff" } else { "patch" }
}

/// Returns whether a caller sends old and new texts, and no patch.
fn sends_edits(caller: Caller) -> bool {
    matches!(caller, Caller::Editor | Caller::Tool(Tool::EditFile))
}

fn argument_words(argument: &str, value: &ArgumentValue, caller: Caller) -> String {
    match caller {
        Caller::Program(_) if argument == REVISION => {
            format!("open the tree at the revision {}", json!(value))
        }
        Caller::Program(language) if language.is_of_workspace(argument) => {
            format!("open the workspace with {}", code(&language.given(argument, value)))
        }
        Caller::Program(language) => format!("use {}", code(&language.given(argument, value))),
        _ => format!("set {argument} to {}", json!(value)),
    }
}

fn ask_words(what: &str, flag: Option<&str>, caller: Caller) -> String {
    match flag {
        Some(flag) => {
            let flag = code(flag);
            format!("leave it alone, or ask the person in charge to {what} ({flag})")
        }
        // The reader of a terminal may be the person in charge.
        None if matches!(caller, Caller::Terminal | Caller::Link | Caller::Undo) => {
            format!("a person has to {what}")
        }
        None => format!("leave it alone, or ask the person in charge to {what}"),
    }
}

fn read_words(path: &str, lines: Option<(usize, usize)>, caller: Caller) -> String {
    let read = if caller == Caller::Editor { "view" } else { "read" };
    let of_lines = match lines {
        Some((first, last)) if first == last => format!("line {first} of "),
        Some((first, last)) => format!("lines {first}-{last} of "),
        None => String::new(),
    };
    let copy = match caller {
        Caller::Tool(Tool::EditFile) => "copy oldText or the tags from there",
        Caller::Editor => "write the command for what is there now",
        Caller::Tool(tool)
            if !matches!(tool, Tool::ApplyPatch | Tool::EditPatch | Tool::Propose) =>
        {
            "repeat the call for what is there now"
        }
        _ if lines.is_none() => "write the change for what is there now",
        _ => "copy the context and the removed lines from there",
    };
    format!("{read} {of_lines}{} again and {copy}", fs_guard::quoted(path))
}

/// Says which text to put around the old and the new text of an edit.
fn edit_words(means_line: usize, before: &str, after: &str, caller: Caller) -> String {
    let (old, new) =
        if caller == Caller::Editor { ("old_str", "new_str") } else { ("oldText", "newText") };
    let sides = [(before, "before"), (after, "after")].into_iter();
    let sides = sides
        .filter(|(text, _)| !text.is_empty())
        .map(|(text, side)| format!("{} {side}", Value::from(text)));
    let sides = sides.collect::<Vec<_>>().join(" and ");
    format!("to mean line {means_line}, put {sides} both {old} and {new}")
}

/// Offers another file for a hunk.
fn other_file_words(path: &str, line: usize, caller: Caller) -> String {
    match caller {
        Caller::Operations => format!(
            "send the hunk with an update_file of {path}: its lines are there, from line {line}"
        ),
        _ => words::move_words(path, line),
    }
}

/// Says that a part is to be left out.
fn left_out_words(part: Part, caller: Caller) -> &'static str {
    match (part, caller) {
        (Part::Section, Caller::Operations) => "leave this operation out",
        (Part::Edit, Caller::Editor) => "do not repeat the command",
        (part, _) => words::part_words(part),
    }
}

fn change_words(change: &ArgumentChange, caller: Caller) -> String {
    match change {
        ArgumentChange::Set { argument, value } => match caller {
            Caller::Program(language) => format!("use `{}`", language.given(argument, value)),
            _ => format!("set `{argument}` to {}", json!(value)),
        },
        ArgumentChange::Give { argument, wanted } => format!("let `{argument}` be {wanted}"),
        ArgumentChange::Rename { argument, to } => format!("rename `{argument}` to `{to}`"),
        ArgumentChange::Omit { argument } => format!("leave `{argument}` out"),
    }
}
