//! Text from elsewhere, made safe to show: no character controls the terminal, hides text, or
//! changes the direction of text.

use std::borrow::Cow;

/// Escapes invisible characters and control characters, except tabs and line feeds.
#[must_use]
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Returns whether a character is not safe to show: a control character other than tab and line
/// feed, an invisible character, or a change of the direction of text.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        _ if c.is_control() => true,
        // Bidirectional controls, zero-width characters, tags.
        _ => matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        for (text, safe) in [
            ("plain \u{e9}\t\n", "plain \u{e9}\t\n"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("x\u{202e}y", "x\\u{202e}y"),
            ("\u{7}", "\\u{7}"),
        ] {
            assert_eq!(sanitize(text), safe);
        }
    }
}
