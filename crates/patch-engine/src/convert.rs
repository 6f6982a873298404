//! Unified and git diffs as patches in the envelope.
//!
//! The way back needs the files, because a unified diff has line numbers: plan the patch and take
//! [`Images::diffs`](crate::Images::diffs).

use diffy::patch_set::{FileMode, FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet};
use diffy::{Hunk, Line};
use patch_grammar::detect;
use patch_grammar::marker::{Marker, envelope, push_header, push_line, push_no_newline};

/// Why a diff cannot be expressed in the envelope.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// It is no diff.
    #[error("this is no unified diff: {0}")]
    NoDiff(String),
    /// It has no files.
    #[error("the diff has no files")]
    Empty,
    /// A file's change cannot be expressed.
    #[error("{path}: {problem}")]
    Unconvertible {
        /// The file.
        path: String,
        /// Why not.
        problem: Unconvertible,
    },
}

/// What the envelope has no words for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Unconvertible {
    /// Its mode changes, or a new file can be run, or it is a link.
    #[error("an envelope cannot express the mode of a file")]
    Mode,
    /// It is binary.
    #[error("an envelope cannot express a binary change")]
    Binary,
    /// It is copied.
    #[error("an envelope cannot express a copy")]
    Copy,
    /// A hunk has no context: its place is a line number only.
    #[error("a hunk has no context lines, and an envelope has no line numbers; make the diff with context")]
    NoContext,
    /// Lines with different endings stand side by side, or a new file has CRLF.
    #[error("an envelope cannot express these line endings")]
    LineEnding,
    /// It changes nothing.
    #[error("the diff changes nothing in it, and an envelope cannot express that")]
    Nothing,
    /// The path cannot stand in a header.
    #[error("an envelope cannot express this path")]
    Path,
}

/// Writes a unified diff, plain or git's, as a patch in the envelope.
///
/// Headers of hunks that name a function are kept; line numbers are not, they have no place there.
///
/// A hunk of insertions alone at the top of a file becomes one without old lines. Apply it with
/// [`append_without_anchor`](crate::Rules::append_without_anchor) off: only an empty file takes it then.
///
/// # Errors
///
/// When `diff` is no diff, or changes something that the envelope has no words for.
pub fn from_diff(diff: &str) -> Result<String, ConvertError> {
    if let Some(line) = detect::line_beyond_hunk(diff) {
        return Err(ConvertError::NoDiff(format!("line {line} is more than the numbers of its hunk say")));
    }
    let git = diff.lines().any(|line| line.starts_with("diff --git "));
    let options = if git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let mut out = String::new();
    let mut files = 0;
    for file in PatchSet::parse(diff, options) {
        let file = file.map_err(|error| ConvertError::NoDiff(error.to_string()))?;
        section(&mut out, &file, git)?;
        files += 1;
    }
    if files == 0 {
        return Err(ConvertError::Empty);
    }
    Ok(envelope(&out))
}

fn section(out: &mut String, file: &FilePatch<'_, str>, git: bool) -> Result<(), ConvertError> {
    let operation = file.operation();
    let prefixed = |path: &str| path.starts_with("a/") || path.starts_with("b/");
    let strip = match operation {
        FileOperation::Delete(path) | FileOperation::Create(path) => prefixed(path),
        FileOperation::Modify { original, modified } => prefixed(original) && prefixed(modified),
        // Git writes the paths of renames without a prefix.
        FileOperation::Rename { .. } | FileOperation::Copy { .. } => false,
    };
    let operation = operation.strip_prefix(usize::from(strip));
    let path = match &operation {
        FileOperation::Delete(path) | FileOperation::Create(path) => path,
        FileOperation::Modify { modified: path, .. } => path,
        FileOperation::Rename { from: path, .. } | FileOperation::Copy { from: path, .. } => path,
    };
    let inexpressible = |problem| ConvertError::Unconvertible { path: path.to_string(), problem };
    for path in [file_paths(&operation).0, file_paths(&operation).1] {
        if path.trim() != path || path.is_empty() || path.chars().any(char::is_control) {
            return Err(inexpressible(Unconvertible::Path));
        }
    }
    let modes = (file.old_mode(), file.new_mode());
    let plain = |mode: Option<&FileMode>| mode.is_none_or(|mode| *mode == FileMode::Regular);
    let mode_kept = match modes {
        (Some(old), Some(new)) => old == new,
        (None, new) if operation.is_create() => plain(new),
        _ => true,
    };
    if !mode_kept {
        return Err(inexpressible(Unconvertible::Mode));
    }
    let hunks = match file.patch() {
        PatchKind::Text(patch) => patch.hunks(),
        PatchKind::Binary(_) => return Err(inexpressible(Unconvertible::Binary)),
    };
    match &operation {
        FileOperation::Create(path) => {
            *out += &Marker::Add.header(path);
            for line in hunks.iter().flat_map(Hunk::lines) {
                let Line::Insert(text) = line else { return Err(inexpressible(Unconvertible::NoContext)) };
                let content = text.strip_suffix('\n').unwrap_or(text);
                if content.ends_with('\r') && content.len() < text.len() {
                    return Err(inexpressible(Unconvertible::LineEnding));
                }
                push(out, '+', text);
            }
            // An empty last line adds no line feed in the `strict` profile, and one in `codex`: this suits both.
            if hunks.last().and_then(|hunk| hunk.lines().last()).is_some_and(|line| text(line) == "\n") {
                push_line(out, '+', "");
                push_no_newline(out);
            }
        }
        FileOperation::Delete(path) => *out += &Marker::Delete.header(path),
        FileOperation::Modify { original, modified } if original == modified || !git => {
            if hunks.is_empty() {
                return Err(inexpressible(Unconvertible::Nothing));
            }
            *out += &Marker::Update.header(modified);
            write_hunks(out, hunks).map_err(inexpressible)?;
        }
        FileOperation::Modify { original: from, modified: to } | FileOperation::Rename { from, to } => {
            *out += &(Marker::Update.header(from) + &Marker::MoveTo.header(to));
            write_hunks(out, hunks).map_err(inexpressible)?;
        }
        FileOperation::Copy { .. } => return Err(inexpressible(Unconvertible::Copy)),
    }
    Ok(())
}

