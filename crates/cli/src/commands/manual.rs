//! `apply-patch completions`, `man` and `help`: from the definitions of the arguments, like the
//! help.

use std::path::PathBuf;

use clap::Args;

use crate::completion::Shell;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch completions bash > ~/.local/share/bash-completion/completions/apply-patch\n  \
    apply-patch completions zsh > ~/.zfunc/_apply-patch     with ~/.zfunc in $fpath before compinit\n  \
    apply-patch completions fish > ~/.config/fish/completions/apply-patch.fish\n  \
    apply-patch completions powershell >> $PROFILE")]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch man | man -l -\n  \
    apply-patch man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write the pages of all commands to this directory
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

/// The commands with the usage that their help shows, and not with a list of all options.
fn with_usage(command: clap::Command) -> clap::Command {
    let usage = command.clone().render_usage().to_string();
    command
        .override_usage(usage.trim_start_matches("Usage: ").to_owned())
        .mut_subcommands(with_usage)
}

pub(crate) fn man(args: &ManArgs, mut program: clap::Command) -> Result<Exit, Failure> {
    program.build();
    let program = with_usage(program);
    let failed = |what: &str, error: &std::io::Error| {
        Failure::Input(format!("cannot write {what}: {error}"))
    };
    match &args.dir {
        Some(dir) => clap_mangen::generate_to(program, dir)
            .map_err(|error| failed(&format!("the manual pages to {}", dir.display()), &error))?,
        None => {
            let mut out = Vec::new();
            let rendered = clap_mangen::Man::new(program).render(&mut out);
            rendered.map_err(|error| failed("the manual page", &error))?;
            render::raw(&out);
        }
    }
    Ok(Exit::Done)
}
