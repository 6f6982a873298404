//! The command line as written. Nothing is decided here.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use apply_patch_api::engine::Profile;
use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::tools::settings::Layer;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use super::apply::{ApplyArgs, CheckArgs};
use super::convert::ConvertArgs;
use super::doctor::DoctorArgs;
use super::foreign;
use super::git::GitArgs;
use super::grammar::GrammarArgs;
use super::history::{LogArgs, ShowArgs};
use super::intercept::InterceptArgs;
use super::manual::{CompletionsArgs, HelpArgs, ManArgs};
use super::mcp_config::McpConfigArgs;
use super::ops::OpsArgs;
use super::parse::ParseArgs;
use super::proposals::{ApproveArgs, DeclineArgs, ProposalsArgs, ProposeArgs};
use super::recover::RecoverArgs;
use super::review_args::ReviewArgs;
use super::serve::{APPROVE, ServeArgs};
use super::spec::{PromptArgs, ToolSpecArgs};
use super::status::StatusArgs;
use super::tool::ToolArgs;
use super::trash::{PurgeArgs, TrashCommand};
use super::undo::{RedoArgs, UndoArgs};
use super::uninstall::UninstallArgs;
use crate::approve;
use crate::args::{self, Inputs};
use crate::global::Global;
use crate::outside;

/// Applies the patches of language models: all or nothing, never a guess, undoable.
#[derive(Debug, Parser)]
#[command(
    name = "apply-patch",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    override_usage = "apply-patch [OPTIONS] [FILE]...\n       apply-patch [OPTIONS] <COMMAND>",
    after_help = "More commands: approve, completions, convert, decline, grammar, intercept, man,\n\
        ops, parse, prompt, propose, tool, tool-spec. See `apply-patch help COMMAND`.\n\
        Exit codes: 0 done, 1 does not parse or apply, 2 usage, 3 refused, 4 stale,\n\
        5 I/O or lock, 6 changed in part, 7 not a call of apply_patch (`intercept`),\n\
        8 not verified, 129/130/143 interrupted."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Apply a patch to the workspace; the default command
    Apply(Box<ApplyArgs>),
    /// Check whether a patch would apply; nothing is written
    Check(Box<CheckArgs>),
    /// Print the syntax tree of a patch as JSON; no other file is read
    #[command(hide = true)]
    Parse(ParseArgs),
    /// Explain what each hunk does, where it goes and why
    Explain(Box<CheckArgs>),
    /// Apply a patch to a commit in git, without a checkout
    Git(Box<GitArgs>),
    /// Propose a patch for a person to approve later; nothing is changed
    #[command(hide = true)]
    Propose(Box<ProposeArgs>),
    /// List the proposals that wait, and those that were decided
    Proposals(ProposalsArgs),
    /// Approve a proposal: exactly what was shown is committed
    #[command(hide = true)]
    Approve(ApproveArgs),
    /// Decline a proposal, or withdraw an own one
    #[command(hide = true)]
    Decline(DeclineArgs),
    /// Undo a transaction: its files get back their bytes and modes
    Undo(UndoArgs),
    /// Redo what was undone
    Redo(RedoArgs),
    /// Show what is unfinished, the last change and the history's size
    Status(StatusArgs),
    /// List transactions, newest first
    Log(LogArgs),
    /// Show a transaction with its diff
    Show(ShowArgs),
    /// Keep, revert or comment on what was changed, hunk by hunk
    Review(Box<ReviewArgs>),
    /// List, show, restore or purge displaced files
    #[command(
        subcommand,
        after_help = "Examples:\n  \
            apply-patch trash list\n  \
            apply-patch trash restore 9f3ac1d2/0\n  \
            apply-patch trash purge --keep 30d"
    )]
    Trash(TrashCommand),
    /// Call a file tool with JSON, as an agent does
    #[command(hide = true)]
    Tool(Box<ToolArgs>),
    /// Finish or revert a transaction that was interrupted
    Recover(RecoverArgs),
    /// Apply `apply_patch_call` items of the Responses API
    #[command(hide = true)]
    Ops(Box<OpsArgs>),
    /// Convert a patch to another form
    #[command(hide = true)]
    Convert(Box<ConvertArgs>),
    /// Print the grammar of patches, for constrained decoding
    #[command(hide = true)]
    Grammar(GrammarArgs),
    /// Print the request fields that offer the tool to a model
    #[command(hide = true)]
    ToolSpec(ToolSpecArgs),
    /// Print the instructions for the model
    #[command(hide = true)]
    Prompt(PromptArgs),
    /// Check whether a command is a call of apply_patch, and print its patch as JSON; nothing is
    /// run
    #[command(hide = true)]
    Intercept(InterceptArgs),
    /// Serve the file tools over MCP, on standard input and output
    Serve(Box<ServeArgs>),
    /// Print what a client needs to start the MCP server
    McpConfig(McpConfigArgs),
    /// Check the installation, the workspace and the settings
    Doctor(DoctorArgs),
    /// Remove the history of this project, keys or settings
    Uninstall(UninstallArgs),
    /// Print completions for a shell
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    #[command(hide = true)]
    Man(ManArgs),
    /// Print this help, or that of a command
    Help(HelpArgs),
}

