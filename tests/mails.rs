//! Mails of patches, as `git am` reads them: series are made by git, and replayed by git and by the
//! program.

use std::path::Path;

use crate::program::{place, run, run_other};

/// Runs git, and returns what it prints.
fn git(work: &Path, args: &[&str], input: &[u8]) -> String {
    let set = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    let args: Vec<_> = set.iter().chain(args).collect();
    let run = run_other("git", work, work.parent().expect("a directory"), &args, input);
    assert_eq!(run.code, 0, "{args:?}: {run:?}");
    run.stdout
}

/// Changes a line of `f`, and commits that.
fn change(work: &Path, lines: (&str, &str), message: &str) {
    let text = std::fs::read_to_string(work.join("f")).expect("a file");
    let text = text.replace(&format!("\n{}\n", lines.0), &format!("\n{}\n", lines.1));
    std::fs::write(work.join("f"), text).expect("a file");
    git(work, &["commit", "-qam", message], b"");
}

/// The lines of `f` and `g`, a number each.
fn numbers(from: u32) -> String {
    (from..from + 20).map(|number| format!("{number}\n")).collect()
}

/// A repository with the branches `base`, `v1` and `v2`.
fn repository() -> tempfile::TempDir {
    let (one, two) = (numbers(1), numbers(101));
    let dir = place(&[("w/f", &*one), ("w/g", &*two), ("w/.git/x", "")]);
    let work = dir.path().join("w");
    std::fs::remove_dir_all(work.join(".git")).expect("a directory");
    git(&work, &["init", "-q", "-b", "base"], b"");
    git(&work, &["add", "."], b"");
    git(&work, &["commit", "-qm", "base"], b"");
    for (branch, lines) in [("v1", ["five", "fifteen"]), ("v2", ["FIVE", "FIFTEEN"])] {
        git(&work, &["checkout", "-q", "-b", branch, "base"], b"");
        let quoted = "one: caf\u{e9}\n\nThe old way:\n\n    diff --git a/f b/f\n    --- a/f\n    +++ \
                      b/f\n    @@ -1,2 +1,2 @@\n    -1\n    +one\n     2\n";
        change(&work, ("5", lines[0]), quoted);
        change(&work, ("15", lines[1]), "two: more");
        // Lines that look like parts of mails and diffs.
        let odd = "8\nFrom 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
                   base-commit: 1\n    diff --git a/g b/g\n    --- a/g\n    +++ b/g\n    @@ -1 +1 \
                   @@\n    -101\n    +x";
        change(&work, ("8", odd), "three: odd lines");
        change(&work, ("18", "eighteen"), "four: below them");
    }
    dir
}

/// Applies a text to a commit, and returns the tree, or the whole of what was said.
fn replayed(dir: &Path, onto: &str, text: &str) -> Result<String, String> {
    let work = dir.join("w");
    git(&work, &["checkout", "-q", "-f", "--detach", onto], b"");
    let run = run("apply-patch", &work, dir, &[] as &[&str], text.as_bytes());
    git(&work, &["add", "-A", ":!.apply-patch"], b"");
    let tree = git(&work, &["write-tree"], b"");
    git(&work, &["reset", "-q", "--hard"], b"");
    if run.code == 0 { Ok(tree) } else { Err(format!("{run:?}")) }
}

/// The tree that `git am` makes of a text.
fn by_git_am(work: &Path, onto: &str, text: &str) -> String {
    git(work, &["checkout", "-q", "-f", "--detach", onto], b"");
    git(work, &["am", "-q"], text.as_bytes());
    git(work, &["rev-parse", "HEAD^{tree}"], b"")
}

#[test]
fn series_are_read_as_git_am_reads_them() {
    let dir = repository();
    let work = dir.path().join("w");
    for (args, range, wanted, am) in [
        (&[][..], "base..v1", "v1", true),
        (&["--base=base"], "base..v1", "v1", true),
        (&["--base=base"], "base..v1~3", "v1~3", true),
        // With `prerequisite-patch-id:`.
        (&["--base=base"], "v1~3..v1", "v1", true),
        (&["--attach"], "base..v1", "v1", true),
        (&["--inline", "--base=base"], "base..v1", "v1", true),
        (&["--no-signature"], "base..v1", "v1", true),
        (&["--no-signature", "--base=base"], "base..v1", "v1", true),
        (&["--range-diff=base..v1~3"], "base..v2~3", "v2~3", true),
        (&["--interdiff=v1~3"], "base..v2~3", "v2~3", true),
        // `git am` stops at a cover letter.
        (&["--cover-letter"], "base..v1", "v1", false),
        (&["--cover-letter", "--base=base"], "base..v1", "v1", false),
        (&["--cover-letter", "--range-diff=base..v1"], "base..v2", "v2", false),
        (&["--cover-letter", "--interdiff=v1", "-v2"], "base..v2", "v2", false),
        (&["--cover-letter", "--attach", "--interdiff=v1"], "base..v2", "v2", false),
    ] {
        let call = [&["format-patch", "--stdout", "--cover-from-description=none"], args, &[range]];
        let text = git(&work, &call.concat(), b"");
        let onto = range.split("..").next().expect("a commit");
        let tree = git(&work, &["rev-parse", &format!("{wanted}^{{tree}}")], b"");
        assert_eq!(replayed(dir.path(), onto, &text), Ok(tree.clone()), "{args:?}: {text}");
        if am {
            assert_eq!(by_git_am(&work, onto, &text), tree, "{args:?}: {text}");
        }
        // From a mail program, with a list's footer below each.
        let footer = "2.0\n\n_______\nA list\nhttp://example.org\n\nFrom a@example.org Mon Sep 17 \
                      00:00:00 2001\n";
        let listed = text.replace("\nFrom ", &format!("\n{footer}From "));
        if am && !text.contains("--------------") && !args.contains(&"--no-signature") {
            let listed = listed.replace("00:00:00 2001\nFrom ", "00:00:00 2001\nX-Was: ");
            assert_eq!(replayed(dir.path(), onto, &listed), Ok(tree), "{args:?}: {listed}");
        }
    }
}

