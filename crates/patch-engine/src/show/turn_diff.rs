//! One diff of all that several transactions did.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fs_guard::{FileKind, RelPath, Sha256};
use workspace_trash::{FileState, Journal, Store, TransactionId};

use crate::commit::apart;
use crate::commit::kept::KeptFiles;
use crate::commit::left::{LeftFiles, kept_bytes};
use crate::commit::report::Report;
use crate::commit::{self, LogEntry, Workspace};
use crate::files::Files;
use crate::plan::images::Images;
use crate::plan::options::MAX_FILE_SIZE;
use crate::plan::version::FileVersion;
use crate::plan::{ChangeKind, Plan, PostImage, Transition};
use crate::show::diff::{self, LINK, Side, kind_bits, left_bytes};

/// The cumulative diff of a turn: from the files before its first transaction to those after its
/// last.
///
/// Tell it about each transaction ([`applied`](Self::applied)), and about each one that failed and
/// could not be rolled back ([`interrupted`](Self::interrupted)); or take that of finished
/// transactions ([`Workspace::turn_diff`]). A patch that changed nothing may be left out.
///
/// The bytes of every file that was touched are held in memory, before and after.
#[derive(Debug, Clone, Default)]
pub struct TurnDiff {
    /// The file at each path before the turn.
    base: BTreeMap<String, Option<TurnFile>>,
    /// The file there now, for the same paths.
    now: BTreeMap<String, Option<LocatedFile>>,
    between: Vec<ChangeBetween>,
    /// The directories that were made, outermost first.
    made_dirs: Vec<String>,
    /// The directories that were removed, with their permission bits.
    removed_dirs: Vec<(String, u32)>,
}

/// A change of a file by something else, between two transactions of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeBetween {
    /// The file.
    pub path: String,
    /// The transaction of the diff before the change.
    pub earlier: TransactionId,
    /// The transaction of the diff after the change.
    pub later: TransactionId,
    /// Whether the diff leaves the change out. Otherwise the changes of the two cannot be told
    /// apart for certain, and the diff has both.
    pub left_out: bool,
}

/// The change of one file in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnChange {
    /// The kind of the change.
    pub operation: ChangeKind,
    /// The path before.
    pub path: String,
    /// Where it moved to.
    pub to_path: Option<String>,
    /// The hash before.
    pub before: Option<Sha256>,
    /// The hash after.
    pub after: Option<Sha256>,
}

/// A file or symbolic link.
#[derive(Debug, Clone)]
struct TurnFile {
    sha256: Sha256,
    /// Permission bits, and [`LINK`].
    mode: u32,
    /// The bytes, or the link's target; `None` where they are lost.
    bytes: Option<Arc<Vec<u8>>>,
}

impl TurnFile {
    fn is_link(&self) -> bool {
        diff::kind_of(self.mode) == LINK
    }

    /// Returns the file `theirs`, made of this one by something else, without the change from
    /// `base` to this one; `None` where that is not certain.
    fn reverted(&self, base: &Self, theirs: &Self) -> Option<Self> {
        let mode = apart::reverted_mode(base.mode, self.mode, theirs.mode)?;
        let old = base.bytes.as_deref()?;
        let ours = self.bytes.as_deref()?;
        let current = theirs.bytes.as_deref()?;
        if mode & LINK == LINK && self.sha256 != theirs.sha256 {
            return None;
        }
        let bytes = apart::reverted(old, ours, current)?;
        Some(Self { sha256: Sha256::of(&bytes), mode, bytes: Some(Arc::new(bytes)) })
    }

    /// Returns whether git sees no difference.
    fn same(&self, other: &Self) -> bool {
        self.sha256 == other.sha256 && diff::git_mode(self.mode) == diff::git_mode(other.mode)
    }
}

/// A current file, and the path that it had before the turn, if it existed then.
#[derive(Debug, Clone)]
struct LocatedFile {
    file: TurnFile,
    origin: Option<String>,
}

