//! Remedies in words, for the model or person who wrote a patch.

use patch_text::locate::hints::{
    HunkPart, SEND_AGAIN, as_context, block, context_words, header_line, header_words, paste_words,
    search_words,
};
use patch_text::locate::line_words;

use super::{Action, Part, PathLike, Remedy};

impl Remedy {
    /// Words the remedy for the model or person who wrote the patch, who has neither flags nor the
    /// arguments of tools. Lines to copy stand below the sentence, each on a line of its own.
    /// `None` for what only the program can do: other rules, undo, the history.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Use { action, path } => section_words(section(*action)?, path),
            Self::Ask(_) => "leave it alone: a person has to decide".into(),
            Self::LeaveAlone { path } => leave_words(path),
            Self::ReadAgain { path, lines: None } => {
                let path = fs_guard::quoted(path);
                format!("read {path} again and write the change for what is there now")
            }
            Self::ReadAgain { path, lines: Some(lines) } => format!(
                "read {} of {} again and copy the context and the removed lines from there",
                line_words(lines),
                fs_guard::quoted(path)
            ),
            Self::ReplaceHunk { lines } => paste_words(lines),
            Self::AddContext { means_line, bare, below, lines } => {
                context_words(*means_line, bare.then_some("@@"), *below, &as_context(lines))
            }
            Self::AddText { means_line, before, after } => {
                search_words(*means_line, before, after, |text| format!("{text:?}"))
            }
            Self::UseHeader { means_line, header } => {
                header_words(*means_line, &header_line(header.as_deref()))
            }
            Self::RenamePath { from, to } => rename_words(from, to),
            Self::ChoosePath { path, like } => choose_words(path, &like_words(like)),
            Self::MoveHunk { path, line } => move_words(path, *line),
            Self::LeaveOut(part) => part_words(*part).into(),
            Self::Join { other } => format!("write hunk {other} and this one as one hunk"),
            Self::SendSeparately => send_separately("patch"),
            Self::Split => SPLIT.into(),
            Self::SendOne => format!("send {SEND_ONE}"),
            Self::SendEnvelope => format!("send {SEND_ENVELOPE}"),
            Self::SendOldLines => format!("send {SEND_OLD_LINES}"),
            Self::SendMove => format!("send {SEND_MOVE}"),
            Self::SendWhole => format!("send {SEND_WHOLE}"),
            Self::SendAgain => format!("send {SEND_AGAIN}"),
            Self::SendCorrected => format!("send {SEND_CORRECTED}"),
            Self::CorrectLine { line, wanted } => correct_words(*line, wanted, "patch"),
            Self::TryAgain => TRY_AGAIN.into(),
            Self::Set(_)
            | Self::Arguments(_)
            | Self::See(_)
            | Self::First(_)
            | Self::SendWholeFile
            | Self::UseTags { .. }
            | Self::UndoInstead(_)
            | Self::UndoInOrder(_) => return None,
        })
    }
}

/// Writes the answer for the author of a patch: a message, and below it a line for each thing that
/// can be done.
pub(crate) fn answer(message: &str, remedies: &[Remedy]) -> String {
    let mut all: Vec<_> = remedies.iter().filter_map(Remedy::words).collect();
    if all.is_empty() && !remedies.is_empty() {
        all.push("leave it alone, or ask the person in charge to allow it".into());
    }
    let mut out = message.to_owned();
    for words in all {
        out += "\n- ";
        out += &words;
    }
    out
}

/// One of the things that can be sent.
pub const SEND_ONE: &str = "one patch, one diff, or the operations of one response";
/// The same.
pub const SEND_ENVELOPE: &str =
    "a patch in the envelope, from `*** Begin Patch` to `*** End Patch`";
/// The same.
pub const SEND_OLD_LINES: &str =
    "the lines to replace too, as a change without old lines makes a new file";
/// The same.
pub const SEND_MOVE: &str = "the header as `*** Update File: old` and, on the line below it, \
                             `*** Move to: new`, if the file is to move";
/// The same.
pub const SEND_WHOLE: &str = "the whole patch, with all its sections";
/// The same.
pub const SEND_CORRECTED: &str = "the change again, corrected by what the command printed";
/// Several changes in place of one.
pub const SPLIT: &str = "split the change into smaller ones";
/// The same again.
pub const TRY_AGAIN: &str = "try the same again";

