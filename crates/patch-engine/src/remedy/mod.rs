//! The remedies for an error, as data; each error of the engine has its own. The caller words them
//! for the receiver: as the flags of a program, or the arguments of a tool.

mod hunk;
#[doc(hidden)]
pub mod words;

use std::ops::RangeInclusive;

use fs_guard::{Account, FileKind, Rule, Sha256};
use patch_grammar::{ParseError, ParseErrorKind};
use patch_text::locate::Pass;
use workspace_trash::TransactionId;

use crate::policy::STATE_DIR;

#[doc(hidden)]
pub use patch_text::locate::hints::MAX_PLACES;

/// One thing to do. Several remedies of one error are alternatives, the best one first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Remedy {
    /// Repeat it with this setting.
    Set(Setting),
    /// Change the arguments of the call: all that is listed.
    Arguments(Vec<ArgumentChange>),
    /// Do this first or instead.
    Use {
        /// The action.
        action: Action,
        /// The file or directory that it is about; empty if it is about none.
        path: String,
    },
    /// Look at what the history has: it shows what to name.
    See(Listing),
    /// Do this first, and then the same again.
    First(Step),
    /// A person has to decide; the caller cannot.
    Ask(ForPerson),
    /// Leave the path alone: nothing lifts this rule.
    LeaveAlone {
        /// The path.
        path: String,
    },
    /// Read the file again and write the change against what is there.
    ReadAgain {
        /// The file.
        path: String,
        /// The lines that matter; `None` for the whole file.
        lines: Option<RangeInclusive<usize>>,
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
        /// Whether to leave out the text after `@@` too.
        bare: bool,
        /// Below the hunk's last line; otherwise above its first.
        below: bool,
        /// The lines, without their prefix.
        lines: Vec<String>,
    },
    /// Put more of the file around the text of an edit, or of a SEARCH part, and around what
    /// replaces it too: then it means one place.
    AddText {
        /// The line of that place in the file.
        means_line: usize,
        /// The text to put before both.
        before: String,
        /// The text to put after both.
        after: String,
    },
    /// Name lines by the tags that they have now.
    UseTags {
        /// The version of the file.
        sha256: Sha256,
        /// The numbers of the lines that are quoted in full.
        shown: Vec<RangeInclusive<usize>>,
        /// The lines as they are printed, with their tags.
        lines: Vec<String>,
    },
    /// Begin the hunk with this header: then it means one place.
    UseHeader {
        /// The line of that place in the file.
        means_line: usize,
        /// The text after `@@`; `None` to leave it out.
        header: Option<String>,
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
        /// The kind of path that will do.
        like: PathLike,
    },
    /// Put the hunk beneath another file's header.
    MoveHunk {
        /// The file.
        path: String,
        /// Where its lines are there.
        line: usize,
    },
    /// Leave a part out.
    LeaveOut(Part),
    /// Write this hunk, or edit, and another one as one.
    Join {
        /// The other one, counted from 1.
        other: usize,
    },
    /// Send the part on its own.
    SendSeparately,
    /// Make several smaller changes of it.
    Split,
    /// Send one patch, one diff, or the operations of one response.
    SendOne,
    /// Send a patch in the envelope.
    SendEnvelope,
    /// Send the lines to replace, of a file that is there.
    SendOldLines,
    /// Send the header of an update, and below it the new path of the file.
    SendMove,
    /// Send the whole of a file that is to replace another.
    SendWholeFile,
    /// Send the whole patch; it completes none that was kept.
    SendWhole,
    /// Send the whole of a text that was cut off, or send it in parts.
    SendAgain,
    /// Make the change again, so that the check accepts it that printed why it did not.
    SendCorrected,
    /// Correct a line of the text that was sent, and send all of it again.
    CorrectLine {
        /// The line, from 1.
        line: u32,
        /// The line that should stand there, in words; verbatim where it begins with a blank, as a
        /// context line that has lost its blank, or with `--- `, as the old name of a new file.
        wanted: String,
    },
    /// Undo this one, a transaction or a turn, in place of the newest.
    UndoInstead(String),
    /// Make these undos one after the other, in place of the one that was refused: they undo the
    /// same, and what others have built on it.
    UndoInOrder(Vec<UndoStep>),
    /// The same may do later, or does now.
    TryAgain,
}

