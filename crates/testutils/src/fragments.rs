//! Texts made of parts of patches, and of the texts around them.

/// A text of several parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fragments {
    /// The text.
    pub text: String,
    /// The number of changed files: sections of envelopes, files of diffs, blocks.
    pub sections: usize,
    /// The number of hunks.
    pub hunks: usize,
    /// Whether some part can never be applied.
    pub never: bool,
    /// Whether the file names of a diff stand below a hunk, where they may be two of its lines.
    pub ambiguous: bool,
}

/// A part: the text, the numbers of files and of hunks, and whether the part can be applied.
type Part = (&'static str, usize, usize, bool);

const PARTS: [Part; 24] = [
    ("Here is the change:\n", 0, 0, true),
    ("* an item of a list\n", 0, 0, true),
    ("\n", 0, 0, true),
    ("```\n", 0, 0, true),
    ("```diff\n", 0, 0, true),
    ("<!-- a comment -->\n", 0, 0, true),
    ("<!--\n", 0, 0, true),
    ("-->\n", 0, 0, true),
    ("*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch\n", 1, 1, true),
    ("*** Begin Patch\n*** Delete File: b\n*** Add File: c\n+x\n*** End Patch\n", 2, 0, true),
    ("*** Begin Patch\n", 0, 0, true),
    ("*** End Patch\n", 0, 0, true),
    ("*** Begin Patch ***\n", 0, 0, true),
    ("*** Update File: d\n@@\n-1\n+2\n", 1, 1, true),
    ("*** delete file: e\n", 1, 0, true),
    ("*** Delete File: `f`\n", 1, 0, true),
    ("@@\n-1\n+2\n", 0, 1, true),
    ("diff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-1\n+2\n", 1, 1, true),
    ("--- a/h\n+++ b/h\n@@ -1 +1 @@\n-1\n+2\n", 1, 1, true),
    ("Only in a: i\n", 0, 0, true),
    ("-- \n2.43.0\n", 0, 0, true),
    ("Binary files a/j and b/j differ\n", 0, 0, false),
    ("diff --cc k\n--- a/k\n+++ b/k\n@@@ -1,1 -1,1 +1,1 @@@\n- 1\n", 0, 0, false),
    ("l.txt\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n", 1, 1, true),
];

/// Joins parts; each number chooses one.
#[must_use]
pub fn text(choices: &[u8]) -> Fragments {
    let mut out = Fragments::default();
    for &choice in choices {
        let (text, sections, hunks, applicable) = PARTS[usize::from(choice) % PARTS.len()];
        out.ambiguous |= text.starts_with("--- ") && out.text.ends_with("+2\n");
        // All blocks of one file are one section.
        out.sections +=
            if text.contains("SEARCH") && out.text.contains(text) { 0 } else { sections };
        out.text += text;
        out.hunks += hunks;
        out.never |= !applicable;
    }
    out
}
