//! `apply-patch mcp-config`: how a client is told of the server: the client's own command, or what
//! its file has to have, printed or written there.

use std::path::{Path, PathBuf};

use apply_patch_api::engine::commit::Workspace;
use apply_patch_api::engine::commit::approval::{ApprovalPolicy, Approvals};
use apply_patch_api::engine::{Files, Options, Plan, PlanBuilder, Splices};
use apply_patch_api::files::{Globs, Policy};
use apply_patch_api::tools::audit::Operation;
use apply_patch_api::tools::settings::Choice as _;
use apply_patch_api::tools::{ErrorKind, FailureClass, SessionSettings, Tool, ToolError, hints};
use clap::Args;
use serde_json::json;

use super::{server, workspace};
use crate::approve::Prompt;
use crate::args;
use crate::clients::{Client, ClientFile, ConfigEdit, ConfigScope, NAME, Server, Way};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::host::TerminalHost;
use crate::{client_file, json, render, settings};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch mcp-config --client codex\n  \
    apply-patch mcp-config --client codex --write -n      show what would change in its file\n  \
    apply-patch mcp-config --client vscode --write -C ../repo\n  \
    apply-patch mcp-config --client gemini --approve never   print the command that adds it")]
pub(crate) struct McpConfigArgs {
    /// Client to configure; `generic` is any other
    #[arg(long, value_name = "NAME", value_parser = args::choice::<Client>())]
    pub(crate) client: Client,
    /// Who approves a change: the server shows each plan and asks (`ask`), the client in its own
    /// way (`auto`), or no one (`never`)
    #[arg(
        long, value_name = "WHEN", default_value = "auto",
        value_parser = args::choice::<ApprovalPolicy>(),
    )]
    pub(crate) approve: ApprovalPolicy,
    /// Configure it for you, in all projects [default, but for claude, cursor and vscode]
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,
    /// Configure it for everyone in the project that `-C` names
    #[arg(long)]
    pub(crate) project: bool,
    /// Write it into the client's file, as a transaction that can be undone; nothing else in
    /// the file changes. Not for clients whose own command does that: it is printed
    #[arg(long)]
    pub(crate) write: bool,
    /// With `--write`: print the diff; nothing is written
    #[arg(short = 'n', long, requires = "write")]
    pub(crate) dry_run: bool,
}

pub(crate) fn config(global: &Global, args: &McpConfigArgs) -> Result<Exit, Failure> {
    server::require()?;
    let client = args.client;
    let scope = match (args.user, args.project) {
        (true, _) => ConfigScope::User,
        (_, true) => ConfigScope::Project,
        _ => client.usual_scope(),
    };
    if !client.has(scope) {
        return Err(Failure::Usage(format!(
            "{} has one file for all projects: --user",
            client.name()
        )));
    }
    let server = server(global, args, scope)?;
    let setup = client.setup(scope, &server);
    let edit = match &setup.way {
        Way::Command(words) => {
            let command = command(global, scope, words);
            if args.write {
                return Err(Failure::Usage(format!(
                    "{} writes its own file: run `{command}`",
                    client.name()
                )));
            }
            render::line(&command);
            if !global.quiet {
                render::message("run this in a shell");
                setup.notes.iter().for_each(|note| render::message(note));
            }
            return Ok(Exit::Done);
        }
        Way::File(edit) => edit,
    };
    if args.write {
        return write(global, args, edit, &setup.notes);
    }
    render::raw(client_file::block(edit).as_bytes());
    if !global.quiet {
        match &edit.file {
            Some(file) => render::message(&format!("for {}; `--write` puts it there", shown(file))),
            None => render::message("for the file of the client that lists its servers"),
        }
        setup.notes.iter().for_each(|note| render::message(note));
    }
    Ok(Exit::Done)
}

/// The client's command as it is typed; in the project, if it is about that.
fn command(global: &Global, scope: ConfigScope, words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| hints::shell_word(word)).collect();
    let command = words.join(" ");
    match &global.root {
        Some(root) if scope == ConfigScope::Project => {
            format!("(cd {} && {command})", hints::shell_word(&root.to_string_lossy()))
        }
        _ => command,
    }
}

/// How the server is to be started.
fn server(global: &Global, args: &McpConfigArgs, scope: ConfigScope) -> Result<Server, Failure> {
    let text = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::Input(format!(
            "{} is not UTF-8, which configuration files are",
            path.display()
        ))),
    };
    let program = std::env::current_exe().map_err(|error| Failure::Input(error.to_string()))?;
    // Others have it elsewhere.
    let program = if scope == ConfigScope::Project && is_on_path(&program) {
        NAME.to_owned()
    } else {
        text(&program)?
    };
    let variables: Vec<_> = ["XDG_STATE_HOME", "XDG_CONFIG_HOME"]
        .map(str::to_owned)
        .into_iter()
        .chain(settings::variables())
        .collect();
    let set = variables
        .iter()
        .filter_map(|name| Some((name.clone(), json!(std::env::var(name).ok()?))))
        .collect();
    let names = |tools: &mut dyn Iterator<Item = Tool>| {
        tools.map(|tool| tool.legal_name().to_owned()).collect()
    };
    Ok(Server {
        program,
        project: text(&apply_patch_api::files::real_path(global.root())?)?,
        approve: args.approve,
        variables,
        set,
        readers: names(&mut Tool::served().filter(|tool| tool.is_read_only())),
        tools: names(&mut Tool::served()),
    })
}

