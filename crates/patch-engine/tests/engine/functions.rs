//! The names of functions in the headers of hunks, and git beside them.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use patch_engine::commit::Workspace;
use patch_engine::{Options, PlanBuilder, Profile, Splices, plan};
use patch_grammar::diff::{self, DiffOptions};
use tempfile::TempDir;

/// Lines: `+` before those that git shows above a hunk, and `-` before others.
const LINES: &str = "\
+name
+_x: y
+$x = 1\x20
+int main(void)
+public:
-é
- name
-\tname
-1 name
-{
-#define X
-[section]
-";

/// By file and the first old line of a hunk, the text behind its `@@`.
type Headers = BTreeMap<(String, String), String>;

/// The text of a file before it is changed at its end, and after.
struct Pair {
    name: String,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// The headers of a diff in git's form.
fn headers(diff: &[u8]) -> Headers {
    let mut headers = BTreeMap::new();
    let mut name = "";
    let diff = String::from_utf8_lossy(diff);
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("--- a/") {
            name = path;
        } else if let Some((ranges, function)) =
            line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@"))
        {
            let first = ranges.split([',', ' ']).next().unwrap_or_default();
            headers.insert((name.to_owned(), first.to_owned()), function.to_owned());
        }
    }
    headers
}

/// The headers that we write, of a file that is edited or (`anew`) written anew.
fn ours(pairs: &[Pair], anew: bool) -> Headers {
    let dir = TempDir::new().unwrap();
    for Pair { name, before, .. } in pairs {
        fs::write(dir.path().join(name), before).unwrap();
    }
    let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
    let options = Options { overwrite: true, ..Options::new(Profile::Strict) };
    let mut builder = PlanBuilder::new(workspace.root(), &options);
    for Pair { name, before, after, .. } in pairs {
        if anew {
            builder.create(name, after.clone()).unwrap();
            continue;
        }
        let same = before.iter().zip(after).take_while(|(old, new)| old == new).count();
        let mut splices = Splices::new();
        splices.push(same..before.len(), after[same..].to_vec());
        builder.update(name, splices).unwrap();
    }
    headers(&builder.finish().unwrap().images().diffs().unwrap())
}

/// The headers that git writes; `None` where it is not at hand.
fn gits(pairs: &[Pair]) -> Option<Headers> {
    let dir = TempDir::new().unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(dir.path()).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.env("GIT_CONFIG_NOSYSTEM", "1").output().ok()
    };
    git(&["init", "-q", "."])?;
    for Pair { name, before, .. } in pairs {
        fs::write(dir.path().join(name), before).unwrap();
    }
    git(&["-c", "core.autocrlf=false", "add", "."])?;
    for Pair { name, after, .. } in pairs {
        fs::write(dir.path().join(name), after).unwrap();
    }
    Some(headers(&git(&["-c", "core.quotePath=false", "diff"])?.stdout))
}

/// A file with a line, and a change far below it.
fn pair(name: String, line: &str) -> Pair {
    let before = format!("{line}\n\n\n\n\n\n");
    Pair { name, after: format!("{before}\n.\n").into_bytes(), before: before.into_bytes() }
}

#[test]
fn the_header_has_the_function_that_git_shows() {
    let (mut pairs, mut wanted) = (Vec::new(), BTreeMap::new());
    for (at, line) in LINES.lines().enumerate() {
        let (sign, line) = line.split_at(1);
        // Nothing is known of languages by the names of files.
        for name in [format!("{at}"), format!("{at}.py"), format!("{at}.md")] {
            let shown = if sign == "+" { format!(" {}", line.trim_end()) } else { String::new() };
            wanted.insert((name.clone(), "4".to_owned()), shown);
            pairs.push(pair(name, line));
        }
    }
    same(&ours(&pairs, false), &wanted);
    same(&ours(&pairs, true), &wanted);
    if let Some(theirs) = gits(&pairs) {
        same(&theirs, &wanted);
    }
}

fn same(found: &Headers, wanted: &Headers) {
    let of = |headers: &Headers, others: &Headers| -> Headers {
        let differ = headers.iter().filter(|(hunk, function)| others.get(*hunk) != Some(function));
        differ.map(|(hunk, function)| (hunk.clone(), function.clone())).collect()
    };
    assert_eq!(of(found, wanted), of(wanted, found));
}

/// A Python file with a function of 20 lines for each name.
fn functions(names: &[&str], line_end: &str) -> String {
    let body: String = (1..20).map(|line| format!("    x{line}{line_end}")).collect();
    names.iter().map(|name| format!("def {name}():{line_end}{body}")).collect()
}

