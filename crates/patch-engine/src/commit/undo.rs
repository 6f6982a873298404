//! Plans to restore displaced files.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use fs_guard::{Access, Cancellation, FileKind, RelPath, Sha256};
use patch_grammar::binary::is_binary;
use patch_text::carry::{Carried, Conflict, carry, difference};
use patch_text::text::lines::{ends_converted, with_ends};
use workspace_trash::{
    FileState, Header, Journal, Prefix, Record, Store, TransactionId, TrashEntry,
};

use super::apart;
use super::error::{Author, Drift, Error, Way};
use super::history::{self, Log, are_same};
use super::kept::KeptFiles;
use super::reach::Reach;
use super::way::{Cause, Since};
use super::workspace::Workspace;
use crate::files::Files;
use crate::plan::builder::{self, PlanBuilder, Undoing};
use crate::plan::disk::{Disk, look};
use crate::plan::near;
use crate::plan::options::{MAX_FILE_SIZE, Options};
use crate::plan::reject::{Problem, Reject, Rejects};
use crate::plan::{Image, Mode, Plan, PlanNote, PostImage, Undone};
use crate::remedy::Remedy;

/// How many older changes are tried, to name one to undo in place of the newest.
const MAX_INSTEAD: usize = 16;

/// How a transaction is undone.
#[derive(Debug, Clone)]
pub struct UndoOptions {
    /// Whether the reversal is [carried](crate::carry) to files that have changed since. The base
    /// is the file left by the transaction, and the wanted text is the displaced one.
    pub carry: bool,
    /// Whether a person vouches for the journal: then its key may be missing here, or its
    /// signature. Paths against the policy or the guard are refused all the same.
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
    /// Plans to undo a transaction, or only its changes to `paths` (empty: all).
    ///
    /// Fails with every path changed since the transaction.
    pub fn plan_undo(&self, id: TransactionId, paths: &[RelPath]) -> Result<Plan, Error> {
        self.plan_undo_with(Some(id), paths, &UndoOptions::default())
    }

    /// Plans to undo the newest transaction [in effect](Self::plan_undo_with), with its
    /// turn.
    pub fn plan_undo_last(&self) -> Result<Plan, Error> {
        self.plan_undo_with(None, &[], &UndoOptions::default())
    }

    /// Plans to undo a transaction, or only its changes to `paths` (empty: all).
    ///
    /// `None` is the newest one that is neither undone nor itself an undo, and of whose changes
    /// something is left. A [note](PlanNote) of the plan names each newer one without anything
    /// left: such a one counts as undone. If the transaction is part of a turn, all of the turn is
    /// undone as one, unless `paths` are given.
    ///
    /// # Errors
    ///
    /// With every path changed since the transaction; or, with [`carry`](UndoOptions::carry), with
    /// every one to which its reversal cannot be carried, and every conflict. Without an id no
    /// older one is undone in its place, but the error names the next one with a way back. If
    /// nothing is left of its changes, [`NothingTo`](Error::NothingTo).
    pub fn plan_undo_with(
        &self,
        id: Option<TransactionId>,
        paths: &[RelPath],
        options: &UndoOptions,
    ) -> Result<Plan, Error> {
        let Some(store) = self.store()? else {
            return Err(id.map_or_else(
                || nothing_to("undo", &[]),
                |id| workspace_trash::Error::NoSuchTransaction(id).into(),
            ));
        };
        let log = Log::new(&store);
        let Some(id) = id else { return plan_undo_newest(self, &log, paths, options) };
        // An error elsewhere in the history is no reason to refuse a named transaction.
        let log = log.ending_at_error();
        match plan_undo(self, &log, &[id], paths, options) {
            Ok(plan) => plan.ok_or_else(|| nothing_to("undo", &[id])),
            Err(error) if is_about_files(&error) && is_undone(&log, id, paths)? => {
                Err(nothing_to("undo", &[id]))
            }
            Err(error) => Err(error),
        }
    }

    /// Plans to undo several transactions as one: each file comes back in its state before all of
    /// them, if the last of them left the current one, and nothing else changed the file between.
    /// A file in the old state already is left alone.
    ///
    /// # Errors
    ///
    /// The errors of [`plan_undo_with`](Self::plan_undo_with), for all of them together.
    pub fn plan_undo_all(
        &self,
        ids: &[TransactionId],
        options: &UndoOptions,
    ) -> Result<Plan, Error> {
        let store = self.store()?.filter(|_| !ids.is_empty());
        let store = store.ok_or_else(|| nothing_to("undo", &[]))?;
        let plan = plan_undo(self, &Log::new(&store), ids, &[], options)?;
        plan.ok_or_else(|| nothing_to("undo", ids))
    }

