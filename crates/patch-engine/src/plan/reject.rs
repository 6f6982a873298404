//! Why a patch cannot be planned, every reason at once; and what can be done about it.

use std::fmt;
use std::ops::Deref;

use fs_guard::{Cancellation, Sha256, quoted};
use patch_grammar::{Patch, blocks};
use patch_text::carry::{Conflict, Excerpt};
use patch_text::locate::RejectReason;
use workspace_trash::TransactionId;

use crate::plan::binary::BinaryProblem;
use crate::plan::formatter::{CommandEnd, CommandFailure};
use crate::plan::kind::ErrorKind;
use crate::plan::options::Expected;
use crate::plan::placeholders::Placeholder;
use crate::plan::section_done::SectionDone;
use crate::plan::submodules::SubmoduleProblem;
use crate::plan::syntax::SyntaxFault;
use crate::plan::whitespace::WhitespaceErrors;
use crate::remedy::{Action, ForPerson, Part, PathLike, Remedy, Setting, words};

patch_grammar::debug_is_display!(
    Reject,
    Rejects,
    Problem,
    Irreversible,
    BinaryProblem,
    SubmoduleProblem
);

/// One thing that keeps a patch from applying.
pub struct Reject {
    /// The 0-based section; `None` for an expectation about a file that the patch does not touch.
    pub section: Option<usize>,
    /// The path it is about, as the patch spells it.
    pub path: String,
    /// The 0-based hunk of the section.
    pub hunk: Option<usize>,
    /// The 1-based line of the patch.
    pub patch_line: Option<u32>,
    /// The problem.
    pub problem: Problem,
    /// The path that was probably meant instead. It is only shown, never used.
    pub near: Option<String>,
    /// How many leading parts of its paths a diff has to lose (`-p`), so that all of its files are
    /// there.
    pub strip: Option<usize>,
    /// The 0-based section that left the file as the hunk found it, which is not as it is on disk.
    pub after_section: Option<usize>,
    /// How the missing file of an update can be made as a new one.
    pub new_file: Option<NewFile>,
    /// The patch wants exact lines and new files, whatever the options allow.
    pub exact: bool,
}

/// How a patch makes a file that it changes and that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFile {
    /// By a section that adds it.
    Section {
        /// The section shows lines that have to be there, so that another file is more likely.
        has_old_lines: bool,
    },
    /// By a diff that has `/dev/null` in this line, from 1.
    Diff {
        /// The line.
        line: u32,
    },
}

/// Everything that keeps a patch from applying, in the order of the patch. There is at least one.
pub struct Rejects {
    all: Vec<Reject>,
    /// The patch, where it is one that does not apply.
    patch: Option<Patch>,
}

impl Rejects {
    /// Returns `None` when nothing was rejected.
    pub(crate) fn new(rejects: Vec<Reject>) -> Option<Self> {
        (!rejects.is_empty()).then_some(Self { all: rejects, patch: None })
    }

    /// Fails if planning is to be given up.
    pub(crate) fn if_cancelled(cancellation: &Cancellation) -> Result<(), Self> {
        cancellation.check().map_err(|error| Reject::of("", Problem::Guard(error)).into())
    }

    /// Says which patch was refused.
    pub(crate) fn of_patch(self, patch: &Patch) -> Self {
        Self { patch: Some(patch.clone()), ..self }
    }

    /// Says that the sections of `part`, which was planned, were these of a patch.
    pub(crate) fn of_sections(mut self, patch: &Patch, part: &Patch, sections: &[usize]) -> Self {
        for section in self.all.iter_mut().filter_map(|reject| reject.section.as_mut()) {
            *section = patch.place_in_text(sections[part.place_in_text(*section)]);
        }
        self.of_patch(patch)
    }

    /// Leaves out what is not about these sections.
    pub(crate) fn only(mut self, sections: &[usize]) -> Self {
        self.all.retain(|reject| reject.section.is_some_and(|one| sections.contains(&one)));
        self
    }

    /// Returns the answer for the model or person who wrote the patch: each reason, and below it a
    /// line for each thing that can be done, the best first; `- ` begins such a line, and lines to
    /// copy stand below it.
    #[must_use]
    pub fn for_author(&self) -> String {
        let answers: Vec<_> = self.iter().map(Reject::for_author).collect();
        answers.join("\n")
    }

