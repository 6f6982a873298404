//! In which order things were written: the laws of the commit protocol, over what the fault layer recorded. The tests of
//! the crates that commit include this.
//!
//! What counts as durable is what the least helpful file system grants: bytes and modes when their file was synced, a
//! name when its directory was, a rename when both directories were, and all of it after a `syncfs`.
#![allow(dead_code, reason = "each program that includes this uses a part of it")]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use fs_guard::record::{Act, Name};

/// A file, directory or link, whatever it is called and whoever has its inode later.
pub(crate) type Id = usize;

/// What a file system may keep or lose as one.
#[derive(Debug)]
pub(crate) struct Effect {
    /// The act that had it.
    pub(crate) at: usize,
    /// What these names in these directories stand for afterwards.
    pub(crate) names: Vec<(Id, String, Option<Id>)>,
    /// Where the names, or the file, were at that time: beneath the root, or absolute.
    pub(crate) paths: Vec<String>,
    pub(crate) content: Option<(Id, Content)>,
    /// The act since which it is durable.
    pub(crate) durable: Option<usize>,
    /// What has to be synced for that, and when it was.
    synced: BTreeMap<Id, Option<usize>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// Bytes from this offset on.
    Bytes(usize, Vec<u8>),
    Mode(u32),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    File(u32),
    Dir(u32),
    Link(Vec<u8>),
}

/// What a recording says, act by act.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) effects: Vec<Effect>,
    /// What was made, as it was made.
    pub(crate) kinds: HashMap<Id, Kind>,
    ids: HashMap<u64, Id>,
    next: Id,
    names: HashMap<(Id, String), Id>,
    /// The effects that took away files and directories.
    removed: HashMap<Id, usize>,
    lengths: HashMap<Id, usize>,
}

impl History {
    /// Notes what was there at first.
    pub(crate) fn found(&mut self, dir: Id, name: &str, ino: u64, length: usize) -> Id {
        let id = self.id(ino);
        self.names.insert((dir, name.into()), id);
        self.lengths.insert(id, length);
        id
    }

    /// What an inode stands for now.
    pub(crate) fn id(&mut self, ino: u64) -> Id {
        let next = &mut self.next;
        *self.ids.entry(ino).or_insert_with(|| {
            *next += 1;
            *next
        })
    }

    /// Every inode and what it stands for at last.
    pub(crate) fn inodes(&self) -> impl Iterator<Item = (u64, Id)> {
        self.ids.iter().map(|(ino, id)| (*ino, *id))
    }

    pub(crate) fn read(&mut self, acts: &[Act], root: &Path) {
        for (at, act) in acts.iter().enumerate() {
            self.act(at, act, root);
        }
        // What was done to something that durably went is gone with it; the innermost goes first.
        for number in (0..self.effects.len()).rev() {
            let removed = |dir: &Id| self.effects[*self.removed.get(dir)?].durable;
            let since = |(dir, synced): (&Id, &Option<usize>)| match (*synced, removed(dir)) {
                (Some(synced), Some(removed)) => Some(synced.min(removed)),
                (synced, removed) => synced.or(removed),
            };
            let since: Option<Vec<usize>> = self.effects[number].synced.iter().map(since).collect();
            self.effects[number].durable = since.and_then(|since| since.into_iter().max());
        }
    }

    fn act(&mut self, at: usize, act: &Act, root: &Path) {
        match act {
            Act::Create(name, ino, mode) => self.make(at, name, *ino, Kind::File(*mode), root),
            Act::MakeDir(name, ino, mode) => self.make(at, name, *ino, Kind::Dir(*mode), root),
            Act::Symlink(name, ino, text) => self.make(at, name, *ino, Kind::Link(text.clone()), root),
            Act::Write { ino, path, bytes, at_start } => {
                let id = self.id(*ino);
                let length = self.lengths.entry(id).or_default();
                let from = if *at_start { 0 } else { *length };
                *length = (*length).max(from + bytes.len());
                self.content(at, id, Content::Bytes(from, bytes.clone()), beneath(root, path));
            }
            Act::Mode(ino, mode, path) => {
                let id = self.id(*ino);
                self.content(at, id, Content::Mode(*mode), beneath(root, path));
            }
            Act::Link(from, to) => {
                let id = self.named(from);
                self.rename(at, &[(to, Some(id))], root);
                let effect = self.effects.last_mut().expect("it was just added");
                effect.paths.insert(0, beneath(root, &format!("{}/{}", from.path, from.name)));
            }
            Act::Rename(from, to) => {
                let id = self.named(from);
                self.rename(at, &[(from, None), (to, Some(id))], root);
            }
            Act::Exchange(one, other) => {
                let (first, second) = (self.named(one), self.named(other));
                self.rename(at, &[(one, Some(second)), (other, Some(first))], root);
            }
            Act::Remove(name, inode) => {
                let key = (self.id(name.dir), name.name.clone());
                let known = self.names.get(&key).copied().or(inode.map(|inode| self.id(inode)));
                let last = |id: &Id| self.names.iter().all(|(other, named)| named != id || *other == key);
                if let Some(id) = known.filter(last) {
                    self.removed.insert(id, self.effects.len());
                }
                self.rename(at, &[(name, None)], root);
            }
            Act::Sync(ino, _) => {
                let id = self.id(*ino);
                for effect in &mut self.effects {
                    if let Some(synced) = effect.synced.get_mut(&id) {
                        synced.get_or_insert(at);
                    }
                }
            }
            Act::SyncAll => {
                for synced in self.effects.iter_mut().flat_map(|effect| effect.synced.values_mut()) {
                    synced.get_or_insert(at);
                }
            }
            Act::Failed(_) | Act::Note(..) => {}
        }
    }

