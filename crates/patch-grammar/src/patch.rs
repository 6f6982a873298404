//! A patch and its text.

use std::convert::Infallible;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use self_cell::self_cell;

use crate::ast::{Section, SectionOperation};
use crate::error::{ParseError, Warning};
use crate::lines::Lines;

/// A text and the part of it that is a patch, shared by all who need them.
#[derive(Clone, PartialEq, Eq)]
pub struct Text {
    whole: Arc<Vec<u8>>,
    part: Range<usize>,
}

impl Text {
    /// Takes a part of the bytes as the patch. Lines and byte ranges still count from the start of
    /// all bytes.
    #[must_use]
    pub fn part(self, part: Range<usize>) -> Self {
        Self { part, ..self }
    }

    /// Returns the bytes of the patch.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.whole[self.part.clone()]
    }

    /// Returns all bytes, also around the patch.
    #[must_use]
    pub fn whole(&self) -> &Arc<Vec<u8>> {
        &self.whole
    }

    /// Returns where the patch stands.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.part.clone()
    }

    /// Returns the lines of the patch.
    pub(crate) fn lines(&self) -> Lines<'_> {
        Lines::new(&self.whole, self.range())
    }
}

impl From<Arc<Vec<u8>>> for Text {
    fn from(whole: Arc<Vec<u8>>) -> Self {
        let part = 0..whole.len();
        Self { whole, part }
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Arc::new(bytes).into()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl<T: AsRef<[u8]> + ?Sized> From<&T> for Text {
    fn from(bytes: &T) -> Self {
        bytes.as_ref().to_vec().into()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}

/// A whole patch. It owns its text, and its sections borrow from that: `self_cell` keeps both
/// together. Clones share them.
#[derive(Debug, Clone)]
pub struct Patch {
    tree: Arc<TreeCell>,
    part: Range<usize>,
    /// The things that were overlooked to read the text.
    pub warnings: Vec<Warning>,
    /// Notes on what was done to the text before it was parsed; the parser leaves them empty.
    pub notes: Vec<String>,
    /// The sections reverse the text, and are in reverse order: the last section of the text comes
    /// first.
    pub reversed: bool,
    /// Old lines are exact and unique, and no file is replaced, whatever the options allow: what
    /// SEARCH/REPLACE blocks mean.
    pub exact: bool,
    /// New files are files that stood in a text in full, if they did.
    pub whole_files: Option<WholeFiles>,
    /// Paths are already relative to the root of the files, and not checked again.
    pub relative: bool,
    /// The patch is taken as written, without corrections:
    /// [`ParseOptions::to_the_letter`](crate::ParseOptions::to_the_letter).
    pub to_the_letter: bool,
}

/// Whether files that stood in a text in full may replace others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WholeFiles {
    /// They are new: a text that shows an existing file may show a part of it.
    New,
    /// They may replace others, as their caller said that they are whole.
    Replacing,
}

#[derive(Debug)]
struct SectionTree<'p> {
    sections: Vec<Section<'p>>,
}

/// The texts that sections borrow from: their own, and those of the sections they were made of.
#[derive(Debug)]
struct SectionSource {
    text: Arc<Vec<u8>>,
    of: Option<Arc<TreeCell>>,
}

self_cell! {
    struct TreeCell {
        owner: SectionSource,
        #[covariant]
        dependent: SectionTree,
    }

    impl {Debug}
}

/// The sections and the warnings of a text.
pub(crate) type Parsed<'p> = (Vec<Section<'p>>, Vec<Warning>);

/// Sets a line to its counterpart in another text; `lines` has one for each line, both from 1.
fn renumber(line: &mut u32, lines: &[u32]) {
    let index = (*line as usize).saturating_sub(1);
    *line = lines.get(index).or(lines.last()).copied().unwrap_or(*line);
}

