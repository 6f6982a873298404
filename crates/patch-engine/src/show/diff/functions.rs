//! The function that a hunk is in, for the header of the hunk.
//!
//! As in `git diff`, it is the nearest line above the hunk that looks like the beginning of a
//! function, a type or a section, in the file before the change. Git chooses what looks like one by
//! the attribute `diff` of `.gitattributes`; here the extension of the file's name decides, and the
//! languages are those that git knows. The rules read words, not expressions: a rule that is wrong
//! about a line costs a reader a worse name, and nothing else, since nothing places a hunk by it.

/// The most bytes of a line that a header has.
const LONGEST: usize = 80;

/// Returns what a header shows of a line that begins a function.
type Rule = fn(&[u8]) -> Option<&[u8]>;

/// Which lines of a file begin a function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Language(Rule);

impl Language {
    /// Returns the language of a file that has the first path before a change and the second after
    /// it.
    pub(super) fn of(old: &str, new: &str) -> Self {
        Self(by_extension(old).or_else(|| by_extension(new)).unwrap_or(any))
    }
}

/// Finds the functions of the hunks of one file, from the first hunk to the last, so that every
/// line is looked at once.
#[derive(Debug)]
pub(super) struct Functions<'f> {
    file: &'f [u8],
    language: Language,
    /// The byte where a line begins.
    at: usize,
    /// The file is searched as far as this byte.
    searched: usize,
    found: &'f [u8],
}

impl<'f> Functions<'f> {
    /// Starts at the first line of a file.
    pub(super) fn new(file: &'f [u8], language: Language) -> Self {
        Self { file, language, at: 0, searched: 0, found: b"" }
    }

    /// Goes to the line that begins at a byte.
    pub(super) fn seek(&mut self, byte: usize) {
        self.at = byte;
    }

    /// Goes past the next lines of the file.
    pub(super) fn pass(&mut self, lines: &[&[u8]]) {
        self.at += lines.iter().map(|line| line.len()).sum::<usize>();
    }

    /// Returns the function above the line; empty if there is none.
    pub(super) fn above(&mut self) -> &'f [u8] {
        let mut end = self.at;
        while end > self.searched {
            let start = memchr::memrchr(b'\n', &self.file[self.searched..end - 1])
                .map_or(self.searched, |feed| self.searched + feed + 1);
            let line = self.file[start..end].trim_ascii_end();
            if let Some(function) = (self.language.0)(line) {
                self.found = cut(function);
                break;
            }
            end = start;
        }
        self.searched = self.at;
        self.found
    }
}

/// Cuts a name where a header ends, and before bytes that are not UTF-8.
fn cut(name: &[u8]) -> &[u8] {
    let name = name[..name.len().min(LONGEST)].trim_ascii_end();
    name.utf8_chunks().next().map_or(b"", |chunk| chunk.valid().as_bytes())
}

/// The rule of a file without a language: a line whose first character may begin a name.
fn any(line: &[u8]) -> Option<&[u8]> {
    line.first().filter(|&&first| is_letter(first) || first == b'$').map(|_| line)
}

fn by_extension(path: &str) -> Option<Rule> {
    let name = path.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    let rule: Rule = match &extension.to_ascii_lowercase()[..] {
        "adb" | "ads" => ada,
        "sh" | "bash" => bash,
        "bib" => bibtex,
        "c" | "cc" | "cpp" | "cxx" | "c++" | "h" | "hh" | "hpp" | "hxx" | "h++" | "inl" | "cu" => {
            cpp
        }
        "cs" => csharp,
        "css" | "scss" | "less" => css,
        "dts" | "dtsi" => dts,
        "ex" | "exs" => elixir,
        "f" | "for" | "f77" | "f90" | "f95" | "f03" | "f08" => fortran,
        "fountain" => fountain,
        "go" => golang,
        "htm" | "html" | "xhtml" => html,
        "ini" | "toml" => ini,
        "java" => java,
        "kt" | "kts" => kotlin,
        "markdown" | "md" => markdown,
        // Both languages have this extension, and no line of one looks like one of the other.
        "m" => |line| objc(line).or_else(|| matlab(line)),
        "mm" => objc,
        "dpr" | "lpr" | "pas" => pascal,
        "pl" | "pm" => perl,
        "php" => php,
        "py" | "pyi" | "pyw" => python,
        "gemspec" | "rake" | "rb" => ruby,
        "rs" => rust,
        "rkt" | "scm" | "ss" => scheme,
        "sty" | "tex" => tex,
        _ => return None,
    };
    Some(rule)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_word(byte: u8) -> bool {
    is_letter(byte) || byte.is_ascii_digit()
}

/// Splits off the longest beginning of which all bytes are of a kind.
fn split(text: &[u8], of_kind: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|&byte| !of_kind(byte)).unwrap_or(text.len()))
}

