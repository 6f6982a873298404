//! Counts of changed lines per file, from a plan or from the text of a diff alone.

use patch_engine::{Change, ChangeKind, Images, SUBMODULE_MODE, line_counts};
use patch_grammar::diff::FileHeader;
use patch_grammar::{LineKind, Patch, Section, SectionOperation};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

patch_grammar::named! {
    /// The kind of a file's change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FileOperation {
        /// The file is created.
        Create = "create",
        /// The file changes.
        Update = "update",
        /// The file is deleted.
        Delete = "delete",
        /// The file moves, and perhaps changes.
        Move = "move",
        /// A copy of the file is created.
        Copy = "copy",
    }
}

impl From<ChangeKind> for FileOperation {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::Create => Self::Create,
            ChangeKind::Update => Self::Update,
            ChangeKind::Delete => Self::Delete,
            ChangeKind::Move => Self::Move,
        }
    }
}

/// How much of a file changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileStatistics {
    /// The kind of the change.
    #[serde(serialize_with = "word")]
    pub operation: FileOperation,
    /// The path before the change; for a new file, the path after.
    pub path: String,
    /// The new path, or the path of the copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_path: Option<String>,
    /// How many lines are inserted; `None` for a binary file.
    pub inserted: Option<usize>,
    /// How many lines are deleted; `None` for a binary file.
    pub deleted: Option<usize>,
    /// The modes and percentages in the header of the diff.
    #[serde(flatten, serialize_with = "stated")]
    pub stated: FileHeader,
}

fn word<S: Serializer>(operation: &FileOperation, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(operation.as_str())
}

fn stated<S: Serializer>(header: &FileHeader, serializer: S) -> Result<S::Ok, S::Error> {
    let FileHeader { old_mode, new_mode, similarity, dissimilarity, .. } = header;
    let mut fields = serializer.serialize_map(None)?;
    for (name, mode) in [("oldMode", old_mode), ("newMode", new_mode)] {
        mode.map_or(Ok(()), |mode| fields.serialize_entry(name, &octal(mode)))?;
    }
    for (name, percent) in [("similarity", similarity), ("dissimilarity", dissimilarity)] {
        percent.map_or(Ok(()), |percent| fields.serialize_entry(name, &percent))?;
    }
    fields.end()
}

/// Writes a mode as git does.
#[must_use]
pub fn octal(mode: u32) -> String {
    format!("{mode:06o}")
}

impl FileStatistics {
    /// Returns the path of the file afterwards; for a deleted file, its old path.
    #[must_use]
    pub fn last_path(&self) -> &str {
        self.to_path.as_deref().unwrap_or(&self.path)
    }

    /// Counts the lines of a diff, from its text alone.
    #[must_use]
    pub fn of_diff(patch: &Patch) -> Vec<Self> {
        patch.sections().iter().map(|section| Self::of_section(patch, section)).collect()
    }

    fn of_section(patch: &Patch, section: &Section<'_>) -> Self {
        let stated = FileHeader::read(patch.bytes(section.span.clone()));
        let mut header = if patch.reversed { stated.reversed() } else { stated };
        if section.submodule.is_some() {
            // `git diff --submodule=log` writes no modes.
            match &section.operation {
                SectionOperation::Add(_) => header.new_mode = Some(SUBMODULE_MODE),
                SectionOperation::Delete(_) => header.old_mode = Some(SUBMODULE_MODE),
                _ => {}
            }
        }
        let inserted = match (&section.operation, section.submodule) {
            // A diff has one line per commit.
            (_, Some(submodule)) => submodule.new.iter().count(),
            (SectionOperation::Add(added), None) => added.lines().count(),
            _ => count(section, LineKind::Insert),
        };
        let deleted = match section.submodule {
            Some(submodule) => submodule.old.iter().count(),
            None => count(section, LineKind::Delete),
        };
        Self {
            operation: match &section.operation {
                SectionOperation::Add(_) => FileOperation::Create,
                SectionOperation::Delete(_) => FileOperation::Delete,
                SectionOperation::Update { move_to: Some(_), .. } => FileOperation::Move,
                SectionOperation::Update { move_to: None, .. } => FileOperation::Update,
                SectionOperation::Copy { .. } => FileOperation::Copy,
            },
            path: section.path.text.to_string(),
            to_path: section.destination().map(|to| to.text.to_string()),
            inserted: (!header.binary).then_some(inserted),
            deleted: (!header.binary).then_some(deleted),
            stated: header,
        }
    }

    /// Counts the lines of a plan's changes.
    ///
    /// # Errors
    ///
    /// When a file has changed since the plan was made.
    pub fn of_plan(images: Images<'_>) -> Result<Vec<Self>, fs_guard::Error> {
        let changes = images.plan().changes().iter();
        changes.map(|change| Self::of_change(images, change)).collect()
    }

    fn of_change(images: Images<'_>, change: &Change) -> Result<Self, fs_guard::Error> {
        let diff = images.diff(change)?;
        let (inserted, deleted) = line_counts(&diff);
        let header = FileHeader::read(&diff);
        Ok(Self {
            operation: change.operation.into(),
            path: change.path.as_str().to_owned(),
            to_path: change.to_path.as_ref().map(|to| to.as_str().to_owned()),
            inserted: (!header.binary).then_some(inserted),
            deleted: (!header.binary).then_some(deleted),
            stated: header,
        })
    }
}

fn count(section: &Section<'_>, kind: LineKind) -> usize {
    let lines = section.hunks().iter().flat_map(|hunk| &hunk.lines);
    lines.filter(|line| line.kind == kind).count()
}

/// Says how many files are created, updated, copied, moved and deleted.
#[must_use]
pub fn totals(operations: impl Iterator<Item = FileOperation> + Clone) -> String {
    let parts = [
        (FileOperation::Create, "created"),
        (FileOperation::Update, "updated"),
        (FileOperation::Copy, "copied"),
        (FileOperation::Move, "moved"),
        (FileOperation::Delete, "deleted"),
    ];
    let parts: Vec<_> = parts
        .into_iter()
        .map(|(kind, what)| {
            (operations.clone().filter(|operation| *operation == kind).count(), what)
        })
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if parts.is_empty() { "nothing changes".into() } else { parts.join(", ") }
}
