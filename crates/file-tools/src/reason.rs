//! Why a tool refuses a call, where neither the engine nor the guard has a word for it.

/// The reason behind the kind of an error: `details.reason`. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "they are their names; docs/errors.md says what each means")]
pub enum Reason {
    UnknownTool,
    BadArguments,
    BadCursor,
    BadGlob,
    BadLine,
    BadQuery,
    BadSha256,
    BadTrashPath,
    Binary,
    Cancelled,
    Directory,
    EmptyOldText,
    Encoding,
    ManyPlaces,
    NoChange,
    NoEdits,
    NoSuchSlot,
    NoTransaction,
    NotADirectory,
    OldTextNotFound,
    Overlapping,
    SeveralFiles,
    Unread,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 23] = [
        Self::UnknownTool,
        Self::BadArguments,
        Self::BadCursor,
        Self::BadGlob,
        Self::BadLine,
        Self::BadQuery,
        Self::BadSha256,
        Self::BadTrashPath,
        Self::Binary,
        Self::Cancelled,
        Self::Directory,
        Self::EmptyOldText,
        Self::Encoding,
        Self::ManyPlaces,
        Self::NoChange,
        Self::NoEdits,
        Self::NoSuchSlot,
        Self::NoTransaction,
        Self::NotADirectory,
        Self::OldTextNotFound,
        Self::Overlapping,
        Self::SeveralFiles,
        Self::Unread,
    ];

    /// The stable word.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::BadArguments => "bad_arguments",
            Self::BadCursor => "bad_cursor",
            Self::BadGlob => "bad_glob",
            Self::BadLine => "bad_line",
            Self::BadQuery => "bad_query",
            Self::BadSha256 => "bad_sha256",
            Self::BadTrashPath => "bad_trash_path",
            Self::Binary => "binary",
            Self::Cancelled => "cancelled",
            Self::Directory => "directory",
            Self::EmptyOldText => "empty_old_text",
            Self::Encoding => "encoding",
            Self::ManyPlaces => "multiple_matches",
            Self::NoChange => "no_change",
            Self::NoEdits => "no_edits",
            Self::NoSuchSlot => "no_such_slot",
            Self::NoTransaction => "no_transaction",
            Self::NotADirectory => "not_a_directory",
            Self::OldTextNotFound => "old_text_not_found",
            Self::Overlapping => "overlapping_edits",
            Self::SeveralFiles => "several_files",
            Self::Unread => "unread",
        }
    }
}
