//! Plans that restore the files that transactions displaced.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use fs_guard::{Access, Cancellation, FileKind, RelPath, Sha256};
use patch_grammar::binary::is_binary;
use workspace_trash::{FileState, Journal, Prefix, Record, Store, TransactionId, TrashEntry};

use super::error::{Drift, Error};
use super::history::{self, Log, LogEntry};
use super::kept::KeptFiles;
use super::reach::Reach;
use super::workspace::Workspace;
use crate::carry::{Carried, Conflict, carry, difference};
use crate::plan::builder::{self, PlanBuilder, Undoing};
use crate::plan::disk::{Disk, look};
use crate::plan::options::{MAX_FILE_SIZE, Options};
use crate::plan::reject::{Problem, Reject, Rejects};
use crate::plan::{Image, Mode, Plan, PlanNote, PostImage, Undone};
use crate::remedy::Remedy;
use crate::text::files::Files;
use crate::text::lines::{Lines, with_crlf, with_lf};

/// How many older changes are tried, to name one that can be undone in place of the newest.
const MAX_INSTEAD: usize = 16;

/// How a transaction is undone.
#[derive(Debug, Clone)]
pub struct UndoOptions {
    /// Whether the reversal is [carried](crate::carry) to files that have changed since. The base
    /// is the file that the transaction left, and the wanted text is the one that it displaced.
    pub carry: bool,
    /// Whether a person vouches for the journal: it may then be signed with a key that is not
    /// available here, or unsigned. Paths that the policy or the guard refuses are refused all the
    /// same.
    pub trust: bool,
    /// Gives planning up.
    pub cancellation: Cancellation,
}

impl Default for UndoOptions {
    fn default() -> Self {
        Self { carry: false, trust: false, cancellation: Cancellation::NEVER }
    }
}

impl Workspace {
    /// Plans to undo a transaction, or only its changes to `paths` (empty: all of it).
    ///
    /// Fails with every path that has changed since the transaction.
    pub fn plan_undo(&self, id: TransactionId, paths: &[RelPath]) -> Result<Plan, Error> {
        self.plan_undo_with(Some(id), paths, &UndoOptions::default())
    }

    /// Plans to undo the newest transaction that [can be undone](Self::plan_undo_with), with its
    /// turn.
    pub fn plan_undo_last(&self) -> Result<Plan, Error> {
        self.plan_undo_with(None, &[], &UndoOptions::default())
    }

    /// Plans to undo a transaction, or only its changes to `paths` (empty: all of it).
    ///
    /// `None` is the newest one that is neither undone nor itself an undo, and of whose changes
    /// something is left. A [note](PlanNote) of the plan names each newer one of whose changes
    /// nothing is left: it counts as undone. If the transaction is part of a turn, all of the turn
    /// is undone as one, unless `paths` are given.
    ///
    /// # Errors
    ///
    /// With every path that has changed since the transaction; or, with
    /// [`carry`](UndoOptions::carry), with every one to which its reversal cannot be carried, and
    /// every conflict. Without an id no older one is undone in its place, but the error names the
    /// next one that could be. If nothing is left of its changes, [`NothingTo`](Error::NothingTo).
    pub fn plan_undo_with(
        &self,
        id: Option<TransactionId>,
        paths: &[RelPath],
        options: &UndoOptions,
    ) -> Result<Plan, Error> {
        let missing = || match id {
            Some(id) => workspace_trash::Error::NoSuchTransaction(id).into(),
            None => nothing_to("undo", &[]),
        };
        let store = self.store()?.ok_or_else(missing)?;
        let log = Log::new(&store);
        let Some(id) = id else {
            let mut turns = HashSet::new();
            let mut with_turn = |change: &LogEntry| {
                if !paths.is_empty() {
                    return Ok(Some(vec![change.journal.header.id]));
                }
                let ids = history::with_its_turn(&log, change)?;
                Ok(turns.insert(ids[0]).then_some(ids))
            };
            let mut changes = history::changes(&log)
                .filter_map(|change| change.and_then(|change| with_turn(&change)).transpose());
            let first = first_of(&log, "undo", &mut changes, |ids| {
                plan_undo(self, (&store, &log), ids, paths, options)
            });
            return first.map_err(|mut error| {
                if let Error::Drifted { instead, .. } | Error::NotRestored { instead, .. } =
                    &mut error
                    && paths.is_empty()
                {
                    let exact = UndoOptions { carry: false, ..options.clone() };
                    let can = |ids: &Vec<TransactionId>| {
                        let plan = plan_undo(self, (&store, &log), ids, &[], &exact);
                        matches!(plan, Ok(Some(_)))
                    };
                    let mut before = changes.take(MAX_INSTEAD).map_while(Result::ok);
                    *instead =
                        before.find(can).and_then(|ids| history::name_of(&log, &ids).ok()?);
                }
                error
            });
        };
        // An error elsewhere in the history is no reason to refuse a transaction that is named.
        let log = log.ending_at_error();
        let plan = plan_undo(self, (&store, &log), &[id], paths, options)?;
        plan.ok_or_else(|| nothing_to("undo", &[id]))
    }

