//! Edits that name lines by their tags, as `read_file` prints them.
//!
//! A line is named by its number and its tag: it is the line that was printed with both last. All
//! lines of a call are of one version of the file, and were printed in full. The lines of an edit
//! are these and no others: if the file has changed since, the edit is carried to where they are
//! now, by their bytes and those of their neighbours, or it is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use patch_engine::patch_text::text::lines::line_start;
use patch_engine::remedy::Action;
use patch_engine::{ErrorKind, Remedy, Sha256};
use patch_session::answer::error::ToolError;
use patch_session::answer::reason::Reason;
use patch_session::line_tags::{LineTags, TaggedLine, is_tagged};
use patch_session::session::Session;
use patch_session::text::prefix;
use serde_json::json;

/// How many lines an error shows above and below the lines of an edit.
const AROUND: usize = 2;

/// The most lines that an error shows with their tags.
const MOST: usize = 24;

/// Longer lines are cut.
const MAX_LINE: usize = 100;

/// The arguments of an edit that name lines; empty text is as good as none.
#[derive(Clone, Copy)]
pub(super) struct LineNames<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) after: &'a str,
}

/// The lines of an edit.
pub(super) struct NamedLines<'a> {
    /// The index of the edit.
    pub(super) edit: usize,
    /// The lines to replace, or the line below which to insert.
    first: Name<'a>,
    last: Option<Name<'a>>,
    /// Whether the edit inserts below the first line.
    pub(super) inserts: bool,
}

/// A line, with the argument that names it.
pub(super) struct Name<'a> {
    argument: &'static str,
    line: TaggedLine<'a>,
}

impl<'a> NamedLines<'a> {
    /// Reads the lines of an edit; `None` if it names none.
    pub(super) fn read(
        path: &str,
        edit: usize,
        names: LineNames<'a>,
    ) -> Result<Option<Self>, ToolError> {
        let LineNames { from, to, after } = names;
        let (argument, first, inserts) = match (from, after) {
            ("", "") if to.is_empty() => return Ok(None),
            ("", "") => {
                return Err(bad(path, edit, "from", "`to` is the last line, and `from` the first"));
            }
            (from, "") => ("from", from, false),
            ("", after) if to.is_empty() => ("after", after, true),
            _ => return Err(bad(path, edit, "after", "`after` inserts, and replaces no lines")),
        };
        let first = Name::read(path, edit, argument, first)?;
        let last = if to.is_empty() { None } else { Some(Name::read(path, edit, "to", to)?) };
        let named = Self { edit, first, last, inserts };
        if named.numbers().is_empty() {
            return Err(bad(path, edit, "to", "`to` is above `from`"));
        }
        if named.first.line.number == 0 && !inserts {
            return Err(bad(path, edit, "from", "lines are counted from 1"));
        }
        Ok(Some(named))
    }

    /// Returns the numbers of the lines.
    pub(super) fn numbers(&self) -> RangeInclusive<usize> {
        let first = self.first.line.number;
        first..=self.last.as_ref().map_or(first, |last| last.line.number)
    }

    /// Returns the lines that are named.
    pub(super) fn names(&self) -> impl Iterator<Item = &Name<'a>> {
        std::iter::once(&self.first).chain(&self.last)
    }

    /// Checks the names against the text of the version in which they were printed.
    pub(super) fn check(&self, path: &str, text: &[u8]) -> Result<(), ToolError> {
        self.names()
            .find_map(|name| name.problem(text))
            .map_or(Ok(()), |(reason, problem)| Err(self.error(path, reason, &problem)))
    }

    /// Makes the error of an edit whose lines were not printed with tags.
    pub(super) fn not_printed(&self, path: &str) -> ToolError {
        let numbers = self.numbers();
        let problem = if numbers.start() == numbers.end() {
            format!("line {} was not printed with tags", numbers.start())
        } else {
            format!(
                "lines {}-{} were not all printed with tags, in one version of the file",
                numbers.start(),
                numbers.end()
            )
        };
        self.error(path, Reason::TagNotFound, &problem)
    }

    fn error(&self, path: &str, reason: Reason, problem: &str) -> ToolError {
        let kind = match reason {
            Reason::TagNotFound => ErrorKind::OldTextNotFound,
            _ => ErrorKind::CommandFailed,
        };
        let message = format!("edit {}: {problem}", self.edit + 1);
        ToolError::about(kind, path, reason, message)
            .details(json!({ "path": path, "editIndex": self.edit }))
            .remedies([Remedy::read_again(path)])
    }
}

impl<'a> Name<'a> {
    fn read(
        path: &str,
        edit: usize,
        argument: &'static str,
        name: &'a str,
    ) -> Result<Self, ToolError> {
        match TaggedLine::read(name) {
            Some(line) => Ok(Self { argument, line }),
            None => {
                let shown = fs_guard::quoted(name);
                Err(bad(
                    path,
                    edit,
                    argument,
                    &format!("{shown} is not a number and a tag, as 12#kz"),
                ))
            }
        }
    }

    /// Returns the number of the line.
    pub(super) fn number(&self) -> usize {
        self.line.number
    }