/// A path, and the file there.
type Placed<'t> = (&'t String, &'t TurnFile);

impl TurnDiff {
    /// Starts a turn.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts with the files as a plan would leave them, and as they are without it: the diff is
    /// then from the plan to what is [applied](Self::applied) in its place.
    #[must_use]
    pub fn in_place_of(plan: &Plan) -> Self {
        let images = plan.images();
        let mut turn = Self::new();
        turn.begin(images);
        for transition in plan.transitions() {
            let planned =
                transition.after.as_ref().map(|post| post_image(images, transition, post));
            turn.base.insert(transition.path().to_string(), planned);
        }
        turn
    }

    /// Adds a plan that was committed: a patch, an undo.
    ///
    /// Displaced files are read from the trash, so this is to be called before it is purged; files
    /// that are not in memory are read from the workspace. A file that is gone, or that someone
    /// else has changed since, is named in the diff as binary.
    pub fn applied(&mut self, report: &Report) {
        let images = report.images();
        let plan = &report.plan;
        self.begin(images);
        let moves = plan.changes().iter().filter(|change| change.operation == ChangeKind::Move);
        let moved: BTreeMap<usize, &RelPath> =
            moves.map(|change| (change.transition, &change.path)).collect();
        let left = plan.transitions().iter().enumerate().map(|(index, transition)| {
            let path = transition.path();
            let file = transition.after.as_ref().map(|post| post_image(images, transition, post));
            (path.as_str(), file, moved.get(&index).unwrap_or(&path).as_str())
        });
        self.leave(left);
    }

    /// Adds a transaction that failed and could not be rolled back: its files are read from disk.
    pub fn interrupted(&mut self, plan: &Plan) {
        self.begin(plan.images());
        for transition in plan.transitions() {
            let path = transition.path();
            let file = on_disk(plan.files(), path);
            let path = path.as_str();
            let origin = self.place(path).and_then(|located| located.origin);
            let origin = origin.or_else(|| self.origin_at(path, file.as_ref()));
            self.now.insert(path.to_owned(), file.map(|file| LocatedFile { file, origin }));
        }
    }

    /// Remembers what was at the paths of a plan that are touched for the first time.
    fn begin(&mut self, images: Images<'_>) {
        for Transition { path, before, .. } in images.plan().transitions() {
            self.begin_at(path.as_str(), || {
                let image = before.as_ref()?;
                let kind = kind_bits(image.metadata.kind == FileKind::Symlink);
                let mode = image.metadata.kept_mode() | kind;
                Some(TurnFile { sha256: image.sha256(), mode, bytes: images.before(path).ok() })
            });
        }
    }

    /// Remembers what was at a path, if it is touched for the first time.
    fn begin_at(&mut self, path: &str, before: impl FnOnce() -> Option<TurnFile>) {
        if self.base.contains_key(path) {
            return;
        }
        let file = before();
        let origin = Some(path.to_owned());
        self.now.insert(path.to_owned(), file.clone().map(|file| LocatedFile { file, origin }));
        self.base.insert(path.to_owned(), file);
    }

    /// Takes up a file that something else has changed since the transaction before: its change
    /// goes into the base too, so that the diff does not have it. Returns whether that is certain;
    /// otherwise the change stays in the diff.
    fn take_up(&mut self, path: &str, theirs: Option<TurnFile>) -> bool {
        let ours = self.place(path);
        let origin = ours.as_ref().and_then(|located| located.origin.clone());
        let base = origin.as_ref().and_then(|origin| self.base.get(origin)?.as_ref());
        let rebased = match (&ours, base, &theirs) {
            (Some(ours), Some(base), Some(theirs)) => ours.file.reverted(base, theirs),
            _ => None,
        };
        let is_untouched = ours.is_none() && self.base.get(path).is_some_and(Option::is_none);
        // A file of the diff's own that is gone: what comes next is its own too.
        let is_gone = theirs.is_none() && ours.is_some() && origin.is_none();
        let is_apart = is_untouched || is_gone || rebased.is_some();
        if is_untouched {
            self.base.insert(path.to_owned(), theirs.clone());
        } else if let Some((origin, rebased)) = origin.as_ref().zip(rebased) {
            self.base.insert(origin.clone(), Some(rebased));
        }
        let origin = if ours.is_some() { origin } else { Some(path.to_owned()) };
        self.now.insert(path.to_owned(), theirs.map(|file| LocatedFile { file, origin }));
        is_apart
    }

