//! What can be done about a failure, in the shape in which answers have it: each [`Remedy`] in the
//! words of who gets it, and only those that they can follow.

use patch_engine::Remedy;
use patch_engine::remedy::{
    Action, ArgumentChange, ArgumentValue, ForPerson, Listing, Part, PathLike, Setting, Step,
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
    /// The caller of the link `apply_patch`, which has no flags.
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

/// The language of a program that calls the library, which tells how it writes an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Keyword arguments: `create_parents=True`.
    Python,
    /// The fields of an object: `createParents: true`.
    JavaScript,
}

impl Language {
    /// Returns what the key of a setting, or a name in `camelCase`, is called.
    #[must_use]
    pub fn name(self, key: &str) -> String {
        if self == Self::Python && key == "from" {
            // A word of the language.
            return "form".into();
        }
        let (mut name, mut begins) = (String::new(), false);
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

    /// Returns the option that gives a setting, and its value.
    fn option(self, setting: &Setting) -> (String, ArgumentValue) {
        match (setting, key_and_value(setting)) {
            // The tree of a repository is opened at a revision.
            (Setting::Onto(_), (_, value)) => (REVISION.into(), value),
            (_, (key, ArgumentValue::Text(value))) if is_list(key) => {
                (self.name(key), ArgumentValue::List(vec![value]))
            }
            (_, (key, value)) => (self.name(key), value),
        }
    }

    /// Returns whether an option is one of a workspace, and not of a patch.
    fn is_of_workspace(self, name: &str) -> bool {
        OF_WORKSPACE.iter().any(|key| self.name(key) == name)
    }
}

/// Returns a remedy for files that are not in a workspace: what only a workspace allows is to be
/// done in one.
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

/// What names the commit that is planned on, which is no option.
const REVISION: &str = "revision";

/// One thing to do. Several hints of one error are alternatives, the best one first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "hint", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Hint {
    /// Repeat the call with a flag of the command line.
    UseFlag {
        /// The flag, with its value if it has one.
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
        /// The file or directory it is about.
        path: String,
    },
    /// Run a command of the program, which shows what to name.
    UseCommand {
        /// The command line.
        command: String,
    },
    /// Run a command of the program in place of this one, if that is what is wanted.
    RunInstead {
        /// The command line.
        command: String,
    },
    /// Run a command of the program, and then this one again.
    RunFirst {
        /// The command line.
        command: String,
    },
    /// A person has to decide; the caller cannot.
    AskPerson {
        /// What the person can do.
        what: String,
        /// The flag by which they allow it; in place of one, the variable with its value, or the
        /// option of the library.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flag: Option<String>,
    },
    /// Leave the path alone: nothing lifts this rule.
    LeaveAlone {
        /// The path.
        path: String,
    },
    /// Read the file again and write the change against what is there.
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
    /// Put these lines into the hunk: then it means one place.
    AddContext {
        /// The line of that place in the file.
        means_line: usize,
        /// The line to begin the hunk with, if it has another.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<&'static str>,
        /// Below the hunk's last line; otherwise above its first.
        below: bool,
        /// The lines, with their prefix.
        lines: Vec<String>,
    },
    /// Put more of the file around the text of an edit, or of a SEARCH part, and around what
    /// replaces it too: then it means one place.
    AddText {
        /// The line of that place in the file.
        means_line: usize,
        /// What to put before both texts.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        before: String,
        /// What to put after both texts.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        after: String,
    },
    /// Begin the hunk with this line: then it means one place.
    UseHeader {
        /// The line of that place in the file.
        means_line: usize,
        /// The line, `@@` included.
        header: String,
    },
    /// Write another path. It was not tried.
    RenamePath {
        /// The path as it was given.
        from: String,
        /// The path that was probably meant.
        to: String,
    },
    /// Choose another path.
    ChoosePath {
        /// The path that cannot be.
        path: String,
        /// What the other one must be like.
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
        /// Where its lines are there.
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
        /// What to send.
        what: &'static str,
    },
    /// Send the part as a call of its own.
    SendSeparately {},
    /// Make several smaller changes of it.
    Split {},
    /// Correct a line of the text that was sent, and send all of it again.
    CorrectLine {
        /// The line, from 1.
        line: u32,
        /// What should stand there.
        wanted: String,
    },
    /// Correct the arguments: all that is listed.
    CorrectArguments {
        /// What to change in them.
        arguments: Vec<ArgumentChange>,
    },
    /// The same call may do later, or does now.
    TryAgain {},
}