    /// Returns the patch that was refused, if it was one.
    pub(crate) fn patch(&self) -> Option<&Patch> {
        self.patch.as_ref()
    }

    /// Returns these, and then others.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.all.extend(others);
        self.all.sort_by_key(|reject| (reject.section, reject.patch_line));
        self
    }
}

impl From<Reject> for Rejects {
    fn from(reject: Reject) -> Self {
        Self { all: vec![reject], patch: None }
    }
}

impl IntoIterator for Rejects {
    type Item = Reject;
    type IntoIter = std::vec::IntoIter<Reject>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}

impl Deref for Rejects {
    type Target = [Reject];

    fn deref(&self) -> &[Reject] {
        &self.all
    }
}

impl fmt::Display for Rejects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rejects = self.all.iter();
        if let Some(first) = rejects.next() {
            write!(f, "{first}")?;
        }
        rejects.try_for_each(|reject| write!(f, "; {reject}"))
    }
}

impl std::error::Error for Rejects {}

/// A problem of a path.
#[derive(thiserror::Error)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Problem {
    /// The guard refuses the path, or the system failed.
    #[error(transparent)]
    Guard(#[from] fs_guard::Error),
    /// There is no file to update, delete or move.
    #[error("there is no such file")]
    Missing,
    /// The directory of a new file does not exist, and the options do not create it.
    #[error("the directory {} does not exist", quoted(.directory))]
    MissingParent {
        /// The outermost missing directory.
        directory: String,
    },
    /// Another section makes a file where a directory is needed.
    #[error("{} is a file, so nothing can be beneath it", quoted(.file))]
    ParentIsFile {
        /// The file.
        file: String,
    },
    /// Another section makes a file beneath it.
    #[error("{} is beneath it, so that it cannot be a file", quoted(.file))]
    ParentOfFile {
        /// The file.
        file: String,
    },
    /// A file is there already, and the options do not replace it.
    #[error("{}a file is there already{}{}",
            if *new_in_diff { "the diff makes it as a new file, but " } else { "" },
            by.map(|id| format!(" (by transaction {id})")).unwrap_or_default(),
            if *may_be_part { ", and the text may show only a part of it" } else { "" })]
    Exists {
        /// The transaction that left it as it is, where that was looked for and there is one.
        by: Option<TransactionId>,
        /// Whether a diff says that no file is there. Then no option replaces it.
        new_in_diff: bool,
        /// Whether the new file stood in a text that may show a part of it.
        may_be_part: bool,
    },
    /// The section is applied already.
    #[error("it is applied already: {0}")]
    SectionApplied(SectionDone),
    /// A file would be replaced that another section of the patch reads or changes.
    #[error("this would replace a file that section {} of the patch reads or changes", .other + 1)]
    ReplacesUsed {
        /// The other section, 0-based.
        other: usize,
    },
    /// Another path of the patch differs only by case or Unicode normalisation.
    #[error("the patch also names {with}, which differs only by case or Unicode normalisation")]
    Collides {
        /// The other path.
        with: String,
    },
    /// The file system takes the old and the new name of a file for one.
    #[error("the file system takes this name and {with} for one")]
    OneName {
        /// The old name.
        with: String,
    },
    /// A file would move to its own path.
    #[error("the file would move to where it is")]
    SamePath,
    /// A file is not what was expected.
    #[error("expected {expected}, found {}", Expected::from(*.actual))]
    Stale {
        /// The expected state.
        expected: Expected,
        /// The hash of the file; `None` when there is none.
        actual: Option<Sha256>,
    },
    /// The file has changed since the base, and it is not certain where the change belongs.
    #[error("the file has changed there: {}", since(.0))]
    Conflict(Box<Conflict>),
    /// The file has a NUL byte in its first 8 KiB.
    #[error("the file is binary ({size} bytes){}",
            utf16.map(|label| format!(", or {label} without a byte-order mark")).unwrap_or_default())]
    Binary {
        /// Its size in bytes.
        size: u64,
        /// The charset, if it may be UTF-16 without a byte-order mark: text, where that is declared.
        utf16: Option<&'static str>,
        /// Its hash.
        sha256: Sha256,
    },
    /// A binary patch is not for this file, or does not make the one that it says.
    #[error(transparent)]
    BinaryPatch(#[from] BinaryProblem),
    /// A directory has more files than may be deleted at once.
    #[error("the directory has more than {limit} files")]
    TooManyFiles {
        /// The limit.
        limit: usize,
    },
    /// The options do not let the patch delete files.
    #[error("deleting files is not allowed here")]
    DeleteNotAllowed,
    /// The options do not let the patch move files.
    #[error("moving files is not allowed here")]
    MoveNotAllowed,
    /// A git diff has two names for the file and no `rename from`, and both files are there.
    #[error("the diff also names {}, which is there too, and says of neither that it moves",
            quoted(.other))]
    TwoFiles {
        /// The other name.
        other: String,
    },
    /// A diff deletes the file and shows its lines, but the file has others.
    #[error("the diff deletes the file, but its deleted lines are not exactly those of the file")]
    LeavesLines,
    /// A git diff deletes the file without its lines, and the id of the file is another one, or it
    /// is not there in full.
    #[error("{}", not_shown(*.other))]
    NotShown {
        /// The diff has the full id of another file.
        other: bool,
    },
    /// A git diff changes or deletes a symbolic link, and there is another one, or none.
    #[error("{}", other_link(.target.as_deref()))]
    OtherLink {
        /// Where the link leads; `None` when it is no link.
        target: Option<String>,
    },
    /// A git diff changes a submodule, and that cannot be done here.
    #[error(transparent)]
    Submodule(#[from] SubmoduleProblem),
    /// The lines that the patch inserts have whitespace errors, and these are not allowed.
    #[error("it adds whitespace errors in {0}")]
    Whitespace(WhitespaceErrors),
    /// The file parsed before, and does not parse afterwards.
    #[error("it would not parse as {} any more: {_0}", .0.format)]
    Syntax(Box<SyntaxFault>),
    /// A line that would be written stands for lines that are left out.
    #[error("line {} would be `{}`, which stands for lines that are left out", .0.line, .0.text)]
    Placeholder(Box<Placeholder>),
    /// A command that formats the file did not succeed.
    #[error("{} {}", .0.named("the formatter"), .0.end)]
    NotFormatted(Box<CommandFailure>),
    /// The patch is to be reversed, and a section cannot be.
    #[error(transparent)]
    Irreversible(Irreversible),
    /// A hunk has no place.
    #[error("{0}")]
    Hunk(RejectReason),
    /// A hunk has no place in this file, but its old lines are in another file of the patch.
    #[error("{reason}; they are in {} from line {line}", quoted(.file))]
    InOtherFile {
        /// The problem in this file.
        reason: RejectReason,
        /// The other file.
        file: String,
        /// The 1-based first line there.
        line: usize,
    },
}