impl Command {
    /// Whether the command reads a patch, and the first file named for the patch.
    pub(super) fn input(&self) -> Option<Option<&Path>> {
        match self {
            Self::Apply(args) => Some(args.input.first()),
            Self::Check(args) | Self::Explain(args) => Some(args.input.first()),
            Self::Parse(args) => Some(args.input.file.as_deref()),
            Self::Ops(args) => Some(args.input.file.as_deref()),
            Self::Convert(args) => Some(args.input.file.as_deref()),
            #[cfg(feature = "git")]
            Self::Git(args) if !args.batch => Some(args.input.first()),
            #[cfg(feature = "proposals")]
            Self::Propose(args) => Some(args.input.first()),
            _ => None,
        }
    }

    /// The files named for the patch.
    pub(super) fn named(&self) -> Vec<&Path> {
        let inputs = match self {
            Self::Apply(args) => &args.input,
            Self::Check(args) | Self::Explain(args) => &args.input,
            #[cfg(feature = "git")]
            Self::Git(args) if !args.batch => &args.input,
            #[cfg(feature = "proposals")]
            Self::Propose(args) => &args.input,
            _ => return self.input().flatten().into_iter().collect(),
        };
        inputs.files.iter().map(PathBuf::as_path).collect()
    }

    /// The patch that the command reads whole before anything else, if its paths may start at the
    /// top of the work tree.
    pub(super) fn patch(&self) -> Option<(Inputs, &args::From)> {
        match self {
            // For a patch read in a sandbox, or shown live, the root is known before.
            Self::Apply(args) if args.sandbox || args.stream => None,
            Self::Apply(args) => Some((args.input.clone(), &args.from)),
            Self::Check(args) | Self::Explain(args) => Some((args.input.clone(), &args.from)),
            Self::Convert(args) => Some((args.input.clone().into(), &args.from)),
            #[cfg(feature = "proposals")]
            Self::Propose(args) => Some((args.input.clone(), &args.from)),
            _ => None,
        }
    }

    /// Whether a person can use the command while the bounds of the workspace are unreadable: it
    /// looks at what was done, or undoes it. Everything else could change, or show, what they
    /// forbid.
    pub(super) fn needs_no_bounds(&self) -> bool {
        matches!(
            self,
            Self::Undo(_)
                | Self::Redo(_)
                | Self::Review(_)
                | Self::Status(_)
                | Self::Log(_)
                | Self::Show(_)
                | Self::Recover(_)
                | Self::Uninstall(_)
                | Self::Trash(
                    TrashCommand::List { .. } | TrashCommand::Show { .. } | TrashCommand::Purge(_)
                )
        )
    }

