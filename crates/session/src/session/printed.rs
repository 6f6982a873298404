//! Lines of files in answers: a session that was shown them has seen them.

use std::ops::RangeInclusive;

use fs_guard::Access;
use patch_engine::Sha256;

use crate::session::Session;
use crate::text::{split_terminator, without_bom};

/// The most files of an answer whose lines are noted: a longer list is not what a change is written
/// from.
const MAX_FILES: usize = 200;

/// Lines of a file as an answer has them.
#[derive(Debug, PartialEq, Eq)]
pub struct Printed<'r> {
    /// The file.
    pub path: &'r str,
    /// The number of the first one.
    pub first: usize,
    /// The lines, without terminators.
    pub lines: Vec<&'r str>,
}

impl Session {
    /// Notes the lines of files that an answer shows. Each is compared with the file as it is now,
    /// so that a line that was cut or has changed since does not count.
    #[doc(hidden)]
    pub fn note_printed(&self, mut printed: Vec<Printed<'_>>) {
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
