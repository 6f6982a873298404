//! Lists in parts.

use serde::Serialize;

use patch_engine::Remedy;
use patch_session::answer::error::ToolError;
use patch_session::answer::fit::fitting;
use patch_session::answer::reason::Reason;
use patch_session::session::Session;
use patch_session::text::length;

/// The most items that can be skipped: each call searches for them again.
const MAX_SKIPPED: usize = 100_000;

/// The bytes of an answer besides the items of its list.
const AROUND: usize = 240;

/// A part of a list.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// Whether there is more, or not everything could be searched.
    pub(crate) truncated: bool,
    /// The cursor of the next part; `None` at the end, and where no call would go on.
    pub(crate) next_cursor: Option<String>,
}

/// Parses a cursor: the number of items in earlier answers.
pub(crate) fn skipped(cursor: Option<&str>) -> Result<usize, ToolError> {
    let Some(text) = cursor.filter(|text| !text.is_empty()) else { return Ok(0) };
    text.parse().ok().filter(|&skip| skip <= MAX_SKIPPED).ok_or_else(|| bad_cursor(text))
}

pub(crate) fn bad_cursor(text: &str) -> ToolError {
    let message = format!(
        "{text:?} is not a cursor: nextCursor of the last answer is one, up to {MAX_SKIPPED} in a \
         list"
    );
    ToolError::arguments(Reason::BadCursor, message).remedies([Remedy::omit("cursor")])
}

/// Makes the cursor of the item after this many items; `None` for more than a call may skip.
pub(crate) fn cursor_at(items: usize) -> Option<String> {
    (items <= MAX_SKIPPED).then(|| items.to_string())
}

/// Returns how many bytes of JSON the items of a list may take, by the limits of the call and
/// the session.
pub(crate) fn for_items(session: &Session, asked: Option<u64>) -> Option<usize> {
    let asked =
        asked.map(|asked| usize::try_from(asked).unwrap_or(usize::MAX).saturating_sub(AROUND));
    asked.into_iter().chain(session.settings().max_output).min()
}

/// Returns the end of a sentence about a truncated list: how to get the rest.
pub(crate) fn rest(truncated: bool, next_cursor: Option<&str>) -> String {
    match next_cursor {
        Some(cursor) => format!(", and more: repeat the call with cursor {cursor:?}"),
        None if truncated => ", and more than could be looked at: narrow the call".into(),
        None => String::new(),
    }
}

/// Returns the part of `found` after the first `skip` items: at most `limit` items in at most
/// `max_output` bytes of JSON, but at least one. `whole` says that nothing is left beyond `found`.
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
        found.truncate(fitting(&found, &mut { max }, |item| length(item) + 1).max(1));
    }
    let more = found.len() < all;
    let next_cursor = cursor_at(skip + found.len()).filter(|_| more);
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
            assert_eq!(&page.items[..], given);
            assert_eq!(page.truncated, truncated);
            assert_eq!(page.next_cursor.as_deref(), next);
        }
        assert!(page(vec!["a"], 0, 9, None, false).truncated);
    }

    /// A cursor that would be refused is not given.
    #[test]
    fn every_cursor_that_is_given_is_taken() {
        for skip in [MAX_SKIPPED - 1, MAX_SKIPPED] {
            let page = page(vec![0; skip + 2], skip, 1, None, true);
            assert!(page.truncated);
            let given = page.next_cursor.as_deref();
            assert_eq!(given.is_some(), skip < MAX_SKIPPED);
            assert_eq!(skipped(given).unwrap(), given.map_or(0, |_| MAX_SKIPPED));
        }
    }

    #[test]
    fn a_cursor_is_a_number_that_was_given() {
        assert_eq!(skipped(None).unwrap(), 0);
        assert_eq!(skipped(Some("")).unwrap(), 0);
        assert_eq!(skipped(Some("7")).unwrap(), 7);
        for text in ["x", "-1", "100001"] {
            assert!(skipped(Some(text)).is_err(), "{text}");
        }
    }
}