    /// The settings from its flags, its default profile, and who approves by default.
    pub(super) fn flags(&self) -> (Layer, Profile, ApprovalPolicy) {
        let layer = match self {
            Self::Apply(args) => {
                args.checks.over(applying(args.approve, &args.rules, &args.writing))
            }
            #[cfg(feature = "git")]
            Self::Git(args) => applying(args.approve, &args.rules, &args.writing),
            #[cfg(feature = "proposals")]
            Self::Propose(args) => args.formatting.over(args.writing.over(args.rules.layer())),
            #[cfg(feature = "proposals")]
            Self::Approve(args) => args.writing.over(Layer::default()),
            #[cfg(feature = "proposals")]
            Self::Decline(args) => {
                Layer { lock_timeout: args.waiting.lock_timeout, ..Layer::default() }
            }
            Self::Ops(args) => applying(args.caution.approve, &args.rules, &args.writing),
            Self::Serve(args) => args.layer(),
            #[cfg(feature = "tools")]
            Self::Tool(args) => Layer {
                approve: args.caution.approve,
                ..args.writing.over(args::allowing(&args.allow))
            },
            Self::Check(args) | Self::Explain(args) => args.formatting.over(args.rules.layer()),
            Self::Convert(args) => args.rules.layer(),
            Self::Undo(args) => args.writing.over(Layer::default()),
            Self::Review(args) => args.writing.over(Layer::default()),
            Self::Redo(args) => args.writing.over(Layer::default()),
            Self::Recover(args) => args.writing.over(Layer::default()),
            Self::Uninstall(args) => {
                Layer { lock_timeout: args.waiting.lock_timeout, ..Layer::default() }
            }
            Self::Trash(
                TrashCommand::Restore { writing: args, .. }
                | TrashCommand::Purge(PurgeArgs { writing: args, .. }),
            ) => args.over(Layer::default()),
            _ => Layer::default(),
        };
        let profile =
            if matches!(self, Self::Ops(_)) { Profile::Codex } else { Profile::default() };
        let approve = match self {
            Self::Apply(_) => approve::preset(),
            Self::Serve(_) => APPROVE,
            _ => ApprovalPolicy::Never,
        };
        (layer, profile, approve)
    }

    /// Whether a setting has an effect on the command: only then is an overruled value reported.
    pub(super) fn heeds(&self, key: &str) -> bool {
        let plans = matches!(
            self,
            Self::Apply(_)
                | Self::Check(_)
                | Self::Explain(_)
                | Self::Convert(_)
                | Self::Ops(_)
                | Self::Propose(_)
        );
        match key {
            "profile" => plans || matches!(self, Self::Tool(_) | Self::Serve(_)),
            "names" | "hard-links" => !matches!(self, Self::Parse(_)),
            "durability" => !matches!(
                self,
                Self::Check(_) | Self::Explain(_) | Self::Convert(_) | Self::Log(_) | Self::Show(_)
            ),
            "max-file-size" | "max-operations" => {
                plans || matches!(self, Self::Git(_) | Self::Tool(_) | Self::Serve(_))
            }
            "approve" => {
                matches!(self, Self::Apply(_) | Self::Ops(_) | Self::Tool(_) | Self::Serve(_))
            }
            _ => plans,
        }
    }
}

/// The settings from the flags of a command for applying a patch.
fn applying(
    approve: Option<ApprovalPolicy>,
    rules: &args::Rules,
    writing: &args::Writing,
) -> Layer {
    Layer { approve, ..writing.over(rules.layer()) }
}

/// Whether the version is all that is asked for. Building the definitions takes a hundred times as
/// long as printing the version.
pub(crate) fn asks_version(args: &[OsString]) -> bool {
    matches!(args, [_, only] if only == "--version" || only == "-V")
}

/// Reads the command line.
pub(crate) fn parse(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    let (args, by_default) = with_default_command(args);
    // Words that follow are not arguments of `apply`.
    if let Some(word) = by_default.as_ref().filter(|word| is_mistaken(word)) {
        return Err(unknown(word));
    }
    let cli = match parse_everyday(&args) {
        Some(cli) => cli,
        None => parse_whole(args.clone()).map_err(|error| explained(error, &args))?,
    };
    match cli.command.input().flatten().map(Path::as_os_str) {
        Some(word) if by_default.is_some() && is_mistaken(word) => Err(unknown(word)),
        _ => Ok(cli),
    }
}

