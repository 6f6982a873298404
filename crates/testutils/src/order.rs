//! The laws of the commit protocol about the order of writes, checked over the recordings of the
//! fault layer.
//!
//! An effect is durable when the least helpful file system keeps it: bytes and modes after a sync
//! of their file, a name after a sync of its directory, a rename after a sync of both directories,
//! and everything after a `syncfs`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use fs_guard::record::{Act, RecordedName};

/// A file, directory or link. It stays the same under another name, and when its inode is reused.
pub type Id = usize;

/// An effect that a file system keeps or loses as one.
#[derive(Debug)]
pub struct Effect {
    /// The index of the act.
    pub at: usize,
    /// The changed names: the directory, the name, and the entry with the name afterwards.
    pub names: Vec<(Id, String, Option<Id>)>,
    /// The paths of the names, or of the file, at that time: beneath the root, or absolute.
    pub paths: Vec<String>,
    /// The new content of a file.
    pub content: Option<(Id, NodeContent)>,
    /// The index of the act since which the effect is durable.
    pub durable: Option<usize>,
    /// The entries to sync for the effect, each with the act that synced it.
    synced: BTreeMap<Id, Option<usize>>,
}

impl Effect {
    fn path(&self, number: usize) -> &str {
        self.paths.get(number).map_or("", |path| path)
    }

    /// Whether a file moved to a directory that was synced before the `cut`-th act, from a
    /// directory that was not. Some file systems (btrfs) have the file in both then.
    pub fn is_half_durable(&self, cut: usize) -> bool {
        matches!(
            &self.names[..],
            [(from, _, None), (to, _, Some(_))]
                if !self.was_synced(*from, cut) && self.was_synced(*to, cut)
        )
    }

    fn was_synced(&self, dir: Id, cut: usize) -> bool {
        self.synced.get(&dir).copied().flatten().is_some_and(|since| since < cut)
    }

    /// Whether the effect only removes a name.
    fn takes_away(&self) -> bool {
        matches!(self.names[..], [(_, _, None)])
    }
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeContent {
    /// Bytes from this offset on.
    Bytes(usize, Vec<u8>),
    /// A mode.
    Mode(u32),
}

/// The kind of a new entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A file with a mode.
    File(u32),
    /// A directory with a mode.
    Dir(u32),
    /// A symbolic link with its target.
    Link(Vec<u8>),
}

/// The effects of a recording, act by act.
#[derive(Debug, Default)]
pub struct History {
    /// The effects of the acts.
    pub effects: Vec<Effect>,
    /// The entries as they were made.
    pub kinds: HashMap<Id, NodeKind>,
    ids: HashMap<u64, Id>,
    next: Id,
    names: HashMap<(Id, String), Id>,
    /// The indices of the effects that removed entries.
    removed: HashMap<Id, usize>,
    lengths: HashMap<Id, usize>,
}

impl History {
    /// Adds an entry from before the recording.
    pub fn found(&mut self, dir: Id, name: &str, ino: u64, length: usize) -> Id {
        let id = self.id(ino);
        self.names.insert((dir, name.into()), id);
        self.lengths.insert(id, length);
        id
    }

    /// Returns the present entry of an inode.
    pub fn id(&mut self, ino: u64) -> Id {
        let next = &mut self.next;
        *self.ids.entry(ino).or_insert_with(|| {
            *next += 1;
            *next
        })
    }

    /// Returns every inode with its last entry.
    pub fn inodes(&self) -> impl Iterator<Item = (u64, Id)> {
        self.ids.iter().map(|(ino, id)| (*ino, *id))
    }

    /// Adds the effects of acts.
    pub fn read(&mut self, acts: &[Act], root: &Path) {
        for (at, act) in acts.iter().enumerate() {
            self.act(at, act, root);
        }
        // A durable removal of an entry makes the effects on the entry durable, too; so later
        // effects come first.
        for number in (0..self.effects.len()).rev() {
            let synced = self.effects[number].synced.iter();
            let since: Option<Vec<usize>> = synced
                .map(|(dir, synced)| {
                    let removed = self.removed.get(dir).and_then(|at| self.effects[*at].durable);
                    [*synced, removed].into_iter().flatten().min()
                })
                .collect();
            self.effects[number].durable = since.and_then(|since| since.into_iter().max());
        }
    }