/// One undo of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoStep {
    /// The name of a transaction, or of all from one to another, as `undo` takes it.
    pub name: String,
    /// Only the changes to these paths; all if there are none.
    pub paths: Vec<String>,
}

/// A setting that makes a change possible.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Setting {
    /// Create the directories of new files.
    CreateParents,
    /// Let new files replace others.
    Overwrite,
    /// Accept this difference between a hunk and the file.
    Fuzz(Pass),
    /// The profile `standard`: patches are read as people and models send them.
    Standard,
    /// The profile `codex`: other rules by which a hunk finds its place.
    Codex,
    /// Take the first of several places.
    FirstPlace,
    /// Leave out hunks and sections that are applied already.
    SkipApplied,
    /// Leave out binary files whose bytes the diff does not have.
    SkipBinary,
    /// Leave out what is at this path.
    Exclude(String),
    /// Take the last hunk of a diff as it stands, whatever its numbers promise.
    Recount,
    /// Take names for new files that other systems cannot hold.
    NativeNames,
    /// Leave out so many leading parts of the paths of a diff.
    Strip(usize),
    /// Let the line numbers of a diff without context decide.
    UnidiffZero,
    /// Fix whitespace errors in the lines that are inserted.
    FixWhitespace,
    /// Take changes after which a file does not parse any more.
    WarnOfSyntax,
    /// Find out which form the input has.
    AnyForm,
    /// Read files that stand in a text in full, and let them replace others.
    WholeFiles,
    /// Take one of several patches, by its number from 1.
    Part(usize),
    /// Take all of several patches, in their order, as one.
    AllParts,
    /// Carry the change to the files as they are now.
    Carry,
    /// Let a patch delete files.
    AllowDelete,
    /// Let a patch move files.
    AllowMove,
    /// Take lines that stand for lines that are left out.
    AllowPlaceholders,
    /// Let guarded files be changed that this matches.
    Allow(String),
    /// Replace one name of a file and leave its other names as they are.
    BreakHardLinks,
    /// The environment that the patch names.
    Environment(String),
    /// The charset of the file at this path, which the caller has to know.
    Encoding(String),
    /// The workspace.
    Root(String),
    /// Plan on the commit of this branch.
    Onto(String),
    /// Commit to a new branch.
    NewBranch,
    /// Move a branch that is checked out.
    AllowCheckedOut,
}

/// A change to the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "change", rename_all = "snake_case")
)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum ArgumentChange {
    /// Give the argument this value.
    Set {
        /// Its name; `edits[0].oldText` is one within another.
        argument: String,
        /// The value.
        value: ArgumentValue,
    },
    /// Give the argument a value of this kind.
    Give {
        /// Its name.
        argument: String,
        /// The kind of value, in words.
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

/// The value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum ArgumentValue {
    /// Yes or no.
    Bool(bool),
    /// A number.
    Number(usize),
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

/// An action on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are their names")]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Action {
    Read,
    List,
    Find,
    Create,
    Edit,
    Write,
    Move,
    Delete,
    Patch,
}

/// A listing that shows the names to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Listing {
    /// All transactions.
    Log,
    /// One transaction, with its diff.
    Transaction(TransactionId),
    /// The files in the trash.
    Trash,
    /// The tools.
    Tools,
    /// The proposals.
    Proposals,
}

/// A step that has to come before the same can succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Step {
    /// Move a file back to where it was.
    Move {
        /// The path now.
        from: String,
        /// The path before.
        to: String,
    },
    /// Undo a later transaction.
    Undo(TransactionId),
    /// Recover what was interrupted in a directory.
    Recover {
        /// The directory.
        directory: String,
    },
    /// Make the user the owner of a path.
    Own {
        /// The path.
        path: String,
        /// The user.
        user: Account,
    },
}

