//! One command, one file.

#[cfg(not(all(feature = "git", feature = "proposals", feature = "tools")))]
mod any_args;
mod apply;
mod cli;
mod convert;
mod doctor;
mod execute;
mod explain;
#[cfg(feature = "constrain")]
mod fit;
#[cfg(not(feature = "constrain"))]
#[path = "no_fit.rs"]
mod fit;
mod foreign;
#[cfg(feature = "git")]
mod git;
#[cfg(not(feature = "git"))]
#[path = "no_git.rs"]
mod git;
mod grammar;
mod history;
#[cfg(feature = "shell")]
mod intercept;
#[cfg(not(feature = "shell"))]
#[path = "no_shell.rs"]
mod intercept;
mod manual;
mod mcp_config;
mod ops;
mod parse;
#[cfg(feature = "proposals")]
mod proposals;
#[cfg(not(feature = "proposals"))]
#[path = "no_proposals.rs"]
mod proposals;
mod recover;
#[cfg(feature = "review")]
mod review;
#[cfg(not(feature = "review"))]
#[path = "no_review.rs"]
mod review;
mod review_args;
#[cfg(feature = "git")]
mod revision;
#[cfg(not(feature = "git"))]
#[path = "no_revision.rs"]
mod revision;
mod serve;
#[cfg(feature = "mcp")]
mod server;
#[cfg(not(feature = "mcp"))]
#[path = "no_server.rs"]
mod server;
#[cfg(feature = "tools")]
mod spec;
#[cfg(not(feature = "tools"))]
#[path = "no_spec.rs"]
mod spec;
mod status;
#[cfg(feature = "tools")]
mod tool;
#[cfg(not(feature = "tools"))]
#[path = "no_tool.rs"]
mod tool;
mod trash;
mod undo;
mod uninstall;
mod workspace;

pub(crate) use apply::options_without_base;
pub(crate) use workspace::session;

use apply_patch_api::engine::Remedy;
use apply_patch_api::engine::remedy::Setting;
use apply_patch_api::files::Root;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use anstream::{AutoStream, ColorChoice};
use apply_patch_api::tools::settings::{Color, Layer};
use apply_patch_api::tools::{Caller, bounds, hints};

use self::cli::{Cli, Command};
use crate::args::DiffFormat;
use crate::below::Below;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::settings::Sources;
use crate::source::Source;
use crate::{completion, elsewhere, interrupt, json, outside, render, source};

fn plain(is_terminal: bool, stream: &impl anstream::stream::RawStream) -> bool {
    (!is_terminal && std::env::var_os("CLICOLOR_FORCE").is_none())
        || AutoStream::choice(stream) == ColorChoice::Never
}

fn color(when: Option<Color>) {
    match when {
        // Nothing is coloured, as each stream would find out for each text.
        Some(Color::Auto)
            if plain(*outside::STDOUT_IS_TERMINAL, &std::io::stdout())
                && plain(*outside::STDERR_IS_TERMINAL, &std::io::stderr()) =>
        {
            ColorChoice::Never.write_global();
        }
        Some(Color::Auto) | None => {}
        Some(Color::Always) => ColorChoice::Always.write_global(),
        Some(Color::Never) => ColorChoice::Never.write_global(),
    }
}

