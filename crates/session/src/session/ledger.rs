//! The ledger of a session's reads, so that the session does not overwrite unseen text: the hashes
//! of whole files, and the lines of files printed in answers.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fs_guard::{Dir, Error, Sha256};
use patch_engine::ErrorKind;
use patch_engine::commit::{self, Workspace};
use workspace_trash::Prefix;

use crate::audit::session_name::SessionName;

/// The folder of the ledgers in the state directory.
pub(super) const FOLDER: &str = "sessions";

/// The size from which a ledger is rewritten, with one line per file.
const COMPACT_SIZE: u64 = 1 << 20;
const MAX_SIZE: u64 = 64 << 20;

/// How often a file may be printed with tags, in one version and then in another, until the first
/// of them is forgotten.
const MAX_TAGGED: usize = 32;

/// The hash of each file when the session last read or wrote the file.
///
/// A ledger can only make a write fail, never permit one, and so is not signed. At worst a forged
/// ledger causes a refusal, until the file is read again.
#[derive(Debug)]
pub struct Ledger {
    /// The session of a ledger on disk; `None` for a ledger in memory only.
    kept: Option<SessionName>,
    /// How long to wait for another writer of the ledger.
    lock_timeout: Duration,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The hash of each file read.
    files: BTreeMap<String, Sha256>,
    /// The printed lines of a file, for one version.
    lines: BTreeMap<String, (Sha256, LineRanges)>,
    /// The lines of a file that were printed with tags, in the order in which that was.
    tagged: BTreeMap<String, Vec<(Sha256, LineRanges)>>,
}

impl Seen {
    fn add_tagged(&mut self, path: &str, hash: Sha256, lines: LineRanges) {
        let printed = self.tagged.entry(path.to_owned()).or_default();
        match printed.last_mut() {
            Some((of, known)) if *of == hash => known.add(lines.0),
            _ => printed.push((hash, lines)),
        }
        let oldest = printed.len().saturating_sub(MAX_TAGGED);
        printed.drain(..oldest);
    }
}

/// Ranges of lines, from 1, in order and with gaps between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineRanges(Vec<RangeInclusive<usize>>);

impl LineRanges {
    pub(crate) fn add(&mut self, new: impl IntoIterator<Item = RangeInclusive<usize>>) {
        self.0.extend(new.into_iter().filter(|range| !range.is_empty()));
        self.0.sort_by_key(|range| *range.start());
        let mut joined: Vec<RangeInclusive<usize>> = Vec::new();
        for range in self.0.drain(..) {
            match joined.last_mut() {
                Some(last) if *range.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*range.end().max(last.end());
                }
                _ => joined.push(range),
            }
        }
        self.0 = joined;
    }

    /// Returns the numbers of the lines.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.iter().cloned().flatten()
    }

    /// Returns whether all these lines are there.
    pub fn cover(&self, wanted: &RangeInclusive<usize>) -> bool {
        let nth = self.0.partition_point(|range| range.end() < wanted.start());
        wanted.is_empty()
            || self
                .0
                .get(nth)
                .is_some_and(|range| range.start() <= wanted.start() && wanted.end() <= range.end())
    }
}

impl fmt::Display for LineRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, range) in self.0.iter().enumerate() {
            let comma = if nth == 0 { "" } else { "," };
            write!(f, "{comma}{}-{}", range.start(), range.end())?;
        }
        Ok(())
    }
}

impl FromStr for LineRanges {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut ranges = Vec::new();
        for range in text.split(',') {
            let (first, last) = range.split_once('-').ok_or(())?;
            ranges.push(first.parse().map_err(drop)?..=last.parse().map_err(drop)?);
        }
        let mut lines = Self::default();
        lines.add(ranges);
        Ok(lines)
    }
}

impl Ledger {
    /// Makes a ledger in memory only.
    pub(crate) fn in_memory() -> Self {
        Self { kept: None, lock_timeout: Duration::ZERO, seen: Mutex::default() }
    }

