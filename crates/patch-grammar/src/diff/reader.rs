//! Reads the lines of a diff, one file after the other.

use std::ops::Range;

use super::header::{BINARY_PATCH, GitLine};
use super::stamp;
use crate::ast::Shortfall;
use crate::binary::{BinaryKind, decode_line};
use crate::error::{ParseErrorKind, Warning, WarningKind};
use crate::lines::{Lines, is_combined};
use crate::mail::{begins_mail, cover_letter, is_hash};
use crate::outside::{self, COMMANDS, SubmoduleLine, binary_file, submodule};
use crate::quoted::{RawPath, ShortName, of_git_header, stripped, unquoted, without};

/// Returns whether a file begins at line `at`; `line` returns the lines.
pub(crate) fn begins<'l>(line: impl Fn(usize) -> &'l [u8], at: usize) -> bool {
    line(at).starts_with(b"diff --git ")
        || (line(at).starts_with(b"--- ") && line(at + 1).starts_with(b"+++ "))
}

/// Returns whether a change of a diff begins at line `at`: a file, or a change that cannot be
/// applied.
pub(crate) fn opens<'l>(line: impl Fn(usize) -> &'l [u8], at: usize) -> bool {
    let text = line(at);
    match text.first() {
        Some(b'-') => begins(line, at),
        Some(b'd') => COMMANDS.iter().any(|command| text.starts_with(command)),
        Some(b'B') => binary_file(text).is_some(),
        Some(b'S') => submodule(text).is_some(),
        _ => false,
    }
}

/// Returns whether a change begins at line `at` of the message of a mail or a commit. There prose
/// may follow two lines that look like the names of a file, as `git apply` has it.
pub(crate) fn opens_in_message<'l>(line: impl Fn(usize) -> &'l [u8] + Copy, at: usize) -> bool {
    let below = line(at + 2);
    let is_prose = line(at).starts_with(b"--- ")
        && !matches!(below.first(), None | Some(b'@' | b'+' | b'-' | b' ' | b'\t' | b'\\'))
        && !opens(line, at + 2)
        && !outside::belongs(line, at + 2)
        && Between::of(line, at + 2).is_none();
    opens(line, at) && !is_prose
}

/// A line of the diff outside all files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    /// It stands for itself: an empty line, or what a program writes before each file.
    Line,
    /// The first line of a mail, a commit or properties: all up to the next file belong to it.
    Text,
}

impl Between {
    /// Recognizes line `at`.
    pub(crate) fn of<'l>(line: impl Fn(usize) -> &'l [u8], at: usize) -> Option<Self> {
        /// The lines of diff, git, svn, cvs, hg and bzr.
        const LINES: [&[u8]; 15] = [
            b"diff -",
            CANNOT_DISPLAY,
            MIME_TYPE,
            b"Only in ",
            b"Common subdirectories: ",
            b"RCS file: ",
            b"retrieving revision ",
            b"=== modified file ",
            b"=== added file ",
            b"=== removed file ",
            b"=== renamed file ",
            b"=== modified directory ",
            b"=== added directory ",
            b"=== removed directory ",
            b"=== renamed directory ",
        ];
        let text = line(at);
        match text.first() {
            None => Some(Self::Line),
            _ if text.trim_ascii().is_empty() => Some(Self::Line),
            Some(b'=') if text.len() >= 5 && text.iter().all(|&byte| byte == b'=') => {
                Some(Self::Line)
            }
            Some(b'F') if begins_mail(text) => Some(Self::Text),
            Some(b'c') if is_hash(text.strip_prefix(b"commit ")?, b' ') => Some(Self::Text),
            Some(b'#') if text == b"# HG changeset patch" => Some(Self::Text),
            Some(b'P') if text.starts_with(b"Property changes on: ") => Some(Self::Text),
            Some(b'-') if is_signature(&line, at) => Some(Self::Text),
            Some(b'd') if text.starts_with(b"diff ") && line(at + 1).starts_with(b"--- ") => {
                Some(Self::Line)
            }
            Some(b'I') if text.starts_with(b"Index: ") => {
                // Without the rule, a line of prose.
                line(at + 1).starts_with(b"=====").then_some(Self::Line)
            }
            _ => LINES.iter().any(|words| text.starts_with(words)).then_some(Self::Line),
        }
    }
}

/// Returns whether what stands between two files of a text parts two diffs: the end of a mail, or
/// the beginning of one or of a commit.
pub(super) fn parts_diffs(between: &[u8]) -> bool {
    let lines = Lines::new(between, 0..between.len());
    let line = |at: usize| if at < lines.len() { lines.get(at) } else { b"" };
    (0..lines.len()).any(|at| {
        Between::of(line, at) == Some(Between::Text) && !line(at).starts_with(b"Property ")
    })
}

/// Returns whether a mail signature begins at line `at`, which looks like a deleted line.
fn is_signature<'l>(line: impl Fn(usize) -> &'l [u8], at: usize) -> bool {
    matches!(line(at), b"--" | b"-- ")
        && !matches!(line(at + 1).first(), Some(b'+' | b'-' | b' ' | b'@'))
}

/// Returns the end of the diff from line `at` on: its files, and its own lines between and after
/// them. After an error the end of the text counts, so that every reader finds the same error.
pub(crate) fn extent(lines: &Lines<'_>, at: usize) -> usize {
    let mut reader = Reader::new(lines, None, usize::MAX);
    reader.at = at;
    reader.quiet = true;
    reader.skip_binary = true;
    loop {
        match reader.next() {
            Ok(Some(_)) => {}
            Ok(None) => return at,
            Err(_) => return lines.len(),
        }
        let (next, end) = reader.between(reader.at);
        match next {
            Some(next) => reader.at = next,
            None => return end,
        }
    }
}

/// The line of Subversion in place of the hunks of a binary file.
const CANNOT_DISPLAY: &[u8] = b"Cannot display: ";

/// The line below.
const MIME_TYPE: &[u8] = b"svn:mime-type = ";

/// A file of a diff, or a file left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FoundFile {
    File(Box<DiffFile>),
    LeftOut,
}

/// One file of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffFile {
    pub(super) path: Name,
    /// The other name that a diff has for the file without saying that the file moves.
    pub(super) old_name: Option<Name>,
    pub(super) operation: DiffOperation,
    pub(super) executable: Option<bool>,
    pub(super) link: bool,
    pub(super) hunks: Vec<HunkPart>,
    pub(super) binary: Option<BinaryParts>,
    /// The places of a submodule's commit ids, before and afterwards; `None` for other files.
    pub(super) submodule: Option<SubmoduleIds>,
    /// The ids of the old and the new file in git.
    pub(super) ids: Option<(Range<usize>, Range<usize>)>,
    pub(super) span: Range<usize>,
}

impl DiffFile {
    /// Returns whether the change makes the file.
    pub(super) fn is_new(&self) -> bool {
        match &self.operation {
            DiffOperation::Add => true,
            DiffOperation::Update { to: None } => {
                matches!(&self.hunks[..], [hunk] if hunk.from_nothing)
            }
            DiffOperation::Update { to: Some(_) } => false,
            DiffOperation::Delete | DiffOperation::Copy { .. } => false,
        }
    }
}

/// Where the ids of a submodule's commits stand; `None` where there is none.
pub(super) type SubmoduleIds = (Option<Range<usize>>, Option<Range<usize>>);

