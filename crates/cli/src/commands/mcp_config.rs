//! `apply-patch mcp-config`: how a client is told of the server: the client's own command, or the
//! settings for its file.

use std::path::{Path, PathBuf};

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::tools::settings::Choice as _;
use apply_patch_api::tools::{Tool, hints};
use clap::Args;
use serde_json::json;

use super::server;
use crate::args;
use crate::clients::{Client, ClientFile, ConfigScope, NAME, Server, Way};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::{client_file, render, settings};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch mcp-config --client codex                    print what its file has to have\n  \
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
    let (text, place) = match &setup.way {
        Way::Command(words) => {
            let command = command(global, scope, words);
            (format!("{command}\n"), "run this in a shell".to_owned())
        }
        Way::File(snippet) => {
            let place = match &snippet.file {
                Some(file) => format!("for {}", shown(file)),
                None => "for the file of the client that lists its servers".to_owned(),
            };
            (client_file::block(snippet), place)
        }
    };
    render::raw(text.as_bytes());
    if !global.quiet {
        render::message(&place);
        setup.notes.iter().for_each(|note| render::message(note));
    }
    Ok(Exit::Done)
}

/// The client's command as typed; in the project, if the scope is the project.
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
    let program = std::env::current_exe().map_err(|error| Failure::Input(error.to_string()))?;
    // Others have the program elsewhere.
    let program = if scope == ConfigScope::Project && is_on_path(&program) {
        NAME.to_owned()
    } else {
        path_text(&program)?
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
    Ok(Server {
        program,
        project: path_text(&apply_patch_api::files::real_path(global.root())?)?,
        approve: args.approve,
        variables,
        set,
        readers: legal_names(Tool::served().filter(|tool| tool.is_read_only())),
        tools: legal_names(Tool::served()),
    })
}

fn legal_names(tools: impl Iterator<Item = Tool>) -> Vec<String> {
    tools.map(|tool| tool.legal_name().to_owned()).collect()
}

fn path_text(path: &Path) -> Result<String, Failure> {
    match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::Input(format!(
            "{} is not UTF-8, which configuration files are",
            path.display()
        ))),
    }
}

/// Whether a shell finds this program by its name.
fn is_on_path(program: &Path) -> bool {
    let Ok(program) = apply_patch_api::files::real_path(program) else { return false };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .find_map(|directory| apply_patch_api::files::real_path(&directory.join(NAME)).ok());
    found == Some(program)
}

/// The place of a file, as written by a person.
fn shown(file: &ClientFile) -> String {
    let Some(directory) = &file.directory else { return file.path.clone() };
    let path = directory.join(&file.path);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}