/// Returns what a caller can follow of the remedies. At least one is left: what only a flag could
/// do becomes a question to a person.
pub(crate) fn addressed(remedies: &[Remedy], caller: Caller) -> Vec<Remedy> {
    let mut out: Vec<Remedy> = Vec::new();
    for remedy in remedies {
        let own = followed(remedy, caller);
        let is_short = |own: &Remedy| Hint::of(own, caller).is_some_and(|hint| hint.is_short());
        out.extend(own.filter(|own| !out.contains(own) && is_short(own)));
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

/// Returns the setting that an argument of a tool gives, where a flag gives this one.
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

/// Returns a remedy as the caller can follow it.
fn followed(remedy: &Remedy, caller: Caller) -> Option<Remedy> {
    let if_any = |can: bool| can.then(|| remedy.clone());
    let is_patch = matches!(caller, Caller::Tool(Tool::ApplyPatch | Tool::EditPatch));
    let has_hunks = is_patch || caller == Caller::Operations;
    match (remedy, caller) {
        (Remedy::Set(Setting::Root(root)), Caller::Link) => {
            let what = format!("run `apply-patch -C {root}` there");
            Some(Remedy::Ask(ForPerson::Own(what)))
        }
        (Remedy::Set(setting), Caller::Undo) if variable(setting).is_some() => {
            Some(Remedy::Ask(ForPerson::Allow(setting.clone())))
        }
        (_, Caller::Terminal | Caller::Link | Caller::Undo | Caller::Program(_)) => if_any(true),
        (Remedy::Set(setting), Caller::Tool(tool)) => own(tool, setting).map(Remedy::Set),
        (Remedy::Set(_) | Remedy::See(_) | Remedy::First(_) | Remedy::UndoInstead(_), _) => None,
        (Remedy::Ask(ForPerson::Allow(setting)), Caller::Tool(tool @ Tool::EditPatch)) => {
            own(tool, setting).map(Remedy::Set).or_else(|| if_any(true))
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
        ) => if_any(has_hunks),
        (Remedy::Arguments(changes), Caller::Editor) => {
            let sets = changes.iter().any(|it| matches!(it, ArgumentChange::Set { .. }));
            (!sets).then(|| Remedy::Arguments(changes.iter().map(of_editor).collect()))
        }
        (Remedy::Arguments(changes), Caller::Operations) => {
            if_any(!changes.iter().any(|it| matches!(it, ArgumentChange::Set { .. })))
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
            | Remedy::SendWhole
            | Remedy::SendAgain
            | Remedy::SendCorrected
            | Remedy::CorrectLine { .. }
            | Remedy::TryAgain,
            _,
        ) => if_any(true),
    }
}

/// Translates the change of an argument of `edit_file` to the editor's arguments.
fn of_editor(change: &ArgumentChange) -> ArgumentChange {
    match change {
        ArgumentChange::Give { argument, wanted } if argument == "edits[0].oldText" => {
            ArgumentChange::Give { argument: "old_str".into(), wanted: wanted.clone() }
        }
        change => change.clone(),
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
        // That one is as it was given.
        ArgumentChange::Rename { argument, to } => {
            ArgumentChange::Rename { argument, to: language.name(&to) }
        }
        ArgumentChange::Omit { argument } => {
            ArgumentChange::Omit { argument: language.name(&argument) }
        }
    }
}

impl Hint {
    /// Puts a remedy into the words of a caller; `None` if the caller has none for it.
    #[must_use]
    pub fn of(remedy: &Remedy, caller: Caller) -> Option<Self> {
        Some(match remedy.clone() {
            Remedy::Set(setting) => match caller {
                Caller::Tool(_) => {
                    let (key, value) = key_and_value(&setting);
                    Self::UseArgument { argument: argument_of(key), value }
                }
                Caller::Program(language) => {
                    let (argument, value) = language.option(&setting);
                    Self::UseArgument { argument, value }
                }
                Caller::Link => return None,
                Caller::Terminal | Caller::Undo | Caller::Editor | Caller::Operations => {
                    Self::UseFlag { flag: flag(&setting) }
                }
            },
            Remedy::Arguments(mut changes) => {
                if let Caller::Program(language) = caller {
                    changes = changes.into_iter().map(|it| of_program(it, language)).collect();
                }
                match changes.pop() {
                    Some(ArgumentChange::Set { argument, value }) if changes.is_empty() => {
                        Self::UseArgument { argument, value }
                    }
                    last => Self::CorrectArguments {
                        arguments: changes.into_iter().chain(last).collect(),
                    },
                }
            }
            Remedy::Use { action, path } => match (section(action), caller) {
                (
                    Some(section),
                    Caller::Terminal
                    | Caller::Link
                    | Caller::Undo
                    | Caller::Program(_)
                    | Caller::Tool(Tool::ApplyPatch | Tool::EditPatch),
                ) => Self::UseSection { section, path },
                _ => Self::UseTool { tool: tool(action, caller)?, path },
            },
            Remedy::See(record) => Self::UseCommand { command: command(record) },
            Remedy::UndoInstead(name) => {
                Self::RunInstead { command: format!("apply-patch undo {}", shell_word(&name)) }
            }
            Remedy::First(step) => Self::RunFirst { command: first(&step) },
            Remedy::Ask(decision) => {
                let (what, setting) = asked(&decision, caller);
                let flag = setting.filter(|_| caller != Caller::Link).map(|setting| {
                    let variable = variable(setting).filter(|_| caller == Caller::Undo);
                    variable.unwrap_or_else(|| given(setting, caller))
                });
                Self::AskPerson { what, flag }
            }
            Remedy::LeaveAlone { path } => Self::LeaveAlone { path },
            Remedy::ReadAgain { path, lines } => Self::ReadAgain {
                path,
                start_line: lines.as_ref().map(|lines| *lines.start()),
                end_line: lines.as_ref().map(|lines| *lines.end()),
            },
            Remedy::ReplaceHunk { lines } => Self::ReplaceHunk { lines },
            Remedy::AddContext { means_line, bare, below, lines } => {
                let lines = lines.iter().map(|line| format!(" {line}")).collect();
                Self::AddContext { means_line, header: bare.then_some("@@"), below, lines }
            }
            Remedy::AddText { means_line, before, after } => {
                Self::AddText { means_line, before, after }
            }
            Remedy::UseHeader { means_line, header } => {
                let header = header.map_or_else(|| "@@".into(), |header| format!("@@ {header}"));
                Self::UseHeader { means_line, header }
            }
            Remedy::RenamePath { from, to } => Self::RenamePath { from, to },
            Remedy::ChoosePath { path, like } => Self::ChoosePath { path, like: like_words(&like) },
            Remedy::MoveHunk { path, line } => Self::MoveHunk { path, line },
            Remedy::LeaveOut(part) => Self::LeaveOut { part },
            Remedy::Join { other } => Self::Join { other },
            Remedy::SendSeparately => Self::SendSeparately {},
            Remedy::Split => Self::Split {},
            Remedy::SendOne => {
                Self::Send { what: "one patch, one diff, or the operations of one response" }
            }
            Remedy::SendEnvelope => Self::Send {
                what: "a patch in the envelope, from `*** Begin Patch` to `*** End Patch`",
            },
            Remedy::SendWhole => Self::Send {
                what: match caller {
                    Caller::Terminal => "the whole patch, with all its sections, without `--amend`",
                    Caller::Program(_) => "the whole patch, with all its sections, without `amend`",
                    _ => "the whole patch, with all its sections",
                },
            },
            Remedy::SendAgain => Self::Send {
                what: "the whole patch again; if it is too long for one answer, send several \
                    smaller ones",
            },
            Remedy::SendCorrected => {
                Self::Send { what: "the change again, corrected by what the command printed" }
            }
            Remedy::CorrectLine { line, wanted } => Self::CorrectLine { line, wanted },
            Remedy::TryAgain => Self::TryAgain {},
        })
    }

    /// Puts the remedies into the words of a caller.
    #[must_use]
    pub fn all_of(remedies: &[Remedy], caller: Caller) -> Vec<Self> {
        remedies.iter().filter_map(|remedy| Self::of(remedy, caller)).collect()
    }
}

/// Returns the section of a patch that does it.
fn section(action: Action) -> Option<&'static str> {
    match action {
        Action::Edit => Some("Update File"),
        Action::Delete => Some("Delete File"),
        Action::Read
        | Action::List
        | Action::Find
        | Action::Write
        | Action::Move
        | Action::Patch => None,
    }
}

/// Returns the tool, the command of the editor, or the operation that does it.
fn tool(action: Action, caller: Caller) -> Option<&'static str> {
    let tool = match action {
        Action::Read => Tool::ReadFile,
        Action::List => Tool::ListDirectory,
        Action::Find => Tool::Glob,
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
        (Caller::Editor, Action::Write) => Some("create"),
        (Caller::Operations, Action::Edit) => Some("update_file"),
        (Caller::Operations, Action::Delete) => Some("delete_file"),
        (Caller::Editor | Caller::Operations, _) => None,
    }
}

