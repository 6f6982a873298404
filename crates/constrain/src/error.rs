//! Why a vocabulary, bound files or a matcher cannot be made, or cannot go on.

use crate::paths::PathProblem;

/// Why files cannot be bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The file is not UTF-8, and a patch is.
    #[error("the file is not UTF-8")]
    NotUtf8,
    /// The file has a NUL, which no patch may have.
    #[error("the file has a NUL character")]
    Binary,
    /// A line ends in a carriage return besides its terminator, which a patch cannot show.
    #[error("a line of the file ends in a carriage return that is not part of its terminator")]
    CarriageReturn,
    /// The file begins with a byte-order mark, and so does one of its lines.
    #[error("a line of the file begins with a second byte-order mark")]
    ByteOrderMark,
    /// The file has 2 GiB or more.
    #[error("the file has 2 GiB or more")]
    TooLarge,
    /// No patch may change a file at this path.
    #[error(transparent)]
    Path(PathProblem),
    /// A path was given twice.
    #[error("the path was given twice")]
    Twice,
    /// The operations allow no section.
    #[error("there is nothing that a patch may do: no file for the operations that are allowed")]
    Nothing,
}

/// The file or path with its problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", fs_guard::quoted(.path))]
pub struct NotBound {
    /// The path; empty if no single path is at fault.
    pub path: String,
    /// The problem.
    pub problem: BindError,
}

/// A token that may not follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("token {token} may not follow here")]
pub struct NotAllowed {
    /// The token.
    pub token: u32,
}

/// Too little for a patch to be finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too few to finish the patch: at least {needed} are needed")]
pub struct TooFew {
    /// How many are enough.
    pub needed: u32,
}

/// A token that ends an output, but is not one of the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the end token {token} is not in the vocabulary, which has {len} tokens, numbered from 0")]
pub struct NoSuchToken {
    /// The token.
    pub token: u32,
    /// The number of tokens in the vocabulary.
    pub len: usize,
}

/// Why bytes cannot be made into a value again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// Another version of this library made the bytes.
    #[error("the bytes have layout {version}, which this version of the library cannot read")]
    Version {
        /// The layout.
        version: u8,
    },
    /// The bytes are cut off or altered, or those of another kind of value.
    #[error("the bytes are damaged, or those of another kind of value")]
    Damaged,
    /// The files cannot be bound.
    #[error(transparent)]
    Bind(#[from] NotBound),
    /// An end token is beyond the vocabulary.
    #[error(transparent)]
    End(#[from] NoSuchToken),
    /// The limit of added lines is too low for these files.
    #[error("the number of added lines: {0}")]
    Lines(#[from] TooFew),
    /// The output is not one of these files, or has tokens of another vocabulary.
    #[error("the output was not made with this vocabulary for these files: {0}")]
    Output(#[from] NotAllowed),
}
