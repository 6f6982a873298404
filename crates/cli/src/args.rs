//! The command line as it is written. Nothing is decided here.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::config::Config;

use clap::{Args, FromArgMatches as _, Parser, Subcommand, ValueEnum};

/// Applies the patches that language models write: all or nothing, never a guess, undoable.
#[derive(Debug, Parser)]
#[command(
    name = "apply-patch",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = "`apply` is the default command: `apply-patch -C DIR < patch`.\n\
        Exit codes: 0 done, 1 does not parse or apply, 2 usage, 3 refused, 4 stale,\n\
        5 I/O or lock, 6 changed in part, 7 no call of apply_patch (`intercept`),\n\
        129/130/143 interrupted."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The workspace, which is never left
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".", global = true)]
    pub(crate) root: PathBuf,
    /// When to use colours: auto (default), always or never
    #[arg(long, value_name = "WHEN", global = true, hide_possible_values = true)]
    pub(crate) color: Option<When>,
    /// Do not show long answers in a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Print exactly one JSON object, failures included
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more, e.g. what the sandbox is
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// What flags leave open.
    #[arg(skip)]
    pub(crate) config: Config,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Apply a patch to the workspace
    Apply(Box<Apply>),
    /// Tell whether a patch would apply; nothing is written
    Check(Box<Check>),
    /// Print the tree of a patch as JSON; no file is looked at
    Parse(Parse),
    /// Say what each hunk does, where it goes and why; nothing is written
    Explain(Box<Check>),
    /// Take back a transaction
    ///
    /// Its files get the bytes and modes of before.
    Undo(Undo),
    /// Take back an undo
    Redo(Redo),
    /// List what was committed, the newest first
    Log(Log),
    /// Show a transaction with its diff
    Show(Show),
    /// List, show, restore or purge displaced files
    #[command(
        subcommand,
        after_help = "Examples:\n  apply-patch trash list\n  apply-patch trash restore 20261121-014233-123456-9f3ac1d2/0\n  \
            apply-patch trash purge --older-than 30"
    )]
    Trash(Trash),
    /// Call one of the file tools with JSON, as an agent does
    Tool(Box<Tool>),
    /// Finish or revert a transaction that was interrupted
    ///
    /// Every command that writes does it too.
    Recover(Recover),
    /// Apply the built-in operations of the Responses API
    ///
    /// Items in, one answer for each call out.
    Ops(Box<Ops>),
    /// Print the same change in another form
    Convert(Box<Convert>),
    /// Print the grammar of patches, for constrained decoding
    Grammar(Grammar),
    /// Print the request fields with which a provider is offered the tool
    ToolSpec(ToolSpec),
    /// Print the instructions for the model
    Prompt(Prompt),
    /// Tell whether a command is a call of apply_patch; nothing is run
    ///
    /// Prints its patch as JSON, and writes nothing.
    Intercept(Intercept),
    /// Serve the file tools over the Model Context Protocol
    ///
    /// The client is on standard input and output.
    Serve(Box<Serve>),
    /// Print the configuration with which a client starts the server
    McpConfig(McpConfig),
    /// Tell how things stand here, and where each setting comes from
    Doctor(Doctor),
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the manual page, or write those of all commands
    Man(Man),
}