#[test]
fn each_hunk_has_the_nearest_function_of_the_old_file() {
    let long = "n".repeat(90);
    let wide = "é".repeat(60);
    for (names, line_end, changes, wanted) in [
        // The first line of a hunk is one of its context, three above the change.
        (vec!["a", "b"], "\n", vec![(1, "y")], vec![""]),
        (vec!["a", "b"], "\n", vec![(8, "y"), (30, "y")], vec![" def a():", " def b():"]),
        (vec!["a", "b"], "\n", vec![(23, "y")], vec![" def a():"]),
        (vec!["a", "b"], "\n", vec![(24, "y")], vec![" def b():"]),
        // Where nothing is between two hunks, the function is that of the hunk before.
        (vec!["a"], "\n", vec![(7, "y"), (15, "y")], vec![" def a():", " def a():"]),
        // A new function is not above the hunks after it, since it is not in the old file.
        (vec!["a"], "\n", vec![(7, "def z():"), (17, "y")], vec![" def a():", " def a():"]),
        (vec!["a"], "\r\n", vec![(8, "y")], vec![" def a():"]),
        (vec![&long], "\n", vec![(8, "y")], vec![&format!(" def {}", &long[..76])[..]]),
        // A name is not cut within a character.
        (vec![&format!("x{wide}")], "\n", vec![(8, "y")], vec![&format!(" def x{}", &wide[..74])]),
    ] {
        let before = functions(&names, line_end);
        let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
        let new = changes.iter().map(|(line, text)| (*line, format!("{text}{line_end}")));
        let new: Vec<(usize, String)> = new.collect();
        new.iter().for_each(|(line, text)| lines[*line] = text);
        let pairs = [Pair {
            name: "f.py".to_owned(),
            after: lines.concat().into_bytes(),
            before: before.clone().into_bytes(),
        }];
        let first = |line: usize| (line.max(3) - 2).to_string();
        let wanted: Headers = changes
            .iter()
            .zip(wanted)
            .map(|((line, _), function)| (("f.py".to_owned(), first(*line)), function.to_owned()))
            .collect();
        same(&ours(&pairs, true), &wanted);
        if let Some(theirs) = gits(&pairs) {
            same(&theirs, &wanted);
        }
    }
}

/// The text behind `@@` names a line of the file, and yet says nothing about the place: git's may
/// be any function above the hunk.
#[test]
fn a_diff_with_functions_applies_as_one_without() {
    let before = functions(&["a", "b", "a"], "\n");
    for line in [9, 30, 50] {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("f.py"), &before).unwrap();
        let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
        let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
        lines[line] = "    y\n";
        let after = lines.concat();
        let overwrite = Options { overwrite: true, ..Options::new(Profile::Strict) };
        let mut builder = PlanBuilder::new(workspace.root(), &overwrite);
        builder.create("f.py", after.clone().into_bytes()).unwrap();
        let diff = builder.finish().unwrap().images().diffs().unwrap();
        let diff = String::from_utf8(diff).unwrap();
        assert!(diff.contains("@@ def "), "{diff}");
        for diff in
            [diff.clone(), diff.replace("@@ def", "@@ def z"), diff.replace(" def a():", "")]
        {
            let patch = diff::parse(diff.as_bytes(), &DiffOptions::default());
            for profile in [Profile::Strict, Profile::Codex] {
                let plan = plan(workspace.root(), patch.as_ref().unwrap(), &Options::new(profile));
                let plan = plan.unwrap_or_else(|error| panic!("{profile:?}: {error:?} of {diff}"));
                let [change] = plan.changes() else { panic!("one file") };
                let made = plan.images().new_bytes(change).unwrap();
                assert_eq!(String::from_utf8_lossy(&made), after, "{profile:?} {diff}");
            }
        }
    }
}

/// The commits of a repository (`FUNCTIONS_OF`, a git directory) beside git: the headers are the
/// same.
#[test]
#[ignore = "wants a git directory of others: FUNCTIONS_OF"]
fn the_headers_of_real_commits_are_those_of_git() {
    let repository = std::env::var("FUNCTIONS_OF").expect("a git directory");
    let git = |args: &[&str]| {
        let output = Command::new("git").args(["--git-dir", &repository]).args(args).output();
        output.unwrap().stdout
    };
    let log = git(&[
        "log",
        "--first-parent",
        "--no-renames",
        "--diff-filter=M",
        "--raw",
        "--no-abbrev",
        "--format=",
        "--max-count=1500",
    ]);
    let mut pairs: Vec<Pair> = Vec::new();
    for line in String::from_utf8_lossy(&log).lines() {
        let Some((modes, _)) = line.split_once('\t') else { continue };
        let words: Vec<&str> = modes.split(' ').collect();
        if words[0] == ":100644" && words[1] == "100644" && pairs.len() < 2500 {
            let (before, after) =
                (git(&["cat-file", "blob", words[2]]), git(&["cat-file", "blob", words[3]]));
            if !before.is_empty() && !after.is_empty() && std::str::from_utf8(&before).is_ok() {
                pairs.push(Pair { name: pairs.len().to_string(), before, after });
            }
        }
    }
    let (ours, theirs) = (ours(&pairs, true), gits(&pairs).expect("git"));
    let both: Vec<_> =
        ours.iter().filter_map(|(hunk, one)| Some((hunk, one, theirs.get(hunk)?))).collect();
    let differ: Vec<_> = both.iter().filter(|(_, one, other)| one != other).collect();
    for (hunk, one, other) in &differ {
        println!("{hunk:?}\n  ours:{one}\n   git:{other}");
    }
    println!(
        "{} files, {} hunks of git, {} of them ours, {} differ",
        pairs.len(),
        theirs.len(),
        both.len(),
        differ.len()
    );
    assert!(differ.is_empty(), "{} differ", differ.len());
}
