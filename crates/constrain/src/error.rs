//! Why files cannot be bound.

/// Why files cannot be bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
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
    /// A header cannot name this path as it is.
    #[error("the path is empty, or has a line end or blanks around it")]
    Path,
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
