//! `-i`: a person takes or leaves files and hunks; a pager on a terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::program::{clean, on_terminal, place, run};

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n@@\n-3\n+three\n@@\n-5\n\
                     +five\n*** Add File: n\n+n\n\
    *** Delete File: b\n*** Update File: c\n*** Move to: d\n@@\n-c\n+C\n*** End Patch\n";

const FILES: &[(&str, &str)] =
    &[("w/a", "1\n2\n3\n4\n5\n"), ("w/b", "b\n"), ("w/c", "c\n"), ("p", PATCH)];

/// The files of the workspace, each as `name=content`.
fn files(dir: &Path) -> String {
    let mut all: Vec<_> = fs::read_dir(dir.join("w"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().expect("a type").is_file())
        .map(|entry| {
            let text = fs::read_to_string(entry.path()).expect("text").replace('\n', "");
            format!("{}={text}", entry.file_name().to_str().expect("a plain name"))
        })
        .collect();
    all.sort_unstable();
    all.join(" ")
}

#[test]
fn what_is_taken_is_applied_and_what_is_left_is_said() {
    for (answers, exit, left_out, wanted) in [
        ("y y y y y y y", 0, "", "a=one2three4five d=C n=n"),
        ("y n y n n n y", 0, "left out: a, hunk 2 of 3; A n; D b; R c -> d", "a=one24345 b=b c=C"),
        ("a y n n n", 0, "left out: D b; R c -> d; c, hunk 1 of 1", "a=one2three4five b=b c=c n=n"),
        (
            "n d n n y n",
            0,
            "left out: a, hunk 1 of 3; a, hunk 2 of 3; a, hunk 3 of 3; A n; D b; c, hunk 1 of 1",
            "a=12345 b=b d=c",
        ),
        (
            "y q",
            0,
            "left out: a, hunk 2 of 3; a, hunk 3 of 3; A n; D b; R c -> d; c, hunk 1 of 1",
            "a=one2345 b=b c=c",
        ),
        ("q", 3, "nothing was taken; nothing was changed", "a=12345 b=b c=c"),
        ("y y y y y n n", 0, "left out: R c -> d; c, hunk 1 of 1", "a=one2three4five c=c n=n"),
        ("? q", 3, "a - take this hunk and all that follow in this file", "a=12345 b=b c=c"),
        ("e q", 0, "left out: a, hunk 2 of 3", "a=ONE2345 b=b c=c"),
    ] {
        let wanted = wanted.replace("one24345", "one234five");
        let dir = place(FILES);
        let editor = "sed -i s/one/ONE/";
        let mut terminal = on_terminal(dir.path(), "$it -i ../p", &[("EDITOR", editor)]);
        terminal.exp_string("M a, hunk 1 of 3\r\n").expect("the first hunk");
        terminal.exp_string("\u{1b}[31m-1").expect("in red");
        let mut all = String::new();
        for answer in answers.split(' ') {
            all += &terminal.exp_string("?] ").unwrap_or_else(|error| panic!("{answers}: {error}"));
            assert!(
                files(dir.path()).starts_with("a=12345 b=b c=c"),
                "nothing is changed before the last answer"
            );
            terminal.send_line(answer).expect("sent");
        }
        all += &terminal
            .exp_string(&format!("exit {exit}\r\n"))
            .unwrap_or_else(|error| panic!("{answers}: {error}"));
        assert!(all.contains(left_out), "{answers}: {all}");
        assert_eq!(files(dir.path()), wanted, "{answers}");
        if exit == 0 {
            let log = run("apply-patch", &dir.path().join("w"), dir.path(), &["log"], b"");
            assert_eq!(log.stdout.lines().count(), 1, "one transaction: {log:?}");
        }
    }
}

const DIFF: &str = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n--- a/a\n+++ b/a\n\
    @@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -4,2 +4,2 @@\n 4\n-5\n+five\n\
    diff --git a/n m b/n m\nnew file mode 100644\n--- /dev/null\n+++ b/n m\t\n@@ -0,0 +1 @@\n+n\n\
    \\ No newline at end of file\n\
    diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n\
    diff --git a/c b/d\nsimilarity index 50%\nrename from c\nrename to d\n--- a/c\n+++ b/d\n\
    @@ -1 +1 @@\n-c\n+C\n\
    diff --git a/a b/e\nsimilarity index 100%\ncopy from a\ncopy to e\n";

#[test]
fn what_is_taken_of_a_diff_is_a_diff() {
    for (answers, left_out, wanted, runs) in [
        ("y y y y y y y y", "", "a=one234five d=C e=12345 n m=n", true),
        (
            "n y n n n n y n",
            "left out: M a, mode 100755; a, hunk 2 of 2; A n m; D b; R c -> d; C a -> e",
            "a=one2345 b=b c=C",
            false,
        ),
        (
            "y n n n y y n n",
            "left out: a, hunk 1 of 2; a, hunk 2 of 2; A n m; c, hunk 1 of 1; C a -> e",
            "a=12345 d=c",
            true,
        ),
        ("n e q", "left out: M a, mode 100755; a, hunk 2 of 2; A n m", "a=ONE2345 b=b c=c", false),
    ] {
        let dir = place(FILES);
        fs::write(dir.path().join("d.diff"), DIFF).expect("a file");
        let editor = "sed -i s/one/ONE/";
        let mut terminal =
            on_terminal(dir.path(), "$it -i --from unified ../d.diff", &[("EDITOR", editor)]);
        let mut all = String::new();
        for answer in answers.split(' ') {
            all += &terminal.exp_string("?] ").unwrap_or_else(|error| panic!("{answers}: {error}"));
            terminal.send_line(answer).expect("sent");
        }
        all +=
            &terminal.exp_string("exit 0\r\n").unwrap_or_else(|error| panic!("{answers}: {error}"));
        assert!(all.contains(left_out), "{answers}: {all}");
        assert_eq!(files(dir.path()), wanted, "{answers}");
        let mode = fs::metadata(dir.path().join("w/a")).expect("a file").permissions().mode();
        assert_eq!(mode & 0o100 != 0, runs, "{answers}");
    }
}

/// Answers the questions, and gives what was shown with the exit code.
fn answered(dir: &Path, line: &str, answers: &str, environment: &[(&str, &str)]) -> String {
    let mut terminal = on_terminal(dir, line, environment);
    let mut all = String::new();
    for answer in answers.split(' ') {
        all += &terminal.exp_string("?] ").unwrap_or_else(|error| panic!("{answers}: {error}"));
        match answer {
            "EOF" => terminal.send_control('d').expect("sent"),
            answer => terminal.send_line(answer).expect("sent"),
        }
    }
    all + &terminal.exp_eof().unwrap_or_else(|error| panic!("{answers}: {error}"))
}

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n";
const HUNK: &str = " 1\n-2\n+two\n 3\n 4\n-5\n+five\n+more\n 6\n-7\n 8\n";

#[test]
fn what_a_later_mail_copies_is_the_file_that_an_earlier_one_left() {
    let mail = |nth: usize, diff: &str| {
        format!(
            "From 012345678901234567890123456789012345678{nth} Mon Sep 17 00:00:00 2001\n\
             From: A <a@example.com>\nSubject: [PATCH {nth}/2] x\n\n---\n a | 2 +-\n\n\
             diff --git a/a {diff}-- \n2.39.5\n\n"
        )
    };
    let change = "b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
    let copy = "b/n\nsimilarity index 100%\ncopy from a\ncopy to n\n";
    let dir = place(FILES);
    fs::write(dir.path().join("m"), mail(1, change) + &mail(2, copy)).expect("a file");
    let mut terminal = on_terminal(dir.path(), "$it -i ../m", &[]);
    for _ in 0..2 {
        terminal.exp_string("?] ").expect("a question");
        terminal.send_line("y").expect("sent");
    }
    terminal.exp_string("exit 0\r\n").expect("it ends");
    assert_eq!(files(dir.path()), "a=1two345 b=b c=c n=1two345");
}

#[test]
fn blocks_keep_their_rules() {
    let block = |path: &str, old: &str, new: &str| {
        format!("File: {path}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n")
    };
    let dir = place(FILES);
    fs::write(dir.path().join("w/empty"), "").expect("a file");
    let blocks = block("empty", "", "new\n") + &block("a", "1\n", "one\n");
    fs::write(dir.path().join("blocks"), blocks).expect("a file");
    let mut terminal = on_terminal(dir.path(), "$it -i --profile codex ../blocks", &[]);
    // The last question is about what is replaced.
    for answer in ["y", "y", "y"] {
        terminal.exp_string("?] ").expect("a question");
        terminal.send_line(answer).expect("sent");
    }
    terminal.exp_string("exit 0\r\n").expect("it ends");
    assert_eq!(files(dir.path()), "a=one2345 b=b c=c empty=new");
}

#[test]
fn a_binary_file_is_taken_or_left_as_a_whole() {
    let binary = |path: &str| {
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\nGIT binary patch\nliteral 1\n\
             IcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n"
        )
    };
    let dir = place(FILES);
    fs::write(dir.path().join("d.diff"), binary("x") + &binary("y")).expect("a file");
    let mut terminal = on_terminal(dir.path(), "$it -i --from unified ../d.diff", &[]);
    for (name, answer) in [("M x, binary", "n"), ("M y, binary", "y")] {
        terminal.exp_string(name).expect("its name");
        terminal.exp_string("Apply this binary change").expect("the question");
        terminal.exp_string("?] ").expect("the keys");
        terminal.send_line(answer).expect("sent");
    }
    terminal.exp_string("exit 0\r\n").expect("it ends");
    assert_eq!(files(dir.path()), "a=12345 b=b c=c y=\0");
}

