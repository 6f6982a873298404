//! What every command knows: the shared flags, and the settings.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use fs_guard::Root;

use crate::args::{Approve, GlobalArgs, Profile, When};
use crate::settings::Settings;

/// The shared flags and the settings.
#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) root: PathBuf,
    pub(crate) color: Option<When>,
    pub(crate) no_pager: bool,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) settings: Settings,
    /// The workspace, if it is open already and was not taken yet.
    pub(crate) opened: Mutex<Option<Root>>,
}

impl Global {
    /// No flags, in this workspace.
    pub(crate) fn new(root: PathBuf) -> Self {
        let settings = Settings::preset(Profile::Strict, Approve::Never);
        let (color, opened) = (None, Mutex::default());
        Self { root, color, no_pager: false, json: false, quiet: false, verbose: false, settings, opened }
    }

    /// Takes the workspace, if it is open already: for the first who needs it.
    pub(crate) fn take_root(&self) -> Option<Root> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl From<GlobalArgs> for Global {
    fn from(args: GlobalArgs) -> Self {
        let GlobalArgs { root, color, no_pager, json, quiet, verbose } = args;
        Self { color, no_pager, json, quiet, verbose, ..Self::new(root) }
    }
}
