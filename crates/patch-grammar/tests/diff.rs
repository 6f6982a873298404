//! Unified and git diffs as trees.

use patch_grammar::binary::{self, Binary};
use patch_grammar::diff::{self, DiffOptions};
use patch_grammar::{Hunk, Patch, SectionOperation};

/// A tree in a few words: one line a section, one a hunk, one a line; `$` is a CRLF, `%` no line
/// feed.
fn shown(patch: &Patch) -> String {
    let mut out = String::new();
    for section in patch.sections() {
        let path = &section.path.text;
        match &section.operation {
            SectionOperation::Add(added) => {
                out += &format!("A {path}");
                let lines: Vec<_> =
                    added.lines().map(|line| line.escape_ascii().to_string()).collect();
                out += &format!(" {lines:?}{}", if added.no_newline { "%" } else { "" });
            }
            SectionOperation::Delete(hunks) => {
                out += &format!("D {path}{}", if hunks.is_none() { " whatever it is" } else { "" });
            }
            SectionOperation::Update { move_to: None, .. } => out += &format!("M {path}"),
            SectionOperation::Update { move_to: Some(to), .. } => {
                out += &format!("R {path} -> {}", to.text)
            }
            SectionOperation::Copy { to, .. } => out += &format!("C {path} -> {}", to.text),
        }
        if let Some(old_name) = &section.old_name {
            out += &format!(" or {}", old_name.text);
        }
        out += if section.link { " link" } else { "" };
        if let Some(submodule) = section.submodule {
            let [old, new] = [submodule.old, submodule.new].map(|id| id.unwrap_or("none"));
            out += &format!(" submodule {old}..{new}");
        }
        out += match section.executable {
            Some(true) => " +x\n",
            Some(false) => " -x\n",
            None => "\n",
        };
        section.hunks().iter().for_each(|hunk| out += &hunk_shown(hunk));
    }
    patch.warnings.iter().for_each(|warning| out += &format!("! {warning}\n"));
    out
}

fn hunk_shown(hunk: &Hunk<'_>) -> String {
    let start = hunk.old_start.map_or("?".to_owned(), |start| start.to_string());
    let header = hunk.headers.first().map_or(String::new(), |header| format!(" {}", header.text));
    let mut out = format!("@{start}{header}\n");
    for line in &hunk.lines {
        out.push(line.kind.sign());
        out += &line.text.escape_ascii().to_string();
        out += if line.crlf { "$" } else { "" };
        out += if line.no_newline { "%\n" } else { "\n" };
    }
    if hunk.separators > 0 {
        out += &format!("({} empty)\n", hunk.separators);
    }
    out
}

fn check(diff: impl AsRef<[u8]>, wanted: &str) {
    check_stripped(diff, None, wanted);
}

fn check_stripped(diff: impl AsRef<[u8]>, strip: Option<usize>, wanted: &str) {
    let diff = diff.as_ref();
    let text = String::from_utf8_lossy(diff);
    let read = diff::parse(diff, &DiffOptions { strip, ..DiffOptions::default() });
    let patch = read.unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(shown(&patch), wanted, "{text}");
    for section in patch.sections() {
        for hunk in section.hunks() {
            assert!(patch.bytes(hunk.span.clone()).starts_with(b"@@"), "{text}");
            let before = patch.bytes(0..hunk.span.start);
            let lines = before.iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(hunk.line as usize, lines + 1, "{text}");
            assert!(section.span.start < hunk.span.start, "{text}");
            assert!(hunk.span.end <= section.span.end, "{text}");
        }
    }
}

fn check_error(diff: impl AsRef<[u8]>, wanted: &str) {
    let diff = diff.as_ref();
    let text = String::from_utf8_lossy(diff);
    let error = diff::parse(diff, &DiffOptions::default()).map(|diff| shown(&diff));
    let error = error.expect_err(&text);
    assert_eq!(
        format!("{} {}:{}", error.kind.as_str(), error.line, error.column),
        wanted,
        "{text}"
    );
    assert!(error.span.end <= diff.len(), "{text}");
    assert!(error.span.start <= error.span.end, "{text}");
    let line = text.split_inclusive('\n').nth(error.line as usize - 1).unwrap_or_default();
    assert_eq!(
        error.seen.as_deref().unwrap_or_default(),
        line.trim_end_matches(['\r', '\n']),
        "{text}"
    );
    assert!(!error.expected.is_empty(), "{text}");
}

const HEAD: &str = "--- a/x\n+++ b/x\n";