/// A decision or an action that only a person can take.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum ForPerson {
    /// Allow a setting.
    Allow(Setting),
    /// Allow a setting, where only the file of the workspace that forbids it can.
    AllowInFile(Setting),
    /// Look at a record, for a caller that cannot.
    See(Listing),
    /// Except a file from the rule that this glob makes.
    ExceptFromRule {
        /// The glob.
        glob: String,
    },
    /// Make the file writable.
    MakeWritable,
    /// Choose another root.
    ChooseRoot,
    /// Change the file by other means: it is too large.
    ChangeLargeFile,
    /// Change the file by other means: it is not text.
    ChangeBinaryFile,
    /// Look at disk, rights and mounts.
    LookAtSystem,
    /// Look at the state directory, which is not as it was left.
    LookAtState,
    /// Look at the journal, and recover.
    LookAtJournal,
    /// Look at the files that are named, and recover.
    LookAtFiles,
    /// Recover what was interrupted in a directory.
    RecoverIn {
        /// The directory.
        directory: String,
    },
    /// Undo a transaction that is not signed with a key that is here, if it is known.
    UndoUntrusted(TransactionId),
    /// Undo a transaction at the top of the project.
    UndoAtTop {
        /// The transaction.
        id: TransactionId,
        /// The top directory, if the caller may see it.
        project: Option<String>,
    },
    /// Run this as the owner of the directory, or keep the history elsewhere.
    RunAs {
        /// The owner.
        owner: Account,
    },
    /// Give a path back to the user, or keep the history elsewhere.
    GiveBack {
        /// The path.
        path: String,
        /// The user.
        user: Account,
    },
    /// Say who commits.
    NameIdentity,
    /// Name the change to undo: the caller has made none.
    NameChange,
    /// Say what to do instead of what was declined.
    SayInstead,
    /// Decline a proposal that does not apply any more, and have it made again.
    ProposeAgain {
        /// Its id.
        proposal: String,
    },
    /// Look at what a proposal would do now, and approve that.
    ApproveResult {
        /// Its id.
        proposal: String,
        /// The digest of the result.
        digest: String,
    },
    /// Approve or decline a proposal.
    DecideAbout {
        /// Its id.
        proposal: String,
    },
    /// Use a tool that has this argument.
    UseToolWith {
        /// The argument.
        argument: String,
    },
    /// A sentence of the program that asks, of which this is the end.
    Own(String),
}

/// The kind of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum PathLike {
    /// One that exists.
    Existing,
    /// A file that exists.
    File,
    /// A file that exists: this one is gone.
    OtherFile,
    /// A file, not a directory.
    NotDirectory,
    /// A directory that exists.
    Directory,
    /// One in a directory that exists.
    InDirectory,
    /// A directory in this one: the whole is too much.
    PartOfDirectory,
    /// One where nothing is.
    Free,
    /// Not beneath this file.
    NotBeneath(String),
    /// Beneath the root.
    BeneathRoot,
    /// Relative to the root, of plain names.
    Relative,
    /// Of fewer components.
    Shallower,
    /// Of fewer bytes.
    Shorter,
    /// A name that every system can hold.
    Portable,
}

/// A part of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
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
    /// Whitespace errors in the lines that are inserted.
    WhitespaceErrors,
    /// The changes that leave a file with syntax errors.
    SyntaxErrors,
    /// A line that stands for lines that are left out; these have to be written where nothing else
    /// keeps them.
    Placeholder,
    /// The numbers of a hunk, after `@@`.
    Numbers,
    /// The `index` line of a git diff.
    Ids,
    /// An edit.
    Edit,
    /// The lines of a SEARCH part.
    SearchedLines,
    /// A context line that shows bytes by U+FFFD.
    Unreadable,
}

