//! What can be done about a failure, as data: every caller gets only hints that it can follow.
//!
//! A hint is made once, from the reject or the error, for the command line. [`addressed`] turns it
//! into one for another caller: its own arguments, its own commands, or the note that a person has
//! to decide.

use fs_guard::{Account, Rule, shortened, visible};
use patch_engine::commit::{self, CommitError};
use patch_engine::{Advice, Expected, ParseError, ParseErrorKind, Problem, Reject, RejectReason};
use serde::Serialize;
use serde_json::Value;

use crate::answer::text::length;
use crate::tools::tool::Tool;

/// The most candidate places that get a hint of their own.
pub(crate) const PLACES: usize = 3;

/// Who gets the hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caller {
    /// A person or a program with flags.
    Terminal,
    /// The caller of a tool, with its arguments.
    Tool(Tool),
    /// A model that has Anthropic's text editor tool.
    Editor,
    /// A model that sends the operations of the Responses API.
    Operations,
}

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
        value: Value,
    },
    /// Call another tool, or another command of the editor, first or instead.
    UseTool {
        /// Its name.
        tool: String,
        /// The file or directory it is about.
        path: String,
    },
    /// Run a command of the program, which shows what to name.
    UseCommand {
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
        /// The flag by which they allow it.
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
        /// All its lines below the `@@`, with their prefixes.
        lines: Vec<String>,
    },
    /// Put these lines into the hunk: then it means one place.
    AddContext {
        /// The line of that place in the file.
        means_line: usize,
        /// Below the hunk's last line; otherwise above its first.
        below: bool,
        /// The lines, with their prefix.
        lines: Vec<String>,
    },
    /// Put more of the file around the text of an edit, and around its new text too: then it means
    /// one place.
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
        section: String,
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

/// What to change in the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ArgumentChange {
    /// Give the argument a value.
    Give {
        /// Its name; `edits[0].oldText` is one within another.
        argument: String,
        /// What it must be.
        wanted: String,
    },
    /// Give the argument another name.
    Rename {
        /// The name as it was given.
        argument: String,
        /// The name that was probably meant.
        to: String,
    },
    /// Leave the argument out.
    Omit {
        /// Its name.
        argument: String,
    },
}

/// A part of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// A hunk.
    Hunk,
    /// All of what the patch does to a file.
    Section,
    /// The new path of a move.
    Move,
    /// `*** End of File`.
    EndOfFile,
    /// `\ No newline at end of file`.
    NoNewline,
    /// Letters beyond ASCII.
    NotAscii,
    /// An edit of `edit_file`.
    Edit,
}

fn flag(flag: impl Into<String>) -> Hint {
    Hint::UseFlag { flag: flag.into() }
}

/// Returns the hint that a person has to decide.
pub fn ask(what: impl Into<String>, flag: Option<String>) -> Hint {
    Hint::AskPerson { what: what.into(), flag }
}

pub(crate) fn read_again(path: &str) -> Hint {
    Hint::ReadAgain { path: path.into(), start_line: None, end_line: None }
}

/// Returns the hint to give one argument a value.
pub fn give(argument: impl Into<String>, wanted: impl Into<String>) -> Hint {
    let change = ArgumentChange::Give { argument: argument.into(), wanted: wanted.into() };
    Hint::CorrectArguments { arguments: vec![change] }
}

/// Returns the hint to leave one argument out.
pub fn omit(argument: impl Into<String>) -> Hint {
    Hint::CorrectArguments { arguments: vec![ArgumentChange::Omit { argument: argument.into() }] }
}

pub(crate) fn set(argument: impl Into<String>, value: impl Into<Value>) -> Hint {
    Hint::UseArgument { argument: argument.into(), value: value.into() }
}

pub(crate) fn use_tool(tool: Tool, path: &str) -> Hint {
    Hint::UseTool { tool: tool.as_str().into(), path: path.into() }
}

pub(crate) fn choose(path: &str, like: &str) -> Hint {
    Hint::ChoosePath { path: shortened(path).into_owned(), like: like.into() }
}

