//! Runs tests: all of them once, to see which mutants each reaches, and then those that reach a
//! mutant with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::compile::Test;
use crate::list::Mutant;

/// A test that passes, how long it took, and the mutants that it reaches.
pub struct Passed {
    test: Test,
    took: Duration,
    reaches: BTreeSet<usize>,
}

/// How many processes run at once.
fn at_once() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Does something with each, as many at once as there are processors; the results in the order of
/// the things.
fn each<T: Sync, R: Send>(things: &[T], act: impl Fn(usize, &T) -> Option<R> + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..at_once() {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(thing) = things.get(at) else { return };
                    if let Some(result) = act(at, thing) {
                        results.lock().expect("no thread panics").insert(at, result);
                    }
                }
            });
        }
    });
    results.into_inner().expect("no thread panics").into_values().collect()
}

/// Tests that look at the sources, or at what the rest of the machine does: they fail in a copy
/// with switches, or in a box.
const LEFT_OUT: [&str; 6] = [
    "docs::",
    "imports::",
    "obeyed",
    "serve::a_call_is_answered_where_no_thread",
    "signals::",
    "unsafe_code::",
];

/// Runs all tests without a mutant: those that pass, and which mutants those reach that fail even
/// at a second try. Of such mutants nothing can be said.
pub fn passed(tests: Vec<Test>, scratch: &Path) -> (Vec<Passed>, BTreeSet<usize>) {
    let tests: Vec<_> = tests
        .into_iter()
        .filter(|test| !LEFT_OUT.iter().any(|begin| test.name.starts_with(begin)))
        .collect();
    let ran = each(&tests, |at, test| {
        let list = scratch.join(format!("reached-{at}"));
        // Also what a test does as another user is to be told.
        fs::write(&list, "")
            .and_then(|()| fs::set_permissions(&list, Permissions::from_mode(0o666)))
            .expect("a list");
        let attempt = || {
            let from = Instant::now();
            let passes = run(
                test,
                ("MUTANTS_REACHED", &list.to_string_lossy()),
                Duration::from_secs(300),
                scratch,
            );
            (passes, from.elapsed())
        };
        let (passes, took) = match attempt() {
            (false, _) => attempt(),
            passed => passed,
        };
        let reached = fs::read_to_string(&list).unwrap_or_default();
        let _ = fs::remove_file(&list);
        Some((
            passes,
            took,
            reached.lines().filter_map(|line| line.parse().ok()).collect::<BTreeSet<usize>>(),
        ))
    });
    let (mut passed, mut unsure) = (Vec::new(), BTreeSet::new());
    for (test, (passes, took, reaches)) in tests.into_iter().zip(ran) {
        if passes {
            passed.push(Passed { test, took, reaches });
        } else {
            println!("fails without a mutant: {}", test.name);
            unsure.extend(reaches);
        }
    }
    (passed, unsure)
}

/// What came of a mutant.
pub struct Tried<'m> {
    pub mutant: &'m Mutant,
    /// How many tests reach it.
    pub reached_by: usize,
    /// The name of a test that failed, if one did.
    pub caught_by: Option<String>,
}

/// How long tests may take for a mutant that is known to survive: whether it still does need not be
/// certain.
const KNOWN: Duration = Duration::from_secs(15);

/// Tries mutants until the time is over, each with the tests that reach it, until one fails.
pub fn tried<'m>(
    mutants: &[&'m Mutant],
    is_known: impl Fn(&Mutant) -> bool + Sync,
    tests: &[Passed],
    until: Option<Instant>,
    scratch: &Path,
) -> Vec<Tried<'m>> {
    // What caught mutants of a file catches the next ones.
    let caught: Mutex<BTreeMap<&str, BTreeMap<usize, u32>>> = Mutex::default();
    each(mutants, |_, mutant| {
        if until.is_some_and(|until| Instant::now() >= until) {
            return None;
        }
        let mut reaching: Vec<_> =
            (0..tests.len()).filter(|&at| tests[at].reaches.contains(&mutant.id)).collect();
        let before = caught
            .lock()
            .expect("no thread panics")
            .get(&*mutant.file)
            .cloned()
            .unwrap_or_default();
        reaching.sort_by_cached_key(|&at| {
            let test = &tests[at];
            // Quick ones first, and of those the ones that look at little else.
            let cost = (test.took.as_micros() + 20_000) * (300 + test.reaches.len() as u128);
            (
                std::cmp::Reverse(
                    before.get(&at).map_or(0, |times| u128::from(*times) * 1_000_000_000 / cost),
                ),
                cost,
            )
        });
        if is_known(mutant) {
            let mut all = Duration::ZERO;
            reaching.retain(|&at| {
                all += tests[at].took;
                all <= KNOWN
            });
        }
        let fails = |&at: &usize| {
            let test = &tests[at];
            !run(
                &test.test,
                ("MUTANT", &mutant.id.to_string()),
                6 * test.took + Duration::from_secs(4),
                scratch,
            )
        };
        // What depends on when threads run may be noticed another time.
        let attempts = if is_known(mutant) { 1 } else { 3 };
        let by = (0..attempts).find_map(|_| reaching.iter().copied().find(fails));
        if let Some(at) = by {
            *caught
                .lock()
                .expect("no thread panics")
                .entry(&mutant.file)
                .or_default()
                .entry(at)
                .or_default() += 1;
        }
        Some(Tried {
            mutant,
            reached_by: reaching.len(),
            caught_by: by.map(|at| tests[at].test.name.clone()),
        })
    })
}

/// Runs one test in a process of its own, as `boxed` in the scratch folder does, with a folder for
/// temporary files that is removed after it, and tells whether it passes. One that hangs fails.
fn run(test: &Test, (name, value): (&str, &str), patience: Duration, scratch: &Path) -> bool {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let temporary: PathBuf = scratch.join(format!("tmp/{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir_all(&temporary).expect("a folder for temporary files");
    let mut command = Command::new(scratch.join("boxed"));
    command
        .arg(&test.program)
        .args(["--exact", &test.name, "--test-threads=1"])
        .current_dir(&test.dir);
    command
        .env_remove("XDG_STATE_HOME")
        .env("RUST_BACKTRACE", "0")
        .env("HOME", &temporary)
        .env("TMPDIR", &temporary)
        .env(name, value);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().expect("a test starts");
    let from = Instant::now();
    let passes = loop {
        match child.try_wait().expect("a child") {
            Some(status) => break status.success(),
            None if from.elapsed() >= patience => break false,
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
    let _ = fs::remove_dir_all(&temporary);
    passes
}