    /// Plans to undo an undo. `id` is the undo or the undone transaction; `None` is the
    /// newest undo, if nothing new was applied since.
    ///
    /// # Errors
    ///
    /// The errors of [`plan_undo_with`](Self::plan_undo_with).
    pub fn plan_redo(&self, id: Option<TransactionId>) -> Result<Plan, Error> {
        self.plan_redo_with(id, &UndoOptions::default())
    }

    /// Does the same by these options.
    ///
    /// # Errors
    ///
    /// The errors of [`plan_undo_with`](Self::plan_undo_with).
    pub fn plan_redo_with(
        &self,
        id: Option<TransactionId>,
        options: &UndoOptions,
    ) -> Result<Plan, Error> {
        let store = self.store()?.ok_or_else(|| nothing_to("redo", &[]))?;
        let log = Log::new(&store);
        let Some(id) = id else {
            let undos = history::undos(&log).map(|undo| Ok(vec![undo?.journal.header.id]));
            // After another undo, that would be the last one.
            return first_of(&log, "redo", undos, |ids| plan_undo(self, &log, ids, &[], options))
                .map_err(Error::unrepeatable);
        };
        let undo = history::active_undo_of(&log, id)?.ok_or_else(|| nothing_to("redo", &[]))?;
        let plan = plan_undo(self, &log, &[undo], &[], options)?;
        plan.ok_or_else(|| nothing_to("redo", &[undo]))
    }

    /// Plans to restore displaced files of one transaction, each by its number, to its original
    /// path or to the path given beside the number.
    ///
    /// # Errors
    ///
    /// If a file is there already (the error names its transaction), or if the
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
            let missing = workspace_trash::Error::NoSuchSlot { id, slot: *slot };
            let found =
                records.get(slot).and_then(|record| Some((record, record.before.as_ref()?)));
            let Some((record, before)) = found else { return Err(missing.into()) };
            if store.slot(id, *slot)?.metadata()?.is_none() {
                return Err(missing.into());
            }
            // Where the bytes come from counts, wherever they go.
            if target.is_none() || !reach.shows(&record.path) {
                check_inside(self, id, std::iter::once(&record.path))?;
                reach.check(&record.path, true, Access::Read)?;
            }
            let path = target.as_ref().map_or(record.path.as_str(), RelPath::as_str);
            if let Err(reject) = builder.create_from(path, stored(before, id, *slot)) {
                let reject = occupied(self, &store, &reach, reject)?;
                return Err(rejected(id, reject));
            }
        }
        Ok(builder.finish()?)
    }
}

/// Plans to undo the newest transaction in effect, with its turn.
fn plan_undo_newest(
    workspace: &Workspace,
    log: &Log<'_>,
    paths: &[RelPath],
    how: &UndoOptions,
) -> Result<Plan, Error> {
    let mut turns = HashSet::new();
    let mut candidates = history::changes(log).filter_map(|change| {
        let ids = change.and_then(|change| match paths {
            [] => history::with_its_turn(log, &change),
            _ => Ok(vec![change.journal.header.id]),
        });
        // Each turn once.
        let is_known = paths.is_empty() && ids.as_ref().is_ok_and(|ids| !turns.insert(ids[0]));
        (!is_known).then_some(ids)
    });
    let plan =
        first_of(log, "undo", &mut candidates, |ids| plan_undo(workspace, log, ids, paths, how));
    plan.map_err(|mut error| {
        if let Error::Drifted { instead, .. } | Error::NotRestored { instead, .. } = &mut error
            && paths.is_empty()
        {
            let older = candidates.take(MAX_INSTEAD).map_while(Result::ok);
            *instead = name_of_first(workspace, log, older, how);
        }
        error.unrepeatable()
    })
}

/// Returns the name of the first change to be undone without a carry.
fn name_of_first(
    workspace: &Workspace,
    log: &Log<'_>,
    mut changes: impl Iterator<Item = Vec<TransactionId>>,
    how: &UndoOptions,
) -> Option<String> {
    let exact = UndoOptions { carry: false, ..how.clone() };
    let first = changes.find(|ids| is_possible(workspace, log, ids, &[], &exact));
    first.and_then(|ids| history::name_of(log, &ids).ok()?)
}

/// Returns whether files are in the way of an undo.
fn is_about_files(error: &Error) -> bool {
    matches!(error, Error::Drifted { .. } | Error::NotRestored { .. })
}

