//! Power cuts on a file system that keeps of everything unsynced what it likes, in any order.
//!
//! Two commits, one after the other, are recorded. At every call the power fails: what was synced
//! is there, and of the rest a choice of effects; that tree is made, and recovered. What is there
//! then has to be exactly the tree before or after a commit: before it where its journal was not
//! yet begun, after it where the commit point was passed.
//!
//! A file that moved to a directory that was synced, from one that was not, is also tried in both:
//! so it is on btrfs, which keeps of what was synced a log of its own.
//!
//! What is tried: every choice where at most four effects are open, else none, all, every
//! beginning, all but each one, and two random ones; when the long tests run whole also every end,
//! each one alone, and a hundred random ones. What is not: a name never gets its second change
//! before its first, nothing is kept in a new directory that is lost, and bytes of one call are
//! kept or lost together. Ways around missing renames are tried on file systems that keep the order
//! of names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::time::UNIX_EPOCH;

use fastrand::Rng;
use fs_guard::AppendFile;
use fs_guard::fault::{Fault, arm, busy, cross_device, disarm, lack};
use fs_guard::record::Act;
use patch_engine::commit::{KeyPlace, Locked, TransactionId, Workspace};
use patch_engine::{CommitLog, Plan, PlanBuilder};
use workspace_trash::{Journal, Signer};

use super::support::*;
use testutils::order::{Effect, History, Id, NodeContent, NodeKind, changes_workspace};
use testutils::share::whole;

type Snapshot = BTreeMap<String, String>;

/// What a tree is made of: by path, beneath the workspace or beneath the key's directory. With the
/// inode that it had.
type Image = BTreeMap<String, (NodeKind, Vec<u8>, u64)>;

/// A disk as it was when the recording began.
#[derive(Default)]
struct Disk {
    kinds: HashMap<Id, NodeKind>,
    bytes: HashMap<Id, Vec<u8>>,
    names: BTreeMap<(Id, String), Id>,
    roots: Vec<(&'static str, Id)>,
}

impl Disk {
    fn look(tree: &Tree, history: &mut History) -> Self {
        let mut disk = Self::default();
        for (name, path) in [("tree", tree.dir.path()), ("key", &tree.key_dir())] {
            let id = history.id(fs::metadata(path).unwrap().ino());
            disk.roots.push((name, id));
            disk.list(path, id, history);
        }
        disk
    }

    fn list(&mut self, path: &Path, dir: Id, history: &mut History) {
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let seen = fs::symlink_metadata(entry.path()).unwrap();
            let name = entry.file_name().into_string().unwrap();
            let bytes = if seen.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            let id = history.found(dir, &name, seen.ino(), bytes.len());
            let mode = seen.permissions().mode() & 0o7777;
            self.kinds
                .insert(id, if seen.is_dir() { NodeKind::Dir(mode) } else { NodeKind::File(mode) });
            self.bytes.insert(id, bytes);
            self.names.insert((dir, name), id);
            if seen.is_dir() {
                self.list(&entry.path(), id, history);
            }
        }
    }

