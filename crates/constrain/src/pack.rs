//! Values as bytes, to send them to another process or to keep them.
//!
//! The files and tokens are kept, not the tables made of them: those are made anew, by the same
//! checks as for the first time. So bytes from anywhere are as good as the values that they spell.

use std::sync::Arc;

use crate::bound::{Binder, Bound, Operations};
use crate::error::UnpackError;
use crate::matcher::Matcher;
use crate::vocabulary::Vocabulary;

/// The kinds of packed values, by their first byte.
const VOCABULARY: u8 = b'V';
const BOUND: u8 = b'B';
const MATCHER: u8 = b'M';

/// The second byte: the version of the layout.
const VERSION: u8 = 1;

impl Vocabulary {
    /// The vocabulary as bytes, for [`from_bytes`](Self::from_bytes).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(VOCABULARY);
        out.number(self.len());
        (0..self.len() as u32).for_each(|token| out.bytes(self.bytes(token)));
        out.number(self.end().len());
        self.end().iter().for_each(|&token| out.number(token as usize));
        out.0
    }

    /// Makes the vocabulary of [`to_bytes`](Self::to_bytes) again.
    ///
    /// # Errors
    ///
    /// [`UnpackError`] if the bytes are not those of a vocabulary.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, UnpackError> {
        let mut from = Reader::new(bytes, VOCABULARY)?;
        let tokens = from.list(Reader::bytes)?;
        let end = from.list(Reader::number)?;
        from.end()?;
        Ok(Self::new(tokens, &end)?)
    }
}

impl Bound {
    /// The files and paths as bytes, for [`from_bytes`](Self::from_bytes).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(BOUND);
        let Operations { update, add, delete, rename } = self.operations;
        out.0.extend([update, add, delete, rename].map(u8::from));
        // The files come first.
        let count = self.files.iter().flatten().count();
        out.number(count);
        for (path, file) in self.paths.iter().zip(self.files.iter().flatten()) {
            out.bytes(path.as_bytes());
            out.bytes(file.text().as_bytes());
        }
        out.number(self.paths.len() - count);
        self.paths[count..].iter().for_each(|path| out.bytes(path.as_bytes()));
        out.0
    }

    /// Binds the files of [`to_bytes`](Self::to_bytes) again.
    ///
    /// # Errors
    ///
    /// [`UnpackError`] if the bytes are not those of bound files.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, UnpackError> {
        let mut from = Reader::new(bytes, BOUND)?;
        let operations = Operations {
            update: from.flag()?,
            add: from.flag()?,
            delete: from.flag()?,
            rename: from.flag()?,
        };
        let files = from.list(|from| Ok((from.text()?, from.bytes()?)))?;
        let others = from.list(Reader::text)?;
        from.end()?;
        let binder = Binder::new(operations);
        let binder = files.into_iter().fold(binder, |binder, (path, text)| binder.file(path, text));
        let binder = others.into_iter().fold(binder, Binder::path);
        Ok(binder.bind()?)
    }
}

impl Matcher {
    /// The output so far as bytes, for [`from_bytes`](Self::from_bytes). They do not have the
    /// vocabulary and the files, which many matchers share.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(MATCHER);
        let most = self.max_added_lines();
        out.0.push(u8::from(most.is_some()));
        out.number(most.unwrap_or(0) as usize);
        out.number(self.tokens().len());
        self.tokens().for_each(|token| out.number(token as usize));
        out.0
    }

    /// Goes on with the output of [`to_bytes`](Self::to_bytes), with the same vocabulary and files.
    /// The tokens are accepted one by one, so the output is one that the files allow.
    ///
    /// # Errors
    ///
    /// [`UnpackError`] if the bytes are not those of a matcher for this vocabulary and these files.
    pub fn from_bytes(
        vocabulary: Arc<Vocabulary>,
        bound: Arc<Bound>,
        bytes: &[u8],
    ) -> Result<Self, UnpackError> {
        let mut from = Reader::new(bytes, MATCHER)?;
        let is_limited = from.flag()?;
        let most = from.number()?;
        let tokens = from.list(Reader::number)?;
        from.end()?;
        let mut matcher = if is_limited {
            Self::with_max_added_lines(vocabulary, bound, most)?
        } else {
            Self::new(vocabulary, bound)
        };
        tokens.into_iter().try_for_each(|token| matcher.accept(token))?;
        Ok(matcher)
    }
}

/// Writes lengths as 32 bits, and bytes behind their length.
struct Writer(Vec<u8>);

impl Writer {
    fn new(kind: u8) -> Self {
        Self(vec![kind, VERSION])
    }

    fn number(&mut self, number: usize) {
        let number = u32::try_from(number).expect("ids and lengths have 32 bits");
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend(bytes);
    }
}

/// Reads what a [`Writer`] wrote.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn new(bytes: &'b [u8], kind: u8) -> Result<Self, UnpackError> {
        match bytes {
            [first, version, rest @ ..] if *first == kind => match *version {
                VERSION => Ok(Self(rest)),
                version => Err(UnpackError::Version { version }),
            },
            _ => Err(UnpackError::Damaged),
        }
    }

    fn take(&mut self, len: usize) -> Result<&'b [u8], UnpackError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(UnpackError::Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, UnpackError> {
        let (number, rest) = self.0.split_first_chunk().ok_or(UnpackError::Damaged)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Result<&'b [u8], UnpackError> {
        let len = self.number()?;
        self.take(len as usize)
    }

    fn text(&mut self) -> Result<&'b str, UnpackError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| UnpackError::Damaged)
    }

    fn flag(&mut self) -> Result<bool, UnpackError> {
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(UnpackError::Damaged),
        }
    }

    /// Reads a list behind its length. The list grows as it is read: the length may be a lie.
    fn list<T>(
        &mut self,
        read: impl Fn(&mut Self) -> Result<T, UnpackError>,
    ) -> Result<Vec<T>, UnpackError> {
        let mut list = Vec::new();
        for _ in 0..self.number()? {
            list.push(read(self)?);
        }
        Ok(list)
    }

    fn end(self) -> Result<(), UnpackError> {
        if self.0.is_empty() { Ok(()) } else { Err(UnpackError::Damaged) }
    }
}
