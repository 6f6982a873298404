//! The workspace and the session of a command.

use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "proposals")]
use apply_patch_api::engine::Profile;
#[cfg(feature = "proposals")]
use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::engine::commit::{Recovered, TransactionId, Workspace};
use apply_patch_api::engine::remedy::Setting;
use apply_patch_api::engine::{Files, Plan, Remedy};
use apply_patch_api::files::{Common, Policy, Root, quoted};
use apply_patch_api::tools::audit::Audit;
use apply_patch_api::tools::statistics::FileStatistics;
use apply_patch_api::tools::{
    BadName, ErrorKind, FailureClass, Named, Reason, Session, SessionName, SessionSettings,
    ToolError, TurnName, hints::shell_word, history,
};

use super::revision;
use crate::args;
use crate::failure::Failure;
use crate::global::Global;
#[cfg(feature = "proposals")]
use crate::settings::Sources;
use crate::{outside, render};

/// The variable with the name of the turn that the changes belong to.
const TURN: &str = "APPLY_PATCH_TURN";

/// The workspace of `-C`, under the policy of the settings.
pub(super) fn open(global: &Global) -> Result<Workspace, Failure> {
    open_with(global, global.settings.policy()?)
}

/// The same under another policy.
pub(super) fn open_with(global: &Global, policy: Policy) -> Result<Workspace, Failure> {
    let root = opened(global, policy)?;
    if let Some(common) = root.common().filter(|_| global.root.is_none()) {
        return Err(no_project(&root, common));
    }
    let workspace = Workspace::of(root, global.settings.state);
    if !global.quiet {
        render::kept_out(&workspace);
    }
    Ok(workspace)
}

/// The workspace, also where it is not a project and was not named: only for a look.
pub(super) fn open_any(global: &Global) -> Result<Workspace, Failure> {
    Ok(Workspace::of(opened(global, global.settings.policy()?)?, global.settings.state))
}

/// Takes another directory of the project as the root, with the settings that hold there.
#[cfg(feature = "proposals")]
pub(super) fn move_to(global: &mut Global, root: PathBuf) -> Result<(), Failure> {
    let sources = Sources::load(&root)?.checked()?;
    global.layers = sources.layers(global.layers.given.clone());
    let (settings, _) = global.layers.resolve(Profile::default(), ApprovalPolicy::Never);
    global.settings = settings;
    global.root = Some(root);
    global.opened = sources.into_root().into();
    Ok(())
}

fn opened(global: &Global, policy: Policy) -> Result<Root, apply_patch_api::files::Error> {
    match global.take_root() {
        Some(root) => Ok(root.under(policy)),
        None => Root::open(global.root(), policy),
    }
}

/// The failure of a command in an unnamed directory that is no project.
fn no_project(root: &Root, common: Common) -> Failure {
    let path = apply_patch_api::files::real_path(root.path())
        .unwrap_or_else(|_| root.path().to_path_buf());
    let message = format!(
        "{} is {common}: it is a workspace only if it is named",
        quoted(&path.to_string_lossy())
    );
    let error = ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message);
    Failure::Tool(Box::new(
        error.reason(Reason::NoProject).remedies([Remedy::Set(Setting::Root(".".into()))]),
    ))
}

/// The session of the command line, in the workspace of `-C`.
pub(crate) fn session(global: &Global) -> Result<Session, Failure> {
    in_turn(session_in(open(global)?, session_settings(global)), None)
}

/// The same in a workspace where these files need no approval: a person chose what becomes of them.
#[cfg(feature = "review")]
pub(super) fn session_for<'p>(
    global: &Global,
    paths: impl Iterator<Item = &'p str>,
) -> Result<Session, Failure> {
    let mut policy = global.settings.policy()?;
    for path in paths {
        policy.allow.push(&literal(path)).map_err(|error| Failure::Usage(error.to_string()))?;
    }
    let root = Root::open(global.root(), policy)?;
    let workspace = Workspace::of(root, global.settings.state);
    in_turn(session_in(workspace, session_settings(global)), None)
}

/// The pattern of one path.
#[cfg(feature = "review")]
fn literal(path: &str) -> String {
    let mut pattern = String::new();
    for c in path.chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' | '!' => pattern.extend(['[', c, ']']),
            c => pattern.push(c),
        }
    }
    pattern
}

/// The same session in the turn of a flag or the environment, if any.
pub(super) fn in_turn(session: Session, named: Option<&TurnName>) -> Result<Session, Failure> {
    let variable = std::env::var(TURN).ok().filter(|name| !name.is_empty());
    let name = match (named, variable) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) => {
            name.parse().map_err(|error: BadName| Failure::Usage(format!("${TURN}: {error}")))?
        }
        (None, None) => return Ok(session),
    };
    session.begin_turn(Some(name)).map_err(|error| Failure::Tool(Box::new(error)))?;
    Ok(session)
}

/// The same in an open workspace, with settings of its own. A person asks.
pub(super) fn session_in(workspace: Workspace, settings: SessionSettings) -> Session {
    Session::new(workspace.for_a_person(), Audit::new(SessionName::cli(), None), settings)
}

/// How a session of the command line works.
pub(super) fn session_settings(global: &Global) -> SessionSettings {
    session_settings_showing(global, None)
}