    fn act(&mut self, at: usize, act: &Act, root: &Path) {
        match act {
            Act::Create(name, ino, mode) => self.make(at, name, *ino, NodeKind::File(*mode), root),
            Act::MakeDir(name, ino, mode) => self.make(at, name, *ino, NodeKind::Dir(*mode), root),
            Act::Symlink(name, ino, text) => {
                self.make(at, name, *ino, NodeKind::Link(text.clone()), root)
            }
            Act::Write { ino, path, bytes, at_start } => {
                let id = self.id(*ino);
                let length = self.lengths.entry(id).or_default();
                let from = if *at_start { 0 } else { *length };
                *length = (*length).max(from + bytes.len());
                self.content(at, id, NodeContent::Bytes(from, bytes.clone()), beneath(root, path));
            }
            Act::Mode(ino, mode, path) => {
                let id = self.id(*ino);
                self.content(at, id, NodeContent::Mode(*mode), beneath(root, path));
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
                let first = self.named(one);
                let second = self.named(other);
                self.rename(at, &[(one, Some(second)), (other, Some(first))], root);
            }
            Act::Remove(name, inode) => {
                let key = (self.id(name.dir), name.name.clone());
                let known = self.names.get(&key).copied().or(inode.map(|inode| self.id(inode)));
                let last = known.filter(|id| {
                    self.names.iter().all(|(other, named)| named != id || *other == key)
                });
                if let Some(id) = last {
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
                for synced in self.effects.iter_mut().flat_map(|effect| effect.synced.values_mut())
                {
                    synced.get_or_insert(at);
                }
            }
            Act::Failed(_) | Act::Note(..) => {}
        }
    }

    fn make(&mut self, at: usize, name: &RecordedName, ino: u64, kind: NodeKind, root: &Path) {
        let dir = self.id(name.dir);
        if self.names.contains_key(&(dir, name.name.clone())) {
            return; // an existing file was opened
        }
        // The inode may be a reused one.
        self.ids.remove(&ino);
        let id = self.id(ino);
        self.kinds.insert(id, kind);
        self.rename(at, &[(name, Some(id))], root);
    }

    fn named(&mut self, name: &RecordedName) -> Id {
        let dir = self.id(name.dir);
        if let Some(&id) = self.names.get(&(dir, name.name.clone())) {
            return id;
        }
        // The entry was made outside of the recording.
        self.next += 1;
        self.names.insert((dir, name.name.clone()), self.next);
        self.next
    }

    fn rename(&mut self, at: usize, changes: &[(&RecordedName, Option<Id>)], root: &Path) {
        let mut effect = Effect {
            at,
            names: Vec::new(),
            paths: Vec::new(),
            content: None,
            durable: None,
            synced: BTreeMap::new(),
        };
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

    fn content(&mut self, at: usize, id: Id, content: NodeContent, path: String) {
        self.effects.push(Effect {
            at,
            names: Vec::new(),
            paths: vec![path],
            content: Some((id, content)),
            durable: None,
            synced: [(id, None)].into(),
        });
    }
}

/// Whether a path is that of an audit log, or of its head.
fn is_in_log(path: &str, end: &str) -> bool {
    path.starts_with(".apply-patch/audit/") && path.ends_with(end)
}

fn beneath(root: &Path, path: &str) -> String {
    let rest = Path::new(path).strip_prefix(root).ok().and_then(Path::to_str);
    rest.unwrap_or(path).to_owned()
}

const STATE: &str = ".apply-patch";

/// Whether a path is in the workspace, and not in its state directory.
pub fn is_workspace(path: &str) -> bool {
    !path.starts_with('/') && path != STATE && !path.starts_with(".apply-patch/")
}

/// Whether a name changes that a user of the workspace sees.
pub fn changes_workspace(effect: &Effect) -> bool {
    effect.paths.iter().any(|path| is_workspace(path) && !is_beside(path))
}

fn is_beside(path: &str) -> bool {
    is_workspace(path)
        && (path.ends_with(".apply-patch.tmp") || path.ends_with(".apply-patch.tmp.x"))
}

/// Whether an effect has to be durable before the first name in the workspace changes: on the transaction's
/// folder and its files, on the intents, or on the key of the journal's signature.
fn is_preparation(effect: &Effect) -> bool {
    effect.paths.last().is_some_and(|path| {
        path == STATE
            || (path.starts_with(".apply-patch/pending") && !path.ends_with(".x"))
            || (path.starts_with(".apply-patch/audit/") && path.ends_with(".jsonl"))
            || (path.starts_with('/') && path.ends_with("/key"))
            || is_beside(path)
    })
}

/// Returns the laws that a recording breaks, each with the effect that breaks it.
pub fn broken_laws(acts: &[Act], root: &Path) -> Vec<String> {
    let mut history = History::default();
    history.read(acts, root);
    let mut watch = Watch { acts, ..Watch::default() };
    let mut effects = history.effects.iter().peekable();
    for (at, act) in acts.iter().enumerate() {
        watch.at = at;
        match act {
            Act::Failed(call) => {
                watch.failed.insert(call);
            }
            Act::Note("acknowledged", _) => watch.acknowledged(),
            _ => {}
        }
        if let Some(effect) = effects.next_if(|effect| effect.at == at) {
            watch.begins(act, effect);
            watch.publishes(effect);
            watch.logs(effect);
            watch.ends(effect);
        }
    }
    watch.broken
}

/// The state of the transaction under way, up to an act.
#[derive(Default)]
struct Watch<'h> {
    acts: &'h [Act],
    at: usize,
    broken: Vec<String>,
    /// The calls that were made to fail.
    failed: BTreeSet<&'h str>,
    /// The effects that have to be durable before the first publication.
    prepared: Vec<&'h Effect>,
    /// The effects on staged files in the workspace, and on directories for them.
    beside: Vec<&'h Effect>,
    /// The effects of the publication, and of the moves for it.
    published: Vec<&'h Effect>,
    /// The writes to the audit log.
    logged: Vec<&'h Effect>,
    /// The mark of the roll-back.
    mark: Option<&'h Effect>,
    /// Whether the transaction began in this recording.
    begun: bool,
    /// Whether the journal exists.
    journal: bool,
    /// Whether the list of staged files in the workspace exists.
    list: bool,
}

impl<'h> Watch<'h> {
    fn what(&self, effect: &Effect) -> String {
        format!("{:?}", self.acts[effect.at]).chars().take(300).collect()
    }

