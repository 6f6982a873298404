//! The changes of a commit to come, as an immutable value.
//!
//! A patch, one operation on a file, undo, redo and a restore from the trash all become a [`Plan`],
//! and the same value is shown, approved, logged and committed. Only a
//! [`PlanBuilder`](builder::PlanBuilder) makes one.

mod applied;
mod backslashes;
pub(crate) mod base;
pub(crate) mod binary;
pub(crate) mod builder;
mod conflict_markers;
mod contents;
mod decorated;
pub(crate) mod disk;
pub(crate) mod fitting;
pub(crate) mod formatter;
pub(crate) mod hunk_result;
mod image;
pub(crate) mod images;
pub(crate) mod kind;
mod links;
pub(crate) mod near;
mod normalise;
pub(crate) mod options;
mod origins;
pub(crate) mod overlay;
pub(crate) mod paths;
pub(crate) mod placeholders;
pub(crate) mod planner;
mod prefetch;
pub(crate) mod reject;
pub(crate) mod relative;
pub(crate) mod reverse;
pub(crate) mod section_done;
pub(crate) mod shared_lines;
pub(crate) mod simultaneous;
mod step;
pub(crate) mod submodules;
pub(crate) mod syntax;
#[cfg(test)]
mod tests;
mod texts;
pub(crate) mod version;
pub(crate) mod whitespace;

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use fs_guard::{Hasher, RelPath, Sha256};
use patch_grammar::{Patch, Section, Warning};
use patch_text::carry::CarriedHunk;
use patch_text::locate::{Note, Placed};
use workspace_trash::TransactionId;

use crate::files::Files;
use crate::plan::origins::Origins;
use crate::plan::section_done::SectionDone;
use crate::plan::syntax::SyntaxFault;
use crate::plan::whitespace::WhitespaceErrors;

pub use image::Transition;

pub(crate) use image::{Image, Mode, PostImage, PreImage};

/// A map with a seeded hash, fast for short keys.
type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// All changes of a commit to come, and no others.
///
/// A plan cannot be made by hand, nor altered once it is approved:
///
/// ```compile_fail,E0616
/// fn alter(plan: &mut patch_engine::Plan) {
///     plan.transitions.clear();
/// }
/// ```
///
/// ```compile_fail,E0451
/// fn make(plan: patch_engine::Plan) -> patch_engine::Plan {
///     patch_engine::Plan { undo_of: None, ..plan }
/// }
/// ```
///
/// ```compile_fail,E0616
/// fn alter(transition: &mut patch_engine::Transition) {
///     transition.after = None;
/// }
/// ```
#[derive(Debug)]
pub struct Plan {
    /// The files before; read again for bytes not in memory.
    files: Files,
    authority: Authority,
    transitions: Vec<Transition>,
    /// The transition of each path of an existing file.
    before: Map<RelPath, usize>,
    create_dirs: Vec<NewDir>,
    remove_dirs: Vec<RelPath>,
    undo_of: Option<Undone>,
    /// More transactions to undo.
    also_undone: Vec<TransactionId>,
    origins: Origins,
    changes: OnceLock<Vec<Change>>,
    /// The patch behind the plan.
    patch: Option<Patch>,
    /// Sections of the patch left out, because they do not apply.
    left_out: BTreeSet<usize>,
    placed: Vec<(usize, Placed)>,
    pub(crate) notes: Vec<PlanNote>,
    carried_bases: Vec<(RelPath, Arc<Vec<u8>>)>,
}

/// The authority to touch the paths of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Authority {
    /// The guard's policy.
    Policy,
    /// A journal: its paths were checked when they were patched. An `authentic` one is this
    /// program's own.
    Journal {
        /// Signed by this user.
        authentic: bool,
    },
}

/// A directory to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewDir {
    pub(crate) path: RelPath,
    /// Its permissions where they are not the default.
    pub(crate) mode: Option<u32>,
}

/// The transaction to undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undone {
    pub(crate) id: TransactionId,
    /// Only some of its paths.
    pub(crate) partial: bool,
}

impl Plan {
    /// Returns the patch, unless the plan undoes or redoes one.
    #[must_use]
    pub fn patch(&self) -> Option<&Patch> {
        self.patch.as_ref()
    }

