//! The tokens of a model, grouped for masks.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::NoSuchToken;
use crate::names::{LONGEST, is_plain};
use crate::trie::Trie;
use crate::utf8::{STATES, Utf8};

/// The first bytes of the lines of a patch.
const SIGNS: &[u8] = b"+- @*";

/// Any token for names may follow a name of so many bytes.
pub(crate) const SHORT_NAME: usize = 80;

/// The tokens of a model.
///
/// Make one value for a model; all matchers share it.
#[derive(Debug)]
pub struct Vocabulary {
    /// The number of the vocabulary in the keys of caches.
    pub(crate) number: u64,
    tokens: Vec<Box<[u8]>>,
    end: Vec<u32>,
    /// The tokens with a line feed at their end, or none.
    pub(crate) plain: Trie,
    /// The tokens with a line feed and something after it.
    pub(crate) inner: Trie,
    /// The possible next tokens in the text of an added line of any file, by the state of the
    /// character before them.
    pub(crate) free: [Vec<u32>; STATES],
    /// The possible next tokens at the start of a hunk's line in any file.
    pub(crate) plus: Vec<u32>,
    /// Those of `free` and `plus` that have no line feed.
    pub(crate) text: [Vec<u32>; STATES],
    pub(crate) plus_text: Vec<u32>,
    /// The tokens with a line feed.
    pub(crate) lines: Trie,
    /// The most line feeds of a token.
    pub(crate) most_lines: u32,
    /// The tokens allowed anywhere in a new name.
    pub(crate) name: Vec<u32>,
    /// The other tokens that may begin in a new name.
    pub(crate) beyond_name: Trie,
    /// The other tokens that begin in an added line and do not leave the hunk, without the bytes up
    /// to their first line feed. The numbers are indices of `after`.
    pub(crate) tails: Trie,
    pub(crate) after: Vec<Vec<Tail>>,
    /// The tokens that begin in an added line and leave the hunk.
    pub(crate) leaving: Trie,
}

/// A token that ends an added line and goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    pub(crate) token: u32,
    /// A bit for each state of a character: whether the text before the line feed may follow.
    pub(crate) fits: u8,
}