    /// Returns whether the line of a version has this name.
    pub(super) fn is_in(&self, version: &[u8]) -> bool {
        self.problem(version).is_none()
    }

    /// Says why a line of a version is not the one that is named.
    fn problem(&self, version: &[u8]) -> Option<(Reason, String)> {
        let TaggedLine { number, tag, text } = self.line;
        if number == 0 {
            // It is the place above the first line, which has no tag.
            let is_named = !tag.is_empty() || text.is_some_and(|text| !text.is_empty());
            let problem = "line 0 has no tag and no text";
            return is_named.then(|| (Reason::TagNotFound, problem.into()));
        }
        let tags = LineTags::of(version, number..=number);
        let (Some(own), Some(line)) = (tags.tag(number), tags.line(number)) else {
            let count = version.split_inclusive(|&byte| byte == b'\n').count();
            let problem = format!("there is no line {number}: the file had {count} lines");
            return Some((Reason::TagNotFound, problem));
        };
        if tag.is_empty() {
            let problem = format!("`{}` is line {number} without its tag", self.argument);
            return Some((Reason::BadTag, problem));
        }
        if tag != own {
            let problem = format!("line {number} does not have the tag {tag}");
            return Some((Reason::TagNotFound, problem));
        }
        // A reader that shows a line may cut blanks off its end.
        let found = String::from_utf8_lossy(line);
        let is_other = text.is_some_and(|text| text.trim_end() != found.trim_end());
        is_other.then(|| {
            let problem = format!("line {number}#{tag} has another text than `{}`", self.argument);
            (Reason::TagNotFound, problem)
        })
    }
}

/// Makes the error of an argument that names no line.
fn bad(path: &str, edit: usize, argument: &'static str, problem: &str) -> ToolError {
    let message = format!("edit {}: {problem}", edit + 1);
    ToolError::about(ErrorKind::CommandFailed, path, Reason::BadTag, message)
        .details(json!({ "path": path, "editIndex": edit }))
        .remedies([Remedy::give(
            format!("edits[{edit}].{argument}"),
            "a line by its number and tag, as read_file with tags prints it",
        )])
}

/// Makes the error of an edit that gives lines and also what goes with an old text.
pub(super) fn both(path: &str, edit: usize, argument: &'static str) -> ToolError {
    let problem = format!("it names lines, so `{argument}` says nothing");
    bad(path, edit, argument, &problem)
        .remedies([Remedy::omit(format!("edits[{edit}].{argument}"))])
}

/// Returns whether the same lines of two versions of a file, counted from 1, are in each of them
/// once, when as many lines around them as are the same are taken with them.
pub(super) fn is_one_place(versions: [&[u8]; 2], lines: [&RangeInclusive<usize>; 2]) -> bool {
    let [before, now] = versions;
    let mut old = bytes_of(before, lines[0]);
    let mut new = bytes_of(now, lines[1]);
    if old.is_empty() || before[old.clone()] != now[new.clone()] {
        return false;
    }
    let mut more = 1;
    loop {
        if is_once(before, &before[old.clone()]) && is_once(now, &now[new.clone()]) {
            return true;
        }
        let above = lines_before(&before[..old.start]).zip(lines_before(&now[..new.start]));
        let below = lines_after(&before[old.end..]).zip(lines_after(&now[new.end..]));
        let above = length_of_same(above.take(more));
        let below = length_of_same(below.take(more));
        if above + below == 0 {
            return false;
        }
        old = old.start - above..old.end + below;
        new = new.start - above..new.end + below;
        more *= 2;
    }
}

/// Returns the bytes of lines, counted from 1.
fn bytes_of(file: &[u8], lines: &RangeInclusive<usize>) -> Range<usize> {
    let start = line_start(file, *lines.start());
    let count = (lines.end() + 1).saturating_sub(*lines.start());
    start..start + line_start(&file[start..], count + 1)
}

fn lines_after(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    file.split_inclusive(|&byte| byte == b'\n')
}

/// Returns the lines, the last one first.
fn lines_before(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = file;
    std::iter::from_fn(move || {
        let above = rest.split_last()?.1;
        let start = memchr::memrchr(b'\n', above).map_or(0, |feed| feed + 1);
        let (others, line) = rest.split_at(start);
        rest = others;
        Some(line)
    })
}

/// Returns the length of the lines that are the same in both files, up to the first that is not.
fn length_of_same<'f>(lines: impl Iterator<Item = (&'f [u8], &'f [u8])>) -> usize {
    lines.take_while(|(one, other)| one == other).map(|(line, _)| line.len()).sum()
}

/// Returns whether a block of lines is nowhere else in a file.
fn is_once(file: &[u8], block: &[u8]) -> bool {
    let finder = memchr::memmem::Finder::new(block);
    let mut from = 0;
    let mut places = std::iter::from_fn(|| {
        let at = from + finder.find(&file[from..])?;
        from = at + 1;
        Some(at)
    });
    places.by_ref().filter(|&at| at == 0 || file[at - 1] == b'\n').take(2).count() == 1
}

