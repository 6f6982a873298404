//! A patch as data: the tree of its sections, each part with its byte range in the text. Most
//! fields are serialized by attributes of the tree; the others here.

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::ast::AddedLines;
use crate::fields::text;
use crate::patch::Patch;

/// Writes `sections`, in the order of the text, and `warnings`, as text. Byte ranges are `[start,
/// end]`; lines count from 1. A line that is not UTF-8 is a list of its bytes.
impl Serialize for Patch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tree = serializer.serialize_struct("Patch", 2)?;
        tree.serialize_field("sections", self.sections())?;
        let warnings: Vec<_> = self.warnings.iter().map(ToString::to_string).collect();
        tree.serialize_field("warnings", &warnings)?;
        tree.end()
    }
}

/// Writes `lines` and `noNewline`.
impl Serialize for AddedLines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut added = serializer.serialize_struct("AddedLines", 2)?;
        added.serialize_field("lines", &self.lines().map(LineText).collect::<Vec<_>>())?;
        added.serialize_field("noNewline", &self.no_newline)?;
        added.end()
    }
}

/// A line: a text, or its bytes.
struct LineText<'p>(&'p [u8]);

impl Serialize for LineText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        text(self.0, serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_binary_file_has_kinds_and_sizes() {
        let diff = "diff --git a/x b/x\nindex 1234567..89abcde 100644\nGIT binary patch\n\
                    literal 1\n\
                    IcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n";
        let patch = crate::diff::parse(diff, &crate::diff::DiffOptions::default());
        let found = serde_json::to_value(patch.expect("it parses")).expect("text keys");
        assert_eq!(
            found["sections"][0]["binary"],
            json!({ "forward": { "kind": "literal", "size": 1, "fileSize": 1, "line": 4 },
                "reverse": { "kind": "literal", "size": 0, "fileSize": 0, "line": 7 },
                "oldId": "1234567", "newId": "89abcde" })
        );
        assert_eq!(found["sections"][0]["operation"], "update");
    }

    #[test]
    fn a_patch_is_the_tree_of_its_sections() {
        for (sections, wanted) in [
            (
                "*** Delete File: a\n",
                json!({
                    "operation": "delete", "path": { "text": "a", "span": [33, 34] }, "line": 2,
                    "span": [16, 35],
                }),
            ),
            (
                "*** Add File: a\n+x\n\\ No newline at end of file\n",
                json!({ "operation": "add", "path": {
                    "text": "a", "span": [30, 31],
                }, "line": 2, "span": [16, 63],
                    "lines": ["x"], "noNewline": true }),
            ),
            (
                "*** Update File: a\n*** Move to: b\n@@ f\n x\n-y\n*** End of File\n",
                json!({ "operation": "update", "path": {
                    "text": "a", "span": [33, 34],
                }, "line": 2, "span": [16, 77],
                    "moveTo": { "text": "b", "span": [48, 49] },
                    "hunks": [{ "line": 4, "span": [
                        50, 77,
                    ], "headers": [{ "text": "f", "span": [53, 54] }],
                        "endOfFile": true, "separators": 0, "lines": [
                            { "kind": "context", "text": "x", "line": 5, "noNewline": false },
                            { "kind": "delete", "text": "y", "line": 6, "noNewline": false }] }] }),
            ),
            (
                "*** Update File: a\n@@\n-x\r\n",
                json!({ "operation": "update", "path": {
                    "text": "a", "span": [33, 34],
                }, "line": 2, "span": [16, 42],
                    "moveTo": null, "hunks": [{ "line": 3, "span": [
                        35, 42,
                    ], "headers": [], "endOfFile": false,
                        "separators": 0,
                        "lines": [{
                            "kind": "delete", "text": "x", "line": 4, "crlf": true,
                            "noNewline": false,
                        }] }] }),
            ),
        ] {
            let text = format!("*** Begin Patch\n{sections}*** End Patch\n");
            let patch = crate::parse(&text, &crate::ParseOptions::default()).expect("it parses");
            let found = serde_json::to_value(&patch).expect("text keys");
            assert_eq!(found, json!({ "sections": [wanted], "warnings": [] }), "{sections}");
        }
    }
}