#[test]
fn files_are_what_their_headers_say() {
    let body = "@@ -1 +1 @@\n-a\n+b\n";
    let lines = "@1\n-a\n+b\n";
    for (head, wanted) in [
        ("--- a/x\n+++ b/x\n", "M x\n"),
        ("--- x\n+++ x\n", "M x\n"),
        ("--- i/x\n+++ w/x\n", "M x\n"),
        (
            "--- x.orig\t2026-01-01 00:00:00.0 +0000\n+++ x\t2026-01-02 00:00:00.0 +0000\n",
            "M x or x.orig\n",
        ),
        ("--- d/x 2026-01-01 00:00:00 +00:00\n+++ d/x 2026-01-02 00:00:00 -07:00\n", "M d/x\n"),
        ("--- d\\x\n+++ d\\x\n", "M d\\x\n"),
        ("--- a/n m.txt\t\n+++ b/n m.txt\t\n", "M n m.txt\n"),
        ("--- \"a/\\303\\244\\t\"\n+++ \"b/\\303\\244\\t\"\n", "M ä\t\n"),
        ("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n", "M x\n"),
        ("diff --git x x\nindex 1..2\n--- x\n+++ x\n", "M x\n"),
        (
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/x\n+++ b/x\n",
            "M x +x\n",
        ),
        (
            "diff --git a/x b/x\nold mode 100755\nnew mode 100644\nindex 1..2\n--- a/x\n+++ b/x\n",
            "M x -x\n",
        ),
        ("diff --git a/x b/x\nindex 1..2 120000\n--- a/x\n+++ b/x\n", "M x link\n"),
        (
            "diff --git a/o b/p\nsimilarity index 60%\nrename from o\nrename to p\n--- a/o\n\
             +++ b/p\n",
            "R o -> p\n",
        ),
        (
            "diff --git a/o b/p\nsimilarity index 60%\ncopy from o\ncopy to p\n--- a/o\n+++ b/p\n",
            "C o -> p\n",
        ),
        // `git diff --no-index`: nothing says that the file moves.
        ("diff --git a/o b/n/p\nindex 1..2 100644\n--- a/o\n+++ b/n/p\n", "M n/p or o\n"),
        // A directory called `w`, as the first line shows.
        ("diff --git w/x w/x\nindex 1..2\n--- w/x\n+++ w/x\n", "M w/x\n"),
        ("Index: x\n=====\n--- x\t(revision 1)\n+++ x\t(working copy)\n", "M x\n"),
        // A tab in a name stands before the one of the time stamp; Subversion writes two.
        (
            "--- a/x\ty\t2024-06-06 14:05:11 -0500\n+++ b/x\ty\t2024-06-22 11:27:13 -0500\n",
            "M x\ty\n",
        ),
        ("--- x\t(.../trunk/x)\t(revision 1)\n+++ x\t(.../trunk/x)\t(revision 2)\n", "M x\n"),
        // A backslash beside a slash is part of the name.
        ("--- a/x\\y\n+++ b/x\\y\n", "M x\\y\n"),
        // Tabs before a time stamp that became blanks.
        (
            "--- a/x 2024-06-06 14:05:11.000000000 -0500\n+++ b/x 2024-06-22 11:27:13.9 -0500\n",
            "M x\n",
        ),
        ("--- x  2024-06-06 14:05:11\n+++ x  2024-06-22 11:27:13\n", "M x\n"),
        ("--- a 14:05:11\n+++ a 14:05:11\n", "M a 14:05:11\n"),
        ("--- 2024-06-06 14:05:11\n+++ 2024-06-06 14:05:11\n", "M 2024-06-06 14:05:11\n"),
        // Text before it, as in a mail.
        (
            "From 1 Mon\nSubject: x\n---\n x | 2 +-\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n",
            "M x\n",
        ),
    ] {
        check(format!("{head}{body}"), &format!("{wanted}{lines}"));
    }
    for (diff, wanted) in [
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", "A x [\"a\", \"b\"]\n"),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "D x\n@1\n-a\n"),
        // As GNU diff tells that there was no file.
        (
            "--- x\t1970-01-01 00:00:00.0 +0000\n+++ x\t2026-01-01 00:00:00.0 +0000\n\
             @@ -0,0 +1 @@\n+a\n",
            "A x [\"a\"]\n",
        ),
        (
            "diff --git a/x b/x\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/x\n\
             @@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
            "A x [\"a\"]% +x\n",
        ),
        (
            "diff --git w/x w/x\nnew file mode 100644\n--- /dev/null\n+++ w/x\n@@ -0,0 +1 @@\n\
             +a\r\n",
            "A w/x [\"a\\\\r\"] -x\n",
        ),
        (
            "diff --git i/x w/x\ndeleted file mode 100644\n--- i/x\n+++ /dev/null\n@@ -1 +0,0 @@\n\
             -a\n",
            "D x -x\n@1\n-a\n",
        ),
        ("diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n", "A x [] -x\n"),
        ("diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n", "D x -x\n"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "M x +x\n"),
        ("diff --git \"a/\\\"\" \"b/\\\"\"\nold mode 100644\nnew mode 100755\n", "M \" +x\n"),
        ("diff --git a/o b/p\nsimilarity index 100%\nrename from o\nrename to p\n", "R o -> p\n"),
        (
            "diff --git a/o b/p\nsimilarity index 100%\nrename from \"o\\t\"\nrename to p\n",
            "R o\t -> p\n",
        ),
        ("diff --git a/x b/x\n", "M x\n"),
        (
            "diff --git a/x b/x\ndiff --git a/y b/y\nold mode 100755\nnew mode 100644\n",
            "M x\nM y -x\n",
        ),
    ] {
        check(diff, wanted);
    }
    for (diff, strip, wanted) in [
        ("--- one/two/x\n+++ uno/due/x\n@@ -1 +1 @@\n-a\n+b\n", 2, "M x\n@1\n-a\n+b\n"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 0, "M b/x or a/x\n@1\n-a\n+b\n"),
        ("diff --git o/d/x n/d/x\nold mode 100755\nnew mode 100644\n", 1, "M d/x -x\n"),
        ("diff --git a/d/o b/d/p\nrename from d/o\nrename to d/p\n", 2, "R o -> p\n"),
        ("diff --git a/d/o b/d/p\nrename from d/o\nrename to d/p\n", 0, "R d/o -> d/p\n"),
    ] {
        check_stripped(diff, Some(strip), wanted);
    }
}

