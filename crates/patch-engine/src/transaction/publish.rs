//! Giving one staged file its name, or taking one away, and looking at what came out.

use fs_guard::{DisplacedFile, FileKind, Metadata, Sha256, Spot, StagedFile};
use workspace_trash::FileState;

use super::error::{CommitError, Drift};
use crate::transition::PreImage;

/// The file that is to be displaced, as it is known: from planning, or from the journal.
#[derive(Clone, Copy)]
pub(super) enum Expected<'e> {
    Nothing,
    Seen(&'e PreImage),
    Recorded(&'e FileState),
}

impl Expected<'_> {
    fn digest(self) -> Option<Sha256> {
        match self {
            Self::Nothing => None,
            Self::Seen(image) => Some(image.sha256),
            Self::Recorded(state) => Some(state.sha256),
        }
    }

    /// Looks at the place before anything is done: fails when it is not what is expected.
    ///
    /// The answer tells whether times alone showed it, so that they can show it again afterwards.
    pub(super) fn check(self, place: &Spot) -> Result<bool, CommitError> {
        match self {
            Self::Nothing => match place.metadata()? {
                None => Ok(true),
                Some(_) => Err(self.stale(place)),
            },
            Self::Seen(image) => {
                let now = place.metadata()?;
                // With `ctime`, which shows a change whose `mtime` was put back.
                if now.as_ref() == Some(&image.metadata) && image.metadata.times_are_telling() {
                    return Ok(true);
                }
                if now.is_some() && place.holds(&image.metadata, &image.sha256, false)? {
                    return Ok(false);
                }
                Err(self.stale(place))
            }
            Self::Recorded(state) => {
                if is_recorded(place, state)? {
                    return Ok(false);
                }
                Err(self.stale(place))
            }
        }
    }

    /// Tells whether what was displaced into `slot` is what is expected.
    pub(super) fn is_in(self, slot: &Spot, trust_times: bool) -> Result<bool, CommitError> {
        Ok(match self {
            Self::Nothing => false,
            Self::Seen(image) => slot.holds(&image.metadata, &image.sha256, trust_times)?,
            Self::Recorded(state) => is_recorded(slot, state)?,
        })
    }

    fn stale(self, place: &Spot) -> CommitError {
        stale(place, self.digest(), place)
    }
}

/// Tells whether the file there is the recorded one: the same bytes, kind and mode.
pub(super) fn is_recorded(spot: &Spot, state: &FileState) -> Result<bool, fs_guard::Error> {
    let Some(seen) = spot.metadata()? else { return Ok(false) };
    if seen.kind != state.kind() || seen.size != state.size || (!state.link && seen.mode != state.mode) {
        return Ok(false);
    }
    Ok(spot.hash()? == Some(state.sha256))
}

/// The error for a path whose file, now at `at`, is not the one expected.
pub(super) fn stale(place: &Spot, expected: Option<Sha256>, at: &Spot) -> CommitError {
    // The hash is for the message; that it cannot be had is no other error.
    let actual = at.hash().ok().flatten();
    CommitError::Stale(Drift { path: place.path(), expected, actual })
}

/// Publishes an addition or an update.
pub(super) fn publish(file: StagedFile, place: &Spot, expected: Expected<'_>) -> Result<(), CommitError> {
    let slot = file.spot().clone();
    if matches!(expected, Expected::Nothing) {
        // It fails where something is: that need not be looked at before.
        return file.publish_new(place).map_err(|failed| match failed.error {
            fs_guard::Error::AlreadyExists { .. } => expected.stale(place),
            error => error.into(),
        });
    }
    let trust_times = expected.check(place)?;
    match file.exchange(place) {
        Ok(displaced) => verify(&displaced, place, expected, trust_times),
        Err(failed) => Err(match failed.error {
            fs_guard::Error::Changed { .. } if slot.metadata()?.is_some() => expected.stale(place),
            error => error.into(),
        }),
    }
}

/// Takes a file's name away.
pub(super) fn take(place: &Spot, slot: &Spot, expected: Expected<'_>) -> Result<(), CommitError> {
    let trust_times = expected.check(place)?;
    match DisplacedFile::take(place, slot) {
        Ok(displaced) => verify(&displaced, place, expected, trust_times),
        Err(fs_guard::Error::Changed { .. }) => Err(expected.stale(place)),
        Err(error) => Err(error.into()),
    }
}

fn verify(
    displaced: &DisplacedFile,
    place: &Spot,
    expected: Expected<'_>,
    trust_times: bool,
) -> Result<(), CommitError> {
    if expected.is_in(displaced.spot(), trust_times)? {
        return Ok(());
    }
    Err(stale(place, expected.digest(), displaced.spot()))
}

/// Tells whether what was seen is the file that a transaction published, untouched since.
pub(super) fn is_ours(seen: &Metadata, spot: &Spot, ours: &FileState) -> Result<bool, fs_guard::Error> {
    if seen.kind != ours.kind() || seen.size != ours.size {
        return Ok(false);
    }
    if seen.kind == FileKind::File && seen.ino == ours.ino && seen.mtime == ours.mtime && seen.times_are_telling() {
        return Ok(true);
    }
    Ok(spot.hash()? == Some(ours.sha256))
}
