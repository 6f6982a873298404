//! Unified diffs in git's form, of one change or a whole plan.

use fs_guard::{FileKind, RelPath, Sha256};
#[cfg(feature = "binary-diffs")]
use patch_grammar::binary;
use patch_grammar::binary::is_binary;
use patch_grammar::diff::push_quoted;
use patch_text::diff::{whole, write_spliced};
#[cfg(feature = "binary-diffs")]
use patch_text::git_id::blob_id;
use workspace_trash::{FileState, Record, TransactionId};

use crate::commit::kept::KeptFiles;
use crate::commit::left::kept_bytes;
use crate::commit::{self, LogEntry, Workspace};
use crate::plan::images::Images;
use crate::plan::options::MAX_FILE_SIZE;
use crate::plan::submodules;
use crate::plan::{Change, Image, PostImage, PreImage};

/// The type bits of a symbolic link in a mode, as git writes them.
pub(crate) const LINK: u32 = 0o120_000;

/// The mode of a submodule.
const SUBMODULE: u32 = submodules::MODE;

/// Returns the type bits of a mode: those of a link, of a submodule, or none.
pub(crate) fn kind_of(mode: u32) -> u32 {
    match mode & 0o170_000 {
        kind @ (LINK | SUBMODULE) => kind,
        _ => 0,
    }
}

/// One side of a diff of one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) path: &'a str,
    /// Permission bits, and the type bits of a symbolic link.
    pub(crate) mode: u32,
}

/// Returns the mode of a file as git records it: of the permissions only whether the owner may run
/// it.
pub(crate) fn git_mode(mode: u32) -> &'static str {
    match mode {
        _ if kind_of(mode) == LINK => "120000",
        _ if kind_of(mode) == SUBMODULE => "160000",
        _ if mode & 0o100 == 0 => "100644",
        _ => "100755",
    }
}

/// The prefixes of the paths: on the old side, on the new side, and in the lines of a rename.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prefixes<'a> {
    old: &'a str,
    new: &'a str,
    rename: &'a str,
}

/// Git's own prefixes.
pub(crate) const GIT: Prefixes<'static> = Prefixes { old: "a/", new: "b/", rename: "" };

/// Writes the lines of git's form that precede the hunks.
pub(crate) fn header(
    out: &mut Vec<u8>,
    prefixes: Prefixes<'_>,
    old: Option<Side<'_>>,
    new: Option<Side<'_>>,
    same_bytes: bool,
) {
    let Some(left) = old.or(new) else { return };
    let right = new.unwrap_or(left);
    out.extend_from_slice(b"diff --git ");
    push_quoted(out, prefixes.old, left.path);
    out.push(b' ');
    push_quoted(out, prefixes.new, right.path);
    out.push(b'\n');
    match (old, new) {
        (None, Some(new)) => push_line(out, "new file mode ", git_mode(new.mode)),
        (Some(old), None) => push_line(out, "deleted file mode ", git_mode(old.mode)),
        (Some(old), Some(new)) => {
            let old_mode = git_mode(old.mode);
            let new_mode = git_mode(new.mode);
            if old_mode != new_mode {
                push_line(out, "old mode ", old_mode);
                push_line(out, "new mode ", new_mode);
            }
            if old.path != new.path {
                if same_bytes {
                    push_line(out, "similarity index ", "100%");
                }
                for (word, side) in [("rename from ", old), ("rename to ", new)] {
                    out.extend_from_slice(word.as_bytes());
                    push_quoted(out, prefixes.rename, side.path);
                    out.push(b'\n');
                }
            }
        }
        (None, None) => {}
    }
}

