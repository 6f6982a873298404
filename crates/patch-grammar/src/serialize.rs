//! A patch as data: the tree of its sections, each part with its byte range in the text.

use std::ops::Range;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::ast::{AddedLines, Hunk, Line, LineKind, Patch, Section, SectionOperation, Spanned};

/// Writes `sections`, in the order of the text, and `warnings`, as text. Byte ranges are `[start, end]`;
/// lines count from 1. A line that is not UTF-8 is a list of its bytes.
impl Serialize for Patch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tree = serializer.serialize_struct("Patch", 2)?;
        tree.serialize_field("sections", &Sections(&self.sections))?;
        let warnings: Vec<_> = self.warnings.iter().map(ToString::to_string).collect();
        tree.serialize_field("warnings", &warnings)?;
        tree.end()
    }
}

/// Sections that are made data one by one: all of them together would take more memory than the text.
struct Sections<'a>(&'a [Section<'a>]);

impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(SectionTree::of))
    }
}

#[derive(Serialize)]
struct SectionTree<'p> {
    path: SpannedTree<'p>,
    line: u32,
    span: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    executable: Option<bool>,
    #[serde(flatten)]
    operation: OperationTree<'p>,
}

#[derive(Serialize)]
#[serde(tag = "operation", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum OperationTree<'p> {
    Add {
        lines: Vec<Text<'p>>,
        no_newline: bool,
    },
    Delete {
        #[serde(skip_serializing_if = "Option::is_none")]
        hunks: Option<Vec<HunkTree<'p>>>,
    },
    Update {
        move_to: Option<SpannedTree<'p>>,
        hunks: Vec<HunkTree<'p>>,
    },
    Copy {
        to: SpannedTree<'p>,
        hunks: Vec<HunkTree<'p>>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HunkTree<'p> {
    line: u32,
    span: [usize; 2],
    headers: Vec<SpannedTree<'p>>,
    end_of_file: bool,
    separators: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_start: Option<u32>,
    lines: Vec<LineTree<'p>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineTree<'p> {
    kind: &'static str,
    text: Text<'p>,
    line: u32,
    /// Only where the patch says so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    crlf: bool,
    no_newline: bool,
}

/// A line: a text, or its bytes where it is not UTF-8.
#[derive(Serialize)]
#[serde(untagged)]
enum Text<'p> {
    Utf8(&'p str),
    Bytes(&'p [u8]),
}

impl<'p> Text<'p> {
    fn of(line: &'p [u8]) -> Self {
        std::str::from_utf8(line).map_or(Self::Bytes(line), Self::Utf8)
    }
}

#[derive(Serialize)]
struct SpannedTree<'p> {
    text: &'p str,
    span: [usize; 2],
}

impl<'p> SectionTree<'p> {
    fn of(section: &Section<'p>) -> Self {
        let Section { path, operation, executable, span } = section;
        let operation = match operation {
            SectionOperation::Add(added) => {
                let AddedLines { text: _, endings: _, no_newline } = *added;
                OperationTree::Add { lines: added.lines().map(Text::of).collect(), no_newline }
            }
            SectionOperation::Delete(hunks) => {
                OperationTree::Delete { hunks: hunks.as_ref().map(|hunks| hunks.iter().map(HunkTree::of).collect()) }
            }
            SectionOperation::Update { move_to, hunks } => OperationTree::Update {
                move_to: move_to.as_ref().map(SpannedTree::of),
                hunks: hunks.iter().map(HunkTree::of).collect(),
            },
            SectionOperation::Copy { to, hunks } => {
                OperationTree::Copy { to: SpannedTree::of(to), hunks: hunks.iter().map(HunkTree::of).collect() }
            }
        };
        let executable = *executable;
        Self { path: SpannedTree::of(path), line: section.line(), span: ends(span), executable, operation }
    }
}

impl<'p> HunkTree<'p> {
    fn of(hunk: &Hunk<'p>) -> Self {
        // Whether `@@` opened it can be seen in its byte range, and what the line endings mean in the lines.
        let Hunk {
            opened: _,
            headers,
            lines,
            separators,
            end_of_file,
            endings: _,
            old_start,
            new_start: _,
            span,
            line,
        } = hunk;
        Self {
            line: *line,
            span: ends(span),
            headers: headers.iter().map(SpannedTree::of).collect(),
            end_of_file: *end_of_file,
            separators: *separators,
            old_start: *old_start,
            lines: lines.iter().map(LineTree::of).collect(),
        }
    }
}

impl<'p> LineTree<'p> {
    fn of(line: &Line<'p>) -> Self {
        let Line { text, crlf, line, kind, no_newline } = *line;
        let kind = match kind {
            LineKind::Context => "context",
            LineKind::Delete => "delete",
            LineKind::Insert => "insert",
        };
        Self { kind, text: Text::of(text), line, crlf, no_newline }
    }
}

impl<'p> SpannedTree<'p> {
    fn of(spanned: &Spanned<'p>) -> Self {
        Self { text: spanned.text, span: ends(&spanned.span) }
    }
}

fn ends(span: &Range<usize>) -> [usize; 2] {
    [span.start, span.end]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_patch_is_the_tree_of_its_sections() {
        for (sections, wanted) in [
            (
                "*** Delete File: a\n",
                json!({ "operation": "delete", "path": { "text": "a", "span": [33, 34] }, "line": 2, "span": [16, 35] }),
            ),
            (
                "*** Add File: a\n+x\n\\ No newline at end of file\n",
                json!({ "operation": "add", "path": { "text": "a", "span": [30, 31] }, "line": 2, "span": [16, 63],
                    "lines": ["x"], "noNewline": true }),
            ),
            (
                "*** Update File: a\n*** Move to: b\n@@ f\n x\n-y\n*** End of File\n",
                json!({ "operation": "update", "path": { "text": "a", "span": [33, 34] }, "line": 2, "span": [16, 77],
                    "moveTo": { "text": "b", "span": [48, 49] },
                    "hunks": [{ "line": 4, "span": [50, 77], "headers": [{ "text": "f", "span": [53, 54] }],
                        "endOfFile": true, "separators": 0, "lines": [
                            { "kind": "context", "text": "x", "line": 5, "noNewline": false },
                            { "kind": "delete", "text": "y", "line": 6, "noNewline": false }] }] }),
            ),
            (
                "*** Update File: a\n@@\n-x\r\n",
                json!({ "operation": "update", "path": { "text": "a", "span": [33, 34] }, "line": 2, "span": [16, 42],
                    "moveTo": null, "hunks": [{ "line": 3, "span": [35, 42], "headers": [], "endOfFile": false,
                        "separators": 0,
                        "lines": [{ "kind": "delete", "text": "x", "line": 4, "crlf": true, "noNewline": false }] }] }),
            ),
        ] {
            let text = format!("*** Begin Patch\n{sections}*** End Patch\n");
            let patch = crate::parse(&text, &crate::ParseOptions::default()).expect("it parses");
            let found = serde_json::to_value(&patch).expect("text keys");
            assert_eq!(found, json!({ "sections": [wanted], "warnings": [] }), "{sections}");
        }
    }
}
