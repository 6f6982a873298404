//! Answers cut to fit a model's context. Lists and files come in parts (see `page`). Diffs and
//! reasons have no next part: they are cut, with a note on how to get the rest.

use fs_guard::{shortened, without_middle};
use serde_json::{Value, json};

use crate::answer::changes::ChangedFile;
use crate::answer::error::ToolError;
use crate::text::{length, prefix};

/// The most bytes of JSON in the answer of a tool that changes files, roughly, unless the call asks
/// for another number; and in an error on the command line.
pub const MAX_RESULT: usize = 8 << 10;

/// The mark at the end of a cut text.
pub const CUT: &str = "…(truncated)";

/// The mark at the end of a cut diff, with the way to get the rest.
const MORE: &str = "…(cut: ask with a larger maxResultBytes, or read the file)";

/// Cuts a text to `max` bytes, and marks the cut.
pub fn cut(text: &mut String, max: usize, mark: &str) {
    if text.len() > max {
        text.truncate(prefix(text, max).len());
        text.push_str(mark);
    }
}

/// Cuts a diff to at most `max` bytes of JSON, where a line feed or a quote takes two.
pub fn cut_diff(diff: &mut Option<String>, max: usize) {
    let Some(diff) = diff else { return };
    if length(diff) > max {
        cut(diff, (max * 3 / 4).saturating_sub(MORE.len()), MORE);
    }
}

/// Leaves out files at the end, then cuts the remaining diffs to equal shares of the room. Returns
/// whether anything was cut.
pub fn cut_changes(files: &mut Vec<ChangedFile>, max: usize) -> bool {
    let before = length(files);
    if before <= max {
        return false;
    }
    let mut left = max;
    let count = fitting(files, &mut left, length_without_diff).max(1);
    files.truncate(count);
    for (index, file) in files.iter_mut().enumerate() {
        let share = left / (count - index);
        if length(&file.diff) > share && share < 2 * MORE.len() {
            file.diff = None;
        }
        cut_diff(&mut file.diff, share);
        left = left.saturating_sub(length(&file.diff));
    }
    true
}

/// Returns the bytes of a file's entry, and of the comma behind it, without the diff.
fn length_without_diff(file: &ChangedFile) -> usize {
    length(&ChangedFile { diff: None, ..file.clone() }) + 1
}

/// The longest sentence of an error. Only a sentence with a quotation from the call is longer.
const SENTENCE: usize = 3000;

/// The longest name, line or value in the details of an error.
const VALUE: usize = 1500;

/// Texts with bounds of their own: diffs, lines to paste, the three sides of a conflict, and the
/// output of a check.
const BOUNDED: [&str; 8] =
    ["base", "current", "wanted", "diff", "lines", "addContextBefore", "addContextAfter", "output"];

impl ToolError {
    /// Leaves out the middle of long quotations: a path, a pattern, the name of an argument. Every
    /// error passes here, so that a senseless call does not get a huge answer.
    #[must_use]
    #[doc(hidden)]
    pub fn bounded(mut self) -> Self {
        bound_sentence(&mut self.message);
        self.path = self.path.map(|path| shortened(&path).into_owned());
        bound_values(&mut self.details);
        self.suggested_next_action.as_mut().into_iter().for_each(bound_sentence);
        self
    }

    /// Shortens the error to about `max` bytes of JSON: the gravest reason in full, every other in
    /// a line.
    pub fn fit(&mut self, max: usize) {
        if length(self) <= max {
            return;
        }
        cut(&mut self.message, max / 4, CUT);
        // The rejected hunks are in `rejects`, in more detail.
        if let Some(details) = self.details.as_object_mut() {
            details.remove("hunks");
        }
        if length(self) <= max {
            return;
        }
        let path = self.path.clone().unwrap_or_default();
        /// The bytes of the note and of the number of rejects left out.
        const NOTE: usize = 160;
        let Some(details) = self.details.as_object_mut() else { return };
        if let Some(mut rejects) = details.remove("rejects") {
            let room = max.saturating_sub(length(&*details) + NOTE).min(max * 3 / 4);
            let rejects = rejects.as_array_mut().map(std::mem::take).unwrap_or_default();
            let mut rejects: Vec<_> =
                rejects.iter().map(|reject| in_a_line(reject, &path)).collect();
            let count = fitting(&rejects, &mut { room }, |reject| length(reject) + 1);
            let more = rejects.len() - count;
            rejects.truncate(count);
            if more > 0 {
                let before = details.get("moreRejects").and_then(Value::as_u64).unwrap_or_default();
                details.insert("moreRejects".into(), (before + more as u64).into());
            }
            details.insert("rejects".into(), rejects.into());
            details.insert(
                "note".into(),
                "shortened: correct these, or ask with a larger maxResultBytes".into(),
            );
        }
        if length(&self.details) > max {
            cut_sides(&mut self.details, max / 8);
        }
        if length(&self.details) > max {
            let [reason, path] = ["reason", "path"].map(|name| self.details.get(name));
            let mut short = json!({ "reason": reason, "path": path, "truncated": true });
            for name in ["patchId", "moreRejects"] {
                if let Some(value) = self.details.get(name) {
                    short[name] = value.clone();
                }
            }
            if let Some(applied) = self.details.get("applied") {
                short["applied"] = transactions(applied);
            }
            self.details = short;
        }
    }
}

/// Returns the transactions of the applied part, without their files; the log has the rest.
fn transactions(applied: &Value) -> Value {
    let mut short = json!({ "truncated": true });
    for name in ["atomic", "dryRun", "transactionId", "transactionIds"] {
        if let Some(value) = applied.get(name) {
            short[name] = value.clone();
        }
    }
    short
}