/// A mail that is one patch.
fn patch(message: &str, diff: &str) -> String {
    mail("[PATCH] x", message, diff)
}

const HASH: &str = "0123456789012345678901234567890123456789";

/// A mail with a message and a text from its first `diff --git` on.
fn mail(subject: &str, message: &str, diff: &str) -> String {
    format!(
        "From {HASH} Mon Sep 17 00:00:00 2001\nFrom: A <a@example.com>\nDate: Thu, 1 Jan 2026 \
         00:00:00 +0000\nSubject: {subject}\n\n{message}---\n f | 2 +-\n\n{diff}"
    )
}

/// A diff that changes one line of three.
fn diff(line: u32, word: &str) -> String {
    let (above, below) = (line - 1, line + 1);
    format!(
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -{above},3 +{above},3 @@\n {above}\n-{line}\n\
         +{word}\n {below}\n"
    )
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

#[test]
fn what_stands_around_a_finished_diff_belongs_to_no_hunk() {
    let (five, nine) = (diff(5, "five"), diff(9, "nine"));
    let wrong = five.replace("-4,3 +4,3", "-4,4 +4,4");
    let quote = indented(&nine);
    let dep3 = format!("Description: change five\n More:\n .\n{quote}Author: A\n---\n{five}");
    let signature = "-- \n2.0\n";
    let changed = numbers(1).replace("\n5\n", "\nfive\n");
    let both = changed.replace("\n9\n", "\nnine\n");
    let more = changed.replace("\n8\n", "\neight\n");
    for (text, wanted) in [
        (format!("Quote:\n\n{quote}\n{five}"), Ok(&changed)),
        (format!("Quote:\n\n    @@ -8,2 +8,2 @@\n    -8\n    +x\n\n{five}"), Ok(&changed)),
        (format!("{five}\nOlder version:\n\n{quote}"), Ok(&changed)),
        (format!("{five}\nOlder version:\n\n{quote}\n{}", diff(9, "nine")), Err("2 patches")),
        (dep3, Ok(&changed)),
        // The numbers are wrong, or what is indented is another form.
        (format!("Quote:\n\n{quote}\n{wrong}"), Err("outside the patch")),
        (format!("{wrong}\nOlder version:\n\n{quote}"), Err("")),
        (format!("    *** Update File: g\n\n{five}"), Err("outside the patch")),
        (format!(" diff --git a/g b/g\n --- a/g\n +++ b/g\n\n{five}"), Err("outside the patch")),
        // Mails.
        (patch("", &format!("{five}    a note\n{signature}")), Ok(&changed)),
        (patch("", &format!("{five}\nInterdiff:\n{quote}{signature}")), Ok(&changed)),
        (patch(&quote, &format!("{five}\nbase-commit: {HASH}\n{signature}")), Ok(&changed)),
        (
            patch("", &format!("{five}\nRange-diff:\n{quote}{signature}\n")) + &patch("", &nine),
            Ok(&both),
        ),
        (mail("[PATCH 0/1] x", &nine, &nine) + &patch("", &five), Ok(&changed)),
        (mail("[RFC PATCH v2 00/10] x", "", &nine) + &patch("", &five), Ok(&changed)),
        (patch("", "") + &patch("", &five), Ok(&changed)),
        (patch("", ""), Err("this mail changes nothing")),
        (mail("[PATCH 0/1] x", "", &nine), Err("this mail changes nothing")),
        // The message shows a diff, and `git am` takes both.
        (patch(&format!("{nine}\nis wrong\n"), &five), Err("part 2 stands below the `---`")),
        // A second thought below a mail.
        (format!("{}\nActually:\n\n{}", patch("", &five), diff(5, "V")), Err("2 patches")),
        // A change below a hunk whose numbers promise less.
        (patch("", &five.replace("-4,3 +4,3 @@", "-4,2 +4,2 @@")), Ok(&changed)),
        (patch("", &format!("{five} 7\n-8\n+eight\n")), Ok(&more)),
        (patch("", "@@ -5 +5 @@\n-5\n+five\n"), Err("before")),
    ] {
        let (one, two) = (numbers(1), numbers(101));
        let dir = place(&[("w/f", &*one), ("w/g", &*two)]);
        let work = dir.path().join("w");
        let run = run("apply-patch", &work, dir.path(), &[] as &[&str], text.as_bytes());
        let now = std::fs::read_to_string(work.join("f")).expect("a file");
        match wanted {
            Ok(wanted) => assert_eq!((run.code, &now), (0, wanted), "{text}: {run:?}"),
            Err(words) => {
                assert_eq!((run.code, &now), (1, &one), "{text}: {run:?}");
                assert!(run.stderr.contains(words), "{text}: {run:?}");
                assert!(!run.stderr.contains("--part 1") || !text.contains("is wrong"), "{run:?}");
            }
        }
    }
}
