//! Tries mutants of what everything else rests on: what the tests do not notice is said, and fails
//! unless it is known.
//!
//! cargo-mutants lists the mutants. Instead of one build for each there is one for all, with each
//! behind a switch; every test is run once to see which mutants it reaches, and then those that
//! reach a mutant, quick ones first, until one fails.

mod compile;
mod list;
mod source;
mod trial;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "mutants SCRATCH [SECONDS [SEED] | WORDS]\n\nTries mutants of the project in \
                     the current directory: those whose name has WORDS in it, or all; or, with \
                     SECONDS, for so long a sample, another one for each SEED. Tests are started \
                     by SCRATCH/boxed.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (scratch, what) = match args.split_first() {
        Some((scratch, what)) if what.len() <= 2 => (Path::new(scratch), what),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let seconds = what.first().and_then(|first| first.parse::<u64>().ok());
    let project = std::env::current_dir().expect("a current directory");
    let known = list::Known::read(
        &std::fs::read_to_string("tests/MUTANTS.md").expect("the list of what is known"),
    );
    let mutants = list::all(&project);
    let mut fails = false;
    for words in known.unknown(&mutants) {
        println!("no such mutant, but tests/MUTANTS.md has it: {words}");
        fails = true;
    }

    let from = Instant::now();
    let copy = compile::Copy::of(&project, scratch);
    copy.put_in(&project, &mutants);
    let (tests, compiled) = copy.tests();
    println!(
        "{} mutants, {} of them compile behind a switch: {} s",
        mutants.len(),
        compiled.len(),
        from.elapsed().as_secs()
    );
    let from = Instant::now();
    let (passed, unsure) = trial::passed(tests, scratch);
    println!("{} tests: {} s", passed.len(), from.elapsed().as_secs());

    let mut chosen: Vec<_> =
        mutants.iter().filter(|mutant| compiled.contains(&mutant.id)).collect();
    let mut until = None;
    if let Some(seconds) = seconds {
        chosen.retain(|mutant| !known.has(mutant));
        let seed = what.get(1);
        chosen.sort_by_key(|mutant| {
            let mut hasher = DefaultHasher::new();
            (seed, &mutant.file, mutant.words(), mutant.nth).hash(&mut hasher);
            hasher.finish()
        });
        until = Some(Instant::now() + Duration::from_secs(seconds));
    } else if let Some(words) = what.first() {
        chosen.retain(|mutant| mutant.name.contains(&**words));
    }
    let from = Instant::now();
    let mut tried = trial::tried(&chosen, |mutant| known.has(mutant), &passed, until, scratch);
    println!("{} mutants tried: {} s", tried.len(), from.elapsed().as_secs());
    tried.sort_by_key(|tried| tried.mutant.id);
    let (mut caught, mut listed) = (0, 0);
    for tried in &tried {
        match &tried.caught_by {
            Some(by) if known.has(tried.mutant) => {
                println!(
                    "caught, so it need not be in tests/MUTANTS.md: {} ({by})",
                    tried.mutant.name
                )
            }
            Some(_) => caught += 1,
            None if known.has(tried.mutant) => listed += 1,
            None if unsure.contains(&tried.mutant.id) => {
                println!("not certain: {}", tried.mutant.name)
            }
            None => {
                let nth = tried.mutant.nth + 1;
                println!(
                    "SURVIVED: {} (number {nth} of these words in the file; {} tests reach it)",
                    tried.mutant.name, tried.reached_by
                );
                fails = true;
            }
        }
    }
    println!("{caught} caught, {listed} known to survive, of {}", tried.len());
    if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
