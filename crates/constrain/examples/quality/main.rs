//! What a token mask does to the quality of patches: a small model writes patches of real commits
//! and makes mistakes, once free and once held to the files.
//!
//! ```text
//! cargo run --release -p patch-constrain --example quality -- [--patches N] [--seed S] REPOSITORY…
//! ```
//!
//! The model (`model.rs`) has no weights from outside. It knows the patch that is wanted and the
//! file, and copies the patch token by token; at each token it slips with the probability p, and
//! writes what the file or an n-gram of the repository's earlier text suggests instead. The files
//! are those that one section of a commit changes; patches have three lines of context.
//!
//! *Free* writes without a mask. *Bound* may only write what the matcher allows. *Stopped* is bound
//! as well, and gives up where the mask takes more than nine tenths of the probability from it
//! within the old lines, as the text that it wants to write is not in the file.
//!
//! An output is *right* if the file becomes that of the commit, *other text* if only inserted lines
//! differ, *other lines* if lines were replaced that the commit does not replace, or the other way
//! round, and *refused* if it does not parse, does not apply, or was given up.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it measures from outside"
)]

#[path = "../../../../tests/replay/history.rs"]
#[allow(dead_code, reason = "it reads more of a history than is needed here")]
mod history;
mod model;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use patch_constrain::{Binder, Matcher, Operations, Vocabulary};
use patch_engine::{MemoryTree, Options, Profile, apply_in_memory};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use testutils::write::{Style, Tree, TreeFile, write_patch};

use model::{Model, Text, Tokens};

/// The probabilities of a slip, for each token.
const SLIPS: [f64; 4] = [0.0, 0.01, 0.05, 0.2];

/// A change of one file.
struct Change {
    path: String,
    before: Vec<u8>,
    after: Vec<u8>,
    patch: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Free,
    Bound,
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    OtherText,
    OtherLines,
    Refused,
}

fn main() -> ExitCode {
    let (mut patches, mut seed, mut dirs) = (200, 1, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|it| it.parse().ok());
        match &*arg {
            "--patches" => patches = number().unwrap_or(patches),
            "--seed" => seed = number().unwrap_or(1) as u64,
            _ => dirs.push(PathBuf::from(arg)),
        }
    }
    if dirs.is_empty() {
        eprintln!("usage: quality [--patches N] [--seed S] REPOSITORY…");
        return ExitCode::from(2);
    }
    let mut counts: BTreeMap<(u32, Way, Outcome), usize> = BTreeMap::new();
    let (mut tried, mut left_out) = (0_u32, 0);
    for dir in &dirs {
        let (text, changes) = match read(dir, patches) {
            Ok(read) => read,
            Err(error) => {
                eprintln!("{}: {error}", dir.display());
                return ExitCode::FAILURE;
            }
        };
        let tokens = Tokens::of(&text);
        let vocabulary = Arc::new(Vocabulary::new(tokens.texts(), &[tokens.end()]));
        let grams = Text::of(&tokens, &text);
        for (nth, change) in changes.iter().enumerate() {
            let bound =
                Binder::new(Operations::default()).file(&change.path, change.before.clone()).bind();
            let Ok(bound) = bound else { continue };
            let bound = Arc::new(bound);
            // What is no sentence of the file could not be written at all, and some files are
            // not to be changed without approval.
            let possible = is_sentence(&vocabulary, &bound, &tokens, &change.patch);
            if !possible || judge(change, &change.patch) != Outcome::Right {
                left_out += 1;
                continue;
            }
            tried += 1;
            for (which, slip) in SLIPS.into_iter().enumerate() {
                for way in [Way::Free, Way::Bound, Way::Stopped] {
                    let seed = seed.wrapping_mul(1_000_003) + nth as u64;
                    let mut model =
                        Model::new(&tokens, &grams, change.before.as_slice(), &change.patch);
                    let mut matcher = Matcher::new(Arc::clone(&vocabulary), Arc::clone(&bound));
                    let written = model.write(
                        slip,
                        seed,
                        (way != Way::Free).then_some(&mut matcher),
                        way == Way::Stopped,
                    );
                    let outcome = match &written {
                        None => Outcome::Refused,
                        Some(text) => judge(change, text),
                    };
                    if let (Way::Bound | Way::Stopped, Some(text), Outcome::Refused) =
                        (way, &written, outcome)
                    {
                        panic!("{}: a bound patch was refused:\n{text}", change.path);
                    }
                    *counts.entry((which as u32, way, outcome)).or_default() += 1;
                }
            }
        }
    }
    println!("{tried} patches, {left_out} left out");
    println!("| p | way | right | other text | other lines | refused |");
    println!("|---|---|---|---|---|---|");
    for (which, slip) in SLIPS.into_iter().enumerate() {
        for way in [Way::Free, Way::Bound, Way::Stopped] {
            let share = |outcome| {
                let count = counts.get(&(which as u32, way, outcome)).copied().unwrap_or(0);
                format!("{:.1} %", 100.0 * count as f64 / f64::from(tried.max(1)))
            };
            println!(
                "| {} % | {} | {} | {} | {} | {} |",
                slip * 100.0,
                format!("{way:?}").to_lowercase(),
                share(Outcome::Right),
                share(Outcome::OtherText),
                share(Outcome::OtherLines),
                share(Outcome::Refused)
            );
        }
    }
    ExitCode::SUCCESS
}

