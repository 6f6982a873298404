//! Lines of files in answers: a session that was shown them has seen them.
//!
//! What counts are the lines as they were really sent, after an answer was cut.

use serde_json::Value;

use crate::tools::call::{Data, Reply};
use patch_session::answer::hints::Hint;
use patch_session::session::printed::Printed;

/// Finds the lines of files in an answer.
pub(crate) fn printed(reply: &Reply) -> Vec<Printed<'_>> {
    match reply {
        Reply::Success(success) => match &success.data {
            Data::SearchFiles(data) => {
                let of_lines = data.matches.iter().filter(|found| found.line.is_some());
                of_lines
                    .map(|found| Printed {
                        path: &found.path,
                        first: found.first_line,
                        lines: found.preview.split('\n').collect(),
                    })
                    .collect()
            }
            _ => Vec::new(),
        },
        Reply::Failure(failure) => {
            let error = &failure.error;
            let mut all = Vec::new();
            let path = error.path.as_deref();
            let own = error.hints.iter().filter_map(|hint| match hint {
                Hint::ReplaceHunk { lines } => Some(lines.iter().map(String::as_str).collect()),
                _ => None,
            });
            quoted(path, &error.details, own, &mut all);
            for reject in error.details["rejects"].as_array().into_iter().flatten() {
                let hints = reject["hints"].as_array().into_iter().flatten();
                let hunks = hints.filter(|hint| hint["hint"] == "replace_hunk");
                let hunks = hunks.map(|hint| texts(&hint["lines"]));
                quoted(reject["path"].as_str(), reject, hunks, &mut all);
            }
            all
        }
        // Its answer is one line.
        Reply::EditPatch(_) => Vec::new(),
    }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Adds the lines of the file at `path` that the details of an error quote: the region that is
/// nearest to what was looked for, also as hunks to paste, and what is there now in a conflict.
fn quoted<'r>(
    path: Option<&'r str>,
    details: &'r Value,
    hunks: impl Iterator<Item = Vec<&'r str>>,
    all: &mut Vec<Printed<'r>>,
) {
    let Some(path) = path else { return };
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let mut add = |first: Option<usize>, lines: Vec<&'r str>| {
        all.extend(first.map(|first| Printed { path, first, lines }));
    };
    let nearest = &details["nearest"];
    let start = number(&nearest["startLine"]);
    for line in nearest["region"].as_array().into_iter().flatten() {
        add(number(&line["line"]), line["text"].as_str().into_iter().collect());
    }
    let difference = &nearest["firstDifference"];
    add(number(&difference["fileLine"]), difference["found"].as_str().into_iter().collect());
    let region = nearest["region"].as_array().into_iter().flatten();
    let region: Vec<&str> = region.filter_map(|line| line["text"].as_str()).collect();
    for hunk in hunks {
        let is_block = hunk.first().is_some_and(|line| line.starts_with('<'));
        let old: Vec<&str> = if is_block {
            hunk.into_iter().skip(1).take_while(|line| *line != "=======").collect()
        } else {
            hunk.into_iter().filter_map(|line| line.strip_prefix([' ', '-'])).collect()
        };
        // A hunk to paste may have more lines above the region.
        let above = (0..old.len()).find(|&above| old[above..].starts_with(&region));
        add(start.map(|start| start.saturating_sub(above.unwrap_or(0))), old);
    }
    let current = &details["current"];
    add(
        number(&current["startLine"]),
        current["text"].as_str().into_iter().flat_map(str::lines).collect(),
    );
}
