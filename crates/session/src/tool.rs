//! The names of the tools.

use crate::operation::Operation;

/// Makes the enum of tools from a list. A line has the variant of a tool, the name, and the log's
/// word for its changes, or `None` for a tool that only reads.
macro_rules! tools {
    ($($tool:ident = $name:literal, $operation:expr;)*) => {
        patch_grammar::named! {
            /// A tool, in the order of listings.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            #[allow(missing_docs, reason = "they are their names")]
            pub enum Tool { $($tool = $name,)* }
        }

        impl Tool {
            /// Returns the log's word for the tool's changes; `None` if the tool only reads.
            #[doc(hidden)]
            #[must_use]
            pub fn operation(self) -> Option<Operation> {
                match self { $(Self::$tool => $operation,)* }
            }
        }
    };
}

tools! {
    ReadFile = "read_file", None;
    ListDirectory = "list_directory", None;
    SearchFiles = "search_files", None;
    Glob = "glob", None;
    CreateFile = "create_file", Some(Operation::Create);
    WriteFile = "write_file", Some(Operation::Write);
    EditFile = "edit_file", Some(Operation::Edit);
    DeleteFile = "delete_file", Some(Operation::Delete);
    RestoreFile = "restore_file", Some(Operation::Create);
    MoveFile = "move_file", Some(Operation::Move);
    ApplyPatch = "apply_patch", Some(Operation::Patch);
    EditPatch = "edit.patch", Some(Operation::Patch);
    Undo = "undo", Some(Operation::Write);
    UndoTurn = "undo_turn", Some(Operation::Write);
    Propose = "propose", Some(Operation::Patch);
    Proposal = "proposal", Some(Operation::Patch);
}

impl Tool {
    /// Returns the tools to offer by default: all but [`UndoTurn`](Self::UndoTurn).
    pub fn usual() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|tool| *tool != Self::UndoTurn)
    }

    /// Returns the tools of a server by default: the usual ones without
    /// [`EditPatch`](Self::EditPatch), since [`ApplyPatch`](Self::ApplyPatch) does the same.
    pub fn served() -> impl Iterator<Item = Self> {
        Self::usual().filter(|tool| *tool != Self::EditPatch)
    }

    /// Returns the name without a dot: most providers allow no dot in the name of a function.
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
        self.operation().is_none()
    }
}
