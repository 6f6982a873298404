//! Undoes changes to lines on their way from a file to the author of a patch: line numbers that a
//! reader put before the lines, or HTML entities.

use std::borrow::Cow;

use patch_grammar::{Hunk, Line, LineKind};

use super::hunk_lines::of_kind;

patch_grammar::named! {
    /// A change to the lines of a file on their way to the author of a hunk.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Mangled {
        /// A reader put line numbers before them.
        LineNumbers = "line_numbers",
        /// Characters are written as HTML entities.
        Entities = "html_entities",
        /// A line of dots stands for lines that are left out.
        LeftOut = "left_out",
        /// Tabs are written as `\t`.
        Tabs = "escaped_tabs",
        /// An empty context line follows the last one, as if it closed the hunk.
        EmptyLine = "empty_last_line",
    }
}

/// Returns whether a line of dots stands for old lines that are left out.
pub(crate) fn leaves_lines_out(hunk: &Hunk<'_>) -> bool {
    hunk.old_lines().any(|line| matches!(line.text.trim_ascii(), b"..." | b"\xe2\x80\xa6"))
}

/// The separators between a line number and the line.
const SEPARATORS: [&[u8]; 8] =
    [b"\t", b"| ", b"|", b": ", b":", "\u{2192}".as_bytes(), "\u{2502} ".as_bytes(), b" | "];

/// Reads a line number, and returns the line after it.
fn numbered<'p>(text: &'p [u8], separator: &[u8]) -> Option<(usize, &'p [u8])> {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"L").unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
    let rest = without_tag(&text[digits..]);
    match rest.strip_prefix(separator) {
        Some(line) => Some((number, line)),
        // An empty line, cut off behind the separator.
        None => (rest == separator.trim_ascii_end()).then_some((number, &b""[..])),
    }
}

/// Returns the text without the tag of a line, `#kz`.
fn without_tag(text: &[u8]) -> &[u8] {
    let Some(tag) = text.strip_prefix(b"#") else { return text };
    let letters = tag.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    if letters == 0 { text } else { &tag[letters..] }
}

/// The ways to read the lines of a hunk without line numbers, each with the number of the first old
/// line. There are none unless every old line has a number, each by one more than the last, and
/// inserted lines have one all or none.
pub fn without_numbers<'p>(hunk: &Hunk<'p>) -> Vec<(usize, Hunk<'p>)> {
    let Some(first) = hunk.old_lines().next() else { return Vec::new() };
    SEPARATORS
        .iter()
        .filter_map(|separator| {
            let (start, _) = numbered(first.text, separator)?;
            let lines = without_numbers_before(hunk, separator, start)?;
            Some((start, Hunk { lines, ..hunk.clone() }))
        })
        .collect()
}

/// The lines of a hunk without the line numbers before a separator, which begin with `start`.
fn without_numbers_before<'p>(
    hunk: &Hunk<'p>,
    separator: &[u8],
    start: usize,
) -> Option<Vec<Line<'p>>> {
    let all = of_kind(&hunk.lines, LineKind::Insert)
        .filter(|line| !line.text.is_empty())
        .all(|line| numbered(line.text, separator).is_some());
    let none = !of_kind(&hunk.lines, LineKind::Insert)
        .any(|line| numbered(line.text, separator).is_some());
    if !all && !none {
        return None;
    }
    let mut lines = Vec::with_capacity(hunk.lines.len());
    let mut next = start;
    for line in &hunk.lines {
        let text = if line.kind == LineKind::Insert {
            let text = if none { None } else { numbered(line.text, separator) };
            text.map_or(line.text, |(_, text)| text)
        } else {
            let (_, text) = numbered(line.text, separator).filter(|(number, _)| *number == next)?;
            next += 1;
            text
        };
        lines.push(Line { text, ..*line });
    }
    Some(lines)
}

/// Replaces entities by their characters.
fn decoded(text: &str) -> String {
    let mut parts = text.split('&');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let entity = part.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest)));
        let (character, rest) = entity.unwrap_or(('&', part));
        decoded.push(character);
        decoded.push_str(rest);
    }
    decoded
}

/// Returns the character of an entity.
fn character(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "amp" => '&',
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']);
            let code =
                u32::from_str_radix(hex.unwrap_or(number), if hex.is_some() { 16 } else { 10 });
            char::from_u32(code.ok()?).filter(|character| !character.is_control())?
        }
    })
}