/// Returns the hints for a reject.
#[must_use]
pub fn hints(reject: &Reject) -> Vec<Hint> {
    let path = &reject.path;
    if let Some(near) = &reject.near {
        let mut hints = vec![Hint::RenamePath { from: path.clone(), to: near.clone() }];
        if let Problem::MissingParent { .. } = reject.problem {
            hints.push(flag("--create-parents"));
        }
        return hints;
    }
    match &reject.problem {
        Problem::Guard(error) => guard_hints(error),
        Problem::Missing => vec![choose(path, "a file that exists: list the directory")],
        Problem::MissingParent { .. } => {
            vec![flag("--create-parents"), choose(path, "in a directory that exists")]
        }
        Problem::ParentIsFile { file } => {
            vec![choose(path, &format!("not beneath {file}, which is a file"))]
        }
        Problem::Exists { .. } => {
            vec![
                Hint::UseSection { section: "Update File".into(), path: path.clone() },
                flag("--overwrite"),
            ]
        }
        Problem::ReplacesUsed { .. } => vec![Hint::SendSeparately {}],
        Problem::Collides { with } => {
            vec![Hint::RenamePath { from: path.clone(), to: with.clone() }]
        }
        Problem::LeavesLines => vec![read_again(path)],
        Problem::Irreversible(_) => vec![Hint::LeaveOut { part: Part::Section }],
        Problem::SamePath => vec![Hint::LeaveOut { part: Part::Move }],
        // A file that is to be added is expected not to be there.
        Problem::Stale { expected: Expected::Hash(expected), actual: Some(actual) }
            if expected == actual =>
        {
            vec![Hint::UseSection { section: "Update File".into(), path: path.clone() }]
        }
        Problem::Stale { actual: None, .. } => {
            vec![choose(path, "a file that exists: this one is gone")]
        }
        Problem::Stale { .. } => vec![read_again(path)],
        Problem::Conflict(conflict) => vec![Hint::ReadAgain {
            path: path.clone(),
            start_line: Some(conflict.current.lines.start),
            end_line: Some((conflict.current.lines.end - 1).max(conflict.current.lines.start)),
        }],
        Problem::Binary { .. } => {
            vec![Hint::UseSection { section: "Delete File".into(), path: path.clone() }]
        }
        Problem::TooManyFiles { .. } => {
            vec![choose(path, "a directory in it, one after the other")]
        }
        Problem::DeleteNotAllowed => {
            vec![
                Hint::LeaveOut { part: Part::Section },
                ask("let the patch delete files", Some("--allow-delete=true".into())),
            ]
        }
        Problem::MoveNotAllowed => {
            vec![
                Hint::LeaveOut { part: Part::Section },
                ask("let the patch move files", Some("--allow-move=true".into())),
            ]
        }
        Problem::InOtherFile { file, line, .. } => {
            vec![Hint::MoveHunk { path: file.clone(), line: *line }]
        }
        Problem::Hunk(reason) => hunk_hints(reason, path),
    }
}

