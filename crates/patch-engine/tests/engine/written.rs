//! What a hunk writes that needed fuzz: the file's bytes win wherever the patch did not mean to
//! change them.

use std::cell::Cell;

use patch_engine::{FinalNewline, Options, Profile, RejectReason, edit, parse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use testutils::holds::holds;
use testutils::share::share;

/// The file after the hunks, or the reasons why not.
fn applied(file: &str, body: &str) -> Result<String, Vec<RejectReason>> {
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    let options = Options::new(Profile::Codex);
    let patch = parse(&text, &options.parse).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let hunks = patch.sections()[0].hunks();
    let edit = edit(file.as_bytes(), hunks, &options.placement, FinalNewline::Keep);
    edit.map(|edit| String::from_utf8(edit.apply(file.as_bytes())).expect("UTF-8 in, UTF-8 out"))
        .map_err(|rejects| rejects.into_iter().map(|reject| reject.reason).collect())
}

#[test]
fn what_is_inserted_is_indented_like_the_file() {
    for (file, body, wanted) in [
        // A Makefile, Python, and another width.
        (
            "all:\n\tcc a.c\n\tcc b.c\n",
            "@@\n all:\n-    cc a.c\n+    cc -O2 a.c\n+    strip a\n     cc b.c\n",
            "all:\n\tcc -O2 a.c\n\tstrip a\n\tcc b.c\n",
        ),
        (
            "def run(x):\n\tif x:\n\t\tprepare()\n\t\tvalue = 1\n",
            "@@\n     if x:\n         prepare()\n-        value = 1\n+        value = 2\n\
             +        for x in y:\n+            log(x)\n+\n",
            "def run(x):\n\tif x:\n\t\tprepare()\n\t\tvalue = 2\n\t\tfor x in y:\n\t\t\tlog(x)\n\n",
        ),
        (
            "f() {\n    if (a) {\n        b();\n    }\n}\n",
            "@@\n   if (a) {\n-    b();\n+    c();\n   }\n",
            "f() {\n    if (a) {\n        c();\n    }\n}\n",
        ),
        // The indentation of a line is changed on purpose.
        ("a:\n\tx\n", "@@\n a:\n-    x\n+        x\n", "a:\n\t\tx\n"),
        ("a:\n\tx\n\ty\n", "@@\n-    x\n     y\n+z\n", "a:\n\ty\nz\n"),
        // Lines of nothing but blanks stay as they are written, and tell nothing.
        ("a:\n\tx\n", "@@\n a:\n     x\n+  \n+    y\n", "a:\n\tx\n  \n\ty\n"),
        ("\t\na:\n\tx\n", "@@\n     \n a:\n+    y\n     x\n", "\t\na:\n\ty\n\tx\n"),
        // Blanks at line ends alone say nothing about indentation.
        ("a \n\tx\n", "@@\n-a\n+b\n+    y\n", "b\n    y\n\tx\n"),
        // Two hunks, and a line that an earlier one inserted.
        (
            "a:\n\tx\nb:\n\ty\n",
            "@@\n a:\n-    x\n+    z\n@@\n b:\n-    y\n+    w\n",
            "a:\n\tz\nb:\n\tw\n",
        ),
    ] {
        assert_eq!(applied(file, body).as_deref(), Ok(wanted), "{file:?} {body:?}");
    }
}

#[test]
fn what_nothing_tells_how_to_indent_is_refused() {
    for (file, body, wanted) in [
        // 12 or 16 blanks.
        ("        x\n", "@@\n     x\n+        y\n", (1..=1, 5, false)),
        // One indentation stands for two.
        ("a\n\tx\n    y\n", "@@\n     x\n     y\n+    z\n", (2..=3, 5, true)),
        // The blank before a context line was forgotten.
        ("    x\n", "@@\n    x\n+    y\n", (1..=1, 5, false)),
    ] {
        let (lines, patch_line, contradicts) = wanted;
        let reason = RejectReason::Indentation { lines, patch_line, contradicts };
        assert_eq!(applied(file, body), Err(vec![reason]), "{file:?} {body:?}");
    }
    // Without anything to indent it is applied.
    assert_eq!(applied("a\n\tx\n    y\n", "@@\n-    x\n     y\n").as_deref(), Ok("a\n    y\n"));
}

#[test]
fn what_a_replaced_line_keeps_has_the_files_characters() {
    for (file, body, wanted) in [
        (
            "He said “hi” – it’s fine\n",
            "@@\n-He said \"hi\" - it's fine\n+He said \"hello\" - it's fine\n",
            "He said “hello” – it’s fine\n",
        ),
        // What is new is written as the patch has it.
        ("“a” – b\n", "@@\n-\"a\" - b\n+\"a\" - b - \"c\"\n", "“a” – b - \"c\"\n"),
        (
            "see “a”, “b”\n",
            "@@\n-see \"a\", \"b\"\n+see \"x\", \"a\", \"b\"\n",
            "see \"x\", “a”, “b”\n",
        ),
        // A line between, a line before, fewer lines, and a line that is moved.
        ("“a”\n“b”\n", "@@\n-\"a\"\n-\"b\"\n+\"a\"\n+new\n+\"b\"\n", "“a”\nnew\n“b”\n"),
        ("“a”\n“b”\n", "@@\n-\"a\"\n-\"b\"\n+\"b\"\n", "“b”\n"),
        ("a – b\nx\n", "@@\n+new - line\n-a - b\n+a - c\n x\n", "new - line\na – c\nx\n"),
        // Indentation, and a space that does not break.
        ("\tsay “a\u{a0}b”\n", "@@\n-    say \"a b\"\n+    say \"a c\"\n", "\tsay “a\u{a0}c”\n"),
        // The patch means to change them.
        ("“a”\n", "@@\n-“a”\n+\"a\"\n", "\"a\"\n"),
        ("“a” –\n", "@@\n-\"a\" -\n+„a“ -\n", "„a“ –\n"),
        // Blanks at the end.
        ("x = f(1);  \n", "@@\n-x = f(1);\n+x = f(2);\n", "x = f(2);  \n"),
        ("one  \ntwo\n", "@@\n-one\n+none\n two\n", "none  \ntwo\n"),
        ("one  \ntwo\n", "@@\n-one\n+four\n two\n", "four\ntwo\n"),
        ("one\ntwo\n", "@@\n-one  \n+a one  \n two\n", "a one\ntwo\n"),
        ("one\ntwo\n", "@@\n-one \n+one  \n two\n", "one  \ntwo\n"),
    ] {
        assert_eq!(applied(file, body).as_deref(), Ok(wanted), "{file:?} {body:?}");
    }
    // Bytes that are no characters.
    let text = "*** Begin Patch\n*** Update File: f\n@@\n-a - b\n+a - c\n*** End Patch\n";
    let options = Options::new(Profile::Codex);
    let patch = parse(text, &options.parse).expect("it parses");
    let file = b"a \xe2\x80\x93 b\n\xff\n";
    let edit = edit(file, patch.sections()[0].hunks(), &options.placement, FinalNewline::Keep);
    assert_eq!(edit.expect("it applies").apply(file), b"a \xe2\x80\x93 c\n\xff\n");
}

/// How lines are indented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit(&'static str);

const UNITS: [Unit; 5] = [Unit("\t"), Unit("  "), Unit("   "), Unit("    "), Unit("        ")];

impl Unit {
    fn is_tab(self) -> bool {
        self.0 == "\t"
    }
}

/// A line of a program: how deep it is, and whether it is aligned by one blank more.
#[derive(Debug, Clone)]
struct Line {
    depth: usize,
    aligned: bool,
    text: String,
}

impl Line {
    fn write(&self, unit: Unit, less: usize) -> String {
        let aligned = if self.aligned { " " } else { "" };
        format!("{}{aligned}{}", unit.0.repeat(self.depth - less), self.text)
    }
}

/// Lines of which none is more than one level deeper than the one before it.
fn lines(first: usize, steps: &[(usize, bool)], name: &str) -> Vec<Line> {
    let mut depth = first;
    let line = |(nth, (step, aligned)): (usize, &(usize, bool))| {
        depth = (depth + 1).saturating_sub(*step);
        Line { depth, aligned: *aligned, text: format!("{name}{nth};") }
    };
    steps.iter().enumerate().map(line).collect()
}

/// An edit in an indentation of its own gives what it gives in that of the file, or is refused.
#[test]
fn an_edit_in_another_indentation_is_the_same_or_refused() {
    let steps = |len| vec((0..4_usize, proptest::bool::weighted(0.1)), len);
    let edit = (
        steps(3..20),
        steps(0..5),
        (any::<prop::sample::Index>(), 0..4_usize, 0..4_usize),
        (select(&UNITS[..]), select(&UNITS[..]), 0..4_u8, 0..3_usize),
    );
    let right = Cell::new(0);
    let cases = share(20_000);
    holds(cases, &edit, |(old, new, (at, removed, context), (file, other, kinds, less))| {
        let old = lines(0, &old, "old");
        let at = at.index(old.len());
        let end = (at + removed).min(old.len());
        let above = at.saturating_sub(context)..at;
        let below = end..(end + context).min(old.len());
        let depth = at.checked_sub(1).map_or(0, |above| old[above].depth);
        let new = lines(depth, &new, "new");
        if new.is_empty() || (above.is_empty() && below.is_empty() && at == end) {
            return;
        }
        // Context, and what is changed. With blanks in both nobody could tell which is which.
        let (of_context, mut of_change) = match kinds {
            0 if file.is_tab() != other.is_tab() => (other, file),
            1 => (file, other),
            _ => (other, other),
        };
        if at == end {
            of_change = if kinds == 0 { of_change } else { of_context };
        }
        // Some levels may have been lost, if the unit is the file's.
        let shown = || above.clone().chain(at..end).chain(below.clone()).map(|nth| &old[nth]);
        let top = shown().chain(&new).map(|line| line.depth).min().unwrap_or(0);
        let less = if of_context == file && of_change == file { less.min(top) } else { 0 };
        let mut body = String::from("@@\n");
        let mut push = |mark: char, line: &Line, unit: Unit| {
            body += &format!("{mark}{}\n", line.write(unit, less));
        };
        old[above.clone()].iter().for_each(|line| push(' ', line, of_context));
        old[at..end].iter().for_each(|line| push('-', line, of_change));
        new.iter().for_each(|line| push('+', line, of_change));
        old[below.clone()].iter().for_each(|line| push(' ', line, of_context));
        let text = |lines: &mut dyn Iterator<Item = &Line>| -> String {
            lines.map(|line| line.write(file, 0) + "\n").collect()
        };
        let before = text(&mut old.iter());
        let wanted = text(&mut old[..at].iter().chain(&new).chain(&old[end..]));
        // Lines that are all found exactly tell nothing: what is inserted stays as it is.
        let same = |line: &Line, unit: Unit| line.write(unit, less) == line.write(file, 0);
        let exact = old[above].iter().chain(&old[below]).all(|line| same(line, of_context))
            && old[at..end].iter().all(|line| same(line, of_change));
        match applied(&before, &body) {
            Ok(after) if after == wanted => right.set(right.get() + 1),
            Ok(after) => assert!(exact, "{before}\n{body}\ngave\n{after}\nnot\n{wanted}"),
            Err(reasons) => assert!(
                matches!(reasons[..], [RejectReason::Indentation { .. }]),
                "{reasons:?} {before} {body}"
            ),
        }
    });
    let right = right.get();
    assert!(right > cases / 2, "only {right} of {cases} edits applied");
}
