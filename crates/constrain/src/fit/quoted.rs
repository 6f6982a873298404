//! Texts in quotation marks.

use std::fmt::Write as _;

/// A text in quotation marks, with escapes common to all these notations.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            _ if c.is_alphanumeric() => out.push(c),
            _ if (c as u32) < 0x80 => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            _ if (c as u32) < 0x1_0000 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            // llguidance knows no escape for these.
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}
