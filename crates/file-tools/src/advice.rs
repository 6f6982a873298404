//! What can be done about a failure: advice for models and the people in charge.

use patch_engine::{Advice, ErrorKind, Problem, Reject, RejectReason};

/// What the sender of a patch or the person in charge can do about a reject.
#[must_use]
pub fn advice(reject: &Reject) -> String {
    let guard = match &reject.problem {
        Problem::Guard(error) => guard_advice(error),
        _ => None,
    };
    guard.unwrap_or_else(|| next_action(reject))
}

/// What can be done about a refusal of the guard, where its rule can be lifted or another path be used.
#[must_use]
pub fn guard_advice(error: &fs_guard::Error) -> Option<String> {
    let ask = |what: &str, flag: &str| {
        Some(format!("leave this file alone, or ask the person in charge to {what} (`{flag}`)"))
    };
    match error {
        fs_guard::Error::Guarded { path, .. } => ask("approve it", &format!("--allow {path}")),
        fs_guard::Error::HardLinked { .. } => ask("let this name only be replaced", "--hard-links break"),
        fs_guard::Error::Symlink { real_path: Some(real), .. } => Some(format!("use {real} instead")),
        _ => None,
    }
}

/// What the sender of the patch can do about a reject, in one or two sentences.
fn next_action(reject: &Reject) -> String {
    let path = &reject.path;
    match &reject.problem {
        Problem::Guard(error) => match error.kind().into() {
            ErrorKind::OutsideWorkspace => "use a path beneath the workspace root".into(),
            ErrorKind::PermissionDenied => "leave this file alone, or ask the person in charge to approve it".into(),
            ErrorKind::AlreadyExists => "use the existing file's exact name".into(),
            ErrorKind::NotFound => "check the path; list the directory first".into(),
            _ => "use a plain relative path with `/` between names".into(),
        },
        Problem::Missing => format!("check the path of {path}; to create the file use `*** Add File: {path}`"),
        Problem::MissingParent { directory } => {
            format!("create {directory} first, use an existing directory, or allow parents to be created")
        }
        Problem::ParentIsFile { file } => format!("choose another path: {file} is a file in this patch"),
        Problem::Exists => format!("read {path} and change it with `*** Update File: {path}`"),
        Problem::ReplacesUsed { .. } => "send the change of that file as a separate patch".into(),
        Problem::Collides { with } => format!("use one spelling: {with} or {path}"),
        Problem::SamePath => "leave out the move".into(),
        Problem::Stale { .. } => format!("read {path} again and write the patch against what is there now"),
        Problem::Binary { .. } => format!("{path} is not text; delete or move it, or write it by another tool"),
        Problem::LeavesLines => "read the file, and make the diff anew if it is to go all the same".into(),
        Problem::DeleteNotAllowed | Problem::MoveNotAllowed => "leave this section out, or ask for permission".into(),
        Problem::InOtherFile { file, line, .. } => {
            format!(
                "put the hunk under `*** Update File: {file}` (its lines are there, from line {line}), or read {path} again"
            )
        }
        Problem::Hunk(reason) => hunk_action(reason, path),
    }
}

/// Lines of the file, counted from one, in words.
fn span(lines: &std::ops::RangeInclusive<usize>) -> String {
    match (lines.start(), lines.end()) {
        (first, last) if first == last => format!("line {first}"),
        (first, last) => format!("lines {first}-{last}"),
    }
}

/// Context lines ready to paste.
fn context(lines: &[String]) -> String {
    lines.iter().map(|line| format!(" ` {line}`")).collect()
}

fn hunk_action(reason: &RejectReason, path: &str) -> String {
    match reason {
        RejectReason::ContextNotFound { nearest: Some(nearest) } => {
            let lines = span(&nearest.lines);
            match nearest.pass {
                Some(pass) => format!(
                    "the lines are there but for blanks or punctuation: copy {lines} of {path} exactly, or allow fuzz `{}`",
                    pass.as_str()
                ),
                None => format!("read {lines} of {path} again and copy the old lines from there"),
            }
        }
        RejectReason::ContextNotFound { nearest: None } => {
            format!("read {path} again and copy the old lines from it")
        }
        RejectReason::OutsideScope { candidates, .. } | RejectReason::HeaderNotFound { candidates, .. } => {
            match candidates.first() {
                Some(place) => {
                    let (first, last) = (place.lines.start(), place.lines.end());
                    format!("correct the `@@` header; the old lines are at lines {first}-{last} of {path}")
                }
                None => format!("read {path} again and use a line of it as the `@@` header"),
            }
        }
        RejectReason::MultipleMatches { candidates, .. } => {
            /// For how many places the advice is spelt out.
            const SPELT_OUT: usize = 3;
            let advised = candidates.iter().filter_map(|place| Some((place, place.advice.as_ref()?)));
            let advice: Vec<_> = advised
                .take(SPELT_OUT)
                .map(|(place, advice)| {
                    let means = format!("to mean {}", span(&place.lines));
                    match advice {
                        Advice::Before(lines) => {
                            format!("{means}, put before the hunk's first line:{}", context(lines))
                        }
                        Advice::After(lines) => format!("{means}, put after the hunk's last line:{}", context(lines)),
                        Advice::Header(header) => format!("{means}, begin the hunk with `@@ {header}`"),
                    }
                })
                .collect();
            match advice.is_empty() {
                true => "add context lines until the hunk fits in one place".into(),
                false => advice.join("; "),
            }
        }
        RejectReason::OverlappingEdits { other, .. } => format!("write hunk {} and this one as one hunk", other + 1),
        RejectReason::AlreadyApplied { .. } => "leave the hunk out: it is done already".into(),
        RejectReason::NoAnchor => {
            "add a context line, or `*** End of File` after the hunk to append to the file".into()
        }
        RejectReason::FinalNewline => {
            "put `\\ No newline at end of file` only after the last line of a file that has none".into()
        }
        RejectReason::Encoding => format!("{path} is not UTF-8: insert ASCII only, or convert the file first"),
    }
}