/// Returns the flag that gives a setting.
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

/// Returns how a setting is given: as an option of the library, or by a flag.
fn given(setting: &Setting, caller: Caller) -> String {
    match caller {
        Caller::Program(language) => {
            let (name, value) = language.option(setting);
            language.given(&name, &value)
        }
        _ => flag(setting),
    }
}

/// Returns the pattern that matches a path and no other. Brackets mean the same everywhere, a
/// backslash does not.
fn exact_glob(path: &str) -> String {
    let sign = |next: char| match next {
        '*' | '?' | '[' | ']' | '{' | '}' => format!("[{next}]"),
        next => next.to_string(),
    };
    path.chars().map(sign).collect()
}

/// Returns the variable that gives a rule to a command which has no flag for it.
fn variable(setting: &Setting) -> Option<String> {
    match key_and_value(setting) {
        (key, ArgumentValue::Text(value)) if OF_WORKSPACE.contains(&key) => {
            Some(format!("{}={}", variable_of(key), shell_word(&value)))
        }
        _ => None,
    }
}

/// Returns the command that shows a record.
fn command(record: Listing) -> String {
    match record {
        Listing::Log => "apply-patch log".into(),
        Listing::Transaction(id) => format!("apply-patch show {}", id.short()),
        Listing::Trash => "apply-patch trash list --all".into(),
        Listing::Tools => "apply-patch tool --list".into(),
    }
}

