//! What every command knows: the shared flags, and the configuration that they leave open.

use std::path::PathBuf;

use crate::args::{GlobalArgs, When};
use crate::config::Config;

/// The shared flags and the configuration.
#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) root: PathBuf,
    pub(crate) color: Option<When>,
    pub(crate) no_pager: bool,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) config: Config,
}

impl From<GlobalArgs> for Global {
    fn from(args: GlobalArgs) -> Self {
        let GlobalArgs { root, color, no_pager, json, quiet, verbose } = args;
        Self { root, color, no_pager, json, quiet, verbose, config: Config::default() }
    }
}