/// Splits off the first word, and the blanks after it; a word without blanks after it is none.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (word, after) = split(text, is_word);
    let rest = after.trim_ascii_start();
    (rest.len() < after.len()).then_some((word, rest))
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words.iter().any(|one| one.as_bytes() == word)
}

/// Returns a line without its indentation, if a keyword is its first word after any number of
/// modifiers, and something follows.
fn keyword<'l>(line: &'l [u8], modifiers: &[&str], keywords: &[&str]) -> Option<&'l [u8]> {
    let text = line.trim_ascii_start();
    let mut rest = text;
    while let Some((first, after)) = word(rest) {
        if is_one_of(first, keywords) {
            return Some(text);
        }
        rest = is_one_of(first, modifiers).then_some(after)?;
    }
    None
}

/// Returns a line without its indentation, if it is like `type name(`: at least two words, which
/// may have the bytes of `more`, then a parenthesis, and no semicolon, which would make it a call.
/// With `open`, the parenthesis may be missing.
fn method<'l>(line: &'l [u8], more: &[u8], keywords: &[&str], open: bool) -> Option<&'l [u8]> {
    let text = line.trim_ascii_start();
    let mut rest = text;
    let mut words = 0;
    loop {
        let (word, after) = split(rest, |byte| is_word(byte) || more.contains(&byte));
        let known = split(word, is_word).0;
        if word.is_empty() || word[0].is_ascii_digit() || is_one_of(known, keywords) {
            return None;
        }
        words += 1;
        let next = after.trim_ascii_start();
        match next.first() {
            Some(b'(') => return (words > 1 && !next.contains(&b';')).then_some(text),
            Some(b'{') | None => return (open && words > 1).then_some(text),
            Some(_) if next.len() == after.len() => return None,
            Some(_) => rest = next,
        }
    }
}

fn ada(line: &[u8]) -> Option<&[u8]> {
    const UNITS: [&str; 5] = ["function", "package", "procedure", "protected", "task"];
    let lower = line.to_ascii_lowercase();
    keyword(&lower, &[], &UNITS)?;
    let words: Vec<&[u8]> = lower.split(|byte| byte.is_ascii_whitespace()).collect();
    let is_of = |second: &[u8]| words.windows(2).any(|pair| pair == [&b"is"[..], second]);
    let elsewhere = words.contains(&&b"renames"[..]) || is_of(b"new") || is_of(b"separate");
    (!elsewhere).then(|| line.trim_ascii_start())
}

fn bash(line: &[u8]) -> Option<&[u8]> {
    let text = line.trim_ascii_start();
    let named = keyword(text, &[], &["function"]).and_then(|text| Some(word(text)?.1));
    let (name, after) = split(named.unwrap_or(text), is_word);
    let rest = after.trim_ascii_start();
    let parentheses = rest.strip_prefix(b"(").map(<[u8]>::trim_ascii_start);
    let body = parentheses.and_then(|rest| rest.strip_prefix(b")"));
    let end = if named.is_none() {
        body?
    } else {
        // After the keyword the parentheses may be missing, but not the command.
        let body = body.map_or(rest, <[u8]>::trim_ascii_start);
        ["((", "{", "(", "[["].iter().find_map(|open| body.strip_prefix(open.as_bytes()))?
    };
    is_letter(*name.first()?).then(|| &text[..text.len() - end.len()])
}

fn bibtex(line: &[u8]) -> Option<&[u8]> {
    let (kind, after) = split(line.strip_prefix(b"@")?, |byte| byte.is_ascii_alphabetic());
    let key = after.strip_prefix(b"{").unwrap_or(after).trim_ascii_start();
    let (_, rest) = split(key, |byte| !b" \t\"@',\\#}{~%".contains(&byte));
    (!kind.is_empty()).then(|| &line[..line.len() - rest.len()])
}

