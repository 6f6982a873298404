//! The verdict about a call.

use std::borrow::Cow;

use patch_grammar::ParseError;

use crate::shell::MAX_SCRIPT_SIZE;

/// The warning for the model when its shell call was taken for a patch.
pub const WARNING: &str = "apply_patch was called through the shell. \
    Use the apply_patch tool directly, with the patch as its input, instead of a shell command.";

/// The verdict about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intercept<'a> {
    /// A call of `apply_patch` and nothing else; the patch parses.
    Body {
        /// The text that the shell would have given to `apply_patch`. It parses as the `codex`
        /// profile reads it.
        patch: Cow<'a, str>,
        /// The directory that the call changes to first, as written; relative to where the command
        /// would run. The directory is not checked.
        workdir: Option<Cow<'a, str>>,
    },
    /// `apply_patch` was meant, but the command means something else; do not run the command,
    /// tell the model.
    CorrectnessError(CorrectnessError),
    /// A call of `apply_patch` that a shell cannot read; do not run the command, tell the model.
    ShellParseError(ShellParseError),
    /// Something else: a command to run, or to refuse, like any other.
    NotApplyPatch,
}

impl Intercept<'_> {
    /// Copies what is borrowed from the call.
    pub(crate) fn into_owned<'o>(self) -> Intercept<'o> {
        match self {
            Self::Body { patch, workdir } => Intercept::Body {
                patch: Cow::Owned(patch.into_owned()),
                workdir: workdir.map(|dir| Cow::Owned(dir.into_owned())),
            },
            Self::CorrectnessError(error) => Intercept::CorrectnessError(error),
            Self::ShellParseError(error) => Intercept::ShellParseError(error),
            Self::NotApplyPatch => Intercept::NotApplyPatch,
        }
    }

    /// A stable short name for programs.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match self {
            Self::Body { .. } => "body",
            Self::CorrectnessError(_) => "correctness_error",
            Self::ShellParseError(_) => "shell_parse_error",
            Self::NotApplyPatch => "not_apply_patch",
        }
    }

    /// Returns what is wrong with the text that was meant as a patch, if that is what is wrong.
    #[must_use]
    pub fn patch_error(&self) -> Option<&ParseError> {
        match self {
            Self::CorrectnessError(CorrectnessError::Patch(error)) => Some(error),
            _ => None,
        }
    }
}

/// Why a call that was meant for `apply_patch` is none.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CorrectnessError {
    /// A patch stands where a command should.
    #[error(
        "a patch without a call of apply_patch: use the apply_patch tool, with the patch as its \
         input"
    )]
    ImplicitInvocation,
    /// The text is not a patch.
    #[error("{0}")]
    Patch(#[from] ParseError),
    /// The shell would change the text before `apply_patch` gets it.
    #[error(
        "the shell would change the patch: line {line} of the script has `{character}` in {place}; \
         use the apply_patch tool, or quote the tag of the heredoc (<<'EOF')"
    )]
    Expansion {
        /// The 1-based line of the script.
        line: usize,
        /// The character with a meaning for the shell.
        character: char,
        /// Its place, in words.
        place: &'static str,
    },
    /// The directory of `cd` is not literal.
    #[error(
        "`cd {directory}`: the shell would expand the directory, or read it as something else; \
         write it out, in quotes"
    )]
    Directory {
        /// The argument of `cd`, as written.
        directory: String,
    },
}

patch_grammar::debug_is_display!(CorrectnessError);

impl CorrectnessError {
    /// A stable short name for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ImplicitInvocation => "implicit_invocation",
            Self::Patch(_) => "patch",
            Self::Expansion { .. } => "expansion",
            Self::Directory { .. } => "directory",
        }
    }
}

/// Why a script with a call of `apply_patch` at its beginning cannot be read.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShellParseError {
    /// The quotes of the argument do not close, or close in the middle of the patch.
    #[error(
        "the quotes around the patch are not closed, or closed by a quote within it; use the \
         apply_patch tool"
    )]
    Quotes,
    /// A heredoc is not closed.
    #[error("the heredoc is not closed: no line of the script is exactly `{tag}`")]
    OpenHeredoc {
        /// The closing tag.
        tag: String,
    },
    /// It is longer than [`MAX_SCRIPT_SIZE`].
    #[error("the script has {len} bytes, and may have {MAX_SCRIPT_SIZE}")]
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
}

patch_grammar::debug_is_display!(ShellParseError);

impl ShellParseError {
    /// A stable short name for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Quotes => "quotes",
            Self::OpenHeredoc { .. } => "open_heredoc",
            Self::TooLong { .. } => "too_long",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_is_the_sentence() {
        let errors: Vec<Box<dyn std::error::Error>> =
            vec![Box::new(CorrectnessError::ImplicitInvocation), Box::new(ShellParseError::Quotes)];
        for error in errors {
            assert_eq!(format!("{error:?}"), error.to_string());
        }
    }
}