/// Reads a command line with the definitions of all commands.
fn parse_whole(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    let cli = match Cli::try_parse_from(&args) {
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return shown()
                .try_get_matches_from(args)
                .and_then(|matches| Cli::from_arg_matches(&matches));
        }
        cli => cli?,
    };
    let Command::Help(help) = &cli.command else { return Ok(cli) };
    let mut args = vec![OsString::from("apply-patch")];
    let mut within = Cli::command();
    for word in &help.command {
        let Some(command) = within.find_subcommand(word).cloned() else {
            return Err(unknown(word.as_ref()));
        };
        within = command;
        args.push(word.into());
    }
    args.push("--help".into());
    parse_whole(args)
}

/// The definitions as the help shows them: with what is used most of `apply`, and without what a
/// command does not heed.
pub(super) fn shown() -> clap::Command {
    /// Commands that print a text, and open no workspace.
    const TEXTS: [&str; 5] = ["prompt", "intercept", "completions", "man", "help"];
    /// The global options without an effect on them.
    const UNUSED: [&str; 4] = ["root", "no_pager", "json", "verbose"];
    /// Of `apply`.
    const USUAL: [&str; 7] =
        ["from", "reverse", "dry_run", "check", "interactive", "stat", "profile"];
    let mut globals = Global::augment_args(clap::Command::new("globals"));
    globals = globals.mut_args(|arg| arg.hide(true));
    let unused: Vec<_> = globals
        .get_arguments()
        .filter(|arg| UNUSED.contains(&arg.get_id().as_str()))
        .cloned()
        .collect();
    let command = TEXTS.into_iter().fold(with_apply(), |command, name| {
        command.mut_subcommand(name, |command| command.args(unused.iter().cloned()))
    });
    command.mut_args(|arg| {
        let usual = USUAL.contains(&arg.get_id().as_str());
        let arg = if arg.is_global_set() || usual { arg } else { arg.hide(true) };
        match arg.get_id().as_str() {
            "from" => arg.help("Form of the input; `auto` finds out").hide_possible_values(true),
            "reverse" => arg.help("Apply the patch in reverse"),
            "check" => arg.help("Tell by the exit code whether it would apply"),
            "interactive" => arg.help("Ask about every file and hunk"),
            "stat" => arg.help("Print how many lines change in each file"),
            "profile" => arg
                .help("Preset of rules, as codex [default: standard]")
                .hide_possible_values(true)
                .help_heading(None::<&str>),
            _ => arg,
        }
    })
}

/// The definitions with those of `apply` beside the commands, where it is the default.
pub(super) fn with_apply() -> clap::Command {
    let apply = ApplyArgs::augment_args(clap::Command::new("apply"));
    Cli::command().args(apply.get_arguments())
}

/// Whether a word can only be meant as a command: no file has this name, and the word looks like no
/// path.
fn is_mistaken(word: &OsStr) -> bool {
    let is_name = word.to_str().is_some_and(|word| {
        !word.is_empty()
            && !word.starts_with('-')
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    });
    is_name && !outside::exists(Path::new(word))
}

/// Words that people try as commands, from git and other tools, and what they mean here.
const MEANT: &[(&[&str], &str)] = &[
    (
        &["list", "ls"],
        "`apply-patch log` lists what was applied, `apply-patch trash list` the displaced files",
    ),
    (&["history", "reflog"], "`apply-patch log` lists what was applied"),
    (
        &["revert", "rollback", "reset", "restore", "unapply"],
        "`apply-patch undo` undoes the last change, `apply-patch -R FILE` applies a patch in \
         reverse, `apply-patch trash restore ENTRY` brings one file back",
    ),
    (
        &["diff", "preview"],
        "`apply-patch -n FILE` shows the diff of a patch, `apply-patch show last` that of the last \
         change",
    ),
    (
        &["clean", "remove", "delete", "gc", "prune", "purge"],
        "`apply-patch trash purge` removes displaced files for good, `apply-patch uninstall` the \
         whole history",
    ),
    (&["stat"], "`apply-patch -n --stat FILE` prints how many lines a patch changes"),
    (&["validate", "verify", "test"], "`apply-patch check FILE` tells whether a patch would apply"),
    (&["config", "settings"], "`apply-patch doctor` shows the settings"),
    (&["version"], "`apply-patch --version` prints it"),
    (
        &["install", "init", "setup"],
        "nothing has to be set up; `apply-patch mcp-config --client generic` prints what a client of \
         the server needs, `apply-patch doctor` checks the installation",
    ),
];

