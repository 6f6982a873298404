//! What each stage costs: parse, locate, plan, commit, and the whole road. `cargo bench -p
//! benches`.
//!
//! Times are for comparing two versions on one machine; counts of instructions are in `ci/growth`,
//! and whole processes beside other appliers in `compare.py`.
#![allow(clippy::disallowed_methods, missing_docs, reason = "it makes the files that are measured")]

use std::fs;
use std::path::Path;

use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main,
};
use patch_engine::commit::{Durability, Workspace};
use patch_engine::{ApplyOptions, FinalNewline, MemoryTree, Options, Profile, apply_in_memory};
use tempfile::TempDir;

/// Writes the files before the patch.
fn tree(workload: &workload::Workload) -> TempDir {
    let dir = tempfile::tempdir().expect("a scratch directory");
    for file in &workload.files {
        if let Some(lines) = &file.before {
            let path = dir.path().join(&file.path);
            fs::create_dir_all(path.parent().expect("it is in the directory"))
                .expect("a directory");
            fs::write(path, lines.join("\n") + "\n").expect("a file");
        }
    }
    dir
}

fn open(dir: &Path) -> Workspace {
    Workspace::open(dir, patch_engine::policy()).expect("it was just made")
}

fn group<'c>(criterion: &'c mut Criterion, name: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    group
}

fn parse(criterion: &mut Criterion) {
    let mut group = group(criterion, "parse");
    let options = Options::new(Profile::Codex);
    for name in ["W2", "W5"] {
        let text = workload::make(name, 1).envelope();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                patch_engine::parse(&text, &options.parse)
                    .expect("it is well formed")
                    .sections()
                    .len()
            });
        });
    }
    group.finish();
}

/// One file and the hunks of its update.
struct Case {
    name: &'static str,
    file: String,
    patch: String,
    applies: bool,
}

fn locate_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, workload) in [("exact", "W3"), ("alike", "W4"), ("blanks", "W4f")] {
        let workload = workload::make(workload, 1);
        let file = workload.files[0].before.as_ref().expect("an update").join("\n") + "\n";
        cases.push(Case { name, file, patch: workload.envelope(), applies: true });
    }
    let line =
        |index: usize| format!("    value_{index:06} = \u{201c}compute\u{201d}(first, second)\n");
    let file: String = (0..50_000).map(line).collect();
    let update =
        |body: &str| format!("*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch\n");
    let hunk = |ending: &str, quote: [&str; 2]| {
        let asked = line(25_000).replace('\u{201c}', quote[0]).replace('\u{201d}', quote[1]);
        update(&format!("-{}{ending}\n+    changed\n", asked.trim_end_matches('\n')))
    };
    let typographic = ["\u{201c}", "\u{201d}"];
    cases.push(Case {
        name: "trailing",
        file: file.clone(),
        patch: hunk("  ", typographic),
        applies: true,
    });
    cases.push(Case {
        name: "unicode",
        file: file.clone(),
        patch: hunk("", ["\"", "\""]),
        applies: true,
    });
    let equal = "same\n".repeat(50_000);
    let ambiguous = update(&format!("{}-same\n+other\n", " same\n".repeat(1999)));
    cases.push(Case {
        name: "adversarial: ambiguous",
        file: equal.clone(),
        patch: ambiguous,
        applies: false,
    });
    let nowhere = update(&format!("{}-none\n+other\n", " same\n".repeat(1999)));
    cases.push(Case { name: "adversarial: nowhere", file: equal, patch: nowhere, applies: false });
    cases
}

