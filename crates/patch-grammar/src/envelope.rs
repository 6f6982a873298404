//! Writes envelopes: from the tree of a diff, from parts of others, or from lines alone.

use crate::ast::{AddedLines, Hunk, LineEndings, LineKind, Section, SectionOperation};
use crate::marker::{Marker, push_header, push_no_newline};
use crate::patch::Patch;

/// An envelope that is being written, one section after the other. The envelope's own lines end in
/// line feeds, so a carriage return before one belongs to the file.
#[derive(Debug, Default)]
pub struct Writer {
    sections: Vec<u8>,
    /// How many lines the sections have.
    count: usize,
}

impl Writer {
    /// Begins a section; an update may also move its file.
    pub fn header(&mut self, marker: Marker, path: &str, move_to: Option<&str>) {
        self.lines(marker.header(path).as_bytes());
        if let Some(to) = move_to {
            self.lines(Marker::MoveTo.header(to).as_bytes());
        }
    }

    /// Writes lines as they are, and ends the last one.
    pub fn lines(&mut self, lines: &[u8]) {
        self.sections.extend_from_slice(lines);
        self.count += lines.iter().filter(|&&byte| byte == b'\n').count();
        if !lines.is_empty() && !lines.ends_with(b"\n") {
            self.sections.push(b'\n');
            self.count += 1;
        }
    }

    /// Returns the number of the next line of the envelope, from 1.
    #[must_use]
    pub fn next_line(&self) -> usize {
        let begin = 1;
        begin + self.count + 1
    }

    /// Writes lines of another envelope. If the other envelope was stored with CRLF, its carriage
    /// returns mean nothing and are left out.
    pub fn lines_of(&mut self, patch: &Patch, lines: &[u8]) {
        let text = patch.text();
        let first = text.as_bytes().trim_ascii_start().split(|&byte| byte == b'\n').next();
        if !first.is_some_and(|line| line.ends_with(b"\r")) {
            return self.lines(lines);
        }
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            match line.strip_suffix(b"\r\n") {
                Some(line) => self.lines(&[line, b"\n"].concat()),
                None => self.lines(line),
            }
        }
    }

    /// Returns the whole envelope.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let begin = Marker::Begin.as_str().as_bytes();
        let end = Marker::End.as_str().as_bytes();
        [begin, b"\n", &self.sections, end, b"\n"].concat()
    }
}

/// A part of a patch that an envelope cannot express.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
#[non_exhaustive]
pub struct Inexpressible {
    /// The file.
    pub path: String,
    /// The 1-based line of the patch.
    pub line: u32,
    /// The part that cannot be expressed.
    pub problem: Unsaid,
}

crate::names::debug_is_display!(Inexpressible);

/// The things that an envelope cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Unsaid {
    /// Its mode changes, or a new file is executable.
    #[error("an envelope cannot express the mode of a file")]
    Mode,
    /// It is a submodule.
    #[error("an envelope cannot express a submodule")]
    Submodule,
    /// It is a symbolic link.
    #[error("an envelope cannot express a symbolic link")]
    Link,
    /// It is copied.
    #[error("an envelope cannot express a copy")]
    Copy,
    /// A hunk has no context: its place is a line number only.
    #[error(
        "a hunk has no context lines, and an envelope has no line numbers; make the diff with \
         context"
    )]
    NoContext,
    /// A line is not UTF-8, or has a NUL character.
    #[error("an envelope is UTF-8 without NUL characters, and a line is not")]
    Bytes,
    /// The patch is framed by CRLF, so no line states its ending in the file.
    #[error("the patch was stored with CRLF, and its line endings say nothing")]
    LineEnding,
    /// It is binary.
    #[error("an envelope cannot express a binary file")]
    Binary,
    /// It changes nothing.
    #[error("the diff changes nothing in it, and an envelope cannot express that")]
    Nothing,
    /// The path cannot stand in a header.
    #[error("an envelope cannot express this path")]
    Path,
}

/// Writes the tree of a diff as an envelope with the same change, in every profile. Carriage
/// returns before line feeds belong to the files.
///
/// Line numbers, and the lines of a deleted file, are left out.
///
/// # Errors
///
/// The first section that an envelope cannot express.
pub fn write(patch: &Patch) -> Result<Vec<u8>, Inexpressible> {
    let mut out = Writer::default();
    for section in patch.sections() {
        write_section(&mut out, section).map_err(|problem| Inexpressible {
            path: section.path.text.to_string(),
            line: section.line(),
            problem,
        })?;
    }
    Ok(out.finish())
}