/// Whether a command needs the configuration; `doctor` reads the files itself, and reports their
/// faults.
fn uses_config(command: &Command) -> bool {
    match command {
        Command::Grammar(args) => return !args.fit.fit.is_empty(),
        #[cfg(feature = "tools")]
        Command::ToolSpec(args) => return !args.fit.fit.is_empty(),
        _ => {}
    }
    !matches!(
        command,
        Command::Prompt(_)
            | Command::Intercept(_)
            | Command::McpConfig(_)
            | Command::Doctor(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Help(_)
    )
}

/// Answers a shell's request for completion.
pub(crate) fn complete(shell: &OsStr, args: &[OsString]) -> Exit {
    completion::answer(shell, args, cli::with_apply())
}

/// Takes the top of the work tree as the root, if the paths of a patch applied in the directory
/// `here` below begin at the top; returns whether they do.
fn goes_to_top(
    global: &mut Global,
    command: &Command,
    here: Option<&Root>,
) -> Result<bool, Failure> {
    if global.root.is_some() || global.caller != Caller::Terminal {
        return Ok(false);
    }
    let Some((named, from)) = command.patch() else { return Ok(false) };
    let Some(below) = here.and_then(Below::of) else { return Ok(false) };
    let sources = source::open_all(&named)?;
    let read = sources.into_iter().map(Source::read).collect::<Result<Vec<_>, _>>()?;
    let top = below.root_of(&read, from)?;
    global.is_below = top.is_some();
    global.root = top;
    global.read = Mutex::new(Some(read));
    Ok(global.is_below)
}

/// Reads the command line and runs the command.
pub(crate) fn run(args: Vec<OsString>) -> Exit {
    if cli::asks_version(&args) {
        return version();
    }
    let wants_json = args.iter().any(|arg| arg == "--json");
    let is_odd = args.iter().any(|arg| arg.to_string_lossy().chars().any(render::is_unsafe));
    match cli::parse(args) {
        Ok(Cli { global, command }) => carry_out(global, command),
        Err(error) => not_parsed(&error, wants_json, is_odd),
    }
}

fn version() -> Exit {
    render::written(writeln!(
        std::io::stdout(),
        concat!("apply-patch ", env!("CARGO_PKG_VERSION"))
    ));
    Exit::Done
}

/// Prints the help, or the error of the argument parser.
fn not_parsed(error: &clap::Error, wants_json: bool, is_odd: bool) -> Exit {
    if !error.use_stderr() {
        render::written(error.print());
        return Exit::Done;
    }
    if wants_json {
        json::failed(Failure::Usage(in_a_line(&error.to_string())).error(), false);
        return Exit::Usage;
    }
    // Nothing can be done about a closed standard error.
    let _ = if is_odd {
        // The message has the arguments as they are.
        write!(std::io::stderr(), "{}", render::sanitize(&error.to_string()))
    } else {
        error.print()
    };
    Exit::Usage
}

/// Runs a command, and reports its failure.
fn carry_out(mut global: Global, command: Command) -> Exit {
    if matches!(command, Command::Undo(_) | Command::Redo(_) | Command::Trash(_)) {
        global.caller = Caller::Undo;
    }
    // A flag holds for what is wrong with the configuration too.
    color(global.color);
    let hints = matches!(
        command,
        Command::Apply(_)
            | Command::Approve(_)
            | Command::Undo(_)
            | Command::Redo(_)
            | Command::Log(_)
    );
    let result = prepare(&mut global, &command).and_then(|()| dispatch(&mut global, command));
    let exit = result.unwrap_or_else(|failure| report(&failure, &global));
    if hints && exit == Exit::Done {
        status::hint_size(&global);
    }
    exit
}

/// Checks the named files, and reads the settings.
fn prepare(global: &mut Global, command: &Command) -> Result<(), Failure> {
    expect_terminal(global, command)?;
    refuse_file_of_root(global, command)?;
    if uses_config(command) {
        configure(global, command)?;
    }
    Ok(())
}

/// Tells a person about input from the terminal. A program is not kept waiting.
fn expect_terminal(global: &Global, command: &Command) -> Result<(), Failure> {
    let names_nothing = command.input() == Some(None);
    let names_stdin = command.named().contains(&Path::new("-"));
    if !(names_nothing || names_stdin) || !source::is_terminal() {
        return Ok(());
    }
    if names_nothing && global.json {
        let message = "no patch is given: name a file, or `-` for standard input";
        return Err(Failure::Usage(message.into()));
    }
    render::message(source::READS_TERMINAL);
    Ok(())
}

/// Refuses a file that is missing here, and exists in the directory of `-C`.
fn refuse_file_of_root(global: &Global, command: &Command) -> Result<(), Failure> {
    let Some(root) = global.root.as_deref() else { return Ok(()) };
    let named = command.named();
    let found = named.iter().find_map(|file| Some((*file, source::in_root(root, file)?)));
    let Some((file, there)) = found else { return Ok(()) };
    let file = hints::shell_word(&file.to_string_lossy());
    let there = hints::shell_word(&there.to_string_lossy());
    Err(Failure::Input(format!(
        "cannot open {file}: there is no such file here, but {there} is one; `-C` does not change \
         where the patch is looked for: name {there}"
    )))
}

/// Reads the settings, and opens their workspace.
fn configure(global: &mut Global, command: &Command) -> Result<(), Failure> {
    let mut sources = Sources::load(global.root())?;
    if goes_to_top(global, command, sources.root())? {
        sources = Sources::load(global.root())?;
    }
    for problem in sources.broken() {
        if !command.needs_no_bounds() {
            return Err(Failure::Usage(problem.clone()));
        }
        render::message(&format!(
            "warning: {problem}; the defaults hold now in place of what it says, and patches \
             and tools are refused until it is corrected"
        ));
    }
    let (flags, profile, approve) = command.flags();
    global.layers = sources.layers(Layer { color: global.color, ..flags });
    let (settings, notes) = global.layers.resolve(profile, approve);
    for note in notes.iter().filter(|note| !global.quiet && command.heeds(note.key)) {
        render::message(&format!("note: {note}"));
    }
    color(Some(settings.color));
    global.settings = settings;
    global.opened = sources.into_root().into();
    Ok(())
}

/// Hands each command its arguments.
fn dispatch(global: &mut Global, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Apply(args) => apply::apply(global, &args),
        Command::Check(args) => apply::check(global, &args),
        Command::Parse(args) => parse::parse(global, &args),
        Command::Explain(args) => explain::explain(global, &args),
        Command::Git(args) => git::git(global, &args),
        Command::Undo(args) => undo::undo(global, &args),
        Command::Redo(args) => undo::redo(global, &args),
        Command::Status(_) => status::status(global),
        Command::Log(args) => history::log(global, &args),
        Command::Review(args) => match args.proposal()? {
            Some(id) => proposals::review(global, id, args.format == DiffFormat::Html),
            None => review::review(global, &args),
        },
        Command::Show(args) => match args.proposal() {
            Some(id) => proposals::show(global, id, args.format == DiffFormat::Html),
            None => history::show(global, &args),
        },
        Command::Propose(args) => proposals::propose(global, &args),
        Command::Proposals(_) => proposals::list(global),
        Command::Approve(args) => proposals::approve(global, &args),
        Command::Decline(args) => proposals::decline(global, &args),
        Command::Trash(command) => trash::trash(global, &command),
        Command::Tool(args) => tool::tool(global, &args),
        Command::Recover(_) => recover::recover(global),
        Command::Uninstall(args) => uninstall::uninstall(global, &args),
        Command::Ops(args) => ops::ops(global, &args),
        Command::Convert(args) => convert::convert(global, &args),
        Command::Grammar(args) => grammar::grammar(global, &args),
        Command::ToolSpec(args) => spec::tool_spec(global, &args),
        Command::Prompt(args) => spec::prompt(&args),
        Command::Intercept(args) => intercept::intercept(&args),
        Command::Serve(args) => server::serve(global, &args),
        Command::McpConfig(args) => mcp_config::config(global, &args),
        Command::Doctor(_) => Ok(doctor::doctor(global)),
        Command::Completions(args) => Ok(manual::completions(&args)),
        Command::Man(args) => {
            manual::man(&args, cli::shown().mut_subcommands(|command| command.hide(false)))
        }
        Command::Help(_) => unreachable!("BUG: the parser prints the help"),
    }
}

/// The message of the argument parser in a line, without the usage: with the names of what is
/// missing, and what was probably meant.
fn in_a_line(message: &str) -> String {
    let lines = message.trim_start_matches("error: ").lines().map(str::trim);
    let said = lines.take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    said.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Prints what went wrong, for a person or for a program, and gives the exit code.
fn report(failure: &Failure, global: &Global) -> Exit {
    let mut error = bounds::within(failure.error().addressed(global.caller), &global.layers);
    let exit = interrupt::exit_of(&error);
    let elsewhere = elsewhere::find(failure, global);
    if global.json {
        if let Some(found) = elsewhere {
            error = error.also_first(Remedy::Set(Setting::Root(found.dir)));
        }
        json::failed(error, global.verbose);
    } else {
        render::failure(failure, &error, global);
        if let Some(found) = elsewhere {
            render::message(&found.words);
        }
    }
    exit
}