    /// What is there when of the history only these effects came about, and files keep their old
    /// names where this is said.
    fn after<'h>(
        &self,
        history: &'h History,
        effects: impl Iterator<Item = (&'h Effect, bool)>,
    ) -> Image {
        let mut kinds: HashMap<Id, NodeKind> = self.kinds.clone();
        kinds.extend(history.kinds.iter().map(|(id, kind)| (*id, kind.clone())));
        let (mut names, mut bytes) = (self.names.clone(), self.bytes.clone());
        for (effect, twice) in effects {
            let moved = effect.names.last().and_then(|(_, _, id)| *id);
            let twice = twice && moved.is_some_and(|id| !matches!(kinds[&id], NodeKind::Dir(_)));
            for (dir, name, to) in &effect.names {
                match to {
                    Some(id) => names.insert((*dir, name.clone()), *id),
                    None if twice => continue,
                    None => names.remove(&(*dir, name.clone())),
                };
            }
            match &effect.content {
                Some((id, NodeContent::Bytes(at, new))) => {
                    let bytes = bytes.entry(*id).or_default();
                    bytes.resize(bytes.len().max(at + new.len()), 0);
                    bytes[*at..at + new.len()].copy_from_slice(new);
                }
                Some((id, NodeContent::Mode(mode))) => {
                    if let Some(NodeKind::File(old) | NodeKind::Dir(old)) = kinds.get_mut(id) {
                        *old = *mode;
                    }
                }
                None => {}
            }
        }
        let inodes: HashMap<Id, u64> = history.inodes().map(|(ino, id)| (id, ino)).collect();
        let mut image = Image::new();
        let mut todo: Vec<(String, Id)> =
            self.roots.iter().map(|&(name, id)| (name.to_owned(), id)).collect();
        while let Some((path, dir)) = todo.pop() {
            for ((_, name), id) in names.range((dir, String::new())..(dir + 1, String::new())) {
                let path = format!("{path}/{name}");
                let kind = kinds[id].clone();
                if matches!(kind, NodeKind::Dir(_)) {
                    todo.push((path.clone(), *id));
                }
                let ino = inodes.get(id).copied().unwrap_or_default();
                image.insert(path, (kind, bytes.get(id).cloned().unwrap_or_default(), ino));
            }
        }
        image
    }
}

/// What a person does to a file after the power is back and before recovery.
#[derive(Debug, Clone, Copy)]
struct Touch {
    path: &'static str,
    removes: bool,
}

impl Touch {
    /// The rest of a tree: without the file, and without the directories that it is in.
    fn untouched(self, tree: &Snapshot) -> Snapshot {
        let apart = |path: &str| {
            path == self.path
                || self.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        };
        tree.iter()
            .filter(|(path, _)| !apart(path))
            .map(|(path, seen)| (path.clone(), seen.clone()))
            .collect()
    }
}

/// Makes a tree, recovers it, and looks at it: the files, and the intents of the log.
fn recovered(image: &Image) -> (Snapshot, usize) {
    recovered_after(image, None)
}

fn recovered_after(image: &Image, touch: Option<Touch>) -> (Snapshot, usize) {
    let place = temp();
    let key = place.path().join("key");
    for root in ["tree", "key"] {
        fs::create_dir(place.path().join(root)).unwrap();
    }
    let (mut here, mut files) = (HashMap::new(), HashMap::new());
    let mut journals = Vec::new();
    for (path, (kind, bytes, ino)) in image {
        let at = place.path().join(path);
        match kind {
            NodeKind::Dir(_) => fs::create_dir(&at).unwrap(),
            NodeKind::Link(text) => symlink(std::str::from_utf8(text).unwrap(), &at).unwrap(),
            NodeKind::File(_) if files.contains_key(ino) => {
                fs::hard_link(&files[ino], &at).unwrap()
            }
            NodeKind::File(_) => {
                files.insert(*ino, at.clone());
                fs::write(&at, bytes).unwrap();
                here.insert(*ino, fs::metadata(&at).unwrap().ino());
                if path.ends_with("/journal") || path.ends_with("/journal.aborted") {
                    journals.push((at.clone(), bytes));
                }
            }
        }
        if let NodeKind::Dir(mode) | NodeKind::File(mode) = kind {
            fs::set_permissions(&at, fs::Permissions::from_mode(*mode)).unwrap();
        }
    }
    // The copies have other inodes than the files that the journals tell of.
    let key_bytes: Option<[u8; 32]> =
        fs::read(key.join("key")).ok().and_then(|key| key.try_into().ok());
    let signer = key_bytes.as_ref().map(Signer::with_key);
    for (at, bytes) in journals {
        // The machine has started anew since it was written.
        let old =
            || fs::File::options().write(true).open(&at).unwrap().set_modified(UNIX_EPOCH).unwrap();
        let Ok(mut journal) = Journal::parse(bytes, signer.as_ref()) else { continue };
        for record in &mut journal.records {
            for state in [&mut record.before, &mut record.after].into_iter().flatten() {
                state.ino = here.get(&state.ino).copied().unwrap_or(state.ino);
            }
        }
        fs::write(&at, journal.to_text(signer.as_ref())).unwrap();
        old();
    }
    let tree = place.path().join("tree");
    if let Some(Touch { path, removes }) = touch {
        if removes {
            fs::remove_file(tree.join(path)).unwrap_or_default()
        } else {
            // Where its directory is not, there is nothing to edit.
            fs::write(tree.join(path), "of a user").unwrap_or_default()
        }
    }
    let workspace = open(&tree, KeyPlace::Directory(key));
    drop(lock(&workspace));
    let all = snapshot(&tree);
    let pending = fs::read_dir(tree.join(".apply-patch/pending")).map_or(0, Iterator::count);
    assert_eq!(pending, 0, "recovery ends every transaction");
    let log = fs::read_to_string(tree.join(".apply-patch/audit/s.jsonl")).unwrap_or_default();
    (all, log.lines().filter(|line| *line == "intent").count())
}

