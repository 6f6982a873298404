//! A key shared by all names that a file system may take for the same.
//!
//! Ignorable code points are removed, then NFKC and a case folding are applied: to lower, upper and
//! again lower case, which joins all that Unicode's full case folding joins, and what a file
//! system joins that compares upper case. This is coarser than any file system in use (HFS+ ignores
//! some code points, APFS and ZFS normalise, NTFS, FAT and ext4's casefold fold case), so names that
//! differ under this key are different everywhere.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// Returns the folded spelling of `name`.
#[must_use]
pub fn fold(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        if name.bytes().any(|b| b.is_ascii_uppercase()) {
            return Cow::Owned(name.to_ascii_lowercase());
        }
        return Cow::Borrowed(name);
    }
    let visible: String = name.chars().filter(|&c| !is_ignorable(c)).nfkc().collect();
    let mut folded = String::with_capacity(visible.len());
    for c in visible.chars().flat_map(char::to_lowercase) {
        match c {
            // Its upper case is that of i, but no file system takes one for the other.
            'ı' => folded.push(c),
            _ => folded.extend(c.to_uppercase().flat_map(char::to_lowercase)),
        }
    }
    Cow::Owned(folded.chars().filter(|&c| !is_ignorable(c)).nfkc().collect())
}

/// Returns the Unicode normalisations of two names that differ only in them, and so look alike;
/// `None` for others.
#[must_use]
pub fn normalisations(one: &str, other: &str) -> Option<[&'static str; 2]> {
    (one != other && one.nfc().eq(other.nfc())).then(|| [one, other].map(normalisation))
}

fn normalisation(name: &str) -> &'static str {
    match name {
        name if unicode_normalization::is_nfc(name) => "NFC",
        name if unicode_normalization::is_nfd(name) => "NFD",
        _ => "neither NFC nor NFD",
    }
}

/// Returns whether `c` is one of Unicode's default-ignorable code points.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFF8
        | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

#[cfg(test)]
mod tests {
    use super::{fold, normalisations};

    #[test]
    fn names_the_normalisation_of_names_that_look_alike() {
        let (composed, apart, mixed) = ("é/é", "e\u{301}/e\u{301}", "é/e\u{301}");
        for (one, other, wanted) in [
            (composed, apart, Some(["NFC", "NFD"])),
            (apart, composed, Some(["NFD", "NFC"])),
            (mixed, composed, Some(["neither NFC nor NFD", "NFC"])),
            (composed, composed, None),
            ("e", "é", None),
            ("É", "é", None),
        ] {
            assert_eq!(normalisations(one, other), wanted, "{one:?} {other:?}");
        }
    }

    #[test]
    fn folds_what_some_file_system_folds() {
        for (one, other) in [
            ("README", "readme"),
            ("Straße", "STRASSE"),
            ("e\u{301}", "é"),
            ("ﬁle", "FILE"),
            (".ｇｉｔ", ".git"),
            (".g\u{200c}it", ".GIT"),
            ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
            ("K", "k"), // KELVIN SIGN
        ] {
            assert_eq!(fold(one), fold(other), "{one} {other}");
        }
        assert_ne!(fold("résumé"), fold("resume"));
    }

    /// Unicode's own folding is what ext4, APFS and HFS+ have. Letters of a later Unicode than that
    /// of the standard library are not compared.
    #[test]
    fn joins_what_the_full_case_folding_joins() {
        let mut letters = 0;
        for c in ('\u{80}'..=char::MAX).filter(|&c| c.is_alphabetic()) {
            let name = c.to_string();
            let unicode = unicase::UniCase::unicode(&*name).to_folded_case();
            assert_eq!(fold(&name), fold(&unicode), "{name} U+{:04X}", u32::from(c));
            letters += usize::from(unicode != name);
        }
        assert!(letters > 1400, "{letters}");
    }
}
