//! What a git diff says of a file before its hunks, for those who only show it.

use crate::outside::binary_file;

/// The modes of a file and how much of it stays, as a git diff states them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileHeader {
    /// The mode before, such as `0o100644`, of a file whose mode changes or that is deleted.
    pub old_mode: Option<u32>,
    /// The mode afterwards, of a file whose mode changes or that is new.
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
            let after = |words: &str| line.strip_prefix(words.as_bytes());
            if let Some(text) = after("old mode ").or_else(|| after("deleted file mode ")) {
                header.old_mode = mode(text);
            } else if let Some(text) = after("new mode ").or_else(|| after("new file mode ")) {
                header.new_mode = mode(text);
            } else if let Some(text) = after("similarity index ") {
                header.similarity = percent(text);
            } else if let Some(text) = after("dissimilarity index ") {
                header.dissimilarity = percent(text);
            } else if !OTHERS.iter().any(|words| line.starts_with(words)) {
                header.binary = line == b"GIT binary patch" || binary_file(line).is_some();
                break;
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

/// The lines that say something else.
const OTHERS: [&[u8]; 5] = [b"rename from ", b"rename to ", b"copy from ", b"copy to ", b"index "];

/// Reads a mode. Of the permissions of a file only whether its owner may run it counts.
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