#[test]
fn a_hunk_is_split_where_lines_stay_and_shown_where_it_goes() {
    let envelope = format!("*** Begin Patch\n*** Update File: s\n@@\n{HUNK}*** End Patch\n");
    let diff = format!("--- a/s\n+++ b/s\n@@ -1,8 +1,8 @@ f\n{HUNK}");
    for (answers, exit, wanted) in [
        ("y", 0, "1 two 3 4 five more 6 8"),
        ("s y y y", 0, "1 two 3 4 five more 6 8"),
        ("s y n y", 0, "1 two 3 4 5 6 8"),
        ("s n y n", 0, "1 2 3 4 five more 6 7 8"),
        ("s n a", 0, "1 2 3 4 five more 6 8"),
        ("s y d", 0, "1 two 3 4 5 6 7 8"),
        ("s y q", 0, "1 two 3 4 5 6 7 8"),
        ("s n n n", 3, "1 2 3 4 5 6 7 8"),
        ("s n e n", 0, "1 2 3 4 FIVE more 6 7 8"),
        ("e", 0, "1 two 3 4 FIVE more 6 8"),
        ("s y s n n", 0, "1 two 3 4 5 6 7 8"),
    ] {
        for (patch, flags) in
            [(&envelope, "-i"), (&envelope, "-i --profile codex"), (&diff, "-i --from unified")]
        {
            let dir = place(&[("w/s", LINES), ("p", patch)]);
            let environment = [("EDITOR", "sed -i s/five/FIVE/"), ("NO_COLOR", "1")];
            let all = answered(dir.path(), &format!("$it {flags} ../p"), answers, &environment);
            let case = format!("{flags}: {answers}: {all}");
            assert!(all.contains(&format!("exit {exit}\r\n")), "{case}");
            let found = fs::read_to_string(dir.path().join("w/s")).expect("a file");
            assert_eq!(found.lines().collect::<Vec<_>>().join(" "), wanted, "{case}");
            let suffix = if flags.contains("unified") { " f" } else { "" };
            assert!(
                all.contains(&format!(
                    "M s, hunk 1 of 1\r\n@@ -1,8 +1,8 @@{suffix}\r\n 1\r\n-2\r\n"
                )),
                "{case}"
            );
            if answers.starts_with('s') {
                for part in [
                    format!(
                        "part 1 of 3\r\n@@ -1,4 +1,4 @@{suffix}\r\n 1\r\n-2\r\n+two\r\n 3\r\n 4\r\n"
                    ),
                    format!(
                        "part 2 of 3\r\n@@ -3,4 +3,5 @@{suffix}\r\n 3\r\n 4\r\n-5\r\n+five\r\n\
                         +more\r\n 6\r\n"
                    ),
                ] {
                    assert!(all.contains(&part), "{part}: {case}");
                }
            }
            if answers == "s y n y" {
                assert!(
                    all.contains(&format!(
                        "part 3 of 3\r\n@@ -6,3 +7,2 @@{suffix}\r\n 6\r\n-7\r\n 8\r\n"
                    )),
                    "{case}"
                );
                assert!(all.contains("left out: s, hunk 1 of 1, part 2 of 3"), "{case}");
                assert!(all.contains("[y,n,q,a,d,s,e,"), "{case}");
                assert!(all.contains("[y,n,q,a,d,j,J,g,/,e,"), "{case}");
                assert!(all.contains("[y,n,q,a,d,K,j,J,g,/,e,"), "{case}");
                assert!(all.contains("[y,n,q,a,d,K,g,/,e,"), "{case}");
            }
        }
    }
}

