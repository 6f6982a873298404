//! The files left by a transaction, told from the displaced ones: its diff can be shown
//! whatever becomes of the files.
//!
//! For each file the record has the displaced file as a base, if there is one, and the replacements
//! in the base. Whoever reads the record checks the result against the hash in the journal. A file
//! with the bytes of a displaced one needs nothing.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use fs_guard::{FileKind, RelPath, Sha256, Spot, StagedFile};
use patch_grammar::binary::is_binary;
use patch_text::carry::difference;
use patch_text::text::splices::Splices;
use workspace_trash::{Error, FileState, Journal, Kept, LeftWriter, Record, Store, unpacked};

use crate::plan::images::Images;
use crate::plan::options::MAX_FILE_SIZE;
use crate::plan::{ChangeKind, Image, Plan, Transition};

/// Stands for the base of a file without one.
const NO_BASE: u32 = u32::MAX;

/// Larger texts are compared at their ends alone.
const MAX_COMPARED: usize = 4 << 20;

/// Writes what tells the files that a plan leaves, while they are staged; nothing if they are
/// displaced ones.
pub(super) struct LeftRecord<'p> {
    plan: &'p Plan,
    /// Where each moved file comes from, by the transition of its new path.
    moved: HashMap<usize, &'p RelPath>,
    displaced: HashSet<Sha256>,
    to: LeftWriter,
}

impl<'p> LeftRecord<'p> {
    pub(super) fn new(plan: &'p Plan, to: LeftWriter) -> Self {
        let moves = plan.changes().iter().filter(|change| change.operation == ChangeKind::Move);
        Self {
            plan,
            moved: moves.map(|change| (change.transition, &change.path)).collect(),
            displaced: plan.transitions().iter().filter_map(Transition::before).collect(),
            to,
        }
    }

    /// Writes what tells the file of one transition. Returns the writer if the bytes of the file
    /// have to follow, which [`Stager::stage`](super::stage::Stager::stage) makes of lines. A file
    /// whose bytes cannot be read is left out.
    pub(super) fn begin(&mut self, index: usize) -> Result<Option<&mut LeftWriter>, Error> {
        let plan = self.plan;
        let transition = &plan.transitions()[index];
        let Some(after) = &transition.after else { return Ok(None) };
        if self.displaced.contains(&after.sha256()) {
            return Ok(None);
        }
        let own = transition.before.as_ref().map(|_| transition.path());
        let base = match &after.image {
            Image::Spliced(from, _) => Some(from),
            _ => own.or(self.moved.get(&index).copied()),
        };
        let base = base.and_then(|path| Some((plan.pre_image(path)?.0, path)));
        let slot = base.and_then(|(slot, _)| u32::try_from(slot).ok());
        match &after.image {
            Image::Spliced(_, splices) => write(&mut self.to, index, slot, splices)?,
            Image::Lines(_) if base.is_none() => {
                write_numbers(&mut self.to, index, None, &[[0, 0, after.size as usize]])?;
                return Ok(Some(&mut self.to));
            }
            _ => {
                let base = base.map(|(_, path)| path);
                if let Some(splices) = replaced(base, transition, plan.images()) {
                    write(&mut self.to, index, slot, &splices)?;
                }
            }
        }
        Ok(None)
    }

    /// Returns what the journal has to say, and the file that has the rest, if there is one.
    pub(super) fn finish(self) -> Result<(Kept, Option<StagedFile>), Error> {
        self.to.finish()
    }
}

/// Returns what is replaced in the base to make a file.
fn replaced(
    base: Option<&RelPath>,
    transition: &Transition,
    images: Images<'_>,
) -> Option<Splices> {
    let new = images.after(transition).ok()?;
    let old = base.and_then(|path| images.before(path).ok()).unwrap_or_default();
    let is_compared = !old.is_empty() && old.len().max(new.len()) <= MAX_COMPARED;
    if is_compared && !is_binary(&old) && !is_binary(&new) {
        return Some(difference(&old, &new).splices);
    }
    let first = old.iter().zip(&*new).take_while(|(one, other)| one == other).count();
    let rest = old[first..].iter().rev().zip(new[first..].iter().rev());
    let last = rest.take_while(|(one, other)| one == other).count();
    let mut splices = Splices::new();
    splices.push(first..old.len() - last, new[first..new.len() - last].to_vec());
    Some(splices)
}

