//! `--format html`: one self-contained page, with both sides of a diff beside each other, or one
//! below the other in a narrow window.

use std::fmt::Write as _;

use apply_patch_api::tools::shown::sanitize;

use super::human::{count, line_counts};
use super::unified::{DiffLine, DiffPart, Highlighter, Pieces, parts};

const STYLE: &str = include_str!("page.css");

/// The keys. Without the script the page is complete.
const SCRIPT: &str = include_str!("page.js");

/// The hash of the script, by which the page allows it and no other.
const SCRIPT_HASH: &str = "eomWhO5sgIEazQZcsyUMW8HBDXL36ttApQxu54lXSek=";

/// The command for what is chosen.
#[cfg(feature = "review")]
const CHOOSE: &str = include_str!("choose.js");

/// The hash of that script.
#[cfg(feature = "review")]
const CHOOSE_HASH: &str = "1Ty5GdGGbw5FXUtLS33ch3VMDxK1XZ5r28ocjfVeGp4=";

/// How many bytes of files are elements from the beginning. The others are in `noscript`, plain
/// text for a browser with scripts: it would not answer for seconds while it reads thousands of
/// files. The script makes elements of them bit by bit.
const AT_ONCE: usize = 64 << 10;

/// The page of a diff in git's form, with `title` above.
pub(crate) fn page(title: &str, diff: &[u8]) -> String {
    let mut files: Vec<HtmlFile> = Vec::new();
    let highlighter = Highlighter::new();
    for part in parts(diff) {
        if let DiffPart::Header(text) = &part
            && let Some(paths) = text.strip_prefix("diff --git ")
        {
            files.push(HtmlFile { name: escaped(&both(paths)), ..HtmlFile::default() });
            continue;
        }
        if files.is_empty() {
            files.push(HtmlFile::default());
        }
        let file = files.last_mut().expect("there is one");
        file.part(part, &highlighter);
    }
    document(&escaped(title), &files, &Extra::default())
}

/// A file of a page where hunks can be chosen.
#[cfg(feature = "review")]
#[derive(Debug)]
pub(crate) struct ChoiceFile {
    /// The letter and the word for the change.
    pub(crate) operation: (char, &'static str),
    /// The paths.
    pub(crate) name: String,
    /// The hunks.
    pub(crate) hunks: Vec<ChoiceHunk>,
}

/// A hunk of such a page.
#[cfg(feature = "review")]
#[derive(Debug)]
pub(crate) struct ChoiceHunk {
    /// The id, if it can be chosen.
    pub(crate) id: Option<String>,
    /// The state of the hunk, in words.
    pub(crate) words: String,
    /// Its diff; empty for a change without lines.
    pub(crate) diff: Vec<u8>,
}

/// The page of hunks to choose from, with the command for what is chosen, before and after its
/// list of hunks.
#[cfg(feature = "review")]
pub(crate) fn choice_page(title: &str, files: &[ChoiceFile], command: (&str, &str)) -> String {
    let highlighter = Highlighter::new();
    let mut pages = Vec::with_capacity(files.len());
    for file in files {
        let mut page = HtmlFile {
            name: escaped(&file.name),
            operation: Some(file.operation),
            ..HtmlFile::default()
        };
        for hunk in &file.hunks {
            page.choice(hunk);
            parts(&hunk.diff).into_iter().for_each(|part| page.part(part, &highlighter));
        }
        pages.push(page);
    }
    let (before, after) = (escaped(command.0), escaped(command.1));
    let extra = Extra {
        policy: format!(" 'sha256-{CHOOSE_HASH}'"),
        head: format!(
            "<p>Choose the hunks to revert, and run:</p>\n<pre><code id=\"command\" \
             data-before=\"{before}\" data-after=\"{after}\">{before} --revert HUNK{after}\
             </code></pre>\n"
        ),
        script: format!("<script>{CHOOSE}</script>\n"),
    };
    document(&escaped(title), &pages, &extra)
}

/// The parts of a page beside the files.
#[derive(Debug, Default)]
struct Extra {
    /// More hashes of scripts.
    policy: String,
    /// Above the list of files.
    head: String,
    script: String,
}

fn document(title: &str, files: &[HtmlFile], extra: &Extra) -> String {
    let Extra { policy, head, script } = extra;
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; script-src 'sha256-{SCRIPT_HASH}'{policy}\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n\
         <a class=\"skip\" href=\"#changes\">Skip the list of files</a>\n\
         <header><div><h1>{title}</h1><p>{}</p></div>\n\
         <button type=\"button\" id=\"show-keys\" hidden=\"\">Keys <kbd>?</kbd></button></header>\n{head}\
         <nav aria-label=\"Files\"><details open=\"\"><summary>Files: {}</summary>\n<ol>\n",
        totals(files),
        files.len()
    );
    for (nth, file) in files.iter().enumerate() {
        let (letter, word) = file.operation.unwrap_or(('M', "updated"));
        let _ = writeln!(
            out,
            "<li><abbr title=\"{word}\">{letter}</abbr> <a href=\"#f{nth}\">{}</a> {}</li>",
            file.name,
            file.counts()
        );
    }
    out += "</ol></details></nav>\n<main id=\"changes\">\n";
    let start = out.len();
    for (nth, file) in files.iter().enumerate() {
        let _ = writeln!(
            out,
            "<details open=\"\" class=\"file\" id=\"f{nth}\"><summary><h2>{}</h2> {}</summary>",
            file.name,
            file.counts()
        );
        let (before, after) =
            if out.len() - start < AT_ONCE { ("", "") } else { ("<noscript>", "</noscript>") };
        out += before;
        out += &file.out;
        if file.place != HtmlPlace::Headers {
            out += "</tbody></table>\n";
        }
        out += after;
        out += "</details>\n";
    }
    let _ = write!(
        out,
        "</main>\n<dialog id=\"keys\" aria-labelledby=\"keys-title\"><h2 \
         id=\"keys-title\">Keys</h2>\n\
         <dl><dt><kbd>j</kbd></dt><dd>next file</dd><dt><kbd>k</kbd></dt><dd>previous file</dd>\
         <dt><kbd>c</kbd></dt><dd>collapse or expand the file</dd><dt><kbd>?</kbd></dt><dd>these \
         keys</dd></dl>\n\
         <form method=\"dialog\"><button>Close</button></form></dialog>\n\
         <script>{SCRIPT}</script>\n{script}</html>\n"
    );
    out
}