fn not_shown(other: bool) -> String {
    let id = if other {
        "the id in its `index` line is that of another file"
    } else {
        "its `index` line does not have the file's full id, which would tell that it is this one"
    };
    format!("the diff deletes the file without its lines, and {id}")
}

fn other_link(target: Option<&str>) -> String {
    match target {
        Some(target) => {
            let target = quoted(target);
            format!("the symbolic link leads to {target}, and the diff says otherwise")
        }
        None => "the diff is for a symbolic link, and this is none".to_owned(),
    }
}

patch_grammar::named! {
    /// The stable words for the problems that have no reason of their own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[allow(missing_docs, reason = "a word of another enum has its comment there")]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub enum ProblemName {
        /// No such file; `details.didYouMean` may have the one that was meant. What to do: correct
        /// the path.
        NotFound = "not_found",
        /// The directory of a new file of an envelope does not exist. What to do:
        /// `--create-parents`, or `--profile standard`.
        MissingParent = "missing_parent",
        /// A file stands where a directory is needed. What to do: choose another path.
        NotADirectory = "not_a_directory",
        /// A file is there already. What to do: `*** Update File:`, or `--overwrite`; a diff never
        /// replaces a file that it says is new: leave the section out.
        Exists = "exists",
        /// It would replace a file that another section reads or changes. What to do: send that as
        /// a patch of its own.
        ReplacesUsed = "replaces_used",
        /// Another name differs only by case or Unicode normalisation. What to do: use the existing
        /// spelling; to respell a name where the file system takes both for one, move the file to
        /// a third name first, and to this one by another patch.
        Collision = "collision",
        /// A move to where the file is. What to do: leave the move out.
        SamePath = "same_path",
        /// A file has not the SHA-256 that was given or seen
        /// (`docs/agents.md#files-that-change-in-between`); `details.expectedSha256`,
        /// `actualSha256`, `changedBy`. What to do: read it again.
        Stale = "stale",
        /// A file changed since the base (`--base`, `git --carry`; for tools, what was read), and
        /// it is not certain where the hunk belongs; `details.base`, `current` and `wanted` have
        /// the lines. What to do: read the file, and write the hunk against it.
        Conflict = "conflict",
        /// A file that is to be edited is not text. What to do: delete, move or replace it.
        Binary = "binary",
        /// A directory that is to be deleted has more than 10 000 files. What to do: delete the
        /// directories in it one by one.
        TooManyFiles = "too_many_files",
        /// `--allow-delete=false`, and the patch deletes. What to do: leave the section out.
        DeleteNotAllowed = "delete_not_allowed",
        /// `--allow-move=false`, and the patch moves. What to do: leave the section out.
        MoveNotAllowed = "move_not_allowed",
        /// A git diff has two names for a file, no `rename from`, and both are there. What to do:
        /// write the one that is meant in all lines above the hunks.
        TwoFiles = "two_files",
        /// A diff deletes a file, and its deleted lines are not all of the file. What to do: make
        /// the diff anew.
        LeavesLines = "leaves_lines",
        /// A git diff deletes a file without its lines (`git diff -D`), and the `index` line does
        /// not have the full id of this file. What to do: make the diff without `-D`, or with
        /// `--full-index`; or leave the file out, with `--exclude PATH`.
        NotShown = "not_shown",
        /// A diff changes or deletes a symbolic link that leads elsewhere, or a file that is none.
        /// What to do: make the diff anew.
        OtherLink = "other_link",
        /// A diff changes a submodule. What to do: leave it out, with `--exclude PATH`;
        /// `apply-patch git` takes it if it is at the commit that the diff says, and the new id is
        /// whole.
        Submodule = "submodule",
        /// The file is not the one that a `GIT binary patch` was made for; if it is what the patch
        /// makes, the reason is `already_applied`. What to do: make the diff anew.
        BinaryMismatch = "binary_mismatch",
        Applied = "already_applied",
        /// A `GIT binary patch` has neither the id of the old file nor its bytes. What to do: `git
        /// diff --binary` writes both.
        BinaryUnknown = "binary_unknown",
        /// A `GIT binary patch` makes a file with another id than the diff states. What to do: make
        /// the diff anew.
        BinaryResult = "binary_result",
        /// `--whitespace error`, and the patch inserts lines with errors
        /// (`docs/profiles.md#whitespace-errors`). What to do: `--whitespace fix`, or write the
        /// lines without them.
        Whitespace = "whitespace",
        /// `--syntax refuse`, and a file does not parse any more
        /// (`docs/profiles.md#files-that-do-not-parse`); `details.format`, `line` and `column`. What
        /// to do: send it so that it still parses, or `--syntax warn`.
        Syntax = "syntax",
        /// A line that would be written stands for lines that are left out, as `# ... existing code
        /// ...`, and the file had none like it; `details.line` and `text`. What to do: write these
        /// lines, or leave the line out where a hunk or an edit shows only a part of the file; or
        /// `--allow-placeholders`.
        Placeholder = "placeholder",
        /// A command of `format-with` (`docs/reference/commit.md#formatting`) did not succeed;
        /// `details.command`, `exitCode`, `signal` or `timedOut`, and `output`, the end of its
        /// error output. What to do: read that, and correct the change.
        NotFormatted = "not_formatted",
        /// `-R`, and a section does not say what was there: it deletes a file without its lines,
        /// changes a binary file without its old bytes, copies one, or shows nothing around what
        /// it deletes. What to do: leave the section out, or `apply-patch undo`.
        Irreversible = "irreversible",
    }
}