fn cpp(line: &[u8]) -> Option<&[u8]> {
    let name = line.strip_prefix(b"::").map_or(line, <[u8]>::trim_ascii_start);
    let (_, after) = split(name, is_word);
    // A label, or `public:`.
    let label = after
        .strip_prefix(b":")
        .map(<[u8]>::trim_ascii_start)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"//") || rest.starts_with(b"/*"));
    (is_letter(*name.first()?) && !label).then_some(line)
}

fn csharp(line: &[u8]) -> Option<&[u8]> {
    const MODIFIERS: [&str; 9] = [
        "abstract",
        "internal",
        "new",
        "partial",
        "private",
        "protected",
        "public",
        "sealed",
        "static",
    ];
    const TYPES: [&str; 6] = ["class", "enum", "interface", "namespace", "record", "struct"];
    const STATEMENTS: [&str; 18] = [
        "case", "catch", "default", "do", "else", "fixed", "for", "foreach", "if", "lock", "new",
        "return", "switch", "throw", "using", "while", "await", "yield",
    ];
    keyword(line, &MODIFIERS, &TYPES).or_else(|| method(line, b"[]<>@.,?", &STATEMENTS, true))
}

fn css(line: &[u8]) -> Option<&[u8]> {
    let (&first, rest) = line.split_first()?;
    let name = if b":[@.#".contains(&first) { *rest.first()? } else { first };
    // Others are declarations, or selectors that go on.
    (is_word(name) && !line.ends_with(b":") && !line.ends_with(b";")).then_some(line)
}

fn dts(line: &[u8]) -> Option<&[u8]> {
    let text = line.trim_ascii_start();
    let root =
        text.strip_prefix(b"/").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"));
    let node =
        text.strip_prefix(b"&").unwrap_or(text).first().is_some_and(|&first| is_letter(first));
    ((root || node) && !line.contains(&b';') && !line.contains(&b'=')).then_some(text)
}

fn elixir(line: &[u8]) -> Option<&[u8]> {
    keyword(line, &[], &["def", "defimpl", "defmacro", "defmodule", "defp", "defprotocol", "test"])
}

fn fortran(line: &[u8]) -> Option<&[u8]> {
    let lower = line.to_ascii_lowercase();
    // Comments; in the first column also a letter or an asterisk is one.
    let text = lower.trim_ascii_start();
    if matches!(lower.first()?, b'c' | b'*') || text.starts_with(b"!") {
        return None;
    }
    let words: Vec<&[u8]> = text.split(|byte| byte.is_ascii_whitespace()).collect();
    let mut words: Vec<&[u8]> = words.into_iter().filter(|word| !word.is_empty()).collect();
    if words.first() == Some(&&b"end"[..]) {
        words.remove(0);
    }
    let named = |at: usize| words.get(at)?.first().filter(|first| first.is_ascii_alphabetic());
    let begins = match words[..] {
        [b"module", b"procedure", ..] => false,
        [b"program" | b"module", ..] => named(1).is_some(),
        [b"block", b"data", ..] => named(2).is_some(),
        _ => {
            let unit = |word: &&[u8]| is_one_of(word, &["function", "subroutine"]);
            let quoted = |word: &&[u8]| word.iter().any(|byte| b"!'\"".contains(byte));
            words
                .iter()
                .position(unit)
                .is_some_and(|at| named(at + 1).is_some() && !words[..at].iter().any(quoted))
        }
    };
    begins.then(|| line.trim_ascii_start())
}

fn fountain(line: &[u8]) -> Option<&[u8]> {
    const PLACES: [&str; 6] = ["est", "ext", "i/e", "int", "int./ext", "int/ext"];
    let forced = line.starts_with(b".") && line.get(1).is_some_and(|&second| second != b'.');
    let lower = line.to_ascii_lowercase();
    let place = |place: &&str| {
        let rest = lower.strip_prefix(place.as_bytes());
        rest.and_then(<[u8]>::first).is_some_and(|next| b". ".contains(next))
    };
    (forced || PLACES.iter().any(place)).then_some(line)
}