/// How many files and lines change.
fn totals(files: &[HtmlFile]) -> String {
    let inserted = files.iter().map(|file| file.inserted).sum();
    let deleted = files.iter().map(|file| file.deleted).sum();
    format!("{}, {}", count(files.len(), "file"), line_counts(inserted, deleted))
}

/// Where in a file its HTML ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum HtmlPlace {
    /// Before a table.
    #[default]
    Headers,
    /// In a group of rows that are the same on both sides.
    Context,
    /// In a group of rows that differ.
    Change,
}

/// A file of the page.
#[derive(Debug, Default)]
struct HtmlFile {
    /// The letter and the word for a change beyond an update.
    operation: Option<(char, &'static str)>,
    /// Escaped already.
    name: String,
    out: String,
    place: HtmlPlace,
    /// The numbers of the next lines.
    numbers: (u64, u64),
    deleted: usize,
    inserted: usize,
}

/// One side of a change: its lines, and each of them in pieces.
struct Side<'c, 'd> {
    lines: &'c [DiffLine<'d>],
    pieces: &'c [Pieces],
}

impl<'c, 'd> Side<'c, 'd> {
    fn line(&self, nth: usize) -> Option<(&'c DiffLine<'d>, &'c Pieces)> {
        self.lines.get(nth).zip(self.pieces.get(nth))
    }
}

impl HtmlFile {
    fn counts(&self) -> String {
        format!(
            "<span class=\"plus\" aria-label=\"{0} inserted\">+{0}</span> \
             <span class=\"minus\" aria-label=\"{1} deleted\">-{1}</span>",
            self.inserted, self.deleted
        )
    }

    fn part(&mut self, part: DiffPart<'_>, highlighter: &Highlighter) {
        match part {
            DiffPart::Header(text) => self.header(&text),
            DiffPart::Hunk(text) => self.hunk(&text),
            DiffPart::Context(line) => self.context(&line),
            DiffPart::Change(deleted, inserted) => {
                let (left, right) = highlighter.pieces(&deleted, &inserted);
                self.change(
                    &Side { lines: &deleted, pieces: &left },
                    &Side { lines: &inserted, pieces: &right },
                );
            }
        }
    }

