//! The journal of a transaction, which later serves as its manifest.
//!
//! Lines of text, for a person to read after an accident:
//!
//! ```text
//! trash journal 1
//! id 20261121-014233-123456-9f3ac1d2
//! time 2026-11-21T01:42:33.123456Z
//! tool cleaner
//! mkdir - src/new
//! add 0 - file:2cf24d…:5:644:131:1795225353.5 src/new/a.txt
//! update 1 file:…:120:644:77:… file:…:125:644:132:… src/b.txt
//! delete 2 file:…:9:600:78:… - old.txt
//! moved 2 0
//! left - 1f00…
//! checksum 84983e…
//! hmac 9f1c04d2a7b85e63 b0344c…
//! ```
//!
//! The checksum shows whether the journal is complete. The keyed hash, under the key of the
//! fingerprint, shows whether this program wrote the journal for this user, or a repository shipped
//! it. Without a key the last line is `hmac -`.

use std::collections::HashMap;
use std::fmt::Write as _;

use fs_guard::{FileKind, FileTime, Hasher, Sha256};

use crate::error::JournalProblem;
use crate::escape::{escape, unescape};
use crate::fingerprint::Fingerprint;
use crate::id::TransactionId;
use crate::signer::Signer;

/// The file that tells what a transaction left, if that is not in the journal.
pub(crate) const LEFT: &str = "left";

const FIRST_LINE: &str = "trash journal 1";

/// Text is passed on in pieces of about this length.
const BYTES_AT_ONCE: usize = 256 << 10;

/// A transaction as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// The transaction's id and context.
    pub header: Header,
    /// The created directories, outermost first, with their modes where these are not the default.
    pub created_dirs: Vec<(String, Option<u32>)>,
    /// The directories removed at the end if they are empty, innermost first, with their modes.
    pub removed_dirs: Vec<(String, u32)>,
    /// The changes to files, in order.
    pub records: Vec<Record>,
    /// The moved files: the number of the record that removes the old path, and the number of the
    /// record that adds the new path.
    pub moved: Vec<(u32, u32)>,
    /// The hunks located in another version of a file and carried to the current one.
    pub carried: Vec<Carried>,
    /// The identity of the files left by the transaction, apart from the displaced ones.
    pub left: Kept,
}

/// Bytes that are kept with a transaction, [packed](crate::packed).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Kept {
    /// There are none.
    #[default]
    None,
    /// Few: they are in the journal.
    Here(Vec<u8>),
    /// So many, with this hash: they are in a file of the transaction's folder.
    InFile(u64, Sha256),
}

impl Kept {
    /// The most bytes that are kept in the journal, where they cost no file of their own.
    pub const MOST_HERE: usize = 1024;

    /// Returns their hash; `None` if there are none.
    #[must_use]
    pub fn sha256(&self) -> Option<Sha256> {
        match self {
            Self::None => None,
            Self::Here(bytes) => Some(Sha256::of(bytes)),
            Self::InFile(_, sha256) => Some(*sha256),
        }
    }
}

/// The signature of a journal, as read.
pub(crate) struct JournalSignature<'j> {
    /// The key of the signature.
    pub(crate) key: Fingerprint,
    hash: Sha256,
    signed: &'j [u8],
}

impl JournalSignature<'_> {
    /// Checks the signature with its key.
    pub(crate) fn check(&self, signer: &Signer) -> Result<(), JournalProblem> {
        if signer.matches(self.signed, &self.hash) { Ok(()) } else { Err(JournalProblem::Forged) }
    }
}

/// A hunk carried from one version of a file to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The file.
    pub path: String,
    /// The hunk of its section, counted from 0.
    pub hunk: usize,
    /// The lines where the hunk was located, counted from 1, inclusive. An end before the start
    /// means a gap.
    pub from: (usize, usize),
    /// The lines where the hunk was applied, or stood already.
    pub to: (usize, usize),
    /// Whether the file had the change already.
    pub already_there: bool,
}