/// The ways to read the texts of a hunk's lines with tabs in place of `\t`: in the indentation only,
/// or everywhere. There are none where no old line has one.
pub(crate) fn without_escaped_tabs<'p>(hunk: &Hunk<'p>) -> Vec<Vec<Cow<'p, [u8]>>> {
    let is_escaped = |line: &Line<'_>| {
        line.kind != LineKind::Insert && line.text.windows(2).any(|pair| pair == b"\\t")
    };
    if !hunk.lines.iter().any(is_escaped) {
        return Vec::new();
    }
    let ways: [fn(&[u8]) -> usize; 2] = [escaped_indentation, <[u8]>::len];
    ways.map(|until| {
        let lines = hunk.lines.iter();
        lines.map(|line| with_tabs(line.text, until(line.text))).collect()
    })
    .into()
}

/// The bytes at the beginning of a line that are blanks, or `\t` in two characters.
fn escaped_indentation(line: &[u8]) -> usize {
    let mut rest = line;
    loop {
        rest = match rest {
            [b'\\', b't', after @ ..] | [b' ' | b'\t', after @ ..] => after,
            _ => return line.len() - rest.len(),
        };
    }
}

/// A line with tabs in place of `\t` in its first bytes.
fn with_tabs(line: &[u8], until: usize) -> Cow<'_, [u8]> {
    let (head, tail) = line.split_at(until);
    let mut text = Vec::with_capacity(line.len());
    let mut rest = head;
    while let [first, after @ ..] = rest {
        let is_tab = *first == b'\\' && after.first() == Some(&b't');
        text.push(if is_tab { b'\t' } else { *first });
        rest = if is_tab { &after[1..] } else { after };
    }
    text.extend_from_slice(tail);
    if text == line { Cow::Borrowed(line) } else { Cow::Owned(text) }
}

/// The texts of a hunk's lines with characters in place of entities; `None` if it has no entities.
pub(crate) fn without_entities<'p>(hunk: &Hunk<'p>) -> Option<Vec<Cow<'p, [u8]>>> {
    let mut any = false;
    let texts = hunk
        .lines
        .iter()
        .map(|line| match without_entity(line.text) {
            Some(decoded) => {
                any |= line.kind != LineKind::Insert;
                Cow::Owned(decoded.into_bytes())
            }
            None => Cow::Borrowed(line.text),
        })
        .collect();
    any.then_some(texts)
}

/// The text of a line with characters in place of entities; `None` if there are no entities.
fn without_entity(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.contains('&'))?;
    let decoded = decoded(text);
    (decoded != text).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use patch_grammar::{ParseOptions, parse};

    use super::*;

    fn ways(body: &str) -> Vec<(usize, Vec<String>)> {
        let text = format!("*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch\n");
        let patch = parse(&text, &ParseOptions::default()).expect("it parses");
        without_numbers(&patch.sections()[0].hunks()[0])
            .into_iter()
            .map(|(first, hunk)| {
                let texts = hunk.lines.iter().map(|line| String::from_utf8_lossy(line.text));
                (first, texts.map(Cow::into_owned).collect())
            })
            .collect()
    }

    #[test]
    fn entities_are_decoded_once() {
        for (text, wanted) in [
            ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
            ("&quot;x&#34; &#x27;&#39;&apos;&#039; &#X2F;", "\"x\" \'\'\'\' /"),
            (
                "&amp;lt; & &; &x; &#; &#x; &#10; &#xd800; a&b;c",
                "&lt; & &; &x; &#; &#x; &#10; &#xd800; a&b;c",
            ),
        ] {
            assert_eq!(decoded(text), wanted);
        }
    }

    #[test]
    fn line_numbers_are_read_in_the_forms_of_readers() {
        for (body, wanted) in [
            (" 3| a\n-4| b\n+4| c\n 5|\n", vec!["a", "b", "c", ""]),
            (" 00003|\ta\n", vec!["\ta"]),
            ("-  9\ta\n- 10\tb\n+x\n", vec!["a", "b", "x"]),
            (" L12: a\n+new\n", vec!["a", "new"]),
            (" 7\u{2192}a\n", vec!["a"]),
            (" 7#kz|a\n-8#bcd|\n+8#xx|b\n", vec!["a", "", "b"]),
        ] {
            let ways = ways(body);
            assert!(ways.iter().any(|(_, lines)| *lines == wanted), "{body}: {ways:?}");
        }
        for body in
            [" 3| a\n 5| b\n", " 3| a\n b\n", " a\n", " 3 a\n", " 1| a\n+2| x\n+y\n", " 1#|a\n"]
        {
            assert_eq!(ways(body), [], "{body}");
        }
    }
}
