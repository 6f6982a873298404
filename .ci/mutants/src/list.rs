//! The mutants, as cargo-mutants lists them, and those that are known to survive.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Genre {
    BinaryOperator,
    FnValue,
    MatchArm,
    MatchArmGuard,
    StructField,
    UnaryOperator,
}

/// Counted from 1; the column in characters.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Span {
    pub start: Position,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Mutant {
    #[serde(skip)]
    pub id: usize,
    pub file: String,
    pub genre: Genre,
    pub name: String,
    pub replacement: String,
    pub span: Span,
    /// How many mutants of this file are described in the same words before this one.
    #[serde(skip)]
    pub nth: usize,
}

impl Mutant {
    /// What is replaced with what, and in which function: the name without the place, which moves.
    pub fn words(&self) -> &str {
        self.name.split_once(": ").map_or(&*self.name, |(_, words)| words)
    }
}

/// What everything else rests on.
const FILES: &[&str] = &[
    "crates/file-tools/src/audit/*.rs",
    "crates/fs-guard/src/**/*.rs",
    "crates/patch-engine/src/locate/*.rs",
    "crates/patch-engine/src/commit/*.rs",
    "crates/trash/src/*.rs",
];

/// The mutants of these files of the project, without what `.cargo/mutants.toml` leaves out.
pub fn all(project: &Path) -> Vec<Mutant> {
    let mut command = Command::new("cargo");
    command.args(["mutants", "--list", "--json"]).current_dir(project);
    for file in FILES {
        command.args(["--file", file]);
    }
    let output = command.output().expect("cargo-mutants runs");
    assert!(output.status.success(), "cargo mutants: {}", String::from_utf8_lossy(&output.stderr));
    let mut mutants: Vec<Mutant> =
        serde_json::from_slice(&output.stdout).expect("the list of cargo-mutants");
    let mut seen = BTreeMap::new();
    for (id, mutant) in mutants.iter_mut().enumerate() {
        let nth = seen.entry((mutant.file.clone(), mutant.words().to_owned())).or_insert(0);
        (mutant.id, mutant.nth) = (id, *nth);
        *nth += 1;
    }
    mutants
}

/// The mutants of `tests/MUTANTS.md`: files as headings (`### path`), below them lines with the
/// words in backquotes, and `(all)` or the numbers of those that are meant where several have the
/// same words: `* `replace < with <= in f` (1, 3): why`.
pub struct Known(BTreeMap<(String, String), Option<BTreeSet<usize>>>);

impl Known {
    pub fn read(page: &str) -> Self {
        let mut file = "";
        let mut known = BTreeMap::new();
        for line in page.lines() {
            if let Some(heading) = line.strip_prefix("### ") {
                file = heading.trim_matches('`');
                continue;
            }
            let Some((words, rest)) =
                line.strip_prefix("* `").and_then(|line| line.split_once('`'))
            else {
                continue;
            };
            let numbers = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'));
            let numbers = match numbers {
                Some(("all", _)) => None,
                Some((numbers, _)) => Some(
                    numbers.split(',').filter_map(|number| number.trim().parse().ok()).collect(),
                ),
                None => Some(BTreeSet::from([1])),
            };
            let all: &mut Option<BTreeSet<usize>> = known
                .entry((file.to_owned(), words.to_owned()))
                .or_insert_with(|| Some(BTreeSet::new()));
            match (all.as_mut(), numbers) {
                (Some(all), Some(numbers)) => all.extend(numbers),
                _ => *all = None,
            }
        }
        Self(known)
    }

    pub fn has(&self, mutant: &Mutant) -> bool {
        let numbers = self.0.get(&(mutant.file.clone(), mutant.words().to_owned()));
        numbers.is_some_and(|numbers| {
            numbers.as_ref().is_none_or(|numbers| numbers.contains(&(mutant.nth + 1)))
        })
    }

    /// Those that are not mutants of the project: the code has changed.
    pub fn unknown<'k>(&'k self, mutants: &[Mutant]) -> impl Iterator<Item = String> + 'k {
        let there: BTreeSet<_> =
            mutants.iter().map(|mutant| (mutant.file.clone(), mutant.words().to_owned())).collect();
        self.0
            .keys()
            .filter(move |key| !there.contains(*key))
            .map(|(file, words)| format!("{file}: {words}"))
    }
}