/// Why a section cannot be reversed from its text alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Irreversible {
    /// It deletes a file and does not show its lines.
    #[error("it deletes the file and does not show its lines, so it cannot be reversed")]
    Deletion,
    /// It changes a binary file, and the diff has the new one only.
    #[error("the diff does not have the old bytes of the binary file, so it cannot be reversed")]
    Binary,
    /// It copies a file.
    #[error("it copies the file, and a copy cannot be reversed")]
    Copy,
    /// A hunk deletes lines and has no context: nothing says where they were.
    #[error("it only deletes lines and shows none around them, so it cannot be reversed")]
    Place,
}

/// The result of one step of planning.
pub(crate) type Checked<T> = Result<T, Problem>;

impl Reject {
    /// Makes a reject of a path that belongs to no section.
    #[must_use]
    pub fn of(path: &str, problem: Problem) -> Self {
        Self {
            section: None,
            path: path.to_owned(),
            hunk: None,
            patch_line: None,
            problem,
            near: None,
            strip: None,
            after_section: None,
            new_file: None,
            exact: false,
        }
    }

    /// Returns the stable kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.problem {
            Problem::Guard(error) => error.kind().into(),
            Problem::Missing
            | Problem::MissingParent { .. }
            | Problem::SectionApplied(SectionDone::Deleted | SectionDone::Moved) => {
                ErrorKind::NotFound
            }
            Problem::Exists { .. }
            | Problem::SectionApplied(SectionDone::Made | SectionDone::Copied)
            | Problem::ReplacesUsed { .. }
            | Problem::Collides { .. }
            | Problem::OneName { .. } => ErrorKind::AlreadyExists,
            Problem::SamePath
            | Problem::ParentIsFile { .. }
            | Problem::ParentOfFile { .. }
            | Problem::NotFormatted(_) => ErrorKind::CommandFailed,
            Problem::Stale { .. } | Problem::Conflict(_) => ErrorKind::StaleFile,
            Problem::Binary { .. } => ErrorKind::BinaryFile,
            Problem::TooManyFiles { .. } => ErrorKind::FileTooLarge,
            Problem::DeleteNotAllowed | Problem::MoveNotAllowed => ErrorKind::PermissionDenied,
            Problem::LeavesLines
            | Problem::NotShown { .. }
            | Problem::TwoFiles { .. }
            | Problem::OtherLink { .. }
            | Problem::Submodule(_)
            | Problem::SectionApplied(SectionDone::AtCommit)
            | Problem::BinaryPatch(_)
            | Problem::Whitespace(_)
            | Problem::Syntax(_)
            | Problem::Placeholder(_)
            | Problem::Irreversible(_) => ErrorKind::PatchApplyError,
            Problem::Hunk(reason) | Problem::InOtherFile { reason, .. } => match reason {
                RejectReason::MultipleMatches { .. } => ErrorKind::MultipleMatches,
                RejectReason::OverlappingEdits { .. } => ErrorKind::OverlappingEdits,
                RejectReason::CutOff { .. } => ErrorKind::PatchParseError,
                _ => ErrorKind::PatchApplyError,
            },
        }
    }

    /// Returns the stable word for the reason behind the kind.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        let name = match &self.problem {
            Problem::Guard(error) => return error.reason(),
            Problem::Hunk(reason) | Problem::InOtherFile { reason, .. } => return reason.as_str(),
            Problem::Missing => ProblemName::NotFound,
            Problem::MissingParent { .. } => ProblemName::MissingParent,
            Problem::ParentIsFile { .. } | Problem::ParentOfFile { .. } => {
                ProblemName::NotADirectory
            }
            Problem::Exists { .. } => ProblemName::Exists,
            Problem::SectionApplied(_) => ProblemName::Applied,
            Problem::ReplacesUsed { .. } => ProblemName::ReplacesUsed,
            Problem::Collides { .. } | Problem::OneName { .. } => ProblemName::Collision,
            Problem::SamePath => ProblemName::SamePath,
            Problem::Stale { .. } => ProblemName::Stale,
            Problem::Conflict(_) => ProblemName::Conflict,
            Problem::Binary { .. } => ProblemName::Binary,
            Problem::TooManyFiles { .. } => ProblemName::TooManyFiles,
            Problem::DeleteNotAllowed => ProblemName::DeleteNotAllowed,
            Problem::MoveNotAllowed => ProblemName::MoveNotAllowed,
            Problem::TwoFiles { .. } => ProblemName::TwoFiles,
            Problem::LeavesLines => ProblemName::LeavesLines,
            Problem::NotShown { .. } => ProblemName::NotShown,
            Problem::OtherLink { .. } => ProblemName::OtherLink,
            Problem::Submodule(_) => ProblemName::Submodule,
            Problem::BinaryPatch(BinaryProblem::Mismatch) => ProblemName::BinaryMismatch,
            Problem::BinaryPatch(BinaryProblem::Applied) => ProblemName::Applied,
            Problem::BinaryPatch(BinaryProblem::Unknown) => ProblemName::BinaryUnknown,
            Problem::BinaryPatch(BinaryProblem::Result) => ProblemName::BinaryResult,
            Problem::Whitespace(_) => ProblemName::Whitespace,
            Problem::Syntax(_) => ProblemName::Syntax,
            Problem::Placeholder(_) => ProblemName::Placeholder,
            Problem::NotFormatted(_) => ProblemName::NotFormatted,
            Problem::Irreversible(_) => ProblemName::Irreversible,
        };
        name.as_str()
    }

    /// Returns why a hunk has no place, if that is the problem.
    #[must_use]
    pub fn hunk_reason(&self) -> Option<&RejectReason> {
        match &self.problem {
            Problem::Hunk(reason) | Problem::InOtherFile { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// Returns what can be done about it.
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        if self.exact
            && let Problem::Exists { new_in_diff: false, may_be_part, .. } = self.problem
        {
            return if may_be_part {
                vec![Remedy::Set(Setting::WholeFiles), Remedy::SendOldLines]
            } else {
                vec![Remedy::SendOldLines, Remedy::SendWholeFile]
            };
        }
        let mut remedies = self.all_remedies();
        if self.after_section.is_some() {
            // The lines to read are in no file yet.
            for remedy in &mut remedies {
                if matches!(remedy, Remedy::ReadAgain { .. }) {
                    *remedy = Remedy::SendSeparately;
                }
            }
        }
        if self.exact {
            remedies = remedies.into_iter().filter_map(|remedy| self.of_block(remedy)).collect();
            if remedies.is_empty() {
                remedies.push(Remedy::read_again(&self.path));
            }
        }
        remedies
    }

    /// Returns a remedy for the author of a SEARCH/REPLACE block, which has other lines than a hunk
    /// and no header.
    fn of_block(&self, remedy: Remedy) -> Option<Remedy> {
        match remedy {
            // No option changes what an exact patch means.
            Remedy::Set(
                Setting::Fuzz(_) | Setting::Codex | Setting::Overwrite | Setting::FirstPlace,
            )
            | Remedy::Use { action: Action::Edit, .. }
            | Remedy::UseHeader { .. } => None,
            Remedy::Use { action: Action::Create, .. } => {
                Some(Remedy::LeaveOut(Part::SearchedLines))
            }
            Remedy::AddContext { means_line, bare: _, below, lines } => {
                let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
                let (before, after) =
                    if below { (String::new(), text) } else { (text, String::new()) };
                Some(Remedy::AddText { means_line, before, after })
            }
            Remedy::ReplaceHunk { lines } => {
                Some(Remedy::ReplaceHunk { lines: blocks::of_hunk(&lines)? })
            }
            Remedy::MoveHunk { path: to, .. } => {
                Some(Remedy::RenamePath { from: self.path.clone(), to })
            }
            remedy => Some(remedy),
        }
    }

    /// Returns the remedies for a path in place of which another one was probably meant.
    fn other_path(&self) -> Vec<Remedy> {
        let strip = self.strip.map(|parts| Remedy::Set(Setting::Strip(parts)));
        let near = self.near.as_ref().map(|near| rename(&self.path, near));
        let mut remedies: Vec<_> = strip.into_iter().chain(near).collect();
        if matches!(self.problem, Problem::MissingParent { .. }) {
            remedies.push(Remedy::Set(Setting::CreateParents));
        }
        remedies
    }

    /// Returns the remedies for a file that is not there, with nothing like it.
    fn instead_of_missing(&self) -> Vec<Remedy> {
        let choose = Remedy::choose(&self.path, PathLike::File);
        let create = Remedy::act(Action::Create, &self.path);
        match self.new_file {
            None => vec![choose],
            Some(NewFile::Section { has_old_lines: true }) => vec![choose, create],
            Some(NewFile::Section { has_old_lines: false }) => vec![create, choose],
            Some(NewFile::Diff { line }) => {
                let wanted = "--- /dev/null".into();
                vec![Remedy::CorrectLine { line, wanted }, choose]
            }
        }
    }

    fn for_author(&self) -> String {
        words::answer(&self.to_string(), &self.remedies())
    }

    fn all_remedies(&self) -> Vec<Remedy> {
        let path = &self.path;
        if self.strip.is_some() || self.near.is_some() {
            return self.other_path();
        }
        vec![match &self.problem {
            Problem::Guard(error) => return Remedy::of_guard(error),
            // The header of a move, as models write it.
            Problem::Missing if path.contains(" -> ") && !self.exact => Remedy::SendMove,
            Problem::Missing => return self.instead_of_missing(),
            Problem::MissingParent { .. } => {
                let create_parents = Remedy::Set(Setting::CreateParents);
                return vec![create_parents, Remedy::choose(path, PathLike::InDirectory)];
            }
            Problem::ParentIsFile { file } => {
                Remedy::choose(path, PathLike::NotBeneath(file.clone()))
            }
            Problem::ParentOfFile { .. } => Remedy::choose(path, PathLike::NotDirectory),
            Problem::Exists { new_in_diff: true, .. } => Remedy::LeaveOut(Part::Section),
            Problem::Exists { .. } => {
                return vec![Remedy::act(Action::Edit, path), Remedy::Set(Setting::Overwrite)];
            }
            Problem::ReplacesUsed { .. } => Remedy::SendSeparately,
            Problem::Collides { with } => rename(path, with),
            Problem::BinaryPatch(BinaryProblem::Applied) | Problem::SectionApplied(_) => {
                let skip = Remedy::Set(Setting::SkipApplied);
                return vec![Remedy::LeaveOut(Part::Section), skip];
            }
            Problem::Submodule(_) | Problem::NotShown { .. } => {
                let excluded = match &self.problem {
                    Problem::Submodule(SubmoduleProblem::Directory { to }) => to,
                    _ => path,
                };
                let exclude = Remedy::Set(Setting::Exclude(excluded.clone()));
                return vec![exclude, Remedy::LeaveOut(Part::Section)];
            }
            Problem::BinaryPatch(_) | Problem::Irreversible(_) => Remedy::LeaveOut(Part::Section),
            Problem::SamePath => Remedy::LeaveOut(Part::Move),
            Problem::OneName { .. } => Remedy::choose(&self.path, PathLike::Free),
            // A file that is to be added is expected not to be there.
            Problem::Stale { expected: Expected::Hash(expected), actual: Some(actual) }
                if expected == actual =>
            {
                Remedy::act(Action::Edit, path)
            }
            Problem::Stale { actual: None, .. } => Remedy::choose(path, PathLike::OtherFile),
            Problem::Stale { expected: Expected::Absent, .. } => {
                Remedy::choose(path, PathLike::Free)
            }
            Problem::TwoFiles { other } => {
                return vec![rename(path, other), rename(other, path)];
            }
            Problem::Stale { .. } | Problem::LeavesLines | Problem::OtherLink { .. } => {
                Remedy::read_again(path)
            }
            Problem::Whitespace(_) => {
                let fix = Remedy::Set(Setting::FixWhitespace);
                return vec![fix, Remedy::LeaveOut(Part::WhitespaceErrors)];
            }
            Problem::Syntax(_) => return either(Part::SyntaxErrors, Setting::WarnOfSyntax),
            Problem::Placeholder(_) => {
                return either(Part::Placeholder, Setting::AllowPlaceholders);
            }
            Problem::NotFormatted(failure) => not_formatted(failure),
            Problem::Conflict(conflict) => {
                let lines = &conflict.current.lines;
                Remedy::read_lines(path, &(lines.start..=(lines.end - 1).max(lines.start)))
            }
            Problem::Binary { utf16: Some(_), .. } => {
                Remedy::Ask(ForPerson::Allow(Setting::Encoding(path.clone())))
            }
            Problem::Binary { .. } => Remedy::Ask(ForPerson::ChangeBinaryFile),
            Problem::TooManyFiles { .. } => Remedy::choose(path, PathLike::PartOfDirectory),
            Problem::DeleteNotAllowed => return not_allowed(Setting::AllowDelete),
            Problem::MoveNotAllowed => return not_allowed(Setting::AllowMove),
            Problem::InOtherFile { file, line, .. } => {
                Remedy::MoveHunk { path: file.clone(), line: *line }
            }
            Problem::Hunk(reason) => return Remedy::of_hunk(reason, path),
        }]
    }
}

fn rename(from: &str, to: &str) -> Remedy {
    Remedy::RenamePath { from: from.to_owned(), to: to.to_owned() }
}

/// Returns the remedy for a formatter that failed.
fn not_formatted(failure: &CommandFailure) -> Remedy {
    match failure.end {
        // The shell says with these that there is no such command.
        CommandEnd::Exited(code) if ![126, 127].contains(&code) => Remedy::SendCorrected,
        _ => Remedy::Ask(ForPerson::Own("correct the command of `format-with`".into())),
    }
}

/// Returns the two ways out where a part of what is written is refused: without the part, or with a
/// setting that takes it.
fn either(part: Part, setting: Setting) -> Vec<Remedy> {
    vec![Remedy::LeaveOut(part), Remedy::Set(setting)]
}

fn not_allowed(setting: Setting) -> Vec<Remedy> {
    vec![Remedy::LeaveOut(Part::Section), Remedy::Ask(ForPerson::Allow(setting))]
}

impl Problem {
    /// Converts the problem of a reversed patch for the reader of its text: places are those of the
    /// text, and no lines are offered to paste, since they are reversed.
    pub(crate) fn in_reverse(mut self, patch: &Patch) -> Self {
        match &mut self {
            Self::ReplacesUsed { other } => *other = patch.place_in_text(*other),
            Self::Hunk(reason) | Self::InOtherFile { reason, .. } => {
                if let RejectReason::ContextNotFound { nearest: Some(nearest), .. } = reason {
                    nearest.paste.clear();
                }
            }
            _ => {}
        }
        self
    }
}

impl std::error::Error for Reject {}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.problem, self.hunk) {
            // The guard's messages name the path themselves.
            (Problem::Guard(error), _) => return write!(f, "{error}"),
            (_, Some(hunk)) => write!(f, "{}: hunk {}", quoted(&self.path), hunk + 1)?,
            (_, None) => f.write_str(&quoted(&self.path))?,
        }
        if let Some(line) = self.patch_line {
            write!(f, " (patch line {line})")?;
        }
        write!(f, ": {}", self.problem)?;
        match self.state() {
            Some(state) => write!(f, " ({state})"),
            None => Ok(()),
        }
    }
}

