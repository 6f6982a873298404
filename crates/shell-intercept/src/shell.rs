//! Shells, and their names for the command.

/// The longest script: 64 MiB.
pub const MAX_SCRIPT_SIZE: usize = 64 << 20;

/// The names of the command.
pub(crate) const NAMES: [&str; 2] = ["apply_patch", "applypatch"];

/// A family of shells that quote alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shell {
    /// `bash`, `zsh`, `sh`.
    Posix,
    /// `powershell`, `pwsh`.
    PowerShell,
    /// `cmd`.
    Cmd,
}
