#![doc = include_str!("../README.md")]
//!
//! ## Which forms
//!
//! * `apply_patch TEXT` and `applypatch TEXT` as an argument vector;
//! * `bash`, `zsh`, `sh` with `-c` or `-lc`, PowerShell (`powershell`, `pwsh`) with `-Command`, and
//!   `cmd` with `/c`, also by path, whose script is one `apply_patch` with a heredoc (`<<` or
//!   `<<-`, any tag, quoted or not) or with one quoted argument; `cd DIR &&` may go before it;
//! * the same heredoc in `cat <<'EOF' | apply_patch`, also with `apply_patch` on the line below it;
//! * in `bash`, `zsh` and `sh` one quoted argument of `echo`, `printf '%s'` or `printf '%s\n'`,
//!   piped to `apply_patch`, where every shell writes the same: not a backslash after `echo`, nor a
//!   backslash or `%` in the format;
//! * each of these behind one of the ways in which Codex reads a snapshot of the user's shell
//!   first: `bash -c '. "$0" && exec "$@"' SNAPSHOT …`; a script that has the line
//!   `if . 'SNAPSHOT' >/dev/null 2>&1; then :; fi` and ends in `exec 'bash' -c '…'`; and one that
//!   activates the functions and aliases of the snapshot and ends in `eval '…'` (bash, zsh and sh).
//!   Besides, these scripts may only keep variables and set them again, in the words of Codex.
//!   SNAPSHOT is an absolute path, and trusted like a start-up file.
//!
//! PowerShell and `cmd` have no heredocs; models write them there nevertheless, and it is clear
//! what they mean.
//!
//! ## How the script is read
//!
//! tree-sitter-bash finds the shape of the script: the parser gets the script with a stand-in for
//! the patch, a heredoc without lines or an `'x'`. The end of the patch is found here, by the
//! shell's rules: for a heredoc by comparing lines (the tree takes an indented line, or one that
//! merely begins with the tag, for the end), for an argument by its quotes. So the time is linear
//! in the script, and the tree never has more than 4 KiB.
//!
//! ## Limitations
//!
//! `CDPATH`, aliases, functions and start-up files that give `cd` or `apply_patch` another meaning
//! are not seen, nor is a snapshot that cannot be read. Not taken, though a shell would: `$'…'`,
//! here-strings, PowerShell's here-strings, process substitutions, redirections such as `2>&1`,
//! options of `cat` and `echo`, comments, and a heredoc that ends with the script instead of with
//! its tag.
#![forbid(unsafe_code)]

mod argv;
mod heredoc;
mod literal;
mod script;
mod shell;
mod snapshot;
mod tree;
mod verdict;

pub use argv::intercept;
pub use script::intercept_script;
pub use shell::{MAX_SCRIPT_SIZE, Shell};
pub use verdict::{CorrectnessError, Intercept, ShellParseError, WARNING};