    /// Returns whether a journal states the file at a path, which is known.
    fn is_there(&self, path: &str, state: Option<&FileState>) -> bool {
        match (self.now.get(path).and_then(Option::as_ref), state) {
            (Some(located), Some(state)) => located.file.same(&recorded(state, None)),
            (located, state) => located.is_none() && state.is_none(),
        }
    }

    /// Returns the changes of files by something else between the transactions of the diff, in the
    /// order in which they were found.
    #[must_use]
    pub fn between(&self) -> &[ChangeBetween] {
        &self.between
    }

    /// Remembers the result of a transaction: each path, the file there, and the path that it had.
    fn leave<'p>(&mut self, left: impl Iterator<Item = (&'p str, Option<TurnFile>, &'p str)>) {
        let mut next = Vec::new();
        for (path, file, from) in left {
            let located = file.map(|file| {
                let origin = match self.place(from) {
                    Some(located) => located.origin,
                    None => self.origin_at(path, Some(&file)),
                };
                // The bytes of a file that moved are known already.
                let known = self.place(from).filter(|located| located.file.sha256 == file.sha256);
                let bytes =
                    file.bytes.clone().or_else(|| known.and_then(|located| located.file.bytes));
                LocatedFile { file: TurnFile { bytes, ..file }, origin }
            });
            next.push((path.to_owned(), located));
        }
        self.now.extend(next);
    }

    fn place(&self, path: &str) -> Option<LocatedFile> {
        self.now.get(path).cloned().flatten()
    }

    /// Treats a file that appears where one was before the turn as that file, unless that one has
    /// moved.
    fn origin_at(&self, path: &str, file: Option<&TurnFile>) -> Option<String> {
        let base = self.base.get(path)?.as_ref()?;
        let is_back = file.is_some_and(|file| file.same(base));
        let elsewhere =
            || self.now.values().flatten().any(|located| located.origin.as_deref() == Some(path));
        (is_back || !elsewhere()).then(|| path.to_owned())
    }

    /// Returns the diff in git's form: renames and modes are shown, binary files are only named. It
    /// is empty when nothing has changed.
    ///
    /// Where no binary file is named, `git apply` takes it and gives the same tree.
    #[must_use]
    pub fn diff(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.pairs().into_iter().for_each(|(old, new)| write(&mut out, old, new));
        out
    }

    /// Returns what became of each file, in the order of the diff.
    #[must_use]
    pub fn changes(&self) -> Vec<TurnChange> {
        self.pairs().into_iter().filter_map(|(old, new)| turn_change(old, new)).collect()
    }

    /// Returns each changed file before and after, in the order of the diff; `None` where there was
    /// or is no file.
    #[must_use]
    pub fn files(&self) -> Vec<(Option<FileVersion>, Option<FileVersion>)> {
        let pairs = self.pairs().into_iter();
        pairs.map(|(old, new)| (old.map(version), new.map(version))).collect()
    }

    /// Leaves only the files of which a path, before or after, is wanted.
    pub fn only(&mut self, is_wanted: &dyn Fn(&str) -> bool) {
        let wanted = |one: &Option<Placed<'_>>| one.is_some_and(|(path, _)| is_wanted(path));
        let pairs = self.pairs();
        let kept = pairs.iter().filter(|(old, new)| wanted(old) || wanted(new));
        let paths = kept.flat_map(|(old, new)| [*old, *new]).flatten();
        let paths: BTreeSet<String> = paths.map(|(path, _)| path.clone()).collect();
        self.base.retain(|path, _| paths.contains(path));
        self.now.retain(|path, _| paths.contains(path));
        self.between.retain(|change| paths.contains(&change.path));
    }

    /// Returns the directories that were made and not removed again, outermost first. Only finished
    /// transactions tell.
    #[must_use]
    pub fn made_dirs(&self) -> &[String] {
        &self.made_dirs
    }

    /// Returns the directories that were removed and not made again, with their permission bits.
    /// Only finished transactions tell.
    #[must_use]
    pub fn removed_dirs(&self) -> &[(String, u32)] {
        &self.removed_dirs
    }

    /// Adds the directories that a transaction made and removed.
    fn change_dirs(&mut self, journal: &Journal) {
        for (dir, mode) in &journal.removed_dirs {
            let made = self.made_dirs.len();
            self.made_dirs.retain(|one| one != dir);
            if self.made_dirs.len() == made {
                self.removed_dirs.push((dir.clone(), *mode));
            }
        }
        for (dir, _) in &journal.created_dirs {
            let removed = self.removed_dirs.len();
            self.removed_dirs.retain(|(one, _)| one != dir);
            if self.removed_dirs.len() == removed && !self.made_dirs.contains(dir) {
                self.made_dirs.push(dir.clone());
            }
        }
    }

    /// Pairs each old file with the one that it became: with itself when it is unchanged, else with
    /// the file that it moved to, else with the one in its place. Those that are unchanged are left
    /// out.
    fn pairs(&self) -> Vec<(Option<Placed<'_>>, Option<Placed<'_>>)> {
        let mut pairing = Pairing::default();
        for (path, old) in &self.base {
            let Some(new) = self.now.get(path).and_then(Option::as_ref) else { continue };
            if old.as_ref().is_some_and(|old| old.same(&new.file)) {
                pairing.add(self, path, path);
            }
        }
        for (path, located) in &self.now {
            if let Some(origin) = located.as_ref().and_then(|located| located.origin.as_ref()) {
                pairing.add(self, origin, path);
            }
        }
        for path in self.base.keys() {
            pairing.add(self, path, path);
        }

        let mut pairs = Vec::new();
        // Deletions come first: another file may have the path now.
        for (path, old) in &self.base {
            if let (Some(old), None) = (old, pairing.taken.get(path)) {
                pairs.push((Some((path, old)), None));
            }
        }
        let sources: BTreeMap<_, _> = pairing.taken.iter().map(|(from, to)| (*to, *from)).collect();
        for (path, located) in &self.now {
            let Some(located) = located else { continue };
            let old =
                sources.get(path).and_then(|from| Some((*from, self.base.get(*from)?.as_ref()?)));
            if old.is_none_or(|(from, old)| from != path || !old.same(&located.file)) {
                pairs.push((old, Some((path, &located.file))));
            }
        }
        pairs
    }
}

