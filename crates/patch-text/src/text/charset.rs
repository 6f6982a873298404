//! The charsets of files. UTF-8 and UTF-16 are always known; the other charsets of the WHATWG come
//! with the feature `encodings`.

#[cfg(feature = "encodings")]
use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

/// A charset that can be declared for files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(pub(crate) KnownCharset);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownCharset {
    Utf8,
    Utf16Le,
    Utf16Be,
    #[cfg(feature = "encodings")]
    Legacy(&'static Encoding),
    /// Any other: such files can neither be read nor written.
    #[cfg(not(feature = "encodings"))]
    Legacy,
}

impl Charset {
    #[doc(hidden)]
    pub const UTF_8: Self = Self(KnownCharset::Utf8);
    pub(crate) const UTF_16LE: Self = Self(KnownCharset::Utf16Le);
    pub(crate) const UTF_16BE: Self = Self(KnownCharset::Utf16Be);

    /// Returns the charset with a label of the WHATWG; `None` if there is none, if the charset is
    /// stateful, or if this program lacks the required feature `encodings`.
    #[must_use]
    pub fn of_label(label: &str) -> Option<Self> {
        by_label(label).filter(|charset| charset.is_built())
    }

    /// Returns its WHATWG name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            KnownCharset::Utf8 => "UTF-8",
            KnownCharset::Utf16Le => "UTF-16LE",
            KnownCharset::Utf16Be => "UTF-16BE",
            #[cfg(feature = "encodings")]
            KnownCharset::Legacy(encoding) => encoding.name(),
            #[cfg(not(feature = "encodings"))]
            KnownCharset::Legacy => "a charset other than UTF-8 and UTF-16",
        }
    }

    /// Whether this program can read and write the charset.
    pub(crate) fn is_built(self) -> bool {
        cfg!(feature = "encodings") || Self::ALWAYS.contains(&self)
    }

    const ALWAYS: [Self; 3] = [Self::UTF_8, Self::UTF_16LE, Self::UTF_16BE];
}

/// Returns the charset with a WHATWG label. Stateful charsets are left out: the bytes of a line
/// would depend on the lines above.
#[cfg(feature = "encodings")]
pub fn by_label(label: &str) -> Option<Charset> {
    let found = Encoding::for_label(label.as_bytes())?;
    Some(Charset(match found {
        _ if found == ISO_2022_JP || found == REPLACEMENT => return None,
        _ if found == UTF_8 => KnownCharset::Utf8,
        _ if found == UTF_16LE => KnownCharset::Utf16Le,
        _ if found == UTF_16BE => KnownCharset::Utf16Be,
        _ => KnownCharset::Legacy(found),
    }))
}

/// Returns the charset with a WHATWG label. Any word may be an unknown charset: a file that is
/// declared so is refused, and never taken for UTF-8.
#[cfg(not(feature = "encodings"))]
pub fn by_label(label: &str) -> Option<Charset> {
    Some(Charset(match &*label.trim().to_ascii_lowercase() {
        "" | "unset" | "utf-8-bom" => return None,
        "utf-8" | "utf8" | "unicode-1-1-utf-8" | "unicode11utf8" | "unicode20utf8"
        | "x-unicode20utf8" => KnownCharset::Utf8,
        "utf-16" | "utf-16le" | "csunicode" | "iso-10646-ucs-2" | "ucs-2" | "unicode"
        | "unicodefeff" => KnownCharset::Utf16Le,
        "utf-16be" | "unicodefffe" => KnownCharset::Utf16Be,
        _ => KnownCharset::Legacy,
    }))
}