/// Writes the `---` and `+++` lines of one file, and its hunks, which `hunks` writes unless the
/// file is binary.
pub(crate) fn body<'a>(
    out: &mut Vec<u8>,
    prefixes: Prefixes<'_>,
    old: Option<Side<'a>>,
    new: Option<Side<'a>>,
    hunks: impl FnOnce(&mut Vec<u8>) -> Option<()>,
) {
    let from = out.len();
    push_name_line(out, b"--- ", prefixes.old, old);
    push_name_line(out, b"+++ ", prefixes.new, new);
    let named = out.len();
    match hunks(out) {
        Some(()) if out.len() > named => {}
        Some(()) => out.truncate(from),
        None => {
            out.truncate(from);
            out.extend_from_slice(b"Binary files ");
            push_name(out, prefixes.old, old);
            out.extend_from_slice(b" and ");
            push_name(out, prefixes.new, new);
            out.extend_from_slice(b" differ\n");
        }
    }
}

fn push_name(out: &mut Vec<u8>, prefix: &str, side: Option<Side<'_>>) {
    match side {
        Some(side) => push_quoted(out, prefix, side.path),
        None => out.extend_from_slice(b"/dev/null"),
    }
}

fn push_name_line(out: &mut Vec<u8>, sign: &[u8], prefix: &str, side: Option<Side<'_>>) {
    out.extend_from_slice(sign);
    let from = out.len();
    push_name(out, prefix, side);
    // As git does: for patch(1) a name ends at a blank, unless a tab follows it.
    let end: &[u8] = if out[from..].contains(&b' ') { b"\t\n" } else { b"\n" };
    out.extend_from_slice(end);
}

/// The parts of the diff of one change besides its hunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiffForm {
    /// Nothing.
    Plain,
    /// Git's own lines.
    Git,
    /// The bytes of binary files too.
    #[cfg(feature = "binary-diffs")]
    GitBinary,
}

