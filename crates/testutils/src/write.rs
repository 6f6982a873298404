//! Writes the change between two trees as a patch.
//!
//! ```
//! use testutils::write::{TreeFile, Style, Tree, write_patch};
//!
//! let tree = |text: &'static str| Tree::from([("greet.py", TreeFile::text(text))]);
//! let before = tree("def greet():\n    print(\"hi\")\n");
//! let after = tree("def greet():\n    print(\"hello\")\n");
//! let patch = write_patch(&before, &after, &Style::default()).unwrap();
//! let body = "@@\n def greet():\n-    print(\"hi\")\n+    print(\"hello\")\n";
//! assert_eq!(patch, format!("*** Begin Patch\n*** Update File: greet.py\n{body}*** End Patch\n"));
//! ```
//!
//! The patch expresses exactly the change, or there is an error. A patch has no modes and only
//! UTF-8, so it cannot express every change; an [`InexpressibleChange`] names each file with
//! another one. A patch may still fit in several places: more [context](Style::context) and
//! [headers](Style::headers) make several places less likely.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use patch_grammar::binary::is_binary;
use patch_grammar::marker::{Marker, push_header, push_line, push_no_newline};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use patch_engine::Profile;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Iterates over the lines of a text, with their terminators.
fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Files by their paths, relative and `/`-separated.
pub type Tree<'t> = BTreeMap<&'t str, TreeFile<'t>>;

/// One file of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeFile<'t> {
    /// The bytes; of a symbolic link, the target.
    pub bytes: &'t [u8],
    /// The kind.
    pub kind: Kind,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// A plain file.
    #[default]
    Plain,
    /// A file that can be run.
    Executable,
    /// A symbolic link, or another entry that is not a file.
    Other,
}

impl<'t> TreeFile<'t> {
    /// A plain file with these bytes.
    #[must_use]
    pub fn bytes(bytes: &'t [u8]) -> Self {
        Self { bytes, kind: Kind::Plain }
    }

    /// A plain file with this text.
    #[must_use]
    pub fn text(text: &'t str) -> Self {
        Self::bytes(text.as_bytes())
    }
}

/// How a patch is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// The language. `Strict` writes the whole language; `Codex` the subset of codex-trained
    /// models, without markers for a missing final line feed, without empty new files, and with
    /// hunks in every update.
    pub dialect: Profile,
    /// The number of context lines around a change; at least one, if the file has one.
    pub context: usize,
    /// Whether a hunk has the header of its function as git finds it: the last line above the hunk
    /// that begins with a letter, `_` or `$`.
    pub headers: bool,
    /// Whether a hunk at the end of the file has the marker of the end.
    pub end_of_file: bool,
}

impl Style {
    /// Three lines of context and nothing else.
    #[must_use]
    pub fn new(dialect: Profile) -> Self {
        Self { dialect, context: 3, headers: false, end_of_file: false }
    }

    fn is_codex(&self) -> bool {
        self.dialect == Profile::Codex
    }
}

impl Default for Style {
    fn default() -> Self {
        Self::new(Profile::default())
    }
}

/// A change that a patch cannot express.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct InexpressibleChange {
    /// The file.
    pub path: String,
    /// The problem.
    pub problem: Inexpressible,
}

patch_grammar::named! {
    /// Why a change cannot be expressed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
    #[non_exhaustive]
    pub error enum Inexpressible {
        /// The path has a line feed or another control character, or blanks at its ends.
        #[error("a patch cannot name this path")]
        Path = "path",
        /// It is a symbolic link, or something else that is not a file.
        #[error("it is not a file")]
        NotAFile = "not_a_file",
        /// Its mode changes, or a new file is executable.
        #[error("a patch cannot change a mode")]
        Mode = "mode",
        /// It is binary: there is a NUL where an applier looks for one, or in a line that has to be
        /// shown.
        #[error("it is binary")]
        Binary = "binary",
        /// A line that has to be shown is not UTF-8, or a line that is not ASCII is inserted into a
        /// file that is not UTF-8.
        #[error("it is not UTF-8 where it changes")]
        Encoding = "encoding",
        /// Nothing in the hunk can say how an inserted line ends.
        #[error("a line ends otherwise than its neighbours")]
        LineEnding = "line_ending",
        /// The dialect has no marker for a missing final line feed.
        #[error("the last line has no line feed, and this dialect cannot express that")]
        FinalNewline = "final_newline",
        /// A byte-order mark is removed from a file that has nothing else.
        #[error("its byte-order mark goes, and it has no lines")]
        ByteOrderMark = "byte_order_mark",
        /// The dialect has no new files without lines, and no moves of files without text.
        #[error("it has no lines, and this dialect needs one")]
        Empty = "empty",
    }
}