/// Returns whether a name is so much like a word that a typo is likely. A command that removes
/// things is never guessed.
fn is_near(word: &str, name: &str) -> bool {
    let most = if word.len() < 5 { 1 } else { 1 + word.len() / 4 };
    let is_typo = strsim::osa_distance(word, name) <= most;
    let is_start = word.len() > 1 && name.starts_with(word);
    (is_typo || is_start) && (name != "uninstall" || word.starts_with("un"))
}

/// The error about an unknown command.
fn unknown(word: &OsStr) -> clap::Error {
    let word = word.to_string_lossy();
    let commands = Cli::command();
    let nearest = commands
        .get_subcommands()
        .map(clap::Command::get_name)
        .filter(|name| is_near(&word, name))
        .min_by_key(|name| strsim::osa_distance(&word, name));
    let meant = MEANT.iter().find(|(words, _)| words.contains(&&*word));
    let message = match (meant, nearest) {
        (Some((_, hint)), _) => format!("unknown command or file `{word}`; {hint}\n"),
        (None, Some(name)) if *name == *word => {
            format!("a command comes before its flags: `apply-patch {name} …`\n")
        }
        (None, Some(name)) => {
            format!("unknown command or file `{word}`; did you mean `{name}`?\n")
        }
        (None, None) => {
            format!("unknown command or file `{word}`; `apply-patch help` lists the commands\n")
        }
    };
    clap::Error::raw(ErrorKind::InvalidSubcommand, message)
}

/// Says more about an error of the argument parser: the flag or command meant by an unknown one,
/// and the choices for a missing argument. For flags the parser alone would name one that has
/// little to do with what was written.
fn explained(error: clap::Error, args: &[OsString]) -> clap::Error {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(all)) => all.first().cloned(),
        _ => None,
    };
    let Some(argument) = argument else { return error };
    let mut commands = with_apply();
    commands.build();
    // In the order of the parser: a subcommand of a subcommand is within.
    let mut command = &commands;
    for word in args.iter().skip(1).filter_map(|arg| arg.to_str()) {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    match error.kind() {
        // Otherwise there is a word too many.
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let hint = option_hint(&commands, command, &argument);
            let message = format!("unknown option `{argument}`; {hint}\n");
            clap::Error::raw(ErrorKind::UnknownArgument, message)
        }
        ErrorKind::InvalidValue if argument.starts_with("--fuzz ") && is_number(&error) => {
            clap::Error::raw(ErrorKind::InvalidValue, format!("{}\n", foreign::FUZZ))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = command.get_arguments().find(|arg| {
                arg.get_long().is_some_and(|long| argument.starts_with(&format!("--{long} ")))
            });
            let values: Vec<_> =
                missing.into_iter().flat_map(clap::Arg::get_possible_values).collect();
            if values.is_empty() {
                return error;
            }
            let values: Vec<_> = values.iter().map(|value| value.get_name()).collect();
            let message = format!("`{argument}` is missing, one of {}\n", values.join(", "));
            clap::Error::raw(ErrorKind::MissingRequiredArgument, message)
        }
        _ => error,
    }
}

/// Returns whether a number was given for a value that is none.
fn is_number(error: &clap::Error) -> bool {
    match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.parse::<u32>().is_ok(),
        _ => false,
    }
}