impl Images<'_> {
    /// Returns the unified diff of one change in git's form, which `git apply` takes. A file that
    /// is not text is named as binary.
    ///
    /// # Errors
    ///
    /// [`fs_guard::Error::Changed`] when bytes that have to be read again are not what the plan was
    /// made for any more.
    pub fn diff(&self, change: &Change) -> Result<Vec<u8>, fs_guard::Error> {
        let mut out = Vec::new();
        self.write_diff(change, &mut out)?;
        Ok(out)
    }

    /// Appends the same diff to `out`.
    ///
    /// # Errors
    ///
    /// Those of [`diff`](Self::diff).
    pub fn write_diff(&self, change: &Change, out: &mut Vec<u8>) -> Result<(), fs_guard::Error> {
        self.write_named(change, GIT, DiffForm::Git, out)
    }

    /// Returns the same diff with the bytes of files that are not text, as `git diff --binary`
    /// does. It takes the feature `binary-diffs`.
    ///
    /// # Errors
    ///
    /// Those of [`diff`](Self::diff).
    #[cfg(feature = "binary-diffs")]
    pub fn binary_diff(&self, change: &Change) -> Result<Vec<u8>, fs_guard::Error> {
        let mut out = Vec::new();
        self.write_named(change, GIT, DiffForm::GitBinary, &mut out)?;
        Ok(out)
    }

    /// Returns a plain unified diff of one change, without git's own lines; `None` when such a diff
    /// cannot express it: a move, a mode, a symbolic link, or an empty file.
    ///
    /// # Errors
    ///
    /// Those of [`diff`](Self::diff).
    pub fn plain_diff(&self, change: &Change) -> Result<Option<Vec<u8>>, fs_guard::Error> {
        let old = self.old_side(change);
        let new = self.new_side(change);
        // A reader of the diff takes the mode of the old file, or that of a plain new one.
        let unsaid = match (old, new) {
            (Some(old), None) => kind_of(old.mode) != 0,
            (old, new) => {
                let old_mode = old.map_or("100644", |old| git_mode(old.mode));
                let new_mode = new.map_or("100644", |new| git_mode(new.mode));
                old_mode != new_mode || new.is_some_and(|new| kind_of(new.mode) != 0)
            }
        };
        if change.to_path.is_some() || unsaid {
            return Ok(None);
        }
        let mut out = Vec::new();
        self.write_named(change, GIT, DiffForm::Plain, &mut out)?;
        Ok(out.starts_with(b"--- ").then_some(out))
    }

    /// Returns the same diff with `prefix`, a directory and its `/`, as the only prefix of all
    /// paths.
    ///
    /// # Errors
    ///
    /// Those of [`diff`](Self::diff).
    pub fn diff_beneath(&self, change: &Change, prefix: &str) -> Result<Vec<u8>, fs_guard::Error> {
        let mut out = Vec::new();
        self.write_named(
            change,
            Prefixes { old: prefix, new: prefix, rename: prefix },
            DiffForm::Git,
            &mut out,
        )?;
        Ok(out)
    }

    /// Returns the unified diffs of all changes.
    ///
    /// # Errors
    ///
    /// Those of [`diff`](Self::diff).
    pub fn diffs(&self) -> Result<Vec<u8>, fs_guard::Error> {
        let mut out = Vec::new();
        self.plan.changes().iter().try_for_each(|change| self.write_diff(change, &mut out))?;
        Ok(out)
    }

    /// Counts the lines that a change inserts and deletes.
    ///
    /// # Errors
    ///
    /// Those of [`diff`](Self::diff).
    pub fn line_counts(&self, change: &Change) -> Result<(usize, usize), fs_guard::Error> {
        Ok(line_counts(&self.diff(change)?))
    }

    /// Returns whether the diff of a change can be made without reading a file.
    #[must_use]
    pub fn is_in_memory(&self, change: &Change) -> bool {
        let after = match self.plan.transition_of(change).after.as_ref().map(|after| &after.image) {
            Some(Image::Stored(..)) => false,
            Some(Image::Kept(_) | Image::Lines(_) | Image::OnDisk(_) | Image::Spliced(..))
            | None => true,
        };
        (change.before == change.after
            || (after && (change.before.is_none() || self.has_bytes(&change.path))))
            && (change.replaces.is_none() || self.has_bytes(change.last_path()))
    }

    /// Returns whether the bytes of a file before the plan are in memory.
    fn has_bytes(&self, path: &RelPath) -> bool {
        self.plan.pre_image(path).is_some_and(|(_, image)| image.bytes.is_some())
    }

    /// Returns the size of a file before the plan.
    fn size_before(&self, path: &RelPath) -> u64 {
        self.plan.pre_image(path).map_or(0, |(_, image)| image.metadata.size)
    }

    /// Estimates how many bytes are compared for the diff of a change.
    #[must_use]
    pub fn compared(&self, change: &Change) -> u64 {
        let lost = change.replaces.map_or(0, |_| self.size_before(change.last_path()));
        lost + match &self.plan.transition_of(change).after {
            _ if change.before == change.after => 0,
            Some(PostImage { image: Image::Spliced(_, splices), .. }) => splices.len() as u64,
            Some(after) => after.size + self.size_before(&change.path),
            None => self.size_before(&change.path),
        }
    }

    /// Returns a lower bound for the length of a change's diff, without making it.
    #[must_use]
    pub fn least_diff(&self, change: &Change) -> usize {
        match (&self.plan.transition_of(change).after, self.plan.pre_image(&change.path)) {
            (Some(PostImage { image: Image::Kept(bytes), .. }), None) => text_len(bytes),
            (Some(PostImage { image: Image::Lines(lines), size, .. }), None) if lines.is_text() => {
                *size as usize
            }
            (None, Some((_, PreImage { bytes: Some(bytes), .. }))) => text_len(bytes),
            _ => 0,
        }
    }

    /// Returns the old side of a path.
    fn side<'s>(&self, path: &'s RelPath) -> Option<Side<'s>> {
        let (_, PreImage { metadata, .. }) = self.plan.pre_image(path)?;
        let mode = match metadata.kind {
            FileKind::Submodule => SUBMODULE,
            kind => metadata.kept_mode() | kind_bits(kind == FileKind::Symlink),
        };
        Some(Side { path: path.as_str(), mode })
    }

    fn old_side<'c>(&self, change: &'c Change) -> Option<Side<'c>> {
        change.before.and_then(|_| self.side(&change.path))
    }

    fn new_side<'c>(&self, change: &'c Change) -> Option<Side<'c>> {
        let after = self.plan.transition_of(change).after.as_ref()?;
        let mode = after.mode.shown() | kind_bits(after.link);
        Some(Side { path: change.last_path().as_str(), mode })
    }

    fn write_named(
        &self,
        change: &Change,
        prefixes: Prefixes<'_>,
        form: DiffForm,
        out: &mut Vec<u8>,
    ) -> Result<(), fs_guard::Error> {
        let to = change.last_path();
        // The deletion comes first, as git wants it: another file gets the path.
        if let (Some(_), Some(lost)) = (change.replaces, self.side(to)) {
            let bytes = self.before(to)?;
            header(out, prefixes, Some(lost), None, false);
            if !write_binary(form, out, Some(&bytes), None) {
                body(out, prefixes, Some(lost), None, |out| whole(out, &bytes, b""));
            }
        }
        let old = self.old_side(change);
        let new = self.new_side(change);
        let same_bytes = change.before == change.after;
        if same_bytes
            && let (Some(old), Some(new)) = (old, new)
            && old.path == new.path
            && git_mode(old.mode) == git_mode(new.mode)
        {
            return Ok(());
        }
        if let (Some(gone), Some(made)) = (old, new)
            && kind_of(gone.mode) != kind_of(made.mode)
        {
            return self.write_new_kind(change, prefixes, form, [gone, made], out);
        }
        if form != DiffForm::Plain {
            header(out, prefixes, old, new, same_bytes);
        }
        if let (Some(Side { mode: SUBMODULE, .. }), Some(Side { mode: SUBMODULE, .. })) = (old, new)
        {
            // Nothing else says that it is a submodule, whose mode stays.
            let [before, after] = [self.old_bytes(change)?, self.new_bytes(change)?];
            let [before, after] =
                [&before, &after].map(|line| submodules::commit_of(line).unwrap_or_default());
            push_line(out, "index ", &format!("{before}..{after} 160000"));
        }
        if same_bytes {
            return Ok(());
        }
        #[cfg(feature = "binary-diffs")]
        if form == DiffForm::GitBinary {
            let before = self.old_bytes(change)?;
            let after = self.new_bytes(change)?;
            if write_binary(form, out, old.map(|_| &before[..]), new.map(|_| &after[..])) {
                return Ok(());
            }
        }
        match &self.plan.transition_of(change).after {
            Some(PostImage { image: Image::Spliced(from, splices), .. })
                if *from == change.path =>
            {
                let source = self.before(from)?;
                body(out, prefixes, old, new, |out| {
                    write_spliced(out, &source, splices.as_slice())
                });
            }
            _ => {
                let before = self.old_bytes(change)?;
                let after = self.new_bytes(change)?;
                body(out, prefixes, old, new, |out| whole(out, &before, &after));
            }
        }
        Ok(())
    }

    /// Writes a change of kind as a deletion and a creation: for git a file, a link and a submodule
    /// are different things.
    fn write_new_kind(
        &self,
        change: &Change,
        prefixes: Prefixes<'_>,
        form: DiffForm,
        [gone, made]: [Side<'_>; 2],
        out: &mut Vec<u8>,
    ) -> Result<(), fs_guard::Error> {
        let before = self.old_bytes(change)?;
        let after = self.new_bytes(change)?;
        header(out, prefixes, Some(gone), None, false);
        if !write_binary(form, out, Some(&before), None) {
            body(out, prefixes, Some(gone), None, |out| whole(out, &before, b""));
        }
        header(out, prefixes, None, Some(made), false);
        if !write_binary(form, out, None, Some(&after)) {
            body(out, prefixes, None, Some(made), |out| whole(out, b"", &after));
        }
        Ok(())
    }
}