    /// A row where a hunk can be chosen, or that says why not.
    #[cfg(feature = "review")]
    fn choice(&mut self, hunk: &ChoiceHunk) {
        self.group(HtmlPlace::Context);
        let words = escaped(&hunk.words);
        let _ = match &hunk.id {
            Some(id) => writeln!(
                self.out,
                "<tr><td class=\"choice\" colspan=\"2\"><label><input type=\"checkbox\" \
                 value=\"{0}\"> revert {0} {words}</label></td></tr>",
                escaped(id)
            ),
            None => writeln!(self.out, "<tr><td class=\"choice\" colspan=\"2\">{words}</td></tr>"),
        };
    }

    fn header(&mut self, text: &str) {
        let operations = [
            ("new file mode ", ('A', "created")),
            ("deleted file mode ", ('D', "deleted")),
            ("rename from ", ('R', "moved")),
            ("copy from ", ('C', "copied")),
        ];
        let found = operations.into_iter().find(|(begin, _)| text.starts_with(begin));
        self.operation = found.map(|(_, operation)| operation).or(self.operation);
        // These repeat the name.
        if !text.starts_with("--- ") && !text.starts_with("+++ ") {
            let _ = writeln!(self.out, "<p>{}</p>", escaped(text));
        }
    }

    /// Begins a group of rows where the last one is of another kind.
    fn group(&mut self, place: HtmlPlace) {
        self.out += match std::mem::replace(&mut self.place, place) {
            HtmlPlace::Headers => {
                "<table><thead><tr><th scope=\"col\">Before</th><th \
                 scope=\"col\">After</th></tr></thead>\n<tbody>\n"
            }
            HtmlPlace::Context if place == HtmlPlace::Context => "",
            _ => "</tbody><tbody>\n",
        };
    }

    fn hunk(&mut self, text: &str) {
        self.group(HtmlPlace::Context);
        self.numbers = first_lines(text);
        let end = text.match_indices("@@").nth(1).map_or(text.len(), |(at, mark)| at + mark.len());
        let (range, function) = text.split_at(end);
        let _ = write!(self.out, "<tr><td class=\"hunk\" colspan=\"2\">{}", escaped(range));
        if let Some(function) = function.strip_prefix(' ') {
            let _ = write!(self.out, " <b>{}</b>", escaped(function));
        }
        self.out += "</td></tr>\n";
    }

    fn context(&mut self, line: &DiffLine<'_>) {
        self.group(HtmlPlace::Context);
        let pieces = vec![(false, line.text.to_string())];
        let (left, right) = self.numbers;
        self.out += "<tr>";
        cell(&mut self.out, Some((line, &pieces)), left, " class=\"same\"");
        cell(&mut self.out, Some((line, &pieces)), right, "");
        self.out += "</tr>\n";
        self.numbers = (left + 1, right + 1);
    }

    fn change(&mut self, old: &Side<'_, '_>, new: &Side<'_, '_>) {
        self.group(HtmlPlace::Change);
        let (left, right) = self.numbers;
        for (nth, at) in (0..old.lines.len().max(new.lines.len())).zip(0..) {
            self.out += "<tr>";
            cell(&mut self.out, old.line(nth), left + at, " class=\"del\"");
            cell(&mut self.out, new.line(nth), right + at, " class=\"ins\"");
            self.out += "</tr>\n";
        }
        self.numbers = (left + old.lines.len() as u64, right + new.lines.len() as u64);
        self.deleted += old.lines.len();
        self.inserted += new.lines.len();
    }
}