    /// Returns the changed paths: created and replaced files in the order of the patch, then
    /// deleted ones.
    #[must_use]
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Returns the changes as a person counts them: a move is one change.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        self.changes.get_or_init(|| changes(&self.transitions, &self.before, &self.origins))
    }

    /// Iterates over the directories to be created, outermost first.
    pub fn create_dirs(&self) -> impl Iterator<Item = &RelPath> {
        self.create_dirs.iter().map(|dir| &dir.path)
    }

    /// Returns the directories to remove if they are empty in the end, innermost first.
    #[must_use]
    pub fn remove_dirs(&self) -> &[RelPath] {
        &self.remove_dirs
    }

    /// Returns the transaction to undo; `None` for a patch, an operation and a restore.
    #[must_use]
    pub fn undo_of(&self) -> Option<TransactionId> {
        self.undo_of.map(|undone| undone.id)
    }

    /// Returns the other transactions to undo, older than [`undo_of`](Self::undo_of).
    #[must_use]
    pub fn also_undone(&self) -> &[TransactionId] {
        &self.also_undone
    }

    /// Returns how many hunks the patch has in the sections not left out.
    #[must_use]
    pub fn hunk_count(&self) -> usize {
        self.sections().map(|(_, section)| section.hunks().len()).sum()
    }

    /// Returns the sections of the patch whose changes are made, each with its index.
    fn sections(&self) -> impl Iterator<Item = (usize, &Section<'_>)> {
        let all = self.patch.iter().flat_map(|patch| patch.sections().iter().enumerate());
        all.filter(|(index, _)| !self.left_out.contains(index))
    }

    /// Returns the 0-based sections of the patch left out.
    #[must_use]
    pub fn left_out(&self) -> &BTreeSet<usize> {
        &self.left_out
    }

    /// Returns whether sections of the patch were left out.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        !self.left_out.is_empty()
    }

    /// Returns where each hunk went, with its 0-based section, in the order of the sections.
    #[must_use]
    pub fn placed(&self) -> &[(usize, Placed)] {
        &self.placed
    }

    /// Returns where the hunks of a section went.
    pub fn placed_in(&self, section: usize) -> impl Iterator<Item = &Placed> {
        let first = self.placed.partition_point(|(of, _)| *of < section);
        self.placed[first..]
            .iter()
            .take_while(move |(of, _)| *of == section)
            .map(|(_, placed)| placed)
    }

    /// Returns what was overlooked, and what a reader should know.
    #[must_use]
    pub fn notes(&self) -> &[PlanNote] {
        &self.notes
    }

    /// Returns the files as their author expects them afterwards, where they will differ: a file
    /// changed by others since, as the version seen by the author with the change; and a formatted
    /// file, as it was written.
    #[must_use]
    pub fn carried_bases(&self) -> &[(RelPath, Arc<Vec<u8>>)] {
        &self.carried_bases
    }

    /// Returns whether the plan changes nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.transitions.is_empty() && self.create_dirs.is_empty() && self.remove_dirs.is_empty()
    }

    /// Returns the transition to the new file of a change, or from the deleted one.
    #[must_use]
    pub fn transition_of(&self, change: &Change) -> &Transition {
        &self.transitions[change.transition]
    }

    /// Returns whether a change makes a symbolic link, or lets one lead elsewhere.
    #[must_use]
    pub fn makes_link(&self, change: &Change) -> bool {
        self.transition_of(change).after.as_ref().is_some_and(|after| after.link)
    }

    /// Returns a hash of all effects of the plan: one with the same digest as the
    /// approved one does the same.
    #[must_use]
    pub fn digest(&self) -> Sha256 {
        // Every field is named, lest a new one be forgotten.
        let Self {
            files,
            authority,
            transitions,
            // Derived from the transitions.
            before: _,
            origins: _,
            changes: _,
            create_dirs,
            remove_dirs,
            undo_of,
            also_undone,
            // Reported, but not carried out.
            patch: _,
            left_out: _,
            placed: _,
            notes: _,
            carried_bases: _,
        } = self;
        let mut digest = Digest(Hasher::new());
        digest.bytes(files.tree_id().unwrap_or_default().as_bytes());
        digest.number(match authority {
            Authority::Policy => 0,
            Authority::Journal { authentic: false } => 1,
            Authority::Journal { authentic: true } => 2,
        });
        digest.number(transitions.len() as u64);
        transitions.iter().for_each(|transition| digest.transition(transition));
        digest.number(create_dirs.len() as u64);
        for NewDir { path, mode } in create_dirs {
            digest.bytes(path.as_str().as_bytes());
            digest.option(mode.map(u64::from));
        }
        digest.number(remove_dirs.len() as u64);
        remove_dirs.iter().for_each(|dir| digest.bytes(dir.as_str().as_bytes()));
        match undo_of {
            Some(Undone { id, partial }) => {
                digest.bytes(id.to_string().as_bytes());
                digest.number(u64::from(*partial));
            }
            None => digest.bytes(b""),
        }
        digest.number(also_undone.len() as u64);
        also_undone.iter().for_each(|id| digest.bytes(id.to_string().as_bytes()));
        digest.0.finish()
    }

    /// Returns the old version of the new file of a transition: the file at its path, or the one
    /// moved there. Where the old file moves away, the new one is another.
    fn made_of(&self, index: usize) -> Option<&PreImage> {
        let Transition { path, before, .. } = &self.transitions[index];
        match self.origins.of(index) {
            Some(origin) => self.pre_image(origin).map(|(_, before)| before),
            None => before.as_ref().filter(|_| !self.origins.leaves(path)),
        }
    }

    /// Returns the former path of the new file of a transition.
    fn former_path(&self, index: usize) -> &RelPath {
        self.origins.of(index).unwrap_or(&self.transitions[index].path)
    }

    /// Returns the bytes that the new file of a transition was made of; none if it is new.
    fn former_bytes(&self, index: usize) -> Result<Arc<Vec<u8>>, fs_guard::Error> {
        match self.made_of(index) {
            Some(_) => self.images().before(self.former_path(index)),
            None => Ok(Arc::default()),
        }
    }

    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    pub(crate) fn authority(&self) -> Authority {
        self.authority
    }

    pub(crate) fn new_dirs(&self) -> &[NewDir] {
        &self.create_dirs
    }

    pub(crate) fn undone(&self) -> Option<Undone> {
        self.undo_of
    }

    /// Returns the pre-image of a path, with the index of its transition.
    pub(crate) fn pre_image(&self, path: &RelPath) -> Option<(usize, &PreImage)> {
        let &index = self.before.get(path)?;
        Some((index, self.transitions[index].before.as_ref()?))
    }
}