impl Reject {
    /// Says which state of the file a hunk was compared with; `None` for the file as it is.
    #[must_use]
    pub fn state(&self) -> Option<String> {
        let section = self.after_section? + 1;
        Some(format!("as section {section} leaves the file"))
    }
}

/// Returns the numbers of the lines of an excerpt.
fn lines(excerpt: &Excerpt) -> String {
    match excerpt.lines.len() {
        1 => format!("line {} ", excerpt.lines.start),
        _ => format!("lines {}-{} ", excerpt.lines.start, excerpt.lines.end - 1),
    }
}

/// Describes how the lines of a conflict have changed.
fn since(conflict: &Conflict) -> String {
    let Conflict { base, current, .. } = conflict;
    match (base.lines.is_empty(), current.lines.is_empty()) {
        (false, false) if base.lines.len() == 1 => {
            format!("{}of the base is {}now", lines(base), lines(current))
        }
        (false, false) => format!("{}of the base are {}now", lines(base), lines(current)),
        (false, true) => {
            format!("{}of the base stood before line {}", lines(base), current.lines.start)
        }
        (true, false) => {
            format!("before line {} of the base there is {}now", base.lines.start, lines(current))
        }
        (true, true) => {
            format!("the lines around line {} of the base have changed", base.lines.start)
        }
    }
}
