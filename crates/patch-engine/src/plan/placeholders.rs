//! Lines that stand for code that is left out, as `# ... existing code ...`: a file that gets one in
//! place of its lines has lost them.
//!
//! Models write such lines when they show only the part of a file that they change. A line counts if
//! it is a comment, or in brackets, or begins with dots, and if all of its words are those of such
//! lines. In text for people, as Markdown, it has to be an HTML comment or in brackets: code that is
//! shown there may leave lines out.

use crate::plan::Plan;

/// The longest line that is looked at, in bytes, without the blanks around it.
const LONGEST: usize = 120;

/// A line that stands for lines that are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placeholder {
    /// The 1-based line of the new file.
    pub line: usize,
    /// The line, without the blanks around it.
    pub text: String,
}

/// The words that say that lines are left out: every such line has one of them.
const LEFT_OUT: &str = "existing omitted original other previous remainder remaining rest same \
    unchanged unmodified untouched";

/// The kinds of text that are left out.
const PARTS: &str = "body class classes code component components config configuration content \
    contents css definitions document fields file function functions html implementation imports \
    lines logic markup method methods module program properties routes script section sections \
    styles tests";

/// Other words of such a line.
const FILLERS: &str = "above all and are as before below brevity change changes continues for \
    goes here in is it its keep no of remain remains stay stays the this with your";

/// Words of [`FILLERS`] and [`LEFT_OUT`] that say what becomes of the rest: without dots, a line has
/// to have one.
const STATES: &str = "here omitted remain remains same stay stays unchanged unmodified untouched";

/// Words of [`LEFT_OUT`] that name the rest: without dots, a line has to have one.
const RESTS: &str = "existing original other previous remainder remaining rest";

/// Parts that a remark about real code seldom names: without dots, a line has to have one.
const WHOLES: &str = "class code content contents file function implementation method";

/// Signs that open a comment, and those that close one.
const OPENERS: [&str; 7] = ["//", "#", "--", ";", "%", "/*", "*"];
const CLOSERS: [&str; 2] = ["*/", "*"];

/// Endings of names of files that are text for people.
const PROSE: &str = "adoc markdown md mdx org rst txt text";

/// Returns the first such line that a transition adds to a file that had none like it.
pub(super) fn added(plan: &Plan, index: usize) -> Result<Option<Placeholder>, fs_guard::Error> {
    let transition = &plan.transitions[index];
    let is_prose = is_prose(transition.path.as_str());
    let has = |bytes: &[u8]| lines(bytes).any(|line| placeholder(line, is_prose).is_some());
    if !transition.writes(has, |lines| lines.marks.placeholder) {
        return Ok(None);
    }
    let new = plan.images().after(transition)?;
    let old = plan.former_bytes(index)?;
    let is_old = |text: &str| lines(&old).any(|line| line == text.as_bytes());
    Ok(lines(&new).enumerate().find_map(|(nth, line)| {
        let text = placeholder(line, is_prose).filter(|text| !is_old(text))?;
        Some(Placeholder { line: nth + 1, text: text.to_owned() })
    }))
}

/// Returns whether a file is text for people, by its name.
pub(super) fn is_prose(path: &str) -> bool {
    let (_, ending) = path.rsplit_once('.').unwrap_or_default();
    has_word(PROSE, ending)
}

/// Returns whether a word is in a list of words between blanks.
fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known.eq_ignore_ascii_case(word))
}

/// The lines of a file, without the blanks around them.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut from = 0;
    let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
    ends.map(move |end| bytes[std::mem::replace(&mut from, end + 1)..end].trim_ascii())
}

/// Returns whether a line stands for lines that are left out.
pub(super) fn is_one(line: &[u8], is_prose: bool) -> bool {
    placeholder(line.trim_ascii(), is_prose).is_some()
}

/// Returns the line if it stands for lines that are left out.
fn placeholder(line: &[u8], is_prose: bool) -> Option<&str> {
    // Most lines end here, and comments with a digit below: none of the words has one.
    let may_open = matches!(
        line.first()?,
        b'/' | b'#' | b'-' | b';' | b'%' | b'*' | b'<' | b'{' | b'(' | b'[' | b'.' | 0xe2
    );
    // Code that is shown in documentation may leave lines out.
    let is_shown = line.starts_with(b"///") || line.starts_with(b"//!");
    if !may_open || is_shown || line.len() > LONGEST || line.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    let (body, is_bracketed) = opened(text);
    let is_html = text.starts_with('<') || text.starts_with('{');
    let (body, is_comment) = if is_bracketed { (body, is_html) } else { uncommented(body) };
    if is_prose && !is_bracketed {
        return None;
    }
    stands_for_lines(body, is_comment).then_some(text)
}