/// Returns the kind of section for an action, if a patch has one.
#[must_use]
pub fn section(action: Action) -> Option<&'static str> {
    match action {
        Action::Create => Some("Add File"),
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

/// Says that nothing lifts a rule about a path.
#[must_use]
pub fn leave_words(path: &str) -> String {
    format!("leave {} alone: nothing lifts this rule", fs_guard::quoted(path))
}

/// Asks for another path.
#[must_use]
pub fn choose_words(path: &str, like: &str) -> String {
    format!("choose another path than {}: {like}", fs_guard::quoted(path))
}

/// Asks for a part on its own; `sent` names the text that was sent.
#[must_use]
pub fn send_separately(sent: &str) -> String {
    format!("send this part as a {sent} of its own, after the rest")
}

/// Offers another file for a hunk.
#[must_use]
pub fn move_words(path: &str, line: usize) -> String {
    let header = code(&format!("*** Update File: {path}"));
    format!("put the hunk under {header}: its lines are there, from line {line}")
}

/// Says that a part is to be left out.
#[must_use]
pub fn part_words(part: Part) -> &'static str {
    match part {
        Part::Hunk => HunkPart::Whole.words(),
        Part::Section => "leave this section out",
        Part::Move => "leave the new path out",
        Part::EndOfFile => HunkPart::EndOfFile.words(),
        Part::NoNewline => HunkPart::NoNewline.words(),
        Part::WhitespaceErrors => "insert lines without whitespace errors",
        Part::SyntaxErrors => "send it so that the file still parses",
        Part::Placeholder => {
            "write the lines that it stands for, or leave it out where a hunk or an edit shows only \
             a part of the file"
        }
        Part::NotAscii => HunkPart::NotAscii.words(),
        Part::Numbers => HunkPart::Numbers.words(),
        Part::Ids => HunkPart::Ids.words(),
        Part::Edit => "leave the edit out",
        Part::Unreadable => HunkPart::Unreadable.words(),
        Part::SearchedLines => "to make a new file, leave the lines out that SEARCH has",
    }
}

/// Says what a path must be like.
#[must_use]
pub fn like_words(like: &PathLike) -> String {
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

/// Writes code within a sentence: in backticks, or in quotes if there are backticks in the code.
#[must_use]
pub fn code(text: &str) -> String {
    if text.contains('`') { format!("\"{text}\"") } else { format!("`{text}`") }
}

/// Offers another path.
#[must_use]
pub fn rename_words(from: &str, to: &str) -> String {
    match fs_guard::normalisations(from, to) {
        None => format!("did you mean {}? Nothing was done to it", fs_guard::quoted(to)),
        Some([own, other]) => format!(
            "did you mean {to}? It looks the same, but its letters are written in {other}, and \
             here in {own} (Unicode normalisation). Nothing was done to it"
        ),
    }
}

/// Says which kind of section to use for a path.
#[must_use]
pub fn section_words(section: &str, path: &str) -> String {
    let line = code(&format!("*** {section}: {path}"));
    match section {
        "Update File" => format!("read {} and change it by {line}", fs_guard::quoted(path)),
        "Add File" => {
            format!("to make a new file, use {line}, without `@@` and with `+` before each line")
        }
        _ => format!("use {line}"),
    }
}

/// Says how a line of the text that was sent has to be; `sent` names that text.
#[must_use]
pub fn correct_words(line: u32, wanted: &str, sent: &str) -> String {
    if wanted.starts_with("--- ") {
        let wanted = code(wanted);
        return format!("to make a new file, let line {line} of the {sent} be {wanted}");
    }
    if wanted.starts_with(' ') {
        return format!(
            "if line {line} of the {sent} is context, begin it with a blank, and send the whole \
             {sent} again:{}",
            block([wanted])
        );
    }
    if wanted == "@@" {
        return format!(
            "put `@@` in place of line {line} of the {sent}, as lines are left out there and \
             another hunk begins, and send the whole {sent} again"
        );
    }
    format!("correct line {line} of the {sent} and send the whole {sent} again")
}