/// Five hunks of one file, each of one line.
fn five() -> (String, String) {
    let lines: String = (1..=40).map(|line| format!("{line}\n")).collect();
    let hunks = [4, 12, 20, 28, 36].map(|line| format!("@@\n-{line}\n+new {line}\n"));
    let patch = format!("*** Begin Patch\n*** Update File: s\n{}*** End Patch\n", hunks.concat());
    (lines, patch)
}

#[test]
fn hunks_are_left_undecided_and_found_again_as_in_git() {
    let (lines, patch) = five();
    for (answers, taken, shown) in [
        // Back, and on, among those that are undecided.
        ("j y k n y y y", "2 3 4 5", "hunk 1 of 5"),
        ("y j k n n n n", "1", "hunk 2 of 5"),
        // Not offered where no undecided one is before it.
        ("y y k q", "1 2", "K - leave it"),
        // Back to one that is decided, whose answer is another then.
        ("y K n y y y y", "2 3 4 5", "hunk 1 of 5 (taken)"),
        ("n K y d", "1", "hunk 1 of 5 (left out)"),
        ("J J y n n K K K K n y", "2 3", ""),
        // What was passed over is asked about at last.
        ("j j a n y", "2 3 4 5", ""),
        ("j d y", "1", ""),
        ("j y q", "2", "left out: s, hunk 1 of 5; s, hunk 3 of 5"),
        // By number, and by what stands in it.
        ("g4 y y n n n", "4 5", "hunk 4 of 5"),
        ("g5 a n n n n", "5", "hunk 5 of 5"),
        ("g9 q", "", "There is no hunk \"9\"; there are 5"),
        ("/^-2[08] y q", "3", "hunk 3 of 5"),
        ("j j j /^-12$ y q", "2", "hunk 2 of 5"),
        ("/nowhere y q", "1", "No hunk matches"),
        ("/( q", "", "This is not a regular expression"),
        ("? q", "", "J - leave it undecided, and go on to the next hunk"),
    ] {
        let dir = place(&[("w/s", &lines), ("p", &patch)]);
        let all = answered(dir.path(), "$it -i ../p", answers, &[("NO_COLOR", "1")]);
        let exit = if taken.is_empty() { 3 } else { 0 };
        assert!(all.contains(&format!("exit {exit}\r\n")), "{answers}: {all}");
        assert!(all.contains(shown), "{answers}: {all}");
        let found = fs::read_to_string(dir.path().join("w/s")).expect("a file");
        let lines = found.lines().filter_map(|line| line.strip_prefix("new "));
        let found: Vec<_> = lines
            .map(|line| (line.parse::<usize>().expect("a number") / 8 + 1).to_string())
            .collect();
        assert_eq!(found.join(" "), taken, "{answers}: {all}");
    }
}