/// Returns the hints for a refusal of the guard, or a failure of the system.
#[must_use]
pub fn guard_hints(error: &fs_guard::Error) -> Vec<Hint> {
    use fs_guard::Error;
    let path = error.path().unwrap_or_default();
    if let Error::OthersState { owner, user, .. } = error {
        return others_state(path, owner, user);
    }
    let relative = "relative to the workspace root, with `/` between plain names";
    vec![match error {
        Error::Guarded { path, .. } => {
            ask("approve the change of this file", Some(format!("--allow {path}")))
        }
        Error::HardLinked { .. } => ask(
            "let this name of the file be replaced, and its other names stay",
            Some("--hard-links break".into()),
        ),
        Error::Symlink { real_path: Some(real), path, .. } => {
            Hint::RenamePath { from: path.clone(), to: real.clone() }
        }
        Error::Forbidden { rule: Rule::Glob(glob), .. } => ask(
            format!(
                "name the file in `allow-forbidden` of their own configuration, if `{glob}` does \
                 not mean it: no flag lifts this"
            ),
            None,
        ),
        Error::Forbidden { .. } | Error::Symlink { real_path: None, .. } => {
            Hint::LeaveAlone { path: shortened(path).into_owned() }
        }
        Error::ReadOnly { .. } => ask("make the file writable", None),
        Error::OtherDevice { .. } | Error::Mount { .. } => ask("choose another root (`-C`)", None),
        Error::UntrustedState { .. } | Error::OthersState { .. } => doctor(),
        Error::Collision { path, existing } => {
            Hint::RenamePath { from: path.clone(), to: existing.clone() }
        }
        Error::NotAFile { kind: fs_guard::FileKind::Directory, .. } => {
            choose(path, "a file, not a directory")
        }
        Error::NotAFile { .. } => Hint::LeaveAlone { path: path.into() },
        Error::NotADirectory { component, .. } => {
            choose(path, &format!("not beneath {component}, which is a file"))
        }
        Error::NotFound { .. } => choose(path, "one that exists: list the directory"),
        Error::NoRoot { .. } => choose(path, "a directory that exists"),
        Error::AlreadyExists { .. } => choose(path, "one where nothing is"),
        Error::Spelling { problem, .. } => match problem.reason() {
            "too_deep" => choose(path, "of at most 256 components"),
            "too_long" => choose(path, "of at most 4096 bytes, and no name in it longer than 255"),
            "not_portable" => choose(path, "a name that every system can hold"),
            _ => choose(path, relative),
        },
        Error::Traversal { .. } | Error::NotWithin { .. } | Error::LeadsOut { .. } => {
            choose(path, "beneath the workspace root")
        }
        Error::TooLarge { .. } => {
            ask("change this file by other means, or set `max-file-size` higher", None)
        }
        Error::Changed { .. } | Error::Locked { .. } => Hint::TryAgain {},
        _ => ask("look at disk, rights and mounts", None),
    }]
}

/// Returns the hints for a text that does not parse.
pub(crate) fn parse_hints(error: &ParseError) -> Vec<Hint> {
    let seen = error.seen.as_deref().unwrap_or_default();
    let correct = || Hint::CorrectLine { line: error.line, wanted: error.expected.join(" or ") };
    match &error.kind {
        ParseErrorKind::OtherEnvironment { id } => {
            vec![ask(
                format!("confirm that this is the environment {id}"),
                Some(format!("--environment {id}")),
            )]
        }
        kind if kind.as_str() == "no_begin"
            && ["diff --git ", "--- ", "Index: "].iter().any(|it| seen.starts_with(it)) =>
        {
            vec![flag("--from auto")]
        }
        kind if matches!(kind.as_str(), "padded" | "wrapped" | "no_at") => {
            vec![correct(), flag("--profile codex")]
        }
        kind if kind.as_str() == "too_many_sections" => vec![Hint::Split {}],
        _ => vec![correct()],
    }
}

/// Returns the hints for a workspace that cannot be used, or an undo that cannot be planned.
pub(crate) fn workspace_hints(error: &commit::Error) -> Vec<Hint> {
    let see = |command: String| vec![Hint::UseCommand { command }];
    match error {
        commit::Error::Drifted { id, carry: true, .. } => [flag("--carry")]
            .into_iter()
            .chain(see(format!("apply-patch show {}", id.short())))
            .collect(),
        // The later change has to be undone first.
        commit::Error::Drifted { id, drifts, .. }
            if drifts.iter().all(|drift| drift.by.is_some()) =>
        {
            let later = drifts.iter().filter_map(|drift| drift.by).max();
            let first = later.map(|later| Hint::RunFirst {
                command: format!("apply-patch undo {}", later.short()),
            });
            first.into_iter().chain(see(format!("apply-patch show {}", id.short()))).collect()
        }
        // Its diff shows what a patch against the current files has to reverse.
        commit::Error::Drifted { id, .. } | commit::Error::NotInTransaction { id, .. } => {
            see(format!("apply-patch show {}", id.short()))
        }
        commit::Error::Files(error)
        | commit::Error::Store(workspace_trash::Error::Files(error)) => file_hints(error),
        commit::Error::NothingTo(_)
        | commit::Error::Aborted(_)
        | commit::Error::Store(workspace_trash::Error::NoSuchTransaction(_)) => {
            see("apply-patch log".into())
        }
        commit::Error::Store(workspace_trash::Error::NoSuchSlot { .. }) => {
            see("apply-patch trash list --all".into())
        }
        error if !error.to_be_trusted().is_empty() => {
            let ids = error.to_be_trusted();
            ids.iter()
                .take(PLACES)
                .map(|id| {
                    ask(
                        format!(
                            "undo it with `apply-patch undo \
                                                          {id} --trust`, if they know that \
                                                          change: it was made with a key that is \
                                                          not here, or without \
                                                          one"
                        ),
                        None,
                    )
                })
                .collect()
        }
        commit::Error::Elsewhere { id, project, .. } => {
            let there =
                project.as_ref().map(|project| format!(" -C {project}")).unwrap_or_default();
            vec![ask(
                format!("undo it with `apply-patch{there} undo {id}`, at the top of the project"),
                None,
            )]
        }
        // It can be done when the check has ended, but not from within it.
        commit::Error::BeingChecked => Vec::new(),
        commit::Error::NotRecovered { .. } => {
            vec![ask("look at the journal, then run `apply-patch recover`", None)]
        }
        _ => vec![doctor()],
    }
}