/// A side is absent where its time stamp is the epoch, in any zone, or Subversion says so, and the
/// hunks leave no line on it.
#[test]
fn a_side_without_a_file_is_told_by_what_stands_behind_its_name() {
    let now = "2026-01-01 00:00:00.0 +0000";
    for (behind, absent) in [
        ("\t(nonexistent)", true),
        ("\t(.../trunk/x)\t(nonexistent)", true),
        ("\t1970-01-01 00:00:00.000000000 +0000", true),
        ("\t1970-01-01 01:00:00.0 +0100", true),
        ("\t1969-12-31 19:00:00 -0500", true),
        ("\t1970-01-01 05:30:00 +05:30", true),
        ("\t1 Jan 1970 00:00:00 -0000", true),
        ("\t\t1 Jan 1970 00:00:00 -0000", true),
        (" 1 Jan 1970 00:00:00 -0000", true),
        ("\tThu, 01 Jan 1970 00:00:00 GMT", true),
        ("\tThu Jan 01 00:00:00 1970 +0000", true),
        // The zone is not known.
        ("\tThu Jan  1 01:00:00 1970", true),
        ("\t1970-01-01 00:00:00", true),
        ("\t1969-12-31 16:00:00", true),
        // Another time: files of some package managers have the first second.
        ("\t1970-01-01 00:00:01.000000000 +0000", false),
        ("\t1970-01-01 00:00:00.5 +0000", false),
        ("\t1970-01-01 00:00:00 +0100", false),
        ("\t1970-01-01 12:00:00 +0000", false),
        ("\t1969-12-31 00:00:00 +0000", false),
        ("\t1970-01-01 23:00:00", false),
        ("\t1 Jan 1971 00:00:00 -0000", false),
        ("\t2 Jan 1970 00:00:00 -0000", false),
        // A revision is a file.
        ("\t1 Jan 1970 00:00:00 -0000\t1.1", false),
        ("   1 Jan 1970 00:00:00 -0000   1.1", false),
        ("\t(working copy)", false),
        ("\t(revision 0)", false),
        ("", false),
    ] {
        let gone = format!("--- x\t{now}\n+++ x{behind}\n@@ -1 +0,0 @@\n-a\n");
        check(gone, if absent { "D x\n@1\n-a\n" } else { "M x\n@1\n-a\n" });
        let new = format!("--- x{behind}\n+++ x\t{now}\n@@ -0,0 +1 @@\n+a\n");
        check(new, if absent { "A x [\"a\"]\n" } else { "M x\n@0\n+a\n" });
        // Lines stay.
        let left = format!("--- x\t{now}\n+++ x{behind}\n@@ -1,2 +1 @@\n-a\n b\n");
        check(left, "M x\n@1\n-a\n b\n");
        let was = format!("--- x{behind}\n+++ x\t{now}\n@@ -1 +1,2 @@\n+a\n b\n");
        check(was, "M x\n@1\n+a\n b\n");
    }
    for (names, wanted) in [
        // As CVS writes it.
        (
            "Index: x\n=====\nRCS file: /cvs/x,v\nretrieving revision 1.1\ndiff -u -r1.1 x\n\
             --- x\t1 Jan 2001 00:00:00 -0000\t1.1\n+++ /dev/null\t1 Jan 1970 00:00:00 -0000\n",
            "D x\n@1\n-a\n",
        ),
        ("--- x\t1 Jan 2001 00:00:00 -0000\t1.1\n+++ /dev/null\t\t\n", "D x\n@1\n-a\n"),
        // Tabs became blanks.
        ("--- x  (revision 3)\n+++ x  (nonexistent)\n", "D x\n@1\n-a\n"),
        ("--- x  (revision 3)\n+++ x  (working copy)\n", "M x\n@1\n-a\n"),
        (
            "--- x (revision 3)\n+++ y (nonexistent)\n",
            "M y (nonexistent) or x (revision 3)\n@1\n-a\n",
        ),
        (
            "--- \"x (revision 3)\"\n+++ \"x (working copy)\"\n",
            "M x (working copy) or x (revision 3)\n@1\n-a\n",
        ),
        ("--- x (working copy)\n+++ x (working copy)\n", "M x (working copy)\n@1\n-a\n"),
        ("--- x\n+++ x (nonexistent)\n", "M x (nonexistent) or x\n@1\n-a\n"),
    ] {
        check(format!("{names}@@ -1 +0,0 @@\n-a\n"), wanted);
    }
    // Hunks without right numbers.
    let names = "--- x\t(revision 3)\n+++ x\t(nonexistent)\n";
    let told = "! line 3: the hunk has no numbers; its lines were taken as they stand\n";
    check(format!("{names}@@\n-a\n-b\n"), &format!("D x\n@?\n-a\n-b\n{told}"));
    check(format!("{names}@@\n-a\n b\n"), &format!("M x\n@?\n-a\n b\n{told}"));
}

#[test]
fn the_name_with_too_few_parts_is_the_one_that_is_pointed_at() {
    for (names, line) in [
        ("--- x\n+++ one/two/x\n", 1),
        ("--- one/two/x\n+++ x\n", 2),
        ("--- x\n+++ y\n", 1),
        ("--- /dev/null\n+++ x\n", 2),
    ] {
        let diff = format!("{names}@@ -1 +1 @@\n-a\n+b\n");
        let options = DiffOptions { strip: Some(2), ..DiffOptions::default() };
        let error = diff::parse(&diff, &options).expect_err(names);
        assert_eq!(error.kind.as_str(), "bad_path", "{names}");
        assert_eq!(error.line, line, "{names}");
    }
}

#[test]
fn the_message_of_a_mail_may_show_names() {
    let hash = "0123456789".repeat(4);
    let mail = |shown: &str| {
        format!(
            "From {hash} Mon Sep 17 00:00:00 2001\nSubject: x\n\nSo:\n{shown}---\n\n\
             diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
        )
    };
    check(mail("--- a/y\n+++ b/y\nwere the names.\n"), "M x\n@1\n-a\n+b\n");
    // What may be meant as a change is not left out.
    for shown in [
        "--- a/y\n+++ b/y\n-a\n+b\n",
        "--- a/y\n+++ b/y\n\nwere the names.\n",
        "--- a/y\n+++ b/y\nBinary files a/y and b/y differ\n",
        "diff --git a/y b/y\nindex 1..2\n--- a/y\n+++ b/y\nwere the names.\n",
    ] {
        let error = diff::parse(mail(shown), &DiffOptions::default()).expect_err(shown);
        assert_eq!(error.kind.as_str(), "file_without_hunks", "{shown}");
    }
    // Nor outside a message.
    check_error("--- a/y\n+++ b/y\nwere the names.\n", "file_without_hunks 3:1");
}