    /// Plans to undo several transactions as one: each file comes back as it was before the first
    /// of them that changed it, if it is as the last of them left it, and nothing else changed it
    /// between. A file that is as it was already is left alone.
    ///
    /// # Errors
    ///
    /// Those of [`plan_undo_with`](Self::plan_undo_with), for all of them together.
    pub fn plan_undo_all(
        &self,
        ids: &[TransactionId],
        options: &UndoOptions,
    ) -> Result<Plan, Error> {
        let store = self.store()?.filter(|_| !ids.is_empty());
        let store = store.ok_or_else(|| nothing_to("undo", &[]))?;
        let plan = plan_undo(self, (&store, &Log::new(&store)), ids, &[], options)?;
        plan.ok_or_else(|| nothing_to("undo", ids))
    }

    /// Plans to undo an undo. `id` is the undo or the transaction that it undid; `None` is the
    /// newest undo, if nothing new was applied since.
    ///
    /// # Errors
    ///
    /// Those of [`plan_undo_with`](Self::plan_undo_with).
    pub fn plan_redo(&self, id: Option<TransactionId>) -> Result<Plan, Error> {
        self.plan_redo_with(id, &UndoOptions::default())
    }

    /// Does the same by these options.
    ///
    /// # Errors
    ///
    /// Those of [`plan_undo_with`](Self::plan_undo_with).
    pub fn plan_redo_with(
        &self,
        id: Option<TransactionId>,
        options: &UndoOptions,
    ) -> Result<Plan, Error> {
        let nothing = || nothing_to("redo", &[]);
        let store = self.store()?.ok_or_else(nothing)?;
        let log = Log::new(&store);
        let plan = |ids: &[_]| plan_undo(self, (&store, &log), ids, &[], options);
        match id {
            None => {
                let undos = history::undos(&log).map(|undo| Ok(vec![undo?.journal.header.id]));
                first_of(&log, "redo", undos, plan)
            }
            Some(id) => {
                let undo = history::active_undo_of(&log, id)?.ok_or_else(nothing)?;
                plan(&[undo])?.ok_or_else(|| nothing_to("redo", &[undo]))
            }
        }
    }