fn golang(line: &[u8]) -> Option<&[u8]> {
    let text = line.trim_ascii_start();
    if text.starts_with(b"func") && !text.get(4).copied().is_some_and(is_word) {
        return Some(text);
    }
    keyword(text, &[], &["type"])?;
    let end_of = |kind: &[u8]| memchr::memmem::rfind(text, kind).map(|at| at + kind.len());
    let end = end_of(b"struct").max(end_of(b"interface"))?;
    let brace = text[end..].trim_ascii_start().strip_prefix(b"{");
    Some(&text[..brace.map_or(end, |rest| text.len() - rest.len())])
}

fn html(line: &[u8]) -> Option<&[u8]> {
    let text = line.trim_ascii_start();
    let heading = match text {
        [b'<', b'h' | b'H', b'1'..=b'6', b'>', ..] => true,
        [b'<', b'h' | b'H', b'1'..=b'6', b' ' | b'\t', rest @ ..] => rest.contains(&b'>'),
        _ => false,
    };
    heading.then_some(text)
}

fn ini(line: &[u8]) -> Option<&[u8]> {
    (line.starts_with(b"[") && line.contains(&b']')).then_some(line)
}

fn java(line: &[u8]) -> Option<&[u8]> {
    const STATEMENTS: [&str; 11] = [
        "catch",
        "do",
        "else",
        "for",
        "if",
        "instanceof",
        "new",
        "return",
        "switch",
        "throw",
        "while",
    ];
    let types = ["class", "enum", "interface", "record"];
    lower_words(line, b"-", &types).or_else(|| method(line, b"[]<>?&.,", &STATEMENTS, false))
}

fn kotlin(line: &[u8]) -> Option<&[u8]> {
    lower_words(line, b"", &["class", "fun", "interface"])
}

/// Returns a line without its indentation, if a keyword is in it after any number of words of small
/// letters and of the bytes of `more`, and something follows.
fn lower_words<'l>(line: &'l [u8], more: &[u8], keywords: &[&str]) -> Option<&'l [u8]> {
    let text = line.trim_ascii_start();
    let mut rest = text;
    loop {
        let (word, after) = split(rest, |byte| byte.is_ascii_lowercase() || more.contains(&byte));
        let next = after.trim_ascii_start();
        if word.is_empty() || next.len() == after.len() {
            return None;
        }
        if is_one_of(word, keywords) {
            return Some(text);
        }
        rest = next;
    }
}

fn markdown(line: &[u8]) -> Option<&[u8]> {
    let (indentation, text) = split(line, |byte| byte == b' ');
    let (marks, rest) = split(text, |byte| byte == b'#');
    let heading = indentation.len() <= 3 && (1..=6).contains(&marks.len());
    (heading && matches!(rest.first(), Some(b' ' | b'\t'))).then_some(line)
}

fn matlab(line: &[u8]) -> Option<&[u8]> {
    let (marks, rest) = split(line, |byte| byte == b'%' || byte == b'#');
    let cell = is_one_of(marks, &["##", "%%", "%%%"]) && rest.starts_with(b" ");
    keyword(line, &[], &["classdef", "function"]).or(cell.then_some(line))
}

fn objc(line: &[u8]) -> Option<&[u8]> {
    let text = line.trim_ascii_start();
    if let Some(rest) = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")) {
        let rest = rest.trim_ascii_start().strip_prefix(b"(")?;
        let (_, rest) = split(rest, |byte| byte != b')');
        let name = rest.strip_prefix(b")")?.trim_ascii_start();
        return is_letter(*name.first()?).then_some(text);
    }
    if let Some(rest) = line.strip_prefix(b"@") {
        return keyword(rest, &[], &["implementation", "interface", "protocol"]).map(|_| line);
    }
    method(line, b"", &["do", "else", "for", "if", "return", "switch", "while"], false)
}

