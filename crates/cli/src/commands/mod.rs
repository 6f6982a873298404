//! One command, one file.

mod apply;
mod cli;
mod convert;
mod doctor;
mod explain;
mod fit;
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
mod recover;
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
mod status;
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
use crate::below::Below;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::settings::Sources;
use crate::source::Source;
use crate::{completion, elsewhere, interrupt, json, outside, render, source};

fn plain(is_terminal: bool, stream: &impl anstream::stream::RawStream) -> bool {
    let is_forced = || std::env::var_os("CLICOLOR_FORCE").is_some();
    (!is_terminal && !is_forced()) || AutoStream::choice(stream) == ColorChoice::Never
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

/// Whether a command has anything to configure; `doctor` reads it itself, and reports what is wrong
/// with it.
fn uses_config(command: &Command) -> bool {
    match command {
        Command::Grammar(args) => return !args.fit.fit.is_empty(),
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

/// Answers a shell that completes a command line.
pub(crate) fn complete(shell: &OsStr, args: &[OsString]) -> Exit {
    completion::answer(shell, args, cli::with_apply())
}

/// Takes the top of the work tree as the root, where the paths of the patch begin there that a
/// person applies in the directory `here` below; returns whether they do.
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
        render::written(writeln!(
            std::io::stdout(),
            concat!("apply-patch ", env!("CARGO_PKG_VERSION"))
        ));
        return Exit::Done;
    }
    let json = args.iter().any(|arg| arg == "--json");
    let odd = args.iter().any(|arg| arg.to_string_lossy().chars().any(render::is_unsafe));
    let Cli { mut global, command } = match cli::parse(args) {
        Ok(cli) => cli,
        Err(error) => {
            let usage = error.use_stderr();
            if usage && json {
                json::failed(Failure::Usage(in_a_line(&error.to_string())).error(), false);
                return Exit::Usage;
            }
            let printed = if odd && usage {
                // The message has the arguments as they are.
                write!(std::io::stderr(), "{}", render::sanitize(&error.to_string()))
            } else {
                error.print()
            };
            // Nothing can be done about a closed standard error.
            if !usage {
                render::written(printed);
            }
            return if usage { Exit::Usage } else { Exit::Done };
        }
    };
    if matches!(command, Command::Undo(_) | Command::Redo(_) | Command::Trash(_)) {
        global.caller = Caller::Undo;
    }
    // A flag holds for what is wrong with the configuration too.
    color(global.color);
    match command.input() {
        // A program is not kept waiting.
        Some(None) if global.json && source::is_terminal() => {
            let message = "no patch is given: name a file, or `-` for standard input";
            return report(&Failure::Usage(message.into()), &global);
        }
        Some(None) if source::is_terminal() => render::message(source::READS_TERMINAL),
        _ if command.named().contains(&Path::new("-")) && source::is_terminal() => {
            render::message(source::READS_TERMINAL);
        }
        _ => {}
    }
    // Of what is not here, but where `-C` leads.
    let in_root = global.root.as_deref().and_then(|root| {
        let files = command.named();
        files.into_iter().find_map(|file| Some((file.to_owned(), source::in_root(root, file)?)))
    });
    if let Some((file, there)) = in_root {
        let [file, there] = [&file, &there].map(|path| hints::shell_word(&path.to_string_lossy()));
        let message = format!(
            "cannot open {file}: there is no such file here, but {there} is one; `-C` does not change \
             where the patch is looked for: name {there}"
        );
        return report(&Failure::Input(message), &global);
    }
    if uses_config(&command) {
        let mut sources = match Sources::load(global.root()) {
            Ok(sources) => sources,
            Err(failure) => return report(&failure, &global),
        };
        match goes_to_top(&mut global, &command, sources.root()) {
            Ok(false) => {}
            Ok(true) => match Sources::load(global.root()) {
                Ok(at_top) => sources = at_top,
                Err(failure) => return report(&failure, &global),
            },
            Err(failure) => return report(&failure, &global),
        }
        for problem in sources.broken() {
            if !command.needs_no_bounds() {
                return report(&Failure::Usage(problem.clone()), &global);
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
    }
    let hints = matches!(
        command,
        Command::Apply(_) | Command::Undo(_) | Command::Redo(_) | Command::Log(_)
    );
    let result = match command {
        Command::Apply(apply) => apply::apply(&global, &apply),
        Command::Check(check) => apply::check(&global, &check),
        Command::Parse(parse) => parse::parse(&global, &parse),
        Command::Explain(check) => explain::explain(&global, &check),
        Command::Git(args) => git::git(&global, &args),
        Command::Undo(undo) => undo::undo(&global, &undo),
        Command::Redo(redo) => undo::redo(&global, &redo),
        Command::Status(_) => status::status(&global),
        Command::Log(log) => history::log(&global, &log),
        Command::Show(show) => history::show(&global, &show),
        Command::Trash(command) => trash::trash(&global, &command),
        Command::Tool(args) => tool::tool(&global, &args),
        Command::Recover(_) => recover::recover(&global),
        Command::Uninstall(args) => uninstall::uninstall(&global, &args),
        Command::Ops(args) => ops::ops(&global, &args),
        Command::Convert(args) => convert::convert(&global, &args),
        Command::Grammar(args) => grammar::grammar(&global, &args),
        Command::ToolSpec(args) => grammar::tool_spec(&global, &args),
        Command::Prompt(args) => Ok(grammar::prompt(&args)),
        Command::Intercept(args) => intercept::intercept(&args),
        Command::Serve(args) => server::serve(&global, &args),
        Command::McpConfig(args) => mcp_config::config(&global, &args),
        Command::Doctor(_) => Ok(doctor::doctor(&mut global)),
        Command::Completions(args) => Ok(manual::completions(&args)),
        Command::Man(args) => {
            manual::man(&args, cli::shown().mut_subcommands(|command| command.hide(false)))
        }
        Command::Help(_) => unreachable!("BUG: the parser prints the help"),
    };
    let exit = result.unwrap_or_else(|failure| report(&failure, &global));
    if hints && exit == Exit::Done {
        status::hint_size(&global);
    }
    exit
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
    let elsewhere = elsewhere::directory(failure, global);
    if global.json {
        if let Some(dir) = elsewhere {
            error = error.also_first(Remedy::Set(Setting::Root(dir)));
        }
        json::failed(error, global.verbose);
    } else {
        render::failure(failure, &error, global);
        if let Some(dir) = elsewhere {
            render::message(&format!("relative to {dir}, there is such a file: use `-C {dir}`"));
        }
    }
    exit
}