/// The id and the context of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The transaction's id.
    pub id: TransactionId,
    /// The tool that made the change.
    pub tool: Option<String>,
    /// The agent that asked for the change.
    pub agent: Option<String>,
    /// The session of the call.
    pub session: Option<String>,
    /// The turn of that session.
    pub turn: Option<String>,
    /// The transaction that this one undoes.
    pub undo_of: Option<TransactionId>,
    /// More transactions undone together with the first.
    pub also_undo_of: Vec<TransactionId>,
    /// Whether only a part is undone.
    pub partial: bool,
    /// Whether the transaction counts only once it is [marked](crate::Pending::mark_done) as done.
    pub unverified: bool,
    /// The hash of the patch text, if there was one.
    pub text: Option<Sha256>,
}

impl Header {
    /// Creates a header with only an id.
    #[must_use]
    pub fn new(id: TransactionId) -> Self {
        Self {
            id,
            tool: None,
            agent: None,
            session: None,
            turn: None,
            undo_of: None,
            also_undo_of: Vec::new(),
            partial: false,
            unverified: false,
            text: None,
        }
    }
}

/// The change of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The number of the file in the transaction's folder: the new file before its publication, the
    /// displaced file from then on.
    pub slot: u32,
    /// The path.
    pub path: String,
    /// The file before the change.
    pub before: Option<FileState>,
    /// The file after the change.
    pub after: Option<FileState>,
    /// The name of the new file, if the file is staged beside the path and not in the transaction's
    /// folder.
    pub sibling: Option<String>,
}

/// The identity of a version of a file or link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// Whether the file is a symbolic link.
    pub link: bool,
    /// SHA-256 of the bytes, or of the link's text.
    pub sha256: Sha256,
    /// Length in bytes.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Inode number.
    pub ino: u64,
    /// Modification time.
    pub mtime: FileTime,
}

impl FileState {
    /// Returns the kind of entry.
    #[must_use]
    pub fn kind(&self) -> FileKind {
        if self.link { FileKind::Symlink } else { FileKind::File }
    }

    /// Describes a file.
    #[must_use]
    pub fn of(metadata: &fs_guard::Metadata, sha256: Sha256) -> Self {
        Self {
            link: metadata.kind == FileKind::Symlink,
            sha256,
            size: metadata.size,
            mode: metadata.mode,
            ino: metadata.ino,
            mtime: metadata.mtime,
        }
    }
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Creates a file.
    Add,
    /// Replaces a file.
    Update,
    /// Removes a file.
    Delete,
}

impl Operation {
    /// Returns the word in the journal.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

impl Record {
    /// Returns the kind of the change.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match (&self.before, &self.after) {
            (None, _) => Operation::Add,
            (Some(_), Some(_)) => Operation::Update,
            (Some(_), None) => Operation::Delete,
        }
    }

    /// Returns whether a symbolic link is at the path, before or afterwards.
    #[must_use]
    pub fn is_of_link(&self) -> bool {
        [&self.before, &self.after].into_iter().flatten().any(|state| state.link)
    }
}

impl Journal {
    /// Returns the two records of each moved file: of the old path, and of the new one.
    #[must_use]
    pub fn moves(&self) -> Vec<(&Record, &Record)> {
        if self.moved.is_empty() {
            return Vec::new();
        }
        let of: HashMap<u32, &Record> =
            self.records.iter().map(|record| (record.slot, record)).collect();
        self.moved.iter().filter_map(|(from, to)| Some((*of.get(from)?, *of.get(to)?))).collect()
    }

    /// Creates the journal of a transaction that creates and removes no directories.
    #[must_use]
    pub fn new(header: Header, records: Vec<Record>) -> Self {
        Self {
            header,
            created_dirs: Vec::new(),
            removed_dirs: Vec::new(),
            records,
            moved: Vec::new(),
            carried: Vec::new(),
            left: Kept::None,
        }
    }