fn write_section(out: &mut Writer, section: &Section<'_>) -> Result<(), Unsaid> {
    let path = &*section.path.text;
    for path in [Some(path), section.destination().map(|to| &*to.text)].into_iter().flatten() {
        if path.trim() != path || path.is_empty() || path.chars().any(char::is_control) {
            return Err(Unsaid::Path);
        }
    }
    if section.binary.is_some() {
        return Err(Unsaid::Binary);
    }
    if section.submodule.is_some() {
        return Err(Unsaid::Submodule);
    }
    let mut lines = String::new();
    if section.link && !matches!(section.operation, SectionOperation::Delete(_)) {
        return Err(Unsaid::Link);
    }
    match (&section.operation, section.executable) {
        // A new file has this mode anyway.
        (SectionOperation::Add(added), None | Some(false)) => {
            out.header(Marker::Add, path, None);
            write_added(&mut lines, added)?;
        }
        (SectionOperation::Copy { .. }, _) => return Err(Unsaid::Copy),
        // The mode is deleted with the file.
        (SectionOperation::Delete(_), _) => out.header(Marker::Delete, path, None),
        (_, Some(_)) => return Err(Unsaid::Mode),
        (SectionOperation::Update { move_to, hunks }, None) => {
            if hunks.is_empty() && move_to.is_none() {
                return Err(Unsaid::Nothing);
            }
            out.header(Marker::Update, path, move_to.as_ref().map(|to| &*to.text));
            hunks.iter().try_for_each(|hunk| write_hunk(&mut lines, hunk))?;
        }
    }
    out.lines(lines.as_bytes());
    Ok(())
}

fn write_added(out: &mut String, added: &AddedLines<'_>) -> Result<(), Unsaid> {
    check(added.endings)?;
    let mut last = None;
    for line in added.lines() {
        push(out, '+', line, false)?;
        last = Some(line);
    }
    if added.no_newline {
        push_no_newline(out);
    } else if last.is_some_and(<[u8]>::is_empty) {
        // An empty last line adds no line feed in the `strict` profile, and one in `codex`: this
        // suits both.
        push(out, '+', b"", false)?;
        push_no_newline(out);
    }
    Ok(())
}

fn write_hunk(out: &mut String, hunk: &Hunk<'_>) -> Result<(), Unsaid> {
    check(hunk.endings)?;
    // It could insert into an empty file, but the file is not known here.
    if hunk.old_lines().next().is_none() {
        return Err(Unsaid::NoContext);
    }
    match &hunk.headers[..] {
        [] => push_header(out, None),
        headers => headers.iter().for_each(|header| push_header(out, Some(&header.text))),
    }
    let separators = hunk.lines.len() - hunk.separators;
    for (nth, line) in hunk.lines.iter().enumerate() {
        match line.kind {
            LineKind::Context if nth >= separators => out.push('\n'),
            kind => push(out, kind.sign(), line.text, line.crlf)?,
        }
        if line.no_newline {
            push_no_newline(out);
        }
    }
    if hunk.end_of_file {
        *out += Marker::EndOfFile.as_str();
        out.push('\n');
    }
    Ok(())
}

fn check(endings: LineEndings) -> Result<(), Unsaid> {
    if endings == LineEndings::Framing { Err(Unsaid::LineEnding) } else { Ok(()) }
}