/// The same; `show` gets the live output of `verify` commands.
pub(super) fn session_settings_showing(global: &Global, show: Option<fn(&str)>) -> SessionSettings {
    SessionSettings {
        traceless: true,
        // No tool shows a model anything here.
        max_snapshots: 0,
        ..apply_patch_api::session_settings(&global.layers, show)
    }
}

/// The files seen by the author of the patch, if named on the command line.
pub(super) fn base(global: &Global, rules: &args::Rules) -> Result<Option<Files>, Failure> {
    if let Some(dir) = &rules.base {
        let root = Root::open(dir, global.settings.policy()?)?;
        return Ok(Some(Files::from(&Arc::new(root))));
    }
    let Some(revision) = &rules.base_rev else { return Ok(None) };
    revision::files_of(global, revision).map(Some)
}

/// The session of a command that only looks, after [`tidy`].
pub(super) fn recovered(global: &Global) -> Result<Session, Failure> {
    let session = session(global)?;
    tidy(global, &session);
    Ok(session)
}

/// Recovers what an earlier run left half way, before a command that only looks.
///
/// Commands that write report a transaction that cannot be recovered here.
pub(super) fn tidy(global: &Global, session: &Session) {
    let recovered = session.workspace().recover_if_idle().unwrap_or_default();
    if !recovered.is_empty() {
        log_recovered(session, &recovered);
        if !global.quiet {
            render::recovered(&recovered);
        }
    }
}

/// Prints an uncommitted plan for a person: its notes, and its diff or the counts of each file.
pub(super) fn preview(
    global: &Global,
    plan: &Plan,
    statistics: &args::Statistics,
) -> Result<(), apply_patch_api::files::Error> {
    if !global.quiet {
        render::notes(plan);
    }
    if statistics.are_wanted() {
        render::statistics(&FileStatistics::of_plan(plan.images())?, statistics);
        return Ok(());
    }
    let diff = plan.images().diffs()?;
    render::Pager::open(!global.no_pager, global.settings.pager.as_deref()).diff(&diff);
    Ok(())
}

/// Writes what became of interrupted transactions to the audit log.
pub(super) fn log_recovered(session: &Session, recovered: &[Recovered]) {
    if let Err(error) = session.recovered(recovered) {
        render::unlogged(&error.to_string());
    }
}

/// Finds the transaction that a name means.
pub(super) fn id(workspace: &Workspace, name: &str) -> Result<TransactionId, Failure> {
    history::find(workspace, name).map_err(|error| Failure::Tool(Box::new(error)))
}

/// Says what is meant by the name of a file in place of a transaction: `advice` gets `-C` with the
/// root, if one is given, and the file.
pub(super) fn instead_of_file(
    global: &Global,
    name: Option<&str>,
    failure: Failure,
    advice: impl FnOnce(&str, &str) -> String,
) -> Failure {
    match (failure, name) {
        (Failure::Tool(_), Some(name))
            if !name.is_empty() && outside::exists(&global.root().join(name)) =>
        {
            let given = global.root.as_ref().map(|root| shell_word(&root.to_string_lossy()));
            let root = given.map_or(String::new(), |root| format!(" -C {root}"));
            let advice = advice(&root, &shell_word(name));
            Failure::Usage(format!("{} is a file, and no transaction: {advice}", quoted(name)))
        }
        (failure, _) => failure,
    }
}

/// Finds the transaction or the turn that a name means.
pub(super) fn named(workspace: &Workspace, name: &str) -> Result<Named, Failure> {
    Named::find(workspace, name).map_err(|error| Failure::Tool(Box::new(error)))
}

/// The session of the whole project around the workspace of another session.
pub(super) fn project(session: &Session) -> Session {
    session.reopened(session.workspace().project())
}

/// Takes from this process the rights it does not need, before it looks at the patch.
pub(super) fn confine(
    global: &Global,
    workspace: &Workspace,
    rules: Option<&args::Rules>,
) -> Result<(), Failure> {
    let settings = &global.settings;
    let commands = [
        ("verify", "APPLY_PATCH_VERIFY", &settings.verify),
        ("format-with", "APPLY_PATCH_FORMAT_WITH", &settings.format_with),
    ];
    if let Some((key, variable, _)) = commands.iter().find(|(.., checks)| !checks.is_empty()) {
        return Err(Failure::Usage(format!(
            "a `{key}` command cannot work under `--sandbox`: set `{variable}=` to leave it out"
        )));
    }
    let keys = workspace.key_place().prepare()?;
    let mut also: Vec<_> = keys.iter().map(PathBuf::as_path).collect();
    let state = PathBuf::from(workspace.state_path());
    if !workspace.has_own_state() {
        // Once confined, the process cannot make a state above the root, nor finish an interrupted
        // change elsewhere.
        drop(workspace.recover_if_idle()?);
        workspace.make_state(global.settings.lock_timeout)?;
        also.push(&state);
    }
    let base = match rules.map(|rules| (&rules.base, &rules.base_rev)) {
        Some((Some(dir), _)) => vec![dir.clone()],
        Some((_, Some(revision))) => revision::object_dirs(global, revision)?,
        _ => Vec::new(),
    };
    let base: Vec<_> = base.iter().map(PathBuf::as_path).collect();
    let confined = workspace.root().confine(&also, &base)?;
    if global.verbose || (!confined.complete && !global.quiet) {
        render::message(&confined.to_string());
    }
    Ok(())
}