/// Writes the change from `before` to `after` as a whole patch; an empty text if nothing changes.
///
/// A deleted file and a created one with the same bytes and kind are a move. Deletions come first,
/// so that a file may make way for a directory.
///
/// # Errors
///
/// Every file whose change cannot be expressed.
pub fn write_patch(
    before: &Tree<'_>,
    after: &Tree<'_>,
    style: &Style,
) -> Result<String, Vec<InexpressibleChange>> {
    let mut moved = moves(before, after);
    let arrivals: BTreeSet<&str> = moved.values().copied().collect();
    let mut first = String::new();
    let mut rest = String::new();
    let mut inexpressible = Vec::new();
    let paths: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    for path in paths {
        let section = match (before.get(path), after.get(path)) {
            (Some(old), Some(new)) => section(path, old, new, style).map(|text| rest += &text),
            (Some(old), None) => match moved.remove(path) {
                None => check_path(path).map(|()| first += &Marker::Delete.header(path)),
                Some(to) => moving(path, to, old, style).map(|text| rest += &text),
            },
            (None, Some(_)) if arrivals.contains(path) => Ok(()),
            (None, Some(new)) => adding(path, new, style).map(|text| rest += &text),
            (None, None) => unreachable!("a path of one of them"),
        };
        if let Err(problem) = section {
            inexpressible.push(InexpressibleChange { path: path.to_owned(), problem });
        }
    }
    if !inexpressible.is_empty() {
        return Err(inexpressible);
    }
    if first.is_empty() && rest.is_empty() {
        return Ok(String::new());
    }
    let begin = format!("{}\n", Marker::Begin.as_str());
    Ok(begin + &first + &rest + Marker::End.as_str() + "\n")
}

/// Writes the hunks that turn `before` into `after`; none if they are equal.
///
/// # Errors
///
/// If the change cannot be expressed.
pub fn write_hunks(before: &[u8], after: &[u8], style: &Style) -> Result<String, Inexpressible> {
    HunkWriter::new(before, after, style)?.hunks()
}

/// Pairs deleted and created files with the same bytes and kind, if there is one of each.
fn moves<'t>(before: &Tree<'t>, after: &Tree<'t>) -> BTreeMap<&'t str, &'t str> {
    type Ends<'t> = (Vec<&'t str>, Vec<&'t str>);
    let mut same: HashMap<(&[u8], Kind), Ends<'t>> = HashMap::new();
    for (path, file) in before.iter().filter(|(path, _)| !after.contains_key(*path)) {
        same.entry((file.bytes, file.kind)).or_default().0.push(path);
    }
    for (path, file) in after.iter().filter(|(path, _)| !before.contains_key(*path)) {
        same.entry((file.bytes, file.kind)).or_default().1.push(path);
    }
    let ends = same.into_iter().filter(|((bytes, _), _)| !bytes.is_empty());
    ends.filter_map(|(_, (from, to))| (from.len() == 1 && to.len() == 1).then(|| (from[0], to[0])))
        .collect()
}

fn check_path(path: &str) -> Result<(), Inexpressible> {
    let blank = [' ', '\t'];
    let fine = !path.is_empty()
        && !path.contains(char::is_control)
        && !path.starts_with(blank)
        && !path.ends_with(blank);
    if fine { Ok(()) } else { Err(Inexpressible::Path) }
}

