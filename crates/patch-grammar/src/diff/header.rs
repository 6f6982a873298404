//! Git's own lines before the hunks of a file, and what they say, for those who only show the diff.

use crate::outside::binary_file;

/// The subject of a line of git's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitLine {
    OldMode,
    NewMode,
    Created,
    Deleted,
    MovedFrom,
    MovedTo,
    CopiedFrom,
    CopiedTo,
    Ids,
    Similarity,
    Dissimilarity,
}

impl GitLine {
    /// Recognizes a line by its first words; also returns how long they are.
    pub(super) fn of(line: &[u8]) -> Option<(Self, usize)> {
        /// Those of renames have an older form too.
        const WORDS: [(&[u8], GitLine); 13] = [
            (b"old mode ", GitLine::OldMode),
            (b"new mode ", GitLine::NewMode),
            (b"new file mode ", GitLine::Created),
            (b"deleted file mode ", GitLine::Deleted),
            (b"rename from ", GitLine::MovedFrom),
            (b"rename old ", GitLine::MovedFrom),
            (b"rename to ", GitLine::MovedTo),
            (b"rename new ", GitLine::MovedTo),
            (b"copy from ", GitLine::CopiedFrom),
            (b"copy to ", GitLine::CopiedTo),
            (b"index ", GitLine::Ids),
            (b"similarity index ", GitLine::Similarity),
            (b"dissimilarity index ", GitLine::Dissimilarity),
        ];
        let (words, kind) = WORDS.iter().find(|(words, _)| line.starts_with(words))?;
        Some((*kind, words.len()))
    }
}

/// The modes of a file and how much of the file stays, as a git diff states them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FileHeader {
    /// The mode before, such as `0o100644`, of a file that is deleted or changes its mode.
    pub old_mode: Option<u32>,
    /// The mode afterwards, of a file that is new or changes its mode.
    pub new_mode: Option<u32>,
    /// How many percent of a moved or copied file stay.
    pub similarity: Option<u8>,
    /// How many percent of a rewritten file change.
    pub dissimilarity: Option<u8>,
    /// The file is not text.
    pub binary: bool,
}

impl FileHeader {
    /// Reads the first lines of a file in a diff. A plain diff says nothing of this.
    #[must_use]
    pub fn read(file: &[u8]) -> Self {
        let mut header = Self::default();
        let mut lines = file.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        if !lines.next().is_some_and(|first| first.starts_with(b"diff --git ")) {
            return header;
        }
        for line in lines {
            let Some((kind, words)) = GitLine::of(line) else {
                header.binary = line == BINARY_PATCH || binary_file(line).is_some();
                break;
            };
            let text = &line[words..];
            match kind {
                GitLine::OldMode | GitLine::Deleted => header.old_mode = mode(text),
                GitLine::NewMode | GitLine::Created => header.new_mode = mode(text),
                GitLine::Similarity => header.similarity = percent(text),
                GitLine::Dissimilarity => header.dissimilarity = percent(text),
                GitLine::MovedFrom
                | GitLine::MovedTo
                | GitLine::CopiedFrom
                | GitLine::CopiedTo
                | GitLine::Ids => {}
            }
        }
        header
    }

    /// Returns the same of the reversed file.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { old_mode: self.new_mode, new_mode: self.old_mode, ..self }
    }
}

/// The line above the parts of a binary file.
pub(super) const BINARY_PATCH: &[u8] = b"GIT binary patch";

/// Reads a mode. Of the permissions only the owner's right to run the file counts.
fn mode(text: &[u8]) -> Option<u32> {
    let mode = u32::from_str_radix(std::str::from_utf8(text).ok()?, 8).ok()?;
    Some(match mode & 0o170_000 {
        0o100_000 if mode & 0o100 != 0 => 0o100_755,
        0o100_000 => 0o100_644,
        kind => kind,
    })
}

fn percent(text: &[u8]) -> Option<u8> {
    let number = text.strip_suffix(b"%").unwrap_or(text);
    std::str::from_utf8(number).ok()?.parse().ok().filter(|&percent| percent <= 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_similarity_are_read() {
        let nothing = FileHeader::default();
        for (text, wanted) in [
            ("", nothing),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old mode 100644\n", nothing),
            (
                "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
                FileHeader { old_mode: Some(0o100_644), new_mode: Some(0o100_755), ..nothing },
            ),
            (
                "diff --git a/x b/x\r\nnew file mode 120000\r\nindex 0..1\r\n--- /dev/null\r\n",
                FileHeader { new_mode: Some(0o120_000), ..nothing },
            ),
            (
                "diff --git a/x b/x\ndeleted file mode 100660\n",
                FileHeader { old_mode: Some(0o100_644), ..nothing },
            ),
            (
                "diff --git a/x b/y\nsimilarity index 95%\nrename from x\nrename to y\n\
                 index 1..2 100644\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-new mode 100644\n",
                FileHeader { similarity: Some(95), ..nothing },
            ),
            (
                "diff --git a/x b/x\ndissimilarity index 60%\nindex 1..2\n",
                FileHeader { dissimilarity: Some(60), ..nothing },
            ),
            ("diff --git a/x b/y\nsimilarity index 101%\nrename from x\nrename to y\n", nothing),
            (
                "diff --git a/x b/y\nrename old x\nrename new y\nsimilarity index 90%\n",
                FileHeader { similarity: Some(90), ..nothing },
            ),
            (
                "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 0\n",
                FileHeader { binary: true, ..nothing },
            ),
            (
                "diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n",
                FileHeader { binary: true, ..nothing },
            ),
        ] {
            assert_eq!(FileHeader::read(text.as_bytes()), wanted, "{text}");
        }
    }

    #[test]
    fn a_reversed_file_has_its_modes_swapped() {
        let header = FileHeader { old_mode: Some(1), similarity: Some(2), ..FileHeader::default() };
        let reversed = header.reversed();
        assert_eq!(reversed.old_mode, None);
        assert_eq!(reversed.new_mode, Some(1));
        assert_eq!(reversed.similarity, Some(2));
    }
}
