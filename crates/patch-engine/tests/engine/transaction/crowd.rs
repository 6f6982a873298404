//! Several processes patch the same files, and some of them are killed.
//!
//! Each worker is a process of its own that takes the whole road: parse, lock, plan, commit. What
//! it changes is counted in the files themselves: a worker's own line in each of them, a line that
//! all of them share, a file that it moves to and fro, and a ledger of what each of its patches
//! did. A lost edit, half a patch or a patch that happened twice makes these disagree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use patch_engine::commit::{Durability, KeyPlace, Workspace};
use patch_engine::{ApplyOptions, Options, parse};

use super::support::*;
use testutils::share::whole;
use testutils::stop::Stop;

const FILES: [&str; 3] = ["one", "two", "d/three"];
const WORKERS: usize = 8;
/// Between the counters, so that the files have more than one page.
const PADDING: usize = 60;

/// A file of counters: one line for all, one for each worker, and an end that shows that it is
/// whole.
fn counters(name: &str) -> String {
    let mut text = format!("counters of {name}\ntotal: 0\n");
    for worker in 0..WORKERS {
        for line in 0..PADDING {
            writeln!(text, "a line between {worker}.{line} that nobody changes").unwrap();
        }
        writeln!(text, "worker {worker}: 0").unwrap();
    }
    text + "end\n"
}

/// Reads a file of counters; fails when it is not whole.
fn read_counters(name: &str, text: &str) -> Result<BTreeMap<String, usize>, String> {
    let fail = |what: &str| Err(format!("{name}: {what}: {text:?}"));
    if !text.starts_with(&format!("counters of {name}\n")) || !text.ends_with("\nend\n") {
        return fail("torn");
    }
    let mut counters = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains(": ")) {
        let (key, value) = line.split_once(": ").unwrap();
        match value.parse() {
            Ok(value) => counters.insert(key.to_owned(), value),
            Err(_) => return fail("no number"),
        };
    }
    let lines = text.lines().count();
    if counters.len() != WORKERS + 1 || lines != 3 + WORKERS * (PADDING + 1) {
        return fail("lines are missing");
    }
    Ok(counters)
}

fn ledger(worker: usize) -> String {
    format!("ledger/{worker}")
}

fn own(worker: usize, moved: bool) -> String {
    format!("own/{worker}.{}", if moved { "there" } else { "here" })
}

/// What one patch does, as the ledger tells it.
struct Entry<'l> {
    files: Vec<&'l str>,
    shared: bool,
    moves: bool,
}

fn read_entry(line: &str) -> Entry<'_> {
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    Entry {
        files: words.iter().copied().filter(|word| FILES.contains(word)).collect(),
        shared: words.contains(&"shared"),
        moves: words.contains(&"moves"),
    }
}

fn entries(ledger: &str) -> Vec<Entry<'_>> {
    ledger.lines().filter(|line| line.starts_with("patch ")).map(read_entry).collect()
}

/// The patch after those of the ledger, made for the files as they are now.
fn next_patch(tree: &Path, worker: usize, random: &mut Rng) -> Option<String> {
    let read = |name: &str| fs::read_to_string(tree.join(name)).unwrap();
    let ledger_text = read(&ledger(worker));
    let done = entries(&ledger_text);
    let shared = random.usize(..4) == 0;
    let moves = random.usize(..3) == 0;
    let first = random.usize(..FILES.len());
    let count = 1 + random.usize(..FILES.len());
    let mut what = format!("patch {}", done.len() + 1);
    let mut patch = String::from("*** Begin Patch\n");
    for step in 0..count {
        let name = FILES[(first + step) % FILES.len()];
        let now = read_counters(name, &read(name)).unwrap();
        writeln!(patch, "*** Update File: {name}").unwrap();
        if shared {
            let total = now["total"];
            writeln!(patch, "@@\n-total: {total}\n+total: {}", total + 1).unwrap();
        }
        // No other process changes this line: what is there is what this worker's patches made of
        // it.
        let mine = done.iter().filter(|entry| entry.files.contains(&name)).count();
        writeln!(patch, "@@\n-worker {worker}: {mine}\n+worker {worker}: {}", mine + 1).unwrap();
        write!(what, " {name}").unwrap();
    }
    if moves {
        let moved = done.iter().filter(|entry| entry.moves).count() % 2 == 1;
        let (from, to) = (own(worker, moved), own(worker, !moved));
        writeln!(patch, "*** Update File: {from}\n*** Move to: {to}").unwrap();
        write!(what, " moves").unwrap();
    }
    if shared {
        write!(what, " shared").unwrap();
    }
    writeln!(
        patch,
        "*** Update File: {}\n@@\n-next\n+{what}\n+next\n*** End Patch",
        ledger(worker)
    )
    .unwrap();
    (done.len() < number("PATCHES")).then_some(patch)
}

