//! `apply-patch parse`: the tree of a patch as JSON.

use apply_patch_api::engine::{Options, Patch, Profile};
use apply_patch_api::tools::input::ReadAs;
use clap::Args;

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::form;
use crate::global::Global;
use crate::{json, source};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch parse answer.patch | jq .data")]
pub(crate) struct ParseArgs {
    #[command(flatten)]
    pub(crate) input: args::InputArgs,
    /// Profile whose tolerance of odd spellings holds
    #[arg(
        long, value_name = "PROFILE", default_value = "standard",
        value_parser = args::choice::<Profile>(),
    )]
    pub(crate) profile: Profile,
    /// The environment that this is: a patch that names another one, or one at all without this, is
    /// refused
    #[arg(long, value_name = "ID")]
    pub(crate) environment: Option<String>,
}

pub(crate) fn parse(global: &Global, args: &ParseArgs) -> Result<Exit, Failure> {
    let input = source::read(args.input.file.as_deref())?;
    let mut options = Options::new(args.profile);
    options.parse.environment = args.environment.clone();
    options.parse.max_sections = global.settings.max_operations.0;
    let input = form::of(input, &ReadAs::default(), &options.parse)?;
    let patch = form::parsed(&input, &options)?;
    json::done(summary(&patch), &patch);
    Ok(Exit::Done)
}

fn summary(patch: &Patch) -> String {
    format!("{} file operations, {} hunks", patch.sections().len(), patch.hunk_count())
}
