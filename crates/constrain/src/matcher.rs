//! A matcher: one output, held to the files.

use std::sync::Arc;

use crate::bound::Bound;
use crate::budget::{Twins, section_key};
use crate::error::{NotAllowed, TooFew};
use crate::log::Log;
use crate::mask::{Masker, Room};
use crate::state::{MatcherState, Place};
use crate::vocabulary::{Vocabulary, set};

/// Follows an output token by token, and tells which tokens may follow.
///
/// An output that may end is a patch, and the patch applies to the files of the [`Bound`]. A clone
/// is cheap: it shares the output so far with the original until one of them goes on.
///
/// ```
/// use std::sync::Arc;
/// use patch_constrain::{Binder, Matcher, Operations, Vocabulary};
///
/// let tokens: Vec<Vec<u8>> = (0..=255_u8).map(|byte| vec![byte]).chain([vec![]]).collect();
/// let vocabulary = Arc::new(Vocabulary::new(tokens, &[256])?);
/// let bound = Binder::new(Operations::default()).file("a.txt", "one\ntwo\none\n").bind()?;
/// let mut matcher = Matcher::new(vocabulary, Arc::new(bound));
/// assert_eq!(matcher.forced(), b"*** Begin Patch\n*** Update File: a.txt\n@@");
/// for byte in b"*** Begin Patch\n*** Update File: a.txt\n@@\n" {
///     matcher.accept(u32::from(*byte))?;
/// }
/// matcher.accept(u32::from(b'-'))?;
/// // `one` stands twice, and nothing follows the second.
/// let mut mask = vec![0; matcher.vocabulary().mask_len()];
/// matcher.allowed(&mut mask);
/// assert!(patch_constrain::has(&mask, u32::from(b'o')));
/// assert!(patch_constrain::has(&mask, u32::from(b't')));
/// assert!(!patch_constrain::has(&mask, u32::from(b'x')));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Matcher {
    vocabulary: Arc<Vocabulary>,
    bound: Arc<Bound>,
    log: Arc<Log>,
    /// The tokens so far.
    taken: Arc<Vec<Taken>>,
    state: MatcherState,
    twins: Twins,
    ended: bool,
}

/// A token of the output, and the state before it.
#[derive(Debug, Clone)]
struct Taken {
    token: u32,
    before: MatcherState,
}

impl Matcher {
    /// Begins an output.
    #[must_use]
    pub fn new(vocabulary: Arc<Vocabulary>, bound: Arc<Bound>) -> Self {
        let state = bound.start();
        let log = Arc::default();
        Self {
            vocabulary,
            bound,
            log,
            taken: Arc::default(),
            state,
            twins: Twins::default(),
            ended: false,
        }
    }

    /// Begins an output that adds a limited number of lines, in hunks and new files together. A
    /// model that repeats itself comes to an end then, and the patch is whole.
    ///
    /// # Errors
    ///
    /// [`TooFew`] if no line may be added where updates are allowed: some need one.
    pub fn with_max_added_lines(
        vocabulary: Arc<Vocabulary>,
        bound: Arc<Bound>,
        most: u32,
    ) -> Result<Self, TooFew> {
        if most == 0 && bound.operations.update {
            return Err(TooFew { needed: 1 });
        }
        let mut this = Self::new(vocabulary, bound);
        Arc::make_mut(&mut this.log).most_added = Some(most);
        Ok(this)
    }

    /// The most lines that the output may add, if there is a limit.
    #[must_use]
    pub fn max_added_lines(&self) -> Option<u32> {
        self.log.most_added
    }

    /// The tokens of the model.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Sets the bit of each token that may follow, and clears all others. The bit of a token is bit
    /// `id % 32` of word `id / 32`. Words beyond [`Vocabulary::mask_len`] are cleared; a shorter
    /// mask has room for the first tokens only.
    ///
    /// XGrammar and llguidance have the same layout, so the mask may be a row of the host's own
    /// buffer. Nothing is allocated for it.
    ///
    /// If each byte is a token, some bit is set until the output has ended.
    pub fn allowed(&mut self, mask: &mut [u32]) {
        mask.fill(0);
        if self.ended {
            return;
        }
        let log = Arc::make_mut(&mut self.log);
        let vocabulary = &self.vocabulary;
        Masker { bound: &self.bound, vocabulary, log, mask, room: Room::ANY }.fill(&self.state);
    }