/// Hashes values with their lengths: their boundaries count.
struct Digest(Hasher);

impl Digest {
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn number(&mut self, number: u64) {
        self.0.update(&number.to_be_bytes());
    }

    fn option(&mut self, number: Option<u64>) {
        self.number(u64::from(number.is_some()));
        self.number(number.unwrap_or_default());
    }

    fn transition(&mut self, transition: &Transition) {
        let Transition { path, before, after } = transition;
        self.bytes(path.as_str().as_bytes());
        match before {
            Some(PreImage { metadata, hash, bytes: _ }) => {
                self.bytes(&hash.get().0);
                self.number(metadata.kind as u64);
                self.number(u64::from(metadata.mode));
            }
            None => self.bytes(b""),
        }
        let Some(after) = after else { return self.bytes(b"") };
        // The hash covers the image; `rewritten` is for the approval only.
        let PostImage { image, hash: _, size, mode, link, rewritten: _, attributes_of } = after;
        self.bytes(&after.sha256().0);
        self.number(*size);
        self.option(mode.exact().map(u64::from));
        self.number(u64::from(*mode == Mode::Default { executable: true }));
        self.number(u64::from(*link));
        self.bytes(attributes_of.as_ref().map_or("", RelPath::as_str).as_bytes());
        // A displaced file brings its attributes along.
        match image {
            Image::Kept(_) | Image::Lines(_) | Image::OnDisk(_) | Image::Spliced(..) => {
                self.bytes(b"")
            }
            Image::Stored(id, slot) => {
                self.bytes(id.to_string().as_bytes());
                self.number(u64::from(*slot));
            }
        }
    }
}

/// Returns the changes as a person counts them.
fn changes(
    transitions: &[Transition],
    before: &Map<RelPath, usize>,
    origins: &Origins,
) -> Vec<Change> {
    let mut changes = Vec::with_capacity(transitions.len());
    for (index, transition) in transitions.iter().enumerate() {
        let origin = origins.of(index);
        let moves_away = origins.leaves(&transition.path);
        let operation = match (origin, &transition.before, &transition.after) {
            (Some(_), ..) => ChangeKind::Move,
            (None, _, None) if moves_away => continue,
            (None, _, None) => ChangeKind::Delete,
            (None, None, _) => ChangeKind::Create,
            // The old file has moved to another path.
            (None, Some(_), _) if moves_away => ChangeKind::Create,
            (None, Some(_), _) => ChangeKind::Update,
        };
        let path = origin.unwrap_or(&transition.path);
        changes.push(Change {
            operation,
            path: path.clone(),
            to_path: origin.map(|_| transition.path.clone()),
            before: match origin {
                Some(origin) => before.get(origin).and_then(|&index| transitions[index].before()),
                None => transition.before().filter(|_| !moves_away),
            },
            after: transition.after(),
            replaces: origin.filter(|_| !moves_away).and_then(|_| transition.before()),
            transition: index,
        });
    }
    changes
}

