//! The charsets that are declared for files.

use fs_guard::{Globs, RelPath};
use patch_text::text::charset::Charset;
use patch_text::text::encoding::FileText;

use crate::files::Files;
use crate::files::conventions::Conventions;

/// The charsets that are declared for files.
#[derive(Debug, Clone, Default)]
pub struct Encodings {
    declared: Vec<(Globs, Charset)>,
}

impl Encodings {
    /// Declares that the files that match one of `patterns` have a charset. A later declaration
    /// goes before an earlier one.
    pub fn declare(&mut self, patterns: Globs, charset: Charset) {
        self.declared.push((patterns, charset));
    }

    /// Returns the text of one of `files` with these bytes, by the charset that is declared here or
    /// in an `.editorconfig`. `unicode` says whether more than ASCII will be inserted. Returns
    /// `None` when the file is binary.
    #[must_use]
    pub fn text_of<'f>(
        &self,
        files: impl Into<Files>,
        path: &RelPath,
        stored: &'f [u8],
        unicode: bool,
    ) -> Option<FileText<'f>> {
        self.text_by(&Conventions::new(&files.into()), path, stored, unicode)
    }

    /// Returns the same, with conventions that are known.
    pub(crate) fn text_by<'f>(
        &self,
        conventions: &Conventions<'_>,
        path: &RelPath,
        stored: &'f [u8],
        unicode: bool,
    ) -> Option<FileText<'f>> {
        let declared = self.of(path.as_str()).or_else(|| {
            // Text that is UTF-8 beyond ASCII is in no other charset, whatever the conventions for
            // new files are. Whether it is ASCII is found out faster than whether it is UTF-8.
            let is_ascii = stored.is_ascii();
            let asked = if is_ascii { unicode } else { std::str::from_utf8(stored).is_err() };
            asked.then(|| conventions.of(path).charset).flatten()
        });
        FileText::of(stored, declared)
    }

    /// Returns the charset that is declared for a path.
    #[must_use]
    pub fn of(&self, path: &str) -> Option<Charset> {
        self.declared
            .iter()
            .rev()
            .find(|(globs, _)| globs.includes(path))
            .map(|&(_, charset)| charset)
    }
}