/// Where the parts of a binary file stand, and its ids in git, old and new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BinaryParts {
    pub(super) forward: PartLines,
    pub(super) reverse: Option<PartLines>,
    pub(super) old_id: Option<Range<usize>>,
    pub(super) new_id: Option<Range<usize>>,
}

/// Where a part of a binary file stands, and what its first line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartLines {
    pub(super) kind: BinaryKind,
    pub(super) size: u64,
    pub(super) base85: Range<usize>,
    pub(super) line: u32,
}

/// A path and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) span: Range<usize>,
    pub(super) line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiffOperation {
    Add,
    Delete,
    Update { to: Option<Name> },
    Copy { to: Name },
}

/// Where a hunk stands, and what its first line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HunkPart {
    pub(super) old_start: Option<u32>,
    pub(super) new_start: Option<u32>,
    /// The text after the numbers.
    pub(super) heading: Option<Range<usize>>,
    /// The lines; of a new file without the empty ones that lack a sign.
    pub(super) body: Range<usize>,
    pub(super) separators: usize,
    pub(super) span: Range<usize>,
    pub(super) line: u32,
    /// The missing lines; the ids of the file are not known yet.
    pub(super) shortfall: Option<Shortfall<'static>>,
    /// The numbers say that the file was empty, or will be.
    from_nothing: bool,
    to_nothing: bool,
}

/// A fault and its place.
#[derive(Debug)]
pub(super) struct DiffFailure {
    /// 0-based.
    pub(super) line: usize,
    /// The byte of the line.
    pub(super) within: usize,
    pub(super) kind: ParseErrorKind,
    pub(super) expected: &'static str,
}

/// The line between two diffs joined to one text: they [are parted](super::are_parted) there.
pub const NEXT_DIFF: &[u8] = b"# HG changeset patch\n";

/// The missing text of a hunk that was cut off.
pub(super) const REST_OF_HUNK: &str = "the rest of the hunk";

const DIFF_GIT: &[u8] = b"diff --git ";

const BODY: &str = "a blank, `-` or `+` at the beginning of the line";

/// Reads the files of a diff.
#[derive(Debug)]
pub(super) struct Reader<'l, 't> {
    lines: &'l Lines<'t>,
    /// The next line to read.
    at: usize,
    strip: Option<usize>,
    /// How many files there may be, and how many were begun.
    most: usize,
    files: usize,
    pub(super) warnings: Vec<Warning>,
    /// Whether all header lines so far end in CRLF; `None` before the first. They tell how the diff
    /// was stored: the terminators of other lines may be the file's.
    pub(super) framed: Option<bool>,
    /// Warnings are not collected.
    quiet: bool,
    /// Binary files without their bytes are left out.
    pub(super) skip_binary: bool,
    /// A binary file without its bytes is a change: the diff is only counted.
    pub(super) counted: bool,
    /// Numbers of hunks that do not fit their lines are ignored.
    pub(super) recount: bool,
    /// Something stood behind the text that shows that it is whole.
    pub(super) ended: bool,
    /// The lines are those of a mail, whose numbers a program wrote.
    mail: bool,
    /// Whether the numbers of all hunks are right but for hunks with a shortfall; `None` before the
    /// first.
    pub(super) others_are_right: Option<bool>,
}

/// A name as it stands in a line.
struct RawName {
    text: RawPath,
    span: Range<usize>,
    line: usize,
    /// Whether the text behind the name says that there is no file on its side.
    absent: bool,
}

/// The names in the `--- ` and `+++ ` lines of a file.
struct NamePair {
    old: RawName,
    new: RawName,
}

impl NamePair {
    /// Leaves out the words of Subversion behind both names, where the tabs before them became
    /// blanks: words that differ are no part of the one name.
    fn leave_out_words(&mut self) {
        let (Some(old), Some(new)) = (&self.old.text, &self.new.text) else { return };
        let lengths = stamp::before_words(old).zip(stamp::before_words(new));
        let Some((left, right)) = lengths else { return };
        // A name in quotes is whole.
        let bare = old.len() == self.old.span.len() && new.len() == self.new.span.len();
        if bare && old[..left] == new[..right] && old != new {
            self.old.shorten(left);
            self.new.shorten(right);
        }
    }
}

/// The rest of a header line after its words, and its first byte in the line.
#[derive(Clone, Copy)]
struct HeaderRest<'t> {
    within: usize,
    text: &'t [u8],
}

/// The mode of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileMode {
    File { executable: bool },
    Link,
    Submodule,
}

impl FileMode {
    fn executable(self) -> Option<bool> {
        match self {
            Self::File { executable } => Some(executable),
            Self::Link | Self::Submodule => None,
        }
    }
}

/// The contents of git's own lines before the hunks.
#[derive(Default)]
struct GitHeader {
    old_mode: Option<FileMode>,
    new_mode: Option<FileMode>,
    created: Option<FileMode>,
    deleted: Option<FileMode>,
    /// That of a file whose mode stays.
    kept: Option<FileMode>,
    copy: bool,
    from: Option<RawName>,
    to: Option<RawName>,
    /// The contents differ, and neither is empty.
    needs_hunks: bool,
    /// The ids of both files.
    ids: Option<(Range<usize>, Range<usize>)>,
}

impl<'l, 't> Reader<'l, 't> {
    pub(super) fn new(lines: &'l Lines<'t>, strip: Option<usize>, most: usize) -> Self {
        Self {
            lines,
            at: lines.first(),
            strip,
            most,
            files: 0,
            warnings: Vec::new(),
            framed: None,
            quiet: false,
            skip_binary: false,
            counted: false,
            recount: false,
            ended: false,
            mail: false,
            others_are_right: None,
        }
    }

    pub(super) fn no_diff(&self) -> DiffFailure {
        self.failure(
            self.lines.first(),
            ParseErrorKind::NoDiff,
            "`diff --git`, or `--- ` and `+++ ` lines",
        )
    }

    fn failure(&self, line: usize, kind: ParseErrorKind, expected: &'static str) -> DiffFailure {
        DiffFailure { line, within: 0, kind, expected }
    }

    fn begins(&self, at: usize) -> bool {
        begins(|at| self.lines.get(at), at)
    }