/// The option or the command meant by an unknown option of a command.
fn option_hint(commands: &clap::Command, command: &clap::Command, argument: &str) -> String {
    let meant = match command.get_name() {
        "apply" | "check" => foreign::FLAGS.iter().find(|(flags, _)| flags.contains(&argument)),
        "git" => foreign::BY_GIT.iter().find(|(flags, _)| flags.contains(&argument)),
        _ => None,
    };
    if let Some((_, hint)) = meant {
        return (*hint).to_owned();
    }
    let word = argument.strip_prefix("--").unwrap_or_default();
    if commands.find_subcommand(word).is_some() {
        return format!("it is a command: `apply-patch {word} …`");
    }
    let nearest = command
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .filter(|name| is_near(word, name))
        .min_by_key(|name| strsim::osa_distance(word, name));
    match nearest {
        Some(name) => format!("did you mean `--{name}`?"),
        None => {
            let name = command.get_bin_name().unwrap_or("apply-patch");
            format!("`{name} --help` lists the options")
        }
    }
}

/// Reads a valid command line of an everyday command: building the definitions of all others takes
/// half of the instructions of a small run. Help and errors come from the whole definition.
fn parse_everyday(args: &[OsString]) -> Option<Cli> {
    match args.get(1)?.to_str()? {
        "apply" => parse_alone(args, "apply", |args| Command::Apply(Box::new(args))),
        "check" => parse_alone(args, "check", |args| Command::Check(Box::new(args))),
        "log" => parse_alone(args, "log", Command::Log),
        "redo" => parse_alone(args, "redo", Command::Redo),
        "show" => parse_alone(args, "show", Command::Show),
        "status" => parse_alone(args, "status", Command::Status),
        "undo" => parse_alone(args, "undo", Command::Undo),
        _ => None,
    }
}

/// Reads a valid command line of the command `name`, which has these arguments.
fn parse_alone<A: Args>(
    args: &[OsString],
    name: &'static str,
    make: impl FnOnce(A) -> Command,
) -> Option<Cli> {
    let one = A::augment_args(clap::Command::new(name));
    let command = Global::augment_args(clap::Command::new("apply-patch")).subcommand(one);
    let mut matches = command.try_get_matches_from(args).ok()?;
    let (_, mut one) = matches.remove_subcommand()?;
    let global = Global::from_arg_matches_mut(&mut matches).ok()?;
    Some(Cli { global, command: make(A::from_arg_matches_mut(&mut one).ok()?) })
}