    /// Returns its text, signed if there is a signer.
    #[must_use]
    pub fn to_text(&self, signer: Option<&Signer>) -> String {
        let mut text = String::new();
        let Ok(()) = self.write(signer, |part| -> Result<(), std::convert::Infallible> {
            text.push_str(part);
            Ok(())
        });
        text
    }

    /// Passes the text to `out`, signed if there is a signer, in pieces, to save memory for a long
    /// journal.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub(crate) fn write<E>(
        &self,
        signer: Option<&Signer>,
        mut out: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        const WHOLE: &str = "a string takes all";
        let mut hasher = Hasher::new();
        let mut signing = signer.map(|signer| (signer.fingerprint(), signer.begin()));
        let mut text = String::with_capacity(BYTES_AT_ONCE.min(256 + 300 * self.records.len()));
        self.write_header(&mut text).expect(WHOLE);
        for record in &self.records {
            write_record(&mut text, record).expect(WHOLE);
            // With room for one more record: the text never grows.
            if text.len() + 1024 >= BYTES_AT_ONCE {
                hasher.update(text.as_bytes());
                signing.iter_mut().for_each(|(_, signing)| signing.update(text.as_bytes()));
                out(&text)?;
                text.clear();
            }
        }
        self.write_rest(&mut text).expect(WHOLE);
        hasher.update(text.as_bytes());
        writeln!(text, "checksum {}", hasher.finish()).expect(WHOLE);
        match signing {
            Some((key, mut signing)) => {
                write!(text, "hmac {key} ").expect(WHOLE);
                signing.update(text.as_bytes());
                writeln!(text, "{}", signing.finish())
            }
            None => writeln!(text, "hmac -"),
        }
        .expect(WHOLE);
        out(&text)
    }

    /// Writes the lines before the records.
    fn write_header(&self, text: &mut String) -> std::fmt::Result {
        let Header {
            id,
            tool,
            agent,
            session,
            turn,
            undo_of,
            also_undo_of,
            partial,
            unverified,
            text: asked,
        } = &self.header;
        writeln!(text, "{FIRST_LINE}\nid {id}\ntime {}", crate::time::format_time(id.time()))?;
        for (name, value) in
            [("tool", tool), ("agent", agent), ("session", session), ("turn", turn)]
        {
            if let Some(value) = value {
                writeln!(text, "{name} {}", escape(value))?;
            }
        }
        if let Some(undone) = undo_of {
            writeln!(text, "{} {undone}", if *partial { "undo-part-of" } else { "undo-of" })?;
        }
        for undone in also_undo_of {
            writeln!(text, "also-undo-of {undone}")?;
        }
        if let Some(asked) = asked {
            writeln!(text, "text {asked}")?;
        }
        if *unverified {
            writeln!(text, "state unverified")?;
        }
        for (dir, mode) in &self.created_dirs {
            match mode {
                Some(mode) => writeln!(text, "mkdir {mode:o} {}", escape(dir))?,
                None => writeln!(text, "mkdir - {}", escape(dir))?,
            }
        }
        for (dir, mode) in &self.removed_dirs {
            writeln!(text, "rmdir {mode:o} {}", escape(dir))?;
        }
        Ok(())
    }

    /// Writes the lines after the records.
    fn write_rest(&self, text: &mut String) -> std::fmt::Result {
        for (from, to) in &self.moved {
            writeln!(text, "moved {from} {to}")?;
        }
        for Carried { path, hunk, from, to, already_there } in &self.carried {
            let word = if *already_there { "already" } else { "carried" };
            writeln!(
                text,
                "{word} {hunk} {}-{} {}-{} {}",
                from.0,
                from.1,
                to.0,
                to.1,
                escape(path)
            )?;
        }
        match &self.left {
            Kept::None => {}
            Kept::Here(bytes) => {
                text.push_str("left - ");
                bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}"))?;
                text.push('\n');
            }
            Kept::InFile(size, sha256) => writeln!(text, "left {size} {sha256}")?,
        }
        Ok(())
    }

    /// Reads a journal and checks its completeness and, with a signer, its signature.
    pub fn parse(bytes: &[u8], signer: Option<&Signer>) -> Result<Self, JournalProblem> {
        let (journal, signature) = Self::read(bytes)?;
        match (signer, signature) {
            (None, _) => Ok(journal),
            (Some(_), None) => Err(JournalProblem::NotSigned),
            (Some(signer), Some(signature)) => {
                if signature.key == signer.fingerprint() {
                    signature.check(signer).map(|()| journal)
                } else {
                    Err(JournalProblem::OtherKey(signature.key))
                }
            }
        }
    }

    /// Reads a journal and checks its completeness. The caller has to check the signature, if any.
    pub(crate) fn read(
        bytes: &[u8],
    ) -> Result<(Self, Option<JournalSignature<'_>>), JournalProblem> {
        let read = sealed(bytes).and_then(|(body, signature)| Some((read_body(body)?, signature)));
        read.ok_or_else(|| problem_of(bytes))
    }

    /// Returns how many bytes the transaction keeps: those of displaced files, and of the file that
    /// tells what it left.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        let left = if let Kept::InFile(size, _) = self.left { size } else { 0 };
        let displaced = self.records.iter().filter_map(|record| record.before.as_ref());
        left.saturating_add(displaced.map(|before| before.size).sum())
    }
}

