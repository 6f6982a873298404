//! Why a tool refuses a call, where neither the engine nor the guard has a word for it.

patch_grammar::named! {
    /// The reason behind the kind of an error: `details.reason`. The names are stable.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[allow(missing_docs, reason = "they are their names; docs/errors.md says what each means")]
    pub enum Reason {
        UnknownTool = "unknown_tool",
        BadArguments = "bad_arguments",
        BadCursor = "bad_cursor",
        BadGlob = "bad_glob",
        BadLine = "bad_line",
        BadQuery = "bad_query",
        BadSha256 = "bad_sha256",
        BadTrashPath = "bad_trash_path",
        Binary = "binary",
        Cancelled = "cancelled",
        Directory = "directory",
        EmptyOldText = "empty_old_text",
        Encoding = "encoding",
        ManyPlaces = "multiple_matches",
        NoChange = "no_change",
        NoEdits = "no_edits",
        NoSuchSlot = "no_such_slot",
        NoTransaction = "no_transaction",
        NotADirectory = "not_a_directory",
        OldTextNotFound = "old_text_not_found",
        Overlapping = "overlapping_edits",
        SeveralFiles = "several_files",
        Unread = "unread",
    }
}
