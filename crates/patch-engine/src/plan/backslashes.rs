//! Paths as Windows writes them.

use std::collections::{HashMap, HashSet};

use fs_guard::Access;
use patch_grammar::{Patch, Section, SectionOperation, Spanned};

use crate::files::Files;
use crate::plan::near::of_git;
use crate::plan::paths::is_file;

/// Reads backslashes in the paths of a patch as slashes, where that is clear.
#[derive(Debug, Default)]
pub(super) struct Backslashes {
    /// The files that sections above make or move to such a path.
    made: HashSet<String>,
    /// The names in the directories that were looked at.
    listed: HashMap<String, HashSet<Vec<u8>>>,
}

/// Returns whether a path of the patch may have to be read so.
pub(super) fn are_in(patch: &Patch) -> bool {
    patch.sections().iter().flat_map(Section::paths).any(|path| path.text.contains('\\'))
}

impl Backslashes {
    /// Changes the paths of a section, and returns a note for each.
    pub(super) fn read(
        &mut self,
        files: &Files,
        patch: &Patch,
        section: &mut Section<'_>,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        let mut is_new = matches!(section.operation, SectionOperation::Add(_));
        for path in section.paths_mut() {
            if let Some(read) = self.slashes(files, patch, path, is_new) {
                notes.push(format!(
                    "the backslashes in line {} were read as slashes: {}",
                    path.line,
                    fs_guard::quoted(&read)
                ));
                if is_new {
                    self.made.insert(read.clone());
                }
                path.text = read.into();
            }
            // The second path is where it goes.
            is_new = true;
        }
        notes
    }

    /// Returns the path with slashes, if nothing has the name with backslashes, and the other is
    /// that of a file that is there, or of a new one. A name that git quoted means its backslashes.
    fn slashes(
        &mut self,
        files: &Files,
        patch: &Patch,
        path: &Spanned<'_>,
        is_new: bool,
    ) -> Option<String> {
        let text = &*path.text;
        let is_absolute = text.starts_with('\\') || text.split(['\\', '/']).next()?.ends_with(':');
        if !text.contains('\\')
            || is_absolute
            || patch.bytes(path.span.clone()).starts_with(b"\"")
            || of_git(text).is_some()
        {
            return None;
        }
        let parts: Vec<&str> = text.split(['\\', '/']).filter(|part| !part.is_empty()).collect();
        if parts.contains(&"..") {
            return None;
        }
        let read = parts.join("/");
        let is_meant = is_new || is_file(files, &read) || self.made.contains(&read);
        (is_meant && !self.is_there(files, text)).then_some(read)
    }

    /// Returns whether something has the name with backslashes: then that may be meant.
    fn is_there(&mut self, files: &Files, path: &str) -> bool {
        let mut above: Vec<&str> = Vec::new();
        for part in path.split('/') {
            if part.contains('\\') {
                let names = self.listed.entry(above.join("/")).or_insert_with_key(|dir| {
                    let dir = (!dir.is_empty()).then(|| files.check(dir, Access::Read));
                    let entries = dir.transpose().and_then(|dir| files.read_dir(dir.as_ref()));
                    entries.unwrap_or_default().into_iter().map(|(name, _)| name).collect()
                });
                return names.contains(part.as_bytes());
            }
            if part != "." {
                above.push(part);
            }
        }
        false
    }
}
