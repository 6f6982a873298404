//! Reads the texts of files, and makes new files, which are stored as the workspace wants them.

use fs_guard::RelPath;
use patch_grammar::{AddedLines, Hunk, LineEndings, Patch, SectionOperation};
use patch_text::text::charset::Charset;
use patch_text::text::encoding::{self, FileText};
use patch_text::text::lines::{BOM, with_crlf};

use crate::files::Files;
use crate::files::conventions::{Convention, Conventions};
use crate::plan::options::Options;
use crate::plan::shared_lines::{self, Marks, SharedLines};
use crate::plan::{Image, PlanNote, PostImage, conflict_markers, placeholders};

/// A new file.
#[derive(Debug)]
pub(crate) struct Added {
    pub(crate) post: PostImage,
    /// The changes of the text by declaration or convention.
    pub(crate) notes: Vec<PlanNote>,
}

/// Reads and makes the texts of files, by the options and the conventions of the workspace.
#[derive(Debug)]
pub(crate) struct Texts<'a> {
    pub(crate) options: &'a Options,
    conventions: Conventions<'a>,
    /// New files are hashed later.
    hashed_late: bool,
    /// The patch whose text the plan may keep, so that new files are not copied.
    shared: Option<&'a Patch>,
}

impl<'a> Texts<'a> {
    pub(crate) fn new(files: &'a Files, patch: &'a Patch, options: &'a Options) -> Self {
        let added = patch.sections().iter().map(|section| match &section.operation {
            SectionOperation::Add(lines) => lines.text.len(),
            _ => 0,
        });
        // To keep a text that is mostly something else would waste memory.
        let is_shared = added.sum::<usize>() >= patch.text().whole().len() / 2;
        Self {
            options,
            conventions: Conventions::new(files),
            hashed_late: files.are_hashed_late(),
            shared: is_shared.then_some(patch),
        }
    }

    /// Returns the text of a file that hunks are applied to; `None` when it is binary.
    pub(crate) fn of<'f>(
        &self,
        path: &RelPath,
        stored: &'f [u8],
        hunks: &[Hunk<'_>],
    ) -> Option<FileText<'f>> {
        // A diff has the bytes of the file as they are stored.
        if hunks.iter().any(|hunk| hunk.endings.is_of_diff()) {
            return FileText::of(stored, None);
        }
        let unicode = hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| !line.text.is_ascii());
        self.options.encodings.text_by(&self.conventions, path, stored, unicode)
    }

    /// Makes a new file from its lines, by the conventions of the workspace where the patch says
    /// nothing. Returns `None` when its charset cannot store them.
    pub(crate) fn make(&self, path: &RelPath, lines: &AddedLines<'_>) -> Option<Added> {
        let rule = self.options.add_newline;
        let mut notes = Vec::new();
        // A diff states every byte.
        let exact = lines.endings.is_of_diff();
        let convention = if exact { Convention::default() } else { self.conventions.of(path) };
        let declared = self.options.encodings.of(path.as_str()).or(convention.charset);
        let charset = declared.filter(|&charset| !exact && charset != Charset::UTF_8);
        let as_it_stands =
            !matches!(convention.crlf, Some((true, _))) && !convention.bom && charset.is_none();
        if let Some(patch) = self.shared.filter(|_| as_it_stands && !self.hashed_late) {
            let is_prose = placeholders::is_prose(path.as_str());
            let mark = |line: &[u8], marks: &mut Marks| {
                marks.conflict |= conflict_markers::begins(line);
                marks.placeholder |= placeholders::is_one(line, is_prose);
            };
            let (shared, sha256, size) = SharedLines::of(patch, lines, rule, mark);
            return Some(Added { post: PostImage::new(Image::Lines(shared), sha256, size), notes });
        }
        let mut bytes = shared_lines::added(lines, rule);
        if !as_it_stands {
            let says_nothing = lines.endings == LineEndings::Framing
                || !lines.lines().any(|line| line.ends_with(b"\r"));
            if let Some((true, by)) =
                convention.crlf.filter(|_| says_nothing && bytes.contains(&b'\n'))
            {
                bytes = with_crlf(&bytes);
                notes.push(PlanNote::Crlf { path: path.to_string(), by });
            }
            if convention.bom && !bytes.is_empty() && !bytes.starts_with(BOM) {
                bytes.splice(0..0, BOM.iter().copied());
            }
            if let Some(charset) = charset {
                bytes = encoding::new_file(&bytes, charset)?;
                let path = path.to_string();
                notes.push(PlanNote::Encoded { path, encoding: charset.name() });
            }
        }
        let make = if self.hashed_late { PostImage::unhashed } else { PostImage::kept };
        Some(Added { post: make(bytes), notes })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fs_guard::{Access, Policy};
    use patch_grammar::ParseOptions;

    use super::*;
    use crate::commit::memory::MemoryTree;

    fn add(name: &str, lines: usize) -> String {
        format!("*** Add File: {name}\n{}", "+1234567\n".repeat(lines))
    }

    fn update(lines: usize) -> String {
        format!("*** Update File: old\n@@\n{}-x\n", " 1234567\n".repeat(lines))
    }

    #[test]
    fn the_text_is_kept_where_most_of_it_is_new_files() {
        for (text, convention, expected) in [
            (add("a", 50), "", &[true][..]),
            (add("a", 50) + &add("b", 50), "", &[true, true]),
            (add("a", 50) + &update(20), "", &[true]),
            (add("a", 50) + &update(80), "", &[false]),
            (add("a", 50) + &add("b", 50), "[b]\nend_of_line = crlf", &[true, false]),
            (add("a", 50) + &add("b", 50), "[b]\ncharset = utf-8-bom", &[true, false]),
            (add("a", 50) + &add("b", 50), "[b]\ncharset = utf-16le", &[true, false]),
            (add("a", 50) + &add("b", 50), "[b]\nend_of_line = lf", &[true, true]),
        ] {
            let mut tree = MemoryTree::new();
            tree.insert(".editorconfig", convention.as_bytes().to_vec());
            let files = Files::of_tree(Arc::new(tree), Policy::new(".kept"));
            let options = Options::default();
            let text = format!("*** Begin Patch\n{text}*** End Patch\n");
            let patch = patch_grammar::parse(text, &ParseOptions::default()).unwrap();
            let texts = Texts::new(&files, &patch, &options);
            let made = patch.sections().iter().filter_map(|section| match &section.operation {
                SectionOperation::Add(lines) => {
                    let path = files.check(&section.path.text, Access::Create).unwrap();
                    Some(matches!(texts.make(&path, lines).unwrap().post.image, Image::Lines(_)))
                }
                _ => None,
            });
            assert_eq!(made.collect::<Vec<_>>(), expected, "{convention} {patch:?}");
        }
    }
}
