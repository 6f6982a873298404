//! Exit codes: patch(1)'s three, and some more for careful callers.

use apply_patch_api::tools::FailureClass;

use crate::platform;

/// The table of exit codes: what each means is also in the manual pages.
macro_rules! exits {
    ($($(#[doc = $meaning:literal])+ $name:ident = $code:literal,)*) => {
        /// How the program ends.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Exit {
            $($(#[doc = $meaning])+ $name = $code,)*
        }

        impl Exit {
            /// Every exit and what it means.
            pub(crate) const ALL: &[(Self, &str)] =
                &[$((Self::$name, concat!($($meaning),+))),*];
        }
    };
}

exits! {
    /// Done; with `--check` or `--dry-run`: it would apply.
    Done = 0,
    /// The patch does not parse or does not apply; nothing changed.
    DoesNotApply = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// Refused: outside the workspace, against the policy, or not approved.
    Refused = 3,
    /// A file is not what was expected.
    Stale = 4,
    /// Input, output, lock or limit; rolled back, nothing changed.
    Failed = 5,
    /// Changed in part.
    Partial = 6,
    /// `intercept`: the command is not a call of `apply_patch`.
    NotApplyPatch = 7,
    /// The command of `--verify` failed; rolled back, nothing changed.
    Unverified = 8,
    /// Interrupted by SIGHUP; rolled back.
    HungUp = 129,
    /// Interrupted by SIGINT; rolled back.
    Interrupted = 130,
    /// Interrupted by SIGTERM; rolled back.
    Terminated = 143,
}

impl From<FailureClass> for Exit {
    fn from(class: FailureClass) -> Self {
        match class {
            FailureClass::DoesNotApply => Self::DoesNotApply,
            FailureClass::Usage => Self::Usage,
            FailureClass::Refused => Self::Refused,
            FailureClass::Stale => Self::Stale,
            FailureClass::Failed => Self::Failed,
            FailureClass::Partial => Self::Partial,
            FailureClass::Unverified => Self::Unverified,
        }
    }
}

impl Exit {
    /// Ends the process. Freeing memory and closing files is left to the system.
    pub(crate) fn now(self) -> ! {
        platform::exit(self as i32)
    }
}
