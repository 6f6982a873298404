//! The command line as it is written. Nothing is decided here.

use std::ffi::OsString;

use clap::{Args, FromArgMatches as _, Parser, Subcommand};

use super::apply::{ApplyArgs, CheckArgs};
use super::convert::ConvertArgs;
use super::doctor::DoctorArgs;
use super::git::GitArgs;
use super::grammar::{GrammarArgs, PromptArgs, ToolSpecArgs};
use super::history::{LogArgs, ShowArgs};
use super::intercept::InterceptArgs;
use super::manual::{CompletionsArgs, ManArgs};
use super::mcp_config::McpConfigArgs;
use super::ops::OpsArgs;
use super::parse::ParseArgs;
use super::recover::RecoverArgs;
use super::serve::ServeArgs;
use super::status::StatusArgs;
use super::tool::ToolArgs;
use super::trash::{GcArgs, TrashCommand};
use super::undo::{RedoArgs, UndoArgs};
use crate::approve;
use crate::args::{Approve, GlobalArgs, InputArgs, Profile};
use crate::settings::Layer;

/// Applies the patches of language models: all or nothing, never a guess, undoable.
#[derive(Debug, Parser)]
#[command(
    name = "apply-patch",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = "`apply` is the default command: `apply-patch -C DIR < patch`.\n\
        Exit codes: 0 done, 1 does not parse or apply, 2 usage, 3 refused, 4 stale,\n\
        5 I/O or lock, 6 changed in part, 7 not a call of apply_patch (`intercept`),\n\
        129/130/143 interrupted."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Apply a patch to the workspace
    Apply(Box<ApplyArgs>),
    /// Check whether a patch would apply; nothing is written
    Check(Box<CheckArgs>),
    /// Print the syntax tree of a patch as JSON; no other file is read
    Parse(ParseArgs),
    /// Explain what each hunk does, where it goes and why
    Explain(Box<CheckArgs>),
    /// Apply a patch to a commit in git, without a checkout
    ///
    /// Makes a commit, moves the branch to it if it is where it was, and prints the id of the commit.
    Git(Box<GitArgs>),
    /// Undo a transaction
    ///
    /// Its files get back the bytes and modes that they had before it.
    Undo(UndoArgs),
    /// Redo what was undone
    Redo(RedoArgs),
    /// Show what was interrupted, what was done last, and how large the history is
    Status(StatusArgs),
    /// List transactions, newest first
    Log(LogArgs),
    /// Show a transaction with its diff
    Show(ShowArgs),
    /// List, show, restore or purge displaced files
    #[command(
        subcommand,
        after_help = "Examples:\n  apply-patch trash list\n  apply-patch trash restore 9f3ac1d2/0\n  \
            apply-patch trash purge --older-than 30"
    )]
    Trash(TrashCommand),
    /// Remove old undo history
    Gc(GcArgs),
    /// Call a file tool with JSON, as an agent does
    Tool(Box<ToolArgs>),
    /// Finish or revert a transaction that was interrupted
    ///
    /// Every command that writes does so, too.
    Recover(RecoverArgs),
    /// Apply `apply_patch_call` items of the Responses API
    ///
    /// Reads the items of a response and prints an output item for each call.
    Ops(Box<OpsArgs>),
    /// Convert a patch to another form
    Convert(Box<ConvertArgs>),
    /// Print the grammar of patches, for constrained decoding
    Grammar(GrammarArgs),
    /// Print the request fields that offer the tool to a model
    ToolSpec(ToolSpecArgs),
    /// Print the instructions for the model
    Prompt(PromptArgs),
    /// Check whether a command is a call of apply_patch; nothing is run
    ///
    /// Prints its patch as JSON.
    Intercept(InterceptArgs),
    /// Serve the file tools over the Model Context Protocol
    ///
    /// The client is on standard input and output.
    Serve(Box<ServeArgs>),
    /// Print the configuration for an MCP client, or write it
    McpConfig(McpConfigArgs),
    /// Check the installation, the workspace and the settings
    Doctor(DoctorArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    Man(ManArgs),
}

impl Command {
    /// The patch that the command reads, if it reads one.
    pub(super) fn input(&self) -> Option<&InputArgs> {
        match self {
            Self::Apply(args) => Some(&args.input),
            Self::Check(args) | Self::Explain(args) => Some(&args.input),
            Self::Parse(args) => Some(&args.input),
            Self::Ops(args) => Some(&args.input),
            Self::Convert(args) => Some(&args.input),
            Self::Git(args) if !args.batch => Some(&args.input),
            _ => None,
        }
    }

    /// The settings from its flags, its default profile, and who approves by default.
    pub(super) fn flags(&self) -> (Layer, Profile, Approve) {
        let nothing = Layer::default();
        match self {
            Self::Apply(args) => {
                let layer = Layer::of_rules(&args.rules).and_writing(&args.writing);
                (Layer { approve: args.approve, ..layer }, Profile::Strict, approve::preset())
            }
            Self::Git(args) => {
                let layer = Layer::of_rules(&args.rules).and_writing(&args.writing);
                (Layer { approve: args.approve, ..layer }, Profile::Strict, Approve::Never)
            }
            Self::Check(args) | Self::Explain(args) => (Layer::of_rules(&args.rules), Profile::Strict, Approve::Never),
            Self::Convert(args) => (Layer::of_rules(&args.rules), Profile::Strict, Approve::Never),
            Self::Ops(args) => {
                let layer = Layer::of_rules(&args.rules).and_writing(&args.writing);
                (Layer { approve: args.caution.approve, ..layer }, Profile::Codex, Approve::Never)
            }
            Self::Serve(args) => {
                let layer = Layer::of_allow(&args.allow).and_writing(&args.writing);
                (Layer { approve: args.approve, ..layer }, Profile::Strict, Approve::Auto)
            }
            Self::Tool(args) => {
                let layer = Layer::of_allow(&args.allow).and_writing(&args.writing);
                (Layer { approve: args.caution.approve, ..layer }, Profile::Strict, Approve::Never)
            }
            Self::Undo(args) => (nothing.and_writing(&args.writing), Profile::Strict, Approve::Never),
            Self::Redo(args) => (nothing.and_writing(&args.writing), Profile::Strict, Approve::Never),
            Self::Recover(args) => (nothing.and_writing(&args.writing), Profile::Strict, Approve::Never),
            Self::Gc(args) => (nothing.and_writing(&args.writing), Profile::Strict, Approve::Never),
            Self::Trash(TrashCommand::Restore { writing, .. } | TrashCommand::Purge { writing, .. }) => {
                (nothing.and_writing(writing), Profile::Strict, Approve::Never)
            }
            _ => (nothing, Profile::Strict, Approve::Never),
        }
    }