/// Takes the checksum and the signature off a journal; `None` if they are missing, or the checksum
/// is wrong.
fn sealed(bytes: &[u8]) -> Option<(&str, Option<JournalSignature<'_>>)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (rest, signature) = text.strip_suffix('\n')?.rsplit_once("\nhmac ")?;
    let (body, checksum) = rest.rsplit_once("\nchecksum ")?;
    let body = &text[..=body.len()];
    if hash(checksum) != Some(Sha256::of(body.as_bytes())) {
        return None;
    }
    if signature == "-" {
        return Some((body, None));
    }
    let (key, by_key) = signature.split_once(' ')?;
    let signed = &bytes[..bytes.len() - 1 - by_key.len()];
    let key = Fingerprint::parse(key)?;
    Some((body, Some(JournalSignature { key, hash: hash(by_key)?, signed })))
}

/// Returns the fault of an unreadable journal. A journal that was cut off has no last line, or
/// zeros in place of bytes that never reached the disk.
fn problem_of(bytes: &[u8]) -> JournalProblem {
    let mut windows = bytes.windows(6).rev().take(200);
    let has_last_line = bytes.ends_with(b"\n") && windows.any(|window| window == b"\nhmac ");
    if has_last_line && !bytes.contains(&0) {
        JournalProblem::Altered
    } else {
        JournalProblem::Damaged
    }
}

fn write_record(text: &mut String, record: &Record) -> std::fmt::Result {
    text.push_str(record.operation().as_str());
    text.push(' ');
    text.push_str(&record.slot.to_string());
    text.push(' ');
    write_state(text, record.before.as_ref())?;
    write_state(text, record.after.as_ref())?;
    text.push_str(&escape(&record.path));
    text.push('\n');
    match &record.sibling {
        Some(sibling) => writeln!(text, "sibling {}", escape(sibling)),
        None => Ok(()),
    }
}

/// Written without format strings, which would take longer than everything else that is done to a
/// record.
fn write_state(text: &mut String, state: Option<&FileState>) -> std::fmt::Result {
    let Some(state) = state else { return text.write_str("- ") };
    text.push_str(if state.link { "link:" } else { "file:" });
    text.push_str(std::str::from_utf8(&state.sha256.hex()).expect("digits are ASCII"));
    text.push(':');
    text.push_str(&state.size.to_string());
    write!(text, ":{:o}:", state.mode)?;
    text.push_str(&state.ino.to_string());
    let (seconds, nanos) = state.mtime;
    for (sign, number) in [(':', seconds.to_string()), ('.', nanos.to_string())] {
        text.push(sign);
        text.push_str(&number);
    }
    text.push(' ');
    Ok(())
}

