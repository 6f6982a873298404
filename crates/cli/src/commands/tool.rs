//! `apply-patch tool`: the file tools, one call a run. The answer is one JSON object in every case.

use std::io::Read as _;

use apply_patch_api::engine::MAX_PATCH_SIZE;
use apply_patch_api::engine::commit::approval::Approvals;
use apply_patch_api::tools::Tools as _;
use apply_patch_api::tools::audit::Audit;
use apply_patch_api::tools::settings::glob;
use apply_patch_api::tools::{
    Reply, Session, SessionName, Tool, ToolError, ToolInfo, TurnName, brief_catalogue, catalogue,
    unique_json,
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::workspace;
use crate::approve::Prompt;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::host::TerminalHost;
use crate::interrupt;
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
    /// With `--list`: what each tool does and its arguments by name, in a third of the size
    #[arg(long, requires = "list")]
    pub(crate) brief: bool,
    /// With `--list` and `--session`: print `edit_file` with a schema for this file, in which `from`,
    /// `to` and `after` are the lines that the session printed with tags
    #[arg(long, value_name = "PATH", requires_all = ["list", "session"], conflicts_with = "brief")]
    pub(crate) printed: Option<String>,
    /// Take the arguments as those of another tool
    #[arg(long, value_name = "DIALECT", conflicts_with_all = ["events", "call_id"])]
    pub(crate) dialect: Option<Dialect>,
    /// Session to continue; a file that it has not read is not overwritten
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Turn that the changes belong to: those of all calls with this name, and this session, are
    /// one diff, one entry of the log and one undo [default: $APPLY_PATCH_TURN]
    #[arg(long, value_name = "NAME")]
    pub(crate) turn: Option<TurnName>,
    /// Name of the caller in the audit log
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Allow changes to guarded files that match; guarded are files that make other tools run code
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) caution: args::Caution,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
    #[command(flatten)]
    pub(crate) reporting: args::Reporting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    AnthropicEditor,
}

pub(crate) fn tool(global: &Global, args: &ToolArgs) -> Result<Exit, Failure> {
    if args.list {
        let tools = match &args.printed {
            Some(path) => vec![for_printed(global, args, path)?],
            None if args.brief => brief_catalogue(),
            None => catalogue(),
        };
        json::print(&json!({ "tools": tools }));
        return Ok(Exit::Done);
    }
    let session = args.session.clone().unwrap_or_else(|| SessionName::cli().to_string());
    let mut events = events::of(global.root(), &session, &args.reporting);
    let call_id = events::call_id(&args.reporting)?;
    let prompt = Prompt::new(false);
    // Guarded files stay refused: a program names the allowed ones.
    let mut approvals = Approvals::new(global.settings.approve);
    let exit = match prepare(global, args) {
        Err(failure) => failed(args, failure.error()),
        Ok((tools, input)) if args.dialect == Some(Dialect::AnthropicEditor) => {
            let mut host = TerminalHost::new(&prompt, events.as_mut(), true);
            let reply = tools.editor(&input, None, &mut approvals.ask(&mut host));
            json::print(&reply);
            if reply.is_error { Exit::DoesNotApply } else { Exit::Done }
        }
        Ok((tools, input)) => {
            let name = args.name.as_deref().unwrap_or_default();
            // A call that only reads has no events; its answer is all there is.
            let writes = Tool::named(name).is_some_and(|tool| !tool.is_read_only());
            let mut events = events.as_mut().filter(|_| writes);
            if let Some(events) = &mut events {
                events.begin_call(&call_id, name, &input);
            }
            let mut host = TerminalHost::new(&prompt, events.as_deref_mut(), true);
            let reply = tools.call(name, &input, &mut approvals.ask(&mut host));
            match events {
                Some(events) => events.end_call(&reply, reply.failure()),
                None => json::print(&reply),
            }
            reply.class().map_or(Exit::Done, Exit::from)
        }
    };
    Ok(interrupt::came().filter(|_| exit != Exit::Done).unwrap_or(exit))
}

/// Describes `edit_file` for a file of which the session printed lines with tags.
fn for_printed(global: &Global, args: &ToolArgs, path: &str) -> Result<ToolInfo, Failure> {
    let session = session(global, args)?;
    ToolInfo::for_printed(&session, path).map_err(|error| Failure::Tool(Box::new(error)))
}

/// Answers in the shape of the called tool.
fn failed(args: &ToolArgs, error: ToolError) -> Exit {
    let exit = error.class.into();
    match (args.dialect, args.name.as_deref()) {
        (Some(Dialect::AnthropicEditor), _) => {
            json::print(&apply_patch_api::tools::EditorReply::failed(error));
        }
        (None, name) => json::print(&match name.and_then(Tool::named) {
            Some(tool) => Reply::failed(tool, error),
            None => Reply::from(error),
        }),
    }
    exit
}

fn prepare(global: &Global, args: &ToolArgs) -> Result<(Session, Value), Failure> {
    let session = session(global, args)?;
    let input = input(args.args.as_deref().unwrap_or_default())?;
    Ok((session, input))
}

/// Opens the session of a call.
fn session(global: &Global, args: &ToolArgs) -> Result<Session, Failure> {
    let policy = global.settings.policy()?;
    let workspace = super::workspace::open_with(global, policy)?;
    if args.caution.sandbox {
        workspace::confine(global, &workspace, None)?;
    }
    let settings = apply_patch_api::session_settings(&global.layers, None);
    let tools = match &args.session {
        Some(name) => {
            let session: SessionName =
                name.parse().map_err(|error: apply_patch_api::tools::BadName| {
                    Failure::Usage(error.to_string())
                })?;
            Session::resume(workspace, Audit::new(session, args.agent.clone()), settings)
                .map_err(|error| Failure::Tool(Box::new(error)))?
        }
        None => {
            Session::new(workspace, Audit::new(SessionName::cli(), args.agent.clone()), settings)
        }
    };
    workspace::in_turn(tools, args.turn.as_ref())
}

fn input(args: &str) -> Result<Value, Failure> {
    let mut text = Vec::new();
    if args == "-" {
        // JSON may take six bytes for one.
        let limit = 6 * MAX_PATCH_SIZE;
        let read = std::io::stdin().lock().take(limit + 1).read_to_end(&mut text);
        match read {
            Ok(read) if read as u64 > limit => {
                return Err(Failure::Usage("the arguments are too long".into()));
            }
            Ok(_) => {}
            Err(error) => {
                return Err(Failure::Usage(format!("cannot read standard input: {error}")));
            }
        }
    } else {
        text.extend_from_slice(args.as_bytes());
    }
    unique_json(&text).map_err(|error| Failure::Usage(format!("--args is not plain JSON: {error}")))
}
