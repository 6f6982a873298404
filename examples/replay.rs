//! Replays histories: every change is written as a patch, applied to what was there before it, and
//! compared with what was there after it.
//!
//! ```text
//! cargo run --release -p apply-patch --example replay -- [FLAGS] DIR…
//! ```
//!
//! A `DIR` is a git repository, or holds releases side by side, one in each directory (`1.0.0/`,
//! `1.0.1/`, …). Flags: `--context N`, `--headers`, `--end-of-file` and `--dialect strict|codex`
//! say how patches are written (without `--context` and `--dialect`: 3 and 1 lines, with headers
//! and without, in both dialects). `--road N` takes every Nth commit through the file system too
//! (default 20; 0 for none). `--from-git` replays the diffs that git prints instead, with renames
//! and copies. `--keep DIR` keeps the files of changes that are refused or come out wrong.
//!
//! `--merges` takes merges for stale patches: every text file that both sides of a merge changed.
//! What the second parent changed is the patch, the first parent has the file, and the commit says
//! what people made of it. An edit that is carried, the patch alone and `git merge-file` stand side
//! by side: how often they give what was committed (right), or that which `git merge-file` gives
//! without conflict (alike), or refuse, or give something else (wrong). Only what is carried has to
//! be never wrong.
//!
//! `--stale` formats each file between reading and patching, lightly and heavily, but for the
//! indentation of the whole file. Where every line went is known, so that what the patch has to
//! come to is known without comparing texts. Carried, it is that, or what `git merge-file` gives,
//! or a conflict, and never anything else.
//!
//! `--reindent` writes each file with every other unit of indentation and applies the hunks of the
//! change to that, one by one, each with so many lines of `--context`. What comes out has to be
//! what the hunk makes of the file as it is, with the other unit, or a refusal.
//!
//! `--bare` makes the commits anew in the object database of a clone: git's diff of each, planned
//! over the tree of its parent, has to give the very tree of the commit, and `git fsck --strict` to
//! find nothing.
//!
//! Ends with an error if anything came out wrong or was applied in part.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it measures from outside"
)]

#[path = "../tests/replay/bare.rs"]
mod bare;
#[path = "../tests/replay/history.rs"]
mod history;
#[path = "../tests/replay/merges.rs"]
mod merges;
#[path = "../tests/replay/outcome.rs"]
mod outcome;
#[path = "../tests/replay/reindented.rs"]
mod reindented;
#[path = "../tests/replay/stale.rs"]
mod stale;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use patch_engine::{Options, Profile, edit};
use patch_grammar::diff::{self, DiffOptions};
use patch_grammar::{Section, SectionOperation};
use testutils::write::Style;

use merges::{Counts, Fared};
use outcome::{Outcome, Tally};

/// How one kind of patch fared.
struct Run {
    style: Style,
    files: Tally,
    commits: Tally,
    road: Tally,
}