    /// Plans to restore displaced files of one transaction, each by its number, to its original
    /// path or to the path given with it.
    ///
    /// # Errors
    ///
    /// If a file is there already (the error names the transaction that left it), or if the
    /// transaction or the file is not kept.
    pub fn plan_restore(
        &self,
        id: TransactionId,
        files: &[(u32, Option<RelPath>)],
    ) -> Result<Plan, Error> {
        let store = self.store()?.ok_or(workspace_trash::Error::NoSuchTransaction(id))?;
        let journal = store.journal(id)?;
        let options = Options::default();
        let mut builder = PlanBuilder::new(self.files(), &options);
        let reach = self.reach();
        let records: HashMap<u32, &Record> =
            journal.records.iter().map(|record| (record.slot, record)).collect();
        for (slot, target) in files {
            let slot = *slot;
            let missing = || workspace_trash::Error::NoSuchSlot { id, slot };
            let record = records.get(&slot).ok_or_else(missing)?;
            let before = record.before.as_ref().ok_or_else(missing)?;
            if store.slot(id, slot)?.metadata()?.is_none() {
                return Err(missing().into());
            }
            // Where the bytes come from counts, wherever they go.
            if target.is_none() || !reach.shows(&record.path) {
                elsewhere(self, id, std::iter::once(&record.path))?;
                reach.check(&record.path, true, Access::Read)?;
            }
            let path = target.as_ref().map_or(record.path.as_str(), RelPath::as_str);
            if let Err(mut reject) = builder.create_from(path, stored(before, id, slot)) {
                if let Problem::Exists { by, .. } = &mut reject.problem {
                    let path = self.root().check(path, Access::Create)?;
                    let now = look(&self.root().into(), &path)?
                        .and_then(Result::ok)
                        .map(|disk| disk.sha256());
                    let file = (path.as_str(), now);
                    *by = left_by(&Log::new(&store), [file], &reach)?.remove(path.as_str());
                }
                return Err(rejected(id, reject));
            }
        }
        Ok(builder.finish()?)
    }
}

/// Fails if one of the paths lies outside the root.
fn elsewhere<'p>(
    workspace: &Workspace,
    id: TransactionId,
    paths: impl Iterator<Item = &'p String>,
) -> Result<(), Error> {
    let mut outside: Vec<_> = paths.filter(|path| Prefix::leads_out(path)).cloned().collect();
    if outside.is_empty() {
        return Ok(());
    }
    let reach = workspace.reach();
    outside.retain(|path| reach.shows(path));
    let project = || fs_guard::real_path(workspace.home().path());
    let project = if outside.is_empty() { None } else { Some(project()?.display().to_string()) };
    Err(Error::Elsewhere { id, paths: outside, project })
}

/// Makes the error of a path where nothing can be restored.
fn rejected(id: TransactionId, reject: Reject) -> Error {
    match reject.problem {
        Problem::Guard(error) => error.into(),
        _ => Error::NotRestored { id, rejects: reject.into(), instead: None },
    }
}

/// Makes the error of a path to which a transaction cannot be undone.
fn refused(id: TransactionId, error: fs_guard::Error) -> Error {
    match error.path().map(str::to_owned) {
        Some(path) if Remedy::of_guard(&error).iter().any(Remedy::is_about_the_patch) => {
            let rejects = Reject::of(&path, Problem::Guard(error)).into();
            Error::NotRestored { id, rejects, instead: None }
        }
        _ => error.into(),
    }
}

/// Returns the plan of the first candidate, one transaction or a whole turn, of whose changes
/// something is left; its notes name those before it.
fn first_of(
    log: &Log<'_>,
    what: &'static str,
    candidates: impl Iterator<Item = Result<Vec<TransactionId>, Error>>,
    plan: impl Fn(&[TransactionId]) -> Result<Option<Plan>, Error>,
) -> Result<Plan, Error> {
    let mut passed = Vec::new();
    let mut gone = Vec::new();
    for ids in candidates {
        let ids = ids?;
        let id = ids[0];
        history::is_newest(log, Some(id), what)?;
        if let Some(mut plan) = plan(&ids)? {
            plan.notes.splice(0..0, passed);
            return Ok(plan);
        }
        gone.push(id);
        passed.push(PlanNote::PassedOver { id, why: "its changes are gone already".to_owned() });
    }
    history::is_newest(log, None, what)?;
    Err(nothing_to(what, &gone))
}

fn nothing_to(what: &'static str, gone: &[TransactionId]) -> Error {
    Error::NothingTo { what, gone: gone.to_vec() }
}