/// The numbers of a mail are right, unless another change follows; a cover letter is no patch.
#[test]
fn the_trailers_of_a_mail_belong_to_no_hunk() {
    const HASH: &str = "0123456789012345678901234567890123456789";
    let body = format!("{HEAD}@@ -1,2 +1,2 @@\n-a\n+b\n c\n");
    let mail = |subject: &str, text: &str| {
        format!("From {HASH} Mon Sep 17 00:00:00 2001\nSubject: [PATCH {subject}] x\n\n{text}")
    };
    let read = "M x\n@1\n-a\n+b\n c\n";
    for (text, wanted) in [
        (mail("1/1", &format!("{body}  d\n-- \n2\n")), read.to_owned()),
        (mail("1/1", &format!("{body}\n  @@ -1 +1 @@\n  -a\n")), read.to_owned()),
        (mail("0/1", &body) + &mail("1/1", &body), read.to_owned()),
        (mail("0/1", &body) + &mail("v2 00/10", &body) + &mail("1/1", &body), read.to_owned()),
        (mail("10/10", &body) + &mail("0/x", &body), read.repeat(2)),
        (
            mail("1/1", &format!("{body} d\n-e\n")),
            "M x\n@?\n-a\n+b\n c\n d\n-e\n! line 6: the numbers of the hunk do \
             not fit its lines, which were taken as they stand: it promises 2 old and 2 new lines, \
             and has 4 and 3\n"
                .to_owned(),
        ),
    ] {
        check(text, &wanted);
    }
    check_error(mail("0/1", &body), "no_diff 1:1");
}

#[test]
fn two_names_tell_the_prefix_of_new_files() {
    let stamp = "\t1970-01-01 00:00:00.0 +0000";
    let new = |old: &str, new: &str| format!("--- {old}{stamp}\n+++ {new}\n@@ -0,0 +1 @@\n+a\n");
    let bare = |old: &str, new: &str| format!("--- {old}\n+++ {new}\n@@ -0,0 +1 @@\n+a\n");
    let left_out = |prefix: &str| {
        format!(
            "! line 2: left out `{prefix}` before the paths, in which the two names of each file \
             differ\n"
        )
    };
    let (added, updated) = (" [\"a\"]\n", "\n@0\n+a\n");
    for (diff, wanted) in [
        (new("old/d/x", "new/d/x"), format!("A d/x{added}{}", left_out("new/"))),
        (new("p-1.orig/x", "p-1/x"), format!("A x{added}{}", left_out("p-1/"))),
        (new("t/old/x", "t/new/x"), format!("A x{added}{}", left_out("t/new/"))),
        (bare("old/d/x", "new/d/x"), format!("M d/x{updated}{}", left_out("new/"))),
        (
            new("old/x", "new/x") + &new("old/d/y", "new/d/y"),
            format!("A x{added}A d/y{added}{}", left_out("new/")),
        ),
        // Of the file's own name, or of other files, nothing is left out.
        (new("d/x", "d/x"), format!("A d/x{added}")),
        (new("d/x", "d/y"), format!("A d/y{added}")),
        (new("old/x", "new/y"), format!("A new/y{added}")),
        (
            new("old/x", "new/x") + "--- old/y\n+++ new/y\n@@ -1 +1 @@\n-a\n+b\n",
            format!("A new/x{added}M new/y or old/y\n@1\n-a\n+b\n"),
        ),
        (
            new("old/x", "new/x") + &new("old/x", "other/x"),
            format!("A new/x{added}A other/x{added}"),
        ),
    ] {
        check(&diff, &wanted);
    }
}

#[test]
fn lines_are_what_the_numbers_say() {
    for (body, wanted) in [
        ("@@ -4,2 +4,2 @@ fn f\n a\n-b\n+c\n", "@4 fn f\n a\n-b\n+c\n"),
        // Of an insertion the function above says nothing.
        ("@@ -3,0 +4 @@ fn f\n+c\n", "@3\n+c\n"),
        // Lines that read like headers, an empty line that lost its blank, the signature of a mail.
        ("@@ -1,3 +1,2 @@\n\n--- a\n--- b\n+++ c\n-- \n2.39\n", "@1\n \n--- a\n--- b\n+++ c\n"),
        ("@@ -1 +1 @@\n-a\r\n+b\n", "@1\n-a$\n+b\n"),
        ("@@ -1 +1 @@\n-a\r\r\n+b\r\n", "@1\n-a\\r$\n+b$\n"),
        (
            "@@ -1 +1 @@\n-a\n\\ Kein Zeilenumbruch\n+b\r\n\\ No newline at end of file\n",
            "@1\n-a%\n+b\\r%\n",
        ),
        (
            "@@ -1 +1 @@\n-a\n+b\n\n@@ -9 +9 @@\n-c\n",
            "@1\n-a\n+b\n@?\n-c\n\
             ! line 7: the numbers of the hunk do not fit its lines, which were taken as they \
             stand: it promises 1 old and 1 new lines, and has 1 and 0\n",
        ),
        ("@@ -1 +1 @@\n-a\n+b\n\n@@ -9 +8,0 @@\n-c\n\nBye.\n", "@1\n-a\n+b\n@9\n-c\n"),
        // A surplus empty line of context.
        ("@@ -1 +1 @@\n-a\n+b\n \n@@ -9 +8,0 @@\n-c\n \n", "@1\n-a\n+b\n@9\n-c\n"),
    ] {
        check(format!("{HEAD}{body}"), &format!("M x\n{wanted}"));
    }
    check(
        b"--- a/x\n+++ b/x\n@@ -1 +1 @@ \xff\n-\xff\xfe\n+\xe9\n",
        "M x\n@1\n-\\xff\\xfe\n+\\xe9\n",
    );
    // Without its last line feed.
    check(format!("{HEAD}@@ -1 +1 @@\n-a\n+b"), "M x\n@1\n-a\n+b\n");
}