/// Returns whether a transaction is undone, or its changes to these paths are.
fn is_undone(log: &Log<'_>, id: TransactionId, paths: &[RelPath]) -> Result<bool, Error> {
    if log.by_id(id)?.is_some_and(|entry| entry.undone_by.is_some()) {
        return Ok(true);
    }
    let back = history::taken_back(log, id)?;
    Ok(!paths.is_empty() && paths.iter().all(|path| back.contains(path.as_str())))
}

/// Adds the transaction of the file in the way of a restore.
fn occupied(
    workspace: &Workspace,
    store: &Store<'_>,
    reach: &Reach,
    mut reject: Reject,
) -> Result<Reject, Error> {
    if let Problem::Exists { by, .. } = &mut reject.problem {
        let root = workspace.root();
        let path = root.check(&reject.path, Access::Create)?;
        let now = look(&root.into(), &path)?.and_then(Result::ok).map(|disk| disk.sha256());
        let file = (path.as_str(), now);
        *by = left_by(&Log::new(store), [file], reach)?.remove(path.as_str());
    }
    Ok(reject)
}

/// Fails if one of the paths lies outside the root.
fn check_inside<'p>(
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
    let project = match outside[..] {
        [] => None,
        _ => Some(fs_guard::real_path(workspace.home().path())?.display().to_string()),
    };
    Err(Error::Elsewhere { id, paths: outside, project })
}

/// Makes the error of a path where nothing can be restored.
fn rejected(id: TransactionId, reject: Reject) -> Error {
    match reject.problem {
        Problem::Guard(error) => error.into(),
        _ => Error::NotRestored { id, rejects: reject.into(), way: Box::default(), instead: None },
    }
}

