//! Writes every new file before any of them is published.

use std::io::IoSlice;

use fs_guard::{
    Cancellation, Dirs, FileKind, Hasher, Metadata, NewFile, OpenFile, RelPath, Sha256, Spot,
    StagedFile,
};
use patch_text::text::splices::Splice;
use workspace_trash::{LeftWriter, Store};

use super::error::{CommitError, Drift};
use crate::files::hash::PIECE;
use crate::plan::{Image, Plan, PostImage};

/// Stages the new files of a plan.
pub(super) struct Stager<'p> {
    dirs: &'p Dirs<'p>,
    store: &'p Store<'p>,
    plan: &'p Plan,
    keep_open: bool,
    cancellation: &'p Cancellation,
}

impl<'p> Stager<'p> {
    pub(super) fn new(
        dirs: &'p Dirs<'p>,
        store: &'p Store<'p>,
        plan: &'p Plan,
        durable: bool,
        cancellation: &'p Cancellation,
    ) -> Self {
        let new = plan.transitions().iter().filter(|transition| transition.after.is_some()).count();
        Self { dirs, store, plan, keep_open: durable && new <= 2, cancellation }
    }

    /// Writes the post-image of `path` to `slot`, or to the new file there. What is made of lines is
    /// written to `left` too.
    pub(super) fn stage(
        &self,
        path: &RelPath,
        post: &PostImage,
        slot: &Spot,
        created: Option<NewFile>,
        mut left: Option<&mut LeftWriter>,
    ) -> Result<StagedFile, CommitError> {
        self.cancellation.check()?;
        let create = || match created {
            Some(new) => Ok(new),
            None => slot.create(post.mode.requested()),
        };
        match &post.image {
            Image::Kept(target) if post.link => Ok(slot.create_link(target)?),
            Image::Kept(bytes) => {
                let mut new = create()?;
                self.write_in_parts(&mut new, [&bytes[..]])?;
                self.finish(path, post, new)
            }
            Image::Lines(lines) => {
                let mut new = create()?;
                lines.pieces(|piece| {
                    self.cancellation.check()?;
                    new.write(piece)?;
                    left.as_deref_mut().map_or(Ok(()), |left| left.write(piece))?;
                    Ok::<_, CommitError>(())
                })?;
                self.finish(path, post, new)
            }
            Image::Spliced(from, splices) => {
                let (_, seen) = self.plan.pre_image(from).expect("a file that is edited was there");
                if let Some(source) = &seen.bytes {
                    let mut new = create()?;
                    self.write_in_parts(&mut new, splices.pieces(source, 0))?;
                    return self.finish(path, post, new);
                }
                let (mut file, _) = self.dirs.root().open_file(from)?;
                let mut new = create()?;
                let copied =
                    self.copy_spliced(&mut new, &mut file, splices.as_slice(), seen.metadata.size)?;
                require(from.as_str(), seen.sha256(), copied)?;
                self.finish(path, post, new)
            }
            Image::OnDisk(from) => {
                let (mut file, _) = self.dirs.root().open_file(from)?;
                self.copy(path, post, create()?, &mut file, None, from.as_str())
            }
            Image::Stored(transaction, number) => {
                let stored = self.store.slot(*transaction, *number)?;
                let shown = self.store.stored_path(*transaction, *number);
                if stored.metadata()?.is_some_and(|seen| seen.kind == FileKind::Symlink) {
                    let text = stored.read_link()?;
                    require(&shown, post.sha256(), Sha256::of(&text))?;
                    return Ok(slot.create_link(&text)?);
                }
                let (mut file, seen) = stored.open()?;
                self.copy(path, post, create()?, &mut file, Some(&seen), &shown)
            }
        }
    }

    /// Returns whether a file can be created before its bytes are known.
    pub(super) fn is_new_file(post: &PostImage) -> bool {
        !post.link && !matches!(post.image, Image::Stored(..))
    }

    fn copy(
        &self,
        path: &RelPath,
        post: &PostImage,
        mut new: NewFile,
        from: &mut OpenFile,
        stored: Option<&Metadata>,
        shown: &str,
    ) -> Result<StagedFile, CommitError> {
        let copied = self.copy_spliced(&mut new, from, &[], post.size)?;
        require(shown, post.sha256(), copied)?;
        match stored {
            // The displaced file still has its attributes.
            Some(seen) => {
                if seen.may_have_xattrs() {
                    new.copy_xattrs(from)?;
                }
                Ok(new.finish(post.mode.exact(), Some(seen), self.keep_open)?)
            }
            None => self.finish(path, post, new),
        }
    }