#[test]
fn lines_are_read_as_they_stand_where_the_numbers_do_not_fit() {
    let fits = |numbers: &str| {
        format!(
            "! line 3: the numbers of the hunk do not fit its lines, which were taken as they \
             stand: it promises {numbers}\n"
        )
    };
    let nine = "9 old and 1 new lines, and has 1 and 1";
    let none = "! line 3: the hunk has no numbers; its lines were taken as they stand\n".to_owned();
    for (body, wanted, warning) in [
        (
            "@@ -1,7 +1,9 @@\n a\n-b\n+c\n",
            "@?\n a\n-b\n+c\n",
            fits("7 old and 9 new lines, and has 2 and 2"),
        ),
        (
            "@@ -1 +1 @@\n-a\n+b\n+c\n",
            "@?\n-a\n+b\n+c\n",
            fits("1 old and 1 new lines, and has 1 and 2"),
        ),
        (
            "@@ -1 +1 @@\n-a\n+b\n c\n",
            "@?\n-a\n+b\n c\n",
            fits("1 old and 1 new lines, and has 2 and 2"),
        ),
        // Surplus context below an empty line of it.
        (
            "@@ -1 +1 @@\n-a\n+b\n \n c\n@@ -5 +5 @@\n-c\n+d\n",
            "@?\n-a\n+b\n \n c\n@5\n-c\n+d\n",
            fits("1 old and 1 new lines, and has 3 and 3"),
        ),
        ("@@ -1,9 +1 @@\n-a\n+b\n@@ -5 +5 @@\n-c\n+d\n", "@?\n-a\n+b\n@5\n-c\n+d\n", fits(nine)),
        (
            "@@ -1,9 +1 @@\n-a\n+b\n\n\n@@ -5 +5 @@\n-c\n+d\n",
            "@?\n-a\n+b\n \n \n(2 empty)\n@5\n-c\n+d\n",
            fits(nine),
        ),
        ("@@ -1,9 +1 @@\n-a\n+b\n-- \n2.39\n", "@?\n-a\n+b\n", fits(nine)),
        (
            "@@ -1 +1 @@\n x\n \n \n-a\n+b\n",
            "@?\n x\n \n \n-a\n+b\n",
            fits("1 old and 1 new lines, and has 4 and 4"),
        ),
        ("@@ -1,9 +1 @@\n--\n+b\n", "@?\n--\n+b\n", fits(nine)),
        ("@@ ... @@\n-a\n+b\n", "@?\n-a\n+b\n", none.clone()),
        ("@@\n-a\n+b\n", "@?\n-a\n+b\n", none.clone()),
        ("@@ def f():\n a\n+b\n", "@? def f():\n a\n+b\n", none.clone()),
        ("@@ -1,x +1 @@\n-a\n", "@?\n-a\n", none.clone()),
    ] {
        check(format!("{HEAD}{body}"), &format!("M x\n{wanted}{warning}"));
    }
    check(
        format!("{HEAD}@@ -1,9 +1 @@\n-a\n+b\n{HEAD}@@ -1 +1 @@\n-a\n+b\n"),
        &format!("M x\n@?\n-a\n+b\nM x\n@1\n-a\n+b\n{}", fits(nine)),
    );
    check(
        format!("--- /dev/null\n+++ b/x\n@@ -0,0 +1,9 @@\n+a\n\n\n{HEAD}@@ -1 +1 @@\n-a\n+b\n"),
        &format!(
            "A x [\"a\"]\nM x\n@1\n-a\n+b\n{}",
            fits("0 old and 9 new lines, and has 0 and 1")
        ),
    );
}

