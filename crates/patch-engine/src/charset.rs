//! The charsets that files may have.

use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT};

/// The charset with a label of the WHATWG. One that shifts between states has no bytes of its own for a part of a text.
pub(crate) fn by_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).filter(|&found| found != ISO_2022_JP && found != REPLACEMENT)
}
