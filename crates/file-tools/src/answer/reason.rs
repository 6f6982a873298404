//! Why a call is refused, where neither the engine nor the guard has a word for it.

patch_grammar::named! {
    /// The reason behind the kind of an error: `details.reason`. The names are stable.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[allow(missing_docs, reason = "they are their names; docs/errors.md says what each means")]
    pub enum Reason {
        ApprovalRequired = "approval_required",
        UnknownTool = "unknown_tool",
        BadArguments = "bad_arguments",
        BadCursor = "bad_cursor",
        BadGlob = "bad_glob",
        BadLine = "bad_line",
        BadQuery = "bad_query",
        BadSha256 = "bad_sha256",
        BadTrashPath = "bad_trash_path",
        Binary = "binary",
        BranchMoved = "branch_moved",
        Cancelled = "cancelled",
        Changed = "changed",
        Declined = "declined",
        Directory = "directory",
        Elsewhere = "elsewhere",
        EmptyOldText = "empty_old_text",
        Encoding = "encoding",
        ManyPlaces = "multiple_matches",
        NoChange = "no_change",
        NoEdits = "no_edits",
        NoProject = "no_project",
        NoRoots = "no_roots",
        NoSuchPart = "no_such_part",
        NoSuchSlot = "no_such_slot",
        NoTransaction = "no_transaction",
        NotKept = "not_kept",
        NotADirectory = "not_a_directory",
        OldTextNotFound = "old_text_not_found",
        Overlapping = "overlapping_edits",
        SeveralFiles = "several_files",
        SeveralPatches = "several_patches",
        Stale = "stale",
        TooManyToShow = "too_many_to_show",
        UnfinishedBelow = "unfinished_below",
        Unread = "unread",
        Unreadable = "unreadable",
        UntrustedState = "untrusted_state",
        Unverified = "unverified",
    }
}
