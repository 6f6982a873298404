//! The tools by name. What they do is in a crate above.

patch_grammar::named! {
    /// A tool. The order is that in which they are listed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[allow(missing_docs, reason = "they are their names")]
    pub enum Tool {
        ReadFile = "read_file",
        ListDirectory = "list_directory",
        SearchFiles = "search_files",
        Glob = "glob",
        CreateFile = "create_file",
        WriteFile = "write_file",
        EditFile = "edit_file",
        DeleteFile = "delete_file",
        RestoreFile = "restore_file",
        MoveFile = "move_file",
        ApplyPatch = "apply_patch",
        EditPatch = "edit.patch",
        Undo = "undo",
        UndoTurn = "undo_turn",
    }
}

impl Tool {
    /// Returns the tools that are offered unless the host names others: all but
    /// [`UndoTurn`](Self::UndoTurn).
    pub fn usual() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|tool| *tool != Self::UndoTurn)
    }

    /// Returns the tools that a server offers unless it is told which: the usual ones, but for
    /// [`EditPatch`](Self::EditPatch), since [`ApplyPatch`](Self::ApplyPatch) does the same.
    pub fn served() -> impl Iterator<Item = Self> {
        Self::usual().filter(|tool| *tool != Self::EditPatch)
    }

    /// Returns the name without a dot, which most providers do not allow in the name of a function.
    #[must_use]
    pub fn legal_name(self) -> &'static str {
        if self == Self::EditPatch { "edit_patch" } else { self.as_str() }
    }

    /// Finds the tool with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name || tool.legal_name() == name)
    }

    /// Returns whether the tool only reads.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        matches!(self, Self::ReadFile | Self::ListDirectory | Self::SearchFiles | Self::Glob)
    }
}