/// The text that the n-grams are counted in, of the first half of the history, and changes of
/// single files from the second half.
fn read(dir: &Path, most: usize) -> Result<(Vec<u8>, Vec<Change>), String> {
    let mut commits = 0;
    history::read(dir, &|_| true, &mut |_| commits += 1)?;
    let (mut text, mut found, mut nth) = (Vec::new(), Vec::new(), 0);
    history::read(dir, &|_| true, &mut |commit| {
        nth += 1;
        for (path, before, after) in commit.updates() {
            if nth * 2 < commits {
                if text.len() < 3_000_000 && std::str::from_utf8(after).is_ok() {
                    text.extend_from_slice(after);
                }
                continue;
            }
            found.extend(change(path, before, after));
        }
    })?;
    let step = (found.len() / most).max(1);
    Ok((text, found.into_iter().step_by(step).take(most).collect()))
}

fn change(path: &str, before: &[u8], after: &[u8]) -> Option<Change> {
    let lines = before.iter().filter(|&&byte| byte == b'\n').count();
    if lines > 5_000 || std::str::from_utf8(before).is_err() || std::str::from_utf8(after).is_err()
    {
        return None;
    }
    let old = Tree::from([(path, TreeFile::text(std::str::from_utf8(before).ok()?))]);
    let new = Tree::from([(path, TreeFile::text(std::str::from_utf8(after).ok()?))]);
    let patch = write_patch(&old, &new, &Style::new(Profile::Codex)).ok()?;
    (patch.len() < 20_000).then(|| Change {
        path: path.to_owned(),
        before: before.to_vec(),
        after: after.to_vec(),
        patch,
    })
}

fn is_sentence(
    vocabulary: &Arc<Vocabulary>,
    bound: &Arc<patch_constrain::Bound>,
    tokens: &Tokens,
    patch: &str,
) -> bool {
    let mut matcher = Matcher::new(Arc::clone(vocabulary), Arc::clone(bound));
    let mut tokens = tokens.split(patch.as_bytes()).into_iter();
    tokens.all(|token| matcher.accept(token).is_ok()) && matcher.is_finished()
}

fn judge(change: &Change, text: &str) -> Outcome {
    let mut tree = MemoryTree::new();
    tree.insert(&change.path, change.before.clone());
    let Ok(changed) = apply_in_memory(&tree, text, &Options::new(Profile::Codex)) else {
        return Outcome::Refused;
    };
    let Some(content) = changed.files.iter().find_map(|file| file.after.as_ref()) else {
        // Nothing changed.
        return Outcome::OtherLines;
    };
    let got = &**content.bytes;
    if got == change.after {
        Outcome::Right
    } else if replaced(&change.before, got) == replaced(&change.before, &change.after) {
        Outcome::OtherText
    } else {
        Outcome::OtherLines
    }
}

/// The ranges of lines that one text replaces in the other.
fn replaced(before: &[u8], after: &[u8]) -> Vec<(usize, usize)> {
    let lines = |text: &'_ [u8]| -> Vec<Vec<u8>> {
        text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let ops = capture_diff_slices(Algorithm::Myers, &lines(before), &lines(after));
    ops.iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| (op.old_range().start, op.old_range().end))
        .collect()
}