/// Makes the error of a path without a way back.
fn refused(id: TransactionId, error: fs_guard::Error) -> Error {
    match error.path().map(str::to_owned) {
        Some(path) if Remedy::of_guard(&error).iter().any(Remedy::is_about_the_patch) => {
            let rejects = Reject::of(&path, Problem::Guard(error)).into();
            Error::NotRestored { id, rejects, way: Box::default(), instead: None }
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
    log: &Log<'_>,
    ids: &[TransactionId],
    paths: &[RelPath],
    how: &UndoOptions,
) -> Result<Option<Plan>, Error> {
    let plan = Undo::of(workspace, log, ids, how).and_then(|undo| undo.plan(paths));
    plan.map_err(|error| match error {
        Error::Files(error) => refused(ids[0], error),
        error => error,
    })
}

/// Returns whether an undo would do something; a refusal is not explained.
fn is_possible(
    workspace: &Workspace,
    log: &Log<'_>,
    ids: &[TransactionId],
    paths: &[RelPath],
    how: &UndoOptions,
) -> bool {
    let undo = Undo::of(workspace, log, ids, how).map(|undo| Undo { is_tried: true, ..undo });
    undo.and_then(|undo| undo.plan(paths)).is_ok_and(|plan| plan.is_some())
}

/// Transactions to be undone as one, and the places of their files.
struct Undo<'u, 's> {
    workspace: &'u Workspace,
    files: Files,
    reach: Reach,
    log: &'u Log<'s>,
    kept: KeptFiles<'s>,
    ids: &'u [TransactionId],
    how: &'u UndoOptions,
    joined: Joined,
    /// Only whether it is possible is asked.
    is_tried: bool,
}

/// The way back of one file.
enum Reversal<'r> {
    /// The file is in the old state already.
    Done,
    Restored {
        now: Option<Disk>,
        post: Option<PostImage>,
        notes: Vec<PlanNote>,
    },
    Drifted(Drifted<'r>),
}

/// A file changed since.
struct Drifted<'r> {
    record: &'r Record,
    now: Option<FileState>,
    /// The reversal can be carried to the current file.
    can_carry: bool,
    /// Why it cannot, where it was to be carried.
    conflicts: Vec<Conflict>,
    line_ends: bool,
}

impl<'u, 's> Undo<'u, 's> {
    fn of(
        workspace: &'u Workspace,
        log: &'u Log<'s>,
        ids: &'u [TransactionId],
        how: &'u UndoOptions,
    ) -> Result<Self, Error> {
        let files = workspace.files().cancelled_by(how.cancellation.clone());
        let joined = joined(log, ids, how.trust)?;
        let reach = workspace.reach();
        let kept = KeptFiles::new(log.store);
        Ok(Self { workspace, files, reach, log, kept, ids, how, joined, is_tried: false })
    }

    fn id(&self) -> TransactionId {
        self.joined.journal.header.id
    }

    /// Plans to undo the changes to `paths` (none: all).
    fn plan(&self, paths: &[RelPath]) -> Result<Option<Plan>, Error> {
        let back = match self.ids {
            [_] => history::taken_back(self.log, self.id())?,
            _ => HashSet::new(),
        };
        let records = self.wanted(paths, &back)?;
        self.check_inside(&records, paths)?;
        let options = Options::default();
        let mut builder = PlanBuilder::with_capacity(self.files.clone(), &options, records.len());
        builder.undo(self.undoing(&records, &back));
        if paths.is_empty()
            && let Some(turn) = history::whole_turn(self.log, self.ids)?
        {
            builder.note(PlanNote::OfTurn { turn, transactions: self.ids.len() });
        }
        let brings_files = self.bring_back(&records, &mut builder)?;
        builder.create_parents().map_err(|reject| rejected(self.id(), reject))?;
        let changes_dirs = self.bring_dirs_back(paths.is_empty(), &mut builder)?;
        Ok(if brings_files || changes_dirs { Some(builder.finish()?) } else { None })
    }

    /// Returns the records of the files to bring back. Without `paths`, files taken back before are
    /// left out, if others remain.
    fn wanted(&self, paths: &[RelPath], back: &HashSet<String>) -> Result<Vec<&Record>, Error> {
        let mut records = wanted(&self.joined.journal, paths)?;
        if paths.is_empty() && records.iter().any(|record| !back.contains(&*record.path)) {
            records.retain(|record| !back.contains(&*record.path));
        }
        Ok(records)
    }

    /// Fails if a file or directory to bring back lies outside the root.
    fn check_inside(&self, records: &[&Record], paths: &[RelPath]) -> Result<(), Error> {
        let Journal { created_dirs, removed_dirs, .. } = &self.joined.journal;
        let dirs = created_dirs.iter().map(|(dir, _)| dir);
        let dirs = dirs.chain(removed_dirs.iter().map(|(dir, _)| dir));
        let files = records.iter().map(|record| &record.path);
        check_inside(self.workspace, self.id(), files.chain(dirs.filter(|_| paths.is_empty())))
    }

    /// Returns what the plan undoes. If parts were undone before, this may undo the rest.
    fn undoing(&self, records: &[&Record], back: &HashSet<String>) -> Undoing {
        let journal = &self.joined.journal;
        let wanted: HashSet<u32> = records.iter().map(|record| record.slot).collect();
        let is_whole = journal
            .records
            .iter()
            .all(|record| back.contains(&*record.path) || wanted.contains(&record.slot));
        let moves = journal.moves().into_iter();
        Undoing {
            undone: Undone { id: self.id(), partial: !is_whole },
            authentic: self.reach.vouches(self.joined.authentic),
            also: journal.header.also_undo_of.clone(),
            moved_back: moves.map(|(from, to)| (to.path.clone(), from.path.clone())).collect(),
        }
    }

    /// Plans the way back of each file, and returns whether one changes.
    fn bring_back(
        &self,
        records: &[&Record],
        builder: &mut PlanBuilder<'_>,
    ) -> Result<bool, Error> {
        let mut changes = false;
        let mut drifted = Vec::new();
        // All paths are checked first: nothing is told of any if one is refused.
        let paths = records
            .iter()
            .map(|record| self.reach.check(&record.path, self.joined.authentic, Access::Update));
        let paths = paths.collect::<Result<Vec<_>, _>>()?;
        for (&record, path) in records.iter().zip(paths) {
            match self.reversal(record, &path)? {
                Reversal::Done => builder.note(PlanNote::AsBefore { path: record.path.clone() }),
                Reversal::Restored { now, post, notes } => {
                    changes = true;
                    builder.restore(&path, now, post);
                    builder.note_all(notes);
                }
                Reversal::Drifted(found) => drifted.push(found),
            }
        }
        match &drifted[..] {
            [] => Ok(changes),
            _ if self.is_tried => Err(nothing_to("undo", self.ids)),
            _ => Err(self.refused(records, drifted)?),
        }
    }

    /// Returns the way back of one file.
    fn reversal<'r>(&self, record: &'r Record, path: &RelPath) -> Result<Reversal<'r>, Error> {
        let source = &self.joined.sources[&*record.path];
        let Now { disk, as_left } = now(&self.files, path, record, &self.joined.journal)?;
        if is_as_before(record, disk.as_ref()) {
            return Ok(Reversal::Done);
        }
        let carried = match (&disk, &source.gap) {
            (_, None) if as_left => {
                let before = record.before.as_ref();
                let post = before.map(|state| stored(state, source.first(), record.slot));
                return Ok(Reversal::Restored { now: disk, post, notes: Vec::new() });
            }
            (Some(disk), _) => self.carried_back(source, record, path, disk)?,
            _ => None,
        };
        let drifted = Drifted {
            record,
            now: disk.as_ref().map(state_of),
            can_carry: false,
            conflicts: Vec::new(),
            line_ends: false,
        };
        let Some(CarriedBack { made, line_ends }) = carried else {
            return Ok(Reversal::Drifted(drifted));
        };
        Ok(match made {
            Ok((post, _)) if disk.as_ref().is_some_and(|disk| builder::is_same(disk, &post)) => {
                Reversal::Done
            }
            Ok((post, notes)) if self.how.carry => {
                Reversal::Restored { now: disk, post: Some(post), notes }
            }
            Err(conflicts) if self.how.carry => Reversal::Drifted(Drifted { conflicts, ..drifted }),
            made => Reversal::Drifted(Drifted { can_carry: made.is_ok(), line_ends, ..drifted }),
        })
    }

    /// Makes the error of files changed since.
    fn refused(&self, records: &[&Record], drifted: Vec<Drifted<'_>>) -> Result<Error, Error> {
        let since = Since::of(self.log, self.ids)?;
        let mut drifts = Vec::with_capacity(drifted.len());
        let mut is_edited = false;
        for one in &drifted {
            let cause = since.cause(&one.record.path, one.now.as_ref())?;
            is_edited |= cause.edited;
            if one.conflicts.is_empty() {
                drifts.push(self.drift(one, &cause));
            }
        }
        let way = if is_edited { None } else { self.way(&since, records)? };
        let way = Box::new(way.unwrap_or_default());
        if drifts.is_empty() {
            let conflicts = drifted.into_iter().flat_map(|one| {
                let path = &one.record.path;
                let conflicts = one.conflicts.into_iter();
                conflicts.map(|found| Reject::of(path, Problem::Conflict(Box::new(found))))
            });
            let rejects = Rejects::new(conflicts.collect()).expect("BUG: a refusal has a reason");
            return Ok(Error::NotRestored { id: self.id(), rejects, way, instead: None });
        }
        let source = &self.joined.sources[&*drifts[0].path];
        let id = source.gap.as_ref().map_or(source.last.id, |gap| gap.earlier);
        let carry = drifted.iter().all(|drifted| drifted.can_carry) && self.carries(records);
        Ok(Error::Drifted { id, drifts, carry, way, instead: None })
    }

    /// Returns whether the undo is possible where it is carried.
    fn carries(&self, records: &[&Record]) -> bool {
        let how = UndoOptions { carry: true, ..self.how.clone() };
        is_possible(self.workspace, self.log, self.ids, &self.paths_of(records), &how)
    }

    /// Returns the paths to undo these records alone; none if they are all.
    fn paths_of(&self, records: &[&Record]) -> Vec<RelPath> {
        if self.ids.len() > 1 || records.len() == self.joined.journal.records.len() {
            return Vec::new();
        }
        let paths = records
            .iter()
            .map(|record| self.reach.check(&record.path, self.joined.authentic, Access::Update));
        paths.flatten().collect()
    }

    /// Returns the undos that clear the way for the undo of these records, if there are some.
    fn way(&self, since: &Since<'_, '_>, records: &[&Record]) -> Result<Option<Way>, Error> {
        let wanted: HashSet<&str> = records.iter().map(|record| record.path.as_str()).collect();
        let steps = since.steps(&wanted, &self.reach, |path| {
            let Ok(path) = self.reach.check(path, true, Access::Update) else { return Ok(None) };
            Ok(match look(&self.files, &path) {
                Ok(None) => Some(None),
                Ok(Some(Ok(disk))) => Some(Some(state_of(&disk))),
                Ok(Some(Err(_))) | Err(_) => None,
            })
        })?;
        let Some(steps) = steps else { return Ok(None) };
        let paths = self.paths_of(records);
        let is_own = |id: &TransactionId| self.ids.contains(id);
        let exact = UndoOptions { carry: false, trust: false, ..self.how.clone() };
        let is_possible = |ids: &[TransactionId]| {
            let paths = if is_own(&ids[0]) { &paths[..] } else { &[] };
            is_possible(self.workspace, self.log, ids, paths, &exact)
        };
        let ids = &steps.ids;
        let others = ids.iter().take_while(|id| !is_own(id)).count();
        // Behind them are those to undo, and nothing between.
        let is_clear = (1..ids.len()).contains(&others) && ids[others..].iter().all(is_own);
        let first = Some(ids[0]).filter(|first| is_clear && is_possible(&[*first]));
        let paths: Vec<String> = paths.iter().map(RelPath::to_string).collect();
        let runs = since.runs(&steps, &paths);
        let is_way = runs.first().is_some_and(|run| is_possible(run));
        let in_order = runs.iter().filter(|_| is_way).map(|run| since.named(run, &steps, &paths));
        Ok(Some(Way { first, in_order: in_order.collect() }))
    }

    /// Returns the one file that has the bytes that a missing one was left with.
    fn moved_to(&self, record: &Record, now: Option<Sha256>) -> Option<String> {
        let left = record.after.as_ref().filter(|left| now.is_none() && !left.link)?;
        near::with_bytes(&self.files, left.size, left.sha256)
    }

    /// Tells how a file has changed since.
    fn drift(&self, drifted: &Drifted<'_>, cause: &Cause) -> Drift {
        let Drifted { record, now, line_ends, .. } = drifted;
        let now = now.as_ref().map(|state| state.sha256);
        let by = cause.by.as_ref().filter(|by| self.reach.shows_all(&by.journal));
        let by = by.map(|by| &by.journal.header);
        let mut drift = match &self.joined.sources[&*record.path].gap {
            Some(gap) if cause.between => Drift::of(&record.path, gap.left, gap.found),
            _ => Drift::of(&record.path, record.after.as_ref().map(|state| state.sha256), now),
        };
        drift.by = by.map(|header| header.id);
        drift.author =
            by.map(|by| self.author(by)).filter(|by| *by != Author::default()).map(Box::new);
        drift.between = cause.between;
        drift.line_ends = *line_ends;
        drift.moved_to = self.moved_to(record, now);
        drift
    }

    /// Says who made another transaction, as far as it is not who made those to undo.
    fn author(&self, other: &Header) -> Author {
        let own = &self.joined.journal.header;
        let differs =
            |own: &Option<String>, other: &Option<String>| other.clone().filter(|_| own != other);
        Author {
            agent: differs(&own.agent, &other.agent),
            session: differs(&own.session, &other.session),
            turn: other
                .turn
                .clone()
                .filter(|_| [&own.turn, &own.session] != [&other.turn, &other.session]),
        }
    }

    /// Plans the directories to bring back or to remove, and returns whether one changes. Undoing a
    /// whole transaction restores directories even if they are empty.
    fn bring_dirs_back(
        &self,
        is_whole: bool,
        builder: &mut PlanBuilder<'_>,
    ) -> Result<bool, Error> {
        let mut changes = false;
        let Joined { journal, authentic, .. } = &self.joined;
        // As in the commit of the transaction: paths of our own are not checked against the lists.
        let root = self.workspace.root();
        for (dir, mode) in &journal.removed_dirs {
            let dir = root.check_recorded(dir, *authentic)?;
            let seen = match self.files.metadata(&dir) {
                // A link took the place of one above.
                Err(fs_guard::Error::Symlink { .. } | fs_guard::Error::LeadsOut { .. }) => None,
                seen => seen?,
            };
            if seen.is_none_or(|seen| seen.kind != FileKind::Directory) {
                changes |= is_whole;
                builder.restore_dir(dir, *mode, is_whole);
            }
        }
        for (dir, _) in journal.created_dirs.iter().rev() {
            let dir = root.check_recorded(dir, *authentic)?;
            changes =
                changes || self.files.read_dir(Some(&dir)).is_ok_and(|names| names.is_empty());
            builder.remove_dir(dir);
        }
        Ok(changes)
    }

    /// Returns the current file with a transaction's change reverted. `None` if the change cannot
    /// be carried: the file is no text or has been deleted since, the transaction was no update, or
    /// the bytes left by the transaction are not known any more.
    fn carried_back(
        &self,
        source: &Displaced,
        record: &Record,
        path: &RelPath,
        now: &Disk,
    ) -> Result<Option<CarriedBack>, Error> {
        let Some((before, after)) = record.before.as_ref().zip(record.after.as_ref()) else {
            return Ok(None);
        };
        if before.link || after.link || now.metadata.kind != FileKind::File {
            return Ok(None);
        }
        let (old, new) = (before.mode & 0o777, after.mode & 0o777);
        let Some(mode) = apart::reverted_mode(old, new, now.metadata.kept_mode()) else {
            return Ok(None);
        };
        let wanted = match source.gap {
            None => kept(self.log.store, source.first(), record.slot, before.sha256)?,
            Some(_) => self.before_without_others(source)?,
        };
        let Some(mut wanted) = wanted else { return Ok(None) };
        let Some(mut base) = self.left(&source.last, after.sha256)? else { return Ok(None) };
        let current = match &now.bytes {
            Some(bytes) => Arc::clone(bytes),
            None => self.files.read(path, MAX_FILE_SIZE)?.0,
        };
        // Text in other encodings cannot be compared as bytes.
        if Sha256::of(&current) != now.sha256()
            || [&wanted, &base, &*current].iter().any(|bytes| is_binary(bytes))
        {
            return Ok(None);
        }
        let converted = ends_converted(&base, &current);
        let line_ends = converted.is_some();
        if let Some(crlf) = converted {
            base = with_ends(&base, crlf);
            wanted = with_ends(&wanted, crlf);
        }
        let made = carry(&base, &current, &difference(&base, &wanted));
        let made = made.map(|Carried { splices, hunks }| {
            let post = PostImage {
                mode: Mode::Exactly(mode),
                rewritten: false,
                attributes_of: Some(path.clone()),
                ..PostImage::kept(splices.apply(&current))
            };
            (post, hunks.into_iter().map(|hunk| PlanNote::carried(hunk, &record.path)).collect())
        });
        Ok(Some(CarriedBack { made, line_ends }))
    }

    /// Returns the file that the last transaction would have found without the others to be undone:
    /// with the changes that something else made between them, where these can be told apart.
    fn before_without_others(&self, source: &Displaced) -> Result<Option<Vec<u8>>, Error> {
        let mut base: Option<Vec<u8>> = None;
        let mut previous: Option<(&LastChange, Sha256)> = None;
        for change in source.earlier.iter().rev().chain([&source.last]) {
            let Some((before, after)) =
                change.record.before.as_ref().zip(change.record.after.as_ref())
            else {
                return Ok(None);
            };
            if before.link || after.link || before.mode != after.mode {
                return Ok(None);
            }
            let found = kept(self.log.store, change.id, change.record.slot, before.sha256)?;
            let Some(found) = found else { return Ok(None) };
            base = match base.zip(previous) {
                None => Some(found),
                Some((base, (previous, sha256))) => {
                    let ours = self.left(previous, sha256)?;
                    ours.and_then(|ours| apart::reverted(&base, &ours, &found))
                }
            };
            if base.is_none() {
                return Ok(None);
            }
            previous = Some((change, after.sha256));
        }
        Ok(base)
    }

    /// Returns the bytes left by a transaction, if a later one displaced them, or the transaction
    /// itself kept a record of them.
    fn left(&self, last: &LastChange, sha256: Sha256) -> Result<Option<Vec<u8>>, Error> {
        let found = self.kept.find(last.id, sha256, |entry: &TrashEntry| {
            if entry.link {
                return Ok(None);
            }
            kept(self.log.store, entry.id, entry.slot, sha256)
        })?;
        let found = match found {
            Some(bytes) => Some(bytes),
            None => self.kept.left_by(last.id, &last.record, self.how.trust)?,
        };
        Ok(found.filter(|bytes| Sha256::of(bytes) == sha256))
    }
}

