//! A patch as data: the tree of its sections, each part with its byte range in the text.

use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::ast::{AddedLines, Hunk, Line, LineKind, Patch, Section, SectionOperation, Spanned};

/// Writes `sections`, in the order of the text, and `warnings`, as text. Byte ranges are `[start, end]`; lines count from 1.
impl Serialize for Patch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sections = self.sections.iter().map(SectionTree::of).collect();
        let warnings = self.warnings.iter().map(ToString::to_string).collect();
        PatchTree { sections, warnings }.serialize(serializer)
    }
}

#[derive(Serialize)]
struct PatchTree<'p> {
    sections: Vec<SectionTree<'p>>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct SectionTree<'p> {
    path: SpannedTree<'p>,
    line: u32,
    span: [usize; 2],
    #[serde(flatten)]
    operation: OperationTree<'p>,
}

#[derive(Serialize)]
#[serde(tag = "operation", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum OperationTree<'p> {
    Add { lines: Vec<&'p str>, no_newline: bool },
    Delete,
    Update { move_to: Option<SpannedTree<'p>>, hunks: Vec<HunkTree<'p>> },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HunkTree<'p> {
    line: u32,
    span: [usize; 2],
    headers: Vec<SpannedTree<'p>>,
    end_of_file: bool,
    separators: usize,
    lines: Vec<LineTree<'p>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineTree<'p> {
    kind: &'static str,
    text: &'p str,
    line: u32,
    no_newline: bool,
}

#[derive(Serialize)]
struct SpannedTree<'p> {
    text: &'p str,
    span: [usize; 2],
}

impl<'p> SectionTree<'p> {
    fn of(section: &Section<'p>) -> Self {
        let Section { path, operation, span } = section;
        let operation = match operation {
            SectionOperation::Add(added) => {
                let AddedLines { text: _, no_newline } = *added;
                OperationTree::Add { lines: added.lines().collect(), no_newline }
            }
            SectionOperation::Delete => OperationTree::Delete,
            SectionOperation::Update { move_to, hunks } => OperationTree::Update {
                move_to: move_to.as_ref().map(SpannedTree::of),
                hunks: hunks.iter().map(HunkTree::of).collect(),
            },
        };
        Self { path: SpannedTree::of(path), line: section.line(), span: ends(span), operation }
    }
}

impl<'p> HunkTree<'p> {
    fn of(hunk: &Hunk<'p>) -> Self {
        // Whether `@@` opened it can be seen in its byte range.
        let Hunk { opened: _, headers, lines, separators, end_of_file, span, line } = hunk;
        Self {
            line: *line,
            span: ends(span),
            headers: headers.iter().map(SpannedTree::of).collect(),
            end_of_file: *end_of_file,
            separators: *separators,
            lines: lines.iter().map(LineTree::of).collect(),
        }
    }
}

impl<'p> LineTree<'p> {
    fn of(line: &Line<'p>) -> Self {
        let Line { text, line, kind, no_newline } = *line;
        let kind = match kind {
            LineKind::Context => "context",
            LineKind::Delete => "delete",
            LineKind::Insert => "insert",
        };
        Self { kind, text, line, no_newline }
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
        ] {
            let text = format!("*** Begin Patch\n{sections}*** End Patch\n");
            let patch = crate::parse(&text, &crate::ParseOptions::default()).expect("it parses");
            let found = serde_json::to_value(&patch).expect("text keys");
            assert_eq!(found, json!({ "sections": [wanted], "warnings": [] }), "{sections}");
        }
    }
}
