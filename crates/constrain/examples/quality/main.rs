//! Measures the effect of a token mask on the quality of patches: a small model writes patches of
//! real commits and makes mistakes, once free and once held to the files.
//!
//! ```text
//! cargo run --release -p patch-constrain --example quality -- [--patches N] [--seed S] REPOSITORY…
//! ```
//!
//! The model (`model.rs`) has no weights from outside. It knows the wanted patch and the file, and
//! copies the patch token by token. At each token it slips with the probability p, and writes a
//! token suggested by the file or by an n-gram of the repository's earlier text. Each patch is one
//! section of a commit, with three lines of context.
//!
//! *Free* writes without a mask. *Bound* writes only tokens allowed by the matcher. *Stopped* is
//! bound as well, and gives up where the mask takes more than nine tenths of the probability within
//! the old lines: the model's text is not in the file.
//!
//! An output is *right* if it makes the file of the commit, *other text* if only inserted lines
//! differ, *other lines* if it replaces other lines than the commit, and *refused* if it does not
//! parse, does not apply, or was given up.
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
    let args = Args::parse(std::env::args().skip(1));
    if args.dirs.is_empty() {
        eprintln!("usage: quality [--patches N] [--seed S] REPOSITORY…");
        return ExitCode::from(2);
    }
    let mut counts = Counts::default();
    for dir in &args.dirs {
        let (text, changes) = match read(dir, args.patches) {
            Ok(read) => read,
            Err(error) => {
                eprintln!("{}: {error}", dir.display());
                return ExitCode::FAILURE;
            }
        };
        let repository = Repository::of(&text);
        for (nth, change) in changes.iter().enumerate() {
            let seed = args.seed.wrapping_mul(1_000_003) + nth as u64;
            counts.add(&repository, change, seed);
        }
    }
    counts.print();
    ExitCode::SUCCESS
}

struct Args {
    /// The most patches of a repository.
    patches: usize,
    seed: u64,
    dirs: Vec<PathBuf>,
}

impl Args {
    fn parse(mut args: impl Iterator<Item = String>) -> Self {
        let mut this = Self { patches: 200, seed: 1, dirs: Vec::new() };
        while let Some(arg) = args.next() {
            match &*arg {
                "--patches" => {
                    let given = args.next().and_then(|text| text.parse().ok());
                    this.patches = given.unwrap_or(this.patches);
                }
                "--seed" => {
                    this.seed = args.next().and_then(|text| text.parse().ok()).unwrap_or(1);
                }
                _ => this.dirs.push(PathBuf::from(arg)),
            }
        }
        this
    }
}

/// The tokens of a repository, and their n-grams.
struct Repository {
    tokens: Tokens,
    vocabulary: Arc<Vocabulary>,
    grams: Text,
}

impl Repository {
    fn of(text: &[u8]) -> Self {
        let tokens = Tokens::of(text);
        let vocabulary =
            Arc::new(Vocabulary::new(tokens.texts(), &[tokens.end()]).expect("the end is a token"));
        let grams = Text::of(&tokens, text);
        Self { tokens, vocabulary, grams }
    }
}

/// The outcomes so far.
#[derive(Default)]
struct Counts {
    /// The number of patches for each index of [`SLIPS`], way and outcome.
    outcomes: BTreeMap<(usize, Way, Outcome), usize>,
    tried: u32,
    left_out: u32,
}

impl Counts {
    /// Writes the patch of a change in every way, and counts the outcomes.
    fn add(&mut self, repository: &Repository, change: &Change, seed: u64) {
        let Repository { tokens, vocabulary, grams } = repository;
        let bound =
            Binder::new(Operations::default()).file(&change.path, change.before.clone()).bind();
        let Ok(bound) = bound else { return };
        let bound = Arc::new(bound);
        // A patch that is no sentence of the file cannot be written at all, and some files need
        // approval for any change.
        let possible = is_sentence(vocabulary, &bound, tokens, &change.patch);
        if !possible || judge(change, &change.patch) != Outcome::Right {
            self.left_out += 1;
            return;
        }
        self.tried += 1;
        for (which, slip) in SLIPS.into_iter().enumerate() {
            for way in [Way::Free, Way::Bound, Way::Stopped] {
                let mut model = Model::new(tokens, grams, change.before.as_slice(), &change.patch);
                let mut matcher = Matcher::new(Arc::clone(vocabulary), Arc::clone(&bound));
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
                *self.outcomes.entry((which, way, outcome)).or_default() += 1;
            }
        }
    }

    fn print(&self) {
        println!("{} patches, {} left out", self.tried, self.left_out);
        println!("| p | way | right | other text | other lines | refused |");
        println!("|---|---|---|---|---|---|");
        for (which, slip) in SLIPS.into_iter().enumerate() {
            for way in [Way::Free, Way::Bound, Way::Stopped] {
                println!(
                    "| {} % | {} | {} | {} | {} | {} |",
                    slip * 100.0,
                    format!("{way:?}").to_lowercase(),
                    self.share(which, way, Outcome::Right),
                    self.share(which, way, Outcome::OtherText),
                    self.share(which, way, Outcome::OtherLines),
                    self.share(which, way, Outcome::Refused)
                );
            }
        }
    }

    fn share(&self, which: usize, way: Way, outcome: Outcome) -> String {
        let count = self.outcomes.get(&(which, way, outcome)).copied().unwrap_or(0);
        format!("{:.1} %", 100.0 * count as f64 / f64::from(self.tried.max(1)))
    }
}

/// Reads the text of the first half of the history, for the n-grams, and the changes of single
/// files in the second half.
fn read(dir: &Path, most: usize) -> Result<(Vec<u8>, Vec<Change>), String> {
    let mut commits = 0;
    history::read(dir, &|_| true, &mut |_| commits += 1)?;
    let mut text = Vec::new();
    let mut found = Vec::new();
    let mut nth = 0;
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

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The ranges of old lines replaced by a change.
fn replaced(before: &[u8], after: &[u8]) -> Vec<(usize, usize)> {
    let ops = capture_diff_slices(Algorithm::Myers, &lines(before), &lines(after));
    ops.iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| (op.old_range().start, op.old_range().end))
        .collect()
}
