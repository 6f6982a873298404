//! The tools by name.

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are their names")]
pub enum Tool {
    ReadFile,
    ListDirectory,
    SearchFiles,
    Glob,
    CreateFile,
    WriteFile,
    EditFile,
    DeleteFile,
    RestoreFile,
    MoveFile,
    ApplyPatch,
    EditPatch,
    Undo,
}

impl Tool {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 13] = [
        Self::ReadFile,
        Self::ListDirectory,
        Self::SearchFiles,
        Self::Glob,
        Self::CreateFile,
        Self::WriteFile,
        Self::EditFile,
        Self::DeleteFile,
        Self::RestoreFile,
        Self::MoveFile,
        Self::ApplyPatch,
        Self::EditPatch,
        Self::Undo,
    ];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::ListDirectory => "list_directory",
            Self::SearchFiles => "search_files",
            Self::Glob => "glob",
            Self::CreateFile => "create_file",
            Self::WriteFile => "write_file",
            Self::EditFile => "edit_file",
            Self::DeleteFile => "delete_file",
            Self::RestoreFile => "restore_file",
            Self::MoveFile => "move_file",
            Self::ApplyPatch => "apply_patch",
            Self::EditPatch => "edit.patch",
            Self::Undo => "undo",
        }
    }

    /// Its name where a dot is not allowed in one, as in functions of most providers.
    #[must_use]
    pub fn legal_name(self) -> &'static str {
        if self == Self::EditPatch { "edit_patch" } else { self.as_str() }
    }

    /// The tool of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name || tool.legal_name() == name)
    }

    /// Whether it only reads.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        matches!(self, Self::ReadFile | Self::ListDirectory | Self::SearchFiles | Self::Glob)
    }
}
