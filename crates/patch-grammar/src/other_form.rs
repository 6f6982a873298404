//! Names the forms of diffs that are no patch here: those of `diff` without `-u`, and texts in
//! UTF-16.

use crate::diagnose;
use crate::error::{OtherForm, ParseError, ParseErrorKind};

/// Returns the error for a text in such a form, with the line that shows it; `None` for any other
/// text.
#[must_use]
pub fn other_form(text: &[u8]) -> Option<ParseError> {
    let (form, start) = find(text)?;
    let expected = match form {
        OtherForm::Utf16 => {
            "UTF-8, as `git diff --output=FILE` or `iconv -f UTF-16 -t UTF-8` writes it"
        }
        _ => "a unified diff, as `diff -u` writes it",
    };
    let kind = ParseErrorKind::OtherForm { form };
    Some(diagnose::at_offset(text, start, 0, kind, vec![expected]))
}

/// Returns the form of a text, and where the line begins that shows it.
fn find(text: &[u8]) -> Option<(OtherForm, usize)> {
    if is_utf16(text) {
        return Some((OtherForm::Utf16, 0));
    }
    let mut next = 0;
    let mut last: Option<(usize, &[u8])> = None;
    let mut is_script = true;
    let mut script = None;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let at = next;
        next += line.len();
        let line = line.trim_ascii_end();
        if let Some((above, before)) = last {
            if before.starts_with(b"***************")
                && line.starts_with(b"*** ")
                && line.ends_with(b" ****")
            {
                return Some((OtherForm::Context, above));
            }
            if is_normal(before) && matches!(line, [b'<' | b'>', b' ', ..] | [b'<' | b'>']) {
                return Some((OtherForm::Normal, above));
            }
        }
        // A script begins with a command; the text of one ends at a dot.
        if is_script && !line.is_empty() {
            is_script = false;
            script = is_command(line).then_some((at, line.ends_with(b"d")));
        }
        if let Some((first, deletes)) = script
            && (deletes || line == b".")
        {
            return Some((OtherForm::Ed, first));
        }
        last = Some((at, line));
    }
    None
}

/// Returns whether a text has a byte-order mark of UTF-16, or ASCII in it.
fn is_utf16(text: &[u8]) -> bool {
    match text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [0, one, 0, two, ..] | [one, 0, two, 0, ..] => *one != 0 && *two != 0,
        _ => false,
    }
}

/// Returns whether a line is a command of a normal diff, such as `3,4c3`.
fn is_normal(line: &[u8]) -> bool {
    let Some(at) = line.iter().position(|byte| matches!(byte, b'a' | b'c' | b'd')) else {
        return false;
    };
    is_range(&line[..at]) && is_range(&line[at + 1..])
}

/// Returns whether a line is a command of an ed script, such as `3,4c`.
fn is_command(line: &[u8]) -> bool {
    line.split_last().is_some_and(|(command, range)| {
        matches!(command, b'a' | b'c' | b'd' | b'i') && is_range(range)
    })
}

/// Returns whether a text is a line number, or two with a comma between.
fn is_range(text: &[u8]) -> bool {
    let mut parts = text.splitn(2, |&byte| byte == b',');
    parts.all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_their_lines() {
        let context =
            "*** f\t2026\n--- g\t2026\n***************\n*** 1,2 ****\n! a\n--- 1 ----\n! b\n";
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        for (text, wanted) in [
            (context.as_bytes().to_vec(), Some((OtherForm::Context, 3))),
            (b"1c1\n< a\n---\n> b\n".to_vec(), Some((OtherForm::Normal, 1))),
            (b"Hello,\n\n3,4d2\n< a\n< b\n".to_vec(), Some((OtherForm::Normal, 3))),
            (b"0a1\n>\n".to_vec(), Some((OtherForm::Normal, 1))),
            (b"2c\nb\n.\n".to_vec(), Some((OtherForm::Ed, 1))),
            (b"1,3d\n".to_vec(), Some((OtherForm::Ed, 1))),
            (utf16("\u{feff}--- a\n"), Some((OtherForm::Utf16, 1))),
            (utf16("--- a\n"), Some((OtherForm::Utf16, 1))),
            (b"1a\nno end\n".to_vec(), None),
            (b"1c1 in prose\n< a\n".to_vec(), None),
            (b"--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n".to_vec(), None),
            (b"".to_vec(), None),
        ] {
            let found = other_form(&text).map(|error| match error.kind {
                ParseErrorKind::OtherForm { form } => (form, error.line),
                kind => panic!("{kind:?}"),
            });
            assert_eq!(found, wanted, "{}", String::from_utf8_lossy(&text));
        }
    }
}
