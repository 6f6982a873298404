//! Where the patch comes from, and what it is.

use std::path::{Path, PathBuf};

use apply_patch_api::tools::input::paths::{PathPattern, PathRules};
use apply_patch_api::tools::input::{InputError, InputForm, ReadAs};
use apply_patch_api::tools::received::Part;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::choice::choice;

#[derive(Debug, Clone, Args)]
pub(crate) struct InputArgs {
    /// File with the patch; standard input if it is `-` or left out
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// The same for commands that take several, as one patch.
#[derive(Debug, Clone, Args)]
pub(crate) struct Inputs {
    /// Files with the patch; standard input if one is `-` or none is named. Several are one patch,
    /// in order, of which all is applied or nothing
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Read the patch from the clipboard
    #[arg(long, conflicts_with = "files")]
    pub(crate) clipboard: bool,
}

impl std::convert::From<InputArgs> for Inputs {
    fn from(InputArgs { file }: InputArgs) -> Self {
        Self { files: file.into_iter().collect(), clipboard: false }
    }
}

impl Inputs {
    /// The first named file; `-` for the clipboard.
    pub(crate) fn first(&self) -> Option<&Path> {
        if self.clipboard { Some(Path::new("-")) } else { self.files.first().map(PathBuf::as_path) }
    }
}

/// The form of the input, for the commands that take more than a patch in the envelope.
#[derive(Debug, Args)]
pub(crate) struct From {
    /// Form of the input; `auto` finds the patch, diff or operations in it, also in a chat answer
    /// or JSON, and says what it left out
    #[arg(long, value_name = "FORM", default_value = "auto", value_parser = choice::<InputForm>())]
    pub(crate) from: InputForm,
    /// Of several patches in the input: take the N-th, or `all`, in order and as one
    #[arg(long, value_name = "N", value_parser = part)]
    pub(crate) part: Option<Part>,
    /// Of a diff: leave out so many leading parts of each path, as patch(1) does [default: the
    /// prefixes that git writes]
    #[arg(short = 'p', long, value_name = "N")]
    pub(crate) strip: Option<usize>,
    /// Of a diff: leave out the binary files whose bytes it does not have (`Binary files … differ`)
    #[arg(long)]
    pub(crate) skip_binary: bool,
    /// Of a diff: take hunks as they stand, whatever their numbers say; otherwise a diff is refused
    /// that seems to be cut off within its last hunk
    #[arg(long)]
    pub(crate) recount: bool,
    /// Apply the patch in reverse: from the files as it left them to the files that it was made for
    #[arg(short = 'R', long)]
    pub(crate) reverse: bool,
    /// Put all paths of the patch beneath this directory, after `-p`
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<String>,
    #[command(flatten)]
    pub(crate) patterns: Patterns,
}

impl From {
    /// The same for readers of the input.
    pub(crate) fn how(&self) -> Result<ReadAs, InputError> {
        Ok(ReadAs {
            form: self.from,
            part: self.part,
            strip: self.strip,
            skip_binary: self.skip_binary,
            recount: self.recount,
            reverse: self.reverse,
            paths: PathRules::new(self.directory.as_deref(), self.patterns.0.iter().cloned())?,
        })
    }
}

/// `--include` and `--exclude`, in the order of the command line: the first match decides.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patterns(Vec<PathPattern>);

const INCLUDE: &str = "include";
const EXCLUDE: &str = "exclude";

fn glob(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("GLOB").action(ArgAction::Append).help(help)
}

impl Args for Patterns {
    fn augment_args(command: Command) -> Command {
        command
            .arg(glob(
                INCLUDE,
                "Take only the files of the patch that match, after `-p` and `--directory`; `*` \
                 also matches `/`",
            ))
            .arg(glob(
                EXCLUDE,
                "Leave out the files of the patch that match; of several patterns, the first that \
                 matches decides",
            ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Patterns {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut patterns = Vec::new();
        for name in [INCLUDE, EXCLUDE] {
            let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
            let pattern = if name == INCLUDE { PathPattern::Include } else { PathPattern::Exclude };
            let places = matches.indices_of(name).into_iter().flatten();
            patterns.extend(places.zip(values.map(pattern)));
        }
        patterns.sort_by_key(|(place, _)| *place);
        Ok(Self(patterns.into_iter().map(|(_, pattern)| pattern).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn part(text: &str) -> Result<Part, String> {
    match text {
        "all" => Ok(Part::All),
        _ => text
            .parse()
            .ok()
            .filter(|&nth| nth > 0)
            .map(Part::Nth)
            .ok_or_else(|| "it is neither a number from 1 nor `all`".into()),
    }
}
