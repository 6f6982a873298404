//! Constrained decoding of patches that apply.

use std::cell::RefCell;
use std::sync::Arc;

use apply_patch_api::decode::{
    Binder, Bound, Matcher, Operations, Vocabulary, denied_share, mask_logits,
};
use napi::bindgen_prelude::{BufferSlice, Uint8Array, Uint32Array, Utf16String};
use napi::{Env, Error, Result, Status};
use napi_derive::napi;

use crate::{Text, files};

/// An error of the given value, of which the other half makes a `RangeError`.
fn refused(error: impl std::error::Error) -> Error {
    Error::from_reason(error.to_string())
}

/// The tokens of a model.
#[napi(js_name = "Vocabulary")]
pub struct JsVocabulary(Arc<Vocabulary>);

#[napi]
impl JsVocabulary {
    /// Makes a vocabulary of the bytes of all tokens, the length of each, and the ids that end an
    /// output. Throws if one of these is not a token.
    #[napi(constructor, catch_unwind)]
    pub fn new(bytes: Uint8Array, lengths: Uint32Array, end: Uint32Array) -> Result<Self> {
        let mut rest = &bytes[..];
        let mut tokens: Vec<Box<[u8]>> = Vec::with_capacity(lengths.len());
        for &length in &lengths[..] {
            let cut = rest.split_at_checked(length as usize);
            let (token, others) = cut.ok_or_else(|| Error::from_reason("a token has no bytes"))?;
            tokens.push(token.into());
            rest = others;
        }
        Ok(Self(Arc::new(Vocabulary::new(tokens, &end).map_err(refused)?)))
    }

    /// The number of ids.
    #[napi(getter, catch_unwind)]
    pub fn size(&self) -> u32 {
        self.0.len() as u32
    }

    /// The length of a mask, in words of 32 bits.
    #[napi(getter, catch_unwind)]
    pub fn mask_length(&self) -> u32 {
        self.0.mask_len() as u32
    }
}

/// Files as they are now, prepared for the patches that may be written for them.
#[napi(js_name = "BoundFiles")]
pub struct JsBoundFiles(Arc<Bound>);

#[napi]
impl JsBoundFiles {
    /// Binds files, further paths, and the operations that are allowed. Throws for a file that no
    /// patch can show, and if no patch is possible.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        paths: Vec<Utf16String>,
        contents: Vec<Text<'_>>,
        others: Vec<String>,
        operations: Vec<String>,
    ) -> Result<Self> {
        let has = |name: &str| operations.iter().any(|operation| operation == name);
        let mut binder = Binder::new(Operations {
            update: has("update"),
            add: has("add"),
            delete: has("delete"),
            rename: has("move"),
        });
        for (path, content) in files::<Vec<_>>(paths, contents)? {
            binder = binder.file(&path, content);
        }
        binder = others.iter().fold(binder, |binder, path| binder.path(path));
        Ok(Self(Arc::new(binder.bind().map_err(refused)?)))
    }
}

/// Follows one output token by token, and tells which tokens may follow.
#[napi(js_name = "Matcher")]
pub struct JsMatcher(Matcher);

#[napi]
impl JsMatcher {
    /// Begins an output, with a limit of added lines. Throws if that is too low.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        vocabulary: &JsVocabulary,
        files: &JsBoundFiles,
        max_added_lines: Option<u32>,
    ) -> Result<Self> {
        let tokens = Arc::clone(&vocabulary.0);
        let bound = Arc::clone(&files.0);
        Ok(Self(match max_added_lines {
            Some(most) => Matcher::with_max_added_lines(tokens, bound, most)
                .map_err(|error| Error::from_reason(format!("maxAddedLines: {error}")))?,
            None => Matcher::new(tokens, bound),
        }))
    }

    /// Writes the mask of the tokens that may follow into memory, whose length is a multiple of 4.
    /// Throws if so many tokens are not enough to finish the output.
    #[napi(catch_unwind)]
    pub fn allowed(
        &mut self,
        mut mask: BufferSlice<'_>,
        max_tokens_left: Option<u32>,
    ) -> Result<()> {
        self.masked(mask.len() / 4, max_tokens_left, |words| {
            mask.copy_from_slice(bytemuck::cast_slice(words));
        })
    }

    /// Gives the tokens that may not follow the logit minus infinity. Returns the share of the
    /// probability that they had, if the next byte is in the text of an old line.
    #[napi(catch_unwind)]
    pub fn mask_logits(
        &mut self,
        mut logits: BufferSlice<'_>,
        max_tokens_left: Option<u32>,
    ) -> Result<Option<f64>> {
        let logits: &mut [f32] = bytemuck::try_cast_slice_mut(&mut logits)
            .map_err(|error| Error::new(Status::InvalidArg, error.to_string()))?;
        let counts = self.0.is_in_old_line();
        self.masked(logits.len().div_ceil(32), max_tokens_left, |words| {
            let share = counts.then(|| denied_share(words, logits));
            mask_logits(words, logits);
            share
        })
    }

    fn masked<T>(
        &mut self,
        words: usize,
        max_tokens_left: Option<u32>,
        then: impl FnOnce(&[u32]) -> T,
    ) -> Result<T> {
        thread_local! {
            static MASK: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
        }
        MASK.with_borrow_mut(|mask| {
            mask.resize(words, 0);
            match max_tokens_left {
                Some(left) => self
                    .0
                    .allowed_within(mask, left)
                    .map_err(|error| Error::from_reason(format!("maxTokensLeft: {error}")))?,
                None => self.0.allowed(mask),
            }
            Ok(then(mask))
        })
    }

    /// Takes the next token. Throws if the token may not follow.
    #[napi(catch_unwind)]
    pub fn accept(&mut self, token: u32) -> Result<()> {
        self.0.accept(token).map_err(refused)
    }

    /// Returns the next bytes that have no alternative.
    #[napi(catch_unwind)]
    pub fn forced<'env>(&mut self, env: &'env Env) -> Result<BufferSlice<'env>> {
        BufferSlice::copy_from(env, self.0.forced())
    }

    /// Takes back the last tokens, or all if there are fewer. Returns their number.
    #[napi(catch_unwind)]
    pub fn rollback(&mut self, tokens: u32) -> u32 {
        self.0.rollback(tokens as usize) as u32
    }

    /// Returns a matcher with the same output so far.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn copy(&self) -> Self {
        Self(self.0.clone())
    }

    /// Whether the output is a whole patch.
    #[napi(getter, catch_unwind)]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Whether the next byte is in the text of an old line.
    #[napi(getter, catch_unwind)]
    pub fn is_in_old_line(&self) -> bool {
        self.0.is_in_old_line()
    }

    /// Whether the output has ended with one of the ids that end it.
    #[napi(getter, catch_unwind)]
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    /// The output so far.
    #[napi(getter, catch_unwind)]
    pub fn text<'env>(&self, env: &'env Env) -> Result<BufferSlice<'env>> {
        BufferSlice::copy_from(env, self.0.text())
    }
}
