//! The hunks of real commits: each is a sentence if and only if it applies.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use patch_constrain::fit::{Fit, FitFile, FitOperation, FitOptions};
use patch_engine::{MemoryTree, Options, Profile, apply_in_memory};
use testutils::write::{Style, write_hunks};
use xtask::texts::fitted_sentences;

/// The git directories whose commits are tried, separated by colons.
const HISTORIES: &str = "APPLY_PATCH_HISTORIES";

/// How many commits of each are tried.
const COMMITS: &str = "1000";

#[derive(Debug, Default)]
struct Count {
    hunks: usize,
    sentences: usize,
}

/// Tries the hunks of a change one by one.
fn each_hunk(before: &[u8], after: &[u8], count: &mut Count) {
    let Ok(hunks) = write_hunks(before, after, &Style::new(Profile::Codex)) else { return };
    let Ok(fit) = Fit::new(&[FitFile::new("f", before)], &[], &FitOptions::default()) else {
        return;
    };
    let tree: MemoryTree = [("f", before)].into_iter().collect();
    for hunk in hunks.split_inclusive("\n@@").map(|hunk| hunk.trim_end_matches("@@")) {
        let hunk = hunk.strip_prefix("@@").unwrap_or(hunk);
        let patch = format!("*** Begin Patch\n*** Update File: f\n@@{hunk}*** End Patch\n");
        let applied = apply_in_memory(&tree, &patch, &Options::new(Profile::Strict));
        assert_eq!(fit.recognizes(&patch), applied.is_ok(), "{patch}\n{applied:?}");
        count.hunks += 1;
        count.sentences += usize::from(applied.is_ok());
    }
}

/// Tries all hunks of a change together, if each is unique.
fn all_hunks(before: &[u8], after: &[u8]) -> Option<bool> {
    let hunks = write_hunks(before, after, &Style::new(Profile::Codex)).ok()?;
    let options = FitOptions { profile: Profile::Codex, ..FitOptions::default() };
    let fit = Fit::new(&[FitFile::new("f", before)], &[], &options).ok()?;
    let patch = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
    Some(fit.recognizes(&patch))
}

fn git(dir: &Path, args: &[&str]) -> Vec<u8> {
    let out = Command::new("git").arg("--git-dir").arg(dir).args(args).output().expect("git");
    out.stdout
}

#[test]
fn hunks_with_context_are_sentences_if_they_apply() {
    let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
    let mut count = Count::default();
    for after in [
        "a\nb\nc\nD\ne\nf\ng\nh\n",
        "new\na\nb\nc\nd\ne\nf\ng\nh\n",
        "a\nb\nc\nd\ne\nf\ng\nh\nnew\n",
        "b\nc\nd\ne\nf\ng\n",
        "",
    ] {
        each_hunk(before.as_bytes(), after.as_bytes(), &mut count);
        assert_eq!(all_hunks(before.as_bytes(), after.as_bytes()), Some(true), "{after}");
    }
    assert_eq!(count.hunks, count.sentences);
}

#[test]
#[ignore = "wants git directories of others: APPLY_PATCH_HISTORIES"]
fn hunks_of_real_commits_are_sentences_if_they_apply() {
    let dirs = std::env::var_os(HISTORIES).expect("git directories");
    for dir in std::env::split_paths(&dirs) {
        let mut count = Count::default();
        let (mut whole, mut wholes) = (0, 0);
        let log = ["log", "--no-merges", "-n", COMMITS, "--raw", "--no-abbrev", "--diff-filter=M"];
        for line in String::from_utf8_lossy(&git(&dir, &log)).lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [old, new] = match fields[..] {
                [":100644", "100644", old, new, "M", ..] => [old, new],
                _ => continue,
            };
            let [before, after] = [old, new].map(|id| git(&dir, &["cat-file", "blob", id]));
            if before.is_empty() || std::str::from_utf8(&before).is_err() {
                continue;
            }
            each_hunk(&before, &after, &mut count);
            if let Some(is_sentence) = all_hunks(&before, &after) {
                whole += usize::from(is_sentence);
                wholes += 1;
            }
        }
        println!("{}: {count:?}, {whole} of {wholes} whole updates", dir.display());
        assert!(count.sentences * 10 > count.hunks * 9, "{count:?}");
    }
}

/// The languages whose files are tried, by the ends of their names.
const LANGUAGES: [&str; 8] = [".py", ".rs", ".js", ".md", ".toml", ".yml", ".html", ".sh"];

/// How many sentences of each file's grammar are tried under each profile.
const SENTENCES: usize = 20;

/// Applies sentences of the grammar of one file, with all operations. The file has another path,
/// for what a policy guards is no matter of the grammar.
fn try_sentences(text: &[u8], count: &mut Count) {
    let path = "src/file";
    for profile in [Profile::Strict, Profile::Codex] {
        let options =
            FitOptions { profile, operations: FitOperation::ALL.to_vec(), ..FitOptions::default() };
        let Ok(fit) = Fit::new(&[FitFile::new(path, text)], &[], &options) else { continue };
        let tree: MemoryTree = [(path, text)].into_iter().collect();
        for patch in fitted_sentences(&fit, count.sentences as u64).take(SENTENCES) {
            let applied = apply_in_memory(&tree, &patch, &Options::new(profile));
            assert!(applied.is_ok(), "{patch}\n{applied:?}");
            count.sentences += 1;
        }
    }
}

#[test]
#[ignore = "wants git directories of others: APPLY_PATCH_HISTORIES"]
fn sentences_for_real_files_apply() {
    let dirs = std::env::var_os(HISTORIES).expect("git directories");
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for dir in std::env::split_paths(&dirs) {
        for line in String::from_utf8_lossy(&git(&dir, &["ls-tree", "-r", "HEAD"])).lines() {
            let Some((entry, path)) = line.split_once('\t') else { continue };
            let language = LANGUAGES.into_iter().find(|end| path.ends_with(end));
            if let Some((language, id)) = language.zip(entry.split(' ').nth(2)) {
                let text = git(&dir, &["cat-file", "blob", id]);
                try_sentences(&text, counts.entry(language).or_default());
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.len() >= 5, "{counts:?}");
}
