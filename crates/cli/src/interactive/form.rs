//! How a patch is written of the parts that a person took.

use apply_patch_api::grammar::binary::Binary;
use apply_patch_api::grammar::diff::{DiffOptions, push_quoted};
use apply_patch_api::grammar::envelope::Writer;
use apply_patch_api::grammar::marker::NO_NEWLINE;
use apply_patch_api::grammar::{AddedLines, Marker, Patch, Section, SectionOperation};
use apply_patch_api::tools::input::PatchText;

use crate::input::Input;

/// How a patch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchForm {
    Envelope,
    Diff,
}

impl PatchForm {
    pub(crate) fn of(input: &Input) -> Self {
        if input.sent.diff.is_some() { Self::Diff } else { Self::Envelope }
    }

    /// The header of a section of which this is taken: that it goes elsewhere, or has another mode.
    pub(super) fn header(
        self,
        section: &Section<'_>,
        moves: bool,
        mode: Option<bool>,
        has_hunks: bool,
    ) -> Vec<u8> {
        let from = &*section.path.text;
        let to = section.destination().filter(|_| moves).map_or(from, |to| &*to.text);
        match self {
            Self::Envelope => {
                let mut header = operation_marker(section).header(from);
                if moves {
                    header += &Marker::MoveTo.header(to);
                }
                header.into_bytes()
            }
            Self::Diff => {
                let mut out = Vec::new();
                push_git_line(&mut out, from, to);
                push_modes(&mut out, section, mode);
                if moves {
                    push_move(&mut out, section, from, to);
                }
                if has_hunks {
                    push_file_lines(&mut out, section, from, to);
                }
                out
            }
        }
    }

    /// The lines of a new file.
    pub(super) fn added(self, added: &AddedLines<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        if self == Self::Diff && !added.text.is_empty() {
            out.extend_from_slice(format!("@@ -0,0 +1,{} @@\n", added.lines().count()).as_bytes());
        }
        out.extend_from_slice(&ended(added.text));
        if added.no_newline {
            out.extend_from_slice(NO_NEWLINE.as_bytes());
            out.push(b'\n');
        }
        out
    }

    /// The section of a binary file: its bytes are unchanged text.
    pub(super) fn binary(
        self,
        patch: &Patch,
        section: &Section<'_>,
        binary: &Binary<'_>,
    ) -> Vec<u8> {
        let moves = section.destination().is_some();
        let mut out = self.header(section, moves, section.executable, false);
        if let Some(old) = binary.old_id
            && let Some(new) = binary.new_id
        {
            out.extend_from_slice(format!("index {old}..{new}\n").as_bytes());
        }
        let lines = patch.bytes(section.span.clone()).split_inclusive(|&byte| byte == b'\n');
        let parts = lines.skip_while(|line| !line.starts_with(b"GIT binary patch"));
        out.extend(parts.flatten());
        out.push(b'\n');
        out
    }

    /// The sections as a patch.
    pub(super) fn whole(self, patch: &Patch, sections: Vec<u8>) -> Input {
        const NAME: &str = "the chosen part";
        match self {
            Self::Diff => {
                let sent = PatchText::new(sections, Some(DiffOptions::default()));
                Input::of(sent, NAME)
            }
            Self::Envelope => {
                let mut out = Writer::default();
                out.lines_of(patch, &sections);
                let mut input = Input::new(out.finish(), NAME);
                input.sent.exact = patch.exact;
                input.sent.whole_files = patch.whole_files;
                input
            }
        }
    }
}

fn operation_marker(section: &Section<'_>) -> Marker {
    match section.operation {
        SectionOperation::Add(_) => Marker::Add,
        SectionOperation::Delete(_) => Marker::Delete,
        SectionOperation::Update { .. } | SectionOperation::Copy { .. } => Marker::Update,
    }
}

fn push_git_line(out: &mut Vec<u8>, from: &str, to: &str) {
    out.extend_from_slice(b"diff --git ");
    push_quoted(out, "a/", from);
    out.push(b' ');
    push_quoted(out, "b/", to);
    out.push(b'\n');
}

/// Writes the modes of a file to make, to delete or to make executable.
fn push_modes(out: &mut Vec<u8>, section: &Section<'_>, mode: Option<bool>) {
    let lines = match (&section.operation, mode) {
        (SectionOperation::Delete(_), _) => {
            let ids =
                section.deleted_id.map(|id| format!("index {id}..{}\n", "0".repeat(id.len())));
            format!("deleted file mode 100644\n{}", ids.unwrap_or_default())
        }
        (SectionOperation::Add(_), mode) => {
            format!("new file mode {}\n", mode_text(mode.unwrap_or(false)))
        }
        (_, Some(mode)) => {
            format!("old mode {}\nnew mode {}\n", mode_text(!mode), mode_text(mode))
        }
        (_, None) => return,
    };
    out.extend_from_slice(lines.as_bytes());
}

pub(super) fn mode_text(is_executable: bool) -> &'static str {
    if is_executable { "100755" } else { "100644" }
}

fn push_move(out: &mut Vec<u8>, section: &Section<'_>, from: &str, to: &str) {
    let is_copy = matches!(section.operation, SectionOperation::Copy { .. });
    let verb = if is_copy { "copy" } else { "rename" };
    for (word, name) in [("from", from), ("to", to)] {
        out.extend_from_slice(format!("{verb} {word} ").as_bytes());
        push_quoted(out, "", name);
        out.push(b'\n');
    }
}

/// Writes the lines `---` and `+++`.
fn push_file_lines(out: &mut Vec<u8>, section: &Section<'_>, from: &str, to: &str) {
    match section.operation {
        SectionOperation::Add(_) => out.extend_from_slice(b"--- /dev/null\n"),
        _ => push_file_line(out, "--- ", "a/", from),
    }
    match section.operation {
        SectionOperation::Delete(_) => out.extend_from_slice(b"+++ /dev/null\n"),
        _ => push_file_line(out, "+++ ", "b/", to),
    }
}

fn push_file_line(out: &mut Vec<u8>, sign: &str, prefix: &str, name: &str) {
    out.extend_from_slice(sign.as_bytes());
    push_quoted(out, prefix, name);
    // Git, too, ends a name with blanks by a tab.
    out.extend_from_slice(if name.contains(' ') { b"\t\n" } else { b"\n" });
}

pub(super) fn ended(text: &[u8]) -> Vec<u8> {
    let end: &[u8] = if text.ends_with(b"\n") || text.is_empty() { b"" } else { b"\n" };
    [text, end].concat()
}
