//! `apply-patch completions`, `man` and `help`: from the definitions of the arguments, like the
//! help.

use std::path::PathBuf;

use clap::Args;

use crate::completion::CompletionShell;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{outside, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    mkdir -p ~/.local/share/bash-completion/completions\n  \
    apply-patch completions bash > ~/.local/share/bash-completion/completions/apply-patch\n  \
    mkdir -p ~/.zfunc                                  # with ~/.zfunc in $fpath before compinit\n  \
    apply-patch completions zsh > ~/.zfunc/_apply-patch\n  \
    mkdir -p ~/.config/fish/completions\n  \
    apply-patch completions fish > ~/.config/fish/completions/apply-patch.fish\n  \
    apply-patch completions powershell >> $PROFILE")]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: CompletionShell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch man | man -l -\n  \
    apply-patch man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write the pages of all commands to this directory, which is made if it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// Command, and one of its own commands
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Exit {
    render::raw(&args.shell.script());
    Exit::Done
}

pub(crate) fn man(args: &ManArgs, program: clap::Command) -> Result<Exit, Failure> {
    let pages = render::manual(program);
    match &args.dir {
        Some(dir) => {
            for (file, page) in pages {
                outside::write_into(dir, &file, &page).map_err(|error| {
                    let dir = dir.display();
                    Failure::Input(format!("cannot write the manual pages to {dir}: {error}"))
                })?;
            }
        }
        None => render::raw(pages[0].1.as_bytes()),
    }
    Ok(Exit::Done)
}