/// Without the feature nobody asks for it.
#[cfg(not(feature = "binary-diffs"))]
fn write_binary(_: DiffForm, _: &mut Vec<u8>, _: Option<&[u8]>, _: Option<&[u8]>) -> bool {
    false
}

/// Writes the ids and the bytes of two files, if one of them is not text and the form has them.
/// Returns whether it did.
#[cfg(feature = "binary-diffs")]
fn write_binary(
    form: DiffForm,
    out: &mut Vec<u8>,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> bool {
    let binary = [before, after].into_iter().flatten().any(is_binary);
    let is = form == DiffForm::GitBinary && binary;
    if is {
        push_line(out, "index ", &format!("{}..{}", id_of(before), id_of(after)));
        binary::write(out, before.unwrap_or_default(), after.unwrap_or_default());
    }
    is
}

/// Returns the id of a file in git; of no file, zeros.
#[cfg(feature = "binary-diffs")]
fn id_of(file: Option<&[u8]>) -> String {
    file.map_or_else(|| "0".repeat(40), blob_id)
}

/// Returns the length of a text, and none for a binary file.
fn text_len(bytes: &[u8]) -> usize {
    if is_binary(bytes) { 0 } else { bytes.len() }
}

/// Counts the lines that a diff in git's form inserts and deletes.
#[must_use]
pub fn line_counts(diff: &[u8]) -> (usize, usize) {
    let mut inserted = 0;
    let mut deleted = 0;
    let mut in_hunk = false;
    for line in diff.split(|&byte| byte == b'\n') {
        match line.first() {
            Some(b'@') => in_hunk = true,
            // The next file: within hunks no line begins with a letter.
            Some(b'd') => in_hunk = false,
            Some(b'+') => inserted += usize::from(in_hunk),
            Some(b'-') => deleted += usize::from(in_hunk),
            _ => {}
        }
    }
    (inserted, deleted)
}

/// Returns the type bits of a symbolic link, or none.
pub(crate) fn kind_bits(link: bool) -> u32 {
    if link { LINK } else { 0 }
}

impl Workspace {
    /// Returns the unified diff of what a finished transaction did, as far as its bytes are still
    /// known. The old files are in the store; the new ones are in place, or a later transaction has
    /// displaced them.
    ///
    /// # Errors
    ///
    /// When the store or a file cannot be read.
    pub fn transaction_diff(&self, entry: &LogEntry) -> Result<Vec<u8>, commit::Error> {
        Ok(self.turn_diff(std::slice::from_ref(entry))?.diff())
    }
}

/// Returns the bytes that a transaction left, where it did not keep them: they are in place, or a
/// later one has displaced them.
pub(super) fn left_bytes(
    workspace: &Workspace,
    kept: &KeptFiles<'_>,
    id: TransactionId,
    record: &Record,
    state: &FileState,
) -> Option<Vec<u8>> {
    bytes_in_place(workspace, record, state)
        .filter(|bytes| Sha256::of(bytes) == state.sha256)
        .or_else(|| displaced_bytes(kept, id, state))
}

/// Returns the bytes at the path of a record.
fn bytes_in_place(workspace: &Workspace, record: &Record, state: &FileState) -> Option<Vec<u8>> {
    let (root, path) = workspace.locate(&record.path, true).ok()?;
    if state.link {
        root.read_link(&path).ok()
    } else {
        root.read(&path, MAX_FILE_SIZE).ok().map(|(bytes, _)| bytes)
    }
}

/// Returns the bytes of a file that a later transaction has displaced.
fn displaced_bytes(kept: &KeptFiles<'_>, id: TransactionId, state: &FileState) -> Option<Vec<u8>> {
    let entry = kept.find(id, state.sha256, |entry| Ok(Some(entry.clone()))).ok()??;
    kept_bytes(&kept.store.slot(entry.id, entry.slot).ok()?, state)
}

fn push_line(out: &mut Vec<u8>, words: &str, value: &str) {
    out.extend_from_slice(words.as_bytes());
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}