fn number(name: &str) -> usize {
    std::env::var(name).unwrap().parse().unwrap()
}

/// One process: patches until its ledger has enough entries, and says so after each.
#[test]
#[ignore = "run by the test of many processes"]
fn worker() {
    let (Some(tree), Some(key)) = (std::env::var_os("TREE"), std::env::var_os("KEY")) else {
        return;
    };
    let tree = Path::new(&tree);
    let worker = number("WORKER");
    let mut random = Rng::with_seed(number("SEED") as u64);
    let mut settings = ApplyOptions::new(Options::default());
    settings.commit.lock_timeout = Duration::from_secs(60);
    settings.commit.retention.max_count = usize::MAX;
    let mut recovering = true;
    while let Some(text) = next_patch(tree, worker, &mut random) {
        settings.commit.durability =
            if random.bool() { Durability::Full } else { Durability::Process };
        let patch = parse(&text, &settings.options.parse).unwrap();
        let workspace = Workspace::open(tree, patch_engine::policy())
            .unwrap()
            .with_key_place(KeyPlace::Directory(key.clone().into()));
        match workspace.apply(&patch, &settings, &mut ()).map_err(|failed| failed.error) {
            Ok(reports) => println!("\ndone {}", reports[0].recovered.len()),
            // The patch was made before the one that was cut off had happened, or someone else came
            // first with the line of all.
            Err(patch_engine::commit::Error::Rejected(_))
                if recovering || text.contains("-total: ") => {}
            Err(error) => panic!("{:?}: {error}\n{text}", error.kind()),
        }
        recovering = false;
    }
}

/// How often a process was killed, and what it found afterwards.
#[derive(Default)]
struct Seen {
    acknowledged: usize,
    kills: usize,
    recoveries: usize,
}

/// Runs one worker to its end, killing and restarting it on the way.
fn supervise(
    tree: &Tree,
    key: &Path,
    worker: usize,
    patches: usize,
    kills: usize,
    seed: u64,
) -> Seen {
    let mut random = Rng::with_seed(seed);
    let mut seen = Seen::default();
    loop {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "transaction::crowd::worker",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env("TREE", tree.dir.path())
            .env("KEY", key)
            .env("WORKER", worker.to_string())
            .env("PATCHES", patches.to_string())
            .env("SEED", (seed * 1000 + seen.kills as u64).to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // After so many patches and so many microseconds: anywhere in the next one.
        let mut fuse = (seen.kills < kills).then(|| (random.usize(..4), random.u64(..6000)));
        let mut killed = false;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if let Some(recovered) = line.strip_prefix("done ") {
                seen.acknowledged += 1;
                seen.recoveries += recovered.parse::<usize>().unwrap();
            }
            let begun = line.starts_with("done ") || line.starts_with("running ");
            if let (true, Some((left, micros))) = (begun, fuse) {
                if left == 0 {
                    std::thread::sleep(Duration::from_micros(micros));
                    child.kill().unwrap();
                    killed = true;
                }
                fuse = left.checked_sub(1).map(|left| (left, micros));
            }
        }
        let status = child.wait().unwrap();
        if status.signal() == Some(9) && killed {
            seen.kills += 1;
            continue;
        }
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(status.success(), "worker {worker}: {status}\n{errors}");
        return seen;
    }
}