fn section(
    path: &str,
    old: &TreeFile<'_>,
    new: &TreeFile<'_>,
    style: &Style,
) -> Result<String, Inexpressible> {
    if old == new {
        return Ok(String::new());
    }
    check_path(path)?;
    if old.kind == Kind::Other || new.kind == Kind::Other {
        return Err(Inexpressible::NotAFile);
    }
    if old.kind != new.kind {
        return Err(Inexpressible::Mode);
    }
    Ok(Marker::Update.header(path) + &write_hunks(old.bytes, new.bytes, style)?)
}

fn moving(
    path: &str,
    to: &str,
    file: &TreeFile<'_>,
    style: &Style,
) -> Result<String, Inexpressible> {
    check_path(path)?;
    check_path(to)?;
    if file.kind == Kind::Other {
        return Err(Inexpressible::NotAFile);
    }
    let mut text = Marker::Update.header(path) + &Marker::MoveTo.header(to);
    if style.is_codex() {
        text += &HunkWriter::new(file.bytes, file.bytes, style)?.first_lines()?;
    }
    Ok(text)
}

fn adding(path: &str, file: &TreeFile<'_>, style: &Style) -> Result<String, Inexpressible> {
    check_path(path)?;
    match file.kind {
        Kind::Plain => {}
        Kind::Executable => return Err(Inexpressible::Mode),
        Kind::Other => return Err(Inexpressible::NotAFile),
    }
    let content = std::str::from_utf8(file.bytes).map_err(|_| Inexpressible::Encoding)?;
    if content.contains('\0') {
        return Err(Inexpressible::Binary);
    }
    let mut text = Marker::Add.header(path);
    let mut last = None;
    for line in content.split_inclusive('\n') {
        let line = line.strip_suffix('\n').unwrap_or(line);
        push_line(&mut text, '+', line);
        last = Some(line);
    }
    match last {
        None if style.is_codex() => return Err(Inexpressible::Empty),
        None => {}
        Some(_) if !content.ends_with('\n') => {
            if style.is_codex() {
                return Err(Inexpressible::FinalNewline);
            }
            push_no_newline(&mut text);
        }
        // Lines are joined by line feeds, so an empty last line adds none of its own.
        Some("") if !style.is_codex() => text += "+\n",
        Some(_) => {}
    }
    Ok(text)
}

/// Writes the change of one file as hunks.
struct HunkWriter<'t, 's> {
    style: &'s Style,
    before: Vec<&'t [u8]>,
    after: Vec<&'t [u8]>,
    /// Whether text beyond ASCII may be inserted.
    utf8: bool,
    /// The terminator of most lines.
    dominant: &'static [u8],
}

impl<'t, 's> HunkWriter<'t, 's> {
    fn new(before: &'t [u8], after: &'t [u8], style: &'s Style) -> Result<Self, Inexpressible> {
        if is_binary(before) {
            return Err(Inexpressible::Binary);
        }
        if before == BOM && !after.starts_with(BOM) {
            return Err(Inexpressible::ByteOrderMark);
        }
        let utf8 = std::str::from_utf8(before).is_ok();
        let lines: Vec<_> = split(before).collect();
        let crlf = lines.iter().filter(|line| line.ends_with(b"\r\n")).count();
        let feeds = lines.iter().filter(|line| line.ends_with(b"\n")).count();
        let dominant: &[u8] = if crlf * 2 > feeds { b"\r\n" } else { b"\n" };
        // A byte-order mark of both sides is not a part of their first lines.
        let (before, after) = match (before.strip_prefix(BOM), after.strip_prefix(BOM)) {
            (Some(before), Some(after)) => (before, after),
            _ => (before, after),
        };
        Ok(Self {
            style,
            before: split(before).collect(),
            after: split(after).collect(),
            utf8,
            dominant,
        })
    }

    fn hunks(&self) -> Result<String, Inexpressible> {
        let ops = capture_diff_slices(Algorithm::Myers, &self.before, &self.after);
        let mut out = String::new();
        for group in group_diff_ops(ops, self.style.context.max(1)) {
            let Some(first) = group.first() else { continue };
            self.open(&mut out, first.old_range().start)?;
            let lines: Vec<_> = group.iter().flat_map(|op| self.lines(op)).collect();
            self.write(&mut out, &lines)?;
            let ends = group.last().is_some_and(|last| last.old_range().end == self.before.len());
            if self.style.end_of_file && ends {
                out += Marker::EndOfFile.as_str();
                out.push('\n');
            }
        }
        Ok(out)
    }