/// The journals of transactions to undo as one.
struct Joined {
    /// All their changes, under the newest one's header.
    journal: Journal,
    authentic: bool,
    /// Where the files of each path are.
    sources: HashMap<String, Displaced>,
}

/// The places of the versions of a file changed by several transactions.
struct Displaced {
    /// The number of the file's record in the joined journal.
    nth: usize,
    last: LastChange,
    /// The transactions before the last one, the newest first.
    earlier: Vec<LastChange>,
    /// Where something else changed the file between two of them.
    gap: Option<Gap>,
}

/// Another version of a file than one transaction left, found by the next.
struct Gap {
    earlier: TransactionId,
    left: Option<Sha256>,
    found: Option<Sha256>,
}

/// The last transaction of a file, and its record.
struct LastChange {
    id: TransactionId,
    record: Record,
}

impl Displaced {
    fn by(id: TransactionId, record: &Record, nth: usize) -> Self {
        let last = LastChange { id, record: record.clone() };
        Self { nth, last, earlier: Vec::new(), gap: None }
    }

    /// Returns the first transaction, with the displaced file to bring back.
    fn first(&self) -> TransactionId {
        self.earlier.last().unwrap_or(&self.last).id
    }
}

/// Reads the journals of transactions, newest first, and joins them to one.
fn joined(log: &Log<'_>, ids: &[TransactionId], trust: bool) -> Result<Joined, Error> {
    let store = log.store;
    let back = if ids.len() > 1 { history::all_taken_back(log, ids)? } else { HashMap::new() };
    let mut all: Option<Joined> = None;
    for &id in ids {
        let (mut journal, authentic) = store.journal_if(id, trust)?;
        if let Some(back) = back.get(&id) {
            journal.records.retain(|record| !back.contains(&record.path));
        }
        // The transactions undone by an undo are not undone by this.
        journal.header.also_undo_of.clear();
        if store.is_aborted(id)? {
            return Err(Error::Aborted(id));
        }
        let Some(all) = &mut all else {
            let records = journal.records.iter().enumerate();
            let sources = records
                .map(|(nth, record)| (record.path.clone(), Displaced::by(id, record, nth)))
                .collect();
            all = Some(Joined { journal, authentic, sources });
            continue;
        };
        all.authentic &= authentic;
        all.journal.header.also_undo_of.push(id);
        // The first of them to make or remove a directory says whether one was there before.
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
            if are_same(record.before.as_ref(), later.before.as_ref()) {
                // Something else took the change back before the later one.
                continue;
            }
            if !are_same(record.after.as_ref(), later.before.as_ref()) {
                source.gap = Some(Gap {
                    earlier: id,
                    left: record.after.as_ref().map(|state| state.sha256),
                    found: later.before.as_ref().map(|state| state.sha256),
                });
            }
            source.earlier.push(LastChange { id, record: record.clone() });
            *later = Record { after: later.after.clone(), ..record };
        }
    }
    let mut all = all.expect("BUG: there is a transaction to undo");
    // The numbers belong to several transactions.
    if ids.len() > 1 {
        all.journal.moved.clear();
    }
    Ok(all)
}