    /// Takes a header line.
    fn take(&mut self) -> &'t [u8] {
        let crlf = self.lines.whole(self.at).ends_with(b"\r\n");
        self.framed = Some(self.framed.unwrap_or(true) && crlf);
        self.at += 1;
        self.lines.get(self.at - 1)
    }

    fn warn(&mut self, kind: WarningKind, at: usize) {
        if !self.quiet {
            self.warnings.push(Warning { kind, line: number(at) });
        }
    }

    /// Reads the next file, and ignores the text before.
    pub(super) fn next(&mut self) -> Result<Option<FoundFile>, DiffFailure> {
        // Within the message of a mail or a commit.
        let mut message = false;
        while self.at < self.lines.len() {
            let line = self.lines.get(self.at);
            let git = line.starts_with(b"diff --git ");
            let get = |at| self.lines.get(at);
            if let Some(end) = cover_letter(get, self.at, self.lines.len()) {
                self.at = end;
                continue;
            }
            self.mail |= begins_mail(line);
            if git || (self.begins(self.at) && (!message || opens_in_message(get, self.at))) {
                self.count_file()?;
                let found = if git {
                    self.git_file()
                } else {
                    self.plain_file().map(|file| FoundFile::File(Box::new(file)))
                };
                return found.map(Some);
            }
            if COMMANDS[1..].iter().any(|command| line.starts_with(command)) || is_combined(line) {
                return Err(self.failure(
                    self.at,
                    ParseErrorKind::CombinedDiff,
                    "a diff of two files",
                ));
            }
            if let Some(path) = binary_file(line) {
                return self.without_bytes(String::from_utf8_lossy(path).into_owned()).map(Some);
            }
            if let Some(found) = SubmoduleLine::of(line) {
                self.count_file()?;
                return self.submodule_log(&found).map(Some);
            }
            if Numbers::of(line).is_some() {
                let expected = "`--- ` and `+++ ` lines before the hunk";
                return Err(self.failure(self.at, ParseErrorKind::NoFile, expected));
            }
            match Between::of(get, self.at) {
                // Below a signature, or the properties of a file, stands no message.
                Some(Between::Text) => message |= !matches!(line.first(), Some(b'-' | b'P')),
                Some(Between::Line) if line.starts_with(b"Index: ") => {
                    let left_out = self.index()?;
                    if left_out.is_some() {
                        return Ok(left_out);
                    }
                }
                Some(Between::Line) => {}
                // A message may show a patch; anything else that looks like a part of one is one.
                None if !message && !self.is_quoted(line) && outside::belongs(get, self.at) => {
                    let kind = ParseErrorKind::TextOutside {
                        lines: std::iter::once(self.at..self.at + 1).collect(),
                        files: outside::file(line).into_iter().collect(),
                    };
                    return Err(self.failure(self.at, kind, "the header of a file, or prose"));
                }
                None => {}
            }
            if line.starts_with(b"Only in ") || line.starts_with(b"Property changes on: ") {
                self.warn(WarningKind::NotInDiff, self.at);
            }
            self.at += 1;
        }
        Ok(None)
    }

    /// Returns whether a line shows a diff that is quoted, and no hunk above has wrong numbers.
    fn is_quoted(&self, line: &[u8]) -> bool {
        outside::is_quotation(line) && self.others_are_right != Some(false)
    }

    /// Counts a file that begins here.
    fn count_file(&mut self) -> Result<(), DiffFailure> {
        if self.files == self.most {
            let kind = ParseErrorKind::TooManySections { limit: self.most };
            return Err(self.failure(self.at, kind, "the end of the diff"));
        }
        self.files += 1;
        Ok(())
    }

    /// Reads a submodule of `git diff --submodule=log`: a line with both commits, and the titles of
    /// the commits between them.
    fn submodule_log(&mut self, found: &SubmoduleLine<'_>) -> Result<FoundFile, DiffFailure> {
        let first = self.at;
        let line = self.take();
        let path = found.path.to_vec();
        while [&b"  > "[..], b"  < "].iter().any(|sign| self.lines.get(self.at).starts_with(sign)) {
            self.take();
        }
        let start = self.lines.range(first).start;
        let from = start + b"Submodule ".len();
        let raw =
            RawName { span: from..from + path.len(), text: Some(path), line: first, absent: false };
        // The line has no prefix, and one part less.
        let count = self.strip.map_or(0, |count| count.saturating_sub(1));
        let path = self.name(&raw, count)?.expect("BUG: it is not `/dev/null`");
        let (old, new) = &found.ids;
        let operation = match (is_no_commit(&line[old.clone()]), is_no_commit(&line[new.clone()])) {
            (true, false) => DiffOperation::Add,
            (false, true) => DiffOperation::Delete,
            _ => DiffOperation::Update { to: None },
        };
        let old = start + old.start..start + old.end;
        let new = start + new.start..start + new.end;
        let submodule = Some((Some(old), Some(new)));
        let file = self.finish(first, path, operation, None, Vec::new())?;
        Ok(FoundFile::File(Box::new(DiffFile { submodule, ..file })))
    }

    /// Returns the places of a submodule's commit ids: in the lines of its hunk, or, without a
    /// hunk, in the `index` line.
    fn submodule_ids(
        &self,
        first: usize,
        hunks: &[HunkPart],
        ids: Option<&(Range<usize>, Range<usize>)>,
    ) -> Result<SubmoduleIds, DiffFailure> {
        const WORDS: &[u8] = b"Subproject commit ";
        let mut sides = (None, None);
        let hunk = match hunks {
            [] => {
                let (old, new) = ids.cloned().ok_or_else(|| self.bad_submodule(first))?;
                return Ok((Some(old), Some(new)));
            }
            [hunk] => hunk,
            [_, second, ..] => return Err(self.bad_submodule(second.line as usize - 1)),
        };
        let mut at = hunk.line as usize;
        while self.lines.range(at).start < hunk.body.end {
            let line = self.lines.get(at);
            let side = match line.first() {
                Some(b'-') => &mut sides.0,
                Some(b'+') => &mut sides.1,
                _ if line.trim_ascii().is_empty() => {
                    at += 1;
                    continue;
                }
                _ => return Err(self.bad_submodule(at)),
            };
            // git marks one whose files have changes as `-dirty`.
            let id =
                line[1..].strip_prefix(WORDS).map(|id| id.strip_suffix(b"-dirty").unwrap_or(id));
            let id = id.filter(|id| {
                side.is_none() && !id.is_empty() && id.iter().all(u8::is_ascii_hexdigit)
            });
            let id = id.ok_or_else(|| self.bad_submodule(at))?;
            let start = self.lines.range(at).start + 1 + WORDS.len();
            *side = Some(start..start + id.len());
            at += 1;
        }
        Ok(sides)
    }

    fn bad_submodule(&self, at: usize) -> DiffFailure {
        let expected = "`-Subproject commit` and `+Subproject commit`, with the ids";
        self.failure(at, ParseErrorKind::BadSubmodule, expected)
    }

    /// Leaves out the file of this line, whose bytes are missing, or refuses the diff.
    fn without_bytes(&mut self, path: String) -> Result<FoundFile, DiffFailure> {
        if !self.skip_binary {
            let expected = "`GIT binary patch`, as `git diff --binary` writes it";
            return Err(self.failure(self.at, ParseErrorKind::BinaryDiff { path }, expected));
        }
        self.warn(WarningKind::BinaryLeftOut { path }, self.at);
        self.at += 1;
        Ok(FoundFile::LeftOut)
    }

    /// Checks that the file of an `Index:` line follows, or is left out.
    fn index(&mut self) -> Result<Option<FoundFile>, DiffFailure> {
        let mut at = self.at + 1;
        let get = |at| self.lines.get(at);
        while !get(at).is_empty()
            && !opens(get, at)
            && !get(at).starts_with(CANNOT_DISPLAY)
            && !get(at).starts_with(b"Index: ")
            && Between::of(get, at) == Some(Between::Line)
        {
            at += 1;
        }
        if opens(get, at) {
            return Ok(None);
        }
        if get(at).starts_with(CANNOT_DISPLAY) {
            let path = get(self.at).strip_prefix(b"Index: ").unwrap_or_default();
            let path = String::from_utf8_lossy(path).into_owned();
            self.at = at;
            return self.without_bytes(path).map(Some);
        }
        let expected = "`--- `, `+++ ` and `@@` lines below";
        Err(self.failure(self.at, ParseErrorKind::FileWithoutHunks, expected))
    }

    /// Looks for the next file from a line on, past other lines of the diff. Returns the file's
    /// line, or else the end of these lines.
    fn between(&self, from: usize) -> (Option<usize>, usize) {
        let get = |at| self.lines.get(at);
        let mut at = from;
        let mut end = from;
        while at < self.lines.len() {
            if opens(get, at) {
                return (Some(at), end);
            }
            if let Some(next) = cover_letter(get, at, self.lines.len()) {
                at = next;
                continue;
            }
            match Between::of(get, at) {
                Some(Between::Text) if is_signature(get, at) => {
                    at += 1;
                    let is_version =
                        !opens(get, at) && Between::of(get, at).is_none() && !is_fence(get(at));
                    at += usize::from(is_version);
                }
                Some(Between::Text) => {
                    let mut below = at + 1..self.lines.len();
                    let stop = below.find(|&at| {
                        let line = get(at);
                        opens_in_message(get, at) || is_fence(line) || begins_mail(line)
                    });
                    at = stop.unwrap_or(self.lines.len());
                }
                Some(Between::Line) => at += 1,
                None => match self.next_mail(at) {
                    Some(next) => at = next,
                    None => return (None, end),
                },
            }
            if !get(at - 1).trim_ascii().is_empty() {
                end = at;
            }
        }
        (None, end)
    }

    /// Returns the next mail of a series behind the trailers of one, which begin at a line: what
    /// they show belongs to no file. Anything that looks like a part of a patch ends the series.
    fn next_mail(&self, from: usize) -> Option<usize> {
        if !self.mail {
            return None;
        }
        let get = |at| self.lines.get(at);
        let mut below = from..self.lines.len();
        let stop = below.find(|&at| {
            let line = get(at);
            let is_part = !self.is_quoted(line) && outside::belongs(get, at);
            begins_mail(line) || is_part || opens(get, at) || is_fence(line)
        });
        stop.filter(|&at| begins_mail(get(at)))
    }

    /// Reads a file of a plain unified diff.
    fn plain_file(&mut self) -> Result<DiffFile, DiffFailure> {
        let first = self.at;
        let NamePair { old, new } = self.names()?;
        let hunks = self.hunks()?;
        let mut parts = hunks.iter();
        let is_new = old.text.is_none()
            || (old.absent && parts.all(|hunk| hunk.from_nothing || self.has_only(b'+', hunk)));
        let mut parts = hunks.iter();
        let is_gone = new.text.is_none()
            || (new.absent && parts.all(|hunk| hunk.to_nothing || self.has_only(b'-', hunk)));
        let (left, right) = self.without_prefixes(&old, &new, None)?;
        let (path, other, operation) = match (left, right) {
            (old, Some(new)) if is_new => (new, old, DiffOperation::Add),
            (Some(old), _) if is_gone => (old, None, DiffOperation::Delete),
            (old, Some(new)) => (new, old, DiffOperation::Update { to: None }),
            _ => return Err(self.failure(first, ParseErrorKind::NoPath, "a path")),
        };
        let old_name = other.filter(|other| other.text != path.text);
        Ok(DiffFile { old_name, ..self.finish(first, path, operation, None, hunks)? })
    }

    /// Returns whether all lines of a hunk without right numbers have this sign.
    fn has_only(&self, sign: u8, hunk: &HunkPart) -> bool {
        let lines = (hunk.line as usize..)
            .take_while(|&at| at < self.lines.len() && self.lines.range(at).start < hunk.body.end);
        let mut signs = lines.filter_map(|at| self.lines.get(at).first());
        hunk.old_start.is_none() && signs.all(|&first| first == sign || first == b'\\')
    }

    /// Reads a file of a git diff.
    fn git_file(&mut self) -> Result<FoundFile, DiffFailure> {
        let first = self.at;
        let header = &self.take()[DIFF_GIT.len()..];
        let named = of_git_header(header, self.strip);
        let shown = named.clone().unwrap_or_else(|| header.to_vec());
        let head = self.git_header()?;
        let line = self.lines.get(self.at);
        let without_bytes = binary_file(line);
        let is_counted = self.counted && !self.skip_binary && without_bytes.is_some();
        if is_counted {
            self.take();
        } else if let Some(path) = without_bytes {
            let path = named.as_deref().unwrap_or(path);
            return self.without_bytes(String::from_utf8_lossy(path).into_owned());
        }
        let binary = if line == BINARY_PATCH { Some(self.binary(&head)?) } else { None };
        let pair = if self.begins(self.at) && line.starts_with(b"--- ") {
            Some(self.names()?)
        } else {
            None
        };
        let hunks =
            if pair.is_some() || Numbers::of(line).is_some() { self.hunks()? } else { Vec::new() };
        let kind = self.kind(first, &head, &String::from_utf8_lossy(&shown))?;
        let is_submodule = kind == Some(FileMode::Submodule);
        // The id tells which file is deleted.
        let is_unseen = head.deleted.is_some()
            && pair.is_none()
            && head.ids.is_some()
            && kind != Some(FileMode::Link);
        let is_bare = hunks.is_empty() && binary.is_none() && !is_submodule && !is_counted;
        if is_bare && head.needs_hunks && !is_unseen {
            let expected = "`--- `, `+++ ` and `@@` lines";
            return Err(self.failure(self.at, ParseErrorKind::FileWithoutHunks, expected));
        }
        let submodule = match kind {
            Some(FileMode::Submodule) => {
                Some(self.submodule_ids(first, &hunks, head.ids.as_ref())?)
            }
            _ => None,
        };
        self.check_move(&head, is_submodule)?;
        if let Some(pair) = &pair {
            self.check_pair(pair, &head, named.as_deref())?;
        }
        let (old, new) = self.git_names(first, &head, pair.as_ref(), named)?;
        let GitChange { path, old_name, operation } =
            self.git_change(first, &head, pair.as_ref(), old, new)?;
        let executable = head.executable(&operation);
        let mut file = self.finish(first, path, operation, executable, hunks)?;
        if is_submodule {
            // The ids say all.
            file.hunks.clear();
        }
        let link = kind == Some(FileMode::Link);
        let ids = head.ids;
        Ok(FoundFile::File(Box::new(DiffFile { old_name, link, binary, submodule, ids, ..file })))
    }

    /// Checks that a moved file is neither a submodule nor made or deleted.
    fn check_move(&self, head: &GitHeader, is_submodule: bool) -> Result<(), DiffFailure> {
        let Some(to) = &head.to else { return Ok(()) };
        let expected = if is_submodule {
            "a submodule at one path"
        } else if head.created.or(head.deleted).is_some() {
            "one of a new file, a deleted file, a rename and a copy"
        } else {
            return Ok(());
        };
        Err(self.failure(to.line, ParseErrorKind::Contradiction, expected))
    }

    /// Checks that the `--- ` and `+++ ` lines name the same files as git's own lines.
    fn check_pair(
        &self,
        pair: &NamePair,
        head: &GitHeader,
        named: Option<&[u8]>,
    ) -> Result<(), DiffFailure> {
        let (old, new) = match (&head.from, &head.to) {
            (Some(from), Some(to)) => (from.text.as_deref(), to.text.as_deref()),
            _ => (named, named),
        };
        self.check_same(&pair.old, old)?;
        self.check_same(&pair.new, new)
    }

    /// Returns the names of the two sides of a git diff; `named` is the name of both in the first
    /// line.
    fn git_names(
        &self,
        first: usize,
        head: &GitHeader,
        pair: Option<&NamePair>,
        named: RawPath,
    ) -> Result<(Option<Name>, Option<Name>), DiffFailure> {
        match (&head.from, &head.to, pair) {
            // These lines have no prefix, and one part less.
            (Some(from), Some(to), _) => {
                let count = self.strip.map_or(0, |count| count.saturating_sub(1));
                Ok((self.name(from, count)?, self.name(to, count)?))
            }
            (None, None, Some(pair)) => {
                self.without_prefixes(&pair.old, &pair.new, named.as_deref())
            }
            (None, None, None) if named.is_some() => {
                let start = self.lines.range(first).start + DIFF_GIT.len();
                let length = self.lines.get(first).len() - DIFF_GIT.len();
                let span = start..start + length;
                let raw = RawName { text: named, span, line: first, absent: false };
                let name = self.name(&raw, 0)?;
                Ok((name.clone(), name))
            }
            (None, None, None) => {
                let expected = "the same path twice, after `a/` and `b/`";
                Err(DiffFailure {
                    within: DIFF_GIT.len(),
                    ..self.failure(first, ParseErrorKind::BadPath, expected)
                })
            }
            _ => {
                let expected = "both paths of the rename or copy";
                Err(self.failure(first, ParseErrorKind::NoPath, expected))
            }
        }
    }

    /// Returns the change of a file from the names of its two sides.
    fn git_change(
        &self,
        first: usize,
        head: &GitHeader,
        pair: Option<&NamePair>,
        old: Option<Name>,
        new: Option<Name>,
    ) -> Result<GitChange, DiffFailure> {
        let is_new = head.created.is_some() || pair.is_some_and(|pair| pair.old.text.is_none());
        let is_gone = head.deleted.is_some() || pair.is_some_and(|pair| pair.new.text.is_none());
        let mut old_name = None;
        let (path, operation) = match (old, new) {
            (_, Some(new)) if is_new => (new, DiffOperation::Add),
            (Some(old), _) if is_gone => (old, DiffOperation::Delete),
            (Some(old), Some(new)) if head.copy => (old, DiffOperation::Copy { to: new }),
            (Some(old), Some(new)) if head.from.is_some() && old.text != new.text => {
                (old, DiffOperation::Update { to: Some(new) })
            }
            // As `git diff --no-index` names two files.
            (old, Some(new)) => {
                old_name = old.filter(|old| old.text != new.text);
                (new, DiffOperation::Update { to: None })
            }
            _ => return Err(self.failure(first, ParseErrorKind::NoPath, "a path")),
        };
        Ok(GitChange { path, old_name, operation })
    }

    /// Reads the parts of a binary file.
    fn binary(&mut self, head: &GitHeader) -> Result<BinaryParts, DiffFailure> {
        self.take();
        let Some(forward) = self.binary_part()? else {
            let expected = "`literal` or `delta`, and the number of bytes";
            return Err(self.failure(self.at, ParseErrorKind::BadBinary, expected));
        };
        let reverse = self.binary_part()?;
        let (old_id, new_id) = head.ids.clone().unzip();
        Ok(BinaryParts { forward, reverse, old_id, new_id })
    }

    /// Reads a part of a binary file, and the empty line behind it, if one begins here.
    fn binary_part(&mut self) -> Result<Option<PartLines>, DiffFailure> {
        let Some((kind, size)) = BinaryKind::of_line(self.lines.get(self.at)) else {
            return Ok(None);
        };
        let line = number(self.at);
        self.take();
        let first = self.at;
        let mut bytes = Vec::new();
        while self.at < self.lines.len() && !self.lines.get(self.at).is_empty() {
            bytes.clear();
            if decode_line(self.lines.get(self.at), &mut bytes).is_none() {
                let expected = "a line of base 85, or an empty one";
                return Err(self.failure(self.at, ParseErrorKind::BadBinary, expected));
            }
            self.at += 1;
        }
        let base85 = self.lines.range(first).start..self.lines.range(self.at).start;
        self.at = (self.at + 1).min(self.lines.len());
        Ok(Some(PartLines { kind, size, base85, line }))
    }

    /// Checks that a name in a `--- ` or `+++ ` line is the same file as in git's own lines. Any
    /// prefix is fine.
    fn check_same(&self, side: &RawName, named: Option<&[u8]>) -> Result<(), DiffFailure> {
        let Some(text) = &side.text else { return Ok(()) };
        let Some(named) = named else { return Ok(()) };
        let before = text.strip_suffix(named);
        if before.is_some_and(|before| before.is_empty() || before.ends_with(b"/")) {
            return Ok(());
        }
        let expected = "the file of the `diff --git` line";
        Err(DiffFailure {
            within: 4,
            ..self.failure(side.line, ParseErrorKind::Contradiction, expected)
        })
    }

    /// Reads the lines between `diff --git` and the hunks.
    fn git_header(&mut self) -> Result<GitHeader, DiffFailure> {
        let mut head = GitHeader::default();
        loop {
            let at = self.at;
            let line = self.lines.get(at);
            let Some((kind, within)) = GitLine::of(line) else { return Ok(head) };
            let rest = HeaderRest { within, text: &line[within..] };
            match kind {
                GitLine::OldMode => head.old_mode = Some(self.mode(at, rest)?),
                GitLine::NewMode => head.new_mode = Some(self.mode(at, rest)?),
                GitLine::Created => head.created = Some(self.mode(at, rest)?),
                GitLine::Deleted => head.deleted = Some(self.mode(at, rest)?),
                GitLine::MovedFrom => head.from = Some(self.header_name(at, rest)?),
                GitLine::MovedTo => head.to = Some(self.header_name(at, rest)?),
                GitLine::CopiedFrom => {
                    head.copy = true;
                    head.from = Some(self.header_name(at, rest)?);
                }
                GitLine::CopiedTo => {
                    head.copy = true;
                    head.to = Some(self.header_name(at, rest)?);
                }
                GitLine::Ids => self.ids(&mut head, at, rest)?,
                GitLine::Similarity | GitLine::Dissimilarity => {}
            }
            self.take();
        }
    }

    /// Reads the ids of both files, and the mode of one whose mode stays.
    fn ids(
        &self,
        head: &mut GitHeader,
        at: usize,
        rest: HeaderRest<'_>,
    ) -> Result<(), DiffFailure> {
        let HeaderRest { within, text: rest } = rest;
        let hashes = rest.split(|&byte| byte == b' ').next().unwrap_or_default();
        let (old, new) = memchr::memmem::find(hashes, b"..")
            .map_or((hashes, hashes), |dots| (&hashes[..dots], &hashes[dots + 2..]));
        head.needs_hunks |= old != new && ![old, new].iter().any(|hash| is_empty_blob(hash));
        let start = self.lines.range(at).start + within;
        if is_id(old) && is_id(new) && old.len() + new.len() + 2 == hashes.len() {
            let behind = start + hashes.len();
            head.ids = Some((start..start + old.len(), behind - new.len()..behind));
        }
        if let Some(text) = rest.get(hashes.len() + 1..) {
            let rest = HeaderRest { within: within + hashes.len() + 1, text };
            head.kept = Some(self.mode(at, rest)?);
        }
        Ok(())
    }

    /// Reads the name in a line from a byte on.
    fn header_name(&mut self, at: usize, rest: HeaderRest<'_>) -> Result<RawName, DiffFailure> {
        let HeaderRest { within, text } = rest;
        let start = self.lines.range(at).start + within;
        let span = start..start + text.len();
        let text = if text.starts_with(b"\"") {
            unquoted(text).map(|(name, _)| name)
        } else {
            Some(text.to_vec())
        };
        if text.is_none() {
            let failure = self.failure(at, ParseErrorKind::BadPath, "a path");
            return Err(DiffFailure { within, ..failure });
        }
        Ok(RawName { text, span, line: at, absent: false })
    }

    /// Returns the kind of a file by its modes, if the file is no plain one. git shows a file that
    /// becomes something else as deleted and created.
    fn kind(
        &self,
        first: usize,
        head: &GitHeader,
        path: &str,
    ) -> Result<Option<FileMode>, DiffFailure> {
        let GitHeader { old_mode, new_mode, created, deleted, kept, .. } = head;
        let mut modes = [old_mode, new_mode, created, deleted, kept].into_iter().flatten().copied();
        let special = modes.clone().find(|mode| mode.executable().is_none());
        if special.is_some_and(|special| modes.any(|mode| mode != special)) {
            let kind = ParseErrorKind::Symlink { path: path.to_owned() };
            return Err(self.failure(first, kind, "one kind of file"));
        }
        Ok(special)
    }

    /// Reads the mode of a file.
    fn mode(&self, at: usize, rest: HeaderRest<'_>) -> Result<FileMode, DiffFailure> {
        const EXPECTED: &str = "100644, 100755, 120000 or 160000";
        let HeaderRest { within, text } = rest;
        let mode = std::str::from_utf8(text)
            .ok()
            .and_then(|text| u32::from_str_radix(text.trim_end(), 8).ok());
        let kind = match mode.map(|mode| mode & 0o170_000) {
            Some(0o100_000) => {
                return Ok(FileMode::File {
                    executable: mode.is_some_and(|mode| mode & 0o100 != 0),
                });
            }
            Some(0o120_000) => return Ok(FileMode::Link),
            Some(0o160_000) => return Ok(FileMode::Submodule),
            _ => ParseErrorKind::BadMode,
        };
        Err(DiffFailure { within, ..self.failure(at, kind, EXPECTED) })
    }

    /// Reads the `--- ` and `+++ ` lines.
    fn names(&mut self) -> Result<NamePair, DiffFailure> {
        let mut pair = NamePair { old: self.side_name()?, new: self.side_name()? };
        pair.leave_out_words();
        Ok(pair)
    }

    fn side_name(&mut self) -> Result<RawName, DiffFailure> {
        const SIGNS: usize = 4;
        let line = self.at;
        let rest = &self.take()[SIGNS..];
        let start = self.lines.range(line).start + SIGNS;
        let (name, length) = if rest.starts_with(b"\"") {
            let Some((name, after)) = unquoted(rest) else {
                let failure = self.failure(line, ParseErrorKind::BadPath, "a quoted path");
                return Err(DiffFailure { within: SIGNS, ..failure });
            };
            (name, rest.len() - after.len())
        } else {
            // A time stamp may follow; after a name with blanks, git writes a tab alone.
            let length = stamp::name_length(rest);
            (rest[..length].to_vec(), length)
        };
        let absent = stamp::says_absent(&rest[length..]);
        let text = (name != b"/dev/null").then_some(name);
        Ok(RawName { text, span: start..start + length, line, absent })
    }

    /// Returns the names of the two sides. `named` is the name of both in the `diff --git` line.
    fn without_prefixes(
        &self,
        old: &RawName,
        new: &RawName,
        named: Option<&[u8]>,
    ) -> Result<(Option<Name>, Option<Name>), DiffFailure> {
        // One name alone does not show its prefix; the two names of the first line do.
        let named_alone = named.filter(|_| self.strip.is_none());
        let (mut left, mut right) = match (old, new) {
            (RawName { text: Some(one), .. }, RawName { text: None, .. })
                if let Some(named) = named_alone
                    && is_but_for_prefix(one, named) =>
            {
                (Some(named.to_vec()), None)
            }
            (RawName { text: None, .. }, RawName { text: Some(one), .. })
                if let Some(named) = named_alone
                    && is_but_for_prefix(one, named) =>
            {
                (None, Some(named.to_vec()))
            }
            _ => {
                stripped(old.text.as_deref(), new.text.as_deref(), self.strip).map_err(|short| {
                    let line = if short == ShortName::Old { old.line } else { new.line };
                    let expected = "a path with as many parts as are to be left out";
                    DiffFailure {
                        within: 4,
                        ..self.failure(line, ParseErrorKind::BadPath, expected)
                    }
                })?
            }
        };
        // The first line names one unmoved file: only the prefixes differ.
        if left.is_some() && right.is_some() && left != right && named.is_some() {
            left = named.map(<[u8]>::to_vec);
            right.clone_from(&left);
        }
        Ok((self.name(&old.with_text(left), 0)?, self.name(&new.with_text(right), 0)?))
    }

    /// Returns a name without `count` parts, as text.
    fn name(&self, raw: &RawName, count: usize) -> Result<Option<Name>, DiffFailure> {
        let Some(bytes) = &raw.text else { return Ok(None) };
        let within = raw.span.start - self.lines.range(raw.line).start;
        let (kind, expected) = match without(bytes, count).map(std::str::from_utf8) {
            Some(Ok(text)) => {
                let text = text.to_owned();
                return Ok(Some(Name { text, span: raw.span.clone(), line: number(raw.line) }));
            }
            Some(Err(_)) => (ParseErrorKind::BadPath, "a path in UTF-8"),
            None => (ParseErrorKind::NoPath, "a path"),
        };
        Err(DiffFailure { line: raw.line, within, kind, expected })
    }

    fn finish(
        &self,
        first: usize,
        path: Name,
        operation: DiffOperation,
        executable: Option<bool>,
        mut hunks: Vec<HunkPart>,
    ) -> Result<DiffFile, DiffFailure> {
        if operation == DiffOperation::Add {
            self.check_added(&mut hunks)?;
        }
        let end = hunks.last().map_or(self.lines.range(self.at).start, |hunk| hunk.span.end);
        let span = self.lines.range(first).start..end;
        Ok(DiffFile {
            path,
            old_name: None,
            operation,
            executable,
            link: false,
            hunks,
            binary: None,
            submodule: None,
            ids: None,
            span,
        })
    }

    /// Checks that a new file has one hunk, of inserted lines only.
    fn check_added(&self, hunks: &mut [HunkPart]) -> Result<(), DiffFailure> {
        let Some((hunk, more)) = hunks.split_first_mut() else { return Ok(()) };
        if let Some(second) = more.first() {
            return Err(self.failure(
                second.line as usize - 1,
                ParseErrorKind::NoPlus,
                "all lines of a new file in one hunk",
            ));
        }
        let mut at = hunk.line as usize;
        let mut end = hunk.body.start;
        while self.lines.range(at).start < hunk.body.end {
            let line = self.lines.whole(at);
            match line.first() {
                Some(b'+' | b'\\') => end = self.lines.range(at).end,
                _ if line.trim_ascii().is_empty() && hunk.separators > 0 => {}
                _ => {
                    return Err(self.failure(
                        at,
                        ParseErrorKind::NoPlus,
                        "`+` at the beginning of the line",
                    ));
                }
            }
            at += 1;
        }
        hunk.body.end = end;
        Ok(())
    }

    /// Reads the hunks of a file; there is at least one.
    fn hunks(&mut self) -> Result<Vec<HunkPart>, DiffFailure> {
        let mut hunks = Vec::new();
        loop {
            let next = self.past_empty(self.at).unwrap_or(self.at);
            // People put empty lines between hunks, and models a surplus one with its blank.
            if !self.lines.get(next).starts_with(b"@@") {
                break;
            }
            if is_combined(self.lines.get(next)) {
                let kind = ParseErrorKind::CombinedDiff;
                return Err(self.failure(next, kind, "a diff of two files"));
            }
            self.at = next;
            hunks.push(self.hunk()?);
        }
        if hunks.is_empty() {
            return Err(self.failure(self.at, ParseErrorKind::FileWithoutHunks, "`@@`"));
        }
        // The first byte of another hunk, or of a note about the last line.
        if self.at + 1 == self.lines.len() && matches!(self.lines.whole(self.at), b"@" | b"\\") {
            let expected = "the rest of the line";
            return Err(self.failure(self.at, ParseErrorKind::HalfLine, expected));
        }
        Ok(hunks)
    }

    /// Returns the first non-empty line from this one on.
    fn past_empty(&self, at: usize) -> Option<usize> {
        (at..self.lines.len()).find(|&at| !self.lines.get(at).trim_ascii().is_empty())
    }

    fn hunk(&mut self) -> Result<HunkPart, DiffFailure> {
        let at = self.at;
        let line = self.take();
        let start = self.lines.range(at).start;
        let numbers = Numbers::of(line);
        let counted = numbers.as_ref().and_then(|numbers| self.counted(numbers));
        let (end, separators) = match counted {
            Some(end) => (end, 0),
            None => self.uncounted()?,
        };
        if end == self.at {
            return Err(self.failure(end, ParseErrorKind::EmptyHunk, BODY));
        }
        let mut shortfall = None;
        match &numbers {
            None => self.warn(WarningKind::NoHunkNumbers, at),
            Some(_) if self.recount => {}
            Some(numbers) if counted.is_some() => {
                shortfall = self.shortfall(numbers, numbers.sides(), end, 0);
            }
            Some(numbers) => {
                let lines = HunkLines::of(self.lines, self.at..end - separators);
                let promised = numbers.sides();
                let found = lines.sides;
                self.warn(WarningKind::HunkNumbers { promised, found }, at);
                shortfall = self.shortfall(numbers, found, end, separators);
                // A hunk has a change, and a new file has all of its lines.
                let lacks = shortfall.as_ref().is_some_and(|lacks| lacks.missing != (0, 0));
                if lacks && (!lines.has_changes || numbers.old.is_nothing()) {
                    let kind = ParseErrorKind::CutOff { promised, found };
                    return Err(self.failure(end, kind, REST_OF_HUNK));
                }
            }
        }
        if shortfall.as_ref().is_none_or(|lacks| lacks.missing == (0, 0)) {
            let right = self.others_are_right.unwrap_or(true) && counted.is_some();
            self.others_are_right = Some(right);
        }
        let body = self.lines.range(self.at).start..self.lines.range(end).start;
        self.at = end;
        let heading = match &numbers {
            Some(numbers) => numbers.heading.clone(),
            None => heading_alone(line),
        };
        // An author who miscounted the lines did not count them from the top of the file either.
        let stated = numbers.as_ref().filter(|_| counted.is_some());
        Ok(HunkPart {
            old_start: stated.and_then(|numbers| u32::try_from(numbers.old.first).ok()),
            new_start: stated.and_then(|numbers| u32::try_from(numbers.new.first).ok()),
            heading: heading.map(|range| start + range.start..start + range.end),
            span: start..body.end,
            body,
            separators,
            line: number(at),
            shortfall,
            from_nothing: numbers.as_ref().is_some_and(|numbers| numbers.old.is_nothing()),
            to_nothing: numbers.as_ref().is_some_and(|numbers| numbers.new.is_nothing()),
        })
    }

    /// Returns the lines missing from a hunk with these counts and an end before line `end`, if the
    /// text may be cut off there.
    fn shortfall(
        &self,
        numbers: &Numbers,
        found: LineCounts,
        end: usize,
        separators: usize,
    ) -> Option<Shortfall<'static>> {
        // Texts that are joined may each be cut off.
        let below = self.past_empty(end).map(|at| self.lines.get(at));
        if self.ended || below.is_some_and(|line| line != NEXT_DIFF.trim_ascii_end()) {
            return None;
        }
        let old = numbers.old.count.checked_sub(found.0)?;
        let new = numbers.new.count.checked_sub(found.1)?;
        // Empty lines may be context that has lost its blank.
        let empty = old.min(new).min(separators as u64);
        let missing = (old - empty, new - empty);
        let starts = (numbers.old.first, numbers.new.first);
        let last = self.lines.whole(end - 1);
        let unterminated = end == self.lines.len() && !last.ends_with(b"\n");
        let may_lack = missing != (0, 0) || last.starts_with(b"+");
        may_lack.then_some(Shortfall {
            promised: numbers.sides(),
            missing,
            starts,
            others_are_right: false,
            unterminated,
            ids: None,
        })
    }

    /// Returns the end of the hunk whose lines begin here, if their count is right.
    fn counted(&self, numbers: &Numbers) -> Option<usize> {
        let mut old = numbers.old.count;
        let mut new = numbers.new.count;
        let mut end = self.at;
        while end < self.lines.len() {
            let line = self.lines.whole(end);
            match line {
                [b'\\', b' ', ..] => {}
                _ if (old, new) == (0, 0) => break,
                [b'-', ..] => old = old.checked_sub(1)?,
                [b'+', ..] => new = new.checked_sub(1)?,
                [b' ', ..] | b"\n" | b"\r\n" => {
                    old = old.checked_sub(1)?;
                    new = new.checked_sub(1)?;
                }
                _ => return None,
            }
            end += 1;
        }
        let is_whole = (old, new) == (0, 0) && !self.goes_on(end) && !self.takes_in_header(end);
        is_whole.then_some(end)
    }

    /// Returns whether the hunk whose lines begin here would have the two lines of the next file as
    /// its last ones, which the numbers of models count in at times.
    ///
    /// It would then end in a change although another hunk of the same file follows, while it shows
    /// context elsewhere. No program writes that.
    fn takes_in_header(&self, end: usize) -> bool {
        let Some(at) = end.checked_sub(2).filter(|&at| at > self.at && self.begins(at)) else {
            return false;
        };
        let name = |line: &'t [u8]| {
            let name = line[4..].split(|&byte| byte == b'\t').next().unwrap_or_default();
            name.strip_prefix(b"a/").or_else(|| name.strip_prefix(b"b/")).unwrap_or(name)
        };
        let old = name(self.lines.get(at));
        let new = name(self.lines.get(at + 1));
        let is_file = old == new || [old, new].contains(&&b"/dev/null"[..]);
        is_file
            && self.lines.get(end).starts_with(b"@@")
            && (self.at..at).any(|at| matches!(self.lines.get(at), [b' ', ..] | []))
    }

    /// Returns whether the line after a hunk's last one still looks like a line of the hunk. So do
    /// empty context lines, with their blank, before such a line, or before more context and then
    /// another hunk or file.
    fn goes_on(&self, at: usize) -> bool {
        let next = (at..self.lines.len()).find(|&at| self.lines.get(at) != b" ").unwrap_or(at);
        if next > at && matches!(self.lines.get(next).first(), Some(b'+' | b'-')) {
            return self.goes_on(next);
        }
        // Context below an empty line of context: all lines up to the next header have a sign.
        if next > at && self.lines.get(next).starts_with(b" ") {
            let below = (next..self.lines.len()).find(|&at| !self.lines.get(at).starts_with(b" "));
            return below
                .is_some_and(|at| self.lines.get(at).starts_with(b"@@") || self.begins(at));
        }
        let line = self.lines.get(at);
        if !line.starts_with(b" ") {
            return self.is_change(at);
        }
        if !self.mail {
            return !line.trim_ascii().is_empty();
        }
        // A program counted the lines of a mail, unless others of the diff follow.
        let below = (at..self.lines.len()).find(|&at| !self.lines.get(at).starts_with(b" "));
        below.is_some_and(|at| {
            self.is_change(at) || self.lines.get(at).starts_with(b"@@") || self.begins(at)
        })
    }

    /// Returns whether a line behind a hunk looks like a change.
    fn is_change(&self, at: usize) -> bool {
        matches!(self.lines.get(at).first(), Some(b'+' | b'-'))
            && !self.begins(at)
            && !self.is_signature(at)
    }

    fn is_signature(&self, at: usize) -> bool {
        is_signature(|at| self.lines.get(at), at)
    }

    /// Returns the end of the hunk whose lines begin here, judged by their looks, and how many
    /// empty ones are at the end.
    fn uncounted(&self) -> Result<(usize, usize), DiffFailure> {
        const OTHERS: [&[u8]; 10] = [
            NEXT_DIFF.trim_ascii_end(),
            b"@@",
            b"diff ",
            b"Index: ",
            b"Only in ",
            b"Binary files ",
            b"Submodule ",
            b"GIT binary patch",
            b"commit ",
            b"From ",
        ];
        let mut end = self.at;
        let mut empty = 0;
        while end < self.lines.len() {
            let line = self.lines.get(end);
            if OTHERS.iter().any(|other| line.starts_with(other)) || self.is_signature(end) {
                break;
            }
            if self.begins(end) {
                if self.lines.get(end + 2).starts_with(b"@@") {
                    break;
                }
                // Two lines of the hunk, or the next file without its hunks.
                return Err(self.failure(
                    end,
                    ParseErrorKind::HunkEnd,
                    "right numbers after the `@@` of this hunk",
                ));
            }
            empty = match line {
                [] => empty + 1,
                [b'+' | b'-' | b' ', ..] | [b'\\', b' ', ..] => 0,
                _ => return Err(self.failure(end, ParseErrorKind::NoPrefix, BODY)),
            };
            end += 1;
        }
        if end - empty == self.at {
            return Err(self.failure(self.at, ParseErrorKind::EmptyHunk, BODY));
        }
        Ok((end, empty))
    }
}