/// Puts `apply` before arguments without a command. Then also returns the first argument other than
/// a global option, or an empty one.
fn with_default_command(mut args: Vec<OsString>) -> (Vec<OsString>, Option<OsString>) {
    let mut at = 1;
    while let Some(arg) = args.get(at).and_then(|arg| arg.to_str()) {
        match arg {
            "-C" | "--root" | "--color" => at += 2,
            "--json" | "-q" | "--quiet" | "-v" | "--verbose" | "--no-pager" => at += 1,
            _ if arg.starts_with("--root=") || arg.starts_with("--color=") => at += 1,
            _ if arg.starts_with("-C") => at += 1,
            "-h" | "--help" | "-V" | "--version" => return (args, None),
            _ if Command::has_subcommand(arg) => return (args, None),
            _ => break,
        }
    }
    let word = args.get(at).cloned().unwrap_or_default();
    args.insert(1.min(args.len()), "apply".into());
    (args, Some(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_version_is_that_of_the_definitions() {
        for only in ["--version", "-V"] {
            let args: Vec<OsString> = vec!["apply-patch".into(), only.into()];
            assert!(asks_version(&args));
            let version = Cli::try_parse_from(args).expect_err("a version is not a command");
            assert_eq!(
                version.to_string(),
                concat!("apply-patch ", env!("CARGO_PKG_VERSION"), "\n")
            );
        }
        assert!(!asks_version(&["apply-patch".into(), "-V".into(), "x".into()]));
    }

    #[test]
    fn an_everyday_command_means_the_same_without_the_others() {
        for line in [
            "apply-patch apply",
            "apply-patch apply -n x.patch --json -C d",
            "apply-patch apply --profile codex --durability process --allow a --allow b -",
            "apply-patch --no-pager apply -n --format html --from auto x",
            "apply-patch apply --no-pager -n --format html --from auto x",
            "apply-patch apply -i --allow-delete false --allow-move=true --color never",
            "apply-patch apply -i -n",
            "apply-patch apply --format html --stat",
            "apply-patch apply --help",
            "apply-patch apply --version",
            "apply-patch apply --no-such-flag",
            "apply-patch apply --durability some",
            "apply-patch --json apply x",
            "apply-patch check x --profile codex",
            "apply-patch check --no-such-flag",
            "apply-patch log",
            "apply-patch log -n 3 -p --json -C d",
            "apply-patch log --since yesterday",
            "apply-patch log -h",
            "apply-patch show last --json",
            "apply-patch show last --no-such-flag",
            "apply-patch status --json",
            "apply-patch status x",
            "apply-patch undo -n --carry last",
            "apply-patch undo --since x --session y",
            "apply-patch redo",
            "apply-patch explain x",
            "apply-patch trash list",
        ] {
            let args: Vec<_> = line.split(' ').map(OsString::from).collect();
            let whole = Cli::try_parse_from(&args).ok();
            let fast = parse_everyday(&args);
            let everyday = ["apply", "check", "log", "redo", "show", "status", "undo"];
            let is_everyday = everyday.iter().any(|command| args[1] == *command);
            assert_eq!(fast.is_some(), whole.is_some() && is_everyday, "{line}");
            if let Some(fast) = fast {
                assert_eq!(format!("{fast:?}"), format!("{:?}", whole.expect("checked")), "{line}");
            }
        }
    }

    #[test]
    fn the_help_names_the_commands_that_it_does_not_list() {
        let hidden: Vec<_> = Cli::command()
            .get_subcommands()
            .filter(|command| command.is_hide_set())
            .map(|command| command.get_name().to_owned())
            .collect();
        let mut sorted = hidden.clone();
        sorted.sort_unstable();
        let after = Cli::command().get_after_help().expect("it has one").to_string();
        let (named, _) = after.split_once(". See `apply-patch help").expect("a sentence of names");
        let named = named.trim_start_matches("More commands: ").replace('\n', " ");
        assert_eq!(named.split(", ").map(str::trim).collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn a_word_that_is_no_command_and_no_file_is_refused() {
        for (line, wanted) in [
            ("apply-patch chekc", "unknown command or file `chekc`; did you mean `check`?"),
            ("apply-patch -n unod", "unknown command or file `unod`; did you mean `undo`?"),
            (
                "apply-patch --json -C d mcp x",
                "unknown command or file `mcp`; did you mean `mcp-config`?",
            ),
            (
                "apply-patch whatever",
                "unknown command or file `whatever`; `apply-patch help` lists the commands",
            ),
            ("apply-patch -n undo", "a command comes before its flags: `apply-patch undo …`"),
            ("apply-patch help chekc", "unknown command or file `chekc`; did you mean `check`?"),
            (
                "apply-patch unistall",
                "unknown command or file `unistall`; did you mean `uninstall`?",
            ),
            // A command that removes things is never suggested to somebody who wrote something else.
            (
                "apply-patch ininstall",
                "unknown command or file `ininstall`; `apply-patch help` lists the commands",
            ),
            (
                "apply-patch --undo",
                "unknown option `--undo`; it is a command: `apply-patch undo …`",
            ),
            (
                "apply-patch -n --log x",
                "unknown option `--log`; it is a command: `apply-patch log …`",
            ),
            (
                "apply-patch --profil codex x",
                "unknown option `--profil`; did you mean `--profile`?",
            ),
            ("apply-patch check --colour x", "unknown option `--colour`; did you mean `--color`?"),
            ("apply-patch undo --cary", "unknown option `--cary`; did you mean `--carry`?"),
            (
                "apply-patch --fuzz 3 x",
                "`--fuzz` names what may differ in a line, and no line is overlooked: one of none, \
                 trailing, blanks, unicode",
            ),
            (
                "apply-patch check -l x",
                "unknown option `-l`; `--fuzz blanks` overlooks blanks at both ends of lines",
            ),
            ("apply-patch --dry x", "unknown option `--dry`; did you mean `--dry-run`?"),
            // A flag of another command would not help.
            (
                "apply-patch log --profil codex",
                "unknown option `--profil`; `apply-patch log --help` lists the options",
            ),
            (
                "apply-patch git --onto x --3way y",
                "unknown option `--3way`; `--carry` carries the hunks from the files of the commit to \
                 those of the branch as it is now",
            ),
            (
                "apply-patch trash purge --frobnicate",
                "unknown option `--frobnicate`; `apply-patch trash purge --help` lists the options",
            ),
            (
                "apply-patch status extra",
                "unexpected argument 'extra' found\n\nUsage: apply-patch status [OPTIONS]\n\nFor more \
                 information, try '--help'.",
            ),
            (
                "apply-patch mcp-config",
                "`--client <NAME>` is missing, one of codex, claude, cursor, vscode, gemini, opencode, \
                 zed, windsurf, cline, goose, generic",
            ),
        ] {
            let args = line.split(' ').map(OsString::from).collect();
            let error = parse(args).expect_err("it is refused");
            assert_eq!(error.to_string(), format!("error: {wanted}\n"), "{line}");
            assert_eq!(error.exit_code(), 2, "{line}");
        }
        for line in [
            "apply-patch x.patch",
            "apply-patch ./chekc",
            "apply-patch -",
            "apply-patch src",
            "apply-patch apply chekc",
        ] {
            assert!(parse(line.split(' ').map(OsString::from).collect()).is_ok(), "{line}");
        }
    }

    #[test]
    fn a_word_of_another_tool_is_answered_with_the_command_that_is_meant() {
        let commands = Cli::command();
        for (words, hint) in MEANT {
            for word in *words {
                assert!(commands.find_subcommand(word).is_none(), "{word} is a command");
                for line in [format!("apply-patch {word}"), format!("apply-patch help {word}")] {
                    let args = line.split(' ').map(OsString::from).collect();
                    let error = parse(args).expect_err("it is refused");
                    assert_eq!(
                        error.to_string(),
                        format!("error: unknown command or file `{word}`; {hint}\n")
                    );
                }
            }
            are_taken(hint);
        }
        for (flags, hint) in foreign::FLAGS {
            for flag in *flags {
                let args = vec!["apply-patch".into(), (*flag).into(), "x.patch".into()];
                let error = parse(args).expect_err("it is refused");
                assert_eq!(error.to_string(), format!("error: unknown option `{flag}`; {hint}\n"));
            }
            are_taken(hint);
        }
    }

    /// Checks that the parser takes the hints in backticks.
    fn are_taken(hint: &str) {
        let quoted = hint.split('`').skip(1).step_by(2);
        for line in quoted.filter(|line| !line.ends_with("--version")) {
            let line = line.replace("FILE", "x.patch");
            let line =
                if line.starts_with('-') { format!("apply-patch {line} x.patch") } else { line };
            let args = line.split(' ').map(OsString::from).collect();
            parse(args).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }

    #[test]
    fn the_global_options_are_the_last_in_every_help() {
        fn check(command: &mut clap::Command) {
            let help = command.render_help().to_string();
            let headings: Vec<_> =
                help.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
            let last = headings
                .iter()
                .rposition(|heading| !heading.starts_with("Examples"))
                .expect("a heading");
            assert!(headings[last].starts_with("Global options"), "{headings:?}");
            command.get_subcommands_mut().for_each(check);
        }
        let mut command = shown();
        command.build();
        check(&mut command);
    }

    #[test]
    fn apply_is_the_default_command() {
        for (line, wanted) in [
            ("apply-patch", "apply-patch apply"),
            ("apply-patch x.patch", "apply-patch apply x.patch"),
            ("apply-patch -n", "apply-patch apply -n"),
            ("apply-patch -C d check x", "apply-patch -C d check x"),
            ("apply-patch -C d x", "apply-patch apply -C d x"),
            ("apply-patch --json parse", "apply-patch --json parse"),
            ("apply-patch --help", "apply-patch --help"),
            ("apply-patch ./check", "apply-patch apply ./check"),
        ] {
            let (args, _) = with_default_command(line.split(' ').map(OsString::from).collect());
            let found: Vec<_> = args.iter().map(|arg| arg.to_str().unwrap_or_default()).collect();
            assert_eq!(found.join(" "), wanted);
        }
    }
}