struct Args {
    styles: Vec<Style>,
    road: usize,
    keep: Option<PathBuf>,
    from_git: bool,
    merges: bool,
    bare: bool,
    stale: bool,
    reindent: bool,
    dirs: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let args = match read_args() {
        Ok(args) => args,
        Err(error) => {
            eprintln!("replay: {error}");
            return ExitCode::from(2);
        }
    };
    let temporary = tempfile::tempdir().expect("a temporary directory");
    if args.bare {
        return in_the_database(&args, temporary.path());
    }
    if args.stale {
        return formatted(&args, temporary.path());
    }
    if args.reindent {
        return reindented(&args);
    }
    if args.merges {
        return merged(&args, temporary.path());
    }
    if args.from_git {
        return from_git(&args, temporary.path());
    }
    let (mut nth, mut updates) = (0, 0);
    let fresh = |style: Style| Run {
        style,
        files: Tally::default(),
        commits: Tally::default(),
        road: Tally::default(),
    };
    let mut runs: Vec<Run> = args.styles.into_iter().map(fresh).collect();
    for dir in &args.dirs {
        let read = history::read(dir, &|_| true, &mut |commit| {
            let name = format!("{} {}", dir.display(), commit.name);
            nth += 1;
            updates += commit.updates().count();
            for run in &mut runs {
                for (path, before, after) in commit.updates() {
                    let (outcome, text) = outcome::file(before, after, &run.style);
                    let name = format!("{name} {path}");
                    run.files.count(&name, &outcome);
                    if let (Some(keep), Outcome::Refused(_) | Outcome::Wrong(_)) =
                        (&args.keep, &outcome)
                    {
                        keep_files(
                            keep,
                            &run.style,
                            &name,
                            &outcome,
                            [before, after, text.as_bytes()],
                        );
                    }
                }
                run.commits.count(&name, &outcome::in_memory(&commit, &run.style));
                if args.road > 0 && nth % args.road == 0 {
                    run.road.count(&name, &outcome::on_disk(&commit, &run.style, temporary.path()));
                }
            }
        });
        if let Err(error) = read {
            eprintln!("replay: {error}");
            return ExitCode::FAILURE;
        }
    }
    println!("{nth} commits, {updates} updates of single files");
    let mut bad = false;
    for Run { style, files, commits, road } in &runs {
        let Style { dialect, context, headers, end_of_file } = style;
        let with = |yes: &bool, what: &str| if *yes { format!(", {what}") } else { String::new() };
        println!(
            "\n{dialect}, {context} lines{}{}",
            with(headers, "headers"),
            with(end_of_file, "end of file")
        );
        println!("  files:     {files}\n  commits:   {commits}\n  on disk:   {road}");
        for tally in [files, commits, road] {
            bad |= !tally.wrong.is_empty() || !tally.partial.is_empty();
            tally.wrong.iter().for_each(|what| println!("  WRONG      {what}"));
            tally.partial.iter().for_each(|what| println!("  PARTIAL    {what}"));
        }
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Replays git's own diffs, each in every dialect: its updates one by one, and some commits as a
/// whole.
fn from_git(args: &Args, temporary: &Path) -> ExitCode {
    let mut bad = false;
    let mut dialects: Vec<Profile> = args.styles.iter().map(|style| style.dialect).collect();
    dialects.dedup();
    for dialect in dialects {
        let (mut nth, mut files, mut road) = (0, Tally::default(), Tally::default());
        for dir in &args.dirs {
            let read = history::read(dir, &|_| true, &mut |commit| {
                let name = format!("{} {}", dir.display(), commit.name);
                let Some(diff) = history::diff(dir, &commit).expect("git runs") else { return };
                nth += 1;
                // No line of a hunk begins with a letter.
                let starts = files_of(&diff);
                for (index, &start) in starts.iter().enumerate() {
                    let end = starts.get(index + 1).copied().unwrap_or(diff.len());
                    if let Some((path, outcome)) = diff_of_file(&commit, &diff[start..end], dialect)
                    {
                        files.count(&format!("{name} {path}"), &outcome);
                    }
                }
                if args.road > 0 && nth % args.road == 0 && !starts.is_empty() {
                    road.count(&name, &outcome::diff_on_disk(&commit, &diff, dialect, temporary));
                }
            });
            if let Err(error) = read {
                eprintln!("replay: {error}");
                return ExitCode::FAILURE;
            }
        }
        println!(
            "git's diffs, {dialect}, {nth} commits\n  files:     {files}\n  on disk:   {road}"
        );
        for tally in [&files, &road] {
            bad |= !tally.wrong.is_empty() || !tally.partial.is_empty();
            tally.wrong.iter().for_each(|what| println!("  WRONG      {what}"));
            tally.partial.iter().for_each(|what| println!("  PARTIAL    {what}"));
        }
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Makes commits anew in the object database alone.
fn in_the_database(args: &Args, temporary: &Path) -> ExitCode {
    let mut bad = false;
    for (number, dir) in args.dirs.iter().enumerate() {
        let scratch = temporary.join(number.to_string());
        fs::create_dir(&scratch).expect("a folder of ours");
        let bare::Replayed { tally, time, fsck } = match bare::replay(dir, 1, &scratch) {
            Ok(replayed) => replayed,
            Err(error) => {
                eprintln!("replay: {error}");
                return ExitCode::FAILURE;
            }
        };
        println!("{}: {tally}", dir.display());
        println!(
            "  {:.1} s without git's own; fsck: {}",
            time.as_secs_f64(),
            if fsck.is_empty() { "clean" } else { &fsck }
        );
        tally.wrong.iter().for_each(|what| println!("  WRONG      {what}"));
        bad |= !tally.wrong.is_empty() || !fsck.is_empty();
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Compares what becomes of patches for files that were formatted since they were read.
fn formatted(args: &Args, temporary: &Path) -> ExitCode {
    let mut bad = false;
    for dir in &args.dirs {
        let mut counts = stale::Formatter::ALL.map(|_| stale::WAYS.map(|_| Counts::default()));
        let mut files = 0;
        let read = history::read(dir, &|_| true, &mut |commit| {
            for (path, before, after) in commit.updates() {
                files += 1;
                let name = format!("{} {path}", commit.name);
                for (how, counts) in stale::Formatter::ALL.into_iter().zip(&mut counts) {
                    let fared = stale::fared(before, after, how, temporary).into_iter().flatten();
                    counts
                        .iter_mut()
                        .zip(fared)
                        .for_each(|(counts, fared)| counts.count(&name, fared));
                }
            }
        });
        if let Err(error) = read {
            eprintln!("replay: {error}");
            return ExitCode::FAILURE;
        }
        println!("{}, {files} updates", dir.display());
        for (how, counts) in stale::Formatter::ALL.iter().zip(&counts) {
            println!("  {how:?}");
            stale::WAYS
                .iter()
                .zip(counts)
                .for_each(|(way, counts)| println!("    {way:14} {counts}"));
            let carried = || counts[..2].iter().flat_map(|counts| &counts.wrong);
            carried().for_each(|name| println!("    WRONG      {name}"));
            bad |= carried().next().is_some();
        }
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Applies changes to files in other units of indentation.
fn reindented(args: &Args) -> ExitCode {
    let mut contexts: Vec<usize> = args.styles.iter().map(|style| style.context).collect();
    contexts.sort_unstable();
    contexts.dedup();
    let mut bad = false;
    for dir in &args.dirs {
        let mut all: Vec<_> = contexts.iter().map(|_| reindented::Counts::default()).collect();
        let read = history::read(dir, &|_| true, &mut |commit| {
            for (path, before, after) in commit.updates() {
                let name = format!("{} {path}", commit.name);
                for (&context, counts) in contexts.iter().zip(&mut all) {
                    reindented::count(&name, before, after, context, counts);
                }
            }
        });
        if let Err(error) = read {
            eprintln!("replay: {error}");
            return ExitCode::FAILURE;
        }
        for (context, counts) in contexts.iter().zip(&all) {
            println!("{}, {context} lines: {counts}", dir.display());
            counts.wrong.iter().for_each(|what| println!("  WRONG      {what}"));
            bad |= !counts.wrong.is_empty();
        }
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Compares what becomes of the merges' files.
fn merged(args: &Args, temporary: &Path) -> ExitCode {
    let fresh = || merges::WAYS.map(|_| Counts::default());
    let (mut all, mut files) = (fresh(), 0);
    let print = |title: &str, counts: &[Counts]| {
        println!("{title}");
        for (way, counts) in merges::WAYS.iter().zip(counts) {
            println!("  {way:18} {counts}");
        }
    };
    for dir in &args.dirs {
        let (mut counts, mut of_dir) = (fresh(), 0);
        let read = history::merges(dir, &mut |file| {
            of_dir += 1;
            let name = format!("{} {}", dir.display(), file.name);
            let fared = merges::fared(&file, temporary);
            for (way, &fared) in fared.iter().enumerate() {
                counts[way].count(&name, fared);
                all[way].count(&name, fared);
            }
            if let Some(keep) = &args.keep {
                keep_merge(keep, &name, &file, &fared);
            }
        });
        if let Err(error) = read {
            eprintln!("replay: {error}");
            return ExitCode::FAILURE;
        }
        print(&format!("{}, {of_dir} files", dir.display()), &counts);
        files += of_dir;
    }
    if args.dirs.len() > 1 {
        print(&format!("all, {files} files"), &all);
    }
    let carried = || all[..2].iter().flat_map(|counts| &counts.wrong);
    carried().for_each(|name| println!("  WRONG      {name}"));
    if carried().next().is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Keeps the files of a merge where carrying went otherwise than `git merge-file`.
fn keep_merge(keep: &Path, name: &str, file: &history::MergedFile, fared: &[Fared]) {
    let [carried, .., by_git] = fared else { return };
    if carried == by_git {
        return;
    }
    let folder =
        keep.join(format!("{carried:?}-{by_git:?}").replace(['"', '(', ')'], "")).join(plain(name));
    fs::create_dir_all(&folder).expect("a directory of ours");
    for (name, bytes) in [
        ("base", &file.base),
        ("ours", &file.ours),
        ("theirs", &file.theirs),
        ("merged", &file.merged),
        ("diff", &file.diff),
    ] {
        fs::write(folder.join(name), bytes).expect("a file of ours");
    }
}

/// A name as one part of a path.
fn plain(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c), "_")
}

/// The diff of one file, in memory; `None` where it is more than an update.
fn diff_of_file(
    commit: &history::Commit,
    diff: &[u8],
    dialect: Profile,
) -> Option<(String, Outcome)> {
    let patch = match diff::parse(diff, &DiffOptions::default()) {
        Ok(patch) => patch,
        Err(error) => {
            return Some((error.kind.to_string(), Outcome::Refused(error.kind.as_str().into())));
        }
    };
    let [Section { path, operation: SectionOperation::Update { move_to: None, hunks }, .. }] =
        patch.sections()
    else {
        return None;
    };
    let ((before, _), (after, _)) =
        (commit.before.get(&*path.text)?, commit.after.get(&*path.text)?);
    let options = Options::new(dialect);
    let outcome = match edit(before, hunks, &options.placement, options.final_newline) {
        Ok(edit) if edit.apply(before) == *after => Outcome::Right,
        Ok(edit) if without_cr(&edit.apply(before)) == without_cr(after) => {
            Outcome::Wrong("line endings".into())
        }
        Ok(edit) => Outcome::Wrong(format!(
            "placed at lines {:?}",
            edit.placed.iter().map(|p| p.first_line).collect::<Vec<_>>()
        )),
        Err(rejects) => Outcome::Refused(rejects[0].reason.as_str().into()),
    };
    Some((path.text.to_string(), outcome))
}

fn without_cr(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|&byte| byte != b'\r').collect()
}

/// Where the files of a diff begin.
fn files_of(diff: &[u8]) -> Vec<usize> {
    let mut at = 0;
    let mut starts = Vec::new();
    for line in diff.split_inclusive(|&byte| byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

fn read_args() -> Result<Args, String> {
    let mut args = std::env::args().skip(1);
    let (mut contexts, mut dialects, mut headers, mut end_of_file) =
        (Vec::new(), Vec::new(), false, false);
    let (mut road, mut keep, mut from_git, mut dirs) = (20, None, false, Vec::new());
    let (mut merges, mut bare, mut stale, mut reindent) = (false, false, false, false);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        let number =
            |text: String| text.parse::<usize>().map_err(|error| format!("{text}: {error}"));
        match &*arg {
            "--context" => contexts.push(number(value()?)?),
            "--dialect" => {
                dialects.push(value()?.parse::<Profile>().map_err(|error| error.to_string())?)
            }
            "--headers" => headers = true,
            "--from-git" => from_git = true,
            "--merges" => merges = true,
            "--bare" => bare = true,
            "--stale" => stale = true,
            "--reindent" => reindent = true,
            "--end-of-file" => end_of_file = true,
            "--road" => road = number(value()?)?,
            "--keep" => keep = Some(PathBuf::from(value()?)),
            _ if arg.starts_with('-') => return Err(format!("there is no flag {arg}")),
            _ => dirs.push(PathBuf::from(arg)),
        }
    }
    if dirs.is_empty() {
        return Err("name a git repository, or a directory of releases".into());
    }
    let all = contexts.is_empty() && dialects.is_empty();
    let contexts = if contexts.is_empty() { vec![3, 1] } else { contexts };
    let dialects =
        if dialects.is_empty() { vec![Profile::Codex, Profile::Strict] } else { dialects };
    let headers = if all && !headers { vec![false, true] } else { vec![headers] };
    let mut styles = Vec::new();
    for &dialect in &dialects {
        for &context in &contexts {
            // For `strict` a header decides nothing.
            for &headers in headers.iter().take(if dialect == Profile::Strict { 1 } else { 2 }) {
                styles.push(Style { context, headers, end_of_file, ..Style::new(dialect) });
            }
        }
    }
    Ok(Args { styles, road, keep, from_git, merges, bare, stale, reindent, dirs })
}

fn keep_files(keep: &Path, style: &Style, name: &str, outcome: &Outcome, files: [&[u8]; 3]) {
    let what = if matches!(outcome, Outcome::Wrong(_)) { "wrong" } else { "refused" };
    let folder = plain(name);
    let headers = if style.headers { "-headers" } else { "" };
    let folder =
        keep.join(format!("{what}-{}-{}{headers}", style.dialect, style.context)).join(folder);
    fs::create_dir_all(&folder).expect("a directory of ours");
    for (name, bytes) in ["before", "after", "patch"].into_iter().zip(files) {
        fs::write(folder.join(name), bytes).expect("a file of ours");
    }
    fs::write(folder.join("outcome"), format!("{outcome:?}\n")).expect("a file of ours");
}
