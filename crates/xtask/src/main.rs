//! The chores of the repository: `cargo xtask grammar` writes the generated grammar files anew. The
//! other commands are for those who look at the grammars.

// It is run in the repository; the guard is for what others run.
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use patch_constrain::fit::{Fit, FitFile, FitOptions, Profile};
use patch_grammar::export::{self, Format};
use patch_grammar::{Dialect, ParseOptions, parse, recognizes};
use xtask::texts::{self, steps, values};
use xtask::{Grammar, decode, generate};

const USAGE: &str = "usage: cargo xtask COMMAND
  grammar                 writes the grammar files anew from apply_patch.pest
  sentences COUNT [SEED]  prints COUNT texts for each dialect, and our verdicts on them, one JSON
                          object a line: {\"dialect\":\"whole\",\"accepted\":true,\"text\":\"…\"}
  fit FILE FOLDER COUNT [OPERATION…]
                          writes the grammars that fit FILE to FOLDER, one for each profile and
                          notation, and prints COUNT texts for each profile, in the same form
  decoding [ANSWERS]      lets a random \"model\" write patches under the grammar, and prints what
                          the token masks cost";

fn main() -> ExitCode {
    if let Err(error) = run() {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["grammar"] => grammar(),
        ["sentences", count] => sentences(count.parse()?, 0x5EED),
        ["sentences", count, seed] => sentences(count.parse()?, seed.parse()?),
        ["fit", file, folder, count, ref operations @ ..] => {
            fit(file.as_ref(), folder.as_ref(), count.parse()?, operations)
        }
        ["decoding"] => decoding(200),
        ["decoding", answers] => decoding(answers.parse()?),
        _ => Err(USAGE.into()),
    }
}

fn grammar() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../patch-grammar/grammar");
    for dialect in Dialect::ALL {
        for format in Format::ALL.into_iter().filter(|&format| format != Format::Pest) {
            let text = generate(format, dialect)?;
            let name = export::file_name(format, dialect);
            let file = folder.join(&name);
            // An unchanged file is not written: all crates would be built again.
            if std::fs::read(&file).ok().as_deref() != Some(text.as_bytes()) {
                std::fs::write(file, &text)?;
            }
            println!("{name}: {} bytes", text.len());
        }
    }
    Ok(())
}

fn sentences(count: usize, seed: u64) -> Result<(), Box<dyn Error>> {
    for dialect in Dialect::ALL {
        for text in texts::samples(&Grammar::of(dialect)?.language(), count, seed) {
            let accepted = recognizes(dialect, &text);
            if accepted && parse(&text, &ParseOptions::default()).is_err() {
                return Err(format!("exported, but not read: {text:?}").into());
            }
            print_verdict(dialect.as_str(), accepted, &text)?;
        }
    }
    Ok(())
}

fn print_verdict(dialect: &str, accepted: bool, text: &str) -> Result<(), Box<dyn Error>> {
    let text = serde_json::to_string(text)?;
    println!("{{\"dialect\":\"{dialect}\",\"accepted\":{accepted},\"text\":{text}}}");
    Ok(())
}

/// Paths that exist, too: so many under `codex` that one of them is deleted at most.
fn listed(profile: Profile) -> Vec<String> {
    let count = if profile == Profile::Codex { 150 } else { 9 };
    let paths = (0..count).map(|nth| match nth {
        0 => "README.md".to_owned(),
        1 => "mein Brief/\u{fc} (1)".to_owned(),
        2 => "src/Other".to_owned(),
        _ => format!("lib/{}/file-{nth}.rs", nth % 4),
    });
    paths.collect()
}

fn fit(
    file: &Path,
    folder: &Path,
    count: usize,
    operations: &[&str],
) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let default = FitOptions::default();
    let operations = match operations {
        [] => default.operations,
        some => some.iter().map(|name| name.parse()).collect::<Result<_, _>>()?,
    };
    for profile in Profile::ALL {
        let options =
            FitOptions { profile, operations: operations.clone(), ..FitOptions::default() };
        let listed = listed(profile);
        let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
        let fit = Fit::new(&[FitFile::new("src/file", &bytes)], &listed, &options)?;
        for format in [Format::Lark, Format::Ebnf, Format::Gbnf] {
            match fit.write(format) {
                Ok(text) => std::fs::write(folder.join(format!("fit_{profile}.{format}")), text)?,
                Err(error) => eprintln!("{profile} {format}: {error}"),
            }
        }
        for text in texts::fitted(&fit, 0x5EED).take(count) {
            print_verdict(profile.as_str(), fit.recognizes(&text), &text)?;
        }
    }
    Ok(())
}

fn decoding(answers: usize) -> Result<(), Box<dyn Error>> {
    let env = decode::vocabulary();
    println!("a vocabulary of {} tokens", decode::VOCABULARY);
    for dialect in Dialect::ALL {
        let begun = Instant::now();
        let mut model = decode::Model::new(&env, export::text(Format::Lark, dialect));
        let compiled = begun.elapsed();
        let mut sections = 0;
        let mut hunks = 0;
        let mut bytes = 0;
        for steps in values(steps(400), 1).take(answers) {
            // NUL is a character like any other to the engines, and refused by the parser.
            let text = String::from_utf8(model.write(&steps))?.replace('\0', "x");
            let patch = parse(&text, &ParseOptions::default())?;
            sections += patch.sections().len();
            hunks += patch.hunk_count();
            bytes += text.len();
        }
        model.costs.sort_unstable();
        let at = |share: f64| model.costs[((model.costs.len() - 1) as f64 * share) as usize];
        println!(
            "{:5}: {answers} answers, all of them patches: {} tokens, {bytes} bytes, {sections} \
             sections, {hunks} hunks",
            dialect.as_str(),
            model.tokens,
        );
        println!(
            "       grammar compiled in {compiled:.1?}; a mask takes {:.1?} (median), {:.1?} (99 \
             %), {:.1?} (worst)",
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
    Ok(())
}