/// Old files, each with the new one that it became.
#[derive(Default)]
struct Pairing<'t> {
    taken: BTreeMap<&'t String, &'t String>,
    given: BTreeSet<&'t String>,
}

impl<'t> Pairing<'t> {
    /// Pairs the files at two paths, unless one has a pair, or only one of them is a link.
    fn add(&mut self, turn: &'t TurnDiff, from: &String, to: &String) {
        let Some((from, Some(old))) = turn.base.get_key_value(from) else { return };
        let Some((to, Some(new))) = turn.now.get_key_value(to) else { return };
        let is_free = !self.given.contains(to) && !self.taken.contains_key(from);
        if is_free && old.is_link() == new.file.is_link() {
            self.taken.insert(from, to);
            self.given.insert(to);
        }
    }
}

/// Returns the change from an old file to a new one.
fn turn_change(old: Option<Placed<'_>>, new: Option<Placed<'_>>) -> Option<TurnChange> {
    let (path, _) = old.or(new)?;
    let moved_to = old.zip(new).map(|(_, (to, _))| to).filter(|to| *to != path);
    let operation = match (old, new) {
        (None, _) => ChangeKind::Create,
        (_, None) => ChangeKind::Delete,
        _ if moved_to.is_some() => ChangeKind::Move,
        _ => ChangeKind::Update,
    };
    Some(TurnChange {
        operation,
        path: path.clone(),
        to_path: moved_to.cloned(),
        before: old.map(|(_, file)| file.sha256),
        after: new.map(|(_, file)| file.sha256),
    })
}