/// Returns the hints for a file, which may be one of the program's own.
fn file_hints(error: &fs_guard::Error) -> Vec<Hint> {
    use fs_guard::Error;
    match error {
        Error::NotFound { path }
        | Error::NotAFile { path, .. }
        | Error::NotADirectory { path, .. }
            if is_state(path) =>
        {
            vec![doctor()]
        }
        error => guard_hints(error),
    }
}

/// Returns whether a path, as messages have it, is one of the program's own files.
pub(crate) fn is_state(path: &str) -> bool {
    path.trim_start_matches("../").starts_with(patch_engine::STATE_DIR)
        || workspace_trash::parse_stored_path(path).is_some()
}

/// Returns the hint for a state directory that is not as the program left it.
pub(crate) fn doctor() -> Hint {
    ask("look at the state directory with `apply-patch doctor`", None)
}

/// Returns the hints for a state directory that belongs to another user.
fn others_state(path: &str, owner: &Account, user: &Account) -> Vec<Hint> {
    let elsewhere = "keep the history elsewhere: `state = \"user\"` in their configuration, or APPLY_PATCH_STATE=user";
    if user.is_root() {
        return vec![ask(format!("run this as {owner}, without sudo, or {elsewhere}"), None)];
    }
    vec![
        Hint::RunFirst { command: format!("sudo chown -R {} {}", user.id(), quoted(path)) },
        ask(format!("give {path} back to {user}, or {elsewhere}"), None),
    ]
}

