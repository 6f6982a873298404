//! Plans and rejects as data. Keys are in camel case, hashes in hexadecimal; indices count from 0,
//! lines from 1.

use std::ops::RangeInclusive;

use patch_text::carry::Excerpt;
use patch_text::locate::{Advice, Candidate, RejectReason};
use serde::ser::{Serialize, SerializeMap as _, SerializeStruct as _, Serializer};
use serde_json::{Value, json};

use crate::plan::formatter::{CommandEnd, CommandFailure};
use crate::plan::options::Expected;
use crate::plan::reject::{Problem, Reject};
use crate::plan::{Change, Plan};

/// Writes `hunkCount`, `digest` and `changedFiles`. Diffs are not in it: they may need the files;
/// see [`Images::diffs`](crate::Images::diffs).
impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut plan = serializer.serialize_struct("Plan", 3)?;
        plan.serialize_field("hunkCount", &self.hunk_count())?;
        plan.serialize_field("digest", &self.digest().to_string())?;
        plan.serialize_field("changedFiles", self.changes())?;
        plan.end()
    }
}

/// Writes `path` and `operation`; `toPath`, `beforeSha256` and `afterSha256` where the change has
/// them.
impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut change = serializer.serialize_map(None)?;
        change.serialize_entry("path", self.path.as_str())?;
        change.serialize_entry("operation", self.operation.as_str())?;
        if let Some(path) = &self.to_path {
            change.serialize_entry("toPath", path.as_str())?;
        }
        for (key, hash) in [("beforeSha256", self.before), ("afterSha256", self.after)] {
            if let Some(hash) = hash {
                change.serialize_entry(key, &hash.to_string())?;
            }
        }
        change.end()
    }
}

/// Writes `kind`, `message`, `path` and `reason`, and what else is known: `section`, `hunkIndex`,
/// `patchLine`, `nearest`, `candidates` and so on.
impl Serialize for Reject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        of_reject(self).serialize(serializer)
    }
}

/// Writes `command`, `output`, which is the end of what it printed, and how it ended: `exitCode`,
/// `signal`, `timedOut` or `removedState`; `leftOutBytes` if there was more output.
impl Serialize for CommandFailure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        of_failure(self).serialize(serializer)
    }
}

fn of_reject(reject: &Reject) -> Value {
    let mut value = json!({
        "kind": reject.kind().as_str(),
        "message": reject.to_string(),
        "path": reject.path,
        "reason": reject.reason(),
    });
    set(&mut value, "section", reject.section);
    set(&mut value, "hunkIndex", reject.hunk);
    set(&mut value, "patchLine", reject.patch_line);
    set(&mut value, "didYouMean", reject.near.clone());
    set(&mut value, "afterSection", reject.after_section);
    set_problem(&mut value, &reject.problem);
    if let Some(reason) = reject.hunk_reason() {
        set_hunk_reason(&mut value, reason);
    }
    value
}

/// Adds a detail, unless it is unknown.
fn set(value: &mut Value, key: &str, detail: impl Into<Value>) {
    let detail = detail.into();
    if !detail.is_null() {
        value[key] = detail;
    }
}

/// Adds the details of a problem with a file.
fn set_problem(value: &mut Value, problem: &Problem) {
    match problem {
        Problem::Stale { expected, actual } => {
            let expected = match expected {
                Expected::Absent => String::new(),
                Expected::Hash(hash) => hash.to_string(),
            };
            set(value, "expectedSha256", expected);
            set(value, "actualSha256", actual.map_or_else(String::new, |hash| hash.to_string()));
        }
        Problem::Conflict(conflict) => {
            set(value, "base", of_excerpt(&conflict.base));
            set(value, "current", of_excerpt(&conflict.current));
            set(value, "wanted", of_excerpt(&conflict.wanted));
        }
        Problem::Binary { size, sha256, .. } => {
            set(value, "sizeBytes", *size);
            set(value, "sha256", sha256.to_string());
        }
        Problem::Guard(fs_guard::Error::Symlink { real_path, .. }) => {
            set(value, "realPath", real_path.clone());
        }
        Problem::Syntax(fault) => {
            set(value, "format", fault.format);
            set(value, "line", fault.line);
            set(value, "column", fault.column);
        }
        Problem::Placeholder(placeholder) => {
            set(value, "line", placeholder.line);
            set(value, "text", placeholder.text.clone());
        }
        Problem::NotFormatted(failure) => {
            if let Value::Object(details) = of_failure(failure) {
                details.into_iter().for_each(|(key, detail)| set(value, &key, detail));
            }
        }
        Problem::InOtherFile { file, line, .. } => {
            set(value, "otherFile", file.clone());
            set(value, "otherLine", *line);
        }
        _ => {}
    }
}