#[test]
fn a_diff_stored_with_crlf_says_nothing_about_ends_of_lines() {
    let stored = "! line 1: the diff was stored with CRLF, which says nothing about the ends of \
                  lines in its files\n";
    let text = format!("{HEAD}@@ -1,2 +1 @@\n-a\n b\n");
    check(text.replace('\n', "\r\n"), &format!("M x\n@1\n-a\n b\n{stored}"));
    // One header line without is enough for the others to be the file's.
    check(text.replace('\n', "\r\n").replace("+++ b/x\r", "+++ b/x"), "M x\n@1\n-a$\n b$\n");
    let wrong = format!("{HEAD}@@ -1,2 +1 @@\n-a\nb\n").replace('\n', "\r\n");
    check_error(wrong, "no_prefix 5:1");
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_place() {
    for (diff, wanted) in [
        ("", "no_diff 1:1"),
        ("hello\n", "no_diff 1:1"),
        ("@@ -1 +1 @@\n-a\n+b\n", "no_file 1:1"),
        ("--- a/x\n+++ b/x\n", "file_without_hunks 3:1"),
        ("diff --git a/x b/x\nindex 1..2 100644\n", "file_without_hunks 3:1"),
        (
            "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1234567\n",
            "file_without_hunks 4:1",
        ),
        ("diff --git a/x b/y\nold mode 100644\nnew mode 100755\n", "bad_path 1:12"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 120000\n", "symlink 1:1"),
        ("diff --git a/x b/x\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "contradiction 3:5"),
        (
            "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+b\n",
            "contradiction 4:5",
        ),
        (
            "diff --git a/x b/y\nrename from x\nrename to y\n--- a/z\n+++ b/y\n@@ -1 +1 @@\n-a\n\
             +b\n",
            "contradiction 4:5",
        ),
        (
            "diff --git a/x b/y\nnew file mode 100644\nrename from x\nrename to y\n",
            "contradiction 4:1",
        ),
        (
            "diff --git a/x b/y\ndeleted file mode 100644\ncopy from x\ncopy to y\n",
            "contradiction 4:1",
        ),
        (
            "diff --git a/x b/x\nindex 1..2 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-y\n+z\n",
            "bad_submodule 6:1",
        ),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 160000\n", "symlink 1:1"),
        (
            "diff --git a/x b/y\nrename from x\nrename to y\nindex 1..2 160000\n",
            "contradiction 3:1",
        ),
        ("diff --git a/x b/x\nold mode 99\nnew mode 100755\n", "bad_mode 2:10"),
        ("diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\n", "bad_binary 4:1"),
        (
            "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n",
            "binary_diff 3:1",
        ),
        ("Binary files a/x and b/x differ\n", "binary_diff 1:1"),
        (
            "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n",
            "combined_diff 1:1",
        ),
        ("--- \"a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "bad_path 1:5"),
        ("--- \"a/\\377\"\n+++ \"b/\\377\"\n@@ -1 +1 @@\n-a\n+b\n", "bad_path 1:5"),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n b\n", "no_plus 5:1"),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n@@ -0,0 +3 @@\n+a\n", "no_plus 5:1"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "empty_hunk 4:1"),
        // The lines of the next file, or two of this one.
        ("--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n--- a/y\n+++ b/y\n", "hunk_end 5:1"),
        // A line that lost its blank, or the end.
        ("--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\nb\n+c\n", "no_prefix 5:1"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nc\n@@ -9 +9 @@\n-a\n+b\n", "no_file 7:1"),
        ("diff --git a/o b/p\nrename from o\n", "no_path 1:1"),
    ] {
        check_error(diff, wanted);
    }
    let error = diff::parse(
        b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".repeat(3),
        &DiffOptions { max_sections: 2, ..DiffOptions::default() },
    );
    let error = error.expect_err("too many");
    assert_eq!(error.kind.as_str(), "too_many_sections");
    assert_eq!(error.line, 11);
    assert_eq!(error.column, 1);
    let error = diff::parse(
        b"diff --git a/p q b/p q\nindex 1..2\nBinary files a/p q and b/p q differ\n".to_vec(),
        &DiffOptions::default(),
    );
    assert!(
        error
            .expect_err("binary")
            .to_string()
            .starts_with("p q: a binary change cannot be applied")
    );
}

#[test]
fn the_work_grows_with_the_text_alone() {
    // Of each hunk the numbers fit no line of it, and of each file the first line promises more.
    let text = "--- a/x\n+++ b/x\n@@ -1,99999 +1,99999 @@\n-a\n+b\n".repeat(20_000);
    let clock = std::time::Instant::now();
    let diff = diff::parse(
        text.as_bytes(),
        &DiffOptions { max_sections: usize::MAX, ..DiffOptions::default() },
    )
    .expect("it reads");
    assert_eq!(diff.sections().len(), 20_000);
    assert!(clock.elapsed().as_secs() < 10, "{:?}", clock.elapsed());
}

/// A file of a git diff with these parts.
fn of_binary(parts: &str) -> String {
    format!("diff --git a/x b/x\nindex 1234567..abcdef0 100644\nGIT binary patch\n{parts}")
}

/// One byte, and none.
const ONE: &str = "literal 1\nIcmZPo000310RR91\n\n";
const NONE: &str = "literal 0\nHcmV?d00001\n\n";

/// A delta from 3000 bytes to 3005, and back.
const THERE: &str = "delta 27\nicmdlXzE^xg3YUSQk+F%XnYo4K#yl@>R)&(q%p3r5`v=kh\n\n";
const BACK: &str = "delta 21\nccmdlhzC(OM3RhH&UXy@|7RPh;jd@<&08k1B&;S4c\n\n";

fn binary_of(diff: &str) -> (Patch, String) {
    let patch = diff::parse(diff, &DiffOptions::default());
    let patch = patch.unwrap_or_else(|error| panic!("{diff}: {error}"));
    let of = |binary: &Binary<'_>| {
        let part = |part: &binary::BinaryPart<'_>| {
            format!("{:?} {} {} at {}", part.kind, part.size, part.file_size, part.line)
        };
        let back = binary.reverse.as_ref().map_or("none".into(), part);
        let id = |id: Option<&str>| id.unwrap_or("?").to_owned();
        let ids = format!("{}..{}", id(binary.old_id), id(binary.new_id));
        format!("{ids} {}, {back}", part(&binary.forward))
    };
    let all =
        patch.sections().iter().map(|section| section.binary.as_deref().map_or("-".into(), of));
    let shown = all.collect::<Vec<_>>().join("; ");
    (patch, shown)
}

#[test]
fn the_parts_of_a_binary_file_are_read() {
    let both = "1234567..abcdef0 Literal 1 1 at 4, Literal 0 0 at 7";
    let text = "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
    for (diff, wanted) in [
        (of_binary(&format!("{ONE}{NONE}")), both.to_owned()),
        (of_binary(ONE), "1234567..abcdef0 Literal 1 1 at 4, none".into()),
        // The last empty line is lost easily, and the text is whole without it.
        (of_binary(ONE.trim_end()), "1234567..abcdef0 Literal 1 1 at 4, none".into()),
        (of_binary(&format!("{ONE}{}", NONE.trim_end())), both.into()),
        (
            of_binary(&format!("{THERE}{BACK}")),
            "1234567..abcdef0 Delta 27 3005 at 4, Delta 21 3000 at 7".into(),
        ),
        (
            of_binary(&format!("{ONE}{THERE}")),
            "1234567..abcdef0 Literal 1 1 at 4, Delta 27 3005 at 7".into(),
        ),
        // Other files before and after it; the second one has more empty lines.
        (
            format!("{text}{}{text}", of_binary(&format!("{ONE}{NONE}"))),
            "-; 1234567..abcdef0 Literal 1 1 at 9, Literal 0 0 at 12; -".into(),
        ),
        (format!("{}\n\n{text}", of_binary(&format!("{ONE}{NONE}"))), format!("{both}; -")),
        // All of it is stored with CRLF.
        (of_binary(&format!("{ONE}{NONE}")).replace('\n', "\r\n"), both.into()),
        // A mail.
        (format!("{}-- \n2.39\n", of_binary(&format!("{ONE}{NONE}"))), both.into()),
        // Ids that are none.
        (
            of_binary(ONE).replace("1234567..abcdef0", "x..abcdef0"),
            "?..? Literal 1 1 at 4, none".into(),
        ),
        (of_binary(ONE).replace("index 1234567..abcdef0 100644\n", ""), {
            "?..? Literal 1 1 at 3, none".into()
        }),
    ] {
        assert_eq!(binary_of(&diff).1, wanted, "{diff}");
    }
}

#[test]
fn a_binary_part_makes_the_file() {
    let (patch, _) = binary_of(&of_binary(&format!("{ONE}{NONE}")));
    let binary = patch.sections()[0].binary.as_ref().expect("it has one");
    assert_eq!(binary.forward.apply(b"anything"), Some(vec![0]));
    let reversed = binary.reversed().expect("it has both parts");
    assert_eq!(reversed.forward.apply(b""), Some(Vec::new()));
    assert_eq!(reversed.old_id, Some("abcdef0"));
    assert_eq!(reversed.reversed().as_ref(), Some(&**binary));
    let (patch, _) = binary_of(&of_binary(THERE));
    let binary = patch.sections()[0].binary.as_ref().expect("it has one");
    assert_eq!(binary.reversed(), None);
    assert_eq!(binary.forward.apply(&[7; 2999]), None);
    let made = binary.forward.apply(&[7; 3000]).expect("it is for 3000 bytes");
    assert_eq!(made, [&[7; 100][..], b"0123456789", &[7; 2890], b"\0tail"].concat()[..made.len()]);
    let span = &patch.sections()[0].span;
    assert_eq!(patch.bytes(span.clone()), patch.text().as_bytes());
}

#[test]
fn damaged_parts_of_a_binary_file_are_refused() {
    let literal = |line: &str, base85: &str| of_binary(&format!("{line}\n{base85}\n\n"));
    for (diff, wanted) in [
        (of_binary(""), "bad_binary 4:1"),
        (of_binary("\n"), "bad_binary 4:1"),
        (literal("literal", "IcmZPo000310RR91"), "bad_binary 4:1"),
        (literal("literal x", "IcmZPo000310RR91"), "bad_binary 4:1"),
        (literal("literal -1", "IcmZPo000310RR91"), "bad_binary 4:1"),
        (literal("literal 1 ", "IcmZPo000310RR91"), "bad_binary 4:1"),
        (literal("whatever 1", "IcmZPo000310RR91"), "bad_binary 4:1"),
        // Another size.
        (literal("literal 0", "IcmZPo000310RR91"), "bad_binary 4:1"),
        (literal("literal 2", "IcmZPo000310RR91"), "bad_binary 4:1"),
        // Too large, before anything is decompressed.
        (literal("literal 268435456", "IcmZPo000310RR91"), "bad_binary 4:1"),
        (literal("literal 268435457", "IcmZPo000310RR91"), "large_binary 4:1"),
        (literal("literal 99999999999999999999999", "IcmZPo000310RR91"), "large_binary 4:1"),
        // No bytes; bytes that are cut off; more behind them; another checksum; no zlib stream.
        (of_binary("literal 1\n\n"), "bad_binary 4:1"),
        (literal("literal 1", "HcmZPo00031"), "bad_binary 4:1"),
        (literal("literal 1", "IcmZPo000310RR91\nA00000"), "bad_binary 4:1"),
        (literal("literal 1", "IcmZPo000310RR90"), "bad_binary 5:1"),
        (literal("literal 1", "IcmZPo000320RR91"), "bad_binary 4:1"),
        (literal("literal 1", "A00000"), "bad_binary 4:1"),
        // Not base 85.
        (literal("literal 1", "McmZPo000310RR91"), "bad_binary 5:1"),
        (literal("literal 1", "IcmZPo000310RR9"), "bad_binary 5:1"),
        (literal("literal 1", "IcmZPo000310RR91 "), "bad_binary 5:1"),
        (literal("literal 1", "IcmZPo000310RR9,"), "bad_binary 5:1"),
        (literal("literal 1", "IcmZPo000310RR91\n "), "bad_binary 6:1"),
        // Its empty line is missing.
        (of_binary(&format!("{}{}", ONE.trim_end(), &NONE[..0])) + "\ndiff --git a/y b/y\n", {
            "bad_binary 6:1"
        }),
        (of_binary(&format!("{}\n{NONE}", ONE.trim_end())), "bad_binary 6:1"),
        // One byte is no delta, and neither is another size of one.
        (literal("delta 1", "IcmZPo000310RR91"), "bad_binary 4:1"),
        (of_binary(&THERE.replace("27", "26")), "bad_binary 4:1"),
        // The second part.
        (of_binary(&format!("{ONE}{}", NONE.replace("ral 0", "ral 1"))), "bad_binary 7:1"),
        (of_binary(&format!("{ONE}{}", NONE.replace("HcmV", "Hcm"))), "bad_binary 8:1"),
    ] {
        check_error(diff, wanted);
    }
}

#[test]
fn damaged_bytes_of_a_binary_file_never_panic() {
    let whole = of_binary(&format!("{THERE}{BACK}"));
    let from = whole.find("delta").expect("it has one");
    for at in from..whole.len() {
        for byte in [b'0', b'~', b'z', b' ', b'\n'] {
            let mut bytes = whole.clone().into_bytes();
            bytes[at] = byte;
            if let Ok(patch) = diff::parse(bytes, &DiffOptions::default()) {
                for binary in patch.sections().iter().filter_map(|one| one.binary.as_ref()) {
                    let made = binary.forward.apply(&[7; 3000]).expect("it was checked");
                    assert_eq!(made.len() as u64, binary.forward.file_size);
                }
            }
        }
        let _ = diff::parse(&whole[..at], &DiffOptions::default());
    }
}

#[test]
fn all_binary_files_together_have_a_limit() {
    let mut part = Vec::new();
    let zeros = vec![0; 200 << 20];
    binary::write(&mut part, &zeros, &zeros);
    let part = String::from_utf8(part).expect("it is ASCII");
    let diff = format!("diff --git a/x b/x\n{part}");
    assert!(diff::parse(&diff, &DiffOptions::default()).is_ok());
    let lines = diff.lines().count();
    check_error(diff.repeat(2), &format!("large_binary {}:1", lines + 3));
}

#[test]
fn binary_files_without_their_bytes_are_left_out_if_asked() {
    let git = "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n";
    let moved = "diff --git a/o b/p\nsimilarity index 90%\nrename from o\nrename to p\n\
                 index 1..2 100644\nBinary files a/o and b/p differ\n";
    let svn = "Index: pic\n=======\nCannot display: file marked as a binary type.\n\
               svn:mime-type = image/png\n";
    let text = "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
    let left_out = |line: usize, path: &str| {
        format!("! line {line}: left out the binary file {path}, whose bytes are not in the diff\n")
    };
    for (diff, line, path) in [
        (git, 3, "x"),
        (moved, 6, "p"),
        ("Binary files old/x and new/x differ\n", 1, "new/x"),
        ("Binary files a/x and /dev/null differ\n", 1, "x"),
        ("Files a/x and b/x differ\n", 1, "x"),
        (svn, 3, "pic"),
    ] {
        let options = DiffOptions { skip_binary: true, ..DiffOptions::default() };
        let read = |diff: &str| diff::parse(diff, &options).map(|patch| shown(&patch));
        let wanted = left_out(line, path);
        assert_eq!(read(diff), Ok(wanted.clone()), "{diff}");
        let change = "M y\n@1\n-a\n+b\n";
        assert_eq!(read(&format!("{diff}{text}")), Ok(format!("{change}{wanted}")), "{diff}");
        let below = format!("{change}{}", left_out(line + 5, path));
        assert_eq!(read(&format!("{text}{diff}")), Ok(below), "{diff}");
        check_error(format!("{text}{diff}"), &format!("binary_diff {}:1", line + 5));
    }
}

#[test]
fn a_git_diff_of_one_file_does_not_move_it() {
    for names in ["--- x\n+++ b/x\n", "--- a/x\n+++ x\n", "--- old/x\n+++ new/x\n"] {
        let text = format!("diff --git a/x b/x\n{names}@@ -1 +1 @@\n-a\n+b\n");
        check(text, "M x\n@1\n-a\n+b\n");
    }
}

/// What git writes of a submodule, with its commits as lines and with their titles.
#[test]
fn a_submodule_is_read_with_its_commits() {
    let (old, new) = ("1".repeat(40), "ab".repeat(20));
    let git = |header: &str, lines: &str| format!("diff --git a/m b/m\n{header}\n{lines}");
    let line = |sign: &str, id: &str| format!("{sign}Subproject commit {id}\n");
    for (diff, wanted) in [
        (
            git(
                "index 111..aba 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@",
                &(line("-", &old) + &line("+", &new)),
            ),
            format!("M m submodule {old}..{new}\n"),
        ),
        (
            git(
                "index 111..111 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@",
                &(line("-", &old) + &line("+", &format!("{old}-dirty"))),
            ),
            format!("M m submodule {old}..{old}\n"),
        ),
        (
            git(
                "new file mode 160000\nindex 0000000..aba\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@",
                &line("+", &new),
            ),
            format!("A m [] submodule none..{new}\n"),
        ),
        (
            git(
                "deleted file mode 160000\nindex 111..0000000\n--- a/m\n+++ /dev/null\n@@ -1 +0,0 @@",
                &line("-", &old),
            ),
            format!("D m submodule {old}..none\n"),
        ),
        // As `git diff -D` shows it.
        (
            git("deleted file mode 160000\nindex 111..0000000", ""),
            "D m submodule 111..none\n".to_owned(),
        ),
        (
            "Submodule a/m 111..aba:\n  > c\n  < diff --git a/x b/x\nSubmodule b c 111...aba (rewind):\n"
                .to_owned(),
            "M a/m submodule 111..aba\nM b c submodule 111..aba\n".to_owned(),
        ),
        (
            "Submodule m contains modified content\nSubmodule m 111...000 (submodule deleted)\n\
             Submodule n 000...aba (new submodule)\n"
                .to_owned(),
            "D m submodule 111..none\nA n [] submodule none..aba\n".to_owned(),
        ),
        // Behind a hunk whose numbers are wrong.
        (
            "--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n-a\n+b\nSubmodule m 111..aba:\n  > c\n".to_owned(),
            "M x\n@?\n-a\n+b\nM m submodule 111..aba\n\
             ! line 3: the numbers of the hunk do not fit its lines, which were taken as they \
             stand: it promises 1 old and 3 new lines, and has 1 and 1\n"
                .to_owned(),
        ),
    ] {
        check(&diff, &wanted);
    }
    check_stripped("Submodule a/m 1..2:\n", Some(2), "M m submodule 1..2\n");
}