#[test]
fn a_number_and_a_pattern_are_asked_for_where_they_are_not_given() {
    let (lines, patch) = five();
    let dir = place(&[("w/s", &lines), ("p", &patch)]);
    let mut terminal = on_terminal(dir.path(), "$it -i ../p", &[("NO_COLOR", "1")]);
    for (before, answer) in [
        ("hunk 1 of 5", "y"),
        ("[y,n,q,a,d,K,j,J,g,/,e,?] ", "n"),
        ("hunk 3 of 5", "g"),
        ("+ 1: -4\r\n- 2: -12\r\n  3: -20\r\n  4: -28\r\n  5: -36\r\nGo to which hunk? ", "5"),
        ("hunk 5 of 5", "/"),
        ("Search for which regular expression? ", "new 28"),
        ("hunk 4 of 5", "y"),
        ("hunk 5 of 5", "q"),
    ] {
        terminal.exp_string(before).unwrap_or_else(|error| panic!("{before}: {error}"));
        terminal.send_line(answer).expect("sent");
    }
    let end = terminal.exp_string("exit 0\r\n").expect("it ends");
    assert!(end.contains("left out: s, hunk 2 of 5; s, hunk 3 of 5; s, hunk 5 of 5"), "{end}");
}

#[test]
fn a_hunk_without_context_is_shown_with_the_lines_around_it() {
    let (lines, patch) = five();
    let ends = "*** Begin Patch\n*** Update File: s\n@@\n-1\n+one\n@@\n 39\n-40\n*** End Patch\n";
    for (patch, line_end, answers, wanted) in [
        (
            &*patch,
            "\n",
            "n n n n n",
            &[
                "@@ -1,7 +1,7 @@\r\n 1\r\n 2\r\n 3\r\n-4\r\n+new 4\r\n 5\r\n 6\r\n 7\r\n",
                "@@ -33,7 +33,7 @@\r\n 33\r\n",
            ][..],
        ),
        (&*patch, "\r\n", "n n n n n", &[" 3\r\n-4\r\n+new 4\r\n 5\r\n 6\r\n 7\r\nApply"]),
        (
            ends,
            "\n",
            "n n",
            &[
                "@@ -1,4 +1,4 @@\r\n-1\r\n+one\r\n 2\r\n 3\r\n 4\r\nApply",
                "@@ -39,2 +39 @@\r\n 39\r\n-40\r\nApply",
            ],
        ),
    ] {
        let dir = place(&[("w/s", &lines.replace('\n', line_end)), ("p", patch)]);
        let all = answered(dir.path(), "$it -i ../p", answers, &[("NO_COLOR", "1")]);
        for wanted in wanted {
            assert!(all.contains(wanted), "{wanted:?}: {all}");
        }
    }
}

#[test]
fn the_parts_of_a_hunk_keep_the_end_of_the_file_and_odd_lines() {
    let end = "*** Begin Patch\n*** Update File: s\n@@\n-1\n+one\n 2\n\n 3\n-4\n+four\n\
               *** End of File\n*** End Patch\n";
    let diff = "--- a/s\n+++ b/s\n@@ -1,5 +1,5 @@\n-1\n+one\n 2\n \n 3\n-4\n\
                \\ No newline at end of file\n+four\n";
    let crlf = end.replace('\n', "\r\n");
    for (patch, before, flags, answers, wanted) in [
        (end, "1\n2\n\n3\n4\n", "-i", "s y n", "one\n2\n\n3\n4\n"),
        (end, "1\n2\n\n3\n4\n", "-i", "s n y", "1\n2\n\n3\nfour\n"),
        (&crlf, "1\n2\n\n3\n4\n", "-i", "s n y", "1\n2\n\n3\nfour\n"),
        (&crlf, "1\n2\n\n3\n4\n", "-i", "s y n", "one\n2\n\n3\n4\n"),
        (diff, "1\n2\n\n3\n4", "-i --from unified", "s y n", "one\n2\n\n3\n4"),
        (diff, "1\n2\n\n3\n4", "-i --from unified", "s n y", "1\n2\n\n3\nfour\n"),
        (diff, "1\n2\n\n3\n4", "-i --from unified", "s y y", "one\n2\n\n3\nfour\n"),
    ] {
        let dir = place(&[("w/s", before), ("p", patch)]);
        let all = answered(dir.path(), &format!("$it {flags} ../p"), answers, &[("NO_COLOR", "1")]);
        assert!(all.contains("exit 0\r\n"), "{flags}: {answers}: {all}");
        let found = fs::read_to_string(dir.path().join("w/s")).expect("a file");
        assert_eq!(found, wanted, "{flags}: {answers}: {all}");
    }
}

