//! Why a command ends without its result.

use std::sync::Arc;

use apply_patch_api::engine::commit;
use apply_patch_api::engine::remedy::ForPerson;
use apply_patch_api::engine::{Failed, MAX_PATCH_SIZE, ParseError, Plan, Rejects, Remedy};
use apply_patch_api::tools::input::InputError;
use apply_patch_api::tools::{ErrorKind, FailureClass, Kept, ToolError};

use crate::input::Input;

/// Why a command ends without its result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// The patch cannot be read.
    Input(String),
    /// The input is not what it should be.
    Unreadable(String),
    /// It was not approved.
    Refused(String),
    /// The patch is too long.
    TooLong,
    /// The text is not a patch.
    Parse(Box<(Input, ParseError)>),
    /// The patch cannot be planned.
    Rejected(Box<(Input, Arc<Rejects>)>),
    /// The workspace cannot be used.
    Workspace(Box<commit::Error>),
    /// A plan could not be committed.
    Commit(Box<commit::CommitError>),
    /// The report of a library, as programs see it.
    Tool(Box<ToolError>),
    /// Why a patch was not applied, or only in part.
    Failed(Box<(Input, Failed)>),
}

impl From<commit::Error> for Failure {
    fn from(error: commit::Error) -> Self {
        match error {
            commit::Error::Commit(error) => error.into(),
            error => Self::Workspace(Box::new(error)),
        }
    }
}

impl From<commit::CommitError> for Failure {
    fn from(error: commit::CommitError) -> Self {
        Self::Commit(Box::new(error))
    }
}

impl From<apply_patch_api::files::Error> for Failure {
    fn from(error: apply_patch_api::files::Error) -> Self {
        commit::Error::from(error).into()
    }
}

impl From<apply_patch_api::files::GlobError> for Failure {
    fn from(error: apply_patch_api::files::GlobError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl Failure {
    /// Something is asked for that was left out of this build.
    #[allow(dead_code, reason = "the stand-ins call it, and a build with all features has none")]
    pub(crate) fn built_without(what: &str) -> Self {
        Self::Usage(format!(
            "this program was built without {what}: build it with its default features"
        ))
    }

    pub(crate) fn parse(input: &Input, error: ParseError) -> Self {
        Self::Parse(Box::new((input.clone(), error)))
    }

    pub(crate) fn rejected(input: &Input, rejects: impl Into<Arc<Rejects>>) -> Self {
        Self::Rejected(Box::new((input.clone(), rejects.into())))
    }

    /// The failure as programs see it.
    pub(crate) fn error(&self) -> ToolError {
        let error = match self {
            Self::Usage(message) => {
                ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message)
            }
            Self::Input(message) => {
                ToolError::new(FailureClass::Failed, ErrorKind::CommandFailed, message)
            }
            Self::Unreadable(message) => InputError::Unreadable(message.clone()).tool_error(b""),
            Self::Refused(message) => {
                ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
                    .remedies([Remedy::Ask(ForPerson::Own("apply it at a terminal".into()))])
            }
            Self::TooLong => {
                let message = format!("the patch is longer than {MAX_PATCH_SIZE} bytes");
                ToolError::new(FailureClass::Failed, ErrorKind::FileTooLarge, message)
                    .remedies([Remedy::Split])
            }
            Self::Parse(parse) if parse.0.sent.diff.is_none() => {
                ToolError::parse_sent(parse.0.bytes(), &parse.1)
            }
            Self::Parse(parse) => ToolError::parse(&parse.1),
            Self::Rejected(rejected) => ToolError::rejected(&rejected.1),
            Self::Workspace(error) => ToolError::workspace(error),
            Self::Commit(error) => ToolError::commit(error),
            Self::Tool(error) => (**error).clone(),
            Self::Failed(failed) => {
                ToolError::failed(&failed.1).with_changed_by(&failed.0.changed_by)
            }
        };
        error.kept_as(self.kept().cloned())
    }

    /// The part that would be applied of a patch that does not apply as a whole.
    pub(crate) fn planned(&self) -> Option<&Plan> {
        match self {
            Self::Failed(failed) if failed.1.dry_run => {
                failed.1.reports.first().map(|report| &*report.plan)
            }
            _ => None,
        }
    }

    /// How the patch is kept.
    pub(crate) fn kept(&self) -> Option<&Kept> {
        match self {
            Self::Failed(failed) => failed.0.kept.as_ref(),
            _ => None,
        }
    }
}
