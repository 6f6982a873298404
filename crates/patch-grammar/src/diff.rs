//! Reads unified and git diffs into the same tree as the envelope.
//!
//! ```
//! use patch_grammar::diff::{self, DiffOptions};
//!
//! let text = "--- a/greet.py\n+++ b/greet.py\n@@ -1 +1 @@\n-print(\"hi\")\n+print(\"hello\")\n";
//! let patch = diff::parse(text, &DiffOptions::default())?;
//! assert_eq!(patch.sections()[0].path.text, "greet.py");
//! assert_eq!(patch.sections()[0].hunks()[0].old_start, Some(1));
//! # Ok::<(), patch_grammar::ParseError>(())
//! ```
//!
//! Only this module knows the hunks of diffs. The numbers after `@@` count the lines of the hunk.
//! Where they fit, every line within is content, whatever it looks like. Where they do not, the
//! lines are read as they stand, as long as they are unambiguous, and a warning says so.
//!
//! Text around the files is ignored, as git does. Parts of a diff that cannot be expressed
//! (merges, binary files without their bytes) are errors.

mod header;
mod reader;
mod stamp;

use std::borrow::Cow;
use std::ops::Range;

use crate::ast::{
    AddedLines, Hunk, LastLine, LineEndings, LineKind, Section, SectionOperation, Shortfall,
    Spanned, Submodule, hunk_lines,
};
use crate::binary::{self, Binary, BinaryDamage, BinaryPart};
use crate::diagnose;
use crate::error::{ParseError, ParseErrorKind, Warning, WarningKind};
use crate::options::MAX_SECTIONS;
use crate::other_form::other_form;
use crate::patch::{Patch, Text};

pub use crate::mail::begins_mail;
pub use crate::quoted::{of_quoted, push_quoted};
pub use header::FileHeader;
pub use reader::NEXT_DIFF;
pub(crate) use reader::{Between, extent, opens, opens_in_message};
use reader::{
    BinaryParts, DiffFailure, DiffFile, DiffOperation, FoundFile, HunkPart, Name, PartLines,
    REST_OF_HUNK, Reader,
};

/// Returns whether two neighbouring sections of a text are from different diffs: between them a
/// mail ends, or a mail or a commit begins.
#[must_use]
pub fn are_parted(patch: &Patch, one: &Section<'_>, other: &Section<'_>) -> bool {
    // In reverse, the last section of the text is the first one.
    let in_order = one.span.end <= other.span.start;
    let (above, below) = if in_order { (one, other) } else { (other, one) };
    let between = above.span.end..below.span.start;
    !between.is_empty() && reader::parts_diffs(patch.bytes(between))
}

/// Returns whether a text is a diff whose hunks have right numbers, so that nothing else belongs to
/// them.
pub(crate) fn is_finished(text: &[u8]) -> bool {
    parse(text, &DiffOptions { skip_binary: true, ..DiffOptions::default() }).is_ok_and(|patch| {
        let mut hunks = patch.sections().iter().flat_map(Section::hunks);
        let wrong = |warning: &Warning| {
            matches!(warning.kind, WarningKind::HunkNumbers { .. } | WarningKind::NoHunkNumbers)
        };
        hunks.all(|hunk| hunk.shortfall.as_ref().is_none_or(|lacks| lacks.missing == (0, 0)))
            && !patch.warnings.iter().any(wrong)
    })
}

/// Returns the error of a diff whose last hunk lacks lines, for those who do not see its files: a
/// change may be missing.
#[must_use]
pub fn may_be_cut_off(patch: &Patch) -> Option<ParseError> {
    let mut hunks = patch.sections().iter().flat_map(Section::hunks);
    let (hunk, found) = hunks.find_map(|hunk| Some((hunk, hunk.shortfall.as_deref()?)))?;
    let Shortfall { promised, missing, others_are_right, .. } = *found;
    let is_likely = missing.0 != missing.1 || (others_are_right && missing != (0, 0));
    is_likely.then(|| {
        let found = (promised.0 - missing.0, promised.1 - missing.1);
        let kind = ParseErrorKind::CutOff { promised, found };
        let whole = patch.text();
        diagnose::at_offset(whole.whole(), hunk.span.end, 0, kind, vec![REST_OF_HUNK])
    })
}

