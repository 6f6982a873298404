//! Reads unified and git diffs into the same tree as the envelope.
//!
//! ```
//! use patch_grammar::diff::{Diff, DiffOptions};
//!
//! let text = "--- a/greet.py\n+++ b/greet.py\n@@ -1 +1 @@\n-print(\"hi\")\n+print(\"hello\")\n";
//! let diff = Diff::parse(text.as_bytes(), &DiffOptions::default())?;
//! let patch = diff.patch();
//! assert_eq!((patch.sections[0].path.text, patch.sections[0].hunks()[0].old_start), ("greet.py", Some(1)));
//! # Ok::<(), patch_grammar::ParseError>(())
//! ```
//!
//! Only this module knows what a hunk of a diff is. The numbers after `@@` say how many lines it
//! has. Where they fit, every line within is content, whatever it looks like. Where they do not,
//! the lines are read as they stand, as long as they are unambiguous, and a warning says so.
//!
//! Text around the files is ignored, as git does. Parts of a diff that cannot be expressed (binary
//! files, links, submodules, merges) are errors.

mod name;
mod reader;

use std::borrow::Cow;
use std::ops::Range;

use crate::ast::{
    AddedLines, Hunk, LineEndings, LineKind, Patch, Section, SectionOperation, Spanned, hunk_lines,
};
use crate::diagnose;
use crate::error::{ParseError, Warning, WarningKind};

pub use name::push_quoted;
use reader::{Failure, File, HunkPart, Operation, Reader};
pub(crate) use reader::{Lines, begins, extent};

/// How a diff is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffOptions {
    /// How many leading parts of a path are removed, as with `patch -p`. Default: `None`, which
    /// removes the prefixes that git writes (`a/` and `b/`, and those of `diff.mnemonicPrefix`),
    /// where there are any.
    pub strip: Option<usize>,
    /// How many files a diff may have. Default: 10 000.
    pub max_sections: usize,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { strip: None, max_sections: 10_000 }
    }
}

/// A diff that was read. It keeps the bytes, and the paths, which may have to be unquoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff<'t> {
    text: Cow<'t, [u8]>,
    files: Vec<File>,
    warnings: Vec<Warning>,
}

impl<'t> Diff<'t> {
    /// Reads a plain or git diff. If the diff itself was stored with CRLF, the carriage returns are
    /// left out.
    ///
    /// Time and memory are linear in the text.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, or that no plan can express, with its line and column.
    pub fn parse(
        text: impl Into<Cow<'t, [u8]>>,
        options: &DiffOptions,
    ) -> Result<Self, ParseError> {
        let text = text.into();
        let read = |text: &[u8]| {
            let lines = Lines::new(text);
            let mut reader = Reader::new(&lines, options.strip, options.max_sections);
            let mut files = Vec::new();
            let result = loop {
                match reader.file() {
                    Ok(Some(file)) => files.push(file),
                    Ok(None) if files.is_empty() => break Err(reader.no_diff()),
                    Ok(None) => break Ok(()),
                    Err(failure) => break Err(failure),
                }
            };
            let Reader { warnings, framed, .. } = reader;
            (result.map(|()| files), warnings, framed.unwrap_or(false))
        };
        let (mut files, mut warnings, framed) = read(&text);
        let mut normal = None;
        if framed {
            let shorter = without_framing(&text);
            (files, warnings, _) = read(&shorter);
            warnings.insert(0, Warning { kind: WarningKind::StoredWithCrlf, line: 1 });
            normal = Some(shorter.into());
        }
        match files {
            Ok(files) => Ok(Self { text: normal.unwrap_or(text), files, warnings }),
            // Lines are the same in both texts; bytes are counted in the text that was given.
            Err(Failure { line, within, kind, expected }) => {
                let start = Lines::new(&text).range(line).start;
                Err(diagnose::at_offset(&text, start, within, kind, vec![expected]))
            }
        }
    }

    /// Returns the tree.
    #[must_use]
    pub fn patch(&self) -> Patch<'_> {
        let sections = self.files.iter().map(|file| self.section(file)).collect();
        Patch { text: &self.text, sections, warnings: self.warnings.clone(), ..Patch::default() }
    }

    fn section<'p>(&'p self, file: &'p File) -> Section<'p> {
        let spanned = |name: &'p reader::Name| Spanned {
            text: &name.text,
            span: name.span.clone(),
            line: name.line,
        };
        let hunks = || file.hunks.iter().map(|hunk| self.hunk(hunk)).collect();
        let operation = match &file.operation {
            // The reader has checked that a new file has one hunk at most.
            Operation::Add => SectionOperation::Add(AddedLines::of_body(
                file.hunks.first().map_or(b"", |hunk| &self.text[hunk.body.clone()]),
                LineEndings::Exact,
            )),
            Operation::Delete => SectionOperation::Delete(Some(hunks())),
            Operation::Update { to } => {
                SectionOperation::Update { move_to: to.as_ref().map(spanned), hunks: hunks() }
            }
            Operation::Copy { to } => SectionOperation::Copy { to: spanned(to), hunks: hunks() },
        };
        Section {
            path: spanned(&file.path),
            operation,
            executable: file.executable,
            span: file.span.clone(),
        }
    }

    fn hunk<'p>(&'p self, part: &HunkPart) -> Hunk<'p> {
        let (lines, _) =
            hunk_lines(&self.text[part.body.clone()], part.line + 1, LineEndings::Exact);
        let header = |span: &Range<usize>| {
            let text = std::str::from_utf8(&self.text[span.clone()]).ok()?;
            Some(Spanned { text, span: span.clone(), line: part.line })
        };
        // A hunk that only inserts has nothing to do with the function above it.
        let shows_old = lines.iter().any(|line| line.kind != LineKind::Insert);
        let headers =
            part.heading.as_ref().filter(|_| shows_old).and_then(header).into_iter().collect();
        Hunk {
            opened: true,
            headers,
            lines,
            separators: part.separators,
            endings: LineEndings::Exact,
            old_start: part.old_start,
            new_start: part.new_start,
            span: part.span.clone(),
            line: part.line,
            ..Hunk::default()
        }
    }
}

/// Returns the text with line feeds in place of CRLF.
fn without_framing(text: &[u8]) -> Vec<u8> {
    let mut shorter = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        match line {
            [line @ .., b'\r', b'\n'] => {
                shorter.extend_from_slice(line);
                shorter.push(b'\n');
            }
            line => shorter.extend_from_slice(line),
        }
    }
    shorter
}
