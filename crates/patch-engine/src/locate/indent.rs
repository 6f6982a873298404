//! Indents inserted lines like the file, if the hunk matched with another indentation.

use std::borrow::Cow;

use patch_grammar::LineKind;

use super::draft::{Draft, Node};
use super::needle::Needle;
use super::pass::{Pass, indentation, trim};
use super::placed::Note;

/// The difference between the indentation of a hunk and that of the lines it matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reindent {
    /// None, or different ones per line: inserted lines stay as they are written.
    Keep,
    /// The file has these blanks before the hunk's indentation.
    Add(Vec<u8>),
    /// The hunk has these blanks before the file's indentation.
    Remove(Vec<u8>),
}

impl<'p> Needle<'p> {
    /// Returns the difference that all matched lines have in common.
    pub(crate) fn reindentation(
        &self,
        matched: &[Node],
        dropped: usize,
        pass: Pass,
        draft: &Draft<'_, '_>,
    ) -> Reindent {
        if pass < Pass::Blanks {
            return Reindent::Keep;
        }
        let mut common = None;
        for (&wanted, &node) in self.old_without(dropped).iter().zip(matched) {
            let found = draft.text(node);
            let (wanted_blanks, found_blanks) =
                (&wanted[..indentation(wanted)], &found[..indentation(found)]);
            if wanted.len() == wanted_blanks.len() {
                continue;
            }
            let difference = if wanted_blanks == found_blanks {
                Reindent::Keep
            } else if let Some(added) = found_blanks.strip_suffix(wanted_blanks) {
                Reindent::Add(added.to_vec())
            } else if let Some(removed) = wanted_blanks.strip_suffix(found_blanks) {
                Reindent::Remove(removed.to_vec())
            } else {
                return Reindent::Keep;
            };
            if common.get_or_insert_with(|| difference.clone()) != &difference {
                return Reindent::Keep;
            }
        }
        let reindent = common.unwrap_or(Reindent::Keep);
        let inserted = || self.hunk.lines.iter().filter(|line| line.kind == LineKind::Insert);
        match &reindent {
            Reindent::Remove(blanks)
                if !inserted().all(|line| is_blank(line.text) || line.text.starts_with(blanks)) =>
            {
                Reindent::Keep
            }
            _ if inserted().all(|line| is_blank(line.text)) => Reindent::Keep,
            _ => reindent,
        }
    }
}

impl Reindent {
    /// Returns an inserted line as it is written to the file.
    pub(crate) fn apply<'p>(&self, text: &'p [u8]) -> Cow<'p, [u8]> {
        match self {
            Self::Add(blanks) if !is_blank(text) => Cow::Owned([blanks, text].concat()),
            Self::Remove(blanks) => Cow::Borrowed(text.strip_prefix(&blanks[..]).unwrap_or(text)),
            _ => Cow::Borrowed(text),
        }
    }

    pub(crate) fn note(&self) -> Option<Note> {
        let text = |blanks: &[u8]| String::from_utf8_lossy(blanks).into_owned();
        match self {
            Self::Keep => None,
            Self::Add(blanks) => {
                Some(Note::Reindented { added: text(blanks), removed: String::new() })
            }
            Self::Remove(blanks) => {
                Some(Note::Reindented { added: String::new(), removed: text(blanks) })
            }
        }
    }
}

fn is_blank(text: &[u8]) -> bool {
    trim(text).is_empty()
}