/// Opens the files again and again: none may ever be missing or torn, and nothing else may be
/// there.
fn read_on(tree: &Tree, stop: &AtomicBool) -> usize {
    let expected = expected_names();
    let mut last = BTreeMap::new();
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) {
        for name in FILES {
            let text = fs::read_to_string(tree.path(name))
                .unwrap_or_else(|error| panic!("{name} is missing: {error}"));
            let now = read_counters(name, &text).unwrap();
            let before = last.insert(name, now.clone()).unwrap_or_default();
            assert!(
                before.iter().all(|(key, value)| now[key] >= *value),
                "{name} went back: {before:?}, {now:?}"
            );
        }
        for entry in fs::read_dir(tree.dir.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(
                name == ".apply-patch"
                    || expected.iter().any(|path| path.split('/').next() == Some(&name)),
                "{name}"
            );
        }
        rounds += 1;
    }
    rounds
}

fn expected_names() -> BTreeSet<String> {
    let mut names: BTreeSet<String> = FILES.iter().map(ToString::to_string).collect();
    names.extend((0..WORKERS).map(ledger));
    names.extend(["d", "own", "ledger"].map(str::to_owned));
    names
}

/// Everything at the end agrees with everything else.
fn check(tree: &Tree, acknowledged: &[usize], kills: &[usize], patches: usize) {
    let running = acknowledged.len();
    let text: BTreeMap<&str, String> = FILES.iter().map(|name| (*name, tree.read(name))).collect();
    let now: BTreeMap<&str, _> =
        text.iter().map(|(name, text)| (*name, read_counters(name, text).unwrap())).collect();
    let mut totals: BTreeMap<&str, usize> = FILES.iter().map(|name| (*name, 0)).collect();
    let mut names = expected_names();
    let ledgers: Vec<String> = (0..WORKERS).map(|worker| tree.read(&ledger(worker))).collect();
    for (worker, ledger) in ledgers.iter().enumerate() {
        let done = entries(ledger);
        let (acknowledged, kills) =
            acknowledged.get(worker).map_or((0, 0), |&acks| (acks, kills[worker]));
        assert_eq!(done.len(), if worker < running { patches } else { 0 }, "worker {worker}");
        // A patch that was cut off may have happened, and nobody was told; one that was told has.
        assert!(
            (acknowledged..=acknowledged + kills).contains(&done.len()),
            "worker {worker}: {acknowledged}, {kills}"
        );
        for name in FILES {
            let of_it = done.iter().filter(|entry| entry.files.contains(&name));
            assert_eq!(
                of_it.clone().count(),
                now[name][&format!("worker {worker}")],
                "worker {worker} in {name}"
            );
            *totals.get_mut(name).unwrap() += of_it.filter(|entry| entry.shared).count();
        }
        names.insert(own(worker, done.iter().filter(|entry| entry.moves).count() % 2 == 1));
    }
    for name in FILES {
        assert_eq!(now[name]["total"], totals[name], "the line of all in {name}");
    }
    let snapshot = tree.snapshot();
    assert_eq!(
        snapshot.keys().cloned().collect::<BTreeSet<_>>(),
        names,
        "no file too many, none missing"
    );
    check_history(tree, ledgers.iter().map(|ledger| entries(ledger).len()).sum());
}

