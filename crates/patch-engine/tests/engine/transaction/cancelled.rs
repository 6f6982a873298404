//! A host that gives up at any moment: before the commit point nothing has happened, and there is
//! no stage of much work at which it is not asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use patch_engine::commit::{CommitOptions, Durability, Verify};
use patch_engine::{
    ApplyOptions, Atomicity, Cancellation, CommandEnd, CommandFailure, ErrorKind, Event, Failed,
    Host, Options, Profile, Report, parse,
};

use super::support::{Add, Tree, lock, options};

/// Gives up when it is asked for the time after `polls`.
struct GivesUp {
    cancellation: Cancellation,
    asked: Arc<AtomicUsize>,
    /// How often it was asked when the plan was ready, when all was staged, and at the end.
    stages: Vec<usize>,
}

impl GivesUp {
    fn after(polls: usize) -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let ask = move || count.fetch_add(1, Ordering::Relaxed) >= polls;
        Self { cancellation: Cancellation::new(ask), asked, stages: Vec::new() }
    }

    /// How often it is asked until the plan is ready, from then on until all is staged, and later.
    fn polls(&self) -> [usize; 3] {
        [self.stages[0], self.stages[1] - self.stages[0], self.stages[2] - self.stages[1]]
    }
}

impl Host for GivesUp {
    fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Planned(_) | Event::Staged(_) | Event::Committed(_) = event {
            self.stages.push(self.asked.load(Ordering::Relaxed));
        }
    }
}

#[derive(Debug)]
struct Accepts;

impl Verify for Accepts {
    fn verify(
        &self,
        _: &fs_guard::Root,
        _: &patch_engine::Plan,
        _: &str,
        cancellation: &Cancellation,
    ) -> Result<(), CommandFailure> {
        if cancellation.is_cancelled() {
            let end = CommandEnd::Cancelled;
            return Err(CommandFailure { command: None, end, output: Vec::new(), left_out: 0 });
        }
        Ok(())
    }
}

fn apply(tree: &Tree, body: &str, commit: &CommitOptions, host: &mut GivesUp) -> Applied {
    let settings = ApplyOptions { commit: commit.clone(), ..ApplyOptions::default() };
    let text = format!("*** Begin Patch\n{body}*** End Patch\n");
    let patch = parse(text, &settings.options.parse).unwrap();
    tree.open().apply(&patch, &settings, host)
}

type Applied = Result<Vec<Report>, Failed>;

/// More than a megabyte of text.
fn long() -> String {
    (0..25_000)
        .map(|line| format!("line {line} of a file of more than a megabyte, as it is\n"))
        .collect()
}

#[test]
fn whenever_it_gives_up_nothing_has_happened() {
    let many: String =
        (0..20).map(|file| format!("*** Add File: many/{file}\n+{file}\n")).collect();
    let all = "*** Update File: a\n@@\n-a\n+A\n*** Add File: b\n+b\n*** Delete File: c\n\
               *** Update File: d\n*** Move to: e\n@@\n-d\n+D\n";
    let large = "*** Update File: large\n@@\n line 58 of a file of more than a megabyte, as it is\n\
                 +new\n*** Update File: moved\n*** Move to: elsewhere\n";
    let none = CommitOptions { durability: Durability::None, ..options() };
    let verified = CommitOptions { verify: Some(Arc::new(Accepts)), ..options() };
    for (name, body, commit, least) in [
        ("each operation", all, &options(), 15),
        ("without syncs", all, &none, 15),
        ("verified", all, &verified, 16),
        ("many files", &many, &options(), 60),
        ("large files", large, &options(), 15),
    ] {
        let tree =
            Tree::with_key(&[("a", "a\n"), ("c", "c\n"), ("d", "d\n"), ("many/old", "old\n")]);
        if name == "large files" {
            for path in ["large", "moved"] {
                tree.write(path, &long());
            }
        }
        if commit.durability == Durability::None {
            tree.lawless();
        }
        let before = tree.snapshot();
        for polls in 0.. {
            let mut host = GivesUp::after(polls);
            let Err(failed) = apply(&tree, body, commit, &mut host) else {
                assert!(polls >= least, "{name}: it was asked {polls} times");
                assert_ne!(tree.snapshot(), before, "{name}");
                break;
            };
            assert_eq!(failed.error.kind(), ErrorKind::Cancelled, "{name}, {polls}: {failed}");
            assert!(failed.error.is_cancelled());
            assert!(failed.reports.is_empty());
            assert_eq!(tree.snapshot(), before, "{name}, {polls}");
            assert!(tree.pending().is_empty(), "{name}, {polls}");
            assert!(!tree.path(".apply-patch").exists(), "{name}, {polls}");
        }
        // Another test that starts a program may hold a copy of the lock until its child runs.
        assert!(lock(&tree.open()).recovered().is_empty(), "{name}");
    }
}

#[test]
fn what_was_applied_before_it_gives_up_stays() {
    let tree = Tree::new(&[]);
    let text = "*** Begin Patch\n*** Add File: a\n+a\n*** Add File: b\n+b\n*** End Patch\n";
    let settings = ApplyOptions { atomicity: Atomicity::EachSection, ..ApplyOptions::default() };
    let patch = parse(text, &settings.options.parse).unwrap();
    let mut applied = 0;
    for polls in 0.. {
        let tree = Tree::new(&[]);
        match tree.open().apply(&patch, &settings, &mut GivesUp::after(polls)) {
            Ok(_) => break,
            Err(failed) => {
                assert!(failed.error.is_cancelled());
                assert!(failed.reports.len() >= applied, "{polls}");
                applied = failed.reports.len();
                assert_eq!(tree.path("a").exists(), applied > 0, "{polls}");
                assert!(!tree.path("b").exists(), "{polls}");
            }
        }
    }
    assert_eq!(applied, 1);
    assert!(!tree.path("a").exists());
}

