//! The charsets that files may have.

use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT};

/// Returns the charset with a WHATWG label. Stateful charsets are left out: the bytes of a line
/// depend on what precedes it.
pub(crate) fn by_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes())
        .filter(|&found| found != ISO_2022_JP && found != REPLACEMENT)
}
