//! `apply-patch tool`: the file tools, one call a run. The answer is one JSON object in every case.

use std::io::Read as _;

use clap::{Args, ValueEnum};
use file_tools::audit::Audit;
use file_tools::events::Events;
use file_tools::{FileTools, Hooks, Reply, SessionName, Tool, ToolError, ToolSettings, catalogue};
use patch_engine::transaction::{CommitObserver, Workspace};
use patch_engine::{ErrorKind, MAX_PATCH_SIZE, Plan};
use serde_json::{Value, json};

use super::workspace;
use crate::approve::Asker;
use crate::args;
use crate::exit::Exit;
use crate::global::Global;
use crate::interrupt::Interrupt;
use crate::{events, json};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch tool --list\n  \
    apply-patch tool read_file --args '{\"path\":\"src/main.rs\"}'\n  \
    apply-patch tool --dialect anthropic-editor --args - < command.json")]
pub(crate) struct ToolArgs {
    /// Name of the tool; `--list` prints them all
    #[arg(value_name = "NAME", required_unless_present_any = ["list", "dialect"])]
    pub(crate) name: Option<String>,
    /// Arguments: a JSON object, or `-` for standard input
    #[arg(long, value_name = "JSON|-", required_unless_present = "list")]
    pub(crate) args: Option<String>,
    /// Print the names, descriptions and JSON schemas of all tools
    #[arg(long)]
    pub(crate) list: bool,
    /// Take the arguments as those of another tool
    #[arg(long, value_name = "DIALECT", conflicts_with = "events")]
    pub(crate) dialect: Option<Dialect>,
    /// Session to continue; a file that it has not read is not overwritten
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Name of the caller in the audit log
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Allow changes to guarded files that match; guarded are files that make other tools run code
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
    #[command(flatten)]
    pub(crate) reporting: args::Reporting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    AnthropicEditor,
}

/// What the program does while a tool runs.
struct Watcher {
    interrupt: Interrupt,
    asker: Asker,
    events: Option<Events<'static>>,
    call_id: String,
    /// The events stand for the answer.
    told: bool,
}

impl Hooks for Watcher {
    fn approve(&mut self, plan: &Plan) -> bool {
        let approved = self.asker.approves(plan);
        if approved {
            self.interrupt.writing();
        }
        approved
    }

    fn cancelled(&self) -> bool {
        self.interrupt.exit().is_some()
    }

    fn observer(&mut self) -> Option<&mut dyn CommitObserver> {
        self.events.as_mut().map(|events| events as &mut dyn CommitObserver)
    }

    fn called(&mut self, tool: Tool, args: &Value) {
        if let (Some(events), false) = (&mut self.events, tool.is_read_only()) {
            events.begin_call(&self.call_id, tool.as_str(), args);
            self.told = true;
        }
    }

    fn answered(&mut self, reply: &Reply) {
        if let (Some(events), true) = (&mut self.events, self.told) {
            events.end_call(reply, reply.failure());
        }
    }
}

pub(crate) fn tool(global: &Global, args: &ToolArgs) -> Exit {
    if args.list {
        json::print(&json!({ "tools": catalogue() }));
        return Exit::Done;
    }
    let session = args.session.clone().unwrap_or_else(|| SessionName::cli().to_string());
    let events = events::of(&global.root, &session, &args.reporting);
    let call_id = match events::call_id(&args.reporting) {
        Ok(id) => id,
        Err(failure) => return failure.report(global, None),
    };
    let asker = Asker::new(global.settings.approve);
    let mut watcher = Watcher { interrupt: Interrupt::watch(), asker, events, call_id, told: false };
    let exit = match prepare(global, args) {
        Err(error) => failed(args, error),
        Ok((tools, input)) if args.dialect == Some(Dialect::AnthropicEditor) => {
            let reply = tools.editor(&input, None, &mut watcher);
            json::print(&reply);
            if reply.is_error { Exit::DoesNotApply } else { Exit::Done }
        }
        Ok((tools, input)) => {
            let reply = tools.call(args.name.as_deref().unwrap_or_default(), &input, &mut watcher);
            if !watcher.told {
                json::print(&reply);
            }
            reply.class().map_or(Exit::Done, Exit::from)
        }
    };
    match watcher.interrupt.exit() {
        Some(interrupted) if exit != Exit::Done => interrupted,
        _ => exit,
    }
}

/// Answers in the shape of the tool that was called.
fn failed(args: &ToolArgs, error: ToolError) -> Exit {
    let exit = error.class.into();
    match (args.dialect, args.name.as_deref()) {
        (Some(Dialect::AnthropicEditor), _) => {
            json::print(&json!({ "content": format!("{}: {}", error.kind, error.message), "is_error": true }));
        }
        (None, Some("edit.patch")) => {
            json::print(&file_tools::tools::edit_patch::EditPatchResult::failed(&error));
        }
        (None, _) => json::print(&Reply::from(error)),
    }
    exit
}

fn prepare(global: &Global, args: &ToolArgs) -> Result<(FileTools, Value), ToolError> {
    let input = input(args.args.as_deref().unwrap_or_default())?;
    let policy = global.settings.policy();
    let policy = policy.map_err(|failure| json::Failure::new(&failure).error().clone())?;
    let workspace = Workspace::open(&global.root, policy)?;
    let commit = workspace::commit_options(global, "tool");
    let settings = ToolSettings {
        durability: commit.durability,
        lock_timeout: global.settings.lock_timeout,
        ..ToolSettings::default()
    };
    let tools = match &args.session {
        Some(name) => {
            let session: SessionName =
                name.parse().map_err(|error: file_tools::BadSessionName| usage(error.to_string()))?;
            FileTools::resume(workspace, Audit::new(session, args.agent.clone()), settings)?
        }
        None => FileTools::new(workspace, Audit::new(SessionName::cli(), args.agent.clone()), settings),
    };
    Ok((tools, input))
}

fn input(args: &str) -> Result<Value, ToolError> {
    let mut text = Vec::new();
    if args == "-" {
        // JSON may take six bytes for one.
        let limit = 6 * MAX_PATCH_SIZE;
        let read = std::io::stdin().lock().take(limit + 1).read_to_end(&mut text);
        match read {
            Ok(read) if read as u64 > limit => return Err(usage("the arguments are too long".into())),
            Ok(_) => {}
            Err(error) => return Err(usage(format!("cannot read standard input: {error}"))),
        }
    } else {
        text.extend_from_slice(args.as_bytes());
    }
    serde_json::from_slice(&text).map_err(|error| usage(format!("--args is not JSON: {error}")))
}

fn usage(message: String) -> ToolError {
    ToolError::new(file_tools::FailureClass::Usage, ErrorKind::CommandFailed, message)
}