#[test]
fn it_is_asked_for_each_file_and_each_megabyte() {
    let polls = |files: &[(&str, &str)], body: &str| {
        let tree = Tree::with_key(files);
        let mut host = GivesUp::after(usize::MAX);
        apply(&tree, body, &options(), &mut host).unwrap();
        host.polls()
    };
    let adds = |count: usize| -> String {
        (0..count).map(|file| format!("*** Add File: {file}\n+{file}\n")).collect()
    };
    let few = polls(&[], &adds(20));
    let many = polls(&[], &adds(220));
    assert!(many[0] >= few[0] + 200, "planning: {few:?}, {many:?}");
    assert!(many[1] >= few[1] + 200, "staging: {few:?}, {many:?}");
    // What is synced is three files here: each is one sync.
    let three = polls(&[], &adds(3));
    assert!(three[2] >= 3, "syncing: {three:?}");

    let long = long().repeat(4);
    let megabytes = long.len() >> 20;
    let update = "*** Update File: a\n@@\n-first\n+FIRST\n";
    let small = polls(&[("a", "first\n")], update);
    let large = polls(&[("a", &format!("first\n{long}"))], update);
    assert!(large[0] >= small[0] + megabytes, "planning: {small:?}, {large:?}");
    assert!(large[1] >= small[1] + megabytes, "staging: {small:?}, {large:?}");
    let moves = "*** Update File: a\n*** Move to: b\n";
    let large = polls(&[("a", &format!("first\n{long}"))], moves);
    assert!(large[0] >= small[0] + megabytes, "hashing: {large:?}");
}

#[test]
fn whenever_an_undo_is_given_up_nothing_has_happened() {
    let many: String =
        (0..20).map(|file| format!("*** Add File: many/{file}\n+{file}\n")).collect();
    let all = "*** Update File: a\n@@\n-a\n+A\n*** Add File: b\n+b\n*** Delete File: c\n\
               *** Update File: d\n*** Move to: e\n@@\n-d\n+D\n";
    for (name, body, least) in [("each operation", all, 15), ("many files", &*many, 60)] {
        let tree =
            Tree::with_key(&[("a", "a\n"), ("c", "c\n"), ("d", "d\n"), ("many/old", "old\n")]);
        let before = tree.snapshot();
        let reports = apply(&tree, body, &options(), &mut GivesUp::after(usize::MAX)).unwrap();
        let id = reports[0].transaction.unwrap();
        let applied = tree.snapshot();
        for polls in 0.. {
            match tree.open().undo(id, &[], &options(), &mut GivesUp::after(polls)) {
                Ok(_) => {
                    assert!(polls >= least, "{name}: it was asked {polls} times");
                    assert_eq!(tree.snapshot(), before, "{name}");
                    break;
                }
                Err(error) => {
                    assert!(error.is_cancelled(), "{name}, {polls}: {error}");
                    assert_eq!(tree.snapshot(), applied, "{name}, {polls}");
                    assert!(tree.pending().is_empty(), "{name}, {polls}");
                }
            }
        }
    }
}

#[test]
fn it_is_asked_for_each_file_that_is_undone() {
    let polls = |count: usize| {
        let tree = Tree::with_key(&[]);
        let adds: String =
            (0..count).map(|file| format!("*** Add File: {file}\n+{file}\n")).collect();
        let applied = apply(&tree, &adds, &options(), &mut GivesUp::after(usize::MAX)).unwrap();
        let mut host = GivesUp::after(usize::MAX);
        tree.open().undo(applied[0].transaction.unwrap(), &[], &options(), &mut host).unwrap();
        host.polls()[0]
    };
    assert!(polls(220) >= polls(20) + 200);
}

#[test]
fn it_is_asked_for_each_hunk_and_each_explanation() {
    let lines: String = (0..400).map(|line| format!("line {line}\n")).collect();
    let hunk = |line: usize, old: &str| format!("@@\n-line {line}{old}\n+new {line}\n");
    let polls = |count: usize, old: &str, profile: Profile| {
        let tree = Tree::with_key(&[("f", &lines)]);
        let hunks: String = (0..count).map(|nth| hunk(2 * nth, old)).collect();
        let settings = ApplyOptions { options: Options::new(profile), ..ApplyOptions::default() };
        let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
        let patch = parse(text, &settings.options.parse).unwrap();
        let mut host = GivesUp::after(usize::MAX);
        let applied = tree.open().apply(&patch, &settings, &mut host);
        assert_eq!(applied.is_ok(), old.is_empty());
        host.asked.load(Ordering::Relaxed)
    };
    for profile in [Profile::Strict, Profile::Codex] {
        for (old, each) in [("", 1), (" is not there", 3)] {
            let (few, many) = (polls(5, old, profile), polls(105, old, profile));
            assert!(many >= few + 100 * each, "{profile:?}, {old:?}: {few}, {many}");
        }
    }
}

#[test]
fn whoever_waits_for_the_lock_can_give_up() {
    let tree = Tree::new(&[("a", "a\n")]);
    let (one, commit) = (tree.open(), CommitOptions { lock_timeout: Duration::MAX, ..options() });
    tree.commit(&[Add("b", "b")]).unwrap();
    let held = lock(&one);
    let body = "*** Update File: a\n@@\n-a\n+A\n";
    let failed = apply(&tree, body, &commit, &mut GivesUp::after(5)).unwrap_err();
    assert!(failed.error.is_cancelled(), "{failed}");
    drop(held);
    assert_eq!(tree.read("a"), "a\n");
}
