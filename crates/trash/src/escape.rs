//! Escapes text for one line: backslash and control characters become `\xNN`.

use std::borrow::Cow;

pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c == '\\' || c.is_control()) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c == '\\' || c.is_control() {
            // Control characters end at U+009F.
            escaped.push_str(&format!("\\x{:02x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

pub(crate) fn unescape(text: &str) -> Option<String> {
    let mut parts = text.split('\\');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let digits = part.strip_prefix('x')?.get(..2)?;
        plain.push(char::from(u8::from_str_radix(digits, 16).ok()?));
        plain.push_str(&part[3..]);
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_comes_back() {
        let all: String = (0..0x250).filter_map(char::from_u32).collect();
        let line = escape(&all);
        assert!(!line.contains(char::is_control));
        assert_eq!(unescape(&line), Some(all));
        for text in ["", "plain", "\\", "\n", "a\\x41"] {
            assert_eq!(unescape(&escape(text)).as_deref(), Some(text));
        }
        assert_eq!(unescape("a\\"), None);
        assert_eq!(unescape("\\xg0"), None);
    }
}