impl Patch {
    pub(crate) fn read(
        text: Text,
        read: impl for<'p> FnOnce(&'p [u8]) -> Result<Parsed<'p>, ParseError>,
    ) -> Result<Self, ParseError> {
        let Text { whole, part } = text;
        let mut warnings = Vec::new();
        let tree = TreeCell::try_new(SectionSource { text: whole, of: None }, |source| {
            let (sections, found) = read(&source.text)?;
            warnings = found;
            Ok::<_, ParseError>(SectionTree { sections })
        })?;
        let tree = Arc::new(tree);
        Ok(Self {
            tree,
            part,
            warnings,
            notes: Vec::new(),
            reversed: false,
            exact: false,
            whole_files: None,
            relative: false,
            to_the_letter: false,
        })
    }

    /// Returns the file operations, in the order of the text.
    #[must_use]
    pub fn sections(&self) -> &[Section<'_>] {
        &self.tree.borrow_dependent().sections
    }

    fn whole(&self) -> &Arc<Vec<u8>> {
        &self.tree.borrow_owner().text
    }

    /// Returns the text that was parsed. An envelope is UTF-8; a diff need not be.
    #[must_use]
    pub fn text(&self) -> Text {
        Text { whole: Arc::clone(self.whole()), part: self.part.clone() }
    }

    /// Returns the bytes of a span. Spans are byte ranges of [`Text::whole`].
    #[must_use]
    pub fn bytes(&self, span: Range<usize>) -> &[u8] {
        &self.whole()[span]
    }

    /// Returns a part of the text, such as the lines of a new file, without a copy. What stands
    /// elsewhere is copied.
    #[must_use]
    pub fn share(&self, part: &[u8]) -> Text {
        let whole = self.whole();
        let start = part.as_ptr().addr().wrapping_sub(whole.as_ptr().addr());
        let range = start..start.wrapping_add(part.len());
        if whole.get(range.clone()).is_some_and(|found| std::ptr::eq(found, part)) {
            Text::from(Arc::clone(whole)).part(range)
        } else {
            Text::from(part)
        }
    }

    /// Makes a patch with other sections of the same text. `make` gets the bytes for the spans, and
    /// the sections.
    ///
    /// # Errors
    ///
    /// Those of `make`.
    pub fn with_sections<E>(
        &self,
        make: impl for<'p> FnOnce(&'p [u8], &[Section<'p>]) -> Result<Vec<Section<'p>>, E>,
    ) -> Result<Self, E> {
        let source =
            SectionSource { text: Arc::clone(self.whole()), of: Some(Arc::clone(&self.tree)) };
        let tree = TreeCell::try_new(source, |source| {
            let of = source.of.as_ref().map_or(&[][..], |of| &of.borrow_dependent().sections);
            make(&source.text, of).map(|sections| SectionTree { sections })
        })?;
        Ok(Self {
            tree: Arc::new(tree),
            part: self.part.clone(),
            warnings: self.warnings.clone(),
            notes: self.notes.clone(),
            reversed: self.reversed,
            exact: self.exact,
            whole_files: self.whole_files,
            relative: self.relative,
            to_the_letter: self.to_the_letter,
        })
    }

    /// Makes a patch with other sections of the same text, as
    /// [`with_sections`](Self::with_sections) does where nothing can fail.
    #[must_use]
    pub fn map_sections(
        &self,
        make: impl for<'p> FnOnce(&[Section<'p>]) -> Vec<Section<'p>>,
    ) -> Self {
        let Ok(made) = self.with_sections(|_, sections| Ok::<_, Infallible>(make(sections)));
        made
    }

    /// Returns the patch with the lines of the text it was made from; `lines` has one for each line
    /// of this text, both from 1. Byte ranges stay as they are.
    #[must_use]
    pub fn from_lines(&self, lines: &[u32]) -> Self {
        let mut changed = self.map_sections(|sections| {
            let mut sections = sections.to_vec();
            for section in &mut sections {
                section.paths_mut().for_each(|path| renumber(&mut path.line, lines));
                let hunks = match &mut section.operation {
                    SectionOperation::Update { hunks, .. }
                    | SectionOperation::Copy { hunks, .. } => &mut hunks[..],
                    SectionOperation::Delete(hunks) => hunks.as_deref_mut().unwrap_or_default(),
                    SectionOperation::Add(_) => &mut [],
                };
                for hunk in hunks {
                    renumber(&mut hunk.line, lines);
                    hunk.headers.iter_mut().for_each(|header| renumber(&mut header.line, lines));
                    hunk.lines.iter_mut().for_each(|line| renumber(&mut line.line, lines));
                }
            }
            sections
        });
        changed.warnings.iter_mut().for_each(|warning| renumber(&mut warning.line, lines));
        changed
    }

    /// Counts the hunks of all sections.
    #[must_use]
    pub fn hunk_count(&self) -> usize {
        self.sections().iter().map(|section| section.hunks().len()).sum()
    }

    /// Returns the 0-based place of a section in the text.
    #[must_use]
    pub fn place_in_text(&self, section: usize) -> usize {
        if self.reversed { self.sections().len() - 1 - section } else { section }
    }
}

impl PartialEq for Patch {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
            && self.sections() == other.sections()
            && self.warnings == other.warnings
            && self.notes == other.notes
            && self.reversed == other.reversed
            && self.exact == other.exact
            && self.whole_files == other.whole_files
    }
}

impl Eq for Patch {}
