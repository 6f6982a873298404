//! One diff of what several transactions did together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fs_guard::{FileKind, RelPath, Sha256};

use crate::commit::report::Report;
use crate::plan::images::Images;
use crate::plan::options::MAX_FILE_SIZE;
use crate::plan::{ChangeKind, Plan, Transition};
use crate::show::diff::{self, LINK, Side, kind_bits};
use crate::text::files::Files;

/// The cumulative diff of a turn: from the files before its first transaction to those after its
/// last.
///
/// Tell it about each transaction ([`applied`](Self::applied)), and about each one that failed and
/// could not be rolled back ([`interrupted`](Self::interrupted)). A patch that changed nothing may
/// be left out.
///
/// The bytes of every file that was touched are held in memory, before and after.
#[derive(Debug, Clone, Default)]
pub struct TurnDiff {
    /// What was at each path before the turn.
    base: BTreeMap<RelPath, Option<TurnFile>>,
    /// What is there now, for the same paths.
    now: BTreeMap<RelPath, Option<LocatedFile>>,
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
        self.mode & LINK == LINK
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
    origin: Option<RelPath>,
}

impl TurnDiff {
    /// Starts a turn.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a plan that was committed: a patch, an undo.
    ///
    /// Displaced files are read from the trash, so this is to be called before it is purged; files
    /// that are not in memory are read from the workspace. A file that is gone, or that someone
    /// else has changed since, is named in the diff as binary.
    pub fn applied(&mut self, report: &Report) {
        let images = report.images();
        self.begin(images);
        self.leave(&report.plan, |transition| {
            let post = transition.after.as_ref()?;
            let mode = post.mode.shown() | kind_bits(post.link);
            Some(TurnFile { sha256: post.sha256, mode, bytes: images.after(transition).ok() })
        });
    }

    /// Adds a transaction that failed and could not be rolled back: its files are read from disk.
    pub fn interrupted(&mut self, plan: &Plan) {
        self.begin(plan.images());
        for transition in plan.transitions() {
            let path = transition.path();
            let file = on_disk(plan.files(), path);
            let origin = self.place(path).and_then(|located| located.origin);
            let origin = origin.or_else(|| self.origin_at(path, file.as_ref()));
            self.now.insert(path.clone(), file.map(|file| LocatedFile { file, origin }));
        }
    }

    /// Remembers what was at the paths of a plan that are touched for the first time.
    fn begin(&mut self, images: Images<'_>) {
        for Transition { path, before, .. } in images.plan().transitions() {
            if self.base.contains_key(path) {
                continue;
            }
            let file = before.as_ref().map(|image| {
                let kind = kind_bits(image.metadata.kind == FileKind::Symlink);
                let mode = image.metadata.kept_mode() | kind;
                TurnFile { sha256: image.sha256, mode, bytes: images.before(path).ok() }
            });
            let located = file.clone().map(|file| LocatedFile { file, origin: Some(path.clone()) });
            self.base.insert(path.clone(), file);
            self.now.insert(path.clone(), located);
        }
    }