/// Adds the details of a hunk that was not placed.
fn set_hunk_reason(value: &mut Value, reason: &RejectReason) {
    match reason {
        RejectReason::ContextNotFound { nearest: Some(nearest), .. } => {
            set(value, "nearest", json!(nearest));
        }
        RejectReason::ContextNotFound { named, .. } if !named.is_empty() => {
            set(value, "named", json!(named));
        }
        RejectReason::MultipleMatches { candidates, more, .. } => {
            set_candidates(value, candidates, *more);
        }
        RejectReason::OutsideScope { header, candidates, more }
        | RejectReason::HeaderNotFound { header, candidates, more } => {
            set(value, "header", header.clone());
            set_candidates(value, candidates, *more);
        }
        RejectReason::Indentation { lines, patch_line, .. } => {
            set(value, "matchedLines", of_lines(lines));
            set(value, "indentedLine", *patch_line);
        }
        RejectReason::CutOff { promised, missing } => {
            set(value, "promisedLines", json!([promised.0, promised.1]));
            set(value, "missingLines", json!([missing.0, missing.1]));
        }
        RejectReason::AlreadyApplied { lines } => {
            set(value, "appliedLines", of_lines(lines));
        }
        RejectReason::OverlappingEdits { other, lines } => {
            set(value, "otherHunkIndex", *other);
            if let Some(lines) = lines {
                set(value, "sharedLines", of_lines(lines));
            }
        }
        _ => {}
    }
}

fn set_candidates(value: &mut Value, candidates: &[Candidate], more: bool) {
    set(value, "candidates", candidates.iter().map(of_candidate).collect::<Value>());
    set(value, "moreCandidates", more);
}

fn of_lines(lines: &RangeInclusive<usize>) -> Value {
    json!({ "startLine": lines.start(), "endLine": lines.end() })
}

/// Lines of one side of a conflict; long ones are cut.
fn of_excerpt(excerpt: &Excerpt) -> Value {
    /// How many bytes of each side an answer shows.
    const SHOWN: usize = 2048;
    let mut end = excerpt.text.len().min(SHOWN);
    // Not within a letter.
    while excerpt.text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) && end > SHOWN - 4 {
        end -= 1;
    }
    let text = &excerpt.text[..end];
    let mut value = json!({
        "startLine": excerpt.lines.start,
        "endLine": excerpt.lines.end - 1,
        "text": String::from_utf8_lossy(text),
    });
    if text.len() < excerpt.text.len() {
        value["truncated"] = true.into();
    }
    value
}

fn of_candidate(candidate: &Candidate) -> Value {
    let mut value = of_lines(&candidate.lines);
    match &candidate.advice {
        Some(Advice::Before(lines)) => value["addContextBefore"] = json!(lines),
        Some(Advice::After(lines)) => value["addContextAfter"] = json!(lines),
        Some(Advice::Header(header)) => value["addHeader"] = json!(header),
        Some(Advice::Text { before, after }) => {
            value["addTextBefore"] = json!(before);
            value["addTextAfter"] = json!(after);
        }
        #[cfg(not(feature = "exhaustive"))]
        Some(_) => {}
        None => {}
    }
    value
}

/// The command, the end of its output, and how it ended.
fn of_failure(failure: &CommandFailure) -> Value {
    /// The most bytes of output that an answer shows, as JSON.
    const SHOWN: usize = 4096;
    let mut shown = &failure.output[failure.output.len().saturating_sub(SHOWN)..];
    while Value::from(String::from_utf8_lossy(shown)).to_string().len() > SHOWN + SHOWN / 4 {
        shown = &shown[shown.len().div_ceil(2)..];
    }
    let mut details = json!({ "output": String::from_utf8_lossy(shown) });
    if let Some(command) = &failure.command {
        details["command"] = fs_guard::shortened(command).into();
    }
    match &failure.end {
        CommandEnd::Exited(code) => details["exitCode"] = (*code).into(),
        CommandEnd::Killed(signal) => details["signal"] = (*signal).into(),
        CommandEnd::TimedOut(_) => details["timedOut"] = true.into(),
        CommandEnd::RemovedState => details["removedState"] = true.into(),
        CommandEnd::NotRun(_) | CommandEnd::PrintedNothing | CommandEnd::Cancelled => {}
    }
    let left_out = failure.left_out + (failure.output.len() - shown.len()) as u64;
    if left_out > 0 {
        details["leftOutBytes"] = left_out.into();
    }
    details
}