fn read_state(text: &str) -> Option<Option<FileState>> {
    if text == "-" {
        return Some(None);
    }
    let mut parts = text.split(':');
    let link = match parts.next()? {
        "file" => false,
        "link" => true,
        _ => return None,
    };
    let state = FileState {
        link,
        sha256: parts.next()?.parse().ok()?,
        size: parts.next()?.parse().ok()?,
        mode: u32::from_str_radix(parts.next()?, 8).ok()?,
        ino: parts.next()?.parse().ok()?,
        mtime: {
            let (seconds, nanos) = parts.next()?.split_once('.')?;
            (seconds.parse().ok()?, nanos.parse().ok()?)
        },
    };
    parts.next().is_none().then_some(Some(state))
}

/// Reads a hash, in lower case only.
fn hash(text: &str) -> Option<Sha256> {
    text.parse().ok().filter(|hash: &Sha256| hash.hex() == *text.as_bytes())
}

/// Reads bytes from their digits.
fn read_hex(digits: &str) -> Option<Vec<u8>> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

fn read_body(body: &str) -> Option<Journal> {
    let mut lines = body.lines();
    if lines.next()? != FIRST_LINE {
        return None;
    }
    let id = lines.next()?.strip_prefix("id ")?.parse().ok()?;
    let mut journal = Journal::new(Header::new(id), Vec::new());
    for line in lines {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "time" => {}
            "tool" => journal.header.tool = Some(unescape(rest)?),
            "agent" => journal.header.agent = Some(unescape(rest)?),
            "session" => journal.header.session = Some(unescape(rest)?),
            "turn" => journal.header.turn = Some(unescape(rest)?),
            "undo-of" | "undo-part-of" => {
                journal.header.undo_of = Some(rest.parse().ok()?);
                journal.header.partial = word == "undo-part-of";
            }
            "also-undo-of" => journal.header.also_undo_of.push(rest.parse().ok()?),
            "text" => journal.header.text = Some(rest.parse().ok()?),
            "state" if rest == "unverified" => journal.header.unverified = true,
            "mkdir" => {
                let (mode, dir) = rest.split_once(' ')?;
                let mode = match mode {
                    "-" => None,
                    mode => Some(u32::from_str_radix(mode, 8).ok()?),
                };
                journal.created_dirs.push((unescape(dir)?, mode));
            }
            "rmdir" => {
                let (mode, dir) = rest.split_once(' ')?;
                journal.removed_dirs.push((unescape(dir)?, u32::from_str_radix(mode, 8).ok()?));
            }
            "sibling" => journal.records.last_mut()?.sibling = Some(unescape(rest)?),
            "moved" => {
                let (from, to) = rest.split_once(' ')?;
                journal.moved.push((from.parse().ok()?, to.parse().ok()?));
            }
            "left" => {
                journal.left = match rest.split_once(' ')? {
                    ("-", digits) => Kept::Here(read_hex(digits)?),
                    (size, sha256) => Kept::InFile(size.parse().ok()?, sha256.parse().ok()?),
                };
            }
            "carried" => journal.carried.push(read_carried(rest, false)?),
            "already" => journal.carried.push(read_carried(rest, true)?),
            "add" | "update" | "delete" => journal.records.push(read_record(word, rest)?),
            _ => return None,
        }
    }
    Some(journal)
}

fn read_carried(rest: &str, already_there: bool) -> Option<Carried> {
    let mut parts = rest.splitn(4, ' ');
    let hunk = parts.next()?.parse().ok()?;
    let from = read_lines(parts.next()?)?;
    let to = read_lines(parts.next()?)?;
    Some(Carried { path: unescape(parts.next()?)?, hunk, from, to, already_there })
}