impl Vocabulary {
    /// Makes a vocabulary of the bytes of each token, and of the tokens that end an output.
    ///
    /// Give the bytes that a token adds to the output, not its name: tokenizers of the GPT-2 family
    /// have a table from characters to bytes, and others write `▁` for a blank. Give no bytes for a
    /// special token; a token without bytes is never allowed. The tokens of `end` are allowed where
    /// the output may end, whatever their bytes are.
    ///
    /// # Errors
    ///
    /// [`NoSuchToken`] if a token of `end` is beyond the last token.
    pub fn new<T: Into<Box<[u8]>>>(
        tokens: impl IntoIterator<Item = T>,
        end: &[u32],
    ) -> Result<Self, NoSuchToken> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut tokens: Vec<Box<[u8]>> = tokens.into_iter().map(Into::into).collect();
        let len = tokens.len();
        for &id in end {
            *tokens.get_mut(id as usize).ok_or(NoSuchToken { token: id, len })? = Box::default();
        }
        let words = tokens.len().div_ceil(32);
        let mut this = Self {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            end: end.to_vec(),
            plain: Trie::default(),
            inner: Trie::default(),
            free: std::array::from_fn(|_| vec![0; words]),
            plus: vec![0; words],
            text: std::array::from_fn(|_| vec![0; words]),
            plus_text: vec![0; words],
            lines: Trie::default(),
            most_lines: 0,
            name: vec![0; words],
            beyond_name: Trie::default(),
            tails: Trie::default(),
            after: Vec::new(),
            leaving: Trie::default(),
            tokens: Vec::new(),
        };
        this.group(&tokens);
        this.tokens = tokens;
        Ok(this)
    }

    fn group(&mut self, tokens: &[Box<[u8]>]) {
        let mut plain = Vec::new();
        let mut inner = Vec::new();
        let mut lines = Vec::new();
        let mut leaving = Vec::new();
        let mut beyond = Vec::new();
        let mut tails: Vec<(&[u8], Tail)> = Vec::new();
        for (token, id) in tokens.iter().zip(0..) {
            let states = if token.is_empty() { 0 } else { free_states(token) };
            for (mask, _) in self.free.iter_mut().zip(0..).filter(|(_, bit)| states >> bit & 1 == 1)
            {
                set(mask, id);
            }
            if token.strip_prefix(b"+").is_some_and(|text| free_states(text) & 1 == 1) {
                set(&mut self.plus, id);
            }
            let is_name = token.iter().all(|&byte| is_plain(byte));
            if is_name && (1..=LONGEST - SHORT_NAME).contains(&token.len()) {
                set(&mut self.name, id);
            } else if token.iter().all(|&byte| is_plain(byte) || b"./\n".contains(&byte)) {
                beyond.push((&**token, id));
            }
            let Some(feed) = token.iter().position(|&byte| byte == b'\n') else {
                plain.push((&**token, id));
                self.add_text(token, id, states);
                continue;
            };
            let tail = &token[feed + 1..];
            let feeds = token.iter().filter(|&&byte| byte == b'\n').count();
            self.most_lines = self.most_lines.max(feeds as u32);
            if tail.is_empty() {
                plain.push((token, id));
                lines.push((&**token, id));
            } else if begins_lines(tail) {
                inner.push((&**token, id));
                lines.push((&**token, id));
                let fits = ends_line(&token[..feed]);
                if leaves(tail) {
                    leaving.push((&**token, id));
                } else if fits & !states != 0 {
                    tails.push((tail, Tail { token: id, fits }));
                }
            }
        }
        tails.sort_unstable_by_key(|(tail, of)| (*tail, of.token));
        let mut ends = Vec::new();
        for group in tails.chunk_by(|one, other| one.0 == other.0) {
            ends.push((group[0].0, self.after.len() as u32));
            self.after.push(group.iter().map(|(_, tail)| *tail).collect());
        }
        self.plain = Trie::new(plain);
        self.inner = Trie::new(inner);
        self.lines = Trie::new(lines);
        self.beyond_name = Trie::new(beyond);
        self.leaving = Trie::new(leaving);
        self.tails = Trie::new(ends);
    }

    /// Adds a token without a line feed to the masks of texts.
    fn add_text(&mut self, token: &[u8], id: u32, states: u8) {
        for (mask, _) in self.text.iter_mut().zip(0..).filter(|(_, bit)| states >> bit & 1 == 1) {
            set(mask, id);
        }
        if token.strip_prefix(b"+").is_some_and(|text| free_states(text) & 1 == 1) {
            set(&mut self.plus_text, id);
        }
    }

    /// The number of ids.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The length of a mask, in words of 32 bits.
    #[must_use]
    pub fn mask_len(&self) -> usize {
        self.tokens.len().div_ceil(32)
    }

    /// The tokens that end an output.
    #[must_use]
    pub fn end(&self) -> &[u32] {
        &self.end
    }

    /// The bytes of a token; none for a token that ends an output, and for an id beyond the last.
    #[must_use]
    pub fn bytes(&self, token: u32) -> &[u8] {
        self.tokens.get(token as usize).map_or(&[], |bytes| bytes)
    }
}

/// Sets a token's bit in a mask.
#[inline]
pub(crate) fn set(mask: &mut [u32], token: u32) {
    if let Some(word) = mask.get_mut(token as usize / 32) {
        *word |= 1 << (token % 32);
    }
}

/// Clears a token's bit in a mask.
pub(crate) fn clear(mask: &mut [u32], token: u32) {
    if let Some(word) = mask.get_mut(token as usize / 32) {
        *word &= !(1 << (token % 32));
    }
}

/// Whether each line from the start of `tail` has a sign.
fn begins_lines(tail: &[u8]) -> bool {
    tail.split_inclusive(|&byte| byte == b'\n').all(|line| SIGNS.contains(&line[0]))
}

/// Whether some line that begins in `tail` is not a line of a hunk.
fn leaves(tail: &[u8]) -> bool {
    tail.split_inclusive(|&byte| byte == b'\n').any(|line| matches!(line[0], b'@' | b'*'))
}

fn text_step(state: Utf8, byte: u8) -> Option<Utf8> {
    if matches!(byte, 0 | b'\n') { None } else { state.step(byte) }
}

fn bits(mut wanted: impl FnMut(Utf8) -> bool) -> u8 {
    (0..STATES).filter(|&bit| wanted(Utf8::ALL[bit])).fold(0, |bits, bit| bits | 1 << bit)
}

/// The states after which `text` may stand at the end of a line.
fn ends_line(text: &[u8]) -> u8 {
    bits(|state| text.iter().try_fold(state, |s, &byte| text_step(s, byte)) == Some(Utf8::Whole))
}

/// The states after which a token may stand within added lines.
fn free_states(token: &[u8]) -> u8 {
    bits(|state| {
        let mut state = Some(state);
        let mut rest = token.iter();
        while let (Some(now), Some(&byte)) = (state, rest.next()) {
            state = if byte != b'\n' {
                text_step(now, byte)
            } else if now == Utf8::Whole {
                matches!(rest.next(), None | Some(b'+')).then_some(Utf8::Whole)
            } else {
                None
            };
        }
        state.is_some()
    })
}
