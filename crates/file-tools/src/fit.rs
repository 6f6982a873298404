//! Answers that fit into a model's context. Lists and files come in parts (see `page`); what is here has no next
//! part: diffs and reasons are cut, and end in a mark.

use serde_json::json;

use crate::call::{Data, Reply};
use crate::changes::ChangedFile;
use crate::error::ToolError;
use crate::page::{fitting, length};
use crate::text::prefix;

/// What a cut text ends with.
const CUT: &str = "…(truncated)";

impl Reply {
    /// Shortens an answer to about `max` bytes of JSON.
    pub(crate) fn fit(&mut self, max: usize) {
        match self {
            Self::Success(success) => match &mut success.data {
                Data::CreateFile(data) => cut(&mut data.diff, max),
                Data::WriteFile(data) => cut(&mut data.diff, max),
                Data::EditFile(data) => cut(&mut data.diff, max),
                Data::DeleteFile(data) => cut(&mut data.diff, max),
                Data::ApplyPatch(data) => data.truncated |= changes(&mut data.changed_files, max),
                Data::Undo(data) => data.truncated |= changes(&mut data.changed_files, max),
                Data::ReadFile(_) | Data::ListDirectory(_) | Data::SearchFiles(_) | Data::Glob(_) => {}
                Data::RestoreFile(_) | Data::MoveFile(_) => {}
            },
            Self::Failure(failure) => error(&mut failure.error, max),
            Self::EditPatch(result, _) => {
                if let Some(error) = &mut result.error {
                    cut(error, max);
                }
            }
        }
    }
}

fn cut(text: &mut String, max: usize) {
    if text.len() > max {
        text.truncate(prefix(text, max).len());
        text.push_str(CUT);
    }
}

/// Leaves out files at the end, then cuts the diffs of the others to equal shares of what is left.
fn changes(files: &mut Vec<ChangedFile>, max: usize) -> bool {
    let before = length(files);
    if before <= max {
        return false;
    }
    let mut left = max;
    let bare = |file: &ChangedFile| length(&ChangedFile { diff: String::new(), ..file.clone() }) + 1;
    let count = fitting(files, &mut left, bare).max(1);
    files.truncate(count);
    for (index, file) in files.iter_mut().enumerate() {
        let share = left / (count - index);
        // JSON takes two bytes for a line feed or a quote.
        if length(&file.diff) > share && share < 2 * CUT.len() {
            file.diff.clear();
        } else if length(&file.diff) > share {
            cut(&mut file.diff, (share * 3 / 4).saturating_sub(CUT.len()));
        }
        left = left.saturating_sub(length(&file.diff));
    }
    true
}

/// Leaves out reasons at the end; the first one is also the error itself.
fn error(error: &mut ToolError, max: usize) {
    cut(&mut error.message, max / 4);
    let Some(details) = error.details.as_object_mut() else { return };
    if let Some(rejects) = details.get_mut("rejects").and_then(|rejects| rejects.as_array_mut()) {
        let count = fitting(rejects, &mut { max / 2 }, |reject| length(reject) + 1);
        let more = rejects.len() - count;
        rejects.truncate(count);
        if more > 0 {
            details.insert("moreRejects".into(), more.into());
        }
    }
    if length(&error.details) > max {
        let kept = |name: &str| error.details.get(name).cloned().unwrap_or_default();
        error.details = json!({ "reason": kept("reason"), "path": kept("path"), "truncated": true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patch_engine::ErrorKind;

    fn file(path: &str, diff: &str) -> ChangedFile {
        ChangedFile { path: path.into(), operation: "update", diff: diff.into(), ..ChangedFile::default() }
    }

    #[test]
    fn diffs_are_cut_before_files_are_left_out() {
        let mut few = vec![file("a", &"x".repeat(5000)), file("b", "short")];
        assert!(changes(&mut few, 1000));
        assert!(few[0].diff.ends_with(CUT) && few[1].diff == "short" && length(&few) <= 1000, "{few:?}");
        let mut many: Vec<_> = (0..100).map(|number| file(&number.to_string(), "d")).collect();
        assert!(changes(&mut many, 1000));
        assert!((2..100).contains(&many.len()) && length(&many) <= 1100, "{}", many.len());
        assert!(!changes(&mut vec![file("a", "short")], 1000));
    }

    #[test]
    fn reasons_are_left_out_and_counted() {
        let reject = json!({ "path": "p", "message": "m".repeat(80) });
        let mut long = ToolError::arguments("x".repeat(9000))
            .details(json!({ "path": "p", "rejects": vec![reject; 100], "reason": "r" }));
        error(&mut long, 1000);
        let kept = long.details["rejects"].as_array().unwrap().len();
        assert!((1..100).contains(&kept) && long.details["moreRejects"] == 100 - kept, "{:?}", long.details);
        assert!(length(&long) < 1500 && long.kind == ErrorKind::CommandFailed);
        let mut other = ToolError::arguments("x").details(json!({ "path": "p", "drifted": vec!["y"; 1000] }));
        error(&mut other, 1000);
        assert_eq!(other.details["truncated"], true);
    }
}