fn locate(criterion: &mut Criterion) {
    let mut group = group(criterion, "locate");
    for case in locate_cases() {
        group.throughput(Throughput::Bytes(case.file.len() as u64));
        for (suffix, profile) in [("strict", Profile::Strict), ("codex", Profile::Codex)] {
            let options = Options::new(profile);
            let patch =
                patch_engine::parse(&case.patch, &options.parse).expect("it is well formed");
            let hunks = patch.sections()[0].hunks();
            let exact_only =
                matches!(case.name, "blanks" | "trailing" | "unicode") && suffix == "strict";
            group.bench_function(format!("{}, {suffix}", case.name), |bencher| {
                bencher.iter(|| {
                    let edit = patch_engine::edit(
                        case.file.as_bytes(),
                        hunks,
                        &options.placement,
                        FinalNewline::Keep,
                    );
                    assert_eq!(edit.is_ok(), case.applies && !exact_only, "{}", case.name);
                });
            });
        }
    }
    group.finish();
}

fn plan(criterion: &mut Criterion) {
    let mut group = group(criterion, "plan");
    for name in ["W1", "W2", "W3"] {
        let workload = workload::make(name, 1);
        let dir = tree(&workload);
        let text = workload.envelope();
        let options = Options::new(Profile::Codex);
        let patch = patch_engine::parse(&text, &options.parse).expect("it is well formed");
        let workspace = open(dir.path());
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                patch_engine::plan(workspace.root(), &patch, &options)
                    .expect("it applies")
                    .changes()
                    .len()
            });
        });
    }
    group.finish();
}

/// An edit of three lines in a file of 200, the whole road in memory; and what its stages take.
fn in_memory(criterion: &mut Criterion) {
    let mut group = group(criterion, "in memory");
    let text: String =
        (0..200).map(|line| format!("    let value_{line} = compute(first, {line});\n")).collect();
    let line = |line: usize, sign: char, name: &str| {
        format!("{sign}    let value_{line} = {name}(first, {line});\n")
    };
    let mut patch = String::from("*** Begin Patch\n*** Update File: src/lib.rs\n@@\n");
    patch += &line(99, ' ', "compute");
    (100..103).for_each(|at| patch += &line(at, '-', "compute"));
    (100..103).for_each(|at| patch += &line(at, '+', "computed"));
    patch += &(line(103, ' ', "compute") + "*** End Patch\n");
    let tree: MemoryTree =
        [("src/lib.rs", text.clone()), ("README.md", "read me\n".to_owned())].into_iter().collect();
    let options = Options::default();
    group.throughput(Throughput::Elements(1));
    group.bench_function("apply", |bencher| {
        bencher.iter(|| apply_in_memory(&tree, &patch, &options).expect("it applies").files.len());
    });
    group.bench_function("parse alone", |bencher| {
        bencher.iter(|| {
            patch_engine::parse(&patch, &options.parse).expect("it is well formed").sections().len()
        });
    });
    let parsed = patch_engine::parse(&patch, &options.parse).expect("it is well formed");
    group.bench_function("edit alone", |bencher| {
        bencher.iter(|| {
            let hunks = parsed.sections()[0].hunks();
            patch_engine::edit(text.as_bytes(), hunks, &options.placement, FinalNewline::Keep)
                .is_ok()
        });
    });
    group.bench_function("two hashes alone", |bencher| {
        bencher.iter(|| {
            (patch_engine::Sha256::of(text.as_bytes()), patch_engine::Sha256::of(text.as_bytes()))
        });
    });
    group.finish();
}

fn apply(criterion: &mut Criterion) {
    let mut group = group(criterion, "apply");
    for name in ["W1", "W2", "W5", "W7"] {
        let workload = workload::make(name, 1);
        let text = workload.envelope();
        for durability in [Durability::None, Durability::Process, Durability::Full] {
            let mut settings = ApplyOptions::new(Options::new(Profile::Codex));
            settings.commit.durability = durability;
            let patch =
                patch_engine::parse(&text, &settings.options.parse).expect("it is well formed");
            group.bench_function(format!("{name}, {durability:?}"), |bencher| {
                bencher.iter_batched(
                    || tree(&workload),
                    |dir| {
                        let workspace = open(dir.path());
                        let applied = workspace.apply(&patch, &settings, &mut ());
                        assert!(applied.is_ok());
                        dir
                    },
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, parse, locate, plan, in_memory, apply);
criterion_main!(benches);