fn bound_sentence(text: &mut String) {
    if text.len() > SENTENCE {
        *text = without_middle(text, SENTENCE / 4).into_owned();
    }
}

fn bound_values(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > VALUE => {
            *text = without_middle(text, VALUE / 4).into_owned()
        }
        Value::Array(values) => values.iter_mut().for_each(bound_values),
        Value::Object(values) => {
            values
                .iter_mut()
                .filter(|(name, _)| !BOUNDED.contains(&name.as_str()))
                .for_each(|(_, value)| bound_values(value));
        }
        _ => {}
    }
}

/// Cuts each of the three texts of a conflict to about `max` bytes.
fn cut_sides(details: &mut Value, max: usize) {
    for side in ["base", "current", "wanted"] {
        let Some(Value::String(text)) = details.pointer_mut(&format!("/{side}/text")) else {
            continue;
        };
        if text.len() > max {
            text.truncate(prefix(text, max).len());
            details[side]["truncated"] = true.into();
        }
    }
}

/// Shortens a reject to one line, for an error with many.
fn in_a_line(reject: &Value, path: &str) -> Value {
    let mut line = json!({ "patchLine": reject["patchLine"], "reason": reject["reason"] });
    if reject["path"] != path {
        line["path"] = reject["path"].clone();
    }
    let places = [&reject["nearest"]]
        .into_iter()
        .chain(reject["candidates"].as_array().into_iter().flatten());
    let near: Vec<_> = places
        .filter(|place| place.is_object())
        .take(3)
        .map(|place| format!("{}-{}", place["startLine"], place["endLine"]))
        .collect();
    if !near.is_empty() {
        line["near"] = near.join(", ").into();
    }
    line
}

/// Counts the first items that fit into `left` bytes together, and subtracts their bytes.
pub fn fitting<T>(items: &[T], left: &mut usize, size: impl Fn(&T) -> usize) -> usize {
    let fits = items.iter().take_while(|item| {
        let size = size(item);
        let fits = size <= *left;
        *left = left.saturating_sub(size);
        fits
    });
    fits.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::reason::Reason;
    use patch_engine::ErrorKind;

    fn file(path: &str, diff: &str) -> ChangedFile {
        ChangedFile {
            path: path.into(),
            operation: "update",
            diff: Some(diff.into()),
            ..ChangedFile::default()
        }
    }

    #[test]
    fn diffs_are_cut_before_files_are_left_out() {
        let mut few = vec![file("a", &"x".repeat(5000)), file("b", "short")];
        assert!(cut_changes(&mut few, 1000));
        assert!(few[0].diff.as_ref().unwrap().ends_with(MORE), "{few:?}");
        assert!(few[1].diff.as_deref() == Some("short"), "{few:?}");
        assert!(length(&few) <= 1000, "{few:?}");
        let mut many: Vec<_> = (0..100).map(|number| file(&number.to_string(), "d")).collect();
        assert!(cut_changes(&mut many, 1000));
        assert!((2..100).contains(&many.len()), "{}", many.len());
        assert!(length(&many) <= 1100, "{}", many.len());
        assert!(!cut_changes(&mut vec![file("a", "short")], 1000));
    }

    #[test]
    fn the_texts_of_a_conflict_are_cut_and_not_left_out() {
        let side = json!({ "startLine": 1, "endLine": 99, "text": "\u{e9}\"\n".repeat(500) });
        let details = json!({ "path": "p", "base": side, "current": side, "wanted": side });
        let mut error = ToolError::arguments(Reason::BadArguments, "x").details(details);
        error.fit(4000);
        for side in ["base", "current", "wanted"] {
            let text = error.details[side]["text"].as_str().unwrap();
            assert!((400..=500).contains(&text.len()), "{}", error.details);
            assert!(error.details[side]["truncated"] == true, "{}", error.details);
        }
        assert!(length(&error) < 4500, "{}", length(&error));
    }

    #[test]
    fn reasons_are_left_out_and_counted() {
        let reject = json!({
            "path": "p", "patchLine": 100_000, "reason": "context_not_found",
            "message": "m".repeat(80),
        });
        let mut long = ToolError::arguments(Reason::BadArguments, "x".repeat(9000))
            .details(json!({ "path": "p", "rejects": vec![reject; 100] }));
        long.fit(1000);
        let kept = long.details["rejects"].as_array().unwrap().len();
        assert!((1..100).contains(&kept), "{:?}", long.details);
        assert!(long.details["moreRejects"] == 100 - kept, "{:?}", long.details);
        assert!(length(&long) < 1500);
        assert!(long.kind == ErrorKind::CommandFailed);
        // Reasons left out before count too, and the number stays even if nothing else has room.
        for (places, rest) in [(0, false), (100, true)] {
            let reject = json!({ "path": "p", "patchLine": 7, "reason": "multiple_matches" });
            let places = vec![json!({ "startLine": 1, "endLine": 1 }); places];
            let details = json!({
                "path": "p", "candidates": places, "rejects": vec![reject; 100],
                "moreRejects": 5000,
            });
            let mut long = ToolError::arguments(Reason::BadArguments, "x").details(details);
            long.fit(1000);
            let kept = long.details["rejects"].as_array().map_or(0, Vec::len);
            assert_eq!(long.details["moreRejects"], 5100 - kept, "{:?}", long.details);
            assert_eq!(long.details["truncated"] == true, rest, "{:?}", long.details);
        }
        let mut other = ToolError::arguments(Reason::BadArguments, "x")
            .details(json!({ "path": "p", "drifted": vec!["y"; 1000] }));
        other.fit(1000);
        assert_eq!(other.details["truncated"], true);
    }
}