    /// Whether a setting has an effect on the command: only then is it reported when it is overruled.
    pub(super) fn heeds(&self, key: &str) -> bool {
        let plans =
            matches!(self, Self::Apply(_) | Self::Check(_) | Self::Explain(_) | Self::Convert(_) | Self::Ops(_));
        match key {
            "profile" => plans || matches!(self, Self::Tool(_) | Self::Serve(_)),
            "names" | "hard-links" => !matches!(self, Self::Parse(_)),
            "durability" => {
                !matches!(self, Self::Check(_) | Self::Explain(_) | Self::Convert(_) | Self::Log(_) | Self::Show(_))
            }
            "approve" => matches!(self, Self::Apply(_) | Self::Ops(_) | Self::Tool(_) | Self::Serve(_)),
            _ => plans,
        }
    }
}

/// The names that `apply` is not put before.
pub(crate) const COMMANDS: &[&str] = &[
    "apply",
    "check",
    "parse",
    "explain",
    "git",
    "undo",
    "redo",
    "status",
    "log",
    "show",
    "trash",
    "gc",
    "tool",
    "recover",
    "ops",
    "convert",
    "grammar",
    "tool-spec",
    "prompt",
    "intercept",
    "serve",
    "mcp-config",
    "doctor",
    "completions",
    "man",
];

/// Whether the version is all that is asked for. To build the definitions takes a hundred times as long as to print it.
pub(crate) fn asks_version(args: &[OsString]) -> bool {
    matches!(args, [_, only] if only == "--version" || only == "-V")
}

/// Reads the command line.
pub(crate) fn parse(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    let args = with_default_command(args);
    match parse_apply(&args) {
        Some(cli) => Ok(cli),
        None => Cli::try_parse_from(args),
    }
}

/// Reads a command line that is a valid `apply`: to build the definitions of all other commands takes half of the
/// instructions of a small run. Help and errors come from the whole definition.
fn parse_apply(args: &[OsString]) -> Option<Cli> {
    if args.get(1)? != "apply" {
        return None;
    }
    let apply = ApplyArgs::augment_args(clap::Command::new("apply"));
    let command = GlobalArgs::augment_args(clap::Command::new("apply-patch")).subcommand(apply);
    let mut matches = command.try_get_matches_from(args).ok()?;
    let (_, mut apply) = matches.remove_subcommand()?;
    let global = GlobalArgs::from_arg_matches_mut(&mut matches).ok()?;
    let apply = ApplyArgs::from_arg_matches_mut(&mut apply).ok()?;
    Some(Cli { global, command: Command::Apply(Box::new(apply)) })
}

/// Puts `apply` before arguments that name no command.
fn with_default_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(arg) = args.get(at).and_then(|arg| arg.to_str()) {
        match arg {
            "-C" | "--root" | "--color" => at += 2,
            "--json" | "-q" | "--quiet" | "-v" | "--verbose" | "--no-pager" => at += 1,
            _ if arg.starts_with("--root=") || arg.starts_with("--color=") => at += 1,
            _ if arg.starts_with("-C") => at += 1,
            "-h" | "--help" | "-V" | "--version" => return args,
            _ if COMMANDS.contains(&arg) => return args,
            _ => break,
        }
    }
    args.insert(1.min(args.len()), "apply".into());
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
        let named: Vec<_> = Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        assert_eq!(named, COMMANDS, "every command is in the list of names");
    }

    #[test]
    fn the_version_is_that_of_the_definitions() {
        for only in ["--version", "-V"] {
            let args: Vec<OsString> = vec!["apply-patch".into(), only.into()];
            assert!(asks_version(&args));
            let version = Cli::try_parse_from(args).expect_err("a version is no command");
            assert_eq!(version.to_string(), concat!("apply-patch ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        assert!(!asks_version(&["apply-patch".into(), "-V".into(), "x".into()]));
    }

    #[test]
    fn an_apply_means_the_same_without_the_other_commands() {
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
            "apply-patch check x",
            "apply-patch --json apply x",
        ] {
            let args: Vec<_> = line.split(' ').map(OsString::from).collect();
            let whole = Cli::try_parse_from(&args).ok();
            let fast = parse_apply(&args);
            assert_eq!(fast.is_some(), whole.is_some() && args[1] == "apply", "{line}");
            if let Some(fast) = fast {
                assert_eq!(format!("{fast:?}"), format!("{:?}", whole.expect("checked")), "{line}");
            }
        }
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
            let args = with_default_command(line.split(' ').map(OsString::from).collect());
            let found: Vec<_> = args.iter().map(|arg| arg.to_str().unwrap_or_default()).collect();
            assert_eq!(found.join(" "), wanted);
        }
    }
}