/// Whether a shell finds this program by its name.
fn is_on_path(program: &Path) -> bool {
    let Ok(program) = apply_patch_api::files::real_path(program) else { return false };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .find_map(|directory| apply_patch_api::files::real_path(&directory.join(NAME)).ok());
    found == Some(program)
}

/// Where a file is, as a person writes it.
fn shown(file: &ClientFile) -> String {
    let Some(directory) = &file.directory else { return file.path.clone() };
    let path = directory.join(&file.path);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

fn write(
    global: &Global,
    args: &McpConfigArgs,
    edit: &ConfigEdit,
    notes: &[String],
) -> Result<Exit, Failure> {
    let client = args.client.name();
    let Some(file) = &edit.file else {
        return Err(Failure::Usage(format!(
            "which file of a {client} client it is in is not known; print it, and paste it"
        )));
    };
    let own = file.directory.clone();
    let directory = own.as_deref().unwrap_or(global.root());
    // Which files, the command says; that they make a client run a program is what they are for.
    let policy = Policy { guarded: Globs::default(), ..apply_patch_api::engine::policy() };
    let opened = Workspace::open(directory, policy);
    if let (Err(_), Some(own), Err(_)) =
        (&opened, &own, apply_patch_api::files::real_path(directory))
    {
        return Err(Failure::Input(format!(
            "{} is not there: start {client} once, or make it",
            own.display()
        )));
    }
    // The file of a client is no part of a project.
    let settings = SessionSettings { verify: None, ..workspace::session_settings(global) };
    let session = workspace::session_in(opened?, settings);
    let options = Options::default();
    let plan = |files: &Files| planned(files, &options, file, edit);
    let refused = |error: ToolError| Failure::Tool(Box::new(error));
    if args.dry_run {
        workspace::tidy(global, &session);
        let plan = plan(&session.workspace().root().into()).map_err(refused)?;
        if global.json {
            json::print(&json::planned(&plan, true, None)?);
        } else {
            let diff = plan.images().diffs()?;
            render::Pager::open(!global.no_pager, global.settings.pager.as_deref()).diff(&diff);
        }
        return Ok(Exit::Done);
    }
    let prompt = Prompt::new(false);
    let mut host = TerminalHost::new(&prompt, None, global.quiet || global.json);
    // To ask for it is approval enough.
    let mut approvals = Approvals::new(ApprovalPolicy::Never);
    let done = session.execute(
        "mcp-config",
        Operation::Write,
        &mut approvals.ask(&mut host),
        &mut |files| plan(files),
    );
    let report = done.map_err(refused)?;
    if global.json {
        json::print(&json::applied(&[report], true, None));
        return Ok(Exit::Done);
    }
    if !global.quiet {
        render::names(directory, &report.plan);
        match report.transaction {
            Some(id) => {
                let place = if directory == Path::new(".") {
                    String::new()
                } else {
                    format!("-C {} ", hints::shell_word(&directory.to_string_lossy()))
                };
                render::done(
                    &format!("; undo it with `apply-patch undo {place}{id}`"),
                    &id.to_string(),
                );
            }
            None => render::message(&format!("it is there already: {}", shown(file))),
        }
        notes.iter().for_each(|note| render::message(note));
    }
    Ok(Exit::Done)
}

/// The change of the file.
fn planned(
    files: &Files,
    options: &Options,
    file: &ClientFile,
    edit: &ConfigEdit,
) -> Result<Plan, ToolError> {
    let mut builder = PlanBuilder::new(files, options);
    let mut path = file.path.clone();
    let mut loaded = builder.load(&path)?;
    // Its other name, if that is the one that is there.
    if loaded.is_none() && path == "opencode.json" {
        let commented = builder.load("opencode.jsonc")?;
        if commented.is_some() {
            (path, loaded) = ("opencode.jsonc".into(), commented);
        }
    }
    let old = loaded.as_ref().map_or(Ok(""), |loaded| std::str::from_utf8(&loaded.bytes));
    let old = old.map_err(|_| by_hand(&path, "it is not UTF-8", edit))?;
    let new = client_file::edited(old, edit).map_err(|why| by_hand(&path, &why, edit))?;
    match (loaded.is_some(), new) {
        (true, Some(new)) => builder.update(&path, difference(old.as_bytes(), new.as_bytes()))?,
        (true, None) => {}
        (false, new) => builder.create(&path, new.unwrap_or_default().into_bytes())?,
    }
    Ok(builder.finish()?)
}

/// What is between the bytes that two texts begin and end with.
fn difference(old: &[u8], new: &[u8]) -> Splices {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut splices = Splices::new();
    splices.push(start..old.len() - end, new_rest[..new_rest.len() - end].to_vec());
    splices
}

/// The error of a file that is not edited, with what to put into it.
fn by_hand(path: &str, why: &str, edit: &ConfigEdit) -> ToolError {
    let block = client_file::block(edit);
    let message = format!("{path}: {why}; edit it yourself, so that it has\n{block}");
    ToolError::new(FailureClass::DoesNotApply, ErrorKind::PatchParseError, message)
        .details(json!({ "paste": block }))
}