/// Plans to undo transactions as one; `None` if nothing is left of their changes.
fn plan_undo(
    workspace: &Workspace,
    log: (&Store<'_>, &Log<'_>),
    ids: &[TransactionId],
    paths: &[RelPath],
    how: &UndoOptions,
) -> Result<Option<Plan>, Error> {
    brought_back(workspace, log, ids, paths, how).map_err(|error| match error {
        Error::Files(error) => refused(ids[0], error),
        error => error,
    })
}

fn brought_back(
    workspace: &Workspace,
    (store, log): (&Store<'_>, &Log<'_>),
    ids: &[TransactionId],
    paths: &[RelPath],
    how: &UndoOptions,
) -> Result<Option<Plan>, Error> {
    let files = workspace.files().cancelled_by(how.cancellation.clone());
    let Joined { journal, authentic, sources } = joined(store, ids, how.trust)?;
    let id = journal.header.id;
    let back = if ids.len() == 1 { history::taken_back(log, id)? } else { HashSet::new() };
    let mut records = wanted(&journal, paths)?;
    if paths.is_empty() && records.iter().any(|record| !back.contains(&*record.path)) {
        records.retain(|record| !back.contains(&*record.path));
    }
    let dirs = journal
        .created_dirs
        .iter()
        .map(|(dir, _)| dir)
        .chain(journal.removed_dirs.iter().map(|(dir, _)| dir));
    let all = records.iter().map(|record| &record.path).chain(dirs.filter(|_| paths.is_empty()));
    elsewhere(workspace, id, all)?;
    let reach = workspace.reach();
    let options = Options::default();
    let mut builder = PlanBuilder::with_capacity(files.clone(), &options, records.len());
    // If parts of it were undone before, this may undo the rest.
    let wanted: HashSet<u32> = records.iter().map(|record| record.slot).collect();
    let comes_back =
        |record: &Record| back.contains(&*record.path) || wanted.contains(&record.slot);
    let moves = journal.moves().into_iter();
    builder.undo(Undoing {
        undone: Undone { id, partial: !journal.records.iter().all(comes_back) },
        authentic: reach.vouches(authentic),
        also: journal.header.also_undo_of.clone(),
        moved_back: moves.map(|(from, to)| (to.path.clone(), from.path.clone())).collect(),
    });
    if paths.is_empty()
        && let Some(turn) = history::whole_turn(log, ids)?
    {
        builder.note(PlanNote::OfTurn { turn, transactions: ids.len() });
    }
    let all_kept = KeptFiles::new(store);
    let mut is_gone = true;
    let mut drifted = Vec::new();
    let mut conflicts = Vec::new();
    // All paths are checked first, so that nothing is told of any if one is refused.
    let checked = |path: &String| reach.check(path, authentic, Access::Update);
    let checked_paths =
        records.iter().map(|record| checked(&record.path)).collect::<Result<Vec<_>, _>>()?;
    for (&record, path) in records.iter().zip(checked_paths) {
        let source = &sources[&*record.path];
        let is_gap = source.gap.is_some();
        let as_left = is_as_left(&files, &path, record, &journal)?;
        let (Ok(now) | Err(now)) = &as_left;
        // Its effect is gone already.
        if is_as_before(record, now.as_ref()) {
            builder.note(PlanNote::AsBefore { path: record.path.clone() });
            continue;
        }
        match as_left {
            Ok(now) if is_gap => drifted.push((record, now, None)),
            Err(now) => match carried_back(
                &files,
                (store, &all_kept),
                source,
                (record, &path),
                now.as_ref().filter(|_| !is_gap),
                how,
            )? {
                Some(CarriedBack { made: Ok((post, _)), .. })
                    if now.as_ref().is_some_and(|now| builder::is_same(now, &post)) =>
                {
                    builder.note(PlanNote::AsBefore { path: record.path.clone() });
                }
                Some(CarriedBack { made: Ok((post, carried)), .. }) if how.carry => {
                    is_gone = false;
                    builder.restore(&path, now, Some(post));
                    builder.note_all(carried);
                }
                Some(CarriedBack { made: Err(found), .. }) if how.carry => {
                    let conflict =
                        |conflict| Reject::of(path.as_str(), Problem::Conflict(Box::new(conflict)));
                    conflicts.extend(found.into_iter().map(conflict));
                }
                carried => drifted.push((record, now, carried)),
            },
            Ok(now) => {
                let post =
                    record.before.as_ref().map(|state| stored(state, source.first, record.slot));
                is_gone = false;
                builder.restore(&path, now, post);
            }
        }
    }
    if !drifted.is_empty() {
        let can =
            |carried: &Option<CarriedBack>| carried.as_ref().is_some_and(|it| it.made.is_ok());
        let carry = drifted.iter().all(|(.., carried)| can(carried));
        let hash = |now: &Option<Disk>| now.as_ref().map(|disk| disk.sha256());
        let files = drifted.iter().map(|(record, now, _)| (record.path.as_str(), hash(now)));
        let left_by = left_by(log, files, &reach)?;
        let drift = |(record, now, carried): &(&Record, Option<Disk>, Option<CarriedBack>)| {
            if let Some((_, gap)) = &sources[&*record.path].gap {
                let by = gap.between.map(|ends| history::between(log, &record.path, ends));
                let by = by.transpose()?.flatten().filter(|by| reach.shows_all(&by.journal));
                return Ok(Drift { by: by.map(|by| by.journal.header.id), ..gap.clone() });
            }
            Ok(Drift {
                path: record.path.clone(),
                expected: record.after.as_ref().map(|state| state.sha256),
                actual: hash(now),
                by: left_by.get(record.path.as_str()).copied().filter(|by| !ids.contains(by)),
                between: None,
                line_ends: carried.as_ref().is_some_and(|carried| carried.line_ends),
            })
        };
        let source = &sources[&*drifted[0].0.path];
        let id = source.gap.as_ref().map_or(source.last.0, |(id, _)| *id);
        let drifts = drifted.iter().map(drift).collect::<Result<_, Error>>()?;
        return Err(Error::Drifted { id, drifts, carry, instead: None });
    }
    if let Some(rejects) = Rejects::new(conflicts) {
        return Err(Error::NotRestored { id, rejects, instead: None });
    }
    builder.create_parents().map_err(|reject| rejected(id, reject))?;
    // As when the transaction was committed: those of our own not against the lists.
    let checked = |dir: &String| workspace.root().check_recorded(dir, authentic);
    for (dir, mode) in &journal.removed_dirs {
        let dir = checked(dir)?;
        // Undoing a whole transaction restores its directories even if they are empty.
        let seen = match files.metadata(&dir) {
            // A link took the place of one above.
            Err(fs_guard::Error::Symlink { .. } | fs_guard::Error::LeadsOut { .. }) => None,
            seen => seen?,
        };
        if seen.is_none_or(|seen| seen.kind != FileKind::Directory) {
            is_gone &= !paths.is_empty();
            builder.restore_dir(dir, *mode, paths.is_empty());
        }
    }
    for (dir, _) in journal.created_dirs.iter().rev() {
        let dir = checked(dir)?;
        is_gone = is_gone && !files.read_dir(Some(&dir)).is_ok_and(|names| names.is_empty());
        builder.remove_dir(dir);
    }
    Ok(if is_gone { None } else { Some(builder.finish()?) })
}