/// Returns whether a file is in its state before a transaction.
fn is_as_before(record: &Record, now: Option<&Disk>) -> bool {
    match (&record.before, now) {
        (None, None) => true,
        (Some(before), Some(now)) => is_same(before, now),
        _ => false,
    }
}

/// Describes a file as a journal does.
fn state_of(disk: &Disk) -> FileState {
    let state = FileState::of(&disk.metadata, disk.sha256());
    FileState { mode: disk.metadata.kept_mode(), ..state }
}

/// Returns whether a file is the one in a journal.
fn is_same(state: &FileState, disk: &Disk) -> bool {
    disk.metadata.kind == state.kind()
        && disk.sha256() == state.sha256
        && (state.link || disk.metadata.kept_mode() == state.mode & 0o777)
}

/// Returns the last transaction of each of these files, given with their hashes, if an undo of the
/// transaction can come first: it was no undo itself, the file is in the state it left, and the
/// caller may see all its changes.
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
    /// Only the line ends have changed since the transaction. The current ones are kept.
    line_ends: bool,
}

/// Returns the bytes of a displaced file if they have the hash in the journal.
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

fn wanted<'j>(journal: &'j Journal, paths: &[RelPath]) -> Result<Vec<&'j Record>, Error> {
    let records = &journal.records;
    let slots: HashMap<&str, u32> =
        records.iter().map(|record| (record.path.as_str(), record.slot)).collect();
    let named = paths.iter().map(|path| {
        let path = path.as_str();
        let slot = slots.get(path).copied();
        slot.ok_or_else(|| Error::NotInTransaction { id: journal.header.id, path: path.into() })
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

/// The file or link at a path now.
pub(super) struct Now {
    disk: Option<Disk>,
    /// As the transaction left the file.
    pub(super) as_left: bool,
}

/// Returns the file at a path changed by a transaction.
pub(super) fn now(
    files: &Files,
    path: &RelPath,
    record: &Record,
    journal: &Journal,
) -> Result<Now, Error> {
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
    // A directory created by the transaction in place of a file is removed before the file is
    // restored.
    if left.is_none()
        && matches!(&now, Some(Err(seen)) if seen.kind == FileKind::Directory)
        && journal.created_dirs.iter().any(|(dir, _)| *dir == record.path)
    {
        now = None;
    }
    let as_left = match (&now, left) {
        (None, None) => true,
        (Some(Ok(disk)), Some(state)) => is_same(state, disk),
        _ => false,
    };
    Ok(Now { disk: now.and_then(Result::ok), as_left })
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