#[test]
fn words_that_differ_stand_out() {
    let patch =
        "*** Begin Patch\n*** Update File: s\n@@\n-let x = 1;\n+let x = 2;\n*** End Patch\n";
    let dir = place(&[("w/s", "let x = 1;\n"), ("p", patch)]);
    let all = answered(dir.path(), "$it -i ../p", "y", &[]);
    assert!(all.contains("\u{1b}[31m-let x = \u{1b}[0m\u{1b}[7m\u{1b}[31m1;"), "{all:?}");
}

#[test]
fn a_hunk_that_fits_nowhere_is_shown_without_numbers_and_says_why() {
    let patch = "*** Begin Patch\n*** Update File: s\n@@\n-none\n+one\n@@\n 4\n-5\n\
                 *** Update File: t\n@@\n-t\n+T\n*** Update File: u\n@@\n-u\n+U\n*** End Patch\n";
    let dir = place(&[("w/s", LINES), ("w/u", "u\n"), ("p", patch)]);
    let all = answered(dir.path(), "$it -i ../p", "n y n y", &[("NO_COLOR", "1")]);
    for wanted in [
        "M s, hunk 1 of 2\r\n! its old lines are not in the file",
        "@@\r\n-none\r\n+one\r\n",
        "M s, hunk 2 of 2\r\n@@ -4,5 +4,4 @@\r\n 4\r\n-5\r\n 6\r\n 7\r\n 8\r\n",
        "M t, hunk 1 of 1\r\n! there is no such file\r\n@@\r\n-t\r\n",
        "M u, hunk 1 of 1\r\n@@ -1 +1 @@\r\n",
        "exit 0\r\n",
    ] {
        assert!(all.contains(wanted), "{wanted:?}: {all}");
    }
    assert_eq!(
        fs::read_to_string(dir.path().join("w/s")).expect("a file"),
        LINES.replace("5\n", "")
    );
}

#[test]
fn the_end_of_input_is_no_answer() {
    for answers in ["EOF", "y n EOF", "y y y y EOF"] {
        let dir = place(FILES);
        let all = answered(dir.path(), "$it -i ../p", answers, &[]);
        assert!(
            all.contains("nothing was answered (end of input); nothing was changed"),
            "{answers}: {all}"
        );
        assert!(all.contains("exit 3\r\n"), "{answers}: {all}");
        assert!(all.matches("nothing was changed").count() == 1, "{answers}: {all}");
        assert_eq!(files(dir.path()), "a=12345 b=b c=c");
    }
}

#[test]
fn what_was_taken_piece_by_piece_is_asked_about_again_only_where_it_is_guarded_or_replaces() {
    let guarded =
        "*** Begin Patch\n*** Add File: .mcp.json\n+{}\n*** Delete File: b\n*** End Patch\n";
    let replacing = "*** Begin Patch\n*** Update File: b\n*** Move to: c\n*** End Patch\n";
    for (patch, flags, answers, reason) in [
        (guarded, "-i", "y y y", "! .mcp.json is guarded"),
        (replacing, "-i --overwrite", "y y", "! c is replaced"),
    ] {
        let dir = place(FILES);
        fs::write(dir.path().join("p"), patch).expect("a file");
        let all = answered(dir.path(), &format!("$it {flags} ../p"), answers, &[]);
        assert!(all.contains(reason), "{flags}: {all}");
        assert!(all.contains("exit 0\r\n"), "{flags}: {all}");
    }
}

#[test]
fn the_parts_of_a_patch_stored_with_crlf_mean_the_same() {
    let dir = place(FILES);
    fs::write(dir.path().join("p"), PATCH.replace('\n', "\r\n")).expect("a file");
    let mut terminal = on_terminal(dir.path(), "$it -i ../p", &[]);
    for answer in ["y", "n", "n", "y", "n", "n", "n"] {
        terminal.exp_string("?] ").expect("a question");
        terminal.send_line(answer).expect("sent");
    }
    terminal.exp_string("exit 0\r\n").expect("it ends");
    assert_eq!(files(dir.path()), "a=one2345 b=b c=c n=n");
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let dir = place(FILES);
    let outcome = clean("setsid")
        .args(["-w", env!("CARGO_BIN_EXE_apply-patch"), "-i", "../p"])
        .current_dir(dir.path().join("w"))
        .env("HOME", dir.path())
        .output()
        .expect("it runs");
    assert_eq!(outcome.status.code(), Some(2), "{outcome:?}");
    assert_eq!(files(dir.path()), "a=12345 b=b c=c");
}

