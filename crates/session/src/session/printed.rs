//! Lines of files in answers: a session has seen the lines shown to it.

use std::ops::RangeInclusive;

use fs_guard::Access;
use patch_engine::Sha256;

use crate::session::Session;
use crate::text::{split_terminator, without_bom};

/// The most files of an answer to note lines of: nobody writes a change from a longer list.
const MAX_FILES: usize = 200;

/// Lines of a file in an answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Printed<'r> {
    /// The file.
    pub path: &'r str,
    /// The number of the first one.
    pub first: usize,
    /// The lines, without terminators.
    pub lines: Vec<&'r str>,
}

impl Printed<'_> {
    /// Returns the numbers of the printed lines found in a file.
    fn found_in(&self, file: &[&[u8]]) -> impl Iterator<Item = RangeInclusive<usize>> {
        (self.first.max(1)..)
            .zip(&self.lines)
            .filter(|(number, line)| {
                file.get(number - 1).is_some_and(|found| String::from_utf8_lossy(found) == **line)
            })
            .map(|(number, _)| number..=number)
    }
}

impl Session {
    /// Notes the lines of files in an answer. Each line is compared with the present file, so a
    /// line cut short or changed since does not count.
    #[doc(hidden)]
    pub fn note_printed(&self, mut printed: Vec<Printed<'_>>) {
        printed.sort_by_key(|lines| lines.path);
        let of_files = printed.chunk_by(|one, other| one.path == other.path);
        for of_file in of_files.take(MAX_FILES) {
            // A file that cannot be read or noted does not count.
            let _ = self.note_lines_of(of_file);
        }
    }

    fn note_lines_of(&self, printed: &[Printed<'_>]) -> Option<()> {
        let root = self.workspace().root();
        let path = root.check(printed.first()?.path, Access::Read).ok()?;
        let (bytes, _) = root.read(&path, self.settings().max_file_size).ok()?;
        let text = self.settings().encodings.text_of(root, &path, &bytes, false)?;
        let lines = lines(text.bytes());
        let seen = printed.iter().flat_map(|printed| printed.found_in(&lines));
        let hash = Sha256::of(&bytes);
        self.ledger().note_lines(self.workspace(), path.as_str(), hash, seen).ok()
    }

    /// Returns the present hash of a file, if every line of this version was printed.
    pub(crate) fn printed_whole(&self, path: &fs_guard::RelPath) -> Option<Sha256> {
        let root = self.workspace().root();
        let (bytes, _) = root.read(path, self.settings().max_file_size).ok()?;
        let text = self.settings().encodings.text_of(root, path, &bytes, false)?;
        let hash = Sha256::of(&bytes);
        let count = lines(text.bytes()).len();
        self.ledger().has_lines(path.as_str(), hash, &[1..=count]).then_some(hash)
    }
}

/// Splits a text into the lines shown by tools.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    let lines = without_bom(text).split_inclusive(|&byte| byte == b'\n');
    lines.map(|line| split_terminator(line).0).collect()
}