/// Returns the command that does what comes first.
fn first(step: &Step) -> String {
    match step {
        Step::Undo(id) => format!("apply-patch undo {}", id.short()),
        Step::Recover { directory } => format!("apply-patch -C {} recover", shell_word(directory)),
        Step::Own { path, user } => format!("sudo chown -R {} {}", user.id(), shell_word(path)),
    }
}

/// How a history is kept elsewhere.
const ELSEWHERE: &str = "keep the history elsewhere: `state = \"user\"` in their configuration, \
                         or APPLY_PATCH_STATE=user";

/// Says what a person can do, and gives the setting by which they allow it.
fn asked(decision: &ForPerson, caller: Caller) -> (String, Option<&Setting>) {
    let what = match decision {
        ForPerson::Allow(setting) => return (allowed(setting), Some(setting)),
        ForPerson::AllowInFile(setting) => {
            let what = match allowed(setting) {
                it if it == ALLOW_IT => format!("allow `{}`", given(setting, caller)),
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
        ForPerson::UseToolWith { argument } => format!("use a tool that has `{argument}`"),
        ForPerson::Own(what) => what.clone(),
    };
    (what, None)
}

/// What to do about a setting that needs no other words.
const ALLOW_IT: &str = "allow it";

/// Says what a person does who allows a setting.
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
        | Setting::AnyForm
        | Setting::Part(_)
        | Setting::AllParts
        | Setting::Carry
        | Setting::Root(_)
        | Setting::Onto(_)
        | Setting::NewBranch => ALLOW_IT.into(),
    }
}