/// How a diff is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffOptions {
    /// How many leading parts of a path are removed, as with `patch -p`. Default: `None`: git's
    /// prefixes (`a/` and `b/`, and those of `diff.mnemonicPrefix`) are removed, where there are
    /// any.
    pub strip: Option<usize>,
    /// Whether binary files whose bytes the diff does not have are left out, with a warning:
    /// `Binary files a/x and b/x differ`. Default: `false`: such files are errors.
    pub skip_binary: bool,
    /// Whether the diff is only counted, and not applied: a git diff's binary file whose bytes are
    /// not in the diff is then a section without them. Default: `false`.
    pub counted: bool,
    /// Whether wrong numbers of hunks are ignored, as in `git apply --recount`. Default: `false`:
    /// they are told, and the last hunk of a diff may be [cut off](ParseErrorKind::CutOff).
    pub recount: bool,
    /// Whether something behind the diff showed that the text is whole, such as the end of a fence.
    /// Default: `false`.
    pub ended: bool,
    /// How many files a diff may have. Default: 10 000.
    pub max_sections: usize,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            strip: None,
            skip_binary: false,
            counted: false,
            recount: false,
            ended: false,
            max_sections: MAX_SECTIONS,
        }
    }
}

/// Reads a plain or git diff. If the diff itself was stored with CRLF, the carriage returns are
/// left out, and the patch owns the text without them.
///
/// Time and memory are linear in the text.
///
/// # Errors
///
/// The first fault, or the first thing that no plan can express, with its line and column.
pub fn parse(text: impl Into<Text>, options: &DiffOptions) -> Result<Patch, ParseError> {
    let given = text.into();
    let mut text = given.clone();
    let mut read = ReadFiles::of(&text, options);
    if let Err(DiffFailure { kind: ParseErrorKind::NoDiff, .. }) = &read.files
        && let Some(error) = other_form(given.whole())
    {
        return Err(error);
    }
    if read.is_framed {
        text = without_framing(&text);
        read = ReadFiles::of(&text, options);
        read.warnings.insert(0, Warning { kind: WarningKind::StoredWithCrlf, line: 1 });
    }
    // Lines are the same in both texts; bytes are counted in the given text.
    let ReadFiles { files, warnings, .. } = read;
    let files = files.map_err(|failure| located(&given, failure))?;
    let bare = memchr::memchr(b'\r', text.as_bytes()).is_none();
    let endings = if bare { LineEndings::Unmarked } else { LineEndings::Exact };
    Patch::read(text, |text| {
        let mut room = binary::MAX_PATCH;
        let sections = files.into_iter().map(|file| section(text, file, endings, &mut room));
        let sections = sections.collect::<Result<_, _>>();
        Ok((sections.map_err(|failure| located(&given, failure))?, warnings))
    })
}

fn located(given: &Text, failure: DiffFailure) -> ParseError {
    let DiffFailure { line, within, kind, expected } = failure;
    let start = given.lines().range(line).start;
    diagnose::at_offset(given.whole(), start, within, kind, vec![expected])
}

/// The files of a diff, as they were read.
struct ReadFiles {
    files: Result<Vec<DiffFile>, DiffFailure>,
    warnings: Vec<Warning>,
    /// The diff itself was stored with CRLF.
    is_framed: bool,
}

impl ReadFiles {
    fn of(text: &Text, options: &DiffOptions) -> Self {
        let lines = text.lines();
        let mut reader = Reader::new(&lines, options.strip, options.max_sections);
        reader.skip_binary = options.skip_binary;
        reader.counted = options.counted;
        reader.recount = options.recount;
        reader.ended = options.ended;
        let mut files = Vec::new();
        let mut left_out = false;
        let result = loop {
            match reader.next() {
                Ok(Some(FoundFile::File(file))) => files.push(*file),
                Ok(Some(FoundFile::LeftOut)) => left_out = true,
                Ok(None) if files.is_empty() && !left_out => break Err(reader.no_diff()),
                Ok(None) => break Ok(()),
                Err(failure) => break Err(failure),
            }
        };
        let Reader { mut warnings, framed, others_are_right, .. } = reader;
        if options.strip.is_none() {
            warnings.extend(leave_out_prefix(&mut files));
        }
        // A new file has one name.
        for file in files.iter_mut().filter(|file| file.operation == DiffOperation::Add) {
            file.old_name = None;
        }
        let hunks = files.iter_mut().flat_map(|file: &mut DiffFile| &mut file.hunks);
        for shortfall in hunks.filter_map(|hunk| hunk.shortfall.as_mut()) {
            shortfall.others_are_right = others_are_right == Some(true);
        }
        Self { files: result.map(|()| files), warnings, is_framed: framed.unwrap_or(false) }
    }
}