/// The journals of all patches are one chain for each path, which ends at the file on the disk; and
/// the trash holds what they displaced.
fn check_history(tree: &Tree, patches: usize) {
    let state = fs::read_dir(tree.path(".apply-patch")).unwrap();
    let state: BTreeSet<String> =
        state.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let known = [".gitignore", "applied", "index", "lock", "pending", "trash"].map(str::to_owned);
    assert!(state.is_subset(&known.into()), "{state:?}");
    let workspace = tree.open();
    let mut log = workspace.log().unwrap();
    log.reverse();
    assert_eq!(log.len(), patches, "every patch is in the log once");
    let mut last: BTreeMap<&str, Option<fs_guard::Sha256>> = BTreeMap::new();
    for entry in &log {
        assert!(!entry.aborted);
        for record in &entry.journal.records {
            let before = record.before.as_ref().map(|state| state.sha256);
            if let Some(known) =
                last.insert(&record.path, record.after.as_ref().map(|state| state.sha256))
            {
                assert_eq!(known, before, "{} in {}", record.path, entry.journal.header.id);
            }
        }
    }
    for (path, hash) in last {
        let on_disk = fs::read(tree.path(path)).ok().map(|bytes| fs_guard::Sha256::of(&bytes));
        assert_eq!(on_disk, hash, "{path}");
    }
    let (kept, refused) = workspace.store().unwrap().unwrap().entries().unwrap();
    assert!(refused.is_empty(), "{refused:?}");
    let displaced = log
        .iter()
        .flat_map(|entry| &entry.journal.records)
        .filter(|record| record.before.is_some());
    assert_eq!(kept.len(), displaced.count());
    for entry in kept {
        let bytes = fs::read(tree.path(entry.stored_path())).unwrap();
        assert_eq!(fs_guard::Sha256::of(&bytes), entry.sha256, "{}", entry.stored_path());
    }
    // And nothing but that.
    for folder in fs::read_dir(tree.path(".apply-patch/trash")).unwrap() {
        let folder = folder.unwrap();
        let id = folder.file_name().into_string().unwrap();
        let journal =
            &log.iter().find(|entry| entry.journal.header.id.to_string() == id).expect(&id).journal;
        let slots = journal
            .records
            .iter()
            .filter(|record| record.before.is_some())
            .map(|record| record.slot.to_string());
        let expected: BTreeSet<String> = slots.chain(["journal".to_owned()]).collect();
        let there: BTreeSet<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(there, expected, "{id}");
    }
}

fn crowd(workers: usize, patches: usize, kills: usize, seed: u64) {
    let tree = Tree::new(&[]);
    for name in FILES {
        tree.write(name, &counters(name));
    }
    for worker in 0..WORKERS {
        tree.write(&ledger(worker), "next\n");
        tree.write(&own(worker, false), &format!("of worker {worker}\n"));
    }
    let key = tree.key_dir();
    let stop = AtomicBool::new(false);
    let rounds = AtomicUsize::new(0);
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let (tree, key, stop, rounds) = (&tree, key.as_path(), &stop, &rounds);
        let stopping = Stop(stop);
        let reader = scope.spawn(move || rounds.store(read_on(tree, stop), Ordering::Relaxed));
        let running: Vec<_> = (0..workers)
            .map(|worker| {
                scope.spawn(move || {
                    supervise(tree, key, worker, patches, kills, seed * 100 + worker as u64)
                })
            })
            .collect();
        let seen: Vec<_> = running.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        drop(stopping);
        reader.join().unwrap();
        seen.into_iter()
            .map(|seen| seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let last = tree.open();
    let locked = lock(&last);
    let left = locked.recovered().len();
    drop(locked);
    assert_eq!(tree.pending(), Vec::<String>::new());
    let acknowledged: Vec<usize> = seen.iter().map(|seen| seen.acknowledged).collect();
    let killed: Vec<usize> = seen.iter().map(|seen| seen.kills).collect();
    check(&tree, &acknowledged, &killed, patches);
    assert!(killed.iter().sum::<usize>() >= workers, "the kills missed: {killed:?}");
    let sum = |of: fn(&Seen) -> usize| seen.iter().map(of).sum::<usize>();
    eprintln!(
        "{workers} processes: {} patches acknowledged, {} kills, {} recoveries, {} reader's rounds",
        sum(|seen| seen.acknowledged),
        sum(|seen| seen.kills),
        sum(|seen| seen.recoveries) + left,
        rounds.load(Ordering::Relaxed),
    );
}

/// A minute with `APPLY_PATCH_LONG_TESTS=1`.
fn crowds(workers: usize, patches: usize) {
    let start = Instant::now();
    let (patches, kills) = if whole() { (2 * patches, 12) } else { (patches, 6) };
    crowd(workers, patches, kills, workers as u64);
    if whole() {
        let mut seed = workers as u64;
        while start.elapsed() < Duration::from_secs(20) {
            seed += 10;
            crowd(workers, 4 * patches, 20, seed);
        }
    }
}

#[test]
fn two_processes_lose_no_edit_whoever_is_killed() {
    crowds(2, 40);
}

#[test]
fn four_processes_lose_no_edit_whoever_is_killed() {
    crowds(4, 25);
}

#[test]
fn eight_processes_lose_no_edit_whoever_is_killed() {
    crowds(8, 15);
}
