//! Lists that come in parts.

use serde::Serialize;

use crate::error::ToolError;

/// No more is ever skipped: what was skipped is looked for anew in each call.
const MAX_SKIPPED: usize = 100_000;

/// A part of a list.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// There is more, or not all could be looked at.
    pub(crate) truncated: bool,
    /// Where to go on; `None` at the end.
    pub(crate) next_cursor: Option<String>,
}

/// Reads a cursor: how much was given before.
pub(crate) fn skipped(cursor: Option<&str>) -> Result<usize, ToolError> {
    let Some(text) = cursor.filter(|text| !text.is_empty()) else { return Ok(0) };
    let wrong = || {
        ToolError::arguments(format!("{text:?} is no cursor"))
            .next("take nextCursor from the last answer, unchanged, or leave cursor out; narrow the search instead of going on for long")
    };
    text.parse().ok().filter(|&skip| skip <= MAX_SKIPPED).ok_or_else(wrong)
}

/// The part of `found` after the first `skip`: at most `limit` items that take at most `max_output` bytes of JSON,
/// but one in any case. `whole` tells whether all that there is was found.
pub(crate) fn page<T: Serialize>(
    mut found: Vec<T>,
    skip: usize,
    limit: usize,
    max_output: Option<usize>,
    whole: bool,
) -> Page<T> {
    found.drain(..skip.min(found.len()));
    let all = found.len();
    found.truncate(limit);
    if let Some(max) = max_output {
        let mut left = max;
        let fits = found.iter().take_while(|item| {
            let size = serde_json::to_string(item).map_or(0, |json| json.len() + 1);
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        });
        let count = fits.count().max(1);
        found.truncate(count);
    }
    let more = found.len() < all;
    let next_cursor = more.then(|| (skip + found.len()).to_string());
    Page { items: found, truncated: more || !whole, next_cursor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_long_as_they_may_be_and_go_on() {
        for (skip, limit, max, given, truncated, next) in [
            (0, 9, None, &["a", "b", "c"][..], false, None),
            (0, 2, None, &["a", "b"], true, Some("2")),
            (2, 2, None, &["c"], false, None),
            (0, 9, Some(8), &["a", "b"], true, Some("2")),
            (1, 9, Some(8), &["b", "c"], false, None),
            (0, 9, Some(1), &["a"], true, Some("1")),
            (5, 9, Some(1), &[], false, None),
        ] {
            let page = page(vec!["a", "b", "c"], skip, limit, max, true);
            assert_eq!((&page.items[..], page.truncated, page.next_cursor.as_deref()), (given, truncated, next));
        }
        assert!(page(vec!["a"], 0, 9, None, false).truncated);
    }

    #[test]
    fn a_cursor_is_a_number_that_was_given() {
        assert_eq!((skipped(None).unwrap(), skipped(Some("")).unwrap(), skipped(Some("7")).unwrap()), (0, 0, 7));
        for text in ["x", "-1", "100001"] {
            assert!(skipped(Some(text)).is_err(), "{text}");
        }
    }
}