/// Leaves out the common prefix of all paths in a diff of new files only, with a warning: the two
/// names of each file show the prefix, as `old/x` and `new/x` do.
fn leave_out_prefix(files: &mut [DiffFile]) -> Option<Warning> {
    let first = prefix(files.first()?)?;
    if !files.iter().all(|file| prefix(file).as_ref() == Some(&first)) {
        return None;
    }
    for file in files.iter_mut() {
        file.path.text.drain(..first.len());
        file.old_name = None;
    }
    let line = files[0].path.line;
    Some(Warning { kind: WarningKind::PrefixLeftOut { prefix: first }, line })
}

/// Returns the path of a new file up to the one part that differs between its names.
fn prefix(file: &DiffFile) -> Option<String> {
    let old = file.old_name.as_ref().filter(|_| file.is_new())?;
    let old: Vec<_> = old.text.split('/').collect();
    let new: Vec<_> = file.path.text.split('/').collect();
    let at = old.iter().zip(&new).position(|(old, new)| old != new)?;
    let same = old.len() == new.len() && at + 1 < new.len() && old[at + 1..] == new[at + 1..];
    same.then(|| new[..=at].join("/") + "/")
}

fn spanned(name: Name) -> Spanned<'static> {
    Spanned { text: Cow::Owned(name.text), span: name.span, line: name.line }
}

/// Returns the id in a range of the text.
fn id_at<'p>(text: &'p [u8], span: &Range<usize>) -> Option<&'p str> {
    std::str::from_utf8(&text[span.clone()]).ok()
}

/// Returns the id of a commit; none for zeros.
fn commit_at<'p>(text: &'p [u8], span: Option<&Range<usize>>) -> Option<&'p str> {
    id_at(text, span?).filter(|id| id.bytes().any(|digit| digit != b'0'))
}

/// `room` is how many bytes binary parts may still make.
fn section<'p>(
    text: &'p [u8],
    file: DiffFile,
    endings: LineEndings,
    room: &mut u64,
) -> Result<Section<'p>, DiffFailure> {
    let ids = file.ids.as_ref();
    let deleted_id = unseen_id(text, &file);
    let hunks = file.hunks.iter().map(|part| hunk(text, part, endings, ids));
    let binary = match &file.binary {
        Some(parts) => Some(Box::new(binary_of(text, parts, room)?)),
        None => None,
    };
    let operation = match file.operation {
        // The reader has checked that a new file has one hunk at most.
        DiffOperation::Add => {
            let part = file.hunks.first();
            let lines = part.map_or(&b""[..], |part| &text[part.body.clone()]);
            let last = part.and_then(|part| {
                let Shortfall { unterminated, ids, .. } = shortfall(text, part, ids)?;
                Some(LastLine { id: ids?.1, unterminated })
            });
            let lines = AddedLines::of_body(lines, LineEndings::Exact);
            SectionOperation::Add(AddedLines { last, ..lines })
        }
        DiffOperation::Delete if deleted_id.is_some() => SectionOperation::Delete(None),
        DiffOperation::Delete => SectionOperation::Delete(Some(hunks.collect())),
        DiffOperation::Update { to } => {
            SectionOperation::Update { move_to: to.map(spanned), hunks: hunks.collect() }
        }
        DiffOperation::Copy { to } => {
            SectionOperation::Copy { to: spanned(to), hunks: hunks.collect() }
        }
    };
    let submodule = file.submodule.as_ref().map(|(old, new)| Submodule {
        old: commit_at(text, old.as_ref()),
        new: commit_at(text, new.as_ref()),
    });
    let DiffFile { path, old_name, executable, link, span, .. } = file;
    let path = spanned(path);
    let old_name = old_name.map(spanned);
    Ok(Section { path, old_name, operation, executable, link, binary, deleted_id, submodule, span })
}

