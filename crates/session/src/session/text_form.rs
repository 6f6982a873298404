//! The form of a kept patch, for reading it again.

use patch_grammar::diff::DiffOptions;

use crate::input::PatchText;
use crate::input::paths::PathRules;

/// The form of a kept patch, for reading it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextForm {
    language: PatchLanguage,
    /// The patch is to be reversed.
    reverse: bool,
    /// The rules for paths, in one line; empty if there are none.
    paths: String,
}

/// The language of a kept patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchLanguage {
    /// The envelope.
    Envelope,
    /// An envelope written from SEARCH/REPLACE blocks.
    Blocks,
    /// An envelope written from edits. It is not kept: its lines need not be whole.
    Edits,
    /// A diff, with the number of leading components to strip from its paths, if given.
    Diff(Option<usize>),
}

impl TextForm {
    /// The form of a diff as this program writes it.
    pub const GIT_DIFF: Self =
        Self { language: PatchLanguage::Diff(None), reverse: false, paths: String::new() };

    /// Returns the form of a text.
    #[must_use]
    pub fn of(text: &PatchText) -> Self {
        let language = match text.diff {
            Some(how) => PatchLanguage::Diff(how.strip),
            None if text.edits.is_some() => PatchLanguage::Edits,
            None if text.exact => PatchLanguage::Blocks,
            None => PatchLanguage::Envelope,
        };
        Self { language, reverse: text.reverse, paths: text.paths.line() }
    }

    /// Returns the form of the reversed patch.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { reverse: !self.reverse, ..self }
    }

    pub(crate) fn language(&self) -> PatchLanguage {
        self.language
    }

    /// Returns whether the rules for paths are those of another form.
    pub(crate) fn has_paths_of(&self, other: &Self) -> bool {
        self.paths == other.paths
    }

    /// Writes the form as a line, which [`of_line`](Self::of_line) reads without its end.
    #[must_use]
    pub fn line(&self) -> String {
        let language = match self.language {
            PatchLanguage::Envelope => "envelope".to_owned(),
            PatchLanguage::Blocks => "blocks".into(),
            PatchLanguage::Edits => "edits".into(),
            PatchLanguage::Diff(None) => "diff".into(),
            PatchLanguage::Diff(Some(strip)) => format!("diff {strip}"),
        };
        let reversed = if self.reverse { "reversed " } else { "" };
        let paths = if self.paths.is_empty() { "" } else { " for " };
        format!("{reversed}{language}{paths}{}\n", self.paths)
    }

    /// Reads the line of a form; `None` if it is none, or that of edits.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let (language, paths) = line.split_once(" for ").unwrap_or((line, ""));
        let (reverse, language) = match language.strip_prefix("reversed ") {
            Some(language) => (true, language),
            None => (false, language),
        };
        let language = match language.split_once(' ') {
            None if language == "envelope" => PatchLanguage::Envelope,
            None if language == "blocks" => PatchLanguage::Blocks,
            None if language == "diff" => PatchLanguage::Diff(None),
            Some(("diff", strip)) => PatchLanguage::Diff(Some(strip.parse().ok()?)),
            _ => return None,
        };
        Some(Self { language, reverse, paths: paths.to_owned() })
    }

    /// Takes bytes as a patch in this form; `None` for edits, and where a pattern for paths is
    /// malformed.
    #[must_use]
    pub fn read(&self, bytes: Vec<u8>) -> Option<PatchText> {
        let diff = match self.language {
            PatchLanguage::Edits => return None,
            PatchLanguage::Envelope | PatchLanguage::Blocks => None,
            PatchLanguage::Diff(strip) => Some(DiffOptions { strip, ..DiffOptions::default() }),
        };
        let mut text = PatchText::new(bytes, diff);
        text.exact = self.language == PatchLanguage::Blocks;
        text.reverse = self.reverse;
        text.paths = PathRules::of_line(&self.paths)?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_form() {
        for language in
            [PatchLanguage::Envelope, PatchLanguage::Diff(None), PatchLanguage::Diff(Some(2))]
        {
            for paths in ["", "[\"some for dir\",[[\"--include\",\"*.rs\"]]]"] {
                for reverse in [false, true] {
                    let form = TextForm { language, reverse, paths: paths.into() };
                    assert_eq!(TextForm::of_line(form.line().trim_end()), Some(form.clone()));
                    let read = form.read(Vec::new()).expect("rules for paths");
                    assert_eq!(TextForm::of(&read), form);
                }
            }
        }
        for line in ["", "diff x", "envelope 1", "patch for []", "reversed", "edits"] {
            assert_eq!(TextForm::of_line(line), None);
        }
    }
}
