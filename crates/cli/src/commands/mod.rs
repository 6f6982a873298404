//! One command, one file.

mod apply;
mod parse;

use std::ffi::OsString;
use std::io::Write as _;

use clap::Parser as _;

use crate::args::{Cli, Command, When, with_default_command};
use crate::exit::Exit;

/// Reads the command line and runs what it says.
pub(crate) fn run(args: Vec<OsString>) -> Exit {
    let cli = match Cli::try_parse_from(with_default_command(args)) {
        Ok(cli) => cli,
        Err(error) => {
            let usage = error.use_stderr();
            // Nothing can be done about a closed standard output.
            let _ = error.print();
            return if usage { Exit::Usage } else { Exit::Done };
        }
    };
    match cli.global.color {
        When::Auto => {}
        When::Always => anstream::ColorChoice::Always.write_global(),
        When::Never => anstream::ColorChoice::Never.write_global(),
    }
    let exit = match cli.command {
        Command::Apply(apply) => apply::apply(&cli.global, &apply),
        Command::Check(check) => apply::check(&cli.global, &check),
        Command::Parse(parse) => parse::parse(&cli.global, &parse),
    };
    // A broken pipe is a quiet end.
    let _ = std::io::stdout().flush();
    exit
}