    fn make(&mut self, at: usize, name: &Name, ino: u64, kind: Kind, root: &Path) {
        let dir = self.id(name.dir);
        if self.names.contains_key(&(dir, name.name.clone())) {
            return; // it was there, and was opened
        }
        // The inode may have been another file's.
        self.ids.remove(&ino);
        let id = self.id(ino);
        self.kinds.insert(id, kind);
        self.rename(at, &[(name, Some(id))], root);
    }

    fn named(&mut self, name: &Name) -> Id {
        let dir = self.id(name.dir);
        if let Some(&id) = self.names.get(&(dir, name.name.clone())) {
            return id;
        }
        // Someone else put it there.
        self.next += 1;
        self.names.insert((dir, name.name.clone()), self.next);
        self.next
    }

    fn rename(&mut self, at: usize, changes: &[(&Name, Option<Id>)], root: &Path) {
        let mut effect =
            Effect { at, names: Vec::new(), paths: Vec::new(), content: None, durable: None, synced: BTreeMap::new() };
        for &(name, to) in changes {
            let dir = self.id(name.dir);
            match to {
                Some(id) => self.names.insert((dir, name.name.clone()), id),
                None => self.names.remove(&(dir, name.name.clone())),
            };
            effect.names.push((dir, name.name.clone(), to));
            effect.paths.push(beneath(root, &format!("{}/{}", name.path, name.name)));
            effect.synced.insert(dir, None);
        }
        self.effects.push(effect);
    }

    fn content(&mut self, at: usize, id: Id, content: Content, path: String) {
        let (names, paths, content) = (Vec::new(), vec![path], Some((id, content)));
        self.effects.push(Effect { at, names, paths, content, durable: None, synced: [(id, None)].into() });
    }
}

fn beneath(root: &Path, path: &str) -> String {
    let rest = Path::new(path).strip_prefix(root).ok().and_then(Path::to_str);
    rest.unwrap_or(path).to_owned()
}

const STATE: &str = ".apply-patch";

/// Whether a path is one of the workspace's own.
pub(crate) fn is_workspace(path: &str) -> bool {
    !path.starts_with('/') && path != STATE && !path.starts_with(".apply-patch/")
}

/// Whether a name changes that the workspace's user sees.
pub(crate) fn changes_workspace(effect: &Effect) -> bool {
    effect.paths.iter().any(|path| is_workspace(path) && !is_beside(path))
}

fn is_beside(path: &str) -> bool {
    is_workspace(path) && (path.ends_with(".apply-patch.tmp") || path.ends_with(".apply-patch.tmp.x"))
}

/// What has to be durable before the first name in the workspace changes: the transaction's folder and all that is in
/// it, the intents, the key that the journal is signed with.
fn is_preparation(effect: &Effect) -> bool {
    effect.paths.last().is_some_and(|path| {
        path == STATE
            || (path.starts_with(".apply-patch/pending") && !path.ends_with(".x"))
            || (path.starts_with(".apply-patch/audit/") && path.ends_with(".jsonl"))
            || (path.starts_with('/') && path.ends_with("/key"))
            || is_beside(path)
    })
}