fn read_lines(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

fn read_record(operation: &str, rest: &str) -> Option<Record> {
    let mut parts = rest.splitn(4, ' ');
    let record = Record {
        slot: parts.next()?.parse().ok()?,
        before: read_state(parts.next()?)?,
        after: read_state(parts.next()?)?,
        path: unescape(parts.next()?)?,
        sibling: None,
    };
    let is_change = record.before.is_some() || record.after.is_some();
    (is_change && record.operation().as_str() == operation).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Journal {
        let id = "20261121-014233-123456-9f3ac1d2".parse().unwrap();
        let state = |text: &str, ino| FileState {
            link: false,
            sha256: Sha256::of(text.as_bytes()),
            size: text.len() as u64,
            mode: 0o644,
            ino,
            mtime: (1_795_225_353, 5),
        };
        let record = |slot, path: &str, before, after| Record {
            slot,
            path: path.into(),
            before,
            after,
            sibling: None,
        };
        Journal {
            header: Header {
                tool: Some("cleaner".into()),
                session: Some("two\nlines\\ and \u{1b}".into()),
                turn: Some("t-1".into()),
                undo_of: Some(id),
                also_undo_of: vec![id, id],
                partial: true,
                unverified: true,
                text: Some(Sha256::of(b"text")),
                ..Header::new(id)
            },
            created_dirs: vec![("src/new dir".into(), None), ("x".into(), Some(0o750))],
            removed_dirs: vec![("old".into(), 0o755)],
            records: vec![
                record(0, "src/new dir/ä b.txt", None, Some(state("a", 1))),
                Record {
                    sibling: Some("b.txt.1.tmp".into()),
                    ..record(1, "b.txt", Some(state("b", 2)), Some(state("c", 3)))
                },
                record(2, "d", Some(FileState { link: true, ..state("target", 4) }), None),
            ],
            moved: vec![(2, 0)],
            carried: vec![
                Carried {
                    path: "b c".into(),
                    hunk: 1,
                    from: (3, 5),
                    to: (8, 10),
                    already_there: false,
                },
                Carried {
                    path: "d".into(),
                    hunk: 0,
                    from: (1, 0),
                    to: (2, 1),
                    already_there: true,
                },
            ],
            left: Kept::Here(vec![0, 7, 255]),
        }
    }

    #[test]
    fn reads_what_it_writes() {
        let key = Signer::with_key(&[7; 32]);
        for key in [None, Some(&key)] {
            let text = sample().to_text(key);
            assert_eq!(Journal::parse(text.as_bytes(), key), Ok(sample()), "{text}");
            let in_file = Journal { left: Kept::InFile(70_000, Sha256::of(b"left")), ..sample() };
            let text = in_file.to_text(key);
            assert_eq!(Journal::parse(text.as_bytes(), key), Ok(in_file), "{text}");
        }
        assert_eq!(sample().kept_bytes(), 7);
    }

    #[test]
    fn a_long_one_is_written_in_parts() {
        let key = Signer::with_key(&[7; 32]);
        let record = &sample().records[1];
        let records =
            (0..5000).map(|slot| Record { slot, path: format!("src/{slot}"), ..record.clone() });
        let long = Journal { records: records.collect(), ..sample() };
        for key in [None, Some(&key)] {
            let mut parts = Vec::new();
            let Ok(()) = long.write(key, |part| -> Result<(), std::convert::Infallible> {
                parts.push(part.to_owned());
                Ok(())
            });
            assert!(parts.len() > 2, "{}", parts.len());
            assert!(parts.iter().all(|part| part.len() <= BYTES_AT_ONCE), "{}", parts.len());
            assert_eq!(Journal::parse(parts.concat().as_bytes(), key), Ok(long.clone()));
            // Nothing is passed on after a piece that could not be written.
            let mut given = 0;
            let full = long.write(key, |_| {
                given += 1;
                Err("full")
            });
            assert_eq!(full, Err("full"));
            assert_eq!(given, 1);
        }
    }

    #[test]
    fn every_truncation_and_every_changed_byte_is_noticed() {
        let key = Signer::with_key(&[7; 32]);
        let text = sample().to_text(Some(&key)).into_bytes();
        for length in 0..text.len() {
            assert!(Journal::parse(&text[..length], Some(&key)).is_err(), "cut at {length}");
            assert!(
                Journal::parse(&text[..length], None).is_err() || length == text.len(),
                "cut at {length}"
            );
            let mut changed = text.clone();
            changed[length] ^= 1;
            assert!(Journal::parse(&changed, Some(&key)).is_err(), "changed at {length}");
        }
    }

    #[test]
    fn what_says_nothing_or_something_else_is_damaged() {
        let text = sample().to_text(None);
        let (body, _) = text.split_once("checksum ").unwrap();
        let parse = |body: &str| {
            let text = format!("{body}checksum {}\nhmac -\n", Sha256::of(body.as_bytes()));
            Journal::parse(text.as_bytes(), None)
        };
        assert_eq!(parse(body), Ok(sample()));
        for (was, is) in [
            ("state unverified", "state verified"),
            ("tool ", "tools "),
            ("add 0 - file:", "update 0 - file:"),
            ("add 0 - file:", "delete 0 - file:"),
            ("update 1 file:", "add 1 file:"),
            ("delete 2 link:", "update 2 link:"),
            ("delete 2 link:", "delete 2 pipe:"),
            ("moved 2 0\n", "add 7 - - x\nmoved 2 0\n"),
        ] {
            assert!(body.contains(was));
            assert_eq!(parse(&body.replace(was, is)), Err(JournalProblem::Altered), "{is}");
        }
    }

    /// A journal has exactly one text: no byte may differ, not even the case of a digit in the
    /// signature.
    #[test]
    fn a_signed_journal_has_one_spelling() {
        let signer = Signer::with_key(&[1; 32]);
        let text = sample().to_text(Some(&signer));
        assert!(Journal::parse(text.as_bytes(), Some(&signer)).is_ok());
        let mut others = 0;
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = other[at].to_ascii_uppercase();
            if other != text.as_bytes() {
                others += 1;
                assert!(Journal::parse(&other, Some(&signer)).is_err(), "{at}");
            }
        }
        assert!(others > 50);
        let unsigned = sample().to_text(None);
        let (body, checksum) = unsigned.split_at(unsigned.find("checksum").unwrap());
        assert!(Journal::parse(format!("{body}{checksum}").as_bytes(), None).is_ok());
        let capitals =
            checksum.to_ascii_uppercase().replace("CHECKSUM", "checksum").replace("HMAC", "hmac");
        assert_eq!(
            Journal::parse(format!("{body}{capitals}").as_bytes(), None),
            Err(JournalProblem::Altered)
        );
    }

    #[test]
    fn another_key_or_none_is_not_signed() {
        let unsigned = sample().to_text(None);
        assert_eq!(
            Journal::parse(unsigned.as_bytes(), Some(&Signer::with_key(&[1; 32]))),
            Err(JournalProblem::NotSigned)
        );
        let (one, two) = (Signer::with_key(&[1; 32]), Signer::with_key(&[2; 32]));
        let other = sample().to_text(Some(&two));
        let problem = Journal::parse(other.as_bytes(), Some(&one)).unwrap_err();
        assert_eq!(problem, JournalProblem::OtherKey(two.fingerprint()));
        assert!(problem.can_be_trusted());
        // Naming a key that is available does not make a signature of that key.
        let named = other.replace(&two.fingerprint().to_string(), &one.fingerprint().to_string());
        let problem = Journal::parse(named.as_bytes(), Some(&one)).unwrap_err();
        assert_eq!(problem, JournalProblem::Forged);
        assert!(!problem.can_be_trusted());
    }
}