/// Says what a path must be like.
fn like_words(like: &PathLike) -> String {
    match like {
        PathLike::Existing => "one that exists (list the directory)",
        PathLike::File => "a file that exists (list the directory)",
        PathLike::OtherFile => "a file that exists; this one is gone",
        PathLike::NotDirectory => "a file, not a directory",
        PathLike::Directory => "a directory that exists",
        PathLike::InDirectory => "in a directory that exists",
        PathLike::PartOfDirectory => "a directory in it, one after the other",
        PathLike::Free => "one where nothing is",
        PathLike::NotBeneath(file) => {
            return format!("not beneath {}, which is not a directory", fs_guard::quoted(file));
        }
        PathLike::BeneathRoot => "beneath the workspace root",
        PathLike::Relative => "relative to the workspace root, with `/` between plain names",
        PathLike::Shallower => "of at most 256 components",
        PathLike::Shorter => "of at most 4096 bytes, and no name in it longer than 255",
        PathLike::Portable => "a name that every system can hold",
    }
    .into()
}

/// Returns a text as a word of the shell.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let plain = |next: char| next.is_ascii_alphanumeric() || "/._-+:@~".contains(next);
    if !text.is_empty() && text.chars().all(plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Says what a caller can do.
pub(crate) fn told(remedies: &[Remedy], caller: Caller) -> String {
    words(&Hint::all_of(&addressed(remedies, caller), caller), caller)
}

/// Writes the hints as a sentence on what to do next. A hunk to paste is left out where the hints
/// themselves are sent too.
#[must_use]
pub fn words(hints: &[Hint], caller: Caller) -> String {
    // The answer to an operation has no hints, only text.
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

/// Joins what can be done to one text. Lines to copy stand by themselves: what follows them begins
/// a new line.
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

/// Writes lines to copy, each on a line of its own.
fn block(lines: impl IntoIterator<Item: AsRef<str>>) -> String {
    lines.into_iter().flat_map(|line| ["\n".to_owned(), line.as_ref().to_owned()]).collect()
}

/// Writes code within a sentence. Backticks do not show where it ends if it has some itself.
fn code(text: &str) -> String {
    if text.contains('`') { format!("\"{text}\"") } else { format!("`{text}`") }
}

/// Writes the hints with the hunks to paste.
#[must_use]
pub fn spelt_out(hints: &[Hint], caller: Caller) -> String {
    // Hunks to paste come last.
    let (paste, others): (Vec<_>, Vec<_>) =
        hints.iter().partition(|hint| matches!(hint, Hint::ReplaceHunk { .. }));
    joined(others.into_iter().chain(paste).map(|hint| hint.words(caller)))
}

impl Hint {
    /// Returns whether it can be followed without sending thousands of bytes again: what quotes
    /// that much is no help.
    fn is_short(&self) -> bool {
        /// The longest one, as JSON, and the longest one with lines to paste.
        const MOST: [usize; 2] = [1500, 16_000];
        let pastes = matches!(
            self,
            Self::ReplaceHunk { .. } | Self::AddText { .. } | Self::UseHeader { .. }
        );
        length(self) <= MOST[usize::from(pastes)]
    }

    fn words(&self, caller: Caller) -> String {
        let sent = if caller == Caller::Operations { "diff" } else { "patch" };
        match self {
            Self::UseFlag { flag } => format!("use {}", code(flag)),
            Self::UseArgument { argument, value } => match caller {
                Caller::Program(_) if argument == REVISION => {
                    format!("open the tree at the revision {}", json!(value))
                }
                Caller::Program(language) if language.is_of_workspace(argument) => {
                    format!("open the workspace with {}", code(&language.given(argument, value)))
                }
                Caller::Program(language) => {
                    format!("use {}", code(&language.given(argument, value)))
                }
                _ => format!("set {argument} to {}", json!(value)),
            },
            Self::UseCommand { command } => format!("see {}", code(command)),
            Self::RunInstead { command } => format!("undo another one: {}", code(command)),
            Self::RunFirst { command } => format!("first run {}", code(command)),
            Self::UseTool { tool, path } => format!("use {tool} for {}", fs_guard::quoted(path)),
            Self::AskPerson { what, flag: Some(flag) } => {
                let flag = code(flag);
                format!("leave it alone, or ask the person in charge to {what} ({flag})")
            }
            // The reader of a terminal may be that person.
            Self::AskPerson { what, flag: None }
                if matches!(caller, Caller::Terminal | Caller::Link | Caller::Undo) =>
            {
                format!("a person has to {what}")
            }
            Self::AskPerson { what, flag: None } => {
                format!("leave it alone, or ask the person in charge to {what}")
            }
            Self::LeaveAlone { path } => {
                format!("leave {} alone: nothing lifts this rule", fs_guard::quoted(path))
            }
            Self::ReadAgain { path, start_line, end_line } => {
                let read = if caller == Caller::Editor { "view" } else { "read" };
                let lines = match (start_line, end_line) {
                    (Some(first), Some(last)) if first == last => format!("line {first} of "),
                    (Some(first), Some(last)) => format!("lines {first}-{last} of "),
                    _ => String::new(),
                };
                let copy = match caller {
                    Caller::Tool(Tool::EditFile) => "copy oldText from there",
                    Caller::Editor => "write the command for what is there now",
                    Caller::Tool(tool) if !matches!(tool, Tool::ApplyPatch | Tool::EditPatch) => {
                        "repeat the call for what is there now"
                    }
                    _ if lines.is_empty() => "write the change for what is there now",
                    _ => "copy the context and the removed lines from there",
                };
                format!("{read} {lines}{} again and {copy}", fs_guard::quoted(path))
            }
            Self::ReplaceHunk { lines } => {
                let is_block = lines.first().is_some_and(|line| line.starts_with('<'));
                let what = if is_block { "block" } else { "hunk's lines" };
                format!("if that place is meant, take for the {what}:{}", block(lines))
            }
            Self::AddContext { means_line, header, below, lines } => {
                let header = header.map(|line| format!("begin the hunk with `{line}` alone, and "));
                let header = header.unwrap_or_default();
                let side = if *below {
                    "below the hunk's last line"
                } else {
                    "above the hunk's first line"
                };
                format!("to mean line {means_line}, {header}put {side}:{}", block(lines))
            }
            Self::AddText { means_line, before, after } if !sends_edits(caller) => {
                let (side, text) =
                    if after.is_empty() { ("above", before) } else { ("below", after) };
                let lines = block(text.lines());
                format!(
                    "to mean line {means_line}, put {side} the lines of both SEARCH and REPLACE:\
                     {lines}"
                )
            }
            Self::AddText { means_line, before, after } => {
                let (old, new) = if caller == Caller::Editor {
                    ("old_str", "new_str")
                } else {
                    ("oldText", "newText")
                };
                let side = |side: &str, text: &str| format!("{} {side}", Value::from(text));
                let sides = [("before", before), ("after", after)]
                    .into_iter()
                    .filter(|(_, text)| !text.is_empty());
                let sides: Vec<_> = sides.map(|(name, text)| side(name, text)).collect();
                format!(
                    "to mean line {means_line}, put {} both {old} and {new}",
                    sides.join(" and ")
                )
            }
            Self::UseHeader { header, means_line } if header == "@@" => {
                format!("leave the text after `@@` out if line {means_line} is meant")
            }
            Self::UseHeader { means_line, header } => {
                format!("to mean line {means_line}, begin the hunk with:{}", block([header]))
            }
            Self::RenamePath { from, to } => match fs_guard::normalisations(from, to) {
                None => format!("did you mean {}? Nothing was done to it", fs_guard::quoted(to)),
                Some([own, other]) => format!(
                    "did you mean {to}? It looks the same, but its letters are written in {other}, \
                     and here in {own} (Unicode normalisation). Nothing was done to it"
                ),
            },
            Self::ChoosePath { path, like } => {
                format!("choose another path than {}: {like}", fs_guard::quoted(path))
            }
            Self::UseSection { section: section @ "Update File", path } => {
                let (quoted, line) = (fs_guard::quoted(path), format!("*** {section}: {path}"));
                format!("read {quoted} and change it by {}", code(&line))
            }
            Self::UseSection { section, path } => {
                format!("use {}", code(&format!("*** {section}: {path}")))
            }
            Self::MoveHunk { path, line } => match caller {
                Caller::Operations => {
                    format!(
                        "send the hunk with an update_file of {path}: its lines are there, from \
                         line {line}"
                    )
                }
                _ => {
                    let header = code(&format!("*** Update File: {path}"));
                    format!("put the hunk under {header}: its lines are there, from line {line}")
                }
            },
            Self::LeaveOut { part } => match part {
                Part::Hunk => "leave the hunk out: it is done already".into(),
                Part::Section if caller == Caller::Operations => "leave this operation out".into(),
                Part::Section => "leave this section out".into(),
                Part::Move => "leave the new path out".into(),
                Part::EndOfFile => "leave `*** End of File` out if these lines are meant".into(),
                Part::NoNewline => "leave `\\ No newline at end of file` out".into(),
                Part::WhitespaceErrors => "insert lines without whitespace errors".into(),
                Part::SyntaxErrors => "send it so that the file still parses".into(),
                Part::NotAscii => "insert ASCII only".into(),
                Part::Numbers => "leave out the numbers after its last `@@`, if it is whole".into(),
                Part::Ids => "leave out its last `index` line, if it is whole".into(),
                Part::Edit if caller == Caller::Editor => "do not repeat the command".into(),
                Part::Edit => "leave the edit out".into(),
            },
            Self::Join { other } => match caller {
                Caller::Tool(Tool::EditFile) => {
                    format!("write edit {other} and this one as one edit")
                }
                _ => format!("write hunk {other} and this one as one hunk"),
            },
            Self::Send { what } => format!("send {what}"),
            Self::SendSeparately {} => {
                format!("send this part as a {sent} of its own, after the rest")
            }
            Self::Split {} => "split the change into smaller ones".into(),
            Self::CorrectLine { line, wanted } if wanted.starts_with(' ') => {
                format!(
                    "if line {line} of the {sent} is context, begin it with a blank, and send the \
                     whole {sent} again:{}",
                    block([wanted])
                )
            }
            Self::CorrectLine { line, .. } => {
                format!("correct line {line} of the {sent} and send the whole {sent} again")
            }
            Self::CorrectArguments { arguments } => {
                let words = arguments.iter().map(|change| change_words(change, caller));
                words.collect::<Vec<_>>().join(", and ")
            }
            Self::TryAgain {} => "try the same again".into(),
        }
    }
}

/// Returns whether a caller sends old and new texts, and no patch.
fn sends_edits(caller: Caller) -> bool {
    matches!(caller, Caller::Editor | Caller::Tool(Tool::EditFile))
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