/// The names that `apply` is not put before.
pub(crate) const COMMANDS: &[&str] = &[
    "apply",
    "check",
    "parse",
    "explain",
    "undo",
    "redo",
    "log",
    "show",
    "trash",
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

#[derive(Debug, Args)]
pub(crate) struct Input {
    /// The patch; `-` or nothing for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch < answer.patch              apply it here\n  \
    apply-patch -n -C ../repo answer.patch  show the diff, write nothing\n  \
    apply-patch -i answer.patch             ask about each file and hunk\n  \
    apply-patch --from auto answer.md       the one patch or diff in a chat answer\n  \
    apply-patch --profile codex --expect src/a.rs=$(sha256sum < src/a.rs | cut -c1-64) answer.patch\n\n\
    Settings that are not given come from $APPLY_PATCH_*, then from ~/.config/apply-patch/config.toml;\n\
    .apply-patch.toml in the workspace can only tighten them. `apply-patch doctor` shows them.")]
pub(crate) struct Apply {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) rules: Rules,
    /// What the input is: auto finds the one patch or diff, also in a chat answer, and says what it left out
    #[arg(long, value_name = "envelope|unified|openai|auto", default_value = "envelope", hide_possible_values = true)]
    pub(crate) from: InputForm,
    /// Print the diff and write nothing
    #[arg(short = 'n', long, conflicts_with = "events")]
    pub(crate) dry_run: bool,
    /// With -n: text, or html for one page that needs nothing else
    #[arg(long, value_name = "text|html", default_value = "text", hide_possible_values = true, requires = "dry_run", conflicts_with_all = ["stat", "json"])]
    pub(crate) format: DiffFormat,
    /// Print nothing and write nothing: the exit code tells whether it would apply
    #[arg(long, conflicts_with_all = ["dry_run", "events"])]
    pub(crate) check: bool,
    /// Confine this process to the workspace and its state before the patch is read (Linux: Landlock); an error
    /// where the system cannot
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Show file names and line counts while the patch is still arriving on standard input, and fail as soon as
    /// it cannot become a patch
    #[arg(long, conflicts_with_all = ["file", "from", "quiet"])]
    pub(crate) stream: bool,
    /// When to ask at the terminal before anything is changed: never, ask (always), or auto: when a file is
    /// deleted, replaced whole, or guarded. Unless given: auto on a terminal, else never
    #[arg(long, value_name = "never|ask|auto", hide_possible_values = true, conflicts_with_all = ["dry_run", "check"])]
    pub(crate) approve: Option<Approve>,
    /// Ask about every file and every hunk, and apply those that were answered yes, as one transaction
    #[arg(short, long, conflicts_with_all = ["dry_run", "check", "stream", "events", "no_atomic", "json", "sandbox", "approve"])]
    pub(crate) interactive: bool,
    /// Apply section by section, and stop at the first that fails
    #[arg(long)]
    pub(crate) no_atomic: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
    /// Print how many lines change in each file, instead of the names alone
    #[arg(long, conflicts_with = "events")]
    pub(crate) stat: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    Text,
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    Never,
    Ask,
    Auto,
}

/// What every command that writes has in common.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct Writing {
    /// What the result survives: power loss (full, default), the end of the process (process), or neither for sure (none)
    #[arg(long, value_name = "full|process|none", hide_possible_values = true)]
    pub(crate) durability: Option<Durability>,
    /// Seconds to wait for another process that changes the workspace; 10 unless given
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) lock_timeout: Option<std::time::Duration>,
}