    /// Returns the first effect that a power cut could take back now.
    fn volatile(&self, effects: &[&'h Effect]) -> Option<&'h Effect> {
        effects.iter().copied().find(|effect| self.is_volatile(effect))
    }

    fn is_volatile(&self, effect: &Effect) -> bool {
        effect.durable.is_none_or(|since| since > self.at)
    }

    fn has_failed(&self, calls: &[&str]) -> bool {
        calls.iter().any(|call| self.failed.contains(call))
    }

    fn acknowledged(&mut self) {
        let mut published = self.published.iter();
        if let Some(effect) =
            published.find(|effect| changes_workspace(effect) && self.is_volatile(effect))
        {
            self.broken.push(format!("acknowledged before it was durable: {}", self.what(effect)));
        }
    }

    fn begins(&mut self, act: &Act, effect: &'h Effect) {
        let path = effect.path(0);
        if matches!(act, Act::MakeDir(..)) && is_folder(path) {
            self.begun = true;
            self.journal = false;
            self.list = false;
            self.mark = None;
            self.published.clear();
            self.beside.clear();
            self.prepared.retain(|effect| !effect.path(0).starts_with(PENDING));
        }
        if matches!(act, Act::Create(..)) {
            self.journal |= is_in_folder(path, "journal");
            self.list |= is_in_folder(path, "siblings");
        }
    }

    /// Whether an effect makes a directory for a staged file in the workspace, or removes one again. The list
    /// names these directories.
    fn prepares(&self, effect: &Effect) -> bool {
        self.begun
            && self.list
            && (!self.journal || effect.takes_away() && self.published.is_empty())
    }

    fn publishes(&mut self, effect: &'h Effect) {
        let prepares = self.prepares(effect);
        if !changes_workspace(effect) || prepares && effect.takes_away() {
            return;
        }
        if self.begun && !self.journal && !prepares {
            self.broken.push(format!("published without a journal: {}", self.what(effect)));
        }
        // If the process was killed while it made the key, the system decides when it is durable.
        let killed = self.has_failed(&["fsync"]);
        let volatile = self.prepared.iter().find(|before| {
            self.is_volatile(before) && !(killed && before.path(0).starts_with('/'))
        });
        if let Some(before) = volatile {
            self.broken.push(format!(
                "published before {} was durable: {}",
                self.what(before),
                self.what(effect)
            ));
        }
        if let Some(mark) = self.mark
            && self.is_volatile(mark)
            && !self.has_failed(&["fsync", "syncfs"])
        {
            self.broken.push(format!(
                "rolled back before {} was durable: {}",
                self.what(mark),
                self.what(effect)
            ));
        }
    }

    fn logs(&mut self, effect: &'h Effect) {
        if effect.paths.iter().any(|path| is_in_log(path, ".jsonl")) {
            self.logged.push(effect);
        }
        if effect.paths.last().is_some_and(|path| is_in_log(path, ".head"))
            && let Some(line) = self.volatile(&self.logged)
        {
            self.broken.push(format!(
                "the log's head came before {} was durable: {}",
                self.what(line),
                self.what(effect)
            ));
        }
    }

    fn ends(&mut self, effect: &'h Effect) {
        let gone = effect.takes_away();
        let finishes =
            is_folder(effect.path(0)) && effect.path(1).starts_with(".apply-patch/trash/");
        // Where a rename is two steps, the second step of the mark removes the journal's old name.
        let journal_goes = is_in_folder(effect.path(0), "journal") && self.mark.is_none();
        let discards = gone && (journal_goes || is_in_folder(effect.path(0), "journal.aborted"));
        if !gone && effect.paths.last().is_some_and(|path| is_in_folder(path, "journal.aborted")) {
            self.mark = Some(effect);
        } else if changes_workspace(effect) && !self.prepares(effect) {
            self.published.push(effect);
        } else if self.published.is_empty() && is_preparation(effect) && !gone {
            self.prepared.push(effect);
        } else if !(self.published.is_empty()
            || finishes
            || discards
            || is_in_folder(effect.path(0), "siblings"))
            && effect.paths.iter().any(|path| is_beside(path) || path.starts_with(PENDING))
        {
            self.published.push(effect);
        }
        if effect.paths.iter().any(|path| is_workspace(path)) {
            self.beside.push(effect);
        }
        // Without the list, staged files in the workspace are not found any more.
        if gone
            && is_in_folder(effect.path(0), "siblings")
            && self.published.is_empty()
            && let Some(before) = self.volatile(&self.beside)
        {
            self.broken.push(format!(
                "the list went before {} was durable: {}",
                self.what(before),
                self.what(effect)
            ));
        }
        if finishes || discards {
            if let Some(before) = self.volatile(&self.published) {
                self.broken.push(format!(
                    "ended before {} was durable: {}",
                    self.what(before),
                    self.what(effect)
                ));
            }
            let could_mark = !self.has_failed(&["renameat2", "linkat", "unlinkat"]);
            if discards && !self.published.is_empty() && self.mark.is_none() && could_mark {
                self.broken.push(format!("rolled back without a mark: {}", self.what(effect)));
            }
            self.prepared.clear();
            if discards {
                self.published.clear();
            }
        }
        let removed = effect
            .path(0)
            .strip_prefix(".apply-patch/trash/")
            .and_then(|rest| rest.split_once('/'));
        if gone && removed.is_some_and(|(folder, _)| !folder.ends_with(".removed")) {
            self.broken.push(format!(
                "removed from a transaction that is in the history: {}",
                self.what(effect)
            ));
        }
    }
}

const PENDING: &str = ".apply-patch/pending/";

/// Whether a path is the folder of a transaction under way.
fn is_folder(path: &str) -> bool {
    path.strip_prefix(PENDING).is_some_and(|rest| !rest.contains('/'))
}

fn is_in_folder(path: &str, name: &str) -> bool {
    path.strip_prefix(PENDING)
        .and_then(|path| path.split_once('/'))
        .is_some_and(|(_, rest)| rest == name)
}