/// Writes a line. In an envelope whose lines end in line feeds, a carriage return belongs to the
/// file.
fn push(out: &mut String, sign: char, line: &[u8], crlf: bool) -> Result<(), Unsaid> {
    let text =
        std::str::from_utf8(line).ok().filter(|text| !text.contains('\0')).ok_or(Unsaid::Bytes)?;
    out.push(sign);
    *out += text;
    *out += if crlf { "\r\n" } else { "\n" };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{self, DiffOptions};

    fn written(diff: &[u8]) -> Result<String, Unsaid> {
        let patch = diff::parse(diff, &DiffOptions::default()).expect("a diff");
        let text = write(&patch).map_err(|error| error.problem)?;
        Ok(String::from_utf8(text).expect("an envelope is UTF-8"))
    }

    #[test]
    fn a_diff_becomes_the_patch_that_says_the_same() {
        for (diff, patch) in [
            (
                "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn f\n a\n-b\n+c\n",
                "*** Update File: x\n@@ fn f\n a\n-b\n+c\n",
            ),
            (
                "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n\
                 @@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
                "*** Add File: n\n+a\n+b\n\\ No newline at end of file\n",
            ),
            // The empty last line is there in both profiles.
            (
                "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+\n",
                "*** Add File: n\n+a\n+\n+\n\\ No newline at end of file\n",
            ),
            (
                "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\r\n+\r\n",
                "*** Add File: n\n+a\r\n+\r\n",
            ),
            ("diff --git a/n b/n\nnew file mode 100644\n", "*** Add File: n\n"),
            (
                "diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n\
                 @@ -1 +0,0 @@\n-a\n",
                "*** Delete File: d\n",
            ),
            (
                "diff --git a/o b/p\nsimilarity index 100%\nrename from o\nrename to p\n",
                "*** Update File: o\n*** Move to: p\n",
            ),
            (
                "diff --git a/o b/p\nrename from o\nrename to p\n--- a/o\n+++ b/p\n\
                 @@ -1,2 +1,2 @@\n a\n-b\n+c\n",
                "*** Update File: o\n*** Move to: p\n@@\n a\n-b\n+c\n",
            ),
            (
                "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\n",
                "*** Update File: x\n@@\n a\r\n-b\r\n+c\n",
            ),
            (
                "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\r\n+b\r\r\n",
                "*** Update File: x\n@@\n-a\r\r\n+b\r\r\n",
            ),
            (
                "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n\\ No\n+b\n",
                "*** Update File: x\n@@\n-a\r\n\\ No newline at end of file\n+b\n",
            ),
            // Lines that read like headers, and an empty line that lost its blank.
            (
                "--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n\n--- a\n--- b\n+++ c\n",
                "*** Update File: x\n@@\n \n--- a\n--- b\n+++ c\n",
            ),
            ("--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n+b\n\n", "*** Update File: x\n@@\n-a\n+b\n\n"),
        ] {
            let found = written(diff.as_bytes()).unwrap_or_else(|error| panic!("{diff}: {error}"));
            assert_eq!(found, format!("*** Begin Patch\n{patch}*** End Patch\n"), "{diff}");
            // The envelope says the same as the diff, but for where it stands.
            let diff = diff::parse(diff, &DiffOptions::default()).expect("a diff");
            let read = crate::parse(&found, &crate::ParseOptions::default()).expect("it parses");
            let lines = |patch: &Patch| {
                let hunks = patch
                    .sections()
                    .iter()
                    .filter(|one| !matches!(one.operation, SectionOperation::Delete(_)));
                let lines = hunks.flat_map(Section::hunks).flat_map(|hunk| &hunk.lines);
                lines
                    .map(|line| (line.text.to_vec(), line.crlf, line.kind, line.no_newline))
                    .collect::<Vec<_>>()
            };
            assert_eq!(lines(&read), lines(&diff), "{found}");
        }
    }

    #[test]
    fn what_cannot_be_said_is_an_error() {
        let update = |body: &str| format!("--- a/x\n+++ b/x\n{body}").into_bytes();
        for (diff, wanted) in [
            (b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n".to_vec(), Unsaid::Mode),
            (
                b"diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n\
                  +a\n".to_vec(),
                Unsaid::Mode,
            ),
            (b"diff --git a/x b/y\nsimilarity index 100%\ncopy from x\n\
               copy to y\n".to_vec(), Unsaid::Copy),
            (update("@@ -3,0 +4 @@\n+a\n"), Unsaid::NoContext),
            (update("@@ -0,0 +1 @@\n+a\n"), Unsaid::NoContext),
            (update("@@ -1 +1 @@\n-a\n+\0\n"), Unsaid::Bytes),
            (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\xff\n+b\n".to_vec(), Unsaid::Bytes),
            (b"diff --git a/x b/x\n".to_vec(), Unsaid::Nothing),
            (
                b"diff --git a/x b/x\nnew file mode 100644\nGIT binary patch\nliteral 1\n\
                  IcmZPo000310RR91\n\n".to_vec(),
                Unsaid::Binary,
            ),
            (b"--- \"a/x\\t\"\n+++ \"b/x\\t\"\n@@ -1 +1 @@\n-a\n+b\n".to_vec(), Unsaid::Path),
        ] {
            assert_eq!(written(&diff), Err(wanted), "{}", String::from_utf8_lossy(&diff));
        }
        let framed = "*** Begin Patch\r\n*** Add File: x\r\n+a\r\n*** End Patch\r\n";
        let framed = crate::parse(framed, &crate::ParseOptions::default()).expect("it parses");
        assert_eq!(write(&framed).map_err(|error| error.problem), Err(Unsaid::LineEnding));
    }
}
