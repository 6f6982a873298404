//! The tools by name.

use crate::audit::Operation;

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
    }
}

impl Tool {
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

    /// Returns what the log calls a change that the tool makes; it is not used for tools that only
    /// read.
    pub(crate) fn operation(self) -> Operation {
        match self {
            Self::CreateFile | Self::RestoreFile => Operation::Create,
            Self::EditFile => Operation::Edit,
            Self::DeleteFile => Operation::Delete,
            Self::MoveFile => Operation::Move,
            Self::ApplyPatch | Self::EditPatch => Operation::Patch,
            Self::WriteFile | Self::Undo => Operation::Write,
            // They change nothing, so nothing is logged.
            Self::ReadFile | Self::ListDirectory | Self::SearchFiles | Self::Glob => {
                Operation::Write
            }
        }
    }
}