fn cell(out: &mut String, side: Option<(&DiffLine<'_>, &Pieces)>, number: u64, class: &str) {
    let Some((line, pieces)) = side else {
        *out += "<td></td>";
        return;
    };
    let _ = write!(out, "<td data-n=\"{number}\"{class}>");
    for (differs, text) in pieces {
        let text = escaped(text);
        let _ = if *differs { write!(out, "<b>{text}</b>") } else { write!(out, "{text}") };
    }
    if line.no_newline {
        *out += " <i>(no line feed at the end)</i>";
    }
    *out += "</td>";
}

/// The numbers of the first lines of a hunk.
fn first_lines(text: &str) -> (u64, u64) {
    let mut words = text.split(' ').skip(1);
    let old = words.next().and_then(|range| first_line(range, '-')).unwrap_or(0);
    let new = words.next().and_then(|range| first_line(range, '+')).unwrap_or(0);
    (old, new)
}

fn first_line(range: &str, sign: char) -> Option<u64> {
    range.strip_prefix(sign)?.split(',').next()?.parse().ok()
}

/// `a/x b/x` as one name if both are the same.
fn both(paths: &str) -> String {
    let half = paths.len() / 2;
    match (paths.get(..half), paths.get(half + 1..)) {
        (Some(old), Some(new))
            if old.strip_prefix("a/").is_some()
                && old.strip_prefix("a/") == new.strip_prefix("b/") =>
        {
            old[2..].to_owned()
        }
        _ => paths.replacen(" b/", " → ", 1).trim_start_matches("a/").to_owned(),
    }
}

/// Text that is only text in a page, and shows what hides.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in sanitize(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use apply_patch_api::files::Sha256;

    use super::*;

    #[test]
    fn rows_have_both_sides_and_nothing_of_a_file_is_markup() {
        let page = page(
            "<t>",
            b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,3 +3,3 @@ <f>\n a\n-let x = <b>1</b>;\n\
              +let x = \x1b2;\n+n & m\n c\n\\ No newline at end of file\n\
              diff --git a/y b/<z>\nsimilarity index 100%\nrename from y\nrename to <z>\n",
        );
        for wanted in [
            "<title>&lt;t&gt;</title>",
            "<div><h1>&lt;t&gt;</h1><p>2 files, 2 lines inserted, 1 deleted</p></div>",
            "<li><abbr title=\"moved\">R</abbr> <a href=\"#f1\">y → &lt;z&gt;</a> ",
            "<li><abbr title=\"updated\">M</abbr> <a href=\"#f0\">x</a> <span class=\"plus\" aria-label=\"2 inserted\">+2</span> \
             <span class=\"minus\" aria-label=\"1 deleted\">-1</span></li>",
            "<details open=\"\" class=\"file\" id=\"f0\"><summary><h2>x</h2> ",
            "<td class=\"hunk\" colspan=\"2\">@@ -3,3 +3,3 @@ <b>&lt;f&gt;</b></td>",
            "<tr><td data-n=\"3\" class=\"same\">a</td><td data-n=\"3\">a</td></tr>\n</tbody>",
            "<td data-n=\"4\" class=\"del\">let x = <b>&lt;b&gt;1&lt;/b&gt;;</b></td>",
            "<td data-n=\"4\" class=\"ins\">let x = <b>\\u{1b}2;</b></td>",
            "<tr><td></td><td data-n=\"5\" class=\"ins\">n &amp; m</td></tr>\n</tbody>",
            "<td data-n=\"6\">c <i>(no line feed at the end)</i></td></tr>\n</tbody></table>\n\
             </details>",
            "<h2>y → &lt;z&gt;</h2>",
            "<p>rename to &lt;z&gt;</p>\n</details>",
        ] {
            assert!(page.contains(wanted), "{wanted} in {page}");
        }
        assert!(!page.contains("http:"), "it needs nothing else");
        assert!(!page.contains("https:"), "it needs nothing else");
        assert_eq!(page.matches("<script").count(), 1, "{page}");
    }

    #[test]
    fn the_last_files_of_a_large_page_are_texts_for_the_script() {
        let file = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-</noscript>\n+b\n";
        let page = page("t", file.repeat(2000).as_bytes());
        let (_, files) = page.split_once("<main").expect("files");
        let (first, rest) = files.split_once("<noscript>").expect("texts");
        assert!((AT_ONCE..AT_ONCE * 2).contains(&first.len()), "{}", first.len());
        assert!(rest.starts_with("<table>"), "{rest}");
        let texts = rest.matches("<noscript>").count() + 1;
        assert!(texts > 1000, "{texts}");
        assert_eq!(rest.matches("</noscript>").count(), texts, "none ends in a file");
    }

    #[test]
    fn the_page_allows_its_script() {
        let hash = Sha256::of(SCRIPT.as_bytes()).to_string();
        assert_eq!(hex(SCRIPT_HASH), hash, "SCRIPT_HASH is not that of page.js");
        #[cfg(feature = "review")]
        assert_eq!(hex(CHOOSE_HASH), Sha256::of(CHOOSE.as_bytes()).to_string(), "CHOOSE_HASH");
    }

    /// Base64 of 32 bytes as hexadecimal digits.
    fn hex(base64: &str) -> String {
        const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digits = base64.trim_end_matches('=').chars();
        let bits: String =
            digits.map(|digit| format!("{:06b}", DIGITS.find(digit).expect("a digit"))).collect();
        let hex = bits.as_bytes()[..256].chunks(4).map(|four| {
            let four = std::str::from_utf8(four).expect("digits");
            format!("{:x}", u8::from_str_radix(four, 2).expect("digits"))
        });
        hex.collect()
    }
}