    /// Remembers the result of a plan.
    fn leave(&mut self, plan: &Plan, file_of: impl Fn(&Transition) -> Option<TurnFile>) {
        let moves = plan.changes().iter().filter(|change| change.operation == ChangeKind::Move);
        let moved: BTreeMap<usize, &RelPath> =
            moves.map(|change| (change.transition, &change.path)).collect();
        let mut next = Vec::with_capacity(plan.transitions().len());
        for (index, transition) in plan.transitions().iter().enumerate() {
            let path = transition.path();
            let located = file_of(transition).map(|file| {
                let from = *moved.get(&index).unwrap_or(&path);
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
            next.push((path.clone(), located));
        }
        self.now.extend(next);
    }

    fn place(&self, path: &RelPath) -> Option<LocatedFile> {
        self.now.get(path).cloned().flatten()
    }

    /// Treats a file that appears where one was before the turn as that file, unless that one has
    /// moved.
    fn origin_at(&self, path: &RelPath, file: Option<&TurnFile>) -> Option<RelPath> {
        let base = self.base.get(path)?.as_ref()?;
        let is_back = file.is_some_and(|file| file.same(base));
        let elsewhere =
            || self.now.values().flatten().any(|located| located.origin.as_ref() == Some(path));
        (is_back || !elsewhere()).then(|| path.clone())
    }

    /// Returns the diff in git's form: renames and modes are shown, binary files are only named. It
    /// is empty when nothing has changed.
    ///
    /// Where no binary file is named, `git apply` takes it and gives the same tree.
    #[must_use]
    pub fn diff(&self) -> Vec<u8> {
        let now = |path: &RelPath| self.now.get(path).and_then(Option::as_ref);
        let before = |path: &RelPath| self.base.get(path).and_then(Option::as_ref);
        // Each old file is paired with one current file: with itself when it is unchanged, else
        // with the file that it moved to, else with the one in its place.
        let mut taken: BTreeMap<&RelPath, &RelPath> = BTreeMap::new();
        let mut given: BTreeSet<&RelPath> = BTreeSet::new();
        let mut give = |from: &'_ RelPath, to: &'_ RelPath| -> bool {
            let (Some(old), Some(new)) = (before(from), now(to)) else { return false };
            if given.contains(to) || old.is_link() != new.file.is_link() {
                return false;
            }
            let (from, _) = self.base.get_key_value(from).expect("looked up above");
            let (to, _) = self.now.get_key_value(to).expect("looked up above");
            if taken.contains_key(from) {
                return false;
            }
            taken.insert(from, to);
            given.insert(to)
        };
        for path in self.base.keys() {
            if before(path).zip(now(path)).is_some_and(|(old, new)| old.same(&new.file)) {
                give(path, path);
            }
        }
        for (path, located) in &self.now {
            if let Some(origin) = located.as_ref().and_then(|located| located.origin.as_ref()) {
                give(origin, path);
            }
        }
        for path in self.base.keys() {
            give(path, path);
        }

        let mut out = Vec::new();
        // Deletions come first: another file may have the path now.
        for (path, old) in &self.base {
            if let (Some(old), None) = (old, taken.get(path)) {
                write(&mut out, Some((path, old)), None);
            }
        }
        let sources: BTreeMap<_, _> = taken.iter().map(|(from, to)| (*to, *from)).collect();
        for (path, located) in &self.now {
            let Some(located) = located else { continue };
            let old = sources.get(path).and_then(|from| Some((*from, before(from)?)));
            write(&mut out, old, Some((path, &located.file)));
        }
        out
    }
}

fn write(
    out: &mut Vec<u8>,
    old: Option<(&RelPath, &TurnFile)>,
    new: Option<(&RelPath, &TurnFile)>,
) {
    let same_bytes = old.zip(new).is_some_and(|((_, old), (_, new))| old.sha256 == new.sha256);
    let same_path = old.zip(new).is_some_and(|((from, _), (to, _))| from == to);
    if same_path && old.zip(new).is_some_and(|((_, old), (_, new))| old.same(new)) {
        return;
    }
    let (old_side, new_side) = (old.map(side), new.map(side));
    diff::header(out, diff::GIT, old_side, new_side, same_bytes);
    if same_bytes {
        return;
    }
    let bytes = |file: Option<(&RelPath, &TurnFile)>| match file {
        Some((_, file)) => file.bytes.clone(),
        None => Some(Arc::default()),
    };
    diff::body(out, diff::GIT, old_side, new_side, |out, language| {
        diff::whole(out, language, &bytes(old)?, &bytes(new)?)
    });
}

fn side<'f>((path, file): (&'f RelPath, &TurnFile)) -> Side<'f> {
    Side { path: path.as_str(), mode: file.mode }
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