/// Returns a text as a word of the shell.
#[must_use]
pub fn quoted(text: &str) -> String {
    let plain = |next: char| next.is_ascii_alphanumeric() || "/._-+:@~".contains(next);
    if !text.is_empty() && text.chars().all(plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Returns the hints for a plan that could not be committed.
pub(crate) fn commit_hints(error: &CommitError) -> Vec<Hint> {
    match error {
        // A displaced file that is a different one by now.
        CommitError::Stale(drift) if is_state(&drift.path) => {
            vec![doctor()]
        }
        CommitError::Stale(drift) => vec![read_again(&drift.path)],
        CommitError::Unverified(_) => {
            vec![ask("look at what the command of `--verify` printed", None)]
        }
        CommitError::Files(error) | CommitError::Store(workspace_trash::Error::Files(error)) => {
            file_hints(error)
        }
        CommitError::UnfinishedBelow { directory } => vec![
            Hint::RunFirst { command: format!("apply-patch -C {} recover", quoted(directory)) },
            ask(format!("run `apply-patch recover` in {directory}"), None),
        ],
        error if !error.is_rolled_back() => {
            vec![ask("look at the files that are named, then run `apply-patch recover`", None)]
        }
        _ => vec![Hint::TryAgain {}],
    }
}

fn hunk_hints(reason: &RejectReason, path: &str) -> Vec<Hint> {
    let read = |lines: &std::ops::RangeInclusive<usize>| Hint::ReadAgain {
        path: path.into(),
        start_line: Some(*lines.start()),
        end_line: Some(*lines.end()),
    };
    match reason {
        RejectReason::ContextNotFound { nearest: Some(nearest) } if nearest.not_at_end => {
            vec![Hint::LeaveOut { part: Part::EndOfFile }, read(&nearest.lines)]
        }
        RejectReason::ContextNotFound { nearest: Some(nearest) } => {
            let paste = (!nearest.paste.is_empty())
                .then(|| Hint::ReplaceHunk { lines: nearest.paste.clone() });
            let fuzz = nearest.pass.map(|pass| flag(format!("--fuzz {}", pass.as_str())));
            paste.into_iter().chain([read(&nearest.lines)]).chain(fuzz).collect()
        }
        RejectReason::ContextNotFound { nearest: None } => vec![read_again(path)],
        RejectReason::MultipleMatches { candidates, .. }
        | RejectReason::OutsideScope { candidates, .. }
        | RejectReason::HeaderNotFound { candidates, .. } => {
            let places = candidates
                .iter()
                .filter_map(|place| Some((*place.lines.start(), place.advice.as_ref()?)));
            let context = |lines: &[String]| lines.iter().map(|line| format!(" {line}")).collect();
            let mut hints: Vec<Hint> = places
                .take(PLACES)
                .map(|(means_line, advice)| match advice {
                    Advice::Before(lines) => {
                        Hint::AddContext { means_line, below: false, lines: context(lines) }
                    }
                    Advice::After(lines) => {
                        Hint::AddContext { means_line, below: true, lines: context(lines) }
                    }
                    Advice::Header(header) => {
                        Hint::UseHeader { means_line, header: format!("@@ {header}") }
                    }
                })
                .collect();
            if hints.is_empty() {
                hints.push(match (reason, &candidates[..]) {
                    // No lines around them tell the places apart.
                    (RejectReason::MultipleMatches { .. }, _) => flag("--ambiguous first"),
                    (_, [place]) => {
                        Hint::UseHeader { means_line: *place.lines.start(), header: "@@".into() }
                    }
                    (_, [place, ..]) => read(&place.lines),
                    (_, []) => read_again(path),
                });
            }
            hints
        }
        RejectReason::OverlappingEdits { other, .. } => vec![Hint::Join { other: other + 1 }],
        RejectReason::AlreadyApplied { .. } => vec![Hint::LeaveOut { part: Part::Hunk }],
        RejectReason::NoAnchor => vec![read_again(path)],
        RejectReason::FinalNewline => vec![Hint::LeaveOut { part: Part::NoNewline }],
        RejectReason::Encoding => vec![
            Hint::LeaveOut { part: Part::NotAscii },
            ask("say which charset the file has", Some(format!("--encoding {path}=LABEL"))),
        ],
    }
}

/// Rewrites the hints for a caller. At least one is left: what only a flag could do becomes a hint
/// to ask a person.
#[must_use]
pub fn addressed(hints: &[Hint], caller: Caller) -> Vec<Hint> {
    let mut out: Vec<Hint> = Vec::new();
    for hint in hints {
        let hint = translated(hint, caller);
        out.extend(hint.filter(|hint| !out.contains(hint) && hint.is_short()));
    }
    if out.is_empty() {
        let asked = hints.iter().find_map(|hint| match hint {
            Hint::UseFlag { flag } => Some(ask("allow it", Some(flag.clone()))),
            Hint::UseCommand { command } => {
                Some(ask(format!("look at what `{command}` shows"), None))
            }
            Hint::UseArgument { argument, .. } => {
                Some(ask(format!("use a tool that has `{argument}`"), None))
            }
            _ => None,
        });
        out.extend(asked);
    }
    out
}

/// Returns the argument that a tool has in place of a flag.
fn argument(tool: Tool, flag: &str) -> Option<Hint> {
    let codex = || set("profile", "codex");
    Some(match (tool, flag) {
        (Tool::CreateFile, "--create-parents") => set("createParentDirectories", true),
        (Tool::MoveFile, "--overwrite") => set("overwrite", true),
        (Tool::ApplyPatch, "--create-parents" | "--overwrite" | "--profile codex") => codex(),
        (Tool::ApplyPatch, flag) if flag.starts_with("--fuzz ") => codex(),
        (Tool::EditPatch, "--allow-delete=true") => set("allow_delete", true),
        (Tool::EditPatch, "--allow-move=true") => set("allow_move", true),
        _ => return None,
    })
}

fn translated(hint: &Hint, caller: Caller) -> Option<Hint> {
    let same = || Some(hint.clone());
    let patches =
        matches!(caller, Caller::Terminal | Caller::Tool(Tool::ApplyPatch | Tool::EditPatch));
    match (hint, caller) {
        (_, Caller::Terminal) => same(),
        (Hint::UseFlag { flag }, Caller::Tool(Tool::ApplyPatch | Tool::EditPatch))
            if flag == "--from auto" =>
        {
            Some(give("patch", "a patch from `*** Begin Patch` to `*** End Patch`, not a diff"))
        }
        (Hint::UseFlag { flag }, Caller::Tool(tool)) => argument(tool, flag),
        (Hint::UseFlag { .. } | Hint::UseCommand { .. } | Hint::RunFirst { .. }, _) => None,
        (Hint::AskPerson { flag: Some(flag), .. }, Caller::Tool(tool @ Tool::EditPatch)) => {
            argument(tool, flag).or_else(same)
        }
        (Hint::UseSection { section, path }, _) if !patches => {
            let (delete, update) = match caller {
                Caller::Editor => (None, "str_replace"),
                Caller::Operations => (Some("delete_file"), "update_file"),
                _ => (Some(Tool::DeleteFile.as_str()), Tool::EditFile.as_str()),
            };
            let tool = if section == "Delete File" { delete? } else { update };
            Some(Hint::UseTool { tool: tool.into(), path: path.clone() })
        }
        // A call with one change has nothing to leave out.
        (Hint::LeaveOut { part: Part::Section | Part::Hunk }, Caller::Tool(_) | Caller::Editor)
            if !patches =>
        {
            None
        }
        // A call with one edit has no hunks to replace or move.
        (
            Hint::ReplaceHunk { .. } | Hint::UseHeader { .. } | Hint::MoveHunk { .. },
            Caller::Tool(_) | Caller::Editor,
        ) if !patches => None,
        (Hint::UseTool { tool, path }, Caller::Editor) => {
            let command = match Tool::named(tool)? {
                Tool::ReadFile | Tool::ListDirectory => "view",
                Tool::EditFile => "str_replace",
                Tool::WriteFile | Tool::CreateFile => "create",
                _ => return None,
            };
            Some(Hint::UseTool { tool: command.into(), path: path.clone() })
        }
        // Only tools make such a hint, each for its own arguments.
        (Hint::UseArgument { .. }, Caller::Tool(_)) => same(),
        (Hint::UseArgument { .. }, _) => None,
        (Hint::CorrectArguments { arguments }, Caller::Editor) => {
            Some(Hint::CorrectArguments { arguments: arguments.iter().map(of_editor).collect() })
        }
        _ => same(),
    }
}

/// Translates the change of an argument of `edit_file` to the editor's arguments.
fn of_editor(change: &ArgumentChange) -> ArgumentChange {
    match change {
        ArgumentChange::Give { argument, wanted } => {
            let argument = if argument == "edits[0].oldText" { "old_str" } else { argument };
            ArgumentChange::Give { argument: argument.into(), wanted: wanted.clone() }
        }
        change => change.clone(),
    }
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
    words.join("; or ")
}

/// Writes the hints with the hunks to paste.
#[must_use]
pub fn spelt_out(hints: &[Hint], caller: Caller) -> String {
    // Hunks to paste come last.
    let (paste, others): (Vec<_>, Vec<_>) =
        hints.iter().partition(|hint| matches!(hint, Hint::ReplaceHunk { .. }));
    others.into_iter().chain(paste).map(|hint| hint.words(caller)).collect::<Vec<_>>().join("; or ")
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
            Self::UseFlag { flag } => format!("use `{flag}`"),
            Self::UseArgument { argument, value } => format!("set {argument} to {value}"),
            Self::UseCommand { command } => format!("see `{command}`"),
            Self::RunFirst { command } => format!("first run `{command}`"),
            Self::UseTool { tool, path } => format!("use {tool} for {path}"),
            Self::AskPerson { what, flag: Some(flag) } => {
                format!("leave it alone, or ask the person in charge to {what} (`{flag}`)")
            }
            // The reader of a terminal may be that person.
            Self::AskPerson { what, flag: None } if caller == Caller::Terminal => {
                format!("a person has to {what}")
            }
            Self::AskPerson { what, flag: None } => {
                format!("leave it alone, or ask the person in charge to {what}")
            }
            Self::LeaveAlone { path } => format!("leave {path} alone: nothing lifts this rule"),
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
                    _ => "copy the context and the removed lines from there",
                };
                format!("{read} {lines}{path} again and {copy}")
            }
            Self::ReplaceHunk { lines } => {
                let lines: String = lines.iter().map(|line| format!("\n{line}")).collect();
                format!("if that place is meant, take for the hunk's lines:{lines}")
            }
            Self::AddContext { means_line, below, lines } => {
                let side = if *below {
                    "below the hunk's last line"
                } else {
                    "above the hunk's first line"
                };
                let lines: String = lines.iter().map(|line| format!(" `{line}`")).collect();
                format!("to mean line {means_line}, put {side}:{lines}")
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
                format!("to mean line {means_line}, begin the hunk with `{header}`")
            }
            Self::RenamePath { to, .. } => format!("did you mean {to}? Nothing was done to it"),
            Self::ChoosePath { path, like } => {
                format!("choose another path than {}: {like}", visible(path))
            }
            Self::UseSection { section, path } if section == "Update File" => {
                format!("read {path} and change it by `*** {section}: {path}`")
            }
            Self::UseSection { section, path } => format!("use `*** {section}: {path}`"),
            Self::MoveHunk { path, line } => match caller {
                Caller::Operations => {
                    format!(
                        "send the hunk with an update_file of {path}: its lines are there, from \
                         line {line}"
                    )
                }
                _ => format!(
                    "put the hunk under `*** Update File: {path}`: its lines are there, from line \
                     {line}"
                ),
            },
            Self::LeaveOut { part } => match part {
                Part::Hunk => "leave the hunk out: it is done already".into(),
                Part::Section if caller == Caller::Operations => "leave this operation out".into(),
                Part::Section => "leave this section out".into(),
                Part::Move => "leave the new path out".into(),
                Part::EndOfFile => "leave `*** End of File` out if these lines are meant".into(),
                Part::NoNewline => "leave `\\ No newline at end of file` out".into(),
                Part::NotAscii => "insert ASCII only".into(),
                Part::Edit if caller == Caller::Editor => "do not repeat the command".into(),
                Part::Edit => "leave the edit out".into(),
            },
            Self::Join { other } => match caller {
                Caller::Tool(Tool::EditFile) => {
                    format!("write edit {other} and this one as one edit")
                }
                _ => format!("write hunk {other} and this one as one hunk"),
            },
            Self::SendSeparately {} => {
                format!("send this part as a {sent} of its own, after the rest")
            }
            Self::Split {} => "split the change into smaller ones".into(),
            Self::CorrectLine { line, .. } => {
                format!("correct line {line} of the {sent} and send the whole {sent} again")
            }
            Self::CorrectArguments { arguments } => {
                arguments.iter().map(ArgumentChange::words).collect::<Vec<_>>().join(", and ")
            }
            Self::TryAgain {} => "try the same again".into(),
        }
    }
}

impl ArgumentChange {
    fn words(&self) -> String {
        match self {
            Self::Give { argument, wanted } => format!("let `{argument}` be {wanted}"),
            Self::Rename { argument, to } => format!("rename `{argument}` to `{to}`"),
            Self::Omit { argument } => format!("leave `{argument}` out"),
        }
    }
}
