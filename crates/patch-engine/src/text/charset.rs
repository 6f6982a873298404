//! The charsets that files may have.

use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT};

/// Returns the charset with a WHATWG label. Stateful charsets are left out: the bytes of a line
/// depend on what precedes it.
pub(crate) fn by_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes())
        .filter(|&found| found != ISO_2022_JP && found != REPLACEMENT)
}

/// A charset that files may be declared to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(pub(crate) &'static Encoding);

impl Charset {
    /// Returns the charset with a label of the WHATWG; `None` if there is none, or if it is
    /// stateful.
    #[must_use]
    pub fn of_label(label: &str) -> Option<Self> {
        by_label(label).map(Self)
    }
}