    /// Opens the ledger of a session in the state directory.
    pub(crate) fn open(
        workspace: &Workspace,
        session: &SessionName,
        lock_timeout: Duration,
    ) -> Result<Self, commit::Error> {
        let mut seen = Seen::default();
        if let Some(dir) = folder(workspace)? {
            match dir.spot(&file_name(session)).read(MAX_SIZE) {
                Ok((bytes, _)) => {
                    // A line cut off by a crash is skipped.
                    for line in String::from_utf8_lossy(&bytes).split_inclusive('\n') {
                        read_line(line, workspace.prefix(), &mut seen);
                    }
                    if bytes.len() as u64 > COMPACT_SIZE {
                        compact(&dir, session, &seen, workspace.prefix(), lock_timeout)?;
                    }
                }
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { kept: Some(session.clone()), lock_timeout, seen: Mutex::new(seen) })
    }

    pub fn get(&self, path: &str) -> Option<Sha256> {
        self.seen().files.get(path).copied()
    }

    /// Notes the present hashes of files; `None` for a file that is gone.
    pub(crate) fn note(
        &self,
        workspace: &Workspace,
        files: &[(String, Option<Sha256>)],
    ) -> Result<(), commit::Error> {
        let mut lines = String::new();
        let mut seen = self.seen();
        for (path, hash) in files {
            let known = match hash {
                Some(hash) => seen.files.insert(path.clone(), *hash),
                None => seen.files.remove(path),
            };
            if known == *hash || self.kept.is_none() {
                continue;
            }
            match hash {
                Some(hash) => writeln!(lines, "{hash} {}", workspace.prefix().join(path)),
                None => writeln!(lines, "- {}", workspace.prefix().join(path)),
            }
            .expect("a string takes all");
        }
        drop(seen);
        self.write(workspace, &lines)
    }

    /// Notes printed lines of a version of a file.
    pub(crate) fn note_lines(
        &self,
        workspace: &Workspace,
        path: &str,
        hash: Sha256,
        lines: impl IntoIterator<Item = RangeInclusive<usize>>,
    ) -> Result<(), commit::Error> {
        let known = {
            let mut seen = self.seen();
            let (of, known) =
                seen.lines.entry(path.to_owned()).or_insert((hash, LineRanges::default()));
            let before = known.clone();
            if *of != hash {
                (*of, *known) = (hash, LineRanges::default());
            }
            known.add(lines);
            if before == *known {
                return Ok(());
            }
            known.to_string()
        };
        self.write(workspace, &format!("{hash}:{known} {}\n", workspace.prefix().join(path)))
    }

    /// Returns whether all these lines of this version of a file were printed.
    pub fn has_lines(&self, path: &str, hash: Sha256, wanted: &[RangeInclusive<usize>]) -> bool {
        let seen = self.seen();
        let lines = seen.lines.get(path).filter(|(of, _)| *of == hash);
        lines.is_some_and(|(_, lines)| wanted.iter().all(|range| lines.cover(range)))
    }

    /// Notes lines of a version of a file that were printed with tags; line 0 is the place above the
    /// first one.
    pub(crate) fn note_tagged(
        &self,
        workspace: &Workspace,
        path: &str,
        hash: Sha256,
        lines: impl IntoIterator<Item = RangeInclusive<usize>>,
    ) -> Result<(), commit::Error> {
        let mut new = LineRanges::default();
        new.add(lines);
        {
            let mut seen = self.seen();
            let newest = seen.tagged.get(path).and_then(|versions| versions.last());
            let is_known = newest.is_some_and(|(of, known)| {
                *of == hash && new.0.iter().all(|range| known.cover(range))
            });
            if new.0.is_empty() || is_known {
                return Ok(());
            }
            seen.add_tagged(path, hash, new.clone());
        }
        self.write(workspace, &format!("#{hash}:{new} {}\n", workspace.prefix().join(path)))
    }

    /// Returns whether lines of the file were printed with tags, in any version.
    pub fn has_tags(&self, path: &str) -> bool {
        self.seen().tagged.contains_key(path)
    }

    /// Returns whether lines of any file were printed with tags.
    pub fn has_any_tags(&self) -> bool {
        !self.seen().tagged.is_empty()
    }

    /// Returns the lines that were printed with tags, each time with the version of the file, the
    /// last time first.
    pub fn tagged(&self, path: &str) -> Vec<(Sha256, LineRanges)> {
        let seen = self.seen();
        seen.tagged.get(path).into_iter().flatten().rev().cloned().collect()
    }

    /// Returns whether all these lines of this version of a file were printed with tags.
    pub fn has_tagged(&self, path: &str, hash: Sha256, wanted: &RangeInclusive<usize>) -> bool {
        let mut all = LineRanges::default();
        let of_version = self.tagged(path).into_iter().filter(|(of, _)| *of == hash);
        of_version.for_each(|(_, lines)| all.add(lines.0));
        all.cover(wanted)
    }

    /// Adds lines to the ledger on disk, if there is one.
    fn write(&self, workspace: &Workspace, lines: &str) -> Result<(), commit::Error> {
        let Some(session) = self.kept.as_ref().filter(|_| !lines.is_empty()) else { return Ok(()) };
        match append(workspace, session, lines, self.lock_timeout) {
            // Where nothing can be written, there is no need to remember reads.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
            result => result,
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn folder(workspace: &Workspace) -> Result<Option<Dir>, Error> {
    match workspace.state_dir()? {
        Some(state) => state.open_dir(FOLDER),
        None => Ok(None),
    }
}

fn append(
    workspace: &Workspace,
    session: &SessionName,
    lines: &str,
    lock_timeout: Duration,
) -> Result<(), commit::Error> {
    workspace.make_state(lock_timeout)?;
    let dir = workspace.create_state_dir()?.open_or_create_dir(FOLDER)?;
    let _lock = dir.spot("lock").lock(lock_timeout)?;
    Ok(dir.spot(&file_name(session)).append()?.append(lines.as_bytes())?)
}

fn compact(
    dir: &Dir,
    session: &SessionName,
    seen: &Seen,
    prefix: &Prefix,
    lock_timeout: Duration,
) -> Result<(), Error> {
    let _lock = dir.spot("lock").lock(lock_timeout)?;
    let mut text = String::new();
    for (path, hash) in &seen.files {
        writeln!(text, "{hash} {}", prefix.join(path)).expect("a string takes all");
    }
    for (path, (hash, lines)) in &seen.lines {
        writeln!(text, "{hash}:{lines} {}", prefix.join(path)).expect("a string takes all");
    }
    for (path, versions) in &seen.tagged {
        for (hash, lines) in versions {
            writeln!(text, "#{hash}:{lines} {}", prefix.join(path)).expect("a string takes all");
        }
    }
    dir.spot(&file_name(session)).write(text.as_bytes(), false)
}

/// Returns whether the name is one of this program's files in the folder.
pub(super) fn is_own(name: &str) -> bool {
    let session = name.strip_suffix(".reads");
    name == "lock" || session.is_some_and(|session| session.parse::<SessionName>().is_ok())
}

fn file_name(session: &SessionName) -> String {
    format!("{session}.reads")
}

/// Reads a line of the ledger; the path is relative to the project. Paths have no control
/// characters, so a path never spans lines.
fn read_line(line: &str, prefix: &Prefix, seen: &mut Seen) {
    let Some((hash, path)) = line.strip_suffix('\n').and_then(|line| line.split_once(' ')) else {
        return;
    };
    let path = prefix.relative(path);
    if hash == "-" {
        seen.files.remove(&path);
    } else if let Ok(hash) = hash.parse() {
        seen.files.insert(path, hash);
    } else if let Some((hash, lines)) = hash.split_once(':')
        && let Ok(lines) = lines.parse()
    {
        match (hash.strip_prefix('#'), hash.parse()) {
            (Some(tagged), _) => {
                if let Ok(hash) = tagged.parse() {
                    seen.add_tagged(&path, hash, lines);
                }
            }
            (None, Ok(hash)) => drop(seen.lines.insert(path, (hash, lines))),
            (None, Err(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_covered_by_what_was_printed_and_no_more() {
        let mut lines = LineRanges::default();
        let ranges = [5..=6, 1..=2, 3..=3, 9..=9, 6..=7];
        lines.add(ranges.clone());
        let mut one_by_one = LineRanges::default();
        ranges.into_iter().for_each(|range| one_by_one.add([range]));
        assert_eq!(one_by_one, lines);
        assert_eq!(lines.to_string(), "1-3,5-7,9-9");
        assert_eq!("1-3,5-7,9-9".parse(), Ok(lines.clone()));
        for (wanted, covered) in
            [(1..=3, true), (6..=7, true), (3..=5, false), (8..=8, false), (7..=9, false)]
        {
            assert_eq!(lines.cover(&wanted), covered, "{wanted:?}");
        }
        for text in ["", "1", "1-", "a-b", "1-2,"] {
            assert_eq!(text.parse::<LineRanges>(), Err(()), "{text:?}");
        }
    }

    #[test]
    fn lines_with_tags_are_kept_in_the_order_of_printing() {
        let [a, b] = [&b"a"[..], b"b"].map(Sha256::of);
        let text = format!(
            "#{a}:0-3 f\n#{a}:4-9 f\n#{b}:4-5 f\n#{a}:20-21 f\n#x:1-2 f\n#{a}:x f\n#{a}:1 f\n"
        );
        let ledger = Ledger::in_memory();
        for line in text.split_inclusive('\n') {
            read_line(line, &Prefix::default(), &mut ledger.seen());
        }
        let ranges = |text: &str| text.parse::<LineRanges>().unwrap();
        let wanted = [(a, ranges("20-21")), (b, ranges("4-5")), (a, ranges("0-9"))];
        assert_eq!(ledger.tagged("f"), wanted);
        for (version, lines, printed) in [
            (a, 0..=9, true),
            (a, 9..=10, false),
            (a, 20..=21, true),
            (b, 4..=5, true),
            (b, 3..=4, false),
        ] {
            assert_eq!(ledger.has_tagged("f", version, &lines), printed, "{lines:?}");
        }
        assert!(ledger.has_tags("f"));
        assert!(!ledger.has_tags("g"));
        for nth in 0..100_usize {
            let hash = Sha256::of(&nth.to_le_bytes());
            ledger.seen().add_tagged("f", hash, ranges("7-8"));
        }
        let tagged = ledger.tagged("f");
        assert_eq!(tagged.len(), MAX_TAGGED);
        assert_eq!(tagged[0].0, Sha256::of(&99_usize.to_le_bytes()));
    }
}
