//! `--format html`: one page that needs nothing else, with both sides of a diff beside each other.

use std::fmt::Write as _;

use apply_patch_api::tools::shown::sanitize;

use super::unified::{DiffLine, DiffPart, Highlighter, Pieces, parts};

/// Colours by name, for light and dark; a row has four cells: number and text, before and after.
const STYLE: &str = ":root{color-scheme:light dark;--del:#ffebe9;--delw:#ffb3ad;--ins:#dafbe1;--insw:#8fe0a3;--dim:#6e7781;--edge:#d0d7de;\
--back:#fff;--fore:#1f2328}\
@media(prefers-color-scheme:dark){:root{--del:#4a1e1c;--delw:#8e3531;--ins:#12361d;--insw:#1f6b35;--dim:#8b949e;--edge:#30363d;\
--back:#0d1117;--fore:#e6edf3}}\
body{margin:1rem;background:var(--back);color:var(--fore);font:14px/1.4 system-ui,sans-serif}\
h1{font-size:1.1rem}h2{font:600 .95rem ui-monospace,monospace;margin:1.5rem 0 .3rem;overflow-wrap:anywhere}\
p{margin:0 0 .3rem;color:var(--dim);font:12px ui-monospace,monospace;overflow-wrap:anywhere}\
table{width:100%;border-collapse:collapse;table-layout:fixed;border:1px solid var(--edge);font:12px/1.5 ui-monospace,monospace}\
td{padding:0 .5em;vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4}\
td.n{width:4em;padding:0 .4em;text-align:right;color:var(--dim);user-select:none}col.n{width:4em}\
td.del{background:var(--del)}td.ins{background:var(--ins)}td.del b{background:var(--delw)}td.ins b{background:var(--insw)}\
td b{font-weight:inherit}td.hunk{color:var(--dim);border:1px solid var(--edge);border-width:1px 0}td i{color:var(--dim)}";

/// The page of a diff in git's form, with `title` above.
pub(crate) fn page(title: &str, diff: &[u8]) -> String {
    let mut page = HtmlPage {
        out: String::new(),
        table: false,
        numbers: (0, 0),
        highlighter: Highlighter::new(),
    };
    let title = escaped(title);
    let _ = write!(
        page.out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n"
    );
    for part in parts(diff) {
        match part {
            DiffPart::Header(text) => page.header(&text),
            DiffPart::Hunk(text) => page.hunk(&text),
            DiffPart::Context(line) => {
                let pieces = vec![(false, line.text.to_string())];
                page.row(Some((&line, &pieces)), Some((&line, &pieces)), false);
            }
            DiffPart::Change(deleted, inserted) => {
                let (left, right) = page.highlighter.pieces(&deleted, &inserted);
                for nth in 0..deleted.len().max(inserted.len()) {
                    page.row(
                        deleted.get(nth).zip(left.get(nth)),
                        inserted.get(nth).zip(right.get(nth)),
                        true,
                    );
                }
            }
        }
    }
    page.end_table();
    page.out + "</html>\n"
}

struct HtmlPage {
    out: String,
    /// Whether a table is open.
    table: bool,
    /// The numbers of the next lines.
    numbers: (u64, u64),
    highlighter: Highlighter,
}

impl HtmlPage {
    fn end_table(&mut self) {
        if std::mem::take(&mut self.table) {
            self.out += "</table>\n";
        }
    }

    fn header(&mut self, text: &str) {
        self.end_table();
        match text.strip_prefix("diff --git ") {
            Some(paths) => {
                let _ = writeln!(self.out, "<h2>{}</h2>", escaped(&both(paths)));
            }
            // They repeat the line above.
            None if text.starts_with("--- ") || text.starts_with("+++ ") => {}
            None => {
                let _ = writeln!(self.out, "<p>{}</p>", escaped(text));
            }
        }
    }

    fn hunk(&mut self, text: &str) {
        if !std::mem::replace(&mut self.table, true) {
            self.out +=
                "<table><colgroup><col class=\"n\"><col><col class=\"n\"><col></colgroup>\n";
        }
        self.numbers = first_lines(text);
        let _ =
            writeln!(self.out, "<tr><td class=\"hunk\" colspan=\"4\">{}</td></tr>", escaped(text));
    }

    fn row(
        &mut self,
        old: Option<(&DiffLine<'_>, &Pieces)>,
        new: Option<(&DiffLine<'_>, &Pieces)>,
        changed: bool,
    ) {
        self.out += "<tr>";
        let (left, right) = self.numbers;
        cells(&mut self.out, old, left, if changed { " class=\"del\"" } else { "" });
        cells(&mut self.out, new, right, if changed { " class=\"ins\"" } else { "" });
        self.out += "</tr>\n";
        self.numbers = (left + u64::from(old.is_some()), right + u64::from(new.is_some()));
    }
}

fn cells(out: &mut String, side: Option<(&DiffLine<'_>, &Pieces)>, number: u64, class: &str) {
    let Some((line, pieces)) = side else {
        *out += "<td class=\"n\"></td><td></td>";
        return;
    };
    let _ = write!(out, "<td class=\"n\">{number}</td><td{class}>");
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
    let mut next = |sign| {
        let range = words.next()?.strip_prefix(sign)?;
        range.split(',').next()?.parse().ok()
    };
    (next('-').unwrap_or(0), next('+').unwrap_or(0))
}

/// `a/x b/x` as one name where it is one.
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
    use super::*;

    #[test]
    fn rows_have_both_sides_and_nothing_of_a_file_is_markup() {
        let page = page(
            "<t>",
            b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,3 +3,3 @@ <f>\n a\n-let x = <b>1</b>;\n+let x = \x1b2;\n+n & m\n c\n\\ No newline at end of file\n",
        );
        for wanted in [
            "<title>&lt;t&gt;</title>",
            "<h2>x</h2>",
            "<td class=\"hunk\" colspan=\"4\">@@ -3,3 +3,3 @@ &lt;f&gt;</td>",
            "<tr><td class=\"n\">3</td><td>a</td><td class=\"n\">3</td><td>a</td></tr>",
            "<td class=\"n\">4</td><td class=\"del\">let x = <b>&lt;b&gt;1&lt;/b&gt;;</b></td>",
            "<td class=\"n\">4</td><td class=\"ins\">let x = <b>\\u{1b}2;</b></td>",
            "<tr><td class=\"n\"></td><td></td><td class=\"n\">5</td><td class=\"ins\">n &amp; \
             m</td></tr>",
            "<td class=\"n\">6</td><td>c <i>(no line feed at the end)</i></td>",
        ] {
            assert!(page.contains(wanted), "{wanted} in {page}");
        }
        assert!(!page.contains("<script"), "it needs nothing else");
        assert!(!page.contains("http:"), "it needs nothing else");
        assert!(!page.contains("https:"), "it needs nothing else");
    }
}