/// Makes the error of tags that are printed in different versions of the file.
pub(super) fn of_different_versions(path: &str) -> ToolError {
    let message = "the tags of the edits are of different versions of the file";
    ToolError::about(ErrorKind::StaleFile, path, Reason::Stale, message)
        .details(json!({ "path": path }))
        .remedies([Remedy::read_again(path)])
}

/// Returns an error with the tags that lines have now: those of the edits, with their neighbours.
pub(super) fn with_tags(
    error: ToolError,
    path: &str,
    sha256: Sha256,
    text: &[u8],
    regions: &[RangeInclusive<usize>],
) -> ToolError {
    let mut found = BTreeMap::new();
    for region in regions {
        let first = region.start().saturating_sub(AROUND).max(1);
        let around = first..=region.end().saturating_add(AROUND);
        if around.end() - around.start() >= MOST {
            continue;
        }
        let tags = LineTags::of(text, around.clone());
        let count = around.clone().take_while(|number| tags.line(*number).is_some()).count();
        if found.len() + count > MOST {
            continue;
        }
        for number in around.take(count) {
            let line = String::from_utf8_lossy(tags.line(number).unwrap_or_default());
            let cut = prefix(&line, MAX_LINE);
            let is_whole = cut.len() == line.len();
            let mark = if is_whole { "" } else { "…" };
            found.insert(number, (is_whole, tags.before(number) + cut + mark));
        }
    }
    if found.is_empty() {
        return error.remedies([Remedy::act(Action::Read, path)]);
    }
    let whole = found.iter().filter(|(_, (is_whole, _))| *is_whole);
    // The place above the first line was seen with it.
    let shown = whole.map(|(&number, _)| if number == 1 { 0..=1 } else { number..=number });
    let shown = shown.collect();
    let lines = found.into_values().map(|(_, line)| line).collect();
    error.also_first(Remedy::UseTags { sha256, shown, lines })
}

/// Returns a text without the tags before its lines; `None` if no line has one.
fn without_tags(text: &str) -> Option<String> {
    if !text.lines().any(is_tagged) {
        return None;
    }
    let lines = text.split_inclusive('\n');
    let lines = lines.map(|line| match line.split_once('|') {
        Some((_, rest)) if is_tagged(line) => rest,
        _ => line,
    });
    Some(lines.collect())
}

/// Returns the names of the lines of a file that were printed with tags, in the order of their
/// numbers: those that an edit can have, and no others. `0` is the place above the first line.
pub(crate) fn printed_names(session: &Session, path: &str) -> Result<Vec<String>, ToolError> {
    let root = session.root();
    let (path, _) = session.find(root, path)?;
    let (present, _) = root.read(&path, session.settings().max_file_size)?;
    let present_hash = Sha256::of(&present);
    let snapshots = session.snapshots_for(None);
    let mut names = BTreeSet::new();
    for (hash, lines) in session.ledger().tagged(path.as_str()) {
        let earlier = snapshots.as_ref().filter(|_| hash != present_hash);
        let earlier = earlier.and_then(|snapshots| snapshots.bytes(&path, hash));
        let bytes = match &earlier {
            Some(bytes) => &bytes[..],
            None if hash == present_hash => &present,
            None => continue,
        };
        let encodings = &session.settings().encodings;
        let Some(text) = encodings.text_of(root, &path, bytes, false) else { continue };
        let numbers: Vec<usize> = lines.numbers().collect();
        let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else { continue };
        let tags = LineTags::of(text.bytes(), first..=last);
        names.extend(numbers.into_iter().map(|number| match tags.tag(number) {
            Some(tag) => (number, format!("{number}#{tag}")),
            None => (0, "0".to_owned()),
        }));
    }
    Ok(names.into_iter().map(|(_, name)| name).collect())
}

/// Refuses a new text whose lines begin with tags, unless the file has such lines itself.
pub(super) fn refuse_in_text(
    path: &str,
    argument: &str,
    text: &str,
    file: &[u8],
) -> Result<(), ToolError> {
    let Some(without) = without_tags(text) else { return Ok(()) };
    if String::from_utf8_lossy(file).lines().any(is_tagged) {
        return Ok(());
    }
    Err(in_text(path, argument, without))
}

/// Refuses the content of a new file in which each line begins with a tag, as it was printed.
pub(super) fn refuse_copied(session: &Session, path: &str, text: &str) -> Result<(), ToolError> {
    let argument = "content";
    let mut lines = text.lines().filter(|line| !line.is_empty());
    match without_tags(text).filter(|_| session.ledger().has_any_tags() && lines.all(is_tagged)) {
        Some(without) => Err(in_text(path, argument, without)),
        None => Ok(()),
    }
}

fn in_text(path: &str, argument: &str, without: String) -> ToolError {
    /// A longer text is not written into an error.
    const SHORT: usize = 4000;
    let message = format!("lines of {argument} begin with tags, which are not part of the file");
    let remedy = if without.len() <= SHORT {
        Remedy::set(argument, without)
    } else {
        Remedy::give(argument, "the text without the tags")
    };
    ToolError::about(ErrorKind::CommandFailed, path, Reason::TagsInText, message)
        .details(json!({ "path": path }))
        .remedies([remedy])
}