#[test]
fn a_pager_shows_what_is_long_and_only_on_a_terminal() {
    let marks = "sed s/^/PAGED:/";
    for (line, environment, paged) in [
        ("$it -n ../p", &[("APPLY_PATCH_PAGER", marks), ("PAGER", "false")][..], true),
        ("$it -n ../p", &[("PAGER", marks)], true),
        ("$it --no-pager -n ../p", &[("PAGER", marks)], false),
        ("$it -n ../p | cat", &[("PAGER", marks)], false),
        ("$it -n ../p", &[("APPLY_PATCH_PAGER", ""), ("PAGER", marks)], false),
        ("$it --durability process ../p --approve never && $it log -p", &[("PAGER", marks)], true),
    ] {
        let dir = place(FILES);
        fs::write(dir.path().join("w/c"), "c\n").expect("a file");
        let mut terminal = on_terminal(dir.path(), line, environment);
        let shown =
            terminal.exp_string("exit 0\r\n").unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(shown.contains("PAGED:"), paged, "{line} {environment:?}: {shown}");
        assert!(shown.contains("+one"), "{shown}");
    }
}

#[test]
fn what_is_printed_fits_into_the_terminal() {
    let twice = "*** Begin Patch\n*** Update File: twice\n@@\n-same\n+other\n*** End Patch\n";
    let absent = "*** Begin Patch\n*** Update File: twice\n@@\n def one():\n-    start\n+    go\n\
                  *** End Patch\n";
    let prose = "I would change it.\n";
    for (columns, patch, line) in [
        (40, twice, "$it --check ../p"),
        (40, prose, "$it --check --from envelope ../p"),
        (40, absent, "$it --check ../p"),
        (40, PATCH, "$it explain ../p"),
        (60, PATCH, "$it --approve never ../p"),
    ] {
        let dir = place(FILES);
        fs::write(dir.path().join("w/twice"), "def one():\n    begin\n\nsame\nfirst\nsame\n")
            .expect("a file");
        fs::write(dir.path().join("p"), patch).expect("a file");
        let mut terminal = on_terminal(
            dir.path(),
            &format!("stty rows 24 cols {columns}; {line}"),
            &[("NO_COLOR", "1")],
        );
        let shown = terminal.exp_eof().expect("it ends");
        for line in shown.lines().filter(|line| !line.contains("undo 2")) {
            assert!(line.chars().count() <= columns, "{columns}: {line}\n{shown}");
        }
    }
}

#[test]
fn that_nothing_was_changed_is_said_once() {
    for (patch, flags, exit) in [
        ("*** Begin Patch\n*** Delete File: none\n*** End Patch\n", &["--check"][..], 1),
        (PATCH, &["--approve", "ask"], 3),
        (PATCH, &["--verify", "false"], 8),
    ] {
        let dir = place(FILES);
        fs::write(dir.path().join("p"), patch).expect("a file");
        let args = [&["-w", env!("CARGO_BIN_EXE_apply-patch")], flags, &["../p"]].concat();
        let run =
            crate::program::run_other("setsid", &dir.path().join("w"), dir.path(), &args, b"");
        assert_eq!(run.code, exit, "{flags:?}: {run:?}");
        assert_eq!(run.stderr.matches("nothing was changed").count(), 1, "{flags:?}: {run:?}");
    }
    let dir = place(FILES);
    let mut terminal = on_terminal(dir.path(), "$it ../p", &[]);
    terminal.exp_string("?] ").expect("a question");
    terminal.send_line("n").expect("sent");
    let shown = terminal.exp_eof().expect("it ends");
    assert!(shown.matches("nothing was changed").count() == 1, "{shown}");
    assert!(shown.contains("exit 3"), "{shown}");
}

#[test]
fn a_pager_that_cannot_be_run_loses_nothing() {
    let long: String = (0..200_000).map(|line| format!("+line {line}\n")).collect();
    let long = format!("*** Begin Patch\n*** Add File: n\n{long}*** End Patch\n");
    for (patch, pager, last) in [
        (PATCH, "no-such-pager -x", "+five"),
        (&*long, "no-such-pager", "+line 199999"),
        (PATCH, "./a", "+five"),
    ] {
        let dir = place(FILES);
        fs::write(dir.path().join("p"), patch).expect("a file");
        let mut terminal =
            on_terminal(dir.path(), "$it -n ../p", &[("PAGER", pager), ("NO_COLOR", "1")]);
        let shown =
            terminal.exp_string("exit 0\r\n").unwrap_or_else(|error| panic!("{pager}: {error}"));
        assert!(shown.contains(&format!("warning: the pager cannot be run: `{pager}`")), "{pager}");
        assert!(shown.contains(&format!("{last}\r\n")), "{pager}: the end is shown");
        assert_eq!(shown.matches("diff --git a/n b/n\r\n").count(), 1, "{pager}: once");
    }
}

#[test]
fn errors_only_means_no_names_either() {
    let dir = place(FILES);
    let quiet = run("apply-patch", &dir.path().join("w"), dir.path(), &["-q", "../p"], b"");
    assert_eq!(quiet.code, 0);
    assert_eq!(&*quiet.stdout, "");
    assert_eq!(&*quiet.stderr, "");
    assert_eq!(files(dir.path()), "a=one2three4five d=C n=n");
    let dir = place(FILES);
    let counted =
        run("apply-patch", &dir.path().join("w"), dir.path(), &["-q", "--stat", "../p"], b"");
    assert!(counted.code == 0, "what is asked for is printed: {counted:?}");
    assert!(counted.stdout.contains("M a | +3 -3\n"), "what is asked for is printed: {counted:?}");
}

