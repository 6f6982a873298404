//! `apply-patch completions` and `apply-patch man`: from the definitions of the arguments, like the help.

use clap::CommandFactory as _;

use crate::args::{self, Cli, Global};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;

pub(crate) fn completions(args: &args::Completions) -> Exit {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "apply-patch", &mut out);
    render::raw(&out);
    Exit::Done
}

pub(crate) fn man(global: &Global, args: &args::Man) -> Exit {
    let failed = |what: &str, error: &std::io::Error| Failure::Input(format!("cannot write {what}: {error}"));
    let result = match &args.dir {
        Some(dir) => clap_mangen::generate_to(Cli::command(), dir)
            .map_err(|error| failed(&format!("the manual pages to {}", dir.display()), &error)),
        None => {
            let mut out = Vec::new();
            clap_mangen::Man::new(Cli::command())
                .render(&mut out)
                .map(|()| render::raw(&out))
                .map_err(|error| failed("the manual page", &error))
        }
    };
    match result {
        Ok(()) => Exit::Done,
        Err(failure) => failure.report(global, None),
    }
}
