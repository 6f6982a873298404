//! How fields of the tree are serialized that are not as their types are.

use std::ops::Range;

use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// Writes the `hunks` of a deletion, where there are any.
pub(crate) fn deleted<S: Serializer>(
    hunks: &Option<impl Serialize>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_map(None)?;
    if let Some(hunks) = hunks {
        fields.serialize_entry("hunks", hunks)?;
    }
    fields.end()
}

/// Writes a line as a text, or as bytes if the line is not UTF-8.
pub(crate) fn text<S: Serializer>(line: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match std::str::from_utf8(line) {
        Ok(text) => text.serialize(serializer),
        Err(_) => line.serialize(serializer),
    }
}

/// Writes a byte range as `[start, end]`.
pub(crate) fn ends<S: Serializer>(span: &Range<usize>, serializer: S) -> Result<S::Ok, S::Error> {
    [span.start, span.end].serialize(serializer)
}
