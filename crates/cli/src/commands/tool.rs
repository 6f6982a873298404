//! `apply-patch tool`: the file tools, one call a run. The answer is one JSON object in every case.

use std::io::Read as _;

use file_tools::audit::Audit;
use file_tools::{FileTools, Hooks, Reply, SessionName, ToolError, ToolSettings, catalogue};
use patch_engine::transaction::Workspace;
use patch_engine::{ErrorKind, MAX_PATCH_SIZE, Plan};
use serde_json::{Value, json};

use crate::args::{self, Dialect, Global};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::json;

impl Hooks for Interrupt {
    fn approve(&mut self, _: &Plan) -> bool {
        self.writing();
        true
    }

    fn cancelled(&self) -> bool {
        self.exit().is_some()
    }
}

pub(crate) fn tool(global: &Global, args: &args::Tool) -> Exit {
    if args.list {
        json::print(&json!({ "tools": catalogue() }));
        return Exit::Done;
    }
    let mut interrupt = Interrupt::watch();
    let exit = match prepare(global, args) {
        Err(error) => failed(args, error),
        Ok((tools, input)) if args.dialect == Some(Dialect::AnthropicEditor) => {
            let reply = tools.editor(&input, None, &mut interrupt);
            json::print(&reply);
            if reply.is_error { Exit::DoesNotApply } else { Exit::Done }
        }
        Ok((tools, input)) => {
            let reply = tools.call(args.name.as_deref().unwrap_or_default(), &input, &mut interrupt);
            json::print(&reply);
            reply.class().map_or(Exit::Done, Exit::from)
        }
    };
    match interrupt.exit() {
        Some(interrupted) if exit != Exit::Done => interrupted,
        _ => exit,
    }
}

/// Answers in the shape of the tool that was called.
fn failed(args: &args::Tool, error: ToolError) -> Exit {
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

fn prepare(global: &Global, args: &args::Tool) -> Result<(FileTools, Value), ToolError> {
    let input = input(args.args.as_deref().unwrap_or_default())?;
    let mut policy = fs_guard::Policy::default();
    if !args.allow.is_empty() {
        policy.allow = fs_guard::Globs::new(&args.allow).map_err(|error| usage(error.to_string()))?;
    }
    let workspace = Workspace::open(&global.root, policy)?;
    let commit = super::commit_options("tool", &args.writing);
    let settings = ToolSettings {
        durability: commit.durability,
        lock_timeout: args.writing.lock_timeout,
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
    serde_json::from_slice(&text).map_err(|error| usage(format!("--args is no JSON: {error}")))
}

fn usage(message: String) -> ToolError {
    ToolError::new(file_tools::FailureClass::Usage, ErrorKind::CommandFailed, message)
}