#[test]
fn a_terminal_gets_bars_and_nobody_else_colours() {
    let dir = place(FILES);
    let mut terminal = on_terminal(dir.path(), "stty cols 80; $it -n --stat ../p", &[]);
    let shown = terminal.exp_string("exit 0\r\n").expect("it ends");
    assert!(
        shown.contains("M a      | +3 -3  \u{1b}[32m+++\u{1b}[0m\u{1b}[31m---\u{1b}[0m"),
        "{shown:?}"
    );
    let mut terminal = on_terminal(dir.path(), "$it -n --no-pager ../p", &[("NO_COLOR", "1")]);
    let shown = terminal.exp_string("exit 0\r\n").expect("it ends");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    assert!(shown.contains("+one"), "{shown:?}");
}

#[test]
fn files_are_links_where_the_terminal_has_them() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n*** Add File: n m\n+n\n\
                 *** Delete File: b\n*** Update File: c\n*** Move to: d\n*** End Patch\n";
    // Letters have a colour, too, where there are colours.
    let lines = [
        ("$it -C . --approve never ../p", &[("VTE_VERSION", "7600")][..], true),
        ("cd ..; $it -C w --approve never p", &[("FORCE_HYPERLINK", "1")], true),
        ("$it --approve never ../p", &[], false),
        ("$it --approve never ../p", &[("VTE_VERSION", "7600"), ("TERM", "dumb")], false),
        ("$it --approve never ../p", &[("VTE_VERSION", "7600"), ("NO_COLOR", "1")], false),
        ("$it --color never --approve never ../p", &[("VTE_VERSION", "7600")], false),
        ("$it --approve never ../p | cat", &[("FORCE_HYPERLINK", "1")], false),
    ];
    for (nth, (line, environment, linked)) in lines.into_iter().enumerate() {
        let dir = place(FILES);
        fs::write(dir.path().join("p"), patch).expect("a file");
        let mut terminal = on_terminal(dir.path(), line, environment);
        let shown =
            terminal.exp_string("exit 0\r\n").unwrap_or_else(|error| panic!("{line}: {error}"));
        let root = dir.path().join("w");
        let link = |text: &str, file: &str| {
            if linked {
                format!(
                    "\u{1b}]8;;file://{}/{file}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\",
                    root.display()
                )
            } else {
                text.to_owned()
            }
        };
        let coloured = |text: &str, colour: u8| match nth {
            0..3 => format!("\u{1b}[{colour}m{text}\u{1b}[0m"),
            _ => text.to_owned(),
        };
        for wanted in [
            format!("{} {}\r\n", coloured("M", 33), link("a", "a")),
            format!("{} {}\r\n", coloured("A", 32), link("n m", "n%20m")),
            format!("{} c -> {}\r\n", coloured("R", 33), link("d", "d")),
            format!("{} b\r\n", coloured("D", 31)),
            // The messages of the last one are on the terminal.
            if nth == 6 { "\u{1b}[32mdone\u{1b}[0m; ".into() } else { coloured("done", 32) },
        ] {
            assert!(shown.contains(&wanted), "{line} {environment:?}: {wanted:?} in {shown:?}");
        }
        assert_eq!(
            shown.contains("`apply-patch undo \u{1b}[33m"),
            nth < 3 || nth == 6,
            "{shown:?}"
        );
        let (names, done) =
            (shown.find(" b\r\n").expect("a name"), shown.find("done").expect("the summary"));
        assert!(names < done || line.ends_with("cat"), "the paths are first: {shown:?}");
    }
}

#[test]
fn a_terminal_gets_escapes_where_a_pipe_gets_bytes() {
    let patch = "*** Begin Patch\n*** Add File: n\n+\u{1b}[31mred\u{9b}0m\n*** End Patch\n";
    for to in ["envelope", "git", "unified"] {
        let dir = place(&[("w/a", "1\n"), ("p", patch)]);
        let mut terminal = on_terminal(dir.path(), &format!("$it convert --to {to} ../p"), &[]);
        let shown = terminal.exp_string("exit 0\r\n").expect("it ends");
        assert!(shown.contains("+\\u{1b}[31mred\\u{9b}0m"), "{to}: {shown:?}");
        assert!(!shown.contains(['\u{1b}', '\u{9b}']), "{to}: {shown:?}");
        assert!(shown.contains("> FILE"), "{to}: {shown:?}");
        let piped = run(
            "apply-patch",
            &dir.path().join("w"),
            dir.path(),
            &["convert", "--to", to, "../p"],
            b"",
        );
        assert!(piped.stdout.contains("+\u{1b}[31mred\u{9b}0m\n"), "{to}: {piped:?}");
        assert!(piped.stderr.is_empty(), "{to}: {piped:?}");
    }
}

