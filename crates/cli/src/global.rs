//! The flags of every command, and the settings.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use apply_patch_api::engine::Profile;
use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::files::Root;
use apply_patch_api::tools::hints::Caller;
use apply_patch_api::tools::settings::{Color, Layers, Settings};
use clap::Args;

use crate::args::{self, Inputs};
use crate::failure::Failure;
use crate::input::Input;
use crate::source::{self, Source};

/// The flags of every command, and the settings.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Workspace root; nothing outside it is touched [default: .]
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    pub(crate) root: Option<PathBuf>,
    /// When to use colours: auto, always or never [default: auto]
    #[arg(
        long, value_name = "WHEN", value_parser = args::choice::<Color>(), global = true,
        hide_possible_values = true,
    )]
    pub(crate) color: Option<Color>,
    /// Do not use a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Print exactly one JSON object, also when the command fails
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more, e.g. how each hunk was placed
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Who reads what is printed.
    #[arg(skip = Caller::Terminal)]
    pub(crate) caller: Caller,
    /// The settings; until they are read, the defaults.
    #[arg(skip = Settings::preset(Profile::default(), ApprovalPolicy::Never))]
    pub(crate) settings: Settings,
    /// The layers that the settings were made of.
    #[arg(skip)]
    pub(crate) layers: Layers,
    /// The input, if it was read already to find out where its paths begin.
    #[arg(skip)]
    pub(crate) read: Mutex<Option<Vec<Input>>>,
    /// The paths of the patch begin at the top of the work tree, which is the root, and the person
    /// is below.
    #[arg(skip)]
    pub(crate) is_below: bool,
    /// The workspace, if it is open already and not yet taken.
    #[arg(skip)]
    pub(crate) opened: Mutex<Option<Root>>,
}

impl Global {
    /// Returns the given root of the workspace, or else the working directory.
    pub(crate) fn root(&self) -> &Path {
        self.root.as_deref().unwrap_or(Path::new("."))
    }

    /// Opens the input that is named, or takes what was read of it.
    pub(crate) fn sources(&self, named: &Inputs) -> Result<Vec<Source>, Failure> {
        match self.read.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(read) => Ok(read.into_iter().map(|input| Source::Read(Box::new(input))).collect()),
            None => source::open_all(named),
        }
    }

    /// Takes the workspace if already open. Only the first caller gets the workspace.
    pub(crate) fn take_root(&self) -> Option<Root> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
