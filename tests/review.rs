//! `apply-patch review` and `undo -i`: a person keeps or reverts what was changed, hunk by hunk.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{on_terminal, place, run};
use crate::run::Run;

/// The lines of the file that is changed.
const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n";

/// What an agent does: three hunks of a file, a new file, a deletion, a move.
const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-2\n+two\n@@\n-10\n+ten\n 11\n-12\n+twelve\n\
                     @@\n-21\n+last\n*** Add File: n/new\n+n\n*** Delete File: b\n\
                     *** Update File: c\n*** Move to: d\n*** End Patch\n";

/// A workspace where the agent was.
fn changed() -> tempfile::TempDir {
    let dir = place(&[("w/a", OLD), ("w/b", "b\n"), ("w/c", "c\n")]);
    let done = program(dir.path(), &["-q"], PATCH);
    assert_eq!(done.code, 0, "{done:?}");
    dir
}

fn program(dir: &Path, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.join("w"), dir, args, input.as_bytes())
}

fn json(dir: &Path, args: &[&str]) -> Value {
    let done = program(dir, &[args, &["--json"]].concat(), "");
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

/// The files, each as `name=content` in one line.
fn files(dir: &Path) -> String {
    let mut all = Vec::new();
    for name in ["a", "b", "c", "d", "n/new"] {
        if let Ok(text) = fs::read_to_string(dir.join("w").join(name)) {
            all.push(format!("{name}={}", text.replace('\n', " ").trim_end()));
        }
    }
    all.join("; ")
}

/// The id of the hunk whose diff or kind has a text.
fn hunk(review: &Value, text: &str) -> String {
    let files = review["data"]["files"].as_array().expect("files");
    let mut hunks = files.iter().flat_map(|file| file["hunks"].as_array().expect("hunks"));
    let found = hunks.find(|hunk| {
        hunk["kind"] == text || hunk["diff"].as_str().is_some_and(|diff| diff.contains(text))
    });
    found.unwrap_or_else(|| panic!("{text} in {review}"))["id"].as_str().expect("an id").to_owned()
}

const KEPT: &str =
    "a=1 two 3 4 5 6 7 8 9 ten 11 twelve 13 14 15 16 17 18 19 20 last 22; d=c; n/new=n";

#[test]
fn answers_keep_and_revert() {
    let with = |old: &str, new: &str| KEPT.replace(old, new);
    // Files come as in the diff: b, then a, the move, the new file.
    for (answers, wanted) in [
        ("y y y y y y", KEPT.to_owned()),
        ("y n y y y y y", with("two", "2")),
        ("y y n y y y y", with("ten 11 twelve", "10 11 12")),
        ("n n n n n n y", format!("a={}; b=b; c=c", OLD.replace('\n', " ").trim_end())),
        ("y d y y y", with("two", "2").replace("ten 11 twelve", "10 11 12").replace("last", "21")),
        ("y a y n y", with("; n/new=n", "")),
        ("n y y y y y y", with("; d=c", "; b=b; d=c")),
        ("y y e y y y y", with("ten", "TEN")),
        ("n n n n n n n", KEPT.to_owned()),
    ] {
        let dir = changed();
        let mut terminal =
            on_terminal(dir.path(), "$it review", &[("EDITOR", "sed -i s/ten/TEN/")]);
        let mut all = String::new();
        for answer in answers.split(' ') {
            let said = terminal.exp_string("?] ");
            all += &said.unwrap_or_else(|error| panic!("{answers}: {error}: {all}"));
            assert_eq!(files(dir.path()), KEPT, "nothing is changed before the last answer");
            terminal.send_line(answer).expect("sent");
        }
        all += &terminal.exp_string("exit ").unwrap_or_else(|error| panic!("{answers}: {error}"));
        terminal.exp_string("\r\n").expect("the exit code");
        assert_eq!(files(dir.path()), wanted, "{answers}: {all}");
        if wanted != KEPT {
            let undone = program(dir.path(), &["undo"], "");
            assert_eq!(undone.code, 0, "{undone:?}");
            assert_eq!(files(dir.path()), KEPT, "a review is undone as one: {answers}");
        }
    }
}

#[test]
fn a_review_goes_on_where_it_was_left() {
    let dir = changed();
    let mut terminal = on_terminal(dir.path(), "$it review", &[]);
    for answer in ["y", "n", "q"] {
        terminal.exp_string("?] ").expect("a question");
        terminal.send_line(answer).expect("sent");
    }
    let said = terminal.exp_string("exit 0").expect("the end");
    assert!(said.contains("4 hunks left; `apply-patch review` goes on; nothing was"), "{said}");
    assert_eq!(files(dir.path()), KEPT);
    let review = json(dir.path(), &["review"]);
    let decisions: Vec<_> = review["data"]["files"]
        .as_array()
        .expect("files")
        .iter()
        .flat_map(|file| file["hunks"].as_array().expect("hunks"))
        .map(|hunk| hunk["decision"].as_str().unwrap_or("-").to_owned())
        .collect();
    assert_eq!(decisions, ["keep", "revert", "-", "-", "-", "-"]);

    let mut terminal = on_terminal(dir.path(), "$it review", &[]);
    let begin = terminal.exp_string("?] ").expect("a question");
    assert!(begin.contains("M a, 3 hunks: 0 kept, 1 reverted"), "{begin}");
    assert!(begin.contains("+ten"), "the first that is undecided: {begin}");
    for _ in 0..4 {
        terminal.send_line("y").expect("sent");
        terminal.exp_string("?] ").expect("a question");
    }
    terminal.send_line("y").expect("sent");
    terminal.exp_string("exit 0").expect("the end");
    assert_eq!(files(dir.path()), KEPT.replace("two", "2"));
    let review = json(dir.path(), &["review", "@2"]);
    assert!(!review.to_string().contains("\"decision\""), "done: {review}");
}

#[test]
fn hunks_are_reverted_by_their_ids() {
    let dir = changed();
    let review = json(dir.path(), &["review"]);
    let ten = hunk(&review, "+ten");
    for (id, exit, wanted) in [
        ("h-00000000", 1, "there is no hunk \"h-00000000\" in this review"),
        ("h-", 1, "there is no hunk \"h-\" in this review"),
        (&*ten, 0, "undo it with `apply-patch undo "),
        (&*ten, 1, "is reverted already"),
    ] {
        let done = program(dir.path(), &["review", "--revert", id], "");
        assert_eq!(done.code, exit, "{id}: {done:?}");
        assert!(done.stderr.contains(wanted), "{id}: {done:?}");
    }
    assert_eq!(files(dir.path()), KEPT.replace("ten 11 twelve", "10 11 12"));
    // By the beginning, several, and a move.
    let review = json(dir.path(), &["review"]);
    let ids = format!("{},{}", &hunk(&review, "+two")[..8], hunk(&review, "move"));
    let done = program(dir.path(), &["review", "--revert", &ids, "-n"], "");
    assert!(done.stdout.contains("rename from d"), "{done:?}");
    assert_eq!(files(dir.path()), KEPT.replace("ten 11 twelve", "10 11 12"), "a dry run");
    program(dir.path(), &["review", "--revert", &ids], "");
    let wanted =
        KEPT.replace("ten 11 twelve", "10 11 12").replace("two", "2").replace("d=c", "c=c");
    assert_eq!(files(dir.path()), wanted);
    program(dir.path(), &["review", "--revert", "all"], "");
    let wanted = format!("a={}; b=b; c=c", OLD.replace('\n', " ").trim_end());
    assert_eq!(files(dir.path()), wanted);
    assert!(!dir.path().join("w/n").exists(), "the directory was made for the file");
}

#[test]
fn what_others_changed_since_is_left_alone() {
    let dir = changed();
    let path = dir.path().join("w/a");
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, format!("0\n{}", text.replace("ten\n", "TEN\n"))).expect("written");
    fs::write(dir.path().join("w/n/new"), "mine\n").expect("written");
    let listed = program(dir.path(), &["review"], "");
    for wanted in [
        "5 hunks to review, 2 changed since",
        ": line 11 changed since; it is left alone",
        "  before:\n    10\n  as it was left:\n    ten\n  now:\n    TEN\n",
        ": the file changed since; it is left alone",
        "@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+two\n 3\n",
    ] {
        assert!(listed.stdout.contains(wanted), "{wanted} in {}", listed.stdout);
    }
    let review = json(dir.path(), &["review"]);
    let ten = hunk(&review, "+ten");
    let refused = program(dir.path(), &["review", "--revert", &ten], "");
    assert_eq!((refused.code, files(dir.path()).contains("TEN")), (4, true), "{refused:?}");
    let done = program(dir.path(), &["review", "--revert", "all"], "");
    assert_eq!(done.code, 0, "{done:?}");
    let old = OLD.replace('\n', " ").replace("10 ", "TEN ");
    assert_eq!(files(dir.path()), format!("a=0 {}; b=b; c=c; n/new=mine", old.trim_end()));
}