#[test]
fn a_diff_on_a_terminal_keeps_carriage_returns_at_line_ends_and_no_other_control() {
    let patch = "*** Begin Patch\n*** Add File: n\n+\u{1b}[31mre\rd\u{9b}0m\r\n*** End Patch\n";
    for line in ["$it -n --no-pager ../p", "$it ../p && $it --no-pager log -p"] {
        let dir = place(&[("w/a", "1\n"), ("p", patch)]);
        let mut terminal = on_terminal(dir.path(), line, &[("NO_COLOR", "1")]);
        let shown = terminal.exp_string("exit 0\r\n").expect("it ends");
        assert!(shown.contains("+\\u{1b}[31mre\\u{d}d\\u{9b}0m\r\r\n"), "{line}: {shown:?}");
        assert!(!shown.contains(['\u{1b}', '\u{9b}']), "{line}: {shown:?}");
    }
    let dir = place(&[("w/a", "1\n"), ("p", patch)]);
    let piped = run("apply-patch", &dir.path().join("w"), dir.path(), &["-n", "../p"], b"");
    assert!(piped.stdout.contains("+\u{1b}[31mre\rd\u{9b}0m\r\n"), "{piped:?}");
}

#[test]
fn arguments_reach_a_terminal_as_escapes() {
    let dir = place(&[("w/a", "1\n")]);
    let mut terminal = on_terminal(
        dir.path(),
        "$it check --fuzz \"$odd\"",
        &[("odd", "\u{1b}]0;title\u{7}\u{9b}7m")],
    );
    let shown = terminal.exp_string("exit 2\r\n").expect("it ends");
    assert!(shown.contains("invalid value"), "{shown:?}");
    assert!(!shown.contains(['\u{7}', '\u{9b}']), "{shown:?}");
}

#[test]
fn a_patch_is_read_from_the_terminal() {
    const ASKED: &str = "reading a patch from the terminal; end with `*** End Patch` or Ctrl-D\r\n";
    let envelope = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch\n";
    let diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n\u{4}";
    let read = |dir: &tempfile::TempDir| {
        std::fs::read_to_string(dir.path().join("w/a")).expect("the file")
    };
    for (line, typed, code, said, after) in [
        ("$it", envelope, 0, "done; undo it with", "2\n"),
        ("$it -", envelope, 0, "done; undo it with", "2\n"),
        ("$it check", envelope, 0, "", "1\n"),
        ("$it -n --no-pager", envelope, 0, "-1\r\n+2", "1\n"),
        // A diff has no end of its own.
        ("$it", diff, 0, "done; undo it with", "2\n"),
        ("$it", "\u{4}", 1, "nothing was changed", "1\n"),
        // The shell would end with the program.
        ("trap : INT; $it", "\u{3}", 130, "", "1\n"),
        ("trap : INT; $it", "*** Begin Patch\n*** Update File: a\n\u{3}", 130, "", "1\n"),
    ] {
        let dir = place(&[("w/a", "1\n")]);
        let mut terminal = on_terminal(dir.path(), line, &[("NO_COLOR", "1")]);
        terminal.exp_string(ASKED).expect("it says that it waits");
        terminal.send(typed).expect("it is typed");
        let shown = terminal.exp_string(&format!("exit {code}\r\n"));
        let shown = shown.unwrap_or_else(|error| panic!("{line} {typed:?}: {error}"));
        assert!(shown.contains(said), "{line} {typed:?}: {shown:?}");
        assert_eq!(read(&dir), after, "{line} {typed:?}");
    }
    // What is pasted behind the end is of the text, and does not go to the shell.
    let other = envelope.replace("-1", "-2").replace("+2", "+3");
    for (behind, asked, after) in
        [(&other[..], Some("Which one?"), "3\n"), ("```\ntouch pwned\n", None, "2\n")]
    {
        let dir = place(&[("w/a", "1\n")]);
        let mut terminal = on_terminal(dir.path(), "$it; cat", &[("NO_COLOR", "1")]);
        terminal.exp_string(ASKED).expect("it says that it waits");
        terminal.send(&format!("{envelope}{behind}")).expect("it is typed");
        if let Some(asked) = asked {
            terminal.exp_string(asked).expect("it asks");
            terminal.send_line("all").expect("it is typed");
        }
        terminal.exp_string("done; undo it with").unwrap_or_else(|it| panic!("{behind}: {it}"));
        terminal.send("\u{4}").expect("it is typed");
        let rest = terminal.exp_string("exit 0\r\n").unwrap_or_else(|it| panic!("{behind}: {it}"));
        assert!(!rest.contains("pwned"), "{behind}: {rest:?}");
        assert_eq!(read(&dir), after, "{behind}");
    }
    // A line that the terminal has cut is not applied.
    let dir = place(&[("w/a", "1\n")]);
    let mut terminal = on_terminal(dir.path(), "$it", &[]);
    terminal.exp_string(ASKED).expect("it says that it waits");
    let long = "x".repeat(5000);
    terminal.send(&envelope.replace("+2", &format!("+{long}"))).expect("it is typed");
    terminal.exp_string("a terminal cuts lines").expect("it is refused");
    terminal.exp_string("exit 5\r\n").expect("it ends");
    assert_eq!(read(&dir), "1\n");
    // A program is not kept waiting.
    let mut terminal = on_terminal(dir.path(), "$it --json", &[]);
    let shown = terminal.exp_string("exit 2\r\n").expect("it does not wait");
    assert!(shown.contains("\"ok\":false"), "{shown:?}");
}