/// Transactions that are undone as one.
struct Joined {
    /// What they did together, under the newest one's header.
    journal: Journal,
    authentic: bool,
    /// Where the files of each path are.
    sources: HashMap<String, Displaced>,
}

/// Where the versions of a file are that several transactions changed.
struct Displaced {
    /// Which record of the joined journal is the file's.
    nth: usize,
    /// The first transaction, which displaced the file that comes back.
    first: TransactionId,
    /// The last one, and its record.
    last: (TransactionId, Record),
    /// Where something else changed the file between two of them, and the earlier one.
    gap: Option<(TransactionId, Drift)>,
}

impl Displaced {
    fn by(id: TransactionId, record: &Record, nth: usize) -> Self {
        Self { nth, first: id, last: (id, record.clone()), gap: None }
    }
}

/// Reads the journals of transactions, newest first, and joins them to one.
fn joined(store: &Store<'_>, ids: &[TransactionId], trust: bool) -> Result<Joined, Error> {
    let mut all: Option<Joined> = None;
    for &id in ids {
        let (mut journal, authentic) = store.journal_if(id, trust)?;
        // What it undid itself is not undone by this.
        journal.header.also_undo_of.clear();
        if store.is_aborted(id)? {
            return Err(Error::Aborted(id));
        }
        let Some(all) = &mut all else {
            let source = |(nth, record): (usize, &Record)| {
                (record.path.clone(), Displaced::by(id, record, nth))
            };
            let sources = journal.records.iter().enumerate().map(source).collect();
            all = Some(Joined { journal, authentic, sources });
            continue;
        };
        all.authentic &= authentic;
        all.journal.header.also_undo_of.push(id);
        // The first of them that made or removed a directory says whether it was there before.
        let made = journal.created_dirs.iter().map(|(dir, _)| dir);
        let changed = made.chain(journal.removed_dirs.iter().map(|(dir, _)| dir));
        let changed: HashSet<&String> = changed.collect();
        all.journal.removed_dirs.retain(|(dir, _)| !changed.contains(dir));
        all.journal.created_dirs.retain(|(dir, _)| !changed.contains(dir));
        all.journal.created_dirs.splice(0..0, journal.created_dirs);
        all.journal.removed_dirs.extend(journal.removed_dirs);
        for record in journal.records {
            let Some(source) = all.sources.get_mut(&record.path) else {
                let nth = all.journal.records.len();
                all.sources.insert(record.path.clone(), Displaced::by(id, &record, nth));
                all.journal.records.push(record);
                continue;
            };
            let later = &mut all.journal.records[source.nth];
            if !are_same(record.after.as_ref(), later.before.as_ref()) {
                let hash = |state: &Option<FileState>| state.as_ref().map(|state| state.sha256);
                let gap = Drift {
                    path: record.path.clone(),
                    expected: hash(&record.after),
                    actual: hash(&later.before),
                    by: None,
                    between: Some((id, source.first)),
                    line_ends: false,
                };
                source.gap = Some((id, gap));
            }
            source.first = id;
            *later = Record { after: later.after.clone(), ..record };
        }
    }
    let mut all = all.expect("BUG: there is a transaction to undo");
    // The numbers are those of several transactions.
    if ids.len() > 1 {
        all.journal.moved.clear();
    }
    Ok(all)
}