/// Returns the id of a file that is deleted without its lines; `None` for an empty file, which has
/// none.
fn unseen_id<'p>(text: &'p [u8], file: &DiffFile) -> Option<&'p str> {
    let is_bare = file.operation == DiffOperation::Delete
        && file.hunks.is_empty()
        && file.binary.is_none()
        && file.submodule.is_none();
    let (old, _) = file.ids.as_ref().filter(|_| is_bare)?;
    id_at(text, old).filter(|id| !reader::is_empty_blob(id.as_bytes()))
}

fn binary_of<'p>(
    text: &'p [u8],
    parts: &BinaryParts,
    room: &mut u64,
) -> Result<Binary<'p>, DiffFailure> {
    let forward = binary_part(text, &parts.forward, room)?;
    let reverse = parts.reverse.as_ref().map(|part| binary_part(text, part, room));
    Ok(Binary {
        forward,
        reverse: reverse.transpose()?,
        old_id: parts.old_id.as_ref().and_then(|span| id_at(text, span)),
        new_id: parts.new_id.as_ref().and_then(|span| id_at(text, span)),
    })
}

fn binary_part<'p>(
    text: &'p [u8],
    part: &PartLines,
    room: &mut u64,
) -> Result<BinaryPart<'p>, DiffFailure> {
    let PartLines { kind, size, line, .. } = *part;
    let checked = BinaryPart::checked(kind, size, &text[part.base85.clone()], line, room);
    checked.map_err(|damage| {
        let (kind, expected) = match damage {
            BinaryDamage::TooLarge => (ParseErrorKind::LargeBinary, "smaller files"),
            BinaryDamage::Compression => {
                (ParseErrorKind::BadBinary, "as many bytes as the line says, compressed")
            }
            BinaryDamage::Delta => (ParseErrorKind::BadBinary, "a delta"),
            BinaryDamage::NotBuilt => (
                ParseErrorKind::BadBinary,
                "a program with the feature `binary-diffs` of patch-grammar",
            ),
        };
        DiffFailure { line: line as usize - 1, within: 0, kind, expected }
    })
}

/// Returns what a hunk lacks, with the ids of its file.
fn shortfall<'p>(
    text: &'p [u8],
    part: &HunkPart,
    ids: Option<&(Range<usize>, Range<usize>)>,
) -> Option<Shortfall<'p>> {
    let found = part.shortfall.clone()?;
    let ids = ids.and_then(|(old, new)| Some((id_at(text, old)?, id_at(text, new)?)));
    Some(Shortfall { ids, ..found })
}

fn hunk<'p>(
    text: &'p [u8],
    part: &HunkPart,
    endings: LineEndings,
    ids: Option<&(Range<usize>, Range<usize>)>,
) -> Hunk<'p> {
    let (lines, _) = hunk_lines(&text[part.body.clone()], part.line + 1, endings);
    // A hunk that only inserts has nothing to do with the function above it.
    let shows_old = lines.iter().any(|line| line.kind != LineKind::Insert);
    let heading = part.heading.clone().filter(|_| shows_old);
    let header = heading.and_then(|span| {
        let text = Cow::Borrowed(std::str::from_utf8(&text[span.clone()]).ok()?);
        Some(Spanned { text, span, line: part.line })
    });
    let headers = header.into_iter().collect();
    Hunk {
        opened: true,
        headers,
        lines,
        separators: part.separators,
        endings,
        old_start: part.old_start,
        new_start: part.new_start,
        shortfall: shortfall(text, part, ids).map(Box::new),
        span: part.span.clone(),
        line: part.line,
        ..Hunk::default()
    }
}

/// Returns the text with line feeds in place of CRLF. Each line before the patch becomes an empty
/// one.
fn without_framing(text: &Text) -> Text {
    let before = memchr::memchr_iter(b'\n', &text.whole()[..text.range().start]).count();
    let mut shorter = vec![b'\n'; before];
    for line in text.as_bytes().split_inclusive(|&byte| byte == b'\n') {
        match line {
            [line @ .., b'\r', b'\n'] => {
                shorter.extend_from_slice(line);
                shorter.push(b'\n');
            }
            line => shorter.extend_from_slice(line),
        }
    }
    Text::from(shorter)
}