/// A change of a file by git's lines.
struct GitChange {
    path: Name,
    old_name: Option<Name>,
    operation: DiffOperation,
}

impl GitHeader {
    /// Whether the file is to be executable, if the mode changes.
    fn executable(&self, operation: &DiffOperation) -> Option<bool> {
        let mode = match operation {
            DiffOperation::Delete => self.deleted,
            _ => self.created.or(self.new_mode.filter(|new| self.old_mode != Some(*new))),
        };
        mode.and_then(FileMode::executable)
    }
}

impl RawName {
    /// Leaves out what stands behind the first bytes of a name that is not in quotes.
    fn shorten(&mut self, length: usize) {
        let Some(text) = &mut self.text else { return };
        self.absent |= stamp::says_absent(&text[length..]);
        text.truncate(length);
        self.span.end = self.span.start + length;
    }

    /// Returns another name at the same place.
    fn with_text(&self, text: RawPath) -> Self {
        Self { text, span: self.span.clone(), line: self.line, absent: false }
    }
}

/// Returns whether a path is the given name, perhaps after a prefix of one letter.
fn is_but_for_prefix(path: &[u8], named: &[u8]) -> bool {
    let prefix = path.strip_suffix(named);
    prefix.is_some_and(|prefix| matches!(prefix, [] | [_, b'/']))
}