/// Returns whether a file is as it was before a transaction changed it.
fn is_as_before(record: &Record, now: Option<&Disk>) -> bool {
    match (&record.before, now) {
        (None, None) => true,
        (Some(before), Some(now)) => is_same(before, now),
        _ => false,
    }
}

/// Returns whether two journals state the same file.
fn are_same(one: Option<&FileState>, other: Option<&FileState>) -> bool {
    let mode = |state: &FileState| if state.link { 0 } else { state.mode & 0o777 };
    match (one, other) {
        (Some(one), Some(other)) => {
            one.sha256 == other.sha256 && one.link == other.link && mode(one) == mode(other)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Returns whether a file is the one that a journal states.
fn is_same(state: &FileState, disk: &Disk) -> bool {
    disk.metadata.kind == state.kind()
        && disk.sha256() == state.sha256
        && (state.link || disk.metadata.kept_mode() == state.mode & 0o777)
}

/// Returns the last transaction that changed each of these files, given with the hashes that they
/// have: if it was no undo, the file is still as that one left it, and the caller may see all that
/// it did, so that it can be undone first.
fn left_by<'p>(
    log: &Log<'_>,
    files: impl IntoIterator<Item = (&'p str, Option<Sha256>)>,
    reach: &Reach,
) -> Result<HashMap<&'p str, TransactionId>, Error> {
    let actual: HashMap<&str, Option<Sha256>> = files.into_iter().collect();
    let mut found = history::last_changes_to(log, actual.keys().copied().collect())?;
    found.retain(|path, (_, record)| {
        record.after.as_ref().map(|state| state.sha256) == actual[path]
    });
    let mut is_shown = HashMap::new();
    found.retain(|_, (entry, _)| {
        let journal = &entry.journal;
        *is_shown.entry(journal.header.id).or_insert_with(|| reach.shows_all(journal))
    });
    Ok(found.into_iter().map(|(path, (entry, _))| (path, entry.journal.header.id)).collect())
}

/// A file with a transaction's change reverted.
struct CarriedBack {
    made: Result<(PostImage, Vec<PlanNote>), Vec<Conflict>>,
    /// Only its line ends are not as the transaction left them. Those that it has are kept.
    line_ends: bool,
}

/// Returns the current file with a transaction's change reverted. `None` if the change cannot be
/// carried: it is not an update of a text file that still exists, or the bytes that the transaction
/// left are not known any more.
fn carried_back(
    files: &Files,
    (store, all_kept): (&Store<'_>, &KeptFiles<'_>),
    source: &Displaced,
    (record, path): (&Record, &RelPath),
    now: Option<&Disk>,
    how: &UndoOptions,
) -> Result<Option<CarriedBack>, Error> {
    let (Some(before), Some(after), Some(now)) = (&record.before, &record.after, now) else {
        return Ok(None);
    };
    if before.link || after.link || now.metadata.kind != FileKind::File {
        return Ok(None);
    }
    // A three-way merge of the modes: if only one side changed it, or both made the same change.
    let mode = match (before.mode & 0o777, after.mode & 0o777, now.metadata.kept_mode()) {
        (before, after, now) if now == after || now == before => before,
        (before, after, now) if before == after => now,
        _ => return Ok(None),
    };
    let Some(mut wanted) = kept(store, source.first, record.slot, before.sha256)? else {
        return Ok(None);
    };
    let Some(mut base) = left(all_kept, &source.last, after.sha256, how.trust)? else {
        return Ok(None);
    };
    let current = match &now.bytes {
        Some(bytes) => Arc::clone(bytes),
        None => files.read(path, MAX_FILE_SIZE)?.0,
    };
    // Text in other encodings cannot be compared as bytes.
    if Sha256::of(&current) != now.sha256()
        || [&wanted, &base, &*current].iter().any(|bytes| is_binary(bytes))
    {
        return Ok(None);
    }
    let ends = Lines::new(&current).terminators();
    let as_now = |text: &[u8]| if ends.crlf { with_crlf(&with_lf(text)) } else { with_lf(text) };
    let line_ends = !(ends.crlf && ends.lf) && *current != *base && *current == *as_now(&base);
    if line_ends {
        (base, wanted) = (as_now(&base), as_now(&wanted));
    }
    let Carried { splices, hunks } = match carry(&base, &current, &difference(&base, &wanted)) {
        Ok(carried) => carried,
        Err(conflicts) => return Ok(Some(CarriedBack { made: Err(conflicts), line_ends })),
    };
    let bytes = splices.apply(&current);
    let post = PostImage {
        mode: Mode::Exactly(mode),
        rewritten: false,
        attributes_of: Some(path.clone()),
        ..PostImage::kept(bytes)
    };
    let notes = hunks.into_iter().map(|hunk| hunk.note(&record.path)).collect();
    Ok(Some(CarriedBack { made: Ok((post, notes)), line_ends }))
}

/// Returns the bytes of a displaced file if they have the hash that the journal states.
fn kept(
    store: &Store<'_>,
    id: TransactionId,
    slot: u32,
    sha256: Sha256,
) -> Result<Option<Vec<u8>>, Error> {
    let bytes = match store.slot(id, slot)?.read(MAX_FILE_SIZE) {
        Ok((bytes, _)) => bytes,
        Err(error @ fs_guard::Error::Io { .. }) => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    Ok(Some(bytes).filter(|bytes| Sha256::of(bytes) == sha256))
}

/// Returns the bytes that a transaction left, if a later one displaced them, or the transaction
/// itself kept what tells them.
fn left(
    all_kept: &KeptFiles<'_>,
    (id, record): &(TransactionId, Record),
    sha256: Sha256,
    trust: bool,
) -> Result<Option<Vec<u8>>, Error> {
    let store = all_kept.store;
    let bytes = |entry: &TrashEntry| kept(store, entry.id, entry.slot, sha256);
    let look = |entry: &TrashEntry| if entry.link { Ok(None) } else { bytes(entry) };
    let found = match all_kept.find(*id, sha256, look)? {
        Some(bytes) => Some(bytes),
        None => all_kept.left_by(*id, record, trust)?,
    };
    Ok(found.filter(|bytes| Sha256::of(bytes) == sha256))
}

fn wanted<'j>(journal: &'j Journal, paths: &[RelPath]) -> Result<Vec<&'j Record>, Error> {
    let records = &journal.records;
    let slots: HashMap<&str, u32> =
        records.iter().map(|record| (record.path.as_str(), record.slot)).collect();
    let named = paths.iter().map(|path| {
        let path = path.as_str();
        let missing = || Error::NotInTransaction { id: journal.header.id, path: path.into() };
        slots.get(path).copied().ok_or_else(missing)
    });
    let mut slots = named.collect::<Result<BTreeSet<u32>, _>>()?;
    // Both paths of a moved file belong together.
    for (from, to) in &journal.moved {
        if slots.contains(from) || slots.contains(to) {
            slots.extend([from, to]);
        }
    }
    Ok(records.iter().filter(|record| paths.is_empty() || slots.contains(&record.slot)).collect())
}

/// Returns the file at a path: `Ok` if it is as the transaction left it, `Err` if it has changed.
pub(super) fn is_as_left(
    files: &Files,
    path: &RelPath,
    record: &Record,
    journal: &Journal,
) -> Result<Result<Option<Disk>, Option<Disk>>, Error> {
    let left = record.after.as_ref();
    let mut now = match look(files, path) {
        // The transaction put a link in place of the directory.
        Err(fs_guard::Error::Symlink { .. } | fs_guard::Error::LeadsOut { .. })
            if left.is_none() && is_below_link(path, journal) =>
        {
            None
        }
        now => now?,
    };
    // A directory that the transaction created in place of a file is removed before the file is
    // restored.
    let made = || journal.created_dirs.iter().any(|(dir, _)| *dir == record.path);
    if left.is_none()
        && matches!(&now, Some(Err(seen)) if seen.kind == FileKind::Directory)
        && made()
    {
        now = None;
    }
    let same = match (&now, left) {
        (None, None) => true,
        (Some(Ok(disk)), Some(state)) => is_same(state, disk),
        _ => false,
    };
    let disk = now.and_then(Result::ok);
    Ok(if same { Ok(disk) } else { Err(disk) })
}

/// Returns whether the transaction made or took away a symbolic link above a path.
fn is_below_link(path: &RelPath, journal: &Journal) -> bool {
    let mut links = journal.records.iter().filter(|record| record.is_of_link());
    links.any(|link| path.ancestors().any(|above| above.as_str() == link.path))
}

fn stored(state: &FileState, transaction: TransactionId, slot: u32) -> PostImage {
    PostImage {
        mode: Mode::Exactly(state.mode & 0o777),
        link: state.link,
        rewritten: false,
        ..PostImage::new(Image::Stored(transaction, slot), state.sha256, state.size)
    }
}