#[test]
fn comments_are_a_text_for_the_agent() {
    let dir = changed();
    let mut terminal = on_terminal(dir.path(), "$it review", &[]);
    for answer in ["c keep a copy", "y", "c Why `two`?", "q"] {
        terminal.exp_string("?] ").expect("a question");
        terminal.send_line(answer).expect("sent");
    }
    terminal.exp_string("exit 0").expect("the end");
    let notes = program(dir.path(), &["review", "--notes"], "").stdout;
    let review = json(dir.path(), &["review"]);
    let wanted = format!(
        "## b ({})\n\nkeep a copy\n\n```diff\n@@ -1 +0,0 @@\n-b\n```\n\n## a:2 ({})\n\nWhy `two`?\n\n\
         ```diff\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n```\n",
        hunk(&review, "delete"),
        hunk(&review, "+two")
    );
    assert_eq!(notes, wanted);
    // They stay after the hunk is reverted.
    program(dir.path(), &["review", "--revert", "all"], "");
    assert_eq!(program(dir.path(), &["review", "--notes"], "").stdout, wanted);
    let notes = json(dir.path(), &["review", "--notes"]);
    assert_eq!(notes["data"]["notes"][1]["words"], "Why `two`?", "{notes}");
    // Without a terminal.
    let id = hunk(&review, "+ten");
    for (given, exit, wanted) in [
        (format!("{id}=ten = 10?"), 0, "1 comment kept; `apply-patch review --notes` prints them"),
        (id.clone(), 2, "is no comment: write HUNK=TEXT"),
        ("h-00000000=x".to_owned(), 1, "there is no hunk \"h-00000000\" in this review"),
    ] {
        let done = program(dir.path(), &["review", "@2", "--note", &given], "");
        assert!(done.code == exit && done.stderr.contains(wanted), "{given}: {done:?}");
    }
    let notes = program(dir.path(), &["review", "--notes"], "").stdout;
    assert!(notes.contains(&format!("## a:10 ({id})\n\nten = 10?\n")), "{notes}");
    let removed = program(dir.path(), &["review", "@2", "--note", &format!("{id}=")], "");
    assert!(removed.stderr.contains("1 comment removed"), "{removed:?}");
    assert!(!program(dir.path(), &["review", "--notes"], "").stdout.contains(&id));
}

