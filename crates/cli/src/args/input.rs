//! Where the patch comes from, and what it is.

use std::path::PathBuf;

use apply_patch_api::tools::input::{InputForm, ReadAs};
use apply_patch_api::tools::received::Part;
use clap::Args;

use super::choice::choice;

#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// File with the patch; standard input if it is `-` or left out
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// What the input is, for the commands that take more than a patch in the envelope.
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
    /// Apply the patch in reverse: from the files as it left them to the files that it was made for
    #[arg(short = 'R', long)]
    pub(crate) reverse: bool,
}

impl From {
    /// The same for those who read the input.
    pub(crate) fn how(&self) -> ReadAs {
        ReadAs {
            form: self.from,
            part: self.part,
            strip: self.strip,
            skip_binary: self.skip_binary,
            reverse: self.reverse,
        }
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