/// Returns whether an id stands for no commit.
fn is_no_commit(id: &[u8]) -> bool {
    id.iter().all(|&digit| digit == b'0')
}

/// Returns whether a text can be the id of a file.
fn is_id(id: &[u8]) -> bool {
    (1..=64).contains(&id.len()) && id.iter().all(u8::is_ascii_hexdigit)
}

fn is_fence(line: &[u8]) -> bool {
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

/// How many lines of the old and of the new file a hunk has.
type LineCounts = (u64, u64);

/// The lines of a hunk.
struct HunkLines {
    sides: LineCounts,
    has_changes: bool,
}

impl HunkLines {
    fn of(lines: &Lines<'_>, hunk: Range<usize>) -> Self {
        let mut found = Self { sides: (0, 0), has_changes: false };
        for line in hunk.map(|at| lines.get(at)) {
            let (old, new) = match line.first() {
                Some(b'\\') => (0, 0),
                Some(b'-') => (1, 0),
                Some(b'+') => (0, 1),
                _ => (1, 1),
            };
            found.sides.0 += old;
            found.sides.1 += new;
            found.has_changes |= old != new;
        }
        found
    }
}

/// The numbers after the `@@` of a hunk.
struct Numbers {
    old: HunkSide,
    new: HunkSide,
    heading: Option<Range<usize>>,
}

/// One side of a hunk: its first line, and how many there are.
#[derive(Clone, Copy)]
struct HunkSide {
    first: u64,
    count: u64,
}

impl HunkSide {
    /// Whether the file is empty, or is none.
    fn is_nothing(self) -> bool {
        self.first == 0 && self.count == 0
    }
}

impl Numbers {
    /// How many lines of the old and of the new file they promise.
    fn sides(&self) -> LineCounts {
        (self.old.count, self.new.count)
    }

    fn of(line: &[u8]) -> Option<Self> {
        let (old, rest) = range(line.strip_prefix(b"@@ -")?)?;
        let (new, rest) = range(rest.strip_prefix(b" +")?)?;
        let rest = rest.strip_prefix(b" @@")?;
        let heading = rest.strip_prefix(b" ").unwrap_or(rest);
        let start = line.len() - heading.len();
        let heading = heading.trim_ascii_end();
        Some(Self {
            old,
            new,
            heading: (!heading.is_empty()).then(|| start..start + heading.len()),
        })
    }
}

/// Reads a line and a count, by default 1.
fn range(text: &[u8]) -> Option<(HunkSide, &[u8])> {
    let (first, rest) = digits(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => digits(rest).map(|(count, rest)| (HunkSide { first, count }, rest)),
        None => Some((HunkSide { first, count: 1 }, rest)),
    }
}

fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&text[..length]).ok()?.parse().ok()?;
    Some((number, &text[length..]))
}

/// Returns the text of an `@@` line without numbers, if the text can name a line of the file.
fn heading_alone(line: &[u8]) -> Option<Range<usize>> {
    let text = line.strip_prefix(b"@@")?;
    let text = text.strip_suffix(b"@@").unwrap_or(text);
    let start = 2 + text.len() - text.trim_ascii_start().len();
    let text = text.trim_ascii();
    let names = text.iter().any(u8::is_ascii_alphabetic) && !text.starts_with(b"-");
    names.then(|| start..start + text.len())
}

/// Returns whether a hash in an `index` line means an empty file, with SHA-1 or SHA-256.
pub(super) fn is_empty_blob(hash: &[u8]) -> bool {
    hash.starts_with(b"e69de29") || hash.starts_with(b"473a0f4")
}

/// Returns the 1-based number of a line.
fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}