#[test]
fn undo_asks_for_each_hunk() {
    for (answers, wanted, log) in [
        ("n y n n n n", KEPT.replace("two", "2"), "1 file: a  (undo)"),
        ("y y y y y y", format!("a={}; b=b; c=c", OLD.replace('\n', " ").trim_end()), "undoes "),
        ("n n q", KEPT.to_owned(), "(apply)"),
        ("n n s y n n n n", KEPT.replace("ten 11", "10 11"), "1 file: a  (undo)"),
    ] {
        let dir = changed();
        let mut terminal = on_terminal(dir.path(), "$it undo -i", &[]);
        let mut all = String::new();
        for answer in answers.split(' ') {
            let said = terminal.exp_string("?] ");
            all += &said.unwrap_or_else(|error| panic!("{answers}: {error}: {all}"));
            terminal.send_line(answer).expect("sent");
        }
        all += &terminal.exp_string("exit 0").unwrap_or_else(|error| panic!("{answers}: {error}"));
        assert_eq!(files(dir.path()), wanted, "{answers}: {all}");
        let listed = program(dir.path(), &["log", "-n", "1"], "").stdout;
        assert!(listed.contains(log), "{answers}: {listed}");
    }
}

#[test]
fn the_page_has_the_ids_and_the_command() {
    let dir = changed();
    let review = json(dir.path(), &["review", "--session", "cli"]);
    let args = ["review", "--session", "cli", "--format", "html", "--", "a"];
    let page = program(dir.path(), &args, "").stdout;
    let ten = hunk(&review, "+ten");
    for wanted in [
        &format!("<input type=\"checkbox\" value=\"{ten}\"> revert {ten} </label>")[..],
        "data-before=\"apply-patch review --session cli\" data-after=\" -- a\">",
    ] {
        assert!(page.contains(wanted), "{wanted} in {page}");
    }
    assert!(!page.contains("n/new"), "only what was named: {page}");
}

#[test]
fn to_choose_a_hunk_approves_its_file_in_every_directory() {
    let old = "on: push\n";
    let file = "w/.github/workflows/[ci].yml";
    let dir = place(&[(file, old), ("w/sub/f", "1\n"), ("w/.git/HEAD", "ref: refs/heads/x\n")]);
    let patch = "*** Begin Patch\n*** Update File: .github/workflows/[ci].yml\n@@\n-on: push\n\
                 +on: pull\n*** Update File: sub/f\n@@\n-1\n+2\n*** End Patch\n";
    let allow = ["--allow", ".github/workflows/[[]ci[]].yml"];
    assert_eq!(program(dir.path(), &allow, patch).code, 0);
    let below =
        |args: &[&str]| run("apply-patch", &dir.path().join("w/sub"), dir.path(), args, b"");
    for path in ["f", "./f", "../sub/f", "../sub/"] {
        let only = below(&["review", "--json", "--", path]);
        let only: Value = serde_json::from_str(&only.stdout).expect("JSON");
        assert_eq!(only["data"]["files"].as_array().map(Vec::len), Some(1), "{path}: {only}");
        assert_eq!(only["data"]["changedFiles"].as_array().map(Vec::len), Some(1), "{path}");
        assert!(!only["data"]["diff"].to_string().contains("on: pull"), "{path}: {only}");
    }
    let only = below(&["review", "--revert", "all", "-n", "--", "f"]);
    assert!(only.stdout.contains("b/sub/f") && !only.stdout.contains(".github"), "{only:?}");
    let none = below(&["review", "--revert", "all", "--", "g"]);
    assert!(none.code == 2 && none.stderr.contains("none of these files was changed"), "{none:?}");
    let done = below(&["review", "--revert", "all"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(fs::read_to_string(dir.path().join(file)).expect("text"), old);
    assert_eq!(fs::read_to_string(dir.path().join("w/sub/f")).expect("text"), "1\n");
}
