//! A patch over a small workspace: never panics, all or nothing, nothing outside, and undo brings
//! all back.
#![no_main]

use std::cell::RefCell;
use std::path::Path;

use apply_patch_fuzz::{Bench, LINES, PATHS, SECRET, look};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::commit::{CommitOptions, Durability, Error};
use patch_engine::{ApplyOptions, Options, Profile};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    codex: bool,
    overwrite: bool,
    parents: bool,
    sections: Vec<Section<'a>>,
}

#[derive(Debug, Arbitrary)]
enum Section<'a> {
    Add(Name<'a>, Vec<u8>),
    Delete(Name<'a>),
    Move(Name<'a>, Name<'a>),
    Update(Name<'a>, Option<Name<'a>>, Vec<(u8, u8)>),
    Free(&'a str),
}

#[derive(Debug, Arbitrary)]
enum Name<'a> {
    Known(u8),
    Also(u8),
    Free(&'a str),
}

impl Name<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Known(at) | Self::Also(at) => PATHS[usize::from(*at) % PATHS.len()],
            Self::Free(text) => text,
        }
    }
}

fn line(at: u8) -> &'static str {
    LINES[usize::from(at) % LINES.len()]
}

fn write(input: &Input<'_>) -> String {
    let mut text = String::from("*** Begin Patch\n");
    for section in input.sections.iter().take(8) {
        match section {
            Section::Add(path, lines) => {
                text += &format!("*** Add File: {}\n", path.text());
                lines.iter().take(8).for_each(|at| text += &format!("+{}\n", line(*at)));
            }
            Section::Delete(path) => text += &format!("*** Delete File: {}\n", path.text()),
            Section::Move(from, to) => {
                text += &format!("*** Move File: {} -> {}\n", from.text(), to.text())
            }
            Section::Update(path, to, lines) => {
                text += &format!("*** Update File: {}\n", path.text());
                if let Some(to) = to {
                    text += &format!("*** Move to: {}\n", to.text());
                }
                if !lines.is_empty() {
                    text += "@@\n";
                }
                for (sign, at) in lines.iter().take(12) {
                    match sign % 8 {
                        0..=2 => text += &format!(" {}\n", line(*at)),
                        3 | 4 => text += &format!("-{}\n", line(*at)),
                        5 | 6 => text += &format!("+{}\n", line(*at)),
                        _ => text += &format!("@@ {}\n", line(*at)),
                    }
                }
            }
            Section::Free(free) => text += &format!("{free}\n"),
        }
    }
    text + "*** End Patch\n"
}

thread_local! {
    static BENCH: RefCell<Bench> = RefCell::new(Bench::new());
}

fuzz_target!(|input: Input<'_>| {
    let text = write(&input);
    // What the patch says itself is not a secret.
    if text.contains(SECRET) {
        return;
    }
    let mut options = Options::new(if input.codex { Profile::Codex } else { Profile::Strict });
    options.overwrite |= input.overwrite;
    options.create_parents |= input.parents;
    let Ok(patch) = patch_engine::parse(&text, &options.parse) else { return };
    BENCH.with_borrow_mut(|bench| {
        let before = bench.fresh();
        let workspace = bench.open();
        let planned = patch_engine::plan(workspace.root(), &patch, &options).is_ok();
        let mut settings = ApplyOptions::new(options.clone());
        settings.commit =
            CommitOptions { durability: Durability::None, ..CommitOptions::default() };
        let applied = workspace.apply(&patch, &settings, &mut ());
        bench.check_outside();
        let after = look(&bench.root());
        match applied {
            Err(failed) => {
                let error = failed.error;
                assert!(
                    !matches!(&error, Error::Commit(error) if !error.is_rolled_back()),
                    "{error}: {text}"
                );
                assert!(!planned, "it was planned and not committed: {error}: {text}");
                assert!(after == before, "{error}, and something changed: {text}");
            }
            Ok(reports) => {
                assert!(planned, "it was not planned and committed: {text}");
                if reports.iter().all(|report| report.transaction.is_none()) {
                    assert!(
                        after == before,
                        "nothing was committed, and something changed: {text}"
                    );
                    return;
                }
                bench.changed();
                workspace.root().forget();
                let plan = &mut |_: &_| workspace.plan_undo_last();
                match workspace.execute(&settings.commit, &mut (), &mut (), plan) {
                    Ok(_) => {}
                    // A file that became a directory in one patch stays one: docs/safety.md says
                    // so.
                    Err(Error::Drifted { drifts, .. })
                        if drifts.iter().all(|drift| {
                            bench.root().join(&drift.path).is_dir()
                                && before[Path::new(&drift.path)].0 == 'f'
                        }) =>
                    {
                        return;
                    }
                    Err(error) => panic!("no undo: {error}: {text}"),
                }
                assert!(look(&bench.root()) == before, "undo left something else: {text}");
                bench.check_outside();
            }
        }
    });
});