    /// Writes a hunk without changes, for an update that must have a hunk: as many of the first
    /// lines as make its place unique.
    fn first_lines(&self) -> Result<String, Inexpressible> {
        let lines: Vec<&[u8]> = self.before.iter().map(|line| content(line)).collect();
        let wanted = self.style.context.max(1).min(lines.len());
        let len = (wanted..=lines.len())
            .filter(|&len| len > 0)
            .find(|&len| lines.windows(len).filter(|window| *window == &lines[..len]).count() == 1)
            .ok_or(Inexpressible::Empty)?;
        let mut out = String::new();
        push_header(&mut out, None);
        self.write(
            &mut out,
            &self.before[..len].iter().map(|line| PatchLine::old(' ', line)).collect::<Vec<_>>(),
        )?;
        Ok(out)
    }

    /// Opens a hunk whose first line is `start`.
    fn open(&self, out: &mut String, start: usize) -> Result<(), Inexpressible> {
        let mut above = self.before[..start].iter().rev().filter(|_| self.style.headers);
        let header = above.find(|line| {
            line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_$".contains(byte))
        });
        match header.map(|line| content(line)) {
            Some(header) if !header.ends_with(b"\r") => push_header(out, Some(text(header)?)),
            _ => push_header(out, None),
        }
        Ok(())
    }

    /// Returns the lines of a hunk for one step of the diff.
    fn lines(&self, op: &DiffOp) -> Vec<PatchLine<'t>> {
        let old = op.old_range();
        let new = op.new_range();
        let sign = if matches!(op, DiffOp::Equal { .. }) { ' ' } else { '-' };
        let mut lines: Vec<PatchLine<'t>> =
            self.before[old.clone()].iter().map(|line| PatchLine::old(sign, line)).collect();
        if sign == '-' {
            lines.extend(new.enumerate().map(|(nth, index)| PatchLine {
                sign: '+',
                text: self.after[index],
                unstated: Some(self.terminator(&old, nth)),
            }));
        }
        lines
    }

    /// Writes the lines of one hunk, with carriage returns if an inserted line would get another
    /// terminator without them.
    fn write(&self, out: &mut String, lines: &[PatchLine<'t>]) -> Result<(), Inexpressible> {
        let stated = lines.iter().any(|line| {
            let differs =
                line.unstated.is_some_and(|unstated| ![unstated, b""].contains(&ending(line.text)));
            differs || (ending(line.text) == b"\r\n" && content(line.text).ends_with(b"\r"))
        });
        let shows_crlf = lines.iter().any(|line| line.sign != '+' && ending(line.text) == b"\r\n");
        for line in lines {
            let unended = ending(line.text).is_empty();
            if let Some(unstated) = line.unstated {
                if unended && self.style.is_codex() {
                    return Err(Inexpressible::FinalNewline);
                }
                if stated
                    && !unended
                    && ending(line.text) != b"\r\n"
                    && !shows_crlf
                    && unstated != b"\n"
                {
                    return Err(Inexpressible::LineEnding);
                }
            }
            let inner = if stated {
                line.text.strip_suffix(b"\n").unwrap_or(line.text)
            } else {
                content(line.text)
            };
            let inner = text(inner)?;
            if line.sign == '+' && !self.utf8 && !inner.is_ascii() {
                return Err(Inexpressible::Encoding);
            }
            push_line(out, line.sign, inner);
            // A dialect without the marker locates the line without it.
            if unended && !self.style.is_codex() {
                push_no_newline(out);
            } else if unended && inner.ends_with('\r') {
                return Err(Inexpressible::LineEnding);
            }
        }
        Ok(())
    }

    /// Returns the terminator of the `nth` line in place of `old` where the hunk states none: the
    /// terminator of the replaced line, or else of its neighbour.
    fn terminator(&self, old: &Range<usize>, nth: usize) -> &'t [u8] {
        let model = match old.len() {
            0 if old.start > 0 => Some(old.start - 1),
            0 => Some(old.start),
            len => Some(old.start + nth.min(len - 1)),
        };
        let model = model.filter(|&index| index < self.before.len());
        match model {
            Some(index) if !ending(self.before[index]).is_empty() => ending(self.before[index]),
            Some(index) if index > 0 => ending(self.before[index - 1]),
            _ => self.dominant,
        }
    }
}

