//! Measures the cost of masks along given patches:
//!
//! ```sh
//! cargo run --release -p patch-constrain --example measure -- VOCABULARY FILE PATCHES
//! ```
//!
//! `VOCABULARY` has one token a line, its bytes in hexadecimal digits; `PATCHES` has patches one
//! after the other, each with one section that updates `f`. A patch is split into the longest
//! tokens that fit.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use patch_constrain::{Binder, Matcher, Operations, Vocabulary, has};

/// The token of each text.
type Ids = HashMap<Vec<u8>, u32>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(vocabulary), Some(file), Some(patches)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("three files are needed".into());
    };
    let tokens = std::fs::read_to_string(vocabulary)?;
    let tokens: Vec<Vec<u8>> = tokens.lines().map(from_hex).collect::<Result<_, _>>()?;
    let file = std::fs::read(file)?;
    let patches = std::fs::read_to_string(patches)?;

    let start = Instant::now();
    let end = tokens.len() as u32;
    let vocabulary = Arc::new(
        Vocabulary::new(tokens.into_iter().chain([vec![]]), &[end]).expect("the end is a token"),
    );
    println!("vocabulary: {} tokens in {:.1?}", vocabulary.len(), start.elapsed());

    let start = Instant::now();
    let bound = Arc::new(Binder::new(Operations::default()).file("f", file).bind()?);
    println!("file: bound in {:.1?}", start.elapsed());

    let ids = (0..vocabulary.len() as u32).map(|id| (vocabulary.bytes(id).to_vec(), id));
    let ids: Ids = ids.collect();
    let mut measured = Measured::default();
    for patch in patches.split_inclusive("*** End Patch\n") {
        let matcher = Matcher::new(Arc::clone(&vocabulary), Arc::clone(&bound));
        measured.along(&ids, matcher, patch.as_bytes())?;
    }
    measured.print();
    Ok(())
}

fn from_hex(line: &str) -> Result<Vec<u8>, std::num::ParseIntError> {
    let pairs = (0..line.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&line[at..at + 2], 16)).collect()
}

#[derive(Default)]
struct Measured {
    masks: Vec<Duration>,
    accepting: Duration,
    patches: usize,
    refused: usize,
    forced: usize,
}

impl Measured {
    fn along(
        &mut self,
        ids: &Ids,
        mut matcher: Matcher,
        patch: &[u8],
    ) -> Result<(), Box<dyn Error>> {
        self.patches += 1;
        let vocabulary = Arc::clone(matcher.vocabulary());
        let mut mask = vec![0; vocabulary.mask_len()];
        let mut rest = patch;
        while !rest.is_empty() {
            self.forced += usize::from(!matcher.forced().is_empty());
            let start = Instant::now();
            matcher.allowed(&mut mask);
            self.masks.push(start.elapsed());
            let longest = (1..=rest.len().min(128)).rev();
            let token = longest.map(|len| &rest[..len]).find_map(|bytes| ids.get(bytes));
            let Some(&token) = token else { return Err("a byte is no token".into()) };
            let start = Instant::now();
            let accepted = matcher.accept(token);
            self.accepting += start.elapsed();
            if accepted.is_ok() != has(&mask, token) {
                return Err("the mask and the matcher differ".into());
            }
            if accepted.is_err() {
                self.refused += 1;
                return Ok(());
            }
            rest = &rest[vocabulary.bytes(token).len()..];
        }
        Ok(())
    }

    fn print(&mut self) {
        let count = self.masks.len();
        let sum: Duration = self.masks.iter().sum();
        self.masks.sort_unstable();
        println!("patches: {}, of which {} are not of the language", self.patches, self.refused);
        println!("masks: {count}, mean {:.1?}", sum / count as u32);
        for (name, share) in [("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)] {
            println!("{name}: {:.1?}", self.masks[(count * share / 100).min(count - 1)]);
        }
        println!("accept: mean {:.1?}", self.accepting / count as u32);
        println!("before {} of them some bytes are forced", self.forced);
    }
}