fn write(
    to: &mut LeftWriter,
    slot: usize,
    base: Option<u32>,
    splices: &Splices,
) -> Result<(), Error> {
    let splices = splices.as_slice();
    let places: Vec<_> =
        splices.iter().map(|splice| [splice.start, splice.end, splice.text.len()]).collect();
    write_numbers(to, slot, base, &places)?;
    splices.iter().try_for_each(|splice| to.write(&splice.text))
}

/// Writes where the bytes to follow go: for each replacement its start and end in the base, and its
/// length.
fn write_numbers(
    to: &mut LeftWriter,
    slot: usize,
    base: Option<u32>,
    places: &[[usize; 3]],
) -> Result<(), Error> {
    let first = [slot, base.unwrap_or(NO_BASE) as usize, places.len()];
    for numbers in [first].iter().chain(places) {
        let numbers = numbers.map(|number| (number as u64).to_le_bytes());
        to.write(numbers.as_flattened())?;
    }
    Ok(())
}

/// The record of the files left by a transaction.
#[derive(Debug)]
pub(crate) struct LeftFiles<'l> {
    store: &'l Store<'l>,
    journal: Cow<'l, Journal>,
    files: HashMap<u32, (u32, Splices)>,
}

impl<'l> LeftFiles<'l> {
    /// Reads the record; empty where there is none, or a damaged one.
    pub(crate) fn of(store: &'l Store<'l>, journal: Cow<'l, Journal>) -> Self {
        let most = journal.records.iter().fold(0_u64, |most, record| {
            let states = [&record.before, &record.after].into_iter().flatten();
            let size = states.fold(2_u64, |size, state| size.saturating_add(state.size));
            most.saturating_add(size.saturating_mul(32))
        });
        let packed = store.left_by(&journal, most);
        let files = packed.and_then(|packed| read(&unpacked(&packed, most)?)).unwrap_or_default();
        Self { store, journal, files }
    }

    /// Returns the bytes of the first wanted one of the displaced files.
    fn displaced(&self, wanted: impl Fn(&Record, Sha256) -> bool) -> Option<Vec<u8>> {
        self.journal.records.iter().find_map(|other| {
            let before = other.before.as_ref().filter(|it| wanted(other, it.sha256))?;
            kept_bytes(&self.store.slot(self.journal.header.id, other.slot).ok()?, before)
        })
    }

    /// Returns the bytes of a file or link after the transaction; `None` where they are not known.
    pub(crate) fn bytes(&self, record: &Record) -> Option<Vec<u8>> {
        let sha256 = record.after.as_ref()?.sha256;
        let Some((base, splices)) = self.files.get(&record.slot) else {
            return self.displaced(|_, before| before == sha256);
        };
        let base = match *base {
            NO_BASE => Vec::new(),
            slot => self.displaced(|other, _| other.slot == slot)?,
        };
        (splices.end() <= base.len())
            .then(|| splices.apply(&base))
            .filter(|bytes| Sha256::of(bytes) == sha256)
    }
}

fn read(mut bytes: &[u8]) -> Option<HashMap<u32, (u32, Splices)>> {
    fn number(bytes: &mut &[u8]) -> Option<usize> {
        let (number, rest) = bytes.split_first_chunk::<8>()?;
        *bytes = rest;
        usize::try_from(u64::from_le_bytes(*number)).ok()
    }
    let mut files = HashMap::new();
    while !bytes.is_empty() {
        let slot = u32::try_from(number(&mut bytes)?).ok()?;
        let base = u32::try_from(number(&mut bytes)?).ok()?;
        let count = number(&mut bytes)?;
        let mut places = Vec::new();
        for _ in 0..count {
            let start = number(&mut bytes)?;
            let end = number(&mut bytes)?;
            places.push((start, end, number(&mut bytes)?));
        }
        let mut splices = Splices::new();
        for (start, end, length) in places {
            let (text, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            if start < splices.end() || end < start {
                return None;
            }
            splices.push(start..end, text.to_vec());
        }
        files.insert(slot, (base, splices));
    }
    Some(files)
}

/// Reads a displaced file, or the target of a link; `None` when it cannot be read, or is not what
/// was displaced any more.
pub(crate) fn kept_bytes(spot: &Spot, state: &FileState) -> Option<Vec<u8>> {
    let bytes = match spot.metadata().ok()??.kind {
        FileKind::Symlink => spot.read_link().ok(),
        _ => spot.read(MAX_FILE_SIZE).ok().map(|(bytes, _)| bytes),
    };
    bytes.filter(|bytes| Sha256::of(bytes) == state.sha256)
}