fn pascal(line: &[u8]) -> Option<&[u8]> {
    const SECTIONS: [&str; 8] = [
        "constructor",
        "destructor",
        "finalization",
        "function",
        "implementation",
        "initialization",
        "interface",
        "procedure",
    ];
    let lower = line.to_ascii_lowercase();
    let of_class = keyword(&lower, &["class"], &["function", "procedure"]).is_some();
    let section = is_one_of(split(&lower, is_word).0, &SECTIONS);
    let defines = |kind: &str| {
        let mut parts = lower.split(|&byte| byte == b'=').skip(1);
        parts.any(|part| split(part.trim_ascii_start(), is_word).0 == kind.as_bytes())
    };
    let indented = lower.first().is_some_and(u8::is_ascii_whitespace);
    (!indented && (of_class || section) || defines("class") || defines("record")).then_some(line)
}

fn perl(line: &[u8]) -> Option<&[u8]> {
    const BLOCKS: [&str; 7] = ["AUTOLOAD", "BEGIN", "CHECK", "DESTROY", "END", "INIT", "UNITCHECK"];
    let (first, rest) = split(line, is_word);
    let rest = rest.trim_ascii_start();
    let begins = match first {
        b"package" => !rest.is_empty(),
        // What ends in a semicolon is only declared.
        b"sub" => !rest.is_empty() && !split(rest, |byte| byte != b'#').0.contains(&b';'),
        b"" => line.strip_prefix(b"=head").is_some_and(|rest| split(rest, is_word).0.len() == 1),
        block => {
            let body = matches!(rest.first(), None | Some(b'{' | b'#'));
            return (is_one_of(block, &BLOCKS) && body).then_some(block);
        }
    };
    begins.then_some(line)
}

fn php(line: &[u8]) -> Option<&[u8]> {
    const MODIFIERS: [&str; 7] =
        ["abstract", "final", "private", "protected", "public", "readonly", "static"];
    let types = ["class", "enum", "function", "interface", "trait"];
    keyword(line, &MODIFIERS, &types)
}

fn python(line: &[u8]) -> Option<&[u8]> {
    keyword(line, &["async"], &["class", "def"])
}

fn ruby(line: &[u8]) -> Option<&[u8]> {
    keyword(line, &[], &["class", "def", "module"])
}

fn rust(line: &[u8]) -> Option<&[u8]> {
    const ITEMS: [&str; 8] =
        ["enum", "fn", "impl", "macro_rules", "mod", "struct", "trait", "union"];
    let text = line.trim_ascii_start();
    let mut rest = text;
    loop {
        let (word, after) = split(rest, is_word);
        if is_one_of(word, &ITEMS) {
            let after = after.strip_prefix(b"!").unwrap_or(after);
            let named = matches!(after.first(), Some(b' ' | b'\t' | b'<'));
            return (named && !after.contains(&b';')).then_some(text);
        }
        let after = match word {
            b"pub" if after.starts_with(b"(") => split(after, |byte| byte != b')').1.get(1..)?,
            b"extern" => after.trim_ascii_start().strip_prefix(b"\"").map_or(after, |abi| {
                split(abi, |byte| byte != b'"').1.get(1..).unwrap_or_default()
            }),
            b"pub" | b"async" | b"const" | b"unsafe" => after,
            _ => return None,
        };
        rest = after.trim_ascii_start();
    }
}

fn scheme(line: &[u8]) -> Option<&[u8]> {
    const DEFINITIONS: [&str; 10] = [
        "def",
        "defalias",
        "defclass",
        "define",
        "defmethod",
        "defproto",
        "defrecord",
        "defrules",
        "defstruct",
        "defsyntax",
    ];
    let text = line.trim_ascii_start();
    let (word, after) = split(text.strip_prefix(b"(")?, |byte| byte.is_ascii_alphabetic());
    let ends = if is_one_of(word, &DEFINITIONS) {
        &b"-*/ \t"[..]
    } else if is_one_of(word, &["class", "library", "module", "struct"]) {
        b"*+ \t"
    } else {
        return None;
    };
    ends.contains(after.first()?).then_some(text)
}

fn tex(line: &[u8]) -> Option<&[u8]> {
    let (mut name, after) = split(line.strip_prefix(b"\\")?, |byte| byte.is_ascii_alphabetic());
    while let Some(part) = name.strip_prefix(b"sub") {
        name = part;
    }
    let heading = is_one_of(name, &["chapter", "part", "section"]);
    let after = after.strip_prefix(b"*").unwrap_or(after);
    (heading && after.starts_with(b"{")).then_some(line)
}