/// Returns the text within an HTML or JSX comment, or within brackets, and whether it is in one.
fn opened(text: &str) -> (&str, bool) {
    for (open, close) in [("<!--", "-->"), ("{/*", "*/}"), ("(", ")"), ("[", "]")] {
        if let Some(inner) = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
            return (inner.trim(), true);
        }
    }
    (text, false)
}

/// Returns the text of a comment, and whether it is one.
fn uncommented(text: &str) -> (&str, bool) {
    let Some(rest) = OPENERS.iter().find_map(|opener| text.strip_prefix(opener)) else {
        return (text, false);
    };
    let rest = rest.trim_start_matches(['/', '#', '-', ';', '*', '!']).trim_start();
    let rest = CLOSERS.iter().find_map(|closer| rest.strip_suffix(closer)).unwrap_or(rest);
    let rest = rest.trim();
    (opened(rest).0, true)
}

/// Returns whether a text says that lines are left out.
fn stands_for_lines(text: &str, is_comment: bool) -> bool {
    let begins_with_dots = text.starts_with("...") || text.starts_with('…');
    let ends_with_dots = text.trim_end_matches(['.', '…']).len() + 1 < text.len();
    let is_dotted = begins_with_dots || ends_with_dots;
    // `...rest` and `[...rest]` spread a list.
    let may_be_code = !is_dotted || !text.contains(' ');
    if may_be_code && !is_comment {
        return false;
    }
    if !words(text).all(is_known) || !has_one(text, LEFT_OUT) {
        return false;
    }
    is_dotted || [RESTS, WHOLES, STATES].iter().all(|list| has_one(text, list))
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|next: char| !next.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns whether such lines have this word. None of theirs has a digit, as most ids in comments.
fn is_known(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && [LEFT_OUT, PARTS, FILLERS].iter().any(|list| has_word(list, word))
}

/// Returns whether one of the words of a text is in a list.
fn has_one(text: &str, list: &str) -> bool {
    words(text).any(|word| has_word(list, word))
}

#[cfg(test)]
mod tests {
    use super::{is_prose, placeholder};

    #[test]
    fn a_line_that_stands_for_others_is_known() {
        for text in [
            "# ... existing code ...",
            "// ... existing code ...",
            "//...existing code...",
            "/* ... rest of the file ... */",
            "{/* ... existing code ... */}",
            "<!-- ... existing content ... -->",
            "-- ... rest of the functions",
            "; … unchanged …",
            "... existing code ...",
            "... (rest of the methods remain unchanged)",
            "(rest of the code ...)",
            "[... rest of the document ...]",
            "# rest of the code remains the same",
            "// existing code here",
            "// Rest of your implementation stays as is",
            "* ... other methods ...",
            "# ... (unchanged) ...",
            "// … same as before …",
        ] {
            assert_eq!(placeholder(text.as_bytes(), false), Some(text), "{text}");
        }
    }

    #[test]
    fn a_line_of_a_file_is_none() {
        for text in [
            "...",
            "# ...",
            "// ...",
            "x = [1, 2, ...]",
            "# the rest is handled by the caller",
            "// The rest stays the same.",
            "// the other fields are unchanged",
            "# keep the existing order",
            "\"# ... existing code ...\",",
            "print('... existing code ...')",
            "// ... and so on",
            "# existing users ...",
            "// previous code",
            "// Same contents.",
            "// same as File",
            "...rest",
            "...rest,",
            "[...rest]",
            "(...existing)",
            "///     // ... other fields ...",
            "--rest of the code",
            "#include <rest/code.h>",
            "let same = rest;",
        ] {
            assert_eq!(placeholder(text.as_bytes(), false), None, "{text}");
        }
    }

    #[test]
    fn text_for_people_shows_code() {
        assert!(is_prose("docs/a.MD") && !is_prose("md") && !is_prose("a.py"));
        for (text, wanted) in [
            ("# ... existing code ...", false),
            ("// ... existing code ...", false),
            ("... existing code ...", false),
            ("<!-- ... existing content ... -->", true),
            ("[... rest of the document unchanged ...]", true),
        ] {
            assert_eq!(placeholder(text.as_bytes(), true).is_some(), wanted, "{text}");
        }
    }
}