fn file_paths<'o>(operation: &'o FileOperation<'_, str>) -> (&'o str, &'o str) {
    match operation {
        FileOperation::Delete(path) | FileOperation::Create(path) => (path, path),
        FileOperation::Modify { original, modified } => (original, modified),
        FileOperation::Rename { from, to } | FileOperation::Copy { from, to } => (from, to),
    }
}

fn write_hunks(out: &mut String, hunks: &[Hunk<'_, str>]) -> Result<(), Unconvertible> {
    for hunk in hunks {
        let shows_old = hunk.lines().iter().any(|line| !matches!(line, Line::Insert(_)));
        match hunk.function_context() {
            // An insertion goes below its header in a patch, and has nothing to do with it in a diff.
            Some(function) if shows_old && !function.trim().is_empty() => {
                push_header(out, Some(function.trim_end()));
            }
            _ => push_header(out, None),
        }
        if !shows_old && hunk.old_range().start() > 0 {
            return Err(Unconvertible::NoContext);
        }
        let ends_in_crlf = |line: &Line<'_, str>| text(line).strip_suffix('\n').map(|line| line.ends_with('\r'));
        let mut endings = hunk.lines().iter().filter_map(ends_in_crlf);
        let first = endings.next();
        if endings.any(|ending| Some(ending) != first) {
            return Err(Unconvertible::LineEnding);
        }
        for line in hunk.lines() {
            let sign = match line {
                Line::Context(_) => ' ',
                Line::Delete(_) => '-',
                Line::Insert(_) => '+',
            };
            push(out, sign, text(line));
        }
    }
    Ok(())
}

fn text<'t>(line: &Line<'t, str>) -> &'t str {
    match line {
        Line::Context(text) | Line::Delete(text) | Line::Insert(text) => text,
    }
}

/// Writes one line of a diff, and the marker when it has no line feed.
fn push(out: &mut String, sign: char, line: &str) {
    match line.strip_suffix('\n') {
        // Of a CRLF the line has to name nothing; what goes before it is text.
        Some(text) => push_line(out, sign, text),
        None => {
            push_line(out, sign, line);
            push_no_newline(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_becomes_the_patch_that_says_the_same() {
        for (diff, patch) in [
            ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn f\n a\n-b\n+c\n", "*** Update File: x\n@@ fn f\n a\n-b\n+c\n"),
            ("--- x\n+++ x\n@@ -1 +1 @@\n-b\n+c\n", "*** Update File: x\n@@\n-b\n+c\n"),
            ("--- a/x\n+++ b/x\n@@ -0,0 +1 @@ fn f\n+c\n", "*** Update File: x\n@@\n+c\n"),
            (
                "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
                "*** Add File: n\n+a\n+b\n\\ No newline at end of file\n",
            ),
            // The empty last line is there in both profiles.
            (
                "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+\n",
                "*** Add File: n\n+a\n+\n+\n\\ No newline at end of file\n",
            ),
            (
                "diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
                "*** Delete File: d\n",
            ),
            (
                "diff --git a/o b/p\nsimilarity index 100%\nrename from o\nrename to p\n",
                "*** Update File: o\n*** Move to: p\n",
            ),
            (
                "diff --git a/o b/p\nsimilarity index 60%\nrename from o\nrename to p\n--- a/o\n+++ b/p\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
                "*** Update File: o\n*** Move to: p\n@@\n a\n-b\n+c\n",
            ),
            ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n", "*** Update File: x\n@@\n a\r\n-b\r\n+c\r\n"),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\r\n+b\r\r\n", "*** Update File: x\n@@\n-a\r\r\n+b\r\r\n"),
            // Lines that read like headers, the signature of a mail, and an empty line that lost its blank.
            (
                "--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n\n--- a\n--- b\n+++ c\n-- \n2.39\n",
                "*** Update File: x\n@@\n \n--- a\n--- b\n+++ c\n",
            ),
        ] {
            let found = from_diff(diff).unwrap_or_else(|error| panic!("{diff}: {error}"));
            assert_eq!(found, format!("*** Begin Patch\n{patch}*** End Patch\n"), "{diff}");
            crate::parse(&found, &patch_grammar::ParseOptions::default()).expect("it parses");
        }
    }

    #[test]
    fn what_cannot_be_said_is_an_error() {
        for (diff, wanted) in [
            ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", Some(Unconvertible::Mode)),
            (
                "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
                Some(Unconvertible::Mode),
            ),
            ("diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n", Some(Unconvertible::Binary)),
            ("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", Some(Unconvertible::Copy)),
            ("--- a/x\n+++ b/x\n@@ -3,0 +4 @@\n+a\n", Some(Unconvertible::NoContext)),
            ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\n+c\n", Some(Unconvertible::LineEnding)),
            // More lines than the numbers say: they would be lost.
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n", None),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n c\n", None),
            ("--- a/x\n+++ b/x\n", Some(Unconvertible::Nothing)),
            ("hello\n", None),
            ("", None),
        ] {
            let found = match from_diff(diff) {
                Err(ConvertError::Unconvertible { problem, .. }) => Some(problem),
                Err(_) => None,
                Ok(patch) => panic!("{diff} gave {patch}"),
            };
            assert_eq!(found, wanted, "{diff}");
        }
    }
}