/// The laws that a recording breaks, each with what broke it.
pub(crate) fn broken_laws(acts: &[Act], root: &Path) -> Vec<String> {
    let mut history = History::default();
    history.read(acts, root);
    let mut broken = Vec::new();
    let mut prepared: Vec<&Effect> = Vec::new();
    let mut logged: Vec<&Effect> = Vec::new();
    let mut published: Vec<&Effect> = Vec::new();
    // Whether a transaction began here; whether it has a journal, or a list of what it puts beside files.
    let (mut begun, mut journal, mut list, mut mark) = (false, false, false, None::<&Effect>);
    let mut failed_at: HashMap<&str, usize> = HashMap::new();
    for (at, act) in acts.iter().enumerate() {
        if let Act::Failed(call) = act {
            failed_at.entry(call).or_insert(at);
        }
    }
    let mut effects = history.effects.iter().peekable();
    for (at, act) in acts.iter().enumerate() {
        let volatile = |effect: &&&Effect| effect.durable.is_none_or(|since| since > at);
        let what = |effect: &Effect| format!("{:?}", acts[effect.at]).chars().take(300).collect::<String>();
        let failed = |calls: &[&str]| calls.iter().any(|call| failed_at.get(call).is_some_and(|first| *first < at));
        if matches!(act, Act::Note("acknowledged", _))
            && let Some(effect) = published.iter().filter(|effect| changes_workspace(effect)).find(volatile)
        {
            broken.push(format!("acknowledged before it was durable: {}", what(effect)));
        }
        let Some(effect) = effects.next_if(|effect| effect.at == at) else { continue };
        let path = |number: usize| effect.paths.get(number).map_or("", |path| &**path);
        let in_folder = |path: &str, name: &str| {
            let rest = path.strip_prefix(".apply-patch/pending/").and_then(|path| path.split_once('/'));
            rest.is_some_and(|(_, rest)| rest == name)
        };
        let gone = effect.names.len() == 1 && effect.names[0].2.is_none();
        let is_folder = |path: &str| path.strip_prefix(".apply-patch/pending/").is_some_and(|rest| !rest.contains('/'));
        // A transaction begins, or recovery comes to an older one.
        if matches!(act, Act::MakeDir(..)) && is_folder(path(0)) {
            (begun, journal, list, mark) = (true, false, false, None);
            published.clear();
            prepared.retain(|effect| !effect.paths[0].starts_with(".apply-patch/pending/"));
        }
        if matches!(act, Act::Create(..)) {
            journal |= in_folder(path(0), "journal");
            list |= in_folder(path(0), "siblings");
        }
        // What is put beside files needs its directories, which the list names.
        let prepares = begun && list && (!journal || gone && published.is_empty());
        if changes_workspace(effect) && !(prepares && gone) {
            if begun && !journal && !prepares {
                broken.push(format!("published without a journal: {}", what(effect)));
            }
            // Whoever is killed while it makes the key leaves it to the system when that is durable.
            let killed = failed(&["fsync"]);
            let counts = |effect: &&&Effect| volatile(effect) && !(killed && effect.paths[0].starts_with('/'));
            if let Some(prepared) = prepared.iter().find(counts) {
                broken.push(format!("published before {} was durable: {}", what(prepared), what(effect)));
            }
            if let Some(mark) = mark.filter(|mark| volatile(&mark))
                && !failed(&["fsync", "syncfs"])
            {
                broken.push(format!("rolled back before {} was durable: {}", what(mark), what(effect)));
            }
        }
        let in_log = |path: &str, end: &str| path.starts_with(".apply-patch/audit/") && path.ends_with(end);
        if effect.paths.iter().any(|path| in_log(path, ".jsonl")) {
            logged.push(effect);
        }
        if effect.paths.last().is_some_and(|path| in_log(path, ".head"))
            && let Some(line) = logged.iter().find(volatile)
        {
            broken.push(format!("the log's head came before {} was durable: {}", what(line), what(effect)));
        }
        let finishes = is_folder(path(0)) && path(1).starts_with(".apply-patch/trash/");
        // Where renames are two steps, the mark takes the journal's first name away in the second.
        let journal_goes = in_folder(path(0), "journal") && mark.is_none();
        let discards = gone && (journal_goes || in_folder(path(0), "journal.aborted"));
        if !gone && effect.paths.last().is_some_and(|path| in_folder(path, "journal.aborted")) {
            mark = Some(effect);
        } else if !prepares && changes_workspace(effect) {
            published.push(effect);
        } else if published.is_empty() && is_preparation(effect) && !gone {
            prepared.push(effect);
        } else if !published.is_empty()
            && !(finishes || discards)
            && effect.paths.iter().any(|path| is_beside(path) || path.starts_with(".apply-patch/pending/"))
            && !in_folder(path(0), "siblings")
        {
            published.push(effect);
        }
        if finishes || discards {
            if let Some(published) = published.iter().find(volatile) {
                broken.push(format!("ended before {} was durable: {}", what(published), what(effect)));
            }
            if discards && !published.is_empty() && mark.is_none() && !failed(&["renameat2", "linkat", "unlinkat"]) {
                broken.push(format!("rolled back without a mark: {}", what(effect)));
            }
            prepared.clear();
            if discards {
                published.clear();
            }
        }
        let removed = path(0).strip_prefix(".apply-patch/trash/").and_then(|rest| rest.split_once('/'));
        if gone && removed.is_some_and(|(folder, _)| !folder.ends_with(".removed")) {
            broken.push(format!("removed from a transaction that is in the history: {}", what(effect)));
        }
    }
    broken
}