    /// Writes pieces together, as long as they are not too large.
    fn write_in_parts<'b>(
        &self,
        file: &mut NewFile,
        pieces: impl IntoIterator<Item = &'b [u8]>,
    ) -> Result<(), fs_guard::Error> {
        let mut part = Vec::new();
        let mut size = 0;
        for piece in pieces.into_iter().flat_map(|piece| piece.chunks(PIECE)) {
            if size + piece.len() > PIECE {
                self.cancellation.check()?;
                file.write_pieces(&mut part)?;
                (part, size) = (Vec::new(), 0);
            }
            size += piece.len();
            part.push(IoSlice::new(piece));
        }
        file.write_pieces(&mut part)
    }

    /// Copies a file of about this size with some ranges replaced, and returns the hash of the
    /// source.
    fn copy_spliced(
        &self,
        new: &mut NewFile,
        from: &mut OpenFile,
        splices: &[Splice],
        size: u64,
    ) -> Result<Sha256, fs_guard::Error> {
        let mut hasher = Hasher::new();
        let room = usize::try_from(size).unwrap_or(usize::MAX).clamp(1, 1 << 17);
        let mut buffer = vec![0; room];
        let mut splices = splices.iter().peekable();
        // How far the source is read, and how far it is copied or replaced: `done` is ahead of
        // `end` within a replaced range.
        let mut end = 0;
        let mut done = 0;
        loop {
            self.cancellation.check()?;
            let length = from.read(&mut buffer)?;
            if length == 0 {
                break;
            }
            hasher.update(&buffer[..length]);
            let begin = end;
            end += length;
            while done < end {
                let kept = match splices.peek() {
                    Some(splice) if splice.start <= done => {
                        insert(new, splice)?;
                        done = splice.end;
                        splices.next();
                        continue;
                    }
                    Some(splice) => splice.start.min(end),
                    None => end,
                };
                new.write(&buffer[done - begin..kept - begin])?;
                done = kept;
            }
        }
        for splice in splices {
            insert(new, splice)?;
        }
        Ok(hasher.finish())
    }

    /// Gives the file the attributes of its source, or of a new file at its path.
    fn finish(
        &self,
        path: &RelPath,
        post: &PostImage,
        mut new: NewFile,
    ) -> Result<StagedFile, CommitError> {
        let Some(source) = &post.attributes_of else {
            self.inherit(path, &mut new)?;
            return Ok(new.finish(post.mode.exact(), None, self.keep_open)?);
        };
        let looked_at;
        let seen = match self.plan.pre_image(source) {
            Some((_, seen)) => &seen.metadata,
            None => {
                let seen = self.dirs.root().metadata(source)?;
                looked_at =
                    seen.ok_or_else(|| fs_guard::Error::NotFound { path: source.as_str().into() })?;
                &looked_at
            }
        };
        if seen.may_have_xattrs() {
            let (file, _) = self.dirs.root().open_file(source)?;
            new.copy_xattrs(&file)?;
        }
        Ok(new.finish(post.mode.exact(), Some(seen), self.keep_open)?)
    }

    fn inherit(&self, path: &RelPath, new: &mut NewFile) -> Result<(), CommitError> {
        let mut at = path.clone();
        loop {
            match new.inherit(self.dirs, &at) {
                // The directory is created later, and will inherit from its own parent.
                Err(fs_guard::Error::NotFound { .. }) => match at.parent() {
                    Some(parent) => at = parent,
                    None => return Ok(()),
                },
                result => return Ok(result?),
            }
        }
    }
}

fn require(path: &str, expected: Sha256, actual: Sha256) -> Result<(), CommitError> {
    if expected == actual {
        return Ok(());
    }
    Err(CommitError::Stale(Drift::of(path, Some(expected), Some(actual))))
}

/// Writes the text of a replacement.
fn insert(new: &mut NewFile, splice: &Splice) -> Result<(), fs_guard::Error> {
    if splice.text.is_empty() { Ok(()) } else { new.write(&splice.text) }
}
