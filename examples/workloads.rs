//! Writes the workloads that speed is measured on.
//!
//! ```text
//! cargo run --release -p apply-patch --example workloads -- DIR [--scale N] [NAME…]
//! ```
//!
//! For each name (W1 … W8, W4f; without one: all) `DIR/NAME/` gets `before/`, `after/`, `patch.txt`
//! (the envelope) and `patch.diff` (the same as a unified diff).
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "it makes the files that are measured"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(dir) = args.next() else {
        eprintln!("usage: workloads DIR [--scale N] [NAME…]");
        return ExitCode::from(2);
    };
    let mut scale = 1;
    let mut names = Vec::new();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--scale" => scale = args.next().and_then(|number| number.parse().ok()).unwrap_or(1),
            name if workload::NAMES.contains(&name) => names.push(arg),
            _ => {
                eprintln!("no workload {arg}; there are {}", workload::NAMES.join(" "));
                return ExitCode::from(2);
            }
        }
    }
    if names.is_empty() {
        names = workload::NAMES.map(String::from).to_vec();
    }
    for name in names {
        if let Err(error) = write(&PathBuf::from(&dir).join(&name), &workload::make(&name, scale)) {
            eprintln!("{dir}/{name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn write(dir: &Path, workload: &workload::Workload) -> std::io::Result<()> {
    fs::create_dir_all(dir.join("before"))?;
    fs::create_dir_all(dir.join("after"))?;
    let mut made = BTreeSet::new();
    for file in &workload.files {
        if let Some(lines) = &file.before {
            tree_file(&dir.join("before").join(&file.path), lines, &mut made)?;
        }
        if let Some(lines) = &file.after {
            let path = file.to_path.as_ref().unwrap_or(&file.path);
            tree_file(&dir.join("after").join(path), lines, &mut made)?;
        }
    }
    fs::write(dir.join("patch.txt"), workload.envelope())?;
    fs::write(dir.join("patch.diff"), workload.unified())
}

fn tree_file(path: &Path, lines: &[String], made: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    let dir = path.parent().expect("it is in a tree");
    if made.insert(dir.to_owned()) {
        fs::create_dir_all(dir)?;
    }
    let mut file = BufWriter::new(fs::File::create(path)?);
    for line in lines {
        file.write_all(line.as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.flush()
}