impl Workspace {
    /// Returns what finished transactions did together, as far as their bytes are still known. They
    /// are given newest first, as [`log`](Self::log) has them; among several, those that were
    /// rolled back do not count.
    ///
    /// # Errors
    ///
    /// When the store or a file cannot be read.
    pub fn turn_diff(&self, newest_first: &[LogEntry]) -> Result<TurnDiff, commit::Error> {
        HistoryDiffs::new(self, self.store()?.as_ref()).of(newest_first)
    }
}

/// Makes the diffs of many finished transactions and turns, and looks through what later ones have
/// displaced once for all of them.
#[derive(Debug)]
pub struct HistoryDiffs<'s> {
    workspace: &'s Workspace,
    kept: Option<KeptFiles<'s>>,
}

impl<'s> HistoryDiffs<'s> {
    /// Makes diffs from the store of a workspace, if it has one.
    #[must_use]
    pub fn new(workspace: &'s Workspace, store: Option<&'s Store<'s>>) -> Self {
        Self { workspace, kept: store.map(KeptFiles::new) }
    }

    /// Does the same for the transactions whose changes still stand: without the undone ones and
    /// their undos.
    ///
    /// # Errors
    ///
    /// Those of [`Workspace::turn_diff`].
    pub fn net(&self, newest_first: &[LogEntry]) -> Result<TurnDiff, commit::Error> {
        self.together(&standing_changes(newest_first))
    }

    /// Does what [`Workspace::turn_diff`] does.
    ///
    /// # Errors
    ///
    /// Its errors.
    pub fn of(&self, newest_first: &[LogEntry]) -> Result<TurnDiff, commit::Error> {
        self.together(&newest_first.iter().collect::<Vec<_>>())
    }

    fn together(&self, newest_first: &[&LogEntry]) -> Result<TurnDiff, commit::Error> {
        let mut turn = TurnDiff::new();
        let Some(kept) = &self.kept else { return Ok(turn) };
        let mut last = BTreeMap::new();
        for entry in newest_first.iter().rev() {
            if entry.aborted && newest_first.len() > 1 {
                continue;
            }
            let Journal { header, records, .. } = &entry.journal;
            for record in records {
                let spot = kept.store.slot(header.id, record.slot)?;
                let before = || {
                    let state = record.before.as_ref()?;
                    Some(recorded(state, kept_bytes(&spot, state)))
                };
                turn.begin_at(&record.path, before);
                let earlier = last.insert(&*record.path, header.id);
                let Some(earlier) =
                    earlier.filter(|_| !turn.is_there(&record.path, record.before.as_ref()))
                else {
                    continue;
                };
                let left_out = turn.take_up(&record.path, before());
                let path = record.path.clone();
                turn.between.push(ChangeBetween { path, earlier, later: header.id, left_out });
            }
            let left_files = LeftFiles::of(kept.store, Cow::Borrowed(&entry.journal));
            let moves = entry.journal.moves();
            let from: BTreeMap<u32, &str> =
                moves.iter().map(|(from, to)| (to.slot, &*from.path)).collect();
            let left = records.iter().map(|record| {
                let file = record.after.as_ref().map(|state| {
                    let bytes = left_files
                        .bytes(record)
                        .or_else(|| left_bytes(self.workspace, kept, header.id, record, state));
                    recorded(state, bytes)
                });
                (&*record.path, file, *from.get(&record.slot).unwrap_or(&&*record.path))
            });
            turn.leave(left);
            turn.change_dirs(&entry.journal);
        }
        Ok(turn)
    }
}