impl From<bool> for ArgumentValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<usize> for ArgumentValue {
    fn from(value: usize) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for ArgumentValue {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl From<String> for ArgumentValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<&str>> for ArgumentValue {
    fn from(values: Vec<&str>) -> Self {
        Self::List(values.into_iter().map(str::to_owned).collect())
    }
}

impl Remedy {
    /// To read the whole file again.
    pub fn read_again(path: impl Into<String>) -> Self {
        Self::ReadAgain { path: path.into(), lines: None }
    }

    /// To choose another path.
    #[must_use]
    pub fn choose(path: &str, like: PathLike) -> Self {
        Self::ChoosePath { path: fs_guard::shortened(path).into_owned(), like }
    }

    /// Returns whether the patch or the call has to be written otherwise.
    #[must_use]
    pub fn is_about_the_patch(&self) -> bool {
        matches!(self, Self::ReadAgain { .. } | Self::ChoosePath { .. } | Self::RenamePath { .. })
    }

    /// To do something else with a file.
    pub fn act(action: Action, path: impl Into<String>) -> Self {
        Self::Use { action, path: path.into() }
    }

    /// To give one argument a value of some kind.
    pub fn give(argument: impl Into<String>, wanted: impl Into<String>) -> Self {
        let change = ArgumentChange::Give { argument: argument.into(), wanted: wanted.into() };
        Self::Arguments(vec![change])
    }

    /// To give one argument this value.
    pub fn set(argument: impl Into<String>, value: impl Into<ArgumentValue>) -> Self {
        let change = ArgumentChange::Set { argument: argument.into(), value: value.into() };
        Self::Arguments(vec![change])
    }

    /// To leave one argument out.
    pub fn omit(argument: impl Into<String>) -> Self {
        Self::Arguments(vec![ArgumentChange::Omit { argument: argument.into() }])
    }

    /// Returns the remedies for a refusal of the guard, or a failure of the system.
    #[must_use]
    pub fn of_guard(error: &fs_guard::Error) -> Vec<Self> {
        use fs_guard::Error;
        let path = error.path().unwrap_or_default();
        vec![match error {
            Error::OthersState { owner, user, .. } if user.is_root() => {
                Self::Ask(ForPerson::RunAs { owner: owner.clone() })
            }
            Error::OthersState { user, .. } => {
                return vec![
                    Self::First(Step::Own { path: path.to_owned(), user: user.clone() }),
                    Self::Ask(ForPerson::GiveBack { path: path.to_owned(), user: user.clone() }),
                ];
            }
            // One of the program's own files.
            Error::NotFound { .. }
            | Error::NotAFile { .. }
            | Error::NotADirectory { .. }
            | Error::Symlink { .. }
            | Error::Changed { .. }
                if is_state(path) =>
            {
                Self::Ask(ForPerson::LookAtState)
            }
            Error::Guarded { path, .. } | Error::GuardedLink { path } => {
                Self::Ask(ForPerson::Allow(Setting::Allow(path.clone())))
            }
            Error::HardLinked { .. } => Self::Ask(ForPerson::Allow(Setting::BreakHardLinks)),
            Error::Symlink { real_path: Some(real), path, .. } => {
                Self::RenamePath { from: path.clone(), to: real.clone() }
            }
            Error::Forbidden { rule: Rule::Glob(glob), .. } => {
                Self::Ask(ForPerson::ExceptFromRule { glob: glob.to_string() })
            }
            Error::Forbidden { .. }
            | Error::LinkTarget { .. }
            | Error::Symlink { real_path: None, .. } => {
                Self::LeaveAlone { path: fs_guard::shortened(path).into_owned() }
            }
            Error::ReadOnly { .. } => Self::Ask(ForPerson::MakeWritable),
            Error::OtherDevice { .. } | Error::Mount { .. } => Self::Ask(ForPerson::ChooseRoot),
            Error::UntrustedState { .. } => Self::Ask(ForPerson::LookAtState),
            Error::Collision { path, existing } => {
                Self::RenamePath { from: path.clone(), to: existing.clone() }
            }
            Error::NotAFile { kind: FileKind::Directory, .. } => {
                Self::choose(path, PathLike::NotDirectory)
            }
            Error::NotAFile { .. } => Self::LeaveAlone { path: path.into() },
            Error::NotADirectory { component, .. } => {
                Self::choose(path, PathLike::NotBeneath(component.clone()))
            }
            Error::NotFound { .. } => Self::choose(path, PathLike::Existing),
            Error::NoRoot { .. } => Self::choose(path, PathLike::Directory),
            Error::AlreadyExists { .. } => Self::choose(path, PathLike::Free),
            Error::Spelling { problem, .. } => match problem.reason() {
                "too_deep" => Self::choose(path, PathLike::Shallower),
                "too_long" => Self::choose(path, PathLike::Shorter),
                "not_portable" => {
                    let native = Self::Set(Setting::NativeNames);
                    return vec![Self::choose(path, PathLike::Portable), native];
                }
                _ => Self::choose(path, PathLike::Relative),
            },
            Error::Traversal { .. } | Error::NotWithin { .. } | Error::LeadsOut { .. } => {
                Self::choose(path, PathLike::BeneathRoot)
            }
            Error::TooLarge { .. } => Self::Ask(ForPerson::ChangeLargeFile),
            Error::Changed { .. } | Error::Locked { .. } | Error::Cancelled => Self::TryAgain,
            _ => Self::Ask(ForPerson::LookAtSystem),
        }]
    }

    /// Returns the remedies for a diff that seems to be cut off within its last hunk.
    pub(crate) fn of_cut_off() -> Vec<Self> {
        vec![Self::SendAgain, Self::Set(Setting::Recount), Self::LeaveOut(Part::Numbers)]
    }

    /// Returns the remedies for a text that does not parse.
    #[must_use]
    pub fn of_parse(error: &ParseError) -> Vec<Self> {
        let seen = error.seen.as_deref().unwrap_or_default();
        let is_diff = ["diff --git ", "--- ", "Index: "].iter().any(|it| seen.starts_with(it));
        let correct =
            || Self::CorrectLine { line: error.line, wanted: error.expected.join(" or ") };
        match &error.kind {
            ParseErrorKind::OtherEnvironment { id } => {
                vec![Self::Ask(ForPerson::Allow(Setting::Environment(id.clone())))]
            }
            kind => match kind.as_str() {
                // Other forms are expected only where they are looked for.
                "no_begin" if is_diff && error.expected.len() == 1 => {
                    vec![Self::Set(Setting::AnyForm)]
                }
                // Another line begins no hunk there either, and the names of a diff are none.
                "no_at" if is_diff || !seen.starts_with([' ', '+', '-']) => vec![correct()],
                "padded" | "wrapped" | "no_at" => {
                    vec![correct(), Self::Set(Setting::Codex)]
                }
                "binary_diff" => vec![correct(), Self::Set(Setting::SkipBinary)],
                "bad_path" if other_prefixes(seen) => {
                    vec![Self::Set(Setting::Strip(1)), correct()]
                }
                "no_prefix" if may_be_context(seen) => {
                    // Dots stand for lines between two hunks.
                    let wanted = match seen.trim() {
                        "..." | "…" => "@@".to_owned(),
                        _ => format!(" {seen}"),
                    };
                    vec![Self::CorrectLine { line: error.line, wanted }]
                }
                "no_patch" => vec![Self::SendOne],
                "too_many_sections" => vec![Self::Split],
                "text_outside" => vec![Self::SendOne],
                // To close it would apply half of what was meant.
                "no_end" => vec![Self::SendAgain],
                "cut_off" => match error.kind {
                    ParseErrorKind::CutOff { .. } => Self::of_cut_off(),
                    _ => vec![Self::SendAgain],
                },
                kind if error.seen.is_none() && kind != "empty" => vec![Self::SendAgain],
                _ => vec![correct()],
            },
        }
    }
}

/// Returns whether a line may be context without its blank, and not a marker, a fence or a cut-off
/// line.
fn may_be_context(line: &str) -> bool {
    !["***", "```", "~~~", "@@"].iter().any(|mark| line.starts_with(mark))
        && line.chars().count() < 80
}

/// Returns whether a `diff --git` line has the same path twice, after two prefixes that are not
/// those of git.
fn other_prefixes(line: &str) -> bool {
    let paths = line.strip_prefix("diff --git ").and_then(|paths| paths.split_once(' '));
    paths.is_some_and(|(old, new)| {
        let bare = old.split_once('/').map(|(_, bare)| bare);
        old != new && bare.is_some() && bare == new.split_once('/').map(|(_, bare)| bare)
    })
}

/// Returns whether a path, as messages have it, is one of the program's own files.
#[must_use]
pub fn is_state(path: &str) -> bool {
    path.trim_start_matches("../").starts_with(STATE_DIR)
        || workspace_trash::parse_stored_path(path).is_some()
}