    /// As [`allowed`](Self::allowed), for an output that has to be finished in a number of tokens,
    /// with the one that ends it: allows those after which that is possible. A host that counts the
    /// tokens down never cuts a patch off.
    ///
    /// A byte is counted as a token, so the output is closed sooner than it has to be where tokens
    /// are longer. While there is room for any line and header of the files, the mask costs what it
    /// costs without a limit.
    ///
    /// # Errors
    ///
    /// [`TooFew`] if the tokens are not enough, with a number that is. The mask is cleared then.
    pub fn allowed_within(&mut self, mask: &mut [u32], max_tokens_left: u32) -> Result<(), TooFew> {
        mask.fill(0);
        if self.ended {
            return Ok(());
        }
        let bound = &self.bound;
        let log = Arc::make_mut(&mut self.log);
        // The token itself, and the one that ends the output.
        let bytes = max_tokens_left.saturating_sub(2);
        let most = bound.most_rest(self.twins.most(bound, log, &self.state));
        let plenty = (bytes >= most).then(|| section_key(log, &self.state));
        if plenty.is_none() {
            let needed = bound.rest(log, &self.state, 0) + 1;
            if max_tokens_left < needed {
                return Err(TooFew { needed });
            }
        }
        let vocabulary = &self.vocabulary;
        if max_tokens_left == 1 {
            vocabulary.end().iter().for_each(|&token| set(mask, token));
            return Ok(());
        }
        let room = Room { bytes, plenty };
        Masker { bound, vocabulary, log, mask, room }.fill(&self.state);
        Ok(())
    }

    /// Takes the next token.
    ///
    /// # Errors
    ///
    /// [`NotAllowed`] if the token may not follow; the matcher stays as it was.
    pub fn accept(&mut self, token: u32) -> Result<(), NotAllowed> {
        let not_allowed = NotAllowed { token };
        let ends = self.vocabulary.end().contains(&token);
        let bytes = self.vocabulary.bytes(token);
        if self.ended || (ends && !self.is_finished()) || (!ends && bytes.is_empty()) {
            return Err(not_allowed);
        }
        let log = Arc::make_mut(&mut self.log);
        let mut state = self.state.clone();
        for &byte in bytes {
            state = self.bound.step(log, &state, byte).ok_or(not_allowed)?;
        }
        let before = std::mem::replace(&mut self.state, state);
        Arc::make_mut(&mut self.taken).push(Taken { token, before });
        self.ended = ends;
        Ok(())
    }

    /// The next bytes that have no alternative. An engine may add them without asking the model; it
    /// tokenizes them itself, so that the model sees its usual tokens.
    #[must_use]
    pub fn forced(&mut self) -> Vec<u8> {
        let mut forced = Vec::new();
        if self.ended {
            return forced;
        }
        let log = Arc::make_mut(&mut self.log);
        let mut state = self.state.clone();
        while let Some(byte) = self.bound.only_byte(log, &state)
            && let Some(next) = self.bound.step(log, &state, byte)
        {
            forced.push(byte);
            state = next;
        }
        forced
    }

    /// Takes back the last `tokens` tokens, or all if there are fewer. Returns their number.
    pub fn rollback(&mut self, tokens: usize) -> usize {
        let tokens = tokens.min(self.taken.len());
        if tokens > 0 {
            let taken = Arc::make_mut(&mut self.taken);
            let kept = taken.len() - tokens;
            self.state = taken[kept].before.clone();
            taken.truncate(kept);
            self.ended = false;
        }
        tokens
    }

    /// Whether the output is a whole patch. It may end here, or has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.state.place, Place::End | Place::Closed)
    }

    /// Whether the output has ended with one of [`Vocabulary::end`]. Nothing may follow.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether the next byte is in the text of an old line. If the mask takes most of the
    /// probability there, the model means a text that the file does not have.
    #[must_use]
    pub fn is_in_old_line(&self) -> bool {
        matches!(self.state.place, Place::Old { .. })
    }

    /// The tokens so far.
    pub(crate) fn tokens(&self) -> impl ExactSizeIterator<Item = u32> {
        self.taken.iter().map(|taken| taken.token)
    }

    /// The output so far.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.log.bytes[..self.state.lengths.bytes() as usize]
    }
}

/// Whether a token's bit is set.
#[must_use]
pub fn has(mask: &[u32], token: u32) -> bool {
    mask.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
}
