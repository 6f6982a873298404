//! The MCP server behind `apply-patch serve`.

use std::path::{Path, PathBuf};

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::engine::{Profile, STATE_DIR};
use apply_patch_api::files::{Policy, Root};
use apply_patch_api::tools::SessionSettings;
use apply_patch_api::tools::settings::Layers;
use apply_patch_mcp::{
    Approval, FindRules, MAX_MESSAGE, MAX_OUTPUT, Origin, ServeError, ServerRules, ServerSettings,
};

use super::serve::{APPROVE, ServeArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::settings::Sources;
use crate::{platform, render};

const _: () = assert!(MAX_MESSAGE == 134_217_728, "the help of --max-message has this number");

/// Fails where the program was built without the server.
#[expect(clippy::unnecessary_wraps, reason = "the other version fails")]
pub(crate) fn require() -> Result<(), Failure> {
    Ok(())
}

pub(crate) fn serve(global: &Global, args: &ServeArgs) -> Result<Exit, Failure> {
    platform::give_memory_back();
    let settings = settings(global, args)?;
    // Clients show or keep the standard error of a server. An unusable place is an error of the
    // first call.
    let writes = settings.tools.iter().any(|tool| !tool.is_read_only());
    if writes && matches!(settings.key_place.find(), Ok(None)) {
        render::unsigned();
    }
    Ok(match apply_patch_mcp::serve(settings, std::io::stdin(), std::io::stdout()) {
        Ok(()) => Exit::Done,
        // Standard output is the client's.
        Err(error) => {
            render::message(&error.to_string());
            match error {
                ServeError::Workspace(error) => {
                    apply_patch_api::tools::ToolError::workspace(&error).class.into()
                }
                _ => Exit::Failed,
            }
        }
    })
}

fn settings(global: &Global, args: &ServeArgs) -> Result<ServerSettings, Failure> {
    let (root, origin) = root(global);
    let mut settings = ServerSettings { origin, ..ServerSettings::new(root) };
    if !args.tools.is_empty() {
        let names = args.tools.iter().map(String::as_str);
        settings.tools = apply_patch_mcp::tools_named(names)
            .map_err(|error| Failure::Usage(error.to_string()))?;
    }
    if args.read_only {
        settings = settings.read_only();
    }
    let how = How { is_later: args.is_later(), all_proposals: args.all_proposals };
    settings.rules = rules(&global.layers, how)?;
    let flags = args.layer();
    settings.find_rules = Some(FindRules::by(move |dir| {
        let found = Sources::load(dir)
            .and_then(Sources::checked)
            .and_then(|sources| rules(&sources.layers(flags.clone()), how));
        found.map_err(|failure| failure.error())
    }));
    settings.state = global.settings.state;
    settings.max_message = args.max_message.unwrap_or(MAX_MESSAGE);
    settings.brief = args.brief;
    settings.links = args.links;
    Ok(settings)
}

/// The rules of a server that only flags set.
#[derive(Debug, Clone, Copy)]
struct How {
    /// Each change is kept as a proposal.
    is_later: bool,
    /// Tools are told of the proposals of other sessions.
    all_proposals: bool,
}

/// The rules of a directory with these settings.
fn rules(layers: &Layers, how: How) -> Result<ServerRules, Failure> {
    let (settings, _) = layers.resolve(Profile::default(), APPROVE);
    Ok(ServerRules {
        policy: settings.policy()?,
        approval: match settings.approve {
            ApprovalPolicy::Never => Approval::Never,
            ApprovalPolicy::Always if how.is_later => Approval::Later,
            ApprovalPolicy::Always => Approval::Ask,
            ApprovalPolicy::OnRequest => Approval::Auto,
        },
        tool_settings: SessionSettings {
            max_output: Some(MAX_OUTPUT),
            any_proposal: how.all_proposals,
            ..apply_patch_api::session_settings(layers, None)
        },
    })
}

/// The directory to serve, and the origin of this choice.
///
/// A client passes an unknown variable of another client, such as `${workspaceFolder}`, unchanged:
/// then the client knows the project, as without an argument.
fn root(global: &Global) -> (PathBuf, Origin) {
    let given = global.root();
    let text = given.to_string_lossy();
    let unknown = text.starts_with("${") && text.ends_with('}');
    if given != Path::new(".") && !unknown
        || unknown && apply_patch_api::files::real_path(given).is_ok()
    {
        return (given.to_owned(), Origin::Named);
    }
    let started = PathBuf::from(".");
    let named = global.root.is_some() && !unknown;
    // Editors are started in the home directory, and so are the servers of clients without a place
    // of their own.
    let is_common = !named
        && Root::open(&started, Policy::new(STATE_DIR)).is_ok_and(|root| root.common().is_some());
    let origin = if is_common { Origin::Roots } else { Origin::Client };
    (started, origin)
}
