//! One command, one file.

mod apply;
mod convert;
mod doctor;
mod explain;
mod grammar;
mod history;
mod intercept;
mod manual;
mod ops;
mod parse;
mod recover;
mod serve;
mod tool;
mod trash;
mod undo;

pub(crate) use apply::options;

use std::ffi::OsString;
use std::io::Write as _;

use patch_engine::transaction::{CommitOptions, Durability, TransactionId, Workspace};

use crate::args::{self, Command, Global, When, Writing};
use crate::config::Config;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{audit, json, render};

/// The workspace that `-C` names, under the policy of the configuration.
fn open(global: &Global) -> Result<Workspace, Failure> {
    Ok(Workspace::open(&global.root, global.config.policy(&args::Guard::default(), &[])?)?)
}

/// Recovers what an earlier run left half way, before a command that only looks.
///
/// What cannot be recovered here is said by the commands that write.
fn tidy(global: &Global, workspace: &Workspace) {
    let recovered = workspace.recover_if_idle().unwrap_or_default();
    if !recovered.is_empty() {
        audit::recovered(workspace, &recovered);
        if !global.quiet {
            render::recovered(&recovered);
        }
    }
}

/// The commit options that the command line asks for.
fn commit_options(global: &Global, tool: &str, writing: &Writing) -> CommitOptions {
    let durability = match global.config.settle("durability", writing.durability, None) {
        Some(args::Durability::Full) | None => Durability::Full,
        Some(args::Durability::Process) => Durability::Process,
        Some(args::Durability::None) => Durability::None,
    };
    CommitOptions { tool: Some(tool.into()), durability, ..CommitOptions::default() }
}

/// Reads a transaction's name.
fn id(text: &str) -> Result<TransactionId, Failure> {
    text.parse().map_err(|error| Failure::Usage(format!("{error}; `apply-patch log` lists them")))
}

fn color(when: Option<When>) {
    match when {
        Some(When::Auto) | None => {}
        Some(When::Always) => anstream::ColorChoice::Always.write_global(),
        Some(When::Never) => anstream::ColorChoice::Never.write_global(),
    }
}

/// Whether a command has anything to configure; `doctor` reads it itself, and says what is wrong with it.
fn uses_config(command: &Command) -> bool {
    !matches!(
        command,
        Command::Grammar(_)
            | Command::ToolSpec(_)
            | Command::Prompt(_)
            | Command::Intercept(_)
            | Command::McpConfig(_)
            | Command::Doctor(_)
            | Command::Completions(_)
            | Command::Man(_)
    )
}

/// Reads the command line and runs what it says.
pub(crate) fn run(args: Vec<OsString>) -> Exit {
    if args::asks_version(&args) {
        // A broken pipe is a quiet end.
        let _ = writeln!(std::io::stdout(), concat!("apply-patch ", env!("CARGO_PKG_VERSION")));
        return Exit::Done;
    }
    let json = args.iter().any(|arg| arg == "--json");
    let mut cli = match args::parse(args) {
        Ok(cli) => cli,
        Err(error) => {
            let usage = error.use_stderr();
            if usage && json {
                let message = error.to_string();
                let message = message.trim_start_matches("error: ").lines().next().unwrap_or_default();
                json::print(&json::Failure::new(&Failure::Usage(message.to_owned())).envelope());
                return Exit::Usage;
            }
            // Nothing can be done about a closed standard output.
            let _ = error.print();
            return if usage { Exit::Usage } else { Exit::Done };
        }
    };
    // A flag holds for what is wrong with the configuration too.
    color(cli.global.color);
    if uses_config(&cli.command) {
        match Config::load(&cli.global.root, cli.global.quiet) {
            Ok(config) => cli.global.config = config,
            Err(failure) => return failure.report(&cli.global, None),
        }
        color(cli.global.config.settle("color", cli.global.color, None));
    }
    let exit = match cli.command {
        Command::Apply(apply) => apply::apply(&cli.global, &apply),
        Command::Check(check) => apply::check(&cli.global, &check),
        Command::Parse(parse) => parse::parse(&cli.global, &parse),
        Command::Explain(check) => explain::explain(&cli.global, &check),
        Command::Undo(undo) => undo::undo(&cli.global, &undo),
        Command::Redo(redo) => undo::redo(&cli.global, &redo),
        Command::Log(log) => history::log(&cli.global, &log),
        Command::Show(show) => history::show(&cli.global, &show),
        Command::Trash(command) => trash::trash(&cli.global, &command),
        Command::Tool(args) => tool::tool(&cli.global, &args),
        Command::Recover(recover) => recover::recover(&cli.global, &recover),
        Command::Ops(args) => ops::ops(&cli.global, &args),
        Command::Convert(args) => convert::convert(&cli.global, &args),
        Command::Grammar(args) => grammar::grammar(&args),
        Command::ToolSpec(args) => grammar::tool_spec(&args),
        Command::Prompt(args) => grammar::prompt(&args),
        Command::Intercept(args) => intercept::intercept(&args),
        Command::Serve(args) => serve::serve(&cli.global, &args),
        Command::McpConfig(args) => serve::config(&cli.global, &args),
        Command::Doctor(_) => doctor::doctor(&mut cli.global),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&cli.global, &args),
    };
    // A broken pipe is a quiet end.
    let _ = std::io::stdout().flush();
    exit
}
