//! Lines of files in answers: a session that was shown them has seen them.
//!
//! What counts are the lines as they were really sent, after an answer was cut.

use std::ops::RangeInclusive;

use fs_guard::Access;
use patch_engine::Sha256;
use serde_json::Value;

use crate::answer::hints::Hint;
use crate::answer::text::{split_terminator, without_bom};
use crate::session::Session;
use crate::tools::call::{Data, Reply};

/// The most files of an answer whose lines are noted: a longer list is not what a change is written
/// from.
const MAX_FILES: usize = 200;

/// Lines of a file as an answer has them.
#[derive(Debug, PartialEq, Eq)]
struct Printed<'r> {
    path: &'r str,
    /// The number of the first one.
    first: usize,
    lines: Vec<&'r str>,
}

impl Session {
    /// Notes the lines of files that an answer shows. Each is compared with the file as it is now,
    /// so that a line that was cut or has changed since does not count.
    pub(crate) fn note_printed(&self, reply: &Reply) {
        let mut printed = printed(reply);
        printed.sort_by_key(|lines| lines.path);
        let of_files = printed.chunk_by(|one, other| one.path == other.path);
        for of_file in of_files.take(MAX_FILES) {
            // What cannot be read or noted does not count.
            let _ = self.note_lines_of(of_file);
        }
    }

    fn note_lines_of(&self, printed: &[Printed<'_>]) -> Option<()> {
        let root = self.workspace().root();
        let path = root.check(printed.first()?.path, Access::Read).ok()?;
        let (bytes, _) = root.read(&path, self.settings().max_file_size).ok()?;
        let text = self.settings().encodings.text_of(root, &path, &bytes, false)?;
        let lines = lines(text.bytes());
        let is_there = |number: usize, line: &str| {
            lines.get(number - 1).is_some_and(|found| String::from_utf8_lossy(found) == line)
        };
        let numbered = |printed: &Printed<'_>| {
            let numbers = printed.first.max(1)..;
            let lines =
                numbers.zip(&printed.lines).filter(|(number, line)| is_there(*number, line));
            lines.map(|(number, _)| number..=number).collect::<Vec<RangeInclusive<usize>>>()
        };
        let seen = printed.iter().flat_map(numbered);
        let hash = Sha256::of(&bytes);
        self.ledger().note_lines(self.workspace(), path.as_str(), hash, seen).ok()
    }

    /// Returns the hash of a file of which every line was printed, as it is now.
    pub(crate) fn printed_whole(&self, path: &fs_guard::RelPath) -> Option<Sha256> {
        let root = self.workspace().root();
        let (bytes, _) = root.read(path, self.settings().max_file_size).ok()?;
        let text = self.settings().encodings.text_of(root, path, &bytes, false)?;
        let (hash, count) = (Sha256::of(&bytes), lines(text.bytes()).len());
        self.ledger().has_lines(path.as_str(), hash, &[1..=count]).then_some(hash)
    }
}

/// Splits a text into its lines, as tools show them.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    let lines = without_bom(text).split_inclusive(|&byte| byte == b'\n');
    lines.map(|line| split_terminator(line).0).collect()
}

/// Finds the lines of files in an answer.
fn printed(reply: &Reply) -> Vec<Printed<'_>> {
    match reply {
        Reply::Success(success) => match &success.data {
            Data::SearchFiles(data) => {
                let of_lines = data.matches.iter().filter(|found| found.line.is_some());
                of_lines
                    .map(|found| Printed {
                        path: &found.path,
                        first: found.first_line,
                        lines: found.preview.split('\n').collect(),
                    })
                    .collect()
            }
            _ => Vec::new(),
        },
        Reply::Failure(failure) => {
            let error = &failure.error;
            let mut all = Vec::new();
            let path = error.path.as_deref();
            let own = error.hints.iter().filter_map(|hint| match hint {
                Hint::ReplaceHunk { lines } => Some(lines.iter().map(String::as_str).collect()),
                _ => None,
            });
            quoted(path, &error.details, own, &mut all);
            for reject in error.details["rejects"].as_array().into_iter().flatten() {
                let hints = reject["hints"].as_array().into_iter().flatten();
                let hunks = hints.filter(|hint| hint["hint"] == "replace_hunk");
                let hunks = hunks.map(|hint| texts(&hint["lines"]));
                quoted(reject["path"].as_str(), reject, hunks, &mut all);
            }
            all
        }
        // Its answer is one line.
        Reply::EditPatch(_) => Vec::new(),
    }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Adds the lines of the file at `path` that the details of an error quote: the region that is
/// nearest to what was looked for, also as hunks to paste, and what is there now in a conflict.
fn quoted<'r>(
    path: Option<&'r str>,
    details: &'r Value,
    hunks: impl Iterator<Item = Vec<&'r str>>,
    all: &mut Vec<Printed<'r>>,
) {
    let Some(path) = path else { return };
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let mut add = |first: Option<usize>, lines: Vec<&'r str>| {
        all.extend(first.map(|first| Printed { path, first, lines }));
    };
    let nearest = &details["nearest"];
    let start = number(&nearest["startLine"]);
    for line in nearest["region"].as_array().into_iter().flatten() {
        add(number(&line["line"]), line["text"].as_str().into_iter().collect());
    }
    let difference = &nearest["firstDifference"];
    add(number(&difference["fileLine"]), difference["found"].as_str().into_iter().collect());
    let region = nearest["region"].as_array().into_iter().flatten();
    let region: Vec<&str> = region.filter_map(|line| line["text"].as_str()).collect();
    for hunk in hunks {
        let is_block = hunk.first().is_some_and(|line| line.starts_with('<'));
        let old: Vec<&str> = if is_block {
            hunk.into_iter().skip(1).take_while(|line| *line != "=======").collect()
        } else {
            hunk.into_iter().filter_map(|line| line.strip_prefix([' ', '-'])).collect()
        };
        // A hunk to paste may have more lines above the region.
        let above = (0..old.len()).find(|&above| old[above..].starts_with(&region));
        add(start.map(|start| start.saturating_sub(above.unwrap_or(0))), old);
    }
    let current = &details["current"];
    add(
        number(&current["startLine"]),
        current["text"].as_str().into_iter().flat_map(str::lines).collect(),
    );
}
