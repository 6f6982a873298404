//! What is said of arguments that do not fit: everything at once.

use file_tools::ToolInfo;
use patch_session::Tool;
use patch_session::answer::arguments::problems;
use serde_json::json;

fn sorted(text: &str) -> Vec<&str> {
    let mut parts: Vec<_> = text.split(['`', ',', ' ', ';']).collect();
    parts.sort_unstable();
    parts
}

#[test]
fn all_that_is_wrong_is_found_at_once() {
    for (tool, args, wanted) in [
        (Tool::EditFile, json!({}), "`path` and `edits` are missing"),
        (
            Tool::ReadFile,
            json!({ "path": "a", "start_line": 1 }),
            "`start_line` is not known; did you mean `startLine`?",
        ),
        (
            Tool::ReadFile,
            json!({ "pth": 1 }),
            "`path` is missing; `pth` is not known; did you mean `path`?",
        ),
        (
            Tool::ReadFile,
            json!({ "path": 1, "startLine": "x" }),
            "`path` must be a string; `startLine` must be an integer from 0",
        ),
        (
            Tool::EditFile,
            json!({
                "path": "a", "expectedSha256": "", "edits": [{ "oldText": "a", "with": "b" }],
            }),
            "`edits[0].newText` is missing; `edits[0].with` is not known; there is `oldText`, \
             `from`, `to`, `after`, `newText`, `replaceAll`, `expectedOccurrences`",
        ),
        (
            Tool::EditFile,
            json!({
                "path": "a", "edits": [{ "oldText": "a", "newText": null, "replaceAll": null }],
            }),
            "`edits[0].newText` must be a string",
        ),
        (
            Tool::EditPatch,
            json!({ "patch": "", "dryRun": true }),
            "`dryRun` is not known; did you mean `dry_run`?",
        ),
        (
            Tool::EditFile,
            json!({
                "file_path": "a", "old_string": "b", "newString": "c", "replace_all": true,
            }),
            "`path` and `edits` are missing; `file_path` is not known; did you mean `path`?; \
             `old_string` is not known; did you mean `edits[0].oldText`?; `newString` is not \
             known; did you mean `edits[0].newText`?; `replace_all` is not known; did you mean \
             `edits[0].replaceAll`?",
        ),
        (
            Tool::ApplyPatch,
            json!({ "patch": "", "filename": "a" }),
            "`filename` is not known; there is `patch`, `expectedSha256ByPath`, `atomic`, \
             `partial`, `dryRun`, `profile`, `createParentDirectories`, `carry`, `amend`, \
             `skipApplied`, `diff`, `maxResultBytes`",
        ),
        (
            Tool::MoveFile,
            json!({ "source": "a", "destination": "b" }),
            "`fromPath` and `toPath` are missing; `source` is not known; did you mean \
             `fromPath`?; `destination` is not known; did you mean `toPath`?",
        ),
        (
            Tool::ReadFile,
            json!({ "path": "a", "file_path": "a" }),
            "`file_path` is not known; there is `path`, `startLine`, `endLine`, `maxBytes`, \
             `cursor`, `lineNumbers`, `tags`, `allowBinary`, `maxResultBytes`",
        ),
        (
            Tool::ReadFile,
            json!({ "path": "a", "offset": 3, "limit": 5 }),
            "`limit` is not known; `endLine` is the last line to read; `offset` is not known; did \
             you mean `startLine`?",
        ),
        (
            Tool::ReadFile,
            json!({ "path": "a", "view_range": [1, 5] }),
            "`view_range` is not known; `startLine` and `endLine` are the first and the last line \
             to read",
        ),
        (
            Tool::ReadFile,
            json!({ "path": "a", "head": 5 }),
            "`head` is not known; `endLine` is the last line to read",
        ),
        (
            Tool::ReadFile,
            json!({ "path": "a", "tail": 5 }),
            "`tail` is not known; `startLine` is the first line to read, and an answer has the \
             `lineCount`",
        ),
        (
            Tool::WriteFile,
            json!({ "path": "a.json", "content": { "name": "x" }, "expectedSha256": "" }),
            "`content` must be a string with the text itself, and not JSON",
        ),
        (Tool::ApplyPatch, json!([]), "the arguments must be an object"),
        (
            Tool::SearchFiles,
            json!({ "query": "a", "mode": "fuzzy" }),
            "`mode` must be one of \"path\", \"text\", \"regex\"",
        ),
        (Tool::Glob, json!({ "pattern": "a" }), ""),
    ] {
        let found = problems(&ToolInfo::of(tool).input_schema, &args).problems.join("; ");
        // The schema's fields have no fixed order.
        assert_eq!(sorted(&found), sorted(wanted), "{} {args}: {found}", tool.as_str());
    }
}