/// A line of a hunk.
struct PatchLine<'t> {
    sign: char,
    /// The text with its terminator.
    text: &'t [u8],
    /// The terminator if the hunk states none; `None` for lines of the old file.
    unstated: Option<&'t [u8]>,
}

impl<'t> PatchLine<'t> {
    fn old(sign: char, text: &'t [u8]) -> Self {
        Self { sign, text, unstated: None }
    }
}

/// A line without its terminator.
fn content(line: &[u8]) -> &[u8] {
    match line.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => line,
    }
}

fn ending(line: &[u8]) -> &[u8] {
    &line[content(line).len()..]
}

fn text(line: &[u8]) -> Result<&str, Inexpressible> {
    if line.contains(&0) {
        return Err(Inexpressible::Binary);
    }
    std::str::from_utf8(line).map_err(|_| Inexpressible::Encoding)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::bool::weighted;
    use proptest::collection::vec;
    use proptest::prelude::{Strategy, any};
    use proptest::sample::{Index, select};

    use super::*;
    use crate::holds::holds;
    use crate::share::share;
    use patch_engine::patch_grammar::{Hunk, LineKind};
    use patch_engine::{HunkReject, Options, Patch, RejectReason};

    fn style(dialect: Profile) -> Style {
        Style::new(dialect)
    }

    /// Returns the section of a change of the file `f`.
    fn one(
        dialect: Profile,
        before: Option<TreeFile<'_>>,
        after: Option<TreeFile<'_>>,
    ) -> Result<String, Inexpressible> {
        let before: Tree<'_> = before.into_iter().map(|file| ("f", file)).collect();
        let after: Tree<'_> = after.into_iter().map(|file| ("f", file)).collect();
        let patch = write_patch(&before, &after, &style(dialect))
            .map_err(|inexpressible| inexpressible[0].problem)?;
        let body = patch
            .strip_prefix("*** Begin Patch\n")
            .and_then(|body| body.strip_suffix("*** End Patch\n"));
        Ok(body.unwrap_or_default().to_owned())
    }

    #[test]
    fn says_additions_and_deletions() {
        use Profile::{Codex, Strict};
        for (dialect, text, wanted) in [
            (Strict, "x\ny\n", Ok("+x\n+y\n")),
            (Codex, "x\ny\n", Ok("+x\n+y\n")),
            (Strict, "x\n\n", Ok("+x\n+\n+\n")),
            (Codex, "x\n\n", Ok("+x\n+\n")),
            (Strict, "\n", Ok("+\n+\n")),
            (Codex, "\n", Ok("+\n")),
            (Strict, "", Ok("")),
            (Codex, "", Err(Inexpressible::Empty)),
            (Strict, "x", Ok("+x\n\\ No newline at end of file\n")),
            (Codex, "x", Err(Inexpressible::FinalNewline)),
            (Strict, "x\r\ny\r", Ok("+x\r\n+y\r\n\\ No newline at end of file\n")),
            (Strict, "x\0\n", Err(Inexpressible::Binary)),
        ] {
            let wanted = wanted.map(|body| format!("*** Add File: f\n{body}"));
            assert_eq!(
                one(dialect, None, Some(TreeFile::text(text))),
                wanted,
                "{dialect} {text:?}"
            );
        }
        assert_eq!(
            one(Strict, None, Some(TreeFile::bytes(b"\xff\n"))),
            Err(Inexpressible::Encoding)
        );
        assert_eq!(
            one(Strict, Some(TreeFile::bytes(b"\0\xff")), None).as_deref(),
            Ok("*** Delete File: f\n")
        );
        let executable = TreeFile { kind: Kind::Executable, ..TreeFile::text("x\n") };
        assert_eq!(one(Strict, None, Some(executable)), Err(Inexpressible::Mode));
        assert_eq!(
            one(Strict, Some(TreeFile::text("x\n")), Some(executable)),
            Err(Inexpressible::Mode)
        );
        let link = TreeFile { kind: Kind::Other, ..TreeFile::text("x") };
        assert_eq!(one(Strict, None, Some(link)), Err(Inexpressible::NotAFile));
        assert_eq!(one(Strict, Some(link), None).as_deref(), Ok("*** Delete File: f\n"));
    }

    #[test]
    fn says_updates_or_why_not() {
        use Profile::{Codex, Strict};
        for (dialect, before, after, wanted) in [
            (Strict, &b"a\nb\n"[..], &b"a\nc\n"[..], Ok("@@\n a\n-b\n+c\n")),
            (
                Strict,
                b"a\nb",
                b"a\nc",
                Ok("@@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"),
            ),
            (Codex, b"a\nb", b"a\nc", Err(Inexpressible::FinalNewline)),
            (Codex, b"a\nb", b"c\nb", Ok("@@\n-a\n+c\n b\n")),
            (Codex, b"a\nb", b"a\nc\n", Ok("@@\n a\n-b\n+c\n")),
            (Strict, b"a\r\nb\r\n", b"a\r\nc\r\n", Ok("@@\n a\n-b\n+c\n")),
            (Strict, b"a\r\nb\r\n", b"a\r\nc\n", Ok("@@\n a\r\n-b\r\n+c\n")),
            (Strict, b"a\n", b"a\r\n", Ok("@@\n-a\n+a\r\n")),
            (Strict, b"a\nb\n", b"a\nc\r\n", Ok("@@\n a\n-b\n+c\r\n")),
            (Strict, b"a\nb\0\n", b"a\nc\n", Err(Inexpressible::Binary)),
            (Strict, b"\xff\nb\n", b"\xff\nc\n", Err(Inexpressible::Encoding)),
            (Strict, b"\xff\n1\n2\n3\nb\n", b"\xff\n1\n2\n3\nc\n", Ok("@@\n 1\n 2\n 3\n-b\n+c\n")),
            (
                Strict,
                b"\xff\n1\n2\n3\nb\n",
                b"\xff\n1\n2\n3\n\xc3\xa9\n",
                Err(Inexpressible::Encoding),
            ),
            (Strict, b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n", Ok("@@\n-a\n+b\n")),
            (Strict, b"\xef\xbb\xbfa\n", b"a\n", Ok("@@\n-\u{feff}a\n+a\n")),
            (Strict, b"a\n", b"\xef\xbb\xbfa\n", Ok("@@\n-a\n+\u{feff}a\n")),
            (Strict, b"\xef\xbb\xbf", b"a\n", Err(Inexpressible::ByteOrderMark)),
        ] {
            let wanted = wanted.map(|body| format!("*** Update File: f\n{body}"));
            let old = TreeFile::bytes(before);
            let new = TreeFile::bytes(after);
            assert_eq!(one(dialect, Some(old), Some(new)), wanted, "{dialect} {old:?} {new:?}");
        }
        assert_eq!(
            one(Strict, Some(TreeFile::text("a\n")), Some(TreeFile::text("a\n"))).as_deref(),
            Ok("")
        );
    }

    #[test]
    fn shows_the_function_as_git_does_and_the_end_of_the_file() {
        let before = "fn a() {\n  1\n}\nfn b() {\n  1\n  2\n  3\n  4\n}\n";
        let after = before.replace("  4", "  5");
        let style = Style { context: 1, headers: true, end_of_file: true, ..Style::default() };
        let hunks = write_hunks(before.as_bytes(), after.as_bytes(), &style);
        assert_eq!(hunks.as_deref(), Ok("@@ fn b() {\n   3\n-  4\n+  5\n }\n*** End of File\n"));
    }

    #[test]
    fn moves_what_has_the_same_bytes() {
        let text = "same\nsame\nend\n";
        let before = Tree::from([("a", TreeFile::text(text))]);
        let after = Tree::from([("d/b", TreeFile::text(text))]);
        let strict = "*** Begin Patch\n*** Update File: a\n*** Move to: d/b\n*** End Patch\n";
        assert_eq!(write_patch(&before, &after, &style(Profile::Strict)).as_deref(), Ok(strict));
        let codex = "*** Begin Patch\n*** Update File: a\n*** Move to: d/b\n@@\n same\n same\n\
                     *** End Patch\n";
        let narrow = Style { context: 1, ..style(Profile::Codex) };
        assert_eq!(
            write_patch(&before, &after, &narrow).as_deref(),
            Ok(codex),
            "one line would have two places"
        );
    }

    #[test]
    fn names_every_file_that_cannot_be_said() {
        let before = Tree::from([("a", TreeFile::bytes(b"\0")), ("b", TreeFile::text("x\n"))]);
        let after = Tree::from([
            ("a", TreeFile::bytes(b"\0\0")),
            ("b", TreeFile::text("y\n")),
            ("c\n", TreeFile::text("x\n")),
        ]);
        let inexpressible =
            write_patch(&before, &after, &Style::default()).expect_err("two of them");
        let messages: Vec<_> = inexpressible.iter().map(ToString::to_string).collect();
        assert_eq!(messages, ["a: it is binary", "c\n: a patch cannot name this path"]);
    }

    fn is_text(byte: &&u8) -> bool {
        !matches!(byte, b'\r' | b'\n')
    }

    /// Whether texts differ in line ends alone.
    fn are_alike(one: &[u8], other: &[u8]) -> bool {
        one.iter().filter(is_text).eq(other.iter().filter(is_text))
    }

    fn hunks_of(patch: &Patch) -> &[Hunk<'_>] {
        patch.sections()[0].hunks()
    }

    /// Whether a hunk removes a line and inserts it again. Such a line keeps its end in the file.
    fn keeps(hunk: &Hunk<'_>) -> bool {
        let lines = &hunk.lines;
        lines
            .iter()
            .filter(|old| old.kind == LineKind::Delete)
            .any(|old| lines.iter().any(|new| new.kind == LineKind::Insert && new.text == old.text))
    }

    /// Whether all lines that a hunk leaves stand in these lines of a text.
    fn stands(text: &[u8], lines: &std::ops::RangeInclusive<usize>, hunk: &Hunk<'_>) -> bool {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let stand = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        let stand: Vec<_> = stand.skip(lines.start() - 1).take(lines.clone().count()).collect();
        let new = hunk.lines.iter().filter(|line| line.kind != LineKind::Delete);
        let new: Vec<_> = new.map(|line| line.text.trim_ascii_end()).collect();
        !new.is_empty() && stand == new
    }

    const LINES: [&[u8]; 11] =
        [b"a", b"b", b"c", b"", b" a", b"fn", b"\xc3\xa9", b"@f", b"\xff", b"x\r", b" }"];
    const ENDINGS: [&[&[u8]]; 3] = [&[b"\n"], &[b"\r\n"], &[b"\n", b"\r\n"]];

    /// The text of a line and its terminator.
    type DrawnLine = (Index, Index);

    /// The place of an edit, the number of lines that go, and the lines that come.
    type DrawnEdit = (Index, usize, Vec<DrawnLine>);

    /// The number of texts for lines, the terminators, the old lines, and the edits.
    type DrawnFile = (usize, &'static [&'static [u8]], Vec<DrawnLine>, Vec<DrawnEdit>);

    /// Whether the last line of a side has no end, and whether the side begins with a mark.
    type DrawnEnds = (bool, bool);

    /// A change of a file, and a style for its patch.
    #[derive(Debug)]
    struct Case {
        old: Vec<u8>,
        new: Vec<u8>,
        style: Style,
    }

    fn cases() -> impl Strategy<Value = Case> {
        let edits = vec((any::<Index>(), 0..3_usize, vec(any::<DrawnLine>(), 0..3)), 1..=3);
        let files = (2..=LINES.len(), select(&ENDINGS[..]), vec(any::<DrawnLine>(), 0..9), edits);
        let side = (weighted(0.25), weighted(0.125));
        let dialects = select(&[Profile::Strict, Profile::Codex][..]);
        let style = (dialects, 0..4_usize, any::<bool>(), any::<bool>()).prop_map(
            |(dialect, context, headers, end_of_file)| Style {
                dialect,
                context,
                headers,
                end_of_file,
            },
        );
        (files, [side, side], style).prop_map(|(file, ends, style)| Case::of(&file, ends, style))
    }

    /// The outcome of a written patch.
    #[derive(Clone, Copy)]
    enum Outcome {
        Right,
        Refused,
        Inexpressible,
    }

    impl Case {
        fn of(file: &DrawnFile, ends: [DrawnEnds; 2], style: Style) -> Self {
            let (alphabet, endings, old, edits) = file;
            let texts = &LINES[..*alphabet];
            let mut old = drawn(texts, endings, old);
            let mut new = old.clone();
            for (at, gone, come) in edits {
                let at = at.index(new.len() + 1);
                let gone = (*gone).min(new.len() - at);
                new.splice(at..at + gone, drawn(texts, endings, come));
            }
            for (side, (open, mark)) in [&mut old, &mut new].into_iter().zip(ends) {
                if let Some(last) = side.last_mut().filter(|_| open) {
                    last.pop();
                }
                if mark {
                    side.insert(0, BOM.to_vec());
                }
            }
            Self { old: old.concat(), new: new.concat(), style }
        }

        /// Writes the hunks, and applies them to the old file; `None` if nothing changes.
        fn outcome(&self) -> Option<Outcome> {
            let Self { old, new, style } = self;
            let Ok(hunks) = write_hunks(old, new, style) else {
                return Some(Outcome::Inexpressible);
            };
            if hunks.is_empty() {
                assert_eq!(old, new);
                return None;
            }
            let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
            let options = Options::new(style.dialect);
            let patch = patch_engine::parse(&text, &options.parse)
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            let hunks = hunks_of(&patch);
            match patch_engine::edit(old, hunks, &options.placement, options.final_newline) {
                Ok(edit) => {
                    let found = edit.apply(old);
                    if found != *new && are_alike(&found, new) && hunks.iter().any(keeps) {
                        return Some(Outcome::Inexpressible);
                    }
                    assert_eq!(
                        found.escape_ascii().to_string(),
                        new.escape_ascii().to_string(),
                        "{text:?}"
                    );
                    Some(Outcome::Right)
                }
                Err(rejects) => {
                    let fits = rejects.iter().any(|reject| self.is_expected(reject, hunks));
                    assert!(fits, "{rejects:?}\n{text:?}");
                    Some(Outcome::Refused)
                }
            }
        }

        /// Whether a hunk may be refused: it has several places, or is applied already.
        fn is_expected(&self, reject: &HunkReject, hunks: &[Hunk<'_>]) -> bool {
            match &reject.reason {
                RejectReason::MultipleMatches { .. }
                | RejectReason::OverlappingEdits { .. }
                | RejectReason::OutsideScope { .. } => true,
                RejectReason::AlreadyApplied { lines } => {
                    stands(&self.old, lines, &hunks[reject.hunk])
                }
                _ => false,
            }
        }
    }

    fn drawn(texts: &[&[u8]], endings: &[&[u8]], lines: &[DrawnLine]) -> Vec<Vec<u8>> {
        lines.iter().map(|(text, end)| [*text.get(texts), *end.get(endings)].concat()).collect()
    }

    /// Write, parse, place, splice: the post-image, byte for byte, unless the hunks have several
    /// places.
    #[test]
    fn what_is_written_gives_the_post_image() {
        let counts = [const { Cell::new(0_u32) }; 3];
        holds(share(40_000), &cases(), |case| {
            if let Some(outcome) = case.outcome() {
                let count = &counts[outcome as usize];
                count.set(count.get() + 1);
            }
        });
        let [right, refused, inexpressible] = counts.map(Cell::into_inner);
        let enough = [(right, 15_000), (refused, 500), (inexpressible, 1_000)]
            .iter()
            .all(|(found, all)| *found > share(*all));
        assert!(enough, "{right} {refused} {inexpressible}");
    }
}