/// Returns the transactions whose changes stand: without those that were rolled back or undone, and
/// without the undos whose transactions are all among those given.
fn standing_changes(newest_first: &[LogEntry]) -> Vec<&LogEntry> {
    let ids: BTreeSet<_> = newest_first.iter().map(|entry| entry.journal.header.id).collect();
    let undoes_given = |entry: &&LogEntry| {
        let header = &entry.journal.header;
        let mut undone = header.undo_of.iter().chain(&header.also_undo_of);
        header.undo_of.is_some() && !header.partial && undone.all(|id| ids.contains(id))
    };
    let undos = newest_first.iter().filter(undoes_given);
    let undos: BTreeSet<_> = undos.map(|entry| entry.journal.header.id).collect();
    // A transaction stays beside an undo that stays.
    let stay = |entry: &LogEntry| !undos.contains(&entry.journal.header.id);
    let standing: BTreeSet<_> = commit::standing(newest_first, stay).into_iter().collect();
    newest_first.iter().filter(|entry| standing.contains(&entry.journal.header.id)).collect()
}

/// Returns the file that a transition leaves.
fn post_image(images: Images<'_>, transition: &Transition, post: &PostImage) -> TurnFile {
    let mode = post.mode.shown() | kind_bits(post.link);
    TurnFile { sha256: post.sha256(), mode, bytes: images.after(transition).ok() }
}

/// Returns a file that a journal states, with its bytes if they are known.
fn recorded(state: &FileState, bytes: Option<Vec<u8>>) -> TurnFile {
    let mode = (state.mode & 0o777) | kind_bits(state.link);
    TurnFile { sha256: state.sha256, mode, bytes: bytes.map(Arc::new) }
}

fn write(out: &mut Vec<u8>, old: Option<Placed<'_>>, new: Option<Placed<'_>>) {
    let same_bytes = old.zip(new).is_some_and(|((_, old), (_, new))| old.sha256 == new.sha256);
    let old_side = old.map(side);
    let new_side = new.map(side);
    diff::header(out, diff::GIT, old_side, new_side, same_bytes);
    if same_bytes {
        return;
    }
    diff::body(out, diff::GIT, old_side, new_side, |out| {
        patch_text::diff::whole(out, bytes_of(old)?, bytes_of(new)?)
    });
}

/// Returns the bytes of a file, if they are known; of no file, none.
fn bytes_of(file: Option<Placed<'_>>) -> Option<&[u8]> {
    match file {
        Some((_, file)) => file.bytes.as_ref().map(|bytes| &bytes[..]),
        None => Some(&[]),
    }
}

fn version((path, file): Placed<'_>) -> FileVersion {
    FileVersion {
        path: path.clone(),
        sha256: file.sha256,
        mode: file.mode & 0o777,
        link: file.is_link(),
        bytes: file.bytes.clone(),
    }
}

fn side<'f>((path, file): Placed<'f>) -> Side<'f> {
    Side { path, mode: file.mode }
}

/// Reads the file at a path.
fn on_disk(files: &Files, path: &RelPath) -> Option<TurnFile> {
    let seen = files.metadata(path).ok()??;
    let (bytes, kind) = match seen.kind {
        FileKind::Symlink => (files.read_link(path).ok()?, LINK),
        FileKind::File => (files.read(path, MAX_FILE_SIZE).ok()?.0, 0),
        _ => return None,
    };
    Some(TurnFile { sha256: Sha256::of(&bytes), mode: seen.kept_mode() | kind, bytes: Some(bytes) })
}