/// A log as the audit log is.
struct Log<'l> {
    locked: &'l Locked<'l>,
    file: Option<AppendFile>,
}

impl CommitLog for Log<'_> {
    fn intend(&mut self, _: TransactionId) -> Result<(), String> {
        let write = || {
            let dir = self.locked.locked_store().dir().open_or_create_dir("audit")?;
            let file = dir.spot("s.jsonl").append()?;
            if file.opened_size() == 0 {
                dir.sync()?;
                self.locked.locked_store().dir().sync()?;
            }
            file.append(b"intent\n")?;
            Ok(file)
        };
        self.file = Some(write().map_err(|error: fs_guard::Error| error.to_string())?);
        Ok(())
    }

    fn file(&self) -> Option<&AppendFile> {
        self.file.as_ref()
    }
}

const FILES: &[(&str, &str)] =
    &[("a", "old a"), ("d/b", "old b"), ("d/e/c", "old c"), ("gone", "g"), ("from", "f")];

/// The first commit: every kind of step, and so many that they are synced together.
const MANY: &[Step<'static>] = &[
    Update("a", "newer a"),
    Add("x/y/new", "1"),
    Append("d/b", " more"),
    Delete("gone"),
    Move("from", "x/to"),
    Add("new", "2"),
];

/// The same with two files, which are synced each.
const FEW: &[Step<'static>] = &[Update("a", "newer a"), Add("x/new", "1"), Delete("gone")];

/// The second commit changes what the first one did, and takes directories away.
fn second(workspace: &Workspace) -> Plan {
    let rules = lenient();
    let mut builder = PlanBuilder::new(workspace.root(), &rules);
    builder.remove_all("d").unwrap();
    builder.remove_all("x").unwrap();
    builder.create("a", "third".into()).unwrap();
    builder.create("gone", "back".into()).unwrap();
    builder.finish().unwrap()
}

/// Commits both, as far as that goes.
fn commit_both(tree: &Tree, steps: &[Step<'_>]) -> bool {
    let one = |second_one: bool| {
        let Ok(workspace) = Workspace::open(tree.dir.path(), patch_engine::policy()) else {
            return false;
        };
        let workspace = workspace.with_key_place(tree.key_place());
        let Ok(locked) = workspace.lock(std::time::Duration::ZERO) else { return false };
        let plan = if second_one { second(&workspace) } else { plan(&workspace, steps) };
        commit_logged(&locked, &plan, &mut Log { locked: &locked, file: None }).is_ok()
    };
    one(false) && one(true)
}

/// The trees before, between and after both.
fn states(steps: &[Step<'_>]) -> [Snapshot; 3] {
    let tree = Tree::new(FILES);
    let old = tree.snapshot();
    tree.commit(steps).unwrap();
    let between = tree.snapshot();
    let workspace = tree.open();
    commit(&lock(&workspace), &second(&workspace)).unwrap();
    [old, between, tree.snapshot()]
}

struct Explorer {
    states: [Snapshot; 3],
    /// What was seen of an image that was recovered.
    known: HashMap<Image, (Snapshot, usize)>,
    random: Rng,
    /// Names are kept in the order in which they changed.
    ordered: bool,
    /// How often each of the states was recovered.
    ends: [usize; 3],
    /// How often somebody touched something before.
    touched: usize,
}

impl Explorer {
    fn new(states: [Snapshot; 3], ordered: bool) -> Self {
        Self {
            states,
            known: HashMap::new(),
            random: Rng::with_seed(1),
            ordered,
            ends: [0; 3],
            touched: 0,
        }
    }

    /// Cuts the power at every call of the recording from `first` on.
    fn explore(&mut self, acts: &[Act], history: &History, disk: &Disk, first: usize, what: &str) {
        let killed = first > 0;
        let commits = commits(acts, history);
        for cut in first..=acts.len() {
            let done: Vec<&Effect> =
                history.effects.iter().filter(|effect| effect.at < cut).collect();
            let open = self.open(&done, cut);
            // What may be there, by how far the commits came.
            let begun = || commits.iter().filter(|commit| commit.begun < cut);
            let least = begun()
                .filter(|commit| !commit.fails && commit.point.is_some_and(|point| point < cut))
                .count();
            // What failed and is made again may be finished by recovery.
            let failing = usize::from(begun().next_back().is_some_and(|commit| commit.fails));
            let most = begun().filter(|commit| !commit.fails).count() + failing;
            let is_report = |act: &&Act| matches!(act, Act::Note("acknowledged", _));
            let reported = acts[..cut].iter().filter(is_report).count();
            let halves =
                !self.ordered && open.iter().any(|number| done[*number].is_half_durable(cut));
            let twice: &[bool] = if halves { &[false, true] } else { &[false] };
            let choices = self.choices(&open, &done);
            for (choice, &twice) in
                choices.iter().flat_map(|choice| twice.iter().map(move |twice| (choice, twice)))
            {
                let kept = |number: &usize| !open.contains(number) || choice.contains(number);
                let effects = (0..done.len()).filter(kept);
                let effects = effects.map(|at| {
                    (done[at], twice && open.contains(&at) && done[at].is_half_durable(cut))
                });
                let image = disk.after(history, effects);
                if !self.known.contains_key(&image) {
                    self.touch(&image, reported..=most, what);
                }
                let (now, intents) = self.known.entry(image).or_insert_with_key(recovered);
                let found = self.states.iter().position(|state| state == now);
                let shown = || {
                    let open: Vec<_> = open
                        .iter()
                        .map(|number| {
                            format!("{} {:?}", choice.contains(number), acts[done[*number].at])
                        })
                        .map(|line| line.chars().take(250).collect::<String>())
                        .collect();
                    let twice = if twice { ", what moved is in both places" } else { "" };
                    format!(
                        "{what}, cut before {:?}{twice}: {now:#?}\nkept: {open:#?}",
                        acts.get(cut)
                    )
                };
                let Some(found) = found else { panic!("a mix: {}", shown()) };
                assert!(
                    (least..=most).contains(&found),
                    "{found} is not in {least}..={most}: {}",
                    shown()
                );
                // A journal that is on the disk by luck, before the sync, may be there without its
                // intents; and recovery does not know the log.
                assert!(
                    killed || *intents >= least,
                    "{intents} intents for {least} commits: {}",
                    shown()
                );
                self.ends[found] += 1;
            }
        }
    }

    /// Lets a person edit or remove a file before recovery. All the others are as before or after a
    /// commit, all of them, and no commit that was reported is undone. (The files that the second
    /// commit changes are those of the first, too: what was touched may be between the two.)
    fn touch(&mut self, image: &Image, wanted: std::ops::RangeInclusive<usize>, what: &str) {
        const PATHS: [&str; 7] = ["a", "d/b", "d/e/c", "gone", "from", "x/to", "new"];
        if self.random.usize(..if whole() { 2 } else { 12 }) > 0 {
            return;
        }
        let touch =
            Touch { path: PATHS[self.random.usize(..PATHS.len())], removes: self.random.bool() };
        let (now, _) = recovered_after(image, Some(touch));
        let rest = touch.untouched(&now);
        let fits = wanted.clone().any(|state| touch.untouched(&self.states[state]) == rest);
        let names: Vec<_> = image.keys().collect();
        assert!(fits, "{what}, {touch:?}: not in {wanted:?}: {now:#?}\nof {names:#?}");
        self.touched += 1;
    }

    /// The effects that may be lost: not durable, and no name of theirs had a later change that is.
    fn open(&self, done: &[&Effect], cut: usize) -> Vec<usize> {
        let mut kept: BTreeSet<(Id, &str)> = BTreeSet::new();
        let mut open = Vec::new();
        for (number, effect) in done.iter().enumerate().rev() {
            let names = || effect.names.iter().map(|(dir, name, _)| (*dir, &**name));
            let before =
                names().any(|name| self.ordered && !kept.is_empty() || kept.contains(&name));
            if before || effect.durable.is_some_and(|since| since < cut) {
                kept.extend(names());
            } else {
                open.push(number);
            }
        }
        open.reverse();
        open
    }

    /// Choices among the effects that are not durable.
    fn choices(&mut self, open: &[usize], done: &[&Effect]) -> BTreeSet<BTreeSet<usize>> {
        let mut choices: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
        let count = open.len();
        if count <= 4 {
            for bits in 0..1_usize << count {
                choices.insert(
                    (0..count).filter(|at| bits >> at & 1 == 1).map(|at| open[at]).collect(),
                );
            }
        } else {
            for at in 0..=count {
                choices.insert(open[..at].iter().copied().collect());
                if whole() {
                    choices.insert(open[at..].iter().copied().collect());
                    choices.insert(open.get(at).into_iter().copied().collect());
                }
                choices.insert(
                    open.iter()
                        .copied()
                        .enumerate()
                        .filter(|(n, _)| *n != at)
                        .map(|(_, n)| n)
                        .collect(),
                );
            }
            for _ in 0..if whole() { 100 } else { 2 } {
                choices.insert(open.iter().copied().filter(|_| self.random.bool()).collect());
            }
        }
        choices.into_iter().map(|choice| self.possible(open, done, choice)).collect()
    }

    /// Takes out what cannot be: a name's second change without its first, names in a directory
    /// that is lost.
    fn possible(
        &self,
        open: &[usize],
        done: &[&Effect],
        mut choice: BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        let mut lost: BTreeSet<(Id, &str)> = BTreeSet::new();
        let mut lost_ids: BTreeSet<Id> = BTreeSet::new();
        let mut lost_any = false;
        for number in open {
            let names = || done[*number].names.iter().map(|(dir, name, _)| (*dir, &**name));
            let late = names().any(|name| lost.contains(&name) || lost_ids.contains(&name.0))
                || (self.ordered && lost_any && names().count() > 0);
            if late {
                choice.remove(number);
            }
            if !choice.contains(number) {
                lost_any |= names().count() > 0;
                lost.extend(names());
                lost_ids.extend(done[*number].names.iter().filter_map(|(_, _, id)| *id));
            }
        }
        choice
    }
}

/// Where a commit began to write its journal, and where its commit point was passed.
struct Journaled {
    journal: Option<Id>,
    begun: usize,
    point: Option<usize>,
    /// It is rolled back, and made again in another way.
    fails: bool,
}

fn commits(acts: &[Act], history: &History) -> Vec<Journaled> {
    let mut commits: Vec<Journaled> = Vec::new();
    let mut synced = 0;
    let mut effects = history.effects.iter().peekable();
    for (at, act) in acts.iter().enumerate() {
        if matches!(act, Act::Sync(..) | Act::SyncAll) {
            synced = at;
        }
        let Some(effect) = effects.next_if(|effect| effect.at == at) else { continue };
        match act {
            Act::Create(name, ..) if name.name == "journal" && name.path.contains("/pending/") => {
                let journal = effect.names.iter().find_map(|(_, _, id)| *id);
                commits.push(Journaled { journal, begun: at, point: None, fails: false });
            }
            Act::Rename(_, to) | Act::Link(_, to) if to.name == "journal.aborted" => {
                commits.last_mut().expect("a journal was written").fails = true;
            }
            // Without a journal that can be read, it is what was prepared in the workspace that
            // recovery takes away.
            _ if changes_workspace(effect) => {
                if let Some(last) =
                    commits.last_mut().filter(|last| is_written(history, last.journal, at))
                {
                    last.point.get_or_insert(synced);
                }
            }
            _ => {}
        }
    }
    commits
}

/// Whether the bytes of a file are durable before an act.
fn is_written(history: &History, file: Option<Id>, act: usize) -> bool {
    history.effects.iter().any(|effect| {
        let id = effect.content.as_ref().map(|(id, _)| *id);
        id == file && effect.durable.is_some_and(|since| since < act)
    })
}

fn all_ways(test: impl Fn(&[Step<'_>], bool, &str)) {
    for (steps, others_write, what) in
        [(MANY, false, "many"), (MANY, true, "many, each"), (FEW, false, "few")]
    {
        busy(Some(others_write));
        test(steps, false, what);
    }
    busy(Some(false));
    cross_device(true);
    test(FEW, false, "beside");
    cross_device(false);
    for no_replace in [false, true] {
        lack(true, no_replace);
        test(FEW, true, "lacking");
    }
    lack(false, false);
}

fn tree() -> Tree {
    let tree = Tree::with_key(FILES);
    tree.recorded();
    tree
}

#[test]
fn a_power_cut_that_keeps_what_it_likes_leaves_one_of_the_trees() {
    let (all, touched) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    all_ways(|steps, ordered, what| {
        let tree = tree();
        let mut history = History::default();
        let disk = Disk::look(&tree, &mut history);
        assert!(commit_both(&tree, steps));
        let acts = tree.recorded();
        history.read(&acts, tree.dir.path());
        let mut explorer = Explorer::new(states(steps), ordered);
        let commits = commits(&acts, &history);
        assert_eq!(
            commits.iter().filter(|commit| !commit.fails && commit.point.is_some()).count(),
            2
        );
        explorer.explore(&acts, &history, &disk, 0, what);
        assert!(explorer.ends.iter().all(|&count| count > 10), "{what}: {:?}", explorer.ends);
        all.set(all.get() + explorer.known.len());
        touched.set(touched.get() + explorer.touched);
    });
    assert!(all.get() > 500, "{} different disks", all.get());
    assert!(touched.get() > 30, "{} of them touched", touched.get());
}

#[test]
fn a_power_cut_while_a_kill_is_recovered_leaves_one_of_the_trees() {
    all_ways(|steps, ordered, what| {
        let mut explorer = Explorer::new(states(steps), ordered);
        for at in 1.. {
            let tree = tree();
            let mut history = History::default();
            let disk = Disk::look(&tree, &mut history);
            arm(Fault::Crash, at, false);
            let done = commit_both(&tree, steps);
            let call = disarm().pop();
            if done {
                assert!(at > 40, "{at} calls");
                break;
            }
            // The rest of the cases take as long again, several times.
            if at % 23 != 3 && !whole() {
                continue;
            }
            let killed = tree.recorded();
            let before = killed.len();
            drop(lock(&tree.open()));
            let acts: Vec<Act> = killed.into_iter().chain(tree.recorded()).collect();
            history.read(&acts, tree.dir.path());
            explorer.explore(
                &acts,
                &history,
                &disk,
                before,
                &format!("{what}, killed at call {at} ({call:?})"),
            );
        }
        assert!(explorer.ends.iter().all(|&count| count > 0), "{what}: {:?}", explorer.ends);
    });
}
