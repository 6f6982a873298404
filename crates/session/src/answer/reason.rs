//! Why a call is refused, where neither the engine nor the guard has a word for it.

patch_grammar::named! {
    /// The reason behind the kind of an error: `details.reason`. The names are stable.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[allow(missing_docs, reason = "a word of another enum has its comment there")]
    pub enum Reason {
        /// MCP with `--approve ask`, and a client that cannot ask; Python and Node: `approve` of
        /// the workspace, and a call without. What to do: another client, or another `--approve`;
        /// give the call an `approve`.
        ApprovalRequired = "approval_required",
        /// There is no such tool. What to do: the message names them all.
        UnknownTool = "unknown_tool",
        /// Arguments that are missing, not known or of another type, all at once. What to do:
        /// correct all that the hint lists.
        BadArguments = "bad_arguments",
        /// A cursor that no answer gave. What to do: take `nextCursor`, or leave it out.
        BadCursor = "bad_cursor",
        /// A pattern that is none. What to do: `**/*.rs` is one.
        BadGlob = "bad_glob",
        /// Line 0, or a line or a range that the file does not have. What to do: lines are counted
        /// from 1.
        BadLine = "bad_line",
        /// An empty query, one with a line feed, or a bad regular expression. What to do: one line,
        /// or mode `text`.
        BadQuery = "bad_query",
        /// An expected hash that is none, or one for a directory. What to do: take `sha256` from
        /// `read_file`, or leave it out.
        BadSha256 = "bad_sha256",
        /// `edit_file`: a line that is named by something else than its number and tag, or by its
        /// number alone; lines in the wrong order; an edit that names both lines and old text. What
        /// to do: take `from`, `to` and `after` from `read_file` with `tags`.
        BadTag = "bad_tag",
        /// `restore_file`: a name that no file in the trash can have. What to do: take `trashedTo`
        /// from the answer.
        BadTrashPath = "bad_trash_path",
        Binary = "binary",
        /// The branch is at another commit than the patch is for; `details.expected`,
        /// `details.actual`. What to do: `--carry`, or `--onto` the branch.
        BranchMoved = "branch_moved",
        /// The caller gave the call up, or a person closed the question without an answer. What to
        /// do: ask whether the change is wanted.
        Cancelled = "cancelled",
        /// A file changed while it was used. What to do: try again.
        Changed = "changed",
        /// A proposal that is to be approved or declined, and was decided already or has expired;
        /// `details.state`. What to do: propose it again, if it is wanted.
        Decided = "decided",
        /// A person, or `approve` of a program, said no. What to do: ask what was wrong with it.
        Declined = "declined",
        Directory = "directory",
        /// `undo`, `restore_file`: the transaction changed files outside of the root, in the same
        /// project. What to do: undo it there: `details.project`.
        Elsewhere = "elsewhere",
        /// `edit_file`: an edit without old text. What to do: give the text to be replaced.
        EmptyOldText = "empty_old_text",
        Encoding = "encoding",
        ManyPlaces = "multiple_matches",
        /// `edit_file`: an edit whose new text is its old text. What to do: leave the edit out.
        NoChange = "no_change",
        /// `edit_file` without edits. What to do: give one.
        NoEdits = "no_edits",
        /// The home directory, `/`, or one as `/tmp`, and nobody named it. What to do: `-C .`, if
        /// it is meant.
        NoProject = "no_project",
        /// MCP: the client has roots, and names none that is a directory here. What to do: open the
        /// folder in the client.
        NoRoots = "no_roots",
        /// `--part` names one that is not there, or takes different forms as one. What to do:
        /// choose another.
        NoSuchPart = "no_such_part",
        /// There is no proposal of this name, or there are several; a tool sees those of its own
        /// session. What to do: take `proposalId` from the answer, or look at `apply-patch
        /// proposals`.
        NoSuchProposal = "no_such_proposal",
        NoSuchSlot = "no_such_slot",
        /// `undo`: none is named, or none that can be undone. What to do: take one of
        /// `details.transactions`.
        NoTransaction = "no_transaction",
        /// `--amend`, or `amend` of `apply_patch`, names no refused patch that is kept. What to do:
        /// send the whole patch.
        NotKept = "not_kept",
        NotADirectory = "not_a_directory",
        /// A change cannot be kept as a proposal: it is too large, too many wait, there is no place
        /// for a key, or no patch says the same. What to do: split it, decide about those that wait,
        /// or ask a person to make the change.
        NotProposable = "not_proposable",
        /// `edit_file`: the old text is not in the file. What to do: copy it from there; U+FFFD
        /// cannot be looked for.
        OldTextNotFound = "old_text_not_found",
        Overlapping = "overlapping_edits",
        /// The files have changed since a person saw the proposal, and so has what it would do; the
        /// command line shows it. What to do: look at it, and approve it by its digest:
        /// `details.digest`.
        PlanDiffers = "plan_differs",
        /// MCP with `--approve later`: nothing is changed yet, and the change waits for a person as
        /// a proposal: `details.proposalId`. What to do: go on with something else, and ask with
        /// `proposal` what became of it.
        Proposed = "proposed",
        /// `restore_file`: one target for several files. What to do: name one of them.
        SeveralFiles = "several_files",
        /// Several whole patches, which the message lists. What to do: send one, or `--part N` or
        /// `--part all`.
        SeveralPatches = "several_patches",
        Stale = "stale",
        /// `edit_file`: the line of this number has another tag, or was not printed with tags. What to
        /// do: take the tags of the answer, or read the file again with `tags`.
        TagNotFound = "tag_not_found",
        /// `edit_file`, `write_file`: lines of the new text begin with tags, which would be written
        /// into the file. What to do: leave the tags out.
        TagsInText = "tags_in_text",
        /// MCP with `--approve ask`: more files than a person can be shown. What to do: split the
        /// change, or apply it in a terminal.
        TooManyToShow = "too_many_to_show",
        /// A directory has an unfinished transaction in a state of its own; `details.directory`.
        /// What to do: `apply-patch -C DIR recover`, then again.
        UnfinishedBelow = "unfinished_below",
        /// A file is to be changed that the session has not read, and no hash is given. For
        /// `edit_file` it is enough that an answer showed all lines of the edits. What to do:
        /// `read_file` first.
        Unread = "unread",
        /// No patch in the text, or something around it that is not understood. What to do: send
        /// the patch alone.
        Unreadable = "unreadable",
        /// Something in `.apply-patch` is not this user's, or is not signed with this key;
        /// `details.problem` says which (`docs/reference/state.md#whose-it-is`). What to do: look
        /// at it, then remove it, or `chmod 700`, `chown`, `state = "user"`; without modes, see
        /// `doctor`; `undo ID` where the last one is unclear; `undo ID --trust` for `other_key`
        /// (`details.key`) and `not_signed`, if you know the change.
        UntrustedState = "untrusted_state",
        /// A command of `verify` (`docs/reference/commit.md#checks`) did not succeed, and the files
        /// are as they were; `details.command`, `exitCode`, `signal` or `timedOut`, and `output`,
        /// the end of its output. What to do: read that, and correct the change.
        Unverified = "unverified",
    }
}