/// How a program around the agent is told.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reporting")]
pub(crate) struct Reporting {
    /// Print what happens as lines of JSON, instead of the summary or answer: jsonl, codex (as Codex clients know them),
    /// acp or acp-v1, acp-v2 (Agent Client Protocol)
    #[arg(long, value_name = "FORM", hide_possible_values = true, conflicts_with = "json")]
    pub(crate) events: Option<Events>,
    /// The name of the call in the events; one that nobody else has when left out
    #[arg(long, value_name = "ID", requires = "events")]
    pub(crate) call_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Events {
    Jsonl,
    Codex,
    #[value(alias = "acp-v1")]
    Acp,
    AcpV2,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch undo                         take back the last transaction\n  \
    apply-patch undo 20261121-014233-123456-9f3ac1d2 -- src/a.rs")]
pub(crate) struct Undo {
    /// The transaction; the last one that is not undone when left out
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Only these paths of it
    #[arg(value_name = "PATH", last = true, requires = "id")]
    pub(crate) paths: Vec<String>,
    /// Print the diff and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch redo       take back the last undo\n  \
    apply-patch redo -n    show what would come back")]
pub(crate) struct Redo {
    /// The undoing transaction, or the one it undid; the last undo when left out
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Print the diff and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch log -n 5\n  \
    apply-patch log -p\n  \
    apply-patch log --verify")]
pub(crate) struct Log {
    /// Print the diff of each transaction
    #[arg(short, long)]
    pub(crate) patch: bool,
    /// Print so many transactions at most
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) max_count: Option<usize>,
    /// Check that no line of the audit logs was changed or is missing, and name the first that was
    #[arg(long, conflicts_with_all = ["patch", "max_count", "state"])]
    pub(crate) verify: bool,
    /// Compare the last known hash of each file in the audit logs with the disk
    #[arg(long, conflicts_with_all = ["patch", "max_count"])]
    pub(crate) state: bool,
    /// Check the audit log of this session only
    #[arg(long, value_name = "NAME", requires = "verify")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch tool --list\n  \
    apply-patch tool read_file --args '{\"path\":\"src/main.rs\"}'\n  \
    apply-patch tool --dialect anthropic-editor --args - < command.json")]
pub(crate) struct Tool {
    /// The tool; `--list` names them
    #[arg(value_name = "NAME", required_unless_present_any = ["list", "dialect"])]
    pub(crate) name: Option<String>,
    /// Its arguments: a JSON object, or `-` for standard input
    #[arg(long, value_name = "JSON|-", required_unless_present = "list")]
    pub(crate) args: Option<String>,
    /// Print the names, descriptions and JSON schemas of all tools
    #[arg(long)]
    pub(crate) list: bool,
    /// Take the arguments as commands of another tool: `anthropic-editor`
    #[arg(long, value_name = "DIALECT", hide_possible_values = true, conflicts_with = "events")]
    pub(crate) dialect: Option<Dialect>,
    /// Go on with this session: what it has read protects files from being written unseen
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Who calls, for the audit log
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Approve guarded files (those that make tools run code) that match
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    AnthropicEditor,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch show 20261121-014233-123456-9f3ac1d2\n  \
    apply-patch show --format html 20261121-014233-123456-9f3ac1d2 > change.html")]
pub(crate) struct Show {
    /// The transaction
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// text, or html for one page that needs nothing else
    #[arg(
        long,
        value_name = "text|html",
        default_value = "text",
        hide_possible_values = true,
        conflicts_with = "json"
    )]
    pub(crate) format: DiffFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Trash {
    /// List displaced files, the newest first
    List {
        /// List the files that were replaced too, not only the deleted and moved ones
        #[arg(long)]
        all: bool,
    },
    /// Print a displaced file
    Show {
        /// Its name in the list: ID/NUMBER
        #[arg(value_name = "ENTRY")]
        entry: String,
    },
    /// Bring a displaced file back; never over an existing one
    Restore {
        /// Its name in the list: ID/NUMBER
        #[arg(value_name = "ENTRY")]
        entry: String,
        /// Where to, when not to its place
        #[arg(value_name = "PATH")]
        target: Option<String>,
        #[command(flatten)]
        writing: Writing,
    },
    /// Remove displaced files for good; what is removed cannot be undone
    Purge {
        /// Those of transactions older than this many days
        #[arg(long, value_name = "DAYS", required_unless_present = "max_size")]
        older_than: Option<f64>,
        /// The oldest, until all together have at most this many bytes
        #[arg(long, value_name = "BYTES")]
        max_size: Option<u64>,
        /// Say what would be removed, and remove nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
        #[command(flatten)]
        writing: Writing,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch ops response.json > outputs.json")]
pub(crate) struct Ops {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) rules: Rules,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch convert --to git answer.patch | git apply\n  \
    git diff | apply-patch convert --from unified --to envelope")]
pub(crate) struct Convert {
    #[command(flatten)]
    pub(crate) input: Input,
    /// What the input is: auto finds the one patch or diff, also in a chat answer, and says what it left out
    #[arg(long, value_name = "envelope|unified|openai|auto", default_value = "envelope", hide_possible_values = true)]
    pub(crate) from: InputForm,
    /// What to print: a patch in the envelope, a unified or git diff (made against the files of the
    /// workspace), or items of the Responses API
    #[arg(long, value_name = "envelope|unified|git|openai", hide_possible_values = true)]
    pub(crate) to: Form,
    #[command(flatten)]
    pub(crate) rules: Rules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputForm {
    Envelope,
    Unified,
    Openai,
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    Envelope,
    Unified,
    Git,
    Openai,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch grammar --format gbnf --dialect codex > apply_patch.gbnf")]
pub(crate) struct Grammar {
    /// In which form: pest, lark, gbnf, ebnf or regex
    #[arg(long, value_name = "FORMAT", default_value = "lark", value_parser = format)]
    pub(crate) format: patch_grammar::export::Format,
    #[command(flatten)]
    pub(crate) dialect: DialectArg,
}

#[derive(Debug, Args)]
pub(crate) struct DialectArg {
    /// The whole language, or the subset that codex-trained models write
    #[arg(long, value_name = "whole|codex", default_value = "whole", value_parser = dialect)]
    pub(crate) dialect: patch_grammar::Dialect,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch tool-spec --provider openai")]
pub(crate) struct ToolSpec {
    /// openai, openai-chat, openai-function, openai-function-chat, openai-builtin, anthropic,
    /// anthropic-editor, mcp, llama-cpp, vllm or sglang
    #[arg(long, value_name = "PROVIDER", value_parser = provider)]
    pub(crate) provider: file_tools::specs::Provider,
    #[command(flatten)]
    pub(crate) dialect: DialectArg,
    /// The form of the grammar, where the provider takes several: lark, gbnf, ebnf or regex
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub(crate) grammar_dialect: Option<patch_grammar::export::Format>,
    /// Whether the fields are for the raw request or for the provider's Python client
    #[arg(long, value_name = "raw|python", default_value = "raw")]
    pub(crate) client: Client,
    /// The most characters that the editor shows of a file (anthropic-editor)
    #[arg(long, value_name = "N")]
    pub(crate) max_characters: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    Raw,
    Python,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch prompt --channel argument")]
pub(crate) struct Prompt {
    #[command(flatten)]
    pub(crate) dialect: DialectArg,
    /// How the patch travels: as a tool's whole input, as an argument, or as the whole message
    #[arg(long, value_name = "tool|argument|message", default_value = "tool")]
    pub(crate) channel: Channel,
}

#[derive(Debug, Args)]
#[command(after_help = "The command is bash, zsh, sh, PowerShell or cmd with a script, or apply_patch with a patch.\n\
    Exit codes: 0 a patch (`data.patch`, `data.workdir`), 1 a patch was meant and the call is wrong\n\
    (`error.details.verdict`), 7 something else.\n\n\
    Examples:\n  \
    apply-patch intercept -- bash -lc \"$SCRIPT\" | jq -j .data.patch | apply-patch --profile codex")]
pub(crate) struct Intercept {
    /// The command, as its program would get it
    #[arg(value_name = "ARGV", required = true, last = true)]
    pub(crate) argv: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "It speaks on standard input and output. `apply-patch mcp-config --client NAME` prints the block that starts it from a client.\n\n\
    Examples:\n  \
    apply-patch serve --mcp -C ../repo --read-only\n  \
    apply-patch serve --mcp -C ../repo --approve ask --tools read_file,edit_file,undo"
)]
pub(crate) struct Serve {
    /// Speak the Model Context Protocol, of 2026-07-28 or with `initialize`
    #[arg(long, required = true)]
    pub(crate) mcp: bool,
    /// Offer these tools only, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Offer only the tools that read
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Whom a change waits for: nobody (never), a person who sees the plan (ask), or the client, and a person for what
    /// cannot be undone (auto, default)
    #[arg(long, value_name = "never|ask|auto", hide_possible_values = true)]
    pub(crate) approve: Option<Approve>,
    /// Approve guarded files (those that make tools run code) that match
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch mcp-config --client codex -C ../repo")]
pub(crate) struct McpConfig {
    /// codex, claude, cursor or vscode
    #[arg(long, value_name = "NAME", value_parser = client)]
    pub(crate) client: apply_patch_mcp::Client,
    /// As for `serve`
    #[arg(long, value_name = "never|ask|auto", default_value = "auto", hide_possible_values = true)]
    pub(crate) approve: Approve,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Channel {
    Tool,
    Argument,
    Message,
}

fn format(text: &str) -> Result<patch_grammar::export::Format, String> {
    let all = patch_grammar::export::Format::ALL;
    named(text, &all, |format| format.as_str())
}

fn dialect(text: &str) -> Result<patch_grammar::Dialect, String> {
    named(text, &patch_grammar::Dialect::ALL, |dialect| dialect.as_str())
}

fn client(text: &str) -> Result<apply_patch_mcp::Client, String> {
    named(text, &apply_patch_mcp::Client::ALL, |client| client.as_str())
}

fn provider(text: &str) -> Result<file_tools::specs::Provider, String> {
    text.parse().map_err(|error: file_tools::specs::SpecError| error.to_string())
}

/// The one of `all` that goes by `text`.
fn named<T: Copy>(text: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    let names: Vec<_> = all.iter().map(|&one| name(one)).collect();
    all.iter().copied().find(|&one| name(one) == text).ok_or_else(|| format!("there is {}", names.join(", ")))
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch recover")]
pub(crate) struct Recover {
    #[command(flatten)]
    pub(crate) writing: Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch doctor\n  \
    apply-patch doctor --json -C ../repo | jq .data.settings\n\n\
    Exit codes: 0 all is well, 5 something needs a look.")]
pub(crate) struct Doctor {}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch completions bash > ~/.local/share/bash-completion/completions/apply-patch\n  \
    apply-patch completions fish > ~/.config/fish/completions/apply-patch.fish")]
pub(crate) struct Completions {
    /// bash, zsh, fish, powershell or elvish
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch man | man -l -\n  \
    apply-patch man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write the page of every command to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch check answer.patch\n  \
    apply-patch explain --from auto answer.md")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) input: Input,
    /// What the input is: auto finds the one patch or diff, also in a chat answer, and says what it left out
    #[arg(long, value_name = "envelope|unified|openai|auto", default_value = "envelope", hide_possible_values = true)]
    pub(crate) from: InputForm,
    #[command(flatten)]
    pub(crate) rules: Rules,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch parse answer.patch | jq .data")]
pub(crate) struct Parse {
    #[command(flatten)]
    pub(crate) input: Input,
    /// What is tolerated around and in the text
    #[arg(long, value_name = "PROFILE", default_value = "strict")]
    pub(crate) profile: Profile,
}

/// The rules of planning: a profile, and every rule on its own.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Rules")]
pub(crate) struct Rules {
    /// A preset of the rules: `strict` (default, but for `ops`), or `codex` as the OpenAI models were
    /// trained with
    #[arg(long, value_name = "PROFILE", hide_possible_values = true)]
    pub(crate) profile: Option<Profile>,
    /// Expect a file to have this SHA-256; nothing after `=` expects no file
    #[arg(long, value_name = "PATH=SHA256")]
    pub(crate) expect: Vec<String>,
    /// Read expectations from a JSON object of paths and SHA-256
    #[arg(long, value_name = "FILE.json")]
    pub(crate) expect_from: Option<PathBuf>,
    /// Approve guarded files (those that make tools run code) that match
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow: Vec<String>,
    /// Whether the patch may delete files; true unless given
    #[arg(long, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) allow_delete: Option<bool>,
    /// Whether the patch may move files; true unless given
    #[arg(long, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) allow_move: Option<bool>,
    /// Create missing parent directories
    #[arg(long)]
    pub(crate) create_parents: bool,
    /// Let Add and moves replace existing files
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// What to do with a hunk that fits in several places
    #[arg(long, value_name = "reject|first", hide_possible_values = true)]
    pub(crate) ambiguous: Option<Ambiguous>,
    /// The most lenient matching pass: none, trailing, blanks or unicode
    #[arg(long, value_name = "PASS", hide_possible_values = true)]
    pub(crate) fuzz: Option<Fuzz>,
    #[command(flatten)]
    pub(crate) guard: Guard,
}

/// What the guard can be told, beside patterns.
#[derive(Debug, Default, Args)]
pub(crate) struct Guard {
    /// Which file names may be created: those that every system takes (portable, default), or all of this one
    #[arg(long, value_name = "portable|native", hide_possible_values = true)]
    pub(crate) names: Option<Names>,
    /// What to do with a file that has several hard links: refuse it (default), or break the patched name off
    #[arg(long, value_name = "refuse|break", hide_possible_values = true)]
    pub(crate) hard_links: Option<HardLinks>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    Strict,
    Codex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    Full,
    Process,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ambiguous {
    Reject,
    First,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fuzz {
    None,
    Trailing,
    Blanks,
    Unicode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Names {
    Portable,
    Native,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HardLinks {
    Refuse,
    Break,
}

pub(crate) fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?;
    std::time::Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// Whether the version is all that is asked for. To build the definitions takes a hundred times what saying it does.
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
    let apply = Apply::augment_args(clap::Command::new("apply"));
    let command = Global::augment_args(clap::Command::new("apply-patch")).subcommand(apply);
    let mut matches = command.try_get_matches_from(args).ok()?;
    let (_, mut apply) = matches.remove_subcommand()?;
    let global = Global::from_arg_matches_mut(&mut matches).ok()?;
    let apply = Apply::from_arg_matches_mut(&mut apply).ok()?;
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
            let said = Cli::try_parse_from(args).expect_err("a version is no command");
            assert_eq!(said.to_string(), concat!("apply-patch ", env!("CARGO_PKG_VERSION"), "\n"));
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