/// One change as a person counts them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The kind of the change.
    pub operation: ChangeKind,
    /// The file before; for a new file, the new one.
    pub path: RelPath,
    /// Where a moved file goes.
    pub to_path: Option<RelPath>,
    /// Its hash before.
    pub before: Option<Sha256>,
    /// Its hash after.
    pub after: Option<Sha256>,
    /// The hash of another file, lost because this one moves to its path. A file that moves
    /// away itself is not lost.
    pub replaces: Option<Sha256>,
    /// The index of the transition to the new file, or from the deleted one.
    pub transition: usize,
}

impl Change {
    /// Returns the path of the file afterwards; for a deleted file, its old path.
    #[must_use]
    pub fn last_path(&self) -> &RelPath {
        self.to_path.as_ref().unwrap_or(&self.path)
    }
}

patch_grammar::named! {
    /// The kind of a change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ChangeKind {
        /// A file is created.
        Create = "create",
        /// Its bytes change.
        Update = "update",
        /// A file is deleted.
        Delete = "delete",
        /// A file gets another path, and perhaps other bytes.
        Move = "move",
    }
}

/// A note about a plan for the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum PlanNote {
    /// The text was changed before reading.
    Input(String),
    /// Something in the text was overlooked.
    Text(Warning),
    /// A hunk was placed in a way worth a note.
    Hunk {
        /// The file.
        path: String,
        /// The 0-based hunk of its section.
        hunk: usize,
        /// The note.
        note: Note,
    },
    /// A file is stored, and written back, in another encoding than UTF-8.
    Encoded {
        /// The file.
        path: String,
        /// The name of the encoding in the WHATWG's list.
        encoding: &'static str,
    },
    /// A new file ends its lines in CRLF by the conventions of the workspace.
    Crlf {
        /// The file.
        path: String,
        /// The name of the file with the convention.
        by: &'static str,
    },
    /// A hunk was located in the base, and carried to the current file.
    Carried {
        /// The file.
        path: String,
        /// The 0-based hunk of its section.
        hunk: usize,
        /// The 1-based lines of the change in the base, and the lines next to them.
        from: RangeInclusive<usize>,
        /// The 1-based lines of the change in the file, and the lines next to them.
        to: RangeInclusive<usize>,
        /// The file had the whole change already.
        already_there: bool,
    },
    /// A section was left out as applied already.
    SectionApplied {
        /// The file, or its new path.
        path: String,
        /// The 0-based section.
        section: usize,
        /// The effect.
        done: SectionDone,
    },
    /// The sections of a file were left out, because they do not apply, or because others of the
    /// same files do not.
    LeftOut {
        /// The file.
        path: String,
    },
    /// The new lines of a file have whitespace errors.
    Whitespace {
        /// The file.
        path: String,
        /// The errors.
        errors: WhitespaceErrors,
        /// They are fixed.
        fixed: bool,
    },
    /// Directories are made for new files of an envelope. Envelopes do not show them.
    NewDirectories {
        /// The outermost ones.
        directories: Vec<String>,
    },
    /// A file does not parse in the format of its name: a new one, or one that parsed
    /// before.
    Syntax {
        /// The file.
        path: String,
        /// Where, and why.
        fault: SyntaxFault,
        /// The file is new.
        is_new: bool,
    },
    /// A file was formatted.
    Formatted {
        /// The path of the new file.
        path: String,
        /// The commands of the formatter.
        by: String,
    },
    /// A file without conflict markers gets some.
    ConflictMarkers {
        /// The file.
        path: String,
        /// The 1-based line of the new file where the first conflict begins.
        line: usize,
    },
    /// A section changes nothing.
    Unchanged {
        /// The file.
        path: String,
    },
    /// The change to undo is gone from a file already.
    AsBefore {
        /// The file.
        path: String,
    },
    /// All of a turn is undone.
    OfTurn {
        /// Its name.
        turn: String,
        /// How many transactions the turn has.
        transactions: usize,
    },
    /// A newer transaction is not undone.
    PassedOver {
        /// The transaction.
        id: TransactionId,
        /// Why not.
        why: String,
    },
}

impl PlanNote {
    /// Tells where a hunk of the file at `path` was carried.
    pub(crate) fn carried(hunk: CarriedHunk, path: &str) -> Self {
        let CarriedHunk { hunk, from, to, already_there } = hunk;
        Self::Carried { path: path.to_owned(), hunk, from, to, already_there }
    }
}
